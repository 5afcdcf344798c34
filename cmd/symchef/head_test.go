package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// After an edit below the imports that a test begins with, the start goes on behind them, and what comes out is what a whole start gives. After an edit of these lines, or
// of what they import, all is executed again.
func TestHead(t *testing.T) {
	b := pythonBox(t)
	b.env[2] = "XDG_CACHE_HOME=" + b.path("cache")
	kept := func(pattern string) []string {
		t.Helper()
		l, err := filepath.Glob(b.path("cache/symchef/" + pattern))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	look := func() (rundir.Summary, []testcase.Test) {
		t.Helper()
		b.run("run", "--no-replay", "--out", b.path("out"), b.path("test_s.py")).want(0, "2 test cases")
		sum, tests := b.load("out")
		for i := range tests {
			tests[i].FoundAt = 0
		}
		return sum, tests
	}
	const heavy = "import argparse, json, unittest.mock\n"
	const body = "def test_s(x: symchef.Bool()): print(x, helper.VALUE, sorted(helper.SEEN), __name__)\n"
	head := "\"\"\"A test.\n\nimport nothing_of_that_name\n\"\"\"\nfrom __future__ import annotations\nimport symchef # the library\n" + heavy + "from helper import *\nimport helper\n\n"
	helper := "import sys\nVALUE = 1\nSEEN = [sys._getframe(i).f_globals['__name__'] for i in range(9) if 'import' not in sys._getframe(i).f_code.co_filename][:2]\n"
	b.write("helper.py", helper)
	wrote := ""
	for _, edit := range []struct {
		what, text, helper string
		fromHead           bool
	}{
		{"first", head + body, helper, false},
		{"a comment behind", head + body + "# more\n", helper, true},
		{"another body", head + strings.Replace(body, "print(", "print('begins', ", 1), helper, true},
		{"another line behind the imports", head + "import_ = 1\n" + body, helper, false},
		{"the imported module", head + body, helper + "VALUE = 2\n", false},
	} {
		if edit.helper != wrote {
			b.write("helper.py", edit.helper)
			wrote = edit.helper
		}
		b.write("test_s.py", edit.text)
		sum, tests := look()
		if sum.FromHead != edit.fromHead || sum.FromSnapshot {
			t.Errorf("%s: behind the head: %v, want %v", edit.what, sum.FromHead, edit.fromHead)
		}
		if !edit.fromHead {
			continue
		}
		for _, name := range append(kept("*.snap"), kept("*.head")...) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		whole, want := look()
		if whole.FromHead || !reflect.DeepEqual(tests, want) || sum.Instructions != whole.Instructions {
			t.Errorf("%s: %+v\n%+v\nafter a whole start %+v\n%+v", edit.what, sum.Instructions, tests, whole.Instructions, want)
		}
	}
	// What cannot be used is not.
	entries := kept("*.head")
	if len(entries) != 1 {
		t.Fatal(entries)
	}
	if err := os.Truncate(entries[0], 1000); err != nil {
		t.Fatal(err)
	}
	b.write("test_s.py", head+body+"# again\n")
	if sum, _ := look(); sum.FromHead {
		t.Error("a snapshot that is cut off was used")
	}
}
