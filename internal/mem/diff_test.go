package mem_test

import (
	"slices"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// TestDiff: the words that differ are those that a look at every byte finds.
func TestDiff(t *testing.T) {
	r := seed.Rand(t)
	const base, size = 1 << 30, 64 * guest.PageSize
	for range 200 {
		s := mem.NewSpace()
		if err := s.Map(base, size, rw, &mem.Backing{Name: "f", Data: slices.Repeat([]byte{1, 2, 3}, 1000)}, 0, "f"); err != nil {
			t.Fatal(err)
		}
		spaces := []*mem.Space{s}
		write := func(d *mem.Space) {
			for range r.IntN(12) {
				b := mem.Bytes{Data: make([]byte, 1+r.IntN(9)), Sym: make([]expr.Ref, 9)}
				for i := range b.Data {
					b.Data[i] = byte(r.IntN(3))
					b.Sym[i] = expr.Ref(r.IntN(3))
				}
				b.Sym = b.Sym[:len(b.Data)]
				if err := d.WriteSym(base+r.Uint64N(8)*0x1005, b); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(s)
		spaces = append(spaces, s.Fork(), s.Fork())
		write(spaces[1])
		write(spaces[2])
		var want []uint64
		for at := uint64(base); at < base+size; at += mem.WordSize {
			a, err1 := spaces[1].ReadSym(at, mem.WordSize)
			b, err2 := spaces[2].ReadSym(at, mem.WordSize)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			for _, x := range []*mem.Bytes{&a, &b} {
				if x.Sym == nil {
					x.Sym = make([]expr.Ref, mem.WordSize)
				}
			}
			if !slices.Equal(a.Data, b.Data) || !slices.Equal(a.Sym, b.Sym) {
				want = append(want, at)
			}
		}
		got, ok := spaces[1].Diff(spaces[2], len(want))
		if !ok || !slices.Equal(got, want) {
			t.Fatalf("%x, %v, want %x", got, ok, want)
		}
		if at, differs := spaces[1].Differs(spaces[2]); differs != (len(want) > 0) || differs && at != want[0] || differs == spaces[1].Same(spaces[2]) {
			t.Fatalf("%#x differs: %v, want %x", at, differs, want)
		} else if differs && !spaces[1].DiffersAt(spaces[2], at+1) {
			t.Fatalf("%#x does not differ on its own", at)
		}
		if len(want) > 0 {
			if _, ok := spaces[1].Diff(spaces[2], len(want)-1); ok {
				t.Fatal("more than most")
			}
		}
	}
}
