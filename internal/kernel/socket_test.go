package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// blob is memory that a call is given and that is compared afterwards. Pointers stand at offsets.
type blob struct {
	b    []byte
	ptr  map[int]*blob
	fds  map[int]fdPair // descriptors of each side
	mute [][2]int       // ranges that are not compared
	at   uint64         // in the model
	copy []byte         // natively
}

func (x *blob) place(b *both) (uint64, uint64) {
	x.copy = append(slices.Clone(x.b), 0)
	x.at = b.data(x.copy)
	le := binary.LittleEndian
	for off, p := range x.ptr {
		m, n := p.place(b)
		_ = b.CurrentProcess().Mem.WriteU(x.at+uint64(off), m, 8)
		le.PutUint64(x.copy[off:], n)
	}
	for off, fd := range x.fds {
		_ = b.CurrentProcess().Mem.WriteU(x.at+uint64(off), fd.model, 4)
		le.PutUint32(x.copy[off:], uint32(fd.native))
	}
	return x.at, uint64(uintptr(unsafe.Pointer(&x.copy[0])))
}

// differs compares what the call left; the blob then holds the native side's bytes.
func (x *blob) differs(b *both) string {
	m, n := slices.Clone(b.peek(x.at, len(x.b))), slices.Clone(x.copy[:len(x.b)])
	for off := range x.ptr {
		clear(m[off : off+8])
		clear(n[off : off+8])
	}
	for off := range x.fds {
		clear(m[off : off+4])
		clear(n[off : off+4])
	}
	for _, r := range x.mute {
		clear(m[r[0]:r[1]])
		clear(n[r[0]:r[1]])
	}
	out := ""
	if !slices.Equal(m, n) {
		out = fmt.Sprintf("memory %.80q, native %.80q; ", m, n)
	}
	for _, off := range slices.Sorted(mapKeys(x.ptr)) {
		out += x.ptr[off].differs(b)
	}
	return out
}

func mapKeys(m map[int]*blob) func(func(int) bool) {
	return func(yield func(int) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// side returns what the call left at off on each side.
func (x *blob) side(b *both, off int) fdPair {
	m := b.peek(x.at+uint64(off), 4)
	return fdPair{uint64(binary.LittleEndian.Uint32(m)), uint64(binary.LittleEndian.Uint32(x.copy[off:]))}
}

// sock makes a call on both sides. The loopback may deliver a moment later natively: a call
// that would block there, or finds nothing ready, is made again.
func (b *both) sock(nr uint64, args ...any) (fdPair, unix.Errno) {
	b.t.Helper()
	b.top = scratch
	var ma, na [6]uint64
	var blobs []*blob
	var show []string
	var note string
	for i, a := range args {
		switch v := a.(type) {
		case int:
			ma[i], na[i] = uint64(v), uint64(v)
		case fdPair:
			ma[i], na[i] = v.model, v.native
			note += b.describe(v)
		case local:
			ma[i], na[i] = b.str(b.dirs[0]+"/"+string(v)), cstring(b.dirs[1]+"/"+string(v))
		case *blob:
			ma[i], na[i] = v.place(b)
			blobs = append(blobs, v)
			a = fmt.Sprintf("%q", v.b[:min(16, len(v.b))])
			for _, fd := range v.fds {
				a = fmt.Sprint(a, fd)
				note += b.describe(fd)
			}
		default:
			b.t.Fatalf("argument %T", a)
		}
		show = append(show, fmt.Sprint(a))
	}
	mv, merr := b.call(nr, ma[:]...)
	var nv uintptr
	var nerr unix.Errno
	var diff string
	for try := range 40 {
		nv, _, nerr = unix.Syscall6(uintptr(nr), uintptr(na[0]), uintptr(na[1]), uintptr(na[2]), uintptr(na[3]), uintptr(na[4]), uintptr(na[5]))
		diff = ""
		for _, x := range blobs {
			diff += x.differs(b)
		}
		fds := nr == unix.SYS_SOCKET || nr == unix.SYS_ACCEPT4 || nr == unix.SYS_OPEN || nr == unix.SYS_PIDFD_OPEN || nr == unix.SYS_EVENTFD2 || nr == unix.SYS_EPOLL_CREATE1
		if merr != nerr || merr == 0 && !fds && mv != uint64(nv) {
			diff += fmt.Sprintf("natively %d %v", int64(nv), nerr)
		}
		if diff == "" || nerr != unix.EAGAIN && nr != unix.SYS_POLL || try == 39 {
			break
		}
		time.Sleep(time.Millisecond)
		for _, x := range blobs {
			x.refresh()
		}
	}
	what := fmt.Sprintf("%s(%s) = %d %v", rowOf(nr).name, strings.Join(show, ", "), int64(mv), merr)
	if nr != unix.SYS_POLL {
		b.log = append(b.log, what)
	}
	if diff != "" {
		b.t.Fatalf("%s\n%s%s\nbefore:\n%s", what, diff, note, strings.Join(b.log[max(0, len(b.log)-25):], "\n"))
	}
	return fdPair{mv, uint64(nv)}, merr
}

// cstring is a native C string; it stays for good.
func cstring(s string) uint64 {
	p := append([]byte(s), 0)
	cstrings = append(cstrings, p)
	return uint64(uintptr(unsafe.Pointer(&p[0])))
}

var cstrings [][]byte

// describe tells what socket a descriptor is.
func (b *both) describe(fd fdPair) string {
	k := b.socketOf(fd)
	if k == nil {
		return ""
	}
	c := *k
	c.In = nil
	return fmt.Sprintf("\nbefore, %d packets: %+v", len(k.In), c)
}

// socketOf returns the model's socket of a descriptor, or nil.
func (b *both) socketOf(fd fdPair) *socket {
	_, _, k, _ := (&call{s: b.System, p: b.CurrentProcess()}).socket(int(fd.model))
	return k
}

// refresh puts the native side's bytes back as they were before the call.
func (x *blob) refresh() {
	keep := map[int][8]byte{}
	for off := range x.ptr {
		keep[off] = [8]byte(x.copy[off:])
	}
	fds := map[int][4]byte{}
	for off := range x.fds {
		fds[off] = [4]byte(x.copy[off:])
	}
	copy(x.copy, x.b)
	for off, p := range keep {
		copy(x.copy[off:], p[:])
	}
	for off, p := range fds {
		copy(x.copy[off:], p[:])
	}
	for _, p := range x.ptr {
		p.refresh()
	}
}

// ports returns n ports that are free natively.
func ports(t *testing.T, n int) []int {
	var fds, out []int
	for range n {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Skip("skipped: ", err)
		}
		if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			t.Skip("skipped: ", err)
		}
		name, _ := unix.Getsockname(fd)
		fds, out = append(fds, fd), append(out, name.(*unix.SockaddrInet4).Port)
	}
	for _, fd := range fds {
		unix.Close(fd)
	}
	return out
}

