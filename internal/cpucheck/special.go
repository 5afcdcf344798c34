package cpucheck

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// prepare makes of a random state one that an instruction can be run on.
type prepare = func(*rand.Rand, *State)

func nothing(*rand.Rand, *State) {}

// specials are the instructions whose states need more than operands in memory. A row's function returns what prepares a state, and completes
// what the form says of undefined results; it is not ok where the operands contradict it, as where rsp would be given a value.
var specials = []struct {
	ops   []x86asm.Op
	needs func(operands, *Form) (prepare, bool)
}{
	{[]x86asm.Op{x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR, x86asm.RCL, x86asm.RCR, x86asm.SHLD, x86asm.SHRD}, operands.shiftNeeds},
	{[]x86asm.Op{x86asm.JMP, x86asm.CALL}, operands.jumpNeeds},
	{[]x86asm.Op{x86asm.RET}, operands.returnNeeds},
	{[]x86asm.Op{x86asm.POPF, x86asm.POPFQ}, operands.flagsNeeds},
	{[]x86asm.Op{x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE, x86asm.JECXZ, x86asm.JRCXZ}, operands.loopNeeds},
	{[]x86asm.Op{x86asm.BT, x86asm.BTS, x86asm.BTR, x86asm.BTC}, operands.bitNeeds},
	{[]x86asm.Op{x86asm.DIV, x86asm.IDIV}, operands.divisionNeeds},
	{[]x86asm.Op{x86asm.CMPXCHG}, operands.exchangeNeeds},
	{[]x86asm.Op{x86asm.CMPXCHG8B, x86asm.CMPXCHG16B}, operands.exchangePairNeeds},
	{[]x86asm.Op{x86asm.PTEST}, operands.testNeeds},
	{[]x86asm.Op{x86asm.PCMPESTRI, x86asm.PCMPESTRM, x86asm.PCMPISTRI, x86asm.PCMPISTRM}, operands.twoStringsNeeds},
	{[]x86asm.Op{x86asm.LDMXCSR, x86asm.VLDMXCSR}, operands.mxcsrNeeds},
	{[]x86asm.Op{x86asm.FLDCW, x86asm.FLDENV}, operands.maskNeeds},
	{[]x86asm.Op{x86asm.FXRSTOR, x86asm.FXRSTOR64}, operands.restoreNeeds},
	{[]x86asm.Op{x86asm.FXSAVE, x86asm.FXSAVE64}, operands.saveNeeds},
	{[]x86asm.Op{x86asm.VMASKMOVPS, x86asm.VMASKMOVPD, x86asm.VPMASKMOVD, x86asm.VPMASKMOVQ}, operands.maskedNeeds},
	{[]x86asm.Op{x86asm.DPPS, x86asm.VDPPS, x86asm.DPPD, x86asm.VDPPD}, operands.dotNeeds},
	{[]x86asm.Op{x86asm.VPGATHERDD, x86asm.VPGATHERDQ, x86asm.VPGATHERQD, x86asm.VPGATHERQQ, x86asm.VGATHERDPS, x86asm.VGATHERDPD, x86asm.VGATHERQPS, x86asm.VGATHERQPD}, operands.gatherNeeds},
	{[]x86asm.Op{x86asm.XSAVE, x86asm.XSAVE64, x86asm.XRSTOR, x86asm.XRSTOR64}, operands.xsaveNeeds},
	{[]x86asm.Op{x86asm.FNSTENV}, operands.environmentNeeds},
	{[]x86asm.Op{x86asm.FLD, x86asm.FADD, x86asm.FSUB, x86asm.FSUBR, x86asm.FMUL, x86asm.FDIV, x86asm.FDIVR, x86asm.FCOM, x86asm.FCOMP}, operands.floatNeeds},
}

var specialOf = func() map[x86asm.Op]func(operands, *Form) (prepare, bool) {
	m := map[x86asm.Op]func(operands, *Form) (prepare, bool){}
	for _, r := range specials {
		for _, op := range r.ops {
			m[op] = r.needs
		}
	}
	for op := range elements {
		m[op] = operands.stringNeeds
	}
	return m
}()

// special returns what a state of an instruction needs besides operands in memory, and completes what f says of
// undefined results.
func (o operands) special(f *Form) (prepare, bool) {
	if needs := specialOf[o.in.Op]; needs != nil {
		return needs(o, f)
	}
	return nothing, true
}

// shiftNeeds: what of the flags a shift or rotation leaves undefined depends on the count.
func (o operands) shiftNeeds(f *Form) (prepare, bool) {
	in := o.in
	f.Undef, f.UndefIf = 0, o.shiftUndef
	if in.Op == x86asm.SHLD || in.Op == x86asm.SHRD {
		w := o.width(0)
		f.Skip = func(s *State) bool { return w == 16 && o.count(s, 2)&31 > 16 }
	}
	return nothing, true
}

