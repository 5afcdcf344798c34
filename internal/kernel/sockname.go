package kernel

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"
)

// sockName is a socket address. The zero value is none.
type sockName struct {
	Family int
	Path   string     // AF_UNIX, unix(7): a path with its NUL, or NUL and an abstract name; "" is unnamed
	IP     netip.Addr // 4 or 16 bytes, as Family has it
	Port   uint16
}

func (n sockName) encode() []byte {
	b := binary.LittleEndian.AppendUint16(nil, uint16(n.Family))
	if n.Family == unix.AF_UNIX {
		return append(b, n.Path...)
	}
	b = binary.BigEndian.AppendUint16(b, n.Port)
	if n.Family == unix.AF_INET {
		return append(append(b, n.IP.AsSlice()...), make([]byte, 8)...)
	}
	return append(append(append(b, 0, 0, 0, 0), n.IP.AsSlice()...), 0, 0, 0, 0)
}

// as is the same internet address for a socket of another family: IPv4 is mapped into IPv6.
func (n sockName) as(family int) sockName {
	n.Family = family
	if n.IP = n.IP.Unmap(); family == unix.AF_INET6 {
		n.IP = netip.AddrFrom16(n.IP.As16())
	}
	return n
}

// anyName is what getsockname(2) gives for a socket without a name.
func (k *socket) anyName() sockName {
	n := sockName{Family: k.Domain}
	switch k.Domain {
	case unix.AF_INET:
		n.IP = netip.IPv4Unspecified()
	case unix.AF_INET6:
		n.IP = netip.IPv6Unspecified()
	}
	return n
}

// loopback is the address that packets to n come from.
func loopback(n sockName) netip.Addr {
	v4 := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	switch {
	case n.IP.Is4():
		return v4
	case n.IP.Is4In6():
		return netip.AddrFrom16(v4.As16())
	}
	return netip.IPv6Loopback()
}

func familyOf(b []byte) int { return int(binary.LittleEndian.Uint16(b)) }

// sockaddr reads an address argument.
func (c *call) sockaddr(addr uint64, n int) ([]byte, error) {
	if n < 0 || n > 128 { // struct sockaddr_storage
		return nil, unix.EINVAL
	}
	return c.bytes(addr, uint64(n))
}

// parse reads an internet address for k.
func (k *socket) parse(b []byte, bind bool) (sockName, error) {
	n := sockName{Family: k.Domain}
	size := 16
	if k.Domain == unix.AF_INET6 {
		if k.udp() && !bind && len(b) >= 16 && familyOf(b) == unix.AF_INET { // IPv4 through IPv6
			v4 := socket{Domain: unix.AF_INET, Type: k.Type}
			n, err := v4.parse(b, false)
			return n.as(unix.AF_INET6), err
		}
		size = 24 // without sin6_scope_id, RFC 2133
	}
	switch {
	case len(b) < size:
		return n, unix.EINVAL
	case familyOf(b) == unix.AF_UNSPEC && k.Domain == unix.AF_INET && (bind || k.udp()):
		if bind && binary.BigEndian.Uint32(b[4:]) != 0 {
			return n, unix.EAFNOSUPPORT
		}
	case familyOf(b) != k.Domain:
		return n, unix.EAFNOSUPPORT
	}
	n.Port = binary.BigEndian.Uint16(b[2:])
	if k.Domain == unix.AF_INET {
		n.IP = netip.AddrFrom4([4]byte(b[4:8]))
	} else {
		n.IP = netip.AddrFrom16([16]byte(b[8:24]))
	}
	return n, nil
}

// putName stores a name and its length, cut off at the length that was there (move_addr_to_user).
func (c *call) putName(addr, lenAddr uint64, n sockName) error {
	var b []byte
	if n.Family != 0 {
		b = n.encode()
	}
	room, err := c.u32(lenAddr)
	switch {
	case err != nil:
		return err
	case int32(room) < 0:
		return unix.EINVAL
	}
	if err := c.put(addr, b[:min(len(b), int(room))]); err != nil {
		return err
	}
	return c.put32(lenAddr, uint32(len(b)))
}

