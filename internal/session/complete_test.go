package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"symchef/internal/rundir"
	"symchef/internal/search"
)

// completely is an exploration of dozens of low-level paths that are 6 high-level ones.
func completely(t *testing.T) Options {
	return Options{Test: "../../examples/lua/predicates.lua", Interpreter: luas(t)[0], NoReplay: true, AllPaths: true, Strategy: "cupa-path"}
}

// Both models of high-level states find the same paths, whatever the strategy, the workers and the memory.
func TestCompletenessSameTree(t *testing.T) {
	o := completely(t)
	want := runIt(t, o)
	o.Complete = true
	check := func(name string, o Options) {
		got := runIt(t, o)
		if outcomes(got.tests) != outcomes(want.tests) || !got.summary.Exhausted || got.summary.Paths.Complete != want.summary.Paths.High {
			t.Errorf("%s: %+v, not %+v\n%s", name, got.summary.Paths, want.summary.Paths, got.stderr)
		}
	}
	for _, s := range search.Names() {
		o.Strategy = s
		check(s, o)
	}
	o.Workers = 2
	check("two workers", o)
	o.Virtual = true
	check("two workers, virtual", o)
	o.Workers, o.Forgetful = 0, true
	check("forgetful", o)
}

// Wherever a limit ends the exploration, in the complete model each high-level path that is reported has all its
// low-level paths; in the partial one some have not.
func TestCompleteness(t *testing.T) {
	o := completely(t)
	all := runIt(t, o)
	lowOf := map[string]int{}
	for _, x := range all.tests {
		lowOf[x.Group]++
	}
	partial, some := 0, 0
	for paths := 1; paths < len(all.tests); paths += 7 {
		for _, workers := range []int{1, 2} {
			o.MaxPaths, o.Workers, o.Complete = paths, workers, false
			e := runIt(t, o)
			partial += e.summary.Paths.High - e.summary.Paths.Complete
			o.Complete = true
			e = runIt(t, o)
			if e.summary.Paths.High != e.summary.Paths.Complete {
				t.Errorf("%d paths, %d workers: %+v", paths, workers, e.summary.Paths)
			}
			low := map[string]int{}
			for _, x := range e.tests {
				low[x.Group]++
			}
			for g, n := range low {
				if n != lowOf[g] {
					t.Errorf("%d paths, %d workers: %d low-level paths of %s, not %d", paths, workers, n, g, lowOf[g])
				}
			}
			if len(low) > 0 && !e.summary.Exhausted {
				some++
			}
		}
	}
	if partial == 0 || some == 0 {
		t.Errorf("%d incomplete high-level paths in the partial model, %d unfinished explorations with paths in the complete one", partial, some)
	}
}

// A run of the complete model goes on where it was left, and finds the same.
func TestCompletenessResume(t *testing.T) {
	o := completely(t)
	want := runIt(t, o)
	o.Complete, o.MaxPaths = true, 1
	e := runIt(t, o)
	for n := 0; !e.summary.Exhausted; n++ {
		if e.summary.Paths.High != e.summary.Paths.Complete || n > len(want.tests) {
			t.Fatalf("resumed %d times: %+v", n, e.summary.Paths)
		}
		var log bytes.Buffer
		Run(context.Background(), Options{Resume: e.dir, NoReplay: true, CacheDir: cacheDir, Progress: "none", StdinLen: -1, MaxPaths: 1, Workers: 1 + n%2}, &log, &log)
		r, err := rundir.Open(e.dir)
		if err != nil {
			t.Fatal(err, log.String())
		}
		e.summary = r.Summary
		if e.tests, _, err = r.Tests(); err != nil {
			t.Fatal(err)
		}
	}
	if outcomes(e.tests) != outcomes(want.tests) {
		t.Errorf("%d test cases, not %d", len(e.tests), len(want.tests))
	}
}

// A resumed run that ends before the interpreter's program counter is found keeps what was known of the paths.
func TestResumeCutShort(t *testing.T) {
	o := completely(t)
	o.MaxPaths = 3
	e := runIt(t, o)
	r, err := resume(context.Background(), &Options{Resume: e.dir, NoReplay: true, CacheDir: cacheDir})
	if err != nil {
		t.Fatal(err)
	}
	defer r.w.Close()
	want := r.resumed.Tree.Doc()
	r.left = r.resumed.Frontiers
	r.lastCheckpoint()
	d, err := rundir.Open(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	got, ok := decodeCheckpoint(data)
	if !ok || len(want.Nodes) < 3 || !reflect.DeepEqual(got.Tree.Doc(), want) {
		t.Errorf("%v: a tree of %d nodes, not of %d", ok, len(got.Tree.Doc().Nodes), len(want.Nodes))
	}
}

// A program has no high level.
func TestCompletenessOfProgram(t *testing.T) {
	bin := compile(t, "../../examples/c/crash.c")
	var log bytes.Buffer
	if status := Run(context.Background(), Options{Program: []string{bin}, StdinLen: 1, Complete: true, Strategy: "dfs", Out: filepath.Join(t.TempDir(), "out"), Progress: "none"}, &log, &log); status != StatusUsage {
		t.Errorf("status %d\n%s", status, log.String())
	}
}

// A question that the solver gives up leaves the high-level paths incomplete that come past where it was asked, and no others.
func TestUndecidedPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hard.lua")
	if err := os.WriteFile(file, []byte(`local symchef = require "symchef"
function test_hard()
  if symchef.boolean("early") then return end
  local n = symchef.integer("n", 1, 1 << 31)
  if (n * n * n) % 1000003 == 12345 and (n ~ n >> 7) * n % 99991 == 777 then error("found") end
end
`), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Test: file, Interpreter: luas(t)[0], NoReplay: true, SolverBudget: 1}
	for _, strategy := range []string{"bfs", "dfs"} {
		o.Strategy = strategy
		e := runIt(t, o)
		if p := e.summary.Paths; p.High != 2 || p.Complete != 1 || !slices.Contains(e.summary.WhyNotExhausted, "solver: undecided query at hard.lua:5: up to 100 terms, 16 times the budget (2 times)") {
			t.Errorf("%s: %+v, %v\n%s%s", strategy, p, e.summary.WhyNotExhausted, e.stdout, e.stderr)
		}
	}
}
