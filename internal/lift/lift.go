// Package lift translates x86-64 machine code into blocks of micro-ops.
//
//	b, err := lift.Lift(pc, func(addr uint64, p []byte) int { return mem.Fetch(addr, p) })
//
// Every mnemonic is one row of a table (int_*.go: integer, sse_*.go, x87.go), so that
// its meaning stands once. Names used inside: b the builder, in the
// instruction, d and s its destination and source operand, t a temporary slot, w a width in bits.
package lift

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// maxInsns bounds a block's length, in instructions.
const maxInsns = 48

// maxInsnLen is the longest x86 instruction, in bytes.
const maxInsnLen = 15

// Fetch copies code bytes from addr on and returns how many could be read;
// 0 means that addr is not executable.
type Fetch func(addr uint64, p []byte) int

// ErrFault is returned when the first instruction cannot be fetched whole.
var ErrFault = errors.New("lift: instruction fetch fault")

// Inst is a decoded instruction.
type Inst struct {
	x86asm.Inst
	PC    uint64
	Bytes []byte
}

// End returns the address of the following instruction.
func (in *Inst) End() uint64 { return in.PC + uint64(in.Len) }

// lifter emits the uops of one instruction. It returns unsupported(in) for a form it does not take.
type lifter func(b *builder, in *Inst) error

// row is one row of the instruction table.
type row struct {
	lift lifter
	note string // what is inexact or limited, for the reference table
}

// rows is the instruction table, filled by the init functions of the
// family files through register.
var rows = map[x86asm.Op]row{}

func register(family map[x86asm.Op]row) {
	for op, r := range family {
		if _, dup := rows[op]; dup {
			panic("lift: two rows for " + op.String())
		}
		rows[op] = r
	}
}

// builder collects the uops of a block.
type builder struct {
	blk  *ir.Block
	in   *Inst
	temp ir.Slot // next free temporary
	done bool    // a terminator was emitted
}

// emit appends u.
func (b *builder) emit(u ir.Uop) { b.blk.Uops = append(b.blk.Uops, u) }

// tmp returns a fresh temporary slot; temporaries are freed at instruction end.
func (b *builder) tmp() ir.Slot {
	if b.temp == ir.TempEnd {
		panic(fmt.Sprintf("lift: out of temporaries at %#x %v", b.in.PC, b.in.Op))
	}
	b.temp++
	return b.temp - 1
}

// op3 emits D = op(A, B+imm) at width w.
func (b *builder) op3(op ir.Op, w int, d, a, s ir.Slot, imm uint64) {
	b.emit(ir.Uop{Op: op, W: uint8(w), D: d, A: a, B: s, Imm: imm})
}

// val emits t = op(A, B+imm) into a fresh temporary.
func (b *builder) val(op ir.Op, w int, a, s ir.Slot, imm uint64) ir.Slot {
	t := b.tmp()
	b.op3(op, w, t, a, s, imm)
	return t
}

// imm returns a temporary that holds v.
func (b *builder) imm(v uint64) ir.Slot { return b.val(ir.Mov, 64, ir.Zero, ir.Zero, v) }

// term emits a terminator.
func (b *builder) term(u ir.Uop) {
	b.emit(u)
	b.done = true
}

// setCC emits the lazy flags of kind k at width w.
func (b *builder) setCC(k ir.CCKind, w int, a, s, c ir.Slot) {
	b.emit(ir.Uop{Op: ir.SetCC, A: a, B: s, C: c, Imm: uint64(ir.MakeCC(k, uint(w)))})
}

// unsupportedError is a form that a row does not take.
type unsupportedError struct{ in *Inst }

func (e unsupportedError) Error() string {
	return fmt.Sprintf("unsupported: %v (% x)", e.in.Inst, e.in.Bytes)
}

func unsupported(in *Inst) error { return unsupportedError{in} }

// Lift decodes and translates the block that starts at pc. An instruction that
// is not supported ends the block with an Unsup uop, so that what precedes it still runs.
func Lift(pc uint64, fetch Fetch) (*ir.Block, error) { return How{Processor: ir.V3}.Lift(pc, fetch) }

// How is how code is lifted.
type How struct {
	// UntilStore is for code that may write itself: the block ends with the first instruction that writes memory, so that what follows is
	// fetched after it.
	UntilStore bool
	// Processor is what executes the code: but on V3, what only that has is not supported.
	Processor ir.Processor
}

