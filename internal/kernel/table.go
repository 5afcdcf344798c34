package kernel

import "strings"

// level is how faithful the model of a call is.
type level uint8

const (
	full    level = iota // as Linux does, for all arguments
	partial              // note says what is missing
	stub                 // accepts or refuses without modelling; note says what
	none                 // known by name only: ends the path as unsupported
)

func (l level) String() string { return [...]string{"full", "partial", "stub", "none"}[l] }

// syscallRow describes one system call.
type syscallRow struct {
	nr    uint64
	name  string
	nargs int
	level level
	note  string
	do    func(*call) (uint64, error)
}

// calls is the table of system calls, by number (arch/x86/entry/syscalls/syscall_64.tbl).
// To add a call: a row here, its method in the file of its area, and a case in
// the native comparison tests.
var calls = []syscallRow{
	{0, "read", 3, full, "", (*call).sysRead},
	{1, "write", 3, full, "", (*call).sysWrite},
	{2, "open", 3, partial, "no FIFOs or devices of the host, no name for what O_TMPFILE makes", (*call).sysOpen},
	{3, "close", 1, full, "", (*call).sysClose},
	{4, "stat", 2, partial, "reading does not set atime (noatime); files of the host have one time", (*call).sysStat},
	{5, "fstat", 2, partial, "as stat", (*call).sysFstat},
	{6, "lstat", 2, partial, "as stat", (*call).sysLstat},
	{7, "poll", 3, full, "", (*call).sysPoll},
	{8, "lseek", 3, partial, "no holes", (*call).sysLseek},
	{9, "mmap", 6, partial, "private and executable mappings, and shared ones of files that nobody has opened for writing, show the file as it was, with the size that it had; no shared memory that is written and executed, no huge pages", (*call).sysMmap},
	{10, "mprotect", 3, full, "", (*call).sysMprotect},
	{11, "munmap", 2, full, "", (*call).sysMunmap},
	{12, "brk", 1, full, "", (*call).sysBrk},
	{13, "rt_sigaction", 4, full, "", (*call).sysRtSigaction},
	{14, "rt_sigprocmask", 4, full, "", (*call).sysRtSigprocmask},
	{15, "rt_sigreturn", 0, full, "", (*call).sysRtSigreturn},
	{16, "ioctl", 3, partial, "FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, SIOCOUTQ; of terminals TCGETS, TCSETS and its like, TCFLSH, TIOC{G,S}WINSZ, TIOC{G,S}PGRP, TIOCSCTTY, TIOCNOTTY, TIOCGSID, TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER; no literal-next, reprint, flow control and packet mode; ENOTTY for others", (*call).sysIoctl},
	{17, "pread64", 4, full, "", (*call).sysPread},
	{18, "pwrite64", 4, full, "", (*call).sysPwrite},
	{19, "readv", 3, full, "", (*call).sysReadv},
	{20, "writev", 3, full, "", (*call).sysWritev},
	{21, "access", 2, full, "", (*call).sysAccess},
	{22, "pipe", 1, partial, "how much is taken is counted in bytes, not in pages", (*call).sysPipe},
	{23, "select", 5, partial, "the timeout is not updated", (*call).sysSelect},
	{24, "sched_yield", 0, full, "", (*call).sysYield},
	{25, "mremap", 5, partial, "no MREMAP_DONTUNMAP", (*call).sysMremap},
	{26, "msync", 3, full, "", (*call).sysMsync},
	{27, "mincore", 3, stub, "all pages resident", (*call).sysMincore},
	{28, "madvise", 3, partial, "MADV_DONTNEED; other advice is ignored or unsupported", (*call).sysMadvise},
	{29, "shmget", 3, partial, "identifiers as those of the first 64 segments", (*call).sysShmget},
	{30, "shmat", 3, partial, "no SHM_EXEC", (*call).sysShmat},
	{31, "shmctl", 3, partial, "IPC_STAT, IPC_SET, IPC_RMID; locking has no effect", (*call).sysShmctl},
	{32, "dup", 1, full, "", (*call).sysDup},
	{33, "dup2", 2, full, "", (*call).sysDup2},
	{34, "pause", 0, full, "", (*call).sysPause},
	{35, "nanosleep", 2, full, "", (*call).sysNanosleep},
	{36, "getitimer", 2, full, "", (*call).sysGetitimer},
	{37, "alarm", 1, full, "", (*call).sysAlarm},
	{38, "setitimer", 3, partial, "ITIMER_VIRTUAL and ITIMER_PROF count the instructions of all processes", (*call).sysSetitimer},
	{39, "getpid", 0, full, "", (*call).sysGetpid},
	{40, "sendfile", 4, partial, "from regular files", (*call).sysSendfile},
	{41, "socket", 3, partial, "AF_UNIX; TCP and UDP on the loopback; no raw sockets", (*call).sysSocket},
	{42, "connect", 3, partial, "the loopback, else ENETUNREACH; a full backlog holds up AF_UNIX only", (*call).sysConnect},
	{43, "accept", 3, full, "", (*call).sysAccept},
	{44, "sendto", 6, partial, "no MSG_OOB; MSG_MORE and MSG_ZEROCOPY are ignored; how much TCP and UDP buffer is approximate", (*call).sysSendto},
	{45, "recvfrom", 6, partial, "no MSG_OOB", (*call).sysRecvfrom},
	{46, "sendmsg", 3, partial, "as sendto; SCM_RIGHTS and SCM_CREDENTIALS; sockets in flight in a cycle stay open", (*call).sysSendmsg},
	{47, "recvmsg", 3, partial, "as recvfrom; control messages of AF_UNIX", (*call).sysRecvmsg},
	{48, "shutdown", 2, full, "", (*call).sysShutdown},
	{49, "bind", 3, partial, "addresses of the loopback; nothing is in TIME_WAIT", (*call).sysBind},
	{50, "listen", 2, full, "", (*call).sysListen},
	{51, "getsockname", 3, full, "", (*call).sysGetsockname},
	{52, "getpeername", 3, full, "", (*call).sysGetpeername},
	{53, "socketpair", 4, full, "", (*call).sysSocketpair},
	{54, "setsockopt", 5, partial, "the options of sockopt.go, else ENOPROTOOPT; timers and routing have no effect", (*call).sysSetsockopt},
	{55, "getsockopt", 5, partial, "as setsockopt", (*call).sysGetsockopt},
	{56, "clone", 5, partial, "threads, fork and vfork; no namespaces", (*call).sysClone},
	{57, "fork", 0, partial, "not with shared writable memory", (*call).sysFork},
	{58, "vfork", 0, full, "", (*call).sysVfork},
	{59, "execve", 3, full, "", (*call).sysExecve},
	{60, "exit", 1, partial, "no robust futexes", (*call).sysExit},
	{61, "wait4", 4, partial, "resource usage is zero", (*call).sysWait4},
	{62, "kill", 2, full, "", (*call).sysKill},
	{63, "uname", 1, full, "", (*call).sysUname},
	{67, "shmdt", 1, full, "", (*call).sysShmdt},
	{72, "fcntl", 3, partial, "locks always succeed; F_SETOWN and F_NOTIFY have no effect", (*call).sysFcntl},
	{73, "flock", 2, stub, "always succeeds", (*call).sysFd},
	{74, "fsync", 1, full, "", (*call).sysFsync},
	{75, "fdatasync", 1, full, "", (*call).sysFsync},
	{76, "truncate", 2, full, "", (*call).sysTruncate},
	{77, "ftruncate", 2, full, "", (*call).sysFtruncate},
	{78, "getdents", 3, none, "", nil},
	{79, "getcwd", 2, full, "", (*call).sysGetcwd},
	{80, "chdir", 1, full, "", (*call).sysChdir},
	{81, "fchdir", 1, full, "", (*call).sysFchdir},
	{82, "rename", 2, full, "", (*call).sysRename},
	{83, "mkdir", 2, full, "", (*call).sysMkdir},
	{84, "rmdir", 1, full, "", (*call).sysRmdir},
	{85, "creat", 2, full, "", (*call).sysCreat},
	{86, "link", 2, full, "", (*call).sysLink},
	{87, "unlink", 1, full, "", (*call).sysUnlink},
	{88, "symlink", 2, full, "", (*call).sysSymlink},
	{89, "readlink", 3, full, "", (*call).sysReadlink},
	{90, "chmod", 2, full, "", (*call).sysChmod},
	{91, "fchmod", 2, partial, "no effect on pipes and sockets without a name, and on devices", (*call).sysFchmod},
	{92, "chown", 3, full, "", (*call).sysChown},
	{93, "fchown", 3, partial, "as fchmod", (*call).sysFchown},
	{94, "lchown", 3, full, "", (*call).sysLchown},
	{95, "umask", 1, full, "", (*call).sysUmask},
	{96, "gettimeofday", 2, full, "", (*call).sysGettimeofday},
	{97, "getrlimit", 2, full, "", (*call).sysGetrlimit},
	{98, "getrusage", 2, partial, "user time and memory", (*call).sysGetrusage},
	{99, "sysinfo", 1, partial, "memory and uptime", (*call).sysSysinfo},
	{100, "times", 1, partial, "user time only", (*call).sysTimes},
	{101, "ptrace", 4, stub, "EPERM", (*call).sysPerm},
	{102, "getuid", 0, full, "", (*call).sysGetuid},
	{103, "syslog", 3, stub, "EPERM", (*call).sysPerm},
	{104, "getgid", 0, full, "", (*call).sysGetgid},
	{105, "setuid", 1, partial, "only to the present id", (*call).sysSetuid},
	{106, "setgid", 1, partial, "only to the present id", (*call).sysSetgid},
	{107, "geteuid", 0, full, "", (*call).sysGetuid},
	{108, "getegid", 0, full, "", (*call).sysGetgid},
	{109, "setpgid", 2, full, "", (*call).sysSetpgid},
	{110, "getppid", 0, full, "", (*call).sysGetppid},
	{111, "getpgrp", 0, full, "", (*call).sysGetpgrp},
	{112, "setsid", 0, full, "", (*call).sysSetsid},
	{113, "setreuid", 2, partial, "only to the present id", (*call).sysSetreuid},
	{114, "setregid", 2, partial, "only to the present id", (*call).sysSetregid},
	{115, "getgroups", 2, full, "", (*call).sysGetgroups},
	{116, "setgroups", 2, stub, "EPERM", (*call).sysPerm},
	{117, "setresuid", 3, partial, "only to the present id", (*call).sysSetresuid},
	{118, "getresuid", 3, full, "", (*call).sysGetresuid},
	{119, "setresgid", 3, partial, "only to the present id", (*call).sysSetresgid},
	{120, "getresgid", 3, full, "", (*call).sysGetresgid},
	{121, "getpgid", 1, full, "", (*call).sysGetpgid},
	{124, "getsid", 1, full, "", (*call).sysGetsid},
	{127, "rt_sigpending", 2, full, "", (*call).sysRtSigpending},
	{128, "rt_sigtimedwait", 4, full, "", (*call).sysRtSigtimedwait},
	{130, "rt_sigsuspend", 2, full, "", (*call).sysRtSigsuspend},
	{131, "sigaltstack", 2, full, "", (*call).sysSigaltstack},
	{133, "mknod", 3, partial, "no devices (EPERM)", (*call).sysMknod},
	{134, "uselib", 1, stub, "ENOSYS", (*call).sysNoSys},
	{136, "ustat", 2, stub, "ENOSYS", (*call).sysNoSys},
	{137, "statfs", 2, stub, "one large tmpfs, half full", (*call).sysStatfs},
	{138, "fstatfs", 2, stub, "one large tmpfs, half full", (*call).sysFstatfs},
	{139, "sysfs", 3, stub, "ENOSYS", (*call).sysNoSys},
	{140, "getpriority", 2, full, "", (*call).sysGetpriority},
	{141, "setpriority", 3, partial, "kept, but all tasks have the same share", (*call).sysSetpriority},
	{142, "sched_setparam", 2, stub, "no effect", (*call).sysOK},
	{143, "sched_getparam", 2, stub, "priority 0", (*call).sysSchedGetparam},
	{144, "sched_setscheduler", 3, stub, "no effect, but for what is refused", (*call).sysSchedSetscheduler},
	{145, "sched_getscheduler", 1, stub, "SCHED_OTHER", (*call).sysOK},
	{146, "sched_get_priority_max", 1, full, "", (*call).sysSchedPriorityMax},
	{147, "sched_get_priority_min", 1, full, "", (*call).sysSchedPriority},
	{149, "mlock", 2, stub, "no effect", (*call).sysMlock},
	{150, "munlock", 2, stub, "no effect", (*call).sysMapped},
	{153, "vhangup", 0, stub, "EPERM", (*call).sysPerm},
	{154, "modify_ldt", 3, stub, "ENOSYS", (*call).sysNoSys},
	{155, "pivot_root", 2, stub, "EPERM", (*call).sysPerm},
	{156, "_sysctl", 1, stub, "ENOSYS", (*call).sysNoSys},
	{157, "prctl", 5, partial, "names; what has no effect here is told again; EINVAL for others", (*call).sysPrctl},
	{158, "arch_prctl", 2, partial, "FS and GS; EINVAL for others", (*call).sysArchPrctl},
	{159, "adjtimex", 1, stub, "EPERM", (*call).sysPerm},
	{160, "setrlimit", 2, partial, "NOFILE, NPROC, FSIZE and AS have an effect", (*call).sysSetrlimit},
	{161, "chroot", 1, stub, "EPERM", (*call).sysPerm},
	{162, "sync", 0, full, "", (*call).sysOK},
	{163, "acct", 1, stub, "EPERM", (*call).sysPerm},
	{164, "settimeofday", 2, stub, "EPERM", (*call).sysPerm},
	{165, "mount", 5, stub, "EPERM", (*call).sysPerm},
	{166, "umount2", 2, stub, "EPERM", (*call).sysPerm},
	{167, "swapon", 2, stub, "EPERM", (*call).sysPerm},
	{168, "swapoff", 1, stub, "EPERM", (*call).sysPerm},
	{169, "reboot", 4, stub, "EPERM", (*call).sysPerm},
	{170, "sethostname", 2, stub, "EPERM", (*call).sysPerm},
	{171, "setdomainname", 2, stub, "EPERM", (*call).sysPerm},
	{172, "iopl", 1, stub, "EPERM", (*call).sysPerm},
	{173, "ioperm", 3, stub, "EPERM", (*call).sysPerm},
	{175, "init_module", 3, stub, "EPERM", (*call).sysPerm},
	{176, "delete_module", 2, stub, "EPERM", (*call).sysPerm},
	{179, "quotactl", 4, stub, "EPERM", (*call).sysPerm},
	{186, "gettid", 0, full, "", (*call).sysGettid},
	{187, "readahead", 3, stub, "no effect", (*call).sysFd},
	{188, "setxattr", 5, partial, "not those of the host's files; user, trusted and security only", (*call).sysSetxattr},
	{189, "lsetxattr", 5, partial, "not those of the host's files; user, trusted and security only", (*call).sysLsetxattr},
	{190, "fsetxattr", 5, partial, "not those of the host's files; user, trusted and security only", (*call).sysFsetxattr},
	{191, "getxattr", 4, partial, "not those of the host's files; user, trusted and security only", (*call).sysGetxattr},
	{192, "lgetxattr", 4, partial, "not those of the host's files; user, trusted and security only", (*call).sysLgetxattr},
	{193, "fgetxattr", 4, partial, "not those of the host's files; user, trusted and security only", (*call).sysFgetxattr},
	{194, "listxattr", 3, partial, "not those of the host's files; user, trusted and security only", (*call).sysListxattr},
	{195, "llistxattr", 3, partial, "not those of the host's files; user, trusted and security only", (*call).sysLlistxattr},
	{196, "flistxattr", 3, partial, "not those of the host's files; user, trusted and security only", (*call).sysFlistxattr},
	{197, "removexattr", 2, partial, "not those of the host's files; user, trusted and security only", (*call).sysRemovexattr},
	{198, "lremovexattr", 2, partial, "not those of the host's files; user, trusted and security only", (*call).sysLremovexattr},
	{199, "fremovexattr", 2, partial, "not those of the host's files; user, trusted and security only", (*call).sysFremovexattr},
	{200, "tkill", 2, full, "", (*call).sysTkill},
	{201, "time", 1, full, "", (*call).sysTime},
	{202, "futex", 6, partial, "no priority inheritance (ENOSYS)", (*call).sysFutex},
	{203, "sched_setaffinity", 3, stub, "no effect: one processor", (*call).sysOK},
	{204, "sched_getaffinity", 3, full, "", (*call).sysSchedGetaffinity},
	{206, "io_setup", 2, stub, "ENOSYS", (*call).sysNoSys},
	{207, "io_destroy", 1, stub, "ENOSYS", (*call).sysNoSys},
	{213, "epoll_create", 1, full, "", (*call).sysEpollCreate},
	{216, "remap_file_pages", 5, stub, "ENOSYS", (*call).sysNoSys},
	{217, "getdents64", 3, full, "", (*call).sysGetdents64},
	{218, "set_tid_address", 1, full, "", (*call).sysSetTidAddress},
	{221, "fadvise64", 4, stub, "no effect", (*call).sysFadvise},
	{222, "timer_create", 3, partial, "no processor-time clocks", (*call).sysTimerCreate},
	{223, "timer_settime", 4, full, "", (*call).sysTimerSettime},
	{224, "timer_gettime", 2, full, "", (*call).sysTimerGettime},
	{225, "timer_getoverrun", 1, stub, "always 0", (*call).sysTimerGetoverrun},
	{226, "timer_delete", 1, full, "", (*call).sysTimerDelete},
	{227, "clock_settime", 2, stub, "EPERM", (*call).sysPerm},
	{228, "clock_gettime", 2, full, "", (*call).sysClockGettime},
	{229, "clock_getres", 2, full, "", (*call).sysClockGetres},
	{230, "clock_nanosleep", 4, full, "", (*call).sysClockNanosleep},
	{231, "exit_group", 1, full, "", (*call).sysExitGroup},
	{232, "epoll_wait", 4, full, "", (*call).sysEpollWait},
	{233, "epoll_ctl", 4, partial, "no nested epoll", (*call).sysEpollCtl},
	{234, "tgkill", 3, full, "", (*call).sysTgkill},
	{237, "mbind", 6, stub, "ENOSYS", (*call).sysNoSys},
	{239, "get_mempolicy", 5, stub, "ENOSYS", (*call).sysNoSys},
	{246, "kexec_load", 4, stub, "EPERM", (*call).sysPerm},
	{247, "waitid", 5, partial, "ended children only", (*call).sysWaitid},
	{248, "add_key", 5, stub, "EPERM", (*call).sysPerm},
	{249, "request_key", 4, stub, "EPERM", (*call).sysPerm},
	{250, "keyctl", 5, stub, "EPERM", (*call).sysPerm},
	{253, "inotify_init", 0, stub, "ENOSYS", (*call).sysNoSys},
	{257, "openat", 4, partial, "as open", (*call).sysOpenat},
	{258, "mkdirat", 3, full, "", (*call).sysMkdirat},
	{259, "mknodat", 4, partial, "no devices (EPERM)", (*call).sysMknodat},
	{260, "fchownat", 5, full, "", (*call).sysFchownat},
	{262, "newfstatat", 4, partial, "as stat", (*call).sysNewfstatat},
	{263, "unlinkat", 3, full, "", (*call).sysUnlinkat},
	{264, "renameat", 4, full, "", (*call).sysRenameat},
	{265, "linkat", 5, partial, "no AT_EMPTY_PATH", (*call).sysLinkat},
	{266, "symlinkat", 3, full, "", (*call).sysSymlinkat},
	{267, "readlinkat", 4, full, "", (*call).sysReadlinkat},
	{268, "fchmodat", 3, full, "", (*call).sysFchmodat},
	{269, "faccessat", 3, full, "", (*call).sysFaccessat},
	{270, "pselect6", 6, partial, "the timeout is not updated", (*call).sysPselect6},
	{271, "ppoll", 5, partial, "the timeout is not updated", (*call).sysPpoll},
	{272, "unshare", 1, stub, "EPERM", (*call).sysPerm},
	{273, "set_robust_list", 2, stub, "no robust futexes", (*call).sysOK},
	{275, "splice", 6, partial, "pipes and regular files", (*call).sysSplice},
	{280, "utimensat", 4, full, "", (*call).sysUtimensat},
	{281, "epoll_pwait", 6, full, "", (*call).sysEpollPwait},
	{283, "timerfd_create", 2, none, "", nil},
	{284, "eventfd", 1, full, "", (*call).sysEventfd},
	{285, "fallocate", 4, partial, "mode 0, FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE, as tmpfs", (*call).sysFallocate},
	{288, "accept4", 4, full, "", (*call).sysAccept4},
	{289, "signalfd4", 4, none, "", nil},
	{290, "eventfd2", 2, full, "", (*call).sysEventfd2},
	{291, "epoll_create1", 1, full, "", (*call).sysEpollCreate1},
	{292, "dup3", 3, full, "", (*call).sysDup3},
	{293, "pipe2", 2, partial, "O_DIRECT keeps no packets apart; how much is taken is counted in bytes, not in pages", (*call).sysPipe2},
	{294, "inotify_init1", 1, stub, "ENOSYS", (*call).sysNoSys},
	{295, "preadv", 4, full, "", (*call).sysPreadv},
	{296, "pwritev", 4, full, "", (*call).sysPwritev},
	{298, "perf_event_open", 5, stub, "EPERM", (*call).sysPerm},
	{299, "recvmmsg", 5, none, "", nil},
	{300, "fanotify_init", 2, stub, "EPERM", (*call).sysPerm},
	{302, "prlimit64", 4, partial, "NOFILE, NPROC, FSIZE and AS have an effect", (*call).sysPrlimit64},
	{304, "open_by_handle_at", 3, stub, "EPERM", (*call).sysPerm},
	{305, "clock_adjtime", 2, stub, "EPERM", (*call).sysPerm},
	{307, "sendmmsg", 4, none, "", nil},
	{308, "setns", 2, stub, "EPERM", (*call).sysPerm},
	{309, "getcpu", 3, full, "", (*call).sysGetcpu},
	{310, "process_vm_readv", 6, stub, "EPERM", (*call).sysPerm},
	{311, "process_vm_writev", 6, stub, "EPERM", (*call).sysPerm},
	{312, "kcmp", 5, stub, "EPERM", (*call).sysPerm},
	{313, "finit_module", 3, stub, "EPERM", (*call).sysPerm},
	{314, "sched_setattr", 3, stub, "ENOSYS", (*call).sysNoSys},
	{315, "sched_getattr", 4, stub, "ENOSYS", (*call).sysNoSys},
	{316, "renameat2", 5, partial, "RENAME_NOREPLACE", (*call).sysRenameat2},
	{317, "seccomp", 3, stub, "ENOSYS", (*call).sysNoSys},
	{318, "getrandom", 3, full, "", (*call).sysGetrandom},
	{319, "memfd_create", 2, partial, "no sealing", (*call).sysMemfdCreate},
	{320, "kexec_file_load", 5, stub, "EPERM", (*call).sysPerm},
	{321, "bpf", 3, stub, "EPERM", (*call).sysPerm},
	{322, "execveat", 5, full, "", (*call).sysExecveat},
	{323, "userfaultfd", 1, stub, "ENOSYS", (*call).sysNoSys},
	{324, "membarrier", 3, stub, "ENOSYS", (*call).sysNoSys},
	{326, "copy_file_range", 6, partial, "not within one file", (*call).sysCopyFileRange},
	{332, "statx", 5, stub, "ENOSYS: glibc uses newfstatat", (*call).sysAnother},
	{334, "rseq", 4, stub, "ENOSYS", (*call).sysRseq},
	{424, "pidfd_send_signal", 4, partial, "no siginfo of one's own", (*call).sysPidfdSendSignal},
	{425, "io_uring_setup", 2, stub, "ENOSYS", (*call).sysNoSys},
	{428, "open_tree", 3, stub, "EPERM", (*call).sysPerm},
	{429, "move_mount", 5, stub, "EPERM", (*call).sysPerm},
	{430, "fsopen", 2, stub, "EPERM", (*call).sysPerm},
	{434, "pidfd_open", 2, full, "", (*call).sysPidfdOpen},
	{435, "clone3", 2, stub, "ENOSYS: glibc uses clone", (*call).sysAnother},
	{436, "close_range", 3, full, "", (*call).sysCloseRange},
	{437, "openat2", 4, stub, "ENOSYS", (*call).sysAnother},
	{438, "pidfd_getfd", 3, stub, "EPERM", (*call).sysPerm},
	{439, "faccessat2", 4, full, "", (*call).sysFaccessat2},
	{440, "process_madvise", 5, stub, "EPERM", (*call).sysPerm},
	{441, "epoll_pwait2", 6, stub, "ENOSYS", (*call).sysAnother},
	{442, "mount_setattr", 5, stub, "EPERM", (*call).sysPerm},
	{444, "landlock_create_ruleset", 3, stub, "ENOSYS", (*call).sysNoSys},
	{447, "memfd_secret", 1, stub, "ENOSYS", (*call).sysNoSys},
	{449, "futex_waitv", 5, stub, "ENOSYS", (*call).sysNoSys},
}

var callIndex = func() map[uint64]*syscallRow {
	m := make(map[uint64]*syscallRow, len(calls))
	for i := range calls {
		m[calls[i].nr] = &calls[i]
	}
	return m
}()

func rowOf(nr uint64) *syscallRow {
	if nr >= x32Calls {
		return &noSuchCall
	}
	return callIndex[nr]
}

// x32Calls is the first number of the calls of x32, which most kernels lack.
const x32Calls = 0x4000_0000

var noSuchCall = syscallRow{name: "x32", level: stub, note: "ENOSYS", do: (*call).sysNoSys}

// NumArgs returns how many arguments a call takes: as many argument registers must
// be concrete. It is 6 for a call that the table lacks.
func NumArgs(nr uint64) int {
	if r := rowOf(nr); r != nil {
		return r.nargs
	}
	return 6
}

// Modelled returns the names of the calls, by number, that a program may use: those that do more than fail.
func Modelled() map[uint64]string {
	m := map[uint64]string{}
	for _, r := range calls {
		refuses := r.level == stub && (strings.HasPrefix(r.note, "ENOSYS") || strings.HasPrefix(r.note, "EPERM"))
		if r.level != none && !refuses {
			m[r.nr] = r.name
		}
	}
	return m
}
