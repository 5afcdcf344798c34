package bitblast

import "math/bits"

// Operations on words. A word is a slice of edges, the least significant first.

func constant(v uint64, w int) []Lit {
	x := make([]Lit, w)
	for i := range x {
		x[i] = Lit(v >> i & 1)
	}
	return x
}

// value returns x as a number when all its bits are constant.
func value(x []Lit) (v uint64, ok bool) {
	if len(x) > 64 {
		return 0, false
	}
	for i, l := range x {
		if l > True {
			return 0, false
		}
		v |= uint64(l) << i
	}
	return v, true
}

// trim returns x without constant zeros at the top, at least one bit long.
func trim(x []Lit) []Lit {
	for len(x) > 1 && x[len(x)-1] == False {
		x = x[:len(x)-1]
	}
	return x
}

// pad returns x extended to w bits by fill, or cut to w bits.
func pad(x []Lit, w int, fill Lit) []Lit {
	y := make([]Lit, w)
	for i := copy(y, x); i < w; i++ {
		y[i] = fill
	}
	return y
}

func invert(x []Lit) []Lit {
	y := make([]Lit, len(x))
	for i := range x {
		y[i] = x[i].Not()
	}
	return y
}

// add returns x + y + carry and the carry out.
func (g *Graph) add(x, y []Lit, carry Lit) ([]Lit, Lit) {
	z := make([]Lit, len(x))
	for i := range x {
		z[i] = g.Xor(g.Xor(x[i], y[i]), carry)
		carry = g.Maj(x[i], y[i], carry)
	}
	return z, carry
}

func (g *Graph) neg(x []Lit) []Lit {
	z, _ := g.add(invert(x), constant(0, len(x)), True)
	return z
}

func (g *Graph) mux(s Lit, x, y []Lit) []Lit {
	z := make([]Lit, len(x))
	for i := range x {
		z[i] = g.Mux(s, x[i], y[i])
	}
	return z
}

// eq returns x == y as a chain of ANDs, which emission makes one wide gate.
func (g *Graph) eq(x, y []Lit) Lit {
	r := True
	for i := range x {
		r = g.And(r, g.Xor(x[i], y[i]).Not())
	}
	return r
}

// ult returns x < y: the borrow of x - y.
func (g *Graph) ult(x, y []Lit) Lit {
	b := False
	for i := range x {
		b = g.Maj(x[i].Not(), y[i], b)
	}
	return b
}

// slt flips the sign bits to compare as unsigned numbers.
func (g *Graph) slt(x, y []Lit) Lit {
	n := len(x) - 1
	b := g.ult(x[:n], y[:n])
	return g.Maj(x[n], y[n].Not(), b)
}

// mul returns the low w bits of x * y. A constant operand is recoded into
// digits -1, 0, 1 with no two neighbours nonzero. So is a run of one literal s in
// places p to q-1, s*(2^q - 2^p): a sign-extended operand costs a row per own bit.
func (g *Graph) mul(x, y []Lit, w int) []Lit {
	x, y = trim(x), trim(y)
	if rows(x, w) < rows(y, w) {
		x, y = y, x // y drives the rows: the fewer the better
	}
	x = pad(x, w, False)
	if v, ok := value(y); ok {
		acc := constant(0, w)
		for i := 0; i < w && v != 0; i++ {
			row := shiftLeft(x, i)
			switch {
			case v&1 == 0:
				v >>= 1
			case v&3 == 3 && bits.OnesCount64(v) > 2:
				acc, _ = g.add(acc, invert(row), True)
				v = v>>1 + 1
			default:
				acc, _ = g.add(acc, row, False)
				v >>= 1
			}
		}
		return acc
	}
	acc := constant(0, w)
	row := func(s Lit, i int, minus bool) {
		r := make([]Lit, w-i)
		for k := range r {
			r[k] = g.And(s, x[k])
		}
		carry := False
		if minus {
			r, carry = invert(r), True
		}
		sum, _ := g.add(acc[i:], r, carry)
		copy(acc[i:], sum)
	}
	for p := 0; p < min(len(y), w); {
		q := runEnd(y, p, w)
		switch {
		case y[p] == False:
		case costOf(p, q, w) == q-p:
			for i := p; i < q; i++ {
				row(y[p], i, false)
			}
		default:
			row(y[p], p, true)
			if q < w {
				row(y[p], q, false)
			}
		}
		p = q
	}
	return acc
}

// runEnd is where the run of one literal that begins at y[p] ends, at most at w.
func runEnd(y []Lit, p, w int) int {
	q := p + 1
	for q < min(len(y), w) && y[q] == y[p] {
		q++
	}
	return q
}

// costOf is the number of rows of a run [p, q) in a product of w bits: one for
// each place, or one at each end; above the last place nothing is kept.
func costOf(p, q, w int) int {
	if q >= w {
		return 1
	}
	return min(q-p, 2)
}

// rows is the cost of y as the factor that drives the rows; a constant counts
// its set bits, less than any open word.
func rows(y []Lit, w int) int {
	if v, ok := value(y); ok {
		return bits.OnesCount64(v)
	}
	n := 1000
	for p := 0; p < min(len(y), w); {
		q := runEnd(y, p, w)
		if y[p] != False {
			n += costOf(p, q, w)
		}
		p = q
	}
	return n
}

func shiftLeft(x []Lit, k int) []Lit {
	y := make([]Lit, len(x))
	copy(y[min(k, len(y)):], x)
	return y
}

