package solver

import (
	"math/bits"

	"symchef/internal/expr"
)

// byteSet is a set of values of at most 8 bits.
type byteSet [4]uint64

type domainEntry struct {
	ref expr.Ref
	set byteSet
}

// domain answers requests about one variable of at most 8 bits: it evaluates
// each conjunct once for every value, remembers the set of values that satisfy
// it, and intersects the sets.
type domain struct {
	chain   *Chain
	next    stage
	memory  [1 << 12]domainEntry
	scratch expr.Assignment
}

// domainNodes is the largest conjunct worth 256 evaluations, in nodes.
const domainNodes = 60

func (s *domain) check(r *request) Result {
	c := s.chain
	if len(r.vars) != 1 || c.ctx.VarWidth(r.vars[0]) > 8 {
		return s.next.check(r)
	}
	for _, e := range r.conj {
		if c.supp.nodes(e) > domainNodes {
			return s.next.check(r)
		}
	}
	v := r.vars[0]
	all := byteSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	for _, e := range r.conj {
		set := s.set(e, v)
		for i := range all {
			all[i] &= set[i]
		}
	}
	c.stats.Domains++
	for i, w := range all {
		if w != 0 {
			r.model = c.base(r.hint)
			r.model[v] = uint64(64*i + bits.TrailingZeros64(w))
			return Sat
		}
	}
	return Unsat
}

func (s *domain) set(e expr.Ref, v expr.VarID) *byteSet {
	m := &s.memory[uint32(e)*2654435769>>20]
	if m.ref == e {
		return &m.set
	}
	c := s.chain
	if len(s.scratch) <= int(v) {
		s.scratch = make(expr.Assignment, c.ctx.NumVars())
	}
	m.ref, m.set = e, byteSet{}
	for x := range uint64(1) << c.ctx.VarWidth(v) {
		s.scratch[v] = x
		m.set[x/64] |= c.ctx.Eval(e, s.scratch) << (x % 64)
	}
	s.scratch[v] = 0
	return &m.set
}
