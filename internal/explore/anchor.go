package explore

import (
	"maps"
	"math/bits"
	"slices"

	"symchef/internal/state"
)

// anchors are the states that are kept: those of pending candidates, and copies of such that have run since, or that following
// a log has passed. A virtual candidate is brought back from the nearest one before it, not from the beginning of all paths. They
// change time and memory, never what is explored.
//
// The rung of a state is the place, from 1 on, of the highest bit in which its number of instructions differs from that at the decision
// before; 0 if there is no difference. So, of the decisions of a path, the first one after each multiple of 2^n instructions has a rung
// greater than n: where states of rung n+1 and more are kept, fewer than 2^n instructions are executed again.
//
//	instructions   0    5  7   9      12       16 18      (in binary 0, 101, 111, 1001, 1100, 10000, 10010)
//	decisions      ├────┼──┼───┼──────┼────────┼──┤
//	rungs               3  2   4      3        5  2
//
// Invariant: the anchor at a log is the state after its decisions, whatever its model.
type anchors struct {
	at    map[uint64]anchor // by state.Entry.Hash
	least int               // the lowest rung that is kept
	many  int               // with more, unused ones are looked for
	// passed are the keys of the at most room ones that following logs has passed last. They are kept whatever their rung: a strategy may
	// stay where it is.
	passed []uint64
	room   int
}

type anchor struct {
	log  *state.Entry
	st   *state.State // its Excl is that of a candidate, or empty
	rung int
}

const (
	passedRung = 14   // the lowest rung of states that are kept because following a log passes them
	manyKept   = 1024 // see anchors.many
	passedKept = 8    // see anchors.passed
)

// rungOf returns the rung of s, which is at a decision.
func rungOf(s *state.State) int { return bits.Len64(s.Sys.Spent() ^ s.Decided) }

func newAnchors() anchors {
	return anchors{at: map[uint64]anchor{}, many: manyKept, room: passedKept}
}

// wants reports whether s is worth being kept.
func (a *anchors) wants(s *state.State) bool { return rungOf(s) >= a.least }

// below returns the anchor with the longest log that log begins with.
func (a *anchors) below(log *state.Entry) (anchor, bool) {
	for e := log; e != nil; e = e.Parent {
		if n, ok := a.at[e.Hash]; ok && n.log.Equal(e) {
			return n, true
		}
	}
	return anchor{}, false
}

// keep makes st, which nothing else runs, the anchor at log.
func (a *anchors) keep(log *state.Entry, st *state.State) {
	if log == nil {
		return // that is the root
	}
	a.at[log.Hash] = anchor{log, st, rungOf(st)}
}

// take gives st, the state of a candidate at log, away to run. A copy stays behind if there may be virtual candidates that need it.
func (a *anchors) take(log *state.Entry, st *state.State) {
	if log == nil || a.at[log.Hash].st != st {
		return
	}
	if a.least == 0 {
		delete(a.at, log.Hash)
		return
	}
	a.keep(log, st.Fork())
}

// pass keeps a copy of s, which is at a decision and goes on, if it is worth it.
func (a *anchors) pass(s *state.State) {
	if s.Log == nil || rungOf(s) < passedRung {
		return
	}
	at := s.Log.Hash
	if _, known := a.at[at]; known {
		return
	}
	a.keep(s.Log, s.Fork())
	a.passed = append(a.passed, at)
	a.trim()
}

// trim removes the oldest of passed beyond their room.
func (a *anchors) trim() {
	for ; len(a.passed) > a.room; a.passed = a.passed[1:] {
		if a.at[a.passed[0]].rung < a.least {
			delete(a.at, a.passed[0])
		}
	}
}

// thin raises the lowest rung until at most n anchors are left, of which half may be passed ones.
func (a *anchors) thin(n int) {
	a.room = min(n/2, passedKept)
	a.trim()
	var of [65]int // by rung: how many, but for passed
	left := 0
	for at, k := range a.at {
		if !slices.Contains(a.passed, at) {
			of[k.rung]++
			left++
		}
	}
	for ; left > n-len(a.passed); a.least++ {
		left -= of[a.least]
	}
	maps.DeleteFunc(a.at, func(at uint64, k anchor) bool { return k.rung < a.least && !slices.Contains(a.passed, at) })
}

// Thin gives up kept states, those of the lowest rungs first, until at most n are left: their candidates become virtual. From now on states
// of such rungs are not kept. What is explored does not change.
func (x *Explorer) Thin(n int) {
	x.dropUnused()
	x.anchors.thin(n)
	for _, p := range x.pending {
		if p.st != nil && !x.anchors.wants(p.st) {
			p.st = nil
		}
	}
}

// Thicken lets states of the next lower rung be kept again.
func (x *Explorer) Thicken() {
	x.anchors.least, x.anchors.room = max(x.anchors.least-1, 0), passedKept
}

// Kept returns how many states are kept, for their candidates or for virtual ones.
func (x *Explorer) Kept() int { return len(x.anchors.at) }

// dropUnused removes the anchors that no pending candidate would be brought back from.
func (x *Explorer) dropUnused() {
	used := map[uint64]bool{}
	var last *state.Entry // the anchor before it is in used
	for _, id := range x.ids() {
		p := x.pending[id]
		for e := p.log; e != nil && e != last; e = e.Parent {
			if n, ok := x.anchors.at[e.Hash]; ok && n.log.Equal(e) {
				used[e.Hash] = true
				break
			}
		}
		last = p.log
	}
	maps.DeleteFunc(x.anchors.at, func(at uint64, _ anchor) bool { return !used[at] })
	x.anchors.many = max(2*len(x.anchors.at), manyKept)
}
