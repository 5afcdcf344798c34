package model

import (
	"symchef/internal/cpu"
	"symchef/internal/ir"
)

// Search for a byte, forward and backward: memchr, memrchr, strchr, strlen, strnlen, strpbrk, strspn and strcspn are one search that ends
// at the first byte of some set, or of all others, and differ in what that byte's index becomes.

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
