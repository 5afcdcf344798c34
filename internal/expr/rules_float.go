package expr

import "symchef/internal/softfp"

// floatRules: floats that are integers stay integers. Languages whose only numbers are
// floats count and index with them (as in Lua 5.1, JavaScript, R).
var floatRules = []rule{
	{name: "fromi-narrow", kind: FFromI, apply: func(c *Ctx, t term) Ref {
		if n := c.signedBits(t.a); n < c.Width(t.a) {
			return c.float(FFromI, Env(t.lo), c.Extract(t.a, 0, n), 0, t.w)
		}
		return 0
	}},
	{name: "toi-fromi", kind: FToI, on: FFromI, apply: func(c *Ctx, t term) Ref {
		if n, ok := c.Whole(t.a); ok && c.Width(n) <= t.w {
			return c.SExt(n, t.w)
		}
		return 0
	}},
	{name: "cvt-fromi", kind: FCvt, on: FFromI, apply: func(c *Ctx, t term) Ref {
		if n, ok := c.Whole(t.a); ok && c.Width(n) <= precision(t.w) {
			return c.float(FFromI, Env(t.lo), n, 0, t.w)
		}
		return 0
	}},
	{name: "fadd-whole", kind: FAdd, apply: func(c *Ctx, t term) Ref { return c.wholeSum(t, c.Add) }},
	{name: "fsub-whole", kind: FSub, apply: func(c *Ctx, t term) Ref { return c.wholeSum(t, c.Sub) }},
	{name: "fmul-whole", kind: FMul, apply: func(c *Ctx, t term) Ref {
		a, b, ok := c.bothWhole(t)
		w := c.Width(a) + c.Width(b)
		if !ok || w > precision(t.w) || !c.noMinusZero(a, b) {
			return 0
		}
		return c.FFromI(Env(t.lo), c.Mul(c.SExt(a, w), c.SExt(b, w)), t.w)
	}},
}

// bothWhole returns the integers that the operands of t are, as narrow as known.
func (c *Ctx) bothWhole(t term) (a, b Ref, ok bool) {
	a, okA := c.Whole(t.a)
	b, okB := c.Whole(t.b)
	if !okA || !okB {
		return 0, 0, false
	}
	return c.Extract(a, 0, c.signedBits(a)), c.Extract(b, 0, c.signedBits(b)), true
}

// wholeSum adds or subtracts integers. The sum of x and -x is -0 when rounding down.
func (c *Ctx) wholeSum(t term, op func(a, b Ref) Ref) Ref {
	a, b, ok := c.bothWhole(t)
	w := max(c.Width(a), c.Width(b)) + 1
	if !ok || w > precision(t.w) || Env(t.lo).Mode() == softfp.Down {
		return 0
	}
	return c.FFromI(Env(t.lo), op(c.SExt(a, w), c.SExt(b, w)), t.w)
}

// noMinusZero reports whether a*b, of signed numbers, is never 0 times a negative number.
func (c *Ctx) noMinusZero(a, b Ref) bool {
	least := func(r Ref) int64 { // a bound from below
		lo, hi := c.Range(r)
		if w := c.Width(r); hi > Mask(w)>>1 {
			return -1
		}
		return int64(lo)
	}
	x, y := least(a), least(b)
	return x > 0 || y > 0 || x >= 0 && y >= 0
}
