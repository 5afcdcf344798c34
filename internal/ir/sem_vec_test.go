package ir

import (
	"math/rand/v2"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

// vecWidths are the widths that the lifter uses ops with, beyond the first one for coverage.
var vecWidths = map[Op][]uint{
	VAdd: {8, 16, 32, 64}, VSub: {8, 16, 32, 64}, VMul: {8, 16, 32, 64}, VMulHU: {8, 16, 32}, VMulHS: {8, 16, 32},
	VAddSS: {8, 16, 32}, VAddUS: {8, 16, 32}, VSubSS: {8, 16, 32}, VSubUS: {8, 16, 32}, VEq: {8, 16, 32, 64}, VGtS: {8, 16, 32, 64},
	VMinU: {8, 16, 32}, VMaxU: {8, 16, 32}, VMinS: {8, 16, 32}, VMaxS: {8, 16, 32}, VAvgU: {8, 16, 32}, VMAdd: {16, 32}, VSad: {64},
	VShl: {16, 32, 64}, VShr: {16, 32, 64}, VSar: {16, 32, 64}, VMsk: {8, 16, 32, 64}, VPackSS: {16, 32}, VPackUS: {16, 32},
	VZipLo: {8, 16, 32}, VZipHi: {8, 16, 32}, VPair: {64}, VShuf4: {16}, VAlign: {64},
	VPerm: {8}, VEven: {8, 16, 32}, VOdd: {8, 16, 32}, VAbs: {8, 16, 32, 64}, VSign: {8, 16, 32, 64}, VMulRS: {8, 16, 32}, VMAddUS: {16, 32},
	VBlend: {16, 32, 64}, VBlendV: {8, 16, 32, 64}, VSxt: {8, 16, 32}, VZxt: {8, 16, 32}, VBits: {8, 16, 32, 64}, VMpsad: {16}, VMinPos: {16},
	FAdd: {32, 64}, FSub: {32, 64}, FMul: {32, 64}, FDiv: {32, 64}, FSqrt: {32, 64},
	FMin: {32, 64}, FMax: {32, 64}, FCmp: {32, 64}, FComi: {32, 64}, FFromI: {32, 64}, FToI: {32, 64}, FCvt: {32, 64}, FRound: {32, 64}, FFromHalf: {32}, FToHalf: {32},
}

// immLimit bounds the parameter of ops that have one.
var immLimit = map[Op]uint64{VPair: 4, VShuf4: 256, VAlign: 9, VBlend: 256, FCmp: 16, FRound: 8, FToHalf: 8}

func vecValue(r *rand.Rand) uint64 {
	special := []uint64{0, 1, 1 << 63, ^uint64(0), 0x8000000080000000, 0x7f800000ff800000, 0x7ff0000000000000, 0x7ff8000000000001,
		0x3ff0000000000000, 0x8080808080808080, 0x7f7f7f7f7f7f7f7f, 0x00ff00ff00ff00ff, 5, 17, 64}
	switch r.IntN(3) {
	case 0:
		return special[r.IntN(len(special))]
	case 1:
		return special[r.IntN(len(special))] ^ uint64(r.IntN(256))<<(8*r.IntN(8))
	}
	return r.Uint64()
}

// TestLaneRows checks Sym against Eval, on variables and with either operand constant.
func TestLaneRows(t *testing.T) {
	r := seed.Rand(t)
	for op := FirstVec; op < Load; op++ {
		row := RowOf(op)
		if row == nil {
			continue
		}
		ws := vecWidths[op]
		if ws == nil {
			t.Errorf("%s: not in vecWidths", row.Name)
		}
		for _, w := range ws {
			to := w
			if op == FCvt {
				to = 96 - w
			}
			if op == VSxt || op == VZxt {
				to = 64
			}
			e := expr.New()
			x, y, z := e.Var("a", 64), e.Var("b", 64), e.Var("c", 64)
			for range 300 {
				a, b, c := vecValue(r), vecValue(r), vecValue(r)
				if r.IntN(4) == 0 {
					b = a ^ uint64(r.IntN(2))<<63
				}
				rc := z
				if op >= FirstFloat { // MXCSR
					c = uint64(0x1f80 | r.IntN(2)<<6)
					rc = e.Const(c, 64)
				}
				imm := uint64(0)
				if n := immLimit[op]; n > 0 {
					imm = r.Uint64N(n)
				}
				ra, rb := x, y
				asg := expr.Assignment{a, b, c}
				switch r.IntN(3) {
				case 1:
					ra = e.Const(a, 64)
				case 2:
					rb = e.Const(b, 64)
				}
				ref := row.Sym(e, ra, rb, rc, w, to, imm)
				if e.Width(ref) != 64 {
					t.Fatalf("%s/%d: width %d", row.Name, w, e.Width(ref))
				}
				want := row.Eval(a, b, c, w, to, imm)
				if got := e.Eval(ref, asg); got != want {
					t.Fatalf("%s/%d a=%#x b=%#x c=%#x imm=%d: Eval %#x, Sym %#x", row.Name, w, a, b, c, imm, want, got)
				}
			}
		}
	}
}

// TestSwar checks the fast forms of Eval against lane-wise definitions.
func TestSwar(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, w := range []uint{8, 16, 32, 64} {
		for range 2000 {
			a, b := vecValue(r), vecValue(r)
			if r.IntN(2) == 0 {
				b = a ^ uint64(r.IntN(256))<<(8*r.IntN(8))
			}
			var add, sub, eq uint64
			for i := uint(0); i < 64; i += w {
				m := expr.Mask(w)
				x, y := a>>i&m, b>>i&m
				add |= (x + y) & m << i
				sub |= (x - y) & m << i
				if x == y {
					eq |= m << i
				}
			}
			for _, c := range []struct {
				op   Op
				want uint64
			}{{VAdd, add}, {VSub, sub}, {VEq, eq}} {
				if got := RowOf(c.op).Eval(a, b, 0, w, 0, 0); got != c.want {
					t.Fatalf("%v/%d %#x %#x: %#x, want %#x", c.op, w, a, b, got, c.want)
				}
			}
		}
	}
}

// TestMaskShape: pmovmskb of pcmpeqb is a concatenation of byte comparisons, each bit of which is one Eq.
func TestMaskShape(t *testing.T) {
	e := expr.New()
	x, y := e.Var("x", 64), e.Var("y", 64)
	zero := e.Const(0, 64)
	eq := func(a expr.Ref) expr.Ref { return RowOf(VEq).Sym(e, a, zero, 0, 8, 0, 0) }
	m := RowOf(VMsk).Sym(e, eq(x), eq(y), 0, 8, 0, 0)
	for i := uint(0); i < 16; i++ {
		src := x
		if i >= 8 {
			src = y
		}
		want := e.Eq(e.Extract(src, i%8*8, 8), e.Const(0, 8))
		if got := e.Extract(m, i, 1); got != want {
			t.Errorf("bit %d is not one comparison", i)
		}
	}
}
