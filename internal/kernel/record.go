package kernel

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Answer is what a run was told of one path of the host, whole: another run that is given the same answers sees the same host. One of
// Error, Stat, Link and Entries says what was asked.
type Answer struct {
	Path    string        `json:"path"`
	Error   syscall.Errno `json:"error,omitempty"`   // of lstat(2)
	Stat    *HostStat     `json:"stat,omitempty"`    // of lstat(2)
	SHA256  string        `json:"sha256,omitempty"`  // with Stat, of a regular file: its content, whether it was read or not
	Link    string        `json:"link,omitempty"`    // where a symbolic link leads to
	Entries []HostEntry   `json:"entries,omitempty"` // of a folder, by name
	Folder  bool          `json:"folder,omitempty"`  // with Entries, which may be none
	Late    bool          `json:"late,omitempty"`    // with Error or Folder: the test has asked, not only the start of its interpreter
}

// HostStat is struct stat of a file; times are in nanoseconds.
type HostStat struct {
	Dev    uint64 `json:"dev"`
	Ino    uint64 `json:"ino"`
	Nlink  uint64 `json:"nlink"`
	Mode   uint32 `json:"mode"`
	UID    uint32 `json:"uid"`
	GID    uint32 `json:"gid"`
	Rdev   uint64 `json:"rdev,omitempty"`
	Size   int64  `json:"size"`
	Blocks int64  `json:"blocks"`
	Time   int64  `json:"time"` // of the last change of its content
}

// HostEntry is an entry of a folder; Type is DT_* of readdir(3).
type HostEntry struct {
	Name string `json:"name"`
	Ino  uint64 `json:"ino"`
	Type byte   `json:"type"`
}

// maxDigest bounds what is read of a file for its digest, in bytes: beyond, its size and time stand for its content.
const maxDigest = 256 << 20

// changedSince is in place of a digest where a file has changed while the run went on: then no later run can see what this one did.
const changedSince = "changed during the run"

// Record returns all answers so far, in order of path. The digests of files are kept, so that a second call is cheap.
func (h *Host) Record() []Answer {
	h.mu.Lock()
	stats, links, dirs, late := maps.Clone(h.stats), maps.Clone(h.links), maps.Clone(h.dirs), maps.Clone(h.late)
	h.mu.Unlock()
	var out []Answer
	for path, a := range stats {
		x := Answer{Path: path}
		if a.err != nil {
			x.Error, _ = a.err.(syscall.Errno)
			x.Late = late[[2]string{"stat", path}]
		} else {
			s := a.st
			x.Stat = &HostStat{s.Dev, s.Ino, s.Nlink, s.Mode, s.UID, s.GID, s.Rdev, s.Size, s.Blocks, s.Mtime}
			if s.regular() {
				x.SHA256 = h.digest(path, s)
			}
		}
		out = append(out, x)
	}
	for path, to := range links {
		out = append(out, Answer{Path: path, Link: to})
	}
	for path, l := range dirs {
		x := Answer{Path: path, Folder: true, Late: late[[2]string{"dir", path}]}
		for _, e := range l {
			x.Entries = append(x.Entries, HostEntry(e))
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b Answer) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.kind(), b.kind())) })
	return out
}

func (a *Answer) kind() int {
	switch {
	case a.Folder:
		return 2
	case a.Link != "":
		return 1
	}
	return 0
}

// digest is that of the content of a file that was seen as st.
func (h *Host) digest(path string, st stat) string {
	h.mu.Lock()
	d, known := h.digests[path]
	h.mu.Unlock()
	if known {
		return d
	}
	d = fileDigest(path, st.Size)
	if now, err := hostStat(path); statDigest(now, err) != statDigest(st, nil) {
		d = changedSince
	}
	h.mu.Lock()
	h.digests[path] = d
	h.mu.Unlock()
	return d
}

// fileDigest is the SHA-256 of a regular file in hex; what cannot be read, or is too large, has none.
func fileDigest(path string, size int64) string {
	if size > maxDigest {
		return ""
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxDigest)); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// HostOf returns a Host that gives the answers of a record. What was not asked then it asks now.
func HostOf(record []Answer) *Host {
	h := NewHost()
	for _, a := range record {
		if kind := [...]string{"stat", "link", "dir"}[a.kind()]; a.Late {
			h.late[[2]string{kind, a.Path}] = true
		}
		switch {
		case a.Folder:
			l := make([]dirent, len(a.Entries))
			for i, e := range a.Entries {
				l[i] = dirent(e)
			}
			h.dirs[a.Path] = l
		case a.Link != "":
			h.links[a.Path] = a.Link
		case a.Stat == nil:
			h.stats[a.Path] = lstatAnswer{err: a.Error}
		default:
			s := a.Stat
			h.stats[a.Path] = lstatAnswer{st: stat{Dev: s.Dev, Ino: s.Ino, Nlink: s.Nlink, Mode: s.Mode, UID: s.UID, GID: s.GID, Rdev: s.Rdev, Size: s.Size, Blocks: s.Blocks,
				Atime: s.Time, Mtime: s.Time, Ctime: s.Time}}
			if s.Mode&unix.S_IFMT == unix.S_IFREG {
				h.digests[a.Path] = a.SHA256
			}
		}
	}
	return h
}
