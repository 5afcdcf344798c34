package sat

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

// reduce deletes the worse half of the learned clauses: those of high lbd,
// among equals the older. Clauses of lbd 2 and reasons stay.
func (s *Solver) reduce() {
	s.Stats.Reductions++
	order := slices.Clone(s.learnts)
	slices.SortFunc(order, func(a, b uint32) int {
		if x, y := s.arena[a+1], s.arena[b+1]; x != y {
			return int(x) - int(y)
		}
		return int(b) - int(a)
	})
	for _, c := range order[len(order)/2:] {
		first := Lit(s.arena[c+header])
		locked := s.vals[first] > 0 && s.reason[first.Var()] == c
		if s.arena[c+1] > 2 && !locked {
			s.wasted += int(s.arena[c]>>lenShift) + header
			s.arena[c] |= deleted
		}
	}
	s.compact()
	s.reduceAt = max(s.reduceAt, len(s.learnts)) + 300
}

// compact moves the live clauses together. While it runs, word 1 of an old
// clause is its new place.
func (s *Solver) compact() {
	old := s.arena
	fresh := make([]uint32, 1, len(old)-s.wasted+len(old)/4)
	for c := uint32(1); c < uint32(len(old)); {
		n := old[c]>>lenShift + header
		if old[c]&deleted == 0 {
			at := uint32(len(fresh))
			fresh = append(fresh, old[c:c+n]...)
			old[c+1] = at
		}
		c += n
	}
	for p := range s.watches[:2*s.nv] {
		ws := s.watches[p]
		j := 0
		for _, w := range ws {
			c := w.c &^ binary
			if old[c]&deleted == 0 {
				ws[j] = watch{old[c+1] | w.c&binary, w.blocker}
				j++
			}
		}
		s.watches[p] = ws[:j]
	}
	for _, p := range s.trail {
		if c := s.reason[p.Var()]; c != 0 {
			s.reason[p.Var()] = old[c+1]
		}
	}
	live := s.learnts[:0]
	for _, c := range s.learnts {
		if old[c]&deleted == 0 {
			live = append(live, old[c+1])
		}
	}
	s.learnts, s.arena, s.wasted = live, fresh, 0
}

// WriteDIMACS writes the clauses that were added, the literals fixed by them,
// and the assumptions as unit clauses; variable v is called v+1.
func (s *Solver) WriteDIMACS(w io.Writer, assumps []Lit) error {
	s.attachPending()
	fixed := len(s.trail)
	if len(s.trailLim) > 0 {
		fixed = int(s.trailLim[0])
	}
	count := fixed + len(assumps)
	each := func(f func(lits []uint32)) {
		for c := uint32(1); c < uint32(len(s.arena)); {
			n := s.arena[c] >> lenShift
			if s.arena[c]&(learned|deleted) == 0 {
				f(s.arena[c+header : c+header+n])
			}
			c += n + header
		}
	}
	each(func([]uint32) { count++ })
	if s.broken {
		count++
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "p cnf %d %d\n", s.nv, count)
	lit := func(l Lit) {
		if l&1 != 0 {
			b.WriteByte('-')
		}
		fmt.Fprintf(b, "%d ", l.Var()+1)
	}
	for _, l := range s.trail[:fixed] {
		lit(l)
		b.WriteString("0\n")
	}
	for _, l := range assumps {
		lit(l)
		b.WriteString("0\n")
	}
	each(func(lits []uint32) {
		for _, l := range lits {
			lit(Lit(l))
		}
		b.WriteString("0\n")
	})
	if s.broken {
		b.WriteString("0\n")
	}
	return b.Flush()
}
