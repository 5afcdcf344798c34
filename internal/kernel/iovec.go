package kernel

import (
	"errors"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/mem"
)

// iovec is a piece of guest memory, readv(2).
type iovec struct{ addr, n uint64 }

func (c *call) iovecs(addr, count uint64) ([]iovec, uint64, error) {
	if count > 1024 {
		return nil, 0, unix.EINVAL
	}
	w, err := c.words(addr, 2*count)
	if err != nil {
		return nil, 0, err
	}
	var l []iovec
	total := uint64(0)
	for i := uint64(0); i < count; i++ {
		if int64(w[2*i+1]) < 0 {
			return nil, 0, unix.EINVAL
		}
		n := min(w[2*i+1], maxIO-total)
		l = append(l, iovec{w[2*i], n})
		total += n
	}
	return l, total, nil
}

// readTo reads from a descriptor into pieces of memory.
func (c *call) readTo(fd int, off int64, to []iovec, total uint64) (uint64, error) {
	i, f, err := c.fd(fd)
	if err != nil {
		return 0, err
	}
	if !f.readable() {
		return 0, unix.EBADF
	}
	if f.Kind == fileDir {
		return 0, unix.EISDIR
	}
	if f.has(opaque) {
		return 0, unix.EINVAL
	}
	if f.Kind == fileSocket {
		return c.readSocket(i, f, to, total)
	}
	if f.Kind == fileEvent && total < 8 {
		return 0, unix.EINVAL
	}
	n := c.reach(to, guest.ProtWrite)
	if n < total && f.has(seeks) {
		pos := off
		if off < 0 {
			pos = f.Off
		}
		if b, err := c.readFile(i, pos, 1); err != nil || len(b.Data) == 0 { // nothing is copied
			return 0, err
		}
	} else if need := min(total, f.kind().takes(c.s, f)); n < need {
		n = 0
	} else {
		n = total
	}
	if n == 0 && total > 0 {
		if f.Kind == fileEvent { // eventfd_read has taken it by then
			if _, err := c.readFile(i, off, 8); err != nil {
				return 0, err
			}
		}
		return 0, unix.EFAULT
	}
	some := func(done, k uint64) (uint64, error) {
		b, err := c.readFile(i, ahead(off, done), int(k))
		if err != nil {
			return 0, err
		}
		return uint64(len(b.Data)), c.scatter(to, int(done), b)
	}
	if !f.has(bulk) {
		return some(0, n)
	}
	return c.inPieces(n, some)
}

// pieceSize is how many bytes are moved at a time where a call may move any number: that bounds what it needs beside what it fills.
//
// A call of a process that is alone comes back after partSize, to be made again: the limits of an exploration are looked at between.
const (
	pieceSize = 1 << 20
	partSize  = 8 << 20
)

// inPieces moves n bytes piece by piece, by calls of move, which is told how many have been moved before and how many are to be; it returns how many it has moved. Between
// two pieces the memory of the process is looked at.
func (c *call) inPieces(n uint64, move func(done, k uint64) (uint64, error)) (uint64, error) {
	from := c.movedBefore()
	for done := from; ; {
		k := min(n-done, pieceSize)
		moved, err := move(done, k)
		if errors.As(err, new(unix.Errno)) && done > 0 {
			return done, nil // the next call says why
		}
		if err != nil {
			return 0, err
		}
		if done += moved; moved < k || done == n {
			return done, nil
		}
		if c.s.Exceeded() != "" || done-from >= partSize && len(c.s.tasks) == 1 && !c.s.booting() {
			return 0, goesOn(done)
		}
	}
}

// movedBefore is how many bytes the call has moved before it was made again.
func (c *call) movedBefore() uint64 {
	if c.was.Kind == waitMore {
		return uint64(c.was.Done)
	}
	return 0
}

// ahead is the offset n bytes behind off; below 0 is the file's own, which moves.
func ahead(off int64, n uint64) int64 {
	if off < 0 {
		return off
	}
	return off + int64(n)
}

// reach is how many bytes of the pieces, from the first on, can be read or written as p says.
func (c *call) reach(v []iovec, p guest.Prot) (n uint64) {
	for _, x := range v {
		if c.p.Mem.Mapped(x.addr, x.n, p) && x.addr+x.n >= x.addr {
			n += x.n
			continue
		}
		for at := x.addr; at < x.addr+x.n && c.p.Mem.Mapped(at, 1, p); {
			next := min(guest.PageDown(at)+guest.PageSize, x.addr+x.n)
			n += next - at
			at = next
		}
		c.s.seesMapped(x.addr, x.n)
		break
	}
	return n
}

