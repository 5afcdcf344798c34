package cpucheck

import (
	"math"
	"math/rand/v2"
)

// special64 are doubles where results change kind; special32 floats.
var special64 = []uint64{0, 1 << 63, 0x3ff << 52, 0xbff << 52, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0xfff8000000001234, 0x7ff0000000000001, 0xfff7ffffffffffff,
	1, 1<<63 | 1, 0xfffffffffffff, 0x10000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
	math.Float64bits(0.5), math.Float64bits(1.5), math.Float64bits(2.5), math.Float64bits(-0.5), math.Float64bits(1 << 31), math.Float64bits(1<<31 - 0.5),
	math.Float64bits(-(1 << 31) - 0.5), math.Float64bits(-(1 << 31) - 1), math.Float64bits(1 << 63), math.Float64bits(-(1 << 63)), math.Float64bits(1<<63 - 1024),
	math.Float64bits(1e-40), math.Float64bits(math.MaxFloat32), math.Float64bits(math.SmallestNonzeroFloat32 / 2), math.Float64bits(0x1p-126), math.Float64bits(0x1.ffffffp-127)}

var special32 = []uint32{0, 1 << 31, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234, 0x7f800001, 0xffbfffff, 1, 0x80000001, 0x7fffff, 0x800000,
	0x7f7fffff, 0xff7fffff, math.Float32bits(0.5), math.Float32bits(1.5), math.Float32bits(2.5), math.Float32bits(1 << 31), math.Float32bits(-(1 << 31)), math.Float32bits(1 << 63)}

// Double returns a double, often a special one.
func Double(r *rand.Rand) uint64 {
	switch r.IntN(5) {
	case 0:
		return special64[r.IntN(len(special64))]
	case 1: // near 1, few bits
		return (0x3ff-8+r.Uint64N(16))<<52 | r.Uint64()&0xfff<<40 | r.Uint64()&1<<63
	case 2: // integers
		return math.Float64bits(float64(int64(Value(r))))
	case 3: // near the ends of the range
		return []uint64{0, 0x7fd << 52, 0x380 << 52, 0x47c << 52, 0x1ff << 52, 0x5ff << 52}[r.IntN(6)] + r.Uint64()&(1<<54-1) | r.Uint64()&1<<63
	}
	return r.Uint64()
}

// Single returns a float, often a special one.
func Single(r *rand.Rand) uint64 {
	switch r.IntN(5) {
	case 0:
		return uint64(special32[r.IntN(len(special32))])
	case 1:
		return (0x7f-8+r.Uint64N(16))<<23 | r.Uint64()&0xff<<15 | r.Uint64()&1<<31
	case 2:
		return uint64(math.Float32bits(float32(int32(Value(r)))))
	case 3:
		return []uint64{0, 0x7d << 24, 0x3f << 23, 0xbf << 23}[r.IntN(4)] + r.Uint64()&(1<<25-1) | r.Uint64()&1<<31
	}
	return r.Uint64() & 0xffffffff
}

// special80 are 80-bit numbers where results change kind, invalid ones included.
var special80 = []struct {
	sig uint64
	se  uint16
}{
	{0, 0}, {0, 0x8000}, {1 << 63, 0x3fff}, {1 << 63, 0xbfff}, {1 << 63, 0x7fff}, {1 << 63, 0xffff}, {3 << 62, 0xffff}, {3<<62 | 0x1234, 0x7fff},
	{1<<63 | 1, 0x7fff}, {1<<63 | 0x4321<<32, 0xffff}, {1, 0}, {1 << 62, 0x8000}, {1 << 63, 0}, {1<<63 | 1, 0}, {1 << 63, 1}, {^uint64(0), 0x7ffe}, {^uint64(0), 0xfffe},
	{1, 0x7fff}, {1 << 62, 0x4000}, {0, 0x4000}, {0, 0x7fff}, {^uint64(0), 0x401d}, {1 << 63, 0x401e}, {1 << 63, 0xc01e}, {1 << 63, 0xc03e}, {1 << 63, 0x403e}, {3 << 62, 0x3ffe},
}

