package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// reg describes a general register operand: its slot, width in bits and first bit.
type reg struct {
	slot  ir.Slot
	w     int
	shift uint64 // 8 for ah, ch, dh, bh
}

// gpr classifies a general register.
func gpr(r x86asm.Reg) (reg, bool) {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return reg{ir.Slot(r - x86asm.AL), 8, 0}, true
	case r >= x86asm.AH && r <= x86asm.BH:
		return reg{ir.Slot(r - x86asm.AH), 8, 8}, true
	case r >= x86asm.SPB && r <= x86asm.DIB:
		return reg{ir.RSP + ir.Slot(r-x86asm.SPB), 8, 0}, true
	case r >= x86asm.R8B && r <= x86asm.R15B:
		return reg{ir.R8 + ir.Slot(r-x86asm.R8B), 8, 0}, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return reg{ir.Slot(r - x86asm.AX), 16, 0}, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return reg{ir.Slot(r - x86asm.EAX), 32, 0}, true
	case r >= x86asm.RAX && r <= x86asm.R15:
		return reg{ir.Slot(r - x86asm.RAX), 64, 0}, true
	}
	return reg{}, false
}

// address is a memory operand ready for Load, Store and Lea.
type address struct {
	base, index ir.Slot
	scale       uint8
	disp        uint64
}

// addr translates memory operand m. The segment bases of fs and gs are added first.
func (b *builder) addr(m x86asm.Mem) address {
	a := address{base: ir.Zero, index: ir.Zero, disp: uint64(m.Disp)}
	w := 64
	switch m.Base {
	case 0:
	case x86asm.RIP, x86asm.EIP:
		a.disp += b.in.End()
		if m.Base == x86asm.EIP {
			w = 32
		}
	default:
		r, _ := gpr(m.Base)
		a.base, w = r.slot, r.w
	}
	if m.Index != 0 {
		r, _ := gpr(m.Index)
		a.index, w = r.slot, r.w
		for s := m.Scale; s > 1; s >>= 1 {
			a.scale++
		}
	}
	if w == 32 { // address-size prefix: the sum is truncated
		t := b.tmp()
		b.emit(ir.Uop{Op: ir.Lea, W: 32, D: t, A: a.base, B: a.index, Scale: a.scale, Imm: a.disp})
		a = address{base: t, index: ir.Zero}
	}
	if m.Segment == x86asm.FS || m.Segment == x86asm.GS {
		seg := ir.FSBase
		if m.Segment == x86asm.GS {
			seg = ir.GSBase
		}
		t := b.tmp()
		b.emit(ir.Uop{Op: ir.Lea, W: 64, D: t, A: a.base, B: a.index, Scale: a.scale, Imm: a.disp})
		a = address{base: t, index: seg}
	}
	return a
}

// plus returns the address n bytes further on.
func (a address) plus(n uint64) address {
	a.disp += n
	return a
}

// load emits d = w bits at a.
func (b *builder) load(d ir.Slot, w int, a address) {
	b.emit(ir.Uop{Op: ir.Load, W: uint8(w), D: d, A: a.base, B: a.index, Scale: a.scale, Imm: a.disp})
}

// store emits w bits at a = c.
func (b *builder) store(c ir.Slot, w int, a address) {
	b.emit(ir.Uop{Op: ir.Store, W: uint8(w), C: c, A: a.base, B: a.index, Scale: a.scale, Imm: a.disp})
}

// getReg returns a slot whose low r.w bits are the register: the register's
// own slot where it starts at bit 0 (upper bits are then not cleared).
func (b *builder) getReg(r reg) ir.Slot {
	if r.shift == 0 {
		return r.slot
	}
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Get, W: 8, D: t, A: r.slot, Imm: r.shift})
	return t
}

// setReg writes the low r.w bits of s to the register; a 32-bit write clears the upper half.
func (b *builder) setReg(r reg, s ir.Slot) {
	if r.w >= 32 {
		b.emit(ir.Uop{Op: ir.Mov, W: uint8(r.w), D: r.slot, A: ir.Zero, B: s})
		return
	}
	b.emit(ir.Uop{Op: ir.Put, W: uint8(r.w), D: r.slot, A: s, B: r.slot, Imm: r.shift})
}

// read returns a slot whose low w bits are operand arg (a register, memory or immediate).
func (b *builder) read(arg x86asm.Arg, w int) (ir.Slot, error) {
	switch a := arg.(type) {
	case x86asm.Reg:
		if r, ok := gpr(a); ok {
			return b.getReg(r), nil
		}
	case x86asm.Mem:
		t := b.tmp()
		b.load(t, w, b.addr(a))
		return t, nil
	case x86asm.Imm:
		return b.imm(uint64(a)), nil
	}
	return 0, unsupported(b.in)
}
