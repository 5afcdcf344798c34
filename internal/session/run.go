package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	guestlib "symchef/guest"
	"symchef/internal/explore"
	"symchef/internal/high"
	"symchef/internal/hlpc"
	"symchef/internal/kernel"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/solver"
	"symchef/internal/testcase"
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
	// halt, once done, makes queries under way give up, for Ctrl-C and --time.
	halt       context.Context
	stopSolver context.CancelFunc

	mu          sync.Mutex // guards what follows
	workers     []*worker
	sum         rundir.Summary
	prog        *progress
	started     time.Time
	limit       time.Time       // of the exploration; zero: none
	classes     map[string]bool // of test cases, by outcome and output
	groups      map[string]bool // high-level paths
	ended       int             // low-level paths
	named       int             // test cases
	lastSum     time.Time
	saveErr     error
	hadBegin    bool
	saidWithout bool           // which models of imported functions there cannot be
	cfg         kernel.Config  // of a run of a language
	image       []byte         // the system where the test begins, for further workers
	saving      sync.WaitGroup // of image in the cache
	help        func()         // starts them
	why         string         // a limit that has ended the exploration

	left           []explore.Frontier // when the exploration has ended
	open           []uint64           // likewise: where states wait that another worker has forked, see high.Tree.OpenAt
	tests          []testcase.Test    // likewise: until then they are on disk only
	resumed        *checkpoint        // where this run goes on; nil: it is new
	nextCheckpoint time.Time
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
	r, err := prepare(o, stderr)
	if err != nil {
		return 0, err
	}
	r.prog = newProgress(o.Progress, stderr)
	defer r.w.Close()
	err = r.explore(c)
	if len(r.workers) == 0 {
		return 0, err
	}
	r.load()
	var rep *replay.Report
	var repErr error
	if err == nil && r.saveErr == nil {
		rep, repErr = r.replay(c)
	}
	r.finish(rep, err)
	r.prog.done()
	if why := r.vacuous(); err == nil && r.saveErr == nil && why != "" {
		return 0, &usageError{why}
	}
	if o.JSON {
		b, _ := r.sum.Encode()
		stdout.Write(b)
	} else {
		r.print(stdout, rep)
	}
	if err = errors.Join(err, repErr, r.saveErr); err != nil {
		return 0, err
	}
	return r.status(c, rep), nil
}

// prepare resolves what o asks for and opens the run directory.
func prepare(o *Options, stderr io.Writer) (*run, error) {
	if o.Resume != "" {
		return resume(o)
	}
	t, err := resolve(o)
	if err != nil {
		return nil, err
	}
	if t.found != nil {
		for _, n := range t.found.Notes {
			fmt.Fprintln(stderr, "symchef:", n)
		}
		if why := t.found.Image.Without; why != "" {
			fmt.Fprintln(stderr, "symchef:", why)
		}
	}
	if o.Out == "" {
		o.Out = defaultOut(t)
	}
	r := newRun(o, t)
	r.sum = rundir.Summary{SchemaVersion: rundir.SchemaVersion, Test: t.name, Target: t.tc, Strategy: o.Strategy, Seed: o.Seed, WhyNotExhausted: []string{"the run has not finished"}}
	r.sum.Interpreter.Path = t.tc.Executable()
	if t.found != nil {
		r.sum.Interpreter.Version, r.sum.Interpreter.BuildID = t.found.Version, t.found.Image.BuildID
	}
	if r.w, err = rundir.Create(o.Out, r.sum); err != nil {
		return nil, &usageError{err.Error()}
	}
	return r, nil
}

func newRun(o *Options, t *target) *run {
	halt, stop := context.WithCancel(context.Background())
	return &run{o: o, t: t, host: kernel.NewHost(), halt: halt, stopSolver: stop, started: time.Now(),
		classes: map[string]bool{}, groups: map[string]bool{},
		hadBegin: t.tc.Kind == testcase.Program, // its first instruction
		budget:   &explore.Budget{Instructions: o.Instructions, Paths: o.MaxPaths}}
}

