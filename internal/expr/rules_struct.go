package expr

import "math/bits"

// structRules are the rules of Concat, Extract, ZExt and SExt.
var structRules = append([]rule{
	// match: 0:x  result: ZExt(x)
	{name: "concat-zero", kind: Concat, on: Const, apply: func(c *Ctx, t term) Ref {
		if v, _ := c.IsConst(t.a); v != 0 {
			return 0
		}
		return c.ZExt(t.b, t.w)
	}},
	// match: (x:y):z  result: x:(y:z)
	{name: "concat-assoc", kind: Concat, on: Concat, apply: func(c *Ctx, t term) Ref {
		return c.Concat(c.A(t.a), c.Concat(c.B(t.a), t.b))
	}},
	// match: x:y that are neighbouring parts of one value (join)  result: the part that is both
	{name: "concat-join", kind: Concat, apply: func(c *Ctx, t term) Ref { return c.join(t.a, t.b) }},
	// match: x:(y:z), x and y neighbouring parts  result: xy:z
	{name: "concat-join-next", kind: Concat, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != Concat {
			return 0
		}
		xy := c.join(t.a, c.A(t.b))
		if xy == 0 {
			return 0
		}
		return c.Concat(xy, c.B(t.b))
	}},
	// match: k:ZExt(x)  result: (k:0):x
	{name: "concat-const-zext", kind: Concat, on: Const, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != ZExt {
			return 0
		}
		x := c.A(t.b)
		return c.Concat(c.shiftLeft(c.ZExt(t.a, t.w-c.Width(x)), c.Width(t.b)-c.Width(x)), x)
	}},
	// match: tree:k  result: the tree of leaf:k
	{name: "concat-tree-const", kind: Concat, on: Ite, konst: true, apply: func(c *Ctx, t term) Ref {
		if !c.constTree(t.a) {
			return 0
		}
		return c.pushUnary(t.a, func(x Ref) Ref { return c.Concat(x, t.b) })
	}},
	// match: k:tree  result: the tree of k:leaf
	{name: "concat-const-tree", kind: Concat, on: Const, apply: func(c *Ctx, t term) Ref {
		if !c.constTree(t.b) {
			return 0
		}
		return c.pushUnary(t.b, func(x Ref) Ref { return c.Concat(t.a, x) })
	}},
	// match: ZExt(x):y  result: ZExt(x:y)
	{name: "concat-zext", kind: Concat, on: ZExt, apply: func(c *Ctx, t term) Ref { return c.ZExt(c.Concat(c.A(t.a), t.b), t.w) }},
	// match: SExt(x):y  result: SExt(x:y)
	{name: "concat-sext", kind: Concat, on: SExt, apply: func(c *Ctx, t term) Ref { return c.SExt(c.Concat(c.A(t.a), t.b), t.w) }},
	// match: s:x, s the top bit of x  result: SExt(x)
	{name: "concat-sign", kind: Concat, apply: func(c *Ctx, t term) Ref {
		if c.Width(t.a) != 1 || t.kb || c.Extract(t.b, t.w-2, 1) != t.a {
			return 0
		}
		return c.SExt(t.b, t.w)
	}},

	// match: Extract(Extract(x))  result: one Extract of x
	{name: "extract-extract", kind: Extract, on: Extract, apply: func(c *Ctx, t term) Ref {
		return c.Extract(c.A(t.a), c.Lo(t.a)+t.lo, t.w)
	}},
	// match: Extract(x:y)  result: Extract(x), Extract(y) or Extract(x):Extract(y)
	{name: "extract-concat", kind: Extract, on: Concat, apply: func(c *Ctx, t term) Ref {
		x, y := c.A(t.a), c.B(t.a)
		n := c.Width(y)
		switch {
		case t.lo >= n:
			return c.Extract(x, t.lo-n, t.w)
		case t.lo+t.w <= n:
			return c.Extract(y, t.lo, t.w)
		}
		return c.Concat(c.Extract(x, 0, t.lo+t.w-n), c.Extract(y, t.lo, n-t.lo))
	}},
	// match: Extract(ZExt(x))  result: 0, Extract(x) or ZExt(Extract(x))
	{name: "extract-zext", kind: Extract, on: ZExt, apply: func(c *Ctx, t term) Ref {
		x := c.A(t.a)
		n := c.Width(x)
		switch {
		case t.lo >= n:
			return c.Const(0, t.w)
		case t.lo+t.w <= n:
			return c.Extract(x, t.lo, t.w)
		}
		return c.ZExt(c.Extract(x, t.lo, n-t.lo), t.w)
	}},
	// match: Extract(SExt(x))  result: copies of x's sign, Extract(x) or SExt(Extract(x))
	{name: "extract-sext", kind: Extract, on: SExt, apply: func(c *Ctx, t term) Ref {
		x := c.A(t.a)
		n := c.Width(x)
		switch {
		case t.lo >= n:
			return c.SExt(c.Extract(x, n-1, 1), t.w)
		case t.lo+t.w <= n:
			return c.Extract(x, t.lo, t.w)
		}
		return c.SExt(c.Extract(x, t.lo, n-t.lo), t.w)
	}},
	// match: Extract(c ? x : y), both arms fall apart at its ends  result: c ? Extract(x) : Extract(y)
	{name: "extract-ite", kind: Extract, on: Ite, apply: func(c *Ctx, t term) Ref {
		x, y := c.B(t.a), c.C(t.a)
		hi := t.lo + t.w
		if !c.constTree(t.a) && (!c.splits(x, t.lo) || !c.splits(x, hi) || !c.splits(y, t.lo) || !c.splits(y, hi)) {
			return 0
		}
		return c.Ite(c.A(t.a), c.Extract(x, t.lo, t.w), c.Extract(y, t.lo, t.w))
	}},
	// match: one bit of Select(t, i)  result: Select of a table of bits
	{name: "extract-select-bit", kind: Extract, on: Select, apply: func(c *Ctx, t term) Ref {
		if t.w != 1 {
			return 0
		}
		return c.tableTest(t.a, func(v uint64) bool { return v>>t.lo&1 == 1 })
	}},
	// match: the high bits of x*m, or of MulHU(x, m), that are x/d for every x (magic)  result: that part of x/d
	{name: "extract-magic", kind: Extract, apply: func(c *Ctx, t term) Ref {
		shift := t.lo
		if c.Kind(t.a) == MulHU {
			shift += c.Width(t.a)
		} else if c.Kind(t.a) != Mul {
			return 0
		}
		m, konst := c.IsConst(c.B(t.a))
		if !konst {
			return 0
		}
		d := c.magic(c.A(t.a), m, shift, c.Kind(t.a) == Mul)
		if d == 0 {
			return 0
		}
		x := c.A(t.a)
		return c.Extract(c.UDiv(x, c.Const(d, c.Width(x))), 0, t.w)
	}},
	// match: bits of x that are known  result: a constant
	{name: "extract-known", kind: Extract, apply: func(c *Ctx, t term) Ref {
		z, o := c.Known(t.a)
		if (z|o)>>t.lo&Mask(t.w) != Mask(t.w) {
			return 0
		}
		return c.Const(o>>t.lo, t.w)
	}},

	// match: ZExt(ZExt(x))  result: ZExt(x)
	{name: "zext-zext", kind: ZExt, on: ZExt, apply: func(c *Ctx, t term) Ref { return c.ZExt(c.A(t.a), t.w) }},
	// match: ZExt(tree)  result: the tree of ZExt(leaf)
	{name: "zext-tree", kind: ZExt, on: Ite, apply: func(c *Ctx, t term) Ref {
		if !c.constTree(t.a) {
			return 0
		}
		return c.pushUnary(t.a, func(x Ref) Ref { return c.ZExt(x, t.w) })
	}},
	// match: ZExt(SExt(bit))  result: bit ? k : 0
	{name: "zext-sext-bit", kind: ZExt, on: SExt, apply: func(c *Ctx, t term) Ref {
		if c.Width(c.A(t.a)) != 1 {
			return 0
		}
		return c.choose(c.A(t.a), Mask(c.Width(t.a)), 0, t.w)
	}},
	// match: ZExt(low(x)), the bits of x above known to be zero  result: x at the new width
	{name: "zext-low-known", kind: ZExt, on: Extract, apply: func(c *Ctx, t term) Ref {
		x := c.A(t.a)
		if c.Lo(t.a) != 0 {
			return 0
		}
		if _, hi := c.Range(x); hi > Mask(c.Width(t.a)) {
			return 0
		}
		return c.resize(x, t.w)
	}},

	// match: SExt(SExt(x))  result: SExt(x)
	{name: "sext-sext", kind: SExt, on: SExt, apply: func(c *Ctx, t term) Ref { return c.SExt(c.A(t.a), t.w) }},
	// match: SExt(tree)  result: the tree of SExt(leaf)
	{name: "sext-tree", kind: SExt, on: Ite, apply: func(c *Ctx, t term) Ref {
		if !c.constTree(t.a) {
			return 0
		}
		return c.pushUnary(t.a, func(x Ref) Ref { return c.SExt(x, t.w) })
	}},
	// match: SExt(x), x not negative (ZExt included)  result: ZExt(x)
	{name: "sext-nonneg", kind: SExt, apply: func(c *Ctx, t term) Ref {
		if !c.nonNegative(t.a) {
			return 0
		}
		return c.ZExt(t.a, t.w)
	}},
}, lowRules()...)

