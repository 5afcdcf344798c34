package replay

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of landlock(7) by the version of its ABI that introduced them.
const (
	landlockV1 = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // the 13 of version 1
)

// landlock lets this thread read the host, and write in scratch and to the
// harmless devices only. scoped is false if this kernel's Landlock lets signals
// pass to the host's processes.
func landlock(scratch string) (scoped bool, err error) {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return false, fmt.Errorf("landlock: %w", e)
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
		return false, fmt.Errorf("landlock ruleset: %w", e)
	}
	defer unix.Close(int(rules))
	allow, err := landlockPaths(scratch, attr.Handled_access_fs)
	if err != nil {
		return false, err
	}
	for path, access := range allow {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("landlock %s: %w", path, err)
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
		_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, unix.LANDLOCK_RULE_PATH_BENEATH,
			uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
		unix.Close(fd)
		if e != 0 {
			return false, fmt.Errorf("landlock %s: %w", path, e)
		}
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); e != 0 {
		return false, fmt.Errorf("landlock: %w", e)
	}
	return v >= 6, nil
}

// landlockPaths are the rights by path. All folders can be listed, all files
// read but those of /dev, where reading is doing, and of /run, which is where
// services are spoken to.
func landlockPaths(scratch string, all uint64) (map[string]uint64, error) {
	const file = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	allow := map[string]uint64{"/": unix.LANDLOCK_ACCESS_FS_READ_DIR, scratch: all}
	top, err := os.ReadDir("/")
	if err != nil {
		return nil, err
	}
	for _, e := range top {
		if e.Name() != "dev" && e.Name() != "run" && e.Type()&(os.ModeNamedPipe|os.ModeSocket|os.ModeDevice|os.ModeSymlink) == 0 {
			allow["/"+e.Name()] = file
		}
	}
	for _, d := range devices {
		allow["/dev/"+d] = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	}
	return allow, nil
}
