package ir

import (
	"math"
	"testing"

	"symchef/internal/expr"
)

// TestWholeFloats: what is known to be an integer is computed as one, with the values of floats: all of
// them, against constants that are whole, fractions, zeros, infinities and NaNs.
func TestWholeFloats(t *testing.T) {
	const bits = 4
	constants := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 2.5, -7.25, 7, -8, 8, -8.5, 1e9, 1e300, -1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	e := expr.New()
	x, y := e.Var("x", bits), e.Var("y", bits)
	floats := 0
	for _, op := range []Op{FAdd, FSub, FMul, FMin, FMax, FCmp, FComi} {
		row := RowOf(op)
		for mode := range uint64(4) {
			mxcsr := 0x1f80 | mode<<13
			of := func(v expr.Ref) expr.Ref {
				return RowOf(FFromI).Sym(e, e.SExt(v, 64), 0, e.Const(mxcsr, 64), 64, 32, 0)
			}
			check := func(a, b expr.Ref, imm uint64) {
				r := row.Sym(e, a, b, e.Const(mxcsr, 64), 64, 64, imm)
				if e.Kind(r).IsFloat() && e.Kind(r) != expr.FFromI {
					floats++
				}
				for v := range uint64(1) << (2 * bits) {
					asg := expr.Assignment{v & 15, v >> bits}
					want := row.Eval(e.Eval(a, asg), e.Eval(b, asg), mxcsr, 64, 64, imm)
					if got := e.Eval(r, asg); got != want {
						t.Fatalf("%s mode %d imm %d of %#x and %#x: Eval %#x, Sym %#x", row.Name, mode, imm, e.Eval(a, asg), e.Eval(b, asg), want, got)
					}
				}
			}
			for imm := range uint64(16) {
				if imm > 0 && op != FCmp {
					break
				}
				check(of(x), of(y), imm)
				for _, c := range constants {
					check(of(x), e.Const(math.Float64bits(c), 64), imm)
					check(e.Const(math.Float64bits(c), 64), of(y), imm)
				}
			}
		}
	}
	t.Logf("%d results are float operations", floats)
}
