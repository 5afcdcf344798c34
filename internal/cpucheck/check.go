package cpucheck

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"symchef/internal/ir"
	"symchef/internal/ir/iref"
	"symchef/internal/lift"
)

// scratch is the memory of the lifted side: the two pages.
type scratch struct {
	data, stack [PageSize]byte
	stray       bool // something was written outside the windows of a State
}

var errUnmapped = errors.New("cpucheck: unmapped")

// load makes the memory of s.
func (m *scratch) load(s *State) {
	if m.stray {
		*m = scratch{}
	}
	copy(m.data[DataBase-DataPage:], s.Data[:])
	copy(m.stack[StackBase-StackPage:], s.Stack[:])
}

// store puts the windows into s.
func (m *scratch) store(s *State) {
	copy(s.Data[:], m.data[DataBase-DataPage:])
	copy(s.Stack[:], m.stack[StackBase-StackPage:])
}

func (m *scratch) at(addr uint64, n int) ([]byte, error) {
	if off := addr - DataPage; off < PageSize && off+uint64(n) <= PageSize {
		return m.data[off:][:n], nil
	}
	if off := addr - StackPage; off < PageSize && off+uint64(n) <= PageSize {
		return m.stack[off:][:n], nil
	}
	return nil, errUnmapped
}

func (m *scratch) ReadMem(addr uint64, p []byte) error {
	q, err := m.at(addr, len(p))
	copy(p, q)
	return err
}

func (m *scratch) WriteMem(addr uint64, p []byte) error {
	q, err := m.at(addr, len(p))
	if err == nil && !inWindow(addr, len(p)) {
		m.stray = true
	}
	copy(q, p)
	return err
}

// inWindow reports whether the n bytes at addr lie in State.Data or State.Stack.
func inWindow(addr uint64, n int) bool {
	const data, stack = uint64(len(State{}.Data)), uint64(len(State{}.Stack))
	off, size := addr-DataBase, data
	if off >= data {
		off, size = addr-StackBase, stack
	}
	return off < size && off+uint64(n) <= size
}

// Registers puts the registers of s into slots.
func (s *State) Registers(r *[ir.NumSlots]uint64) {
	copy(r[ir.RAX:], s.GPR[:])
	r[ir.GSBase] = DataBase
	r[ir.CCOp], r[ir.CCA] = uint64(ir.MakeCC(ir.CCFlags, 64)), s.Flags
	r[ir.DF] = s.Flags >> 10 & 1
	r[ir.MXCSR] = uint64(s.MXCSR())
	for i := range 16 {
		r[ir.XMM(i, 0)], r[ir.XMM(i, 1)] = s.XMM(i)
		r[ir.Upper(i, 0)], r[ir.Upper(i, 1)] = s.UpperHalf(i)
	}
	top := uint64(s.FSW() >> 11 & 7)
	for i := range 8 {
		p := ir.FPR + ir.Slot((top+uint64(i))&7)*2
		sig, se := s.ST(i)
		r[p], r[p+1] = sig, uint64(se)
	}
	r[ir.FTop], r[ir.FCW], r[ir.FSW], r[ir.FTag] = top, uint64(s.FCW()), uint64(s.FSW()&^(7<<11)), uint64(s.FTag())
}

// SetRegisters is the reverse of Registers; what slots do not hold stays as it is in s.
func (s *State) SetRegisters(r *[ir.NumSlots]uint64) {
	copy(s.GPR[:], r[ir.RAX:])
	f := ir.Flags(ir.CC(r[ir.CCOp]), r[ir.CCA], r[ir.CCB], r[ir.CCC])
	s.Flags = f | 0x202 | r[ir.DF]<<10
	s.SetMXCSR(uint32(r[ir.MXCSR]))
	for i := range 16 {
		s.SetXMM(i, r[ir.XMM(i, 0)], r[ir.XMM(i, 1)])
		s.SetUpperHalf(i, r[ir.Upper(i, 0)], r[ir.Upper(i, 1)])
	}
	top := r[ir.FTop]
	for i := range 8 {
		p := ir.FPR + ir.Slot((top+uint64(i))&7)*2
		s.SetST(i, r[p], uint16(r[p+1]))
	}
	s.SetX87(uint16(r[ir.FCW]), uint16(r[ir.FSW]|top<<11), uint8(r[ir.FTag]))
}

