package kernel

import (
	"encoding/binary"
	"math"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// eventFile is an event counter, eventfd(2).
type eventFile struct{ plainKind }

func (eventFile) traits() trait { return literal | still }

func (eventFile) takes(_ *System, f *file) uint64 { return min(f.Count, 1) * 8 }

func (eventFile) stat(_ *System, f *file) stat { return nameless(f, 0o600) }

func (eventFile) ready(_ *System, f *file) (r uint32) {
	if f.Count > 0 {
		r |= unix.POLLIN
	}
	if f.Count < math.MaxUint64-1 {
		r |= unix.POLLOUT
	}
	return r
}

func (eventFile) activity(_ *System, f *file) int { return f.Wakes }

func (c *call) sysEventfd() (uint64, error) { return c.eventfd(0) }
func (c *call) sysEventfd2() (uint64, error) {
	return c.eventfd(int(c.a[1]))
}

func (c *call) eventfd(flags int) (uint64, error) {
	if flags&^(unix.EFD_CLOEXEC|unix.EFD_NONBLOCK|unix.EFD_SEMAPHORE) != 0 {
		return 0, unix.EINVAL
	}
	f := &file{Kind: fileEvent, Flags: unix.O_RDWR | flags&unix.O_NONBLOCK, Path: "anon_inode:[eventfd]",
		Count: c.a[0] & 0xffffffff, Sem: flags&unix.EFD_SEMAPHORE != 0}
	return c.open(f, flags&unix.EFD_CLOEXEC != 0)
}

func (eventFile) read(c *call, i int, f *file, _ int64, n int) (mem.Bytes, error) {
	switch {
	case n < 8:
		return mem.Bytes{}, unix.EINVAL
	case f.Count > 0:
		v := f.Count
		if f.Sem {
			v = 1
		}
		e := c.s.file(i)
		if e.Count == math.MaxUint64-1 {
			e.Wakes++
		}
		e.Count -= v
		return mem.Concrete(binary.LittleEndian.AppendUint64(nil, v)), nil
	case f.Flags&unix.O_NONBLOCK != 0:
		return mem.Bytes{}, unix.EAGAIN
	}
	return mem.Bytes{}, c.waitFile(i, unix.POLLIN)
}

func (eventFile) write(c *call, i int, f *file, _ int64, b mem.Bytes) (uint64, error) {
	if len(b.Data) < 8 {
		return 0, unix.EINVAL
	}
	v := binary.LittleEndian.Uint64(b.Data)
	switch {
	case v == math.MaxUint64:
		return 0, unix.EINVAL
	case f.counts(v):
		e := c.s.file(i)
		e.Count += v
		e.Wakes++
		return 8, nil
	case f.Flags&unix.O_NONBLOCK != 0:
		return 0, unix.EAGAIN
	}
	return 0, blocked{Kind: waitFiles, Fds: []waitFd{{i, unix.POLLOUT}}, Addr: v, Restart: true}
}

// counts reports whether f, an event counter, takes v more.
func (f *file) counts(v uint64) bool { return f.Count+v >= f.Count && f.Count+v < math.MaxUint64 }
