package replay

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A watch adds up what all processes of a sandbox take together: the limits
// of setrlimit(2) bind each of them alone.
type watch struct {
	limits Limits
	// processes lists those of the sandbox.
	processes func() []int
	// tmpfs are the file systems of the sandbox that take memory.
	tmpfs []string
	// disk is a directory of the host with all the files that the program can
	// make there; empty in namespaces.
	disk string

	page uint64
	turn int
	// Processor time of all processes: when the watch began, and what has passed since.
	began, busy time.Duration
}

// The time between two looks, and how many looks there are to one at
// descriptors and files, which costs more.
const (
	watchInterval = 10 * time.Millisecond
	watchFiles    = 5
)

// tooBusy is what a watch says at Limits.Busy.
const tooBusy = "processor time"

// watch says what was too much, once, or never.
func (b *sandbox) watch(processes func() []int, stop <-chan struct{}) <-chan string {
	w := &watch{limits: b.sp.Limits, processes: processes, page: uint64(os.Getpagesize())}
	if b.sp.Mode == Namespaces {
		w.tmpfs = []string{"/symchef", "/dev/shm", "/run"}
	} else if b.sp.Mode == Landlock {
		w.disk = b.sp.Scratch
	}
	c := make(chan string, 1)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(watchInterval):
			}
			what := w.look()
			if what == "" && w.limits.Busy > 0 && w.busy >= w.limits.Busy {
				what = tooBusy
			}
			if what != "" {
				c <- what
				return
			}
		}
	}()
	return c
}

// look says what is too much now, or is empty.
func (w *watch) look() string {
	w.turn++
	pids := w.processes()
	var threads, resident, pss, shmem uint64
	var busy time.Duration
	for _, pid := range pids {
		t := usageOf(pid)
		threads, resident, busy = threads+t.threads, resident+t.pages*w.page, busy+t.busy
	}
	if w.turn == 1 {
		w.began = busy
	}
	w.busy = max(w.busy, busy-w.began) // what has ended is not counted any more
	if n := max(threads, uint64(len(pids))); n > w.limits.Processes+8 {
		return fmt.Sprintf("%d processes and threads", w.limits.Processes)
	}
	objects := w.memoryFiles()
	deep := w.turn%watchFiles == 0
	var open openFiles
	if deep {
		for _, pid := range pids {
			open.of(pid, w.limits.FileSize)
		}
		objects += open.memory
		if w.disk != "" && diskUse(w.disk)+open.disk > w.limits.Disk {
			return fmt.Sprintf("%d MiB of files", w.limits.Disk>>20)
		}
	}
	// Pages that processes share are resident in each: only where their sum is
	// large it is looked at closely.
	pss = resident
	if resident+objects > w.limits.Memory {
		pss = 0
		for _, pid := range pids {
			p, s := proportional(pid)
			pss, shmem = pss+p, shmem+s
		}
	}
	// Shared memory counts as pages of processes or as files, whichever is more.
	if pss-min(shmem, pss)+max(objects, shmem) > w.limits.Memory || deep && scarce() {
		return fmt.Sprintf("%d MiB of memory", w.limits.Memory>>20)
	}
	return ""
}

// usage is what a process takes.
type usage struct {
	threads, pages uint64        // pages: resident
	busy           time.Duration // processor time, that of children that it has waited for included
}

// clockTick is the unit of times in /proc/PID/stat.
const clockTick = time.Second / 100

// usageOf reads /proc/PID/stat (proc_pid_stat(5)).
func usageOf(pid int) (u usage) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 22 {
		return u
	}
	for _, f := range fields[11:15] {
		ticks, _ := strconv.ParseInt(f, 10, 64)
		u.busy += time.Duration(ticks) * clockTick
	}
	u.threads, _ = strconv.ParseUint(fields[17], 10, 64)
	u.pages, _ = strconv.ParseUint(fields[21], 10, 64)
	return u
}

