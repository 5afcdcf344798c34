package lift

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// XSAVE, XRSTOR and XGETBV (SDM vol. 1, chapter 13): the parts of the state that XCR0 enables are x87, SSE and AVX, in the standard
// format. XSAVE says of each that it is not in its initial configuration, as a processor always may.

const (
	// xcr0 has x87, SSE and AVX.
	xcr0 = 7
	// xsaveParts and xsaveUpper are where XSAVE says which parts there are, and where the upper halves of the ymm registers are, in bytes.
	xsaveParts = 512
	xsaveUpper = 576
	// xsaveSize is the size of the area.
	xsaveSize = 832
)

// part returns bit i of RAX and, if it is not Zero, of s.
func (b *builder) part(i uint64, s ir.Slot) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Get, W: 1, D: t, A: ir.RAX, Imm: i})
	if s != ir.Zero {
		u := b.tmp()
		b.emit(ir.Uop{Op: ir.Get, W: 1, D: u, A: s, Imm: i})
		t = b.val(ir.And, 64, t, u, 0)
	}
	return t
}

// vectors calls f for each quadword of the vector registers, with where it is in the area and which part that is.
func (b *builder) vectors(a address, f func(s ir.Slot, at address, part uint64)) {
	keep := b.temp
	for i := range 32 {
		f(ir.X0+ir.Slot(i), a.plus(uint64(fxHead+8*i)), 1)
		b.temp = keep
		f(ir.Y0+ir.Slot(i), a.plus(uint64(xsaveUpper+8*i)), 2)
		b.temp = keep
	}
}

func xsave(b *builder, in *Inst) error {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		return unsupported(in)
	}
	base := b.lea(b.addr(m))
	a := address{base: base, index: ir.Zero}
	b.vectors(a, func(s ir.Slot, at address, part uint64) {
		old := b.tmp()
		b.load(old, 64, at)
		b.store(b.ite(8, b.part(part, ir.Zero), s, old), 64, at)
	})
	b.x87(xsaveHead, ir.Zero, base, ir.RAX, 0)
	old := b.tmp()
	b.load(old, 64, a.plus(xsaveParts))
	now := b.val(ir.And, 64, ir.RAX, ir.Zero, xcr0)
	rest := b.val(ir.And, 64, b.val(ir.Not, 64, now, ir.Zero, 0), old, 0)
	b.store(b.val(ir.Or, 64, rest, now, 0), 64, a.plus(xsaveParts))
	return nil
}

// xrstor traps on parts that there are not and on the compacted format.
func xrstor(b *builder, in *Inst) error {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		return unsupported(in)
	}
	base := b.lea(b.addr(m))
	a := address{base: base, index: ir.Zero}
	parts, wrong := b.tmp(), ir.Slot(0)
	b.load(parts, 64, a.plus(xsaveParts))
	wrong = b.val(ir.And, 64, parts, ir.Zero, ^uint64(xcr0))
	for i := range 2 {
		t := b.tmp()
		b.load(t, 64, a.plus(uint64(xsaveParts+8+8*i)))
		wrong = b.val(ir.Or, 64, wrong, t, 0)
	}
	b.emit(ir.Uop{Op: ir.TrapIf, W: 64, A: wrong, Imm: uint64(ir.TrapGP)})
	// Which parts are asked for, and which there are.
	both := b.val(ir.Or, 64, b.val(ir.And, 64, ir.RAX, ir.Zero, xcr0), b.val(ir.Shl, 64, parts, ir.Zero, 8), 0)
	b.x87(xrstorHead, ir.Zero, base, both, 0)
	b.vectors(a, func(s ir.Slot, at address, part uint64) {
		t := b.tmp()
		b.load(t, 64, at)
		t = b.ite(8, b.part(part, parts), t, ir.Zero)
		b.mov(s, b.ite(8, b.part(part, ir.Zero), t, s))
	})
	return nil
}

// Where MXCSR is in the head, in bytes, and what follows it, the registers of x87.
const (
	headMXCSR = 24
	headRegs  = 32
)

