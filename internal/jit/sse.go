package jit

import (
	"golang.org/x/sys/cpu"

	"symchef/internal/ir"
)

// The registers of lane and float ops.
const (
	xmm0 reg = 0
	xmm1 reg = 1
	xmm2 reg = 2
)

// instr is an SSE instruction on xmm registers: prefix and opcode, and what the host must have for it.
type instr struct {
	prefix uint8
	op     uint16
	needs  level
}

// level is how far a processor goes in the rows of SSE. Each has all before it.
type level uint8

const (
	sse2 level = iota
	ssse3
	sse41
	sse42 // with popcnt
)

// host is the level of the processor that executes the code. Micro-ops that it has no instruction for are left to the evaluator.
var host = func() level {
	x := &cpu.X86
	switch {
	case !x.HasSSSE3:
		return sse2
	case !x.HasSSE41:
		return ssse3
	case !x.HasSSE42 || !x.HasPOPCNT:
		return sse41
	}
	return sse42
}()

// laneOps is the instructions that are a lane op of a width (SDM vol. 2, PADDB and following).
var laneOps = map[ir.Op]map[uint8]instr{
	ir.VAdd:    {8: {0x66, 0x0ffc, sse2}, 16: {0x66, 0x0ffd, sse2}, 32: {0x66, 0x0ffe, sse2}, 64: {0x66, 0x0fd4, sse2}},
	ir.VSub:    {8: {0x66, 0x0ff8, sse2}, 16: {0x66, 0x0ff9, sse2}, 32: {0x66, 0x0ffa, sse2}, 64: {0x66, 0x0ffb, sse2}},
	ir.VMul:    {16: {0x66, 0x0fd5, sse2}, 32: {0x66, 0x3840, sse41}},
	ir.VMulHU:  {16: {0x66, 0x0fe4, sse2}},
	ir.VMulHS:  {16: {0x66, 0x0fe5, sse2}},
	ir.VAddSS:  {8: {0x66, 0x0fec, sse2}, 16: {0x66, 0x0fed, sse2}},
	ir.VAddUS:  {8: {0x66, 0x0fdc, sse2}, 16: {0x66, 0x0fdd, sse2}},
	ir.VSubSS:  {8: {0x66, 0x0fe8, sse2}, 16: {0x66, 0x0fe9, sse2}},
	ir.VSubUS:  {8: {0x66, 0x0fd8, sse2}, 16: {0x66, 0x0fd9, sse2}},
	ir.VEq:     {8: {0x66, 0x0f74, sse2}, 16: {0x66, 0x0f75, sse2}, 32: {0x66, 0x0f76, sse2}, 64: {0x66, 0x3829, sse41}},
	ir.VGtS:    {8: {0x66, 0x0f64, sse2}, 16: {0x66, 0x0f65, sse2}, 32: {0x66, 0x0f66, sse2}, 64: {0x66, 0x3837, sse42}},
	ir.VMinU:   {8: {0x66, 0x0fda, sse2}, 16: {0x66, 0x383a, sse41}, 32: {0x66, 0x383b, sse41}},
	ir.VMaxU:   {8: {0x66, 0x0fde, sse2}, 16: {0x66, 0x383e, sse41}, 32: {0x66, 0x383f, sse41}},
	ir.VMinS:   {8: {0x66, 0x3838, sse41}, 16: {0x66, 0x0fea, sse2}, 32: {0x66, 0x3839, sse41}},
	ir.VMaxS:   {8: {0x66, 0x383c, sse41}, 16: {0x66, 0x0fee, sse2}, 32: {0x66, 0x383d, sse41}},
	ir.VAvgU:   {8: {0x66, 0x0fe0, sse2}, 16: {0x66, 0x0fe3, sse2}},
	ir.VMAdd:   {32: {0x66, 0x0ff5, sse2}},
	ir.VSad:    {64: {0x66, 0x0ff6, sse2}},
	ir.VShl:    {16: {0x66, 0x0ff1, sse2}, 32: {0x66, 0x0ff2, sse2}, 64: {0x66, 0x0ff3, sse2}},
	ir.VShr:    {16: {0x66, 0x0fd1, sse2}, 32: {0x66, 0x0fd2, sse2}, 64: {0x66, 0x0fd3, sse2}},
	ir.VSar:    {16: {0x66, 0x0fe1, sse2}, 32: {0x66, 0x0fe2, sse2}},
	ir.VZipLo:  {8: {0x66, 0x0f60, sse2}, 16: {0x66, 0x0f61, sse2}, 32: {0x66, 0x0f62, sse2}},
	ir.VZipHi:  {8: {0x66, 0x0f60, sse2}, 16: {0x66, 0x0f61, sse2}, 32: {0x66, 0x0f62, sse2}},
	ir.VPackSS: {16: {0x66, 0x0f63, sse2}, 32: {0x66, 0x0f6b, sse2}},
	ir.VPackUS: {16: {0x66, 0x0f67, sse2}, 32: {0x66, 0x382b, sse41}},
	ir.VSign:   {8: {0x66, 0x3808, ssse3}, 16: {0x66, 0x3809, ssse3}, 32: {0x66, 0x380a, ssse3}},
	ir.VMulRS:  {16: {0x66, 0x380b, ssse3}},
	ir.VMAddUS: {16: {0x66, 0x3804, ssse3}},
	ir.VMinPos: {16: {0x66, 0x3841, sse41}},
	ir.VMpsad:  {16: {0x66, 0x3a42, sse41}},
}

