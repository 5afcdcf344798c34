package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// target returns the target of a relative branch.
func target(in *Inst) (uint64, bool) {
	rel, ok := in.Args[0].(x86asm.Rel)
	return in.End() + uint64(int64(rel)), ok
}

// jump emits a terminator that goes to or may go to addr.
func (b *builder) jump(u ir.Uop, addr uint64) {
	b.blk.Taken = addr
	b.term(u)
}

func jmp(b *builder, in *Inst) error {
	if to, ok := target(in); ok {
		b.jump(ir.Uop{Op: ir.Jmp}, to)
		return nil
	}
	s, err := b.read(in.Args[0], 64)
	if err != nil {
		return err
	}
	b.term(ir.Uop{Op: ir.JmpInd, A: s})
	return nil
}

func call(b *builder, in *Inst) error {
	b.blk.Call = true
	if to, ok := target(in); ok {
		b.pushSlot(b.imm(in.End()), 64)
		b.jump(ir.Uop{Op: ir.Jmp}, to)
		return nil
	}
	s, err := b.read(in.Args[0], 64)
	if err != nil {
		return err
	}
	if s == ir.RSP {
		s = b.copy(s)
	}
	b.pushSlot(b.imm(in.End()), 64)
	b.term(ir.Uop{Op: ir.JmpInd, A: s})
	return nil
}

func ret(b *builder, in *Inst) error {
	b.blk.Return = true
	n := uint64(8)
	if v, ok := in.Args[0].(x86asm.Imm); ok {
		n += uint64(uint16(v))
	}
	t := b.tmp()
	b.load(t, 64, address{base: ir.RSP, index: ir.Zero})
	b.op3(ir.Add, 64, ir.RSP, ir.RSP, ir.Zero, n)
	b.term(ir.Uop{Op: ir.JmpInd, A: t})
	return nil
}

func jcc(c uint64) lifter {
	return func(b *builder, in *Inst) error {
		to, ok := target(in)
		if !ok {
			return unsupported(in)
		}
		b.jump(ir.Uop{Op: ir.Jcc, Imm: c}, to)
		return nil
	}
}

// brnz ends the block with a branch to addr if the low w bits of s are not 0.
func (b *builder) brnz(w int, s ir.Slot, addr uint64) {
	b.jump(ir.Uop{Op: ir.Brnz, W: uint8(w), A: s}, addr)
}

// jcxz makes the rows of jecxz and jrcxz.
func jcxz(w int) lifter {
	return func(b *builder, in *Inst) error {
		to, ok := target(in)
		if !ok {
			return unsupported(in)
		}
		b.brnz(8, b.val(ir.Eq, w, ir.RCX, ir.Zero, 0), to)
		return nil
	}
}

// loop makes the rows of loop, loope and loopne; c is the condition or -1.
func loop(c int) lifter {
	return func(b *builder, in *Inst) error {
		to, ok := target(in)
		if !ok {
			return unsupported(in)
		}
		w := in.AddrSize
		b.op3(ir.Sub, w, ir.RCX, ir.RCX, ir.Zero, 1)
		if c < 0 {
			b.brnz(w, ir.RCX, to)
			return nil
		}
		b.brnz(8, b.ite(w, ir.RCX, b.condition(uint64(c)), ir.Zero), to)
		return nil
	}
}

// syscall leaves the return address in RCX and the flags in R11, as the processor does (SDM vol. 2, SYSCALL).
func syscall(b *builder, in *Inst) error {
	b.op3(ir.Mov, 64, ir.R11, ir.Zero, b.rflags(), 0)
	b.op3(ir.Mov, 64, ir.RCX, ir.Zero, ir.Zero, in.End())
	b.term(ir.Uop{Op: ir.Syscall})
	return nil
}

func trap(k ir.TrapKind) lifter {
	return func(b *builder, in *Inst) error {
		b.term(ir.Uop{Op: ir.Trap, Imm: uint64(k)})
		return nil
	}
}

func interrupt(b *builder, in *Inst) error {
	switch v, _ := in.Args[0].(x86asm.Imm); v {
	case 3:
		return trap(ir.TrapBP)(b, in)
	case 0x80:
		return unsupported(in)
	}
	return trap(ir.TrapGP)(b, in)
}

func init() {
	register(map[x86asm.Op]row{
		x86asm.JMP:     {lift: jmp},
		x86asm.CALL:    {lift: call},
		x86asm.RET:     {lift: ret},
		x86asm.JECXZ:   {lift: jcxz(32)},
		x86asm.JRCXZ:   {lift: jcxz(64)},
		x86asm.LOOP:    {lift: loop(-1)},
		x86asm.LOOPE:   {lift: loop(ir.CondE)},
		x86asm.LOOPNE:  {lift: loop(ir.CondE | 1)},
		x86asm.SYSCALL: {lift: syscall},
		x86asm.UD0:     {lift: trap(ir.TrapUD)},
		x86asm.UD1:     {lift: trap(ir.TrapUD)},
		x86asm.UD2:     {lift: trap(ir.TrapUD)},
		x86asm.INT:     {lift: interrupt, note: "not int 0x80"},
		x86asm.HLT:     {lift: trap(ir.TrapGP)},
		x86asm.CLI:     {lift: trap(ir.TrapGP)},
		x86asm.STI:     {lift: trap(ir.TrapGP)},
		x86asm.IN:      {lift: trap(ir.TrapGP)},
		x86asm.OUT:     {lift: trap(ir.TrapGP)},
		x86asm.INSB:    {lift: trap(ir.TrapGP)},
		x86asm.INSW:    {lift: trap(ir.TrapGP)},
		x86asm.INSD:    {lift: trap(ir.TrapGP)},
		x86asm.OUTSB:   {lift: trap(ir.TrapGP)},
		x86asm.OUTSW:   {lift: trap(ir.TrapGP)},
		x86asm.OUTSD:   {lift: trap(ir.TrapGP)},
	})
	jccs := [16]x86asm.Op{x86asm.JO, x86asm.JNO, x86asm.JB, x86asm.JAE, x86asm.JE, x86asm.JNE, x86asm.JBE, x86asm.JA,
		x86asm.JS, x86asm.JNS, x86asm.JP, x86asm.JNP, x86asm.JL, x86asm.JGE, x86asm.JLE, x86asm.JG}
	for c := range uint64(16) {
		register(map[x86asm.Op]row{jccs[c]: {lift: jcc(c)}})
	}
}
