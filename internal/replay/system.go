package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// devices are the nodes of the sandbox's /dev, bound from the host.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// mountDev makes /dev: harmless devices, terminals of its own, shared memory.
func mountDev(sp *spec) error {
	const dev = "root/dev"
	if err := unix.Mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "size=1m,mode=0755"); err != nil {
		return fmt.Errorf("/dev: %w", err)
	}
	for _, n := range devices {
		if _, err := os.Stat("/dev/" + n); err != nil {
			continue
		}
		at := filepath.Join(dev, n)
		if err := os.WriteFile(at, nil, 0o666); err != nil {
			return err
		}
		if err := unix.Mount("/dev/"+n, at, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("/dev/%s: %w", n, err)
		}
	}
	for _, d := range []string{"shm", "pts"} {
		if err := os.Mkdir(filepath.Join(dev, d), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", dev+"/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%d,mode=1777", sp.Limits.Disk)); err != nil {
		return fmt.Errorf("/dev/shm: %w", err)
	}
	links := map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	}
	opts := "newinstance,ptmxmode=0666,mode=0620"
	if sp.Identity != same {
		opts += ",gid=5" // tty; a namespace with one user lacks it
	}
	if unix.Mount("devpts", dev+"/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, opts) == nil {
		links["ptmx"] = "pts/ptmx"
	}
	var errs []error
	for name, to := range links {
		errs = append(errs, os.Symlink(to, filepath.Join(dev, name)))
	}
	return errors.Join(errs...)
}

// procShown are the entries of /proc, besides processes, that tell of the
// system and do nothing. All others are masked: those of this kernel as those
// of one to come.
var procShown = []string{
	"self", "thread-self", "mounts", "net", "sys", "sysvipc", // the sandbox's own; sys is read-only
	"buddyinfo", "cgroups", "cmdline", "consoles", "cpuinfo", "crypto", "devices", "diskstats", "execdomains", "filesystems",
	"interrupts", "loadavg", "locks", "meminfo", "misc", "modules", "partitions", "softirqs", "stat", "swaps", "uptime",
	"version", "vmstat", "zoneinfo",
}

// mountProc shows the own processes only; where the kernel forbids a fresh
// /proc (one with covered parts, as in containers), the host's, read-only.
func mountProc(sp *spec) error {
	const at = "root/proc"
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	// Invisible is whom the program may not trace: the supervisor. The group
	// that sees all is nobody's, not root's.
	opts := "hidepid=invisible"
	if sp.Identity == sameAll {
		opts += fmt.Sprint(",gid=", overflowID)
	}
	if unix.Mount("proc", at, "proc", flags, opts) != nil && unix.Mount("proc", at, "proc", flags, "") != nil {
		if err := bindReadOnly("/proc", at); err != nil {
			return fmt.Errorf("/proc: %w", err)
		}
		return mask(at)
	}
	if err := mask(at); err != nil {
		return err
	}
	if err := bindReadOnly(at+"/sys", at+"/sys"); err != nil {
		return fmt.Errorf("/proc/sys: %w", err)
	}
	return nil
}

// mask covers the entries of /proc, at at, that are not in procShown.
func mask(at string) error {
	entries, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err == nil || slices.Contains(procShown, e.Name()) {
			continue
		}
		with := "nothing"
		if e.IsDir() {
			with = "empty"
		}
		if err := bindReadOnly(with, filepath.Join(at, e.Name())); err != nil {
			return fmt.Errorf("/proc/%s: %w", e.Name(), err)
		}
	}
	return nil
}

// mountSys shows of /sys what libraries ask about processors.
func mountSys() error {
	const sys = "root/sys"
	if err := mountTmpfs(sys, "size=64k"); err != nil {
		return err
	}
	for _, d := range []string{"devices/system/cpu", "devices/system/node", "kernel/mm/transparent_hugepage"} {
		at := filepath.Join(sys, d)
		if _, err := os.Stat("/sys/" + d); err != nil {
			continue
		}
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		if err := bindReadOnly("/sys/"+d, at); err != nil {
			return fmt.Errorf("/sys/%s: %w", d, err)
		}
	}
	return unix.MountSetattr(unix.AT_FDCWD, sys, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// startNetwork gives the network namespace its loopback.
func startNetwork() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}

// hostname is that of the machine.
const hostname = "symchef"

// nameHost gives the UTS namespace the machine's names.
func nameHost() error {
	return errors.Join(unix.Sethostname([]byte(hostname)), unix.Setdomainname([]byte("(none)")))
}
