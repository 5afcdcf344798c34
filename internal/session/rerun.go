package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/rundir"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// Rerun executes the test cases of a run directory again in the machine, each from
// its decision log, and compares path, outcome and output: what a run found does not
// depend on the process that found it. An empty id means all.
func Rerun(c context.Context, dir, id string, stdout, stderr io.Writer) int {
	agreed, strayed, err := rerunAll(c, dir, id, stdout)
	switch {
	case err != nil && c.Err() != nil:
		fmt.Fprintf(stderr, "symchef: interrupted: %d agreed, %d strayed\n", agreed, strayed)
		return StatusCtrlC
	case err != nil:
		fmt.Fprintf(stderr, "symchef: %s: %s\n", dir, strings.TrimPrefix(err.Error(), dir+": "))
		return StatusUsage
	}
	fmt.Fprintf(stdout, "re-executed: %d agreed, %d strayed\n", agreed, strayed)
	if strayed > 0 {
		return StatusEngine
	}
	return StatusOK
}

func rerunAll(c context.Context, dir, id string, stdout io.Writer) (agreed, strayed int, err error) {
	if _, err := fits(DefaultMemory, io.Discard); err != nil {
		return 0, 0, err
	}
	d, err := rundir.Open(dir)
	if err != nil {
		return 0, 0, err
	}
	tests, _, err := d.Tests()
	if id != "" {
		var one testcase.Test
		one, err = d.Test(id)
		tests = []testcase.Test{one}
	}
	if err != nil {
		return 0, 0, err
	}
	seen, err := pictureOf(d)
	if err != nil {
		return 0, 0, err
	}
	for _, t := range tests {
		why, err := rerun(c, d.Summary, seen, t, nil)
		switch {
		case err != nil:
			return agreed, strayed, err
		case why != "":
			strayed++
			fmt.Fprintf(stdout, "%s strayed: %s\n", t.ID, why)
		default:
			agreed++
		}
	}
	return agreed, strayed, nil
}

// Condition writes the path condition and the symbolic output of a test case as SMT-LIB2 text: it executes the test case again.
func Condition(c context.Context, dir, id string, stdout, stderr io.Writer) int {
	text := ""
	d, err := rundir.Open(dir)
	if err == nil {
		var t testcase.Test
		var seen *picture
		if t, err = d.Test(id); err == nil {
			seen, err = pictureOf(d)
		}
		if err == nil {
			var why string
			why, err = rerun(c, d.Summary, seen, t, func(w *worker, s *state.State) { text = pathText(w.ctx, s, s.Sys.Stdout()) })
			if err == nil && why != "" {
				err = fmt.Errorf("%s cannot be executed again: %s", id, why)
			}
		}
	}
	switch {
	case err != nil && c.Err() != nil:
		fmt.Fprintln(stderr, "symchef: interrupted")
		return StatusCtrlC
	case err != nil:
		fmt.Fprintf(stderr, "symchef: %s: %v\n", dir, err)
		return StatusUsage
	}
	io.WriteString(stdout, text)
	return StatusOK
}

// rerun executes one test case from the start of its process; why says how it differs. onEnd, if not nil, sees the state at its end.
func rerun(c context.Context, sum rundir.Summary, seen *picture, want testcase.Test, onEnd func(*worker, *state.State)) (why string, err error) {
	return again{sum: sum, seed: sum.Seed, seen: seen, onEnd: onEnd}.rerun(c, want)
}

func (a again) rerun(c context.Context, want testcase.Test) (why string, err error) {
	trail := &explore.Trail{Decisions: want.Decisions, Unproved: want.Unproved, Open: want.EndedBy != ""}
	got, ended, err := a.follow(c, want.Inputs, trail)
	var strayed *strayed
	switch {
	case errors.As(err, &strayed):
		return err.Error(), nil
	case err != nil:
		return "", err
	case trail.Open: // what limit or loop ended it is not executed again
		return "", nil
	case !ended:
		return "the path was pruned", nil
	case got.PathID != want.PathID:
		return fmt.Sprintf("path %s, recorded %s", got.PathID, want.PathID), nil
	}
	if d := got.Difference(want.Observation); d != nil {
		return d.Show(Words(a.sum.Target.Kind), "recorded"), nil
	}
	return "", nil
}

// again executes test cases of a run once more in the machine, each from the start of its process.
type again struct {
	sum     rundir.Summary
	seed    uint64
	seen    *picture                    // what the run was told of the host; nil: it is asked again
	world   kernel.World                // the zero value, and seed that of sum: as the run did
	onEnd   func(*worker, *state.State) // sees the state at the end; nil: nobody does
	high    bool                        // the path in the interpreted program is followed
	tracked bool                        // the order of tasks is, too

	noCache  bool   // of boot snapshots
	cacheDir string // as in Options
}

// strayed is an error of the path, which is not the one that was to be followed.
type strayed struct{ error }

func (s *strayed) Unwrap() error { return s.error }

// follow executes the path of trail with inputs, which are its model. ended is false where an assumption ended the path, or trail did.
func (a again) follow(c context.Context, inputs []testcase.Input, trail *explore.Trail) (got testcase.Test, ended bool, err error) {
	b, err := a.begin(c, inputs)
	if err != nil {
		return got, false, err
	}
	defer b.end()
	return b.follow(c, inputs, trail)
}

