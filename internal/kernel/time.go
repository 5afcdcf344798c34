package kernel

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Time is nanoseconds since the boot of the guest's machine. One retired
// instruction takes one nanosecond, whatever it is (but see worked); while all tasks wait, time
// jumps to the next deadline. So time is a function of the path alone.
type Time uint64

// Epoch is the wall-clock time of the boot in nanoseconds since 1970: 2024-01-01 UTC.
// Booted is what CLOCK_MONOTONIC reads then, so that it is never 0.
const (
	Epoch  = int64(1704067200) * 1e9
	Booted = Time(1000 * 1e9)
)

// Now returns the present, for the guest to know.
func (s *System) Now() Time {
	s.looked++
	return s.now()
}

// now is Now for the model's own use: the guest does not learn it.
func (s *System) now() Time { return Booted + s.cfg.World.Later + s.busy() + s.skew }

// Slice is the scheduling quantum in instructions. Slices end at its multiples.
const Slice = 1 << 16

// callTime is how long a system call takes before the guest opens its device.
const callTime = Time(1000)

// worked returns the processor time used. In a system with a device instructions take none before the guest opens it, and system
// calls do: what time it is when a test begins does not depend on whether the machine, or the host's processor, executed
// what came before (package nativeboot).
func (s *System) worked() Time {
	s.looked++
	return s.busy() + s.cfg.World.Taken
}

// busy is worked for the model's own use.
func (s *System) busy() Time {
	t := Time(s.looked) * s.cfg.World.Delay
	if !s.cfg.DeviceEnabled {
		return t + Time(s.Retired)*s.cfg.World.pace()
	}
	t += Time(s.calls) * callTime
	if s.opened > 0 {
		t += Time(s.Retired-s.opened) * s.cfg.World.pace()
	}
	return t
}

// Opened reports whether the guest has opened its device.
func (s *System) Opened() bool { return s.opened > 0 }

// Calls returns how many system calls were made before the device was opened.
func (s *System) Calls() uint64 { return s.calls }

// booting reports whether time is counted in system calls.
func (s *System) booting() bool { return s.cfg.DeviceEnabled && s.opened == 0 }

// open starts the clock of instructions, at the beginning of a slice.
func (s *System) open() {
	if s.opened == 0 {
		s.Retired = (s.Retired/Slice + 1) * Slice
		s.opened = s.Retired
	}
}

// Timestamp is what rdtsc reads: it counts since the boot of the machine.
func (s *System) Timestamp() uint64 {
	s.called()
	s.asked.name("rdtsc")
	return uint64(s.Now())
}

// Outlast makes s, which comes from the same system as o and has made no system call since, as late as the later of both.
func (s *System) Outlast(o *System) {
	s.Retired, s.cost, s.calls = max(s.Retired, o.Retired), max(s.cost, o.cost), max(s.calls, o.calls)
}

// called counts a system call, or what else must make time pass before the device is open.
func (s *System) called() {
	if s.opened == 0 {
		s.calls++
	}
}

// wall is t on CLOCK_REALTIME.
func (t Time) wall() int64 { return Epoch + int64(t-Booted) }

// seconds is n seconds; a century where n is more.
func seconds(n uint64) Time { return Time(min(n, 3155760000)) * 1e9 }

