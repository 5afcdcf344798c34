package expr

import "fmt"

// unary, binary and the constructors below build normal forms: constants are
// folded, rules of rewrite.go applied, then the node is interned.

func (c *Ctx) unary(k Kind, a Ref) Ref {
	if v, ok := c.IsConst(a); ok {
		return c.Const(kinds[k].Eval(v, 0, 0, c.Width(a)), c.Width(a))
	}
	return c.build(term{kind: k, w: c.Width(a), a: a})
}

func (c *Ctx) binary(k Kind, a, b Ref) Ref {
	w := c.Width(a)
	if w != c.Width(b) {
		panic(fmt.Sprintf("expr: %v of widths %d and %d", k, w, c.Width(b)))
	}
	rw := w
	if kinds[k].Predicate {
		rw = 1
	}
	va, ca := c.IsConst(a)
	vb, cb := c.IsConst(b)
	if ca && cb {
		return c.Const(kinds[k].Eval(va, vb, 0, w), rw)
	}
	if kinds[k].Commutative && (ca || !cb && c.less(b, a)) {
		a, b = b, a
		vb, cb = va, ca
	}
	return c.build(term{kind: k, w: rw, a: a, b: b, kb: cb, vb: vb})
}

// Constructors of the kinds. Both operands of a binary one have one width.

func (c *Ctx) Not(a Ref) Ref      { return c.unary(Not, a) }
func (c *Ctx) Neg(a Ref) Ref      { return c.unary(Neg, a) }
func (c *Ctx) And(a, b Ref) Ref   { return c.binary(And, a, b) }
func (c *Ctx) Or(a, b Ref) Ref    { return c.binary(Or, a, b) }
func (c *Ctx) Xor(a, b Ref) Ref   { return c.binary(Xor, a, b) }
func (c *Ctx) Add(a, b Ref) Ref   { return c.binary(Add, a, b) }
func (c *Ctx) Sub(a, b Ref) Ref   { return c.binary(Add, a, c.Neg(b)) }
func (c *Ctx) Mul(a, b Ref) Ref   { return c.binary(Mul, a, b) }
func (c *Ctx) MulHU(a, b Ref) Ref { return c.binary(MulHU, a, b) }
func (c *Ctx) MulHS(a, b Ref) Ref { return c.binary(MulHS, a, b) }
func (c *Ctx) UDiv(a, b Ref) Ref  { return c.binary(UDiv, a, b) }
func (c *Ctx) URem(a, b Ref) Ref  { return c.binary(URem, a, b) }
func (c *Ctx) SDiv(a, b Ref) Ref  { return c.binary(SDiv, a, b) }
func (c *Ctx) SRem(a, b Ref) Ref  { return c.binary(SRem, a, b) }
func (c *Ctx) Shl(a, b Ref) Ref   { return c.binary(Shl, a, b) }
func (c *Ctx) LShr(a, b Ref) Ref  { return c.binary(LShr, a, b) }
func (c *Ctx) AShr(a, b Ref) Ref  { return c.binary(AShr, a, b) }
func (c *Ctx) Eq(a, b Ref) Ref    { return c.binary(Eq, a, b) }
func (c *Ctx) Ne(a, b Ref) Ref    { return c.Not(c.Eq(a, b)) }
func (c *Ctx) Ult(a, b Ref) Ref   { return c.binary(Ult, a, b) }
func (c *Ctx) Ule(a, b Ref) Ref   { return c.Not(c.Ult(b, a)) }
func (c *Ctx) Slt(a, b Ref) Ref   { return c.binary(Slt, a, b) }
func (c *Ctx) Sle(a, b Ref) Ref   { return c.Not(c.Slt(b, a)) }

// Ite returns cond ? a : b; cond is one bit wide.
func (c *Ctx) Ite(cond, a, b Ref) Ref {
	if c.Width(cond) != 1 || c.Width(a) != c.Width(b) {
		panic("expr: Ite widths")
	}
	if v, ok := c.IsConst(cond); ok {
		if v != 0 {
			return a
		}
		return b
	}
	if a == b {
		return a
	}
	if c.Kind(cond) == Not {
		return c.Ite(c.A(cond), b, a)
	}
	return c.build(term{kind: Ite, w: c.Width(a), a: cond, b: a, c: b})
}

// Concat returns hi:lo; the sum of the widths is at most 64.
func (c *Ctx) Concat(hi, lo Ref) Ref {
	w := c.Width(hi) + c.Width(lo)
	if w > 64 {
		panic("expr: Concat wider than 64 bits")
	}
	vh, ok1 := c.IsConst(hi)
	vl, ok2 := c.IsConst(lo)
	if ok1 && ok2 {
		return c.Const(vh<<c.Width(lo)|vl, w)
	}
	return c.build(term{kind: Concat, w: w, a: hi, b: lo, kb: ok2, vb: vl})
}

// Extract returns the w bits of a from bit lo on.
func (c *Ctx) Extract(a Ref, lo, w uint) Ref {
	if w == 0 || lo+w > c.Width(a) {
		panic(fmt.Sprintf("expr: Extract [%d,+%d) of %d bits", lo, w, c.Width(a)))
	}
	if lo == 0 && w == c.Width(a) {
		return a
	}
	if v, ok := c.IsConst(a); ok {
		return c.Const(v>>lo, w)
	}
	return c.build(term{kind: Extract, w: w, lo: lo, a: a})
}

// ZExt zero-extends a to w bits; w at least a's width.
func (c *Ctx) ZExt(a Ref, w uint) Ref { return c.extend(ZExt, a, w) }

// SExt sign-extends a to w bits; w at least a's width.
func (c *Ctx) SExt(a Ref, w uint) Ref { return c.extend(SExt, a, w) }

func (c *Ctx) extend(k Kind, a Ref, w uint) Ref {
	aw := c.Width(a)
	if w < aw || w > 64 {
		panic(fmt.Sprintf("expr: extend %d to %d bits", aw, w))
	}
	if w == aw {
		return a
	}
	if v, ok := c.IsConst(a); ok {
		if k == SExt {
			v = uint64(SignExtend(v, aw))
		}
		return c.Const(v, w)
	}
	return c.build(term{kind: k, w: w, a: a})
}

// Select returns entry idx of a table of w-bit constants; an index past the
// end reads 0.
func (c *Ctx) Select(vals []uint64, idx Ref, w uint) Ref {
	if v, ok := c.IsConst(idx); ok {
		if v < uint64(len(vals)) {
			return c.Const(vals[v], w)
		}
		return c.Const(0, w)
	}
	return c.build(term{kind: Select, w: w, a: idx, b: Ref(c.internTable(vals, w))})
}
