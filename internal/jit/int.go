package jit

import (
	"symchef/internal/ir"
)

// emitter makes the code of micro-op i, which is u. It returns false if it cannot; then it may have emitted code, but changed no slot.
type emitter func(g *gen, u *ir.Uop, i int) bool

// always is the emitter of an op that can be compiled whatever its operands and widths are, sometimes that of one for which it depends on them.
func always(f func(*gen, *ir.Uop)) emitter {
	return func(g *gen, u *ir.Uop, _ int) bool { f(g, u); return true }
}

func sometimes(f func(*gen, *ir.Uop) bool) emitter {
	return func(g *gen, u *ir.Uop, _ int) bool { return f(g, u) }
}

// emitters are the ops that are compiled, but for those in laneOps. Each op that is missing in both is left to the evaluator.
var emitters = [256]emitter{
	ir.Mov:     always((*gen).move),
	ir.Lea:     always((*gen).leaOp),
	ir.Add:     always((*gen).alu),
	ir.Sub:     always((*gen).alu),
	ir.And:     always((*gen).alu),
	ir.Or:      always((*gen).alu),
	ir.Xor:     always((*gen).alu),
	ir.Mul:     always((*gen).alu),
	ir.Not:     always(negation(2)),
	ir.Neg:     always(negation(3)),
	ir.Shl:     always((*gen).shift),
	ir.LShr:    always((*gen).shift),
	ir.AShr:    always((*gen).shift),
	ir.Rol:     sometimes((*gen).rotate),
	ir.Ror:     sometimes((*gen).rotate),
	ir.Eq:      sometimes((*gen).compare),
	ir.Ult:     sometimes((*gen).compare),
	ir.Slt:     sometimes((*gen).compare),
	ir.Ite:     always((*gen).ite),
	ir.Get:     always((*gen).get),
	ir.Put:     always((*gen).put),
	ir.Sx:      sometimes((*gen).sx),
	ir.MulHU:   sometimes((*gen).mulHigh),
	ir.MulHS:   sometimes((*gen).mulHigh),
	ir.UDiv:    sometimes((*gen).divide),
	ir.URem:    sometimes((*gen).divide),
	ir.SDiv:    sometimes((*gen).divide),
	ir.SRem:    sometimes((*gen).divide),
	ir.Ctz:     always((*gen).scan),
	ir.Clz:     always((*gen).scan),
	ir.Bswap:   sometimes((*gen).bswap),
	ir.Load:    (*gen).loadOp,
	ir.Store:   (*gen).storeOp,
	ir.SetCC:   always((*gen).setCC),
	ir.SetCCIf: always((*gen).setCCIf),
	ir.Cond:    (*gen).condOp,
	ir.TrapIf:  (*gen).leaveIfSet,
	ir.SkipIf:  (*gen).leaveIfSet,
	ir.Jmp:     always((*gen).jump),
	ir.Jcc:     (*gen).jccOp,
	ir.Brnz:    always((*gen).brnz),
	ir.JmpInd:  (*gen).jumpIndirect,

	ir.VMsk:    sometimes((*gen).signs),
	ir.VPair:   always((*gen).pair),
	ir.VAlign:  always((*gen).align),
	ir.VEven:   sometimes(everySecond(0x08)),
	ir.VOdd:    sometimes(everySecond(0x0d)),
	ir.VBits:   sometimes((*gen).bits),
	ir.VBlend:  always((*gen).blend),
	ir.VShuf4:  always((*gen).shuffle4),
	ir.VPerm:   from(ssse3, (*gen).permute),
	ir.VAbs:    from(ssse3, (*gen).absolute),
	ir.VBlendV: from(sse41, (*gen).blendBy),
	ir.VSxt:    from(sse41, (*gen).widen),
	ir.VZxt:    from(sse41, (*gen).widen),
	ir.Crc32:   from(sse42, (*gen).crc32),
	ir.Popcnt:  from(sse42, (*gen).popcnt),

	ir.FAdd:   float((*gen).floatOp),
	ir.FSub:   float((*gen).floatOp),
	ir.FMul:   float((*gen).floatOp),
	ir.FDiv:   float((*gen).floatOp),
	ir.FMin:   float((*gen).floatOp),
	ir.FMax:   float((*gen).floatOp),
	ir.FCmp:   float((*gen).floatCompare),
	ir.FSqrt:  float((*gen).squareRoot),
	ir.FComi:  float((*gen).floatFlags),
	ir.FFromI: float((*gen).fromInt),
	ir.FToI:   float((*gen).toInt),
	ir.FCvt:   float((*gen).convert),
	ir.FRound: float((*gen).round),
}

