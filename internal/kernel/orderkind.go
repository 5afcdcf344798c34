package kernel

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// orderedKind is what the order of tasks asks of a kind. A channel (pipe, socket, event counter) moves bytes, or units, from who sends to who receives.
type orderedKind interface {
	// channel is the key of what is received from f, or sent through it, and its name; "" if f is no channel.
	channel(s *System, i int, f *file, sends bool) (key, name string)
	// left is how much the channel still has, and whether messages are taken as a whole.
	left(s *System, f *file) (n int, whole bool)
	// roomy: there would be room for n bytes more.
	roomy(s *System, f *file, n int) bool
	// shut notes that strand k closes one descriptor of f; site is where.
	shut(s *System, f *file, last bool, k int, site func(what string) site)
	// step notes a call on f.
	step(c *call, x fileCall)
}

// fileCall is a call on open file i, and how it ended.
type fileCall struct {
	name          string
	i             int
	f             *file
	v             uint64
	err           error
	reads, writes bool
	nonblock      bool // it would not have waited, or only for a time
}

// unordered is a kind whose files nobody else sees.
type unordered struct{}

func (unordered) channel(*System, int, *file, bool) (key, name string) { return "", "" }

func (unordered) left(*System, *file) (n int, whole bool) { return 0, false }

func (unordered) roomy(*System, *file, int) bool { return true }

func (unordered) shut(*System, *file, bool, int, func(string) site) {}

func (unordered) step(*call, fileCall) {}

func (pipeFile) channel(_ *System, _ int, f *file, sends bool) (key, name string) {
	n := f.In
	if sends || n < 0 {
		n = f.Out
	}
	return fmt.Sprintf("pipe %d", n), "a pipe"
}

func (socketFile) channel(s *System, _ int, f *file, sends bool) (key, name string) {
	n := f.Sock
	if k := s.socks.get(n); sends && k != nil && k.Other >= 0 {
		n = k.Other
	}
	return fmt.Sprintf("socket %d", n), "a socket"
}

func (eventFile) channel(_ *System, i int, _ *file, _ bool) (key, name string) {
	return fmt.Sprintf("event %d", i), "an event counter"
}

func (pipeFile) left(s *System, f *file) (n int, whole bool) {
	if p := s.pipes.get(f.In); p != nil {
		return len(p.Buf.Data), false
	}
	return 0, false
}

func (socketFile) left(s *System, f *file) (n int, whole bool) {
	if x := s.socks.get(f.Sock); x != nil {
		return x.Held, x.Type != unix.SOCK_STREAM
	}
	return 0, false
}

func (eventFile) left(_ *System, f *file) (n int, whole bool) { return units(f.Count), false }

// units is how much n, of an event counter, counts for: more than that makes no difference.
func units(n uint64) int { return int(min(n, 1<<40)) }

func (pipeFile) roomy(s *System, f *file, n int) bool {
	p := s.pipes.get(max(f.In, f.Out))
	return p != nil && len(p.Buf.Data)+n <= p.size()
}

func (socketFile) roomy(s *System, f *file, n int) bool {
	const most = 1024 // of the sender's buffer that a byte can take: it may be a packet
	x := s.socks.get(f.Sock)
	o := s.socks.get(x.Other)
	return x.Other < 0 || o != nil && o.Cost+n*most <= x.buffer()
}

func (pipeFile) shut(s *System, f *file, last bool, k int, site func(string) site) {
	if f.Out >= 0 {
		s.order.closed(k, fmt.Sprintf("pipe %d", f.Out), site("a pipe"))
	}
	if f.In >= 0 {
		s.order.dropped(k, fmt.Sprintf("pipe %d", f.In), last, site("a pipe"))
	}
}

func (socketFile) shut(s *System, f *file, last bool, k int, site func(string) site) {
	x, w := s.socks.get(f.Sock), site("a socket")
	if x != nil && x.State == sockListening && last {
		s.order.peek(k, "connections", w)
	}
	if x != nil && x.Other >= 0 {
		s.order.closed(k, fmt.Sprintf("socket %d", x.Other), w)
	}
	s.order.dropped(k, fmt.Sprintf("socket %d", f.Sock), last, w)
}

