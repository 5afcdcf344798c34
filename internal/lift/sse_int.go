package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// The integer and bit operations of SSE and SSE2 on xmm registers (SDM vol. 1,
// 10.4.2 and 11.4.2). The MMX forms are not supported.

// xmm2 is a row of two operands: xmm register d, xmm register or memory s.
func xmm2(f func(b *builder, d, s pair)) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		s, err := b.xmmSrc(1)
		if err != nil {
			return err
		}
		f(b, d, s)
		return nil
	}
}

// both applies op to each half: d = op(d, s).
func both(op ir.Op, w int) lifter {
	return xmm2(func(b *builder, d, s pair) {
		b.op3(op, w, d[0], d[0], s[0], 0)
		b.op3(op, w, d[1], d[1], s[1], 0)
	})
}

// idiom is both, with the value that d op d has whatever d holds.
func idiom(op ir.Op, w int, same uint64) lifter {
	f := both(op, w)
	return func(b *builder, in *Inst) error {
		if in.Args[0] != in.Args[1] {
			return f(b, in)
		}
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		b.op3(ir.Mov, 64, d[0], ir.Zero, ir.Zero, same)
		b.op3(ir.Mov, 64, d[1], ir.Zero, ir.Zero, same)
		return nil
	}
}

// andNot is d = ^d & s.
var andNot = xmm2(func(b *builder, d, s pair) {
	for i := range d {
		b.op3(ir.And, 64, d[i], b.val(ir.Not, 64, d[i], ir.Zero, 0), s[i], 0)
	}
})

// mulEven is pmuludq: the low doublewords of each half.
var mulEven = xmm2(func(b *builder, d, s pair) {
	for i := range d {
		x := b.val(ir.Mov, 32, ir.Zero, d[i], 0)
		y := b.val(ir.Mov, 32, ir.Zero, s[i], 0)
		b.op3(ir.Mul, 64, d[i], x, y, 0)
	}
})

// unpack interleaves the lower (half 0) or upper halves of d and s.
func unpack(w, half int) lifter {
	return xmm2(func(b *builder, d, s pair) {
		x, y := d[half], s[half]
		switch {
		case w == 64:
			b.mov(d[0], x)
			b.mov(d[1], y)
		case half == 0: // x is d[0]: written last
			b.op3(ir.VZipHi, w, d[1], x, y, 0)
			b.op3(ir.VZipLo, w, d[0], x, y, 0)
		default:
			b.op3(ir.VZipLo, w, d[0], x, y, 0)
			b.op3(ir.VZipHi, w, d[1], x, y, 0)
		}
	})
}

// narrow packs the lanes of d, above them those of s.
func narrow(op ir.Op, w int) lifter {
	return xmm2(func(b *builder, d, s pair) {
		hi := b.val(op, w, s[0], s[1], 0)
		b.op3(op, w, d[0], d[0], d[1], 0)
		b.mov(d[1], hi)
	})
}

// shiftLanes shifts every lane by an immediate or by the low quadword of the source.
func shiftLanes(op ir.Op, w int) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		n, count := ir.Slot(ir.Zero), uint64(0)
		if imm, ok := in.Args[1].(x86asm.Imm); ok {
			count = uint64(uint8(imm))
		} else {
			s, err := b.xmmSrc(1)
			if err != nil {
				return err
			}
			n = s[0]
			if n == d[0] {
				n = b.val(ir.Mov, 64, ir.Zero, n, 0)
			}
		}
		b.op3(op, w, d[0], d[0], n, count)
		b.op3(op, w, d[1], d[1], n, count)
		return nil
	}
}

