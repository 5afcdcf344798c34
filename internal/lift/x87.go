package lift

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
	"symchef/internal/softfp"
)

// The x87 instructions (SDM vol. 1, chapter 8), as helpers on concrete values. Operands
// from memory come through Load, so that a fault leaves the state alone; results go to memory inside the
// helper, before the stack changes.

// x87Note is the note of all x87 rows.
const x87Note = "operands are concretized; an unmasked exception ends the path; FIP, FDP and FOP are not kept"

// fpArg returns the stack index of operand i.
func fpArg(in *Inst, i int) (int, bool) {
	r, ok := in.Args[i].(x86asm.Reg)
	if !ok || r < x86asm.F0 || r > x86asm.F7 {
		return 0, false
	}
	return int(r - x86asm.F0), true
}

// x87 emits helper h; unused operands must be Zero.
func (b *builder) x87(h uint64, d, a, s ir.Slot, x uint8) {
	b.emit(ir.Uop{Op: ir.Helper, D: d, A: a, B: s, X: x, Imm: h})
}

// plain is an instruction without explicit operands, or whose operands do not matter.
func plain(name string, run func(f *fpu)) lifter {
	h := x87Helper(name, 0, func(f *fpu) []byte { run(f); return nil })
	return func(b *builder, in *Inst) error {
		b.x87(h, ir.Zero, ir.Zero, ir.Zero, 0)
		return nil
	}
}

// onReg is an instruction on st(i): operand arg of the instruction, 1 if there is none.
func onReg(name string, arg int, run func(f *fpu, i int)) lifter {
	h := x87Helper(name, 0, func(f *fpu) []byte { run(f, int(f.u.X)); return nil })
	return func(b *builder, in *Inst) error {
		i, ok := fpArg(in, arg)
		if !ok {
			i = 1
		}
		b.x87(h, ir.Zero, ir.Zero, ir.Zero, uint8(i))
		return nil
	}
}

// memOperand decodes the value in slot A: a float or integer of X bits.
func (f *fpu) memOperand(integer bool) softfp.Num {
	v := f.m.Reg()[f.u.A]
	w := uint(f.u.X)
	switch {
	case integer:
		n := softfp.Env{}
		return n.FromInt(softfp.F80, int64(v<<(64-w))>>(64-w))
	case w == 32:
		return softfp.F32.Unpack(v & 0xffffffff)
	}
	return softfp.F64.Unpack(v)
}

// loadOperand loads memory operand 0 for memOperand and emits h.
func (b *builder) loadOperand(in *Inst, h uint64) error {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok || in.MemBytes == 0 {
		return unsupported(in)
	}
	t := b.tmp()
	b.load(t, 8*in.MemBytes, b.addr(m))
	b.x87(h, ir.Zero, t, ir.Zero, uint8(8*in.MemBytes))
	return nil
}

// arithOp is a method of softfp.Env on two numbers.
type arithOp func(e *softfp.Env, f softfp.Format, a, b softfp.Num) softfp.Num

// arithmetic is an operation on two numbers: the destination is the first operand, pops as said.
func arithmetic(name string, op arithOp, reversed, pop bool) lifter {
	apply := func(e *softfp.Env, a, b softfp.Num) softfp.Num {
		if reversed {
			a, b = b, a
		}
		return op(e, softfp.F80, a, b)
	}
	// X is destination<<4 | source.
	regs := x87Helper(name, 0, func(f *fpu) []byte {
		d, s := int(f.u.X>>4), int(f.u.X&15)
		if f.underflow(d, s) {
			f.set(d, softfp.Indefinite)
		} else {
			f.set(d, apply(f.precise(), f.value(d), f.value(s)))
		}
		if pop {
			f.pop()
		}
		return nil
	})
	mem := func(integer bool) uint64 {
		return x87Helper(name, 0, func(f *fpu) []byte {
			if f.underflow(0) {
				f.set(0, softfp.Indefinite)
			} else {
				f.set(0, apply(f.precise(), f.value(0), f.memOperand(integer)))
			}
			return nil
		})
	}
	fm, im := mem(false), mem(true)
	return func(b *builder, in *Inst) error {
		if _, ok := in.Args[0].(x86asm.Mem); ok {
			switch in.Op {
			case x86asm.FIADD, x86asm.FISUB, x86asm.FISUBR, x86asm.FIMUL, x86asm.FIDIV, x86asm.FIDIVR:
				return b.loadOperand(in, im)
			}
			return b.loadOperand(in, fm)
		}
		d, ok1 := fpArg(in, 0)
		s, ok2 := fpArg(in, 1)
		if !ok1 || !ok2 {
			return unsupported(in)
		}
		b.x87(regs, ir.Zero, ir.Zero, ir.Zero, uint8(d<<4|s))
		return nil
	}
}

