package expr

import "math/bits"

// arithRules are the rules of Neg and Add.
var arithRules = []rule{
	// match: -x, one bit  result: x
	{name: "neg-bit", kind: Neg, apply: func(c *Ctx, t term) Ref { return onlyIf(t.w == 1, t.a) }},
	// match: -(-x)  result: x
	{name: "neg-neg", kind: Neg, on: Neg, apply: func(c *Ctx, t term) Ref { return c.A(t.a) }},
	// match: -(~x)  result: x + 1
	{name: "neg-not", kind: Neg, on: Not, apply: func(c *Ctx, t term) Ref { return c.Add(c.A(t.a), c.Const(1, t.w)) }},
	// match: -(x + k)  result: -x + -k
	{name: "neg-add-const", kind: Neg, on: Add, apply: func(c *Ctx, t term) Ref {
		if k, ok := c.IsConst(c.B(t.a)); ok {
			return c.Add(c.Neg(c.A(t.a)), c.Const(-k, t.w))
		}
		return 0
	}},
	// match: -(x * k)  result: x * -k
	{name: "neg-mul-const", kind: Neg, on: Mul, apply: func(c *Ctx, t term) Ref {
		if k, ok := c.IsConst(c.B(t.a)); ok {
			return c.Mul(c.A(t.a), c.Const(-k, t.w))
		}
		return 0
	}},
	// match: -ZExt(bit)  result: SExt(bit)
	{name: "neg-zext-bit", kind: Neg, on: ZExt, apply: func(c *Ctx, t term) Ref {
		if c.Width(c.A(t.a)) != 1 {
			return 0
		}
		return c.SExt(c.A(t.a), t.w)
	}},
	// match: -SExt(bit)  result: ZExt(bit)
	{name: "neg-sext-bit", kind: Neg, on: SExt, apply: func(c *Ctx, t term) Ref {
		if c.Width(c.A(t.a)) != 1 {
			return 0
		}
		return c.ZExt(c.A(t.a), t.w)
	}},
	// match: -(x:0)  result: (-x):0
	{name: "neg-low-zeros", kind: Neg, on: Concat, apply: func(c *Ctx, t term) Ref {
		if v, ok := c.IsConst(c.B(t.a)); ok && v == 0 {
			return c.Concat(c.Neg(c.A(t.a)), c.B(t.a))
		}
		return 0
	}},
	// match: -tree  result: the tree of negated leaves
	{name: "neg-tree", kind: Neg, on: Ite, apply: func(c *Ctx, t term) Ref {
		if !c.constTree(t.a) {
			return 0
		}
		return c.pushUnary(t.a, c.Neg)
	}},

	// match: x + 0  result: x
	{name: "add-zero", kind: Add, konst: true, apply: func(c *Ctx, t term) Ref { return onlyIf(t.vb == 0, t.a) }},
	// match: x + y, one bit  result: x ^ y
	{name: "add-bit", kind: Add, apply: func(c *Ctx, t term) Ref {
		if t.w != 1 {
			return 0
		}
		return c.Xor(t.a, t.b)
	}},
	// match: (x + k) + y  result: (x + y) + k
	{name: "add-const-out", kind: Add, on: Add, commute: true, apply: func(c *Ctx, t term) Ref { return c.constOut(Add, t) }},
	// match: x + x  result: low(x):0
	{name: "add-self", kind: Add, apply: func(c *Ctx, t term) Ref {
		if t.a != t.b {
			return 0
		}
		return c.shiftLeft(t.a, 1)
	}},
	// match: x + -x  result: 0
	{name: "add-neg-self", kind: Add, apply: func(c *Ctx, t term) Ref {
		if !c.isNegOf(t.a, t.b) {
			return 0
		}
		return c.Const(0, t.w)
	}},
	// match: x + ~x  result: ones
	{name: "add-not-self", kind: Add, apply: func(c *Ctx, t term) Ref {
		if !c.isNotOf(t.a, t.b) {
			return 0
		}
		return c.Const(^uint64(0), t.w)
	}},
	// match: ~x + k  result: -x + (k - 1)
	{name: "add-not-const", kind: Add, on: Not, konst: true, apply: func(c *Ctx, t term) Ref {
		return c.Add(c.Neg(c.A(t.a)), c.Const(t.vb-1, t.w))
	}},
	// match: -x + ones  result: ~x
	{name: "add-neg-ones", kind: Add, on: Neg, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != Mask(t.w) {
			return 0
		}
		return c.Not(c.A(t.a))
	}},
	// match: (x + y) + -x  result: y
	{name: "add-cancel", kind: Add, on: Add, commute: true, apply: func(c *Ctx, t term) Ref {
		x, y := c.A(t.a), c.B(t.a)
		switch {
		case c.isNegOf(x, t.b):
			return y
		case c.isNegOf(y, t.b):
			return x
		}
		return 0
	}},
	// match: -(x + y) + x  result: -y
	{name: "add-cancel-neg", kind: Add, on: Neg, commute: true, apply: func(c *Ctx, t term) Ref {
		if s := c.A(t.a); c.Kind(s) == Add {
			if y, ok := c.other(s, t.b); ok {
				return c.Neg(y)
			}
		}
		return 0
	}},
	// match: Ext(bit) + k, or a choice of two constants + k  result: bit ? k + x : k + y
	{name: "add-choice-const", kind: Add, konst: true, apply: func(c *Ctx, t term) Ref {
		cond, x, y, ok := c.asChoice(t.a)
		if !ok {
			return 0
		}
		return c.choose(cond, x+t.vb, y+t.vb, t.w)
	}},
	// match: tree + k  result: the tree of leaf + k
	{name: "add-tree", kind: Add, on: Ite, konst: true, apply: treeFirst},
	// match: x*k1 + x*k2 (x, x << n and x*k read as products)  result: x * (k1 + k2)
	{name: "add-products", kind: Add, apply: func(c *Ctx, t term) Ref {
		x, k1 := c.asProduct(t.a)
		y, k2 := c.asProduct(t.b)
		if x != y || t.kb {
			return 0
		}
		return c.Mul(x, c.Const(k1+k2, t.w))
	}},
	// match: (x << n) + x, whatever form x << n has  result: x * (2^n + 1)
	{name: "add-shifted-self", kind: Add, on: Concat, commute: true, apply: addShiftedSelf},
	// match: the same for x << n = ZExt(z:0)
	{name: "add-shifted-self-zext", kind: Add, on: ZExt, commute: true, apply: addShiftedSelf},
	// match: x + y, x ending in n zeros and y falling apart there  result: (hi(x) + hi(y)):lo(y)
	{name: "add-low-zeros", kind: Add, on: Concat, commute: true, apply: addLowZeros},
	// match: the same for x = ZExt(z:0)
	{name: "add-low-zeros-zext", kind: Add, on: ZExt, commute: true, apply: addLowZeros},
	// match: x + y, no bit set in both, one of them a Concat or ZExt  result: x | y
	{name: "add-disjoint", kind: Add, commute: true, apply: func(c *Ctx, t term) Ref {
		if k := c.Kind(t.a); k != Concat && k != ZExt {
			return 0
		}
		za, _ := c.Known(t.a)
		zb, _ := c.Known(t.b)
		if za|zb != Mask(t.w) {
			return 0
		}
		return c.Or(t.a, t.b)
	}},
}

