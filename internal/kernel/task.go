package kernel

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// waitKind says what a task waits for.
type waitKind uint8

const (
	waitNone   waitKind = iota
	waitFiles           // one of Fds is ready
	waitFutex           // Woken
	waitSleep           // the deadline
	waitChild           // a child has ended
	waitVfork           // process PID has ended or called execve
	waitSignal          // a signal only; one of the set Addr ends the call well
	waitFIFO            // file Addr waits since the other end had been opened PID times
	waitSocket          // socket Addr is gone, or takes another connection or datagram
	waitAgain           // nothing: the call is made again after the signals that it has caused
	waitMore            // nothing: the call goes on behind the bytes that are Done, see inPieces
)

// wait is why a task does not run. The call that waits is made again when the
// task is woken, and finds this as call.was.
type wait struct {
	Kind     waitKind
	Woken    bool // waitFutex
	Restart  bool // SA_RESTART applies, signal(7)
	Seq      uint64
	Deadline Time     // 0: none
	Addr     uint64   // waitFiles: what an event counter has to have room for
	Bits     uint32   // waitFutex: the mask; waitChild: what to wait for, WEXITED and the like
	Fds      []waitFd // never changed in place
	PID      int
	Done     int // bytes that the call has moved so far
}

// task is the rest of Task.
type task struct {
	proc     *Process
	Mask     uint64 // blocked signals, bit n-1 is signal n
	Pending  uint64
	Infos    []siginfo // of Pending
	Saved    uint64    // mask to restore after sigsuspend and the like
	HasSaved bool
	AltStack altStack
	ClearTID uint64 // set_tid_address(2)
	Wait     wait
	strand   int // in System.order
}

// process is the rest of Process.
type process struct {
	Parent, Group, Session int
	Nice                   int // see setpriority(2); has no effect
	Cwd, Exe, Comm         string
	Argv, Env              []string
	Umask                  uint32
	Prctl                  prctl
	Limits                 limits // NOFILE, NPROC, FSIZE and AS have an effect
	Fds                    []fdEntry
	BrkStart, Brk          uint64
	Actions                *actions // replaced, never changed in place
	Pending                uint64
	Infos                  []siginfo
	Timer                  timer
	CPUTimers              [2]timer     // ITIMER_VIRTUAL and ITIMER_PROF, in processor time
	Timers                 []posixTimer // replaced, never changed in place
	NextTimer              int          // ID of the next one
	Dead                   bool         // a zombie until it is waited for
	Execed                 bool         // has its own address space after vfork
	Reaped                 bool         // it has waited for a child that had ended
	Perhaps                uint64       // signals that a timer has sent or not before it was taken away, see unset
	Unsure                 bool         // whether SIGCHLD is pending depends on the schedule, see childTells
	Status                 Status
	Doom                   int // the signal that ends it as soon as one of its tasks runs, see dooms; 0: none
	Stop                   int // the signal that has stopped it, 0: it runs
	News                   int // what waiting may report of it: the signal that stopped it, or SIGCONT; 0: nothing
}

// task returns the live task with a number, or nil.
func (s *System) task(tid int) *Task {
	for _, t := range s.tasks {
		if t.TID == tid {
			return t
		}
	}
	return nil
}

// processOf returns the process with a number, or that of the task with it.
func (s *System) processOf(id int) *Process {
	if t := s.task(id); t != nil {
		return t.proc
	}
	return s.process(id)
}

func (s *System) process(pid int) *Process {
	for _, p := range s.procs {
		if p.PID == pid {
			return p
		}
	}
	return nil
}

// runnable reports whether t can go on.
func (s *System) runnable(t *Task) bool {
	w := &t.Wait
	switch {
	case t.proc.Doom != 0:
		return true
	case t.proc.Stop != 0:
		return false
	}
	return w.Kind == waitNone || w.Kind == waitAgain || (t.Pending|t.proc.Pending)&^t.Mask != 0 || w.Deadline != 0 && s.now() >= w.Deadline || s.met(t)
}

