package solver

import (
	"symchef/internal/bitblast"
	"symchef/internal/expr"
	"symchef/internal/sat"
)

// adversary replaces the model of every Sat answer by a random one. It changes
// no answer: a run whose tree is not the same under every ModelSeed depends on
// models.
type adversary struct {
	chain  *Chain
	next   stage
	parts  *slice // for its union-find
	graph  *bitblast.Graph
	inst   *bitblast.Instance
	random uint64
}

// adversaryBudget bounds the search for another model, in propagations.
const adversaryBudget = 200_000

func newAdversary(c *Chain, next stage) *adversary {
	g := bitblast.NewGraph(c.ctx)
	return &adversary{chain: c, next: next, parts: &slice{chain: c}, graph: g,
		inst: bitblast.NewInstance(g), random: c.opts.ModelSeed}
}

func (s *adversary) rand() uint64 {
	s.random += 0x9e3779b97f4a7c15
	z := s.random
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *adversary) check(r *request) Result {
	res := s.next.check(r)
	if res != Sat {
		return res
	}
	c := s.chain
	s.parts.prepare(r.conj)
	groups := map[uint32][]expr.Ref{}
	var order []uint32
	constrained := make([]bool, c.ctx.NumVars())
	for _, e := range r.conj {
		vs := c.supp.vars(e)
		if len(vs) == 0 {
			continue
		}
		root := s.parts.find(uint32(vs[0]))
		if groups[root] == nil {
			order = append(order, root)
		}
		groups[root] = append(groups[root], e)
		for _, v := range vs {
			constrained[v] = true
		}
	}
	for v := range constrained {
		if !constrained[v] {
			r.model[v] = s.rand() & expr.Mask(c.ctx.VarWidth(expr.VarID(v)))
		}
	}
	for _, root := range order {
		if s.inst.NumVars() > c.opts.ResetVars {
			s.inst.Reset(s.graph)
		}
		s.inst.Solver().RandomPhases(s.rand() | 1)
		if s.inst.Check(groups[root], nil, adversaryBudget) != sat.Sat {
			continue
		}
		for _, e := range groups[root] {
			for _, v := range c.supp.vars(e) {
				if constrained[v] {
					constrained[v] = false
					r.model[v] = s.inst.Value(v, s.rand()&expr.Mask(c.ctx.VarWidth(v)))
				}
			}
		}
	}
	return Sat
}
