package kernel

import (
	"encoding/binary"
	"math"
	"slices"

	"golang.org/x/sys/unix"
)

// sockOpt names a socket option, getsockopt(2).
type sockOpt struct{ Level, Name int }

// optKind is how an option's value is stored and checked.
type optKind uint8

const (
	optInt    optKind = iota // an int from lo to hi, else EINVAL
	optBool                  // an int; not 0 is 1
	optBuffer                // an int, doubled and kept between lo and hi
	optTime                  // a struct timeval, kept in ns
	optLinger                // a struct linger, kept as on<<32 | seconds
	optRead                  // read only: value
)

// optionRow describes an option. Options not listed are ENOPROTOOPT.
type optionRow struct {
	kind  optKind
	def   int // until it is set
	lo    int
	hi    int
	unset bool // -1 is the default
	value func(*System, int, *socket) []int32
}

// sockOptions is the table of options: socket(7), tcp(7), ip(7), ipv6(7). But for those that
// mention it in their row, they are kept and told, and change nothing: there is no wire.
var sockOptions = map[sockOpt]optionRow{
	{unix.SOL_SOCKET, unix.SO_REUSEADDR}: {kind: optBool}, // nameTaken
	{unix.SOL_SOCKET, unix.SO_REUSEPORT}: {kind: optBool}, // nameTaken
	{unix.SOL_SOCKET, unix.SO_KEEPALIVE}: {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_BROADCAST}: {kind: optBool}, // route
	{unix.SOL_SOCKET, unix.SO_DONTROUTE}: {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_OOBINLINE}: {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_TIMESTAMP}: {kind: optBool},
	{unix.SOL_SOCKET, unix.SO_PASSCRED}:  {kind: optBool}, // receive
	{unix.SOL_SOCKET, unix.SO_PRIORITY}:  {lo: 0, hi: 6},
	{unix.SOL_SOCKET, unix.SO_RCVLOWAT}:  {def: 1, lo: 0, hi: math.MaxInt32}, // sockReady, receiveStream
	{unix.SOL_SOCKET, unix.SO_SNDBUF}:    {kind: optBuffer, lo: 4608, hi: 2 * unixBuffer},
	{unix.SOL_SOCKET, unix.SO_RCVBUF}:    {kind: optBuffer, lo: 2304, hi: 2 * unixBuffer},
	{unix.SOL_SOCKET, unix.SO_RCVTIMEO}:  {kind: optTime},   // waitSock
	{unix.SOL_SOCKET, unix.SO_SNDTIMEO}:  {kind: optTime},   // waitSock
	{unix.SOL_SOCKET, unix.SO_LINGER}:    {kind: optLinger}, // otherClosed
	{unix.SOL_SOCKET, unix.SO_SNDLOWAT}:  {kind: optRead, value: func(*System, int, *socket) []int32 { return []int32{1} }},
	{unix.SOL_SOCKET, unix.SO_TYPE}:      {kind: optRead, value: func(_ *System, _ int, k *socket) []int32 { return []int32{int32(k.Type)} }},
	{unix.SOL_SOCKET, unix.SO_DOMAIN}:    {kind: optRead, value: func(_ *System, _ int, k *socket) []int32 { return []int32{int32(k.Domain)} }},
	{unix.SOL_SOCKET, unix.SO_PROTOCOL}:  {kind: optRead, value: func(_ *System, _ int, k *socket) []int32 { return []int32{int32(k.Proto)} }},
	{unix.SOL_SOCKET, unix.SO_ACCEPTCONN}: {kind: optRead, value: func(_ *System, _ int, k *socket) []int32 {
		if k.State == sockListening {
			return []int32{1}
		}
		return []int32{0}
	}},
	{unix.SOL_SOCKET, unix.SO_ERROR}: {kind: optRead, value: func(s *System, i int, _ *socket) []int32 {
		if e, ok := s.takeErr(i).(unix.Errno); ok {
			return []int32{int32(e)}
		}
		return []int32{0}
	}},
	{unix.SOL_SOCKET, unix.SO_PEERCRED}: {kind: optRead, value: func(_ *System, _ int, k *socket) []int32 { return k.PeerCred.ids() }},

	{unix.IPPROTO_TCP, unix.TCP_NODELAY}:      {kind: optBool},
	{unix.IPPROTO_TCP, unix.TCP_CORK}:         {kind: optBool},
	{unix.IPPROTO_TCP, unix.TCP_QUICKACK}:     {kind: optBool, def: 1},
	{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE}:     {def: 7200, lo: 1, hi: 32767},
	{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL}:    {def: 75, lo: 1, hi: 32767},
	{unix.IPPROTO_TCP, unix.TCP_KEEPCNT}:      {def: 9, lo: 1, hi: 127},
	{unix.IPPROTO_TCP, unix.TCP_SYNCNT}:       {def: 6, lo: 1, hi: 127},
	{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT}: {lo: 0, hi: math.MaxInt32},

	{unix.IPPROTO_IP, unix.IP_TOS}:            {lo: 0, hi: 255},
	{unix.IPPROTO_IP, unix.IP_TTL}:            {def: 64, lo: 1, hi: 255, unset: true},
	{unix.IPPROTO_IP, unix.IP_MULTICAST_TTL}:  {def: 1, lo: 0, hi: 255, unset: true},
	{unix.IPPROTO_IP, unix.IP_MULTICAST_LOOP}: {kind: optBool, def: 1},
	{unix.IPPROTO_IP, unix.IP_MTU_DISCOVER}:   {def: 1, lo: 0, hi: 5},
	{unix.IPPROTO_IP, unix.IP_RECVERR}:        {kind: optBool},
	{unix.IPPROTO_IP, unix.IP_FREEBIND}:       {kind: optBool},

	{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY}:         {kind: optBool}, // overlaps, route
	{unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS}:   {def: 64, lo: 0, hi: 255, unset: true},
	{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS}: {def: 1, lo: 0, hi: 255, unset: true},
	{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_LOOP}: {def: 1, lo: 0, hi: 1},
	{unix.IPPROTO_IPV6, unix.IPV6_TCLASS}:         {lo: 0, hi: 255, unset: true},
	{unix.IPPROTO_IPV6, unix.IPV6_RECVERR}:        {kind: optBool},
}

