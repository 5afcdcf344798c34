package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// The moves of SSE and SSE2 (SDM vol. 1, 10.4.1 and 11.4.1). A 128-bit access is two
// of 64 bits, the lower first. A load writes the register's lower half before
// the upper one can fault: it may, since a restart repeats both.

// noAlign is the note of rows that should fault on a misaligned 16-byte operand.
const noAlign = "a misaligned memory operand does not fault"

// pair is a 128-bit value: the slots of its halves.
type pair [2]ir.Slot

// half is an operand in place of an xmm register: half of a ymm register or of what has been loaded (see avx.go).
type half struct {
	x86asm.Reg
	pair pair
}

// xmm classifies an xmm register.
func xmm(arg x86asm.Arg) (pair, bool) {
	if h, ok := arg.(half); ok {
		return h.pair, true
	}
	r, ok := arg.(x86asm.Reg)
	if !ok || r < x86asm.X0 || r > x86asm.X15 {
		return pair{}, false
	}
	i := int(r - x86asm.X0)
	return pair{ir.XMM(i, 0), ir.XMM(i, 1)}, true
}

// xmmDst returns operand 0, an xmm register.
func (b *builder) xmmDst() (pair, error) {
	if d, ok := xmm(b.in.Args[0]); ok {
		return d, nil
	}
	return pair{}, unsupported(b.in)
}

// mov emits d = s.
func (b *builder) mov(d, s ir.Slot) {
	if d != s {
		b.op3(ir.Mov, 64, d, ir.Zero, s, 0)
	}
}

// loadPair loads 128 bits.
func (b *builder) loadPair(d pair, a address) {
	b.load(d[0], 64, a)
	b.load(d[1], 64, a.plus(8))
}

// storePair stores 128 bits.
func (b *builder) storePair(s pair, a address) {
	b.store(s[0], 64, a)
	b.store(s[1], 64, a.plus(8))
}

// xmmSrc returns operand i, an xmm register or 128 bits of memory.
func (b *builder) xmmSrc(i int) (pair, error) {
	if a, ok := b.in.Args[i].(x86asm.Mem); ok {
		t := pair{b.tmp(), b.tmp()}
		b.loadPair(t, b.addr(a))
		return t, nil
	}
	if s, ok := xmm(b.in.Args[i]); ok {
		return s, nil
	}
	return pair{}, unsupported(b.in)
}

// xmmLow returns the low w bits of operand i: an xmm register or memory.
func (b *builder) xmmLow(i, w int) (ir.Slot, error) {
	if a, ok := b.in.Args[i].(x86asm.Mem); ok {
		t := b.tmp()
		b.load(t, w, b.addr(a))
		return t, nil
	}
	if s, ok := xmm(b.in.Args[i]); ok {
		return s[0], nil
	}
	return 0, unsupported(b.in)
}

// putLow writes the low w bits of s to the low bits of slot d, the others stay.
func (b *builder) putLow(d ir.Slot, w int, s ir.Slot) {
	if w == 64 {
		b.mov(d, s)
		return
	}
	b.emit(ir.Uop{Op: ir.Put, W: uint8(w), D: d, A: s, B: d})
}

// moveAll is a 128-bit move.
func moveAll(b *builder, in *Inst) error {
	if m, ok := in.Args[0].(x86asm.Mem); ok {
		s, ok := xmm(in.Args[1])
		if !ok {
			return unsupported(in)
		}
		b.storePair(s, b.addr(m))
		return nil
	}
	d, err := b.xmmDst()
	if err != nil {
		return err
	}
	if m, ok := in.Args[1].(x86asm.Mem); ok {
		b.loadPair(d, b.addr(m))
		return nil
	}
	s, err := b.xmmSrc(1)
	if err != nil {
		return err
	}
	b.mov(d[0], s[0])
	b.mov(d[1], s[1])
	return nil
}

// moveScalar is movss, movsd: a load clears the rest, a register move keeps it.
func moveScalar(w int) lifter {
	return func(b *builder, in *Inst) error {
		if m, ok := in.Args[0].(x86asm.Mem); ok {
			s, ok := xmm(in.Args[1])
			if !ok {
				return unsupported(in)
			}
			b.store(s[0], w, b.addr(m))
			return nil
		}
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		if m, ok := in.Args[1].(x86asm.Mem); ok {
			b.load(d[0], w, b.addr(m))
			b.mov(d[1], ir.Zero)
			return nil
		}
		s, err := b.xmmLow(1, w)
		if err != nil {
			return err
		}
		b.putLow(d[0], w, s)
		return nil
	}
}

