package model

import (
	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Numbers as text: how wide one is.
//
// Exact, because below maxDecimal the stock function, the logarithm of n+0.5 in doubles rounded down, gives the number of digits. (Of
// 10^15-1 and 10^15-2 it gives one more: the logarithm is rounded to 15.) The path decides whether the number is below; above, the code runs.
//
// Test: TestDecimalWidth executes the stock function at, below and above every power of ten, on random numbers, and on all small ones.

// maxDecimal bounds the numbers for which decimalWidth gives what a logarithm rounded to a double does.
const maxDecimal = 100_000_000_000_000

func newDecimalWidth(b Binding, _ uint64) map[uint64]exec.Hook {
	hooks := map[uint64]exec.Hook{}
	for _, at := range b.Places["width"] {
		hooks[at] = decimalWidth
	}
	return hooks
}

// decimalWidth models f(n=rdi): how many decimal digits a number n >= 0 has, none for 0, as an expression in place of a logarithm.
func decimalWidth(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if !c.Sym.Has(ir.RDI) {
		return false, nil
	}
	e, n := m.Ctx, value{c.R[ir.RDI], c.S[ir.RDI]}
	if yes, stop := m.Holds(c, e.Ult(n.r, e.Const(maxDecimal, 64))); !yes || stop != nil {
		return false, stop
	}
	width := value{0, e.Const(0, 64)}
	for power := uint64(1); power < maxDecimal; power *= 10 {
		width.v += b2u(n.v >= power)
		width.r = e.Add(width.r, e.ZExt(e.Ule(e.Const(power, 64), n.r), 64))
	}
	return retValue(m, c, s, width), nil
}
