package kernel

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/mem"
)

// Sending and receiving on sockets, and the control messages that go along (cmsg(3)).

// message is what one call sends, or what it has received.
type message struct {
	Data   mem.Bytes // to send
	Bad    bool      // what is to be sent cannot be read: EFAULT where it would be copied
	Dest   []byte    // address argument; empty: none
	Flags  int       // MSG_*
	Rights []int
	Cred   cred
	From   sockName // received
}

// sendTo sends a message on socket i of an open file and returns how many bytes went.
func (c *call) sendTo(file, i int, m message) (uint64, error) {
	k := c.s.socks.get(i)
	var n int
	var err error
	switch {
	case m.Flags&unix.MSG_OOB != 0 && k.Type == unix.SOCK_STREAM:
		return 0, unsupported("MSG_OOB")
	case m.Flags&unix.MSG_OOB != 0:
		return 0, unix.EOPNOTSUPP
	case k.Type == unix.SOCK_STREAM:
		n, err = c.sendStream(file, i, m)
	case k.unix():
		n, err = c.sendUnix(file, i, m)
	default:
		n, err = c.sendUDP(i, m)
	}
	if err == unix.EPIPE && k.Type == unix.SOCK_STREAM && m.Flags&unix.MSG_NOSIGNAL == 0 {
		c.s.post(c.t, nil, siginfo{Sig: int(unix.SIGPIPE), PID: c.p.PID})
	}
	return uint64(n), err
}

// packetOf is data of m, as unix_maybe_add_creds adds who sent it.
func (c *call) packetOf(k, o *socket, m message, data mem.Bytes) packet {
	p := packet{Data: data, From: k.Name, Cred: m.Cred}
	const passcred = unix.SO_PASSCRED
	if m.Cred.PID == 0 && (k.option(unix.SOL_SOCKET, passcred) != 0 || o.option(unix.SOL_SOCKET, passcred) != 0) {
		p.Cred = c.cred()
	}
	for _, f := range m.Rights {
		c.s.file(f).Refs++
	}
	p.Rights = m.Rights
	return p
}

// sendStream is unix_stream_sendmsg and tcp_sendmsg: all goes, in pieces that wait for room.
func (c *call) sendStream(file, i int, m message) (int, error) {
	const maxPiece = pageSize - skbShared + 32768 // of AF_UNIX, UNIX_SKB_FRAGS_SZ
	k := c.s.socks.get(i)
	done, size := c.was.Done, len(m.Data.Data)
	switch {
	case !k.unix():
	case len(m.Dest) > 0 && k.State == sockConnected:
		return 0, unix.EISCONN
	case len(m.Dest) > 0:
		return 0, unix.EOPNOTSUPP
	case k.State != sockConnected:
		return 0, unix.ENOTCONN
	}
	for first := true; first || done < size; first = false {
		err := c.maySend(i, size)
		k = c.s.socks.get(i)
		o := c.s.socks.get(k.Other)
		switch {
		case err != nil && done > 0:
			return done, nil
		case err != nil:
			return 0, err
		case size == 0:
			return 0, nil
		case m.Bad:
			return 0, unix.EFAULT
		case o == nil || k.tcp() && o.Shut == shutBoth: // the other end takes no more and answers with a reset
			if o != nil {
				c.s.resetTCP(k.Other, unix.ECONNRESET)
			}
			c.s.resetTCP(i, unix.EPIPE) // tcp_reset in CLOSE_WAIT
			return size, nil
		}
		room := k.buffer() - o.Held
		if k.unix() {
			if room = 0; o.Cost < k.buffer() {
				room = min(k.buffer()/2-64, maxPiece)
			}
		}
		if room <= 0 {
			err := c.waitSock(file, k, m.Flags&unix.MSG_DONTWAIT != 0, unix.POLLOUT, done)
			if err == unix.EAGAIN && done > 0 {
				return done, nil
			}
			return 0, err
		}
		n := min(room, size-done)
		c.s.deliverTo(k.Other, c.packetOf(k, o, m, m.Data.Slice(done, done+n)))
		done, m.Rights = done+n, nil
	}
	return done, nil
}

