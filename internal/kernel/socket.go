package kernel

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/mem"
)

// Sockets of AF_UNIX, AF_INET and AF_INET6; nothing leaves the machine. A socket is a row
// of System.socks, which an open file (file.Sock) owns, or the queue of the socket it waits
// to be accepted from.
//
//	socket ──bind──▶ named ──listen──▶ listening
//	   │                │
//	   └────connect─────┴──▶ connected ──(TCP: the other end resets)──▶ reset, Err set
//
// Sending puts packets straight into the receiver's queue: the loopback loses and delays
// nothing. The buffer of a stream is accounted as Linux does for AF_UNIX, by what the packets
// take of kernel memory (socket.cost).

// sockState is where a socket is in the diagram above.
type sockState uint8

const (
	sockIdle sockState = iota // not connected
	sockListening
	sockConnected
	sockReset  // TCP: was connected; connect(2) is EISCONN
	sockFailed // TCP: was shut down before a refused connect(2) was told; connect(2) is EINVAL
)

// The directions of shutdown(2), as bits; shutBoth is what Linux calls SHUTDOWN_MASK.
const (
	shutRead  = 1
	shutWrite = 2
	shutBoth  = shutRead | shutWrite
)

// noSocket and deadSocket stand in socket.Other for no peer and for one that has been closed.
const (
	noSocket   = -1
	deadSocket = -2
)

// socket is one endpoint, socket(7).
type socket struct {
	Domain, Type, Proto int
	State               sockState
	Untold              bool // connect(2) was interrupted or not waited for: the next one tells the result
	Name, Peer          sockName
	Bound               bool // named by bind(2)
	AnyIP               bool // bind(2), if it was called, gave no address
	Node                int  // inode of a path name
	Other               int  // AF_UNIX and TCP: the socket at the other end
	In                  []packet
	Held, Cost          int   // bytes in In, and what they take of the sender's buffer
	Queue               []int // listening: connections not accepted yet, oldest first
	Backlog             int
	Shut                int
	Err                 unix.Errno // SO_ERROR
	Wakes               int        // see activity
	Opts                []optValue
	PeerCred            cred // SO_PEERCRED
}

// packet is a datagram, or what was sent into a stream at once. Packets are immutable.
type packet struct {
	Data   mem.Bytes
	From   sockName
	Cred   cred
	Rights []int // open files in flight, SCM_RIGHTS; each holds a reference
	Cost   int   // what it takes of its sender's buffer until its last byte is read
}

// cred is a struct ucred, unix(7). PID 0 is nobody.
type cred struct{ PID, UID, GID int }

// cost is what n bytes take of kernel memory (SKB_TRUESIZE, alloc_skb_with_frags): two headers, a
// slab for what stands right behind them, and for the rest pages or, where it is small, a part of one.
func (k *socket) cost(n int) int {
	head := 4*pageSize - skbShared
	if k.Type == unix.SOCK_STREAM {
		head = pageSize - skbShared
	}
	upTo := func(size int) int {
		slab := 512
		for slab < size {
			slab *= 2
		}
		return slab
	}
	rest := max(0, n-head)
	if rest > pageSize {
		rest = (rest + pageSize - 1) &^ (pageSize - 1)
	} else if rest > 0 {
		rest = upTo(rest)
	}
	return 256 + upTo(min(n, head)+skbShared) + rest
}

// skbShared is the size of struct skb_shared_info, in bytes.
const skbShared = 320

func (k *socket) clone() *socket {
	c := *k
	c.In, c.Queue, c.Opts = slices.Clone(k.In), slices.Clone(k.Queue), slices.Clone(k.Opts)
	return &c
}

func (k *socket) unix() bool { return k.Domain == unix.AF_UNIX }
func (k *socket) tcp() bool  { return k.Domain != unix.AF_UNIX && k.Type == unix.SOCK_STREAM }
func (k *socket) udp() bool  { return k.Domain != unix.AF_UNIX && k.Type == unix.SOCK_DGRAM }

// connects reports whether the socket is of a kind that listens and is connected to another.
func (k *socket) connects() bool { return k.Type != unix.SOCK_DGRAM }

