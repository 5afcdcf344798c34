package solver

import (
	"slices"

	"symchef/internal/expr"
)

// supports knows the variables each expression mentions. Sets are interned, and
// the union of two sets is computed once.
type supports struct {
	ctx    *expr.Ctx
	of     []uint32 // by Ref: its set plus one, 0 when not known
	size   []uint16 // by Ref: nodes of the expression as a tree, saturating
	sets   [][]expr.VarID
	byHash map[uint64][]uint32
	unions map[uint64]uint32
	todo   []expr.Ref
	buf    []expr.VarID
}

func newSupports(ctx *expr.Ctx) *supports {
	return &supports{ctx: ctx, sets: [][]expr.VarID{nil}, byHash: map[uint64][]uint32{}, unions: map[uint64]uint32{}}
}

func (s *supports) intern(vs []expr.VarID) uint32 {
	if len(vs) == 0 {
		return 0
	}
	h := uint64(14695981039346656037)
	for _, v := range vs {
		h = (h ^ uint64(v)) * 1099511628211
	}
	for _, i := range s.byHash[h] {
		if slices.Equal(s.sets[i], vs) {
			return i
		}
	}
	i := uint32(len(s.sets))
	s.sets = append(s.sets, slices.Clone(vs))
	s.byHash[h] = append(s.byHash[h], i)
	return i
}

func (s *supports) union(a, b uint32) uint32 {
	if a == b || b == 0 {
		return a
	}
	if a == 0 {
		return b
	}
	if a > b {
		a, b = b, a
	}
	k := uint64(a)<<32 | uint64(b)
	if u, ok := s.unions[k]; ok {
		return u
	}
	x, y := s.sets[a], s.sets[b]
	z := s.buf[:0]
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] < y[0]:
			z, x = append(z, x[0]), x[1:]
		case x[0] > y[0]:
			z, y = append(z, y[0]), y[1:]
		default:
			z, x, y = append(z, x[0]), x[1:], y[1:]
		}
	}
	z = append(append(z, x...), y...)
	s.buf = z
	u := s.intern(z)
	s.unions[k] = u
	return u
}

// id returns the number of r's set.
func (s *supports) id(r expr.Ref) uint32 {
	if int(r) < len(s.of) && s.of[r] != 0 {
		return s.of[r] - 1
	}
	if n := s.ctx.Len() + 1; n > len(s.of) {
		s.of = append(s.of, make([]uint32, n+n/2-len(s.of))...)
		s.size = append(s.size, make([]uint16, len(s.of)-len(s.size))...)
	}
	s.todo = append(s.todo[:0], r)
	for len(s.todo) > 0 {
		t := s.todo[len(s.todo)-1]
		if s.of[t] != 0 {
			s.todo = s.todo[:len(s.todo)-1]
			continue
		}
		k := s.ctx.Kind(t)
		ops := [3]expr.Ref{s.ctx.A(t), s.ctx.B(t), s.ctx.C(t)}
		n := k.Arity()
		ready := true
		for _, o := range ops[:n] {
			if s.of[o] == 0 {
				s.todo = append(s.todo, o)
				ready = false
			}
		}
		if !ready {
			continue
		}
		set, size := uint32(0), uint32(1)
		if k == expr.Var {
			set = s.intern([]expr.VarID{s.ctx.VarOf(t)})
		}
		for _, o := range ops[:n] {
			set = s.union(set, s.of[o]-1)
			size += uint32(s.size[o])
		}
		s.of[t] = set + 1
		s.size[t] = uint16(min(size, 65535))
		s.todo = s.todo[:len(s.todo)-1]
	}
	return s.of[r] - 1
}

// vars returns the variables of r in ascending order; not to be changed.
func (s *supports) vars(r expr.Ref) []expr.VarID { return s.sets[s.id(r)] }

// nodes returns the size of r as a tree, at most 65,535.
func (s *supports) nodes(r expr.Ref) int {
	s.id(r)
	return int(s.size[r])
}