// orderCC are the condition codes of an order (SDM vol. 1, table 8-6).
var orderCC = [...]uint64{softfp.Less: fswC0, softfp.Equal: fswC3, softfp.Greater: 0, softfp.Unordered: fswC3 | fswC2 | fswC0}

// orderFlags are the RFLAGS bits of an order (fcomi).
var orderFlags = [...]uint64{softfp.Less: ir.FlagCF, softfp.Equal: ir.FlagZF, softfp.Greater: 0, softfp.Unordered: ir.FlagZF | ir.FlagPF | ir.FlagCF}

func (f *fpu) compare(i int, signal bool) softfp.Order {
	if f.underflow(0, i) {
		return softfp.Unordered
	}
	return f.env.Compare(f.value(0), f.value(i), signal)
}

func (f *fpu) pops(n int) {
	for ; n > 0; n-- {
		f.pop()
	}
}

// fcompare is fcom, fucom and their like.
func fcompare(name string, signal bool, pops int) lifter {
	regs := x87Helper(name, 0, func(f *fpu) []byte {
		f.cc(orderCC[f.compare(int(f.u.X), signal)])
		f.pops(pops)
		return nil
	})
	mem := func(integer bool) uint64 {
		return x87Helper(name, 0, func(f *fpu) []byte {
			o := softfp.Unordered
			if !f.underflow(0) {
				o = f.env.Compare(f.value(0), f.memOperand(integer), signal)
			}
			f.cc(orderCC[o])
			f.pops(pops)
			return nil
		})
	}
	fm, im := mem(false), mem(true)
	return func(b *builder, in *Inst) error {
		if _, ok := in.Args[0].(x86asm.Mem); ok {
			if in.Op == x86asm.FICOM || in.Op == x86asm.FICOMP {
				return b.loadOperand(in, im)
			}
			return b.loadOperand(in, fm)
		}
		i, ok := fpArg(in, 0)
		if !ok {
			i = 1
		}
		b.x87(regs, ir.Zero, ir.Zero, ir.Zero, uint8(i))
		return nil
	}
}

// withReg is an instruction on st(0) and st(i), its second operand.
func withReg(f func(b *builder, i uint8)) lifter {
	return func(b *builder, in *Inst) error {
		i, ok := fpArg(in, 1)
		if !ok {
			return unsupported(in)
		}
		f(b, uint8(i))
		return nil
	}
}

// fcompareFlags is fcomi, fucomi and their like.
func fcompareFlags(name string, signal bool, pops int) lifter {
	h := x87Helper(name, 0, func(f *fpu) []byte {
		i, o := int(f.u.X), softfp.Unordered
		if f.empty(0) || f.empty(i) {
			f.fault(false)
		} else { // C1 stays
			o = f.env.Compare(f.value(0), f.value(i), signal)
		}
		f.out = orderFlags[o]
		f.pops(pops)
		return nil
	})
	return withReg(func(b *builder, i uint8) {
		t := b.tmp()
		b.x87(h, t, ir.Zero, ir.Zero, i)
		b.setCC(ir.CCFlags, 64, t, ir.Zero, ir.Zero)
	})
}

