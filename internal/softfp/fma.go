package softfp

import (
	"math"
	"math/bits"
)

// FMA returns a*b + c, rounded once. Of several operands that are NaNs the first counts (SDM vol. 1, table 14-16).
func (e *Env) FMA(f Format, a, b, c Num) Num {
	for _, n := range []*Num{&a, &b, &c} {
		e.daz(n)
	}
	for _, n := range []Num{a, b, c} {
		if n.IsNaN() {
			return quiet(n)
		}
	}
	neg := a.Neg != b.Neg
	switch {
	case a.Class == Inf && b.Class == Zero || a.Class == Zero && b.Class == Inf:
		return e.invalid()
	case a.Class == Inf || b.Class == Inf:
		if c.Class == Inf && c.Neg != neg {
			return e.invalid()
		}
		return Num{Class: Inf, Neg: neg}
	case c.Class == Inf:
		return c
	case a.Class == Zero || b.Class == Zero:
		switch {
		case c.Class != Zero:
			return e.round(f, c.Neg, c.Exp, c.Sig, 0)
		case c.Neg != neg:
			return e.zero()
		}
		return Num{Neg: neg}
	}
	hi, lo := bits.Mul64(a.Sig, b.Sig)
	exp := a.Exp + b.Exp + 1
	if hi>>63 == 0 {
		hi, lo, exp = hi<<1|lo>>63, lo<<1, exp-1
	}
	if c.Class == Zero {
		return e.round(f, neg, exp, hi, lo)
	}
	x, y, yNeg, d := wide{hi, lo}, wide{c.Sig}, c.Neg, exp-c.Exp
	if d < 0 {
		x, y, yNeg, neg, d, exp = y, x, neg, yNeg, -d, c.Exp
	}
	y = y.right(d)
	var sum wide
	if neg == yNeg {
		var carry uint64
		if sum, carry = x.add(y); carry != 0 {
			sum = sum.right(1)
			sum[0] |= 1 << 63
			exp++
		}
	} else {
		var borrow uint64
		if sum, borrow = x.sub(y); borrow != 0 {
			sum, _ = y.sub(x)
			neg = !neg
		}
		if sum == (wide{}) {
			return e.zero()
		}
		var n int
		sum, n = sum.normal()
		exp -= n
	}
	return e.round(f, neg, exp, sum[0], sum[1]|b2u(sum[2]|sum[3] != 0))
}

// wide is a number of 256 bits, the highest first.
type wide [4]uint64

// right returns w divided by 2^n; its lowest bit says also whether something is cut.
func (w wide) right(n int) (r wide) {
	if n >= 256 {
		return wide{3: b2u(w != wide{})}
	}
	words, n := n/64, n%64
	cut := uint64(0)
	for i, v := range w {
		if k := i + words; k < 4 {
			r[k] |= v >> n
		} else {
			cut |= v
		}
		if k := i + words + 1; k < 4 {
			r[k] |= v << (64 - n) // 0 for n = 0
		} else if k == 4 {
			cut |= v << (64 - n)
		}
	}
	r[3] |= b2u(cut != 0)
	return r
}

// normal returns w, which is not 0, shifted left until its highest bit is set, and how far.
func (w wide) normal() (r wide, n int) {
	for w[0] == 0 {
		w, n = wide{w[1], w[2], w[3]}, n+64
	}
	z := bits.LeadingZeros64(w[0])
	for i := range w {
		r[i] = w[i] << z
		if i < 3 {
			r[i] |= w[i+1] >> (64 - z)
		}
	}
	return r, n + z
}

func (w wide) add(v wide) (r wide, carry uint64) {
	for i := 3; i >= 0; i-- {
		r[i], carry = bits.Add64(w[i], v[i], carry)
	}
	return r, carry
}

func (w wide) sub(v wide) (r wide, borrow uint64) {
	for i := 3; i >= 0; i-- {
		r[i], borrow = bits.Sub64(w[i], v[i], borrow)
	}
	return r, borrow
}

// FMA returns a*b + c.
func (m MXCSR) FMA(w uint, a, b, c uint64) uint64 {
	switch {
	case m.special():
		e, f := m.env(), FormatOf(w)
		return f.Pack(e.FMA(f, f.Unpack(a), f.Unpack(b), f.Unpack(c)))
	case IsNaN(a, w):
		return a | QuietBit(w)
	case IsNaN(b, w):
		return b | QuietBit(w)
	case IsNaN(c, w):
		return c | QuietBit(w)
	case w == 32:
		return encode32(fma32(math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)), math.Float32frombits(uint32(c))))
	}
	return encode64(math.FMA(math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)))
}

// fma32 is exact in double precision up to the sum, which is rounded to odd there, so that rounding it again is rounding once (Boldo, Melquiond:
// Emulation of a FMA and correctly rounded sums, 2008).
func fma32(a, b, c float32) float32 {
	p, z := float64(a)*float64(b), float64(c)
	s := p + z
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	t := s - p
	rest := float64(p-float64(s-t)) + float64(z-t) // the conversions keep Go from fusing
	if v := math.Float64bits(s); rest != 0 && v&1 == 0 {
		if (rest > 0) == (s > 0) {
			v++
		} else {
			v--
		}
		s = math.Float64frombits(v)
	}
	return float32(s)
}
