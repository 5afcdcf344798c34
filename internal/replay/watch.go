package replay

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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
	// kernel is the least memory that the kernel of the host was seen to have.
	kernel uint64

	much chan string

	mu      sync.Mutex
	open    openFiles // guarded by mu; as the last look at descriptors found them
	reached string    // guarded by mu; the first limit that was seen to be reached, beyond which the program is refused what it asks for
}

// The time between two looks, and between two at descriptors and files, which cost more: they
// have a goroutine of their own, so that thousands of descriptors keep the other looks waiting no longer.
const (
	watchInterval = 10 * time.Millisecond
	filesInterval = 50 * time.Millisecond
)

// tooBusy is what a watch says at Limits.Busy.
const tooBusy = "processor time"

// watch watches until stop.
func (b *sandbox) watch(processes func() []int, stop <-chan struct{}) *watch {
	w := &watch{limits: b.sp.Limits, processes: processes, page: uint64(os.Getpagesize()), much: make(chan string, 1)}
	if b.sp.Mode == Namespaces {
		w.tmpfs = []string{"/symchef", "/dev/shm", "/run"}
	} else if b.sp.Mode == Landlock {
		w.disk = b.sp.Scratch
	}
	if time.Since(b.kernelAt) > time.Second { // a server has hundreds of cases in a second
		if host, err := readHostMemory(); err == nil {
			b.kernel, b.kernelAt = host.kernel, time.Now()
		}
	}
	w.kernel = b.kernel
	go w.every(watchInterval, w.look, stop)
	go w.every(filesInterval, w.lookAtFiles, stop)
	return w
}

// every looks until stop, or until it sees what is too much: that is said, once.
func (w *watch) every(interval time.Duration, look func() string, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(interval):
		}
		if what := look(); what != "" {
			select {
			case w.much <- what:
			default:
			}
			return
		}
	}
}

// memory is what is said of too much of it.
func (l Limits) memory() string { return fmt.Sprintf("%d MiB of memory", l.Memory>>20) }

// look says what is too much now, or is empty.
func (w *watch) look() string {
	w.turn++
	pids := w.processes()
	var threads, resident uint64
	var busy time.Duration
	for _, pid := range pids {
		t := usageOf(pid)
		threads, resident, busy = threads+t.threads, resident+t.pages*w.page, busy+t.busy
	}
	if w.turn == 1 {
		w.began = busy
	}
	w.busy = max(w.busy, busy-w.began) // what has ended is not counted any more
	processes := max(threads, uint64(len(pids)))
	if processes > w.limits.Processes+8 {
		return Limits{Processes: w.limits.Processes}.String()
	}
	w.lookAtBounds(processes)
	if w.tooMuch(pids, resident) {
		return w.limits.memory()
	}
	if w.limits.Busy > 0 && w.busy >= w.limits.Busy {
		return tooBusy
	}
	return ""
}

// tooMuch reports whether processes pids, of which resident bytes are in memory, have more than there may be.
func (w *watch) tooMuch(pids []int, resident uint64) bool {
	host, err := readHostMemory()
	if err != nil {
		return true // nobody would see what they take
	}
	w.kernel = min(w.kernel, host.kernel)
	grown, most := host.kernel-w.kernel, w.limits.Memory
	w.mu.Lock()
	open := w.open
	w.mu.Unlock()
	objects := w.memoryFiles() + open.memory
	switch {
	case host.scarce() || grown > max(most, host.much()):
		return true
	case resident+objects+grown <= most:
		return false
	}
	sockets := open.sockets
	if len(w.tmpfs) > 0 {
		sockets = socketsInUse()
	}
	kernel := min(grown, pageTables(pids)+sockets*socketMost())
	if kernel > most || resident+objects+kernel <= most {
		return kernel > most
	}
	// Pages that processes share are resident in each: only where their sum is
	// large it is looked at closely.
	var pss, shmem uint64
	for _, pid := range pids {
		p, s := proportional(pid)
		pss, shmem = pss+p, shmem+s
	}
	// Shared memory counts as pages of processes or as files, whichever is more.
	return pss-min(shmem, pss)+max(objects, shmem)+kernel > most
}

// lookAtFiles says what is too much in files, and sees what descriptors hold.
func (w *watch) lookAtFiles() string {
	var open openFiles
	for _, pid := range w.processes() {
		open.of(pid, w.limits.FileSize)
	}
	w.mu.Lock()
	w.open = open
	w.mu.Unlock()
	if w.disk != "" && diskUse(w.disk)+open.disk > w.limits.Disk {
		return Limits{Disk: w.limits.Disk}.String()
	}
	return ""
}

// leftTooMuch says that the files of a program that has ended are too much: it may have been quicker than the looks at them.
func (w *watch) leftTooMuch() string {
	if w.disk != "" && diskUse(w.disk) > w.limits.Disk {
		return Limits{Disk: w.limits.Disk}.String()
	}
	return ""
}

// count is how many processes and threads there are.
func (w *watch) count() (n uint64) {
	for _, pid := range w.processes() {
		n += max(usageOf(pid).threads, 1)
	}
	return n
}

// lookAtBounds notes that there are as many processes as there may be, or that a file system is full.
func (w *watch) lookAtBounds(processes uint64) {
	what := ""
	// RLIMIT_NPROC counts those of this process, too. The one that was refused another may have ended since.
	if len(w.tmpfs) > 0 && processes+usageOf(os.Getpid()).threads+1 >= w.limits.Processes {
		what = Limits{Processes: w.limits.Processes}.String()
	}
	for _, at := range w.tmpfs {
		var st unix.Statfs_t
		if unix.Statfs(at, &st) != nil {
			continue
		}
		if st.Blocks > 0 && st.Bfree*uint64(st.Bsize) < fullBelow {
			what = Limits{Disk: st.Blocks * uint64(st.Bsize)}.String()
		} else if st.Files > 0 && st.Ffree == 0 {
			what = fmt.Sprintf("%d files", st.Files)
		}
	}
	if what == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached = cmp.Or(w.reached, what)
}

// fullBelow is how many bytes are left in a file system that is full: a copy may need several pages at once.
const fullBelow = 64 << 10

// reachedBound is the limit that was reached, or empty. The processes have ended.
func (w *watch) reachedBound() string {
	w.lookAtBounds(0)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached
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
	memory, disk uint64 // bytes
	sockets      uint64
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
			o.sockets++
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