// fcmov moves st(i) to st(0) if condition cond holds.
func fcmov(name string, cond uint64) lifter {
	h := x87Helper(name, 0, func(f *fpu) []byte {
		i := int(f.u.X)
		switch {
		case f.empty(0) || f.empty(i):
			f.fault(false)
			f.set(0, softfp.Indefinite)
		case f.m.Reg()[f.u.A] != 0:
			f.setRaw(0, f.raw[f.phys(i)])
		}
		return nil
	})
	return withReg(func(b *builder, i uint8) {
		t := b.tmp()
		b.emit(ir.Uop{Op: ir.Cond, D: t, Imm: cond})
		b.x87(h, ir.Zero, t, ir.Zero, i)
	})
}

var (
	fldMem = x87Helper("fld", 0, func(f *fpu) []byte {
		if f.tag>>f.phys(7)&1 != 0 { // overflow precedes the conversion
			f.push(softfp.Indefinite)
			return nil
		}
		n := f.memOperand(false)
		f.push(f.env.Convert(softfp.F80, n))
		return nil
	})
	fldReg = x87Helper("fld", 0, func(f *fpu) []byte {
		i := int(f.u.X)
		if f.underflow(i) {
			f.pushKeep(softfp.Indefinite)
			return nil
		}
		f.pushRaw(f.raw[f.phys(i)])
		return nil
	})
	fld80 = x87Helper("fld", 0, func(f *fpu) []byte {
		r := f.m.Reg()
		f.pushRaw([2]uint64{r[f.u.A], r[f.u.B] & 0xffff})
		return nil
	})
	fild = x87Helper("fild", 0, func(f *fpu) []byte {
		f.push(f.memOperand(true))
		return nil
	})
)

// pushKeep pushes without touching the status word.
func (f *fpu) pushKeep(n softfp.Num) {
	f.top = (f.top - 1) & 7
	f.set(0, n)
}

func liftFLD(b *builder, in *Inst) error {
	if i, ok := fpArg(in, 0); ok {
		b.x87(fldReg, ir.Zero, ir.Zero, ir.Zero, uint8(i))
		return nil
	}
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		return unsupported(in)
	}
	if in.MemBytes != 0 {
		return b.loadOperand(in, fldMem)
	}
	a, t, s := b.addr(m), b.tmp(), b.tmp() // x86asm gives no size for 80 bits
	b.load(t, 64, a)
	b.load(s, 16, a.plus(8))
	b.x87(fld80, ir.Zero, t, s, 0)
	return nil
}

func liftFILD(b *builder, in *Inst) error { return b.loadOperand(in, fild) }

// bytesOf returns the low n bytes of v.
func bytesOf(v uint64, n int) []byte {
	return binary.LittleEndian.AppendUint64(nil, v)[:n]
}

// fstore is fst, fstp to a register or memory.
func fstore(name string, pops int) lifter {
	reg := x87Helper(name, 0, func(f *fpu) []byte {
		i := int(f.u.X)
		if f.underflow(0) {
			f.set(i, softfp.Indefinite)
		} else {
			f.setRaw(i, f.raw[f.top])
		}
		f.pops(pops)
		return nil
	})
	mem := func(format softfp.Format, n int) uint64 {
		return x87Helper(name, n, func(f *fpu) []byte {
			v := softfp.Indefinite
			if !f.underflow(0) {
				v = f.value(0)
				v.Denorm = false // no exception: SDM vol. 2, FST
				v = f.env.Convert(format, v)
			}
			f.pops(pops)
			return bytesOf(format.Pack(v), n)
		})
	}
	m32, m64 := mem(softfp.F32, 4), mem(softfp.F64, 8)
	m80 := x87Helper(name, 10, func(f *fpu) []byte {
		v := f.raw[f.top]
		if f.underflow(0) {
			v = [2]uint64{3 << 62, 0xffff}
		}
		f.pops(pops)
		return append(bytesOf(v[0], 8), bytesOf(v[1], 2)...)
	})
	return func(b *builder, in *Inst) error {
		if i, ok := fpArg(in, 0); ok {
			b.x87(reg, ir.Zero, ir.Zero, ir.Zero, uint8(i))
			return nil
		}
		h := map[int]uint64{4: m32, 8: m64, 0: m80}[in.MemBytes]
		return b.storeOperand(in, h)
	}
}

