package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// SSE3 and SSSE3 on xmm registers (SDM vol. 1, 12.4 and 12.6).

// moveDup is movddup: the low quadword twice.
func moveDup(b *builder, _ *Inst) error {
	d, err := b.xmmDst()
	if err != nil {
		return err
	}
	s, err := b.xmmLow(1, 64)
	if err != nil {
		return err
	}
	b.mov(d[1], s)
	b.mov(d[0], s)
	return nil
}

// dup32 is movsldup and movshdup: in each quadword doubleword n twice.
func dup32(n uint64) lifter {
	return xmm2(func(b *builder, d, s pair) {
		for h := range d {
			b.emit(ir.Uop{Op: ir.VPair, W: 64, D: d[h], A: s[h], B: s[h], Imm: n | n<<1})
		}
	})
}

// addSub subtracts in even lanes of w bits and adds in odd ones.
func addSub(w int) lifter {
	return xmm2(func(b *builder, d, s pair) {
		do := func(op ir.Op, x, y ir.Slot) ir.Slot { return b.float(ir.Uop{Op: op, W: uint8(w), A: x, B: y}) }
		if w == 64 {
			b.mov(d[0], do(ir.FSub, d[0], s[0]))
			b.mov(d[1], do(ir.FAdd, d[1], s[1]))
			return
		}
		for h := range d {
			even := do(ir.FSub, d[h], s[h])
			b.mov(d[h], b.join(even, do(ir.FAdd, b.upper(d[h]), b.upper(s[h]))))
		}
	})
}

// acrossFloat combines neighbouring lanes of w bits: below those of d, above those of s.
func acrossFloat(op ir.Op, w int) lifter {
	return xmm2(func(b *builder, d, s pair) {
		do := func(x, y ir.Slot) ir.Slot { return b.float(ir.Uop{Op: op, W: uint8(w), A: x, B: y}) }
		half := func(x pair) ir.Slot {
			if w == 64 {
				return do(x[0], x[1])
			}
			lo := do(x[0], b.upper(x[0]))
			return b.join(lo, do(x[1], b.upper(x[1])))
		}
		lo, hi := half(d), half(s)
		b.mov(d[0], lo)
		b.mov(d[1], hi)
	})
}

// across is acrossFloat for integers.
func across(op ir.Op, w int) lifter {
	return xmm2(func(b *builder, d, s pair) {
		half := func(x pair) ir.Slot {
			even, odd := b.val(ir.VEven, w, x[0], x[1], 0), b.val(ir.VOdd, w, x[0], x[1], 0)
			return b.val(op, w, even, odd, 0)
		}
		lo, hi := half(d), half(s)
		b.mov(d[0], lo)
		b.mov(d[1], hi)
	})
}

// each is d = op(s) on each half.
func each(op ir.Op, w int) lifter {
	return xmm2(func(b *builder, d, s pair) {
		for h := range d {
			b.op3(op, w, d[h], s[h], ir.Zero, 0)
		}
	})
}

// permute is pshufb.
var permute = xmm2(func(b *builder, d, s pair) {
	var t pair
	for h := range t {
		t[h] = b.tmp()
		b.emit(ir.Uop{Op: ir.VPerm, W: 8, D: t[h], A: d[0], B: d[1], C: s[h]})
	}
	b.mov(d[0], t[0])
	b.mov(d[1], t[1])
})

// alignBytes is palignr: a window of 16 bytes over d above s, and zeros above them.
var alignBytes = shuffle(func(b *builder, d, s pair, imm uint64) {
	word := [7]ir.Slot{s[0], s[1], d[0], d[1], ir.Zero, ir.Zero, ir.Zero}
	at := min(imm, 32)
	var t pair
	for i := range t {
		t[i] = b.tmp()
		b.emit(ir.Uop{Op: ir.VAlign, W: 64, D: t[i], A: word[at/8+uint64(i)], B: word[at/8+uint64(i)+1], Imm: at % 8})
	}
	b.mov(d[0], t[0])
	b.mov(d[1], t[1])
})

func init() {
	register(map[x86asm.Op]row{
		x86asm.ADDSUBPS:  {addSub(32), stickyPacked},
		x86asm.ADDSUBPD:  {addSub(64), stickyPacked},
		x86asm.HADDPS:    {acrossFloat(ir.FAdd, 32), stickyPacked},
		x86asm.HADDPD:    {acrossFloat(ir.FAdd, 64), stickyPacked},
		x86asm.HSUBPS:    {acrossFloat(ir.FSub, 32), stickyPacked},
		x86asm.HSUBPD:    {acrossFloat(ir.FSub, 64), stickyPacked},
		x86asm.MOVDDUP:   {moveDup, ""},
		x86asm.MOVSLDUP:  {dup32(0), noAlign},
		x86asm.MOVSHDUP:  {dup32(1), noAlign},
		x86asm.LDDQU:     {moveAll, ""},
		x86asm.PSHUFB:    {permute, noAlign},
		x86asm.PHADDW:    {across(ir.VAdd, 16), noAlign},
		x86asm.PHADDD:    {across(ir.VAdd, 32), noAlign},
		x86asm.PHADDSW:   {across(ir.VAddSS, 16), noAlign},
		x86asm.PHSUBW:    {across(ir.VSub, 16), noAlign},
		x86asm.PHSUBD:    {across(ir.VSub, 32), noAlign},
		x86asm.PHSUBSW:   {across(ir.VSubSS, 16), noAlign},
		x86asm.PMADDUBSW: {both(ir.VMAddUS, 16), noAlign},
		x86asm.PMULHRSW:  {both(ir.VMulRS, 16), noAlign},
		x86asm.PABSB:     {each(ir.VAbs, 8), noAlign},
		x86asm.PABSW:     {each(ir.VAbs, 16), noAlign},
		x86asm.PABSD:     {each(ir.VAbs, 32), noAlign},
		x86asm.PSIGNB:    {both(ir.VSign, 8), noAlign},
		x86asm.PSIGNW:    {both(ir.VSign, 16), noAlign},
		x86asm.PSIGND:    {both(ir.VSign, 32), noAlign},
		x86asm.PALIGNR:   {alignBytes, noAlign},
	})
}
