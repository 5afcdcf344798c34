package kernel

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// shadow says who has accessed memory: by place, in pages.
type shadow struct {
	owner uint64
	pages map[shadowKey]*shadowPage
	marks []mark   // what cells refer to, by number
	sets  []set    // likewise
	last  int32    // the mark of the present access
	cache []int32  // marks, by their instruction's address; not a copy's
	page  struct { // that was touched last; not a copy's
		key shadowKey
		p   *shadowPage
	}
	tids  map[memAddr]tidWord
	spans []span // that do not overlap
	seen  []span // of which somebody has asked whether they are mapped

	clears uint32 // how often something of this was forgotten
}

// shadowKey is a page of memory: that of a process (with the number of the task that leads it), or of the objects, 0.
type shadowKey struct {
	pid  int
	page uint64
}

type memAddr struct {
	pid  int
	addr uint64
}

const shadowBits = 8

type shadowPage struct {
	owner uint64
	cells [1 << shadowBits]cell
}

// cell is a byte of memory: the sets of marks of those that wrote and read it; 0: none.
type cell struct{ writes, reads int32 }

// set is a list of marks, at most one of a strand.
type set struct{ mark, rest int32 }

// tidWord is the word that is cleared when a thread ends (set_tid_address(2)).
type tidWord struct {
	tid   int
	ended bool
	now   clock // of all that the thread did
}

// fork is a copy; what both share neither writes.
func (h *shadow) fork() shadow {
	c := *h
	h.owner, c.owner = lastOwner.Add(1), lastOwner.Add(1)
	h.page.p, c.page.p, c.cache = nil, nil, nil
	c.pages, c.tids = maps.Clone(h.pages), maps.Clone(h.tids)
	c.marks, c.sets, c.spans, c.seen = slices.Clip(h.marks), slices.Clip(h.sets), slices.Clip(h.spans), slices.Clip(h.seen)
	return c
}

// ends: thread t ends, and the kernel clears its word.
func (h *shadow) ends(s *System, t *Task, now clock) {
	if h.tids == nil {
		h.tids = map[memAddr]tidWord{}
	}
	h.tids[memAddr{t.proc.PID, t.ClearTID}] = tidWord{t.TID, true, now}
}

// watched are the accesses of the current task that matter: all of its memory, only of what it shares with other processes, or none.
type watched uint8

const (
	watchNone watched = iota
	watchShared
	watchAll
)

// Watched says whether the machine must tell of the current task's accesses to memory.
func (s *System) Watched() bool { return s.order != nil && s.watched() != watchNone }

func (s *System) watched() watched {
	o := s.order
	if o.why != "" {
		return watchNone
	}
	me, pid := s.cur.strand, o.strands[s.cur.strand].space
	others := false
	for _, x := range o.others(me) {
		if x.space == pid {
			return watchAll
		}
		others = true
	}
	if others && s.cur.proc.Mem.Shows() {
		return watchShared
	}
	return watchNone
}

// Told is what Access said is good for: as long as it is the same.
type Told struct {
	order   *order
	strand  int
	epoch   uint32
	strands int
	clears  uint32
	watched watched
}

// Told is the present one. It changes only where the kernel goes on.
func (s *System) Told() Told {
	if s.order == nil {
		return Told{}
	}
	o, k := s.order, s.cur.strand
	return Told{o, k, o.strands[k].now.at(k), len(o.strands), o.memory.clears, s.watched()}
}

// Teller is a kind of code, whose accesses count alike.
type Teller uint8

const (
	TellerMixed   Teller = iota // not one kind
	TellerProgram               // anybody's
	TellerLibrary               // the C library's
	TellerNone                  // the dynamic linker's: nobody need be told
)

// Teller is the kind of the instructions that begin from lo on and before hi.
func (s *System) Teller(lo, hi uint64) Teller {
	a := s.cur.proc.Mem.Find(lo)
	switch {
	case a == nil || hi > a.End:
		return TellerMixed
	case a.Back == nil:
		return TellerProgram
	case linker(a.Back.Name):
		return TellerNone
	case !library(a.Back.Name):
		return TellerProgram
	}
	if semaphoreSteps(site{back: a.Back, off: a.Off + lo - a.Start}, hi-lo) > 0 {
		return TellerMixed
	}
	switch s.asking(site{back: a.Back, off: a.Off + lo - a.Start}, hi-lo) {
	case 0:
		return TellerLibrary
	case hi - lo:
		return TellerProgram
	}
	return TellerMixed
}