// met reports whether there is what t waits for, time and signals aside.
func (s *System) met(t *Task) bool {
	w := &t.Wait
	switch w.Kind {
	case waitMore:
		return true
	case waitFiles:
		for _, f := range w.Fds {
			if s.ready(f.File)&f.Events != 0 && (w.Addr == 0 || s.files.get(f.File).counts(w.Addr)) {
				return true
			}
		}
	case waitFutex:
		return w.Woken
	case waitSignal:
		return (t.Pending|t.proc.Pending)&w.Addr != 0
	case waitFIFO:
		return s.metFIFO(int(w.Addr), w.PID)
	case waitSocket:
		return s.roomIn(int(w.Addr))
	case waitChild:
		q, any := s.childNews(t.proc, w.PID, w.Bits)
		return q != nil || !any // where SIGCHLD is ignored, ended children leave nothing
	case waitVfork:
		p := s.process(w.PID)
		return p == nil || p.Dead || p.Execed
	}
	return false
}

// reschedule makes the next runnable task the current one, in order of TID
// after the current one; time jumps if there is none.
func (s *System) reschedule() Outcome {
	for {
		if s.ended || len(s.tasks) == 0 {
			return Outcome{Kind: Exited}
		}
		s.fire()
		i := sort.Search(len(s.tasks), func(i int) bool { return s.tasks[i].TID > s.cur.TID })
		var next *Task
		for k := range s.tasks {
			if t := s.tasks[(i+k)%len(s.tasks)]; s.runnable(t) {
				next = t
				break
			}
		}
		if next == nil {
			d := s.nextDeadline()
			if d == 0 {
				s.deadlocked()
				return Outcome{Kind: Deadlock}
			}
			if now := s.now(); d > now {
				s.skew += d - now
			}
			continue
		}
		s.cur = next
		if s.met(next) { // its call ends, whatever signals came meanwhile
			return Outcome{Kind: Switch}
		}
		if out, stop := s.deliver(next); stop {
			return out
		}
		if s.cur == next && !next.proc.Dead && !s.ended && s.runnable(next) {
			return Outcome{Kind: Switch}
		}
	}
}

// nextDeadline is the earliest time at which something happens by itself; 0 is never.
func (s *System) nextDeadline() Time {
	first := Time(0)
	add := func(d Time) {
		if d != 0 && (first == 0 || d < first) {
			first = d
		}
	}
	for _, t := range s.tasks {
		if t.proc.Stop == 0 {
			add(t.Wait.Deadline)
		}
	}
	for _, p := range s.procs {
		if !p.Dead {
			add(p.Timer.At)
			for _, t := range p.Timers {
				add(t.Timer.At)
			}
		}
	}
	return first
}

// bootSlice is what Slice is before the guest opens its device.
const bootSlice = 1 << 30

// Preempt ends the current task's time slice: the next one that can run becomes current. Until the guest opens its device a task
// gives way where it waits, and only one that never does is made to: which task runs when does not depend on how
// instructions are counted (see worked).
func (s *System) Preempt() Outcome {
	if s.booting() && s.Retired%bootSlice >= Slice {
		return Outcome{Kind: Done}
	}
	return s.reschedule()
}

// sysYield gives way to the other tasks.
func (c *call) sysYield() (uint64, error) { return 0, yielded }

// endTask takes t away; the process ends with its last task.
func (s *System) endTask(t *Task, st Status) {
	p := t.proc
	if !slices.ContainsFunc(s.tasks, func(u *Task) bool { return u != t && u.proc == p }) {
		s.endProcess(p, st)
		return
	}
	s.gone(t, false)
	s.removeTask(t)
	if t.ClearTID != 0 && p.Mem.WriteU(t.ClearTID, 0, 4) == nil {
		s.wake(p.Mem, t.ClearTID, 1, ^uint32(0))
	}
}

