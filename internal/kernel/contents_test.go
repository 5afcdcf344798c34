package kernel

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Hosts share what a large file has, never what it had.
func TestContentsShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write := func(c byte) []byte {
		b := bytes.Repeat([]byte{c}, 2*leastShared)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return b
	}
	read := func(want []byte) *byte {
		b, err := NewHost().open(path)
		if err != nil || !bytes.Equal(b.Data, want) {
			t.Fatalf("%v, %d bytes of %q, want %q", err, len(b.Data), b.Data[0], want[0])
		}
		return &b.Data[0]
	}
	for c := byte('a'); c < 'd'; c++ { // within a tick of the kernel's clock
		read(write(c))
	}
	a := write('x')
	time.Sleep(settled + 10*time.Millisecond)
	first := read(a)
	if read(a) != first {
		t.Error("read twice")
	}
	mtime := time.Now().Add(-time.Hour)
	os.Chtimes(path, mtime, mtime)
	time.Sleep(settled + 10*time.Millisecond)
	read(a)
	b := write('y')
	os.Chtimes(path, mtime, mtime) // of the same size and date
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, shared := idOf(path, fi, time.Now()); shared {
		t.Error("what has just changed may change again in the same tick")
	}
	time.Sleep(settled + 10*time.Millisecond)
	if read(b) == first {
		t.Error("two contents in one place")
	}
}

// A large file is as it was when it was read, whatever becomes of it, and is no memory of this process.
func TestContentsCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	want := bytes.Repeat([]byte("content "), leastCopied/8+100)
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := NewHost().open(path)
	if err != nil {
		t.Fatal(err)
	}
	f, at := b.File()
	if f == nil {
		t.Skip("skipped: the folder for temporary files has no files without names")
	}
	if err := os.WriteFile(path, []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	in := make([]byte, len(want))
	if _, err := f.ReadAt(in, int64(at)); err != nil || !bytes.Equal(in, want) || !bytes.Equal(b.Data, want) {
		t.Errorf("%v; it has changed with its file", err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err = NewHost().open(path); err != nil || !bytes.Equal(b.Data, want) {
		t.Errorf("%v: without a folder for temporary files it is not read", err)
	}
}
