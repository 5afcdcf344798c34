// Package replay runs generated test cases natively, on the stock interpreter
// or as the stock program, and compares how they end and what they print with
// what the machine saw.
//
//	func main() {
//		replay.MaybeConfineChild() // first thing: the sandbox re-executes us
//		...
//		rep, err := replay.Run(ctx, target, tests, replay.Options{GuestLib: lib})
//	}
//
// Generated inputs are hostile, so every run is confined (see Mode). One test
// goes through these processes:
//
//	symchef ──► symchef-confine ──────► symchef-confine-exec ──► interpreter
//	           namespaces, mounts;     limits, ASLR off, rights
//	           waits, kills, reports   given up; then execve
//
// Where several tests of a language are replayed, the interpreter is started once and makes a clone of itself for each (see server). A clone
// that agrees with the machine settles its test; all else is what starts of their own say.
//
// Glossary: n a Native run, g the Target, sp the spec handed to the child.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/disk"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
	"symchef/internal/timeline"
)

// Limits bound one native run. The zero value of a field means its default.
type Limits struct {
	Time      time.Duration // wall clock, then the outcome is hang; 10 s
	CPU       time.Duration // processor time of a process, rounded up to seconds; Time + 1 s
	Busy      time.Duration // processor time of all together, then the outcome is hang; 0: no limit
	Memory    uint64        // bytes, of one process (RLIMIT_DATA) and of all together; 4 GiB
	FileSize  uint64        // bytes of the largest file; 64 MiB
	Disk      uint64        // bytes of all files together; 256 MiB
	Processes uint64        // processes and threads together; 256
	Output    int64         // bytes of standard output, and of standard error; 64 MiB, beyond which the machine ends a path
}

// output is what is said of too much of it.
func (l Limits) output() string { return fmt.Sprintf("%d MiB of output", l.Output>>20) }

// String names those of sizes and numbers that are not 0, for people.
func (l Limits) String() string {
	var out []string
	add := func(v uint64, name string) {
		if v > 0 {
			out = append(out, fmt.Sprintf(name, v))
		}
	}
	add(l.FileSize>>20, "%d MiB in a file")
	add(l.Disk>>20, "%d MiB of files")
	add(l.Processes, "%d processes and threads")
	return strings.Join(out, " and ")
}

func (l Limits) withDefaults() Limits {
	if l.Time == 0 {
		l.Time = 10 * time.Second
	}
	if l.CPU == 0 {
		l.CPU = l.Time + time.Second
	}
	set := func(v *uint64, def uint64) {
		if *v == 0 {
			*v = def
		}
	}
	set(&l.Memory, 4<<30)
	set(&l.FileSize, 64<<20)
	set(&l.Disk, 256<<20)
	set(&l.Processes, 256)
	if l.Output == 0 {
		l.Output = 64 << 20
	}
	return l
}

// Options say how to replay.
type Options struct {
	// GuestLib is the directory, on the host, with the guest libraries:
	// the natively readable copy of testcase.GuestRoot. Required for
	// targets that are no programs.
	GuestLib string
	Limits   Limits
	// Parallel is how many tests run at a time; 0 means 2.
	Parallel int
	// Mode forces one kind of confinement; empty takes the best there is.
	Mode Mode
	// Unconfined permits to run without confinement if the kernel offers none.
	Unconfined bool
	// Cause, if set, says what the outcome of a test that disagrees depends on though it is no input ("the clock"); empty if on nothing
	// that it knows. Such a test is unstable, whatever its native runs say. Where nothing was found and cut says why not everything was tried, it is not
	// compared. For one that agrees, it is told what Doubt says of it. It is called by several goroutines, when all tests have run.
	Cause func(_ context.Context, _ testcase.Test, _ Doubt) (cause, cut string)
	// Bound, if set, says which of these limits keep a test that disagrees from doing what it does in the machine; empty if none. Such a test is not
	// compared.
	Bound func(context.Context, testcase.Test, Limits) string
	// Doubt, if set, says which of the tests that agree do something else at another moment or on another host: these are unstable, too.
	Doubt func(context.Context, []testcase.Test) []Doubt
	// Known, if set, is the result of a test that has run already and agrees. It is called by several goroutines.
	Known func(testcase.Test) (Result, bool)
	// Loops are those of hangs that have run already, see HangBusy.
	Loops map[testcase.Text]bool
	// Shown, if set, is a value in the words of the target's language.
	Shown func(testcase.Value) string
	// Fresh starts the program anew for every run.
	Fresh bool
	// Settle, if set, brings the summary of a run directory up to date, see Dir.
	Settle func(*rundir.Summary, *Report)
	// Trace is where it is written which test ran when; nil: nowhere.
	Trace *timeline.Log
	// Progress, if set, is called after each test, from one goroutine at a
	// time.
	Progress func(Result)
}

