package mem

import "symchef/internal/guest"

// Remote is where the content of a space is while it is lent: the memory of a process of the host.
type Remote interface {
	// Map makes [a.Start, a.End) show the initial content of a in place of what was there.
	Map(a *Area)
	// Unmap removes every mapping in [start, end).
	Unmap(start, end uint64)
	// Protect changes the protection of [start, end), all of which is mapped.
	Protect(start, end uint64, prot guest.Prot)
	// Show makes [start, end), pages of a, have the content of b from off on, and returns true, or does nothing.
	Show(a *Area, start, end uint64, b *Backing, off uint64) bool
	// Read copies the content of the granule at addr; false if there is none, then it is the initial one.
	Read(addr uint64, p *[GranuleSize]byte) bool
	// Write stores bytes that are not symbolic.
	Write(addr uint64, p []byte)
}

// Lend moves the content of s to r. While s is lent its own granules are copies of what r has: Flush writes them back
// and forgets them, and must be called before the content changes at r. Mappings are changed at r at once. Require: nothing in s is
// symbolic, s is not forked before Return, and the objects that it shows are lent, too.
func (s *Space) Lend(r Remote) {
	s.remote = r
	for _, a := range s.areas {
		r.Map(a)
	}
	before := s.root
	s.flush(true)
	s.lent = before
}

// Flush writes to the remote what was written here. Require: s is lent.
func (s *Space) Flush() { s.flush(false) }

func (s *Space) flush(all bool) {
	var last stretch
	s.each(s.root, 0, 0, func(addr uint64, g *granule) {
		if !all && g.owner == nobody {
			return
		}
		if !last.add(addr, g) {
			last.store(s)
			last.add(addr, g)
		}
	})
	last.store(s)
	s.root, s.granules = &node{owner: s.owner}, 0
	s.add(AllStale)
}

// stretch is neighbouring granules: with bytes of their own, or that show neighbouring ones of a Backing.
type stretch struct {
	at   uint64
	back *Backing
	off  uint64
	list []*granule
}

// add makes g, at addr, the next one; false if it is none.
func (t *stretch) add(addr uint64, g *granule) bool {
	n := uint64(len(t.list)) * GranuleSize
	switch {
	case n == 0:
		t.at, t.back, t.off = addr, g.back, g.off
	case addr != t.at+n || g.back != t.back || g.back != nil && g.off != t.off+n:
		return false
	}
	t.list = append(t.list, g)
	return true
}

// leastShown is how many bytes a remote is asked to show at least: fewer are written as fast.
const leastShown = 1 << 16

// store brings t to the remote of s, and empties it.
func (t *stretch) store(s *Space) {
	for at, end := t.at, t.at+uint64(len(t.list))*GranuleSize; at < end; {
		a := s.Find(at)
		until, off := min(end, a.End), t.off+(at-t.at)
		if t.back == nil || !t.show(s, a, at, until, off) {
			t.write(s, at, until)
		}
		at = until
	}
	t.list = t.list[:0]
}

// show has [at, end) of a, which shows t.back from off on, shown by the remote; false if that was not possible.
func (t *stretch) show(s *Space, a *Area, at, end, off uint64) bool {
	if a.Back == t.back && a.Off+(at-a.Start) == off {
		return true // it does already
	}
	start, stop := guest.PageUp(at), guest.PageDown(end)
	if start >= stop || stop-start < leastShown || (off+start-at)%guest.PageSize != 0 || !s.remote.Show(a, start, stop, t.back, off+(start-at)) {
		return false
	}
	t.write(s, at, start)
	t.write(s, stop, end)
	return true
}

// write has the remote write the bytes of [at, end).
func (t *stretch) write(s *Space, at, end uint64) {
	var run []byte
	for i := at; i < end; i += GranuleSize {
		run = append(run, t.list[(i-t.at)/GranuleSize].data[:]...)
	}
	if len(run) > 0 {
		s.remote.Write(at, run)
	}
}

// Return ends the loan. The content is then what it was before; the caller stores what differs, with Keep.
func (s *Space) Return() {
	s.Flush()
	s.remote, s.root, s.lent = nil, s.lent, nil
	if s.root == nil {
		s.root = &node{owner: s.owner}
	}
	s.granules = s.root.count()
}

// Keep is Poke of whole granules, of which those that have this content stay as they are.
func (s *Space) Keep(addr uint64, data []byte) error {
	for i := 0; i < len(data); i += GranuleSize {
		at, now := addr+uint64(i), (*[GranuleSize]byte)(data[i:])
		if s.Find(at) == nil {
			return ErrFault
		}
		was := s.Initial(at)
		if g := s.lookup(at); g != nil {
			was = g.data
		}
		if *was == *now {
			continue
		}
		if err := s.Poke(at, now[:]); err != nil {
			return err
		}
	}
	return nil
}

// fill copies the present content of addr's granule, which lies in area a and is not in the tree.
func (s *Space) fill(dst *granule, a *Area, addr uint64) {
	if s.remote != nil && s.remote.Read(granuleOf(addr), dst.data) {
		return
	}
	initial(dst.data, a, addr)
}

// Show makes [addr, addr+n), whole pages, have the content of b from off on, which is not copied. All of it must be mapped and show no object.
func (s *Space) Show(addr, n uint64, b *Backing, off uint64) error {
	if addr%guest.PageSize != 0 || n%guest.PageSize != 0 || off > uint64(len(b.Data)) || uint64(len(b.Data))-off < n || !s.pokes(addr, n) {
		return ErrFault
	}
	for i := uint64(0); i < n; i += GranuleSize {
		p := s.slot(addr+i, false)
		if *p == nil {
			s.granules++
		}
		*p = granuleIn(b, off+i)
	}
	s.changed(true)
	return nil
}

// Shown returns from where on addr's granule shows b; false if it does not.
func (s *Space) Shown(addr uint64, b *Backing) (off uint64, ok bool) {
	g := s.lookup(addr)
	if g == nil || b == nil || g.back != b {
		return 0, false
	}
	return g.off, true
}
