package smtlib

import (
	"fmt"
	"strconv"
	"strings"

	"symchef/internal/expr"
	"symchef/internal/softfp"
)

// SMT-LIB has no function from a float to its bits. So the result of a float operation is a
// constant of its own, and a predicate relates it to the operands; the predicate gives NaNs
// the processor's bits. An operation that flushes denormals, which the theory lacks, is a
// function about which nothing is said.

// floatOp is a float kind with its environment and widths.
type floatOp struct {
	kind  expr.Kind
	env   expr.Env
	aw, w uint // of operands and result
}

var roundings = [...]string{softfp.Nearest: "RNE", softfp.Down: "RTN", softfp.Up: "RTP", softfp.Chop: "RTZ"}

// name names the operation, without the printer's prefix.
func (o floatOp) name() string {
	n := fmt.Sprintf("%v_%s_%d_%d", o.kind, roundings[o.env.Mode()], o.aw, o.w)
	if o.flushes() {
		n += "_ftz"
	}
	return n
}

func (o floatOp) flushes() bool { return o.env&expr.FTZ != 0 }

// parseFloatOp is the inverse of name.
func parseFloatOp(s string) (o floatOp, ok bool) {
	s, ftz := strings.CutSuffix(s, "_ftz")
	f := strings.Split(s, "_")
	if len(f) != 4 {
		return o, false
	}
	for k := expr.FAdd; k <= expr.FCvt; k++ {
		if k.String() == f[0] {
			o.kind = k
		}
	}
	mode := -1
	for m, name := range roundings {
		if name == f[1] {
			mode = m
		}
	}
	aw, err1 := strconv.ParseUint(f[2], 10, 7)
	w, err2 := strconv.ParseUint(f[3], 10, 7)
	if o.kind == 0 || mode < 0 || err1 != nil || err2 != nil || !expr.FloatWidths(o.kind, uint(aw), uint(w)) {
		return o, false
	}
	o.env, o.aw, o.w = expr.Env(mode), uint(aw), uint(w)
	if ftz {
		o.env |= expr.FTZ
	}
	return o, true
}

func vector(w uint) string { return fmt.Sprintf("(_ BitVec %d)", w) }

// toFP is the head of a conversion to floats of w bits.
func toFP(w uint) string {
	f := softfp.FormatOf(w)
	return fmt.Sprintf("(_ to_fp %d %d)", f.ExpBits(), f.Prec)
}

// definition defines the operation under a name: a predicate of operands and result.
func (o floatOp) definition(name string) string {
	var operands string
	for i := range o.kind.Arity() {
		operands += fmt.Sprintf("(%c %s) ", 'x'+i, vector(o.aw))
	}
	if o.flushes() {
		return fmt.Sprintf("(declare-fun %s (%s) %s)\n", name, strings.TrimSpace(strings.Repeat(vector(o.aw)+" ", o.kind.Arity())), vector(o.w))
	}
	return fmt.Sprintf("(define-fun %s (%s(r %s)) Bool %s)\n", name, operands, vector(o.w), o.body())
}