func (s *System) removeTask(t *Task) {
	s.forgetWait(t)
	s.tasks = slices.DeleteFunc(slices.Clone(s.tasks), func(u *Task) bool { return u == t })
}

// endProcess makes p a zombie, or ends the machine if it is the first.
func (s *System) endProcess(p *Process, st Status) {
	s.overtakes(p, st)
	s.cutOff(p, p.PID == s.cfg.World.firstPID())
	var gone []*Task
	for _, t := range slices.Clone(s.tasks) {
		if t.proc == p {
			s.removeTask(t)
			gone = append(gone, t)
		}
	}
	p.Dead, p.Status, p.Timer, p.Timers = true, st, timer{}, nil
	if p.PID == s.cfg.World.firstPID() {
		s.status, s.ended = st, true
		return // its memory and files stay for inspection
	}
	if s.cur != nil {
		s.attaches(p, "the end")
	}
	s.leaveTTY(p, true)
	for fd := range p.Fds {
		if p.Fds[fd].File >= 0 {
			s.closeFd(p, fd)
		}
	}
	for _, q := range s.procs {
		if q.Parent == p.PID {
			s.adopted(q)
		}
	}
	for _, t := range gone {
		s.gone(t, true)
	}
	p.Mem = nil
	var left []*Process
	for _, q := range slices.Clone(s.procs) {
		if q.Parent == p.PID { // adopted by init, which reaps at once
			q.Parent = initPID
			if q.Dead {
				s.reap(q)
				continue
			}
			left = append(left, q)
			if sig := q.Prctl.DeathSig; sig != 0 {
				s.post(nil, q, siginfo{Sig: sig, PID: p.PID, UID: s.cfg.UID})
			}
		}
	}
	s.freeOrphans(p, left)
	parent := s.process(p.Parent)
	if parent == nil || parent.Dead {
		s.reap(p)
		return
	}
	if a := parent.Actions[unix.SIGCHLD]; a.Handler == sigIgn || a.Flags&saNoCldWait != 0 {
		s.childTells(parent)
		s.reap(p)
		return
	}
	s.post(nil, parent, s.childInfo(p))
}

func (s *System) reap(p *Process) {
	s.procs = slices.DeleteFunc(slices.Clone(s.procs), func(q *Process) bool { return q == p })
}

func (c *call) sysExit() (uint64, error) {
	c.s.endTask(c.t, Status{Code: int(c.a[0] & 0xff)})
	return 0, taskEnded
}

func (c *call) sysExitGroup() (uint64, error) {
	c.s.endProcess(c.p, Status{Code: int(c.a[0] & 0xff)})
	return 0, taskEnded
}

func (c *call) sysFork() (uint64, error) { return c.clone(uint64(unix.SIGCHLD), 0, 0, 0, 0) }
func (c *call) sysVfork() (uint64, error) {
	return c.clone(unix.CLONE_VM|unix.CLONE_VFORK|uint64(unix.SIGCHLD), 0, 0, 0, 0)
}
func (c *call) sysClone() (uint64, error) { return c.clone(c.a[0], c.a[1], c.a[2], c.a[3], c.a[4]) }

