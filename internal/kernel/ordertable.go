package kernel

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// touch says which of the steps of ordercalls.go notes what a call does.
type touch uint8

const (
	touchNothing  touch = iota // the words of its row say all
	touchFile                  // what its descriptor refers to, by what is done with it: see fileStep
	touchRead                  // files that it looks up, or its descriptor
	touchWrite                 // the same, and changes them and the folders they are in
	touchPoll                  // waits for files
	touchFlags                 // of fcntl(2) and epoll_ctl(2): see flagStep
	touchLife                  // asks whether a process lives, and what it has
	touchSegment               // memory of System V
	touchMappings              // memory of one's own, among which segments may be
	touchAnything              // what there is
)

func (t touch) String() string {
	return [...]string{"", "the file of its descriptor", "files by name", "files by name, changed", "files that it waits for", "open files", "processes", "segments", "memory", "anything"}[t]
}

// access is a row: what calls ask for and what they change, in words of things; a call that only asks has a row as well as one that changes. With
// only, the row is of those calls for which it holds; the first that holds counts.
//
// To add a call: its name in a row of the same kind, a sample in TestOrderPairs. Descriptors that it uses or changes need no word.
type access struct {
	calls         string
	only          func(*call) bool
	step          touch
	asks, changes string
}

// has is a condition: argument i is one of values, the int that it is.
func has(i int, values ...int) func(*call) bool {
	return func(c *call) bool {
		for _, v := range values {
			if c.arg32(i) == v {
				return true
			}
		}
		return false
	}
}

// null is a condition: argument i is no address.
func null(i int) func(*call) bool { return func(c *call) bool { return c.a[i] == 0 } }

// accesses is the table. Every call of calls has a row.
var accesses = []access{
	// What nobody else changes: time, random bytes, numbers of tasks, what a task has of its own, what the environment says.
	{calls: `getpid gettid uname gettimeofday time clock_gettime clock_getres getrusage times getrandom getcpu sync sched_yield nanosleep clock_nanosleep
		arch_prctl set_tid_address set_robust_list sigaltstack rt_sigprocmask rt_sigreturn
		sched_setparam sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max sched_get_priority_min sched_setaffinity sched_getaffinity`},
	// What is refused whatever the arguments are.
	{calls: `ptrace syslog uselib ustat sysfs vhangup modify_ldt pivot_root _sysctl adjtimex chroot acct settimeofday mount umount2 swapon swapoff reboot sethostname
		setdomainname iopl ioperm init_module delete_module quotactl io_setup io_destroy remap_file_pages clock_settime mbind get_mempolicy kexec_load add_key
		request_key keyctl inotify_init unshare inotify_init1 perf_event_open fanotify_init open_by_handle_at clock_adjtime setns process_vm_readv
		process_vm_writev kcmp finit_module sched_setattr sched_getattr seccomp kexec_file_load bpf userfaultfd membarrier statx rseq io_uring_setup open_tree
		move_mount fsopen clone3 openat2 pidfd_getfd process_madvise epoll_pwait2 mount_setattr landlock_create_ruleset memfd_secret futex_waitv`},
	// What the model does not have: the path ends.
	{calls: `getdents timerfd_create signalfd4 recvmmsg sendmmsg`, step: touchAnything},
	// What is noted where it happens (order.go, orderend.go, ordermap.go, ordersignal.go): tasks that are made, end and are waited for, signals, futexes.
	{calls: `clone fork vfork execve execveat exit exit_group wait4 waitid pause rt_sigpending rt_sigtimedwait rt_sigsuspend futex`},

	{calls: `read readv pread64 preadv write writev pwrite64 pwritev lseek ftruncate fallocate getdents64 fsetxattr fremovexattr fgetxattr flistxattr fchmod fchown
		fstat flock ioctl sendfile splice copy_file_range`, step: touchFile},
	{calls: `bind`, step: touchFile, asks: "mask"},
	{calls: `connect shutdown listen getsockname getpeername setsockopt getsockopt sendto recvfrom sendmsg recvmsg`, step: touchFile},
	{calls: `accept accept4`, step: touchFile, asks: "limits", changes: "numbers"},
	{calls: `fsync fdatasync readahead fadvise64 fstatfs`},

	{calls: `open openat`, step: touchRead, asks: "limits mask", changes: "numbers"},
	{calls: `stat lstat newfstatat access faccessat faccessat2 readlink readlinkat getxattr lgetxattr listxattr llistxattr statfs`, step: touchRead},
	{calls: `creat`, step: touchWrite, asks: "limits mask", changes: "numbers"},
	{calls: `mkdir mkdirat mknod mknodat`, step: touchWrite, asks: "mask"},
	{calls: `truncate`, step: touchWrite, asks: "limits"},
	{calls: `rename renameat renameat2 rmdir link linkat unlink unlinkat symlink symlinkat chmod fchmodat chown lchown fchownat utimensat
		setxattr lsetxattr removexattr lremovexattr`, step: touchWrite},

	{calls: `dup dup2 dup3 pipe pipe2 socket socketpair eventfd eventfd2 epoll_create epoll_create1 memfd_create`, asks: "limits", changes: "numbers"},
	{calls: `close close_range`, changes: "numbers"},
	{calls: `fcntl`, only: has(1, unix.F_DUPFD, unix.F_DUPFD_CLOEXEC), asks: "limits", changes: "numbers"},
	{calls: `fcntl`, only: has(1, unix.F_GETFD, unix.F_SETFD, unix.F_GETOWN, unix.F_SETOWN, unix.F_GETLEASE, unix.F_NOTIFY)},
	{calls: `fcntl epoll_ctl`, step: touchFlags},
	{calls: `poll ppoll select pselect6 epoll_wait epoll_pwait`, step: touchPoll, asks: "numbers"},

	{calls: `chdir`, step: touchRead, changes: "folder"},
	{calls: `fchdir`, changes: "folder"},
	{calls: `getcwd`, asks: "folder"},
	{calls: `umask`, changes: "mask"},
	{calls: `getuid getgid geteuid getegid getgroups getresuid getresgid`, asks: "ids"},
	{calls: `setuid setgid setreuid setregid setgroups setresuid setresgid`, changes: "ids"},
	{calls: `rt_sigaction`, only: null(1), asks: "handlers"},
	{calls: `rt_sigaction`, changes: "handlers"},
	{calls: `getitimer timer_gettime timer_getoverrun`, asks: "timers"},
	{calls: `alarm setitimer timer_create timer_settime timer_delete`, changes: "timers"},
	{calls: `getrlimit`, asks: "limits"},
	{calls: `setrlimit`, changes: "limits"},
	{calls: `prlimit64`, only: null(2), step: touchLife, asks: "limits"},
	{calls: `prlimit64`, step: touchLife, changes: "limits"},
	{calls: `sysinfo`, asks: "tasks"},

	{calls: `setpgid setsid`, step: touchLife, changes: "group"},
	{calls: `getpgrp getpgid getsid`, step: touchLife, asks: "group"},
	{calls: `getpriority setpriority`, only: has(0, unix.PRIO_PGRP, unix.PRIO_USER), step: touchAnything},
	{calls: `getpriority`, step: touchLife, asks: "priority"},
	{calls: `setpriority`, step: touchLife, changes: "priority"},
	{calls: `prctl`, only: has(0, unix.PR_GET_NAME), asks: "name"},
	{calls: `prctl`, only: has(0, unix.PR_SET_NAME), changes: "name"},
	{calls: `prctl`, changes: "state"}, // whatever it asks for: few programs do, and none in two threads
	{calls: `getppid`, asks: "parent"},
	{calls: `kill tkill tgkill pidfd_send_signal pidfd_open`, step: touchLife},

	{calls: `shmget shmat shmdt shmctl`, step: touchSegment},
	{calls: `mmap munmap mremap mprotect madvise brk msync mincore mlock munlock`, step: touchMappings},
}

