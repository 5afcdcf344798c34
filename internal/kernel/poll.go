package kernel

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// waitFd is a file and the poll(2) events a task waits for.
type waitFd struct {
	File   int
	Events uint32
}

// epollWatch is one registration, epoll_ctl(2).
type epollWatch struct {
	Fd, File int
	Events   uint32
	Data     uint64
	Off      bool // EPOLLONESHOT fired
	Told     int  // EPOLLET: what activity was, and one, when it was last told
}

// epollFile is an epoll instance, epoll(7).
type epollFile struct{ plainKind }

func (epollFile) traits() trait { return opaque | still }

func (epollFile) stat(_ *System, f *file) stat { return nameless(f, 0o600) }

func (epollFile) ready(s *System, f *file) uint32 {
	if slices.ContainsFunc(f.Watch, func(w epollWatch) bool { return s.fires(w) != 0 }) {
		return unix.POLLIN
	}
	return 0
}

// waitFile blocks until file i has one of the events.
func (c *call) waitFile(i int, events uint32) error {
	return blocked{Kind: waitFiles, Fds: []waitFd{{i, events | unix.POLLERR | unix.POLLHUP}}, Restart: true}
}

// ready returns the poll(2) events that file i has now.
func (s *System) ready(i int) uint32 {
	r := s.readiness(i)
	if f := s.files.get(i); f == nil || f.Kind == fileEvent { // which knows no priorities
		return r
	}
	const readNormal, writeNormal = 0x40, 0x100 // POLLRDNORM, POLLWRNORM
	if r&unix.POLLIN != 0 {
		r |= readNormal
	}
	if r&unix.POLLOUT != 0 {
		r |= writeNormal
	}
	return r
}

// readiness is ready without the events of normal data.
func (s *System) readiness(i int) uint32 {
	f := s.files.get(i)
	if s.calling {
		s.polled = append(s.polled, i)
	}
	if f == nil {
		return unix.POLLNVAL
	}
	return f.kind().ready(s, f)
}

// fires returns the events that watch w has to tell.
func (s *System) fires(w epollWatch) uint32 {
	if s.calling {
		s.polled = append(s.polled, w.File)
	}
	if w.Off || w.Events&unix.EPOLLET != 0 && w.Told == 1+s.activity(w.File) {
		return 0
	}
	return s.ready(w.File) & (w.Events | unix.POLLERR | unix.POLLHUP)
}

// activity counts what happened to file i that would wake a task which polls it.
func (s *System) activity(i int) int {
	f := s.files.get(i)
	return f.kind().activity(s, f)
}

// deadline turns a relative timeout into the deadline of this call, which a
// retry keeps. ok is false for an infinite one.
func (c *call) deadline(d Time, forever bool) Time {
	if c.was.Kind != waitNone {
		return c.was.Deadline
	}
	if forever {
		return 0
	}
	return c.s.Now() + max(d, 1)
}

// timedOut reports whether this attempt comes after the deadline.
func (c *call) timedOut() bool {
	return c.was.Deadline != 0 && c.s.Now() >= c.was.Deadline
}

func (c *call) sysPoll() (uint64, error) {
	ms := c.arg32(2)
	return c.poll(Time(max(ms, 0))*1e6, ms < 0)
}

func (c *call) sysPpoll() (uint64, error) {
	d, forever, err := c.timeout(c.a[2])
	if err != nil {
		return 0, err
	}
	return c.masked(c.a[3], func() (uint64, error) {
		n, err := c.poll(d, forever)
		return n, c.left(c.a[2], 1, d, err)
	})
}