func inet4(ip [4]byte, port int) *blob {
	b := binary.LittleEndian.AppendUint16(nil, unix.AF_INET)
	b = binary.BigEndian.AppendUint16(b, uint16(port))
	return &blob{b: append(append(b, ip[:]...), make([]byte, 8)...)}
}

func inet6(ip [16]byte, port int) *blob {
	b := binary.LittleEndian.AppendUint16(nil, unix.AF_INET6)
	b = binary.BigEndian.AppendUint16(b, uint16(port))
	return &blob{b: append(append(append(b, 0, 0, 0, 0), ip[:]...), 0, 0, 0, 0)}
}

func unixAddr(path string) *blob {
	return &blob{b: append(binary.LittleEndian.AppendUint16(nil, unix.AF_UNIX), path...)}
}

func size(n int) *blob  { return &blob{b: binary.LittleEndian.AppendUint32(nil, uint32(n))} }
func zeros(n int) *blob { return &blob{b: make([]byte, n)} }

// msg builds a struct msghdr; control may be nil.
func msg(name *blob, iov []*blob, control *blob, controlLen int) *blob {
	h := &blob{b: make([]byte, 56), ptr: map[int]*blob{}}
	le := binary.LittleEndian
	if name != nil {
		h.ptr[0] = name
		le.PutUint32(h.b[8:], uint32(len(name.b)))
	}
	v := &blob{b: make([]byte, 16*len(iov)), ptr: map[int]*blob{}}
	for i, p := range iov {
		v.ptr[16*i] = p
		le.PutUint64(v.b[16*i+8:], uint64(len(p.b)))
	}
	h.ptr[16] = v
	le.PutUint64(h.b[24:], uint64(len(iov)))
	if control != nil {
		h.ptr[32] = control
		le.PutUint64(h.b[40:], uint64(controlLen))
	}
	return h
}

// socketpair makes a pair of both sides.
func (b *both) socketpair(typ int) (fdPair, fdPair) {
	b.t.Helper()
	p := &blob{b: make([]byte, 8), mute: [][2]int{{0, 8}}}
	b.sock(unix.SYS_SOCKETPAIR, unix.AF_UNIX, typ, 0, p)
	return p.side(b, 0), p.side(b, 4)
}

// ready compares poll(2) of all events on a descriptor.
func (b *both) ready(fds ...fdPair) {
	b.t.Helper()
	for _, fd := range fds {
		p := &blob{b: []byte{0, 0, 0, 0, 0x1f, 0x20, 0, 0}, fds: map[int]fdPair{0: fd}}
		b.sock(unix.SYS_POLL, p, 1, 0)
	}
}

