package bitblast

import (
	"fmt"

	"symchef/internal/expr"
)

// circuits has one row per expression kind: the circuit of a node r of width w
// over its operands' words. The row test compares each with expr.Ctx.Eval.
var circuits = [expr.NumKinds]func(g *Graph, r expr.Ref, x, y, z []Lit, w int) []Lit{
	expr.Const: func(g *Graph, r expr.Ref, _, _, _ []Lit, w int) []Lit {
		v, _ := g.ctx.IsConst(r)
		return constant(v, w)
	},
	expr.Var: func(g *Graph, r expr.Ref, _, _, _ []Lit, w int) []Lit { return g.input(g.ctx.VarOf(r)) },
	expr.Not: func(_ *Graph, _ expr.Ref, x, _, _ []Lit, _ int) []Lit { return invert(x) },
	expr.Neg: func(g *Graph, _ expr.Ref, x, _, _ []Lit, _ int) []Lit { return g.neg(x) },
	expr.And: bitwise((*Graph).And),
	expr.Or:  bitwise((*Graph).Or),
	expr.Xor: bitwise((*Graph).Xor),
	expr.Add: func(g *Graph, _ expr.Ref, x, y, _ []Lit, _ int) []Lit {
		sum, _ := g.add(x, y, False)
		return sum
	},
	expr.Mul: func(g *Graph, _ expr.Ref, x, y, _ []Lit, w int) []Lit { return g.mul(x, y, w) },
	expr.MulHU: func(g *Graph, _ expr.Ref, x, y, _ []Lit, w int) []Lit {
		return g.mul(x, y, 2*w)[w:]
	},
	expr.MulHS: func(g *Graph, _ expr.Ref, x, y, _ []Lit, w int) []Lit {
		// A negative operand counts 2^w too much in the unsigned product.
		hi := g.mul(x, y, 2*w)[w:]
		for _, t := range [][2][]Lit{{x, y}, {y, x}} {
			minus := make([]Lit, w)
			for i := range minus {
				minus[i] = g.And(t[0][w-1], t[1][i]).Not()
			}
			hi, _ = g.add(hi, minus, True)
		}
		return hi
	},
	expr.UDiv: func(g *Graph, r expr.Ref, x, y, _ []Lit, _ int) []Lit { return g.unsigned(r, x, y)[0] },
	expr.URem: func(g *Graph, r expr.Ref, x, y, _ []Lit, _ int) []Lit { return g.unsigned(r, x, y)[1] },
	expr.SDiv: func(g *Graph, r expr.Ref, x, y, _ []Lit, w int) []Lit {
		q := g.signed(r, x, y)[0]
		return g.mux(g.Xor(x[w-1], y[w-1]), g.neg(q), q)
	},
	expr.SRem: func(g *Graph, r expr.Ref, x, y, _ []Lit, w int) []Lit {
		m := g.signed(r, x, y)[1]
		return g.mux(x[w-1], g.neg(m), m)
	},
	expr.Shl:  func(g *Graph, _ expr.Ref, x, y, _ []Lit, _ int) []Lit { return g.shift(x, y, true, False) },
	expr.LShr: func(g *Graph, _ expr.Ref, x, y, _ []Lit, _ int) []Lit { return g.shift(x, y, false, False) },
	expr.AShr: func(g *Graph, _ expr.Ref, x, y, _ []Lit, w int) []Lit { return g.shift(x, y, false, x[w-1]) },
	expr.Eq:   func(g *Graph, _ expr.Ref, x, y, _ []Lit, _ int) []Lit { return []Lit{g.eq(x, y)} },
	expr.Ult:  func(g *Graph, _ expr.Ref, x, y, _ []Lit, _ int) []Lit { return []Lit{g.ult(x, y)} },
	expr.Slt:  func(g *Graph, _ expr.Ref, x, y, _ []Lit, _ int) []Lit { return []Lit{g.slt(x, y)} },
	expr.Ite:  func(g *Graph, _ expr.Ref, x, y, z []Lit, _ int) []Lit { return g.mux(x[0], y, z) },
	expr.Concat: func(_ *Graph, _ expr.Ref, x, y, _ []Lit, w int) []Lit {
		return append(append(make([]Lit, 0, w), y...), x...)
	},
	expr.Extract: func(g *Graph, r expr.Ref, x, _, _ []Lit, w int) []Lit {
		lo := int(g.ctx.Lo(r))
		return x[lo : lo+w]
	},
	expr.ZExt: func(_ *Graph, _ expr.Ref, x, _, _ []Lit, w int) []Lit { return pad(x, w, False) },
	expr.SExt: func(_ *Graph, _ expr.Ref, x, _, _ []Lit, w int) []Lit { return pad(x, w, x[len(x)-1]) },
	expr.Select: func(g *Graph, r expr.Ref, x, _, _ []Lit, w int) []Lit {
		return g.selectTable(g.ctx.Table(r), x, w)
	},
}

