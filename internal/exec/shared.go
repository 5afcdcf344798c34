package exec

import (
	"symchef/internal/ir"
	"symchef/internal/jit"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// share is set while the kernel must be told of accesses to memory, because other tasks share it (kernel.System.Watched). Then other translations
// of blocks run, which look with each access whether that must be told: of what has been told in the same way, nothing need be told again
// (kernel.System.Access). Each kind of code (kernel.Teller) tells by itself.
type share struct {
	on     bool
	told   kernel.Told // what has been told is in free under
	tables *[jit.Tellers]jit.ToldCache
	free   [jit.Tellers][2]map[uint64]*jit.Free // by kind, reading or writing, and the granule's address
	kept   []*jit.Free                          // to be used again
	n      int                                  // how many are in free

	teller kernel.Teller
	blk    *ir.Block // the micro-op that accesses memory
	uop    int
}

// maxFree is how many granules' are kept, at most.
const maxFree = 1 << 17

// shareWith begins or ends telling sys.
func (m *Machine) shareWith(sys *kernel.System) {
	on := sys.Watched()
	if on != m.share.on {
		m.share.on = on
		m.unguard()
		m.forgetFree()
	}
	if !on {
		m.share.told = kernel.Told{}
		return
	}
	if m.share.tables == nil {
		m.share.tables = new([jit.Tellers]jit.ToldCache)
		m.native.Told = m.share.tables
	}
	if told := sys.Told(); told != m.share.told {
		m.share.told = told
		m.forgetFree()
	}
}

// forgetFree says that all accesses must be told.
func (m *Machine) forgetFree() {
	x := &m.share
	if x.n == 0 {
		return
	}
	for k := range x.free {
		for _, f := range x.free[k] {
			for _, p := range f {
				x.kept = append(x.kept, p)
			}
			clear(f)
		}
	}
	x.n = 0
	*x.tables = [jit.Tellers]jit.ToldCache{}
}

// text tells apart what blocks are translated for: their code, and whether they tell.
func (m *Machine) text(s *mem.Space) uint64 {
	if m.share.on {
		return s.TextID<<1 | 1
	}
	return s.TextID << 1
}

// at says where the next access is.
func (m *Machine) at(blk *ir.Block, uop int) { m.share.blk, m.share.uop = blk, uop }

// tell notes an access.
func (m *Machine) tell(addr, n uint64, write bool) {
	x := &m.share
	if !x.on || x.teller == kernel.TellerNone {
		return
	}
	off, one := addr&granMask, addr&granMask+n <= mem.GranuleSize && x.teller != kernel.TellerMixed && !m.TellAll
	var free *jit.Free
	if one {
		if free = m.freeOf(addr, write); free != nil && free.Has(off, n) {
			return
		}
	}
	pc, _ := x.blk.PCOf(x.uop)
	if !m.sys.Access(pc, addr, n, write) || !one {
		return
	}
	if free == nil {
		if x.n >= maxFree {
			m.forgetFree()
		}
		if last := len(x.kept) - 1; last >= 0 {
			free, x.kept = x.kept[last], x.kept[:last]
			*free = jit.Free{}
		} else {
			free = new(jit.Free)
		}
		all := &x.free[x.teller-1][b2u(write)]
		if *all == nil {
			*all = map[uint64]*jit.Free{}
		}
		(*all)[addr&^granMask] = free
		x.n++
	}
	free.Add(off, n)
}

// table is the cache of the present kind of code, program's or library's, for reading or writing.
func (x *share) table(write bool) *jit.Told {
	if c := &x.tables[x.teller-1]; write {
		return &c.Write
	} else {
		return &c.Read
	}
}

// freeOf is what need not be told of addr's granule by the present code, program's or library's; nil: nothing.
func (m *Machine) freeOf(addr uint64, write bool) *jit.Free {
	if f := m.share.table(write).Free(addr); f != nil {
		return f
	}
	return m.share.free[m.share.teller-1][b2u(write)][addr&^granMask]
}

// show lets compiled code of the present kind access, as it just did, what is free of addr's granule, whose bytes are p.
func (m *Machine) show(addr uint64, p *[mem.GranuleSize]byte, write bool) {
	if x := &m.share; x.teller == kernel.TellerProgram || x.teller == kernel.TellerLibrary {
		if free := m.freeOf(addr, write); free != nil {
			x.table(write).Set(addr, p, free)
		}
	}
}

// moved forgets where addr's granule was, if that is not p.
func (m *Machine) moved(addr uint64, p *[mem.GranuleSize]byte) {
	if m.share.n > 0 {
		for k := range m.share.tables {
			m.share.tables[k].Read.Keep(addr, p)
			m.share.tables[k].Write.Keep(addr, p)
		}
	}
}

// hide forgets where addr's granule is.
func (m *Machine) hide(addr uint64) {
	if m.share.n > 0 {
		for k := range m.share.tables {
			m.share.tables[k].Read.Drop(addr)
			m.share.tables[k].Write.Drop(addr)
		}
	}
}

// hideWrites forgets where granules can be written.
func (m *Machine) hideWrites() {
	if m.share.n > 0 {
		for k := range m.share.tables {
			m.share.tables[k].Write = jit.Told{}
		}
	}
}
