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
// Glossary: n a Native run, g the Target, sp the spec handed to the child.
package replay

import (
	"context"
	"fmt"
	"sync"
	"time"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// Limits bound one native run. The zero value of a field means its default.
type Limits struct {
	Time      time.Duration // wall clock, then the outcome is hang; 10 s
	CPU       time.Duration // processor time, rounded up to seconds; Time + 1 s
	Memory    uint64        // bytes of address space (RLIMIT_AS); 4 GiB
	FileSize  uint64        // bytes of the largest file; 64 MiB
	Disk      uint64        // bytes of all files together (namespaces only); 256 MiB
	Processes uint64        // processes and threads (namespaces only); 256
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
	// Progress, if set, is called after each test, from one goroutine at a
	// time.
	Progress func(Result)
}

// Verdict is what replay says of one test case.
type Verdict string

// The verdicts.
const (
	// Agreed: outcome and output are what the machine saw.
	Agreed Verdict = "agreed"
	// Diverged: the native runs agree among themselves, not with the machine.
	Diverged Verdict = "diverged"
	// Unstable: native runs disagree among themselves.
	Unstable Verdict = "unstable"
	// Skipped: there is nothing to compare with; the machine could not go on
	// or ended the path by a limit.
	Skipped Verdict = "skipped"
)

// A Result is the verdict on one test case.
type Result struct {
	ID      string
	Verdict Verdict
	// Why says in one line what differs; empty if Agreed.
	Why string
	// Machine is the outcome in the machine.
	Machine testcase.Outcome
	// Runs are the native runs: one if Agreed, several if Diverged or Unstable.
	Runs []Native
}

// A Report is the verdict on a batch, in the order of the batch.
type Report struct {
	Mode                                Mode
	Agreed, Diverged, Unstable, Skipped int
	Results                             []Result
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
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards calls of Progress
	for range min(opt.Parallel, max(len(tests), 1)) {
		wg.Go(func() {
			for i := range next {
				r, err := one(ctx, target, tests[i], opt)
				if err != nil {
					cancel(fmt.Errorf("test %s: %w", tests[i].ID, err))
					continue
				}
				mu.Lock()
				results[i] = r
				if opt.Progress != nil {
					opt.Progress(r)
				}
				mu.Unlock()
			}
		})
	}
	for i := range tests {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()

	rep := Report{Mode: mode}
	for _, r := range results {
		if r.Verdict != "" {
			rep.add(r)
		}
	}
	return rep, context.Cause(ctx)
}

// Record is the report as a run directory keeps it.
func (rep *Report) Record() (rundir.Replay, []rundir.Verdict) {
	v := make([]rundir.Verdict, len(rep.Results))
	for i, r := range rep.Results {
		v[i] = rundir.Verdict{ID: r.ID, Verdict: string(r.Verdict), Why: r.Why}
	}
	return rundir.Replay{Agreed: rep.Agreed, Diverged: rep.Diverged, Unstable: rep.Unstable}, v
}

func (rep *Report) add(r Result) {
	rep.Results = append(rep.Results, r)
	switch r.Verdict {
	case Agreed:
		rep.Agreed++
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

func one(ctx context.Context, g testcase.Target, t testcase.Test, opt Options) (Result, error) {
	r := Result{ID: t.ID, Machine: t.Outcome}
	if why := incomparable(t); why != "" {
		r.Verdict, r.Why = Skipped, why
		return r, nil
	}
	run := func(randomize bool) error {
		n, err := native(ctx, g, t, opt, randomize)
		if err == nil {
			r.Runs = append(r.Runs, n)
		}
		return err
	}
	if err := run(false); err != nil {
		return r, err
	}
	if r.Why = difference(t, r.Runs[0]); r.Why == "" {
		r.Verdict = Agreed
		return r, nil
	}
	r.Verdict = Diverged
	for range extraRuns {
		if err := run(true); err != nil {
			return r, err
		}
		if why := r.Runs[0].difference(r.Runs[len(r.Runs)-1]); why != "" {
			r.Verdict, r.Why = Unstable, "native runs differ: "+why
			break
		}
	}
	return r, nil
}

// incomparable says why there is nothing to compare test t with, or is empty.
func incomparable(t testcase.Test) string {
	switch {
	case t.Outcome.Kind == testcase.Unsupported:
		return "the machine could not go on: " + t.Outcome.String()
	case t.EndedBy != "" && t.Outcome.Kind != testcase.Hang:
		return "ended by a limit: " + t.EndedBy
	}
	return ""
}

// difference says in one line where the native run leaves what the machine
// saw; empty if nowhere. A hang has no end and thus no output to compare.
func difference(t testcase.Test, n Native) string {
	machine := Native{Outcome: t.Outcome, OutputSHA256: t.OutputSHA256, OutputBytes: t.OutputBytes}
	return machine.difference(n)
}

func (n Native) difference(m Native) string {
	switch {
	case !n.Outcome.Same(m.Outcome):
		return fmt.Sprintf("outcome %q, then natively %q", n.Outcome, m.Outcome)
	case n.Outcome.Kind == testcase.Hang:
		return ""
	case n.OutputSHA256 != m.OutputSHA256:
		return fmt.Sprintf("%d bytes of output, then natively %d others", n.OutputBytes, m.OutputBytes)
	}
	return ""
}
