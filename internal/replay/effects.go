package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// What a program does to files is told in two steps: the confine child lists what is in the layers that took its writes, and the
// parent, which sees the host's files as they are, says what that means.

// A trace is a name in a layer after the run.
type trace struct {
	Path   []byte // absolute, as the program was told it would find it; bytes, which JSON keeps
	Mode   uint32 // type and permissions, inode(7)
	Size   int64
	SHA256 string // of a regular file; empty if it was not looked at
	from   string // where a regular file is in the layer
	Target []byte // of a symbolic link
	Gone   bool   // a whiteout: the host's file was removed
	Opaque bool   // a directory that hides the host's
	Empty  bool   // it is in a folder that was empty before, whatever the host has there
}

// traces are what a program has left in files.
type traces struct {
	Within [][]byte // the folders that are told of; nil: all
	List   []trace
	Cut    bool // there are more than mostTraces
}

// mostTraces and mostTraceBytes, of paths in a watched folder, bound what is told.
const (
	mostTraces     = 2 * testcase.MostFiles
	mostTraceBytes = 1 << 20
)

// A watched folder takes what the program writes in the folder At.
type watched struct {
	at, folder string
	empty      bool
}

// watched are all such folders. Require: the sandbox is set up.
func (b *sandbox) watched() (out []watched) {
	for _, l := range b.layers {
		out = append(out, watched{at: l.At, folder: l.Upper})
	}
	for _, name := range []string{"HOME", "TMPDIR"} { // which may have been replaced
		was, is := getEnv(b.told.Env, name, ""), getEnv(b.sp.Env, name, "")
		if was == "" && name == "TMPDIR" {
			was = "/tmp"
		}
		if was != is && filepath.IsAbs(was) && filepath.IsAbs(is) {
			out = append(out, watched{was, is, true})
		}
	}
	if b.sp.Cwd != b.told.Cwd {
		out = append(out, watched{at: b.told.Cwd, folder: b.sp.Cwd})
	}
	return out
}

// look lists what is in the watched folders; known are traces that are not listed again.
func (b *sandbox) look(known map[string][]trace) traces {
	var t traces
	for _, w := range b.watched() {
		if b.sp.Mode != Namespaces {
			t.Within = append(t.Within, []byte(w.at))
		}
		b.walk(w, &t)
	}
	if b.sp.Mode != Namespaces && t.Within == nil {
		t.Within = [][]byte{}
	}
	// In the order in which the machine looks at contents, or others would be left out for being too much.
	slices.SortStableFunc(t.List, func(x, y trace) int { return bytes.Compare(x.Path, y.Path) })
	var room testcase.ContentRoom
	for i := range t.List {
		if x := &t.List[i]; x.Mode&unix.S_IFMT == unix.S_IFREG && room.Take(x.Size) {
			x.SHA256 = digestFile(x.from)
		}
	}
	t.List = slices.DeleteFunc(t.List, func(x trace) bool { return slices.ContainsFunc(known[string(x.Path)], x.same) })
	return t
}

// walk adds what is in w to t.
func (b *sandbox) walk(w watched, t *traces) {
	size := 0
	filepath.WalkDir(w.folder, func(p string, d os.DirEntry, err error) error {
		if len(t.List) >= mostTraces || size > mostTraceBytes {
			t.Cut = true
			return filepath.SkipAll
		}
		rel, e := filepath.Rel(w.folder, p)
		var st unix.Stat_t
		if err != nil || e != nil || unix.Lstat(p, &st) != nil {
			return nil
		}
		at := filepath.Join(w.at, rel)
		if rel == "." && b.sp.Mode != Namespaces {
			return nil // a folder of replay's own
		}
		if notFiles(at) {
			return skip(d)
		}
		x := trace{Path: []byte(at), Mode: st.Mode, Empty: w.empty}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFCHR:
			x.Gone = st.Rdev == 0
		case unix.S_IFDIR:
			var v [1]byte
			n, err := unix.Lgetxattr(p, "user.overlay.opaque", v[:])
			x.Opaque = err == nil && n == 1 && v[0] == 'y'
		case unix.S_IFLNK:
			to, _ := os.Readlink(p)
			if to == at && rel == filepath.Base(rel) { // of the folder that stands for the working directory, see makeFiles
				return nil
			}
			x.Target = []byte(to)
		case unix.S_IFREG:
			x.Size, x.from = st.Size, p
		}
		t.List = append(t.List, x)
		size += len(x.Path) + len(x.Target)
		return nil
	})
}

func skip(d os.DirEntry) error {
	if d.IsDir() {
		return filepath.SkipDir
	}
	return nil
}

