package kernel

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// Operations of futex(2).
const (
	futexWait       = 0
	futexWake       = 1
	futexRequeue    = 3
	futexCmpRequeue = 4
	futexWakeOp     = 5
	futexWaitBits   = 9
	futexWakeBits   = 10
	futexRealtime   = 256
)

func (c *call) sysFutex() (uint64, error) {
	addr, op, val := c.a[0], c.a[1]&^(128|futexRealtime), uint32(c.a[2])
	if addr%4 != 0 {
		return 0, unix.EINVAL
	}
	if op != futexWait && op != futexWaitBits {
		c.s.futexStep(c.p.Mem, addr, true, false, c.step("futex", ""))
		if op == futexRequeue || op == futexCmpRequeue || op == futexWakeOp {
			c.s.futexStep(c.p.Mem, c.a[4], true, false, c.step("futex", ""))
		}
	}
	switch op {
	case futexWait, futexWaitBits:
		return c.futexWait(addr, op, val)
	case futexWake:
		return c.s.wake(c.p.Mem, addr, int(int32(val)), ^uint32(0)), nil
	case futexWakeBits:
		if uint32(c.a[5]) == 0 {
			return 0, unix.EINVAL
		}
		return c.s.wake(c.p.Mem, addr, int(int32(val)), uint32(c.a[5])), nil
	case futexRequeue, futexCmpRequeue:
		if op == futexCmpRequeue {
			v, err := c.u32(addr)
			if err != nil {
				return 0, err
			}
			if v != uint32(c.a[5]) {
				return 0, unix.EAGAIN
			}
		}
		n := c.s.wake(c.p.Mem, addr, int(int32(val)), ^uint32(0))
		return n + c.s.requeue(c.p.Mem, addr, c.a[4], c.arg32(3)), nil
	case futexWakeOp:
		return c.futexWakeOp(addr, int(int32(val)))
	}
	return 0, unix.ENOSYS // priority inheritance: glibc falls back
}

func (c *call) futexWait(addr, op uint64, val uint32) (uint64, error) {
	if w := c.was; w.Kind == waitFutex {
		switch {
		case w.Woken:
			return 0, nil
		case c.timedOut():
			return 0, unix.ETIMEDOUT
		}
		return 0, blocked(w)
	}
	v, err := c.futexWord(addr, c.a[3] != 0)
	if err != nil {
		return 0, err
	}
	w := wait{Kind: waitFutex, Addr: addr, Bits: ^uint32(0), Restart: true}
	if op == futexWaitBits {
		if w.Bits = uint32(c.a[5]); w.Bits == 0 {
			return 0, unix.EINVAL
		}
	}
	if c.a[3] != 0 {
		d, err := c.timespec(c.a[3])
		if err != nil {
			return 0, err
		}
		switch {
		case op == futexWait:
			w.Deadline = c.s.Now() + max(d, zeroWait)
		case c.a[1]&futexRealtime != 0: // absolute
			w.Deadline = Time(max(int64(d)-Epoch, 0)) + Booted
		default:
			w.Deadline = max(d, 1)
		}
	}
	if v != val {
		return 0, unix.EAGAIN
	}
	c.s.futexStep(c.p.Mem, addr, false, w.Deadline != 0, c.step("futex", ""))
	if w.Deadline != 0 && w.Deadline <= c.s.now()+zeroWait {
		return 0, unix.ETIMEDOUT // at once: nobody else runs
	}
	return 0, blocked(w)
}

// zeroWait is how long a wait of no time is put down to last.
const zeroWait = 1

// futexWord is the word at which the call is to wait. How it looks to the C library's own waits says nothing about schedules.
func (c *call) futexWord(addr uint64, timed bool) (uint32, error) {
	b, err := c.look(addr, 4)
	if err != nil {
		return 0, err
	}
	if s := c.s; s.order != nil && !s.cWaits(addr, timed) {
		s.callAccess(addr, 4, false)
	}
	return binary.LittleEndian.Uint32(b), nil
}

// wake wakes up to n tasks that wait at addr with one of the bits, oldest first.
func (s *System) wake(m *mem.Space, addr uint64, n int, bits uint32) uint64 {
	done, at := uint64(0), s.placeOf(m, addr)
	for ; n > 0; n-- {
		t := s.oldest(at, bits)
		if t == nil {
			break
		}
		t.Wait.Woken = true
		s.woken(t, s.cur)
		done++
	}
	return done
}

// requeue makes up to n tasks that wait at from wait at to.
func (s *System) requeue(m *mem.Space, from, to uint64, n int) uint64 {
	done, at := uint64(0), s.placeOf(m, from)
	for ; n > 0; n-- {
		t := s.oldest(at, ^uint32(0))
		if t == nil {
			break
		}
		s.waits++
		t.Wait.Addr, t.Wait.Seq = to, s.waits
		done++
	}
	return done
}

func (s *System) oldest(at memPlace, bits uint32) *Task {
	var best *Task
	for _, t := range s.tasks {
		w := &t.Wait
		if w.Kind == waitFutex && !w.Woken && w.Bits&bits != 0 && s.placeOf(t.proc.Mem, w.Addr) == at && (best == nil || w.Seq < best.Wait.Seq) {
			best = t
		}
	}
	return best
}

// futexWakeOp is FUTEX_WAKE_OP: change a second word, wake at the first and, if
// its old value compares so, at the second.
func (c *call) futexWakeOp(addr uint64, n int) (uint64, error) {
	addr2, enc := c.a[4], uint32(c.a[5])
	old, err := c.u32(addr2)
	if err != nil {
		return 0, err
	}
	sext := func(v uint32) int32 { return int32(v<<20) >> 20 }
	arg := uint32(sext(enc >> 12 & 0xfff))
	cmp := sext(enc & 0xfff)
	if enc>>31 != 0 {
		arg = 1 << (arg & 31)
	}
	v := old
	switch enc >> 28 & 7 {
	case 0:
		v = arg
	case 1:
		v += arg
	case 2:
		v |= arg
	case 3:
		v &^= arg
	case 4:
		v ^= arg
	default:
		return 0, unix.ENOSYS
	}
	if err := c.put32(addr2, v); err != nil {
		return 0, err
	}
	woken := c.s.wake(c.p.Mem, addr, n, ^uint32(0))
	o := int32(old)
	if [8]bool{o == cmp, o != cmp, o < cmp, o <= cmp, o > cmp, o >= cmp}[enc>>24&7] {
		woken += c.s.wake(c.p.Mem, addr2, c.arg32(3), ^uint32(0))
	}
	return woken, nil
}
