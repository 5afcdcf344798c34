package ir

import "symchef/internal/expr"

// The lane ops: each W-bit lane of the 64-bit operands on its own, except where stated.
const (
	VAdd    Op = FirstVec + iota
	VSub       // A - B
	VMul       // low W bits of the product
	VMulHU     // high W bits of the unsigned product
	VMulHS     // high W bits of the signed product
	VAddSS     // signed saturation
	VAddUS     // unsigned saturation
	VSubSS     // signed saturation
	VSubUS     // unsigned saturation
	VEq        // all ones or 0
	VGtS       // all ones or 0: A > B, signed
	VMinU      // unsigned
	VMaxU      // unsigned
	VMinS      // signed
	VMaxS      // signed
	VAvgU      // (A + B + 1) / 2 without overflow, unsigned
	VMAdd      // the sum of the two products of signed W/2-bit parts (pmaddwd)
	VSad       // W = 64: the sum of the absolute differences of the 8 bytes
	VShl       // every lane by the same 64-bit count B+Imm; at W or above 0
	VShr       // likewise, unsigned
	VSar       // likewise, signed; at W or above the sign
	VMsk       // the sign bits of A's lanes, above them those of B's lanes
	VPackSS    // the lanes of A, above them those of B, at W/2 bits with signed saturation
	VPackUS    // likewise, signed lanes to unsigned
	VZipLo     // the low halves of A and B interleaved, A's lanes first (punpckl)
	VZipHi     // the high halves
	VPair      // 32-bit lane Imm&1 of A, above it lane Imm>>1&1 of B (Param)
	VShuf4     // 16-bit lane i is lane Imm>>2i&3 of A (Param)
	VAlign     // bits [8*Imm, 8*Imm+64) of B:A, 0 <= Imm <= 8 (Param)
	// The lane ops of SSSE3 and SSE4.1, in sem_sse4.go.
	VPerm      // byte i is byte C.byte[i]&15 of B:A, 0 if the top bit of C.byte[i] is set (pshufb)
	VEven      // lanes 0, 2, ... of A, above them those of B
	VOdd       // lanes 1, 3, ... of A, above them those of B
	VAbs       // the absolute value of A's lanes; of the least number itself
	VSign      // A, 0 or -A, as B is positive, zero or negative (psign)
	VMulRS     // bits [W-1, 2*W-1) of the signed product, rounded by the bit below (pmulhrsw)
	VMAddUS    // the sum, with signed saturation, of the two products of an unsigned W/2-bit part of A and a signed one of B (pmaddubsw)
	VBlend     // lane i of B where bit i of Imm is set, else of A (Param)
	VBlendV    // lanes of B where C's lane is negative, else of A
	VSxt       // lanes Imm, Imm+1, ... of A sign-extended from W to X bits (Param)
	VZxt       // likewise, zero-extended
	VBits      // lane i is all ones if bit Imm+i of A is set, else 0 (Param)
	VMpsad     // W = 16: lane i is the sum of the absolute differences of bytes i to i+3 of A and bytes 0 to 3 of B (mpsadbw)
	VMinPos    // W = 16: the least of the lanes of A and, above them, B, unsigned, and from bit 16 on the number of the first that has it
	FirstFloat // float ops are numbered from here
)

// lanes makes a lane op from its definition on one lane: ev over w-bit values
// (its result is truncated), sym over w-bit expressions.
func lanes(name string, ev func(a, b uint64, w uint) uint64, sym func(e *expr.Ctx, a, b expr.Ref) expr.Ref) Row {
	return Row{Name: name, Args: 2,
		Eval: func(a, b, _ uint64, w, _ uint, _ uint64) uint64 {
			m := expr.Mask(w)
			var r uint64
			for i := uint(0); i < 64; i += w {
				r |= ev(a>>i&m, b>>i&m, w) & m << i
			}
			return r
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return symLanes(e, 64/w, func(i uint) expr.Ref {
				return sym(e, e.Extract(a, i*w, w), e.Extract(b, i*w, w))
			})
		}}
}

// lanesOf makes a lane op that is integer op o on each lane.
func lanesOf(name string, o Op, sym func(e *expr.Ctx, a, b expr.Ref) expr.Ref) Row {
	ev := rows[o].Eval
	return lanes(name, func(a, b uint64, w uint) uint64 { return ev(a, b, 0, w, 0, 0) }, sym)
}

