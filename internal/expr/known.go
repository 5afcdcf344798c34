package expr

import "math/bits"

// fact is what structure alone tells about a value: zeros and ones are bits
// known to be clear and set, lo and hi its unsigned bounds.
type fact struct {
	zeros, ones uint64
	lo, hi      uint64
}

// factStore holds the facts asked for so far. A fact of a value is never
// 0,0,0,0: that entry is empty.
type factStore struct {
	chunks []*[chunkLen]fact
	held   uint64
}

func (s *factStore) bytes() uint64 { return s.held * chunkLen * 32 }

func (s *factStore) get(r Ref) (fact, bool) {
	i := int(r >> chunkBits)
	if i >= len(s.chunks) || s.chunks[i] == nil {
		return fact{}, false
	}
	f := s.chunks[i][r&(chunkLen-1)]
	return f, f != fact{}
}

func (s *factStore) put(r Ref, f fact) {
	i := int(r >> chunkBits)
	for i >= len(s.chunks) {
		s.chunks = append(s.chunks, nil)
	}
	if s.chunks[i] == nil {
		s.chunks[i] = new([chunkLen]fact)
		s.held++
	}
	s.chunks[i][r&(chunkLen-1)] = f
}

// Range returns unsigned bounds of r: lo <= r <= hi under every assignment.
// They follow from the structure of r alone and are memoised.
func (c *Ctx) Range(r Ref) (lo, hi uint64) {
	f := c.factOf(r)
	return f.lo, f.hi
}

// Known returns the bits of r that are 0 and those that are 1 under every
// assignment, as far as structure tells. They are memoised.
func (c *Ctx) Known(r Ref) (zeros, ones uint64) {
	f := c.factOf(r)
	return f.zeros, f.ones
}

func (c *Ctx) factOf(r Ref) fact {
	if v, ok := c.IsConst(r); ok {
		return exactly(v, c.Width(r))
	}
	if f, ok := c.facts.get(r); ok {
		return f
	}
	todo := []Ref{r}
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		var operands [3]fact
		ready := true
		for i := range kinds[c.Kind(t)].Arity {
			x := c.operand(t, i)
			if v, ok := c.IsConst(x); ok {
				operands[i] = exactly(v, c.Width(x))
			} else if f, ok := c.facts.get(x); ok {
				operands[i] = f
			} else {
				todo = append(todo, x)
				ready = false
			}
		}
		if !ready {
			continue
		}
		todo = todo[:len(todo)-1]
		if _, ok := c.facts.get(t); !ok {
			c.facts.put(t, c.derive(t, operands[0], operands[1], operands[2]).tighten(c.Width(t)))
		}
	}
	f, _ := c.facts.get(r)
	return f
}

// operand returns operand i of r.
func (c *Ctx) operand(r Ref, i int) Ref {
	n := c.at(r)
	switch i {
	case 0:
		return Ref(n.a)
	case 1:
		return Ref(n.b)
	}
	return Ref(n.c)
}

func exactly(v uint64, w uint) fact { return fact{^v & Mask(w), v, v, v} }

func anything(w uint) fact { return fact{hi: Mask(w)} }

// tighten makes the bits and the bounds of f agree.
func (f fact) tighten(w uint) fact {
	m := Mask(w)
	f.lo = max(f.lo, f.ones)
	f.hi = min(f.hi, ^f.zeros&m)
	same := m &^ Mask(uint(bits.Len64(f.lo^f.hi))) // the common prefix
	f.ones |= f.lo & same
	f.zeros |= ^f.lo & same
	return f
}

