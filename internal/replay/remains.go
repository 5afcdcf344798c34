package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// What a case may leave behind for the next one in the same sandbox, as text: two equal texts mean that the second case
// finds what the first has found. Times of folders are left out: a file that came and went is none.

// settle is longer than the clock of files stands still, which has the kernel's ticks (CONFIG_HZ is at least 100).
const settle = 20 * time.Millisecond

// remains describes the sandbox and the stopped server pid in it. Require: no other process is in the sandbox.
func (b *sandbox) remains(pid int) (*remains, error) {
	w := &remains{folders: map[string]uint32{}}
	for _, l := range b.layers {
		w.files(l.Upper, l.At)
	}
	for _, dir := range ownFolders {
		w.files(dir, dir)
	}
	w.sockets()
	w.ipc(b.queues)
	w.process(pid)
	return w, w.err
}

// ownFolders are those of the sandbox that take writes beside its layers.
var ownFolders = []string{"/symchef", "/dev", "/run"}

type remains struct {
	strings.Builder
	exact   strings.Builder   // of files, with the times of folders, too: equal where nothing was touched
	newest  time.Time         // when a file or folder was changed last
	folders map[string]uint32 // their modes
	err     error             // the first
	line    []byte            // of file
}

// mend makes the folders anew that are in was and not in w, if they were empty: an interpreter that ends removes its folder of temporary files.
func (w *remains) mend(was *remains) {
	for _, at := range slices.Sorted(maps.Keys(was.folders)) {
		if _, there := w.folders[at]; !there && os.Mkdir(at, 0o700) == nil {
			_ = unix.Chmod(at, was.folders[at]&0o7777)
		}
	}
}

func (w *remains) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// notRemains has nothing of the program's own, or is made for each case.
var notRemains = []string{testcase.GuestRoot, exchange + "/" + inputsName, exchange + "/" + outcomeName}

// files adds all that is below dir, which the program sees as at.
func (w *remains) files(dir, at string) {
	fd, err := open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		w.fail(err)
		return
	}
	defer unix.Close(fd)
	names, err := namesOf(fd, dir)
	if err != nil {
		w.fail(err)
		return
	}
	for _, name := range names {
		dir, at := dir+"/"+name, filepath.Join(at, name)
		if slices.Contains(notRemains, at) {
			continue
		}
		var st unix.Stat_t
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			w.fail(&os.PathError{Op: "lstat", Path: dir, Err: err})
			continue
		}
		w.file(dir, &st)
		if at != exchange { // its time is that of the last case
			w.exactly(&st)
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			w.folders[at] = st.Mode
			w.files(dir, at)
		case unix.S_IFLNK:
			to, err := os.Readlink(dir)
			fmt.Fprintf(w, "-> %q %v\n", to, err)
		}
	}
}

// exactly adds what tells whether the file of the last line has been touched, a folder included.
func (w *remains) exactly(s *unix.Stat_t) {
	for _, v := range []int64{int64(s.Ino), s.Ctim.Sec, s.Ctim.Nsec} {
		w.line = strconv.AppendInt(append(w.line, ' '), v, 10)
	}
	w.exact.Write(w.line)
	w.changed(s)
}

func (w *remains) changed(s *unix.Stat_t) {
	if t := time.Unix(s.Ctim.Unix()); t.After(w.newest) {
		w.newest = t
	}
}

func (w *remains) file(name string, s *unix.Stat_t) {
	b := strconv.AppendQuote(w.line[:0], name)
	number := func(sep byte, v int64) { b = strconv.AppendInt(append(b, sep), v, 10) }
	b = strconv.AppendUint(append(b, ' '), uint64(s.Mode), 8)
	number(' ', int64(s.Uid))
	number(':', int64(s.Gid))
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
	case unix.S_IFCHR: // their times are the host's
		number(' ', int64(s.Ino))
		number(' ', int64(s.Rdev))
	default:
		w.changed(s)
		for _, v := range []int64{int64(s.Ino), int64(s.Nlink), int64(s.Rdev), s.Size, s.Mtim.Sec, s.Mtim.Nsec, s.Ctim.Sec, s.Ctim.Nsec} {
			number(' ', v)
		}
	}
	w.line = append(b, '\n')
	w.Write(w.line)
}

