package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// SIGCHLD that its process ignores, as by default, interrupts nothing and runs nothing. It is seen only by who asks for it (sigpending(2),
// sigtimedwait(2)), and by a handler that is installed later: before or after, that makes a difference. Whether it is pending then depends on
// whether it was blocked when it came, too.

// childKey is the object that a child's news change and that those see who ask for SIGCHLD.
func childKey(p *Process) string { return fmt.Sprintf("SIGCHLD of %d", p.PID) }

// childTells notes that the current task, or its end, makes news of a child for p.
func (s *System) childTells(p *Process) {
	o := s.order
	if o == nil || o.why != "" || s.cur == nil || p.Dead || s.cur.proc == p {
		return
	}
	k, w := s.cur.strand, site{call: fmt.Sprintf("SIGCHLD from process %d", s.cur.proc.PID), tid: s.cur.TID}
	x := o.object(childKey(p), "")
	for _, a := range x.peeks {
		if !o.before(a, k) {
			p.Unsure = true
		}
	}
	o.insert(k, childKey(p), w)
}

// childMask notes that the call may have blocked or unblocked SIGCHLD; was is the mask before.
func (c *call) childMask(was uint64) {
	o, b := c.s.order, bit(int(unix.SIGCHLD))
	if o.why != "" || (was^c.t.Mask)&b == 0 {
		return
	}
	if c.t.Mask&b == 0 {
		if c.p.Actions[unix.SIGCHLD].ignores(int(unix.SIGCHLD)) && c.s.single(c.p) {
			c.p.Unsure = false // what was pending is gone
		}
		return
	}
	k := c.t.strand
	x, m := o.object(childKey(c.p), ""), o.here(k, c.step("block", "SIGCHLD"))
	for _, a := range x.writes {
		if !o.before(a, k) {
			c.p.Unsure = true
		}
	}
	x.peeks = o.noted(x.peeks, m)
}

// seesChild notes that the call sees whether SIGCHLD is pending, or decides what it does from now on.
func (c *call) seesChild(name string) {
	s := c.s
	if !s.ordering {
		return
	}
	w := c.step(name, "SIGCHLD")
	switch o := s.order; {
	case c.p.Unsure && o == nil && s.unordered == "":
		s.unordered = fmt.Sprintf("one schedule of several: %s and %s", site{call: "a child's SIGCHLD, blocked or not by then", tid: c.p.PID}, w)
	case o == nil || o.why != "":
	case c.p.Unsure:
		o.conflict(site{call: "a child's SIGCHLD, blocked or not by then", tid: c.p.PID}, w)
	default:
		o.read(c.t.strand, childKey(c.p), w)
	}
}

// Segments of System V have a state that calls show, and that every mapping of them is part of.

// attaches notes that the current task makes or drops mappings of p, if there are segments that may be among them.
func (s *System) attaches(p *Process, name string) {
	o := s.order
	if o == nil || o.why != "" || p.Mem == nil {
		return
	}
	for i := range s.segments.rows {
		if s.segments.get(i) != nil {
			o.insert(s.cur.strand, "segments", site{call: fmt.Sprintf("%s by process %d", name, s.cur.proc.PID), tid: s.cur.TID})
			return
		}
	}
}

// segmentStep notes a call on segments.
func (c *call) segmentStep(name string) {
	if w := c.step(name, "a segment"); name == "shmctl" && c.arg32(1) == unix.IPC_STAT {
		c.s.order.read(c.t.strand, "segments", w)
	} else {
		c.s.order.write(c.t.strand, "segments", w)
	}
	if name == "shmat" || name == "shmdt" {
		c.thing(name, "limits", c.p.PID, false)
		c.maps(name)
	}
}
