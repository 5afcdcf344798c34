package solver

import (
	"symchef/internal/expr"
)

// frame is the range of values that a variable is tried on: n values from lo on, modulo its width.
type frame struct {
	lo uint64
	n  int
}

// valueSet is a set of values of a frame: bit i is lo+i.
type valueSet []uint64

func (s valueSet) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

// domain answers requests about variables of few values, bytes or
// integers with declared bounds. For one variable it evaluates each conjunct once for every value,
// remembers the set of values that satisfy it, and intersects the sets.
type domain struct {
	chain   *Chain
	next    stage
	sets    kept[valueSet]
	curves  kept[[]uint64] // what expressions are for each value
	missing []expr.Ref
	todo    []expr.Ref
	scratch expr.Assignment
	settler settler
}

const (
	domainValues = 4096    // most values of a variable
	domainWork   = 1 << 20 // most evaluations of a node for one request: some 20 ms
	domainWords  = 1 << 20 // words of sets, or of curves, at which they are forgotten
)

// kept is what expressions are over their one variable, each for the frame that was asked for last.
type kept[T ~[]uint64] struct {
	index []uint32 // by Ref: 1 + the number in all; 0: none
	all   []framed[T]
	words int // in all
}

// framed are words for the values of a frame.
type framed[T ~[]uint64] struct {
	frame
	words T
}

// of returns what is kept of r in f; nil if nothing is.
func (k *kept[T]) of(r expr.Ref, f frame) T {
	if int(r) >= len(k.index) || k.index[r] == 0 {
		return nil
	}
	if e := &k.all[k.index[r]-1]; e.frame == f {
		return e.words
	}
	return nil
}

// keep keeps words of r in f, among n expressions that there are.
func (k *kept[T]) keep(r expr.Ref, f frame, words T, n int) {
	if len(k.index) <= n {
		k.index = append(k.index, make([]uint32, n+n/2+1-len(k.index))...)
	}
	k.all = append(k.all, framed[T]{f, words})
	k.index[r] = uint32(len(k.all))
	k.words += len(words)
}

// limit forgets all if there is too much.
func (k *kept[T]) limit() {
	if k.words > domainWords {
		*k = kept[T]{index: k.index}
		clear(k.index)
	}
}

func newDomain(c *Chain, next stage) *domain {
	s := &domain{chain: c, next: next}
	s.settler = settler{dom: s, alone: map[expr.VarID][]expr.Ref{}}
	return s
}

// check answers what is about one variable. What is about several becomes less first.
func (s *domain) check(r *request) Result {
	if len(r.vars) == 1 {
		if res := s.decide(r); res != Unknown {
			s.chain.stats.Domains++
			return res
		}
	}
	return s.next.check(r)
}

// decide answers r if its variables have few values. Unknown: they have too many.
func (s *domain) decide(r *request) Result {
	c := s.chain
	if len(r.vars) != 1 {
		return s.settler.check(r)
	}
	v := r.vars[0]
	f, ok := s.frame(r.conj, v)
	if !ok {
		return Unknown
	}
	all, ok := s.allowed(r.conj, v, f)
	if !ok {
		return Unknown
	}
	if i := all.least(); i >= 0 {
		r.model = c.base(r.hint)
		r.model[v] = f.value(i, c.ctx.VarWidth(v))
		return Sat
	}
	return Unsat
}

// value is the i-th value of f.
func (f frame) value(i int, w uint) uint64 { return (f.lo + uint64(i)) & expr.Mask(w) }

// frame returns the values of v that conj leaves by its first bounds, a declaration's.
func (s *domain) frame(conj []expr.Ref, v expr.VarID) (f frame, ok bool) {
	e := s.chain.ctx
	w := e.VarWidth(v)
	if w <= 12 {
		return frame{0, 1 << w}, true
	}
	var lo, end int64
	hasLo, hasEnd := false, false
	for _, r := range conj {
		negated := e.Kind(r) == expr.Not
		if negated {
			r = e.A(r)
		}
		of := func(k expr.Kind) bool { return e.Kind(r) == k && e.A(r) == e.VarRef(v) }
		switch {
		case of(expr.Slt):
			if k, isConst := e.IsConst(e.B(r)); !isConst {
				continue
			} else if n := expr.SignExtend(k, w); negated && !hasLo {
				lo, hasLo = n, true
			} else if !negated && !hasEnd {
				end, hasEnd = n, true
			}
		case of(expr.Extract) && e.Lo(r) == w-1 && negated && !hasLo:
			lo, hasLo = 0, true // not negative
		case of(expr.Extract) && e.Lo(r) == w-1 && !negated && !hasEnd:
			end, hasEnd = 0, true // negative
		}
		if hasLo && hasEnd {
			n := uint64(end) - uint64(lo)
			return frame{uint64(lo) & expr.Mask(w), int(n)}, lo < end && n <= domainValues
		}
	}
	return frame{}, false
}

