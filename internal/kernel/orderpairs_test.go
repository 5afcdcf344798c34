package kernel

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"symchef/internal/ir"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// What the tasks of TestOrderPairs have before they part: descriptors, by number, memory and a segment.
const (
	pairFile   = iota + 3 // "f", 5 bytes
	pairSame              // the same open file
	pairOther             // "f", opened for appending
	pairFolder            // "d"
	pairR                 // a pipe with 3 bytes
	pairW                 //
	pairEmpty             // a pipe with none
	pairFill              //
	pairS                 // a pair of stream sockets
	pairT                 //
	pairEvent             // an event counter, 0
	pairPoll              // an epoll instance
	pairListen            // a socket that listens, "l"
	pairTCP               // a socket without an address
	pairMemory            // a file without a name
	pairTTY               // the master of a terminal
	pairD                 // a pair of datagram sockets
	pairE                 //
	pairSpare             // nothing

	pairMem = 0x2000_0000 // 4 pages
	pairMap = 0x2100_0000 // a shared mapping of pairMemory, a page
	pairIn  = scratch + 1<<17
	pairOut = 0x800
)

// out stands for where a task has room for results; each has its own, which is compared.
type out struct{}

// pairCall is a system call: its row's name and what else tells it apart, its number, its arguments: numbers, strings and other bytes in memory, out.
type pairCall struct {
	name string
	nr   uint64
	args []any
}

func pc(name string, nr uint64, args ...any) pairCall { return pairCall{name, nr, args} }

// le64 are words in memory.
func le64(w ...uint64) []byte {
	var b []byte
	for _, x := range w {
		for i := range 8 {
			b = append(b, byte(x>>(8*i)))
		}
	}
	return b
}

const cwdFd = uint64(0xffffff9c) // AT_FDCWD