// clone implements clone(2) for threads, for fork and for vfork.
func (c *call) clone(flags, stack, parentTID, childTID, tls uint64) (uint64, error) {
	if c.was.Kind == waitVfork {
		if p := c.s.process(c.was.PID); p != nil && !p.Dead && !p.Execed {
			return 0, blocked(c.was)
		}
		c.s.unfolded(c.t, c.was.PID)
		return uint64(c.was.PID), nil
	}
	const thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	const tids = unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID | unix.CLONE_CHILD_CLEARTID
	rest := flags &^ (0xff | tids | unix.CLONE_SYSVSEM | unix.CLONE_DETACHED | unix.CLONE_VFORK)
	isThread := rest == thread
	if !isThread && rest != 0 && (rest&^unix.CLONE_VM != 0 || flags&unix.CLONE_VFORK == 0) {
		return 0, unsupported("these clone flags")
	}
	if flags&0xff != 0 && flags&0xff != uint64(unix.SIGCHLD) {
		return 0, unsupported("an exit signal other than SIGCHLD")
	}
	if !c.s.mayStart(c.p) {
		return 0, unix.EAGAIN
	}
	tid := c.s.cfg.World.nextID(c.s.lastID)
	if flags&unix.CLONE_PARENT_SETTID != 0 {
		if err := c.put32(parentTID, uint32(tid)); err != nil {
			return 0, err
		}
	}
	c.s.lastID = tid
	u := *c.t
	u.TID, u.Wait, u.Pending, u.Infos, u.HasSaved, u.ClearTID = tid, wait{}, 0, nil, false, 0
	if !isThread {
		q := *c.p
		q.PID, q.Parent, q.Pending, q.Infos, q.Timer, q.CPUTimers, q.Timers, q.NextTimer, q.Perhaps, q.Execed, q.News = tid, c.p.PID, 0, nil, timer{}, [2]timer{}, nil, 0, 0, false, 0
		q.Prctl.DeathSig, q.Prctl.Reaper, q.Doom = 0, false, 0
		q.Fds = slices.Clone(c.p.Fds)
		for _, f := range q.Fds {
			if f.File >= 0 {
				c.s.file(f.File).Refs++
			}
		}
		if flags&unix.CLONE_VM == 0 {
			q.Mem = c.p.Mem.Fork()
		}
		u.proc = &q
		c.s.procs = append(slices.Clone(c.s.procs), &q)
	} else {
		u.AltStack = altStack{}
	}
	u.CPU.Set(ir.RAX, 0)
	if stack != 0 {
		u.CPU.Set(ir.RSP, stack)
	}
	if flags&unix.CLONE_SETTLS != 0 {
		u.CPU.Set(ir.FSBase, tls)
	}
	if flags&unix.CLONE_CHILD_CLEARTID != 0 {
		u.ClearTID = childTID
	}
	if flags&unix.CLONE_CHILD_SETTID != 0 {
		_ = u.proc.Mem.WriteU(childTID, uint64(tid), 4) // a fault here is ignored, as in schedule_tail
	}
	c.s.tasks = append(slices.Clone(c.s.tasks), &u)
	if u.proc != c.p && flags&unix.CLONE_VM == 0 {
		c.s.attaches(c.p, "fork")
	}
	c.s.born(&u, c.t)
	if flags&unix.CLONE_VFORK != 0 {
		return 0, blocked{Kind: waitVfork, PID: tid}
	}
	return uint64(tid), nil
}

func (c *call) strings(addr uint64) ([]string, error) {
	if addr == 0 {
		return nil, nil
	}
	var l []string
	for total := 0; ; addr += 8 {
		p, err := c.u64(addr)
		if err != nil || p == 0 {
			return l, err
		}
		t, err := c.str(p, 131072, unix.E2BIG)
		if err != nil {
			return nil, err
		}
		if total += len(t) + 9; total > 2<<20 {
			return nil, unix.E2BIG
		}
		l = append(l, t)
	}
}

func (c *call) sysExecve() (uint64, error) {
	name, err := c.path(c.a[0])
	if err != nil {
		return 0, err
	}
	return c.exec(name, c.a[1], c.a[2])
}

