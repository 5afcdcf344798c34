package expr

// iteRules are the rules of Ite; a is the condition, b and c the arms.
var iteRules = []rule{
	// match: p ? 1 : x and the other constant arms, one bit  result: p | x, ~p & x, ~p | x, p & x
	{name: "ite-bit", kind: Ite, apply: func(c *Ctx, t term) Ref {
		if t.w != 1 {
			return 0
		}
		if v, ok := c.IsConst(t.b); ok {
			if v == 1 {
				return c.Or(t.a, t.c)
			}
			return c.And(c.Not(t.a), t.c)
		}
		if v, ok := c.IsConst(t.c); ok {
			if v == 1 {
				return c.Or(c.Not(t.a), t.b)
			}
			return c.And(t.a, t.b)
		}
		return 0
	}},
	// match: p ? 1 : 0 and p ? 0 : 1  result: ZExt(p), ZExt(~p)
	// match: p ? ones : 0 and p ? 0 : ones  result: SExt(p), SExt(~p)
	{name: "ite-extension", kind: Ite, apply: func(c *Ctx, t term) Ref {
		x, okx := c.IsConst(t.b)
		y, oky := c.IsConst(t.c)
		if !okx || !oky {
			return 0
		}
		p := t.a
		if x == 0 {
			p, x, y = c.Not(p), y, x
		}
		switch {
		case y == 0 && x == 1:
			return c.ZExt(p, t.w)
		case y == 0 && x == Mask(t.w):
			return c.SExt(p, t.w)
		}
		return 0
	}},
	// match: p ? p : x, p ? x : p and their complements  result: p | x, p & x, ~p & x, ~p | x
	{name: "ite-cond-arm", kind: Ite, apply: func(c *Ctx, t term) Ref {
		switch {
		case t.w != 1:
		case t.a == t.b:
			return c.Or(t.a, t.c)
		case t.a == t.c:
			return c.And(t.a, t.b)
		case c.isNotOf(t.a, t.b):
			return c.And(t.b, t.c)
		case c.isNotOf(t.a, t.c):
			return c.Or(t.c, t.b)
		}
		return 0
	}},
	// match: p ? x : ~x, one bit  result: ~(p ^ x)
	{name: "ite-complement", kind: Ite, apply: func(c *Ctx, t term) Ref {
		if t.w != 1 || !c.isNotOf(t.b, t.c) {
			return 0
		}
		return c.Not(c.Xor(t.a, t.b))
	}},
	// match: p ? (p ? x : y) : z and p ? z : (p ? y : x)  result: p ? x : z, p ? z : x
	{name: "ite-same-cond", kind: Ite, apply: func(c *Ctx, t term) Ref {
		switch {
		case c.Kind(t.b) == Ite && c.A(t.b) == t.a:
			return c.Ite(t.a, c.B(t.b), t.c)
		case c.Kind(t.c) == Ite && c.A(t.c) == t.a:
			return c.Ite(t.a, t.b, c.C(t.c))
		}
		return 0
	}},
	// match: p ? x : (q ? x : y), p ? x : (q ? y : x)  result: (p | q) ? x : y, (p | ~q) ? x : y
	{name: "ite-merge-else", kind: Ite, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.c) != Ite {
			return 0
		}
		switch q := c.A(t.c); t.b {
		case c.B(t.c):
			return c.Ite(c.Or(t.a, q), t.b, c.C(t.c))
		case c.C(t.c):
			return c.Ite(c.Or(t.a, c.Not(q)), t.b, c.B(t.c))
		}
		return 0
	}},
	// match: p ? (q ? x : y) : y, p ? (q ? y : x) : y  result: (p & q) ? x : y, (p & ~q) ? x : y
	{name: "ite-merge-then", kind: Ite, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != Ite {
			return 0
		}
		switch q := c.A(t.b); t.c {
		case c.C(t.b):
			return c.Ite(c.And(t.a, q), c.B(t.b), t.c)
		case c.B(t.b):
			return c.Ite(c.And(t.a, c.Not(q)), c.C(t.b), t.c)
		}
		return 0
	}},
	// match: x == y ? x : y  result: y
	{name: "ite-eq-arms", kind: Ite, on: Eq, apply: func(c *Ctx, t term) Ref {
		x, y := c.A(t.a), c.B(t.a)
		return onlyIf(x == t.b && y == t.c || x == t.c && y == t.b, t.c)
	}},
	// match: p ? Ext(x) : Ext(y), one kind and width  result: Ext(p ? x : y)
	{name: "ite-extensions", kind: Ite, apply: func(c *Ctx, t term) Ref {
		k := c.Kind(t.b)
		if k != ZExt && k != SExt || c.Kind(t.c) != k || c.Width(c.A(t.b)) != c.Width(c.A(t.c)) {
			return 0
		}
		return c.extend(k, c.Ite(t.a, c.A(t.b), c.A(t.c)), t.w)
	}},
	// match: p ? x:y : x:z and p ? y:x : z:x  result: x:(p ? y : z), (p ? y : z):x
	{name: "ite-concat", kind: Ite, apply: func(c *Ctx, t term) Ref {
		if c.Kind(t.b) != Concat || c.Kind(t.c) != Concat || c.Width(c.A(t.b)) != c.Width(c.A(t.c)) {
			return 0
		}
		switch {
		case c.A(t.b) == c.A(t.c):
			return c.Concat(c.A(t.b), c.Ite(t.a, c.B(t.b), c.B(t.c)))
		case c.B(t.b) == c.B(t.c):
			return c.Concat(c.Ite(t.a, c.A(t.b), c.A(t.c)), c.B(t.b))
		}
		return 0
	}},
}