// accessOf is the row of the present call; nil: it has none, and conflicts with every step of another task.
func (c *call) accessOf(name string) *access {
	for _, i := range accessRows[name] {
		if x := &accesses[i]; x.only == nil || x.only(c) {
			return x
		}
	}
	return nil
}

// accessRows are the rows of each call.
var accessRows = func() map[string][]int {
	m := map[string][]int{}
	for i := range accesses {
		for _, name := range strings.Fields(accesses[i].calls) {
			m[name] = append(m[name], i)
		}
	}
	return m
}()

// thing is a word of the table: an object that a process has one of.
type thing struct {
	what string // for people
	// alone: only threads of the process can see it, and so it is not noted where there are no others. The rest is of the process that the call names.
	alone bool
	key   string // with the process's number
}

var things = map[string]thing{
	"numbers":  {"a descriptor", true, "descriptors"}, // which descriptors there are
	"folder":   {"what its process has", true, "folder of"},
	"mask":     {"what its process has", true, "mask of"},
	"ids":      {"what its process has", true, "ids of"}, // of user and groups
	"handlers": {"what its process has", true, "handlers of"},
	"timers":   {"what its process has", true, "timers of"},
	"state":    {"what its process has", true, "state of"},
	"name":     {"the name", true, "name of"},
	"mappings": {"what is mapped", true, "mappings of"},
	"limits":   {"what its process has", false, "limits of"},
	"group":    {"the group", false, "group of"},
	"priority": {"the priority", false, "priority of"},
	"parent":   {"", false, "parent"},
	"tasks":    {"", false, "tasks"}, // how many there are
}

// thingKey is the object of a thing of process pid.
func thingKey(word string, pid int) string {
	if word == "tasks" {
		pid = 0
	}
	return fmt.Sprintf("%s %d", things[word].key, pid)
}

// touches notes what the words of a row say of process pid.
func (c *call) touches(name string, x *access, pid int) {
	for _, word := range strings.Fields(x.asks) {
		c.thing(name, word, pid, false)
	}
	for _, word := range strings.Fields(x.changes) {
		c.thing(name, word, pid, true)
	}
}

// thing notes one of them.
func (c *call) thing(name, word string, pid int, changes bool) {
	t, o := things[word], c.s.order
	if o.why != "" || t.alone && c.s.lone() {
		return
	}
	if w := c.step(name, t.what); changes && word != "numbers" { // of which each has an object of its own: see redone
		o.write(c.t.strand, thingKey(word, pid), w)
	} else {
		o.read(c.t.strand, thingKey(word, pid), w)
	}
}

// named is the process that the call asks for: by its number, or that of one of its tasks; else its own.
func (c *call) named(name string) int {
	pid := 0
	switch name {
	case "getpriority", "setpriority":
		pid = c.arg32(1)
	case "prlimit64", "setpgid", "getpgid", "getsid", "kill", "pidfd_open":
		pid = c.arg32(0)
	case "pidfd_send_signal":
		pid, _ = c.pidOf(c.arg32(0))
	}
	switch p := c.s.processOf(pid); {
	case pid == 0:
		return c.p.PID
	case p != nil:
		return p.PID
	}
	return pid
}
