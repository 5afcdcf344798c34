package replay

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// A rule is a group of system calls and what the sandbox makes of them.
type rule struct {
	// why the group is allowed, bounded or refused.
	why   string
	calls []uint32
	// in is the mode the rule is for; empty is both.
	in Mode
	// when has to hold, all of it, for the call to take place. Otherwise it
	// fails with errno.
	when []test
	// errno of a call that does not take place; zero is EPERM.
	errno syscall.Errno
	// never says that it does not take place whatever its arguments are.
	never bool
	// seen says that whoever traces the process looks at what the call gave it, see leash.opened.
	seen bool
	// scope says that the call reaches other processes unless a process
	// namespace or Landlock's scope holds it back: without both it is for this
	// process only.
	scope bool
}

// A test looks at the lower half of one argument: with nothing but arg, for zero.
type test struct {
	arg   int
	mask  uint32   // of the bits looked at, zero is all; they have to be zero,
	oneOf []uint32 // or one of these,
	not   uint32   // or anything but this
	self  bool     // the number of the program's first process is good, too
	// scoped are more that are good where a process namespace or Landlock's
	// scope holds back what they do to other processes.
	scoped []uint32
}

// owners of files are sent signals by the kernel in the place of the process
// that said who they are, fcntl(2).
var owners = []uint32{unix.F_SETOWN, unix.F_SETOWN_EX}

// sharedTable is true of a clone(2) that is no thread with a table of descriptors of its own.
var sharedTable = test{arg: 0, mask: unix.CLONE_THREAD | unix.CLONE_FILES, not: unix.CLONE_THREAD}

// done is an errno that is none: the call returns 0.
const done = syscall.Errno(1 << 15)

const (
	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	truncating = unix.O_TRUNC | unix.O_ACCMODE
)

// families of sockets. Routing sockets (of no other protocol) tell the names of interfaces.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// commands of fcntl(2) that neither lock a file nor lease it.
var commands = []uint32{
	unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_DUPFD_QUERY, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_GETLK, unix.F_OFD_GETLK,
	unix.F_GETOWN, unix.F_GETOWN_EX, unix.F_SETSIG, unix.F_GETSIG, unix.F_GETLEASE, unix.F_NOTIFY,
	unix.F_SETPIPE_SZ, unix.F_GETPIPE_SZ, unix.F_ADD_SEALS, unix.F_GET_SEALS, unix.F_GET_RW_HINT, unix.F_SET_RW_HINT,
}

// requests of ioctl(2). Missing are those that put input into a terminal
// (TIOCSTI, TIOCLINUX), change its discipline or steal the console, and those
// that change a file's attributes (FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR).
var requests = []uint32{
	unix.TIOCINQ, fioNonBlock, fioCloExec, fioNotCloExec, fioAsync, fileBlock, unix.FICLONE, unix.FICLONERANGE,
	unix.FS_IOC_GETFLAGS, unix.TCGETS, unix.TCSETS, unix.TCSETSW, unix.TCSETSF, unix.TCGETS2, unix.TCSETS2, unix.TCSETSW2,
	unix.TCSETSF2, unix.TCGETA, unix.TCSETA, unix.TCSETAW, unix.TCSETAF, unix.TCSBRK, unix.TCSBRKP, unix.TCXONC, unix.TCFLSH,
	unix.TIOCGWINSZ, unix.TIOCSWINSZ, unix.TIOCGPGRP, unix.TIOCSPGRP, unix.TIOCSCTTY, unix.TIOCNOTTY, unix.TIOCGSID, unix.TIOCEXCL,
	unix.TIOCNXCL, unix.TIOCGEXCL, unix.TIOCOUTQ, unix.TIOCPKT, unix.TIOCGPKT, unix.TIOCGPTN, unix.TIOCSPTLCK, unix.TIOCGPTLCK, unix.TIOCGPTPEER,
	unix.SIOCGIFNAME, unix.SIOCGIFINDEX, unix.SIOCGIFCONF, unix.SIOCGIFFLAGS, unix.SIOCGIFADDR, unix.SIOCGIFNETMASK,
	unix.SIOCGIFBRDADDR, unix.SIOCGIFHWADDR, unix.SIOCGIFMTU, siocAtMark, siocGetStamp, siocGetPgrp,
}

const (
	siocGetPgrp   = 0x8904 // linux/sockios.h
	fioNonBlock   = 0x5421 // asm-generic/ioctls.h
	fioNotCloExec = 0x5450
	fioCloExec    = 0x5451
	fioAsync      = 0x5452
	fileBlock     = 2 // FIGETBSZ, linux/fs.h
	siocAtMark    = 0x8905
	siocGetStamp  = 0x8906
)

