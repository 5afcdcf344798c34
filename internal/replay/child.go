package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// MaybeConfineChild does not return if this process is a helper that Run
// started. A program that calls Run calls it first thing in main, a test
// first thing in TestMain.
func MaybeConfineChild() {
	if len(os.Args) != 1 {
		return
	}
	switch os.Args[0] {
	case confineArg:
		runtime.LockOSThread() // personality and parent-death signal are per thread
		e := confineChild()
		if b, err := json.Marshal(e); err == nil {
			unix.Write(endFD, b)
		}
		syscall.Exit(0) // os.Exit of a race-enabled binary sleeps for a second
	case execArg:
		runtime.LockOSThread() // Landlock and capabilities are per thread
		err := execChild()
		fmt.Fprintln(os.NewFile(endFD, "end"), err)
		os.Exit(1)
	}
}

func readSpec() (spec, error) {
	var sp spec
	f := os.NewFile(specFD, "spec")
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return sp, err
	}
	return sp, json.Unmarshal(b, &sp)
}

// confineChild builds the sandbox, runs the program in it, kills what it
// leaves behind and tells how it ended.
func confineChild() ending {
	unix.CloseOnExec(specFD)
	unix.CloseOnExec(endFD)
	sp, err := readSpec()
	if err != nil {
		return ending{SetupError: err.Error()}
	}
	io, err := setup(&sp)
	if err != nil {
		return ending{SetupError: err.Error()}
	}
	if sp.Inputs != nil {
		in := filepath.Join(io, "inputs.json")
		if err := os.WriteFile(in, sp.Inputs, 0o600); err != nil {
			return ending{SetupError: err.Error()}
		}
		sp.Env = append(sp.Env, "SYMCHEF_REPLAY="+in, "SYMCHEF_OUTCOME="+filepath.Join(io, "outcome.json"))
	}
	if err := sp.makeFiles(); err != nil {
		return ending{SetupError: err.Error()}
	}
	if sp.Probe && sp.Mode != Landlock {
		return ending{}
	}
	e := supervise(sp)
	e.Outcome = readOutcome(filepath.Join(io, "outcome.json"))
	return e
}

// setup makes the file system the program is to see and returns the directory
// for the files exchanged with the guest library.
func setup(sp *spec) (io string, err error) {
	if sp.Mode == Namespaces {
		return setupMounts(sp)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return "", err
	}
	for _, d := range []string{"home", "tmp", "io"} {
		if err := os.Mkdir(filepath.Join(sp.Scratch, d), 0o700); err != nil {
			return "", err
		}
	}
	sp.Env = testcase.SetEnv(sp.Env, "HOME", filepath.Join(sp.Scratch, "home"))
	sp.Env = testcase.SetEnv(sp.Env, "TMPDIR", filepath.Join(sp.Scratch, "tmp"))
	sp.useGuestLib()
	return filepath.Join(sp.Scratch, "io"), nil
}