// shift moves x by the amount y, to the left or to the right; fill comes in.
func (g *Graph) shift(x, y []Lit, left bool, fill Lit) []Lit {
	w := len(x)
	x = append([]Lit(nil), x...)
	over := False
	for k := range y {
		if k >= 31 || 1<<k >= w {
			over = g.Or(over, y[k])
			continue
		}
		z := make([]Lit, w)
		for i := range z {
			src := fill
			if left && i-1<<k >= 0 {
				src = x[i-1<<k]
			} else if !left && i+1<<k < w {
				src = x[i+1<<k]
			}
			z[i] = g.Mux(y[k], src, x[i])
		}
		x = z
	}
	for i := range x {
		x[i] = g.Mux(over, fill, x[i])
	}
	return x
}

// selectTable returns entry idx of vals, w bits wide, as trees of MUX gates over
// the bits of idx; gate hashing makes equal subtables one tree.
func (g *Graph) selectTable(vals []uint64, idx []Lit, w int) []Lit {
	n := 0 // index bits that matter
	for n < len(idx) && 1<<n < len(vals) {
		n++
	}
	over := False
	for _, l := range idx[n:] {
		over = g.Or(over, l)
	}
	out := make([]Lit, w)
	row := make([]Lit, 1<<n)
	for b := range out {
		for i := range row {
			row[i] = False
			if i < len(vals) {
				row[i] = Lit(vals[i] >> b & 1)
			}
		}
		cur := row
		for k := 0; k < n; k++ {
			for i := 0; i < len(cur)/2; i++ {
				cur[i] = g.Mux(idx[k], cur[2*i+1], cur[2*i])
			}
			cur = cur[:len(cur)/2]
		}
		out[b] = g.And(cur[0], over.Not())
	}
	return out
}

// divide returns x / y and x % y as unsigned words of x's length, with
// SMT-LIB's results for y = 0.
func (g *Graph) divide(x, y []Lit) (quo, rem []Lit) {
	w := len(x)
	d, ok := value(y)
	if ok && d == 0 {
		return constant(^uint64(0), w), x
	}
	if ok && d&(d-1) == 0 {
		k := bits.TrailingZeros64(d)
		return pad(x[k:], w, False), pad(x[:k], w, False)
	}
	if v, okx := value(x); ok && okx {
		return constant(v/d, w), constant(v%d, w)
	}
	tx, ty := trim(x), trim(y)
	qw, rw := len(tx), min(len(tx), len(ty))
	if ok {
		qw = len(tx) - bits.Len64(d) + 1
		if qw <= 0 { // x < d
			return constant(0, w), x
		}
	}
	var q, r []Lit
	g.fresh(func(words [][]Lit) []Lit {
		q, r = words[0], words[1]
		return g.divides(tx, ty, q, r)
	}, qw, rw)
	quo, rem = pad(q, w, False), pad(r, w, False)
	if !ok {
		zero := True
		for _, l := range ty {
			zero = g.And(zero, l.Not())
		}
		quo = g.mux(zero, constant(^uint64(0), w), quo)
		rem = g.mux(zero, x, rem)
	}
	return quo, rem
}

// divides returns the side conditions of x = q*y + r, r < y; none unless y is 0.
func (g *Graph) divides(x, y, q, r []Lit) []Lit {
	wide := max(len(r), len(y))
	var side []Lit
	if d, ok := value(y); ok {
		// q < 2^qw and d < 2^len make q*d + r fit one bit more than x.
		m := len(q) + bits.Len64(d) + 1
		p := g.mul(q, y, m)
		p, _ = g.add(p, pad(r, m, False), False)
		side = append(g.same(p, pad(x, m, False)), g.ult(pad(r, wide, False), pad(y, wide, False)))
	} else {
		// As many columns as x has; whatever would leave them is forbidden.
		m := len(x)
		some := False
		for _, l := range y {
			some = g.Or(some, l)
		}
		acc := pad(r, m, False)
		bad := False
		above := make([]Lit, max(m, len(y))+1) // above[k]: y has a bit at k or higher
		for k := len(above) - 2; k >= 0; k-- {
			above[k] = above[k+1]
			if k < len(y) {
				above[k] = g.Or(above[k], y[k])
			}
		}
		for i := range q {
			bad = g.Or(bad, g.And(q[i], above[m-i]))
			row := make([]Lit, m-i)
			for k := range row {
				row[k] = False
				if k < len(y) {
					row[k] = g.And(q[i], y[k])
				}
			}
			sum, carry := g.add(acc[i:], row, False)
			copy(acc[i:], sum)
			bad = g.Or(bad, carry)
		}
		side = append(side, g.Or(some.Not(), bad.Not()))
		for i := range acc {
			side = append(side, g.Or(some.Not(), g.Xor(acc[i], x[i]).Not()))
		}
		side = append(side, g.Or(some.Not(), g.ult(pad(r, wide, False), pad(y, wide, False))))
	}
	return side
}

// fresh makes words of new bits that bind relates to others: its literals are true in every
// model, and for all values of the others there must be such bits.
func (g *Graph) fresh(bind func(words [][]Lit) (side []Lit), sizes ...int) {
	n := uint32(len(g.sides))
	g.sides = append(g.sides, nil)
	words := make([][]Lit, len(sizes))
	for i, k := range sizes {
		words[i] = make([]Lit, k)
		for j := range words[i] {
			words[i][j] = g.source(opAux, n, 0)
		}
	}
	side := bind(words)
	g.sides[n] = side
}

// same is the side condition that x and y are equal.
func (g *Graph) same(x, y []Lit) (side []Lit) {
	for i := range x {
		side = append(side, g.Xor(x[i], y[i]).Not())
	}
	return side
}
