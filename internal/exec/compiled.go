package exec

import (
	"time"

	"symchef/internal/cpu"
	"symchef/internal/ir"
	"symchef/internal/jit"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// The way in which compiled code tells of watched branches without leaving, see Machine.Trace.
type (
	Trace = jit.Trace
	Place = jit.Place
	Table = jit.Table
	Notes = jit.Notes
	Note  = jit.Note
	Chain = jit.Chain

	Activation = jit.Activation
)

// Window is the number of activations in Notes.Stack, of which the last is none that can be on top.
const Window = jit.Window

// Index is the number in Notes.Stack of the activation at Notes.Top.
func Index(top uint64) int { return jit.Index(top) }

// never is the heat of a block that cannot be compiled.
const never = -1

// ready reports whether e has machine code that may run now, and compiles it when it is hot. A block with a
// hook has none: a way from another block would pass the hook by.
func (m *Machine) ready(e *entry, c *cpu.CPU) bool {
	if m.seek.keepsOut(e.pc) || m.share.on && e.teller == kernel.TellerMixed {
		return false
	}
	if m.code.Valid(e.compiled) {
		return jit.Plain(c.R[ir.MXCSR])
	}
	if e.heat == never || e.hook != nil || m.CompileAfter == 0 {
		return false
	}
	if e.heat++; e.heat < m.CompileAfter {
		return false
	}
	src := jit.Source{Block: e.blk, Touch: e.touch, Watched: e.watch != nil, Flags: ir.CC(c.R[ir.CCOp])}
	if m.share.on && e.teller != kernel.TellerNone {
		src.Teller = int(e.teller)
	}
	if src.Watched && m.Trace != nil {
		site, _ := e.blk.PCOf(len(e.blk.Uops) - 1)
		src.Trace = m.Trace(m.space, site)
	}
	if m.Timed != nil {
		defer m.Timed("compile", e.pc, time.Now())
	}
	code, ok := m.code.Compile(&src)
	if !ok {
		e.heat = never
		return false
	}
	m.Stats.Compiled++
	e.compiled, e.heat = code, 0
	m.blocks = append(m.blocks[:code.ID], e) // from the start again after a Drop
	return jit.Plain(c.R[ir.MXCSR])
}

// inherit gives e the machine code of the block that was at its place under another text, if that is the same.
func (m *Machine) inherit(e *entry) {
	old := m.last[e.pc]
	if old == nil || old.blk != e.blk || (old.watch == nil) != (e.watch == nil) || old.text&1 != e.text&1 || old.teller != e.teller {
		return
	}
	e.compiled, e.heat = old.compiled, old.heat
	if m.code.Valid(e.compiled) {
		m.blocks[e.compiled.ID] = e
	}
}

// runCompiled runs the machine code of e and of the blocks that follow. It returns the block to go on with in an evaluator and
// the uop to start at, or nil where c.PC is at a block that has no code or no instructions are left before end.
func (m *Machine) runCompiled(sys *kernel.System, c *cpu.CPU, s *mem.Space, e *entry, end uint64) (*entry, int) {
	x := &m.native
	m.code.Retext(m.text(s))
	x.Regs, x.Sym = &c.R, c.Sym
	for {
		x.Left = int64(end - sys.Retired)
		m.code.Run(e.compiled)
		sys.Retired = end - uint64(x.Left)
		if m.Notes != nil && m.Notes.N > 0 {
			m.Noted(sys)
		}
		if x.Uop >= 0 {
			e = m.blocks[x.Block]
			c.PC = e.pc
			last := len(e.blk.Uops) - 1
			if int(x.Uop) < last || e.watch == nil || c.Sym.Meets(&e.touch) { // a block that is only its branch may have left because the target is symbolic
				return e, int(x.Uop)
			}
			x.PC = c.R[e.blk.Uops[last].A]
			sys.Retired += uint64(len(e.blk.Insns))
			e.watch(sys, s, c, x.PC)
			m.use(s)
		}
		watched := x.Uop >= 0
		c.PC = x.PC
		if sys.Retired >= end {
			return nil, 0
		}
		var err error
		if e, err = m.find(s, c.PC); err != nil || !m.ready(e, c) {
			return nil, 0
		}
		if !watched {
			m.code.Link(e.compiled)
		}
	}
}
