package smtlib

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"symchef/internal/expr"
)

// Parse reads a script as Print writes it and returns what it asserts. The
// subset: terms of Print's operators, let, declare-const, declare-fun and
// define-fun without parameters, and Print's functions for tables and for high
// halves of products. Commands that assert nothing are skipped.
func Parse(ctx *expr.Ctx, script string) ([]expr.Ref, error) {
	commands, err := read(script)
	if err != nil {
		return nil, err
	}
	p := &parser{ctx: ctx, names: map[string]value{}, funcs: map[string]function{}, floats: map[string]floatOp{}, results: results(commands)}
	var asserts []expr.Ref
	for _, cmd := range commands {
		if len(cmd.list) == 0 {
			return nil, fmt.Errorf("smtlib: not a command: %v", cmd)
		}
		switch head := cmd.list[0].atom; head {
		case "set-logic", "set-option", "set-info", "check-sat", "get-model", "exit":
		case "declare-const", "declare-fun":
			err = p.declare(cmd)
		case "define-fun":
			err = p.define(cmd)
		case "assert":
			if len(cmd.list) != 2 {
				return nil, fmt.Errorf("smtlib: %v", cmd)
			}
			if t := cmd.list[1]; len(t.list) > 2 {
				if o, ok := p.floats[t.list[0].atom]; ok && !o.flushes() {
					err = p.assertFloat(o, t)
					break
				}
			}
			var v value
			if v, err = p.term(cmd.list[1]); err == nil && !v.bool {
				err = fmt.Errorf("smtlib: assert of a bit vector: %v", cmd)
			}
			asserts = append(asserts, v.ref)
		default:
			err = fmt.Errorf("smtlib: command %s", head)
		}
		if err != nil {
			return nil, err
		}
	}
	return asserts, nil
}

// value is a term: a bit vector, or a Bool held as one bit.
type value struct {
	ref  expr.Ref
	bool bool
}

// function is one of Print's: a table, or a high half where kind is not 0.
type function struct {
	kind   expr.Kind
	vals   []uint64
	iw, ow uint
}

type parser struct {
	ctx   *expr.Ctx
	names map[string]value
	funcs map[string]function
	// floats are the operations defined; results the constants that are theirs.
	floats  map[string]floatOp
	results map[string]bool
	depth   int
}

func (p *parser) declare(cmd node) error {
	l := cmd.list
	if len(l) > 1 {
		if o, ok := floatOf(l[1].atom); ok && o.flushes() {
			return p.defineFloat(o, cmd)
		}
		if p.results[l[1].atom] {
			return nil
		}
	}
	if l[0].atom == "declare-fun" {
		if len(l) != 4 || l[2].atom != "" || len(l[2].list) != 0 {
			return fmt.Errorf("smtlib: %v", cmd)
		}
		l = []node{l[0], l[1], l[3]}
	}
	if len(l) != 3 {
		return fmt.Errorf("smtlib: %v", cmd)
	}
	w, err := vectorSort(l[2])
	if err != nil {
		return err
	}
	name, err := unquote(l[1].atom)
	if err != nil || l[1].atom == "" {
		return fmt.Errorf("smtlib: %v", cmd)
	}
	for v := range p.ctx.NumVars() {
		if id := expr.VarID(v); p.ctx.VarName(id) == name && p.ctx.VarWidth(id) != w {
			return fmt.Errorf("smtlib: %s has width %d, not %d", name, p.ctx.VarWidth(id), w)
		}
	}
	p.names[l[1].atom] = value{ref: p.ctx.Var(name, w)}
	return nil
}

// vectorSort returns the width of (_ BitVec w).
func vectorSort(n node) (uint, error) {
	if n.is("_", 3) && n.list[1].atom == "BitVec" {
		if w, err := strconv.Atoi(n.list[2].atom); err == nil && w >= 1 && w <= 64 {
			return uint(w), nil
		}
	}
	return 0, fmt.Errorf("smtlib: sort %v", n)
}

func (p *parser) define(cmd node) error {
	l := cmd.list
	if len(l) != 5 || l[1].atom == "" || l[2].atom != "" {
		return fmt.Errorf("smtlib: %v", cmd)
	}
	name := l[1].atom
	if o, ok := floatOf(name); ok {
		return p.defineFloat(o, cmd)
	}
	switch len(l[2].list) {
	case 0:
		v, err := p.term(l[4])
		if err != nil {
			return err
		}
		if v.bool != (l[3].atom == "Bool") {
			return fmt.Errorf("smtlib: sort of %s", name)
		}
		if !v.bool {
			if w, err := vectorSort(l[3]); err != nil || w != p.ctx.Width(v.ref) {
				return fmt.Errorf("smtlib: sort of %s", name)
			}
		}
		p.names[name] = v
		return nil
	case 1:
		return p.defineTable(name, cmd)
	}
	w, err := vectorSort(l[3])
	if err != nil {
		return err
	}
	for _, k := range []expr.Kind{expr.MulHU, expr.MulHS} {
		if strings.TrimSpace(mulHighDefinition(name, k, w)) == cmd.String() {
			p.funcs[name] = function{kind: k, iw: w, ow: w}
			return nil
		}
	}
	return fmt.Errorf("smtlib: function %s", name)
}

