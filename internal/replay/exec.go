package replay

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func notifyTerm(c chan os.Signal) { signal.Notify(c, unix.SIGTERM) }

// addrNoRandomize is ADDR_NO_RANDOMIZE of personality(2): no ASLR.
const addrNoRandomize = 0x0040000

// fixAddresses turns the randomisation of addresses off for what this thread executes.
func fixAddresses() error {
	if _, _, e := unix.RawSyscall(unix.SYS_PERSONALITY, addrNoRandomize, 0, 0); e != 0 {
		return fmt.Errorf("personality: %w", e)
	}
	return nil
}

// FixedAddresses is nil where replays run at addresses that do not change. The seccomp filters of containers refuse that: then they run at random ones.
func FixedAddresses() error {
	runtime.LockOSThread() // a thread has its own
	defer runtime.UnlockOSThread()
	was, _, e := unix.RawSyscall(unix.SYS_PERSONALITY, 0xffff_ffff, 0, 0)
	if e != 0 {
		return fmt.Errorf("personality: %w", e)
	}
	err := fixAddresses()
	unix.RawSyscall(unix.SYS_PERSONALITY, was, 0, 0)
	return err
}

// execChild is the last stage: it gives up rights, sets limits and becomes
// the program. It returns only if that fails.
func execChild() error {
	keepDescriptors()
	sp, _, err := readSpec()
	if err != nil {
		return fmt.Errorf("%w: %w", errSetup, err)
	}
	if !sp.Randomize {
		if err := fixAddresses(); err != nil && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("%w: %w", errSetup, err)
		}
	}
	if err := giveUpRights(sp); err != nil {
		return fmt.Errorf("%w: %w", errSetup, err)
	}
	if sp.Probe {
		syscall.Exit(0)
	}
	last, err := setLimits(sp)
	if err != nil {
		return fmt.Errorf("%w: %w", errSetup, err)
	}
	return become(sp, last)
}

// A limit is one of setrlimit(2).
type limit struct {
	name  string
	which int
	value unix.Rlimit
}

// What the machine tells a program that it may have: bytes of stack, and descriptors.
const (
	stackSize = 8 << 20
	mostOpen  = 1024
)

// lowered names the first limit of this process (setrlimit(2), ulimit) that keeps a program under replay from what the machine lets it have; empty: none.
func lowered(l Limits) string {
	for _, r := range []struct {
		which int
		want  uint64
		text  string
		unit  uint64
	}{
		{unix.RLIMIT_NOFILE, mostOpen, "%d descriptors (ulimit -n)", 1},
		{unix.RLIMIT_AS, l.Memory, "%d MiB of address space (ulimit -v)", 1 << 20},
		{unix.RLIMIT_DATA, l.Memory, "%d MiB of data (ulimit -d)", 1 << 20},
		{unix.RLIMIT_STACK, stackSize, "%d KiB of stack (ulimit -s)", 1 << 10},
		{unix.RLIMIT_FSIZE, l.FileSize, "%d KiB in a file (ulimit -f)", 1 << 10},
	} {
		var has unix.Rlimit
		if err := unix.Getrlimit(r.which, &has); err == nil && has.Max < r.want {
			return fmt.Sprintf(r.text, has.Max/r.unit)
		}
	}
	return ""
}

