package kernel

import (
	"math"
	"slices"

	"golang.org/x/sys/unix"
)

// timer is what runs out: a process's interval timer, setitimer(2), or part of a posixTimer.
type timer struct {
	At    Time // 0: off
	Every Time
	Set   Time // what it was set to
	Late  bool // it has run out, and nobody has waited for that: see ordertimer.go
}

func (c *call) sysAlarm() (uint64, error) {
	left := uint64(0)
	if at := c.p.Timer.At; at != 0 {
		left = max(1, (uint64(at-c.s.Now())+5e8)/1e9)
	}
	c.unset("alarm", c.p.Timer, int(unix.SIGALRM), 0)
	c.p.Timer = timer{}
	if n := c.a[0] & math.MaxUint32; n != 0 {
		c.p.Timer.At, c.p.Timer.Set = c.s.Now()+seconds(n), seconds(n)
	}
	return left, nil
}

// left is the time until t runs out, at least the unit; 0: it is off.
func (t timer) left(now, unit Time) Time {
	if t.At == 0 {
		return 0
	}
	return max(unit, t.At-min(t.At, now))
}

// putTimer stores t as a struct itimerval (unit 1000) or itimerspec (unit 1).
func (c *call) putTimer(addr uint64, t timer, now, unit Time) error {
	v, e := t.left(now, unit), t.Every
	return c.put64(addr, uint64(e/1e9), uint64(e%1e9/unit), uint64(v/1e9), uint64(v%1e9/unit))
}

// expired advances t, which has run out if it returns true.
func (t *timer) expired(now Time) bool {
	if t.At == 0 || now < t.At {
		return false
	}
	t.At, t.Late = 0, true
	if t.Every != 0 {
		t.At = now + t.Every
	}
	return true
}

// itimer returns interval timer which, setitimer(2), and the time of its clock: processor time
// but for ITIMER_REAL, and all of it is spent in the program.
func (c *call) itimer(which uint64) (*timer, Time, error) {
	switch which {
	case 0: // ITIMER_REAL
		return c.p.interval(0), c.s.Now(), nil
	case 1, 2: // ITIMER_VIRTUAL, ITIMER_PROF
		return c.p.interval(int(which)), c.s.worked(), nil
	}
	return nil, 0, unix.EINVAL
}

func (c *call) sysGetitimer() (uint64, error) {
	t, now, err := c.itimer(c.a[0])
	if err != nil {
		return 0, err
	}
	return 0, c.putTimer(c.a[1], *t, now, 1000)
}

func (c *call) sysSetitimer() (uint64, error) {
	w := make([]uint64, 4)
	if c.a[1] != 0 {
		var err error
		if w, err = c.words(c.a[1], 4); err != nil {
			return 0, err
		}
	}
	if w[1] > 999999 || w[3] > 999999 || int64(w[0]) < 0 || int64(w[2]) < 0 {
		return 0, unix.EINVAL
	}
	t, now, err := c.itimer(c.a[0])
	if err != nil {
		return 0, err
	}
	c.unset("setitimer", *t, itimerSignals[c.a[0]], 0)
	old := *t
	*t = timer{Every: seconds(w[0]) + Time(w[1])*1e3}
	if d := seconds(w[2]) + Time(w[3])*1e3; d != 0 {
		t.At, t.Set = now+d, d
	}
	if c.a[2] != 0 { // behind the change, which is made though this may fail
		return 0, c.putTimer(c.a[2], old, now, 1000)
	}
	return 0, nil
}

// posixTimer is a timer of timer_create(2).
type posixTimer struct {
	Timer  timer
	ID     int
	Wall   bool // absolute times are of CLOCK_REALTIME
	Notify int  // SIGEV_SIGNAL, SIGEV_NONE or SIGEV_THREAD_ID
	Sig    int
	Value  uint64 // sigev_value
	TID    int    // of SIGEV_THREAD_ID
}

// sigev_notify, sigevent(7), and the code of a timer's signal, sigaction(2).
const (
	sigevSignal   = 0
	sigevNone     = 1
	sigevThreadID = 4
	siTimer       = -2
)

