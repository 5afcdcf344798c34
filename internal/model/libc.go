package model

import (
	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Functions of the C library that stop at the first byte that settles their result. Where that byte
// depends on symbolic ones, their code splits the path at each of them; a model gives the result as one expression,
// and the path splits where the program uses it.
//
// Exact, because these functions have no effect but their result, and that is to the bit what glibc's code for an x86-64-v2
// processor leaves in rax. One differs, in what C leaves open: memcmp's is the difference of the first two bytes that differ, as glibc's code
// for processors with AVX2 has it, which a native run executes; the SSE2 code, which the machine runs where all is concrete, compares up to
// 16 bytes as words, and its result has that sign. A model declines, and the code runs, where all operands are concrete; where
// a pointer is symbolic; and where the result is not settled within maxEarly bytes, or not before memory that cannot be read: what faults still
// does.
//
// Tests: TestLibcExhaustive compares with glibc's code, executed in the machine, for all short strings over a small alphabet, TestLibcRandom
// with the library natively, for longer ones.

// maxEarly bounds the bytes of an operand that a model without early exit looks at.
const maxEarly = 1024

// libc are the models of functions, by name.
var libc = map[string]func(x *scan, c *cpu.CPU) bool{
	"memcmp":  func(x *scan, c *cpu.CPU) bool { return x.compare(c, x.limit(c, ir.RDX), false) },
	"strcmp":  func(x *scan, c *cpu.CPU) bool { return x.compare(c, noLimit, true) },
	"strncmp": func(x *scan, c *cpu.CPU) bool { return x.compare(c, x.limit(c, ir.RDX), true) },
	"memchr": func(x *scan, c *cpu.CPU) bool {
		return x.find(x.limit(c, ir.RDX), []stop{stopAt(x.address, x.needle(c))}, null)
	},
	"memrchr": func(x *scan, c *cpu.CPU) bool { return x.findLast(x.limit(c, ir.RDX), x.needle(c)) },
	"strchr": func(x *scan, c *cpu.CPU) bool {
		return x.find(noLimit, []stop{stopAt(x.address, x.needle(c)), stopAt(null, x.constant(0))}, null)
	},
	"strlen": func(x *scan, _ *cpu.CPU) bool { return x.find(noLimit, []stop{stopAt(index, x.constant(0))}, index) },
	"strpbrk": func(x *scan, c *cpu.CPU) bool {
		set, ok := x.set(c)
		return ok && x.find(noLimit, []stop{stopAt(x.address, set...), stopAt(null, x.constant(0))}, null)
	},
	"strcspn": func(x *scan, c *cpu.CPU) bool {
		set, ok := x.set(c)
		return ok && x.find(noLimit, []stop{stopAt(index, append(set, x.constant(0))...)}, index)
	},
	"strspn": func(x *scan, c *cpu.CPU) bool {
		set, ok := x.set(c)
		return ok && x.find(noLimit, []stop{{set, true, index}}, index)
	},
	"strnlen": func(x *scan, c *cpu.CPU) bool {
		return x.find(x.limit(c, ir.RSI), []stop{stopAt(index, x.constant(0))}, index)
	},
}

// EarlyExit is the model of a function of the C library in area a; nil: there is none. Its address means nothing to a process that has
// something else there.
func EarlyExit(name string, a mem.Area) exec.Hook {
	f := libc[name]
	if f == nil {
		return nil
	}
	x := &scan{} // programs call these functions all the time
	return func(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
		for _, r := range []ir.Slot{ir.RDI, ir.RSI, ir.RDX} {
			_ = m.Fix(c, r) // as far as the path fixes it
		}
		*x = scan{e: m.Ctx, s: s, at: c.R[ir.RDI], exits: x.exits[:0]}
		if c.Sym.Has(ir.RDI) || !f(x, c) {
			return false, nil
		}
		if b := s.Find(c.PC); b == nil || b.Name != a.Name || b.Start != a.Start || b.Off != a.Off {
			return false, nil
		}
		return retValue(m, c, s, x.result()), nil
	}
}
