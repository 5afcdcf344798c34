package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	guestlib "symchef/guest"
	"symchef/internal/exec"
	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/solver"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// run is one run in progress.
type run struct {
	o        *Options
	t        *target
	ctx      *expr.Ctx
	m        *exec.Machine
	chain    *solver.Chain
	x        *explore.Explorer
	w        *rundir.Writer
	sum      rundir.Summary
	prog     *progress
	started  time.Time
	limit    time.Time // of the exploration; zero: none
	classes  map[string]bool
	tests    []testcase.Test
	lastSum  time.Time
	saveErr  error
	hadBegin bool
	cfg      kernel.Config // of a Python run
}

// Run does a whole run and returns the exit status. People's text goes to
// stderr while it works; the result goes to stdout.
func Run(c context.Context, o Options, stdout, stderr io.Writer) int {
	status, err := runAll(c, &o, stdout, stderr)
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "symchef:", usage.text)
		return StatusUsage
	case err != nil:
		fmt.Fprintln(stderr, "symchef:", err)
		return StatusEngine
	}
	return status
}

func runAll(c context.Context, o *Options, stdout, stderr io.Writer) (int, error) {
	t, err := resolve(o)
	if err != nil {
		return 0, err
	}
	if t.found != nil {
		for _, n := range t.found.Notes {
			fmt.Fprintln(stderr, "symchef:", n)
		}
	}
	if o.Out == "" {
		o.Out = defaultOut(t)
	}
	r := newRun(o, t)
	r.prog = newProgress(o.Progress, stderr)
	r.sum = rundir.Summary{SchemaVersion: rundir.SchemaVersion, Test: t.name, Target: t.tc, Strategy: o.Strategy, Seed: o.Seed, WhyNotExhausted: []string{"the run has not finished"}}
	r.sum.Interpreter.Path = t.tc.Executable()
	if t.found != nil {
		r.sum.Interpreter.Version, r.sum.Interpreter.BuildID = t.found.Version, t.found.Image.BuildID
	}
	if r.w, err = rundir.Create(o.Out, r.sum); err != nil {
		return 0, &usageError{err.Error()}
	}
	defer r.w.Close()
	err = r.explore(c)
	if r.x == nil {
		return 0, err
	}
	var rep *replay.Report
	if err == nil && r.saveErr == nil {
		rep, err = r.replay(c)
	}
	r.finish(rep, err)
	r.prog.done()
	if why := r.vacuous(); err == nil && r.saveErr == nil && why != "" {
		return 0, &usageError{why}
	}
	if o.JSON {
		b, _ := json.MarshalIndent(r.sum, "", "  ")
		fmt.Fprintf(stdout, "%s\n", b)
	} else {
		r.print(stdout, rep)
	}
	if err = errors.Join(err, r.saveErr); err != nil {
		return 0, err
	}
	return r.status(c, rep), nil
}

// newRun returns a run of t with its engine.
func newRun(o *Options, t *target) *run {
	r := &run{o: o, t: t, started: time.Now(), classes: map[string]bool{}, ctx: expr.New()}
	r.m = exec.New(r.ctx)
	opts := solver.Options{ModelSeed: o.ModelSeed}
	if path, err := osexec.LookPath("cadical"); err == nil {
		opts.Fallback = path // decides what the budget leaves open
	}
	r.chain = solver.New(r.ctx, opts)
	return r
}

