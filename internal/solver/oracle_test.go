package solver

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"symchef/internal/expr"
)

// script writes conj as an SMT-LIB 2 question, one definition per node.
func script(c *expr.Ctx, conj []expr.Ref) string {
	var b strings.Builder
	b.WriteString("(set-logic QF_BV)\n")
	name := map[expr.Ref]string{}
	var def func(e expr.Ref) string
	def = func(e expr.Ref) string {
		if n, ok := name[e]; ok {
			return n
		}
		k, w := c.Kind(e), c.Width(e)
		var o [3]string
		for i, x := range [...]expr.Ref{c.A(e), c.B(e), c.C(e)} {
			if i < k.Arity() {
				o[i] = def(x)
			}
		}
		var s string
		switch k {
		case expr.Const:
			v, _ := c.IsConst(e)
			s = fmt.Sprintf("(_ bv%d %d)", v, w)
		case expr.Var:
			n := fmt.Sprintf("x%d", c.VarOf(e))
			fmt.Fprintf(&b, "(declare-const %s (_ BitVec %d))\n", n, w)
			name[e] = n
			return n
		case expr.Eq, expr.Ult, expr.Slt:
			s = fmt.Sprintf("(ite (%v %s %s) #b1 #b0)", k, o[0], o[1])
		case expr.Ite:
			s = fmt.Sprintf("(ite (= %s #b1) %s %s)", o[0], o[1], o[2])
		case expr.MulHU, expr.MulHS:
			ext := "zero_extend"
			if k == expr.MulHS {
				ext = "sign_extend"
			}
			s = fmt.Sprintf("((_ extract %d %d) (bvmul ((_ %s %d) %s) ((_ %s %d) %s)))", 2*w-1, w, ext, w, o[0], ext, w, o[1])
		case expr.Extract:
			s = fmt.Sprintf("((_ extract %d %d) %s)", c.Lo(e)+w-1, c.Lo(e), o[0])
		case expr.ZExt, expr.SExt:
			s = fmt.Sprintf("((_ %v %d) %s)", k, w-c.Width(c.A(e)), o[0])
		case expr.Select:
			iw := c.Width(c.A(e))
			s = fmt.Sprintf("(_ bv0 %d)", w)
			for i, v := range c.Table(e) {
				if iw >= 64 || uint64(i) < 1<<iw {
					s = fmt.Sprintf("(ite (= %s (_ bv%d %d)) (_ bv%d %d) %s)", o[0], i, iw, v, w, s)
				}
			}
		default:
			s = fmt.Sprintf("(%v %s)", k, strings.TrimSpace(strings.Join(o[:], " ")))
		}
		n := fmt.Sprintf("n%d", e)
		fmt.Fprintf(&b, "(define-fun %s () (_ BitVec %d) %s)\n", n, w, s)
		name[e] = n
		return n
	}
	for _, e := range conj {
		n := def(e)
		fmt.Fprintf(&b, "(assert (= %s #b1))\n", n)
	}
	b.WriteString("(check-sat)\n")
	return b.String()
}

// oracles are the solvers asked where they are installed.
var oracles = []struct {
	name string
	args []string
}{
	{"cvc5", []string{"--lang=smt2", "-"}},
	{"z3", []string{"-in"}},
}

func installed(t testing.TB, name string) string {
	p, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("skipped: %s is not installed: not compared with it", name)
	}
	return p
}

// consult asks an installed solver; any error line is fatal, a hang Unknown.
func consult(t testing.TB, path string, args []string, c *expr.Ctx, conj []expr.Ref) Result {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(script(c, conj))
	out, err := cmd.CombinedOutput()
	switch s := string(bytes.TrimSpace(out)); {
	case s == "sat":
		return Sat
	case s == "unsat":
		return Unsat
	case ctx.Err() != nil || s == "unknown":
		return Unknown
	default:
		t.Fatalf("%s: %v: %s", path, err, s)
		return Unknown
	}
}

// TestOracleRandom compares wider random queries with the installed solvers.
func TestOracleRandom(t *testing.T) {
	for _, o := range oracles {
		t.Run(o.name, func(t *testing.T) {
			path := installed(t, o.name)
			count := map[Result]int{}
			for seed := int64(1); seed <= 150; seed++ {
				g := newGenerator(seed, 4)
				g.vars = append(g.vars, g.c.Var("w", 32), g.c.Var("b", 8), g.c.Var("q", 24))
				var conj []expr.Ref
				for range 1 + g.Intn(4) {
					conj = append(conj, g.bit(1+g.Intn(4)))
				}
				s := New(g.c, Options{ValidateAll: true})
				res, _ := s.Check(Query{Conjuncts: conj})
				if res == Unknown {
					t.Errorf("seed %d: unknown", seed)
					continue
				}
				count[res]++
				if want := consult(t, path, o.args, g.c, conj); want != Unknown && res != want {
					min := shrink(conj, func(conj []expr.Ref) bool {
						r, _ := New(g.c, Options{}).Check(Query{Conjuncts: conj})
						return r != consult(t, path, o.args, g.c, conj)
					})
					t.Fatalf("seed %d: %v, %s says %v; shrunk to\n%s", seed, res, o.name, want, dumpAll(g.c, min))
				}
			}
			t.Logf("%v", count)
		})
	}
}

// TestOracleWorkloads compares a sample of the workloads' answers, and checks
// that answers and Unknown do not depend on the chain's history.
func TestOracleWorkloads(t *testing.T) {
	for i := range workloads {
		w := &workloads[i]
		t.Run(w.name, func(t *testing.T) {
			c := expr.New()
			o := oracles[i%2]
			path := installed(t, o.name)
			s := New(c, Options{ValidateAll: true})
			adv := New(c, Options{ModelSeed: 3})
			n, every := 0, 19
			if w.name == "table" {
				every = 100 // the oracles take seconds on tables
			}
			w.explore(c, 1, 6, func(q Query) {
				res, _ := s.Check(q)
				if r, _ := adv.Check(q); r != res {
					t.Errorf("query %d: %v, the adversary says %v", n, res, r)
				}
				if n++; n%every == 0 {
					if want := consult(t, path, o.args, c, q.Conjuncts); want != Unknown && res != Unknown && want != res {
						t.Fatalf("query %d: %v, %s says %v\n%s", n, res, o.name, want, dumpAll(c, q.Conjuncts))
					}
				}
			})
			st := s.Stats()
			if st.Unknown > 0 {
				t.Errorf("%d unknown", st.Unknown)
			}
			t.Logf("%+v", st)
		})
	}
}
