package exec

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