// ids is a struct ucred.
func (c cred) ids() []int32 {
	if c.PID == 0 {
		return []int32{0, -1, -1}
	}
	return []int32{int32(c.PID), int32(c.UID), int32(c.GID)}
}

// optValue is an option that has been set.
type optValue struct {
	Opt   sockOpt
	Value int
}

// opt returns the value that an option has been set to.
func (k *socket) opt(level, name int) (int, bool) {
	for _, v := range k.Opts {
		if v.Opt == (sockOpt{level, name}) {
			return v.Value, true
		}
	}
	return 0, false
}

// option returns the value of an option.
func (k *socket) option(level, name int) int {
	if v, set := k.opt(level, name); set {
		return v
	}
	return k.defaultOf(sockOpt{level, name})
}

// defaultOf is an option's value until it is set.
func (k *socket) defaultOf(o sockOpt) int {
	switch {
	case o == sockOpt{unix.SOL_SOCKET, unix.SO_SNDBUF} && k.tcp():
		return 16384 // tcp_wmem
	case o == sockOpt{unix.SOL_SOCKET, unix.SO_RCVBUF} && k.tcp():
		return 131072 // tcp_rmem
	case sockOptions[o].kind == optBuffer:
		return unixBuffer
	}
	return sockOptions[o].def
}

// optionOf finds the row of the option in arguments 1 and 2.
func (c *call) optionOf(k *socket) (sockOpt, optionRow, error) {
	o := sockOpt{c.arg32(1), c.arg32(2)}
	row, known := sockOptions[o]
	switch {
	case k.unix() && o.Level != unix.SOL_SOCKET:
		return o, row, unix.EOPNOTSUPP
	case !known, o.Level == unix.IPPROTO_TCP && !k.tcp(), o.Level == unix.IPPROTO_IPV6 && k.Domain != unix.AF_INET6:
		return o, row, unix.ENOPROTOOPT
	case o == sockOpt{unix.SOL_SOCKET, unix.SO_PASSCRED} && !k.unix():
		return o, row, unix.EOPNOTSUPP
	}
	return o, row, nil
}

// size is how many bytes a value of the option has.
func (r *optionRow) size() int {
	switch r.kind {
	case optTime:
		return 16
	case optLinger:
		return 8
	}
	return 4
}

// decode is the value of option o of k that 16 bytes stand for.
func (r *optionRow) decode(o sockOpt, k *socket, b []byte) (int, error) {
	le := binary.LittleEndian
	v := int(int32(le.Uint32(b)))
	switch r.kind {
	case optBool:
		return min(int(uint32(v)), 1), nil
	case optInt:
		v = r.adjust(o, k, v)
		if v < r.lo || v > r.hi {
			return 0, unix.EINVAL
		}
	case optBuffer:
		return max(r.lo, 2*min(int(uint32(v)), r.hi/2)), nil
	case optTime:
		s, us := int64(le.Uint64(b)), int64(le.Uint64(b[8:]))
		switch {
		case us < 0 || us >= 1e6:
			return 0, unix.EDOM
		case s < 0, s > math.MaxInt64/1_000_000_000-1: // for ever
			return 0, nil
		}
		return int(s)*1e9 + int(us)*1e3, nil
	case optLinger:
		if v != 0 {
			return 1<<32 | int(le.Uint32(b[4:])), nil
		}
	}
	return v, nil
}

