package kernel

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Extended attributes, xattr(7). Files of the lower layer have none: the host's are not looked at.

// xattr is an extended attribute of an inode, which has them sorted by name.
type xattr struct{ Name, Value string }

// maxXattr bounds an attribute's value and a list of names, in bytes (XATTR_SIZE_MAX, XATTR_LIST_MAX).
const maxXattr = 65536

// How a call names its file: the three variants of each call.
const (
	byPath = iota
	byLink // the symbolic link itself
	byFd
)

// xattrArgs returns the file and the attribute that arguments 0 and 1 name; change tells that it is to be changed.
func (c *call) xattrArgs(how int, change bool) (v vnode, name string, err error) {
	if v, err = c.xattrFile(how); err == nil {
		name, err = c.xattrName(v.st, change)
	}
	return v, name, err
}

// xattrFile returns the file that argument 0 names, and its inode, which is 0 where it is in the lower layer alone.
func (c *call) xattrFile(how int) (vnode, error) {
	if how != byFd {
		name, err := c.path(c.a[0])
		if err != nil {
			return vnode{}, err
		}
		return c.existing(unix.AT_FDCWD, name, how == byPath)
	}
	_, f, err := c.fd(c.arg32(0))
	switch {
	case err != nil:
		return vnode{}, err
	case f.Kind == filePath:
		return vnode{}, unix.EBADF
	case f.Node != 0:
		return vnode{node: f.Node, st: c.s.fileStat(f)}, nil
	case f.Kind == fileLower || f.Kind == fileDir:
		return c.existing(unix.AT_FDCWD, f.Path, true)
	}
	return vnode{st: c.s.fileStat(f)}, nil
}

// xattrName reads the name in argument 1 and checks who may use it (xattr_permission in fs/xattr.c).
func (c *call) xattrName(st stat, write bool) (string, error) {
	name, err := c.str(c.a[1], 256, unix.ERANGE)
	if err != nil {
		return "", err
	}
	denied := unix.ENODATA
	if write {
		denied = unix.EPERM
	}
	space, rest, dotted := strings.Cut(name, ".")
	mask := uint32(4)
	if write {
		mask = 2
	}
	switch {
	case name == "" || len(name) > 255:
		return "", unix.ERANGE
	case !dotted || space != "user" && space != "trusted" && space != "security":
		return "", unix.EOPNOTSUPP
	case space != "user" && !c.s.super() && (write || space == "trusted"):
		return "", denied
	case space == "user" && !st.regular() && !st.dir():
		return "", denied
	case space == "user" && !c.s.may(st, mask):
		return "", unix.EACCES
	case rest == "":
		return "", unix.EINVAL
	}
	return name, nil
}

// xattrs returns a file's attributes.
func (s *System) xattrs(v vnode) []xattr {
	if v.node == 0 {
		return nil
	}
	return s.nodes.get(v.node).Xattrs
}

func findXattr(l []xattr, name string) (int, bool) {
	return slices.BinarySearchFunc(l, name, func(x xattr, name string) int { return strings.Compare(x.Name, name) })
}

// editXattrs gives the file the attributes l.
func (c *call) editXattrs(v vnode, l []xattr) error {
	if v.node == 0 && c.s.lowerReadOnly(v.low) {
		return unix.EROFS
	}
	i, err := c.s.upper(c.p, v)
	if err == nil {
		n := c.s.inode(i)
		n.Xattrs, n.Ctime = l, c.s.Now().wall()
	}
	return err
}

func (c *call) setXattr(how int) (uint64, error) {
	const create, replace = 1, 2
	flags, size := c.a[4], c.a[3]
	if flags&^(create|replace) != 0 {
		return 0, unix.EINVAL
	}
	if size > maxXattr {
		return 0, unix.E2BIG
	}
	v, name, err := c.xattrArgs(how, true)
	if err != nil {
		return 0, err
	}
	value, err := c.bytes(c.a[2], size)
	if err != nil {
		return 0, err
	}
	l := slices.Clone(c.s.xattrs(v))
	i, has := findXattr(l, name)
	switch {
	case has && flags&create != 0:
		return 0, unix.EEXIST
	case !has && flags&replace != 0:
		return 0, unix.ENODATA
	case has:
		l[i].Value = string(value)
	default:
		l = slices.Insert(l, i, xattr{name, string(value)})
	}
	return 0, c.editXattrs(v, l)
}

func (c *call) removeXattr(how int) (uint64, error) {
	v, name, err := c.xattrArgs(how, true)
	if err != nil {
		return 0, err
	}
	l := slices.Clone(c.s.xattrs(v))
	i, has := findXattr(l, name)
	if !has {
		return 0, unix.ENODATA
	}
	return 0, c.editXattrs(v, slices.Delete(l, i, i+1))
}

// storeXattr stores what a call returns at addr, if size is enough; size 0 asks for its length.
func (c *call) storeXattr(text string, addr, size uint64) (uint64, error) {
	switch n := uint64(len(text)); {
	case size == 0:
		return n, nil
	case size < n:
		return 0, unix.ERANGE
	default:
		return n, c.put(addr, []byte(text))
	}
}

func (c *call) getXattr(how int) (uint64, error) {
	v, name, err := c.xattrArgs(how, false)
	if err != nil {
		return 0, err
	}
	l := c.s.xattrs(v)
	i, has := findXattr(l, name)
	if !has {
		return 0, unix.ENODATA
	}
	return c.storeXattr(l[i].Value, c.a[2], c.a[3])
}

func (c *call) listXattr(how int) (uint64, error) {
	v, err := c.xattrFile(how)
	if err != nil {
		return 0, err
	}
	var names strings.Builder
	for _, x := range c.s.xattrs(v) {
		if c.s.super() || !strings.HasPrefix(x.Name, "trusted.") {
			names.WriteString(x.Name + "\x00")
		}
	}
	return c.storeXattr(names.String(), c.a[1], c.a[2])
}

func (c *call) sysSetxattr() (uint64, error)     { return c.setXattr(byPath) }
func (c *call) sysLsetxattr() (uint64, error)    { return c.setXattr(byLink) }
func (c *call) sysFsetxattr() (uint64, error)    { return c.setXattr(byFd) }
func (c *call) sysGetxattr() (uint64, error)     { return c.getXattr(byPath) }
func (c *call) sysLgetxattr() (uint64, error)    { return c.getXattr(byLink) }
func (c *call) sysFgetxattr() (uint64, error)    { return c.getXattr(byFd) }
func (c *call) sysListxattr() (uint64, error)    { return c.listXattr(byPath) }
func (c *call) sysLlistxattr() (uint64, error)   { return c.listXattr(byLink) }
func (c *call) sysFlistxattr() (uint64, error)   { return c.listXattr(byFd) }
func (c *call) sysRemovexattr() (uint64, error)  { return c.removeXattr(byPath) }
func (c *call) sysLremovexattr() (uint64, error) { return c.removeXattr(byLink) }
func (c *call) sysFremovexattr() (uint64, error) { return c.removeXattr(byFd) }
