package solver

import "symchef/internal/expr"

// fold removes what needs no solving from a request.
type fold struct {
	chain *Chain
	next  stage
	conj  []expr.Ref
	parts []expr.Ref
}

func (f *fold) check(r *request) Result {
	c := f.chain
	gen := c.newMark()
	out := f.conj[:0]
	fresh := 0
	for i, e := range r.conj {
		isNew := i >= len(r.conj)-r.fresh
		f.parts = c.ctx.Conjuncts(f.parts[:0], e)
		for _, e := range f.parts {
			if _, ok := c.ctx.IsConst(e); ok {
				c.stats.Folded++
				return Unsat
			}
			if int(e) >= len(c.mark) {
				c.growMark()
			}
			if c.mark[e] == gen {
				continue
			}
			c.mark[e] = gen
			out = append(out, e)
			if isNew {
				fresh++
			}
		}
	}
	f.conj = out
	for _, e := range out {
		if c.contradicted(e, gen) {
			c.stats.Folded++
			return Unsat
		}
	}
	if fresh == 0 {
		c.stats.Folded++
		r.model = c.base(r.hint)
		return Sat
	}
	sub := request{conj: out, fresh: fresh, hint: r.hint}
	res := f.next.check(&sub)
	r.model, r.core = sub.model, sub.core
	return res
}

// contradicted reports whether e is the negation of a marked expression.
func (c *Chain) contradicted(e expr.Ref, gen uint32) bool {
	return c.ctx.Kind(e) == expr.Not && c.mark[c.ctx.A(e)] == gen
}

// slice keeps the conjuncts that share variables with the new ones, directly or
// through others.
type slice struct {
	chain  *Chain
	next   stage
	parent []uint32 // by VarID, union-find, valid where varGen equals gen
	varGen []uint32
	setGen []uint32 // by support set: done in this request
	wanted []uint32 // by VarID: root of a new conjunct's component
	gen    uint32
	conj   []expr.Ref
	vars   []expr.VarID
}

func (s *slice) find(v uint32) uint32 {
	if s.varGen[v] != s.gen {
		s.varGen[v] = s.gen
		s.parent[v] = v
	}
	for s.parent[v] != v {
		s.parent[v] = s.parent[s.parent[v]]
		v = s.parent[v]
	}
	return v
}

// prepare computes the components of conj.
func (s *slice) prepare(conj []expr.Ref) {
	c := s.chain
	for _, e := range conj {
		c.supp.id(e)
	}
	if n := c.ctx.NumVars(); n > len(s.parent) {
		s.parent = append(s.parent, make([]uint32, n+n/2-len(s.parent))...)
		s.varGen = append(s.varGen, make([]uint32, len(s.parent)-len(s.varGen))...)
		s.wanted = append(s.wanted, make([]uint32, len(s.parent)-len(s.wanted))...)
	}
	if n := len(c.supp.lists); n > len(s.setGen) {
		s.setGen = append(s.setGen, make([]uint32, n+n/2-len(s.setGen))...)
	}
	s.gen++
	if s.gen == 0 {
		clear(s.varGen)
		clear(s.setGen)
		clear(s.wanted)
		s.gen = 1
	}
	for _, e := range conj {
		id := c.supp.id(e)
		if s.setGen[id] == s.gen {
			continue
		}
		s.setGen[id] = s.gen
		vs := c.supp.lists[id]
		if len(vs) == 0 {
			continue
		}
		a := s.find(uint32(vs[0]))
		for _, v := range vs[1:] {
			if b := s.find(uint32(v)); a != b {
				s.parent[b] = a
			}
		}
	}
}

func (s *slice) check(r *request) Result {
	c := s.chain
	s.prepare(r.conj)
	keepAll := c.opts.Without["slice"]
	for _, e := range r.conj[len(r.conj)-r.fresh:] {
		if vs := c.supp.vars(e); len(vs) > 0 {
			s.wanted[s.find(uint32(vs[0]))] = s.gen
		}
	}
	s.conj, s.vars = s.conj[:0], s.vars[:0]
	sub := request{hint: r.hint, fresh: r.fresh}
	for i, e := range r.conj {
		vs := c.supp.vars(e)
		isNew := i >= len(r.conj)-r.fresh
		if keepAll || isNew || len(vs) > 0 && s.wanted[s.find(uint32(vs[0]))] == s.gen {
			s.conj = append(s.conj, e)
		}
	}
	// A set's mark now means that its variables are listed; a variable listed is
	// one whose varGen is ahead.
	for _, e := range s.conj {
		id := c.supp.id(e)
		if s.setGen[id] != s.gen {
			continue
		}
		s.setGen[id] = s.gen - 1
		for _, v := range c.supp.lists[id] {
			if s.varGen[v] == s.gen {
				s.varGen[v] = s.gen - 1
				s.vars = append(s.vars, v)
			}
		}
	}
	sub.conj, sub.vars = s.conj, s.vars
	res := s.next.check(&sub)
	if res == Sat {
		s.verify(&sub)
	}
	r.model, r.core = sub.model, sub.core
	return res
}

// verify evaluates the slice's conjuncts under the model found for it.
func (s *slice) verify(r *request) {
	c := s.chain
	c.ctx.NewEval()
	for _, e := range r.conj {
		if c.ctx.EvalMemo(e, r.model) != 1 {
			c.wrong("slice", r.conj, e, r.model)
		}
	}
}
