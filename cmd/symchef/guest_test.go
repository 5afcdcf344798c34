package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// A class with everything the library offers.
const tour = `from symchef import SymbolicTest

class Tour(SymbolicTest):
    def setUp(self):
        self.limit = 5

    def runTest(self):
        self.expect(KeyError)
        n = self.getInt("n", 0, max_value=9, min_value=-9)
        self.assume(n != 0)
        flag = self.getBool("flag")
        word = self.getString("word", "ab", max_size=2, min_size=1)
        raw = self.getBytes("raw", b"\x00\xff")
        pick = self.getChoice("pick", ["one", "two"], "two")
        self.log("n is", n, "and", pick)
        if n > self.limit:
            raise KeyError(word)
        if flag and word == "z":
            raise ValueError(pick)
        if raw == b"\xfe\x01":
            print("raw", self.concretize(len(word)))

def test_other(a: int): pass
`

func TestTour(t *testing.T) {
	b := pythonBox(t)
	b.write("test_tour.py", tour)
	b.run("run", "test_tour.py::Tour").want(1, "expected KeyError", "exception ValueError: ", " 0 diverged, 0 unstable, 0 not compared", "exhausted: every input")
	sum, tests := b.load("symchef-out-test_tour-Tour")
	if sum.Target.Name != "Tour" {
		t.Errorf("%+v", sum.Target)
	}
	kinds := map[string]bool{}
	for _, x := range tests {
		kinds[string(x.Outcome.Kind)] = true
		var n int64
		var shape []string
		for _, in := range x.Inputs {
			shape = append(shape, in.Name+" "+string(in.Type))
			if in.Name == "n" {
				n, _ = in.Int()
			}
		}
		if got := strings.Join(shape, ", "); got != "n int, flag bool, word str, raw bytes, pick choice" || n < -9 || n > 9 || n == 0 {
			t.Errorf("%s: n = %d of %s", x.ID, n, got)
		}
		if (n > 5) != (x.Outcome.Kind == testcase.Expected) {
			t.Errorf("%s: n = %d, %v", x.ID, n, x.Outcome)
		}
		pick := slices.IndexFunc(x.Inputs, func(in testcase.Input) bool { return in.Type == testcase.TypeChoice })
		i, _ := x.Inputs[pick].Choice()
		if want := fmt.Sprintf("n is %d and %s", n, []string{"one", "two"}[i]); !slices.Equal(x.Log, []string{want}) {
			t.Errorf("%s logged %q, want %q", x.ID, x.Log, want)
		}
	}
	if len(kinds) != 3 { // expected, exception, ok
		t.Errorf("kinds %v", kinds)
	}
}

// Functions take annotated parameters, keyword-only and positional-only ones too;
// inputs may share a name; one test of several in a file is chosen.
func TestFunctions(t *testing.T) {
	b := pythonBox(t)
	b.write("test_many.py", `from __future__ import annotations
import symchef as sc
def test_first(): raise AssertionError("not this one")
def test_kinds(a: sc.Int(1, 2), /, b: sc.Str(3, 2) = "xyz", *, c: sc.Bytes(1), d: sc.Choice("p", "q") = "q", e: sc.Int(3, 3) = 3):
    again = sc.getInt("a", 7, 9, 5)
    print(a + again > 10, len(b), d, e, c == b"!")
`)
	b.run("run", "--out", "out", "test_many.py::test_kinds").want(0, "16 test cases", " 16 agreed", "exhausted: every input")
	_, tests := b.load("out")
	first := tests[0]
	if len(first.Inputs) != 6 || first.Inputs[0].Name != "a" || first.Inputs[5].Name != "a" {
		t.Errorf("%+v", first.Inputs)
	}
	if out := b.run("emit", "out").want(0).stdout; strings.Count(out, `"a#2": `) != 16 {
		t.Errorf("%s", out)
	}
}

// The argparse test of the CHEF paper runs as it is printed in docs/python.md.
func TestArgparse(t *testing.T) {
	b := pythonBox(t)
	doc, err := readFile("../../docs/python.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(doc, "```python\nfrom symchef import SymbolicTest\n")
	code, _, end := strings.Cut(rest, "```")
	if !ok || !end || !strings.Contains(code, "argparse.ArgumentParser()") {
		t.Fatal("docs/python.md shows no argparse test")
	}
	b.write("test_args.py", "from symchef import SymbolicTest\n"+code)
	r := b.run("run", "--out", "out", "--max-paths", "25", "test_args.py")
	if r.status > 1 { // 25 paths are not always the same: the name of the folder and what is in it are inputs, too
		r.want(0)
	}
	r.want(r.status, " 0 diverged, 0 unstable")
	sum, tests := b.load("out")
	if len(tests) < 2 || sum.Replay.Agreed != len(tests) {
		t.Errorf("%d test cases, %+v\n%s", len(tests), sum.Replay, r.stdout)
	}
	if again := b.run("replay", "-j", "3", "out").want(0); !strings.Contains(again.stdout, fmt.Sprintf(": %d agreed, 0 diverged", len(tests))) {
		t.Errorf("%s", again.stdout)
	}
}
