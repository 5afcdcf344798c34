package kernel

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// fileKind says what an open file reads and writes.
type fileKind uint8

const (
	fileLower  fileKind = iota // a regular file of the lower layer: Back
	fileNode                   // a regular file of the overlay: Node
	fileDir                    // a directory: Path
	filePath                   // opened with O_PATH
	filePipe                   // reads pipe In, writes pipe Out; -1 is none
	fileSocket                 // socket Sock
	fileStdin                  // Config.Stdin
	fileOut                    // captured standard output
	fileErr                    // captured standard error
	fileNull
	fileZero
	fileFull
	fileRandom
	fileTTY // terminal In
	fileDevice
	fileEpoll
	fileEvent
	filePID    // process Count
	fileMaster // the other side of terminal In
)

// largeFile is O_LARGEFILE, which 64-bit open(2) always sets.
const largeFile = 0o100000

// maxIO is the most bytes one call moves (MAX_RW_COUNT of Linux, kept smaller).
const maxIO = 1 << 26

// file is an open file description, open(2). Descriptors and processes share it.
type file struct {
	Kind  fileKind
	Flags int   // O_ access mode and status flags
	Refs  int   // descriptors that refer to it
	Off   int64 // bytes
	Path  string
	Low   string // lower path, where Node is 0
	Back  *mem.Backing
	Node  int
	In    int
	Out   int
	Sock  int
	Text  mem.Bytes    // fileDevice: replies not read yet
	Dir   []dirent     // fileDir: the listing, taken at the first getdents64
	Watch []epollWatch // fileEpoll, ascending Fd
	Count uint64       // fileEvent, filePID; filePipe of a FIFO: see hadWriter; fileTTY: see tty.Era
	Sem   bool         // fileEvent: EFD_SEMAPHORE
	Wakes int          // fileEvent: see activity
	St    stat         // as of the open, where Node is 0
}

//lint:ignore U1000 called through cloner
func (f *file) clone() *file {
	c := *f
	c.Watch = append([]epollWatch(nil), f.Watch...)
	return &c
}

func (f *file) readable() bool { return f.Flags&unix.O_ACCMODE != unix.O_WRONLY && f.Kind != filePath }
func (f *file) writable() bool { return f.Flags&unix.O_ACCMODE != unix.O_RDONLY && f.Kind != filePath }

// tty reports whether f is a terminal or the master of one.
func (f *file) tty() bool { return f.Kind == fileTTY || f.Kind == fileMaster }

// seekable files have an offset.
func (f *file) seekable() bool {
	switch f.Kind {
	case fileLower, fileNode, fileDir, fileNull, fileZero, fileFull:
		return true
	}
	return false
}

// fdEntry is a file descriptor. File is -1 where the number is free.
type fdEntry struct {
	File    int
	Cloexec bool
}

// fd returns the open file of descriptor fd: its number and a view for reading.
func (c *call) fd(fd int) (int, *file, error) {
	if fd < 0 || fd >= len(c.p.Fds) || c.p.Fds[fd].File < 0 {
		c.s.order.use(fd, -1)
		return 0, nil, unix.EBADF
	}
	i := c.p.Fds[fd].File
	c.s.order.use(fd, i)
	return i, c.s.files.get(i), nil
}

// newFd gives file i the lowest descriptor from least on.
func (c *call) newFd(i, least int, cloexec bool) (uint64, error) {
	fd := least
	for fd < len(c.p.Fds) && c.p.Fds[fd].File >= 0 {
		fd++
	}
	if fd >= c.p.fdLimit() {
		return 0, unix.EMFILE
	}
	c.setFd(fd, i, cloexec)
	return uint64(fd), nil
}

func (c *call) setFd(fd, i int, cloexec bool) {
	for len(c.p.Fds) <= fd {
		c.p.Fds = append(c.p.Fds, fdEntry{File: -1})
	}
	c.p.Fds[fd] = fdEntry{i, cloexec}
	c.s.file(i).Refs++
}

// open adds an open file with one descriptor.
func (c *call) open(f *file, cloexec bool) (uint64, error) {
	i := c.s.files.add(c.s.owner, f)
	fd, err := c.newFd(i, 0, cloexec)
	if err != nil {
		c.s.files.del(i)
	}
	return fd, err
}

