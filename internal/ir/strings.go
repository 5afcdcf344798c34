package ir

import (
	"math/bits"

	"symchef/internal/expr"
)

// The string compares of SSE4.2, pcmpestri and its three relatives (SDM vol. 1, 12.10 and table 12-3; vol. 2, 4.1). They compare each
// element of a 16-byte string B with those of A, a set, ranges or another string, and reduce the results to one bit for each element of B.
//
// As a helper: A and A+1 are the halves of string A, B and B+1 of B; X is the immediate. W is 0 where zero ends the strings, else the width
// of RAX and RDX, which hold their lengths. D gets the bits (IntRes2 of the manual), D+1 the flags.

// The fields of the immediate.
const (
	stringsWords   = 1 << 0 // elements are words, not bytes
	stringsSigned  = 1 << 1
	stringsNegated = 1 << 4 // the results
	stringsMasked  = 1 << 5 // only within B
)

// Its field for what is compared.
const (
	stringsAny     = iota // with any element of A
	stringsRanges         // with the ranges between elements 0 and 1 of A, 2 and 3, ...
	stringsEach           // with the element of A at the same place
	stringsOrdered        // A from there on
)

func stringsAggregation(imm uint8) uint8 { return imm >> 2 & 3 }

// elementsOf returns how many elements a string has at most, and their width.
func elementsOf(imm uint8) (n, w uint) {
	if imm&stringsWords != 0 {
		return 8, 16
	}
	return 16, 8
}

// Strings is the helper.
var Strings = DefineHelper(HelperRow{
	Name: "strings",
	Slots: func(u *Uop, reads, writes func(Slot)) {
		for _, s := range []Slot{u.A, u.A + 1, u.B, u.B + 1} {
			reads(s)
		}
		if u.W != 0 {
			reads(RAX)
			reads(RDX)
		}
		writes(u.D)
		writes(u.D + 1)
	},
	Run: func(u *Uop, m Machine) error {
		r := m.Reg()
		a, b := [2]uint64{r[u.A], r[u.A+1]}, [2]uint64{r[u.B], r[u.B+1]}
		n, w := elementsOf(u.X)
		la, lb := terminated(a, n, w), terminated(b, n, w)
		if u.W != 0 {
			la, lb = stated(r[RAX], u.W, n), stated(r[RDX], u.W, n)
		}
		r[u.D], r[u.D+1] = compareStrings(a, b, la, lb, u.X)
		return nil
	},
	Sym: func(e *expr.Ctx, u *Uop, of func(Slot) expr.Ref) []expr.Ref {
		n, w := elementsOf(u.X)
		s := symStrings{e: e, a: symElements(e, of(u.A), of(u.A+1), n, w), b: symElements(e, of(u.B), of(u.B+1), n, w)}
		if u.W != 0 {
			s.inA, s.inB = s.stated(of(RAX), u.W), s.stated(of(RDX), u.W)
		} else {
			s.inA, s.inB = s.terminated(s.a), s.terminated(s.b)
		}
		res, flags := s.compare(u.X)
		return []expr.Ref{res, flags}
	},
})

// element returns element i of a string.
func element(s [2]uint64, i, w uint) uint64 { return s[i*w/64] >> (i * w % 64) & expr.Mask(w) }

// terminated returns the length of a string that zero ends.
func terminated(s [2]uint64, n, w uint) uint {
	for i := range n {
		if element(s, i, w) == 0 {
			return i
		}
	}
	return n
}

// stated returns the length that is the magnitude of the low w bits of v.
func stated(v uint64, w uint8, n uint) uint {
	k := expr.SignExtend(v&expr.Mask(uint(w)), uint(w))
	if k < 0 {
		k = -k
	}
	return uint(min(uint64(k), uint64(n)))
}

// compareStrings returns the bits and the flags for strings of la and lb elements.
func compareStrings(a, b [2]uint64, la, lb uint, imm uint8) (res, flags uint64) {
	n, w := elementsOf(imm)
	order := func(v uint64) int64 {
		if imm&stringsSigned != 0 {
			return expr.SignExtend(v, w)
		}
		return int64(v)
	}
	for j := range n {
		x := element(b, j, w)
		holds := false
		switch stringsAggregation(imm) {
		case stringsAny:
			for i := range la {
				holds = holds || j < lb && x == element(a, i, w)
			}
		case stringsRanges:
			for i := uint(0); i+1 < la; i += 2 {
				holds = holds || j < lb && order(element(a, i, w)) <= order(x) && order(x) <= order(element(a, i+1, w))
			}
		case stringsEach:
			holds = j >= la && j >= lb || j < la && j < lb && x == element(a, j, w)
		case stringsOrdered:
			holds = true
			for i := uint(0); i < la && i+j < n; i++ {
				holds = holds && i+j < lb && element(a, i, w) == element(b, i+j, w)
			}
		}
		res |= b2u(holds) << j
	}
	if imm&stringsNegated != 0 {
		of := n
		if imm&stringsMasked != 0 {
			of = lb
		}
		res ^= 1<<of - 1
	}
	return res, b2u(res != 0)*FlagCF | b2u(lb < n)*FlagZF | b2u(la < n)*FlagSF | res&1*FlagOF
}

