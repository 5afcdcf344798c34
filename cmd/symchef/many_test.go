package main

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
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
		"test                       high-level paths  low-level paths  classes  findings  agreed  exhausted", "test_three.py::test_key ", "test_three.py::test_plain                 1                1        1         0  1 of 1        yes  ", "3 tests: 2 findings in 2 of them\n")
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
	b.run("run", "--out", "o", "more").want(0, "more/deep/test_one.py::test_fine", "o/test_one-test_fine\n", "1 test: 0 findings\n")
	b.run("run", "--out", "o", "-k", "plain or fine", "more", "test_three.py").want(0, "2 tests: 0 findings")
	b.run("run", "--out", "o", "-k", "three and not (key or plain)", ".").want(1, "1 test: 1 finding\n")

	// What cannot be run is a row, and the rest runs all the same.
	b.write("more/test_bad.py", "import symchef\ndef test_bare(n): pass\n")
	b.write("more/test_broken.py", "import symchef\ndef test_x(:\n")
	r = b.run("run", "--out", "o", "more").want(2, "more/test_bad.py::test_bare", "  test_bare: parameter n needs an annotation", "test_broken.py", "more/deep/test_one.py::test_fine                 1                2        2         0  2 of 2", "3 tests: 0 findings, 2 without a result")
	if n := strings.Count(r.stderr, "\n"); n != 2 {
		t.Errorf("%d lines on standard error, want one for each that cannot be run:\n%s", n, r.stderr)
	}
	r = b.run("run", "--out", "o", "-k", "plain", "more", "test_three.py").want(0, "1 test: 0 findings")
	if !strings.HasSuffix(r.stderr, "cannot be loaded (run one to see why): more/test_broken.py\n") || strings.Count(r.stderr, "\n") != 1 {
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
		"  finding its tests took longer than its share of --time\n", "d/test_e_fine.py::test_fine                 1                2        2         0  2 of 2        yes ", "5 tests: 0 findings, 4 without a result")
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

// A folder of run directories is that of several tests again, and what a name held is not lost to another file.
func TestOutAgain(t *testing.T) {
	b := pythonBox(t)
	b.write("test_two.py", "import symchef\ndef test_a(): pass\ndef test_b(): pass\n")
	b.write("test_one.py", "import symchef\ndef test_a(): pass\n")
	for range 2 {
		b.run("run", "--no-replay", "--out", "fl", "test_two.py").want(0, "fl/test_two-test_a", "fl/test_two-test_b")
	}
	b.run("run", "--no-replay", "--out", "fl", "test_one.py").oneLine(2, "it holds those of several tests")
	b.write("fl/notes", "")
	b.run("run", "--no-replay", "--out", "fl", "test_two.py").oneLine(2, "it exists, is not empty and is not a run directory")

	const plain = "symchef-out-test_c"
	b.write("x/test_c.py", "import symchef\ndef test_c(n: symchef.Int(0, 9)):\n    assert n != 7\n")
	b.write("y/test_c.py", "import symchef\ndef test_c(): pass\n")
	b.write("z/y/test_c.py", "import symchef\ndef test_c(): pass\n")
	b.write("x/test_d.py", "import symchef\ndef test_a(): pass\ndef test_b(): pass\n")
	b.write("y/test_d.py", "import symchef\ndef test_a(): pass\ndef test_b(): pass\n")
	b.run("run", "x/test_c.py").want(1, "1 finding")
	for range 2 {
		b.run("run", "--no-replay", "y/test_c.py").want(0, "symchef: "+plain+" is of another file: this run is in symchef-out-y-test_c\n")
		b.run("run", "--no-replay", "z/y/test_c.py").want(0, "this run is in symchef-out-z-y-test_c\n")
	}
	if r := b.run("run", "x/test_c.py").want(1, "1 finding"); strings.Contains(r.stderr, "another file") {
		t.Error(r.stderr)
	}
	b.run("run", "--no-replay", "x/test_d.py").want(0, "  symchef-out-test_d-test_a", "  symchef-out-test_d-test_b")
	b.run("run", "--no-replay", "y/test_d.py").want(0, "  symchef-out-y-test_d-test_a", "  symchef-out-y-test_d-test_b")
	b.run("run", "--no-replay", "x/test_d.py").want(0, "  symchef-out-test_d-test_a", "  symchef-out-test_d-test_b")
}

// What is meant as a test with inputs is run, or an error that says why not; what is none of symchef's is left to others.
func TestMeantAsTest(t *testing.T) {
	b := pythonBox(t)
	b.write("helpmod.py", "import symchef\ndef test_imported(n: symchef.Int(0, 9)): assert n != 7\ndef test_help(x): pass\n")
	b.write("test_meant.py", `import symchef, unittest
from functools import partial
from helpmod import test_imported, test_help
from symchef import getInt
def gen(a, n: symchef.Int(0, 9)): pass
test_part = partial(gen, 3)
test_other = partial(print, 3)
class Py:
    def test_m(self, n: "symchef.Int(0, 9)"): pass
    def test_plain(self): pass
class TestMade:
    def __init__(self): pass
    def test_u(self): return getInt("n", 1)
class Case(unittest.IsolatedAsyncioTestCase):
    def test_v(self): return getInt("n", 1)
class Plain:
    def test_p(self): pass
def test_own(): pass
`)
	r := b.run("run", "--no-replay", "--out", "out", "test_meant.py").want(2, "6 tests: 1 finding in 1 of them, 4 without a result",
		"test_meant.py::test_imported", "AssertionError", "test_meant.py::test_own",
		"Py: it has test_m, but its name does not begin with Test", "TestMade: it has test_u, but it has an __init__", "Case: it has test_v, but it is an IsolatedAsyncioTestCase",
		"test_part: it is a functools.partial, but a test is a function: def test_part(...)")
	for _, none := range []string{"test_help", "test_other", "Plain", "test_plain"} {
		if strings.Contains(r.stdout+r.stderr, none) {
			t.Errorf("%s:\n%s%s", none, r.stdout, r.stderr)
		}
	}
	b.run("run", "--out", "one", "test_meant.py::Py").oneLine(2, "Py: it has test_m, ")
}

// A signal while the tests of a file are looked for, whose run directory holds those of several: nothing in it changes.
func TestManyInterrupted(t *testing.T) {
	b := pythonBox(t)
	b.write("test_two.py", "import symchef\ndef test_a(b: symchef.Bool()): pass\ndef test_b(b: symchef.Bool()): pass\n")
	b.run("run", "--out", "o", "test_two.py").want(0, "2 tests: 0 findings")
	b.write("test_two.py", "import symchef\nwhile True: pass\ndef test_a(b: symchef.Bool()): pass\n")
	cmd := b.command("run", "--out", "o", "test_two.py")
	wait := b.start(cmd)
	time.Sleep(pace.Stretch(t, 2*time.Second))
	cmd.Process.Signal(syscall.SIGTERM)
	wait().oneLine(130, "interrupted before the run began")
	for _, name := range []string{"a", "b"} {
		if sum, _ := b.load("o/test_two-test_" + name); !sum.Exhausted {
			t.Errorf("%s: %+v", name, sum)
		}
	}
}
