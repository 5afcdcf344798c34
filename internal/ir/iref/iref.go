// Package iref executes blocks one uop at a time, straight from the op table:
// slow, obvious, and the reference that faster evaluators are tested against.
//
//	m := iref.Machine{Mem: mem}
//	m.R[ir.RAX] = 1
//	exit := m.Run(block) // exit.PC is where execution goes on
package iref

import (
	"encoding/binary"
	"errors"

	"symchef/internal/ir"
)

// Memory is guest memory; an error is a fault.
type Memory interface {
	ReadMem(addr uint64, p []byte) error
	WriteMem(addr uint64, p []byte) error
}

// Machine is a register file and a memory.
type Machine struct {
	R   [ir.NumSlots]uint64
	Mem Memory
	N   uint64 // instructions retired, for rdtsc

	buf [8]byte // of a load or store; as a local variable it would be on the heap
}

// ExitKind says why a block ended.
type ExitKind uint8

// The kinds of exit.
const (
	Branch  ExitKind = iota // go on at PC
	Syscall                 // system call, then PC
	Trap                    // trap Trap of the instruction at PC
	Fault                   // memory fault of the instruction at PC
	Unsup                   // unsupported instruction at PC
)

// Exit is how a block ended.
type Exit struct {
	Kind ExitKind
	PC   uint64
	Trap ir.TrapKind
	Err  error // Fault, Unsup: what happened
}

// Reg, ReadMem, WriteMem and Retired are ir.Machine.
func (m *Machine) Reg() *[ir.NumSlots]uint64 { return &m.R }

// ReadMem reads guest memory.
func (m *Machine) ReadMem(addr uint64, p []byte) error { return m.Mem.ReadMem(addr, p) }

// WriteMem writes guest memory.
func (m *Machine) WriteMem(addr uint64, p []byte) error { return m.Mem.WriteMem(addr, p) }

// Retired returns the number of instructions retired.
func (m *Machine) Retired() uint64 { return m.N }

// Processor is ir.Machine.
func (m *Machine) Processor() ir.Processor { return ir.V3 }

func (m *Machine) flags() uint64 {
	return ir.Flags(ir.CC(m.R[ir.CCOp]), m.R[ir.CCA], m.R[ir.CCB], m.R[ir.CCC])
}

func (m *Machine) addr(u *ir.Uop) uint64 { return m.R[u.A] + m.R[u.B]<<u.Scale + u.Imm }

func (m *Machine) setCC(u *ir.Uop) {
	r := &m.R
	r[ir.CCOp], r[ir.CCA], r[ir.CCB], r[ir.CCC] = u.Imm, r[u.A], r[u.B], r[u.C]
}

// pcOf returns the address of the instruction that uop i of b belongs to.
func pcOf(b *ir.Block, i int) uint64 {
	pc, _ := b.PCOf(i)
	return pc
}

// low returns the low w bits of v.
func low(v uint64, w uint8) uint64 { return v << (64 - w) >> (64 - w) }

// Run executes b.
func (m *Machine) Run(b *ir.Block) Exit {
	r := &m.R
	m.N += uint64(len(b.Insns))
	for i := range b.Uops {
		u := &b.Uops[i]
		switch u.Op {
		case ir.Load:
			clear(m.buf[:])
			if err := m.Mem.ReadMem(m.addr(u), m.buf[:u.W/8]); err != nil {
				return Exit{Kind: Fault, PC: pcOf(b, i), Err: err}
			}
			r[u.D] = binary.LittleEndian.Uint64(m.buf[:])
		case ir.Store:
			binary.LittleEndian.PutUint64(m.buf[:], r[u.C])
			if err := m.Mem.WriteMem(m.addr(u), m.buf[:u.W/8]); err != nil {
				return Exit{Kind: Fault, PC: pcOf(b, i), Err: err}
			}
		case ir.SetCC:
			m.setCC(u)
		case ir.SetCCIf:
			if low(r[u.D], u.W) != 0 {
				m.setCC(u)
			}
		case ir.Cond:
			r[u.D] = 0
			if ir.TestCond(u.Imm, m.flags()) {
				r[u.D] = 1
			}
		case ir.GetFlags:
			r[u.D] = m.flags()
		case ir.Helper:
			if err := ir.Helpers[u.Imm].Run(u, m); err != nil {
				return m.helperExit(pcOf(b, i), err)
			}
		case ir.TrapIf:
			if low(r[u.A], u.W) != 0 {
				return Exit{Kind: Trap, PC: pcOf(b, i), Trap: ir.TrapKind(u.Imm)}
			}
		case ir.SkipIf:
			if low(r[u.A], u.W) != 0 {
				return Exit{PC: b.Next}
			}
		case ir.Jmp:
			return Exit{PC: b.Taken}
		case ir.Jcc:
			return branch(b, ir.TestCond(u.Imm, m.flags()))
		case ir.Brnz:
			return branch(b, low(r[u.A], u.W) != 0)
		case ir.JmpInd:
			return Exit{PC: r[u.A]}
		case ir.Syscall:
			return Exit{Kind: Syscall, PC: b.Next}
		case ir.Trap:
			return Exit{Kind: Trap, PC: pcOf(b, i), Trap: ir.TrapKind(u.Imm)}
		case ir.Unsup:
			return Exit{Kind: Unsup, PC: pcOf(b, i), Err: &ir.UnsupportedError{What: "unsup uop"}}
		default:
			m.pure(u)
		}
	}
	panic("iref: block without terminator")
}

// branch leaves b by one of its two ways.
func branch(b *ir.Block, taken bool) Exit {
	if taken {
		return Exit{PC: b.Taken}
	}
	return Exit{PC: b.Next}
}

// pure executes a pure uop.
func (m *Machine) pure(u *ir.Uop) {
	row := ir.RowOf(u.Op)
	a, b := m.R[u.A], m.R[u.B]
	switch {
	case u.Op == ir.Lea:
		b = b<<u.Scale + u.Imm
	case !row.Param:
		b += u.Imm
	}
	m.R[u.D] = row.Eval(a, b, m.R[u.C], uint(u.W), uint(u.X), u.Imm)
}

func (m *Machine) helperExit(pc uint64, err error) Exit {
	var unsup *ir.UnsupportedError
	var trap *ir.TrapError
	switch {
	case errors.As(err, &unsup):
		return Exit{Kind: Unsup, PC: pc, Err: err}
	case errors.As(err, &trap):
		return Exit{Kind: Trap, PC: pc, Trap: trap.Kind}
	}
	return Exit{Kind: Fault, PC: pc, Err: err}
}