// timespec reads a struct timespec. Where the moment is a variable, the wait until a time that was reckoned from it is not.
func (c *call) timespec(addr uint64) (Time, error) {
	var w []uint64
	var err error
	if b := make([]byte, 16); c.s.moment.later != 0 && c.p.Mem.HasSym(addr, 16) && c.p.Mem.Read(addr, b) == nil {
		w = []uint64{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
	} else if w, err = c.words(addr, 2); err != nil {
		return 0, err
	}
	if int64(w[0]) < 0 || w[1] > 999999999 {
		return 0, unix.EINVAL
	}
	return seconds(w[0]) + Time(w[1]), nil
}

// timeout is timespec for an optional timeout: 0 is forever.
func (c *call) timeout(addr uint64) (Time, bool, error) {
	if addr == 0 {
		return 0, true, nil
	}
	d, err := c.timespec(addr)
	return d, false, err
}

// clock reads clock id, clock_gettime(2). Process and thread clocks count
// instructions and not waits.
func (s *System) clock(id uint64) (int64, bool) {
	switch id {
	case unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_TAI:
		return s.Now().wall(), true
	case unix.CLOCK_MONOTONIC, unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_MONOTONIC_COARSE, unix.CLOCK_BOOTTIME:
		return int64(s.Now()), true
	case unix.CLOCK_REALTIME_ALARM, unix.CLOCK_BOOTTIME_ALARM: // of hosts with a clock that wakes them
		if s.cfg.World.Elsewhere {
			return s.clock(map[uint64]uint64{unix.CLOCK_REALTIME_ALARM: unix.CLOCK_REALTIME, unix.CLOCK_BOOTTIME_ALARM: unix.CLOCK_BOOTTIME}[id])
		}
		return 0, false
	case unix.CLOCK_PROCESS_CPUTIME_ID, unix.CLOCK_THREAD_CPUTIME_ID:
		return int64(s.worked()), true
	}
	if int32(uint32(id)) < 0 && id&7 < 7 && id&3 != 3 { // a CPU clock of some process or thread, clock_getcpuclockid(3)
		return int64(s.worked()), true
	}
	return 0, false
}

func (c *call) putTime(addr uint64, ns int64, unit int64) error {
	return c.put64(addr, uint64(ns/1e9), uint64(ns%1e9/unit))
}

func (c *call) sysClockGettime() (uint64, error) {
	t, ok := c.s.clock(c.a[0])
	if !ok {
		return 0, unix.EINVAL
	}
	if c.s.worksOnly(c.a[0]) {
		return 0, c.putTime(c.a[1], t, 1)
	}
	return 0, c.putDate(c.a[1], t, 1)
}

// worksOnly reports whether clock id counts work, which is the same at every moment.
func (s *System) worksOnly(id uint64) bool {
	return id == unix.CLOCK_PROCESS_CPUTIME_ID || id == unix.CLOCK_THREAD_CPUTIME_ID || int32(uint32(id)) < 0
}

func (c *call) sysClockGetres() (uint64, error) {
	if _, ok := c.s.clock(c.a[0]); !ok {
		return 0, unix.EINVAL
	}
	if c.a[1] == 0 {
		return 0, nil
	}
	ns := uint64(1)
	if c.a[0] == unix.CLOCK_REALTIME_COARSE || c.a[0] == unix.CLOCK_MONOTONIC_COARSE {
		ns = c.s.cfg.World.host().tick
	}
	return 0, c.put64(c.a[1], 0, ns)
}

func (c *call) sysGettimeofday() (uint64, error) {
	if c.a[0] != 0 {
		if err := c.putDate(c.a[0], c.s.Now().wall(), 1000); err != nil {
			return 0, err
		}
	}
	if c.a[1] != 0 {
		return 0, c.put64(c.a[1], 0)
	}
	return 0, nil
}

func (c *call) sysTime() (uint64, error) {
	t := uint64(c.s.Now().wall() / 1e9)
	c.result = c.s.dated(t, 1)
	if c.a[0] != 0 {
		return t, c.putSym(c.a[0], c.s.datedBytes(t, 1))
	}
	return t, nil
}

func (c *call) sysTimes() (uint64, error) {
	if c.a[0] != 0 {
		own, children := c.s.usage(), c.s.usageOfChildren(c.p)
		if err := c.put64(c.a[0], uint64(own.user)/1e7, 0, uint64(children.user)/1e7, 0); err != nil {
			return 0, err
		}
	}
	ticks := uint64(c.s.Now()) / 1e7
	c.result = c.s.dated(ticks, 100)
	return ticks, nil
}

func (c *call) sysNanosleep() (uint64, error) {
	d, err := c.timespec(c.a[0])
	if err != nil {
		return 0, err
	}
	return c.sleep(d, c.a[1])
}

func (c *call) sysClockNanosleep() (uint64, error) {
	looked := c.s.looked
	now, ok := c.s.clock(c.a[0])
	switch c.a[0] {
	case unix.CLOCK_MONOTONIC_RAW, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_MONOTONIC_COARSE:
		return 0, unix.EOPNOTSUPP
	case unix.CLOCK_THREAD_CPUTIME_ID:
		ok = false
	}
	if !ok {
		return 0, unix.EINVAL
	}
	d, err := c.timespec(c.a[2])
	if err != nil {
		return 0, err
	}
	if c.a[1]&unix.TIMER_ABSTIME == 0 {
		c.s.looked = looked
	} else {
		if int64(d) <= now {
			return 0, nil
		}
		return c.sleep(d-Time(now), 0)
	}
	return c.sleep(d, c.a[3])
}

// sleep waits for d; rem is where an interrupted sleep stores what is left.
func (c *call) sleep(d Time, rem uint64) (uint64, error) {
	now := c.s.now() // the guest learns nothing of it
	switch {
	case c.was.Kind == waitNone && d == 0, c.was.Deadline != 0 && now >= c.was.Deadline:
		return 0, nil
	case c.was.Kind != waitNone:
		return 0, blocked{Kind: waitSleep, Addr: rem, Deadline: c.was.Deadline}
	}
	return 0, blocked{Kind: waitSleep, Addr: rem, Deadline: now + max(d, 1)}
}
