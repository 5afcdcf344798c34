package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"symchef/internal/disk"
	"symchef/internal/emit"
	"symchef/internal/explore"
	"symchef/internal/high"
	"symchef/internal/hlpc"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/lift"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/solver"
	"symchef/internal/state"
	"symchef/internal/testcase"
	"symchef/languages"
)

// run is one run in progress.
type run struct {
	o      *Options
	t      *target
	w      *rundir.Writer
	budget *explore.Budget
	high   *hlpc.Result                 // where the interpreted program's counter is; nil: not known, or not yet
	find   func() (*hlpc.Result, error) // finds it, once
	pool   *pool                        // of workers beyond the first; nil: none
	host   *kernel.Host                 // one picture for all workers and engines
	record []kernel.Answer              // the picture of the run that is gone on with; nil: this one is new
	memory uint64                       // that a path may take in that run, in bytes; 0: as Options say

	pictured sync.Mutex // guards told: how many answers of host are kept
	told     int

	untracked bool // the order of tasks: a path is executed again, and what it showed is known

	world kernel.World // what guests see of the machine and the moment; not the zero value where a path is executed again elsewhere
	// halt, once done, makes queries under way give up, for Ctrl-C and --time.
	halt       context.Context
	stopSolver context.CancelFunc
	timed      context.Context // ends with Ctrl-C and when all of --time is over
	exploring  context.Context // ends with the exploration; nil before

	mu        sync.Mutex // guards what follows
	workers   []*worker
	sum       rundir.Summary
	prog      *progress
	started   time.Time
	classes   map[string]bool // of test cases, see testcase.Class
	census    census
	plain     plain
	best      map[[2]string]*best
	tried     map[[2]string]*tried // by high-level path and fine class
	groups    map[string]bool      // high-level paths
	edges     map[uint64]bool      // that test cases take, see nativeEdges
	ended     int                  // low-level paths
	named     int                  // test cases
	lastSum   time.Time
	saveErr   error
	ceiling   *ceiling // of the memory of the process
	hadBegin  bool
	cfg       kernel.Config  // of a run of a language
	image     *image         // the system where the test begins, for further workers
	behind    *kernel.Stored // the snapshot behind the head that it comes from; nil: there is none
	saving    sync.WaitGroup // of image in the cache
	measuring sync.WaitGroup // of cost
	help      func()         // starts them
	cost      replayCost
	results   replay.Results           // so far; has a lock of its own
	endlessly map[string]replay.Result // of test cases that do not end natively either, by their inputs
	loops     map[testcase.Text]bool   // that one of them is in
	elsewhere string                   // that its run directory has not the usual name, and why
	meanwhile error                    // names what has changed before it was replayed
	why       string                   // a limit that has ended the exploration

	left           []explore.Frontier         // when the exploration has ended
	kept           bool                       // the checkpoint on disk is that of left
	open           []uint64                   // likewise: where states wait that another worker has forked, see high.Tree.OpenAt
	refuted        map[string]*rundir.Verdict // by test case, see refuted
	short          []string                   // test cases that the machine gave up as too long and that end natively
	tests          []testcase.Test            // likewise: until then they are on disk only
	resumed        *checkpoint                // where this run goes on; nil: it is new
	nextCheckpoint time.Time
	writing        sync.Mutex // held while a checkpoint is written
}

// Run does a whole run and returns the exit status. People's text goes to
// stderr while it works; the result goes to stdout.
func Run(c context.Context, o Options, stdout, stderr io.Writer) int {
	e := &ending{o: &o, stdout: stdout, stderr: stderr}
	return e.within(c, func(timed context.Context) int {
		status, err := runAll(c, timed, e)
		var usage *usageError
		var several *severalError
		switch {
		case errors.As(err, &several) && o.OnSeveral != nil:
			o.OnSeveral(several.names)
			return StatusUsage
		case errors.As(err, &several):
			fmt.Fprintln(stderr, "symchef:", err)
			return StatusUsage
		case errors.As(err, &usage):
			fmt.Fprintln(stderr, "symchef:", usage.text)
			return StatusUsage
		case errors.Is(err, context.Canceled):
			fmt.Fprintln(stderr, "symchef: interrupted before the run began")
			return StatusCtrlC
		case errors.Is(err, context.DeadlineExceeded):
			fmt.Fprintln(stderr, "symchef: "+limitTime+" before the run began")
			return StatusEngine
		case err != nil:
			fmt.Fprintln(stderr, "symchef:", err)
			return StatusEngine
		}
		return status
	})
}