func addShiftedSelf(c *Ctx, t term) Ref {
	if t.kb {
		return 0
	}
	z, _ := c.Known(t.a)
	n := uint(bits.TrailingZeros64(^z))
	if n == 0 || n >= t.w || c.Extract(t.a, n, t.w-n) != c.Extract(t.b, 0, t.w-n) {
		return 0
	}
	return c.Mul(t.b, c.Const(1<<n+1, t.w))
}

func addLowZeros(c *Ctx, t term) Ref {
	z, _ := c.Known(t.a)
	n := uint(bits.TrailingZeros64(^z))
	if n == 0 || n >= t.w || !c.splits(t.a, n) || !c.splits(t.b, n) {
		return 0
	}
	hi := c.Add(c.Extract(t.a, n, t.w-n), c.Extract(t.b, n, t.w-n))
	return c.Concat(hi, c.Extract(t.b, 0, n))
}

// asProduct reads r as x * k.
func (c *Ctx) asProduct(r Ref) (x Ref, k uint64) {
	switch c.Kind(r) {
	case Mul:
		if k, ok := c.IsConst(c.B(r)); ok {
			return c.A(r), k
		}
	case Neg:
		return c.A(r), Mask(c.Width(r))
	case Concat: // the low bits of x, then zeros
		e, z := c.A(r), c.B(r)
		if v, ok := c.IsConst(z); ok && v == 0 && c.Kind(e) == Extract && c.Lo(e) == 0 && c.Width(c.A(e)) == c.Width(r) {
			return c.A(e), 1 << c.Width(z)
		}
	case ZExt: // ZExt(x:0) is ZExt(x) << n
		if s := c.A(r); c.Kind(s) == Concat {
			if v, ok := c.IsConst(c.B(s)); ok && v == 0 {
				return c.ZExt(c.A(s), c.Width(r)), 1 << c.Width(c.B(s))
			}
		}
	}
	return r, 1
}

