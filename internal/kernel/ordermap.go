package kernel

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/mem"
)

// span is memory whose mapping a step has changed: what it shows, or who may access it.
type span struct {
	pid    int // as in shadowKey
	lo, hi uint64
	mark   mark
}

// remaps notes that the current task changes what [lo, lo+n) shows; fresh: at addresses that nobody had, and nobody can have meant.
func (s *System) remaps(name string, lo, n uint64, fresh bool) {
	if o := s.order; n > 0 && s.Watched() && s.watched() == watchAll {
		s.respan(o.strands[s.cur.strand].space, lo, lo+n, fresh, site{call: fmt.Sprintf("%s of memory by process %d", name, s.cur.proc.PID), tid: s.cur.TID})
	}
}

// cuts notes that the current task changes how much of inode i can be accessed through mappings.
func (s *System) cuts(i int, w site) {
	if n := s.nodes.get(i); i != 0 && n != nil && n.Obj != 0 {
		s.respan(0, n.Obj, n.Obj+maxFile, false, w)
	}
}

func (s *System) respan(pid int, lo, hi uint64, fresh bool, w site) {
	o, h := s.order, &s.order.memory
	m := o.here(s.cur.strand, w)
	kept := make([]span, 0, len(h.spans)+1)
	for _, x := range h.spans {
		if x.pid != pid || x.hi <= lo || hi <= x.lo {
			kept = append(kept, x)
			continue
		}
		if !fresh {
			o.against(m, []mark{x.mark})
		}
		if x.lo < lo {
			kept = append(kept, span{pid, x.lo, lo, x.mark})
		}
		if hi < x.hi {
			kept = append(kept, span{pid, hi, x.hi, x.mark})
		}
	}
	for _, x := range h.seen {
		if x.pid == pid && x.lo < hi && lo < x.hi && !fresh && o.why == "" {
			o.against(m, []mark{x.mark})
		}
	}
	if o.why != "" {
		return
	}
	for _, key := range h.within(pid, lo, hi) {
		for i, c := range h.pages[key].cells {
			at := key.page<<shadowBits + uint64(i)
			if at < lo || at >= hi {
				continue
			}
			if !fresh {
				h.check(s, o, &m, true, c.writes, true, key, uint64(i))
				h.check(s, o, &m, true, c.reads, false, key, uint64(i))
			}
			if o.why != "" {
				return
			}
		}
		if fresh {
			h.clear(key, lo, hi)
		}
	}
	if o.why == "" {
		h.spans = append(kept, span{pid, lo, hi, m})
	}
}

