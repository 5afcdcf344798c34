package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/testcase"
)

// A server is a program that has been started in a sandbox once, under ptrace(2), and is stopped where it is about to
// open the file of its inputs: what it did up to there does not depend on them. For each case it is made to clone itself, and the clone
// goes on, by itself and untraced, as a process that was started for this case would.
//
//	starting ──► stopped ──► clone goes on ──► clone has ended, all others are killed
//	                ▲                               │
//	                └────── nothing is left ────────┘ else the server ends, and with it the sandbox
//
// The clone has what a process of its own start has: the same parent, a session, a thread ID in the C library's place. It cannot reach the server: that one's memory is closed meanwhile (PR_SET_DUMPABLE).
type server struct {
	tracee
	box      *sandbox
	exchange *os.Root
	tid      uint64 // what the program gave to set_tid_address(2)
	// Standard output and error: what was written before the inputs were read, and the read ends of the pipes, which all clones write to.
	early   [2][]byte
	streams [2]int
	room    [2]int // of the pipes, in bytes
	remains *remains
	// untouched are the traces of a case that touches no file.
	untouched traces
}

// serverReady is the first reply of a confine child that serves.
type serverReady struct {
	Unfit string // why it does not
}

// caseRequest is a case to run.
type caseRequest struct {
	Inputs     []byte
	Time, Busy time.Duration // see Limits
}

// caseReply is what the confine child says of a case.
type caseReply struct {
	Failed         string // nothing is known of the case
	Last           string // why no other case can be run here
	Ending         ending
	Stdout, Stderr stream
}

// stream is what was written to standard output or error.
type stream struct {
	Bytes  int64
	SHA256 string
	Head   []byte
	// Of what is compared of standard error.
	AllowedBytes  int64
	AllowedSHA256 string
}

// serve starts a server and runs cases until there are no more requests.
func (b *sandbox) serve(requests *json.Decoder, replies *json.Encoder) {
	s, err := b.newServer()
	if err != nil {
		replies.Encode(serverReady{Unfit: err.Error()})
		return
	}
	if replies.Encode(serverReady{}) != nil {
		return
	}
	debug.SetGCPercent(400) // a case leaves little: it shall not pay for a collection
	for {
		var q caseRequest
		if requests.Decode(&q) != nil {
			return
		}
		r := s.run(q)
		if replies.Encode(r) != nil || r.Failed != "" || r.Last != "" {
			return
		}
	}
}

// newServer starts the program up to where it opens the file of its inputs.
func (b *sandbox) newServer() (*server, error) {
	if b.sp.Mode != Namespaces {
		return nil, errors.New("only in namespaces all that a case leaves behind is known, and ends with the sandbox")
	}
	if err := b.give([]byte("{}"), nil); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(b.exchange)
	if err != nil {
		return nil, err
	}
	var early [2]earlyOutput
	for i := range early {
		if err := early[i].open(i + 1); err != nil {
			return nil, err
		}
	}
	p, err := b.prepare(true)
	for fd := 1; fd <= 2; fd++ {
		unix.Dup2(0, fd) // the write ends of the pipes are the program's only
	}
	if err != nil {
		return nil, err
	}
	p.begin()
	s := &server{tracee: tracee{pid: p.pid}, box: b, exchange: root}
	limit := time.AfterFunc(patient*b.sp.Limits.Time, func() { unix.Kill(p.pid, unix.SIGKILL) })
	err = s.toInputs(filepath.Join(b.exchange, inputsName))
	limit.Stop()
	if err != nil {
		return nil, err
	}
	for i := range early {
		if s.early[i], s.streams[i], err = early[i].close(); err != nil {
			return nil, err
		}
	}
	for i, fd := range s.streams {
		if s.room[i], err = unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err != nil {
			return nil, err
		}
	}
	if why := b.unfit(s.pid, early[0].inode, early[1].inode); why != "" {
		return nil, errors.New(why)
	}
	// A folder in which a file comes and goes is copied into the overlay: that of the test is there from now on.
	if st, err := os.Stat(b.sp.Cwd); err == nil {
		_ = os.Chmod(b.sp.Cwd, st.Mode().Perm())
	}
	b.queues = openQueues() // once: the kernel takes long to forget a mount
	if s.remains, err = b.remains(s.pid); err != nil {
		return nil, err
	}
	s.untouched = b.look(b.known)
	time.Sleep(time.Until(s.remains.newest.Add(settle)))
	return s, nil
}