// cut is the first n bytes of the pieces.
func cut(v []iovec, n uint64) (out []iovec) {
	for _, x := range v {
		if x.n = min(x.n, n); x.n > 0 {
			out = append(out, x)
		}
		n -= x.n
	}
	return out
}

// behind is the pieces without the first n bytes.
func behind(v []iovec, n uint64) (out []iovec) {
	for _, x := range v {
		k := min(x.n, n)
		if x.n > k {
			out = append(out, iovec{x.addr + k, x.n - k})
		}
		n -= k
	}
	return out
}

// pieces checks that memory can be read or written as the pieces say.
func (c *call) pieces(v []iovec, p guest.Prot) error {
	for _, x := range v {
		if x.addr+x.n < x.addr || !c.p.Mem.Mapped(x.addr, x.n, p) {
			c.s.seesMapped(x.addr, x.n)
			return unix.EFAULT
		}
	}
	return nil
}

// scatter stores b in the pieces of memory to, behind the first skip bytes of them.
func (c *call) scatter(to []iovec, skip int, b mem.Bytes) error {
	for _, v := range to {
		if k := min(int(v.n), skip); k > 0 {
			v.addr, v.n, skip = v.addr+uint64(k), v.n-uint64(k), skip-k
		}
		k := min(int(v.n), len(b.Data))
		if err := c.putSym(v.addr, b.Slice(0, k)); err != nil {
			return err
		}
		b = b.Slice(k, len(b.Data))
	}
	return nil
}

// gather joins pieces of memory; concrete demands that they are.
func (c *call) gather(from []iovec, concrete bool) (mem.Bytes, error) {
	if err := c.pieces(from, guest.ProtRead); err != nil {
		return mem.Bytes{}, err
	}
	var all *chunk
	for _, v := range from {
		if concrete && c.p.Mem.HasSym(v.addr, v.n) {
			return mem.Bytes{}, needConcrete(v)
		}
		c.s.callAccess(v.addr, v.n, false)
		c.s.moves(int(v.n))
		b, err := c.p.Mem.ReadSym(v.addr, int(v.n))
		if err != nil {
			return b, unix.EFAULT
		}
		if len(from) == 1 {
			return b, nil
		}
		all = all.add(b)
	}
	return all.bytes(), nil
}

// writeFrom writes pieces of memory to a descriptor.
func (c *call) writeFrom(fd int, off int64, from []iovec) (uint64, error) {
	i, f, err := c.fd(fd)
	if err != nil {
		return 0, err
	}
	if !f.writable() {
		return 0, unix.EBADF
	}
	if f.has(opaque) {
		return 0, unix.EINVAL
	}
	if f.Kind == fileNull || f.Kind == fileZero { // which do not look
		return uint64(total(from)), nil
	}
	if n := c.reach(from, guest.ProtRead); n < uint64(total(from)) {
		switch {
		case f.Kind == fileEvent && total(from) < 8:
			return 0, unix.EINVAL
		case f.Kind == fileFull:
			return 0, unix.ENOSPC
		case n > 0:
			from = cut(from, n)
		case f.Kind == filePipe && f.Out >= 0:
			p := c.s.pipes.get(f.Out)
			if p.Readers > 0 && len(p.Buf.Data) < p.size() {
				return 0, unix.EFAULT
			}
			return c.writeFile(i, off, mem.Concrete([]byte{0})) // does not come to the bytes
		case f.Kind == fileSocket:
			m := message{}
			if err := c.outgoing(&m, from); err != nil {
				return 0, err
			}
			return c.sendTo(i, f.Sock, m)
		default:
			return 0, unix.EFAULT
		}
	}
	if n := uint64(total(from)); n > pieceSize && f.has(bulk) {
		done := c.movedBefore()
		return c.inPieces(done+c.allowed(f, ahead(off, done), n-done), func(done, k uint64) (uint64, error) {
			b, err := c.gather(cut(behind(from, done), k), false)
			if err != nil {
				return 0, err
			}
			return c.writeFile(i, ahead(off, done), b)
		})
	}
	all, err := c.gather(cut(from, maxWhole), f.has(literal))
	if err == nil && f.Kind == fileDevice && !requestLine(all) {
		all, err = c.gather(from, true)
	}
	if err != nil {
		return 0, err
	}
	return c.writeFile(i, off, all)
}

func (c *call) sysRead() (uint64, error) {
	n := min(c.a[2], maxIO)
	return c.readTo(c.arg32(0), -1, []iovec{{c.a[1], n}}, n)
}

