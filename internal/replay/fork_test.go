package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"symchef/internal/testcase"
	"symchef/languages"
)

// language is one whose tests are replayed natively.
type language struct {
	name, interpreter, suffix string
	argv                      func(file string) []string
	env                       []string
	// count is a test that prints its input n and nothing else.
	count string
}

var speaking = []language{
	{"python", python, ".py", func(f string) []string { return []string{python, "-m", "symchef", f} },
		[]string{"PYTHONPATH=" + testcase.GuestRoot + "/python", "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0", "PATH=/usr/bin:/bin"},
		"import symchef, json, argparse\nprint('early')\ndef test_n(n: symchef.Int()):\n    print(n)\n    if n % 3 == 0: raise ValueError(n)\n"},
	{"lua", "/usr/bin/lua5.4", ".lua", func(f string) []string {
		return []string{"/usr/bin/lua5.4", testcase.GuestRoot + "/lua/symchef.lua", f}
	}, nil,
		"local symchef = require 'symchef'\nprint('early')\nreturn function()\n local n = symchef.integer('n')\n print(n)\n if n % 3 == 0 then error(tostring(n), 0) end\nend\n"},
	{"r", "/usr/lib/R/bin/exec/R", ".R", func(f string) []string {
		return []string{"/usr/lib/R/bin/exec/R", "--no-echo", "--no-restore", "--min-nsize=5M", "--min-vsize=256M", "-f", testcase.GuestRoot + "/r/symchef.R", "--args", f}
	}, []string{"R_HOME=/usr/lib/R", "LD_LIBRARY_PATH=/usr/lib/R/lib", "PATH=/usr/bin:/bin", "R_ENABLE_JIT=0"},
		"cat('early\\n')\ntest_n <- function() {\n n <- symchef$integer('n')\n cat(n, '\\n', sep = '')\n if (n %% 3L == 0L) stop(n)\n}\n"},
}

// in writes text as a test of l and returns its target.
func (l language) in(t testing.TB, text string) (testcase.Target, Options) {
	t.Helper()
	if _, err := os.Stat(l.interpreter); err != nil {
		t.Skipf("skipped: %s is not installed", l.interpreter)
	}
	lib := t.TempDir()
	if err := languages.Extract(lib); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test_it"+l.suffix)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return testcase.Target{Kind: testcase.TargetKind(l.name), Path: file, Interpreter: l.interpreter, Argv: l.argv(file), Env: l.env, Cwd: filepath.Dir(file)},
		Options{GuestLib: lib}
}

// counting is what the machine would have seen of l.count for n from 1 on.
func (l language) counting(file string, cases int) (tests []testcase.Test) {
	for n := 1; n <= cases; n++ {
		o := testcase.Outcome{Kind: testcase.OK}
		if n%3 == 0 {
			o = map[string]testcase.Outcome{
				"python": {Kind: testcase.Exception, Type: "ValueError", Message: fmt.Sprint(n)},
				"lua":    {Kind: testcase.Exception, Type: "error", Message: fmt.Sprint(n)},
				"r":      {Kind: testcase.Exception, Type: "simpleError", Message: fmt.Sprint(n)},
			}[l.name]
		}
		tests = append(tests, wants(fmt.Sprint(n), o, fmt.Sprintf("early\n%d\n", n), testcase.Int("n", int64(n))))
	}
	return tests
}

// Replay by a server and by starts of their own give the same verdicts, and the server is used.
func TestFork(t *testing.T) {
	for _, l := range speaking {
		t.Run(l.name, func(t *testing.T) {
			g, opt := l.in(t, l.count)
			for _, opt.Mode = range []Mode{Namespaces} {
				if err := Probe(context.Background(), opt.Mode); err != nil {
					t.Skipf("skipped: %v", err)
				}
				tests, wrong := l.counting(g.Path, 8), 0
				if l.name != "r" { // of which five starts take long
					wrong, tests[4].Outcome = 1, testcase.Outcome{Kind: testcase.Exception, Type: "wrong"}
				}
				opt.Parallel = 1
				rep, err := Run(context.Background(), g, tests, opt)
				if err != nil {
					t.Fatal(err)
				}
				if rep.Agreed != 8-wrong || rep.Diverged != wrong || rep.Cloned != rep.Agreed || rep.Anew != "" {
					t.Errorf("%s: %d agreed, %d diverged, %d cloned; %s", opt.Mode, rep.Agreed, rep.Diverged, rep.Cloned, rep.Anew)
				}
				for _, r := range rep.Results {
					if r.Verdict != Agreed && r.ID != "5" {
						t.Errorf("%s: %s: %s\n%s%s", r.ID, r.Verdict, r.Why, r.Runs[0].Stdout, r.Runs[0].Stderr)
					}
				}
			}
		})
	}
}

// A start that takes longer than a case may is no reason to start anew for each case.
func TestSlowStart(t *testing.T) {
	if err := Probe(context.Background(), Namespaces); err != nil {
		t.Skipf("skipped: %v", err)
	}
	l := speaking[0]
	g, opt := l.in(t, "import time\ntime.sleep(1.5)\n"+l.count)
	opt.Mode, opt.Parallel, opt.Limits.Time = Namespaces, 1, time.Second
	rep, err := Run(context.Background(), g, l.counting(g.Path, 2), opt)
	if err != nil || rep.Agreed != 2 || rep.Cloned != 2 {
		t.Errorf("%d agreed, %d cloned, %v; %s", rep.Agreed, rep.Cloned, err, rep.Anew)
	}
	cost, err := Measure(context.Background(), g, l.counting(g.Path, 1)[0], opt)
	if err != nil || cost.Start < 1500*time.Millisecond || cost.Case > cost.Start/2 {
		t.Errorf("%+v, %v", cost, err)
	}
}
