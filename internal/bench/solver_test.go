package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/rundir"
	"symchef/internal/session"
	"symchef/internal/smtlib"
	"symchef/internal/solver"
)

// corpus is the queries of a run, in order.
type corpus struct {
	Nodes   []byte   // expr's serial form of the distinct conjuncts
	Vars    []string // names, as hints number them
	Queries []query
	Paths   int           // low-level, completed
	Solving time.Duration // share of Running
	Running time.Duration
}

type query struct {
	Conj []uint32 // places in Nodes' roots
	Hint expr.Assignment
	New  int
}

// recorder collects a corpus.
type recorder struct {
	ctx   *expr.Ctx
	roots []expr.Ref
	place map[expr.Ref]uint32
	c     corpus
	began time.Time // the first query
}

func (r *recorder) add(ctx *expr.Ctx, q solver.Query, _ solver.Result) {
	if r.ctx != ctx { // the boot's engine gives way to the test's
		*r = recorder{ctx: ctx, place: map[expr.Ref]uint32{}, began: time.Now()}
	}
	out := query{Hint: slices.Clone(q.Hint), New: q.New}
	for _, e := range q.Conjuncts {
		at, known := r.place[e]
		if !known {
			at = uint32(len(r.roots))
			r.place[e] = at
			r.roots = append(r.roots, e)
		}
		out.Conj = append(out.Conj, at)
	}
	r.c.Queries = append(r.c.Queries, out)
}

// maxRecorded bounds the exploration of a target.
const maxRecorded = 400

// record explores a test and returns its queries.
func record(b *testing.B, test string) corpus {
	b.Helper()
	dir := b.TempDir()
	var r recorder
	var log bytes.Buffer
	o := session.Options{Test: test, Out: filepath.Join(dir, "out"), CacheDir: dir, NoReplay: true, Progress: "none", StdinLen: -1, Strategy: "cupa-path",
		MaxPaths: maxRecorded, OnQuery: r.add}
	program := filepath.Ext(test) == ".R"
	if program {
		b.Setenv("R_HOME", "/usr/lib/R")
		b.Setenv("LD_LIBRARY_PATH", "/usr/lib/R/lib")
		o.Test, o.Program, o.StdinLen = "", []string{"/usr/lib/R/bin/exec/R", "--vanilla", "--no-echo", "-f", test}, 6
	}
	status := session.Run(context.Background(), o, &log, &log)
	run, err := rundir.Open(o.Out)
	if err != nil || r.ctx == nil || status != session.StatusOK && status != session.StatusFailing {
		b.Fatalf("%s: status %d, %v\n%s", test, status, err, log.Bytes())
	}
	r.c.Nodes = r.ctx.Marshal(r.roots)
	for v := range r.ctx.NumVars() {
		r.c.Vars = append(r.c.Vars, r.ctx.VarName(expr.VarID(v)))
	}
	sum := run.Summary
	r.c.Paths = sum.Paths.Low
	r.c.Solving = time.Duration(sum.Solver.TimeS * float64(time.Second))
	r.c.Running = time.Duration((sum.ElapsedS - sum.BootS) * float64(time.Second))
	if program { // its start is no boot
		r.c.Running = time.Since(r.began)
	}
	return r.c
}

// load builds the queries of c in ctx.
func (c *corpus) load(b *testing.B, ctx *expr.Ctx) []solver.Query {
	b.Helper()
	roots, err := expr.Unmarshal(ctx, c.Nodes)
	if err != nil {
		b.Fatal(err)
	}
	id := map[string]int{}
	for v := range ctx.NumVars() {
		id[ctx.VarName(expr.VarID(v))] = v
	}
	var out []solver.Query
	for _, q := range c.Queries {
		n := solver.Query{New: q.New}
		if q.Hint != nil {
			n.Hint = make(expr.Assignment, ctx.NumVars())
			for v, x := range q.Hint {
				if at, known := id[c.Vars[v]]; known {
					n.Hint[at] = x
				}
			}
		}
		for _, at := range q.Conj {
			n.Conjuncts = append(n.Conjuncts, roots[at])
		}
		out = append(out, n)
	}
	return out
}