// pairCalls are calls that ask for something or change it.
var pairCalls = []pairCall{
	pc("read", unix.SYS_READ, pairFile, out{}, 2),
	pc("read of a pipe", unix.SYS_READ, pairR, out{}, 2),
	pc("read of an empty pipe", unix.SYS_READ, pairEmpty, out{}, 2),
	pc("read of a socket", unix.SYS_READ, pairS, out{}, 2),
	pc("read of an event counter", unix.SYS_READ, pairEvent, out{}, 8),
	pc("read into memory", unix.SYS_READ, pairFolder, pairMem, 8),
	pc("write", unix.SYS_WRITE, pairFile, "abc", 3),
	pc("write behind the end", unix.SYS_WRITE, pairOther, "abc", 3),
	pc("write of a pipe", unix.SYS_WRITE, pairW, "abc", 3),
	pc("write of an empty pipe", unix.SYS_WRITE, pairFill, "abc", 3),
	pc("write of a socket", unix.SYS_WRITE, pairT, "abc", 3),
	pc("write of an event counter", unix.SYS_WRITE, pairEvent, le64(1), 8),
	pc("write of standard output", unix.SYS_WRITE, 1, "abc", 3),
	pc("write from memory", unix.SYS_WRITE, pairEvent, pairMem+4096, 7),
	pc("open", unix.SYS_OPEN, "f", unix.O_RDONLY, 0),
	pc("open and cut", unix.SYS_OPEN, "f", unix.O_RDWR|unix.O_TRUNC, 0),
	pc("open of what is not there", unix.SYS_OPEN, "new", unix.O_RDONLY, 0),
	pc("open and make", unix.SYS_OPEN, "new", unix.O_RDWR|unix.O_CREAT, 0o666),
	pc("close", unix.SYS_CLOSE, pairSame),
	pc("close of a pipe", unix.SYS_CLOSE, pairW),
	pc("close of nothing", unix.SYS_CLOSE, pairSpare),
	pc("stat", unix.SYS_STAT, "f", out{}),
	pc("stat of what is not there", unix.SYS_STAT, "new", out{}),
	pc("stat of a folder", unix.SYS_STAT, "d", out{}),
	pc("stat of a descriptor's name", unix.SYS_STAT, "/dev/fd/4", out{}),
	pc("fstat", unix.SYS_FSTAT, pairFile, out{}),
	pc("fstat of a pipe", unix.SYS_FSTAT, pairR, out{}),
	pc("fstat of a folder", unix.SYS_FSTAT, pairFolder, out{}),
	pc("fstat of nothing", unix.SYS_FSTAT, pairSpare, out{}),
	pc("lstat", unix.SYS_LSTAT, "link", out{}),
	pc("poll", unix.SYS_POLL, le64(pairEmpty|unix.POLLIN<<32, pairS|unix.POLLIN<<32), 2, 0),
	pc("ppoll", unix.SYS_PPOLL, le64(pairEmpty|unix.POLLIN<<32, pairSpare|unix.POLLIN<<32), 2, le64(0, 0), 0, 8),
	pc("select", unix.SYS_SELECT, 22, le64(1<<pairEmpty|1<<pairEvent), 0, 0, le64(0, 0)),
	pc("pselect6", unix.SYS_PSELECT6, 22, le64(1<<pairEmpty), 0, 0, le64(0, 0), 0),
	pc("lseek", unix.SYS_LSEEK, pairFile, 1, unix.SEEK_CUR),
	pc("lseek to the end", unix.SYS_LSEEK, pairOther, 0, unix.SEEK_END),
	pc("mmap", unix.SYS_MMAP, 0x2000_0000+2*4096, 4096, 1, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE, ^uint64(0), 0),
	pc("mmap over what is there", unix.SYS_MMAP, 0x2000_0000, 8192, 1, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED, ^uint64(0), 0),
	pc("mmap of a file", unix.SYS_MMAP, 0x2200_0000, 4096, 1, unix.MAP_SHARED|unix.MAP_FIXED, pairOther, 0),
	pc("mprotect", unix.SYS_MPROTECT, pairMem, 4096, 1),
	pc("munmap", unix.SYS_MUNMAP, pairMem, 4*4096),
	pc("brk", unix.SYS_BRK, 0),
	pc("rt_sigaction", unix.SYS_RT_SIGACTION, unix.SIGUSR1, le64(1, 0, 0, 0), out{}, 8),
	pc("rt_sigaction that asks", unix.SYS_RT_SIGACTION, unix.SIGUSR1, 0, out{}, 8),
	pc("rt_sigprocmask", unix.SYS_RT_SIGPROCMASK, 0, le64(1<<9), out{}, 8),
	pc("ioctl FIONREAD", unix.SYS_IOCTL, pairFile, unix.TIOCINQ, out{}),
	pc("ioctl FIONREAD of a pipe", unix.SYS_IOCTL, pairEmpty, unix.TIOCINQ, out{}),
	pc("ioctl FIONREAD of a socket", unix.SYS_IOCTL, pairS, unix.TIOCINQ, out{}),
	pc("ioctl SIOCOUTQ", unix.SYS_IOCTL, pairT, unix.TIOCOUTQ, out{}),
	pc("ioctl FIONBIO", unix.SYS_IOCTL, pairEmpty, 0x5421, le64(1)),
	pc("ioctl FIONBIO of a file", unix.SYS_IOCTL, pairFile, 0x5421, le64(1)),
	pc("ioctl FIOCLEX", unix.SYS_IOCTL, pairFile, 0x5451, 0),
	pc("pread64", unix.SYS_PREAD64, pairSame, out{}, 4, 2),
	pc("pwrite64", unix.SYS_PWRITE64, pairSame, "xyz", 3, 4),
	pc("readv", unix.SYS_READV, pairFile, le64(pairMem, 2), 1),
	pc("writev", unix.SYS_WRITEV, pairFile, le64(pairMem, 2), 1),
	pc("preadv", unix.SYS_PREADV, pairFile, le64(pairMem, 2), 1, 0),
	pc("pwritev", unix.SYS_PWRITEV, pairFile, le64(pairMem, 2), 1, 0),
	pc("access", unix.SYS_ACCESS, "f", unix.R_OK),
	pc("access of what is not there", unix.SYS_ACCESS, "d/new", 0),
	pc("access of a descriptor", unix.SYS_ACCESS, "/proc/self/fd/21", 0),
	pc("access of a descriptor by a link", unix.SYS_ACCESS, "tofd", 0),
	pc("pipe", unix.SYS_PIPE, out{}),
	pc("pipe2", unix.SYS_PIPE2, out{}, 0),
	pc("sched_yield", unix.SYS_SCHED_YIELD),
	pc("mremap", unix.SYS_MREMAP, pairMem, 4096*4, 4096, 0),
	pc("msync", unix.SYS_MSYNC, pairMem, 4096, unix.MS_SYNC),
	pc("msync of a shared mapping", unix.SYS_MSYNC, pairMap, 4096, unix.MS_SYNC),
	pc("mincore", unix.SYS_MINCORE, pairMem, 4*4096, out{}),
	pc("madvise", unix.SYS_MADVISE, pairMem, 4096, unix.MADV_DONTNEED),
	pc("madvise without effect", unix.SYS_MADVISE, pairMem, 4096, unix.MADV_NORMAL),
	pc("mlock", unix.SYS_MLOCK, pairMem, 4096),
	pc("munlock", unix.SYS_MUNLOCK, pairMem, 4096),
	pc("shmget", unix.SYS_SHMGET, 77, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o600),
	pc("shmat", unix.SYS_SHMAT, 0, 0x2300_0000, 0),
	pc("shmdt", unix.SYS_SHMDT, 0x2300_0000),
	pc("shmctl", unix.SYS_SHMCTL, 0, unix.IPC_STAT, out{}),
	pc("shmctl IPC_RMID", unix.SYS_SHMCTL, 0, unix.IPC_RMID, 0),
	pc("dup", unix.SYS_DUP, pairSame),
	pc("dup2", unix.SYS_DUP2, pairR, pairSame),
	pc("dup2 to a spare one", unix.SYS_DUP2, pairR, pairSpare),
	pc("dup3", unix.SYS_DUP3, pairOther, pairFile, unix.O_CLOEXEC),
	pc("getitimer", unix.SYS_GETITIMER, 0, out{}),
	pc("getitimer ITIMER_VIRTUAL", unix.SYS_GETITIMER, 1, out{}),
	pc("alarm", unix.SYS_ALARM, 1000),
	pc("setitimer", unix.SYS_SETITIMER, 0, le64(1000, 0, 2000, 0), out{}),
	pc("setitimer ITIMER_VIRTUAL", unix.SYS_SETITIMER, 1, le64(1000, 0, 2000, 0), out{}),
	pc("getpid", unix.SYS_GETPID),
	pc("gettid", unix.SYS_GETTID),
	pc("getppid", unix.SYS_GETPPID),
	pc("sendfile", unix.SYS_SENDFILE, pairT, pairSame, 0, 2),
	pc("copy_file_range", unix.SYS_COPY_FILE_RANGE, pairSame, 0, pairMemory, 0, 2, 0),
	pc("splice", unix.SYS_SPLICE, pairR, 0, pairOther, 0, 2, 0),
	pc("socket", unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0),
	pc("connect", unix.SYS_CONNECT, pairTCP, "\x01\x00l\x00", 4),
	pc("accept", unix.SYS_ACCEPT, pairListen, 0, 0),
	pc("accept4", unix.SYS_ACCEPT4, pairListen, 0, 0, unix.SOCK_NONBLOCK),
	pc("sendto", unix.SYS_SENDTO, pairT, "abc", 3, 0, 0, 0),
	pc("sendmsg", unix.SYS_SENDMSG, pairT, le64(0, 0, 0, 0, 0, 0, 0), 0),
	pc("recvfrom", unix.SYS_RECVFROM, pairS, out{}, 3, unix.MSG_DONTWAIT, 0, 0),
	pc("recvfrom and leave", unix.SYS_RECVFROM, pairS, out{}, 3, unix.MSG_DONTWAIT|unix.MSG_PEEK, 0, 0),
	pc("recvmsg", unix.SYS_RECVMSG, pairS, le64(0, 0, 0, 0, 0, 0, 0), unix.MSG_DONTWAIT),
	pc("shutdown", unix.SYS_SHUTDOWN, pairT, unix.SHUT_WR),
	pc("shutdown for reading", unix.SYS_SHUTDOWN, pairS, unix.SHUT_RD),
	pc("bind", unix.SYS_BIND, pairTCP, "\x01\x00b\x00", 4),
	pc("listen", unix.SYS_LISTEN, pairListen, 7),
	pc("listen again", unix.SYS_LISTEN, pairTCP, 7),
	pc("getsockname", unix.SYS_GETSOCKNAME, pairTCP, out{}, le64(20)),
	pc("getpeername", unix.SYS_GETPEERNAME, pairTCP, out{}, le64(20)),
	pc("getpeername of a pair", unix.SYS_GETPEERNAME, pairS, out{}, le64(20)),
	pc("socketpair", unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, out{}),
	pc("setsockopt", unix.SYS_SETSOCKOPT, pairS, unix.SOL_SOCKET, unix.SO_KEEPALIVE, le64(1), 4),
	pc("setsockopt SO_SNDBUF", unix.SYS_SETSOCKOPT, pairT, unix.SOL_SOCKET, unix.SO_SNDBUF, le64(9000), 4),
	pc("setsockopt SO_PASSCRED", unix.SYS_SETSOCKOPT, pairS, unix.SOL_SOCKET, unix.SO_PASSCRED, le64(1), 4),
	pc("getsockopt", unix.SYS_GETSOCKOPT, pairS, unix.SOL_SOCKET, unix.SO_KEEPALIVE, out{}, le64(4)),
	pc("getsockopt SO_SNDBUF", unix.SYS_GETSOCKOPT, pairT, unix.SOL_SOCKET, unix.SO_SNDBUF, out{}, le64(4)),
	pc("getsockopt SO_ERROR", unix.SYS_GETSOCKOPT, pairS, unix.SOL_SOCKET, unix.SO_ERROR, out{}, le64(4)),
	pc("getsockopt SO_ACCEPTCONN", unix.SYS_GETSOCKOPT, pairTCP, unix.SOL_SOCKET, unix.SO_ACCEPTCONN, out{}, le64(4)),
	pc("getsockopt SO_PEERCRED", unix.SYS_GETSOCKOPT, pairTCP, unix.SOL_SOCKET, unix.SO_PEERCRED, out{}, le64(12)),
	pc("wait4", unix.SYS_WAIT4, ^uint64(0), out{}, unix.WNOHANG, 0),
	pc("waitid", unix.SYS_WAITID, 0, 0, out{}, unix.WNOHANG|unix.WEXITED, 0),
	pc("kill of a process that is asked for", unix.SYS_KILL, 1001, 0),
	pc("uname", unix.SYS_UNAME, out{}),
	pc("fcntl F_DUPFD", unix.SYS_FCNTL, pairSame, unix.F_DUPFD, 3),
	pc("fcntl F_DUPFD_CLOEXEC", unix.SYS_FCNTL, pairSame, unix.F_DUPFD_CLOEXEC, 3),
	pc("fcntl F_GETFD", unix.SYS_FCNTL, pairFile, unix.F_GETFD, 0),
	pc("fcntl F_GETFD of nothing", unix.SYS_FCNTL, pairSpare, unix.F_GETFD, 0),
	pc("fcntl F_GETFD of a pipe", unix.SYS_FCNTL, pairW, unix.F_GETFD, 0),
	pc("fcntl F_SETFD", unix.SYS_FCNTL, pairFile, unix.F_SETFD, 1),
	pc("fcntl F_GETFL", unix.SYS_FCNTL, pairFile, unix.F_GETFL, 0),
	pc("fcntl F_SETFL", unix.SYS_FCNTL, pairFile, unix.F_SETFL, unix.O_APPEND),
	pc("fcntl F_SETFL of a pipe", unix.SYS_FCNTL, pairEmpty, unix.F_SETFL, unix.O_NONBLOCK),
	pc("fcntl F_GETFL of a pipe", unix.SYS_FCNTL, pairEmpty, unix.F_GETFL, 0),
	pc("fcntl F_GETPIPE_SZ", unix.SYS_FCNTL, pairR, unix.F_GETPIPE_SZ, 0),
	pc("fcntl F_SETPIPE_SZ", unix.SYS_FCNTL, pairR, unix.F_SETPIPE_SZ, 1<<18),
	pc("fcntl F_SETPIPE_SZ of the other end", unix.SYS_FCNTL, pairW, unix.F_SETPIPE_SZ, 1<<17),
	pc("fcntl F_SETLK", unix.SYS_FCNTL, pairFile, unix.F_SETLK, le64(1, 0, 0, 0)),
	pc("fcntl F_GETLK", unix.SYS_FCNTL, pairFile, unix.F_GETLK, le64(1, 0, 0, 0)),
	pc("fcntl F_GETOWN", unix.SYS_FCNTL, pairS, unix.F_GETOWN, 0),
	pc("flock", unix.SYS_FLOCK, pairFile, unix.LOCK_EX|unix.LOCK_NB),
	pc("fsync", unix.SYS_FSYNC, pairSame),
	pc("fdatasync of a pipe", unix.SYS_FDATASYNC, pairR),
	pc("truncate", unix.SYS_TRUNCATE, "f", 2),
	pc("ftruncate", unix.SYS_FTRUNCATE, pairFile, 9),
	pc("ftruncate of what is mapped", unix.SYS_FTRUNCATE, pairMemory, 0),
	pc("write from a shared mapping", unix.SYS_WRITE, pairFile, pairMap, 7),
	pc("getcwd", unix.SYS_GETCWD, out{}, 500),
	pc("chdir", unix.SYS_CHDIR, "d"),
	pc("fchdir", unix.SYS_FCHDIR, pairFolder),
	pc("rename", unix.SYS_RENAME, "g", "f"),
	pc("rename of a folder", unix.SYS_RENAME, "d", "e"),
	pc("renameat", unix.SYS_RENAMEAT, pairFolder, "x", cwdFd, "new"),
	pc("renameat2", unix.SYS_RENAMEAT2, cwdFd, "f", cwdFd, "g", unix.RENAME_NOREPLACE),
	pc("mkdir", unix.SYS_MKDIR, "new", 0o777),
	pc("mkdirat", unix.SYS_MKDIRAT, pairFolder, "new", 0o777),
	pc("rmdir", unix.SYS_RMDIR, "empty"),
	pc("creat", unix.SYS_CREAT, "f", 0o666),
	pc("link", unix.SYS_LINK, "f", "new"),
	pc("linkat", unix.SYS_LINKAT, cwdFd, "g", pairFolder, "new", 0),
	pc("unlink", unix.SYS_UNLINK, "f"),
	pc("unlinkat", unix.SYS_UNLINKAT, pairFolder, "x", 0),
	pc("symlink", unix.SYS_SYMLINK, "f", "new"),
	pc("symlinkat", unix.SYS_SYMLINKAT, "f", pairFolder, "new"),
	pc("readlink", unix.SYS_READLINK, "link", out{}, 100),
	pc("readlink of a descriptor", unix.SYS_READLINK, "/proc/self/fd/4", out{}, 100),
	pc("readlink of the present folder", unix.SYS_READLINK, "/proc/self/cwd", out{}, 100),
	pc("readlinkat", unix.SYS_READLINKAT, cwdFd, "link", out{}, 100),
	pc("chmod", unix.SYS_CHMOD, "f", 0o600),
	pc("fchmod", unix.SYS_FCHMOD, pairFile, 0o640),
	pc("fchmodat", unix.SYS_FCHMODAT, pairFolder, "x", 0o600),
	pc("chown", unix.SYS_CHOWN, "f", os.Getuid(), os.Getgid()),
	pc("fchown", unix.SYS_FCHOWN, pairFile, os.Getuid(), os.Getgid()),
	pc("lchown", unix.SYS_LCHOWN, "link", os.Getuid(), os.Getgid()),
	pc("fchownat", unix.SYS_FCHOWNAT, cwdFd, "f", os.Getuid(), os.Getgid(), 0),
	pc("fchownat of a descriptor", unix.SYS_FCHOWNAT, pairFile, "", os.Getuid(), os.Getgid(), unix.AT_EMPTY_PATH),
	pc("umask", unix.SYS_UMASK, 0o077),
	pc("gettimeofday", unix.SYS_GETTIMEOFDAY, out{}, 0),
	pc("getrlimit", unix.SYS_GETRLIMIT, unix.RLIMIT_NOFILE, out{}),
	pc("setrlimit", unix.SYS_SETRLIMIT, unix.RLIMIT_NOFILE, le64(22, 4096)),
	pc("setrlimit RLIMIT_FSIZE", unix.SYS_SETRLIMIT, unix.RLIMIT_FSIZE, le64(5, 4096)),
	pc("setrlimit RLIMIT_AS", unix.SYS_SETRLIMIT, unix.RLIMIT_AS, le64(5, 4096)),
	pc("prlimit64", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, le64(21, 4096), out{}),
	pc("prlimit64 that asks", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, 0, out{}),
	pc("prlimit64 that asks for a number", unix.SYS_PRLIMIT64, 1001, unix.RLIMIT_NOFILE, 0, out{}),
	pc("getrusage", unix.SYS_GETRUSAGE, 0, out{}),
	pc("sysinfo", unix.SYS_SYSINFO, out{}),
	pc("times", unix.SYS_TIMES, out{}),
	pc("getuid", unix.SYS_GETUID), pc("getgid", unix.SYS_GETGID), pc("geteuid", unix.SYS_GETEUID), pc("getegid", unix.SYS_GETEGID),
	pc("setgroups", unix.SYS_SETGROUPS, 0, 0), pc("setuid", unix.SYS_SETUID, os.Getuid()), pc("setgid", unix.SYS_SETGID, os.Getgid()),
	pc("setreuid", unix.SYS_SETREUID, os.Getuid(), os.Getuid()), pc("setregid", unix.SYS_SETREGID, os.Getgid(), os.Getgid()),
	pc("setresuid", unix.SYS_SETRESUID, os.Getuid(), os.Getuid(), os.Getuid()), pc("setresgid", unix.SYS_SETRESGID, os.Getgid(), os.Getgid(), os.Getgid()),
	pc("getgroups", unix.SYS_GETGROUPS, 8, out{}), pc("getresuid", unix.SYS_GETRESUID, out{}, out{}, out{}), pc("getresgid", unix.SYS_GETRESGID, out{}, out{}, out{}),
	pc("setpgid", unix.SYS_SETPGID, 0, 0),
	pc("setpgid of a child", unix.SYS_SETPGID, 1001, 1001),
	pc("getpgrp", unix.SYS_GETPGRP),
	pc("getpgid", unix.SYS_GETPGID, 1001),
	pc("setsid", unix.SYS_SETSID),
	pc("getsid", unix.SYS_GETSID, 1001),
	pc("rt_sigpending", unix.SYS_RT_SIGPENDING, out{}, 8),
	pc("rt_sigtimedwait", unix.SYS_RT_SIGTIMEDWAIT, le64(1<<9), 0, le64(0, 0), 8),
	pc("sigaltstack", unix.SYS_SIGALTSTACK, 0, out{}),
	pc("mknod", unix.SYS_MKNOD, "new", unix.S_IFREG|0o666, 0),
	pc("mknodat", unix.SYS_MKNODAT, pairFolder, "fifo", unix.S_IFIFO|0o666, 0),
	pc("statfs", unix.SYS_STATFS, "f", out{}),
	pc("statfs of what is not there", unix.SYS_STATFS, "new", out{}),
	pc("fstatfs", unix.SYS_FSTATFS, pairSame, out{}),
	pc("getpriority", unix.SYS_GETPRIORITY, 0, 1001),
	pc("getpriority of a group", unix.SYS_GETPRIORITY, 1, 0),
	pc("setpriority", unix.SYS_SETPRIORITY, 0, 0, 5),
	pc("sched_getparam", unix.SYS_SCHED_GETPARAM, 0, out{}), pc("sched_setparam", unix.SYS_SCHED_SETPARAM, 0, le64(0)),
	pc("sched_getscheduler", unix.SYS_SCHED_GETSCHEDULER, 0), pc("sched_setscheduler", unix.SYS_SCHED_SETSCHEDULER, 0, 0, le64(0)),
	pc("sched_get_priority_max", unix.SYS_SCHED_GET_PRIORITY_MAX, 0), pc("sched_get_priority_min", unix.SYS_SCHED_GET_PRIORITY_MIN, 0),
	pc("sched_getaffinity", unix.SYS_SCHED_GETAFFINITY, 0, 8, out{}), pc("sched_setaffinity", unix.SYS_SCHED_SETAFFINITY, 0, 8, le64(1)),
	pc("prctl PR_SET_NAME", unix.SYS_PRCTL, unix.PR_SET_NAME, "other"),
	pc("prctl PR_GET_NAME", unix.SYS_PRCTL, unix.PR_GET_NAME, out{}),
	pc("prctl PR_SET_DUMPABLE", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0), pc("prctl PR_GET_DUMPABLE", unix.SYS_PRCTL, unix.PR_GET_DUMPABLE),
	pc("arch_prctl", unix.SYS_ARCH_PRCTL, 0x1003, out{}),
	pc("sync", unix.SYS_SYNC),
	pc("readahead", unix.SYS_READAHEAD, pairSame, 0, 4),
	pc("fadvise64", unix.SYS_FADVISE64, pairSame, 0, 4, 0),
	pc("setxattr", unix.SYS_SETXATTR, "f", "user.a", "v", 1, 0), pc("lsetxattr", unix.SYS_LSETXATTR, "f", "user.b", "v", 1, 0), pc("fsetxattr", unix.SYS_FSETXATTR, pairFile, "user.a", "w", 1, 0),
	pc("getxattr", unix.SYS_GETXATTR, "f", "user.a", out{}, 9), pc("lgetxattr", unix.SYS_LGETXATTR, "f", "user.a", out{}, 9), pc("fgetxattr", unix.SYS_FGETXATTR, pairFile, "user.a", out{}, 9),
	pc("listxattr", unix.SYS_LISTXATTR, "f", out{}, 99), pc("llistxattr", unix.SYS_LLISTXATTR, "f", out{}, 99), pc("flistxattr", unix.SYS_FLISTXATTR, pairFile, out{}, 99),
	pc("removexattr", unix.SYS_REMOVEXATTR, "f", "user.c"), pc("lremovexattr", unix.SYS_LREMOVEXATTR, "f", "user.c"), pc("fremovexattr", unix.SYS_FREMOVEXATTR, pairFile, "user.c"),
	pc("time", unix.SYS_TIME, 0),
	pc("futex", unix.SYS_FUTEX, pairMem, 1, 1, 0, 0, 0),
	pc("futex that does not wait", unix.SYS_FUTEX, pairMem, 0, 77, 0, 0, 0),
	pc("epoll_create", unix.SYS_EPOLL_CREATE, 1), pc("epoll_create1", unix.SYS_EPOLL_CREATE1, 0),
	pc("epoll_ctl", unix.SYS_EPOLL_CTL, pairPoll, unix.EPOLL_CTL_ADD, pairEmpty, "\x01\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00"),
	pc("epoll_ctl EPOLL_CTL_DEL", unix.SYS_EPOLL_CTL, pairPoll, unix.EPOLL_CTL_DEL, pairR, 0),
	pc("epoll_wait", unix.SYS_EPOLL_WAIT, pairPoll, out{}, 4, 0), pc("epoll_pwait", unix.SYS_EPOLL_PWAIT, pairPoll, out{}, 4, 0, 0, 8),
	pc("getdents64", unix.SYS_GETDENTS64, pairFolder, out{}, 2000),
	pc("set_tid_address", unix.SYS_SET_TID_ADDRESS, 0),
	pc("set_robust_list", unix.SYS_SET_ROBUST_LIST, 0, 24),
	pc("timer_create", unix.SYS_TIMER_CREATE, 1, le64(0, 1<<32, 0), out{}),
	pc("timer_settime", unix.SYS_TIMER_SETTIME, 0, 0, le64(0, 0, 99, 0), out{}),
	pc("timer_gettime", unix.SYS_TIMER_GETTIME, 0, out{}), pc("timer_getoverrun", unix.SYS_TIMER_GETOVERRUN, 0),
	pc("timer_delete", unix.SYS_TIMER_DELETE, 0),
	pc("clock_gettime", unix.SYS_CLOCK_GETTIME, 0, out{}), pc("clock_getres", unix.SYS_CLOCK_GETRES, 0, out{}),
	pc("openat", unix.SYS_OPENAT, pairFolder, "x", unix.O_RDONLY, 0),
	pc("openat of the limits", unix.SYS_OPENAT, cwdFd, "/proc/self/limits", unix.O_RDONLY, 0),
	pc("newfstatat", unix.SYS_NEWFSTATAT, pairFolder, "x", out{}, 0),
	pc("newfstatat of a descriptor", unix.SYS_NEWFSTATAT, pairFile, "", out{}, unix.AT_EMPTY_PATH),
	pc("newfstatat of another", unix.SYS_NEWFSTATAT, pairOther, "", out{}, unix.AT_EMPTY_PATH),
	pc("newfstatat of a spare descriptor", unix.SYS_NEWFSTATAT, pairSpare, "", out{}, unix.AT_EMPTY_PATH),
	pc("newfstatat of a folder", unix.SYS_NEWFSTATAT, pairFolder, "", out{}, unix.AT_EMPTY_PATH),
	pc("newfstatat of the present folder", unix.SYS_NEWFSTATAT, cwdFd, "", out{}, unix.AT_EMPTY_PATH),
	pc("faccessat", unix.SYS_FACCESSAT, pairFolder, "x", 0), pc("faccessat2", unix.SYS_FACCESSAT2, pairFolder, "x", 0, 0),
	pc("faccessat2 of a descriptor", unix.SYS_FACCESSAT2, pairFile, "", unix.W_OK, unix.AT_EMPTY_PATH),
	pc("utimensat", unix.SYS_UTIMENSAT, cwdFd, "f", le64(1, 2, 3, 4), 0),
	pc("utimensat of a descriptor", unix.SYS_UTIMENSAT, pairOther, 0, le64(5, 6, 7, 8), 0),
	pc("eventfd", unix.SYS_EVENTFD, 0), pc("eventfd2", unix.SYS_EVENTFD2, 0, 0),
	pc("fallocate", unix.SYS_FALLOCATE, pairSame, 0, 0, 100),
	pc("getcpu", unix.SYS_GETCPU, out{}, 0, 0),
	pc("memfd_create", unix.SYS_MEMFD_CREATE, "m", 0),
	pc("close_range", unix.SYS_CLOSE_RANGE, pairR, pairEmpty, 0),
	pc("pidfd_open", unix.SYS_PIDFD_OPEN, 1001, 0),
	pc("read of a terminal", unix.SYS_READ, pairTTY, out{}, 4), pc("write of a terminal", unix.SYS_WRITE, pairTTY, "ab\n", 3),
	pc("ioctl TIOCGWINSZ", unix.SYS_IOCTL, pairTTY, unix.TIOCGWINSZ, out{}), pc("ioctl TIOCSWINSZ", unix.SYS_IOCTL, pairTTY, unix.TIOCSWINSZ, "abcdefg"),
	pc("ioctl TCGETS", unix.SYS_IOCTL, pairTTY, unix.TCGETS, out{}), pc("ioctl TCSETS", unix.SYS_IOCTL, pairTTY, unix.TCSETS, "abcdefg"),
	pc("ioctl TIOCSPTLCK", unix.SYS_IOCTL, pairTTY, unix.TIOCSPTLCK, le64(0)), pc("open of a terminal", unix.SYS_OPEN, "/dev/pts/0", unix.O_RDWR|unix.O_NOCTTY, 0),
	pc("read of a datagram", unix.SYS_READ, pairD, out{}, 4), pc("write of a datagram", unix.SYS_WRITE, pairE, "ab", 2),
	pc("recvfrom of a datagram", unix.SYS_RECVFROM, pairD, out{}, 4, unix.MSG_DONTWAIT, 0, 0),
	pc("open of a FIFO", unix.SYS_OPEN, "queue", unix.O_RDWR|unix.O_NONBLOCK, 0), pc("open of a FIFO for writing", unix.SYS_OPEN, "queue", unix.O_WRONLY|unix.O_NONBLOCK, 0),
	pc("open of what is mapped", unix.SYS_OPEN, "/proc/self/maps", unix.O_RDONLY, 0), pc("open of the status", unix.SYS_OPEN, "/proc/self/status", unix.O_RDONLY, 0),
	pc("open of the name", unix.SYS_OPEN, "/proc/self/comm", unix.O_RDONLY, 0), pc("open of the process", unix.SYS_OPEN, "/proc/self/stat", unix.O_RDONLY, 0),
	pc("open of the descriptors", unix.SYS_OPEN, "/proc/self/fd", unix.O_RDONLY, 0), pc("stat of the descriptors", unix.SYS_STAT, "/proc/self/fd", out{}),
	pc("open of a descriptor", unix.SYS_OPEN, "/proc/self/fd/4", unix.O_RDONLY, 0), pc("open of a file in the present folder", unix.SYS_OPEN, "/proc/self/cwd/f", unix.O_RDONLY, 0),
	pc("open of a file below", unix.SYS_OPEN, "d/x", unix.O_RDONLY, 0), pc("open of a file behind a link", unix.SYS_OPEN, "link", unix.O_RDONLY, 0),
	pc("rename of a link", unix.SYS_RENAME, "g", "link"), pc("unlink of a link", unix.SYS_UNLINK, "link"),
}

