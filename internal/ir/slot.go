package ir

import "math/bits"

// Slot names one 64-bit cell of a task's register file.
type Slot = uint8

// The slots. Slots below NumState live across blocks and are part of a task's
// state; from Temp0 on they are scratch, dead at every instruction boundary.
const (
	RAX Slot = iota // 0..15: general registers in hardware encoding order
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	FSBase
	GSBase
	// CCOp, CCA, CCB and CCC are the lazy flags: the last flag-setting operation
	// (a CC value, always concrete) and its operands. See cc.go.
	CCOp
	CCA
	CCB
	CCC
	DF               // direction flag, 0 or 1, always concrete
	MXCSR            // SDM vol. 1, 10.2.3; always concrete
	X0               // xmm registers, low and high quadword alternating: X0+2*i, X0+2*i+1
	FPR   = X0 + 32  // x87 physical registers: significand, then sign and exponent (16 bits), alternating
	FTop  = FPR + 16 // x87 top of stack, 0..7, always concrete
	FCW   = FTop + 1 // x87 control word, always concrete
	FSW   = FTop + 2 // x87 status word without TOP, always concrete
	FTag  = FTop + 3 // x87 tags, bit i set: physical register i is in use; always concrete
	Zero  = FTop + 4 // always 0, never written

	// Y0: the upper halves of the ymm registers, low and high quadword alternating.
	Y0 = Zero + 1

	NumState = 109
	Temp0    = 109
	TempEnd  = 192 // behind the last temporary
	NumSlots = 256 // of a file that any Slot indexes
)

// XMM returns the slot of quadword half (0 low, 1 high) of xmm register i.
func XMM(i, half int) Slot { return Slot(int(X0) + 2*i + half) }

// Upper returns the slot of quadword half (0 low, 1 high) of the upper half of ymm register i.
func Upper(i, half int) Slot { return Slot(int(Y0) + 2*i + half) }

// SlotSet is a set of slots.
type SlotSet [TempEnd / 64]uint64

// Add inserts s.
func (t *SlotSet) Add(s Slot) { t[s>>6] |= 1 << (s & 63) }

// Remove deletes s.
func (t *SlotSet) Remove(s Slot) { t[s>>6] &^= 1 << (s & 63) }

// Has reports membership.
func (t *SlotSet) Has(s Slot) bool { return t[s>>6]>>(s&63)&1 != 0 }

// Empty reports whether the set has no member.
func (t *SlotSet) Empty() bool { return t[0]|t[1]|t[2] == 0 }

// Meets reports whether the sets share a member.
func (t *SlotSet) Meets(o *SlotSet) bool { return t[0]&o[0]|t[1]&o[1]|t[2]&o[2] != 0 }

// Each calls f for the members in ascending order.
func (t *SlotSet) Each(f func(Slot)) {
	for i, w := range t {
		for ; w != 0; w &= w - 1 {
			f(Slot(i*64 + bits.TrailingZeros64(w)))
		}
	}
}