// mulRules are the rules of multiplication and division.
var mulRules = []rule{
	// match: x * y, one bit  result: x & y
	{name: "mul-bit", kind: Mul, apply: func(c *Ctx, t term) Ref {
		if t.w != 1 {
			return 0
		}
		return c.And(t.a, t.b)
	}},
	// match: x * 0  result: 0
	{name: "mul-zero", kind: Mul, konst: true, apply: func(c *Ctx, t term) Ref { return onlyIf(t.vb == 0, t.b) }},
	// match: x * 2^n  result: low(x):0; x for n = 0
	{name: "mul-pow2", kind: Mul, konst: true, apply: func(c *Ctx, t term) Ref {
		if bits.OnesCount64(t.vb) != 1 {
			return 0
		}
		return c.shiftLeft(t.a, uint(bits.TrailingZeros64(t.vb)))
	}},
	// match: x * ones  result: -x
	{name: "mul-ones", kind: Mul, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != Mask(t.w) {
			return 0
		}
		return c.Neg(t.a)
	}},
	// match: (x * k) * y  result: (x * y) * k
	{name: "mul-const-out", kind: Mul, on: Mul, commute: true, apply: func(c *Ctx, t term) Ref { return c.constOut(Mul, t) }},
	// match: (x + k1) * k2  result: x*k2 + k1*k2
	{name: "mul-add-const", kind: Mul, on: Add, konst: true, apply: func(c *Ctx, t term) Ref {
		if k, ok := c.IsConst(c.B(t.a)); ok {
			return c.Add(c.Mul(c.A(t.a), t.b), c.Const(k*t.vb, t.w))
		}
		return 0
	}},
	// match: -x * k  result: x * -k
	{name: "mul-neg-const", kind: Mul, on: Neg, konst: true, apply: func(c *Ctx, t term) Ref {
		return c.Mul(c.A(t.a), c.Const(-t.vb, t.w))
	}},
	// match: ZExt(bit) * y  result: bit ? y : 0
	{name: "mul-zext-bit", kind: Mul, on: ZExt, commute: true, apply: func(c *Ctx, t term) Ref {
		if c.Width(c.A(t.a)) != 1 {
			return 0
		}
		return c.Ite(c.A(t.a), t.b, c.Const(0, t.w))
	}},
	// match: tree * k  result: the tree of leaf * k
	{name: "mul-tree", kind: Mul, on: Ite, konst: true, apply: treeFirst},

	// match: high half of x * 0  result: 0
	{name: "mulhu-zero", kind: MulHU, konst: true, apply: func(c *Ctx, t term) Ref { return onlyIf(t.vb == 0, t.b) }},
	// match: unsigned high half of x * 2^n  result: x >> (w - n); 0 for n = 0
	{name: "mulhu-pow2", kind: MulHU, konst: true, apply: func(c *Ctx, t term) Ref {
		if bits.OnesCount64(t.vb) != 1 {
			return 0
		}
		return c.LShr(t.a, c.Const(uint64(t.w)-uint64(bits.TrailingZeros64(t.vb)), t.w))
	}},
	// match: unsigned high half of a product whose bounds fit the low half  result: 0
	{name: "mulhu-fits", kind: MulHU, apply: func(c *Ctx, t term) Ref {
		_, x := c.Range(t.a)
		_, y := c.Range(t.b)
		if hi, lo := bits.Mul64(x, y); hi != 0 || lo > Mask(t.w) {
			return 0
		}
		return c.Const(0, t.w)
	}},
	// match: signed high half of x * 0  result: 0
	{name: "mulhs-zero", kind: MulHS, konst: true, apply: func(c *Ctx, t term) Ref { return onlyIf(t.vb == 0, t.b) }},
	// match: signed high half of x * 1, more than one bit  result: copies of x's sign
	{name: "mulhs-one", kind: MulHS, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != 1 || t.w == 1 {
			return 0
		}
		return c.SExt(c.Extract(t.a, t.w-1, 1), t.w)
	}},
	// match: signed high half, both factors nonnegative  result: the unsigned one
	{name: "mulhs-nonneg", kind: MulHS, apply: func(c *Ctx, t term) Ref { return c.unsigned(MulHU, t) }},

	// match: x / 2^n, unsigned  result: ZExt(high bits of x); x for n = 0
	// match: x / 0  result: ones
	{name: "udiv-pow2", kind: UDiv, konst: true, apply: func(c *Ctx, t term) Ref {
		switch bits.OnesCount64(t.vb) {
		case 0:
			return c.Const(^uint64(0), t.w)
		case 1:
			return c.LShr(t.a, c.Const(uint64(bits.TrailingZeros64(t.vb)), t.w))
		}
		return 0
	}},
	// match: x % 2^n, unsigned  result: ZExt(low bits of x); 0 for n = 0
	// match: x % 0  result: x
	{name: "urem-pow2", kind: URem, konst: true, apply: func(c *Ctx, t term) Ref {
		switch bits.OnesCount64(t.vb) {
		case 0:
			return t.a
		case 1:
			return c.And(t.a, c.Const(t.vb-1, t.w))
		}
		return 0
	}},
	// match: x / y with x below y  result: 0
	{name: "udiv-less", kind: UDiv, apply: func(c *Ctx, t term) Ref {
		_, x := c.Range(t.a)
		if y, _ := c.Range(t.b); x >= y {
			return 0
		}
		return c.Const(0, t.w)
	}},
	// match: x % y with x below y  result: x
	{name: "urem-less", kind: URem, apply: func(c *Ctx, t term) Ref {
		_, x := c.Range(t.a)
		y, _ := c.Range(t.b)
		return onlyIf(x < y, t.a)
	}},
	// match: ZExt(x) / ZExt(y) or / k that fits, not 0  result: ZExt(x / y), at the wider width
	{name: "udiv-narrow", kind: UDiv, on: ZExt, apply: func(c *Ctx, t term) Ref { return c.narrowDivision(t) }},
	// match: ZExt(x) % ZExt(y) or % k that fits  result: ZExt(x % y)
	{name: "urem-narrow", kind: URem, on: ZExt, apply: func(c *Ctx, t term) Ref { return c.narrowDivision(t) }},
	// match: tree / k  result: the tree of leaf / k
	{name: "udiv-tree", kind: UDiv, on: Ite, konst: true, apply: treeFirst},
	// match: tree % k  result: the tree of leaf % k
	{name: "urem-tree", kind: URem, on: Ite, konst: true, apply: treeFirst},
	// match: x / 1, signed  result: x
	// match: x / -1  result: -x
	// match: x / 0  result: x < 0 ? 1 : -1
	{name: "sdiv-unit", kind: SDiv, konst: true, apply: func(c *Ctx, t term) Ref {
		switch t.vb {
		case Mask(t.w): // before 1: at one bit they are the same, -1
			return c.Neg(t.a)
		case 1:
			return t.a
		case 0:
			return c.choose(c.Extract(t.a, t.w-1, 1), 1, ^uint64(0), t.w)
		}
		return 0
	}},
	// match: x % 1 or x % -1, signed  result: 0
	// match: x % 0  result: x
	{name: "srem-unit", kind: SRem, konst: true, apply: func(c *Ctx, t term) Ref {
		switch t.vb {
		case 1, Mask(t.w):
			return c.Const(0, t.w)
		case 0:
			return t.a
		}
		return 0
	}},
	// match: signed x / y, neither negative  result: the unsigned division
	{name: "sdiv-nonneg", kind: SDiv, apply: func(c *Ctx, t term) Ref { return c.unsigned(UDiv, t) }},
	// match: signed x % y, neither negative  result: the unsigned remainder
	{name: "srem-nonneg", kind: SRem, apply: func(c *Ctx, t term) Ref { return c.unsigned(URem, t) }},
}

