package solver

import (
	"fmt"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

// Requests about one variable of few values get the answers and the bounds that
// trying each value gives, and no back end sees them.
func TestDomain(t *testing.T) {
	rng := seed.Rand(t)
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
		if w <= 12 {
			lo, n = 0, 1<<w
		}
		k := func() expr.Ref { return e.Const(rng.Uint64()>>rng.IntN(64), w) }
		value := e.Xor(e.Mul(v, k()), k())
		more := []expr.Ref{e.Eq(other, e.Const(7, 8))}
		for range rng.IntN(4) {
			x := e.And(e.Add(e.Mul(v, v), k()), k())
			more = append(more, e.Not(e.Eq(x, e.And(k(), k()))), e.Ult(x, e.Or(k(), k())))
		}
		for range 3 { // of other values each, but for the first variables
			var conj []expr.Ref
			if w > 12 {
				at := func(k int64) expr.Ref { return e.Const(uint64(k), w) }
				conj = append(conj, e.Sle(at(lo), v), e.Slt(v, at(lo+n)))
			}
			conj = append(conj, more...)
			want, least, most := Unsat, ^uint64(0), uint64(0)
			var hint expr.Assignment
			for i := range n {
				m := expr.Assignment{7, uint64(lo+i) & expr.Mask(w)}
				ok := true
				for _, r := range conj {
					ok = ok && e.Eval(r, m) == 1
				}
				if ok {
					x := e.Eval(value, m)
					want, least, most, hint = Sat, min(least, x), max(most, x), m
				}
			}
			what := fmt.Sprintf("round %d, width %d, [%d, %d)", round, w, lo, lo+n)
			res, _ := s.Check(Query{Conjuncts: conj})
			if res != want {
				t.Fatalf("%s: %v, not %v", what, res, want)
			}
			for _, q := range []Query{{Conjuncts: conj}, {Conjuncts: conj, Hint: hint}} {
				a, b, res := s.Bounds(q, value)
				if res != want || res == Sat && (a != least || b != most) {
					t.Fatalf("%s: bounds %d %d %v, not %d %d %v", what, a, b, res, least, most, want)
				}
			}
			if w > 12 && n > 1 {
				lo += rng.Int64N(2)
				n -= rng.Int64N(2)
			}
		}
		// The other variable is a request of its own; one slice is asked at a time.
		if s.Stats().Backend > 2 {
			t.Errorf("round %d, width %d: %+v", round, w, s.Stats())
		}
	}
}

// What is kept of an expression is for the frame that was asked for last, and too much is forgotten whole.
func TestKept(t *testing.T) {
	var k kept[[]uint64]
	a, b := frame{0, 4}, frame{1, 4}
	k.keep(7, a, []uint64{1, 2, 3, 4}, 10)
	k.keep(12, b, []uint64{5, 6, 7, 8}, 20)
	k.limit()
	if w := k.of(7, a); len(w) != 4 || w[0] != 1 || k.of(7, b) != nil || k.of(8, a) != nil || k.of(1000, a) != nil {
		t.Errorf("kept %v", k)
	}
	k.keep(7, b, []uint64{9, 9, 9, 9}, 20)
	if w := k.of(7, b); len(w) != 4 || w[0] != 9 || k.of(7, a) != nil {
		t.Errorf("kept %v", k)
	}
	k.keep(3, a, make([]uint64, domainWords), 20)
	k.limit()
	if k.of(7, b) != nil || k.of(12, b) != nil || k.of(3, a) != nil || k.words != 0 {
		t.Errorf("still kept: %v", k)
	}
	k.keep(12, a, []uint64{1}, 20)
	if w := k.of(12, a); len(w) != 1 || k.of(7, b) != nil {
		t.Errorf("kept %v", k)
	}
}
