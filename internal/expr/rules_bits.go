package expr

import "math/bits"

// maxRuns bounds the pieces a mask is split into.
const maxRuns = 8

// bitRules are the rules of Not, And, Or and Xor.
var bitRules = []rule{
	// match: Not(Not(x))  result: x
	{name: "not-not", kind: Not, on: Not, apply: func(c *Ctx, t term) Ref { return c.A(t.a) }},
	// match: Not(Neg(x))  result: x - 1
	{name: "not-neg", kind: Not, on: Neg, apply: func(c *Ctx, t term) Ref { return c.Add(c.A(t.a), c.Const(Mask(t.w), t.w)) }},
	// match: Not(x + k)  result: -x + (-k-1)
	{name: "not-add-const", kind: Not, on: Add, apply: func(c *Ctx, t term) Ref {
		if k, ok := c.IsConst(c.B(t.a)); ok {
			return c.Add(c.Neg(c.A(t.a)), c.Const(-k-1, t.w))
		}
		return 0
	}},
	// match: Not(x:y)  result: Not(x):Not(y)
	{name: "not-concat", kind: Not, on: Concat, apply: func(c *Ctx, t term) Ref { return c.Concat(c.Not(c.A(t.a)), c.Not(c.B(t.a))) }},
	// match: Not(ZExt(x))  result: ones:Not(x)
	{name: "not-zext", kind: Not, on: ZExt, apply: func(c *Ctx, t term) Ref {
		x := c.A(t.a)
		return c.Concat(c.Const(^uint64(0), t.w-c.Width(x)), c.Not(x))
	}},
	// match: Not(SExt(x))  result: SExt(Not(x))
	{name: "not-sext", kind: Not, on: SExt, apply: func(c *Ctx, t term) Ref { return c.SExt(c.Not(c.A(t.a)), t.w) }},
	// match: Not(x ^ k)  result: x ^ ~k
	{name: "not-xor-const", kind: Not, on: Xor, apply: func(c *Ctx, t term) Ref {
		if k, ok := c.IsConst(c.B(t.a)); ok {
			return c.Xor(c.A(t.a), c.Const(^k, t.w))
		}
		return 0
	}},
	// match: Not(tree of Ites with constant leaves)  result: the tree of complements
	{name: "not-tree", kind: Not, on: Ite, apply: func(c *Ctx, t term) Ref {
		if !c.constTree(t.a) {
			return 0
		}
		return c.pushUnary(t.a, c.Not)
	}},

	// match: x & 0  result: 0
	{name: "and-zero", kind: And, konst: true, apply: func(c *Ctx, t term) Ref { return onlyIf(t.vb == 0, t.b) }},
	// match: x & ones  result: x
	{name: "and-ones", kind: And, konst: true, apply: func(c *Ctx, t term) Ref { return onlyIf(t.vb == Mask(t.w), t.a) }},
	// match: x & x  result: x
	{name: "and-self", kind: And, apply: func(c *Ctx, t term) Ref { return onlyIf(t.a == t.b, t.a) }},
	// match: x & ~x  result: 0
	{name: "and-complement", kind: And, apply: func(c *Ctx, t term) Ref {
		if !c.isNotOf(t.a, t.b) {
			return 0
		}
		return c.Const(0, t.w)
	}},
	// match: (x & k) & y  result: (x & y) & k
	{name: "and-const-out", kind: And, on: And, commute: true, apply: func(c *Ctx, t term) Ref { return c.constOut(And, t) }},
	// match: ~x & ~y  result: ~(x | y)
	{name: "and-not-not", kind: And, on: Not, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != Not {
			return 0
		}
		return c.Not(c.Or(c.A(t.a), c.A(t.b)))
	}},
	// match: (x & y) & x  result: x & y
	// match: (x & y) & ~x  result: 0
	{name: "and-absorb-and", kind: And, on: And, commute: true, apply: func(c *Ctx, t term) Ref {
		x, y := c.A(t.a), c.B(t.a)
		switch {
		case x == t.b || y == t.b:
			return t.a
		case c.isNotOf(x, t.b) || c.isNotOf(y, t.b):
			return c.Const(0, t.w)
		}
		return 0
	}},
	// match: (x | y) & x  result: x
	// match: (~x | y) & x  result: x & y
	{name: "and-absorb-or", kind: And, on: Or, commute: true, apply: func(c *Ctx, t term) Ref {
		x, y := c.A(t.a), c.B(t.a)
		switch {
		case x == t.b || y == t.b:
			return t.b
		case c.isNotOf(x, t.b):
			return c.And(y, t.b)
		case c.isNotOf(y, t.b):
			return c.And(x, t.b)
		}
		return 0
	}},
	// match: (x == k1) & (x == k2), k1 != k2  result: 0
	{name: "and-eq-eq", kind: And, on: Eq, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) == Eq && c.otherConst(t.a, t.b) {
			return c.Const(0, 1)
		}
		return 0
	}},
	// match: (x == k1) & ~(x == k2), k1 != k2  result: x == k1
	{name: "and-eq-ne", kind: And, on: Eq, commute: true, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) == Not && c.Kind(c.A(t.b)) == Eq && c.otherConst(t.a, c.A(t.b)) {
			return t.a
		}
		return 0
	}},
	// match: SExt(bit) & y  result: bit ? y : 0
	{name: "and-mask-bit", kind: And, on: SExt, commute: true, apply: func(c *Ctx, t term) Ref {
		if c.Width(c.A(t.a)) != 1 || c.Kind(t.b) == SExt {
			return 0
		}
		return c.Ite(c.A(t.a), t.b, c.Const(0, t.w))
	}},
	// match: ZExt(x) & y  result: ZExt(x & low(y))
	{name: "and-zext", kind: And, on: ZExt, commute: true, apply: func(c *Ctx, t term) Ref {
		x := c.A(t.a)
		return c.ZExt(c.And(x, c.Extract(t.b, 0, c.Width(x))), t.w)
	}},
	// match: x & y where both fall apart at one bit  result: (hi & hi):(lo & lo)
	{name: "and-split", kind: And, commute: true, apply: func(c *Ctx, t term) Ref { return c.splitBitwise(And, t) }},
	// match: SExt(x) & SExt(y)  result: SExt(x & y)
	{name: "and-sext-sext", kind: And, on: SExt, apply: func(c *Ctx, t term) Ref { return c.sextBitwise(And, t) }},
	// match: x & k with at most 8 runs of ones in k  result: a Concat of Extracts of x and zeros
	{name: "and-runs", kind: And, konst: true, apply: func(c *Ctx, t term) Ref { return c.runs(And, t) }},
	// match: tree & k  result: the tree of leaf & k
	{name: "and-tree", kind: And, on: Ite, konst: true, apply: treeFirst},

	// match: x | 0  result: x
	{name: "or-zero", kind: Or, konst: true, apply: func(c *Ctx, t term) Ref { return onlyIf(t.vb == 0, t.a) }},
	// match: x | ones  result: ones
	{name: "or-ones", kind: Or, konst: true, apply: func(c *Ctx, t term) Ref { return onlyIf(t.vb == Mask(t.w), t.b) }},
	// match: x | x  result: x
	{name: "or-self", kind: Or, apply: func(c *Ctx, t term) Ref { return onlyIf(t.a == t.b, t.a) }},
	// match: x | ~x  result: ones
	{name: "or-complement", kind: Or, apply: func(c *Ctx, t term) Ref {
		if !c.isNotOf(t.a, t.b) {
			return 0
		}
		return c.Const(^uint64(0), t.w)
	}},
	// match: (x | k) | y  result: (x | y) | k
	{name: "or-const-out", kind: Or, on: Or, commute: true, apply: func(c *Ctx, t term) Ref { return c.constOut(Or, t) }},
	// match: ~x | ~y  result: ~(x & y)
	{name: "or-not-not", kind: Or, on: Not, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != Not {
			return 0
		}
		return c.Not(c.And(c.A(t.a), c.A(t.b)))
	}},
	// match: (x | y) | x  result: x | y
	// match: (x | y) | ~x  result: ones
	{name: "or-absorb-or", kind: Or, on: Or, commute: true, apply: func(c *Ctx, t term) Ref {
		x, y := c.A(t.a), c.B(t.a)
		switch {
		case x == t.b || y == t.b:
			return t.a
		case c.isNotOf(x, t.b) || c.isNotOf(y, t.b):
			return c.Const(^uint64(0), t.w)
		}
		return 0
	}},
	// match: (x & y) | x  result: x
	// match: (~x & y) | x  result: x | y
	{name: "or-absorb-and", kind: Or, on: And, commute: true, apply: func(c *Ctx, t term) Ref {
		x, y := c.A(t.a), c.B(t.a)
		switch {
		case x == t.b || y == t.b:
			return t.b
		case c.isNotOf(x, t.b):
			return c.Or(y, t.b)
		case c.isNotOf(y, t.b):
			return c.Or(x, t.b)
		}
		return 0
	}},
	// match: (x == k1) | ~(x == k2), k1 != k2  result: ~(x == k2)
	{name: "or-eq-ne", kind: Or, on: Eq, commute: true, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) == Not && c.Kind(c.A(t.b)) == Eq && c.otherConst(t.a, c.A(t.b)) {
			return t.b
		}
		return 0
	}},
	// match: SExt(bit) | y  result: bit ? ones : y
	{name: "or-mask-bit", kind: Or, on: SExt, commute: true, apply: func(c *Ctx, t term) Ref {
		if c.Width(c.A(t.a)) != 1 || c.Kind(t.b) == SExt {
			return 0
		}
		return c.Ite(c.A(t.a), c.Const(^uint64(0), t.w), t.b)
	}},
	// match: x | y where both fall apart at one bit  result: (hi | hi):(lo | lo)
	{name: "or-split", kind: Or, commute: true, apply: func(c *Ctx, t term) Ref { return c.splitBitwise(Or, t) }},
	// match: SExt(x) | SExt(y)  result: SExt(x | y)
	{name: "or-sext-sext", kind: Or, on: SExt, apply: func(c *Ctx, t term) Ref { return c.sextBitwise(Or, t) }},
	// match: x | k with at most 8 runs of zeros in k  result: a Concat of Extracts of x and ones
	{name: "or-runs", kind: Or, konst: true, apply: func(c *Ctx, t term) Ref { return c.runs(Or, t) }},
	// match: tree | k  result: the tree of leaf | k
	{name: "or-tree", kind: Or, on: Ite, konst: true, apply: treeFirst},

	// match: x ^ 0  result: x
	{name: "xor-zero", kind: Xor, konst: true, apply: func(c *Ctx, t term) Ref { return onlyIf(t.vb == 0, t.a) }},
	// match: x ^ ones  result: ~x
	{name: "xor-ones", kind: Xor, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != Mask(t.w) {
			return 0
		}
		return c.Not(t.a)
	}},
	// match: x ^ x  result: 0
	{name: "xor-self", kind: Xor, apply: func(c *Ctx, t term) Ref {
		if t.a != t.b {
			return 0
		}
		return c.Const(0, t.w)
	}},
	// match: ~x ^ y  result: ~(x ^ y)
	{name: "xor-not", kind: Xor, on: Not, commute: true, apply: func(c *Ctx, t term) Ref { return c.Not(c.Xor(c.A(t.a), t.b)) }},
	// match: (x ^ k) ^ y  result: (x ^ y) ^ k
	{name: "xor-const-out", kind: Xor, on: Xor, commute: true, apply: func(c *Ctx, t term) Ref { return c.constOut(Xor, t) }},
	// match: (x ^ y) ^ x  result: y
	{name: "xor-cancel", kind: Xor, on: Xor, commute: true, apply: func(c *Ctx, t term) Ref {
		y, ok := c.other(t.a, t.b)
		return onlyIf(ok, y)
	}},
	// match: x ^ y where both fall apart at one bit  result: (hi ^ hi):(lo ^ lo)
	{name: "xor-split", kind: Xor, commute: true, apply: func(c *Ctx, t term) Ref { return c.splitBitwise(Xor, t) }},
	// match: SExt(x) ^ SExt(y)  result: SExt(x ^ y)
	{name: "xor-sext-sext", kind: Xor, on: SExt, apply: func(c *Ctx, t term) Ref { return c.sextBitwise(Xor, t) }},
	// match: tree ^ k  result: the tree of leaf ^ k
	{name: "xor-tree", kind: Xor, on: Ite, konst: true, apply: treeFirst},
}

