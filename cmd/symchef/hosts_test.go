package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"symchef/internal/replay"
)

// An oddHost is what a machine refuses or lacks. A command runs on one in a process that takes that from itself first:
//
//	b.on("no ptrace", "doctor") ──► this binary, as on-host:no ptrace ──► symchef doctor
type oddHost struct {
	mounts  bool                   // prepare makes mounts, in a namespace of its own
	prepare func(dir string) error // dir is the box
}

// onHost begins argv[0] of that process.
const onHost = "on-host:"

var oddHosts = map[string]oddHost{
	"nothing": {prepare: func(string) error { // no confinement is to be had
		return refuse(append(userNamespaces(), call{nr: unix.SYS_PTRACE}, call{nr: unix.SYS_LANDLOCK_CREATE_RULESET}))
	}},
	"no ptrace":          {prepare: func(string) error { return refuse([]call{{nr: unix.SYS_PTRACE}}) }},
	"no user namespaces": {prepare: func(string) error { return refuse(userNamespaces()) }},
	"container":          {prepare: func(string) error { return errors.Join(fewCapabilities(), refuse(containerCalls())) }},
	// Whoever tries to let CPUID fault dies.
	"no CPUID faulting": {prepare: func(string) error {
		return refuse([]call{{nr: unix.SYS_ARCH_PRCTL, is: []uint32{archSetCPUID}, kill: true}})
	}},
	"read-only home": {mounts: true, prepare: func(dir string) error {
		home := filepath.Join(dir, "home")
		return errors.Join(os.MkdirAll(home, 0o755), unix.Mount(home, home, "", unix.MS_BIND, ""), unix.Mount("", home, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	}},
	// All that is kept for a while, and all that a run writes, has 64 MiB together.
	"small tmp": {mounts: true, prepare: func(dir string) error {
		tmp := filepath.Join(dir, "tmp")
		return errors.Join(os.MkdirAll(tmp, 0o755), unix.Mount("tmpfs", tmp, "tmpfs", 0, "size=64m"))
	}},
	"image":           {mounts: true, prepare: enterImage}, // see TestImage
	"few descriptors": {prepare: func(string) error { return limit(unix.RLIMIT_NOFILE, 64) }},
}

// archSetCPUID is the request of arch_prctl(2) that lets CPUID fault.
const archSetCPUID = 0x1012

func limit(resource int, n uint64) error {
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n})
}

// runOnHost is that process: it executes args on a host.
func runOnHost(name string, args []string) error {
	runtime.LockOSThread()
	h, ok := oddHosts[name]
	if !ok {
		// "address space 700" is a host, too.
		var mib uint64
		if n, _ := fmt.Sscanf(name, "address space %d", &mib); n == 1 {
			h = oddHost{prepare: func(string) error { return limit(unix.RLIMIT_AS, mib<<20) }}
		} else if n, _ := fmt.Sscanf(name, "descriptors %d", &mib); n == 1 {
			h = oddHost{prepare: func(string) error { return limit(unix.RLIMIT_NOFILE, mib) }}
		} else {
			return errors.New("no such host")
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if h.mounts {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
	}
	if err := h.prepare(dir); err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}

// on is a command of the box on a host.
func (b *box) on(name string, args ...string) result {
	b.t.Helper()
	return b.onWith(name, binary, args...)
}

// onWith is a command on a host that has symchef elsewhere.
func (b *box) onWith(name, symchef string, args ...string) result {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := b.command(args...)
	cmd.Path, cmd.Args = self, append([]string{onHost + name, symchef}, args...)
	if oddHosts[name].mounts {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
		if os.Getuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		}
	}
	return b.brief(cmd)
}

// A call is a system call that a host refuses: always, or by its first argument.
type call struct {
	nr   uint32
	bits uint32   // where one of these is set
	is   []uint32 // where it is one of these
	not  []uint32 // where it is none of these
	err  unix.Errno
	kill bool
}

func userNamespaces() []call {
	return []call{{nr: unix.SYS_CLONE, bits: unix.CLONE_NEWUSER}, {nr: unix.SYS_UNSHARE, bits: unix.CLONE_NEWUSER}, {nr: unix.SYS_CLONE3, err: unix.ENOSYS}}
}

// containerCalls are those that Docker's default profile refuses to who has no more than its default capabilities, on Linux 4.8 and later (docs.docker.com,
// "Seccomp security profiles for Docker"; the profile itself lists what it allows).
func containerCalls() []call {
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	out := []call{
		{nr: unix.SYS_CLONE, bits: namespaces}, {nr: unix.SYS_CLONE3, err: unix.ENOSYS},
		{nr: unix.SYS_PERSONALITY, not: []uint32{0, 8, 0x20000, 0x20008, 0xffffffff}},
		{nr: unix.SYS_SOCKET, is: []uint32{unix.AF_ALG, unix.AF_VSOCK}},
	}
	for _, nr := range []uint32{
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
		unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
		unix.SYS_ADD_KEY, unix.SYS_KEYCTL, unix.SYS_REQUEST_KEY, unix.SYS_USERFAULTFD, unix.SYS_PERF_EVENT_OPEN, unix.SYS_BPF, unix.SYS_FANOTIFY_INIT,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
		unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
		unix.SYS_VHANGUP, unix.SYS_MBIND, unix.SYS_GET_MEMPOLICY, unix.SYS_SET_MEMPOLICY, unix.SYS_SET_MEMPOLICY_HOME_NODE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
		unix.SYS_LOOKUP_DCOOKIE, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL, unix.SYS_NFSSERVCTL,
	} {
		out = append(out, call{nr: nr})
	}
	return out
}

// fewCapabilities leaves the superuser those of a container.
func fewCapabilities() error {
	if os.Getuid() != 0 {
		return nil
	}
	kept := []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FSETID, unix.CAP_FOWNER, unix.CAP_MKNOD, unix.CAP_NET_RAW, unix.CAP_SETGID, unix.CAP_SETUID,
		unix.CAP_SETFCAP, unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_CHROOT, unix.CAP_KILL, unix.CAP_AUDIT_WRITE}
	for c := range unix.CAP_LAST_CAP + 1 {
		if !slices.Contains(kept, c) {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && err != unix.EINVAL {
				return err
			}
		}
	}
	return nil // what is executed has no others
}

