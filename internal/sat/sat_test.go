package sat

import (
	"fmt"
	"math/rand"
	"testing"
)

type cnf [][]Lit

func (f cnf) load() (*Solver, []Var) {
	s := New()
	return s, f.into(s)
}

func (f cnf) into(s *Solver) []Var {
	for _, c := range f {
		for _, l := range c {
			for int(l.Var()) >= s.NumVars() {
				s.NewVar()
			}
		}
		s.AddClause(c...)
	}
	cone := make([]Var, s.NumVars())
	for i := range cone {
		cone[i] = Var(i)
	}
	return cone
}

func (f cnf) holds(val func(Lit) bool) bool {
	for _, c := range f {
		ok := false
		for _, l := range c {
			ok = ok || val(l)
		}
		if !ok {
			return false
		}
	}
	return true
}

// brute decides f over n variables by trying all assignments.
func (f cnf) brute(n int) bool {
	for m := 0; m < 1<<n; m++ {
		if f.holds(func(l Lit) bool { return m>>l.Var()&1 == int(l&1^1) }) {
			return true
		}
	}
	return false
}

func randomCNF(r *rand.Rand, n, m, k int) cnf {
	f := make(cnf, m)
	for i := range f {
		for range k {
			f[i] = append(f[i], Lit(r.Intn(2*n)))
		}
	}
	return f
}

func check(f cnf, n int) error {
	s, cone := f.load()
	want := Unsat
	if f.brute(n) {
		want = Sat
	}
	got := s.Solve(nil, cone, 1<<40)
	if got != want {
		return fmt.Errorf("%v, want %v", got, want)
	}
	if got == Sat && !f.holds(func(l Lit) bool { return s.Value(l) > 0 }) {
		return fmt.Errorf("the model is wrong")
	}
	return nil
}

func TestRandomAgainstBruteForce(t *testing.T) {
	for seed := int64(1); seed <= 1500; seed++ {
		r := rand.New(rand.NewSource(seed))
		n := 3 + r.Intn(9)
		f := randomCNF(r, n, int(float64(n)*(2+4*r.Float64())), 1+r.Intn(4))
		if err := check(f, n); err != nil {
			for i := 0; i < len(f); { // shrink
				g := append(append(cnf{}, f[:i]...), f[i+1:]...)
				if check(g, n) != nil {
					f = g
				} else {
					i++
				}
			}
			t.Fatalf("seed %d: %v; shrunk: %v", seed, err, f)
		}
	}
}

func pigeonhole(holes int) cnf {
	var f cnf
	in := func(p, h int) Var { return Var(p*holes + h) }
	for p := 0; p <= holes; p++ {
		var c []Lit
		for h := 0; h < holes; h++ {
			c = append(c, in(p, h).Pos())
			for q := 0; q < p; q++ {
				f = append(f, []Lit{in(p, h).Neg(), in(q, h).Neg()})
			}
		}
		f = append(f, c)
	}
	return f
}

func TestPigeonhole(t *testing.T) {
	for holes := 1; holes <= 8; holes++ {
		s, cone := pigeonhole(holes).load()
		if got := s.Solve(nil, cone, 1<<40); got != Unsat {
			t.Errorf("%d holes: %v", holes, got)
		}
	}
}

// TestReduction makes the learned clauses overflow many times.
func TestReduction(t *testing.T) {
	for seed := int64(1); seed <= 4; seed++ {
		f := randomCNF(rand.New(rand.NewSource(seed)), 180, 770, 3)
		a, cone := f.load()
		b, _ := f.load()
		b.reduceAt = 20
		x, y := a.Solve(nil, cone, 1<<40), b.Solve(nil, cone, 1<<40)
		if x != y {
			t.Errorf("seed %d: %v without reductions, %v with", seed, x, y)
		}
		if y == Sat && !f.holds(func(l Lit) bool { return b.Value(l) > 0 }) {
			t.Errorf("seed %d: wrong model", seed)
		}
		if b.Stats.Conflicts > 2000 && b.Stats.Reductions == 0 {
			t.Errorf("seed %d: no reduction in %d conflicts", seed, b.Stats.Conflicts)
		}
	}
}

