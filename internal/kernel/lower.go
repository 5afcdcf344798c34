package kernel

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// The lower layer is read by absolute guest path. In order: Config.Virtual, the
// made-up trees /dev, /proc and /sys (proc.go), the host.

// mount returns the virtual tree that holds p and p's name in it.
func (s *System) mount(p string) (fs.FS, string, bool) {
	for at := p; ; at = path.Dir(at) {
		if t, ok := s.cfg.Virtual[at]; ok {
			name := strings.TrimPrefix(strings.TrimPrefix(p, at), "/")
			if name == "" {
				name = "."
			}
			return t, name, true
		}
		if at == "/" || at == "." {
			return nil, "", false
		}
	}
}

// aboveMount reports whether p is a directory on the way to a virtual tree.
func (s *System) aboveMount(p string) bool {
	for at := range s.cfg.Virtual {
		if strings.HasPrefix(at, strings.TrimSuffix(p, "/")+"/") {
			return true
		}
	}
	return false
}

func (s *System) lowerReadOnly(p string) bool {
	if p == "" {
		return false
	}
	_, _, virtual := s.mount(p)
	return virtual || synthetic(p) && p != "/dev/shm" && p != "/dev"
}

func virtualStat(p string, fi fs.FileInfo) stat {
	st := stat{Dev: overlayDev + 1, Ino: fnv(p), Nlink: 1, Mode: unix.S_IFREG | 0o444, Size: fi.Size(), Atime: Epoch, Mtime: Epoch, Ctime: Epoch}
	if fi.IsDir() {
		st.Mode, st.Size, st.Nlink = unix.S_IFDIR|0o555, 4096, 2
	}
	st.Blocks = (st.Size + 511) / 512
	return st
}

// fnv is FNV-1a, kept to 31 bits: an inode number for what has none.
func fnv(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return h&0x7fffffff | 1<<31
}

func (s *System) lowerStat(p *Process, at string) (stat, error) {
	if t, name, ok := s.mount(at); ok {
		fi, err := fs.Stat(t, name)
		if err != nil {
			return stat{}, fsErrno(err)
		}
		return virtualStat(at, fi), nil
	}
	if synthetic(at) {
		return s.synthStat(p, at)
	}
	st, err := s.host.lstat(at)
	st = s.boxed(st)
	if err == unix.ENOENT && s.aboveMount(at) {
		return stat{Dev: overlayDev + 1, Ino: fnv(at), Nlink: 2, Mode: unix.S_IFDIR | 0o555, Size: 4096, Blocks: 8, Atime: Epoch, Mtime: Epoch, Ctime: Epoch}, nil
	}
	st.Atime += int64(s.cfg.World.Later) // it is not known who else reads the file
	return st, err
}

func fsErrno(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
		return unix.ENOENT
	case errors.Is(err, fs.ErrPermission):
		return unix.EACCES
	}
	return unix.EIO
}

func (s *System) lowerLink(p *Process, at string) (string, error) {
	if synthetic(at) {
		return s.synthLink(p, at)
	}
	return s.host.readlink(at)
}

func (s *System) lowerContent(p *Process, at string) (*mem.Backing, error) {
	if t, name, ok := s.mount(at); ok {
		b, err := s.host.virtual(t, name, at)
		if err != nil {
			return nil, fsErrno(err)
		}
		return b, nil
	}
	if synthetic(at) {
		t, err := s.synthText(at)
		s.passes(len(t) / rowCost)
		return &mem.Backing{Name: at, Data: t}, err
	}
	return s.host.open(at)
}

// virtual returns a virtual file's content; one Backing per path and run.
func (h *Host) virtual(t fs.FS, name, at string) (*mem.Backing, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b, ok := h.files[at]; ok {
		return b, h.opened[at]
	}
	data, err := fs.ReadFile(t, name)
	b := &mem.Backing{Name: at, Data: data}
	h.files[at], h.opened[at] = b, err
	return b, err
}

// dirent is a directory entry; Type is DT_* of readdir(3).
type dirent struct {
	Name string
	Ino  uint64
	Type byte
}

// lowerDir lists a lower directory in order of name, without . and ...
func (s *System) lowerDir(p *Process, at string) ([]dirent, error) {
	var out []dirent
	if t, name, ok := s.mount(at); ok {
		l, err := fs.ReadDir(t, name)
		if err != nil {
			return nil, fsErrno(err)
		}
		for _, e := range l {
			d := dirent{e.Name(), fnv(at + "/" + e.Name()), unix.DT_REG}
			if e.IsDir() {
				d.Type = unix.DT_DIR
			}
			out = append(out, d)
		}
	} else if synthetic(at) {
		return s.synthDir(p, at)
	} else {
		l, err := s.host.readDir(at)
		if err != nil && !s.aboveMount(at) {
			return nil, err
		}
		out = append(out, l...)
	}
	for m := range s.cfg.Virtual {
		rest, ok := strings.CutPrefix(m, strings.TrimSuffix(at, "/")+"/")
		if !ok || at == "/" { // as in replay: it is there for whoever knows, the listing of / does not have it
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		if !slices.ContainsFunc(out, func(d dirent) bool { return d.Name == name }) {
			out = append(out, dirent{name, fnv(path.Join(at, name)), unix.DT_DIR})
		}
	}
	sortDirents(out)
	return out, nil
}

// list returns the entries of a directory of the guest in order of name, . and .. first.
func (s *System) list(p *Process, v vnode) ([]dirent, error) {
	up, err := s.walk(p, v.path, "..", true)
	if err != nil {
		return nil, err
	}
	out := []dirent{{".", v.st.Ino, unix.DT_DIR}, {"..", up.st.Ino, unix.DT_DIR}}
	low := v.low
	var n *inode
	if v.node != 0 {
		n = s.nodes.get(v.node)
		low = n.Lower
	}
	var body []dirent
	if low != "" {
		l, err := s.lowerDir(p, low)
		if err != nil {
			return nil, err
		}
		for _, e := range l {
			if n != nil {
				if _, hidden := n.Ents[e.Name]; hidden {
					continue
				}
			}
			body = append(body, e)
		}
	}
	if n != nil {
		for name, i := range n.Ents {
			if i != whiteout {
				body = append(body, dirent{name, overlayIno + uint64(i), byte(s.nodes.get(i).Mode >> 12 & 15)})
			}
		}
	}
	s.passes(4 * len(body))
	sortDirents(body)
	return append(out, body...), nil
}

func sortDirents(l []dirent) {
	slices.SortFunc(l, func(a, b dirent) int { return strings.Compare(a.Name, b.Name) })
}
