package model

import (
	"bytes"
	"math"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// scan computes a result that is the value of the first exit whose condition holds.
type scan struct {
	e     *expr.Ctx
	s     *mem.Space
	at    uint64 // the first operand
	exits []exit
	last  value // the result where none of exits holds
	diff  bool  // results are differences of bytes, 9 bits wide
}

type exit struct {
	cond  value
	value value
}

// exit adds one; true if it always holds, so that none comes after it.
func (x *scan) exit(cond, v value) bool {
	switch k, isConst := x.e.IsConst(cond.r); {
	case !isConst:
		x.exits = append(x.exits, exit{cond, v})
	case k != 0:
		x.last = v
		return true
	}
	return false
}

// result is the function's, 64 bits wide.
func (x *scan) result() value {
	v, r := x.last.v, x.last.r
	for i := len(x.exits) - 1; i >= 0; i-- {
		k := x.exits[i]
		if k.cond.v != 0 {
			v = k.value.v
		}
		r = x.e.Ite(k.cond.r, k.value.r, r)
	}
	if x.diff {
		r = x.e.ZExt(x.e.SExt(r, 32), 64)
	}
	return value{v, r}
}

func (x *scan) constant(b byte) value { return value{uint64(b), x.e.Const(uint64(b), 8)} }

// needle is the byte in rsi.
func (x *scan) needle(c *cpu.CPU) value {
	if !c.Sym.Has(ir.RSI) {
		return x.constant(byte(c.R[ir.RSI]))
	}
	return value{c.R[ir.RSI] & 0xff, x.e.Extract(c.S[ir.RSI], 0, 8)}
}

func (x *scan) equal(a, b value) value { return value{b2u(a.v == b.v), x.e.Eq(a.r, b.r)} }

// limit is a number of bytes that lies between lo and hi.
type limit struct {
	value
	lo, hi uint64
}

var noLimit = limit{lo: math.MaxUint64, hi: math.MaxUint64}

func (x *scan) limit(c *cpu.CPU, r ir.Slot) limit {
	n := limit{value: value{v: c.R[r]}, lo: c.R[r], hi: c.R[r]}
	if c.Sym.Has(r) {
		n.r = c.S[r]
		n.lo, n.hi = x.e.Range(n.r)
	}
	return n
}

// over adds the exit of a search that has looked at i bytes and may look at no more; true if it is the last.
func (x *scan) over(n limit, i uint64, v value) bool {
	switch {
	case i < n.lo:
		return false
	case i >= n.hi:
		x.last = v
		return true
	}
	return x.exit(value{b2u(n.v <= i), x.e.Ule(n.r, x.e.Const(i, 64))}, v)
}

// stretch is memory from at on, read as far as it is needed.
type stretch struct {
	at uint64
	b  mem.Bytes
}

const pieceSize = 64

// piece is how many bytes at an address are read together: they are readable or not as a whole.
func piece(at uint64) uint64 { return min(pieceSize, mem.GranuleSize-at%mem.GranuleSize) }

// byte is the i-th byte; false if it cannot be read or is too far away.
func (x *scan) byte(t *stretch, i uint64) (value, bool) {
	if i >= maxEarly {
		return value{}, false
	}
	for i >= uint64(len(t.b.Data)) {
		at := t.at + uint64(len(t.b.Data))
		b, err := x.s.ReadSym(at, int(piece(at)))
		if err != nil {
			return value{}, false
		}
		if b.Sym == nil {
			b.Sym = make([]expr.Ref, len(b.Data))
		}
		t.b = mem.Bytes{Data: append(t.b.Data, b.Data...), Sym: append(t.b.Sym, b.Sym...)}
	}
	if r := t.b.Sym[i]; r != 0 {
		return value{uint64(t.b.Data[i]), r}, true
	}
	return x.constant(t.b.Data[i]), true
}

// plain reports whether no byte is symbolic up to the first of stops, the limit, or the end of what a model looks at.
func (x *scan) plain(at uint64, n limit, stops ...value) bool {
	if len(stops) == 0 {
		return !x.s.HasSym(at, min(n.hi, maxEarly))
	}
	var buf [pieceSize]byte
	for end := at + min(n.hi, maxEarly); at < end; at += piece(at) {
		b := buf[:min(piece(at), end-at)]
		if x.s.HasSym(at, uint64(len(b))) {
			return false
		}
		if x.s.Read(at, b) != nil {
			break
		}
		for _, k := range stops {
			if bytes.IndexByte(b, byte(k.v)) >= 0 {
				return true
			}
		}
	}
	return true
}
