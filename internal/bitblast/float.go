package bitblast

import (
	"symchef/internal/expr"
	"symchef/internal/softfp"
)

// Circuits of float operations in any binary format, with the processor's results (SDM
// vol. 1, 4.8 and table 4-7): unpack, compute with a sticky bit, round once. Words stand
// lowest bit first, exponents are in two's complement.

// floatOp is the environment of an operation and the format of its result.
type floatOp struct {
	*Graph
	softfp.Format
	mode softfp.Mode
	ftz  bool
}

func (g *Graph) floatOp(r expr.Ref, w int) floatOp {
	e := g.ctx.Env(r)
	return floatOp{g, softfp.FormatOf(uint(w)), e.Mode(), e&expr.FTZ != 0}
}

// parts is an encoding taken apart. The significand has Prec bits; that of a denormal has no leading one.
type parts struct {
	neg, nan, inf, zero Lit
	exp                 []Lit // of the significand's top bit, ExpBits+3 bits wide
	sig                 []Lit
}

func (g *Graph) any(x []Lit) Lit {
	r := False
	for _, l := range x {
		r = g.Or(r, l)
	}
	return r
}

func (g *Graph) sub(x, y []Lit) []Lit {
	z, _ := g.add(x, invert(y), True)
	return z
}

// plus returns x + v at x's width.
func (g *Graph) plus(x []Lit, v int) []Lit {
	z, _ := g.add(x, constant(uint64(v), len(x)), False)
	return z
}

func signExtend(x []Lit, w int) []Lit { return pad(x, w, x[len(x)-1]) }

// above returns x with n zeros below it.
func above(n int, x []Lit) []Lit { return append(constant(0, n), x...) }

func (g *Graph) unpack(f softfp.Format, v []Lit) parts {
	p, eb := f.Prec, f.ExpBits()
	frac, field := v[:p-1], v[p-1:p-1+eb]
	some := g.any(frac)
	normal := g.any(field)
	full := g.any(invert(field)).Not()
	exp := pad(field, eb+3, False)
	exp[0] = g.Or(exp[0], normal.Not()) // denormals have the exponent of the least normal number
	return parts{
		neg: v[p-1+eb], nan: g.And(full, some), inf: g.And(full, some.Not()), zero: g.Or(normal, some).Not(),
		exp: g.plus(exp, -f.Emax),
		sig: append(append([]Lit{}, frac...), normal),
	}
}

// normalized gives the significand a leading one, unless it is 0.
func (g *Graph) normalized(x parts) parts {
	var lz []Lit
	x.sig, lz = g.normalize(x.sig)
	x.exp = g.sub(x.exp, pad(lz, len(x.exp), False))
	return x
}

// normalize shifts x left by its leading zeros and counts them.
func (g *Graph) normalize(x []Lit) (y, lz []Lit) {
	n, k := len(x), 0
	for 1<<(k+1) < n {
		k++
	}
	lz = make([]Lit, k+1)
	for ; k >= 0; k-- {
		d := 1 << k
		if d >= n {
			lz[k] = False
			continue
		}
		lz[k] = g.any(x[n-d:]).Not()
		x = g.mux(lz[k], shiftLeft(x, d), x)
	}
	return x, lz
}

// shiftSticky shifts x right by n; the lowest bit stays set if a one was shifted out.
func (g *Graph) shiftSticky(x, n []Lit) []Lit {
	over := False
	for k, s := range n {
		if k >= 31 || 1<<k >= len(x) {
			over = g.Or(over, s)
			continue
		}
		d := 1 << k
		y := pad(x[d:], len(x), False)
		y[0] = g.Or(y[0], g.any(x[:d]))
		x = g.mux(s, y, x)
	}
	return g.mux(over, pad([]Lit{g.any(x)}, len(x), False), x)
}

// away tells whether rounding increments a magnitude: softfp.Mode's rule.
func (o floatOp) away(neg, odd, half, rest Lit) Lit {
	switch o.mode {
	case softfp.Nearest:
		return o.And(half, o.Or(rest, odd))
	case softfp.Down:
		return o.And(neg, o.Or(half, rest))
	case softfp.Up:
		return o.And(neg.Not(), o.Or(half, rest))
	}
	return False
}