// fileStep notes a call on open file i.
func (c *call) fileStep(name string, i int, v uint64, err error) {
	s, o, k := c.s, c.s.order, c.t.strand
	f := s.files.get(i)
	if f == nil {
		return
	}
	if name == "sendfile" || name == "splice" || name == "copy_file_range" {
		c.anything(name)
		return
	}
	own := name == "recvfrom" || name == "recvmsg" || name == "sendto" || name == "sendmsg" // flags
	x := fileCall{
		name: name, i: i, f: f, v: v, err: err,
		reads:    strings.HasPrefix(name, "read") || strings.HasPrefix(name, "pread") || strings.HasPrefix(name, "recv"),
		writes:   strings.Contains(name, "write") || strings.HasPrefix(name, "send"),
		nonblock: f.Flags&unix.O_NONBLOCK != 0 || own && c.socketFlags(name)&unix.MSG_DONTWAIT != 0,
	}
	if k := s.socks.get(f.Sock); f.Kind == fileSocket && k != nil {
		x.nonblock = x.nonblock || k.option(unix.SOL_SOCKET, waitOption(x.writes)) != 0
	}
	if f.Refs > 1 || !s.lone() {
		o.read(k, fmt.Sprintf("flags %d", i), c.step(name, "an open file"))
		if f.Kind == fileSocket {
			c.socketState(name, f.Sock)
		}
	}
	if name == "ioctl" && c.a[1] == 0x5421 { // FIONBIO
		o.write(k, fmt.Sprintf("flags %d", i), c.step(name, "an open file"))
	}
	f.kind().step(c, x)
}

// waitOption is the option of a socket that says how long it waits.
func waitOption(writes bool) int {
	if writes {
		return unix.SO_SNDTIMEO
	}
	return unix.SO_RCVTIMEO
}

func (pipeFile) step(c *call, x fileCall) { c.channelStep(x) }

func (eventFile) step(c *call, x fileCall) {
	key, object := x.f.kind().channel(c.s, x.i, x.f, x.writes)
	o, w := c.s.order, c.step(x.name, object)
	switch {
	case x.err != nil:
		c.channelStep(x)
	case x.reads && !x.f.Sem:
		n, _ := c.p.Mem.ReadU(c.a[1], 8)
		o.drain(c.t.strand, key, o.unaccounted(key, n), !x.nonblock, w)
	case x.reads:
		left, whole := c.s.left(x.i)
		o.receive(c.t.strand, key, 1, 1, left, !x.nonblock, whole, w)
	case x.writes:
		n, _ := c.p.Mem.ReadU(c.a[1], 8)
		c.sent(x, key, units(n), w)
	default:
		c.channelStep(x)
	}
}

func (socketFile) step(c *call, x fileCall) {
	o, k, w := c.s.order, c.t.strand, c.step(x.name, "a socket")
	own := c.s.socks.get(x.f.Sock)
	switch {
	case x.name == "connect":
		o.send(k, "connections", 0, w)
	case (x.name == "accept" || x.name == "accept4") && x.err == nil:
		o.accepted(k, !x.nonblock, w)
	case x.name == "accept" || x.name == "accept4":
		o.peek(k, "connections", w)
	case x.name == "bind" || x.name == "listen":
		o.peek(k, "connections", w)
		o.write(k, "addresses", w)
	case (x.reads || x.writes) && (own == nil || own.Other < 0):
		o.write(k, "datagrams", w)
	default:
		c.channelStep(x)
	}
}

