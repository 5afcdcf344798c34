// Package smtlib writes conjunctions of expressions as SMT-LIB 2 scripts
// (QF_BV, QF_BVFP), reads them back, and asks an external solver about them.
//
//	script := smtlib.Print(ctx, conjuncts)
//	answer, err := smtlib.Solve(context.Background(), "/usr/bin/cvc5", script, time.Minute)
//
// It is the oracle of the built-in solver, and what a path condition looks
// like to a reader. A script of Print's reads back as the same expressions.
package smtlib

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"symchef/internal/expr"
)

// maxNesting bounds how deep terms nest: deeper ones get a name.
const maxNesting = 24

// Print returns a script that declares the variables of the conjuncts,
// asserts each of them, and asks whether they are satisfiable together.
//
// Nodes used more than once are named by define-fun. A one-bit comparison or
// connective is a Bool, every other node a bit vector. Tables are functions,
// nested ites over the index: never arrays. So are the high halves of
// products. Float operations are as in float.go.
//
// The names of defined are variables of their own, each asserted to equal its expression.
//
// require: every conjunct is one bit wide; what is defined is wider, and no variable of ctx has its name.
func Print(ctx *expr.Ctx, conjuncts []expr.Ref, defined ...Definition) string {
	p := &printer{ctx: ctx, uses: map[expr.Ref]int{}, text: map[expr.Ref]string{}, depth: map[expr.Ref]int{},
		helpers: map[string]bool{}, tables: map[tableKey]string{}, prefix: "?", logic: "QF_BV"}
	for v := range ctx.NumVars() {
		for strings.HasPrefix(ctx.VarName(expr.VarID(v)), p.prefix) {
			p.prefix += "?"
		}
	}
	for _, r := range conjuncts {
		if ctx.Width(r) != 1 {
			panic("smtlib: a conjunct wider than a bit")
		}
		p.count(r)
	}
	for _, d := range defined {
		p.count(d.Value)
	}
	slices.SortFunc(p.vars, func(a, b expr.VarID) int { return strings.Compare(ctx.VarName(a), ctx.VarName(b)) })
	fmt.Fprintf(&p.out, "(set-option :produce-models true)\n(set-logic %s)\n", p.logic)
	for _, v := range p.vars {
		fmt.Fprintf(&p.out, "(declare-const %s (_ BitVec %d))\n", symbol(ctx.VarName(v)), ctx.VarWidth(v))
	}
	for _, d := range defined {
		fmt.Fprintf(&p.out, "(declare-const %s (_ BitVec %d))\n", symbol(d.Name), ctx.Width(d.Value))
	}
	for _, r := range conjuncts {
		p.emit(r)
		fmt.Fprintf(&p.out, "(assert %s)\n", p.asBool(r))
	}
	for _, d := range defined {
		p.emit(d.Value)
		fmt.Fprintf(&p.out, "(assert (= %s %s))\n", symbol(d.Name), p.text[d.Value])
	}
	p.out.WriteString("(check-sat)\n")
	return p.out.String()
}

// A Definition names the value of an expression.
type Definition struct {
	Name  string
	Value expr.Ref
}

type printer struct {
	ctx     *expr.Ctx
	out     strings.Builder
	vars    []expr.VarID
	uses    map[expr.Ref]int
	text    map[expr.Ref]string // in the node's own sort
	depth   map[expr.Ref]int
	helpers map[string]bool     // functions defined, by name
	tables  map[tableKey]string // names of tables
	prefix  string              // of all names that are no variables'
	logic   string
	names   int
}

func (p *printer) operands(r expr.Ref) []expr.Ref {
	return []expr.Ref{p.ctx.A(r), p.ctx.B(r), p.ctx.C(r)}[:p.ctx.Kind(r).Arity()]
}

// count counts the uses of each node under r and collects the variables.
func (p *printer) count(r expr.Ref) {
	todo := []expr.Ref{r}
	for len(todo) > 0 {
		r := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		p.uses[r]++
		if p.uses[r] > 1 {
			continue
		}
		switch k := p.ctx.Kind(r); {
		case k == expr.Var:
			p.vars = append(p.vars, p.ctx.VarOf(r))
		case k.IsFloat() && p.ctx.Env(r)&expr.FTZ != 0:
			p.logic = "ALL"
		case k.IsFloat() && p.logic == "QF_BV":
			p.logic = "QF_BVFP"
		}
		todo = append(todo, p.operands(r)...)
	}
}

