package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// nasty has inputs that need every escape, findings of several kinds, a declared
// exception, and exits.
const nasty = `import symchef

class Odd(Exception): pass

def test_text(s: symchef.Str(3), raw: symchef.Bytes(2), up: symchef.Bool()):
    """Doc's "quotes" \\ and all."""
    symchef.expect(Odd)
    if s == 'a"\\': raise Odd(s)
    if s == "\n\x00\x7f": raise ValueError("two\nlines \"quoted\"")
    if raw == b"\"\xff": assert not up, 'odd'

class ExitTest(symchef.SymbolicTest):
    def setUp(self): self.codes = (0, 3)
    def runTest(self):
        import sys
        code = self.getChoice("code", self.codes)
        if code: sys.exit(code)
`

// The emitted files run green where there is no symchef, findings are strict
// expected failures, and a repaired finding makes them red.
func TestEmit(t *testing.T) {
	b := pythonBox(t)
	b.write("code/test_nasty.py", nasty)
	b.run("run", "--out", "text", "code/test_nasty.py::test_text").want(1, "5 test cases (2 failing)", " 5 agreed")
	b.run("run", "--out", "exit", "code/test_nasty.py::ExitTest").want(0, "2 test cases (0 failing)", " 2 agreed")
	b.run("emit", "--format", "pytest", "-o", "code/test_text_generated.py", "text").want(0)
	b.run("emit", "--format", "pytest", "-o", "code/test_exit_generated.py", "exit").want(0)
	b.run("emit", "--format", "unittest", "-o", "code/cases.py", "text").want(0)
	piped := b.run("emit", "text").want(0).stdout
	b.run("emit", "--format", "junit", "text").oneLine(2, `no format "junit"`)

	text, err := os.ReadFile(b.path("code/test_text_generated.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\"\"\"Test cases that symchef generated for test_nasty.py::test_text.\n\nCases: 5. Findings among them, expected to fail until they are fixed: 2.\nRun: python3 -m pytest test_text_generated.py\n",
		`os.path.join(os.path.dirname(os.path.abspath(__file__)), "test_nasty.py")`,
		`{"s": "a\"\\", "raw": `, `"test_nasty.Odd",`, `{"s": "\n\x00\x7f", "raw": `, `b"\"\xff", "up": True}`,
		`marks=pytest.mark.xfail(reason="exception ValueError: two\\nlines \"quoted\"", raises=ValueError, strict=True),`,
		"def test_text(inputs, raises, returns):\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if !strings.Contains(piped, `os.path.abspath("`+b.path("code/test_nasty.py")+`")`) {
		t.Errorf("%s", piped)
	}

	// Elsewhere: only the tested file, the emitted ones, and python.
	elsewhere := func(args ...string) (string, error) {
		cmd := exec.Command(python, args...)
		cmd.Dir, cmd.Env = b.path("code"), []string{"PYTHONDONTWRITEBYTECODE=1", "HOME=" + b.dir}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := elsewhere("cases.py", "-v"); err != nil || !strings.Contains(out, "OK (expected failures=2)") {
		t.Errorf("unittest: %v\n%s", err, out)
	}
	if _, err := elsewhere("-m", "pytest", "--version"); err != nil {
		t.Skip("skipped: running the pytest files: pytest is not installed for " + python)
	}
	pytest := func(file string) (string, error) {
		return elsewhere("-m", "pytest", "-q", "-p", "no:cacheprovider", file)
	}
	if out, err := pytest("test_text_generated.py"); err != nil || !strings.Contains(out, "3 passed, 2 xfailed") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := pytest("test_exit_generated.py"); err != nil || !strings.Contains(out, "2 passed") {
		t.Errorf("%v\n%s", err, out)
	}
	b.write("code/test_nasty.py", strings.Replace(nasty, "raise ValueError(", "raise KeyError(", 1))
	if out, err := pytest("test_text_generated.py"); err == nil || !strings.Contains(out, "1 failed") {
		t.Errorf("green although a finding is another\n%s", out)
	}
	b.write("code/test_nasty.py", strings.Replace(nasty, "assert not up, 'odd'", "pass", 1))
	if out, err := pytest("test_text_generated.py"); err == nil || !strings.Contains(out, "XPASS(strict)") {
		t.Errorf("green although a finding is repaired\n%s", out)
	}
}

// A test case that did not agree natively is no test.
func TestEmitDoubts(t *testing.T) {
	b := pythonBox(t)
	b.write("test_kernel.py", "import symchef\ndef test_kernel(x: symchef.Bool()):\n    import ctypes, mmap\n    m, v = mmap.mmap(-1, 4096), ctypes.create_string_buffer(1)\n"+
		"    ctypes.CDLL(None).mincore(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m))), 4096, v)\n    if x: raise ValueError(v.raw)\n")
	b.run("run", "--out", "out", "test_kernel.py").want(4, "1 agreed, 1 diverged")
	out := b.run("emit", "out").want(0, "Cases: 1.", "# Not emitted:\n#   t00000", ": diverged in replay: outcome").stdout
	if strings.Count(out, "pytest.param(") != 1 {
		t.Errorf("%s", out)
	}
	b.compile("p", "#include <stdio.h>\nint main() { return getchar() == 'x'; }")
	b.run("run", "--out", "program", "--no-replay", "--stdin", "1", "--", "./p").want(0)
	b.run("emit", "--format", "unittest", "program").oneLine(2, "format unittest is not for programs; sh, pytest and corpus are")
	b.run("emit", "--format", "corpus", "program").oneLine(2, "name it with -o")
}

// What a run on a program has found becomes a script, a pytest file and a corpus.
func TestEmitProgram(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int n, char **v) {
	char line[9] = "";
	FILE *f = fopen("app.conf", "r");
	if (f && fgets(line, 9, f) && line[0] == '!') abort();
	printf("%s|%s|%c\n", v[1], line[0] == '\n' ? "empty" : "", getchar() == '\'' ? 'q' : '-');
	return strcmp(v[1], "-") == 0 ? 3 : 0;
}`)
	b.run("run", "--out", "d", "--stdin", "1", "--argv", "1x2", "--file", "app.conf:2", "--", "./p").want(1, "! crash SIGABRT", "exit 3", " 0 diverged")
	_, tests := b.load("d")
	b.run("emit", "-o", "cases.sh", "d").want(0)
	b.run("emit", "--format", "pytest", "-o", "test_p.py", "d").want(0)
	b.run("emit", "--format", "corpus", "-o", "seeds", "d").want(0)
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = b.dir, append(b.env, "PYTHONDONTWRITEBYTECODE=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	if out := run("sh", "cases.sh"); !strings.Contains(out, " # TODO crash SIGABRT") || strings.Count(out, "ok ") != len(tests) {
		t.Errorf("%d test cases\n%s", len(tests), out)
	}
	seeds, err := os.ReadDir(b.path("seeds/stdin"))
	if err != nil || len(seeds) != len(tests) {
		t.Errorf("%d files for %d test cases, %v", len(seeds), len(tests), err)
	}
	if exec.Command(python, "-c", "import pytest").Run() != nil {
		t.Skip("skipped: running the pytest file: pytest is not installed for " + python)
	}
	if out := run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_p.py"); !strings.Contains(out, "xfailed") {
		t.Errorf("%s", out)
	}
}
