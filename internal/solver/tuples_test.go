package solver

import (
	"slices"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

// digits returns k decimal digits, their conditions, and the number that they write.
func digits(e *expr.Ctx, name string, k int) (conj []expr.Ref, number expr.Ref) {
	number = e.Const(0, 32)
	for i := range k {
		d := e.Var(name+string(rune('0'+i)), 8)
		conj = append(conj, e.Ule(e.Const('0', 8), d), e.Ule(d, e.Const('9', 8)))
		number = e.Add(e.Mul(number, e.Const(10, 32)), e.ZExt(e.Sub(d, e.Const('0', 8)), 32))
	}
	return conj, number
}

// TestTuples: arithmetic on numbers that digits write is answered as trying all numbers answers it.
func TestTuples(t *testing.T) {
	r := seed.Rand(t)
	answered := map[Result]int{}
rounds:
	for round := range 200 {
		e := expr.New()
		s := New(e, Options{ValidateAll: true})
		conj, x := digits(e, "x", 1+r.IntN(3))
		more, y := digits(e, "y", 1+r.IntN(2))
		conj = append(conj, more...)
		a, b, c := r.Uint64N(40)+2, r.Uint64N(90)+2, r.Uint64N(2000)+1
		k := func(v uint64) expr.Ref { return e.Const(v, 32) }
		conj = append(conj,
			e.Eq(e.URem(e.Mul(x, x), k(a)), k(c%a)),
			e.Eq(e.URem(e.Add(x, e.Mul(y, k(3))), k(b)), k(c%b)),
			e.Ult(e.Mul(x, y), k(c)))
		nx, ny := uint64(1), uint64(1)
		for v := range expr.VarID(e.NumVars()) {
			if e.VarName(v)[0] == 'x' {
				nx *= 10
			} else {
				ny *= 10
			}
		}
		want := Unsat
		for i := range nx {
			for j := range ny {
				if i*i%a == c%a && (i+3*j)%b == c%b && i*j < c {
					want = Sat
				}
			}
		}
		req := &request{fresh: len(conj)}
		for _, q := range conj { // the chain folds constants before
			if k, isConst := e.IsConst(q); !isConst {
				req.conj = append(req.conj, q)
			} else if k == 0 {
				continue rounds
			}
		}
		for v := range expr.VarID(e.NumVars()) {
			req.vars = append(req.vars, v)
		}
		got := s.dom.tuples(req)
		if got != want {
			t.Fatalf("round %d: %v, want %v", round, got, want)
		}
		if got == Sat {
			for _, q := range conj {
				if e.Eval(q, req.model) != 1 {
					t.Fatalf("round %d: the model %v is wrong", round, req.model)
				}
			}
		}
		answered[got]++
	}
	if answered[Sat] < 20 || answered[Unsat] < 20 {
		t.Errorf("a one-sided sample: %v", answered)
	}
}

// TestTuplesGivesUp where values are many, or some variable's are not known.
func TestTuplesGivesUp(t *testing.T) {
	e := expr.New()
	s := New(e, Options{})
	conj, x := digits(e, "x", 9)
	conj = append(conj, e.Eq(e.Mul(x, x), e.Const(1<<31+1, 32)))
	req := &request{conj: conj}
	for v := range expr.VarID(e.NumVars()) {
		req.vars = append(req.vars, v)
	}
	if res := s.dom.fewTuples(req); res != Unknown {
		t.Errorf("nine digits before circuits: %v", res)
	}
	if res := s.dom.tuples(req); res != Unknown {
		t.Errorf("nine digits: %v", res)
	}
	wide := e.Var("wide", 32)
	req = &request{conj: []expr.Ref{e.Eq(e.Mul(wide, wide), e.Const(17, 32))}, vars: []expr.VarID{e.VarOf(wide)}}
	if res := s.dom.tuples(req); res != Unknown {
		t.Errorf("a wide variable: %v", res)
	}
}

// TestHardFirst: division of what digits write is tried on values before circuits are asked, from the hint on.
func TestHardFirst(t *testing.T) {
	e := expr.New()
	conj, x := digits(e, "x", 3)
	hint := expr.Assignment{'5', '0', '0'}
	ask := func(s *Chain, remainder uint64) (Result, expr.Assignment) {
		q := append(slices.Clip(conj), e.Eq(e.URem(x, e.Const(7, 32)), e.Const(remainder, 32)), e.Eq(e.URem(e.Mul(x, x), e.Const(13, 32)), e.Const(1, 32)))
		return s.Check(Query{Conjuncts: q, Hint: hint, New: 2})
	}
	s, circuits := New(e, Options{ValidateAll: true}), New(e, Options{ValidateAll: true, Without: map[string]bool{"tuples": true}})
	for remainder := range uint64(9) {
		res, _ := ask(s, remainder)
		if want, _ := ask(circuits, remainder); res != want {
			t.Errorf("remainder %d: %v, by circuits %v", remainder, res, want)
		}
	}
	if st := s.Stats(); st.Tuples == 0 || st.Backend+st.Fresh != 0 {
		t.Errorf("%d of %d by values, %d by circuits", st.Tuples, st.Asked, st.Backend+st.Fresh)
	}
	if st := circuits.Stats(); st.Tuples != 0 || st.Backend == 0 {
		t.Errorf("without values: %d by values, %d by circuits", st.Tuples, st.Backend)
	}
	req := &request{conj: append(slices.Clip(conj), e.Eq(e.URem(x, e.Const(7, 32)), e.Const(4, 32))), hint: hint}
	for v := range expr.VarID(e.NumVars()) {
		req.vars = append(req.vars, v)
	}
	if res := s.dom.fewTuples(req); res != Sat { // 500 mod 7 is 3
		t.Fatal(res)
	}
	if s.dom.hard([]expr.Ref{e.Eq(e.Mul(x, x), e.Add(x, e.Const(30, 32)))}) {
		t.Error("a product is as easy for circuits")
	}
	changed := 0
	for v := range hint {
		if req.model[v] != hint[v] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d digits differ from the hint: %v", changed, req.model)
	}
}

// TestFewTuples: before circuits are asked, neither many tuples are tried nor many nodes computed, and then they are.
func TestFewTuples(t *testing.T) {
	for _, c := range []struct {
		digits  int
		squared bool // of the number, else of its first two digits
		few     Result
	}{{8, false, Unknown}, {7, true, Unknown}, {5, true, Unsat}} {
		e := expr.New()
		s := New(e, Options{})
		conj, x := digits(e, "x", c.digits)
		number := x
		if !c.squared {
			_, number = digits(e, "x", 2)
		}
		conj = append(conj,
			e.Eq(e.URem(e.Mul(number, number), e.Const(40, 32)), e.Const(5, 32)), // no square is 5 modulo 8
			e.Not(e.Eq(e.URem(x, e.Const(11, 32)), e.Const(5, 32))))
		req := &request{conj: conj, hint: make(expr.Assignment, c.digits)}
		for v := range expr.VarID(e.NumVars()) {
			req.vars = append(req.vars, v)
		}
		if res := s.dom.fewTuples(req); res != c.few {
			t.Errorf("%+v: few: %v", c, res)
		}
		if res := s.dom.tuples(req); res != Unsat {
			t.Errorf("%+v: all: %v", c, res)
		}
	}
}

// TestWorkOfTuples: values that are tried together are too many where they would be one after another.
func TestWorkOfTuples(t *testing.T) {
	e := expr.New()
	s := New(e, Options{})
	a, b := e.Var("a", 8), e.Var("b", 8)
	few := e.Ult(a, e.Const(3, 8))
	never := e.Eq(e.UDiv(b, e.Add(a, e.Const(2, 8))), e.Sub(e.Const(255, 8), a)) // no such quotient is so large
	vars := []expr.VarID{e.VarOf(a), e.VarOf(b)}
	try := func(work int) Result {
		return s.dom.enumerate(&request{conj: []expr.Ref{few, never}, vars: vars}, nil, work, 1e9)
	}
	p := e.NewPlan(vars, []expr.Ref{never}) // one after another: of few values first, as enumerate orders them
	before := 0                             // work before the last one
	for x := range uint64(3) {
		p.Set(0, x)
		for y := range uint64(256) {
			before = p.Work()
			if p.Set(1, y) {
				t.Fatalf("%d, %d", x, y)
			}
		}
	}
	for work, want := range map[int]Result{0: Unknown, 64: Unknown, before - 200: Unknown, before - 1: Unknown, before: Unsat, 2 * before: Unsat} {
		if got := try(work); got != want {
			t.Errorf("with %d of %d: %v, want %v", work, before, got, want)
		}
	}
}
