package kernel

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
)

// A limit is what a process may take of a resource, getrlimit(2).
type limit struct{ Soft, Hard uint64 }

// limits are those of a process, by number of the resource.
type limits [16]limit

const unlimited = ^uint64(0)

// What a process has open and how many tasks there are end here, whatever its limits. maxFds is RLIMIT_NOFILE's hard limit, softFds its soft one.
const (
	maxFds   = 4096
	softFds  = 1024
	maxTasks = 512
)

// defaultLimits are the limits of the first process.
func defaultLimits() limits {
	var l limits
	for i := range l {
		l[i] = limit{unlimited, unlimited}
	}
	l[unix.RLIMIT_STACK].Soft = 8 << 20
	l[unix.RLIMIT_CORE].Soft = 0
	l[unix.RLIMIT_NOFILE] = limit{softFds, maxFds}
	l[unix.RLIMIT_NPROC] = limit{maxTasks, maxTasks}
	return l
}

// elsewhereLimits are defaultLimits on another host.
func elsewhereLimits() limits {
	l := defaultLimits()
	for i := range l {
		l[i] = limit{min(l[i].Soft-l[i].Soft/16, l[i].Hard/2), l[i].Hard - l[i].Hard/4}
	}
	l[unix.RLIMIT_CORE].Soft = 1 << 20
	l[unix.RLIMIT_NOFILE].Soft = 2 * softFds // guest libraries put the device's descriptor out of the way below softFds
	return l
}

// boxedLimits are defaultLimits in the sandbox of a replay, which no process may raise: seconds, bytes, numbers (setLimits of package replay).
func boxedLimits() limits {
	l := defaultLimits()
	for which, most := range map[int]uint64{
		unix.RLIMIT_CORE: 0, unix.RLIMIT_CPU: 12, unix.RLIMIT_FSIZE: 64 << 20, unix.RLIMIT_STACK: 8 << 20, unix.RLIMIT_NOFILE: softFds,
		unix.RLIMIT_MEMLOCK: 8 << 20, unix.RLIMIT_RTPRIO: 0, unix.RLIMIT_NICE: 0, unix.RLIMIT_NPROC: 256, unix.RLIMIT_DATA: 4 << 30,
	} {
		l[which] = limit{min(l[which].Soft, most), min(l[which].Hard, most)}
	}
	return l
}

// mayStart reports whether p may make another task.
func (s *System) mayStart(p *Process) bool {
	n := uint64(max(len(s.tasks), len(s.procs))) // zombies count
	if b := s.cfg.World.Bounds.Tasks; b > 0 && n >= b {
		s.bounded.Tasks = b
		return false
	}
	return n < min(maxTasks, p.Limits[unix.RLIMIT_NPROC].Soft)
}

// Muted reports whether the first process could make no file now that holds a few kilobytes, for the limits that it has set, beside its standard streams.
func (s *System) Muted() bool {
	p := s.process(s.cfg.World.firstPID())
	if p == nil {
		return false
	}
	const standard, enough = 3, 64 << 10 // it may have closed its descriptors by now
	return standard >= p.fdLimit() || p.Limits[unix.RLIMIT_FSIZE].Soft < enough
}

// fdLimit is what the descriptors of p are below.
func (p *Process) fdLimit() int { return int(min(p.Limits[unix.RLIMIT_NOFILE].Soft, maxFds)) }

func (c *call) sysGetrlimit() (uint64, error) {
	if c.a[0] < uint64(len(limits{})) && c.a[1] == 0 {
		return 0, unix.EFAULT // where prlimit64(2) asks for nothing
	}
	return c.rlimit(c.p, c.a[0], 0, c.a[1])
}

func (c *call) sysSetrlimit() (uint64, error) {
	if c.a[1] == 0 {
		return 0, unix.EFAULT
	}
	return c.rlimit(c.p, c.a[0], c.a[1], 0)
}

func (c *call) sysPrlimit64() (uint64, error) {
	p := c.p
	if pid := c.arg32(0); pid != 0 {
		if p = c.s.processOf(pid); p == nil {
			return 0, unix.ESRCH
		}
	}
	return c.rlimit(p, c.a[1], c.a[2], c.a[3])
}

