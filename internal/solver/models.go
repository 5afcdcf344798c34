package solver

import (
	"math/bits"
	"slices"

	"symchef/internal/expr"
)

const recentModels = 32 // the width of verdict's masks

// verdict remembers the value of one conjunct under recent models.
type verdict struct {
	ref   expr.Ref
	known uint32 // by slot
	value uint32 // by slot; a subset of known
	seq   uint32 // number of models kept when known was last right
}

// models answers with the query's own model or a recent one.
type models struct {
	chain  *Chain
	next   stage
	ring   [recentModels]expr.Assignment
	seq    uint32           // models kept so far; model i is in slot i % recentModels
	memory [1 << 12]verdict // by the first 12 bits of the hash: refs depend on what the engine has made besides
}

func (s *models) check(r *request) Result {
	c := s.chain
	if r.hint != nil {
		c.ctx.NewEval()
		ok := true
		for _, e := range r.conj[len(r.conj)-r.fresh:] {
			if c.ctx.EvalMemo(e, r.hint) != 1 {
				ok = false
				break
			}
		}
		if ok {
			c.stats.Hint++
			r.model = c.base(r.hint)
			return Sat
		}
	}
	if m := s.recent(r); m != nil {
		c.stats.Recent++
		r.model = c.base(r.hint)
		for _, v := range r.vars {
			r.model[v] = m.Get(v)
		}
		return Sat
	}
	res := s.next.check(r)
	if res == Sat {
		s.ring[s.seq%recentModels] = slices.Clone(r.model) // the caller owns r.model
		s.seq++
	}
	return res
}

// at returns the verdicts on e, brought up to date.
func (s *models) at(e expr.Ref) *verdict {
	v := &s.memory[s.chain.ctx.Hash(e)>>52]
	if v.ref != e {
		*v = verdict{ref: e, seq: s.seq}
	}
	if d := s.seq - v.seq; d >= recentModels {
		v.known = 0
	} else if d > 0 {
		replaced := bits.RotateLeft32(1<<d-1, int(v.seq%recentModels))
		v.known &^= replaced
	}
	v.value &= v.known
	v.seq = s.seq
	return v
}

// recent returns a recent model that satisfies r, or nil. Models are tried from
// the latest on; the work is bounded by evaluating fewer of them on large
// conjuncts.
func (s *models) recent(r *request) expr.Assignment {
	c := s.chain
	candidates := ^uint32(0)
	if s.seq < recentModels {
		candidates = 1<<s.seq - 1
	}
	size := 0
	for i := len(r.conj) - 1; i >= 0; i-- {
		v := s.at(r.conj[i])
		candidates &= v.value | ^v.known
		size += c.supp.nodes(r.conj[i])
	}
	tries := max(2, 20000/(size+1))
	for i := uint32(1); i <= recentModels && candidates != 0 && tries > 0; i++ {
		slot := (s.seq - i) % recentModels
		if candidates>>slot&1 == 0 {
			continue
		}
		tries--
		c.ctx.NewEval()
		ok := true
		for k := len(r.conj) - 1; k >= 0 && ok; k-- {
			e := r.conj[k]
			v := s.at(e)
			if v.known>>slot&1 == 0 {
				v.known |= 1 << slot
				v.value |= uint32(c.ctx.EvalMemo(e, s.ring[slot])) << slot
			}
			ok = v.value>>slot&1 != 0
		}
		if ok {
			return s.ring[slot]
		}
	}
	return nil
}