// toInputs runs the program up to where it is about to open path.
func (s *server) toInputs(path string) error {
	const options = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEEXEC
	resume, configured := unix.PtraceCont, false // the last stage's own calls are of no interest
	for {
		ws, err := waitFor(s.pid)
		switch {
		case err != nil:
			return err
		case !ws.Stopped():
			return fmt.Errorf("it ended before it read its inputs: status %#x", ws)
		case !configured:
			configured = true
			if err := unix.PtraceSetOptions(s.pid, options); err != nil {
				return err
			}
		}
		forward := 0
		switch sig := ws.StopSignal(); {
		case ws.TrapCause() == unix.PTRACE_EVENT_EXEC:
			resume, s.tid = unix.PtraceSyscall, 0
		case sig == syscallStop:
			there, err := s.call(path)
			if err != nil {
				return err
			}
			if there {
				return errors.Join(s.rewind(), unix.PtraceSetOptions(s.pid, options|unix.PTRACE_O_TRACEFORK))
			}
		case sig != unix.SIGTRAP:
			forward = int(sig)
		}
		if err := resume(s.pid, forward); err != nil {
			return err
		}
	}
}

// call looks at a system call of the program and says whether it opens path.
func (s *server) call(path string) (bool, error) {
	i, err := getSyscallInfo(s.pid)
	if err != nil || i.Op != atEntry || i.Arch != unix.AUDIT_ARCH_X86_64 {
		return false, err
	}
	switch i.NR {
	case unix.SYS_SET_TID_ADDRESS:
		s.tid = i.Args[0]
	case unix.SYS_OPEN:
		return s.readText(i.Args[0], path), nil
	case unix.SYS_OPENAT, unix.SYS_OPENAT2:
		return s.readText(i.Args[1], path), nil
	}
	return false, nil
}

// run runs one case.
func (s *server) run(q caseRequest) (r caseReply) {
	pid, err := s.fork(q.Inputs)
	if err != nil {
		if pid > 0 {
			unix.Kill(pid, unix.SIGKILL)
		}
		return caseReply{Failed: err.Error()}
	}
	most := s.box.sp.Limits.Output
	stdout, stderr := capture{most: most}, capture{most: most, allowed: &testcase.StderrDigest{}}
	outputs := []*output{{s.streams[0], &stdout}, {s.streams[1], &stderr}}
	for i, o := range outputs {
		o.to.Write(s.early[i])
	}
	s.box.sp.Limits.Busy = q.Busy
	if r.Ending, err = s.watch(pid, outputs, time.Now().Add(q.Time)); err != nil {
		return caseReply{Failed: err.Error()}
	}
	alone := s.clear()
	for _, o := range outputs {
		o.drain()
	}
	r.Ending.Outcome = s.outcome()
	r.Stdout, r.Stderr = stdout.stream(), stderr.stream()
	var now *remains
	if !alone {
		err = errors.New("the server has ended, or processes would not")
	} else if err = s.do([]uint64{unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1}); err == nil {
		now, err = s.box.remains(s.pid)
	}
	if err == nil && now.exact.String() == s.remains.exact.String() {
		r.Ending.Traces = s.untouched
	} else {
		r.Ending.Traces = s.box.look(s.box.known)
	}
	if err == nil {
		err = s.unchanged(now)
	}
	if err != nil {
		r.Last = err.Error()
	}
	return r
}

