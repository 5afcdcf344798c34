package solver

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"symchef/internal/expr"
)

// Requests about one variable of few values get the answers and the bounds that
// trying each value gives, and no back end sees them.
func TestDomain(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 300 {
		e := expr.New()
		s := New(e, Options{ValidateAll: true})
		w := []uint{1, 5, 8, 12, 16, 32, 64}[rng.IntN(7)]
		other := e.Var("other", 8)
		v := e.Var("v", w)
		lo, n := int64(rng.IntN(600)-300), int64(rng.IntN(500)+1)
		if round%8 == 0 {
			lo = 0
		}
		var conj []expr.Ref
		if w > 12 {
			at := func(k int64) expr.Ref { return e.Const(uint64(k), w) }
			conj = append(conj, e.Sle(at(lo), v), e.Slt(v, at(lo+n)))
		} else {
			lo, n = 0, 1<<w
		}
		conj = append(conj, e.Eq(other, e.Const(7, 8)))
		k := func() expr.Ref { return e.Const(rng.Uint64()>>rng.IntN(64), w) }
		value := e.Xor(e.Mul(v, k()), k())
		for range rng.IntN(4) {
			x := e.And(e.Add(e.Mul(v, v), k()), k())
			conj = append(conj, e.Not(e.Eq(x, e.And(k(), k()))), e.Ult(x, e.Or(k(), k())))
		}
		want, least, most := Unsat, ^uint64(0), uint64(0)
		for i := range n {
			m := expr.Assignment{7, uint64(lo+i) & expr.Mask(w)}
			ok := true
			for _, r := range conj {
				ok = ok && e.Eval(r, m) == 1
			}
			if ok {
				x := e.Eval(value, m)
				want, least, most = Sat, min(least, x), max(most, x)
			}
		}
		what := fmt.Sprintf("seed %d, round %d, width %d, [%d, %d)", seed, round, w, lo, lo+n)
		res, _ := s.Check(Query{Conjuncts: conj})
		if res != want {
			t.Fatalf("%s: %v, not %v", what, res, want)
		}
		a, b, res := s.Bounds(Query{Conjuncts: conj}, value)
		if res != want || res == Sat && (a != least || b != most) {
			t.Fatalf("%s: bounds %d %d %v, not %d %d %v", what, a, b, res, least, most, want)
		}
		// The other variable is a request of its own; one slice is asked at a time.
		if s.Stats().Backend > 2 {
			t.Errorf("%s: %+v", what, s.Stats())
		}
	}
}
