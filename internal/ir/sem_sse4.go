package ir

import "symchef/internal/expr"

// The lane ops that SSSE3 and SSE4.1 add (SDM vol. 1, 12.6 and 12.9). What stands in one row here is one instruction on half a register,
// or a step that several share.

// table returns entry n of a table of 2^width(n) entries: a tree of choices by the bits of n, the lowest one at the leaves.
func table(e *expr.Ctx, n expr.Ref, entry func(i uint) expr.Ref) expr.Ref {
	level := make([]expr.Ref, 1<<e.Width(n))
	for i := range level {
		level[i] = entry(uint(i))
	}
	for bit := uint(0); len(level) > 1; bit++ {
		b := e.Extract(n, bit, 1)
		for i := range len(level) / 2 {
			level[i] = e.Ite(b, level[2*i+1], level[2*i])
		}
		level = level[:len(level)/2]
	}
	return level[0]
}

// perm is pshufb on half of a mask.
func perm(a, b, c uint64, _, _ uint, _ uint64) uint64 {
	var r uint64
	for i := uint(0); i < 64; i += 8 {
		n := c >> i & 0xff
		v := a ^ (a^b)&-(n>>3&1)
		r |= v >> (n & 7 * 8) & 0xff & (n>>7 - 1) << i
	}
	return r
}

func symPerm(e *expr.Ctx, a, b, c expr.Ref, _, _ uint, _ uint64) expr.Ref {
	entry := func(i uint) expr.Ref {
		if i < 8 {
			return e.Extract(a, 8*i, 8)
		}
		return e.Extract(b, 8*i-64, 8)
	}
	return symLanes(e, 8, func(i uint) expr.Ref {
		top := e.Extract(c, 8*i+7, 1)
		if v, known := e.IsConst(top); known && v != 0 {
			return e.Const(0, 8)
		}
		n := e.Extract(c, 8*i, 4)
		if v, known := e.IsConst(n); known {
			return e.Ite(top, e.Const(0, 8), entry(uint(v)))
		}
		return e.Ite(top, e.Const(0, 8), table(e, n, entry))
	})
}

// everySecond makes an op of lanes first, first+2, ...
func everySecond(name string, first uint) Row {
	return Row{Name: name, Args: 2,
		Eval: func(a, b, _ uint64, w, _ uint, _ uint64) uint64 {
			var r uint64
			for i := uint(0); i < 32; i += w {
				r |= a >> (2*i + first*w) & expr.Mask(w) << i
				r |= b >> (2*i + first*w) & expr.Mask(w) << (32 + i)
			}
			return r
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return symLanes(e, 64/w, func(i uint) expr.Ref {
				v := a
				if i*w >= 32 {
					v = b
				}
				return e.Extract(v, (2*i*w+first*w)%64, w)
			})
		}}
}

// extend makes an op that widens lanes.
func extend(name string, ev func(v uint64, w uint) uint64, sym func(e *expr.Ctx, a expr.Ref, w uint) expr.Ref) Row {
	return Row{Name: name, Args: 1, Param: true,
		Eval: func(a, _, _ uint64, w, x uint, imm uint64) uint64 {
			var r uint64
			a >>= imm * uint64(w)
			for i := uint(0); i < 64/x; i++ {
				r |= ev(a>>(i*w)&expr.Mask(w), w) & expr.Mask(x) << (i * x)
			}
			return r
		},
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, w, x uint, imm uint64) expr.Ref {
			return symLanes(e, 64/x, func(i uint) expr.Ref { return sym(e, e.Extract(a, (uint(imm)+i)*w, w), x) })
		}}
}

// mpsad is half of mpsadbw.
func mpsad(a, b, _ uint64, _, _ uint, _ uint64) uint64 {
	var r uint64
	for i := uint(0); i < 4; i++ {
		for k := uint(0); k < 4; k++ {
			x, y := a>>(8*i+8*k)&0xff, b>>(8*k)&0xff
			r += (max(x, y) - min(x, y)) << (16 * i)
		}
	}
	return r
}

func symMpsad(e *expr.Ctx, a, b, _ expr.Ref, _, _ uint, _ uint64) expr.Ref {
	return symLanes(e, 4, func(i uint) expr.Ref {
		sum := e.Const(0, 16)
		for k := uint(0); k < 4; k++ {
			x, y := e.Extract(a, 8*(i+k), 8), e.Extract(b, 8*k, 8)
			sum = e.Add(sum, e.ZExt(e.Ite(e.Ult(x, y), e.Sub(y, x), e.Sub(x, y)), 16))
		}
		return sum
	})
}

// minPos is phminposuw.
func minPos(a, b, _ uint64, _, _ uint, _ uint64) uint64 {
	least := ^uint64(0)
	for i := uint64(0); i < 4; i++ {
		least = min(least, a>>(16*i)&0xffff<<3|i, b>>(16*i)&0xffff<<3|4|i)
	}
	return least>>3 | least&7<<16
}

func symMinPos(e *expr.Ctx, a, b, _ expr.Ref, _, _ uint, _ uint64) expr.Ref {
	least, at := e.Extract(a, 0, 16), e.Const(0, 48)
	for i := uint(1); i < 8; i++ {
		v := a
		if i >= 4 {
			v = b
		}
		w := e.Extract(v, i%4*16, 16)
		less := e.Ult(w, least)
		least, at = e.Ite(less, w, least), e.Ite(less, e.Const(uint64(i), 48), at)
	}
	return e.Concat(at, least)
}

