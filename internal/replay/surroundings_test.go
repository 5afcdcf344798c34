package replay

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// surroundings are what a hostile program must leave alone: a tree of files,
// objects of all kinds that it is told of, and the host itself.
type surroundings struct {
	t      *testing.T
	dir    string // the tree; a program knows it as DIR
	mark   string // part of the name of whatever a program leaves behind
	home   string
	victim *exec.Cmd
	master *os.File // of the terminal pts
	pts    string
	port   int
	spoken atomic.Int64 // how often somebody spoke to a service
	ipcKey int
	shm    int
	sem    int
	msg    int
	key    int
	memory []byte // the segment shm
	locked atomic.Int64
	stop   chan struct{}
	skew   time.Duration
}

// newSurroundings makes them; they go with the test.
func newSurroundings(t *testing.T) *surroundings {
	t.Helper()
	s := &surroundings{t: t, stop: make(chan struct{})}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	s.dir, err = os.MkdirTemp("", "symchef-hostile-")
	ok(err)
	ok(os.Chmod(s.dir, 0o755))
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	s.mark = "mark-" + filepath.Base(s.dir)
	s.home = os.Getenv("HOME")
	for _, name := range []string{"file", "second", "sub/inner", "inherited"} {
		p := filepath.Join(s.dir, name)
		ok(os.MkdirAll(filepath.Dir(p), 0o755))
		ok(os.WriteFile(p, []byte("precious "+name), 0o644))
		_ = unix.Setxattr(p, "user.canary", []byte("sings"), 0) // not every file system has it
		ok(os.Chtimes(p, time.Unix(1e9, 0), time.Unix(1e9, 0)))
	}
	ok(os.Mkdir(filepath.Join(s.dir, "empty"), 0o755))
	ok(unix.Mkfifo(filepath.Join(s.dir, "fifo"), 0o666))
	fifo, err := os.OpenFile(filepath.Join(s.dir, "fifo"), os.O_RDWR, 0)
	ok(err)
	t.Cleanup(func() { fifo.Close() })
	if id, err := os.ReadFile("/usr/bin/id"); err == nil && os.Getuid() == 0 {
		p := filepath.Join(s.dir, "asowner")
		ok(os.WriteFile(p, id, 0o755))
		ok(os.Chown(p, 4321, 4321))
		ok(os.Chmod(p, 0o755|os.ModeSetuid))
	}
	// A descriptor that whoever starts symchef may have left open.
	fd, err := syscall.Open(filepath.Join(s.dir, "inherited"), syscall.O_WRONLY|syscall.O_APPEND, 0)
	ok(err)
	t.Cleanup(func() { syscall.Close(fd) })

	s.victim = exec.Command("sleep", "1000")
	ok(s.victim.Start())
	t.Cleanup(func() { s.victim.Process.Kill(); s.victim.Wait() })

	s.services(ok)
	s.objects(ok)
	s.terminal(ok)
	s.skew = clockSkew()
	go s.lock()
	t.Cleanup(func() { close(s.stop) })
	return s
}

// services listen in all ways in which a program of the host can be spoken to.
func (s *surroundings) services(ok func(error)) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	ok(err)
	s.port = tcp.Addr().(*net.TCPAddr).Port
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: s.port})
	ok(err)
	local, err := net.Listen("unix", filepath.Join(s.dir, "socket"))
	ok(err)
	ok(os.Chmod(filepath.Join(s.dir, "socket"), 0o777))
	datagrams, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(s.dir, "datagrams"), Net: "unixgram"})
	ok(err)
	ok(os.Chmod(filepath.Join(s.dir, "datagrams"), 0o777))
	abstract, err := net.Listen("unix", "@"+s.mark)
	ok(err)
	for _, l := range []net.Listener{tcp, local, abstract} {
		s.t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.spoken.Add(1)
				c.Close()
			}
		}()
	}
	for _, c := range []net.PacketConn{udp, datagrams} {
		s.t.Cleanup(func() { c.Close() })
		go func() {
			for b := make([]byte, 10); ; {
				if _, _, err := c.ReadFrom(b); err != nil {
					return
				}
				s.spoken.Add(1)
			}
		}()
	}
}

