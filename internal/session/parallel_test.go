package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"symchef/internal/rundir"
	"symchef/internal/seed"
	"symchef/internal/testcase"
)

// targets are three explorations with some dozens of paths.
func targets(t *testing.T) map[string]Options {
	needPython(t)
	return map[string]Options{
		"program": {Program: []string{compile(t, "../../examples/c/crash.c", "-O1")}, StdinLen: 4},
		"python":  {Test: "../../examples/python/test_quicksort.py"},
		"merged":  merged(t),
	}
}

// outcomes are the paths, low-level and high-level, with how they ended, sorted.
func outcomes(tests []testcase.Test) string {
	var l []string
	for _, x := range tests {
		l = append(l, x.PathID+" "+x.Group+" "+string(x.Outcome.Kind)+" "+x.Outcome.Type+x.Outcome.Signal)
	}
	sort.Strings(l)
	return strings.Join(l, "\n")
}

// lookup reads a table at addresses whose range only the solver knows.
const lookup = `#include <stdio.h>
const char key[] = "qwertyuiop";
int main() { for (int i = 0; i < 3; i++) { int c = getchar(); if (c < '0' || c > '9') return 1; if (key[c - '0'] == 'e') return 2; } return 0; }`

// A run that keeps few pending states, or none, or no engine either, longer than a path finds the same paths with the
// same outcomes as one that keeps all, and asks the solver no more. With an engine, states are not brought back from the beginning.
func TestForgetful(t *testing.T) {
	src := filepath.Join(t.TempDir(), "p.c")
	if err := os.WriteFile(src, []byte(lookup), 0o600); err != nil {
		t.Fatal(err)
	}
	all := targets(t)
	all["table"] = Options{Program: []string{compile(t, src, "-O1")}, StdinLen: 3}
	all["merged python"] = Options{Test: "../../examples/python/test_predicates.py", Merge: true}
	for name, o := range all {
		t.Run(name, func(t *testing.T) {
			o.AllPaths, o.NoReplay, o.Strategy = true, true, "random-path"
			want := runIt(t, o)
			again := func(o Options) uint64 {
				got := runIt(t, o)
				if outcomes(got.tests) != outcomes(want.tests) {
					t.Errorf("%d test cases, not the %d of a run that keeps everything\n%s", len(got.tests), len(want.tests), got.stderr)
				}
				if got, want := got.summary.Solver.Queries, want.summary.Solver.Queries; got != want {
					t.Errorf("%d queries, not %d", got, want)
				}
				return got.summary.Instructions.Replayed
			}
			o.Thinned = true
			thinned := again(o)
			o.Virtual = true
			virtual := again(o)
			o.Forgetful = true
			forgetful := again(o)
			if virtual == 0 || thinned >= forgetful || virtual >= forgetful {
				t.Errorf("instructions executed again: with few states %d, with none %d, without an engine %d", thinned, virtual, forgetful)
			}
			t.Logf("instructions executed again: with few states %d, with none %d, without an engine %d, of %d in all", thinned, virtual, forgetful, want.summary.Instructions.Total)
		})
	}
}

// squares asks, long after its first decision, for remainders that no square has.
const squares = `#include <stdio.h>
int main() { unsigned c = getchar(); if (c < 16) return 1; for (volatile int i = 0; i < 200000; i++); c = c * c % 8;
return c == 2 ? 2 : c == 3 ? 3 : c == 5 ? 5 : c == 6 ? 6 : c == 7 ? 7 : 0; }`

// A pending state that has no input is not brought back to find that out.
func TestInfeasible(t *testing.T) {
	src := filepath.Join(t.TempDir(), "p.c")
	if err := os.WriteFile(src, []byte(squares), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runIt(t, Options{Program: []string{compile(t, src, "-O0")}, StdinLen: 1, AllPaths: true, NoReplay: true, Virtual: true})
	if s := got.summary; len(got.tests) != 2 || s.Paths.Infeasible != 5 || s.Instructions.Replayed > s.Instructions.Total/4 {
		t.Errorf("%d test cases, %d infeasible, %d instructions, %d of them again", len(got.tests), s.Paths.Infeasible, s.Instructions.Total, s.Instructions.Replayed)
	}
}

// classify has 729 paths: enough that no worker is done before the others begin.
const classify = `#include <stdio.h>
int main() { for (int i = 0; i < 6; i++) { int c = getchar(); if (c < 'a') putchar('1'); else if (c > 'm') putchar('2'); else putchar('3'); } return 0; }`

// Several workers explore the same tree, each path once, and do share it.
func TestWorkers(t *testing.T) {
	src := filepath.Join(t.TempDir(), "p.c")
	if err := os.WriteFile(src, []byte(classify), 0o600); err != nil {
		t.Fatal(err)
	}
	all := targets(t)
	all["program"] = Options{Program: []string{compile(t, src, "-O1")}, StdinLen: 6}
	for name, o := range all {
		t.Run(name, func(t *testing.T) {
			want := paths(t, o)
			var given atomic.Int64
			o.OnGive = func() { given.Add(1) }
			defer func() {
				if given.Load() == 0 {
					t.Error("no worker gave a job away")
				}
			}()
			for _, n := range []int{2, 4} {
				o.Workers, o.Seed = n, uint64(n)
				o.Strategy = []string{"dfs", "random", "random-path"}[n%3]
				if got := paths(t, o); strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("%d workers: %d paths, not %d", n, len(got), len(want))
				}
			}
		})
	}
}

