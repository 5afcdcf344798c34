package kernel

import "golang.org/x/sys/unix"

// Calls on file descriptors as such: dup(2), fcntl(2), ioctl(2).

func (c *call) sysDup() (uint64, error) {
	i, _, err := c.anyFd(c.arg32(0))
	if err != nil {
		return 0, err
	}
	return c.newFd(i, 0, false)
}

func (c *call) sysDup2() (uint64, error) {
	if c.arg32(0) == c.arg32(1) {
		_, _, err := c.anyFd(c.arg32(0))
		return uint64(c.arg32(1)), err
	}
	return c.dupTo(false)
}

func (c *call) sysDup3() (uint64, error) {
	if c.arg32(0) == c.arg32(1) || c.a[2]&^unix.O_CLOEXEC != 0 {
		return 0, unix.EINVAL
	}
	return c.dupTo(c.a[2] != 0)
}

func (c *call) dupTo(cloexec bool) (uint64, error) {
	i, _, err := c.anyFd(c.arg32(0))
	if err != nil {
		return 0, err
	}
	to := c.arg32(1)
	if to < 0 || to >= c.p.fdLimit() {
		return 0, unix.EBADF
	}
	if to < len(c.p.Fds) && c.p.Fds[to].File >= 0 {
		c.s.closeFd(c.p, to)
	}
	c.setFd(to, i, cloexec)
	return uint64(to), nil
}

func (c *call) sysFcntl() (uint64, error) {
	fd := c.arg32(0)
	i, f, err := c.anyFd(fd)
	if err != nil {
		return 0, err
	}
	switch c.a[1] {
	case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL:
	default:
		if f.Kind == filePath {
			return 0, unix.EBADF // check_fcntl_cmd in fs/fcntl.c
		}
	}
	const settable = unix.O_APPEND | unix.O_NONBLOCK | unix.O_ASYNC | unix.O_DIRECT | unix.O_NOATIME
	switch c.a[1] {
	case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC:
		if c.arg32(2) < 0 || c.arg32(2) >= c.p.fdLimit() {
			return 0, unix.EINVAL
		}
		return c.newFd(i, c.arg32(2), c.a[1] == unix.F_DUPFD_CLOEXEC)
	case unix.F_GETFD:
		if c.p.Fds[fd].Cloexec {
			return unix.FD_CLOEXEC, nil
		}
		return 0, nil
	case unix.F_SETFD:
		c.p.Fds[fd].Cloexec = c.a[2]&unix.FD_CLOEXEC != 0
		return 0, nil
	case unix.F_GETFL:
		return uint64(f.Flags), nil
	case unix.F_SETFL:
		g := c.s.file(i)
		g.Flags = g.Flags&^settable | int(c.a[2])&settable
		return 0, nil
	case unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_SETLK, unix.F_OFD_SETLKW:
		return 0, nil // never contended within one process; between processes not modelled
	case unix.F_GETLK, unix.F_OFD_GETLK:
		return 0, c.put(c.a[2], []byte{unix.F_UNLCK, 0})
	case unix.F_GETPIPE_SZ, unix.F_SETPIPE_SZ:
		if f.Kind != filePipe {
			return 0, unix.EBADF
		}
		if c.a[1] == unix.F_SETPIPE_SZ {
			return c.setPipeSize(max(f.In, f.Out), c.arg32(2))
		}
		return uint64(c.s.pipes.get(max(f.In, f.Out)).size()), nil
	case unix.F_NOTIFY:
		if f.Kind != fileDir {
			return 0, unix.ENOTDIR
		}
		return 0, nil
	case unix.F_GETLEASE:
		return unix.F_UNLCK, nil
	case unix.F_SETOWN, unix.F_GETOWN:
		return 0, nil
	}
	return 0, unix.EINVAL
}

func (c *call) sysIoctl() (uint64, error) {
	fd := c.arg32(0)
	i, f, err := c.fd(fd)
	if err != nil {
		return 0, err
	}
	const cloexec, noCloexec, nonblock = 0x5451, 0x5450, 0x5421 // FIOCLEX, FIONCLEX, FIONBIO
	if r := c.a[1]; f.tty() && r != cloexec && r != noCloexec && r != nonblock {
		return c.ttyIoctl(f)
	}
	switch c.a[1] {
	case unix.TIOCINQ: // FIONREAD
		n, err := f.kind().held(c.s, f)
		if err != nil {
			return 0, err
		}
		return 0, c.put32(c.a[2], uint32(n))
	case unix.TIOCOUTQ: // SIOCOUTQ
		if f.Kind != fileSocket {
			return 0, unix.ENOTTY
		}
		n := 0
		if k := c.s.socks.get(f.Sock); k.unix() && c.s.socks.get(k.Other) != nil {
			n = c.s.socks.get(k.Other).Cost
		}
		return 0, c.put32(c.a[2], uint32(n))
	case cloexec, noCloexec:
		c.p.Fds[fd].Cloexec = c.a[1] == cloexec
		return 0, nil
	case nonblock:
		on, err := c.u32(c.a[2])
		if err != nil {
			return 0, err
		}
		g := c.s.file(i)
		g.Flags &^= unix.O_NONBLOCK
		if on != 0 {
			g.Flags |= unix.O_NONBLOCK
		}
		return 0, nil
	}
	if c.a[1]>>8&0xff == 'f' && f.Kind == fileNode { // attributes, ioctl_iflags(2)
		if err := c.lacks(unix.ENOTTY); err != nil {
			return 0, err
		}
		return 0, unix.EOPNOTSUPP
	}
	return 0, unix.ENOTTY
}
