package expr

// eqRules are the rules of Eq. w is the width of its operands.
var eqRules = []rule{
	// match: x == x  result: 1
	{name: "eq-self", kind: Eq, apply: func(c *Ctx, t term) Ref {
		if t.a != t.b {
			return 0
		}
		return c.Const(1, 1)
	}},
	// match: x == y, one bit  result: ~(x ^ y); x or ~x for a constant y
	{name: "eq-bit", kind: Eq, apply: func(c *Ctx, t term) Ref {
		if c.Width(t.a) != 1 {
			return 0
		}
		return c.Not(c.Xor(t.a, t.b))
	}},
	// match: ZExt(x) == k  result: x == low(k), or 0 where k does not fit
	{name: "eq-zext-const", kind: Eq, on: ZExt, konst: true, apply: func(c *Ctx, t term) Ref {
		x := c.A(t.a)
		if t.vb > Mask(c.Width(x)) {
			return c.Const(0, 1)
		}
		return c.Eq(x, c.Const(t.vb, c.Width(x)))
	}},
	// match: SExt(x) == k  result: x == low(k), or 0 where k is no sign extension
	{name: "eq-sext-const", kind: Eq, on: SExt, konst: true, apply: func(c *Ctx, t term) Ref {
		x := c.A(t.a)
		if uint64(SignExtend(t.vb, c.Width(x)))&Mask(c.Width(t.a)) != t.vb {
			return c.Const(0, 1)
		}
		return c.Eq(x, c.Const(t.vb, c.Width(x)))
	}},
	// match: Ext(x) == Ext(y), one kind of extension  result: x == y at the wider width
	{name: "eq-zext-zext", kind: Eq, on: ZExt, apply: eqExtensions},
	// match: the same for SExt  result: x == y at the wider width
	{name: "eq-sext-sext", kind: Eq, on: SExt, apply: eqExtensions},
	// match: (x:y) == z, z falls apart there  result: (x == hi(z)) & (y == lo(z))
	{name: "eq-concat", kind: Eq, on: Concat, commute: true, apply: func(c *Ctx, t term) Ref {
		n, w := c.Width(c.B(t.a)), c.Width(t.a)
		if !c.splits(t.b, n) {
			return 0
		}
		hi := c.Eq(c.A(t.a), c.Extract(t.b, n, w-n))
		if v, ok := c.IsConst(hi); ok && v == 0 {
			return hi
		}
		return c.And(hi, c.Eq(c.B(t.a), c.Extract(t.b, 0, n)))
	}},
	// match: x + k1 == k2  result: x == k2 - k1
	{name: "eq-add-const", kind: Eq, on: Add, konst: true, apply: func(c *Ctx, t term) Ref {
		if k, ok := c.IsConst(c.B(t.a)); ok {
			return c.Eq(c.A(t.a), c.Const(t.vb-k, c.Width(t.a)))
		}
		return 0
	}},
	// match: a + -b == 0  result: a == b
	{name: "eq-sub-zero", kind: Eq, on: Add, konst: true, apply: func(c *Ctx, t term) Ref {
		x, y := c.A(t.a), c.B(t.a)
		switch {
		case t.vb != 0:
			return 0
		case c.Kind(x) == Neg:
			return c.Eq(c.A(x), y)
		case c.Kind(y) == Neg:
			return c.Eq(x, c.A(y))
		}
		return 0
	}},
	// match: x + y == x  result: y == 0
	// match: x + y == x + z  result: y == z
	// match: x + k1 == z + k2  result: x + (k1 - k2) == z
	{name: "eq-add-cancel", kind: Eq, on: Add, commute: true, apply: func(c *Ctx, t term) Ref {
		if y, ok := c.other(t.a, t.b); ok {
			return c.Eq(y, c.Const(0, c.Width(t.b)))
		}
		if c.Kind(t.b) != Add {
			return 0
		}
		if r := c.cancel(t.a, t.b); r != 0 {
			return r
		}
		k1, ok1 := c.IsConst(c.B(t.a))
		k2, ok2 := c.IsConst(c.B(t.b))
		if ok1 && ok2 {
			return c.Eq(c.Add(c.A(t.a), c.Const(k1-k2, c.Width(t.a))), c.A(t.b))
		}
		return 0
	}},
	// match: -x == k  result: x == -k
	// match: -x == -y  result: x == y
	{name: "eq-neg", kind: Eq, on: Neg, apply: func(c *Ctx, t term) Ref {
		if t.kb {
			return c.Eq(c.A(t.a), c.Const(-t.vb, c.Width(t.a)))
		}
		if c.Kind(t.b) != Neg {
			return 0
		}
		return c.Eq(c.A(t.a), c.A(t.b))
	}},
	// match: ~x == k  result: x == ~k
	// match: ~x == ~y  result: x == y
	{name: "eq-not", kind: Eq, on: Not, apply: func(c *Ctx, t term) Ref {
		if t.kb {
			return c.Eq(c.A(t.a), c.Const(^t.vb, c.Width(t.a)))
		}
		if c.Kind(t.b) != Not {
			return 0
		}
		return c.Eq(c.A(t.a), c.A(t.b))
	}},
	// match: x ^ k1 == k2  result: x == k1 ^ k2
	{name: "eq-xor-const", kind: Eq, on: Xor, konst: true, apply: func(c *Ctx, t term) Ref {
		if k, ok := c.IsConst(c.B(t.a)); ok {
			return c.Eq(c.A(t.a), c.Const(t.vb^k, c.Width(t.a)))
		}
		return 0
	}},
	// match: x ^ y == 0  result: x == y
	{name: "eq-xor-zero", kind: Eq, on: Xor, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != 0 {
			return 0
		}
		return c.Eq(c.A(t.a), c.B(t.a))
	}},
	// match: x ^ y == x  result: y == 0
	// match: x ^ y == x ^ z  result: y == z
	{name: "eq-xor-cancel", kind: Eq, on: Xor, commute: true, apply: func(c *Ctx, t term) Ref {
		if y, ok := c.other(t.a, t.b); ok {
			return c.Eq(y, c.Const(0, c.Width(t.b)))
		}
		if c.Kind(t.b) != Xor {
			return 0
		}
		return c.cancel(t.a, t.b)
	}},
	// match: x | y == 0  result: (x == 0) & (y == 0)
	{name: "eq-or-zero", kind: Eq, on: Or, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != 0 {
			return 0
		}
		return c.And(c.Eq(c.A(t.a), t.b), c.Eq(c.B(t.a), t.b))
	}},
	// match: x & y == ones  result: (x == ones) & (y == ones)
	{name: "eq-and-ones", kind: Eq, on: And, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != Mask(c.Width(t.a)) {
			return 0
		}
		return c.And(c.Eq(c.A(t.a), t.b), c.Eq(c.B(t.a), t.b))
	}},
	// match: x * k1 == k2, k1 odd  result: x == k2 / k1 modulo the word
	{name: "eq-mul-odd", kind: Eq, on: Mul, konst: true, apply: func(c *Ctx, t term) Ref {
		k, ok := c.IsConst(c.B(t.a))
		if !ok || k&1 == 0 {
			return 0
		}
		inv := k // Newton: doubles the number of right low bits, 3 to begin with
		for range 5 {
			inv *= 2 - k*inv
		}
		return c.Eq(c.A(t.a), c.Const(t.vb*inv, c.Width(t.a)))
	}},
	// match: x / k1 == k2, k1 not 0, k2 reachable  result: k1*k2 <= x < k1*(k2+1)
	{name: "eq-udiv-const", kind: Eq, on: UDiv, konst: true, apply: func(c *Ctx, t term) Ref {
		k, ok := c.IsConst(c.B(t.a))
		m := Mask(c.Width(t.a))
		if !ok || k == 0 {
			return 0
		}
		if t.vb > m/k {
			return c.Const(0, 1)
		}
		lo := t.vb * k
		hi := m
		if lo <= m-(k-1) {
			hi = lo + (k - 1)
		}
		return c.inRange(c.A(t.a), lo, hi)
	}},
	// match: (c ? k1 : x) == k  result: c | (x == k) where k1 == k, else ~c & (x == k)
	// match: the same with the constant in the other arm
	{name: "eq-ite-const", kind: Eq, on: Ite, konst: true, apply: func(c *Ctx, t term) Ref {
		cond, x, y := c.A(t.a), c.B(t.a), c.C(t.a)
		if _, ok := c.IsConst(y); ok {
			if _, both := c.IsConst(x); !both {
				cond, x, y = c.Not(cond), y, x
			}
		}
		if _, ok := c.IsConst(x); !ok {
			return 0
		}
		if x == t.b {
			return c.Or(cond, c.Eq(y, t.b))
		}
		return c.And(c.Not(cond), c.Eq(y, t.b))
	}},
	// match: (x == y ? z : x - y) == 0, x - y any sum that is 0 where the condition holds alone  result: (x == y) & (z == 0)
	{name: "eq-ite-difference", kind: Eq, on: Ite, konst: true, apply: func(c *Ctx, t term) Ref {
		cond, z, d := c.A(t.a), c.B(t.a), c.C(t.a)
		if t.vb != 0 || c.Kind(d) != Add || c.Eq(d, t.b) != cond {
			return 0
		}
		return c.And(cond, c.Eq(z, t.b))
	}},
	// match: min(x, y) == 0, unsigned  result: (x == 0) | (y == 0)
	// match: max(x, y) == 0  result: (x == 0) & (y == 0)
	{name: "eq-minmax-zero", kind: Eq, on: Ite, konst: true, apply: func(c *Ctx, t term) Ref {
		cond, x, y := c.A(t.a), c.B(t.a), c.C(t.a)
		if t.vb != 0 || c.Kind(cond) != Ult {
			return 0
		}
		switch p, q := c.A(cond), c.B(cond); {
		case p == x && q == y:
			return c.Or(c.Eq(x, t.b), c.Eq(y, t.b))
		case p == y && q == x:
			return c.And(c.Eq(x, t.b), c.Eq(y, t.b))
		}
		return 0
	}},
	// match: Select(t, i) == k, or a part of the entry == k  result: a table of bits at i
	{name: "eq-select", kind: Eq, on: Select, konst: true, apply: func(c *Ctx, t term) Ref {
		return c.tableTest(t.a, func(v uint64) bool { return v == t.vb })
	}},
	// match: Extract(Select(t, i)) == k  result: a table of bits at i
	{name: "eq-select-part", kind: Eq, on: Extract, konst: true, apply: func(c *Ctx, t term) Ref {
		return c.tableTest(t.a, func(v uint64) bool { return v == t.vb })
	}},
	// match: x == y whose known bits or bounds exclude it  result: 0
	{name: "eq-known", kind: Eq, apply: func(c *Ctx, t term) Ref {
		za, oa := c.Known(t.a)
		zb, ob := c.Known(t.b)
		la, ha := c.Range(t.a)
		lb, hb := c.Range(t.b)
		if za&ob == 0 && oa&zb == 0 && la <= hb && lb <= ha {
			return 0
		}
		return c.Const(0, 1)
	}},
}