// text adds the content of a file of /proc; what is not there is nothing.
func (w *remains) text(name string) {
	b, err := readFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.fail(err)
	}
	w.WriteString(name)
	w.WriteByte('\n')
	w.Write(b)
	w.WriteByte('\n')
}

// ipc looks for objects of System V, and for message queues in the folder of these. Neither is undone by the end of the process that made it: there must be none.
func (w *remains) ipc(queues *os.File) {
	// The results are in struct shm_info, seminfo and msginfo (shmctl(2), semctl(2), msgctl(2)).
	const shmInfo, semInfo, msgInfo = 14, 19, 12
	var buf [64]int32
	p := uintptr(unsafe.Pointer(&buf))
	for _, c := range []struct {
		nr   uintptr
		args [4]uintptr
		used int // index of how many there are
	}{
		{unix.SYS_SHMCTL, [4]uintptr{0, shmInfo, p}, 0},
		{unix.SYS_SEMCTL, [4]uintptr{0, 0, semInfo, p}, 7},
		{unix.SYS_MSGCTL, [4]uintptr{0, msgInfo, p}, 0},
	} {
		clear(buf[:])
		if _, _, e := unix.Syscall6(c.nr, c.args[0], c.args[1], c.args[2], c.args[3], 0, 0); e != 0 && e != unix.ENOSYS {
			w.fail(e)
		}
		if buf[c.used] != 0 {
			w.fail(errors.New("an object of System V IPC"))
		}
	}
	if queues == nil {
		return
	}
	_, err := queues.Seek(0, io.SeekStart)
	names, err2 := queues.Readdirnames(-1)
	if err = errors.Join(err, err2); err != nil {
		w.fail(err)
	}
	if len(names) > 0 {
		w.fail(errors.New("a message queue"))
	}
}

// sockets adds how many there are in the own network, those that only wait for late packets (tw) included. The lists of /proc/net/tcp take long.
func (w *remains) sockets() {
	for _, name := range []string{"/proc/self/net/sockstat", "/proc/self/net/sockstat6"} {
		b, err := readFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.fail(err)
		}
		for _, line := range strings.Split(string(b), "\n") {
			f := strings.Fields(line)
			for i := 1; i+1 < len(f); i += 2 { // the others are the host's
				if slices.Contains([]string{"used", "inuse", "tw"}, f[i]) {
					fmt.Fprintf(w, "%s %s %s\n", f[0], f[i], f[i+1])
				}
			}
		}
	}
}

// openQueues opens the folder of the message queues of the own namespace; nil where the kernel has none.
func openQueues() *os.File {
	fd, err := unix.Fsopen("mqueue", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if unix.FsconfigCreate(fd) != nil {
		return nil
	}
	at, err := unix.Fsmount(fd, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(at)
	dir, err := unix.Openat(at, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(dir), "mqueue")
}

// process adds what others may change of process pid: its open files, limits, priorities.
func (w *remains) process(pid int) {
	dir := "/proc/" + strconv.Itoa(pid)
	w.text(dir + "/limits")
	status, err := readFile(dir + "/status")
	if err != nil {
		w.fail(err)
	}
	for _, line := range bytes.Split(status, []byte("\n")) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if slices.Contains([]string{"Umask", "Threads", "SigPnd", "ShdPnd", "Cpus_allowed", "Mems_allowed"}, string(name)) {
			fmt.Fprintf(w, "%s\n", line)
		}
	}
	stat, err := readFile(dir + "/stat")
	if f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); err == nil && len(f) > 38 {
		fmt.Fprintf(w, "priority %s %s %s %s\n", f[15], f[16], f[37], f[38])
	} else {
		w.fail(fmt.Errorf("%s/stat: %w", dir, err))
	}
	list, err := namesIn(dir + "/fd")
	if err != nil {
		w.fail(err)
	}
	for _, fd := range list {
		w.text(dir + "/fdinfo/" + fd) // offset, flags, locks
		var st unix.Stat_t
		if err := unix.Stat(dir+"/fd/"+fd, &st); err != nil {
			w.fail(err)
		} else {
			w.file(dir+"/fd/"+fd, &st)
		}
	}
}
