// Package mem is a guest address space: concrete bytes in copy-on-write
// granules, with an overlay of expressions where bytes are symbolic.
//
//	s := mem.NewSpace()
//	s.Map(0x1000, 0x2000, guest.ProtRead|guest.ProtWrite, nil, 0, "data")
//	t := s.Fork()          // constant time
//	t.Write(0x1000, []byte{1}) // copies one granule
//
// # Invariants
//
//   - A granule or tree node is written only while its owner equals the
//     space's; Fork gives both sides a new owner, so what they share is frozen.
//   - A granule that shows a Backing is written by nobody: a write makes a copy.
//   - The concrete byte under a symbolic one is that byte's value under the
//     state's current assignment. Rebase restores this for a new assignment.
//   - Every granule present in the tree lies in a mapped area.
//   - What ReadPage and WritePage gave is good until Stale names it: a granule that was replaced, has its first symbolic
//     byte or has lost its last, and after Fork all that may be written.
//
// # Shared memory
//
// Spaces may show parts of one other space, the objects (Space.Objects): an area with
// Obj not 0 shows what is there at the address Obj, and has no granules of its own.
package mem

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"sync/atomic"

	"symchef/internal/expr"
	"symchef/internal/guest"
)

// GranuleSize is the unit of copy-on-write, in bytes.
const GranuleSize = 1 << GranuleBits

const (
	fanBits = 6
	fan     = 1 << fanBits
	levels  = (47 - GranuleBits + fanBits - 1) / fanBits
)

// ErrFault is an access to memory that is not mapped, or not so protected.
var ErrFault = errors.New("mem: fault")

// Refs are the expressions of a granule's symbolic bytes: 8 bits wide, 0 where the byte is concrete.
type Refs [GranuleSize]expr.Ref

// overlay holds the expressions of a granule.
type overlay struct {
	refs Refs
	n    int // how many are not 0
}

// granule is a copy-on-write unit.
type granule struct {
	owner uint64
	sym   *overlay // nil: all concrete; owned with the granule
	data  *[GranuleSize]byte
	// back is whose bytes data is, from off on; nil: they are the granule's own. Nobody writes there, so its owner is nobody.
	back *Backing
	off  uint64
}

// nobody owns a granule that must be copied to be written.
const nobody = 0

// newGranule returns one with bytes of its own, all of them 0.
func newGranule(owner uint64) *granule {
	g := new(struct {
		granule
		room [GranuleSize]byte
	})
	g.owner, g.data = owner, &g.room
	return &g.granule
}

// granuleIn returns one that shows b from off on.
func granuleIn(b *Backing, off uint64) *granule {
	return &granule{owner: nobody, back: b, off: off, data: (*[GranuleSize]byte)(b.Data[off:])}
}

// holds reports whether b has a whole granule from off on.
func holds(b *Backing, off uint64) bool {
	n := uint64(len(b.Data))
	return off < n && n-off >= GranuleSize
}

var zeroGranule = newGranule(nobody)

// node is an inner node of the tree over granule numbers.
type node struct {
	owner uint64
	sym   bool // some granule below may have an overlay
	kids  [fan]*node
	leafs *[fan]*granule // on the last level, instead of kids
}

// Backing is the content behind a file mapping; it never changes while a run lasts.
type Backing struct {
	Name string
	Data []byte
	// Copied says that Data is a copy of what a file held when it was mapped, so it takes memory of the guest's.
	Copied bool
	// file, if not nil, is a file of the host that holds Data, from at on.
	file *os.File
	at   uint64
}

// StandsIn says that f holds Data, from at on, a multiple of the page size.
func (b *Backing) StandsIn(f *os.File, at uint64) { b.file, b.at = f, at }

// File returns the file that holds Data, if that is known, and where in it.
func (b *Backing) File() (f *os.File, at uint64) { return b.file, b.at }

