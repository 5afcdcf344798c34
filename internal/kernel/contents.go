package kernel

import (
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
	"weak"

	"golang.org/x/sys/unix"

	"symchef/internal/disk"
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

// leastCopied is the size in bytes from which on a file of the host is copied to a temporary one and mapped there: what nobody looks at, as debug information,
// takes no memory of this process, and the copy does not change with the file.
const leastCopied = 4 << 20

// copies are for as long as the process lives: parts of them may be in use.
var copies struct {
	sync.Mutex
	list []*mem.Backing
}

// copied returns the content of f, the file at path, in a copy of its own; nil where it is small, or there can be none.
func copied(path string, f *os.File, size int64) *mem.Backing {
	if size < leastCopied {
		return nil
	}
	file, err := disk.Copy(f, size)
	if err != nil {
		f.Seek(0, io.SeekStart)
		return nil
	}
	st, err := file.Stat()
	if err == nil && st.Size() > maxHostFile {
		err = unix.EFBIG
	}
	var data []byte
	if err == nil {
		data, _, err = disk.Map(file, st.Size())
	}
	if err != nil {
		file.Close()
		f.Seek(0, io.SeekStart)
		return nil
	}
	b := &mem.Backing{Name: path, Data: data}
	b.StandsIn(file, 0)
	copies.Lock()
	defer copies.Unlock()
	copies.list = append(copies.list, b)
	return b
}
