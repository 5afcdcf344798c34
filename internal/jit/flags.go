package jit

import "symchef/internal/ir"

// setCC stores the lazy flags and remembers where their operands are.
func (g *gen) setCC(u *ir.Uop) {
	for k, s := range [3]ir.Slot{u.A, u.B, u.C} { // all are read before one is written
		g.cca[k] = operand{known: g.known[s], value: g.value[s]}
		if !g.known[s] {
			r := g.read(s)
			g.cca[k].reg, g.cca[k].version = r, g.version[r]
		}
	}
	for k, o := range g.cca {
		if o.known {
			g.poke(slot(ir.CCA+ir.Slot(k)), o.value)
		} else {
			g.store(64, slot(ir.CCA+ir.Slot(k)), o.reg)
		}
	}
	g.poke(slot(ir.CCOp), u.Imm)
	for _, s := range [4]ir.Slot{ir.CCOp, ir.CCA, ir.CCB, ir.CCC} {
		g.inMemory(s)
	}
	g.cc, g.ccKnown = ir.CC(u.Imm), true
}

// setCCIf is setCC under a condition; afterwards the flags are known only in memory.
func (g *gen) setCCIf(u *ir.Uop) {
	for _, s := range [3]ir.Slot{u.A, u.B, u.C} { // not under the condition
		if !g.known[s] {
			g.read(s)
		}
	}
	g.testWidth(u.D, u.W)
	skip := g.jcc(ccE)
	g.setCC(u)
	g.land(skip)
	g.ccKnown = false
}

// flag returns a register with operand k of the lazy flags: its own, or scratch loaded with it.
func (g *gen) flag(k int, scratch reg) reg {
	o := &g.cca[k]
	switch {
	case g.ccKnown && o.known:
		g.constant(scratch, o.value)
	case g.ccKnown && g.version[o.reg] == o.version:
		return o.reg
	default:
		g.load(64, scratch, slot(ir.CCA+ir.Slot(k)))
	}
	return scratch
}

// flagRow is how the conditions of one kind of lazy flags are compiled.
type flagRow struct {
	can  func(g *gen, c uint64) bool         // whether condition c can be; nil: each can
	code func(g *gen, c uint64) (byte, bool) // makes the host's flags tell c, and returns the host's condition code
}

// flagRows has a row for each kind that is compiled.
var flagRows = map[ir.CCKind]flagRow{
	ir.CCFlags:  {code: (*gen).condFlags},
	ir.CCSub:    {code: asHost((*gen).flagsSub)},
	ir.CCLogic:  {code: asHost((*gen).flagsLogic)},
	ir.CCAdd:    {code: asHost((*gen).flagsAdd)},
	ir.CCAdc:    {code: asHost(flagsWithCarry(opAdc))},
	ir.CCSbb:    {code: asHost(flagsWithCarry(opSbb))},
	ir.CCInc:    {code: asHost(flagsStep(1, 0))},
	ir.CCDec:    {code: asHost(flagsStep(0, 1))},
	ir.CCMul:    {ofResult, (*gen).flagsMul},
	ir.CCResult: {ofResult, (*gen).flagsResult},
	ir.CCShl:    {ofShift, asHost((*gen).flagsShift)},
	ir.CCShr:    {ofShift, asHost((*gen).flagsShift)},
	ir.CCSar:    {ofShift, asHost((*gen).flagsShift)},
}

// cond makes the host's flags tell condition c of the lazy flags, and returns the host's condition code. It leaves before
// micro-op i where the operation is not the one it was compiled for.
func (g *gen) cond(c uint64, i int) (byte, bool) {
	if !g.ccKnown {
		g.cc = g.src.Flags
		g.cca = [3]operand{}
	}
	row, ok := flagRows[g.cc.Kind()]
	if !ok || row.can != nil && !row.can(g, c) { // what is not compiled must not emit
		return 0, false
	}
	if !g.ccKnown {
		g.opImm(32, opCmp, slot(ir.CCOp), int32(g.cc))
		g.leaveIf(ccNE, i)
	}
	return row.code(g, c)
}

// asHost is the code of flags that the host's own instruction leaves, so its condition codes are the guest's.
func asHost(f func(g *gen, w uint8)) func(*gen, uint64) (byte, bool) {
	return func(g *gen, c uint64) (byte, bool) {
		f(g, uint8(g.cc.Width()))
		return byte(c), true
	}
}

// tellsResult reports whether c is about zero, sign or parity, which the result alone tells.
func tellsResult(c uint64) bool { return c&^1 == ir.CondE || c&^1 == ir.CondS || c&^1 == ir.CondP }