// TestSocketsAgainstLinux goes through the kinds of sockets, their errors and their messages one by one.
func TestSocketsAgainstLinux(t *testing.T) {
	const nb = unix.SOCK_NONBLOCK
	b := newBothSockets(t)
	port := ports(t, 4)
	local4, any4 := [4]byte{127, 0, 0, 1}, [4]byte{}
	local6, mapped := [16]byte{15: 1}, [16]byte{10: 255, 255, 127, 0, 0, 1}
	open := func(domain, typ int) fdPair {
		fd, _ := b.sock(unix.SYS_SOCKET, domain, typ|nb, 0)
		return fd
	}
	names := func(fd fdPair, n int) { // but for a port that the system chose
		t.Helper()
		own := zeros(128)
		if k := b.socketOf(fd); k != nil && !k.unix() && !k.Bound {
			own.mute = [][2]int{{2, 4}}
		}
		b.sock(unix.SYS_GETSOCKNAME, fd, own, size(n))
		b.sock(unix.SYS_GETPEERNAME, fd, zeros(128), size(n))
	}
	for _, a := range [][3]int{{99, 1, 0}, {1, 1, 1}, {1, 1, 6}, {1, 4, 0}, {1, 99, 0}, {2, 1, 6}, {2, 1, 17}, {2, 2, 17}, {2, 2, 6}, {2, 5, 0}, {10, 1, 0}, {2, 1 | 1<<20, 0}} {
		if fd, errno := b.sock(unix.SYS_SOCKET, a[0], a[1], a[2]); errno == 0 {
			b.ready(fd)
			names(fd, 128)
			for _, o := range [][2]int{{1, unix.SO_TYPE}, {1, unix.SO_DOMAIN}, {1, unix.SO_PROTOCOL}, {1, unix.SO_ERROR}, {1, unix.SO_ACCEPTCONN},
				{1, unix.SO_REUSEADDR}, {1, unix.SO_LINGER}, {1, unix.SO_RCVTIMEO}, {1, unix.SO_RCVLOWAT}, {1, unix.SO_SNDLOWAT}, {1, unix.SO_PASSCRED}, {1, 9999},
				{6, unix.TCP_NODELAY}, {6, unix.TCP_KEEPCNT}, {6, unix.TCP_KEEPIDLE}, {6, unix.TCP_KEEPINTVL}, {6, unix.TCP_SYNCNT}, {6, 9999},
				{0, unix.IP_TTL}, {0, unix.IP_TOS}, {0, unix.IP_MULTICAST_TTL}, {0, unix.IP_MULTICAST_LOOP}, {0, unix.IP_MTU_DISCOVER},
				{41, unix.IPV6_V6ONLY}, {41, unix.IPV6_UNICAST_HOPS}, {41, unix.IPV6_MULTICAST_LOOP}} {
				b.sock(unix.SYS_GETSOCKOPT, fd, o[0], o[1], zeros(16), size(16))
				for _, v := range []int{1, 0, -1, 7, 300, 1 << 20} {
					if o[1] == unix.SO_RCVLOWAT || o[1] == unix.SO_PROTOCOL {
						continue
					}
					val := zeros(16)
					binary.LittleEndian.PutUint32(val.b, uint32(v))
					b.sock(unix.SYS_SETSOCKOPT, fd, o[0], o[1], val, 4)
					b.sock(unix.SYS_SETSOCKOPT, fd, o[0], o[1], val, 16)
					b.sock(unix.SYS_GETSOCKOPT, fd, o[0], o[1], zeros(16), size(16))
					b.sock(unix.SYS_GETSOCKOPT, fd, o[0], o[1], zeros(16), size(2))
				}
			}
			for _, buf := range []int{0, 1000, 10000, 100000} {
				b.sock(unix.SYS_SETSOCKOPT, fd, 1, unix.SO_SNDBUF, size(buf), 4)
				b.sock(unix.SYS_GETSOCKOPT, fd, 1, unix.SO_SNDBUF, zeros(4), size(4))
				b.sock(unix.SYS_SETSOCKOPT, fd, 1, unix.SO_RCVBUF, size(buf), 4)
				b.sock(unix.SYS_GETSOCKOPT, fd, 1, unix.SO_RCVBUF, zeros(4), size(4))
			}
			b.sock(3, fd)
		}
	}
	t.Run("TCP", func(t *testing.T) {
		b.t = t
		for round, at := range []*blob{inet4(local4, port[0]), inet6(local6, port[1]), inet6(mapped, port[2])} {
			domain := int(at.b[0])
			l := open(domain, unix.SOCK_STREAM)
			b.sock(unix.SYS_ACCEPT4, l, 0, 0, 0)
			b.sock(unix.SYS_BIND, l, at, 5)
			b.sock(unix.SYS_BIND, l, inet4([4]byte{8, 8, 8, 8}, port[0]), 16)
			b.sock(unix.SYS_BIND, l, at, len(at.b))
			b.sock(unix.SYS_BIND, l, at, len(at.b))
			l2 := open(domain, unix.SOCK_STREAM)
			b.sock(unix.SYS_BIND, l2, at, len(at.b))
			c := open(domain, unix.SOCK_STREAM)
			b.sock(unix.SYS_CONNECT, c, at, len(at.b))
			b.ready(c)
			b.sock(unix.SYS_CONNECT, c, at, len(at.b))
			b.ready(c)
			b.sock(3, c)
			b.sock(unix.SYS_LISTEN, l, 5)
			b.sock(unix.SYS_LISTEN, l, 7)
			names(l, 128)
			names(l, 9)
			b.ready(l)
			b.sock(unix.SYS_ACCEPT4, l, 0, 0, 0)
			c = open(domain, unix.SOCK_STREAM)
			b.sock(unix.SYS_SENDTO, c, zeros(3), 3, 0, 0, 0)
			b.sock(unix.SYS_RECVFROM, c, zeros(3), 3, 0, 0, 0)
			b.sock(unix.SYS_SHUTDOWN, c, 2)
			b.sock(3, c)
			c = open(domain, unix.SOCK_STREAM)
			b.sock(unix.SYS_CONNECT, c, at, len(at.b))
			b.ready(c, l)
			b.sock(unix.SYS_CONNECT, c, at, len(at.b))
			b.sock(unix.SYS_CONNECT, c, at, len(at.b))
			b.sock(unix.SYS_GETPEERNAME, c, zeros(128), size(128))
			a, _ := b.sock(unix.SYS_ACCEPT4, l, 0, 0, nb)
			b.sock(unix.SYS_GETSOCKNAME, a, zeros(128), size(128))
			b.ready(a, c, l)
			b.sock(unix.SYS_SENDTO, c, &blob{b: []byte("to the server")}, 13, 0, 0, 0)
			b.sock(unix.SYS_SENDTO, c, &blob{b: []byte(", more")}, 6, 0, 0, 0)
			b.ready(a)
			b.sock(unix.SYS_IOCTL, a, unix.TIOCINQ, zeros(4))
			b.sock(unix.SYS_RECVFROM, a, zeros(8), 4, unix.MSG_PEEK, zeros(16), size(16))
			b.sock(unix.SYS_RECVFROM, a, zeros(8), 4, unix.MSG_TRUNC, 0, 0)
			b.sock(0, a, zeros(64), 64)
			b.sock(0, a, zeros(64), 64)
			b.sock(0, a, zeros(64), 0)
			b.sock(unix.SYS_SHUTDOWN, c, 9)
			b.sock(unix.SYS_SHUTDOWN, c, round)
			b.ready(a, c)
			b.sock(1, c, &blob{b: []byte("x")}, 1)
			b.sock(0, a, zeros(64), 64)
			b.sock(1, a, &blob{b: []byte("back")}, 4)
			b.ready(a, c)
			b.sock(3, a)
			b.ready(c)
			b.sock(0, c, zeros(64), 2)
			b.sock(0, c, zeros(64), 64)
			b.sock(1, c, &blob{b: []byte("x")}, 1)
			b.ready(c)
			b.sock(1, c, &blob{b: []byte("x")}, 1)
			b.sock(0, c, zeros(64), 64)
			b.sock(unix.SYS_GETSOCKOPT, c, 1, unix.SO_ERROR, zeros(4), size(4))
			names(c, 128)
			b.sock(3, c)
			// Closed with data that nobody read: a reset.
			c = open(domain, unix.SOCK_STREAM)
			b.sock(unix.SYS_CONNECT, c, at, len(at.b))
			a, _ = b.sock(unix.SYS_ACCEPT4, l, 0, 0, nb)
			b.sock(1, c, &blob{b: []byte("lost")}, 4)
			b.sock(1, a, &blob{b: []byte("kept")}, 4)
			b.ready(a, c)
			b.sock(3, a)
			b.ready(c)
			b.sock(0, c, zeros(2), 2)
			b.sock(0, c, zeros(8), 8)
			b.sock(0, c, zeros(8), 8)
			b.sock(0, c, zeros(8), 8)
			b.ready(c)
			b.sock(3, c)
			// The listener goes while a connection waits.
			c = open(domain, unix.SOCK_STREAM)
			b.sock(unix.SYS_CONNECT, c, at, len(at.b))
			b.sock(3, l)
			b.ready(c)
			b.sock(0, c, zeros(8), 8)
			b.sock(3, c)
			b.sock(3, l2)
		}
	})
	t.Run("UDP", func(t *testing.T) {
		b.t = t
		s, c := open(unix.AF_INET, unix.SOCK_DGRAM), open(unix.AF_INET, unix.SOCK_DGRAM)
		b.sock(unix.SYS_LISTEN, s, 1)
		b.sock(unix.SYS_ACCEPT4, s, 0, 0, 0)
		b.sock(unix.SYS_BIND, c, inet4(any4, port[1]), 16)
		b.sock(unix.SYS_SENDTO, c, zeros(3), 3, 0, 0, 0)
		b.sock(unix.SYS_CONNECT, c, inet4(local4, port[0]), 16)
		names(c, 128)
		b.sock(1, c, zeros(3), 3) // nobody there
		b.ready(c)
		b.sock(1, c, zeros(3), 3)
		b.sock(0, c, zeros(3), 3)
		b.sock(unix.SYS_BIND, s, inet4(local4, port[0]), 16)
		for _, n := range []int{0, 1, 100, 9000, 65507, 65508} {
			b.sock(1, c, &blob{b: slices.Repeat([]byte{byte(n)}, n)}, n)
		}
		b.ready(s)
		b.sock(unix.SYS_IOCTL, s, unix.TIOCINQ, zeros(4))
		b.sock(unix.SYS_RECVFROM, s, zeros(8), 8, unix.MSG_PEEK, zeros(16), size(16))
		b.sock(unix.SYS_RECVFROM, s, zeros(8), 8, 0, zeros(16), size(16))
		b.sock(unix.SYS_RECVFROM, s, zeros(8), 8, 0, zeros(16), size(7))
		b.sock(unix.SYS_RECVFROM, s, zeros(8), 8, unix.MSG_TRUNC, 0, 0)
		b.sock(unix.SYS_RECVMSG, s, msg(zeros(40), []*blob{zeros(3), zeros(10)}, zeros(40), 40), 0)
		b.sock(0, s, zeros(70000), 70000)
		b.sock(0, s, zeros(70000), 70000)
		b.sock(unix.SYS_SENDTO, s, zeros(3), 3, 0, inet4(local4, port[1]), 16)
		b.sock(unix.SYS_SENDTO, s, zeros(3), 3, 0, inet4(local4, 0), 16)
		b.sock(unix.SYS_SENDTO, s, zeros(3), 3, 0, inet4([4]byte{255, 255, 255, 255}, 9), 16)
		b.sock(unix.SYS_SENDMSG, s, msg(inet4(local4, port[1]), []*blob{{b: []byte("ab")}, {b: []byte("cde")}}, nil, 0), 0)
		b.sock(0, c, zeros(9), 9)
		b.sock(0, c, zeros(9), 9)
		b.sock(0, c, zeros(9), 9)
		// A connected socket hears its peer only; AF_INET6 hears AF_INET.
		six := open(unix.AF_INET6, unix.SOCK_DGRAM)
		b.sock(unix.SYS_BIND, six, inet6([16]byte{}, port[2]), 28)
		b.sock(unix.SYS_SENDTO, six, zeros(3), 3, 0, inet6(mapped, port[1]), 28)
		b.sock(0, c, zeros(9), 9)
		b.sock(unix.SYS_SENDTO, s, zeros(3), 3, 0, inet4(local4, port[2]), 16)
		b.sock(unix.SYS_RECVFROM, six, zeros(9), 9, 0, zeros(28), size(28))
		b.sock(unix.SYS_SHUTDOWN, six, 1)
		b.sock(unix.SYS_SHUTDOWN, c, 1)
		b.sock(1, c, zeros(3), 3)
		b.ready(c, s, six)
		b.sock(unix.SYS_SHUTDOWN, c, 0)
		b.ready(c)
		b.sock(0, c, zeros(3), 3)
		b.sock(unix.SYS_CONNECT, c, &blob{b: make([]byte, 16)}, 16)
		b.sock(unix.SYS_GETPEERNAME, c, zeros(128), size(128))
		for _, fd := range []fdPair{s, c, six} {
			b.sock(3, fd)
		}
	})
	t.Run("AF_UNIX", func(t *testing.T) {
		b.t = t
		if errno := b.chdir(); errno != 0 {
			t.Fatal(errno)
		}
		for _, typ := range []int{unix.SOCK_STREAM, unix.SOCK_SEQPACKET} {
			for _, path := range []string{"s" + fmt.Sprint(typ), fmt.Sprintf("\x00symchef-%d-%d", port[0], typ)} {
				at := unixAddr(path)
				l, c := open(unix.AF_UNIX, typ), open(unix.AF_UNIX, typ)
				b.sock(unix.SYS_CONNECT, c, at, len(at.b))
				b.sock(unix.SYS_LISTEN, l, 1)
				b.sock(unix.SYS_BIND, l, at, 1)
				b.sock(unix.SYS_BIND, l, inet4(local4, port[0]), 16)
				b.sock(unix.SYS_BIND, l, unixAddr("none/x"), 8)
				b.sock(unix.SYS_BIND, l, unixAddr("a"), 3)
				b.sock(unix.SYS_BIND, l, at, len(at.b))
				b.sock(unix.SYS_BIND, l, unixAddr("other"), 7)
				b.sock(unix.SYS_CONNECT, c, at, len(at.b))
				b.sock(unix.SYS_CONNECT, c, unixAddr("a"), 3)
				names(l, 128)
				names(l, 4)
				b.ready(l, c)
				b.sock(unix.SYS_LISTEN, l, 1)
				b.ready(l)
				wrong := open(unix.AF_UNIX, unix.SOCK_DGRAM)
				b.sock(unix.SYS_CONNECT, wrong, at, len(at.b))
				b.sock(3, wrong)
				b.sock(unix.SYS_SENDTO, c, zeros(3), 3, 0, at, len(at.b))
				b.sock(0, c, zeros(3), 3)
				for range 3 {
					x := open(unix.AF_UNIX, typ)
					b.sock(unix.SYS_CONNECT, x, at, len(at.b))
					if c2 := c; true {
						c = x
						b.sock(3, c2)
					}
				}
				b.ready(l)
				a, _ := b.sock(unix.SYS_ACCEPT4, l, 0, 0, nb)
				b.ready(a, c)
				names(a, 128)
				b.sock(1, a, zeros(3), 3)
				b.sock(0, a, zeros(3), 3)
				b.sock(3, a)
				a, _ = b.sock(unix.SYS_ACCEPT4, l, zeros(40), size(40), nb)
				x := open(unix.AF_UNIX, typ)
				b.sock(unix.SYS_CONNECT, x, at, len(at.b))
				b.sock(unix.SYS_CONNECT, x, at, len(at.b))
				b.sock(unix.SYS_GETPEERNAME, x, zeros(128), size(128))
				b.sock(3, l)
				b.ready(x)
				b.sock(0, x, zeros(3), 3)
				b.sock(0, x, zeros(3), 3)
				b.sock(unix.SYS_CONNECT, x, at, len(at.b))
				for _, fd := range []fdPair{a, c, x} {
					b.sock(3, fd)
				}
			}
		}
		d, e := open(unix.AF_UNIX, unix.SOCK_DGRAM), open(unix.AF_UNIX, unix.SOCK_DGRAM)
		at := unixAddr("dgram")
		b.sock(unix.SYS_SENDTO, e, zeros(3), 3, 0, 0, 0)
		b.sock(unix.SYS_SENDTO, e, zeros(3), 3, 0, at, 7)
		b.sock(unix.SYS_BIND, d, at, 7)
		for range 13 {
			b.sock(unix.SYS_SENDTO, e, zeros(3), 3, 0, at, 7)
		}
		b.sock(unix.SYS_CONNECT, e, at, 7)
		names(e, 128)
		b.ready(d, e)
		b.sock(unix.SYS_RECVFROM, d, zeros(8), 2, unix.MSG_TRUNC, zeros(40), size(40))
		b.ready(d, e)
		for range 14 {
			b.sock(unix.SYS_RECVFROM, d, zeros(8), 8, 0, zeros(40), size(40))
		}
		b.sock(unix.SYS_BIND, e, unixAddr("back"), 6)
		b.sock(1, e, zeros(5), 5)
		b.sock(unix.SYS_RECVFROM, d, zeros(8), 8, 0, zeros(40), size(40))
		b.sock(unix.SYS_CONNECT, d, unixAddr("back"), 6)
		f := open(unix.AF_UNIX, unix.SOCK_DGRAM)
		b.sock(unix.SYS_SENDTO, f, zeros(3), 3, 0, at, 7) // connected to another
		b.sock(3, d)
		b.ready(e)
		b.sock(1, e, zeros(5), 5)
		b.sock(1, e, zeros(5), 5)
		b.sock(0, e, zeros(5), 5)
		b.sock(3, e)
		b.sock(3, f)
	})
	t.Run("pairs", func(t *testing.T) {
		b.t = t
		b.sock(unix.SYS_SOCKETPAIR, unix.AF_INET, unix.SOCK_STREAM, 0, &blob{b: zeros(8).b, mute: [][2]int{{0, 8}}})
		for _, typ := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_SEQPACKET} {
			sizes := []int{1, 193, 700, 3776, 16064, 20000, 100000, 212961}
			if typ == unix.SOCK_STREAM { // but for those that share a page with what went before
				sizes = []int{1, 193, 700, 3776, 36544, 73088}
			}
			for _, n := range sizes {
				x, y := b.socketpair(typ | nb)
				for range 1000 { // until the buffer is full
					if _, errno := b.sock(1, x, zeros(n), n); errno != 0 {
						break
					}
					b.sock(unix.SYS_IOCTL, x, unix.TIOCOUTQ, zeros(4))
				}
				b.ready(x, y)
				for range 1000 {
					if _, errno := b.sock(0, y, zeros(n), n); errno != 0 {
						break
					}
					b.ready(x)
				}
				b.sock(1, x, zeros(3), 3)
				b.sock(3, y)
				b.ready(x)
				b.sock(1, x, zeros(3), 3)
				b.sock(0, x, zeros(3), 3)
				b.sock(0, x, zeros(3), 3)
				b.sock(3, x)
			}
		}
	})
	t.Run("control", func(t *testing.T) {
		b.t = t
		le := binary.LittleEndian
		file, _, _ := b.do(2, true, local("a"), 0, 0)
		rights := func(n int) *blob {
			c := &blob{fds: map[int]fdPair{}}
			c.b = le.AppendUint64(nil, uint64(16+4*n))
			c.b = le.AppendUint32(le.AppendUint32(c.b, 1), unix.SCM_RIGHTS)
			for range n {
				c.fds[len(c.b)] = file
				c.b = append(c.b, 0, 0, 0, 0)
			}
			c.b = append(c.b, make([]byte, (8-len(c.b)%8)%8)...)
			return c
		}
		for _, typ := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_SEQPACKET} {
			x, y := b.socketpair(typ | nb)
			for _, n := range []int{1, 2, 3} {
				for _, room := range []int{0, 8, 16, 20, 24, 27, 28, 32, 64} {
					c := rights(n)
					b.sock(1, x, &blob{b: []byte("before")}, 6)
					b.sock(unix.SYS_SENDMSG, x, msg(nil, []*blob{{b: []byte("here they are")}}, c, len(c.b)), 0)
					b.sock(1, x, &blob{b: []byte("after")}, 5)
					for range 3 {
						got := &blob{b: make([]byte, 64), mute: [][2]int{{16, 16 + 4*n}}}
						b.sock(unix.SYS_RECVMSG, y, msg(zeros(30), []*blob{zeros(10), zeros(20)}, got, room), unix.MSG_CMSG_CLOEXEC)
						for i := 16; i+4 <= room && i < 16+4*n; i += 4 {
							if fd := got.side(b, i); fd.native != 0 {
								b.sock(0, fd, zeros(20), 20)
								b.sock(8, fd, 0, 0)
								b.sock(72, fd, unix.F_GETFD, 0)
								b.sock(3, fd)
							}
						}
					}
				}
			}
			bad := rights(1)
			bad.fds[16] = fdPair{777, 777777}
			b.sock(unix.SYS_SENDMSG, x, msg(nil, []*blob{zeros(2)}, bad, 20), 0)
			bad.b[0] = 200
			b.sock(unix.SYS_SENDMSG, x, msg(nil, []*blob{zeros(2)}, bad, 20), 0)
			b.sock(1, x, zeros(2), 2)
			b.sock(unix.SYS_SETSOCKOPT, y, 1, unix.SO_PASSCRED, size(1), 4)
			b.sock(1, x, zeros(2), 2)
			b.sock(1, x, zeros(2), 2)
			for range 2 { // streams join what the same sender sent
				b.sock(unix.SYS_RECVMSG, y, msg(nil, []*blob{zeros(20)}, &blob{b: make([]byte, 64), mute: [][2]int{{16, 20}}}, 64), 0)
			}
			b.sock(3, x)
			b.sock(3, y)
		}
		b.sock(8, file, 0, 1)
	})
}

