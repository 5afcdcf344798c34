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
		lo, hi := uint64(0), uint64(15) // what the path leaves of the index
		if a.p.facts.Within = map[expr.Ref][2]uint64{}; r.IntN(2) == 0 {
			lo = x.first + r.Uint64N(x.number)
			hi = lo + r.Uint64N(x.first+x.number-lo)
			a.p.facts.Within[narrow] = [2]uint64{lo, hi}
		}
		one := max(x.first, lo)
		a.c.SetSym(ir.RBX, dataBase+x.off+one*x.step, x.ref)
		if stop := a.run(t, ir.Uop{Op: ir.Load, W: w, D: ir.RAX, A: ir.RBX, B: ir.Zero}); stop.Kind != numStops {
			t.Fatalf("%+v: %+v", x, stop)
		}
		for i := x.first; i < x.first+x.number; i++ {
			if e.SupportSet(x.ref).Has(e.VarOf(narrow)) && (i < lo || i > hi) {
				continue
			}
			got := a.c.R[ir.RAX] // of one
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
	if same < 100 {
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

// TestWithin: of a table the path reaches some entries, and what is read there is as simple as those are.
func TestWithin(t *testing.T) {
	a := newAccess(t, 0, 8, 1)
	e := a.m.Ctx
	c := e.Var("c", 8)
	for i := range uint64(128) { // a table of objects, each with its kind and its number, and another one behind it
		for off, v := range []uint64{7, i} {
			if err := a.s.WriteU(dataBase+24*i+8*uint64(off), v, 8); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.m.use(a.s)
	load := func(off uint64) expr.Ref {
		a.c.SetSym(ir.RBX, dataBase+off, e.Add(e.Const(dataBase+off, 64), e.Mul(e.ZExt(c, 64), e.Const(24, 64))))
		if stop := a.run(t, ir.Uop{Op: ir.Load, W: 64, D: ir.RAX, A: ir.RBX, B: ir.Zero}); stop.Kind != numStops {
			t.Fatalf("%+v", stop)
		}
		return a.m.ref(&a.c, ir.RAX)
	}
	if r := load(0); r == e.Const(7, 64) || load(8) == e.ZExt(c, 64) {
		t.Error("what lies behind the table does not matter")
	}
	a.p.facts.Within = map[expr.Ref][2]uint64{c: {0, 127}}
	if r := load(0); r != e.Const(7, 64) {
		t.Errorf("the kind is %s", e.Text([]expr.Ref{r}))
	}
	if r := load(8); r != e.ZExt(c, 64) {
		t.Errorf("the number is %s", e.Text([]expr.Ref{r}))
	}
}

// TestBounded: bounds of a number settle a condition on it only if it has one value on all numbers within.
func TestBounded(t *testing.T) {
	m := New(expr.New())
	e := m.Ctx
	x := e.Var("x", 4)
	var conditions []expr.Ref
	for k := range uint64(16) {
		conditions = append(conditions, e.Ult(x, e.Const(k, 4)), e.Ult(e.Const(k, 4), x), e.Eq(x, e.Const(k, 4)), e.Slt(x, e.Const(k, 4)))
	}
	for bit := range uint(4) {
		conditions = append(conditions, e.Extract(x, bit, 1))
	}
	settled := 0
	for lo := range uint64(16) {
		for hi := lo; hi < 16; hi++ {
			m.facts = &Facts{Fixed: map[expr.Ref]uint64{}, Within: map[expr.Ref][2]uint64{x: {lo, hi}}}
			for _, r := range conditions {
				got, due := m.decideBool(r)
				if due != nil {
					continue
				}
				settled++
				for v := lo; v <= hi; v++ {
					if want := e.Eval(r, expr.Assignment{v}) != 0; got != want {
						t.Fatalf("%s from %d to %d: %v, of %d %v", e.Text([]expr.Ref{r}), lo, hi, got, v, want)
					}
				}
			}
		}
	}
	if settled < 3000 {
		t.Errorf("%d conditions are settled", settled)
	}
}
