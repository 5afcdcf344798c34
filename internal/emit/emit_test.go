package emit

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

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
		tests = append(tests, testcase.Test{ID: "t" + string(rune('1'+i)), Outcome: c.o, Inputs: []testcase.Input{
			testcase.Str("s", c.s), testcase.Bytes("b", []byte{0, 255}), testcase.Int("n", -5),
			testcase.Bool("f", true), testcase.Choice("c", 1),
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
		case Busted:
			g.Kind, g.Path = "lua", "/tests/mail.lua"
		case Testthat:
			g.Kind, g.Path = "r", "/tests/mail.R"
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
			for _, gone := range []string{`raise ValueError("no\n")`, `raise Bad()`, `raise KeyError(s)`} {
				fixed := strings.Replace(c.source, gone, "pass", 1)
				if fixed == c.source {
					continue
				}
				if out, err := run(fixed); err == nil {
					t.Errorf("%s %s: still green without %s\n%s", f, c.name, gone, out)
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
		if got := pyString(in); got != want {
			t.Errorf("pyString(%q) = %s, want %s", in, got, want)
		}
	}
	if got := pyBytes([]byte("a\"\\\n\xff")); got != `b"a\"\\\x0a\xff"` {
		t.Errorf("pyBytes: %s", got)
	}
}

func TestRefuses(t *testing.T) {
	g := testcase.Target{Kind: "python", Path: "/t.py", Name: "test_x"}
	program, nameless := g, g
	program.Kind, nameless.Name = testcase.Program, ""
	stdin := []testcase.Test{{ID: "a", Outcome: testcase.Outcome{Kind: testcase.OK}, Inputs: []testcase.Input{testcase.Stdin(nil)}}}
	for name, err := range map[string]error{
		"format":  Write(&bytes.Buffer{}, "junit", "x.py", g, nil, nil),
		"program": Write(&bytes.Buffer{}, Pytest, "x.py", program, nil, nil),
		"name":    Write(&bytes.Buffer{}, Pytest, "x.py", nameless, nil, nil),
		"input":   Write(&bytes.Buffer{}, Pytest, "x.py", g, stdin, nil),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
