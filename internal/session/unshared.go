package session

import (
	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/interp"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// unshared models an interpreter that keeps one string object per content, but compares the contents of objects that are not marked as
// such. Symbolic characters make an object of their own without the mark, instead of one path per place in the table of
// strings that their hash may have: the stock allocator makes the object, and on its return (at trampoline) it gets the bytes.
type unshared struct {
	n          map[string]uint64 // the description's numbers
	allocate   uint64
	trampoline uint64
}

// newUnshared returns the hooks of the model, by address.
func newUnshared(md interp.Model, trampoline uint64) map[uint64]exec.Hook {
	u := &unshared{md.Numbers, md.Places["allocate"], trampoline}
	return map[uint64]exec.Hook{md.Slot: u.make, trampoline: u.made}
}

// The frame that make leaves on the stack for made, by offset from the stack pointer: the return address, then these.
const (
	unsharedBytes  = 8
	unsharedLength = 16
	unsharedFlags  = 24
	unsharedSize   = 64 // keeps the alignment of the stack
)

// make is the entry of f(bytes=rdi, length=esi, encoding=edx).
func (u *unshared) make(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	for _, r := range []ir.Slot{ir.RDI, ir.RSI, ir.RDX} {
		if stop := m.Fix(c, r); stop != nil {
			return false, stop
		}
	}
	name, n := c.R[ir.RDI], uint64(uint32(c.R[ir.RSI]))
	if n == 0 || n > 1<<30 || !s.HasSym(name, n) {
		return false, nil
	}
	b, err := s.ReadSym(name, int(n))
	if err != nil {
		return false, nil
	}
	e := m.Ctx
	nul, wide := e.Const(0, 1), e.Const(0, 1)
	for i := range b.Data {
		x := m.Word(b.Slice(i, i+1))
		nul = e.Or(nul, e.Eq(x, e.Const(0, 8)))
		wide = e.Or(wide, e.Ule(e.Const(0x80, 8), x))
	}
	if yes, stop := m.Holds(c, nul); yes || stop != nil {
		return false, stop // an error, which the stock function raises
	}
	flags := u.n["ascii"]
	if yes, stop := m.Holds(c, wide); stop != nil {
		return false, stop
	} else if yes {
		flags = map[uint64]uint64{1: u.n["utf8"], 2: u.n["latin1"], 3: u.n["bytes"]}[uint64(uint32(c.R[ir.RDX]))]
	}
	sp := c.R[ir.RSP] - unsharedSize
	w := words{s: s}
	for _, x := range [][2]uint64{{0, u.trampoline}, {unsharedBytes, name}, {unsharedLength, n}, {unsharedFlags, flags}} {
		w.write(sp+x[0], x[1], 8)
	}
	if w.err != nil {
		return false, w.stop(c)
	}
	c.Set(ir.RSP, sp)
	c.Set(ir.RDI, u.n["kind"])
	c.Set(ir.RSI, n)
	c.Set(ir.RDX, 0)
	c.PC = u.allocate
	return true, nil
}

// made runs when the stock allocator has returned the object in rax.
func (u *unshared) made(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	sp, at := c.R[ir.RSP]-8, c.R[ir.RAX]
	w := words{s: s}
	name, n, flags := w.read(sp+unsharedBytes), w.read(sp+unsharedLength), w.read(sp+unsharedFlags)
	old, err1 := s.ReadU(at+u.n["flags"], 2)
	b, err2 := s.ReadSym(name, int(n))
	for _, err := range []error{err1, err2} {
		if w.err == nil {
			w.err = err
		}
	}
	if w.err == nil {
		w.err = s.WriteSym(at+u.n["payload"], b)
	}
	w.write(at+u.n["flags"], old|flags, 2)
	if w.err != nil {
		return false, w.stop(c)
	}
	c.Set(ir.RSP, sp+unsharedSize)
	return ret(c, s, at), nil
}
