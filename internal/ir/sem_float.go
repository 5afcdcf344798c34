package ir

import (
	"math"

	"symchef/internal/expr"
	"symchef/internal/softfp"
)

// The SSE float ops: D = op(A, B) on W = 32 or 64 bits, with C = MXCSR, always
// concrete. Results are the processor's bit for bit, in all rounding modes and with denormals-are-zero
// and flush-to-zero; exceptions are masked and MXCSR's status flags not set (SDM vol. 1, 10.2.3).
const (
	FAdd   Op = FirstFloat + iota
	FSub      // A - B
	FMul      //
	FDiv      // A / B
	FSqrt     // of A
	FMin      // A if A < B, else B (so B for NaNs and zeros)
	FMax      // A if A > B, else B
	FCmp      // all ones or 0: predicate Imm&7 of SDM vol. 2, CMPPS (Param)
	FComi     // ZF, PF, CF as in RFLAGS, of A compared with B
	FFromI    // the signed integer A of X bits as a float of W bits
	FToI      // float A of W bits as a signed integer of X bits, truncated if Imm = 1 (Param)
	FCvt      // float A of W bits as a float of X bits
)

// mxSpecial are the MXCSR bits that send an op to softfp: RC, FZ, DAZ.
const (
	mxDAZ     = 1 << 6
	mxFTZ     = 1 << 15
	mxSpecial = 3<<13 | mxFTZ | mxDAZ
)

func softEnv(mxcsr uint64) softfp.Env {
	return softfp.Env{Mode: softfp.Mode(mxcsr >> 13 & 3), FTZ: mxcsr&mxFTZ != 0, DAZ: mxcsr&mxDAZ != 0}
}

func softFormat(w uint) softfp.Format {
	if w == 32 {
		return softfp.F32
	}
	return softfp.F64
}

// floatFmt describes w-bit floats: infinity, the quiet bit, the default NaN.
func floatFmt(w uint) (inf, quiet, indefinite uint64) {
	if w == 32 {
		return 0xff << 23, 1 << 22, 0x1ff8 << 19
	}
	return 0x7ff << 52, 1 << 51, 0xfff8 << 48
}

// isNaN reports whether the w-bit float v is a NaN.
func isNaN(v uint64, w uint) bool {
	inf, _, _ := floatFmt(w)
	return v&(expr.Mask(w)>>1) > inf
}

// nan32 and nan64 replace a NaN that an operation made of numbers by the default NaN.
func nan32(r float32) uint64 {
	if r != r {
		return 0xffc00000
	}
	return uint64(math.Float32bits(r))
}

func nan64(r float64) uint64 {
	if r != r {
		return 0xfff8 << 48
	}
	return math.Float64bits(r)
}

// arith makes a row of two operands from the native operation and the one in software.
func arith(name string, op32 func(x, y float32) float32, op64 func(x, y float64) float64,
	soft func(e *softfp.Env, f softfp.Format, a, b softfp.Num) softfp.Num) Row {
	return Row{Name: name, Args: 3, Param: true,
		Eval: func(a, b, c uint64, w, _ uint, _ uint64) uint64 {
			a, b = a&expr.Mask(w), b&expr.Mask(w)
			if c&mxSpecial != 0 {
				e, f := softEnv(c), softFormat(w)
				return f.Pack(soft(&e, f, f.Unpack(a), f.Unpack(b)))
			}
			_, quiet, _ := floatFmt(w)
			switch { // SDM vol. 1, table 4-7: the first operand that is a NaN, made quiet
			case isNaN(a, w):
				return a | quiet
			case isNaN(b, w):
				return b | quiet
			case w == 32:
				return nan32(op32(math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))))
			}
			return nan64(op64(math.Float64frombits(a), math.Float64frombits(b)))
		}}
}

func fsqrt(a, _, c uint64, w, _ uint, _ uint64) uint64 {
	a &= expr.Mask(w)
	_, quiet, _ := floatFmt(w)
	switch {
	case c&mxSpecial != 0:
		e, f := softEnv(c), softFormat(w)
		return f.Pack(e.Sqrt(f, f.Unpack(a)))
	case isNaN(a, w):
		return a | quiet
	case w == 32: // rounding twice is exact: 53 >= 2*24+2
		return nan32(float32(math.Sqrt(float64(math.Float32frombits(uint32(a))))))
	}
	return nan64(math.Sqrt(math.Float64frombits(a)))
}

// floats is an algebra of w-bit floats and truth values: concrete or
// symbolic. What compares numbers is written once, over it.
type floats[V any] interface {
	nan(a V) V    // truth value
	lt(a, b V) V  // of numbers
	eq(a, b V) V  // of numbers
	or(a, b V) V  // of truth values
	and(a, b V) V // of truth values
	not(a V) V    // of a truth value
	ite(c, a, b V) V
	daz(a V) V // denormals to zero
}

