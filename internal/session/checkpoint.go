package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"symchef/internal/explore"
	"symchef/internal/high"
	"symchef/internal/interp"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// checkpointVersion changes whenever the content of a checkpoint does.
const checkpointVersion = 14

// checkpoint is what a run needs to go on: all that is not explored, and the
// numbers of what is. It goes with the first TestsSize bytes of the test cases.
//
//	stop the workers ── pack ── go on ── (beside them) encode, picture of the host, write, rename
type checkpoint struct {
	Version   int
	Fresh     bool // nothing is explored: the run has not come to its beginning
	Options   kept
	Frontiers []explore.Frontier // on disk behind the rest, in a form of their own
	Tally     keptTally
	Dropped   map[string]int
	Tree      high.Tree
	Census    census
	Edges     map[uint64]bool
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
	Class                        []testcase.Part
	Coverage                     bool
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

// checkpointShare bounds what checkpoints cost: so many times as long as the workers stood still for one, their waiting for one another
// included, pass before the next. mostLost comes first: no more work than that is lost by a kill, however large the frontier.
const (
	checkpointShare = 50
	mostLost        = 20 * time.Second
)

// checkpointAfter is when the next checkpoint is due, after one for which the workers stood still for pause and that was on disk after another took.
func checkpointAfter(asked, pause, took time.Duration) time.Duration {
	return max(min(max(asked, checkpointShare*pause), max(asked, mostLost-pause-2*took)), pause)
}

// checkpoint keeps what is to be explored. Require: no worker changes its part meanwhile.
func (r *run) checkpoint(parts []explore.Frontier) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saveCheckpoint(parts, nil)
}

// fresh is the checkpoint that a run begins with: whoever resumes it starts over.
func (r *run) fresh() checkpoint {
	o := r.o
	return checkpoint{Version: checkpointVersion, Fresh: true,
		Options: kept{o.StdinLen, o.ArgvCount, o.ArgvLen, o.Files, o.Env, o.AllPaths, o.Strategy, o.Complete, o.Seed, o.Class, o.Coverage}}
}

// saveCheckpoint does; r.mu is held, and nextCheckpoint is when it was begun. What takes long goes on beside the workers; written, if not nil, is
// closed when it is on disk.
func (r *run) saveCheckpoint(parts []explore.Frontier, written chan<- struct{}) {
	begun := r.nextCheckpoint
	if written == nil && !r.writing.TryLock() { // the one before is being written
		r.nextCheckpoint = time.Now().Add(time.Second)
		return
	}
	c := r.fresh()
	c.Fresh, c.Dropped, c.Census, c.Edges, c.TestsSize, c.Elapsed = false, r.dropped(), r.census, r.edges, r.w.Size(), r.elapsed()
	c.Tree = *r.tree() // of what was explored before, if this run has not found its interpreter's program counter yet
	t := r.tally()
	c.Tally = keptTally{t.counts, t.unmerged, t.symbolic, t.codeBytes, t.solver.Queries, t.solver.AnsweredWithoutBackend(), t.solver.Unknown, t.solver.Time}
	head, err := unsealed(c)
	pause := time.Since(begun)
	r.nextCheckpoint = time.Now().Add(time.Hour) // until it is written
	go func() {
		defer r.writing.Unlock()
		began := time.Now()
		defer r.row("checkpoints").Span("checkpoint").End("workers stood still for, s", pause.Seconds())
		if err == nil {
			err = r.keepPicture()
		}
		if err == nil {
			err = r.w.WriteFrontier(sealed(appendFrontiers(head, parts)))
		}
		r.mu.Lock()
		r.keep(err)
		r.nextCheckpoint = time.Now().Add(checkpointAfter(r.o.Checkpoint, pause, time.Since(began)))
		r.mu.Unlock()
		if written != nil {
			close(written)
		}
	}()
}

// written waits until no checkpoint is being written.
func (r *run) written() {
	r.writing.Lock()
	defer r.writing.Unlock()
}

// lastCheckpoint keeps what is left when the run ends.
func (r *run) lastCheckpoint() {
	written := make(chan struct{})
	r.writing.Lock()
	r.mu.Lock()
	r.nextCheckpoint = time.Now()
	r.saveCheckpoint(r.left, written)
	r.mu.Unlock()
	<-written
}

// appendFrontiers appends the forms on disk of parts.
func appendFrontiers(b []byte, parts []explore.Frontier) []byte {
	for i := range parts {
		b, _ = parts[i].AppendBinary(b)
	}
	return b
}

// decodeCheckpoint reads frontier.bin; false if that is damaged, or of another version.
func decodeCheckpoint(data []byte) (c checkpoint, ok bool) {
	b, ok := unseal(data, &c)
	if !ok || c.Version != checkpointVersion {
		return c, false
	}
	for len(b) > 0 {
		f, rest, err := explore.ReadFrontier(b)
		if err != nil {
			return c, false
		}
		c.Frontiers, b = append(c.Frontiers, f), rest
	}
	return c, true
}

