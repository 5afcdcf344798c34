package kernel

import (
	"cmp"
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

func (c *call) sysGetdents64() (uint64, error) {
	i, f, err := c.fd(c.arg32(0))
	if err != nil {
		return 0, err
	}
	if f.Kind != fileDir {
		return 0, unix.ENOTDIR
	}
	if err := c.room(c.a[1], c.a[2]&0xffffffff); err != nil {
		return 0, err
	}
	list := f.Dir
	if list == nil {
		v, err := c.existing(unix.AT_FDCWD, f.Path, true)
		if err != nil {
			return 0, err
		}
		if list, err = c.s.list(c.p, v); err != nil {
			return 0, err
		}
		if !under(f.Path, "/proc") { // which is in order everywhere
			c.s.cfg.World.arrange(list)
		}
	}
	// struct linux_dirent64, getdents(2). An offset is an index into the listing.
	var b []byte
	at := f.Off
	for ; at < int64(len(list)); at++ {
		e := list[at]
		n := (19 + len(e.Name) + 1 + 7) &^ 7
		if len(b)+n > int(c.a[2]&0xffffffff) {
			break
		}
		r := make([]byte, n)
		binary.LittleEndian.PutUint64(r, e.Ino+c.s.cfg.World.Inodes)
		binary.LittleEndian.PutUint64(r[8:], uint64(at+1))
		binary.LittleEndian.PutUint16(r[16:], uint16(n))
		r[18] = e.Type
		copy(r[19:], e.Name)
		b = append(b, r...)
	}
	if len(b) == 0 && at < int64(len(list)) {
		return 0, unix.EINVAL
	}
	g := c.s.file(i)
	g.Dir, g.Off = list, at
	return uint64(len(b)), c.put(c.a[1], b)
}

// final is a path whose last component is neither followed nor, if missing, an
// error: what calls that make, remove and rename names work on (filename_create
// and do_unlinkat in fs/namei.c).
type final struct {
	vnode
	special string // "", or the last component if it is ".", ".." or "/"
	slash   bool   // the path ends with a slash
}

func (c *call) final(dirfd int, name string) (final, error) {
	bare := strings.TrimRight(name, "/")
	f := final{slash: bare != name}
	switch last := bare[strings.LastIndexByte(bare, '/')+1:]; {
	case name != "" && bare == "":
		f.special = "/"
	case last == "." || last == "..":
		f.special = last
	default:
		name = bare
	}
	var err error
	f.vnode, err = c.at(dirfd, name, false)
	return f, err
}

// absent returns why a file cannot be made at f.
func (f final) absent(dir bool) error {
	switch {
	case f.special != "" || f.exists:
		return unix.EEXIST
	case f.slash && !dir:
		return unix.ENOENT
	}
	return nil
}

func (c *call) sysMkdir() (uint64, error)   { return c.mkdirAt(unix.AT_FDCWD, c.a[0], uint32(c.a[1])) }
func (c *call) sysMkdirat() (uint64, error) { return c.mkdirAt(c.arg32(0), c.a[1], uint32(c.a[2])) }

func (c *call) mkdirAt(dirfd int, addr uint64, mode uint32) (uint64, error) {
	name, err := c.path(addr)
	if err != nil {
		return 0, err
	}
	v, err := c.final(dirfd, name)
	if err == nil {
		err = v.absent(true)
	}
	if err != nil {
		return 0, err
	}
	_, err = c.s.create(c.p, v.vnode, &inode{Mode: unix.S_IFDIR | mode&0o1777&^c.p.Umask, Nlink: 2})
	return 0, err
}

func (c *call) sysUnlink() (uint64, error) { return c.unlinkAt(unix.AT_FDCWD, c.a[0], 0) }
func (c *call) sysRmdir() (uint64, error) {
	return c.unlinkAt(unix.AT_FDCWD, c.a[0], unix.AT_REMOVEDIR)
}
func (c *call) sysUnlinkat() (uint64, error) { return c.unlinkAt(c.arg32(0), c.a[1], int(c.a[2])) }

func (c *call) unlinkAt(dirfd int, addr uint64, flags int) (uint64, error) {
	if flags&^unix.AT_REMOVEDIR != 0 {
		return 0, unix.EINVAL
	}
	name, err := c.path(addr)
	if err != nil {
		return 0, err
	}
	v, err := c.final(dirfd, name)
	switch {
	case err != nil:
		return 0, err
	case flags == 0 && (v.special != "" || v.exists && v.st.dir()):
		if !v.exists {
			return 0, unix.ENOENT
		}
		return 0, unix.EISDIR
	case v.special == ".":
		return 0, unix.EINVAL
	case v.special == "..":
		return 0, unix.ENOTEMPTY
	case v.special == "/":
		return 0, unix.EBUSY
	case !v.exists:
		return 0, unix.ENOENT
	case flags == 0 && !v.slash:
		return 0, c.s.remove(c.p, v.vnode)
	case !v.st.dir():
		return 0, unix.ENOTDIR
	}
	if err := c.empty(v.vnode); err != nil {
		return 0, err
	}
	return 0, c.s.remove(c.p, v.vnode)
}

// empty returns ENOTEMPTY unless v is an empty directory.
func (c *call) empty(v vnode) error {
	l, err := c.s.list(c.p, v)
	if err == nil && len(l) > 2 {
		err = unix.ENOTEMPTY
	}
	return err
}

func (c *call) sysRename() (uint64, error) {
	return c.renameAt(unix.AT_FDCWD, c.a[0], unix.AT_FDCWD, c.a[1], 0)
}

func (c *call) sysRenameat() (uint64, error) {
	return c.renameAt(c.arg32(0), c.a[1], c.arg32(2), c.a[3], 0)
}

func (c *call) sysRenameat2() (uint64, error) {
	return c.renameAt(c.arg32(0), c.a[1], c.arg32(2), c.a[3], int(c.a[4]))
}

// refuseRename is why rename(2) cannot be, whoever asks.
func refuseRename(from, to final, flags int) error {
	v, w := from.vnode, to.vnode
	same := v.path == w.path || w.exists && v.node != 0 && v.node == w.node
	switch {
	case from.special != "":
		return unix.EBUSY
	case to.special != "" && flags != 0:
		return unix.EEXIST
	case to.special != "":
		return unix.EBUSY
	case !v.exists:
		return unix.ENOENT
	case w.exists && flags != 0:
		return unix.EEXIST
	case !v.st.dir() && (from.slash || to.slash):
		return unix.ENOTDIR
	case v.path != w.path && under(w.path, v.path):
		return unix.EINVAL
	case v.path != w.path && under(v.path, w.path):
		return unix.ENOTEMPTY
	case same:
		return nil
	case w.exists && w.st.dir() && !v.st.dir():
		return unix.EISDIR
	case w.exists && !w.st.dir() && v.st.dir():
		return unix.ENOTDIR
	}
	return nil
}

func (c *call) renameAt(fromDir int, fromAddr uint64, toDir int, toAddr uint64, flags int) (uint64, error) {
	if flags&^unix.RENAME_NOREPLACE != 0 {
		return 0, unix.EINVAL
	}
	from, err := c.path(fromAddr)
	if err != nil {
		return 0, err
	}
	fv, err := c.final(fromDir, from)
	if err != nil {
		return 0, err
	}
	to, err := c.path(toAddr)
	if err != nil {
		return 0, err
	}
	fw, err := c.final(toDir, to)
	if err != nil {
		return 0, err
	}
	v, w := fv.vnode, fw.vnode
	if err := refuseRename(fv, fw, flags); err != nil {
		return 0, err
	}
	if v.path == w.path || w.exists && v.node != 0 && v.node == w.node {
		return 0, nil // names of one file
	}
	if w.exists && w.st.dir() {
		if err := c.empty(w); err != nil {
			return 0, err
		}
	}
	dir, err := c.s.writableDir(c.p, v)
	if err == nil {
		err = c.s.mayRemove(c.s.nodeStat(dir), v.st)
	}
	if err != nil {
		return 0, err
	}
	if _, err := c.s.writableDir(c.p, w); err != nil {
		return 0, err
	}
	i, err := c.s.upper(c.p, v)
	if err != nil {
		return 0, err
	}
	if w.exists {
		if err := c.s.remove(c.p, w); err != nil {
			return 0, err
		}
	}
	fromNode, err := c.s.upperDir(c.p, v.parent())
	if err != nil {
		return 0, err
	}
	toNode, err := c.s.upperDir(c.p, w.parent())
	if err != nil {
		return 0, err
	}
	c.s.setEntry(fromNode, v.name(), whiteout)
	c.s.touchDir(fromNode, v.st.dir(), -1)
	c.s.setEntry(toNode, w.name(), i)
	c.s.inode(i).Ctime = c.s.Now().wall()
	c.s.touchDir(toNode, v.st.dir(), 1)
	return 0, nil
}

func (c *call) sysSymlink() (uint64, error) { return c.symlinkAt(c.a[0], unix.AT_FDCWD, c.a[1]) }
func (c *call) sysSymlinkat() (uint64, error) {
	return c.symlinkAt(c.a[0], c.arg32(1), c.a[2])
}

func (c *call) symlinkAt(targetAddr uint64, dirfd int, addr uint64) (uint64, error) {
	target, err := c.path(targetAddr)
	if err != nil {
		return 0, err
	}
	if target == "" {
		return 0, unix.ENOENT
	}
	name, err := c.path(addr)
	if err != nil {
		return 0, err
	}
	v, err := c.final(dirfd, name)
	if err == nil {
		err = v.absent(false)
	}
	if err != nil {
		return 0, err
	}
	_, err = c.s.create(c.p, v.vnode, &inode{Mode: unix.S_IFLNK | 0o777, Nlink: 1, Target: target})
	return 0, err
}

func (c *call) sysLink() (uint64, error) {
	return c.linkAt(unix.AT_FDCWD, c.a[0], unix.AT_FDCWD, c.a[1], 0)
}

func (c *call) sysLinkat() (uint64, error) {
	return c.linkAt(c.arg32(0), c.a[1], c.arg32(2), c.a[3], int(c.a[4]))
}

func (c *call) linkAt(fromDir int, fromAddr uint64, toDir int, toAddr uint64, flags int) (uint64, error) {
	if flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return 0, unix.EINVAL
	}
	from, err := c.path(fromAddr)
	if err != nil {
		return 0, err
	}
	v, err := c.existing(fromDir, from, flags&unix.AT_SYMLINK_FOLLOW != 0)
	if err != nil {
		return 0, err
	}
	to, err := c.path(toAddr)
	if err != nil {
		return 0, err
	}
	w, err := c.final(toDir, to)
	if err == nil {
		err = w.absent(false)
	}
	if err == nil && v.st.dir() {
		err = unix.EPERM
	}
	if err == nil {
		err = c.s.mayLink(v.st)
	}
	if err != nil {
		return 0, err
	}
	dir, err := c.s.writableDir(c.p, w.vnode)
	if err != nil {
		return 0, err
	}
	i, err := c.s.upper(c.p, v)
	if err != nil {
		return 0, err
	}
	n := c.s.inode(i)
	n.Nlink++
	n.Ctime = c.s.Now().wall()
	c.s.setEntry(dir, w.name(), i)
	c.s.touchDir(dir, false, 0)
	return 0, nil
}

