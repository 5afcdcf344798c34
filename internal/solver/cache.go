package solver

import (
	"slices"

	"symchef/internal/expr"
)

// known is the answer of one earlier request.
type known struct {
	budget uint64     // that it was asked with
	conj   []expr.Ref // distinct, in any order
	res    Result
	vals   []uint64 // when Sat: of vars, in vars' order
	vars   []expr.VarID
}

// generation holds known answers. Two are kept: a full young one becomes old and
// the old one is dropped, so memory is bounded and nothing depends on time.
type generation struct {
	exact map[uint64][]known
	cores map[expr.Ref][][]expr.Ref // by each of a core's members
	n     int                       // entries and cores
}

func newGeneration() *generation {
	return &generation{exact: map[uint64][]known{}, cores: map[expr.Ref][][]expr.Ref{}}
}

// cache answers repeated requests and those that contain a known contradiction.
type cache struct {
	chain      *Chain
	next       stage
	young, old *generation
}

const (
	longestCore = 12 // members; longer cores are kept as exact answers only
	coresPerRef = 32
)

func newCache(c *Chain, next stage) *cache {
	return &cache{chain: c, next: next, young: newGeneration(), old: newGeneration()}
}

// key is a function of the set of conjuncts only.
func (s *cache) key(r *request) uint64 {
	k := uint64(len(r.conj))
	for _, e := range r.conj {
		h := s.chain.ctx.Hash(e)
		h ^= h >> 31
		k += h * 0x9e3779b97f4a7c15
	}
	return k
}

func (s *cache) check(r *request) Result {
	c := s.chain
	key := s.key(r)
	gen := c.newMark()
	for _, e := range r.conj {
		c.mark[e] = gen
	}
	for _, g := range [...]*generation{s.young, s.old} {
		for i := range g.exact[key] {
			k := &g.exact[key][i]
			if len(k.conj) != len(r.conj) || !s.allMarked(k.conj, gen) || k.res == Unknown && k.budget < c.budget {
				continue
			}
			c.stats.Cached++
			if k.res == Sat {
				r.model = c.base(r.hint)
				for i, v := range k.vars {
					r.model[v] = k.vals[i]
				}
			}
			return k.res
		}
		// A contradiction has a member among the new conjuncts, for the others
		// hold under the hint.
		for _, e := range r.conj[len(r.conj)-r.fresh:] {
			for _, core := range g.cores[e] {
				if s.allMarked(core, gen) {
					c.stats.Cores++
					r.core = core
					return Unsat
				}
			}
		}
	}
	res := s.next.check(r)
	k := known{conj: slices.Clone(r.conj), res: res, budget: c.budget}
	if res == Sat {
		k.vars = slices.Clone(r.vars)
		k.vals = make([]uint64, len(k.vars))
		for i, v := range k.vars {
			k.vals[i] = r.model.Get(v)
		}
	}
	s.young.exact[key] = append(s.young.exact[key], k)
	s.young.n++
	if res == Unsat && len(r.core) > 0 && len(r.core) <= longestCore && len(r.core) < len(r.conj) {
		core := slices.Clone(r.core)
		for _, e := range core {
			if l := s.young.cores[e]; len(l) < coresPerRef {
				s.young.cores[e] = append(l, core)
			}
		}
		s.young.n++
	}
	if s.young.n >= c.opts.CacheEntries {
		s.old, s.young = s.young, newGeneration()
	}
	return res
}

func (s *cache) allMarked(refs []expr.Ref, gen uint32) bool {
	for _, e := range refs {
		if s.chain.mark[e] != gen {
			return false
		}
	}
	return true
}