// uop compiles micro-op i; false if it does not know how.
func (g *gen) uop(u *ir.Uop, i int) bool {
	if u.D == ir.MXCSR && u.Op < ir.Store {
		return false
	}
	if emit := emitters[u.Op]; emit != nil {
		return emit(g, u, i)
	}
	in, ok := laneOps[u.Op][u.W]
	return ok && g.lane(u, in)
}

// negation is not or neg, by the number in its ModRM byte.
func negation(ext reg) func(*gen, *ir.Uop) {
	return func(g *gen, u *ir.Uop) {
		g.mov(rax, g.read(u.A))
		g.op(64, 0xf7, ext, direct(rax))
		g.mask(rax, u.W)
		g.result(u.D, rax)
	}
}

func (g *gen) loadOp(u *ir.Uop, i int) bool {
	o := g.access(u, i, false)
	g.load(u.W, g.dest(u.D), o)
	g.wrote(u.D)
	return true
}

func (g *gen) condOp(u *ir.Uop, i int) bool {
	cc, ok := g.cond(u.Imm, i)
	if ok {
		g.setcc(cc)
		g.result(u.D, rax)
	}
	return ok
}

// leaveIfSet is TrapIf and SkipIf: the evaluator goes on where A is not 0.
func (g *gen) leaveIfSet(u *ir.Uop, i int) bool {
	if !g.known[u.A] || g.value[u.A]&widthMask(u.W) != 0 {
		g.testWidth(u.A, u.W)
		g.leaveIf(ccNE, i)
	}
	return true
}

func (g *gen) jump(*ir.Uop) {
	g.retire()
	g.goTo(g.src.Block.Taken)
}

func (g *gen) jccOp(u *ir.Uop, i int) bool {
	cc, ok := g.cond(u.Imm, i)
	if ok {
		g.branch(cc)
	}
	return ok
}

func (g *gen) brnz(u *ir.Uop) {
	g.testWidth(u.A, u.W)
	g.branch(ccNE)
}

func (g *gen) jumpIndirect(u *ir.Uop, i int) bool {
	if g.src.Watched {
		if g.src.Trace == nil {
			return false
		}
		g.note(u, i)
	}
	g.indirect(u)
	return true
}

func widthMask(w uint8) uint64 {
	if w >= 64 {
		return ^uint64(0)
	}
	return 1<<w - 1
}

// natural reports whether w is the width of an integer instruction.
func natural(w uint8) bool { return w == 8 || w == 16 || w == 32 || w == 64 }

func (g *gen) move(u *ir.Uop) {
	r, v, known := g.addend(u)
	if known {
		g.know(u.D, v&widthMask(u.W))
		return
	}
	d := g.dest(u.D)
	if u.W == 64 {
		g.mov(d, r)
	} else if natural(u.W) {
		g.load(u.W, d, direct(r))
	} else {
		g.mov(d, r)
		g.mask(d, u.W)
	}
	g.wrote(u.D)
}

func (g *gen) leaOp(u *ir.Uop) {
	v, known := g.address(u)
	if known {
		g.know(u.D, v&widthMask(u.W))
		return
	}
	g.mask(rax, u.W)
	g.result(u.D, rax)
}

var aluOps = map[ir.Op]uint16{ir.Add: opAdd, ir.Sub: opSub, ir.And: opAnd, ir.Or: opOr, ir.Xor: opXor}