// setLimits sets all limits but those that the Go runtime could not live with:
// become does.
func setLimits(sp spec) (last []limit, err error) {
	l := sp.Limits
	cpu := uint64((l.CPU + time.Second - 1) / time.Second)
	one := func(name string, which int, n uint64) limit { return limit{name, which, unix.Rlimit{Cur: n, Max: n}} }
	limits := []limit{
		one("core", unix.RLIMIT_CORE, 0),
		// SIGXCPU at the soft limit tells a hang from another's SIGKILL.
		{"cpu", unix.RLIMIT_CPU, unix.Rlimit{Cur: cpu, Max: cpu + 1}},
		one("fsize", unix.RLIMIT_FSIZE, l.FileSize),
		one("stack", unix.RLIMIT_STACK, stackSize),
		one("nofile", unix.RLIMIT_NOFILE, mostOpen),
		one("memlock", unix.RLIMIT_MEMLOCK, 8<<20),
		one("rtprio", unix.RLIMIT_RTPRIO, 0),
		one("nice", unix.RLIMIT_NICE, 0),
	}
	if sp.Mode == Namespaces {
		// Counted per user namespace since Linux 5.14; elsewhere it would
		// count, and block, the user's other processes.
		last = append(last, one("nproc", unix.RLIMIT_NPROC, l.Processes))
	}
	// Not RLIMIT_AS: what is only reserved takes no memory. What is shared is
	// counted by the watch.
	last = append(last, one("data", unix.RLIMIT_DATA, l.Memory))
	for _, r := range limits {
		if err := r.lower(); err != nil {
			return nil, err
		}
		if err := unix.Prlimit(0, r.which, &r.value, nil); err != nil {
			return nil, fmt.Errorf("limit %s: %w", r.name, err)
		}
	}
	for i := range last {
		if err := last[i].lower(); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// lower makes r no more than what the process is allowed now.
func (r *limit) lower() error {
	var old unix.Rlimit
	if err := unix.Prlimit(0, r.which, nil, &old); err != nil {
		return fmt.Errorf("limit %s: %w", r.name, err)
	}
	r.value = unix.Rlimit{Cur: min(r.value.Cur, old.Max), Max: min(r.value.Max, old.Max)}
	return nil
}

// become sets the last limits and executes the program. The runtime has more
// address space and perhaps more threads than they let it, and no handlers of
// signals any more: nothing is allocated in between.
func become(sp spec, last []limit) error {
	path, err := unix.BytePtrFromString(sp.Path)
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(sp.Argv)
	if err != nil {
		return err
	}
	env, err := syscall.SlicePtrFromStrings(sp.Env)
	if err != nil {
		return err
	}
	failed := []byte(execFailed + "0000")
	if err := defaultSignals(); err != nil {
		return fmt.Errorf("%w: signals: %w", errSetup, err)
	}
	for i := range last {
		if _, _, e := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, uintptr(last[i].which), uintptr(unsafe.Pointer(&last[i].value)),
			0, 0, 0); e != 0 {
			return fmt.Errorf("%w: limit %s: %w", errSetup, last[i].name, e)
		}
	}
	_, _, e := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
	for i := len(failed) - 1; e != 0; i-- {
		failed[i] = '0' + byte(e%10)
		e /= 10
	}
	unix.RawSyscall(unix.SYS_WRITE, endFD, uintptr(unsafe.Pointer(&failed[0])), uintptr(len(failed)))
	unix.RawSyscall(unix.SYS_EXIT_GROUP, 1, 0, 0)
	return nil
}

// signals is how many there are, real-time ones included (signal(7)).
const signals = 64

// defaultSignals has this thread block no signal, and each do what it does by
// default, as the machine starts a program: execve(2) would hand on which ones
// symchef's caller has blocked or ignores (nohup, a shell's "&").
func defaultSignals() error {
	var none [4]uint64 // a struct sigaction of the kernel with SIG_DFL; a set of signals with none in it
	for sig := uintptr(1); sig <= signals; sig++ {
		if sig == uintptr(unix.SIGKILL) || sig == uintptr(unix.SIGSTOP) {
			continue
		}
		if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&none)), 0, signals/8, 0, 0); e != 0 {
			return e
		}
	}
	const setMask = 2 // SIG_SETMASK
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, setMask, uintptr(unsafe.Pointer(&none)), 0, signals/8, 0, 0); e != 0 {
		return e
	}
	return nil
}

// execFailed, and the error's number in four digits, is what become tells.
const execFailed = "execve "

// execError is the error of a text that become has told.
func execError(text string) string {
	if n, err := strconv.Atoi(strings.TrimPrefix(text, execFailed)); err == nil && strings.HasPrefix(text, execFailed) {
		return syscall.Errno(n).Error()
	}
	return text
}

func giveUpRights(sp spec) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	switch sp.Mode {
	case Namespaces:
		if err := ownKeyring(); err != nil {
			return err
		}
		if err := dropCapabilities(); err != nil {
			return err
		}
		return seccomp(sp.Mode, true)
	case Landlock:
		// Without CAP_SETPCAP there is nothing to drop but for root in a
		// container of that kind; no_new_privs holds all the same.
		if err := dropCapabilities(); err != nil && !errors.Is(err, unix.EPERM) {
			return err
		}
		if err := ownKeyring(); err != nil {
			return err
		}
		scoped, err := landlock(filepath.Clean(sp.Scratch))
		if err != nil {
			return err
		}
		return seccomp(sp.Mode, scoped)
	}
	return nil
}

// ownKeyring leaves the caller's session keyring for an empty one. Without it a
// program could not use keys but by a call that the filter lacks; this is for
// the kernel's own look-ups.
func ownKeyring() error {
	_, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)           // 0: without a name
	if err != nil && err != unix.ENOSYS && err != unix.EDQUOT && err != unix.EPERM { // EPERM: of a filter, which holds for the program, too
		return fmt.Errorf("session keyring: %w", err)
	}
	return nil
}

// secureBits of capabilities(7): no identity brings capabilities, none is kept
// or raised, and that stays so.
const secureBits = 0x1 | 0x2 | 0x4 | 0x8 | 0x20 | 0x40 | 0x80

// dropCapabilities removes every capability over the own namespaces, for good:
// with them the program could undo the mounts.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("ambient capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, secureBits, 0, 0, 0); err != nil {
		return fmt.Errorf("securebits: %w", err)
	}
	for c := uintptr(0); c < 64; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EINVAL {
			break // past the last one this kernel knows
		}
		if err != nil {
			return fmt.Errorf("capability %d: %w", c, err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	return nil
}