// takeErr returns and clears SO_ERROR.
func (s *System) takeErr(i int) error {
	e := s.socks.get(i).Err
	if e == 0 {
		return nil
	}
	s.sock(i).Err = 0
	return e
}

// deliverTo puts a packet into the queue of socket i.
func (s *System) deliverTo(i int, p packet) {
	k := s.sock(i)
	p.Cost = k.cost(len(p.Data.Data))
	k.In = append(k.In, p)
	k.Wakes++
	k.Held += len(p.Data.Data)
	k.Cost += p.Cost
}

// advance takes n bytes off the first packet of socket i, or with whole all of it.
func (s *System) advance(i, n int, whole bool) {
	k := s.sock(i)
	p := k.In[0]
	if size := len(p.Data.Data); n < size && !whole {
		p.Data, p.Rights = p.Data.Slice(n, size), nil
		k.In[0] = p
		k.Held -= n
		return
	}
	o := s.socks.get(k.Other)
	full := o != nil && !s.sockWritable(o)
	k.Held -= len(p.Data.Data)
	k.Cost -= p.Cost
	k.In = k.In[1:]
	if o != nil && (full || k.unix()) && s.sockWritable(o) { // AF_UNIX tells of each freed packet, unix_write_space
		s.sock(k.Other).Wakes++
	}
}

// buffer is how much of k's sending buffer may be taken before it must wait.
func (k *socket) buffer() int {
	n, set := k.opt(unix.SOL_SOCKET, unix.SO_SNDBUF)
	switch {
	case set:
		return n
	case k.tcp():
		return tcpBuffer
	}
	return unixBuffer
}

// unixBuffer is net.core.wmem_default and tcpBuffer what tcp_wmem lets a stream on the loopback grow to, in bytes.
const (
	unixBuffer = 212992
	tcpBuffer  = 2626560
)

// sockWritable reports whether poll(2) says POLLOUT: unix_writable and unix_dgram_poll in
// net/unix/af_unix.c, sk_stream_is_writeable in include/net/sock.h.
func (s *System) sockWritable(k *socket) bool {
	o := s.socks.get(k.Other)
	switch {
	case k.Shut&shutWrite != 0 || o == nil || k.udp():
		return true
	case k.tcp():
		return 3*(k.buffer()-o.Held) >= k.buffer()
	case k.Type == unix.SOCK_DGRAM && s.dgramFull(k, o):
		return false
	}
	return 4*o.Cost <= k.buffer()
}

// maxDgrams is net.unix.max_dgram_qlen.
const maxDgrams = 10

// dgramFull reports whether o takes no more datagrams from k, which it is not connected to.
func (s *System) dgramFull(k, o *socket) bool {
	return o != k && s.socks.get(o.Other) != k && len(o.In) > maxDgrams
}

// socketFile is a socket with a descriptor. What is read goes by readTo, for it may come in several messages.
type socketFile struct{ plainKind }

func (socketFile) write(c *call, i int, f *file, _ int64, b mem.Bytes) (uint64, error) {
	return c.sendTo(i, f.Sock, message{Data: b})
}

func (socketFile) held(s *System, f *file) (int, error) {
	k := s.socks.get(f.Sock)
	switch {
	case k.State == sockListening:
		return 0, unix.EINVAL
	case k.Type == unix.SOCK_DGRAM && len(k.In) > 0:
		return len(k.In[0].Data.Data), nil
	}
	return k.Held, nil
}

func (socketFile) stat(s *System, f *file) stat { return s.ownNameless(f, unix.S_IFSOCK|0o777) }

func (socketFile) activity(s *System, f *file) int { return s.socks.get(f.Sock).Wakes }

func (socketFile) closed(s *System, f *file) { s.closeSocket(f.Sock, true) }

func (socketFile) sound(s *System, f *file) bool { return s.socks.get(f.Sock) != nil }