// owner returns why the guest's user may not change a file's mode or owner.
func (c *call) owner(st stat) error {
	if !c.s.owns(st.UID) {
		return unix.EPERM
	}
	return nil
}

// change applies f to the inode of an existing file that may is not against.
func (c *call) change(v vnode, err error, may func(stat) error, f func(*inode) error) (uint64, error) {
	if err == nil {
		err = may(v.st)
	}
	if err != nil {
		return 0, err
	}
	if v.node == 0 && c.s.lowerReadOnly(v.low) {
		return 0, unix.EROFS
	}
	i, err := c.s.upper(c.p, v)
	if err != nil {
		return 0, err
	}
	return 0, c.changeNode(i, f)
}

// changeNode is change for an inode.
func (c *call) changeNode(i int, f func(*inode) error) error {
	n := c.s.inode(i)
	err := f(n)
	if err == nil {
		n.Ctime = c.s.Now().wall()
	}
	return err
}

// changeFd is change for the open file of a descriptor.
func (c *call) changeFd(fd int, may func(stat) error, f func(*inode) error) (uint64, error) {
	_, o, err := c.fd(fd)
	if err != nil {
		return 0, err
	}
	return c.changeOpen(o, may, f)
}

// changeOpen is change for an open file.
func (c *call) changeOpen(o *file, may func(stat) error, f func(*inode) error) (uint64, error) {
	switch {
	case o.Node != 0:
		if err := may(c.s.nodeStat(o.Node)); err != nil {
			return 0, err
		}
		return 0, c.changeNode(o.Node, f)
	case o.Kind != fileLower && o.Kind != fileDir && o.Kind != filePath:
		return 0, nil
	}
	v, err := c.existing(unix.AT_FDCWD, o.Path, true)
	return c.change(v, err, may, f)
}

