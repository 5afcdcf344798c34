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
	FCmp      // all ones or 0: predicate Imm&15 of SDM vol. 2, VCMPPS (Param)
	FComi     // ZF, PF, CF as in RFLAGS, of A compared with B
	FFromI    // the signed integer A of X bits as a float of W bits
	FToI      // float A of W bits as a signed integer of X bits, truncated if Imm = 1 (Param)
	FCvt      // float A of W bits as a float of X bits
	// The conversions of F16C, in sem_half.go.
	FFromHalf // half-precision float A as a float of 32 bits
	FToHalf   // float A of 32 bits as one of half precision, rounded as FRound says (Param)
	FRound    // float A of W bits as a whole number, rounded as Imm&3 says, or with Imm&4 as MXCSR does (Param)
)

// arith makes a row of two operands.
func arith(name string, eval func(m softfp.MXCSR, w uint, a, b uint64) uint64,
	sym func(c *expr.Ctx, e expr.Env, a, b expr.Ref) expr.Ref) Row {
	return Row{Name: name, Args: 3, Param: true,
		Eval: func(a, b, c uint64, w, _ uint, _ uint64) uint64 {
			return eval(softfp.MXCSR(c), w, a&expr.Mask(w), b&expr.Mask(w))
		},
		Sym: func(e *expr.Ctx, a, b, c expr.Ref, w, _ uint, _ uint64) expr.Ref {
			f := newSymFloats(e, c, w)
			return e.ZExt(sym(e, f.env, f.daz(low(e, a, w)), f.daz(low(e, b, w))), 64)
		}}
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

// compare returns predicate p (SDM vol. 2, CMPPD, table 3-1, whose second half differs in exceptions only) as a truth value.
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
	if p&8 != 0 { // unordered numbers fulfil the first three, and nothing does the last
		r = f.or(r, un)
		if p&3 == 3 {
			r = f.and(un, f.not(un))
		}
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
	mxcsr softfp.MXCSR
}

func (f concFloats) nan(a uint64) uint64 { return b2u(softfp.IsNaN(a, f.w)) }

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
	if f.mxcsr&softfp.DAZ != 0 && a&softfp.Infinity(f.w) == 0 {
		return a & (1 << (f.w - 1))
	}
	return a
}

// symFloats is floats on expressions of w bits and of one bit.
type symFloats struct {
	e   *expr.Ctx
	w   uint
	dz  bool
	env expr.Env
	inf expr.Ref
}

func newSymFloats(e *expr.Ctx, mxcsr expr.Ref, w uint) symFloats {
	v, ok := e.IsConst(mxcsr)
	if !ok {
		panic("ir: symbolic MXCSR")
	}
	m := softfp.MXCSR(v)
	env := expr.Env(m.Mode())
	if m&softfp.FTZ != 0 {
		env |= expr.FTZ
	}
	return symFloats{e, w, m&softfp.DAZ != 0, env, e.Const(softfp.Infinity(w), w)}
}

func (f symFloats) mag(a expr.Ref) expr.Ref {
	return f.e.And(a, f.e.Const(expr.Mask(f.w)>>1, f.w))
}
func (f symFloats) sign(a expr.Ref) expr.Ref { return f.e.Extract(a, f.w-1, 1) }
func (f symFloats) nan(a expr.Ref) expr.Ref {
	if _, whole := f.e.Whole(a); whole {
		return f.e.Const(0, 1)
	}
	return f.e.Ult(f.inf, f.mag(a))
}
func (f symFloats) lt(a, b expr.Ref) expr.Ref {
	if x, y, ok := f.integers(a, b, math.Floor, math.Ceil); ok {
		return f.e.Slt(x, y)
	}
	return f.e.Slt(f.key(a), f.key(b))
}
func (f symFloats) eq(a, b expr.Ref) expr.Ref {
	if x, y, ok := f.integers(a, b, math.Floor, math.Floor); ok {
		if x1, y1, _ := f.integers(a, b, math.Ceil, math.Ceil); x != x1 || y != y1 {
			return f.e.Const(0, 1) // one is a fraction
		}
		return f.e.Eq(x, y)
	}
	return f.e.Eq(f.key(a), f.key(b))
}

// integers reads a and b, of which one is a whole number that is not known, as 64-bit
// integers. The other may be a constant: down rounds it if it is a, up if it is b.
func (f symFloats) integers(a, b expr.Ref, down, up func(float64) float64) (x, y expr.Ref, ok bool) {
	whole := false
	integer := func(r expr.Ref, round func(float64) float64) (expr.Ref, bool) {
		if c, isConst := f.e.IsConst(r); isConst {
			v := math.Float64frombits(softfp.MXCSR(0).Convert(f.w, 64, c))
			const far = 1 << 60 // past any whole number
			return f.e.Const(uint64(int64(round(min(max(v, -far), far)))), 64), v == v
		}
		n, ok := f.e.Whole(r)
		if !ok {
			return 0, false
		}
		whole = true
		return f.e.SExt(n, 64), true
	}
	x, okX := integer(a, down)
	y, okY := integer(b, up)
	return x, y, okX && okY && whole
}
func (f symFloats) key(a expr.Ref) expr.Ref {
	m := f.mag(a)
	return f.e.Ite(f.sign(a), f.e.Neg(m), m)
}
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
			return minimum(concFloats{w, softfp.MXCSR(c)}, a&expr.Mask(w), b&expr.Mask(w), max)
		},
		Sym: func(e *expr.Ctx, a, b, c expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return e.ZExt(minimum(newSymFloats(e, c, w), low(e, a, w), low(e, b, w), max), 64)
		}}
}

