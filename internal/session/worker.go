package session

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"symchef/internal/exec"
	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/high"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/smtlib"
	"symchef/internal/solver"
	"symchef/internal/state"
	"symchef/internal/testcase"
	"symchef/internal/timeline"
	"symchef/languages"
)

// worker explores with an engine of its own: expressions, machine and solver are
// shared with no other.
type worker struct {
	r       *run
	ctx     *expr.Ctx
	m       *exec.Machine
	chain   *solver.Chain
	x       *explore.Explorer
	high    *high.Tracker     // nil: the high level is not known
	modules modules           // of a program, as far as they were asked for
	symbols map[uint64]string // what decided, of a program: by address, for code of libraries
	past    tally             // of engines that were replaced
	seen    tally             // what the others may read, under run.mu
	hard    []string          // queries that are set aside, when it has stopped
	running explore.Running   // likewise
	slow    bool              // the native start took too long
	renew   bool              // replace the engine after the present path
	row     *timeline.Track   // where it is written what this worker does; nil: nowhere

	lastMemory time.Time // see memory
	lastLive   uint64    // bytes
	over       int       // collections in a row that found more alive than the limit
}

// tally is a worker's share of the summary.
type tally struct {
	counts    explore.Counts
	pending   int
	unmerged  map[string]int
	symbolic  uint64 // instructions
	codeBytes uint64
	solver    solver.Stats
}

func (a tally) plus(b tally) tally {
	a.counts.Paths += b.counts.Paths
	a.counts.Infeasible += b.counts.Infeasible
	a.counts.Pruned += b.counts.Pruned
	a.counts.Forks += b.counts.Forks
	a.counts.Boot += b.counts.Boot
	a.counts.Total += b.counts.Total
	a.counts.Calls += b.counts.Calls
	a.counts.Replayed += b.counts.Replayed
	a.counts.Merges += b.counts.Merges
	a.counts.Merged += b.counts.Merged
	unmerged := map[string]int{}
	for _, counts := range []map[string]int{a.unmerged, b.unmerged} {
		for why, n := range counts {
			unmerged[why] += n
		}
	}
	a.unmerged = unmerged
	a.pending += b.pending
	a.symbolic += b.symbolic
	a.codeBytes = max(a.codeBytes, b.codeBytes) // workers execute much the same code
	a.solver = a.solver.Plus(b.solver)
	return a
}

// row is a row of the trace of r, if there is to be one.
func (r *run) row(what string) *timeline.Track {
	if r.o.Trace == nil {
		return nil
	}
	return r.o.Trace.Track(what + ", " + r.t.name)
}

func (r *run) newWorker() *worker {
	w := &worker{r: r, modules: modules{}, symbols: map[uint64]string{}, row: r.row(fmt.Sprintf("explorer %d", len(r.workers)+1))}
	if r.high != nil {
		w.high = high.NewTracker(r.high, languages.Root)
	}
	w.engine()
	return w
}

// engine gives w an empty engine.
func (w *worker) engine() {
	w.ctx = expr.New()
	w.m = exec.New(w.ctx)
	w.m.Processor = w.r.world.LevelOf(processor(w.r.t.tc.CPU))
	o := solver.Options{Budget: w.r.o.SolverBudget, ModelSeed: w.r.o.ModelSeed, Fallback: w.r.o.Fallback, Stop: w.r.halt.Done(), MaxGates: int(w.r.o.MaxMemory / gateShare)}
	ctx := w.ctx
	if path, halt := w.r.o.CrossCheck, w.r.halt; path != "" {
		o.CrossEvery = w.r.o.CrossEvery
		o.CrossCheck = func(conj []expr.Ref) solver.Result { return crossCheck(halt, path, ctx, conj) }
	}
	if f, row := w.r.o.OnQuery, w.row; f != nil || row != nil {
		o.Observe = func(q solver.Query, res solver.Result, took time.Duration) {
			row.Took("query", time.Now().Add(-took), took, "answer", res.String(), "conjuncts", len(q.Conjuncts))
			if f != nil {
				f(ctx, q, res)
			}
		}
	}
	if row := w.row; row != nil {
		w.m.Timed = func(what string, pc uint64, since time.Time) {
			row.Took(what, since, time.Since(since), "at", fmt.Sprintf("%#x", pc))
		}
	}
	w.chain = solver.New(w.ctx, o)
}

// crossTimeout is what the second solver has for a query; what it cannot decide then is not checked.
const crossTimeout = 10 * time.Second

// crossCheck asks the solver at path.
func crossCheck(halt context.Context, path string, ctx *expr.Ctx, conj []expr.Ref) solver.Result {
	a, err := smtlib.Solve(halt, path, smtlib.Print(ctx, conj), crossTimeout)
	if halt.Err() != nil {
		return solver.Unknown
	}
	if err != nil {
		panic("cross-check: " + err.Error())
	}
	return map[smtlib.Status]solver.Result{smtlib.Sat: solver.Sat, smtlib.Unsat: solver.Unsat, smtlib.Unknown: solver.Unknown}[a.Status]
}

