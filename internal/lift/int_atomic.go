package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// Tasks run one at a time and switch at block ends, so a lock prefix changes nothing.

func xchg(b *builder, in *Inst) error {
	x, err := b.place(in, 0)
	if err != nil {
		return err
	}
	y, err := b.place(in, 1)
	if err != nil {
		return err
	}
	if y.ram {
		x, y = y, x
	}
	s, t := b.copy(b.get(x)), b.copy(b.get(y))
	b.put(x, t)
	b.put(y, s)
	return nil
}

func xadd(b *builder, in *Inst) error {
	d, err := b.place(in, 0)
	if err != nil {
		return err
	}
	s, err := b.place(in, 1)
	if err != nil {
		return err
	}
	x, y := b.copy(b.get(d)), b.get(s)
	sum := b.val(ir.Add, d.w, x, y, 0)
	if d.ram {
		b.put(d, sum)
	}
	b.setCC(ir.CCAdd, d.w, x, y, ir.Zero)
	b.put(s, x)
	if !d.ram {
		b.put(d, sum)
	}
	return nil
}

// cmpxchg writes its destination on either outcome, as the processor does (SDM vol. 2, CMPXCHG).
func cmpxchg(b *builder, in *Inst) error {
	d, s, err := b.toFrom(in)
	if err != nil {
		return err
	}
	old := b.copy(b.get(d))
	eq := b.val(ir.Eq, d.w, old, ir.RAX, 0)
	next := b.ite(8, eq, s, old)
	if d.ram {
		b.put(d, next)
	}
	b.setCC(ir.CCSub, d.w, ir.RAX, old, ir.Zero)
	if d.w == 32 { // on success RAX keeps its upper half
		b.emit(ir.Uop{Op: ir.Ite, W: 8, D: ir.RAX, A: eq, B: ir.RAX, C: b.val(ir.Mov, 32, ir.Zero, old, 0)})
	} else {
		b.setReg(reg{ir.RAX, d.w, 0}, old) // equal to RAX on success
	}
	switch {
	case d.ram:
	case d.w == 32: // on failure the destination keeps its upper half
		b.emit(ir.Uop{Op: ir.Ite, W: 8, D: d.reg.slot, A: eq, B: b.val(ir.Mov, 32, ir.Zero, next, 0), C: d.reg.slot})
	default:
		b.put(d, next)
	}
	return nil
}

// setZF replaces ZF by bit 0 of s.
func (b *builder) setZF(s ir.Slot) {
	f := b.tmp()
	b.emit(ir.Uop{Op: ir.GetFlags, W: 64, D: f})
	b.setCC(ir.CCFlags, 64, b.insert(f, s, 6, 1), ir.Zero, ir.Zero)
}

// cmpxchg2 makes the rows of cmpxchg8b and cmpxchg16b: halves of w bits.
func cmpxchg2(w int) lifter {
	return func(b *builder, in *Inst) error {
		m, ok := in.Args[0].(x86asm.Mem)
		if !ok {
			return unsupported(in)
		}
		a := b.addr(m)
		n := uint64(w / 8)
		lo, hi := b.tmp(), b.tmp()
		b.load(lo, w, a)
		b.load(hi, w, a.plus(n))
		eq := b.val(ir.And, 8, b.val(ir.Eq, w, lo, ir.RAX, 0), b.val(ir.Eq, w, hi, ir.RDX, 0), 0)
		b.store(b.ite(8, eq, ir.RBX, lo), w, a)
		b.store(b.ite(8, eq, ir.RCX, hi), w, a.plus(n))
		b.setZF(eq)
		if w == 64 {
			b.op3(ir.Mov, 64, ir.RAX, ir.Zero, lo, 0)
			b.op3(ir.Mov, 64, ir.RDX, ir.Zero, hi, 0)
			return nil
		}
		b.emit(ir.Uop{Op: ir.Ite, W: 8, D: ir.RAX, A: eq, B: ir.RAX, C: lo})
		b.emit(ir.Uop{Op: ir.Ite, W: 8, D: ir.RDX, A: eq, B: ir.RDX, C: hi})
		return nil
	}
}

func init() {
	register(map[x86asm.Op]row{
		x86asm.XCHG:       {lift: xchg},
		x86asm.XADD:       {lift: xadd},
		x86asm.CMPXCHG:    {lift: cmpxchg},
		x86asm.CMPXCHG8B:  {lift: cmpxchg2(32), note: "an unaligned operand that crosses into an unmapped page is half written"},
		x86asm.CMPXCHG16B: {lift: cmpxchg2(64), note: "no alignment check"},
	})
}
