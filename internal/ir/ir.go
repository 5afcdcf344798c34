// Package ir is the machine's intermediate representation: micro-ops over a
// file of 64-bit slots, grouped into basic blocks.
//
// # Micro-ops
//
// A pure micro-op computes D = op(A, B+Imm, C) at width W: it looks at the low
// W bits of its operands only and its result is zero-extended to 64 bits. B is
// usually a register or Zero, so one form serves registers, immediates and
// their sum. Rows marked Param take Imm as a parameter instead (B is then read
// as it is). Lane ops (names starting with V) apply to each W-bit lane of the
// 64-bit operands.
//
// What an op means stands once, in its row: Eval for concrete values and Sym
// for expressions, checked against each other. Only helpers have no symbolic
// meaning: their symbolic operands are decided value by value.
// The evaluators in package exec inline the hot rows and are tested against them.
//
// Effects (memory, flags, control, helpers) are ops from Load on and are
// executed by package exec.
//
// # Blocks
//
// A block is straight-line code with one terminator, its last uop. Uops before it may fault or, for
// TrapIf, leave. Every instruction is restartable: its first effect that can fault comes
// before its first write to a state slot, except where the table of package lift says so.
//
// To add an op: a constant in op.go and a row in sem_*.go; the row test asks for the rest.
package ir

import "symchef/internal/expr"

// Op is a micro-op kind.
type Op uint8

// Uop is one micro-op, 16 bytes. D, A, B, C are slots; Scale is a left shift
// (0..3) of B in addresses and Lea; W is the width in bits (the lane width of a lane op).
type Uop struct {
	Op    Op
	W     uint8
	D     Slot
	A     Slot
	B     Slot
	C     Slot
	Scale uint8
	X     uint8 // second width in bits where the row says so (Sx, conversions)
	Imm   uint64
}

// Row is one row of the pure op table.
type Row struct {
	Name  string
	Args  int  // how many of A, B, C are read
	Param bool // Imm is a parameter, not an addend of B
	// Eval computes the op; w is Uop.W, x is Uop.X. Operands are not masked;
	// the result must be zero-extended to 64 bits.
	Eval func(a, b, c uint64, w, x uint, imm uint64) uint64
	// Sym builds the op over 64-bit wide operands and returns a 64-bit wide
	// expression. Operands that are concrete by contract (MXCSR) are constants.
	Sym func(e *expr.Ctx, a, b, c expr.Ref, w, x uint, imm uint64) expr.Ref
}

// InsnMark says where an instruction's uops start.
type InsnMark struct {
	Uop uint16 // index of its first uop
	Off uint16 // its address minus the block's
}

// Block is a decoded basic block. It is immutable once made.
type Block struct {
	PC    uint64
	Next  uint64 // address after the last instruction: fall-through target
	Taken uint64 // target of Jmp, Jcc, Brnz
	Uops  []Uop
	Insns []InsnMark
	// Call and Return say that the terminator, a jump in terms of micro-ops, is a call or a return.
	Call, Return bool
	// Reads and Writes are the state slots that the uops read and write.
	Reads, Writes SlotSet
}

// PCOf returns the address of the instruction that uop i belongs to, and its index.
func (b *Block) PCOf(i int) (pc uint64, insn int) {
	for insn = len(b.Insns) - 1; insn > 0 && int(b.Insns[insn].Uop) > i; insn-- {
	}
	return b.PC + uint64(b.Insns[insn].Off), insn
}
