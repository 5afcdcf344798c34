package kernel

import (
	"encoding/binary"
	"path"

	"golang.org/x/sys/unix"
)

// fileStat is fstat(2).
func (s *System) fileStat(f *file) stat { return f.kind().stat(s, f) }

// encode lays a stat out as struct stat, stat(2), arch/x86/include/uapi/asm/stat.h, as w shows it.
func (s stat) encode(w *World) []byte {
	b := make([]byte, 144)
	le := binary.LittleEndian
	le.PutUint64(b, s.Dev+w.Inodes)
	le.PutUint64(b[8:], s.Ino+w.Inodes)
	le.PutUint64(b[16:], s.Nlink)
	le.PutUint32(b[24:], s.Mode)
	le.PutUint32(b[28:], s.UID)
	le.PutUint32(b[32:], s.GID)
	le.PutUint64(b[40:], s.Rdev)
	le.PutUint64(b[48:], uint64(s.Size))
	le.PutUint64(b[56:], 4096)
	le.PutUint64(b[64:], uint64(s.Blocks))
	for i, t := range [3]int64{s.Atime, s.Mtime, s.Ctime} { // reading sets no atime, as with mount -o noatime
		ns := (t%1e9 + 1e9) % 1e9
		le.PutUint64(b[72+16*i:], uint64((t-ns)/1e9))
		le.PutUint64(b[80+16*i:], uint64(ns))
	}
	return b
}

func (c *call) sysStat() (uint64, error) { return c.statAt(unix.AT_FDCWD, c.a[0], c.a[1], 0) }
func (c *call) sysLstat() (uint64, error) {
	return c.statAt(unix.AT_FDCWD, c.a[0], c.a[1], unix.AT_SYMLINK_NOFOLLOW)
}

func (c *call) sysNewfstatat() (uint64, error) {
	return c.statAt(c.arg32(0), c.a[1], c.a[2], int(c.a[3]))
}

func (c *call) sysFstat() (uint64, error) {
	_, f, err := c.anyFd(c.arg32(0))
	if err != nil {
		return 0, err
	}
	return 0, c.putStat(c.a[1], c.s.fileStat(f))
}

func (c *call) statAt(dirfd int, addr, to uint64, flags int) (uint64, error) {
	const known = unix.AT_SYMLINK_NOFOLLOW | unix.AT_EMPTY_PATH | unix.AT_NO_AUTOMOUNT | unix.AT_STATX_FORCE_SYNC | unix.AT_STATX_DONT_SYNC
	if flags&0xffffffff&^known != 0 {
		return 0, unix.EINVAL
	}
	st, err := c.statNamed(dirfd, addr, flags)
	if err != nil {
		return 0, err
	}
	return 0, c.putStat(to, st)
}

// statNamed is statPath of the name that the guest has at addr.
func (c *call) statNamed(dirfd int, addr uint64, flags int) (stat, error) {
	name, err := c.path(addr)
	if err != nil {
		return stat{}, err
	}
	return c.statPath(dirfd, name, flags)
}

func (c *call) statPath(dirfd int, name string, flags int) (stat, error) {
	if name == "" && flags&unix.AT_EMPTY_PATH != 0 && dirfd != unix.AT_FDCWD {
		_, f, err := c.anyFd(dirfd)
		if err != nil {
			return stat{}, err
		}
		return c.s.fileStat(f), nil
	}
	if name == "" && flags&unix.AT_EMPTY_PATH != 0 {
		name = "."
	}
	if fd, ok := reopened(name); ok && flags&unix.AT_SYMLINK_NOFOLLOW == 0 {
		_, f, err := c.anyFd(fd)
		if err != nil {
			return stat{}, unix.ENOENT
		}
		return c.s.fileStat(f), nil
	}
	v, err := c.existing(dirfd, name, flags&unix.AT_SYMLINK_NOFOLLOW == 0)
	return v.st, err
}

func (c *call) sysAccess() (uint64, error) { return c.accessAt(unix.AT_FDCWD, c.a[0], c.a[1], 0) }
func (c *call) sysFaccessat() (uint64, error) {
	return c.accessAt(c.arg32(0), c.a[1], c.a[2], 0)
}

func (c *call) sysFaccessat2() (uint64, error) {
	return c.accessAt(c.arg32(0), c.a[1], c.a[2], int(c.a[3]))
}

func (c *call) accessAt(dirfd int, addr, mode uint64, flags int) (uint64, error) {
	if mode&0xffffffff&^7 != 0 || flags&0xffffffff&^(unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return 0, unix.EINVAL
	}
	st, err := c.statNamed(dirfd, addr, flags)
	if err != nil {
		return 0, err
	}
	if !c.s.may(st, uint32(mode)) {
		return 0, unix.EACCES
	}
	return 0, nil
}

func (c *call) sysReadlink() (uint64, error) {
	return c.readlinkAt(unix.AT_FDCWD, c.a[0], c.a[1], c.arg32(2))
}

func (c *call) sysReadlinkat() (uint64, error) {
	return c.readlinkAt(c.arg32(0), c.a[1], c.a[2], c.arg32(3))
}

func (c *call) readlinkAt(dirfd int, addr, to uint64, size int) (uint64, error) {
	if size <= 0 {
		return 0, unix.EINVAL
	}
	name, err := c.path(addr)
	if err != nil {
		return 0, err
	}
	if name == "" && dirfd != unix.AT_FDCWD { // the file of a descriptor, which may be a link by O_PATH
		_, f, err := c.anyFd(dirfd)
		switch {
		case err != nil:
			return 0, err
		case f.Kind != filePath || !f.St.link():
			return 0, unix.ENOENT
		}
		dirfd, name = unix.AT_FDCWD, f.Path
	}
	v, err := c.existing(dirfd, name, false)
	if err != nil {
		return 0, err
	}
	t, err := c.s.readlink(c.p, v)
	if err != nil {
		return 0, err
	}
	t = t[:min(len(t), size)]
	return uint64(len(t)), c.put(to, []byte(t))
}

func (c *call) sysGetcwd() (uint64, error) {
	b := append([]byte(c.p.Cwd), 0)
	if uint64(len(b)) > c.a[1] {
		return 0, unix.ERANGE
	}
	return uint64(len(b)), c.put(c.a[0], b)
}

func (c *call) chdirTo(v vnode, err error) (uint64, error) {
	switch {
	case err != nil:
		return 0, err
	case !v.st.dir():
		return 0, unix.ENOTDIR
	case !c.s.may(v.st, 1):
		return 0, unix.EACCES
	}
	c.p.Cwd = path.Clean(v.path)
	return 0, nil
}

func (c *call) sysChdir() (uint64, error) {
	name, err := c.path(c.a[0])
	if err != nil {
		return 0, err
	}
	return c.chdirTo(c.existing(unix.AT_FDCWD, name, true))
}

func (c *call) sysFchdir() (uint64, error) {
	_, f, err := c.anyFd(c.arg32(0))
	if err != nil {
		return 0, err
	}
	if f.Kind != fileDir && f.Kind != filePath {
		return 0, unix.ENOTDIR
	}
	return c.chdirTo(c.existing(unix.AT_FDCWD, f.Path, true))
}