// rlimit sets a limit of p at set and stores the one before at get; 0: neither. Who may raise a hard limit needs a privilege that nobody has here.
func (c *call) rlimit(p *Process, resource, set, get uint64) (uint64, error) {
	if resource >= uint64(len(limits{})) {
		return 0, unix.EINVAL
	}
	old := p.Limits[resource]
	next := old
	if set != 0 {
		w, err := c.words(set, 2)
		if err != nil {
			return 0, err
		}
		switch next = (limit{w[0], w[1]}); {
		case next.Soft > next.Hard:
			return 0, unix.EINVAL
		case next.Hard > old.Hard:
			if err := c.s.refused(); err != nil {
				return 0, err
			}
		}
	}
	p.Limits[resource] = next
	if get != 0 { // behind the change, which is made though this may fail
		return 0, c.put64(get, old.Soft, old.Hard)
	}
	return 0, nil
}

// mayMap reports whether the address space may grow by n bytes, RLIMIT_AS.
func (c *call) mayMap(n uint64) bool {
	most := c.p.Limits[unix.RLIMIT_AS].Soft
	if most == unlimited {
		return true
	}
	for _, a := range c.p.Mem.Areas() {
		n += a.End - a.Start
	}
	return guest.PageUp(n) <= most
}

// belowLimit is how many of n bytes may be written at pos of a regular file, RLIMIT_FSIZE. Where there is room for none the
// process is sent SIGXFSZ.
func (c *call) belowLimit(pos, n int64) (int64, error) {
	most := c.fileLimit(pos + n)
	switch {
	case most == unlimited || pos+n <= int64(most):
		return n, nil
	case pos < int64(most):
		return int64(most) - pos, nil
	}
	c.s.post(c.t, nil, siginfo{Sig: int(unix.SIGXFSZ), PID: c.p.PID})
	return 0, unix.EFBIG
}

// fileLimit is up to where a regular file may be written that is to end at end.
func (c *call) fileLimit(end int64) uint64 {
	most := c.p.Limits[unix.RLIMIT_FSIZE].Soft
	if b := c.s.cfg.World.Bounds.FileSize; b > 0 && uint64(end) > b {
		most, c.s.bounded.FileSize = min(most, b), b
	}
	return most
}

// allowed is how many of n bytes a write to f at off comes to before the limit of its size, RLIMIT_FSIZE; all of them where it is at the limit already, and so refused.
func (c *call) allowed(f *file, off int64, n uint64) uint64 {
	if f.Kind != fileNode {
		return n
	}
	at := off
	switch {
	case f.Flags&unix.O_APPEND != 0:
		at = c.s.nodes.get(f.Node).Size
	case off < 0:
		at = f.Off
	}
	if most := c.fileLimit(at + int64(n)); uint64(at) < most {
		n = min(n, most-uint64(at))
	}
	return n
}

// limitNames are the lines of /proc/PID/limits, by number of the resource: fs/proc/base.c.
var limitNames = [len(limits{})]struct{ name, unit string }{
	{"Max cpu time", "seconds"}, {"Max file size", "bytes"}, {"Max data size", "bytes"}, {"Max stack size", "bytes"}, {"Max core file size", "bytes"},
	{"Max resident set", "bytes"}, {"Max processes", "processes"}, {"Max open files", "files"}, {"Max locked memory", "bytes"},
	{"Max address space", "bytes"}, {"Max file locks", "locks"}, {"Max pending signals", "signals"}, {"Max msgqueue size", "bytes"},
	{"Max nice priority", ""}, {"Max realtime priority", ""}, {"Max realtime timeout", "us"},
}

// text is /proc/PID/limits.
func (l *limits) text() string {
	show := func(v uint64) string {
		if v == unlimited {
			return "unlimited"
		}
		return fmt.Sprint(v)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units")
	for i, n := range limitNames {
		fmt.Fprintf(&b, "%-25s %-20s %-20s ", n.name, show(l[i].Soft), show(l[i].Hard))
		if n.unit != "" {
			fmt.Fprintf(&b, "%-10s", n.unit)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