// dotNeeds: the manual does not say which of several NaNs a sum of products is, and processors differ.
func (o operands) dotNeeds(f *Form) (prepare, bool) {
	f.SomeNaN = 32
	if o.in.Op == x86asm.DPPD || o.in.Op == x86asm.VDPPD {
		f.SomeNaN = 64
	}
	return nothing, true
}

// jumpNeeds: jumps and calls through a register or memory go to the code that ends the run.
func (o operands) jumpNeeds(f *Form) (prepare, bool) {
	in := o.in
	if _, rel := in.Args[0].(x86asm.Rel); !rel {
		if in.Args[0] == x86asm.RSP {
			return nil, false
		}
		return func(_ *rand.Rand, s *State) { o.write(s, 0, codeTarget) }, true
	}
	return nothing, true
}

// returnNeeds: a return goes there from the stack.
func (o operands) returnNeeds(_ *Form) (prepare, bool) {
	return func(_ *rand.Rand, s *State) { binary.LittleEndian.PutUint64(s.Stack[0x100:], codeTarget) }, true
}

// flagsNeeds: any flags but TF, which would trap.
func (o operands) flagsNeeds(_ *Form) (prepare, bool) {
	return func(r *rand.Rand, s *State) {
		binary.LittleEndian.PutUint64(s.Stack[0x100:], 0x202|r.Uint64()&CompareFlags)
	}, true
}

// loopNeeds: small counts, half of the time.
func (o operands) loopNeeds(_ *Form) (prepare, bool) {
	return func(r *rand.Rand, s *State) {
		if r.IntN(2) == 0 {
			s.set(ir.RCX, 32<<r.IntN(2), uint64(r.IntN(3)))
		}
	}, true
}

// bitNeeds: a bit near the operand in memory.
func (o operands) bitNeeds(f *Form) (prepare, bool) {
	in := o.in
	g, w, ok := gprOf(in.Args[1])
	m, isMem := in.Args[0].(x86asm.Mem)
	if !ok || !isMem {
		return nothing, true
	}
	for _, a := range []x86asm.Reg{m.Base, m.Index} {
		if b, _, ok := gprOf(a); ok && b == g {
			return nil, false
		}
	}
	return func(_ *rand.Rand, s *State) { s.set(g, w, uint64(int64(s.GPR[g])<<52>>52)) }, true // -2048 ... 2047
}

// divisionNeeds: a high half with which most quotients fit.
func (o operands) divisionNeeds(f *Form) (prepare, bool) {
	in := o.in
	if m, ok := in.Args[0].(x86asm.Mem); ok && usesAny(m, ir.RDX) {
		return nil, false
	}
	return func(r *rand.Rand, s *State) { // a high half with which most quotients fit
		w := o.width(0)
		if w == 8 || r.IntN(4) == 0 {
			return
		}
		hi := r.Uint64N(4)
		if in.Op == x86asm.IDIV {
			hi = uint64(int64(s.GPR[ir.RAX]) << (64 - w) >> 63)
		}
		s.set(ir.RDX, w, hi)
	}, true
}

// exchangeNeeds: the accumulator equals the operand half of the time.
func (o operands) exchangeNeeds(f *Form) (prepare, bool) {
	in := o.in
	if m, ok := in.Args[0].(x86asm.Mem); ok && usesAny(m, ir.RAX) {
		return nil, false
	}
	return func(r *rand.Rand, s *State) {
		if r.IntN(2) == 0 {
			s.set(ir.RAX, o.width(0), o.read(s, 0))
		}
	}, true
}

// exchangePairNeeds: the same of a pair of registers.
func (o operands) exchangePairNeeds(f *Form) (prepare, bool) {
	in := o.in
	if m := in.Args[0].(x86asm.Mem); usesAny(m, ir.RAX, ir.RDX) {
		return nil, false
	}
	return func(r *rand.Rand, s *State) {
		n := in.MemBytes / 2
		p := s.bytes(o.at[0](s), 2*n)
		if r.IntN(4) != 0 {
			s.set(ir.RAX, 8*n, word(p[:n]))
		}
		if r.IntN(4) != 0 {
			s.set(ir.RDX, 8*n, word(p[n:]))
		}
	}, true
}

// testNeeds: often no bits of one in the other.
func (o operands) testNeeds(f *Form) (prepare, bool) {
	in := o.in
	return func(r *rand.Rand, s *State) {
		d, _ := xmmOf(in.Args[0])
		lo, hi := s.XMM(d)
		if r.IntN(2) == 0 {
			lo, hi = ^lo, ^hi
		}
		if r.IntN(3) == 0 {
			lo |= 1 << r.IntN(64)
		}
		o.writeXMM(s, 1, lo, hi)
	}, true
}

// twoStringsNeeds: strings of few different elements.
func (o operands) twoStringsNeeds(f *Form) (prepare, bool) {
	return o.twoStrings, true
}

