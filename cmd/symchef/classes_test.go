package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// The same classes for symchef, and for unittest and pytest themselves: an input is then its first value.
const classes = `import sys, unittest
try:
    import symchef
    Int = symchef.Int
except ImportError:
    Int = lambda *bounds: None

def say(*words): print(">", *words, flush=True)

class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls): say("class up", cls.__name__); cls.addClassCleanup(say, "class clean")
    @classmethod
    def tearDownClass(cls): say("class down")
    def setUp(self): say("up", self.id().rpartition(".")[2]); self.limit = 7; self.addCleanup(say, "clean 1"); self.addCleanup(say, "clean 2")
    def tearDown(self): say("down")

class Case(Base):
    def test_u(self, n: Int(0, 9) = 3): say("test"); self.assertLess(n, self.limit)
    def test_raises(self): self.addCleanup(self.fail, "late"); raise KeyError("early")
    @unittest.skip("not now")
    def test_skipped(self): say("never")
    @unittest.expectedFailure
    def test_fails(self): self.assertTrue(False)
    def test_exit(self, n: Int(0, 2) = 1): sys.exit(n)

class Only(Base):
    def runTest(self): say("only")

class TestPlain:
    @classmethod
    def setup_class(cls): say("class up")
    def teardown_class(self): say("class down", self.__name__)
    def setup_method(self, method): say("up", method.__name__); self.limit = 7
    def teardown_method(self): say("down")
    def test_y(self, n: Int(0, 9) = 3): say("test"); assert n < self.limit
    @staticmethod
    def test_static(n: Int(0, 1) = 0): say("static"); assert not n
    def testRaises(self): raise KeyError("early")
    class TestInner:
        def setup_class(cls): say("class up inner")
        def teardown_class(cls): say("class down inner")
        def setup_method(self): say("up inner")
        def teardown_method(self): say("down inner")
        def test_in(self): say("inner")
    class Other:
        def test_none(self): say("never")

class TestUnder(TestPlain):
    def teardown_method(self): say("down here"); raise OSError("late")

class TestOff:
    __test__ = False
    def test_off(self): say("never")
`

// Methods of classes are tests where pytest and unittest collect them, and what they print, with all that is called around them, is what it is there.
func TestClasses(t *testing.T) {
	b := pythonBox(t)
	b.write("test_classes.py", classes)
	native := func(args ...string) (string, error) {
		cmd := exec.Command(python, args...)
		cmd.Dir, cmd.Env = b.dir, []string{"PYTHONDONTWRITEBYTECODE=1", "HOME=" + b.dir}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if _, err := native("-m", "pytest", "--version"); err != nil {
		t.Skip("skipped: pytest is not installed for " + python)
	}
	pytest := []string{"-m", "pytest", "-q", "-p", "no:cacheprovider"}
	collected, _ := native(append(pytest, "--collect-only", "test_classes.py")...)
	var want []string
	for line := range strings.Lines(collected) {
		if file, name, ok := strings.Cut(strings.TrimSpace(line), "::"); ok && file == "test_classes.py" {
			want = append(want, strings.ReplaceAll(name, "::", "."))
		}
	}
	slices.Sort(want)

	table := b.run("run", "--out", "out", "test_classes.py").want(1, "at test_classes.py:19 in Case.test_u", "in TestPlain.test_y").stdout
	var got []string
	for line := range strings.Lines(table) {
		if name, ok := strings.CutPrefix(line, "test_classes.py::"); ok && !strings.Contains(line, " on /") {
			got = append(got, strings.Fields(name)[0])
		}
	}
	slices.Sort(got)
	if len(want) < 14 || !slices.Equal(got, want) {
		t.Fatalf("tests: %q\npytest collects %q", got, want)
	}

	ends := map[string]string{}
	for _, name := range got {
		dir := "out/test_classes-" + name
		sum, tests := b.load(dir)
		if !sum.Exhausted || sum.Replay.Agreed != len(tests) {
			t.Errorf("%s: %+v %q", name, sum.Replay, sum.WhyNotExhausted)
		}
		for _, x := range tests {
			ends[name] += x.Outcome.String() + "\n"
		}
		said, _ := native(append(pytest, "-s", "test_classes.py::"+strings.ReplaceAll(name, ".", "::"))...)
		var lines string
		for line := range strings.Lines(said) {
			if at := strings.Index(line, "> "); at >= 0 && !strings.HasPrefix(line, ">  ") {
				lines += line[at:]
			}
		}
		if i := slices.IndexFunc(tests, func(x testcase.Test) bool { return b.output(dir, x) == lines }); i < 0 && name != "Case.test_exit" {
			t.Errorf("%s: no test case prints what pytest lets it print, %q but %q", name, lines, b.output(dir, tests[0]))
		}
		b.run("emit", "--format", "unittest", "-o", "cases.py", dir).want(0)
		if out, err := native("cases.py"); err != nil {
			t.Errorf("%s: %s", name, out)
		}
	}
	for name, want := range map[string]string{
		"Case.test_raises": "exception KeyError: early", "Case.test_skipped": "expected unittest.case.SkipTest: not now", "Case.test_fails": "expected AssertionError: False is not true",
		"Case.test_exit": "exit 2", "TestUnder.test_y": "exception OSError: late", "TestUnder.testRaises": "exception KeyError: early", "TestPlain.test_static": "assertion",
	} {
		if !strings.Contains(ends[name], want) {
			t.Errorf("%s ends as %q, not %q", name, ends[name], want)
		}
	}

	b.run("run", "--no-replay", "--out", "k", "-k", "TestPlain and static", "test_classes.py").want(1, "1 test: 1 finding")
	b.run("run", "--no-replay", "--out", "c", "test_classes.py::Only").want(0, "test_classes.py::Only on ")
	b.run("run", "--no-replay", "--out", "p", "test_classes.py::TestPlain::testRaises").want(1, "test_classes.py::TestPlain.testRaises on ")
	b.run("run", "--no-replay", "--out", "s", "test_classes.py::TestPlain", "test_classes.py::Only.runTest").want(1, "5 tests: ", "TestPlain.TestInner.test_in")
	b.run("run", "--no-replay", "--out", "n", "test_classes.py::TestOff").oneLine(2, "no test named TestOff; tests here: Case.test_exit, ")
}

// What skips a test is no finding, whichever runner it is of, and the test cases that are written skip or hold, too.
func TestSkips(t *testing.T) {
	b := pythonBox(t)
	if exec.Command(python, "-c", "import pytest").Run() != nil {
		t.Skip("skipped: pytest is not installed for " + python)
	}
	b.write("test_skips.py", `import symchef, pytest, unittest

def test_skips(n: symchef.Int(0, 3)):
    if n == 1: pytest.skip("not now")
    if n == 2: raise unittest.SkipTest("nor here")
    if n == 3: pytest.importorskip("no_such_module")
`)
	b.run("run", "--out", "out", "test_skips.py").want(0, "expected Skipped: not now", "expected unittest.case.SkipTest: nor here", "4 agreed")
	b.run("emit", "--format", "pytest", "-o", "test_cases.py", "out").want(0)
	cmd := exec.Command(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_cases.py")
	cmd.Dir = b.dir
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "failed") {
		t.Errorf("the test cases: %v\n%s", err, out)
	}
}
