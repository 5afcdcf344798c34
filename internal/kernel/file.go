package kernel

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// largeFile is O_LARGEFILE, which 64-bit open(2) always sets.
const largeFile = 0o100000

// maxIO is the most bytes one call moves, MAX_RW_COUNT of Linux. Where it does not go in pieces it moves no more than maxWhole.
const (
	maxIO    = 0x7ffff000
	maxWhole = 1 << 26
)

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
	Count uint64       // fileEvent
	Sem   bool         // fileEvent: EFD_SEMAPHORE
	PID   int          // filePID
	Since uint64       // at the open: of a terminal tty.Era, of a FIFO see hadWriter
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

// memory reports whether f comes from memfd_create(2), whose files are a file system of their own.
func (f *file) memory() bool { return strings.HasPrefix(f.Path, "/memfd:") }

// regular reports whether f is a regular file.
func (f *file) regular() bool { return f.Kind == fileLower || f.Kind == fileNode }

// fdEntry is a file descriptor. File is -1 where the number is free.
type fdEntry struct {
	File    int
	Cloexec bool
}

// fd returns the open file of descriptor fd: its number and a view for reading. One of O_PATH is none (fdget in fs/file.c); see anyFd.
func (c *call) fd(fd int) (int, *file, error) {
	i, f, err := c.anyFd(fd)
	if err == nil && f.Kind == filePath {
		return 0, nil, unix.EBADF
	}
	return i, f, err
}

// anyFd is fd for the few calls that take descriptors of O_PATH, too (fdget_raw).
func (c *call) anyFd(fd int) (int, *file, error) {
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
	fd := c.freeFd(least)
	c.s.passes((fd - least) / 8)
	if fd >= c.p.fdLimit() {
		return 0, unix.EMFILE
	}
	c.setFd(fd, i, cloexec)
	return uint64(fd), nil
}

// freeFd is the lowest free number of a descriptor from least on, whatever the limit.
func (c *call) freeFd(least int) int {
	for least < len(c.p.Fds) && c.p.Fds[least].File >= 0 {
		least++
	}
	return least
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
	s.passes(len(s.files.rows))
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
	f.kind().closed(s, f)
}