// symStrings is two strings as expressions: their elements, and of each whether it is in the string.
type symStrings struct {
	e        *expr.Ctx
	a, b     []expr.Ref
	inA, inB []expr.Ref
}

func symElements(e *expr.Ctx, lo, hi expr.Ref, n, w uint) []expr.Ref {
	l := make([]expr.Ref, n)
	for i := range n {
		v := lo
		if i*w >= 64 {
			v = hi
		}
		l[i] = e.Extract(v, i*w%64, w)
	}
	return l
}

func (s *symStrings) terminated(elems []expr.Ref) []expr.Ref {
	e, in := s.e, make([]expr.Ref, len(elems))
	before := e.Const(1, 1)
	for i, v := range elems {
		before = e.And(before, e.Ne(v, e.Const(0, e.Width(v))))
		in[i] = before
	}
	return in
}

func (s *symStrings) stated(v expr.Ref, w uint8) []expr.Ref {
	e, in := s.e, make([]expr.Ref, len(s.a))
	v = e.Extract(v, 0, uint(w))
	length := e.Ite(e.Extract(v, uint(w)-1, 1), e.Neg(v), v) // unsigned: of the least number, too
	for i := range in {
		in[i] = e.Ult(e.Const(uint64(i), uint(w)), length)
	}
	return in
}

// all and any are the conjunction and the disjunction.
func (s *symStrings) all(l ...expr.Ref) expr.Ref {
	r := s.e.Const(1, 1)
	for _, v := range l {
		r = s.e.And(r, v)
	}
	return r
}

func (s *symStrings) any(l ...expr.Ref) expr.Ref {
	r := s.e.Const(0, 1)
	for _, v := range l {
		r = s.e.Or(r, v)
	}
	return r
}

// element returns the bit for element j of b before negation.
func (s *symStrings) element(j int, imm uint8) expr.Ref {
	e := s.e
	less := e.Ult
	if imm&stringsSigned != 0 {
		less = e.Slt
	}
	var terms []expr.Ref
	switch stringsAggregation(imm) {
	case stringsAny:
		for i := range s.a {
			terms = append(terms, s.all(s.inA[i], e.Eq(s.b[j], s.a[i])))
		}
		return e.And(s.inB[j], s.any(terms...))
	case stringsRanges:
		for i := 0; i < len(s.a); i += 2 {
			terms = append(terms, s.all(s.inA[i+1], e.Not(less(s.b[j], s.a[i])), e.Not(less(s.a[i+1], s.b[j]))))
		}
		return e.And(s.inB[j], s.any(terms...))
	case stringsEach:
		in := e.And(s.inA[j], s.inB[j])
		out := e.And(e.Not(s.inA[j]), e.Not(s.inB[j]))
		return e.Or(out, e.And(in, e.Eq(s.b[j], s.a[j])))
	}
	for i := 0; i+j < len(s.b); i++ {
		terms = append(terms, e.Or(e.Not(s.inA[i]), e.And(s.inB[i+j], e.Eq(s.b[i+j], s.a[i]))))
	}
	return s.all(terms...)
}

func (s *symStrings) compare(imm uint8) (res, flags expr.Ref) {
	e, n := s.e, len(s.b)
	word := symLanes(e, uint(n), func(i uint) expr.Ref {
		v := s.element(int(i), imm)
		switch imm & (stringsNegated | stringsMasked) {
		case stringsNegated:
			return e.Not(v)
		case stringsNegated | stringsMasked:
			return e.Xor(v, s.inB[i])
		}
		return v
	})
	bit := map[int]expr.Ref{
		bits.TrailingZeros64(FlagCF): e.Ne(word, e.Const(0, uint(n))),
		bits.TrailingZeros64(FlagZF): e.Not(s.inB[n-1]),
		bits.TrailingZeros64(FlagSF): e.Not(s.inA[n-1]),
		bits.TrailingZeros64(FlagOF): e.Extract(word, 0, 1),
	}
	f := symLanes(e, 64, func(i uint) expr.Ref {
		if v, ok := bit[int(i)]; ok {
			return v
		}
		return e.Const(0, 1)
	})
	return e.ZExt(word, 64), f
}