// round encodes sig * 2^(exp-len(sig)+1), whose top bit is set; sig may end in a sticky bit.
func (o floatOp) round(neg Lit, exp, sig []Lit) []Lit {
	p, eb := o.Prec, o.ExpBits()
	if n := p + 2; len(sig) < n {
		sig = above(n-len(sig), sig)
	} else {
		cut := len(sig) - n + 1
		sig = append([]Lit{o.any(sig[:cut])}, sig[cut:]...)
	}
	field := o.plus(signExtend(exp, max(len(exp), eb)+2), o.Emax)
	top := len(field) - 1
	if !o.ftz {
		tiny := o.Or(field[top], o.any(field).Not())
		shift := o.plus(o.neg(field), 1)
		for i := range shift {
			shift[i] = o.And(shift[i], tiny)
			field[i] = o.And(field[i], tiny.Not())
		}
		sig = o.shiftSticky(sig, shift[:top])
	}
	q := sig[2:]
	// A carry out of the fraction is one into the exponent.
	word := append(append([]Lit{}, q[:p-1]...), field...)
	word, _ = o.add(word, constant(0, len(word)), o.away(neg, q[0], sig[1], sig[0]))
	frac, field := word[:p-1], word[p-1:]
	over := o.And(field[top].Not(), o.ult(constant(uint64(2*o.Emax), len(field)), field))
	inf := o.away(neg, True, True, True)
	frac = o.mux(over, pad(nil, p-1, inf.Not()), frac)
	field = o.mux(over, append([]Lit{inf}, pad(nil, eb-1, True)...), field[:eb])
	r := append(append(append(make([]Lit, 0, p+eb), frac...), field...), neg)
	if o.ftz {
		// Tininess is detected after rounding.
		tiny := o.Or(word[p-1+top], o.any(word[p-1:]).Not())
		r = o.mux(tiny, o.zero(neg), r)
	}
	return r
}

// Encodings.

func (o floatOp) width() int { return o.Prec + o.ExpBits() }

func (o floatOp) zero(neg Lit) []Lit { return append(constant(0, o.width()-1), neg) }

func (o floatOp) infinity(neg Lit) []Lit {
	return append(append(constant(0, o.Prec-1), pad(nil, o.ExpBits(), True)...), neg)
}

func (o floatOp) defaultNaN() []Lit {
	return append(constant(0, o.Prec-2), pad(nil, o.ExpBits()+2, True)...)
}

// quiet returns the NaN v with the quiet bit set.
func (o floatOp) quiet(v []Lit) []Lit {
	v = append([]Lit{}, v...)
	v[o.Prec-2] = True
	return v
}

// nans chooses between r and a NaN operand, the first before the second.
func (o floatOp) nans(a, b parts, va, vb, r []Lit) []Lit {
	return o.mux(a.nan, o.quiet(va), o.mux(b.nan, o.quiet(vb), r))
}

// sum returns a + b, or a - b.
func (o floatOp) sum(va, vb []Lit, minus bool) []Lit {
	w, p := o.width(), o.Prec
	a, b := o.unpack(o.Format, va), o.unpack(o.Format, vb)
	negA, negB := a.neg, b.neg
	if minus {
		negB = negB.Not()
	}
	swap := o.ult(va[:w-1], vb[:w-1])
	exp, expY := o.mux(swap, b.exp, a.exp), o.mux(swap, a.exp, b.exp)
	sig, sigY := o.mux(swap, b.sig, a.sig), o.mux(swap, a.sig, b.sig)
	neg, negY := o.Mux(swap, negB, negA), o.Mux(swap, negA, negB)
	// Three bits below the last place, the lowest sticky, and one for the carry.
	x := pad(above(3, sig), p+4, False)
	y := pad(o.shiftSticky(above(3, sigY), o.sub(exp, expY)), p+4, False)
	differ := o.Xor(neg, negY)
	for i := range y {
		y[i] = o.Xor(y[i], differ)
	}
	s, _ := o.add(x, y, differ)
	n, lz := o.normalize(s)
	e := o.sub(o.plus(exp, 1), pad(lz, len(exp), False))
	r := o.round(neg, e, n)
	zero := o.And(differ.Not(), neg)
	if o.mode == softfp.Down {
		zero = o.Or(differ, neg)
	}
	r = o.mux(o.any(s).Not(), o.zero(zero), r)
	infs := o.And(a.inf, b.inf)
	r = o.mux(o.Or(a.inf, b.inf), o.mux(o.And(infs, differ), o.defaultNaN(), o.infinity(neg)), r)
	return o.nans(a, b, va, vb, r)
}