// storeOperand emits helper h with the address of memory operand 0 in A.
func (b *builder) storeOperand(in *Inst, h uint64) error {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		return unsupported(in)
	}
	b.x87(h, ir.Zero, b.lea(b.addr(m)), ir.Zero, 0)
	return nil
}

// lea returns the address as a value.
func (b *builder) lea(a address) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Lea, W: 64, D: t, A: a.base, B: a.index, Scale: a.scale, Imm: a.disp})
	return t
}

// fistore is fist, fistp, fisttp.
func fistore(name string, pops int, chop bool) lifter {
	mem := func(n int) uint64 {
		return x87Helper(name, n, func(f *fpu) []byte {
			v := int64(-1) << (8*n - 1)
			if !f.underflow(0) {
				if chop {
					f.env.Mode = softfp.Chop
				}
				x := f.value(0)
				x.Denorm = false
				v = f.env.ToInt(x, 8*n)
			}
			f.pops(pops)
			return bytesOf(uint64(v), n)
		})
	}
	by := map[int]uint64{2: mem(2), 4: mem(4), 8: mem(8)}
	return func(b *builder, in *Inst) error {
		h, ok := by[in.MemBytes]
		if !ok {
			return unsupported(in)
		}
		return b.storeOperand(in, h)
	}
}

// unaryOp replaces st(0).
func unaryOp(name string, op func(f *fpu, n softfp.Num) softfp.Num) lifter {
	return plain(name, func(f *fpu) {
		if f.underflow(0) {
			f.set(0, softfp.Indefinite)
			return
		}
		f.set(0, op(f, f.value(0)))
	})
}

// signOp changes the sign bit of st(0), whatever it holds.
func signOp(name string, op func(se uint64) uint64) lifter {
	return plain(name, func(f *fpu) {
		if f.underflow(0) {
			f.set(0, softfp.Indefinite)
			return
		}
		v := f.raw[f.top]
		f.setRaw(0, [2]uint64{v[0], op(v[1])})
	})
}

// constant pushes a number.
func constant(name string, n func(m softfp.Mode) softfp.Num) lifter {
	return plain(name, func(f *fpu) { f.push(n(f.env.Mode)) })
}

// bits128 pushes hi:lo * 2^(exp-127).
func bits128(name string, exp int, hi, lo uint64) lifter {
	return constant(name, func(m softfp.Mode) softfp.Num { return m.Constant(exp, hi, lo) })
}

// fprem is fprem, fprem1.
func fprem(name string, nearest bool) lifter {
	return plain(name, func(f *fpu) {
		if f.underflow(0, 1) {
			f.set(0, softfp.Indefinite)
			f.fsw &^= fswC2
			return
		}
		r, q, partial := f.env.Rem(f.value(0), f.value(1), nearest)
		if r.IsNaN() { // C0 and C3 stay
			f.fsw &^= fswC2
			f.set(0, r)
			return
		}
		var cc uint64
		if partial {
			cc = fswC2
		}
		cc |= q>>2&1*fswC0 | q>>1&1*fswC3 | q&1*fswC1
		f.cc(cc)
		f.set(0, r)
	})
}

func fxam(f *fpu) {
	var cc uint64
	if f.raw[f.top][1]>>15&1 != 0 {
		cc = fswC1
	}
	switch n := f.value(0); {
	case f.empty(0):
		cc |= fswC3 | fswC0
	case n.Denorm:
		cc |= fswC3 | fswC2
	case n.Class == softfp.QNaN || n.Class == softfp.SNaN:
		cc |= fswC0
	case n.Class == softfp.Finite:
		cc |= fswC2
	case n.Class == softfp.Inf:
		cc |= fswC2 | fswC0
	case n.Class == softfp.Zero:
		cc |= fswC3
	}
	f.cc(cc)
}

