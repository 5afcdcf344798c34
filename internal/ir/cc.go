package ir

import (
	"math/bits"

	"symchef/internal/expr"
)

// CC is a lazy-flags operation: a kind and the log2 of the width in bytes.
type CC uint64

// CCKind says how flags follow from the operands a, b, c (SDM vol. 1, 3.4.3.1).
type CCKind uint64

// The kinds. res is the result they imply.
const (
	CCFlags  CCKind = iota // a = the RFLAGS bits themselves
	CCAdd                  // res = a + b
	CCSub                  // res = a - b
	CCLogic                // res = a; CF = OF = 0
	CCInc                  // res = a; CF = c
	CCDec                  // res = a; CF = c
	CCAdc                  // res = a + b + c
	CCSbb                  // res = a - b - c
	CCShl                  // res = a << b, 0 < b; OF as for b = 1
	CCShr                  // res = a >> b, 0 < b; OF as for b = 1
	CCSar                  // res = a >>s b, 0 < b; OF = 0
	CCMul                  // res = a; CF = OF = (b != 0)
	CCResult               // res = a; OF = b; CF = c
	numCCKinds
)

// MakeCC returns the CC of a kind at width w (8, 16, 32, 64).
func MakeCC(k CCKind, w uint) CC { return CC(k)<<2 | CC(bits.TrailingZeros(w)-3) }

// Kind and Width take a CC apart.
func (c CC) Kind() CCKind { return CCKind(c >> 2) }

// Width returns the operand width in bits.
func (c CC) Width() uint { return 8 << (c & 3) }

// RFLAGS bits of the arithmetic flags.
const (
	FlagCF = 1 << 0
	FlagPF = 1 << 2
	FlagAF = 1 << 4
	FlagZF = 1 << 6
	FlagSF = 1 << 7
	FlagOF = 1 << 11
)

// x86 condition codes, in instruction encoding; an odd one negates the one before.
const (
	CondO  = 0
	CondB  = 2
	CondE  = 4
	CondBE = 6
	CondS  = 8
	CondP  = 10
	CondL  = 12
	CondLE = 14
)

// Flags returns the arithmetic flags as RFLAGS bits.
func Flags(cc CC, a, b, c uint64) uint64 {
	w := cc.Width()
	m := expr.Mask(w)
	if cc.Kind() == CCFlags {
		return a & (FlagCF | FlagPF | FlagAF | FlagZF | FlagSF | FlagOF)
	}
	a &= m
	b &= m
	var res, cf, of, af uint64
	top := w - 1
	switch cc.Kind() {
	case CCAdd:
		res = (a + b) & m
		cf = b2u(res < a)
		of = (a ^ res) & (b ^ res) >> top & 1
		af = (a ^ b ^ res) >> 4 & 1
	case CCSub:
		res = (a - b) & m
		cf = b2u(a < b)
		of = (a ^ b) & (a ^ res) >> top & 1
		af = (a ^ b ^ res) >> 4 & 1
	case CCAdc:
		res = (a + b + c&1) & m
		cf = b2u(res < a || c&1 != 0 && res == a)
		of = (a ^ res) & (b ^ res) >> top & 1
		af = (a ^ b ^ res) >> 4 & 1
	case CCSbb:
		res = (a - b - c&1) & m
		cf = b2u(a < b || c&1 != 0 && a == b)
		of = (a ^ b) & (a ^ res) >> top & 1
		af = (a ^ b ^ res) >> 4 & 1
	case CCLogic:
		res = a
	case CCInc:
		res, cf = a, c&1
		of = b2u(res == 1<<top)
		af = b2u(res&15 == 0)
	case CCDec:
		res, cf = a, c&1
		of = b2u(res == 1<<top-1)
		af = b2u(res&15 == 15)
	case CCShl:
		if b < 64 {
			res = a << b & m
		}
		if b <= uint64(w) {
			cf = a >> (uint64(w) - b) & 1
		}
		of = res>>top ^ cf
	case CCShr:
		if b < 64 {
			res = a >> b
		}
		if b-1 < 64 {
			cf = a >> (b - 1) & 1
		}
		of = a >> top
	case CCSar:
		s := expr.SignExtend(a, w)
		res = uint64(s>>min(b, 63)) & m
		cf = uint64(s>>min(b-1, 63)) & 1
	case CCMul:
		res = a
		cf = b2u(b != 0)
		of = cf
	case CCResult:
		res, of, cf = a, b&1, c&1
	}
	f := cf*FlagCF | af*FlagAF | res>>top&1*FlagSF | of*FlagOF
	if res == 0 {
		f |= FlagZF
	}
	if bits.OnesCount8(uint8(res))&1 == 0 {
		f |= FlagPF
	}
	return f
}