// emit makes the text of r, naming shared nodes in passing.
func (p *printer) emit(r expr.Ref) {
	todo := []expr.Ref{r}
	for len(todo) > 0 {
		r := todo[len(todo)-1]
		if _, ok := p.text[r]; ok {
			todo = todo[:len(todo)-1]
			continue
		}
		ready := true
		depth := 0
		ops := p.operands(r)
		for i := len(ops) - 1; i >= 0; i-- {
			if _, ok := p.text[ops[i]]; !ok {
				todo = append(todo, ops[i])
				ready = false
			}
			depth = max(depth, p.depth[ops[i]]+1)
		}
		if !ready {
			continue
		}
		todo = todo[:len(todo)-1]
		text := p.term(r)
		if len(ops) > 0 && (p.uses[r] > 1 || depth > maxNesting) {
			p.names++
			name := p.prefix + strconv.Itoa(p.names)
			sort := fmt.Sprintf("(_ BitVec %d)", p.ctx.Width(r))
			if p.isBool(r) {
				sort = "Bool"
			}
			fmt.Fprintf(&p.out, "(define-fun %s () %s %s)\n", name, sort, text)
			text, depth = name, 0
		}
		p.text[r], p.depth[r] = text, depth
	}
}

// isBool reports whether r is printed as a Bool.
func (p *printer) isBool(r expr.Ref) bool {
	switch p.ctx.Kind(r) {
	case expr.Eq, expr.Ult, expr.Slt:
		return true
	case expr.Not, expr.And, expr.Or, expr.Xor, expr.Ite:
		return p.ctx.Width(r) == 1
	}
	return false
}

func (p *printer) asBool(r expr.Ref) string {
	if v, ok := p.ctx.IsConst(r); ok {
		return strconv.FormatBool(v == 1)
	}
	if p.isBool(r) {
		return p.text[r]
	}
	return "(= " + p.text[r] + " #b1)"
}

func (p *printer) asVector(r expr.Ref) string {
	if p.isBool(r) {
		return "(ite " + p.text[r] + " #b1 #b0)"
	}
	return p.text[r]
}

var boolNames = map[expr.Kind]string{expr.Not: "not", expr.And: "and", expr.Or: "or", expr.Xor: "xor"}

func (p *printer) term(r expr.Ref) string {
	c := p.ctx
	k, w := c.Kind(r), c.Width(r)
	var a, b string
	if k.Arity() > 0 {
		a = p.asVector(c.A(r))
	}
	if k.Arity() == 2 {
		b = " " + p.asVector(c.B(r))
	}
	switch k {
	case expr.Const:
		v, _ := c.IsConst(r)
		return literal(v, w)
	case expr.Var:
		return symbol(c.VarName(c.VarOf(r)))
	case expr.Ite:
		if w == 1 {
			return "(ite " + p.asBool(c.A(r)) + " " + p.asBool(c.B(r)) + " " + p.asBool(c.C(r)) + ")"
		}
		return "(ite " + p.asBool(c.A(r)) + " " + p.asVector(c.B(r)) + " " + p.asVector(c.C(r)) + ")"
	case expr.Extract:
		return "((_ extract " + strconv.Itoa(int(c.Lo(r)+w-1)) + " " + strconv.Itoa(int(c.Lo(r))) + ") " + a + ")"
	case expr.ZExt, expr.SExt:
		return "((_ " + k.String() + " " + strconv.Itoa(int(w-c.Width(c.A(r)))) + ") " + a + ")"
	case expr.Select:
		return "(" + p.table(c.Table(r), c.Width(c.A(r)), w) + " " + a + ")"
	case expr.FAdd, expr.FSub, expr.FMul, expr.FDiv, expr.FSqrt, expr.FFromI, expr.FToI, expr.FCvt:
		return p.float(r, a+b)
	case expr.MulHU, expr.MulHS:
		return "(" + p.mulHigh(k, w) + " " + a + b + ")"
	case expr.Not, expr.And, expr.Or, expr.Xor:
		if w > 1 {
			break
		}
		if k == expr.Not {
			return "(not " + p.asBool(c.A(r)) + ")"
		}
		return "(" + boolNames[k] + " " + p.asBool(c.A(r)) + " " + p.asBool(c.B(r)) + ")"
	}
	return "(" + k.String() + " " + a + b + ")"
}

