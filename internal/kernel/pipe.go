package kernel

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// pipeSize is a pipe's first capacity, maxPipe fs.pipe-max-size, and pipeAtomic the largest
// write that is not split, in bytes (pipe(7)).
const (
	pipeSize   = 65536
	maxPipe    = 1 << 20
	pipeAtomic = 4096
)

// pipe is a byte queue with its open ends counted. Buf is replaced, never changed in place.
type pipe struct {
	Buf              mem.Bytes
	Readers, Writers int    // open files
	Cap              int    // as F_SETPIPE_SZ set it; 0: pipeSize
	Wakes            [2]int // events for readers and for writers, see activity
	Node             int    // inode of a FIFO; 0: none
	Opened           [2]int // FIFO: how often for reading and for writing
}

//lint:ignore U1000 called through cloner
func (p *pipe) clone() *pipe { c := *p; return &c }

// size is the capacity in bytes.
func (p *pipe) size() int {
	if p.Cap == 0 {
		return pipeSize
	}
	return p.Cap
}

// setPipeSize is fcntl(F_SETPIPE_SZ): the capacity is a power of two of pages.
func (c *call) setPipeSize(i, n int) (uint64, error) {
	size := pageSize
	for size < n {
		size *= 2
	}
	switch {
	case n < 0:
		return 0, unix.EINVAL
	case size > maxPipe && size > c.s.pipes.get(i).size() && !c.s.super():
		return 0, unix.EPERM
	case size < len(c.s.pipes.get(i).Buf.Data):
		return 0, unix.EBUSY
	}
	c.s.pipe(i).Cap = size
	return uint64(size), nil
}

// pipeFile is an end of a pipe, or of a FIFO, maybe both.
type pipeFile struct{ plainKind }

func (pipeFile) takes(s *System, f *file) uint64 {
	if f.In < 0 {
		return 0
	}
	return uint64(len(s.pipes.get(f.In).Buf.Data))
}

func (pipeFile) held(s *System, f *file) (int, error) {
	return len(s.pipes.get(max(f.In, f.Out)).Buf.Data), nil
}

func (pipeFile) stat(s *System, f *file) stat {
	if f.Node != 0 {
		return s.nodeStat(f.Node)
	}
	return s.ownNameless(f, unix.S_IFIFO|0o600)
}

func (pipeFile) ready(s *System, f *file) (r uint32) {
	if f.In >= 0 {
		p := s.pipes.get(f.In)
		if len(p.Buf.Data) > 0 {
			r |= unix.POLLIN
		}
		if p.Writers == 0 && (p.Node == 0 || f.Since != uint64(p.Opened[1])) {
			r |= unix.POLLHUP
		}
	}
	if f.Out >= 0 {
		p := s.pipes.get(f.Out)
		if len(p.Buf.Data) <= p.size()-pipeAtomic {
			r |= unix.POLLOUT
		}
		if p.Readers == 0 {
			r |= unix.POLLERR
		}
	}
	return r
}

func (pipeFile) activity(s *System, f *file) (n int) {
	if f.In >= 0 {
		n = s.pipes.get(f.In).Wakes[0]
	}
	if f.Out >= 0 {
		n += s.pipes.get(f.Out).Wakes[1]
	}
	return n
}

func (pipeFile) closed(s *System, f *file) {
	if f.In >= 0 {
		s.pipe(f.In).Readers--
		s.pipe(f.In).Wakes[1]++
		s.dropPipe(f.In)
	}
	if f.Out >= 0 {
		s.pipe(f.Out).Writers--
		s.pipe(f.Out).Wakes[0]++
		s.dropPipe(f.Out)
	}
}

func (pipeFile) sound(s *System, f *file) bool {
	return (f.In == -1 || s.pipes.get(f.In) != nil) && (f.Out == -1 || s.pipes.get(f.Out) != nil)
}

func (s *System) dropPipe(i int) {
	if p := s.pipes.get(i); p.Readers == 0 && p.Writers == 0 {
		s.pipes.del(i)
		s.forgetChannel("pipe", i)
	}
}