// runAll is Run; timed ends with c, and when all of --time is over.
func runAll(c, timed context.Context, e *ending) (int, error) {
	o, stdout := e.o, e.stdout
	room, err := fits(o.MaxMemory, e.stderr)
	if err != nil {
		return 0, err
	}
	o.MaxMemory = room
	memory := newCeiling(o.MaxMemory)
	defer memory.end()
	r, err := prepare(timed, o, e.stderr)
	if err != nil {
		return 0, err
	}
	r.ceiling = memory
	r.prog, r.timed = newProgress(o.Progress, e.stderr), timed
	defer r.w.Close()
	defer r.settle()
	e.begins(r)
	err = r.explore(c)
	if len(r.workers) == 0 {
		return 0, err
	}
	if names := r.workers[0].x.Tests; len(names) > 0 {
		return 0, errors.Join(&severalError{r.t.name, names}, r.w.Discard())
	}
	if r.elsewhere != "" {
		fmt.Fprintln(e.stderr, "symchef:", r.elsewhere)
	}
	r.load()
	var rep *replay.Report
	var repErr error
	if err == nil && r.saveErr == nil {
		rep, repErr = r.replay(timed)
	}
	r.finish(rep, err, repErr)
	if !e.claim() {
		select {} // it was too late: the result is being shown by another
	}
	r.prog.done()
	if why := r.vacuous(); err == nil && r.saveErr == nil && why != "" {
		return 0, &usageError{why}
	}
	r.show(stdout, rep)
	if err = errors.Join(err, repErr, r.saveErr); err != nil {
		return 0, err
	}
	return r.status(c), nil
}

// prepare resolves what o asks for and opens the run directory.
func prepare(c context.Context, o *Options, stderr io.Writer) (*run, error) {
	if o.Resume != "" {
		return resume(c, o)
	}
	t, err := resolve(o)
	if err != nil {
		return nil, err
	}
	if t.found != nil {
		for _, n := range t.found.Notes {
			fmt.Fprintln(stderr, "symchef:", n)
		}
	}
	elsewhere := ""
	if o.Out == "" {
		plain := outDir("", t.tc.Path, t.tc.Name, 0)
		if o.Out = freeDir("", plain, t.tc.Path, t.tc.Name, nil); o.Out != plain {
			elsewhere = fmt.Sprintf("%s is of another file: this run is in %s", plain, o.Out)
		}
	}
	if err := replayable(c, o, t); err != nil {
		return nil, &usageError{err.Error()}
	}
	r := newRun(o, t)
	r.sum = rundir.Summary{SchemaVersion: rundir.SchemaVersion, Test: t.name, CPU: lift.Level(processor(t.tc.CPU)), Target: t.tc, Strategy: o.Strategy, Seed: o.Seed, WhyNotExhausted: []string{unfinished}}
	r.sum.Interpreter.Path = t.tc.Executable()
	if t.found != nil {
		r.sum.Interpreter.Version, r.sum.Interpreter.BuildID = t.found.Version, t.found.Image.BuildID
		for _, m := range t.found.Image.Without {
			fmt.Fprintf(stderr, "symchef: explored without: %s\n", m)
			r.lacks(m)
		}
	}
	fresh, err := seal(r.fresh())
	if err != nil {
		return nil, err
	}
	r.elsewhere = elsewhere
	r.w, err = rundir.Create(o.Out, r.sum, fresh)
	if errors.Is(err, rundir.ErrHoldsRuns) && o.OnSeveral != nil && t.tc.Name == "" && t.found != nil {
		if names, _ := List(c, *o, io.Discard); len(names) > 1 { // these are theirs
			return nil, &severalError{t.name, names}
		}
		if c.Err() != nil { // it is not known whose they are
			return nil, c.Err()
		}
	}
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	return r, nil
}

// replayable says what of the user's keeps the test cases of t from being replayed: better known now than after an hour.
func replayable(c context.Context, o *Options, t *target) error {
	if o.NoReplay {
		return nil
	}
	dir, remove, err := disk.Temp("run")
	if err != nil {
		return err
	}
	defer remove()
	if t.desc == nil {
		return nil
	}
	return replay.Nameable(c, replay.Options{GuestLib: dir, Mode: o.ReplayMode, Unconfined: o.Unconfined})
}