// notPaired are calls of which TestOrderPairs has no sample, with the reason: what they do is tried elsewhere.
var notPaired = map[string]string{
	"rt_sigreturn": "needs a frame of a signal", "pause": "waits", "nanosleep": "waits", "clock_nanosleep": "waits", "rt_sigsuspend": "waits",
	"clone": "makes a task", "fork": "makes a task", "vfork": "makes a task", "execve": "ends tasks", "execveat": "ends tasks", "exit": "ends a task", "exit_group": "ends tasks",
	"tkill": "signals conflict with whatever there is", "tgkill": "as tkill", "pidfd_send_signal": "as tkill", "getrandom": "random bytes are as the environment has them",
}

// parted is a system of two tasks, threads or processes, that have all of the above, and of which the first has made some calls before they parted.
func parted(t *testing.T, threads bool, before ...pairCall) *System {
	m := boot(t, Config{Cwd: t.TempDir()})
	m.TrackOrder()
	fd := func(want int, v uint64) {
		t.Helper()
		if int(v) != want {
			t.Fatalf("descriptor %d, not %d", v, want)
		}
	}
	file := func(name string) uint64 { return m.must(unix.SYS_OPEN, m.str(name), unix.O_CREAT|unix.O_RDWR, 0o644) }
	two := m.space(8)
	fd(pairFile, file("f"))
	m.must(unix.SYS_WRITE, pairFile, m.str("hello"), 5)
	m.must(unix.SYS_LSEEK, pairFile, 1, 0)
	fd(pairSame, m.must(unix.SYS_DUP, pairFile))
	fd(pairOther, m.must(unix.SYS_OPEN, m.str("f"), unix.O_RDWR|unix.O_APPEND, 0))
	m.must(unix.SYS_MKDIR, m.str("d"), 0o755)
	m.must(unix.SYS_MKDIR, m.str("empty"), 0o755)
	fd(pairFolder, m.must(unix.SYS_OPEN, m.str("d"), unix.O_RDONLY|unix.O_DIRECTORY, 0))
	m.must(unix.SYS_CLOSE, file("d/x"))
	m.must(unix.SYS_CLOSE, file("g"))
	m.must(unix.SYS_SYMLINK, m.str("f"), m.str("link"))
	m.must(unix.SYS_SYMLINK, m.str("/proc/self/fd/21"), m.str("tofd"))
	m.must(unix.SYS_SETXATTR, m.str("f"), m.str("user.c"), m.str("v"), 1, 0)
	m.must(unix.SYS_PIPE, two)
	m.must(unix.SYS_WRITE, pairW, m.str("abc"), 3)
	m.must(unix.SYS_PIPE, two)
	m.must(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, two)
	fd(pairEvent, m.must(unix.SYS_EVENTFD2, 0, unix.O_NONBLOCK))
	fd(pairPoll, m.must(unix.SYS_EPOLL_CREATE1, 0))
	m.must(unix.SYS_EPOLL_CTL, pairPoll, unix.EPOLL_CTL_ADD, pairR, m.str("\x01\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00"))
	fd(pairListen, m.must(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0))
	m.must(unix.SYS_BIND, pairListen, m.str("\x01\x00l"), 4)
	m.must(unix.SYS_LISTEN, pairListen, 5)
	fd(pairTCP, m.must(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0))
	fd(pairMemory, m.must(unix.SYS_MEMFD_CREATE, m.str("m"), 0))
	m.must(unix.SYS_FTRUNCATE, pairMemory, 4096)
	fd(pairTTY, m.must(unix.SYS_OPEN, m.str("/dev/ptmx"), unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0))
	m.must(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_DGRAM, 0, two)
	m.must(unix.SYS_MKNOD, m.str("queue"), unix.S_IFIFO|0o666, 0)
	m.must(unix.SYS_MMAP, pairMem, 4*4096, 3, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED, ^uint64(0), 0)
	m.must(unix.SYS_MMAP, pairMap, 4096, 3, unix.MAP_SHARED|unix.MAP_FIXED, pairMemory, 0)
	for _, sig := range []unix.Signal{unix.SIGPIPE, unix.SIGXFSZ} {
		m.must(unix.SYS_RT_SIGACTION, uint64(sig), m.words(1, 0, 0, 0), 0, 8)
	}
	m.must(unix.SYS_SHMGET, 5, 4096, unix.IPC_CREAT|0o600)
	m.must(unix.SYS_TIMER_CREATE, 1, m.words(0, 1<<32, 0), two)
	for _, p := range before {
		if r := p.step(m.System, 0); r == "waits" || r == "killed" || strings.HasPrefix(r, "unsupported") {
			return nil
		}
	}
	m.Current().CPU.PC = text + 2
	if threads {
		m.must(unix.SYS_CLONE, unix.CLONE_VM|unix.CLONE_FS|unix.CLONE_FILES|unix.CLONE_SIGHAND|unix.CLONE_THREAD|unix.CLONE_SYSVSEM, scratch+1<<20-8192, 0, 0, 0)
	} else {
		m.must(unix.SYS_FORK)
	}
	if len(m.tasks) != 2 || m.order == nil {
		t.Fatal("no two tasks")
	}
	return m.System
}

