package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// arith makes the row of a two-operand operation with flags of kind k:
// d = op(d, s). discard is set for cmp and test, which keep the flags only.
func arith(op ir.Op, k ir.CCKind, discard bool) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		same := !d.ram && in.Args[0] == in.Args[1]
		switch {
		case same && (op == ir.Xor || op == ir.Sub && !discard): // zeroing idioms depend on nothing
			b.setCC(ir.CCLogic, d.w, ir.Zero, ir.Zero, ir.Zero)
			if d.w >= 32 {
				b.op3(ir.Mov, 64, d.reg.slot, ir.Zero, ir.Zero, 0)
			} else {
				b.put(d, ir.Zero)
			}
			return nil
		case same && (op == ir.And || op == ir.Or): // test r, r
			a := b.get(d)
			b.setCC(k, d.w, a, ir.Zero, ir.Zero)
			if !discard && d.w == 32 {
				b.put(d, a)
			}
			return nil
		}
		s, err := b.source(in.Args[1], d.w)
		if err != nil {
			return err
		}
		a := b.get(d)
		if k == ir.CCLogic {
			r := b.val(op, d.w, a, s.slot, s.imm)
			if !discard {
				b.put(d, r)
			}
			b.setCC(k, d.w, r, ir.Zero, ir.Zero)
			return nil
		}
		sum := func() {
			if discard {
				return
			}
			if !d.ram && d.w >= 32 {
				b.op3(op, d.w, d.reg.slot, a, s.slot, s.imm)
				return
			}
			b.put(d, b.val(op, d.w, a, s.slot, s.imm))
		}
		if d.ram { // the store may fault: flags after it
			sum()
			b.setCC(k, d.w, a, b.slotOf(s), ir.Zero)
		} else { // flags first, while a is still there
			b.setCC(k, d.w, a, b.slotOf(s), ir.Zero)
			sum()
		}
		return nil
	}
}

// carry makes the rows of adc and sbb.
func carry(op ir.Op, k ir.CCKind) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		if op == ir.Sub && !d.ram && in.Args[0] == in.Args[1] { // sbb r, r: -CF whatever r is
			c := b.condition(ir.CondB)
			b.setCC(k, d.w, ir.Zero, ir.Zero, c)
			b.put(d, b.val(ir.Neg, d.w, c, ir.Zero, 0))
			return nil
		}
		s, err := b.source(in.Args[1], d.w)
		if err != nil {
			return err
		}
		a, c := b.get(d), b.condition(ir.CondB)
		r := b.val(op, d.w, b.val(op, d.w, a, s.slot, s.imm), c, 0)
		if d.ram {
			b.put(d, r)
		}
		b.setCC(k, d.w, a, b.slotOf(s), c)
		if !d.ram {
			b.put(d, r)
		}
		return nil
	}
}

// step makes the rows of inc and dec, which keep CF.
func step(op ir.Op, k ir.CCKind) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		c := b.condition(ir.CondB)
		r := b.val(op, d.w, b.get(d), ir.Zero, 1)
		b.put(d, r)
		b.setCC(k, d.w, r, ir.Zero, c)
		return nil
	}
}

func neg(b *builder, in *Inst) error {
	d, err := b.place(in, 0)
	if err != nil {
		return err
	}
	a := b.get(d)
	r := b.val(ir.Neg, d.w, a, ir.Zero, 0)
	if d.ram {
		b.put(d, r)
	}
	b.setCC(ir.CCSub, d.w, ir.Zero, a, ir.Zero)
	if !d.ram {
		b.put(d, r)
	}
	return nil
}

func not(b *builder, in *Inst) error {
	d, err := b.place(in, 0)
	if err != nil {
		return err
	}
	b.put(d, b.val(ir.Not, d.w, b.get(d), ir.Zero, 0))
	return nil
}