// objects are those of System V, a POSIX queue and a key.
func (s *surroundings) objects(ok func(error)) {
	call := func(nr, a, b, c, d uintptr) int {
		r, _, e := unix.Syscall6(nr, a, b, c, d, 0, 0)
		if e != 0 {
			s.t.Fatalf("system call %d: %v", nr, e)
		}
		return int(r)
	}
	s.ipcKey = 0x5c000000 + os.Getpid()<<4&0xfffff0
	s.shm = call(unix.SYS_SHMGET, uintptr(s.ipcKey), 4096, unix.IPC_CREAT|0o666, 0)
	s.sem = call(unix.SYS_SEMGET, uintptr(s.ipcKey), 1, unix.IPC_CREAT|0o666, 0)
	s.msg = call(unix.SYS_MSGGET, uintptr(s.ipcKey), unix.IPC_CREAT|0o666, 0, 0)
	var err error
	s.memory, err = unix.SysvShmAttach(s.shm, 0, 0)
	ok(err)
	copy(s.memory, "precious")
	name := append([]byte(s.mark), 0)
	fd := call(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&name[0])), unix.O_CREAT|unix.O_RDWR, 0o666, 0)
	unix.Close(fd)
	s.key, err = unix.AddKey("user", s.mark, []byte("secret"), unix.KEY_SPEC_USER_SESSION_KEYRING)
	if err != nil {
		s.t.Logf("skipped keys: %v", err)
	}
	s.t.Cleanup(func() {
		unix.SysvShmDetach(s.memory)
		for k := range 2 {
			if id, _, e := unix.Syscall(unix.SYS_SHMGET, uintptr(s.ipcKey+k), 0, 0); e == 0 {
				unix.Syscall(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0)
			}
			if id, _, e := unix.Syscall(unix.SYS_SEMGET, uintptr(s.ipcKey+k), 0, 0); e == 0 {
				unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID)
			}
			if id, _, e := unix.Syscall(unix.SYS_MSGGET, uintptr(s.ipcKey+k), 0, 0); e == 0 {
				unix.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0)
			}
		}
		for _, q := range []string{s.mark, "left"} {
			name := append([]byte(q), 0)
			unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(&name[0])), 0, 0)
		}
		unix.KeyctlInt(unix.KEYCTL_UNLINK, s.key, unix.KEY_SPEC_USER_SESSION_KEYRING, 0, 0)
	})
}

