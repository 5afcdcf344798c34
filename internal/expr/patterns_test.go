package expr_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"symchef/internal/expr"
	"symchef/internal/pace"
	"symchef/internal/seed"
	"symchef/internal/smtlib"
)

// input returns n symbolic bytes and the 64-bit words memory makes of them.
func input(c *expr.Ctx, n int) (bytes, words []expr.Ref) {
	for i := range n {
		b := c.Var(fmt.Sprintf("stdin[%d]", i), 8)
		bytes = append(bytes, b)
		if i%8 == 0 {
			words = append(words, b)
		} else {
			words[i/8] = c.Concat(b, words[i/8])
		}
	}
	return bytes, words
}

// pcmpeqb compares the bytes of two words, pmovmskb gathers their top bits.
func pcmpeqb(c *expr.Ctx, x, y expr.Ref) expr.Ref {
	var r expr.Ref
	for i := range uint(8) {
		b := c.SExt(c.Eq(c.Extract(x, 8*i, 8), c.Extract(y, 8*i, 8)), 8)
		if r == 0 {
			r = b
		} else {
			r = c.Concat(b, r)
		}
	}
	return r
}

func pmovmskb(c *expr.Ctx, words ...expr.Ref) expr.Ref {
	var r expr.Ref
	for _, x := range words {
		for i := range uint(8) {
			b := c.Extract(x, 8*i+7, 1)
			if r == 0 {
				r = b
			} else {
				r = c.Concat(b, r)
			}
		}
	}
	return c.ZExt(r, 64)
}

// TestStrlen: the SSE2 idiom comes down to comparisons of single bytes.
func TestStrlen(t *testing.T) {
	c := expr.New()
	b, words := input(c, 16)
	zero := c.Const(0, 64)
	mask := pmovmskb(c, pcmpeqb(c, words[0], zero), pcmpeqb(c, words[1], zero))
	none := c.Eq(c.Extract(mask, 0, 32), c.Const(0, 32)) // test eax, eax
	if n := len(c.Conjuncts(nil, none)); n != 16 {
		t.Errorf("no byte is zero: %d conjuncts, not 16", n)
	}
	// bsf as a chain of Ites from bit 0 on, the result compared with 3.
	at := c.Const(0, 64)
	for i := uint(16); i > 0; i-- {
		at = c.Ite(c.Extract(mask, i-1, 1), c.Const(uint64(i-1), 64), at)
	}
	three := c.Eq(at, c.Const(3, 64))
	want := c.Eq(b[3], c.Const(0, 8))
	for i := range 3 {
		want = c.And(want, c.Ne(b[i], c.Const(0, 8)))
	}
	if n := len(c.Conjuncts(nil, three)); n != 4 {
		t.Errorf("length 3: %d conjuncts, not 4:\n%s", n, smtlib.Print(c, []expr.Ref{three}))
	}
	r := seed.Rand(t)
	for range 2000 {
		as := make(expr.Assignment, 16)
		for i := range as {
			as[i] = r.Uint64N(3)
		}
		if c.Eval(three, as) != c.Eval(want, as) {
			t.Fatalf("under %v", as)
		}
	}
}