// BenchmarkSolver replays the recorded queries of fixed targets: the whole chain, the chain without
// each of its decorators, and z3 and cvc5 through a pipe on those that reach the back end. The corpus is kept in corpus/, which is not committed.
func BenchmarkSolver(b *testing.B) {
	tests, err := filepath.Glob("testdata/solver/*")
	if err != nil || len(tests) == 0 {
		b.Fatal("no targets", err)
	}
	tests = slices.DeleteFunc(tests, func(t string) bool {
		return strings.HasPrefix(filepath.Base(t), "_") || !strings.Contains(filepath.Base(t), *targetsOnly)
	})
	for b.Loop() {
		fmt.Printf("\n%-18s %6s %7s %7s %6s %8s %8s %8s %8s %7s %7s\n", "target", "paths", "queries", "no back", "undec", "per path", "median", "p95", "worst", "% time", "hard")
		calls := map[string][]timed{}
		for _, test := range tests {
			c := corpusOf(b, test)
			ext := filepath.Ext(test)
			calls[ext] = append(calls[ext], benchTarget(b, strings.TrimSuffix(filepath.Base(test), ext), &c)...)
		}
		for _, ext := range slices.Sorted(maps.Keys(calls)) {
			slices.SortFunc(calls[ext], byTime)
			fmt.Printf("all of *%s: %d calls of the back end, median %d us\n", ext, len(calls[ext]), percentile(calls[ext], 0.5).Microseconds())
		}
	}
}