// maySend says why socket i, a stream, sends nothing of size bytes.
func (c *call) maySend(i, size int) error {
	k := c.s.socks.get(i)
	o := c.s.socks.get(k.Other)
	switch {
	case k.unix() && k.Shut&shutWrite != 0:
		return unix.EPIPE
	case k.unix() && size == 0:
		return nil
	case k.Err != 0:
		return c.s.takeErr(i)
	case k.Shut&shutWrite != 0, k.State != sockConnected, k.unix() && (o == nil || o.Shut&shutRead != 0):
		return unix.EPIPE
	}
	return nil
}

// sendUnix sends a datagram of AF_UNIX (unix_dgram_sendmsg, unix_seqpacket_sendmsg).
func (c *call) sendUnix(file, i int, m message) (int, error) {
	k := c.s.socks.get(i)
	to := k.Other
	switch {
	case k.connects():
		if err := c.s.takeErr(i); err != nil {
			return 0, err
		}
		if k.State != sockConnected {
			return 0, unix.ENOTCONN
		}
	case len(m.Dest) > 0:
		if _, err := unixPath(m.Dest); err != nil {
			return 0, err
		}
	}
	if err := c.mayMake(i, m); err != nil {
		return 0, err
	}
	size := len(m.Data.Data)
	if len(m.Dest) > 0 && !k.connects() {
		var err error
		if to, err = c.findUnix(k, m.Dest); err != nil {
			return 0, err
		}
	}
	o := c.s.socks.get(to)
	switch {
	case to == noSocket:
		return 0, unix.ENOTCONN
	case o == nil && k.connects():
		return 0, unix.EPIPE
	case o == nil:
		c.s.purge(i)
		e := c.s.sock(i)
		e.Other, e.State = noSocket, sockIdle
		return 0, unix.ECONNREFUSED
	case !k.connects() && o.Other != noSocket && o.Other != i: // unix_may_send
		return 0, unix.EPERM
	case o.Shut&shutRead != 0:
		return 0, unix.EPIPE
	case !k.connects() && c.s.dgramFull(k, o):
		if m.Flags&unix.MSG_DONTWAIT != 0 || c.s.files.get(file).Flags&unix.O_NONBLOCK != 0 {
			return 0, unix.EAGAIN
		}
		return 0, blocked{Kind: waitSocket, Addr: uint64(to), Restart: true}
	case o.Cost >= k.buffer():
		return 0, c.waitSock(file, k, m.Flags&unix.MSG_DONTWAIT != 0, unix.POLLOUT, 0)
	}
	c.s.deliverTo(to, c.packetOf(k, o, m, m.Data))
	return size, nil
}

// mayMake says why socket i, of datagrams of AF_UNIX, does not come to look for who is to get m.
func (c *call) mayMake(i int, m message) error {
	k := c.s.socks.get(i)
	if len(m.Data.Data) > k.buffer()-32 {
		return unix.EMSGSIZE
	}
	if err := c.s.takeErr(i); err != nil {
		return err
	}
	switch {
	case k.Shut&shutWrite != 0:
		return unix.EPIPE
	case m.Bad:
		return unix.EFAULT
	}
	return nil
}

