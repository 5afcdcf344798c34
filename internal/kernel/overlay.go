package kernel

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/mem"
)

// The guest's file tree has two layers. The lower one is read-only: the host,
// the virtual trees of Config, and the made-up files of proc.go; lower.go reads
// it by absolute path. The upper one, this file, is the inode table: a directory
// inode shows the lower directory at Lower through its own entries.

// pageSize is the unit of copy-on-write of an overlay file's content, in bytes.
const pageSize = 4096

// maxFile bounds an overlay file's size in bytes: it is the machine's, so the path ends there. maxLinux is that of most file systems, ext4(5).
const (
	maxFile  = 1 << 30
	maxLinux = 1 << 44
)

// tooLarge returns why a regular file cannot be of size bytes.
func tooLarge(size int64) error {
	switch {
	case size < 0 || size > maxLinux:
		return unix.EFBIG
	case size > maxFile:
		return unsupported("a file of more than 1 GiB")
	}
	return nil
}

// maxDisk bounds the content of all overlay files in bytes, as the size of a disk does; maxNodes their number (ENOSPC beyond).
const (
	maxDisk  = 1 << 30
	maxNodes = 1 << 20
)

// rootNode is the inode of "/".
const rootNode = 1

// whiteout is the entry of a name that has been removed from the lower layer.
const whiteout = 0

// page is a piece of an overlay file. It is written only while its owner is the system's.
type page struct {
	Owner uint64
	Data  [pageSize]byte
	Sym   *[pageSize]expr.Ref // nil: concrete
}

// inode is a file of the upper layer; inode(7).
type inode struct {
	Mode     uint32 // type and permissions
	UID, GID uint32
	Nlink    int
	Atime    int64 // ns since 1970; Linux would set it when the file is read, here only utimensat(2) does
	Mtime    int64 // ns since 1970
	Ctime    int64 // as Mtime, of the inode

	// Regular files: pages over Base. A nil page shows Base[:BaseLen], then zeros.
	Size    int64
	Pages   []*page
	Base    *mem.Backing
	BaseLen int64
	Obj     uint64 // instead of Pages and Base: the content is the object at this address, see shared.go

	Ents   map[string]int // directories: name to inode, or whiteout
	Lower  string         // directories: the lower directory shown through; "" is none
	Target string         // symbolic links

	Xattrs []xattr // replaced, never changed in place
}

//lint:ignore U1000 called through cloner
func (n *inode) clone() *inode {
	c := *n
	c.Pages = append([]*page(nil), n.Pages...)
	c.Ents = maps.Clone(n.Ents)
	return &c
}

// stat describes a file, as struct stat does; times are in ns since 1970.
type stat struct {
	Dev, Ino, Nlink     uint64
	Mode, UID, GID      uint32
	Rdev                uint64
	Size, Blocks        int64
	Atime, Mtime, Ctime int64
}

func (s stat) kind() uint32  { return s.Mode & unix.S_IFMT }
func (s stat) dir() bool     { return s.kind() == unix.S_IFDIR }
func (s stat) link() bool    { return s.kind() == unix.S_IFLNK }
func (s stat) regular() bool { return s.kind() == unix.S_IFREG }

// overlayDev is st_dev of overlay files; the numbers of their inodes start at overlayIno.
const (
	overlayDev = 0x5c
	overlayIno = 1 << 32
)

// vnode is the result of a path walk.
type vnode struct {
	path   string // absolute, without symbolic links but perhaps the last
	node   int    // inode of the upper layer; 0: lower layer only
	low    string // path in the lower layer, where node is 0
	exists bool
	st     stat
}

func (v vnode) parent() string { return path.Dir(v.path) }
func (v vnode) name() string   { return path.Base(v.path) }

func (s *System) nodeStat(i int) stat {
	n := s.nodes.get(i)
	st := stat{Dev: overlayDev, Ino: overlayIno + uint64(i), Nlink: uint64(max(n.Nlink, 0)), Mode: n.Mode, UID: n.UID, GID: n.GID, Size: n.Size, Atime: n.Atime, Mtime: n.Mtime, Ctime: n.Ctime}
	switch n.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		if st.Size = 4096; s.cfg.World.Elsewhere { // tmpfs counts entries
			st.Size = 40
		}
	case unix.S_IFLNK:
		st.Size = int64(len(n.Target))
		return st // it is in the inode
	}
	st.Blocks = (st.Size + 4095) / 4096 * 8 // as if nothing were a hole
	return st
}