// closeFd closes one descriptor of p.
func (s *System) closeFd(p *Process, fd int) {
	i := p.Fds[fd].File
	p.Fds[fd] = fdEntry{File: -1}
	s.dropFile(i)
}

// dropFile gives up one reference to open file i, and closes it with the last.
func (s *System) dropFile(i int) {
	f := s.file(i)
	s.shut(i, f.Refs == 1)
	if f.Refs--; f.Refs > 0 {
		return
	}
	switch f.Kind {
	case fileSocket:
		defer s.closeSocket(f.Sock, true) // which may drop other files
	case filePipe:
		if f.In >= 0 {
			s.pipe(f.In).Readers--
			s.pipe(f.In).Wakes[1]++
			s.dropPipe(f.In)
		}
		if f.Out >= 0 {
			s.pipe(f.Out).Writers--
			s.pipe(f.Out).Wakes[0]++
			s.dropPipe(f.Out)
		}
	case fileTTY, fileMaster:
		s.closeTTY(f)
	}
	for j := range s.files.rows { // epoll instances forget a closed file
		if e := s.files.get(j); e != nil && e.Kind == fileEpoll {
			s.unwatch(j, i)
		}
	}
	s.files.del(i)
	s.forgetChannel("offset", i)
	for _, key := range []string{"event", "flags", "epoll"} {
		s.forgetChannel(key, i)
	}
}

// at resolves a path argument relative to a directory descriptor.
func (c *call) at(dirfd int, name string, follow bool) (vnode, error) {
	if name == "" { // getname in fs/namei.c
		return vnode{}, unix.ENOENT
	}
	base := c.p.Cwd
	if dirfd != unix.AT_FDCWD && !strings.HasPrefix(name, "/") {
		_, f, err := c.fd(dirfd)
		if err != nil {
			return vnode{}, err
		}
		if f.Kind != fileDir && !(f.Kind == filePath && f.St.dir()) {
			return vnode{}, unix.ENOTDIR
		}
		base = f.Path
	}
	v, err := c.s.walk(c.p, base, name, follow)
	if c.s.order != nil && !(err == nil && v.st.kind() == unix.S_IFCHR && !terminal(v.path)) {
		c.s.order.look(base, name, v, err)
	}
	return v, err
}

// terminal: path is a device of terminals. The other devices are the same for everybody.
func terminal(path string) bool {
	return path == "/dev/tty" || path == "/dev/ptmx" || under(path, "/dev/pts")
}

// existing is at for a file that must exist.
func (c *call) existing(dirfd int, name string, follow bool) (vnode, error) {
	v, err := c.at(dirfd, name, follow)
	if err == nil && !v.exists {
		err = unix.ENOENT
	}
	return v, err
}

func (c *call) sysOpen() (uint64, error) {
	return c.openAt(unix.AT_FDCWD, c.a[0], int(c.a[1]), uint32(c.a[2]))
}

func (c *call) sysOpenat() (uint64, error) {
	return c.openAt(c.arg32(0), c.a[1], int(c.a[2]), uint32(c.a[3]))
}

func (c *call) sysCreat() (uint64, error) {
	return c.openAt(unix.AT_FDCWD, c.a[0], unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, uint32(c.a[1]))
}

