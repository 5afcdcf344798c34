package kernel

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/ir"
)

// devices are the character devices of /dev with their numbers (null(4), full(4), random(4), tty(4)).
var devices = map[string]struct {
	kind         fileKind
	major, minor uint32
}{
	"null": {fileNull, 1, 3}, "zero": {fileZero, 1, 5}, "full": {fileFull, 1, 7},
	"random": {fileRandom, 1, 8}, "urandom": {fileRandom, 1, 9}, "tty": {fileTTY, 5, 0}, "ptmx": {fileMaster, 5, 2},
	"symchef": {fileDevice, 240, 0},
}

var devLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
}

// procFixed are the files of /proc and /sys with one content for all guests, and another on another host: everything that hosts do not share.
var procFixed = map[string][2]string{
	"/proc/cpuinfo": {processorText(0, "model\t\t: 26\nmodel name\t: SymChef x86-64-v2 processor\nstepping\t: 5\ncpu cores\t: 1\nflags\t\t: "+cpuFlags+" lahf_lm"),
		strings.ReplaceAll(elsewhereCPUs, "GenuineIntel", "AuthenticAMD")},
	"/proc/meminfo": {"MemTotal:        4194304 kB\nMemFree:         4194304 kB\nMemAvailable:    4194304 kB\n" + memInfoRest,
		"MemTotal:       12582912 kB\nMemFree:        12582912 kB\nMemAvailable:   12582912 kB\n" + memInfoRest},
	"/proc/filesystems":                   {"\text4\nnodev\tproc\nnodev\ttmpfs\n", "\txfs\nnodev\tproc\nnodev\ttmpfs\nnodev\tsysfs\n"},
	"/proc/stat":                          {"cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n", "cpu  700 0 90 8000 0 0 0 0 0 0\ncpu0 200 0 30 3000 0 0 0 0 0 0\ncpu1 250 0 30 2500 0 0 0 0 0 0\ncpu2 250 0 30 2500 0 0 0 0 0 0\n"},
	"/proc/loadavg":                       {"0.00 0.00 0.00 1/1 1000\n", "0.71 0.52 0.33 2/99 7000\n"},
	"/proc/version":                       {"Linux version " + unameRelease + " (symchef)\n", "Linux version " + elsewhereRelease + " (elsewhere)\n"},
	"/proc/swaps":                         {swapsHead, swapsHead + "/dev/sda2                               partition\t1048572\t\t0\t\t-2\n"},
	"/proc/sys/kernel/osrelease":          {unameRelease + "\n", elsewhereRelease + "\n"},
	"/proc/sys/kernel/ostype":             {"Linux\n", "Linux\n"},
	"/proc/sys/kernel/hostname":           {unameNode + "\n", elsewhereNode + "\n"},
	"/proc/sys/kernel/ngroups_max":        {"65536\n", "65536\n"}, // NGROUPS_MAX
	"/proc/sys/kernel/pid_max":            {"4194304\n", "32768\n"},
	"/proc/sys/kernel/threads-max":        {"31398\n", "95623\n"},
	"/proc/sys/kernel/cap_last_cap":       {"40\n", "37\n"},
	"/proc/sys/kernel/randomize_va_space": {"0\n", "2\n"},
	"/proc/sys/vm/overcommit_memory":      {"0\n", "1\n"},
	"/proc/sys/vm/max_map_count":          {"65530\n", "1048576\n"},
	"/proc/sys/fs/file-max":               {"9223372036854775807\n", "404711\n"},
	"/proc/sys/fs/nr_open":                {"1048576\n", "1073741816\n"},
	"/proc/sys/fs/pipe-max-size":          {"1048576\n", "2097152\n"},
	"/proc/sys/net/core/somaxconn":        {"4096\n", "128\n"},
	"/sys/devices/system/cpu/online":      {"0\n", "0-2\n"},
	"/sys/devices/system/cpu/possible":    {"0\n", "0-3\n"},
	"/sys/devices/system/cpu/present":     {"0\n", "0-2\n"},
	bootID:                                {"5e0f3c52-8a3e-4c0e-8d6c-3b7c55c0b9a4\n", "0c7e2f6e-51b3-4f0a-9d53-6a1f0f8f2b11\n"},
}

