package session

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/rundir"
	"symchef/internal/solver"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// rewrite replaces the test cases of a run directory.
func rewrite(t *testing.T, dir string, tests []testcase.Test) {
	t.Helper()
	w, err := rundir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Resume(0); err != nil {
		t.Fatal(err)
	}
	for _, x := range tests {
		x.PathID = testcase.PathID(x.Decisions)
		if err := w.Append(x); err != nil {
			t.Fatal(err)
		}
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
				{"output", func(x *testcase.Test) { x.OutputSHA256 = strings.Repeat("0", 64) }, "standard output"},
			} {
				bad := last
				bad.Decisions = append([]testcase.Decision(nil), last.Decisions...)
				tamper.with(&bad)
				rewrite(t, e.dir, append(slices.Clone(e.tests[:len(e.tests)-1]), bad))
				if status, text := rerun(last.ID); status != StatusEngine || !strings.Contains(text, tamper.want) {
					t.Errorf("%s: status %d: %s", tamper.what, status, text)
				}
			}
		})
	}
}

// weak is a solver that proves every second range only.
type weak struct {
	explore.Solver
	asked int
}

func (s *weak) Bounds(q solver.Query, value expr.Ref) (lo, hi uint64, res solver.Result) {
	if s.asked++; s.asked%2 == 1 {
		return 0, 0, solver.Unknown
	}
	return s.Solver.Bounds(q, value)
}

// What a solver could not prove when a path was explored is a part of the path: one that can follows it nevertheless.
func TestRerunUnproved(t *testing.T) {
	prog := compile(t, writeFile(t, "p.c", lookup), "-O1")
	e := runIt(t, Options{Program: []string{prog}, StdinLen: 3, AllPaths: true, NoReplay: true})
	d, err := rundir.Open(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := pictureOf(d)
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	for _, x := range e.tests {
		b, err := again{sum: d.Summary, seed: d.Summary.Seed, seen: seen}.begin(t.Context(), x.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		model, err := explore.ModelOf(b.w.ctx, x.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		var got testcase.Test
		b.w.x, err = explore.New(b.w.ctx, b.w.m, &weak{Solver: b.w.chain}, explore.Config{Strategy: "dfs", OnPath: func(s *state.State, e explore.End) func() {
			got, _ = b.w.testOf(s, e)
			return func() {}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.w.x.Follow(t.Context(), b.root, &explore.Trail{Model: model, Unlogged: true}); err != nil {
			t.Fatal(err)
		}
		b.end()
		if got.PathID != x.PathID {
			others++
		}
		if why, err := rerun(t.Context(), d.Summary, seen, got, nil); err != nil || why != "" {
			t.Errorf("%v: %v %s", got.Inputs, err, why)
		}
	}
	if others == 0 {
		t.Error("all ranges were proved")
	}
}
