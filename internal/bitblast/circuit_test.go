package bitblast

import (
	"fmt"
	"math/rand"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/sat"
)

// build makes a node of kind k over variables of width w, by the constructor
// the kind has; x, y are operands and s a bit.
func build(c *expr.Ctx, k expr.Kind, x, y, s expr.Ref, r *rand.Rand) expr.Ref {
	w := c.Width(x)
	switch k {
	case expr.Const:
		return c.Const(r.Uint64(), w)
	case expr.Var:
		return x
	case expr.Not:
		return c.Not(x)
	case expr.Neg:
		return c.Neg(x)
	case expr.And:
		return c.And(x, y)
	case expr.Or:
		return c.Or(x, y)
	case expr.Xor:
		return c.Xor(x, y)
	case expr.Add:
		return c.Add(x, y)
	case expr.Mul:
		return c.Mul(x, y)
	case expr.MulHU:
		return c.MulHU(x, y)
	case expr.MulHS:
		return c.MulHS(x, y)
	case expr.UDiv:
		return c.UDiv(x, y)
	case expr.URem:
		return c.URem(x, y)
	case expr.SDiv:
		return c.SDiv(x, y)
	case expr.SRem:
		return c.SRem(x, y)
	case expr.Shl:
		return c.Shl(x, y)
	case expr.LShr:
		return c.LShr(x, y)
	case expr.AShr:
		return c.AShr(x, y)
	case expr.Eq:
		return c.Eq(x, y)
	case expr.Ult:
		return c.Ult(x, y)
	case expr.Slt:
		return c.Slt(x, y)
	case expr.Ite:
		return c.Ite(s, x, y)
	case expr.Concat:
		if 2*w > 64 {
			return c.Concat(c.Extract(x, 0, 32), c.Extract(y, w-32, 32))
		}
		return c.Concat(x, y)
	case expr.Extract:
		lo := uint(r.Intn(int(w)))
		return c.Extract(x, lo, 1+uint(r.Intn(int(w-lo))))
	case expr.ZExt:
		return c.ZExt(x, w+uint(r.Intn(int(65-w))))
	case expr.SExt:
		return c.SExt(x, w+uint(r.Intn(int(65-w))))
	case expr.Select:
		t := make([]uint64, 1+r.Intn(20))
		for i := range t {
			t[i] = r.Uint64() & expr.Mask(w) & 0xf7
		}
		return c.Select(t, x, w)
	}
	return 0
}

// agree evaluates e under a with the circuit: the SAT solver must find the
// operands' values compatible with expr.Eval's result and with no other.
func agree(in *Instance, c *expr.Ctx, e expr.Ref, vars []expr.Ref, a expr.Assignment) error {
	want := c.Const(c.Eval(e, a), c.Width(e))
	roots := make([]expr.Ref, 0, 4)
	for _, v := range vars {
		roots = append(roots, c.Eq(v, c.Const(a.Get(c.VarOf(v)), c.Width(v))))
	}
	if got := in.Check(append(roots, c.Eq(e, want)), nil, 1<<30); got != sat.Sat {
		return fmt.Errorf("%v = %#x under %#x: %v", c.Kind(e), c.Eval(e, a), a, got)
	}
	if got := in.Check(append(roots, c.Ne(e, want)), nil, 1<<30); got != sat.Unsat {
		return fmt.Errorf("%v other than %#x under %#x: %v", c.Kind(e), c.Eval(e, a), a, got)
	}
	return nil
}