// explore boots the target and explores it with all workers.
func (r *run) explore(c context.Context) error {
	if r.o.Workers > 1 {
		r.pool = newPool(r.checkpoint)
	}
	limitMemory(r.o.MaxMemory)
	r.findHigh()
	defer r.settle()
	if r.o.Complete {
		if r.knowHigh(); r.high == nil {
			return &usageError{"--completeness complete: the high level is not known, so there are no high-level states"}
		}
	}
	lead := r.newWorker()
	if r.resumed != nil {
		if err := lead.toBegin(c); err != nil {
			return err
		}
		lead = r.newWorker()
	}
	root, err := lead.boot(c)
	if err != nil {
		return err
	}
	if err := lead.explorer(); err != nil {
		return &usageError{err.Error()}
	}
	r.workers = []*worker{lead}
	if r.hadBegin {
		r.sum.FromSnapshot = r.image != nil
		r.sum.BootS = time.Since(r.started).Seconds()
		r.begun()
	}
	c, cancel := context.WithCancel(c)
	defer cancel()
	defer context.AfterFunc(c, r.stopSolver)()
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
		errs[0] = lead.goOn(c, root, r.resumed.Frontiers)
	}
	if r.pool != nil {
		if errs[0] != nil {
			cancel()
		}
		r.pool.end()
		others.Wait()
	}
	if r.o.OnEnd != nil {
		r.o.OnEnd(lead.x)
	}
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
		w.m, w.chain, w.ctx = nil, nil, nil // nobody runs its states any more, and the frontier needs room
		if f := w.x.Drain(); len(f.Jobs) > 0 {
			r.left = append(r.left, f)
		}
	}
	return errors.Join(errs...)
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
	o := CalibrateOptions{Interpreter: r.t.tc.Interpreter, Language: r.t.desc.Language, Env: r.t.tc.Env, Boot: r.o.Boot, NoCache: r.o.NoCache, CacheDir: r.o.CacheDir}
	r.find = sync.OnceValues(func() (*hlpc.Result, error) { return Calibrate(o) })
	go r.find()
}

// settle waits for what goes on beside the run.
func (r *run) settle() {
	if r.find != nil {
		r.find()
	}
	r.saving.Wait()
}