func (socketFile) ready(s *System, f *file) (r uint32) {
	k := s.socks.get(f.Sock)
	if k.State == sockListening {
		if len(k.Queue) > 0 {
			r = unix.POLLIN
		}
		if k.unix() && k.Shut&shutRead != 0 {
			r |= unix.POLLIN | unix.POLLRDHUP
		}
		if k.unix() && k.Shut == shutBoth {
			r |= unix.POLLHUP
		}
		return r
	}
	if k.Err != 0 {
		r |= unix.POLLERR
	}
	if k.Shut == shutBoth || k.connects() && k.State != sockConnected {
		r |= unix.POLLHUP
	}
	if k.Shut&shutRead != 0 {
		r |= unix.POLLIN | unix.POLLRDHUP
	}
	if len(k.In) > 0 && (!k.tcp() || k.Held >= k.option(unix.SOL_SOCKET, unix.SO_RCVLOWAT)) {
		r |= unix.POLLIN
	}
	if s.sockWritable(k) {
		r |= unix.POLLOUT
	}
	return r
}

// closeSocket ends socket i: its file is closed, or the socket that it waited to be accepted from.
func (s *System) closeSocket(i int, accepted bool) {
	k := s.socks.get(i)
	s.socks.del(i)
	s.forgetChannel("socket", i)
	for _, q := range k.Queue {
		s.closeSocket(q, false)
	}
	for j := range s.socks.rows {
		if o := s.socks.get(j); o != nil && o.Other == i {
			s.otherClosed(j, k, accepted)
		}
	}
	for _, p := range k.In {
		for _, f := range p.Rights {
			s.dropFile(f)
		}
	}
}

// purge throws away what socket i has not read.
func (s *System) purge(i int) {
	for len(s.socks.get(i).In) > 0 {
		p := s.socks.get(i).In[0]
		s.advance(i, 0, true)
		for _, f := range p.Rights {
			s.dropFile(f)
		}
	}
}

// otherClosed tells socket j that k, which it was connected to, is closed.
func (s *System) otherClosed(j int, k *socket, accepted bool) {
	o := s.sock(j)
	o.Other = deadSocket
	o.Wakes++
	reset := len(k.In) > 0 || !accepted || k.option(unix.SOL_SOCKET, unix.SO_LINGER) == 1<<32 // on, no time
	switch {
	case k.tcp() && reset:
		s.resetTCP(j, unix.ECONNRESET)
	case k.tcp():
		o.Shut |= shutRead
		s.finish(j)
	case k.connects():
		o.Shut, o.Peer = shutBoth, k.Name
		if len(k.In) > 0 || !accepted {
			o.Err = unix.ECONNRESET
		}
	}
}

// finish ends the connection of TCP socket i when both ends have said that they send no more.
func (s *System) finish(i int) {
	k := s.socks.get(i)
	if o := s.socks.get(k.Other); k.Shut&shutWrite != 0 && (o == nil || o.Shut&shutWrite != 0) {
		if o != nil {
			s.resetTCP(k.Other, 0)
		}
		s.resetTCP(i, 0)
	}
}

// resetTCP is tcp_reset in net/ipv4/tcp_input.c.
func (s *System) resetTCP(i int, err unix.Errno) {
	k := s.sock(i)
	k.State, k.Shut, k.Err, k.Other = sockReset, shutBoth, err, deadSocket
	k.Wakes++
}

func (s *System) rebaseSockets(eval func(expr.Ref) uint64) {
	for i := range s.socks.rows {
		k := s.socks.get(i)
		for j := 0; k != nil && j < len(k.In); j++ {
			if !k.In[j].Data.IsConcrete() {
				k = s.sock(i)
				k.In[j].Data = rebased(k.In[j].Data, eval)
			}
		}
	}
}

// socket returns the open file and the socket of a descriptor: their numbers, and a view for reading.
func (c *call) socket(fd int) (file, i int, k *socket, err error) {
	file, f, err := c.fd(fd)
	switch {
	case err != nil:
		return 0, 0, nil, err
	case f.Kind != fileSocket:
		return 0, 0, nil, unix.ENOTSOCK
	}
	return file, f.Sock, c.s.socks.get(f.Sock), nil
}

// openSocket is the open file of socket i, and whether its descriptor closes on execve.
func (c *call) openSocket(i int, flags int) (*file, bool) {
	name := fmt.Sprintf("socket:[%d]", 4096+uint64(i)+c.s.cfg.World.Inodes)
	return &file{Kind: fileSocket, Flags: unix.O_RDWR | flags&unix.SOCK_NONBLOCK, Path: name, In: -1, Out: -1, Sock: i}, flags&unix.SOCK_CLOEXEC != 0
}

