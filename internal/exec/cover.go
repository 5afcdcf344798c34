package exec

import (
	"cmp"
	"slices"

	"symchef/internal/ir"
)

// coverage is the set of guest code bytes that blocks were lifted from. A
// block is lifted when it is first executed, so this costs nothing later on.
type coverage struct {
	pages map[uint64]*[64]uint64 // by address >> 12: one bit per byte
	bytes uint64                 // bits set
}

// add puts the bytes [lo, hi) into the set.
func (c *coverage) add(lo, hi uint64) {
	if c.pages == nil {
		c.pages = map[uint64]*[64]uint64{}
	}
	for a := lo; a < hi; a++ {
		p := c.pages[a>>12]
		if p == nil {
			p = new([64]uint64)
			c.pages[a>>12] = p
		}
		if w, bit := &p[a>>6&63], uint64(1)<<(a&63); *w&bit == 0 {
			*w |= bit
			c.bytes++
		}
	}
}

// CodeBytes is the number of distinct bytes of guest code executed since the
// machine was made or ForgetCode called. Addresses of several processes are
// not told apart.
func (m *Machine) CodeBytes() uint64 { return m.covered.bytes }

// ForgetCode drops translations and coverage: CodeBytes then says what is
// executed from here on, whether the boot ran in this machine or was loaded.
// It must not be called within Run.
func (m *Machine) ForgetCode() {
	clear(m.cache[:])
	clear(m.all)
	m.code.Drop()
	m.covered = coverage{}
}

// An Executed block is one that the machine has translated since code was last forgotten.
type Executed struct {
	Block *ir.Block
	Code  string // its bytes
	Host  []byte // machine code of the host; nil: it was not hot
}

// Executed are all of them, by address.
func (m *Machine) Executed() (out []Executed) {
	for _, e := range m.all {
		if e.blk != nil {
			out = append(out, Executed{e.blk, e.code, m.code.Bytes(e.compiled, m.Notes)})
		}
	}
	slices.SortFunc(out, func(a, b Executed) int {
		return cmp.Or(cmp.Compare(a.Block.PC, b.Block.PC), cmp.Compare(a.Code, b.Code))
	})
	return slices.CompactFunc(out, func(a, b Executed) bool { return a.Block.PC == b.Block.PC && a.Code == b.Code })
}
