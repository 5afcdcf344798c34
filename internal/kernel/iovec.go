package kernel

import (
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
	if !f.movesBytes() {
		return 0, unix.EINVAL
	}
	if f.Kind == fileSocket {
		return c.readSocket(i, f, to, total)
	}
	n := c.reach(to, guest.ProtWrite)
	if n < total && f.seekable() {
		pos := off
		if off < 0 {
			pos = f.Off
		}
		if b, err := c.readFile(i, pos, 1); err != nil || len(b.Data) == 0 { // nothing is copied
			return 0, err
		}
	} else if need := min(total, c.takes(f)); n < need {
		n = 0
	} else {
		n = total
	}
	if n == 0 && total > 0 {
		return 0, unix.EFAULT
	}
	b, err := c.readFile(i, off, int(n))
	if err != nil {
		return 0, err
	}
	return uint64(len(b.Data)), c.scatter(to, 0, b)
}

// takes is how many bytes a read takes away from f at the most; 0 where it finds nothing.
func (c *call) takes(f *file) uint64 {
	switch f.Kind {
	case filePipe:
		if f.In >= 0 {
			return uint64(len(c.s.pipes.get(f.In).Buf.Data))
		}
		return 0
	case fileEvent:
		return min(f.Count, 1) * 8
	case fileStdin:
		return uint64(len(c.s.stdin.Data)) - min(uint64(f.Off), uint64(len(c.s.stdin.Data)))
	case fileDevice:
		return uint64(len(f.Text.Data))
	}
	return maxIO
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
	if !f.movesBytes() {
		return 0, unix.EINVAL
	}
	if n := c.reach(from, guest.ProtRead); n < uint64(total(from)) {
		switch {
		case f.Kind == fileEvent && total(from) < 8:
			return 0, unix.EINVAL
		case f.Kind == fileNull || f.Kind == fileZero: // which do not look
			return uint64(total(from)), nil
		case f.Kind == fileFull:
			return 0, unix.ENOSPC
		case n > 0:
			from = cut(from, n)
		case f.Kind == filePipe && f.Out >= 0:
			p := c.s.pipes.get(f.Out)
			if p.Readers > 0 && len(p.Buf.Data) < p.size() {
				return 0, unix.EFAULT
			}
			return c.writePipe(i, f, mem.Concrete([]byte{0})) // does not come to the bytes
		default:
			return 0, unix.EFAULT
		}
	}
	all, err := c.gather(from, f.Kind == fileEvent || f.tty())
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
	case !f.movesBytes():
		return 0, unix.EINVAL
	}
	v, n, err := c.iovecs(c.a[1], c.a[2])
	if err != nil || n == 0 {
		return 0, err
	}
	if read {
		return c.readTo(c.arg32(0), off, v, n)
	}
	return c.writeFrom(c.arg32(0), off, v)
}

// movesBytes files can be read or written at all.
func (f *file) movesBytes() bool {
	switch f.Kind {
	case fileEpoll, filePID, filePath:
		return false
	}
	return true
}

// seekable checks descriptor 0 and the offset in argument i, pread(2).
func (c *call) seekable(i int) error {
	_, f, err := c.fd(c.arg32(0))
	switch {
	case int64(c.a[i]) < 0:
		return unix.EINVAL
	case err != nil:
		return err
	case !f.seekable():
		return unix.ESPIPE
	}
	return nil
}

func (c *call) sysLseek() (uint64, error) {
	i, f, err := c.fd(c.arg32(0))
	if err != nil {
		return 0, err
	}
	if f.Kind == filePath {
		return 0, unix.EBADF
	}
	if !f.seekable() {
		return 0, unix.ESPIPE
	}
	if (f.Kind == fileNull || f.Kind == fileZero || f.Kind == fileFull) && c.a[2]&0xffffffff <= unix.SEEK_HOLE {
		return 0, nil // null_lseek does not look
	}
	size := c.s.fileStat(f).Size
	off := int64(c.a[1])
	switch c.a[2] {
	case unix.SEEK_SET:
	case unix.SEEK_CUR:
		off += f.Off
	case unix.SEEK_END:
		off += size
	case unix.SEEK_DATA, unix.SEEK_HOLE:
		if off < 0 || off >= size {
			return 0, unix.ENXIO
		}
		if c.a[2] == unix.SEEK_HOLE {
			off = size
		}
	default:
		return 0, unix.EINVAL
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
