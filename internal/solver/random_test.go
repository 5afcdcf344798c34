package solver

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

// generator makes random expressions over a few small variables.
type generator struct {
	*rand.Rand
	c    *expr.Ctx
	vars []expr.Ref
	bits uint // of all variables
}

func newGenerator(seed int64, maxBits uint) *generator {
	g := &generator{Rand: rand.New(rand.NewSource(seed)), c: expr.New()}
	for i := 0; g.bits < maxBits && i < 4; i++ {
		w := 1 + uint(g.Intn(int(min(maxBits-g.bits, 5))))
		g.vars = append(g.vars, g.c.Var(fmt.Sprintf("v%d", i), w))
		g.bits += w
	}
	return g
}

// fit returns e made w bits wide.
func (g *generator) fit(e expr.Ref, w uint) expr.Ref {
	switch have := g.c.Width(e); {
	case have > w:
		return g.c.Extract(e, uint(g.Intn(int(have-w+1))), w)
	case have < w && g.Intn(2) == 0:
		return g.c.SExt(e, w)
	case have < w:
		return g.c.ZExt(e, w)
	}
	return e
}

func (g *generator) word(w uint, depth int) expr.Ref {
	c := g.c
	if depth == 0 {
		if g.Intn(4) == 0 {
			return c.Const(g.Uint64(), w)
		}
		return g.fit(g.vars[g.Intn(len(g.vars))], w)
	}
	sub := func() expr.Ref { return g.word(w, depth-1-g.Intn(depth)) }
	switch g.Intn(22) {
	case 0:
		return c.Not(sub())
	case 1:
		return c.Neg(sub())
	case 2:
		return c.And(sub(), sub())
	case 3:
		return c.Or(sub(), sub())
	case 4:
		return c.Xor(sub(), sub())
	case 5, 6:
		return c.Add(sub(), sub())
	case 7:
		return c.Mul(sub(), sub())
	case 8:
		return c.MulHU(sub(), sub())
	case 9:
		return c.MulHS(sub(), sub())
	case 10:
		return c.UDiv(sub(), sub())
	case 11:
		return c.URem(sub(), sub())
	case 12:
		return c.SDiv(sub(), sub())
	case 13:
		return c.SRem(sub(), sub())
	case 14:
		return c.Shl(sub(), sub())
	case 15:
		return c.LShr(sub(), sub())
	case 16:
		return c.AShr(sub(), sub())
	case 17:
		return c.Ite(g.bit(depth-1), sub(), sub())
	case 18:
		if w > 1 {
			k := 1 + uint(g.Intn(int(w-1)))
			return c.Concat(g.word(w-k, depth-1), g.word(k, depth-1))
		}
		return sub()
	case 19:
		t := make([]uint64, 1+g.Intn(9))
		for i := range t {
			t[i] = g.Uint64() & expr.Mask(w)
		}
		return c.Select(t, g.word(1+uint(g.Intn(5)), depth-1), w)
	default:
		return g.fit(g.word(1+uint(g.Intn(12)), depth-1), w)
	}
}

func (g *generator) bit(depth int) expr.Ref {
	w := 1 + uint(g.Intn(9))
	d := max(0, depth)
	x, y := g.word(w, d), g.word(w, d)
	var e expr.Ref
	switch g.Intn(4) {
	case 0:
		e = g.c.Ult(x, y)
	case 1:
		e = g.c.Slt(x, y)
	default:
		e = g.c.Eq(x, y)
	}
	if g.Intn(2) == 0 {
		e = g.c.Not(e)
	}
	return e
}

// eachSeed calls f with n seeds from the test's own on.
func eachSeed(t *testing.T, n int64, f func(seed int64)) {
	t.Helper()
	start := int64(seed.Of(t))
	for i := range n {
		f(start + i)
	}
}

// each calls f with every assignment until it returns false.
func (g *generator) each(f func(expr.Assignment) bool) {
	a := make(expr.Assignment, len(g.vars))
	for v := range uint64(1) << g.bits {
		x := v
		for i, r := range g.vars {
			w := g.c.Width(r)
			a[i] = x & expr.Mask(w)
			x >>= w
		}
		if !f(a) {
			return
		}
	}
}

func holds(c *expr.Ctx, conj []expr.Ref, a expr.Assignment) bool {
	c.NewEval()
	for _, e := range conj {
		if c.EvalMemo(e, a) != 1 {
			return false
		}
	}
	return true
}

func (g *generator) brute(conj []expr.Ref) Result {
	res := Unsat
	g.each(func(a expr.Assignment) bool {
		if holds(g.c, conj, a) {
			res = Sat
		}
		return res == Unsat
	})
	return res
}

