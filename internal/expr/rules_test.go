package expr_test

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"symchef/internal/expr"
	"symchef/internal/seed"
	"symchef/internal/smtlib"
)

// parseTree reads a term of ruleRows at width w; nil where it has no meaning
// at that width.
func parseTree(s string, w uint) (t *tree) {
	defer func() {
		if recover() != nil {
			t = nil
		}
	}()
	toks := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(s))
	p := &treeParser{toks: toks, w: w}
	t = p.tree(w)
	return t
}

type treeParser struct {
	toks []string
	w    uint
}

func (p *treeParser) next() string {
	s := p.toks[0]
	p.toks = p.toks[1:]
	return s
}

// size reads n, w, kw, w+n, kw+n or w-n.
func (p *treeParser) size(s string) uint {
	at := strings.IndexByte(s, 'w')
	if at < 0 {
		return uint(must(strconv.Atoi(s)))
	}
	v := int(p.w)
	if at > 0 {
		v *= must(strconv.Atoi(s[:at]))
	}
	if s[at+1:] != "" {
		v += must(strconv.Atoi(s[at+1:]))
	}
	return uint(v)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (p *treeParser) literal(s string, w uint) *tree {
	if num, size, ok := strings.Cut(s, ":"); ok {
		s, w = num, p.size(size)
	}
	var v uint64
	if s[0] == '-' {
		v = uint64(must(strconv.ParseInt(s, 0, 64)))
	} else {
		v = must(strconv.ParseUint(s, 0, 64))
	}
	return &tree{op: "const", w: w, val: v & expr.Mask(w)}
}

// isLiteral reports whether s is a literal whose width comes from elsewhere.
func isLiteral(s string) bool {
	return (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && !strings.Contains(s, ":")
}

// tree reads one term; a literal has w bits.
func (p *treeParser) tree(w uint) *tree {
	s := p.next()
	switch {
	case s == "(":
	case s[0] == '-' || s[0] >= '0' && s[0] <= '9':
		return p.literal(s, w)
	default:
		size := map[byte]uint{'a': p.w, 'b': p.w, 'd': p.w, 'x': 2 * p.w, 'y': 2 * p.w, 'p': 1, 'q': 1, 'r': 1, 'z': 64, 'u': 64}[s[0]]
		if size == 0 || size > 64 {
			panic("variable " + s)
		}
		return &tree{op: "var", name: s, w: size}
	}
	t := &tree{op: p.next()}
	if op, env, ok := strings.Cut(t.op, "/"); ok {
		t.op, t.lo = op, p.size(env)
	}
	literals := map[int]string{}
	for p.toks[0] != ")" {
		if len(t.kids) == 1 && (t.op == "zext" || t.op == "sext" || t.op == "extract" || t.op == "select" ||
			t.op == "ffromi" || t.op == "ftoi" || t.op == "fcvt") {
			break
		}
		if isLiteral(p.toks[0]) {
			literals[len(t.kids)] = p.toks[0]
		}
		t.kids = append(t.kids, p.tree(p.w))
	}
	if t.op != "concat" { // a literal takes the width of its sibling
		for i, k := range t.kids {
			if _, ok := literals[i]; ok || t.op == "ite" && i == 0 {
				continue
			}
			for j, text := range literals {
				t.kids[j] = p.literal(text, k.w)
			}
		}
	}
	switch t.op {
	case "ffromi", "ftoi", "fcvt":
		t.w = p.size(p.next())
		if !expr.FloatWidths(floatKinds[t.op], t.kids[0].w, t.w) {
			panic("size")
		}
	case "zext", "sext":
		t.w = p.size(p.next())
		if t.w > 64 || t.w < t.kids[0].w {
			panic("size")
		}
	case "extract":
		t.lo, t.w = p.size(p.next()), p.size(p.next())
		if t.w == 0 || t.lo+t.w > t.kids[0].w {
			panic("size")
		}
	case "select":
		t.w = p.size(p.next())
		for p.toks[0] != ")" {
			t.tab = append(t.tab, uint64(p.size(p.next()))&expr.Mask(t.w))
		}
	case "eq", "ne", "ult", "ule", "slt", "sle":
		t.w = 1
	case "concat":
		if t.w = t.kids[0].w + t.kids[1].w; t.w > 64 {
			panic("size")
		}
	case "ite":
		t.w = t.kids[1].w
	default:
		t.w = t.kids[0].w
	}
	p.next()
	return t
}

// kindOf returns the kind of t's outermost operator.
func (t *tree) kindOf() expr.Kind {
	if k, ok := binaryKinds[t.op]; ok {
		return k
	}
	if k, ok := floatKinds[t.op]; ok {
		return k
	}
	return map[string]expr.Kind{"not": expr.Not, "neg": expr.Neg, "ite": expr.Ite, "concat": expr.Concat,
		"extract": expr.Extract, "zext": expr.ZExt, "sext": expr.SExt, "select": expr.Select}[t.op]
}

// applyRule builds the operands of s at width w and tries the rule on the
// outermost operator; res is 0 where it does not apply, t nil where s has no
// meaning.
func applyRule(c *expr.Ctx, name, s string, w uint) (t *tree, res expr.Ref) {
	t = parseTree(s, w)
	if t == nil {
		return nil, 0
	}
	vars := map[string]uint{}
	t.vars(vars)
	for _, n := range sortedNames(vars) {
		c.Var(n, vars[n])
	}
	var ops []expr.Ref
	for _, k := range t.kids {
		ops = append(ops, k.build(c))
	}
	return t, c.ApplyRule(name, t.kindOf(), t.w, t.lo, ops, t.tab)
}

// TestRules: every rule has a row, applies to its term and not to the near
// miss, and keeps the value: for all assignments at widths 1 to 4, for random
// ones above.
func TestRules(t *testing.T) {
	have := map[string]bool{}
	s := seed.Of(t)
	for _, row := range ruleRows {
		if have[row.name] {
			t.Errorf("%s: two rows", row.name)
		}
		have[row.name] = true
		if _, res := applyRule(expr.New(), row.name, row.hit, 8); res == 0 {
			t.Errorf("%s: does not apply to %s", row.name, row.hit)
		}
		if tr, res := applyRule(expr.New(), row.name, row.miss, 8); res != 0 || tr == nil {
			t.Errorf("%s: applies to %s", row.name, row.miss)
		}
		for _, w := range []uint{1, 2, 3, 4, 5, 8, 16, 17, 31, 32, 33, 63, 64} {
			for _, term := range []string{row.hit, row.miss} {
				if complaint := sound(row.name, term, w, s); complaint != "" {
					t.Errorf("%s of %s at %d bits: %s", row.name, term, w, complaint)
				}
			}
		}
	}
	for _, r := range expr.Rules() {
		if !have[r.Name] {
			t.Errorf("rule %s has no row", r.Name)
		}
	}
	if len(have) != len(expr.Rules()) {
		t.Errorf("%d rows, %d rules", len(have), len(expr.Rules()))
	}
	t.Logf("%d rules", len(have))
}

// sound compares what the rule makes of term with term's own value.
func sound(name, term string, w uint, s uint64) string {
	c := expr.New()
	t, res := applyRule(c, name, term, w)
	if res == 0 {
		return ""
	}
	if c.Width(res) != t.w {
		return fmt.Sprintf("width %d, not %d", c.Width(res), t.w)
	}
	vars := map[string]uint{}
	t.vars(vars)
	names := sortedNames(vars)
	total := uint(0)
	for _, n := range names {
		total += vars[n]
	}
	g := &generator{r: rand.New(rand.NewPCG(s, uint64(w)))}
	rounds := 200
	if total <= 12 {
		rounds = 1 << total
	}
	for i := range rounds {
		env := g.assignment(vars)
		if total <= 12 {
			v := uint64(i)
			for _, n := range names {
				env[n] = v & expr.Mask(vars[n])
				v >>= vars[n]
			}
		}
		if want, got := t.eval(env), c.Eval(res, toAssignment(c, env)); got != want {
			return fmt.Sprintf("%#x, not %#x under %v", got, want, env)
		}
	}
	return ""
}

// smt prints t as a bit-vector term, with nothing simplified. What the results of float
// operations are goes to out.
func (t *tree) smt(out *strings.Builder) string {
	k := make([]string, len(t.kids))
	for i := range t.kids {
		k[i] = t.kids[i].smt(out)
	}
	if _, ok := floatKinds[t.op]; ok {
		return t.floatSMT(k, out)
	}
	bit := func(s string) string { return "(ite " + s + " #b1 #b0)" }
	two := func(op string) string { return "(" + op + " " + k[0] + " " + k[1] + ")" }
	switch t.op {
	case "const":
		return fmt.Sprintf("#b%0*b", t.w, t.val)
	case "var":
		return t.name
	case "not", "neg":
		return "(bv" + t.op + " " + k[0] + ")"
	case "mulhu", "mulhs":
		ext := map[string]string{"mulhu": "zero_extend", "mulhs": "sign_extend"}[t.op]
		return fmt.Sprintf("((_ extract %d %d) (bvmul ((_ %s %d) %s) ((_ %s %d) %s)))", 2*t.w-1, t.w, ext, t.w, k[0], ext, t.w, k[1])
	case "eq":
		return bit(two("="))
	case "ne":
		return bit(two("distinct"))
	case "ult", "ule", "slt", "sle":
		return bit(two("bv" + t.op))
	case "ite":
		return fmt.Sprintf("(ite (= %s #b1) %s %s)", k[0], k[1], k[2])
	case "concat":
		return two("concat")
	case "extract":
		return fmt.Sprintf("((_ extract %d %d) %s)", t.lo+t.w-1, t.lo, k[0])
	case "zext", "sext":
		op := map[string]string{"zext": "zero_extend", "sext": "sign_extend"}[t.op]
		return fmt.Sprintf("((_ %s %d) %s)", op, t.w-t.kids[0].w, k[0])
	case "select":
		s := fmt.Sprintf("#b%0*b", t.w, 0)
		for i, v := range t.tab {
			if uint64(i) <= expr.Mask(t.kids[0].w) {
				s = fmt.Sprintf("(ite (= %s #b%0*b) #b%0*b %s)", k[0], t.kids[0].w, i, t.w, v, s)
			}
		}
		return s
	}
	return two("bv" + t.op)
}

// floatSMT prints a float operation on numbers: of NaNs its result is not said.
func (t *tree) floatSMT(k []string, out *strings.Builder) string {
	fp := func(w uint) string {
		return map[uint]string{32: "(_ to_fp 8 24)", 64: "(_ to_fp 11 53)"}[w]
	}
	mode := []string{"RNE", "RTN", "RTP", "RTZ"}[t.lo&3]
	name := fmt.Sprintf("float%d", out.Len())
	fmt.Fprintf(out, "(declare-const %s (_ BitVec %d))\n", name, t.w)
	x := "(" + fp(t.kids[0].w) + " " + k[0] + ")"
	var res string
	switch t.op {
	case "ftoi":
		fmt.Fprintf(out, "(assert (= %s ((_ fp.to_sbv %d) %s %s)))\n", name, t.w, mode, x)
		return name
	case "ffromi":
		res = fmt.Sprintf("(%s %s %s)", fp(t.w), mode, k[0])
	case "fcvt":
		res = fmt.Sprintf("(%s %s %s)", fp(t.w), mode, x)
	case "fsqrt":
		res = fmt.Sprintf("(fp.sqrt %s %s)", mode, x)
	default:
		res = fmt.Sprintf("(fp.%s %s %s (%s %s))", t.op[1:], mode, x, fp(t.w), k[1])
	}
	fmt.Fprintf(out, "(assert (= (%s %s) %s))\n", fp(t.w), name, res)
	return name
}

// TestRulesBySolver proves each row at several widths: the solver finds no
// assignment under which the rule's result differs from the term.
func TestRulesBySolver(t *testing.T) {
	solvers := smtlib.Find()
	if len(solvers) == 0 {
		fmt.Println("TestRulesBySolver: neither cvc5 nor z3 is installed, nothing is proved")
		t.Skip("skipped: no solver")
	}
	proofs := 0
	for _, row := range ruleRows {
		proved := 0
		for _, w := range []uint{1, 2, 5, 8, 13, 32, 64} {
			if w > 8 && (strings.Contains(row.hit, "mul") || strings.Contains(row.hit, "div") || strings.Contains(row.hit, "rem")) {
				continue // multipliers past that are out of the solvers' reach
			}
			c := expr.New()
			tr, res := applyRule(c, row.name, row.hit, w)
			if res == 0 {
				continue
			}
			proved++
			script := smtlib.Print(c, []expr.Ref{c.Ne(c.Var("term", tr.w), res)})
			vars := map[string]uint{}
			tr.vars(vars)
			raw := ""
			for _, n := range sortedNames(vars) {
				if !strings.Contains(script, "(declare-const |"+n+"| ") {
					raw += fmt.Sprintf("(declare-const %s (_ BitVec %d))\n", n, vars[n])
				}
			}
			var floats strings.Builder
			term := tr.smt(&floats)
			raw += floats.String() + fmt.Sprintf("(assert (= term %s))\n(check-sat)\n", term)
			script = strings.Replace(script, "QF_BV)", "QF_BVFP)", 1)
			script = strings.Replace(script, "(check-sat)\n", raw, 1)
			answer, err := smtlib.Solve(context.Background(), solvers[proofs%len(solvers)], script, time.Minute)
			if err != nil || answer.Status != smtlib.Unsat {
				t.Fatalf("%s at %d bits: %v, %v\n%s", row.name, w, answer, err, script)
			}
			proofs++
		}
		if proved == 0 {
			t.Errorf("%s: applies at no width", row.name)
		}
	}
	t.Logf("%d proofs by %v", proofs, solvers)
}

// A division that a compiler has turned into a multiplication is one again, and has the same values.
func TestMagicDivision(t *testing.T) {
	for _, d := range []uint64{3, 5, 7, 10, 12, 100, 641, 1000, 10000, 1000000007} {
		for _, k := range []uint{1, 3, 4, 7, 13, 29} {
			// ceil(2^(32+k)/d), for d between 2^(k-1) and 2^k exact for all of 32 bits if the error is small
			m := uint64(1)<<(32+k)/d + 1
			c := expr.New()
			x := c.Var("x", 32)
			r := c.LShr(c.Mul(c.ZExt(x, 64), c.Const(m, 64)), c.Const(uint64(32+k), 64))
			if e := m*d - uint64(1)<<(32+k); m < 1<<32 && e <= 1<<k && r != c.ZExt(c.UDiv(x, c.Const(d, 32)), 64) {
				t.Errorf("x*%#x >> %d is not x/%d", m, 32+k, d)
			}
			for _, v := range []uint64{0, 1, d - 1, d, d + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, (1<<32 - 1) / d * d, (1<<32-1)/d*d - 1} {
				hi, lo := bits.Mul64(v, m)
				if want := lo >> (32 + k); hi == 0 && c.Eval(r, expr.Assignment{v}) != want {
					t.Errorf("%d*%#x >> %d is %d, not %d", v, m, 32+k, c.Eval(r, expr.Assignment{v}), want)
				}
			}
		}
	}
	c := expr.New()
	x := c.Var("x", 64)
	r := c.LShr(c.MulHU(x, c.Const(0xcccccccccccccccd, 64)), c.Const(3, 64))
	if r != c.UDiv(x, c.Const(10, 64)) {
		t.Error("a 64-bit division by 10 is not found")
	}
}