// compare returns predicate p (SDM vol. 2, CMPPS, table 3-7) as a truth value.
func compare[V any](f floats[V], a, b V, p uint64) V {
	a, b = f.daz(a), f.daz(b)
	un := f.or(f.nan(a), f.nan(b))
	var r V
	switch p & 3 {
	case 0:
		r = f.and(f.not(un), f.eq(a, b))
	case 1:
		r = f.and(f.not(un), f.lt(a, b))
	case 2:
		r = f.and(f.not(un), f.not(f.lt(b, a)))
	case 3:
		r = un
	}
	if p&4 != 0 {
		return f.not(r)
	}
	return r
}

// minimum returns FMin, or with max FMax.
func minimum[V any](f floats[V], a, b V, max bool) V {
	a, b = f.daz(a), f.daz(b)
	if max {
		return f.ite(compare(f, b, a, 1), a, b)
	}
	return f.ite(compare(f, a, b, 1), a, b)
}

// comi returns ZF, PF and CF.
func comi[V any](f floats[V], a, b V) (zf, pf, cf V) {
	pf = compare(f, a, b, 3)
	return f.or(pf, compare(f, a, b, 0)), pf, f.or(pf, compare(f, a, b, 1))
}

// concFloats is floats on values.
type concFloats struct {
	w     uint
	mxcsr uint64
}

func (f concFloats) nan(a uint64) uint64 { return b2u(isNaN(a, f.w)) }

// key maps floats to integers of the same order; both zeros to 0.
func (f concFloats) key(a uint64) int64 {
	mag := int64(a & (expr.Mask(f.w) >> 1))
	if a>>(f.w-1)&1 != 0 {
		return -mag
	}
	return mag
}
func (f concFloats) lt(a, b uint64) uint64  { return b2u(f.key(a) < f.key(b)) }
func (f concFloats) eq(a, b uint64) uint64  { return b2u(f.key(a) == f.key(b)) }
func (f concFloats) or(a, b uint64) uint64  { return a | b }
func (f concFloats) and(a, b uint64) uint64 { return a & b }
func (f concFloats) not(a uint64) uint64    { return a ^ 1 }
func (f concFloats) ite(c, a, b uint64) uint64 {
	if c != 0 {
		return a
	}
	return b
}
func (f concFloats) daz(a uint64) uint64 {
	if inf, _, _ := floatFmt(f.w); f.mxcsr&mxDAZ != 0 && a&inf == 0 {
		return a & (1 << (f.w - 1))
	}
	return a
}

// symFloats is floats on expressions of w bits and of one bit.
type symFloats struct {
	e   *expr.Ctx
	w   uint
	dz  bool
	inf expr.Ref
}

func newSymFloats(e *expr.Ctx, mxcsr expr.Ref, w uint) symFloats {
	v, ok := e.IsConst(mxcsr)
	if !ok {
		panic("ir: symbolic MXCSR")
	}
	inf, _, _ := floatFmt(w)
	return symFloats{e, w, v&mxDAZ != 0, e.Const(inf, w)}
}

func (f symFloats) mag(a expr.Ref) expr.Ref {
	return f.e.And(a, f.e.Const(expr.Mask(f.w)>>1, f.w))
}
func (f symFloats) sign(a expr.Ref) expr.Ref { return f.e.Extract(a, f.w-1, 1) }
func (f symFloats) nan(a expr.Ref) expr.Ref  { return f.e.Ult(f.inf, f.mag(a)) }
func (f symFloats) key(a expr.Ref) expr.Ref {
	m := f.mag(a)
	return f.e.Ite(f.sign(a), f.e.Neg(m), m)
}
func (f symFloats) lt(a, b expr.Ref) expr.Ref     { return f.e.Slt(f.key(a), f.key(b)) }
func (f symFloats) eq(a, b expr.Ref) expr.Ref     { return f.e.Eq(f.key(a), f.key(b)) }
func (f symFloats) or(a, b expr.Ref) expr.Ref     { return f.e.Or(a, b) }
func (f symFloats) and(a, b expr.Ref) expr.Ref    { return f.e.And(a, b) }
func (f symFloats) not(a expr.Ref) expr.Ref       { return f.e.Not(a) }
func (f symFloats) ite(c, a, b expr.Ref) expr.Ref { return f.e.Ite(c, a, b) }
func (f symFloats) daz(a expr.Ref) expr.Ref {
	if !f.dz {
		return a
	}
	zero := f.e.Const(0, f.w)
	signed := f.e.And(a, f.e.Const(1<<(f.w-1), f.w))
	return f.e.Ite(f.e.Eq(f.e.And(a, f.inf), zero), signed, a)
}

