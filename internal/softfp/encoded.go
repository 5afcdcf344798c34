package softfp

import "math"

// MXCSR is the environment of an SSE operation: rounding control, flush-to-zero and
// denormals-are-zero count, all exceptions are masked (SDM vol. 1, 10.2.3).
//
// Its methods compute on encodings of w = 32 or 64 bits, operands masked, and give the
// processor's results bit for bit: NaNs by table 4-7, the integer indefinite where a
// conversion does not fit. Without special control bits they use the host's arithmetic.
type MXCSR uint64

// The control bits.
const (
	DAZ MXCSR = 1 << 6
	FTZ MXCSR = 1 << 15
	rc  MXCSR = 3 << 13
)

// Rounding returns the MXCSR that has rounding mode m and nothing else.
func (m Mode) Rounding() MXCSR { return MXCSR(m) << 13 }

// Mode returns the rounding mode.
func (c MXCSR) Mode() Mode { return Mode(c >> 13 & 3) }

func (c MXCSR) special() bool { return c&(rc|FTZ|DAZ) != 0 }

func (c MXCSR) env() Env { return Env{Mode: c.Mode(), FTZ: c&FTZ != 0, DAZ: c&DAZ != 0} }

// FormatOf returns the format of w = 32 or 64 bits.
func FormatOf(w uint) Format {
	if w == 32 {
		return F32
	}
	return F64
}

// Infinity, QuietBit and DefaultNaN are encodings of w bits.
func Infinity(w uint) uint64 {
	if w == 32 {
		return 0xff << 23
	}
	return 0x7ff << 52
}

func QuietBit(w uint) uint64 {
	if w == 32 {
		return 1 << 22
	}
	return 1 << 51
}

func DefaultNaN(w uint) uint64 { return Infinity(w) | QuietBit(w) | 1<<(w-1) }

// IsNaN reports whether the encoding v of w bits is a NaN.
func IsNaN(v uint64, w uint) bool { return v&(1<<(w-1)-1) > Infinity(w) }

// Add returns a + b.
func (c MXCSR) Add(w uint, a, b uint64) uint64 {
	return c.binary(w, a, b, (*Env).Add, func(x, y float32) float32 { return x + y }, func(x, y float64) float64 { return x + y })
}

// Sub returns a - b.
func (c MXCSR) Sub(w uint, a, b uint64) uint64 {
	return c.binary(w, a, b, (*Env).Sub, func(x, y float32) float32 { return x - y }, func(x, y float64) float64 { return x - y })
}

// Mul returns a * b.
func (c MXCSR) Mul(w uint, a, b uint64) uint64 {
	return c.binary(w, a, b, (*Env).Mul, func(x, y float32) float32 { return x * y }, func(x, y float64) float64 { return x * y })
}

// Div returns a / b.
func (c MXCSR) Div(w uint, a, b uint64) uint64 {
	return c.binary(w, a, b, (*Env).Div, func(x, y float32) float32 { return x / y }, func(x, y float64) float64 { return x / y })
}

func (c MXCSR) binary(w uint, a, b uint64, soft func(e *Env, f Format, a, b Num) Num,
	op32 func(x, y float32) float32, op64 func(x, y float64) float64) uint64 {
	switch {
	case c.special():
		e, f := c.env(), FormatOf(w)
		return f.Pack(soft(&e, f, f.Unpack(a), f.Unpack(b)))
	case IsNaN(a, w): // the first operand that is a NaN, made quiet
		return a | QuietBit(w)
	case IsNaN(b, w):
		return b | QuietBit(w)
	case w == 32:
		return encode32(op32(math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))))
	}
	return encode64(op64(math.Float64frombits(a), math.Float64frombits(b)))
}

// encode32 and encode64 replace a NaN that an operation made of numbers by the default NaN.
func encode32(r float32) uint64 {
	if r != r {
		return DefaultNaN(32)
	}
	return uint64(math.Float32bits(r))
}

func encode64(r float64) uint64 {
	if r != r {
		return DefaultNaN(64)
	}
	return math.Float64bits(r)
}

// Sqrt returns the square root of a.
func (c MXCSR) Sqrt(w uint, a uint64) uint64 {
	switch {
	case c.special():
		e, f := c.env(), FormatOf(w)
		return f.Pack(e.Sqrt(f, f.Unpack(a)))
	case IsNaN(a, w):
		return a | QuietBit(w)
	case w == 32: // rounding twice is exact: 53 >= 2*24+2
		return encode32(float32(math.Sqrt(float64(math.Float32frombits(uint32(a))))))
	}
	return encode64(math.Sqrt(math.Float64frombits(a)))
}

// FromInt returns v as a float of w bits.
func (c MXCSR) FromInt(w uint, v int64) uint64 {
	switch {
	case c.special():
		e, f := c.env(), FormatOf(w)
		return f.Pack(e.FromInt(f, v))
	case w == 32:
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(float64(v))
}

// ToInt returns a, of w bits, as a signed integer of x bits, zero-extended.
func (c MXCSR) ToInt(w, x uint, a uint64) uint64 {
	mask := ^uint64(0) >> (64 - x)
	if c.special() && c&(rc|FTZ|DAZ) != Chop.Rounding() {
		e, f := c.env(), FormatOf(w)
		return uint64(e.ToInt(f.Unpack(a), int(x))) & mask
	}
	v := math.Float64frombits(a)
	if w == 32 {
		v = float64(math.Float32frombits(uint32(a)))
	}
	if c.Mode() == Chop {
		v = math.Trunc(v)
	} else {
		v = math.RoundToEven(v)
	}
	if lim := math.Ldexp(1, int(x)-1); !(v >= -lim && v < lim) { // NaN too
		return 1 << (x - 1)
	}
	return uint64(int64(v)) & mask
}

// Convert returns a, of w bits, as a float of x bits.
func (c MXCSR) Convert(w, x uint, a uint64) uint64 {
	switch {
	case c.special() || IsNaN(a, w):
		e := c.env()
		return FormatOf(x).Pack(e.Convert(FormatOf(x), FormatOf(w).Unpack(a)))
	case w == x:
		return a
	case w == 32:
		return math.Float64bits(float64(math.Float32frombits(uint32(a))))
	}
	return uint64(math.Float32bits(float32(math.Float64frombits(a))))
}

// ToHalf returns a, of 32 bits, in half precision.
func (c MXCSR) ToHalf(a uint64) uint64 {
	e := c.env()
	return F16.Pack(e.Convert(F16, F32.Unpack(a)))
}

// RoundInt returns a as a whole number in the rounding mode of c.
func (c MXCSR) RoundInt(w uint, a uint64) uint64 {
	if IsNaN(a, w) {
		return a | QuietBit(w)
	}
	v := math.Float64frombits(a)
	if w == 32 {
		v = float64(math.Float32frombits(uint32(a)))
	}
	switch c.Mode() {
	case Nearest:
		v = math.RoundToEven(v)
	case Down:
		v = math.Floor(v)
	case Up:
		v = math.Ceil(v)
	case Chop:
		v = math.Trunc(v)
	}
	if w == 32 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}