// derive computes what holds for node r from its operands' facts.
func (c *Ctx) derive(r Ref, a, b, d fact) fact {
	w := c.Width(r)
	m := Mask(w)
	f := anything(w)
	switch c.Kind(r) {
	case Not:
		return fact{a.ones, a.zeros, ^a.hi & m, ^a.lo & m}
	case Neg:
		f.zeros = m & Mask(trailingZeros(a))
		if a.lo > 0 {
			f.lo, f.hi = -a.hi&m, -a.lo&m
		}
	case And:
		f.zeros, f.ones = a.zeros|b.zeros, a.ones&b.ones
		f.hi = min(a.hi, b.hi)
	case Or:
		f.zeros, f.ones = a.zeros&b.zeros, a.ones|b.ones
		f.lo = max(a.lo, b.lo)
	case Xor:
		f.zeros, f.ones = a.zeros&b.zeros|a.ones&b.ones, a.zeros&b.ones|a.ones&b.zeros
	case Add:
		return deriveAdd(a, b, m)
	case Mul:
		if hi, lo := bits.Mul64(a.hi, b.hi); hi == 0 && lo <= m {
			f.lo, f.hi = a.lo*b.lo, lo
		}
		f.zeros = m & Mask(min(64, trailingZeros(a)+trailingZeros(b)))
	case MulHU:
		f.lo, f.hi = kinds[MulHU].Eval(a.lo, b.lo, 0, w), kinds[MulHU].Eval(a.hi, b.hi, 0, w)
	case UDiv:
		return deriveUDiv(a, b, w)
	case URem:
		return deriveURem(a, b, w)
	case Shl:
		f.zeros = m & Mask(uint(min(64, b.lo+uint64(trailingZeros(a)))))
		if b.hi < uint64(w) && a.hi <= m>>b.hi {
			f.lo, f.hi = a.lo<<b.lo, a.hi<<b.hi
		}
	case LShr:
		f.lo, f.hi = a.lo>>min(b.hi, 64), a.hi>>min(b.lo, 64)
	case Ite:
		return fact{b.zeros & d.zeros, b.ones & d.ones, min(b.lo, d.lo), max(b.hi, d.hi)}
	case Concat:
		n := c.Width(c.B(r))
		return fact{a.zeros<<n | b.zeros, a.ones<<n | b.ones, a.lo<<n | b.lo, a.hi<<n | b.hi}
	case Extract:
		n := c.Lo(r)
		f.zeros, f.ones = a.zeros>>n&m, a.ones>>n&m
		if lo, hi := a.lo>>n, a.hi>>n; lo&^m == hi&^m {
			f.lo, f.hi = lo&m, hi&m
		}
	case ZExt:
		return fact{a.zeros | m&^Mask(c.Width(c.A(r))), a.ones, a.lo, a.hi}
	case SExt:
		return deriveSExt(a, c.Width(c.A(r)), w)
	case Select:
		return c.deriveSelect(r, a)
	}
	return f
}

func deriveUDiv(a, b fact, w uint) fact {
	if b.hi == 0 {
		return exactly(Mask(w), w)
	}
	f := anything(w)
	f.lo = a.lo / b.hi
	if b.lo > 0 {
		f.hi = a.hi / b.lo
	}
	return f
}

func deriveURem(a, b fact, w uint) fact {
	f := anything(w)
	f.hi = a.hi
	if b.lo > 0 {
		f.hi = min(f.hi, b.hi-1)
	}
	if a.hi < b.lo {
		f.lo = a.lo
	}
	return f
}

// deriveSExt extends from n to w bits.
func deriveSExt(a fact, n, w uint) fact {
	f := anything(w)
	ext := func(v uint64) uint64 { return uint64(SignExtend(v, n)) & Mask(w) }
	f.zeros, f.ones = ext(a.zeros), ext(a.ones)
	if a.lo>>(n-1) == a.hi>>(n-1) {
		f.lo, f.hi = ext(a.lo), ext(a.hi)
	}
	return f
}

func deriveAdd(a, b fact, m uint64) fact {
	f := fact{hi: m}
	lo, c1 := bits.Add64(a.lo, b.lo, 0)
	hi, c2 := bits.Add64(a.hi, b.hi, 0)
	wrapLo, wrapHi := c1 != 0 || lo > m, c2 != 0 || hi > m
	if wrapLo == wrapHi {
		f.lo, f.hi = lo&m, hi&m
	}
	// The low bits known of both give as many known bits of the sum.
	n := uint(min(bits.TrailingZeros64(^(a.zeros | a.ones)), bits.TrailingZeros64(^(b.zeros | b.ones))))
	low := Mask(n) & m
	f.ones = (a.ones + b.ones) & low
	f.zeros = ^(a.ones + b.ones) & low
	return f
}

func (c *Ctx) deriveSelect(r Ref, i fact) fact {
	w := c.Width(r)
	vals := c.Table(r)
	n := uint64(len(vals))
	f := fact{zeros: Mask(w), ones: Mask(w), lo: Mask(w)}
	read := func(v uint64) {
		f = fact{f.zeros &^ v, f.ones & v, min(f.lo, v), max(f.hi, v)}
	}
	for j := i.lo; j < n && j <= i.hi; j++ {
		read(vals[j])
	}
	if i.hi >= n {
		read(0)
	}
	return f
}

// trailingZeros returns how many low bits are known to be zero.
func trailingZeros(f fact) uint { return uint(bits.TrailingZeros64(^f.zeros)) }
