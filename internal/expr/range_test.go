package expr

import "testing"

// TestInRange compares the conditions for ranges of a small width with the ranges, all of them.
func TestInRange(t *testing.T) {
	c := New()
	const w = 4
	x := c.Var("x", w)
	for lo := range uint64(1 << w) {
		for hi := lo; hi < 1<<w; hi++ {
			in := c.inRange(x, lo, hi)
			for v := range uint64(1 << w) {
				want := uint64(0)
				if lo <= v && v <= hi {
					want = 1
				}
				if got := c.Eval(in, Assignment{v}); got != want {
					t.Fatalf("%d in [%d, %d]: %d, want %d", v, lo, hi, got, want)
				}
			}
		}
	}
}

// TestNoMinusZero: with factors of which only this is known: may be negative and zero, zero but not negative, neither.
func TestNoMinusZero(t *testing.T) {
	c := New()
	x, y := c.Var("x", 8), c.Var("y", 8)
	shapes := func(v Ref) [3]Ref {
		return [3]Ref{v, c.ZExt(c.Extract(v, 0, 7), 8), c.Or(c.ZExt(c.Extract(v, 0, 7), 8), c.Const(1, 8))}
	}
	values := [3]func(v int) int{func(v int) int { return v }, func(v int) int { return v & 127 }, func(v int) int { return v&127 | 1 }}
	for i, a := range shapes(x) {
		for j, b := range shapes(y) {
			want := true
			for v := -128; v < 128; v++ {
				for w := -128; w < 128; w++ {
					p, q := values[i](v), values[j](w)
					want = want && !(p == 0 && q < 0 || q == 0 && p < 0)
				}
			}
			if got := c.noMinusZero(a, b); got != want {
				t.Errorf("shapes %d and %d: %v", i, j, got)
			}
		}
	}
}