// refuse makes the kernel refuse calls to this process and all that it executes.
func refuse(calls []call) error {
	load := func(off uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
	}
	ret := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	jump := func(test uint16, k uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jt: uint8(yes), Jf: uint8(no), K: k}
	}
	const nr, first = 0, 16 // offsets in struct seccomp_data: the call, its first argument
	prog := []unix.SockFilter{load(nr)}
	for _, c := range calls {
		no := ret(unix.SECCOMP_RET_ERRNO | uint32(max(c.err, unix.EPERM)))
		if c.kill {
			no = ret(unix.SECCOMP_RET_KILL_PROCESS)
		}
		allow := ret(unix.SECCOMP_RET_ALLOW)
		body := []unix.SockFilter{no}
		switch {
		case c.bits != 0:
			body = []unix.SockFilter{load(first), jump(unix.BPF_JSET, c.bits, 1, 0), allow, no}
		case len(c.is)+len(c.not) > 0:
			yes, otherwise := no, allow
			if len(c.not) > 0 {
				yes, otherwise = allow, no
			}
			body = []unix.SockFilter{load(first)}
			list := slices.Concat(c.is, c.not)
			for i, v := range list {
				body = append(body, jump(unix.BPF_JEQ, v, len(list)-i, 0))
			}
			body = append(body, otherwise, yes)
		}
		prog = append(append(prog, jump(unix.BPF_JEQ, c.nr, 0, len(body))), body...)
	}
	prog = append(prog, ret(unix.SECCOMP_RET_ALLOW))
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&fprog)), 0, 0)
}