// product returns a * b.
func (o floatOp) product(va, vb []Lit) []Lit {
	p := o.Prec
	a, b := o.unpack(o.Format, va), o.unpack(o.Format, vb)
	x, y := o.normalized(a), o.normalized(b)
	neg := o.Xor(a.neg, b.neg)
	ew := len(x.exp) + 1
	exp, _ := o.add(signExtend(x.exp, ew), signExtend(y.exp, ew), True) // of bit 2p-1
	r := o.shifted(neg, exp, o.mul(x.sig, y.sig, 2*p))
	inf, zero := o.Or(a.inf, b.inf), o.Or(a.zero, b.zero)
	r = o.mux(zero, o.zero(neg), r)
	r = o.mux(inf, o.mux(zero, o.defaultNaN(), o.infinity(neg)), r)
	return o.nans(a, b, va, vb, r)
}

// shifted rounds like round where the leading one is the top bit or the one below.
func (o floatOp) shifted(neg Lit, exp, sig []Lit) []Lit {
	low := sig[len(sig)-1].Not()
	sig = o.mux(low, shiftLeft(sig, 1), sig)
	exp, _ = o.add(exp, pad(nil, len(exp), low), False)
	return o.round(neg, exp, sig)
}

// quotient returns a / b.
func (o floatOp) quotient(va, vb []Lit) []Lit {
	p := o.Prec
	a, b := o.unpack(o.Format, va), o.unpack(o.Format, vb)
	x, y := o.normalized(a), o.normalized(b)
	neg := o.Xor(a.neg, b.neg)
	ew := len(x.exp) + 1
	exp := o.sub(signExtend(x.exp, ew), signExtend(y.exp, ew))
	d := append([]Lit{}, y.sig...)
	d[p-1] = True // it is, but for 0
	q, rest := o.longDivide(above(p+2, x.sig), d)
	r := o.shifted(neg, exp, append([]Lit{o.any(rest)}, q...))
	r = o.mux(o.Or(a.zero, b.inf), o.zero(neg), r)
	r = o.mux(o.Or(a.inf, b.zero), o.infinity(neg), r)
	invalid := o.Or(o.And(a.inf, b.inf), o.And(a.zero, b.zero))
	r = o.mux(invalid, o.defaultNaN(), r)
	return o.nans(a, b, va, vb, r)
}

// longDivide returns x / y and x % y, where the top bit of y is set. Like squareRoot it goes
// digit by digit: new bits bound by a product would be a search, even where x and y are known.
func (g *Graph) longDivide(x, y []Lit) (quo, rem []Lit) {
	n, w := len(x)-len(y)+1, len(y)+1
	y = pad(y, w, False)
	rem = pad(x[n:], w, False) // less than y
	for i := n - 1; i >= 0; i-- {
		rem = append([]Lit{x[i]}, rem[:w-1]...)
		less := g.ult(rem, y)
		rem = g.mux(less, rem, g.sub(rem, y))
		quo = append([]Lit{less.Not()}, quo...)
	}
	return quo, rem
}

// squareRoot returns the root of x, rounded down, and whether it is exact: digit by
// digit.
func (g *Graph) squareRoot(x []Lit) (root []Lit, exact Lit) {
	n := len(x) / 2
	rest := constant(0, n+2)
	for i := n - 1; i >= 0; i-- {
		rest = append([]Lit{x[2*i], x[2*i+1]}, rest[:n]...)
		try := pad(append([]Lit{True, False}, root...), n+2, False)
		less := g.ult(rest, try)
		rest = g.mux(less, rest, g.sub(rest, try))
		root = append([]Lit{less.Not()}, root...)
	}
	return root, g.any(rest).Not()
}

