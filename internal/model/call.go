package model

import (
	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// ret makes the present function return v (System V ABI: in rax).
func ret(c *cpu.CPU, s *mem.Space, v uint64) bool {
	pc, err := s.ReadU(c.R[ir.RSP], 8)
	if err != nil {
		return false
	}
	c.Set(ir.RAX, v)
	c.Set(ir.RSP, c.R[ir.RSP]+8)
	c.PC = pc
	return true
}

// value is a number under the current assignment and as an expression.
type value struct {
	v uint64
	r expr.Ref
}

// retValue is ret of a value of 64 bits.
func retValue(m *exec.Machine, c *cpu.CPU, s *mem.Space, x value) bool {
	if !ret(c, s, x.v) {
		return false
	}
	if _, isConst := m.Ctx.IsConst(x.r); !isConst {
		c.SetSym(ir.RAX, x.v, x.r)
	}
	return true
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// fix makes registers concrete, or returns the decision that is due.
func fix(m *exec.Machine, c *cpu.CPU, registers ...ir.Slot) *exec.Stop {
	for _, r := range registers {
		if stop := m.Fix(c, r); stop != nil {
			return stop
		}
	}
	return nil
}

// A model that goes on when the stock function has returned leaves a frame below that function's stack: first the address to
// which the function shall return, which is one of the model's own, then what the model wants to know there.
const frameSize = 64 // keeps the alignment of the stack

// push leaves a frame of words, each an offset and a value.
func push(c *cpu.CPU, w *words, frame ...[2]uint64) *exec.Stop {
	sp := c.R[ir.RSP] - frameSize
	for _, x := range frame {
		w.write(sp+x[0], x[1], 8)
	}
	if w.err != nil {
		return w.stop(c)
	}
	c.Set(ir.RSP, sp)
	return nil
}

// pop drops the frame at sp, where the stock function has returned to it, and makes the function return v.
func pop(c *cpu.CPU, w *words, sp, v uint64) (bool, *exec.Stop) {
	if w.err != nil {
		return false, w.stop(c)
	}
	c.Set(ir.RSP, sp+frameSize)
	return ret(c, w.s, v), nil
}

// words reads and writes memory; the first error stays.
type words struct {
	s   *mem.Space
	err error
}

func (w *words) read(addr uint64) uint64 {
	v, err := w.s.ReadU(addr, 8)
	w.note(err)
	return v
}

func (w *words) write(addr, v uint64, n int) { w.note(w.s.WriteU(addr, v, n)) }

func (w *words) note(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *words) stop(c *cpu.CPU) *exec.Stop {
	return &exec.Stop{Kind: exec.Unsupported, PC: c.PC, What: "the interpreter's strings: " + w.err.Error()}
}
