package kernel

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
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

// procFixed are the files of /proc with one content for all guests.
var procFixed = map[string]string{
	"/proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 26\nmodel name\t: SymChef x86-64-v2 processor\nstepping\t: 5\n" +
		"cpu cores\t: 1\nflags\t\t: fpu tsc cx8 cmov clflush mmx fxsr sse sse2 syscall nx lm pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm\nclflush size\t: 64\n" +
		"address sizes\t: 36 bits physical, 48 bits virtual\n\n",
	"/proc/meminfo": "MemTotal:        4194304 kB\nMemFree:         4194304 kB\nMemAvailable:    4194304 kB\n" +
		"Buffers:               0 kB\nCached:                0 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n",
	"/proc/filesystems":                   "\text4\nnodev\tproc\nnodev\ttmpfs\n",
	"/proc/stat":                          "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n",
	"/proc/loadavg":                       "0.00 0.00 0.00 1/1 1000\n",
	"/proc/version":                       "Linux version " + unameRelease + " (symchef)\n",
	"/proc/sys/kernel/osrelease":          unameRelease + "\n",
	"/proc/sys/kernel/ostype":             "Linux\n",
	"/proc/sys/kernel/hostname":           unameNode + "\n",
	"/proc/sys/kernel/ngroups_max":        "65536\n",
	"/proc/sys/kernel/pid_max":            "4194304\n",
	"/proc/sys/kernel/cap_last_cap":       "40\n",
	"/proc/sys/kernel/randomize_va_space": "0\n",
	"/proc/sys/vm/overcommit_memory":      "0\n",
	"/proc/sys/vm/max_map_count":          "65530\n",
	"/proc/sys/fs/pipe-max-size":          "1048576\n",
	"/proc/sys/net/core/somaxconn":        "4096\n",
	bootID:                                "5e0f3c52-8a3e-4c0e-8d6c-3b7c55c0b9a4\n",
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

// procSelf are the files of /proc/PID.
var procSelf = []string{"auxv", "cmdline", "comm", "cwd", "environ", "exe", "fd", "limits", "maps", "mounts", "root", "stat", "statm", "status"}

func synthetic(p string) bool {
	return under(p, "/dev") || under(p, "/proc") || under(p, "/sys")
}

func under(p, dir string) bool {
	return p == dir || len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir)
}

// procOf splits a path below /proc/PID: the process, and the rest.
func (s *System) procOf(at string) (*Process, string, bool) {
	rest, ok := strings.CutPrefix(at, "/proc/")
	if !ok {
		return nil, "", false
	}
	head, tail, _ := strings.Cut(rest, "/")
	for _, p := range s.procs {
		if strconv.Itoa(p.PID) == head {
			return p, tail, true
		}
	}
	return nil, "", false
}

func (s *System) synthStat(p *Process, at string) (stat, error) {
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
		return stat{}, unix.ENOENT
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
	if _, tail, ok := s.procOf(at); ok {
		switch {
		case tail == "" || tail == "fd":
			return dir()
		case tail == "exe" || tail == "cwd" || tail == "root" || strings.HasPrefix(tail, "fd/"):
			if _, err := s.synthLink(p, at); err != nil {
				return stat{}, err
			}
			st.Mode = unix.S_IFLNK | 0o777
			return st, nil
		}
		for _, n := range procSelf {
			if n == tail {
				st.Mode = unix.S_IFREG | 0o444
				return st, nil
			}
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
	q, tail, ok := s.procOf(at)
	if !ok || q.Dead {
		return "", unix.ENOENT
	}
	switch p = q; tail {
	case "exe":
		return p.Exe, nil
	case "cwd":
		return p.Cwd, nil
	case "root":
		return "/", nil
	}
	if n, ok := strings.CutPrefix(tail, "fd/"); ok {
		if fd, err := strconv.Atoi(n); err == nil && fd >= 0 && fd < len(p.Fds) && p.Fds[fd].File >= 0 {
			return s.files.get(p.Fds[fd].File).Path, nil
		}
	}
	if to, err := os.Readlink(s.beyond(p, at)); err == nil {
		return to, nil
	}
	return "", unix.ENOENT
}

func (s *System) synthDir(p *Process, at string) ([]dirent, error) {
	var names []string
	switch q, tail, self := s.procOf(at); {
	case at == "/dev":
		for n := range devices {
			if n != "symchef" { // it is there for whoever knows
				names = append(names, n)
			}
		}
		for n := range devLinks {
			names = append(names, n)
		}
		names = append(names, "shm", "pts")
	case at == "/dev/pts":
		for i := range s.ttys.rows {
			names = append(names, strconv.Itoa(i))
		}
	case self && tail == "":
		names = slices.Clone(procSelf)
	case self && tail == "fd":
		for i, f := range q.Fds {
			if f.File >= 0 && s.files.get(f.File).Kind != fileDevice { // which no native run has
				names = append(names, strconv.Itoa(i))
			}
		}
	default:
		seen := map[string]bool{}
		for _, f := range procNames {
			if rest, ok := strings.CutPrefix(f, at+"/"); ok {
				seen[strings.SplitN(rest, "/", 2)[0]] = true
			}
		}
		if at == "/proc" {
			seen["self"], seen["mounts"] = true, true
			for _, q := range s.procs {
				seen[strconv.Itoa(q.PID)] = true
			}
		}
		for n := range seen {
			names = append(names, n)
		}
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

// synthText returns the content of a made-up regular file; proc(5).
func (s *System) synthText(at string) ([]byte, error) {
	if t, ok := s.cfg.World.host().proc[at]; ok {
		return []byte(t), nil
	}
	if f := procMade[at]; f != nil {
		return []byte(f(s)), nil
	}
	p, tail, ok := s.procOf(at)
	if !ok && s.cfg.World.Beyond {
		return []byte("elsewhere\n"), nil
	}
	if !ok {
		return nil, unix.ENOENT
	}
	switch tail {
	case "mounts":
		return []byte(s.cfg.World.host().mounts), nil
	case "limits":
		return []byte(p.Limits.text()), nil
	case "maps":
		if p.Mem == nil {
			return nil, nil
		}
		return []byte(mapsText(p)), nil
	case "comm":
		return []byte(p.Comm + "\n"), nil
	case "cmdline":
		return []byte(strings.Join(p.Argv, "\x00") + "\x00"), nil
	case "environ":
		return []byte(strings.Join(p.Env, "\x00") + "\x00"), nil
	case "stat":
		return fmt.Appendf(nil, "%d (%s) %c %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
			p.PID, p.Comm, s.procState(p), p.Parent, p.Group, p.Session), nil
	case "statm":
		n := 1000 * s.cfg.World.pace()
		return fmt.Appendf(nil, "%d %d 500 100 0 500 0\n", n, n), nil
	case "status":
		return fmt.Appendf(nil, "Name:\t%s\nState:\t%s\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\nUid:\t%d\t%d\t%d\t%d\nGid:\t%d\t%d\t%d\t%d\nThreads:\t1\n",
			p.Comm, procStates[s.procState(p)], p.PID, p.PID, p.Parent, s.cfg.UID, s.cfg.UID, s.cfg.UID, s.cfg.UID, s.cfg.GID, s.cfg.GID, s.cfg.GID, s.cfg.GID), nil
	}
	if s.cfg.World.Beyond {
		return []byte("elsewhere\n"), nil
	}
	return nil, unix.EACCES
}

func mapsText(p *Process) string {
	var b strings.Builder
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
