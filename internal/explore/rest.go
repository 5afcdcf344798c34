package explore

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"symchef/internal/high"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// resting are the paths that have run for longer than their slice and wait to go on, where they were, with their state or without. They are no
// candidates of the searcher: a strategy that stays where it is would take them up at once.
//
//	            picked             past its slice
//	searcher ───────────► running ────────────────► resting
//	                         ▲    takes turns           │
//	                         └──────────────────────────┘
//
// A slice is counted in instructions. It is twice as long each time, and never shorter than twice the longest path that has ended as it should: so
// where all paths are long, none is kept waiting for long. The path that has had the fewest turns goes on first; but until one has ended, the one that has
// come farthest.
// Slices change the order of paths, nothing else.
type resting struct {
	ids     []uint64 // of candidates, in the order they came
	least   uint64   // length of a slice, in instructions
	longest uint64   // instructions of a path, since it was picked, that has ended
	whole   uint64   // likewise, since paths began
	fresh   uint64   // instructions of first turns, each up to its slice
	again   uint64   // of others, likewise
	picks   uint     // by farthest
}

const (
	// firstSlice is the least length of a slice, in instructions, unless Config.Slice says otherwise.
	firstSlice = 1 << 22
	// askAfter and askShare are after how many instructions the real program is asked whether a path ends, when only resting ones are left: so many, and
	// so many times as many as the longest that has ended.
	askAfter = 15 * lateLook / 4 // after the long look for a proof, before the next one
	askShare = 4
	// mostAsked is how many paths are asked about at once.
	mostAsked = 16
	// freshShare is how many instructions of first turns come to one of others, while there are both; and the other way round until a path has ended.
	freshShare = 3
)

// turn is what the running path has had of the machine.
type turn struct {
	turns int           // that it has had before
	used  uint64        // instructions, in them
	took  time.Duration // likewise
	from  uint64        // Counts.Total when the present one began
	asked bool          // whether it ends natively
	hang  string        // it does not: what that says
	at    Where         // it rests
}

// slice is how many instructions the turn may take.
func (r *resting) slice(t *turn) uint64 {
	return max(r.least, 2*r.longest) << min(t.turns, 32)
}

// onlyResting reports whether those that rest are all that can go on.
func (x *Explorer) onlyResting() bool { return x.sr.Len() == 0 || x.hopeless() }

// waits counts the candidates, wherever they wait.
func (x *Explorer) waits() int { return x.sr.Len() + len(x.rest.ids) + len(x.aside) }

// overdue reports whether the running state has used up its slice while others wait, or is due.
func (x *Explorer) overdue() bool {
	n := x.Counts.Spent() - x.turn.from
	return !x.cfg.Booting && (n > x.rest.slice(&x.turn) && x.waits() > 0 || x.due(&x.turn, n))
}

// due reports whether the real program is to be asked about a path that has run for n instructions since its turn t began.
func (x *Explorer) due(t *turn, n uint64) bool {
	return x.cfg.Endless != nil && x.complete == nil && x.onlyResting() && !t.asked && t.used+n > x.askAfter()
}

func (x *Explorer) askAfter() uint64 { return max(askAfter, askShare*x.rest.whole) }

// charge ends the turn of the running state.
func (x *Explorer) charge() {
	n := x.Counts.Spent() - x.turn.from
	x.turn.from = x.Counts.Spent()
	x.turn.used += n
	n = min(n, x.rest.slice(&x.turn)) // what one system call takes beyond it is no reason to give the same to others
	if x.turn.turns == 0 {
		x.rest.fresh += n
	} else {
		x.rest.again += n
	}
}

// lay lets s, which runs and is not at a decision, rest.
func (x *Explorer) lay(s *state.State) {
	x.charge()
	p := candidateOf(s, x.node, x.from)
	p.excl, p.what = nil, 0
	p.ran = s.Sys.Spent() - x.base
	p.turn = x.turn
	p.turn.turns++
	p.turn.took, p.turn.at = time.Since(x.began), x.where(s)
	if x.complete != nil {
		x.complete.release()
		p.place = x.placeOf(s, 0)
		x.addAt(p, s)
		return
	}
	id := x.enter(p, s)
	x.rest.ids = append(x.rest.ids, id)
}

