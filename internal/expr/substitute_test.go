package expr

import (
	"testing"

	"symchef/internal/seed"
)

// A substituted expression has the value of the original wherever the known
// values hold, and fixed conditions decide an Ite.
func TestSubstitute(t *testing.T) {
	rng := seed.Rand(t)
	c := New()
	x, y := c.Var("x", 8), c.Var("y", 8)
	neg := c.Slt(x, c.Const(0, 8))
	size := c.Ite(neg, c.Const(255, 8), c.Ite(c.Eq(x, c.Const(0, 8)), c.Const(0, 8), c.Const(1, 8)))
	if got := c.Substitute(size, map[Ref]uint64{neg: 1}, map[Ref]Ref{}); got != c.Const(255, 8) {
		t.Errorf("a known condition leaves %v", c.Kind(got))
	}
	exprs := []Ref{size, c.Add(c.Mul(x, y), size), c.Select([]uint64{3, 1, 4, 1, 5, 9, 2, 6}, c.Extract(y, 2, 3), 8), c.Concat(x, c.Shl(y, c.And(x, c.Const(7, 8)))), c.SExt(c.Sub(x, y), 32)}
	for range 2000 {
		a := Assignment{rng.Uint64N(256), rng.Uint64N(256)}
		known := map[Ref]uint64{}
		for _, r := range []Ref{x, y, neg, c.Extract(y, 2, 3)} {
			if rng.IntN(2) == 0 {
				known[r] = c.Eval(r, a)
			}
		}
		memo := map[Ref]Ref{}
		for _, r := range exprs {
			if got, want := c.Eval(c.Substitute(r, known, memo), a), c.Eval(r, a); got != want {
				t.Fatalf("%d, not %d", got, want)
			}
		}
	}
}