// sysExecveat names the program by a descriptor as Linux does: by its path in /dev/fd.
func (c *call) sysExecveat() (uint64, error) {
	dir, flags := c.arg32(0), c.a[4]
	name, err := c.path(c.a[1])
	switch {
	case flags&^(unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW) != 0:
		return 0, unix.EINVAL
	case err == unix.ENOENT && flags&unix.AT_EMPTY_PATH != 0:
		err = nil
	}
	if err != nil {
		return 0, err
	}
	if !strings.HasPrefix(name, "/") && (dir != unix.AT_FDCWD || name == "") {
		if _, _, err := c.anyFd(dir); err != nil {
			return 0, err
		}
		name = strings.TrimSuffix(fmt.Sprintf("/dev/fd/%d/%s", dir, name), "/")
		if c.p.Fds[dir].Cloexec { // the interpreter of a script could not open it
			if v, err := c.existing(unix.AT_FDCWD, name, true); err == nil && v.st.regular() {
				if b, err := c.s.beginning(c.p, v, 2); err == nil && string(b.Data) == "#!" {
					return 0, unix.ENOENT
				}
			}
		}
	}
	if flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		if v, err := c.existing(unix.AT_FDCWD, name, false); err == nil && v.st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return 0, unix.ELOOP
		}
	}
	return c.exec(name, c.a[2], c.a[3])
}

// exec replaces the program of the calling process by that at path name; argv and env are where the vectors are.
func (c *call) exec(name string, argvAt, envAt uint64) (uint64, error) {
	argv, err := c.strings(argvAt)
	if err != nil {
		return 0, err
	}
	env, err := c.strings(envAt)
	if err != nil {
		return 0, err
	}
	if v, err := c.existing(unix.AT_FDCWD, name, true); err == nil && v.node != 0 && v.st.regular() {
		if err := c.s.mayShow(v.node); err != nil {
			return 0, err
		}
		symbolic := false
		c.s.contentOf(v.node).Pieces(func(b mem.Bytes) bool {
			symbolic = !b.IsConcrete()
			return !symbolic
		})
		if symbolic {
			return 0, unsupported("a program with symbolic bytes")
		}
	}
	img, err := c.s.load(c.p, name, argv, env)
	if err != nil {
		return 0, errnoOf(err)
	}
	for _, x := range c.p.Timers {
		c.unsetPosix("execve", x)
	}
	c.s.cutOff(c.p, false)
	if !c.p.Actions[unix.SIGCHLD].ignores(int(unix.SIGCHLD)) { // it is, from now on
		c.seesChild("execve")
	}
	c.s.attaches(c.p, "execve")
	for _, t := range slices.Clone(c.s.tasks) {
		if t.proc == c.p && t != c.t {
			c.s.removeTask(t)
			c.s.gone(t, true)
		}
	}
	c.s.executes(c.t)
	p, t := c.p, c.t
	t.TID = p.PID
	slices.SortFunc(c.s.tasks, func(a, b *Task) int { return a.TID - b.TID })
	for fd, e := range p.Fds {
		if e.File >= 0 && e.Cloexec {
			c.s.closeFd(p, fd)
		}
	}
	var kept actions // ignored signals stay ignored
	for i, a := range p.Actions {
		if a.Handler == sigIgn {
			kept[i] = sigaction{Handler: sigIgn}
		}
	}
	p.Actions, p.Argv, p.Env, p.Timers, p.NextTimer, p.Execed = &kept, argv, env, nil, 0, true
	p.Prctl.Undumpable, p.Prctl.KeepCaps = false, false
	t.AltStack, t.ClearTID, t.HasSaved = altStack{}, 0, false
	c.s.install(t, img, name)
	return 0, newContext
}

// waitStatus is the word that wait4(2) stores.
func (st Status) waitStatus() uint32 {
	if st.Signal != 0 {
		return uint32(st.Signal)
	}
	return uint32(st.Code) << 8
}