// Area is a mapped range with one protection. Areas are immutable; the space's
// list is replaced, never edited.
type Area struct {
	Start, End uint64 // page-aligned
	Prot       guest.Prot
	Back       *Backing // nil: anonymous, zero-filled
	Off        uint64   // offset in Back of Start
	Name       string
	Shared     bool // MAP_SHARED
	ReadOnly   bool // may never be written: the file was opened for reading
	// Obj is the address in the space of objects that is shown at Start, page-aligned; 0: the area's content is its own.
	// Where nothing is mapped there, accesses fault: the mapping is longer than the object. Where code is fetched
	// from an object, the object's own area must be executable, too: that is how writes to it are seen.
	Obj uint64
}

// Part returns what remains of a when it is cut to [from, to).
func (a *Area) Part(from, to uint64) Area {
	p := *a
	p.Start, p.End, p.Off = from, to, a.Off+(from-a.Start)
	if a.Obj != 0 {
		p.Obj += from - a.Start
	}
	return p
}

// NoObject is where the addresses of objects begin: below there never is one.
const NoObject = 1 << 30

// Nothing reports whether the area shows addresses without objects: what is behind the end of a file.
func (a *Area) Nothing() bool { return a.Obj != 0 && a.Obj < NoObject }

// inObject returns the address in the space of objects that addr shows. Require: Obj is not 0.
func (a *Area) inObject(addr uint64) uint64 { return addr - a.Start + a.Obj }

// allows reports whether accesses that need prot are allowed. What may be written may be
// read: page tables cannot say otherwise (SDM vol. 3, 4.6.1).
func (a *Area) allows(need guest.Prot) bool {
	p := a.Prot
	if p&guest.ProtWrite != 0 {
		p |= guest.ProtRead
	}
	return p&need == need
}

// Space is an address space. It belongs to one goroutine.
type Space struct {
	owner uint64
	root  *node
	areas []*Area // sorted, disjoint
	found int     // index of the area that Find found last; a guess
	shows []*Area // those of areas with Obj
	// TextID changes whenever executable code may have changed; two spaces with
	// one TextID have the same executable bytes.
	TextID uint64
	// objText is the TextID of Objects that TextID takes into account.
	objText uint64
	// granules is the number of granules in the tree.
	granules uint64
	// copied is how often a granule has been replaced by a copy, of which changes does not tell: see WritePage.
	copied uint64
	passed uint64 // see Passed
	changes
	// Objects is what areas with Obj show; all spaces of a system have the same. nil: there are no such areas.
	Objects *Space
	// remote is who the space is lent to; nil: nobody. lent is then what the tree was, but for what is not mapped any more.
	remote Remote
	lent   *node
}

// Refresh makes TextID tell of writes to shared code, through whatever mapping. It must be called where Version has changed
// and before code is fetched.
func (s *Space) Refresh() {
	if s.Objects == nil || s.objText == s.Objects.TextID {
		return
	}
	s.objText = s.Objects.TextID
	if slices.ContainsFunc(s.shows, func(a *Area) bool { return a.Prot&guest.ProtExec != 0 }) {
		s.TextID = lastText.Add(1)
	}
}

var lastOwner, lastText atomic.Uint64

// NewSpace returns an empty space.
func NewSpace() *Space {
	return &Space{owner: lastOwner.Add(1), root: &node{}, TextID: lastText.Add(1)}
}

// Fork returns a copy; both copies see later writes of their own only. It takes constant time.
func (s *Space) Fork() *Space {
	if s.remote != nil {
		panic("mem: fork of a space that is lent")
	}
	t := *s
	s.owner, t.owner = lastOwner.Add(1), lastOwner.Add(1)
	s.add(WritesStale)
	t.changes = changes{} // nobody keeps translations of it yet
	return &t
}

// Touched returns how much memory has content of its own, in bytes: what was written, and what was read of files.
func (s *Space) Touched() uint64 { return s.granules * GranuleSize }

