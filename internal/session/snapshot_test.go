package session

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"symchef/internal/kernel"
	"symchef/internal/testcase"
)

// A cache file that is cut off, has a flipped bit before its system, which has a checksum of its own, or is another's is refused.
func TestSnapshotFile(t *testing.T) {
	s := snapshot{Key: "k", Test: "test_a", Consulted: []kernel.Consulted{{Path: "/x", Kind: "stat", Digest: "1"}}, System: bytes.Repeat([]byte("sys"), 99)}
	data, err := encodeSnapshot(s)
	if err != nil {
		t.Fatal(err)
	}
	before := len(data)
	data = append(data, s.System...)
	decode := func(data []byte, key string) (snapshot, bool) {
		s, at, ok := decodeSnapshot(bytes.NewReader(data), int64(len(data)), key)
		return s, ok && at == int64(before)
	}
	s.Version, s.Size, s.System = snapshotVersion, len(s.System), nil
	if got, ok := decode(data, "k"); !ok || !reflect.DeepEqual(got, s) {
		t.Fatalf("%v %+v", ok, got)
	}
	if _, ok := decode(data, "other"); ok {
		t.Error("took a foreign entry")
	}
	for i := range data {
		if _, ok := decode(data[:i], "k"); ok {
			t.Errorf("took %d of %d bytes", i, len(data))
		}
		if i >= before {
			continue
		}
		data[i] ^= 0x10
		if _, ok := decode(data, "k"); ok {
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
	old := filepath.Join(dir, "oldest.hlpc")
	if err := errors.Join(os.WriteFile(old, nil, 0o600), os.Chtimes(old, time.Unix(1, 0), time.Unix(1, 0))); err != nil {
		t.Fatal(err)
	}
	evict(dir)
	if _, err := os.Stat(old); err != nil {
		t.Error("snapshots have driven a fact out")
	}
	for i := range keepSnapshots + 5 {
		if _, err := os.Stat(name(i)); (err == nil) != (i >= 5) {
			t.Errorf("file %d: %v", i, err)
		}
	}
}

// Where a test begins is kept as what differs from the snapshot behind its imports: small, and of no use without that one.
func TestSnapshotOnHead(t *testing.T) {
	needPython(t)
	needPtrace(t)
	file, cache := filepath.Join(t.TempDir(), "test_s.py"), t.TempDir()
	if err := os.WriteFile(file, []byte("import json\nimport symchef\ndef test_s(x: symchef.Bool()):\n    print(json.dumps([x]))\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	only := func(suffix string) string {
		t.Helper()
		l, err := filepath.Glob(filepath.Join(cache, "*"+suffix))
		if err != nil || len(l) != 1 {
			t.Fatalf("%s: %v %v", suffix, l, err)
		}
		return l[0]
	}
	damage := func(path string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := errors.Join(os.Remove(path), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var first []testcase.Test
	for _, c := range []struct {
		name        string
		before      func()
		whole, head bool
		workers     int
	}{
		{name: "first run", before: func() {}},
		{name: "again", before: func() {}, whole: true},
		{name: "with two workers", before: func() {}, whole: true, workers: 2},
		{name: "the snapshot is gone", before: func() { os.Remove(only(".snap")) }, head: true},
		{name: "the head is gone", before: func() { os.Remove(only(".head")) }},
		{name: "the head is damaged", before: func() { damage(only(".head")) }},
		{name: "the snapshot is damaged", before: func() { damage(only(".snap")) }, head: true},
		{name: "again at the end", before: func() {}, whole: true},
	} {
		c.before()
		e := runIt(t, Options{Test: file, NoReplay: true, AllPaths: true, CacheDir: cache, Workers: c.workers})
		for i := range e.tests {
			e.tests[i].FoundAt = 0
		}
		if first == nil {
			first = e.tests
		}
		if e.summary.FromSnapshot != c.whole || e.summary.FromHead != c.head || e.stderr != "" {
			t.Errorf("%s: from the snapshot %v, from the head %v; %s", c.name, e.summary.FromSnapshot, e.summary.FromHead, e.stderr)
		}
		if c.workers < 2 && (len(e.tests) != 2 || !reflect.DeepEqual(e.tests, first)) {
			t.Errorf("%s: %+v\n%+v", c.name, e.tests, first)
		}
		small, err1 := os.Stat(only(".snap"))
		large, err2 := os.Stat(only(".head"))
		if err := errors.Join(err1, err2); err != nil || small.Size()*3 > large.Size() {
			t.Errorf("%s: %d and %d bytes, %v", c.name, small.Size(), large.Size(), err)
		}
	}
}
