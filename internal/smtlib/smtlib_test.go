package smtlib

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"symchef/internal/expr"
	"symchef/internal/pace"
	"symchef/internal/seed"
	"symchef/internal/softfp"
)

// random returns an expression of w bits over two short variables, with the first kinds operators of the list.
func random(c *expr.Ctx, r *rand.Rand, w uint, depth, kinds int) expr.Ref {
	if depth == 0 {
		switch v := c.Var([]string{"stdin[0]", "a|b%\\"}[r.IntN(2)], 6); {
		case r.IntN(4) == 0:
			return c.Const(r.Uint64(), w)
		case w > 6:
			return c.ZExt(v, w)
		default:
			return c.Extract(v, r.UintN(7-w), w)
		}
	}
	sub := func(w uint) expr.Ref { return random(c, r, w, depth-1, kinds) }
	x := sub(w)
	wide := 1 + r.UintN(16)
	switch r.IntN(kinds) {
	case 26, 27, 28: // a float, and back
		k := expr.FAdd + expr.Kind(r.IntN(int(expr.FCvt-expr.FAdd)+1))
		e := expr.Env(r.IntN(8))
		fw := []uint{32, 64}[r.IntN(2)]
		aw, ow := widths(r, k, fw)
		b := expr.Ref(0)
		if k.Arity() == 2 {
			b = sub(aw)
		}
		v := c.Float(k, e, sub(aw), b, ow)
		if ow < w {
			return c.ZExt(v, w)
		}
		return c.Extract(v, r.UintN(ow-w+1), w)
	case 0:
		return c.Not(x)
	case 1:
		return c.Neg(x)
	case 2:
		return c.And(x, sub(w))
	case 3:
		return c.Or(x, sub(w))
	case 4:
		return c.Xor(x, sub(w))
	case 5:
		return c.Add(x, sub(w))
	case 6:
		return c.Mul(x, sub(w))
	case 7:
		return c.MulHU(x, sub(w))
	case 8:
		return c.MulHS(x, sub(w))
	case 9:
		return c.UDiv(x, sub(w))
	case 10:
		return c.URem(x, sub(w))
	case 11:
		return c.SDiv(x, sub(w))
	case 12:
		return c.SRem(x, sub(w))
	case 13:
		return c.Shl(x, sub(w))
	case 14:
		return c.LShr(x, sub(w))
	case 15:
		return c.AShr(x, sub(w))
	case 16, 17:
		return c.Ite(sub(1), x, sub(w))
	case 18:
		return c.SExt(c.Eq(sub(wide), sub(wide)), w)
	case 19:
		return c.ZExt(c.Ult(sub(wide), sub(wide)), w)
	case 20:
		return c.SExt(c.Slt(sub(wide), sub(wide)), w)
	case 21:
		if w > 1 {
			return c.Concat(sub(w-1), sub(1))
		}
	case 22:
		wide = min(wide, 64-w)
		return c.Extract(sub(w+wide), r.UintN(wide+1), w)
	case 23:
		vals := make([]uint64, 1+r.IntN(20)) // the index has four bits
		for i := range vals {
			vals[i] = r.Uint64N(3) * r.Uint64() // runs of zeros, too
		}
		return c.Select(vals, sub(4), w)
	}
	return x
}

// The operators of random: floats stand last, solvers are slow on them.
const (
	withoutFloats = 26
	withFloats    = 29
)

func randomConjuncts(c *expr.Ctx, s uint64, kinds int) []expr.Ref {
	r := rand.New(rand.NewPCG(s, 0))
	var list []expr.Ref
	for range 1 + r.IntN(4) {
		list = append(list, random(c, r, 1, 2+r.IntN(5), kinds))
	}
	return list
}

func TestRoundTrip(t *testing.T) {
	start := seed.Of(t)
	for i := range uint64(2000) {
		c := expr.New()
		want := randomConjuncts(c, start+i, withFloats)
		script := Print(c, want)
		got, err := Parse(c, script)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("SYMCHEF_SEED=%#x: %v, %v, not %v\n%s", start+i, err, got, want, script)
		}
		fresh := expr.New()
		again, err := Parse(fresh, script)
		if err != nil || Print(fresh, again) != script {
			t.Fatalf("SYMCHEF_SEED=%#x: in a fresh Ctx %v\n%s\n%s", start+i, err, script, Print(fresh, again))
		}
	}
}