// at resolves a path argument relative to a directory descriptor.
func (c *call) at(dirfd int, name string, follow bool) (vnode, error) {
	if name == "" { // getname in fs/namei.c
		return vnode{}, unix.ENOENT
	}
	base := c.p.Cwd
	if dirfd != unix.AT_FDCWD && !strings.HasPrefix(name, "/") {
		_, f, err := c.anyFd(dirfd)
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
	if c.freeFd(0) >= c.p.fdLimit() { // do_sys_openat2 in fs/open.c takes a descriptor before it looks for the file
		return 0, unix.EMFILE
	}
	if fd, ok := reopened(name); ok {
		i, f, err := c.anyFd(fd)
		if err != nil {
			return 0, unix.ENOENT
		}
		if !f.regular() && f.Kind != fileDir {
			return c.newFd(i, 0, cloexec) // shares the description, where Linux makes a new one
		}
		name = f.Path
	}
	if flags&unix.O_PATH != 0 { // build_open_flags in fs/open.c
		flags &= unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	} else {
		flags |= largeFile
	}
	v, err := c.toOpen(dirfd, name, flags)
	if err == nil {
		err = refuseOpen(v, flags)
	}
	if err != nil {
		return 0, err
	}
	if flags&tmpfile != 0 {
		return c.openNameless(v, flags, mode)
	}
	status := flags &^ (unix.O_CLOEXEC | unix.O_CREAT | unix.O_EXCL | unix.O_TRUNC | unix.O_NOCTTY)
	f := &file{Flags: status, Path: v.path, Low: v.low, Node: v.node, In: -1, Out: -1, St: v.st}
	switch {
	case !v.exists:
		f.Kind = fileNode
		f.Node, err = c.s.create(c.p, v, &inode{Mode: unix.S_IFREG | mode&0o7777&^c.p.Umask, Nlink: 1})
		if err != nil {
			return 0, err
		}
		return c.open(f, cloexec)
	case flags&unix.O_PATH != 0:
		f.Kind = filePath
		return c.open(f, cloexec)
	}
	if !c.s.may(v.st, openNeeds(f, flags)) {
		return 0, unix.EACCES
	}
	switch v.st.kind() {
	case unix.S_IFDIR:
		f.Kind = fileDir
		return c.open(f, cloexec)
	case unix.S_IFCHR:
		return c.openDevice(f, flags)
	case unix.S_IFREG:
		if err := c.openRegular(f, v, flags); err != nil {
			return 0, err
		}
		return c.open(f, cloexec)
	case unix.S_IFIFO:
		if v.node != 0 { // of the host: none
			return c.openFIFO(f, cloexec)
		}
	}
	return 0, unix.ENXIO
}

// toOpen looks up what open(2) is to open.
func (c *call) toOpen(dirfd int, name string, flags int) (vnode, error) {
	follow := flags&unix.O_NOFOLLOW == 0 && flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL
	if flags&unix.O_CREAT == 0 {
		return c.at(dirfd, name, follow)
	}
	for range 40 { // what a link says counts as what the call does
		if strings.HasSuffix(name, "/") || !follow {
			break
		}
		v, err := c.at(dirfd, name, false)
		if err != nil || !v.st.link() {
			break
		}
		to, err := c.s.readlink(c.p, v)
		if err != nil {
			break
		}
		if dirfd, name = unix.AT_FDCWD, to; !path.IsAbs(to) {
			name = v.parent() + "/" + to
		}
	}
	if !strings.HasSuffix(name, "/") || strings.Trim(name, "/") == "" {
		return c.at(dirfd, name, follow)
	}
	// A folder is to be made: open_last_lookups in fs/namei.c refuses before it looks at the last component.
	v, err := c.at(dirfd, strings.TrimRight(name, "/"), false)
	if err == nil {
		err = unix.EISDIR
	}
	return v, err
}

// tmpfile says that a file without a name is to be made in a folder; it stands beside O_DIRECTORY, which kernels without it see.
const tmpfile = unix.O_TMPFILE &^ unix.O_DIRECTORY

// openNameless makes a file in folder v that has no name there, open(2), O_TMPFILE. It is gone when it is closed.
func (c *call) openNameless(v vnode, flags int, mode uint32) (uint64, error) {
	i, err := c.s.nameless(c.p, v, &inode{Mode: unix.S_IFREG | mode&0o7777&^c.p.Umask})
	if err != nil {
		return 0, err
	}
	f := &file{Kind: fileNode, Flags: flags &^ (unix.O_CLOEXEC | unix.O_EXCL | unix.O_TRUNC | unix.O_NOCTTY), Path: fmt.Sprintf("%s/#%d (deleted)", strings.TrimSuffix(v.path, "/"), overlayIno+i), Node: i, In: -1, Out: -1}
	return c.open(f, flags&unix.O_CLOEXEC != 0)
}

// refuseOpen is why v cannot be opened with flags, whoever asks.
func refuseOpen(v vnode, flags int) error {
	switch {
	case flags&tmpfile != 0 && (flags&(unix.O_DIRECTORY|unix.O_CREAT) != unix.O_DIRECTORY || flags&unix.O_ACCMODE == unix.O_RDONLY):
		return unix.EINVAL
	case flags&tmpfile != 0 && !v.exists:
		return unix.ENOENT
	case flags&tmpfile != 0 && !v.st.dir():
		return unix.ENOTDIR
	case flags&tmpfile != 0:
		return nil
	case !v.exists && flags&unix.O_CREAT == 0:
		return unix.ENOENT
	case !v.exists:
		return nil
	case flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
		return unix.EEXIST
	case flags&(unix.O_PATH|unix.O_DIRECTORY) == unix.O_PATH:
		return nil
	case v.st.link() && flags&unix.O_DIRECTORY == 0:
		return unix.ELOOP
	case v.st.dir() && (flags&unix.O_ACCMODE != unix.O_RDONLY || flags&(unix.O_CREAT|unix.O_TRUNC) != 0):
		return unix.EISDIR
	case !v.st.dir() && flags&unix.O_DIRECTORY != 0:
		return unix.ENOTDIR
	}
	return nil
}

// openNeeds are the permissions, as access(2) counts them, for opening f.
func openNeeds(f *file, flags int) (need uint32) {
	if f.readable() {
		need |= unix.R_OK
	}
	if f.writable() || flags&unix.O_TRUNC != 0 {
		need |= unix.W_OK
	}
	return need
}

// openDevice opens a character device.
func (c *call) openDevice(f *file, flags int) (uint64, error) {
	cloexec := flags&unix.O_CLOEXEC != 0
	if i, ok := c.s.ttyOf(c.p, f.Path); ok {
		return c.openTTY(i, f, flags&unix.O_NOCTTY != 0, cloexec)
	}
	d, ok := devices[strings.TrimPrefix(f.Path, "/dev/")]
	switch f.Kind = d.kind; {
	case d.kind == fileDevice:
		c.s.open()
	case !ok && c.s.cfg.World.Beyond:
		f.Kind = devices["null"].kind
	case !ok || d.kind == fileTTY:
		return 0, unix.ENXIO
	case d.kind == fileMaster:
		return c.openMaster(f, cloexec)
	}
	return c.open(f, cloexec)
}

// openRegular makes f an open file of v, which is copied to the overlay if it is to be written.
func (c *call) openRegular(f *file, v vnode, flags int) (err error) {
	f.Kind, f.Node = fileNode, v.node
	if f.writable() || flags&unix.O_TRUNC != 0 {
		switch {
		case v.node == 0 && synthetic(v.low):
			return unix.EACCES
		case v.node == 0 && c.s.lowerReadOnly(v.low):
			return unix.EROFS
		}
		if f.Node, err = c.s.upper(c.p, v); err != nil {
			return err
		}
		if flags&unix.O_TRUNC != 0 {
			c.s.truncateNode(f.Node, 0)
			n := c.s.inode(f.Node)
			n.Mtime, n.Ctime = c.s.Now().wall(), c.s.Now().wall()
		}
	}
	if f.Node == 0 {
		f.Kind = fileLower
		f.Back, err = c.s.lowerContent(c.p, v.low)
	}
	return err
}

func (c *call) sysClose() (uint64, error) {
	if _, _, err := c.anyFd(c.arg32(0)); err != nil {
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
	n = min(n, maxWhole)
	at := off
	if off < 0 {
		at = f.Off
	}
	b, err := f.kind().read(c, i, f, at, n)
	if off < 0 && len(b.Data) > 0 && f.has(advances) {
		c.s.file(i).Off = at + int64(len(b.Data))
	}
	return b, err
}

// writeFile writes b; off < 0 means at the file's offset, which moves.
func (c *call) writeFile(i int, off int64, b mem.Bytes) (uint64, error) {
	f := c.s.files.get(i)
	if !f.writable() {
		return 0, unix.EBADF
	}
	return f.kind().write(c, i, f, off, b)
}
