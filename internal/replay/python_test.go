package replay

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"symchef/internal/testcase"
	"symchef/languages"
)

const syscall0 = syscall.Signal(0)

func itoa(n int) string { return strconv.Itoa(n) }

const pythonTest = `
import os, symchef

class MailTest(symchef.SymbolicTest):
    def runTest(self):
        s = self.getString("s", "aaa")
        n = self.getInt("n", 0)
        b = self.getBytes("b", b"xy")
        c = self.getChoice("c", ["p", "q"])
        f = self.getBool("f", False)
        self.expect(KeyError)
        print(s, n, b, c, f)
        self.log("seen")
        if s == "exc": raise ValueError("bad " + s)
        if s == "key": raise KeyError("k")
        if s == "ass": assert False, "no"
        if s == "out": os._exit(5)
        if s == "seg":
            import ctypes
            ctypes.string_at(0)
`

func TestPython(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skip("skipped: ", err)
	}
	lib := t.TempDir()
	if err := languages.Extract(lib); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test_it.py")
	if err := os.WriteFile(file, []byte(pythonTest), 0o644); err != nil {
		t.Fatal(err)
	}
	g := testcase.Target{
		Kind: "python", Path: file, Name: "MailTest", Interpreter: python, Cwd: filepath.Dir(file),
		Argv: []string{python, "-m", "symchef", file + "::MailTest"},
		Env:  []string{"PYTHONPATH=" + testcase.GuestRoot + "/python", "PYTHONDONTWRITEBYTECODE=1"},
	}
	inputs := func(s string) []testcase.Input {
		return []testcase.Input{
			testcase.Str("s", s), testcase.Int("n", -1<<63), testcase.Bytes("b", []byte{0, 255}),
			testcase.Choice("c", 1), testcase.Bool("f", true),
		}
	}
	line := func(s string) string { return s + " -9223372036854775808 b'\\x00\\xff' q True\n" }
	var tests []testcase.Test
	for s, o := range map[string]testcase.Outcome{
		"abc": {Kind: testcase.OK},
		"exc": {Kind: testcase.Exception, Type: "ValueError", Message: "bad exc"},
		"key": {Kind: testcase.Expected, Type: "KeyError", Message: "k"},
		"ass": {Kind: testcase.Assertion, Type: "AssertionError", Message: "no"},
	} {
		tests = append(tests, wants(s, o, line(s), inputs(s)...))
	}
	// Their output is in Python's buffer when they end.
	tests = append(tests,
		wants("out", testcase.Outcome{Kind: testcase.Exit, ExitStatus: 5}, "", inputs("out")...),
		wants("seg", testcase.Outcome{Kind: testcase.Crash, Signal: "SIGSEGV"}, "", inputs("seg")...))
	for _, m := range append(modes(t), Unconfined) {
		rep, err := Run(context.Background(), g, tests, Options{Mode: m, GuestLib: lib})
		if err != nil {
			t.Fatal(m, err)
		}
		if rep.Agreed != len(tests) {
			for _, r := range rep.Results {
				t.Errorf("%s %s: %s %s\n%s", m, r.ID, r.Verdict, r.Why, r.Runs[0].Stderr)
			}
		}
		for _, r := range rep.Results {
			if r.ID == "abc" && (len(r.Runs[0].Log) != 1 || r.Runs[0].Log[0] != "seen") {
				t.Errorf("%s: log %q", m, r.Runs[0].Log)
			}
		}
	}
}
