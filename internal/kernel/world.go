package kernel

import (
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/loader"
)

// A World is what a guest may see of a machine and of a moment, though it is no input: two native runs need not share any of it. The zero
// value is the world of every exploration. Running a test case in two worlds tells what its outcome depends on.
type World struct {
	// Later is how much later it is, on all clocks.
	Later Time
	// Pace is how many nanoseconds an instruction takes, once the device is open, and what is told of the memory taken; 0 means 1.
	Pace uint64
	// PIDs is added to the numbers of processes and tasks.
	PIDs int
	// Lower is how many bytes lower the stack and mappings are, and higher the program, and once more the heap of brk(2): a multiple of 16, of
	// which all but the stack moves by whole pages.
	Lower uint64
	// Inverse: random numbers have every bit that they have not else.
	Inverse bool
	// Elsewhere: another host, by name, kernel, processors, memory, disk, load and limits.
	Elsewhere bool
	// Beyond: what this host has in /proc, in /sys and of families of sockets beside what the machine knows is there, with other content. Programs
	// may make nothing of it: it is for those that are known to see another world natively.
	Beyond bool
	// Inodes is added to the numbers of files and file systems.
	Inodes uint64
	// OtherRights: the superuser lacks the rights that he has here, and has those that he lacks here.
	OtherRights bool
	// Sandbox: processes and files have what the sandbox of a replay gives them; see boxed, unboxed and sysPrctl.
	Sandbox bool
	// Owned: files of others that the user may write are his own.
	Owned bool
	// Bounds are those of a replay.
	Bounds Bounds
	// Backwards: directories are listed in the opposite order.
	Backwards bool
}

// Bounds are of what a replay lets a program take, beside those of the machine; 0: there is none.
type Bounds struct {
	FileSize, Disk uint64 // bytes of a file, of all files
	Tasks          uint64 // processes and threads
}

// firstPID is the number of the first process; the guest never sees host pids.
func (w World) firstPID() int { return firstPID + w.PIDs }

// parentPID is that of its parent, which is the first of all where numbers are others; 0 if that is itself.
func (w World) parentPID() int {
	switch {
	case w.firstPID() == initPID:
		return 0
	case w.PIDs != 0:
		return initPID
	}
	return parentPID
}

// session is that of the first process: its parent's, or its own where numbers are others.
func (w World) session() int {
	if w.PIDs != 0 && w.firstPID() != initPID {
		return w.firstPID()
	}
	return w.parentPID()
}

// random is what the random number z is in w.
func (w World) random(z uint64) uint64 {
	if w.Inverse {
		return ^z
	}
	return z
}

// arrange puts the entries of a directory, . and .. first, into the order in which they are read.
func (w World) arrange(l []dirent) {
	if w.Backwards {
		slices.Reverse(l[2:])
	}
}

// pace is Pace with its default.
func (w World) pace() Time { return Time(max(w.Pace, 1)) }

// mmapTop is what mappings without an address end below, and heap where brk(2) begins for a program whose image ends at end.
func (w World) mmapTop() uint64        { return loader.MmapTop - w.moved() }
func (w World) heap(end uint64) uint64 { return end + w.moved() }
func (w World) moved() uint64          { return guest.PageDown(w.Lower) }

// host is what uname(2), sysinfo(2), sched_getaffinity(2), statfs(2), getgroups(2), getrlimit(2) and /proc say of the host.
type host struct {
	node, release string
	memory        uint64    // bytes
	loads         [3]uint64 // averages of 1, 5 and 15 minutes, in 1/65536
	processors    uint64    // as a mask
	disk, free    uint64    // blocks and inodes of the file system
	groups        int       // of the user, beside the main one
	limits        limits    // of the first process
	proc          map[string]string
	mounts        string // /proc/PID/mounts
}

var (
	here      = host{unameNode, unameRelease, maxData, [3]uint64{}, 1, 1 << 20, 1 << 19, 1, defaultLimits(), procFixed, "/dev/root / ext4 rw 0 0\n"}
	elsewhere = host{"elsewhere", "5.10.0", 12 << 30, [3]uint64{46531, 34079, 21627}, 0b111, 7 << 20, 3 << 19, 0, elsewhereLimits(), elsewhereProc(), "/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n"}
)

func (w World) host() *host {
	if w.Elsewhere {
		return &elsewhere
	}
	return &here
}

// elsewhereProc is procFixed on another host.
func elsewhereProc() map[string]string {
	m := maps.Clone(procFixed)
	cpu := m["/proc/cpuinfo"]
	m["/proc/cpuinfo"] = cpu + strings.Replace(cpu, "processor\t: 0", "processor\t: 1", 1) + strings.Replace(cpu, "processor\t: 0", "processor\t: 2", 1)
	m["/proc/meminfo"] = strings.ReplaceAll(m["/proc/meminfo"], "4194304", "12582912")
	m["/proc/stat"] = "cpu  700 0 90 8000 0 0 0 0 0 0\ncpu0 200 0 30 3000 0 0 0 0 0 0\ncpu1 250 0 30 2500 0 0 0 0 0 0\ncpu2 250 0 30 2500 0 0 0 0 0 0\n"
	m["/proc/loadavg"] = "0.71 0.52 0.33 2/99 7000\n"
	m[bootID] = "0c7e2f6e-51b3-4f0a-9d53-6a1f0f8f2b11\n"
	for name, text := range m {
		m[name] = strings.NewReplacer(unameRelease, "5.10.0", unameNode, "elsewhere").Replace(text)
	}
	return m
}

// beyond is where this host has what another one has at a name in /proc or /sys that the machine does not know; "" on the machine itself.
func (s *System) beyond(p *Process, at string) string {
	if !s.cfg.World.Beyond || !under(at, "/proc") && !under(at, "/sys") {
		return ""
	}
	if _, tail, ok := s.procOf(at); ok {
		return path.Join("/proc/self", tail)
	}
	return at
}

// beyondStat is synthStat for such a name. The content is another host's, so it is not read.
func (s *System) beyondStat(p *Process, at string, st stat) (stat, error) {
	is, err := hostStat(s.beyond(p, at))
	if err != nil {
		return stat{}, unix.ENOENT
	}
	st.Mode = is.Mode
	return st, nil
}

// beyondDir are the names in such a directory that are no processes.
func (s *System) beyondDir(p *Process, at string) (names []string) {
	at = s.beyond(p, at)
	l, err := os.ReadDir(at)
	if at == "" || err != nil {
		return nil
	}
	for _, e := range l {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			names = append(names, e.Name())
		}
	}
	return names
}