// newSocket checks the arguments of socket(2).
func newSocket(domain, typ, proto int) (*socket, error) {
	k := &socket{Domain: domain, Type: typ & 0xf, Proto: proto, Other: noSocket}
	if typ&^(0xf|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC) != 0 || k.Type > unix.SOCK_PACKET {
		return nil, unix.EINVAL
	}
	switch domain {
	case unix.AF_UNIX:
		switch {
		case proto != 0 && proto != unix.AF_UNIX:
			return nil, unix.EPROTONOSUPPORT
		case k.Type == unix.SOCK_RAW: // unix_create, for BSD's sake
			k.Type = unix.SOCK_DGRAM
		case k.Type != unix.SOCK_STREAM && k.Type != unix.SOCK_DGRAM && k.Type != unix.SOCK_SEQPACKET:
			return nil, unix.ESOCKTNOSUPPORT
		}
		k.Proto = 0
	case unix.AF_INET, unix.AF_INET6:
		want := map[int]int{unix.SOCK_STREAM: unix.IPPROTO_TCP, unix.SOCK_DGRAM: unix.IPPROTO_UDP}[k.Type]
		switch {
		case proto < 0 || proto > 262: // IPPROTO_MAX
			return nil, unix.EINVAL
		case k.Type == unix.SOCK_RAW && proto == 0:
			return nil, unix.EPROTONOSUPPORT
		case k.Type == unix.SOCK_RAW:
			return nil, unix.EPERM
		case want == 0:
			return nil, unix.ESOCKTNOSUPPORT
		case proto != 0 && proto != want:
			return nil, unix.EPROTONOSUPPORT
		}
		k.Proto = want
	default:
		return nil, unix.EAFNOSUPPORT
	}
	return k, nil
}

func (c *call) sysSocket() (uint64, error) {
	k, err := newSocket(c.arg32(0), c.arg32(1), c.arg32(2))
	if err == unix.EAFNOSUPPORT && c.s.cfg.World.Beyond || err == unix.EPERM && c.s.refused() == nil {
		k, err = newSocket(unix.AF_UNIX, unix.SOCK_DGRAM, 0) // a kernel that knows the family, or one whose superuser asks
	}
	if err != nil {
		return 0, err
	}
	i := c.s.socks.add(c.s.owner, k)
	fd, err := c.open(c.openSocket(i, c.arg32(1)))
	if err != nil {
		c.s.socks.del(i)
	}
	return fd, err
}

func (c *call) sysSocketpair() (uint64, error) {
	if c.arg32(1)&^(0xf|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC) != 0 {
		return 0, unix.EINVAL
	}
	if err := c.promise(c.a[3]); err != nil {
		return 0, err
	}
	x, err := newSocket(c.arg32(0), c.arg32(1), c.arg32(2))
	switch {
	case err != nil:
		return 0, err
	case !x.unix():
		return 0, unix.EOPNOTSUPP
	}
	x.State, x.PeerCred = sockConnected, c.cred()
	y := x.clone()
	i, j := c.s.socks.add(c.s.owner, x), c.s.socks.add(c.s.owner, y)
	x.Other, y.Other = j, i
	a, cloexec := c.openSocket(i, c.arg32(1))
	b, _ := c.openSocket(j, c.arg32(1))
	return c.pair(a, b, cloexec, c.a[3], func() { c.s.socks.del(i); c.s.socks.del(j) })
}

// freePair are the two lowest free descriptors.
func (c *call) freePair() (free [2]int, err error) {
	free[0] = c.freeFd(0)
	if free[1] = c.freeFd(free[0] + 1); free[1] >= c.p.fdLimit() {
		err = unix.EMFILE
	}
	return free, err
}

// promise stores the two lowest free descriptors at addr: socketpair(2) does before it looks at what it is to make.
func (c *call) promise(addr uint64) error {
	free, err := c.freePair()
	if err != nil {
		return err
	}
	if err := c.put32(addr, uint32(free[0])); err != nil {
		return err
	}
	return c.put32(addr+4, uint32(free[1]))
}

func (c *call) cred() cred { return cred{c.p.PID, c.s.cfg.UID, c.s.cfg.GID} }