// child looks a name up in a directory. The path of the result is not filled in.
func (s *System) child(p *Process, dir vnode, name string) (vnode, error) {
	var v vnode
	s.cost += nameCost
	low := dir.low
	if dir.node != 0 {
		n := s.nodes.get(dir.node)
		if i, ok := n.Ents[name]; ok {
			if i != whiteout {
				v.node, v.exists, v.st = i, true, s.nodeStat(i)
			}
			return v, nil
		}
		low = n.Lower
	}
	if low == "" {
		return v, nil
	}
	v.low = strings.TrimSuffix(low, "/") + "/" + name
	s.moves(len(v.low))
	st, err := s.lowerStat(p, v.low)
	switch err {
	case nil:
		v.st, v.exists = st, true
	case unix.ENOENT, unix.ENOTDIR:
	default:
		return v, err
	}
	return v, nil
}

// walk resolves a path for p from directory base (path_resolution(7)). A missing
// last component is no error: the result does not exist then.
func (s *System) walk(p *Process, base, name string, follow bool) (vnode, error) {
	if name == "" {
		return vnode{}, unix.ENOENT
	}
	if !strings.HasPrefix(name, "/") {
		name = base + "/" + name
	}
	// The paths of what is passed are beginnings of one text, so that a walk takes as long as its way.
	type step struct {
		vnode
		end int // of its path in text
	}
	var text []byte
	arrived := func(v vnode) vnode {
		s.moves(len(text))
		v.path = cmp.Or(string(text), "/")
		return v
	}
	root := vnode{node: rootNode, exists: true, st: s.nodeStat(rootNode)}
	stack := []step{{vnode: root}}
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		c := rest[0]
		rest = rest[1:]
		dir := stack[len(stack)-1]
		dots := c == "" || c == "." || c == ".."
		if err := s.mayStep(dir.vnode, c, dots); err != nil {
			return vnode{}, err
		}
		if dots {
			if c == ".." && len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			continue
		}
		v, err := s.child(p, dir.vnode, c)
		if err != nil {
			return vnode{}, err
		}
		text = append(append(text[:dir.end], '/'), c...)
		if s.order != nil && s.calling {
			s.order.way = append(s.order.way, string(text))
		}
		if v.exists && v.st.link() && (follow || len(rest) > 0) {
			if links++; links > 40 {
				return vnode{}, unix.ELOOP
			}
			target, err := s.readlink(p, v)
			if err != nil {
				return vnode{}, err
			}
			if strings.HasPrefix(target, "/") {
				stack = stack[:1]
			}
			rest = append(strings.Split(target, "/"), rest...)
			continue
		}
		// A trailing slash on a missing name is for mkdir(2) only; callers see a missing file.
		if !v.exists && !slices.ContainsFunc(rest, func(c string) bool { return c != "" }) {
			return arrived(v), nil
		}
		stack = append(stack, step{v, len(text)})
	}
	last := stack[len(stack)-1]
	text = text[:last.end]
	return arrived(last.vnode), nil
}

// mayStep returns why a walk cannot go on from dir to the name c; dots: that is dir itself, or its parent.
func (s *System) mayStep(dir vnode, c string, dots bool) error {
	switch {
	case len(c) > unix.NAME_MAX:
		return unix.ENAMETOOLONG
	case !dir.exists:
		return unix.ENOENT
	case !dir.st.dir():
		return unix.ENOTDIR
	case !dots && !s.search(dir):
		return unix.EACCES
	}
	return nil
}

func (s *System) readlink(p *Process, v vnode) (string, error) {
	if !v.st.link() {
		return "", unix.EINVAL
	}
	if v.node != 0 {
		return s.nodes.get(v.node).Target, nil
	}
	return s.lowerLink(p, v.low)
}

// upperDir returns the inode of an existing directory, making those on the way to it.
func (s *System) upperDir(p *Process, dir string) (int, error) {
	at := vnode{node: rootNode}
	for _, c := range strings.Split(dir, "/") {
		if c == "" {
			continue
		}
		v, err := s.child(p, at, c)
		if err != nil {
			return 0, err
		}
		if !v.exists || !v.st.dir() {
			return 0, unix.ENOENT
		}
		if v.node == 0 {
			v.node = s.nodes.add(s.owner, &inode{
				Mode: v.st.Mode, UID: v.st.UID, GID: v.st.GID, Nlink: int(v.st.Nlink), Atime: v.st.Atime, Mtime: v.st.Mtime, Ctime: v.st.Ctime, Lower: v.low,
			})
			s.setEntry(at.node, c, v.node)
			s.copiedUp(v.low, v.node)
		}
		at = v
	}
	return at.node, nil
}