// maxRanges bounds the comparisons a table is replaced by.
const maxRanges = 3

// selectRules are the rules of Select; a is the index, b the table's number.
var selectRules = []rule{
	// match: a table with entries past the index's bound, or zeros at its end  result: the table without
	{name: "select-trim", kind: Select, apply: func(c *Ctx, t term) Ref {
		vals := c.tables[t.b].vals
		n := len(vals)
		if _, hi := c.Range(t.a); hi < uint64(n) {
			n = int(hi) + 1
		}
		for n > 0 && vals[n-1] == 0 {
			n--
		}
		if n == len(vals) {
			return 0
		}
		return c.Select(vals[:n], t.a, t.w)
	}},
	// match: every entry the index reaches is k  result: k
	{name: "select-uniform", kind: Select, apply: func(c *Ctx, t term) Ref {
		_, _, at := c.reach(t)
		for i := range at {
			if at[i] != at[0] {
				return 0
			}
		}
		return c.Const(at[0], t.w)
	}},
	// match: Select(t, ZExt(i))  result: Select(t, i)
	{name: "select-zext", kind: Select, on: ZExt, apply: func(c *Ctx, t term) Ref {
		return c.Select(c.tables[t.b].vals, c.A(t.a), t.w)
	}},
	// match: Select(t, a narrow x multiplied by, added to or joined with constants)  result: Select(those entries, x)
	{name: "select-steps", kind: Select, apply: func(c *Ctx, t term) Ref {
		x, at := c.Steps(t.a)
		if at == nil {
			return 0
		}
		vals := make([]uint64, 1<<c.Width(x))
		for v := range vals {
			if i := at(uint64(v)); i < uint64(len(c.tables[t.b].vals)) {
				vals[v] = c.tables[t.b].vals[i]
			}
		}
		return c.Select(vals, x, t.w)
	}},
	// match: Select(t, tree)  result: the tree of entries
	{name: "select-tree", kind: Select, on: Ite, apply: func(c *Ctx, t term) Ref {
		if !c.constTree(t.a) {
			return 0
		}
		return c.pushUnary(t.a, func(i Ref) Ref { return c.Select(c.tables[t.b].vals, i, t.w) })
	}},
	// match: a table of two entries, index of one bit  result: i ? entry 1 : entry 0
	{name: "select-bit-index", kind: Select, apply: func(c *Ctx, t term) Ref {
		if c.Width(t.a) != 1 {
			return 0
		}
		vals := c.tables[t.b].vals
		if len(vals) == 1 {
			return c.choose(t.a, 0, vals[0], t.w)
		}
		return c.choose(t.a, vals[1], vals[0], t.w)
	}},
	// match: entry i is base + i*stride wherever i reaches  result: i*stride + base
	{name: "select-affine", kind: Select, apply: func(c *Ctx, t term) Ref {
		lo, hi, at := c.reach(t)
		if hi-lo != uint64(len(at))-1 || len(at) < 3 {
			return 0
		}
		stride := at[1] - at[0]
		for i := range at {
			if (at[0]+uint64(i)*stride-at[i])&Mask(t.w) != 0 {
				return 0
			}
		}
		i := c.resize(t.a, t.w)
		return c.Add(c.Mul(i, c.Const(stride, t.w)), c.Const(at[0]-lo*stride, t.w))
	}},
	// match: two values in at most 3 runs  result: range test of i ? k1 : k2
	{name: "select-ranges", kind: Select, apply: func(c *Ctx, t term) Ref {
		lo, hi, at := c.reach(t)
		k1, k2, others := at[0], at[0], false
		for _, v := range at {
			switch {
			case v == k1 || v == k2:
			case k1 == k2:
				k2 = v
			default:
				others = true
			}
		}
		if others {
			return 0
		}
		for limit := 1; limit <= maxRanges; limit++ { // the fewest
			for _, k := range [2]uint64{k1, k2} {
				if cond := c.ranges(t.a, lo, hi, at, k, limit); cond != 0 {
					return c.choose(cond, k, k1^k2^k, t.w)
				}
			}
		}
		return 0
	}},
}

// reach returns the bounds of the index of a Select and the entries from lo
// on; where hi is past the end, the last of them is the 0 read there.
func (c *Ctx) reach(t term) (lo, hi uint64, at []uint64) {
	lo, hi = c.Range(t.a)
	vals := c.tables[t.b].vals
	n := uint64(len(vals))
	if lo >= n {
		return lo, hi, []uint64{0}
	}
	if hi < n {
		return lo, hi, vals[lo : hi+1]
	}
	return lo, hi, append(append([]uint64(nil), vals[lo:]...), 0)
}