// maxTable bounds the entries of a table.
const maxTable = 1 << 20

// defineTable reads (define-fun name ((i sort)) sort body), body a chain of
// (ite (bvult i end) constant body) that ends in a constant.
func (p *parser) defineTable(name string, cmd node) error {
	bad := func(n node) error { return fmt.Errorf("smtlib: table %s: %v", name, n) }
	param := cmd.list[2].list[0]
	if len(param.list) != 2 {
		return bad(param)
	}
	iw, err := vectorSort(param.list[1])
	if err != nil {
		return err
	}
	ow, err := vectorSort(cmd.list[3])
	if err != nil {
		return err
	}
	f := function{iw: iw, ow: ow}
	run := func(end uint64, of node) bool { // up to an index
		v, w, ok := parseLiteral(of.atom)
		if !ok || w != ow || end > maxTable || end <= uint64(len(f.vals)) {
			return false
		}
		f.vals = append(f.vals, slices.Repeat([]uint64{v}, int(end)-len(f.vals))...)
		return true
	}
	body := cmd.list[4]
	for body.is("ite", 4) {
		test := body.list[1]
		if !test.is("bvult", 3) || test.list[1].atom == "" || test.list[1].atom != param.list[0].atom {
			return bad(test)
		}
		if end, w, ok := parseLiteral(test.list[2].atom); !ok || w != iw || !run(end, body.list[2]) {
			return bad(test)
		}
		body = body.list[3]
	}
	if v, w, ok := parseLiteral(body.atom); (!ok || v != 0 || w != ow) && !run(expr.Mask(iw)+1, body) {
		return bad(body)
	}
	p.funcs[name] = f
	return nil
}

// parseLiteral reads #x... and #b...
func parseLiteral(s string) (v uint64, w uint, ok bool) {
	if len(s) < 3 || s[0] != '#' {
		return 0, 0, false
	}
	base, w := 2, uint(len(s)-2)
	if s[1] == 'x' {
		base, w = 16, 4*w
	} else if s[1] != 'b' {
		return 0, 0, false
	}
	v, err := strconv.ParseUint(s[2:], base, 64)
	return v, w, err == nil && w <= 64
}

// nestingMax bounds recursion; Print stays far below.
const nestingMax = 5000

func (p *parser) term(n node) (value, error) {
	if p.depth++; p.depth > nestingMax {
		return value{}, fmt.Errorf("smtlib: nested too deep")
	}
	defer func() { p.depth-- }()
	if n.atom != "" {
		return p.atom(n.atom)
	}
	if len(n.list) < 2 {
		return value{}, fmt.Errorf("smtlib: term %v", n)
	}
	if n.list[0].atom == "let" {
		return p.let(n)
	}
	if o, ok := p.floats[n.list[0].atom]; ok && o.flushes() {
		return p.applyFloat(o, n.list[1:])
	}
	args := make([]value, len(n.list)-1)
	for i := range args {
		v, err := p.term(n.list[i+1])
		if err != nil {
			return value{}, err
		}
		args[i] = v
	}
	v, ok := p.apply(n.list[0], args)
	if !ok {
		return value{}, fmt.Errorf("smtlib: %v of %d operands, or of wrong sorts", n.list[0], len(args))
	}
	return v, nil
}

func (p *parser) atom(s string) (value, error) {
	if s == "true" || s == "false" {
		v := uint64(0)
		if s == "true" {
			v = 1
		}
		return value{p.ctx.Const(v, 1), true}, nil
	}
	if v, w, ok := parseLiteral(s); ok {
		return value{ref: p.ctx.Const(v, w)}, nil
	}
	if v, ok := p.names[s]; ok {
		return v, nil
	}
	return value{}, fmt.Errorf("smtlib: unknown symbol %s", s)
}

func (p *parser) let(n node) (value, error) {
	if len(n.list) != 3 {
		return value{}, fmt.Errorf("smtlib: %v", n)
	}
	bound := map[string]value{}
	for _, b := range n.list[1].list {
		if len(b.list) != 2 || b.list[0].atom == "" {
			return value{}, fmt.Errorf("smtlib: binding %v", b)
		}
		v, err := p.term(b.list[1])
		if err != nil {
			return value{}, err
		}
		bound[b.list[0].atom] = v
	}
	outer := map[string]value{}
	for name, v := range bound {
		if old, ok := p.names[name]; ok {
			outer[name] = old
		}
		p.names[name] = v
	}
	v, err := p.term(n.list[2])
	for name := range bound {
		delete(p.names, name)
		if old, ok := outer[name]; ok {
			p.names[name] = old
		}
	}
	return v, err
}

type binaryOp func(c *expr.Ctx, a, b expr.Ref) expr.Ref