func bitwise(f func(*Graph, Lit, Lit) Lit) func(*Graph, expr.Ref, []Lit, []Lit, []Lit, int) []Lit {
	return func(g *Graph, _ expr.Ref, x, y, _ []Lit, w int) []Lit {
		z := make([]Lit, w)
		for i := range z {
			z[i] = f(g, x[i], y[i])
		}
		return z
	}
}

// unsigned and signed return quotient and remainder of the operands of r; the
// signed ones are of the absolute values.
func (g *Graph) unsigned(r expr.Ref, x, y []Lit) [2][]Lit {
	k := divKey{g.ctx.A(r), g.ctx.B(r), false}
	d, ok := g.divOf[k]
	if !ok {
		d[0], d[1] = g.divide(x, y)
		g.divOf[k] = d
	}
	return d
}

func (g *Graph) signed(r expr.Ref, x, y []Lit) [2][]Lit {
	k := divKey{g.ctx.A(r), g.ctx.B(r), true}
	d, ok := g.divOf[k]
	if !ok {
		w := len(x)
		d[0], d[1] = g.divide(g.mux(x[w-1], g.neg(x), x), g.mux(y[w-1], g.neg(y), y))
		g.divOf[k] = d
	}
	return d
}

func (g *Graph) input(v expr.VarID) []Lit {
	for int(v) >= len(g.inputs) {
		g.inputs = append(g.inputs, nil)
	}
	if g.inputs[v] == nil {
		x := make([]Lit, g.ctx.VarWidth(v))
		for i := range x {
			x[i] = g.source(opInput, uint32(v), uint32(i))
		}
		g.inputs[v] = x
	}
	return g.inputs[v]
}

// built returns the word of r, or nil before Bits built it.
func (g *Graph) built(r expr.Ref) []Lit {
	if int(r) >= len(g.off) || g.off[r] == 0 {
		return nil
	}
	o := g.off[r] - 1
	return g.words[o : o+uint32(g.ctx.Width(r))]
}

// Bits returns the word of r, building the circuits it lacks.
func (g *Graph) Bits(r expr.Ref) []Lit {
	x, _ := g.build(r, Effort{})
	return x
}

// Effort bounds the work of building circuits and giving clauses to them.
type Effort struct {
	Gates int             // most gates that are built, and most that get clauses; 0: no limit
	Stop  <-chan struct{} // once closed, the work ends soon; nil: never
}

// stopped reports whether Stop is closed.
func (e Effort) stopped() bool {
	select {
	case <-e.Stop:
		return true
	default:
		return false
	}
}

// pollEvery is how many gates or clauses are made between two looks at Stop: some milliseconds.
const pollEvery = 1 << 14

// build is Bits; ok is false where that is more than e allows. What has been built by then stays.
func (g *Graph) build(r expr.Ref, e Effort) (x []Lit, ok bool) {
	if x := g.built(r); x != nil {
		return x, true
	}
	if n := g.ctx.Len() + 1; n > len(g.off) {
		g.off = append(g.off, make([]uint32, n+n/2-len(g.off))...)
	}
	first := len(g.gates)
	polled, nodes := first, 0
	g.todo = append(g.todo[:0], r)
	for len(g.todo) > 0 {
		t := g.todo[len(g.todo)-1]
		if g.off[t] != 0 {
			g.todo = g.todo[:len(g.todo)-1]
			continue
		}
		k := g.ctx.Kind(t)
		ops := [3]expr.Ref{g.ctx.A(t), g.ctx.B(t), g.ctx.C(t)}
		var w [3][]Lit
		ready := true
		for i := range k.Arity() {
			if w[i] = g.built(ops[i]); w[i] == nil {
				g.todo = append(g.todo, ops[i])
				ready = false
			}
		}
		if !ready {
			continue
		}
		if nodes++; nodes >= pollEvery || len(g.gates)-polled >= pollEvery {
			if e.stopped() {
				return nil, false
			}
			polled, nodes = len(g.gates), 0
		}
		if e.Gates > 0 && len(g.gates)-first > e.Gates {
			return nil, false
		}
		f := circuits[k]
		if f == nil {
			panic(fmt.Sprintf("bitblast: no circuit for %v", k))
		}
		x := f(g, t, w[0], w[1], w[2], int(g.ctx.Width(t)))
		g.off[t] = uint32(len(g.words)) + 1
		g.words = append(g.words, x...)
		g.todo = g.todo[:len(g.todo)-1]
	}
	return g.built(r), true
}