// unfinished is why a run that goes on, or was killed, is not exhausted.
const unfinished = "the run has not finished"

func newRun(o *Options, t *target) *run {
	halt, stop := context.WithCancel(context.Background())
	return &run{o: o, t: t, timed: context.Background(), host: kernel.NewHost(), halt: halt, stopSolver: stop, started: time.Now(),
		classes: map[string]bool{}, groups: map[string]bool{}, edges: map[uint64]bool{}, census: newCensus(), plain: plain{}, best: map[[2]string]*best{}, tried: map[[2]string]*tried{}, endlessly: map[string]replay.Result{}, loops: map[testcase.Text]bool{},
		hadBegin: t.tc.Kind == testcase.Program, // its first instruction
		budget:   &explore.Budget{Instructions: cmp.Or(o.Instructions, o.Turn), Paths: o.MaxPaths, Vain: o.vain()}}
}

// explore boots the target and explores it with all workers.
func (r *run) explore(c context.Context) error {
	if r.o.Workers > 1 {
		r.pool = newPool(r.checkpoint)
	}
	r.findHigh()
	if r.o.Complete {
		if r.knowHigh(); r.high == nil {
			return &usageError{"--completeness complete: the high level is not known, so there are no high-level states"}
		}
	}
	root, err := r.lead(c)
	if err != nil || root == nil {
		return err
	}
	if r.hadBegin {
		r.sum.FromSnapshot = r.image != nil
		r.sum.BootS = time.Since(r.started).Seconds()
		r.begun()
	}
	c, cancel := context.WithCancel(c)
	defer r.measuring.Wait()
	defer cancel()
	defer context.AfterFunc(c, r.stopSolver)()
	defer r.haltInTime()()
	r.exploring = c
	errs := r.work(c, cancel, root)
	if r.o.OnEnd != nil {
		r.o.OnEnd(r.workers[0].x)
	}
	r.gather()
	return errors.Join(errs...)
}

// lead makes the first worker, and what it explores from: nil where there was no time to come to where the run that is gone on with began.
func (r *run) lead(c context.Context) (*state.State, error) {
	lead := r.newWorker()
	if r.resumed != nil {
		begins, err := lead.toBegin(c)
		if err != nil {
			return nil, err
		}
		if !begins { // what was to be explored still is
			r.workers, r.left, r.kept = []*worker{lead}, r.resumed.Frontiers, true
			return nil, nil
		}
		lead = r.newWorker()
	}
	root, err := lead.boot(r.timed)
	if err != nil {
		return nil, err
	}
	if err := lead.explorer(); err != nil {
		return nil, &usageError{err.Error()}
	}
	r.workers = []*worker{lead}
	return root, nil
}

// work explores from root with the first worker, and with others from where the test begins. An error of one ends all.
func (r *run) work(c context.Context, cancel context.CancelFunc, root *state.State) []error {
	lead := r.workers[0]
	var others sync.WaitGroup
	errs := make([]error, max(r.o.Workers, 1))
	r.help = func() { // runs when the test begins
		if !r.hadBegin || r.t.desc != nil && r.image == nil {
			return // without an image of the beginning there is no root for others
		}
		for i := 1; i < r.o.Workers; i++ {
			r.pool.join()
			others.Go(func() {
				if errs[i] = r.helper(c); errs[i] != nil {
					cancel()
				}
			})
		}
	}
	if r.hadBegin {
		r.help()
	}
	if r.resumed == nil {
		errs[0] = lead.work(c, root, true)
	} else {
		errs[0] = lead.goOn(c, root)
	}
	if r.pool != nil {
		if errs[0] != nil {
			cancel()
		}
		r.pool.end()
		others.Wait()
	}
	return errs
}

