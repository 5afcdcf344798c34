package bitblast

import (
	"math/rand/v2"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/sat"
	"symchef/internal/seed"
	"symchef/internal/softfp"
)

// solveWord returns the value of out where in has value v.
func solveWord(t *testing.T, inst *Instance, in, out []Lit, v uint64) uint64 {
	t.Helper()
	inst.assume = inst.assume[:0]
	for i, l := range in {
		inst.assume = append(inst.assume, inst.lit(l^Lit(^v>>i&1)))
	}
	lits := make([]sat.Lit, len(out))
	for i, l := range out {
		if l > True {
			lits[i] = inst.lit(l)
		}
	}
	inst.emit(Effort{})
	roots := inst.assume
	for i, l := range out {
		if l > True {
			inst.assume = append(inst.assume, lits[i]) // in the cone; not assumed
		}
	}
	inst.mark()
	inst.assume = roots
	inst.s.Prepare(inst.assume)
	if res := inst.s.Solve(inst.assume, inst.cone, 1<<30); res != sat.Sat {
		t.Fatalf("input %#x: %v", v, res)
	}
	r := uint64(0)
	for i, l := range out {
		if l == True || l > True && inst.s.Value(lits[i]) > 0 {
			r |= 1 << i
		}
	}
	return r
}

// TestTinyFloats compares every operation, in a format of few bits, with software
// arithmetic, for all operands in all rounding modes, with and without flushing.
func TestTinyFloats(t *testing.T) {
	from := softfp.Format{Prec: 3, Emin: -2, Emax: 3} // 6 bits
	wide := softfp.Format{Prec: 5, Emin: -6, Emax: 7} // 9 bits
	const n = 5
	type operation struct {
		name string
		args int
		out  softfp.Format
		lits func(o floatOp, a, b []Lit) []Lit
		want func(e *softfp.Env, a, b uint64) uint64
	}
	two := func(f func(e *softfp.Env, g softfp.Format, a, b softfp.Num) softfp.Num) func(e *softfp.Env, a, b uint64) uint64 {
		return func(e *softfp.Env, a, b uint64) uint64 { return from.Pack(f(e, from, from.Unpack(a), from.Unpack(b))) }
	}
	for _, op := range []operation{
		{"add", 2, from, func(o floatOp, a, b []Lit) []Lit { return o.sum(a, b, false) }, two((*softfp.Env).Add)},
		{"sub", 2, from, func(o floatOp, a, b []Lit) []Lit { return o.sum(a, b, true) }, two((*softfp.Env).Sub)},
		{"mul", 2, from, floatOp.product, two((*softfp.Env).Mul)},
		{"div", 2, from, floatOp.quotient, two((*softfp.Env).Div)},
		{"sqrt", 1, from, func(o floatOp, a, _ []Lit) []Lit { return o.root(a) },
			func(e *softfp.Env, a, _ uint64) uint64 { return from.Pack(e.Sqrt(from, from.Unpack(a))) }},
		{"from int", 1, from, func(o floatOp, a, _ []Lit) []Lit { return o.fromInt(a) },
			func(e *softfp.Env, a, _ uint64) uint64 { return from.Pack(e.FromInt(from, expr.SignExtend(a, 6))) }},
		{"to int", 1, from, func(o floatOp, a, _ []Lit) []Lit { return o.toInt(from, a, n) },
			func(e *softfp.Env, a, _ uint64) uint64 { return uint64(e.ToInt(from.Unpack(a), n)) & (1<<n - 1) }},
		{"to few", 1, from, func(o floatOp, a, _ []Lit) []Lit { return o.toInt(from, a, 2) },
			func(e *softfp.Env, a, _ uint64) uint64 { return uint64(e.ToInt(from.Unpack(a), 2)) & 3 }},
		{"widen", 1, wide, func(o floatOp, a, _ []Lit) []Lit { return o.convert(from, a) },
			func(e *softfp.Env, a, _ uint64) uint64 { return wide.Pack(e.Convert(wide, from.Unpack(a))) }},
		{"narrow", 2, from, func(o floatOp, a, b []Lit) []Lit { return o.convert(wide, append(append([]Lit{}, a...), b[:3]...)) },
			func(e *softfp.Env, a, b uint64) uint64 { return from.Pack(e.Convert(from, wide.Unpack(a|b<<6&0x1ff))) }},
	} {
		t.Run(op.name, func(t *testing.T) {
			for m := range uint64(8) {
				g := NewGraph(expr.New())
				in := make([]Lit, 12)
				for i := range in {
					in[i] = g.source(opInput, 0, uint32(i))
				}
				o := floatOp{g, op.out, softfp.Mode(m & 3), m > 3}
				out := op.lits(o, in[:6], in[6:])
				inst := NewInstance(g)
				for v := range uint64(1) << (6 * op.args) {
					want := op.want(&softfp.Env{Mode: o.mode, FTZ: o.ftz}, v&63, v>>6)
					if got := solveWord(t, inst, in[:6*op.args], out, v); got != want {
						t.Fatalf("mode %d, ftz %v, %#x and %#x: %#x, not %#x", o.mode, o.ftz, v&63, v>>6, got, want)
					}
				}
			}
		})
	}
}