func eqExtensions(c *Ctx, t term) Ref {
	k := c.Kind(t.a)
	if c.Kind(t.b) != k {
		return 0
	}
	x, y := c.A(t.a), c.A(t.b)
	w := max(c.Width(x), c.Width(y))
	return c.Eq(c.extend(k, x, w), c.extend(k, y, w))
}

// cancel compares what is left of p and q, two sums or two exclusive ors, once
// a common operand is dropped.
func (c *Ctx) cancel(p, q Ref) Ref {
	for _, x := range [2]Ref{c.A(p), c.B(p)} {
		if y, ok := c.other(q, x); ok {
			z, _ := c.other(p, x)
			return c.Eq(z, y)
		}
	}
	return 0
}

// orderRules are the rules of Ult and Slt. w is the width of their operands.
var orderRules = []rule{
	// match: x < x  result: 0
	{name: "ult-self", kind: Ult, apply: lessSelf},
	// match: x < y, one bit  result: ~x & y
	{name: "ult-bit", kind: Ult, apply: func(c *Ctx, t term) Ref {
		if c.Width(t.a) != 1 {
			return 0
		}
		return c.And(c.Not(t.a), t.b)
	}},
	// match: x < y decided by the bounds of x and y  result: 1 or 0
	{name: "ult-bounds", kind: Ult, apply: func(c *Ctx, t term) Ref {
		la, ha := c.Range(t.a)
		lb, hb := c.Range(t.b)
		switch {
		case ha < lb:
			return c.Const(1, 1)
		case la >= hb:
			return c.Const(0, 1)
		}
		return 0
	}},
	// match: k < x, k not ones  result: ~(x < k+1)
	{name: "ult-const-left", kind: Ult, on: Const, apply: func(c *Ctx, t term) Ref {
		k, _ := c.IsConst(t.a)
		if k == Mask(c.Width(t.a)) {
			return 0
		}
		return c.Not(c.Ult(t.b, c.Const(k+1, c.Width(t.a))))
	}},
	// match: x < 1  result: x == 0
	{name: "ult-one", kind: Ult, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != 1 {
			return 0
		}
		return c.Eq(t.a, c.Const(0, c.Width(t.a)))
	}},
	// match: x < ones  result: ~(x == ones)
	{name: "ult-ones", kind: Ult, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != Mask(c.Width(t.a)) {
			return 0
		}
		return c.Not(c.Eq(t.a, t.b))
	}},
	// match: ZExt(x) < k, k fits x  result: x < low(k)
	{name: "ult-zext-const", kind: Ult, on: ZExt, konst: true, apply: func(c *Ctx, t term) Ref {
		n := c.Width(c.A(t.a))
		if t.vb > Mask(n) {
			return 0 // ult-bounds decides it
		}
		return c.Ult(c.A(t.a), c.Const(t.vb, n))
	}},
	// match: ZExt(x) < ZExt(y)  result: x < y at the wider width
	{name: "ult-zext-zext", kind: Ult, on: ZExt, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != ZExt {
			return 0
		}
		n := max(c.Width(c.A(t.a)), c.Width(c.A(t.b)))
		return c.Ult(c.Extract(t.a, 0, n), c.Extract(t.b, 0, n))
	}},
	// match: x + k1 < k2, x within n < w bits  result: the range test of n bits
	{name: "ult-add-narrow", kind: Ult, on: Add, konst: true, apply: ultAddNarrow},
	// match: (x:k1) < k2  result: x < hi(k2), or x <= hi(k2) where k1 < lo(k2)
	{name: "ult-concat-const", kind: Ult, on: Concat, konst: true, apply: func(c *Ctx, t term) Ref {
		x, y := c.A(t.a), c.B(t.a)
		n := c.Width(y)
		hi, lo := c.Const(t.vb>>n, c.Width(x)), t.vb&Mask(n)
		ly, hy := c.Range(y)
		switch {
		case ly >= lo: // the low part never decides
			return c.Ult(x, hi)
		case hy < lo:
			return c.Ule(x, hi)
		}
		return 0
	}},
	// match: (x:y) < (x:z)  result: y < z
	// match: (y:x) < (z:x)  result: y < z
	{name: "ult-concat-concat", kind: Ult, on: Concat, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != Concat || c.Width(c.B(t.a)) != c.Width(c.B(t.b)) {
			return 0
		}
		switch {
		case c.A(t.a) == c.A(t.b):
			return c.Ult(c.B(t.a), c.B(t.b))
		case c.B(t.a) == c.B(t.b):
			return c.Ult(c.A(t.a), c.A(t.b))
		}
		return 0
	}},
	// match: x / k1 < k2  result: x < k1 * k2, 1 where that overflows
	{name: "ult-udiv-const", kind: Ult, on: UDiv, konst: true, apply: func(c *Ctx, t term) Ref {
		k, ok := c.IsConst(c.B(t.a))
		if !ok || k == 0 {
			return 0
		}
		if t.vb > Mask(c.Width(t.a))/k {
			return c.Const(1, 1)
		}
		return c.Ult(c.A(t.a), c.Const(t.vb*k, c.Width(t.a)))
	}},
	// match: ~x < ~y  result: y < x
	// match: ~x < k  result: ~k < x
	{name: "ult-not", kind: Ult, on: Not, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != Not && !t.kb {
			return 0
		}
		return c.Ult(c.Not(t.b), c.A(t.a))
	}},
	// match: tree < k  result: the tree of leaf < k
	{name: "ult-tree", kind: Ult, on: Ite, konst: true, apply: treeFirst},
	// match: Select(t, i) < k  result: a table of bits at i
	{name: "ult-select", kind: Ult, on: Select, konst: true, apply: func(c *Ctx, t term) Ref {
		return c.tableTest(t.a, func(v uint64) bool { return v < t.vb })
	}},

	// match: x <s x  result: 0
	{name: "slt-self", kind: Slt, apply: lessSelf},
	// match: x <s y, one bit  result: x & ~y
	{name: "slt-bit", kind: Slt, apply: func(c *Ctx, t term) Ref {
		if c.Width(t.a) != 1 {
			return 0
		}
		return c.And(t.a, c.Not(t.b))
	}},
	// match: x <s 0  result: the sign bit of x
	{name: "slt-zero", kind: Slt, konst: true, apply: func(c *Ctx, t term) Ref {
		if t.vb != 0 {
			return 0
		}
		return c.Extract(t.a, c.Width(t.a)-1, 1)
	}},
	// match: k <s x  result: ~(x <s k+1), 0 for the largest k
	{name: "slt-const-left", kind: Slt, on: Const, apply: func(c *Ctx, t term) Ref {
		w := c.Width(t.a)
		k, _ := c.IsConst(t.a)
		if k == Mask(w-1) {
			return c.Const(0, 1)
		}
		return c.Not(c.Slt(t.b, c.Const(k+1, w)))
	}},
	// match: x <s y, bounds on one side of the sign each  result: x < y, 1 or 0
	{name: "slt-bounds", kind: Slt, apply: func(c *Ctx, t term) Ref {
		sa, oka := c.sign(t.a)
		sb, okb := c.sign(t.b)
		switch {
		case !oka || !okb:
			return 0
		case sa == sb:
			return c.Ult(t.a, t.b)
		}
		return c.Const(sa, 1)
	}},
	// match: SExt(x) <s SExt(y)  result: x <s y at the wider width
	{name: "slt-sext-sext", kind: Slt, on: SExt, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != SExt {
			return 0
		}
		n := max(c.Width(c.A(t.a)), c.Width(c.A(t.b)))
		return c.Slt(c.Extract(t.a, 0, n), c.Extract(t.b, 0, n))
	}},
	// match: SExt(x) <s k  result: x <s low(k), or 1 or 0 where k is past x's bounds
	{name: "slt-sext-const", kind: Slt, on: SExt, konst: true, apply: func(c *Ctx, t term) Ref {
		n := c.Width(c.A(t.a))
		if k := SignExtend(t.vb, c.Width(t.a)); SignExtend(t.vb, n) != k {
			return c.Const(b2u(k > 0), 1)
		}
		return c.Slt(c.A(t.a), c.Const(t.vb, n))
	}},
	// match: x <s the least but one  result: x == the least
	{name: "slt-least", kind: Slt, konst: true, apply: func(c *Ctx, t term) Ref {
		w := c.Width(t.a)
		switch t.vb {
		case 1 << (w - 1):
			return c.Const(0, 1)
		case 1<<(w-1) + 1:
			return c.Eq(t.a, c.Const(1<<(w-1), w))
		}
		return 0
	}},
	// match: tree <s k  result: the tree of leaf <s k
	{name: "slt-tree", kind: Slt, on: Ite, konst: true, apply: treeFirst},
	// match: Select(t, i) <s k  result: a table of bits at i
	{name: "slt-select", kind: Slt, on: Select, konst: true, apply: func(c *Ctx, t term) Ref {
		w := c.Width(t.a)
		return c.tableTest(t.a, func(v uint64) bool { return SignExtend(v, w) < SignExtend(t.vb, w) })
	}},
}