func (c *call) sysBind() (uint64, error) {
	_, i, k, err := c.socket(c.arg32(0))
	if err != nil {
		return 0, err
	}
	b, err := c.sockaddr(c.a[1], c.arg32(2))
	if err != nil {
		return 0, err
	}
	if k.unix() {
		return 0, c.bindUnix(i, b)
	}
	n, err := k.parse(b, true)
	if err != nil {
		return 0, err
	}
	if err := c.bindInet(i, n); err != nil {
		return 0, err
	}
	e := c.s.sock(i)
	e.Bound, e.AnyIP = true, n.IP.Unmap().IsUnspecified()
	return 0, nil
}

func (c *call) sysListen() (uint64, error) {
	_, i, k, err := c.socket(c.arg32(0))
	switch {
	case err != nil:
		return 0, err
	case !k.connects():
		return 0, unix.EOPNOTSUPP
	case k.unix() && k.Name.Path == "" || k.State != sockIdle && k.State != sockListening || k.Untold:
		return 0, unix.EINVAL
	}
	if !k.unix() {
		if err := c.autobind(i); err != nil {
			return 0, err
		}
	}
	if k.tcp() && k.State == sockIdle && c.s.nameTaken(i, k.Name) {
		return 0, unix.EADDRINUSE
	}
	e := c.s.sock(i)
	e.State, e.PeerCred = sockListening, c.cred()
	e.Backlog = min(int(uint32(c.arg32(1))), somaxconn)
	return 0, nil
}

// somaxconn is net.core.somaxconn, as procFixed says.
const somaxconn = 4096

func (c *call) sysAccept() (uint64, error)  { return c.accept(0) }
func (c *call) sysAccept4() (uint64, error) { return c.accept(c.arg32(3)) }

func (c *call) accept(flags int) (uint64, error) {
	_, _, err := c.fd(c.arg32(0))
	switch {
	case err != nil:
		return 0, err
	case flags&^(unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK) != 0:
		return 0, unix.EINVAL
	}
	file, i, k, err := c.socket(c.arg32(0))
	switch {
	case err != nil:
		return 0, err
	case !k.connects():
		return 0, unix.EOPNOTSUPP
	case k.State != sockListening:
		return 0, unix.EINVAL
	case len(k.Queue) == 0 && k.unix() && k.Shut&shutRead != 0:
		return 0, unix.EINVAL
	case len(k.Queue) == 0:
		return 0, c.waitSock(file, k, false, unix.POLLIN, 0)
	}
	j := k.Queue[0]
	name := c.s.socks.get(j).peerName(c.s)
	fd, err := c.open(c.openSocket(j, flags))
	if err != nil {
		return 0, err
	}
	e := c.s.sock(i)
	e.Queue = e.Queue[1:]
	if c.a[1] == 0 {
		return fd, nil
	}
	if err := c.putName(c.a[1], c.a[2], name); err != nil {
		c.s.closeFd(c.p, int(fd)) // the connection is lost
		return 0, err
	}
	return fd, nil
}

// waitSock blocks a call on a socket's file, or says that it would. dontWait is MSG_DONTWAIT;
// done counts the bytes that the call has moved.
func (c *call) waitSock(file int, k *socket, dontWait bool, events uint32, done int) error {
	limit := k.option(unix.SOL_SOCKET, waitOption(events&unix.POLLOUT != 0))
	if dontWait || c.s.files.get(file).Flags&unix.O_NONBLOCK != 0 || c.timedOut() {
		return unix.EAGAIN
	}
	b := blocked{Kind: waitFiles, Fds: []waitFd{{file, events | unix.POLLERR | unix.POLLHUP}}, Restart: limit == 0, Done: done}
	if limit != 0 {
		b.Deadline = c.deadline(Time(limit), false)
	}
	return b
}