func (c *call) poll(d Time, forever bool) (uint64, error) {
	n := c.a[1]
	if n > uint64(c.p.fdLimit()) {
		return 0, unix.EINVAL
	}
	b, err := c.bytes(c.a[0], 8*n)
	if err != nil {
		return 0, err
	}
	if err := c.room(c.a[0], 8*n); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	count := uint64(0)
	var fds []waitFd
	for ; len(b) > 0; b = b[8:] {
		fd, events := int(int32(le.Uint32(b))), uint32(le.Uint16(b[4:]))
		var r uint32
		if fd >= 0 {
			if i, _, err := c.fd(fd); err != nil {
				r = unix.POLLNVAL
			} else {
				r = c.s.ready(i) & (events | unix.POLLERR | unix.POLLHUP)
				fds = append(fds, waitFd{i, events | unix.POLLERR | unix.POLLHUP})
			}
		}
		if r != 0 {
			count++
		}
		if err := c.put(c.a[0]+8*n-uint64(len(b))+6, []byte{byte(r), byte(r >> 8)}); err != nil {
			return 0, err
		}
	}
	if count > 0 || c.timedOut() || d == 0 && !forever {
		return count, nil
	}
	return 0, blocked{Kind: waitFiles, Fds: fds, Deadline: c.deadline(d, forever)}
}

func (c *call) sysSelect() (uint64, error) {
	d, forever := Time(0), c.a[4] == 0
	if !forever {
		w, err := c.words(c.a[4], 2)
		if err != nil {
			return 0, err
		}
		if int64(w[0]) < 0 || int64(w[1]) < 0 {
			return 0, unix.EINVAL
		}
		d = seconds(w[0]) + Time(w[1])*1e3
	}
	n, err := c.selectFds(d, forever)
	return n, c.left(c.a[4], 1e3, d, err)
}

// left stores what is left of a timeout of d when the call that returns err ends (poll_select_finish in fs/select.c), in seconds and units
// of so many nanoseconds. Memory that cannot be written is left alone.
func (c *call) left(addr uint64, unit, d Time, err error) error {
	if _, ends := err.(unix.Errno); addr == 0 || err != nil && !ends {
		return err
	}
	if at := c.was.Deadline; c.was.Kind != waitNone {
		d = at - min(at, c.s.Now())
	}
	_ = c.put64(addr, uint64(d/1e9), uint64(d%1e9/unit))
	return err
}

func (c *call) sysPselect6() (uint64, error) {
	d, forever, err := c.timeout(c.a[4])
	if err != nil {
		return 0, err
	}
	mask := uint64(0)
	if c.a[5] != 0 {
		if mask, err = c.u64(c.a[5]); err != nil {
			return 0, err
		}
	}
	return c.masked(mask, func() (uint64, error) {
		n, err := c.selectFds(d, forever)
		return n, c.left(c.a[4], 1, d, err)
	})
}

func (c *call) selectFds(d Time, forever bool) (uint64, error) {
	n := c.arg32(0)
	if n < 0 {
		return 0, unix.EINVAL
	}
	n = min(n, max(softFds, len(c.p.Fds)))
	size := uint64(n+63) / 64 * 8
	want := [3]uint32{unix.POLLIN | unix.POLLHUP | unix.POLLERR, unix.POLLOUT | unix.POLLERR, unix.POLLPRI}
	var sets, out [3][]byte
	for k := range sets {
		if addr := c.a[1+k]; addr != 0 {
			var err error
			if sets[k], err = c.bytes(addr, size); err != nil {
				return 0, err
			}
			if err := c.room(addr, size); err != nil {
				return 0, err
			}
			out[k] = make([]byte, size)
		}
	}
	count := uint64(0)
	var fds []waitFd
	for fd := range n {
		for k, set := range sets {
			if set == nil || set[fd/8]>>(fd%8)&1 == 0 {
				continue
			}
			i, f, err := c.anyFd(fd)
			if err != nil {
				return 0, err
			}
			fds = append(fds, waitFd{i, want[k]})
			if f.Kind == filePath || c.s.ready(i)&want[k] != 0 { // what cannot be polled is ready for all (POLLNVAL)
				out[k][fd/8] |= 1 << (fd % 8)
				count++
			}
		}
	}
	if count == 0 && !c.timedOut() && (d > 0 || forever) {
		return 0, blocked{Kind: waitFiles, Fds: fds, Deadline: c.deadline(d, forever)}
	}
	for k := range out {
		if out[k] != nil {
			if err := c.put(c.a[1+k], out[k]); err != nil {
				return 0, err
			}
		}
	}
	return count, nil
}

