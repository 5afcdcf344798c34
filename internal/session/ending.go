package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"symchef/internal/disk"
	"symchef/internal/replay"
	"symchef/internal/rundir"
)

// What ends a run from outside: a signal, and --time, which bounds all of it. Each part of a run ends by itself then; where one does not, the
// result is read from the run directory, which is whole at every moment, and shown all the same:
//
//	0 ... explore ... T - share ... replay ... T ... the last checkpoint ... T + grace: whatever still runs is left

// grace is how long a run may take to end by itself after a signal, or when all of --time is over.
const grace = 4 * time.Second

// limitTime is the reason that --time gives.
const limitTime = "limit: --time"

// ending sees to it that a run ends in time.
type ending struct {
	o              *Options
	stdout, stderr io.Writer
	run            atomic.Pointer[run] // once it has a run directory
	shown          atomic.Bool         // the result has been shown, or is
}

// begins says that r has a run directory.
func (e *ending) begins(r *run) { e.run.Store(r) }

// claim is true for the first who wants to show the result.
func (e *ending) claim() bool { return e.shown.CompareAndSwap(false, true) }

// within returns the status of work, or ends without it where a signal or --time says so. What is left of work ends with the process.
func (e *ending) within(c context.Context, work func(timed context.Context) int) int {
	timed := c
	if e.o.Time > 0 {
		var cancel context.CancelFunc
		timed, cancel = context.WithTimeout(c, e.o.Time)
		defer cancel()
	}
	done := make(chan int, 1)
	go func() { done <- work(timed) }()
	select {
	case status := <-done:
		return status
	case <-timed.Done():
	}
	select {
	case status := <-done:
		return status
	case <-time.After(grace):
	}
	if !e.claim() { // it is being shown
		select {
		case status := <-done:
			return status
		case <-c.Done():
			return StatusCtrlC
		}
	}
	return e.force(c)
}

// force shows what the run directory holds, and why there is no more.
func (e *ending) force(c context.Context) int {
	why := limitTime
	if c.Err() != nil {
		why = "interrupted"
	}
	defer disk.Clear()
	r := e.run.Load()
	if r == nil {
		fmt.Fprintf(e.stderr, "symchef: %s before the run began\n", why)
		return e.forced(c)
	}
	show := run{o: r.o, t: r.t, w: r.w}
	d, err := rundir.Open(r.w.Dir())
	if err == nil {
		show.sum = d.Summary
		show.tests, _, err = d.Outlines()
	}
	if err == nil {
		show.sum.Tests = rundir.Tests{}
		groups := map[string]bool{}
		for _, t := range show.tests {
			show.sum.Tests.Add(t.Outcome.Kind)
			groups[t.Group] = true
		}
		delete(groups, "") // of programs
		show.sum.Paths.Low, show.sum.Paths.High = max(show.sum.Paths.Low, len(show.tests)), max(show.sum.Paths.High, len(groups))
		show.sum.Findings, show.sum.Classes = show.findings(), show.foundClasses()
		show.sum.ElapsedS = time.Since(r.started).Seconds()
		if rep := r.results.Report(len(show.tests)); len(rep.Results) > 0 {
			var verdicts []rundir.Verdict
			show.sum.Replay, verdicts = rep.Record()
			err = r.w.WriteVerdicts(verdicts)
		}
		show.sum.Replay.NotReplayed = len(show.tests) - show.sum.Replay.Agreed - show.sum.Replay.Diverged - show.sum.Replay.Unstable - show.sum.Replay.NotCompared
		show.sum.Hold(rundir.Explored, why+", and what ran did not end by itself: numbers may be a second older than the test cases")
		show.sum.Hold(rundir.Compared, show.sum.Replay.Broken()...)
		show.sum.Conclude()
		show.sum.Finished = true
		err = errors.Join(err, r.w.WriteSummary(show.sum))
	}
	if err != nil {
		fmt.Fprintln(e.stderr, "symchef:", err)
		return StatusEngine
	}
	show.show(e.stdout, nil)
	return show.status(c)
}

// forced is the status of a run that did not end by itself and has no result.
func (e *ending) forced(c context.Context) int {
	if c.Err() != nil {
		return StatusCtrlC
	}
	return StatusEngine
}

// overdue is why r.timed has ended.
func (r *run) overdue() string {
	if errors.Is(r.timed.Err(), context.DeadlineExceeded) {
		return limitTime
	}
	return "interrupted"
}

// parallelReplays is how many test cases run at a time: with -j each worker's processor has one, each with an interpreter of its own to clone.
func (r *run) parallelReplays() int { return max(2, r.o.Workers) }

// replayOptions are those of this run; cleanup removes what they name.
func (r *run) replayOptions() (opt replay.Options, cleanup func(), err error) {
	opt, cleanup = replay.Options{Mode: r.o.ReplayMode, Unconfined: r.o.Unconfined, Parallel: r.parallelReplays(), Shown: Words(r.t.tc.Kind)}, func() {}
	if r.t.desc != nil {
		opt.GuestLib, cleanup, err = GuestLibrary()
	}
	return opt, cleanup, err
}

// show writes the result as --json says.
func (r *run) show(w io.Writer, rep *replay.Report) {
	if r.o.OnShown != nil {
		r.o.OnShown(r.sum)
	}
	if !r.o.JSON {
		r.print(w, rep)
		return
	}
	b, _ := r.sum.Encode()
	w.Write(b) // whoever gave w knows whether it can be written
}
