package jit

import "encoding/binary"

// reg is a register of the host in hardware encoding order, general or xmm.
type reg uint8

const (
	rax reg = iota
	rcx
	rdx
	rbx
	rsp
	rbp
	rsi
	rdi
	r8
	r9
	r10
	r11
	r12
	r13
	r14
	r15

	noReg reg = 0xff
)

// rm is the operand that a ModRM byte names: a register, or memory at base + index<<scale + disp.
type rm struct {
	base, index reg // index noReg: none
	scale       uint8
	mem         bool
	disp        int32
}

func direct(r reg) rm                { return rm{base: r, index: noReg} }
func at(base reg, disp int32) rm     { return rm{base: base, index: noReg, mem: true, disp: disp} }
func indexed(b, i reg, d int32) rm   { return rm{base: b, index: i, mem: true, disp: d} }
func (o rm) plus(d int32) rm         { o.disp += d; return o }
func fits32(v uint64) bool           { return int64(v) == int64(int32(v)) }
func fits8(v int32) bool             { return v == int32(int8(v)) }
func wide(w uint8) (prefix, x uint8) { return [65]uint8{16: 0x66}[w], w >> 6 }

// assembler appends x86-64 instructions (SDM vol. 2).
type assembler struct{ b []byte }

func (a *assembler) emit(p ...byte) { a.b = append(a.b, p...) }
func (a *assembler) imm32(v uint32) { a.b = binary.LittleEndian.AppendUint32(a.b, v) }
func (a *assembler) imm64(v uint64) { a.b = binary.LittleEndian.AppendUint64(a.b, v) }

// ins emits an instruction: prefix (0: none), opcode of one, two (0x0f..) or three bytes
// (0x38.. and 0x3a.., behind 0f), a register or opcode extension, and an operand. wide is REX.W; bytes says that registers are byte registers, sil to dil among them.
func (a *assembler) ins(prefix, wide uint8, bytes bool, op uint16, r reg, o rm) {
	if prefix != 0 {
		a.emit(prefix)
	}
	rex := wide<<3 | uint8(r)>>3<<2 | uint8(o.base)>>3
	if o.index != noReg {
		rex |= uint8(o.index) >> 3 << 1
	}
	if rex != 0 || bytes && (r >= rsp || !o.mem && o.base >= rsp) {
		a.emit(0x40 | rex)
	}
	switch op >> 8 {
	case 0:
	case 0x38, 0x3a:
		a.emit(0x0f, byte(op>>8))
	default:
		a.emit(byte(op >> 8))
	}
	a.emit(byte(op))
	field := uint8(r) & 7 << 3
	switch {
	case !o.mem:
		a.emit(0xc0 | field | uint8(o.base)&7)
		return
	case o.index != noReg:
		field |= 4
	default:
		field |= uint8(o.base) & 7
	}
	mod := uint8(2)
	switch {
	case o.disp == 0 && o.base&7 != rbp:
		mod = 0
	case fits8(o.disp):
		mod = 1
	}
	a.emit(mod<<6 | field)
	if o.index != noReg {
		a.emit(o.scale<<6 | uint8(o.index)&7<<3 | uint8(o.base)&7)
	} else if o.base&7 == rsp {
		a.emit(0x24)
	}
	switch mod {
	case 1:
		a.emit(byte(o.disp))
	case 2:
		a.imm32(uint32(o.disp))
	}
}

// op emits an integer instruction of w bits whose byte form is one opcode below.
func (a *assembler) op(w uint8, op uint16, r reg, o rm) {
	if w == 8 {
		a.ins(0, 0, true, op-1, r, o)
		return
	}
	p, x := wide(w)
	a.ins(p, x, false, op, r, o)
}

// The two-operand instructions `op reg, rm`, opcodes of the wide form.
const (
	opAdd = 0x03
	opOr  = 0x0b
	opAdc = 0x13
	opSbb = 0x1b
	opAnd = 0x23
	opSub = 0x2b
	opXor = 0x33
	opCmp = 0x3b
)