// A Doubt is what becomes of a test that agrees where what is no input is another.
type Doubt uint8

// The doubts.
const (
	NoDoubt Doubt = iota
	// Unseen: it was not executed elsewhere, nor was any that has asked all that it has.
	Unseen
	// Undecided: it shows the same wherever it was executed, and the search for other moments did not come to its end. One that did is
	// no proof of NoDoubt: where the solver gives up, it believes a number of moments that agree.
	Undecided
	// OtherWay: it shows the same, by another path. What that path asks about the inputs no path of the run may have asked.
	OtherWay
	// OtherEnd: it shows something else.
	OtherEnd
)

// Verdict is what replay says of one test case.
type Verdict string

// The verdicts.
const (
	// Agreed: outcome and output are what the machine saw.
	Agreed Verdict = "agreed"
	// Diverged: the native runs agree among themselves, not with the machine.
	Diverged Verdict = "diverged"
	// Unstable: the outcome depends on what is no input: native runs disagree among themselves, or Options.Cause knows what it is.
	Unstable Verdict = "unstable"
	// Skipped: there is nothing to compare with; the machine could not go on
	// or ended the path by a limit.
	Skipped Verdict = "skipped"
)

// A Result is the verdict on one test case.
type Result struct {
	ID      string
	Verdict Verdict
	// Why says in one line what differs; of what Agreed, on what its path depends, or nothing.
	Why string
	// Machine is the outcome in the machine.
	Machine testcase.Outcome
	// Doubt is what is said of what Agreed; it is not OtherEnd.
	Doubt Doubt
	// Cloned says that the run was a clone of a program that had been started once for several test cases.
	Cloned bool
	// Limits are those of a run.
	Limits Limits
	// Runs are the native runs: one if Agreed, several if Diverged or Unstable.
	Runs []Native

	open bool // its one run disagrees, and nobody has asked why
}

// Ends reports whether the machine gave the test case up as too long and natively it came to an end: then the machine's outcome is not its.
func (r Result) Ends() bool { return r.Verdict == Skipped && r.Machine.LongOnly() }

// A Report is the verdict on a batch, in the order of the batch.
type Report struct {
	Mode                                Mode
	Agreed, Diverged, Unstable, Skipped int
	NotReplayed                         int // ctx ended before
	OtherWay, Undecided, Unseen         int // of those that agreed
	// Cloned is how many agreed in a clone of a server; Anew says why a server ended, or was none, if one did.
	Cloned  int
	Anew    string
	Results []Result
}

