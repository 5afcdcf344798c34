package solver

import (
	"math/bits"
	"slices"

	"symchef/internal/expr"
)

// settler computes which values expressions over several variables may have where the conjuncts about each variable alone hold:
// a position that depends on which of many bytes is a newline, say, where most bytes have been compared already. It
// takes operands for independent of each other, so there may be fewer; where there are many it knows nothing.
type settler struct {
	dom     *domain
	gen     uint32
	of      []settled  // by Ref, of this generation
	frames  []frame    // by VarID, where a set is
	sets    []valueSet // by VarID; nil: not of few values
	setGen  []uint32   // by VarID
	alone   map[expr.VarID][]expr.Ref
	vars    []expr.VarID // of alone, as they come
	missing [1]expr.Ref
}

// settled is what is known of an expression: the values that it may have, in ascending order; nil: it may be any.
type settled struct {
	gen    uint32
	values []uint64
}

const (
	mostValues = 16 // of an expression
	mostTuples = 64 // of values of its operands
)

var aBit = []uint64{0, 1}

// begin takes in conj. It returns conjuncts about one variable that no value of it satisfies, if there are such.
func (s *settler) begin(conj []expr.Ref) (core []expr.Ref) {
	c := s.dom.chain
	if n := c.ctx.NumVars(); n > len(s.setGen) {
		s.frames = append(s.frames, make([]frame, n-len(s.frames))...)
		s.sets = append(s.sets, make([]valueSet, n-len(s.sets))...)
		s.setGen = append(s.setGen, make([]uint32, n-len(s.setGen))...)
	}
	s.gen++
	if s.gen == 0 {
		clear(s.of)
		clear(s.setGen)
		s.gen = 1
	}
	clear(s.alone)
	s.vars = s.vars[:0]
	for _, e := range conj {
		if vars := c.supp.vars(e); len(vars) == 1 {
			if s.alone[vars[0]] == nil {
				s.vars = append(s.vars, vars[0])
			}
			s.alone[vars[0]] = append(s.alone[vars[0]], e)
		}
	}
	for _, v := range s.vars {
		about := s.alone[v]
		f, ok := s.dom.frame(about, v)
		if !ok {
			continue
		}
		all, ok := s.dom.allowed(about, v, f)
		if !ok {
			continue
		}
		if all.least() < 0 {
			return about
		}
		s.frames[v], s.sets[v], s.setGen[v] = f, all, s.gen
	}
	return nil
}