// swar replaces Eval by an equal faster function.
func swar(r Row, ev func(a, b uint64, w uint) uint64) Row {
	r.Eval = func(a, b, _ uint64, w, _ uint, _ uint64) uint64 { return ev(a, b, w) }
	return r
}

// symLanes concatenates lanes 0 to n-1, the first one lowest.
func symLanes(e *expr.Ctx, n uint, lane func(i uint) expr.Ref) expr.Ref {
	r := lane(0)
	for i := uint(1); i < n; i++ {
		r = e.Concat(lane(i), r)
	}
	return r
}

// ones returns the lowest bit of every w-bit lane.
func ones(w uint) uint64 { return ^uint64(0) / expr.Mask(w) }

// clamp returns v limited to [lo, hi].
func clamp(v, lo, hi int64) uint64 { return uint64(min(max(v, lo), hi)) }

// symClamp is clamp from v, signed, to its low w bits.
func symClamp(e *expr.Ctx, v expr.Ref, lo, hi int64, w uint) expr.Ref {
	vw := e.Width(v)
	m, k := expr.Mask(vw), expr.Mask(w)
	l, h := e.Const(uint64(lo)&m, vw), e.Const(uint64(hi)&m, vw)
	r := e.Ite(e.Slt(h, v), e.Const(uint64(hi)&k, w), e.Extract(v, 0, w))
	return e.Ite(e.Slt(v, l), e.Const(uint64(lo)&k, w), r)
}

// saturating makes a lane op from one on unbounded integers. Lanes have at most 32 bits.
func saturating(name string, signed bool, ev func(a, b int64) int64, sym func(e *expr.Ctx, a, b expr.Ref) expr.Ref) Row {
	return lanes(name,
		func(a, b uint64, w uint) uint64 {
			x, y, lo, hi := int64(a), int64(b), int64(0), int64(1)<<w-1
			if signed {
				x, y, lo, hi = expr.SignExtend(a, w), expr.SignExtend(b, w), -1<<(w-1), 1<<(w-1)-1
			}
			return clamp(ev(x, y), lo, hi)
		},
		func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
			w := e.Width(a)
			ext, lo, hi := e.ZExt, int64(0), int64(1)<<w-1
			if signed {
				ext, lo, hi = e.SExt, -1<<(w-1), 1<<(w-1)-1
			}
			return symClamp(e, sym(e, ext(a, w+2), ext(b, w+2)), lo, hi, w)
		})
}

// choose makes a lane op that is A if less(A, B) = first, else B.
func choose(name string, less Op, sym func(e *expr.Ctx, a, b expr.Ref) expr.Ref, first bool) Row {
	ev := rows[less].Eval
	return lanes(name,
		func(a, b uint64, w uint) uint64 {
			if ev(a, b, 0, w, 0, 0) != 0 == first {
				return a
			}
			return b
		},
		func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
			if first {
				return e.Ite(sym(e, a, b), a, b)
			}
			return e.Ite(sym(e, a, b), b, a)
		})
}

// shift makes a lane op that shifts every lane by one count.
func shift(name string, o Op, sym func(e *expr.Ctx, a, n expr.Ref) expr.Ref) Row {
	ev := rows[o].Eval
	return Row{Name: name, Args: 2,
		Eval: func(a, n, _ uint64, w, _ uint, _ uint64) uint64 {
			n = min(n, uint64(w))
			var r uint64
			for i := uint(0); i < 64; i += w {
				r |= ev(a>>i, n, 0, w, 0, 0) << i
			}
			return r
		},
		Sym: func(e *expr.Ctx, a, n, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			lim := e.Const(uint64(w), 64)
			n = e.Extract(e.Ite(e.Ult(n, lim), n, lim), 0, w)
			return symLanes(e, 64/w, func(i uint) expr.Ref { return sym(e, e.Extract(a, i*w, w), n) })
		}}
}

// pack makes a saturating narrowing op.
func pack(name string, limits func(w uint) (lo, hi int64)) Row {
	return Row{Name: name, Args: 2,
		Eval: func(a, b, _ uint64, w, _ uint, _ uint64) uint64 {
			h := w / 2
			lo, hi := limits(h)
			var r uint64
			for i := uint(0); i < 64/w; i++ {
				r |= clamp(expr.SignExtend(a>>(i*w)&expr.Mask(w), w), lo, hi) & expr.Mask(h) << (i * h)
				r |= clamp(expr.SignExtend(b>>(i*w)&expr.Mask(w), w), lo, hi) & expr.Mask(h) << (32 + i*h)
			}
			return r
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			lo, hi := limits(w / 2)
			return symLanes(e, 128/w, func(i uint) expr.Ref {
				v := a
				if i >= 64/w {
					v, i = b, i-64/w
				}
				return symClamp(e, e.Extract(v, i*w, w), lo, hi, w/2)
			})
		}}
}

