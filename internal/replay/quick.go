package replay

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Small files and folders are read by plain system calls: package os asks the kernel four more things of each, which is most of what a
// clone costs (TestLeaks shows what is looked at).

// readFile is os.ReadFile.
func readFile(name string) ([]byte, error) {
	fd, err := open(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b := make([]byte, 0, 1024)
	for {
		n, err := unix.Read(fd, b[len(b):cap(b)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, &os.PathError{Op: "read", Path: name, Err: err}
		case n <= 0:
			return b, nil
		default:
			if b = b[:len(b)+n]; len(b) == cap(b) {
				b = slices.Grow(b, len(b))
			}
		}
	}
}

// namesIn returns the names in folder dir, sorted.
func namesIn(dir string) ([]string, error) {
	fd, err := open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return namesOf(fd, dir)
}

// namesOf is namesIn for the folder that is open as fd.
func namesOf(fd int, dir string) (names []string, err error) {
	buf := make([]byte, 1<<12)
	for {
		n, err := unix.ReadDirent(fd, buf)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, &os.PathError{Op: "readdirent", Path: dir, Err: err}
		case n <= 0:
			slices.Sort(names)
			return names, nil
		default:
			_, _, names = unix.ParseDirent(buf[:n], -1, names)
		}
	}
}

func open(name string, flags int) (int, error) {
	for {
		fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0)
		if err == nil {
			return fd, nil
		}
		if err != unix.EINTR {
			return -1, &os.PathError{Op: "open", Path: name, Err: err}
		}
	}
}