// proportional is the memory of process pid in bytes, shared pages divided by
// who has them, and how much of it is shared memory.
func proportional(pid int) (pss, shmem uint64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch name {
		case "Pss":
			pss = n << 10
		case "Pss_Shmem":
			shmem = n << 10
		}
	}
	return pss, shmem
}

// memoryFiles is the memory that files and System V objects take.
func (w *watch) memoryFiles() (n uint64) {
	for _, at := range w.tmpfs {
		var st unix.Statfs_t
		if unix.Statfs(at, &st) == nil {
			n += (st.Blocks - st.Bfree) * uint64(st.Bsize)
		}
	}
	if len(w.tmpfs) == 0 {
		return n
	}
	for _, row := range systemV {
		b, _ := os.ReadFile("/proc/sysvipc/" + row.name)
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			for at, size := range row.sizes {
				if at < len(f) {
					v, _ := strconv.ParseUint(f[at], 10, 64) // 0 in the first line, of titles
					n += v * size
				}
			}
		}
	}
	return n
}

// systemV are the tables of System V objects: what the number in a column of
// each line stands for, in bytes (ipc/shm.c, ipc/sem.c, ipc/msg.c).
var systemV = []struct {
	name  string
	sizes map[int]uint64
}{
	{"shm", map[int]uint64{14: 1}},       // resident
	{"sem", map[int]uint64{3: 64}},       // semaphores: a line of the cache each
	{"msg", map[int]uint64{3: 1, 4: 64}}, // bytes, and messages with what is around each
}

// openFiles adds up what only descriptors hold: files without a name.
type openFiles struct {
	memory, disk uint64
	seen         map[[2]uint64]bool
}

// of adds those of process pid. A descriptor on its way through a socket
// counts as the largest file there may be.
func (o *openFiles) of(pid int, largest uint64) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	fds, _ := os.ReadDir(dir)
	if o.seen == nil {
		o.seen = map[[2]uint64]bool{}
	}
	for _, e := range fds {
		var st unix.Stat_t
		if unix.Stat(dir+e.Name(), &st) != nil || o.seen[[2]uint64{st.Dev, st.Ino}] {
			continue
		}
		o.seen[[2]uint64{st.Dev, st.Ino}] = true
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			if st.Nlink > 0 {
				continue
			}
			if to, _ := os.Readlink(dir + e.Name()); strings.HasPrefix(to, "/memfd:") {
				o.memory += uint64(st.Blocks) * 512
			} else {
				o.disk += uint64(st.Blocks) * 512
			}
		case unix.S_IFSOCK:
			info, _ := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%s", pid, e.Name()))
			if _, rest, ok := strings.Cut(string(info), "scm_fds:"); ok {
				n, _ := strconv.ParseUint(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), 10, 64)
				o.memory += n * largest
			}
		}
	}
}

// mostFiles is how many files in a directory of the host diskUse looks at.
const mostFiles = 16384

// diskUse is what the files below dir take, in bytes; very much if there are
// more than mostFiles.
func diskUse(dir string) (n uint64) {
	files := 0
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if files++; files > mostFiles {
			n = 1 << 62
			return fs.SkipAll
		}
		if fi, err := d.Info(); err == nil {
			if st, ok := fi.Sys().(*syscall.Stat_t); ok {
				n += uint64(st.Blocks) * 512
			}
		}
		return nil
	})
	return n
}

// scarce reports whether the host runs out of memory: less than 1/32 of it
// could be had. No sum finds all that the kernel keeps for a process.
func scarce() bool {
	b, _ := os.ReadFile("/proc/meminfo")
	var total, available uint64
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch name {
		case "MemTotal":
			total = n
		case "MemAvailable":
			available = n
		}
	}
	return total > 0 && available < total/32
}

// inNamespace lists the processes of this process namespace but the first,
// which is this one; nil if /proc shows another.
func inNamespace() []int {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return nil
	}
	f, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