func (c *call) changeAt(dirfd int, addr uint64, follow bool, may func(stat) error, f func(*inode) error) (uint64, error) {
	name, err := c.path(addr)
	if err != nil {
		return 0, err
	}
	v, err := c.existing(dirfd, name, follow)
	return c.change(v, err, may, f)
}

// changeEmpty is changeAt with AT_EMPTY_PATH: without a name it is the file of the descriptor.
func (c *call) changeEmpty(dirfd int, addr uint64, follow bool, may func(stat) error, f func(*inode) error) (uint64, error) {
	name, err := c.path(addr)
	switch {
	case err != nil:
		return 0, err
	case name != "":
		return c.changeAt(dirfd, addr, follow, may, f)
	case dirfd == unix.AT_FDCWD:
		v, err := c.existing(dirfd, ".", true)
		return c.change(v, err, may, f)
	}
	_, o, err := c.anyFd(dirfd)
	if err != nil {
		return 0, err
	}
	return c.changeOpen(o, may, f)
}

func chmod(mode uint64) func(*inode) error {
	return func(n *inode) error {
		n.Mode = n.Mode&^0o7777 | uint32(mode)&0o7777
		return nil
	}
}

func (c *call) sysChmod() (uint64, error) {
	return c.changeAt(unix.AT_FDCWD, c.a[0], true, c.owner, chmod(c.a[1]))
}
func (c *call) sysFchmodat() (uint64, error) {
	return c.changeAt(c.arg32(0), c.a[1], true, c.owner, chmod(c.a[2]))
}
func (c *call) sysFchmod() (uint64, error) { return c.changeFd(c.arg32(0), c.owner, chmod(c.a[1])) }

