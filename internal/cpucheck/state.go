// Package cpucheck compares the lifter with the processor, instruction by instruction.
//
//	cpu := cpucheck.New(t) // skips the test where there is no gcc
//	for i, code := range cpucheck.Assemble(t, []string{"add %rcx, %rax", "paddb 16(%rbx), %xmm1"}) {
//		cpu.Check(t, cpucheck.Form{Name: name[i], Code: code}, states)
//	}
//
// A State goes through the instruction twice: natively in a child process, and
// lifted, through the reference interpreter of package iref. The two results must agree.
package cpucheck

import (
	"encoding/binary"
	"math/rand/v2"
	"sync"

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

// State is the processor and the scratch memory before or after an instruction.
type State struct {
	GPR    [16]uint64 // hardware order: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ...
	Flags  uint64     // RFLAGS
	RIP    uint64     // after: where execution goes on, or the faulting instruction
	Signal uint64     // after: 0 or the signal raised
	// FX is the fxsave image: x87, MXCSR, xmm0 to xmm15 (SDM vol. 1, 10.5.1).
	FX    [512]byte
	Data  [1024]byte // at DataBase
	Stack [512]byte  // at StackBase
}

const recordSize = 16*8 + 4*8 + maxCode + 512 + 1024 + 512

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

// interesting are values at which instructions behave differently.
var interesting = []uint64{0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
	0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffffe,
	0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x0123456789abcdef, 0x8080808080808080, 0xffffffff80000000, 0xffffffffffffff80}

// Value returns an interesting or a random value.
func Value(r *rand.Rand) uint64 {
	switch r.IntN(4) {
	case 0:
		return interesting[r.IntN(len(interesting))]
	case 1:
		return r.Uint64() >> r.IntN(64)
	case 2:
		return -(r.Uint64() >> r.IntN(64))
	}
	return r.Uint64()
}

// pool returns values in a row, of which Random takes pieces: the same in every run.
var pool = sync.OnceValue(func() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var p []byte
	for range 1 << 15 {
		p = binary.LittleEndian.AppendUint64(p, Value(r))
	}
	return p
})

// Random returns a state with random flags and contents. RBX, RBP, RSI and RDI
// point into Data, RSP into Stack; the x87 stack is empty, MXCSR and FCW are the defaults.
func Random(r *rand.Rand) State {
	var s State
	for i := range s.GPR {
		s.GPR[i] = Value(r)
	}
	s.GPR[ir.RBX] = DataBase + 0x200
	s.GPR[ir.RBP] = DataBase + 0x280
	s.GPR[ir.RSI] = DataBase + 0x100
	s.GPR[ir.RDI] = DataBase + 0x300
	s.GPR[ir.RSP] = StackBase + 0x100
	s.Flags = 0x202 | r.Uint64()&CompareFlags&^(1<<10)
	values := pool()
	copy(s.Data[:], values[8*r.IntN((len(values)-len(s.Data))/8):])
	copy(s.Stack[:], values[8*r.IntN((len(values)-len(s.Stack))/8):])
	for i := range 16 {
		s.SetXMM(i, Value(r), Value(r))
	}
	s.SetMXCSR(0x1f80)
	s.SetX87(0x37f, 0, 0)
	return s
}

// encode writes the record of harness.c.
func (s *State) encode(p, code []byte) {
	le := binary.LittleEndian
	for i, v := range s.GPR {
		le.PutUint64(p[8*i:], v)
	}
	le.PutUint64(p[128:], s.Flags)
	le.PutUint64(p[136:], 0)
	le.PutUint64(p[144:], 0)
	le.PutUint64(p[152:], uint64(len(code)))
	copy(p[160:224], code)
	copy(p[224:], s.FX[:])
	copy(p[736:], s.Data[:])
	copy(p[1760:], s.Stack[:])
}

func (s *State) decode(p []byte) {
	le := binary.LittleEndian
	for i := range s.GPR {
		s.GPR[i] = le.Uint64(p[8*i:])
	}
	s.Flags, s.RIP, s.Signal = le.Uint64(p[128:]), le.Uint64(p[136:]), le.Uint64(p[144:])
	copy(s.FX[:], p[224:])
	copy(s.Data[:], p[736:])
	copy(s.Stack[:], p[1760:])
}