// Run replays tests of target. An error means that replay could not work
// (errors.Is(err, ErrNoConfinement), a missing interpreter, ctx cancelled);
// what the tests did is never an error. With an error the report holds the
// results so far.
func Run(ctx context.Context, target testcase.Target, tests []testcase.Test, opt Options) (Report, error) {
	opt.Limits = opt.Limits.withDefaults()
	if err := target.Check(); err != nil {
		return Report{}, err
	}
	if target.Kind != testcase.Program && opt.GuestLib == "" {
		return Report{}, fmt.Errorf("replay of a %s test needs the guest library", target.Kind)
	}
	if target.Kind == testcase.Program {
		opt.GuestLib = ""
	}
	mode, err := choose(ctx, opt)
	if err != nil {
		return Report{}, err
	}
	opt.Mode = mode
	if opt.Parallel <= 0 {
		opt.Parallel = 2
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]Result, len(tests))
	b := batch{tests: tests, opt: opt, cancel: cancel, results: results, next: make(chan int), open: make(chan int),
		workers: min(opt.Parallel, max(len(tests), 1), affordable())}
	shared := &servers{}
	order := lastHangs(tests)
	b.limits = opt.limits(tests, order)
	b.left.Store(int64(len(tests)))
	b.first.Add(b.workers)
	var all sync.WaitGroup
	for i := range b.workers {
		all.Go(func() {
			w := newWorker(target, opt, shared)
			defer w.close()
			b.work(ctx, w, opt.Trace.Track(fmt.Sprintf("replay %d", i+1)))
		})
	}
	for _, i := range order {
		if ctx.Err() != nil {
			break
		}
		b.next <- i
	}
	close(b.next)
	b.first.Wait()
	for _, i := range order {
		if results[i].open {
			b.open <- i
		}
	}
	close(b.open)
	all.Wait()
	doubting := opt.Trace.Track("other worlds").Span("other worlds")
	doubt(ctx, tests, results, opt)
	doubting.End()

	rep := reportOf(mode, results, len(tests))
	rep.Anew = shared.why
	return rep, context.Cause(ctx)
}

// batch is the test cases of one replay, which workers take.
type batch struct {
	tests   []testcase.Test
	limits  []Limits
	opt     Options
	workers int
	cancel  context.CancelCauseFunc

	next, open chan int       // what runs, and then what of it disagrees
	first      sync.WaitGroup // until all of next has run
	left       atomic.Int64   // cases that nobody has taken

	mu      sync.Mutex // guards results and calls of Progress
	results []Result
}

// work is one worker: first all test cases run, then those that disagree are looked into.
func (b *batch) work(ctx context.Context, w *worker, row *timeline.Track) {
	for i := range b.next {
		running := row.Span("replay " + b.tests[i].ID)
		r, err := w.one(ctx, b.tests[i], b.limits[i], int(b.left.Add(-1)) >= b.workers)
		running.End("verdict", r.Verdict, "why", r.Why, "runs", len(r.Runs), "cloned", r.Cloned)
		if err != nil {
			b.cancel(fmt.Errorf("test %s: %w", b.tests[i].ID, err))
			continue
		}
		b.settled(i, r)
	}
	b.first.Done()
	for i := range b.open { // nobody waits for the other worlds of another
		running := row.Span("why " + b.tests[i].ID)
		r, err := w.disagrees(ctx, b.tests[i], b.results[i])
		running.End("verdict", r.Verdict, "why", r.Why, "runs", len(r.Runs))
		if err != nil && ctx.Err() == nil {
			b.cancel(fmt.Errorf("test %s: %w", b.tests[i].ID, err))
			r = Result{}
		}
		b.settled(i, r)
	}
}

// settled notes the result of test i, and tells it unless it is to be looked into.
func (b *batch) settled(i int, r Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.results[i] = r
	if b.opt.Progress != nil && !r.open && r.Verdict != "" {
		b.opt.Progress(r)
	}
}

// Results are what a replay that goes on has shown so far.
type Results struct {
	mu   sync.Mutex
	list []Result
}

// Add is for Options.Progress.
func (s *Results) Add(r Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, r)
}

// Report is the report on them, by the names of their tests, of which there are n.
func (s *Results) Report(n int) Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(s.list, func(a, b Result) int { return cmp.Compare(a.ID, b.ID) })
	return reportOf("", s.list, n)
}

// reportOf is the report on a batch of n tests of which results are known; one without a verdict is not.
func reportOf(mode Mode, results []Result, n int) Report {
	rep := Report{Mode: mode, NotReplayed: n}
	for _, r := range results {
		if r.Verdict != "" {
			rep.add(r)
		}
	}
	return rep
}

// Descriptors that a worker has open at most: pipes to its server and to a start beside it, streams, folders; and those of all else in this process.
const (
	workerFiles = 16
	otherFiles  = 32
)

// affordable is how many workers have the descriptors that they need; one may try in any case.
func affordable() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 1
	}
	return int(max(min(l.Cur, 1<<20), otherFiles+workerFiles)-otherFiles) / workerFiles
}

