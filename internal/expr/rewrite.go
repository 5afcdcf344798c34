package expr

// A term is a node about to be built. Its operands are in normal form, not all
// of them constants; those of a commutative kind are in order.
type term struct {
	kind    Kind
	kb      bool // b is a constant, vb its value
	w       uint // width of the result
	lo      uint // Extract: low bit; float kinds: environment
	a, b, c Ref  // Select: b is the number of the table
	vb      uint64
}

// A rule replaces a term by an equal expression. It builds the result with the
// constructors and returns 0 where it does not apply. What it does depends on
// the structure of the operands only.
//
// To add one: a row in the table of its family (rules_*.go), a row in
// TestRules (an instance and a near miss).
type rule struct {
	name    string
	kind    Kind
	on      Kind // kind of operand a the rule needs; Invalid: any
	konst   bool // operand b must be a constant
	commute bool // tried with the operands swapped as well
	apply   func(c *Ctx, t term) Ref
}

// ruleFamilies lists the tables; a family's order is the order of trial.
var ruleFamilies = [][]rule{bitRules, arithRules, mulRules, shiftRules, eqRules, orderRules, structRules, iteRules, selectRules, floatRules}

// dispatch[k][o] holds the rules for terms of kind k with an operand a of kind
// o; swapped those to try with a and b swapped.
var dispatch, swapped [NumKinds][NumKinds][]*rule

func init() {
	for _, family := range ruleFamilies {
		for i := range family {
			r := &family[i]
			for o := Kind(1); o < NumKinds; o++ {
				if r.on != Invalid && r.on != o {
					continue
				}
				dispatch[r.kind][o] = append(dispatch[r.kind][o], r)
				if r.commute {
					swapped[r.kind][o] = append(swapped[r.kind][o], r)
				}
			}
		}
	}
}

func (c *Ctx) rewrite(t term) Ref {
	for _, r := range dispatch[t.kind][c.Kind(t.a)] {
		if r.konst && !t.kb {
			continue
		}
		if res := r.apply(c, t); res != 0 {
			if c.audit != nil {
				c.audit(r, t, res)
			}
			return res
		}
	}
	if t.kb || !kinds[t.kind].Commutative {
		return 0
	}
	t.a, t.b = t.b, t.a
	for _, r := range swapped[t.kind][c.Kind(t.a)] {
		if r.konst {
			continue
		}
		if res := r.apply(c, t); res != 0 {
			if c.audit != nil {
				c.audit(r, t, res)
			}
			return res
		}
	}
	return 0
}

// memoEntry remembers what a term was rewritten to. The memo is lossy: it
// saves time, above all where a rule descends into a shared graph.
type memoEntry struct {
	a, b, c, res uint32
	aux          uint16
	kind         Kind
	width        uint8
}

const (
	memoMin = 1 << 10
	memoMax = 1 << 18
)

// build returns the normal form of t.
func (c *Ctx) build(t term) Ref {
	n := node{kind: t.kind, width: uint8(t.w), aux: uint16(t.lo), a: uint32(t.a), b: uint32(t.b), c: uint32(t.c)}
	n.hash = c.hashOf(&n)
	if r := c.find(&n); r != 0 {
		return r // interned, hence in normal form
	}
	if len(c.rewrites) < memoMax && len(c.rewrites) < int(c.n) {
		size := max(memoMin, 4*len(c.rewrites))
		c.rewrites = make([]memoEntry, size)
	}
	slot := uint32(n.hash) & uint32(len(c.rewrites)-1)
	if e := &c.rewrites[slot]; e.res != 0 && e.a == n.a && e.b == n.b && e.c == n.c && e.aux == n.aux && e.kind == n.kind && e.width == n.width {
		return Ref(e.res)
	}
	r := c.rewrite(t)
	if r == 0 {
		return c.insert(n)
	}
	slot = uint32(n.hash) & uint32(len(c.rewrites)-1)
	c.rewrites[slot] = memoEntry{n.a, n.b, n.c, uint32(r), n.aux, n.kind, n.width}
	return r
}

// splits reports whether r falls apart at bit n without new operators:
// Extract of either side is smaller than r.
func (c *Ctx) splits(r Ref, n uint) bool {
	for {
		w := c.Width(r)
		if n == 0 || n >= w {
			return true
		}
		switch c.Kind(r) {
		case Const:
			return true
		case Concat:
			lw := c.Width(c.B(r))
			if n < lw {
				r = c.B(r)
			} else {
				r, n = c.A(r), n-lw
			}
		case ZExt, SExt:
			r = c.A(r)
		case Ite:
			return c.constTree(r)
		default:
			return false
		}
	}
}