func (c *call) sysTimerCreate() (uint64, error) {
	switch c.a[0] {
	case unix.CLOCK_REALTIME, unix.CLOCK_MONOTONIC, unix.CLOCK_BOOTTIME, unix.CLOCK_TAI:
	case unix.CLOCK_PROCESS_CPUTIME_ID, unix.CLOCK_THREAD_CPUTIME_ID:
		return 0, unsupported("a timer of processor time")
	default:
		return 0, unix.EINVAL
	}
	t := posixTimer{Sig: int(unix.SIGALRM), Wall: c.a[0] == unix.CLOCK_REALTIME || c.a[0] == unix.CLOCK_TAI}
	t.ID, t.Value = c.p.NextTimer, uint64(c.p.NextTimer)
	if c.a[1] != 0 {
		w, err := c.words(c.a[1], 3)
		if err != nil {
			return 0, err
		}
		c.p.NextTimer++
		t.Value, t.Sig, t.Notify, t.TID = w[0], int(int32(w[1])), int(w[1]>>32), int(int32(w[2]))
		owner := slices.ContainsFunc(c.s.tasks, func(u *Task) bool { return u.TID == t.TID && u.proc == c.p })
		switch {
		case t.Notify != sigevSignal && t.Notify != sigevNone && t.Notify != sigevThreadID,
			t.Notify == sigevThreadID && !owner,
			t.Notify != sigevNone && (t.Sig < 1 || t.Sig > numSignals):
			return 0, unix.EINVAL
		}
	} else {
		c.p.NextTimer++ // a number is taken even where the call then fails
	}
	if err := c.put32(c.a[2], uint32(t.ID)); err != nil {
		return 0, err
	}
	c.p.Timers = append(slices.Clone(c.p.Timers), t)
	return 0, nil
}

// posixTimer returns the index of the timer that the first argument names.
func (c *call) posixTimer() (int, error) {
	i := slices.IndexFunc(c.p.Timers, func(t posixTimer) bool { return t.ID == c.arg32(0) })
	if i < 0 {
		return 0, unix.EINVAL
	}
	return i, nil
}

func (c *call) sysTimerSettime() (uint64, error) {
	if c.a[2] == 0 {
		return 0, unix.EINVAL
	}
	every, err := c.timespec(c.a[2])
	if err != nil {
		return 0, err
	}
	value, err := c.timespec(c.a[2] + 16)
	if err != nil {
		return 0, err
	}
	i, err := c.posixTimer()
	if err != nil {
		return 0, err
	}
	old, now := c.p.Timers[i].Timer, Time(0)
	if c.a[3] != 0 {
		now = c.s.Now()
	}
	c.unsetPosix("timer_settime", c.p.Timers[i])
	t := timer{Every: every, Set: value}
	switch {
	case value == 0:
	case c.a[1]&unix.TIMER_ABSTIME == 0:
		t.At = c.s.Now() + value
	case c.p.Timers[i].Wall:
		t.At = Booted + Time(max(int64(value)-Epoch, 1))
	default:
		t.At = value
	}
	c.p.Timers = slices.Clone(c.p.Timers)
	c.p.Timers[i].Timer = t
	if t.At != 0 && t.At <= c.s.now() { // a moment that has gone by
		c.s.fire()
	}
	if c.a[3] != 0 { // behind the change, which is made though this may fail
		return 0, c.putTimer(c.a[3], old, now, 1)
	}
	return 0, nil
}

func (c *call) sysTimerGettime() (uint64, error) {
	i, err := c.posixTimer()
	if err != nil {
		return 0, err
	}
	return 0, c.putTimer(c.a[1], c.p.Timers[i].Timer, c.s.Now(), 1)
}

func (c *call) sysTimerGetoverrun() (uint64, error) {
	i, err := c.posixTimer()
	if err == nil && c.p.Timers[i].Timer.open() && c.p.Timers[i].Notify != sigevNone {
		c.against("timer_getoverrun", bit(c.p.Timers[i].Sig))
	}
	return 0, err
}

func (c *call) sysTimerDelete() (uint64, error) {
	i, err := c.posixTimer()
	if err != nil {
		return 0, err
	}
	c.unsetPosix("timer_delete", c.p.Timers[i])
	c.p.Timers = slices.Delete(slices.Clone(c.p.Timers), i, i+1)
	return 0, nil
}

// fire posts the signals of the timers that have run out.
func (s *System) fire() {
	for _, p := range s.procs {
		if p.Dead {
			continue
		}
		if p.Timer.expired(s.now()) {
			s.post(nil, p, siginfo{Sig: int(unix.SIGALRM), Code: 0x80})
		}
		for i, sig := range itimerSignals[1:] {
			if p.CPUTimers[i].expired(s.busy()) {
				s.post(nil, p, siginfo{Sig: sig, Code: 0x80})
			}
		}
		for i, t := range p.Timers {
			if !t.Timer.expired(s.now()) {
				continue
			}
			p.Timers = slices.Clone(p.Timers)
			p.Timers[i] = t
			s.notify(p, t)
		}
	}
}

// notify posts the signal of t, unless it is pending already: then that one counts for both.
func (s *System) notify(p *Process, t posixTimer) {
	info := siginfo{Sig: t.Sig, Code: siTimer, PID: t.ID, Addr: t.Value}
	var to *Task
	infos := p.Infos
	if t.Notify == sigevThreadID {
		i := slices.IndexFunc(s.tasks, func(u *Task) bool { return u.TID == t.TID && u.proc == p })
		if i < 0 {
			return
		}
		to = s.tasks[i]
		infos = to.Infos
	}
	if t.Notify != sigevNone && !slices.Contains(infos, info) {
		s.post(to, p, info)
	}
}
