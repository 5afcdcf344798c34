package softfp

import (
	"math"
	"math/big"
	"testing"

	"symchef/internal/seed"
)

// TestFMA compares a*b + c with exact numbers rounded once, in both formats and all rounding modes: by the way with the host's arithmetic and
// by the one without. Cancellation, ties and the ends of the range are frequent.
func TestFMA(t *testing.T) {
	r := seed.Rand(t)
	for range 300000 {
		w, f := uint(64), F64
		a, b, c := randFloat(r), randFloat(r), randFloat(r)
		if r.IntN(2) == 0 {
			w, f = 32, F32
			for _, v := range []*uint64{&a, &b, &c} {
				*v = uint64(math.Float32bits(float32(math.Float64frombits(*v))))
				if r.IntN(2) == 0 {
					*v = r.Uint64() & 0xffffffff
				}
			}
		}
		if r.IntN(3) == 0 { // c is near -a*b
			c = MXCSR(0).Mul(w, a, b) ^ 1<<(w-1)
			c += r.Uint64N(5) - 2
			c &= 1<<(w-1)<<1 - 1
		}
		if IsNaN(a, w) || IsNaN(b, w) || IsNaN(c, w) {
			continue
		}
		m := Mode(r.IntN(4))
		got := m.Rounding().FMA(w, a, b, c)
		want, ok := exactFMA(f, m, f.Unpack(a), f.Unpack(b), f.Unpack(c))
		if ok && got != want {
			t.Fatalf("%d bits, mode %d: %#x * %#x + %#x = %#x, want %#x", w, m, a, b, c, got, want)
		}
		e := Env{Mode: m}
		if soft := f.Pack(e.FMA(f, f.Unpack(a), f.Unpack(b), f.Unpack(c))); soft != got {
			t.Fatalf("%d bits, mode %d: %#x * %#x + %#x = %#x, without the host's arithmetic %#x", w, m, a, b, c, got, soft)
		}
	}
}

// exactFMA returns a*b + c by math/big; false if that is no finite number other than 0.
func exactFMA(f Format, m Mode, a, b, c Num) (uint64, bool) {
	const enough = 4600 // bits that hold any product and sum
	number := func(n Num) *big.Float {
		v := new(big.Float).SetPrec(enough)
		if n.Class == Finite {
			v.SetMantExp(v.SetUint64(n.Sig), n.Exp-63)
		}
		if n.Neg {
			v.Neg(v)
		}
		return v
	}
	for _, n := range []Num{a, b, c} {
		if n.Class == Inf {
			return 0, false
		}
	}
	x := number(a)
	x.Mul(x, number(b))
	x.Add(x, number(c))
	if x.Sign() == 0 {
		return 0, false
	}
	// As many bits as the format has at this exponent, at most Prec.
	exp := x.MantExp(nil) - 1
	prec := f.Prec
	if exp < f.Emin {
		prec -= f.Emin - exp
	}
	modes := [4]big.RoundingMode{big.ToNearestEven, big.ToNegativeInf, big.ToPositiveInf, big.ToZero}
	unit := new(big.Float).SetMantExp(big.NewFloat(1), max(exp, f.Emin)-f.Prec+1) // of the last place
	if prec < 1 {                                                                 // between 0 and the least number
		prec = 1
		half := new(big.Float).SetMantExp(unit, -1)
		up := m == Up && x.Sign() > 0 || m == Down && x.Sign() < 0 || m == Nearest && new(big.Float).Abs(x).Cmp(half) > 0
		y := new(big.Float)
		if up {
			y.Set(unit)
		}
		if x.Sign() < 0 {
			y.Neg(y)
		}
		x = y
	} else {
		x = new(big.Float).SetMode(modes[m]).SetPrec(uint(prec)).Set(x)
	}
	neg := x.Signbit()
	if x.Sign() == 0 {
		return f.Pack(Num{Neg: neg}), true
	}
	n := Num{Class: Finite, Neg: neg, Exp: x.MantExp(nil) - 1}
	if n.Exp > f.Emax {
		return 0, false
	}
	sig := new(big.Float).SetMantExp(new(big.Float).Abs(x), 63-n.Exp)
	n.Sig, _ = sig.Uint64()
	return f.Pack(n), true
}