func (c *capture) stream() stream {
	s := stream{Bytes: c.n, SHA256: c.digest(), Head: c.head}
	if c.allowed != nil {
		s.AllowedSHA256, s.AllowedBytes = c.allowed.Sum()
	}
	return s
}

// fork makes a clone of the server that goes on with these inputs.
func (s *server) fork(inputs []byte) (pid int, err error) {
	if err := s.give(inputs); err != nil {
		return 0, err
	}
	flags := uint64(unix.CLONE_PARENT | uint64(unix.SIGCHLD))
	if s.tid != 0 { // as fork(3) of the C library does
		flags |= unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID
	}
	if _, pid, err = s.order(unix.SYS_CLONE, flags, 0, 0, s.tid); err != nil {
		return pid, err
	}
	if ws, err := waitFor(pid); err != nil || !ws.Stopped() {
		return pid, errors.Join(fmt.Errorf("%w: status %#x", errGone, ws), err)
	}
	if err := unix.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL|unix.PTRACE_O_TRACESYSGOOD); err != nil {
		return pid, err
	}
	c := tracee{pid: pid, at: s.at}
	if err := c.do([]uint64{unix.SYS_SETSID}); err != nil {
		return pid, err
	}
	if err := s.do([]uint64{unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0}); err != nil {
		return pid, err
	}
	return pid, c.release()
}

