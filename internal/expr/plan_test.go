package expr

import (
	"math/rand/v2"
	"testing"
)

// TestPlan: a plan's values are those of Eval, whichever variable changes.
func TestPlan(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 100 {
		c := New()
		vars := []Ref{c.Var("a", 8), c.Var("b", 8), c.Var("c", 8)}
		pool := append([]Ref{c.Const(r.Uint64N(256), 8), c.Const(3, 8)}, vars...)
		pick := func() Ref { return pool[r.IntN(len(pool))] }
		for range 40 {
			x, y, z := pick(), pick(), pick()
			ops := []func() Ref{
				func() Ref { return c.Add(x, y) }, func() Ref { return c.Mul(x, y) }, func() Ref { return c.Xor(x, y) },
				func() Ref { return c.UDiv(x, y) }, func() Ref { return c.Ite(c.Ult(x, y), y, z) }, func() Ref { return c.Extract(c.Concat(x, y), 3, 8) },
			}
			pool = append(pool, ops[r.IntN(len(ops))]())
		}
		roots := pool[len(pool)-10:]
		order := []VarID{c.VarOf(vars[2]), c.VarOf(vars[0]), c.VarOf(vars[1])}
		p := c.NewPlan(order, roots)
		a := make(Assignment, c.NumVars())
		for i := range order {
			p.Set(i, 0)
		}
		for range 50 {
			for i := r.IntN(3); i < 3; i++ { // what comes behind a change is set again
				a[order[i]] = r.Uint64N(256)
				p.Set(i, a[order[i]])
			}
			for _, q := range roots {
				if got, want := p.Value(q), c.Eval(q, a); got != want {
					t.Fatalf("seed %d, round %d: %d, want %d", seed, round, got, want)
				}
			}
		}
	}
}