// Signals of the traps.
var trapSignal = map[ir.TrapKind]uint64{ir.TrapUD: 4, ir.TrapDE: 8, ir.TrapBP: 5, ir.TrapGP: 11}

// maxBlocks bounds the blocks of one evaluation.
const maxBlocks = 10000

// lifted is the lifted side: a machine and what it has lifted of one code.
type lifted struct {
	machine *iref.Machine
	mem     *scratch
	code    []byte
	blocks  map[uint64]*ir.Block
	after   State
}

func newLifted() lifted {
	mem := &scratch{}
	return lifted{machine: &iref.Machine{Mem: mem}, mem: mem, blocks: map[uint64]*ir.Block{}}
}

// fetch is lift.Fetch.
func (l *lifted) fetch(addr uint64, p []byte) int {
	if off := addr - CodeBase; off < uint64(len(l.code)) {
		return copy(p, l.code[off:])
	}
	return 0
}

// use makes code that of the following evaluations.
func (l *lifted) use(code []byte) {
	l.code = code
	clear(l.blocks)
}

// eval is Form.Run with the code of use. An error means that an instruction is not supported. Temporary slots keep what is in them.
func (l *lifted) eval(_ []byte, before, after *State) error {
	m := l.machine
	before.Registers(&m.R)
	l.mem.load(before)
	after.Signal = 0
	pc := uint64(CodeBase)
	for range maxBlocks {
		if pc-CodeBase >= uint64(len(l.code)) {
			break
		}
		b := l.blocks[pc]
		if b == nil {
			var err error
			if b, err = lift.Lift(pc, l.fetch); err != nil {
				return err
			}
			l.blocks[pc] = b
		}
		exit := m.Run(b)
		pc = exit.PC
		switch exit.Kind {
		case iref.Trap:
			after.Signal = trapSignal[exit.Trap]
		case iref.Fault:
			after.Signal = 11
		case iref.Unsup:
			return fmt.Errorf("%s: %w", lift.Describe(pc, l.fetch), exit.Err)
		}
		if exit.Kind != iref.Branch {
			break
		}
	}
	after.SetRegisters(&m.R)
	l.mem.store(after)
	after.RIP = pc
	return nil
}

// Form is one instruction form to check.
type Form struct {
	Name string
	Code []byte
	// Undef are the flags that the SDM leaves undefined; UndefIf those that depend on the state before.
	Undef   uint64
	UndefIf func(before *State) uint64
	// Skip tells that the result of a state is undefined altogether.
	Skip func(before *State) bool
	// SomeNaN is the width of vector elements of which one that is NaN may be any other NaN, 0 if none may.
	SomeNaN int
	// X87 also compares the x87 state: control, status, tags, ST(0..7).
	X87 bool
	// Run executes the code on a state and makes all of the state after that is compared; nil: lifted, through the reference interpreter.
	Run func(code []byte, before, after *State) error
	// Ignore returns ranges of addresses whose contents are not compared.
	Ignore func(before *State) [][2]uint64
}

// Check runs a form on n states that fill makes in place (see Each) natively and lifted, or by f.Run, and reports the
// first differences. It returns how many states differ.
func (c *CPU) Check(t testing.TB, f Form, n int, fill func(i int, s *State)) int {
	t.Helper()
	bad, got := 0, &c.lifted.after
	c.lifted.use(f.Code)
	run := f.Run
	if run == nil {
		run = c.lifted.eval
	}
	err := c.Each(f.Code, n, fill, func(before, want *State) bool {
		if f.Skip != nil && f.Skip(before) {
			return true
		}
		if err := run(f.Code, before, got); err != nil {
			t.Errorf("%s: % x: %v", f.Name, f.Code, err)
			bad = n
			return false
		}
		undef := f.Undef
		if f.UndefIf != nil {
			undef |= f.UndefIf(before)
		}
		if f.Ignore != nil {
			for _, a := range f.Ignore(before) {
				copy(got.bytes(a[0], int(a[1]-a[0])), want.bytes(a[0], int(a[1]-a[0])))
			}
		}
		if f.SomeNaN != 0 {
			sameNaNs(want, got, f.SomeNaN)
		}
		d := diff(before, want, got, undef, f.X87)
		if d == "" {
			return true
		}
		if bad++; bad <= 2 {
			t.Errorf("%s: % x: (before: processor, lifted)%s", f.Name, f.Code, d)
		}
		return true
	})
	if err != nil {
		t.Errorf("%s: %v", f.Name, err)
		return n
	}
	if bad > 2 {
		t.Errorf("%s: %d of %d states differ", f.Name, bad, n)
	}
	return bad
}

