package kernel

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
)

// A timer that is set may run out at any time from then on, whatever time it was set to: what its process does meanwhile may take longer, or
// less long, than here. So its signal is a step without order to whatever could tell whether it has come:
//
//	the signal is      what is a conflict
//	handled            that the process goes on while the signal is not blocked: the handler may run anywhere
//	deadly             what lasts of what the process does then, and another end of it; if it only computes and waits until it is killed, nothing
//	blocked            to look for it (sigpending(2), a wait with a time-out or for other things, too), to change whether it is ignored, to let it in
//	ignored            nothing
//
// One that is blocked from the start and waited for, as long as it takes, by sigsuspend(2), sigwaitinfo(2) or ppoll(2), is in order: it comes then, or has come.
// A limit of processor time is such a timer, too.

// coming is a signal that may come at any time, or have come.
type coming struct {
	sig  int
	tid  int    // of the task that it comes to; 0: any of the process
	what string // for people
}

func timerSite(sig int, t timer) string {
	return fmt.Sprintf("a timer's %s, set to %v", guest.SignalName(sig), time.Duration(t.Set))
}

// timed reports whether a signal may come to p at any time, or have come.
func (p *Process) timed() bool {
	for range p.expects() {
		return true
	}
	return false
}

// expects are these signals. An ignored one that is not blocked is among them: it may have a handler later.
func (p *Process) expects() iter.Seq[coming] {
	return func(yield func(coming) bool) {
		for i, t := range [3]timer{p.Timer, p.CPUTimers[0], p.CPUTimers[1]} {
			if sig := itimerSignals[i]; t.open() && !yield(coming{sig, 0, timerSite(sig, t)}) {
				return
			}
		}
		for _, t := range p.Timers {
			if t.Timer.open() && t.Notify != sigevNone && !yield(coming{t.Sig, t.TID, timerSite(t.Sig, t.Timer)}) {
				return
			}
		}
		for sig := 1; p.Perhaps != 0 && sig <= numSignals; sig++ {
			if p.Perhaps&bit(sig) != 0 && !yield(coming{sig, 0, fmt.Sprintf("the %s of a timer, that has come by then or not", guest.SignalName(sig))}) {
				return
			}
		}
		if l := p.Limits[unix.RLIMIT_CPU]; seconds(l.Soft) < seconds(unlimited) {
			what := fmt.Sprintf("a limit of processor time of %d s", l.Soft)
			if yield(coming{int(unix.SIGXCPU), 0, what}) && seconds(l.Hard) < seconds(unlimited) {
				yield(coming{int(unix.SIGKILL), 0, what})
			}
		}
	}
}

// itimerSignals are the signals of a process's Timer and CPUTimers.
var itimerSignals = [3]int{int(unix.SIGALRM), int(unix.SIGVTALRM), int(unix.SIGPROF)}

// open: the timer may run out, or has without anybody having waited for it.
func (t timer) open() bool { return t.At != 0 || t.Late }

// contend notes two steps without order, also where there is one task.
func (s *System) contend(a, b site) {
	switch o := s.order; {
	case !s.ordering:
	case o != nil:
		o.conflict(a, b)
	case s.unordered == "":
		s.unordered = fmt.Sprintf("one schedule of several: %s and %s", a, b)
	}
}

// mayTake are the signals of set that may come to t at any time.
func (t *Task) mayTake(set uint64) (out uint64) {
	for x := range t.proc.expects() {
		if x.tid == 0 || x.tid == t.TID {
			out |= set & bit(x.sig)
		}
	}
	return out
}

// against notes that what the call does depends on whether a signal of set, which may come at any time, has come.
func (c *call) against(name string, set uint64) {
	for x := range c.p.expects() {
		if set&bit(x.sig) != 0 && (x.tid == 0 || x.tid == c.t.TID) {
			c.s.contend(site{call: x.what, tid: c.p.PID}, c.step(name, ""))
			return
		}
	}
}

// blocks: t lets sig wait, but for a call that waits for it.
func (t *Task) blocks(sig int) bool {
	mask := t.Mask
	if t.HasSaved {
		mask = t.Saved
	}
	return mask&bit(sig) != 0
}

// lets: x may come to a task of p wherever that is.
func (s *System) lets(p *Process, x coming) bool {
	return slices.ContainsFunc(s.tasks, func(t *Task) bool { return t.proc == p && (x.tid == 0 || x.tid == t.TID) && !t.blocks(x.sig) })
}

// deadly: sig ends the process.
func (a sigaction) deadly(sig int) bool {
	return a.Handler == sigDfl && (defaultIgnored|defaultStop)&bit(sig) == 0
}