// shiftBytes is pslldq, psrldq: a window of 16 bytes over the register with 16 zero bytes before or after it.
func shiftBytes(left bool) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		imm, ok := in.Args[1].(x86asm.Imm)
		if !ok {
			return unsupported(in)
		}
		n := min(int(uint8(imm)), 16)
		// word[i] is quadword i of the register followed by zeros, or preceded by them.
		word, at := [5]ir.Slot{d[0], d[1], ir.Zero, ir.Zero, ir.Zero}, n
		if left {
			word, at = [5]ir.Slot{ir.Zero, ir.Zero, d[0], d[1], ir.Zero}, 16-n
		}
		var t pair
		for i := range t {
			t[i] = b.tmp()
			b.emit(ir.Uop{Op: ir.VAlign, W: 64, D: t[i], A: word[at/8+i], B: word[at/8+i+1], Imm: uint64(at % 8)})
		}
		b.mov(d[0], t[0])
		b.mov(d[1], t[1])
		return nil
	}
}

// signMask is pmovmskb, movmskps, movmskpd.
func signMask(w int) lifter {
	return func(b *builder, in *Inst) error {
		r, ok := in.Args[0].(x86asm.Reg)
		g, isGPR := gpr(r)
		s, isX := xmm(in.Args[1])
		if !ok || !isGPR || !isX {
			return unsupported(in)
		}
		b.op3(ir.VMsk, w, g.slot, s[0], s[1], 0)
		return nil
	}
}

// emptyTags is emms.
func emptyTags(b *builder, in *Inst) error {
	b.mov(ir.FTag, ir.Zero)
	return nil
}

// imm8 returns the immediate operand i.
func imm8(in *Inst, i int) (uint64, error) {
	if v, ok := in.Args[i].(x86asm.Imm); ok {
		return uint64(uint8(v)), nil
	}
	return 0, unsupported(in)
}

// shuffle is a row of xmm register, xmm register or memory, immediate.
func shuffle(f func(b *builder, d, s pair, imm uint64)) lifter {
	return func(b *builder, in *Inst) error {
		imm, err := imm8(in, 2)
		if err != nil {
			return err
		}
		return xmm2(func(b *builder, d, s pair) { f(b, d, s, imm) })(b, in)
	}
}

// pick returns two doublewords as one quadword: those of x that the two selectors (2 bits each) name.
func (b *builder) pick(x pair, sel uint64) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.VPair, W: 64, D: t, A: x[sel>>1&1], B: x[sel>>3&1], Imm: sel&1 | sel>>2&1<<1})
	return t
}

// shuffle32 makes shufps; with d = s it is pshufd.
func shuffle32(b *builder, d, lo, hi pair, imm uint64) {
	x, y := b.pick(lo, imm), b.pick(hi, imm>>4)
	b.mov(d[0], x)
	b.mov(d[1], y)
}

// shuffle16 is pshuflw, pshufhw: the words of one half, the other is copied.
func shuffle16(half int) lifter {
	return shuffle(func(b *builder, d, s pair, imm uint64) {
		b.emit(ir.Uop{Op: ir.VShuf4, W: 16, D: d[half], A: s[half], Imm: imm})
		b.mov(d[1-half], s[1-half])
	})
}

// maskMove is maskmovdqu: each byte of the first operand whose mask byte has its sign set goes to rdi.
func maskMove(b *builder, in *Inst) error {
	d, err := b.xmmDst()
	if err != nil {
		return err
	}
	s, err := b.xmmSrc(1)
	if err != nil {
		return err
	}
	a := b.addr(x86asm.Mem{Base: x86asm.RDI, Segment: segOverride(in)})
	for i := range d {
		// Bytes to keep are read and written back.
		old := b.tmp()
		b.load(old, 64, a.plus(uint64(8*i)))
		m := b.val(ir.VGtS, 8, ir.Zero, s[i], 0)
		x := b.val(ir.And, 64, m, d[i], 0)
		y := b.val(ir.And, 64, b.val(ir.Not, 64, m, ir.Zero, 0), old, 0)
		b.store(b.val(ir.Or, 64, x, y, 0), 64, a.plus(uint64(8*i)))
	}
	return nil
}