// TestPrintForm is what a reader sees.
func TestPrintForm(t *testing.T) {
	c := expr.New()
	a, b := c.Var("stdin[0]", 8), c.Var("stdin[1]", 8)
	sum := c.Add(c.ZExt(a, 16), c.Mul(c.ZExt(b, 16), c.Const(10, 16)))
	tab := c.Select([]uint64{7, 0, 3}, a, 8)
	got := Print(c, []expr.Ref{c.Ult(sum, c.Const(500, 16)), c.Ne(c.MulHU(sum, c.Var("m", 16)), c.Const(77, 16)), c.Ult(tab, b)})
	for _, want := range []string{
		"(declare-const |m| (_ BitVec 16))\n(declare-const |stdin[0]| (_ BitVec 8))\n(declare-const |stdin[1]| (_ BitVec 8))\n",
		"(define-fun ?1 () (_ BitVec 16) (bvadd ",
		"(assert (bvult ?1 #x01f4))\n",
		"(define-fun ?mulhu16 ((x (_ BitVec 16)) (y (_ BitVec 16))) (_ BitVec 16) ((_ extract 31 16) (bvmul ((_ zero_extend 16) x) ((_ zero_extend 16) y))))\n",
		"(define-fun ?table0 ((i (_ BitVec 8))) (_ BitVec 8)\n  (ite (bvult i #x01) #x07\n  (ite (bvult i #x02) #x00\n  (ite (bvult i #x03) #x03 #x00))))\n(assert (bvult (?table0 |stdin[0]|) |stdin[1]|))\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, s := range []string{
		"(", ")", "x", "()", "(foo)", "(assert)", "(assert #b1)", "(assert x)", "(assert (bvadd #b1 #b1))",
		"(assert (= #b1 #b11))", "(declare-const a Bool)", "(declare-const a (_ BitVec 65))", "(declare-const (a) (_ BitVec 5))",
		"(declare-const a (_ BitVec 5)) (declare-const a (_ BitVec 6))", "(assert (and true #b1))", "(assert (not #b1))",
		"(assert (= ((_ extract 4 0) #b1) #b1))", "(assert (= ((_ zero_extend 64) #b1) #b1))", "(define-fun f ((x Bool)) Bool x)",
		"(define-fun f () Bool #b1)", "(define-fun f () (_ BitVec 2) #b1)", "(assert |a", "(assert (ite #b1 true true))",
		"(assert (let ((x)) true))", "(assert (=))", "(assert (()))", "(assert #b)", "(assert (bvult true true))",
		"(assert (= (concat #x0000000000000000 #b1) #b1))", strings.Repeat("(", 200000),
		"(assert " + strings.Repeat("(not ", 9000) + "true" + strings.Repeat(")", 9001),
	} {
		if refs, err := Parse(expr.New(), s); err == nil {
			t.Errorf("%.60s: %v", s, refs)
		}
	}
}

func FuzzParse(f *testing.F) {
	for i := range uint64(8) {
		c := expr.New()
		f.Add(Print(c, randomConjuncts(c, i, withFloats)))
	}
	f.Add("(declare-fun a () (_ BitVec 8))(assert (let ((x (bvneg a))) (xor (bvsle x a) (distinct a x) true)))")
	f.Fuzz(func(t *testing.T, s string) {
		c := expr.New()
		refs, err := Parse(c, s)
		if err != nil {
			return
		}
		again, err := Parse(c, Print(c, refs))
		if err != nil || !slices.Equal(again, refs) {
			t.Fatalf("%v, %v, not %v\n%s", err, again, refs, Print(c, refs))
		}
	})
}

func solvers(t *testing.T) []string {
	found := Find()
	if len(found) == 0 {
		t.Skip("skipped: neither cvc5 nor z3 is installed")
	}
	return found
}

