package solver

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"symchef/internal/expr"
)

// Limits of a search through all values.
const (
	tuplesWork = 1 << 28 // evaluations of a node: some two seconds, when the budget of a fresh instance is four
	// Before circuits are asked: some 20 ms, and tuples of which so short a search can see a good part.
	fewWork = 1 << 22
	mostFew = 1 << 24

	minLanes = 16 // values of the last variable from which on they are tried together
)

// hard reports whether conj has arithmetic that circuits are bad at: the upper half of a product, division, floats.
func (s *domain) hard(conj []expr.Ref) bool {
	return !s.walk(conj, func(t expr.Ref) bool {
		k := s.chain.ctx.Kind(t)
		return k < expr.MulHU || k > expr.SRem && k < expr.FAdd
	})
}

// tuples decides a request by trying all values of its variables, where they are few: digits, say, of a number
// on which the program does arithmetic that circuits are bad at. Each variable takes the values that the conjuncts about
// it alone allow; a conjunct is looked at as soon as its variables have values. Unknown: there are too many.
//
// Names order the variables, so what is too much does not depend on what was asked before.
func (s *domain) tuples(r *request) Result {
	c := s.chain
	return s.enumerate(r, nil, int(min(tuplesWork*(c.budget>>10)/max(c.opts.Budget>>10, 1), math.MaxInt32)), math.Inf(1))
}

// fewTuples is tuples where there are few, before circuits are asked: from the request's hint on, so that the path goes on like the one that asks.
func (s *domain) fewTuples(r *request) Result { return s.enumerate(r, r.hint, fewWork, mostFew) }

// enumerate is tuples with so much work, if there are no more than most; values in first come before the others.
func (s *domain) enumerate(r *request, first expr.Assignment, work int, most float64) Result {
	c := s.chain
	if c.opts.Without["tuples"] {
		return Unknown
	}
	alone := map[expr.VarID][]expr.Ref{}
	var joint []expr.Ref
	for _, e := range r.conj {
		if vars := c.supp.vars(e); len(vars) == 1 {
			alone[vars[0]] = append(alone[vars[0]], e)
		} else {
			joint = append(joint, e)
		}
	}
	values, res := s.values(r, alone, first, most)
	switch {
	case res != Sat:
		return res
	case s.size(joint)*len(r.vars) > work:
		return Unknown
	}
	order := s.order(r.vars, joint, values)
	slices.SortFunc(joint, func(x, y expr.Ref) int { // what is cheap first
		return cmp.Or(cmp.Compare(c.supp.nodes(x), c.supp.nodes(y)), cmp.Compare(c.ctx.Hash(x), c.ctx.Hash(y)))
	})
	t := &trial{c: c, p: c.ctx.NewPlan(order, joint), work: work, next: make([]int, len(order))}
	for _, v := range order {
		t.values = append(t.values, values[v])
	}
	if res = t.run(); res == Sat {
		r.model = c.base(r.hint)
		for k, v := range order {
			r.model[v] = t.values[k][t.next[k]-1]
		}
	}
	return res
}

// values are those that the conjuncts alone, each of one variable, allow for the variables of r, the value of first before the others. Unsat: a variable
// has none; Unknown: they cannot be listed, or give more than most tuples.
func (s *domain) values(r *request, alone map[expr.VarID][]expr.Ref, first expr.Assignment, most float64) (map[expr.VarID][]uint64, Result) {
	values, all := map[expr.VarID][]uint64{}, 1.0
	for _, v := range r.vars {
		f, ok := s.frame(alone[v], v)
		if !ok {
			return nil, Unknown
		}
		set, ok := s.allowed(alone[v], v, f)
		if !ok {
			return nil, Unknown
		}
		for i := range f.n {
			if set.has(i) {
				values[v] = append(values[v], f.value(i, s.chain.ctx.VarWidth(v)))
			}
		}
		if len(values[v]) == 0 {
			r.core = alone[v]
			return nil, Unsat
		}
		if all *= float64(len(values[v])); all > most {
			return nil, Unknown
		}
		if i := slices.Index(values[v], first.Get(v)); first != nil && i > 0 {
			values[v][0], values[v][i] = values[v][i], values[v][0]
		}
	}
	return values, Sat
}

// trial tries tuples of values, a variable after the other.
type trial struct {
	c      *Chain
	p      *expr.Plan
	work   int        // that p may do
	seen   int        // of it that c knows of
	values [][]uint64 // by place in the order of variables
	next   []int      // by place: index of the value to try
}

// run goes on to the first tuple that holds: the values before next.
func (t *trial) run() Result {
	last := len(t.values) - 1
	for i := 0; i >= 0; {
		if t.next[i] == len(t.values[i]) {
			t.next[i] = 0
			i--
			continue
		}
		if t.p.Work() > t.work {
			return Unknown
		}
		t.c.visit(t.p.Work() - t.seen)
		t.seen = t.p.Work()
		switch {
		case !t.try(i, i == last):
		case i == last:
			return Sat
		default:
			i++
		}
	}
	return Unsat
}

// try gives place i its next value, several at once at the last place; false: nothing holds with it.
func (t *trial) try(i int, last bool) bool {
	k, vs := t.next[i], t.values[i]
	t.next[i]++
	if !last || len(vs) < minLanes {
		return t.p.Set(i, vs[k])
	}
	if k%expr.Lanes == 0 {
		end := min(k+expr.Lanes, len(vs))
		if any, more := t.p.Try(vs[k:end]); !any && t.p.Work()+more <= t.work {
			t.p.Spend(more)
			t.next[i] = end
			return false
		}
	}
	return t.p.Tried(k % expr.Lanes)
}

// size is how many nodes refs have.
func (s *domain) size(refs []expr.Ref) (n int) {
	s.walk(refs, func(expr.Ref) bool { n++; return true })
	return n
}

// order puts last what few nodes depend on: they are computed most often.
func (s *domain) order(vars []expr.VarID, joint []expr.Ref, values map[expr.VarID][]uint64) []expr.VarID {
	c := s.chain
	left := slices.SortedFunc(slices.Values(vars), func(x, y expr.VarID) int {
		return strings.Compare(c.ctx.VarName(x), c.ctx.VarName(y))
	})
	var nodes []expr.Ref // that mention a variable
	s.walk(joint, func(t expr.Ref) bool {
		if len(c.supp.vars(t)) > 0 {
			nodes = append(nodes, t)
		}
		return true
	})
	order := make([]expr.VarID, len(left))
	for i := len(order) - 1; i >= 0; i-- {
		c.visit(len(nodes))
		uses := map[expr.VarID]int{}
		for _, n := range nodes {
			for _, v := range c.supp.vars(n) {
				uses[v]++
			}
		}
		last := slices.MinFunc(left, func(x, y expr.VarID) int {
			return cmp.Or(cmp.Compare(uses[x], uses[y]), cmp.Compare(len(values[y]), len(values[x])))
		})
		order[i] = last
		left = slices.DeleteFunc(left, func(v expr.VarID) bool { return v == last })
		nodes = slices.DeleteFunc(nodes, func(n expr.Ref) bool { return slices.Contains(c.supp.vars(n), last) })
	}
	return order
}