// TestIncremental grows formulas between calls under changing assumptions and
// compares each answer with a fresh solver's.
func TestIncremental(t *testing.T) {
	for seed := int64(1); seed <= 300; seed++ {
		r := rand.New(rand.NewSource(seed))
		n := 8 + r.Intn(25)
		s := New()
		var f cnf
		var as []Lit
		for step := range 25 {
			g := randomCNF(r, n, r.Intn(n/2), 2+r.Intn(3))
			f = append(f, g...)
			g.into(s)
			for s.NumVars() < n {
				s.NewVar()
			}
			cone := make([]Var, n)
			for i := range cone {
				cone[i] = Var(i)
			}
			as = as[:r.Intn(len(as)+1)]
			for range r.Intn(4) {
				as = append(as, Lit(r.Intn(2*n)))
			}
			if r.Intn(10) == 0 {
				s.RandomPhases(uint64(seed))
			}
			if r.Intn(6) == 0 {
				s.Solve(as, cone, uint64(r.Intn(20)))
			}
			got := s.Solve(as, cone, 1<<40)
			whole := append(cnf{}, f...)
			for _, a := range as {
				whole = append(whole, []Lit{a})
			}
			fs := New()
			for fs.NumVars() < n {
				fs.NewVar()
			}
			whole.into(fs)
			want := fs.Solve(nil, cone, 1<<40)
			if got != want {
				t.Fatalf("seed %d step %d: %v, a fresh solver says %v", seed, step, got, want)
			}
			switch got {
			case Sat:
				if !whole.holds(func(l Lit) bool { return s.Value(l) > 0 }) {
					t.Fatalf("seed %d step %d: wrong model", seed, step)
				}
			case Unsat:
				core := append(cnf{}, f...)
				for _, a := range s.Core() {
					found := false
					for _, b := range as {
						found = found || a == b
					}
					if !found {
						t.Fatalf("seed %d step %d: core has %v, not assumed", seed, step, a)
					}
					core = append(core, []Lit{a})
				}
				cs := New()
				for cs.NumVars() < n {
					cs.NewVar()
				}
				core.into(cs)
				if cs.Solve(nil, cone, 1<<40) != Unsat {
					t.Fatalf("seed %d step %d: the core is satisfiable", seed, step)
				}
			}
		}
	}
}

func TestBudgetAndDeterminism(t *testing.T) {
	f := pigeonhole(9)
	var first Stats
	for i := range 3 {
		s, cone := f.load()
		if got := s.Solve(nil, cone, 20000); got != Unknown {
			t.Fatalf("pigeonhole(9) in 20000 propagations: %v", got)
		}
		if i == 0 {
			first = s.Stats
		} else if s.Stats != first {
			t.Errorf("run %d: %+v, first %+v", i, s.Stats, first)
		}
	}
}

func TestReset(t *testing.T) {
	s, cone := pigeonhole(4).load()
	s.Solve(nil, cone, 1<<40)
	for range 3 {
		s.Reset()
		f := cnf{{0, 2}, {1, 2}, {0, 3}}
		cone := f.into(s)
		if s.Solve([]Lit{0}, cone, 100) != Sat || s.Value(2) != 1 {
			t.Fatal("after Reset")
		}
		if s.Solve([]Lit{3}, cone, 100) != Unsat {
			t.Fatal("after Reset: sat")
		}
	}
}

func BenchmarkRandom3SAT(b *testing.B) {
	var props uint64
	for i := 0; b.Loop(); i++ {
		s, cone := randomCNF(rand.New(rand.NewSource(int64(i%8))), 150, 630, 3).load()
		s.Solve(nil, cone, 1<<40)
		props += s.Stats.Propagations
	}
	b.ReportMetric(float64(props)/b.Elapsed().Seconds()/1e6, "Mprops/s")
}

// A closed Stop ends a search that has budget left; before, the answer comes.
func TestStop(t *testing.T) {
	stop := make(chan struct{})
	solve := func() Result {
		s, cone := pigeonhole(6).load()
		s.Stop = stop
		return s.Solve(nil, cone, 1<<40)
	}
	if got := solve(); got != Unsat {
		t.Errorf("%v before the stop", got)
	}
	if close(stop); solve() != Unknown {
		t.Error("decided after the stop")
	}
}
