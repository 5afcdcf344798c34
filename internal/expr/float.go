package expr

import (
	"fmt"

	"symchef/internal/softfp"
)

// Env is the environment of a float operation: a rounding mode, and FTZ.
// Denormal operands are zeros only where the caller has made them so.
type Env uint8

// FTZ makes denormal results zero (SDM vol. 1, 10.2.3.3).
const FTZ Env = 4

const numEnvs = 8

// Nearest is the environment of programs that change nothing.
const Nearest = Env(softfp.Nearest)

// Mode returns the rounding mode.
func (e Env) Mode() softfp.Mode { return softfp.Mode(e & 3) }

func (e Env) mxcsr() softfp.MXCSR {
	c := e.Mode().Rounding()
	if e&FTZ != 0 {
		c |= softfp.FTZ
	}
	return c
}

// floatEval computes float kind k on encodings of aw bits; the result has w bits.
func floatEval(k Kind, e Env, a, b uint64, aw, w uint) uint64 {
	c := e.mxcsr()
	switch k {
	case FAdd:
		return c.Add(w, a, b)
	case FSub:
		return c.Sub(w, a, b)
	case FMul:
		return c.Mul(w, a, b)
	case FDiv:
		return c.Div(w, a, b)
	case FSqrt:
		return c.Sqrt(w, a)
	case FFromI:
		return c.FromInt(w, SignExtend(a, aw))
	case FToI:
		return c.ToInt(aw, w, a)
	}
	return c.Convert(aw, w, a)
}

// The constructors of the float kinds: e is the environment, w the width of the result
// where it is not that of the operands.

func (c *Ctx) FAdd(e Env, a, b Ref) Ref          { return c.float(FAdd, e, a, b, c.Width(a)) }
func (c *Ctx) FSub(e Env, a, b Ref) Ref          { return c.float(FSub, e, a, b, c.Width(a)) }
func (c *Ctx) FMul(e Env, a, b Ref) Ref          { return c.float(FMul, e, a, b, c.Width(a)) }
func (c *Ctx) FDiv(e Env, a, b Ref) Ref          { return c.float(FDiv, e, a, b, c.Width(a)) }
func (c *Ctx) FSqrt(e Env, a Ref) Ref            { return c.float(FSqrt, e, a, 0, c.Width(a)) }
func (c *Ctx) FFromI(e Env, a Ref, w uint) Ref   { return c.float(FFromI, e, a, 0, w) }
func (c *Ctx) FToI(e Env, a Ref, w uint) Ref     { return c.float(FToI, e, a, 0, w) }
func (c *Ctx) FConvert(e Env, a Ref, w uint) Ref { return c.float(FCvt, e, a, 0, w) }

// Float builds float kind k; b is 0 where k has one operand.
//
// require: FloatWidths of a's width (b's is the same) and w.
func (c *Ctx) Float(k Kind, e Env, a, b Ref, w uint) Ref { return c.float(k, e, a, b, w) }

// FloatWidths reports whether float kind k takes operands of aw bits for a result of w bits.
func FloatWidths(k Kind, aw, w uint) bool {
	isFloat := func(w uint) bool { return w == 32 || w == 64 }
	switch k {
	case FFromI:
		return isFloat(w) && aw >= 1 && aw <= 64
	case FToI:
		return isFloat(aw) && w > 1 && w <= 64
	case FCvt:
		return isFloat(aw) && isFloat(w) && w != aw
	}
	return isFloat(w) && aw == w
}

func (c *Ctx) floatWidths(k Kind, a, b Ref, w uint) bool {
	return FloatWidths(k, c.Width(a), w) && (kinds[k].Arity == 1 || c.Width(b) == w)
}

func (c *Ctx) float(k Kind, e Env, a, b Ref, w uint) Ref {
	if e >= numEnvs || !c.floatWidths(k, a, b, w) {
		panic(fmt.Sprintf("expr: %v of widths", k))
	}
	if k == FFromI || k == FToI {
		e &^= FTZ // there is nothing to flush
	}
	va, konst := c.IsConst(a)
	t := term{kind: k, w: w, lo: uint(e), a: a}
	if kinds[k].Arity == 2 {
		t.b = b
		t.vb, t.kb = c.IsConst(b)
		konst = konst && t.kb
	}
	if konst {
		return c.Const(floatEval(k, e, va, t.vb, c.Width(a), w), w)
	}
	return c.build(t)
}

// AnyFloat reports whether there is a float operation in roots.
func (c *Ctx) AnyFloat(roots []Ref) bool {
	found := false
	c.postorder(roots, func(r Ref) { found = found || c.Kind(r).IsFloat() })
	return found
}

// precision returns the significant bits of w-bit floats.
func precision(w uint) uint { return uint(softfp.FormatOf(w).Prec) }

// Whole reads the w-bit float r as an exact integer: a signed expression n of at most
// as many bits as a float's significand, with r = float(n) and not -0.
func (c *Ctx) Whole(r Ref) (n Ref, ok bool) {
	w := c.Width(r)
	if c.Kind(r) == FFromI {
		n = c.A(r)
		return n, c.Width(n) <= precision(w)
	}
	if v, isConst := c.IsConst(r); isConst && v != 1<<(w-1) {
		p := precision(w)
		chop := softfp.Chop.Rounding()
		if i := chop.ToInt(w, p, v); i != 1<<(p-1) && chop.FromInt(w, SignExtend(i, p)) == v {
			return c.Const(i, p), true
		}
	}
	return 0, false
}

// signedBits returns the least width that holds every value of r as a signed number,
// as far as structure tells.
func (c *Ctx) signedBits(r Ref) uint {
	if v, ok := c.IsConst(r); ok {
		w := c.Width(r)
		for n := uint(1); n < w; n++ {
			if SignExtend(v, n) == SignExtend(v, w) {
				return n
			}
		}
		return w
	}
	if c.Kind(r) == SExt {
		return c.Width(c.A(r))
	}
	if _, hi := c.Range(r); hi <= Mask(c.Width(r))>>1 {
		n := uint(1)
		for ; hi>>(n-1) != 0; n++ {
		}
		return n
	}
	return c.Width(r)
}
