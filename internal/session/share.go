package session

import (
	"context"
	"time"

	"symchef/internal/replay"
	"symchef/internal/testcase"
)

// Of --time a share is kept for replay. The first test case is replayed as soon as it is found, to see what that takes: the share is what all found so far
// would take, from leastShare to mostShare; and where the program takes long to start, enough for the first ones, up to half of the time since the test began.
const (
	leastShare = 10 // a tenth
	mostShare  = 3  // a third
)

// replayCost is what replay takes; run.mu guards it.
type replayCost struct {
	began    time.Time // when the first test case was replayed; zero: there is none
	known    bool
	measured replay.Cost
}

// first is how long it takes until the first test cases have been replayed, as far as that is known.
func (k *replayCost) first(now time.Time, boot time.Duration) time.Duration {
	switch {
	case k.began.IsZero():
		return 0 // there are none
	case k.known:
		return k.measured.Of(1)
	}
	return max(boot, now.Sub(k.began))
}

// replayShare is what part of --time is kept for replay; r.mu is held.
func (r *run) replayShare(now time.Time) time.Duration {
	if r.o.NoReplay {
		return 0
	}
	boot := time.Duration(r.sum.BootS * float64(time.Second))
	if r.o.Program != nil || r.sum.FromSnapshot {
		boot = 0 // it was no start
	}
	first := r.cost.first(now, boot)
	all := r.cost.measured.Of((r.named + r.parallelReplays() - 1) / r.parallelReplays())
	return max(r.o.Time/leastShare, min(all, r.o.Time/mostShare), min(first+first/2, (r.o.Time-boot)/2))
}

// timeUp says that the exploration has to end if replay is to have its share of --time; r.mu is held. That began with the command, before r.started.
func (r *run) timeUp(now time.Time) bool {
	until, bounded := r.timed.Deadline()
	return bounded && now.After(until.Add(-r.replayShare(now)))
}

// haltInTime lets queries under way give up when the time of the exploration is over, until the function that it returns is called.
func (r *run) haltInTime() (stop func()) {
	if r.o.Time == 0 {
		return func() {}
	}
	c, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			r.mu.Lock()
			over := r.timeUp(time.Now())
			r.mu.Unlock()
			if over {
				r.stopSolver()
				return
			}
			select {
			case <-c.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return cancel
}

// measureReplay replays the first test case to see how long that takes, where --time has to be divided; r.mu is held. It gives up when the exploration ends.
func (r *run) measureReplay(t testcase.Test) {
	if r.o.Time == 0 || r.o.NoReplay || r.exploring == nil || t.Outcome.Kind == testcase.Hang || !r.cost.began.IsZero() {
		return
	}
	r.cost.began = time.Now()
	r.measuring.Go(func() {
		opt, cleanup, err := r.replayOptions()
		if err != nil {
			return
		}
		defer cleanup()
		cost, err := replay.Measure(r.exploring, r.t.tc, t, opt)
		if err != nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.cost.known, r.cost.measured = true, cost
	})
}