// TestRegisterForms lists what lifted code makes, and the form it comes to.
func TestRegisterForms(t *testing.T) {
	c := expr.New()
	b, words := input(c, 8)
	k := c.Const
	zx := func(r expr.Ref) expr.Ref { return c.ZExt(r, 64) }
	low := func(r expr.Ref, w uint) expr.Ref { return c.Extract(r, 0, w) }
	digit := zx(c.Add(c.ZExt(b[0], 32), k(^uint64(47), 32))) // movzx eax, b; sub eax, 48
	for _, row := range []struct {
		name      string
		got, want expr.Ref
	}{
		{"isdigit", c.Ult(low(digit, 32), k(10, 32)), c.Ult(c.Add(b[0], k(208, 8)), k(10, 8))},
		{"movzx, cmp", c.Eq(low(zx(c.ZExt(b[0], 32)), 32), k('A', 32)), c.Eq(b[0], k('A', 8))},
		{"cmp out of reach", c.Eq(c.ZExt(b[0], 32), k(300, 32)), k(0, 1)},
		{"word == constant", c.Eq(low(words[0], 16), k(0x4142, 16)), c.And(c.Eq(b[1], k(0x41, 8)), c.Eq(b[0], k(0x42, 8)))},
		{"shift and or of bytes", c.Or(c.Shl(c.ZExt(b[1], 32), k(8, 32)), c.ZExt(b[0], 32)), c.ZExt(low(words[0], 16), 32)},
		{"and 0xff", c.And(words[0], k(0xff, 64)), zx(b[0])},
		{"shr 8, movzx", low(c.LShr(words[0], k(8, 64)), 8), b[1]},
		{"mov al", c.Or(c.And(words[0], k(^uint64(0xff), 64)), zx(b[7])), c.Concat(c.Extract(words[0], 8, 56), b[7])},
		{"sete, test", c.Ne(zx(c.Eq(b[0], b[1])), k(0, 64)), c.Eq(b[0], b[1])},
		{"sbb mask", c.Neg(zx(c.Ult(b[0], b[1]))), c.SExt(c.Ult(b[0], b[1]), 64)},
		{"signed compare of bytes", c.Slt(c.ZExt(b[0], 32), c.ZExt(b[1], 32)), c.Ult(b[0], b[1])},
		{"lea: times five", c.Add(words[0], c.Shl(words[0], k(2, 64))), c.Mul(words[0], k(5, 64))},
		{"lea: times nine", c.Add(c.Var("m", 64), c.Shl(c.Var("m", 64), k(3, 64))), c.Mul(c.Var("m", 64), k(9, 64))},
		{"aligned", low(c.Add(c.And(words[0], k(^uint64(15), 64)), k(40, 64)), 4), k(8, 4)},
		{"cmp by sub", c.Eq(c.Sub(words[0], c.Var("m", 64)), k(0, 64)), c.Eq(words[0], c.Var("m", 64))},
		{"bool table", c.Eq(c.Select([]uint64{9: 4, 10: 4, 11: 4}, b[0], 8), k(4, 8)), c.Ult(c.Add(b[0], k(247, 8)), k(3, 8))},
		{"singletons", c.Select([]uint64{1000, 1056, 1112, 1168}, c.ZExt(low(b[0], 2), 64), 64),
			c.Add(c.Mul(zx(low(b[0], 2)), k(56, 64)), k(1000, 64))},
	} {
		if row.got != row.want {
			t.Errorf("%s:\n%snot\n%s", row.name, dump(c, row.got), dump(c, row.want))
		}
	}
}

func dump(c *expr.Ctx, r expr.Ref) string {
	s := smtlib.Print(c, []expr.Ref{c.Eq(c.Var(fmt.Sprintf("result%d", c.Width(r)), c.Width(r)), r)})
	return s[strings.LastIndex(s, "(declare"):]
}

// TestRangeExhaustive checks bounds and known bits of every operator on every
// pair of short intervals against all values in them.
func TestRangeExhaustive(t *testing.T) {
	c := expr.New()
	a, b := c.Var("a", 3), c.Var("b", 3)
	// Operands of many shapes over three bits each.
	shapes := func(v expr.Ref) []expr.Ref {
		k := func(n uint64) expr.Ref { return c.Const(n, 3) }
		return []expr.Ref{v, c.And(v, k(5)), c.Or(v, k(2)), c.Or(v, k(4)), c.Select([]uint64{2, 5, 3, 3, 5, 4, 2, 5}, v, 3),
			c.URem(v, k(3)), c.UDiv(v, k(3)), c.Select([]uint64{6, 7, 5, 5, 7, 6, 5, 7}, v, 3), c.ZExt(c.Extract(v, 0, 2), 3), k(0), k(3), k(7)}
	}
	ops := []func(x, y expr.Ref) expr.Ref{c.And, c.Or, c.Xor, c.Add, c.Sub, c.Mul, c.MulHU, c.MulHS, c.UDiv, c.URem, c.SDiv, c.SRem,
		c.Shl, c.LShr, c.AShr, c.Eq, c.Ult, c.Slt, c.Concat,
		func(x, y expr.Ref) expr.Ref { return c.Ite(c.Ult(a, b), x, y) },
		func(x, _ expr.Ref) expr.Ref { return c.Not(x) }, func(x, _ expr.Ref) expr.Ref { return c.Neg(x) },
		func(x, _ expr.Ref) expr.Ref { return c.SExt(x, 5) }, func(x, _ expr.Ref) expr.Ref { return c.ZExt(x, 5) },
		func(x, y expr.Ref) expr.Ref { return c.Extract(c.Mul(x, y), 1, 2) }}
	for i, op := range ops {
		for _, x := range shapes(a) {
			for _, y := range shapes(b) {
				r := op(x, y)
				lo, hi := c.Range(r)
				zeros, ones := c.Known(r)
				for v := range uint64(64) {
					got := c.Eval(r, expr.Assignment{v & 7, v >> 3})
					if got < lo || got > hi || got&zeros != 0 || ^got&ones != 0 {
						t.Fatalf("operator %d: %d outside [%d, %d], zeros %b, ones %b\n%s", i, got, lo, hi, zeros, ones, dump(c, r))
					}
				}
			}
		}
	}
}