// allowed are the calls that may take place. To add one: into the group whose
// reason is true of it, or a group with a reason of its own; TestCallsAllowed
// holds this table against the machine's.
var allowed = []rule{
	{why: "bytes of descriptors", calls: []uint32{
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64,
		unix.SYS_PREADV, unix.SYS_PWRITEV, unix.SYS_PREADV2, unix.SYS_PWRITEV2, unix.SYS_LSEEK, unix.SYS_SENDFILE,
		unix.SYS_SPLICE, unix.SYS_TEE, unix.SYS_VMSPLICE, unix.SYS_COPY_FILE_RANGE, unix.SYS_READAHEAD, unix.SYS_FADVISE64,
		unix.SYS_FALLOCATE, unix.SYS_SYNC_FILE_RANGE, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FTRUNCATE,
		unix.SYS_CACHESTAT,
	}},
	{why: "descriptors", calls: []uint32{
		unix.SYS_CLOSE, unix.SYS_DUP, unix.SYS_DUP2, unix.SYS_DUP3,
		unix.SYS_PIPE, unix.SYS_PIPE2, unix.SYS_POLL, unix.SYS_PPOLL, unix.SYS_SELECT, unix.SYS_PSELECT6,
		unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT,
		unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD, unix.SYS_EVENTFD2, unix.SYS_SIGNALFD, unix.SYS_SIGNALFD4,
		unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMERFD_GETTIME, unix.SYS_INOTIFY_INIT,
		unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_INOTIFY_RM_WATCH,
	}},
	{why: "descriptors, of a table that all threads share, see clone", when: []test{{arg: 2, mask: unix.CLOSE_RANGE_UNSHARE}}, errno: unix.EINVAL, calls: []uint32{
		unix.SYS_CLOSE_RANGE,
	}},
	{why: "locks of files of its own", in: Namespaces, calls: []uint32{
		unix.SYS_FCNTL, unix.SYS_FLOCK,
	}},
	{why: "a lock on a file of the host would hold others up: told done, as the machine does", in: Landlock, errno: done, never: true, calls: []uint32{
		unix.SYS_FLOCK,
	}},
	{why: "as flock, and leases", in: Landlock, when: []test{{arg: 1, oneOf: commands, scoped: owners}}, errno: done, calls: []uint32{
		unix.SYS_FCNTL,
	}},
	{why: "files: the mounts or Landlock decide", calls: []uint32{
		unix.SYS_ACCESS, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_STAT, unix.SYS_FSTAT, unix.SYS_LSTAT,
		unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_GETDENTS, unix.SYS_GETDENTS64,
		unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
		unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_RMDIR, unix.SYS_CREAT, unix.SYS_LINK, unix.SYS_LINKAT, unix.SYS_UNLINK,
		unix.SYS_UNLINKAT, unix.SYS_SYMLINK, unix.SYS_SYMLINKAT, unix.SYS_READLINK, unix.SYS_READLINKAT, unix.SYS_MKNOD,
		unix.SYS_MKNODAT, unix.SYS_UMASK, unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_FGETXATTR, unix.SYS_LISTXATTR,
		unix.SYS_LLISTXATTR, unix.SYS_FLISTXATTR, unix.SYS_GETXATTRAT, unix.SYS_LISTXATTRAT,
	}},
	{why: "files: the mounts decide", in: Namespaces, calls: []uint32{
		unix.SYS_OPEN, unix.SYS_OPENAT, unix.SYS_TRUNCATE, unix.SYS_CHMOD, unix.SYS_FCHMOD,
		unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_CHOWN, unix.SYS_FCHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWNAT,
		unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_UTIMENSAT, unix.SYS_FUTIMESAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR,
		unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
		unix.SYS_REMOVEXATTRAT, unix.SYS_SYNCFS, unix.SYS_NAME_TO_HANDLE_AT,
	}},
	{why: "its flags are out of a filter's sight", in: Namespaces, errno: unix.ENOSYS, calls: []uint32{
		unix.SYS_OPENAT2,
	}},
	{why: "O_RDONLY|O_TRUNC empties a file; Landlock before version 3 lets it", in: Landlock, seen: true, when: []test{{arg: 1, mask: truncating, not: unix.O_TRUNC}}, calls: []uint32{
		unix.SYS_OPEN,
	}},
	{why: "as open", in: Landlock, seen: true, when: []test{{arg: 2, mask: truncating, not: unix.O_TRUNC}}, calls: []uint32{
		unix.SYS_OPENAT,
	}},
	{why: "memory", calls: []uint32{
		unix.SYS_MPROTECT, unix.SYS_MUNMAP, unix.SYS_BRK, unix.SYS_MREMAP, unix.SYS_MSYNC, unix.SYS_MINCORE,
		unix.SYS_MADVISE, unix.SYS_MLOCK, unix.SYS_MLOCK2, unix.SYS_MUNLOCK, unix.SYS_MLOCKALL, unix.SYS_MUNLOCKALL,
		unix.SYS_PKEY_MPROTECT, unix.SYS_PKEY_ALLOC, unix.SYS_PKEY_FREE, unix.SYS_MSEAL, unix.SYS_MAP_SHADOW_STACK,
		unix.SYS_MEMBARRIER, unix.SYS_MBIND, unix.SYS_SET_MEMPOLICY, unix.SYS_GET_MEMPOLICY,
		unix.SYS_SET_MEMPOLICY_HOME_NODE,
	}},
	{why: "signals", calls: []uint32{
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPENDING,
		unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_SIGSUSPEND, unix.SYS_SIGALTSTACK, unix.SYS_PAUSE, unix.SYS_RESTART_SYSCALL,
	}},
	{why: "time: read, not set", calls: []uint32{
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_GETTIMEOFDAY, unix.SYS_TIME, unix.SYS_CLOCK_GETTIME,
		unix.SYS_CLOCK_GETRES, unix.SYS_TIMES, unix.SYS_GETITIMER, unix.SYS_SETITIMER, unix.SYS_ALARM,
		unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_GETOVERRUN,
		unix.SYS_TIMER_DELETE,
	}},
	{why: "the process itself", calls: []uint32{
		unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID, unix.SYS_GETPGID, unix.SYS_GETPGRP, unix.SYS_GETSID,
		unix.SYS_SETPGID, unix.SYS_SETSID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
		unix.SYS_GETRESUID, unix.SYS_GETRESGID, unix.SYS_GETGROUPS, unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID,
		unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID, unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_CAPGET,
		unix.SYS_GETRLIMIT, unix.SYS_SETRLIMIT, unix.SYS_GETRUSAGE, unix.SYS_SYSINFO, unix.SYS_UNAME, unix.SYS_GETCPU,
		unix.SYS_GETRANDOM, unix.SYS_GETPRIORITY, unix.SYS_IOPRIO_GET, unix.SYS_PRCTL, unix.SYS_ARCH_PRCTL,
		unix.SYS_SET_TID_ADDRESS, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_EXIT,
		unix.SYS_EXIT_GROUP,
	}},
	{why: "processes", calls: []uint32{
		unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_WAIT4, unix.SYS_WAITID,
		unix.SYS_PIDFD_OPEN, unix.SYS_FUTEX, unix.SYS_FUTEX_WAITV, unix.SYS_FUTEX_WAKE, unix.SYS_FUTEX_WAIT,
		unix.SYS_FUTEX_REQUEUE,
	}},
	{why: "new processes and threads, in the same namespaces; threads of one process share its descriptors, or the watch would not see them", in: Namespaces, when: []test{{arg: 0, mask: newNamespaces}, sharedTable}, calls: []uint32{
		unix.SYS_CLONE,
	}},
	{why: "as in namespaces, and none that the leash would not see", in: Landlock, when: []test{{arg: 0, mask: newNamespaces | unix.CLONE_UNTRACED}, sharedTable}, calls: []uint32{
		unix.SYS_CLONE,
	}},
	{why: "the scheduler: reads, and yields", calls: []uint32{
		unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_GET_PRIORITY_MAX,
		unix.SYS_SCHED_GET_PRIORITY_MIN, unix.SYS_SCHED_RR_GET_INTERVAL, unix.SYS_SCHED_GETAFFINITY,
		unix.SYS_SCHED_GETATTR,
	}},
	{why: "the scheduler: this process only; that which watches it has threads with numbers, too", when: []test{{arg: 0, self: true}}, calls: []uint32{
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR,
		unix.SYS_PRLIMIT64,
	}},
	{why: "PRIO_PROCESS of this process only", when: []test{{arg: 0}, {arg: 1, self: true}}, calls: []uint32{
		unix.SYS_SETPRIORITY,
	}},
	{why: "IOPRIO_WHO_PROCESS of this process only", in: Namespaces, when: []test{{arg: 0, oneOf: []uint32{1}}, {arg: 1, self: true}}, calls: []uint32{
		unix.SYS_IOPRIO_SET,
	}},
	{why: "signals to others: the process namespace or Landlock's scope bounds them", scope: true, calls: []uint32{
		unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
		unix.SYS_PIDFD_SEND_SIGNAL,
	}},
	{why: "addresses stay as the replay wants them", when: []test{{arg: 0, oneOf: []uint32{0xffff_ffff, 0, addrNoRandomize}}}, calls: []uint32{
		unix.SYS_PERSONALITY,
	}},
	{why: "no huge pages: they come from a pool of the host's that no limit bounds", when: []test{{arg: 3, mask: unix.MAP_HUGETLB}}, errno: unix.ENOMEM, calls: []uint32{
		unix.SYS_MMAP,
	}},
	{why: "as mmap", when: []test{{arg: 1, mask: unix.MFD_HUGETLB}}, errno: unix.ENOMEM, calls: []uint32{
		unix.SYS_MEMFD_CREATE,
	}},
	{why: "requests of terminals, files and sockets that are harmless", when: []test{{arg: 1, oneOf: requests}}, errno: unix.ENOTTY, calls: []uint32{
		unix.SYS_IOCTL,
	}},
	{why: "sockets of a network of its own", in: Namespaces, calls: []uint32{
		unix.SYS_CONNECT, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_SENDTO,
		unix.SYS_RECVFROM, unix.SYS_SENDMSG, unix.SYS_RECVMSG, unix.SYS_SENDMMSG, unix.SYS_RECVMMSG, unix.SYS_SHUTDOWN,
		unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME, unix.SYS_SETSOCKOPT, unix.SYS_GETSOCKOPT,
	}},
	{why: "local, Internet and routing sockets", in: Namespaces, when: []test{{arg: 0, oneOf: families}}, errno: unix.EAFNOSUPPORT, calls: []uint32{
		unix.SYS_SOCKET,
	}},
	{why: "pairs", in: Namespaces, calls: []uint32{
		unix.SYS_SOCKETPAIR,
	}},
	{why: "a pair of streams reaches nobody else; without sendmsg no descriptor hides in it", in: Landlock, calls: []uint32{
		unix.SYS_SENDTO, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_RECVMMSG, unix.SYS_SHUTDOWN, unix.SYS_GETSOCKNAME,
		unix.SYS_GETPEERNAME, unix.SYS_SETSOCKOPT, unix.SYS_GETSOCKOPT,
	}},
	{why: "a datagram of a pair may be sent to any address", in: Landlock, when: []test{{arg: 1, mask: 0xf, oneOf: []uint32{unix.SOCK_STREAM}}}, calls: []uint32{
		unix.SYS_SOCKETPAIR,
	}},
	{why: "System V and POSIX queues, semaphores and shared memory of a namespace of their own", in: Namespaces, calls: []uint32{
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT, unix.SYS_SEMGET, unix.SYS_SEMOP,
		unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
		unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE, unix.SYS_MQ_NOTIFY,
		unix.SYS_MQ_GETSETATTR,
	}},
	{why: "tells success and does nothing: it would make the host write all its disks", errno: done, never: true, calls: []uint32{
		unix.SYS_SYNC,
	}},
}

// refused are calls that fail with EPERM, as they do for whoever has no rights.
// What stands in neither table fails with ENOSYS, as on a kernel that is older
// than the call: io_uring and clone3 (whose arguments no filter sees), Landlock
// and seccomp themselves, asynchronous I/O, secret memory, and what is yet to come.
var refused = []rule{
	{why: "change what the host is", calls: []uint32{
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS, unix.SYS_UNSHARE,
		unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_FSOPEN,
		unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_INIT_MODULE,
		unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_QUOTACTL,
		unix.SYS_QUOTACTL_FD, unix.SYS_ACCT, unix.SYS_VHANGUP, unix.SYS_SYSLOG,
	}},
	{why: "change the clock", calls: []uint32{
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	}},
	{why: "reach other processes", calls: []uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
		unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	}},
	{why: "large parts of the kernel that no test needs", calls: []uint32{
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_LOOKUP_DCOOKIE,
	}},
	{why: "keys outlive the process", calls: []uint32{
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	}},
	{why: "no rights are left that could change", calls: []uint32{
		unix.SYS_SETGROUPS, unix.SYS_CAPSET,
	}},
}