// within are the pages of which something is known, in ascending order.
func (h *shadow) within(pid int, lo, hi uint64) (out []shadowKey) {
	first, last := lo>>shadowBits, (hi-1)>>shadowBits
	if last-first < uint64(len(h.pages)) {
		for p := first; p <= last; p++ {
			if key := (shadowKey{pid, p}); h.pages[key] != nil {
				out = append(out, key)
			}
		}
		return out
	}
	for key := range h.pages {
		if key.pid == pid && key.page >= first && key.page <= last {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, func(a, b shadowKey) int { return int(int64(a.page - b.page)) })
	return out
}

// clear forgets what is known of [lo, hi) in a page.
func (h *shadow) clear(key shadowKey, lo, hi uint64) {
	h.clears++
	p := &shadowPage{owner: h.owner}
	for i, c := range h.pages[key].cells {
		if at := key.page<<shadowBits + uint64(i); at < lo || at >= hi {
			p.cells[i] = c
		}
	}
	h.pages[key], h.page.p = p, nil
}

// mapped looks for a conflict of an access with a change of the mapping.
func (h *shadow) mapped(o *order, pid int, at, n uint64, m mark) {
	for i := range h.spans { // few
		if x := &h.spans[i]; x.pid == pid && x.lo < at+n && at < x.hi && !o.before(x.mark, m.strand) {
			o.conflict(x.mark.where, m.where)
			return
		}
	}
}

// mappingStep notes a call that makes, changes or drops mappings; v is what it has returned. One that fails has looked at what is mapped there: that
// counts as if it had changed it.
func (c *call) mappingStep(name string, v uint64, err error) {
	s, size := c.s, guest.PageUp(c.a[1])
	if err != nil && name != "brk" {
		v = c.a[0]
	}
	switch name {
	case "mmap":
		if c.a[3]&unix.MAP_ANONYMOUS == 0 {
			if _, f, err := c.fd(c.arg32(4)); err == nil && s.order.why == "" {
				c.file(f.Path, f.Node, false, c.step(name, f.Path))
			}
			if s.order.why != "" {
				return
			}
		}
		if err != nil && c.a[3]&(unix.MAP_FIXED|unix.MAP_FIXED_NOREPLACE) == 0 {
			return
		}
		s.remaps(name, v, size, c.a[3]&(unix.MAP_FIXED|unix.MAP_FIXED_NOREPLACE) == 0)
	case "munmap", "mprotect":
		s.remaps(name, c.a[0], size, false)
	case "madvise":
		if c.a[2] == unix.MADV_DONTNEED {
			s.remaps(name, c.a[0], size, false)
		} else {
			s.seesMapped(c.a[0], size)
		}
	case "msync", "mincore", "mlock", "munlock":
		s.seesMapped(c.a[0], size)
	case "mremap":
		s.remaps(name, c.a[0], max(size, guest.PageUp(c.a[2])), false)
		if v != c.a[0] {
			s.remaps(name, v, guest.PageUp(c.a[2]), c.a[3]&2 == 0) // MREMAP_FIXED
		}
	case "brk":
		if !s.lone() {
			s.order.write(c.t.strand, fmt.Sprintf("heap %d", c.p.PID), c.step(name, "memory"))
		}
		s.remaps(name, c.moved[0], c.moved[1]-c.moved[0], false)
	}
	switch name {
	case "msync", "mincore", "mlock", "munlock", "madvise":
		return
	case "mmap", "mremap", "brk":
		c.thing(name, "limits", c.p.PID, false)
		if c.p.Limits[unix.RLIMIT_AS].Soft != unlimited {
			c.thing(name, "mappings", c.p.PID, false)
		}
	}
	c.maps(name)
	if err == nil && name != "mprotect" && name != "brk" {
		s.attaches(c.p, name)
	}
}

// maps notes that the call changes what is mapped, which is seen by who asks for all of it.
func (c *call) maps(name string) {
	if !c.s.lone() && c.s.order.why == "" {
		c.s.order.insert(c.t.strand, thingKey("mappings", c.p.PID), c.step(name, things["mappings"].what))
	}
}

// seesMapped notes that the present call asks whether [lo, lo+n) is mapped, and how. Accesses need not: they are told as such.
func (s *System) seesMapped(lo, n uint64) {
	o := s.order
	if o == nil || n == 0 || lo+n < lo || !s.Watched() {
		return
	}
	h, name := &o.memory, fmt.Sprintf("%s of memory by process %d", s.callName, s.cur.proc.PID)
	m := o.here(s.cur.strand, site{call: name, tid: s.cur.TID})
	note := func(pid int, lo, n uint64) {
		if h.mapped(o, pid, lo, n, m); o.why == "" {
			h.seen = append(slices.DeleteFunc(slices.Clone(h.seen), func(x span) bool {
				return x.pid == pid && x.lo == lo && x.hi == lo+n && x.mark.strand == m.strand
			}), span{pid, lo, lo + n, m})
		}
	}
	if s.watched() == watchAll {
		note(o.strands[s.cur.strand].space, lo, n)
	}
	for _, a := range s.cur.proc.Mem.Areas() {
		if a.Obj != 0 && a.Start < lo+n && lo < a.End && o.why == "" {
			from, to := max(a.Start, lo), min(a.End, lo+n)
			note(0, a.Obj+from-a.Start, to-from)
		}
	}
}

// futexKey is the object of a futex: who waits reads it, who wakes writes it.
func (s *System) futexKey(m *mem.Space, addr uint64) string {
	at := s.placeOf(m, addr)
	if at.space == s.objects {
		return fmt.Sprintf("futex 0 %#x", at.addr)
	}
	for _, p := range s.procs {
		if p.Mem == m {
			return fmt.Sprintf("futex %d %#x", p.PID, addr)
		}
	}
	return ""
}

// futexStep notes that the current task waits at a futex, or wakes those who do. The C library's own locks are taken to be right, and so is its
// wait for the end of a thread, unless that ends by itself.
func (s *System) futexStep(m *mem.Space, addr uint64, wakes, timed bool, w site) {
	o := s.order
	if o == nil || o.why != "" || !s.Watched() {
		return
	}
	if s.isSemaphore(addr) && (wakes || !timed) {
		return // these are noted by themselves
	}
	if s.placeOf(m, addr).space != s.objects && (s.watched() != watchAll || s.cOwns(addr) || !wakes && s.cWaits(addr, timed)) {
		return
	}
	if key := s.futexKey(m, addr); wakes {
		o.write(s.cur.strand, key, w)
	} else {
		o.read(s.cur.strand, key, w)
	}
}

// cWaits: addr is the C library's own word, at which it waits as long as it takes.
func (s *System) cWaits(addr uint64, timed bool) bool {
	return !timed && (s.isSemaphore(addr) || s.cOwns(addr) || s.ofThread(s.order.strands[s.cur.strand].space, addr))
}