// setWide writes a double-width result lo, hi to AX (w = 8) or rDX:rAX.
func (b *builder) setWide(w int, lo, hi ir.Slot) {
	if w == 8 {
		b.setReg(reg{ir.RAX, 8, 0}, lo)
		b.setReg(reg{ir.RAX, 8, 8}, hi)
		return
	}
	b.setReg(reg{ir.RAX, w, 0}, lo)
	b.setReg(reg{ir.RDX, w, 0}, hi)
}

// multiply makes the one-operand rows; high is MulHU or MulHS.
func multiply(high ir.Op) lifter {
	return func(b *builder, in *Inst) error {
		w := width(in, 0)
		s, err := b.read(in.Args[0], w)
		if err != nil {
			return err
		}
		hi := b.val(high, w, ir.RAX, s, 0)
		lo := b.val(ir.Mul, w, ir.RAX, s, 0)
		over := hi
		if high == ir.MulHS {
			over = b.overflow(w, lo, hi)
		}
		b.setCC(ir.CCMul, w, lo, over, ir.Zero)
		b.setWide(w, lo, hi)
		return nil
	}
}

// overflow returns a temporary that is 0 if hi:lo is the sign-extension of lo.
func (b *builder) overflow(w int, lo, hi ir.Slot) ir.Slot {
	return b.val(ir.Xor, w, hi, b.val(ir.AShr, w, lo, ir.Zero, uint64(w-1)), 0)
}

func imul(b *builder, in *Inst) error {
	if in.Args[1] == nil {
		return multiply(ir.MulHS)(b, in)
	}
	d, err := b.place(in, 0)
	if err != nil {
		return err
	}
	x, y := in.Args[0], in.Args[1]
	if in.Args[2] != nil {
		x, y = in.Args[1], in.Args[2]
	}
	a, err := b.read(x, d.w)
	if err != nil {
		return err
	}
	s, err := b.source(y, d.w)
	if err != nil {
		return err
	}
	lo := b.val(ir.Mul, d.w, a, s.slot, s.imm)
	hi := b.val(ir.MulHS, d.w, a, s.slot, s.imm)
	b.setCC(ir.CCMul, d.w, lo, b.overflow(d.w, lo, hi), ir.Zero)
	b.put(d, lo)
	return nil
}

// trapIf traps with kind k if the low w bits of s are not 0.
func (b *builder) trapIf(w int, s ir.Slot, k ir.TrapKind) {
	b.emit(ir.Uop{Op: ir.TrapIf, W: uint8(w), A: s, Imm: uint64(k)})
}

// divide makes the rows of div and idiv (SDM vol. 2): #DE if the divisor is 0
// or the quotient does not fit. Up to 32 bits the dividend fits a slot. For 64
// bits the division stays symbolic where RDX is seen to extend RAX; else a helper does it.
func divide(signed bool) lifter {
	return func(b *builder, in *Inst) error {
		w := width(in, 0)
		s, err := b.read(in.Args[0], w)
		if err != nil {
			return err
		}
		b.trapIf(8, b.val(ir.Eq, w, s, ir.Zero, 0), ir.TrapDE)
		if w == 64 {
			b.divide64(s, signed)
			return nil
		}
		var n ir.Slot
		if w == 8 {
			n = ir.RAX // AX
		} else {
			n = b.insert(b.val(ir.Mov, w, ir.Zero, ir.RAX, 0), ir.RDX, uint64(w), w)
		}
		if !signed {
			s = b.val(ir.Mov, w, ir.Zero, s, 0)
			q := b.val(ir.UDiv, 2*w, n, s, 0)
			b.trapIf(w, b.bits(q, uint64(w), w), ir.TrapDE)
			b.setWide(w, q, b.val(ir.URem, 2*w, n, s, 0))
			return nil
		}
		s = b.sx(s, w, 2*w)
		q := b.val(ir.SDiv, 2*w, n, s, 0)
		b.trapIf(2*w, b.val(ir.Xor, 2*w, q, b.sx(q, w, 2*w), 0), ir.TrapDE)
		b.setWide(w, q, b.val(ir.SRem, 2*w, n, s, 0))
		return nil
	}
}