// bindUnix is unix_bind in net/unix/af_unix.c.
func (c *call) bindUnix(i int, b []byte) error {
	k := c.s.socks.get(i)
	if len(b) == 2 && familyOf(b) == unix.AF_UNIX {
		return c.autobindUnix(i)
	}
	path, err := unixPath(b)
	if err != nil {
		return err
	}
	node := 0
	if path[0] != 0 {
		v, err := c.final(unix.AT_FDCWD, strings.TrimSuffix(path, "\x00"))
		if err == nil {
			err = v.absent(false)
		}
		switch {
		case err == unix.EEXIST:
			return unix.EADDRINUSE
		case err != nil:
			return err
		case k.Name.Family != 0:
			return unix.EINVAL
		}
		if node, err = c.s.create(c.p, v.vnode, &inode{Mode: unix.S_IFSOCK | 0o777&^c.p.Umask, Nlink: 1}); err != nil {
			return err
		}
	} else if k.Name.Family != 0 {
		return unix.EINVAL
	} else if _, found := c.s.abstract(k.Type, path); found {
		return unix.EADDRINUSE
	}
	e := c.s.sock(i)
	e.Name, e.Node, e.Bound = sockName{Family: unix.AF_UNIX, Path: path}, node, true
	return nil
}

// autobindUnix gives a socket an abstract name of five digits if it has none, unix(7).
func (c *call) autobindUnix(i int) error {
	k := c.s.sock(i)
	for k.Name.Family == 0 {
		c.s.ports++
		path := fmt.Sprintf("\x00%05x", c.s.ports&0xfffff)
		if _, found := c.s.abstract(k.Type, path); !found {
			k.Name, k.Bound = sockName{Family: unix.AF_UNIX, Path: path}, true
		}
	}
	return nil
}

// unixPath checks an AF_UNIX address and returns its path as in sockName.
func unixPath(b []byte) (string, error) {
	if len(b) <= 2 || len(b) > 110 || familyOf(b) != unix.AF_UNIX { // unix_validate_addr
		return "", unix.EINVAL
	}
	path := string(b[2:])
	if path[0] != 0 {
		path, _, _ = strings.Cut(path, "\x00")
		path += "\x00"
	}
	return path, nil
}

// abstract finds the socket with an abstract name; each type has its own names.
func (s *System) abstract(typ int, path string) (int, bool) {
	for i := range s.socks.rows {
		if o := s.socks.get(i); o != nil && o.unix() && o.Type == typ && o.Name.Path == path && o.Bound {
			return i, true
		}
	}
	return 0, false
}

// findUnix finds the socket that an address names (unix_find_other).
func (c *call) findUnix(k *socket, b []byte) (int, error) {
	path, err := unixPath(b)
	if err != nil {
		return 0, err
	}
	if path[0] == 0 {
		if i, found := c.s.abstract(k.Type, path); found {
			return i, nil
		}
		return 0, unix.ECONNREFUSED
	}
	v, err := c.existing(unix.AT_FDCWD, strings.TrimSuffix(path, "\x00"), true)
	switch {
	case err != nil:
		return 0, err
	case !c.s.may(v.st, 2):
		return 0, unix.EACCES
	}
	for i := range c.s.socks.rows {
		o := c.s.socks.get(i)
		if o == nil || v.node == 0 || o.Node != v.node || !o.Bound {
			continue
		}
		if o.Type != k.Type {
			return 0, unix.EPROTOTYPE
		}
		return i, nil
	}
	return 0, unix.ECONNREFUSED
}

// v6only reports whether k takes no IPv4.
func (k *socket) v6only() bool {
	return k.option(unix.IPPROTO_IPV6, unix.IPV6_V6ONLY) != 0
}

// onLoopback reports whether an address, which may be mapped, is one of the loopback.
func onLoopback(a netip.Addr) bool { return a.Unmap().IsLoopback() }

// route returns where packets from k to n go: the loopback or nowhere.
func (s *System) route(k *socket, n sockName) (sockName, error) {
	if n.IP.Unmap().IsUnspecified() {
		n.IP = loopback(n)
	}
	switch {
	case n.IP.Unmap() == netip.AddrFrom4([4]byte{255, 255, 255, 255}) && k.option(unix.SOL_SOCKET, unix.SO_BROADCAST) == 0:
		return n, unix.EACCES
	case !onLoopback(n.IP) && s.cfg.World.Network:
		return n, unix.ECONNREFUSED
	case !onLoopback(n.IP) || n.IP.Is4In6() && k.v6only():
		return n, unix.ENETUNREACH
	case !k.named() || k.Name.IP.Unmap().IsUnspecified():
	case k.Name.IP.Is4In6() && !n.IP.Is4In6():
		return n, unix.EAFNOSUPPORT
	case n.IP.Is4In6() && !k.Name.IP.Is4In6():
		return n, unix.ENETUNREACH
	}
	return n, nil
}