// work explores from root, or, for root's test, what other workers give.
func (w *worker) work(c context.Context, root *state.State, lead bool) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // in machine code: the run keeps what it has
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	if lead {
		w.x.Run(c, root)
	} else {
		w.x.Work(c, root)
	}
	return nil
}

// goOn explores what a checkpoint has left.
func (w *worker) goOn(c context.Context, root *state.State) error {
	left := w.r.resumed.Frontiers
	w.r.resumed.Frontiers = nil // it is large, and the run is long
	for i, f := range left {
		if err := w.x.Import(f); err != nil {
			return err
		}
		left[i] = explore.Frontier{}
	}
	return w.work(c, root, false)
}

// exchange is the pool as one worker sees it: the numbers of a worker that waits are up to date.
type exchange struct {
	*pool
	w *worker
}

func (e exchange) Take(c context.Context) (explore.Frontier, bool) {
	e.w.publish()
	return e.pool.Take(c)
}

func (e exchange) Give(f explore.Frontier) {
	if on := e.w.r.o.OnGive; on != nil {
		on()
	}
	e.pool.Give(f)
}

// publish makes w's numbers known.
func (w *worker) publish() {
	t := w.tally()
	w.r.mu.Lock()
	w.seen = t
	w.r.mu.Unlock()
}

// explorer makes w's explorer.
func (w *worker) explorer() (err error) {
	o := w.r.o
	cfg := explore.Config{
		Merge: w.r.t.tc.Merge, Strategy: o.Strategy, Complete: o.Complete, Seed: o.Seed, PathInstructions: o.pathInstructions(), PathTime: o.PathTime, Slice: o.Slice, BootInstructions: o.bootInstructions(w.slow),
		Halting: func() bool { return w.r.halt.Err() != nil },
		Budget:  w.r.budget, High: w.high,
		Booting: !w.r.hadBegin, OnBegin: w.onBegin, OnPath: w.onPath, OnTick: w.onTick, OnPick: w.onPick, Row: w.row,
	}
	if !o.NoReplay && o.PathInstructions == 0 {
		cfg.Endless = w.endless
	}
	if w.r.t.desc == nil {
		cfg.OnDecision = w.onDecision
	} else {
		cfg.Layouts, cfg.References, cfg.Steps = w.r.t.found.Image.Layouts, w.r.t.found.Image.References, w.r.t.desc.Steps != ""
	}
	if w.r.pool != nil {
		cfg.Exchange = exchange{w.r.pool, w}
	}
	w.x, err = explore.New(w.ctx, w.m, w.chain, cfg)
	return err
}

// boot returns the state to start from: the boot snapshot where there is
// one, else the start of the process.
func (w *worker) boot(c context.Context) (*state.State, error) {
	r := w.r
	guest := r.t.desc != nil
	cfg := kernelConfig(r.t.tc, guest, r.o.Seed)
	cfg.Host, cfg.World = r.host, r.world
	cfg.MaxMemory = r.pathMemory()
	var root *state.State
	if guest {
		entry, err := r.entryPoint()
		if err != nil {
			return nil, err
		}
		installModels(w.m, r.t.found.Image, entry)
		loading := w.row.Span("load the snapshot")
		sys := r.snapshot(cfg)
		loading.End("found", sys != nil)
		if sys != nil {
			root = state.New(sys)
			r.track(sys)
			hookEntries(w.m, r.t.found.Image, sys.CurrentProcess().Mem)
			w.hookImports(sys.CurrentProcess().Mem)
			w.watch()
		}
	} else {
		if r.o.StdinLen > 0 {
			cfg.Stdin = symbolicBytes(w.ctx, "stdin", make([]byte, r.o.StdinLen))
		}
		cfg.Files = w.symbolicFiles()
	}
	if root == nil {
		var sys *kernel.System
		var err error
		natively := guest && r.o.Boot != BootEmulated
		if natively {
			loading := w.row.Span("load the head")
			sys = r.loadHead(&cfg)
			loading.End("found", sys != nil)
		}
		behind := sys != nil
		if !behind {
			if sys, err = kernel.Boot(cfg); err != nil {
				return nil, &usageError{err.Error()}
			}
		}
		if natively {
			natively := w.row.Span("start natively")
			if sys, err = w.native(c, sys, cfg, behind); err != nil {
				return nil, err
			}
			natively.End("behind the head", behind)
		}
		root = state.New(sys)
		if !guest {
			r.track(sys)
			root.Model = addModel(nil, w.ctx, cfg.Stdin)
			for _, b := range cfg.Files {
				root.Model = addModel(root.Model, w.ctx, b)
			}
			if err := errors.Join(w.symbolicArgv(root), w.symbolicEnv(root)); err != nil {
				return nil, err
			}
		}
	}
	return root, nil
}

// track lets the order of tasks be followed, where somebody asks for it.
func (r *run) track(sys *kernel.System) {
	if !r.untracked {
		sys.TrackOrder()
	}
}