// Passed is how many areas have been gone through to map, to unmap, to find a gap or what is mapped in a range: the work behind system calls. Granules that were dropped do not count: who
// made them has worked for it, and how many there are depends on how the program was started.
func (s *Space) Passed() uint64 {
	if s == nil {
		return 0
	}
	return s.passed
}

// Areas returns the mapped areas in ascending order; the caller must not change them.
func (s *Space) Areas() []*Area { return s.areas }

// Find returns the area that holds addr, or nil.
func (s *Space) Find(addr uint64) *Area {
	if s.found < len(s.areas) {
		if a := s.areas[s.found]; a.Start <= addr && addr < a.End {
			return a
		}
	}
	i := sort.Search(len(s.areas), func(i int) bool { return s.areas[i].End > addr })
	if i < len(s.areas) && s.areas[i].Start <= addr {
		s.found = i
		return s.areas[i]
	}
	return nil
}

// Mapped reports whether all of [addr, addr+n) is mapped with at least prot; prot 0 asks for the mapping alone,
// which may be longer than the object it shows.
func (s *Space) Mapped(addr, n uint64, prot guest.Prot) bool {
	if addr+n < addr {
		return false
	}
	for end := addr + n; addr < end; {
		a := s.Find(addr)
		if a == nil || !a.allows(prot) {
			return false
		}
		if a.Obj != 0 && prot != 0 && !s.Objects.Mapped(a.inObject(addr), min(a.End, end)-addr, guest.ProtRead) {
			return false
		}
		addr = a.End
		s.passed++
	}
	return true
}

// cut returns the areas with [start, end) removed, and where the gap is.
func (s *Space) cut(start, end uint64) (list []*Area, at int, exec bool) {
	at = -1
	for _, a := range s.areas {
		if a.End <= start || a.Start >= end {
			if a.Start >= end && at < 0 {
				at = len(list)
			}
			list = append(list, a)
			continue
		}
		exec = exec || a.Prot&guest.ProtExec != 0
		if a.Start < start {
			l := a.Part(a.Start, start)
			list = append(list, &l)
		}
		if at < 0 {
			at = len(list)
		}
		if a.End > end {
			r := a.Part(end, a.End)
			list = append(list, &r)
		}
	}
	if at < 0 {
		at = len(list)
	}
	return list, at, exec
}

func check(start, length uint64) error {
	if start%guest.PageSize != 0 || length == 0 || length%guest.PageSize != 0 || start+length > guest.AddrLimit || start+length < start {
		return fmt.Errorf("mem: bad range %#x+%#x", start, length)
	}
	return nil
}

// Map maps [start, start+length), replacing what was there.
func (s *Space) Map(start, length uint64, prot guest.Prot, back *Backing, off uint64, name string) error {
	return s.MapArea(Area{Start: start, End: start + length, Prot: prot, Back: back, Off: off, Name: name})
}

// MapArea is Map for a filled-in Area.
func (s *Space) MapArea(a Area) error {
	if err := check(a.Start, a.End-a.Start); err != nil {
		return err
	}
	list, at, exec := s.cut(a.Start, a.End)
	s.drop(a.Start, a.End)
	list = append(list, nil)
	copy(list[at+1:], list[at:])
	list[at] = &a
	if s.remote != nil {
		s.remote.Map(&a)
	}
	s.setAreas(join(list))
	s.changed(exec || a.Prot&guest.ProtExec != 0)
	return nil
}

// Unmap removes every mapping in the range.
func (s *Space) Unmap(start, length uint64) error {
	if err := check(start, length); err != nil {
		return err
	}
	list, _, exec := s.cut(start, start+length)
	if s.remote != nil {
		s.remote.Unmap(start, start+length)
	}
	s.setAreas(list)
	s.drop(start, start+length)
	s.changed(exec)
	return nil
}