// allowed returns the values of v in f that satisfy conj, which mentions nothing
// else; ok is false where that is too much work.
func (s *domain) allowed(conj []expr.Ref, v expr.VarID, f frame) (all valueSet, ok bool) {
	s.sets.limit()
	s.missing = s.missing[:0]
	for _, e := range conj {
		if s.sets.of(e, f) == nil {
			s.missing = append(s.missing, e)
		}
	}
	if !s.affordable(s.missing, f) {
		return nil, false
	}
	s.evaluate(s.missing, v, f)
	all = make(valueSet, (f.n+63)/64)
	for i := range all {
		all[i] = ^uint64(0)
	}
	all[len(all)-1] >>= -uint(f.n) % 64
	for _, e := range conj {
		for i, w := range s.sets.of(e, f) {
			all[i] &= w
		}
	}
	return all, true
}

// affordable reports whether evaluating refs on all of f is within domainWork.
func (s *domain) affordable(refs []expr.Ref, f frame) bool {
	left := domainWork / f.n
	return s.walk(refs, func(expr.Ref) bool {
		left--
		return left >= 0
	})
}

// walk calls visit for every node of refs, each once, until it returns false.
func (s *domain) walk(refs []expr.Ref, visit func(expr.Ref) bool) bool {
	c := s.chain
	gen := c.newMark()
	s.todo = append(s.todo[:0], refs...)
	for len(s.todo) > 0 {
		t := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		if c.mark[t] == gen {
			continue
		}
		c.mark[t] = gen
		c.visit(1)
		if !visit(t) {
			return false
		}
		for i, o := range [...]expr.Ref{c.ctx.A(t), c.ctx.B(t), c.ctx.C(t)} {
			if i < c.ctx.Kind(t).Arity() {
				s.todo = append(s.todo, o)
			}
		}
	}
	return true
}

// evaluate finds and remembers the sets of refs.
func (s *domain) evaluate(refs []expr.Ref, v expr.VarID, f frame) {
	if len(refs) == 0 {
		return
	}
	e := s.chain.ctx
	size := (f.n + 63) / 64
	sets := make([]valueSet, len(refs))
	for i := range refs {
		sets[i] = make(valueSet, size)
	}
	s.each(v, f, func(x int) {
		for i, r := range refs {
			sets[i][x/64] |= e.EvalMemo(r, s.scratch) << (x % 64)
		}
	})
	for i, r := range refs {
		s.sets.keep(r, f, sets[i], e.Len())
	}
}

// each calls do for the number of every value of f, with scratch set to it.
func (s *domain) each(v expr.VarID, f frame, do func(x int)) {
	e := s.chain.ctx
	if len(s.scratch) < e.NumVars() {
		s.scratch = make(expr.Assignment, e.NumVars())
	}
	for x := range f.n {
		s.scratch[v] = f.value(x, e.VarWidth(v))
		s.chain.visit(1)
		e.NewEval()
		do(x)
	}
	s.scratch[v] = 0
}

// bounds returns the least and the greatest value of an expression where conj holds, which it can; ok is false where it does not know.
// Then all values that the expression may have are among some, in ascending order, unless that is nil.
func (s *domain) bounds(conj []expr.Ref, value expr.Ref) (lo, hi uint64, among []uint64, ok bool) {
	c := s.chain
	if v, isConst := c.ctx.IsConst(value); isConst {
		return v, v, nil, true
	}
	if c.opts.Without["domain"] {
		return 0, 0, nil, false
	}
	vars := c.supp.vars(value)
	if len(vars) != 1 {
		if s.settler.begin(conj) == nil {
			s.settler.prepare(value)
			among = s.settler.values(value)
		}
		if len(among) == 1 {
			return among[0], among[0], among, true
		}
		return 0, 0, among, false
	}
	v := vars[0]
	var about []expr.Ref
	all := true
	for _, r := range conj {
		if set := c.supp.vars(r); len(set) == 1 && set[0] == v {
			about = append(about, r)
		} else if c.ctx.SupportSet(r).Has(v) {
			all = false // there may be fewer values
		}
	}
	f, ok := s.frame(about, v)
	if !ok {
		return 0, 0, nil, false
	}
	curve := s.curve(value, v, f)
	if curve == nil {
		return 0, 0, nil, false
	}
	set, ok := s.allowed(about, v, f)
	if !ok {
		return 0, 0, nil, false
	}
	lo, ok = ^uint64(0), false
	for x, n := range curve {
		if set.has(x) {
			lo, hi, ok = min(lo, n), max(hi, n), true
		}
	}
	return lo, hi, nil, ok && (all || lo == hi)
}

// curve returns what value, which mentions v alone, is for each value of f; nil if that is too much work.
func (s *domain) curve(value expr.Ref, v expr.VarID, f frame) []uint64 {
	if known := s.curves.of(value, f); known != nil {
		return known
	}
	if !s.affordable([]expr.Ref{value}, f) {
		return nil
	}
	s.curves.limit()
	e := s.chain.ctx
	out := make([]uint64, f.n)
	s.each(v, f, func(x int) { out[x] = e.EvalMemo(value, s.scratch) })
	s.curves.keep(value, f, out, e.Len())
	return out
}