const (
	cpuFlags     = "fpu tsc cx8 cmov clflush mmx fxsr sse sse2 syscall nx lm pni ssse3 cx16 sse4_1 sse4_2 popcnt"
	memInfoRest  = "Buffers:               0 kB\nCached:                0 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n"
	swapsHead    = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	elsewhereCPU = "model\t\t: 15\nmodel name\t: A processor elsewhere\nstepping\t: 11\ncpu cores\t: 3\nflags\t\t: fpu tsc cx8 cmov clflush mmx fxsr sse sse2 syscall nx lm"
)

var elsewhereCPUs = processorText(0, elsewhereCPU) + processorText(1, elsewhereCPU) + processorText(2, elsewhereCPU)

// v3CPU is /proc/cpuinfo of ir.V3.
var v3CPU = processorText(0, "model\t\t: 60\nmodel name\t: SymChef x86-64-v3 processor\nstepping\t: 3\ncpu cores\t: 1\nflags\t\t: "+cpuFlags+
	" fma movbe xsave avx f16c lahf_lm abm bmi1 avx2 bmi2")

// processorText is what /proc/cpuinfo says of processor n.
func processorText(n int, what string) string {
	return fmt.Sprintf("processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n%s\nclflush size\t: 64\naddress sizes\t: 36 bits physical, 48 bits virtual\n\n", n, what)
}

const bootID = "/proc/sys/kernel/random/boot_id"

// procMade are those with a content of the moment.
var procMade = map[string]func(*System) string{
	"/proc/uptime": func(s *System) string {
		t := s.Now() / 1e7
		return fmt.Sprintf("%d.%02d 0.00\n", t/100, t%100)
	},
	"/proc/sys/kernel/random/uuid": func(s *System) string { // random(4): version 4, variant 1
		b := s.randomBytes(16)
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		return fmt.Sprintf("%x-%x-%x-%x-%x\n", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	},
}

// procNames are the names of procFixed and procMade.
var procNames = slices.Concat(slices.Sorted(maps.Keys(procFixed)), []string{"/proc/uptime", "/proc/sys/kernel/random/uuid"})

func synthetic(p string) bool {
	return under(p, "/dev") || under(p, "/proc") || under(p, "/sys")
}

func under(p, dir string) bool {
	return p == dir || len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir)
}

// procOf splits a path below /proc/PID or /proc/PID/task/TID: the process, the task, and the rest.
func (s *System) procOf(at string) (p *Process, tid int, tail string, ok bool) {
	rest, ok := strings.CutPrefix(at, "/proc/")
	if !ok {
		return nil, 0, "", false
	}
	head, tail, _ := strings.Cut(rest, "/")
	for _, p := range s.procs {
		if strconv.Itoa(p.PID) != head {
			continue
		}
		if name, more, _ := strings.Cut(taskPart(tail), "/"); name != "" {
			for _, t := range s.tasksOf(p) {
				if strconv.Itoa(t.TID) == name {
					return p, t.TID, more, true
				}
			}
		}
		return p, p.PID, tail, true
	}
	return nil, 0, "", false
}

// taskPart is what comes behind task/ in a path below /proc/PID.
func taskPart(tail string) string {
	rest, _ := strings.CutPrefix(tail, "task/")
	if rest == tail {
		return ""
	}
	return rest
}

