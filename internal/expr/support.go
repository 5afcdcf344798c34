package expr

import "math/bits"

// VarSet is a set of variables: bit v%64 of word v/64. The sets Support hands
// out are shared; the caller must not change them.
type VarSet []uint64

// Has reports whether v is in s.
func (s VarSet) Has(v VarID) bool { return int(v/64) < len(s) && s[v/64]>>(v%64)&1 == 1 }

// Len returns the number of variables in s.
func (s VarSet) Len() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// Overlaps reports whether s and o have a variable in common.
func (s VarSet) Overlaps(o VarSet) bool {
	for i := range min(len(s), len(o)) {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// Visit calls f for each variable of s in ascending order.
func (s VarSet) Visit(f func(VarID)) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			f(VarID(64*i + bits.TrailingZeros64(word)))
		}
	}
}

// Union returns a new set of the variables in s or o.
func (s VarSet) Union(o VarSet) VarSet {
	if len(s) < len(o) {
		s, o = o, s
	}
	u := append(VarSet(nil), s...)
	for i, word := range o {
		u[i] |= word
	}
	return u
}

// supportStore holds the variable sets, each once, and the set of each node
// asked for. Set 0 is empty.
type supportStore struct {
	chunks []*[chunkLen]uint32 // set number + 1 by Ref; 0: not known yet
	held   uint64
	sets   []VarSet
	byHash map[uint64][]uint32
	unions map[uint64]uint32 // set of two set numbers, the smaller one in the high half
	words  uint64
}

func (s *supportStore) bytes() uint64 {
	return s.held*chunkLen*4 + 8*s.words + uint64(len(s.unions)+len(s.sets))*24
}

func (s *supportStore) get(r Ref) (uint32, bool) {
	i := int(r >> chunkBits)
	if i >= len(s.chunks) || s.chunks[i] == nil {
		return 0, false
	}
	n := s.chunks[i][r&(chunkLen-1)]
	return n - 1, n != 0
}

func (s *supportStore) put(r Ref, set uint32) {
	i := int(r >> chunkBits)
	for i >= len(s.chunks) {
		s.chunks = append(s.chunks, nil)
	}
	if s.chunks[i] == nil {
		s.chunks[i] = new([chunkLen]uint32)
		s.held++
	}
	s.chunks[i][r&(chunkLen-1)] = set + 1
}

func (s *supportStore) intern(set VarSet) uint32 {
	if s.byHash == nil {
		s.byHash, s.unions = map[uint64][]uint32{}, map[uint64]uint32{}
		s.sets = []VarSet{nil}
	}
	if len(set) == 0 {
		return 0
	}
	h := uint64(len(set))
	for _, word := range set {
		h = mix(h, word)
	}
next:
	for _, n := range s.byHash[h] {
		if len(s.sets[n]) != len(set) {
			continue
		}
		for i := range set {
			if s.sets[n][i] != set[i] {
				continue next
			}
		}
		return n
	}
	n := uint32(len(s.sets))
	s.sets = append(s.sets, set)
	s.byHash[h] = append(s.byHash[h], n)
	s.words += uint64(len(set))
	return n
}

func (s *supportStore) union(a, b uint32) uint32 {
	switch {
	case a == b || b == 0:
		return a
	case a == 0:
		return b
	}
	key := uint64(min(a, b))<<32 | uint64(max(a, b))
	if n, ok := s.unions[key]; ok {
		return n
	}
	n := s.intern(s.sets[a].Union(s.sets[b]))
	s.unions[key] = n
	return n
}

// SupportID numbers the set of variables r depends on: equal sets of one Ctx
// have equal numbers, the empty set 0. It is memoised: repeated calls on a
// growing graph look at new nodes only.
func (c *Ctx) SupportID(r Ref) uint32 {
	s := &c.support
	if n, ok := s.get(r); ok {
		return n
	}
	if s.byHash == nil {
		s.intern(nil)
	}
	todo := []Ref{r}
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		set, ready := uint32(0), true
		for i := range kinds[c.Kind(t)].Arity {
			x := c.operand(t, i)
			n, ok := s.get(x)
			switch {
			case !ok && c.Kind(x) != Const:
				todo = append(todo, x)
				ready = false
			case ok && ready:
				set = s.union(set, n)
			}
		}
		if !ready {
			continue
		}
		if c.Kind(t) == Var {
			v := c.VarOf(t)
			one := make(VarSet, v/64+1)
			one[v/64] = 1 << (v % 64)
			set = s.intern(one)
		}
		s.put(t, set)
		todo = todo[:len(todo)-1]
	}
	n, _ := s.get(r)
	return n
}

// SupportSet returns the variables r depends on; the caller must not change it.
func (c *Ctx) SupportSet(r Ref) VarSet {
	n := c.SupportID(r)
	return c.support.sets[n]
}

// Support calls visit for each variable r depends on, in ascending order.
func (c *Ctx) Support(r Ref, visit func(VarID)) { c.SupportSet(r).Visit(visit) }

// Conjuncts appends to dst the parts of r, a bit, whose conjunction r is. The
// constructors turn conjunctions of negations into negated disjunctions;
// Conjuncts splits those as well. The constant 1 has no parts.
func (c *Ctx) Conjuncts(dst []Ref, r Ref) []Ref {
	if k := c.Kind(r); k != And && !(k == Not && c.Kind(c.A(r)) == Or) { // most are one
		if v, ok := c.IsConst(r); !ok || v == 0 {
			dst = append(dst, r)
		}
		return dst
	}
	type part struct {
		r       Ref
		negated bool
	}
	seen := map[part]bool{}
	todo := []part{{r, false}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[p] {
			continue
		}
		seen[p] = true
		k := c.Kind(p.r)
		switch {
		case k == Not:
			todo = append(todo, part{c.A(p.r), !p.negated})
		case k == And && !p.negated || k == Or && p.negated:
			todo = append(todo, part{c.B(p.r), p.negated}, part{c.A(p.r), p.negated})
		case p.negated:
			dst = append(dst, c.Not(p.r))
		default:
			if v, ok := c.IsConst(p.r); !ok || v == 0 {
				dst = append(dst, p.r)
			}
		}
	}
	return dst
}