func (c *call) sysPipe() (uint64, error)  { return c.pipe2(0) }
func (c *call) sysPipe2() (uint64, error) { return c.pipe2(int(c.a[1])) }

func (c *call) pipe2(flags int) (uint64, error) {
	if flags&^(unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_DIRECT) != 0 {
		return 0, unix.EINVAL
	}
	if _, err := c.freePair(); err != nil {
		return 0, err
	}
	if err := c.room(c.a[0], 8); err != nil {
		return 0, err
	}
	i := c.s.pipes.add(c.s.owner, &pipe{Readers: 1, Writers: 1})
	name := c.s.pipeName(16 + i)
	status := flags & unix.O_NONBLOCK
	a := &file{Kind: filePipe, Flags: unix.O_RDONLY | status, Path: name, In: i, Out: -1}
	b := &file{Kind: filePipe, Flags: unix.O_WRONLY | status | flags&unix.O_DIRECT, Path: name, In: -1, Out: i}
	return c.pair(a, b, flags&unix.O_CLOEXEC != 0, c.a[0], func() { c.s.pipes.del(i) })
}

// pair opens two files and stores their descriptors at addr; undo runs on failure.
func (c *call) pair(a, b *file, cloexec bool, addr uint64, undo func()) (uint64, error) {
	fa, err := c.open(a, cloexec)
	if err != nil {
		undo()
		return 0, err
	}
	fb, err := c.open(b, cloexec)
	if err != nil {
		c.s.files.del(c.p.Fds[fa].File)
		c.p.Fds[fa] = fdEntry{File: -1}
		undo()
		return 0, err
	}
	var m [8]byte
	binary.LittleEndian.PutUint32(m[:], uint32(fa))
	binary.LittleEndian.PutUint32(m[4:], uint32(fb))
	return 0, c.put(addr, m[:])
}

func (pipeFile) read(c *call, i int, f *file, _ int64, n int) (mem.Bytes, error) {
	if f.In < 0 {
		return mem.Bytes{}, unix.EBADF
	}
	p := c.s.pipes.get(f.In)
	have := len(p.Buf.Data)
	switch {
	case n == 0:
		return mem.Bytes{}, nil
	case have > 0:
		k := min(n, have)
		b := p.Buf.Slice(0, k)
		e := c.s.pipe(f.In)
		if e.Buf = p.Buf.Slice(k, have); have == e.size() {
			e.Wakes[1]++
			if k < have {
				e.Wakes[0]++
			}
		}
		return b, nil
	case p.Writers == 0:
		return mem.Bytes{}, nil
	case f.Flags&unix.O_NONBLOCK != 0:
		return mem.Bytes{}, unix.EAGAIN
	}
	return mem.Bytes{}, c.waitFile(i, unix.POLLIN)
}

// brokenPipe is what becomes of a task that writes to a pipe which nobody reads.
func (c *call) brokenPipe() error {
	c.s.post(c.t, nil, siginfo{Sig: int(unix.SIGPIPE), PID: c.p.PID})
	return unix.EPIPE
}

func (pipeFile) write(c *call, i int, f *file, _ int64, b mem.Bytes) (uint64, error) {
	if f.Out < 0 {
		return 0, unix.EBADF
	}
	p := c.s.pipes.get(f.Out)
	n, done, free := len(b.Data), c.was.Done, p.size()-len(p.Buf.Data)
	if n == 0 {
		return 0, nil
	}
	if p.Readers == 0 {
		err := c.brokenPipe()
		if done > 0 {
			return uint64(done), nil
		}
		return 0, err
	}
	if n > pipeAtomic || free >= n {
		k := min(n-done, free)
		e := c.s.pipe(f.Out)
		e.Buf = join(p.Buf, b.Slice(done, done+k))
		e.Wakes[0]++
		if done += k; done == n {
			return uint64(n), nil
		}
	}
	if f.Flags&unix.O_NONBLOCK == 0 {
		return 0, blocked{Kind: waitFiles, Fds: []waitFd{{i, unix.POLLOUT | unix.POLLERR}}, Restart: true, Done: done}
	}
	if done == 0 {
		return 0, unix.EAGAIN
	}
	return uint64(done), nil
}