// nextResting is the resting candidate to go on with, if it is its turn.
func (x *Explorer) nextResting() (id uint64, ok bool) {
	r := &x.rest
	x.ask()
	switch {
	case len(r.ids) == 0:
		return 0, false
	case x.onlyResting():
	case r.none() && r.again > r.fresh*freshShare, !r.none() && r.again*freshShare > r.fresh:
		return 0, false
	}
	best := 0
	if r.none() && !x.onlyResting() {
		best = x.farthest()
	} else {
		for i, id := range r.ids {
			p, q := &x.pending[id].turn, &x.pending[r.ids[best]].turn
			if !x.onlyResting() && p.turns < q.turns || x.onlyResting() && x.sooner(p, q) {
				best = i
			}
		}
	}
	id = r.ids[best]
	r.ids = slices.Delete(r.ids, best, best+1)
	return id, true
}

// none reports whether no path has ended yet.
func (r *resting) none() bool { return r.longest == 0 }

// farthest is which of ids goes on while no path has ended: every second time the one that has come farthest, every fourth the next, and so on, so that one
// without an end does not keep them all.
func (x *Explorer) farthest() int {
	r := &x.rest
	order := make([]int, len(r.ids))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(x.pending[r.ids[b]].turn.used, x.pending[r.ids[a]].turn.used)
	})
	r.picks++
	return order[min(bits.TrailingZeros(r.picks), len(order)-1)]
}

// sooner reports whether the path with turn p goes on before that with q when there are only such: those of which nothing is known, until they are due, and
// then one after the other.
func (x *Explorer) sooner(p, q *turn) bool {
	rank := func(t *turn) int {
		switch {
		case x.due(t, 0):
			return 2
		case t.asked:
			return 1
		}
		return 0
	}
	if a, b := rank(p), rank(q); a != b {
		return a < b
	}
	return p.used > q.used
}

// ask asks the real program about the paths that rest, when only such are left and each has run for long. What it says of a path that runs on there for
// longer than Config.PathInstructions can take is what the machine would say in the end: so the answer only comes sooner. A path that ends natively goes on.
func (x *Explorer) ask() {
	var l []*candidate
	for _, id := range x.rest.ids {
		p := x.pending[id]
		switch {
		case p.turn.asked:
		case !x.due(&p.turn, 0):
			return
		case len(l) < mostAsked:
			l = append(l, p)
		}
	}
	if len(l) == 0 {
		return
	}
	states := make([]*state.State, len(l))
	for i, p := range l {
		states[i] = x.stateOf(p)
	}
	for i, native := range x.cfg.Endless(states) {
		t := &l[i].turn
		if t.asked = true; native != "" {
			t.hang = fmt.Sprintf("%s%d instructions, and natively %s", testcase.Beyond, x.askAfter(), native)
		}
	}
}

// Where is where a path is: FILE:LINE:FUNCTION of its loop, else its line of the interpreted program, else its place in the code; empty: not known.
type Where struct {
	At   string
	Loop bool
}

func (x *Explorer) where(s *state.State) Where {
	if h := x.cfg.High; h != nil {
		if at := h.Loop(&s.High); at != "" {
			return Where{at, true}
		}
		if p := s.High.Place(); p != (high.Place{}) {
			if at, ok := h.Tree.Step(p); ok && h.Source(at) != "" {
				return Where{At: h.Source(at)}
			}
		}
	}
	return Where{At: x.m.Where(s.Sys.CurrentProcess().Mem, s.Sys.Current().CPU.PC)}
}

// Running are the paths that have run for long and have not ended.
type Running struct {
	Paths   int
	Longest uint64 // instructions of the longest
	At      Where  // of it
}

// Add adds p, of another explorer.
func (r *Running) Add(p Running) {
	r.Paths += p.Paths
	if p.Longest > r.Longest {
		r.Longest, r.At = p.Longest, p.At
	}
}

// Running returns those paths.
func (x *Explorer) Running() (r Running) {
	for _, id := range x.rest.ids {
		t := &x.pending[id].turn
		r.Add(Running{1, t.used, t.at})
	}
	if n := x.turn.used + x.Counts.Spent() - x.turn.from; x.cur != nil && !x.cfg.Booting && n > firstLook {
		r.Add(Running{1, n, x.where(x.cur)})
	}
	return r
}

// unproved is why a path that does not end natively either leaves something open.
const unproved = "a hang that is not proved"