func onlyIf(ok bool, r Ref) Ref {
	if ok {
		return r
	}
	return 0
}

// treeFirst pushes a binary operator with a constant right operand into the
// Ites on its left.
func treeFirst(c *Ctx, t term) Ref {
	if !c.constTree(t.a) {
		return 0
	}
	return c.pushConst(t.kind, t.a, t.b, true)
}

// treeSecond is treeFirst for operators that do not commute.
func treeSecond(c *Ctx, t term) Ref {
	if _, ok := c.IsConst(t.a); !ok || !c.constTree(t.b) {
		return 0
	}
	return c.pushConst(t.kind, t.b, t.a, false)
}

// otherConst reports whether Eqs a and b compare one value with constants that
// differ.
func (c *Ctx) otherConst(a, b Ref) bool {
	x, okx := c.IsConst(c.B(a))
	y, oky := c.IsConst(c.B(b))
	return okx && oky && x != y && c.A(a) == c.A(b)
}

// constOut moves the constant of the inner of two like operators outward.
func (c *Ctx) constOut(k Kind, t term) Ref {
	v, ok := c.IsConst(c.B(t.a))
	if !ok {
		return 0
	}
	x := c.A(t.a)
	if t.kb {
		return c.binary(k, x, c.Const(kinds[k].Eval(v, t.vb, 0, t.w), t.w))
	}
	return c.binary(k, c.binary(k, x, t.b), c.B(t.a))
}

