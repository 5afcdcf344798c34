package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Two versions of a module are told apart by the smallest inputs that do, natively too, whether it is by a result, an exception, output or what is left of
// an argument; what does the same is proved to. Both modules have one name.
func TestDiff(t *testing.T) {
	b := pythonBox(t)
	for _, v := range []string{"v1", "v2"} {
		text, err := os.ReadFile(filepath.Join("../../languages/testdata/diff", v, "lib.py"))
		if err != nil {
			t.Fatal(err)
		}
		b.write(v+"/lib.py", string(text))
	}
	r := b.run("diff", "--progress", "none", "v1/lib.py", "v2/lib.py").want(1,
		"Difference: the first returned str, the second raised IndexError", `call=empty("")`,
		"Difference: the first raised KeyError, the second raised LookupError", "call=raises(True)",
		"Difference: they print other things", "call=prints(False, True)",
		"Difference: they leave their arguments otherwise", "call=changes([])",
		"6 tests: 4 findings in 4 of them")
	if !strings.Contains(r.stderr, "symchef: not compared: lib.gone: v2/lib.py has none\n") {
		t.Errorf("%s", r.stderr)
	}
	for name, findings := range map[string]int{"identical": 0, "Point": 0, "empty": 1, "raises": 1, "prints": 1, "changes": 1} {
		sum, tests := b.load("symchef-diff-lib/runs/test_diff-test_" + name)
		failing := 0
		for _, x := range tests {
			if x.Outcome.Failing() {
				failing++
			}
		}
		if !sum.Exhausted || sum.Replay.Agreed != len(tests) || failing != findings {
			t.Errorf("%s: %d of %d test cases fail, want %d, exhausted %v %q, %+v", name, failing, len(tests), findings, sum.Exhausted, sum.WhyNotExhausted, sum.Replay)
		}
	}
	for _, name := range []string{"identical", "empty", "raises", "prints", "changes"} { // the modules of one name are told apart there, too
		for _, format := range []string{"pytest", "unittest"} {
			b.run("emit", "--format", format, "-o", "cases.py", "symchef-diff-lib/runs/test_diff-test_"+name).want(0)
			cmd := exec.Command(python, "cases.py")
			if format == "pytest" {
				if _, err := os.Stat("/usr/lib/python3/dist-packages/pytest"); err != nil {
					continue
				}
				cmd = exec.Command(python, "-m", "pytest", "-q", "cases.py")
			}
			cmd.Dir = b.dir
			if out, err := cmd.CombinedOutput(); err != nil || name != "identical" && !strings.Contains(string(out), "xfailed") && !strings.Contains(string(out), "expected failures=1") {
				t.Errorf("%s as %s: %v\n%s", name, format, err, out)
			}
		}
	}
	b.run("diff", "--out", "symchef-diff-lib/runs", "v1/lib.py", "v2/lib.py").oneLine(2, "symchef diff has not made it")
	b.run("diff", "v1/lib.py:nothing", "v2/lib.py:empty").oneLine(2, "nothing")
	b.run("diff", "v1/lib.py", "v2/lib.py:empty").oneLine(2, "v2/lib.py:empty names one function, v1/lib.py does not")
	b.run("diff", "v1/lib.py:empty", "v3.py:empty").oneLine(2, "v3.py: no such file")
}

// A function of Python is compared with its accelerator in C, which does the same.
func TestDiffAccelerator(t *testing.T) {
	b := pythonBox(t)
	b.write("pure.py", `def bisect_left(a: list[int], x: int):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo
`)
	b.run("diff", "--progress", "none", "--out", "out", "--instructions", "300000000", "pure.py:bisect_left", "_bisect:bisect_left")
	sum, tests := b.load("out/runs/test_diff-test_bisect_left")
	for _, x := range tests {
		if x.Outcome.Failing() {
			t.Errorf("%+v", x)
		}
	}
	if len(tests) == 0 || sum.Replay.Agreed != len(tests) {
		t.Errorf("%d test cases, %+v", len(tests), sum.Replay)
	}
}