func (s *System) synthStat(p *Process, at string) (stat, error) {
	s.askedFile(at)
	st := stat{Dev: overlayDev + 2, Ino: fnv(at), Nlink: 1, Atime: Epoch, Mtime: Epoch, Ctime: Epoch}
	dir := func() (stat, error) {
		st.Mode, st.Nlink = unix.S_IFDIR|0o555, 2
		return st, nil
	}
	switch at {
	case "/dev", "/proc", "/sys":
		return dir()
	case "/dev/shm":
		st.Mode, st.Nlink = unix.S_IFDIR|0o1777, 2
		return st, nil
	case "/dev/pts":
		st.Mode, st.Nlink = unix.S_IFDIR|0o755, 2
		return st, nil
	case "/proc/self", "/proc/thread-self", "/proc/mounts":
		st.Mode = unix.S_IFLNK | 0o777
		return st, nil
	}
	if i, ok := s.ttyOf(p, at); ok && at != "/dev/tty" {
		if !s.ttys.get(i).Master {
			return stat{}, unix.ENOENT
		}
		const group = 5 // tty, which devpts is mounted with
		st.Mode, st.Rdev, st.UID, st.GID = unix.S_IFCHR|0o620, unix.Mkdev(136, uint32(i)), uint32(s.cfg.UID), group
		return st, nil
	}
	if name, ok := strings.CutPrefix(at, "/dev/"); ok {
		if d, ok := devices[name]; ok && (name != "symchef" || s.cfg.DeviceEnabled) {
			st.Mode, st.Rdev = unix.S_IFCHR|0o666, unix.Mkdev(d.major, d.minor)
			return st, nil
		}
		if devLinks[name] != "" {
			st.Mode = unix.S_IFLNK | 0o777
			return st, nil
		}
		return s.beyondStat(p, at, st)
	}
	for _, f := range procNames {
		switch {
		case f == at:
			st.Mode = unix.S_IFREG | 0o444
			return st, nil
		case under(f, at):
			return dir()
		}
	}
	if q, _, tail, ok := s.procOf(at); ok {
		switch {
		case tail == "" || slices.Contains(procDirs, tail):
			return dir()
		case slices.Contains(procLinks, tail) || strings.HasPrefix(tail, "fd/") || strings.HasPrefix(tail, "ns/"):
			if _, err := s.synthLink(p, at); err != nil {
				return stat{}, err
			}
			st.Mode = unix.S_IFLNK | 0o777
			return st, nil
		}
		if f, ok := procFiles[tail]; ok {
			st.Mode = unix.S_IFREG | f.mode
			return st, nil
		}
		if q.openAs(s, "fdinfo/", tail) != nil {
			st.Mode = unix.S_IFREG | 0o400
			return st, nil
		}
	}
	return s.beyondStat(p, at, st)
}

func (s *System) synthLink(p *Process, at string) (string, error) {
	if name, ok := strings.CutPrefix(at, "/dev/"); ok && devLinks[name] != "" {
		return devLinks[name], nil
	}
	if p == nil {
		return "", unix.ENOENT
	}
	switch at {
	case "/proc/mounts":
		return "self/mounts", nil
	case "/proc/self":
		return strconv.Itoa(p.PID), nil
	case "/proc/thread-self":
		return fmt.Sprintf("%d/task/%d", p.PID, s.cur.TID), nil
	}
	q, _, tail, ok := s.procOf(at)
	if !ok || q.Dead {
		return s.beyondLink(p, at)
	}
	switch tail {
	case "exe":
		return q.Exe, nil
	case "cwd":
		return q.Cwd, nil
	case "root":
		return "/", nil
	}
	if f := q.openAs(s, "fd/", tail); f != nil {
		return f.Path, nil
	}
	if name, ok := strings.CutPrefix(tail, "ns/"); ok {
		if to, ok := s.namespace(name); ok {
			return to, nil
		}
	}
	return s.beyondLink(p, at)
}

func (s *System) synthDir(p *Process, at string) ([]dirent, error) {
	s.askedFile(at)
	var names []string
	switch q, tid, tail, self := s.procOf(at); {
	case at == "/dev":
		names = slices.Concat(slices.Collect(maps.Keys(devices)), slices.Collect(maps.Keys(devLinks)), []string{"shm", "pts"})
		names = slices.DeleteFunc(names, func(n string) bool { return n == "symchef" }) // it is there for whoever knows
	case at == "/dev/pts":
		for i := range s.ttys.rows {
			names = append(names, strconv.Itoa(i))
		}
	case self:
		names = s.processDir(q, tid, at, tail)
	default:
		names = s.procDir(at)
	}
	names = append(names, s.beyondDir(p, at)...)
	slices.Sort(names)
	var out []dirent
	for _, n := range slices.Compact(names) {
		if st, err := s.synthStat(p, path.Join(at, n)); err == nil {
			out = append(out, dirent{n, st.Ino, byte(st.Mode >> 12 & 15)})
		}
	}
	sortDirents(out)
	return out, nil
}