// newBothSockets ignores SIGPIPE in the model, as the Go runtime does natively.
func newBothSockets(t *testing.T) *both {
	b := newBoth(t)
	b.must(unix.SYS_RT_SIGACTION, uint64(unix.SIGPIPE), b.words(sigIgn, 0, 0, 0), 0, 8)
	return b
}

// TestTransfersAgainstLinux: sendfile, splice and copy_file_range with their offsets, and a full eventfd.
func TestTransfersAgainstLinux(t *testing.T) {
	b := newBothSockets(t)
	src, _ := b.sock(2, local("b"), unix.O_RDONLY, 0)
	dst, _ := b.sock(2, local("copy"), unix.O_RDWR|unix.O_CREAT, 0o644)
	dir, _ := b.sock(2, local("d"), unix.O_RDONLY, 0)
	pipe := &blob{b: make([]byte, 8), mute: [][2]int{{0, 8}}}
	b.sock(unix.SYS_PIPE2, pipe, unix.O_NONBLOCK)
	rd, wr := pipe.side(b, 0), pipe.side(b, 4)
	x, y := b.socketpair(unix.SOCK_STREAM | unix.SOCK_NONBLOCK)
	at := func(v int64) *blob { return &blob{b: binary.LittleEndian.AppendUint64(nil, uint64(v))} }
	where := func() {
		b.sock(8, src, 0, unix.SEEK_CUR)
		b.sock(8, dst, 0, unix.SEEK_CUR)
		b.sock(0, y, zeros(20000), 20000)
		b.sock(0, rd, zeros(70000), 70000)
		b.sock(17, dst, zeros(20000), 20000, 0)
	}
	for _, off := range []int64{-2, -1, 0, 5, 9990, 20000} { // -2: the file's own
		from, to := any(0), any(0)
		if off != -2 {
			from, to = at(off), at(off/2)
		}
		for _, n := range []int{0, 1, 100, 15000} {
			b.sock(unix.SYS_SENDFILE, x, src, from, n)
			where()
			b.sock(unix.SYS_SENDFILE, dst, src, from, n)
			where()
			b.sock(unix.SYS_COPY_FILE_RANGE, src, from, dst, to, n, 0)
			where()
			b.sock(unix.SYS_SPLICE, src, from, wr, 0, n, 0)
			b.sock(unix.SYS_SPLICE, rd, 0, dst, to, n, 0)
			where()
		}
		b.sock(8, src, 0, unix.SEEK_SET)
	}
	b.sock(unix.SYS_SPLICE, rd, 0, dst, 0, 10, 0)
	b.sock(unix.SYS_SPLICE, rd, at(1), dst, 0, 10, 0)
	b.sock(unix.SYS_SPLICE, src, 0, dst, 0, 10, 0)
	b.sock(unix.SYS_SPLICE, src, 0, wr, 0, 10, 1<<20)
	b.sock(unix.SYS_SPLICE, rd, 0, wr, 0, 10, 0)
	b.sock(unix.SYS_COPY_FILE_RANGE, dir, 0, dst, 0, 10, 0)
	b.sock(unix.SYS_COPY_FILE_RANGE, src, 0, dst, 0, 10, 1)
	b.sock(unix.SYS_COPY_FILE_RANGE, dst, 0, src, 0, 10, 0)
	b.sock(unix.SYS_SENDFILE, x, rd, 0, 10)
	b.sock(unix.SYS_SENDFILE, x, 900, 0, 10)
	ev, _ := b.sock(unix.SYS_EVENTFD2, 0, unix.EFD_NONBLOCK)
	for _, v := range []int64{1, -3, 1, -1} {
		b.sock(1, ev, at(v), 8)
		b.ready(ev)
	}
	b.sock(0, ev, zeros(8), 8)
	b.ready(ev)
}

