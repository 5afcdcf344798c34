// Package softfp is x86 binary floating-point arithmetic in software: the 80-bit format
// of the x87 unit, and single and double precision in all rounding modes with the
// masked responses of the processor (SDM vol. 1, chapters 4.8, 4.9, 8 and 10).
//
//	env := softfp.Env{Mode: softfp.Down}
//	r := softfp.F64.Pack(env.Add(softfp.F64, softfp.F64.Unpack(x), softfp.F64.Unpack(y)))
//
// Numbers are unpacked (Num), computed exactly or with a sticky bit, and rounded once.
package softfp

import "math/bits"

// Mode is a rounding mode, in the encoding of MXCSR.RC and FCW.RC.
type Mode uint8

// The rounding modes.
const (
	Nearest Mode = iota // ties to even
	Down                // toward -inf
	Up                  // toward +inf
	Chop                // toward 0
)

// Flags are exception flags, in the encoding of MXCSR and the x87 status word.
type Flags uint8

// The exceptions.
const (
	Invalid Flags = 1 << iota
	Denormal
	DivZero
	Overflow
	Underflow
	Inexact
)

// Class is the kind of a number. Classes from QNaN on are not numbers.
type Class uint8

// The classes.
const (
	Zero Class = iota
	Finite
	Inf
	QNaN
	SNaN
	Bad // an encoding that the x87 unit rejects: unnormal, pseudo-NaN, pseudo-infinity
)

// Num is an unpacked number.
type Num struct {
	Class  Class
	Neg    bool
	Denorm bool   // it was denormal (or pseudo-denormal) in its format
	Exp    int    // Finite: the value is Sig * 2^(Exp-63)
	Sig    uint64 // Finite: bit 63 is set. NaN: the 80-bit significand
}

// IsNaN reports whether n is not a number.
func (n Num) IsNaN() bool { return n.Class >= QNaN }

// Indefinite is the default NaN.
var Indefinite = Num{Class: QNaN, Neg: true, Sig: 3 << 62}

// Format is a binary format.
type Format struct {
	Prec       int // significant bits, the leading one included
	Emin, Emax int // exponents of normal numbers
}

// The formats.
var (
	F16 = Format{11, -14, 15}
	F32 = Format{24, -126, 127}
	F64 = Format{53, -1022, 1023}
	F80 = Format{64, -16382, 16383}
)

// Unpack takes apart an encoding of F16, F32 or F64.
func (f Format) Unpack(v uint64) Num {
	frac := f.Prec - 1
	n := Num{Neg: v>>(frac+f.ExpBits())&1 != 0}
	e := int(v >> frac & (1<<f.ExpBits() - 1))
	n.Sig = v << (64 - frac) >> 1 // fraction below bit 63
	switch {
	case e == 1<<f.ExpBits()-1 && n.Sig == 0:
		n.Class = Inf
	case e == 1<<f.ExpBits()-1:
		n.Class = SNaN
		if n.Sig>>62 != 0 {
			n.Class = QNaN
		}
		n.Sig |= 1 << 63
	case e != 0:
		n.Class, n.Exp = Finite, e-f.Emax
		n.Sig |= 1 << 63
	case n.Sig != 0:
		n.normalize(f.Emin)
	}
	return n
}

// normalize makes a denormal with its significand at exponent emin.
func (n *Num) normalize(emin int) {
	z := bits.LeadingZeros64(n.Sig)
	n.Class, n.Denorm, n.Exp, n.Sig = Finite, true, emin-z, n.Sig<<z
}

// ExpBits returns the width of the exponent field.
func (f Format) ExpBits() int { return bits.Len(uint(f.Emax)) + 1 }

// Pack encodes n, which must be representable, as F32 or F64. NaN payloads are cut.
func (f Format) Pack(n Num) uint64 {
	frac := f.Prec - 1
	var v uint64
	switch n.Class {
	case Finite:
		if n.Exp < f.Emin {
			v = n.Sig >> (63 - frac + f.Emin - n.Exp)
		} else {
			v = uint64(n.Exp+f.Emax)<<frac | n.Sig<<1>>(64-frac)
		}
	case Inf:
		v = (1<<f.ExpBits() - 1) << frac
	case QNaN, SNaN, Bad:
		v = (1<<f.ExpBits()-1)<<frac | n.Sig<<1>>(64-frac)
	}
	if n.Neg {
		v |= 1 << (frac + f.ExpBits())
	}
	return v
}

