package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// unfit says why children of the stopped process pid would not be like that process started anew, or would have things in common: threads
// are not copied, and some files and memory are shared. Empty if nothing is known. Its standard output and error are
// the pipes of these inodes.
func (b *sandbox) unfit(pid int, stdout, stderr uint64) string {
	dir := "/proc/" + strconv.Itoa(pid)
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return "/proc is not the sandbox's own"
	}
	if threads, err := os.ReadDir(dir + "/task"); err != nil || len(threads) != 1 {
		return fmt.Sprintf("%d threads (%v)", len(threads), err)
	}
	if l, err := os.ReadFile(dir + "/task/" + strconv.Itoa(pid) + "/children"); err != nil || len(l) > 0 {
		return fmt.Sprintf("children %s (%v)", l, err)
	}
	if l := children(); !slices.Equal(l, []int{pid}) {
		return fmt.Sprintf("children that others have left: %v", l)
	}
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return err.Error()
	}
	for _, line := range strings.Split(string(maps), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[1][1] == 'w' && f[1][3] == 's' {
			return "shared memory: " + line
		}
	}
	return unfitFiles(dir, stdout, stderr)
}

// unfitFiles is unfit of the open files of the process whose folder in /proc is dir.
func unfitFiles(dir string, stdout, stderr uint64) string {
	list, err := os.ReadDir(dir + "/fd")
	if err != nil {
		return err.Error()
	}
	streams := map[string]bool{}
	for _, x := range list {
		name := filepath.Join(dir, "fd", x.Name())
		var st unix.Stat_t
		if err := unix.Stat(name, &st); err != nil {
			return err.Error()
		}
		switch want, fifo := map[string]uint64{"1": stdout, "2": stderr}[x.Name()], st.Mode&unix.S_IFMT == unix.S_IFIFO; {
		case fifo && st.Ino == want:
			streams[x.Name()] = true
		case want != 0:
			return "standard output or error is another file"
		case fifo && (st.Ino == stdout || st.Ino == stderr): // a copy of one
		case st.Mode&unix.S_IFMT == unix.S_IFREG, st.Mode&unix.S_IFMT == unix.S_IFDIR:
		case st.Mode&unix.S_IFMT == unix.S_IFCHR && slices.Contains(stateless, st.Rdev):
		default:
			to, _ := os.Readlink(name)
			return "an open file whose state is shared: " + to
		}
	}
	if len(streams) != 2 {
		return "standard output or error is closed"
	}
	return ""
}

// stateless are the devices null, zero, full, random and urandom.
var stateless = []uint64{unix.Mkdev(1, 3), unix.Mkdev(1, 5), unix.Mkdev(1, 7), unix.Mkdev(1, 8), unix.Mkdev(1, 9)}

// inode is that of an open file.
func inode(f *os.File) uint64 {
	st, err := f.Stat()
	if err != nil {
		return 0
	}
	return st.Sys().(*syscall.Stat_t).Ino
}
