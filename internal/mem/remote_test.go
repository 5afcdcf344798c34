package mem

import (
	"bytes"
	"testing"

	"symchef/internal/guest"
	"symchef/internal/seed"
)

// elsewhere is a remote that keeps the content in a space of its own.
type elsewhere struct {
	s             *Space
	deaf          bool
	writes, shown int
}

func (e *elsewhere) Map(a *Area) { e.s.MapArea(*a) }

func (e *elsewhere) Unmap(start, end uint64) { e.s.Unmap(start, end-start) }

func (e *elsewhere) Protect(start, end uint64, prot guest.Prot) { e.s.Protect(start, end-start, prot) }

func (e *elsewhere) Show(a *Area, start, end uint64, b *Backing, off uint64) bool {
	if e.deaf {
		return false
	}
	e.shown++
	e.s.Poke(start, b.Data[off:off+end-start])
	return true
}

func (e *elsewhere) Read(addr uint64, p *[GranuleSize]byte) bool {
	return e.s.read(addr, p[:], 0) == GranuleSize
}

func (e *elsewhere) Write(addr uint64, p []byte) {
	e.writes++
	e.s.Poke(addr, p)
}

// A lent space behaves as one that is not, and its remote has the same content after every Flush: random operations, with the
// remote writing behind the space's back, as a running process does.
func TestLend(t *testing.T) {
	r := seed.Rand(t)
	const base, pages = uint64(0x10000), 24
	file := &Backing{Name: "file", Data: bytes.Repeat([]byte("content of a file. "), 1000)}
	shown := &Backing{Name: "kept", Data: make([]byte, 32*guest.PageSize)}
	for i := range shown.Data {
		shown.Data[i] = byte(r.Uint32())
	}
	asked := 0
	for round := range 40 {
		lent, plain := NewSpace(), NewSpace()
		e := &elsewhere{s: NewSpace(), deaf: round%4 == 0}
		for step := range 120 {
			if step == 20 {
				for _, s := range []*Space{lent, plain} {
					s.Map(base, 20*guest.PageSize, guest.ProtRead|guest.ProtWrite, nil, 0, "")
					s.Show(base+guest.PageSize, 18*guest.PageSize, shown, 2*guest.PageSize)
					s.Poke(base+guest.PageSize+GranuleSize, []byte{1})
				}
				lent.Lend(e)
				asked += e.shown
			}
			at := base + uint64(r.IntN(pages))*guest.PageSize
			n := uint64(1+r.IntN(4)) * guest.PageSize
			prot := []guest.Prot{guest.ProtRead, guest.ProtRead | guest.ProtWrite, guest.ProtRead | guest.ProtExec}[r.IntN(3)]
			data := make([]byte, r.IntN(6000))
			for i := range data {
				data[i] = byte(r.Uint32())
			}
			off := at + uint64(r.IntN(guest.PageSize))
			switch r.IntN(8) {
			case 0:
				lent.Map(at, n, prot, nil, 0, "")
				plain.Map(at, n, prot, nil, 0, "")
			case 1:
				lent.Map(at, n, prot, file, guest.PageSize, "file")
				plain.Map(at, n, prot, file, guest.PageSize, "file")
			case 2:
				lent.Unmap(at, n)
				plain.Unmap(at, n)
			case 3:
				lent.Protect(at, n, prot)
				plain.Protect(at, n, prot)
			case 4:
				if step > 20 { // the process writes
					lent.Flush()
					if e.s.Write(off, data) == nil {
						plain.Write(off, data)
					}
				}
			default:
				if err1, err2 := lent.Write(off, data), plain.Write(off, data); err1 != err2 {
					t.Fatalf("%v and %v", err1, err2)
				}
			}
			if r.IntN(3) == 0 && step > 20 {
				lent.Flush()
				before := e.writes
				a, b := make([]byte, 500), make([]byte, 500)
				if n, m := lent.read(off, a, 0), plain.read(off, b, 0); n != m || !bytes.Equal(a, b) {
					t.Fatalf("round %d step %d: at %#x %d and %d bytes", round, step, off, n, m)
				}
				if lent.Flush(); e.writes != before {
					t.Fatal("what was read is written back")
				}
			}
		}
		lent.Flush()
		for at := base; at < base+(pages+4)*guest.PageSize; at += guest.PageSize {
			var a, b, c [guest.PageSize]byte
			n, m := lent.read(at, a[:], 0), plain.read(at, b[:], 0)
			if k := e.s.read(at, c[:], 0); n != m || n != k || a != b || a != c {
				t.Fatalf("round %d: at %#x %d, %d, %d bytes", round, at, n, m, k)
			}
		}
		lent.Return()
		for _, a := range lent.Areas() {
			now := make([]byte, a.End-a.Start)
			e.s.read(a.Start, now, 0)
			before := lent.granules
			if err := lent.Keep(a.Start, now); err != nil {
				t.Fatal(err)
			}
			after := lent.granules
			if lent.Keep(a.Start, now); lent.granules != after || before > after {
				t.Fatal("what is so already is stored")
			}
		}
		for at := base; at < base+(pages+4)*guest.PageSize; at += GranuleSize {
			want, was := plain.Shown(at, shown)
			if got, is := lent.Shown(at, shown); was && (!is || got != want) {
				t.Fatalf("round %d: at %#x what nobody has changed is a copy", round, at)
			}
		}
		if _, ok := lent.Differs(plain); ok || lent.root.count() != lent.granules {
			t.Fatalf("round %d: another content after its return, or %d granules that are %d", round, lent.granules, lent.root.count())
		}
		if len(lent.Areas()) != len(plain.Areas()) {
			t.Fatalf("%d and %d areas", len(lent.Areas()), len(plain.Areas()))
		}
		lent.Fork()
	}
	if asked == 0 {
		t.Error("the remote was not asked to show anything")
	}
}