// Unpack80 takes apart an 80-bit number: significand, sign and exponent (SDM vol. 1, 4.2.2).
func Unpack80(sig uint64, se uint16) Num {
	n := Num{Neg: se>>15 != 0, Sig: sig}
	e := int(se & 0x7fff)
	switch {
	case e == 0 && sig == 0:
	case e == 0:
		n.normalize(F80.Emin)
	case sig>>63 == 0:
		n.Class = Bad
	case e != 0x7fff:
		n.Class, n.Exp = Finite, e-F80.Emax
	case sig<<1 == 0:
		n.Class = Inf
	case sig>>62&1 != 0:
		n.Class = QNaN
	default:
		n.Class = SNaN
	}
	return n
}

// Pack80 encodes n as an 80-bit number.
func Pack80(n Num) (sig uint64, se uint16) {
	if n.Neg {
		se = 0x8000
	}
	switch n.Class {
	case Zero:
		return 0, se
	case Finite:
		if n.Exp < F80.Emin {
			return n.Sig >> (F80.Emin - n.Exp), se
		}
		return n.Sig, se | uint16(n.Exp+F80.Emax)
	case Inf:
		return 1 << 63, se | 0x7fff
	}
	return n.Sig, se | 0x7fff
}

// Env is the environment of operations, all exceptions masked.
type Env struct {
	Mode     Mode
	Prec     int // x87 precision control: significant bits of results, 0 for the format's own
	X87      bool
	DAZ, FTZ bool
	Flags    Flags // raised so far
	Up       bool  // the last rounding increased the magnitude (x87 C1)
}

// operands applies DAZ and finds what precedes arithmetic: done with a NaN, or not.
// It raises Denormal unless an operand is a NaN.
func (e *Env) operands(a, b *Num) (nan Num, done bool) {
	e.daz(a)
	e.daz(b)
	if a.IsNaN() || b.IsNaN() {
		return e.nan(*a, *b), true
	}
	return Num{}, false
}

func (e *Env) daz(n *Num) {
	if e.DAZ && n.Denorm {
		*n = Num{Neg: n.Neg}
	}
}

// denormal raises Denormal for operands.
func (e *Env) denormal(ns ...Num) {
	for _, n := range ns {
		if n.Denorm {
			e.Flags |= Denormal
		}
	}
}

// quiet makes a NaN quiet.
func quiet(n Num) Num {
	n.Class, n.Sig = QNaN, n.Sig|3<<62
	return n
}

// nan chooses the result for operands of which one is a NaN (SDM vol. 1, table 4-7).
func (e *Env) nan(a, b Num) Num {
	if a.Class == Bad || b.Class == Bad {
		return e.invalid()
	}
	if a.Class == SNaN || b.Class == SNaN {
		e.Flags |= Invalid
	}
	if !e.X87 {
		if a.IsNaN() {
			return quiet(a)
		}
		return quiet(b)
	}
	switch {
	case !b.IsNaN() || a.Class == QNaN && b.Class == SNaN:
		return quiet(a)
	case !a.IsNaN() || b.Class == QNaN && a.Class == SNaN:
		return quiet(b)
	}
	if a.Sig > b.Sig || a.Sig == b.Sig && !a.Neg {
		return quiet(a)
	}
	return quiet(b)
}

// Quiet returns n for use as a result: a signaling NaN raises Invalid and is made quiet.
func (e *Env) Quiet(n Num) Num {
	switch n.Class {
	case Bad:
		return e.invalid()
	case SNaN:
		e.Flags |= Invalid
		return quiet(n)
	}
	return n
}

func (e *Env) invalid() Num {
	e.Flags |= Invalid
	return Indefinite
}

// zero returns the zero that is the exact sum of x and -x.
func (e *Env) zero() Num { return Num{Neg: e.Mode == Down} }

// away reports whether rounding increments a magnitude: odd is its lowest bit,
// half and rest compare what is cut with half a unit.
func (m Mode) away(neg, odd, half, rest bool) bool {
	switch m {
	case Nearest:
		return half && (rest || odd)
	case Down:
		return neg && (half || rest)
	case Up:
		return !neg && (half || rest)
	}
	return false
}

// cut divides hi:lo by 2^(64+n), n >= 0, and rounds.
func (m Mode) cut(neg bool, hi, lo uint64, n int) (q uint64, inexact, up, carry bool) {
	var half, rest bool
	switch {
	case n == 0:
		q, half, rest = hi, lo>>63 != 0, lo<<1 != 0
	case n < 64:
		q, half, rest = hi>>n, hi>>(n-1)&1 != 0, hi<<(65-n) != 0 || lo != 0
	case n == 64:
		half, rest = hi>>63 != 0, hi<<1 != 0 || lo != 0
	default:
		rest = true
	}
	if m.away(neg, q&1 != 0, half, rest) {
		up = true
		q++
		carry = q == 0
	}
	return q, half || rest, up, carry
}