// TestEpollAgainstLinux: level and edge triggered events of pipes and sockets, one shot, and FIFOs.
func TestEpollAgainstLinux(t *testing.T) {
	b := newBothSockets(t)
	ep, _ := b.sock(unix.SYS_EPOLL_CREATE1, 0)
	pipe := &blob{b: make([]byte, 8), mute: [][2]int{{0, 8}}}
	b.sock(unix.SYS_PIPE2, pipe, unix.O_NONBLOCK)
	rd, wr := pipe.side(b, 0), pipe.side(b, 4)
	x, y := b.socketpair(unix.SOCK_STREAM | unix.SOCK_NONBLOCK)
	b.sock(unix.SYS_MKNOD, local("fifo"), unix.S_IFIFO|0o600, 0)
	b.sock(unix.SYS_MKNOD, local("fifo"), unix.S_IFIFO|0o600, 0)
	b.sock(unix.SYS_MKNOD, local("dev"), unix.S_IFDIR, 0)
	b.stat(4, local("fifo"))
	b.sock(2, local("fifo"), unix.O_WRONLY|unix.O_NONBLOCK, 0)
	f, _ := b.sock(2, local("fifo"), unix.O_RDONLY|unix.O_NONBLOCK, 0)
	b.ready(f)
	b.sock(0, f, zeros(4), 4)
	g, _ := b.sock(2, local("fifo"), unix.O_WRONLY|unix.O_NONBLOCK, 0)
	b.ready(f, g)
	b.stat(5, f)
	watch := func(op int, fd fdPair, events uint32) {
		e := binary.LittleEndian.AppendUint32(nil, events)
		b.sock(unix.SYS_EPOLL_CTL, ep, op, fd, &blob{b: binary.LittleEndian.AppendUint64(e, fd.model)})
	}
	wait := func() {
		t.Helper()
		b.epollWait(ep)
	}
	const et, in, out = unix.EPOLLET, unix.EPOLLIN, unix.EPOLLOUT
	for round, mode := range []uint32{0, et, unix.EPOLLONESHOT, et | unix.EPOLLONESHOT} {
		op := unix.EPOLL_CTL_ADD
		if round > 0 {
			op = unix.EPOLL_CTL_MOD
		}
		for _, fd := range []fdPair{rd, x, y, f} {
			watch(op, fd, in|out|unix.EPOLLRDHUP|mode)
		}
		watch(op, wr, out|mode)
		wait()
		wait()
		b.sock(1, wr, zeros(5), 5)
		wait()
		b.sock(1, wr, zeros(5), 5)
		b.sock(1, x, zeros(5), 5)
		b.sock(1, g, zeros(5), 5)
		wait()
		wait()
		b.sock(0, rd, zeros(4), 4)
		b.sock(0, y, zeros(4), 4)
		b.sock(0, f, zeros(4), 4)
		wait()
		b.sock(0, rd, zeros(40), 40)
		b.sock(0, y, zeros(40), 40)
		b.sock(0, f, zeros(40), 40)
		wait()
		for { // full, then empty again
			if _, errno := b.sock(1, wr, zeros(4096), 4096); errno != 0 {
				break
			}
			wait()
		}
		b.sock(0, rd, zeros(4096), 4096)
		wait()
		b.sock(0, rd, zeros(65536), 65536)
		wait()
		wait()
	}
	watch(unix.EPOLL_CTL_MOD, x, in|unix.EPOLLRDHUP|et)
	watch(unix.EPOLL_CTL_MOD, rd, in|et)
	wait()
	b.sock(3, wr)
	b.sock(3, g)
	b.sock(unix.SYS_SHUTDOWN, y, 1)
	wait()
	wait()
	b.sock(3, y)
	wait()
	wait()
	b.ready(f)
	b.sock(0, f, zeros(4), 4)
	for _, fd := range []fdPair{x, rd, f, ep} {
		b.sock(3, fd)
	}
}

