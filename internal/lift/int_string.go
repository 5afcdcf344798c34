package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// repPrefix returns the last repeat prefix of a string instruction, F3 or F2, or 0.
func repPrefix(in *Inst) (rep byte) {
	for _, p := range in.Prefix {
		if p == 0 {
			break
		}
		if b := byte(p); b == 0xf2 || b == 0xf3 {
			rep = b
		}
	}
	return rep
}

// stringWidth has the string instructions and their element width in bits.
var stringWidth = map[x86asm.Op]int{
	x86asm.MOVSB: 8, x86asm.MOVSW: 16, x86asm.MOVSD: 32, x86asm.MOVSQ: 64,
	x86asm.STOSB: 8, x86asm.STOSW: 16, x86asm.STOSD: 32, x86asm.STOSQ: 64,
	x86asm.LODSB: 8, x86asm.LODSW: 16, x86asm.LODSD: 32, x86asm.LODSQ: 64,
	x86asm.SCASB: 8, x86asm.SCASW: 16, x86asm.SCASD: 32, x86asm.SCASQ: 64,
	x86asm.CMPSB: 8, x86asm.CMPSW: 16, x86asm.CMPSD: 32, x86asm.CMPSQ: 64,
}

// isRep reports whether in is a repeated string instruction, which is a block of its own.
func isRep(in *Inst) bool { return stringWidth[in.Op] != 0 && repPrefix(in) != 0 }

// advance moves index register s by one element, down if DF is 1.
func (b *builder) advance(in *Inst, s ir.Slot, w int) {
	back := b.val(ir.Shl, 64, ir.DF, ir.Zero, uint64(log2Bytes(w)+1))
	b.op3(ir.Add, in.AddrSize, s, s, b.val(ir.Neg, 64, back, ir.Zero, 0), uint64(w/8))
}

// iterate makes the row of a string instruction from one iteration. With a
// repeat prefix the block leaves by SkipIf when rCX is 0, else it does one
// iteration, which may set flags, and branches back to itself (SDM vol. 2, REP).
// compares is set for scas and cmps, whose ZF can end the loop.
func iterate(compares bool, once func(b *builder, in *Inst, w int)) lifter {
	return func(b *builder, in *Inst) error {
		w := stringWidth[in.Op]
		rep := repPrefix(in)
		if rep == 0 {
			once(b, in, w)
			return nil
		}
		n := in.AddrSize
		b.emit(ir.Uop{Op: ir.SkipIf, W: 8, A: b.val(ir.Eq, n, ir.RCX, ir.Zero, 0)})
		once(b, in, w)
		b.op3(ir.Sub, n, ir.RCX, ir.RCX, ir.Zero, 1)
		if !compares {
			b.brnz(n, ir.RCX, in.PC)
			return nil
		}
		c := uint64(ir.CondE)
		if rep == 0xf2 {
			c |= 1
		}
		b.brnz(8, b.ite(n, ir.RCX, b.condition(c), ir.Zero), in.PC)
		return nil
	}
}

// stringMem returns the address of memory operand i.
func (b *builder) stringMem(in *Inst, i int) address { return b.addr(in.Args[i].(x86asm.Mem)) }

func movs(b *builder, in *Inst, w int) {
	t := b.tmp()
	b.load(t, w, b.stringMem(in, 1))
	b.store(t, w, b.stringMem(in, 0))
	b.advance(in, ir.RSI, w)
	b.advance(in, ir.RDI, w)
}

func stos(b *builder, in *Inst, w int) {
	b.store(ir.RAX, w, b.stringMem(in, 0))
	b.advance(in, ir.RDI, w)
}

func lods(b *builder, in *Inst, w int) {
	t := b.tmp()
	b.load(t, w, b.stringMem(in, 1))
	b.setReg(reg{ir.RAX, w, 0}, t)
	b.advance(in, ir.RSI, w)
}

func scas(b *builder, in *Inst, w int) {
	t := b.tmp()
	b.load(t, w, b.stringMem(in, 1))
	b.setCC(ir.CCSub, w, ir.RAX, t, ir.Zero)
	b.advance(in, ir.RDI, w)
}

func cmps(b *builder, in *Inst, w int) {
	x, y := b.tmp(), b.tmp()
	b.load(x, w, b.stringMem(in, 0))
	b.load(y, w, b.stringMem(in, 1))
	b.setCC(ir.CCSub, w, x, y, ir.Zero)
	b.advance(in, ir.RSI, w)
	b.advance(in, ir.RDI, w)
}

func init() {
	for _, f := range []struct {
		ops  [4]x86asm.Op
		lift lifter
	}{
		{[4]x86asm.Op{x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ}, iterate(false, movs)},
		{[4]x86asm.Op{x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ}, iterate(false, stos)},
		{[4]x86asm.Op{x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ}, iterate(false, lods)},
		{[4]x86asm.Op{x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ}, iterate(true, scas)},
		{[4]x86asm.Op{x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ}, iterate(true, cmps)},
	} {
		for _, op := range f.ops {
			register(map[x86asm.Op]row{op: {lift: f.lift}})
		}
	}
}