// randomFloat returns an encoding of w bits, often where something changes.
func randomFloat(r *rand.Rand, w uint) uint64 {
	f := softfp.FormatOf(w)
	frac := uint(f.Prec - 1)
	v := r.Uint64() & expr.Mask(w)
	field := []uint64{0, 1, uint64(f.Emax) - 1, uint64(f.Emax), uint64(f.Emax) + uint64(f.Prec), 2 * uint64(f.Emax), 2*uint64(f.Emax) + 1}[r.IntN(7)]
	switch r.IntN(4) {
	case 0:
		return v
	case 1:
		v &^= expr.Mask(r.UintN(frac + 1))
	case 2:
		v |= expr.Mask(r.UintN(frac + 1))
	}
	return v&^(expr.Mask(uint(f.ExpBits()))<<frac) | field<<frac
}

// TestFloats: the circuits of the two formats of programs have the values of evaluation and no others.
func TestFloats(t *testing.T) {
	r := seed.Rand(t)
	for k := expr.FAdd; k <= expr.FCvt; k++ {
		for _, w := range []uint{32, 64} {
			for range 6 {
				c := expr.New()
				e := expr.Env(r.UintN(8))
				x, y := c.Var("x", w), c.Var("y", w)
				if r.IntN(3) == 0 {
					y = c.Const(randomFloat(r, w), w)
				}
				out := []uint{32, 64}[r.IntN(2)]
				f := map[expr.Kind]func() expr.Ref{
					expr.FAdd: func() expr.Ref { return c.FAdd(e, x, y) }, expr.FSub: func() expr.Ref { return c.FSub(e, x, y) },
					expr.FMul: func() expr.Ref { return c.FMul(e, x, y) }, expr.FDiv: func() expr.Ref { return c.FDiv(e, x, y) },
					expr.FSqrt: func() expr.Ref { return c.FSqrt(e, x) }, expr.FFromI: func() expr.Ref { return c.FFromI(e, x, out) },
					expr.FToI: func() expr.Ref { return c.FToI(e, x, out) }, expr.FCvt: func() expr.Ref { return c.FConvert(e, x, 96-w) },
				}[k]()
				in := NewInstance(NewGraph(c))
				for range 6 {
					a := expr.Assignment{randomFloat(r, w), randomFloat(r, w)}
					if err := agree(in, c, f, []expr.Ref{c.Var("x", w), c.Var("y", w)}, a); err != nil {
						t.Fatalf("environment %d, %d bits: %v", e, w, err)
					}
				}
			}
		}
	}
}
