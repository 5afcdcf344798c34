package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// fileKinds names the types of inode(7).
var fileKinds = map[uint32]testcase.FileKind{
	unix.S_IFREG: testcase.RegularFile, unix.S_IFDIR: testcase.Directory, unix.S_IFLNK: testcase.Symlink,
	unix.S_IFIFO: testcase.FIFO, unix.S_IFSOCK: testcase.Socket, unix.S_IFCHR: testcase.Device, unix.S_IFBLK: testcase.Device,
}

// maxContent bounds what is kept of a file's content, to show in what it differs from others.
const maxContent = 4 << 10

// hidden are folders of which replay cannot tell what a program did there: it has empty ones of its own.
var hidden = []string{"/run"}

// filesOf are the effects on files in sys, with symbolic bytes as eval gives them; seen, which may be nil, is called with each and with what it is. Of
// contents MostContent bytes are looked at: the effects on files behind that have no digest.
func filesOf(sys *kernel.System, eval func(mem.Bytes) []byte, seen func(f testcase.FileEffect, is *kernel.File)) []testcase.FileEffect {
	out := []testcase.FileEffect{}
	var room testcase.ContentRoom
	for _, e := range sys.Effects(testcase.MostFiles + 1) {
		f := testcase.FileEffect{Path: testcase.Text(e.Path), Change: testcase.Changed}
		if testcase.InFolder(e.Path, hidden[0]) {
			continue
		}
		switch {
		case e.Is == nil:
			f.Change = testcase.Removed
		case e.Was == nil:
			f.Change = testcase.Made
		}
		if is := e.Is; is != nil {
			f.Kind, f.Target = fileKinds[is.Mode&unix.S_IFMT], testcase.Text(is.Target)
			if f.Kind != testcase.Symlink {
				f.Mode = fmt.Sprintf("%04o", is.Mode&0o7777)
			}
			if f.Kind == testcase.RegularFile {
				looked := room.Take(is.Content.Size)
				if was := e.Was; looked && was != nil && was.Mode == is.Mode && was.Content.Same(is.Content, func(a, b mem.Bytes) bool {
					return bytes.Equal(eval(a), eval(b))
				}) {
					continue // for these inputs nothing has changed
				}
				f.Size = is.Content.Size
				if looked {
					f.SHA256 = digestOf(is.Content, eval)
				}
			}
		}
		out = append(out, f)
		if seen != nil {
			seen(f, e.Is)
		}
	}
	return out
}

// digestOf is the digest of a content.
func digestOf(c kernel.Content, eval func(mem.Bytes) []byte) string {
	h := sha256.New()
	c.Pieces(func(b mem.Bytes) bool {
		h.Write(eval(b))
		return true
	})
	return hex.EncodeToString(h.Sum(nil))
}

// files are the effects on files of the path of s, and added to class c; the beginnings of their contents are added to begin, by digest.
func (w *worker) files(s *state.State, c *testcase.Class, begin map[string][]byte) []testcase.FileEffect {
	eval := func(b mem.Bytes) []byte {
		if b.IsConcrete() {
			return b.Data
		}
		return []byte(state.Text(b).Eval(w.ctx, s.Model))
	}
	is := map[testcase.Text]*kernel.File{}
	all := filesOf(s.Sys, eval, func(f testcase.FileEffect, k *kernel.File) { is[f.Path] = k })
	own := w.r.t.tc
	out := testcase.Since(own.Before, all, own.Temp())
	for i, f := range out {
		k := is[f.Path]
		c.Add(testcase.PartFiles, string(f.Path), string(f.Change), string(f.Kind), f.Mode, string(f.Target))
		if k == nil || f.Kind != testcase.RegularFile {
			continue
		}
		if f.SHA256 == "" {
			c.Add(testcase.PartFiles, strconv.FormatInt(f.Size, 10))
			continue
		}
		if i <= testcase.MaxFiles {
			begin[f.SHA256] = slices.Clone(eval(k.Content.Begin(maxContent)))
		}
		c.AddPieces(testcase.PartFiles, func(add func(b []byte, symbolic func(i int) bool)) {
			k.Content.Pieces(func(b mem.Bytes) bool {
				t := w.unvarying(s, settled(w.ctx, &s.Facts, state.Text(b)))
				add(t.Data, symbolicIn(t))
				return true
			})
		})
	}
	return out
}

// filesAtBegin notes the effects on files of the start of a test, in sys.
func (r *run) filesAtBegin(sys *kernel.System) {
	all := filesOf(sys, func(b mem.Bytes) []byte { return b.Data }, nil)
	r.t.tc.Before = all[:min(len(all), testcase.MaxFiles+1)]
	r.sum.Target.Before = r.t.tc.Before
}
