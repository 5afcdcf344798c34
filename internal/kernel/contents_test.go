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
