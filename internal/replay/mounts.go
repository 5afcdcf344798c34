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

// setupMounts makes the file system of mode Namespaces and moves into it:
//
//	/            an overlay: what is written goes to a tmpfs of Limits.Disk
//	             bytes. Below is the host's root, if its owners could be
//	             shifted, or else nothing:
//	/NAME        then each directory of the host's root is an overlay of its
//	             own; one that the kernel cannot overlay (mounts inside it) is
//	             made of its entries, or bound read-only
//	/dev /run    fresh; /proc that of the process namespace, /sys what tells
//	             of processors: both read-only and masked
//	/symchef     guest library and the files exchanged with it; it is there
//	             for whoever knows, the listing of / does not have it
//
// It returns the directory, inside, for those files.
func (b *sandbox) setupMounts() (io string, err error) {
	sp := &b.sp
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", fmt.Errorf("private mounts: %w", err)
	}
	opts := fmt.Sprintf("size=%d,nr_inodes=65536,uid=%d,gid=%d", sp.Limits.Disk, insideID(sp, os.Getuid()), insideID(sp, os.Getgid()))
	if err := mountTmpfs(sp.Scratch, opts); err != nil {
		return "", err
	}
	// From here on by relative names: who assumes another identity cannot go
	// there again.
	if err := os.Chdir(sp.Scratch); err != nil {
		return "", err
	}
	if err := sp.Identity.assume(sp.Groups); err != nil {
		return "", err
	}
	for _, d := range []string{"root", "empty", "symchef/replay", "symchef/home", "symchef/tmp"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile("nothing", nil, 0o444); err != nil {
		return "", err
	}
	if sp.Identity == shifted {
		err = b.showTrees()
	} else {
		err = b.showEntries()
	}
	if err != nil {
		return "", err
	}
	if err := errors.Join(mountDev(sp), mountProc(sp), mountTmpfs("root/run", "size=16m"), mountSys(), mountExchange(sp)); err != nil {
		return "", err
	}
	fd, err := unix.Open(".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	for i := range b.layers {
		b.layers[i].Upper = fmt.Sprintf("/proc/self/fd/%d/%s", fd, b.layers[i].Upper)
	}
	return exchange, enter("root")
}

// insideID is what an id of this process is inside.
func insideID(sp *spec, id int) int {
	if sp.Identity == shifted {
		return 0 // the superuser's; another does not shift
	}
	return id
}

// exchange is the sandbox's directory for the files exchanged with the guest
// library.
const exchange = "/symchef/replay"

// isOwn reports whether setupMounts makes a name in the root itself. /run is
// empty to hide the sockets of the host's services: a network namespace does
// not keep a program from connecting to them.
func isOwn(name string) bool {
	return slices.Contains([]string{"dev", "proc", "run", "sys", "symchef"}, name)
}