// step makes a call as task k: what it returns and what it has stored, or that it waits.
func (p pairCall) step(s *System, k int) string {
	for _, t := range s.tasks {
		if t.TID == 1000+k {
			s.cur = t
		}
	}
	if s.cur.TID != 1000+k {
		return "gone"
	}
	s.Retired = 1 << 20 // time stands still
	at, t := pairIn+uint64(k)<<16, s.cur
	next := at
	for i, a := range p.args {
		v := uint64(0)
		put := func(b []byte) {
			v, next = next, next+uint64(len(b)+16)&^15
			_ = t.proc.Mem.Write(v, b)
		}
		switch a := a.(type) {
		case int:
			v = uint64(a)
		case uint64:
			v = a
		case uintptr:
			v = uint64(a)
		case unix.Signal:
			v = uint64(a)
		case string:
			put(append([]byte(a), 0))
		case []byte:
			put(a)
		case out:
			v = at + pairOut
		default:
			panic(fmt.Sprintf("%T", a))
		}
		t.CPU.Set([]ir.Slot{ir.RDI, ir.RSI, ir.RDX, ir.R10, ir.R8, ir.R9}[i], v)
	}
	t.CPU.Set(ir.RAX, p.nr)
	t.CPU.PC = text + 2
	if o := s.Syscall(); o.Kind == Unsupported {
		return "unsupported: " + o.What
	}
	if t.Wait.Kind != waitNone {
		return "waits"
	}
	if t.proc.Mem == nil {
		return "killed"
	}
	var b [1 << 12]byte
	_ = t.proc.Mem.Read(at, b[:])
	return strconv.Itoa(int(t.CPU.R[ir.RAX])) + " " + string(bytes.TrimRight(b[:], "\x00"))
}