// give writes the inputs of a case. What was there is replaced, not followed.
func (s *server) give(inputs []byte) error {
	for _, name := range []string{inputsName, outcomeName} {
		err := s.exchange.Remove(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			err = s.exchange.RemoveAll(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := s.exchange.OpenFile(inputsName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(inputs)
	return errors.Join(err, f.Close())
}

// outcome is what the guest library has written; nil if nothing.
func (s *server) outcome() []byte {
	f, err := s.exchange.OpenFile(outcomeName, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	return readRegular(f)
}

// unchanged reports what the case that has ended, and left now, has changed.
func (s *server) unchanged(now *remains) error {
	was, err := s.exchange.Stat(".")
	if err != nil {
		return err
	}
	if is, err := os.Lstat(s.box.exchange); err != nil || !os.SameFile(was, is) {
		return errors.New("the folder of the inputs is another")
	}
	for i, fd := range s.streams {
		if n, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err != nil || n != s.room[i] {
			return errors.New("it changed the size of a pipe")
		}
	}
	if now.String() != s.remains.String() {
		now.mend(s.remains)
		if now, err = s.box.remains(s.pid); err != nil {
			return err
		}
	}
	if now.String() != s.remains.String() {
		return errors.New("it left something behind: " + firstDifference(s.remains.String(), now.String()))
	}
	return nil
}

// firstDifference is a line that only one of a and b has.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for _, line := range y {
		if !slices.Contains(x, line) {
			return line
		}
	}
	for _, line := range x {
		if !slices.Contains(y, line) {
			return "no " + line
		}
	}
	return "another order"
}

// tick is how often watch looks at limits, in milliseconds.
const tick = 10

// watch waits for process pid to end, or to go on at limit, or to exceed others, and takes what it writes.
func (s *server) watch(pid int, outputs []*output, limit time.Time) (e ending, err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return e, err
	}
	defer unix.Close(fd)
	over := make(chan struct{})
	defer close(over)
	much := s.box.watch(inNamespace, over).much
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for _, o := range outputs {
			fds = append(fds, unix.PollFd{Fd: int32(o.fd), Events: unix.POLLIN}) // a negative descriptor is passed over
		}
		if _, err := unix.Poll(fds, tick); err != nil && err != unix.EINTR {
			return e, err
		}
		for i, o := range outputs {
			if fds[1+i].Revents != 0 {
				o.take()
			}
			if o.to.full() {
				e.Exceeded = s.box.sp.Limits.output()
			}
		}
		select {
		case what := <-much:
			e.exceed(what)
		default:
			e.TimedOut = time.Now().After(limit)
		}
		if e.TimedOut || e.Exceeded != "" {
			unix.Kill(pid, unix.SIGKILL)
		} else if fds[0].Revents == 0 {
			continue
		}
		ws, err := waitFor(pid)
		if ws.Signaled() {
			e.Signal = int(ws.Signal())
		} else {
			e.Status = ws.ExitStatus()
		}
		return e, err
	}
}

// clear ends all processes but the server; false if they do not end, or it has.
func (s *server) clear() bool {
	return endOthers(s.pid)
}

// endOthers ends all processes below this one but its child keep; false if they do not end, or keep has. Orphans come to this process.
func endOthers(keep int) bool {
	for round := range 10_000 {
		for {
			var ws unix.WaitStatus
			pid, err := unix.Wait4(-1, &ws, unix.WNOHANG|unix.WALL, nil)
			if pid == keep && pid > 0 && !ws.Stopped() {
				return false
			}
			if err != unix.EINTR && pid <= 0 {
				break
			}
		}
		left := slices.DeleteFunc(children(), func(pid int) bool { return pid == keep })
		if len(left) == 0 {
			return true
		}
		for _, pid := range left {
			unix.Kill(pid, unix.SIGKILL)
		}
		if round > 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	return false
}

// output is the read end of a pipe, which does not block.
type output struct {
	fd int // -1: nobody writes any more
	to *capture
}

// take takes what is there.
func (o *output) take() {
	var buf [1 << 14]byte
	n, err := unix.Read(o.fd, buf[:])
	switch {
	case n > 0:
		o.to.Write(buf[:n])
	case err != unix.EAGAIN && err != unix.EINTR:
		o.fd = -1 // the server has ended, too
	}
}

// drain takes all that is there. Require: nobody writes any more.
func (o *output) drain() {
	for n := o.to.n; o.fd >= 0; n = o.to.n {
		if o.take(); o.to.n == n {
			return
		}
	}
}

// maxEarly bounds what a program may write before it reads its inputs, in bytes.
const maxEarly = 1 << 20

// earlyOutput takes what the program writes before it reads its inputs: every case has it.
type earlyOutput struct {
	inode uint64 // of the pipe
	r     *os.File
	done  sync.WaitGroup
	buf   bytes.Buffer
}

// open makes a pipe the descriptor fd of this process.
func (o *earlyOutput) open(fd int) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	o.r, o.inode = r, inode(w)
	err = unix.Dup2(int(w.Fd()), fd)
	w.Close()
	o.done.Go(func() {
		buf := make([]byte, 1<<14)
		for {
			n, err := r.Read(buf)
			if o.buf.Len() <= maxEarly {
				o.buf.Write(buf[:n])
			}
			if err != nil {
				return
			}
		}
	})
	return err
}

// close returns all that was written, and the read end, which does not block. Require: the program is stopped.
func (o *earlyOutput) close() (early []byte, fd int, err error) {
	defer o.r.Close()
	o.r.SetReadDeadline(time.Now())
	o.done.Wait()
	o.r.SetReadDeadline(time.Time{})
	c, err := o.r.SyscallConn()
	if err != nil {
		return nil, -1, err
	}
	var e error
	err = c.Read(func(r uintptr) bool {
		buf := make([]byte, maxEarly)
		n, err := unix.Read(int(r), buf)
		for ; err == nil && n > 0; n, err = unix.Read(int(r), buf) {
			o.buf.Write(buf[:n])
		}
		fd, e = unix.FcntlInt(r, unix.F_DUPFD_CLOEXEC, 3)
		return true
	})
	if o.buf.Len() > maxEarly {
		return nil, -1, errors.New("much output before the inputs are read")
	}
	return o.buf.Bytes(), fd, errors.Join(err, e)
}
