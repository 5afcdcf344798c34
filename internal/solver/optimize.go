package solver

import (
	"slices"

	"symchef/internal/expr"
)

// with returns q under the model m of it, with one more conjunct.
func with(q Query, m expr.Assignment, e expr.Ref) Query {
	conj := append(slices.Clip(slices.Clone(q.Conjuncts)), e)
	return Query{Conjuncts: conj, Hint: m, New: 1, Effort: q.Effort}
}

// Minimize returns the least value of an expression under q, unsigned. The
// result is Sat when the value is exact; Unsat when q is; Unknown when some
// question was, and then the value means nothing.
func (c *Chain) Minimize(q Query, value expr.Ref) (uint64, Result) {
	return c.extreme(q, value, false, nil)
}

// Maximize returns the greatest value, as Minimize does the least.
func (c *Chain) Maximize(q Query, value expr.Ref) (uint64, Result) {
	return c.extreme(q, value, true, nil)
}

// extreme works on x, the value or for the maximum its complement, so that it
// always minimises. The best value found gallops down until a question fails;
// what remains is halved. Where all values that there may be are among some, in ascending order, it is asked whether there is
// a lesser one at all, then whether the least of these is one, and then those that remain are halved.
func (c *Chain) extreme(q Query, value expr.Ref, maximum bool, among []uint64) (uint64, Result) {
	res, m := c.Check(q)
	if res != Sat {
		return 0, res
	}
	w := c.ctx.Width(value)
	x := value
	if maximum {
		x = c.ctx.Not(value)
		among = slices.Clone(among)
		slices.Reverse(among)
		for i := range among {
			among[i] = ^among[i] & expr.Mask(w)
		}
	}
	best := c.ctx.Eval(x, m)
	low, _ := c.ctx.Range(x) // no smaller value is possible
	gallop := true
	// below asks for a value below bound: either best falls or low rises.
	below := func(bound uint64) Result {
		res, found := c.Check(with(q, m, c.ctx.Ult(x, c.ctx.Const(bound, w))))
		switch res {
		case Sat:
			m = found
			best = c.ctx.Eval(x, m)
		case Unsat:
			low = bound
			gallop = false
		}
		return res
	}
	for round := 0; among != nil; round++ {
		from, _ := slices.BinarySearch(among, low)
		to, _ := slices.BinarySearch(among, best)
		if from >= to {
			low = best
			break
		}
		probe := (from + to - 1) / 2
		switch round {
		case 0:
			probe = to - 1
		case 1:
			probe = from
		}
		if below(among[probe]+1) == Unknown {
			return 0, Unknown
		}
	}
	for step := uint64(1); best > low; {
		bound := best - min(step-1, best-low-1)
		if !gallop {
			bound = low + (best-low+1)/2
		}
		switch below(bound) {
		case Unknown:
			return 0, Unknown
		case Sat:
			if step < 1<<62 {
				step *= 4
			}
		}
	}
	if maximum {
		best = ^best & expr.Mask(w)
	}
	return best, Sat
}

// Values returns the feasible values of an expression under q in ascending
// order: all of them when complete, else the least max ones. The result is Sat
// when the list is exact, Unsat when q is, Unknown when some question was.
func (c *Chain) Values(q Query, value expr.Ref, max int) (vals []uint64, complete bool, res Result) {
	res, m := c.Check(q)
	if res != Sat {
		return nil, false, res
	}
	w := c.ctx.Width(value)
	conj := slices.Clone(q.Conjuncts)
	for {
		v := c.ctx.Eval(value, m)
		vals = append(vals, v)
		if len(vals) > max {
			break
		}
		conj = append(conj, c.ctx.Ne(value, c.ctx.Const(v, w)))
		res, m = c.Check(Query{Conjuncts: conj, Hint: m, New: 1})
		switch res {
		case Unknown:
			return nil, false, Unknown
		case Unsat:
			slices.Sort(vals)
			return vals, true, Sat
		}
	}
	// Too many: which ones were found depends on models, the least do not.
	vals = vals[:0]
	for len(vals) < max {
		sub := q
		if n := len(vals); n > 0 {
			above := c.ctx.Ult(c.ctx.Const(vals[n-1], w), value)
			sub = Query{Conjuncts: append(slices.Clone(q.Conjuncts), above), Hint: q.Hint, New: q.New + 1}
		}
		v, res := c.Minimize(sub, value)
		if res != Sat {
			return nil, false, Unknown
		}
		vals = append(vals, v)
	}
	return vals, false, Sat
}
