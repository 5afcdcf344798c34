package exec

import (
	"fmt"
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// access is one load or store through a symbolic address, executed on its own.
type access struct {
	m *Machine
	c cpu.CPU
	s *mem.Space
	p *path
	v expr.Ref // the variable in the address, 64 bits
}

// newAccess maps two pages at dataBase and a read-only one behind them, with content.
// The address will be dataBase + off + v*step with v below n.
func newAccess(t *testing.T, off, step, n uint64) *access {
	t.Helper()
	e := expr.New()
	a := &access{m: New(e), s: mem.NewSpace(), p: newPath(), v: e.Var("v", 64)}
	a.m.facts = &a.p.facts
	if a.s.Map(dataBase, 2*guest.PageSize, guest.ProtRead|guest.ProtWrite, nil, 0, "") != nil || a.s.Map(readOnly, guest.PageSize, guest.ProtRead, nil, 0, "") != nil {
		t.Fatal("map")
	}
	all := make([]byte, 3*guest.PageSize)
	for i := range all {
		all[i] = byte(uint32(i) * 2654435761 >> 13)
	}
	if err := a.s.Poke(dataBase, all); err != nil {
		t.Fatal(err)
	}
	ref := e.Add(e.Const(dataBase+off, 64), e.Mul(a.v, e.Const(step, 64)))
	a.c.SetSym(ir.RBX, dataBase+off, ref)
	a.p.facts.Ranges[ref] = [2]uint64{dataBase + off, dataBase + off + (n-1)*step}
	a.m.use(a.s)
	return a
}

// run executes u and returns its stop; Kind numStops if there is none.
func (a *access) run(t *testing.T, u ir.Uop) Stop {
	t.Helper()
	b := &ir.Block{PC: 0x1000, Uops: []ir.Uop{u, {Op: ir.Jmp}}, Insns: []ir.InsnMark{{}}}
	before := a.c
	i, st, stop := a.m.concolic(&a.c, a.s, b, 0)
	switch {
	case st == ok:
		return Stop{Kind: numStops}
	case i != 0 || st != stopped || a.c != before:
		t.Fatalf("uop %d: status %d, %+v; registers changed: %v", i, st, stop, a.c != before)
	}
	return stop
}

// mustDecide requires that the address is to be decided, and that the access is made once it is.
func (a *access) mustDecide(t *testing.T, u ir.Uop, model expr.Assignment) {
	t.Helper()
	stop := a.run(t, u)
	if stop.Kind != Decide || stop.Decision != Address || a.m.Ctx.Eval(stop.Ref, model) != a.m.Ctx.Eval(a.c.S[ir.RBX], model) {
		t.Fatalf("%+v, want the address decided", stop)
	}
	a.p.answer(t, a.m.Ctx, stop, model)
}

func (a *access) bytes(t *testing.T, at uint64, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if err := a.s.Read(at, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTableLoad: a load through an address with proven bounds gives the right value for every index, and does not fork.
func TestTableLoad(t *testing.T) {
	for _, symbolic := range []bool{false, true} {
		for _, w := range widths {
			for _, step := range []uint64{1, 2, 3, 4, 8, 24, 64} {
				const n, off = 17, 1000 // crosses granules of every size
				a := newAccess(t, off, step, n)
				e := a.m.Ctx
				x := e.Var("x", 8)
				if symbolic {
					a.s.WriteSym(dataBase+off+5*step+uint64(w/8)-1, mem.Bytes{Data: []byte{0}, Sym: []expr.Ref{x}})
				}
				if stop := a.run(t, ir.Uop{Op: ir.Load, W: w, D: ir.RAX, A: ir.RBX, B: ir.Zero}); stop.Kind != numStops || !a.c.Sym.Has(ir.RAX) {
					t.Fatalf("%d bits, step %d: %+v", w, step, stop)
				}
				for i := range uint64(n) {
					model := expr.Assignment{i, 7 + i*19}
					a.s.Rebase(func(r expr.Ref) uint64 { return e.Eval(r, model) })
					want := number(a.bytes(t, dataBase+off+i*step, int(w/8)))
					if got := e.Eval(a.c.S[ir.RAX], model); got != want {
						t.Fatalf("%d bits, step %d, symbolic %v: entry %d is %#x, want %#x", w, step, symbolic, i, got, want)
					}
				}
			}
		}
	}
}

// TestTableStore: a store through an address with proven bounds leaves the memory of a concrete store, for every index.
func TestTableStore(t *testing.T) {
	for _, value := range []string{"concrete", "symbolic"} {
		for _, w := range widths {
			for _, step := range []uint64{1, 2, 4, 8, 16} {
				const n, off = 9, 1000
				a := newAccess(t, off, step, n)
				e := a.m.Ctx
				before := a.bytes(t, dataBase, 4096)
				a.c.Set(ir.RAX, 0x8877665544332211)
				if value == "symbolic" {
					a.c.SetSym(ir.RAX, 0, e.Mul(e.Var("x", 64), e.Const(0x0102030405060709, 64)))
				}
				a.c.Rebase(func(r expr.Ref) uint64 { return e.Eval(r, expr.Assignment{2, 3}) })
				u := ir.Uop{Op: ir.Store, W: w, C: ir.RAX, A: ir.RBX, B: ir.Zero}
				stop := a.run(t, u)
				if low := step & -step; low < uint64(w/8) { // cells overlap
					if stop.Kind != Decide {
						t.Fatalf("%d bits, step %d: %+v, want a decision", w, step, stop)
					}
					continue
				} else if stop.Kind != numStops {
					t.Fatalf("%d bits, step %d: %+v", w, step, stop)
				}
				if bad := checkValues(e, &a.c, a.s, expr.Assignment{2, 3}); bad != "" {
					t.Fatalf("%d bits, step %d, %s: %s", w, step, value, bad)
				}
				for i := range uint64(n) {
					model := expr.Assignment{i, i * 77}
					eval := func(r expr.Ref) uint64 { return e.Eval(r, model) }
					a.s.Rebase(eval)
					a.c.Rebase(eval)
					want := append([]byte(nil), before...)
					for k := range uint64(w / 8) {
						want[off+i*step+k] = byte(a.c.R[ir.RAX] >> (8 * k))
					}
					if got := a.bytes(t, dataBase, 4096); string(got) != string(want) {
						t.Fatalf("%d bits, step %d, %s: wrong memory for index %d", w, step, value, i)
					}
				}
			}
		}
	}
}

// TestTableLimits: an access beyond a limit, or of memory that may not be used so, is decided; what is within is not.
func TestTableLimits(t *testing.T) {
	const size = 2 * guest.PageSize
	load, store := ir.Uop{Op: ir.Load, W: 8, D: ir.RAX, A: ir.RBX, B: ir.Zero}, ir.Uop{Op: ir.Store, W: 8, C: ir.RAX, A: ir.RBX, B: ir.Zero}
	wide := load
	wide.W = 64
	for _, c := range []struct {
		name         string
		u            ir.Uop
		off, step, n uint64
		mixed, fork  bool
	}{
		{name: "constant table", u: load, step: 2, n: maxReadCells},
		{name: "constant table too long", u: load, step: 2, n: maxReadCells + 1, fork: true},
		{name: "mixed table", u: load, step: 4, n: maxMixedCells, mixed: true},
		{name: "mixed table too long", u: load, step: 4, n: maxMixedCells + 1, mixed: true, fork: true},
		{name: "store", u: store, step: 4, n: maxWriteCells},
		{name: "store too wide", u: store, step: 4, n: maxWriteCells + 1, fork: true},
		{name: "load of a read-only page", u: load, off: size, step: 1, n: 256},
		{name: "store to a read-only page", u: store, off: size, step: 1, n: 16, fork: true},
		{name: "store up to a read-only page", u: store, off: size - 15, step: 1, n: 15},
		{name: "store that may reach a read-only page", u: store, off: size - 15, step: 1, n: 16, fork: true},
		{name: "load up to the end", u: wide, off: 3*guest.PageSize - 32, step: 8, n: 4},
		{name: "load beyond the end", u: wide, off: 3*guest.PageSize - 31, step: 8, n: 4, fork: true},
		{name: "load from before the start", u: load, off: 1<<64 - 8, step: 1, n: 16, fork: true},
		{name: "load at the top of the address space", u: load, off: 1<<64 - dataBase - 16, step: 1, n: 16, fork: true},
		{name: "load around the address space", u: load, off: 1<<64 - dataBase - 8, step: 1, n: 8, fork: true},
		{name: "store over everything", u: store, off: 1<<64 - dataBase, step: 1, n: 0, fork: true},
		{name: "load of everything", u: load, off: 1<<64 - dataBase, step: 1, n: 0, fork: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAccess(t, c.off, c.step, c.n)
			if c.mixed {
				a.s.WriteSym(dataBase+8, mem.Bytes{Data: []byte{0}, Sym: []expr.Ref{a.m.Ctx.Var("x", 8)}})
			}
			before := a.bytes(t, dataBase, 3*guest.PageSize)
			if !c.fork {
				if stop := a.run(t, c.u); stop.Kind != numStops {
					t.Fatalf("%+v", stop)
				}
				return
			}
			a.mustDecide(t, c.u, expr.Assignment{0})
			if string(before) != string(a.bytes(t, dataBase, 3*guest.PageSize)) {
				t.Error("memory changed before the decision")
			}
		})
	}
}

// TestDecidedAddress: once the address is fixed, the access is an ordinary one.
func TestDecidedAddress(t *testing.T) {
	a := newAccess(t, 0, 8, 1<<40)
	model := expr.Assignment{4}
	a.c.R[ir.RBX] = a.m.Ctx.Eval(a.c.S[ir.RBX], model)
	store := ir.Uop{Op: ir.Store, W: 64, C: ir.RAX, A: ir.RBX, B: ir.Zero}
	a.c.Set(ir.RAX, 77)
	a.mustDecide(t, store, model)
	if stop := a.run(t, store); stop.Kind != numStops {
		t.Fatalf("%+v", stop)
	}
	load := ir.Uop{Op: ir.Load, W: 64, D: ir.RCX, A: ir.RBX, B: ir.Zero}
	if stop := a.run(t, load); stop.Kind != numStops || a.c.Sym.Has(ir.RCX) || a.c.R[ir.RCX] != 77 {
		t.Fatalf("%+v: read %d", stop, a.c.R[ir.RCX])
	}
	if v, _ := a.s.ReadU(dataBase+32, 8); v != 77 {
		t.Errorf("stored %d", v)
	}
}

// TestBound: bounds are asked for once, and steps are found.
func TestBound(t *testing.T) {
	e := expr.New()
	v, b := e.Var("v", 64), e.ZExt(e.Var("b", 8), 64)
	at := func(r expr.Ref, k uint64) expr.Ref { return e.Add(r, e.Const(k, 64)) }
	shl := func(r expr.Ref, k uint64) expr.Ref { return e.Shl(r, e.Const(k, 64)) }
	m := New(e)
	m.facts = &newPath().facts
	for _, c := range []struct {
		name        string
		ref         expr.Ref
		lo, step, n uint64
	}{
		{"byte", b, 0, 1, 256},
		{"table of quadwords", at(shl(b, 3), 0x5008), 0x5008, 8, 256},
		{"unaligned table", at(shl(b, 2), 0x5003), 0x5003, 4, 256},
		{"field of a record", at(e.Mul(b, e.Const(24, 64)), 0x5010), 0x5010, 8, 255*3 + 1},
		{"odd records", at(e.Mul(b, e.Const(5, 64)), 0x5000), 0x5000, 1, 255*5 + 1},
		{"bytes beside quadwords", at(e.Add(shl(b, 3), e.ZExt(e.Var("c", 2), 64)), 0x5000), 0x5000, 1, 255*8 + 3 + 1},
		{"far apart", shl(b, 8), 0, 256, 256},
	} {
		k, fixed, stop := m.bound(c.ref)
		if stop != nil || fixed || k.lo != c.lo || k.step != c.step || k.n != c.n {
			t.Errorf("%s: %+v fixed %v stop %+v, want lo %#x step %d n %d", c.name, k, fixed, stop, c.lo, c.step, c.n)
			continue
		}
		for x := range uint64(256) { // each address is a candidate, with the index that the expression gives
			for y := range uint64(4) {
				model := expr.Assignment{0, x, y}
				p, i := e.Eval(c.ref, model), e.Eval(k.index(e), model)
				if i >= k.n || k.lo+i*k.step != p {
					t.Fatalf("%s: address %#x is no candidate: index %d", c.name, p, i)
				}
			}
		}
	}
	_, _, stop := m.bound(v)
	if stop == nil || stop.Kind != Bounds || stop.Ref != v {
		t.Fatalf("%+v, want a question for bounds", stop)
	}
	m.facts.Ranges[v] = [2]uint64{10, 20}
	if k, _, stop := m.bound(v); stop != nil || k.lo != 10 || k.n != 11 {
		t.Errorf("%+v %+v", k, stop)
	}
	m.facts.Ranges[v] = [2]uint64{0, ^uint64(0)}
	if k, _, stop := m.bound(v); stop != nil || k.n <= maxReadCells {
		t.Errorf("%+v %+v", k, stop)
	}
	m.facts.Fixed[v] = 15
	if k, fixed, stop := m.bound(at(v, 1)); stop != nil || !fixed || k.lo != 16 {
		t.Errorf("%+v %v %+v", k, fixed, stop)
	}
}

// TestDrop: stores through a symbolic address are dropped if they fall among the immortal objects wholly.
func TestDrop(t *testing.T) {
	const lo, hi = dataBase + 0x100, dataBase + 0x200
	store := ir.Uop{Op: ir.Store, W: 64, C: ir.RAX, A: ir.RBX, B: ir.Zero}
	for _, c := range []struct {
		off, n  uint64
		dropped bool
	}{{0x100, 32, true}, {0x1f8, 1, true}, {0x0f8, 2, false}, {0x1f8, 2, false}, {0xf8, 33, false}, {0x200, 4, false}} {
		a := newAccess(t, c.off, 8, c.n+1)
		ref := a.c.S[ir.RBX]
		a.p.facts.Ranges[ref] = [2]uint64{dataBase + c.off, dataBase + c.off + (c.n-1)*8}
		a.m.Immortal(lo, hi-lo)
		a.c.Set(ir.RAX, 0x1122334455667788)
		before := a.bytes(t, dataBase, 0x1000)
		if stop := a.run(t, store); stop.Kind != numStops {
			t.Fatalf("%+v: %+v", c, stop)
		}
		if same := string(before) == string(a.bytes(t, dataBase, 0x1000)); same != c.dropped {
			t.Errorf("%+v: memory unchanged: %v", c, same)
		}
		if got := a.s.HasSym(dataBase, 0x1000); got == c.dropped {
			t.Errorf("%+v: symbolic memory: %v", c, got)
		}
	}
	// Bounds that the expression alone has may be wider than what the path condition allows, which is asked first.
	a := newAccess(t, 0, 1, 1)
	e := a.m.Ctx
	ref := e.Add(e.Const(lo, 64), e.Shl(e.ZExt(e.Var("i", 8), 64), e.Const(3, 64)))
	a.c.SetSym(ir.RBX, lo, ref)
	a.c.Set(ir.RAX, 5)
	a.m.Immortal(lo, hi-lo)
	if stop := a.run(t, store); stop.Kind != Bounds || stop.Ref != ref {
		t.Errorf("%+v, want bounds of the address", stop)
	}
	a.p.facts.Ranges[ref] = [2]uint64{lo, hi - 8}
	if stop := a.run(t, store); stop.Kind != numStops || a.s.HasSym(dataBase, 0x1000) {
		t.Errorf("%+v, want the store dropped", stop)
	}
	// A store to a known address is never dropped.
	a = newAccess(t, 0, 8, 2)
	a.m.Immortal(lo, hi-lo)
	a.c.Set(ir.RBX, lo)
	a.c.Set(ir.RAX, 5)
	a.run(t, store)
	if v, _ := a.s.ReadU(lo, 8); v != 5 {
		t.Error(fmt.Sprint("stored ", v))
	}
}

// TestFrame: how large a frame is is decided where it is made, before the next instruction; then its addresses are known.
func TestFrame(t *testing.T) {
	a := newAccess(t, 0, 16, 4)
	e := a.m.Ctx
	model := expr.Assignment{2}
	a.c.SetSym(ir.RBX, 32, e.Mul(a.v, e.Const(16, 64)))
	a.c.Set(ir.RSP, dataBase+0x800)
	a.c.Set(ir.RAX, 7)
	b := &ir.Block{PC: 0x1000, Insns: []ir.InsnMark{{}, {Off: 3, Uop: 1}}, Uops: []ir.Uop{
		{Op: ir.Sub, W: 64, D: ir.RSP, A: ir.RSP, B: ir.RBX},
		{Op: ir.Store, W: 64, C: ir.RAX, A: ir.RSP, B: ir.Zero, Imm: 8},
		{Op: ir.Jmp},
	}}
	i, st, stop := a.m.concolic(&a.c, a.s, b, 0)
	if i != 1 || st != stopped || stop.Decision != Value || e.Eval(stop.Ref, model) != dataBase+0x7e0 {
		t.Fatalf("uop %d, %+v", i, stop)
	}
	a.p.answer(t, e, stop, model)
	if _, st, stop = a.m.concolic(&a.c, a.s, b, i); st != ok || a.c.Sym.Has(ir.RSP) || a.c.R[ir.RSP] != dataBase+0x7e0 {
		t.Fatalf("%+v, the stack pointer is %#x", stop, a.c.R[ir.RSP])
	}
	if v := number(a.bytes(t, dataBase+0x7e8, 8)); v != 7 {
		t.Errorf("in the frame is %d", v)
	}
}
