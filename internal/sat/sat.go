// Package sat is a small incremental CDCL solver for the circuits of symbolic
// execution: thousands of variables, tens of thousands of queries, most of them
// easy and most of them sharing a prefix of assumptions with the one before.
//
//	s := sat.New()
//	x, y := s.NewVar(), s.NewVar()
//	s.AddClause(x.Pos(), y.Pos())
//	s.Solve([]sat.Lit{x.Neg()}, []sat.Var{x, y}, 1000) // Sat
//	s.Value(y.Pos())                                    // +1
//	s.Solve([]sat.Lit{x.Neg(), y.Neg()}, nil, 1000)     // Unsat
//	s.Core()                                            // both assumptions
//
// # Life of a solver
//
//	       AddClause, NewVar            Solve
//	[open] ----------------> [open] --------------> [answered]
//	   ^                                                |
//	   +---- AddClause, NewVar (the model is gone) <----+
//	   +---- Reset (everything is gone)
//
// Clauses are buffered; Solve goes back to the longest common prefix of the
// last and the new assumptions, adds them there, and searches on. The trail
// over that prefix is therefore neither undone nor propagated again.
//
// # The cone
//
// Solve takes the variables of the query's cone and decides only those. It
// answers Sat when all of them are assigned without conflict. The caller
// warrants that such an assignment extends to the other variables: it does when
// the remaining clauses define gates over free inputs (package bitblast).
//
// # Determinism
//
// The answer, the model and every count depend on the calls made and nothing
// else. The budget counts propagations, never time.
//
// # Memory
//
// Clauses lie in one []uint32: two words of header, then the literals. A clause
// is named by its offset.
//
// Glossary: c, a clause's offset in the arena (0 is none); p, q, literals; v, a
// variable; ws, the watch list of a literal; lbd, the number of decision levels
// in a learned clause (Audemard and Simon, IJCAI 2009); bt, the level to
// backtrack to; uip, unique implication point.
package sat

import "slices"

// Var numbers a variable from 0.
type Var uint32

// Pos and Neg return v's two literals.
func (v Var) Pos() Lit { return Lit(v << 1) }
func (v Var) Neg() Lit { return Lit(v<<1 | 1) }

// Lit is a literal: twice its variable, plus one when it is negated.
type Lit uint32

// Not returns the complement of l.
func (l Lit) Not() Lit { return l ^ 1 }

// Var returns the variable of l.
func (l Lit) Var() Var { return Var(l >> 1) }

// Result is the answer of Solve. The zero value is Unknown.
type Result uint8

// The answers.
const (
	Unknown Result = iota // the budget was spent
	Sat
	Unsat
)

func (r Result) String() string { return [...]string{"unknown", "sat", "unsat"}[r] }

// Stats counts the work done since New; Reset keeps it.
type Stats struct {
	Propagations uint64 // literals taken off the trail and propagated
	Conflicts    uint64
	Decisions    uint64
	Restarts     uint64
	Reductions   uint64 // sweeps of the learned clauses
}

const (
	header   = 2       // words before a clause's literals
	binary   = 1 << 31 // flag in watch.c: the clause has two literals
	learned  = 2       // flags in a clause's first word, below its length
	deleted  = 1
	lenShift = 2
)

// watch is one entry of a watch list.
type watch struct {
	c       uint32 // the clause, with the binary flag
	blocker Lit    // another literal of it: if that is true, there is nothing to do
}

// Solver holds clauses and the state of the search.
type Solver struct {
	// Stop makes Solve give up soon after it is closed; nil never does. For the
	// end of a run only: the answer is Unknown whatever the budget.
	Stop <-chan struct{}

	arena   []uint32  // word 0: length<<2|flags; word 1: lbd; literals. arena[0] is unused
	pending []uint32  // clauses not yet in the arena: length, literals
	learnts []uint32  // offsets of learned clauses
	wasted  int       // words of deleted clauses
	watches [][]watch // by literal p: the clauses containing ¬p

	vals   []int8   // by literal: +1 true, -1 false, 0 open
	level  []int32  // by variable, valid when assigned
	reason []uint32 // by variable: the clause that implied it, 0 for decisions
	phase  []uint8  // by variable: the sign bit to decide next
	mark   []uint8  // by variable: scratch of analyze, zero in between
	litTag []uint8  // by literal: scratch of attach, zero in between
	rel    []uint32 // by variable: in the cone of the current call when equal to relGen
	relGen uint32

	trail    []Lit
	trailLim []int32 // length of the trail at the start of levels 1, 2, ...
	qhead    int     // trail[:qhead] is propagated
	assumps  []Lit   // of the last call; level i+1 belongs to assumps[i]
	core     []Lit   // answer of Core
	broken   bool    // the clauses alone are unsatisfiable

	act    []float64 // by variable: VSIDS activity
	actInc float64
	heap   []Var   // of open cone variables, most active first
	pos    []int32 // by variable: place in heap or -1

	learnt   []Lit // scratch of analyze
	stack    []Lit
	clear    []Var
	levelTag []uint32 // by level: scratch of lbd
	tagGen   uint32

	fast         uint64 // moving average of lbd over 32 clauses, in 1/32768
	lbdSum       uint64 // of all lbd, in 1/32768
	lbdCount     uint64
	sinceRestart uint64 // conflicts
	reduceAt     int    // number of learned clauses that triggers a reduction
	random       uint64 // state of the phase generator; 0 means saved phases
	nv           int    // variables; watches may be longer, for reuse

	Stats Stats
}

