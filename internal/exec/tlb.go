package exec

import (
	"encoding/binary"
	"unsafe"

	"symchef/internal/mem"
)

const (
	tlbSize  = 4096
	granMask = mem.GranuleSize - 1
)

// tlbEntry caches where a granule's bytes are; tag is the granule number plus 1.
type tlbEntry struct {
	tag  uint64
	data *[mem.GranuleSize]byte
}

// use makes s the space of the caches, forgetting translations that may be stale.
func (m *Machine) use(s *mem.Space) {
	v := s.Version()
	if m.space == s && m.spaceVersion == v {
		return
	}
	s.Refresh()
	clear(m.tlbR[:])
	clear(m.tlbW[:])
	m.space, m.spaceVersion = s, v
}

func get(p *[mem.GranuleSize]byte, off uint64, w uint8) uint64 {
	q := unsafe.Pointer(&p[off])
	switch w {
	case 64:
		return *(*uint64)(q)
	case 32:
		return uint64(*(*uint32)(q))
	case 8:
		return uint64(*(*uint8)(q))
	}
	return uint64(*(*uint16)(q))
}

func put(p *[mem.GranuleSize]byte, off uint64, w uint8, v uint64) {
	q := unsafe.Pointer(&p[off])
	switch w {
	case 64:
		*(*uint64)(q) = v
	case 32:
		*(*uint32)(q) = uint32(v)
	case 8:
		*(*uint8)(q) = uint8(v)
	default:
		*(*uint16)(q) = uint16(v)
	}
}

// load reads w bits at addr when the fast path missed. symMem: one of the bytes is symbolic.
func (m *Machine) load(s *mem.Space, addr uint64, w uint8) (uint64, status) {
	n := uint64(w / 8)
	off := addr & granMask
	if off+n <= mem.GranuleSize {
		if p := s.ReadPage(addr); p != nil {
			g := addr >> mem.GranuleBits
			m.tlbR[g&(tlbSize-1)] = tlbEntry{g + 1, p}
			return get(p, off, w), ok
		}
	}
	if s.HasSym(addr, n) {
		return 0, symMem
	}
	var buf [8]byte
	if err := s.Read(addr, buf[:n]); err != nil {
		m.faultAt = addr
		return 0, fault
	}
	return binary.LittleEndian.Uint64(buf[:]), ok
}

// store writes w concrete bits at addr when the fast path missed.
func (m *Machine) store(s *mem.Space, addr uint64, w uint8, v uint64) status {
	n := uint64(w / 8)
	off := addr & granMask
	if off+n <= mem.GranuleSize {
		if p := s.WritePage(addr); p != nil {
			m.use(s) // another area may show the same granule
			g := addr >> mem.GranuleBits
			m.tlbW[g&(tlbSize-1)] = tlbEntry{g + 1, p}
			m.tlbR[g&(tlbSize-1)] = tlbEntry{g + 1, p}
			put(p, off, w, v)
			return ok
		}
	}
	if err := s.WriteU(addr, v, int(n)); err != nil {
		m.faultAt = addr
		return fault
	}
	m.use(s)
	return ok
}