// resume prepares r to go on with the run of directory dir.
func resume(c context.Context, o *Options) (*run, error) {
	dir := o.Resume
	_, err := rundir.Open(dir)
	var w *rundir.Writer
	if err == nil {
		w, err = rundir.Lock(dir)
	}
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	r, err := resumed(c, o, w)
	if err != nil {
		w.Close()
		return nil, &usageError{err.Error()}
	}
	return r, nil
}

// resumed is the run to go on with that w has locked.
func resumed(timed context.Context, o *Options, w *rundir.Writer) (*run, error) {
	dir := w.Dir()
	d, err := rundir.Open(dir)
	if err != nil {
		return nil, err
	}
	data, err := d.Frontier()
	if err == nil && (data == nil || d.Summary.Exhausted) { // what has changed since is the better answer
		if _, err = pictureOf(d); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case data == nil && d.Summary.Replay.NotReplayed > 0:
		return nil, fmt.Errorf("%s: nothing is left to explore; symchef replay %s replays its test cases", dir, dir)
	case data == nil || d.Summary.Exhausted:
		return nil, fmt.Errorf("%s: nothing is left to explore", dir)
	}
	c, ok := decodeCheckpoint(data)
	if !ok {
		return nil, fmt.Errorf("%s: the frontier is damaged, or not of this version of symchef", dir)
	}
	o.Out, o.AllPaths, o.Strategy, o.Complete, o.Seed = dir, c.Options.AllPaths, c.Options.Strategy, c.Options.Complete, c.Options.Seed
	o.StdinLen, o.ArgvCount, o.ArgvLen = c.Options.StdinLen, c.Options.ArgvCount, c.Options.ArgvLen
	o.Files, o.Env, o.Class, o.Coverage = c.Options.Files, c.Options.Env, c.Options.Class, c.Options.Coverage
	var seen *picture
	if !c.Fresh {
		if seen, err = pictureOf(d); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	t, err := recorded(d.Summary)
	if err != nil {
		return nil, err
	}
	if err := replayable(timed, o, t); err != nil {
		return nil, err
	}
	r := newRun(o, t)
	r.w = w
	if seen != nil {
		r.see(seen)
	}
	if !c.Fresh {
		r.resumed = &c
	}
	if err := w.Resume(c.TestsSize); err != nil {
		return nil, err
	}
	tests, _, err := d.Outlines()
	if err != nil {
		return nil, err
	}
	r.sum = d.Summary
	r.sum.Finished, r.sum.Tests, r.sum.Lines, r.sum.Replay = false, rundir.Tests{}, 0, rundir.Replay{}
	r.sum.Premises, r.sum.WhyNotExhausted = nil, []string{unfinished}
	r.sum.Findings, r.sum.Classes = nil, nil
	maps.Copy(r.edges, c.Edges)
	maps.Copy(r.census.Classes, c.Census.Classes)
	maps.Copy(r.census.Findings, c.Census.Findings)
	r.ended = c.Tally.Counts.Paths
	r.sum.Progress = slices.DeleteFunc(r.sum.Progress, func(p rundir.Sample) bool { return p.Instructions > c.Tally.Counts.Total })
	if n := len(tests); n > 0 { // the last one was replaced by none
		fmt.Sscanf(tests[n-1].ID, "t%d", &r.named)
	}
	for _, x := range tests {
		r.known(x)
		r.stands(x)
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
		return nil, fmt.Errorf("no language is known for %s: it was explored with one from outside (--language DIR), which is needed here, too", t.tc.Path)
	}
	img, err := d.Locate(t.tc.Interpreter, sum.Interpreter.Version, CacheDir(""))
	if err != nil {
		return nil, err
	}
	t.desc, t.found = d, &interp.Found{ELF: t.tc.Interpreter, Argv0: t.tc.Argv[0], Env: t.tc.Env, Image: img}
	complete(t.found, CacheDir(""))
	t.use()
	return t, nil
}

// toBegin runs w until the test begins, so that a resumed run has its root.
//
// It is false if a signal or --time came before that.
func (w *worker) toBegin(c context.Context) (bool, error) {
	root, err := w.boot(w.r.timed)
	if err != nil {
		return false, err
	}
	if err := w.explorer(); err != nil || w.r.hadBegin {
		return err == nil, err
	}
	begin, stop := context.WithCancel(c)
	defer stop()
	w.r.help = stop
	if err := w.work(begin, root, true); err != nil {
		return false, err
	}
	switch {
	case w.x.Usage != "":
		return false, &usageError{w.x.Usage}
	case !w.r.hadBegin && w.r.timed.Err() == nil && w.r.why == "":
		return false, errors.New("the test did not begin")
	}
	return w.r.hadBegin, nil
}