func lessSelf(c *Ctx, t term) Ref {
	if t.a != t.b {
		return 0
	}
	return c.Const(0, 1)
}

// sign returns the top bit of r where its bounds tell it.
func (c *Ctx) sign(r Ref) (uint64, bool) {
	lo, hi := c.Range(r)
	s := c.Width(r) - 1
	return lo >> s, lo>>s == hi>>s
}

// ultAddNarrow rewrites x + k1 < k2, that is lo <= x <= hi for lo = -k1 and
// hi = lo + k2 - 1 modulo the word, over the bits x can have set.
func ultAddNarrow(c *Ctx, t term) Ref {
	k1, ok := c.IsConst(c.B(t.a))
	if !ok {
		return 0
	}
	x := c.A(t.a)
	w := c.Width(x)
	xlo, xhi := c.Range(x)
	lo := -k1 & Mask(w)
	hi := (lo + t.vb - 1) & Mask(w)
	if lo > hi { // the range wraps: what x cannot be does not
		if xlo > hi {
			hi = Mask(w)
		} else if xhi < lo {
			lo = 0
		} else {
			return 0
		}
	}
	if xhi < lo || xlo > hi {
		return c.Const(0, 1)
	}
	switch {
	case xlo >= lo && xhi <= hi:
		return c.Const(1, 1)
	case xlo >= lo && hi != Mask(w):
		return c.Ult(x, c.Const(hi+1, w))
	case xhi <= hi:
		return c.Not(c.Ult(x, c.Const(lo, w)))
	}
	if c.Kind(x) != ZExt {
		return 0
	}
	y := c.A(x)
	return c.inRange(y, lo, hi)
}