// segOverride returns the segment override of an instruction with implicit addressing.
func segOverride(in *Inst) x86asm.Reg {
	for _, p := range in.Prefix {
		switch p &^ (x86asm.PrefixImplicit | x86asm.PrefixIgnored) {
		case x86asm.PrefixFS:
			return x86asm.FS
		case x86asm.PrefixGS:
			return x86asm.GS
		}
	}
	return 0
}

// Arithmetic, comparisons, logic, shifts.
func init() {
	register(map[x86asm.Op]row{
		x86asm.PADDB:   {both(ir.VAdd, 8), noAlign},
		x86asm.PADDW:   {both(ir.VAdd, 16), noAlign},
		x86asm.PADDD:   {both(ir.VAdd, 32), noAlign},
		x86asm.PADDQ:   {both(ir.Add, 64), noAlign},
		x86asm.PSUBB:   {idiom(ir.VSub, 8, 0), noAlign},
		x86asm.PSUBW:   {idiom(ir.VSub, 16, 0), noAlign},
		x86asm.PSUBD:   {idiom(ir.VSub, 32, 0), noAlign},
		x86asm.PSUBQ:   {idiom(ir.Sub, 64, 0), noAlign},
		x86asm.PADDSB:  {both(ir.VAddSS, 8), noAlign},
		x86asm.PADDSW:  {both(ir.VAddSS, 16), noAlign},
		x86asm.PADDUSB: {both(ir.VAddUS, 8), noAlign},
		x86asm.PADDUSW: {both(ir.VAddUS, 16), noAlign},
		x86asm.PSUBSB:  {both(ir.VSubSS, 8), noAlign},
		x86asm.PSUBSW:  {both(ir.VSubSS, 16), noAlign},
		x86asm.PSUBUSB: {both(ir.VSubUS, 8), noAlign},
		x86asm.PSUBUSW: {both(ir.VSubUS, 16), noAlign},
		x86asm.PMULLW:  {both(ir.VMul, 16), noAlign},
		x86asm.PMULHW:  {both(ir.VMulHS, 16), noAlign},
		x86asm.PMULHUW: {both(ir.VMulHU, 16), noAlign},
		x86asm.PMULUDQ: {mulEven, noAlign},
		x86asm.PMADDWD: {both(ir.VMAdd, 32), noAlign},
		x86asm.PSADBW:  {both(ir.VSad, 64), noAlign},
		x86asm.PAVGB:   {both(ir.VAvgU, 8), noAlign},
		x86asm.PAVGW:   {both(ir.VAvgU, 16), noAlign},
		x86asm.PMINUB:  {both(ir.VMinU, 8), noAlign},
		x86asm.PMAXUB:  {both(ir.VMaxU, 8), noAlign},
		x86asm.PMINSW:  {both(ir.VMinS, 16), noAlign},
		x86asm.PMAXSW:  {both(ir.VMaxS, 16), noAlign},
		x86asm.PCMPEQB: {idiom(ir.VEq, 8, ^uint64(0)), noAlign},
		x86asm.PCMPEQW: {idiom(ir.VEq, 16, ^uint64(0)), noAlign},
		x86asm.PCMPEQD: {idiom(ir.VEq, 32, ^uint64(0)), noAlign},
		x86asm.PCMPGTB: {idiom(ir.VGtS, 8, 0), noAlign},
		x86asm.PCMPGTW: {idiom(ir.VGtS, 16, 0), noAlign},
		x86asm.PCMPGTD: {idiom(ir.VGtS, 32, 0), noAlign},
		x86asm.PAND:    {both(ir.And, 64), noAlign},
		x86asm.ANDPS:   {both(ir.And, 64), noAlign},
		x86asm.ANDPD:   {both(ir.And, 64), noAlign},
		x86asm.PANDN:   {andNot, noAlign},
		x86asm.ANDNPS:  {andNot, noAlign},
		x86asm.ANDNPD:  {andNot, noAlign},
		x86asm.POR:     {both(ir.Or, 64), noAlign},
		x86asm.ORPS:    {both(ir.Or, 64), noAlign},
		x86asm.ORPD:    {both(ir.Or, 64), noAlign},
		x86asm.PXOR:    {idiom(ir.Xor, 64, 0), noAlign},
		x86asm.XORPS:   {idiom(ir.Xor, 64, 0), noAlign},
		x86asm.XORPD:   {idiom(ir.Xor, 64, 0), noAlign},
		x86asm.PSLLW:   {shiftLanes(ir.VShl, 16), noAlign},
		x86asm.PSLLD:   {shiftLanes(ir.VShl, 32), noAlign},
		x86asm.PSLLQ:   {shiftLanes(ir.Shl, 64), noAlign},
		x86asm.PSRLW:   {shiftLanes(ir.VShr, 16), noAlign},
		x86asm.PSRLD:   {shiftLanes(ir.VShr, 32), noAlign},
		x86asm.PSRLQ:   {shiftLanes(ir.LShr, 64), noAlign},
		x86asm.PSRAW:   {shiftLanes(ir.VSar, 16), noAlign},
		x86asm.PSRAD:   {shiftLanes(ir.VSar, 32), noAlign},
		x86asm.PSLLDQ:  {shiftBytes(true), ""},
		x86asm.PSRLDQ:  {shiftBytes(false), ""},
	})
}