// Protect changes the protection of the range; ErrFault if some of it is not mapped.
func (s *Space) Protect(start, length uint64, prot guest.Prot) error {
	if err := check(start, length); err != nil {
		return err
	}
	if !s.Mapped(start, length, 0) {
		return ErrFault
	}
	end := start + length
	if s.remote != nil {
		s.remote.Protect(start, end, prot)
	}
	var list []*Area
	exec := prot&guest.ProtExec != 0
	for _, a := range s.areas {
		if a.End <= start || a.Start >= end || a.Prot == prot {
			list = append(list, a)
			continue
		}
		exec = exec || a.Prot&guest.ProtExec != 0
		lo, hi := max(a.Start, start), min(a.End, end)
		for _, part := range [3]struct {
			from, to uint64
			prot     guest.Prot
		}{{a.Start, lo, a.Prot}, {lo, hi, prot}, {hi, a.End, a.Prot}} {
			if part.from < part.to {
				n := a.Part(part.from, part.to)
				n.Prot = part.prot
				list = append(list, &n)
			}
		}
	}
	s.setAreas(join(list))
	s.changed(exec)
	return nil
}

func (s *Space) setAreas(list []*Area) {
	s.passed += uint64(len(list))
	s.areas, s.shows = list, nil
	for _, a := range list {
		if a.Obj != 0 {
			s.shows = append(s.shows, a)
		}
	}
}

// join makes one area of neighbours that differ in nothing, as Linux does: a program may
// treat two adjacent mappings as one (mremap(2) needs it to be).
func join(list []*Area) []*Area {
	out := list[:0]
	for _, a := range list {
		if n := len(out); n > 0 && out[n-1].continues(a) {
			whole := *out[n-1]
			whole.End = a.End
			out[n-1] = &whole
			continue
		}
		out = append(out, a)
	}
	return out
}

// continues reports whether b goes on where a ends.
func (a *Area) continues(b *Area) bool {
	next := a.Part(a.End, a.End)
	return a.End == b.Start && a.Prot == b.Prot && a.Back == b.Back && a.Name == b.Name && a.Shared == b.Shared &&
		a.ReadOnly == b.ReadOnly && next.Obj == b.Obj && (a.Back == nil && a.Obj == 0 || next.Off == b.Off)
}

func (s *Space) changed(exec bool) {
	s.add(AllStale)
	if exec {
		s.TextID = lastText.Add(1)
	}
}

// FindGap returns the highest free range of the given length below limit, or 0.
func (s *Space) FindGap(length, limit uint64) uint64 {
	top := guest.PageDown(limit)
	for i := len(s.areas) - 1; i >= 0; i-- {
		s.passed++
		a := s.areas[i]
		if a.Start >= top {
			continue
		}
		if a.End < top && top-a.End >= length {
			return top - length
		}
		top = min(top, a.Start)
	}
	if least := uint64(16 * guest.PageSize); top > least && top-least > length {
		return top - length
	}
	return 0
}

// FindLowGap returns the lowest free range of the given length from start on and below limit, or 0. Require: start is not 0.
func (s *Space) FindLowGap(length, start, limit uint64) uint64 {
	for _, a := range s.areas {
		s.passed++
		if a.End <= start {
			continue
		}
		if a.Start >= start && a.Start-start >= length {
			break
		}
		start = a.End
	}
	if start >= limit || limit-start < length {
		return 0
	}
	return start
}

// drop removes the granules of [start, end).
func (s *Space) drop(start, end uint64) {
	first, last := start>>GranuleBits, (end-1)>>GranuleBits
	if s.lent != nil {
		n := s.granules
		s.lent = s.dropNode(s.lent, 0, 0, first, last)
		s.granules = n // of the tree
	}
	s.root = s.dropNode(s.root, 0, 0, first, last)
	if s.root == nil {
		s.root = &node{owner: s.owner}
	}
}

