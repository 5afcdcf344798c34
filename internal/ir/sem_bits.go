package ir

import (
	"math/bits"

	"symchef/internal/expr"
)

// Pext and Pdep (SDM vol. 2, PEXT, PDEP).

// moves returns, for each power of two, which bits of a value move down by that many places when those of mask m are pushed
// together (Warren, Hacker's Delight, 2nd edition, 7-4).
func moves(m uint64) (list [6]uint64) {
	k := ^m << 1 // zeros below each bit are counted
	for i := range list {
		p := k // bit i: the parity of bits 0 to i of k
		for s := uint(1); s < 64; s *= 2 {
			p ^= p << s
		}
		list[i] = p & m
		m = m ^ list[i] | list[i]>>(1<<i)
		k &^= p
	}
	return list
}

func pext(a, m, _ uint64, w, _ uint, _ uint64) uint64 {
	m &= expr.Mask(w)
	a &= m
	for i, move := range moves(m) {
		t := a & move
		a = a ^ t | t>>(1<<i)
	}
	return a
}

func pdep(a, m, _ uint64, w, _ uint, _ uint64) uint64 {
	m &= expr.Mask(w)
	list := moves(m)
	for i := len(list) - 1; i >= 0; i-- {
		a = a&^list[i] | a<<(1<<i)&list[i]
	}
	return a & m
}

// symMoves is moves of an expression.
func symMoves(e *expr.Ctx, m expr.Ref) (list []expr.Ref) {
	w := e.Width(m)
	left := func(r expr.Ref, n uint) expr.Ref { return e.Shl(r, e.Const(uint64(n), w)) }
	k := left(e.Not(m), 1) // zeros below each bit are counted
	for n := uint(1); n < w; n *= 2 {
		p := k // bit i: the parity of bits 0 to i of k
		for s := uint(1); s < w; s *= 2 {
			p = e.Xor(p, left(p, s))
		}
		move := e.And(p, m)
		list = append(list, move)
		m = e.Or(e.Xor(m, move), e.LShr(move, e.Const(uint64(n), w)))
		k = e.And(k, e.Not(p))
	}
	return list
}

func symPext(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
	x, m := low(e, a, w), low(e, b, w)
	if v, known := e.IsConst(m); known {
		r, at := expr.Ref(0), uint(0)
		for ; v != 0; v &= v - 1 {
			bit := e.Extract(x, uint(bits.TrailingZeros64(v)), 1)
			if at++; at == 1 {
				r = bit
			} else {
				r = e.Concat(bit, r)
			}
		}
		if at == 0 {
			return e.Const(0, 64)
		}
		return e.ZExt(r, 64)
	}
	x = e.And(x, m)
	for i, move := range symMoves(e, m) {
		t := e.And(x, move)
		x = e.Or(e.Xor(x, t), e.LShr(t, e.Const(1<<i, w)))
	}
	return e.ZExt(x, 64)
}

func symPdep(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
	x, m := low(e, a, w), low(e, b, w)
	if v, known := e.IsConst(m); known {
		at := uint(0)
		r := symLanes(e, w, func(i uint) expr.Ref {
			if v>>i&1 == 0 {
				return e.Const(0, 1)
			}
			at++
			return e.Extract(x, at-1, 1)
		})
		return e.ZExt(r, 64)
	}
	list := symMoves(e, m)
	for i := len(list) - 1; i >= 0; i-- {
		up := e.Shl(x, e.Const(1<<i, w))
		x = e.Or(e.And(x, e.Not(list[i])), e.And(up, list[i]))
	}
	return e.ZExt(e.And(x, m), 64)
}

func init() {
	define(Pext, Row{Name: "pext", Args: 2, Eval: pext, Sym: symPext})
	define(Pdep, Row{Name: "pdep", Args: 2, Eval: pdep, Sym: symPdep})
}
