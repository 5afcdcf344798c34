package solver

import (
	"slices"
	"time"

	"symchef/internal/expr"
)

// Bounds returns the least and the greatest value.
func (c *Chain) Bounds(q Query, value expr.Ref) (lo, hi uint64, res Result) {
	start, before := time.Now(), c.stats.Time
	defer func() { c.stats.Time = before + time.Since(start) }() // with the questions that it asks
	m := q.Hint
	if m == nil || q.New > 0 {
		if res, m = c.Check(q); res != Sat {
			return 0, 0, res
		}
	} else { // the hint answers it
		c.stats.Queries++
		c.stats.Sat++
		c.stats.Folded++
	}
	conj := c.about(q.Conjuncts, value)
	b := &bound{value: value, conj: conj}
	key := b.key()
	if known := c.bounds.of(key, b); known != nil {
		return known.lo, known.hi, Sat
	}
	b.conj = slices.Clone(conj)
	res = c.ask(func() (res Result) {
		b.lo, b.hi, res = c.boundsAbout(Query{Conjuncts: conj, Hint: m, Effort: q.Effort}, value)
		return res
	})
	if res != Sat {
		return 0, 0, res
	}
	c.bounds.keep(key, b)
	return b.lo, b.hi, Sat
}

// boundsAbout is Bounds where q, which has a model, has nothing to do with other variables than those of value.
func (c *Chain) boundsAbout(q Query, value expr.Ref) (lo, hi uint64, res Result) {
	lo, hi, among, ok := c.dom.bounds(q.Conjuncts, value)
	if !ok && !c.opts.Without["residual"] {
		q.Conjuncts, value = c.bounded.left(q.Conjuncts, value)
		lo, hi, among, ok = c.dom.bounds(q.Conjuncts, value)
	}
	if ok {
		return lo, hi, Sat
	}
	if lo, res = c.extreme(q, value, false, among); res != Sat {
		return 0, 0, res
	}
	hi, res = c.extreme(q, value, true, among)
	return lo, hi, res
}

// bounds remembers answers: paths that differ elsewhere ask the same of what they share.
type bounds struct {
	known map[uint64]*bound
	refs  int // in all conj
}

// bound is what value is between, where conj holds.
type bound struct {
	value  expr.Ref
	conj   []expr.Ref
	lo, hi uint64
}

const maxBoundRefs = 1 << 20 // expressions that are remembered with bounds

func (b *bound) key() uint64 {
	h := uint64(b.value)
	for _, e := range b.conj {
		h = (h ^ uint64(e)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}

// of returns what is remembered of q, which has the key; nil if nothing is.
func (b *bounds) of(key uint64, q *bound) *bound {
	if k := b.known[key]; k != nil && k.value == q.value && slices.Equal(k.conj, q.conj) {
		return k
	}
	return nil
}

// keep remembers k; of several with one key, the last.
func (b *bounds) keep(key uint64, k *bound) {
	if b.known == nil || b.refs > maxBoundRefs {
		b.known, b.refs = map[uint64]*bound{}, 0
	}
	b.refs += len(k.conj) + 1
	b.known[key] = k
}

// about returns those of conj that share variables with value, directly or through others. A path may have
// thousands of conjuncts, and the bounds of an expression take several questions.
func (c *Chain) about(conj []expr.Ref, value expr.Ref) []expr.Ref {
	all := []expr.Ref{value}
	for _, e := range conj {
		all = c.ctx.Conjuncts(all, e)
	}
	vars := c.supp.vars(value)
	if len(vars) == 1 && c.alone(vars[0], all[1:]) {
		return c.those(all, func(e expr.Ref) bool {
			l := c.supp.vars(e)
			return len(l) == 1 && l[0] == vars[0]
		})
	}
	parts := &c.bounded.parts
	parts.prepare(all)
	with := map[uint32]bool{}
	for _, v := range vars {
		with[parts.find(uint32(v))] = true
	}
	return c.those(all, func(e expr.Ref) bool {
		l := c.supp.vars(e)
		return len(l) > 0 && with[parts.find(uint32(l[0]))]
	})
}

// alone reports whether no conjunct mentions v and another variable.
func (c *Chain) alone(v expr.VarID, conj []expr.Ref) bool {
	for _, e := range conj {
		if len(c.supp.vars(e)) > 1 && c.ctx.SupportSet(e).Has(v) {
			return false
		}
	}
	return true
}

// those returns the conjuncts behind the first of all that ok accepts, each once, in its place.
func (c *Chain) those(all []expr.Ref, ok func(expr.Ref) bool) []expr.Ref {
	gen := c.newMark()
	list := all[:0]
	for _, e := range all[1:] {
		if c.mark[e] != gen && ok(e) {
			c.mark[e] = gen
			list = append(list, e)
		}
	}
	return list
}
