package ir

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

// operand returns a random 64-bit value, often one at which something changes.
func operand(r *rand.Rand) uint64 {
	switch r.IntN(6) {
	case 0:
		return uint64(r.IntN(130)) - 2
	case 4: // float specials: zeros, infinities, NaNs, denormals, of both widths
		return []uint64{0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 1, 0x80000001, 0x3f800000,
			1 << 63, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48, 0x7ff0<<48 | 1, 1<<63 | 1, 0x3ff0 << 48}[r.IntN(15)]
	case 1: // powers of two and their neighbours
		return 1<<r.IntN(64) + uint64(r.IntN(3)) - 1
	case 2:
		return r.Uint64() >> r.IntN(64)
	case 3: // equal lanes
		return uint64(byte(r.Uint64())) * 0x0101010101010101
	}
	return r.Uint64()
}

// TestRows checks for every pure op with an expression that evaluating the
// expression gives what Eval gives, at each width and for several parameters.
func TestRows(t *testing.T) {
	r := seed.Rand(t)
	checked := 0
	for o := range 256 {
		row := RowOf(Op(o))
		if row == nil {
			continue
		}
		checked++
		t.Run(row.Name, func(t *testing.T) {
			for range 60 {
				checkRow(t, r, Op(o), row)
			}
		})
	}
	t.Logf("%d rows checked", checked)
}

// params returns a valid width, second width and immediate for a row.
func params(r *rand.Rand, o Op, row *Row) (w, x uint, imm uint64) {
	ws := []uint{8, 16, 32, 64}
	w, x = ws[r.IntN(4)], 64
	if row.Param {
		imm = uint64(r.IntN(256))
	}
	switch o {
	case Sx:
		for x = ws[r.IntN(4)]; x < w; x = ws[r.IntN(4)] {
		}
		imm = 0
	case Get, Put:
		if r.IntN(2) == 0 {
			w = []uint{1, 2, 4}[r.IntN(3)]
		}
		imm = uint64(r.IntN(int(65 - w)))
	case VAlign:
		imm = uint64(r.IntN(9))
	case VAddSS, VAddUS, VSubSS, VSubUS, VAvgU, VZipLo, VZipHi, VEven, VOdd, VMulRS:
		w = ws[r.IntN(3)]
	case VMAddUS:
		w = ws[1+r.IntN(2)]
	case VSxt, VZxt:
		w = ws[r.IntN(3)]
		x = w << (1 + r.IntN(bits.Len(64/w)-1))
		imm = uint64(r.IntN(int(64/w - 64/x + 1)))
	case VBits:
		imm = uint64(r.IntN(int(65 - 64/w)))
	}
	if o >= FirstFloat {
		w = ws[2+r.IntN(2)]
		x = ws[2+r.IntN(2)]
		if o == FCvt {
			x = 96 - w
		}
	}
	return w, x, imm
}

// checkRow builds the expression once over variables and compares on random operands.
func checkRow(t *testing.T, r *rand.Rand, o Op, row *Row) {
	t.Helper()
	w, x, imm := params(r, o, row)
	e := expr.New()
	names := [3]string{"a", "b", "c"}
	var vars [3]expr.Ref
	for i, n := range names {
		vars[i] = e.Var(n, 64)
	}
	// An operand may also be a constant, which the constructors fold.
	var fixed [3]uint64
	var isFixed [3]bool
	for i := range vars {
		if r.IntN(4) == 0 {
			isFixed[i], fixed[i] = true, operand(r)
			vars[i] = e.Const(fixed[i], 64)
		}
	}
	if o >= FirstFloat { // C is MXCSR, always concrete
		isFixed[2], fixed[2] = true, 0x1f80|[]uint64{0, 1 << 6, 1 << 15, 1<<6 | 1<<15}[r.IntN(4)]|r.Uint64()&(3<<13)
		vars[2] = e.Const(fixed[2], 64)
	}
	ref := row.Sym(e, vars[0], vars[1], vars[2], w, x, imm)
	if got := e.Width(ref); got != 64 {
		t.Fatalf("w=%d x=%d imm=%d: expression is %d bits wide", w, x, imm, got)
	}
	for range 40 {
		var v [3]uint64
		for i := range v {
			if v[i] = operand(r); isFixed[i] {
				v[i] = fixed[i]
			}
		}
		if r.IntN(4) == 0 && !isFixed[1] {
			v[1] = v[0]
		}
		want := row.Eval(v[0], v[1], v[2], w, x, imm)
		if got := e.Eval(ref, assignment(e, names, v)); got != want {
			t.Fatalf("%s w=%d x=%d imm=%d a=%#x b=%#x c=%#x: Eval %#x, Sym %#x", row.Name, w, x, imm, v[0], v[1], v[2], want, got)
		}
	}
}

// assignment gives the variables of names their values.
func assignment(e *expr.Ctx, names [3]string, v [3]uint64) expr.Assignment {
	a := make(expr.Assignment, e.NumVars())
	for i, n := range names {
		a[e.VarOf(e.Var(n, 64))] = v[i]
	}
	return a
}

// TestFlags checks SymFlags and SymCond against Flags and TestCond for every kind, width and condition.
func TestFlags(t *testing.T) {
	r := seed.Rand(t)
	for k := range numCCKinds {
		for _, w := range []uint{8, 16, 32, 64} {
			t.Run(fmt.Sprintf("kind%d/%d", k, w), func(t *testing.T) { checkFlags(t, r, MakeCC(k, w)) })
		}
	}
}

func checkFlags(t *testing.T, r *rand.Rand, cc CC) {
	e := expr.New()
	names := [3]string{"a", "b", "c"}
	a, b, c := e.Var("a", 64), e.Var("b", 64), e.Var("c", 64)
	flags := SymFlags(e, cc, a, b, c)
	var conds [16]expr.Ref
	for i := range conds {
		conds[i] = SymCond(e, uint64(i), cc, a, b, c)
	}
	for range 300 {
		v := [3]uint64{operand(r), operand(r), operand(r)}
		if r.IntN(4) == 0 {
			v[1] = v[0]
		}
		switch cc.Kind() {
		case CCShl, CCShr, CCSar: // a masked count that is not 0, as operands hold it
			n := uint64(31)
			if cc.Width() == 64 {
				n = 63
			}
			v[1] = 1 + r.Uint64N(n)
		}
		want := Flags(cc, v[0], v[1], v[2])
		as := assignment(e, names, v)
		if got := e.Eval(flags, as); got != want {
			t.Fatalf("a=%#x b=%#x c=%#x: Flags %#x, SymFlags %#x", v[0], v[1], v[2], want, got)
		}
		for i, ref := range conds {
			if got := e.Eval(ref, as) != 0; got != TestCond(uint64(i), want) {
				t.Fatalf("condition %d of a=%#x b=%#x c=%#x: flags %#x, SymCond %v", i, v[0], v[1], v[2], want, got)
			}
		}
	}
}
