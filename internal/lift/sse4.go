package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// SSE4.1 and SSE4.2 (SDM vol. 1, 12.9 to 12.11).

// xmmDstImm are the destination, an xmm register, and the immediate of an instruction of three operands.
func (b *builder) xmmDstImm() (d pair, imm uint64, err error) {
	if d, err = b.xmmDst(); err == nil {
		imm, err = imm8(b.in, 2)
	}
	return d, imm, err
}

// insertLane puts w bits of a general register or of memory into lane imm.
func insertLane(w int) lifter {
	return func(b *builder, in *Inst) error {
		d, imm, err := b.xmmDstImm()
		if err != nil {
			return err
		}
		s, err := b.read(in.Args[1], w)
		if err != nil {
			return err
		}
		bit := imm * uint64(w) % 128
		h := d[bit/64]
		b.emit(ir.Uop{Op: ir.Put, W: uint8(w), D: h, A: s, B: h, Imm: bit % 64})
		return nil
	}
}

// extractLane gets lane imm of w bits into a general register or memory.
func extractLane(w int) lifter {
	return func(b *builder, in *Inst) error {
		imm, err := imm8(in, 2)
		if err != nil {
			return err
		}
		s, isX := xmm(in.Args[1])
		if !isX {
			return unsupported(in)
		}
		bit := imm * uint64(w) % 128
		get := ir.Uop{Op: ir.Get, W: uint8(w), A: s[bit/64], Imm: bit % 64}
		switch a := in.Args[0].(type) {
		case x86asm.Mem:
			get.D = b.tmp()
			b.emit(get)
			b.store(get.D, w, b.addr(a))
			return nil
		case x86asm.Reg:
			if g, ok := gpr(a); ok {
				get.D = g.slot
				b.emit(get)
				return nil
			}
		}
		return unsupported(in)
	}
}

// insertFloat is insertps: a doubleword, and zeros.
func insertFloat(b *builder, in *Inst) error {
	d, imm, err := b.xmmDstImm()
	if err != nil {
		return err
	}
	v := b.tmp()
	if s, ok := xmm(in.Args[1]); ok {
		b.emit(ir.Uop{Op: ir.Get, W: 32, D: v, A: s[imm>>7&1], Imm: imm >> 6 & 1 * 32})
	} else if m, ok := in.Args[1].(x86asm.Mem); ok {
		b.load(v, 32, b.addr(m))
	} else {
		return unsupported(in)
	}
	h := d[imm>>5&1]
	b.emit(ir.Uop{Op: ir.Put, W: 32, D: h, A: v, B: h, Imm: imm >> 4 & 1 * 32})
	for i := range d {
		if zero := imm >> (2 * i) & 3; zero != 0 {
			b.emit(ir.Uop{Op: ir.VBlend, W: 32, D: d[i], A: d[i], B: ir.Zero, Imm: zero})
		}
	}
	return nil
}

// blend takes lanes of s where imm has a bit.
func blend(w int) lifter {
	return shuffle(func(b *builder, d, s pair, imm uint64) {
		n := 64 / w
		for h := range d {
			b.emit(ir.Uop{Op: ir.VBlend, W: uint8(w), D: d[h], A: d[h], B: s[h], Imm: imm >> (n * h) & (1<<n - 1)})
		}
	})
}

// blendBySign takes lanes of s where xmm0 is negative.
func blendBySign(w int) lifter {
	return xmm2(func(b *builder, d, s pair) {
		for h := range d {
			b.emit(ir.Uop{Op: ir.VBlendV, W: uint8(w), D: d[h], A: d[h], B: s[h], C: ir.XMM(0, h)})
		}
	})
}

// extendLanes is pmovsx and pmovzx: the low lanes of w bits to x bits.
func extendLanes(op ir.Op, w, x int) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		s, err := b.xmmLow(1, 128/x*w)
		if err != nil {
			return err
		}
		for h := 1; h >= 0; h-- { // s may be d[0]: written last
			b.emit(ir.Uop{Op: op, W: uint8(w), X: uint8(x), D: d[h], A: s, Imm: uint64(h * 64 / x)})
		}
		return nil
	}
}

// mulEvenSigned is pmuldq.
var mulEvenSigned = xmm2(func(b *builder, d, s pair) {
	wide := func(x ir.Slot) ir.Slot {
		t := b.tmp()
		b.emit(ir.Uop{Op: ir.Sx, W: 32, X: 64, D: t, A: x})
		return t
	}
	for i := range d {
		b.op3(ir.Mul, 64, d[i], wide(d[i]), wide(s[i]), 0)
	}
})

// sumDifferences is mpsadbw: eight neighbouring places of d against one doubleword of s.
var sumDifferences = shuffle(func(b *builder, d, s pair, imm uint64) {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Get, W: 32, D: t, A: s[imm>>1&1], Imm: imm & 1 * 32})
	word := [4]ir.Slot{d[0], d[1], ir.Zero, ir.Zero}
	var r pair
	for h := range r {
		at := imm>>2&1*4 + uint64(4*h)
		window := b.tmp()
		b.emit(ir.Uop{Op: ir.VAlign, W: 64, D: window, A: word[at/8], B: word[at/8+1], Imm: at % 8})
		r[h] = b.val(ir.VMpsad, 16, window, t, 0)
	}
	b.mov(d[0], r[0])
	b.mov(d[1], r[1])
})

