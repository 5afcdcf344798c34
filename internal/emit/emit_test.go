package emit

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// The formats of the languages that symchef knows.
const (
	Pytest   Format = "pytest"
	Unittest Format = "unittest"
	Busted   Format = "busted"
	Testthat Format = "testthat"
)

// written is what a rule of a language makes of a value.
func written(t *testing.T, language, rule string, v any) string {
	t.Helper()
	d, _ := interp.ByName(language)
	w, err := newWriter(d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.apply(rule, v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	stock    = "/usr/bin/python3.11"
	function = `
import symchef

class Bad(Exception): pass

def test_it(s: symchef.Str(3), b: symchef.Bytes(2), n: symchef.Int(-5, 5), f: symchef.Bool(), c: symchef.Choice("p", "q")):
    symchef.expect(Bad)
    assert c in ("p", "q") and type(b) is bytes and type(f) is bool
    if s == "bad": raise Bad()
    if s == "val": raise ValueError("no\n")
    assert s != "ass"
`
	class = `
from symchef import SymbolicTest

class MailTest(SymbolicTest):
    def setUp(self):
        self.ready = True
    def runTest(self):
        assert self.ready
        s = self.getString("s", "aaa", max_size=3)
        assert self.getBytes("b", b"..") == b"\x00\xff"
        n = self.getInt("n", 0, max_value=5, min_value=-5)
        f = self.getBool("f", False)
        c = self.getChoice("c", ["p", "q"])
        self.assume(c == "q")
        if s == "bad": raise KeyError(s)
        if s == "val": raise ValueError("no\n")
        assert s != "ass"
`
)

func sample(expected string) []testcase.Test {
	var tests []testcase.Test
	for i, c := range []struct {
		s string
		o testcase.Outcome
	}{
		{"a\"\n", testcase.Outcome{Kind: testcase.OK}},
		{"bad", testcase.Outcome{Kind: testcase.Expected, Type: expected}},
		{"val", testcase.Outcome{Kind: testcase.Exception, Type: "ValueError", Message: "no\n"}},
		{"ass", testcase.Outcome{Kind: testcase.Assertion, Type: "AssertionError"}},
		{"seg", testcase.Outcome{Kind: testcase.Crash, Signal: "SIGSEGV"}},
		{"out", testcase.Outcome{Kind: testcase.Exit, ExitStatus: 3}},
		{"uns", testcase.Outcome{Kind: testcase.Unsupported, Message: "no such\ncall"}},
	} {
		choice := testcase.Choice("c", 1)
		if i%2 == 1 { // told by its value
			choice = testcase.Choice("c", 7)
			choice.Chosen, choice.Label = "s1:q", "q"
		}
		tests = append(tests, testcase.Test{ID: "t" + string(rune('1'+i)), Observation: testcase.Observation{Outcome: c.o}, Inputs: []testcase.Input{
			testcase.Str("s", c.s), testcase.Bytes("b", []byte{0, 255}), testcase.Int("n", -5),
			testcase.Bool("f", true), choice,
		}})
	}
	return tests
}

func TestGolden(t *testing.T) {
	g := testcase.Target{Kind: "python", Path: "/tests/test_mail.py", Name: "test_it"}
	for _, f := range Formats() {
		var b bytes.Buffer
		g := g
		switch f {
		case Shell: // see TestProgram
			continue
		case Busted:
			g.Kind, g.Path = "lua", "/tests/mail.lua"
		case Testthat:
			g.Kind, g.Path = "r", "/tests/mail.R"
		case "tcltest":
			g.Kind, g.Path = "tcl", "/tests/mail.tcl"
		}
		if err := Write(&b, f, "/tests/out/generated.py", g, sample("test_mail.Bad"), map[string]string{"t3": "unstable in replay: no\none knows"}); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join("testdata", string(f)+".golden")
		if *update {
			if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s differs from %s; go test -update rewrites it:\n%s", f, name, b.Bytes())
		}
	}
}

// pytestPython finds an interpreter with pytest; "" if there is none.
func pytestPython() string {
	for _, p := range []string{stock, "python3"} {
		if exec.Command(p, "-m", "pytest", "--version").Run() == nil {
			return p
		}
	}
	return ""
}

// TestRuns runs the emitted files: they are green, and red when a finding is
// fixed or an expected exception stays away.
func TestRuns(t *testing.T) {
	commands := map[Format][]string{}
	if _, err := os.Stat(stock); err == nil {
		commands[Unittest] = []string{stock}
	} else {
		t.Log("skipped: unittest: ", err)
	}
	if p := pytestPython(); p != "" {
		commands[Pytest] = []string{p, "-m", "pytest", "-q", "-p", "no:cacheprovider"}
	} else {
		t.Log("skipped: running the pytest file (pytest is not installed)")
	}
	for f, cmd := range commands {
		for _, c := range []struct{ name, source, expected string }{
			{"test_it", function, "test_mail.Bad"},
			{"MailTest", class, "KeyError"},
		} {
			dir := t.TempDir()
			source := filepath.Join(dir, "test_mail.py")
			g := testcase.Target{Kind: "python", Path: source, Name: c.name}
			write := func(name, text string) {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var b strings.Builder
			emitted := filepath.Join(dir, "test_generated.py")
			if err := Write(&b, f, emitted, g, sample(c.expected), nil); err != nil {
				t.Fatal(err)
			}
			write(emitted, b.String())
			run := func(text string) (string, error) {
				write(source, text)
				x := exec.Command(cmd[0], append(cmd[1:], emitted)...)
				x.Dir, x.Env = dir, []string{"PYTHONDONTWRITEBYTECODE=1", "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "PYTHONPATH=" + os.Getenv("PYTHONPATH")}
				out, err := x.CombinedOutput()
				return string(out), err
			}
			if out, err := run(c.source); err != nil {
				t.Errorf("%s %s: %v\n%s", f, c.name, err, out)
			}
			for _, x := range [][2]string{{`raise ValueError("no\n")`, "pass"}, {`raise ValueError("no\n")`, "1 / 0"}, {`raise Bad()`, "pass"}, {`raise KeyError(s)`, "pass"}} {
				fixed := strings.Replace(c.source, x[0], x[1], 1)
				if fixed == c.source {
					continue
				}
				if out, err := run(fixed); err == nil {
					t.Errorf("%s %s: still green with %s in the place of %s\n%s", f, c.name, x[1], x[0], out)
				}
			}
		}
	}
}

func TestLiterals(t *testing.T) {
	for in, want := range map[string]string{
		"":                 `""`,
		"a\"b\\":           `"a\"b\\"`,
		"\n\x00\x7f\u00e9": `"\n\x00\x7fé"`,
		"\u2028\U000e0001": `"\u2028\U000e0001"`,
	} {
		if got := written(t, "python", textRule, in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := written(t, "python", bytesRule, []byte("a\"\\\n\xff")); got != `b"a\"\\\x0a\xff"` {
		t.Errorf("bytes: %s", got)
	}
}

func TestRefuses(t *testing.T) {
	g := testcase.Target{Kind: "python", Path: "/t.py", Name: "test_x"}
	program, nameless := g, g
	program.Kind, nameless.Name = testcase.Program, ""
	stdin := []testcase.Test{{ID: "a", Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}}, Inputs: []testcase.Input{testcase.Stdin(nil)}}}
	for name, err := range map[string]error{
		"format":  Write(&bytes.Buffer{}, "junit", "x.py", g, nil, nil),
		"program": Write(&bytes.Buffer{}, Unittest, "x.py", program, nil, nil),
		"script":  Write(&bytes.Buffer{}, Shell, "x.sh", g, nil, nil),
		"name":    Write(&bytes.Buffer{}, Pytest, "x.py", nameless, nil, nil),
		"nothing": Write(&bytes.Buffer{}, Pytest, "x.py", g, nil, nil),
		"omitted": Write(&bytes.Buffer{}, Shell, "x.sh", program, []testcase.Test{{ID: "a", Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.Unsupported}}}}, nil),
		"input":   Write(&bytes.Buffer{}, Pytest, "x.py", g, stdin, nil),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestParameters: what a test's parameters may be, they may be in an emitted file.
func TestParameters(t *testing.T) {
	p := pytestPython()
	if p == "" {
		t.Skip("skipped: pytest is not installed")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "test_mail.py")
	if err := os.WriteFile(source, []byte(`from __future__ import annotations
import functools, typing
import symchef
from symchef import Int, Bool, Choice

def test_defaults(*more, n: Int(0, 5) = 3, x=7, y: int = 8, **kw):
    if (n, x, y, more, kw) == (4, 7, 8, (), {}): raise ValueError

def test_quoted(n: "Int(0, 5)" = 1, *, b: "symchef.Bool" = False):
    if (n, b) == (4, True): raise ValueError

def test_position(m=1, n: typing.Annotated[int, Int(0, 5)] = 2, /, z=3):
    if (m, n, z) == (1, 4, 3): raise ValueError

def noted(f):
    @functools.wraps(f)
    def g(*a, **k): return f(*a, **k)
    return g

@noted
def test_wrapped(b: Bool, n: Int(0, 5)):
    if n == 4 and b is True: raise ValueError

class Method(symchef.SymbolicTest):
    def setUp(self): self.five = 5
    def runTest(self, n: Int(0, 5), c: Choice("p", "q"), m=2):
        if (n, c, m, self.five) == (4, "q", 2, 5): raise ValueError
`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"test_defaults", "test_quoted", "test_position", "test_wrapped", "Method"} {
		for _, f := range []Format{Pytest, Unittest} {
			tests := []testcase.Test{
				{ID: "t1", Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}}},
				{ID: "t2", Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.Exception, Type: "ValueError"}}},
			}
			for i := range tests {
				tests[i].Inputs = []testcase.Input{testcase.Int("n", int64(3+i)), testcase.Bool("b", true), testcase.Choice("c", 1)}
			}
			emitted := filepath.Join(dir, "test_"+name+"_"+string(f)+".py")
			var b strings.Builder
			if err := Write(&b, f, emitted, testcase.Target{Kind: "python", Path: source, Name: name}, tests, nil); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(emitted, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			x := exec.Command(p, "-m", "pytest", "-q", "-p", "no:cacheprovider", emitted)
			x.Dir = dir
			if out, err := x.CombinedOutput(); err != nil || !strings.Contains(string(out), "1 passed, 1 xfailed") {
				t.Errorf("%s %s: %v\n%s", f, name, err, out)
			}
		}
	}
}

// A case leaves nothing behind that the next one or the test runner would meet: what is to be done at the end, the working directory, the
// environment, the standard streams.
func TestCasesApart(t *testing.T) {
	p := pytestPython()
	if p == "" {
		t.Skip("skipped: pytest is not installed")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "test_end.py")
	if err := os.WriteFile(source, []byte(`import atexit, os, sys
import symchef
from atexit import register
atexit.register(os._exit, 7)
register(lambda: os._exit(8))

def test_end(n: symchef.Int(0, 5)):
    atexit.register(os._exit, 9)
    assert os.path.isfile("here"), "another working directory"
    assert "LEFT" not in os.environ and "PATH" in os.environ
    print("it can write")
    os.chdir("/")
    os.environ["LEFT"] = "x"
    del os.environ["PATH"]
    sys.stdout = sys.stderr = None
    if n == 4: raise ValueError
`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "here"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []testcase.Test{
		{ID: "t1", Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}}},
		{ID: "t2", Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.Exception, Type: "ValueError"}}},
		{ID: "t3", Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}}},
	}
	for i := range tests {
		tests[i].Inputs = []testcase.Input{testcase.Int("n", int64(3+i))}
	}
	for _, f := range []Format{Pytest, Unittest} {
		emitted := filepath.Join(dir, "test_emitted_"+string(f)+".py")
		var b strings.Builder
		if err := Write(&b, f, emitted, testcase.Target{Kind: "python", Path: source, Name: "test_end"}, tests, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(emitted, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(p, "-m", string(f), filepath.Base(emitted))
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if want := map[Format]string{Pytest: "2 passed, 1 xfailed", Unittest: "OK (expected failures=1)"}[f]; err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", f, err, out)
		}
	}
}