// epollWait compares the events of an epoll instance, whose order is each kernel's own.
func (b *both) epollWait(ep fdPair) {
	b.t.Helper()
	b.top = scratch
	at := b.space(12 * 16)
	n := b.must(unix.SYS_EPOLL_WAIT, ep.model, at, 16, 0)
	native := make([]byte, 12*16)
	k, _, errno := unix.Syscall6(unix.SYS_EPOLL_WAIT, uintptr(ep.native), uintptr(unsafe.Pointer(&native[0])), 16, 0, 0, 0)
	if errno != 0 {
		b.t.Fatal(errno)
	}
	events := func(p []byte) (l []string) {
		for ; len(p) > 0; p = p[12:] {
			l = append(l, fmt.Sprintf("%d: %#x", binary.LittleEndian.Uint64(p[4:]), binary.LittleEndian.Uint32(p)))
		}
		slices.Sort(l)
		return l
	}
	got, want := events(b.peek(at, int(12*n))), events(native[:12*k])
	b.log = append(b.log, fmt.Sprint("epoll_wait: ", got))
	if !slices.Equal(got, want) {
		b.t.Fatalf("events %q, natively %q\nbefore:\n%s", got, want, strings.Join(b.log[max(0, len(b.log)-25):], "\n"))
	}
}

