package lift_test

import (
	"fmt"
	"testing"

	"symchef/internal/cpucheck"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/lift"
	"symchef/internal/mutate/image"
	"symchef/internal/smtlib"
)

// encodings is how many encodings of each form are in the image.
const encodings = 8

// TestImage writes what every form does to symbolic registers and memory.
func TestImage(t *testing.T) {
	out := image.New(t)
	r := cpucheck.NewRand(1, 2)
	for _, f := range cpucheck.Forms() {
		if _, modelled := cpucheck.Modelled[f.Op]; modelled {
			continue
		}
		for i := range encodings {
			c, ok := f.Case(r.Rand)
			if !ok {
				continue
			}
			code := c.Check.Code
			b, err := lift.Lift(cpucheck.CodeBase, func(addr uint64, p []byte) int {
				if off := addr - cpucheck.CodeBase; off < uint64(len(code)) {
					return copy(p, code[off:])
				}
				return 0
			})
			if err != nil {
				t.Fatalf("%s: % x: %v", f.Name, code, err)
			}
			s := newSymbolic(uint64(i))
			s.run(b)
			out.Form(fmt.Sprintf("%s: % x", f.Name, code), append(s.log, smtlib.Print(s.e, nil, s.outs...))...)
		}
	}
}

// symbolic executes one block on symbolic registers. Its events, in their order, and what they are given are its
// results; what a load or a helper gives is a variable.
type symbolic struct {
	e      *expr.Ctx
	start  [ir.NumSlots]expr.Ref
	r      [ir.NumSlots]expr.Ref
	log    []string
	outs   []smtlib.Definition
	loaded int
}

// newSymbolic returns a machine whose slots are variables, but those that are concrete by contract.
func newSymbolic(seed uint64) *symbolic {
	s := &symbolic{e: expr.New()}
	for i := range s.r {
		s.r[i] = s.e.Var(fmt.Sprintf("r%d", i), 64)
	}
	for slot, v := range map[ir.Slot]uint64{
		ir.Zero: 0, ir.CCOp: uint64(ir.MakeCC(ir.CCFlags, 64)), ir.DF: seed & 1, ir.MXCSR: 0x1f80 | seed%4<<13 | seed>>2&1<<15,
		ir.FTop: seed & 7, ir.FCW: 0x37f | seed%4<<10, ir.FSW: 0, ir.FTag: []uint64{0xff, 0xff, 0x5a, 0}[seed%4],
	} {
		s.r[slot] = s.e.Const(v, 64)
	}
	s.start = s.r
	return s
}

func (s *symbolic) event(format string, args ...any) {
	s.log = append(s.log, "; "+fmt.Sprintf(format, args...))
}

// result is a value that an event is given, of which the low w bits count.
func (s *symbolic) result(r expr.Ref, w uint) {
	r = s.e.Extract(r, 0, w)
	if w == 1 {
		r = s.e.ZExt(r, 8)
	}
	s.outs = append(s.outs, smtlib.Definition{Name: fmt.Sprintf("out.%d", len(s.outs)), Value: r})
}

// state makes results of all slots that have changed: what a fault or the end of the block shows.
func (s *symbolic) state() {
	for i := range ir.NumState {
		if s.r[i] != s.start[i] {
			s.event("slot %d", i)
			s.result(s.r[i], 64)
		}
	}
}

// run executes b.
func (s *symbolic) run(b *ir.Block) {
	e, r := s.e, &s.r
	s.event("%#x %#x %#x %v", b.PC, b.Next, b.Taken, b.Insns)
	for i := range b.Uops {
		u := &b.Uops[i]
		w := uint(u.W)
		addr := func() expr.Ref {
			return e.Add(e.Add(r[u.A], e.Shl(r[u.B], e.Const(uint64(u.Scale), 64))), e.Const(u.Imm, 64))
		}
		cc := func() (ir.CC, expr.Ref, expr.Ref, expr.Ref) {
			op, ok := e.IsConst(r[ir.CCOp])
			if !ok {
				panic("symbolic CCOp")
			}
			return ir.CC(op), r[ir.CCA], r[ir.CCB], r[ir.CCC]
		}
		flags := func() expr.Ref { op, a, b, c := cc(); return ir.SymFlags(e, op, a, b, c) }
		setCC := func() { r[ir.CCOp], r[ir.CCA], r[ir.CCB], r[ir.CCC] = e.Const(u.Imm, 64), r[u.A], r[u.B], r[u.C] }
		if row := ir.RowOf(u.Op); row != nil {
			x, y := r[u.A], r[u.B]
			switch {
			case u.Op == ir.Lea:
				y = e.Add(e.Shl(y, e.Const(uint64(u.Scale), 64)), e.Const(u.Imm, 64))
			case !row.Param:
				y = e.Add(y, e.Const(u.Imm, 64))
			}
			r[u.D] = row.Sym(e, x, y, r[u.C], w, uint(u.X), u.Imm)
			continue
		}
		switch u.Op {
		case ir.SetCC:
			setCC()
			continue
		case ir.SetCCIf:
			on, old := e.Ne(e.Extract(r[u.D], 0, w), e.Const(0, w)), flags()
			setCC()
			r[ir.CCA] = e.Ite(on, flags(), old)
			r[ir.CCOp], r[ir.CCB], r[ir.CCC] = e.Const(uint64(ir.MakeCC(ir.CCFlags, 64)), 64), e.Const(0, 64), e.Const(0, 64)
			continue
		case ir.Cond:
			op, a, b, c := cc()
			r[u.D] = e.ZExt(ir.SymCond(e, u.Imm, op, a, b, c), 64)
			continue
		case ir.GetFlags:
			r[u.D] = flags()
			continue
		}
		s.event("%v %d %d", u.Op, u.W, u.X)
		s.state()
		switch u.Op {
		case ir.Load:
			s.result(addr(), 64)
			r[u.D] = e.ZExt(e.Var(fmt.Sprintf("m%d", s.loaded), w), 64)
			s.loaded++
		case ir.Store:
			s.result(addr(), 64)
			s.result(r[u.C], w)
		case ir.Helper:
			h := &ir.Helpers[u.Imm]
			s.event("%s %+v", h.Name, *u)
			h.Slots(u, func(slot ir.Slot) { s.result(r[slot], 64) }, func(ir.Slot) {})
			h.Slots(u, func(ir.Slot) {}, func(slot ir.Slot) {
				r[slot] = e.Var(fmt.Sprintf("h%d.%d", i, slot), 64)
				if slot == ir.CCOp || slot >= ir.FTop && slot <= ir.FTag || slot == ir.MXCSR || slot == ir.DF {
					r[slot] = s.start[slot]
				}
			})
		case ir.TrapIf, ir.SkipIf, ir.Brnz, ir.JmpInd:
			s.event("%d", u.Imm)
			s.result(r[u.A], max(w, 8))
		case ir.Jcc:
			op, a, b, c := cc()
			s.result(ir.SymCond(e, u.Imm, op, a, b, c), 1)
		default:
			s.event("%d", u.Imm)
		}
	}
}
