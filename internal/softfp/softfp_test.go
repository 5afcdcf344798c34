package softfp

import (
	"math"
	"math/rand/v2"
	"testing"

	"symchef/internal/seed"
)

func randFloat(r *rand.Rand) uint64 {
	switch r.IntN(4) {
	case 0:
		return []uint64{0, 1 << 63, 1, 0x7ff << 52, 0x3ff << 52, 0x10000000000000, 0xfffffffffffff, 0x7fefffffffffffff, 0xfff << 52}[r.IntN(9)]
	case 1:
		return (0x3ff-4+r.Uint64N(8))<<52 | r.Uint64()&(1<<52-1)&(^uint64(0)<<r.IntN(52)) | r.Uint64()&1<<63
	case 2:
		return r.Uint64()&(1<<54-1) | r.Uint64()&1<<63 // denormals and near
	}
	for {
		if v := r.Uint64(); v>>52&0x7ff != 0x7ff {
			return v
		}
	}
}

// TestAgainstGo compares nearest rounding with Go's arithmetic. All modes, precisions and
// flags are checked against the processor by the tests of package lift.
func TestAgainstGo(t *testing.T) {
	r := seed.Rand(t)
	for range 200000 {
		a, b := randFloat(r), randFloat(r)
		x, y := math.Float64frombits(a), math.Float64frombits(b)
		m, n := F64.Unpack(a), F64.Unpack(b)
		for _, c := range []struct {
			name string
			got  func(e *Env) Num
			want float64
		}{
			{"add", func(e *Env) Num { return e.Add(F64, m, n) }, x + y},
			{"sub", func(e *Env) Num { return e.Sub(F64, m, n) }, x - y},
			{"mul", func(e *Env) Num { return e.Mul(F64, m, n) }, x * y},
			{"div", func(e *Env) Num { return e.Div(F64, m, n) }, x / y},
			{"sqrt", func(e *Env) Num { return e.Sqrt(F64, m) }, math.Sqrt(x)},
		} {
			got := F64.Pack(c.got(&Env{}))
			if want := math.Float64bits(c.want); got != want && !(c.want != c.want && F64.Unpack(got).IsNaN()) {
				t.Fatalf("%s(%#x, %#x) = %#x, want %#x", c.name, a, b, got, want)
			}
		}
	}
}

// TestRoundTrip: every encoding that has a value survives unpacking and packing.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 100000 {
		v := r.Uint64()
		if r.IntN(4) == 0 {
			v &= 1<<53 - 1 | 1<<63
		}
		if got := F64.Pack(F64.Unpack(v)); got != v {
			t.Fatalf("64 bits: %#x became %#x", v, got)
		}
		w := v & 0xffffffff
		if got := F32.Pack(F32.Unpack(w)); got != w {
			t.Fatalf("32 bits: %#x became %#x", w, got)
		}
		se := uint16(r.Uint32())
		sig := v
		if se&0x7fff != 0 {
			sig |= 1 << 63
		} else {
			sig &^= 1 << 63
		}
		n := Unpack80(sig, se)
		gs, ge := Pack80(n)
		if gs != sig || ge != se {
			t.Fatalf("80 bits: %#x %#x became %#x %#x", sig, se, gs, ge)
		}
	}
}

// TestRemainder compares fprem with math.Mod and fprem1 with math.Remainder.
func TestRemainder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 20000 {
		x := math.Ldexp(r.Float64()-0.5, r.IntN(60)-30)
		y := math.Ldexp(r.Float64()+0.1, r.IntN(8)-4)
		for _, nearest := range []bool{false, true} {
			got, _, partial := (&Env{X87: true}).Rem(F64.Unpack(math.Float64bits(x)), F64.Unpack(math.Float64bits(y)), nearest)
			want := math.Mod(x, y)
			if nearest {
				want = math.Remainder(x, y)
			}
			if partial || F64.Pack(got) != math.Float64bits(want) {
				t.Fatalf("rem(%v, %v, %v) = %v, want %v", x, y, nearest, math.Float64frombits(F64.Pack(got)), want)
			}
		}
	}
}
