package exec

import (
	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// concolic runs a block from uop i on, computing expressions beside values. It
// returns like fast; with stopped the reason too. A terminator whose condition
// or target is symbolic is a decision, unless the path fixes it already.
func (m *Machine) concolic(c *cpu.CPU, s *mem.Space, blk *ir.Block, i int) (int, status, Stop) {
	m.endEpoch()
	m.undo.save(c)
	i, st, stop := m.concolicUops(c, s, blk, i)
	if st != ok {
		m.undo.restore(c)
	}
	return i, st, stop
}

// undo holds the state slots at the start of the present instruction. An
// instruction that stops half-way (a call whose target must be decided, after
// its push) is executed again from there; its stores so far are repeated.
type undo struct {
	r   [ir.NumState]uint64
	s   [ir.NumState]expr.Ref
	sym ir.SlotSet
}

func (b *undo) save(c *cpu.CPU) {
	copy(b.r[:], c.R[:])
	copy(b.s[:], c.S[:])
	b.sym = c.Sym
}

func (b *undo) restore(c *cpu.CPU) {
	copy(c.R[:], b.r[:])
	copy(c.S[:], b.s[:])
	c.Sym = b.sym
}

func (m *Machine) concolicUops(c *cpu.CPU, s *mem.Space, blk *ir.Block, i int) (int, status, Stop) {
	r := &c.R
	_, insn := blk.PCOf(i)
	begins := int(blk.Insns[insn].Uop) == i
	for ; ; i++ {
		if insn+1 < len(blk.Insns) && int(blk.Insns[insn+1].Uop) <= i {
			_, insn = blk.PCOf(i) // past instructions without uops
			m.undo.save(c)
			begins = true
		}
		if begins {
			// A frame of symbolic size would make whatever is on the stack a choice among all that may be.
			if due := m.fix(c, ir.RSP, 0); due != nil {
				return i, stopped, *due
			}
			begins = false
		}
		u := &blk.Uops[i]
		m.at(blk, i)
		switch u.Op {
		case ir.Load:
			if st, stop := m.symLoad(c, s, u); st != ok {
				return i, st, stop
			}
		case ir.Store:
			if st, stop := m.symStore(c, s, u); st != ok {
				return i, st, stop
			}
		case ir.SetCC:
			m.setCC(c, u)
		case ir.SetCCIf:
			if !c.Sym.Has(u.D) {
				if r[u.D]&masks[u.W] != 0 {
					m.setCC(c, u)
				}
				continue
			}
			m.setCCIf(c, u)
		case ir.Cond:
			v := b2u(cond(u.Imm, r))
			if m.ccSym(c) {
				m.set(c, u.D, v, m.Ctx.ZExt(m.symCond(c, u.Imm), 64))
			} else {
				c.Set(u.D, v)
			}
		case ir.GetFlags:
			v := ir.Flags(ir.CC(r[ir.CCOp]), r[ir.CCA], r[ir.CCB], r[ir.CCC])
			if m.ccSym(c) {
				m.set(c, u.D, v, ir.SymFlags(m.Ctx, ir.CC(r[ir.CCOp]), m.ref(c, ir.CCA), m.ref(c, ir.CCB), m.ref(c, ir.CCC)))
			} else {
				c.Set(u.D, v)
			}
		case ir.TrapIf:
			taken := r[u.A]&masks[u.W] != 0
			if c.Sym.Has(u.A) {
				v, stop := m.decideBool(m.nonZero(c, u.A, u.W))
				if stop != nil {
					return i, stopped, *stop
				}
				taken = v
			}
			if taken {
				m.trap = ir.TrapKind(u.Imm)
				return i, trapped, Stop{}
			}
		case ir.SkipIf:
			skip := r[u.A]&masks[u.W] != 0
			if c.Sym.Has(u.A) {
				v, stop := m.decideBool(m.nonZero(c, u.A, u.W))
				if stop != nil {
					return i, stopped, *stop
				}
				skip = v
			}
			if skip {
				m.dropTemps(c)
				return i, ok, Stop{}
			}
		case ir.Helper:
			if st, stop := m.symHelper(c, s, u); st != ok {
				return i, st, stop
			}
		case ir.Jcc, ir.Brnz:
			var condRef expr.Ref
			if u.Op == ir.Jcc && m.ccSym(c) {
				condRef = m.symCond(c, u.Imm)
			} else if u.Op == ir.Brnz && c.Sym.Has(u.A) {
				condRef = m.nonZero(c, u.A, u.W)
			}
			m.taken = m.branch(c, u)
			if condRef != 0 {
				v, stop := m.decideBool(condRef)
				if stop != nil {
					return i, stopped, *stop
				}
				m.taken = v
			}
			m.dropTemps(c)
			return i, ok, Stop{}
		case ir.JmpInd:
			if c.Sym.Has(u.A) {
				v, known := m.value(c.S[u.A])
				if !known {
					return i, stopped, Stop{Kind: Decide, Decision: Target, Ref: c.S[u.A]}
				}
				c.Set(u.A, v)
			}
			m.dropTemps(c)
			return i, ok, Stop{}
		case ir.Jmp, ir.Syscall, ir.Trap, ir.Unsup:
			m.dropTemps(c)
			return i, ok, Stop{}
		default:
			m.pure(c, u)
		}
	}
}

// ref returns the expression of slot s, a constant where it is concrete.
func (m *Machine) ref(c *cpu.CPU, s ir.Slot) expr.Ref {
	if c.Sym.Has(s) {
		return c.S[s]
	}
	return m.Ctx.Const(c.R[s], 64)
}

// set writes a value with its expression, concrete if that is a constant.
func (m *Machine) set(c *cpu.CPU, s ir.Slot, v uint64, r expr.Ref) {
	if k, isConst := m.Ctx.IsConst(r); isConst {
		c.Set(s, k)
		return
	}
	c.SetSym(s, v, r)
}

// value returns the value that the path fixes for r.
func (m *Machine) value(r expr.Ref) (uint64, bool) {
	if v, isConst := m.Ctx.IsConst(r); isConst {
		return v, true
	}
	if v, known := m.facts.Fixed[r]; known {
		return v, true
	}
	r = m.facts.simplify(m.Ctx, r)
	if v, known := m.facts.Fixed[r]; known { // decided in its simple form
		return v, true
	}
	return m.Ctx.IsConst(r)
}

// decideBool returns the value of a 1-bit expression on this path, or the decision that is due.
func (m *Machine) decideBool(r expr.Ref) (bool, *Stop) {
	if v, isConst := m.Ctx.IsConst(r); isConst {
		return v != 0, nil
	}
	// Conditions are not simplified by what the path fixes: a walk over their
	// graph at every branch costs more than the queries it saves.
	if v, known := m.facts.Fixed[r]; known {
		return v != 0, nil
	}
	// One fact serves a condition and its negation.
	if m.Ctx.Kind(r) == expr.Not {
		v, stop := m.decideBool(m.Ctx.A(r))
		return !v, stop
	}
	if v, known := m.bounded(r); known {
		return v, nil
	}
	return false, &Stop{Kind: Decide, Decision: Branch, Ref: r}
}

// bounded returns the value of a comparison with a constant, or of a bit, where the bounds of what it looks at settle it.
func (m *Machine) bounded(r expr.Ref) (v, known bool) {
	e := m.Ctx
	var x expr.Ref
	var k uint64
	swapped := false
	switch kind := e.Kind(r); kind {
	case expr.Ult, expr.Eq:
		isConst := false
		if x = e.A(r); kind == expr.Ult {
			if k, isConst = e.IsConst(x); isConst {
				x, swapped = e.B(r), true
				break
			}
		}
		if k, isConst = e.IsConst(e.B(r)); !isConst {
			return false, false
		}
	case expr.Extract:
		x, k = e.A(r), uint64(e.Lo(r))
	default:
		return false, false
	}
	w, known := m.facts.Within[x]
	if !known {
		return false, false
	}
	switch kind := e.Kind(r); {
	case kind == expr.Extract:
		return w[0]>>k&1 != 0, w[0]>>k == w[1]>>k
	case kind == expr.Eq:
		return false, k < w[0] || k > w[1]
	case swapped:
		return k < w[0], k < w[0] || k >= w[1]
	}
	return w[1] < k, w[1] < k || w[0] >= k
}

func (m *Machine) nonZero(c *cpu.CPU, s ir.Slot, w uint8) expr.Ref {
	return m.Ctx.Ne(m.Ctx.Extract(c.S[s], 0, uint(w)), m.Ctx.Const(0, uint(w)))
}

func (m *Machine) ccSym(c *cpu.CPU) bool {
	return c.Sym[ir.CCA>>6]&(1<<ir.CCA|1<<ir.CCB|1<<ir.CCC) != 0
}

func (m *Machine) symCond(c *cpu.CPU, cc uint64) expr.Ref {
	return ir.SymCond(m.Ctx, cc, ir.CC(c.R[ir.CCOp]), m.ref(c, ir.CCA), m.ref(c, ir.CCB), m.ref(c, ir.CCC))
}

// setCC copies the operands to the lazy flags. An operand may be a flags slot itself.
func (m *Machine) setCC(c *cpu.CPU, u *ir.Uop) {
	type cell struct {
		v   uint64
		r   expr.Ref
		sym bool
	}
	read := func(s ir.Slot) cell { return cell{c.R[s], c.S[s], c.Sym.Has(s)} }
	write := func(d ir.Slot, x cell) {
		if x.sym {
			c.SetSym(d, x.v, x.r)
		} else {
			c.Set(d, x.v)
		}
	}
	a, b, k := read(u.A), read(u.B), read(u.C)
	c.Set(ir.CCOp, u.Imm)
	write(ir.CCA, a)
	write(ir.CCB, b)
	write(ir.CCC, k)
}

// setCCIf merges the flags of a shift whose count is symbolic: no fork.
func (m *Machine) setCCIf(c *cpu.CPU, u *ir.Uop) {
	e, r := m.Ctx, &c.R
	oldV := ir.Flags(ir.CC(r[ir.CCOp]), r[ir.CCA], r[ir.CCB], r[ir.CCC])
	newV := ir.Flags(ir.CC(u.Imm), r[u.A], r[u.B], r[u.C])
	oldR := ir.SymFlags(e, ir.CC(r[ir.CCOp]), m.ref(c, ir.CCA), m.ref(c, ir.CCB), m.ref(c, ir.CCC))
	newR := ir.SymFlags(e, ir.CC(u.Imm), m.ref(c, u.A), m.ref(c, u.B), m.ref(c, u.C))
	v := oldV
	if r[u.D]&masks[u.W] != 0 {
		v = newV
	}
	ref := e.Ite(m.nonZero(c, u.D, u.W), newR, oldR)
	c.Set(ir.CCOp, uint64(ir.MakeCC(ir.CCFlags, 64)))
	m.set(c, ir.CCA, v, ref)
	c.Set(ir.CCB, 0)
	c.Set(ir.CCC, 0)
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// pure executes a pure op.
func (m *Machine) pure(c *cpu.CPU, u *ir.Uop) {
	row := ir.RowOf(u.Op)
	args := row.Args
	sym := args > 1 && c.Sym.Has(u.B) || args > 2 && c.Sym.Has(u.C) || args > 0 && u.Op != ir.Mov && c.Sym.Has(u.A)
	av, bv, cv := c.R[u.A], c.R[u.B], c.R[u.C]
	if u.Op == ir.Lea {
		bv <<= u.Scale
	}
	if !row.Param {
		bv += u.Imm
	}
	v := row.Eval(av, bv, cv, uint(u.W), uint(u.X), u.Imm)
	if !sym {
		c.Set(u.D, v)
		return
	}
	e := m.Ctx
	a, b, k := m.ref(c, u.A), e.Const(bv, 64), e.Const(cv, 64)
	if c.Sym.Has(u.B) {
		b = c.S[u.B]
		if u.Op == ir.Lea && u.Scale > 0 {
			b = e.Shl(b, e.Const(uint64(u.Scale), 64))
		}
		if !row.Param {
			b = e.Add(b, e.Const(u.Imm, 64))
		}
	}
	if c.Sym.Has(u.C) {
		k = c.S[u.C]
	}
	m.set(c, u.D, v, row.Sym(e, a, b, k, uint(u.W), uint(u.X), u.Imm))
}

// symHelper runs a helper, on concrete operands unless it knows what it does with others.
func (m *Machine) symHelper(c *cpu.CPU, s *mem.Space, u *ir.Uop) (status, Stop) {
	row := &ir.Helpers[u.Imm]
	symbolic := false
	row.Slots(u, func(x ir.Slot) { symbolic = symbolic || c.Sym.Has(x) }, func(ir.Slot) {})
	var out []expr.Ref // of what it writes; nil: its operands are to be concrete
	if symbolic && row.Sym != nil {
		out = row.Sym(m.Ctx, u, func(x ir.Slot) expr.Ref { return m.ref(c, x) })
	}
	var due *Stop
	row.Slots(u, func(x ir.Slot) {
		if due == nil && out == nil {
			due = m.fix(c, x, 0)
		}
	}, func(ir.Slot) {})
	if due != nil {
		return stopped, *due
	}
	if row.Mem != nil {
		addr, rd, wr := row.Mem(u, &c.R)
		if rd > 0 {
			if stop := m.concretize(s, 0, addr, uint64(rd)); stop != nil {
				return stopped, *stop
			}
		}
		_ = wr // WriteMem replaces symbolic bytes by concrete ones
	}
	if st := m.runHelper(c, s, u); st != ok {
		return st, Stop{}
	}
	row.Slots(u, func(ir.Slot) {}, func(x ir.Slot) {
		if c.Sym.Remove(x); out != nil {
			m.set(c, x, c.R[x], out[0])
			out = out[1:]
		}
	})
	return ok, Stop{}
}
