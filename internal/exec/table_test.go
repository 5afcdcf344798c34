package exec

import (
	"testing"

	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// TestTablesAgain: a load through a symbolic address reads what memory holds, whatever such loads have read there before, in
// whichever of the spaces that have forked from one another.
func TestTablesAgain(t *testing.T) {
	r := seed.Rand(t)
	a := newAccess(t, 0, 8, 1)
	e := a.m.Ctx
	narrow := e.Var("narrow", 4)
	type address struct {
		ref           expr.Ref
		off, step     uint64
		first, number uint64 // of v
	}
	var all []address
	for _, step := range []uint64{1, 2, 3, 8, 24, 56} {
		for _, v := range []expr.Ref{a.v, e.ZExt(narrow, 64)} { // of the second, steps are known
			off := 500 + r.Uint64N(600)
			ref := e.Add(e.Const(dataBase+off, 64), e.Mul(v, e.Const(step, 64)))
			first := r.Uint64N(13)
			n := 2 + r.Uint64N(15-first)
			a.p.facts.Ranges[ref] = [2]uint64{dataBase + off + first*step, dataBase + off + (first+n-1)*step}
			all = append(all, address{ref, off, step, first, n})
		}
	}
	spaces := []*mem.Space{a.s}
	same := 0
	before := map[[2]uint64]expr.Ref{}
	for k := range 3000 {
		a.s = spaces[r.IntN(len(spaces))]
		switch r.IntN(8) {
		case 0:
			if f := a.s.Fork(); len(spaces) < 3 {
				spaces = append(spaces, f)
			} else {
				spaces[r.IntN(3)] = f
			}
		case 1, 2, 3:
			if err := a.s.WriteU(dataBase+500+r.Uint64N(800), r.Uint64N(3), 1); err != nil {
				t.Fatal(err)
			}
		}
		if k == 1500 { // the next load finds no room
			clear(a.m.tables.known)
			a.m.tables.cells = maxCells
		}
		a.m.use(a.s)
		x, w := all[r.IntN(len(all))], widths[r.IntN(len(widths))]
		a.c.SetSym(ir.RBX, dataBase+x.off+x.first*x.step, x.ref)
		if stop := a.run(t, ir.Uop{Op: ir.Load, W: w, D: ir.RAX, A: ir.RBX, B: ir.Zero}); stop.Kind != numStops {
			t.Fatalf("%+v: %+v", x, stop)
		}
		for i := x.first; i < x.first+x.number; i++ {
			got := a.c.R[ir.RAX] // of the first
			if a.c.Sym.Has(ir.RAX) {
				got = e.Eval(a.c.S[ir.RAX], expr.Assignment{i, i})
			}
			if want := number(a.bytes(t, dataBase+x.off+i*x.step, int(w/8))); got != want {
				t.Fatalf("%+v, %d bits: entry %d is %#x, want %#x", x, w, i, got, want)
			}
		}
		key := [2]uint64{x.off, uint64(w)}
		if before[key] == a.c.S[ir.RAX] {
			same++
		}
		before[key] = a.c.S[ir.RAX]
	}
	if same < 300 {
		t.Errorf("%d loads read what was read before", same)
	}
	cells := 0
	for _, known := range a.m.tables.known {
		cells += len(known.cells)
	}
	if cells != a.m.tables.cells || cells == 0 {
		t.Errorf("%d cells are remembered, %d are counted", cells, a.m.tables.cells)
	}
}