// pairOf makes two calls, of task 0 and 1, one after the other; what has waited is tried again.
func pairOf(s *System, calls [2]pairCall, first int) (after *System, results [2]string, unordered string) {
	s = s.Fork()
	for _, k := range []int{first, 1 - first} {
		results[k] = calls[k].step(s, k)
	}
	if results[first] == "waits" {
		results[first] = calls[first].step(s, first)
	}
	return s, results, s.Unordered()
}

// left is what two calls leave behind, as it can be seen: no numbers of inodes, sockets and pipes, which are given in the order of the calls.
func left(s *System) string {
	var b strings.Builder
	number := regexp.MustCompile(`\[\d+\]`)
	for _, p := range s.procs {
		q := p.process
		q.Actions, q.Fds = nil, nil
		fmt.Fprintf(&b, "process %d: %+v %+v\n", p.PID, q, *p.Actions)
		if p.Mem != nil {
			b.WriteString(mapsText(p, nil))
		}
		for fd, e := range p.Fds {
			f := s.files.get(e.File)
			if f == nil {
				continue
			}
			fmt.Fprintf(&b, "%d: %v %d %#x %d %s", fd, e.Cloexec, f.Kind, f.Flags, f.Off, number.ReplaceAllString(f.Path, ""))
			switch f.Kind {
			case filePipe:
				x := s.pipes.get(max(f.In, f.Out))
				fmt.Fprintf(&b, " %q %d", x.Buf.Data, x.size())
			case fileSocket:
				x := s.socks.get(f.Sock)
				fmt.Fprintf(&b, " %v %v %d %v", x.State, x.Opts, x.Held, x.Other >= 0)
			case fileEvent:
				fmt.Fprintf(&b, " %d", f.Count)
			case fileEpoll:
				fmt.Fprintf(&b, " %d", len(f.Watch))
			}
			if under(f.Path, "/proc") && f.Back != nil {
				fmt.Fprintf(&b, " %q", f.Back.Data)
			}
			b.WriteString("\n")
			if f.Node != 0 && f.Kind != fileDir {
				s.leftNode(&b, f.Path, f.Node)
			}
		}
	}
	s.leftNode(&b, "", rootNode)
	for i := range s.segments.rows {
		if g := s.segments.get(i); g != nil {
			h := *g
			h.Obj = 0
			fmt.Fprintf(&b, "segment %+v\n", h)
		}
	}
	return fmt.Sprintf("%s%s", b.String(), s.Stdout().Data)
}