func (g *gen) alu(u *ir.Uop) {
	a := g.read(u.A)
	b, v, known := g.addend(u)
	w := uint8(64)
	if u.W <= 32 {
		w = 32
	}
	if known {
		v &= widthMask(u.W)
		if w == 32 {
			v = uint64(int64(int32(v)))
		}
	}
	op := aluOps[u.Op]
	switch {
	case known && fits32(v):
		d := g.dest(u.D)
		switch {
		case u.Op == ir.Mul:
			g.wideOp(w, 0x69, d, direct(a))
			g.imm32(uint32(v))
		case u.Op == ir.Add && d != a && u.W == 64:
			g.lea(d, at(a, int32(v)))
		default:
			g.mov(d, a)
			g.opImm(w, op, direct(d), int32(v))
		}
	default:
		if known {
			g.constant(rcx, v)
			b = rcx
		}
		d := g.dest(u.D)
		switch {
		case d == b && d != a && u.Op == ir.Sub:
			g.mov(rax, a)
			g.wideOp(w, opSub, rax, direct(b))
			g.mov(d, rax)
		case d == b && d != a: // commutative
			g.wideOp(w, mulOr(op), d, direct(a))
		case u.Op == ir.Add && d != a && u.W == 64:
			g.lea(d, rm{base: a, index: b, mem: true})
		default:
			g.mov(d, a)
			g.wideOp(w, mulOr(op), d, direct(b))
		}
	}
	if u.W != 32 {
		g.mask(g.regOf[u.D], u.W)
	}
	g.wrote(u.D)
}

// mulOr returns op, or imul for 0.
func mulOr(op uint16) uint16 {
	if op == 0 {
		return 0x0faf
	}
	return op
}

// wideOp is op for 32 or 64 bits.
func (g *gen) wideOp(w uint8, op uint16, r reg, o rm) { g.ins(0, w>>6, false, op, r, o) }

func (g *gen) shift(u *ir.Uop) {
	ext := map[ir.Op]reg{ir.Shl: extShl, ir.LShr: extShr, ir.AShr: extSar}[u.Op]
	a := g.read(u.A)
	operand := func() { // A in rax, extended so that shifts of 64 bits are right
		switch {
		case u.W == 64 || u.Op == ir.Shl:
			g.mov(rax, a)
		case u.Op == ir.LShr:
			g.mov(rax, a)
			g.mask(rax, u.W)
		default:
			g.mov(rax, a)
			g.signExtend(rax, u.W)
		}
	}
	b, n, known := g.addend(u)
	if known {
		n &= widthMask(u.W)
		if n >= uint64(u.W) {
			if u.Op != ir.AShr {
				g.know(u.D, 0)
				return
			}
			n = uint64(u.W) - 1
		}
		operand()
		if n != 0 {
			g.shiftImm(64, ext, direct(rax), uint8(n))
		}
	} else {
		g.mov(rcx, b)
		g.mask(rcx, u.W)
		operand()
		if u.Op == ir.AShr { // counts beyond the width give the sign
			g.constant(rdx, uint64(u.W)-1)
			g.op(64, opCmp, rcx, direct(rdx))
			g.ins(0, 1, false, 0x0f47, rcx, direct(rdx)) // cmova
			g.op(64, 0xd3, ext, direct(rax))
		} else {
			g.op(64, 0xd3, ext, direct(rax))
			g.constant(rdx, 0)
			g.opImm(64, opCmp, direct(rcx), int32(u.W))
			g.ins(0, 1, false, 0x0f43, rax, direct(rdx)) // cmovae
		}
	}
	g.mask(rax, u.W)
	g.result(u.D, rax)
}

// signExtend makes the low w bits of r 64.
func (g *gen) signExtend(r reg, w uint8) {
	switch w {
	case 64:
	case 32:
		g.ins(0, 1, false, 0x63, r, direct(r))
	case 16:
		g.ins(0, 1, false, 0x0fbf, r, direct(r))
	case 8:
		g.ins(0, 1, false, 0x0fbe, r, direct(r))
	default:
		g.shiftImm(64, extShl, direct(r), 64-w)
		g.shiftImm(64, extSar, direct(r), 64-w)
	}
}

func (g *gen) rotate(u *ir.Uop) bool {
	if !natural(u.W) {
		return false
	}
	ext := reg(extRol)
	if u.Op == ir.Ror {
		ext = extRor
	}
	a := g.read(u.A)
	b, n, known := g.addend(u)
	if known {
		g.mov(rax, a)
		g.shiftImm(u.W, ext, direct(rax), uint8(n)&(u.W-1))
	} else { // the count of the instruction is taken modulo 32 or 64
		g.mov(rcx, b)
		g.mov(rax, a)
		g.op(u.W, 0xd3, ext, direct(rax))
	}
	g.mask(rax, u.W)
	g.result(u.D, rax)
	return true
}

