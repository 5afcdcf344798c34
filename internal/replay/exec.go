package replay

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func notifyTerm(c chan os.Signal) { signal.Notify(c, unix.SIGTERM) }

// addrNoRandomize is ADDR_NO_RANDOMIZE of personality(2): no ASLR.
const addrNoRandomize = 0x0040000

// execChild is the last stage: it gives up rights, sets limits and becomes
// the program. It returns only if that fails.
func execChild() error {
	unix.CloseOnExec(specFD)
	unix.CloseOnExec(endFD)
	sp, err := readSpec()
	if err != nil {
		return fmt.Errorf("%w: %w", errSetup, err)
	}
	if !sp.Randomize {
		if _, _, e := unix.RawSyscall(unix.SYS_PERSONALITY, addrNoRandomize, 0, 0); e != 0 {
			return fmt.Errorf("%w: personality: %w", errSetup, e)
		}
	}
	if err := giveUpRights(sp); err != nil {
		return fmt.Errorf("%w: %w", errSetup, err)
	}
	if sp.Probe {
		syscall.Exit(0)
	}
	if err := setLimits(sp); err != nil {
		return fmt.Errorf("%w: %w", errSetup, err)
	}
	return syscall.Exec(sp.Path, sp.Argv, sp.Env)
}

// setLimits comes last: the Go runtime has to live with them until execve.
func setLimits(sp spec) error {
	l := sp.Limits
	cpu := uint64((l.CPU + time.Second - 1) / time.Second)
	type limit struct {
		name      string
		which     int
		cur, most uint64
	}
	limits := []limit{
		{"core", unix.RLIMIT_CORE, 0, 0},
		// SIGXCPU at the soft limit tells a hang from another's SIGKILL.
		{"cpu", unix.RLIMIT_CPU, cpu, cpu + 1},
		{"fsize", unix.RLIMIT_FSIZE, l.FileSize, l.FileSize},
		{"stack", unix.RLIMIT_STACK, 8 << 20, 8 << 20},
		{"nofile", unix.RLIMIT_NOFILE, 1024, 1024},
	}
	if sp.Mode == Namespaces {
		// Counted per user namespace since Linux 5.14; elsewhere it would
		// count, and block, the user's other processes.
		limits = append(limits, limit{"nproc", unix.RLIMIT_NPROC, l.Processes, l.Processes})
	}
	limits = append(limits, limit{"as", unix.RLIMIT_AS, l.Memory, l.Memory})
	for _, r := range limits {
		var old syscall.Rlimit
		if err := syscall.Getrlimit(r.which, &old); err != nil {
			return fmt.Errorf("limit %s: %w", r.name, err)
		}
		now := syscall.Rlimit{Cur: min(r.cur, old.Max), Max: min(r.most, old.Max)}
		if err := syscall.Setrlimit(r.which, &now); err != nil {
			return fmt.Errorf("limit %s: %w", r.name, err)
		}
	}
	return nil
}

func giveUpRights(sp spec) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	switch sp.Mode {
	case Namespaces:
		return dropCapabilities()
	case Landlock:
		// Without CAP_SETPCAP there is nothing to drop but for root in a
		// container of that kind; no_new_privs holds all the same.
		if err := dropCapabilities(); err != nil && !errors.Is(err, unix.EPERM) {
			return err
		}
		if err := landlock(filepath.Clean(sp.Scratch)); err != nil {
			return err
		}
		return seccomp()
	}
	return nil
}

// dropCapabilities removes every capability over the own namespaces, for good:
// with them the program could undo the mounts.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("ambient capabilities: %w", err)
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
