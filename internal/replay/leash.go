package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A leash holds a program and all that it starts where no process namespace
// does, by ptrace(2): the kernel kills whom this process traces when it ends,
// in whatever way, and no process begins without being seen. The program runs
// on as it would, but for a stop at each new process and signal, and at what rules with seen say.
type leash struct {
	pid  int
	most int    // threads and processes
	own  string // the folder of the host that is the program's own

	mu    sync.Mutex
	held  map[int]int // by thread: its process, or 0 while that is not known
	dying bool
	crowd chan string
	ended chan unix.WaitStatus
	gone  chan struct{} // closed when none is left
}

const leashOptions = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
	unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACESYSGOOD

// callStop is the signal of a stop at a system call.
const callStop = unix.SIGTRAP | 0x80

// startLeash takes hold of process pid, as newLeash does, and lets it begin.
func startLeash(pid int, most uint64, own string, begin func()) (*leash, error) {
	type result struct {
		l   *leash
		err error
	}
	c := make(chan result)
	go func() {
		runtime.LockOSThread() // ptrace(2) is a matter of threads
		l, err := newLeash(pid, most, own)
		c <- result{l, err}
		if err != nil {
			select {} // with this thread would end whom it holds already
		}
		begin()
		l.run()
	}()
	r := <-c
	return r.l, r.err
}

// newLeash takes hold of process pid, a child of this one that waits for its
// spec: no thread comes or goes meanwhile. The calling goroutine has to be
// locked to its thread, and to call run next.
func newLeash(pid int, most uint64, own string) (*leash, error) {
	l := &leash{
		pid: pid, most: int(most), own: own, held: map[int]int{},
		crowd: make(chan string, 1), ended: make(chan unix.WaitStatus, 1), gone: make(chan struct{}),
	}
	for {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil || len(tasks) == 0 {
			return nil, fmt.Errorf("ptrace: process %d has gone", pid)
		}
		found := false
		for _, t := range tasks {
			tid, _ := strconv.Atoi(filepath.Base(t))
			if _, ok := l.held[tid]; ok {
				continue
			}
			// A new thread of one that is held is held already, and one that has
			// gone need not be.
			err := ptraceSeize(tid, leashOptions)
			if now := tracer(t); err != nil && now != unix.Gettid() && now >= 0 {
				return nil, fmt.Errorf("ptrace: %w", err)
			}
			l.held[tid], found = pid, true
		}
		if !found {
			return l, nil
		}
	}
}

// tracer is who traces a task, 0 if nobody, -1 if the task has gone.
func tracer(task string) int {
	pid, err := strconv.Atoi(statusField(task, "TracerPid:"))
	if err != nil || strings.HasPrefix(statusField(task, "State:"), "X") {
		return -1
	}
	return pid
}

// statusField is a line of /proc/PID/status.
func statusField(dir, name string) string {
	b, _ := os.ReadFile(filepath.Join(dir, "status"))
	_, rest, _ := strings.Cut(string(b), name)
	rest, _, _ = strings.Cut(rest, "\n")
	return strings.TrimSpace(rest)
}

func ptraceSeize(tid int, options uintptr) error {
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, options, 0, 0); e != 0 {
		return e
	}
	return nil
}

// run lets them run until none is left.
func (l *leash) run() {
	defer close(l.gone)
	for {
		var ws unix.WaitStatus
		tid, err := unix.Wait4(-1, &ws, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		if !ws.Stopped() {
			l.mu.Lock()
			delete(l.held, tid)
			l.mu.Unlock()
			if tid == l.pid {
				l.ended <- ws
			}
			continue
		}
		l.meet(tid, ws)
		l.proceed(tid, ws)
	}
}

// meet adds a stopped thread to those that are held.
func (l *leash) meet(tid int, ws unix.WaitStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ws.TrapCause() == unix.PTRACE_EVENT_EXEC {
		// Whichever thread called has the process's number now.
		if was, err := unix.PtraceGetEventMsg(tid); err == nil && int(was) != tid {
			delete(l.held, int(was))
		}
	}
	if _, ok := l.held[tid]; !ok {
		l.held[tid] = 0
	}
	if l.dying {
		unix.Kill(tid, unix.SIGKILL)
	} else if len(l.held) > l.most+8 {
		l.tooMuch(fmt.Sprintf("%d processes and threads", l.most))
	}
}

// tooMuch ends all, and says why; l.mu is held.
func (l *leash) tooMuch(what string) {
	select {
	case l.crowd <- what:
	default:
	}
	l.killLocked()
}

// opened looks at what a call to open a file has given a thread. Landlock lets it read a FIFO of the host: that takes away what others are to read. The thread
// has not gone on yet; one beside it has had no more than a moment.
func (l *leash) opened(tid int) {
	var r unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &r) != nil || int64(r.Rax) < 0 {
		return
	}
	name := fmt.Sprintf("/proc/%d/fd/%d", tid, r.Rax)
	path, err := os.Readlink(name)
	if err != nil || !filepath.IsAbs(path) || strings.HasPrefix(path, l.own+"/") {
		return
	}
	if st, err := os.Stat(name); err == nil && st.Mode()&os.ModeNamedPipe != 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.tooMuch("a FIFO of the host (" + path + ")")
	}
}

// proceed continues a stopped thread as the kernel would have done.
func (l *leash) proceed(tid int, ws unix.WaitStatus) {
	sig := ws.StopSignal()
	switch event := int(uint32(ws)>>16) & 0xff; event {
	case unix.PTRACE_EVENT_SECCOMP:
		unix.PtraceSyscall(tid, 0) // to its end
	case 0:
		if sig == callStop {
			l.opened(tid)
			sig = 0
		}
		unix.PtraceCont(tid, int(sig)) // a signal on its way
	case unix.PTRACE_EVENT_STOP:
		switch sig {
		case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
			// It stays stopped until SIGCONT.
			unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_LISTEN, uintptr(tid), 0, 0, 0, 0)
		default:
			unix.PtraceCont(tid, 0)
		}
	default:
		unix.PtraceCont(tid, 0)
	}
}

// kill ends all that are held, those included that are about to begin.
func (l *leash) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killLocked()
}

func (l *leash) killLocked() {
	l.dying = true
	for tid := range l.held {
		unix.Kill(tid, unix.SIGKILL)
	}
}

// processes lists the processes that are held.
func (l *leash) processes() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := map[int]bool{}
	var pids []int
	for tid, pid := range l.held {
		if pid == 0 {
			pid = processOf(tid)
			l.held[tid] = pid
		}
		if pid != 0 && !seen[pid] {
			seen[pid] = true
			pids = append(pids, pid)
		}
	}
	return pids
}

// processOf is the process of a thread, or 0.
func processOf(tid int) int {
	pid, _ := strconv.Atoi(statusField(fmt.Sprintf("/proc/%d", tid), "Tgid:"))
	return pid
}
