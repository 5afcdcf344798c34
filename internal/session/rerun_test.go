package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// rewrite replaces the test cases of a run directory.
func rewrite(t *testing.T, dir string, tests []testcase.Test) {
	t.Helper()
	var b []byte
	for _, x := range tests {
		line, err := testcase.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, line...)
	}
	if err := os.WriteFile(filepath.Join(dir, "tests.jsonl"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Every path executes again from its decision log, in another engine, to the same
// path, outcome and output; a log that is not of this program is noticed.
func TestRerun(t *testing.T) {
	for _, x := range []struct {
		name string
		opt  func(t *testing.T) Options
	}{
		{"python", func(t *testing.T) Options {
			needPython(t)
			return Options{Test: "../../examples/python/test_tree_leaning.py"}
		}},
		{"merged", merged},
		{"merged python", func(t *testing.T) Options {
			return Options{Test: "../../examples/python/test_predicates.py", Merge: true}
		}},
		{"program", func(t *testing.T) Options {
			return Options{Program: []string{compile(t, "../../examples/c/crash.c")}, StdinLen: 4}
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			o := x.opt(t)
			o.AllPaths = true
			o.ModelSeed = 7 // inputs that no other run would choose
			e := runIt(t, o)
			if len(e.tests) < 5 {
				t.Fatalf("%d paths\n%s", len(e.tests), e.stderr)
			}
			rerun := func(id string) (int, string) {
				var out, errb bytes.Buffer
				return Rerun(context.Background(), e.dir, id, &out, &errb), out.String() + errb.String()
			}
			if status, text := rerun(""); status != StatusOK || !strings.Contains(text, " 0 strayed") {
				t.Fatalf("status %d: %s", status, text)
			}
			last := e.tests[len(e.tests)-1]
			for _, tamper := range []struct {
				what string
				with func(*testcase.Test)
				want string
			}{
				{"address", func(x *testcase.Test) { x.Decisions[0].PC ^= 4 }, "but the log has a " + last.Decisions[0].Kind + " at"},
				{"kind", func(x *testcase.Test) { x.Decisions[0].Kind = "choice" }, "but the log has a choice at"},
				{"value", func(x *testcase.Test) { x.Decisions[0].Value ^= 1 }, "strayed"},
				{"shorter", func(x *testcase.Test) { x.Decisions = x.Decisions[:len(x.Decisions)-1] }, "the log ends before it"},
				{"longer", func(x *testcase.Test) { x.Decisions = append(x.Decisions, x.Decisions[0]) }, "the path ended after"},
				{"outcome", func(x *testcase.Test) { x.Outcome = testcase.Outcome{Kind: testcase.Crash, Signal: "SIGBUS"} }, "outcome"},
				{"output", func(x *testcase.Test) { x.OutputSHA256 = strings.Repeat("0", 64) }, "another output"},
			} {
				bad := last
				bad.Decisions = append([]testcase.Decision(nil), last.Decisions...)
				tamper.with(&bad)
				rewrite(t, e.dir, []testcase.Test{bad})
				if status, text := rerun(last.ID); status != StatusEngine || !strings.Contains(text, tamper.want) {
					t.Errorf("%s: status %d: %s", tamper.what, status, text)
				}
			}
		})
	}
}
