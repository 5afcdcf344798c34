package mem

import (
	"bytes"
	"encoding/binary"
)

// readerSlots is how many granules a Reader remembers, a power of two.
const readerSlots = 256

// Reader reads concrete bytes of spaces and remembers where their granules are: for many small reads at the same places, while
// the program that writes there runs on. What it returns is what the Space would.
type Reader struct {
	s      *Space
	v      Version
	copied uint64
	gen    uint64 // of the slots that are good
	slots  [readerSlots]readerSlot
}

// readerSlot is a translation that is good in a generation, from 1 on.
type readerSlot struct {
	granule uint64
	gen     uint64
	data    *[GranuleSize]byte
}

// Of makes s, as it is now, what r reads. It must be called again after the program has run.
func (r *Reader) Of(s *Space) {
	if v := s.Version(); s != r.s || v != r.v || s.copied != r.copied {
		r.s, r.v, r.copied = s, v, s.copied
		r.gen++
	}
}

// page returns the granule of addr; nil if reading there faults or nothing has been written.
func (r *Reader) page(addr uint64) *[GranuleSize]byte {
	g := granuleOf(addr)
	slot := &r.slots[g>>GranuleBits%readerSlots]
	if slot.granule != g || slot.gen != r.gen {
		data, _ := r.s.ReadPage(addr)
		if data == nil {
			return nil
		}
		*slot = readerSlot{g, r.gen, data}
	}
	return slot.data
}

// ReadU is Space.ReadU.
func (r *Reader) ReadU(addr uint64, n int) (uint64, error) {
	if off := addr & (GranuleSize - 1); n == 8 && off <= GranuleSize-8 {
		if data := r.page(addr); data != nil {
			return binary.LittleEndian.Uint64(data[off:]), nil
		}
	}
	return r.s.ReadU(addr, n)
}

// Read is Space.Read.
func (r *Reader) Read(addr uint64, p []byte) error {
	if off := addr & (GranuleSize - 1); off+uint64(len(p)) <= GranuleSize {
		if data := r.page(addr); data != nil {
			copy(p, data[off:])
			return nil
		}
	}
	return r.s.Read(addr, p)
}

// Piece is what memory holds, or held, at an address.
type Piece struct {
	At   uint64
	Held []byte
}

// Holds reports whether memory holds all of list. It is fast where neighbours are in one granule.
func (r *Reader) Holds(list []Piece) bool {
	var data *[GranuleSize]byte
	last := uint64(1) // the granule of data; no granule begins there
	for i := range list {
		p := &list[i]
		off := p.At & (GranuleSize - 1)
		if g := p.At - off; g != last {
			data, last = r.page(p.At), g
		}
		switch n := uint64(len(p.Held)); {
		case data == nil || off+n > GranuleSize:
			if !r.holds(p.At, p.Held) {
				return false
			}
		case n == 8:
			if *(*[8]byte)(data[off:]) != [8]byte(p.Held) {
				return false
			}
		case string(data[off:off+n]) != string(p.Held):
			return false
		}
	}
	return true
}

// holds is Holds for a piece that may lie in several granules, or in none.
func (r *Reader) holds(addr uint64, want []byte) bool {
	got := make([]byte, len(want))
	return r.s.Read(addr, got) == nil && bytes.Equal(got, want)
}
