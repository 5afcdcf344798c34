package session

import (
	"fmt"

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

// hidden are folders of which replay cannot tell what a program did there: it has empty ones of its own.
var hidden = []string{"/run"}

// filesOf are the effects on files in sys, with symbolic bytes as eval gives them; seen is called with each and what it is.
func filesOf(sys *kernel.System, eval func(mem.Bytes) string, seen func(testcase.FileEffect, *kernel.File)) []testcase.FileEffect {
	out := []testcase.FileEffect{}
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
				content := eval(is.Content)
				if was := e.Was; was != nil && was.Mode == is.Mode && eval(was.Content) == content {
					continue // for these inputs nothing has changed
				}
				f.Size, f.SHA256 = int64(len(content)), testcase.OutputDigest([]byte(content))
			}
		}
		out = append(out, f)
		if seen != nil {
			seen(f, e.Is)
		}
	}
	return out
}

// files are the effects on files of the path of s, and added to class c.
func (w *worker) files(s *state.State, c *testcase.Class) []testcase.FileEffect {
	is := map[testcase.Text]*kernel.File{}
	all := filesOf(s.Sys, func(b mem.Bytes) string {
		if b.IsConcrete() {
			return string(b.Data)
		}
		return state.Text(b).Eval(w.ctx, s.Model)
	}, func(f testcase.FileEffect, k *kernel.File) { is[f.Path] = k })
	own := w.r.t.tc
	out := testcase.Since(own.Before, all, own.Temp())
	for _, f := range out {
		c.Add(testcase.PartFiles, string(f.Path), string(f.Change), string(f.Kind), f.Mode, string(f.Target))
		if k := is[f.Path]; k != nil && f.Kind == testcase.RegularFile {
			addText(c, testcase.PartFiles, state.Text(k.Content))
		}
	}
	return out
}

// filesAtBegin notes the effects on files of the start of a test, in sys.
func (r *run) filesAtBegin(sys *kernel.System) {
	all := filesOf(sys, func(b mem.Bytes) string { return string(b.Data) }, nil)
	r.t.tc.Before = all[:min(len(all), testcase.MaxFiles+1)]
	r.sum.Target.Before = r.t.tc.Before
}
