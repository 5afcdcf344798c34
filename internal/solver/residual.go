package solver

import (
	"slices"

	"symchef/internal/expr"
)

// residual makes requests smaller. What a conjunct says of an expression, that it has one value, is put into the others, until
// nothing changes. What is left falls into parts that share no variable; each is decided on its own, by its values if they
// are few.
//
// A conjunct is the claim that its subject has a value: what is left without a negation or a comparison with a constant around
// it. A claim is put into those whose subjects properly contain its subject; of claims of one subject the first is put into the
// others. So what simplified a claim does not depend on it, and all that is left together says what all said before.
type residual struct {
	chain *Chain
	next  stage
	parts slice // its sets of connected variables

	claims, made []claim     // of this round, and of the next
	done         []rewritten // what expressions become in this round
	slot         []uint32    // by Ref: its place in done, if it is there
	owns         []bool      // by claim: it is the first of its subject
	conj         []expr.Ref  // scratch of split
	last         []expr.Ref  // what left was asked last
}

// claim is a conjunct and what it was made of.
type claim struct {
	e    expr.Ref
	from origin
}

// origin is a set of conjuncts of a request, by their places modulo 64: of a long request it has some too many.
type origin uint64

// rewritten is what an expression becomes, and the claims put into it.
type rewritten struct {
	t, out expr.Ref
	from   origin
}

// residualRounds bounds the rounds; a round puts in what the one before has found.
const residualRounds = 8

func (s *residual) check(r *request) Result {
	c := s.chain
	s.begin(r.conj)
	before := c.stats.Asked
	res := s.reduce(r)
	if res == Unknown {
		res = s.decide(r)
	}
	if c.stats.Asked == before {
		c.stats.Residual++
	}
	return res
}

// begin makes claims of conj. What is left of them is a function of their set.
func (s *residual) begin(conj []expr.Ref) {
	s.claims = s.claims[:0]
	for i, e := range conj {
		s.claims = append(s.claims, claim{e, 1 << (i & 63)})
	}
}

// reduce replaces the claims by what is left of them, in the order of the request: requests of a path begin alike, and the back
// end goes on where they part. Unsat: a claim is false.
func (s *residual) reduce(r *request) Result {
	for range residualRounds {
		changed, wrong := s.round()
		if wrong != 0 {
			r.core = wrong.of(r.conj)
			return Unsat
		}
		if !changed {
			break
		}
	}
	return Unknown
}

// left returns what is left of conj, which can hold, and what value is then. A path asks for several values in a row.
func (s *residual) left(conj []expr.Ref, value expr.Ref) (list []expr.Ref, v expr.Ref) {
	if !slices.Equal(conj, s.last) {
		s.begin(conj)
		if s.reduce(&request{conj: conj}) == Unsat {
			panic("solver: what holds is a contradiction")
		}
		s.last = append(s.last[:0], conj...)
	}
	for _, cl := range s.claims {
		list = append(list, cl.e)
	}
	s.prepare(value)
	v, _ = s.rewrite(value)
	return list, v
}

// of returns the conjuncts in o.
func (o origin) of(conj []expr.Ref) (list []expr.Ref) {
	for i, e := range conj {
		if o>>(i&63)&1 != 0 {
			list = append(list, e)
		}
	}
	return list
}

// round puts the claims into each other. It returns the origin of one that is false; 0: none is.
func (s *residual) round() (changed bool, wrong origin) {
	c := s.chain
	e := c.ctx
	s.done, s.owns, s.made = s.done[:0], s.owns[:0], s.made[:0]
	for _, cl := range s.claims {
		t, v := subject(e, cl.e)
		first := s.find(t) == nil
		if first {
			s.add(t, e.Const(v, e.Width(t)), cl.from)
		}
		s.owns = append(s.owns, first)
	}
	gen := c.newMark()
	for i, cl := range s.claims {
		t, v := subject(e, cl.e)
		s.prepare(t)
		var x expr.Ref
		var from origin
		if s.owns[i] {
			x, from = s.inside(t)
		} else {
			x, from = s.rewrite(t)
		}
		out := cl.e
		if x != t {
			changed = true
			out = e.Eq(x, e.Const(v, e.Width(t)))
		}
		if wrong = s.split(claim{out, cl.from | from}, gen); wrong != 0 {
			return true, wrong
		}
	}
	s.claims, s.made = s.made, s.claims
	return changed, 0
}

// subject returns what conjunct r is about, and the value that it gives it.
func subject(e *expr.Ctx, r expr.Ref) (t expr.Ref, v uint64) {
	switch e.Kind(r) {
	case expr.Not:
		return e.A(r), 0
	case expr.Eq:
		if v, ok := e.IsConst(e.B(r)); ok {
			return e.A(r), v
		}
		if v, ok := e.IsConst(e.A(r)); ok {
			return e.B(r), v
		}
	}
	return r, 1
}