func (x trace) same(y trace) bool {
	return x.Mode == y.Mode && x.Size == y.Size && x.SHA256 == y.SHA256 && bytes.Equal(x.Target, y.Target) && x.Gone == y.Gone && x.Opaque == y.Opaque
}

// known are the traces of t by path: a folder with a layer of its own has one there and one in the layer above.
func (t traces) known() map[string][]trace {
	out := map[string][]trace{}
	for _, x := range t.List {
		out[string(x.Path)] = append(out[string(x.Path)], x)
	}
	return out
}

// notFiles reports whether what is at path p is not the program's, or not seen by it.
func notFiles(p string) bool {
	top, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	return isOwn(top)
}

// digestFile is the digest of a file that nobody writes any more; "" where it cannot be read.
func digestFile(p string) string {
	fd, err := unix.Open(p, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	f := os.NewFile(uintptr(fd), p)
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// effects are the traces as a user sees them, sorted by path, of a program that was given files in its working directory cwd.
func (t traces) effects(cwd string, files map[string][]byte) (effects []testcase.FileEffect, within []string) {
	given := map[string][]byte{}
	for name, b := range files {
		given[filepath.Join(cwd, name)] = b
	}
	now := t.known()
	effects = []testcase.FileEffect{}
	removed := func(p string) {
		effects = append(effects, testcase.FileEffect{Path: testcase.Text(p), Change: testcase.Removed})
	}
	for _, x := range t.List {
		p := string(x.Path)
		was := fileBefore(p, given)
		if x.Empty && given[p] == nil {
			was = nil
		}
		if x.Gone {
			if was != nil {
				removed(p)
			}
			continue
		}
		if x.Opaque && was != nil {
			list, _ := os.ReadDir(p)
			for _, e := range list {
				if _, still := now[filepath.Join(p, e.Name())]; !still {
					removed(filepath.Join(p, e.Name()))
				}
			}
		}
		is := x.effect()
		if is.Change = testcase.Made; was != nil {
			is.Change = testcase.Changed
			if was.sameAs(p, is, given) {
				continue
			}
		}
		effects = append(effects, is)
	}
	for p := range given {
		if _, still := now[p]; !still && !t.Cut {
			removed(p)
		}
	}
	slices.SortFunc(effects, func(a, b testcase.FileEffect) int { return strings.Compare(string(a.Path), string(b.Path)) })
	effects = slices.CompactFunc(effects, func(a, b testcase.FileEffect) bool { return a.Path == b.Path })
	if t.Within != nil {
		within = []string{}
		for _, w := range t.Within {
			within = append(within, string(w))
		}
	}
	return effects, within
}

// before is what was at a path before the run.
type before struct{ st unix.Stat_t }

// fileBefore is what was at p; nil: nothing.
func fileBefore(p string, given map[string][]byte) *before {
	var b before
	if given[p] != nil {
		b.st.Mode = unix.S_IFREG | 0o644
		return &b
	}
	if unix.Lstat(p, &b.st) != nil {
		return nil
	}
	return &b
}

// sameAs reports whether what was at p is what is there now.
func (b *before) sameAs(p string, is testcase.FileEffect, given map[string][]byte) bool {
	was := trace{Mode: b.st.Mode, Size: b.st.Size}
	switch b.st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		to, _ := os.Readlink(p)
		was.Target = []byte(to)
	case unix.S_IFREG:
		if text, ok := given[p]; ok {
			was.Size, was.SHA256 = int64(len(text)), testcase.OutputDigest(text)
		} else if is.Size == was.Size && is.SHA256 != "" {
			was.SHA256 = digestFile(p)
		}
	}
	e := was.effect()
	return e.Kind == is.Kind && e.Mode == is.Mode && e.Size == is.Size && e.SHA256 == is.SHA256 && e.Target == is.Target
}

// effect is what the trace shows of the file, but for how it came to be.
func (x trace) effect() testcase.FileEffect {
	e := testcase.FileEffect{Path: testcase.Text(x.Path), Target: testcase.Text(x.Target), Size: x.Size, SHA256: x.SHA256, Mode: fmt.Sprintf("%04o", x.Mode&0o7777)}
	switch x.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		e.Kind = testcase.RegularFile
	case unix.S_IFDIR:
		e.Kind, e.Size = testcase.Directory, 0
	case unix.S_IFLNK:
		e.Kind, e.Size, e.Mode = testcase.Symlink, 0, ""
	case unix.S_IFIFO:
		e.Kind = testcase.FIFO
	case unix.S_IFSOCK:
		e.Kind = testcase.Socket
	default:
		e.Kind = testcase.Device
	}
	return e
}