// dropNode removes granule numbers [lo, hi] from the subtree n at the given depth, whose first number is base.
func (s *Space) dropNode(n *node, depth int, base, lo, hi uint64) *node {
	if n == nil {
		return nil
	}
	span := uint64(1) << (fanBits * (levels - depth)) // numbers covered by n
	if base >= lo && base+span-1 <= hi {
		s.granules -= n.count()
		return nil
	}
	if base > hi || base+span-1 < lo {
		return n
	}
	n = s.own(n)
	step := span / fan
	for i := uint64(0); i < fan; i++ {
		b := base + i*step
		if b > hi || b+step-1 < lo {
			continue
		}
		if n.leafs != nil {
			if n.leafs[i] != nil {
				s.granules--
			}
			n.leafs[i] = nil
		} else {
			n.kids[i] = s.dropNode(n.kids[i], depth+1, b, lo, hi)
		}
	}
	return n
}

// count returns the number of granules below n.
func (n *node) count() (c uint64) {
	for _, k := range n.kids {
		if k != nil {
			c += k.count()
		}
	}
	if n.leafs != nil {
		for _, g := range n.leafs {
			if g != nil {
				c++
			}
		}
	}
	return c
}

// own returns n, or a copy of it, that this space may write.
func (s *Space) own(n *node) *node {
	if n.owner == s.owner {
		return n
	}
	c := *n
	c.owner = s.owner
	if n.leafs != nil {
		l := *n.leafs
		c.leafs = &l
	}
	return &c
}

// granuleOf returns the address of addr's granule.
func granuleOf(addr uint64) uint64 { return addr &^ (GranuleSize - 1) }

// lookup returns the granule of addr, or nil where none has been made.
func (s *Space) lookup(addr uint64) *granule {
	g := addr >> GranuleBits
	n := s.root
	for d := levels - 1; d > 0; d-- {
		n = n.kids[g>>(fanBits*d)&(fan-1)]
		if n == nil {
			return nil
		}
	}
	if n.leafs == nil {
		return nil
	}
	return n.leafs[g&(fan-1)]
}

// overlayAt returns the overlay of addr's granule, nil where there is none, and
// the address up to which it is the only one. Require: addr below AddrLimit.
func (s *Space) overlayAt(addr uint64) (o *overlay, next uint64) {
	limit := guest.AddrLimit
	for _, a := range s.shows {
		if a.End <= addr {
			continue
		}
		if a.Start <= addr {
			o, next = s.Objects.overlayAt(a.inObject(addr))
			return o, min(a.End, next-a.Obj+a.Start)
		}
		limit = a.Start
		break
	}
	g := addr >> GranuleBits
	n := s.root
	for d := levels - 1; d >= 0; d-- {
		bits := fanBits*d + GranuleBits
		next = (addr>>bits + 1) << bits
		i := g >> (fanBits * d) & (fan - 1)
		if d == 0 {
			if n.leafs != nil && n.leafs[i] != nil {
				o = n.leafs[i].sym
			}
		} else if n = n.kids[i]; n == nil || !n.sym {
			break
		}
	}
	return o, min(next, limit)
}

// slot returns the owned leaf cell of addr, creating and copying nodes on the way.
func (s *Space) slot(addr uint64, sym bool) **granule {
	g := addr >> GranuleBits
	s.root = s.own(s.root)
	n := s.root
	n.sym = n.sym || sym
	for d := levels - 1; d > 0; d-- {
		k := &n.kids[g>>(fanBits*d)&(fan-1)]
		if *k == nil {
			*k = &node{owner: s.owner}
		} else {
			*k = s.own(*k)
		}
		n = *k
		n.sym = n.sym || sym
	}
	if n.leafs == nil {
		n.leafs = new([fan]*granule)
	}
	return &n.leafs[g&(fan-1)]
}

// initial copies the initial content of addr's granule, which lies in area a.
func initial(dst *[GranuleSize]byte, a *Area, addr uint64) {
	if a.Back == nil {
		return
	}
	off := a.Off + (granuleOf(addr) - a.Start)
	if off < uint64(len(a.Back.Data)) {
		copy(dst[:], a.Back.Data[off:])
	}
}

