package exec

import (
	"encoding/binary"
	"unsafe"

	"symchef/internal/jit"
	"symchef/internal/mem"
)

const granMask = mem.GranuleSize - 1

// use makes s the space of the caches, forgetting translations that are stale.
func (m *Machine) use(s *mem.Space) {
	v := s.Version()
	if m.space == s && m.spaceVersion == v {
		return
	}
	s.Refresh()
	read, write := &m.native.Read, &m.native.Write
	m.stale = append(m.stale[:0], mem.AllStale)
	if m.space == s {
		m.stale = s.Stale(m.spaceVersion, m.stale[:0])
	}
	m.space, m.spaceVersion = s, v
	for _, c := range m.stale {
		switch c {
		case mem.AllStale:
			m.unguard()
			m.forgetFree() // something else may be mapped
			*read, *write = jit.Cache{}, jit.Cache{}
			return
		case mem.WritesStale:
			*write = jit.Cache{}
			m.hideWrites()
		default:
			read.Drop(uint64(c))
			write.Drop(uint64(c))
			m.hide(uint64(c))
		}
	}
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
	m.tell(addr, n, false)
	if off+n <= mem.GranuleSize {
		if p, refs := s.ReadPage(addr); p != nil {
			m.native.Read.Set(addr, p, refs)
			if m.share.on && refs == nil {
				m.show(addr, p, false)
			}
			if m.native.Read.Find(addr, n) == nil {
				return 0, symMem
			}
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
	m.tell(addr, n, true)
	if off+n <= mem.GranuleSize {
		if p, refs := s.WritePage(addr); p != nil {
			m.use(s) // another area may show the same granule
			guarded := m.guarded(addr, refs)
			m.native.Write.Set(addr, p, guarded)
			m.native.Read.Set(addr, p, refs)
			if m.moved(addr, p); m.share.on && guarded == nil {
				m.show(addr, p, true)
			}
			if m.native.Write.Find(addr, n) != nil {
				put(p, off, w, v)
				return ok
			}
		}
	}
	m.beforeWrite(addr, n)
	if err := s.WriteU(addr, v, int(n)); err != nil {
		m.faultAt = addr
		return fault
	}
	m.use(s)
	return ok
}
