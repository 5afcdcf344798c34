package kernel

import (
	"encoding/binary"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/mem"
)

// call is one system call in progress. Methods named after a call implement it:
// they return RAX, or an error: a unix.Errno, or one of the types below.
type call struct {
	s    *System
	t    *Task
	p    *Process
	a    [6]uint64 // arguments
	mask uint64    // of t's signals, when the call began
	was  wait      // how the task waited before this attempt; zero at the first

	result expr.Ref // of RAX; 0: it is no expression

	moved [2]uint64 // the memory that brk(2) has added or taken away
}

// needConcrete: memory must be made concrete and the call made again.
type needConcrete struct{ addr, n uint64 }

func (needConcrete) Error() string { return "memory must be concrete" }

// unsupported: the model does not handle these arguments.
type unsupported string

func (u unsupported) Error() string { return string(u) }

// blocked: the task must wait and the call is made again.
type blocked wait

func (blocked) Error() string { return "blocked" }

// goesOn: the call has moved so many bytes and is made again, to go on behind them.
type goesOn uint64

func (goesOn) Error() string { return "the call goes on" }

// deviceRequest: a request to the guest device.
type deviceRequest mem.Bytes

func (deviceRequest) Error() string { return "device request" }

// control: the call had its effect and RAX is not its result.
type control int

const (
	newContext control = iota // the task has new registers: execve, sigreturn
	yielded                   // another task may run
	taskEnded                 // the task is gone
)

func (control) Error() string { return "control" }

// bytes reads n concrete bytes at addr.
func (c *call) bytes(addr, n uint64) ([]byte, error) {
	b, err := c.look(addr, n)
	if err == nil {
		c.s.callAccess(addr, n, false)
	}
	return b, err
}

// look is bytes without telling the order of tasks.
func (c *call) look(addr, n uint64) ([]byte, error) {
	if n > 1<<26 || addr+n < addr || !c.p.Mem.Mapped(addr, n, guest.ProtRead) {
		c.s.seesMapped(addr, n)
		return nil, unix.EFAULT
	}
	if c.p.Mem.HasSym(addr, n) {
		return nil, needConcrete{addr, n}
	}
	c.s.moves(int(n))
	b := make([]byte, n)
	if c.p.Mem.Read(addr, b) != nil {
		return nil, unix.EFAULT
	}
	return b, nil
}

func (c *call) u32(addr uint64) (uint32, error) {
	b, err := c.bytes(addr, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (c *call) u64(addr uint64) (uint64, error) {
	b, err := c.bytes(addr, 8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// words reads n 64-bit words.
func (c *call) words(addr, n uint64) ([]uint64, error) {
	b, err := c.bytes(addr, 8*n)
	if err != nil {
		return nil, err
	}
	w := make([]uint64, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return w, nil
}

// str reads a string that ends with NUL; at most limit bytes. Symbolic bytes are
// asked for one at a time: how many there are depends on their values.
func (c *call) str(addr uint64, limit int, tooLong unix.Errno) (string, error) {
	var out []byte
	for at := addr; ; {
		n := 64 - at%64
		b := make([]byte, n)
		if c.p.Mem.Read(at, b) != nil {
			c.s.seesMapped(at, n)
			return "", unix.EFAULT
		}
		sym := c.p.Mem.HasSym(at, n)
		for i, v := range b {
			if sym && c.p.Mem.HasSym(at+uint64(i), 1) {
				return "", needConcrete{at + uint64(i), 1}
			}
			if v == 0 {
				out = append(out, b[:i]...)
				c.s.callAccess(addr, uint64(len(out))+1, false)
				return string(out), nil
			}
		}
		out = append(out, b...)
		if len(out) >= limit {
			return "", tooLong
		}
		at += n
	}
}

// path reads a path argument.
func (c *call) path(addr uint64) (string, error) {
	return c.str(addr, unix.PathMax, unix.ENAMETOOLONG)
}

// room reports EFAULT unless [addr, addr+n) can be written.
func (c *call) room(addr, n uint64) error {
	if addr+n < addr || !c.p.Mem.Mapped(addr, n, guest.ProtWrite) {
		c.s.seesMapped(addr, n)
		return unix.EFAULT
	}
	return nil
}

// put writes concrete bytes.
func (c *call) put(addr uint64, b []byte) error {
	c.s.moves(len(b))
	if c.p.Mem.Write(addr, b) != nil {
		c.s.seesMapped(addr, uint64(len(b)))
		return unix.EFAULT
	}
	c.s.callAccess(addr, uint64(len(b)), true)
	return nil
}

func (c *call) put32(addr uint64, v uint32) error {
	return c.put(addr, binary.LittleEndian.AppendUint32(nil, v))
}

// put64 writes 64-bit words.
func (c *call) put64(addr uint64, v ...uint64) error {
	var b []byte
	for _, w := range v {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return c.put(addr, b)
}

func (c *call) putSym(addr uint64, b mem.Bytes) error {
	c.s.moves(len(b.Data))
	if c.p.Mem.WriteSym(addr, b) != nil {
		c.s.seesMapped(addr, uint64(len(b.Data)))
		return unix.EFAULT
	}
	c.s.callAccess(addr, uint64(len(b.Data)), true)
	return nil
}

// arg32 is argument i as a C int.
func (c *call) arg32(i int) int { return int(int32(uint32(c.a[i]))) }

var lastOwner atomic.Uint64

// table holds numbered objects that are copied when they are first written
// after a fork. A row may be changed only through edit, which makes it the system's own.
type table[T any] struct {
	rows []*row[T]
	from int // no place before it is free
}

type row[T any] struct {
	owner uint64
	v     *T
}

// cloner is what a table's objects implement: a copy that shares nothing that is changed in place.
type cloner[T any] interface {
	*T
	clone() *T
}

func (t *table[T]) fork() table[T] { return table[T]{append([]*row[T](nil), t.rows...), t.from} }

// get returns object i for reading, or nil.
func (t *table[T]) get(i int) *T {
	if i < 0 || i >= len(t.rows) || t.rows[i] == nil {
		return nil
	}
	return t.rows[i].v
}

// edit returns object i for writing. Require: it exists.
func edit[T any, P cloner[T]](t *table[T], owner uint64, i int) *T {
	r := t.rows[i]
	if r.owner != owner {
		r = &row[T]{owner, P(r.v).clone()}
		t.rows[i] = r
	}
	return r.v
}

// add stores v in the lowest free place and returns its number.
func (t *table[T]) add(owner uint64, v *T) int {
	for t.from < len(t.rows) && t.rows[t.from] != nil {
		t.from++
	}
	i := t.from
	if t.from++; i < len(t.rows) {
		t.rows[i] = &row[T]{owner, v}
	} else {
		t.rows = append(t.rows, &row[T]{owner, v})
	}
	return i
}

func (t *table[T]) del(i int) { t.rows[i], t.from = nil, min(t.from, i) }

func (s *System) file(i int) *file   { return edit[file](&s.files, s.owner, i) }
func (s *System) pipe(i int) *pipe   { return edit[pipe](&s.pipes, s.owner, i) }
func (s *System) sock(i int) *socket { return edit[socket](&s.socks, s.owner, i) }
func (s *System) inode(i int) *inode { return edit[inode](&s.nodes, s.owner, i) }

// random is the deterministic random stream (splitmix64).
func (s *System) random() uint64 {
	s.rng += 0x9e3779b97f4a7c15
	z := s.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return s.cfg.World.random(z ^ z>>31)
}

func (s *System) randomBytes(n int) []byte {
	s.moves(n)
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, s.random())
	}
	return b[:n]
}
