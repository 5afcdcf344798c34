package expr

import (
	"testing"

	"symchef/internal/seed"
)

// TestEntry: what Entry says of an expression that is computed from an entry of a table is its value, for every index; of others it says nothing.
func TestEntry(t *testing.T) {
	r := seed.Rand(t)
	found := 0
	for range 300 {
		c := New()
		i, x := c.Var("i", 5), c.Var("x", 64)
		vals := make([]uint64, 1+r.IntN(40))
		for k := range vals {
			vals[k] = r.Uint64() & Mask(48)
		}
		e := c.Select(vals, i, 64)
		for range r.IntN(5) {
			w := c.Width(e)
			switch r.IntN(7) {
			case 0:
				e = c.Add(e, c.Const(r.Uint64()&Mask(w), w))
			case 1:
				lo := uint(r.IntN(int(w)))
				e = c.Extract(e, lo, 1+uint(r.IntN(int(w-lo))))
			case 2:
				e = c.ZExt(e, 64)
			case 3:
				if w < 60 {
					e = c.Concat(e, c.Const(5, 4))
				}
			case 4:
				if w < 60 {
					e = c.Concat(c.Const(5, 4), e)
				}
			case 5: // as memory joins its bytes
				if w >= 16 && w%8 == 0 {
					joined := c.Extract(e, 0, 8)
					for k := uint(8); k < w; k += 8 {
						joined = c.Concat(c.Extract(e, k, 8), joined)
					}
					e = joined
				}
			case 6:
				if r.IntN(8) == 0 {
					e = c.Add(c.ZExt(e, 64), x)
				}
			}
		}
		index, entry := c.Entry(e)
		if entry == nil {
			continue
		}
		found++
		for v := range uint64(32) {
			a := Assignment{v, r.Uint64()}
			if got, want := entry(c.Eval(index, a)), c.Eval(e, a); got != want {
				t.Fatalf("%s is %#x for index %d, not %#x", c.Text([]Ref{e}), want, v, got)
			}
		}
	}
	if found < 100 {
		t.Errorf("%d of 300 found", found)
	}
}
