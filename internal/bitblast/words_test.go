package bitblast

import (
	"math/bits"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

// open returns n literals that are not constant.
func open(n int) []Lit {
	g := NewGraph(expr.New())
	x := make([]Lit, n)
	for i := range x {
		x[i] = g.source(opAux, 0, 0)
	}
	return x
}

func TestConstants(t *testing.T) {
	for _, v := range []uint64{0, 1, 2, 5, 0x8000_0000_0000_0001, ^uint64(0)} {
		for _, w := range []int{0, 1, 2, 3, 63, 64} {
			x := constant(v, w)
			for i, l := range x {
				if want := [2]Lit{False, True}[v>>i&1]; l != want {
					t.Errorf("bit %d of constant(%#x, %d) is %v", i, v, w, l)
				}
			}
			if got, ok := value(x); len(x) != w || !ok || got != v&expr.Mask(uint(w)) {
				t.Errorf("value(constant(%#x, %d)) = %#x, %v", v, w, got, ok)
			}
			if _, ok := value(append(x, open(1)...)); ok {
				t.Errorf("a word with an open bit above %d constant ones has a value", w)
			}
		}
	}
	if _, ok := value(constant(1, 65)); ok {
		t.Error("65 bits are a number of 64")
	}
}

// TestShapes: what only moves literals, bit by bit.
func TestShapes(t *testing.T) {
	r := seed.Rand(t)
	for range 2000 {
		x := append(open(r.IntN(12)), constant(r.Uint64()&r.Uint64()&r.Uint64(), 1+r.IntN(6))...)
		if r.IntN(2) == 0 {
			x = append(x, open(1+r.IntN(2))...)
		}
		bit := func(i int, fill Lit) Lit { // of x without end in both directions
			switch {
			case i < 0:
				return False
			case i >= len(x):
				return fill
			}
			return x[i]
		}
		check := func(what string, y []Lit, n int, want func(i int) Lit) {
			t.Helper()
			if len(y) != n {
				t.Fatalf("%s of %v has %d bits, want %d", what, x, len(y), n)
			}
			for i := range y {
				if y[i] != want(i) {
					t.Fatalf("%s of %v is %v: bit %d", what, x, y, i)
				}
			}
		}
		k, n, fill := r.IntN(8), 1+r.IntN(24), []Lit{False, True, 77}[r.IntN(3)]
		check("pad", pad(x, n, fill), n, func(i int) Lit { return bit(i, fill) })
		check("signExtend", signExtend(x, len(x)+k), len(x)+k, func(i int) Lit { return bit(i, x[len(x)-1]) })
		check("shiftLeft", shiftLeft(x, k), len(x), func(i int) Lit { return bit(i-k, False) })
		check("above", above(k, x), len(x)+k, func(i int) Lit { return bit(i-k, False) })
		check("invert", invert(x), len(x), func(i int) Lit { return x[i] ^ 1 })

		last := 0 // the highest bit that is not constant 0
		for i, l := range x {
			if l != False {
				last = i
			}
		}
		check("trim", trim(x), last+1, func(i int) Lit { return x[i] })
	}
}

// TestRowsOfProducts: what decides which factor drives the rows of a product.
func TestRowsOfProducts(t *testing.T) {
	s := open(4)
	a, b, c, d := s[0], s[1], s[2], s[3]
	for _, test := range []struct {
		y    []Lit
		w    int
		rows int // besides 1000 for a word that is open
	}{
		{[]Lit{a}, 8, 1}, {[]Lit{a, b, c, d}, 8, 4}, {[]Lit{a, b, c, d}, 3, 3},
		{[]Lit{a, a}, 8, 2}, {[]Lit{a, a, a, a, a}, 8, 2}, // s*(2^5 - 2^0)
		{[]Lit{a, a, a, a, a}, 5, 1}, {[]Lit{a, a, a, a, a}, 4, 1}, // no row at the end
		{[]Lit{b, c, a, a, a, a}, 6, 3}, {[]Lit{b, c, a, a, a, a}, 7, 4}, // sign-extended to the end, or not
		{[]Lit{False, b, False, False, c}, 8, 2}, {[]Lit{a, a, False, a, a, a, b}, 8, 5},
	} {
		n := 0
		for p := 0; p < min(len(test.y), test.w); {
			q := p
			for q < min(len(test.y), test.w) && test.y[q] == test.y[p] {
				q++
			}
			if got := runEnd(test.y, p, test.w); got != q {
				t.Errorf("the run at %d of %v ends at %d", p, test.y, got)
			}
			if test.y[p] != False {
				n += costOf(p, q, test.w)
			}
			p = q
		}
		if got := rows(test.y, test.w); got != 1000+test.rows || n != test.rows {
			t.Errorf("rows(%v, %d) = %d, of its runs %d, want %d", test.y, test.w, got, n, 1000+test.rows)
		}
	}
	for v, want := range map[uint64]int{0: 0, 1: 1, 0x8001: 2, ^uint64(0): 64} {
		if got := rows(constant(v, 64), 64); got != want {
			t.Errorf("rows of the constant %#x: %d", v, got)
		}
	}
}

// TestSizesOfProducts: a product with a constant has no more adders than the constant has digits -1, 0, 1 that are not 0, with no two
// neighbours; with one or two ones, none for the first.
func TestSizesOfProducts(t *testing.T) {
	const w = 24
	gates := func(f func(g *Graph, x, y []Lit)) int {
		g := NewGraph(expr.New())
		x, y := g.Bits(g.ctx.Var("x", w)), g.Bits(g.ctx.Var("y", w))
		before := g.Gates()
		f(g, x, y)
		return g.Gates() - before
	}
	adder := gates(func(g *Graph, x, y []Lit) { g.add(x, y, False) })
	for v := uint64(1); v < 1<<10; v++ {
		adders := bits.OnesCount64(v ^ 3*v)
		if ones := bits.OnesCount64(v); ones <= 2 {
			adders = ones - 1
		}
		if n := gates(func(g *Graph, x, _ []Lit) { g.mul(x, constant(v, w), w) }); n > adders*adder {
			t.Errorf("times %d: %d gates, more than %d adders of %d", v, n, adders, adder)
		}
	}
}

// TestSizesOfQuotients: a division by a power of two, by 0, or of less by more needs no gates; by another constant, fresh bits for the
// quotient and the remainder only.
func TestSizesOfQuotients(t *testing.T) {
	const w = 8
	for d := range uint64(1 << w) {
		for n := 1; n <= w; n++ { // bits of the dividend
			g := NewGraph(expr.New())
			x := pad(g.Bits(g.ctx.Var("x", uint(n))), w, False)
			before := g.Gates()
			g.divide(x, constant(d, w))
			fresh := 0
			for _, gate := range g.gates {
				if gate.op == opAux {
					fresh++
				}
			}
			digits := bits.Len64(d)
			switch plain := d&(d-1) == 0 || digits > n; {
			case plain && g.Gates() != before:
				t.Errorf("%d bits by %d: %d gates", n, d, g.Gates()-before)
			case !plain && fresh != n-digits+1+digits:
				t.Errorf("%d bits by %d: %d fresh bits", n, d, fresh)
			}
		}
	}
}