// gather takes from the workers, which have ended, what they have left, and their engines.
func (r *run) gather() {
	if r.pool != nil {
		r.left = r.pool.queue
	}
	for _, w := range r.workers {
		w.publish()
		if w.high != nil {
			own, others := w.x.Waiting()
			for _, at := range own {
				w.high.Tree.Open(at)
			}
			r.open = append(r.open, others...)
		}
		w.hard, w.running = w.x.Aside(), w.x.Running()
		w.m, w.chain, w.ctx = nil, nil, nil // nobody runs its states any more, and the frontier needs room
		if f := w.x.Drain(); len(f.Jobs) > 0 {
			r.left = append(r.left, f)
		}
		if w.high != nil {
			w.high.Release()
		}
	}
	r.image, r.behind = nil, nil // replay needs the room, too: it has engines of its own
}

// load reads the test cases.
func (r *run) load() {
	d, err := rundir.Open(r.w.Dir())
	if err == nil {
		r.tests, _, err = d.Outlines()
	}
	r.keep(err)
}

// findHigh begins to look for the program counter of the interpreted program, while the interpreter starts.
func (r *run) findHigh() {
	if r.t.desc == nil {
		return
	}
	switch r.t.desc.Steps {
	case interp.StepsNumbers:
		r.high = hlpc.Told(hlpc.Label{})
	case interp.StepsLines:
		r.high = hlpc.Told(hlpc.Label{File: r.t.tc.Path, Numbered: true})
	}
	if r.high != nil {
		return
	}
	o := CalibrateOptions{Interpreter: r.t.tc.Interpreter, Language: r.t.desc.Language, Env: r.t.tc.Env, Boot: r.o.Boot, NoCache: r.o.NoCache, CacheDir: r.o.CacheDir}
	r.find = sync.OnceValues(func() (*hlpc.Result, error) {
		defer r.row("calibrate").Span("calibrate").End()
		return Calibrate(o)
	})
	if r.o.MaxMemory > 0 && r.o.MaxMemory < besideMemory { // one after the other
		r.found()
		debug.FreeOSMemory()
		return
	}
	go r.find()
}

// besideMemory is the least MaxMemory with which the high level is looked for while the interpreter starts, in bytes: both take 90 MB (as in Python).
const besideMemory = 128 << 20

// settle waits for what goes on beside the run, and is worth it, as long as there is time.
func (r *run) settle() {
	r.found()
	r.intime(r.saving.Wait)
}

// found waits for what find finds, as long as there is time; false if it has not found it, or does not look.
func (r *run) found() (res *hlpc.Result, err error, ok bool) {
	if r.find == nil {
		return nil, nil, false
	}
	if !r.intime(func() { res, err = r.find() }) {
		return nil, nil, false
	}
	return res, err, true
}

// intime waits for f as long as there is time; false if that was not enough.
func (r *run) intime(f func()) bool {
	c := make(chan struct{})
	go func() {
		f()
		close(c)
	}()
	select {
	case <-c:
		return true
	case <-r.timed.Done():
		return false
	}
}

// lacks notes, and says once, what the run goes without. Models only make exploration easier: what is found without one is as sound
// and as complete, so this is no reason not to be exhausted.
func (r *run) lacks(m interp.Missing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := rundir.Without{Name: m.Name, Why: m.Why}
	if slices.Contains(r.sum.Without, row) {
		return
	}
	r.sum.Without = append(r.sum.Without, row)
	if r.prog != nil {
		r.prog.say("explored without: %s", m)
	}
}

// knowHigh waits for the program counter of the interpreted program. Without it every path is one of its own.
func (r *run) knowHigh() {
	if r.find == nil || r.high != nil {
		return
	}
	res, err, ok := r.found()
	if !ok {
		return
	}
	if err != nil {
		r.find = nil
		r.lacks(interp.Missing{Name: "high level", Why: "paths are those of the interpreter: " + firstLine(err.Error())})
		return
	}
	r.high = res
}

// helper is the life of a worker beyond the first.
func (r *run) helper(c context.Context) error {
	w := r.newWorker()
	root, err := w.boot(c)
	if err == nil {
		err = w.explorer()
	}
	if err != nil {
		r.pool.leave()
		return err
	}
	r.mu.Lock()
	r.workers = append(r.workers, w)
	r.mu.Unlock()
	err = w.work(c, root, false)
	r.pool.end() // a limit is one for all
	return err
}

// begun keeps the name of the test: from here on there are test cases to emit.
func (r *run) begun() {
	r.host.Begin()
	if r.w != nil { // a rerun keeps nothing
		r.keep(r.w.WriteSummary(r.sum))
		r.saving.Go(func() { r.keepPicture() }) // if that fails the next checkpoint says so
	}
}

