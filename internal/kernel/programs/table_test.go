package programs

import "golang.org/x/sys/unix"

// table is the calls that programs make.
var table = []row{
	// Open files.
	{"open", files | names | polls | memory, 14, func(g *gen) args { return args{g.path(), g.openFlags(), g.mode()} }, givesFd(aFile | aDir | aMapped)},
	{"openat", names, 4, func(g *gen) args { return args{g.dirfd(), g.path(), g.openFlags(), g.mode()} }, givesFd(aFile | aDir)},
	{"open", names, 4, func(g *gen) args { return args{g.path(), g.one(0, oDirectory, oPath), 0} }, givesFd(aDir)},
	{"open", files | polls, 3, func(g *gen) args {
		return args{str(g.text("/dev/null", "/dev/zero", "/dev/full")), g.one(0, 1, 2) | g.flags(oNonblock, oAppend), 0}
	}, givesFd(aFile)},
	{"creat", files, 1, func(g *gen) args { return args{g.path(), g.mode()} }, givesFd(aFile)},
	{"read", files | pipes | sockets | polls, 12, func(g *gen) args { return args{g.fd(anyKind), g.out(40), g.size()} }, givesMemory(1)},
	{"write", files | pipes | sockets | polls | names, 16, func(g *gen) args { return args{g.fd(anyKind), g.in(), g.one(0, 1, 1, 1, 3)} }, nil},
	{"write", files | pipes, 4, func(g *gen) args { return args{g.fd(aFile | aPipe), g.inBytes(), g.size()} }, nil},
	{"write", pipes | polls, 1, func(g *gen) args { return args{g.fd(aPipe), buf(70000), g.one(4096, 4097, 65535, 65536, 70000)} }, nil},
	{"pread64", files, 4, func(g *gen) args { return args{g.fd(aFile), g.out(40), g.size(), g.offset()} }, givesMemory(1)},
	{"pwrite64", files | memory, 5, func(g *gen) args { return args{g.fd(aFile), g.inBytes(), g.size(), g.offset()} }, nil},
	{"readv", files | pipes | sockets, 3, func(g *gen) args { v, n := g.vec(false); return args{g.fd(anyKind), v, n} }, nil},
	{"writev", files | pipes | sockets, 3, func(g *gen) args { v, n := g.vec(true); return args{g.fd(anyKind), v, n} }, nil},
	{"preadv", files, 2, func(g *gen) args { v, n := g.vec(false); return args{g.fd(aFile), v, n, g.offset(), 0} }, nil},
	{"pwritev", files, 2, func(g *gen) args { v, n := g.vec(true); return args{g.fd(aFile), v, n, g.offset(), 0} }, nil},
	{"lseek", files, 6, func(g *gen) args { return args{g.fd(aFile), g.offset(), g.one(0, 0, 1, 1, 2, 2, 3, 4, 5, -1)} }, nil},
	{"close", files | pipes | sockets | polls | names, 6, func(g *gen) args { return args{g.fd(anyKind)} }, nil},
	{"dup", files | pipes | sockets | polls, 3, func(g *gen) args { return args{g.fd(anyKind)} }, givesFd(aFile | aPipe | aSocket)},
	{"dup2", files | pipes | polls, 2, func(g *gen) args { return args{g.fd(anyKind), g.one(0, 1, 3, 5, 7, -1, 1023, 1024, 5000)} }, givesFd(aFile | aPipe | aSocket)},
	{"dup3", files | pipes, 2, func(g *gen) args {
		return args{g.fd(anyKind), g.one(0, 1, 3, 5, 7, -1, 1024), g.one(0, 0, oCloexec, 1)}
	}, givesFd(aFile | aPipe)},
	{"fcntl", files | pipes | sockets | polls, 4, func(g *gen) args {
		return args{g.fd(anyKind), g.one(unix.F_DUPFD, unix.F_DUPFD_CLOEXEC), g.one(0, 3, 10, -1, 1023, 1024, 5000)}
	}, givesFd(aFile | aPipe | aSocket)},
	{"fcntl", files | pipes | sockets, 3, func(g *gen) args { return args{g.fd(anyKind), unix.F_GETFL, 0} }, nil},
	{"fcntl", files | pipes | sockets | polls, 3, func(g *gen) args {
		return args{g.fd(anyKind), unix.F_SETFL, g.flags(oAppend, oNonblock, oNonblock, oWronly, oTrunc)}
	}, nil},
	{"fcntl", files, 2, func(g *gen) args { return args{g.fd(anyKind), g.one(unix.F_GETFD, unix.F_SETFD), g.n(4)} }, nil},
	{"fcntl", pipes, 2, func(g *gen) args {
		return args{g.fd(aPipe), g.one(unix.F_GETPIPE_SZ, unix.F_SETPIPE_SZ), g.one(0, 1, 4096, 4097, 8192, -1)}
	}, nil},
	{"ioctl", files | pipes | sockets, 3, func(g *gen) args { return args{g.fd(anyKind), unix.TIOCINQ, g.out(4)} }, nil},
	{"ioctl", files | pipes | sockets, 2, func(g *gen) args { return args{g.fd(anyKind), 0x5421, rec{uint32(g.n(3))}} }, nil},
	{"ioctl", files, 1, func(g *gen) args { return args{g.fd(anyKind), g.one(0x5450, 0x5451, unix.TCGETS, 12345), buf(64)} }, nil},
	{"close_range", files, 1, func(g *gen) args { return args{g.one(0, 1, 3, 4), g.one(0, 2, 3, 5, 100), g.one(0, 0, 4, 1)} }, nil},
	{"sendfile", files | pipes | sockets, 3, func(g *gen) args {
		return args{g.fd(aPipe | aFile | aSocket), g.fd(aFile), g.offsetAt(), g.one(0, 1, 10, 100)}
	}, nil},
	{"copy_file_range", files, 3, func(g *gen) args {
		return args{g.fd(aFile), g.offsetAt(), g.fd(aFile), g.offsetAt(), g.one(0, 1, 10, 100), g.one(0, 0, 0, 1)}
	}, nil},
	{"splice", files | pipes, 3, func(g *gen) args {
		return args{g.fd(aFile | aPipe), g.offsetAt(), g.fd(aFile | aPipe), g.offsetAt(), g.one(0, 1, 10, 100), g.flags(1, 2, 2)}
	}, nil},
	{"ftruncate", files | memory, 4, func(g *gen) args { return args{g.fd(aFile), g.offset()} }, nil},
	{"truncate", files | names, 2, func(g *gen) args { return args{g.path(), g.offset()} }, nil},
	{"fallocate", files, 2, func(g *gen) args { return args{g.fd(aFile), g.one(0, 0, 1, 2, 3), g.offset(), g.offset()} }, nil},
	{"open", files, 1, func(g *gen) args {
		return args{g.path(), g.one(1, 2, 2, 0) | 0x410000 | g.one(0, 0, 0, 0x40, 0x80), 0o640}
	}, givesFd(aFile)},
	{"fsync", files, 1, func(g *gen) args { return args{g.fd(anyKind)} }, nil},
	{"flock", files, 1, func(g *gen) args { return args{g.fd(anyKind), g.one(1, 2, 8) | 4} }, nil},
	{"fadvise64", files, 1, func(g *gen) args { return args{g.fd(anyKind), 0, 0, g.one(0, 4, 9)} }, nil},
	{"memfd_create", files | memory, 2, func(g *gen) args { return args{str("m"), g.one(0, 0, 1, 32)} }, givesFd(aFile | aMapped)},

	// Names.
	{"stat", names | files, 4, func(g *gen) args { return args{g.path(), g.out(144)} }, nil},
	{"lstat", names | files, 4, func(g *gen) args { return args{g.path(), g.out(144)} }, nil},
	{"fstat", names | files | pipes | sockets, 3, func(g *gen) args { return args{g.fd(anyKind), g.out(144)} }, nil},
	{"newfstatat", names, 3, func(g *gen) args { return args{g.dirfd(), g.path(), g.out(144), g.one(0, 0x100, 0x1000, 0x800, 1)} }, nil},
	{"access", names, 2, func(g *gen) args { return args{g.path(), g.one(0, 1, 2, 4, 7, 8)} }, nil},
	{"faccessat2", names, 1, func(g *gen) args {
		return args{g.dirfd(), g.path(), g.one(0, 1, 2, 4, 7, 8), g.one(0, 0x100, 0x200, 0x1000, 1)}
	}, nil},
	{"mkdir", names | files, 8, func(g *gen) args { return args{g.path(), g.mode()} }, nil},
	{"mkdirat", names, 2, func(g *gen) args { return args{g.dirfd(), g.path(), g.mode()} }, nil},
	{"rmdir", names, 4, func(g *gen) args { return args{g.path()} }, nil},
	{"unlink", names | files, 4, func(g *gen) args { return args{g.path()} }, nil},
	{"unlinkat", names, 3, func(g *gen) args { return args{g.dirfd(), g.path(), g.one(0, 0, 0x200, 1)} }, nil},
	{"rename", names | files, 6, func(g *gen) args { return args{g.path(), g.path()} }, nil},
	{"renameat2", names, 3, func(g *gen) args { return args{g.dirfd(), g.path(), g.dirfd(), g.path(), g.one(0, 0, 1, 8)} }, nil},
	{"link", names | files, 4, func(g *gen) args { return args{g.path(), g.path()} }, nil},
	{"linkat", names, 2, func(g *gen) args { return args{g.dirfd(), g.path(), g.dirfd(), g.path(), g.one(0, 0x400, 1)} }, nil},
	{"symlink", names | files, 5, func(g *gen) args { return args{g.path(), g.path()} }, nil},
	{"symlinkat", names, 1, func(g *gen) args { return args{g.path(), g.dirfd(), g.path()} }, nil},
	{"readlink", names, 3, func(g *gen) args { return args{g.path(), g.out(40), g.one(0, 1, 40, -1)} }, nil},
	{"readlinkat", names, 1, func(g *gen) args { return args{g.dirfd(), g.path(), g.out(40), g.one(0, 1, 40)} }, nil},
	{"chmod", names | files, 3, func(g *gen) args { return args{g.path(), g.mode()} }, nil},
	{"fchmod", names | files, 2, func(g *gen) args { return args{g.fd(anyKind), g.mode()} }, nil},
	{"fchmodat", names, 1, func(g *gen) args { return args{g.dirfd(), g.path(), g.mode()} }, nil},
	{"chown", names, 1, func(g *gen) args { return args{g.path(), g.one(0, -1, 5), g.one(0, -1, 6)} }, nil},
	{"fchown", names, 1, func(g *gen) args { return args{g.fd(anyKind), g.one(0, -1, 5), g.one(0, -1, 6)} }, nil},
	{"lchown", names, 1, func(g *gen) args { return args{g.path(), g.one(0, -1, 5), g.one(0, -1, 6)} }, nil},
	{"fchownat", names, 1, func(g *gen) args {
		return args{g.dirfd(), g.path(), g.one(0, -1, 5), g.one(0, -1, 6), g.one(0, 0x100, 0x1000, 1)}
	}, nil},
	{"umask", names | files, 1, func(g *gen) args { return args{g.one(0, 0o22, 0o77, 0o777)} }, nil},
	{"utimensat", names, 2, func(g *gen) args {
		return args{g.dirfd(), g.path(), rec{uint64(5), uint64(6), uint64(7), uint64(g.one(8, 0x3fffffff, 0x3ffffffe, 1e9))}, g.one(0, 0x100, 1)}
	}, nil},
	{"getdents64", names, 3, func(g *gen) args { return args{g.fd(aDir), g.out(1024), g.one(1024, 1024, 10, 0)} }, nil},
	{"chdir", names | files, 2, func(g *gen) args { return args{g.path()} }, nil},
	{"fchdir", names, 2, func(g *gen) args { return args{g.fd(aDir)} }, nil},
	{"getcwd", names, 3, func(g *gen) args { return args{g.out(200), g.one(0, 1, 200, 200)} }, nil},
	{"mknod", names | files | pipes, 3, func(g *gen) args {
		return args{g.path(), g.mode() | g.one(0, unix.S_IFREG, unix.S_IFIFO, unix.S_IFIFO, unix.S_IFSOCK, unix.S_IFCHR, unix.S_IFDIR, 0o110000), 0}
	}, nil},
	{"open", pipes, 3, func(g *gen) args { return args{g.path(), g.one(0, 1, 2) | oNonblock, 0} }, givesFd(aPipe)},
	{"setxattr", names, 1, func(g *gen) args {
		return args{g.path(), g.attribute(), str("value"), g.one(0, 3, 5), g.one(0, 0, 1, 2, 4)}
	}, nil},
	{"getxattr", names, 1, func(g *gen) args { return args{g.path(), g.attribute(), g.out(20), g.one(0, 2, 20)} }, nil},
	{"listxattr", names, 1, func(g *gen) args { return args{g.path(), g.out(40), g.one(0, 2, 40)} }, nil},
	{"removexattr", names, 1, func(g *gen) args { return args{g.path(), g.attribute()} }, nil},

	// Pipes and events.
	{"pipe2", pipes | polls | tasks | signals, 8, func(g *gen) args {
		return args{g.out(8), g.one(0, oNonblock, oNonblock, oNonblock, oCloexec|oNonblock, oDirect, 1)}
	}, givesPair(aPipe, 0)},
	{"pipe", pipes, 1, func(g *gen) args { return args{g.out(8)} }, givesPair(aPipe, 0)},
	{"eventfd2", polls | pipes, 4, func(g *gen) args {
		return args{g.one(0, 1, 5, -1), g.one(oNonblock, oNonblock, oNonblock|1, oNonblock|oCloexec, 0, 2)}
	}, givesFd(anEvent)},
	{"write", polls | pipes, 4, func(g *gen) args {
		return args{g.fd(anEvent), rec{uint64(g.one(0, 1, 2, -1, -2, -3))}, g.one(8, 8, 8, 7)}
	}, nil},
	{"read", polls | pipes, 4, func(g *gen) args { return args{g.fd(anEvent), g.out(8), g.one(8, 8, 8, 7)} }, nil},

	// Readiness.
	{"poll", polls | pipes | sockets, 6, func(g *gen) args { v, n := g.pollfds(); return args{v, n, g.one(0, 0, 0, 1)} }, nil},
	{"ppoll", polls, 2, func(g *gen) args { v, n := g.pollfds(); return args{v, n, g.timespec(0, 0, 2000000), g.sigset(), 8} }, nil},
	{"select", polls, 3, func(g *gen) args {
		return args{g.one(0, 4, 8, 64, -1), g.fdset(), g.fdset(), g.fdset(), rec{uint64(0), uint64(0)}}
	}, nil},
	{"epoll_create1", polls, 5, func(g *gen) args { return args{g.one(0, 0, oCloexec, 1)} }, givesFd(anEpoll)},
	{"epoll_ctl", polls, 10, func(g *gen) args {
		ev := uint32(g.flags(1, 1, 4, 4, 8, 16, 0x2000) | g.one(0, 0, 0, 1<<31, 1<<30))
		return args{g.fd(anEpoll), g.one(1, 1, 1, 2, 3, 0), g.fd(anyKind &^ anEpoll), rec{ev, uint64(g.n(10))}}
	}, nil},
	{"epoll_wait", polls, 6, func(g *gen) args { return args{g.fd(anEpoll), g.out(48), g.one(1, 4, 4, 0, -1), g.one(0, 0, 0, 1)} }, nil},
	{"epoll_pwait", polls, 1, func(g *gen) args { return args{g.fd(anEpoll), g.out(48), 4, g.one(0, 0, 1), g.sigset(), 8} }, nil},

	// Sockets.
	{"socket", sockets | polls, 8, func(g *gen) args {
		return args{g.one(1, 1, 1, 2, 2, 10, 77), g.one(1, 1, 2, 5, 3) | g.one(oNonblock, oNonblock, oNonblock|oCloexec), g.one(0, 0, 0, 0, 6, 17)}
	}, givesFd(aSocket)},
	{"socketpair", sockets | polls, 8, func(g *gen) args {
		return args{g.one(1, 1, 1, 1, 1, 2), g.one(1, 1, 2, 5) | oNonblock | g.one(0, 0, oCloexec), g.one(0, 0, 0, 6), g.out(8)}
	}, givesPair(aSocket, 3)},
	{"bind", sockets, 8, func(g *gen) args { a, n := g.address(); return args{g.fd(aSocket), a, n} }, nil},
	{"listen", sockets, 6, func(g *gen) args { return args{g.fd(aSocket), g.one(0, 1, 5, -1)} }, nil},
	{"connect", sockets, 8, func(g *gen) args { a, n := g.address(); return args{g.fd(aSocket), a, n} }, nil},
	{"accept4", sockets, 5, func(g *gen) args {
		a, n := g.addressOut()
		return args{g.fd(aSocket), a, n, g.one(0, oNonblock, oNonblock, oCloexec, 1)}
	}, givesFd(aSocket)},
	{"sendto", sockets, 6, func(g *gen) args {
		a, n := any(0), 0
		if g.n(2) == 0 {
			a, n = g.address()
		}
		return args{g.fd(aSocket), g.inBytes(), g.size(), g.one(0x40, 0x40, 0x4040, 0x80|0x40), a, n}
	}, nil},
	{"recvfrom", sockets, 6, func(g *gen) args {
		a, n := g.addressOut()
		return args{g.fd(aSocket), g.out(40), g.size(), 0x40 | g.one(0, 0, 0, 2, 0x20, 0x100), a, n}
	}, nil},
	{"sendmsg", sockets, 4, func(g *gen) args { return args{g.fd(aSocket), g.message(true), g.one(0x40, 0x4040)} }, nil},
	{"recvmsg", sockets, 4, func(g *gen) args {
		return args{g.fd(aSocket), g.message(false), g.one(0x40, 0x40, 0x42, 0x60, 0x40000040)}
	}, nil},
	{"shutdown", sockets, 3, func(g *gen) args { return args{g.fd(aSocket), g.one(0, 1, 2, 3)} }, nil},
	{"getsockname", sockets, 2, func(g *gen) args { a, n := g.addressOut(); return args{g.fd(aSocket), a, n} }, nil},
	{"getpeername", sockets, 2, func(g *gen) args { a, n := g.addressOut(); return args{g.fd(aSocket), a, n} }, nil},
	{"setsockopt", sockets, 3, func(g *gen) args {
		return args{g.fd(aSocket), 1, g.one(2, 3, 6, 9, 16, 18, 99), rec{uint32(g.one(0, 1, 1, 100))}, g.one(4, 4, 4, 0, 3, 8)}
	}, nil},
	{"getsockopt", sockets, 3, func(g *gen) args {
		return args{g.fd(aSocket), 1, g.one(2, 3, 4, 6, 9, 16, 18, 30, 38, 39, 99), buf(8), rec{uint32(g.one(4, 4, 8, 2, 0))}}
	}, nil},

	// Signals.
	{"rt_sigaction", signals | tasks | times, 10, func(g *gen) args {
		h := any(sym("handler"))
		if g.n(3) == 0 {
			h = uint64(g.n(2))
		}
		flags := uint64(0x04000004 | g.flags(0x10000000, 0x40000000, 0x80000000, 0x08000000))
		if h == any(sym("handler")) && g.n(4) == 0 { // without SA_SIGINFO there is nothing but the number
			h, flags = sym("plain"), flags&^4
		}
		return args{g.signal(), rec{h, flags, sym("restorer"), g.sigset1()}, g.old(32), g.one(8, 8, 8, 8, 8, 4)}
	}, nil},
	{"rt_sigprocmask", signals | times, 6, func(g *gen) args { return args{g.one(0, 0, 1, 2, 2, 3), g.sigset(), g.old(8), 8} }, nil},
	{"rt_sigpending", signals, 2, func(g *gen) args { return args{g.out(8), 8} }, nil},
	{"rt_sigtimedwait", signals | times | tasks, 3, func(g *gen) args { return args{g.sigset(), g.old(128), g.timespec(0, 2000000), 8} }, nil},
	{"rt_sigsuspend", signals, 1, func(g *gen) args { return args{g.sigset(), 8} }, nil},
	{"kill", signals | tasks, 8, func(g *gen) args { return args{g.pid(), g.signal()} }, nil},
	{"tgkill", signals, 4, func(g *gen) args { return args{g.pid(), g.pid(), g.signal()} }, nil},
	{"tkill", signals, 1, func(g *gen) args { return args{g.pid(), g.signal()} }, nil},
	{"sigaltstack", signals, 2, func(g *gen) args {
		return args{rec{buf(8192), uint64(g.one(0, 0, 2, 1)), uint64(g.one(8192, 8192, 100))}, g.old(24)}
	}, nil},
	{"alarm", signals | times, 1, func(g *gen) args { return args{g.one(0, 100, 50)} }, nil},
	{"pause", signals, 1, func(g *gen) args { return nil }, nil},

	// Processes and threads.
	{"fork", tasks | signals | pipes | files, 4, func(g *gen) args { return args{g.task()} }, givesTask},
	{"fork", tasks, 6, func(g *gen) args { return args{g.task()} }, givesTask},
	{"vfork", tasks, 2, func(g *gen) args { return args{g.task()} }, givesTask},
	{"thread", tasks | memory, 3, func(g *gen) args { return args{g.task()} }, givesTask},
	{"wait4", tasks | signals, 8, func(g *gen) args { return args{g.pid(), g.old(4), g.one(0, 0, 0, 1, 2, 8, 1<<20), 0} }, nil},
	{"waitid", tasks, 3, func(g *gen) args {
		return args{g.one(0, 1, 1, 2, 5), g.pid(), g.old(128), g.one(4, 4, 5, 6, 0, 0x01000004), 0}
	}, nil},
	{"exit", tasks, 2, func(g *gen) args { return args{g.one(0, 1, 256, -1)} }, nil},
	{"exit_group", tasks, 1, func(g *gen) args { return args{g.one(0, 1, 256, -1)} }, nil},
	{"getpid", tasks, 2, func(g *gen) args { return nil }, nil},
	{"getppid", tasks, 2, func(g *gen) args { return nil }, nil},
	{"gettid", tasks, 2, func(g *gen) args { return nil }, nil},
	{"setpgid", tasks, 2, func(g *gen) args { return args{g.pid(), g.pid()} }, nil},
	{"getpgid", tasks, 2, func(g *gen) args { return args{g.pid()} }, nil},
	{"getpgrp", tasks, 1, func(g *gen) args { return nil }, nil},
	{"setsid", tasks, 1, func(g *gen) args { return nil }, nil},
	{"getsid", tasks, 1, func(g *gen) args { return args{g.pid()} }, nil},
	{"sched_yield", tasks, 1, func(g *gen) args { return nil }, nil},
	{"prctl", tasks, 1, func(g *gen) args { return args{g.one(15, 16), g.prctlName(), 0, 0, 0} }, nil},
	{"set_tid_address", tasks, 1, func(g *gen) args { return args{buf(4)} }, nil},
	{"pidfd_open", tasks | polls, 3, func(g *gen) args { return args{g.pid(), g.one(0, 0, oNonblock, 1)} }, givesFd(aPID)},
	{"pidfd_send_signal", tasks, 2, func(g *gen) args { return args{g.fd(aPID), g.signal(), 0, g.one(0, 0, 0, 9)} }, nil},
	{"getpriority", tasks, 1, func(g *gen) args { return args{g.one(0, 0, 1, 2, 3), g.pid()} }, nil},
	{"getrlimit", tasks | files, 1, func(g *gen) args { return args{g.one(1, 7, 16), g.out(16)} }, nil},
	{"setrlimit", files, 1, func(g *gen) args {
		return args{g.one(1, 7), rec{uint64(g.one(0, 3, 8, 100)), uint64(g.one(0, 8, 100, 4096))}}
	}, nil},
	{"prlimit64", tasks | files, 1, func(g *gen) args { return args{g.pid(), g.one(1, 7), 0, g.out(16)} }, nil},
	{"uname", tasks, 1, func(g *gen) args { return args{g.one(0, 1)} }, nil},
	{"getuid", tasks, 1, func(g *gen) args { return nil }, nil},
	{"getgroups", tasks, 1, func(g *gen) args { return args{-1, buf(8)} }, nil},
	{"futex", tasks | memory, 5, func(g *gen) args {
		word := any(buf(4))
		if len(g.mem) > 0 && g.n(2) == 0 {
			word = g.mem[g.n(len(g.mem))]
		}
		op := g.one(0, 0, 1, 1, 3, 4, 5, 9, 10) | g.one(0, 128)
		timeout := any(1)
		if op&127 == 0 {
			timeout = g.timespec(0, 2000000)
		} else if op&127 == 9 {
			timeout = g.timespec(0, 1) // absolute, long ago
		}
		return args{word, op, g.n(3), timeout, buf(4), g.one(0, 1, -1)}
	}, givesMemory(0)},

	// Memory. Mappings are where programs want them, so that what is beside them is the same.
	{"mmap", memory, 10, func(g *gen) args {
		if g.n(3) > 0 {
			return args{g.hint(), g.one(4096, 8192, 12288, 0, 100), g.one(3, 3, 3, 1, 0), g.one(0x22, 0x22, 0x21, 0x20, 0x02), -1, 0}
		}
		return args{g.hint(), g.one(4096, 8192, 100), g.one(1, 3, 3), g.one(1, 2, 2, 3), g.fd(aMapped), g.one(0, 0, 4096, 1)}
	}, nil},
	{"mmap", memory, 3, func(g *gen) args {
		return args{g.address1(), g.one(4096, 8192), g.one(3, 1, 0), g.one(0x32, 0x31, 0x100022), -1, 0}
	}, nil},
	{"munmap", memory, 4, func(g *gen) args { return args{g.address1(), g.one(4096, 4096, 8192, 1, 0)} }, nil},
	{"mprotect", memory, 5, func(g *gen) args { return args{g.address1(), g.one(4096, 4096, 8192, 1, 0), g.one(0, 1, 3, 3, 0x80)} }, nil},
	{"mremap", memory, 5, func(g *gen) args {
		return args{g.address1(), g.one(4096, 8192, 0), g.one(4096, 8192, 16384, 0), g.one(0, 0, 3, 3, 2, 8), g.hint()}
	}, nil},
	{"madvise", memory, 3, func(g *gen) args {
		return args{g.address1(), g.one(4096, 8192, 0, 100), g.one(0, 1, 2, 3, 4, 4, 4, 8, 77)}
	}, nil},
	{"msync", memory, 2, func(g *gen) args { return args{g.address1(), g.one(4096, 8192, 0), g.one(0, 1, 2, 4, 5, 8)} }, nil},
	{"mlock", memory, 1, func(g *gen) args { return args{g.address1(), g.one(4096, 8192, 0)} }, nil},
	{"peek", memory, 8, func(g *gen) args { return args{g.address1()} }, nil},
	{"poke", memory, 8, func(g *gen) args { return args{g.address1(), 1 + g.n(200)} }, nil},
	{"rt_sigaction", memory, 2, func(g *gen) args {
		return args{g.one(11, 7), rec{sym("handler"), uint64(0x04000004), sym("restorer"), uint64(0)}, 0, 8}
	}, nil},
	{"read", memory, 2, func(g *gen) args { return args{g.fd(aFile), g.address1(), g.one(0, 1, 10)} }, nil},
	{"write", memory, 2, func(g *gen) args { return args{g.fd(aFile | aPipe), g.address1(), g.one(0, 1, 10)} }, nil},

	// Time.
	{"nanosleep", times, 3, func(g *gen) args { return args{g.timespec(0, 2000000), g.old(16)} }, nil},
	{"clock_nanosleep", times, 3, func(g *gen) args {
		return args{g.one(0, 1, 7, 99, 4), g.one(0, 0, 1, 2), g.timespec(0, 2000000), g.old(16)}
	}, nil},
	{"clock_getres", times, 2, func(g *gen) args { return args{g.one(0, 1, 4, 7, 99, -1), g.out(16)} }, nil},
	{"clock_gettime", times, 2, func(g *gen) args { return args{g.one(0, 1, 4, 5, 6, 7, 99, 100), g.out(16)} }, nil},
	{"gettimeofday", times, 1, func(g *gen) args { return args{g.out(16), 0} }, nil},
	{"setitimer", times | signals, 3, func(g *gen) args {
		return args{g.one(0, 0, 0, 1, 3), rec{uint64(0), uint64(g.one(0, 0, 1e6)), uint64(g.one(0, 100)), uint64(g.one(0, 0, -1, 1e6))}, g.old(32)}
	}, nil},
	{"getitimer", times, 2, func(g *gen) args { return args{g.one(0, 1, 2, 3), g.out(32)} }, nil},
	{"timer_create", times, 4, func(g *gen) args {
		return args{g.one(0, 1, 7, 99), rec{uint64(7), uint32(g.signal()), uint32(g.one(0, 0, 0, 1, 3)), pad(48)}, g.out(4)}
	}, func(g *gen, id int) { g.pids = append(g.pids, word{id, 2, 0}) }},
	{"timer_settime", times, 4, func(g *gen) args {
		return args{g.pid(), g.one(0, 0, 1), rec{uint64(0), uint64(g.one(0, 0, 1e9)), uint64(g.one(0, 100)), uint64(g.one(0, 0, 1e9))}, g.old(32)}
	}, nil},
	{"timer_gettime", times, 2, func(g *gen) args { return args{g.pid(), g.out(32)} }, nil},
	{"timer_delete", times, 2, func(g *gen) args { return args{g.pid()} }, nil},
}