// ofResult: what the result and the flags kept beside it tell.
func ofResult(_ *gen, c uint64) bool { return tellsResult(c) || c&^1 == ir.CondB || c&^1 == ir.CondO }

// ofShift: what the result of a shift by a known count tells.
func ofShift(g *gen, c uint64) bool { return tellsResult(c) && g.ccKnown && g.cca[1].known }

func (g *gen) flagsSub(w uint8) {
	a := g.flag(0, rax)
	if g.ccKnown && g.cca[1].known {
		g.compareConst(w, a, g.cca[1].value)
	} else {
		g.op(w, opCmp, a, direct(g.flag(1, rcx)))
	}
}

func (g *gen) flagsLogic(w uint8) {
	a := g.flag(0, rax)
	g.op(w, 0x85, a, direct(a))
}

func (g *gen) flagsAdd(w uint8) {
	g.mov(rax, g.flag(0, rax))
	g.op(w, opAdd, rax, direct(g.flag(1, rcx)))
}

func flagsWithCarry(op uint16) func(*gen, uint8) {
	return func(g *gen, w uint8) {
		g.mov(rax, g.flag(0, rax))
		b, carry := g.flag(1, rcx), g.flag(2, rdx)
		g.bit(carry, 0)
		g.op(w, op, rax, direct(b))
	}
}

// flagsStep undoes an inc or dec and does it again, with the carry that it leaves.
func flagsStep(undo, redo reg) func(*gen, uint8) {
	return func(g *gen, w uint8) {
		g.mov(rax, g.flag(0, rax))
		g.op(w, 0xff, undo, direct(rax))
		g.bit(g.flag(2, rdx), 0)
		g.op(w, 0xff, redo, direct(rax))
	}
}

func (g *gen) flagsMul(c uint64) (byte, bool) {
	w := uint8(g.cc.Width())
	if tellsResult(c) {
		g.flagsLogic(w)
		return byte(c), true
	}
	b := g.flag(1, rcx)
	g.op(w, 0x85, b, direct(b))
	return ccNE ^ byte(c&1), true
}

func (g *gen) flagsResult(c uint64) (byte, bool) {
	if tellsResult(c) {
		g.flagsLogic(uint8(g.cc.Width()))
		return byte(c), true
	}
	k := 2
	if c&^1 == ir.CondO {
		k = 1
	}
	g.testImm(8, direct(g.flag(k, rcx)), 1)
	return ccNE ^ byte(c&1), true
}

func (g *gen) flagsShift(w uint8) {
	g.mov(rax, g.flag(0, rax))
	n := g.cca[1].value & widthMask(w)
	ext := reg(extShl)
	switch g.cc.Kind() {
	case ir.CCShr:
		ext = extShr
		g.mask(rax, w)
	case ir.CCSar:
		ext = extSar
		g.signExtend(rax, w)
		n = min(n, 63)
	}
	if n > 63 {
		g.constant(rax, 0)
	} else if n > 0 {
		g.shiftImm(64, ext, direct(rax), uint8(n))
	}
	g.op(w, 0x85, rax, direct(rax))
}

// bit puts bit n of r into the host's carry flag.
func (g *gen) bit(r reg, n byte) {
	g.op(64, 0x0fba, 4, direct(r))
	g.emit(n)
}

// condFlags is cond where the operand is the flags themselves.
func (g *gen) condFlags(c uint64) (byte, bool) {
	a := g.flag(0, rax)
	var bits int32
	switch c &^ 1 {
	case ir.CondO:
		bits = ir.FlagOF
	case ir.CondB:
		bits = ir.FlagCF
	case ir.CondE:
		bits = ir.FlagZF
	case ir.CondBE:
		bits = ir.FlagCF | ir.FlagZF
	case ir.CondS:
		bits = ir.FlagSF
	case ir.CondP:
		bits = ir.FlagPF
	default: // SF != OF, and for LE also ZF
		g.mov(rcx, a)
		g.shiftImm(64, extShr, direct(rcx), 4)
		g.op(64, opXor, rcx, direct(a))
		g.opImm(32, opAnd, direct(rcx), ir.FlagSF)
		if c&^1 == ir.CondLE {
			g.load(32, rdx, direct(a))
			g.opImm(32, opAnd, direct(rdx), ir.FlagZF)
			g.op(32, opOr, rcx, direct(rdx))
		}
		g.op(32, 0x85, rcx, direct(rcx))
		return ccNE ^ byte(c&1), true
	}
	g.testImm(32, direct(a), bits)
	return ccNE ^ byte(c&1), true
}