// explore boots the target and explores it.
func (r *run) explore(c context.Context) (err error) {
	o := r.o
	root, err := r.boot()
	if err != nil {
		return err
	}
	cfg := explore.Config{
		Strategy: o.Strategy, Seed: o.Seed, PathInstructions: o.PathInstructions, PathTime: o.PathTime,
		Budget:  &explore.Budget{Instructions: o.Instructions, Paths: o.MaxPaths},
		Booting: !r.hadBegin, OnBegin: r.onBegin, OnPath: r.onPath, OnTick: r.onTick,
	}
	if r.t.desc != nil {
		cfg.Layouts = r.t.desc.Layouts
	}
	if r.x, err = explore.New(r.ctx, r.m, r.chain, cfg); err != nil {
		return &usageError{err.Error()}
	}
	if r.hadBegin && o.Time > 0 {
		r.limit = time.Now().Add(o.Time)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	r.x.Run(c, root)
	return nil
}

// onBegin marks the end of the boot.
func (r *run) onBegin(s *state.State, test string) {
	r.sum.Target.Name = test
	r.m.ForgetCode()
	r.sum.BootS = time.Since(r.started).Seconds()
	if r.o.Time > 0 {
		r.limit = time.Now().Add(r.o.Time)
	}
	if !r.hadBegin {
		r.hadBegin = true
		r.saveSnapshot(s.Sys)
	}
}

// onTick looks at the limits that are not the explorer's own and shows progress.
func (r *run) onTick(x *explore.Explorer) string {
	now := time.Now()
	if !r.limit.IsZero() && now.After(r.limit) {
		return "limit: --time"
	}
	if r.saveErr != nil {
		return "the run directory cannot be written"
	}
	if r.prog.due(now) || now.Sub(r.lastSum) > time.Second {
		var ms runtime.MemStats
		runtime.ReadMemStats(&ms)
		r.sum.MemoryPeakBytes = max(r.sum.MemoryPeakBytes, ms.HeapInuse)
		if r.o.MaxMemory > 0 && ms.HeapInuse > r.o.MaxMemory {
			runtime.GC()
			if runtime.ReadMemStats(&ms); ms.HeapInuse > r.o.MaxMemory {
				return "limit: --max-memory"
			}
		}
		r.update()
		r.prog.show(now, r)
		if now.Sub(r.lastSum) > time.Second {
			r.lastSum = now
			r.keep(r.w.WriteSummary(r.sum))
		}
	}
	return ""
}

func (r *run) keep(err error) {
	if r.saveErr == nil {
		r.saveErr = err
	}
}

// onPath writes the test case of a finished path, if it is a new one.
func (r *run) onPath(s *state.State, e explore.End) {
	t, bytes := r.testOf(s, e)
	key := fmt.Sprint(t.Outcome.Kind, "|", t.Outcome.Type, "|", t.Outcome.Signal, "|", t.Outcome.ExitStatus, "|", t.OutputSHA256)
	known := r.classes[key]
	r.classes[key] = true
	if known && !r.o.AllPaths {
		return
	}
	t.ID = fmt.Sprintf("t%06d", len(r.tests)+1)
	r.keep(r.w.WritePath(t.ID, pathText(r.ctx, s, s.Sys.Stdout()), bytes))
	r.keep(r.w.Append(t))
	r.tests = append(r.tests, t)
	r.sum.Tests.Add(t.Outcome.Kind)
	if r.o.OnTest != nil {
		r.o.OnTest(t)
	}
}

// testOf is the test case of a path that has ended, without its name, and its output.
func (r *run) testOf(s *state.State, e explore.End) (testcase.Test, []byte) {
	out := s.Sys.Stdout()
	bytes := append([]byte(nil), out.Data...)
	r.ctx.NewEval()
	for i, x := range out.Sym {
		if x != 0 {
			bytes[i] = byte(r.ctx.EvalMemo(x, s.Model))
		}
	}
	dec := s.Decisions()
	t := testcase.Test{
		PathID: testcase.PathID(dec), Decisions: dec,
		Outcome:      outcomeOf(r.ctx, r.t.tc.Kind, s, e),
		OutputSHA256: testcase.OutputDigest(bytes), OutputBytes: int64(len(bytes)),
		FoundAt: time.Since(r.started).Seconds(),
	}
	if e.Kind == explore.Hang {
		t.EndedBy = e.What
	}
	if r.t.tc.Kind == testcase.Python {
		t.Inputs = inputsOf(r.ctx, s)
	} else {
		t.Inputs = programInputs(r.ctx, s, r.o, len(r.t.tc.Argv)-r.o.ArgvCount)
	}
	for _, l := range s.Logs {
		t.Log = append(t.Log, l.Eval(r.ctx, s.Model))
	}
	return t, bytes
}

// update copies the counters to the summary.
func (r *run) update() {
	st := r.chain.Stats()
	r.sum.ElapsedS = time.Since(r.started).Seconds()
	r.sum.Paths = rundir.Paths{Low: r.x.Counts.Paths, Pending: r.x.Pending(), Infeasible: r.x.Counts.Infeasible}
	r.sum.CodeBytes = r.m.CodeBytes()
	r.sum.Instructions = rundir.Instructions{Total: r.x.Counts.Total, Symbolic: r.m.Stats.Symbolic}
	r.sum.Solver = rundir.Solver{Queries: st.Queries, AnsweredWithoutBackend: st.AnsweredWithoutBackend(), Unknown: st.Unknown, TimeS: st.Time.Seconds()}
}

// replay runs the test cases natively.
func (r *run) replay(c context.Context) (*replay.Report, error) {
	if r.o.NoReplay || len(r.tests) == 0 || c.Err() != nil {
		return nil, nil
	}
	r.prog.note("replaying %d test cases", len(r.tests))
	opt := replay.Options{Unconfined: r.o.Unconfined}
	if r.t.tc.Kind == testcase.Python {
		dir, cleanup, err := GuestLibrary()
		if err != nil {
			return nil, err
		}
		defer cleanup()
		opt.GuestLib = dir
	}
	n := 0
	opt.Progress = func(replay.Result) {
		if n++; r.prog.due(time.Now()) {
			r.prog.note("replayed %d of %d test cases", n, len(r.tests))
		}
	}
	rep, err := replay.Run(c, r.t.tc, r.tests, opt)
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return &rep, err
}

// GuestLibrary extracts the guest library to a throw-away folder.
func GuestLibrary() (python string, cleanup func(), err error) {
	dir, err := os.MkdirTemp("", "symchef-guest-")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() { os.RemoveAll(dir) }
	if err := guestlib.Extract(filepath.Join(dir, "lib")); err != nil {
		cleanup()
		return "", nil, err
	}
	return filepath.Join(dir, "lib", "python"), cleanup, nil
}

// finish fills in and writes the last summary; err is what went wrong, if anything.
func (r *run) finish(rep *replay.Report, err error) {
	r.update()
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	r.sum.MemoryPeakBytes = max(r.sum.MemoryPeakBytes, ms.HeapInuse)
	r.sum.WhyNotExhausted = r.x.WhyNotExhausted()
	if r.x.Usage != "" {
		r.sum.WhyNotExhausted = append(r.sum.WhyNotExhausted, r.x.Usage)
	}
	if err != nil {
		r.sum.WhyNotExhausted = append(r.sum.WhyNotExhausted, firstLine(err.Error()))
	}
	r.sum.Exhausted = len(r.sum.WhyNotExhausted) == 0
	r.sum.Finished = true
	if rep != nil {
		var verdicts []rundir.Verdict
		r.sum.Replay, verdicts = rep.Record()
		r.keep(r.w.WriteVerdicts(verdicts))
	}
	r.keep(r.w.WriteSummary(r.sum))
}

// boot returns the state to start from: the boot snapshot where there is
// one, else the start of the process.
func (r *run) boot() (*state.State, error) {
	isPython := r.t.tc.Kind == testcase.Python
	cfg := kernelConfig(r.t.tc, isPython, r.o.Seed)
	var root *state.State
	if isPython {
		if err := installModels(r.m, r.t.found.Image, r.t.tc.Interpreter); err != nil {
			return nil, err
		}
		if sys, test := r.loadSnapshot(cfg); sys != nil {
			r.hadBegin = true
			r.sum.FromSnapshot, r.sum.Target.Name = true, test
			r.sum.BootS = time.Since(r.started).Seconds()
			root = state.New(sys)
			hookEntries(r.m, r.t.found.Image, sys.CurrentProcess().Mem)
		}
	} else if r.o.StdinLen > 0 {
		cfg.Stdin = symbolicBytes(r.ctx, "stdin", make([]byte, r.o.StdinLen))
	}
	if root == nil {
		sys, err := kernel.Boot(cfg)
		if err != nil {
			return nil, &usageError{err.Error()}
		}
		root = state.New(sys)
		if !isPython {
			r.hadBegin = true
			root.Model = addModel(nil, r.ctx, cfg.Stdin)
			if err := r.symbolicArgv(root); err != nil {
				return nil, err
			}
		}
	}
	if isPython {
		immortal(r.m, r.t.found.Image, root.Sys.CurrentProcess().Mem)
	}
	return root, nil
}
