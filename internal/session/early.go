package session

import (
	"bytes"
	"math"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// maxEarly bounds the bytes of an operand that a model without early exit looks at.
const maxEarly = 1024

// early are models of C functions that stop at the first byte that settles their result. Where that byte
// depends on symbolic ones, their code splits the path at each of them; a model gives the result as one expression,
// and the path splits where the program uses it. The result is to the bit what glibc's code for a baseline
// x86-64 processor returns in rax: comparisons return the difference of the first two bytes that differ.
//
// A model declines, and the code runs, where all operands are concrete; where a pointer is symbolic; and where the
// result is not settled within maxEarly bytes, or not before memory that cannot be read.
var early = map[string]func(x *scan, c *cpu.CPU) bool{
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

// earlyExit is the hook of such a function in area a. The address means nothing to a process that has something else there.
func earlyExit(f func(*scan, *cpu.CPU) bool, a mem.Area) exec.Hook {
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
		v, r := x.result()
		done := ret(c, s, v)
		if _, isConst := x.e.IsConst(r); done && !isConst {
			c.SetSym(ir.RAX, v, r)
		}
		return done, nil
	}
}

// value is a number under the current assignment and as an expression.
type value struct {
	v uint64
	r expr.Ref
}

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
func (x *scan) result() (uint64, expr.Ref) {
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
	return v, r
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

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

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

// stop says which bytes end a search, those of set or all others, and the result by the index of such a byte.
type stop struct {
	set    []value
	others bool
	of     func(i uint64) uint64
}

func stopAt(of func(i uint64) uint64, set ...value) stop { return stop{set, false, of} }

// stops is whether b is such a byte.
func (x *scan) stops(k stop, b value) value {
	is := value{0, x.e.Const(0, 1)}
	for _, a := range k.set {
		same := x.equal(a, b)
		is.v |= same.v
		is.r = x.e.Or(is.r, same.r)
	}
	if k.others {
		is.v, is.r = 1-is.v, x.e.Not(is.r)
	}
	return is
}

// set is the string in rsi; false if it is not concrete.
func (x *scan) set(c *cpu.CPU) (set []value, ok bool) {
	t := stretch{at: c.R[ir.RSI]}
	for i := uint64(0); !c.Sym.Has(ir.RSI); i++ {
		b, ok := x.byte(&t, i)
		if _, isConst := x.e.IsConst(b.r); !ok || !isConst {
			return nil, false
		}
		if b.v == 0 {
			return set, true
		}
		set = append(set, b)
	}
	return nil, false
}

func null(uint64) uint64                { return 0 }
func index(i uint64) uint64             { return i }
func (x *scan) address(i uint64) uint64 { return x.at + i }

// number is a concrete result.
func (x *scan) number(v uint64) value { return value{v, x.e.Const(v, 64)} }

// find looks for the first of stops in at most n bytes; end is the result if there is none.
func (x *scan) find(n limit, stops []stop, end func(i uint64) uint64) bool {
	concrete := n.r == 0
	var first []value // one of these comes no sooner than the end of the search
	for _, k := range stops {
		for _, a := range k.set {
			_, isConst := x.e.IsConst(a.r)
			concrete = concrete && isConst
		}
		if k.others {
			first = append(first, x.constant(0))
		} else {
			first = append(first, k.set...)
		}
	}
	if concrete && x.plain(x.at, n, first...) {
		return false
	}
	t := stretch{at: x.at}
	for i := uint64(0); ; i++ {
		if x.over(n, i, x.number(end(i))) {
			return true
		}
		b, ok := x.byte(&t, i)
		if !ok {
			return false
		}
		for _, k := range stops {
			if x.exit(x.stops(k, b), x.number(k.of(i))) {
				return true
			}
		}
	}
}

// findLast is memrchr.
func (x *scan) findLast(n limit, at value) bool {
	_, isConst := x.e.IsConst(at.r)
	if n.r != 0 || n.v > maxEarly || isConst && !x.s.HasSym(x.at, n.v) {
		return false
	}
	x.last = x.number(0)
	t := stretch{at: x.at}
	for i := n.v; i > 0; i-- {
		b, ok := x.byte(&t, i-1)
		if !ok {
			return false
		}
		if x.exit(x.equal(b, at), x.number(x.at+i-1)) {
			return true
		}
	}
	return true
}

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

// maxDecimal bounds the numbers for which decimalWidth gives what a logarithm rounded to a double does.
const maxDecimal = 1_000_000_000_000_000

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
	done := ret(c, s, width.v)
	if _, isConst := e.IsConst(width.r); done && !isConst {
		c.SetSym(ir.RAX, width.v, width.r)
	}
	return done, nil
}