// channelStep notes a call on a channel.
func (c *call) channelStep(x fileCall) {
	o, k := c.s.order, c.t.strand
	key, object := x.f.kind().channel(c.s, x.i, x.f, x.writes)
	w := c.step(x.name, object)
	switch {
	case x.reads:
		c.received(x, key, w)
	case x.writes && x.err == unix.EAGAIN:
		o.peek(k, key, w)
	case x.writes && x.err == nil:
		c.sent(x, key, int(x.v), w)
	case x.writes:
		o.refused(k, key, w)
	case x.name == "shutdown":
		other, _ := c.s.channel(x.i, true)
		if c.arg32(1) != unix.SHUT_WR {
			o.upset(k, key, w)
			o.upset(k, other, w)
		}
		o.closed(k, other, w)
	case x.name == "getsockopt" && c.arg32(1) == unix.SOL_SOCKET && c.arg32(2) == unix.SO_ERROR, x.name == "setsockopt", x.name == "ioctl":
		o.peek(k, key, w)
		if other, _ := c.s.channel(x.i, true); other != key && x.name == "ioctl" { // how much of it is on its way
			o.peek(k, other, w)
		}
	}
}

// received notes what a call has received from a channel.
func (c *call) received(x fileCall, key string, w site) {
	o, k, n := c.s.order, c.t.strand, int(x.v)
	switch {
	case x.err == unix.EAGAIN,
		strings.HasPrefix(x.name, "recv") && c.socketFlags(x.name)&unix.MSG_PEEK != 0,
		x.err == nil && n == 0 && c.nothing(x.i): // that was asked for nothing
		o.peek(k, key, w)
	case x.err == nil:
		left, whole := c.s.left(x.i)
		o.receive(k, key, n, c.asked(x.name), left, !x.nonblock, whole, w)
	}
}

// sent notes that a call has sent n bytes, or units, through a channel.
func (c *call) sent(x fileCall, key string, n int, w site) {
	o, k, asked := c.s.order, c.t.strand, c.asked(x.name)
	if n -= c.was.Done; x.nonblock && (n < asked && asked < 1<<40 || !c.s.roomy(x.i, key, 0)) {
		o.peek(k, key, w)
	}
	o.send(k, key, n, w)
}

// fileOrder is the step of files and directories that have names.
type fileOrder struct{}

func (fileOrder) step(c *call, x fileCall) {
	s, o, k, f := c.s, c.s.order, c.t.strand, x.f
	if c.proc(x.name, f.Path); x.writes || x.name == "ftruncate" || x.name == "fallocate" {
		c.thing(x.name, "limits", c.p.PID, false)
	}
	w := c.step(x.name, f.Path)
	if n := s.nodes.get(f.Node); f.Node != 0 && n != nil && n.Obj != 0 && (x.reads || x.writes) && x.err == nil {
		off := uint64(f.Off) - x.v
		if strings.HasPrefix(x.name, "p") {
			off = c.a[3]
		}
		s.objectAccess(n.Obj+off, x.v, x.writes, w)
	}
	offset := fmt.Sprintf("offset %d", x.i)
	switch x.name {
	case "read", "readv", "lseek":
		c.file(f.Path, f.Node, false, w)
		o.write(k, offset, w)
	case "write", "writev":
		c.file(f.Path, f.Node, true, w)
		o.write(k, offset, w)
	case "getdents64":
		o.read(k, "folder "+f.Path, w)
		o.write(k, offset, w)
	case "pread64", "preadv", "fstat", "fgetxattr", "flistxattr", "ioctl":
		c.file(f.Path, f.Node, false, w)
		if f.Kind == fileDir {
			o.read(k, "folder "+f.Path, w)
		}
		if x.name == "ioctl" { // how much is left
			o.read(k, offset, w)
		}
	default:
		c.file(f.Path, f.Node, true, w)
		if x.name == "ftruncate" || x.name == "fallocate" {
			s.cuts(f.Node, w)
		}
	}
}

// channel is orderedKind's of open file i.
func (s *System) channel(i int, sends bool) (key, name string) {
	if f := s.files.get(i); f != nil {
		return f.kind().channel(s, i, f, sends)
	}
	return "", ""
}

// left is orderedKind's of open file i.
func (s *System) left(i int) (n int, whole bool) {
	f := s.files.get(i)
	return f.kind().left(s, f)
}

// roomy: the channel that open file i writes to would have room for what it has, and n bytes more, even if nobody had read since the order began.
func (s *System) roomy(i int, key string, n int) bool {
	if x := s.order.objects[key]; x != nil {
		n += x.taken
	}
	f := s.files.get(i)
	return f.kind().roomy(s, f, n)
}
