package kernel

import (
	"fmt"
	"math/bits"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
)

// The files of /proc/PID, proc(5), and of /proc/PID/task/TID, which are the same: a row for each. Those of which the machine has a value say it; the
// others say what is common, and something else in a world where that is another.

// procFile is one: its permissions, and its text for process p, in the folder of task tid.
type procFile struct {
	mode uint32
	text func(s *System, p *Process, tid int) string
}

// fixed is a file with one text here and another elsewhere.
func fixed(mode uint32, here, elsewhere string) procFile {
	return procFile{mode, func(s *System, _ *Process, _ int) string {
		if s.cfg.World.Elsewhere {
			return elsewhere
		}
		return here
	}}
}

var procFiles = map[string]procFile{
	"cgroup":          fixed(0o444, "0::/\n", "0::/user.slice\n"),
	"cmdline":         {0o444, func(_ *System, p *Process, _ int) string { return strings.Join(p.Argv, "\x00") + "\x00" }},
	"comm":            {0o644, func(_ *System, p *Process, _ int) string { return p.Comm + "\n" }},
	"coredump_filter": fixed(0o644, "00000033\n", "00000013\n"),
	"environ":         {0o400, func(_ *System, p *Process, _ int) string { return strings.Join(p.Env, "\x00") + "\x00" }},
	"io":              {0o400, (*System).ioText},
	"limits":          {0o444, func(_ *System, p *Process, _ int) string { return p.Limits.text() }},
	"loginuid":        fixed(0o644, "4294967295\n", "1000\n"),
	"maps":            {0o444, func(_ *System, p *Process, _ int) string { return mapsText(p, nil) }},
	"mountinfo":       fixed(0o444, "21 1 8:1 / / rw,relatime - ext4 /dev/root rw\n", "25 1 8:2 / / rw,relatime - ext4 /dev/sda1 rw\n26 25 0:21 / /proc rw,relatime - proc proc rw\n"),
	"mounts":          fixed(0o444, "/dev/root / ext4 rw 0 0\n", "/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n"),
	"oom_score":       fixed(0o444, "666\n", "667\n"),
	"oom_score_adj":   fixed(0o644, "0\n", "100\n"),
	"personality":     fixed(0o400, "00000000\n", "00040000\n"),
	"schedstat":       {0o444, (*System).schedstatText},
	"sessionid":       fixed(0o444, "4294967295\n", "2\n"),
	"smaps":           {0o444, func(s *System, p *Process, _ int) string { return mapsText(p, s.smapsText) }},
	"smaps_rollup":    {0o444, (*System).rollupText},
	"stat":            {0o444, (*System).statText},
	"statm":           {0o444, (*System).statmText},
	"status":          {0o444, (*System).statusText},
	"timerslack_ns":   fixed(0o666, "50000\n", "60000\n"),
}

// procDirs are its folders, and procLinks its links, which lead where synthLink says.
var (
	procDirs  = []string{"fd", "fdinfo", "ns", "task"}
	procLinks = []string{"cwd", "exe", "root"}
)

// namespaces are the links in ns, namespaces(7), with the kind of each.
var namespaces = [][2]string{
	{"cgroup", "cgroup"}, {"ipc", "ipc"}, {"mnt", "mnt"}, {"net", "net"}, {"pid", "pid"}, {"pid_for_children", "pid"},
	{"time", "time"}, {"time_for_children", "time"}, {"user", "user"}, {"uts", "uts"},
}

// namespace is what link name in ns says.
func (s *System) namespace(name string) (string, bool) {
	for i, n := range namespaces {
		if n[0] != name {
			continue
		}
		if number := 4026531835 + i; !s.cfg.World.Elsewhere {
			return fmt.Sprintf("%s:[%d]", n[1], number), true
		} else {
			return fmt.Sprintf("%s:[%d]", n[1], number+1000), true
		}
	}
	return "", false
}

// tasksOf are the live tasks of p.
func (s *System) tasksOf(p *Process) (l []*Task) {
	for _, t := range s.tasks {
		if t.proc == p {
			l = append(l, t)
		}
	}
	return l
}

