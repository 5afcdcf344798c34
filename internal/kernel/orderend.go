package kernel

import (
	"fmt"
	"iter"

	"golang.org/x/sys/unix"

	"symchef/internal/ir"
)

// Ends of tasks, and tasks that wait for ever. Who ends a process, or everything, cuts off what others would have done next, or have
// done without order to it. A step that never came to its end conflicts with those that took what it waits for.

// others are the strands that may do something, or have done something without order to what strand me does now.
func (o *order) others(me int) iter.Seq2[int, *strand] {
	return func(yield func(int, *strand) bool) {
		for k := range o.strands {
			if x := &o.strands[k]; k != me && !x.asleep && !(x.ended && x.now.at(k) <= o.strands[me].now.at(k)+1) && !yield(k, x) {
				return
			}
		}
	}
}

// lone: no other thread of the current process does anything, or has done something without order to what the current one does now.
func (s *System) lone() bool {
	for _, x := range s.order.others(s.cur.strand) {
		if x.pid == s.cur.proc.PID {
			return false
		}
	}
	return true
}

// gone: the task ends. If its process ends with it, what all its tasks did comes before whoever waits for the process.
func (s *System) gone(t *Task, process bool) {
	o := s.order
	if o == nil {
		return
	}
	w := site{call: fmt.Sprintf("the end of process %d", t.proc.PID), tid: t.TID}
	o.insert(t.strand, thingKey("tasks", 0), w)
	if process && t == s.cur {
		o.write(t.strand, lifeKey(t.proc.PID), w)
	}
	word := t.ClearTID != 0 && t.proc.Mem != nil && !process
	if word {
		w.call = fmt.Sprintf("the end of a thread of process %d", t.proc.PID)
		s.access(t.ClearTID, 4, true, w)
		s.futexStep(t.proc.Mem, t.ClearTID, true, false, w)
		if s.order != o {
			return
		}
	}
	now := o.release(t.strand)
	o.strands[t.strand].ended, o.strands[t.strand].fs = true, t.CPU.R[ir.FSBase]
	if word {
		o.memory.ends(s, t, now)
	}
	o.ends[t.proc.PID] = o.ends[t.proc.PID].join(now)
}

// lifeKey is the object that the end of a process changes.
func lifeKey(pid int) string { return fmt.Sprintf("life %d", pid) }

// cutOff notes tasks that end, by exit_group(2), execve(2) or the end of everything, wherever they are. What lasts of the others must come
// before; those that wait for ever have nothing else to do.
func (s *System) cutOff(p *Process, all bool) {
	o := s.order
	if o == nil || o.why != "" {
		return
	}
	me := s.cur.strand
	for k, x := range o.others(me) {
		if !all && x.pid != p.PID {
			continue
		}
		over := x.ended || x.spared
		for _, t := range s.tasks {
			if t.strand == k && t.Wait.Kind != waitNone && t.Wait.Deadline == 0 && !s.runnable(t) {
				over = true
				s.stuck(t)
			}
		}
		if o.why == "" && (!all || !over || x.shown > o.strands[me].now.at(k)) {
			o.conflict(site{call: fmt.Sprintf("the end of process %d", p.PID), tid: s.cur.TID},
				site{call: fmt.Sprintf("what process %d does then", x.pid), tid: x.tid})
		}
		if o.why != "" {
			return
		}
	}
}

// Stops says that the path ends here, though the program goes on.
func (s *System) Stops() {
	if !s.ended && s.cur != nil {
		s.overtakes(s.cur.proc, Status{})
	}
	if s.order != nil && !s.ended && len(s.tasks) > 0 {
		for _, t := range s.tasks {
			if s.runnable(t) || t.Wait.Deadline != 0 {
				s.cutOff(s.cur.proc, true)
				return
			}
		}
		s.deadlocked()
	}
}

// deadlocked: all tasks wait for ever.
func (s *System) deadlocked() {
	if s.order != nil {
		for _, t := range s.tasks {
			s.stuck(t)
		}
	}
}

// stuck: t waits for ever. What takes away what it waits for came first in this schedule only, unless it comes before by an order.
// What its call looks at has been noted when it began to wait.
func (s *System) stuck(t *Task) {
	o, w := s.order, site{call: fmt.Sprintf("a wait of process %d that never ends", t.proc.PID), tid: t.TID}
	if o.why != "" {
		return
	}
	m := mark{t.strand, o.strands[t.strand].now.at(t.strand), w}
	against := func(key string, lists func(x *object) []mark) {
		if x := o.objects[key]; x != nil {
			o.against(m, lists(x))
		}
	}
	switch t.Wait.Kind {
	case waitFiles:
		for _, f := range s.waitedFiles(t.Wait.Fds) {
			if key, _ := s.channel(f.File, false); f.Events&unix.POLLIN != 0 && key != "" {
				against(key, func(x *object) []mark { return x.reads })
			}
			if key, _ := s.channel(f.File, true); f.Events&unix.POLLOUT != 0 && key != "" {
				against(key, func(x *object) []mark { return x.sends })
			}
			against("terminal", func(x *object) []mark { return x.writes })
		}
	case waitFutex:
		against(s.futexKey(t.proc.Mem, t.Wait.Addr), func(x *object) []mark { return x.writes })
		against(s.semaphoreOf(t, t.Wait.Addr), func(x *object) []mark { return x.reads })
	case waitChild:
		against(fmt.Sprintf("children %d", t.proc.PID), func(x *object) []mark { return x.writes })
	case waitSocket:
		against("connections", func(x *object) []mark { return x.sends })
	}
}

// waitedFiles are the files that fds wait for, those that an epoll instance watches among them.
func (s *System) waitedFiles(fds []waitFd) (out []waitFd) {
	for _, w := range fds {
		f := s.files.get(w.File)
		if f == nil {
			continue
		}
		out = append(out, w)
		for _, x := range f.Watch {
			out = append(out, waitFd{x.File, x.Events})
		}
	}
	return out
}

// copies: by makes t, a process. What it copies must not be changed by other threads at that time.
func (s *System) copies(t, by *Task) {
	o := s.order
	if t.proc == by.proc || s.lone() {
		return
	}
	w := site{call: fmt.Sprintf("fork by process %d", by.proc.PID), tid: by.TID}
	if t.proc.Mem == by.proc.Mem {
		for _, word := range []string{"numbers", "folder", "mask", "handlers", "state"} {
			o.read(by.strand, thingKey(word, by.proc.PID), w)
		}
		return
	}
	for _, x := range o.others(by.strand) {
		if x.pid == by.proc.PID {
			o.conflict(w, site{call: fmt.Sprintf("what process %d does then", x.pid), tid: x.tid})
		}
	}
}