func ftst(f *fpu) {
	o := softfp.Unordered
	if !f.underflow(0) {
		o = f.env.Compare(f.value(0), softfp.Num{}, true)
	}
	f.cc(orderCC[o])
}

func fxch(f *fpu, i int) {
	f.fsw &^= fswC1
	for _, k := range []int{0, i} {
		if f.empty(k) {
			f.fault(false)
			f.set(k, softfp.Indefinite)
		}
	}
	a, b := f.raw[f.top], f.raw[f.phys(i)]
	f.setRaw(0, b)
	f.setRaw(i, a)
}

func fxtract(f *fpu) {
	if f.underflow(0) {
		f.set(0, softfp.Indefinite)
		f.pushKeep(softfp.Indefinite)
		return
	}
	if f.tag>>f.phys(7)&1 != 0 {
		f.set(0, f.fault(true))
		f.pushKeep(softfp.Indefinite)
		return
	}
	exp, sig := f.env.Extract(f.value(0))
	f.set(0, exp)
	f.push(sig)
}

// Arithmetic, comparisons, moves.
func init() {
	r := map[x86asm.Op]row{}
	add := func(op x86asm.Op, l lifter) { r[op] = row{l, x87Note} }
	for _, a := range []struct {
		op, pop, integer x86asm.Op
		name             string
		f                arithOp
		reversed         bool
	}{
		{x86asm.FADD, x86asm.FADDP, x86asm.FIADD, "fadd", (*softfp.Env).Add, false},
		{x86asm.FSUB, x86asm.FSUBP, x86asm.FISUB, "fsub", (*softfp.Env).Sub, false},
		{x86asm.FSUBR, x86asm.FSUBRP, x86asm.FISUBR, "fsubr", (*softfp.Env).Sub, true},
		{x86asm.FMUL, x86asm.FMULP, x86asm.FIMUL, "fmul", (*softfp.Env).Mul, false},
		{x86asm.FDIV, x86asm.FDIVP, x86asm.FIDIV, "fdiv", (*softfp.Env).Div, false},
		{x86asm.FDIVR, x86asm.FDIVRP, x86asm.FIDIVR, "fdivr", (*softfp.Env).Div, true},
	} {
		add(a.op, arithmetic(a.name, a.f, a.reversed, false))
		add(a.integer, r[a.op].lift)
		add(a.pop, arithmetic(a.name+"p", a.f, a.reversed, true))
	}
	add(x86asm.FCOM, fcompare("fcom", true, 0))
	add(x86asm.FCOMP, fcompare("fcomp", true, 1))
	add(x86asm.FCOMPP, fcompare("fcompp", true, 2))
	add(x86asm.FICOM, fcompare("ficom", true, 0))
	add(x86asm.FICOMP, fcompare("ficomp", true, 1))
	add(x86asm.FUCOM, fcompare("fucom", false, 0))
	add(x86asm.FUCOMP, fcompare("fucomp", false, 1))
	add(x86asm.FUCOMPP, fcompare("fucompp", false, 2))
	add(x86asm.FCOMI, fcompareFlags("fcomi", true, 0))
	add(x86asm.FCOMIP, fcompareFlags("fcomip", true, 1))
	add(x86asm.FUCOMI, fcompareFlags("fucomi", false, 0))
	add(x86asm.FUCOMIP, fcompareFlags("fucomip", false, 1))
	add(x86asm.FTST, plain("ftst", ftst))
	add(x86asm.FXAM, plain("fxam", fxam))
	add(x86asm.FCMOVB, fcmov("fcmovb", ir.CondB))
	add(x86asm.FCMOVNB, fcmov("fcmovnb", ir.CondB+1))
	add(x86asm.FCMOVE, fcmov("fcmove", ir.CondE))
	add(x86asm.FCMOVNE, fcmov("fcmovne", ir.CondE+1))
	add(x86asm.FCMOVBE, fcmov("fcmovbe", ir.CondBE))
	add(x86asm.FCMOVNBE, fcmov("fcmovnbe", ir.CondBE+1))
	add(x86asm.FCMOVU, fcmov("fcmovu", ir.CondP))
	add(x86asm.FCMOVNU, fcmov("fcmovnu", ir.CondP+1))
	add(x86asm.FLD, liftFLD)
	add(x86asm.FILD, liftFILD)
	add(x86asm.FST, fstore("fst", 0))
	add(x86asm.FSTP, fstore("fstp", 1))
	add(x86asm.FIST, fistore("fist", 0, false))
	add(x86asm.FISTP, fistore("fistp", 1, false))
	add(x86asm.FISTTP, fistore("fisttp", 1, true))
	add(x86asm.FXCH, onReg("fxch", 0, fxch))
	add(x86asm.FCHS, signOp("fchs", func(se uint64) uint64 { return se ^ 0x8000 }))
	add(x86asm.FABS, signOp("fabs", func(se uint64) uint64 { return se & 0x7fff }))
	add(x86asm.FSQRT, unaryOp("fsqrt", func(f *fpu, n softfp.Num) softfp.Num { return f.precise().Sqrt(softfp.F80, n) }))
	add(x86asm.FRNDINT, unaryOp("frndint", func(f *fpu, n softfp.Num) softfp.Num { return f.env.RoundInt(n) }))
	add(x86asm.FSCALE, plain("fscale", func(f *fpu) {
		if f.underflow(0, 1) {
			f.set(0, softfp.Indefinite)
			return
		}
		f.set(0, f.env.Scale(softfp.F80, f.value(0), f.value(1)))
	}))
	add(x86asm.FPREM, fprem("fprem", false))
	add(x86asm.FPREM1, fprem("fprem1", true))
	add(x86asm.FXTRACT, plain("fxtract", fxtract))
	register(r)
}