// extensions is the instructions that widen lanes, by both widths.
var extensions = map[ir.Op]map[[2]uint8]uint16{
	ir.VSxt: {{8, 16}: 0x3820, {8, 32}: 0x3821, {8, 64}: 0x3822, {16, 32}: 0x3823, {16, 64}: 0x3824, {32, 64}: 0x3825},
	ir.VZxt: {{8, 16}: 0x3830, {8, 32}: 0x3831, {8, 64}: 0x3832, {16, 32}: 0x3833, {16, 64}: 0x3834, {32, 64}: 0x3835},
}

// scalarOps is the opcodes of the scalar float instructions; the prefix tells the width.
var scalarOps = map[ir.Op]uint16{
	ir.FAdd: 0x0f58, ir.FSub: 0x0f5c, ir.FMul: 0x0f59, ir.FDiv: 0x0f5e, ir.FSqrt: 0x0f51,
	ir.FMin: 0x0f5d, ir.FMax: 0x0f5f, ir.FCmp: 0x0fc2,
}

// scalar returns the prefix of scalar float instructions of w bits.
func scalar(w uint8) uint8 {
	if w == 32 {
		return 0xf3
	}
	return 0xf2
}

// loadXMM loads the low w bits of slot s, the rest 0.
func (g *gen) loadXMM(x reg, s ir.Slot, w uint8) {
	o := g.source(s)
	switch {
	case !o.mem:
		g.ins(0x66, w>>6, false, 0x0f6e, x, o) // movd, movq
	case w == 64:
		g.sse(0xf3, 0x0f7e, x, o) // movq
	default:
		g.sse(0x66, 0x0f6e, x, o) // movd
	}
}

// storeXMM makes the low 64 bits of x the value of slot s.
func (g *gen) storeXMM(s ir.Slot, x reg) {
	g.inMemory(s)
	g.sse(0x66, 0x0fd6, x, slot(s))
}

// from is the emitter of an op that needs a processor of that level.
func from(needs level, f func(*gen, *ir.Uop) bool) emitter {
	return func(g *gen, u *ir.Uop, _ int) bool { return needs <= host && f(g, u) }
}

// float is the emitter of a float op of 32 or 64 bits.
func float(f func(*gen, *ir.Uop) bool) emitter {
	return func(g *gen, u *ir.Uop, _ int) bool { return (u.W == 32 || u.W == 64) && f(g, u) }
}

func (g *gen) pair(u *ir.Uop) {
	g.mov(rax, g.read(u.A))
	g.mov(rdx, g.read(u.B))
	if u.Imm&1 != 0 {
		g.shiftImm(64, extShr, direct(rax), 32)
	} else {
		g.load(32, rax, direct(rax))
	}
	if u.Imm&2 != 0 {
		g.shiftImm(64, extShr, direct(rdx), 32)
	}
	g.shiftImm(64, extShl, direct(rdx), 32)
	g.op(64, opOr, rax, direct(rdx))
	g.result(u.D, rax)
}