// sendUDP is udp_sendmsg. A datagram that finds no socket, or no room, is lost.
func (c *call) sendUDP(i int, m message) (int, error) {
	if err := c.autobind(i); err != nil {
		return 0, err
	}
	k := c.s.socks.get(i)
	n, size, limit := k.Peer, len(m.Data.Data), 65507
	if k.Domain == unix.AF_INET6 {
		limit = 65527
	}
	if size > 65535 {
		return 0, unix.EMSGSIZE
	}
	if len(m.Dest) > 0 {
		var err error
		if n, err = k.parse(m.Dest, false); err != nil {
			return 0, err
		}
		if n.Port == 0 {
			return 0, unix.EINVAL
		}
		if n, err = c.s.route(k, n); err != nil {
			return 0, err
		}
	} else if k.State != sockConnected {
		return 0, unix.EDESTADDRREQ
	}
	if size > limit {
		return 0, unix.EMSGSIZE
	}
	if err := c.s.takeErr(i); err != nil {
		return 0, err
	}
	if k = c.s.socks.get(i); k.Shut&shutWrite != 0 {
		return 0, unix.EPIPE
	}
	if m.Bad {
		return 0, unix.EFAULT
	}
	to, found := c.s.findInet(k, n)
	if !found {
		if k.State == sockConnected && n == k.Peer {
			c.s.sock(i).Err = unix.ECONNREFUSED
		}
		return size, nil
	}
	o := c.s.socks.get(to)
	from := k.Name
	if from.IP.Unmap().IsUnspecified() {
		from.IP = loopback(n)
	}
	if o.Cost < o.option(unix.SOL_SOCKET, unix.SO_RCVBUF) {
		c.s.deliverTo(to, packet{Data: m.Data, From: from.as(o.Domain)})
	}
	return size, nil
}

// receive takes what a call wants into the pieces of memory to.
func (c *call) receive(file, i int, to []iovec, flags int) (uint64, message, error) {
	k := c.s.socks.get(i)
	switch {
	case flags&unix.MSG_ERRQUEUE != 0:
		return 0, message{}, unix.EAGAIN // nothing is ever put there
	case flags&unix.MSG_OOB != 0 && k.Type == unix.SOCK_STREAM:
		return 0, message{}, unsupported("MSG_OOB")
	case flags&unix.MSG_OOB != 0:
		return 0, message{}, unix.EOPNOTSUPP
	case k.Type == unix.SOCK_STREAM:
		return c.receiveStream(file, i, to, flags)
	}
	return c.receiveDgram(file, i, to, flags)
}

func total(to []iovec) (n int) {
	for _, v := range to {
		n += int(v.n)
	}
	return n
}

// receiveStream is unix_stream_read_generic and tcp_recvmsg_locked.
func (c *call) receiveStream(file, i int, to []iovec, flags int) (uint64, message, error) {
	var m message
	k := c.s.socks.get(i)
	peek, dontWait := flags&unix.MSG_PEEK != 0, flags&unix.MSG_DONTWAIT != 0
	switch {
	case k.unix() && k.State != sockConnected:
		return 0, m, unix.EINVAL
	case k.State == sockListening:
		return 0, m, unix.ENOTCONN
	}
	done, want := c.was.Done, total(to)
	if err := c.pieces(cut(to, uint64(done+k.Held)), guest.ProtWrite); err != nil { // what cannot be stored stays
		return 0, m, err
	}
	target := max(1, min(want, k.option(unix.SOL_SOCKET, unix.SO_RCVLOWAT)))
	if flags&unix.MSG_WAITALL != 0 {
		target = max(1, want)
	}
	ends := false
	if done < want || want == 0 {
		var data mem.Bytes
		data, m, ends = c.takeStream(i, want-done, peek)
		k = c.s.socks.get(i)
		if flags&unix.MSG_TRUNC == 0 || k.unix() { // TCP throws away what it is told to
			if err := c.scatter(to, done, data); err != nil {
				return 0, m, err
			}
		}
		done += len(data.Data)
	}
	switch {
	case done >= target, ends, peek && done > 0:
	case k.Err != 0 && done == 0:
		return 0, m, c.s.takeErr(i)
	case k.Err != 0, k.Shut&shutRead != 0:
	case k.State != sockConnected:
		if done == 0 {
			return 0, m, unix.ENOTCONN
		}
	case want == 0 && len(k.In) > 0:
	default:
		if err := c.waitSock(file, k, dontWait, unix.POLLIN, done); err != unix.EAGAIN || done == 0 {
			return 0, m, err
		}
	}
	return uint64(done), m, nil
}

