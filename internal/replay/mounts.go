package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// devices are the nodes of the sandbox's /dev, bound from the host.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// setupMounts makes the file system of mode Namespaces and moves into it:
//
//	/            a tmpfs of Limits.Disk bytes
//	/NAME        for each directory of the host's root an overlay: the host
//	             below, the tmpfs above; where that is impossible (mounts
//	             inside it, an old kernel) it is bound read-only and the
//	             working directory in it gets an overlay of its own
//	/dev /run    fresh; /proc that of the process namespace; /sys read-only
//	/symchef     guest library and the files exchanged with it
//
// It returns the directory, inside, for those files.
func setupMounts(sp *spec) (io string, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", fmt.Errorf("private mounts: %w", err)
	}
	top, err := os.ReadDir("/")
	if err != nil {
		return "", err
	}
	if err := mountTmpfs(sp.Scratch, fmt.Sprintf("size=%d,nr_inodes=65536", sp.Limits.Disk)); err != nil {
		return "", err
	}
	root := filepath.Join(sp.Scratch, "root")
	for _, d := range []string{"root", "root/dev", "root/proc", "root/run", "root/sys", "root" + exchange} {
		if err := os.MkdirAll(filepath.Join(sp.Scratch, d), 0o755); err != nil {
			return "", err
		}
	}
	// pivot_root(2) wants a mount.
	if err := unix.Mount(root, root, "", unix.MS_BIND, ""); err != nil {
		return "", fmt.Errorf("root: %w", err)
	}
	allWritable := true
	for _, e := range top {
		writable, err := show(sp, root, e)
		if err != nil {
			return "", err
		}
		allWritable = allWritable && writable
	}
	if !allWritable {
		for name, at := range map[string]string{"HOME": "/symchef/home", "TMPDIR": "/symchef/tmp"} {
			if err := os.MkdirAll(filepath.Join(root, at), 0o700); err != nil {
				return "", err
			}
			if !overlaid(filepath.Join(root, getEnv(sp.Env, name, "/tmp"))) {
				sp.Env = testcase.SetEnv(sp.Env, name, at)
			}
		}
	}
	if sp.GuestLib != "" {
		at := filepath.Join(root, testcase.GuestRoot)
		if err := os.MkdirAll(at, 0o755); err != nil {
			return "", err
		}
		if err := bindReadOnly(sp.GuestLib, at); err != nil {
			return "", fmt.Errorf("guest library: %w", err)
		}
	}
	if err := errors.Join(
		mountDev(root), mountProc(root), mountTmpfs(filepath.Join(root, "run"), "size=16m"),
		bindReadOnly("/sys", filepath.Join(root, "sys")),
	); err != nil {
		return "", err
	}
	return exchange, enter(root)
}

// exchange is the sandbox's directory for the files exchanged with the guest
// library.
const exchange = "/symchef/replay"

// own are the names in the root that setupMounts makes itself. /run is empty
// to hide the sockets of the host's services: a network namespace does not
// keep a program from connecting to them.
var own = []string{"dev", "proc", "run", "sys", "symchef"}

// show makes the entry e of the host's root appear in root. writable is false
// if it could only be shown read-only.
func show(sp *spec, root string, e os.DirEntry) (writable bool, err error) {
	name := e.Name()
	host, at := "/"+name, filepath.Join(root, name)
	switch {
	case slices.Contains(own, name):
		return true, nil
	case e.Type()&os.ModeSymlink != 0:
		to, err := os.Readlink(host)
		if err != nil {
			return false, err
		}
		return true, os.Symlink(to, at)
	case e.Type().IsRegular():
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			return false, err
		}
		return true, bindReadOnly(host, at)
	case !e.IsDir():
		return true, nil
	}
	if err := os.Mkdir(at, 0o755); err != nil {
		return false, err
	}
	if overlay(sp.Scratch, "top-"+name, host, at) == nil {
		return true, nil
	}
	if err := bindReadOnly(host, at); err != nil {
		return false, fmt.Errorf("%s: %w", host, err)
	}
	if under(sp.Cwd, host) {
		// Failure leaves the working directory read-only.
		_ = overlay(sp.Scratch, "cwd", sp.Cwd, filepath.Join(root, sp.Cwd))
	}
	return false, nil
}

// overlay mounts lower at the directory at, writable; what is written goes to
// a directory called name in the tmpfs scratch.
func overlay(scratch, name, lower, at string) error {
	up, work := filepath.Join(scratch, "up", name), filepath.Join(scratch, "work", name)
	if err := errors.Join(os.MkdirAll(up, 0o755), os.MkdirAll(work, 0o755)); err != nil {
		return err
	}
	// The root of an overlay takes its mode from above.
	if st, err := os.Stat(lower); err == nil {
		if err := os.Chmod(up, st.Mode()); err != nil {
			return err
		}
	}
	opts := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr",
		overlayEscape(lower), overlayEscape(up), overlayEscape(work))
	return unix.Mount("overlay", at, "overlay", unix.MS_NOSUID|unix.MS_NODEV, opts)
}

// overlaid reports whether path is in an overlay.
func overlaid(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Type == unix.OVERLAYFS_SUPER_MAGIC
}

// overlayEscape protects the separators of overlayfs options.
func overlayEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`).Replace(s)
}

func mountTmpfs(at, opts string) error {
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, opts+",mode=0755"); err != nil {
		return fmt.Errorf("tmpfs at %s: %w", at, err)
	}
	return nil
}

// bindReadOnly shows from, with all that is mounted below it, at to.
func bindReadOnly(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return unix.MountSetattr(unix.AT_FDCWD, to, unix.AT_RECURSIVE, &unix.MountAttr{
		Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID,
	})
}

// under reports whether path p is dir or in it.
func under(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

func mountDev(root string) error {
	dev := filepath.Join(root, "dev")
	if err := unix.Mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "size=16m,mode=0755"); err != nil {
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
	if err := os.Mkdir(filepath.Join(dev, "shm"), 0o777|os.ModeSticky); err != nil {
		return err
	}
	var errs []error
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		errs = append(errs, os.Symlink(to, filepath.Join(dev, name)))
	}
	return errors.Join(errs...)
}

// mountProc shows the own processes only; where the kernel forbids a fresh
// /proc (one with covered parts, as in containers), the host's, read-only.
func mountProc(root string) error {
	at := filepath.Join(root, "proc")
	if unix.Mount("proc", at, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "") == nil {
		return nil
	}
	if err := bindReadOnly("/proc", at); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	return nil
}

// enter makes root the root and forgets the old one (pivot_root(2), notes).
func enter(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("the old root: %w", err)
	}
	return os.Chdir("/")
}