// lastHangs is the order in which tests run: what is thought to hang takes its whole time, and must not take that of others.
func lastHangs(tests []testcase.Test) []int {
	order := make([]int, len(tests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		hang := func(i int) int {
			if tests[i].Outcome.Kind == testcase.Hang {
				return 1
			}
			return 0
		}
		return hang(a) - hang(b)
	})
	return order
}

// How much processor time, or time in all, a hang takes natively.
const (
	// HangBusy is for one that is not proved: in it a processor executes more than the thousand million instructions that make a path a hang in the
	// machine by themselves.
	HangBusy = time.Second
	// likeBusy is for one more in the same loop.
	likeBusy = HangBusy / 4
	// provedBusy and provedTime are for one that is proved: only an end would be news.
	provedBusy = HangBusy / 4
	provedTime = time.Second
	// startBusy is what the start of an interpreter takes, where it is not that of a server.
	startBusy = time.Second
)

// limits are those of each test; they run in this order.
func (o *Options) limits(tests []testcase.Test, order []int) []Limits {
	out := make([]Limits, len(tests))
	seen := map[testcase.Text]bool{}
	maps.Copy(seen, o.Loops)
	for _, i := range order {
		out[i] = o.Limits
		end, loop := tests[i].Outcome, tests[i].Loop
		if end.Kind != testcase.Hang {
			continue
		}
		switch {
		case end.ProvedHang():
			out[i].Busy, out[i].Time = provedBusy, min(o.Limits.Time, provedTime)
		case loop != "" && seen[loop]:
			out[i].Busy = likeBusy
		default:
			out[i].Busy = HangBusy
			seen[loop] = true
		}
	}
	return out
}

// Record is the report as a run directory keeps it.
func (rep *Report) Record() (rundir.Replay, []rundir.Verdict) {
	v := make([]rundir.Verdict, len(rep.Results))
	for i, r := range rep.Results {
		v[i] = rundir.Verdict{ID: r.ID, Verdict: string(r.Verdict), Why: r.Why}
	}
	return rundir.Replay{Agreed: rep.Agreed, Diverged: rep.Diverged, Unstable: rep.Unstable, NotCompared: rep.Skipped, NotReplayed: rep.NotReplayed, Ended: len(rep.Ended()), OtherWay: rep.OtherWay, Undecided: rep.Undecided, Unseen: rep.Unseen}, v
}