// maxSteps is the width of the widest x that Steps looks for.
const maxSteps = 8

// Steps finds x of at most maxSteps bits that i is computed from by constants
// alone, and how; nil where there is none, or i is x.
func (c *Ctx) Steps(i Ref) (x Ref, at func(uint64) uint64) {
	w := c.Width(i)
	var inner func(uint64) uint64
	next := func(r Ref) { // r takes the place of i
		if x, inner = c.Steps(r); inner == nil && c.Width(r) <= maxSteps {
			x, inner = r, func(v uint64) uint64 { return v }
		}
	}
	k, konst := uint64(0), false
	if c.Kind(i).Arity() == 2 {
		k, konst = c.IsConst(c.B(i))
	}
	var step func(uint64) uint64
	switch kind := c.Kind(i); {
	case kind == ZExt:
		next(c.A(i))
		step = func(v uint64) uint64 { return v }
	case kind == Add && konst:
		next(c.A(i))
		step = func(v uint64) uint64 { return v + k }
	case kind == Mul && konst:
		next(c.A(i))
		step = func(v uint64) uint64 { return v * k }
	case kind == Concat && konst:
		next(c.A(i))
		low := c.Width(c.B(i))
		step = func(v uint64) uint64 { return v<<low | k }
	}
	if inner == nil {
		return 0, nil
	}
	return x, func(v uint64) uint64 { return step(inner(v)) & Mask(w) }
}

// Entry finds the table of constants that r is computed from by constants alone: entry(v) is r for the value v of its index i; nil where there is none.
func (c *Ctx) Entry(r Ref) (i Ref, entry func(uint64) uint64) {
	w, low := c.Width(r), c.Lo(r)
	below := func(a Ref, step func(uint64) uint64) (Ref, func(uint64) uint64) { // r is step of a
		i, inner := c.Entry(a)
		if inner == nil {
			return 0, nil
		}
		return i, func(v uint64) uint64 { return step(inner(v)) & Mask(w) }
	}
	switch c.Kind(r) {
	case Select:
		vals := c.Table(r)
		return c.A(r), func(v uint64) uint64 {
			if v < uint64(len(vals)) {
				return vals[v]
			}
			return 0
		}
	case ZExt:
		return below(c.A(r), func(v uint64) uint64 { return v })
	case Extract:
		return below(c.A(r), func(v uint64) uint64 { return v >> low })
	case Add:
		if k, konst := c.IsConst(c.B(r)); konst {
			return below(c.A(r), func(v uint64) uint64 { return v + k })
		}
	case Concat: // parts of one entry are known, or of one index
		wb := c.Width(c.B(r))
		high, konst := c.IsConst(c.A(r))
		i, low := c.Entry(c.B(r))
		if konst && low != nil {
			return i, func(v uint64) uint64 { return high<<wb | low(v) }
		}
		j, upper := c.Entry(c.A(r))
		if k, konst := c.IsConst(c.B(r)); konst && upper != nil {
			return j, func(v uint64) uint64 { return upper(v)<<wb | k }
		}
		if low != nil && upper != nil && i == j {
			return i, func(v uint64) uint64 { return upper(v)<<wb | low(v) }
		}
	}
	return 0, nil
}

// ranges returns the condition that entry i is k, or 0 where it takes more
// than limit comparisons.
func (c *Ctx) ranges(i Ref, lo, hi uint64, at []uint64, k uint64, limit int) Ref {
	type run struct{ lo, hi uint64 }
	var runs []run
	for j := 0; j < len(at); j++ {
		if at[j] != k {
			continue
		}
		first := j
		for j+1 < len(at) && at[j+1] == k {
			j++
		}
		if len(runs) == limit {
			return 0
		}
		last := lo + uint64(j)
		if j == len(at)-1 {
			last = hi
		}
		runs = append(runs, run{lo + uint64(first), last})
	}
	cond := c.Const(0, 1)
	for _, r := range runs {
		cond = c.Or(cond, c.inRange(i, r.lo, r.hi))
	}
	return cond
}

// tableTest returns whether pred holds for the value of r, a Select or an
// Extract of one, as a Select of bits; 0 where r is neither.
func (c *Ctx) tableTest(r Ref, pred func(uint64) bool) Ref {
	lo, mask := uint(0), Mask(c.Width(r))
	if c.Kind(r) == Extract {
		lo, r = c.Lo(r), c.A(r)
	}
	if c.Kind(r) != Select {
		return 0
	}
	vals := c.Table(r)
	past := pred(0) // reads past the end
	flags := make([]uint64, len(vals))
	for i, v := range vals {
		flags[i] = b2u(pred(v>>lo&mask) != past)
	}
	test := c.Select(flags, c.A(r), 1)
	if past {
		return c.Not(test)
	}
	return test
}