// childNews returns p's first child that pid selects (as in waitpid(2)) and of which something can be reported that opts asks
// for (WEXITED, WSTOPPED, WCONTINUED), and whether pid selects any child at all.
func (s *System) childNews(p *Process, pid int, opts uint32) (news *Process, any bool) {
	for _, q := range s.procs {
		if q.Parent != p.PID || pid > 0 && q.PID != pid || pid == 0 && q.Group != p.Group || pid < -1 && q.Group != -pid {
			continue
		}
		any = true
		want := uint32(0)
		switch {
		case q.Dead:
			want = unix.WEXITED
		case q.News == int(unix.SIGCONT):
			want = unix.WCONTINUED
		case q.News != 0:
			want = unix.WSTOPPED
		}
		if opts&want != 0 && news == nil {
			news = q
		}
	}
	return news, any
}

// waitFor waits for news of a child; nil without an error if there is none and the call does not wait.
func (c *call) waitFor(pid int, opts uint64) (*Process, error) {
	c.awaits(pid)
	q, any := c.s.childNews(c.p, pid, uint32(opts))
	switch {
	case !any:
		if a := c.p.Actions[unix.SIGCHLD]; c.s.order != nil && opts&unix.WNOHANG != 0 && (a.Handler == sigIgn || a.Flags&saNoCldWait != 0) {
			c.anything("wait for a child") // one that is reaped at its end: there might be one still
		}
		return nil, unix.ECHILD
	case q == nil && opts&unix.WNOHANG == 0:
		return nil, blocked{Kind: waitChild, PID: pid, Bits: uint32(opts), Restart: true}
	}
	c.reaped(q, pid, opts&unix.WNOHANG == 0)
	return q, nil
}

// told forgets what has been reported of q.
func (s *System) told(q *Process) {
	if q.Dead {
		s.reap(q)
		if p := s.process(q.Parent); p != nil {
			p.Reaped = true
		}
	}
	q.News = 0
}

func (c *call) sysWait4() (uint64, error) {
	if opts := c.a[2] & 0xffffffff; opts&^(unix.WNOHANG|unix.WUNTRACED|unix.WCONTINUED|waitBeyond) != 0 {
		return 0, unix.EINVAL
	}
	q, err := c.waitFor(c.arg32(0), c.a[2]|unix.WEXITED)
	if q == nil {
		return 0, err
	}
	status := q.Status.waitStatus()
	switch {
	case q.Dead:
	case q.News == int(unix.SIGCONT):
		status = 0xffff
	default:
		status = uint32(q.News)<<8 | 0x7f
	}
	c.s.told(q) // though storing it may fail
	if c.a[1] != 0 {
		if err := c.put32(c.a[1], status); err != nil {
			return 0, err
		}
	}
	if c.a[3] != 0 {
		if err := c.putUsage(c.a[3], c.s.usageOfChild()); err != nil {
			return 0, err
		}
	}
	return uint64(q.PID), nil
}

func (c *call) sysWaitid() (uint64, error) {
	pid := -1
	const states = unix.WEXITED | unix.WSTOPPED | unix.WCONTINUED
	if opts := c.a[3] & 0xffffffff; opts&states == 0 || opts&^(states|unix.WNOHANG|unix.WNOWAIT|waitBeyond) != 0 {
		return 0, c.noChild(unix.EINVAL)
	}
	switch c.a[0] & 0xffffffff {
	case 0: // P_ALL
	case 1: // P_PID
		if pid = c.arg32(1); pid <= 0 {
			return 0, c.noChild(unix.EINVAL)
		}
	case 2: // P_PGID
		if pid = -c.arg32(1); pid > 0 {
			return 0, c.noChild(unix.EINVAL)
		}
	case 3: // P_PIDFD
		var err error
		if pid, err = c.pidOf(c.arg32(1)); err != nil {
			return 0, c.noChild(err.(unix.Errno))
		}
	default:
		return 0, c.noChild(unix.EINVAL)
	}
	q, err := c.waitFor(pid, c.a[3])
	if e, ok := err.(unix.Errno); ok {
		err = c.noChild(e)
	}
	if err != nil {
		return 0, err
	}
	return 0, c.tellChild(q)
}