// upper returns the inode of an existing file, copying it up if it is in the lower layer.
func (s *System) upper(p *Process, v vnode) (int, error) {
	if v.node != 0 {
		return v.node, nil
	}
	if v.st.dir() {
		return s.upperDir(p, v.path)
	}
	if err := s.unboxed(v.st); err != nil {
		return 0, err
	}
	n := &inode{Mode: v.st.Mode, UID: v.st.UID, GID: v.st.GID, Nlink: 1, Atime: v.st.Atime, Mtime: v.st.Mtime, Ctime: v.st.Ctime}
	switch v.st.kind() {
	case unix.S_IFREG:
		b, err := s.lowerContent(p, v.low)
		if err != nil {
			return 0, err
		}
		n.Base, n.Size, n.BaseLen = b, int64(len(b.Data)), int64(len(b.Data))
	case unix.S_IFLNK:
		t, err := s.lowerLink(p, v.low)
		if err != nil {
			return 0, err
		}
		n.Target = t
	default:
		return 0, unix.EPERM
	}
	dir, err := s.upperDir(p, v.parent())
	if err != nil {
		return 0, err
	}
	i := s.nodes.add(s.owner, n)
	s.setEntry(dir, v.name(), i)
	s.copiedUp(v.low, i)
	return i, nil
}

// copiedUp moves the files that are open on a lower file to its new inode.
func (s *System) copiedUp(low string, node int) {
	for i := range s.files.rows {
		if f := s.files.get(i); f == nil || f.Node != 0 || f.Low != low {
			continue
		}
		f := s.file(i)
		f.Node = node
		if f.Kind == fileLower {
			f.Kind, f.Back = fileNode, nil
		}
	}
}

func (s *System) setEntry(dir int, name string, i int) {
	d := s.inode(dir)
	if d.Ents == nil {
		d.Ents = map[string]int{}
	}
	d.Ents[name] = i
}

// create makes a new file named v, which must not exist.
func (s *System) create(p *Process, v vnode, n *inode) (int, error) {
	i, dir, err := s.addNode(p, v, n)
	if err != nil {
		return 0, err
	}
	s.setEntry(dir, v.name(), i)
	s.touchDir(dir, n.Mode&unix.S_IFMT == unix.S_IFDIR, 1)
	return i, nil
}

// nameless adds n to folder v, where it has no name.
func (s *System) nameless(p *Process, v vnode, n *inode) (int, error) {
	i, _, err := s.addNode(p, vnode{path: path.Join(v.path, "#")}, n)
	return i, err
}

// addNode adds n, which belongs to p's user, for a name v in a folder that he may write to.
func (s *System) addNode(p *Process, v vnode, n *inode) (i, dir int, err error) {
	if len(s.nodes.rows) >= maxNodes {
		return 0, 0, unix.ENOSPC
	}
	if dir, err = s.writableDir(p, v); err != nil {
		return 0, 0, err
	}
	n.UID, n.GID = uint32(s.cfg.UID), uint32(s.cfg.GID)
	n.Mtime = s.Now().wall()
	n.Atime, n.Ctime = n.Mtime, n.Mtime
	if d := s.nodes.get(dir); d.Mode&unix.S_ISGID != 0 { // inode(7), "The set-group-ID bit"
		n.GID = d.GID
		if n.Mode&unix.S_IFMT == unix.S_IFDIR {
			n.Mode |= unix.S_ISGID
		}
	}
	return s.nodes.add(s.owner, n), dir, nil
}

// preload makes a file with content b at an absolute path, in place of one that is there.
func (s *System) preload(p *Process, at string, b mem.Bytes) error {
	v, err := s.walk(p, "/", at, true)
	if err != nil {
		return err
	}
	if v.exists {
		if !v.st.regular() {
			return unix.EISDIR
		}
		if err := s.remove(p, v); err != nil {
			return err
		}
		v.exists, v.node, v.low = false, 0, ""
	}
	i, err := s.create(p, v, &inode{Mode: unix.S_IFREG | 0o644, Nlink: 1})
	if err != nil {
		return err
	}
	s.writeNode(i, 0, b)
	return nil
}

// writableDir returns the inode of v's parent if entries may be made or removed there.
func (s *System) writableDir(p *Process, v vnode) (int, error) {
	d, err := s.walk(p, "/", v.parent(), false)
	if err != nil {
		return 0, err
	}
	if s.lowerReadOnly(d.low) || d.node != 0 && s.lowerReadOnly(s.nodes.get(d.node).Lower) {
		return 0, unix.EROFS
	}
	if !s.may(d.st, 3) {
		return 0, unix.EACCES
	}
	if d.node != 0 {
		return d.node, nil
	}
	return s.upperDir(p, d.path)
}