// terminal opens one of which the program knows the name.
func (s *surroundings) terminal(ok func(error)) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		s.t.Logf("skipped terminals: %v", err)
		return
	}
	s.master = os.NewFile(uintptr(fd), "ptmx")
	s.t.Cleanup(func() { s.master.Close() })
	ok(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	ok(err)
	s.pts = fmt.Sprintf("/dev/pts/%d", n)
	// The slave stays open, or what is typed goes with who typed it.
	slave, err := unix.Open(s.pts, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	ok(err)
	s.t.Cleanup(func() { unix.Close(slave) })
}

// lock locks the file now and then, as its owner would.
func (s *surroundings) lock() {
	fd, err := unix.Open(filepath.Join(s.dir, "file"), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for {
		select {
		case <-s.stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		l := unix.Flock_t{Type: unix.F_WRLCK}
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil || unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &l) != nil {
			s.locked.Add(1)
		}
		unix.Flock(fd, unix.LOCK_UN)
		l.Type = unix.F_UNLCK
		unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &l)
	}
}

// env tells a program where everything is.
func (s *surroundings) env(m Mode) []string {
	n := func(v int) string { return fmt.Sprint(v) }
	return []string{
		"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + s.home, "DIR=" + s.dir, "MARK=" + s.mark, "VICTIM=" + n(s.victim.Process.Pid),
		"TEST=" + n(os.Getpid()), "PTS=" + s.pts, "PORT=" + n(s.port), "IPCKEY=" + n(s.ipcKey), "SHM=" + n(s.shm), "SEM=" + n(s.sem),
		"MSG=" + n(s.msg), "KEY=" + n(s.key), "KIND=" + string(m), "R_HOME=", "LC_ALL=C",
	}
}

// places are folders in which nothing marked may appear.
func (s *surroundings) places() []string {
	return []string{
		"/", "/tmp", "/var/tmp", "/etc", "/root", "/home", "/usr", "/usr/local/bin", "/run", "/dev", "/dev/shm", "/dev/mqueue", "/opt", "/var",
		"/boot", "/srv", "/run/lock", "/var/spool/cron", "/etc/cron.d", s.home, os.TempDir(),
	}
}

// state is everything there is to see, one entry a thing.
func (s *surroundings) state() map[string]string {
	m := map[string]string{}
	filepath.WalkDir(s.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil {
			m["file "+strings.TrimPrefix(p, s.dir)] = describe(p)
		}
		return nil
	})
	for _, p := range []string{"/etc/passwd", "/etc/hosts", "/etc/hostname", s.home + "/.profile"} {
		if p == "/.profile" {
			continue
		}
		m["file "+p] = describe(p)
	}
	for _, d := range s.places() {
		names, _ := os.ReadDir(d)
		for _, e := range names {
			if strings.Contains(e.Name(), s.mark) {
				m["left "+filepath.Join(d, e.Name())] = "there"
			}
		}
	}
	s.kernel(m)
	s.processes(m)
	m["services"] = fmt.Sprint("spoken to ", s.spoken.Load(), " times")
	m["locks"] = fmt.Sprint("refused ", s.locked.Load(), " times")
	if s.master != nil {
		w, _ := unix.IoctlGetWinsize(int(s.master.Fd()), unix.TIOCGWINSZ)
		n, _ := unix.IoctlGetInt(int(s.master.Fd()), unix.TIOCINQ)
		m["terminal"] = fmt.Sprintf("%+v, %d bytes shown, session %s", w, n, first(unix.IoctlGetInt(int(s.master.Fd()), unix.TIOCGSID)))
	}
	return m
}

func first(v int, err error) string { return fmt.Sprint(v, " ", err) }

// kernel is what the kernel keeps.
func (s *surroundings) kernel(m map[string]string) {
	read := func(p string) string { b, err := os.ReadFile(p); return fmt.Sprintf("%s %v", b, err) }
	filepath.WalkDir("/proc/sys", func(p string, d fs.DirEntry, err error) error {
		// These count, or are new each time they are read.
		for _, busy := range []string{"/random/", "/fs/dentry-state", "/fs/inode-", "/fs/file-nr", "/fs/aio-nr", "/ns_last_pid", "/fs/binfmt_misc", "/net/", "/fs/quota/", "/pty/nr", "/kernel/tainted", "/vm/stat_refresh"} {
			if strings.Contains(p, busy) {
				return nil
			}
		}
		if fi, err := d.Info(); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o444 != 0 {
			m["sysctl "+p] = read(p)
		}
		return nil
	})
	m["mounts"] = read("/proc/self/mountinfo")
	for _, kind := range []string{"shm", "sem", "msg"} {
		for line := range strings.Lines(read("/proc/sysvipc/" + kind)) {
			f := strings.Fields(line)
			if len(f) > 2 && (f[0] == fmt.Sprint(s.ipcKey) || f[0] == fmt.Sprint(s.ipcKey+1)) {
				m["ipc "+kind+" "+f[0]] = f[1]
			}
		}
	}
	queued, _, _ := unix.Syscall(unix.SYS_SEMCTL, uintptr(s.sem), 0, 12 /* GETVAL */)
	m["ipc values"] = fmt.Sprintf("%q, semaphore %d", s.memory[:8], int(queued))
	for line := range strings.Lines(read("/proc/sysvipc/msg")) {
		if f := strings.Fields(line); len(f) > 4 && f[0] == fmt.Sprint(s.ipcKey) {
			m["ipc messages"] = f[3] + " bytes in " + f[4]
		}
	}
	for _, q := range []string{s.mark, "left"} {
		name := append([]byte(q), 0)
		fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&name[0])), unix.O_RDONLY, 0, 0, 0, 0)
		m["queue "+q] = e.Error()
		if e == 0 {
			unix.Close(int(fd))
		}
	}
	var secret [20]byte
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, s.key, secret[:], 0)
	m["key"] = fmt.Sprintf("%q %v", secret[:max(n, 0)], err)
	keys := 0
	for line := range strings.Lines(read("/proc/keys")) {
		if strings.Contains(line, s.mark) {
			keys++
		}
	}
	m["keys"] = fmt.Sprint(keys)
	filepath.WalkDir("/sys/fs/cgroup", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (strings.Contains(p, s.mark) || strings.Contains(p, "symchef")) {
			m["cgroup "+p] = "there"
		}
		if strings.Count(p, "/") > 7 && d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	var u unix.Utsname
	unix.Uname(&u)
	m["names"] = fmt.Sprintf("%s %s", u.Nodename, u.Domainname)
	m["clock"] = "set right"
	if d := clockSkew() - s.skew; d.Abs() > time.Second {
		m["clock"] = "changed by " + d.String()
	}
}

