package ir

import (
	"symchef/internal/expr"
	"symchef/internal/softfp"
)

// The conversions of F16C. Bits of a half-precision number: 10 of fraction, 5 of exponent, the sign.

// roundHalf is the environment of FToHalf: flush-to-zero does not count.
func roundHalf(m softfp.MXCSR, imm uint64) softfp.MXCSR {
	return roundMode(m, imm) | m&softfp.DAZ
}

func symFromHalf(e *expr.Ctx, a, _, _ expr.Ref, _, _ uint, _ uint64) expr.Ref {
	k := func(v uint64) expr.Ref { return e.Const(v, 32) }
	at := func(r expr.Ref, n uint64) expr.Ref { return e.Shl(r, k(n)) }
	frac, exp := e.ZExt(e.Extract(a, 0, 10), 32), e.ZExt(e.Extract(a, 10, 5), 32)
	zero := e.Eq(frac, k(0))
	special := e.Or(k(0xff<<23), e.Or(at(frac, 13), e.Ite(zero, k(0), k(softfp.QuietBit(32)))))
	small := k(0) // frac * 2^-24
	for i := range uint64(10) {
		n := e.Or(k((127-24+i)<<23), e.And(at(frac, 23-i), k(1<<23-1)))
		small = e.Ite(e.Extract(frac, uint(i), 1), n, small)
	}
	r := e.Or(at(e.Add(exp, k(127-15)), 23), at(frac, 13))
	r = e.Ite(e.Eq(exp, k(0)), small, e.Ite(e.Eq(exp, k(31)), special, r))
	return e.ZExt(e.Or(r, at(e.ZExt(e.Extract(a, 15, 1), 32), 31)), 64)
}

func symToHalf(e *expr.Ctx, a, _, c expr.Ref, _, _ uint, imm uint64) expr.Ref {
	f := newSymFloats(e, c, 32)
	k := func(v uint64) expr.Ref { return e.Const(v, 32) }
	a = f.daz(low(e, a, 32))
	neg, mag := f.sign(a), f.mag(a)
	mode := softfp.Mode(imm & 3)
	if imm&4 != 0 {
		mode = softfp.Mode(f.env &^ expr.FTZ)
	}
	// round returns v >> n, rounded.
	round := func(v, n expr.Ref) expr.Ref {
		q := e.LShr(v, n)
		unit := e.Shl(k(1), n)
		half := e.LShr(unit, k(1))
		rest := e.And(v, e.Sub(unit, k(1)))
		inexact := e.Ne(rest, k(0))
		var up expr.Ref
		switch mode {
		case softfp.Nearest:
			up = e.Or(e.Ult(half, rest), e.And(e.Eq(half, rest), e.Extract(q, 0, 1)))
		case softfp.Down:
			up = e.And(neg, inexact)
		case softfp.Up:
			up = e.And(e.Not(neg), inexact)
		case softfp.Chop:
			up = e.Const(0, 1)
		}
		return e.Add(q, e.ZExt(up, 32))
	}
	exp := e.LShr(mag, k(23))
	normal := round(e.Sub(mag, k((127-15)<<23)), k(13))
	sig := e.Or(e.And(mag, k(1<<23-1)), k(1<<23)) // of a single-precision denormal too large, and still too small to tell
	n := e.Sub(k(126), exp)
	small := round(sig, e.Ite(e.Ult(k(25), n), k(25), n))
	small = e.Ite(e.Eq(mag, k(0)), k(0), small)
	huge := map[softfp.Mode]expr.Ref{softfp.Nearest: k(0x7c00), softfp.Chop: k(0x7bff),
		softfp.Down: e.Ite(neg, k(0x7c00), k(0x7bff)), softfp.Up: e.Ite(neg, k(0x7bff), k(0x7c00))}[mode]
	r := e.Ite(e.Ult(mag, k((127-14)<<23)), small, e.Ite(e.Ult(mag, k((127+16)<<23)), normal, huge))
	inf := k(softfp.Infinity(32))
	nan := e.Or(k(0x7e00), e.And(e.LShr(mag, k(13)), k(0x3ff)))
	r = e.Ite(e.Ult(mag, inf), r, e.Ite(e.Eq(mag, inf), k(0x7c00), nan))
	return e.ZExt(e.Or(r, e.Shl(e.ZExt(neg, 32), k(15))), 64)
}

func init() {
	define(FFromHalf, Row{Name: "ffromhalf", Args: 1,
		Eval: func(a, _, _ uint64, _, _ uint, _ uint64) uint64 {
			return softfp.F32.Pack((&softfp.Env{}).Quiet(softfp.F16.Unpack(a & 0xffff)))
		},
		Sym: symFromHalf})
	define(FToHalf, Row{Name: "ftohalf", Args: 3, Param: true,
		Eval: func(a, _, c uint64, _, _ uint, imm uint64) uint64 {
			return roundHalf(softfp.MXCSR(c), imm).ToHalf(a & expr.Mask(32))
		},
		Sym: symToHalf})
}