// Access notes that the current task's instruction at pc accesses n bytes. It reports whether further accesses of these, of the same kind, by the same
// kind of code, need not be told.
func (s *System) Access(pc, addr, n uint64, write bool) (free bool) {
	if s.order == nil {
		return false
	}
	a := s.cur.proc.Mem.Find(pc)
	w := site{pc: pc, tid: s.cur.TID}
	if a != nil && a.Back != nil {
		w.back, w.off = a.Back, a.Off+pc-a.Start
		if linker(a.Back.Name) {
			return true // it binds a symbol for whoever is first, and to the same
		}
	}
	return s.access(addr, n, write, w)
}

// linker and library say whose code a file is: the dynamic linker's, the C library's.
func linker(file string) bool { return strings.HasPrefix(filepath.Base(file), "ld-") }
func library(file string) bool {
	name := filepath.Base(file)
	return strings.HasPrefix(name, "libc.so") || strings.HasPrefix(name, "libc-2")
}

// callAccess notes that the present system call accesses memory of its task.
func (s *System) callAccess(addr, n uint64, write bool) {
	if s.order != nil && n > 0 && s.Watched() {
		s.access(addr, n, write, site{call: s.callName + " of memory", tid: s.cur.TID})
	}
}

// tcbSize is what the C library keeps of a thread at its FS base, in bytes (struct pthread of glibc is 2304).
const tcbSize = 2304

func (s *System) access(addr, n uint64, write bool, w site) (free bool) {
	o := s.order
	k, all := s.cur.strand, s.watched() == watchAll
	free = true
	for n > 0 && s.order == o {
		pid, at, size := o.strands[k].space, addr, min(n, 1<<shadowBits-addr&(1<<shadowBits-1))
		if area := s.cur.proc.Mem.Find(addr); area != nil && area.Obj != 0 {
			pid, at = 0, addr-area.Start+area.Obj
			size = min(n, 1<<shadowBits-at&(1<<shadowBits-1))
		}
		if all || pid == 0 {
			if s.joins(o, pid, at, write, w) {
				return false
			}
			class := o.memory.touch(s, o, k, shadowKey{pid, at >> shadowBits}, at&(1<<shadowBits-1), size, write, w)
			switch free = class <= classLibrary && free; {
			case o.why != "":
			case class == classSemaphore:
				s.semaphoreStep(pid, at, addr, size, write, w)
			case write:
				o.forgets(pid, at, size)
			}
			if write && pid == 0 {
				o.shows(k)
			}
			if o.why != "" {
				return false
			}
		}
		addr, n = addr+size, n-size
	}
	return free
}

// joins: the C library looks at a thread's word, to wait until the kernel clears it. Then all that the thread did comes before.
func (s *System) joins(o *order, pid int, at uint64, write bool, w site) bool {
	if write || w.back == nil || !library(w.back.Name) {
		return false
	}
	x, ok := o.memory.tids[memAddr{pid, at}]
	if !ok && !slices.ContainsFunc(s.tasks, func(t *Task) bool { return t != s.cur && t.ClearTID == at && o.strands[t.strand].space == pid }) || s.asking(w, 1) > 0 {
		return false
	}
	if v, err := s.cur.proc.Mem.ReadU(at, 4); ok && x.ended && err == nil && v == 0 {
		o.acquire(s.cur.strand, x.now)
		s.settleOrder(s.cur)
	}
	return true
}