func (s *System) touchDir(dir int, subdir bool, delta int) {
	d := s.inode(dir)
	d.Mtime, d.Ctime = s.Now().wall(), s.Now().wall()
	if subdir {
		d.Nlink += delta
	}
}

// remove takes v's name away. The inode lives on where files are open on it.
func (s *System) remove(p *Process, v vnode) error {
	dir, err := s.writableDir(p, v)
	if err == nil {
		err = s.mayRemove(s.nodeStat(dir), v.st)
	}
	if err != nil {
		return err
	}
	s.setEntry(dir, v.name(), whiteout)
	s.touchDir(dir, v.st.dir(), -1)
	if v.node != 0 {
		n := s.inode(v.node)
		n.Nlink--
		n.Ctime = s.Now().wall()
		if v.st.dir() {
			n.Nlink = 0
		}
	}
	return nil
}

// content returns all bytes of a regular file.
func (s *System) content(p *Process, v vnode) (mem.Bytes, error) {
	if v.node == 0 {
		b, err := s.lowerContent(p, v.low)
		if err != nil {
			return mem.Bytes{}, err
		}
		return mem.Concrete(b.Data), nil
	}
	return s.readNode(v.node, 0, int(s.nodes.get(v.node).Size)), nil
}

// beginning returns the first bytes of a regular file, at most n.
func (s *System) beginning(p *Process, v vnode, n int) (mem.Bytes, error) {
	if v.node == 0 {
		b, err := s.lowerContent(p, v.low)
		if err != nil {
			return mem.Bytes{}, err
		}
		return mem.Concrete(b.Data[:min(n, len(b.Data))]), nil
	}
	return s.readNode(v.node, 0, n), nil
}

// mayShow says why the content of inode i cannot be mapped: what a mapping shows is a copy of the whole, as it is then, and with those that are
// mapped it would take more memory than a process may.
func (s *System) mayShow(i int) error {
	most := s.cfg.MaxMemory
	if most == 0 {
		return nil
	}
	size, counted := uint64(s.nodes.get(i).Size), map[*mem.Backing]bool{}
	for _, p := range s.procs {
		if p.Mem == nil {
			continue
		}
		for _, a := range p.Mem.Areas() {
			if b := a.Back; b != nil && b.Copied && !counted[b] {
				counted[b] = true
				size += uint64(len(b.Data))
			}
		}
	}
	if size > most {
		return unsupported(fmt.Sprintf("mappings of more than %d MiB of files that were written", most>>20))
	}
	return nil
}

// backing returns b as what a mapping of v shows.
func (s *System) backing(v vnode, b mem.Bytes) *mem.Backing {
	if v.node == 0 {
		if k, err := s.lowerContent(nil, v.low); err == nil {
			return k
		}
	}
	return &mem.Backing{Name: v.path, Data: b.Data, Copied: true}
}

// read returns up to n bytes at off.
func (n *inode) read(off int64, count int) mem.Bytes {
	if off >= n.Size {
		return mem.Bytes{}
	}
	count = int(min(int64(count), n.Size-off))
	b := mem.Bytes{Data: make([]byte, count)}
	for at := 0; at < count; {
		pos := off + int64(at)
		i, o := int(pos/pageSize), int(pos%pageSize)
		k := min(pageSize-o, count-at)
		if i < len(n.Pages) && n.Pages[i] != nil {
			g := n.Pages[i]
			copy(b.Data[at:at+k], g.Data[o:])
			if g.Sym != nil {
				if b.Sym == nil {
					b.Sym = make([]expr.Ref, count)
				}
				copy(b.Sym[at:at+k], g.Sym[o:])
			}
		} else if n.Base != nil && pos < n.BaseLen {
			copy(b.Data[at:at+k], n.Base.Data[pos:n.BaseLen])
		}
		at += k
	}
	return b
}

// page returns page i, made or copied so that the owner may write it.
func (n *inode) page(owner uint64, i int) *page {
	for len(n.Pages) <= i {
		n.Pages = append(n.Pages, nil)
	}
	switch g := n.Pages[i]; {
	case g == nil:
		g = &page{Owner: owner}
		if pos := int64(i) * pageSize; n.Base != nil && pos < n.BaseLen {
			copy(g.Data[:], n.Base.Data[pos:n.BaseLen])
		}
		n.Pages[i] = g
	case g.Owner != owner:
		c := *g
		c.Owner = owner
		if g.Sym != nil {
			sym := *g.Sym
			c.Sym = &sym
		}
		n.Pages[i] = &c
	}
	return n.Pages[i]
}