// A beginning is where paths of a run are executed once more, with an engine of its own.
type beginning struct {
	a     again
	w     *worker
	stop  func() bool  // ends that the solver gives up when the context is done
	root  *state.State // never run
	took  uint64       // instructions of the paths that were followed
	later uint64       // at how many seconds later than in the run paths are followed
	view  *outlook     // nil: the moment is no variable; else it is filled at the end of a path
	told  bool         // the path that was followed last has been told what moment it is
}

// begin starts the process, or takes it from the cache, for inputs of these widths.
func (a again) begin(c context.Context, inputs []testcase.Input) (*beginning, error) {
	o := &Options{Seed: a.seed, StdinLen: -1, MaxMemory: DefaultMemory, NoCache: a.noCache, CacheDir: a.cacheDir}
	t, err := recorded(a.sum)
	if err != nil {
		return nil, err
	}
	for _, in := range inputs {
		switch in.Type {
		case testcase.TypeStdin:
			o.StdinLen = len(in.BytesHex) / 2
		case testcase.TypeArgv:
			o.ArgvCount, o.ArgvLen = o.ArgvCount+1, len(in.BytesHex)/2
		case testcase.TypeFile:
			o.Files = append(o.Files, Named{in.Name, len(in.BytesHex) / 2})
		case testcase.TypeEnv:
			o.Env = append(o.Env, Named{in.Name, len(in.BytesHex) / 2})
		}
	}
	r := newRun(o, t)
	r.world, r.untracked = a.world, !a.tracked
	if a.seen != nil {
		r.see(a.seen)
	}
	r.help = func() {}
	if t.tc.Merge || a.high { // what is merged has no high-level step
		r.prog = newProgress("none", io.Discard)
		r.findHigh()
	}
	if a.high {
		r.knowHigh()
	}
	b := &beginning{a: a, w: r.newWorker(), stop: context.AfterFunc(c, r.stopSolver)}
	if b.root, err = b.w.boot(c); err != nil {
		b.end()
		return nil, err
	}
	r.image = nil // there is one engine only
	if r.t.desc != nil && !r.hadBegin {
		err = b.toBegin(c)
	}
	if err != nil {
		b.end()
		return nil, err
	}
	return b, nil
}

// toBegin runs an interpreter that has not started natively to where the test begins: all paths begin there.
func (b *beginning) toBegin(c context.Context) (err error) {
	w := b.w
	c, stop := context.WithCancel(c)
	defer stop()
	var at *state.State
	cfg := b.config()
	cfg.Booting, cfg.BootInstructions = true, w.r.o.bootInstructions(true)
	cfg.OnBegin = func(s *state.State, test string) {
		w.onBegin(s, test)
		at = s.Fork()
		stop()
	}
	cfg.OnPath = func(*state.State, explore.End) func() { return func() {} }
	if w.x, err = explore.New(w.ctx, w.m, w.chain, cfg); err != nil {
		return err
	}
	w.x.Run(c, b.root)
	switch {
	case at != nil:
		b.root = at
		return nil
	case c.Err() != nil:
		return c.Err()
	}
	return errors.New(cmp.Or(w.x.Usage, "the test did not begin"))
}

// config is what all that is executed from here has in common.
func (b *beginning) config() explore.Config {
	w := b.w
	cfg := explore.Config{Strategy: "dfs", Merge: w.r.t.tc.Merge, High: w.high}
	if w.r.t.desc != nil {
		cfg.Layouts, cfg.References, cfg.Steps = w.r.t.found.Image.Layouts, w.r.t.found.Image.References, w.r.t.desc.Steps != ""
	}
	return cfg
}

// end waits for what goes on beside the paths.
func (b *beginning) end() {
	b.stop()
	b.w.r.settle()
}

// follow is again.follow from here; the widths of inputs are those of begin.
func (b *beginning) follow(c context.Context, inputs []testcase.Input, trail *explore.Trail) (got testcase.Test, ended bool, err error) {
	w := b.w
	if trail.Model, err = explore.ModelOf(w.ctx, inputs); err != nil {
		return got, false, err
	}
	var later expr.Ref
	if b.view != nil {
		later = w.ctx.Var("moment", 32) // those of inputs have a suffix
		id := int(w.ctx.VarOf(later))
		trail.Model = append(trail.Model, make(expr.Assignment, max(0, id+1-len(trail.Model)))...)
		trail.Model[id] = b.later
	}
	move := func(s *state.State) {
		if later == 0 {
			s.Sys.MoveTo(b.later, 0)
			return
		}
		s.Sys.MoveTo(b.later, w.ctx.ZExt(later, 64))
		s.Assume(w.ctx, w.ctx.Ule(later, w.ctx.Const(century, 32)), 1)
	}
	cfg := b.config()
	cfg.OnPath = func(s *state.State, e explore.End) func() {
		got, _ = w.testOf(s, e)
		if b.told = s.Sys.ToldMoment(); b.view != nil {
			*b.view = outlookOf(w.ctx, s, later)
		}
		if b.a.onEnd != nil {
			b.a.onEnd(w, s)
		}
		return func() { ended = true }
	}
	if w.x, err = explore.New(w.ctx, w.m, w.chain, cfg); err != nil {
		return got, false, err
	}
	root := b.root.Fork()
	root.Resume(w.ctx)
	move(root)
	defer func() { b.took += root.Sys.Spent() - b.root.Sys.Spent() }()
	if err = w.x.Follow(c, root, trail); err != nil && c.Err() == nil {
		err = &strayed{err}
	}
	return got, ended, err
}
