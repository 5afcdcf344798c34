package expr

// evalNode computes node n from its operands' values.
func (c *Ctx) evalNode(n *node, x, y, z uint64, a Assignment) uint64 {
	var v uint64
	switch n.kind {
	case Const:
		return uint64(n.a) | uint64(n.b)<<32
	case Var:
		v = a.Get(VarID(n.a))
	case Ite:
		if v = z; x != 0 {
			v = y
		}
	case Concat:
		v = x<<c.at(Ref(n.b)).width | y
	case Extract:
		v = x >> n.aux
	case ZExt:
		v = x
	case SExt:
		v = uint64(SignExtend(x, uint(c.at(Ref(n.a)).width)))
	case Select:
		if t := c.tables[n.b].vals; x < uint64(len(t)) {
			v = t[x]
		}
	case FAdd, FSub, FMul, FDiv, FSqrt, FFromI, FToI, FCvt:
		v = floatEval(n.kind, Env(n.aux), x, y, uint(c.at(Ref(n.a)).width), uint(n.width))
	default:
		w := uint(n.width)
		if kinds[n.kind].Predicate {
			w = uint(c.at(Ref(n.a)).width)
		}
		v = kinds[n.kind].Eval(x, y, z, w)
	}
	return v & Mask(uint(n.width))
}

// NewEval forgets the memo: call it whenever the assignment changes between
// calls of EvalMemo.
func (c *Ctx) NewEval() {
	c.gen++
	if c.gen == 0 {
		clear(c.memoGen)
		c.gen = 1
	}
}

// Eval returns the value of r under a.
func (c *Ctx) Eval(r Ref, a Assignment) uint64 {
	c.NewEval()
	return c.EvalMemo(r, a)
}

// EvalMemo returns the value of r under a, sharing work with earlier calls
// since NewEval; a must be the same in all of them.
func (c *Ctx) EvalMemo(r Ref, a Assignment) uint64 {
	if c.gen == 0 {
		c.gen = 1
	}
	if int(c.n) > len(c.memoVal) {
		grown := int(c.n) + int(c.n)/2
		c.memoVal = append(c.memoVal, make([]uint64, grown-len(c.memoVal))...)
		c.memoGen = append(c.memoGen, make([]uint32, grown-len(c.memoGen))...)
	}
	st := append(c.stack[:0], r)
	for len(st) > 0 {
		t := st[len(st)-1]
		if c.memoGen[t] == c.gen {
			st = st[:len(st)-1]
			continue
		}
		n := c.at(t)
		ar := kinds[n.kind].Arity
		ready := true
		if ar > 0 && c.memoGen[n.a] != c.gen {
			st = append(st, Ref(n.a))
			ready = false
		}
		if ar > 1 && c.memoGen[n.b] != c.gen {
			st = append(st, Ref(n.b))
			ready = false
		}
		if ar > 2 && c.memoGen[n.c] != c.gen {
			st = append(st, Ref(n.c))
			ready = false
		}
		if !ready {
			continue
		}
		var x, y, z uint64
		if ar > 0 {
			x = c.memoVal[n.a]
		}
		if ar > 1 {
			y = c.memoVal[n.b]
		}
		if ar > 2 {
			z = c.memoVal[n.c]
		}
		c.evaluated++
		c.memoVal[t] = c.evalNode(n, x, y, z, a)
		c.memoGen[t] = c.gen
		st = st[:len(st)-1]
	}
	c.stack = st[:0]
	return c.memoVal[r]
}

// Evaluated is how many nodes EvalMemo has computed.
func (c *Ctx) Evaluated() uint64 { return c.evaluated }

// Apply returns what the operator of r gives for these values of its operands; those it does not have do not matter.
// r must be no variable.
func (c *Ctx) Apply(r Ref, x, y, z uint64) uint64 { return c.evalNode(c.at(r), x, y, z, nil) }
