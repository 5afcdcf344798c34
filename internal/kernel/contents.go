package kernel

import (
	"io/fs"
	"runtime"
	"sync"
	"syscall"
	"time"
	"weak"

	"symchef/internal/mem"
)

// Several hosts of one process read the same libraries: a test case is executed once more elsewhere, a file has several tests. What one has read and
// still holds serves the others, as long as the file is the same.

// leastShared is the size in bytes from which on a file's content is shared.
const leastShared = 1 << 16

// settled is how long ago a file was changed at least for its times to tell it from what it becomes next: those have the kernel's tick.
const settled = 2 * time.Second

// fileID tells a content from any other that the file at a path had or has.
type fileID struct {
	path           string
	dev, ino       uint64
	size           int64
	mtime, changed syscall.Timespec
}

// contents are the shared ones.
var contents struct {
	sync.Mutex
	of map[fileID]weak.Pointer[mem.Backing]
}

// idOf returns the identity of the file at path; false where its content is not to be shared.
func idOf(path string, fi fs.FileInfo, now time.Time) (id fileID, ok bool) {
	st, isStat := fi.Sys().(*syscall.Stat_t)
	if !isStat || st.Size < leastShared || now.Sub(time.Unix(st.Ctim.Unix())) < settled || now.Sub(time.Unix(st.Mtim.Unix())) < settled {
		return id, false
	}
	return fileID{path, uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim}, true
}

// sharedContent returns the content of id, or nil.
func sharedContent(id fileID) *mem.Backing {
	contents.Lock()
	defer contents.Unlock()
	return contents.of[id].Value()
}

// share makes b, the content of id, known to other hosts for as long as somebody holds it.
func share(id fileID, b *mem.Backing) {
	contents.Lock()
	defer contents.Unlock()
	if contents.of == nil {
		contents.of = map[fileID]weak.Pointer[mem.Backing]{}
	}
	w := weak.Make(b)
	contents.of[id] = w
	runtime.AddCleanup(b, func(id fileID) {
		contents.Lock()
		defer contents.Unlock()
		if contents.of[id] == w {
			delete(contents.of, id)
		}
	}, id)
}
