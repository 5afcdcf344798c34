package lift

import (
	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// The float operations of SSE and SSE2 (SDM vol. 1, 10.4.1 and 11.4.1). Packed
// ones are done lane by lane.

// sticky is the note of every row that rounds.
const (
	sticky       = "MXCSR status flags are not set, exceptions are masked"
	stickyPacked = sticky + "; " + noAlign
	someNaN      = "; which of several NaNs comes out differs between processors"
)

// float emits d = op(a, s) with MXCSR. An op of one operand has no s.
func (b *builder) float(u ir.Uop) ir.Slot {
	u.C = ir.MXCSR
	if u.Op == ir.FFromI || u.Op == ir.FToI || u.Op == ir.FCvt {
		u.B = ir.Zero // no register: what an op reads may have to be decided
	}
	if u.D == 0 {
		u.D = b.tmp()
	}
	b.emit(u)
	return u.D
}

// ofOne reports whether op has one operand, the source, and writes its result into another register.
func ofOne(op ir.Op) bool { return op == ir.FSqrt || op == ir.FRound }

// scalar is d = op(d, s) on the low w bits.
func scalar(op ir.Op, w int) lifter { return scalarImm(op, w, noImm) }

func noImm(*Inst) (uint64, error) { return 0, nil }

// predicate returns the immediate of a compare.
func predicate(in *Inst) (uint64, error) {
	imm, err := imm8(in, 2)
	return imm & 7, err
}

func scalarImm(op ir.Op, w int, imm func(*Inst) (uint64, error)) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		i, err := imm(in)
		if err != nil {
			return err
		}
		s, err := b.xmmLow(1, w)
		if err != nil {
			return err
		}
		u := ir.Uop{Op: op, W: uint8(w), A: d[0], B: s, Imm: i}
		if ofOne(op) {
			u.A = s
		}
		if w == 64 {
			u.D = d[0]
		}
		b.putLow(d[0], w, b.float(u))
		return nil
	}
}

// packed is d = op(d, s) on every lane of w bits.
func packed(op ir.Op, w int, imm func(*Inst) (uint64, error)) lifter {
	return func(b *builder, in *Inst) error {
		i, err := imm(in)
		if err != nil {
			return err
		}
		return xmm2(func(b *builder, d, s pair) {
			for h := range d {
				r := b.mapLanes(d[h], s[h], w, func(x, y ir.Slot) ir.Slot {
					if ofOne(op) {
						x = y
					}
					return b.float(ir.Uop{Op: op, W: uint8(w), A: x, B: y, Imm: i})
				})
				b.mov(d[h], r)
			}
		})(b, in)
	}
}

// mapLanes applies f to the w-bit lanes of x and y.
func (b *builder) mapLanes(x, y ir.Slot, w int, f func(x, y ir.Slot) ir.Slot) ir.Slot {
	r := f(x, y)
	if w == 32 {
		t := f(b.upper(x), b.upper(y))
		r = b.join(r, t)
	}
	return r
}

// upper returns the upper doubleword of x.
func (b *builder) upper(x ir.Slot) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Get, W: 32, D: t, A: x, Imm: 32})
	return t
}

// join returns the low doublewords of lo and hi.
func (b *builder) join(lo, hi ir.Slot) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.VPair, W: 64, D: t, A: lo, B: hi})
	return t
}

// comi is comiss, ucomiss and their like: both kinds differ in exceptions only.
func comi(w int) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		s, err := b.xmmLow(1, w)
		if err != nil {
			return err
		}
		f := b.float(ir.Uop{Op: ir.FComi, W: uint8(w), A: d[0], B: s})
		b.setCC(ir.CCFlags, 64, f, ir.Zero, ir.Zero)
		return nil
	}
}

// fromInt is cvtsi2sd, cvtsi2ss.
func fromInt(w int) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		x := 8 * in.MemBytes
		if r, ok := in.Args[1].(x86asm.Reg); ok {
			g, ok := gpr(r)
			if !ok {
				return unsupported(in)
			}
			x = g.w
		}
		s, err := b.read(in.Args[1], x)
		if err != nil {
			return err
		}
		b.putLow(d[0], w, b.float(ir.Uop{Op: ir.FFromI, W: uint8(w), X: uint8(x), A: s}))
		return nil
	}
}

// toInt is cvtsd2si and its like.
func toInt(w int, trunc uint64) lifter {
	return func(b *builder, in *Inst) error {
		r, ok := in.Args[0].(x86asm.Reg)
		g, isGPR := gpr(r)
		if !ok || !isGPR {
			return unsupported(in)
		}
		s, err := b.xmmLow(1, w)
		if err != nil {
			return err
		}
		t := b.float(ir.Uop{Op: ir.FToI, W: uint8(w), X: uint8(g.w), A: s, Imm: trunc})
		b.mov(g.slot, t)
		return nil
	}
}

// convert is cvtss2sd, cvtsd2ss: w to x bits.
func convert(w, x int) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		s, err := b.xmmLow(1, w)
		if err != nil {
			return err
		}
		b.putLow(d[0], x, b.float(ir.Uop{Op: ir.FCvt, W: uint8(w), X: uint8(x), A: s}))
		return nil
	}
}

// each32 maps every doubleword to one of the same width.
func each32(u ir.Uop) lifter {
	return xmm2(func(b *builder, d, s pair) {
		for h := range d {
			b.mov(d[h], b.mapLanes(s[h], s[h], 32, func(x, _ ir.Slot) ir.Slot {
				u.D, u.A = 0, x
				return b.float(u)
			}))
		}
	})
}