var vectorOps = map[string]binaryOp{
	"bvand": (*expr.Ctx).And, "bvor": (*expr.Ctx).Or, "bvxor": (*expr.Ctx).Xor, "bvadd": (*expr.Ctx).Add,
	"bvsub": (*expr.Ctx).Sub, "bvmul": (*expr.Ctx).Mul, "bvudiv": (*expr.Ctx).UDiv, "bvurem": (*expr.Ctx).URem,
	"bvsdiv": (*expr.Ctx).SDiv, "bvsrem": (*expr.Ctx).SRem, "bvshl": (*expr.Ctx).Shl, "bvlshr": (*expr.Ctx).LShr,
	"bvashr": (*expr.Ctx).AShr,
}

var predicateOps = map[string]binaryOp{
	"=": (*expr.Ctx).Eq, "distinct": (*expr.Ctx).Ne, "bvult": (*expr.Ctx).Ult, "bvslt": (*expr.Ctx).Slt,
	"bvule": (*expr.Ctx).Ule, "bvsle": (*expr.Ctx).Sle,
}

var boolOps = map[string]binaryOp{"and": (*expr.Ctx).And, "or": (*expr.Ctx).Or, "xor": (*expr.Ctx).Xor}

// apply builds op of args; ok is false where the sorts do not fit.
func (p *parser) apply(op node, args []value) (v value, ok bool) {
	c := p.ctx
	a := args[0]
	if op.atom == "" {
		return p.indexed(op, args)
	}
	if f, ok := p.funcs[op.atom]; ok {
		return p.call(f, args)
	}
	switch len(args) {
	case 1:
		switch op.atom {
		case "not":
			return value{c.Not(a.ref), true}, a.bool
		case "bvnot":
			return value{ref: c.Not(a.ref)}, !a.bool
		case "bvneg":
			return value{ref: c.Neg(a.ref)}, !a.bool
		}
	case 2:
		if v, known, ok := p.binary(op.atom, a, args[1]); known {
			return v, ok
		}
	case 3:
		x, y := args[1], args[2]
		if op.atom == "ite" && a.bool && x.bool == y.bool && c.Width(x.ref) == c.Width(y.ref) {
			return value{c.Ite(a.ref, x.ref, y.ref), x.bool}, true
		}
	}
	f := boolOps[op.atom]
	if f == nil || !a.bool {
		return value{}, false
	}
	for _, b := range args[1:] {
		if !b.bool {
			return value{}, false
		}
		a.ref = f(c, a.ref, b.ref)
	}
	return a, true
}

// call applies a defined function.
func (p *parser) call(f function, args []value) (value, bool) {
	c, a := p.ctx, args[0]
	if a.bool || c.Width(a.ref) != f.iw {
		return value{}, false
	}
	if f.kind != expr.MulHU && f.kind != expr.MulHS {
		return value{ref: c.Select(f.vals, a.ref, f.ow)}, len(args) == 1
	}
	if len(args) != 2 || args[1].bool || c.Width(args[1].ref) != f.iw {
		return value{}, false
	}
	if f.kind == expr.MulHU {
		return value{ref: c.MulHU(a.ref, args[1].ref)}, true
	}
	return value{ref: c.MulHS(a.ref, args[1].ref)}, true
}

// binary applies an operator of two operands; known is false where it may be one of more.
func (p *parser) binary(op string, a, b value) (v value, known, ok bool) {
	c := p.ctx
	w := c.Width(a.ref)
	if op == "concat" {
		if a.bool || b.bool || w+c.Width(b.ref) > 64 {
			return value{}, true, false
		}
		return value{ref: c.Concat(a.ref, b.ref)}, true, true
	}
	if a.bool != b.bool || w != c.Width(b.ref) {
		return value{}, true, false
	}
	if f := predicateOps[op]; f != nil && (!a.bool || op == "=" || op == "distinct") {
		return value{f(c, a.ref, b.ref), true}, true, true
	}
	if f := vectorOps[op]; f != nil && !a.bool {
		return value{ref: f(c, a.ref, b.ref)}, true, true
	}
	return value{}, false, false
}

// indexed builds (_ extract i j), (_ zero_extend n) and (_ sign_extend n).
func (p *parser) indexed(op node, args []value) (value, bool) {
	c := p.ctx
	a := args[0]
	if len(args) != 1 || a.bool || len(op.list) < 3 || op.list[0].atom != "_" {
		return value{}, false
	}
	w := c.Width(a.ref)
	index := make([]uint, len(op.list)-2)
	for i := range index {
		n, err := strconv.ParseUint(op.list[i+2].atom, 10, 8)
		if err != nil {
			return value{}, false
		}
		index[i] = uint(n)
	}
	switch name := op.list[1].atom; {
	case name == "extract" && len(index) == 2:
		hi, lo := index[0], index[1]
		if lo > hi || hi >= w {
			return value{}, false
		}
		return value{ref: c.Extract(a.ref, lo, hi-lo+1)}, true
	case len(index) != 1 || w+index[0] > 64:
	case name == "zero_extend":
		return value{ref: c.ZExt(a.ref, w+index[0])}, true
	case name == "sign_extend":
		return value{ref: c.SExt(a.ref, w+index[0])}, true
	}
	return value{}, false
}