// lowRules are the rules of Extract of what an operator gives.
func lowRules() (rules []rule) {
	// match: low bits of a sum, product, negation or bitwise operator with an operand that sheds bits
	// result: the operator on the low bits of its operands
	// match: one bit of a bitwise operator  result: the operator on the bits
	for _, k := range []Kind{Add, Mul, Neg, And, Or, Xor, Not} {
		rules = append(rules, rule{name: "extract-low-" + kinds[k].Name, kind: Extract, on: k, apply: extractLow})
	}
	return rules
}

func extractLow(c *Ctx, t term) Ref {
	if c.isDeep(t.a) {
		return 0 // it would descend all the way
	}
	k := c.Kind(t.a)
	bit := t.w == 1 && (k == And || k == Or || k == Xor || k == Not)
	if !bit && t.lo != 0 {
		return 0
	}
	x := c.A(t.a)
	if k == Neg || k == Not {
		if !bit && !c.sheds(x, t.w, shedDepth) {
			return 0
		}
		return c.unary(k, c.Extract(x, t.lo, t.w))
	}
	y := c.B(t.a)
	if !bit && !c.sheds(y, t.w, shedDepth) && !c.sheds(x, t.w, shedDepth) {
		return 0
	}
	return c.binary(k, c.Extract(x, t.lo, t.w), c.Extract(y, t.lo, t.w))
}

