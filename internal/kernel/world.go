package kernel

import (
	"os"
	"path"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/loader"
)

// A World is what a guest may see of a machine and of a moment, though it is no input: two native runs need not share any of it. The zero
// value is the world of every exploration. Running a test case in two worlds tells what its outcome depends on.
type World struct {
	// Later is how much later it is, on all clocks.
	Later Time
	// Pace is how many nanoseconds an instruction takes, once the device is open, and what is told of the memory taken; 0 means 1. Still: it takes none.
	Pace  uint64
	Still bool
	// Delay is how much longer it takes each time the guest has asked for the time, Taken how much more processor time has been used, and Used is
	// added to what is counted of a process: faults, switches, blocks, kilobytes.
	Delay, Taken Time
	Used         uint64
	// PIDs is added to the numbers of processes and tasks. If it is not 0 one number is left out each time, but where the first is 1: it is alone there.
	PIDs int
	// Lower is how many bytes lower the stack and mappings are, and higher the program, and once more the heap of brk(2): a multiple of 16, of
	// which all but the stack moves by whole pages.
	Lower uint64
	// Inverse: random numbers have every bit that they have not else, and ports without a number are given from the last one on.
	Inverse bool
	// Elsewhere: another host, by name, kernel, processors, memory, disk, load and limits.
	Elsewhere bool
	// Beyond: what this host has in /dev, in /proc, in /sys and of families of sockets beside what the machine knows is there, with other content. Programs
	// may make nothing of it: of those that end as here it says nothing. So are calls that the machine lacks.
	Beyond bool
	// Network: there is one, and hosts on it that refuse.
	Network bool
	// Processor: another processor, ir.Elsewhere. Functions of libraries then go other ways, so what it takes is another, too.
	Processor bool
	// Level: the processor is of the other level of the machine's two. The C library then computes by other code, whose results may differ in the last bit.
	Level bool
	// Inodes is added to the numbers of files and file systems.
	Inodes uint64
	// OtherRights: the superuser lacks the rights that he has here, and has those that he lacks here.
	OtherRights bool
	// Sandbox: processes and files have what the sandbox of a replay gives them; see boxed, unboxed and sysPrctl.
	Sandbox bool
	// Owned: files of others that the user may write are his own.
	Owned bool
	// Objects is how many objects the library of a language makes before the test that it does not make else.
	Objects int
	// Bounds are those of a replay.
	Bounds Bounds
	// Backwards: directories are listed in the opposite order. Turned: they begin in the middle.
	Backwards, Turned bool
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
	l = l[2:]
	if w.Backwards {
		slices.Reverse(l)
	}
	if w.Turned {
		copy(l, slices.Concat(l[len(l)/2:], l[:len(l)/2]))
	}
}

// Objects is World.Objects.
func (s *System) Objects() int { return s.cfg.World.Objects }

// LevelOf is the processor that code is lifted for where a run has p.
func (w World) LevelOf(p ir.Processor) ir.Processor {
	switch {
	case !w.Level:
		return p
	case p == ir.V3:
		return ir.V2
	}
	return ir.V3
}

// Processor returns the one that programs see.
func (s *System) Processor() ir.Processor {
	if s.cfg.World.Processor {
		return ir.Elsewhere
	}
	return s.cfg.World.LevelOf(s.cfg.Processor)
}

// nextID is the number of the process or task that is made after one with number last: elsewhere others are made in between.
func (w World) nextID(last int) int {
	if w.PIDs != 0 && w.firstPID() != initPID {
		return last + 2
	}
	return last + 1
}

// pace is Pace with its default, and how long an instruction takes.
func (w World) pace() Time {
	if w.Still {
		return 0
	}
	return Time(max(w.Pace, 1))
}

// memory is n kilobytes of memory that a process has.
func (w World) memory(n uint64) uint64 { return n*max(w.Pace, 1) + w.Used&^3 }

// mmapTop is what mappings without an address end below, and heap where brk(2) begins for a program whose image ends at end.
func (w World) mmapTop() uint64        { return loader.MmapTop - w.moved() }
func (w World) heap(end uint64) uint64 { return end + w.moved() }
func (w World) moved() uint64          { return guest.PageDown(w.Lower) }

// host is what uname(2), sysinfo(2), sched_getaffinity(2), statfs(2), getgroups(2), getrlimit(2) and /proc say of the host.
type host struct {
	node, release string
	memory        uint64    // bytes
	tick          uint64    // of the coarse clocks, in nanoseconds
	processFlags  uint64    // in /proc/PID/stat
	processor     int       // the number of the one that runs everything
	tasks         int       // of others
	nice          int       // of the first process, setpriority(2)
	loads         [3]uint64 // averages of 1, 5 and 15 minutes, in 1/65536
	processors    uint64    // as a mask
	disk, free    uint64    // blocks and inodes of the file system
	groups        int       // of the user, beside the main one
	limits        limits    // of the first process
}

// elsewhereNode is a name that has an address.
const elsewhereNode, elsewhereRelease = "localhost", "5.10.0"

var (
	here      = host{unameNode, unameRelease, maxData, 4_000_000, 1 << 22, 0, 0, 0, [3]uint64{}, 1, 1 << 20, 1 << 19, 1, defaultLimits()}
	elsewhere = host{elsewhereNode, elsewhereRelease, 12 << 30, 1_000_000, 0, 2, 97, 5, [3]uint64{46531, 34079, 21627}, 0b111, 7 << 20, 3 << 19, 0, elsewhereLimits()}
)

func (w World) host() *host {
	if w.Elsewhere {
		return &elsewhere
	}
	return &here
}

// limits are those of the first process.
func (w World) limits() limits {
	if w.Sandbox {
		return boxedLimits()
	}
	return w.host().limits
}

// hostNumber is which of the texts of procFixed is that of the host.
func (w World) hostNumber() int {
	if w.Elsewhere {
		return 1
	}
	return 0
}

// beyond is where this host has what another one has at a name in /proc or /sys that the machine does not know; "" on the machine itself.
func (s *System) beyond(p *Process, at string) string {
	if !s.cfg.World.Beyond || !synthetic(at) || under(at, "/dev/pts") || under(at, "/dev/shm") || at == DevicePath {
		return ""
	}
	if _, _, tail, ok := s.procOf(at); ok {
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
	st.Mode, st.Rdev = is.Mode, is.Rdev
	return st, nil
}

// beyondLink is where such a link leads.
func (s *System) beyondLink(p *Process, at string) (string, error) {
	to, err := os.Readlink(s.beyond(p, at))
	if err != nil {
		return "", unix.ENOENT
	}
	return to, nil
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
