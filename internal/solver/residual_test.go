package solver

import (
	"math/rand/v2"
	"slices"
	"testing"

	"symchef/internal/expr"
)

// What is left of conjuncts says together what they said; each claim follows from the conjuncts it was made of; the order
// of the conjuncts does not matter.
func TestResidual(t *testing.T) {
	start := rand.Int64()
	t.Logf("seed %#x", start)
	var smaller, wrong, long int
	for seed := start; seed < start+2000; seed++ {
		g := newGenerator(seed, 10)
		conj := related(g)
		conj = slices.DeleteFunc(conj, func(e expr.Ref) bool { _, isConst := g.c.IsConst(e); return isConst })
		s := New(g.c, Options{})
		reduce := func(conj []expr.Ref) (*residual, *request, Result) {
			left := &residual{chain: s}
			left.begin(conj)
			r := &request{conj: conj}
			return left, r, left.reduce(r)
		}
		left, r, res := reduce(conj)
		fails := ""
		check := func(left *residual, r *request, res Result, a expr.Assignment) string {
			all := holds(g.c, r.conj, a)
			if res == Unsat {
				if holds(g.c, r.core, a) {
					return "the core is no contradiction"
				}
				return ""
			}
			together := true
			for _, cl := range left.claims {
				is := holds(g.c, []expr.Ref{cl.e}, a)
				together = together && is
				if !is && holds(g.c, cl.from.of(r.conj), a) {
					return "a claim does not follow from what it was made of"
				}
			}
			if all != together {
				return "something else is left"
			}
			return ""
		}
		fail := func(conj []expr.Ref) string {
			left, r, res := reduce(conj)
			why := ""
			g.each(func(a expr.Assignment) bool { why = check(left, r, res, a); return why == "" })
			return why
		}
		if fails = fail(conj); fails != "" {
			conj = shrink(conj, func(conj []expr.Ref) bool { return fail(conj) != "" })
			t.Fatalf("seed %#x: %s; shrunk to\n%s", seed, fails, dumpAll(g.c, conj))
		}
		if res == Unsat {
			wrong++
			if len(r.core) < len(conj) {
				long++
			}
			continue
		}
		if len(left.claims) < len(conj) {
			smaller++
		}
		mixed := slices.Clone(conj)
		g.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		again, _, _ := reduce(mixed)
		set := func(l []claim) (set []expr.Ref) {
			for _, cl := range l {
				set = append(set, cl.e)
			}
			slices.Sort(set)
			return set
		}
		if !slices.Equal(set(left.claims), set(again.claims)) {
			t.Fatalf("seed %#x: in another order something else is left of\n%s", seed, dumpAll(g.c, conj))
		}
	}
	t.Logf("%d sets became smaller, %d contradictions, %d of less than all", smaller, wrong, long)
	if smaller < 200 || wrong < 100 || long < 50 {
		t.Error("hardly anything is simplified")
	}
}

// related returns conjuncts that speak of the same expressions: comparisons of them with constants, and what is made of these.
func related(g *generator) (conj []expr.Ref) {
	c := g.c
	words := []expr.Ref{g.word(5, 1), g.word(5, 1), g.word(5, 2)}
	word := func() expr.Ref { return words[g.Intn(len(words))] }
	bits := []expr.Ref{g.bit(1)}
	bit := func() expr.Ref { return bits[g.Intn(len(bits))] }
	for range 8 {
		switch g.Intn(4) {
		case 0:
			bits = append(bits, c.Eq(word(), c.Const(g.Uint64(), 5)))
		case 1:
			bits = append(bits, c.Ult(word(), word()))
		case 2:
			bits = append(bits, c.Xor(bit(), bit()))
		}
		words = append(words, c.Ite(bit(), word(), c.Add(word(), word())))
	}
	a := make(expr.Assignment, len(g.vars))
	for i := range a {
		a[i] = g.Uint64() & expr.Mask(c.Width(g.vars[i]))
	}
	for range 2 + g.Intn(6) {
		var e expr.Ref
		if g.Intn(2) == 0 {
			w := word()
			e = c.Eq(w, c.Const(c.Eval(w, a), 5))
		} else {
			e = bit()
		}
		if c.Eval(e, a) == 0 && g.Intn(6) != 0 { // most hold together
			e = c.Not(e)
		}
		conj = append(conj, e)
	}
	return conj
}

// Arithmetic that cases guard is none where the case is known.
func TestResidualDecides(t *testing.T) {
	c := expr.New()
	s := New(c, Options{})
	x, y := c.Var("x", 64), c.Var("y", 64)
	small := c.Ult(x, c.Const(1<<30, 64))
	digits := c.Ite(small, c.Const(1, 64), c.Ite(c.Ult(x, c.Const(1<<60, 64)), c.Const(2, 64), c.Const(3, 64)))
	value := c.Ite(c.Eq(digits, c.Const(1, 64)), y, c.Mul(c.Mul(x, y), c.Mul(x, x)))
	conj := []expr.Ref{c.Eq(digits, c.Const(1, 64)), small, c.Eq(c.Add(value, digits), c.Const(8, 64))}
	res, m := s.Check(Query{Conjuncts: conj})
	if res != Sat || m.Get(1) != 7 || m.Get(0) >= 1<<30 {
		t.Errorf("%v, %v", res, m)
	}
	if res, _ := s.Check(Query{Conjuncts: append(conj, c.Ult(y, c.Const(7, 64)))}); res != Unsat {
		t.Errorf("%v, not unsat", res)
	}
	product := c.Mul(x, y)
	if res, _ := s.Check(Query{Conjuncts: []expr.Ref{c.Eq(product, c.Const(5, 64)), c.Eq(product, c.Const(6, 64))}}); res != Unsat {
		t.Errorf("two values at once: %v", res)
	}
	if n := s.Stats(); n.Residual != 2 || n.Conflicts != 0 {
		t.Errorf("%d queries by what is left, %d conflicts", n.Residual, n.Conflicts)
	}
}

// Bounds under other conjuncts, as many as before, are others.
func TestResidualAnew(t *testing.T) {
	c := expr.New()
	s := New(c, Options{})
	x, y := c.Var("x", 64), c.Var("y", 64)
	for i := range uint64(5) {
		conj := []expr.Ref{c.Eq(c.Add(x, y), c.Const(5, 64)), c.Eq(x, c.Const(i, 64))}
		if lo, hi, res := s.Bounds(Query{Conjuncts: conj}, y); lo != 5-i || hi != 5-i || res != Sat {
			t.Errorf("x is %d: y from %d to %d, %v", i, lo, hi, res)
		}
	}
}