// space returns the bytes that n's pages take.
func (n *inode) space() int64 {
	size := int64(len(n.Pages)) * 8
	for _, g := range n.Pages {
		if g != nil {
			size += pageSize
		}
	}
	return size
}

// reserve reports whether the disk has room for a write of count bytes to n at off. What is mapped shared
// counts as memory instead.
func (s *System) reserve(n *inode, off, count int64) bool {
	if n.Obj != 0 {
		return true
	}
	var need int64
	first, last := int(off/pageSize), int((off+count-1)/pageSize)
	for i := first; i <= last; i++ {
		if i >= len(n.Pages) || n.Pages[i] == nil {
			need += pageSize
		}
	}
	need += 8 * int64(max(0, last+1-len(n.Pages)))
	limit := int64(maxDisk)
	if m := s.cfg.MaxMemory; m > 0 {
		limit = min(limit, int64(m))
	}
	bound := int64(s.cfg.World.Bounds.Disk)
	if bound > 0 {
		limit = min(limit, bound)
	}
	if s.stored+need > limit { // what was truncated or removed since counts no longer
		s.sweep()
	}
	if s.stored+need > limit {
		if bound > 0 {
			s.bounded.Disk = uint64(bound)
		}
		return false
	}
	s.stored += need
	return true
}

// sweep drops the content of files that have neither a name nor are open, and counts the others.
func (s *System) sweep() {
	open := map[int]bool{}
	for i := range s.files.rows {
		if f := s.files.get(i); f != nil {
			open[f.Node] = true
		}
	}
	s.stored = 0
	s.passes(len(s.files.rows) + len(s.nodes.rows))
	for i := range s.nodes.rows {
		n := s.nodes.get(i)
		if n != nil && n.Nlink <= 0 && !open[i] && len(n.Pages) > 0 {
			n = s.inode(i)
			n.Pages, n.Size, n.BaseLen = nil, 0, 0
		}
		if n != nil {
			s.passes(len(n.Pages))
			s.stored += n.space()
		}
	}
}

// write stores b at off, growing the file.
func (n *inode) write(owner uint64, off int64, b mem.Bytes) {
	for at := 0; at < len(b.Data); {
		pos := off + int64(at)
		i, o := int(pos/pageSize), int(pos%pageSize)
		k := min(pageSize-o, len(b.Data)-at)
		g := n.page(owner, i)
		part := b.Slice(at, at+k)
		copy(g.Data[o:], part.Data)
		if !part.IsConcrete() && g.Sym == nil {
			g.Sym = new([pageSize]expr.Ref)
		}
		if g.Sym != nil {
			for j := range k {
				g.Sym[o+j] = 0
				if part.Sym != nil {
					g.Sym[o+j] = part.Sym[j]
				}
			}
		}
		at += k
	}
	n.Size = max(n.Size, off+int64(len(b.Data)))
}

// truncate sets the size; what is beyond it is zero if the file grows again.
func (n *inode) truncate(owner uint64, size int64) {
	n.BaseLen = min(n.BaseLen, size)
	if keep := int((size + pageSize - 1) / pageSize); keep < len(n.Pages) {
		n.Pages = n.Pages[:keep]
	}
	if i, o := int(size/pageSize), int(size%pageSize); o != 0 && i < len(n.Pages) && n.Pages[i] != nil {
		g := n.page(owner, i)
		clear(g.Data[o:])
		if g.Sym != nil {
			clear(g.Sym[o:])
		}
	}
	n.Size = size
}

// rebaseFiles does Rebase's work on overlay files and pipes.
func (s *System) rebaseFiles(eval func(expr.Ref) uint64) {
	for i := range s.nodes.rows {
		n := s.nodes.get(i)
		for k := 0; n != nil && k < len(n.Pages); k++ {
			if g := n.Pages[k]; g == nil || g.Sym == nil {
				continue
			}
			n = s.inode(i)
			g := n.page(s.owner, k)
			for j, r := range g.Sym {
				if r != 0 {
					g.Data[j] = byte(eval(r))
				}
			}
		}
	}
	for i := range s.pipes.rows {
		if p := s.pipes.get(i); p != nil && !p.Buf.IsConcrete() {
			s.pipe(i).Buf = rebased(p.Buf, eval)
		}
	}
	for i := range s.files.rows {
		if f := s.files.get(i); f != nil && !f.Text.IsConcrete() {
			s.file(i).Text = rebased(f.Text, eval)
		}
	}
}