// Lanes rearranged, their signs and products.
func init() {
	define(VPerm, Row{Name: "vperm", Args: 3, Eval: perm, Sym: symPerm})
	define(VEven, everySecond("veven", 0))
	define(VOdd, everySecond("vodd", 1))
	define(VAbs, lanes("vabs", func(a, _ uint64, w uint) uint64 {
		minus := -(a >> (w - 1))
		return (a ^ minus) - minus
	}, func(e *expr.Ctx, a, _ expr.Ref) expr.Ref {
		w := e.Width(a)
		return e.Ite(e.Extract(a, w-1, 1), e.Neg(a), a)
	}))
	define(VSign, lanes("vsign", func(a, b uint64, w uint) uint64 {
		minus := -(b >> (w - 1))
		return ((a ^ minus) - minus) & -b2u(b != 0)
	}, func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
		w := e.Width(a)
		zero := e.Const(0, w)
		return e.Ite(e.Eq(b, zero), zero, e.Ite(e.Extract(b, w-1, 1), e.Neg(a), a))
	}))
	define(VMulRS, lanes("vmulrs", func(a, b uint64, w uint) uint64 {
		p := expr.SignExtend(a, w) * expr.SignExtend(b, w)
		return uint64((p>>(w-2) + 1) >> 1)
	}, func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
		w := e.Width(a)
		p := e.Mul(e.SExt(a, 2*w), e.SExt(b, 2*w))
		return e.Extract(e.Add(e.AShr(p, e.Const(uint64(w-2), 2*w)), e.Const(1, 2*w)), 1, w)
	}))
	define(VMAddUS, lanes("vmaddus", func(a, b uint64, w uint) uint64 {
		h := w / 2
		m := expr.Mask(h)
		s := int64(a&m)*expr.SignExtend(b&m, h) + int64(a>>h)*expr.SignExtend(b>>h, h)
		return clamp(s, -1<<(w-1), 1<<(w-1)-1)
	}, func(e *expr.Ctx, a, b expr.Ref) expr.Ref {
		w := e.Width(a)
		product := func(lo uint) expr.Ref {
			return e.Mul(e.ZExt(e.Extract(a, lo, w/2), w+2), e.SExt(e.Extract(b, lo, w/2), w+2))
		}
		return symClamp(e, e.Add(product(0), product(w/2)), -1<<(w-1), 1<<(w-1)-1, w)
	}))
}

// Choices between lanes, and what widens and searches them.
func init() {
	define(VBlend, Row{Name: "vblend", Args: 2, Param: true,
		Eval: func(a, b, _ uint64, w, _ uint, imm uint64) uint64 {
			var k uint64
			for i := uint(0); i < 64/w; i++ {
				k |= expr.Mask(w) * (imm >> i & 1) << (i * w)
			}
			return a&^k | b&k
		},
		Sym: func(e *expr.Ctx, a, b, _ expr.Ref, w, _ uint, imm uint64) expr.Ref {
			return symLanes(e, 64/w, func(i uint) expr.Ref {
				if imm>>i&1 != 0 {
					return e.Extract(b, i*w, w)
				}
				return e.Extract(a, i*w, w)
			})
		}})
	define(VBlendV, Row{Name: "vblendv", Args: 3,
		Eval: func(a, b, c uint64, w, _ uint, _ uint64) uint64 {
			k := c >> (w - 1) & ones(w)
			k = k<<(w-1)<<1 - k
			return a&^k | b&k
		},
		Sym: func(e *expr.Ctx, a, b, c expr.Ref, w, _ uint, _ uint64) expr.Ref {
			return symLanes(e, 64/w, func(i uint) expr.Ref {
				return e.Ite(e.Extract(c, i*w+w-1, 1), e.Extract(b, i*w, w), e.Extract(a, i*w, w))
			})
		}})
	define(VSxt, extend("vsxt", func(v uint64, w uint) uint64 { return uint64(expr.SignExtend(v, w)) }, (*expr.Ctx).SExt))
	define(VZxt, extend("vzxt", func(v uint64, _ uint) uint64 { return v }, (*expr.Ctx).ZExt))
	define(VBits, Row{Name: "vbits", Args: 1, Param: true,
		Eval: func(a, _, _ uint64, w, _ uint, imm uint64) uint64 {
			var r uint64
			for i := uint(0); i < 64/w; i++ {
				r |= expr.Mask(w) * (a >> (uint(imm) + i) & 1) << (i * w)
			}
			return r
		},
		Sym: func(e *expr.Ctx, a, _, _ expr.Ref, w, _ uint, imm uint64) expr.Ref {
			return symLanes(e, 64/w, func(i uint) expr.Ref { return e.SExt(e.Extract(a, uint(imm)+i, 1), w) })
		}})
	define(VMpsad, Row{Name: "vmpsad", Args: 2, Eval: mpsad, Sym: symMpsad})
	define(VMinPos, Row{Name: "vminpos", Args: 2, Eval: minPos, Sym: symMinPos})
}
