package exec

import (
	"errors"
	"fmt"
	"math/bits"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// masks holds the low-bits mask of each width.
var masks = func() (t [256]uint64) {
	for w := range t {
		t[w] = expr.Mask(uint(w))
	}
	return
}()

// fast runs a block that meets no symbolic slot, from uop i up to its terminator, whose
// index it returns with ok; otherwise the index of the uop that could not be completed.
func (m *Machine) fast(c *cpu.CPU, s *mem.Space, blk *ir.Block, i int) (int, status) {
	r := &c.R
	us := blk.Uops
	for ; i < len(us); i++ {
		u := &us[i]
		switch u.Op {
		case ir.Mov:
			r[u.D] = (r[u.B] + u.Imm) & masks[u.W]
		case ir.Lea:
			r[u.D] = (r[u.A] + r[u.B]<<(u.Scale&3) + u.Imm) & masks[u.W]
		case ir.Load:
			addr := r[u.A] + r[u.B]<<(u.Scale&3) + u.Imm
			if p := m.native.Read.Find(addr, uint64(u.W>>3)); p != nil && !m.share.on {
				r[u.D] = get(p, addr&granMask, u.W)
				continue
			}
			m.at(blk, i)
			v, st := m.load(s, addr, u.W)
			if st != ok {
				return i, st
			}
			r[u.D] = v
		case ir.Store:
			addr := r[u.A] + r[u.B]<<(u.Scale&3) + u.Imm
			if p := m.native.Write.Find(addr, uint64(u.W>>3)); p != nil && !m.share.on {
				put(p, addr&granMask, u.W, r[u.C])
				continue
			}
			m.at(blk, i)
			if st := m.store(s, addr, u.W, r[u.C]); st != ok {
				return i, st
			}
		case ir.Add:
			r[u.D] = (r[u.A] + r[u.B] + u.Imm) & masks[u.W]
		case ir.Sub:
			r[u.D] = (r[u.A] - (r[u.B] + u.Imm)) & masks[u.W]
		case ir.And:
			r[u.D] = r[u.A] & (r[u.B] + u.Imm) & masks[u.W]
		case ir.Or:
			r[u.D] = (r[u.A] | (r[u.B] + u.Imm)) & masks[u.W]
		case ir.Xor:
			r[u.D] = (r[u.A] ^ (r[u.B] + u.Imm)) & masks[u.W]
		case ir.Shl:
			n := r[u.B] + u.Imm
			v := uint64(0)
			if n&masks[u.W] < uint64(u.W) {
				v = r[u.A] << (n & 63) & masks[u.W]
			}
			r[u.D] = v
		case ir.LShr:
			n := (r[u.B] + u.Imm) & masks[u.W]
			v := uint64(0)
			if n < uint64(u.W) {
				v = r[u.A] & masks[u.W] >> (n & 63)
			}
			r[u.D] = v
		case ir.Get:
			r[u.D] = r[u.A] >> (u.Imm & 63) & masks[u.W]
		case ir.Put:
			k := masks[u.W] << (u.Imm & 63)
			r[u.D] = r[u.B]&^k | r[u.A]<<(u.Imm&63)&k
		case ir.Sx:
			r[u.D] = uint64(int64(r[u.A]<<((64-u.W)&63))>>((64-u.W)&63)) & masks[u.X]
		case ir.Mul:
			r[u.D] = r[u.A] * (r[u.B] + u.Imm) & masks[u.W]
		case ir.SetCC:
			a, b, cc := r[u.A], r[u.B], r[u.C]
			r[ir.CCOp], r[ir.CCA], r[ir.CCB], r[ir.CCC] = u.Imm, a, b, cc
		case ir.SetCCIf:
			if r[u.D]&masks[u.W] != 0 {
				a, b, cc := r[u.A], r[u.B], r[u.C]
				r[ir.CCOp], r[ir.CCA], r[ir.CCB], r[ir.CCC] = u.Imm, a, b, cc
			}
		case ir.Cond:
			v := uint64(0)
			if cond(u.Imm, r) {
				v = 1
			}
			r[u.D] = v
		case ir.Ite:
			v := r[u.C]
			if r[u.A]&masks[u.W] != 0 {
				v = r[u.B] + u.Imm
			}
			r[u.D] = v
		case ir.GetFlags:
			r[u.D] = ir.Flags(ir.CC(r[ir.CCOp]), r[ir.CCA], r[ir.CCB], r[ir.CCC])
		case ir.TrapIf:
			if r[u.A]&masks[u.W] != 0 {
				m.trap = ir.TrapKind(u.Imm)
				return i, trapped
			}
		case ir.SkipIf:
			if r[u.A]&masks[u.W] != 0 {
				return i, ok
			}
		case ir.Helper:
			m.at(blk, i)
			if st := m.helper(c, s, u); st != ok {
				return i, st
			}
		case ir.Jmp, ir.Jcc, ir.Brnz, ir.JmpInd, ir.Syscall, ir.Trap, ir.Unsup:
			return i, ok
		default:
			row := ir.RowOf(u.Op)
			if row == nil {
				panic(fmt.Sprintf("exec: no row for op %d %v in the block at %#x", u.Op, u.Op, blk.PC))
			}
			b := r[u.B]
			if !row.Param {
				b += u.Imm
			}
			r[u.D] = row.Eval(r[u.A], b, r[u.C], uint(u.W), uint(u.X), u.Imm)
		}
	}
	panic("exec: block without terminator")
}

// branch reports whether a Jcc or Brnz is taken, on concrete values.
func (m *Machine) branch(c *cpu.CPU, u *ir.Uop) bool {
	if u.Op == ir.Brnz {
		return c.R[u.A]&masks[u.W] != 0
	}
	return cond(u.Imm, &c.R)
}

// cond evaluates condition code cc of the lazy flags.
func cond(cc uint64, r *[ir.NumSlots]uint64) bool {
	op := ir.CC(r[ir.CCOp])
	switch k := op.Kind(); k {
	case ir.CCSub, ir.CCLogic:
		sh := 64 - op.Width()
		a, b := r[ir.CCA]<<sh, uint64(0)
		if k == ir.CCSub {
			b = r[ir.CCB] << sh
		}
		var v bool
		switch cc &^ 1 {
		case ir.CondE:
			v = a == b
		case ir.CondB:
			v = a < b
		case ir.CondBE:
			v = a <= b
		case ir.CondL:
			v = int64(a) < int64(b)
		case ir.CondLE:
			v = int64(a) <= int64(b)
		case ir.CondS:
			v = int64(a-b) < 0
		case ir.CondP:
			v = bits.OnesCount8(uint8((a-b)>>sh))&1 == 0
		default:
			return ir.TestCond(cc, ir.Flags(op, r[ir.CCA], r[ir.CCB], r[ir.CCC]))
		}
		return v != (cc&1 != 0)
	}
	return ir.TestCond(cc, ir.Flags(op, r[ir.CCA], r[ir.CCB], r[ir.CCC]))
}

// helperView is the ir.Machine that helpers see.
type helperView struct {
	m *Machine
	c *cpu.CPU
	s *mem.Space
}

func (h *helperView) Reg() *[ir.NumSlots]uint64 { return &h.c.R }
func (h *helperView) ReadMem(a uint64, p []byte) error {
	h.m.faultAt = a
	h.m.tell(a, uint64(len(p)), false)
	return h.s.Read(a, p)
}
func (h *helperView) Retired() uint64         { return h.m.sys.Timestamp() }
func (h *helperView) Processor() ir.Processor { return h.m.sys.Processor() }

func (h *helperView) WriteMem(a uint64, p []byte) error {
	h.m.faultAt = a
	h.m.tell(a, uint64(len(p)), true)
	h.m.beforeWrite(a, uint64(len(p)))
	return h.s.Write(a, p)
}

// helper runs a helper on concrete operands; symMem if it would read symbolic memory.
func (m *Machine) helper(c *cpu.CPU, s *mem.Space, u *ir.Uop) status {
	row := &ir.Helpers[u.Imm]
	if row.Mem != nil {
		if addr, rd, wr := row.Mem(u, &c.R); s.HasSym(addr, uint64(max(rd, wr))) {
			return symMem
		}
	}
	return m.runHelper(c, s, u)
}

func (m *Machine) runHelper(c *cpu.CPU, s *mem.Space, u *ir.Uop) status {
	m.view = helperView{m, c, s}
	err := ir.Helpers[u.Imm].Run(u, &m.view)
	m.use(s)
	if err == nil {
		return ok
	}
	var unsup *ir.UnsupportedError
	var trap *ir.TrapError
	switch {
	case errors.As(err, &unsup):
		m.unsup = unsup.What
		return unsupported
	case errors.As(err, &trap):
		m.trap = trap.Kind
		return trapped
	}
	return fault
}
