// Package disk is how symchef treats files of its own on the host: reading never waits and never follows a link,
// a file is replaced as a whole, and a temporary folder outlives no kill.
//
//	b, err := disk.Read(path)               // of a regular file; a pipe in its place is an error
//	err := disk.Replace(dir, name, b)       // the whole of it or nothing
//	dir, remove, err := disk.Temp("guest")  // what a kill leaves of it, the next Temp removes
package disk

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// ErrNotRegular says that something else is in the place of a file: a folder, a pipe, a device, a symbolic link.
var ErrNotRegular = errors.New("is not a regular file")

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) { // a link; a socket
		return nil, &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read returns the content of a regular file.
func Read(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, st.Size()+512)
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

// Map maps f, a regular file of size bytes that nobody writes to any more; release unmaps it.
func Map(f *os.File, size int64) (data []byte, release func(), err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	return data, func() { unix.Munmap(data) }, err
}

// Copy returns what f holds, some size bytes, in a temporary file that has no name.
func Copy(f *os.File, size int64) (*os.File, error) {
	dir := os.TempDir()
	if uint64(size) > Room(dir)/2 {
		return nil, unix.ENOSPC
	}
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	out := os.NewFile(uintptr(fd), dir)
	if _, err = io.Copy(out, f); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// TempPrefix begins the names of files that Replace has not finished.
const TempPrefix = ".new-"

// Replace makes b the content of dir/name, whole or not at all.
func Replace(dir, name string, b []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(dir, TempPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails, as it should, after the rename
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, name))
}

// Room is how many bytes the user may still write below dir; the most there are where that is not known.
func Room(dir string) uint64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Blocks == 0 { // none are counted
		return math.MaxUint64
	}
	return st.Bavail * uint64(st.Bsize)
}

// tempPrefix begins the names of temporary folders.
const tempPrefix = "symchef-"

// Temp makes a folder of the user's own for temporary files, mode 0700. Whoever makes it holds it with flock(2), so after
// a kill it is known to be nobody's, and the next Temp removes it. remove removes it now.
func Temp(what string) (dir string, remove func(), err error) {
	sweepOnce(os.TempDir())
	in, err := filepath.Abs(os.TempDir())
	if err == nil && !utf8.ValidString(in) {
		err = errors.New("its name is not UTF-8")
	}
	if err != nil {
		return "", nil, fmt.Errorf("no temporary folder can be made in %q: %w", os.TempDir(), err)
	}
	for range 100 {
		if dir, err = os.MkdirTemp(in, tempPrefix+what+"-"); err != nil {
			return "", nil, fmt.Errorf("no temporary folder can be made in %s: %w", os.TempDir(), reason(err))
		}
		lock, err := hold(dir)
		if err != nil {
			continue // another's sweep was quicker
		}
		live.Store(dir, true)
		return dir, func() {
			wipe(dir)
			live.Delete(dir)
			lock.Close()
		}, nil
	}
	return "", nil, fmt.Errorf("no temporary folder can be made in %s: %w", os.TempDir(), reason(err))
}

var live sync.Map // temporary folders of this process

// Clear removes all that Temp has made, for a process that ends without waiting for who uses them.
func Clear() {
	live.Range(func(dir, _ any) bool {
		wipe(dir.(string))
		return true
	})
}

func reason(err error) error {
	if p := new(os.PathError); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// hold locks the folder dir, which must still be there then.
func hold(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		var now, then os.FileInfo
		if now, err = os.Lstat(dir); err == nil {
			if then, err = f.Stat(); err == nil && !os.SameFile(now, then) {
				err = os.ErrNotExist
			}
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var swept sync.Map // folders that were

func sweepOnce(in string) {
	if _, done := swept.LoadOrStore(in, true); !done {
		sweep(in)
	}
}

// sweep removes the user's temporary folders that nobody holds.
func sweep(in string) {
	l, _ := os.ReadDir(in)
	for _, e := range l {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) || !temporary(e.Name()) {
			continue
		}
		dir := filepath.Join(in, e.Name())
		st, err := os.Lstat(dir)
		if err != nil || st.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			continue
		}
		if f, err := hold(dir); err == nil {
			wipe(dir)
			f.Close()
		}
	}
}

// kinds are the temporary folders there are: others of that prefix may be the user's.
var kinds = []string{"guest-", "replay-", "run-"}

func temporary(name string) bool {
	for _, k := range kinds {
		if strings.HasPrefix(name, tempPrefix+k) {
			return true
		}
	}
	return false
}

// wipe removes dir, also where a guest has taken the right to look into a folder from itself.
func wipe(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	os.RemoveAll(dir)
}
