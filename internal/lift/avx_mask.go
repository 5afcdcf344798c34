package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// Loads and stores of some of the elements of a vector: those whose lane in a mask is negative. A micro-op always accesses memory, so it accesses for the
// others an element that is accessed anyway, or if there is none the top of the stack, and makes no use of it. Where an element faults nothing has
// been done; the processor may have done a part, which a restart repeats.

// some are elements of w bits: which count, and where they are.
type some struct {
	on []ir.Slot // 0 or 1
	at []ir.Slot // addresses, made harmless
}

// signs returns the signs of lanes 0 to n-1 of w bits of m.
func (b *builder) signs(m vec, w, n int) (on []ir.Slot) {
	for i := range n {
		t := b.tmp()
		bit := i*w + w - 1
		b.emit(ir.Uop{Op: ir.Get, W: 1, D: t, A: m.slot[bit/64], Imm: uint64(bit % 64)})
		on = append(on, t)
	}
	return on
}

// harmless makes each address that does not count one that does, or that of the stack.
func (b *builder) harmless(on []ir.Slot, at []ir.Slot) some {
	spare := ir.RSP
	for i := range on {
		spare = b.ite(8, on[i], at[i], spare)
	}
	s := some{on: on}
	for i := range on {
		s.at = append(s.at, b.ite(8, on[i], at[i], spare))
	}
	return s
}

// gathered loads the elements that count, and 0 or the element of old for the others, as quadwords.
func (b *builder) gathered(s some, w int, old func(i int) ir.Slot) (q []ir.Slot) {
	var lane []ir.Slot
	for i := range s.on {
		t := b.tmp()
		b.load(t, w, address{base: s.at[i], index: ir.Zero})
		lane = append(lane, b.ite(8, s.on[i], t, old(i)))
	}
	if w == 64 {
		return lane
	}
	for i := 0; i < len(lane); i += 2 {
		q = append(q, b.join(lane[i], lane[i+1]))
	}
	return q
}

// element returns element i of w bits of v.
func (b *builder) element(v vec, w, i int) ir.Slot {
	if w == 64 {
		return v.slot[i]
	}
	return b.dword(v, i)
}

// maskMoveVec is vmaskmovps, vpmaskmovd and their like: the mask is operand 1.
func maskMoveVec(w int) lifter {
	return func(b *builder, in *Inst) error {
		m, ok := vector(in.Args[1])
		i := 2 // the memory operand
		if _, store := in.Args[0].(x86asm.Mem); store {
			i = 0
		}
		mem, isMem := in.Args[i].(x86asm.Mem)
		if !ok || !isMem {
			return unsupported(in)
		}
		a := b.addr(mem)
		on := b.signs(m, w, m.w/w)
		var at []ir.Slot
		for k := range on {
			at = append(at, b.lea(a.plus(uint64(k*w/8))))
		}
		s := b.harmless(on, at)
		if i == 2 {
			d, err := b.target()
			if err != nil {
				return err
			}
			b.set(d, b.gathered(s, w, func(int) ir.Slot { return ir.Zero }))
			return nil
		}
		v, ok := vector(in.Args[2])
		if !ok {
			return unsupported(in)
		}
		// What is stored for those that do not count is what the other that is accessed gets.
		spare := b.tmp()
		b.load(spare, w, address{base: ir.RSP, index: ir.Zero})
		for k := range on {
			spare = b.ite(8, on[k], b.element(v, w, k), spare)
		}
		for k := range on {
			b.store(b.ite(8, on[k], b.element(v, w, k), spare), w, address{base: s.at[k], index: ir.Zero})
		}
		return nil
	}
}

// gather is vpgatherdd and its like: elements of w bits at addresses with indices of x bits, under the mask in operand 2, which is cleared.
func gather(w, x int) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.target()
		if err != nil {
			return err
		}
		m, ok := vector(in.Args[2])
		mem, isMem := in.Args[1].(x86asm.Mem)
		index, isVec := vector(mem.Index)
		if !ok || !isMem || !isVec || in.AddrSize != 64 || index.slot[0] == d.slot[0] || index.slot[0] == m.slot[0] || m.slot[0] == d.slot[0] {
			return unsupported(in) // of one register for two, a processor makes an invalid instruction
		}
		n := min(d.w/w, index.w/x)
		scale := mem.Scale
		mem.Index, mem.Scale = 0, 0
		base := b.lea(b.addr(mem))
		on := b.signs(m, w, n)
		var at []ir.Slot
		for i := range n {
			k := b.element(index, x, i)
			if x == 32 {
				t := b.tmp()
				b.emit(ir.Uop{Op: ir.Sx, W: 32, X: 64, D: t, A: k})
				k = t
			}
			t := b.tmp()
			u := ir.Uop{Op: ir.Lea, W: 64, D: t, A: base, B: k}
			for s := scale; s > 1; s >>= 1 {
				u.Scale++
			}
			b.emit(u)
			at = append(at, t)
		}
		q := b.gathered(b.harmless(on, at), w, func(i int) ir.Slot { return b.element(d, w, i) })
		b.set(d, q)
		b.set(m, nil)
		return nil
	}
}

func init() {
	const (
		stack = "where no element counts, the top of the stack is read"
		note  = stack + "; a fault leaves the register as it was"
	)
	register(map[x86asm.Op]row{
		x86asm.VMASKMOVPS: {maskMoveVec(32), stack},
		x86asm.VMASKMOVPD: {maskMoveVec(64), stack},
		x86asm.VPMASKMOVD: {maskMoveVec(32), stack},
		x86asm.VPMASKMOVQ: {maskMoveVec(64), stack},
		x86asm.VPGATHERDD: {gather(32, 32), note},
		x86asm.VPGATHERDQ: {gather(64, 32), note},
		x86asm.VPGATHERQD: {gather(32, 64), note},
		x86asm.VPGATHERQQ: {gather(64, 64), note},
		x86asm.VGATHERDPS: {gather(32, 32), note},
		x86asm.VGATHERDPD: {gather(64, 32), note},
		x86asm.VGATHERQPS: {gather(32, 64), note},
		x86asm.VGATHERQPD: {gather(64, 64), note},
	})
}
