package kernel

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// File is what a name stands for.
type File struct {
	Mode    uint32  // type and permissions, inode(7)
	Content Content // of a regular file
	Target  string  // of a symbolic link
}

// Content is what a regular file holds, which is read piece by piece: a file may be a gigabyte, of which hardly anything was ever written.
// It is good as long as the system does not go on.
type Content struct {
	Size int64
	read func(off int64, n int) mem.Bytes // n bytes at off, which are there
}

// contentOf is the content of inode i.
func (s *System) contentOf(i int) Content {
	return Content{s.nodes.get(i).Size, func(off int64, n int) mem.Bytes { return s.peekNode(i, off, n) }}
}

// ContentOf is the content b.
func ContentOf(b mem.Bytes) Content {
	return Content{int64(len(b.Data)), func(off int64, n int) mem.Bytes { return b.Slice(int(off), int(off)+n) }}
}

// contentPiece is how many bytes Pieces shows at once.
const contentPiece = 1 << 20

// Pieces calls f with each piece of c, in order, until that is false. A piece is good until the next one.
func (c Content) Pieces(f func(mem.Bytes) bool) {
	for off := int64(0); off < c.Size; off += contentPiece {
		if !f(c.read(off, int(min(contentPiece, c.Size-off)))) {
			return
		}
	}
}

// Begin are the first bytes of c, at most n.
func (c Content) Begin(n int) mem.Bytes {
	if c.Size == 0 {
		return mem.Bytes{}
	}
	return c.read(0, int(min(int64(n), c.Size)))
}

// All is the whole of c.
func (c Content) All() mem.Bytes { return c.Begin(int(c.Size)) }

// Same reports whether c and d are the same in all pieces, as same tells of two pieces of one length.
func (c Content) Same(d Content, same func(a, b mem.Bytes) bool) bool {
	if c.Size != d.Size {
		return false
	}
	for off := int64(0); off < c.Size; off += contentPiece {
		n := int(min(contentPiece, c.Size-off))
		if !same(c.read(off, n), d.read(off, n)) {
			return false
		}
	}
	return true
}

// Effect is a name that stands for something else than it did when the system was booted. Of times and owners nothing is said.
type Effect struct {
	Path    string
	Was, Is *File // nil: there is no such file
}

// Effects returns what the guest has changed in its files, by name in order of path, and at most limit of them; the host's, and Config.Files, are what
// was there. A directory that is gone, or something else now, stands for all that was in it. Whether a file's symbolic bytes are what was there is for the
// caller to say. What belongs to the kernel, below /dev, /proc and /sys, and what Config.Virtual shows are no files of anybody.
func (s *System) Effects(limit int) []Effect {
	f := &effects{s: s, limit: limit}
	f.dir("/", rootNode)
	slices.SortFunc(f.out, func(a, b Effect) int { return strings.Compare(a.Path, b.Path) })
	return f.out[:min(len(f.out), limit)]
}

type effects struct {
	s     *System
	limit int
	out   []Effect
}

func (f *effects) add(at string, was, is *File) { f.out = append(f.out, Effect{at, was, is}) }

// full reports whether the limit is reached.
func (f *effects) full() bool { return len(f.out) >= f.limit }

// foreign reports whether p belongs to the kernel or to Config.Virtual, so that it is no file of the program's.
func (f *effects) foreign(p string) bool {
	_, _, virtual := f.s.mount(p)
	return virtual || synthetic(p)
}

// dir compares the directory at with what was there; node is its inode.
func (f *effects) dir(at string, node int) {
	n := f.s.nodes.get(node)
	for _, name := range slices.Sorted(maps.Keys(n.Ents)) {
		f.entry(path.Join(at, name), n.Ents[name], "")
	}
	if n.Lower == at {
		return
	}
	// It shows another directory, or none: what that has is new here, and what was here is gone.
	shown := map[string]bool{}
	if n.Lower != "" {
		l, _ := f.s.lowerDir(nil, n.Lower)
		for _, e := range l {
			if _, hidden := n.Ents[e.Name]; !hidden && !f.full() {
				shown[e.Name] = true
				f.entry(path.Join(at, e.Name), 0, path.Join(n.Lower, e.Name))
			}
		}
	}
	if st, err := f.s.lowerStat(nil, at); err != nil || !st.dir() {
		return
	}
	l, _ := f.s.lowerDir(nil, at)
	for _, e := range l {
		p := path.Join(at, e.Name)
		if _, is := n.Ents[e.Name]; is || shown[e.Name] || f.full() || f.foreign(p) {
			continue
		}
		if was := f.before(p, nil); was != nil {
			f.add(p, was, nil)
		}
	}
}

// entry compares what is at p, inode node, or where that is 0 and low is not empty the lower file low, with what was there.
func (f *effects) entry(p string, node int, low string) {
	if f.full() || f.foreign(p) {
		return
	}
	var is *File
	switch {
	case node != 0:
		is = f.node(node)
	case low != "":
		is = f.lower(low, true)
	}
	was := f.before(p, is)
	switch {
	case was == nil && is == nil, was != nil && is != nil && untouched(was, is):
	default:
		f.add(p, was, is)
	}
	if is == nil || is.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	if node != 0 {
		f.dir(p, node)
		return
	}
	l, _ := f.s.lowerDir(nil, low)
	for _, e := range l {
		f.entry(path.Join(p, e.Name), 0, path.Join(low, e.Name))
	}
}

// untouched reports whether is and was are surely the same.
func untouched(was, is *File) bool {
	return was.Mode == is.Mode && was.Target == is.Target && was.Content.Same(is.Content, func(a, b mem.Bytes) bool {
		return slices.Equal(a.Sym, b.Sym) && bytes.Equal(a.Data, b.Data)
	})
}

// before is what p stood for, nil for nothing. Its content counts only where p has content now.
func (f *effects) before(p string, is *File) *File {
	if b, ok := f.s.cfg.Files[p]; ok {
		return &File{Mode: unix.S_IFREG | 0o644, Content: ContentOf(b)}
	}
	return f.lower(p, is != nil && is.Mode&unix.S_IFMT == unix.S_IFREG)
}

func (f *effects) lower(p string, content bool) *File {
	st, err := f.s.lowerStat(nil, p)
	if err != nil {
		return nil
	}
	is := &File{Mode: st.Mode}
	switch st.kind() {
	case unix.S_IFREG:
		if !content {
			break
		}
		if b, err := f.s.lowerContent(nil, p); err == nil {
			is.Content = ContentOf(mem.Concrete(b.Data))
		}
	case unix.S_IFLNK:
		is.Target, _ = f.s.lowerLink(nil, p)
	}
	return is
}

func (f *effects) node(i int) *File {
	n := f.s.nodes.get(i)
	is := &File{Mode: n.Mode, Target: n.Target}
	if n.Mode&unix.S_IFMT == unix.S_IFREG {
		is.Content = f.s.contentOf(i)
	}
	return is
}