// takeStream takes n bytes of what socket i, a stream, has got, all of one message; where n is 0 it takes none of the first. ends says that what follows belongs
// to another message. peek leaves all there.
func (c *call) takeStream(i, n int, peek bool) (data mem.Bytes, m message, ends bool) {
	k := c.s.socks.get(i)
	passcred := k.unix() && k.option(unix.SOL_SOCKET, unix.SO_PASSCRED) != 0
	var got *chunk
	done := 0
	for at := 0; at < len(k.In) && (done < n || n == 0) && !ends; {
		p := k.In[at]
		if done > 0 && passcred && p.Cred != m.Cred {
			ends = true
			break
		}
		part := min(n-done, len(p.Data.Data))
		got = got.add(p.Data.Slice(0, part))
		done += part
		m.From, m.Cred = p.From, p.Cred
		if len(p.Rights) > 0 {
			m.Rights, ends = p.Rights, true
		}
		if at++; !peek {
			c.s.advance(i, part, false)
			k, at = c.s.socks.get(i), 0
		}
		if n == 0 {
			break
		}
	}
	return got.bytes(), m, ends
}

// receiveDgram takes one datagram (unix_dgram_recvmsg, udp_recvmsg).
func (c *call) receiveDgram(file, i int, to []iovec, flags int) (uint64, message, error) {
	var m message
	k := c.s.socks.get(i)
	if k.connects() && k.State != sockConnected {
		return 0, m, unix.ENOTCONN
	}
	if err := c.s.takeErr(i); err != nil {
		return 0, m, err
	}
	if len(k.In) == 0 {
		dontWait := flags&unix.MSG_DONTWAIT != 0
		err := c.waitSock(file, k, dontWait, unix.POLLIN, 0)
		if k.Shut&shutRead != 0 && (k.connects() || err != unix.EAGAIN) {
			err = nil
		}
		return 0, m, err
	}
	p := k.In[0]
	size := len(p.Data.Data)
	n := min(size, total(to))
	if err := c.scatter(to, 0, p.Data.Slice(0, n)); err != nil { // the datagram is lost
		if flags&unix.MSG_PEEK == 0 {
			c.s.advance(i, 0, true)
			c.dropRights(message{Rights: p.Rights}, 0, nil)
		}
		return 0, m, err
	}
	m = message{From: p.From, Cred: p.Cred, Rights: p.Rights}
	if n < size {
		m.Flags = unix.MSG_TRUNC
	}
	if flags&unix.MSG_PEEK == 0 {
		c.s.advance(i, 0, true)
	}
	if flags&unix.MSG_TRUNC != 0 {
		n = size
	}
	return uint64(n), m, nil
}

// readSocket is read(2) on a socket.
func (c *call) readSocket(file int, f *file, to []iovec, n uint64) (uint64, error) {
	if n == 0 {
		return 0, nil
	}
	got, m, err := c.receive(file, f.Sock, to, 0)
	c.dropRights(m, 0, err)
	return got, err
}

// dropRights gives up the files of a received message that nobody asked for.
func (c *call) dropRights(m message, flags int, err error) {
	if err == nil && flags&unix.MSG_PEEK == 0 {
		for _, f := range m.Rights {
			c.s.dropFile(f)
		}
	}
}

func (c *call) sysSendto() (uint64, error) {
	file, i, _, err := c.socket(c.arg32(0))
	if err != nil {
		return 0, err
	}
	n := min(c.a[2], maxWhole)
	m := message{Flags: c.arg32(3)}
	if c.a[4] != 0 {
		if m.Dest, err = c.sockaddr(c.a[4], c.arg32(5)); err != nil {
			return 0, err
		}
	}
	if err := c.outgoing(&m, []iovec{{c.a[1], n}}); err != nil {
		return 0, err
	}
	return c.sendTo(file, i, m)
}

func (c *call) sysRecvfrom() (uint64, error) {
	file, i, _, err := c.socket(c.arg32(0))
	if err != nil {
		return 0, err
	}
	to := []iovec{{c.a[1], min(c.a[2], maxWhole)}}
	n, m, err := c.receive(file, i, to, c.arg32(3))
	c.dropRights(m, c.arg32(3), err)
	if err == nil && c.a[4] != 0 {
		err = c.putName(c.a[4], c.a[5], m.nameFor(c.s.socks.get(i)))
	}
	return n, err
}

