package image

import (
	"fmt"

	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/smtlib"
)

// Symbolic executes blocks on a register file of expressions. What a micro-op with an effect does is up to its user.
type Symbolic struct {
	E *expr.Ctx
	R [ir.NumSlots]expr.Ref
	// Effect executes micro-op i of a block, one that is neither pure nor about the lazy flags.
	Effect func(i int, u *ir.Uop)
}

// concrete are the slots that are concrete by contract, with the values with which a process starts.
var concrete = map[ir.Slot]uint64{ir.Zero: 0, ir.CCOp: uint64(ir.MakeCC(ir.CCFlags, 64)), ir.DF: 0, ir.MXCSR: 0x1f80,
	ir.FTop: 0, ir.FCW: 0x37f, ir.FSW: 0, ir.FTag: 0}

// NewSymbolic returns a machine whose slots are the variables r0, r1 ..., but the concrete ones, which have the values of fixed or their first ones.
func NewSymbolic(fixed map[ir.Slot]uint64) *Symbolic {
	s := &Symbolic{E: expr.New()}
	for i := range s.R {
		s.R[i] = s.E.Var(fmt.Sprintf("r%d", i), 64)
	}
	for slot, v := range concrete {
		if f, ok := fixed[slot]; ok {
			v = f
		}
		s.R[slot] = s.E.Const(v, 64)
	}
	return s
}

// Addr returns the address of a load or store.
func (s *Symbolic) Addr(u *ir.Uop) expr.Ref {
	e := s.E
	return e.Add(e.Add(s.R[u.A], e.Shl(s.R[u.B], e.Const(uint64(u.Scale), 64))), e.Const(u.Imm, 64))
}

// Cond returns condition Imm of the lazy flags, one bit.
func (s *Symbolic) Cond(u *ir.Uop) expr.Ref {
	return ir.SymCond(s.E, u.Imm, s.cc(), s.R[ir.CCA], s.R[ir.CCB], s.R[ir.CCC])
}

func (s *Symbolic) cc() ir.CC {
	op, ok := s.E.IsConst(s.R[ir.CCOp])
	if !ok {
		panic("image: symbolic CCOp")
	}
	return ir.CC(op)
}

func (s *Symbolic) flags() expr.Ref {
	return ir.SymFlags(s.E, s.cc(), s.R[ir.CCA], s.R[ir.CCB], s.R[ir.CCC])
}

// setCC makes the lazy flags those of u.
func (s *Symbolic) setCC(u *ir.Uop) {
	r := &s.R
	r[ir.CCOp], r[ir.CCA], r[ir.CCB], r[ir.CCC] = s.E.Const(u.Imm, 64), r[u.A], r[u.B], r[u.C]
}

// Run executes b.
func (s *Symbolic) Run(b *ir.Block) {
	e, r := s.E, &s.R
	for i := range b.Uops {
		u := &b.Uops[i]
		switch row := ir.RowOf(u.Op); {
		case row != nil:
			x, y := r[u.A], r[u.B]
			switch {
			case u.Op == ir.Lea:
				y = e.Add(e.Shl(y, e.Const(uint64(u.Scale), 64)), e.Const(u.Imm, 64))
			case !row.Param:
				y = e.Add(y, e.Const(u.Imm, 64))
			}
			r[u.D] = row.Sym(e, x, y, r[u.C], uint(u.W), uint(u.X), u.Imm)
		case u.Op == ir.SetCC:
			s.setCC(u)
		case u.Op == ir.SetCCIf:
			on, old := e.Ne(e.Extract(r[u.D], 0, uint(u.W)), e.Const(0, uint(u.W))), s.flags()
			s.setCC(u)
			r[ir.CCA] = e.Ite(on, s.flags(), old)
			r[ir.CCOp], r[ir.CCB], r[ir.CCC] = e.Const(uint64(ir.MakeCC(ir.CCFlags, 64)), 64), e.Const(0, 64), e.Const(0, 64)
		case u.Op == ir.Cond:
			r[u.D] = e.ZExt(s.Cond(u), 64)
		case u.Op == ir.GetFlags:
			r[u.D] = s.flags()
		default:
			s.Effect(i, u)
		}
	}
}

// Results are the events of an execution and the values that go with them.
type Results struct {
	E    *expr.Ctx
	log  []string
	outs []smtlib.Definition
}

// Event notes what happens.
func (l *Results) Event(format string, args ...any) {
	l.log = append(l.log, "; "+fmt.Sprintf(format, args...))
}

// Value notes a value, of which the low w bits count.
func (l *Results) Value(r expr.Ref, w uint) {
	r = l.E.Extract(r, 0, w)
	if w == 1 {
		r = l.E.ZExt(r, 8)
	}
	l.outs = append(l.outs, smtlib.Definition{Name: fmt.Sprintf("out.%d", len(l.outs)), Value: r})
}

// Text is the form: one event a line, and the values.
func (l *Results) Text() []string { return append(l.log, smtlib.Print(l.E, nil, l.outs...)) }

// Helper notes a call of a helper, micro-op i; the slots that it writes become variables, but the concrete ones.
func (l *Results) Helper(s *Symbolic, i int, u *ir.Uop) {
	h := &ir.Helpers[u.Imm]
	l.Event("%s %+v", h.Name, *u)
	h.Slots(u, func(slot ir.Slot) { l.Value(s.R[slot], 64) }, func(ir.Slot) {})
	h.Slots(u, func(ir.Slot) {}, func(slot ir.Slot) {
		if _, ok := concrete[slot]; !ok {
			s.R[slot] = s.E.Var(fmt.Sprintf("h%d.%d", i, slot), 64)
		}
	})
}
