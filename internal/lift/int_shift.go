package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// setCCIf emits lazy flags that take effect if the low 8 bits of n are not 0.
func (b *builder) setCCIf(n ir.Slot, k ir.CCKind, w int, a, s, c ir.Slot) {
	b.emit(ir.Uop{Op: ir.SetCCIf, W: 8, D: n, A: a, B: s, C: c, Imm: uint64(ir.MakeCC(k, uint(w)))})
}

// count is a shift count: known (imm), or in a slot and masked.
type count struct {
	known bool
	n     uint64
	slot  ir.Slot
}

// count returns operand i of a shift of width w, masked to 5 bits, or 6 for w = 64 (SDM vol. 2, SAL).
func (b *builder) count(in *Inst, i, w int) (count, error) {
	m := uint64(31)
	if w == 64 {
		m = 63
	}
	switch a := in.Args[i].(type) {
	case x86asm.Imm:
		n := uint64(a) & m
		return count{known: true, n: n}, nil
	case x86asm.Reg:
		if a == x86asm.CL {
			return count{slot: b.val(ir.And, 8, ir.RCX, ir.Zero, m)}, nil
		}
	}
	return count{}, unsupported(in)
}

// src returns the count as a source value.
func (c count) src() src {
	if c.known {
		return src{ir.Zero, c.n}
	}
	return src{slot: c.slot}
}

// shiftFlags sets the flags of a shift unless its count is 0.
func (b *builder) shiftFlags(c count, k ir.CCKind, w int, x, y, z ir.Slot) {
	switch {
	case !c.known:
		b.setCCIf(c.slot, k, w, x, y, z)
	case c.n != 0:
		b.setCC(k, w, x, y, z)
	}
}

func shift(op ir.Op, k ir.CCKind) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		n, err := b.count(in, 1, d.w)
		if err != nil {
			return err
		}
		a := b.get(d)
		r := b.val(op, d.w, a, n.src().slot, n.src().imm)
		if d.ram {
			b.put(d, r)
		}
		b.shiftFlags(n, k, d.w, a, b.slotOf(n.src()), ir.Zero)
		if !d.ram {
			b.put(d, r)
		}
		return nil
	}
}

// withCFOF returns the current flags with CF and OF replaced by bit 0 of cf and of.
func (b *builder) withCFOF(cf, of ir.Slot) ir.Slot {
	f := b.tmp()
	b.emit(ir.Uop{Op: ir.GetFlags, W: 64, D: f})
	return b.insert(b.insert(f, cf, 0, 1), of, 11, 1)
}

// rotate makes the rows of rol and ror. They change CF and OF only; OF, which
// is defined for count 1 only, is set as processors set it for every count.
func rotate(op ir.Op) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		n, err := b.count(in, 1, d.w)
		if err != nil {
			return err
		}
		r := b.val(op, d.w, b.get(d), n.src().slot, n.src().imm)
		b.put(d, r)
		if n.known && n.n == 0 {
			return nil
		}
		top := b.bits(r, uint64(d.w-1), 1)
		cf, other := top, b.bits(r, uint64(d.w-2), 1)
		if op == ir.Rol {
			cf, other = r, r
		}
		f := b.withCFOF(cf, b.val(ir.Xor, 1, top, other, 0))
		b.shiftFlags(n, ir.CCFlags, d.w, f, ir.Zero, ir.Zero)
		return nil
	}
}

// rotateCarry makes the rows of rcl and rcr: rotations of CF and the operand, w+1
// bits together. Shifts by w or more give 0, which makes count 0 come out right.
func rotateCarry(left bool) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		n, err := b.count(in, 1, d.w)
		if err != nil {
			return err
		}
		w := d.w
		if w < 32 {
			m := uint64(w + 1)
			if n.known {
				n.n %= m
			} else {
				n.slot = b.val(ir.URem, 8, n.slot, ir.Zero, m)
			}
		}
		a, c := b.get(d), b.condition(ir.CondB)
		ns := b.slotOf(n.src())
		// inv = w - n; the count's complements
		inv := b.val(ir.Sub, w, b.imm(uint64(w)), ns, 0)
		less := b.val(ir.Sub, w, ns, ir.Zero, 1)
		out, in1, fwd, back := inv, less, ir.Shl, ir.LShr
		if !left {
			out, in1, fwd, back = less, inv, ir.LShr, ir.Shl
		}
		r := b.val(fwd, w, a, ns, 0)
		r = b.val(ir.Or, w, r, b.val(ir.Shl, w, c, in1, 0), 0)
		r = b.val(ir.Or, w, r, b.val(back, w, a, b.val(ir.Add, w, inv, ir.Zero, 1), 0), 0)
		cf := b.val(ir.LShr, w, a, out, 0)
		top := b.bits(r, uint64(w-1), 1)
		of := b.val(ir.Xor, 1, top, cf, 0)
		if !left {
			of = b.val(ir.Xor, 1, top, b.bits(r, uint64(w-2), 1), 0)
		}
		if d.ram {
			b.put(d, r)
		}
		f := b.withCFOF(cf, of)
		b.shiftFlags(n, ir.CCFlags, w, f, ir.Zero, ir.Zero)
		if !d.ram {
			b.put(d, r)
		}
		return nil
	}
}