// alike: two systems are so alike that there is no need to look at what is left of each.
func alike(s, u *System) bool {
	if len(s.procs) != len(u.procs) || len(s.tasks) != len(u.tasks) {
		return false
	}
	for i, p := range s.procs {
		q := u.procs[i]
		if !same(&p.process, &q.process) || (p.Mem == nil) != (q.Mem == nil) || p.Mem != nil && !slices.EqualFunc(p.Mem.Areas(), q.Mem.Areas(), func(a, b *mem.Area) bool { return *a == *b }) {
			return false
		}
	}
	return sameTable(&s.files, &u.files) && sameTable(&s.pipes, &u.pipes) && sameTable(&s.socks, &u.socks) && sameTable(&s.segments, &u.segments) &&
		sameTable(&s.nodes, &u.nodes) && s.out == u.out
}

// unlike are the lines of one text that the other has not.
func unlike(l, r string) string {
	var out []string
	for i, text := range []string{l, r} {
		for _, line := range strings.Split(text, "\n") {
			if !slices.Contains(strings.Split([]string{r, l}[i], "\n"), line) {
				out = append(out, fmt.Sprintf("%d: %.400s", i, line))
			}
		}
	}
	return strings.Join(out, "\n")
}

// leftNode is inode i with all below it.
func (s *System) leftNode(b *strings.Builder, path string, i int) {
	n := s.nodes.get(i)
	fmt.Fprintf(b, "%s: %o %d %d %d %d %s %q", path, n.Mode, n.Nlink, n.Size, n.Mtime, n.Ctime, n.Target, n.Xattrs)
	if n.Mode&unix.S_IFMT == unix.S_IFREG {
		fmt.Fprintf(b, " %q", bytes.TrimRight(s.readNode(i, 0, 4096).Data, "\x00"))
	}
	b.WriteString("\n")
	for _, name := range slices.Sorted(maps.Keys(n.Ents)) {
		if n.Ents[name] != whiteout {
			s.leftNode(b, path+"/"+name, n.Ents[name])
		}
	}
}

