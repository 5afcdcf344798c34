package programs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	machine "symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

func hash(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64()
}

// limit is how long a program may take before it is called stuck.
const limit = 30 * time.Millisecond

// executor is testdata/executor.c, compiled.
type executor struct {
	path  string
	funcs map[string]uint64
}

func compile(t testing.TB) *executor {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: no gcc")
	}
	x := &executor{filepath.Join(t.TempDir(), "executor"), map[string]uint64{}}
	out, err := exec.Command(gcc, "-O1", "-static", "-nostdlib", "-fno-pic", "-no-pie", "-fno-stack-protector", "-mno-red-zone", "-o", x.path, "testdata/executor.c").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(x.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		x.funcs[s.Name] = s.Value
	}
	return x
}

// model runs programs in the machine.
type model struct {
	exe  *executor
	dir  string // has the empty directory w
	host *kernel.Host
	m    *machine.Machine
}

func newModel(exe *executor, dir string) *model {
	return &model{exe, dir, kernel.NewHost(), machine.New(expr.New())}
}

// errUnmodelled: the machine does not say what comes of it.
type errUnmodelled string

func (e errUnmodelled) Error() string { return string(e) }

func (x *model) run(e encoded) (outcome, error) {
	input := bytes.Clone(e.input)
	binary.LittleEndian.PutUint64(input[e.limit:], uint64(limit))
	sys, err := kernel.Boot(kernel.Config{Path: x.exe.path, Argv: []string{"executor"}, Cwd: x.dir, Stdin: mem.Concrete(input), Host: x.host, World: kernel.World{PIDs: -999}})
	if err != nil {
		return outcome{}, err
	}
	switch stop := x.m.Run(sys, &machine.Facts{}, 1<<26); stop.Kind {
	case machine.Exited:
	case machine.Unsupported:
		return outcome{}, errUnmodelled(stop.What)
	default:
		return outcome{}, fmt.Errorf("the machine stopped: %+v", stop)
	}
	o, err := e.decode(sys.Stdout().Data)
	if err != nil {
		return outcome{}, err
	}
	for _, f := range sys.Effects(1000) {
		if rel, ok := strings.CutPrefix(f.Path, x.dir+"/w/"); ok && f.Is != nil {
			o.files[rel] = describe(*f.Is)
		} else if f.Path != x.dir+"/w" {
			return outcome{}, fmt.Errorf("the program changed %s", f.Path)
		}
	}
	return o, nil
}

// linux runs programs on this kernel: the executor is the first process of a sandbox, see TestMain.
type linux struct {
	exe  *executor
	dir  string // the same path as model's, in the sandbox
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *os.File
	note *bytes.Buffer
}

const sandboxEnv = "SYMCHEF_PROGRAMS_SANDBOX"

// errNoSandbox: namespaces cannot be had here.
var errNoSandbox = errors.New("no namespaces for a sandbox")

func newLinux(exe *executor, dir, root string) (*linux, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	x := &linux{exe: exe, dir: dir, cmd: exec.Command(self), note: new(bytes.Buffer)}
	x.cmd.Env = append(os.Environ(), sandboxEnv+"="+strings.Join([]string{root, dir, exe.path}, ":"))
	x.cmd.Stderr = x.note
	x.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Setpgid:    true,
	}
	if os.Getuid() != 0 {
		x.cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		x.cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		x.cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if x.in, err = x.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	x.out, x.cmd.Stdout = out, w
	err = x.cmd.Start()
	w.Close()
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("%w: %v", errNoSandbox, err)
	}
	return x, nil
}

func (x *linux) close() {
	x.in.Close()
	_ = x.cmd.Process.Kill()
	_ = x.cmd.Wait()
	x.out.Close()
}

// start sends a program; the sandbox's directory is empty then.
func (x *linux) start(e encoded, limit time.Duration) error {
	input := bytes.Clone(e.input)
	binary.LittleEndian.PutUint64(input[e.limit:], uint64(limit))
	_, err := x.in.Write(input)
	return err
}

