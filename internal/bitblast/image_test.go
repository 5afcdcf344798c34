package bitblast

import (
	"fmt"
	"strings"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/mutate/image"
)

// TestImage writes circuits: of one constructor at many widths, of two at few, and of floats.
func TestImage(t *testing.T) {
	out := image.New(t)
	form := func(c *expr.Ctx, name string, r expr.Ref) { out.Form(name, circuitText(c, r)...) }
	for _, w := range []uint{1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 31, 32, 33, 64} {
		c := expr.New()
		image.Over(c, image.Variable(c, w), func(s image.Shape) { form(c, fmt.Sprintf("%s %d", s.Name, w), s.Ref) })
	}
	for _, w := range []uint{1, 2, 3, 5} {
		c, n := expr.New(), 0
		image.Over(c, image.Variable(c, w), func(s image.Shape) {
			image.Over(c, s, func(s image.Shape) {
				if n++; n%7 == 0 || w < 3 {
					form(c, fmt.Sprintf("%s %d", s.Name, w), s.Ref)
				}
			})
		})
	}
	for n := range 40 { // tables of all lengths, and products with constants of many shapes
		c := expr.New()
		vals := make([]uint64, n+1)
		for i := range vals {
			vals[i] = uint64(i*i*37+n) & 0xff
		}
		for _, w := range []uint{1, 3, 5, 8} {
			form(c, fmt.Sprintf("table %d %d", n, w), c.Select(vals, c.Var(fmt.Sprint("i", w), w), 8))
		}
		k := uint64(n*n*n*2654435761 + n)
		form(c, fmt.Sprintf("times %#x", k), c.Mul(c.Var("x32", 32), c.Const(k, 32)))
		form(c, fmt.Sprintf("over %#x", k), c.UDiv(c.Var("x16", 16), c.Const(k, 16)))
		form(c, fmt.Sprintf("modulo %#x", k), c.SRem(c.Var("x16", 16), c.Const(k, 16)))
	}
	for k := expr.FAdd; k <= expr.FCvt; k++ {
		for _, aw := range []uint{8, 16, 32, 64} {
			for _, w := range []uint{16, 32, 64} {
				if !expr.FloatWidths(k, aw, w) || w == 64 && (k == expr.FDiv || k == expr.FSqrt) {
					continue
				}
				for env := range expr.Env(8) {
					c := expr.New()
					x, y := c.Var("x", aw), expr.Ref(0)
					if k.Arity() == 2 {
						y = c.Var("y", aw)
					}
					form(c, fmt.Sprintf("%v %d %d %d", k, env, aw, w), c.Float(k, env, x, y, w))
				}
			}
		}
	}
}

// circuitText writes the gates of r as Bools, in the order in which they are reached from its bits.
func circuitText(c *expr.Ctx, r expr.Ref) []string {
	g := NewGraph(c)
	bits := g.Bits(r)
	p := &circuitPrinter{g: g, name: map[Lit]string{}, inputs: map[uint32]bool{}, conditions: map[uint32]bool{}}
	out := make([]string, len(bits))
	for i, l := range bits {
		out[len(bits)-1-i] = "(ite " + p.lit(l) + " #b1 #b0)"
	}
	var sides []string
	for done := false; !done; { // what they demand may reach more of them
		done = true
		for n := range g.sides {
			if p.conditions[uint32(n)] {
				p.conditions[uint32(n)], done = false, false
				for _, l := range g.sides[n] {
					sides = append(sides, p.lit(l))
				}
			}
		}
	}
	lines := append(p.declared, p.lines...)
	if len(sides) > 0 {
		lines = append(lines, "(define-fun ?side () Bool (and true "+strings.Join(sides, " ")+"))", "(assert ?side)")
	}
	value := out[0]
	if len(out) > 1 {
		value = "(concat " + strings.Join(out, " ") + ")"
	}
	return append(lines, fmt.Sprintf("(define-fun |out.0| () (_ BitVec %d) %s)", len(out), value))
}

type circuitPrinter struct {
	g               *Graph
	name            map[Lit]string
	inputs          map[uint32]bool
	conditions      map[uint32]bool // by number of the side conditions: not written yet
	declared, lines []string
	fresh           int
}

// lit returns the text of an edge.
func (p *circuitPrinter) lit(l Lit) string {
	switch {
	case l == False:
		return "false"
	case l == True:
		return "true"
	case l&1 != 0:
		return "(not " + p.lit(l^1) + ")"
	}
	if s, ok := p.name[l]; ok {
		return s
	}
	t := p.g.gates[l>>1]
	gate := func(op string, operands ...uint32) string {
		for _, x := range operands {
			op += " " + p.lit(Lit(x))
		}
		return "(" + op + ")"
	}
	var text string
	switch t.op {
	case opInput:
		v := expr.VarID(t.a)
		if !p.inputs[t.a] {
			p.inputs[t.a] = true
			p.declared = append(p.declared, fmt.Sprintf("(declare-const |%s| (_ BitVec %d))", p.g.ctx.VarName(v), p.g.ctx.VarWidth(v)))
		}
		text = fmt.Sprintf("(= ((_ extract %d %d) |%s|) #b1)", t.b, t.b, p.g.ctx.VarName(v))
	case opAux:
		if _, known := p.conditions[t.a]; !known {
			p.conditions[t.a] = true
		}
		name := fmt.Sprintf("?fresh%d", p.fresh)
		p.fresh++
		p.declared = append(p.declared, fmt.Sprintf("(declare-const %s Bool)", name))
		p.name[l] = name
		return name
	case opAnd:
		text = gate("and", t.a, t.b)
	case opXor:
		text = gate("xor", t.a, t.b)
	case opMux:
		text = gate("ite", t.a, t.b, t.c)
	case opMaj:
		a, b, c := p.lit(Lit(t.a)), p.lit(Lit(t.b)), p.lit(Lit(t.c))
		text = fmt.Sprintf("(or (and %s %s) (and %s %s) (and %s %s))", a, b, a, c, b, c)
	}
	name := fmt.Sprintf("?%d", len(p.lines))
	p.lines = append(p.lines, fmt.Sprintf("(define-fun %s () Bool %s)", name, text))
	p.name[l] = name
	return name
}
