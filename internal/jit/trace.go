package jit

import (
	"math/bits"
	"unsafe"

	"symchef/internal/ir"
)

// Trace says how compiled code notes an execution of a watched branch instead of leaving at it.
type Trace struct {
	Value Place
	Frame *Place // nil: all executions are of one frame
	Table *Table // nil: every execution is noted
	To    *Notes
}

// Table is where the target of an execution that is noted stands: compiled code leaves, and notes nothing, where the branch goes elsewhere.
type Table struct {
	// Delta is the distance, from the value at the Trace's place, of a little-endian word whose low Bits are the index; the
	// target itself if there are 64.
	Delta int64
	Bits  int
	// Base is the table's address and Entry the size of an entry in bytes: 8 is a target, 4 its distance from Base, signed.
	Base  uint64
	Entry int
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
	if t.Table != nil {
		g.entry(t, i)
		g.op(64, opCmp, rax, direct(target))
		g.leaveIf(ccNE, i)
	}
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

// entry puts the target that t's table holds into rax. It uses rcx and rdx.
func (g *gen) entry(t *Trace, i int) {
	k := t.Table
	value := g.place(t.Value, i)
	g.lea(rax, at(value, int32(k.Delta)))
	w := uint8(8) // of a natural size, so that few words cross a granule
	for int(w) < k.Bits {
		w *= 2
	}
	g.load(w, rax, g.translate(w, i, ctxRead))
	g.mask(rax, uint8(k.Bits))
	if k.Bits == 64 {
		return
	}
	g.constant(rdx, k.Base)
	g.lea(rax, rm{base: rdx, index: rax, scale: uint8(bits.TrailingZeros(uint(k.Entry))), mem: true})
	w = uint8(8 * k.Entry)
	g.load(w, rax, g.translate(w, i, ctxRead))
	if k.Entry == 4 {
		g.signExtend(rax, 32)
		g.constant(rdx, k.Base)
		g.op(64, opAdd, rax, direct(rdx))
	}
}
