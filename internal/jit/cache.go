package jit

import "symchef/internal/mem"

// TLBSize is the number of entries of a translation cache, a power of two.
const TLBSize = 4096

// granMask is the low bits of an address: those within its granule.
const granMask = mem.GranuleSize - 1

// Translation caches where a granule's bytes are. Tag is the guest address of its last byte; the zero value is no translation.
type Translation struct {
	Tag  uint64
	Data *[mem.GranuleSize]byte
}

// TLB is a direct-mapped cache of translations, by granule number.
type TLB [TLBSize]Translation

// Find returns the bytes of the granule that holds all n bytes at addr, or nil.
func (t *TLB) Find(addr, n uint64) *[mem.GranuleSize]byte {
	if e := &t[addr>>mem.GranuleBits&(TLBSize-1)]; e.Tag == (addr+n-1)|granMask {
		return e.Data
	}
	return nil
}

// Set makes p the bytes of addr's granule.
func (t *TLB) Set(addr uint64, p *[mem.GranuleSize]byte) {
	t[addr>>mem.GranuleBits&(TLBSize-1)] = Translation{addr | granMask, p}
}

// Drop forgets addr's granule.
func (t *TLB) Drop(addr uint64) {
	if e := &t[addr>>mem.GranuleBits&(TLBSize-1)]; e.Tag == addr|granMask {
		*e = Translation{}
	}
}

// MixedSize is the number of entries of a cache of granules with symbolic bytes, a power of two.
const MixedSize = 64

// Mixed caches where a granule's bytes and their expressions are. A granule with symbolic bytes is in no TLB, and one without in no MixedTLB: when it
// becomes the other its translations are stale.
type Mixed struct {
	Tag  uint64
	Data *[mem.GranuleSize]byte
	Refs *mem.Refs
	_    uint64
}

// MixedTLB is a direct-mapped cache of such granules.
type MixedTLB [MixedSize]Mixed

// Find returns the granule that holds all n bytes at addr; nil if it is not there.
func (t *MixedTLB) Find(addr, n uint64) *Mixed {
	if e := &t[addr>>mem.GranuleBits&(MixedSize-1)]; e.Tag == (addr+n-1)|granMask {
		return e
	}
	return nil
}

// Set makes p and refs those of addr's granule.
func (t *MixedTLB) Set(addr uint64, p *[mem.GranuleSize]byte, refs *mem.Refs) {
	t[addr>>mem.GranuleBits&(MixedSize-1)] = Mixed{Tag: addr | granMask, Data: p, Refs: refs}
}

// Drop forgets addr's granule.
func (t *MixedTLB) Drop(addr uint64) {
	if e := &t[addr>>mem.GranuleBits&(MixedSize-1)]; e.Tag == addr|granMask {
		*e = Mixed{}
	}
}

// Concrete reports whether the n bytes at addr, which m holds, are.
func (m *Mixed) Concrete(addr, n uint64) bool {
	for _, r := range m.Refs[addr&granMask:][:n] {
		if r != 0 {
			return false
		}
	}
	return true
}

// Cache is the caches for reading, or those for writing.
type Cache struct {
	Whole TLB
	Mixed MixedTLB
}

// Set makes p and, if there are symbolic bytes, refs those of addr's granule.
func (c *Cache) Set(addr uint64, p *[mem.GranuleSize]byte, refs *mem.Refs) {
	if refs == nil {
		c.Whole.Set(addr, p)
	} else {
		c.Mixed.Set(addr, p, refs)
	}
}

// Drop forgets addr's granule.
func (c *Cache) Drop(addr uint64) {
	c.Whole.Drop(addr)
	c.Mixed.Drop(addr)
}

// Find returns the bytes of the granule that holds the n bytes at addr; nil if it is not cached or one of them is symbolic.
func (c *Cache) Find(addr, n uint64) *[mem.GranuleSize]byte {
	if p := c.Whole.Find(addr, n); p != nil {
		return p
	}
	if e := c.Mixed.Find(addr, n); e != nil && e.Concrete(addr, n) {
		return e.Data
	}
	return nil
}