// New returns an empty solver.
func New() *Solver {
	s := &Solver{}
	s.Reset()
	return s
}

// Reset forgets variables and clauses and keeps the memory and Stats.
func (s *Solver) Reset() {
	s.arena = append(s.arena[:0], 0)
	s.pending, s.learnts, s.wasted = s.pending[:0], s.learnts[:0], 0
	for i := range s.watches[:min(2*s.nv, len(s.watches))] {
		s.watches[i] = s.watches[i][:0]
	}
	s.vals, s.level, s.reason = s.vals[:0], s.level[:0], s.reason[:0]
	s.phase, s.mark, s.litTag, s.rel = s.phase[:0], s.mark[:0], s.litTag[:0], s.rel[:0]
	s.relGen = 0
	s.trail, s.trailLim, s.qhead = s.trail[:0], s.trailLim[:0], 0
	s.assumps, s.core, s.broken = s.assumps[:0], s.core[:0], false
	s.act, s.actInc, s.heap, s.pos = s.act[:0], 1, s.heap[:0], s.pos[:0]
	s.fast, s.lbdSum, s.lbdCount, s.sinceRestart, s.reduceAt = 0, 0, 0, 0, 2000
	s.nv = 0
}

// NewVar returns a fresh variable. Its first phase is false.
func (s *Solver) NewVar() Var {
	v := Var(s.nv)
	s.nv++
	if len(s.watches) < 2*s.nv {
		s.watches = append(s.watches, nil, nil)
	}
	s.vals = append(s.vals, 0, 0)
	s.litTag = append(s.litTag, 0, 0)
	s.level = append(s.level, 0)
	s.reason = append(s.reason, 0)
	s.phase = append(s.phase, 1)
	s.mark = append(s.mark, 0)
	s.rel = append(s.rel, 0)
	s.act = append(s.act, 0)
	s.pos = append(s.pos, -1)
	return v
}

// NumVars returns the number of variables.
func (s *Solver) NumVars() int { return s.nv }

// SetPhase makes value the next one tried for v.
func (s *Solver) SetPhase(v Var, value bool) {
	if value {
		s.phase[v] = 0
	} else {
		s.phase[v] = 1
	}
}

// RandomPhases makes all later decisions try random values; seed 0 ends that.
func (s *Solver) RandomPhases(seed uint64) { s.random = seed }

// AddClause adds a disjunction. The literals may repeat; the empty clause is
// false. It does not disturb the trail: the clause takes effect in Solve.
func (s *Solver) AddClause(lits ...Lit) {
	s.pending = append(s.pending, uint32(len(lits)))
	for _, l := range lits {
		s.pending = append(s.pending, uint32(l))
	}
}

// Value returns l's value after Sat: +1 true, -1 false, 0 open (not in the
// cone and not implied).
func (s *Solver) Value(l Lit) int { return int(s.vals[l]) }

// Core returns, after Unsat, assumptions that cannot hold together; none when
// the clauses alone are unsatisfiable. It is valid until the next Solve.
func (s *Solver) Core() []Lit { return s.core }

func (s *Solver) decisionLevel() int { return len(s.trailLim) }

func (s *Solver) newLevel() { s.trailLim = append(s.trailLim, int32(len(s.trail))) }

func (s *Solver) enqueue(p Lit, c uint32) {
	s.vals[p] = 1
	s.vals[p^1] = -1
	v := p.Var()
	s.level[v] = int32(len(s.trailLim))
	s.reason[v] = c
	s.trail = append(s.trail, p)
}

// backtrack undoes all levels above lvl.
func (s *Solver) backtrack(lvl int) {
	if s.decisionLevel() <= lvl {
		return
	}
	to := int(s.trailLim[lvl])
	for i := len(s.trail) - 1; i >= to; i-- {
		p := s.trail[i]
		s.vals[p], s.vals[p^1] = 0, 0
		v := p.Var()
		s.phase[v] = uint8(p & 1)
		if s.pos[v] < 0 && s.rel[v] == s.relGen {
			s.heapInsert(v)
		}
	}
	s.trail = s.trail[:to]
	s.trailLim = s.trailLim[:lvl]
	s.qhead = min(s.qhead, to)
}