// moveInt is movd, movq: between xmm and general registers or memory, clearing the rest.
func moveInt(b *builder, in *Inst) error {
	w := 64
	if in.Op == x86asm.MOVD {
		w = 32
	}
	d, toX := xmm(in.Args[0])
	s, fromX := xmm(in.Args[1])
	switch {
	case toX && fromX:
		b.op3(ir.Mov, w, d[0], ir.Zero, s[0], 0)
	case toX:
		if m, ok := in.Args[1].(x86asm.Mem); ok {
			b.load(d[0], w, b.addr(m))
			break
		}
		v, err := b.read(in.Args[1], w)
		if err != nil {
			return err
		}
		b.op3(ir.Mov, w, d[0], ir.Zero, v, 0)
	case fromX:
		switch a := in.Args[0].(type) {
		case x86asm.Mem:
			b.store(s[0], w, b.addr(a))
			return nil
		case x86asm.Reg:
			if r, ok := gpr(a); ok {
				b.op3(ir.Mov, w, r.slot, ir.Zero, s[0], 0)
				return nil
			}
		}
		return unsupported(in)
	default:
		return unsupported(in)
	}
	b.mov(d[1], ir.Zero)
	return nil
}

// moveHalf is movlps, movhps and their like: half dh of the xmm register from or to
// memory, or from half sh of another register (none if sh < 0).
func moveHalf(dh, sh int) lifter {
	return func(b *builder, in *Inst) error {
		if m, ok := in.Args[0].(x86asm.Mem); ok {
			s, ok := xmm(in.Args[1])
			if !ok {
				return unsupported(in)
			}
			b.store(s[dh], 64, b.addr(m))
			return nil
		}
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		if m, ok := in.Args[1].(x86asm.Mem); ok {
			b.load(d[dh], 64, b.addr(m))
			return nil
		}
		s, err := b.xmmSrc(1)
		if err != nil {
			return err
		}
		if sh < 0 {
			return unsupported(in)
		}
		b.mov(d[dh], s[sh])
		return nil
	}
}

// moveNTI is movnti.
func moveNTI(b *builder, in *Inst) error {
	m, ok := in.Args[0].(x86asm.Mem)
	r, isReg := in.Args[1].(x86asm.Reg)
	g, isGPR := gpr(r)
	if !ok || !isReg || !isGPR {
		return unsupported(in)
	}
	b.store(g.slot, g.w, b.addr(m))
	return nil
}

// mxcsrMask is what LDMXCSR accepts: the bits of a CPU with denormals-are-zero.
const mxcsrMask = 0xffff

// loadMXCSR traps on reserved bits, as the processor does.
func loadMXCSR(b *builder, in *Inst) error {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		return unsupported(in)
	}
	t := b.tmp()
	b.load(t, 32, b.addr(m))
	b.emit(ir.Uop{Op: ir.TrapIf, W: 64, A: b.val(ir.And, 32, t, ir.Zero, ^uint64(mxcsrMask)&0xffffffff), Imm: uint64(ir.TrapGP)})
	b.emit(ir.Uop{Op: ir.Helper, A: t, Imm: helperLDMXCSR})
	return nil
}

// helperLDMXCSR sets MXCSR to its operand A: a helper, since MXCSR must stay concrete.
var helperLDMXCSR = ir.DefineHelper(ir.HelperRow{
	Name: "ldmxcsr",
	Slots: func(u *ir.Uop, reads, writes func(ir.Slot)) {
		reads(u.A)
		writes(ir.MXCSR)
	},
	Run: func(u *ir.Uop, m ir.Machine) error {
		r := m.Reg()
		if err := checkMXCSR(r[u.A]); err != nil {
			return err
		}
		r[ir.MXCSR] = r[u.A]
		return nil
	},
})

func storeMXCSR(b *builder, in *Inst) error {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		return unsupported(in)
	}
	b.store(ir.MXCSR, 32, b.addr(m))
	return nil
}

// noEffect lifts to nothing.
func noEffect(*builder, *Inst) error { return nil }

func init() {
	register(map[x86asm.Op]row{
		x86asm.MOVAPS:    {moveAll, noAlign},
		x86asm.MOVAPD:    {moveAll, noAlign},
		x86asm.MOVDQA:    {moveAll, noAlign},
		x86asm.MOVUPS:    {moveAll, ""},
		x86asm.MOVUPD:    {moveAll, ""},
		x86asm.MOVDQU:    {moveAll, ""},
		x86asm.MOVNTDQ:   {moveAll, noAlign},
		x86asm.MOVNTPS:   {moveAll, noAlign},
		x86asm.MOVNTPD:   {moveAll, noAlign},
		x86asm.MOVNTI:    {moveNTI, ""},
		x86asm.MOVD:      {moveInt, ""},
		x86asm.MOVQ:      {moveInt, ""},
		x86asm.MOVSS:     {moveScalar(32), ""},
		x86asm.MOVSD_XMM: {moveScalar(64), ""},
		x86asm.MOVLPS:    {moveHalf(0, -1), ""},
		x86asm.MOVLPD:    {moveHalf(0, -1), ""},
		x86asm.MOVHPS:    {moveHalf(1, -1), ""},
		x86asm.MOVHPD:    {moveHalf(1, -1), ""},
		x86asm.MOVLHPS:   {moveHalf(1, 0), ""},
		x86asm.MOVHLPS:   {moveHalf(0, 1), ""},
		x86asm.LDMXCSR:   {loadMXCSR, "unmasking an exception is not supported"},
		x86asm.STMXCSR:   {storeMXCSR, ""},
	})
}
