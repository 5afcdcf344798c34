package kernel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// Consulted is one question asked of the host file system and its answer.
type Consulted struct {
	Path   string
	Kind   string // "stat", "dir", "link"
	Digest string // what was found
}

// Host reads the host's files for all systems of a run, asks each question
// once and records it: a run sees one picture of the host. It is safe for
// concurrent use.
type Host struct {
	mu      sync.Mutex
	stats   map[string]lstatAnswer
	links   map[string]string
	dirs    map[string][]dirent
	files   map[string]*mem.Backing
	opened  map[string]error
	asked   []Consulted
	noted   map[[2]string]bool // kind and path of what is in asked
	digests map[string]string  // of regular files, see Record
	begun   bool               // the test has begun
	late    map[[2]string]bool // kind and path of folders that were listed, and of what was looked for in vain, since then
}

type lstatAnswer struct {
	st  stat
	err error // a unix.Errno
}

// NewHost returns a Host that has asked nothing yet.
func NewHost() *Host {
	return &Host{
		stats: map[string]lstatAnswer{}, links: map[string]string{}, dirs: map[string][]dirent{},
		files: map[string]*mem.Backing{}, opened: map[string]error{}, noted: map[[2]string]bool{}, digests: map[string]string{}, late: map[[2]string]bool{},
	}
}

// Begin says that the test begins: what is asked from here on is asked by it, not by the start of its interpreter.
func (h *Host) Begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begun = true
}

// Told is a number that grows with what there is to Record.
func (h *Host) Told() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.asked) + len(h.late)
}

// since notes a question that is about what is not there.
func (h *Host) since(kind, path string) {
	if h.begun {
		h.late[[2]string{kind, path}] = true
	}
}

// Consulted returns the record in order of first question.
func (h *Host) Consulted() []Consulted {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Consulted(nil), h.asked...)
}

// record notes a question, once. Its answer stays the same.
func (h *Host) record(path, kind string, digest func() string) {
	if at := [2]string{kind, path}; !h.noted[at] {
		h.noted[at] = true
		h.asked = append(h.asked, Consulted{path, kind, digest()})
	}
}

func hostStat(path string) (stat, error) {
	var u unix.Stat_t
	if err := unix.Lstat(path, &u); err != nil {
		return stat{}, err
	}
	return stat{
		Dev: u.Dev, Ino: u.Ino, Nlink: u.Nlink, Mode: u.Mode, UID: u.Uid, GID: u.Gid, Rdev: u.Rdev,
		Size: u.Size, Blocks: u.Blocks, Atime: u.Mtim.Nano(), Mtime: u.Mtim.Nano(), Ctime: u.Mtim.Nano(),
	}, nil
}

func statDigest(st stat, err error) string {
	if err != nil {
		return err.Error()
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR { // its entries are another question
		return fmt.Sprintf("mode=%o ino=%d", st.Mode, st.Ino)
	}
	return fmt.Sprintf("mode=%o size=%d mtime=%d ino=%d", st.Mode, st.Size, st.Mtime, st.Ino)
}

func (h *Host) lstat(path string) (stat, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a, ok := h.stats[path]
	if !ok {
		a.st, a.err = hostStat(path)
		h.stats[path] = a
	}
	h.record(path, "stat", func() string { return statDigest(a.st, a.err) })
	if a.err != nil {
		h.since("stat", path)
	}
	return a.st, a.err
}

func (h *Host) readlink(path string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, ok := h.links[path]
	if !ok {
		var err error
		if t, err = os.Readlink(path); err != nil {
			return "", errnoOf(err)
		}
		h.links[path] = t
	}
	h.record(path, "link", func() string { return t })
	return t, nil
}

func hostDir(path string) ([]dirent, error) {
	l, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, errnoOf(err)
	}
	out := make([]dirent, 0, len(l))
	for _, e := range l {
		st, err := hostStat(path + "/" + e.Name())
		if err == nil {
			out = append(out, dirent{Name: e.Name(), Ino: st.Ino, Type: byte(st.Mode >> 12 & 15)})
		}
	}
	return out, nil
}

func dirDigest(l []dirent) string {
	h := sha256.New()
	for _, e := range l {
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00", e.Name, e.Ino, e.Type)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// readDir lists a directory in order of name.
func (h *Host) readDir(path string) ([]dirent, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, ok := h.dirs[path]
	if !ok {
		var err error
		if l, err = hostDir(path); err != nil {
			return nil, err
		}
		h.dirs[path] = l
	}
	h.record(path, "dir", func() string { return dirDigest(l) })
	h.since("dir", path)
	return l, nil
}

// maxHostFile bounds a host file's size in bytes: its content is kept in memory.
const maxHostFile = 1 << 30

// open returns the content of a regular host file.
func (h *Host) open(path string) (*mem.Backing, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b, ok := h.files[path]; ok {
		return b, h.opened[path]
	}
	b, err := readHost(path)
	h.files[path], h.opened[path] = b, err
	if err != nil {
		h.record(path, "open", err.Error)
	}
	return b, err
}

func readHost(path string) (*mem.Backing, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, errnoOf(err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxHostFile {
		return nil, unix.EFBIG
	}
	id, shared := idOf(path, fi, time.Now())
	if shared {
		if b := sharedContent(id); b != nil {
			return b, nil
		}
	}
	b := copied(path, f, fi.Size())
	if b == nil {
		data := bytes.NewBuffer(make([]byte, 0, fi.Size()+bytes.MinRead))
		if _, err := data.ReadFrom(io.LimitReader(f, maxHostFile)); err != nil {
			return nil, errnoOf(err)
		}
		b = &mem.Backing{Name: path, Data: data.Bytes()}
	}
	if fi, err = f.Stat(); err == nil && shared {
		if after, same := idOf(path, fi, time.Now()); same && after == id {
			share(id, b)
		}
	}
	return b, nil
}

// errnoOf returns the errno inside err; EIO where there is none. That this process has too many files open is nothing that a guest may see.
func errnoOf(err error) error {
	for e := err; e != nil; {
		if n, ok := e.(unix.Errno); ok {
			if n == unix.EMFILE || n == unix.ENFILE {
				return unsupported("the host lets symchef open no more files (ulimit -n)")
			}
			return n
		}
		u, ok := e.(interface{ Unwrap() error })
		if !ok {
			break
		}
		e = u.Unwrap()
	}
	return unix.EIO
}

// Revalidate asks h every question of list and returns an error naming the first answer that is another one. The questions count
// as asked: whoever goes on with what list led to has asked them.
func (h *Host) Revalidate(list []Consulted) error {
	for _, c := range list {
		var now string
		switch c.Kind {
		case "stat":
			now = statDigest(h.lstat(c.Path))
		case "dir":
			l, err := h.readDir(c.Path)
			if now = dirDigest(l); err != nil {
				now = err.Error()
			}
		case "link":
			t, err := h.readlink(c.Path)
			if now = t; err != nil {
				now = err.Error()
			}
		case "open":
			if _, err := h.open(c.Path); err != nil {
				now = err.Error()
			}
		default:
			return fmt.Errorf("kernel: unknown kind of question %q", c.Kind)
		}
		if now != c.Digest {
			return fmt.Errorf("%s has changed (%s): was %s, is %s", c.Path, c.Kind, c.Digest, now)
		}
	}
	return nil
}