// Lift is Lift as h says.
func (h How) Lift(pc uint64, fetch Fetch) (*ir.Block, error) {
	blk := &ir.Block{PC: pc}
	b := &builder{blk: blk}
	at := pc
	for !b.done && len(blk.Insns) < maxInsns {
		var buf [maxInsnLen]byte
		n := fetch(at, buf[:])
		in, err := decode(at, buf[:n])
		if errors.Is(err, ErrFault) {
			if at == pc {
				return nil, err
			}
			break
		}
		if at != pc && err == nil && isRep(in) {
			break
		}
		b.in, b.temp = in, ir.Temp0
		start := len(blk.Uops)
		blk.Insns = append(blk.Insns, ir.InsnMark{Uop: uint16(start), Off: uint16(at - pc)})
		if err == nil {
			r, ok := rows[in.Op]
			if !ok || h.Processor != ir.V3 && in.newer() {
				err = unsupported(in)
			} else {
				err = r.lift(b, in)
			}
		}
		if err != nil {
			blk.Uops = blk.Uops[:start]
			blk.Next = at
			b.term(ir.Uop{Op: ir.Unsup})
			break
		}
		at = in.End()
		blk.Next = at
		if h.UntilStore && slices.ContainsFunc(blk.Uops[start:], stores) {
			break
		}
	}
	if !b.done {
		blk.Taken = blk.Next
		b.emit(ir.Uop{Op: ir.Jmp})
	}
	finish(blk)
	return blk, nil
}

// newer reports whether a processor of x86-64-v2 has no such instruction. Those that it takes for an older one with a prefix without effect are not
// among them: where they are meant, a program has asked for them, or their result is the same.
func (in *Inst) newer() bool {
	switch in.Op {
	case x86asm.MOVBE, x86asm.XGETBV, x86asm.XSAVE, x86asm.XSAVE64, x86asm.XRSTOR, x86asm.XRSTOR64:
		return true
	}
	return in.IsVEX()
}

// stores reports whether u may write memory.
func stores(u ir.Uop) bool {
	return u.Op == ir.Store || u.Op == ir.Helper && ir.Helpers[u.Imm].Mem != nil
}

// Op returns the operation and the length in bytes of the instruction that code begins with; 0 and 0 if it is not known.
// It knows more than the lifter: EVEX.
func Op(code []byte) (x86asm.Op, int) {
	if i := vexAt(code); i >= 0 && code[i] == evex {
		inst, err := x86asm.Decode(slices.Concat(code[i:min(len(code), i+maxInsnLen)], make([]byte, maxInsnLen)), 64)
		if n := i + inst.Len; err == nil && n <= len(code) {
			return inst.Op, n
		}
		return 0, 0
	}
	in, err := decode(0, code[:min(len(code), maxInsnLen)])
	if err != nil {
		return 0, 0
	}
	return in.Op, in.Len
}

// Describe returns the text and bytes of the instruction at pc, for messages.
func Describe(pc uint64, fetch Fetch) string {
	var buf [maxInsnLen]byte
	n := fetch(pc, buf[:])
	in, err := decode(pc, buf[:n])
	if err != nil {
		return fmt.Sprintf("% x", buf[:n])
	}
	return fmt.Sprintf("%s (% x)", x86asm.GNUSyntax(in.Inst, pc, nil), in.Bytes)
}

// finish removes dead computations and copies and computes the read and write sets.
func finish(blk *ir.Block) {
	eliminateDead(blk)
	coalesce(blk)
	for i := range blk.Uops {
		u := &blk.Uops[i]
		u.Uses(func(s ir.Slot) {
			if s < ir.NumState && !blk.Writes.Has(s) {
				blk.Reads.Add(s)
			}
		})
		u.Defs(func(s ir.Slot) {
			if s < ir.NumState {
				blk.Writes.Add(s)
			}
		})
	}
	blk.Reads.Remove(ir.Zero)
}

// eliminateDead drops each SetCC whose flags no uop reads before the next
// SetCC, and each pure computation of a temporary that no uop reads. A fault or TrapIf between two SetCCs
// would show the older flags to a signal handler; no ABI promises it those.
func eliminateDead(blk *ir.Block) {
	flags := true
	var temps ir.SlotSet // live temporaries
	out := len(blk.Uops)
	keep := make([]bool, out)
	for i := out - 1; i >= 0; i-- {
		u := &blk.Uops[i]
		switch {
		case u.Op == ir.SetCC:
			keep[i] = flags
			flags = false
		case u.D >= ir.Temp0 && (ir.RowOf(u.Op) != nil || u.Op == ir.Cond || u.Op == ir.GetFlags):
			keep[i] = temps.Has(u.D)
			temps.Remove(u.D)
		default:
			keep[i] = true
			if u.Op == ir.SkipIf {
				flags = true
			}
		}
		if !keep[i] {
			continue
		}
		u.Uses(func(s ir.Slot) {
			if s == ir.CCOp {
				flags = true
			}
			temps.Add(s)
		})
	}
	compact(blk, keep)
}

// compact drops the uops that are not to be kept.
func compact(blk *ir.Block, keep []bool) {
	n, mark := 0, 0
	for i, u := range blk.Uops {
		for mark < len(blk.Insns) && int(blk.Insns[mark].Uop) == i {
			blk.Insns[mark].Uop = uint16(n)
			mark++
		}
		if keep[i] {
			blk.Uops[n] = u
			n++
		}
	}
	blk.Uops = blk.Uops[:n]
}
