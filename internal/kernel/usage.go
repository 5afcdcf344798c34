package kernel

import "golang.org/x/sys/unix"

// What a process has used: getrusage(2), wait4(2), times(2), /proc/PID/stat. Natively that is another each time, and here a
// world's: whatever is told of it differs from world to world, so that what depends on it shows.

// usage is what a process has used: processor time, all of it spent in the program, kilobytes of memory at most, and how often something
// happened to it: faults, blocks, switches.
type usage struct {
	user          Time
	memory, count uint64
}

// usage is that of any process that runs, and of any thread.
func (s *System) usage() usage {
	w := &s.cfg.World
	return usage{s.worked(), w.memory(4000), w.Used}
}

// usageOfChildren is that of the children of p that it has waited for: nothing if there are none.
func (s *System) usageOfChildren(p *Process) usage {
	if !p.Reaped {
		return usage{}
	}
	return s.usageOfChild()
}

// usageOfChild is that of one that has ended.
func (s *System) usageOfChild() usage {
	w := &s.cfg.World
	return usage{w.Taken, w.memory(1000), w.Used}
}

// putUsage stores u as a struct rusage.
func (c *call) putUsage(addr uint64, u usage) error {
	w := [18]uint64{0: uint64(u.user / 1e9), 1: uint64(u.user % 1e9 / 1e3), 4: u.memory}
	for _, i := range [...]int{8, 9, 11, 12, 16, 17} { // faults, blocks, switches
		w[i] = u.count
	}
	return c.put64(addr, w[:]...)
}

func (c *call) sysGetrusage() (uint64, error) {
	const self, children, thread = 0, -1, 1
	switch c.arg32(0) {
	case self, thread:
		return 0, c.putUsage(c.a[1], c.s.usage())
	case children:
		return 0, c.putUsage(c.a[1], c.s.usageOfChildren(c.p))
	}
	return 0, unix.EINVAL
}