// outgoing fills m with the pieces of memory from.
func (c *call) outgoing(m *message, from []iovec) (err error) {
	if m.Data, err = c.gather(from, false); err == unix.EFAULT {
		m.Data, m.Bad, err = mem.Concrete(make([]byte, min(total(from), maxBad))), true, nil
	}
	return err
}

// maxBad is how many of the bytes that cannot be read are counted: more than any message may have.
const maxBad = 1 << 20

// nameFor is what recvfrom(2) tells about the sender: TCP tells nothing.
func (m message) nameFor(k *socket) sockName {
	if k.tcp() {
		return sockName{}
	}
	return m.From
}

// msghdr is a struct msghdr, recvmsg(2).
type msghdr struct {
	name, control uint64
	nameLen       int
	controlLen    uint64
	iov           []iovec
}

func (c *call) msghdr(addr uint64) (msghdr, error) {
	w, err := c.words(addr, 7)
	if err != nil {
		return msghdr{}, err
	}
	h := msghdr{name: w[0], nameLen: int(int32(uint32(w[1]))), control: w[4], controlLen: w[5]}
	if w[3] > 1024 {
		return h, unix.EMSGSIZE
	}
	if h.name == 0 {
		h.nameLen = 0
	}
	if h.nameLen < 0 {
		return h, unix.EINVAL
	}
	h.nameLen = min(h.nameLen, 128)
	h.iov, _, err = c.iovecs(w[2], w[3])
	return h, err
}

// socketAndHeader are what sendmsg(2) and recvmsg(2) begin with: the socket, and the message's header at addr.
func (c *call) socketAndHeader(addr uint64) (file, i int, k *socket, h msghdr, err error) {
	if file, i, k, err = c.socket(c.arg32(0)); err == nil {
		h, err = c.msghdr(addr)
	}
	return file, i, k, h, err
}

func (c *call) sysSendmsg() (uint64, error) { return c.sendmsg(c.a[1], c.arg32(2)) }

func (c *call) sendmsg(addr uint64, flags int) (uint64, error) {
	file, i, k, h, err := c.socketAndHeader(addr)
	if err != nil {
		return 0, err
	}
	m := message{Flags: flags}
	if m.Dest, err = c.sockaddr(h.name, h.nameLen); err != nil {
		return 0, err
	}
	if h.controlLen > 1<<20 {
		return 0, unix.ENOBUFS
	}
	control, err := c.bytes(h.control, h.controlLen)
	if err != nil {
		return 0, err
	}
	if k.unix() && k.Type == unix.SOCK_SEQPACKET { // unix_seqpacket_sendmsg
		if err := c.s.takeErr(i); err != nil {
			return 0, err
		}
		if k.State != sockConnected {
			return 0, unix.ENOTCONN
		}
	}
	if k.unix() {
		if err := c.parseControl(&m, control); err != nil {
			return 0, err
		}
	}
	if err := c.outgoing(&m, h.iov); err != nil {
		return 0, err
	}
	return c.sendTo(file, i, m)
}

// cmsgHeader is the size of a struct cmsghdr, whose payload is padded to 8 bytes.
const cmsgHeader = 16

// parseControl reads control messages (__scm_send in net/core/scm.c).
func (c *call) parseControl(m *message, b []byte) error {
	le := binary.LittleEndian
	for len(b) >= cmsgHeader {
		n := le.Uint64(b)
		if n < cmsgHeader || n > uint64(len(b)) {
			return unix.EINVAL
		}
		level, typ, data := int(le.Uint32(b[8:])), int(le.Uint32(b[12:])), b[cmsgHeader:n]
		b = b[min(uint64(len(b)), (n+7)&^7):]
		if level != unix.SOL_SOCKET {
			continue
		}
		switch typ {
		case unix.SCM_RIGHTS:
			for ; len(data) >= 4; data = data[4:] {
				f, _, err := c.anyFd(int(int32(le.Uint32(data))))
				if err != nil {
					return err
				}
				if m.Rights = append(m.Rights, f); len(m.Rights) > 253 { // SCM_MAX_FD
					return unix.EINVAL
				}
			}
		case unix.SCM_CREDENTIALS:
			if len(data) != 12 {
				return unix.EINVAL
			}
			m.Cred = cred{int(le.Uint32(data)), int(le.Uint32(data[4:])), int(le.Uint32(data[8:]))}
			switch own := c.cred(); {
			case own.UID != 0 && m.Cred != own:
				return unix.EPERM
			case c.s.process(m.Cred.PID) == nil:
				return unix.ESRCH
			}
		default:
			return unix.EINVAL
		}
	}
	return nil
}