// Initial returns what the granule of addr, which is mapped, shows if nothing was written there; the caller must not change it.
func (s *Space) Initial(addr uint64) *[GranuleSize]byte {
	a := s.Find(addr)
	if a.Back == nil {
		return zeroGranule.data
	}
	if off := a.Off + (granuleOf(addr) - a.Start); holds(a.Back, off) {
		return (*[GranuleSize]byte)(a.Back.Data[off:])
	}
	g := new([GranuleSize]byte)
	initial(g, a, addr)
	return g
}

// readable returns the granule of addr for reading, or nil on a fault.
func (s *Space) readable(addr uint64, need guest.Prot) *granule {
	a := s.Find(addr)
	if a == nil || !a.allows(need) {
		return nil
	}
	if a.Obj != 0 {
		return s.Objects.readable(a.inObject(addr), 0)
	}
	if g := s.lookup(addr); g != nil {
		return g
	}
	if a.Back == nil && s.remote == nil {
		return zeroGranule
	}
	p := s.slot(addr, false)
	s.granules++
	if off := a.Off + (granuleOf(addr) - a.Start); s.remote == nil && holds(a.Back, off) {
		*p = granuleIn(a.Back, off)
		return *p
	}
	*p = newGranule(s.owner)
	if s.remote != nil {
		(*p).owner = nobody
	}
	s.fill(*p, a, addr)
	return *p
}

// writable returns the granule of addr, owned, or nil on a fault.
func (s *Space) writable(addr uint64, need guest.Prot, sym bool) *granule {
	a := s.Find(addr)
	if a == nil || !a.allows(need) {
		return nil
	}
	if a.Obj != 0 {
		at := a.inObject(addr)
		before := s.Objects.lookup(at)
		g := s.Objects.writable(at, 0, sym)
		if g != before {
			s.Objects.add(Change(granuleOf(at))) // another area may show it
		}
		return g
	}
	p := s.slot(addr, sym)
	switch {
	case *p == nil:
		*p = newGranule(s.owner)
		s.granules++
		s.fill(*p, a, addr)
	case (*p).owner != s.owner:
		c := newGranule(s.owner)
		*c.data = *(*p).data
		if (*p).sym != nil {
			o := *(*p).sym
			c.sym = &o
		}
		*p = c
		s.copied++
	}
	return *p
}

// content is what is in g for direct access.
func (g *granule) content() (*[GranuleSize]byte, *Refs) {
	if g.sym == nil {
		return g.data, nil
	}
	return g.data, &g.sym.refs
}

// ReadPage returns the content of addr's granule for direct reading until Stale names it; nil if the access faults or nothing has
// been written there. refs is nil if all bytes are concrete; else those are that have no expression, at the time of the access.
func (s *Space) ReadPage(addr uint64) (data *[GranuleSize]byte, refs *Refs) {
	g := s.readable(addr, guest.ProtRead)
	if g == nil || g == zeroGranule {
		return nil, nil
	}
	return g.content()
}

// WritePage returns the owned content of addr's granule for direct writing of concrete bytes in place of concrete ones,
// until Stale names it; nil if the access faults or the granule holds code. refs is as for ReadPage.
// A translation cached from ReadPage for the same granule is stale from here on.
func (s *Space) WritePage(addr uint64) (data *[GranuleSize]byte, refs *Refs) {
	a := s.Find(addr)
	if a == nil || a.Prot&guest.ProtExec != 0 {
		return nil, nil
	}
	if a.Obj != 0 {
		if o := s.Objects.Find(a.inObject(addr)); o != nil && o.Prot&guest.ProtExec != 0 {
			return nil, nil
		}
	}
	g := s.writable(addr, guest.ProtWrite, false)
	if g == nil {
		return nil, nil
	}
	return g.content()
}
