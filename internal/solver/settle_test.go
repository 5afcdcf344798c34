package solver

import (
	"slices"
	"testing"

	"symchef/internal/expr"
)

// What a settler says of conjuncts and of values is what all assignments say, by trying each.
func TestSettler(t *testing.T) {
	decided, values := map[Result]int{}, [3]int{}
	eachSeed(t, 3000, func(seed int64) {
		g := newGenerator(seed, 12)
		s := New(g.c, Options{})
		conj := []expr.Ref{}
		for _, v := range g.vars { // most variables may have few of their values
			for range g.Intn(3) {
				if k := g.c.Const(g.Uint64(), g.c.Width(v)); g.Intn(3) == 0 {
					conj = append(conj, g.c.Eq(v, k))
				} else {
					conj = append(conj, g.c.Ult(v, k))
				}
			}
		}
		for range 1 + g.Intn(3) {
			conj = append(conj, g.bit(3))
		}
		conj = slices.DeleteFunc(conj, func(e expr.Ref) bool { _, isConst := g.c.IsConst(e); return isConst })
		value := g.word(8, 3)
		all := slices.Concat(conj, []expr.Ref{value})
		r := request{conj: conj}
		for i, v := range g.vars {
			if slices.ContainsFunc(all, func(e expr.Ref) bool { return slices.Contains(s.supp.vars(e), g.c.VarOf(v)) }) {
				r.vars = append(r.vars, expr.VarID(i))
			}
		}
		feasible, seen := false, map[uint64]bool{}
		g.each(func(a expr.Assignment) bool {
			if holds(g.c, conj, a) {
				feasible = true
				seen[g.c.Eval(value, a)] = true
			}
			return true
		})
		res := s.dom.settler.check(&r)
		decided[res]++
		if res == Sat && (!feasible || !holds(g.c, conj, r.model)) || res == Unsat && feasible {
			t.Fatalf("seed %#x: %v, feasible: %v", seed, res, feasible)
		}
		if res == Unsat {
			core := false
			for _, e := range r.core {
				if !slices.Contains(conj, e) {
					t.Fatalf("seed %#x: the core has what was not asked", seed)
				}
			}
			g.each(func(a expr.Assignment) bool {
				core = holds(g.c, r.core, a)
				return !core
			})
			if core {
				t.Fatalf("seed %#x: the core is no contradiction", seed)
			}
			return
		}
		of := s.dom.settler.values(value)
		if of == nil || !feasible {
			return
		}
		values[min(len(of), 2)]++
		lo, hi := uint64(1)<<8, uint64(0)
		for v := range seen {
			if lo, hi = min(lo, v), max(hi, v); !slices.Contains(of, v) {
				t.Fatalf("seed %#x: the value is said to be among %v, it may be any of %v", seed, of, seen)
			}
		}
		if l, h, res := s.Bounds(Query{Conjuncts: conj}, value); l != lo || h != hi || res != Sat || !slices.IsSorted(of) {
			t.Fatalf("seed %#x: bounds %d and %d, %v, of %v, among %v", seed, l, h, res, seen, of)
		}
	})
	t.Logf("%d sat, %d unsat, %d open; %d values and %d sets of several", decided[Sat], decided[Unsat], decided[Unknown], values[1], values[2])
	if decided[Sat] < 100 || decided[Unsat] < 100 || values[1] < 100 || values[2] < 100 {
		t.Error("hardly anything is settled")
	}
}

// A condition on many bytes, each of which has been compared already, needs no SAT solver.
func TestSettled(t *testing.T) {
	c := expr.New()
	s := New(c, Options{})
	at := c.Const(10, 32)
	var conj []expr.Ref
	for i := range 10 { // where the first newline is
		b := c.Var(string(rune('a'+i)), 8)
		newline := c.Eq(b, c.Const('\n', 8))
		at = c.Ite(newline, c.Const(uint64(i), 32), at)
		if i == 4 {
			conj = append(conj, newline)
		} else {
			conj = append(conj, c.Ult(b, c.Const('\n', 8)))
		}
	}
	line := c.UDiv(c.Mul(at, at), c.Const(3, 32))
	for _, want := range []Result{Sat, Unsat} {
		e := c.Eq(line, c.Const(5, 32))
		if want == Unsat {
			e = c.Not(e)
		}
		if res, _ := s.Check(Query{Conjuncts: append(slices.Clone(conj), e)}); res != want {
			t.Errorf("%v, not %v", res, want)
		}
	}
	if lo, hi, res := s.Bounds(Query{Conjuncts: conj}, line); lo != 5 || hi != 5 || res != Sat {
		t.Errorf("bounds %d and %d, %v", lo, hi, res)
	}
	if n := s.Stats().Asked; n != 0 {
		t.Errorf("the back end saw %d queries", n)
	}
}