// chown returns what changes the owner; as root to any, else to the one that the file has (change has checked that it is ours).
func (c *call) chown(uid, gid uint64) func(*inode) error {
	return func(n *inode) error {
		to := *n
		if uint32(uid) != ^uint32(0) {
			to.UID = uint32(uid)
		}
		if uint32(gid) != ^uint32(0) {
			to.GID = uint32(gid)
		}
		if err := cmp.Or(c.s.known(to.UID, c.s.cfg.UID), c.s.known(to.GID, c.s.cfg.GID)); err != nil {
			return err
		}
		if !c.s.super() && (to.UID != n.UID || to.GID != n.GID && to.GID != uint32(c.s.cfg.GID)) {
			return unix.EPERM
		}
		if n.Mode&unix.S_IFMT != unix.S_IFDIR { // chown(2): a program of another owner is not run with his rights
			to.Mode &^= unix.S_ISUID
			if n.Mode&0o10 != 0 {
				to.Mode &^= unix.S_ISGID
			}
		}
		n.UID, n.GID, n.Mode = to.UID, to.GID, to.Mode
		return nil
	}
}

func (c *call) sysChown() (uint64, error) {
	return c.changeAt(unix.AT_FDCWD, c.a[0], true, c.owner, c.chown(c.a[1], c.a[2]))
}

func (c *call) sysLchown() (uint64, error) {
	return c.changeAt(unix.AT_FDCWD, c.a[0], false, c.owner, c.chown(c.a[1], c.a[2]))
}

func (c *call) sysFchown() (uint64, error) {
	return c.changeFd(c.arg32(0), c.owner, c.chown(c.a[1], c.a[2]))
}