// adjust is what Linux makes of an integer before it looks at its bounds.
func (r *optionRow) adjust(o sockOpt, k *socket, v int) int {
	switch {
	case o == sockOpt{unix.IPPROTO_IP, unix.IP_TOS} && k.tcp():
		return v & 0xff &^ 3 // the bits of congestion control are its own
	case o == sockOpt{unix.IPPROTO_IP, unix.IP_TOS}:
		return v & 0xff
	case o == sockOpt{unix.SOL_SOCKET, unix.SO_RCVLOWAT} && v < 0:
		return math.MaxInt32
	case o == sockOpt{unix.SOL_SOCKET, unix.SO_RCVLOWAT}:
		return max(v, 1)
	case v == -1 && r.unset:
		return r.def
	}
	return v
}

func (c *call) sysSetsockopt() (uint64, error) {
	_, i, k, err := c.socket(c.arg32(0))
	if err != nil {
		return 0, err
	}
	n := c.arg32(4)
	if n < 0 || n < 4 && c.arg32(1) == unix.SOL_SOCKET {
		return 0, unix.EINVAL
	}
	if c.arg32(1) == unix.SOL_SOCKET {
		if _, err := c.u32(c.a[3]); err != nil {
			return 0, err
		}
	}
	o, row, err := c.optionOf(k)
	switch {
	case err != nil:
		return 0, err
	case row.kind == optRead:
		return 0, unix.ENOPROTOOPT
	}
	size := row.size()
	if n < size {
		if n == 0 || o.Level != unix.IPPROTO_IP { // ip(7) takes a byte, too
			return 0, unix.EINVAL
		}
		size = 1
	}
	b, err := c.bytes(c.a[3], uint64(size))
	if err != nil {
		return 0, err
	}
	v, err := row.decode(o, k, append(b, make([]byte, 16-size)...))
	if err != nil {
		return 0, err
	}
	switch {
	case o == sockOpt{unix.IPPROTO_IP, unix.IP_MULTICAST_TTL} && k.tcp():
		return 0, unix.EINVAL
	case o == sockOpt{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY} && k.Name.Family != 0:
		return 0, unix.EINVAL
	case o == sockOpt{unix.SOL_SOCKET, unix.SO_REUSEPORT} && k.unix() && v != 0:
		return 0, unix.EOPNOTSUPP
	}
	e := c.s.sock(i)
	e.Opts = slices.DeleteFunc(e.Opts, func(x optValue) bool { return x.Opt == o })
	e.Opts = append(e.Opts, optValue{o, v})
	return 0, nil
}

func (c *call) sysGetsockopt() (uint64, error) {
	_, i, k, err := c.socket(c.arg32(0))
	if err != nil {
		return 0, err
	}
	n, err := c.u32(c.a[4])
	if err != nil {
		return 0, err
	}
	o, row, err := c.optionOf(k)
	switch {
	case int32(n) < 0:
		return 0, unix.EINVAL
	case err == unix.ENOPROTOOPT && c.lacks(err) == nil:
		return 0, c.put(c.a[3], make([]byte, min(n, 16)))
	case err == unix.ENOPROTOOPT && k.Domain == unix.AF_INET && o.Level != unix.SOL_SOCKET && o.Level != unix.IPPROTO_IP && !(k.tcp() && o.Level == unix.IPPROTO_TCP):
		return 0, unix.EOPNOTSUPP // ip_getsockopt
	case err != nil:
		return 0, err
	}
	var b []byte
	le := binary.LittleEndian
	v := k.option(o.Level, o.Name)
	switch row.kind {
	case optRead:
		if err := c.room(c.a[3], uint64(min(n, 12))); err != nil {
			return 0, err
		}
		for _, x := range row.value(c.s, i, k) {
			b = le.AppendUint32(b, uint32(x))
		}
	case optTime:
		b = le.AppendUint64(le.AppendUint64(b, uint64(v/1e9)), uint64(v%1e9/1e3))
	case optLinger:
		b = le.AppendUint32(le.AppendUint32(b, uint32(v>>32)), uint32(v))
	default:
		b = le.AppendUint32(b, uint32(v))
	}
	if o.Level == unix.IPPROTO_IP && n > 0 && n < 4 {
		n = 1
	}
	b = b[:min(len(b), int(n))]
	if err := c.put(c.a[3], b); err != nil {
		return 0, err
	}
	return 0, c.put32(c.a[4], uint32(len(b)))
}
