package exec

import (
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/lift"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// TestDivide: a division of 64 bits stays symbolic where RDX is known to extend RAX, also if the block does not show that: it begins at the division
// once a trap was decided against. Quotient, remainder and traps are those of the numbers.
func TestDivide(t *testing.T) {
	r := seed.Rand(t)
	numbers := func() uint64 {
		edges := []uint64{0, 1, 2, 7, 1<<31 - 1, 1 << 31, 1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 2, 1<<64 - 1}
		if r.IntN(2) == 0 {
			return edges[r.IntN(len(edges))]
		}
		return r.Uint64() >> r.IntN(64)
	}
	for _, form := range []struct {
		name, code string
		rdx        func(e *expr.Ctx, rax expr.Ref) expr.Ref
		values     bool // are decided
	}{
		{"idiv, RDX is the sign", "\x48\xf7\xf9", func(e *expr.Ctx, rax expr.Ref) expr.Ref { return e.AShr(rax, e.Const(63, 64)) }, false},
		{"div, RDX is 0", "\x48\xf7\xf1", func(e *expr.Ctx, _ expr.Ref) expr.Ref { return e.Const(0, 64) }, false},
		{"cqo; idiv", "\x48\x99\x48\xf7\xf9", func(e *expr.Ctx, rax expr.Ref) expr.Ref { return rax }, false},
		{"idiv, RDX is not the sign", "\x48\xf7\xf9", func(e *expr.Ctx, rax expr.Ref) expr.Ref { return e.LShr(rax, e.Const(63, 64)) }, true},
		{"div, RDX is not 0", "\x48\xf7\xf1", func(e *expr.Ctx, rax expr.Ref) expr.Ref { return e.LShr(rax, e.Const(63, 64)) }, true},
	} {
		signed := form.code[len(form.code)-1] == '\xf9'
		divide := func(n, d uint64) (q, rest uint64) {
			if signed {
				return uint64(int64(n) / int64(d)), uint64(int64(n) % int64(d))
			}
			return n / d, n % d
		}
		const base = 0x1000
		text := form.code + "\xeb\x00" // jumps on
		blk, err := lift.Lift(base, func(addr uint64, p []byte) int { return copy(p, text[min(addr-base, uint64(len(text))):]) })
		if err != nil {
			t.Fatal(err)
		}
		traps := 0
		for range 300 {
			e := expr.New()
			m, p, s := New(e), newPath(), mem.NewSpace()
			m.facts = &p.facts
			x, y := e.Var("x", 64), e.Var("y", 64)
			model := expr.Assignment{numbers(), numbers()}
			var c cpu.CPU
			c.SetSym(ir.RAX, model[0], x)
			c.SetSym(ir.RCX, model[1], y)
			m.set(&c, ir.RDX, e.Eval(form.rdx(e, x), model), form.rdx(e, x))
			start := c
			st := stopped
			for st == stopped {
				c = start
				var stop Stop
				if _, st, stop = m.concolic(&c, s, blk, 0); st == stopped && !p.answer(t, e, stop, model) {
					t.Fatalf("%s: %+v", form.name, stop)
				}
			}
			n, d := model[0], model[1]
			high := e.Eval(form.rdx(e, x), model)
			if form.values {
				if p.kinds[Value] == 0 && d != 0 {
					t.Fatalf("%s: %#x / %#x: nothing was decided", form.name, n, d)
				}
				continue
			}
			if p.kinds[Value] != 0 || len(p.refs) != p.kinds[Branch] {
				t.Fatalf("%s: %#x:%#x / %#x: decided %v", form.name, high, n, d, p.kinds)
			}
			if d == 0 || signed && n == 1<<63 && d == 1<<64-1 {
				if traps++; st != trapped || m.trap != ir.TrapDE {
					t.Fatalf("%s: %#x / %#x: status %v", form.name, n, d, st)
				}
				continue
			}
			q, rest := divide(n, d)
			if st != ok || c.R[ir.RAX] != q || c.R[ir.RDX] != rest || e.Eval(m.ref(&c, ir.RAX), model) != q || e.Eval(m.ref(&c, ir.RDX), model) != rest {
				t.Fatalf("%s: %#x / %#x: %#x remainder %#x, want %#x and %#x", form.name, n, d, c.R[ir.RAX], c.R[ir.RDX], q, rest)
			}
			for range 5 { // other numbers of the path
				if other := (expr.Assignment{numbers(), numbers()}); p.holds(e, other) {
					q, rest := divide(other[0], other[1])
					if e.Eval(m.ref(&c, ir.RAX), other) != q || e.Eval(m.ref(&c, ir.RDX), other) != rest {
						t.Fatalf("%s: %#x / %#x is not %#x remainder %#x", form.name, other[0], other[1], q, rest)
					}
				}
			}
		}
		if traps == 0 && !form.values {
			t.Errorf("%s: no traps", form.name)
		}
	}
}
