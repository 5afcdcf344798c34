package image

import (
	"fmt"

	"symchef/internal/expr"
)

// constructors are those of two operands of one width.
var constructors = []struct {
	name string
	make func(c *expr.Ctx, a, b expr.Ref) expr.Ref
}{
	{"and", (*expr.Ctx).And}, {"or", (*expr.Ctx).Or}, {"xor", (*expr.Ctx).Xor}, {"add", (*expr.Ctx).Add}, {"sub", (*expr.Ctx).Sub},
	{"mul", (*expr.Ctx).Mul}, {"mulhu", (*expr.Ctx).MulHU}, {"mulhs", (*expr.Ctx).MulHS},
	{"udiv", (*expr.Ctx).UDiv}, {"urem", (*expr.Ctx).URem}, {"sdiv", (*expr.Ctx).SDiv}, {"srem", (*expr.Ctx).SRem},
	{"shl", (*expr.Ctx).Shl}, {"lshr", (*expr.Ctx).LShr}, {"ashr", (*expr.Ctx).AShr},
	{"eq", (*expr.Ctx).Eq}, {"ne", (*expr.Ctx).Ne}, {"ult", (*expr.Ctx).Ult}, {"ule", (*expr.Ctx).Ule}, {"slt", (*expr.Ctx).Slt}, {"sle", (*expr.Ctx).Sle},
}

// Shape is an expression and how it was made.
type Shape struct {
	Name string
	Ref  expr.Ref
}

// leaves returns two variables and constants of w bits.
func leaves(c *expr.Ctx, w uint) []Shape {
	list := []Shape{{"x", c.Var(fmt.Sprint("x", w), w)}, {"y", c.Var(fmt.Sprint("y", w), w)}}
	seen := map[uint64]bool{}
	for _, v := range []uint64{1, 3, 1 << (w - 1), expr.Mask(w), 0} {
		if v &= expr.Mask(w); !seen[v] {
			seen[v] = true
			list = append(list, Shape{fmt.Sprintf("%#x", v), c.Const(v, w)})
		}
	}
	return list
}

// Over calls yield for everything that one constructor makes of s and leaves of its width.
func Over(c *expr.Ctx, s Shape, yield func(Shape)) {
	w := c.Width(s.Ref)
	one := func(name string, r expr.Ref) { yield(Shape{fmt.Sprintf("(%s %s)", name, s.Name), r}) }
	one("not", c.Not(s.Ref))
	one("neg", c.Neg(s.Ref))
	if w < 64 {
		one("zext", c.ZExt(s.Ref, min(2*w, 64)))
		one("sext", c.SExt(s.Ref, min(2*w, 64)))
	}
	if w > 1 {
		one("low", c.Extract(s.Ref, 0, w/2))
		one("high", c.Extract(s.Ref, w/2, w-w/2))
	}
	if 2*w <= 64 {
		one("concat y", c.Concat(c.Var(fmt.Sprint("y", w), w), s.Ref))
		one("concat 0", c.Concat(s.Ref, c.Const(0, w)))
	}
	one("select", c.Select([]uint64{7, 1, 1, 0, 200, 5}, s.Ref, 8))
	one("steps", c.Select([]uint64{3, 5, 7, 9}, s.Ref, 8))
	p := c.Var("p", 1)
	for _, l := range leaves(c, w) {
		yield(Shape{fmt.Sprintf("(ite p %s %s)", s.Name, l.Name), c.Ite(p, s.Ref, l.Ref)})
		if w == 1 {
			yield(Shape{fmt.Sprintf("(ite %s x %s)", s.Name, l.Name), c.Ite(s.Ref, c.Var("x1", 1), l.Ref)})
			yield(Shape{fmt.Sprintf("(ite %s x8 %s)", s.Name, l.Name), c.Ite(s.Ref, c.Var("x8", 8), c.ZExt(l.Ref, 8))})
		}
		for _, op := range constructors {
			yield(Shape{fmt.Sprintf("(%s %s %s)", op.name, s.Name, l.Name), op.make(c, s.Ref, l.Ref)})
			yield(Shape{fmt.Sprintf("(%s %s %s)", op.name, l.Name, s.Name), op.make(c, l.Ref, s.Ref)})
		}
	}
}

// Variable is x of w bits.
func Variable(c *expr.Ctx, w uint) Shape { return Shape{"x", c.Var(fmt.Sprint("x", w), w)} }