// pairCounts are how many pairs of calls were tried, how many of these differ, and how many are noted.
type pairCounts struct{ pairs, differ, noted int }

// inOrder makes two calls in both orders.
func (n *pairCounts) inOrder(t *testing.T, s *System, what string, a, b pairCall) {
	u, x, why := pairOf(s, [2]pairCall{a, b}, 0)
	v, y, because := pairOf(s, [2]pairCall{a, b}, 1)
	n.pairs++
	if why != "" {
		n.noted++
	}
	if x != y {
		n.differ++
	}
	switch {
	case why != "" && because != "":
	case x != y:
		t.Errorf("%s: %s and %s: no steps without order (%q, %q), but\n%.300q,\nthe other way round\n%.300q", what, a.name, b.name, why, because, x, y)
	case !alike(u, v):
		if l, r := left(u), left(v); l != r {
			t.Errorf("%s: %s and %s: no steps without order (%q, %q), but they leave behind\n%s", what, a.name, b.name, why, because, unlike(l, r))
		}
	}
}

// Two calls of two tasks, in both orders: where one of them returns something else, or something else is left, the order is noticed, in whichever order they
// came. All pairs, and random ones behind a third call.
func TestOrderPairs(t *testing.T) {
	r := seed.Rand(t)
	slow := os.Getenv("SYMCHEF_SLOW") == "1"
	for _, threads := range []bool{true, false} {
		what := map[bool]string{true: "threads", false: "processes"}[threads]
		s, n := parted(t, threads), pairCounts{}
		for i, a := range pairCalls {
			for j, b := range pairCalls {
				if j >= i || slow && !threads { // a parent and its child are not quite alike
					n.inOrder(t, s, what, a, b)
				}
			}
		}
		t.Logf("%s: %d pairs, %d of which differ, %d of which are noted", what, n.pairs, n.differ, n.noted)
		n = pairCounts{}
		prefixes, each := 10, 300
		if slow {
			prefixes, each = len(pairCalls), 600
		}
		for i := range prefixes {
			if !slow {
				i = r.IntN(len(pairCalls))
			}
			first := pairCalls[i]
			if s := parted(t, threads, first); s != nil {
				for range each {
					n.inOrder(t, s, what+" behind "+first.name, pairCalls[r.IntN(len(pairCalls))], pairCalls[r.IntN(len(pairCalls))])
				}
			}
		}
		t.Logf("%s behind a third call: %d pairs, %d of which differ, %d of which are noted", what, n.pairs, n.differ, n.noted)
	}
}