// round returns hi:lo * 2^(exp-127) in format f; bit 127 is set, lo may end in a sticky bit.
// Tininess is detected after rounding (SDM vol. 1, 4.9.1.5).
func (e *Env) round(f Format, neg bool, exp int, hi, lo uint64) Num {
	p := f.Prec
	if e.Prec != 0 {
		p = min(p, e.Prec)
	}
	q, inexact, up, carry := e.Mode.cut(neg, hi, lo, 64-p)
	x := exp
	if carry || p < 64 && q>>p != 0 {
		q, x = 1<<(p-1), exp+1
	}
	if x < f.Emin {
		if e.FTZ {
			e.Flags |= Underflow | Inexact
			return Num{Neg: neg}
		}
		q, inexact, up, _ = e.Mode.cut(neg, hi, lo, min(64-p+f.Emin-exp, 65))
		if inexact {
			e.Flags |= Underflow
		}
		x = f.Emin
	}
	e.Up = up
	if inexact {
		e.Flags |= Inexact
	}
	if q == 0 {
		return Num{Neg: neg}
	}
	q <<= 64 - p
	if x > f.Emax {
		e.Flags |= Overflow | Inexact
		e.Up = e.Mode.away(neg, true, true, true)
		if e.Up {
			return Num{Class: Inf, Neg: neg}
		}
		return Num{Class: Finite, Neg: neg, Exp: f.Emax, Sig: ^uint64(0) << (64 - p)}
	}
	z := bits.LeadingZeros64(q)
	return Num{Class: Finite, Neg: neg, Exp: x - z, Sig: q << z, Denorm: z > 0}
}

