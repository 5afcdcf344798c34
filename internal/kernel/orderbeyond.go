package kernel

// A thread that sleeps and does the same again, for ever, is cut off by the end of everything, wherever it is then. That makes no difference
// if nothing of what it does lasts, nor conflicts with what has been done: so it is looked at how it would go on.
//
//	f := s.Beyond()   the end, but the other thread goes on
//	... run f from one f.Woken() to the next: f.Sleeps(then) says that it will be for ever so
//	s.Spare(f)        the end may cut it off

// Beyond is a copy of s in which the current task does nothing more, and the other one goes on, which sleeps or runs; nil where it is otherwise.
func (s *System) Beyond() *System {
	if s.order == nil || s.order.why != "" || s.ended || len(s.tasks) != 2 {
		return nil
	}
	for _, t := range s.tasks {
		if t.proc != s.cur.proc || t != s.cur && t.Wait.Kind != waitSleep && t.Wait.Kind != waitNone {
			return nil
		}
	}
	f := s.Fork()
	f.cur.Mask, f.cur.Wait = ^uint64(0), wait{Kind: waitSignal}
	if out := f.reschedule(); out.Kind != Switch {
		return nil
	}
	return f
}

// Woken reports whether the current task has slept and is about to go on.
func (s *System) Woken() bool { return s.cur.Wait.Kind == waitSleep }

// Sleeps reports whether s is what it was when then was forked from it, but for the time: both are where the current task has been woken from the same
// sleep. The time must have no part in it. Then it goes on like that for ever.
func (s *System) Sleeps(then *System) bool {
	if s.ended || len(s.tasks) != len(then.tasks) || len(s.procs) != len(then.procs) || s.looked != then.looked || !s.Woken() {
		return false
	}
	for i, p := range s.procs {
		if q := then.procs[i]; (p.Mem == nil) != (q.Mem == nil) || p.Mem != nil && !p.Mem.Same(q.Mem) || p.clocked() {
			return false
		}
	}
	f := s.Fork()
	f.skew, f.cur.Wait.Deadline = then.skew, then.cur.Wait.Deadline
	return s.objects.Same(then.objects) && f.sameKernel(then)
}

// Spare takes over from f, which came from Beyond and sleeps for ever: either a conflict, or that the end of s may cut the thread off.
func (s *System) Spare(f *System) {
	if f.order == nil {
		return
	}
	k := f.cur.strand
	if s.order.why = f.order.why; s.order.why == "" && f.order.strands[k].shown == s.order.strands[k].shown {
		s.order.strands[k].spared = true
	}
}