func (c *call) sysConnect() (uint64, error) {
	if _, _, err := c.fd(c.arg32(0)); err != nil {
		return 0, err
	}
	b, err := c.sockaddr(c.a[1], c.arg32(2)) // before it matters whether that is a socket
	if err != nil {
		return 0, err
	}
	file, i, k, err := c.socket(c.arg32(0))
	if err != nil {
		return 0, err
	}
	switch {
	case k.unix() && k.connects():
		return 0, c.connectUnix(file, i, b)
	case len(b) < 2:
		return 0, unix.EINVAL
	case familyOf(b) == unix.AF_UNSPEC:
		return 0, c.disconnect(i)
	case k.tcp():
		return 0, c.connectTCP(file, i, b)
	case k.unix():
		o, err := c.findUnix(k, b)
		if err != nil {
			return 0, err
		}
		if p := c.s.socks.get(o).Other; p != noSocket && p != i {
			return 0, unix.EPERM
		}
		if k.Other != noSocket && k.Other != o {
			c.s.purge(i)
			if x := c.s.socks.get(k.Other); x != nil && x.Other == i && len(k.In) > 0 {
				c.s.sock(k.Other).Err = unix.ECONNRESET
			}
		}
		e := c.s.sock(i)
		e.Other, e.State = o, sockConnected
		return 0, nil
	}
	if err := c.autobind(i); err != nil {
		return 0, err
	}
	n, err := k.parse(b, false)
	if err != nil {
		return 0, err
	}
	if n, err = c.route(i, n); err != nil {
		return 0, err
	}
	e := c.s.sock(i)
	e.Peer, e.State = n, sockConnected
	return 0, nil
}

// route finds the way from socket i to n, and gives the socket an address on it.
func (c *call) route(i int, n sockName) (sockName, error) {
	n, err := c.s.route(c.s.socks.get(i), n)
	if err != nil {
		return n, err
	}
	if err := c.autobind(i); err != nil {
		return n, err
	}
	if e := c.s.sock(i); e.Name.IP.Unmap().IsUnspecified() {
		e.Name.IP = loopback(n)
	}
	return n, nil
}

// disconnect is connect(2) to AF_UNSPEC.
func (c *call) disconnect(i int) error {
	k := c.s.sock(i)
	if o := c.s.socks.get(k.Other); o != nil && k.tcp() {
		c.s.resetTCP(k.Other, unix.ECONNRESET)
	}
	for _, q := range k.Queue {
		c.s.closeSocket(q, false)
	}
	k.State, k.Other, k.Peer, k.Untold, k.Queue = sockIdle, noSocket, sockName{}, false, nil
	if k.tcp() {
		k.Shut = 0
	}
	switch {
	case k.unix():
	case !k.Bound && k.udp():
		k.Name = sockName{}
	case !k.Bound && k.Name.Family != 0 || k.AnyIP:
		k.Name.IP = k.anyName().IP
	}
	return nil
}

// connectTCP is __inet_stream_connect in net/ipv4/af_inet.c.
func (c *call) connectTCP(file, i int, b []byte) error {
	k := c.s.socks.get(i)
	switch {
	case k.Untold && k.State == sockConnected:
		c.s.sock(i).Untold = false
		return nil
	case k.Untold:
		e := c.s.sock(i)
		e.Untold, e.Shut = false, 0
		if err := c.s.takeErr(i); err != nil {
			return err
		}
		return unix.ECONNABORTED
	case k.State == sockFailed:
		return unix.EINVAL
	case k.State != sockIdle:
		return unix.EISCONN
	}
	n, err := k.parse(b, false)
	if err != nil {
		return err
	}
	if n, err = c.route(i, n); err != nil {
		return err
	}
	k = c.s.socks.get(i)
	e := c.s.sock(i)
	nonblock := c.s.files.get(file).Flags&unix.O_NONBLOCK != 0
	j, found := c.s.findInet(k, n)
	if !found && n == e.Name { // a socket can be connected to itself
		e.State, e.Peer, e.Shut, e.Other, e.Untold = sockConnected, n, 0, i, nonblock
		if nonblock {
			return unix.EINPROGRESS
		}
		return nil
	}
	if !found {
		if !nonblock {
			return unix.ECONNREFUSED
		}
		e.Untold, e.Err, e.Shut = true, unix.ECONNREFUSED, shutBoth
		return unix.EINPROGRESS
	}
	l := c.s.socks.get(j)
	a := &socket{Domain: l.Domain, Type: l.Type, Proto: l.Proto, State: sockConnected, Other: i, Opts: slices.Clone(l.Opts),
		Name: n.as(l.Domain), Peer: e.Name.as(l.Domain)}
	e.Other = c.s.socks.add(c.s.owner, a)
	e.State, e.Peer, e.Shut = sockConnected, n, 0
	q := c.s.sock(j)
	q.Queue = append(q.Queue, e.Other)
	q.Wakes++
	if nonblock {
		e.Untold = true
		return unix.EINPROGRESS
	}
	return nil
}

