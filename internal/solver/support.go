package solver

import "symchef/internal/expr"

// supports lists the variables each expression mentions, and knows how large
// expressions are. The sets are the Ctx's; here each becomes a list once.
type supports struct {
	ctx   *expr.Ctx
	lists [][]expr.VarID // by SupportID, nil until asked for
	size  []uint16       // by Ref: nodes of the expression as a tree, saturating; 0 when not known
	todo  []expr.Ref
}

func newSupports(ctx *expr.Ctx) *supports { return &supports{ctx: ctx} }

// id returns the number of r's set, and makes list of it.
func (s *supports) id(r expr.Ref) uint32 {
	id := s.ctx.SupportID(r)
	if int(id) >= len(s.lists) {
		s.lists = append(s.lists, make([][]expr.VarID, int(id)+int(id)/2+16-len(s.lists))...)
	}
	if s.lists[id] == nil && id != 0 {
		set := s.ctx.SupportSet(r)
		l := make([]expr.VarID, 0, set.Len())
		set.Visit(func(v expr.VarID) { l = append(l, v) })
		s.lists[id] = l
	}
	return id
}

// vars returns the variables of r in ascending order; not to be changed.
func (s *supports) vars(r expr.Ref) []expr.VarID { return s.lists[s.id(r)] }

// nodes returns the size of r as a tree, at most 65,535.
func (s *supports) nodes(r expr.Ref) int {
	if int(r) < len(s.size) && s.size[r] != 0 {
		return int(s.size[r])
	}
	if n := s.ctx.Len() + 1; n > len(s.size) {
		s.size = append(s.size, make([]uint16, n+n/2-len(s.size))...)
	}
	s.todo = append(s.todo[:0], r)
	for len(s.todo) > 0 {
		t := s.todo[len(s.todo)-1]
		n := uint32(1)
		ready := true
		for i, o := range [...]expr.Ref{s.ctx.A(t), s.ctx.B(t), s.ctx.C(t)} {
			if i >= s.ctx.Kind(t).Arity() {
				break
			}
			if s.size[o] == 0 {
				s.todo = append(s.todo, o)
				ready = false
			}
			n += uint32(s.size[o])
		}
		if ready {
			s.size[t] = uint16(min(n, 65535))
			s.todo = s.todo[:len(s.todo)-1]
		}
	}
	return int(s.size[r])
}
