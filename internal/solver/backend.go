package solver

import (
	"slices"

	"symchef/internal/bitblast"
	"symchef/internal/expr"
	"symchef/internal/sat"
)

const (
	maxGates = 1 << 21 // of a graph, before it is built anew; 13 bytes each, and the words
	// The incremental instance may spend one part in this many of the budget. Its
	// history must not decide what is Unknown: what it answers, the fresh instance, with so much more, answers too.
	incrementalShare = 16
)

// backend answers hard arithmetic by a search through all values where they are few, then all by SAT: the incremental instance, then a
// fresh one under the budget that decides, or a longer search through all values; then the fallback.
type backend struct {
	chain *Chain
	graph *bitblast.Graph
	inst  *bitblast.Instance
	limit int       // variables at which inst is reset
	spent sat.Stats // by fresh instances
}

func newBackend(c *Chain) *backend {
	g := bitblast.NewGraph(c.ctx)
	b := &backend{chain: c, graph: g, inst: bitblast.NewInstance(g), limit: c.opts.ResetVars}
	b.inst.Solver().Stop = c.opts.Stop
	return b
}

func (b *backend) work() (propagations, conflicts uint64) {
	s := b.inst.Solver().Stats
	return s.Propagations + b.spent.Propagations, s.Conflicts + b.spent.Conflicts
}

func (b *backend) check(r *request) Result {
	c := b.chain
	c.stats.Asked++
	if c.dom.hard(r.conj) {
		if res := c.dom.fewTuples(r); res != Unknown {
			c.stats.Tuples++
			return res
		}
	}
	if !c.opts.Without["incremental"] {
		if b.inst.NumVars() > b.limit {
			if b.graph.Gates() > maxGates {
				b.graph = bitblast.NewGraph(c.ctx)
			}
			b.inst.Reset(b.graph)
			c.stats.Resets++
		}
		res := b.incremental(r)
		// A query larger than the limit must not empty the instance each time.
		b.limit = max(c.opts.ResetVars, 2*b.inst.ConeVars())
		switch res {
		case sat.Sat:
			c.stats.Backend++
			r.model = c.base(r.hint)
			for _, v := range r.vars {
				r.model[v] = b.inst.Value(v, r.model[v])
			}
			return Sat
		case sat.Unsat:
			c.stats.Backend++
			for _, i := range b.inst.Core() {
				r.core = append(r.core, r.conj[i])
			}
			return Unsat
		}
	}
	return b.fresh(r)
}

// incremental asks the instance that has a history.
func (b *backend) incremental(r *request) sat.Result {
	c := b.chain
	b.inst.Effort = c.effort()
	b.inst.Effort.Gates = max(b.inst.Effort.Gates/incrementalShare, leastGates)
	return b.inst.Check(r.conj, r.hint, c.budget/incrementalShare)
}

// fresh asks an instance without history, in an order without history. What it has not answered after
// a part of the budget is first tried on all values.
func (b *backend) fresh(r *request) Result {
	c := b.chain
	c.stats.Fresh++
	conj := canonical(c.ctx, r.conj)
	in := bitblast.NewInstance(bitblast.NewGraph(c.ctx))
	in.Solver().Stop = c.opts.Stop
	in.Effort = c.effort()
	first := c.budget / incrementalShare
	res := in.Check(conj, nil, first)
	if res == sat.Unknown {
		if res := c.dom.tuples(r); res != Unknown {
			c.stats.Tuples++
			return res
		}
	}
	if res == sat.Unknown {
		res = in.Check(conj, nil, c.budget-first)
	}
	s := in.Solver().Stats
	b.spent.Propagations += s.Propagations
	b.spent.Conflicts += s.Conflicts
	switch res {
	case sat.Sat:
		r.model = c.base(r.hint)
		for _, v := range r.vars {
			r.model[v] = in.Value(v, r.model[v])
		}
		return Sat
	case sat.Unsat:
		r.core = nil
		for _, i := range in.Core() {
			r.core = append(r.core, conj[i])
		}
		return Unsat
	}
	if c.opts.Fallback == "" {
		return Unknown
	}
	c.stats.Fallbacks++
	res2, val := runDIMACS(c.opts.Fallback, c.opts.FallbackConflicts, in, c.opts.Stop)
	if res2 == Sat {
		r.model = c.base(r.hint)
		for _, v := range r.vars {
			r.model[v] = in.ValueIn(v, r.model[v], val)
		}
	}
	return res2
}

// canonical returns conj in the order of the structural hashes.
func canonical(ctx *expr.Ctx, conj []expr.Ref) []expr.Ref {
	out := slices.Clone(conj)
	slices.SortFunc(out, func(a, b expr.Ref) int {
		switch x, y := ctx.Hash(a), ctx.Hash(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return out
}