func (g *gen) align(u *ir.Uop) {
	g.mov(rax, g.read(u.A))
	g.mov(rdx, g.read(u.B))
	if u.Imm == 8 {
		g.mov(rax, rdx)
	} else if u.Imm > 0 {
		g.op(64, 0x0fac, rdx, direct(rax)) // shrd
		g.emit(byte(u.Imm) * 8)
	}
	g.result(u.D, rax)
}

// everySecond is VEven and VOdd, by the order that pshufd brings doublewords in.
func everySecond(order byte) func(*gen, *ir.Uop) bool {
	return func(g *gen, u *ir.Uop) bool {
		if u.W != 16 && u.W != 32 {
			return false
		}
		g.loadBoth(u)
		g.sse(0x66, 0x0f6c, xmm0, direct(xmm1)) // punpcklqdq
		if u.W == 16 {                          // in each quadword the even words first
			g.sse(0xf2, 0x0f70, xmm0, direct(xmm0)) // pshuflw
			g.emit(0xd8)
			g.sse(0xf3, 0x0f70, xmm0, direct(xmm0)) // pshufhw
			g.emit(0xd8)
		}
		g.sse(0x66, 0x0f70, xmm0, direct(xmm0)) // pshufd
		g.emit(order)
		g.storeXMM(u.D, xmm0)
		return true
	}
}

func (g *gen) blend(u *ir.Uop) {
	var k uint64 // of lanes of B
	for i := range 64 / u.W {
		k |= widthMask(u.W) * (u.Imm >> i & 1) << (i * u.W)
	}
	a, b := g.read(u.A), g.read(u.B)
	g.constant(rax, ^k)
	g.op(64, opAnd, rax, direct(a))
	g.constant(rcx, k)
	g.op(64, opAnd, rcx, direct(b))
	g.op(64, opOr, rax, direct(rcx))
	g.result(u.D, rax)
}

func (g *gen) shuffle4(u *ir.Uop) {
	g.loadXMM(xmm0, u.A, 64)
	g.sse(0xf2, 0x0f70, xmm0, direct(xmm0))
	g.emit(byte(u.Imm))
	g.storeXMM(u.D, xmm0)
}

func (g *gen) floatOp(u *ir.Uop) bool {
	g.scalarOf(u, u.A, u.B)
	g.storeXMM(u.D, xmm0)
	return true
}

// scalarOf does the instruction of u to a and b, in xmm0.
func (g *gen) scalarOf(u *ir.Uop, a, b ir.Slot) {
	g.loadXMM(xmm0, a, u.W)
	g.loadXMM(xmm1, b, u.W)
	g.sse(scalar(u.W), scalarOps[u.Op], xmm0, direct(xmm1))
}

// floatCompare is FCmp. AVX has predicates that are those of SSE with the operands exchanged, or two of them.
func (g *gen) floatCompare(u *ir.Uop) bool {
	a, b, predicate := u.A, u.B, byte(u.Imm&7)
	switch u.Imm {
	case 8, 12:
		return g.compareTwice(u)
	case 11, 15:
		g.know(u.D, -(u.Imm>>2&1)&(1<<(u.W-1)<<1-1))
		return true
	case 9, 10, 13, 14:
		a, b, predicate = b, a, [...]byte{9: 6, 10: 5, 13: 2, 14: 1}[u.Imm]
	}
	g.scalarOf(u, a, b)
	g.emit(predicate)
	g.storeXMM(u.D, xmm0)
	return true
}

func (g *gen) squareRoot(u *ir.Uop) bool {
	g.loadXMM(xmm0, u.A, u.W)
	g.sse(scalar(u.W), scalarOps[u.Op], xmm0, direct(xmm0))
	g.storeXMM(u.D, xmm0)
	return true
}

// floatFlags is FComi.
func (g *gen) floatFlags(u *ir.Uop) bool {
	g.loadXMM(xmm0, u.A, u.W)
	g.loadXMM(xmm1, u.B, u.W)
	prefix := uint8(0)
	if u.W == 64 {
		prefix = 0x66
	}
	g.sse(prefix, 0x0f2e, xmm0, direct(xmm1))
	g.emit(0x9f)                                    // lahf
	g.ins(0, 0, false, 0x0fb6, rax, direct(reg(4))) // movzx eax, ah
	g.opImm(32, opAnd, direct(rax), ir.FlagZF|ir.FlagPF|ir.FlagCF)
	g.result(u.D, rax)
	return true
}

