package expr_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"symchef/internal/expr"
	"symchef/internal/softfp"
)

// A tree is an expression that nothing simplifies: the oracle for the
// constructors. Its operators are those of the constructors, Sub and the
// negated comparisons included.
type tree struct {
	op   string
	w    uint
	lo   uint   // extract; float kinds: environment
	val  uint64 // const
	name string // var
	tab  []uint64
	kids []*tree
}

var binaryKinds = map[string]expr.Kind{
	"and": expr.And, "or": expr.Or, "xor": expr.Xor, "add": expr.Add, "mul": expr.Mul,
	"mulhu": expr.MulHU, "mulhs": expr.MulHS, "udiv": expr.UDiv, "urem": expr.URem,
	"sdiv": expr.SDiv, "srem": expr.SRem, "shl": expr.Shl, "lshr": expr.LShr, "ashr": expr.AShr,
	"eq": expr.Eq, "ult": expr.Ult, "slt": expr.Slt,
}

var floatKinds = map[string]expr.Kind{"fadd": expr.FAdd, "fsub": expr.FSub, "fmul": expr.FMul, "fdiv": expr.FDiv,
	"fsqrt": expr.FSqrt, "ffromi": expr.FFromI, "ftoi": expr.FToI, "fcvt": expr.FCvt}