// begin marks the end of the boot; sys is the system where the test begins.
func (r *run) begin(sys *kernel.System, test string) {
	r.sum.Target.Name = test
	r.filesAtBegin(sys)
	r.mu.Lock()
	r.sum.BootS = time.Since(r.started).Seconds()
	r.mu.Unlock()
	r.begun()
	if !r.hadBegin {
		r.hadBegin = true
		if r.w != nil { // what is executed again begins anew
			r.saveSnapshot(sys)
		}
		r.help()
	}
}

// onTick looks at the limits that are not the explorer's own and shows progress.
func (w *worker) onTick(x *explore.Explorer) string {
	r := w.r
	if r.pool != nil && r.pool.pausing.Load() {
		w.publish()
		r.pool.park(x.Frontier())
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.why != "":
	case r.timeUp(now):
		r.why = limitTime
	case r.saveErr != nil:
		r.why = "the run directory cannot be written"
	case r.hadBegin && now.After(r.nextCheckpoint):
		r.nextCheckpoint = now
		if r.pool != nil {
			r.pool.pausing.Store(true)
			break
		}
		w.seen = w.tally()
		r.saveCheckpoint([]explore.Frontier{x.Frontier()}, nil)
	case now.Sub(w.lastMemory) > memoryEvery:
		w.lastMemory = now
		r.why = w.memory()
	case r.w == nil: // the tests of a file are listed
	case r.prog.due(now) || now.Sub(r.lastSum) > time.Second:
		w.seen = w.tally()
		r.update()
		r.prog.show(now, r)
		if now.Sub(r.lastSum) > time.Second {
			r.lastSum = now
			sum := r.sum
			r.mu.Unlock() // the disk is slow, and the others want to go on
			err := r.w.WriteSummary(sum)
			r.mu.Lock()
			r.keep(err)
		}
	}
	return r.why
}

func (r *run) keep(err error) {
	if r.saveErr == nil {
		r.saveErr = err
	}
}