// mxcsrNeeds: control words that are mostly accepted.
func (o operands) mxcsrNeeds(_ *Form) (prepare, bool) {
	return func(r *rand.Rand, s *State) {
		v := 0x1f80 | r.Uint64()&0xe07f
		if r.IntN(8) == 0 {
			v |= 1 << (18 + r.IntN(14)) // reserved by Intel and AMD
		}
		o.write(s, 0, v)
	}, true
}

// maskNeeds: exceptions of the x87 unit stay masked.
func (o operands) maskNeeds(_ *Form) (prepare, bool) {
	return func(_ *rand.Rand, s *State) { s.bytes(o.at[0](s), 1)[0] |= 0x3f }, true
}

// restoreNeeds: an area as fxsave leaves it, with one bit changed.
func (o operands) restoreNeeds(_ *Form) (prepare, bool) {
	return func(r *rand.Rand, s *State) {
		p := s.bytes(o.at[0](s), 512)
		copy(p, s.FX[:])
		binary.LittleEndian.PutUint32(p[24:], 0x1f80|r.Uint32()&0xe07f)
		s.Data[r.IntN(0x180)] ^= 1
	}, true
}

// saveNeeds: FOP, FIP, FDP are not kept; the mask is that of a processor without newer bits.
func (o operands) saveNeeds(f *Form) (prepare, bool) {
	f.Ignore = func(s *State) [][2]uint64 { a := o.at[0](s); return [][2]uint64{{a + 6, a + 24}, {a + 28, a + 32}} }
	return nothing, true
}

// maskedNeeds: no operand on the stack.
func (o operands) maskedNeeds(f *Form) (prepare, bool) {
	return nothing, !o.onStack()
}

// gatherNeeds: small indices.
func (o operands) gatherNeeds(f *Form) (prepare, bool) {
	in := o.in
	x, wide := in.Args[1].(x86asm.Mem).Index, in.Op.String()[strings.Index(in.Op.String(), "GATHER")+len("GATHER")] == 'Q'
	return func(r *rand.Rand, s *State) { // small indices
		quadword := func() uint64 {
			k := func() uint64 { return uint64(r.IntN(48) - 24) }
			if wide {
				return k()
			}
			return k()<<32 | k()&0xffffffff
		}
		i := int(x-x86asm.X0) % 32
		if x >= x86asm.Y0 {
			i = int(x - x86asm.Y0)
		}
		s.SetXMM(i, quadword(), quadword())
		s.SetUpperHalf(i, quadword(), quadword())
	}, !o.onStack()
}

// xsaveNeeds: few parts asked for, and an area of them. Nor is it compared which parts a processor says there are, and what a compacted area would say.
func (o operands) xsaveNeeds(f *Form) (prepare, bool) {
	in := o.in
	if m := in.Args[0].(x86asm.Mem); usesAny(m, ir.RAX, ir.RDX) || m.Base == x86asm.RIP || m.Base == x86asm.EIP {
		return nil, false
	}
	f.Ignore = func(s *State) [][2]uint64 {
		a := o.at[0](s)
		return [][2]uint64{{a + 6, a + 24}, {a + 28, a + 32}, {a + 512, a + 520}}
	}
	return func(r *rand.Rand, s *State) {
		s.GPR[ir.RAX], s.GPR[ir.RDX] = r.Uint64N(8), 0
		p := s.bytes(o.at[0](s), 832)
		copy(p, s.FX[:])
		binary.LittleEndian.PutUint32(p[24:], 0x1f80|r.Uint32()&0xe07f)
		clear(p[512:576])
		p[512] = byte(r.IntN(8))
		if strings.HasPrefix(in.Op.String(), "XRSTOR") {
			p[160+r.IntN(256)] ^= 1
			p[576+r.IntN(256)] ^= 1
			if r.IntN(16) == 0 {
				p[512+16+r.IntN(8)] = 1 // reserved
			}
		}
	}, true
}

// environmentNeeds: what fnstenv stores of the last instruction is not compared.
func (o operands) environmentNeeds(f *Form) (prepare, bool) {
	f.Ignore = func(s *State) [][2]uint64 { a := o.at[0](s); return [][2]uint64{{a + 12, a + 28}} }
	return nothing, true
}

// floatNeeds: floats of the operand's format in memory.
func (o operands) floatNeeds(f *Form) (prepare, bool) {
	in := o.in
	if o.at[0] == nil {
		return nothing, true
	}
	return func(r *rand.Rand, s *State) {
		switch a := o.at[0](s); in.MemBytes {
		case 4:
			binary.LittleEndian.PutUint32(s.bytes(a, 4), uint32(Single(r)))
		case 8:
			binary.LittleEndian.PutUint64(s.bytes(a, 8), Double(r))
		default:
			sig, se := Extended(r)
			binary.LittleEndian.PutUint64(s.bytes(a, 8), sig)
			binary.LittleEndian.PutUint16(s.bytes(a+8, 2), se)
		}
	}, true
}

// stringNeeds: strings that are often equal up to a point.
func (o operands) stringNeeds(*Form) (prepare, bool) { return o.stringState, true }