// sheds reports whether the low n bits of r are smaller than r, looking a few
// levels deep into operators that carry only upward.
func (c *Ctx) sheds(r Ref, n uint, depth int) bool {
	switch c.Kind(r) {
	case Extract:
		return true
	case Neg:
		return depth > 0 && c.sheds(c.A(r), n, depth-1)
	case Add, Mul:
		return depth > 0 && (c.sheds(c.B(r), n, depth-1) || c.sheds(c.A(r), n, depth-1))
	}
	return c.splits(r, n)
}

// treeMax bounds the leaves of an Ite tree that operators are pushed through.
const treeMax = 64

// constTree reports whether r is a tree of Ites with constant leaves.
func (c *Ctx) constTree(r Ref) bool {
	n := treeMax
	return c.Kind(r) == Ite && c.constLeaves(r, &n)
}

// Chooses reports whether r chooses among constants, and how is all that is symbolic in it.
func (c *Ctx) Chooses(r Ref) bool { return c.constTree(r) }

func (c *Ctx) constLeaves(r Ref, left *int) bool {
	for c.Kind(r) == Ite {
		if !c.constLeaves(c.B(r), left) {
			return false
		}
		r = c.C(r)
	}
	*left--
	return c.Kind(r) == Const && *left >= 0
}

// asChoice reads r as cond ? x : y with constants x and y. Extensions of a
// bit are such choices.
func (c *Ctx) asChoice(r Ref) (cond Ref, x, y uint64, ok bool) {
	w := c.Width(r)
	switch c.Kind(r) {
	case Ite:
		x, okx := c.IsConst(c.B(r))
		y, oky := c.IsConst(c.C(r))
		return c.A(r), x, y, okx && oky
	case ZExt:
		cond, x = c.A(r), 1
	case SExt:
		cond, x = c.A(r), Mask(w)
	default:
		return 0, 0, 0, false
	}
	if c.Width(cond) != 1 {
		return 0, 0, 0, false
	}
	if c.Kind(cond) == Not {
		return c.A(cond), 0, x, true
	}
	return cond, x, 0, true
}

// choose returns cond ? x : y for constants of w bits.
func (c *Ctx) choose(cond Ref, x, y uint64, w uint) Ref {
	return c.Ite(cond, c.Const(x, w), c.Const(y, w))
}

// isNotOf reports whether one of a and b is the complement of the other.
func (c *Ctx) isNotOf(a, b Ref) bool {
	return c.Kind(a) == Not && c.A(a) == b || c.Kind(b) == Not && c.A(b) == a
}

// isNegOf reports whether one of a and b is the negation of the other.
func (c *Ctx) isNegOf(a, b Ref) bool {
	return c.Kind(a) == Neg && c.A(a) == b || c.Kind(b) == Neg && c.A(b) == a
}

// other returns the operand of binary node r that is not x; ok is false where
// x is none of them.
func (c *Ctx) other(r, x Ref) (Ref, bool) {
	switch x {
	case c.A(r):
		return c.B(r), true
	case c.B(r):
		return c.A(r), true
	}
	return 0, false
}

// inRange returns lo <= x <= hi.
func (c *Ctx) inRange(x Ref, lo, hi uint64) Ref {
	w := c.Width(x)
	switch {
	case lo == hi:
		return c.Eq(x, c.Const(lo, w))
	case hi-lo == Mask(w):
		return c.Const(1, 1)
	case hi == Mask(w):
		return c.Not(c.Ult(x, c.Const(lo, w)))
	}
	return c.Ult(c.Add(x, c.Const(-lo, w)), c.Const(hi-lo+1, w))
}

// resize zero-extends or truncates r to w bits.
func (c *Ctx) resize(r Ref, w uint) Ref {
	if c.Width(r) > w {
		return c.Extract(r, 0, w)
	}
	return c.ZExt(r, w)
}

// shiftLeft returns a << n.
func (c *Ctx) shiftLeft(a Ref, n uint) Ref {
	switch {
	case n == 0:
		return a
	case n >= c.Width(a):
		return c.Const(0, c.Width(a))
	}
	return c.Concat(c.Extract(a, 0, c.Width(a)-n), c.Const(0, n))
}

// pushConst computes a binary operator with one constant operand in each leaf
// of a tree of Ites.
func (c *Ctx) pushConst(k Kind, tree, konst Ref, treeFirst bool) Ref {
	if c.Kind(tree) == Ite {
		x := c.pushConst(k, c.B(tree), konst, treeFirst)
		y := c.pushConst(k, c.C(tree), konst, treeFirst)
		return c.Ite(c.A(tree), x, y)
	}
	if treeFirst {
		return c.binary(k, tree, konst)
	}
	return c.binary(k, konst, tree)
}

// pushUnary applies f to each leaf of a tree of Ites.
func (c *Ctx) pushUnary(tree Ref, f func(Ref) Ref) Ref {
	if c.Kind(tree) != Ite {
		return f(tree)
	}
	return c.Ite(c.A(tree), c.pushUnary(c.B(tree), f), c.pushUnary(c.C(tree), f))
}