// root returns the square root of v.
func (o floatOp) root(v []Lit) []Lit {
	p := o.Prec
	a := o.unpack(o.Format, v)
	x := o.normalized(a)
	odd := x.exp[0]
	s, exact := o.squareRoot(o.mux(odd, pad(above(p+4, x.sig), 2*p+4, False), pad(above(p+3, x.sig), 2*p+4, False)))
	r := o.round(False, signExtend(x.exp[1:], len(x.exp)), append([]Lit{exact.Not()}, s...))
	r = o.mux(a.inf, o.infinity(False), r)
	r = o.mux(a.neg, o.defaultNaN(), r)
	r = o.mux(a.zero, v, r)
	return o.mux(a.nan, o.quiet(v), r)
}

// fromInt returns the signed integer v.
func (o floatOp) fromInt(v []Lit) []Lit {
	n := len(v)
	neg := v[n-1]
	sig, lz := o.normalize(o.mux(neg, o.neg(v), v))
	exp := o.plus(o.neg(pad(lz, len(lz)+2, False)), n-1)
	return o.mux(o.any(v), o.round(neg, exp, sig), o.zero(False))
}

// toInt returns v, of format f, as a signed integer of n bits.
func (o floatOp) toInt(f softfp.Format, v []Lit, n int) []Lit {
	a := o.unpack(f, v)
	wide := max(n+2, f.Prec) // the integer and what is below the point
	low := wide - n
	ew := len(a.exp) + 6
	shift := o.plus(o.neg(signExtend(a.exp, ew)), n-1)
	x := o.shiftSticky(above(wide-f.Prec, a.sig), shift[:ew-1])
	q := pad(x[low:], n+1, False)
	q, _ = o.add(q, constant(0, n+1), o.away(a.neg, q[0], x[low-1], o.any(x[:low-1])))
	bad := o.Or(q[n], o.And(q[n-1], o.Or(a.neg.Not(), o.any(q[:n-1]))))
	bad = o.Or(bad, o.Or(shift[ew-1], o.Or(a.nan, a.inf)))
	return o.mux(bad, append(constant(0, n-1), True), o.mux(a.neg, o.neg(q[:n]), q[:n]))
}

// convert returns v, of format f.
func (o floatOp) convert(f softfp.Format, v []Lit) []Lit {
	a := o.unpack(f, v)
	x := o.normalized(a)
	r := o.mux(a.zero, o.zero(a.neg), o.round(a.neg, x.exp, x.sig))
	r = o.mux(a.inf, o.infinity(a.neg), r)
	payload := v[:f.Prec-1]
	if d := o.Prec - f.Prec; d >= 0 {
		payload = above(d, payload)
	} else {
		payload = payload[-d:]
	}
	nan := append(append(append([]Lit{}, payload...), pad(nil, o.ExpBits(), True)...), a.neg)
	return o.mux(a.nan, o.quiet(nan), r)
}

func init() {
	circuits[expr.FAdd] = func(g *Graph, r expr.Ref, x, y, _ []Lit, w int) []Lit { return g.floatOp(r, w).sum(x, y, false) }
	circuits[expr.FSub] = func(g *Graph, r expr.Ref, x, y, _ []Lit, w int) []Lit { return g.floatOp(r, w).sum(x, y, true) }
	circuits[expr.FMul] = func(g *Graph, r expr.Ref, x, y, _ []Lit, w int) []Lit { return g.floatOp(r, w).product(x, y) }
	circuits[expr.FDiv] = func(g *Graph, r expr.Ref, x, y, _ []Lit, w int) []Lit { return g.floatOp(r, w).quotient(x, y) }
	circuits[expr.FSqrt] = func(g *Graph, r expr.Ref, x, _, _ []Lit, w int) []Lit { return g.floatOp(r, w).root(x) }
	circuits[expr.FFromI] = func(g *Graph, r expr.Ref, x, _, _ []Lit, w int) []Lit { return g.floatOp(r, w).fromInt(x) }
	circuits[expr.FToI] = func(g *Graph, r expr.Ref, x, _, _ []Lit, w int) []Lit {
		return g.floatOp(r, w).toInt(softfp.FormatOf(uint(len(x))), x, w)
	}
	circuits[expr.FCvt] = func(g *Graph, r expr.Ref, x, _, _ []Lit, w int) []Lit {
		return g.floatOp(r, w).convert(softfp.FormatOf(uint(len(x))), x)
	}
}
