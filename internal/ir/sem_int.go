package ir

import (
	"math/bits"

	"symchef/internal/expr"
)

// low returns the low w bits of a as a w-bit expression.
func low(e *expr.Ctx, a expr.Ref, w uint) expr.Ref { return e.Extract(a, 0, w) }

// bin makes a row from a constructor of w-bit operands.
func bin(name string, ev func(a, b uint64, w uint) uint64, sym func(e *expr.Ctx, a, b expr.Ref) expr.Ref) Row {
	return Row{Name: name, Args: 2,
		Eval: func(a, b, _ uint64, w, _ uint, _ uint64) uint64 {
			m := expr.Mask(w)
			return ev(a&m, b&m, w) & m
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return e.ZExt(sym(e, low(e, a, w), low(e, b, w)), 64)
		}}
}

// castagnoli is the polynomial of CRC-32C, bits reversed (SDM vol. 2, CRC32).
const castagnoli = 0x82f63b78

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// rotate builds a rotation by a w-bit count, which need not be constant.
func rotate(left bool) func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
	return func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
		w := e.Width(a)
		n := e.And(b, e.Const(uint64(w-1), w))
		m := e.And(e.Neg(n), e.Const(uint64(w-1), w))
		if !left {
			n, m = m, n
		}
		return e.Or(e.Shl(a, n), e.LShr(a, m))
	}
}

// scanRow makes a row that finds the first bit set. at gives the bits in reverse order of search:
// the last one looked at decides, so the expression is a chain of conditions with constant leaves.
func scanRow(name string, ev func(a uint64, w uint) uint64, at func(w, i uint) uint) Row {
	return Row{Name: name, Args: 1,
		Eval: func(a, _, _ uint64, w, _ uint, _ uint64) uint64 { return ev(a&expr.Mask(w), w) },
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			r := e.Const(uint64(w), 64)
			for i := range w {
				r = e.Ite(e.Extract(a, at(w, i), 1), e.Const(uint64(w-1-i), 64), r)
			}
			return r
		}}
}

// Moves, sums and products.
func init() {
	define(Mov, Row{Name: "mov", Args: 2,
		Eval: func(_, b, _ uint64, w, _ uint, _ uint64) uint64 { return b & expr.Mask(w) },
		Sym:  func(e *expr.Ctx, _, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref { return e.ZExt(low(e, b, w), 64) }})
	// Lea's operands arrive scaled and summed like an address: exec computes it; the row is for W.
	define(Lea, Row{Name: "lea", Args: 2,
		Eval: func(a, b, _ uint64, w, _ uint, _ uint64) uint64 { return (a + b) & expr.Mask(w) },
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return e.ZExt(low(e, e.Add(a, b), w), 64)
		}})
	define(Sx, Row{Name: "sx", Args: 1, Param: true,
		Eval: func(a, _, _ uint64, w, x uint, _ uint64) uint64 { return uint64(expr.SignExtend(a, w)) & expr.Mask(x) },
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, w, x uint, _ uint64) expr.Ref {
			return e.ZExt(e.SExt(low(e, a, w), x), 64)
		}})
	define(Add, bin("add", func(a, b uint64, _ uint) uint64 { return a + b }, (*expr.Ctx).Add))
	define(Sub, bin("sub", func(a, b uint64, _ uint) uint64 { return a - b }, (*expr.Ctx).Sub))
	define(And, bin("and", func(a, b uint64, _ uint) uint64 { return a & b }, (*expr.Ctx).And))
	define(Or, bin("or", func(a, b uint64, _ uint) uint64 { return a | b }, (*expr.Ctx).Or))
	define(Xor, bin("xor", func(a, b uint64, _ uint) uint64 { return a ^ b }, (*expr.Ctx).Xor))
	define(Mul, bin("mul", func(a, b uint64, _ uint) uint64 { return a * b }, (*expr.Ctx).Mul))
	define(MulHU, bin("mulhu", func(a, b uint64, w uint) uint64 {
		hi, lo := bits.Mul64(a, b)
		if w == 64 {
			return hi
		}
		return lo >> w
	}, (*expr.Ctx).MulHU))
	define(MulHS, bin("mulhs", func(a, b uint64, w uint) uint64 {
		x, y := expr.SignExtend(a, w), expr.SignExtend(b, w)
		hi, lo := bits.Mul64(uint64(x), uint64(y))
		if w < 64 {
			return uint64(int64(lo) >> w)
		}
		if x < 0 {
			hi -= uint64(y)
		}
		if y < 0 {
			hi -= uint64(x)
		}
		return hi
	}, (*expr.Ctx).MulHS))
}

// Divisions. By 0 they have a value, as in SMT-LIB; the instruction faults before.
func init() {
	define(UDiv, bin("udiv", func(a, b uint64, _ uint) uint64 {
		if b == 0 {
			return ^uint64(0)
		}
		return a / b
	}, (*expr.Ctx).UDiv))
	define(URem, bin("urem", func(a, b uint64, _ uint) uint64 {
		if b == 0 {
			return a
		}
		return a % b
	}, (*expr.Ctx).URem))
	define(SDiv, bin("sdiv", func(a, b uint64, w uint) uint64 {
		x, y := expr.SignExtend(a, w), expr.SignExtend(b, w)
		switch {
		case y == 0 && x < 0:
			return 1
		case y == 0:
			return ^uint64(0)
		case y == -1:
			return uint64(-x)
		}
		return uint64(x / y)
	}, (*expr.Ctx).SDiv))
	define(SRem, bin("srem", func(a, b uint64, w uint) uint64 {
		x, y := expr.SignExtend(a, w), expr.SignExtend(b, w)
		switch y {
		case 0:
			return a
		case -1:
			return 0
		}
		return uint64(x % y)
	}, (*expr.Ctx).SRem))
}

