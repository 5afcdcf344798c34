package kernel

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Process descriptors, pidfd_open(2). Process numbers are never given twice, so the number stands for the process.

type pidFile struct{ plainKind }

func (pidFile) traits() trait { return opaque }

func (pidFile) stat(_ *System, f *file) stat { return nameless(f, 0o600) }

func (pidFile) ready(s *System, f *file) uint32 {
	if p := s.process(f.PID); p != nil && !p.Dead {
		return 0
	}
	return unix.POLLIN
}

func (c *call) sysPidfdOpen() (uint64, error) {
	pid := c.arg32(0)
	switch {
	case c.a[1]&0xffffffff&^unix.O_NONBLOCK != 0 || pid <= 0:
		return 0, unix.EINVAL
	case c.s.process(pid) == nil && c.s.task(pid) != nil:
		return 0, unix.EINVAL // a thread
	case c.s.process(pid) == nil:
		return 0, unix.ESRCH
	}
	f := &file{Kind: filePID, Flags: unix.O_RDWR | int(c.a[1])&unix.O_NONBLOCK, Path: "anon_inode:[pidfd]", PID: pid}
	return c.open(f, true)
}

// pidOf returns the process that a descriptor stands for: of pidfd_open, or of a directory /proc/PID.
func (c *call) pidOf(fd int) (int, error) {
	_, f, err := c.fd(fd)
	if err != nil {
		return 0, err
	}
	if f.Kind == filePID {
		return f.PID, nil
	}
	if pid, err := strconv.Atoi(strings.TrimPrefix(f.Path, "/proc/")); f.Kind == fileDir && err == nil {
		return pid, nil
	}
	return 0, unix.EBADF
}

func (c *call) sysPidfdSendSignal() (uint64, error) {
	if c.a[3]&0xffffffff != 0 {
		return 0, unix.EINVAL
	}
	pid, err := c.pidOf(c.arg32(0))
	if err != nil {
		return 0, err
	}
	info, err := c.signalArg(1)
	switch p := c.s.process(pid); {
	case c.a[2] != 0:
		return 0, unsupported("a siginfo of one's own")
	case p == nil:
		return 0, unix.ESRCH
	case err != nil:
		return 0, err
	case info.Sig != 0:
		c.s.post(nil, p, info)
	}
	return 0, nil
}