// minMax makes FMin and FMax.
func minMax(name string, max bool) Row {
	return Row{Name: name, Args: 3, Param: true,
		Eval: func(a, b, c uint64, w, _ uint, _ uint64) uint64 {
			return minimum(concFloats{w, c}, a&expr.Mask(w), b&expr.Mask(w), max)
		},
		Sym: func(e *expr.Ctx, a, b, c expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return e.ZExt(minimum(newSymFloats(e, c, w), low(e, a, w), low(e, b, w), max), 64)
		}}
}

func fFromI(a, _, c uint64, w, x uint, _ uint64) uint64 {
	v := expr.SignExtend(a&expr.Mask(x), x)
	switch {
	case c&mxSpecial != 0:
		e, f := softEnv(c), softFormat(w)
		return f.Pack(e.FromInt(f, v))
	case w == 32:
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(float64(v))
}

func fToI(a, _, c uint64, w, x uint, trunc uint64) uint64 {
	a &= expr.Mask(w)
	if c&mxSpecial != 0 {
		e, f := softEnv(c), softFormat(w)
		if trunc != 0 {
			e.Mode = softfp.Chop
		}
		return uint64(e.ToInt(f.Unpack(a), int(x))) & expr.Mask(x)
	}
	v := math.Float64frombits(a)
	if w == 32 {
		v = float64(math.Float32frombits(uint32(a)))
	}
	if trunc != 0 {
		v = math.Trunc(v)
	} else {
		v = math.RoundToEven(v)
	}
	if lim := math.Ldexp(1, int(x)-1); !(v >= -lim && v < lim) { // NaN too
		return 1 << (x - 1)
	}
	return uint64(int64(v)) & expr.Mask(x)
}

func fCvt(a, _, c uint64, w, x uint, _ uint64) uint64 {
	a &= expr.Mask(w)
	if c&mxSpecial != 0 || isNaN(a, w) {
		e := softEnv(c)
		return softFormat(x).Pack(e.Convert(softFormat(x), softFormat(w).Unpack(a)))
	}
	if w == 32 {
		return math.Float64bits(float64(math.Float32frombits(uint32(a))))
	}
	return uint64(math.Float32bits(float32(math.Float64frombits(a))))
}

func init() {
	define(FAdd, arith("fadd", func(x, y float32) float32 { return x + y },
		func(x, y float64) float64 { return x + y }, (*softfp.Env).Add))
	define(FSub, arith("fsub", func(x, y float32) float32 { return x - y },
		func(x, y float64) float64 { return x - y }, (*softfp.Env).Sub))
	define(FMul, arith("fmul", func(x, y float32) float32 { return x * y },
		func(x, y float64) float64 { return x * y }, (*softfp.Env).Mul))
	define(FDiv, arith("fdiv", func(x, y float32) float32 { return x / y },
		func(x, y float64) float64 { return x / y }, (*softfp.Env).Div))
	define(FSqrt, Row{Name: "fsqrt", Args: 3, Param: true, Eval: fsqrt})
	define(FMin, minMax("fmin", false))
	define(FMax, minMax("fmax", true))
	define(FCmp, Row{Name: "fcmp", Args: 3, Param: true,
		Eval: func(a, b, c uint64, w, _ uint, imm uint64) uint64 {
			return -compare(concFloats{w, c}, a&expr.Mask(w), b&expr.Mask(w), imm) & expr.Mask(w)
		},
		Sym: func(e *expr.Ctx, a, b, c expr.Ref, w, _ uint, imm uint64) expr.Ref {
			r := compare(newSymFloats(e, c, w), low(e, a, w), low(e, b, w), imm)
			return e.ZExt(e.SExt(r, w), 64)
		}})
	define(FComi, Row{Name: "fcomi", Args: 3, Param: true,
		Eval: func(a, b, c uint64, w, _ uint, _ uint64) uint64 {
			zf, pf, cf := comi(concFloats{w, c}, a&expr.Mask(w), b&expr.Mask(w))
			return zf*FlagZF | pf*FlagPF | cf*FlagCF
		},
		Sym: func(e *expr.Ctx, a, b, c expr.Ref, w, _ uint, _ uint64) expr.Ref {
			zf, pf, cf := comi(newSymFloats(e, c, w), low(e, a, w), low(e, b, w))
			zero := e.Const(0, 1)
			word := symLanes(e, 7, func(i uint) expr.Ref {
				switch uint64(1) << i {
				case FlagZF:
					return zf
				case FlagPF:
					return pf
				case FlagCF:
					return cf
				}
				return zero
			})
			return e.ZExt(word, 64)
		}})
	define(FFromI, Row{Name: "ffromi", Args: 3, Param: true, Eval: fFromI})
	define(FToI, Row{Name: "ftoi", Args: 3, Param: true, Eval: fToI})
	define(FCvt, Row{Name: "fcvt", Args: 3, Param: true, Eval: fCvt})
}
