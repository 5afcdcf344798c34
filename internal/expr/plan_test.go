package expr

import (
	"slices"
	"testing"

	"symchef/internal/seed"
)

// TestPlan: Set tells what Eval tells of the conditions whose variables are set, and Try what Set tells.
func TestPlan(t *testing.T) {
	r := seed.Rand(t)
	said, tried := map[bool]int{}, map[bool]int{}
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
				func() Ref { return c.Not(x) }, func() Ref { return c.And(x, y) }, func() Ref { return c.Or(x, c.Shl(y, z)) },
				func() Ref { return c.Ite(c.Slt(x, y), z, c.SExt(c.Extract(x, 2, 3), 8)) },
				func() Ref { return c.Add(c.ZExt(c.Ite(c.Eq(x, y), c.Const(1, 1), c.Const(0, 1)), 8), z) },
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
		p, q := c.NewPlan(order, conds), c.NewPlan(order, conds)
		a := make(Assignment, c.NumVars())
		for i := 0; ; {
			a[order[i]] = r.Uint64N(256) & Mask(c.VarWidth(order[i]))
			if i == len(order)-1 { // many at once, then one of them
				values := make([]uint64, 1+r.IntN(Lanes))
				for k := range values {
					values[k] = r.Uint64N(256) & Mask(c.VarWidth(order[i]))
				}
				any, work := p.Try(values)
				first := p.Work()
				held := false
				for k := range values {
					before := [2]int{p.Work(), q.Work()}
					if got, want := p.Tried(k), q.Set(i, values[k]); got != want || p.Work()-before[0] != q.Work()-before[1] {
						t.Fatalf("round %d: value %d of %d: %v with %d evaluations, want %v with %d", round, k, len(values), got, p.Work()-before[0], want, q.Work()-before[1])
					} else {
						tried[got]++
						held = held || got
					}
				}
				if any != held || p.Work()-first != work {
					t.Fatalf("round %d: any of %d: %v with %d evaluations, want %v with %d", round, len(values), any, work, held, p.Work()-first)
				}
			}
			got, want := p.Set(i, a[order[i]]), true
			q.Set(i, a[order[i]])
			for _, k := range conds {
				last := -1
				c.SupportSet(k).Visit(func(v VarID) { last = max(last, slices.Index(order, v)) })
				want = want && (last != i || c.Eval(k, a) == 1)
			}
			if got != want {
				t.Fatalf("round %d: %v after variable %d, want %v", round, got, i, want)
			}
			said[got]++
			if got {
				i++
			}
			if r.IntN(30) == 0 {
				break
			}
			if i == len(order) {
				i = r.IntN(len(order)) // back
			}
		}
	}
	if min(said[true], said[false], tried[true], tried[false]) < 100 {
		t.Errorf("a one-sided sample: %v, %v", said, tried)
	}
}
