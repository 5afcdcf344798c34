package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// BMI1, BMI2 and MOVBE: on general registers of 32 and 64 bits (SDM vol. 1, 5.1.16 and 5.1.1). TZCNT and LZCNT stand in int_shift.go.

// threeGPR makes a row of a destination and two sources, the operands 1 and 2.
func threeGPR(f func(b *builder, w int, x, y ir.Slot) ir.Slot) lifter {
	return func(b *builder, in *Inst) error {
		d, x, err := b.toFrom(in)
		if err != nil {
			return err
		}
		y, err := b.read(in.Args[2], d.w)
		if err != nil {
			return err
		}
		b.put(d, f(b, d.w, x, y))
		return nil
	}
}

// bitsOf returns a mask of the lowest n bits, n below 256; all w if n is not below w.
func (b *builder) bitsOf(w int, n ir.Slot) ir.Slot {
	return b.val(ir.Sub, w, b.val(ir.Shl, w, b.imm(1), n, 0), ir.Zero, 1)
}

// byteOf returns byte i of s.
func (b *builder) byteOf(s ir.Slot, i uint64) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Get, W: 8, D: t, A: s, Imm: 8 * i})
	return t
}

func andn(b *builder, w int, x, y ir.Slot) ir.Slot {
	t := b.val(ir.And, w, b.val(ir.Not, w, x, ir.Zero, 0), y, 0)
	b.setCC(ir.CCLogic, w, t, ir.Zero, ir.Zero)
	return t
}

// extractBits is bextr: as many bits as byte 1 of y says, from the one on that byte 0 says.
func extractBits(b *builder, w int, x, y ir.Slot) ir.Slot {
	t := b.val(ir.And, w, b.val(ir.LShr, w, x, b.byteOf(y, 0), 0), b.bitsOf(w, b.byteOf(y, 1)), 0)
	b.setCC(ir.CCLogic, w, t, ir.Zero, ir.Zero)
	return t
}

// zeroHigh is bzhi: the lowest bits, as many as byte 0 of y says; CF says that it is not below the width.
func zeroHigh(b *builder, w int, x, y ir.Slot) ir.Slot {
	n := b.byteOf(y, 0)
	t := b.val(ir.And, w, x, b.bitsOf(w, n), 0)
	b.setCC(ir.CCResult, w, t, ir.Zero, b.val(ir.Ult, 64, b.imm(uint64(w-1)), n, 0))
	return t
}

// shiftBy is shlx and its like: the count is taken modulo the width.
func shiftBy(op ir.Op) lifter {
	return threeGPR(func(b *builder, w int, x, y ir.Slot) ir.Slot {
		return b.val(op, w, x, b.val(ir.And, w, y, ir.Zero, uint64(w-1)), 0)
	})
}

// pureGPR is an op of two operands that sets no flags.
func pureGPR(op ir.Op) lifter {
	return threeGPR(func(b *builder, w int, x, y ir.Slot) ir.Slot { return b.val(op, w, x, y, 0) })
}

// lowest is blsi, blsr and blsmsk: f of the source and of it less one; CF is whether the source is 0, or is not.
func lowest(f func(b *builder, w int, x, less ir.Slot) ir.Slot, carry uint64) lifter {
	return func(b *builder, in *Inst) error {
		d, s, err := b.toFrom(in)
		if err != nil {
			return err
		}
		t := f(b, d.w, s, b.val(ir.Sub, d.w, s, ir.Zero, 1))
		zero := b.val(ir.Eq, d.w, s, ir.Zero, 0)
		b.setCC(ir.CCResult, d.w, t, ir.Zero, b.val(ir.Xor, 64, zero, ir.Zero, 1-carry))
		b.put(d, t)
		return nil
	}
}

// mulx multiplies by rdx: the upper half of the product goes to operand 0, the lower one to operand 1, which is written first.
func mulx(b *builder, in *Inst) error {
	hi, err := b.place(in, 0)
	if err != nil {
		return err
	}
	lo, err := b.place(in, 1)
	if err != nil {
		return err
	}
	s, err := b.read(in.Args[2], hi.w)
	if err != nil {
		return err
	}
	l, h := b.val(ir.Mul, hi.w, ir.RDX, s, 0), b.val(ir.MulHU, hi.w, ir.RDX, s, 0)
	b.put(lo, l)
	b.put(hi, h)
	return nil
}

// rorx rotates by an immediate and sets no flags.
func rorx(b *builder, in *Inst) error {
	d, s, err := b.toFrom(in)
	if err != nil {
		return err
	}
	n, err := imm8(in, 2)
	if err != nil {
		return err
	}
	b.put(d, b.val(ir.Ror, d.w, s, ir.Zero, n&uint64(d.w-1)))
	return nil
}

// movbe is a move from or to memory with its bytes in reverse.
func movbe(b *builder, in *Inst) error {
	for i, a := range in.Args[:2] {
		r, ok := a.(x86asm.Reg)
		g, isGPR := gpr(r)
		if !ok || !isGPR {
			continue
		}
		m, ok := in.Args[1-i].(x86asm.Mem)
		if !ok {
			break
		}
		at := b.addr(m)
		if i == 1 {
			b.store(b.reversed(g.w, g.slot), g.w, at)
			return nil
		}
		t := b.tmp()
		b.load(t, g.w, at)
		b.setReg(g, b.reversed(g.w, t))
		return nil
	}
	return unsupported(in)
}

// reversed returns s with its bytes in reverse.
func (b *builder) reversed(w int, s ir.Slot) ir.Slot {
	if w == 16 {
		return b.val(ir.Rol, 16, s, ir.Zero, 8)
	}
	return b.val(ir.Bswap, w, s, ir.Zero, 0)
}

func init() {
	register(map[x86asm.Op]row{
		x86asm.ANDN:  v(threeGPR(andn)),
		x86asm.BEXTR: v(threeGPR(extractBits)),
		x86asm.BZHI:  v(threeGPR(zeroHigh)),
		x86asm.BLSI: v(lowest(func(b *builder, w int, x, _ ir.Slot) ir.Slot {
			return b.val(ir.And, w, b.val(ir.Neg, w, x, ir.Zero, 0), x, 0)
		}, 0)),
		x86asm.BLSR:   v(lowest(func(b *builder, w int, x, less ir.Slot) ir.Slot { return b.val(ir.And, w, x, less, 0) }, 1)),
		x86asm.BLSMSK: v(lowest(func(b *builder, w int, x, less ir.Slot) ir.Slot { return b.val(ir.Xor, w, x, less, 0) }, 1)),
		x86asm.SHLX:   v(shiftBy(ir.Shl)),
		x86asm.SHRX:   v(shiftBy(ir.LShr)),
		x86asm.SARX:   v(shiftBy(ir.AShr)),
		x86asm.RORX:   v(rorx),
		x86asm.MULX:   v(mulx),
		x86asm.PDEP:   v(pureGPR(ir.Pdep)),
		x86asm.PEXT:   v(pureGPR(ir.Pext)),
		x86asm.MOVBE:  v(movbe),
	})
}
