package model

import (
	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Strings beside the table of strings: an interpreter keeps one object per content there, but compares the contents of objects that are not
// marked as being in it. Symbolic characters make an object of their own without the mark, instead of one path per place in the table
// that their hash may have: the stock allocator makes the object, and on its return (at trampoline) it gets the bytes.
//
// Exact, because the interpreter itself makes such objects, and looks at the mark wherever it compares addresses. The object is the one that the
// stock function makes but for the mark: length, encoding, bytes. Where the stock function raises an error (a NUL among the bytes), it runs.
//
// Test: TestUnshared makes strings in the interpreter by both, all short ones over a small alphabet and random ones, in every encoding,
// compares the objects, and asks the interpreter whether they are equal.

// unshared is the model of one binding.
type unshared struct {
	n          map[string]uint64 // the description's numbers
	allocate   uint64
	trampoline uint64
}

// newUnshared returns the hooks of the model, by address.
func newUnshared(b Binding, trampoline uint64) map[uint64]exec.Hook {
	u := &unshared{b.Numbers, b.place("allocate"), trampoline}
	return map[uint64]exec.Hook{b.Slot: u.make, trampoline: u.made}
}

// The frame that make leaves for made, by offset.
const (
	unsharedBytes  = 8
	unsharedLength = 16
	unsharedFlags  = 24
)

// make is the entry of f(bytes=rdi, length=esi, encoding=edx).
func (u *unshared) make(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := fix(m, c, ir.RDI, ir.RSI, ir.RDX); stop != nil {
		return false, stop
	}
	name, n := c.R[ir.RDI], uint64(uint32(c.R[ir.RSI]))
	encoding := uint64(uint32(c.R[ir.RDX]))
	if n == 0 || n > 1<<30 || encoding > 3 || !s.HasSym(name, n) {
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
		flags = map[uint64]uint64{1: u.n["utf8"], 2: u.n["latin1"], 3: u.n["bytes"]}[encoding]
	}
	w := words{s: s}
	if stop := push(c, &w, [2]uint64{0, u.trampoline}, [2]uint64{unsharedBytes, name}, [2]uint64{unsharedLength, n}, [2]uint64{unsharedFlags, flags}); stop != nil {
		return false, stop
	}
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
	old, err := s.ReadU(at+u.n["flags"], 2)
	w.note(err)
	b, err := s.ReadSym(name, int(n))
	w.note(err)
	if w.err == nil {
		w.note(s.WriteSym(at+u.n["payload"], b))
	}
	w.write(at+u.n["flags"], old|flags, 2)
	return pop(c, &w, sp, at)
}