// TestSharedGraphIsCheap: rules that descend do so once per node.
func TestSharedGraphIsCheap(t *testing.T) {
	c := expr.New()
	x, y := c.ZExt(c.Var("a", 32), 64), c.Var("b", 64)
	for i := range 3000 {
		x = c.Add(c.Xor(x, c.Const(uint64(i)*0x9e3779b97f4a7c15, 64)), c.Mul(x, y))
	}
	start := time.Now()
	c.Extract(x, 0, 32)
	c.Extract(x, 0, 8)
	c.Range(x)
	if pace.Exceeds(t, start, 5*time.Second) {
		t.Errorf("%v", time.Since(start))
	}
	t.Logf("%d nodes", c.Len())
}

// BenchmarkTenMillionNodes builds an arena of ten million nodes out of what
// lifted code does most, and reports its size and the collector's share.
func BenchmarkTenMillionNodes(b *testing.B) {
	const nodes = 10_000_000
	for range b.N {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		c := expr.New()
		ops := 0
		in, _ := input(c, 4096)
		r := rand.New(rand.NewPCG(1, 1))
		h := c.ZExt(in[0], 64)
		for c.Len() < nodes {
			v := c.ZExt(in[r.IntN(len(in))], 64)
			switch r.IntN(4) {
			case 0:
				h = c.Add(c.Mul(h, c.Const(31, 64)), v)
			case 1:
				h = c.Xor(c.LShr(h, c.Const(uint64(1+r.IntN(40)), 64)), c.Mul(h, v))
			case 2:
				h = c.Ite(c.Ult(h, c.Const(r.Uint64(), 64)), c.Add(h, v), c.Sub(h, v))
			case 3:
				h = c.Concat(c.Extract(h, 0, 56), in[r.IntN(len(in))])
			}
			ops++
		}
		built := time.Since(start)
		pause := time.Now()
		runtime.GC()
		collection := time.Since(pause)
		runtime.ReadMemStats(&after)
		var gc debug.GCStats
		debug.ReadGCStats(&gc)
		heap := after.HeapInuse - before.HeapInuse
		b.ReportMetric(float64(heap)/(1<<20), "heap-MiB")
		b.ReportMetric(float64(heap)/float64(c.Len()), "heap-B/node")
		b.ReportMetric(float64(c.Bytes())/float64(c.Len()), "arena-B/node")
		b.ReportMetric(100*after.GCCPUFraction, "gc-cpu-%")
		b.ReportMetric(float64(after.PauseTotalNs-before.PauseTotalNs)/1e6, "gc-pause-ms")
		b.ReportMetric(float64(collection.Microseconds())/1e3, "full-gc-ms")
		b.ReportMetric(float64(built.Nanoseconds())/float64(c.Len()), "ns/node")
		runtime.KeepAlive(c)
	}
}

// BenchmarkConstructors measures what is asked for most: nodes that exist, and
// terms a rule rewrites.
func BenchmarkConstructors(b *testing.B) {
	c := expr.New()
	_, words := input(c, 8)
	m := c.Var("m", 64)
	b.Run("present", func(b *testing.B) {
		for range b.N {
			c.Add(words[0], m)
		}
	})
	b.Run("rewritten", func(b *testing.B) {
		for range b.N {
			c.Extract(words[0], 0, 8)
		}
	})
	b.Run("fresh", func(b *testing.B) {
		c := expr.New()
		x := c.Var("m", 64)
		for i := range b.N {
			x = c.Mul(c.Add(x, c.Const(uint64(bits.Reverse32(uint32(i))), 64)), x)
			if c.Len() > 1<<22 {
				c = expr.New()
				x = c.Var("m", 64)
			}
		}
	})
}