// shedDepth is how deep extractLow looks for operands worth descending to.
const shedDepth = 4

// join returns hi:lo where they are neighbouring parts of one value, else 0.
func (c *Ctx) join(hi, lo Ref) Ref {
	nh, nl := c.Width(hi), c.Width(lo)
	if vh, ok := c.IsConst(hi); ok {
		if vl, ok := c.IsConst(lo); ok {
			return c.Const(vh<<nl|vl, nh+nl)
		}
		return 0
	}
	if c.Kind(hi) == Extract {
		x, at := c.A(hi), c.Lo(hi)
		if at < nl {
			return 0
		}
		if c.Kind(lo) == Extract && c.A(lo) == x {
			if c.Lo(lo) == at-nl {
				return c.Extract(x, at-nl, nh+nl)
			}
			return 0
		}
		switch c.Kind(x) {
		case Add, Mul, Neg, And, Or, Xor, Not:
			// extractLow may have rewritten the low part.
			if at == nl && c.Extract(x, 0, nl) == lo {
				return c.Extract(x, 0, nh+nl)
			}
		}
		return 0
	}
	if c.Kind(hi) == Ite && c.Kind(lo) == Ite && c.A(hi) == c.A(lo) {
		return c.Ite(c.A(hi), c.Concat(c.B(hi), c.B(lo)), c.Concat(c.C(hi), c.C(lo)))
	}
	p, h1, h0, ok := c.asChoice(hi)
	if !ok {
		return 0
	}
	q, l1, l0, ok := c.asChoice(lo)
	if !ok || p != q {
		return 0
	}
	return c.choose(p, h1<<nl|l1, h0<<nl|l0, nh+nl)
}

// magic returns d such that x*m >> shift is x/d for every x, or 0. whole: the product has no
// more bits than x. Compilers divide by constants so (Granlund and Montgomery, Division by
// Invariant Integers using Multiplication, 1994, theorem 4.2).
func (c *Ctx) magic(x Ref, m uint64, shift uint, whole bool) uint64 {
	w := c.Width(x)
	_, most := c.Range(x)
	if hi, lo := bits.Mul64(most, m); whole && (hi != 0 || lo > Mask(w)) || m < 3 || shift > 127 {
		return 0
	}
	// d is 2^shift/m, rounded up; m*d = 2^shift + e, and x*e has to stay below 2^shift.
	hi, lo := uint64(0), uint64(0)
	if shift < 64 {
		lo = 1 << shift
	} else {
		hi = 1 << (shift - 64)
	}
	if hi >= m {
		return 0
	}
	d, rest := bits.Div64(hi, lo, m)
	if rest == 0 || d >= Mask(w) {
		return 0
	}
	e := m - rest
	if h, l := bits.Mul64(most, e); h > hi || h == hi && l >= lo {
		return 0
	}
	return d + 1
}
