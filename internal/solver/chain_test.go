package solver

import (
	"math/rand"
	"os/exec"
	"strings"
	"testing"

	"symchef/internal/expr"
)

// factors asks for a factorisation of n into words of w bits: hard for its size.
func factors(c *expr.Ctx, n uint64, w uint) []expr.Ref {
	x, y := c.ZExt(c.Var("x", w), 2*w), c.ZExt(c.Var("y", w), 2*w)
	one := c.Const(1, 2*w)
	return []expr.Ref{c.Eq(c.Mul(x, y), c.Const(n, 2*w)), c.Ult(one, x), c.Ult(one, y), c.Not(c.Ult(y, x))}
}

const (
	semiprime = 62615533 // 7907 * 7919
	prime     = 62615551
)

// TestUnknownHasNoHistory: whether a query is Unknown depends on it and the
// budget, not on what was asked before, the order of conjuncts, the hint or
// the numbers of the expressions.
func TestUnknownHasNoHistory(t *testing.T) {
	answers := map[uint64]Result{}
	for trial := range 4 {
		c := expr.New()
		r := rand.New(rand.NewSource(int64(trial)))
		for i := range 100 * trial {
			c.Add(c.Var("z", 32), c.Const(uint64(i), 32))
		}
		for _, budget := range []uint64{1000, 20_000, 100_000, 3_000_000} {
			s := New(c, Options{Budget: budget})
			if trial > 0 {
				s.Check(Query{Conjuncts: factors(c, 7*11*13*uint64(trial), 13)})
			}
			conj := factors(c, semiprime, 13)
			r.Shuffle(len(conj), func(i, j int) { conj[i], conj[j] = conj[j], conj[i] })
			q := Query{Conjuncts: conj}
			if trial == 3 {
				q.Hint = expr.Assignment{1, 2, 3}
				q.New = len(conj)
			}
			// Without the incremental instance's luck there is one answer.
			s = New(c, Options{Budget: budget, Without: map[string]bool{"incremental": true}})
			res, _ := s.Check(q)
			if trial == 0 {
				answers[budget] = res
			} else if res != answers[budget] {
				t.Errorf("trial %d budget %d: %v, first %v", trial, budget, res, answers[budget])
			}
		}
	}
	if answers[1000] != Unknown || answers[3_000_000] != Sat {
		t.Errorf("answers %v", answers)
	}
}

// TestFallback hands queries beyond the budget to CaDiCaL.
func TestFallback(t *testing.T) {
	path, err := exec.LookPath("cadical")
	if err != nil {
		t.Skip("skipped: cadical is not installed: the fallback is not tested")
	}
	c := expr.New()
	s := New(c, Options{Budget: 100, Fallback: path})
	res, m := s.Check(Query{Conjuncts: factors(c, semiprime, 13)})
	if res != Sat || m[0]*m[1] != semiprime {
		t.Errorf("%v %v", res, m)
	}
	if res, _ := s.Check(Query{Conjuncts: factors(c, prime, 13)}); res != Unsat {
		t.Errorf("prime: %v", res)
	}
	if st := s.Stats(); st.Fallbacks != 2 {
		t.Errorf("%+v", st)
	}
	s = New(c, Options{Budget: 100, Fallback: path, FallbackConflicts: 1})
	if res, _ := s.Check(Query{Conjuncts: factors(c, prime, 13)}); res != Unknown {
		t.Errorf("one conflict: %v", res)
	}
}

// TestHintIsKept: variables that share nothing with the new conjuncts keep
// their values.
func TestHintIsKept(t *testing.T) {
	c := expr.New()
	a, b, d := c.Var("a", 8), c.Var("b", 8), c.Var("d", 8)
	conj := []expr.Ref{c.Ult(a, c.Const(9, 8)), c.Ult(b, d), c.Eq(b, c.Const(200, 8))}
	s := New(c, Options{ValidateAll: true})
	res, m := s.Check(Query{Conjuncts: conj, Hint: expr.Assignment{5, 3, 77}, New: 1})
	if res != Sat || m[0] != 5 || m[1] != 200 || m[2] <= 200 {
		t.Errorf("%v %v", res, m)
	}
	if res, m := s.Check(Query{Conjuncts: conj[:2], Hint: m}); res != Sat || m[0] != 5 {
		t.Errorf("nothing new: %v %v", res, m)
	}
	if res, _ := s.Check(Query{}); res != Sat {
		t.Errorf("no conjuncts: %v", res)
	}
}

// TestWrongHintPanics: a hint that breaks its promise is noticed.
func TestWrongHintPanics(t *testing.T) {
	defer func() {
		if s, _ := recover().(string); !strings.Contains(s, "violates") {
			t.Errorf("panic %q", s)
		}
	}()
	c := expr.New()
	a := c.Var("a", 8)
	New(c, Options{ValidateAll: true}).Check(Query{Conjuncts: []expr.Ref{c.Eq(a, c.Const(1, 8))}, Hint: expr.Assignment{2}})
}

