package replay

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of landlock(7) by the version of its ABI that introduced them.
const (
	landlockRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockV1 = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // the 13 of version 1
)

// landlock lets this thread read the host, and write in scratch and to the
// harmless devices only.
func landlock(scratch string) error {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return fmt.Errorf("landlock: %w", e)
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: landlockV1}
	if v >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if v >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if v >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		size = unsafe.Offsetof(attr.Quiet_access_fs)
	}
	rules, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return fmt.Errorf("landlock ruleset: %w", e)
	}
	defer unix.Close(int(rules))
	allow := map[string]uint64{"/": landlockRead, scratch: attr.Handled_access_fs}
	for _, d := range devices {
		allow["/dev/"+d] = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	}
	for path, access := range allow {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("landlock %s: %w", path, err)
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
		_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH,
			uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
		unix.Close(fd)
		if e != 0 {
			return fmt.Errorf("landlock %s: %w", path, e)
		}
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); e != 0 {
		return fmt.Errorf("landlock: %w", e)
	}
	return nil
}

// refused are the system calls that Landlock does not judge and that reach
// beyond the process: sockets, file attributes, other processes, io_uring
// (which would do all of these unseen).
var refused = []uint32{
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_IO_URING_SETUP,
	unix.SYS_CHMOD, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2,
	unix.SYS_CHOWN, unix.SYS_FCHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWNAT,
	unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_UTIMENSAT, unix.SYS_FUTIMESAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	unix.SYS_TRUNCATE, // Landlock judges it from version 3 on only
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_OPEN,
	unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_TKILL, unix.SYS_SETPRIORITY, unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY,
	unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
	unix.SYS_MOUNT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_ADD_KEY,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
}

// seccomp refuses those calls with EPERM; kill(2) and tgkill(2) reach this
// process only.
func seccomp() error {
	const (
		load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		jeq  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		jge  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret  = unix.BPF_RET | unix.BPF_K
		// Offsets in struct seccomp_data, seccomp(2).
		offNr, offArch, offArg0 = 0, 4, 16
		x32                     = 0x4000_0000
	)
	pid := uint32(os.Getpid())
	deny := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	allow := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW}
	prog := []unix.SockFilter{
		{Code: load, K: offArch},
		{Code: jeq, Jt: 1, K: unix.AUDIT_ARCH_X86_64},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: offNr},
		{Code: jge, Jf: 1, K: x32},
		deny,
	}
	for _, nr := range refused {
		// prlimit64(0, ...) is getrlimit(2) of glibc: judged by its argument.
		if nr != unix.SYS_PRLIMIT64 {
			prog = append(prog, unix.SockFilter{Code: jeq, Jf: 1, K: nr}, deny)
		}
	}
	for nr, who := range map[uint32]uint32{unix.SYS_KILL: pid, unix.SYS_TGKILL: pid, unix.SYS_PRLIMIT64: 0} {
		prog = append(prog,
			unix.SockFilter{Code: jeq, Jf: 4, K: nr},
			unix.SockFilter{Code: load, K: offArg0},
			unix.SockFilter{Code: jeq, Jf: 1, K: who},
			allow,
			deny,
		)
	}
	prog = append(prog, allow)
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}