// makeFiles makes the input files in the working directory. Where that is the host's own it is replaced by one
// of links to what is in it.
func (sp *spec) makeFiles() error {
	if len(sp.Files) == 0 {
		return nil
	}
	if sp.Mode != Namespaces {
		own := filepath.Join(sp.Scratch, "cwd")
		list, err := os.ReadDir(sp.Cwd)
		if err == nil {
			err = os.Mkdir(own, 0o700)
		}
		for _, e := range list {
			if err == nil && sp.Files[e.Name()] == nil {
				err = os.Symlink(filepath.Join(sp.Cwd, e.Name()), filepath.Join(own, e.Name()))
			}
		}
		if err != nil {
			return err
		}
		sp.Cwd = own
	}
	for name, b := range sp.Files {
		at := filepath.Join(sp.Cwd, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// useGuestLib makes the program look for the guest library at its place on
// the host, where it cannot be shown at the machine's place.
func (sp *spec) useGuestLib() {
	if sp.GuestLib == "" {
		return
	}
	for i, e := range sp.Env {
		sp.Env[i] = underGuest(e, sp.GuestLib)
	}
	for i, a := range sp.Argv {
		sp.Argv[i] = underGuest(a, sp.GuestLib)
	}
}

func getEnv(env []string, name, otherwise string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return otherwise
}

// supervise starts the last stage, waits for it or for the time limit, and
// ends every process that is left.
func supervise(sp spec) ending {
	specJSON, err := json.Marshal(sp)
	if err != nil {
		return ending{SetupError: err.Error()}
	}
	var specPipe, errPipe [2]int
	if err := errors.Join(unix.Pipe2(specPipe[:], unix.O_CLOEXEC), unix.Pipe2(errPipe[:], unix.O_CLOEXEC)); err != nil {
		return ending{SetupError: err.Error()}
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{execArg}, &syscall.ProcAttr{
		Dir:   sp.Cwd,
		Env:   []string{},
		Files: []uintptr{0, 1, 2, uintptr(specPipe[0]), uintptr(errPipe[1])},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	unix.Close(specPipe[0])
	unix.Close(errPipe[1])
	if err != nil {
		return ending{SetupError: fmt.Sprintf("start in %s: %v", sp.Cwd, err)}
	}
	// The descriptors of this process must not keep the streams open.
	for fd := range 3 {
		unix.Close(fd)
	}
	go func() {
		w := os.NewFile(uintptr(specPipe[1]), "spec")
		w.Write(specJSON)
		w.Close()
	}()
	startErr := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(os.NewFile(uintptr(errPipe[0]), "err"))
		startErr <- strings.TrimSpace(string(b))
	}()

	ended := make(chan unix.WaitStatus, 1)
	go func() {
		for {
			var ws unix.WaitStatus
			got, err := unix.Wait4(-1, &ws, 0, nil)
			if err == unix.EINTR {
				continue
			}
			if err != nil {
				return
			}
			if got == pid {
				ended <- ws
			}
		}
	}()
	stop := make(chan os.Signal, 1)
	notifyTerm(stop)
	timer := time.NewTimer(sp.Limits.Time)
	var e ending
	var ws unix.WaitStatus
	select {
	case ws = <-ended:
	case <-crowd(sp):
		killDescendants(sp.Mode)
		ws = <-ended
	case <-timer.C:
		e.TimedOut = true
	case <-stop:
		e.TimedOut = true
	}
	killDescendants(sp.Mode)
	if e.TimedOut {
		<-ended
		return e
	}
	if msg := <-startErr; msg != "" {
		if setup, ok := strings.CutPrefix(msg, errSetup.Error()); ok {
			return ending{SetupError: strings.TrimPrefix(setup, ": ")}
		}
		return ending{StartError: msg}
	}
	if ws.Signaled() {
		e.Signal = int(ws.Signal())
	} else {
		e.Status = ws.ExitStatus()
	}
	return e
}

// crowd tells when a namespace holds many more processes than its limit:
// RLIMIT_NPROC does not bind the superuser.
func crowd(sp spec) <-chan struct{} {
	if self, err := os.Readlink("/proc/self"); sp.Mode != Namespaces || err != nil || self != strconv.Itoa(os.Getpid()) {
		return nil // not a /proc of our own
	}
	c := make(chan struct{})
	go func() {
		for ; ; time.Sleep(10 * time.Millisecond) {
			if l, _ := filepath.Glob("/proc/[0-9]*"); uint64(len(l)) > sp.Limits.Processes+8 {
				close(c)
				return
			}
		}
	}()
	return c
}

// killDescendants ends every process below this one. Those of a namespace die
// together; elsewhere orphans come to this process, their subreaper, so that
// the children of the next round are found until none is left.
func killDescendants(m Mode) {
	if m == Namespaces {
		unix.Kill(-1, unix.SIGKILL)
		return
	}
	for range 10_000 {
		pids := children()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(time.Millisecond) // the waiting goroutine reaps them
	}
}

// children lists the children of this process, of all its threads.
func children() []int {
	var pids []int
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, s := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(s); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// readOutcome reads the outcome file; nil if there is none. The program may
// have made anything of it: only a regular file of decent size counts.
func readOutcome(name string) []byte {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > maxOutcome {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxOutcome))
	if err != nil {
		return nil
	}
	return b
}
