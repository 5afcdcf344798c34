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