// corpusOf reads the recorded queries of a test, or records them.
func corpusOf(b *testing.B, test string) (c corpus) {
	file := filepath.Join("corpus", filepath.Base(test)+".queries")
	if data, err := os.ReadFile(file); err == nil && gob.NewDecoder(bytes.NewReader(data)).Decode(&c) == nil {
		return c
	}
	c = record(b, test)
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(c); err != nil {
		b.Fatal(err)
	}
	if err := os.MkdirAll("corpus", 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(file, data.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	return c
}

// timed is a query that reached the back end.
type timed struct {
	at   int
	took time.Duration
}

func byTime(x, y timed) int { return int(x.took - y.took) }

func percentile(l []timed, p float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(int(p*float64(len(l))), len(l)-1)].took
}

// cpuTime is the processor time of this thread: other programs may run.
func cpuTime(b *testing.B) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// replayCorpus asks a fresh chain all queries and returns its processor time and those that reached the back end, by time.
func replayCorpus(b *testing.B, c *corpus, o solver.Options) (s solver.Stats, total time.Duration, hard []timed, undecided []int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx := expr.New()
	queries := c.load(b, ctx)
	chain := solver.New(ctx, o)
	for i, q := range queries {
		before, began := chain.Stats(), cpuTime(b)
		res, _ := chain.Check(q)
		took := cpuTime(b) - began
		total += took
		if chain.Stats().Asked > before.Asked {
			hard = append(hard, timed{i, took})
		}
		if res == solver.Unknown {
			undecided = append(undecided, i)
		}
	}
	slices.SortFunc(hard, byTime)
	return chain.Stats(), total, hard, undecided
}

// benchTarget prints what becomes of a target's queries, and returns those that reached the back end.
func benchTarget(b *testing.B, name string, c *corpus) []timed {
	s, total, hard, undecided := replayCorpus(b, c, solver.Options{})
	n := float64(max(len(c.Queries), 1))
	us := func(d time.Duration) string { return fmt.Sprintf("%.0f us", float64(d.Nanoseconds())/1e3) }
	fmt.Printf("%-18s %6d %7d %6.1f%% %6d %8.2f %8s %8s %8s %6.1f%% %7d\n", name, c.Paths, len(c.Queries), 100*float64(s.AnsweredWithoutBackend())/n, len(undecided),
		float64(len(hard))/float64(max(c.Paths, 1)), us(percentile(hard, 0.5)), us(percentile(hard, 0.95)), us(percentile(hard, 1)),
		100*c.Solving.Seconds()/c.Running.Seconds(), len(hard))
	ctx := expr.New()
	queries := c.load(b, ctx)
	for _, i := range undecided {
		file := filepath.Join("corpus", fmt.Sprintf("%s-%d.smt2", name, i))
		if err := os.WriteFile(file, []byte(smtlib.Print(ctx, queries[i].Conjuncts)), 0o644); err != nil {
			b.Fatal(err)
		}
		fmt.Printf("  undecided: %s\n", file)
	}
	fmt.Printf("  %.0f%% folded, %.0f%% own model, %.0f%% recent models, %.0f%% known, %.0f%% cores, %.0f%% enumerated, %.0f%% rewritten\n", 100*float64(s.Folded)/n, 100*float64(s.Hint)/n,
		100*float64(s.Recent)/n, 100*float64(s.Cached)/n, 100*float64(s.Cores)/n, 100*float64(s.Domains)/n, 100*float64(s.Residual)/n)
	for _, without := range []string{"slice", "models", "cache", "domain", "residual", "incremental"} {
		_, t, _, _ := replayCorpus(b, c, solver.Options{Without: map[string]bool{without: true}})
		fmt.Printf("  without %-12s %5.2fx the time\n", without, t.Seconds()/total.Seconds())
	}
	pipes(b, c, hard)
	return hard
}

// maxPiped bounds the queries given to other solvers, pipeTime what they have for all of them.
const (
	maxPiped = 60
	pipeTime = 8 * time.Second
)

// pipes asks the solvers installed some of the hard queries, in one process each.
func pipes(b *testing.B, c *corpus, hard []timed) {
	if len(hard) == 0 {
		return
	}
	sample := make([]timed, 0, maxPiped)
	for i := range min(maxPiped, len(hard)) {
		sample = append(sample, hard[i*len(hard)/min(maxPiped, len(hard))])
	}
	ctx := expr.New()
	queries := c.load(b, ctx)
	for _, path := range smtlib.Find() {
		args := map[string][]string{"z3": {"-in"}, "cvc5": {"--lang=smt2", "--incremental"}}[filepath.Base(path)]
		limited, cancel := context.WithTimeout(context.Background(), pipeTime)
		took, done, err := pipe(limited, path, args, func(i int) (string, bool) {
			if i == len(sample) {
				return "", false
			}
			return smtlib.Print(ctx, queries[sample[i].at].Conjuncts), true
		})
		cancel()
		if err != nil {
			fmt.Printf("  %s: %v\n", filepath.Base(path), err)
			continue
		}
		part := time.Duration(0)
		for _, h := range sample[:done] {
			part += h.took
		}
		fmt.Printf("  %-20s %5.0fx the time, on %d queries to the back end (whole path conditions)\n", filepath.Base(path)+" by a pipe:", took.Seconds()/part.Seconds(), done)
	}
}

// pipe gives scripts to a solver, one after the other, and returns the time until the last answer and how many there were.
func pipe(c context.Context, path string, args []string, script func(int) (string, bool)) (took time.Duration, n int, err error) {
	cmd := exec.CommandContext(c, path, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer cmd.Wait()
	defer in.Close()
	cpu := func() time.Duration { // of the solver, in ticks of 10 ms
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(f) < 13 {
			return 0
		}
		user, _ := strconv.Atoi(f[11])
		system, _ := strconv.Atoi(f[12])
		return time.Duration(user+system) * 10 * time.Millisecond
	}
	lines := bufio.NewReader(out)
	for {
		text, more := script(n)
		if !more {
			return took, n, nil
		}
		if _, err := io.WriteString(in, text+"(reset)\n"); err != nil {
			return took, n, nil // out of time
		}
		answer, err := lines.ReadString('\n')
		if err != nil {
			return took, n, nil
		}
		if answer = strings.TrimSpace(answer); answer != "sat" && answer != "unsat" && answer != "unknown" {
			return 0, 0, fmt.Errorf("says %q", answer)
		}
		took = cpu()
		n++
	}
}
