package mem

import "encoding/binary"

// readerSlots is how many granules a Reader remembers, a power of two.
const readerSlots = 64

// Reader reads concrete bytes of spaces and remembers where their granules are: for many small reads at the same places, while
// the program that writes there runs on. What it returns is what the Space would.
type Reader struct {
	s      *Space
	v      Version
	copied uint64
	slots  [readerSlots]readerSlot
}

// readerSlot is a translation; of none if data is nil.
type readerSlot struct {
	granule uint64
	data    *[GranuleSize]byte
}

// Of makes s, as it is now, what r reads. It must be called again after the program has run.
func (r *Reader) Of(s *Space) {
	if v := s.Version(); s != r.s || v != r.v || s.copied != r.copied {
		*r = Reader{s: s, v: v, copied: s.copied}
	}
}

// page returns the granule of addr; nil if reading there faults or nothing has been written.
func (r *Reader) page(addr uint64) *[GranuleSize]byte {
	g := granuleOf(addr)
	slot := &r.slots[g>>GranuleBits%readerSlots]
	if slot.data == nil || slot.granule != g {
		data, _ := r.s.ReadPage(addr)
		if data == nil {
			return nil
		}
		*slot = readerSlot{g, data}
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

// Holds reports whether want can be read at addr.
func (r *Reader) Holds(addr uint64, want []byte) bool {
	for len(want) > 0 {
		off := addr & (GranuleSize - 1)
		n := min(GranuleSize-off, uint64(len(want)))
		data := r.page(addr)
		if data == nil {
			var buf [GranuleSize]byte
			if r.s.Read(addr, buf[:n]) != nil || string(buf[:n]) != string(want[:n]) {
				return false
			}
		} else if string(data[off:off+n]) != string(want[:n]) {
			return false
		}
		addr, want = addr+n, want[n:]
	}
	return true
}
