package jit

import (
	"math/bits"
	"unsafe"

	"symchef/internal/ir"
)

// Trace says how compiled code notes an execution of a watched branch instead of leaving at it.
type Trace struct {
	Value  Place
	Frame  *Place // nil: all executions are of one frame
	Object *Chain // what tells the activations of a frame apart; nil: compiled code leaves at calls
	Table  *Table // nil: every execution is noted
	To     *Notes
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

// Chain is a word that loads lead to: from the value at At to the word that is the first of Offs, in bytes, behind it, and so on.
type Chain struct {
	At   Place
	Offs []int32
}

// Window is how many activations compiled code knows, at most.
const Window = 64

// Notes are executions of watched branches, in order, and the activations that they are of. Compiled code leaves, and notes nothing, where
//   - the value is not one of the Size from Start on, of the activation on top;
//   - the frame is neither that one's nor the one's below (it has returned) nor, with the same Object, the one's above (it was called
//     again), of which only those count whose Epoch is that of the Notes;
//   - there is no room.
//
// What is above the top was called from there once, with other frames than all below; the Size of what is below those that are known is 0.
type Notes struct {
	Frame, Start, Size uint64 // of the activation on top
	Epoch              uint64
	Top                uint64 // its place in Stack, in bytes
	N, Moves           uint64
	Stack              [Window]Activation
	At                 [512]Note
	To                 [256]Move
	next               uint64 // Top, if there will be a note
}

// Activation is a call of a code object, which is the Size values from Start on.
type Activation struct {
	Frame, Start, Size uint64
	Object             uint64
	Epoch              uint64
	_                  [3]uint64
}

// Move says that the activation on top was another from the note with number N on.
type Move struct{ Top, N uint32 }

const activationSize = int32(unsafe.Sizeof(Activation{}))

// Index is the number in Stack of the activation at Top.
func Index(top uint64) int { return int(top) / int(activationSize) }

// Set makes number i of the stack, neither the first nor the last, the one on top.
func (n *Notes) Set(i int) {
	if i < 1 || i > Window-2 {
		panic("jit: the stack has nothing beside the activation on top")
	}
	a := &n.Stack[i]
	n.Frame, n.Start, n.Size = a.Frame, a.Start, a.Size
	n.Top = uint64(i) * uint64(activationSize)
}

// Stop makes n apply to nothing, until Set.
func (n *Notes) Stop() {
	n.Stack[0], n.Stack[1] = Activation{}, Activation{}
	n.Set(1)
	n.Epoch++
}

// Note is one execution: what the value at the Trace's place is more than the Start of its activation, and where the branch goes.
type Note struct{ Offset, Target uint64 }

// ccAE is the condition code of above or equal.
const ccAE = 3

// field is a field of the notes, whose address is in rdx.
func field(off uintptr) rm { return at(rdx, int32(off)) }

// stacked is a field, at off, of the activation that is by places above the one whose place is in rcx.
func stacked(off uintptr, by int32) rm {
	return indexed(rdx, rcx, int32(unsafe.Offsetof(Notes{}.Stack)+off)+by*activationSize)
}

// note appends the branch to the notes.
func (g *gen) note(u *ir.Uop, i int) {
	t := g.src.Trace
	target := g.read(u.A)
	if t.Table != nil {
		g.entry(t, i)
		g.op(64, opCmp, rax, direct(target))
		g.leaveIf(ccNE, i)
	}
	g.read(t.Value.Slot) // none of these is to be fetched in otherFrame
	if t.Object != nil {
		g.read(t.Object.At.Slot)
	}
	if t.Frame != nil {
		frame := g.place(*t.Frame, i)
		g.constant(rdx, g.notes())
		g.op(64, opCmp, frame, field(unsafe.Offsetof(Notes{}.Frame)))
		jump := g.jcc(ccNE)
		back := len(g.b)
		g.later = append(g.later, func() { g.otherFrame(frame, i, jump, back) })
	}
	g.mov(rax, g.place(t.Value, i))
	g.constant(rdx, g.notes())
	g.op(64, opSub, rax, field(unsafe.Offsetof(Notes{}.Start)))
	g.op(64, opCmp, rax, field(unsafe.Offsetof(Notes{}.Size)))
	g.leaveIf(ccAE, i)
	g.load(64, rcx, field(unsafe.Offsetof(Notes{}.N)))
	g.opImm(64, opCmp, direct(rcx), int32(len(t.To.At)))
	g.leaveIf(ccAE, i)
	g.opImm(64, opAdd, field(unsafe.Offsetof(Notes{}.N)), 1)
	g.shiftImm(64, extShl, direct(rcx), 4)
	at := indexed(rdx, rcx, int32(unsafe.Offsetof(Notes{}.At)))
	g.store(64, at, rax)
	g.store(64, at.plus(8), target)
}

// notes is the address of the notes.
func (g *gen) notes() uint64 { return uint64(uintptr(unsafe.Pointer(g.src.Trace.To))) }

// otherFrame is where the jump leads if the frame is not that of the activation on top: it makes the one below or above that one and goes back, or leaves
// and changes nothing. The notes' address is in rdx.
func (g *gen) otherFrame(frame reg, i, jump, back int) {
	t := g.src.Trace
	g.land(jump)
	g.load(64, rcx, field(unsafe.Offsetof(Notes{}.Top)))
	g.op(64, opCmp, frame, stacked(unsafe.Offsetof(Activation{}.Frame), -1))
	if call := g.jcc(ccNE); t.Object == nil {
		g.leaves = append(g.leaves, leave{call, i, g.temps()})
		g.opImm(64, opSub, direct(rcx), activationSize)
	} else {
		g.opImm(64, opSub, direct(rcx), activationSize)
		known := g.jmp()
		g.land(call)
		g.op(64, opCmp, frame, stacked(unsafe.Offsetof(Activation{}.Frame), 1))
		g.leaveIf(ccNE, i)
		object := g.place(t.Object.At, i)
		for _, off := range t.Object.Offs {
			g.lea(rax, at(object, off))
			object = rax
			g.load(64, rax, g.translate(64, i, ctxRead))
		}
		g.constant(rdx, g.notes())
		g.load(64, rcx, field(unsafe.Offsetof(Notes{}.Top)))
		g.op(64, opCmp, object, stacked(unsafe.Offsetof(Activation{}.Object), 1))
		g.leaveIf(ccNE, i)
		g.load(64, rax, field(unsafe.Offsetof(Notes{}.Epoch)))
		g.op(64, opCmp, rax, stacked(unsafe.Offsetof(Activation{}.Epoch), 1))
		g.leaveIf(ccNE, i)
		g.opImm(64, opAdd, direct(rcx), activationSize)
		g.land(known)
	}
	// The note must not fail any more.
	g.store(64, field(unsafe.Offsetof(Notes{}.next)), rcx)
	value := g.place(t.Value, i)
	g.constant(rdx, g.notes())
	g.load(64, rcx, field(unsafe.Offsetof(Notes{}.next)))
	g.mov(rax, value)
	g.op(64, opSub, rax, stacked(unsafe.Offsetof(Activation{}.Start), 0))
	g.op(64, opCmp, rax, stacked(unsafe.Offsetof(Activation{}.Size), 0))
	g.leaveIf(ccAE, i)
	g.opImm(64, opCmp, field(unsafe.Offsetof(Notes{}.N)), int32(len(t.To.At)))
	g.leaveIf(ccAE, i)
	g.load(64, rax, field(unsafe.Offsetof(Notes{}.Moves)))
	g.opImm(64, opCmp, direct(rax), int32(len(t.To.To)))
	g.leaveIf(ccAE, i)
	g.opImm(64, opAdd, field(unsafe.Offsetof(Notes{}.Moves)), 1)
	g.store(64, field(unsafe.Offsetof(Notes{}.Top)), rcx)
	to := rm{base: rdx, index: rax, scale: 3, mem: true, disp: int32(unsafe.Offsetof(Notes{}.To))}
	g.store(32, to, rcx)
	g.load(32, rcx, field(unsafe.Offsetof(Notes{}.N)))
	g.store(32, to.plus(4), rcx)
	g.load(64, rcx, field(unsafe.Offsetof(Notes{}.Top)))
	for _, f := range [][2]uintptr{
		{unsafe.Offsetof(Notes{}.Frame), unsafe.Offsetof(Activation{}.Frame)}, {unsafe.Offsetof(Notes{}.Start), unsafe.Offsetof(Activation{}.Start)}, {unsafe.Offsetof(Notes{}.Size), unsafe.Offsetof(Activation{}.Size)},
	} {
		g.load(64, rax, stacked(f[1], 0))
		g.store(64, field(f[0]), rax)
	}
	g.goBack(back)
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