func (g *gen) compare(u *ir.Uop) bool {
	if !natural(u.W) {
		return false
	}
	a := g.read(u.A)
	b, v, known := g.addend(u)
	if known {
		g.compareConst(u.W, a, v)
	} else {
		g.op(u.W, opCmp, a, direct(b))
	}
	g.setcc(map[ir.Op]byte{ir.Eq: ir.CondE, ir.Ult: ir.CondB, ir.Slt: ir.CondL}[u.Op])
	g.result(u.D, rax)
	return true
}

// compareConst compares the low w bits of a with v. It may use rcx.
func (g *gen) compareConst(w uint8, a reg, v uint64) {
	s := int64(v) << (64 - w) >> (64 - w)
	if s == int64(int32(s)) {
		g.opImm(w, opCmp, direct(a), int32(s))
		return
	}
	g.constant(rcx, v)
	g.op(w, opCmp, a, direct(rcx))
}

// setcc puts condition cc into rax as 0 or 1.
func (g *gen) setcc(cc byte) {
	g.ins(0, 0, true, 0x0f90|uint16(cc), 0, direct(rax))
	g.load(8, rax, direct(rax))
}

// testWidth sets ZF if the low w bits of slot s are 0.
func (g *gen) testWidth(s ir.Slot, w uint8) {
	if natural(w) {
		r := g.read(s)
		g.op(w, 0x85, r, direct(r))
		return
	}
	g.mov(rax, g.read(s))
	g.mask(rax, w)
	g.op(64, 0x85, rax, direct(rax))
}

func (g *gen) ite(u *ir.Uop) {
	g.addendIn(rcx, u)
	c := g.read(u.C)
	g.mov(rdx, c)
	g.testWidth(u.A, u.W)
	g.ins(0, 1, false, 0x0f45, rdx, direct(rcx)) // cmovne
	g.result(u.D, rdx)
}

func (g *gen) get(u *ir.Uop) {
	a := g.read(u.A)
	if u.Imm == 0 && natural(u.W) {
		d := g.dest(u.D)
		if u.W == 64 {
			g.mov(d, a)
		} else {
			g.load(u.W, d, direct(a))
		}
		g.wrote(u.D)
		return
	}
	g.mov(rax, a)
	g.shiftImm(64, extShr, direct(rax), uint8(u.Imm&63))
	g.mask(rax, u.W)
	g.result(u.D, rax)
}

func (g *gen) put(u *ir.Uop) {
	n := uint8(u.Imm & 63)
	a, b := g.read(u.A), g.read(u.B)
	if n == 0 && u.W <= 16 && natural(u.W) {
		g.mov(rax, b)
		g.ins(map[uint8]uint8{16: 0x66}[u.W], 0, u.W == 8, 0x8a|uint16(u.W>>4&1), rax, direct(a))
		g.result(u.D, rax)
		return
	}
	k := widthMask(u.W) << n
	g.mov(rax, a)
	g.shiftImm(64, extShl, direct(rax), n)
	g.constant(rcx, k)
	g.op(64, opAnd, rax, direct(rcx))
	g.constant(rcx, ^k)
	g.op(64, opAnd, rcx, direct(b))
	g.op(64, opOr, rax, direct(rcx))
	g.result(u.D, rax)
}

func (g *gen) sx(u *ir.Uop) bool {
	if u.W == 0 || u.X == 0 {
		return false
	}
	g.mov(rax, g.read(u.A))
	g.signExtend(rax, u.W)
	g.mask(rax, u.X)
	g.result(u.D, rax)
	return true
}

func (g *gen) mulHigh(u *ir.Uop) bool {
	if !natural(u.W) {
		return false
	}
	g.addendIn(rcx, u)
	g.mov(rax, g.read(u.A))
	if u.W == 64 {
		g.op(64, 0xf7, map[ir.Op]reg{ir.MulHU: 4, ir.MulHS: 5}[u.Op], direct(rcx))
		g.result(u.D, rdx)
		return true
	}
	if u.Op == ir.MulHU {
		g.mask(rax, u.W)
		g.mask(rcx, u.W)
	} else {
		g.signExtend(rax, u.W)
		g.signExtend(rcx, u.W)
	}
	g.wideOp(64, 0x0faf, rax, direct(rcx))
	g.shiftImm(64, extShr, direct(rax), u.W)
	g.mask(rax, u.W)
	g.result(u.D, rax)
	return true
}