// TestRows: every kind has a circuit, and it agrees with expr.Eval, at widths 1
// to 4 for all operands and at others for random ones, with and without
// constant operands.
func TestRows(t *testing.T) {
	for k := expr.Kind(1); k < expr.NumKinds; k++ {
		if circuits[k] == nil {
			t.Errorf("%v has no circuit", k)
			continue
		}
		if k.IsFloat() {
			continue // of 32 and 64 bits only: TestTinyFloats, TestFloats
		}
		t.Run(k.String(), func(t *testing.T) {
			for w := uint(1); w <= 4; w++ {
				c := expr.New()
				x, y, s := c.Var("x", w), c.Var("y", w), c.Var("s", 1)
				r := rand.New(rand.NewSource(int64(w)))
				in := NewInstance(NewGraph(c))
				for range 3 {
					e := build(c, k, x, y, s, r)
					if e == 0 {
						t.Fatal("no constructor in this test")
					}
					for v := range uint64(1) << (2*w + 1) {
						a := expr.Assignment{v & expr.Mask(w), v >> w & expr.Mask(w), v >> (2 * w)}
						if err := agree(in, c, e, []expr.Ref{x, y, s}, a); err != nil {
							t.Fatal(err)
						}
					}
				}
				for v := range uint64(1) << w {
					e, f := build(c, k, x, c.Const(v, w), s, r), build(c, k, c.Const(v, w), y, s, r)
					for u := range uint64(1) << w {
						a := expr.Assignment{u, u, u & 1}
						if err := agree(in, c, e, []expr.Ref{x, s}, a); err != nil {
							t.Fatal(err)
						}
						if err := agree(in, c, f, []expr.Ref{y, s}, a); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			for seed := int64(0); seed < 60; seed++ {
				r := rand.New(rand.NewSource(seed))
				w := 5 + uint(r.Intn(60))
				if seed < 6 {
					w = []uint{8, 16, 32, 64, 64, 63}[seed]
				}
				c := expr.New()
				x, y, s := c.Var("x", w), c.Var("y", w), c.Var("s", 1)
				vars := []expr.Ref{x, y, s}
				p, q := x, y
				switch r.Intn(3) {
				case 0:
					q = c.Const(pick(r, w), w)
				case 1:
					p = c.Const(pick(r, w), w)
				}
				e := build(c, k, p, q, s, r)
				in := NewInstance(NewGraph(c))
				for range 8 {
					a := expr.Assignment{pick(r, w), pick(r, w), r.Uint64() & 1}
					if err := agree(in, c, e, vars, a); err != nil {
						t.Fatalf("seed %d width %d: %v", seed, w, err)
					}
				}
			}
		})
	}
}

// pick returns a number of w bits, often small, of few bits, or near the end.
func pick(r *rand.Rand, w uint) uint64 {
	v := r.Uint64()
	switch r.Intn(5) {
	case 0:
		v &= 0xf
	case 1:
		v = -(v & 0xf)
	case 2:
		v = 1 << (v & 63)
	case 3:
		v >>= v & 63
	}
	return v & expr.Mask(w)
}

// TestResetReemits checks that a reset instance answers as before, and emits
// the asked cone only.
func TestResetReemits(t *testing.T) {
	c := expr.New()
	x, y := c.Var("x", 32), c.Var("y", 32)
	g := NewGraph(c)
	in := NewInstance(g)
	hard := c.Eq(c.Mul(x, y), c.Const(35, 32))
	easy := c.Eq(c.UDiv(x, c.Const(10, 32)), c.Const(77, 32))
	in.Check([]expr.Ref{hard}, nil, 1)
	if in.Check([]expr.Ref{easy}, nil, 1<<30) != sat.Sat {
		t.Fatal("easy")
	}
	all := in.NumVars()
	for range 3 {
		in.Reset(g)
		if in.Check([]expr.Ref{easy}, nil, 1<<30) != sat.Sat || in.Value(0, 0)/10 != 77 {
			t.Fatalf("after reset: x = %d", in.Value(0, 0))
		}
		if in.NumVars() >= all {
			t.Errorf("%d variables after reset, %d before", in.NumVars(), all)
		}
	}
	if in.Check([]expr.Ref{easy, c.Eq(x, c.Const(780, 32))}, nil, 1<<30) != sat.Unsat || len(in.Core()) != 2 {
		t.Errorf("core %v", in.Core())
	}
}

// Products by a word with runs of one literal (sign extensions, repeated bits)
// equal their evaluation for every value of the operands.
func TestMulRuns(t *testing.T) {
	c := expr.New()
	x, y := c.Var("x", 4), c.Var("y", 3)
	in := NewInstance(NewGraph(c))
	rep := func(b expr.Ref, n uint) expr.Ref { return c.SExt(b, n) }
	bit := func(i uint) expr.Ref { return c.Extract(y, i, 1) }
	for name, f := range map[string]expr.Ref{
		"sign":         c.SExt(y, 8),
		"run below":    c.Concat(c.ZExt(bit(1), 3), c.Concat(rep(bit(0), 4), bit(2))),
		"run to end":   c.Concat(rep(bit(0), 5), c.ZExt(bit(1), 3)),
		"two runs":     c.Concat(rep(bit(2), 4), rep(bit(1), 4)),
		"runs of two":  c.Concat(c.Concat(rep(bit(2), 2), rep(bit(0), 2)), c.ZExt(rep(bit(1), 2), 4)),
		"one bit wide": rep(bit(0), 8),
	} {
		e := c.Mul(c.SExt(x, 8), f)
		for v := uint64(0); v < 16*8; v++ {
			a := expr.Assignment{v & 15, v >> 4}
			if err := agree(in, c, e, []expr.Ref{x, y}, a); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// A divisor may be constant in the circuit only: the high half of a product of bits is 0.
func TestDivideByHiddenConstant(t *testing.T) {
	c := expr.New()
	x, y := c.Var("x", 1), c.Var("y", 1)
	in := NewInstance(NewGraph(c))
	zero := c.MulHS(x, y)
	for _, e := range []expr.Ref{c.UDiv(x, zero), c.URem(x, zero), c.SDiv(x, zero), c.SRem(x, zero), c.UDiv(x, c.Not(zero))} {
		if _, ok := c.IsConst(e); ok {
			t.Fatal("the constructors see it, too")
		}
		for v := range uint64(4) {
			if err := agree(in, c, e, []expr.Ref{x, y}, expr.Assignment{v & 1, v >> 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
