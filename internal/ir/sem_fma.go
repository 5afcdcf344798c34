package ir

import (
	"symchef/internal/expr"
	"symchef/internal/softfp"
)

// FMA is the helper of fused multiply-add: D = A*B + C at W = 32 or 64 bits with MXCSR, rounded once; a micro-op has no room for four
// operands. X says what is negated first, NaNs but for their sign are not.
var FMA = DefineHelper(HelperRow{
	Name: "fma",
	Slots: func(u *Uop, reads, writes func(Slot)) {
		for _, s := range []Slot{u.A, u.B, u.C, MXCSR} {
			reads(s)
		}
		writes(u.D)
	},
	Run: func(u *Uop, m Machine) error {
		r, w := m.Reg(), uint(u.W)
		k := expr.Mask(w)
		a, b, c := r[u.A]&k, r[u.B]&k, r[u.C]&k
		if u.X&FMANegProduct != 0 && !softfp.IsNaN(a, w) {
			a ^= 1 << (w - 1)
		}
		if u.X&FMANegAddend != 0 && !softfp.IsNaN(c, w) {
			c ^= 1 << (w - 1)
		}
		r[u.D] = softfp.MXCSR(r[MXCSR]).FMA(w, a, b, c)
		return nil
	},
})

// What Uop.X of FMA says.
const (
	FMANegProduct = 1 << iota
	FMANegAddend
)