func (c *call) sysFchownat() (uint64, error) {
	flags := c.arg32(4)
	if flags&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return 0, unix.EINVAL
	}
	if flags&unix.AT_EMPTY_PATH != 0 {
		return c.changeEmpty(c.arg32(0), c.a[1], flags&unix.AT_SYMLINK_NOFOLLOW == 0, c.owner, c.chown(c.a[2], c.a[3]))
	}
	return c.changeAt(c.arg32(0), c.a[1], flags&unix.AT_SYMLINK_NOFOLLOW == 0, c.owner, c.chown(c.a[2], c.a[3]))
}

func (c *call) sysUmask() (uint64, error) {
	old := c.p.Umask
	c.p.Umask = uint32(c.a[0]) & 0o777
	return uint64(old), nil
}

func (c *call) sysUtimensat() (uint64, error) {
	now := c.s.Now().wall()
	w := []uint64{0, unix.UTIME_NOW, 0, unix.UTIME_NOW}
	if c.a[2] != 0 {
		var err error
		if w, err = c.words(c.a[2], 4); err != nil {
			return 0, err
		}
	}
	var to [2]*int64 // nil: as it is
	invalid := false
	for i := range to {
		switch sec, ns := int64(w[2*i]), w[2*i+1]; {
		case ns == unix.UTIME_NOW:
			to[i] = &now
		case ns == unix.UTIME_OMIT:
		case ns > 999999999:
			invalid = true
		default:
			t := sec*1e9 + int64(ns)
			to[i] = &t
		}
	}
	noName := c.a[1] == 0 && c.arg32(0) != unix.AT_FDCWD
	switch {
	case to[0] == nil && to[1] == nil && !invalid:
		return 0, nil
	case c.a[3]&0xffffffff&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 || noName && c.a[3]&0xffffffff != 0:
		return 0, unix.EINVAL
	}
	set := func(n *inode) error {
		if invalid { // which is looked at when the file has been found
			return unix.EINVAL
		}
		if to[0] != nil {
			n.Atime = *to[0]
		}
		if to[1] != nil {
			n.Mtime = *to[1]
		}
		return nil
	}
	may := c.owner
	if to[0] == &now && to[1] == &now { // whoever may write may say that he just did
		may = func(st stat) error {
			if !c.s.owns(st.UID) && !c.s.may(st, 2) {
				return unix.EACCES
			}
			return nil
		}
	}
	if noName {
		return c.changeFd(c.arg32(0), may, set)
	}
	if c.a[3]&unix.AT_EMPTY_PATH != 0 {
		return c.changeEmpty(c.arg32(0), c.a[1], c.a[3]&unix.AT_SYMLINK_NOFOLLOW == 0, may, set)
	}
	return c.changeAt(c.arg32(0), c.a[1], c.a[3]&unix.AT_SYMLINK_NOFOLLOW == 0, may, set)
}

func (c *call) sysTruncate() (uint64, error) {
	if int64(c.a[1]) < 0 {
		return 0, unix.EINVAL
	}
	name, err := c.path(c.a[0])
	if err != nil {
		return 0, err
	}
	v, err := c.existing(unix.AT_FDCWD, name, true)
	switch {
	case err != nil:
		return 0, err
	case v.st.dir():
		return 0, unix.EISDIR
	case !v.st.regular():
		return 0, unix.EINVAL
	case !c.s.may(v.st, 2):
		return 0, unix.EACCES
	case v.node == 0 && c.s.lowerReadOnly(v.low):
		return 0, unix.EROFS
	}
	i, err := c.s.upper(c.p, v)
	if err != nil {
		return 0, err
	}
	return 0, c.resize(i, int64(c.a[1]))
}

func (c *call) resize(i int, size int64) error {
	n := c.s.inode(i)
	if size > n.Size {
		if _, err := c.belowLimit(size-1, 1); err != nil {
			return err
		}
		if err := tooLarge(size); err != nil {
			return err
		}
	}
	c.s.truncateNode(i, size)
	n = c.s.inode(i)
	n.Mtime, n.Ctime = c.s.Now().wall(), c.s.Now().wall()
	return nil
}