// widenLow maps the two low doublewords to quadwords.
func widenLow(u ir.Uop) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.xmmDst()
		if err != nil {
			return err
		}
		s, err := b.xmmLow(1, 64)
		if err != nil {
			return err
		}
		u.D, u.A = 0, b.upper(s)
		hi := b.float(u)
		u.D, u.A = 0, s
		b.mov(d[0], b.float(u))
		b.mov(d[1], hi)
		return nil
	}
}

// narrowFloat maps both quadwords to the low doublewords and clears the upper half.
func narrowFloat(u ir.Uop) lifter {
	return xmm2(func(b *builder, d, s pair) {
		u.D, u.A = 0, s[0]
		lo := b.float(u)
		u.D, u.A = 0, s[1]
		hi := b.float(u)
		b.mov(d[0], b.join(lo, hi))
		b.mov(d[1], ir.Zero)
	})
}

func init() {
	register(map[x86asm.Op]row{
		x86asm.ADDSS:     {scalar(ir.FAdd, 32), sticky},
		x86asm.ADDSD:     {scalar(ir.FAdd, 64), sticky},
		x86asm.ADDPS:     {packed(ir.FAdd, 32, noImm), stickyPacked},
		x86asm.ADDPD:     {packed(ir.FAdd, 64, noImm), stickyPacked},
		x86asm.SUBSS:     {scalar(ir.FSub, 32), sticky},
		x86asm.SUBSD:     {scalar(ir.FSub, 64), sticky},
		x86asm.SUBPS:     {packed(ir.FSub, 32, noImm), stickyPacked},
		x86asm.SUBPD:     {packed(ir.FSub, 64, noImm), stickyPacked},
		x86asm.MULSS:     {scalar(ir.FMul, 32), sticky},
		x86asm.MULSD:     {scalar(ir.FMul, 64), sticky},
		x86asm.MULPS:     {packed(ir.FMul, 32, noImm), stickyPacked},
		x86asm.MULPD:     {packed(ir.FMul, 64, noImm), stickyPacked},
		x86asm.DIVSS:     {scalar(ir.FDiv, 32), sticky},
		x86asm.DIVSD:     {scalar(ir.FDiv, 64), sticky},
		x86asm.DIVPS:     {packed(ir.FDiv, 32, noImm), stickyPacked},
		x86asm.DIVPD:     {packed(ir.FDiv, 64, noImm), stickyPacked},
		x86asm.SQRTSS:    {scalar(ir.FSqrt, 32), sticky},
		x86asm.SQRTSD:    {scalar(ir.FSqrt, 64), sticky},
		x86asm.SQRTPS:    {packed(ir.FSqrt, 32, noImm), stickyPacked},
		x86asm.SQRTPD:    {packed(ir.FSqrt, 64, noImm), stickyPacked},
		x86asm.MINSS:     {scalar(ir.FMin, 32), sticky},
		x86asm.MINSD:     {scalar(ir.FMin, 64), sticky},
		x86asm.MINPS:     {packed(ir.FMin, 32, noImm), stickyPacked},
		x86asm.MINPD:     {packed(ir.FMin, 64, noImm), stickyPacked},
		x86asm.MAXSS:     {scalar(ir.FMax, 32), sticky},
		x86asm.MAXSD:     {scalar(ir.FMax, 64), sticky},
		x86asm.MAXPS:     {packed(ir.FMax, 32, noImm), stickyPacked},
		x86asm.MAXPD:     {packed(ir.FMax, 64, noImm), stickyPacked},
		x86asm.CMPSS:     {scalarImm(ir.FCmp, 32, predicate), sticky},
		x86asm.CMPSD_XMM: {scalarImm(ir.FCmp, 64, predicate), sticky},
		x86asm.CMPPS:     {packed(ir.FCmp, 32, predicate), stickyPacked},
		x86asm.CMPPD:     {packed(ir.FCmp, 64, predicate), stickyPacked},
		x86asm.COMISS:    {comi(32), sticky},
		x86asm.COMISD:    {comi(64), sticky},
		x86asm.UCOMISS:   {comi(32), sticky},
		x86asm.UCOMISD:   {comi(64), sticky},
		x86asm.CVTSI2SS:  {fromInt(32), sticky},
		x86asm.CVTSI2SD:  {fromInt(64), sticky},
		x86asm.CVTSS2SI:  {toInt(32, 0), sticky},
		x86asm.CVTSD2SI:  {toInt(64, 0), sticky},
		x86asm.CVTTSS2SI: {toInt(32, 1), sticky},
		x86asm.CVTTSD2SI: {toInt(64, 1), sticky},
		x86asm.CVTSS2SD:  {convert(32, 64), sticky},
		x86asm.CVTSD2SS:  {convert(64, 32), sticky},
		x86asm.CVTDQ2PS:  {each32(ir.Uop{Op: ir.FFromI, W: 32, X: 32}), stickyPacked},
		x86asm.CVTPS2DQ:  {each32(ir.Uop{Op: ir.FToI, W: 32, X: 32}), stickyPacked},
		x86asm.CVTTPS2DQ: {each32(ir.Uop{Op: ir.FToI, W: 32, X: 32, Imm: 1}), stickyPacked},
		x86asm.CVTDQ2PD:  {widenLow(ir.Uop{Op: ir.FFromI, W: 64, X: 32}), sticky},
		x86asm.CVTPS2PD:  {widenLow(ir.Uop{Op: ir.FCvt, W: 32, X: 64}), sticky},
		x86asm.CVTPD2PS:  {narrowFloat(ir.Uop{Op: ir.FCvt, W: 64, X: 32}), stickyPacked},
		x86asm.CVTPD2DQ:  {narrowFloat(ir.Uop{Op: ir.FToI, W: 64, X: 32}), stickyPacked},
		x86asm.CVTTPD2DQ: {narrowFloat(ir.Uop{Op: ir.FToI, W: 64, X: 32, Imm: 1}), stickyPacked},
	})
}