// sameNaNs gives the elements of w bits, 32 or 64, in got's vector registers that are NaN where want's are the same ones.
func sameNaNs(want, got *State, w int) {
	for _, v := range [][2][]byte{{want.FX[160:416], got.FX[160:416]}, {want.Upper[:], got.Upper[:]}} {
		for at := 0; at < len(v[0]); at += w / 8 {
			if a, b := v[0][at:][:w/8], v[1][at:][:w/8]; isNaN(a) && isNaN(b) {
				copy(b, a)
			}
		}
	}
}

// isNaN says whether the bytes of a float or a double are of a NaN.
func isNaN(b []byte) bool {
	if len(b) == 4 {
		f := math.Float32frombits(binary.LittleEndian.Uint32(b))
		return f != f
	}
	return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(b)))
}

var regNames = [16]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"}

// sameX87 compares the x87 states.
func sameX87(a, b *State) bool {
	if a.FCW() != b.FCW() || a.FSW() != b.FSW() || a.FTag() != b.FTag() {
		return false
	}
	for i := range 8 { // 10 bytes each
		if at := 32 + 16*i; !bytes.Equal(a.FX[at:at+10], b.FX[at:at+10]) {
			return false
		}
	}
	return true
}

// diff describes how got differs from want, one line each; empty if it does not.
func diff(before, want, got *State, undef uint64, x87 bool) string {
	m := CompareFlags &^ undef
	if want.Signal == got.Signal && want.RIP == got.RIP && want.GPR == got.GPR && (want.Signal != 0 || want.Flags&m == got.Flags&m) &&
		bytes.Equal(want.FX[160:416], got.FX[160:416]) && want.Upper == got.Upper && want.MXCSR() == got.MXCSR() && (!x87 || sameX87(want, got)) && want.Data == got.Data && want.Stack == got.Stack {
		return ""
	}
	var out strings.Builder
	line := func(name string, b, w, g any) {
		if w != g {
			fmt.Fprintf(&out, "\n\t%s %#x: %#x, %#x", name, b, w, g)
		}
	}
	line("signal", before.Signal, want.Signal, got.Signal)
	line("rip", before.RIP, want.RIP, got.RIP)
	for i := range want.GPR {
		line(regNames[i], before.GPR[i], want.GPR[i], got.GPR[i])
	}
	if want.Signal == 0 { // a fault may leave the flags of an earlier part of the instruction
		line("flags", before.Flags&m, want.Flags&m, got.Flags&m)
	}
	for i := range 16 {
		b0, b1 := before.XMM(i)
		w0, w1 := want.XMM(i)
		g0, g1 := got.XMM(i)
		line(fmt.Sprintf("xmm%d", i), [2]uint64{b1, b0}, [2]uint64{w1, w0}, [2]uint64{g1, g0})
	}
	for i := range 16 {
		b0, b1 := before.UpperHalf(i)
		w0, w1 := want.UpperHalf(i)
		g0, g1 := got.UpperHalf(i)
		line(fmt.Sprintf("upper half of ymm%d", i), [2]uint64{b1, b0}, [2]uint64{w1, w0}, [2]uint64{g1, g0})
	}
	line("mxcsr", before.MXCSR(), want.MXCSR(), got.MXCSR())
	if x87 {
		line("fcw", before.FCW(), want.FCW(), got.FCW())
		line("fsw", before.FSW(), want.FSW(), got.FSW())
		line("ftag", before.FTag(), want.FTag(), got.FTag())
		for i := range 8 {
			b0, b1 := before.ST(i)
			w0, w1 := want.ST(i)
			g0, g1 := got.ST(i)
			line(fmt.Sprintf("st%d", i), [2]uint64{uint64(b1), b0}, [2]uint64{uint64(w1), w0}, [2]uint64{uint64(g1), g0})
		}
	}
	mem := func(name string, base uint64, b, w, g []byte) {
		if bytes.Equal(w, g) {
			return
		}
		for i := range w {
			line(fmt.Sprintf("%s[%#x]", name, i), b[i], w[i], g[i])
		}
	}
	mem("data", DataBase, before.Data[:], want.Data[:], got.Data[:])
	mem("stack", StackBase, before.Stack[:], want.Stack[:], got.Stack[:])
	return out.String()
}
