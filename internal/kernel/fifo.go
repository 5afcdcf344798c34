package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FIFOs, fifo(7): an inode that has a pipe while it is open.

func (c *call) sysMknod() (uint64, error) {
	return c.mknodAt(unix.AT_FDCWD, c.a[0], uint32(c.a[1]), uint32(c.a[2]))
}
func (c *call) sysMknodat() (uint64, error) {
	return c.mknodAt(c.arg32(0), c.a[1], uint32(c.a[2]), uint32(c.a[3]))
}

// mknodAt makes regular files, FIFOs names of sockets and whiteouts; devices need a privilege.
func (c *call) mknodAt(dirfd int, addr uint64, mode, dev uint32) (uint64, error) {
	forbidden := false
	switch kind := mode & unix.S_IFMT; kind {
	case 0:
		mode |= unix.S_IFREG
	case unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
	case unix.S_IFCHR: // but for 0, 0, a whiteout of overlayfs
		forbidden = dev != 0
	case unix.S_IFBLK:
		forbidden = true
	case unix.S_IFDIR:
		return 0, unix.EPERM
	default:
		return 0, unix.EINVAL
	}
	name, err := c.path(addr) // behind the kind: may_mknod in fs/namei.c
	if err != nil {
		return 0, err
	}
	v, err := c.final(dirfd, name)
	if err == nil {
		err = v.absent(false)
	}
	if err == nil && forbidden {
		if err = c.s.refused(); err == nil {
			return 0, nil
		}
	}
	if err != nil {
		return 0, err
	}
	_, err = c.s.create(c.p, v.vnode, &inode{Mode: mode & (unix.S_IFMT | 0o7777) &^ c.p.Umask, Nlink: 1})
	return 0, err
}

// openFIFO opens f, whose inode is a FIFO, and waits for the other end: the file exists
// meanwhile, without a descriptor, as the wait's Addr.
func (c *call) openFIFO(f *file, cloexec bool) (uint64, error) {
	p := -1
	for i := range c.s.pipes.rows {
		if x := c.s.pipes.get(i); x != nil && x.Node == f.Node {
			p = i
		}
	}
	nonblock := f.Flags&unix.O_NONBLOCK != 0
	if f.readable() == f.writable() { // both: Linux opens it without waiting
		nonblock = true
	} else if f.writable() && nonblock && (p < 0 || c.s.pipes.get(p).Readers == 0) {
		return 0, unix.ENXIO
	}
	if p < 0 {
		p = c.s.pipes.add(c.s.owner, &pipe{Node: f.Node})
	}
	f.Kind = filePipe
	e := c.s.pipe(p)
	f.Since = hadWriter
	if f.readable() {
		f.In = p
		if e.Writers == 0 {
			f.Since = uint64(e.Opened[1])
		}
		e.Readers++
		e.Opened[0]++
	}
	if f.writable() {
		f.Out = p
		e.Writers++
		e.Opened[1]++
	}
	if nonblock || f.In >= 0 && e.Writers > 0 || f.Out >= 0 && e.Readers > 0 {
		return c.open(f, cloexec)
	}
	f.Refs = 1
	i := c.s.files.add(c.s.owner, f)
	seen := e.Opened[0]
	if f.In >= 0 {
		seen = e.Opened[1]
	}
	return 0, blocked{Kind: waitFIFO, Addr: uint64(i), PID: seen, Restart: true}
}

// hadWriter is file.Since of a FIFO that had a writer when it was opened; otherwise it is how often
// the FIFO had been opened for writing, and as long as that stays there is no POLLHUP (pipe_poll in fs/pipe.c).
const hadWriter = ^uint64(0)

// metFIFO reports whether the other end of a FIFO has been opened since file i began to wait for it.
func (s *System) metFIFO(i, seen int) bool {
	f := s.files.get(i)
	if f.In >= 0 {
		return s.pipes.get(f.In).Opened[1] != seen
	}
	return s.pipes.get(f.Out).Opened[0] != seen
}

// openedFIFO gives the file that has waited in openFIFO its descriptor.
func (c *call) openedFIFO(i int, cloexec bool) (uint64, error) {
	fd, err := c.newFd(i, 0, cloexec)
	c.s.dropFile(i) // the reference of the wait
	return fd, err
}

// forgetWait undoes what t's call has begun, for it will not be made again.
func (s *System) forgetWait(t *Task) {
	if t.Wait.Kind == waitFIFO {
		s.dropFile(int(t.Wait.Addr))
	}
	t.Wait = wait{}
}

// pipeName is what /proc/self/fd shows for pipe i.
func (s *System) pipeName(i int) string {
	return fmt.Sprintf("pipe:[%d]", uint64(i)+s.cfg.World.Inodes)
}