// TestSolvers compares the solvers' answers with trying all values.
func TestSolvers(t *testing.T) {
	start := seed.Of(t)
	for _, path := range solvers(t) {
		n := map[Status]int{}
		for i := range uint64(40) {
			c := expr.New()
			a, b := c.Var("stdin[0]", 6), c.Var("a|b%\\", 6)
			list := randomConjuncts(c, start+i, withoutFloats)
			all := c.Const(1, 1)
			for _, r := range list {
				all = c.And(all, r)
			}
			script := Print(c, list)
			answer, err := Solve(context.Background(), path, script, time.Minute)
			if err != nil {
				t.Fatalf("%s: %v\n%s", path, err, script)
			}
			want := Unsat
			for v := range uint64(1 << 12) {
				if c.Eval(all, expr.Assignment{v & 63, v >> 6}) == 1 {
					want = Sat
				}
			}
			if answer.Status != want {
				t.Fatalf("SYMCHEF_SEED=%#x: %s says %v, not %v\n%s", start+i, path, answer.Status, want, script)
			}
			if want == Sat {
				model := expr.Assignment{answer.Model[c.VarName(c.VarOf(a))], answer.Model[c.VarName(c.VarOf(b))]}
				if c.Eval(all, model) != 1 {
					t.Fatalf("SYMCHEF_SEED=%#x: %s: model %v is none\n%s", start+i, path, answer.Model, script)
				}
			}
			n[want]++
		}
		t.Logf("%s: %v", path, n)
	}
}

func TestSolveFails(t *testing.T) {
	hard := "(set-logic QF_BV)(declare-const a (_ BitVec 64))(declare-const b (_ BitVec 64))" +
		"(assert (= (bvmul a b) #x7fffffffffffffe7))(assert (bvult #x0000000000000001 a))(assert (bvult a #x00000000ffffffff))" +
		"(assert (bvult #x0000000000000001 b))(assert (bvult b #x00000000ffffffff))(check-sat)\n"
	for _, path := range solvers(t) {
		if a, err := Solve(context.Background(), path, "(assert nonsense)\n(check-sat)\n", time.Minute); err == nil {
			t.Errorf("%s: %v for nonsense", path, a)
		}
		start := time.Now()
		a, err := Solve(context.Background(), path, hard, 300*time.Millisecond)
		if err != nil || a.Status != Unknown || pace.Exceeds(t, start, 5*time.Second) {
			t.Errorf("%s: %v, %v after %v", path, a, err, time.Since(start))
		}
	}
	if _, err := Solve(context.Background(), "/bin/true", "", time.Second); err == nil {
		t.Error("/bin/true is a solver")
	}
}

// widths returns the width of operands and result of a float operation on floats of w bits.
func widths(r *rand.Rand, k expr.Kind, w uint) (operand, result uint) {
	switch k {
	case expr.FFromI:
		return 1 + r.UintN(64), w
	case expr.FToI:
		return w, 2 + r.UintN(63)
	case expr.FCvt:
		return w, 96 - w
	}
	return w, w
}

// TestFloatMeaning: what a script says of a float operation is what evaluation computes.
func TestFloatMeaning(t *testing.T) {
	paths := solvers(t)
	r := seed.Rand(t)
	for k := expr.FAdd; k <= expr.FCvt; k++ {
		for range 12 {
			fw := []uint{32, 64}[r.IntN(2)]
			aw, ow := widths(r, k, fw)
			operand := func() uint64 {
				f := softfp.FormatOf(aw)
				switch r.IntN(4) {
				case 0:
					return []uint64{0, 1, softfp.Infinity(fw), softfp.Infinity(fw) | 1, softfp.DefaultNaN(fw)}[r.IntN(5)] & expr.Mask(aw)
				case 1:
					return (uint64(f.Emax+r.IntN(70))<<(f.Prec-1) | r.Uint64()&expr.Mask(uint(f.Prec)-1) | r.Uint64()&(1<<(fw-1))) & expr.Mask(aw)
				}
				return r.Uint64() & expr.Mask(aw)
			}
			x, y := operand(), operand()
			c := expr.New()
			a, b := c.Var("x", aw), c.Var("y", aw)
			res := c.Float(k, expr.Env(r.IntN(4)), a, b, ow)
			want := c.Eval(res, expr.Assignment{x, y})
			for _, other := range []bool{false, true} {
				is := c.Eq(res, c.Const(want, ow))
				if other {
					is = c.Not(is)
				}
				script := Print(c, []expr.Ref{c.Eq(a, c.Const(x, aw)), c.Eq(b, c.Const(y, aw)), is})
				for _, path := range paths {
					answer, err := Solve(context.Background(), path, script, time.Minute)
					if err != nil || answer.Status != map[bool]Status{false: Sat, true: Unsat}[other] {
						t.Fatalf("%s: %v %v of %#x, %#x: %#x? %v %v\n%s", path, k, c.Env(res), x, y, want, answer.Status, err, script)
					}
				}
			}
		}
	}
}
