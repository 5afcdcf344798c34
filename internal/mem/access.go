package mem

import (
	"encoding/binary"
	"slices"

	"symchef/internal/expr"
	"symchef/internal/guest"
)

// Bytes is a run of guest bytes: the concrete values under the current
// assignment, and where they are symbolic their expressions (8 bits wide).
// Sym is nil when all are concrete, else as long as Data.
type Bytes struct {
	Data []byte
	Sym  []expr.Ref
}

// Concrete returns p as Bytes without symbolic ones.
func Concrete(p []byte) Bytes { return Bytes{Data: p} }

// Slice returns the bytes [lo, hi).
func (b Bytes) Slice(lo, hi int) Bytes {
	r := Bytes{Data: b.Data[lo:hi]}
	if b.Sym != nil {
		r.Sym = b.Sym[lo:hi]
	}
	return r
}

// IsConcrete reports whether no byte is symbolic.
func (b Bytes) IsConcrete() bool {
	for _, r := range b.Sym {
		if r != 0 {
			return false
		}
	}
	return true
}

// Fetch copies executable bytes from addr on and returns how many there are. It is a lift.Fetch.
func (s *Space) Fetch(addr uint64, p []byte) int {
	return s.read(addr, p, guest.ProtExec)
}

// read copies bytes until one is not readable under need. Of granules that are read as a whole nothing is kept.
func (s *Space) read(addr uint64, p []byte, need guest.Prot) int {
	n := 0
	for n < len(p) {
		if len(p)-n >= GranuleSize && s.copyInitial(addr+uint64(n), p[n:], need) {
			n += GranuleSize - int((addr+uint64(n))&(GranuleSize-1))
			continue
		}
		g := s.readable(addr+uint64(n), need)
		if g == nil {
			break
		}
		n += copy(p[n:], g.data[(addr+uint64(n))&(GranuleSize-1):])
	}
	return n
}

// copyInitial copies the rest of addr's granule if that has the initial content of a file, and may be read; p has room for it.
func (s *Space) copyInitial(addr uint64, p []byte, need guest.Prot) bool {
	a := s.Find(addr)
	if s.remote != nil || a == nil || a.Back == nil || a.Obj != 0 || !a.allows(need) || s.lookup(addr) != nil {
		return false
	}
	p = p[:GranuleSize-addr&(GranuleSize-1)]
	n := 0
	if off := a.Off + addr - a.Start; off < uint64(len(a.Back.Data)) {
		n = copy(p, a.Back.Data[off:])
	}
	clear(p[n:])
	return true
}

// Read copies len(p) bytes at addr: concrete values under the current assignment.
func (s *Space) Read(addr uint64, p []byte) error {
	if s.read(addr, p, guest.ProtRead) < len(p) {
		return ErrFault
	}
	return nil
}

// ReadU reads n bytes (1..8) as a little-endian number.
func (s *Space) ReadU(addr uint64, n int) (uint64, error) {
	if off := addr & (GranuleSize - 1); n == 8 && off <= GranuleSize-8 {
		g := s.readable(addr, guest.ProtRead)
		if g == nil {
			return 0, ErrFault
		}
		return binary.LittleEndian.Uint64(g.data[off:]), nil
	}
	var buf [8]byte
	if err := s.Read(addr, buf[:n]); err != nil {
		return 0, err
	}
	v := uint64(0)
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(buf[i])
	}
	return v, nil
}

// Write stores concrete bytes; either all or none are written.
func (s *Space) Write(addr uint64, p []byte) error {
	if !s.Mapped(addr, uint64(len(p)), guest.ProtWrite) {
		return ErrFault
	}
	s.poke(addr, Bytes{Data: p}, guest.ProtWrite)
	return nil
}

// WriteU stores the n low bytes (1..8) of v.
func (s *Space) WriteU(addr, v uint64, n int) error {
	var buf [8]byte
	for i := range buf {
		buf[i] = byte(v >> (8 * i))
	}
	return s.Write(addr, buf[:n])
}

// Poke stores bytes whatever the protection; the range must be mapped and show no object. The loader uses it.
func (s *Space) Poke(addr uint64, p []byte) error {
	if !s.pokes(addr, uint64(len(p))) {
		return ErrFault
	}
	s.poke(addr, Bytes{Data: p}, 0)
	return nil
}

// pokes reports whether [addr, addr+n) is mapped and shows no object.
func (s *Space) pokes(addr, n uint64) bool {
	return s.Mapped(addr, n, 0) && !slices.ContainsFunc(s.shows, func(a *Area) bool { return a.Start < addr+n && addr < a.End })
}

