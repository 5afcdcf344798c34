package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"symchef/internal/explore"
	"symchef/internal/high"
	"symchef/internal/interp"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// checkpointVersion changes whenever the content of a checkpoint does.
const checkpointVersion = 7

// checkpoint is what a run needs to go on: all that is not explored, and the
// numbers of what is. It goes with the first TestsSize bytes of the test cases.
type checkpoint struct {
	Version   int
	Options   kept
	Frontiers []explore.Frontier
	Tally     keptTally
	Dropped   map[string]int
	Tree      high.Tree
	TestsSize int64
	Elapsed   time.Duration
}

// kept are the options that shape the tree and its test cases.
type kept struct {
	StdinLen, ArgvCount, ArgvLen int
	Files, Env                   []Named
	AllPaths                     bool
	Strategy                     string
	Complete                     bool
	Seed                         uint64
}

// keptTally is a tally in a form that gob encodes.
type keptTally struct {
	Counts    explore.Counts
	Unmerged  map[string]int
	Symbolic  uint64
	CodeBytes uint64
	Queries   uint64
	Answered  uint64
	Unknown   uint64
	Time      time.Duration
}

// checkpointShare bounds what checkpoints cost: so many times as long as one took, its waiting for all workers included, pass before the next.
const checkpointShare = 50

// checkpoint keeps what is to be explored. Require: no worker changes its part meanwhile.
func (r *run) checkpoint(parts []explore.Frontier) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saveCheckpoint(parts)
}

// saveCheckpoint does; r.mu is held, and nextCheckpoint is when it was begun.
func (r *run) saveCheckpoint(parts []explore.Frontier) {
	c := checkpoint{Version: checkpointVersion, Frontiers: parts, Dropped: r.dropped(), TestsSize: r.w.Size(), Elapsed: r.elapsed(),
		Options: kept{r.o.StdinLen, r.o.ArgvCount, r.o.ArgvLen, r.o.Files, r.o.Env, r.o.AllPaths, r.o.Strategy, r.o.Complete, r.o.Seed}}
	if r.high != nil {
		c.Tree = *r.tree()
	}
	t := r.tally()
	c.Tally = keptTally{t.counts, t.unmerged, t.symbolic, t.codeBytes, t.solver.Queries, t.solver.AnsweredWithoutBackend(), t.solver.Unknown, t.solver.Time}
	b, err := seal(c, nil)
	if err != nil {
		r.keep(fmt.Errorf("checkpoint: %w", err))
		return
	}
	r.keep(r.w.WriteFrontier(b))
	r.nextCheckpoint = time.Now().Add(max(r.o.Checkpoint, checkpointShare*time.Since(r.nextCheckpoint)))
}

// resume prepares r to go on with the run of directory dir.
func resume(o *Options) (*run, error) {
	dir := o.Resume
	d, err := rundir.Open(dir)
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	data, err := d.Frontier()
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	if data == nil || d.Summary.Exhausted {
		return nil, &usageError{fmt.Sprintf("%s: nothing is left to explore", dir)}
	}
	var c checkpoint
	if _, ok := unseal(data, &c); !ok || c.Version != checkpointVersion {
		return nil, &usageError{fmt.Sprintf("%s: the frontier is damaged, or not of this version of symchef", dir)}
	}
	o.Out, o.AllPaths, o.Strategy, o.Complete, o.Seed = dir, c.Options.AllPaths, c.Options.Strategy, c.Options.Complete, c.Options.Seed
	o.StdinLen, o.ArgvCount, o.ArgvLen = c.Options.StdinLen, c.Options.ArgvCount, c.Options.ArgvLen
	o.Files, o.Env = c.Options.Files, c.Options.Env
	t, err := recorded(d.Summary)
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	r := newRun(o, t)
	r.resumed = &c
	if r.w, err = rundir.Reopen(dir, c.TestsSize); err != nil {
		return nil, &usageError{err.Error()}
	}
	tests, _, err := d.Outlines()
	if err != nil {
		r.w.Close()
		return nil, &usageError{err.Error()}
	}
	r.sum = d.Summary
	r.sum.Finished, r.sum.Tests, r.sum.Lines = false, rundir.Tests{}, 0
	r.ended = c.Tally.Counts.Paths
	r.sum.Progress = slices.DeleteFunc(r.sum.Progress, func(p rundir.Sample) bool { return p.Instructions > c.Tally.Counts.Total })
	r.named = len(tests)
	for _, x := range tests {
		r.known(x)
		r.sum.Tests.Add(x.Outcome.Kind)
	}
	return r, nil
}

// recorded is the target of a run directory.
func recorded(sum rundir.Summary) (*target, error) {
	t := &target{tc: sum.Target, name: sum.Test}
	if t.tc.Kind == testcase.Program {
		_, err := lookProgram(t.tc.Path)
		return t, err
	}
	d, ok := interp.ForFile(t.tc.Path)
	if !ok {
		return nil, fmt.Errorf("no language is known for %s", t.tc.Path)
	}
	img, err := d.Locate(t.tc.Interpreter, sum.Interpreter.Version)
	if err != nil {
		return nil, err
	}
	t.desc, t.found = d, &interp.Found{ELF: t.tc.Interpreter, Image: img}
	t.use()
	return t, nil
}

// toBegin runs w until the test begins, so that a resumed run has its root.
func (w *worker) toBegin(c context.Context) error {
	root, err := w.boot(c)
	if err != nil || w.r.hadBegin {
		return err
	}
	if err := w.explorer(); err != nil {
		return err
	}
	c, stop := context.WithCancel(c)
	defer stop()
	w.r.help = stop
	if err := w.work(c, root, true); err != nil {
		return err
	}
	if w.x.Usage != "" {
		return &usageError{w.x.Usage}
	}
	if !w.r.hadBegin {
		return errors.Join(c.Err(), errors.New("the test did not begin"))
	}
	return nil
}
