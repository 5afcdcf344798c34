package programs

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// What may differ between the machine and Linux, and why.

// opaque are the calls whose results, where they are no errors, are addresses or times.
var opaque = map[string]bool{"mmap": true, "mremap": true, "clock_gettime": true}

// masked are the parts of what a call leaves in memory that need not be the same, by call and argument.
var masked = map[string]map[int]func(b []byte){
	"stat":       {1: maskStat},
	"lstat":      {1: maskStat},
	"fstat":      {1: maskStat},
	"newfstatat": {2: maskStat},
	// Ports that nobody has asked for.
	"getsockname": {1: maskPort},
	"getpeername": {1: maskPort},
	"accept4":     {1: maskPort},
	"recvfrom":    {4: maskPort},
	// The order of names is the file system's.
	"getdents64": {1: func(b []byte) { clear(b) }},
	// What time it is.
	"clock_gettime": {1: func(b []byte) { clear(b) }},
	"gettimeofday":  {0: func(b []byte) { clear(b) }},
	// How much of a sleep is left, or of a timer.
	"nanosleep":       {1: func(b []byte) { clear(b) }},
	"clock_nanosleep": {3: func(b []byte) { clear(b) }},
	"setitimer":       {2: maskTimer},
	"getitimer":       {1: maskTimer},
	"timer_settime":   {3: maskTimer},
	"timer_gettime":   {1: maskTimer},
	"ppoll":           {2: maskLeft},
}

// maskPort leaves an address but for what the system chose: a port (ip_local_port_range), an abstract name (unix_autobind).
func maskPort(b []byte) {
	if len(b) >= 8 && b[0] == unix.AF_UNIX && b[1] == 0 && b[2] == 0 && !bytes.ContainsFunc(b[3:8], func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }) {
		clear(b[3:8])
	}
	if len(b) >= 4 && b[1] == 0 && (b[0] == unix.AF_INET || b[0] == unix.AF_INET6) && b[2] >= 0x80 {
		clear(b[2:4])
	}
}

// lengths are the arguments of calls in which Linux stores how long an address is, since 6.17 even where it then fails to store that.
var lengths = map[string]int{"getsockname": 2, "getpeername": 2, "accept4": 2, "recvfrom": 5}

// maskStat leaves type, permissions, links, owners and, except of directories, size. Numbers of files, blocks and times are the file system's.
func maskStat(b []byte) {
	if len(b) < 144 {
		return
	}
	mode := uint32(b[24]) | uint32(b[25])<<8
	clear(b[0:16])
	if mode&unix.S_IFMT == 0 { // files without a name; those that stand for processes have had others since 6.9
		clear(b[24:28])
	}
	if mode&unix.S_IFMT == unix.S_IFCHR { // the host's devices: the machine does not change their permissions and owners
		b[24], b[25] = 0, byte(unix.S_IFCHR>>8)
		clear(b[28:36])
	}
	if mode&unix.S_IFMT == unix.S_IFDIR {
		clear(b[48:56])
	}
	clear(b[56:144])
}

// maskLeft leaves whether there is time left.
func maskLeft(b []byte) {
	if slices.Max(b) > 0 {
		clear(b)
		b[0] = 1
	}
}

// maskTimer leaves whether a timer runs and its interval.
func maskTimer(b []byte) {
	if len(b) < 32 {
		return
	}
	if slices.Max(b[16:32]) > 0 {
		clear(b[16:32])
		b[16] = 1
	}
}

// versions are differences between versions of Linux: the machine does as 6.1, which it says it is. What a program does afterwards may differ, too.
var versions = []struct {
	call           string
	machine, linux unix.Errno
	when           func(p program, s step) bool
	why            string
}{
	{"write", 0, unix.EINVAL, makes("eventfd2"), "more than 8 bytes for an eventfd"},
	{"writev", 0, unix.EINVAL, makes("eventfd2"), "more than 8 bytes for an eventfd"},
	{"write", unix.EFAULT, unix.EINVAL, makes("eventfd2"), "more than 8 bytes for an eventfd"},
	{"writev", unix.EFAULT, unix.EINVAL, makes("eventfd2"), "more than 8 bytes for an eventfd"},
	{"writev", 0, 0, makes("eventfd2"), "more than 8 bytes for an eventfd"},
	{"pidfd_open", unix.EINVAL, unix.ENOENT, nil, "a thread that is no process"},
	{"ftruncate", unix.EINVAL, unix.EOPNOTSUPP, nil, "what stands for a process is a file of its own file system"},
	{"pread64", unix.ESPIPE, unix.EINVAL, makes("pidfd_open"), "what stands for a process is a file of its own file system"},
	{"pwrite64", unix.ESPIPE, unix.EINVAL, makes("pidfd_open"), "what stands for a process is a file of its own file system"},
	{"preadv", unix.ESPIPE, unix.EINVAL, makes("pidfd_open"), "what stands for a process is a file of its own file system"},
	{"pwritev", unix.ESPIPE, unix.EINVAL, makes("pidfd_open"), "what stands for a process is a file of its own file system"},
	{"fchmod", 0, unix.EOPNOTSUPP, nil, "files without a name have no permissions to change"},
	{"fchown", 0, unix.EOPNOTSUPP, nil, "files without a name have no owner to change"},
	{"ioctl", unix.ENOTTY, unix.EINVAL, makes("epoll_create1"), "epoll has an ioctl since 6.9"},
	{"newfstatat", unix.EFAULT, 0, noName, "AT_EMPTY_PATH without a name since 6.11"},
	{"newfstatat", unix.EFAULT, unix.EBADF, noName, "AT_EMPTY_PATH without a name since 6.11"},
	{"sendfile", unix.EINVAL, anyErrno, mentions("/dev/"), "from devices that have an offset since 6.5"},
	{"sendfile", unix.EINVAL, 0, nothing, "nothing from a pipe to a pipe since 6.5"},
	{"sendfile", unix.ESPIPE, unix.EINVAL, makes("pidfd_open"), "what stands for a process is a file of its own file system"},
	{"sendfile", unix.ESPIPE, unix.EBADF, makes("pidfd_open"), "what stands for a process is a file of its own file system"},
	{"mremap", unix.EFAULT, 0, nil, "several mappings since 6.17"},
}

// anyErrno: whatever comes of it.
const anyErrno = ^unix.Errno(0)

// makes reports whether a program makes a call.
func makes(call string) func(program, step) bool {
	return func(p program, _ step) bool {
		return slices.ContainsFunc(p, func(t task) bool {
			return slices.ContainsFunc(t, func(s step) bool { return s.name == call })
		})
	}
}

// mentions reports whether a program has a name that begins so.
func mentions(prefix string) func(program, step) bool {
	return func(p program, _ step) (found bool) {
		p.rewrite(func(a any) any {
			if v, ok := a.(str); ok && strings.HasPrefix(string(v), prefix) {
				found = true
			}
			return a
		})
		return found
	}
}

// nothing: no bytes are to be sent.
func nothing(_ program, s step) bool { return s.args[3] == 0 }

// noName: argument 1 is no address.
func noName(_ program, s step) bool { return s.args[1] == 0 }

// gaps are differences that docs/syscalls.md names, as what is missing of a call.
var gaps = []struct {
	call, why string // "" is any, of which it differs whether it has ended
	when      func(program) bool
}{
	{"peek", "a private mapping shows a file as it was", stale},
	{"poke", "a private mapping shows a file as it was", stale},
	{"fstat", "pipes and sockets without a name keep their permissions", rights},
	{"newfstatat", "pipes and sockets without a name keep their permissions", rights},
	{"write", "how much a pipe takes is counted in bytes, on Linux in pages", hasPipe},
	{"writev", "how much a pipe takes is counted in bytes, on Linux in pages", hasPipe},
	{"kill", orphansWait, orphans}, {"tgkill", orphansWait, orphans}, {"tkill", orphansWait, orphans}, {"getpgid", orphansWait, orphans}, {"getsid", orphansWait, orphans},
	{"setpgid", orphansWait, orphans}, {"pidfd_open", orphansWait, orphans}, {"prlimit64", orphansWait, orphans}, {"getpriority", orphansWait, orphans},
	{"getppid", orphansWait, orphans},
	{"fcntl", packets, keepsPackets},
	{"wait4", childrenOrder, hasThread}, {"waitid", childrenOrder, hasThread},
	{"", "Linux waits while it makes a table of descriptors larger", func(p program) bool {
		return hasThread(p) && (makes("dup2")(p, step{}) || makes("dup3")(p, step{}) || makes("fcntl")(p, step{}))
	}},
	{"madvise", "mlock has no effect", func(p program) bool { return makes("mlock")(p, step{}) }},
	{"lseek", "no holes", func(p program) bool { return seeks(p, unix.SEEK_DATA) || seeks(p, unix.SEEK_HOLE) }},
	{"lseek", "where a folder ends is the file system's", func(p program) bool {
		return seeks(p, unix.SEEK_END) && (makes("mkdir")(p, step{}) || mentions(".")(p, step{}))
	}},
	{"rt_sigtimedwait", "which thread takes a signal that is sent to a process", func(p program) bool { return makes("thread")(p, step{}) && makes("kill")(p, step{}) }},
	{"", packets, keepsPackets}, {"read", packets, keepsPackets}, {"readv", packets, keepsPackets}, {"write", packets, keepsPackets}, {"splice", packets, keepsPackets},
	{"poll", packets, keepsPackets}, {"ioctl", packets, keepsPackets}, {"sendfile", packets, keepsPackets},
	{"", "which thread takes a signal that is sent to a process", func(p program) bool { return makes("thread")(p, step{}) && makes("kill")(p, step{}) }},
}

// orphansWait: the first process of the machine is the executor here, and init only by its number.
const orphansWait = "orphans that have ended are there until the executor runs, on Linux gone at once"

// orphans: a process may have a parent that ends before it.
func orphans(p program) bool {
	n := 0
	for i := range p.steps() {
		if s := p.step(i); s.spawns() {
			n++
		}
	}
	return n > 0
}

const packets = "pipes with O_DIRECT keep no packets apart"

// keepsPackets: there is a pipe with O_DIRECT.
func keepsPackets(p program) bool {
	return slices.ContainsFunc(p, func(t task) bool {
		return slices.ContainsFunc(t, func(s step) bool {
			at := map[string]int{"pipe2": 1, "fcntl": 2}[s.name] // where flags are
			if at == 0 {
				return false
			}
			flags, ok := s.args[at].(int)
			return ok && flags&unix.O_DIRECT != 0
		})
	}) && hasPipe(p)
}

const childrenOrder = "a thread is told of its own children first"

func hasThread(p program) bool { return makes("thread")(p, step{}) }

// seeks reports whether there is an lseek from there.
func seeks(p program, whence int) bool {
	return slices.ContainsFunc(p, func(t task) bool {
		return slices.ContainsFunc(t, func(s step) bool { return s.name == "lseek" && s.args[2] == whence })
	})
}

// rights: permissions of an open file without a name may change.
func rights(p program) bool {
	return (makes("fchmod")(p, step{}) || makes("fchown")(p, step{})) && (hasPipe(p) || makes("socket")(p, step{}) || makes("socketpair")(p, step{}))
}

// hasPipe: there is a pipe.
func hasPipe(p program) bool { return makes("pipe")(p, step{}) || makes("pipe2")(p, step{}) }

// stale: a file of which there is a private mapping may change.
func stale(p program) bool {
	private := slices.ContainsFunc(p, func(t task) bool {
		return slices.ContainsFunc(t, func(s step) bool {
			if s.name != "mmap" {
				return false
			}
			flags, ok := s.args[3].(int)
			return ok && flags&unix.MAP_TYPE == unix.MAP_PRIVATE && flags&unix.MAP_ANONYMOUS == 0
		})
	})
	return private && slices.ContainsFunc([]string{"write", "writev", "pwrite64", "ftruncate", "truncate", "fallocate", "sendfile", "splice", "copy_file_range", "poke"},
		func(call string) bool { return makes(call)(p, step{}) })
}

// gap says which of these explains difference d, the first; "" for none.
func gap(p program, d string) string {
	var i int
	if _, err := fmt.Sscanf(d, "step %d", &i); err != nil {
		return ""
	}
	for _, g := range gaps {
		if (p.step(i).name == g.call || g.call == "" && strings.Contains(d, ": begun or ended")) && g.when(p) {
			return g.call + ": " + g.why
		}
	}
	return ""
}

// version says which of these explains a difference; "" for none.
func version(p program, m, l outcome) string {
	for i := range p.steps() {
		for _, v := range versions {
			if s := p.step(i); s.name == v.call && errno(m.result[i]) == v.machine && (errno(l.result[i]) == v.linux || v.linux == anyErrno) && m.ran[i] == 2 && l.ran[i] == 2 && m.result[i] != l.result[i] && (v.when == nil || v.when(p, s)) {
				return v.call + ": " + v.why
			}
		}
	}
	return ""
}

// differences compares what came of p in the machine with what came of it on Linux.
func differences(p program, e encoded, m, l outcome) (out []string) {
	differ := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	for i := range p.steps() {
		s := p.step(i)
		if m.ran[i] != l.ran[i] {
			differ("step %d %s: begun or ended %d times, on Linux %d", i, s.name, m.ran[i], l.ran[i])
			continue
		}
		mr, lr := m.result[i], l.result[i]
		if me, le := errno(mr), errno(lr); me != le || me == 0 && mr != lr && !opaque[s.name] {
			differ("step %d %s: %s, on Linux %s", i, s.name, result(mr), result(lr))
		}
		for k, x := range e.pieces[i] {
			if m.ran[i] == 1 { // it was killed while it waited: what Linux has stored by then nobody sees
				continue
			}
			if lengths[s.name] == k && errno(lr) == unix.EFAULT {
				continue
			}
			a, b := bytes.Clone(m.memory(x)), bytes.Clone(l.memory(x))
			if f := masked[s.name][k]; f != nil {
				f(a)
				f(b)
			}
			if !bytes.Equal(a, b) {
				differ("step %d %s: argument %d is %q, on Linux %q", i, s.name, k, short(a), short(b))
			}
		}
	}
	if !makes("sigaltstack")(p, step{}) && !bytes.Equal(nested(e, m), nested(e, l)) { // frames of handlers have the state of the processor
		differ("memory that records point to: %q, on Linux %q", short(nested(e, m)), short(nested(e, l)))
	}
	if !slices.Equal(m.signals, l.signals) {
		differ("handlers were told %v, on Linux %v", m.signals, l.signals)
	}
	if m.status != l.status || m.stuck != l.stuck {
		differ("the end: status %#x stuck %v, on Linux %#x %v", m.status, m.stuck, l.status, l.stuck)
	}
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if m.files[name] != l.files[name] {
			differ("file %s: %s, on Linux %s", name, m.files[name], l.files[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if m.files[name] == "" {
			differ("file %s: none, on Linux %s", name, l.files[name])
		}
	}
	return out
}

// nested returns the arena without the memory of arguments.
func nested(e encoded, o outcome) []byte {
	b := bytes.Clone(o.arena)
	for _, l := range e.pieces {
		for _, x := range l {
			clear(b[x.at : x.at+x.n])
		}
	}
	return b
}

func result(v uint64) string {
	if e := errno(v); e != 0 {
		return e.Error()
	}
	return fmt.Sprint(int64(v))
}

func short(b []byte) []byte {
	return bytes.TrimRight(b, "\x00")[:min(160, len(bytes.TrimRight(b, "\x00")))]
}