// On an odd host a run finds what it finds elsewhere, with the same status; each thing that is lost is one line.
func TestOddHosts(t *testing.T) {
	home := pythonBox(t)
	if confined := replay.Probe(t.Context(), replay.Landlock); confined != nil {
		t.Skipf("skipped: %v", confined)
	}
	const addresses = "symchef: replays run at random addresses (personality: operation not permitted): what depends on addresses is unstable\n"
	const boot = "symchef: native boot: ptrace is not allowed: operation not permitted; the machine goes on\n"
	const room = "symchef: 2048 MiB of address space (ulimit -v) leave "
	for _, h := range []struct {
		name, replay string
		lost         string // on standard error: by run, of a Python test
		program      string // likewise of a program, by run and replay
		doctor       string
	}{
		{"no ptrace", "namespaces", boot, "", "in the machine: natively it cannot be: ptrace is not allowed"},
		{"no user namespaces", "landlock", "", "", "confined by landlock"},
		{"container", "landlock", addresses, addresses, "confined by landlock; replays run at random addresses"},
		{"no CPUID faulting", "namespaces", "", "", "native"},
		{"read-only home", "namespaces", "", "", "none: there is no cache folder"},
		{"small tmp", "namespaces", "", "", ""},
		{"few descriptors", "namespaces", "", "", ""},
		{"address space 2048", "namespaces", room, room, ""},
	} {
		t.Run(h.name, func(t *testing.T) {
			if replay.Probe(t.Context(), replay.Mode(h.replay)) != nil {
				t.Skipf("skipped: no %s", h.replay)
			}
			in := *home
			in.t, in.dir = t, filepath.Join(home.dir, strings.ReplaceAll(h.name, " ", "-"))
			in.write("test_s.py", "import symchef\ndef test_s(x: symchef.Str(2)):\n    if x[0] == 'a': raise ValueError(x[1])\n    print(x[0] == 'b')\n")
			in.env = []string{home.env[0], "HOME=" + in.path("home"), "XDG_CACHE_HOME=" + in.path("cache"), "TMPDIR=" + in.path("tmp")}
			in.write("tmp/x", "")
			in.write("home/x", "")
			if h.name == "read-only home" {
				in.env[2] = "A=B"
			}
			if h.name == "small tmp" {
				in.env[2] = "XDG_CACHE_HOME=" + in.path("tmp/cache")
			}
			in.compile("p", shout)
			said := func(r result, want string) {
				t.Helper()
				if strings.HasSuffix(want, "\n") || want == "" {
					if r.stderr != want {
						t.Errorf("symchef %s: standard error %q, want %q", r.command, r.stderr, want)
					}
				} else if strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, want) {
					t.Errorf("symchef %s: standard error %q, want one line %q", r.command, r.stderr, want)
				}
			}
			if r := in.on(h.name, "exec", "/bin/true"); r.status == 99 {
				t.Skip("skipped: ", r.stderr)
			}
			said(in.on(h.name, "run", "--out", "out", "test_s.py").want(1, "3 classes of behaviour", "replay ("+h.replay+"): 3 agreed, 0 diverged", "exhausted: every input"), h.lost)
			said(in.on(h.name, "run", "--out", "p-out", "--stdin", "1", "--", "./p").want(1, "3 classes of behaviour", "replay ("+h.replay+"): 3 agreed, 0 diverged", "exhausted: every input"), h.program)
			if h.name != "address space 2048" {
				said(in.on(h.name, "replay", "p-out").want(0, "3 agreed"), h.program)
			}
			in.on(h.name, "rerun", "out").want(0, "3 agreed, 0 strayed")
			if h.doctor != "" { // it asks each interpreter
				in.on(h.name, "doctor").want(0, h.doctor)
			}
		})
	}
}

// With too little of something a command says so in one line and ends with status 2.
func TestTooLittle(t *testing.T) {
	b := pythonBox(t)
	b.write("test_s.py", "import symchef\ndef test_s(x: symchef.Bool()): print(x)\n")
	b.compile("p", shout)
	for _, args := range [][]string{{"run", "--out", "out", "test_s.py"}, {"run", "--out", "out", "--stdin", "1", "--", "./p"}, {"exec", "/bin/true"}} {
		b.on("descriptors 20", args...).oneLine(2, "20 descriptors are too few (ulimit -n): 64 are needed")
		b.on("address space 1350", args...).oneLine(2, "1350 MiB of address space are too little (ulimit -v): 1")
	}
	// Where Go does not start it says so itself.
	if r := b.on("address space 500", "run", "test_s.py"); r.status != 2 || !strings.Contains(r.stderr, "fatal error: failed to reserve") {
		t.Errorf("status %d, %.200s", r.status, r.stderr)
	}
}

// A host that gives a program less than the machine does is no reason to say that it diverges.
func TestLessThanTheMachine(t *testing.T) {
	b := newBox(t)
	b.env = append(b.env, "TMPDIR="+b.path("tmp"))
	b.write("tmp/x", "")
	b.compile("files", `#include <fcntl.h>
#include <stdio.h>
int main() {
	if (getchar() != 'x') return 0;
	for (int n = 0; n < 100; n++)
		if (open("/dev/null", O_RDONLY) < 0) return 1;
	puts("a hundred");
	return 0;
}`)
	b.compile("room", `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char mib[1 << 20];
int main() {
	char path[300];
	if (getchar() != 'x') return 0;
	for (int f = 0; f < 2; f++) {
		snprintf(path, sizeof path, "%s/f%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", f);
		int fd = open(path, O_CREAT | O_WRONLY, 0600);
		for (int n = 0; n < 40; n++)
			if (write(fd, mib, sizeof mib) != sizeof mib) return 1;
	}
	puts("80 MiB");
	return 0;
}`)
	b.on("few descriptors", "run", "--out", "out", "--stdin", "1", "--", "./files").want(0, "0 diverged, 0 unstable, 1 not compared", "not exhausted")
	if replay.Probe(t.Context(), replay.Landlock) != nil || os.Getuid() != 0 {
		t.Skip("skipped in part: no mounts, or no Landlock")
	}
	b.on("small tmp", "run", "--replay", "landlock", "--out", "out", "--stdin", "1", "--", "./room").want(0, "0 diverged, 0 unstable, 1 not compared", "not exhausted")
	b.on("small tmp", "replay", "--replay", "landlock", "out").want(0, "MiB of room that")
}