// TestCond evaluates condition code cond on RFLAGS bits.
func TestCond(cond, f uint64) bool {
	var v bool
	switch cond &^ 1 {
	case CondO:
		v = f&FlagOF != 0
	case CondB:
		v = f&FlagCF != 0
	case CondE:
		v = f&FlagZF != 0
	case CondBE:
		v = f&(FlagCF|FlagZF) != 0
	case CondS:
		v = f&FlagSF != 0
	case CondP:
		v = f&FlagPF != 0
	case CondL:
		v = f>>7&1 != f>>11&1
	case CondLE:
		v = f&FlagZF != 0 || f>>7&1 != f>>11&1
	}
	return v != (cond&1 != 0)
}

// symFlag holds the 1-bit expressions of the flags.
type symFlags struct {
	e          *expr.Ctx
	res        expr.Ref // w bits; 0 for CCFlags
	cf, of, af expr.Ref
	raw        expr.Ref // CCFlags: the 64-bit flags word
}

func newSymFlags(e *expr.Ctx, cc CC, a, b, c expr.Ref) symFlags {
	w := cc.Width()
	f := symFlags{e: e}
	if cc.Kind() == CCFlags {
		f.raw = a
		f.cf, f.of, f.af = e.Extract(a, 0, 1), e.Extract(a, 11, 1), e.Extract(a, 4, 1)
		return f
	}
	a, b = low(e, a, w), low(e, b, w)
	top := w - 1
	bit := func(r expr.Ref, i uint) expr.Ref { return e.Extract(r, i, 1) }
	zero := e.Const(0, 1)
	f.cf, f.of, f.af = zero, zero, zero
	carry := func() expr.Ref { return e.Extract(c, 0, 1) }
	switch cc.Kind() {
	case CCAdd, CCAdc:
		f.res = e.Add(a, b)
		f.cf = e.Ult(f.res, a)
		if cc.Kind() == CCAdc {
			f.res = e.Add(f.res, e.ZExt(carry(), w))
			f.cf = e.Or(e.Ult(f.res, a), e.And(carry(), e.Eq(f.res, a)))
		}
		f.of = bit(e.And(e.Xor(a, f.res), e.Xor(b, f.res)), top)
		f.af = bit(e.Xor(e.Xor(a, b), f.res), 4)
	case CCSub, CCSbb:
		f.res = e.Sub(a, b)
		f.cf = e.Ult(a, b)
		if cc.Kind() == CCSbb {
			f.res = e.Sub(f.res, e.ZExt(carry(), w))
			f.cf = e.Or(f.cf, e.And(carry(), e.Eq(a, b)))
		}
		f.of = bit(e.And(e.Xor(a, b), e.Xor(a, f.res)), top)
		f.af = bit(e.Xor(e.Xor(a, b), f.res), 4)
	case CCLogic:
		f.res = a
	case CCInc, CCDec:
		f.res, f.cf = a, carry()
		lim, nib := uint64(1)<<top, uint64(0)
		if cc.Kind() == CCDec {
			lim, nib = lim-1, 15
		}
		f.of = e.Eq(a, e.Const(lim, w))
		f.af = e.Eq(e.Extract(a, 0, 4), e.Const(nib, 4))
	case CCShl:
		f.res = e.Shl(a, b)
		f.cf = bit(e.LShr(a, e.Sub(e.Const(uint64(w), w), b)), 0)
		f.of = e.Xor(bit(f.res, top), f.cf)
	case CCShr:
		f.res = e.LShr(a, b)
		f.cf = bit(e.LShr(a, e.Sub(b, e.Const(1, w))), 0)
		f.of = bit(a, top)
	case CCSar:
		f.res = e.AShr(a, b)
		f.cf = bit(e.AShr(a, e.Sub(b, e.Const(1, w))), 0)
	case CCMul:
		f.res = a
		f.cf = e.Ne(b, e.Const(0, w))
		f.of = f.cf
	case CCResult:
		f.res, f.of, f.cf = a, bit(b, 0), carry()
	}
	return f
}

