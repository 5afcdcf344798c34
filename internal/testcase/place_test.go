package testcase

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPlainFrames(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a/b", "c/d"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../c/d", filepath.Join(dir, "a/link")); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"a/x.py", "c/x.py", "a/y:1.py"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := []string{dir + "/a/b/../x.py:7:f", dir + "//a/./y:1.py:2:g:h", dir + "/a/link/../x.py:3:f", dir + "/a/b/../gone.py:1:f", "[string]:1:f", "a/../x.py:1:f", dir + "/a/x.py:5"}
	want := []string{dir + "/a/x.py:7:f", dir + "/a/y:1.py:2:g:h", in[2], in[3], in[4], in[5], in[6]} // a/link/../x.py is c/x.py
	kept := slices.Clone(in)
	if got := PlainFrames(in); !slices.Equal(got, want) || !slices.Equal(in, kept) {
		t.Errorf("%q, want %q", got, want)
	}
}
