package jit

import "symchef/internal/ir"

// The registers of lane and float ops.
const (
	xmm0 reg = 0
	xmm1 reg = 1
)

// instr is an SSE instruction on xmm registers: prefix and opcode.
type instr struct {
	prefix uint8
	op     uint16
}

// laneOps is the instructions of SSE2 that are a lane op of a width (SDM vol. 2, PADDB and following).
var laneOps = map[ir.Op]map[uint8]instr{
	ir.VAdd:    {8: {0x66, 0x0ffc}, 16: {0x66, 0x0ffd}, 32: {0x66, 0x0ffe}, 64: {0x66, 0x0fd4}},
	ir.VSub:    {8: {0x66, 0x0ff8}, 16: {0x66, 0x0ff9}, 32: {0x66, 0x0ffa}, 64: {0x66, 0x0ffb}},
	ir.VMul:    {16: {0x66, 0x0fd5}},
	ir.VMulHU:  {16: {0x66, 0x0fe4}},
	ir.VMulHS:  {16: {0x66, 0x0fe5}},
	ir.VAddSS:  {8: {0x66, 0x0fec}, 16: {0x66, 0x0fed}},
	ir.VAddUS:  {8: {0x66, 0x0fdc}, 16: {0x66, 0x0fdd}},
	ir.VSubSS:  {8: {0x66, 0x0fe8}, 16: {0x66, 0x0fe9}},
	ir.VSubUS:  {8: {0x66, 0x0fd8}, 16: {0x66, 0x0fd9}},
	ir.VEq:     {8: {0x66, 0x0f74}, 16: {0x66, 0x0f75}, 32: {0x66, 0x0f76}},
	ir.VGtS:    {8: {0x66, 0x0f64}, 16: {0x66, 0x0f65}, 32: {0x66, 0x0f66}},
	ir.VMinU:   {8: {0x66, 0x0fda}},
	ir.VMaxU:   {8: {0x66, 0x0fde}},
	ir.VMinS:   {16: {0x66, 0x0fea}},
	ir.VMaxS:   {16: {0x66, 0x0fee}},
	ir.VAvgU:   {8: {0x66, 0x0fe0}, 16: {0x66, 0x0fe3}},
	ir.VMAdd:   {32: {0x66, 0x0ff5}},
	ir.VSad:    {64: {0x66, 0x0ff6}},
	ir.VShl:    {16: {0x66, 0x0ff1}, 32: {0x66, 0x0ff2}, 64: {0x66, 0x0ff3}},
	ir.VShr:    {16: {0x66, 0x0fd1}, 32: {0x66, 0x0fd2}, 64: {0x66, 0x0fd3}},
	ir.VSar:    {16: {0x66, 0x0fe1}, 32: {0x66, 0x0fe2}},
	ir.VZipLo:  {8: {0x66, 0x0f60}, 16: {0x66, 0x0f61}, 32: {0x66, 0x0f62}},
	ir.VZipHi:  {8: {0x66, 0x0f60}, 16: {0x66, 0x0f61}, 32: {0x66, 0x0f62}},
	ir.VPackSS: {16: {0x66, 0x0f63}, 32: {0x66, 0x0f6b}},
	ir.VPackUS: {16: {0x66, 0x0f67}},
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

// sseOp compiles the lane and float ops that are one instruction of SSE2, or nearly so.
func (g *gen) sseOp(u *ir.Uop) bool {
	if in, ok := laneOps[u.Op][u.W]; ok {
		g.lane(u, in)
		return true
	}
	if u.Op >= ir.FirstFloat && u.W != 32 && u.W != 64 {
		return false
	}
	switch u.Op {
	case ir.VMsk:
		return g.signs(u)
	case ir.VPair:
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
	case ir.VAlign:
		g.mov(rax, g.read(u.A))
		g.mov(rdx, g.read(u.B))
		if u.Imm == 8 {
			g.mov(rax, rdx)
		} else if u.Imm > 0 {
			g.op(64, 0x0fac, rdx, direct(rax)) // shrd
			g.emit(byte(u.Imm) * 8)
		}
		g.result(u.D, rax)
	case ir.VShuf4:
		g.loadXMM(xmm0, u.A, 64)
		g.sse(0xf2, 0x0f70, xmm0, direct(xmm0))
		g.emit(byte(u.Imm))
		g.storeXMM(u.D, xmm0)
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FMin, ir.FMax, ir.FCmp:
		g.loadXMM(xmm0, u.A, u.W)
		g.loadXMM(xmm1, u.B, u.W)
		g.sse(scalar(u.W), scalarOps[u.Op], xmm0, direct(xmm1))
		if u.Op == ir.FCmp {
			g.emit(byte(u.Imm & 7))
		}
		g.storeXMM(u.D, xmm0)
	case ir.FSqrt:
		g.loadXMM(xmm0, u.A, u.W)
		g.sse(scalar(u.W), scalarOps[u.Op], xmm0, direct(xmm0))
		g.storeXMM(u.D, xmm0)
	case ir.FComi:
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
	case ir.FFromI:
		if u.X != 32 && u.X != 64 {
			return false
		}
		g.sse(0, 0x0f57, xmm0, direct(xmm0)) // xorps
		g.ins(scalar(u.W), u.X>>6, false, 0x0f2a, xmm0, direct(g.read(u.A)))
		g.storeXMM(u.D, xmm0)
	case ir.FToI:
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
	case ir.FCvt:
		if u.X != 96-u.W {
			return false
		}
		g.loadXMM(xmm1, u.A, u.W)
		g.sse(0, 0x0f57, xmm0, direct(xmm0))
		g.sse(scalar(u.W), 0x0f5a, xmm0, direct(xmm1))
		g.storeXMM(u.D, xmm0)
	default:
		return false
	}
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

func (g *gen) lane(u *ir.Uop, in instr) {
	g.loadBoth(u)
	if u.Op == ir.VPackSS || u.Op == ir.VPackUS {
		g.sse(0x66, 0x0f6c, xmm0, direct(xmm1)) // punpcklqdq
	}
	g.sse(in.prefix, in.op, xmm0, direct(xmm1))
	if u.Op == ir.VZipHi {
		g.sse(0x66, 0x0f73, 3, direct(xmm0)) // psrldq
		g.emit(8)
	}
	g.storeXMM(u.D, xmm0)
}

// signs is VMsk.
func (g *gen) signs(u *ir.Uop) bool {
	in, ok := map[uint8]instr{8: {0x66, 0x0fd7}, 32: {0, 0x0f50}, 64: {0x66, 0x0f50}}[u.W]
	if !ok {
		return false
	}
	g.loadBoth(u)
	g.sse(0x66, 0x0f6c, xmm0, direct(xmm1)) // punpcklqdq
	g.sse(in.prefix, in.op, rax, direct(xmm0))
	g.result(u.D, rax)
	return true
}