// processDir are the names in the folder at tail below that of task tid of q, at.
func (s *System) processDir(q *Process, tid int, at, tail string) (names []string) {
	switch tail {
	case "":
		names = slices.Concat(slices.Collect(maps.Keys(procFiles)), procDirs, procLinks)
		if taskPart(strings.TrimPrefix(at, fmt.Sprintf("/proc/%d/", q.PID))) == strconv.Itoa(tid) { // in which there is no other
			names = slices.DeleteFunc(names, func(n string) bool { return n == "task" })
		}
	case "task":
		for _, t := range s.tasksOf(q) {
			names = append(names, strconv.Itoa(t.TID))
		}
	case "ns":
		for _, n := range namespaces {
			names = append(names, n[0])
		}
	case "fd", "fdinfo":
		for i, f := range q.Fds {
			if f.File >= 0 && s.files.get(f.File).Kind != fileDevice { // which no native run has
				names = append(names, strconv.Itoa(i))
			}
		}
	default:
		return s.procDir(at)
	}
	return names
}

// procDir are the names in a folder of /proc that is no process's.
func (s *System) procDir(at string) (names []string) {
	for _, f := range procNames {
		if rest, ok := strings.CutPrefix(f, at+"/"); ok {
			names = append(names, strings.SplitN(rest, "/", 2)[0])
		}
	}
	if at == "/proc" {
		names = append(names, "self", "mounts")
		for _, q := range s.procs {
			names = append(names, strconv.Itoa(q.PID))
		}
	}
	return names
}

// synthText returns the content of a made-up regular file; proc(5).
func (s *System) synthText(at string) ([]byte, error) {
	if at == "/proc/cpuinfo" && s.Processor() == ir.V3 && s.cfg.World.hostNumber() == 0 {
		return []byte(v3CPU), nil
	}
	if t, ok := procFixed[at]; ok {
		return []byte(t[s.cfg.World.hostNumber()]), nil
	}
	if f := procMade[at]; f != nil {
		return []byte(f(s)), nil
	}
	p, tid, tail, ok := s.procOf(at)
	if !ok && s.cfg.World.Beyond {
		return []byte("elsewhere\n"), nil
	}
	if !ok {
		return nil, unix.ENOENT
	}
	if f, ok := procFiles[tail]; ok {
		return []byte(f.text(s, p, tid)), nil
	}
	if f := p.openAs(s, "fdinfo/", tail); f != nil {
		return []byte(s.fdinfoText(f)), nil
	}
	if s.cfg.World.Beyond {
		return []byte("elsewhere\n"), nil
	}
	return nil, unix.EACCES
}

// openAs is the file that is open at N in p, where tail is prefix and N.
func (p *Process) openAs(s *System, prefix, tail string) *file {
	if n, ok := strings.CutPrefix(tail, prefix); ok {
		if fd, err := strconv.Atoi(n); err == nil && fd >= 0 && fd < len(p.Fds) && p.Fds[fd].File >= 0 {
			return s.files.get(p.Fds[fd].File)
		}
	}
	return nil
}

// mapsText is /proc/PID/maps; each line is followed by what more says of an area of so many bytes.
func mapsText(p *Process, more func(size uint64) string) string {
	var b strings.Builder
	if p.Mem == nil {
		return ""
	}
	for _, a := range p.Mem.Areas() {
		mode := []byte("---p")
		for i, c := range []struct {
			p guest.Prot
			c byte
		}{{guest.ProtRead, 'r'}, {guest.ProtWrite, 'w'}, {guest.ProtExec, 'x'}} {
			if a.Prot&c.p != 0 {
				mode[i] = c.c
			}
		}
		if a.Shared {
			mode[3] = 's'
		}
		ino, off := uint64(0), uint64(0)
		if a.Back != nil {
			ino, off = fnv(a.Back.Name), a.Off
		}
		line := fmt.Sprintf("%08x-%08x %s %08x 00:00 %d ", a.Start, a.End, mode, off, ino)
		if a.Name != "" {
			line = fmt.Sprintf("%-73s%s", line, a.Name)
		}
		b.WriteString(line + "\n")
		if more != nil {
			b.WriteString(more(a.End - a.Start))
		}
	}
	return b.String()
}

// procStates are the states of /proc/PID/status.
var procStates = map[byte]string{'R': "R (running)", 'S': "S (sleeping)", 'T': "T (stopped)", 'Z': "Z (zombie)"}

// procState is that of p: it runs while one of its tasks does not wait.
func (s *System) procState(p *Process) byte {
	switch {
	case p.Dead:
		return 'Z'
	case p.Stop != 0:
		return 'T'
	}
	for _, t := range s.tasks {
		if t.proc == p && t.Wait.Kind == waitNone {
			return 'R'
		}
	}
	return 'S'
}