// showTrees makes root of the host's file systems with shifted owners.
func (b *sandbox) showTrees() error {
	for i, t := range b.sp.Trees {
		lower, at := fmt.Sprintf("lower/%d", i), filepath.Join("root", t.At)
		if !t.Dir {
			lower = at // no overlay has a file for its root
		}
		if err := os.MkdirAll(filepath.Dir(lower), 0o755); err != nil {
			return err
		}
		if t.Dir {
			if err := os.MkdirAll(lower, 0o755); err != nil {
				return err
			}
		} else if err := unix.MountSetattr(treeFD+i, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("%s: %w", t.At, err)
		}
		err := unix.MoveMount(treeFD+i, "", unix.AT_FDCWD, lower, unix.MOVE_MOUNT_F_EMPTY_PATH)
		unix.Close(treeFD + i)
		if err == nil && t.Dir {
			err = b.overlay(fmt.Sprint(i), lower, at)
		}
		if err != nil && t.At == "/" {
			return fmt.Errorf("%s: %w", t.At, err)
		}
		// What the sandbox cannot show elsewhere is empty there.
	}
	for _, d := range []string{"dev", "proc", "run", "sys", "symchef"} {
		if err := os.MkdirAll(filepath.Join("root", d), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// showEntries makes root of the directories of the host's.
func (b *sandbox) showEntries() error {
	sp := &b.sp
	if err := b.overlay("root", "empty", "root"); err != nil {
		return fmt.Errorf("/: %w", err)
	}
	for _, d := range []string{"dev", "proc", "run", "sys", "symchef"} {
		if err := os.Mkdir(filepath.Join("root", d), 0o755); err != nil {
			return err
		}
	}
	top, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	mounts, err := hostMounts()
	if err != nil {
		return err
	}
	allWritable := true
	for _, e := range top {
		if isOwn(e.Name()) {
			continue
		}
		writable, err := b.show("/"+e.Name(), e, mounts)
		if err != nil {
			return err
		}
		allWritable = allWritable && writable
	}
	if !allWritable && under(sp.Cwd, "/") && !overlaid(filepath.Join("root", sp.Cwd)) {
		// Failure leaves the working directory read-only.
		_ = b.overlay("cwd", sp.Cwd, filepath.Join("root", sp.Cwd))
	}
	for name, at := range map[string]string{"HOME": "/symchef/home", "TMPDIR": "/symchef/tmp"} {
		if !allWritable && !overlaid(filepath.Join("root", getEnv(sp.Env, name, "/tmp"))) {
			sp.Env = testcase.SetEnv(sp.Env, name, at)
		}
	}
	open := append([]string{"/tmp", "/var/tmp", sp.Cwd, getEnv(sp.Env, "HOME", "/"), getEnv(sp.Env, "TMPDIR", "/")}, sp.Writes...)
	slices.Sort(open) // what is mounted later would hide what is in it
	for _, p := range open {
		b.openPath(p)
	}
	st, err := os.Stat("/")
	if err != nil {
		return err
	}
	return os.Chmod("root", ownMode("/", st))
}

// mostEntries is how many entries a directory may have to be made of them.
const mostEntries = 256

// show makes the entry e of the host's directory, at host, appear in root.
// writable is false if some of it could only be shown read-only.
func (b *sandbox) show(host string, e os.DirEntry, mounts []string) (writable bool, err error) {
	at := filepath.Join("root", host)
	switch {
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
	if b.overlay(host, host, at) == nil {
		return true, nil
	}
	inside := func(m string) bool { return m != host && under(m, host) }
	if entries, err := os.ReadDir(host); err == nil && len(entries) <= mostEntries && slices.ContainsFunc(mounts, inside) {
		writable = true
		for _, e := range entries {
			w, err := b.show(filepath.Join(host, e.Name()), e, mounts)
			if err != nil {
				return false, err
			}
			writable = writable && w
		}
		st, err := os.Stat(host)
		if err != nil {
			return false, err
		}
		return writable, os.Chmod(at, ownMode(host, st))
	}
	if err := bindReadOnly(host, at); err != nil {
		return false, fmt.Errorf("%s: %w", host, err)
	}
	return false, nil
}

// openPath makes the directories on the way to p, and p, writable where the
// user may write on the host. Overlayfs gives a copy of a directory the owner
// it has below, and in a namespace with one user it cannot for those of
// others: the first directory below such a one gets an overlay of its own.
func (b *sandbox) openPath(p string) {
	if !filepath.IsAbs(p) {
		return
	}
	foreignAbove := false
	at := "/"
	for i, name := range strings.Split(strings.Trim(filepath.Clean(p), "/"), "/") {
		at = filepath.Join(at, name)
		var st unix.Stat_t
		if isOwn(name) && i == 0 || unix.Lstat(at, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return
		}
		if i == 0 {
			continue // an overlay already
		}
		foreign := foreignID(st.Uid) || foreignID(st.Gid)
		if (foreign || foreignAbove) && unix.Access(at, unix.W_OK) == nil || slices.Contains(b.sp.Writes, at) && len(foreignFiles(at)) > 0 {
			if !mountPoint(filepath.Join("root", at)) && b.overlay(at, at, filepath.Join("root", at)) != nil {
				return
			}
			foreign, foreignAbove = false, false
		}
		foreignAbove = foreignAbove || foreign
	}
}

// overflowID is what the kernel tells instead of an id that the namespace
// lacks. It may be a user's, too: then an overlay more does no harm.
const overflowID = 65534

func foreignID(id uint32) bool { return id == overflowID }

func mountPoint(p string) bool {
	var st, above unix.Stat_t
	return unix.Lstat(p, &st) == nil && unix.Lstat(filepath.Dir(p), &above) == nil && st.Dev != above.Dev
}

// ownMode is the mode of the copy, the user's own, of the directory p: what
// its owner may do with it is what the user may do with p.
func ownMode(p string, st os.FileInfo) os.FileMode {
	mode := st.Mode() &^ 0o700
	for bit, how := range map[os.FileMode]uint32{0o400: unix.R_OK, 0o200: unix.W_OK, 0o100: unix.X_OK} {
		if unix.Access(p, how) == nil {
			mode |= bit
		}
	}
	return mode
}

// overlay mounts lower at the directory at, writable; what is written goes to
// upperDir(name).
func (b *sandbox) overlay(name, lower, at string) error {
	up, work := upperDir(name), filepath.Join("work", overlayName(name))
	if err := errors.Join(os.MkdirAll(up, 0o755), os.MkdirAll(work, 0o755)); err != nil {
		return err
	}
	// The root of an overlay takes its owner and mode from above.
	if st, err := os.Stat(lower); err == nil {
		var s unix.Stat_t
		mode := st.Mode()
		if unix.Stat(lower, &s) != nil || foreignID(s.Uid) || foreignID(s.Gid) || os.Chown(up, int(s.Uid), int(s.Gid)) != nil {
			mode = ownMode(lower, st)
		}
		if err := os.Chmod(up, mode); err != nil {
			return err
		}
	}
	inside := filepath.Join("/", strings.TrimPrefix(at, "root"))
	if slices.Contains(b.sp.Writes, inside) && b.sp.Identity == same {
		b.copyForeign(lower, up)
	}
	b.raise(lower, inside, up)
	opts := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr",
		overlayEscape(lower), overlayEscape(up), overlayEscape(work))
	if err := unix.Mount("overlay", at, "overlay", unix.MS_NOSUID|unix.MS_NODEV, opts); err != nil {
		return err
	}
	b.layers = append(b.layers, layer{At: inside, Upper: up})
	return nil
}

// upperDir is where an overlay called name, mostly by its place, keeps what is
// written, relative to the scratch tmpfs.
func upperDir(name string) string { return filepath.Join("up", overlayName(name)) }

func overlayName(name string) string { return strings.ReplaceAll(name, "/", "\\") }

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

// mountExchange makes /symchef.
func mountExchange(sp *spec) error {
	const at = "root/symchef"
	if err := unix.Mount("symchef", at, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("/symchef: %w", err)
	}
	// An overlay knows a directory that a mount holds also when what it was
	// made of has gone, and does not list it.
	root := upperDir("root")
	if sp.Identity == shifted {
		root = upperDir("0")
	}
	if err := os.Remove(filepath.Join(root, "symchef")); err != nil {
		return fmt.Errorf("/symchef: %w", err)
	}
	if sp.GuestLib == "" {
		return nil
	}
	lib := filepath.Join("root", testcase.GuestRoot)
	if err := os.MkdirAll(lib, 0o755); err != nil {
		return err
	}
	from := sp.GuestLib
	if sp.Identity == shifted { // which may not go there on the host
		from = filepath.Join("root", from)
	}
	if err := bindReadOnly(from, lib); err != nil {
		return fmt.Errorf("guest library: %w", err)
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
