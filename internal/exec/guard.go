package exec

import (
	"sync/atomic"

	"symchef/internal/mem"
)

// guards are bytes that compiled code must not write by itself: their granules are cached for writing with refs that name them, as if they were symbolic.
//
// Invariants: no translation for writing has a guarded byte without its ref; Go code that writes one ends the epoch of the Notes before compiled code
// runs again. So none changes in an epoch. Granules are guarded that one area alone shows.
type guards struct {
	of   map[uint64]*mem.Refs // by the granule's address
	free []*mem.Refs
	gen  uint64 // no other machine's
}

var lastGuards atomic.Uint64

// maxGuarded is how many granules are guarded, at most.
const maxGuarded = 2048

// Guard makes the machine count Notes.Epoch up before a byte of list is written, as long as Guards stays the same; false if it cannot.
func (m *Machine) Guard(list []mem.Piece) bool {
	g := &m.guards
	for _, p := range list {
		for at, end := p.At, p.At+uint64(len(p.Held)); at < end; at = at&^granMask + mem.GranuleSize {
			if a := m.space.Find(at); a == nil || a.Obj != 0 { // others may show the same granule
				return false
			}
			if g.of[at&^granMask] == nil && len(g.of) == maxGuarded {
				m.unguard()
				return false
			}
			g.add(at, min(end, at&^granMask+mem.GranuleSize))
			m.native.Write.Drop(at)
			m.hide(at)
		}
	}
	return true
}

// Guards is the number of what is guarded: it changes when nothing is any more, and is different in each machine.
func (m *Machine) Guards() uint64 { return m.guards.gen }

// add guards the bytes from at to end, all of one granule.
func (g *guards) add(at, end uint64) {
	key := at &^ granMask
	refs := g.of[key]
	if refs == nil {
		if g.of == nil {
			g.of = map[uint64]*mem.Refs{}
		}
		if n := len(g.free); n > 0 {
			refs, g.free = g.free[n-1], g.free[:n-1]
			*refs = mem.Refs{}
		} else {
			refs = new(mem.Refs)
		}
		g.of[key] = refs
	}
	for off := at - key; off < end-key; off++ {
		refs[off] = 1
	}
}

// unguard guards nothing any more.
func (m *Machine) unguard() {
	g := &m.guards
	for at, refs := range g.of {
		m.native.Write.Drop(at)
		g.free = append(g.free, refs)
	}
	clear(g.of)
	g.gen = lastGuards.Add(1)
	m.endEpoch()
}

// guarded returns what to cache the granule of addr for writing with, whose symbolic bytes are refs.
func (m *Machine) guarded(addr uint64, refs *mem.Refs) *mem.Refs {
	guard := m.guards.of[addr&^granMask]
	if guard == nil {
		return refs
	}
	if refs != nil { // they change by themselves
		m.unguard()
		return refs
	}
	return guard
}

// endEpoch says that guarded bytes may be written.
func (m *Machine) endEpoch() {
	if m.Notes != nil {
		m.Notes.Epoch++
	}
}

// beforeWrite ends the epoch if any of the granules of n bytes at addr is guarded.
func (m *Machine) beforeWrite(addr, n uint64) {
	if len(m.guards.of) == 0 {
		return
	}
	for at := addr &^ granMask; at < addr+n; at += mem.GranuleSize {
		if m.guards.of[at] != nil {
			m.endEpoch()
			return
		}
	}
}
