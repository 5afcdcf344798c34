package replay

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// An overlay that an ordinary user may mount does not rename a directory that it shows from below (EXDEV; it would need redirect_dir, which user
// namespaces are refused). So those that a program is thought to rename are copied above first, where they are directories like others.

// moved are the directories of the host that a program with these effects has renamed, perhaps: they are gone, and there is another.
func moved(effects []testcase.FileEffect) (dirs []string) {
	if !slices.ContainsFunc(effects, func(e testcase.FileEffect) bool { return e.Change != testcase.Removed && e.Kind == testcase.Directory }) {
		return nil
	}
	for _, e := range effects {
		if st, err := os.Lstat(string(e.Path)); e.Change == testcase.Removed && err == nil && st.IsDir() {
			dirs = append(dirs, string(e.Path))
		}
	}
	return dirs
}

// What a directory may have to be copied: entries, and bytes in all.
const (
	mostMoved      = 2000
	mostMovedBytes = 32 << 20
)

var errTooMuch = errors.New("too much to be copied")

// raise copies those of spec.Moves that are in lower, which an overlay will show at the path at, to its upper directory. One that cannot be copied is left.
func (b *sandbox) raise(lower, at, upper string) {
	for _, dir := range b.sp.Moves {
		rel, err := filepath.Rel(at, dir)
		if err != nil || rel == "." || !under(dir, at) {
			continue
		}
		c := copier{}
		if c.parents(lower, upper, filepath.Dir(rel)) == nil && c.tree(filepath.Join(lower, rel), filepath.Join(upper, rel)) == nil &&
			unix.Setxattr(filepath.Join(upper, rel), "user.overlay.opaque", []byte("y"), 0) == nil {
			continue
		}
		_ = os.RemoveAll(filepath.Join(upper, rel))
	}
}

// copier copies directories within bounds.
type copier struct {
	entries int
	bytes   int64
}

// parents makes the directories of rel in upper as they are in lower.
func (c *copier) parents(lower, upper, rel string) error {
	if rel == "." {
		return nil
	}
	if err := c.parents(lower, upper, filepath.Dir(rel)); err != nil {
		return err
	}
	err := os.Mkdir(filepath.Join(upper, rel), 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return errors.Join(err, alike(filepath.Join(lower, rel), filepath.Join(upper, rel)))
}

// tree copies the directory, file or link from to to.
func (c *copier) tree(from, to string) error {
	st, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if c.entries++; c.entries > mostMoved {
		return errTooMuch
	}
	switch st.Mode().Type() {
	case fs.ModeSymlink:
		target, err := os.Readlink(from)
		if err == nil {
			err = os.Symlink(target, to)
		}
		return err
	case 0:
		if c.bytes += st.Size(); c.bytes > mostMovedBytes {
			return errTooMuch
		}
		if err := copyFile(from, to); err != nil {
			return err
		}
	case fs.ModeDir:
		if err := os.Mkdir(to, 0o700); err != nil {
			return err
		}
		list, err := os.ReadDir(from)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := c.tree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	default:
		return errTooMuch // devices and the like
	}
	return alike(from, to)
}

func copyFile(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.LimitReader(r, mostMovedBytes))
	return errors.Join(err, w.Close())
}

// alike gives to the owner, if that can be, mode and times of from.
func alike(from, to string) error {
	var st unix.Stat_t
	if err := unix.Stat(from, &st); err != nil {
		return err
	}
	if !foreignID(st.Uid) && !foreignID(st.Gid) {
		_ = os.Lchown(to, int(st.Uid), int(st.Gid))
	}
	if err := unix.Chmod(to, st.Mode&0o7777); err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, to, []unix.Timespec{st.Atim, st.Mtim}, 0)
}

// foreignFiles are the files in dir, of its first mostEntries, that belong to others and that the user may change.
func foreignFiles(dir string) (names []string) {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	list, _ := d.Readdirnames(mostEntries)
	slices.Sort(list)
	for _, name := range list {
		var st unix.Stat_t
		p := filepath.Join(dir, name)
		if unix.Lstat(p, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&0o600 == 0o600 &&
			(foreignID(st.Uid) || foreignID(st.Gid)) && unix.Access(p, unix.R_OK|unix.W_OK) == nil {
			names = append(names, name)
		}
	}
	return names
}

// copyForeign puts copies of such files into up, which the overlay of dir writes to: it could not make them itself, as they would have to belong to
// others. What does not fit stays as it is.
func (b *sandbox) copyForeign(dir, up string) {
	room := int64(min(b.sp.Limits.Disk/2, mostMovedBytes))
	for _, name := range foreignFiles(dir) {
		from, to := filepath.Join(dir, name), filepath.Join(up, name)
		st, err := os.Lstat(from)
		if err != nil || st.Size() > room {
			continue
		}
		room -= st.Size()
		if errors.Join(copyFile(from, to), alike(from, to)) != nil {
			os.Remove(to)
		}
	}
}

// written are the directories in which a program with these effects has changed something.
func written(effects []testcase.FileEffect) (dirs []string) {
	for _, e := range effects {
		if dir := filepath.Dir(string(e.Path)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