func (s *Space) poke(addr uint64, b Bytes, need guest.Prot) {
	for n := 0; n < len(b.Data); {
		at := addr + uint64(n)
		off := int(at & (GranuleSize - 1))
		k := min(len(b.Data)-n, GranuleSize-off)
		part := b.Slice(n, n+k)
		if a := s.Find(at); a.Obj != 0 {
			s.Objects.poke(a.inObject(at), part, 0)
			n += k
			continue
		}
		sym := !part.IsConcrete()
		before := s.lookup(at)
		g := s.writable(at, need, sym)
		if g != before {
			s.add(Change(granuleOf(at)))
		}
		if a := s.Find(at); a.Prot&guest.ProtExec != 0 {
			s.changed(true)
		}
		copy(g.data[off:], part.Data)
		if sym && g.sym == nil {
			g.sym = new(overlay)
			s.add(Change(granuleOf(at)))
		}
		if g.sym != nil {
			for i := 0; i < k; i++ {
				r := expr.Ref(0)
				if part.Sym != nil {
					r = part.Sym[i]
				}
				g.sym.set(off+i, r)
			}
			if g.sym.n == 0 {
				g.sym = nil
				s.add(Change(granuleOf(at)))
			}
		}
		n += k
	}
}

func (o *overlay) set(i int, r expr.Ref) {
	if o.refs[i] != 0 {
		o.n--
	}
	if r != 0 {
		o.n++
	}
	o.refs[i] = r
}

// HasSym reports whether one of the n bytes at addr is symbolic. A range that wraps holds none.
func (s *Space) HasSym(addr, n uint64) bool {
	for end := min(addr+n, guest.AddrLimit); addr < end; {
		o, next := s.overlayAt(addr)
		if o != nil {
			for ; addr < min(next, end); addr++ {
				if o.refs[addr&(GranuleSize-1)] != 0 {
					return true
				}
			}
		}
		addr = next
	}
	return false
}

// ReadSym copies n bytes at addr with their expressions.
func (s *Space) ReadSym(addr uint64, n int) (Bytes, error) {
	b := Bytes{Data: make([]byte, n)}
	if err := s.Read(addr, b.Data); err != nil {
		return b, err
	}
	if !s.HasSym(addr, uint64(n)) {
		return b, nil
	}
	b.Sym = make([]expr.Ref, n)
	for i := range b.Sym {
		if o, _ := s.overlayAt(addr + uint64(i)); o != nil {
			b.Sym[i] = o.refs[(addr+uint64(i))&(GranuleSize-1)]
		}
	}
	return b, nil
}

// WriteSym stores bytes with their expressions; either all or none are written.
func (s *Space) WriteSym(addr uint64, b Bytes) error {
	if !s.Mapped(addr, uint64(len(b.Data)), guest.ProtWrite) {
		return ErrFault
	}
	s.poke(addr, b, guest.ProtWrite)
	return nil
}

// EachSym calls f for every symbolic byte in ascending order of address, those of objects left out.
func (s *Space) EachSym(f func(addr uint64, r expr.Ref, v byte)) {
	s.eachSym(s.root, 0, 0, func(base uint64, g *granule) {
		for i, r := range g.sym.refs {
			if r != 0 {
				f(base+uint64(i), r, g.data[i])
			}
		}
	})
}

// Rebase gives every symbolic byte, those of objects left out, the value that eval returns for its expression.
func (s *Space) Rebase(eval func(expr.Ref) uint64) {
	s.eachSym(s.root, 0, 0, func(base uint64, g *granule) {
		w := g // what is written: g, or the copy that is made for the first byte that changes
		for i, r := range g.sym.refs {
			if r == 0 {
				continue
			}
			n := byte(eval(r))
			if n == w.data[i] {
				continue
			}
			if w.owner != s.owner {
				w = s.writable(base, 0, true)
				s.add(Change(granuleOf(base)))
			}
			w.data[i] = n
			if s.Find(base).Prot&guest.ProtExec != 0 {
				s.changed(true)
			}
		}
	})
}

func (s *Space) eachSym(n *node, depth int, base uint64, f func(uint64, *granule)) {
	if n == nil || !n.sym {
		return
	}
	step := uint64(1) << (fanBits * (levels - depth - 1))
	for i := uint64(0); i < fan; i++ {
		b := base + i*step
		if n.leafs == nil {
			s.eachSym(n.kids[i], depth+1, b, f)
		} else if g := n.leafs[i]; g != nil && g.sym != nil {
			f(b<<GranuleBits, g)
		}
	}
}

// EachGranule calls f for every granule that has been made, in ascending order, those of objects left out.
// f must not change data. It serves snapshots and digests.
func (s *Space) EachGranule(f func(addr uint64, data *[GranuleSize]byte)) {
	s.each(s.root, 0, 0, func(addr uint64, g *granule) { f(addr, g.data) })
}

func (s *Space) each(n *node, depth int, base uint64, f func(uint64, *granule)) {
	if n == nil {
		return
	}
	step := uint64(1) << (fanBits * (levels - depth - 1))
	for i := uint64(0); i < fan; i++ {
		b := base + i*step
		if n.leafs == nil {
			s.each(n.kids[i], depth+1, b, f)
		} else if g := n.leafs[i]; g != nil {
			f(b<<GranuleBits, g)
		}
	}
}