// newClause writes a clause to the arena and watches its first two literals.
func (s *Solver) newClause(lits []Lit, flags, lbd uint32) uint32 {
	c := uint32(len(s.arena))
	s.arena = append(s.arena, uint32(len(lits))<<lenShift|flags, lbd)
	for _, l := range lits {
		s.arena = append(s.arena, uint32(l))
	}
	s.watchClause(c, len(lits) == 2, lits[0], lits[1])
	return c
}

func (s *Solver) watchClause(c uint32, bin bool, p, q Lit) {
	if bin {
		c |= binary
	}
	s.watches[p^1] = append(s.watches[p^1], watch{c, q})
	s.watches[q^1] = append(s.watches[q^1], watch{c, p})
}

// attachPending moves the buffered clauses to the arena. A clause that is unit
// under the current trail implies its literal at the current level; should the
// search later go back between the levels, that implication is found again by
// a conflict, never missed. It returns false where Stop ended it.
func (s *Solver) attachPending() bool {
	for i := 0; i < len(s.pending); i += int(s.pending[i]) + 1 {
		if s.pending[i] <= 1 {
			s.backtrack(0)
			break
		}
	}
	for i, clauses := 0, 0; i < len(s.pending) && !s.broken; clauses++ {
		if clauses%pollEvery == pollEvery-1 && s.stopped() {
			s.pending = slices.Delete(s.pending, 0, i)
			return false
		}
		n := int(s.pending[i])
		s.attach(s.pending[i+1 : i+1+n])
		i += n + 1
	}
	s.pending = s.pending[:0]
	return true
}

func (s *Solver) attach(in []uint32) {
	lits := s.learnt[:0]
	tautology := false
	for _, x := range in {
		l := Lit(x)
		if s.litTag[l^1] != 0 || s.vals[l] > 0 && s.level[l.Var()] == 0 {
			tautology = true
			break
		}
		if s.litTag[l] != 0 || s.vals[l] < 0 && s.level[l.Var()] == 0 {
			continue
		}
		s.litTag[l] = 1
		lits = append(lits, l)
	}
	for _, l := range lits {
		s.litTag[l] = 0
	}
	s.learnt = lits
	if tautology {
		return
	}
	switch len(lits) {
	case 0:
		s.broken = true
		return
	case 1:
		s.backtrack(0)
		s.enqueue(lits[0], 0)
		return
	}
	// The best literals to watch come first: true, open, then late levels.
	rank := func(l Lit) int32 {
		if s.vals[l] >= 0 {
			return 1 << 30
		}
		return s.level[l.Var()]
	}
	for i := 0; i < 2; i++ {
		for j := i + 1; j < len(lits); j++ {
			if rank(lits[j]) > rank(lits[i]) {
				lits[i], lits[j] = lits[j], lits[i]
			}
		}
	}
	if s.vals[lits[0]] < 0 {
		s.backtrack(int(s.level[lits[0].Var()]) - 1)
	}
	c := s.newClause(lits, 0, 0)
	if s.vals[lits[1]] < 0 && s.vals[lits[0]] == 0 {
		s.enqueue(lits[0], c)
	}
}

// propagate returns the clause found false, or 0.
func (s *Solver) propagate() uint32 {
	vals := s.vals
	start := s.qhead
	for s.qhead < len(s.trail) {
		p := s.trail[s.qhead]
		s.qhead++
		ws := s.watches[p]
		np := uint32(p ^ 1)
		j := 0
	next:
		for i := 0; i < len(ws); i++ {
			w := ws[i]
			bv := vals[w.blocker]
			if bv > 0 {
				ws[j] = w
				j++
				continue
			}
			if w.c&binary != 0 {
				ws[j] = w
				j++
				if bv < 0 {
					j += copy(ws[j:], ws[i+1:])
					s.watches[p] = ws[:j]
					s.Stats.Propagations += uint64(s.qhead - start)
					s.qhead = len(s.trail)
					return w.c &^ binary
				}
				s.enqueue(w.blocker, w.c&^binary)
				continue
			}
			n := s.arena[w.c] >> lenShift
			lits := s.arena[w.c+header : w.c+header+n]
			if lits[0] == np {
				lits[0], lits[1] = lits[1], np
			}
			first := Lit(lits[0])
			fv := vals[first]
			if fv > 0 {
				ws[j] = watch{w.c, first}
				j++
				continue
			}
			for k := 2; k < len(lits); k++ {
				if l := lits[k]; vals[l] >= 0 {
					lits[1], lits[k] = l, np
					s.watches[l^1] = append(s.watches[l^1], watch{w.c, first})
					continue next
				}
			}
			ws[j] = watch{w.c, first}
			j++
			if fv < 0 {
				j += copy(ws[j:], ws[i+1:])
				s.watches[p] = ws[:j]
				s.Stats.Propagations += uint64(s.qhead - start)
				s.qhead = len(s.trail)
				return w.c
			}
			s.enqueue(first, w.c)
		}
		s.watches[p] = ws[:j]
	}
	s.Stats.Propagations += uint64(s.qhead - start)
	return 0
}