// named reports whether k holds a port. TCP gives one that nobody chose back when the connection is refused or reset.
func (k *socket) named() bool {
	return k.Name.Family != 0 && (!k.tcp() || k.Bound || k.State == sockConnected || k.State == sockListening)
}

// bindInet gives socket i an internet address; port 0 stands for the next free one from 32768 on.
func (c *call) bindInet(i int, n sockName) error {
	k := c.s.socks.get(i)
	switch {
	case !n.IP.Unmap().IsUnspecified() && !onLoopback(n.IP) || n.IP.Is4In6() && k.v6only():
		return unix.EADDRNOTAVAIL
	case n.Port != 0 && n.Port < 1024 && !c.s.super():
		return unix.EACCES
	case k.State == sockConnected || k.State == sockListening || k.named():
		return unix.EINVAL
	}
	if n.Port != 0 && c.s.nameTaken(i, n) {
		return unix.EADDRINUSE
	}
	const first, count = 32768, 28232 // net.ipv4.ip_local_port_range
	for tries := 0; n.Port == 0; tries++ {
		if tries == count {
			return unix.EADDRINUSE
		}
		n.Port = first + uint16(c.s.ports%count)
		if c.s.cfg.World.Inverse {
			n.Port = first + count - 1 - uint16(c.s.ports%count)
		}
		c.s.ports++
		if c.s.nameTaken(i, n) {
			n.Port = 0
		}
	}
	c.s.sock(i).Name = n
	return nil
}

// autobind gives an internet socket a name if it has none.
func (c *call) autobind(i int) error {
	if k := c.s.socks.get(i); !k.named() {
		return c.bindInet(i, k.anyName())
	}
	return nil
}

// nameTaken reports whether another socket keeps i from having name n (inet_csk_bind_conflict).
func (s *System) nameTaken(i int, n sockName) bool {
	k := s.socks.get(i)
	both := func(o *socket, opt int) bool {
		return k.option(unix.SOL_SOCKET, opt) != 0 && o.option(unix.SOL_SOCKET, opt) != 0
	}
	for j := range s.socks.rows {
		o := s.socks.get(j)
		if j == i || o == nil || o.unix() || o.Type != k.Type || !o.named() || o.Name.Port != n.Port {
			continue
		}
		if !k.overlaps(n, o.Name) && !o.overlaps(o.Name, n) {
			continue
		}
		if both(o, unix.SO_REUSEPORT) || both(o, unix.SO_REUSEADDR) && o.State != sockListening {
			continue
		}
		return true
	}
	return false
}

// overlaps reports whether a socket k with name n receives what is sent to address to.
func (k *socket) overlaps(n, to sockName) bool {
	switch a, b := n.IP.Unmap(), to.IP.Unmap(); {
	case a == b:
		return true
	case !a.IsUnspecified():
		return false
	case a.Is4():
		return b.Is4()
	default:
		return b.Is6() || !k.v6only()
	}
}

// findInet finds the socket that k's packets to n reach: a listener of TCP, or the best match of UDP (compute_score).
func (s *System) findInet(k *socket, n sockName) (int, bool) {
	best, at := 0, 0
	from := k.Name.IP.Unmap()
	if from.IsUnspecified() {
		from = loopback(n).Unmap()
	}
	for i := range s.socks.rows {
		o := s.socks.get(i)
		if o == nil || o.unix() || o.Type != k.Type || o.Name.Family == 0 || o.Name.Port != n.Port || !o.overlaps(o.Name, n) {
			continue
		}
		score := 1
		switch {
		case o.tcp() && o.State != sockListening:
			continue
		case o.udp() && o.State == sockConnected:
			if o.Peer.Port != k.Name.Port || o.Peer.IP.Unmap() != from {
				continue
			}
			score += 8
		}
		if !o.Name.IP.IsUnspecified() {
			score += 4
		}
		if o.Domain == k.Domain {
			score += 2
		}
		if score > best {
			best, at = score, i
		}
	}
	return at, best > 0
}