// signalSets are the signals that p blocks, ignores and catches, bit n-1 for signal n.
func (s *System) signalSets(p *Process) (blocked, ignored, caught uint64) {
	if l := s.tasksOf(p); len(l) == 1 { // the order of tasks says nothing of masks
		blocked = l[0].Mask
	}
	for i, a := range p.Actions[1:] { // by number, less one
		switch a.Handler {
		case sigDfl:
		case sigIgn:
			ignored |= 1 << i
		default:
			caught |= 1 << i
		}
	}
	return blocked, ignored, caught
}

// statText is /proc/PID/stat, proc_pid_stat(5); what is 0 here and has a meaning is not shown to other processes, or has no effect.
func (s *System) statText(p *Process, tid int) string {
	w := &s.cfg.World
	own, children, from := s.usage(), s.usageOfChildren(p), w.moved()
	ticks := func(t Time) uint64 { return uint64(t / 1e7) }
	blocked, ignored, caught := s.signalSets(p)
	const (
		anyTerminal = "0 -1"
		exitSignal  = 17 // SIGCHLD
		low         = 1<<31 - 1
	)
	f := []any{p.Parent, p.Group, p.Session, anyTerminal, w.host().processFlags,
		own.count, children.count, own.count, children.count, ticks(own.user), 0, ticks(children.user), 0, // faults, times
		20 + p.Nice, p.Nice, len(s.tasksOf(p)), 0, ticks(Booted + w.Later), own.memory << 11, own.memory >> 2, uint64(unlimited),
		from, from, from, 0, 0, p.Pending & low, blocked & low, ignored & low, caught & low, 0, 0, 0,
		exitSignal, w.host().processor, 0, 0, 0, 0, 0, from, from, from, from, from, from, from, 0}
	return fmt.Sprintf("%d (%s) %c %s\n", tid, p.Comm, s.procState(p), strings.Trim(fmt.Sprint(f), "[]"))
}

func (s *System) statmText(*Process, int) string {
	n := s.cfg.World.memory(4000) / 4
	return fmt.Sprintf("%d %d 500 100 0 500 0\n", n, n)
}

// statusText is /proc/PID/status, without lines that some kernels lack.
func (s *System) statusText(p *Process, tid int) string {
	w, id := &s.cfg.World, func(n int) string { return strings.TrimSuffix(strings.Repeat(fmt.Sprint(n, "\t"), 4), "\t") }
	var b strings.Builder
	line := func(name, format string, v ...any) { fmt.Fprintf(&b, name+":\t"+format+"\n", v...) }
	kB := func(n uint64, names ...string) {
		for _, name := range names {
			line(name, "%8d kB", n)
		}
	}
	line("Name", "%s", p.Comm)
	line("Umask", "%04o", p.Umask)
	line("State", "%s", procStates[s.procState(p)])
	line("Tgid", "%d", p.PID)
	line("Ngid", "0")
	line("Pid", "%d", tid)
	line("PPid", "%d", p.Parent)
	line("TracerPid", "0")
	line("Uid", "%s", id(s.cfg.UID))
	line("Gid", "%s", id(s.cfg.GID))
	line("FDSize", "%d", max(64, 1<<bits.Len(uint(len(p.Fds)-1))))
	groups := ""
	if w.host().groups > 0 {
		groups = fmt.Sprint(s.cfg.GID)
	}
	line("Groups", "%s ", groups)
	for _, n := range [][2]any{{"NStgid", p.PID}, {"NSpid", tid}, {"NSpgid", p.Group}, {"NSsid", p.Session}} {
		line(n[0].(string), "%d", n[1])
	}
	if p.Mem != nil {
		all, part := w.memory(8000), w.memory(4000)
		kB(all, "VmPeak", "VmSize")
		kB(0, "VmLck", "VmPin")
		kB(part, "VmHWM", "VmRSS")
		kB(part/4, "RssAnon")
		kB(part-part/4, "RssFile")
		kB(0, "RssShmem")
		kB(part/4, "VmData")
		kB(w.memory(132), "VmStk", "VmExe", "VmLib", "VmPTE")
		kB(0, "VmSwap")
	}
	line("Threads", "%d", len(s.tasksOf(p)))
	line("SigQ", "0/%d", w.host().memory>>18)
	blocked, ignored, caught := s.signalSets(p)
	var caps uint64
	if s.super() {
		caps = 1<<41 - 1
	}
	for _, n := range []struct {
		name string
		set  uint64
	}{
		{"SigPnd", 0}, {"ShdPnd", p.Pending}, {"SigBlk", blocked}, {"SigIgn", ignored}, {"SigCgt", caught},
		{"CapInh", 0}, {"CapPrm", caps}, {"CapEff", caps}, {"CapBnd", caps}, {"CapAmb", 0},
	} {
		line(n.name, "%016x", n.set)
	}
	noNew, filter := 0, 0
	if p.Prctl.NoNew || w.Sandbox {
		noNew = 1
	}
	if w.Sandbox {
		filter = unix.SECCOMP_MODE_FILTER
	}
	line("NoNewPrivs", "%d", noNew)
	line("Seccomp", "%d", filter)
	line("Cpus_allowed", "%x", w.host().processors)
	line("Cpus_allowed_list", "%s", list(bits.OnesCount64(w.host().processors)))
	line("Mems_allowed", "1")
	line("Mems_allowed_list", "0")
	line("voluntary_ctxt_switches", "%d", w.Used)
	line("nonvoluntary_ctxt_switches", "%d", w.Used)
	return b.String()
}