// split makes claims of the conjuncts of cl; gen marks those made. It returns cl's origin if one is false.
func (s *residual) split(cl claim, gen uint32) (wrong origin) {
	c := s.chain
	s.conj = c.ctx.Conjuncts(s.conj[:0], cl.e)
	for _, e := range s.conj {
		if _, ok := c.ctx.IsConst(e); ok {
			return cl.from
		}
		if int(e) >= len(c.mark) {
			c.growMark()
		}
		if c.mark[e] != gen {
			c.mark[e] = gen
			s.made = append(s.made, claim{e, cl.from})
		}
	}
	return 0
}

// find returns what t becomes; nil: that is not known yet.
func (s *residual) find(t expr.Ref) *rewritten {
	if int(t) >= len(s.slot) {
		n := s.chain.ctx.Len() + 1
		s.slot = append(s.slot, make([]uint32, n+n/2-len(s.slot))...)
	}
	if i := int(s.slot[t]); i < len(s.done) && s.done[i].t == t {
		return &s.done[i]
	}
	return nil
}

// add notes what t, which find has not found, becomes.
func (s *residual) add(t, out expr.Ref, from origin) {
	s.slot[t] = uint32(len(s.done))
	s.done = append(s.done, rewritten{t, out, from})
}

// prepare rewrites what lies so deep below t that rewrite should not go there at once.
func (s *residual) prepare(t expr.Ref) {
	for _, x := range s.chain.ctx.Stones(t, func(x expr.Ref) bool { return s.find(x) != nil }) {
		s.rewrite(x)
	}
}

// rewrite returns t with the claims put into it.
func (s *residual) rewrite(t expr.Ref) (out expr.Ref, from origin) {
	if d := s.find(t); d != nil {
		return d.out, d.from
	}
	out, from = s.inside(t)
	s.add(t, out, from)
	return out, from
}

// inside returns t with the claims put into its operands.
func (s *residual) inside(t expr.Ref) (out expr.Ref, from origin) {
	e := s.chain.ctx
	s.chain.visit(1)
	k := e.Kind(t)
	old := [3]expr.Ref{e.A(t), e.B(t), e.C(t)}
	x := old
	for i := range k.Arity() {
		var f origin
		x[i], f = s.rewrite(old[i])
		from |= f
		if k == expr.Ite && i == 0 { // only the arm that is left is looked at
			if v, ok := e.IsConst(x[0]); ok {
				out, f = s.rewrite(old[2-v])
				return out, from | f
			}
		}
	}
	if x == old {
		return t, 0
	}
	return e.Rebuild(t, x[0], x[1], x[2]), from
}

// decide decides what is left.
func (s *residual) decide(r *request) Result {
	c := s.chain
	left := slices.Clone(s.claims)
	conj := make([]expr.Ref, len(left))
	for i, cl := range left {
		conj[i] = cl.e
	}
	s.parts.prepare(conj)
	part := map[uint32][]int{} // by root: the places of its claims
	var roots []uint32
	for i, e := range conj {
		root := ^uint32(0) // of those without variables
		if vars := c.supp.vars(e); len(vars) > 0 {
			root = s.parts.find(uint32(vars[0]))
		}
		if part[root] == nil {
			roots = append(roots, root)
		}
		part[root] = append(part[root], i)
	}
	res := Sat
	model := c.base(r.hint)
	for _, root := range roots {
		sub := request{hint: r.hint, fresh: len(part[root])}
		for _, i := range part[root] {
			sub.conj = append(sub.conj, conj[i])
			sub.vars = append(sub.vars, c.supp.vars(conj[i])...)
		}
		slices.Sort(sub.vars)
		sub.vars = slices.Compact(sub.vars)
		switch s.one(&sub) {
		case Sat:
			for _, v := range sub.vars {
				model[v] = sub.model[v]
			}
		case Unsat:
			var from origin
			for _, i := range part[root] {
				if sub.core == nil || slices.Contains(sub.core, conj[i]) {
					from |= left[i].from
				}
			}
			r.core = from.of(r.conj)
			return Unsat
		default:
			res = Unknown // another may be Unsat
		}
	}
	r.model = model
	return res
}

// one decides a part.
func (s *residual) one(r *request) Result {
	c := s.chain
	if r.hint != nil {
		c.ctx.NewEval()
		if !slices.ContainsFunc(r.conj, func(e expr.Ref) bool { return c.ctx.EvalMemo(e, r.hint) != 1 }) {
			r.model = c.base(r.hint)
			return Sat
		}
	}
	if !c.opts.Without["domain"] {
		if res := c.dom.decide(r); res != Unknown {
			return res
		}
	}
	return s.next.check(r)
}