// chdir makes the two directories the current ones.
func (b *both) chdir() unix.Errno {
	old, _ := unix.Open(".", unix.O_RDONLY, 0)
	b.t.Cleanup(func() { _ = unix.Fchdir(old); unix.Close(old) })
	_, errno, _ := b.do(80, false, local(""))
	return errno
}

// TestRandomSocketCallsAgainstLinux makes random calls on sockets of all kinds, forking and
// restoring the model on the way.
func TestRandomSocketCallsAgainstLinux(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			const nb = unix.SOCK_NONBLOCK
			b := newBothSockets(t)
			if errno := b.chdir(); errno != 0 {
				t.Fatal(errno)
			}
			r := rand.New(rand.NewSource(int64(seed.Of(t))))
			var addrs []*blob
			for i, p := range ports(t, 3) {
				addrs = append(addrs, inet4([4]byte{127, 0, 0, 1}, p), inet6([16]byte{15: 1}, p), unixAddr(fmt.Sprint("p", i)), unixAddr(fmt.Sprintf("\x00sc%d", p)))
			}
			var fds []fdPair
			fd := func() fdPair {
				if len(fds) == 0 {
					return fdPair{900, 900000}
				}
				return fds[r.Intn(len(fds))]
			}
			six := map[fdPair]bool{} // what an AF_INET6 socket makes of AF_INET depends on the kernel
			addr := func(f fdPair) *blob {
				a := addrs[r.Intn(len(addrs))]
				for six[f] && a.b[0] == unix.AF_INET {
					a = addrs[r.Intn(len(addrs))]
				}
				return &blob{b: a.b}
			}
			named := map[fdPair]bool{} // with a port of their own choice: compared
			for range *stepsFlag / 3 {
				if len(fds) > 14 {
					b.sock(3, fds[0])
					fds = fds[1:]
				}
				n := []int{1, 3, 10, 500, 5000}[r.Intn(5)]
				flags := []int{0, 0, unix.MSG_DONTWAIT, unix.MSG_NOSIGNAL}[r.Intn(4)]
				switch r.Intn(16) {
				case 0, 1:
					domain := []int{1, 2, 10}[r.Intn(3)]
					f, errno := b.sock(unix.SYS_SOCKET, domain, []int{1, 2, 5}[r.Intn(3)]|nb, 0)
					if errno == 0 {
						six[f] = domain == unix.AF_INET6
						b.sock(unix.SYS_SETSOCKOPT, f, 1, unix.SO_REUSEADDR, size(1), 4)
						fds = append(fds, f)
					}
				case 2:
					x, y := b.socketpair([]int{1, 2, 5}[r.Intn(3)] | nb)
					fds = append(fds, x, y)
				case 3:
					f := fd()
					a := addr(f)
					if _, errno := b.sock(unix.SYS_BIND, f, a, len(a.b)); errno == 0 {
						named[f] = true
					}
				case 4:
					// A listener of TCP has a name here, for a port that the system picks differs.
					if f := fd(); named[f] {
						b.sock(unix.SYS_LISTEN, f, r.Intn(3)+2)
					}
				case 5, 6:
					f := fd()
					a := addr(f)
					b.sock(unix.SYS_CONNECT, f, a, len(a.b))
				case 7:
					if f, errno := b.sock(unix.SYS_ACCEPT4, fd(), 0, 0, nb); errno == 0 {
						fds = append(fds, f)
					}
				case 8, 9:
					data := zeros(n)
					r.Read(data.b)
					b.sock(unix.SYS_SENDTO, fd(), data, n, flags, 0, 0)
				case 10:
					f := fd()
					a := addr(f)
					b.sock(unix.SYS_SENDTO, f, zeros(n), n, flags, a, len(a.b))
				case 11, 12:
					b.sock(unix.SYS_RECVFROM, fd(), zeros(n), n, flags|[]int{0, 0, unix.MSG_PEEK, unix.MSG_TRUNC}[r.Intn(4)], 0, 0)
				case 13:
					b.sock(unix.SYS_SHUTDOWN, fd(), r.Intn(3))
				case 14:
					f := fd()
					b.sock(3, f)
					fds = slices.DeleteFunc(fds, func(x fdPair) bool { return x == f })
					delete(named, f)
				case 15:
					b.sock(unix.SYS_GETSOCKOPT, fd(), 1, unix.SO_ERROR, zeros(4), size(4))
					b.machine = &machine{System: b.Fork(), t: b.t, top: scratch}
				}
				b.ready(fds...)
			}
			for _, f := range fds {
				b.sock(3, f)
			}
			for i := range b.socks.rows {
				if k := b.socks.get(i); k != nil {
					t.Errorf("socket %d is left: %+v", i, k)
				}
			}
		})
	}
}