// least returns the number of the least value in s; -1: there is none.
func (s valueSet) least() int {
	for i, w := range s {
		if w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// value returns what t is worth, if that is known.
func (s *settler) value(t expr.Ref) (uint64, bool) {
	s.prepare(t)
	if l := s.values(t); len(l) == 1 {
		return l[0], true
	}
	return 0, false
}

// prepare looks at what lies so deep below t that values should not go there at once.
func (s *settler) prepare(t expr.Ref) {
	known := func(x expr.Ref) bool { return int(x) < len(s.of) && s.of[x].gen == s.gen }
	for _, x := range s.dom.chain.ctx.Stones(t, known) {
		s.values(x)
	}
}

// values returns the values that t may have, in ascending order; nil if it does not know. They are not to be changed.
func (s *settler) values(t expr.Ref) []uint64 {
	e := s.dom.chain.ctx
	if int(t) >= len(s.of) {
		s.of = append(s.of, make([]settled, e.Len()+e.Len()/2+1-len(s.of))...)
	}
	if s.of[t].gen != s.gen {
		l := s.compute(t)
		if l == nil && e.Width(t) == 1 {
			l = aBit
		}
		s.of[t] = settled{s.gen, l}
	}
	return s.of[t].values
}

func (s *settler) compute(t expr.Ref) []uint64 {
	c := s.dom.chain
	e := c.ctx
	w, k := e.Width(t), e.Kind(t)
	if v, ok := e.IsConst(t); ok {
		return one(v, w)
	}
	if vars := c.supp.vars(t); len(vars) == 1 && s.setGen[vars[0]] == s.gen && w == 1 {
		v, known := s.alike(t, vars[0])
		if !known {
			return nil
		}
		return one(v, w)
	}
	if k == expr.Var {
		return s.allowed(e.VarOf(t), w)
	}
	var x [3][]uint64
	tuples := 1
	for i, o := range [...]expr.Ref{e.A(t), e.B(t), e.C(t)} {
		if i >= k.Arity() {
			x[i] = aBit[:1]
			continue
		}
		x[i] = s.values(o)
		tuples *= len(x[i])
		if k == expr.Ite && i == 0 && len(x[0]) == 1 { // only one arm matters
			if x[0][0] != 0 {
				return s.values(e.B(t))
			}
			return s.values(e.C(t))
		}
		if len(x[i]) == 1 && (x[i][0] == 0 && (k == expr.And || k == expr.Mul) || x[i][0] == expr.Mask(w) && k == expr.Or) {
			return x[i]
		}
	}
	if tuples == 0 || tuples > mostTuples {
		return nil
	}
	c.visit(tuples)
	l := make([]uint64, 0, tuples)
	for _, x0 := range x[0] {
		for _, x1 := range x[1] {
			for _, x2 := range x[2] {
				l = append(l, e.Apply(t, x0, x1, x2))
			}
		}
	}
	slices.Sort(l)
	if l = slices.Compact(l); len(l) > mostValues {
		return nil
	}
	return l
}

// one is a single value of w bits.
func one(v uint64, w uint) []uint64 {
	if w == 1 {
		return aBit[v : v+1]
	}
	return []uint64{v}
}

// allowed lists the values of v, of w bits, if they are few.
func (s *settler) allowed(v expr.VarID, w uint) (l []uint64) {
	if s.setGen[v] != s.gen || s.sets[v].count() > mostValues {
		return nil
	}
	for i := range s.frames[v].n {
		if s.sets[v].has(i) {
			l = append(l, s.frames[v].value(i, w))
		}
	}
	slices.Sort(l) // the frame may wrap
	return l
}

// count returns how many values are in s.
func (s valueSet) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// alike returns the value of t, one bit that depends on v alone, if it is the same for all values of v.
func (s *settler) alike(t expr.Ref, v expr.VarID) (uint64, bool) {
	f := s.frames[v]
	if s.dom.sets.of(t, f) == nil {
		s.missing[0] = t
		if !s.dom.affordable(s.missing[:], f) {
			return 0, false
		}
		s.dom.evaluate(s.missing[:], v, f)
	}
	some, others := uint64(0), uint64(0)
	for i, w := range s.dom.sets.of(t, f) {
		some |= w & s.sets[v][i]
		others |= s.sets[v][i] &^ w
	}
	switch {
	case others == 0:
		return 1, true
	case some == 0:
		return 0, true
	}
	return 0, false
}

// check decides a request if every conjunct on several variables is settled true, or one of them false; Unknown otherwise.
func (s *settler) check(r *request) Result {
	c := s.dom.chain
	if r.core = s.begin(r.conj); r.core != nil {
		return Unsat
	}
	open := false
	for _, e := range r.conj {
		vars := c.supp.vars(e)
		if len(vars) == 1 {
			open = open || s.setGen[vars[0]] != s.gen
			continue
		}
		switch v, known := s.value(e); {
		case !known:
			open = true
		case v == 0:
			r.core = append(r.core, e)
			for _, v := range vars {
				r.core = append(r.core, s.alone[v]...)
			}
			return Unsat
		}
	}
	if open {
		return Unknown
	}
	r.model = c.base(r.hint)
	for _, v := range r.vars {
		if s.setGen[v] != s.gen {
			continue // only what is true whatever it is depends on it
		}
		f := s.frames[v]
		w := c.ctx.VarWidth(v)
		if at := (r.model[v] - f.lo) & expr.Mask(w); at >= uint64(f.n) || !s.sets[v].has(int(at)) {
			r.model[v] = f.value(s.sets[v].least(), w)
		}
	}
	return Sat
}