func (o floatOp) body() string {
	mode := roundings[o.env.Mode()]
	x, y := "("+toFP(o.aw)+" x)", "("+toFP(o.aw)+" y)"
	isNaN := func(s string) string { return "(fp.isNaN " + s + ")" }
	quiet := func(s string) string { return fmt.Sprintf("(bvor %s %s)", s, literal(softfp.QuietBit(o.aw), o.aw)) }
	// number relates r to a float.
	number := func(s string) string {
		return fmt.Sprintf("(ite (fp.isNaN %s) (= r %s) (= (%s r) %s))", s, literal(softfp.DefaultNaN(o.w), o.w), toFP(o.w), s)
	}
	switch o.kind {
	case expr.FAdd, expr.FSub, expr.FMul, expr.FDiv:
		op := map[expr.Kind]string{expr.FAdd: "add", expr.FSub: "sub", expr.FMul: "mul", expr.FDiv: "div"}[o.kind]
		return fmt.Sprintf("(ite %s (= r %s) (ite %s (= r %s) %s))", isNaN(x), quiet("x"), isNaN(y), quiet("y"),
			number(fmt.Sprintf("(fp.%s %s %s %s)", op, mode, x, y)))
	case expr.FSqrt:
		return fmt.Sprintf("(ite %s (= r %s) %s)", isNaN(x), quiet("x"), number(fmt.Sprintf("(fp.sqrt %s %s)", mode, x)))
	case expr.FFromI:
		return number(fmt.Sprintf("(%s %s x)", toFP(o.w), mode))
	case expr.FToI:
		whole := fmt.Sprintf("(fp.roundToIntegral %s %s)", mode, x)
		limit := fmt.Sprintf("(%s RNE %s)", toFP(o.aw), literal(1<<(o.w-1), o.w)) // the least integer
		return fmt.Sprintf("(= r (ite (and (fp.leq %s %s) (fp.lt %s (fp.neg %s))) ((_ fp.to_sbv %d) %s %s) %s))",
			limit, whole, whole, limit, o.w, mode, x, literal(1<<(o.w-1), o.w))
	}
	nan := "((_ extract 63 63) x) #xff ((_ extract 51 29) x)"
	if o.aw == 32 {
		nan = fmt.Sprintf("((_ extract 31 31) x) #b11111111111 ((_ extract 22 0) x) %s", literal(0, 29))
	}
	return fmt.Sprintf("(ite %s (= r (bvor (concat %s) %s)) %s)", isNaN(x), nan, literal(softfp.QuietBit(o.w), o.w),
		number(fmt.Sprintf("(%s %s %s)", toFP(o.w), mode, x)))
}

// float makes the term of a float operation over the terms of its operands.
func (p *printer) float(r expr.Ref, args string) string {
	c := p.ctx
	o := floatOp{c.Kind(r), c.Env(r), c.Width(c.A(r)), c.Width(r)}
	name := p.prefix + o.name()
	if !p.helpers[name] {
		p.helpers[name] = true
		p.out.WriteString(o.definition(name))
	}
	if o.flushes() {
		return "(" + name + " " + args + ")"
	}
	p.names++
	res := p.prefix + strconv.Itoa(p.names)
	fmt.Fprintf(&p.out, "(declare-const %s %s)\n(assert (%s %s %s))\n", res, vector(o.w), name, args, res)
	return res
}

// floatOf reads a float operation's name as Print makes it.
func floatOf(name string) (floatOp, bool) { return parseFloatOp(strings.TrimLeft(name, "?")) }

// results returns the constants that float operations of commands define, by name.
func results(commands []node) map[string]bool {
	of := map[string]bool{}
	for _, cmd := range commands {
		if cmd.is("assert", 2) && len(cmd.list[1].list) > 2 {
			l := cmd.list[1].list
			if _, ok := floatOf(l[0].atom); ok {
				of[l[len(l)-1].atom] = true
			}
		}
	}
	return of
}

// defineFloat reads a definition as floatOp's.
func (p *parser) defineFloat(o floatOp, cmd node) error {
	name := cmd.list[1].atom
	if strings.TrimSpace(o.definition(name)) != cmd.String() {
		return fmt.Errorf("smtlib: function %s", name)
	}
	p.floats[name] = o
	return nil
}

// assertFloat reads (name operands result).
func (p *parser) assertFloat(o floatOp, n node) error {
	args := n.list[1:]
	if len(args) != o.kind.Arity()+1 {
		return fmt.Errorf("smtlib: %v", n)
	}
	v, err := p.applyFloat(o, args[:len(args)-1])
	if err == nil {
		p.names[args[len(args)-1].atom] = v
	}
	return err
}

func (p *parser) applyFloat(o floatOp, args []node) (value, error) {
	var x [2]expr.Ref
	if len(args) != o.kind.Arity() {
		return value{}, fmt.Errorf("smtlib: %d operands of %s", len(args), o.name())
	}
	for i, a := range args {
		v, err := p.term(a)
		if err != nil {
			return value{}, err
		}
		if v.bool || p.ctx.Width(v.ref) != o.aw {
			return value{}, fmt.Errorf("smtlib: %v is no operand of %s", a, o.name())
		}
		x[i] = v.ref
	}
	return value{ref: p.ctx.Float(o.kind, o.env, x[0], x[1], o.w)}, nil
}