// touch notes an access within one page. Of the class that it has, classOther and classLibrary stand for all accesses by the same kind of code until the
// strand's epoch ends.
func (h *shadow) touch(s *System, o *order, k int, key shadowKey, off, n uint64, write bool, w site) class {
	if h.pages == nil {
		h.pages, h.marks, h.sets, h.owner = map[shadowKey]*shadowPage{}, make([]mark, 1), make([]set, 1), lastOwner.Add(1)
	}
	p := h.own(key)
	m := o.here(k, w)
	if h.cache == nil {
		h.cache = make([]int32, cached)
	}
	made := &h.cache[(w.pc^w.pc>>12)%cached]
	l := &h.marks[*made]
	m.where.class, m.where.caller, m.where.from = l.where.class, l.where.caller, l.where.from
	if *made == 0 || *l != m {
		if l.where.pc != w.pc || l.where.back != w.back || *made == 0 {
			m.where.class = s.classOf(w)
		}
		if m.where.caller, m.where.from = nil, 0; m.where.class.trusted() {
			m.where.caller, m.where.from = s.caller()
		}
		h.marks = append(h.marks, m)
		*made = int32(len(h.marks) - 1)
	}
	h.last = *made
	if h.mapped(o, key.pid, key.page<<shadowBits+off, n, m); o.why != "" {
		return classOther
	}
	// Neighbouring bytes have the same sets: those that have no conflict anywhere, and what became of the one that was noted last.
	var fine [2]int32
	was, now := int32(0), int32(0)
	for i := off; i < off+n; i++ {
		c := &p.cells[i]
		if c.writes != fine[0] && h.check(s, o, &m, write, c.writes, true, key, i) {
			fine[0] = c.writes
		}
		list := &c.reads
		if write {
			if c.reads != fine[1] && h.check(s, o, &m, write, c.reads, false, key, i) {
				fine[1] = c.reads
			}
			list = &c.writes
		}
		if o.why != "" {
			return classOther
		}
		if *list != was || now == 0 {
			was, now = *list, h.noted(*list, &m, o)
		}
		*list = now
	}
	return m.where.class
}

// cached is how many marks are found by their instruction's address.
const cached = 4096

// own returns a page to be written.
func (h *shadow) own(key shadowKey) *shadowPage {
	if h.page.p != nil && h.page.key == key {
		return h.page.p
	}
	p := h.pages[key]
	switch {
	case p == nil:
		p = &shadowPage{owner: h.owner}
		h.pages[key] = p
	case p.owner != h.owner:
		c := *p
		c.owner = h.owner
		p = &c
		h.pages[key] = p
	}
	h.page.key, h.page.p = key, p
	return p
}

// check looks for a conflict of m with a set; write and wrote say what both do. It reports whether all of the set comes before.
func (h *shadow) check(s *System, o *order, m *mark, write bool, list int32, wrote bool, key shadowKey, off uint64) (before bool) {
	before = true
	for ; list != 0 && o.why == ""; list = h.sets[list].rest {
		a := &h.marks[h.sets[list].mark]
		if a.strand == m.strand || o.before(*a, m.strand) {
			continue
		}
		if before = false; !s.benign(a.where.class, m.where.class, wrote, write, key.pid, key.page<<shadowBits+off) {
			o.conflict(a.where, m.where)
			return
		}
	}
	return before
}

// noted is a set with the present mark. What it stands for is left out: marks that come before it, and earlier ones of its strand.
func (h *shadow) noted(list int32, m *mark, o *order) int32 {
	for x := list; x != 0; x = h.sets[x].rest {
		if a := &h.marks[h.sets[x].mark]; a.strand == m.strand && a.epoch == m.epoch && a.where.class.stands(m.where.class) {
			return list
		}
	}
	out := int32(0)
	keep := func(x int32) {
		h.sets = append(h.sets, set{x, out})
		out = int32(len(h.sets) - 1)
	}
	for ; list != 0; list = h.sets[list].rest {
		if a := &h.marks[h.sets[list].mark]; !o.before(*a, m.strand) || !m.where.class.stands(a.where.class) {
			keep(h.sets[list].mark)
		}
	}
	keep(h.last)
	return out
}

// class says what may be benign about an access.
type class uint8

const (
	classOther         class = iota // nothing
	classLibrary                    // the C library's
	classLibraryAtomic              // the same, by an atomic instruction
	classLibraryAdds                // the same, an addition whose result nobody reads
	classAdds                       // such an addition, not the C library's
	classSemaphore                  // of its semaphores: what that means stands in ordersem.go
)

