package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// An identity is who the program of a replay in namespaces is to the host.
// Inside it is always the user who started the replay.
type identity int

const (
	// same is the user: the only one an ordinary user can give.
	same identity = iota
	// sameAll is the superuser with all ids of the host, without any rights
	// but those of whom files belong to. For file systems that cannot be
	// shifted.
	sameAll
	// shifted is an id of the host that nobody has. The files of the host are
	// shown with their owners shifted as well, so that the program reads what
	// the superuser reads.
	shifted
)

// shiftBase is the host's id of the superuser inside, shiftSize how many ids
// follow it: a range that no common tool gives to anybody (systemd's "Users,
// Groups, UIDs and GIDs" calls it unused).
const shiftBase, shiftSize = 0x7000_0000, 0x0fff_0000

// who is the best identity that works here, found by trying.
var who = sync.OnceValue(func() identity {
	if os.Getuid() != 0 || os.Geteuid() != 0 {
		return same
	}
	for _, id := range []identity{shifted, sameAll} {
		sp := spec{Mode: Namespaces, Identity: id, Probe: true, Cwd: "/", Limits: Limits{}.withDefaults()}
		if _, err := launch(context.Background(), sp, nil, nil, nil); err == nil {
			return id
		}
	}
	return same
})

// maps are the ids of the new user namespace.
func (id identity) maps() (uids, gids []syscall.SysProcIDMap) {
	switch id {
	case shifted:
		m := []syscall.SysProcIDMap{{ContainerID: 0, HostID: shiftBase, Size: shiftSize}}
		return m, m
	case sameAll:
		return ownMap("/proc/self/uid_map"), ownMap("/proc/self/gid_map")
	}
	one := func(n int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: n, HostID: n, Size: 1}}
	}
	return one(os.Getuid()), one(os.Getgid())
}

// ownMap maps every id of this namespace to itself.
func ownMap(file string) (m []syscall.SysProcIDMap) {
	b, _ := os.ReadFile(file)
	for line := range strings.Lines(string(b)) {
		var inside, outside, n int
		if _, err := fmt.Sscan(line, &inside, &outside, &n); err == nil {
			m = append(m, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: n})
		}
	}
	return m
}

// assume makes this process the user inside: until then it is the host's
// superuser, which the namespace does not know.
func (id identity) assume(groups []int) error {
	if id != shifted {
		return nil
	}
	if err := errors.Join(syscall.Setgroups(groups), syscall.Setresgid(0, 0, 0), syscall.Setresuid(0, 0, 0)); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	// The change of identity forgets it.
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// shift is a user namespace with the ids of identity shifted; nobody is in it.
var shift = sync.OnceValues(func() (*os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	uids, gids := shifted.maps()
	cmd := exec.Command(self)
	cmd.Args, cmd.Env = []string{idleArg}, []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER, UidMappings: uids, GidMappings: gids, GidMappingsEnableSetgroups: true,
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", cmd.Process.Pid))
	in.Close()
	return f, errors.Join(err, cmd.Wait())
})

// idle waits for the end of its input.
func idle() { io.Copy(io.Discard, os.Stdin) }

// A tree is a file system of the host with shifted owners, not mounted yet.
type tree struct {
	At   string // where the host has it
	Dir  bool   // or a file
	file *os.File
}

// trees are the file systems the program is to see, "/" first. One that cannot
// be shifted is left out, unless needed is in it.
func trees(needed ...string) ([]tree, error) {
	ns, err := shift()
	if err != nil {
		return nil, err
	}
	mounts, err := hostMounts()
	if err != nil {
		return nil, err
	}
	var all []tree
	for _, m := range append([]string{"/"}, mounts...) {
		t, err := shiftedTree(m, ns)
		if err == nil {
			all = append(all, t)
			continue
		}
		for _, p := range append(needed, "/") {
			if home(mounts, p) == m {
				closeTrees(all)
				return nil, fmt.Errorf("%s cannot be shown with other owners: %w", m, err)
			}
		}
	}
	return all, nil
}

func closeTrees(all []tree) {
	for _, t := range all {
		t.file.Close()
	}
}

func shiftedTree(at string, ns *os.File) (tree, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, at, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return tree{}, err
	}
	t := tree{At: at, file: os.NewFile(uintptr(fd), at)}
	err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{
		Attr_set:    unix.MOUNT_ATTR_IDMAP | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV,
		Propagation: unix.MS_PRIVATE, Userns_fd: uint64(ns.Fd()),
	})
	var st unix.Stat_t
	if err = errors.Join(err, unix.Fstat(fd, &st)); err != nil {
		t.file.Close()
		return tree{}, err
	}
	t.Dir = st.Mode&unix.S_IFMT == unix.S_IFDIR
	return t, nil
}

// hostMounts are the places in which the host has mounted something that the
// sandbox shows, "/" excepted.
func hostMounts() ([]string, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var at []string
	seen := map[string]bool{"/": true}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		fields := strings.Fields(sc.Text()) // proc(5): the fifth is the place
		if len(fields) < 5 {
			continue
		}
		p := unescapeOctal(fields[4])
		first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
		if seen[p] || isOwn(first) {
			continue
		}
		seen[p] = true
		at = append(at, p)
	}
	slices.Sort(at) // what is below comes later
	return at, nil
}

// home is the mount, of mounts or "/", that p is in.
func home(mounts []string, p string) string {
	best := "/"
	for _, m := range mounts {
		if under(path.Clean(p), m) && len(m) > len(best) {
			best = m
		}
	}
	return best
}

// unescapeOctal undoes the escapes of /proc/self/mountinfo.
func unescapeOctal(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
