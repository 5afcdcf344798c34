package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
)

// Signals between processes. Where one is when a signal comes is another matter in each schedule, so most signals conflict with what their target does then.
// In order are those to a process that rests: it has stopped and the sender has waited for that, or it waits for ever, in pause(2) or sigsuspend(2), and all that it did before
// comes before. Such a process does nothing until it is continued, or killed. So is SIGCHLD of an only child where it is blocked since before there was one, and waited for as
// long as it takes.

// signalled notes that the current task, or the end of its process, sends a signal that does something to p, which rests or not.
func (s *System) signalled(p *Process, t *Task, sig int, rests bool) {
	o := s.order
	if o == nil || o.why != "" || s.cur == nil || p.Dead || s.cur.proc == p && (t == nil || t == s.cur) && len(s.tasks) == 1 {
		return
	}
	if t == s.cur || t == nil && p == s.cur.proc && s.lone() {
		return // to itself
	}
	if rests {
		now := o.release(s.cur.strand)
		for _, u := range s.tasks {
			if u.proc == p {
				o.acquire(u.strand, now)
			}
		}
		return
	}
	o.conflict(site{call: fmt.Sprintf("%s from process %d", guest.SignalName(sig), s.cur.proc.PID), tid: s.cur.TID},
		site{call: fmt.Sprintf("what process %d does then", p.PID), tid: p.PID})
}

// rests reports whether p does nothing, in any schedule, until sig comes from the current task, which continues or kills it.
func (s *System) rests(p *Process, sig int) bool {
	o := s.order
	if o == nil || s.cur == nil || p.Dead || s.cur.proc == p || !s.single(p) || p.timed() {
		return false
	}
	for _, t := range s.tasks {
		if t.proc != p {
			continue
		}
		if x := &o.strands[t.strand]; x.stirs || x.now.at(t.strand) > o.strands[s.cur.strand].now.at(t.strand)+1 {
			return false
		}
		if p.Stop != 0 {
			return sig == int(unix.SIGKILL) || sig == int(unix.SIGCONT)
		}
		return t.Wait.Kind == waitSignal && t.Wait.Deadline == 0 && t.Wait.Addr == 0 && p.Actions[sig].deadly(sig) && !t.blocks(sig)
	}
	return false
}

// stopped: p has stopped. What it did comes before whoever waits for that.
func (s *System) stopped(p *Process) {
	if o := s.order; o != nil && s.single(p) {
		for _, t := range s.tasks {
			if t.proc == p {
				o.ends[stopKey(p.PID)] = o.release(t.strand)
			}
		}
	}
}

// stopKey is where an order keeps what comes before the last stop of a process.
func stopKey(pid int) int { return pid | 1<<40 }

// waitsForChild: a call that takes a signal of set, as long as that takes, waits for SIGCHLD, and loses none.
func (c *call) waitsForChild(set uint64) bool {
	b := bit(int(unix.SIGCHLD))
	return c.s.order != nil && set&b != 0 && c.t.Mask&b != 0 && !c.p.Unsure && c.s.single(c.p)
}

// toldOf: the call has taken SIGCHLD of child pid. If that has had other news, or is not the only one, which came first is another matter.
func (c *call) toldOf(pid int) {
	q := c.s.process(pid)
	only := q != nil && q.Dead && c.s.order.ends[stopKey(pid)] == nil
	for _, x := range c.s.procs {
		only = only && (x == q || x.Parent != c.p.PID)
	}
	if only {
		c.reaped(q, pid, true)
	} else {
		c.anything("rt_sigtimedwait of SIGCHLD")
	}
}
