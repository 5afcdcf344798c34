package solver

import (
	"slices"
	"testing"

	"symchef/internal/expr"
)

// What is left of conjuncts says together what they said; each claim follows from the conjuncts it was made of; the order
// of the conjuncts does not matter.
func TestResidual(t *testing.T) {
	var smaller, wrong, small int
	eachSeed(t, 2000, func(seed int64) {
		g := newGenerator(seed, 10)
		conj := related(g)
		s := New(g.c, Options{})
		if mistake(g, s, conj) != "" {
			conj = shrink(conj, func(conj []expr.Ref) bool { return mistake(g, s, conj) != "" })
			t.Fatalf("seed %#x: %s; shrunk to\n%s", seed, mistake(g, s, conj), dumpAll(g.c, conj))
		}
		left, core := reduced(s, conj)
		if core != nil {
			wrong++
			if len(core) < len(conj) {
				small++
			}
			return
		}
		if len(left) < len(conj) {
			smaller++
		}
		mixed := slices.Clone(conj)
		g.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		again, _ := reduced(s, mixed)
		set := func(l []claim) (set []expr.Ref) {
			for _, cl := range l {
				set = append(set, cl.e)
			}
			slices.Sort(set)
			return set
		}
		if !slices.Equal(set(left), set(again)) {
			t.Fatalf("seed %#x: in another order something else is left of\n%s", seed, dumpAll(g.c, conj))
		}
	})
	t.Logf("%d sets became smaller, %d contradictions, %d of less than all", smaller, wrong, small)
	if smaller < 200 || wrong < 100 || small < 50 {
		t.Error("hardly anything is simplified")
	}
}

// reduced returns what is left of conj, or conjuncts that contradict each other.
func reduced(s *Chain, conj []expr.Ref) (left []claim, core []expr.Ref) {
	r := &request{conj: conj}
	x := &residual{chain: s}
	x.begin(conj)
	if x.reduce(r) == Unsat {
		return nil, r.core
	}
	return x.claims, nil
}

// mistake compares conj with what is left of it under every assignment; "" if there is no difference.
func mistake(g *generator, s *Chain, conj []expr.Ref) (why string) {
	left, core := reduced(s, conj)
	g.each(func(a expr.Assignment) bool {
		if core != nil {
			if holds(g.c, core, a) {
				why = "the core is no contradiction"
			}
			return why == ""
		}
		together := true
		for _, cl := range left {
			if holds(g.c, []expr.Ref{cl.e}, a) {
				continue
			}
			together = false
			if holds(g.c, cl.from.of(conj), a) {
				why = "a claim does not follow from what it was made of"
			}
		}
		if why == "" && together != holds(g.c, conj, a) {
			why = "something else is left"
		}
		return why == ""
	})
	return why
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
		if _, isConst := c.IsConst(e); !isConst {
			conj = append(conj, e)
		}
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