// Ended names the test cases that were given up as too long and come to an end natively.
func (rep *Report) Ended() (ids []string) {
	for _, r := range rep.Results {
		if r.Ends() {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Unfit is what the guest library said where a test did not take its inputs, or could not be loaded; "" where all did.
func (rep *Report) Unfit() string {
	for _, q := range rep.Results {
		for _, n := range q.Runs {
			if n.Outcome.Kind == unfit {
				return n.Outcome.Message
			}
		}
	}
	return ""
}

func (rep *Report) add(r Result) {
	rep.Results = append(rep.Results, r)
	rep.NotReplayed--
	if r.Cloned {
		rep.Cloned++
	}
	switch r.Verdict {
	case Agreed:
		rep.Agreed++
		switch {
		case r.Doubt == Unseen:
			rep.Unseen++
		case r.Doubt == Undecided:
			rep.Undecided++
		case r.Doubt != NoDoubt:
			rep.OtherWay++
		}
	case Diverged:
		rep.Diverged++
	case Unstable:
		rep.Unstable++
	case Skipped:
		rep.Skipped++
	}
}

// extraRuns is how often a test that disagrees is run again, at other addresses each time: what depends on
// them, as the order of a hash table may, is no property of the test.
const extraRuns = 4

// patient is how many times longer a run may take before a hang that the machine does not know is believed: the host may have had
// much else to do. What computes ends at its limit of processor time even so.
const patient = 5

// one replays t: in a clone of the server, which may be started for it; and where that shows anything else than the machine, by a start of its own. Where that does, too, the result is open.
func (w *worker) one(ctx context.Context, t testcase.Test, limits Limits, start bool) (Result, error) {
	r := Result{ID: t.ID, Machine: t.Outcome, Limits: limits}
	if why := incomparable(t); why != "" {
		r.Verdict, r.Why = Skipped, why
		return r, nil
	}
	if w.opt.Known != nil {
		if known, ok := w.opt.Known(t); ok {
			return known, nil
		}
	}
	if n, ok := w.fork(ctx, t, start, limits); ok && w.opt.difference(t.Observation, n) == "" {
		r.Verdict, r.Runs, r.Cloned = Agreed, []Native{n}, true
		return r, nil
	}
	runs := w.starts(ctx, t, &r)
	if err := runs.one(false); err != nil {
		return r.died(err)
	}
	if r.Why = w.opt.difference(t.Observation, r.Runs[0]); r.Why == "" {
		r.Verdict = Agreed
		return r, nil
	}
	end := r.Runs[0].Outcome
	if t.Outcome.LongOnly() && r.Runs[0].Exceeded != "" { // nor did it end there by itself
		r.Verdict, r.Why = Agreed, ""
		return r, nil
	}
	if t.Outcome.LongOnly() && end.Kind != testcase.Hang {
		r.Verdict, r.Why = Skipped, fmt.Sprintf("natively it ends, %v: --path-instructions was too few for it", end)
		return r, nil
	}
	if what := w.beyond(t, r.Runs[0], runs.opt.Limits); what != "" {
		r.Verdict, r.Why = Skipped, "it takes more than replay allows: "+what
		return r, nil
	}
	r.Verdict, r.open = Diverged, true
	return r, nil
}

// starts makes runs of a test from starts of their own, and adds them to its result.
type starts struct {
	w      *worker
	ctx    context.Context
	t      testcase.Test
	r      *Result
	opt    Options
	waited bool // as long as a hang may take
}

func (w *worker) starts(ctx context.Context, t testcase.Test, r *Result) *starts {
	s := &starts{w: w, ctx: ctx, t: t, r: r, opt: w.opt}
	if s.opt.Limits = r.Limits; r.Limits.Busy > 0 && w.target.Kind != testcase.Program {
		s.opt.Limits.Busy += startBusy
	}
	return s
}

func (s *starts) one(randomize bool) error {
	w := s.w
	n, err := native(s.ctx, w.target, s.t, s.opt, randomize)
	if errors.Is(err, errDied) { // by chance, or by what the test does?
		n, err = native(s.ctx, w.target, s.t, s.opt, randomize)
	}
	if longer := patient * w.opt.Limits.Time; err == nil && n.Outcome.Kind == testcase.Hang && s.opt.Limits.Time < longer && !s.waited && w.opt.difference(s.t.Observation, n) != "" {
		s.opt.Limits.Time, s.waited = longer, true
		n, err = native(s.ctx, w.target, s.t, s.opt, randomize)
	}
	if err == nil {
		s.r.Runs = append(s.r.Runs, n)
	}
	return err
}

// disagrees says why the first run of t, which r is of, disagrees. Where it has no time to find out, t is not compared.
func (w *worker) disagrees(ctx context.Context, t testcase.Test, r Result) (Result, error) {
	r.open = false
	cut := func(why string) Result {
		r.Verdict, r.Why = Skipped, "what it depends on was not found, "+why+": "+r.Why
		return r
	}
	if ctx.Err() != nil {
		return cut("since the replay was over"), ctx.Err()
	}
	runs := w.starts(ctx, t, &r)
	if w.opt.Bound != nil {
		if what := w.opt.Bound(ctx, t, runs.opt.Limits); what != "" {
			r.Verdict, r.Why = Skipped, "it takes more than replay allows: "+what
			return r, nil
		}
	}
	more := extraRuns
	if r.Runs[0].Outcome.Kind == testcase.Hang { // which takes all its time, and has had it
		more, runs.waited = 1, true
	}
	for range more {
		err := runs.one(true)
		if ctx.Err() != nil {
			return cut("since the replay was over"), ctx.Err()
		}
		if err != nil {
			return r.died(err)
		}
		if why := w.opt.difference(r.Runs[0].Observation, r.Runs[len(r.Runs)-1]); why != "" {
			r.Verdict, r.Why = Unstable, "native runs differ: "+why
			break
		}
	}
	if w.opt.Cause == nil {
		return r, nil
	}
	switch cause, why := w.opt.Cause(ctx, t, OtherEnd); {
	case cause != "":
		r.Verdict, r.Why = Unstable, "it depends on "+cause+": "+r.Why
	case why != "" && r.Verdict == Diverged:
		return cut(why), nil
	}
	return r, nil
}

// died is r, of a test of which a run failed: where only its confine child did, that is a matter of this test.
func (r Result) died(err error) (Result, error) {
	if !errors.Is(err, errDied) {
		return r, err
	}
	r.Verdict, r.Why = Skipped, err.Error()
	return r, nil
}

// beyond says which of its limits keeps n, a run of t, from doing what t does in the machine; empty: none that is known.
func (w *worker) beyond(t testcase.Test, n Native, l Limits) string {
	if n.Exceeded != "" {
		return n.Exceeded
	}
	whole := n.Outcome.Signal != "SIGXFSZ" // no file was cut off
	for _, f := range t.Files {
		whole = whole && (f.Change != testcase.Made || f.Size <= int64(l.FileSize))
	}
	for _, f := range n.Files {
		whole = whole && f.Size != int64(l.FileSize)
	}
	if !whole {
		return Limits{FileSize: l.FileSize}.String()
	}
	if n.Reached != "" {
		return n.Reached
	}
	if what := n.Unlooked(); what != "" {
		return what
	}
	if what := lowered(l); what != "" {
		return what
	}
	return w.room(t)
}

// room says that the host's folder for temporary files has no room for the files of t, which stand there where nothing else is to be written.
func (w *worker) room(t testcase.Test) string {
	if w.opt.Mode != Landlock {
		return ""
	}
	need := uint64(0)
	for _, f := range t.Files {
		need += uint64(max(f.Size, 0))
	}
	if have := disk.Room(os.TempDir()); need > have {
		return fmt.Sprintf("the %d MiB of room that %s has", have>>20, os.TempDir())
	}
	return ""
}

// unknown says of doubts what is not known.
var unknown = map[Doubt]string{
	Unseen:    "whether it does the same at other moments and on other hosts was not looked at",
	Undecided: "whether it depends on the clock is not decided",
}

// doubt looks at results, those of tests, which agree.
func doubt(ctx context.Context, tests []testcase.Test, results []Result, opt Options) {
	var agreed []testcase.Test
	var at []int
	for i := range results {
		if results[i].Verdict == Agreed {
			agreed, at = append(agreed, tests[i]), append(at, i)
		}
	}
	if opt.Doubt == nil || len(agreed) == 0 {
		return
	}
	for i, d := range opt.Doubt(ctx, agreed) {
		if d == NoDoubt {
			continue
		}
		r := &results[at[i]]
		if why := unknown[d]; why != "" {
			r.Doubt, r.Why = d, why
			continue
		}
		on := "what is no input"
		if opt.Cause != nil {
			cause, _ := opt.Cause(ctx, agreed[i], d)
			on = cmp.Or(cause, on)
		}
		if d == OtherEnd {
			r.Verdict, r.Why = Unstable, "it depends on "+on+": it agrees, but not at every moment and on every host"
		} else {
			r.Doubt, r.Why = d, "its path depends on "+on
		}
	}
}

// incomparable says why there is nothing to compare test t with, or is empty.
func incomparable(t testcase.Test) string {
	switch {
	case t.Outcome.Kind == testcase.Unsupported:
		return "the machine could not go on: " + t.Outcome.String()
	case t.EndedBy != "" && t.Outcome.Kind != testcase.Hang:
		return "ended by a limit: " + t.EndedBy
	case t.Unlooked() != "":
		return "it leaves more than is looked at: " + t.Unlooked()
	}
	return ""
}

// difference says in one line where the native run n leaves what was seen; empty if nowhere.
func (o *Options) difference(seen testcase.Observation, n Native) string {
	d := seen.Difference(n.Observation)
	if d == nil {
		return ""
	}
	return d.Show(o.Shown, "then natively")
}