// Masks, and lanes rearranged.
func init() {
	register(map[x86asm.Op]row{
		x86asm.PMOVMSKB:   {signMask(8), ""},
		x86asm.MOVMSKPS:   {signMask(32), ""},
		x86asm.MOVMSKPD:   {signMask(64), ""},
		x86asm.PACKSSWB:   {narrow(ir.VPackSS, 16), noAlign},
		x86asm.PACKSSDW:   {narrow(ir.VPackSS, 32), noAlign},
		x86asm.PACKUSWB:   {narrow(ir.VPackUS, 16), noAlign},
		x86asm.PUNPCKLBW:  {unpack(8, 0), noAlign},
		x86asm.PUNPCKLWD:  {unpack(16, 0), noAlign},
		x86asm.PUNPCKLDQ:  {unpack(32, 0), noAlign},
		x86asm.PUNPCKLQDQ: {unpack(64, 0), noAlign},
		x86asm.PUNPCKHBW:  {unpack(8, 1), noAlign},
		x86asm.PUNPCKHWD:  {unpack(16, 1), noAlign},
		x86asm.PUNPCKHDQ:  {unpack(32, 1), noAlign},
		x86asm.PUNPCKHQDQ: {unpack(64, 1), noAlign},
		x86asm.UNPCKLPS:   {unpack(32, 0), noAlign},
		x86asm.UNPCKHPS:   {unpack(32, 1), noAlign},
		x86asm.UNPCKLPD:   {unpack(64, 0), noAlign},
		x86asm.UNPCKHPD:   {unpack(64, 1), noAlign},
		x86asm.PSHUFD:     {shuffle(func(b *builder, d, s pair, imm uint64) { shuffle32(b, d, s, s, imm) }), noAlign},
		x86asm.SHUFPS:     {shuffle(func(b *builder, d, s pair, imm uint64) { shuffle32(b, d, d, s, imm) }), noAlign},
		x86asm.SHUFPD: {shuffle(func(b *builder, d, s pair, imm uint64) {
			hi := b.val(ir.Mov, 64, ir.Zero, s[imm>>1&1], 0)
			b.mov(d[0], d[imm&1])
			b.mov(d[1], hi)
		}), noAlign},
		x86asm.PSHUFLW:    {shuffle16(0), noAlign},
		x86asm.PSHUFHW:    {shuffle16(1), noAlign},
		x86asm.MASKMOVDQU: {maskMove, "touches all 16 bytes"},
		x86asm.EMMS:       {emptyTags, ""},
	})
}
