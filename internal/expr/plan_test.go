package expr

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPlan: Set tells what Eval tells of the conditions whose variables are set.
func TestPlan(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	said := map[bool]int{}
	for round := range 200 {
		c := New()
		vars := []Ref{c.Var("a", 8), c.Var("b", 8), c.Var("c", 8), c.Var("d", 1)}
		pool := append([]Ref{c.Const(r.Uint64N(256), 8), c.Const(3, 8)}, vars[:3]...)
		pick := func() Ref { return pool[r.IntN(len(pool))] }
		var conds []Ref
		for range 40 {
			x, y, z := pick(), pick(), pick()
			ops := []func() Ref{
				func() Ref { return c.Add(x, y) }, func() Ref { return c.Mul(x, y) }, func() Ref { return c.Xor(x, y) },
				func() Ref { return c.UDiv(x, y) }, func() Ref { return c.Ite(c.Ult(x, y), y, z) }, func() Ref { return c.Extract(c.Concat(x, y), 3, 8) },
			}
			pool = append(pool, ops[r.IntN(len(ops))]())
			if k := c.Ule(pick(), c.Or(pick(), pick())); len(conds) < 6 && r.IntN(5) == 0 {
				if _, isConst := c.IsConst(k); !isConst {
					conds = append(conds, k)
				}
			}
		}
		conds = append(conds, vars[3])
		order := []VarID{c.VarOf(vars[2]), c.VarOf(vars[3]), c.VarOf(vars[0]), c.VarOf(vars[1])}
		p := c.NewPlan(order, conds)
		a := make(Assignment, c.NumVars())
		for i := 0; ; {
			a[order[i]] = r.Uint64N(256) & Mask(c.VarWidth(order[i]))
			got, want := p.Set(i, a[order[i]]), true
			for _, q := range conds {
				last := -1
				c.SupportSet(q).Visit(func(v VarID) { last = max(last, slices.Index(order, v)) })
				want = want && (last != i || c.Eval(q, a) == 1)
			}
			if got != want {
				t.Fatalf("seed %d, round %d: %v after variable %d, want %v", seed, round, got, i, want)
			}
			said[got]++
			if got {
				i++
			}
			if i == len(order) || r.IntN(30) == 0 {
				break
			}
		}
	}
	if said[true] < 100 || said[false] < 100 {
		t.Errorf("seed %d: a one-sided sample: %v", seed, said)
	}
}