// Constants, the stack of registers, and the control of the unit.
func init() {
	r := map[x86asm.Op]row{}
	add := func(op x86asm.Op, l lifter) { r[op] = row{l, x87Note} }
	add(x86asm.FLD1, constant("fld1", func(softfp.Mode) softfp.Num { return softfp.Num{Class: softfp.Finite, Sig: 1 << 63} }))
	add(x86asm.FLDZ, constant("fldz", func(softfp.Mode) softfp.Num { return softfp.Num{} }))
	add(x86asm.FLDPI, bits128("fldpi", 1, 0xc90fdaa22168c234, 0xc4c6628b80dc1cd1))
	add(x86asm.FLDL2E, bits128("fldl2e", 0, 0xb8aa3b295c17f0bb, 0xbe87fed0691d3e88))
	add(x86asm.FLDL2T, bits128("fldl2t", 1, 0xd49a784bcd1b8afe, 0x492bf6ff4dafdb4c))
	add(x86asm.FLDLG2, bits128("fldlg2", -2, 0x9a209a84fbcff798, 0x8f8959ac0b7c9178))
	add(x86asm.FLDLN2, bits128("fldln2", -1, 0xb17217f7d1cf79ab, 0xc9e3b39803f2f6af))
	add(x86asm.FFREE, onReg("ffree", 0, func(f *fpu, i int) { f.fsw &^= fswC1; f.tag &^= 1 << f.phys(i) }))
	add(x86asm.FFREEP, onReg("ffreep", 0, func(f *fpu, i int) { f.fsw &^= fswC1; f.tag &^= 1 << f.phys(i); f.pop() }))
	add(x86asm.FINCSTP, plain("fincstp", func(f *fpu) { f.fsw &^= fswC1; f.top = (f.top + 1) & 7 }))
	add(x86asm.FDECSTP, plain("fdecstp", func(f *fpu) { f.fsw &^= fswC1; f.top = (f.top - 1) & 7 }))
	add(x86asm.FNCLEX, plain("fnclex", func(f *fpu) { f.fsw &= 0x7f00 }))
	add(x86asm.FNINIT, plain("fninit", func(f *fpu) { f.fcw, f.fsw, f.top, f.tag = 0x37f, 0, 0, 0 }))
	add(x86asm.FNOP, noEffect)
	add(x86asm.FWAIT, noEffect)
	register(r)
}