// TestAdversary: seeds change models, never answers.
func TestAdversary(t *testing.T) {
	c := expr.New()
	a, b := c.Var("a", 32), c.Var("b", 32)
	q := Query{Conjuncts: []expr.Ref{c.Ult(a, b)}, Hint: expr.Assignment{1, 2}, New: 1}
	seen := map[uint64]bool{}
	for seed := uint64(1); seed <= 20; seed++ {
		s := New(c, Options{ModelSeed: seed})
		res, m := s.Check(q)
		if res != Sat || m[0] >= m[1] {
			t.Fatalf("seed %d: %v %v", seed, res, m)
		}
		seen[m[0]<<32|m[1]] = true
	}
	if len(seen) < 15 {
		t.Errorf("%d different models of 20", len(seen))
	}
}

// TestCrossCheck: the oracle is asked, and its contradiction is loud.
func TestCrossCheck(t *testing.T) {
	c := expr.New()
	a := c.Var("a", 8)
	asked := 0
	s := New(c, Options{CrossEvery: 2, CrossCheck: func([]expr.Ref) Result { asked++; return Unknown }})
	for i := range uint64(10) {
		s.Check(Query{Conjuncts: []expr.Ref{c.Ult(a, c.Const(i+1, 8)), c.Ult(c.Const(i+3, 8), a)}})
	}
	if asked != 5 {
		t.Errorf("asked %d times", asked)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	s = New(c, Options{CrossCheck: func([]expr.Ref) Result { return Sat }})
	s.Check(Query{Conjuncts: []expr.Ref{c.Ult(a, c.Const(1, 8)), c.Ult(c.Const(3, 8), a)}})
}

// TestCacheIsBounded asks more different questions than the cache may hold.
func TestCacheIsBounded(t *testing.T) {
	c := expr.New()
	s := New(c, Options{CacheEntries: 10, Without: map[string]bool{"models": true}})
	x := c.Var("x", 32)
	for i := range uint64(100) {
		s.Check(Query{Conjuncts: []expr.Ref{c.Eq(x, c.Const(i, 32))}})
	}
	for range 3 {
		s.Check(Query{Conjuncts: []expr.Ref{c.Eq(x, c.Const(99, 32))}})
	}
	if st := s.Stats(); st.Cached != 3 {
		t.Errorf("%+v", st)
	}
	s.Check(Query{Conjuncts: []expr.Ref{c.Eq(x, c.Const(1, 32))}})
	if st := s.Stats(); st.Cached != 3 {
		t.Errorf("an answer 98 questions old is still known: %+v", st)
	}
}

// lately answers a request with the model that the test has made it for.
type lately struct{ model expr.Assignment }

func (s *lately) check(r *request) Result {
	r.model = s.model
	return Sat
}

// Which recent model answers does not depend on what else the engine has made, and so not on the numbers of expressions: bringing back states
// makes some anew. One condition is so large that few models are
// tried, and there are more than verdicts are remembered of.
func TestRecentModel(t *testing.T) {
	answers := func(others int64) (l []uint64) {
		c := expr.New()
		x := c.Var("x", 16)
		other := rand.New(rand.NewSource(others))
		more := func(n int64) {
			for range n {
				c.Mul(x, c.Const(other.Uint64(), 16))
			}
		}
		large := x
		for i := range uint64(9000) {
			large = c.Xor(c.Mul(large, c.Const(2*i+3, 16)), c.Const(i, 16))
		}
		large = c.Ult(large, c.Const(0xfff0, 16))
		var above, below [16]expr.Ref // of multiples of 4096
		for i := range above {
			above[i] = c.Not(c.Ult(x, c.Const(uint64(i)<<12, 16)))
			below[i] = c.Ult(x, c.Const(uint64(i+1)<<12-1, 16))
		}
		next := &lately{}
		s := &models{chain: New(c, Options{}), next: next}
		r := rand.New(rand.NewSource(1))
		ask := func(v uint64, conj ...expr.Ref) {
			next.model = expr.Assignment{v}
			q := &request{conj: conj, vars: []expr.VarID{c.VarOf(x)}, fresh: 1}
			s.check(q)
			l = append(l, q.model[0])
		}
		for range 600 {
			v := r.Uint64() & 0xffff
			if c.Eval(large, expr.Assignment{v}) == 0 || v&0xfff == 0xfff {
				continue
			}
			i := int(v >> 12)
			ask(v, large, above[r.Intn(i+1)], below[i+r.Intn(16-i)])
			more(others)
			conj := []expr.Ref{large}
			for range 200 {
				conj = append(conj, c.Not(c.Eq(x, c.Const(v^(1+r.Uint64()%0xffff), 16))))
			}
			ask(v, conj...)
		}
		return l
	}
	want := answers(0)
	for others := int64(1); others < 5; others++ {
		for i, got := range answers(others) {
			if got != want[i] {
				t.Fatalf("seed %d: request %d of %d: %d, not %d", others, i, len(want), got, want[i])
			}
		}
	}
}