func (g *gen) text(l ...string) string { return l[g.n(len(l))] }

func (g *gen) attribute() any {
	return str(g.text("user.a", "user.b", "user.", "nothing", "user.a"))
}

func (g *gen) offsetAt() any {
	if g.n(2) == 0 {
		return 0
	}
	return rec{uint64(g.offset())}
}

// old is memory for what was before, or none.
func (g *gen) old(n int) any {
	if g.n(2) == 0 {
		return 0
	}
	return g.out(n)
}

func (g *gen) sigset1() any {
	if s, ok := g.sigset().(rec); ok {
		return s[0]
	}
	return uint64(0)
}

func (g *gen) pollfds() (any, int) {
	var v rec
	n := 1 + g.n(3)
	for range n {
		v = append(v, g.fd(anyKind), uint16(g.flags(1, 1, 4, 4, 2, 0x40, 0x100, 0x2000)), uint16(77))
	}
	return v, n
}

func (g *gen) fdset() any {
	if g.n(2) == 0 {
		return 0
	}
	return rec{uint64(g.one(0, 1, 2, 3, 7, 0x18, 0x80))}
}

// address is one to bind or to connect to.
func (g *gen) address() (any, int) {
	switch g.n(8) {
	case 0, 1:
		return rec{uint16(1), text(g.text("a", "b", "c/d", "e")), pad(1)}, g.one(4, 4, 6, 2)
	case 2, 3:
		return rec{uint16(1), text(g.text("\x00x", "\x00y", "\x00xy"))}, g.one(4, 5)
	case 4, 5, 6:
		port := g.n(3)
		return rec{uint16(2), uint8(78), uint8(port), text("\x7f\x00\x00\x01"), pad(8)}, g.one(16, 16, 16, 16, 8)
	}
	return rec{uint16(g.one(0, 2, 77)), pad(14)}, g.one(16, 2, 1, 0, 200)
}