func (c *call) sysRecvmsg() (uint64, error) { return c.recvmsg(c.a[1], c.arg32(2)) }

func (c *call) recvmsg(addr uint64, flags int) (uint64, error) {
	file, i, k, h, err := c.socketAndHeader(addr)
	if err != nil {
		return 0, err
	}
	if err := c.pieces(append(slices.Clone(h.iov), iovec{addr, 56}, iovec{h.control, h.controlLen}), guest.ProtWrite); err != nil {
		return 0, err
	}
	n, m, err := c.receive(file, i, h.iov, flags)
	if err != nil {
		return 0, err
	}
	m.Flags |= flags & unix.MSG_CMSG_CLOEXEC
	control, err := c.control(k, &m, int(h.controlLen), flags)
	if err != nil {
		return 0, err
	}
	if err := c.put(h.control, control); err != nil {
		return 0, err
	}
	if h.name != 0 {
		var name []byte
		if m.From = m.nameFor(k); m.From.Family != 0 {
			name = m.From.encode()
		}
		if err := c.put(h.name, name[:min(len(name), h.nameLen)]); err != nil {
			return 0, err
		}
		if err := c.put32(addr+8, uint32(len(name))); err != nil {
			return 0, err
		}
	}
	if err := c.put32(addr+48, uint32(m.Flags)); err != nil {
		return 0, err
	}
	return n, c.put64(addr+40, uint64(len(control)))
}

// control lays the control messages of m out in room bytes (put_cmsg, scm_detach_fds); files get descriptors.
func (c *call) control(k *socket, m *message, room, flags int) ([]byte, error) {
	var b []byte
	le := binary.LittleEndian
	add := func(typ int, data []byte) {
		if room-len(b) < cmsgHeader {
			m.Flags |= unix.MSG_CTRUNC
			return
		}
		n := min(cmsgHeader+len(data), room-len(b))
		if n < cmsgHeader+len(data) {
			m.Flags |= unix.MSG_CTRUNC
		}
		b = le.AppendUint64(b, uint64(n))
		b = le.AppendUint32(b, unix.SOL_SOCKET)
		b = le.AppendUint32(b, uint32(typ))
		b = append(b, data[:n-cmsgHeader]...)
		b = append(b, make([]byte, min((8-n%8)%8, room-len(b)))...)
	}
	if k.unix() && k.option(unix.SOL_SOCKET, unix.SO_PASSCRED) != 0 {
		ids := m.Cred.ids()
		if m.Cred.PID == 0 {
			ids = []int32{0, 65534, 65534} // nobody: sent before anyone asked for credentials
		}
		var data []byte
		for _, v := range ids {
			data = le.AppendUint32(data, uint32(v))
		}
		add(unix.SCM_CREDENTIALS, data)
	}
	if len(m.Rights) == 0 {
		return b, nil
	}
	fits := min(max(0, room-len(b)-cmsgHeader)/4, len(m.Rights))
	var data []byte
	for _, f := range m.Rights[:fits] {
		fd, err := c.newFd(f, 0, flags&unix.MSG_CMSG_CLOEXEC != 0)
		if err != nil {
			break
		}
		data = le.AppendUint32(data, uint32(fd))
	}
	if len(data) < 4*len(m.Rights) {
		m.Flags |= unix.MSG_CTRUNC
	}
	if len(data) > 0 {
		add(unix.SCM_RIGHTS, data)
	}
	c.dropRights(*m, flags, nil)
	return b, nil
}