// processes are the victim, this process, and those with the mark.
func (s *surroundings) processes(m map[string]string) {
	for name, pid := range map[string]int{"victim": s.victim.Process.Pid, "test": os.Getpid()} {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		limits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
		adj, _ := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 39 {
			m[name] = "gone"
			continue
		}
		state := f[0]
		if state == "R" || name == "test" {
			state = "S"
		}
		var cpus unix.CPUSet
		unix.SchedGetaffinity(pid, &cpus)
		io, _, _ := unix.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(pid), 0)
		m[name] = fmt.Sprintf("state %s, nice %s, policy %s, cpus %v, io %d, oom %s, limits %s", state, f[16], f[38], cpus.Count(), io, adj, limits)
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if d == fmt.Sprint("/proc/", os.Getpid()) {
			continue
		}
		env, _ := os.ReadFile(d + "/environ")
		args, _ := os.ReadFile(d + "/cmdline")
		if bytes.Contains(env, []byte("MARK="+s.mark)) || bytes.Contains(args, []byte(s.mark)) {
			m["process "+d] = string(args)
		}
	}
}

// describe is all of a file.
func describe(p string) string {
	var st unix.Stat_t
	if err := unix.Lstat(p, &st); err != nil {
		return err.Error()
	}
	out := fmt.Sprintf("mode %o owner %d:%d links %d", st.Mode, st.Uid, st.Gid, st.Nlink)
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return out
	}
	b, _ := os.ReadFile(p)
	names := make([]byte, 1000)
	n, _ := unix.Llistxattr(p, names)
	var value [20]byte
	v, _ := unix.Lgetxattr(p, "user.canary", value[:])
	flags := 0
	if fd, err := unix.Open(p, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		flags, _ = unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
		unix.Close(fd)
	}
	return fmt.Sprintf("%s size %d time %d sum %x attributes %q %q flags %x", out, st.Size, st.Mtim.Sec, sha256.Sum256(b), names[:max(n, 0)], value[:max(v, 0)], flags)
}

// clockSkew is how far the clock is from the time since the host was started.
func clockSkew() time.Duration {
	var real, since unix.Timespec
	unix.ClockGettime(unix.CLOCK_REALTIME, &real)
	unix.ClockGettime(unix.CLOCK_BOOTTIME, &since)
	return time.Duration(real.Nano() - since.Nano())
}

// changes are the differences of two states.
func changes(before, after map[string]string) []string {
	all := maps.Clone(before)
	maps.Copy(all, after)
	var out []string
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if before[k] != after[k] {
			out = append(out, fmt.Sprintf("%s was %q, is %q", k, before[k], after[k]))
		}
	}
	return out
}