// list is the first n of things that are numbered, as kernels write it.
func list(n int) string {
	if n == 1 {
		return "0"
	}
	return fmt.Sprintf("0-%d", n-1)
}

func (s *System) ioText(*Process, int) string {
	var b strings.Builder
	for _, name := range []string{"rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes"} {
		fmt.Fprintf(&b, "%s: %d\n", name, s.cfg.World.Used)
	}
	return b.String()
}

func (s *System) schedstatText(*Process, int) string {
	u := s.usage()
	return fmt.Sprintf("%d %d %d\n", uint64(u.user), u.count, u.count+1)
}

// memoryText are the lines of smaps that say how much of kB kilobytes is what.
func memoryText(kB uint64) string {
	var b strings.Builder
	for _, n := range []struct {
		name string
		kB   uint64
	}{
		{"Rss", kB}, {"Pss", kB}, {"Shared_Clean", 0}, {"Shared_Dirty", 0}, {"Private_Clean", 0}, {"Private_Dirty", kB}, {"Referenced", kB}, {"Anonymous", kB},
		{"LazyFree", 0}, {"AnonHugePages", 0}, {"ShmemPmdMapped", 0}, {"Shared_Hugetlb", 0}, {"Private_Hugetlb", 0}, {"Swap", 0}, {"SwapPss", 0}, {"Locked", 0},
	} {
		fmt.Fprintf(&b, "%-16s%8d kB\n", n.name+":", n.kB)
	}
	return b.String()
}

// smapsText is what smaps says of an area of so many bytes.
func (s *System) smapsText(size uint64) string {
	line := func(name string, kB uint64) string { return fmt.Sprintf("%-16s%8d kB\n", name, kB) }
	const page = guest.PageSize >> 10
	return line("Size:", size>>10) + line("KernelPageSize:", page) + line("MMUPageSize:", page) + memoryText(s.cfg.World.memory(size>>10))
}

func (s *System) rollupText(p *Process, _ int) string {
	from, to := uint64(0), uint64(0)
	if p.Mem != nil {
		for i, a := range p.Mem.Areas() {
			if i == 0 {
				from = a.Start
			}
			to = a.End
		}
	}
	return fmt.Sprintf("%-73s%s\n", fmt.Sprintf("%08x-%08x ---p 00000000 00:00 0 ", from, to), "[rollup]") + memoryText(s.cfg.World.memory(4000))
}

// fdinfoText is /proc/PID/fdinfo/N of an open file.
func (s *System) fdinfoText(f *file) string {
	mount := 21
	if s.cfg.World.Elsewhere {
		mount = 25
	}
	return fmt.Sprintf("pos:\t%d\nflags:\t0%o\nmnt_id:\t%d\nino:\t%d\n", f.Off, f.Flags, mount, s.fileStat(f).Ino+s.cfg.World.Inodes)
}