// leastWord is phminposuw.
var leastWord = xmm2(func(b *builder, d, s pair) {
	b.op3(ir.VMinPos, 16, d[0], s[0], s[1], 0)
	b.mov(d[1], ir.Zero)
})

// dotProduct is dpps and dppd: the upper half of the immediate says which products count, the lower one where the sum goes.
func dotProduct(w int) lifter {
	return shuffle(func(b *builder, d, s pair, imm uint64) {
		do := func(op ir.Op, x, y ir.Slot) ir.Slot { return b.float(ir.Uop{Op: op, W: uint8(w), A: x, B: y}) }
		product := func(i int) ir.Slot {
			h, upper := i, false
			if w == 32 {
				h, upper = i/2, i&1 != 0
			}
			switch {
			case imm>>(4+i)&1 == 0:
				return ir.Zero
			case upper:
				return do(ir.FMul, b.upper(d[h]), b.upper(s[h]))
			}
			return do(ir.FMul, d[h], s[h])
		}
		sum := do(ir.FAdd, product(0), product(1))
		if w == 32 {
			upper := do(ir.FAdd, product(2), product(3))
			sum = do(ir.FAdd, sum, upper)
			sum = b.join(sum, sum)
		}
		n := 64 / w
		for h := range d {
			b.emit(ir.Uop{Op: ir.VBlend, W: uint8(w), D: d[h], A: ir.Zero, B: sum, Imm: imm >> (n * h) & (1<<n - 1)})
		}
	})
}

// roundImm returns the immediate of a rounding; its bit 3 only keeps a status flag from being set.
func roundImm(in *Inst) (uint64, error) {
	imm, err := imm8(in, 2)
	return imm & 7, err
}

// ptest sets ZF if d&s is 0 and CF if s has no bit that d has not.
func ptest(b *builder, in *Inst) error {
	return xmm2(func(b *builder, d, s pair) {
		none := func(f func(h int) ir.Slot) ir.Slot {
			return b.val(ir.Eq, 64, b.val(ir.Or, 64, f(0), f(1), 0), ir.Zero, 0)
		}
		zf := none(func(h int) ir.Slot { return b.val(ir.And, 64, d[h], s[h], 0) })
		cf := none(func(h int) ir.Slot { return b.val(ir.And, 64, b.val(ir.Not, 64, d[h], ir.Zero, 0), s[h], 0) })
		f := b.val(ir.Or, 64, cf, b.val(ir.Shl, 64, zf, ir.Zero, 6), 0)
		b.setCC(ir.CCFlags, 64, f, ir.Zero, ir.Zero)
	})(b, in)
}

// crc32 is of a general register and one of another width, or memory.
func crc32(b *builder, in *Inst) error {
	r, ok := in.Args[0].(x86asm.Reg)
	d, isGPR := gpr(r)
	if !ok || !isGPR {
		return unsupported(in)
	}
	w := 8 * in.MemBytes
	if s, ok := in.Args[1].(x86asm.Reg); ok {
		g, _ := gpr(s)
		w = g.w
	}
	s, err := b.read(in.Args[1], w)
	if err != nil {
		return err
	}
	b.op3(ir.Crc32, w, d.slot, d.slot, s, 0)
	return nil
}

// compareStrings is pcmpestri, pcmpestrm, pcmpistri, pcmpistrm: with explicit lengths or without; its result an index or a mask.
func compareStrings(explicit, index bool) lifter {
	return shuffle(func(b *builder, d, s pair, imm uint64) {
		res, flags := b.tmp(), b.tmp()
		u := ir.Uop{Op: ir.Helper, A: d[0], B: s[0], D: res, X: uint8(imm), Imm: ir.Strings}
		if explicit {
			u.W = 32
			if b.in.DataSize == 64 {
				u.W = 64
			}
		}
		b.emit(u)
		n, w := 16, 8
		if imm&1 != 0 {
			n, w = 8, 16
		}
		switch {
		case index && imm>>6&1 == 0: // the first
			b.op3(ir.Ctz, 32, ir.RCX, b.val(ir.Or, 64, res, ir.Zero, 1<<n), ir.Zero, 0)
		case index: // the last
			last := b.val(ir.Sub, 64, b.imm(31), b.val(ir.Clz, 32, res, ir.Zero, 0), 0)
			b.mov(ir.RCX, b.ite(32, res, last, b.imm(uint64(n))))
		case imm>>6&1 == 0: // bits
			b.mov(ir.XMM(0, 0), res)
			b.mov(ir.XMM(0, 1), ir.Zero)
		default: // lanes
			for h := range 2 {
				b.emit(ir.Uop{Op: ir.VBits, W: uint8(w), D: ir.XMM(0, h), A: res, Imm: uint64(h * n / 2)})
			}
		}
		b.setCC(ir.CCFlags, 64, flags, ir.Zero, ir.Zero)
	})
}

