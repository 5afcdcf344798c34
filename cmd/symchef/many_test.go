package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"symchef/internal/pace"
	"symchef/internal/rundir"
)

const threeTests = `from __future__ import annotations
import symchef

def test_key(n: symchef.Int(0, 9), *, deep: symchef.Bool() = False):
    if n == 3: raise KeyError("three")

def test_plain():
    print("no input")

class TestText(symchef.SymbolicTest):
    def runTest(self):
        assert self.getString("s", "ab") != "xy"
`

// All tests of a file and of folders run, each with a run directory of its own, and a table stands at the end; the worst status counts.
func TestManyTests(t *testing.T) {
	b := pythonBox(t)
	b.write("test_three.py", threeTests)
	b.write("more/deep/test_one.py", "import symchef\ndef test_fine(b: symchef.Bool()): return b\n")
	r := b.run("run", "test_three.py").want(1, "! exception KeyError: three\n    n=3 ", "! assertion AssertionError\n    s=\"xy\"",
		"test                       paths  findings  exhausted", "test_three.py::test_key ", "test_three.py::test_plain      1         0        yes  ", "3 tests: 2 findings in 2 of them\n")
	if strings.Contains(r.stdout, "classes of behaviour") || strings.Contains(r.stdout, "next:") {
		t.Errorf("the table does not say it better:\n%s", r.stdout)
	}
	for _, name := range []string{"test_key", "test_plain", "TestText"} {
		if sum, tests := b.load("symchef-out-test_three-" + name); !sum.Exhausted || len(tests) == 0 || sum.Test != "test_three.py::"+name {
			t.Errorf("%s: %+v", name, sum)
		}
	}
	if _, err := rundir.Open(b.path("symchef-out-test_three")); err == nil {
		t.Error("there is a run directory of no test")
	}
	b.run("run", "--out", "o", "more").want(0, "more/deep/test_one.py::test_fine", "o/test_one-test_fine\n", "1 test: 0 findings in 0 of them\n")
	b.run("run", "--out", "o", "-k", "plain or fine", "more", "test_three.py").want(0, "2 tests: 0 findings")
	b.run("run", "--out", "o", "-k", "three and not (key or plain)", ".").want(1, "1 test: 1 finding in 1 of them")

	// What cannot be run is a row, and the rest runs all the same.
	b.write("more/test_bad.py", "import symchef\ndef test_bare(n): pass\n")
	b.write("more/test_broken.py", "import symchef\ndef test_x(:\n")
	r = b.run("run", "--out", "o", "more").want(2, "more/test_bad.py::test_bare", "  test_bare: parameter n needs an annotation", "test_broken.py", "more/deep/test_one.py::test_fine      1", "3 tests: 0 findings in 0 of them, 2 without a result")
	if n := strings.Count(r.stderr, "\n"); n != 2 {
		t.Errorf("%d lines on standard error, want one for each that cannot be run:\n%s", n, r.stderr)
	}
	r = b.run("run", "--out", "o", "-k", "plain", "more", "test_three.py").want(0, "1 test: 0 findings")
	if r.stderr != "symchef: passed over without what -k asks for in them: 1 test file that cannot be loaded\n" {
		t.Errorf("standard error: %s", r.stderr)
	}
	b.run("run", "--out", "o", "-k", "test_x or plain", "more", "test_three.py").want(0, "test_broken.py:2: syntax error", "1 test: 0 findings")

	r = b.run("run", "--json", "--out", "o", "more/deep", "test_three.py::test_key").want(1)
	valid(t, "runs.schema.json", r.stdout)
	var all struct {
		Status int
		Runs   []struct {
			Test, Dir string
			Status    int
			Summary   rundir.Summary
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil || all.Status != 1 || len(all.Runs) != 2 || all.Runs[0].Dir != "o/test_one-test_fine" || all.Runs[1].Status != 1 || len(all.Runs[1].Summary.Findings) != 1 {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

// A file that ends, crashes or goes on for ever before it has told its tests is a row, and takes nothing from the others.
func TestManyEndEarly(t *testing.T) {
	b := pythonBox(t)
	b.write("d/test_a_exit.py", "import symchef, os\nos._exit(5)\n")
	b.write("d/test_b_crash.py", "import symchef, os\nos.kill(os.getpid(), 11)\n")
	b.write("d/test_c_deadlock.py", "import symchef, threading\nl = threading.Lock()\nl.acquire()\nl.acquire()\n")
	b.write("d/test_d_spin.py", "import symchef\nwhile True: pass\n")
	b.write("d/test_e_fine.py", "import symchef\ndef test_fine(b: symchef.Bool()): return b\n")
	r := b.run("run", "--time", pace.Stretch(t, 30*time.Second).String(), "--out", "o", "d").want(2, "  no test began: exit 5\n", "  no test began: crash SIGSEGV\n", "  no test began: hang: deadlock: every task waits\n",
		"  finding its tests took longer than its share of --time\n", "d/test_e_fine.py::test_fine      1         0        yes ", "5 tests: 0 findings in 0 of them, 4 without a result")
	if strings.Contains(r.stderr, "internal error") {
		t.Error(r.stderr)
	}
}

// A file that ends before its test begins says nothing about the test: it is no result, whether the test is there or not.
func TestEndsBeforeTest(t *testing.T) {
	t.Parallel()
	for _, l := range []struct{ interpreter, name, text string }{
		{python, "test_py.py", "import symchef, os\nos._exit(5)\n"}, {"/usr/bin/lua5.4", "test_lua.lua", "os.exit(5)\n"}, {"/usr/bin/R", "test_r.R", "quit(status = 5)\n"},
	} {
		t.Run(l.name, func(t *testing.T) {
			if _, err := os.Stat(l.interpreter); err != nil {
				t.Skipf("skipped: %s is not installed", l.interpreter)
			}
			b, name := newBox(t), l.name
			b.write(name, l.text)
			b.run("run", name).want(2, name+": no test began: exit 5\n")
			b.run("run", name+"::test_x").want(2, name+": no test began: exit 5\n")
		})
	}
}

// --time is for all tests together.
func TestManyShareTime(t *testing.T) {
	b := pythonBoxHere(t) // before those that are parallel
	slow := "import symchef\n"
	for _, n := range []string{"a", "b", "c", "d"} {
		slow += "def test_" + n + "(s: symchef.Str(12)):\n    return [c for c in s if c in 'aeiou']\n"
	}
	b.write("test_slow.py", slow)
	limit := pace.Stretch(t, 12*time.Second)
	begun := time.Now()
	b.run("run", "--time", limit.String(), "test_slow.py").want(0, "limit: --time", "4 tests: 0 findings", "no  ")
	if pace.Exceeds(t, begun, 3*(limit+5*time.Second)) { // three times the promise of T + 5 s
		t.Errorf("it took %v", time.Since(begun))
	}
}

// A test and a program without symbolic inputs have a single path.
func TestNoInput(t *testing.T) {
	b := pythonBox(t)
	b.write("test_fine.py", "def test_x(): print('hi')\n")
	b.write("test_wrong.py", "def test_x(): raise KeyError('k')\n")
	b.run("run", "test_fine.py").want(0, "1 agreed", "exhausted: every input", "(1 path)")
	b.run("run", "test_wrong.py").want(1, "! exception KeyError: k", "1 agreed")
	b.compile("p", `#include <stdlib.h>
int main(int c, char **v) { if (c > 1) abort(); return 0; }`)
	b.run("run", "--", "./p").want(0, "1 agreed", "(1 path)")
	b.run("run", "--", "./p", "-x").want(1, "! crash SIGABRT", "1 agreed")
}
