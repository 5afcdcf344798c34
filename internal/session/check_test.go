package session

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// The functions of a module that has all kinds, and that replaces what the library uses: the most promising first, with what each parameter takes and who
// says so.
func TestFunctions(t *testing.T) {
	python := "/usr/bin/python3.11"
	if _, err := os.Stat(python); err != nil {
		t.Skipf("skipped: %s is not installed", python)
	}
	o := Options{StdinLen: -1, Interpreter: python, CacheDir: t.TempDir(), Boot: BootAuto, Strategy: "cupa-path"}
	found, err := Functions(context.Background(), o, "../../languages/testdata/check/odd.py", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s%s", f.Name, f.Signature)
		if f.Refused != "" {
			fmt.Fprintf(&b, " refused: %s", f.Refused)
		}
		if len(f.Promised) > 0 {
			fmt.Fprintf(&b, " promises %s", strings.Join(f.Promised, ", "))
		}
		b.WriteByte('\n')
		if f.Refused == "" && !strings.HasSuffix(f.Run, "/odd.py::"+strings.TrimPrefix(f.Name, "odd.")+"()") {
			t.Errorf("%s is run by %s", f.Name, f.Run)
		}
	}
	golden, err := os.ReadFile("testdata/functions.txt")
	if err != nil || b.String() != string(golden) {
		t.Errorf("testdata/functions.txt should have (%v)\n%s", err, b.String())
	}
}

func TestCheckTarget(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a:b.py"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for text, want := range map[string]checkTarget{
		"a:b.py":             {path: dir + "/a:b.py"},
		"a:b.py:f":           {path: dir + "/a:b.py", member: "f"},
		"a:b.py::C.m()":      {path: dir + "/a:b.py", member: "C.m"},
		".":                  {path: dir},
		"os.path":            {module: "os.path"},
		"os.path:join":       {module: "os.path", member: "join"},
		"json::JSONEncoder.": {module: "json", member: "JSONEncoder."},
	} {
		want.text = text
		if got, err := parseCheckTarget(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ":f", "json:", "json::", "no/where", "no/where:f"} {
		if got, err := parseCheckTarget(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// What a guess has brought about counts only where calls with such arguments are known to work.
func TestDemoted(t *testing.T) {
	call := func(kind testcase.Kind, guess int, n int64) testcase.Test {
		in := testcase.Shape("call", []testcase.Input{testcase.Choice("guess(x)", guess), testcase.Int("x", n)}, nil)
		return testcase.Test{Inputs: []testcase.Input{in}, Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: kind}}}
	}
	guessing, knowing := &checked{}, &checked{}
	guessing.Guessed = []string{"x"}
	tests := []testcase.Test{call(testcase.OK, 1, 3), call(testcase.Expected, 2, 3)}
	for _, row := range []struct {
		t    *checked
		test testcase.Test
		want string
	}{
		{guessing, call(testcase.Exception, 1, 5), ""},
		{guessing, call(testcase.Exception, 2, 5), becauseGuess},
		{guessing, call(testcase.Crash, 2, 5), ""},
		{knowing, call(testcase.Exception, 2, 5), ""},
		{knowing, call(testcase.Hang, 2, 5), ""},
		{knowing, call(testcase.Hang, 2, 1<<40), becauseSize},
		{knowing, call(testcase.Hang, 2, -1<<40), becauseSize},
	} {
		f := rundir.Finding{Outcome: row.test.Outcome, Example: rundir.Example{Inputs: row.test.Inputs}}
		if got := demoted(row.t, f, tests); got != row.want {
			t.Errorf("%v: %q, want %q", row.test, got, row.want)
		}
	}
}