// Shifts, rotations, complements.
func init() {
	define(Shl, bin("shl", func(a, b uint64, w uint) uint64 {
		if b >= uint64(w) {
			return 0
		}
		return a << b
	}, (*expr.Ctx).Shl))
	define(LShr, bin("lshr", func(a, b uint64, w uint) uint64 {
		if b >= uint64(w) {
			return 0
		}
		return a >> b
	}, (*expr.Ctx).LShr))
	define(AShr, bin("ashr", func(a, b uint64, w uint) uint64 {
		return uint64(expr.SignExtend(a, w) >> min(b, uint64(w-1)))
	}, (*expr.Ctx).AShr))
	define(Rol, bin("rol", func(a, b uint64, w uint) uint64 {
		n := uint(b) & (w - 1)
		return a<<n | a>>(w-n)
	}, rotate(true)))
	define(Ror, bin("ror", func(a, b uint64, w uint) uint64 {
		n := uint(b) & (w - 1)
		return a>>n | a<<(w-n)
	}, rotate(false)))
	define(Not, Row{Name: "not", Args: 1,
		Eval: func(a, _, _ uint64, w, _ uint, _ uint64) uint64 { return ^a & expr.Mask(w) },
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return e.ZExt(e.Not(low(e, a, w)), 64)
		}})
	define(Neg, Row{Name: "neg", Args: 1,
		Eval: func(a, _, _ uint64, w, _ uint, _ uint64) uint64 { return -a & expr.Mask(w) },
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return e.ZExt(e.Neg(low(e, a, w)), 64)
		}})
}

// Bits and bytes of a word: looked for, counted, exchanged, checked.
func init() {
	define(Ctz, scanRow("ctz", func(a uint64, w uint) uint64 {
		if a == 0 {
			return uint64(w)
		}
		return uint64(bits.TrailingZeros64(a))
	}, func(w, i uint) uint { return w - 1 - i }))
	define(Clz, scanRow("clz", func(a uint64, w uint) uint64 {
		return uint64(bits.LeadingZeros64(a)) - uint64(64-w)
	}, func(w, i uint) uint { return i }))
	define(Popcnt, Row{Name: "popcnt", Args: 1,
		Eval: func(a, _, _ uint64, w, _ uint, _ uint64) uint64 { return uint64(bits.OnesCount64(a & expr.Mask(w))) },
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			r := e.Const(0, 64)
			for i := range w {
				r = e.Add(r, e.ZExt(e.Extract(a, i, 1), 64))
			}
			return r
		}})
	define(Bswap, Row{Name: "bswap", Args: 1,
		Eval: func(a, _, _ uint64, w, _ uint, _ uint64) uint64 {
			return bits.ReverseBytes64(a) >> (64 - w)
		},
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			r := low(e, a, 8)
			for i := uint(8); i < w; i += 8 {
				r = e.Concat(r, e.Extract(a, i, 8))
			}
			return e.ZExt(r, 64)
		}})
	define(Crc32, Row{Name: "crc32", Args: 2,
		Eval: func(a, b, _ uint64, w, _ uint, _ uint64) uint64 {
			c := a&expr.Mask(32) ^ b&expr.Mask(w)
			for range w {
				c = c>>1 ^ castagnoli&-(c&1)
			}
			return c
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			c := e.Xor(e.ZExt(low(e, a, 32), 64), e.ZExt(low(e, b, w), 64))
			for range w {
				odd := e.SExt(e.Extract(c, 0, 1), 64)
				c = e.Xor(e.LShr(c, e.Const(1, 64)), e.And(odd, e.Const(castagnoli, 64)))
			}
			return c
		}})
}

// Comparisons, choices, and parts of a slot.
func init() {
	define(Eq, bin("eq", func(a, b uint64, _ uint) uint64 { return b2u(a == b) }, (*expr.Ctx).Eq))
	define(Ult, bin("ult", func(a, b uint64, _ uint) uint64 { return b2u(a < b) }, (*expr.Ctx).Ult))
	define(Slt, bin("slt", func(a, b uint64, w uint) uint64 {
		return b2u(expr.SignExtend(a, w) < expr.SignExtend(b, w))
	}, (*expr.Ctx).Slt))
	define(Ite, Row{Name: "ite", Args: 3,
		Eval: func(a, b, c uint64, w, _ uint, _ uint64) uint64 {
			if a&expr.Mask(w) != 0 {
				return b
			}
			return c
		},
		Sym: func(e *expr.Ctx, a, b, c expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return e.Ite(e.Ne(low(e, a, w), e.Const(0, w)), b, c)
		}})
	define(Get, Row{Name: "get", Args: 1, Param: true,
		Eval: func(a, _, _ uint64, w, _ uint, imm uint64) uint64 { return a >> imm & expr.Mask(w) },
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, w, _ uint, imm uint64) expr.Ref {
			return e.ZExt(e.Extract(a, uint(imm), w), 64)
		}})
	define(Put, Row{Name: "put", Args: 2, Param: true,
		Eval: func(a, b, _ uint64, w, _ uint, imm uint64) uint64 {
			m := expr.Mask(w)
			return b&^(m<<imm) | a&m<<imm
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, imm uint64) expr.Ref {
			r := low(e, a, w)
			if imm > 0 {
				r = e.Concat(r, e.Extract(b, 0, uint(imm)))
			}
			if top := uint(imm) + w; top < 64 {
				r = e.Concat(e.Extract(b, top, 64-top), r)
			}
			return r
		}})
}