// truncated is the environment of a conversion to an integer.
func truncated(m softfp.MXCSR, trunc uint64) softfp.MXCSR {
	if trunc != 0 {
		m = m&^softfp.Down.Rounding() | softfp.Chop.Rounding()
	}
	return m
}

func init() {
	define(FAdd, arith("fadd", softfp.MXCSR.Add, (*expr.Ctx).FAdd))
	define(FSub, arith("fsub", softfp.MXCSR.Sub, (*expr.Ctx).FSub))
	define(FMul, arith("fmul", softfp.MXCSR.Mul, (*expr.Ctx).FMul))
	define(FDiv, arith("fdiv", softfp.MXCSR.Div, (*expr.Ctx).FDiv))
	define(FSqrt, Row{Name: "fsqrt", Args: 3, Param: true,
		Eval: func(a, _, c uint64, w, _ uint, _ uint64) uint64 { return softfp.MXCSR(c).Sqrt(w, a&expr.Mask(w)) },
		Sym: func(e *expr.Ctx, a, _, c expr.Ref, w, _ uint, _ uint64) expr.Ref {
			f := newSymFloats(e, c, w)
			return e.ZExt(e.FSqrt(f.env, f.daz(low(e, a, w))), 64)
		}})
	define(FMin, minMax("fmin", false))
	define(FMax, minMax("fmax", true))
	define(FCmp, Row{Name: "fcmp", Args: 3, Param: true,
		Eval: func(a, b, c uint64, w, _ uint, imm uint64) uint64 {
			return -compare(concFloats{w, softfp.MXCSR(c)}, a&expr.Mask(w), b&expr.Mask(w), imm) & expr.Mask(w)
		},
		Sym: func(e *expr.Ctx, a, b, c expr.Ref, w, _ uint, imm uint64) expr.Ref {
			r := compare(newSymFloats(e, c, w), low(e, a, w), low(e, b, w), imm)
			return e.ZExt(e.SExt(r, w), 64)
		}})
	define(FComi, Row{Name: "fcomi", Args: 3, Param: true,
		Eval: func(a, b, c uint64, w, _ uint, _ uint64) uint64 {
			zf, pf, cf := comi(concFloats{w, softfp.MXCSR(c)}, a&expr.Mask(w), b&expr.Mask(w))
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
	define(FFromI, Row{Name: "ffromi", Args: 3, Param: true,
		Eval: func(a, _, c uint64, w, x uint, _ uint64) uint64 {
			return softfp.MXCSR(c).FromInt(w, expr.SignExtend(a&expr.Mask(x), x))
		},
		Sym: func(e *expr.Ctx, a, _, c expr.Ref, w, x uint, _ uint64) expr.Ref {
			return e.ZExt(e.FFromI(newSymFloats(e, c, w).env, low(e, a, x), w), 64)
		}})
	define(FToI, Row{Name: "ftoi", Args: 3, Param: true,
		Eval: func(a, _, c uint64, w, x uint, trunc uint64) uint64 {
			return truncated(softfp.MXCSR(c), trunc).ToInt(w, x, a&expr.Mask(w))
		},
		Sym: func(e *expr.Ctx, a, _, c expr.Ref, w, x uint, trunc uint64) expr.Ref {
			f := newSymFloats(e, c, w)
			if trunc != 0 {
				f.env = expr.Env(softfp.Chop)
			}
			return e.ZExt(e.FToI(f.env, f.daz(low(e, a, w)), x), 64)
		}})
	define(FCvt, Row{Name: "fcvt", Args: 3, Param: true,
		Eval: func(a, _, c uint64, w, x uint, _ uint64) uint64 {
			return softfp.MXCSR(c).Convert(w, x, a&expr.Mask(w))
		},
		Sym: func(e *expr.Ctx, a, _, c expr.Ref, w, x uint, _ uint64) expr.Ref {
			f := newSymFloats(e, c, w)
			return e.ZExt(e.FConvert(f.env, f.daz(low(e, a, w)), x), 64)
		}})
	define(FRound, Row{Name: "fround", Args: 3, Param: true,
		Eval: func(a, _, c uint64, w, _ uint, imm uint64) uint64 {
			m := softfp.MXCSR(c)
			return roundMode(m, imm).RoundInt(w, concFloats{w, m}.daz(a&expr.Mask(w)))
		},
		Sym: func(e *expr.Ctx, a, _, c expr.Ref, w, _ uint, imm uint64) expr.Ref {
			return e.ZExt(symRound(newSymFloats(e, c, w), low(e, a, w), imm), 64)
		}})
}

// roundMode is the environment of FRound.
func roundMode(m softfp.MXCSR, imm uint64) softfp.MXCSR {
	if imm&4 != 0 {
		return m.Mode().Rounding()
	}
	return softfp.Mode(imm & 3).Rounding()
}

// symRound rounds by way of a 64-bit integer where there can be a fraction. The sign stays: of -0.3 it makes -0.
func symRound(f symFloats, a expr.Ref, imm uint64) expr.Ref {
	e, w := f.e, f.w
	a = f.daz(a)
	env := expr.Env(f.env &^ expr.FTZ)
	if imm&4 == 0 {
		env = expr.Env(imm & 3)
	}
	whole := softfp.MXCSR(0).FromInt(w, 1<<map[uint]uint{32: 23, 64: 52}[w]) // from here on there is none
	sign := e.And(a, e.Const(1<<(w-1), w))
	r := e.Or(f.mag(e.FFromI(expr.Env(softfp.Nearest), e.FToI(env, a, 64), w)), sign)
	quiet := e.Or(a, e.Const(softfp.QuietBit(w), w))
	return e.Ite(e.Ult(f.mag(a), e.Const(whole, w)), r, e.Ite(f.nan(a), quiet, a))
}
