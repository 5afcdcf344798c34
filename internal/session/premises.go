package session

import (
	"fmt"
	"maps"
	"slices"

	"symchef/internal/explore"
	"symchef/internal/rundir"
)

// A held premise says why it does not hold; it does where there are no reasons.
type held struct {
	premise rundir.Premise
	broken  []string
}

// premises are those of `exhausted` at the end of a run; err and repErr are what went wrong in exploration and replay. There is nothing
// to say of rundir.Compared where nobody wanted a replay. Require: r.sum.Replay is that of the replay.
func (r *run) premises(replayed bool, err, repErr error) []held {
	var errs []string
	for _, e := range []error{err, r.saveErr} {
		if e != nil {
			errs = append(errs, firstLine(e.Error()))
		}
	}
	if u := r.workers[0].x.Usage; u != "" {
		errs = append(errs, u)
	}
	out := []held{{rundir.Explored, r.unexplored()}, {rundir.Kept, r.given()}, {rundir.Ran, errs}}
	if r.o.NoReplay {
		return out
	}
	broken := r.sum.Replay.Broken()
	if !replayed && len(r.tests) > 0 {
		broken = []string{count(len(r.tests), "test case") + " not replayed"}
	}
	if replayed && r.sum.Replay.NotReplayed > 0 && r.timed.Err() != nil {
		broken = append(broken, r.overdue())
	}
	if r.meanwhile != nil {
		broken = append(broken, r.meanwhile.Error()+" since the run began")
	}
	if repErr != nil { // a replay afterwards may work
		broken = append(broken, firstLine(repErr.Error()))
	}
	return append(out, held{rundir.Compared, broken})
}

// unexplored says what ended the exploration before all was explored, and what it has left.
func (r *run) unexplored() []string {
	reasons := map[string]bool{}
	for _, w := range r.workers {
		if w.x.Stopped != "" {
			reasons[w.x.Stopped] = true
		}
		for _, why := range w.hard {
			reasons["set aside: "+why] = true
		}
	}
	var running explore.Running
	for _, w := range r.workers {
		running.Add(w.running)
	}
	if running.Paths > 0 {
		reasons[stillRunning(running, r.t.tc.Cwd)] = true
	}
	pending := 0
	for _, f := range r.left {
		pending += len(f.Jobs)
	}
	if pending > 0 {
		reasons[count(pending, "pending state")+" not explored"] = true
	}
	return slices.Sorted(maps.Keys(reasons))
}

// stillRunning names paths that may be hangs.
func stillRunning(p explore.Running, cwd string) string {
	at := ""
	switch {
	case p.At.Loop:
		at = ", in its loop at " + showPlace(p.At.At, cwd)
	case p.At.At != "":
		at = ", at " + showPlace(p.At.At, cwd)
	}
	return fmt.Sprintf("%s still running, the longest for %d instructions%s", count(p.Paths, "path"), p.Longest, at)
}

// given lists what was given up of paths.
func (r *run) given() (out []string) {
	for why, n := range r.dropped() {
		if n > 1 {
			why = fmt.Sprintf("%s (%s)", why, count(int(n), "time"))
		}
		out = append(out, why)
	}
	slices.Sort(out)
	return out
}