// divide64 divides RDX:RAX by s, which is not 0.
func (b *builder) divide64(s ir.Slot, signed bool) {
	var q, r ir.Slot
	switch {
	case !signed && b.rdxIsZero():
		q, r = b.val(ir.UDiv, 64, ir.RAX, s, 0), b.val(ir.URem, 64, ir.RAX, s, 0)
	case signed && b.rdxIsSign():
		// The only quotient that does not fit is -2^63 / -1.
		t := b.val(ir.And, 64, b.val(ir.Eq, 64, ir.RAX, ir.Zero, 1<<63), b.val(ir.Eq, 64, s, ir.Zero, ^uint64(0)), 0)
		b.trapIf(8, t, ir.TrapDE)
		q, r = b.val(ir.SDiv, 64, ir.RAX, s, 0), b.val(ir.SRem, 64, ir.RAX, s, 0)
	default:
		h := helperDiv128
		if signed {
			h = helperIDiv128
		}
		q, r = b.tmp(), b.tmp()
		over := b.tmp()
		b.emit(ir.Uop{Op: ir.Helper, Imm: h, A: s, B: q, C: r, D: over})
		b.trapIf(8, over, ir.TrapDE)
	}
	b.setWide(64, q, r)
}

// lastDef returns the last uop of the block that writes slot s, and its index, or nil.
func (b *builder) lastDef(s ir.Slot) (*ir.Uop, int) {
	for i := len(b.blk.Uops) - 1; i >= 0; i-- {
		hit := false
		b.blk.Uops[i].Defs(func(d ir.Slot) { hit = hit || d == s })
		if hit {
			return &b.blk.Uops[i], i
		}
	}
	return nil, -1
}

// rdxIsZero reports whether the block has set RDX to 0 last (xor edx, edx).
func (b *builder) rdxIsZero() bool {
	u, _ := b.lastDef(ir.RDX)
	return u != nil && u.Op == ir.Mov && u.B == ir.Zero && u.Imm == 0
}

// rdxIsSign reports whether RDX is the sign of RAX (cqo, RAX unchanged since).
func (b *builder) rdxIsSign() bool {
	u, i := b.lastDef(ir.RDX)
	_, j := b.lastDef(ir.RAX)
	return u != nil && i > j && u.Op == ir.AShr && u.W == 64 && u.A == ir.RAX && u.B == ir.Zero && u.Imm == 63
}

func init() {
	register(map[x86asm.Op]row{
		x86asm.ADD:  {lift: arith(ir.Add, ir.CCAdd, false)},
		x86asm.SUB:  {lift: arith(ir.Sub, ir.CCSub, false)},
		x86asm.CMP:  {lift: arith(ir.Sub, ir.CCSub, true)},
		x86asm.AND:  {lift: arith(ir.And, ir.CCLogic, false)},
		x86asm.TEST: {lift: arith(ir.And, ir.CCLogic, true)},
		x86asm.OR:   {lift: arith(ir.Or, ir.CCLogic, false)},
		x86asm.XOR:  {lift: arith(ir.Xor, ir.CCLogic, false)},
		x86asm.ADC:  {lift: carry(ir.Add, ir.CCAdc)},
		x86asm.SBB:  {lift: carry(ir.Sub, ir.CCSbb)},
		x86asm.INC:  {lift: step(ir.Add, ir.CCInc)},
		x86asm.DEC:  {lift: step(ir.Sub, ir.CCDec)},
		x86asm.NEG:  {lift: neg},
		x86asm.NOT:  {lift: not},
		x86asm.MUL:  {lift: multiply(ir.MulHU)},
		x86asm.IMUL: {lift: imul},
		x86asm.DIV:  {lift: divide(false), note: "64 bits: operands concretized unless RDX is 0"},
		x86asm.IDIV: {lift: divide(true), note: "64 bits: operands concretized unless RDX is the sign of RAX"},
	})
}
