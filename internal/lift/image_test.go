package lift_test

import (
	"fmt"
	"testing"

	"symchef/internal/cpucheck"
	"symchef/internal/ir"
	"symchef/internal/lift"
	"symchef/internal/mutate/image"
)

// encodings is how many encodings of each form are in the image.
const encodings = 8

// TestImage writes what every form does to symbolic registers and memory.
func TestImage(t *testing.T) {
	out := image.New(t)
	r := cpucheck.NewRand(1, 2)
	for _, f := range cpucheck.Forms() {
		if _, modelled := cpucheck.Modelled[f.Op]; modelled {
			continue
		}
		for i := range encodings {
			c, ok := f.Case(r.Rand)
			if !ok {
				continue
			}
			code := c.Check.Code
			b, err := lift.Lift(cpucheck.CodeBase, func(addr uint64, p []byte) int {
				if off := addr - cpucheck.CodeBase; off < uint64(len(code)) {
					return copy(p, code[off:])
				}
				return 0
			})
			if err != nil {
				t.Fatalf("%s: % x: %v", f.Name, code, err)
			}
			out.Form(fmt.Sprintf("%s: % x", f.Name, code), effects(b, uint64(i))...)
		}
	}
}

// effects returns what a block does, with one of several values of the slots that are concrete: its events in their order, with
// what they are given and, where a fault or the end shows them, all slots that have changed. What loads and helpers give are variables.
func effects(b *ir.Block, seed uint64) []string {
	s := image.NewSymbolic(map[ir.Slot]uint64{ir.DF: seed & 1, ir.MXCSR: 0x1f80 | seed%4<<13 | seed>>2&1<<15, ir.FTop: seed & 7,
		ir.FCW: 0x37f | seed%4<<10, ir.FTag: []uint64{0xff, 0xff, 0x5a, 0}[seed%4]})
	l, start, loaded := &image.Results{E: s.E}, s.R, 0
	l.Event("%#x %#x %#x %v", b.PC, b.Next, b.Taken, b.Insns)
	s.Effect = func(i int, u *ir.Uop) {
		l.Event("%v %d %d", u.Op, u.W, u.X)
		for i := range ir.NumState {
			if s.R[i] != start[i] {
				l.Event("slot %d", i)
				l.Value(s.R[i], 64)
			}
		}
		switch u.Op {
		case ir.Load:
			l.Value(s.Addr(u), 64)
			s.R[u.D] = s.E.ZExt(s.E.Var(fmt.Sprintf("m%d", loaded), uint(u.W)), 64)
			loaded++
		case ir.Store:
			l.Value(s.Addr(u), 64)
			l.Value(s.R[u.C], uint(u.W))
		case ir.Helper:
			l.Helper(s, i, u)
		case ir.TrapIf, ir.SkipIf, ir.Brnz, ir.JmpInd:
			l.Event("%d", u.Imm)
			l.Value(s.R[u.A], max(uint(u.W), 8))
		case ir.Jcc:
			l.Value(s.Cond(u), 1)
		default:
			l.Event("%d", u.Imm)
		}
	}
	s.Run(b)
	return l.Text()
}
