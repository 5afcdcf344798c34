package sat

// Prepare goes back to the longest common prefix of the last assumptions and
// these, as Solve would. Phases set afterwards are those Solve tries first.
func (s *Solver) Prepare(assumps []Lit) {
	n := 0
	for n < len(assumps) && n < len(s.assumps) && assumps[n] == s.assumps[n] {
		n++
	}
	s.backtrack(n)
}

// Solve searches for an assignment of the cone that satisfies the assumptions.
// The literals of assumps that lie outside the cone are decided all the same.
//
// Require: every variable of assumps and cone exists.
// Ensure: Sat: Value is the model on the cone. Unsat: Core is set. Unknown: more
// than budget literals were propagated, or Stop is closed.
func (s *Solver) Solve(assumps []Lit, cone []Var, budget uint64) Result {
	s.core = s.core[:0]
	if s.broken {
		return Unsat
	}
	s.Prepare(assumps)
	s.assumps = append(s.assumps[:0], assumps...)
	if !s.attachPending() {
		return Unknown
	}
	s.setCone(cone)
	if s.broken {
		return Unsat
	}
	limit := s.Stats.Propagations + budget
	polled := s.Stats.Propagations
	for round := 0; ; round++ {
		if round&0xff == 0 || s.Stats.Propagations-polled > pollEvery {
			if polled = s.Stats.Propagations; s.stopped() {
				return Unknown
			}
		}
		if c := s.propagate(); c != 0 {
			s.Stats.Conflicts++
			if s.decisionLevel() == 0 {
				s.broken = true
				return Unsat
			}
			s.learn(c)
			if s.Stats.Propagations > limit {
				return Unknown
			}
			continue
		}
		if s.Stats.Propagations > limit {
			return Unknown
		}
		if s.sinceRestart > 50 && s.fast*4*s.lbdCount > s.lbdSum*5 && s.decisionLevel() > len(s.assumps) {
			s.Stats.Restarts++
			s.sinceRestart = 0
			s.backtrack(len(s.assumps))
		}
		if len(s.learnts) >= s.reduceAt {
			s.reduce()
		}
		p, ok, failed := s.pick()
		if failed {
			return Unsat
		}
		if !ok {
			return Sat
		}
		s.Stats.Decisions++
		s.newLevel()
		s.enqueue(p, 0)
	}
}

// pollEvery is how many propagations are made between two looks at Stop, and about how many clauses: some ten milliseconds.
const pollEvery = 1 << 16

func (s *Solver) stopped() bool {
	select {
	case <-s.Stop:
		return true
	default:
		return false
	}
}

// pick returns the next decision: an assumption not yet made or the most
// active open variable of the cone. failed means an assumption is false.
func (s *Solver) pick() (p Lit, ok, failed bool) {
	for s.decisionLevel() < len(s.assumps) {
		p := s.assumps[s.decisionLevel()]
		switch v := s.vals[p]; {
		case v > 0:
			s.newLevel()
		case v < 0:
			s.analyzeFinal(p)
			return 0, false, true
		default:
			return p, true, false
		}
	}
	for len(s.heap) > 0 {
		v := s.heapPop()
		if s.vals[v.Pos()] != 0 {
			continue
		}
		sign := Lit(s.phase[v])
		if s.random != 0 {
			s.random ^= s.random << 13
			s.random ^= s.random >> 7
			s.random ^= s.random << 17
			sign = Lit(s.random >> 40 & 1)
		}
		return v.Pos() | sign, true, false
	}
	return 0, false, false
}

// learn derives a clause from the false clause c, goes back, and asserts it.
func (s *Solver) learn(c uint32) {
	s.analyze(c)
	bt := 0
	if len(s.learnt) > 1 {
		m := 1
		for i := 2; i < len(s.learnt); i++ {
			if s.level[s.learnt[i].Var()] > s.level[s.learnt[m].Var()] {
				m = i
			}
		}
		s.learnt[1], s.learnt[m] = s.learnt[m], s.learnt[1]
		bt = int(s.level[s.learnt[1].Var()])
	}
	d := lbd(s, s.learnt)
	s.backtrack(bt)
	r := uint32(0)
	if len(s.learnt) > 1 {
		r = s.newClause(s.learnt, learned, d)
		if len(s.learnt) > 2 {
			s.learnts = append(s.learnts, r)
		}
	}
	s.enqueue(s.learnt[0], r)
	s.actInc *= 1 / 0.95
	x := uint64(d) << 15
	s.fast += x/32 - s.fast/32
	s.lbdSum += x
	s.lbdCount++
	s.sinceRestart++
}