// zip makes an interleaving op that starts at bit from.
func zip(name string, from uint) Row {
	return Row{Name: name, Args: 2, Param: true,
		Eval: func(a, b, _ uint64, w, _ uint, _ uint64) uint64 {
			var r uint64
			for i := uint(0); i < 32; i += w {
				r |= a >> (from + i) & expr.Mask(w) << (2 * i)
				r |= b >> (from + i) & expr.Mask(w) << (2*i + w)
			}
			return r
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return symLanes(e, 64/w, func(i uint) expr.Ref {
				v := a
				if i&1 != 0 {
					v = b
				}
				return e.Extract(v, from+i/2*w, w)
			})
		}}
}

func signedLimits(w uint) (lo, hi int64)   { return -1 << (w - 1), 1<<(w-1) - 1 }
func unsignedLimits(w uint) (lo, hi int64) { return 0, 1<<w - 1 }

// mask makes all ones of a 1-bit expression, w bits wide.
func mask(cmp func(e *expr.Ctx, a, b expr.Ref) expr.Ref) func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
	return func(e *expr.Ctx, a, b expr.Ref) expr.Ref { return e.SExt(cmp(e, a, b), e.Width(a)) }
}

// sad is the sum of absolute differences of bytes (SDM vol. 2, PSADBW).
func sad(a, b, _ uint64, _, _ uint, _ uint64) uint64 {
	var r uint64
	for i := 0; i < 64; i += 8 {
		x, y := a>>i&0xff, b>>i&0xff
		r += max(x, y) - min(x, y)
	}
	return r
}

// Arithmetic and comparisons, lane by lane.
func init() {
	// Carries stop at lanes: their top bits are added apart.
	define(VAdd, swar(lanesOf("vadd", Add, (*expr.Ctx).Add), func(a, b uint64, w uint) uint64 {
		h := ones(w) << (w - 1)
		return (a&^h + b&^h) ^ (a^b)&h
	}))
	define(VSub, swar(lanesOf("vsub", Sub, (*expr.Ctx).Sub), func(a, b uint64, w uint) uint64 {
		h := ones(w) << (w - 1)
		return ((a | h) - b&^h) ^ (a^^b)&h
	}))
	define(VMul, lanesOf("vmul", Mul, (*expr.Ctx).Mul))
	define(VMulHU, lanesOf("vmulhu", MulHU, (*expr.Ctx).MulHU))
	define(VMulHS, lanesOf("vmulhs", MulHS, (*expr.Ctx).MulHS))
	add := func(a, b int64) int64 { return a + b }
	sub := func(a, b int64) int64 { return a - b }
	define(VAddSS, saturating("vaddss", true, add, (*expr.Ctx).Add))
	define(VAddUS, saturating("vaddus", false, add, (*expr.Ctx).Add))
	define(VSubSS, saturating("vsubss", true, sub, (*expr.Ctx).Sub))
	define(VSubUS, saturating("vsubus", false, sub, (*expr.Ctx).Sub))
	// A lane of x = a^b is 0 iff neither its low bits nor its top bit are set.
	define(VEq, swar(lanes("veq", nil, mask((*expr.Ctx).Eq)), func(a, b uint64, w uint) uint64 {
		o, x := ones(w), a^b
		h := o << (w - 1)
		z := ^(x&^h + ^h | x) & h >> (w - 1)
		return z<<(w-1)<<1 - z
	}))
	define(VGtS, lanes("vgts", func(a, b uint64, w uint) uint64 {
		return -b2u(expr.SignExtend(a, w) > expr.SignExtend(b, w))
	}, mask(func(e *expr.Ctx, a, b expr.Ref) expr.Ref { return e.Slt(b, a) })))
	define(VMinU, choose("vminu", Ult, (*expr.Ctx).Ult, true))
	define(VMaxU, choose("vmaxu", Ult, (*expr.Ctx).Ult, false))
	define(VMinS, choose("vmins", Slt, (*expr.Ctx).Slt, true))
	define(VMaxS, choose("vmaxs", Slt, (*expr.Ctx).Slt, false))
	define(VAvgU, lanes("vavgu", func(a, b uint64, _ uint) uint64 { return (a + b + 1) >> 1 },
		func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
			w := e.Width(a)
			s := e.Add(e.Add(e.ZExt(a, w+1), e.ZExt(b, w+1)), e.Const(1, w+1))
			return e.Extract(s, 1, w)
		}))
	define(VMAdd, lanes("vmadd", func(a, b uint64, w uint) uint64 {
		h := w / 2
		m := expr.Mask(h)
		return uint64(expr.SignExtend(a&m, h)*expr.SignExtend(b&m, h) + expr.SignExtend(a>>h, h)*expr.SignExtend(b>>h, h))
	}, func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
		w := e.Width(a)
		part := func(r expr.Ref, lo uint) expr.Ref { return e.SExt(e.Extract(r, lo, w/2), w) }
		return e.Add(e.Mul(part(a, 0), part(b, 0)), e.Mul(part(a, w/2), part(b, w/2)))
	}))
	define(VSad, Row{Name: "vsad", Args: 2, Eval: sad,
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, _, _ uint, _ uint64) expr.Ref {
			sum := e.Const(0, 64)
			for i := uint(0); i < 64; i += 8 {
				x, y := e.Extract(a, i, 8), e.Extract(b, i, 8)
				d := e.Ite(e.Ult(x, y), e.Sub(y, x), e.Sub(x, y))
				sum = e.Add(sum, e.ZExt(d, 64))
			}
			return sum
		}})
}