// A run that is stopped again and again and resumed each time finds every path once.
func TestResume(t *testing.T) {
	for name, o := range targets(t) {
		t.Run(name, func(t *testing.T) {
			want := paths(t, o)
			o.AllPaths, o.NoReplay, o.MaxPaths, o.Out = true, true, 1, filepath.Join(t.TempDir(), "out")
			o.Interpreter, o.CacheDir, o.Progress, o.Strategy = "", cacheDir, "none", "random"
			if o.Test != "" {
				o.Interpreter, o.StdinLen = python, -1
			}
			rng := seed.Rand(t)
			var errb bytes.Buffer
			Run(context.Background(), o, &errb, &errb)
			more := Options{Resume: o.Out, NoReplay: true, CacheDir: o.CacheDir, Progress: "none", StdinLen: -1}
			for n := 0; ; n++ {
				r, err := rundir.Open(o.Out)
				if err != nil {
					t.Fatal(err, errb.String())
				}
				if r.Summary.Exhausted {
					break
				}
				if n > len(want)+10 {
					t.Fatalf("still not exhausted: %+v %s", r.Summary, errb.String())
				}
				more.MaxPaths, more.Workers = 1+rng.IntN(10), 1+rng.IntN(2)
				Run(context.Background(), more, &errb, &errb)
			}
			r, _ := rundir.Open(o.Out)
			tests, _, err := r.Tests()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range tests {
				got = append(got, x.PathID)
			}
			sort.Strings(got)
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%d paths, not %d\n%s", len(got), len(want), errb.String())
			}
			if r.Summary.Paths.Low != len(want) || r.Summary.Tests.Total() != len(want) {
				t.Errorf("%+v, %+v", r.Summary.Paths, r.Summary.Tests)
			}
			if _, err := os.Stat(filepath.Join(o.Out, "frontier.bin")); err == nil {
				t.Error("a frontier of an exhausted run")
			}
			if o.Program != nil {
				resumeClasses(t, o, more)
			}
			if st := Run(context.Background(), more, &errb, &errb); st != StatusUsage {
				t.Errorf("resuming an exhausted run: status %d", st)
			}
		})
	}
}

// What the strategy has learned is kept: a resumed run goes on with it.
func TestResumeLearned(t *testing.T) {
	needPython(t)
	o := Options{Test: "../../examples/python/test_binary_search.py", Interpreter: python, StdinLen: -1, Strategy: "cupa-path",
		AllPaths: true, NoReplay: true, MaxPaths: 20, Out: filepath.Join(t.TempDir(), "out"), CacheDir: cacheDir, Progress: "none"}
	picked := func() float64 {
		r, err := rundir.Open(o.Out)
		if err != nil {
			t.Fatal(err)
		}
		data, err := r.Frontier()
		if err != nil {
			t.Fatal(err)
		}
		c, ok := decodeCheckpoint(data)
		if !ok {
			t.Fatal("no frontier")
		}
		most := 0.0
		for _, f := range c.Frontiers {
			for _, y := range f.Learned {
				most = max(most, y.Picked)
			}
		}
		return most
	}
	var errb bytes.Buffer
	Run(context.Background(), o, &errb, &errb)
	before := picked()
	Run(context.Background(), Options{Resume: o.Out, NoReplay: true, CacheDir: cacheDir, Progress: "none", StdinLen: -1, MaxPaths: 3}, &errb, &errb)
	if after := picked(); before < 10 || after < before+1 {
		t.Errorf("%v picked, %v after the run was resumed\n%s", before, after, errb.String())
	}
}

// resumeClasses checks that a resumed run keeps one test case of each class, found before or after.
func resumeClasses(t *testing.T, o, more Options) {
	o.AllPaths, o.Out = false, filepath.Join(t.TempDir(), "out")
	more.Resume, more.MaxPaths = o.Out, 0
	var errb bytes.Buffer
	o.MaxPaths = 2
	src := filepath.Join(t.TempDir(), "p.c") // 16 paths of one class
	if err := os.WriteFile(src, []byte("#include <stdio.h>\nvolatile int v, w;\nint main() { for (int i = 0; i < 4; i++) if (getchar() > 'm') v = 1; else w = 2; return 0; }"), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Program, o.StdinLen = []string{compile(t, src, "-O0")}, 4
	Run(context.Background(), o, &errb, &errb)
	Run(context.Background(), more, &errb, &errb)
	r, err := rundir.Open(o.Out)
	if err != nil {
		t.Fatal(err, errb.String())
	}
	tests, _, err := r.Tests()
	if err != nil || !r.Summary.Exhausted {
		t.Fatal(err, errb.String())
	}
	if e := (explored{tests: tests}); len(tests) != len(e.classes()) {
		t.Errorf("%d test cases of %d classes", len(tests), len(e.classes()))
	}
}