func (g *gen) addressOut() (any, any) {
	if g.n(3) == 0 {
		return 0, 0
	}
	return g.out(128), rec{uint32(g.one(128, 128, 4, 0, -1))}
}

// message is a struct msghdr.
func (g *gen) message(send bool) any {
	v, n := g.vec(send)
	name, length := any(uint64(0)), 0
	if g.n(3) == 0 {
		if send {
			name, length = g.address()
		} else {
			name, length = buf(128), 128
		}
	}
	control, size := any(uint64(0)), 0
	switch {
	case g.n(3) > 0:
	case send:
		control, size = rec{uint64(20), uint32(1), uint32(g.one(1, 1, 1, 7)), g.fd(anyKind), pad(4)}, g.one(24, 24, 20, 10)
	default:
		control, size = buf(48), g.one(48, 24, 20, 16, 8)
	}
	return rec{name, uint32(length), pad(4), v, uint64(n), control, uint64(size), uint32(0), pad(4)}
}

// prctlName is a name of 15 characters or less, or memory for one.
func (g *gen) prctlName() any { return str(g.text("name", "a", "longer than is kept", "")) }

// hint is where the next mapping goes.
func (g *gen) hint() int {
	g.maps++
	return mapsAt + mapRoom*g.maps
}

// Where mappings go: nothing is there, in the machine or on Linux.
const mapsAt, mapRoom = 0x5000_0000, 1 << 20

// address1 is in or behind a mapping.
func (g *gen) address1() any {
	if g.maps == 0 || g.n(20) == 0 {
		return g.one(0, 0x10000, 4097)
	}
	return mapsAt + mapRoom*(1+g.n(g.maps)) + g.one(0, 0, 0, 4096, 4096, 8192, 1)
}

// givesTask adds a child, and lets it have the next steps.
func givesTask(g *gen, id int) {
	g.pids = append(g.pids, ref(id))
	if n := len(g.tasks) - 1; n > 0 && g.cur == 0 {
		g.cur = n
	}
}