// Shifts, and what moves lanes.
func init() {
	define(VShl, shift("vshl", Shl, (*expr.Ctx).Shl))
	define(VShr, shift("vshr", LShr, (*expr.Ctx).LShr))
	define(VSar, shift("vsar", AShr, (*expr.Ctx).AShr))
	define(VMsk, Row{Name: "vmsk", Args: 2,
		Eval: func(a, b, _ uint64, w, _ uint, _ uint64) uint64 {
			if w == 8 { // the multiplication moves bit 8i to bit 56+i, without carries
				const m, k = 0x0101010101010101, 0x0102040810204080
				return (a>>7&m)*k>>56 | (b>>7&m)*k>>56<<8
			}
			var r uint64
			n := 64 / w
			for i := uint(0); i < n; i++ {
				r |= a >> (i*w + w - 1) & 1 << i
				r |= b >> (i*w + w - 1) & 1 << (n + i)
			}
			return r
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			n := 64 / w
			return e.ZExt(symLanes(e, 2*n, func(i uint) expr.Ref {
				if i < n {
					return e.Extract(a, i*w+w-1, 1)
				}
				return e.Extract(b, (i-n)*w+w-1, 1)
			}), 64)
		}})
	define(VPackSS, pack("vpackss", signedLimits))
	define(VPackUS, pack("vpackus", unsignedLimits))
	define(VZipLo, zip("vziplo", 0))
	define(VZipHi, zip("vziphi", 32))
	define(VPair, Row{Name: "vpair", Args: 2, Param: true,
		Eval: func(a, b, _ uint64, _, _ uint, imm uint64) uint64 {
			return a>>(imm&1*32)&expr.Mask(32) | b>>(imm>>1&1*32)<<32
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, _, _ uint, imm uint64) expr.Ref {
			return e.Concat(e.Extract(b, uint(imm>>1&1*32), 32), e.Extract(a, uint(imm&1*32), 32))
		}})
	define(VShuf4, Row{Name: "vshuf4", Args: 1, Param: true,
		Eval: func(a, _, _ uint64, _, _ uint, imm uint64) uint64 {
			var r uint64
			for i := uint(0); i < 4; i++ {
				r |= a >> (imm >> (2 * i) & 3 * 16) & 0xffff << (16 * i)
			}
			return r
		},
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, _, _ uint, imm uint64) expr.Ref {
			return symLanes(e, 4, func(i uint) expr.Ref { return e.Extract(a, uint(imm>>(2*i)&3*16), 16) })
		}})
	define(VAlign, Row{Name: "valign", Args: 2, Param: true,
		Eval: func(a, b, _ uint64, _, _ uint, imm uint64) uint64 { return a>>(8*imm) | b<<(64-8*imm) },
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, _, _ uint, imm uint64) expr.Ref {
			n := 8 * uint(imm)
			switch n {
			case 0:
				return a
			case 64:
				return b
			}
			return e.Concat(e.Extract(b, 0, n), e.Extract(a, n, 64-n))
		}})
}
