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
	regular := f.regular()
	if regular && at < 0 {
		at = f.Off
	}
	b, err := c.readFile(in, at, min(n, maxWhole))
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
	if _, f, err := c.fd(c.arg32(1)); err == nil && f.readable() && c.a[2] != 0 { // do_sendfile in fs/read_write.c looks at this end first
		if !f.has(seeks) && f.Kind != fileRandom {
			return 0, unix.ESPIPE
		}
		if at, err := c.u64(c.a[2]); err != nil {
			return 0, err
		} else if int64(at) < 0 {
			return 0, unix.EINVAL
		}
	}
	in, out, f, g, err := c.ends(c.arg32(1), c.arg32(0))
	switch {
	case err != nil:
		return 0, err
	case g.Kind == filePipe && g.Out >= 0: // what is to be read comes behind the room for it: wait_for_space in fs/splice.c
		switch {
		case c.s.pipes.get(g.Out).Readers == 0:
			return 0, c.brokenPipe()
		case c.s.readiness(out)&unix.POLLOUT != 0:
		case g.Flags&unix.O_NONBLOCK != 0:
			return 0, unix.EAGAIN
		default:
			return 0, c.waitFile(out, unix.POLLOUT)
		}
	}
	switch {
	case !f.regular() || g.Kind == fileDevice || g.Flags&unix.O_APPEND != 0:
		return 0, unix.EINVAL
	}
	n := int(min(c.a[3], maxWhole))
	done, err := c.transfer(in, out, c.a[2], 0, n)
	for f.Node != 0 && f.Node == g.Node && err == nil && done > 0 && done < uint64(n) { // what it has written is there to be read
		more, err := c.transfer(in, out, c.a[2], 0, n-int(done))
		if err != nil || more == 0 {
			break
		}
		done += more
	}
	return done, err
}

func (c *call) sysCopyFileRange() (uint64, error) {
	in, out, f, g, err := c.two(c.arg32(0), c.arg32(2))
	switch {
	case err != nil:
		return 0, err
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
	case !f.regular() || !g.regular():
		return 0, unix.EINVAL
	case !f.readable() || !g.writable() || g.Flags&unix.O_APPEND != 0:
		return 0, unix.EBADF
	case f.Node != 0 && f.Node == g.Node:
		return 0, unsupported("copy_file_range within a file")
	case f.memory() != g.memory():
		return 0, unix.EXDEV
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
	return c.transfer(in, out, c.a[1], c.a[3], int(min(c.a[4], maxWhole)))
}

func (c *call) sysSplice() (uint64, error) {
	const nonblock = 2 // SPLICE_F_NONBLOCK
	in, out, f, g, err := c.two(c.arg32(0), c.arg32(2))
	n := int(min(c.a[4], maxWhole))
	switch {
	case n == 0:
		return 0, nil
	case c.a[5]&0xffffffff&^15 != 0:
		return 0, unix.EINVAL
	case err != nil:
		return 0, err
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
	if err := spliceable(f, g); err != nil {
		return 0, err
	}
	file, events, room := c.spliceWaits(in, out, f, g)
	if events != 0 && (c.a[5]&nonblock != 0 || (f.Flags|g.Flags)&unix.O_NONBLOCK != 0) {
		return 0, unix.EAGAIN
	}
	if events != 0 {
		return 0, c.waitFile(file, events)
	}
	if g.Kind == filePipe && c.s.pipes.get(g.Out).Readers == 0 {
		return 0, c.brokenPipe()
	}
	return c.transfer(in, out, c.a[1], c.a[3], min(n, room))
}

// spliceable returns why splice(2) does not move bytes from f to g.
func spliceable(f, g *file) error {
	from, to := f.Kind == filePipe, g.Kind == filePipe
	switch {
	case !f.readable() || !g.writable():
		return unix.EBADF
	case !from && !to || from && to && f.In == g.Out:
		return unix.EINVAL
	case !from && !f.regular() || !to && g.Kind != fileNode && g.Kind != fileOut:
		return unsupported("splice of these files")
	case !to && g.Flags&unix.O_APPEND != 0:
		return unix.EINVAL
	}
	return nil
}

// spliceWaits says for which events of which file a transfer from in, f, to out, g, has to wait, 0 for none; or else how many bytes there is room for: a pipe
// takes no more, and what is read is not lost.
func (c *call) spliceWaits(in, out int, f, g *file) (file int, events uint32, room int) {
	if f.Kind == filePipe {
		if p := c.s.pipes.get(f.In); len(p.Buf.Data) == 0 && p.Writers > 0 {
			return in, unix.POLLIN, 0
		}
	}
	if g.Kind != filePipe {
		return 0, 0, maxWhole
	}
	p := c.s.pipes.get(g.Out)
	if room = p.size() - len(p.Buf.Data); room == 0 && p.Readers > 0 {
		return out, unix.POLLOUT, 0
	}
	return 0, 0, room
}