// add writes the test case of a finished path, if it is the first of its high-level path or of its class, and
// returns its name. Names count up in the order of calls; files are written by all workers at once.
func (r *run) add(t testcase.Test, condition func() string, out streams, edges []uint64) string {
	if t.ID, t.Replaces = r.name(t, edges); t.ID == "" {
		return ""
	}
	t.Words = emit.Shown(r.t.tc.Kind, t.Returned)
	err := errors.Join(r.w.WriteOutput(t.OutputSHA256, out.stdout), r.w.WriteOutput(t.StderrSHA256, out.stderr))
	for _, f := range t.Files {
		if err == nil && f.SHA256 != "" {
			err = r.w.WriteOutput(f.SHA256, out.files[f.SHA256])
		}
	}
	if err == nil && r.o.SMT2 {
		err = r.w.WriteCondition(t.ID, condition())
	}
	if err == nil {
		err = r.w.Append(t)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(err)
	if t.Replaces != "" || err != nil { // what is not there does not count
		return t.ID
	}
	r.sum.Tests.Add(t.Outcome.Kind)
	if r.o.OnTest != nil {
		r.o.OnTest(t)
	}
	r.measureReplay(t)
	return t.ID
}

// name counts a finished path, which takes edges, and names its test case, and the one that this replaces; "" if it is to have none.
func (r *run) name(t testcase.Test, edges []uint64) (id, replaces string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known(t)
	r.census.count(classKey(t), t)
	r.sample()
	if known && !r.o.AllPaths && !r.newEdges(edges) {
		if replaces = r.better(t); replaces == "" {
			return "", ""
		}
	}
	r.reached(edges)
	r.named++
	t.ID = fmt.Sprintf("t%06d", r.named)
	r.stands(t)
	return t.ID, replaces
}

// sampleEvery is by what factor the instructions of a sample exceed those of the one before.
const sampleEvery = 1.1

// sample notes that a low-level path has ended; r.mu is held.
func (r *run) sample() {
	r.ended++
	n := r.budget.Retired()
	if r.resumed != nil {
		n += r.resumed.Tally.Counts.Total
	}
	if p := r.sum.Progress; len(p) == 0 || float64(n) >= sampleEvery*float64(p[len(p)-1].Instructions) {
		r.sum.Progress = append(p, rundir.Sample{Instructions: n, Low: r.ended, High: len(r.groups)})
	}
}

// known notes the high-level path and the class of t, and says whether both were there before.
func (r *run) known(t testcase.Test) bool {
	class := classKey(t)
	known := r.classes[class] && (t.Group == "" || r.groups[t.Group])
	r.classes[class] = true
	if t.Group != "" {
		r.groups[t.Group] = true
	}
	return known
}

// classKey is what the test cases of one class have in common.
func classKey(t testcase.Test) string {
	if t.Class != "" {
		return t.Class
	}
	// Those of an older version have outcome and output only.
	return fmt.Sprint(t.Outcome.Kind, "|", t.Outcome.Type, "|", t.Outcome.Signal, "|", t.Outcome.ExitStatus, "|", t.OutputSHA256)
}

// tree is the high-level tree of all workers. Require: none runs.
func (r *run) tree() *high.Tree {
	t := &high.Tree{}
	if r.resumed != nil {
		t.Merge(&r.resumed.Tree)
	}
	for _, w := range r.workers {
		if w.high != nil {
			t.Merge(&w.high.Tree)
		}
	}
	return t
}

// tally sums up the workers; r.mu is held.
func (r *run) tally() tally {
	var t tally
	if r.resumed != nil {
		k := r.resumed.Tally
		t = tally{counts: k.Counts, unmerged: k.Unmerged, symbolic: k.Symbolic, codeBytes: k.CodeBytes,
			solver: solver.Stats{Queries: k.Queries, Cached: k.Answered, Unknown: k.Unknown, Time: k.Time}}
	}
	for _, w := range r.workers {
		t = t.plus(w.seen)
	}
	return t
}

// elapsed is the time the run has taken, that before it was resumed included.
func (r *run) elapsed() time.Duration {
	d := time.Since(r.started)
	if r.resumed != nil {
		d += r.resumed.Elapsed
	}
	return d
}

// update copies the workers' counters to the summary.
func (r *run) update() {
	t := r.tally()
	r.sum.ElapsedS = r.elapsed().Seconds()
	r.sum.Paths = rundir.Paths{High: len(r.groups), Low: t.counts.Paths, Pending: t.pending, Infeasible: t.counts.Infeasible, Pruned: t.counts.Pruned}
	r.sum.CodeBytes = t.codeBytes
	r.sum.Instructions = rundir.Instructions{Boot: t.counts.Boot, Total: t.counts.Total, Symbolic: t.symbolic, Replayed: t.counts.Replayed}
	if r.t.tc.Merge {
		r.sum.Merging = &rundir.Merging{Merges: t.counts.Merges, Branches: t.counts.Merged, Forked: t.unmerged}
	}
	r.sum.Solver = rundir.Solver{Queries: t.solver.Queries, AnsweredWithoutBackend: t.solver.AnsweredWithoutBackend(), Unknown: t.solver.Unknown, TimeS: t.solver.Time.Seconds()}
}

// replay runs the test cases natively.
func (r *run) replay(c context.Context) (*replay.Report, error) {
	if r.o.NoReplay || len(r.tests) == 0 {
		return nil, nil
	}
	r.prog.note("replaying %d test cases", len(r.tests))
	opt, cleanup, err := r.replayOptions()
	if err != nil {
		return nil, err
	}
	defer cleanup()
	for _, line := range Lost() {
		once(line, func(line string) { r.prog.say("%s", line) })
	}
	n := 0
	opt.Progress = func(q replay.Result) {
		r.results.Add(q)
		if n++; r.prog.due(time.Now()) {
			r.prog.note("replayed %d of %d test cases", n, len(r.tests))
		}
	}
	opt.Known, opt.Trace = r.ranOn, r.o.Trace
	seen := &picture{PathMemory: r.pathMemory(), Answers: r.host.Record()}
	why := causesOf(r.sum, seen)
	opt.Cause, opt.Bound = why.causes, why.bound
	opt.Doubt = again{sum: r.sum, seen: seen, noCache: r.o.NoCache, cacheDir: r.o.CacheDir}.doubts
	rep, err := replay.Run(c, r.t.tc, r.tests, opt)
	r.meanwhile = kernel.Check(slices.DeleteFunc(slices.Clone(seen.Answers), func(a kernel.Answer) bool { return a.Stat == nil || a.Folder }), naming(r.t.tc))
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	switch {
	case rep.Mode == "" && c.Err() != nil:
		return &replay.Report{Mode: "none", NotReplayed: len(r.tests)}, nil
	case rep.Mode == "":
		return nil, err // nothing could be replayed
	}
	return &rep, err
}

// GuestLibrary extracts the guest libraries to a throw-away folder.
func GuestLibrary() (lib string, cleanup func(), err error) {
	dir, cleanup, err := disk.Temp("guest")
	if err != nil {
		return "", nil, err
	}
	if err := languages.Extract(filepath.Join(dir, "lib")); err != nil {
		cleanup()
		return "", nil, err
	}
	return filepath.Join(dir, "lib"), cleanup, nil
}

// finish fills in and writes the last summary; err is what went wrong, if anything, and repErr what went wrong in replay.
func (r *run) finish(rep *replay.Report, err, repErr error) {
	r.written()
	var verdicts []rundir.Verdict
	r.update()
	r.sawMemory()
	if r.sum.Replay = (rundir.Replay{NotReplayed: len(r.tests)}); rep != nil {
		r.sum.Replay, verdicts = rep.Record()
		r.short, r.refuted = rep.Ended(), refuted(verdicts)
	}
	r.sum.Findings, r.sum.Classes = r.findings(), r.foundClasses()
	for _, row := range r.premises(rep != nil, err, repErr) {
		r.sum.Hold(row.premise, row.broken...)
	}
	if r.high != nil && r.high.Told != nil && len(r.tests) > 0 && r.tree().Size() == 0 {
		r.lacks(interp.Missing{Name: "high level", Why: "paths are those of the interpreter: the guest library told of no step"})
	}
	r.sum.Conclude()
	r.sum.Finished = true
	if r.high != nil && !r.kept && r.came() {
		tree := r.tree()
		if r.pool != nil { // jobs that nobody has taken
			for _, f := range r.pool.queue {
				for _, j := range f.Jobs {
					r.open = append(r.open, j.Place.Dynamic)
				}
			}
		}
		tree.OpenAt(r.open)
		doc := tree.Doc()
		there := map[string]bool{}
		for _, t := range r.tests {
			there[t.ID] = true
		}
		doc.ReadSources(high.Syntax(r.t.desc.Syntax), sourceLines)
		doc.Keep(func(id string) bool { return there[id] })
		r.sum.Paths.Complete = doc.Complete()
		r.keep(r.w.WriteTree(doc))
		lines := tree.Lines()
		maps.DeleteFunc(lines, func(file string, _ []int) bool { // frozen modules, the guest library
			return !filepath.IsAbs(file) || strings.HasPrefix(file, languages.Root)
		})
		for _, l := range lines {
			r.sum.Lines += len(l)
		}
		r.keep(r.w.WriteCoverage(lines))
	}
	r.keep(r.keepPicture())
	if len(r.left) > 0 && !r.kept && r.came() {
		r.lastCheckpoint()
	}
	if rep != nil {
		r.keep(r.w.WriteVerdicts(verdicts))
	}
	r.keep(r.w.WriteSummary(r.sum))
	if len(r.left) == 0 && r.came() { // after the summary: a kill between leaves a run to go on with
		r.keep(r.w.WriteFrontier(nil))
	}
}

// came reports whether the run has come to its test. If not its first checkpoint stays, and whoever resumes it starts over.
func (r *run) came() bool { return r.hadBegin && r.workers[0].x.Usage == "" }

// sourceLines are the lines of a file of the program under test; none where it cannot be read, or is no file of the host.
func sourceLines(file string) []string {
	if !filepath.IsAbs(file) || strings.HasPrefix(file, languages.Root) {
		return nil
	}
	text, err := disk.Read(file)
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}

// dropped counts, by reason, what makes the result incomplete whatever is explored still; r.mu is held.
func (r *run) dropped() map[string]int {
	out := map[string]int{}
	if r.resumed != nil {
		maps.Copy(out, r.resumed.Dropped)
	}
	for _, w := range r.workers {
		for why, n := range w.x.Dropped {
			out[why] += n
		}
	}
	return out
}
