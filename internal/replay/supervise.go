package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A program is what prepare has started.
type program struct {
	pid      int
	begin    func()        // lets it go on to execute the program
	startErr <-chan string // one text when the program has been executed: empty, or why it could not be
}

// prepare starts the last stage, with the streams of this process, and has it wait for begin. If it is to be traced, it is stopped, and this thread
// is its tracer.
func (b *sandbox) prepare(traced bool) (*program, error) {
	specJSON, err := json.Marshal(b.sp)
	if err != nil {
		return nil, err
	}
	var specPipe, errPipe [2]int
	if err := errors.Join(unix.Pipe2(specPipe[:], unix.O_CLOEXEC), unix.Pipe2(errPipe[:], unix.O_CLOEXEC)); err != nil {
		return nil, err
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{execArg}, &syscall.ProcAttr{
		Dir:   b.sp.Cwd,
		Env:   []string{},
		Files: []uintptr{0, 1, 2, uintptr(specPipe[0]), uintptr(errPipe[1])},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Ptrace: traced},
	})
	unix.Close(specPipe[0])
	unix.Close(errPipe[1])
	if err != nil {
		unix.Close(specPipe[1])
		unix.Close(errPipe[0])
		return nil, fmt.Errorf("start in %s: %v", b.sp.Cwd, err)
	}
	begin := func() {
		go func() {
			w := os.NewFile(uintptr(specPipe[1]), "spec")
			w.Write(specJSON)
			w.Close()
		}()
	}
	startErr := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(os.NewFile(uintptr(errPipe[0]), "err"))
		startErr <- strings.TrimSpace(string(b))
	}()
	return &program{pid, begin, startErr}, nil
}

// A hold is how the processes of a sandbox are found and ended.
type hold struct {
	ended     <-chan unix.WaitStatus // how the program ended
	crowd     <-chan string          // what is too much, said at once; may be nil
	processes func() []int
	kill      func() // all of them
}

// hold takes hold of p, which has been prepared, and lets it begin.
func (b *sandbox) hold(p *program) (*hold, error) {
	if b.sp.Mode == Namespaces {
		p.begin()
		return &hold{reap(p.pid), nil, inNamespace, func() { unix.Kill(-1, unix.SIGKILL) }}, nil
	}
	l, err := startLeash(p.pid, b.sp.Limits.Processes, filepath.Clean(b.sp.Scratch), p.begin)
	if err == nil {
		return &hold{l.ended, l.crowd, l.processes, func() { l.kill(); <-l.gone }}, nil
	}
	if b.sp.Mode != Unconfined {
		unix.Kill(p.pid, unix.SIGKILL)
		return nil, fmt.Errorf("nothing would end its processes: %w", err)
	}
	p.begin()
	return &hold{reap(p.pid), nil, children, killChildren}, nil
}

// reap reaps whoever ends and tells how the program did.
func reap(pid int) <-chan unix.WaitStatus {
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
	return ended
}

// supervise lets p begin, waits for it to end or to exceed a limit, and ends
// every process that is left.
func (b *sandbox) supervise(p *program) ending {
	h, err := b.hold(p)
	if err != nil {
		return ending{SetupError: err.Error()}
	}
	over := make(chan struct{})
	defer close(over)
	w := b.watch(h.processes, over)
	stop := make(chan os.Signal, 1)
	notifyTerm(stop)
	timer := time.NewTimer(b.sp.Limits.Time)
	var e ending
	var ws unix.WaitStatus
	select {
	case ws = <-h.ended:
	case what := <-w.much:
		e.exceed(what)
	case e.Exceeded = <-h.crowd:
	case <-timer.C:
		e.TimedOut = true
	case <-stop:
		e.TimedOut = true
	}
	w.lookAtBounds(w.count())
	h.kill()
	if e.Exceeded == "" { // it may have been what ended the program
		select {
		case e.Exceeded = <-h.crowd:
		default:
		}
	}
	e.Reached = w.reachedBound()
	if !e.TimedOut && e.Exceeded == "" {
		e.Exceeded = w.leftTooMuch()
	}
	if e.TimedOut || e.Exceeded != "" {
		if ws == 0 {
			select {
			case <-h.ended:
			case <-time.After(time.Second):
			}
		}
		return e
	}
	if msg := <-p.startErr; msg != "" {
		if setup, ok := strings.CutPrefix(msg, errSetup.Error()); ok {
			return ending{SetupError: strings.TrimPrefix(setup, ": ")}
		}
		return ending{StartError: execError(msg)}
	}
	if ws.Signaled() {
		e.Signal = int(ws.Signal())
	} else {
		e.Status = ws.ExitStatus()
	}
	return e
}

// killChildren ends every process below this one: orphans come to this
// process, their subreaper, so that the children of the next round are found
// until none is left.
func killChildren() {
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
	threads, _ := namesIn("/proc/self/task")
	for _, t := range threads {
		b, _ := readFile("/proc/self/task/" + t + "/children")
		for _, s := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(s); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
