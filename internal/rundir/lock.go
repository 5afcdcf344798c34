package rundir

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Lock takes the run directory dir for writing. It fails if another process has it, and names that. The lock is the kernel's (flock(2)):
// it ends with its process, whatever ends that.
func Lock(dir string) (*Writer, error) {
	w, err := lock(dir)
	if err != nil {
		return nil, failure(dir, err)
	}
	return w, nil
}

func lock(dir string) (*Writer, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, err
		}
		return nil, fmt.Errorf("another run is writing to it%s", holder(f))
	}
	return &Writer{dir: dir, lock: f, short: newShortener(), kept: map[string]bool{}}, nil
}

// holder says which process has the lock on f; "" where the kernel does not tell (proc_locks(5)).
func holder(f *os.File) string {
	st, err := f.Stat()
	if err != nil {
		return ""
	}
	inode := fmt.Sprintf(":%d", st.Sys().(*syscall.Stat_t).Ino)
	list, err := os.Open("/proc/locks")
	if err != nil {
		return ""
	}
	defer list.Close()
	for in := bufio.NewScanner(list); in.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 08:01:131074 0 EOF
		if l := strings.Fields(in.Text()); len(l) > 5 && l[1] == "FLOCK" && l[3] == "WRITE" && strings.HasSuffix(l[5], inode) && l[4] != "0" {
			return " (process " + l[4] + ")"
		}
	}
	return ""
}