func (g *gen) fromInt(u *ir.Uop) bool {
	if u.X != 32 && u.X != 64 {
		return false
	}
	g.sse(0, 0x0f57, xmm0, direct(xmm0)) // xorps
	g.ins(scalar(u.W), u.X>>6, false, 0x0f2a, xmm0, direct(g.read(u.A)))
	g.storeXMM(u.D, xmm0)
	return true
}

func (g *gen) toInt(u *ir.Uop) bool {
	if u.X != 32 && u.X != 64 {
		return false
	}
	op := uint16(0x0f2d)
	if u.Imm != 0 {
		op = 0x0f2c
	}
	g.loadXMM(xmm0, u.A, u.W)
	g.ins(scalar(u.W), u.X>>6, false, op, rax, direct(xmm0))
	g.result(u.D, rax)
	return true
}

func (g *gen) convert(u *ir.Uop) bool {
	if u.X != 96-u.W {
		return false
	}
	g.loadXMM(xmm1, u.A, u.W)
	g.sse(0, 0x0f57, xmm0, direct(xmm0))
	g.sse(scalar(u.W), 0x0f5a, xmm0, direct(xmm1))
	g.storeXMM(u.D, xmm0)
	return true
}

// compareTwice is FCmp for equal or unordered, and for neither.
func (g *gen) compareTwice(u *ir.Uop) bool {
	first, second, join := byte(0), byte(3), uint16(0x0f56) // orps
	if u.Imm == 12 {
		first, second, join = 4, 7, 0x0f54 // andps
	}
	g.loadXMM(xmm0, u.A, u.W)
	g.loadXMM(xmm1, u.B, u.W)
	g.sse(scalar(u.W), scalarOps[u.Op], xmm0, direct(xmm1))
	g.emit(first)
	g.loadXMM(xmm2, u.A, u.W)
	g.sse(scalar(u.W), scalarOps[u.Op], xmm2, direct(xmm1))
	g.emit(second)
	g.sse(0, join, xmm0, direct(xmm2))
	g.storeXMM(u.D, xmm0)
	return true
}

func (g *gen) permute(u *ir.Uop) bool {
	g.loadBoth(u)
	g.sse(0x66, 0x0f6c, xmm0, direct(xmm1)) // punpcklqdq
	g.loadXMM(xmm1, u.C, 64)
	g.sse(0x66, 0x3800, xmm0, direct(xmm1)) // pshufb
	g.storeXMM(u.D, xmm0)
	return true
}

func (g *gen) absolute(u *ir.Uop) bool {
	op, ok := map[uint8]uint16{8: 0x381c, 16: 0x381d, 32: 0x381e}[u.W]
	if !ok {
		return false
	}
	g.loadXMM(xmm0, u.A, 64)
	g.sse(0x66, op, xmm0, direct(xmm0))
	g.storeXMM(u.D, xmm0)
	return true
}

// blendBy is VBlendV.
func (g *gen) blendBy(u *ir.Uop) bool {
	op, ok := map[uint8]uint16{8: 0x3810, 32: 0x3814, 64: 0x3815}[u.W]
	if !ok {
		return false
	}
	g.loadXMM(xmm0, u.C, 64)
	g.loadXMM(xmm1, u.A, 64)
	g.addendIn(rcx, u)
	g.ins(0x66, 1, false, 0x0f6e, xmm2, direct(rcx)) // movq
	g.sse(0x66, op, xmm1, direct(xmm2))
	g.storeXMM(u.D, xmm1)
	return true
}

func (g *gen) widen(u *ir.Uop) bool {
	op, ok := extensions[u.Op][[2]uint8{u.W, u.X}]
	if !ok {
		return false
	}
	g.loadXMM(xmm0, u.A, 64)
	if u.Imm != 0 {
		g.sse(0x66, 0x0f73, 3, direct(xmm0)) // psrldq
		g.emit(byte(u.Imm) * u.W / 8)
	}
	g.sse(0x66, op, xmm0, direct(xmm0))
	g.storeXMM(u.D, xmm0)
	return true
}

