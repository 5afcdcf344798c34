package kernel

import (
	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// stdinFile is the standard input of the first process: a pipe whose writer has written all of it and gone.
type stdinFile struct{ streamKind }

// outFile is captured standard output or error: a pipe that is always read.
type outFile struct {
	streamKind
	stream int
	name   string
}

type streamKind struct{ plainKind }

func (streamKind) stat(s *System, f *file) stat { return s.ownNameless(f, unix.S_IFIFO|0o600) }

func (stdinFile) traits() trait { return advances }

func (stdinFile) read(c *call, _ int, f *file, at int64, n int) (mem.Bytes, error) {
	in := c.s.stdin
	at = min(at, int64(len(in.Data)))
	return in.Slice(int(at), int(min(int64(len(in.Data)), at+int64(n)))), nil
}

func (stdinFile) takes(s *System, f *file) uint64 {
	return uint64(len(s.stdin.Data)) - min(uint64(f.Off), uint64(len(s.stdin.Data)))
}

func (stdinFile) held(s *System, f *file) (int, error) { return len(s.stdin.Data) - int(f.Off), nil }

func (stdinFile) ready(s *System, f *file) uint32 {
	if f.Off < int64(len(s.stdin.Data)) {
		return unix.POLLIN | unix.POLLHUP
	}
	return unix.POLLHUP
}

func (stdinFile) step(c *call, x fileCall) {
	c.s.order.write(c.t.strand, "standard input", c.step(x.name, "standard input"))
}

func (k outFile) write(c *call, _ int, f *file, _ int64, b mem.Bytes) (uint64, error) {
	return uint64(len(b.Data)), c.s.output(k.stream, b)
}

func (outFile) ready(*System, *file) uint32 { return unix.POLLOUT }

func (k outFile) step(c *call, x fileCall) {
	if x.writes {
		c.s.order.write(c.t.strand, k.name, c.step(x.name, k.name))
		c.s.order.shows(c.t.strand)
	}
}