// double makes the rows of shld and shrd.
func double(left bool) lifter {
	return func(b *builder, in *Inst) error {
		d, s, err := b.toFrom(in)
		if err != nil {
			return err
		}
		n, err := b.count(in, 2, d.w)
		if err != nil {
			return err
		}
		w := d.w
		a := b.get(d)
		ns := b.slotOf(n.src())
		inv := b.val(ir.Sub, w, b.imm(uint64(w)), ns, 0)
		fwd, back, out := ir.Shl, ir.LShr, inv
		if !left {
			fwd, back, out = ir.LShr, ir.Shl, b.val(ir.Sub, w, ns, ir.Zero, 1)
		}
		r := b.val(ir.Or, w, b.val(fwd, w, a, ns, 0), b.val(back, w, s, inv, 0), 0)
		cf := b.val(ir.LShr, w, a, out, 0)
		of := b.bits(b.val(ir.Xor, w, a, r, 0), uint64(w-1), 1)
		if d.ram {
			b.put(d, r)
		}
		b.shiftFlags(n, ir.CCResult, w, r, of, cf)
		if !d.ram {
			b.put(d, r)
		}
		return nil
	}
}

// bitTest makes the rows of bt, bts, btr, btc. With a register bit offset the
// memory operand is a bit string of any length (SDM vol. 1, 4.6.3).
func bitTest(op ir.Op) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		var n ir.Slot
		switch a := in.Args[1].(type) {
		case x86asm.Imm:
			n = b.imm(uint64(a) & uint64(d.w-1))
		default:
			s, err := b.read(a, d.w)
			if err != nil {
				return err
			}
			n = b.val(ir.And, d.w, s, ir.Zero, uint64(d.w-1))
			if d.ram {
				base := b.tmp()
				b.emit(ir.Uop{Op: ir.Lea, W: 64, D: base, A: d.mem.base, B: d.mem.index, Scale: d.mem.scale, Imm: d.mem.disp})
				off := b.val(ir.AShr, 64, b.sx(s, d.w, 64), ir.Zero, uint64(log2Bytes(d.w)+3))
				d.mem = address{base: base, index: off, scale: uint8(log2Bytes(d.w))}
			}
		}
		a := b.get(d)
		cf := b.val(ir.LShr, d.w, a, n, 0)
		if op != ir.Mov {
			m := b.val(ir.Shl, d.w, b.imm(1), n, 0)
			if op == ir.And {
				m = b.val(ir.Not, d.w, m, ir.Zero, 0)
			}
			b.put(d, b.val(op, d.w, a, m, 0))
		}
		f := b.tmp()
		b.emit(ir.Uop{Op: ir.GetFlags, W: 64, D: f})
		b.setCC(ir.CCFlags, 64, b.insert(f, cf, 0, 1), ir.Zero, ir.Zero)
		return nil
	}
}

// scan makes the rows of bsf and bsr: with source 0 the destination keeps its value, as on all 64-bit processors.
func scan(forward bool) lifter {
	return func(b *builder, in *Inst) error {
		d, s, err := b.toFrom(in)
		if err != nil {
			return err
		}
		var t ir.Slot
		if forward {
			t = b.val(ir.Ctz, d.w, s, ir.Zero, 0)
		} else {
			t = b.val(ir.Xor, d.w, b.val(ir.Clz, d.w, s, ir.Zero, 0), ir.Zero, uint64(d.w-1))
		}
		b.setCC(ir.CCLogic, d.w, s, ir.Zero, ir.Zero)
		if d.w == 16 {
			b.put(d, b.ite(d.w, s, t, d.reg.slot))
			return nil
		}
		b.emit(ir.Uop{Op: ir.Ite, W: uint8(d.w), D: d.reg.slot, A: s, B: t, C: d.reg.slot})
		return nil
	}
}

// countZeros makes the rows of tzcnt and lzcnt: CF = source is 0, ZF = result is 0.
func countZeros(op ir.Op) lifter {
	return func(b *builder, in *Inst) error {
		d, s, err := b.toFrom(in)
		if err != nil {
			return err
		}
		t := b.val(op, d.w, s, ir.Zero, 0)
		b.setCC(ir.CCResult, d.w, t, ir.Zero, b.val(ir.Eq, d.w, s, ir.Zero, 0))
		b.put(d, t)
		return nil
	}
}

func popcnt(b *builder, in *Inst) error {
	d, s, err := b.toFrom(in)
	if err != nil {
		return err
	}
	t := b.val(ir.Popcnt, d.w, s, ir.Zero, 0)
	// ZF = source is 0, all others 0 (SDM vol. 2, POPCNT).
	b.setCC(ir.CCFlags, 64, b.val(ir.Shl, 64, b.val(ir.Eq, d.w, s, ir.Zero, 0), ir.Zero, 6), ir.Zero, ir.Zero)
	b.put(d, t)
	return nil
}

func init() {
	register(map[x86asm.Op]row{
		x86asm.SHL:    {lift: shift(ir.Shl, ir.CCShl)},
		x86asm.SHR:    {lift: shift(ir.LShr, ir.CCShr)},
		x86asm.SAR:    {lift: shift(ir.AShr, ir.CCSar)},
		x86asm.ROL:    {lift: rotate(ir.Rol)},
		x86asm.ROR:    {lift: rotate(ir.Ror)},
		x86asm.RCL:    {lift: rotateCarry(true)},
		x86asm.RCR:    {lift: rotateCarry(false)},
		x86asm.SHLD:   {lift: double(true), note: "16 bits: undefined for counts above 16"},
		x86asm.SHRD:   {lift: double(false), note: "16 bits: undefined for counts above 16"},
		x86asm.BT:     {lift: bitTest(ir.Mov)},
		x86asm.BTS:    {lift: bitTest(ir.Or)},
		x86asm.BTR:    {lift: bitTest(ir.And)},
		x86asm.BTC:    {lift: bitTest(ir.Xor)},
		x86asm.BSF:    {lift: scan(true)},
		x86asm.BSR:    {lift: scan(false)},
		x86asm.TZCNT:  {lift: countZeros(ir.Ctz)},
		x86asm.LZCNT:  {lift: countZeros(ir.Clz)},
		x86asm.POPCNT: {lift: popcnt},
	})
}