// finish waits for what comes of it, and empties the directory.
func (x *linux) finish(e encoded) (outcome, error) {
	b := make([]byte, outcomeSize+e.arena)
	_ = x.out.SetReadDeadline(time.Now().Add(30 * time.Second))
	if n, err := io.ReadFull(x.out, b); err != nil {
		return outcome{}, fmt.Errorf("%w after %d bytes from the executor %s", err, n, x.note)
	}
	o, err := e.decode(b)
	if err != nil {
		return outcome{}, err
	}
	dir := "/proc/" + strconv.Itoa(x.cmd.Process.Pid) + "/root" + x.dir + "/w"
	if o.files, err = tree(dir); err != nil {
		return outcome{}, err
	}
	if bytes.Contains(e.input, []byte("/dev/")) {
		for d := range devices {
			at := "/proc/" + strconv.Itoa(x.cmd.Process.Pid) + "/root/dev/" + d
			_ = os.Chown(at, 0, 0)
			_ = os.Chmod(at, 0o666)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return outcome{}, err
	}
	return o, os.Mkdir(dir, 0o755)
}

func (x *linux) run(e encoded, limit time.Duration) (outcome, error) {
	if err := x.start(e, limit); err != nil {
		return outcome{}, err
	}
	return x.finish(e)
}

func TestMain(m *testing.M) {
	if v := os.Getenv(sandboxEnv); v != "" {
		runtime.LockOSThread()
		err := sandbox(strings.Split(v, ":"))
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// devices are those of programs, with their minor numbers.
var devices = map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}

// sandbox makes a root of its own, without /proc and with few devices, and runs the executor in it: what programs do ends with it.
func sandbox(v []string) error {
	root, dir, exe := v[0], v[1], v[2]
	try := func(what string, err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, what, err)
			os.Exit(1)
		}
	}
	last, err := unix.Open("/proc/sys/kernel/ns_last_pid", unix.O_WRONLY, 0)
	try("ns_last_pid", err)
	program, err := os.ReadFile(exe)
	try("executor", err)
	try("private", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	try("tmpfs", unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID, "mode=755,size=64m"))
	try("directory", os.MkdirAll(root+dir+"/w", 0o755))
	try("executor", os.WriteFile(root+"/executor", program, 0o755))
	try("dev", os.Mkdir(root+"/dev", 0o755))
	for d, minor := range devices { // of its own: programs change permissions
		at := root + "/dev/" + d
		if unix.Mknod(at, unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))) != nil { // an ordinary user's sandbox
			try(d, os.WriteFile(at, nil, 0o666))
			try(d, unix.Mount("/dev/"+d, at, "", unix.MS_BIND, ""))
			try(d, unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		}
		_ = unix.Chmod(at, 0o666)
	}
	try("loopback", loopback())
	try("root", unix.Chroot(root))
	try("directory", unix.Chdir(dir))
	unix.Umask(0o022)
	for resource, l := range map[int][2]uint64{unix.RLIMIT_NOFILE: {1024, 4096}, unix.RLIMIT_NPROC: {512, 512}, unix.RLIMIT_CORE: {0, unix.RLIM_INFINITY}, unix.RLIMIT_STACK: {8 << 20, unix.RLIM_INFINITY}, unix.RLIMIT_MEMLOCK: {unix.RLIM_INFINITY, unix.RLIM_INFINITY}} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: l[0], Max: l[1]}); err != nil && resource == unix.RLIMIT_NOFILE {
			try("limits", err)
		}
	}
	var one unix.CPUSet
	one.Set(0)
	try("processor", unix.SchedSetaffinity(0, &one))
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 0)
	// A task runs until it waits, as in the machine, if that can be had.
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_KILL | 1<<unix.CAP_NET_BIND_SERVICE | 1<<unix.CAP_CHECKPOINT_RESTORE
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if kept>>c&1 == 0 {
			try("capabilities", unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0))
		}
	}
	try("privileges", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	try("ns_last_pid", unix.Dup3(last, 3, 0))
	return unix.Exec("/executor", []string{"executor"}, nil)
}

// loopback brings the interface lo up.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var req [40]byte // struct ifreq
	copy(req[:], "lo")
	binary.LittleEndian.PutUint16(req[16:], unix.IFF_UP|unix.IFF_RUNNING)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&req[0]))); errno != 0 {
		return errno
	}
	return nil
}