func (g *gen) round(u *ir.Uop) bool {
	if host < sse41 {
		return false
	}
	g.loadXMM(xmm0, u.A, u.W)
	g.sse(0x66, 0x3a0a|uint16(u.W>>6), xmm0, direct(xmm0)) // roundss, roundsd
	g.emit(byte(u.Imm & 7))
	g.storeXMM(u.D, xmm0)
	return true
}

func (g *gen) crc32(u *ir.Uop) bool {
	if !natural(u.W) {
		return false
	}
	g.addendIn(rcx, u)
	g.mov(rax, g.read(u.A))
	if u.W == 16 {
		g.emit(0x66)
	}
	op := uint16(0x38f1)
	if u.W == 8 {
		op = 0x38f0
	}
	g.ins(0xf2, u.W>>6, false, op, rax, direct(rcx))
	g.load(32, rax, direct(rax))
	g.result(u.D, rax)
	return true
}

func (g *gen) popcnt(u *ir.Uop) bool {
	g.mov(rax, g.read(u.A))
	g.mask(rax, u.W)
	g.ins(0xf3, 1, false, 0x0fb8, rax, direct(rax))
	g.result(u.D, rax)
	return true
}

// loadBoth loads the operands of a lane op.
func (g *gen) loadBoth(u *ir.Uop) {
	g.loadXMM(xmm0, u.A, 64)
	if u.Imm == 0 || ir.RowOf(u.Op).Param {
		g.loadXMM(xmm1, u.B, 64)
		return
	}
	g.addendIn(rcx, u)
	g.ins(0x66, 1, false, 0x0f6e, xmm1, direct(rcx)) // movq
}

// lane compiles an op of laneOps; false if the host is below its level.
func (g *gen) lane(u *ir.Uop, in instr) bool {
	if in.needs > host {
		return false
	}
	g.loadBoth(u)
	s := xmm1
	switch u.Op {
	case ir.VPackSS, ir.VPackUS:
		g.sse(0x66, 0x0f6c, xmm0, direct(xmm1)) // punpcklqdq
	case ir.VMinPos:
		g.sse(0x66, 0x0f6c, xmm0, direct(xmm1))
		s = xmm0
	}
	g.sse(in.prefix, in.op, xmm0, direct(s))
	if u.Op == ir.VMpsad {
		g.emit(0)
	}
	if u.Op == ir.VZipHi {
		g.sse(0x66, 0x0f73, 3, direct(xmm0)) // psrldq
		g.emit(8)
	}
	g.storeXMM(u.D, xmm0)
	return true
}

// signs is VMsk.
func (g *gen) signs(u *ir.Uop) bool {
	in, ok := map[uint8]instr{8: {0x66, 0x0fd7, sse2}, 32: {0, 0x0f50, sse2}, 64: {0x66, 0x0f50, sse2}}[u.W]
	if !ok {
		return false
	}
	g.loadBoth(u)
	g.sse(0x66, 0x0f6c, xmm0, direct(xmm1)) // punpcklqdq
	g.sse(in.prefix, in.op, rax, direct(xmm0))
	g.result(u.D, rax)
	return true
}

// bits is VBits: all bits in every lane, cut to the lane's own, which is there or not.
func (g *gen) bits(u *ir.Uop) bool {
	in, ok := laneOps[ir.VEq][u.W]
	if !ok || in.needs > host {
		return false
	}
	var own uint64
	for i := range 64 / u.W {
		own |= 1 << (i + i*u.W)
	}
	g.mov(rax, g.read(u.A))
	g.shiftImm(64, extShr, direct(rax), uint8(u.Imm&63))
	g.mask(rax, 64/u.W)
	g.constant(rcx, ^uint64(0)/widthMask(u.W))
	g.wideOp(64, 0x0faf, rax, direct(rcx)) // imul
	g.constant(rcx, own)
	g.op(64, opAnd, rax, direct(rcx))
	g.ins(0x66, 1, false, 0x0f6e, xmm0, direct(rax)) // movq
	g.ins(0x66, 1, false, 0x0f6e, xmm1, direct(rcx))
	g.sse(in.prefix, in.op, xmm0, direct(xmm1))
	g.storeXMM(u.D, xmm0)
	return true
}