// opImm emits `op rm, imm` for one of the above; v is sign-extended.
func (a *assembler) opImm(w uint8, op uint16, o rm, v int32) {
	n := reg(op >> 3)
	switch {
	case w == 8:
		a.ins(0, 0, true, 0x80, n, o)
		a.emit(byte(v))
	case fits8(v):
		a.op(w, 0x83, n, o)
		a.emit(byte(v))
	default:
		a.op(w, 0x81, n, o)
		a.imm(w, v)
	}
}

// imm emits the immediate of an instruction of w bits.
func (a *assembler) imm(w uint8, v int32) {
	switch w {
	case 8:
		a.emit(byte(v))
	case 16:
		a.emit(byte(v), byte(v>>8))
	default:
		a.imm32(uint32(v))
	}
}

// testImm emits test rm, imm.
func (a *assembler) testImm(w uint8, o rm, v int32) {
	a.op(w, 0xf7, 0, o)
	a.imm(w, v)
}

// mov copies 64 bits.
func (a *assembler) mov(d, s reg) {
	if d != s {
		a.op(64, 0x8b, d, direct(s))
	}
}

// load reads w bits, zero-extended. The operand may be a register.
func (a *assembler) load(w uint8, d reg, o rm) {
	switch w {
	case 8:
		a.ins(0, 0, true, 0x0fb6, d, o)
	case 16:
		a.ins(0, 0, false, 0x0fb7, d, o)
	default:
		a.op(w, 0x8b, d, o)
	}
}

// store writes the low w bits.
func (a *assembler) store(w uint8, o rm, s reg) { a.op(w, 0x89, s, o) }

// storeImm writes the low w bits of v, sign-extended.
func (a *assembler) storeImm(w uint8, o rm, v int32) {
	a.op(w, 0xc7, 0, o)
	a.imm(w, v)
}

// constant sets d. It leaves the flags.
func (a *assembler) constant(d reg, v uint64) {
	switch {
	case v>>32 == 0:
		if d >= r8 {
			a.emit(0x41)
		}
		a.emit(0xb8 | byte(d&7))
		a.imm32(uint32(v))
	case fits32(v):
		a.op(64, 0xc7, 0, direct(d))
		a.imm32(uint32(v))
	default:
		a.emit(0x48|byte(d>>3), 0xb8|byte(d&7))
		a.imm64(v)
	}
}

// lea computes an address.
func (a *assembler) lea(d reg, o rm) { a.op(64, 0x8d, d, o) }

// shiftImm emits a shift by a constant; ext is the opcode extension.
func (a *assembler) shiftImm(w uint8, ext reg, o rm, n uint8) {
	a.op(w, 0xc1, ext, o)
	a.emit(n)
}

// The opcode extensions of shifts.
const (
	extRol = 0
	extRor = 1
	extShl = 4
	extShr = 5
	extSar = 7
)

// jcc emits a jump on condition cc (instruction encoding) and returns where its displacement stands.
func (a *assembler) jcc(cc byte) int {
	a.emit(0x0f, 0x80|cc)
	a.imm32(0)
	return len(a.b) - 4
}

// jmp is jcc without a condition.
func (a *assembler) jmp() int {
	a.emit(0xe9)
	a.imm32(0)
	return len(a.b) - 4
}

// land makes the jump whose displacement stands at p lead here.
func (a *assembler) land(p int) {
	binary.LittleEndian.PutUint32(a.b[p:], uint32(len(a.b)-p-4))
}

// sse emits an instruction on xmm registers.
func (a *assembler) sse(prefix uint8, op uint16, r reg, o rm) { a.ins(prefix, 0, false, op, r, o) }

// x86 condition codes beyond those of package ir.
const (
	ccE  = 4
	ccNE = 5
	ccLE = 14
)