// Every call has a row, every row is of calls, and of several rows all but the last have a condition.
func TestAccessRows(t *testing.T) {
	for _, r := range calls {
		rows := accessRows[r.name]
		if len(rows) == 0 {
			t.Errorf("%s: no row in ordertable.go says what it asks for and changes", r.name)
		}
		for i, row := range rows {
			if (accesses[row].only == nil) != (i == len(rows)-1) {
				t.Errorf("%s: row %d", r.name, i)
			}
		}
		if r.do == nil && accesses[rows[0]].step != touchAnything {
			t.Errorf("%s: is not modelled, and does not touch anything", r.name)
		}
	}
	for name := range accessRows {
		if !slices.ContainsFunc(calls, func(r syscallRow) bool { return r.name == name }) {
			t.Errorf("%s: a row, but no call", name)
		}
	}
	for _, x := range accesses {
		for _, word := range strings.Fields(x.asks + " " + x.changes) {
			if things[word].key == "" {
				t.Errorf("%s: %q is no thing", x.calls, word)
			}
		}
	}
}

// What rows say is what is noted: each word by one of the samples at least, and no thing is changed that the row of the sample does not name.
func TestAccessNoted(t *testing.T) {
	words := map[string]string{}
	for word, x := range things {
		words[x.key] = word
	}
	missing := map[string]bool{}
	for i, x := range accesses {
		for _, call := range strings.Fields(x.calls) {
			for _, word := range strings.Fields(x.asks + " " + x.changes) {
				if notPaired[call] == "" {
					missing[fmt.Sprintf("%s, row %d: %s", call, i, word)] = true
				}
			}
		}
	}
	for _, threads := range []bool{true, false} {
		base := parted(t, threads)
		for _, p := range pairCalls {
			s := base.Fork()
			p.step(s, 0)
			c := call{s: s, p: s.procs[0], t: s.tasks[0]}
			for i, slot := range []ir.Slot{ir.RDI, ir.RSI, ir.RDX, ir.R10, ir.R8, ir.R9} {
				c.a[i] = c.t.CPU.R[slot]
			}
			name, _, _ := strings.Cut(p.name, " ")
			row := c.accessOf(name)
			for key, x := range s.order.objects {
				at := strings.LastIndexByte(key, ' ')
				word := words[key[:max(at, 0)]]
				if old := base.order.objects[key]; word == "" || x == old {
					continue
				} else if changed := len(x.writes) > 0 && (old == nil || !slices.Equal(x.writes, old.writes)); changed && word != "mappings" && !strings.Contains(row.changes, word) {
					t.Errorf("%s changes %q, and its row does not say so", p.name, word)
				}
				delete(missing, fmt.Sprintf("%s, row %d: %s", name, slices.IndexFunc(accesses, func(y access) bool { return y.calls == row.calls && y.asks == row.asks && y.changes == row.changes }), word))
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no sample shows %s", what)
	}
}

// Every call of the table that does something has a sample, or a reason.
func TestOrderPairsAll(t *testing.T) {
	have := map[string]bool{}
	s := parted(t, true)
	for _, p := range pairCalls {
		name, _, _ := strings.Cut(p.name, " ")
		have[name] = true
		if row := rowOf(p.nr); row == nil || row.name != name || len(p.args) > row.nargs {
			t.Errorf("%s is not what it says", p.name)
		}
		if _, r, _ := pairOf(s, [2]pairCall{p, p}, 0); strings.HasPrefix(r[0], "unsupported") {
			t.Errorf("%s: %s", p.name, r[0])
		}
	}
	modelled := Modelled()
	for _, nr := range slices.Sorted(func(yield func(uint64) bool) {
		for nr := range modelled {
			if !yield(nr) {
				return
			}
		}
	}) {
		if name := modelled[nr]; have[name] == (notPaired[name] != "") {
			t.Errorf("%s: one sample in pairCalls, or a reason in notPaired", name)
		}
	}
}