// knowHigh waits for the program counter of the interpreted program. Without it every path is one of its own.
func (r *run) knowHigh() {
	if r.find == nil || r.high != nil {
		return
	}
	res, err := r.find()
	if err != nil {
		r.find = nil
		r.prog.say("the high level is not known, paths are those of the interpreter: %v", err)
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

// begun starts the clock of the exploration, for queries under way too, and
// keeps the name of the test: from here on there are test cases to emit.
func (r *run) begun() {
	if r.w != nil { // a rerun keeps nothing
		r.keep(r.w.WriteSummary(r.sum))
	}
	if r.o.Time > 0 {
		r.limit = time.Now().Add(r.o.Time)
		time.AfterFunc(r.o.Time, r.stopSolver)
	}
}

// begin marks the end of the boot; sys is the system where the test begins.
func (r *run) begin(sys *kernel.System, test string) {
	r.sum.Target.Name = test
	r.sum.BootS = time.Since(r.started).Seconds()
	r.begun()
	if !r.hadBegin {
		r.hadBegin = true
		r.saveSnapshot(sys)
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
	case !r.limit.IsZero() && now.After(r.limit):
		r.why = "limit: --time"
	case r.saveErr != nil:
		r.why = "the run directory cannot be written"
	case r.hadBegin && now.After(r.nextCheckpoint):
		r.nextCheckpoint = now
		if r.pool != nil {
			r.pool.pausing.Store(true)
			break
		}
		w.seen = w.tally()
		r.saveCheckpoint([]explore.Frontier{x.Frontier()})
	case now.Sub(w.lastMemory) > memoryEvery:
		w.lastMemory = now
		r.why = w.memory()
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
func (r *run) add(t testcase.Test, condition func() string, output []byte) string {
	if t.ID = r.name(t); t.ID == "" {
		return ""
	}
	err := r.w.WritePath(t.ID, condition(), output)
	if err == nil {
		err = r.w.Append(t)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(err)
	r.sum.Tests.Add(t.Outcome.Kind)
	if r.o.OnTest != nil {
		r.o.OnTest(t)
	}
	return t.ID
}

// name counts a finished path and names its test case; "" if it is to have none.
func (r *run) name(t testcase.Test) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known(t)
	r.sample()
	if known && !r.o.AllPaths {
		return ""
	}
	r.named++
	return fmt.Sprintf("t%06d", r.named)
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

// known notes the high-level path and the class of t, by outcome and output, and says whether both were there before.
func (r *run) known(t testcase.Test) bool {
	class := fmt.Sprint(t.Outcome.Kind, "|", t.Outcome.Type, "|", t.Outcome.Signal, "|", t.Outcome.ExitStatus, "|", t.OutputSHA256)
	known := r.classes[class] && (t.Group == "" || r.groups[t.Group])
	r.classes[class] = true
	if t.Group != "" {
		r.groups[t.Group] = true
	}
	return known
}

// tree is the high-level tree of all workers. Require: none runs.
func (r *run) tree() *high.Tree {
	t := &high.Tree{}
	if r.resumed != nil {
		t.Merge(&r.resumed.Tree)
	}
	for _, w := range r.workers {
		t.Merge(&w.high.Tree)
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
	if r.o.NoReplay || len(r.tests) == 0 || c.Err() != nil {
		return nil, nil
	}
	r.prog.note("replaying %d test cases", len(r.tests))
	opt := replay.Options{Unconfined: r.o.Unconfined}
	if r.t.desc != nil {
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
	if rep.Mode == "" {
		return nil, err // nothing could be replayed
	}
	return &rep, err
}

// GuestLibrary extracts the guest libraries to a throw-away folder.
func GuestLibrary() (lib string, cleanup func(), err error) {
	dir, err := os.MkdirTemp("", "symchef-guest-")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() { os.RemoveAll(dir) }
	if err := guestlib.Extract(filepath.Join(dir, "lib")); err != nil {
		cleanup()
		return "", nil, err
	}
	return filepath.Join(dir, "lib"), cleanup, nil
}

// finish fills in and writes the last summary; err is what went wrong, if anything.
func (r *run) finish(rep *replay.Report, err error) {
	r.update()
	r.sawMemory()
	r.sum.WhyNotExhausted = r.whyNot()
	if u := r.workers[0].x.Usage; u != "" {
		r.sum.WhyNotExhausted = append(r.sum.WhyNotExhausted, u)
	}
	if err != nil {
		r.sum.WhyNotExhausted = append(r.sum.WhyNotExhausted, firstLine(err.Error()))
	}
	r.sum.Exhausted = len(r.sum.WhyNotExhausted) == 0
	r.sum.Finished = true
	if r.high != nil {
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
		r.sum.Paths.Complete = doc.Complete()
		r.keep(r.w.WriteTree(doc))
		lines := tree.Lines()
		maps.DeleteFunc(lines, func(file string, _ []int) bool { // frozen modules, the guest library
			return !filepath.IsAbs(file) || strings.HasPrefix(file, guestlib.Root)
		})
		for _, l := range lines {
			r.sum.Lines += len(l)
		}
		r.keep(r.w.WriteCoverage(lines))
	}
	if len(r.left) > 0 {
		r.saveCheckpoint(r.left)
	}
	if rep != nil {
		var verdicts []rundir.Verdict
		r.sum.Replay, verdicts = rep.Record()
		r.keep(r.w.WriteVerdicts(verdicts))
	}
	r.keep(r.w.WriteSummary(r.sum))
	if len(r.left) == 0 { // after the summary: a kill between leaves a run to go on with
		r.keep(r.w.WriteFrontier(nil))
	}
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

// whyNot lists the reasons why the result is not complete, sorted; empty when it is.
func (r *run) whyNot() []string {
	reasons := map[string]bool{}
	for why, n := range r.dropped() {
		if n > 1 {
			why = fmt.Sprintf("%s (%d times)", why, n)
		}
		reasons[why] = true
	}
	pending := 0
	for _, f := range r.left {
		pending += len(f.Jobs)
	}
	for _, w := range r.workers {
		if w.x.Stopped != "" {
			reasons[w.x.Stopped] = true
		}
	}
	if pending > 0 {
		reasons[count(pending, "pending state")+" not explored"] = true
	}
	return slices.Sorted(maps.Keys(reasons))
}
