package expr

import "math/bits"

// Lanes is how many values Plan.Try takes at once.
const Lanes = 64

// fewLanes is how many are computed one by one, those that are left.
const fewLanes = 10

type lane [Lanes]uint64

// lanes evaluates what depends on the last variable of a Plan for many of its values.
type lanes struct {
	nodes []laneNode
	vals  []lane // the variable's values first
	same  []same
	// What Try found: the values for which a condition failed, and how much work that was for each.
	failed []failure
	holds  uint64
}

// laneNode is a node that depends on the last variable, and the numbers of its operands' lanes and of its own.
type laneNode struct {
	n       *node
	x, y, z int32
	out     int32
	operand uint8    // width of what a predicate compares
	same    [2]int32 // those of lanes.same that are operands: from, to
	cond    bool
}

// same is a lane of one value, that of the Plan's value at.
type same struct{ lane, at int32 }

// failure is a set of values.
type failure struct {
	values uint64
	work   int
}

func newLanes(p *Plan) *lanes {
	last := len(p.levels) - 1
	l := &lanes{vals: make([]lane, 1, 1+2*len(p.levels[last]))}
	laneOf := map[int32]int32{}
	if k := p.vars[last-1]; k >= 0 {
		laneOf[k] = 0
	}
	lane := func(k int32) int32 {
		at, ok := laneOf[k]
		if !ok {
			at = int32(len(l.vals))
			laneOf[k] = at
			l.vals = append(l.vals, lane{})
		}
		return at
	}
	for _, s := range p.levels[last] {
		m := laneNode{n: s.n, cond: s.cond}
		if s.n.kind != Var { // else a condition by itself
			m.same[0] = int32(len(l.same))
			operands := [3]int32{s.x, s.y, s.z}
			for _, k := range operands[:kinds[s.n.kind].Arity] {
				if _, ok := laneOf[k]; !ok {
					l.same = append(l.same, same{lane(k), k})
				}
			}
			m.same[1] = int32(len(l.same))
			if kinds[s.n.kind].Predicate {
				m.operand = p.c.at(Ref(s.n.a)).width
			}
			for i, to := range []*int32{&m.x, &m.y, &m.z}[:kinds[s.n.kind].Arity] {
				*to = lane(operands[i])
			}
			m.out = lane(s.out)
		}
		l.nodes = append(l.nodes, m)
	}
	return l
}

// Try evaluates what Set of the last variable would, for each of at most Lanes values; the variables before have had theirs set. It
// reports whether the conditions hold for any, and how much work they all are: Tried counts that of one, Spend that of all.
func (p *Plan) Try(values []uint64) (any bool, work int) {
	if p.lanes == nil {
		p.lanes = newLanes(p)
	}
	l := p.lanes
	copy(l.vals[0][:], values)
	l.holds = ^uint64(0) >> (Lanes - len(values))
	l.failed = l.failed[:0]
	for i := range l.nodes {
		s := &l.nodes[i]
		out := &l.vals[s.out]
		few := bits.OnesCount64(l.holds) < fewLanes
		if s.n.kind != Var {
			for _, f := range l.same[s.same[0]:s.same[1]] {
				if to, v := &l.vals[f.lane], p.vals[f.at]; to[0] != v {
					for k := range to {
						to[k] = v
					}
				}
			}
			x, y, z := &l.vals[s.x], &l.vals[s.y], &l.vals[s.z]
			if few || !s.run(p.c, out, x, y, z) {
				for left := l.holds; left != 0; left &= left - 1 {
					k := bits.TrailingZeros64(left)
					out[k] = p.c.evalNode(s.n, x[k], y[k], z[k], nil)
				}
			}
		}
		if !s.cond {
			continue
		}
		holds := uint64(0)
		if few {
			for left := l.holds; left != 0; left &= left - 1 {
				k := bits.TrailingZeros64(left)
				holds |= out[k] << (k & 63)
			}
		} else {
			for k, v := range out {
				holds |= v << (k & 63)
			}
		}
		if f := l.holds &^ holds; f != 0 {
			l.failed = append(l.failed, failure{f, i + 2})
			work += (i + 2) * bits.OnesCount64(f)
			if l.holds &= holds; l.holds == 0 {
				return false, work
			}
		}
	}
	return true, work + (1+len(l.nodes))*bits.OnesCount64(l.holds)
}

// Tried is what Set of the last variable would have returned, for value k of those that were tried last, and counts the same work.
func (p *Plan) Tried(k int) bool {
	l := p.lanes
	if l.holds>>k&1 == 1 {
		p.work += 1 + len(l.nodes)
		return true
	}
	for _, f := range l.failed {
		if f.values>>k&1 == 1 {
			p.work += f.work
		}
	}
	return false
}

// Spend counts work.
func (p *Plan) Spend(work int) { p.work += work }

// run computes the node for all lanes, if its kind is one of the most frequent.
func (s *laneNode) run(c *Ctx, out, x, y, z *lane) bool {
	n, mask := s.n, Mask(uint(s.n.width))
	switch n.kind {
	case Not:
		for i := range out {
			out[i] = ^x[i] & mask
		}
	case And:
		for i := range out {
			out[i] = x[i] & y[i]
		}
	case Or:
		for i := range out {
			out[i] = x[i] | y[i]
		}
	case Xor:
		for i := range out {
			out[i] = x[i] ^ y[i]
		}
	case Add:
		for i := range out {
			out[i] = (x[i] + y[i]) & mask
		}
	case Mul:
		for i := range out {
			out[i] = x[i] * y[i] & mask
		}
	case Eq:
		for i := range out {
			out[i] = b2u(x[i] == y[i])
		}
	case Ult:
		for i := range out {
			out[i] = b2u(x[i] < y[i])
		}
	case Slt:
		sh := 64 - s.operand
		for i := range out {
			out[i] = b2u(int64(x[i]<<(sh&63)) < int64(y[i]<<(sh&63)))
		}
	case Ite:
		for i := range out {
			v := z[i]
			if x[i] != 0 {
				v = y[i]
			}
			out[i] = v
		}
	case Concat:
		sh := c.at(Ref(n.b)).width
		for i := range out {
			out[i] = x[i]<<(sh&63) | y[i]
		}
	case Extract:
		for i := range out {
			out[i] = x[i] >> (n.aux & 63) & mask
		}
	case ZExt:
		*out = *x
	default:
		return false
	}
	return true
}