// lbd counts the decision levels in a clause.
func lbd[L Lit | uint32](s *Solver, lits []L) uint32 {
	s.tagGen++
	n := uint32(0)
	for _, l := range lits {
		lv := int(s.level[Lit(l).Var()])
		for len(s.levelTag) <= lv {
			s.levelTag = append(s.levelTag, 0)
		}
		if s.levelTag[lv] != s.tagGen {
			s.levelTag[lv] = s.tagGen
			n++
		}
	}
	return n
}

// analyze leaves in s.learnt the minimised first-UIP clause of the conflict c;
// its first literal is the asserting one.
func (s *Solver) analyze(c uint32) {
	s.learnt = append(s.learnt[:0], 0)
	s.clear = s.clear[:0]
	open, idx := 0, len(s.trail)-1
	cur := int32(s.decisionLevel())
	var p Lit
	for first := true; ; first = false {
		n := s.arena[c] >> lenShift
		if s.arena[c]&learned != 0 && s.arena[c+1] > 2 {
			// Clauses in use keep their place: refresh the lbd.
			lits := s.arena[c+header : c+header+n]
			if l := lbd(s, lits); l < s.arena[c+1] {
				s.arena[c+1] = l
			}
		}
		for _, x := range s.arena[c+header : c+header+n] {
			q := Lit(x)
			v := q.Var()
			if !first && v == p.Var() || s.mark[v] != 0 || s.level[v] == 0 {
				continue
			}
			s.mark[v] = 1
			s.clear = append(s.clear, v)
			s.bump(v)
			if s.level[v] >= cur {
				open++
			} else {
				s.learnt = append(s.learnt, q)
			}
		}
		for s.mark[s.trail[idx].Var()] == 0 {
			idx--
		}
		p = s.trail[idx]
		idx--
		c = s.reason[p.Var()]
		if open--; open <= 0 {
			break
		}
		s.mark[p.Var()] = 0
	}
	s.learnt[0] = p.Not()
	levels := uint32(0)
	for _, q := range s.learnt[1:] {
		levels |= 1 << (uint32(s.level[q.Var()]) & 31)
	}
	j := 1
	for _, q := range s.learnt[1:] {
		if s.reason[q.Var()] == 0 || !s.redundant(q, levels) {
			s.learnt[j] = q
			j++
		}
	}
	s.learnt = s.learnt[:j]
	for _, v := range s.clear {
		s.mark[v] = 0
	}
}

// Marks of analyze: 1 in the clause or resolved, 2 found redundant, 3 found not.

// redundant reports whether q follows from marked literals (Sörensson and
// Biere, SAT 2009); levels is a filter of the clause's levels.
func (s *Solver) redundant(q Lit, levels uint32) bool {
	s.stack = append(s.stack[:0], q)
	top := len(s.clear)
	for len(s.stack) > 0 {
		p := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		c := s.reason[p.Var()]
		n := s.arena[c] >> lenShift
		for _, x := range s.arena[c+header : c+header+n] {
			l := Lit(x)
			v := l.Var()
			if v == p.Var() || s.level[v] == 0 || s.mark[v] == 1 || s.mark[v] == 2 {
				continue
			}
			if s.mark[v] == 3 || s.reason[v] == 0 || levels>>(uint32(s.level[v])&31)&1 == 0 {
				for _, u := range s.clear[top:] {
					s.mark[u] = 3
				}
				return false
			}
			s.mark[v] = 2
			s.clear = append(s.clear, v)
			s.stack = append(s.stack, l)
		}
	}
	return true
}

// analyzeFinal leaves in s.core the assumptions that make p, one of them, false.
func (s *Solver) analyzeFinal(p Lit) {
	s.core = append(s.core[:0], p)
	if s.level[p.Var()] == 0 {
		return
	}
	s.mark[p.Var()] = 1
	for i := len(s.trail) - 1; i >= int(s.trailLim[0]); i-- {
		v := s.trail[i].Var()
		if s.mark[v] == 0 {
			continue
		}
		s.mark[v] = 0
		c := s.reason[v]
		if c == 0 {
			s.core = append(s.core, s.trail[i])
			continue
		}
		n := s.arena[c] >> lenShift
		for _, x := range s.arena[c+header : c+header+n] {
			if u := Lit(x).Var(); u != v && s.level[u] > 0 {
				s.mark[u] = 1
			}
		}
	}
}
