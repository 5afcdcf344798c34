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
	s.flush(true)
}

// Flush writes to the remote what was written here. Require: s is lent.
func (s *Space) Flush() { s.flush(false) }

func (s *Space) flush(all bool) {
	var at uint64 // of run
	var run []byte
	write := func() {
		if len(run) > 0 {
			s.remote.Write(at, run)
		}
		run = run[:0]
	}
	s.each(s.root, 0, 0, func(addr uint64, g *granule) {
		if !all && g.owner == readOnly {
			return
		}
		if at+uint64(len(run)) != addr {
			write()
			at = addr
		}
		run = append(run, g.data[:]...)
	})
	write()
	s.root, s.granules = &node{owner: s.owner}, 0
	s.add(AllStale)
}

// Return ends the loan. The content is then what each area shows initially; the caller stores what differs.
func (s *Space) Return() {
	s.Flush()
	s.remote = nil
}

// readOnly is the owner of a lent space's granules that were only read: nobody's, so that a write copies them.
const readOnly = 0

// fill copies the present content of addr's granule, which lies in area a and is not in the tree.
func (s *Space) fill(dst *granule, a *Area, addr uint64) {
	if s.remote != nil && s.remote.Read(addr&^(GranuleSize-1), &dst.data) {
		return
	}
	initial(dst, a, addr)
}