// What a test returned is asserted where it has a literal.
func TestReturns(t *testing.T) {
	p := pytestPython()
	if p == "" {
		t.Skip("skipped: pytest is not installed")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "test_value.py")
	if err := os.WriteFile(source, []byte(`import symchef
VALUES = [None, "it's \u00e9\n\\", b"'\x00\xff", -1 << 70, 1.5e300, -0.0, [1, (2,), ()], {"k": {True}, (1, "a"): set()}, frozenset({"a"}), "other", object()]
def test_value(n: symchef.Int(0, 10)): return VALUES[n]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	values := []struct {
		value   testcase.Value
		literal string
	}{
		{"n0:", "None"}, {"s9:it's \xc3\xa9\n\\", `'it\'s é\n\\'`}, {"b3:'\x00\xff", `b'\'\x00\xff'`},
		{"i9:\x00\x00\x00\x00\x00\x00\x00\x00\xc0", "-1180591620717411303424"}, {"f8:\x35\x58\x00\x66\x2d\xeb\x41\x7e", "1.5e+300"}, {"f8:\x00\x00\x00\x00\x00\x00\x00\x80", "-0.0"},
		{"l3:i1:\x01(1:i1:\x02(0:", "[1, (2,), ()]"}, {"{2:s1:k<1:T0:(2:i1:\x01s1:a<0:", "{'k': {True}, (1, 'a'): set()}"}, {"k1:o9:frozenset<1:s1:a", "frozenset({'a'})"}, {"s7:another", "'another'"}, {"o6:object", "..."},
	}
	for v, want := range map[testcase.Value]bool{"z0:": false, "l1:z0:": false, "f8:\x00\x00\x00\x00\x00\x00\xf8\x7f": false, "<1:<0:": false, "{1:(1:<0:n0:": false, "s1:\xff": false, "": false, "{1:n0:<1:n0:": true} {
		if _, ok := v.Literal(); ok != want {
			t.Errorf("%q: %v", string(v), ok)
		}
	}
	var tests []testcase.Test
	for i, v := range values {
		if got, _ := v.value.Literal("frozenset"); v.literal != "..." && got != v.literal {
			t.Errorf("%q: %s, want %s", string(v.value), got, v.literal)
		}
		tests = append(tests, testcase.Test{ID: fmt.Sprint("t", i), Inputs: []testcase.Input{testcase.Int("n", int64(i))},
			Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}, Returned: v.value}})
	}
	for _, f := range []Format{Pytest, Unittest} {
		emitted := filepath.Join(dir, "test_emitted_"+string(f)+".py")
		var b strings.Builder
		if err := Write(&b, f, emitted, testcase.Target{Kind: "python", Path: source, Name: "test_value"}, tests, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(emitted, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(p, "-m", string(f), filepath.Base(emitted))
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		if want := map[Format]string{Pytest: "1 failed, 10 passed", Unittest: "FAILED (failures=1)"}[f]; !strings.Contains(string(out), want) || !strings.Contains(string(out), "returned 'other', not 'another'") {
			t.Errorf("%s: %s", f, out)
		}
	}
}

// What a test runner shows of a finding is safe for a terminal.
func TestFindingsAreVisible(t *testing.T) {
	g := testcase.Target{Kind: "python", Path: "/t/test_a.py", Name: "test_a"}
	var tests []testcase.Test
	for _, o := range []testcase.Outcome{{Kind: testcase.Exception, Type: "E", Message: "é\\n\none\x1b[31mred\u202e"}, {Kind: testcase.Hang, Message: "é\\n\none\x1b[31mred\u202e"}} {
		x := testcase.Test{ID: fmt.Sprint("t", len(tests)+1)}
		x.Outcome = o
		tests = append(tests, x)
	}
	for _, f := range []Format{"pytest", "unittest"} {
		var b bytes.Buffer
		if err := Write(&b, f, "", g, tests, nil); err != nil {
			t.Fatal(err)
		}
		// As code: each backslash is one of the text.
		if n := strings.Count(b.String(), `\\n\\none\\x1b[31mred\\u202e`); n < 2 || strings.Contains(b.String(), `[^\\]\x1b`) {
			t.Errorf("%s: %d\n%s", f, n, b.String()[:min(b.Len(), 3000)])
		}
	}
}

// An emitted file finds a tested file whose path is not UTF-8, and is UTF-8 itself.
func TestPathOfBytes(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "d\xff\xc3\xa9")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Skip("skipped: ", err)
	}
	for _, l := range []struct {
		kind, file, text string
		format           Format
		run              []string
	}{
		{"python", "test_\xfe.py", "import symchef\ndef test_value(n: symchef.Int(0, 3)): return n\n", Unittest, []string{"python3", "emitted"}},
		{"lua", "t\xfe.lua", "local symchef = require 'symchef'\nfunction test_value() return symchef.integer('n', 0, 3) end\n", Busted, []string{"busted", "emitted"}},
		{"r", "t\xfe.R", "test_value <- function() symchef$integer('n', 0L, 3L)\n", Testthat, []string{"Rscript", "-e", "testthat::test_file('emitted', reporter = 'stop')"}},
	} {
		if err := os.WriteFile(filepath.Join(folder, l.file), []byte(l.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		width := 8
		if l.kind == "r" {
			width = 4
		}
		test := testcase.Test{ID: "t1", Inputs: []testcase.Input{testcase.Int("n", 2)}, Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK},
			Returned: testcase.Value(fmt.Sprintf("i%d:\x02", width) + strings.Repeat("\x00", width-1))}}
		if err := Write(&b, l.format, filepath.Join(dir, "emitted"), testcase.Target{Kind: testcase.TargetKind(l.kind), Path: filepath.Join(folder, l.file), Name: "test_value"}, []testcase.Test{test}, nil); err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(b.String()) {
			t.Errorf("%s: it is not UTF-8", l.kind)
		}
		if err := os.WriteFile(filepath.Join(dir, "emitted"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath(l.run[0]); err != nil {
			continue
		}
		cmd := exec.Command(l.run[0], l.run[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", l.kind, err, out)
		}
	}
}
