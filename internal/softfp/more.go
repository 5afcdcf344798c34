package softfp

import (
	"math/big"
	"math/bits"
)

// Sqrt returns the square root of n.
func (e *Env) Sqrt(f Format, n Num) Num {
	e.daz(&n)
	switch {
	case n.IsNaN():
		return e.Quiet(n)
	case n.Class == Zero:
		return n
	case n.Neg:
		return e.invalid()
	case n.Class == Inf:
		return n
	}
	e.denormal(n)
	// n = v * 2^x with x even and v of 192 or 193 bits: 96 bits of root, then sticky.
	x := n.Exp - 63 - 128
	v := new(big.Int).SetUint64(n.Sig)
	v.Lsh(v, 128)
	if x&1 != 0 {
		v.Lsh(v, 1)
		x--
	}
	r := new(big.Int).Sqrt(v)
	rest := new(big.Int).Mul(r, r).Cmp(v) != 0
	hi, lo, exp := fromBig(r, x/2)
	return e.round(f, false, exp, hi, lo|b2u(rest))
}

// fromBig returns r * 2^x as hi:lo * 2^(exp-127) with bit 127 set; r is not 0 and has at most 127 bits.
func fromBig(r *big.Int, x int) (hi, lo uint64, exp int) {
	n := r.BitLen()
	s := new(big.Int).Lsh(r, uint(128-n))
	lo = s.Uint64()
	hi = s.Rsh(s, 64).Uint64()
	return hi, lo, x + n - 1
}

// RoundInt returns n rounded to an integer (frndint).
func (e *Env) RoundInt(n Num) Num {
	if n.Class != Finite {
		return e.Quiet(n)
	}
	e.denormal(n)
	if n.Exp >= 63 {
		return n
	}
	q, inexact, up, _ := e.Mode.cut(n.Neg, n.Sig, 0, min(63-n.Exp, 65))
	e.Up = up
	if inexact {
		e.Flags |= Inexact
	}
	if q == 0 {
		return Num{Neg: n.Neg}
	}
	z := bits.LeadingZeros64(q)
	return Num{Class: Finite, Neg: n.Neg, Exp: 63 - z, Sig: q << z}
}

// Scale returns a * 2^trunc(b) (fscale).
func (e *Env) Scale(f Format, a, b Num) Num {
	if r, done := e.operands(&a, &b); done {
		return r
	}
	if b.Class == Inf && (a.Class == Inf && b.Neg || a.Class == Zero && !b.Neg) {
		return e.invalid()
	}
	e.denormal(a, b)
	switch {
	case a.Class != Finite:
		return a
	case b.Class == Inf && b.Neg:
		return Num{Neg: a.Neg}
	case b.Class == Inf:
		return Num{Class: Inf, Neg: a.Neg}
	}
	n := 0
	if b.Class == Finite && b.Exp >= 0 {
		n = 1 << 17 // more than any exponent
		if b.Exp < 17 {
			n = int(b.Sig >> (63 - b.Exp))
		}
		if b.Neg {
			n = -n
		}
	}
	return e.round(f, a.Neg, a.Exp+n, a.Sig, 0)
}

// Rem is fprem (nearest: fprem1): the remainder of a by b, the low three bits of the quotient,
// and whether the reduction is only partial (exponents 64 or more apart).
func (e *Env) Rem(a, b Num, nearest bool) (r Num, quo uint64, partial bool) {
	if r, done := e.operands(&a, &b); done {
		return r, 0, false
	}
	if a.Class == Inf || b.Class == Zero {
		return e.invalid(), 0, false
	}
	e.denormal(a, b)
	if a.Class == Zero || b.Class == Inf {
		return a, 0, false
	}
	d := a.Exp - b.Exp
	if d < -1 || d < 0 && !nearest {
		return a, 0, false
	}
	// In units of b's last place (halved, so that a is whole for d = -1).
	x := new(big.Int).SetUint64(a.Sig)
	y := new(big.Int).SetUint64(b.Sig)
	y.Lsh(y, 1)
	if d >= 64 {
		partial = true
		d = 32 + d&31 // the processor leaves a multiple of 32 for later
		x.Lsh(x, uint(d+1))
		x.Rem(x, y)
		return e.remainder(a.Neg, x, a.Exp-d-64), 0, true
	}
	x.Lsh(x, uint(d+1))
	q, m := new(big.Int).QuoRem(x, y, new(big.Int))
	neg := a.Neg
	if nearest {
		c := new(big.Int).Lsh(m, 1).Cmp(y)
		if c > 0 || c == 0 && q.Bit(0) != 0 {
			q.Add(q, big.NewInt(1))
			m.Sub(y, m)
			neg = !neg
		}
	}
	if m.Sign() == 0 {
		neg = a.Neg
	}
	return e.remainder(neg, m, b.Exp-64), q.Uint64() & 7, false
}

// remainder returns m * 2^x, which is exact.
func (e *Env) remainder(neg bool, m *big.Int, x int) Num {
	if m.Sign() == 0 {
		return Num{Neg: neg}
	}
	hi, lo, exp := fromBig(m, x)
	return (&Env{}).round(F80, neg, exp, hi, lo)
}

// Extract splits n into exponent and significand (fxtract).
func (e *Env) Extract(n Num) (exp, sig Num) {
	switch {
	case n.IsNaN():
		r := e.Quiet(n)
		return r, r
	case n.Class == Inf:
		return Num{Class: Inf}, n
	case n.Class == Zero:
		e.Flags |= DivZero
		return Num{Class: Inf, Neg: true}, n
	}
	e.denormal(n)
	exp = e.FromInt(F80, int64(n.Exp))
	n.Exp, n.Denorm = 0, false
	return exp, n
}

// Constant returns hi:lo * 2^(exp-127), bit 127 set, as an 80-bit number in mode m; no exception is raised (fldpi ...).
func (m Mode) Constant(exp int, hi, lo uint64) Num {
	e := Env{Mode: m}
	return e.round(F80, false, exp, hi, lo)
}