// reopened returns the descriptor that a path such as /dev/stdout or /proc/self/fd/1 stands for.
func reopened(name string) (int, bool) {
	switch name {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, dir := range [2]string{"/dev/fd/", "/proc/self/fd/"} {
		if n, ok := strings.CutPrefix(name, dir); ok {
			if fd, err := strconv.Atoi(n); err == nil {
				return fd, true
			}
		}
	}
	return 0, false
}

func (c *call) openAt(dirfd int, addr uint64, flags int, mode uint32) (uint64, error) {
	name, err := c.path(addr)
	if err != nil {
		return 0, err
	}
	cloexec := flags&unix.O_CLOEXEC != 0
	if c.was.Kind == waitFIFO {
		return c.openedFIFO(int(c.was.Addr), cloexec)
	}
	if fd, ok := reopened(name); ok {
		i, f, err := c.fd(fd)
		if err != nil {
			return 0, unix.ENOENT
		}
		if f.Kind != fileLower && f.Kind != fileNode && f.Kind != fileDir {
			return c.newFd(i, 0, cloexec) // shares the description, where Linux makes a new one
		}
		name = f.Path
	}
	if flags&unix.O_PATH != 0 { // build_open_flags in fs/open.c
		flags &= unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	} else {
		flags |= largeFile
	}
	const tmpfile = unix.O_TMPFILE &^ unix.O_DIRECTORY
	follow := flags&unix.O_NOFOLLOW == 0 && flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL
	slash := flags&unix.O_CREAT != 0 && strings.HasSuffix(name, "/") && strings.Trim(name, "/") != ""
	if slash { // open_last_lookups in fs/namei.c: refused before the last component is looked at
		name, follow = strings.TrimRight(name, "/"), false
	}
	v, err := c.at(dirfd, name, follow)
	if err == nil && slash {
		err = unix.EISDIR
	}
	if err != nil {
		return 0, err
	}
	status := flags &^ (unix.O_CLOEXEC | unix.O_CREAT | unix.O_EXCL | unix.O_TRUNC | unix.O_NOCTTY)
	f := &file{Flags: status, Path: v.path, Low: v.low, Node: v.node, In: -1, Out: -1, St: v.st}
	switch {
	case flags&tmpfile != 0:
		return 0, unix.EOPNOTSUPP
	case !v.exists && flags&unix.O_CREAT == 0:
		return 0, unix.ENOENT
	case !v.exists:
		f.Kind = fileNode
		f.Node, err = c.s.create(c.p, v, &inode{Mode: unix.S_IFREG | mode&0o7777&^c.p.Umask, Nlink: 1})
		if err != nil {
			return 0, err
		}
		return c.open(f, cloexec)
	case flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
		return 0, unix.EEXIST
	case flags&unix.O_PATH != 0:
		f.Kind = filePath
		return c.open(f, cloexec)
	case v.st.link() && flags&unix.O_DIRECTORY == 0:
		return 0, unix.ELOOP
	case v.st.dir():
		if f.writable() || flags&(unix.O_CREAT|unix.O_TRUNC) != 0 {
			return 0, unix.EISDIR
		}
	case flags&unix.O_DIRECTORY != 0:
		return 0, unix.ENOTDIR
	}
	var need uint32
	if f.readable() {
		need |= 4
	}
	if f.writable() || flags&unix.O_TRUNC != 0 {
		need |= 2
	}
	if !c.s.may(v.st, need) {
		return 0, unix.EACCES
	}
	switch v.st.kind() {
	case unix.S_IFDIR:
		f.Kind = fileDir
	case unix.S_IFCHR:
		if i, ok := c.s.ttyOf(c.p, v.path); ok {
			return c.openTTY(i, f, flags&unix.O_NOCTTY != 0, cloexec)
		}
		d, ok := devices[strings.TrimPrefix(v.path, "/dev/")]
		switch f.Kind = d.kind; {
		case d.kind == fileDevice:
			c.s.open()
		case !ok || d.kind == fileTTY:
			return 0, unix.ENXIO
		case d.kind == fileMaster:
			return c.openMaster(f, cloexec)
		}
	case unix.S_IFREG:
		if f.writable() || flags&unix.O_TRUNC != 0 {
			if v.node == 0 && c.s.lowerReadOnly(v.low) {
				if synthetic(v.low) {
					return 0, unix.EACCES
				}
				return 0, unix.EROFS
			}
			if v.node, err = c.s.upper(c.p, v); err != nil {
				return 0, err
			}
			if flags&unix.O_TRUNC != 0 {
				c.s.truncateNode(v.node, 0)
				n := c.s.inode(v.node)
				n.Mtime, n.Ctime = c.s.Now().wall(), c.s.Now().wall()
			}
		}
		if f.Kind, f.Node = fileNode, v.node; v.node == 0 {
			f.Kind = fileLower
			if f.Back, err = c.s.lowerContent(c.p, v.low); err != nil {
				return 0, err
			}
		}
	case unix.S_IFIFO:
		if v.node == 0 {
			return 0, unix.ENXIO // a FIFO of the host
		}
		return c.openFIFO(f, cloexec)
	default:
		return 0, unix.ENXIO
	}
	return c.open(f, cloexec)
}

func (c *call) sysClose() (uint64, error) {
	if _, _, err := c.fd(c.arg32(0)); err != nil {
		return 0, err
	}
	c.s.closeFd(c.p, c.arg32(0))
	return 0, nil
}

func (c *call) sysCloseRange() (uint64, error) {
	first, last, flags := c.a[0]&0xffffffff, c.a[1]&0xffffffff, c.a[2]
	if first > last || flags&^4 != 0 {
		return 0, unix.EINVAL
	}
	for fd := first; fd <= last && fd < uint64(len(c.p.Fds)); fd++ {
		if c.p.Fds[fd].File < 0 {
			continue
		}
		if flags&4 != 0 { // CLOSE_RANGE_CLOEXEC
			c.p.Fds[fd].Cloexec = true
		} else {
			c.s.closeFd(c.p, int(fd))
		}
	}
	return 0, nil
}

// readFile reads up to n bytes; off < 0 means at the file's offset, which moves.
func (c *call) readFile(i int, off int64, n int) (mem.Bytes, error) {
	f := c.s.files.get(i)
	if !f.readable() {
		return mem.Bytes{}, unix.EBADF
	}
	n = min(n, maxIO)
	pos := off
	if off < 0 {
		pos = f.Off
	}
	var b mem.Bytes
	switch f.Kind {
	case fileLower:
		if pos < int64(len(f.Back.Data)) {
			b = mem.Concrete(f.Back.Data[pos:min(int64(len(f.Back.Data)), pos+int64(n))])
		}
	case fileNode:
		b = c.s.readNode(f.Node, pos, n)
	case fileDir:
		return b, unix.EISDIR
	case fileStdin:
		in := c.s.stdin
		at := min(pos, int64(len(in.Data)))
		b = in.Slice(int(at), int(min(int64(len(in.Data)), at+int64(n))))
	case filePipe:
		if f.In < 0 {
			return b, unix.EBADF
		}
		return c.readPipe(i, f, n)
	case fileNull:
	case fileZero, fileFull:
		return mem.Concrete(make([]byte, n)), nil
	case fileRandom:
		return mem.Concrete(c.s.randomBytes(n)), nil
	case fileDevice:
		b = f.Text.Slice(0, min(n, len(f.Text.Data)))
		rest := f.Text.Slice(len(b.Data), len(f.Text.Data))
		c.s.file(i).Text = rest
		return b, nil
	case fileEvent:
		return c.readEvent(i, f, n)
	case fileTTY, fileMaster:
		return c.readTTY(i, f, n)
	default:
		return b, unix.EINVAL
	}
	if off < 0 && len(b.Data) > 0 {
		c.s.file(i).Off = pos + int64(len(b.Data))
	}
	return b, nil
}

// writeFile writes b; off < 0 means at the file's offset, which moves.
func (c *call) writeFile(i int, off int64, b mem.Bytes) (uint64, error) {
	f := c.s.files.get(i)
	if !f.writable() {
		return 0, unix.EBADF
	}
	n := uint64(len(b.Data))
	switch f.Kind {
	case fileNode:
		if n == 0 {
			return 0, nil // the offset stays, even with O_APPEND
		}
		pos := off
		if off < 0 {
			pos = f.Off
		}
		node := c.s.inode(f.Node)
		if f.Flags&unix.O_APPEND != 0 {
			pos = node.Size
		}
		room, err := c.belowLimit(pos, int64(n))
		if err == nil {
			err = tooLarge(pos + room)
		}
		if err != nil {
			return 0, err
		}
		n, b = uint64(room), b.Slice(0, int(room))
		if !c.s.reserve(node, pos, int64(n)) {
			return 0, unix.ENOSPC
		}
		c.s.writeNode(f.Node, pos, b)
		node.Mtime, node.Ctime = c.s.Now().wall(), c.s.Now().wall()
		if off < 0 {
			c.s.file(i).Off = pos + int64(n)
		}
	case fileOut, fileErr:
		return n, c.s.output(1+int(f.Kind-fileOut), b)
	case fileSocket:
		return c.sendTo(i, f.Sock, message{Data: b})
	case filePipe:
		if f.Out < 0 {
			return 0, unix.EBADF
		}
		return c.writePipe(i, f, b)
	case fileNull, fileZero, fileRandom:
	case fileFull:
		return 0, unix.ENOSPC
	case fileDevice:
		c.s.device = i
		return n, deviceRequest(b)
	case fileEvent:
		return c.writeEvent(i, f, b)
	case fileTTY, fileMaster:
		return c.writeTTY(i, f, b)
	default:
		return 0, unix.EINVAL
	}
	return n, nil
}