// onBegin marks the end of the boot.
func (w *worker) onBegin(s *state.State, test string) {
	w.watch()
	w.x.Track(w.high)
	// Only now is the interpreter mapped, if it is a shared library.
	w.hookImports(s.Sys.CurrentProcess().Mem)
	w.m.ForgetCode()
	w.r.track(s.Sys)
	s.Sys.ForgetAsked()
	w.r.begin(s.Sys, test)
	if why := w.r.ceiling.tooSmall(); why != "" {
		w.x.Usage = why
	}
}

// hookImports gives the models of imported functions to the machine and notes which there cannot be.
func (w *worker) hookImports(space *mem.Space) {
	for _, m := range hookImports(w.m, w.r.t.found.Image, space) {
		w.r.lacks(m)
	}
}

// watch begins to follow the interpreted program. No code of it is translated yet, or all is forgotten.
func (w *worker) watch() {
	w.r.knowHigh()
	if w.r.high != nil && w.high == nil {
		w.high = high.NewTracker(w.r.high, languages.Root)
	}
	if w.high != nil {
		w.high.Attach(w.m)
	}
}

// onPick replaces the engine if its expressions have become too many.
func (w *worker) onPick(x *explore.Explorer) {
	switch {
	case w.r.o.Virtual:
		x.Evict()
	case w.r.o.Thinned:
		x.Thin(lastKept)
		x.Thicken()
	}
	if !w.renew && !w.r.o.Forgetful {
		return
	}
	w.renew = false
	now := w.tally()
	old := *w
	w.engine()
	root, err := w.boot(w.r.halt)
	if err != nil { // files have gone: the old engine serves on
		w.ctx, w.m, w.chain = old.ctx, old.m, old.chain
		w.watch()
		return
	}
	x.Renew(w.ctx, w.m, w.chain, root)
	w.past.symbolic, w.past.codeBytes, w.past.solver = now.symbolic, now.codeBytes, now.solver
}

// tally is w's share of the summary now.
func (w *worker) tally() tally {
	return w.past.plus(tally{
		counts: w.x.Counts, pending: w.x.Pending(), unmerged: w.x.Unmerged,
		symbolic: w.m.Stats.Symbolic, codeBytes: w.m.CodeBytes(), solver: w.chain.Stats(),
	})
}

// onPath makes the test case of a finished path, and hands it to the run when the path counts.
func (w *worker) onPath(s *state.State, e explore.End) (counts func()) {
	if !w.r.hadBegin {
		w.x.Usage = w.r.t.tc.Path + ": no test began: " + outcomeOf(w.ctx, w.r.t.tc.Kind, s, e).String()
		return func() {}
	}
	t, output := w.testOf(s, e)
	w.r.learn(s.Inputs)
	edges := w.nativeEdges(s)
	if w.r.mayCount(t, output.fine, edges) {
		minimising := w.row.Span("minimise")
		t, output = w.testOf(w.minimised(s), e)
		minimising.End()
	}
	ctx := w.ctx // the engine may be another by then
	return func() {
		id := w.r.add(t, func() (condition string) { return pathText(ctx, s, s.Sys.Stdout()) }, output, edges)
		if id != "" {
			w.row.Point("test case "+id, "outcome", t.Outcome.String())
		}
		if w.high != nil {
			w.high.End(&s.High, strings.TrimSpace(string(t.Outcome.Kind)+" "+t.Outcome.Type+t.Outcome.Signal), id)
		}
	}
}

// testOf is the test case of a path that has ended, without its name, and what it wrote.
func (w *worker) testOf(s *state.State, e explore.End) (testcase.Test, streams) {
	seen, class, output := w.observed(s, e)
	dec := s.Decisions()
	if w.high != nil {
		for i, at := range s.Log.Sources(w.high.Source) {
			dec[i].Source = at
		}
	}
	for i := range dec {
		dec[i].Symbol = w.symbols[uint64(dec[i].PC)]
	}
	t := testcase.Test{
		Group: s.High.Name(), GroupLength: s.High.Steps,
		PathID: testcase.PathID(dec), Decisions: dec, Unproved: s.Unproved(w.ctx), Observation: seen, Class: class, Asked: s.Sys.Asked(),
		FoundAt: time.Since(w.r.started).Seconds(),
	}
	if e.Kind == explore.Hang { // when that is noticed has no part in its name
		t.EndedBy, t.Group, t.GroupLength = e.What, s.Since.Name(), s.Since.Steps
		if w.high != nil {
			t.Loop = testcase.Text(w.high.Loop(&s.High))
			if at := w.high.Stands(&s.High); t.Loop == "" && at != "" {
				t.Stands = testcase.Text(sourcePlace(at))
			}
		}
	}
	if w.r.t.desc != nil {
		t.Inputs = inputsOf(w.ctx, w.r.t.tc.Kind, s)
	} else {
		t.Inputs = programInputs(w.ctx, s, w.r.o, len(w.r.t.tc.Argv)-w.r.o.ArgvCount)
	}
	t.Judged = s.Report.Judged
	for _, l := range s.Logs {
		t.Log = append(t.Log, l.Eval(w.ctx, s.Model))
	}
	return t, output
}
