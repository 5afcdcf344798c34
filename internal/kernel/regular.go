package kernel

import (
	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// lowerFile is a regular file of the lower layer, which nobody has opened for writing.
type lowerFile struct{ regularKind }

// nodeFile is a regular file of the overlay.
type nodeFile struct{ regularKind }

// directory is read by getdents64(2) only.
type directory struct {
	plainKind
	fileOrder
}

// pathOnly is a file opened with O_PATH: a place in the tree.
type pathOnly struct{ plainKind }

type regularKind struct {
	plainKind
	fileOrder
}

func (regularKind) traits() trait { return seeks | advances | bulk }
func (directory) traits() trait   { return seeks }
func (pathOnly) traits() trait    { return opaque }

func (regularKind) held(s *System, f *file) (int, error) { return int(s.fileStat(f).Size - f.Off), nil }

func (lowerFile) read(c *call, _ int, f *file, at int64, n int) (mem.Bytes, error) {
	size := int64(len(f.Back.Data))
	if at >= size {
		return mem.Bytes{}, nil
	}
	return mem.Concrete(f.Back.Data[at:min(size, at+int64(n))]), nil
}

func (lowerFile) sound(_ *System, f *file) bool { return f.Back != nil }

func (nodeFile) read(c *call, _ int, f *file, at int64, n int) (mem.Bytes, error) {
	return c.s.readNode(f.Node, at, n), nil
}

func (nodeFile) write(c *call, i int, f *file, off int64, b mem.Bytes) (uint64, error) {
	if len(b.Data) == 0 {
		return 0, nil // the offset stays, even with O_APPEND
	}
	at := off
	if off < 0 {
		at = f.Off
	}
	node := c.s.inode(f.Node)
	if f.Flags&unix.O_APPEND != 0 {
		at = node.Size
	}
	n, err := c.belowLimit(at, int64(len(b.Data)))
	if err == nil {
		err = tooLarge(at + n)
	}
	if err != nil {
		return 0, err
	}
	if !c.s.reserve(node, at, n) {
		return 0, unix.ENOSPC
	}
	c.s.writeNode(f.Node, at, b.Slice(0, int(n)))
	node.Mtime, node.Ctime = c.s.Now().wall(), c.s.Now().wall()
	if off < 0 {
		c.s.file(i).Off = at + n
	}
	return uint64(n), nil
}

func (nodeFile) sound(_ *System, f *file) bool { return f.Node != 0 }

func (directory) read(*call, int, *file, int64, int) (mem.Bytes, error) {
	return mem.Bytes{}, unix.EISDIR
}