// stands: what conflicts with an access of class d conflicts with one of class c.
func (c class) stands(d class) bool {
	return c == classOther || c == d || c == classLibrary && d.trusted()
}

func (c class) trusted() bool { return c >= classLibrary && c <= classLibraryAdds }
func (c class) atomic() bool  { return c == classLibraryAtomic || c.adds() }
func (c class) adds() bool    { return c == classLibraryAdds || c == classAdds }

// classOf looks at the instruction of w.
func (s *System) classOf(w site) class {
	if w.back == nil {
		return classOther
	}
	if library(w.back.Name) && semaphoreSteps(w, 1) > 0 {
		return classSemaphore
	}
	plain, trusted := s.plain(w.pc), library(w.back.Name) && s.asking(w, 1) == 0
	adds := !plain && s.adds(w.pc)
	switch {
	case adds && trusted:
		return classLibraryAdds
	case adds:
		return classAdds
	case !trusted:
		return classOther
	case plain || !s.atomic(w.pc):
		return classLibrary
	}
	return classLibraryAtomic
}

// caller is the first place on the current task's stack that is code of neither the C library nor the dynamic linker.
func (s *System) caller() (*mem.Backing, uint64) {
	for i := uint64(0); i < 512; i++ {
		v, err := s.cur.proc.Mem.ReadU(s.cur.CPU.R[ir.RSP]+8*i, 8)
		if err != nil {
			break
		}
		if a := s.cur.proc.Mem.Find(v); a != nil && a.Back != nil && a.Prot&guest.ProtExec != 0 && !library(a.Back.Name) && !linker(a.Back.Name) {
			return a.Back, a.Off + v - a.Start
		}
	}
	return nil, 0
}

// benign says whether two accesses without order have the same effect in either order. These have: the C library's own, of what it keeps of a thread, and
// atomic ones of its own variables, and looks at such (locks around what is noted by itself, counters); additions by atomic instructions of whose
// result nothing is read; and steps of semaphores, which are noted by themselves.
func (s *System) benign(a, b class, wrote, write bool, pid int, addr uint64) bool {
	if a.trusted() && b.trusted() && pid != 0 {
		if s.ofThread(pid, addr) {
			return true
		}
		if s.cOwns(addr) && (a.atomic() && (b.atomic() || !write) || b.atomic() && !wrote) {
			return true
		}
	}
	return a.adds() && b.adds() || a == classSemaphore && b == classSemaphore
}

// ofThread: addr is in what the C library keeps of a thread.
func (s *System) ofThread(pid int, addr uint64) bool {
	in := func(fs uint64) bool { return addr >= fs && addr < fs+tcbSize }
	return slices.ContainsFunc(s.tasks, func(t *Task) bool { return s.order.strands[t.strand].space == pid && in(t.CPU.R[ir.FSBase]) }) ||
		slices.ContainsFunc(s.order.strands, func(x strand) bool { return x.ended && x.space == pid && in(x.fs) })
}

// cOwns: addr is among the C library's own variables.
func (s *System) cOwns(addr uint64) bool {
	area := s.cur.proc.Mem.Find(addr)
	return area != nil && (area.Back != nil && library(area.Back.Name) || s.bssOf(area))
}

// bssOf: area follows the C library's data, without a file.
func (s *System) bssOf(area *mem.Area) bool {
	before := s.cur.proc.Mem.Find(area.Start - 1)
	return area.Back == nil && before != nil && before.Back != nil && library(before.Back.Name) && before.Prot&guest.ProtWrite != 0
}

// objectAccess notes that the present call accesses n bytes of a file that mappings show.
func (s *System) objectAccess(at, n uint64, write bool, w site) {
	for o := s.order; n > 0 && o.why == ""; {
		size := min(n, 1<<shadowBits-at&(1<<shadowBits-1))
		o.memory.touch(s, o, s.cur.strand, shadowKey{0, at >> shadowBits}, at&(1<<shadowBits-1), size, write, w)
		at, n = at+size, n-size
	}
}