// connectUnix is unix_stream_connect in net/unix/af_unix.c.
func (c *call) connectUnix(file, i int, b []byte) error {
	k := c.s.socks.get(i)
	j, err := c.findUnix(k, b)
	if err != nil {
		return err
	}
	l := c.s.socks.get(j)
	switch {
	case l.State != sockListening || l.Shut&shutRead != 0:
		return unix.ECONNREFUSED
	case k.State == sockConnected:
		return unix.EISCONN
	case k.State == sockListening:
		return unix.EINVAL
	case len(l.Queue) > l.Backlog:
		if c.s.files.get(file).Flags&unix.O_NONBLOCK != 0 {
			return unix.EAGAIN
		}
		return blocked{Kind: waitSocket, Addr: uint64(j), Restart: true}
	}
	a := &socket{Domain: l.Domain, Type: l.Type, State: sockConnected, Other: i, Name: l.Name, Node: l.Node, PeerCred: c.cred()}
	e := c.s.sock(i)
	e.Other = c.s.socks.add(c.s.owner, a)
	e.State, e.PeerCred = sockConnected, l.PeerCred
	q := c.s.sock(j)
	q.Queue = append(q.Queue, e.Other)
	q.Wakes++
	return nil
}

// roomIn reports whether socket i takes another connection or datagram: what waitSocket waits for.
func (s *System) roomIn(i int) bool {
	k := s.socks.get(i)
	return k == nil || len(k.Queue) <= k.Backlog && len(k.In) <= maxDgrams
}

func (c *call) sysShutdown() (uint64, error) {
	_, i, k, err := c.socket(c.arg32(0))
	if err != nil {
		return 0, err
	}
	how := c.arg32(1) + 1
	if how < shutRead || how > shutBoth {
		return 0, unix.EINVAL
	}
	switch {
	case k.tcp() && k.State == sockListening:
		if how&shutRead != 0 {
			return 0, c.disconnect(i)
		}
		return 0, nil
	case !k.unix() && k.State != sockConnected:
		e := c.s.sock(i)
		if e.Shut |= how; e.Untold {
			e.State, e.Untold = sockFailed, false
		}
		return 0, unix.ENOTCONN
	}
	e := c.s.sock(i)
	e.Untold = false
	e.Shut |= how
	e.Wakes++
	if o := c.s.socks.get(k.Other); o != nil && k.connects() {
		other := 0
		if how&shutWrite != 0 {
			other |= shutRead
		}
		if how&shutRead != 0 && k.unix() { // TCP does not tell the other end
			other |= shutWrite
		}
		e := c.s.sock(k.Other)
		e.Shut |= other
		e.Wakes++
	}
	if k.tcp() {
		c.s.finish(i)
	}
	return 0, nil
}

func (c *call) sysGetsockname() (uint64, error) {
	_, _, k, err := c.socket(c.arg32(0))
	if err != nil {
		return 0, err
	}
	n := k.Name
	if n.Family == 0 {
		n = k.anyName()
	}
	return 0, c.putName(c.a[1], c.a[2], n)
}

func (c *call) sysGetpeername() (uint64, error) {
	_, _, k, err := c.socket(c.arg32(0))
	if err != nil {
		return 0, err
	}
	if k.State != sockConnected {
		return 0, unix.ENOTCONN
	}
	return 0, c.putName(c.a[1], c.a[2], k.peerName(c.s))
}

// peerName is the address of the other end. A name of AF_UNIX is the other socket's own.
func (k *socket) peerName(s *System) sockName {
	if !k.unix() {
		return k.Peer
	}
	if o := s.socks.get(k.Other); o != nil && o.Name.Family != 0 {
		return o.Name
	}
	if k.Peer.Family != 0 {
		return k.Peer
	}
	return k.anyName()
}
