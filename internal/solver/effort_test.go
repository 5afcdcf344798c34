package solver

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"symchef/internal/expr"
	"symchef/internal/pace"
)

// large is a condition on four words whose circuits have some million gates for every ten rounds.
func large(c *expr.Ctx, rounds int) expr.Ref {
	p, one := c.Const(1, 64), c.Const(1, 64)
	for i := range rounds {
		a, b := c.Var(fmt.Sprint("a", i%4), 64), c.Var(fmt.Sprint("a", (i+1)%4), 64)
		p = c.Add(c.Add(c.Mul(p, a), c.URem(p, c.Or(a, one))), c.UDiv(b, c.Or(p, one)))
	}
	return c.Eq(p, c.Const(12345, 64))
}

// What a query may take ends it wherever it is: its gates while circuits are built, which takes little memory, and the end of the run
// anywhere.
func TestEffort(t *testing.T) {
	c := expr.New()
	s := New(c, Options{MaxGates: 200_000})
	q := Query{Conjuncts: []expr.Ref{large(c, 400)}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if res, _ := s.Check(q); res != Unknown {
		t.Fatal(res)
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 300 {
		t.Errorf("a query of 200,000 gates took %d MiB", n)
	}
	if p := s.Stats().Propagations; p != 0 {
		t.Errorf("%d propagations", p)
	}
}

// A query ends soon after the run does, whatever it is doing then.
func TestStopAnywhere(t *testing.T) {
	for _, rounds := range []int{3, 30, 3000} {
		for _, after := range []time.Duration{0, 20 * time.Millisecond, 200 * time.Millisecond, time.Second} {
			c := expr.New()
			q := Query{Conjuncts: []expr.Ref{large(c, rounds)}}
			stop := make(chan struct{})
			s := New(c, Options{Budget: 1 << 40, Stop: stop})
			var closed time.Time
			time.AfterFunc(after, func() { closed = time.Now(); close(stop) })
			for range 2 {
				if res, _ := s.Check(q); res != Unknown {
					t.Errorf("%d rounds: %v", rounds, res)
				}
				<-stop
				if pace.Exceeds(t, closed, 3*time.Second) {
					t.Errorf("%d rounds, stopped after %v: the query took %v more", rounds, after, time.Since(closed))
				}
			}
			if _, _, res := s.Bounds(q, c.Var("a0", 64)); res != Unknown {
				t.Errorf("bounds: %v", res)
			}
		}
	}
}

// A query that was too hard is answered with more effort, and one that was not is Unknown with any history.
func TestMoreEffort(t *testing.T) {
	c := expr.New()
	x, y := c.Var("x", 16), c.Var("y", 16)
	const product = 4093 * 4091
	q := Query{Conjuncts: []expr.Ref{
		c.Eq(c.Mul(c.ZExt(x, 32), c.ZExt(y, 32)), c.Const(product, 32)), c.Ult(c.Const(1, 16), x), c.Ult(c.Const(1, 16), y),
	}}
	s := New(c, Options{Budget: 2000, Without: map[string]bool{"tuples": true}})
	if res, _ := s.Check(q); res != Unknown {
		t.Fatalf("%v with the budget", res)
	}
	for q.Effort = 1; ; q.Effort++ {
		res, m := s.Check(q)
		if res == Sat {
			if p := m.Get(c.VarOf(x)) * m.Get(c.VarOf(y)); p != product {
				t.Errorf("%d", p)
			}
			break
		}
		if res == Unsat || q.Effort == maxEffort {
			t.Fatalf("%v with effort %d", res, q.Effort)
		}
	}
	q.Effort = 0
	if res, _ := New(c, Options{Budget: 2000, Without: map[string]bool{"tuples": true}}).Check(q); res != Unknown {
		t.Errorf("%v with the budget, in another chain", res)
	}
}

// An expression as deep as a loop of many rounds makes them is no danger.
func TestDeep(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(32 << 20))
	c := expr.New()
	x := c.Var("x", 64)
	p := x
	for i := range 100_000 {
		p = c.Add(c.Mul(p, c.Const(31, 64)), c.Var(fmt.Sprint("y", i%3), 64))
	}
	s := New(c, Options{MaxGates: 100_000})
	known := c.Eq(c.Var("y0", 64), c.Const(5, 64))
	zero := c.Eq(c.Extract(p, 0, 1), c.Const(1, 1)) // a part that is easy, were it not so deep
	q := Query{Conjuncts: []expr.Ref{known, zero, c.Eq(p, c.Const(12345, 64))}}
	if res, _ := s.Check(q); res != Unknown {
		t.Error(res)
	}
	if _, _, res := s.Bounds(Query{Conjuncts: q.Conjuncts[:1], Hint: expr.Assignment{0, 5}}, p); res == Unsat {
		t.Error(res)
	}
	if got := c.Substitute(p, map[expr.Ref]uint64{x: 1}, map[expr.Ref]expr.Ref{}); got == p {
		t.Error("nothing is put in")
	}
}
