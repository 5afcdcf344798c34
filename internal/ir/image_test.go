package ir_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"symchef/internal/cpucheck"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mutate/image"
	"symchef/internal/smtlib"
)

// TestImage writes the expressions of every row at every width, with every parameter and some constant operands, and those
// of the lazy flags; what rows of integers and vectors and the lazy flags compute on numbers; and what micro-ops read and write.
func TestImage(t *testing.T) {
	out := image.New(t)
	r := rand.New(rand.NewPCG(1, 2))
	form := func(name string, c *expr.Ctx, refs ...expr.Ref) {
		var defs []smtlib.Definition
		for i, r := range refs {
			if c.Width(r) == 1 {
				r = c.ZExt(r, 8)
			}
			defs = append(defs, smtlib.Definition{Name: fmt.Sprintf("out.%d", i), Value: r})
		}
		out.Form(name, smtlib.Print(c, nil, defs...))
	}
	for o := range 256 {
		if row := ir.RowOf(ir.Op(o)); row != nil {
			imageRow(form, ir.Op(o), row)
		}
	}
	eachRow(func(name string, row *ir.Row, w, x uint, imm uint64) {
		c := expr.New()
		e, err := evaluated(c, row, w, x, imm)
		if err != nil {
			out.Form("eval "+name, "; "+err.Error())
			return
		}
		form("eval "+name, c, e)
		for range 20 { // for the coverage, which a lifted function has none of
			row.Eval(cpucheck.Value(r), cpucheck.Value(r), cpucheck.Value(r), w, x, imm)
		}
	})
	for o := range 256 {
		if op := ir.Op(o); ir.RowOf(op) != nil || op >= ir.Load && op <= ir.Unsup && op != ir.Helper {
			var slots []ir.Slot
			note := func(s ir.Slot) { slots = append(slots, s) }
			u := ir.Uop{Op: op, D: 1, A: 2, B: 3, C: 4}
			u.Uses(note)
			slots = append(slots, ir.Zero)
			u.Defs(note)
			out.Form(fmt.Sprintf("slots of %v", op), fmt.Sprintf("; %v", slots))
		}
	}
	for k := range ir.CCResult + 1 {
		for _, w := range []uint{8, 16, 32, 64} {
			cc := ir.MakeCC(k, w)
			c := expr.New()
			if e, err := evaluatedFlags(c, cc); err != nil {
				out.Form(fmt.Sprintf("eval flags %d %d", k, w), "; "+err.Error())
			} else {
				form(fmt.Sprintf("eval flags %d %d", k, w), c, e)
				for range 20 {
					ir.Flags(cc, cpucheck.Value(r), 1+r.Uint64N(64), cpucheck.Value(r))
				}
			}
			for _, s := range operandSets() {
				a, b, d := s.make(c)
				var refs []expr.Ref
				for cond := range uint64(16) {
					refs = append(refs, ir.SymCond(c, cond, cc, a, b, d))
				}
				form(fmt.Sprintf("flags %d %d %s", k, w, s.name), c, append(refs, ir.SymFlags(c, cc, a, b, d))...)
			}
		}
	}
}

// operandSet makes operands a, b, c.
type operandSet struct {
	name string
	make func(c *expr.Ctx) (x, y, z expr.Ref)
}

// operandSets returns three variables, and variables with one constant.
func operandSets() []operandSet {
	vars := func(c *expr.Ctx) [3]expr.Ref { return [3]expr.Ref{c.Var("a", 64), c.Var("b", 64), c.Var("c", 64)} }
	sets := []operandSet{{"abc", func(c *expr.Ctx) (x, y, z expr.Ref) { v := vars(c); return v[0], v[1], v[2] }}}
	for i := range 3 {
		for _, k := range []uint64{0, 1, 7, 8, 31, 32, 63, 64, 0xff, 1 << 63, ^uint64(0)} {
			sets = append(sets, operandSet{fmt.Sprintf("%d is %#x", i, k), func(c *expr.Ctx) (x, y, z expr.Ref) {
				v := vars(c)
				v[i] = c.Const(k, 64)
				return v[0], v[1], v[2]
			}})
		}
	}
	return sets
}

func imageRow(form func(string, *expr.Ctx, ...expr.Ref), o ir.Op, row *ir.Row) {
	sets := operandSets()
	if o >= ir.FirstFloat { // C is MXCSR, always concrete
		sets = nil
		for _, special := range []uint64{0, 1 << 6, 1 << 15, 1<<6 | 1<<15} {
			for mode := range uint64(4) {
				m := 0x1f80 | special | mode<<13
				sets = append(sets, operandSet{fmt.Sprintf("%#x", m), func(c *expr.Ctx) (x, y, z expr.Ref) {
					return c.Var("a", 64), c.Var("b", 64), c.Const(m, 64)
				}})
			}
		}
	}
	imms := uint64(1)
	if row.Param {
		imms = 256
	}
	if o >= ir.FirstFloat {
		imms = min(imms, 16)
	}
	for _, w := range []uint{1, 2, 4, 8, 16, 32, 64} {
		for _, x := range []uint{8, 16, 32, 64} {
			c := expr.New()
			for imm := range imms {
				if !valid(o, w, x, imm) {
					continue
				}
				for i, s := range sets {
					if i > 0 && imm > 0 && o < ir.FirstFloat {
						break
					}
					a, b, d := s.make(c)
					form(fmt.Sprintf("%s %d %d %d %s", row.Name, w, x, imm, s.name), c, row.Sym(c, a, b, d, w, x, imm))
				}
			}
		}
	}
}

// valid reports whether a row has a meaning with these widths and this parameter (see params).
func valid(o ir.Op, w, x uint, imm uint64) bool {
	switch {
	case o == ir.Sx:
		return w >= 8 && x >= w && imm == 0
	case o == ir.Get || o == ir.Put:
		return x == 64 && imm <= uint64(64-w)
	case o == ir.VSxt || o == ir.VZxt:
		return w >= 8 && x > w && imm <= uint64(64/w-64/x)
	case o >= ir.FirstFloat:
		return w >= 32 && x >= 32 && (o != ir.FCvt || x == 96-w)
	case w < 8 || x != 64:
		return false
	case o == ir.VAlign:
		return imm <= 8
	case o == ir.VAddSS || o == ir.VAddUS || o == ir.VSubSS || o == ir.VSubUS || o == ir.VAvgU || o == ir.VZipLo || o == ir.VZipHi ||
		o == ir.VEven || o == ir.VOdd || o == ir.VMulRS:
		return w <= 32
	case o == ir.VMAddUS:
		return w == 16 || w == 32
	case o == ir.VBits:
		return imm <= uint64(64-64/w)
	case o == ir.VMpsad || o == ir.VMinPos:
		return w == 16
	case o == ir.VPerm:
		return w == 8
	}
	return true
}