// noChild is what waitid(2) returns where it fails: the structure is written all the same.
func (c *call) noChild(err unix.Errno) error {
	if e := c.tellChild(nil); e != nil {
		return e
	}
	return err
}

// waitBeyond are the flags of Linux alone: __WNOTHREAD, __WALL and __WCLONE.
const waitBeyond = 0xe0000000

// tellChild stores what waitid(2) says of child q, nil for none. The structure is written in any case, but for the bytes between its fields.
func (c *call) tellChild(q *Process) error {
	var info siginfo
	if q != nil {
		info = c.s.childInfo(q)
		if c.a[3]&unix.WNOWAIT == 0 {
			c.s.told(q) // though storing it may fail
		}
	}
	if c.a[2] != 0 {
		b := info.encode()
		if err := c.put(c.a[2], b[:12]); err != nil {
			return err
		}
		if err := c.put(c.a[2]+16, b[16:28]); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) sysSetTidAddress() (uint64, error) {
	c.t.ClearTID = c.a[0]
	return uint64(c.t.TID), nil
}

func (c *call) sysArchPrctl() (uint64, error) {
	switch c.a[0] {
	case 0x1001, 0x1002: // ARCH_SET_GS, ARCH_SET_FS
		if c.a[1] >= guest.AddrLimit {
			return 0, unix.EPERM
		}
		slot := ir.FSBase
		if c.a[0] == 0x1001 {
			slot = ir.GSBase
		}
		c.t.CPU.Set(slot, c.a[1])
		return 0, nil
	case 0x1003, 0x1004: // ARCH_GET_FS, ARCH_GET_GS
		slot := ir.FSBase
		if c.a[0] == 0x1004 {
			slot = ir.GSBase
		}
		if c.t.CPU.Sym.Has(slot) {
			return 0, unsupported("a symbolic segment base")
		}
		return 0, c.put64(c.a[1], c.t.CPU.R[slot])
	}
	return 0, c.lacks(unix.EINVAL)
}

// group finds the process of argument i for process-group calls: 0 is the caller.
func (c *call) target(i int) (*Process, error) {
	if c.arg32(i) == 0 {
		return c.p, nil
	}
	if p := c.s.processOf(c.arg32(i)); p != nil {
		return p, nil
	}
	return nil, unix.ESRCH
}

func (c *call) sysGetpgid() (uint64, error) {
	p, err := c.target(0)
	if err != nil {
		return 0, err
	}
	return uint64(p.Group), nil
}

func (c *call) sysGetsid() (uint64, error) {
	p, err := c.target(0)
	if err != nil {
		return 0, err
	}
	return uint64(p.Session), nil
}

func (c *call) sysSetpgid() (uint64, error) {
	pid, group := c.arg32(0), c.arg32(1)
	if pid == 0 {
		pid = c.p.PID
	}
	if group == 0 {
		group = pid
	}
	if group < 0 {
		return 0, unix.EINVAL
	}
	p := c.s.process(pid)
	switch child := p != nil && p.Parent == c.p.PID; {
	case p == nil && c.s.task(pid) != nil:
		return 0, unix.EINVAL // a thread
	case p == nil, !child && p != c.p:
		return 0, unix.ESRCH
	case child && p.Session != c.p.Session:
		return 0, unix.EPERM
	case child && p.Execed:
		return 0, unix.EACCES
	case p.Session == p.PID:
		return 0, unix.EPERM
	}
	if group != pid && !slices.ContainsFunc(c.s.procs, func(q *Process) bool { return q.Group == group && q.Session == c.p.Session }) {
		return 0, unix.EPERM
	}
	p.Group = group
	return 0, nil
}

func (c *call) sysSetsid() (uint64, error) {
	if c.p.Group == c.p.PID {
		return 0, unix.EPERM
	}
	c.p.Group, c.p.Session = c.p.PID, c.p.PID
	return uint64(c.p.PID), nil
}

func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }
