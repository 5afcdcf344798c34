package kernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
)

// What system calls do to objects of the kernel, for the order of tasks. Files go by their path, descriptors and what else a process has by
// its number, pipes, sockets and event counters are channels. Memory of one's own, time, numbers of tasks and processes, addresses that the kernel
// chooses and random bytes are none: nobody else sees them, or they are as the environment has them.

// touch says what a call does.
type touch uint8

const (
	touchNothing  touch = iota
	touchFile           // what its descriptor refers to, by what is done with it: see fileStep
	touchRead           // files that it looks up
	touchWrite          // the same, and changes them and the folders they are in
	touchState          // what the process has: changes it
	touchPoll           // waits for files
	touchFiles          // descriptors
	touchLife           // asks whether a process lives, and what it has
	touchShared         // what a process has and another may change
	touchSegment        // memory of System V
	touchMappings       // memory of one's own, among which segments may be
	touchAnything       // what there is
)

// touches is what each call does. A call that is not here touches anything.
var touches = func() map[string]touch {
	out := map[string]touch{}
	for t, names := range map[touch]string{
		touchNothing: `msync mincore mlock munlock sched_yield nanosleep clock_nanosleep getitimer getpid
			clone fork vfork execve execveat exit exit_group wait4 waitid uname gettimeofday time
			getrlimit getrusage sysinfo times ptrace getuid getgid geteuid getegid setuid setgid setreuid setregid getgroups setgroups
			setresuid getresuid setresgid getresgid rt_sigpending rt_sigtimedwait rt_sigsuspend rt_sigprocmask rt_sigreturn sigaltstack
			pause sched_setparam sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max
			sched_get_priority_min arch_prctl gettid futex sched_setaffinity sched_getaffinity set_tid_address clock_gettime clock_getres
			timer_gettime timer_getoverrun mbind get_mempolicy inotify_init inotify_init1 set_robust_list getcpu sched_setattr sched_getattr seccomp
			getrandom bpf userfaultfd membarrier statx rseq io_uring_setup clone3 openat2 epoll_pwait2 landlock_create_ruleset futex_waitv
			fadvise64 readahead fsync fdatasync sync statfs fstatfs chroot mount umount2`,
		touchFile: `read write lseek pread64 pwrite64 readv writev preadv pwritev fstat ftruncate fallocate getdents64 fchmod fchown sendfile
			sendto recvfrom sendmsg recvmsg connect accept accept4 shutdown bind listen getsockname getpeername setsockopt getsockopt ioctl fsetxattr
			fgetxattr flistxattr fremovexattr flock copy_file_range splice`,
		touchRead:     `open openat stat lstat newfstatat access faccessat faccessat2 readlink readlinkat getxattr lgetxattr listxattr llistxattr`,
		touchWrite:    `creat truncate rename renameat renameat2 mkdir mkdirat rmdir link linkat unlink unlinkat symlink symlinkat chmod fchmodat chown lchown fchownat mknod mknodat utimensat setxattr lsetxattr removexattr lremovexattr`,
		touchState:    `rt_sigaction chdir fchdir getcwd umask alarm setitimer timer_create timer_settime timer_delete setrlimit prlimit64`,
		touchShared:   `setpgid setsid getpgrp getpgid getsid getpriority setpriority prctl`,
		touchSegment:  `shmget shmat shmdt shmctl`,
		touchMappings: `mmap munmap mremap mprotect madvise brk`,
		touchLife:     `kill tkill tgkill pidfd_send_signal getppid`,
		touchPoll:     `poll ppoll select pselect6 epoll_wait epoll_pwait`,
		touchFiles:    `close dup dup2 dup3 fcntl pipe pipe2 socket socketpair eventfd eventfd2 epoll_create epoll_create1 epoll_ctl memfd_create close_range pidfd_open`,
	} {
		for _, name := range strings.Fields(names) {
			out[name] = t
		}
	}
	return out
}()

// step is the place of the present call.
func (c *call) step(name, object string) site {
	if object != "" {
		name += " of " + object
	}
	return site{call: fmt.Sprintf("%s by process %d", name, c.p.PID), tid: c.t.TID}
}

// ordered notes what the call has done; before is the open file of its first argument when it began, -1 if that is none.
func (c *call) ordered(row *syscallRow, before int, v uint64, err error) {
	s := c.s
	o := s.order
	if o.why != "" {
		return
	}
	if w, waits := err.(blocked); waits {
		c.waits(row.name, before, wait(w))
		return // it is made again
	}
	if _, again := err.(needConcrete); again {
		return
	}
	what, known := touches[row.name]
	if !known {
		what = touchAnything
	}
	c.childMask(c.mask)
	if o.why != "" {
		return
	}
	c.lookups(row.name, what == touchWrite, err)
	if o.why != "" {
		return
	}
	k := c.t.strand
	switch what {
	case touchFile:
		c.fileStep(row.name, before, v, err)
	case touchRead, touchWrite:
		if err == nil && strings.HasPrefix(row.name, "open") || row.name == "creat" {
			c.descriptors(row.name, v)
		}
	case touchState:
		key, w := fmt.Sprintf("process %d", c.p.PID), c.step(row.name, "what its process has")
		if row.name == "prlimit64" && c.arg32(0) > 0 {
			key = fmt.Sprintf("process %d", c.arg32(0))
		}
		if row.name == "getcwd" || row.name == "rt_sigaction" && c.a[1] == 0 || row.name == "prlimit64" && c.a[2] == 0 {
			o.read(k, key, w)
		} else {
			o.write(k, key, w)
		}
	case touchPoll:
		c.pollStep(row.name, before)
	case touchFiles:
		if op := c.a[1]; row.name == "fcntl" && (op == unix.F_SETLK || op == unix.F_SETLKW || op == unix.F_OFD_SETLK || op == unix.F_OFD_SETLKW || op == unix.F_GETLK || op == unix.F_OFD_GETLK) {
			c.fileStep("flock", before, v, err)
		}
		switch w := c.step(row.name, "a descriptor"); {
		case row.name == "epoll_ctl":
			o.write(k, fmt.Sprintf("epoll %d", before), w)
		case row.name == "fcntl" && c.a[1] == unix.F_SETFL:
			o.write(k, fmt.Sprintf("flags %d", before), w)
		case row.name == "fcntl" && c.a[1] == unix.F_GETFL:
			o.read(k, fmt.Sprintf("flags %d", before), w)
		case row.name == "fcntl" && c.a[1] == unix.F_SETPIPE_SZ && err == nil:
			key, _ := s.channel(before, true)
			o.upset(k, key, w)
		case row.name == "fcntl" && c.a[1] == unix.F_SETFD && !s.lone():
			o.write(k, fmt.Sprintf("descriptors %d", c.p.PID), w)
		}
		if row.name != "epoll_ctl" && !(row.name == "fcntl" && c.a[1] != unix.F_DUPFD && c.a[1] != unix.F_DUPFD_CLOEXEC) {
			c.descriptors(row.name, v)
		}
	case touchLife:
		c.lifeStep(row.name)
	case touchShared:
		c.sharedStep(row.name)
	case touchSegment:
		c.segmentStep(row.name)
	case touchMappings:
		c.mappingStep(row.name, v, err)
	case touchAnything:
		c.anything(row.name)
	}
}

// anything: the call may conflict with whatever others do.
func (c *call) anything(name string) {
	for _, x := range c.s.order.others(c.t.strand) {
		c.s.order.conflict(c.step(name, ""), site{call: fmt.Sprintf("what process %d does", x.pid), tid: x.tid})
		return
	}
}

// state: the call looks at what its process has, the present folder say, which other threads may change.
func (c *call) state() {
	if !c.s.lone() {
		c.s.order.read(c.t.strand, fmt.Sprintf("process %d", c.p.PID), c.step("use", "what its process has"))
	}
}

// uses: the call uses a descriptor, which other threads may close.
func (c *call) uses(fd int) {
	if !c.s.lone() {
		c.s.order.read(c.t.strand, fmt.Sprintf("descriptor %d of %d", fd, c.p.PID), c.step("use", "a descriptor"))
	}
}

// usesAny is uses of descriptors that the call itself names.
func (c *call) usesAny(name string) {
	if !c.s.lone() {
		c.s.order.read(c.t.strand, fmt.Sprintf("descriptors %d", c.p.PID), c.step(name, "a descriptor"))
	}
}

// proc: a file below /proc shows what other processes, or threads of this one, do.
func (c *call) proc(name, path string) {
	rest, ok := strings.CutPrefix(path, "/proc/")
	if !ok {
		return
	}
	dir, more, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(dir)
	if err == nil && pid != c.p.PID || strings.HasPrefix(more, "task") && !c.s.lone() {
		c.anything(name)
	}
}

// opens are the flags of a call that opens a file.
func (c *call) opens(name string) int {
	if name == "openat" {
		return int(c.a[2])
	}
	return int(c.a[1])
}

// descriptors notes that the call changes its process's descriptors.
func (c *call) descriptors(name string, v uint64) {
	if o, w := c.s.order, c.step(name, "a descriptor"); !c.s.lone() {
		o.write(c.t.strand, fmt.Sprintf("descriptors %d", c.p.PID), w)
		fd := c.arg32(0)
		if strings.HasPrefix(name, "dup") && name != "dup" {
			fd = c.arg32(1)
		} else if name != "close" {
			fd = int(int32(v))
		}
		o.write(c.t.strand, fmt.Sprintf("descriptor %d of %d", fd, c.p.PID), w)
	}
}

// channel is the key of what is received from file i, or sent through it, and its name; "" if it is no channel.
func (s *System) channel(i int, sends bool) (key, name string) {
	f := s.files.get(i)
	if f == nil {
		return "", ""
	}
	switch f.Kind {
	case filePipe:
		n := f.In
		if sends || n < 0 {
			n = f.Out
		}
		return fmt.Sprintf("pipe %d", n), "a pipe"
	case fileSocket:
		n := f.Sock
		if k := s.socks.get(n); sends && k != nil && k.Other >= 0 {
			n = k.Other
		}
		return fmt.Sprintf("socket %d", n), "a socket"
	case fileEvent:
		return fmt.Sprintf("event %d", i), "an event counter"
	}
	return "", ""
}

// fileStep notes a call on open file i.
func (c *call) fileStep(name string, i int, v uint64, err error) {
	s, o, k := c.s, c.s.order, c.t.strand
	c.uses(c.arg32(0))
	f := s.files.get(i)
	if f == nil {
		return
	}
	nonblock := f.Flags&unix.O_NONBLOCK != 0 || (name == "recvfrom" || name == "recvmsg" || name == "sendto" || name == "sendmsg") && c.socketFlags(name)&unix.MSG_DONTWAIT != 0
	writes := strings.Contains(name, "write") || strings.HasPrefix(name, "send") && name != "sendfile"
	reads := strings.HasPrefix(name, "read") || strings.HasPrefix(name, "pread") || strings.HasPrefix(name, "recv")
	if name == "sendfile" || name == "splice" || name == "copy_file_range" {
		if err == nil {
			c.anything(name)
		}
		return
	}
	if f.Refs > 1 || !s.lone() {
		o.read(k, fmt.Sprintf("flags %d", i), c.step(name, "an open file"))
	}
	if name == "ioctl" && c.a[1] == 0x5421 { // FIONBIO
		o.write(k, fmt.Sprintf("flags %d", i), c.step(name, "an open file"))
	}
	if f.Kind == fileSocket {
		x, w := s.socks.get(f.Sock), c.step(name, "a socket")
		switch {
		case name == "connect":
			o.send(k, "connections", 0, w)
			return
		case name == "accept" || name == "accept4":
			if c.descriptors(name, v); err == nil {
				o.accepted(k, !nonblock, w)
			} else {
				o.peek(k, "connections", w)
			}
			return
		case name == "bind" || name == "listen":
			o.peek(k, "connections", w)
			o.write(k, "addresses", w)
			return
		case (reads || writes) && (x == nil || x.Other < 0):
			o.write(k, "datagrams", w)
			return
		}
	}
	if key, object := s.channel(i, writes); key != "" {
		w := c.step(name, object)
		n := int(v)
		switch {
		case reads && err == unix.EAGAIN, writes && err == unix.EAGAIN:
			o.peek(k, key, w)
		case reads && strings.HasPrefix(name, "recv") && c.socketFlags(name)&unix.MSG_PEEK != 0:
			o.peek(k, key, w)
		case reads && err == nil && f.Kind == fileEvent && !f.Sem:
			n, _ := c.p.Mem.ReadU(c.a[1], 8)
			o.drain(k, key, o.unaccounted(key, n), !nonblock, w)
		case reads && err == nil:
			left, whole := s.left(i)
			asked := c.asked(name)
			if f.Kind == fileEvent {
				n, asked = 1, 1
			}
			o.receive(k, key, n, asked, left, !nonblock, whole, w)
		case writes && err == nil:
			if f.Kind == fileEvent {
				b, _ := c.p.Mem.ReadU(c.a[1], 8)
				n = int(min(b, 1<<40))
			}
			if n -= c.was.Done; nonblock && (n < c.asked(name) && c.asked(name) < 1<<40 || !s.roomy(i, key, 0)) {
				o.peek(k, key, w)
			}
			o.send(k, key, n, w)
		case writes:
			o.refused(k, key, w)
		case name == "shutdown":
			other, _ := s.channel(i, true)
			if c.arg32(1) != unix.SHUT_WR {
				o.upset(k, key, w)
				o.upset(k, other, w)
			}
			o.closed(k, other, w)
		case name == "fstat" || strings.HasPrefix(name, "getsock") || name == "getpeername":
		case name == "setsockopt" || name == "ioctl":
			o.peek(k, key, w)
		}
		return
	}
	switch f.Kind {
	case fileStdin:
		o.write(k, "standard input", c.step(name, "standard input"))
	case fileOut, fileErr:
		if writes {
			where := map[fileKind]string{fileOut: "standard output", fileErr: "standard error"}[f.Kind]
			o.write(k, where, c.step(name, where))
			o.shows(k)
		}
	case fileTTY, fileMaster:
		o.write(k, "terminal", c.step(name, "a terminal"))
		o.shows(k)
	case fileDevice:
		o.write(k, "device", c.step(name, "the test's device"))
		o.shows(k)
	case fileLower, fileNode, fileDir:
		if n := s.nodes.get(f.Node); f.Node != 0 && n != nil && n.Obj != 0 && (reads || writes) && err == nil {
			off := uint64(f.Off) - v
			if strings.HasPrefix(name, "p") {
				off = c.a[3]
			}
			s.objectAccess(n.Obj+off, v, writes, c.step(name, f.Path))
		}
		offset, w := fmt.Sprintf("offset %d", i), c.step(name, f.Path)
		switch name {
		case "read", "readv":
			c.file(f.Path, f.Node, false, w)
			o.write(k, offset, w)
		case "write", "writev":
			c.file(f.Path, f.Node, true, w)
			o.write(k, offset, w)
		case "lseek":
			c.file(f.Path, f.Node, false, w)
			o.write(k, offset, w)
		case "getdents64":
			o.read(k, "folder "+f.Path, w)
			o.write(k, offset, w)
		case "pread64", "preadv", "fstat", "fgetxattr", "flistxattr", "ioctl":
			c.file(f.Path, f.Node, false, w)
			if f.Kind == fileDir {
				o.read(k, "folder "+f.Path, w)
			}
		default:
			c.file(f.Path, f.Node, true, w)
			if name == "ftruncate" || name == "fallocate" {
				s.cuts(f.Node, w)
			}
		}
	}
}

// waits notes that a call on open file i waits: it may do so for ever, and who else wants the same is told apart by the schedule.
func (c *call) waits(name string, i int, w wait) {
	switch {
	case touches[name] == touchPoll:
		c.usesAny(name)
		if f := c.s.files.get(i); f != nil && f.Kind == fileEpoll {
			c.s.order.write(c.t.strand, fmt.Sprintf("epoll %d", i), c.step(name, "a descriptor"))
		}
		return
	case touches[name] == touchRead: // of a FIFO
		c.lookups(name, false, nil)
		return
	case touches[name] != touchFile || c.s.files.get(i) == nil:
		return
	}
	c.uses(c.arg32(0))
	c.lookups(name, false, nil)
	o, k := c.s.order, c.t.strand
	if c.s.files.get(i).Refs > 1 || !c.s.lone() { // which may say that it does not wait
		o.read(k, fmt.Sprintf("flags %d", i), c.step(name, "an open file"))
	}
	switch m := c.step(name, "a socket"); name {
	case "connect":
		o.send(k, "connections", 0, m)
		return
	case "accept", "accept4":
		x := o.object("connections", "")
		o.against(o.here(k, m), x.reads)
		x.reads = o.noted(x.reads, o.here(k, m))
		return
	}
	writes := strings.Contains(name, "write") || strings.HasPrefix(name, "send")
	if key, object := c.s.channel(i, writes); key != "" {
		if n := w.Done - c.was.Done; writes && n > 0 { // what has gone so far
			o.send(k, key, n, c.step(name, object))
			return
		}
		x, m := o.object(key, ""), o.here(k, c.step(name, object))
		if writes {
			o.against(m, x.sends)
			x.sends = o.noted(x.sends, m)
		} else {
			o.against(m, x.reads)
			x.reads = o.noted(x.reads, m)
		}
	}
}

// asked is how many bytes the call would have taken.
func (c *call) asked(name string) int {
	switch name {
	case "read", "pread64", "recvfrom", "write", "pwrite64", "sendto":
		return int(min(c.a[2], 1<<40))
	}
	return 1 << 40 // of several buffers, more than there are at least
}

// socketFlags is what flags a call on a socket has.
func (c *call) socketFlags(name string) int {
	if name == "recvmsg" || name == "sendmsg" {
		return int(c.a[2])
	}
	return int(c.a[3])
}

// shut notes that the current task, or the process that ends with it, closes one descriptor of open file i.
func (s *System) shut(i int, last bool) {
	o := s.order
	if o == nil || o.why != "" || s.cur == nil {
		return
	}
	f := s.files.get(i)
	k, w := s.cur.strand, func(what string) site {
		return site{call: fmt.Sprintf("close of %s by process %d", what, s.cur.proc.PID), tid: s.cur.TID}
	}
	switch {
	case f.Kind == filePipe:
		if f.Out >= 0 {
			o.closed(k, fmt.Sprintf("pipe %d", f.Out), w("a pipe"))
		}
		if f.In >= 0 {
			o.dropped(k, fmt.Sprintf("pipe %d", f.In), last, w("a pipe"))
		}
	case f.Kind == fileSocket:
		if x := s.socks.get(f.Sock); x != nil && x.State == sockListening && last {
			o.peek(k, "connections", w("a socket"))
		}
		if x := s.socks.get(f.Sock); x != nil && x.Other >= 0 {
			o.closed(k, fmt.Sprintf("socket %d", x.Other), w("a socket"))
		}
		o.dropped(k, fmt.Sprintf("socket %d", f.Sock), last, w("a socket"))
	}
}

// adopted: the present task's process ends, and with it the parent of q.
func (s *System) adopted(q *Process) {
	if o := s.order; o != nil && o.why == "" {
		o.write(s.cur.strand, fmt.Sprintf("parent %d", q.PID), site{call: fmt.Sprintf("the end of process %d", s.cur.proc.PID), tid: s.cur.TID})
	}
}

// forgetChannel forgets a channel, or the offset of an open file, since its number may be given again.
func (s *System) forgetChannel(key string, i int) {
	if s.order != nil {
		delete(s.order.objects, fmt.Sprintf("%s %d", key, i))
	}
}

// signalled notes that the current task, or the end of its process, sends a signal that does something.
func (s *System) signalled(p *Process, t *Task, sig int) {
	o := s.order
	if o == nil || o.why != "" || s.cur == nil || p.Dead || s.cur.proc == p && (t == nil || t == s.cur) && len(s.tasks) == 1 {
		return
	}
	if t == s.cur || t == nil && p == s.cur.proc && s.lone() {
		return // to itself
	}
	o.conflict(site{call: fmt.Sprintf("%s from process %d", guest.SignalName(sig), s.cur.proc.PID), tid: s.cur.TID},
		site{call: fmt.Sprintf("what process %d does then", p.PID), tid: p.PID})
}

// single reports whether p has one task.
func (s *System) single(p *Process) bool {
	n := 0
	for _, t := range s.tasks {
		if t.proc == p {
			n++
		}
	}
	return n == 1
}

// awaits notes that the call waits for child pid, or as waitpid(2) says, which another thread may do.
func (c *call) awaits(pid int) {
	o := c.s.order
	if o == nil || o.why != "" || c.s.lone() {
		return
	}
	all, w := fmt.Sprintf("children %d", c.p.PID), c.step("wait for a child", "")
	if pid > 0 {
		o.read(c.t.strand, all, w)
		all = fmt.Sprintf("child %d", pid)
	}
	o.write(c.t.strand, all, w)
}

// reaped notes that the call has got news of child q, or of none (nil), of those that it asked for.
func (c *call) reaped(q *Process, pid int, hang bool) {
	s := c.s
	o := s.order
	if o == nil || o.why != "" {
		return
	}
	w := c.step("wait for a child", "")
	for _, x := range s.procs {
		if x == q || x.Parent != c.p.PID || pid > 0 && x.PID != pid {
			continue
		}
		// Another child might have come first; one that is not waited for might have ended by now.
		if q != nil && x.Dead && slices.Equal(o.ends[x.PID].join(o.ends[q.PID]), o.ends[x.PID]) {
			continue // it ended after q in any case
		}
		if !x.Dead && s.idle(x) {
			continue
		}
		o.conflict(w, site{call: fmt.Sprintf("the end of process %d", x.PID), tid: x.PID})
		return
	}
	if q == nil {
		return
	}
	if q.Dead {
		if !hang {
			for _, x := range o.others(c.t.strand) { // without waiting: it might not have ended yet
				if x.pid == q.PID {
					o.conflict(site{call: fmt.Sprintf("the end of process %d", q.PID), tid: q.PID}, w)
					return
				}
			}
		}
		s.waitedFor(c.t, q.PID)
	}
}

// idle reports whether no task of p has done anything since the order began.
func (s *System) idle(p *Process) bool {
	return !slices.ContainsFunc(s.tasks, func(t *Task) bool { return t.proc == p && !s.order.strands[t.strand].asleep })
}