func (c *call) sysFtruncate() (uint64, error) {
	_, f, err := c.fd(c.arg32(0))
	switch {
	case int64(c.a[1]) < 0:
		return 0, unix.EINVAL
	case err != nil:
		return 0, err
	case f.Kind != fileNode || !f.writable():
		return 0, unix.EINVAL
	}
	return 0, c.resize(f.Node, int64(c.a[1]))
}

func (c *call) sysFallocate() (uint64, error) {
	_, f, err := c.fd(c.arg32(0))
	mode := uint32(c.a[1])
	switch {
	case err != nil:
		return 0, err
	case int64(c.a[2]) < 0 || int64(c.a[3]) <= 0:
		return 0, unix.EINVAL
	case mode != 0 && mode != unix.FALLOC_FL_KEEP_SIZE && mode != unix.FALLOC_FL_KEEP_SIZE|unix.FALLOC_FL_PUNCH_HOLE:
		return 0, c.lacks(unix.EOPNOTSUPP) // as tmpfs
	case !f.writable():
		return 0, unix.EBADF
	case f.Kind == filePipe:
		return 0, unix.ESPIPE
	case f.Kind != fileNode:
		return 0, unix.ENODEV
	}
	end := int64(c.a[2]) + int64(c.a[3])
	switch {
	case end < 0:
		return 0, unix.EFBIG
	case mode&unix.FALLOC_FL_PUNCH_HOLE != 0:
		return 0, c.zero(f.Node, int64(c.a[2]), end)
	case mode != 0: // room is no matter here
		return 0, nil
	}
	if end > c.s.nodes.get(f.Node).Size {
		return 0, c.resize(f.Node, end)
	}
	return 0, nil
}

// zero makes what there is of node i from at to end zero.
func (c *call) zero(i int, at, end int64) error {
	n := c.s.inode(i)
	n.Mtime, n.Ctime = c.s.Now().wall(), c.s.Now().wall()
	for end = min(end, n.Size); at < end; {
		k := min(end-at, 1<<20)
		if !c.s.reserve(c.s.inode(i), at, k) {
			return unix.ENOSPC
		}
		c.s.writeNode(i, at, mem.Concrete(make([]byte, k)))
		at += k
	}
	return nil
}

// sysFadvise has no effect.
func (c *call) sysFadvise() (uint64, error) {
	_, f, err := c.fd(c.arg32(0))
	switch {
	case err != nil:
		return 0, err
	case f.Kind == filePipe:
		return 0, unix.ESPIPE
	case c.a[3]&0xffffffff > 5 || int64(c.a[2]) < 0:
		return 0, unix.EINVAL
	}
	return 0, nil
}

// sysFsync has no effect: what is written is there.
func (c *call) sysFsync() (uint64, error) {
	_, f, err := c.fd(c.arg32(0))
	switch {
	case err != nil:
		return 0, err
	case !f.regular() && f.Kind != fileDir:
		return 0, unix.EINVAL
	}
	return 0, nil
}

// sysFd succeeds for every descriptor: flock, readahead.
func (c *call) sysFd() (uint64, error) {
	_, _, err := c.fd(c.arg32(0))
	return 0, err
}

// statfs describes one large tmpfs, statfs(2).
func (c *call) statfs(to uint64) (uint64, error) {
	size, free := c.s.cfg.World.host().disk, c.s.cfg.World.host().free
	const valid, relatime, noatime = 0x20, 0x1000, 0x400
	kind, flags := uint64(unix.TMPFS_MAGIC), uint64(valid|relatime)
	if c.s.cfg.World.Elsewhere {
		kind, flags = unix.EXT4_SUPER_MAGIC, valid|noatime
	}
	return 0, c.put64(to, kind, 4096, size, free, free, size, free, c.s.cfg.World.Inodes, 255, 4096, flags, 0, 0, 0, 0)
}

func (c *call) sysStatfs() (uint64, error) {
	name, err := c.path(c.a[0])
	if err != nil {
		return 0, err
	}
	if _, err := c.existing(unix.AT_FDCWD, name, true); err != nil {
		return 0, err
	}
	return c.statfs(c.a[1])
}

func (c *call) sysFstatfs() (uint64, error) {
	if _, _, err := c.anyFd(c.arg32(0)); err != nil {
		return 0, err
	}
	return c.statfs(c.a[1])
}
