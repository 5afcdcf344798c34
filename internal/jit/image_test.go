package jit

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"symchef/internal/cpucheck"
	"symchef/internal/ir"
	"symchef/internal/lift"
	"symchef/internal/mutate/image"
)

// TestImage writes the machine code of every form alone, and of random blocks of several.
func TestImage(t *testing.T) {
	out := image.New(t)
	r := rand.New(rand.NewPCG(1, 2))
	form := func(code []byte) {
		b, err := lift.Lift(cpucheck.CodeBase, func(addr uint64, p []byte) int {
			if off := addr - cpucheck.CodeBase; off < uint64(len(code)) {
				return copy(p, code[off:])
			}
			return 0
		})
		if err != nil {
			t.Fatalf("% x: %v", code, err)
		}
		src := &Source{Block: b, Touch: b.Reads, Flags: ir.MakeCC(ir.CCKind(r.IntN(13)), 8<<r.IntN(4)), Watched: r.IntN(8) == 0}
		g := newGen(src, 1)
		ok := g.block()
		out.Form(fmt.Sprintf("% x, flags %#x", code, src.Flags), fmt.Sprintf("; %v %x %+v %+v", ok, g.b, g.links, g.leaves))
	}
	var straight [][]byte
	for _, f := range cpucheck.Forms() {
		for range 4 {
			c, ok := f.Case(r)
			if !ok {
				continue
			}
			form(c.Check.Code)
			if len(c.Check.Code) < 12 {
				straight = append(straight, c.Check.Code)
			}
		}
	}
	for range 10000 {
		var code []byte
		for range 2 + r.IntN(10) {
			code = append(code, straight[r.IntN(len(straight))]...)
		}
		form(code)
	}
}
