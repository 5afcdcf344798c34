package solver

import (
	"math/bits"

	"symchef/internal/expr"
)

// settler computes what expressions over several variables are worth wherever the conjuncts about each variable alone hold:
// a position that depends on which of many bytes is a newline, say, where every byte has been compared already. It knows
// constants and nothing else; what depends on a value that is still open is unknown.
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

// settled is what is known of an expression.
type settled struct {
	gen   uint32
	known bool
	value uint64
}

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
	e := s.dom.chain.ctx
	if v, ok := e.IsConst(t); ok {
		return v, true
	}
	if int(t) >= len(s.of) {
		s.of = append(s.of, make([]settled, e.Len()+e.Len()/2+1-len(s.of))...)
	}
	if x := s.of[t]; x.gen == s.gen {
		return x.value, x.known
	}
	v, known := s.compute(t)
	s.of[t] = settled{s.gen, known, v}
	return v, known
}

func (s *settler) compute(t expr.Ref) (uint64, bool) {
	c := s.dom.chain
	e := c.ctx
	if vars := c.supp.vars(t); len(vars) == 1 && s.setGen[vars[0]] == s.gen && e.Width(t) == 1 {
		if v, known := s.alike(t, vars[0]); known {
			return v, true
		}
	}
	k := e.Kind(t)
	if k == expr.Var {
		v := e.VarOf(t)
		if s.setGen[v] != s.gen {
			return 0, false
		}
		set, i := s.sets[v], s.sets[v].least()
		if !set.single(i) {
			return 0, false
		}
		return s.frames[v].value(i, e.Width(t)), true
	}
	var x [3]uint64
	var known [3]bool
	for i, o := range [...]expr.Ref{e.A(t), e.B(t), e.C(t)} {
		if i == k.Arity() {
			break
		}
		if k == expr.Ite && i > 0 && known[0] && (x[0] != 0) != (i == 1) {
			continue // the other arm
		}
		x[i], known[i] = s.value(o)
		if known[i] && x[i] == 0 && (k == expr.And || k == expr.Mul) {
			return 0, true
		}
		if known[i] && x[i] == expr.Mask(e.Width(t)) && k == expr.Or {
			return x[i], true
		}
	}
	switch {
	case k == expr.Ite && known[0] && x[0] != 0:
		return x[1], known[1]
	case k == expr.Ite && known[0]:
		return x[2], known[2]
	case k == expr.Ite:
		return x[1], known[1] && known[2] && x[1] == x[2]
	}
	for i := range k.Arity() {
		if !known[i] {
			return 0, false
		}
	}
	return e.Apply(t, x[0], x[1], x[2]), true
}

// single reports whether the i-th value is the only one.
func (s valueSet) single(i int) bool {
	for k, w := range s {
		if k == i/64 {
			w &^= 1 << (i % 64)
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// alike returns the value of t, one bit that depends on v alone, if it is the same for all values of v.
func (s *settler) alike(t expr.Ref, v expr.VarID) (uint64, bool) {
	f := s.frames[v]
	key := domainKey{t, f}
	if s.dom.known[key] == nil {
		s.missing[0] = t
		if !s.dom.affordable(s.missing[:], f) {
			return 0, false
		}
		s.dom.evaluate(s.missing[:], v, f)
	}
	some, others := uint64(0), uint64(0)
	for i, w := range s.dom.known[key] {
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
