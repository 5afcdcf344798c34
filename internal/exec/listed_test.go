package exec

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// listedAddress makes the address of a an entry of a table of n addresses in its pages, at random, as it comes out of memory: its bytes apart and joined again.
func (a *access) listedAddress(r *rand.Rand, n int) (at []uint64) {
	e := a.m.Ctx
	for range n {
		at = append(at, dataBase+uint64(r.IntN(4000)))
	}
	plus := uint64(r.IntN(50))
	entry := e.Select(at, e.Extract(a.v, 0, 5), 64)
	joined := e.Extract(entry, 0, 8)
	for k := uint(1); k < 8; k++ {
		joined = e.Concat(e.Extract(entry, 8*k, 8), joined)
	}
	for k := range at {
		at[k] += plus
	}
	a.c.SetSym(ir.RBX, at[0], e.Add(joined, e.Const(plus, 64)))
	return at
}

// TestListedLoad: a load through an address that a table of constants lists gives the right value for every entry, and does not fork, whether
// the bytes there are constant or not. Where the path condition allows entries of unmapped addresses, which ones it allows is asked first.
func TestListedLoad(t *testing.T) {
	r := seed.Rand(t)
	for _, n := range []int{2, 7, 32} {
		for _, w := range widths {
			for _, symbolic := range []bool{false, true} {
				a := newAccess(t, 0, 1, 1)
				e := a.m.Ctx
				at := a.listedAddress(r, n)
				x := e.Var("x", 8)
				if symbolic {
					a.s.WriteSym(at[n/2]+uint64(w/8)-1, mem.Bytes{Data: []byte{0}, Sym: []expr.Ref{x}})
				}
				load := ir.Uop{Op: ir.Load, W: w, D: ir.RAX, A: ir.RBX, B: ir.Zero}
				stop := a.run(t, load)
				if n < 32 { // entries past the end of the table are 0
					if stop.Kind != Bounds {
						t.Fatalf("%d addresses, %d bits: %+v, want bounds of the index", n, w, stop)
					}
					a.p.facts.Ranges[stop.Ref] = [2]uint64{0, uint64(n) - 1}
					stop = a.run(t, load)
				}
				if stop.Kind != numStops || !a.c.Sym.Has(ir.RAX) {
					t.Fatalf("%d addresses, %d bits, symbolic %v: %+v", n, w, symbolic, stop)
				}
				for i := range uint64(n) {
					model := expr.Assignment{i, 7 + i*19}
					a.s.Rebase(func(r expr.Ref) uint64 { return e.Eval(r, model) })
					want := number(a.bytes(t, at[i], int(w/8)))
					if got := e.Eval(a.c.S[ir.RAX], model); got != want {
						t.Fatalf("%d addresses, %d bits, symbolic %v: entry %d is %#x, want %#x", n, w, symbolic, i, got, want)
					}
				}
			}
		}
	}
}

// TestListedUnmapped: where an entry that the path condition allows is no address, the address is decided.
func TestListedUnmapped(t *testing.T) {
	a := newAccess(t, 0, 1, 1)
	e := a.m.Ctx
	a.c.SetSym(ir.RBX, dataBase, e.Select([]uint64{dataBase, 0x10, dataBase + 77, dataBase + 5}, e.Extract(a.v, 0, 2), 64))
	load := ir.Uop{Op: ir.Load, W: 64, D: ir.RAX, A: ir.RBX, B: ir.Zero}
	stop := a.run(t, load)
	if stop.Kind != Bounds {
		t.Fatalf("%+v, want bounds of the index", stop)
	}
	a.p.facts.Ranges[stop.Ref] = [2]uint64{0, 3}
	a.mustDecide(t, load, expr.Assignment{2, 0})
	if stop := a.run(t, load); stop.Kind != numStops || a.c.R[ir.RAX] != number(a.bytes(t, dataBase+77, 8)) {
		t.Errorf("%+v, %#x", stop, a.c.R[ir.RAX])
	}
}

// TestListedApart: what is listed are objects of structures of their own, for they point to other places: the address is decided. Where all point to the same
// place it is not.
func TestListedApart(t *testing.T) {
	for _, w := range []uint8{32, 64} {
		for _, apart := range []bool{false, true} {
			a := newAccess(t, 0, 1, 1)
			e := a.m.Ctx
			at := []uint64{dataBase + 0x100, dataBase + 0x300, dataBase + 0x200, dataBase + 0x180}
			for k, x := range at {
				to := uint64(0x10)
				if k < 3 {
					to = dataBase + 0x40
				}
				if !apart {
					to = dataBase + 0x40
				}
				if err := a.s.Write(x, binary.LittleEndian.AppendUint64(nil, to)); err != nil {
					t.Fatal(err)
				}
			}
			a.c.SetSym(ir.RBX, at[0], e.Select(at, e.Extract(a.v, 0, 2), 64))
			load := ir.Uop{Op: ir.Load, W: w, D: ir.RAX, A: ir.RBX, B: ir.Zero}
			if !apart {
				if stop := a.run(t, load); stop.Kind != numStops || a.c.R[ir.RAX] != dataBase+0x40 {
					t.Errorf("%d bits, the same pointer: %+v, %#x", w, stop, a.c.R[ir.RAX])
				}
				continue
			}
			stop := a.run(t, load)
			if stop.Kind != Bounds {
				t.Fatalf("%d bits: %+v, want bounds of the index", w, stop)
			}
			a.p.facts.Ranges[stop.Ref] = [2]uint64{0, 3}
			a.mustDecide(t, load, expr.Assignment{3, 0})
		}
	}
}

// TestListedStore: a store through a listed address is dropped if each address is of an immortal object; else the address is decided.
func TestListedStore(t *testing.T) {
	store := ir.Uop{Op: ir.Store, W: 64, C: ir.RAX, A: ir.RBX, B: ir.Zero}
	for _, last := range []uint64{dataBase + 0x900, dataBase + 0x908} {
		a := newAccess(t, 0, 1, 1)
		e := a.m.Ctx
		at := []uint64{dataBase + 0x100, dataBase + 0x10, dataBase + 0x400, last}
		for _, x := range []uint64{0x100, 0x10, 0x400, 0x900} {
			a.m.Immortal(dataBase+x, 8)
		}
		a.c.SetSym(ir.RBX, at[0], e.Select(at, e.Extract(a.v, 0, 2), 64))
		a.c.Set(ir.RAX, 5)
		before := a.bytes(t, dataBase, 0x1000)
		if stop := a.run(t, store); last == dataBase+0x900 {
			if stop.Kind != numStops || string(before) != string(a.bytes(t, dataBase, 0x1000)) {
				t.Errorf("%+v, want the store dropped", stop)
			}
			continue
		} else if stop.Kind != Bounds {
			t.Fatalf("%+v, want bounds of the index", stop)
		} else {
			a.p.facts.Ranges[stop.Ref] = [2]uint64{0, 3}
		}
		a.mustDecide(t, store, expr.Assignment{3, 0})
		if stop := a.run(t, store); stop.Kind != numStops || number(a.bytes(t, last, 8)) != 5 {
			t.Errorf("%+v", stop)
		}
	}
}