func (f *symFlags) zf() expr.Ref {
	if f.raw != 0 {
		return f.e.Extract(f.raw, 6, 1)
	}
	return f.e.Eq(f.res, f.e.Const(0, f.e.Width(f.res)))
}

func (f *symFlags) sf() expr.Ref {
	if f.raw != 0 {
		return f.e.Extract(f.raw, 7, 1)
	}
	return f.e.Extract(f.res, f.e.Width(f.res)-1, 1)
}

func (f *symFlags) pf() expr.Ref {
	if f.raw != 0 {
		return f.e.Extract(f.raw, 2, 1)
	}
	e := f.e
	p := e.Extract(f.res, 0, 1)
	for i := uint(1); i < 8; i++ {
		p = e.Xor(p, e.Extract(f.res, i, 1))
	}
	return e.Not(p)
}

// SymFlags is Flags over expressions: 64-bit operands, a 64-bit result.
func SymFlags(e *expr.Ctx, cc CC, a, b, c expr.Ref) expr.Ref {
	f := newSymFlags(e, cc, a, b, c)
	at := func(bit expr.Ref, pos uint) expr.Ref { return e.Shl(e.ZExt(bit, 64), e.Const(uint64(pos), 64)) }
	r := e.Or(e.ZExt(f.cf, 64), at(f.pf(), 2))
	r = e.Or(r, at(f.af, 4))
	r = e.Or(r, at(f.zf(), 6))
	r = e.Or(r, at(f.sf(), 7))
	return e.Or(r, at(f.of, 11))
}

// SymCond returns condition code cond of the lazy flags as a 1-bit expression.
// Comparisons come out as comparisons of the operands, not as flag algebra.
func SymCond(e *expr.Ctx, cond uint64, cc CC, a, b, c expr.Ref) expr.Ref {
	r := symCond(e, cond&^1, cc, a, b, c)
	if cond&1 != 0 {
		return e.Not(r)
	}
	return r
}

func symCond(e *expr.Ctx, cond uint64, cc CC, a, b, c expr.Ref) expr.Ref {
	w := cc.Width()
	if k := cc.Kind(); k == CCSub || k == CCLogic {
		x, y := low(e, a, w), e.Const(0, w)
		if k == CCSub {
			y = low(e, b, w)
		}
		switch cond {
		case CondB:
			return e.Ult(x, y)
		case CondE:
			return e.Eq(x, y)
		case CondBE:
			return e.Ule(x, y)
		case CondL:
			return e.Slt(x, y)
		case CondLE:
			return e.Sle(x, y)
		}
	}
	f := newSymFlags(e, cc, a, b, c)
	switch cond {
	case CondO:
		return f.of
	case CondB:
		return f.cf
	case CondE:
		return f.zf()
	case CondBE:
		return e.Or(f.cf, f.zf())
	case CondS:
		return f.sf()
	case CondP:
		return f.pf()
	case CondL:
		return e.Xor(f.sf(), f.of)
	}
	return e.Or(f.zf(), e.Xor(f.sf(), f.of))
}