// exposed notes that p goes on, and a signal may come anywhere.
func (s *System) exposed(p *Process) {
	if !s.ordering || p.Dead || !p.timed() {
		return
	}
	for x := range p.expects() {
		if a := p.Actions[x.sig]; !a.ignores(x.sig) && !a.deadly(x.sig) && s.lets(p, x) {
			s.contend(site{call: x.what, tid: p.PID}, site{call: fmt.Sprintf("what process %d does when it comes", p.PID), tid: p.PID})
			return
		}
	}
}

// fleeting are the calls of which nothing lasts if the process is killed.
var fleeting = strings.Fields(`pause nanosleep clock_nanosleep rt_sigsuspend rt_sigtimedwait rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn sigaltstack poll ppoll select pselect6 epoll_wait epoll_pwait futex
	brk mmap munmap mremap mprotect madvise sched_yield getpid gettid getppid clock_gettime gettimeofday time getrandom set_robust_list
	set_tid_address rseq exit`)

// doomed notes that the call does something that lasts, though a signal might have ended its process before.
func (c *call) doomed(name string) {
	if !c.s.ordering || !c.p.timed() || slices.Contains(fleeting, name) && c.alone() || name == "clone" && c.a[0]&unix.CLONE_THREAD != 0 {
		return
	}
	for x := range c.p.expects() {
		if c.p.Actions[x.sig].deadly(x.sig) && c.s.lets(c.p, x) {
			c.s.contend(site{call: x.what, tid: c.p.PID}, c.step(name, ""))
			return
		}
	}
}

// alone: no other process sees the memory of the present one.
func (c *call) alone() bool {
	return !c.p.Mem.Shows() && !slices.ContainsFunc(c.s.procs, func(q *Process) bool { return q != c.p && q.Mem == c.p.Mem })
}

// overtakes notes that p ends by st, which a timer's signal may have come before.
func (s *System) overtakes(p *Process, st Status) {
	if !s.ordering {
		return
	}
	for x := range p.expects() {
		ends := p.Actions[x.sig].deadly(x.sig) && x.sig != st.Signal && s.lets(p, x)
		if ends || s.awaited(p, x) {
			s.contend(site{call: x.what, tid: p.PID}, site{call: fmt.Sprintf("the end of process %d", p.PID), tid: p.PID})
			return
		}
	}
}

// awaited: another task than the current one waits for x.
func (s *System) awaited(p *Process, x coming) bool {
	return slices.ContainsFunc(s.tasks, func(t *Task) bool {
		takes := t.HasSaved && t.Mask&bit(x.sig) == 0 || t.Wait.Kind == waitSignal && t.Wait.Addr&bit(x.sig) != 0
		return t.proc == p && t != s.cur && takes && (x.tid == 0 || x.tid == t.TID)
	})
}

// unset notes that t is set anew, or taken away, in time or not. What it sends stays pending, perhaps.
func (c *call) unset(name string, t timer, sig, tid int) {
	if !c.s.ordering || !t.open() {
		return
	}
	x := coming{sig, tid, timerSite(sig, t)}
	switch lets := c.s.lets(c.p, x); {
	case c.s.awaited(c.p, x):
		c.s.contend(site{call: x.what, tid: c.p.PID}, c.step(name, ""))
	case !lets:
		c.p.Perhaps |= bit(sig)
	}
}

// unsetPosix is unset for a timer of timer_create(2).
func (c *call) unsetPosix(name string, t posixTimer) {
	if t.Notify != sigevNone {
		c.unset(name, t.Timer, t.Sig, t.TID)
	}
}

// takes notes that t takes a signal, in a call that waits for those of set and ends otherwise, too, if also is true. It is in order if it is the only one that may come.
func (s *System) takes(t *Task, info siginfo, set uint64, also bool) {
	set = t.mayTake(set)
	if !s.ordering || set == 0 {
		return
	}
	if set != bit(info.Sig) || also || t.proc.Perhaps&set != 0 || !info.timers() {
		for x := range t.proc.expects() {
			if set&bit(x.sig) != 0 {
				s.contend(site{call: x.what, tid: t.proc.PID}, site{call: fmt.Sprintf("a wait of process %d for it and for something else", t.proc.PID), tid: t.TID})
				return
			}
		}
	}
	p := t.proc
	for i, sig := range itimerSignals {
		if sig == info.Sig && info.Code != siTimer {
			p.interval(i).Late = false
		}
	}
	p.Timers = slices.Clone(p.Timers)
	for i := range p.Timers {
		if info.Code == siTimer && p.Timers[i].ID == info.PID {
			p.Timers[i].Timer.Late = false
		}
	}
}

// timers: a timer has sent it.
func (i siginfo) timers() bool {
	return i.Code == siTimer || i.Code == 0x80 && slices.Contains(itimerSignals[:], i.Sig)
}

// interval is interval timer i, setitimer(2).
func (p *Process) interval(i int) *timer {
	if i == 0 {
		return &p.Timer
	}
	return &p.CPUTimers[i-1]
}