func (t *tree) String() string {
	switch t.op {
	case "const":
		return fmt.Sprintf("%#x:%d", t.val, t.w)
	case "var":
		return fmt.Sprintf("%s:%d", t.name, t.w)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%s", t.op)
	switch t.op {
	case "extract":
		fmt.Fprintf(&b, "[%d,%d]", t.lo, t.w)
	case "zext", "sext":
		fmt.Fprintf(&b, "[%d]", t.w)
	case "select":
		fmt.Fprintf(&b, "[%d]%#x", t.w, t.tab)
	case "fadd", "fsub", "fmul", "fdiv", "fsqrt", "ffromi", "ftoi", "fcvt":
		fmt.Fprintf(&b, "/%d[%d]", t.lo, t.w)
	}
	for _, k := range t.kids {
		b.WriteByte(' ')
		b.WriteString(k.String())
	}
	return b.String() + ")"
}

// eval computes t without package expr's operators wherever Go has them.
func (t *tree) eval(env map[string]uint64) uint64 {
	var v [3]uint64
	var w uint
	for i, k := range t.kids {
		v[i] = k.eval(env)
		w = max(w, k.w)
	}
	a, b := v[0], v[1]
	sa, sb := int64(0), int64(0)
	if w > 0 {
		sa, sb = int64(a<<(64-w))>>(64-w), int64(b<<(64-w))>>(64-w)
	}
	bit := func(p bool) uint64 {
		if p {
			return 1
		}
		return 0
	}
	var r uint64
	switch t.op {
	case "const":
		r = t.val
	case "var":
		r = env[t.name]
	case "not":
		r = ^a
	case "neg":
		r = -a
	case "and":
		r = a & b
	case "or":
		r = a | b
	case "xor":
		r = a ^ b
	case "add":
		r = a + b
	case "sub":
		r = a - b
	case "mul":
		r = a * b
	case "mulhu", "mulhs":
		r = mulHigh(a, b, w, t.op == "mulhs")
	case "udiv":
		if r = ^uint64(0); b != 0 {
			r = a / b
		}
	case "urem":
		if r = a; b != 0 {
			r = a % b
		}
	case "sdiv":
		switch {
		case sb == 0 && sa < 0:
			r = 1
		case sb == 0:
			r = ^uint64(0)
		default:
			r = uint64(sa / sb) // Go: the least / -1 is the least
		}
	case "srem":
		if r = a; sb != 0 {
			r = uint64(sa % sb)
		}
	case "shl":
		if b < uint64(w) {
			r = a << b
		}
	case "lshr":
		if b < uint64(w) {
			r = a >> b
		}
	case "ashr":
		r = uint64(sa >> min(b, 63))
	case "eq":
		r = bit(a == b)
	case "ne":
		r = bit(a != b)
	case "ult":
		r = bit(a < b)
	case "ule":
		r = bit(a <= b)
	case "slt":
		r = bit(sa < sb)
	case "sle":
		r = bit(sa <= sb)
	case "ite":
		if r = v[2]; a != 0 {
			r = b
		}
	case "concat":
		r = a<<t.kids[1].w | b
	case "extract":
		r = a >> t.lo
	case "zext":
		r = a
	case "sext":
		r = uint64(sa)
	case "select":
		if a < uint64(len(t.tab)) {
			r = t.tab[a]
		}
	case "fadd", "fsub", "fmul", "fdiv", "fsqrt", "ffromi", "ftoi", "fcvt":
		r = t.floatEval(a, b)
	default:
		panic("eval " + t.op)
	}
	if t.w < 64 {
		r &= 1<<t.w - 1
	}
	return r
}

// floatEval computes a float operator by unpacking, always: the constructors use the host's
// arithmetic where they can.
func (t *tree) floatEval(a, b uint64) uint64 {
	e := softfp.Env{Mode: softfp.Mode(t.lo & 3), FTZ: expr.Env(t.lo)&expr.FTZ != 0}
	from, to := softfp.FormatOf(t.kids[0].w), softfp.FormatOf(t.w)
	x, y := from.Unpack(a), from.Unpack(b)
	switch t.op {
	case "fadd":
		return to.Pack(e.Add(to, x, y))
	case "fsub":
		return to.Pack(e.Sub(to, x, y))
	case "fmul":
		return to.Pack(e.Mul(to, x, y))
	case "fdiv":
		return to.Pack(e.Div(to, x, y))
	case "fsqrt":
		return to.Pack(e.Sqrt(to, x))
	case "ffromi":
		return to.Pack(e.FromInt(to, expr.SignExtend(a, t.kids[0].w)))
	case "ftoi":
		return uint64(e.ToInt(x, int(t.w)))
	}
	return to.Pack(e.Convert(to, x))
}

// mulHigh multiplies bit by bit.
func mulHigh(a, b uint64, w uint, signed bool) uint64 {
	var hi, lo uint64 // the 2w-bit sum, in halves of w bits
	mask := ^uint64(0) >> (64 - w)
	addHigh := func(v uint64) { hi = (hi + v) & mask }
	for i := range w {
		if b>>i&1 == 0 {
			continue
		}
		part := a << i & mask
		sum := (lo + part) & mask
		if sum < part {
			addHigh(1)
		}
		lo = sum
		if i > 0 {
			addHigh(a >> (w - i))
		}
	}
	if signed {
		if a>>(w-1) == 1 {
			addHigh(-b)
		}
		if b>>(w-1) == 1 {
			addHigh(-a)
		}
	}
	return hi
}

// build makes t with the constructors.
func (t *tree) build(c *expr.Ctx) expr.Ref {
	k := make([]expr.Ref, len(t.kids))
	for i := range t.kids {
		k[i] = t.kids[i].build(c)
	}
	return t.apply(c, k)
}

// apply builds the outermost operator of t from the operands k.
func (t *tree) apply(c *expr.Ctx, k []expr.Ref) expr.Ref {
	switch t.op {
	case "const":
		return c.Const(t.val, t.w)
	case "var":
		return c.Var(t.name, t.w)
	case "not":
		return c.Not(k[0])
	case "neg":
		return c.Neg(k[0])
	case "and":
		return c.And(k[0], k[1])
	case "or":
		return c.Or(k[0], k[1])
	case "xor":
		return c.Xor(k[0], k[1])
	case "add":
		return c.Add(k[0], k[1])
	case "sub":
		return c.Sub(k[0], k[1])
	case "mul":
		return c.Mul(k[0], k[1])
	case "mulhu":
		return c.MulHU(k[0], k[1])
	case "mulhs":
		return c.MulHS(k[0], k[1])
	case "udiv":
		return c.UDiv(k[0], k[1])
	case "urem":
		return c.URem(k[0], k[1])
	case "sdiv":
		return c.SDiv(k[0], k[1])
	case "srem":
		return c.SRem(k[0], k[1])
	case "shl":
		return c.Shl(k[0], k[1])
	case "lshr":
		return c.LShr(k[0], k[1])
	case "ashr":
		return c.AShr(k[0], k[1])
	case "eq":
		return c.Eq(k[0], k[1])
	case "ne":
		return c.Ne(k[0], k[1])
	case "ult":
		return c.Ult(k[0], k[1])
	case "ule":
		return c.Ule(k[0], k[1])
	case "slt":
		return c.Slt(k[0], k[1])
	case "sle":
		return c.Sle(k[0], k[1])
	case "ite":
		return c.Ite(k[0], k[1], k[2])
	case "concat":
		return c.Concat(k[0], k[1])
	case "extract":
		return c.Extract(k[0], t.lo, t.w)
	case "zext":
		return c.ZExt(k[0], t.w)
	case "sext":
		return c.SExt(k[0], t.w)
	case "select":
		return c.Select(t.tab, k[0], t.w)
	}
	if kind, ok := floatKinds[t.op]; ok {
		k = append(k, 0)
		return c.Float(kind, expr.Env(t.lo), k[0], k[1], t.w)
	}
	panic("build " + t.op)
}

// vars collects the widths of the variables of t.
func (t *tree) vars(into map[string]uint) {
	if t.op == "var" {
		into[t.name] = t.w
	}
	for _, k := range t.kids {
		k.vars(into)
	}
}

// generator makes random trees. A pool of earlier subtrees gives sharing.
type generator struct {
	r    *rand.Rand
	pool []*tree
}

var widths = []uint{1, 1, 2, 3, 4, 7, 8, 8, 8, 16, 16, 32, 32, 64, 64}

func (g *generator) width() uint { return widths[g.r.IntN(len(widths))] }

func (g *generator) constant(w uint) *tree {
	v := g.r.Uint64()
	switch g.r.IntN(8) {
	case 0:
		v = 0
	case 1:
		v = 1
	case 2:
		v = ^uint64(0)
	case 3:
		v = uint64(g.r.IntN(12))
	case 4:
		v = 1 << g.r.UintN(w)
	case 5:
		v = 1<<g.r.UintN(w) - 1
	case 6:
		v = (1<<g.r.UintN(w) - 1) << g.r.UintN(w)
	}
	return &tree{op: "const", w: w, val: v & expr.Mask(w)}
}

func (g *generator) leaf(w uint) *tree {
	if g.r.IntN(3) == 0 {
		return g.constant(w)
	}
	return &tree{op: "var", w: w, name: fmt.Sprintf("v%d_%d", w, g.r.IntN(2))}
}

var wideOps = []string{"not", "neg", "and", "or", "xor", "add", "sub", "mul", "and", "or", "xor", "add", "sub",
	"mulhu", "mulhs", "udiv", "urem", "sdiv", "srem", "shl", "lshr", "ashr", "ite", "ite", "select",
	"concat", "concat", "concat", "extract", "extract", "zext", "zext", "sext", "bool",
	"fadd", "fsub", "fmul", "fdiv", "fsqrt", "ffromi", "ffromi", "ftoi", "ftoi", "fcvt"}

var boolOps = []string{"eq", "eq", "eq", "ne", "ult", "ult", "ule", "slt", "sle"}

func (g *generator) tree(w uint, depth int) *tree {
	if depth == 0 || g.r.IntN(12) == 0 {
		return g.leaf(w)
	}
	if g.r.IntN(4) == 0 {
		for range 4 {
			if len(g.pool) > 0 {
				if t := g.pool[g.r.IntN(len(g.pool))]; t.w == w {
					return t
				}
			}
		}
	}
	t := g.node(w, depth)
	g.pool = append(g.pool, t)
	return t
}

func (g *generator) node(w uint, depth int) *tree {
	op := wideOps[g.r.IntN(len(wideOps))]
	if op == "bool" || w == 1 && g.r.IntN(2) == 0 {
		if w > 1 {
			ext := []string{"zext", "sext"}[g.r.IntN(2)]
			return &tree{op: ext, w: w, kids: []*tree{g.tree(1, depth-1)}}
		}
		op = boolOps[g.r.IntN(len(boolOps))]
	}
	sub := func(w uint) *tree { return g.tree(w, depth-1) }
	t := &tree{op: op, w: w}
	switch op {
	case "not", "neg":
		t.kids = []*tree{sub(w)}
	case "ite":
		t.kids = []*tree{sub(1), sub(w), sub(w)}
		if g.r.IntN(3) == 0 {
			t.kids[1] = g.constant(w)
		}
		if g.r.IntN(3) == 0 {
			t.kids[2] = g.constant(w)
		}
	case "select":
		iw := []uint{1, 2, 3, 4, 8, 16}[g.r.IntN(6)]
		n := 1 + g.r.IntN(20)
		base, stride := g.r.Uint64(), uint64(g.r.IntN(5))
		shape := g.r.IntN(3)
		for i := range n {
			v := base + stride*uint64(i)
			if shape == 1 {
				v = uint64(g.r.IntN(2)) * base
			} else if shape == 2 && g.r.IntN(3) == 0 {
				v = g.r.Uint64N(4)
			}
			t.tab = append(t.tab, v&expr.Mask(w))
		}
		t.kids = []*tree{sub(iw)}
	case "concat":
		if w == 1 {
			return g.leaf(w)
		}
		n := 1 + g.r.UintN(w-1)
		if w%8 == 0 && w > 8 && g.r.IntN(2) == 0 {
			n = 8 * (1 + g.r.UintN(w/8-1))
		}
		t.kids = []*tree{sub(w - n), sub(n)}
	case "extract":
		from := w + g.r.UintN(65-w)
		if g.r.IntN(2) == 0 {
			from = max(w, g.width())
		}
		t.lo = g.r.UintN(from - w + 1)
		if g.r.IntN(3) == 0 {
			t.lo = 0
		}
		t.kids = []*tree{sub(from)}
	case "zext", "sext":
		t.kids = []*tree{sub(1 + g.r.UintN(w))}
	case "eq", "ne", "ult", "ule", "slt", "sle":
		n := g.width()
		t.kids = []*tree{sub(n), sub(n)}
		if g.r.IntN(3) == 0 {
			t.kids[g.r.IntN(2)] = g.constant(n)
		}
	case "fadd", "fsub", "fmul", "fdiv", "fsqrt", "ffromi", "ftoi", "fcvt":
		aw := []uint{32, 64}[g.r.IntN(2)]
		switch op {
		case "ffromi":
			aw = 1 + g.r.UintN(64)
		case "fcvt":
			aw = 96 - w
		case "ftoi":
		default:
			aw = w
		}
		if w > 64 || !expr.FloatWidths(floatKinds[op], aw, w) {
			return g.leaf(w)
		}
		t.lo = uint(g.r.IntN(8))
		if g.r.IntN(3) == 0 {
			t.lo = 0
		}
		for range floatKinds[op].Arity() {
			k := sub(aw)
			if op != "ffromi" && g.r.IntN(2) == 0 { // an integer, more often than by chance
				k = &tree{op: "ffromi", w: aw, kids: []*tree{sub(1 + g.r.UintN(20))}}
			}
			t.kids = append(t.kids, k)
		}
		if g.r.IntN(3) == 0 && len(t.kids) > 1 {
			v := []float64{0, 1, -1, 3, 0.5, -7, 1e6, math.Inf(1)}[g.r.IntN(8)]
			t.kids[g.r.IntN(2)] = &tree{op: "const", w: aw, val: softfp.MXCSR(0).Convert(64, aw, math.Float64bits(v))}
		}
	default:
		t.kids = []*tree{sub(w), sub(w)}
		if g.r.IntN(3) == 0 {
			t.kids[g.r.IntN(2)] = g.constant(w)
		}
	}
	return t
}

// assignment gives the variables of t random values, corners more often.
func (g *generator) assignment(vars map[string]uint) map[string]uint64 {
	env := map[string]uint64{}
	for _, name := range sortedNames(vars) {
		env[name] = g.constant(vars[name]).val
		if g.r.IntN(2) == 0 {
			env[name] = g.r.Uint64() & expr.Mask(vars[name])
		}
	}
	return env
}

// toAssignment indexes env by the VarIDs of c.
func toAssignment(c *expr.Ctx, env map[string]uint64) expr.Assignment {
	a := make(expr.Assignment, c.NumVars())
	for v := range a {
		a[v] = env[c.VarName(expr.VarID(v))]
	}
	return a
}

// shrink returns the smallest tree found that still fails.
func shrink(t *tree, fails func(*tree) bool) *tree {
	for again := true; again; {
		again = false
		for _, cand := range smaller(t) {
			if fails(cand) {
				t, again = cand, true
				break
			}
		}
	}
	return t
}

// smaller returns trees with one subtree of t replaced by a smaller one.
func smaller(t *tree) (list []*tree) {
	list = append(list, t.kids...) // of another width, perhaps: the caller's check decides
	for i, k := range t.kids {
		var subs []*tree
		if k.op != "const" {
			subs = append(subs, &tree{op: "const", w: k.w}, &tree{op: "const", w: k.w, val: expr.Mask(k.w)})
			if k.op != "var" {
				subs = append(subs, &tree{op: "var", w: k.w, name: fmt.Sprintf("v%d_0", k.w)})
			}
		}
		for _, s := range smaller(k) {
			if s.w == k.w {
				subs = append(subs, s)
			}
		}
		for _, s := range subs {
			c := *t
			c.kids = append([]*tree(nil), t.kids...)
			c.kids[i] = s
			list = append(list, &c)
		}
	}
	return list
}