func (c *call) sysEpollCreate() (uint64, error) {
	if c.arg32(0) <= 0 {
		return 0, unix.EINVAL
	}
	return c.open(&file{Kind: fileEpoll, Flags: unix.O_RDWR, Path: "anon_inode:[eventpoll]"}, false)
}

func (c *call) sysEpollCreate1() (uint64, error) {
	if c.a[0]&^unix.EPOLL_CLOEXEC != 0 {
		return 0, unix.EINVAL
	}
	return c.open(&file{Kind: fileEpoll, Flags: unix.O_RDWR, Path: "anon_inode:[eventpoll]"}, c.a[0] != 0)
}

func (c *call) sysEpollCtl() (uint64, error) {
	w := epollWatch{Fd: c.arg32(2)}
	if c.a[1] != unix.EPOLL_CTL_DEL {
		b, err := c.bytes(c.a[3], 12) // struct epoll_event is packed
		if err != nil {
			return 0, err
		}
		w.Events, w.Data = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[4:])
	}
	ep, e, err := c.fd(c.arg32(0))
	if err != nil {
		return 0, err
	}
	fd := c.arg32(2)
	i, f, err := c.fd(fd)
	if err != nil {
		return 0, err
	}
	if f.has(seeks) {
		return 0, unix.EPERM
	}
	if e.Kind != fileEpoll || ep == i {
		return 0, unix.EINVAL
	}
	if f.Kind == fileEpoll {
		return 0, unsupported("nested epoll")
	}
	w.File = i
	at := slices.IndexFunc(e.Watch, func(x epollWatch) bool { return x.Fd == fd && x.File == i })
	g := c.s.file(ep)
	switch c.a[1] {
	case unix.EPOLL_CTL_ADD:
		if at >= 0 {
			return 0, unix.EEXIST
		}
		g.Watch = append(g.Watch, w)
		slices.SortStableFunc(g.Watch, func(a, b epollWatch) int { return a.Fd - b.Fd })
	case unix.EPOLL_CTL_MOD:
		if at < 0 {
			return 0, unix.ENOENT
		}
		g.Watch[at] = w
	case unix.EPOLL_CTL_DEL:
		if at < 0 {
			return 0, unix.ENOENT
		}
		g.Watch = slices.Delete(g.Watch, at, at+1)
	default:
		return 0, unix.EINVAL
	}
	return 0, nil
}

// unwatch makes epoll instance ep forget file i.
func (s *System) unwatch(ep, i int) {
	if slices.ContainsFunc(s.files.get(ep).Watch, func(w epollWatch) bool { return w.File == i }) {
		g := s.file(ep)
		g.Watch = slices.DeleteFunc(g.Watch, func(w epollWatch) bool { return w.File == i })
	}
}

func (c *call) sysEpollPwait() (uint64, error) {
	return c.masked(c.a[4], c.sysEpollWait)
}

func (c *call) sysEpollWait() (uint64, error) {
	ep, e, err := c.fd(c.arg32(0))
	if err != nil {
		return 0, err
	}
	n := c.arg32(2)
	if e.Kind != fileEpoll || n <= 0 {
		return 0, unix.EINVAL
	}
	if err := c.room(c.a[1], 12*uint64(min(n, len(e.Watch)))); err != nil {
		return 0, err
	}
	var out []byte
	count := 0
	for k, w := range e.Watch {
		r := c.s.fires(w)
		if r == 0 || count == n {
			continue
		}
		count++
		out = binary.LittleEndian.AppendUint32(out, r)
		out = binary.LittleEndian.AppendUint64(out, w.Data)
		if w.Events&unix.EPOLLONESHOT != 0 {
			c.s.file(ep).Watch[k].Off = true
		}
		if w.Events&unix.EPOLLET != 0 {
			c.s.file(ep).Watch[k].Told = 1 + c.s.activity(w.File)
		}
	}
	ms := c.arg32(3)
	if count > 0 || ms == 0 || c.timedOut() {
		return uint64(count), c.put(c.a[1], out)
	}
	return 0, blocked{Kind: waitFiles, Fds: []waitFd{{ep, unix.POLLIN}}, Deadline: c.deadline(Time(max(ms, 0))*1e6, ms < 0)}
}