// xsaveHead is fxsave of what slot B asks for: x87, and MXCSR with SSE or AVX. It reads as little as may be: what is there may be symbolic.
var xsaveHead = ir.DefineHelper(ir.HelperRow{
	Name:  "xsave",
	Slots: x87Slots,
	Mem: func(u *ir.Uop, r *[ir.NumSlots]uint64) (addr uint64, read, write int) {
		switch at, ask := r[u.A], r[u.B]; {
		case ask&1 == 0:
			return at + headMXCSR, 0, headRegs - headMXCSR
		case ask&6 == 0:
			return at, fxHead, fxHead
		default:
			return at, 0, fxHead
		}
	},
	Run: func(u *ir.Uop, m ir.Machine) error {
		at, ask := m.Reg()[u.A], m.Reg()[u.B]
		f := newFPU(u, m)
		defer f.free()
		p := f.image()
		switch {
		case ask&7 == 0:
			return nil
		case ask&1 == 0:
			return m.WriteMem(at+headMXCSR, p[headMXCSR:headRegs])
		case ask&6 == 0:
			if err := m.ReadMem(at+headMXCSR, p[headMXCSR:headRegs]); err != nil {
				return err
			}
		}
		return m.WriteMem(at, p)
	},
})

// xrstorHead is fxrstor likewise; the second byte of slot B says what there is.
var xrstorHead = ir.DefineHelper(ir.HelperRow{
	Name: "xrstor",
	Slots: func(u *ir.Uop, reads, writes func(ir.Slot)) {
		x87Slots(u, reads, writes)
		writes(ir.MXCSR)
	},
	Mem: func(u *ir.Uop, r *[ir.NumSlots]uint64) (addr uint64, read, write int) {
		if at, n := restored(r[u.A], r[u.B]); n > 0 {
			return at, n, 0
		}
		return r[u.A], 0, 0
	},
	Run: func(u *ir.Uop, m ir.Machine) error {
		r := m.Reg()
		p, ask := make([]byte, fxHead), r[u.B]
		if at, n := restored(r[u.A], ask); n > 0 {
			if err := m.ReadMem(at, p[at-r[u.A]:][:n]); err != nil {
				return err
			}
		}
		mx := r[ir.MXCSR]
		if ask&6 != 0 {
			mx = uint64(binary.LittleEndian.Uint32(p[24:]))
			if mx&^mxcsrMask != 0 {
				return &ir.TrapError{Kind: ir.TrapGP}
			}
			if err := checkMXCSR(mx); err != nil {
				return err
			}
		}
		if ask&1 != 0 {
			f := newFPU(u, m)
			defer f.free()
			if ask>>8&1 == 0 {
				clear(p)
				binary.LittleEndian.PutUint16(p, 0x37f)
			}
			f.setImage(p)
			if err := f.commit(); err != nil {
				return err
			}
		}
		r[ir.MXCSR] = mx
		return nil
	},
})

// restored is what XRSTOR reads of the head at an address.
func restored(at, ask uint64) (addr uint64, n int) {
	switch {
	case ask&1 != 0 && ask>>8&1 != 0:
		return at, fxHead
	case ask&6 != 0:
		return at + headMXCSR, headRegs - headMXCSR
	}
	return at, 0
}

// xgetbv knows XCR0 alone.
func xgetbv(b *builder, _ *Inst) error {
	b.emit(ir.Uop{Op: ir.TrapIf, W: 32, A: ir.RCX, Imm: uint64(ir.TrapGP)})
	b.op3(ir.Mov, 64, ir.RAX, ir.Zero, ir.Zero, xcr0)
	b.mov(ir.RDX, ir.Zero)
	return nil
}

func init() {
	const note = "FIP, FDP and FOP are not kept; a misaligned memory operand does not fault"
	register(map[x86asm.Op]row{
		x86asm.XGETBV:   {xgetbv, "x87, SSE and AVX"},
		x86asm.XSAVE:    {xsave, note},
		x86asm.XSAVE64:  {xsave, note},
		x86asm.XRSTOR:   {xrstor, note},
		x86asm.XRSTOR64: {xrstor, note},
	})
}