// divide compiles divisions, with a result for each divisor as the rows have it.
func (g *gen) divide(u *ir.Uop) bool {
	if !natural(u.W) {
		return false
	}
	signed, rem := u.Op == ir.SDiv || u.Op == ir.SRem, u.Op == ir.URem || u.Op == ir.SRem
	extend := g.mask
	if signed {
		extend = g.signExtend
	}
	g.addendIn(rcx, u)
	g.mov(rax, g.read(u.A))
	extend(rax, u.W)
	extend(rcx, u.W)
	g.op(64, 0x85, rcx, direct(rcx))
	byZero := g.jcc(ccE)
	var done []int
	if signed {
		g.opImm(64, opCmp, direct(rcx), -1) // the quotient of the least number does not fit
		byOther := g.jcc(ccNE)
		if rem {
			g.constant(rax, 0)
		} else {
			g.op(64, 0xf7, 3, direct(rax)) // neg
		}
		done = append(done, g.jmp())
		g.land(byOther)
		g.emit(0x48, 0x99) // cqo
		g.op(64, 0xf7, 7, direct(rcx))
	} else {
		g.constant(rdx, 0)
		g.op(64, 0xf7, 6, direct(rcx))
	}
	if rem {
		g.mov(rax, rdx)
	}
	done = append(done, g.jmp())
	g.land(byZero)
	switch {
	case rem: // the dividend
	case signed: // 1 or -1
		g.shiftImm(64, extShr, direct(rax), 63)
		g.lea(rax, rm{base: rax, index: rax, mem: true, disp: -1})
	default:
		g.constant(rax, ^uint64(0))
	}
	for _, j := range done {
		g.land(j)
	}
	g.mask(rax, u.W)
	g.result(u.D, rax)
	return true
}

// scan is Ctz and Clz.
func (g *gen) scan(u *ir.Uop) {
	g.mov(rcx, g.read(u.A))
	g.mask(rcx, u.W)
	if u.Op == ir.Ctz {
		g.constant(rdx, uint64(u.W))
		g.op(64, 0x0fbc, rax, direct(rcx)) // bsf
		g.op(64, 0x0f44, rax, direct(rdx)) // cmove
	} else {
		g.constant(rdx, ^uint64(0))
		g.op(64, 0x0fbd, rax, direct(rcx)) // bsr
		g.op(64, 0x0f44, rax, direct(rdx))
		g.op(64, 0xf7, 3, direct(rax)) // neg
		g.lea(rax, at(rax, int32(u.W)-1))
	}
	g.result(u.D, rax)
}

func (g *gen) bswap(u *ir.Uop) bool {
	if u.W != 32 && u.W != 64 {
		return false
	}
	g.mov(rax, g.read(u.A))
	if u.W == 64 {
		g.emit(0x48)
	}
	g.emit(0x0f, 0xc8)
	g.result(u.D, rax)
	return true
}

func (g *gen) storeOp(u *ir.Uop, i int) bool {
	if g.known[u.C] {
		v := g.value[u.C]
		if s := int64(v) << (64 - u.W) >> (64 - u.W); s == int64(int32(s)) {
			g.storeImm(u.W, g.access(u, i, true), int32(s))
			return true
		}
	}
	c := g.read(u.C)
	g.store(u.W, g.access(u, i, true), c)
	return true
}

// retire counts the block's instructions, without flags.
func (g *gen) retire() { g.lea(r14, at(r14, -int32(len(g.src.Block.Insns)))) }

// branch ends the block: to Taken if condition cc holds, else to Next.
func (g *gen) branch(cc byte) {
	g.retire()
	taken := g.jcc(cc)
	g.goTo(g.src.Block.Next)
	g.land(taken)
	g.goTo(g.src.Block.Taken)
}

// indirect ends the block with a jump through the table of jumps.
func (g *gen) indirect(u *ir.Uop) {
	g.mov(rax, g.read(u.A))
	g.retire()
	g.load(32, rcx, direct(rax))
	g.opImm(32, opAnd, direct(rcx), jumpTable-1)
	g.shiftImm(32, extShl, direct(rcx), 4)
	g.op(64, opCmp, rax, indexed(r15, rcx, ctxJumps))
	miss := g.jcc(ccNE)
	g.ins(0, 0, false, 0xff, 4, indexed(r15, rcx, ctxJumps+8)) // jmp
	g.land(miss)
	g.store(64, at(r15, ctxPC), rax)
	g.leaveBlock()
}