// shiftRight shifts hi:lo right by n, keeping a sticky bit.
func shiftRight(hi, lo uint64, n int) (uint64, uint64) {
	switch {
	case n == 0:
		return hi, lo
	case n < 64:
		return hi >> n, lo>>n | hi<<(64-n) | b2u(lo<<(64-n) != 0)
	case n < 128:
		return 0, hi>>(n-64) | b2u(lo != 0 || hi<<(128-n) != 0)
	}
	return 0, b2u(hi|lo != 0)
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Add returns a + b.
func (e *Env) Add(f Format, a, b Num) Num {
	if r, done := e.operands(&a, &b); done {
		return r
	}
	if a.Class == Inf && b.Class == Inf && a.Neg != b.Neg {
		return e.invalid()
	}
	e.denormal(a, b)
	switch {
	case a.Class == Inf:
		return a
	case b.Class == Inf:
		return b
	case a.Class == Zero && b.Class == Zero:
		if a.Neg == b.Neg {
			return a
		}
		return e.zero()
	case a.Class == Zero:
		return e.round(f, b.Neg, b.Exp, b.Sig, 0)
	case b.Class == Zero:
		return e.round(f, a.Neg, a.Exp, a.Sig, 0)
	}
	if a.Exp < b.Exp || a.Exp == b.Exp && a.Sig < b.Sig {
		a, b = b, a
	}
	ah, al := a.Sig>>1, a.Sig<<63 // bit 127 is for the carry
	bh, bl := shiftRight(b.Sig>>1, b.Sig<<63, a.Exp-b.Exp)
	var c uint64
	if a.Neg == b.Neg {
		al, c = bits.Add64(al, bl, 0)
		ah, _ = bits.Add64(ah, bh, c)
	} else {
		al, c = bits.Sub64(al, bl, 0)
		ah, _ = bits.Sub64(ah, bh, c)
	}
	if ah|al == 0 {
		return e.zero()
	}
	return e.renorm(f, a.Neg, a.Exp+1, ah, al)
}

// renorm rounds hi:lo * 2^(exp-127), not 0, whose bit 127 need not be set.
func (e *Env) renorm(f Format, neg bool, exp int, hi, lo uint64) Num {
	if hi == 0 {
		hi, lo, exp = lo, 0, exp-64
	}
	if z := bits.LeadingZeros64(hi); z > 0 {
		hi, lo, exp = hi<<z|lo>>(64-z), lo<<z, exp-z
	}
	return e.round(f, neg, exp, hi, lo)
}

// Sub returns a - b.
func (e *Env) Sub(f Format, a, b Num) Num {
	if !b.IsNaN() {
		b.Neg = !b.Neg
	}
	return e.Add(f, a, b)
}

// Mul returns a * b.
func (e *Env) Mul(f Format, a, b Num) Num {
	if r, done := e.operands(&a, &b); done {
		return r
	}
	if a.Class == Inf && b.Class == Zero || a.Class == Zero && b.Class == Inf {
		return e.invalid()
	}
	e.denormal(a, b)
	neg := a.Neg != b.Neg
	switch {
	case a.Class == Inf || b.Class == Inf:
		return Num{Class: Inf, Neg: neg}
	case a.Class == Zero || b.Class == Zero:
		return Num{Neg: neg}
	}
	hi, lo := bits.Mul64(a.Sig, b.Sig)
	return e.renorm(f, neg, a.Exp+b.Exp+1, hi, lo)
}

// Div returns a / b.
func (e *Env) Div(f Format, a, b Num) Num {
	if r, done := e.operands(&a, &b); done {
		return r
	}
	neg := a.Neg != b.Neg
	switch {
	case a.Class == Inf && b.Class == Inf || a.Class == Zero && b.Class == Zero:
		return e.invalid()
	case b.Class == Zero:
		if a.Class != Inf {
			e.Flags |= DivZero
		}
		return Num{Class: Inf, Neg: neg}
	}
	e.denormal(a, b)
	switch {
	case a.Class == Inf:
		return Num{Class: Inf, Neg: neg}
	case a.Class == Zero || b.Class == Inf:
		return Num{Neg: neg}
	}
	hi, r := bits.Div64(a.Sig>>1, a.Sig<<63, b.Sig)
	lo, r := bits.Div64(r, 0, b.Sig)
	return e.renorm(f, neg, a.Exp-b.Exp, hi, lo|b2u(r != 0))
}

// Convert returns n in format f.
func (e *Env) Convert(f Format, n Num) Num {
	e.daz(&n)
	if n.Class != Finite {
		return e.Quiet(n)
	}
	e.denormal(n)
	return e.round(f, n.Neg, n.Exp, n.Sig, 0)
}

// FromInt returns v in format f.
func (e *Env) FromInt(f Format, v int64) Num {
	if v == 0 {
		return Num{}
	}
	m := uint64(v)
	if v < 0 {
		m = -m
	}
	z := bits.LeadingZeros64(m)
	return e.round(f, v < 0, 63-z, m<<z, 0)
}

// ToInt returns n as an integer of w bits in two's complement, or Invalid and the
// integer indefinite, 1<<(w-1).
func (e *Env) ToInt(n Num, w int) int64 {
	e.daz(&n)
	indefinite := int64(-1) << (w - 1)
	if n.Class == Zero {
		return 0
	}
	if n.Class != Finite || n.Exp > 63 {
		e.Flags |= Invalid
		return indefinite
	}
	q, inexact, up, carry := e.Mode.cut(n.Neg, n.Sig, 0, min(63-n.Exp, 65))
	if lim := uint64(1) << (w - 1); carry || q > lim || q == lim && !n.Neg {
		e.Flags |= Invalid
		return indefinite
	}
	e.Up = up
	if inexact {
		e.Flags |= Inexact
	}
	if n.Neg {
		return -int64(q)
	}
	return int64(q)
}

// Order is the outcome of a comparison.
type Order uint8

// The orders.
const (
	Less Order = iota
	Equal
	Greater
	Unordered
)

// Compare compares a and b. A quiet NaN raises Invalid only if signal is set.
func (e *Env) Compare(a, b Num, signal bool) Order {
	e.daz(&a)
	e.daz(&b)
	if a.IsNaN() || b.IsNaN() {
		if signal || a.Class > QNaN || b.Class > QNaN {
			e.Flags |= Invalid
		}
		return Unordered
	}
	e.denormal(a, b)
	x, y := a.sign(), b.sign()
	if x == y {
		x, y = x*a.cmpMag(b), 0
	}
	switch {
	case x < y:
		return Less
	case x > y:
		return Greater
	}
	return Equal
}

func (n Num) sign() int {
	switch {
	case n.Class == Zero:
		return 0
	case n.Neg:
		return -1
	}
	return 1
}

// cmpMag compares magnitudes.
func (n Num) cmpMag(m Num) int {
	switch {
	case n.Class != m.Class:
		return int(n.Class) - int(m.Class)
	case n.Class != Finite:
		return 0
	case n.Exp != m.Exp:
		return n.Exp - m.Exp
	case n.Sig < m.Sig:
		return -1
	case n.Sig > m.Sig:
		return 1
	}
	return 0
}
