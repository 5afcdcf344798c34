package ir

import (
	"fmt"

	"symchef/internal/expr"
)

// Machine is what a helper sees: concrete registers and memory. Before a helper
// runs, package exec concretizes the symbolic ones among the slots it reads and the memory
// it declares; afterwards the slots it writes are concrete, but for what its row's Sym says.
type Machine interface {
	// Reg returns the register file.
	Reg() *[NumSlots]uint64
	// ReadMem and WriteMem copy guest memory; an error is a fault and the helper returns it at once.
	ReadMem(addr uint64, p []byte) error
	WriteMem(addr uint64, p []byte) error
	// Retired returns the number of instructions that the task's state has retired: the time base of rdtsc.
	Retired() uint64
	// Processor returns the one that CPUID tells of.
	Processor() Processor
}

// Processor is what programs run on.
type Processor uint8

// The processors: of x86-64-v2 and x86-64-v3 (System V ABI, AMD64 supplement, table 3.1), and one that is none of the machine's, see lift.CPUID.
const (
	V2 Processor = iota
	V3
	Elsewhere
)

// HelperRow describes a complex operation executed by a Go function on concrete values.
type HelperRow struct {
	Name string
	// Slots calls reads and writes for the slots that u reads and writes.
	Slots func(u *Uop, reads, writes func(Slot))
	// Mem returns the memory the helper touches: address, bytes read, bytes written.
	// nil: none.
	Mem func(u *Uop, r *[NumSlots]uint64) (addr uint64, read, write int)
	// Sym returns the expressions of the slots that u writes, in the order of Slots, given those of the slots it reads; nil: these
	// are to be concrete. Values are Run's. nil: they always are.
	Sym func(e *expr.Ctx, u *Uop, of func(Slot) expr.Ref) []expr.Ref
	// Run performs it. On error nothing may have been written to registers.
	Run func(u *Uop, m Machine) error
}

// SymDiv is the Sym of a helper that divides RDX:RAX by slot A, unsigned, with quotient, remainder and whether the quotient is too large, where RDX
// extends RAX. A block may not show that: it may begin behind the instruction that made it so, as after a trap was decided against.
func SymDiv(e *expr.Ctx, u *Uop, of func(Slot) expr.Ref) []expr.Ref {
	if of(RDX) != e.Const(0, 64) {
		return nil
	}
	n, d := of(RAX), of(u.A)
	return []expr.Ref{e.UDiv(n, d), e.URem(n, d), e.Const(0, 64)}
}

// SymIDiv is SymDiv for signed numbers.
func SymIDiv(e *expr.Ctx, u *Uop, of func(Slot) expr.Ref) []expr.Ref {
	n, d := of(RAX), of(u.A)
	if of(RDX) != e.AShr(n, e.Const(63, 64)) {
		return nil
	}
	over := e.And(e.Eq(n, e.Const(1<<63, 64)), e.Eq(d, e.Const(^uint64(0), 64)))
	return []expr.Ref{e.SDiv(n, d), e.SRem(n, d), e.ZExt(over, 64)}
}

// Helpers is the helper table; Uop.Imm indexes it.
var Helpers []HelperRow

// DefineHelper adds a row and returns its index.
func DefineHelper(h HelperRow) uint64 {
	Helpers = append(Helpers, h)
	return uint64(len(Helpers) - 1)
}

// UnsupportedError is returned by a helper for a form it does not handle; the
// path ends with the outcome "unsupported".
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return fmt.Sprintf("unsupported: %s", e.What) }

// TrapError is returned by a helper whose instruction traps.
type TrapError struct{ Kind TrapKind }

func (e *TrapError) Error() string { return e.Kind.String() }
