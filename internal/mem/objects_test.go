package mem_test

import (
	"bytes"
	"slices"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// view is a mapping of an object's pages.
type view struct{ space, start, from, pages int }

// TestObjects writes through random mappings of one object in two spaces, forks the whole, and
// compares all mappings with one array.
func TestObjects(t *testing.T) {
	r := seed.Rand(t)
	const object, pages = 1 << 30, 6
	views := []view{{0, 1 << 20, 0, 4}, {0, 1<<20 + 8*page, 2, 4}, {1, 1 << 24, 0, 6}, {1, 1<<24 + 6*page, 5, 1}}
	type family struct {
		spaces [2]*mem.Space
		data   [pages * page]byte
		sym    [pages * page]expr.Ref
		cached map[int]*[mem.GranuleSize]byte // by address in space 0
		at     mem.Version                    // when they were good
	}
	forget := func(f *family) {
		for _, c := range f.spaces[0].Stale(f.at, nil) {
			if c == mem.AllStale {
				f.cached = nil
			}
			delete(f.cached, int(c))
		}
		f.at = f.spaces[0].Version()
		if f.cached == nil {
			f.cached = map[int]*[mem.GranuleSize]byte{}
		}
	}
	f := &family{}
	objects := mem.NewSpace()
	if err := objects.Map(object, pages*page, rw, nil, 0, ""); err != nil {
		t.Fatal(err)
	}
	for i := range f.spaces {
		f.spaces[i] = mem.NewSpace()
		f.spaces[i].Objects = objects
	}
	for _, v := range views {
		a := mem.Area{Start: uint64(v.start), End: uint64(v.start + v.pages*page), Prot: rw, Obj: uint64(object + v.from*page), Shared: true}
		if err := f.spaces[v.space].MapArea(a); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.spaces[1].Areas()); n != 2 {
		t.Fatalf("%d areas: what differs in the object was joined", n)
	}
	all := []*family{f}
	for step := range 3000 {
		k := r.IntN(len(all))
		f := all[k]
		if r.IntN(100) == 0 { // what a fork of a system does
			g := *f
			o := f.spaces[0].Objects.Fork()
			for i, s := range f.spaces {
				g.spaces[i] = s.Fork()
				g.spaces[i].Objects = o
			}
			g.cached, g.at = nil, mem.Version{}
			all = append(all[max(0, len(all)-2):], &g)
			continue
		}
		v := views[r.IntN(len(views))]
		s := f.spaces[v.space]
		off := r.IntN(v.pages * page)
		n := min(1+r.IntN(40), v.pages*page-off)
		at, in := uint64(v.start+off), v.from*page+off
		if r.IntN(2) == 0 {
			b := mem.Bytes{Data: make([]byte, n)}
			for i := range b.Data {
				b.Data[i] = byte(r.Uint32())
			}
			if r.IntN(3) == 0 {
				b.Sym = make([]expr.Ref, n)
				b.Sym[r.IntN(n)] = expr.Ref(1 + r.IntN(100))
			}
			if err := s.WriteSym(at, b); err != nil {
				t.Fatal(err)
			}
			copy(f.data[in:], b.Data)
			for i := range n {
				f.sym[in+i] = 0
				if b.Sym != nil {
					f.sym[in+i] = b.Sym[i]
				}
			}
		}
		got, err := s.ReadSym(at, n)
		if got.Sym == nil {
			got.Sym = make([]expr.Ref, n)
		}
		if err != nil || !bytes.Equal(got.Data, f.data[in:in+n]) || !slices.Equal(got.Sym, f.sym[in:in+n]) {
			t.Fatalf("step %d, view %v: %+v, %v; want %v %v", step, v, got, err, f.data[in:in+n], f.sym[in:in+n])
		}
		if s.HasSym(at, uint64(n)) == (mem.Bytes{Sym: f.sym[in : in+n]}).IsConcrete() {
			t.Fatalf("step %d, view %v: HasSym", step, v)
		}
		forget(f)
		for addr, p := range f.cached {
			for _, v := range views[:2] {
				if o := addr - v.start; o >= 0 && o < v.pages*page && !bytes.Equal(p[:], f.data[v.from*page+o:][:mem.GranuleSize]) {
					t.Fatalf("step %d: the translation of %#x is stale", step, addr)
				}
			}
		}
		if v.space == 0 {
			addr := int(at) &^ (mem.GranuleSize - 1)
			p, _ := s.ReadPage(at)
			if r.IntN(2) == 0 {
				if w, refs := s.WritePage(at); w != nil {
					if o := r.IntN(mem.GranuleSize); refs == nil || refs[o] == 0 {
						w[o]++
						f.data[v.from*page+addr-v.start+o]++
					}
					p = w
				}
			}
			forget(f)
			if p != nil {
				f.cached[addr] = p
			}
		}
	}
}