// TestBlockedSockets: tasks wait in accept, receive, send and connect until another task lets them go on.
func TestBlockedSockets(t *testing.T) {
	m := boot(t, Config{})
	pair := func(typ uint64) (uint64, uint64) {
		at := m.space(8)
		m.must(unix.SYS_SOCKETPAIR, unix.AF_UNIX, typ, 0, at)
		return uint64(binary.LittleEndian.Uint32(m.peek(at, 4))), uint64(binary.LittleEndian.Uint32(m.peek(at+4, 4)))
	}
	x, y := pair(unix.SOCK_STREAM)
	name := m.data(unixAddr("\x00sock").b)
	l := m.must(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0)
	m.must(unix.SYS_BIND, l, name, 7)
	m.must(unix.SYS_LISTEN, l, 0)
	const thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	child := m.must(unix.SYS_CLONE, thread, scratch+1<<19, 0, 0, 0)
	first := m.Current()
	waits := func(what string, nr uint64, args ...uint64) {
		t.Helper()
		at := m.Current()
		if out := m.raw(nr, args...); out.Kind != Switch || m.Current() == at {
			t.Fatalf("%s: %+v", what, out)
		}
	}
	goOn := func(want uint64) { // the other task waits next: the first makes its call again
		t.Helper()
		waits("the other's sleep", unix.SYS_NANOSLEEP, m.words(1, 0), 0)
		m.Current().CPU.PC += 2
		if out := m.Syscall(); out.Kind != Done {
			t.Fatalf("%+v", out)
		}
		if v, _ := m.result(); v != want {
			t.Fatalf("the call that waited returned %d, want %d", int64(v), int64(want))
		}
		if out := m.Preempt(); out.Kind != Switch && out.Kind != Done {
			t.Fatalf("%+v", out)
		}
	}
	_ = child
	if m.Current() != first {
		t.Fatal("the new task runs first")
	}
	buf := m.space(300000)
	waits("receive", unix.SYS_RECVFROM, x, buf, 10, unix.MSG_WAITALL, 0, 0)
	m.must(unix.SYS_SENDTO, y, buf, 4, 0, 0, 0)
	m.must(unix.SYS_SENDTO, y, buf, 6, 0, 0, 0)
	goOn(10)
	m.cur = first
	waits("accept", unix.SYS_ACCEPT, l, 0, 0)
	c := m.must(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0)
	m.must(unix.SYS_CONNECT, c, name, 7)
	goOn(c + 1)
	m.cur = first
	m.must(unix.SYS_CONNECT, m.must(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0), name, 7)
	d := m.must(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0)
	waits("connect", unix.SYS_CONNECT, d, name, 7)
	m.must(unix.SYS_ACCEPT, l, 0, 0)
	goOn(0)
	m.cur = first
	waits("send", unix.SYS_SENDTO, x, buf, 300000, 0, 0, 0)
	if n := m.must(0, y, buf, 300000); n < 200000 {
		t.Fatalf("%d bytes were there", n)
	}
	goOn(300000)
}

// TestSymbolicSockets: what a socket carries stays symbolic and is rebased with the rest; a
// snapshot of concrete sockets behaves alike, one of symbolic ones is refused.
func TestSymbolicSockets(t *testing.T) {
	m := boot(t, Config{})
	x := expr.New()
	at := m.space(8)
	m.must(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_DGRAM, 0, at)
	a, b := uint64(binary.LittleEndian.Uint32(m.peek(at, 4))), uint64(binary.LittleEndian.Uint32(m.peek(at+4, 4)))
	m.must(unix.SYS_SENDTO, a, m.data([]byte("concrete")), 8, 0, 0, 0)
	s := m.must(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0)
	m.must(unix.SYS_LISTEN, s, 1)
	addr, size := m.space(16), m.data([]byte{16, 0, 0, 0})
	m.must(unix.SYS_GETSOCKNAME, s, addr, size)
	c := m.must(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0)
	m.must(unix.SYS_CONNECT, c, addr, 16)
	m.must(1, c, m.data([]byte("sent before")), 11)
	image, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Unmarshal(image, *m.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := back.Marshal(); err != nil || !bytes.Equal(image, again) {
		t.Errorf("marshalled again: %v", err)
	}
	for _, sys := range []*System{m.Fork(), back, m.System} {
		n := &machine{System: sys, t: t, top: m.top}
		got := n.space(40)
		conn := n.must(unix.SYS_ACCEPT, s, 0, 0)
		n.must(0, conn, got, 40)
		n.must(0, b, got+20, 20)
		if g := n.peek(got, 28); string(g) != "sent before\x00\x00\x00\x00\x00\x00\x00\x00\x00concrete" {
			t.Errorf("received %q", g)
		}
		if sys == m.System {
			v := x.Var("in", 8)
			p := n.space(2)
			_ = n.CurrentProcess().Mem.WriteSym(p, mem.Bytes{Data: []byte("ab"), Sym: []expr.Ref{v, 0}})
			n.must(1, a, p, 2)
			if _, err := n.Marshal(); err == nil {
				t.Error("a snapshot with a symbolic datagram")
			}
			n.Rebase(func(expr.Ref) uint64 { return 'z' })
			n.must(0, b, got, 2)
			r, _ := n.CurrentProcess().Mem.ReadSym(got, 2)
			if string(r.Data) != "zb" || r.Sym == nil || r.Sym[0] != v || r.Sym[1] != 0 {
				t.Errorf("received %+v", r)
			}
		}
	}
}

// TestBrokenStreamSignals: writing to a stream that nobody reads raises SIGPIPE, but not with MSG_NOSIGNAL.
func TestBrokenStreamSignals(t *testing.T) {
	m := boot(t, Config{})
	at := m.space(8)
	m.must(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, at)
	a := uint64(binary.LittleEndian.Uint32(m.peek(at, 4)))
	m.must(3, uint64(binary.LittleEndian.Uint32(m.peek(at+4, 4))))
	if _, errno := m.call(unix.SYS_SENDTO, a, at, 1, unix.MSG_NOSIGNAL, 0, 0); errno != unix.EPIPE {
		t.Error(errno)
	}
	if out := m.raw(1, a, at, 1); out.Kind != Exited || m.ExitStatus().Signal != int(unix.SIGPIPE) {
		t.Errorf("%+v, %+v", out, m.ExitStatus())
	}
}
