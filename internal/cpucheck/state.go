// Package cpucheck compares the lifter with the processor, instruction by instruction.
//
//	cpu := cpucheck.New(t) // skips the test where there is no gcc
//	for i, code := range cpucheck.Assemble(t, []string{"add %rcx, %rax", "paddb 16(%rbx), %xmm1"}) {
//		cpu.Check(t, cpucheck.Form{Name: name[i], Code: code}, len(states), func(i int, s *cpucheck.State) { *s = states[i] })
//	}
//
// A State goes through the instruction twice: natively in a child process, and
// lifted, through the reference interpreter of package iref. The two results must agree.
package cpucheck

import (
	"encoding/binary"

	"symchef/internal/ir"
)

// Where things are in the guest and in the child process. Two pages are mapped
// besides the code; a State holds the windows into them, the rest starts as 0.
const (
	DataPage  = 0x10000000
	StackPage = 0x20000000
	CodePage  = 0x30000000
	PageSize  = 4096

	// DataBase is the address of State.Data, and the base of the gs segment.
	DataBase = DataPage + 0x800
	// StackBase is the address of State.Stack.
	StackBase = StackPage + 0x800
	// CodeBase is the address of the instruction.
	CodeBase = CodePage + 0x800
)

// maxCode is the longest code, in bytes.
const maxCode = 64

// CompareFlags are the flags that are compared: the arithmetic ones and DF.
const CompareFlags = ir.FlagCF | ir.FlagPF | ir.FlagAF | ir.FlagZF | ir.FlagSF | ir.FlagOF | 1<<10

// State is the processor and the scratch memory before or after an instruction: struct state of harness.c.
type State struct {
	GPR    [16]uint64 // hardware order: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ...
	Flags  uint64     // RFLAGS
	RIP    uint64     // after: where execution goes on, or the faulting instruction
	Signal uint64     // after: 0 or the signal raised
	_      [5]uint64
	// FX is the fxsave image: x87, MXCSR, xmm0 to xmm15 (SDM vol. 1, 10.5.1). Behind it is what xsave adds: which parts are there, and
	// the upper halves of ymm0 to ymm15 (SDM vol. 1, 13.4).
	FX    [512]byte
	parts [8]uint64
	Upper [256]byte
	Data  [1024]byte // at DataBase
	Stack [512]byte  // at StackBase
}

// XMM returns xmm register i.
func (s *State) XMM(i int) (lo, hi uint64) {
	p := s.FX[160+16*i:]
	return binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
}

// SetXMM sets xmm register i.
func (s *State) SetXMM(i int, lo, hi uint64) {
	p := s.FX[160+16*i:]
	binary.LittleEndian.PutUint64(p, lo)
	binary.LittleEndian.PutUint64(p[8:], hi)
}

// UpperHalf returns the upper half of ymm register i.
func (s *State) UpperHalf(i int) (lo, hi uint64) {
	return binary.LittleEndian.Uint64(s.Upper[16*i:]), binary.LittleEndian.Uint64(s.Upper[16*i+8:])
}

// SetUpperHalf sets it.
func (s *State) SetUpperHalf(i int, lo, hi uint64) {
	binary.LittleEndian.PutUint64(s.Upper[16*i:], lo)
	binary.LittleEndian.PutUint64(s.Upper[16*i+8:], hi)
}

// MXCSR returns the SSE control and status register.
func (s *State) MXCSR() uint32 { return binary.LittleEndian.Uint32(s.FX[24:]) }

// SetMXCSR sets the SSE control and status register.
func (s *State) SetMXCSR(v uint32) { binary.LittleEndian.PutUint32(s.FX[24:], v) }

// FCW and FSW return the x87 control and status word (with TOP); FTag the abridged tags.
func (s *State) FCW() uint16 { return binary.LittleEndian.Uint16(s.FX[0:]) }

// FSW returns the x87 status word, TOP included.
func (s *State) FSW() uint16 { return binary.LittleEndian.Uint16(s.FX[2:]) }

// FTag returns the abridged x87 tags: bit i is set if physical register i is in use.
func (s *State) FTag() uint8 { return s.FX[4] }

// SetX87 sets the control word, status word (with TOP) and tags.
func (s *State) SetX87(cw, sw uint16, tag uint8) {
	binary.LittleEndian.PutUint16(s.FX[0:], cw)
	binary.LittleEndian.PutUint16(s.FX[2:], sw)
	s.FX[4] = tag
}

// ST returns x87 register ST(i): significand, and sign and exponent.
func (s *State) ST(i int) (sig uint64, se uint16) {
	p := s.FX[32+16*i:]
	return binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint16(p[8:])
}

// SetST sets x87 register ST(i).
func (s *State) SetST(i int, sig uint64, se uint16) {
	p := s.FX[32+16*i:]
	binary.LittleEndian.PutUint64(p, sig)
	binary.LittleEndian.PutUint16(p[8:], se)
}
