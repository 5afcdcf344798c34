package jit

import (
	"unsafe"

	"symchef/internal/ir"
)

// Trace says how compiled code notes an execution of a watched branch instead of leaving at it.
type Trace struct {
	Value Place
	Frame *Place // nil: all executions are of one frame
	To    *Notes
}

// Place is where a value of 64 bits is: slot Slot plus Off, or memory at that address.
type Place struct {
	Slot ir.Slot
	Mem  bool
	Off  int32
}

// Notes are executions of watched branches, in order. Compiled code leaves, and notes nothing, where the frame is not Frame, the
// value is not one of the Size from Start on, or the notes are full.
type Notes struct {
	Frame, Start, Size uint64
	N                  uint64
	At                 [256]Note
}

// Note is one execution: the value at the Trace's place, and where the branch goes.
type Note struct{ Value, Target uint64 }

// ccAE is the condition code of above or equal.
const ccAE = 3

// note appends the branch to the notes.
func (g *gen) note(u *ir.Uop, i int) {
	t := g.src.Trace
	field := func(off uintptr) rm { return at(rdx, int32(off)) }
	notes := uint64(uintptr(unsafe.Pointer(t.To)))
	if t.Frame != nil {
		frame := g.place(*t.Frame, i)
		g.constant(rdx, notes)
		g.op(64, opCmp, frame, field(unsafe.Offsetof(t.To.Frame)))
		g.leaveIf(ccNE, i)
	}
	target := g.read(u.A)
	value := g.place(t.Value, i)
	g.constant(rdx, notes)
	g.mov(rcx, value)
	g.op(64, opSub, rcx, field(unsafe.Offsetof(t.To.Start)))
	g.op(64, opCmp, rcx, field(unsafe.Offsetof(t.To.Size)))
	g.leaveIf(ccAE, i)
	g.load(64, rcx, field(unsafe.Offsetof(t.To.N)))
	g.opImm(64, opCmp, direct(rcx), int32(len(t.To.At)))
	g.leaveIf(ccAE, i)
	g.opImm(64, opAdd, field(unsafe.Offsetof(t.To.N)), 1)
	g.shiftImm(64, extShl, direct(rcx), 4)
	at := indexed(rdx, rcx, int32(unsafe.Offsetof(t.To.At)))
	g.store(64, at, value)
	g.store(64, at.plus(8), target)
}

// place returns a register with the value of p: its slot's or rax.
func (g *gen) place(p Place, i int) reg {
	switch {
	case p.Mem:
		u := ir.Uop{W: 64, A: p.Slot, B: ir.Zero, Imm: uint64(int64(p.Off))}
		g.load(64, rax, g.memory(&u, i, ctxRead))
		return rax
	case p.Off != 0:
		g.lea(rax, at(g.read(p.Slot), p.Off))
		return rax
	}
	return g.read(p.Slot)
}