// splitBitwise splits a bitwise operator at the highest bit where operand a is
// a Concat or extension and operand b falls apart too.
func (c *Ctx) splitBitwise(k Kind, t term) Ref {
	n := uint(0)
	for x := t.a; ; {
		switch c.Kind(x) {
		case Concat:
			x = c.B(x)
		case ZExt:
			x = c.A(x)
		default:
			return 0
		}
		if n = c.Width(x); c.splits(t.b, n) {
			break
		}
	}
	hi := c.binary(k, c.Extract(t.a, n, t.w-n), c.Extract(t.b, n, t.w-n))
	return c.Concat(hi, c.binary(k, c.Extract(t.a, 0, n), c.Extract(t.b, 0, n)))
}

func (c *Ctx) sextBitwise(k Kind, t term) Ref {
	if c.Kind(t.b) != SExt || c.Width(c.A(t.a)) != c.Width(c.A(t.b)) {
		return 0
	}
	return c.SExt(c.binary(k, c.A(t.a), c.A(t.b)), t.w)
}

// runs turns And and Or with a constant into a Concat of pieces: bits of a
// where the constant has the neutral bit, else the constant.
func (c *Ctx) runs(k Kind, t term) Ref {
	keep := t.vb
	if k == Or {
		keep = ^keep & Mask(t.w)
	}
	if bits.OnesCount64(keep&^(keep<<1)) > maxRuns {
		return 0
	}
	var res Ref
	for lo := uint(0); lo < t.w; {
		kept := keep >> lo & 1
		n := uint(1)
		for lo+n < t.w && keep>>(lo+n)&1 == kept {
			n++
		}
		piece := c.Const(t.vb>>lo, n)
		if kept == 1 {
			piece = c.Extract(t.a, lo, n)
		}
		if res == 0 {
			res = piece
		} else {
			res = c.Concat(piece, res)
		}
		lo += n
	}
	return res
}
