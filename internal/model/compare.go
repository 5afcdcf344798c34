package model

import (
	"symchef/internal/cpu"
	"symchef/internal/ir"
)

// Comparison: memcmp, strcmp and strncmp.

// compare is memcmp, or where the bytes are text (they end with NUL) strcmp and strncmp.
func (x *scan) compare(c *cpu.CPU, n limit, text bool) bool {
	var ends []value
	if text {
		ends = append(ends, x.constant(0))
	}
	if c.Sym.Has(ir.RSI) || n.r == 0 && x.plain(c.R[ir.RDI], n, ends...) && x.plain(c.R[ir.RSI], n, ends...) {
		return false
	}
	a, b := stretch{at: c.R[ir.RDI]}, stretch{at: c.R[ir.RSI]}
	x.diff = true
	zero := value{0, x.e.Const(0, 9)}
	for i := uint64(0); ; i++ {
		if x.over(n, i, zero) {
			return true
		}
		p, ok1 := x.byte(&a, i)
		q, ok2 := x.byte(&b, i)
		if !ok1 || !ok2 {
			return false
		}
		d := value{uint64(uint32(p.v - q.v)), x.e.Sub(x.e.ZExt(p.r, 9), x.e.ZExt(q.r, 9))}
		same := x.equal(p, q)
		if x.exit(value{1 - same.v, x.e.Not(same.r)}, d) {
			return true
		}
		if text && x.exit(x.equal(p, x.constant(0)), zero) {
			return true
		}
	}
}