// chains are the configurations every random query is put to.
var chains = map[string]Options{
	"default":    {ValidateAll: true},
	"smallreset": {ValidateAll: true, ResetVars: 10, CacheEntries: 5},
	"backend":    {ValidateAll: true, Without: map[string]bool{"models": true, "cache": true, "domain": true}},
	"unsliced":   {ValidateAll: true, Without: map[string]bool{"slice": true, "models": true, "cache": true, "domain": true}},
	"fresh":      {ValidateAll: true, Without: map[string]bool{"models": true, "cache": true, "domain": true, "incremental": true}},
	"adversary":  {ValidateAll: true, ModelSeed: 7},
}

// TestRandomPaths follows random paths as exploration does: a growing
// condition, the negation of each branch asked. All configurations must agree
// with brute force.
func TestRandomPaths(t *testing.T) {
	for name, o := range chains {
		t.Run(name, func(t *testing.T) {
			for seed := int64(1); seed <= 120; seed++ {
				g := newGenerator(seed, 11)
				s := New(g.c, o)
				var path []expr.Ref
				m := expr.Assignment{}
				for step := range 12 {
					b := g.bit(1 + g.Intn(4))
					if g.c.Eval(b, m) == 0 {
						b = g.c.Not(b)
					}
					asked := append(append([]expr.Ref{}, path...), g.c.Not(b))
					q := Query{Conjuncts: asked, Hint: m, New: 1}
					if g.Intn(5) == 0 {
						q.Hint = nil
					}
					res, other := s.Check(q)
					if want := g.brute(asked); res != want {
						min := shrink(asked, func(conj []expr.Ref) bool {
							r, _ := New(g.c, o).Check(Query{Conjuncts: conj})
							return r != g.brute(conj)
						})
						t.Fatalf("seed %d step %d: %v, want %v; shrunk to\n%s", seed, step, res, want, dumpAll(g.c, min))
					}
					if res == Sat && g.Intn(3) == 0 {
						path, m = asked, other
					} else {
						path = append(path, b)
					}
				}
			}
		})
	}
}

// shrink drops conjuncts while fails still holds.
func shrink(conj []expr.Ref, fails func([]expr.Ref) bool) []expr.Ref {
	for i := 0; i < len(conj); {
		less := append(append([]expr.Ref{}, conj[:i]...), conj[i+1:]...)
		if fails(less) {
			conj = less
		} else {
			i++
		}
	}
	return conj
}

// TestBoundsAndValues compares the optimisers with enumeration.
func TestBoundsAndValues(t *testing.T) {
	for seed := int64(1); seed <= 150; seed++ {
		g := newGenerator(seed, 9)
		s := New(g.c, Options{ValidateAll: true})
		var conj []expr.Ref
		for range g.Intn(3) {
			conj = append(conj, g.bit(2))
		}
		v := g.word(1+uint(g.Intn(64)), 3)
		seen := map[uint64]bool{}
		lo, hi := ^uint64(0), uint64(0)
		var hint expr.Assignment // nil: nothing holds
		g.each(func(a expr.Assignment) bool {
			if holds(g.c, conj, a) {
				x := g.c.Eval(v, a)
				seen[x] = true
				lo, hi = min(lo, x), max(hi, x)
				hint = slices.Clone(a)
			}
			return true
		})
		if hint != nil {
			zeros := expr.Assignment{0} // which satisfy none of conj, as far as is promised
			for _, q := range []Query{{Conjuncts: conj, Hint: hint}, {Conjuncts: conj, Hint: zeros, New: len(conj)}} {
				if l, h, res := s.Bounds(q, v); res != Sat || l != lo || h != hi {
					t.Fatalf("seed %d: with a hint, %d new: bounds %#x..%#x %v, want %#x..%#x", seed, q.New, l, h, res, lo, hi)
				}
			}
		}
		q := Query{Conjuncts: conj}
		l, h, res := s.Bounds(q, v)
		if len(seen) == 0 {
			if res != Unsat {
				t.Fatalf("seed %d: %v, want unsat", seed, res)
			}
			continue
		}
		if res != Sat || l != lo || h != hi {
			t.Fatalf("seed %d: bounds %#x..%#x %v, want %#x..%#x", seed, l, h, res, lo, hi)
		}
		limit := 1 + g.Intn(12)
		vals, complete, res := s.Values(q, v, limit)
		if res != Sat || complete != (len(seen) <= limit) || len(vals) != min(limit, len(seen)) {
			t.Fatalf("seed %d: %d values of %d, limit %d, complete %v, %v", seed, len(vals), len(seen), limit, complete, res)
		}
		for i, x := range vals {
			smaller := 0
			for y := range seen {
				if y < x {
					smaller++
				}
			}
			if !seen[x] || smaller != i {
				t.Fatalf("seed %d: value %d is %#x, %d are smaller", seed, i, x, smaller)
			}
		}
	}
}