// unsigned replaces a signed operator whose operands are not negative.
func (c *Ctx) unsigned(k Kind, t term) Ref {
	if !c.nonNegative(t.a) || !c.nonNegative(t.b) {
		return 0
	}
	return c.binary(k, t.a, t.b)
}

func (c *Ctx) nonNegative(r Ref) bool {
	_, hi := c.Range(r)
	return hi>>(c.Width(r)-1) == 0
}

func (c *Ctx) narrowDivision(t term) Ref {
	n := c.Width(c.A(t.a))
	switch {
	case t.kb:
		n = max(n, uint(bits.Len64(t.vb)))
	case c.Kind(t.b) == ZExt:
		n = max(n, c.Width(c.A(t.b)))
	default:
		return 0
	}
	if n >= t.w || t.kb && t.vb == 0 {
		return 0
	}
	if t.kind == UDiv && !t.kb {
		// Division by zero gives ones of the full width.
		y := c.A(t.b)
		if lo, _ := c.Range(y); lo == 0 {
			return 0
		}
	}
	return c.ZExt(c.binary(t.kind, c.Extract(t.a, 0, n), c.Extract(t.b, 0, n)), t.w)
}

// shiftRules are the rules of Shl, LShr and AShr.
var shiftRules = []rule{
	// match: x << k  result: low(x):0, or 0 past the width
	{name: "shl-const", kind: Shl, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb >= uint64(t.w) {
			return c.Const(0, t.w)
		}
		return c.shiftLeft(t.a, uint(t.vb))
	}},
	// match: x >> k  result: ZExt(high bits of x), or 0 past the width
	{name: "lshr-const", kind: LShr, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb >= uint64(t.w) {
			return c.Const(0, t.w)
		}
		return c.ZExt(c.Extract(t.a, uint(t.vb), t.w-uint(t.vb)), t.w)
	}},
	// match: x >>s k  result: SExt(high bits of x)
	{name: "ashr-const", kind: AShr, konst: true, apply: func(c *Ctx, t term) Ref {
		k := uint(min(t.vb, uint64(t.w-1)))
		return c.SExt(c.Extract(t.a, k, t.w-k), t.w)
	}},
	// match: x << y, y at least the width  result: 0
	{name: "shl-past", kind: Shl, apply: shiftPast},
	// match: x >> y, y at least the width  result: 0
	{name: "lshr-past", kind: LShr, apply: shiftPast},
	// match: 0 << y  result: 0
	{name: "shl-zero", kind: Shl, on: Const, apply: shiftConst(0)},
	// match: 0 >> y  result: 0
	{name: "lshr-zero", kind: LShr, on: Const, apply: shiftConst(0)},
	// match: 0 >>s y, ones >>s y  result: the left operand
	{name: "ashr-fixed", kind: AShr, on: Const, apply: func(c *Ctx, t term) Ref {
		v, _ := c.IsConst(t.a)
		return onlyIf(v == 0 || v == Mask(t.w), t.a)
	}},
	// match: k << tree  result: the tree of k << leaf
	{name: "shl-tree", kind: Shl, on: Const, apply: treeSecond},
	// match: k >> tree  result: the tree of k >> leaf
	{name: "lshr-tree", kind: LShr, on: Const, apply: treeSecond},
	// match: k >>s tree  result: the tree of k >>s leaf
	{name: "ashr-tree", kind: AShr, on: Const, apply: treeSecond},
	// match: x >>s y, x not negative  result: x >> y
	{name: "ashr-nonneg", kind: AShr, apply: func(c *Ctx, t term) Ref {
		if !c.nonNegative(t.a) {
			return 0
		}
		return c.LShr(t.a, t.b)
	}},
}

func shiftPast(c *Ctx, t term) Ref {
	if lo, _ := c.Range(t.b); lo < uint64(t.w) {
		return 0
	}
	return c.Const(0, t.w)
}

func shiftConst(want uint64) func(c *Ctx, t term) Ref {
	return func(c *Ctx, t term) Ref {
		v, _ := c.IsConst(t.a)
		return onlyIf(v == want, t.a)
	}
}
