package session

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"symchef/internal/kernel"
)

// A cache file that is cut off, has a flipped bit anywhere, or is another's is refused.
func TestSnapshotFile(t *testing.T) {
	s := snapshot{Key: "k", Test: "test_a", Consulted: []kernel.Consulted{{Path: "/x", Kind: "stat", Digest: "1"}}, System: bytes.Repeat([]byte("sys"), 99)}
	data, err := encodeSnapshot(s)
	data = append(data, s.System...)
	if err != nil {
		t.Fatal(err)
	}
	s.Version = snapshotVersion
	if got, ok := decodeSnapshot(data, "k"); !ok || !reflect.DeepEqual(got, s) {
		t.Fatalf("%v %+v", ok, got)
	}
	if _, ok := decodeSnapshot(data, "other"); ok {
		t.Error("took a foreign entry")
	}
	for i := range data {
		if _, ok := decodeSnapshot(data[:i], "k"); ok {
			t.Errorf("took %d of %d bytes", i, len(data))
		}
		data[i] ^= 0x10
		if _, ok := decodeSnapshot(data, "k"); ok {
			t.Errorf("took a flipped bit at %d", i)
		}
		data[i] ^= 0x10
	}
}

// The folder keeps the files used last.
func TestEvict(t *testing.T) {
	dir := t.TempDir()
	name := func(i int) string { return filepath.Join(dir, string(rune('a'+i/26))+string(rune('a'+i%26))) }
	for i := range keepSnapshots + 5 {
		if err := os.WriteFile(name(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1e9+i), 0)
		if err := os.Chtimes(name(i), at, at); err != nil {
			t.Fatal(err)
		}
	}
	evict(dir)
	for i := range keepSnapshots + 5 {
		if _, err := os.Stat(name(i)); (err == nil) != (i >= 5) {
			t.Errorf("file %d: %v", i, err)
		}
	}
}
