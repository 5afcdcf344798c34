package explore

import (
	"fmt"
	"math/bits"

	"symchef/internal/exec"
	"symchef/internal/kernel"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// A path on which nothing has been decided for long may be in a loop that it never leaves. If the whole system is again what it was, the clock aside
// (kernel.System.Recurs), that is proved: with nothing decided in between, what follows is what was before. So at 2^20 instructions since the last
// decision, and at each power of two beyond, an instruction is chosen that is passed seldom. For a while the machine stops wherever the task comes to it
// again, to compare with what was; copies of that are made now and then (R. P. Brent, An improved Monte Carlo factorization algorithm, section 2, with
// powers of two likewise).
//
//	decision  2^20   2^21   2^22       2^23                                  2^25
//	   ├───────┼──┐───┼──┐───┼────┐─────┼──────────────────────────────────────┐┼────...
//	            look   look   look       c   c   c   c   c   c      the long look
//
// When to look is counted in instructions of the path, so it does not depend on who explores it, nor on how often it has waited.
const (
	firstLook = 1 << 20
	// lookShare is what part of the instructions since the decision a look takes.
	lookShare = 4
	// At lateLook it is likely that there is something to be found: a look takes nearly three times as long as all before, and the later ones half as long.
	lateLook  = 1 << 23
	lateShare = 2
	// sampleIn is how many instructions run in the evaluators before, to find an instruction that is passed seldom, in each round of the loop.
	sampleIn = 1 << 14
	// longest is how many instructions of a look run between two glances at whether the exploration is about to end.
	longest = 1 << 24
	// mostMeets is how often a look compares at most.
	mostMeets = 1 << 17
)

// quiet is how many instructions s has retired since its last decision, or since paths began.
func (x *Explorer) quiet(s *state.State) uint64 { return s.Sys.Spent() - max(s.Decided, x.base) }

// run runs s until the next stop, or some million instructions; or up to where its path may come to an end as a hang.
func (x *Explorer) run(s *state.State) exec.Stop {
	n := uint64(chunk)
	if x.Haste {
		n = hasty
	}
	if x.until > s.Sys.Spent() {
		n = min(n, x.until-s.Sys.Spent())
	}
	if x.cfg.Booting {
		return x.m.Run(s.Sys, &s.Facts, n)
	}
	if most := x.cfg.PathInstructions; most > 0 && x.base+most+1 > s.Sys.Spent() {
		n = min(n, x.base+most+1-s.Sys.Spent())
	}
	if x.trail != nil {
		return x.m.Run(s.Sys, &s.Facts, n)
	}
	before := x.quiet(s)
	next := max(uint64(1)<<bits.Len64(before), firstLook)
	n = min(n, next-before)
	stop := x.m.Run(s.Sys, &s.Facts, n)
	if stop.Kind == exec.Budget && x.quiet(s) >= next {
		n = lookAt(next)
		if most := x.cfg.PathInstructions; most > 0 {
			n = min(n, most+1-min(most, s.Sys.Spent()-x.base))
		}
		return x.look(s, n)
	}
	return stop
}

// lookAt is how many instructions the look takes after next, since the decision.
func lookAt(next uint64) uint64 {
	switch {
	case next == lateLook:
		return 3*next - next/8 // it ends before the next one
	case next > lateLook:
		return next / lateShare
	}
	return next / lookShare
}

// look runs s for about n instructions; the stop is of kind Met where it is found to be in a loop without an end.
func (x *Explorer) look(s *state.State, n uint64) exec.Stop {
	v := visits{}
	stop := x.m.Visit(s.Sys, &s.Facts, sampleIn, v.add)
	if stop.Kind != exec.Budget {
		return stop
	}
	l := look{now: s.Sys, every: n / 8}
	pc, end := v.seldom(s.Sys.Current().CPU.PC), s.Sys.Spent()+n
	for stop.Kind == exec.Budget && s.Sys.Spent() < end && !x.halting() { // a look may take seconds
		stop = x.m.Seek(s.Sys, &s.Facts, min(end-s.Sys.Spent(), longest), pc, l.met)
	}
	switch {
	case stop.Kind == exec.Met && l.period == 0:
		stop = exec.Stop{Kind: exec.Budget}
	case stop.Kind == exec.Met:
		stop.What = fmt.Sprintf(testcase.Proved+"everything is the same again after %d instructions", l.period)
	}
	return stop
}

// visits are the blocks that a path passes, by where they start.
type visits struct {
	n  int
	of map[uint64]*visited
}

// visited is how often a block was passed, and when first and last, counted in blocks.
type visited struct{ times, first, last int }

func (v *visits) add(pc uint64) {
	if v.of == nil {
		v.of = map[uint64]*visited{}
	}
	b := v.of[pc]
	if b == nil {
		b = &visited{first: v.n}
		v.of[pc] = b
	}
	b.times, b.last = b.times+1, v.n
	v.n++
}

// seldom is a block that was passed early and late, and not often between; else is the answer where there is none.
func (v *visits) seldom(otherwise uint64) uint64 {
	pc, least := otherwise, 0
	for at, b := range v.of {
		if b.first < v.n/2 && b.last >= v.n/2 && (least == 0 || b.times < least || b.times == least && at < pc) {
			pc, least = at, b.times
		}
	}
	return pc
}

// look compares a system with what it was, at one instruction.
type look struct {
	now    *kernel.System
	then   []comparison
	every  uint64 // instructions between two copies
	meets  int
	period uint64 // of the loop, in instructions; 0: it has not been found
}

// copies is how many there are at most, if the memory of a path has room for so many beside the system itself; there is one in any case.
const copies = 6

// met reports whether the look is over.
func (l *look) met() bool {
	for i := range l.then {
		if c := &l.then[i]; c.recurs() {
			l.period = l.now.Retired - c.then.Retired
			return true
		}
	}
	if n := len(l.then); n == 0 || uint64(n) < min(copies, max(l.now.Fit(), 2)-1) && l.now.Spent() >= l.then[n-1].then.Spent()+l.every {
		l.then = append(l.then, comparison{now: l.now, then: l.now.Fork()})
	}
	l.meets++
	return l.meets > mostMeets
}

// comparison compares a system with what it was.
type comparison struct {
	now, then *kernel.System
	witness   uint64 // an address at which they differed; 0: none is known
}

// recurs reports whether all is the same. What differed the last time is looked at first.
func (c *comparison) recurs() bool {
	if !c.now.SameRegisters(c.then) {
		return false
	}
	a, b := c.now.CurrentProcess().Mem, c.then.CurrentProcess().Mem
	if c.witness != 0 && a.DiffersAt(b, c.witness) {
		return false
	}
	at, differs := a.Differs(b)
	if differs {
		c.witness = at
		return false
	}
	return c.now.Recurs(c.then)
}
