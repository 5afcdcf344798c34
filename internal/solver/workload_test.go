package solver

import (
	"fmt"
	"math/rand"

	"symchef/internal/expr"
)

// workload makes the branch conditions of one straight-line program, in the
// shapes interpreters produce. in gives input bytes.
type workload struct {
	name string
	make func(c *expr.Ctx, in func(i int) expr.Ref, r *rand.Rand) []expr.Ref
}

var workloads = []workload{
	{"memcmp", func(c *expr.Ctx, in func(int) expr.Ref, r *rand.Rand) (out []expr.Ref) {
		for i, b := range []byte("Content-Length: ") {
			out = append(out, c.Eq(in(i), c.Const(uint64(b), 8)))
		}
		for i := 16; i < 48; i += 8 {
			x := in(i)
			for k := 1; k < 8; k++ {
				x = c.Concat(in(i+k), x)
			}
			out = append(out, c.Eq(x, c.Const(r.Uint64(), 64)))
		}
		return
	}},
	{"decimal", func(c *expr.Ctx, in func(int) expr.Ref, r *rand.Rand) (out []expr.Ref) {
		x := c.Const(0, 64)
		for i := range 9 {
			d := c.Add(in(i), c.Const(0xd0, 8))
			out = append(out, c.Ult(d, c.Const(10, 8)))
			x = c.Add(c.Mul(x, c.Const(10, 64)), c.ZExt(d, 64))
			out = append(out, c.Ult(c.Const(r.Uint64()%1000000, 64), x))
		}
		out = append(out, c.Eq(x, c.Const(uint64(r.Intn(1e9)), 64)), c.Eq(c.URem(x, c.Const(7, 64)), c.Const(3, 64)))
		return
	}},
	{"table", func(c *expr.Ctx, in func(int) expr.Ref, r *rand.Rand) (out []expr.Ref) {
		class := make([]uint64, 256)
		for i := range class {
			switch {
			case i >= '0' && i <= '9':
				class[i] = 4
			case i >= 'a' && i <= 'z':
				class[i] = 2 | 0x100
			case i >= 'A' && i <= 'Z':
				class[i] = 2 | 0x200
			case i == ' ' || i >= 9 && i <= 13:
				class[i] = 8
			case i == '_':
				class[i] = 2
			}
		}
		state := c.Const(0, 8)
		next := make([]uint64, 64)
		for i := range next {
			next[i] = uint64(r.Intn(4))
		}
		for i := range 12 {
			f := c.Select(class, in(i), 16)
			out = append(out, c.Ne(c.And(f, c.Const(2, 16)), c.Const(0, 16)),
				c.Eq(c.And(f, c.Const(12, 16)), c.Const(8, 16)))
			idx := c.Or(c.Shl(state, c.Const(4, 8)), c.And(c.Extract(f, 0, 8), c.Const(15, 8)))
			state = c.Select(next, idx, 8)
			out = append(out, c.Eq(state, c.Const(3, 8)))
		}
		return
	}},
	{"hash", func(c *expr.Ctx, in func(int) expr.Ref, r *rand.Rand) (out []expr.Ref) {
		h := c.Const(5381, 64)
		for i := range 6 {
			h = c.Add(c.Mul(h, c.Const(33, 64)), c.SExt(in(i), 64))
			out = append(out, c.Eq(c.And(h, c.Const(7, 64)), c.Const(uint64(r.Intn(8)), 64)))
		}
		for _, m := range []uint64{31, 8, 64} {
			out = append(out, c.Eq(c.And(c.Xor(h, c.LShr(h, c.Const(5, 64))), c.Const(m-1, 64)), c.Const(r.Uint64()%m, 64)))
		}
		return
	}},
	{"division", func(c *expr.Ctx, in func(int) expr.Ref, r *rand.Rand) (out []expr.Ref) {
		x := c.ZExt(c.Concat(c.Concat(in(0), in(1)), in(2)), 32)
		y := x
		for range 7 {
			d := c.URem(y, c.Const(10, 32))
			y = c.UDiv(y, c.Const(10, 32))
			out = append(out, c.Eq(d, c.Const(uint64(r.Intn(10)), 32)), c.Eq(y, c.Const(0, 32)))
		}
		s := c.SExt(c.Concat(in(3), in(4)), 64)
		out = append(out, c.Slt(c.SDiv(s, c.Const(60, 64)), c.Const(24, 64)),
			c.Eq(c.SRem(s, c.Const(60, 64)), c.Const(^uint64(0), 64)))
		return
	}},
	{"bigint", func(c *expr.Ctx, in func(int) expr.Ref, r *rand.Rand) (out []expr.Ref) {
		mask := c.Const(1<<30-1, 64)
		carry := c.Const(0, 64)
		digit := func(i int) expr.Ref {
			x := in(i)
			for k := 1; k < 4; k++ {
				x = c.Concat(x, in(i+k))
			}
			return c.And(c.ZExt(x, 64), mask)
		}
		for i := range 2 {
			carry = c.Add(carry, c.Mul(digit(4*i), c.Const(uint64(r.Intn(1<<30)), 64)))
			low := c.And(carry, mask)
			carry = c.LShr(carry, c.Const(30, 64))
			out = append(out, c.Eq(c.Extract(low, 0, 12), c.Const(r.Uint64(), 12)), c.Eq(carry, c.Const(0, 64)),
				c.Ult(c.Const(1<<29, 64), carry))
		}
		sum := c.Add(digit(0), digit(4))
		out = append(out, c.Eq(c.LShr(sum, c.Const(30, 64)), c.Const(1, 64)), c.Eq(c.And(sum, mask), c.Const(12345, 64)))
		return
	}},
	{"flags", func(c *expr.Ctx, in func(int) expr.Ref, r *rand.Rand) (out []expr.Ref) {
		word := func(i int) expr.Ref {
			return c.Concat(c.Concat(in(i+3), in(i+2)), c.Concat(in(i+1), in(i)))
		}
		for i := 0; i < 16; i += 8 {
			a, b := word(i), word(i+4)
			if i == 8 {
				b = c.Const(r.Uint64()>>uint(r.Intn(32)), 32)
			}
			d := c.Sub(a, b)
			sf := c.Extract(d, 31, 1)
			of := c.Extract(c.And(c.Xor(a, b), c.Xor(a, d)), 31, 1)
			cf := c.Ult(a, b)
			zf := c.Eq(d, c.Const(0, 32))
			out = append(out, c.Xor(sf, of), c.Or(cf, zf), c.Or(zf, c.Xor(sf, of)), zf, sf)
			sh := c.Shl(a, c.And(c.ZExt(in(i+4), 32), c.Const(31, 32)))
			out = append(out, c.Eq(c.Extract(sh, 31, 1), c.Const(1, 1)), c.Slt(c.AShr(sh, c.Const(3, 32)), c.Const(77, 32)))
		}
		return
	}},
	{"parser", func(c *expr.Ctx, in func(int) expr.Ref, r *rand.Rand) (out []expr.Ref) {
		depth := c.Const(0, 32)
		for i := range 24 {
			b := in(i)
			for _, k := range []byte(" \t\"{}[],:\\") {
				out = append(out, c.Eq(b, c.Const(uint64(k), 8)))
			}
			out = append(out, c.Ult(b, c.Const(0x20, 8)), c.Ult(c.Add(b, c.Const(0xd0, 8)), c.Const(10, 8)))
			open := c.Eq(c.Or(b, c.Const(0x20, 8)), c.Const('{', 8))
			depth = c.Add(depth, c.Ite(open, c.Const(1, 32), c.Const(0, 32)))
			if i%6 == 5 {
				out = append(out, c.Slt(c.Const(2, 32), depth))
			}
		}
		return
	}},
}

// explore walks the program n times along random models and puts every branch's
// other side to ask, as exploration does. The queries do not depend on
// the answers: the walks' inputs are random, or close to the magic numbers.
func (w *workload) explore(c *expr.Ctx, seed int64, n int, ask func(Query)) {
	r := rand.New(rand.NewSource(seed))
	in := func(i int) expr.Ref { return c.Var(fmt.Sprintf("in[%d]", i), 8) }
	branches := w.make(c, in, r)
	for range n {
		m := make(expr.Assignment, 64)
		for i := range m {
			m[i] = uint64("0123456789abcXYZ {}[]:,\"\x00\xff"[r.Intn(26)])
			if r.Intn(3) == 0 {
				m[i] = uint64('0' + r.Intn(10))
			}
		}
		var path []expr.Ref
		for _, b := range branches {
			if c.Eval(b, m) == 0 {
				b = c.Not(b)
			}
			ask(Query{Conjuncts: append(append([]expr.Ref{}, path...), c.Not(b)), Hint: m, New: 1})
			path = append(path, b)
		}
	}
}