// Extended returns an 80-bit number, often a special one or of a class of its own: significand, sign and exponent.
func Extended(r *rand.Rand) (uint64, uint16) {
	sign := uint16(r.IntN(2)) << 15
	sig := r.Uint64() | 1<<63
	if r.IntN(2) == 0 {
		sig = 1<<63 | sig&(^uint64(0)<<r.IntN(64))
	}
	switch r.IntN(6) {
	case 0:
		v := special80[r.IntN(len(special80))]
		return v.sig, v.se
	case 1:
		return sig, sign | uint16(r.IntN(0x7fff)+1)&0x7fff
	case 2: // integers and near
		return sig, sign | uint16(0x3ffc+r.IntN(70))
	case 3: // ends of the ranges of the formats
		return sig, sign | []uint16{1, 0x7ffe - 66, 0x3fff - 1022 - 60, 0x3fff + 1020, 0x3fff - 126 - 30, 0x3fff + 124}[r.IntN(6)] + uint16(r.IntN(66))
	case 4:
		if r.IntN(4) == 0 {
			return sig >> r.IntN(64), sign // denormals
		}
	}
	return sig, sign | uint16(0x3ff0+r.IntN(32))
}

// AllModes are the rounding modes and denormals-are-zero, flush-to-zero bits of MXCSR, the default often.
var AllModes = []uint32{0, 0, 0, 0, 0x2000, 0x4000, 0x6000, 0x40, 0x8000, 0x8040, 0xa040, 0xc000, 0xe040}

// Floats returns what makes states with floats of w bits (integers for w = 0) in the xmm registers and in Data, and one of the
// modes of MXCSR. Its status flags are all set before, since the lifter does not set them.
func Floats(w int, modes []uint32) func(r *Rand, s *State) {
	kind := map[int]int{0: integers, 32: singles, 64: doubles}[w]
	return func(r *Rand, s *State) {
		Random(r, s)
		r.fill(s.FX[160:416], kind)
		r.fill(s.Upper[:], kind)
		r.fill(s.Data[0x180:0x2a0], kind)
		r.renew(kind)
		if r.IntN(4) == 0 { // equal operands
			lo, hi := s.XMM(1)
			s.SetXMM(2, lo, hi)
		}
		s.SetMXCSR(0x1fbf | modes[r.IntN(len(modes))])
	}
}

// X87 makes a state with a random stack and control word, all exceptions masked.
func X87(r *Rand, s *State) {
	Random(r, s)
	cw := uint16(0x7f) | []uint16{0, 2, 3, 3}[r.IntN(4)]<<8 | uint16(r.IntN(4))<<10
	tag := uint8(0xff)
	if r.IntN(6) == 0 {
		tag = uint8(r.Uint32())
	}
	sw := uint16(r.Uint32()) & 0x7f7f
	if r.IntN(2) == 0 {
		sw &^= 0x7f
	}
	s.SetX87(cw, sw, tag)
	r.fill(s.FX[32:160], extended)
	r.renew(extended)
	if r.IntN(8) == 0 {
		sig, se := s.ST(0)
		s.SetST(1, sig, se^uint16(r.IntN(2))<<15)
	}
	if r.IntN(2) == 0 { // comparable exponents
		sig, _ := s.ST(1)
		_, e0 := s.ST(0)
		if sig>>63 != 0 && e0&0x7fff > 70 && e0&0x7fff < 0x7f00 {
			s.SetST(1, sig, e0+uint16(r.IntN(130))-65)
		}
	}
}

// Room is X87 with at least one empty register in most of the states, for pushes.
func Room(r *Rand, s *State) {
	X87(r, s)
	if r.IntN(8) != 0 {
		top := s.FSW() >> 11 & 7
		s.SetX87(s.FCW(), s.FSW(), s.FTag()&^(1<<((top+7)&7)))
	}
}