func init() {
	register(map[x86asm.Op]row{
		x86asm.PINSRB:     {insertLane(8), ""},
		x86asm.PINSRW:     {insertLane(16), ""},
		x86asm.PINSRD:     {insertLane(32), ""},
		x86asm.PINSRQ:     {insertLane(64), ""},
		x86asm.INSERTPS:   {insertFloat, ""},
		x86asm.PEXTRB:     {extractLane(8), ""},
		x86asm.PEXTRW:     {extractLane(16), ""},
		x86asm.PEXTRD:     {extractLane(32), ""},
		x86asm.PEXTRQ:     {extractLane(64), ""},
		x86asm.EXTRACTPS:  {extractLane(32), ""},
		x86asm.BLENDPS:    {blend(32), noAlign},
		x86asm.BLENDPD:    {blend(64), noAlign},
		x86asm.PBLENDW:    {blend(16), noAlign},
		x86asm.BLENDVPS:   {blendBySign(32), noAlign},
		x86asm.BLENDVPD:   {blendBySign(64), noAlign},
		x86asm.PBLENDVB:   {blendBySign(8), noAlign},
		x86asm.PMOVSXBW:   {extendLanes(ir.VSxt, 8, 16), ""},
		x86asm.PMOVSXBD:   {extendLanes(ir.VSxt, 8, 32), ""},
		x86asm.PMOVSXBQ:   {extendLanes(ir.VSxt, 8, 64), ""},
		x86asm.PMOVSXWD:   {extendLanes(ir.VSxt, 16, 32), ""},
		x86asm.PMOVSXWQ:   {extendLanes(ir.VSxt, 16, 64), ""},
		x86asm.PMOVSXDQ:   {extendLanes(ir.VSxt, 32, 64), ""},
		x86asm.PMOVZXBW:   {extendLanes(ir.VZxt, 8, 16), ""},
		x86asm.PMOVZXBD:   {extendLanes(ir.VZxt, 8, 32), ""},
		x86asm.PMOVZXBQ:   {extendLanes(ir.VZxt, 8, 64), ""},
		x86asm.PMOVZXWD:   {extendLanes(ir.VZxt, 16, 32), ""},
		x86asm.PMOVZXWQ:   {extendLanes(ir.VZxt, 16, 64), ""},
		x86asm.PMOVZXDQ:   {extendLanes(ir.VZxt, 32, 64), ""},
		x86asm.PMULDQ:     {mulEvenSigned, noAlign},
		x86asm.PMULLD:     {both(ir.VMul, 32), noAlign},
		x86asm.PMINSB:     {both(ir.VMinS, 8), noAlign},
		x86asm.PMINSD:     {both(ir.VMinS, 32), noAlign},
		x86asm.PMINUW:     {both(ir.VMinU, 16), noAlign},
		x86asm.PMINUD:     {both(ir.VMinU, 32), noAlign},
		x86asm.PMAXSB:     {both(ir.VMaxS, 8), noAlign},
		x86asm.PMAXSD:     {both(ir.VMaxS, 32), noAlign},
		x86asm.PMAXUW:     {both(ir.VMaxU, 16), noAlign},
		x86asm.PMAXUD:     {both(ir.VMaxU, 32), noAlign},
		x86asm.PCMPEQQ:    {idiom(ir.VEq, 64, ^uint64(0)), noAlign},
		x86asm.PCMPGTQ:    {idiom(ir.VGtS, 64, 0), noAlign},
		x86asm.PACKUSDW:   {narrow(ir.VPackUS, 32), noAlign},
		x86asm.MPSADBW:    {sumDifferences, noAlign},
		x86asm.PHMINPOSUW: {leastWord, noAlign},
		x86asm.MOVNTDQA:   {moveAll, noAlign},
		x86asm.PTEST:      {ptest, noAlign},
		x86asm.ROUNDSS:    {scalarImm(ir.FRound, 32, roundImm), sticky},
		x86asm.ROUNDSD:    {scalarImm(ir.FRound, 64, roundImm), sticky},
		x86asm.ROUNDPS:    {packed(ir.FRound, 32, roundImm), stickyPacked},
		x86asm.ROUNDPD:    {packed(ir.FRound, 64, roundImm), stickyPacked},
		x86asm.DPPS:       {dotProduct(32), stickyPacked + someNaN},
		x86asm.DPPD:       {dotProduct(64), stickyPacked + someNaN},
		x86asm.CRC32:      {lift: crc32},
		x86asm.PCMPESTRI:  {compareStrings(true, true), ""},
		x86asm.PCMPESTRM:  {compareStrings(true, false), ""},
		x86asm.PCMPISTRI:  {compareStrings(false, true), ""},
		x86asm.PCMPISTRM:  {compareStrings(false, false), ""},
	})
}
