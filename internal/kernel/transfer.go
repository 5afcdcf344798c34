package kernel

import "golang.org/x/sys/unix"

// Calls that move bytes between two descriptors: sendfile(2), splice(2), copy_file_range(2).

// transfer moves up to n bytes. from and to are addresses of offsets, or 0 for the files' own;
// pipes and sockets have none. What is read counts only as far as it could be written.
func (c *call) transfer(in, out int, from, to uint64, n int) (uint64, error) {
	offset := func(addr uint64) (int64, error) {
		if addr == 0 {
			return -1, nil
		}
		v, err := c.u64(addr)
		if err == nil && int64(v) < 0 {
			err = unix.EINVAL
		}
		return int64(v), err
	}
	at, err := offset(from)
	if err != nil {
		return 0, err
	}
	start, err := offset(to)
	if err != nil {
		return 0, err
	}
	f := c.s.files.get(in)
	regular := f.Kind == fileLower || f.Kind == fileNode
	if regular && at < 0 {
		at = f.Off
	}
	b, err := c.readFile(in, at, min(n, maxIO))
	if err != nil || len(b.Data) == 0 {
		return 0, err
	}
	moved, err := c.writeFile(out, start, b)
	if err != nil {
		return 0, err
	}
	switch {
	case from != 0:
		err = c.put64(from, uint64(at)+moved)
	case regular:
		c.s.file(in).Off = at + int64(moved)
	}
	if err == nil && to != 0 {
		err = c.put64(to, uint64(start)+moved)
	}
	return moved, err
}

// ends returns the open files of two descriptors, the first to read and the second to write.
func (c *call) ends(rd, wr int) (in, out int, f, g *file, err error) {
	in, out, f, g, err = c.two(rd, wr)
	if err == nil && (!f.readable() || !g.writable()) {
		err = unix.EBADF
	}
	return in, out, f, g, err
}

// two returns the open files of two descriptors.
func (c *call) two(a, b int) (i, j int, f, g *file, err error) {
	if i, f, err = c.fd(a); err != nil {
		return 0, 0, nil, nil, err
	}
	if j, g, err = c.fd(b); err != nil {
		return 0, 0, nil, nil, err
	}
	return i, j, f, g, nil
}

func (c *call) sysSendfile() (uint64, error) {
	if _, f, err := c.fd(c.arg32(1)); err == nil && f.readable() && c.a[2] != 0 && !f.seekable() {
		return 0, unix.ESPIPE
	}
	in, out, f, g, err := c.ends(c.arg32(1), c.arg32(0))
	switch {
	case err != nil:
		return 0, err
	case f.Kind != fileLower && f.Kind != fileNode || g.Kind == fileDevice || g.Flags&unix.O_APPEND != 0:
		return 0, unix.EINVAL
	}
	return c.transfer(in, out, c.a[2], 0, int(min(c.a[3], maxIO)))
}

func (c *call) sysCopyFileRange() (uint64, error) {
	in, out, f, g, err := c.two(c.arg32(0), c.arg32(2))
	switch {
	case err != nil:
		return 0, err
	case f.Kind == filePath || g.Kind == filePath:
		return 0, unix.EBADF
	}
	for _, addr := range [2]uint64{c.a[1], c.a[3]} {
		if addr != 0 {
			if _, err := c.u64(addr); err != nil {
				return 0, err
			}
		}
	}
	switch {
	case c.a[5]&0xffffffff != 0:
		return 0, unix.EINVAL
	case f.Kind == fileDir || g.Kind == fileDir:
		return 0, unix.EISDIR
	case f.Kind != fileLower && f.Kind != fileNode || g.Kind != fileLower && g.Kind != fileNode:
		return 0, unix.EINVAL
	case !f.readable() || !g.writable() || g.Flags&unix.O_APPEND != 0:
		return 0, unix.EBADF
	case f.Node != 0 && f.Node == g.Node:
		return 0, unsupported("copy_file_range within a file")
	case f.Kind == fileLower && c.s.cfg.World.Sandbox: // what an overlay writes is on another file system
		return 0, unix.EXDEV
	}
	for _, addr := range [2]uint64{c.a[1], c.a[3]} {
		if addr == 0 {
			continue
		}
		if v, err := c.u64(addr); err != nil {
			return 0, err
		} else if v+c.a[4] < v {
			return 0, unix.EOVERFLOW
		}
	}
	return c.transfer(in, out, c.a[1], c.a[3], int(min(c.a[4], maxIO)))
}

func (c *call) sysSplice() (uint64, error) {
	const nonblock = 2 // SPLICE_F_NONBLOCK
	in, out, f, g, err := c.two(c.arg32(0), c.arg32(2))
	n := int(min(c.a[4], maxIO))
	switch {
	case n == 0:
		return 0, nil
	case c.a[5]&0xffffffff&^15 != 0:
		return 0, unix.EINVAL
	case err != nil:
		return 0, err
	case f.Kind == filePath || g.Kind == filePath:
		return 0, unix.EBADF
	case f.Kind == filePipe && c.a[1] != 0 || g.Kind == filePipe && c.a[3] != 0:
		return 0, unix.ESPIPE
	}
	for _, addr := range [2]uint64{c.a[1], c.a[3]} {
		if addr != 0 {
			if _, err := c.u64(addr); err != nil {
				return 0, err
			}
		}
	}
	switch {
	case !f.readable() || !g.writable():
		return 0, unix.EBADF
	case f.Kind != filePipe && g.Kind != filePipe || f.Kind == filePipe && g.Kind == filePipe && f.In == g.Out:
		return 0, unix.EINVAL
	case f.Kind != filePipe && f.Kind != fileLower && f.Kind != fileNode || g.Kind != filePipe && g.Kind != fileNode && g.Kind != fileOut:
		return 0, unsupported("splice of these files")
	case g.Flags&unix.O_APPEND != 0:
		return 0, unix.EINVAL
	}
	wait := func(i int, events uint32) error {
		if c.a[5]&nonblock != 0 || (f.Flags|g.Flags)&unix.O_NONBLOCK != 0 {
			return unix.EAGAIN
		}
		return c.waitFile(i, events)
	}
	if f.Kind == filePipe {
		if p := c.s.pipes.get(f.In); len(p.Buf.Data) == 0 && p.Writers > 0 {
			return 0, wait(in, unix.POLLIN)
		}
	}
	if g.Kind == filePipe { // a pipe takes what there is room for, and what is read is not lost
		p := c.s.pipes.get(g.Out)
		room := p.size() - len(p.Buf.Data)
		if room == 0 && p.Readers > 0 {
			return 0, wait(out, unix.POLLOUT)
		}
		n = min(n, max(room, 1))
	}
	return c.transfer(in, out, c.a[1], c.a[3], n)
}