// mulHigh defines the high half of a product of w-bit numbers and returns the
// function's name.
func (p *printer) mulHigh(k expr.Kind, w uint) string {
	name := p.prefix + k.String() + strconv.Itoa(int(w))
	if !p.helpers[name] {
		p.helpers[name] = true
		p.out.WriteString(mulHighDefinition(name, k, w))
	}
	return name
}

func mulHighDefinition(name string, k expr.Kind, w uint) string {
	ext := expr.ZExt
	if k == expr.MulHS {
		ext = expr.SExt
	}
	return fmt.Sprintf("(define-fun %s ((x (_ BitVec %d)) (y (_ BitVec %d))) (_ BitVec %d) ((_ extract %d %d) (bvmul ((_ %v %d) x) ((_ %v %d) y))))\n",
		name, w, w, w, 2*w-1, w, ext, w, ext, w)
}

// tableKey is a table as a function: its identity in the context, which holds each table once, and the width of the index.
type tableKey struct {
	first  *uint64
	n      int
	iw, ow uint
}

// table defines a table of constants and returns the function's name: runs of
// equal values by the index at which the next one starts. Beyond the table is 0.
func (p *printer) table(vals []uint64, iw, w uint) string {
	key := tableKey{unsafe.SliceData(vals), len(vals), iw, w}
	if name, ok := p.tables[key]; ok {
		return name
	}
	name := fmt.Sprintf("%stable%d", p.prefix, len(p.tables))
	p.tables[key] = name
	def := fmt.Appendf(nil, "(define-fun %s ((i (_ BitVec %d))) (_ BitVec %d)", name, iw, w)
	last := uint64(0) // the value of all further indices
	if n := expr.Mask(iw); n < uint64(len(vals)) {
		vals, last = vals[:n], vals[n]
	}
	runs := 0
	for i, v := range vals {
		next := last
		if i+1 < len(vals) {
			next = vals[i+1]
		}
		if v != next {
			def = append(def, "\n  (ite (bvult i "...)
			def = appendLiteral(def, uint64(i+1), iw)
			def = append(def, ") "...)
			def = appendLiteral(def, v, w)
			runs++
		}
	}
	def = append(def, ' ')
	def = appendLiteral(def, last, w)
	for range runs {
		def = append(def, ')')
	}
	p.out.Write(append(def, ")\n"...))
	return name
}

func literal(v uint64, w uint) string { return string(appendLiteral(nil, v, w)) }

// appendLiteral appends a constant, in hexadecimal where the width allows.
func appendLiteral(b []byte, v uint64, w uint) []byte {
	digit := uint(4)
	b = append(b, '#', 'x')
	if w%4 != 0 {
		digit = 1
		b[len(b)-1] = 'b'
	}
	for at := w; at > 0; {
		at -= digit
		b = append(b, "0123456789abcdef"[v>>at&(1<<digit-1)])
	}
	return b
}

// unquotable are the characters a quoted symbol cannot hold, and the escape.
const unquotable = "|\\%"

// symbol quotes a variable's name.
func symbol(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if ch := name[i]; strings.IndexByte(unquotable, ch) >= 0 || ch < ' ' || ch > '~' {
			fmt.Fprintf(&b, "%%%02x", ch)
		} else {
			b.WriteByte(ch)
		}
	}
	return "|" + b.String() + "|"
}

// unquote is the inverse of symbol. Solvers drop quotes that are not needed.
func unquote(s string) (string, error) {
	if len(s) >= 2 && s[0] == '|' {
		s = s[1 : len(s)-1]
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+3 > len(s) {
			return "", fmt.Errorf("smtlib: symbol |%s|", s)
		}
		v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("smtlib: symbol |%s|", s)
		}
		b.WriteByte(byte(v))
		i += 2
	}
	return b.String(), nil
}