func (c *call) sysPread() (uint64, error) {
	if err := c.seekable(3); err != nil {
		return 0, err
	}
	n := min(c.a[2], maxIO)
	return c.readTo(c.arg32(0), int64(c.a[3]), []iovec{{c.a[1], n}}, n)
}

func (c *call) sysReadv() (uint64, error) {
	return c.vector(-1, true)
}

func (c *call) sysPreadv() (uint64, error) {
	if err := c.seekable(3); err != nil {
		return 0, err
	}
	return c.vector(int64(c.a[3]), true)
}

func (c *call) sysWrite() (uint64, error) {
	return c.writeFrom(c.arg32(0), -1, []iovec{{c.a[1], min(c.a[2], maxIO)}})
}

func (c *call) sysPwrite() (uint64, error) {
	if err := c.seekable(3); err != nil {
		return 0, err
	}
	return c.writeFrom(c.arg32(0), int64(c.a[3]), []iovec{{c.a[1], min(c.a[2], maxIO)}})
}

func (c *call) sysWritev() (uint64, error) {
	return c.vector(-1, false)
}

func (c *call) sysPwritev() (uint64, error) {
	if err := c.seekable(3); err != nil {
		return 0, err
	}
	return c.vector(int64(c.a[3]), false)
}

// vector reads or writes pieces of memory, do_readv and do_writev in fs/read_write.c: if they are of no bytes the file is not asked.
func (c *call) vector(off int64, read bool) (uint64, error) {
	_, f, err := c.fd(c.arg32(0))
	switch {
	case err != nil:
		return 0, err
	case read && !f.readable() || !read && !f.writable():
		return 0, unix.EBADF
	case f.has(opaque):
		return 0, unix.EINVAL
	}
	v, n, err := c.iovecs(c.a[1], c.a[2])
	if err != nil || n == 0 {
		return 0, err
	}
	if read {
		return c.readTo(c.arg32(0), off, v, n)
	}
	if f.Kind == fileEvent {
		return c.writeEach(off, v)
	}
	return c.writeFrom(c.arg32(0), off, v)
}

// writeEach writes one piece of memory after the other, each by a write of its own, as to files that know of one piece only (do_loop_readv_writev in
// fs/read_write.c).
func (c *call) writeEach(off int64, from []iovec) (uint64, error) {
	done, at := uint64(c.was.Done), uint64(0) // what has been written before it waited
	for i, x := range from {
		if at += x.n; at <= done || total(from[i:]) == 0 {
			continue
		}
		n, err := c.writeFrom(c.arg32(0), off, from[i:i+1])
		if b, waits := err.(blocked); waits {
			b.Done = int(done)
			return 0, b
		}
		if err != nil && done == 0 {
			return 0, err
		}
		if err != nil || n < x.n {
			return done + n, nil
		}
		done += n
	}
	return done, nil
}

// seekable checks descriptor 0 and the offset in argument i, pread(2).
func (c *call) seekable(i int) error {
	_, f, err := c.fd(c.arg32(0))
	switch {
	case int64(c.a[i]) < 0:
		return unix.EINVAL
	case err != nil:
		return err
	case !f.has(seeks) && f.Kind != fileRandom: // which takes any offset and does not look at it
		return unix.ESPIPE
	}
	return nil
}

func (c *call) sysLseek() (uint64, error) {
	i, f, err := c.fd(c.arg32(0))
	if err != nil {
		return 0, err
	}
	switch {
	case c.a[2]&0xffffffff > unix.SEEK_HOLE:
		return 0, unix.EINVAL
	case f.has(still):
		return 0, nil
	case !f.has(seeks):
		return 0, unix.ESPIPE
	}
	size := c.s.fileStat(f).Size
	off := int64(c.a[1])
	switch c.a[2] & 0xffffffff {
	case unix.SEEK_SET:
	case unix.SEEK_CUR:
		off += f.Off
	case unix.SEEK_END:
		off += size
	case unix.SEEK_DATA, unix.SEEK_HOLE:
		if f.Kind == fileDir {
			return 0, unix.EINVAL
		}
		if off < 0 || off >= size {
			return 0, unix.ENXIO
		}
		if c.a[2] == unix.SEEK_HOLE {
			off = size
		}
	}
	if off < 0 {
		return 0, unix.EINVAL
	}
	g := c.s.file(i)
	g.Off = off
	if off == 0 {
		g.Dir = nil // rewinddir(3)
	}
	return uint64(off), nil
}
