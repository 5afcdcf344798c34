package kernel

import (
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/loader"
	"symchef/internal/mem"
)

// Config is what a System is made from. It must not change afterwards; forks share it.
type Config struct {
	Path      string   // guest path of the program: an ELF file or a #! script
	Argv, Env []string // Argv[0] included
	Cwd       string   // absolute; "" is "/"
	UID, GID  int      // what getuid(2) and getgid(2) return; a replay agrees if they are the caller's own
	Stdin     mem.Bytes
	Seed      uint64 // of getrandom(2), /dev/urandom and AT_RANDOM
	// MaxMemory bounds the bytes that one process may touch, and those of all files it writes; 0: no limit of memory,
	// maxDisk of files.
	MaxMemory uint64
	// Stdout and Stderr take what is written there at once, which is not kept then; for a system that is never forked. nil: it is
	// kept, up to maxOutput.
	Stdout, Stderr io.Writer
	// Files exist from the start, with this content, by absolute guest path; they hide those of the host.
	Files map[string]mem.Bytes
	// Virtual are read-only trees by the absolute guest path they appear at.
	Virtual map[string]fs.FS
	// DeviceEnabled makes /dev/symchef exist.
	DeviceEnabled bool
	// Processor is what programs see, where World has no other.
	Processor ir.Processor
	// Host gives access to host files; one for all systems of a run. nil: a fresh one.
	Host *Host
	// World is the zero value except where a test case runs again to find what its outcome depends on.
	World World
}

// Numbers of the first process and of its parent, in the world of explorations, and of the host's first process.
const (
	firstPID  = 1000
	parentPID = 999
	initPID   = 1
)

// System is the model's whole state. It belongs to one goroutine.
type System struct {
	// Retired is the number of instructions executed so far; the engine adds to
	// it. It is the time base: see Time.
	Retired uint64

	cost    uint64 // of system calls, in instructions: see Spent
	calls   uint64 // system calls before the device was opened
	opened  uint64 // what Retired was then; 0: it has not been
	looked  uint64 // how often the guest has learned what time it is; see Recurs
	entered uint64 // system calls, signals and faults; see Recurs

	owner uint64 // stamp of the rows this system may write; see table
	cfg   *Config
	stdin mem.Bytes // all of it; f.Off says what has been read
	host  *Host
	terms Terms // nil: none

	procs  []*Process // ascending PID; zombies included
	tasks  []*Task    // ascending TID; live ones only
	cur    *Task
	lastID int    // last PID or TID given
	skew   Time   // time skipped while all tasks waited
	moment moment // see MoveTo
	waits  uint64 // number of waits begun; orders futex queues
	rng    uint64 // state of the random stream
	status Status
	ended  bool // the first process has ended

	files      table[file] // open file descriptions
	pipes      table[pipe] // pipes
	socks      table[socket]
	ttys       table[tty]
	segments   table[segment] // System V shared memory, by identifier
	ports      uint32         // ports and abstract names given out so far
	nodes      table[inode]   // overlay files; 0 is unused, rootNode the root
	stored     int64          // bytes of nodes at the most; see reserve
	objects    *mem.Space     // what shared mappings show, see shared.go
	lastObject uint64         // address of the last object
	out        [3]*chunk      // what went to stdout [1] and stderr [2], newest first
	device     int            // open file that the last device request came from

	ordering  bool   // see TrackOrder
	order     *order // nil: all that has been done comes before what the one task does
	unordered string // see Unordered, of orders before
	bounded   Bounds // see Met
	calling   bool   // a system call is being made, not only looked at; for polled
	asked     questions
	callName  string // of the present or the last call
	polled    []int  // open files that it has looked at
}

// Boot loads the program: one process with one task, ready to run.
func Boot(cfg Config) (*System, error) {
	if cfg.Cwd == "" {
		cfg.Cwd = "/"
	}
	if cfg.Host == nil {
		cfg.Host = NewHost()
	}
	s := newSystem(&cfg)
	t := s.start()
	p := t.proc
	for _, name := range slices.Sorted(maps.Keys(cfg.Files)) {
		if err := s.preload(p, name, cfg.Files[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	img, err := s.load(p, cfg.Path, cfg.Argv, cfg.Env)
	if err != nil {
		return nil, err
	}
	p.Argv, p.Env = cfg.Argv, cfg.Env
	s.install(t, img, cfg.Path)
	return s, nil
}

func newSystem(cfg *Config) *System {
	s := &System{owner: lastOwner.Add(1), cfg: cfg, stdin: cfg.Stdin, host: cfg.Host, rng: cfg.Seed, device: -1, objects: mem.NewSpace()}
	s.nodes.add(s.owner, &inode{})
	s.nodes.add(s.owner, &inode{Mode: unix.S_IFDIR | 0o755, Nlink: 2, Lower: "/"})
	return s
}

// start makes the first process, with one task and standard streams but no program.
func (s *System) start() *Task {
	first, parent := s.cfg.World.firstPID(), s.cfg.World.parentPID()
	p := &Process{PID: first, process: process{Parent: parent, Group: first, Session: s.cfg.World.session(), Cwd: s.cfg.Cwd, Umask: 0o022, Limits: s.cfg.World.limits(), Nice: s.cfg.World.host().nice, Actions: &actions{}}}
	t := &Task{TID: first, task: task{proc: p}}
	s.procs, s.tasks, s.cur, s.lastID = []*Process{p}, []*Task{t}, t, first
	for fd, k := range []fileKind{fileStdin, fileOut, fileErr} {
		flags := unix.O_RDONLY
		if fd > 0 {
			flags = unix.O_WRONLY
		}
		p.Fds = append(p.Fds, fdEntry{File: s.files.add(s.owner, &file{Kind: k, Flags: flags, Refs: 1, Path: s.pipeName(1 + fd)})})
	}
	return t
}

// load reads a program for p from the guest's file system.
func (s *System) load(p *Process, path string, argv, env []string) (*loader.Image, error) {
	prog := loader.Program{Path: path, Argv: argv, Env: env, UID: s.cfg.UID, GID: s.cfg.GID, Moved: s.cfg.World.Lower, VDSO: s.cfg.World.Beyond}
	if s.Processor() == ir.Elsewhere {
		prog.HWCap, prog.HWCap2, prog.MinSignalStack = 1<<28, 1<<1, 3376 // HTT, FSGSBASE
	}
	binary.LittleEndian.PutUint64(prog.Random[:], s.random())
	binary.LittleEndian.PutUint64(prog.Random[8:], s.random())
	prog.Open = func(path string) (*mem.Backing, error) {
		v, err := s.walk(p, p.Cwd, path, true)
		switch {
		case err != nil:
			return nil, err
		case !v.exists:
			return nil, unix.ENOENT
		case !v.st.regular() || !s.may(v.st, 1):
			return nil, unix.EACCES
		}
		b, err := s.content(p, v)
		if err == nil && !b.IsConcrete() {
			return nil, unix.EACCES // a program with symbolic bytes: callers refuse it earlier
		}
		if err != nil {
			return nil, err
		}
		return s.backing(v, b), nil
	}
	return loader.Load(prog)
}

// install makes t run a loaded image.
func (s *System) install(t *Task, img *loader.Image, path string) {
	p := t.proc
	heap := s.cfg.World.heap(img.Brk)
	p.Mem, p.BrkStart, p.Brk, p.Exe = img.Space, heap, heap, img.Path
	p.Mem.Objects = s.objects
	p.Comm = path[strings.LastIndexByte(path, '/')+1:]
	p.Comm = p.Comm[:min(15, len(p.Comm))]
	t.CPU = img.CPU
}

// Fork returns a copy that shares nothing mutable with s.
func (s *System) Fork() *System {
	c := *s
	s.owner, c.owner = lastOwner.Add(1), lastOwner.Add(1)
	c.files, c.pipes, c.socks, c.ttys, c.nodes = s.files.fork(), s.pipes.fork(), s.socks.fork(), s.ttys.fork(), s.nodes.fork()
	c.segments = s.segments.fork()
	c.objects = s.objects.Fork()
	c.order, c.polled = s.order.fork(), nil
	spaces := map[*mem.Space]*mem.Space{}
	procs := make(map[*Process]*Process, len(s.procs))
	c.procs = make([]*Process, len(s.procs))
	for i, p := range s.procs {
		q := *p
		if p.Mem != nil {
			if spaces[p.Mem] == nil {
				spaces[p.Mem] = p.Mem.Fork()
				spaces[p.Mem].Objects = c.objects
			}
			q.Mem = spaces[p.Mem]
		}
		q.Fds = append([]fdEntry(nil), p.Fds...)
		q.Infos = append([]siginfo(nil), p.Infos...)
		c.procs[i], procs[p] = &q, &q
	}
	c.tasks = make([]*Task, len(s.tasks))
	for i, t := range s.tasks {
		u := *t
		u.proc = procs[t.proc]
		u.Infos = append([]siginfo(nil), t.Infos...)
		c.tasks[i] = &u
		if t == s.cur {
			c.cur = &u
		}
	}
	return &c
}

// Current returns the task to run. It stays valid until the next Syscall, Fault,
// Raise, Preempt or Fork.
func (s *System) Current() *Task { return s.cur }

// CurrentProcess returns the process of the current task.
func (s *System) CurrentProcess() *Process { return s.cur.proc }

// Processes returns the processes that have an address space, in ascending order of PID.
func (s *System) Processes() []*Process {
	var l []*Process
	for _, p := range s.procs {
		if p.Mem != nil {
			l = append(l, p)
		}
	}
	return l
}

// Tasks returns the live tasks in ascending order of TID; the caller must not change the list.
func (s *System) Tasks() []*Task { return s.tasks }

// Met returns the bounds of World.Bounds that have kept the guest from something.
func (s *System) Met() Bounds { return s.bounded }

// ExitStatus returns how the first process ended. Require: an Outcome was Exited.
func (s *System) ExitStatus() Status { return s.status }

// Stdout returns everything written to standard output.
func (s *System) Stdout() mem.Bytes { return s.out[1].bytes() }

// Stderr returns everything written to standard error.
func (s *System) Stderr() mem.Bytes { return s.out[2].bytes() }

// Consulted returns what has been asked of the host so far, in order of first question.
func (s *System) Consulted() []Consulted { return s.host.Consulted() }

// Rebase gives every symbolic byte and register of the whole system the value
// that eval returns for its expression.
func (s *System) Rebase(eval func(expr.Ref) uint64) {
	done := map[*mem.Space]bool{}
	for _, p := range s.procs {
		if p.Mem != nil && !done[p.Mem] {
			done[p.Mem] = true
			p.Mem.Rebase(eval)
		}
	}
	s.objects.Rebase(eval)
	for _, t := range s.tasks {
		t.CPU.Rebase(eval)
	}
	for i := range s.out {
		s.out[i] = s.out[i].rebase(eval)
	}
	s.stdin = rebased(s.stdin, eval)
	s.rebaseFiles(eval)
	s.rebaseSockets(eval)
}

// Syscall performs the call of the current task. Require: PC is behind the
// syscall instruction (2 bytes); RAX and the NumArgs argument registers are
// concrete. A call that waits puts PC back and is made again when the task
// is woken; the model remembers the deadline meanwhile.
func (s *System) Syscall() Outcome {
	t := s.cur
	r := &t.CPU.R
	nr := r[ir.RAX]
	c := call{s: s, t: t, p: t.proc, mask: t.Mask, was: t.Wait,
		a: [6]uint64{r[ir.RDI], r[ir.RSI], r[ir.RDX], r[ir.R10], r[ir.R8], r[ir.R9]}}
	row := rowOf(nr)
	if row == nil || row.do == nil {
		return Outcome{Kind: Unsupported, What: describe(nr, c.a)}
	}
	t.Wait = wait{}
	s.entered++
	if c.was.Kind == waitNone { // else it was counted before it waited
		s.called()
	}
	tracked, file := s.order != nil, -1
	s.callName = row.name
	s.asked.call(nr, &c.a)
	if tracked {
		if i, _, err := c.anyFd(c.arg32(0)); err == nil {
			file = i
		}
		s.order.looked, s.order.way, s.order.used, s.polled, s.calling = nil, nil, nil, nil, true
		s.order.fds = slices.Clone(t.proc.Fds)
	}
	c.doomed(row.name)
	m, passed, cost := c.p.Mem, c.p.Mem.Passed(), s.cost
	s.cost += callCost
	v, err := row.do(&c)
	s.mapped(m, c.p.Mem, passed)
	if s.calling = false; tracked && s.order != nil {
		c.ordered(row, file, v, err)
	}
	s.exposed(c.p)
	switch e := err.(type) {
	case nil:
		t.CPU.Set(ir.RAX, v)
		if c.result != 0 {
			t.CPU.SetSym(ir.RAX, v, c.result)
		}
	case unix.Errno:
		t.CPU.Set(ir.RAX, -uint64(e))
	case needConcrete:
		t.Wait, s.cost = c.was, cost
		return Outcome{Kind: NeedConcrete, Addr: e.addr, Len: e.n}
	case unsupported:
		t.Wait = c.was
		return Outcome{Kind: Unsupported, What: describe(nr, c.a) + ": " + string(e)}
	case deviceRequest:
		t.CPU.Set(ir.RAX, uint64(len(e.Data)))
		return Outcome{Kind: Device, Request: mem.Bytes(e)}
	case goesOn:
		t.Wait = wait{Kind: waitMore, Done: int(e)}
		t.CPU.PC -= 2 // syscall is 0f 05
		if what := s.Exceeded(); what != "" {
			return Outcome{Kind: Unsupported, What: what}
		}
		return Outcome{Kind: Done}
	case blocked:
		t.Wait = wait(e)
		if t.Wait.Seq == 0 {
			s.waits++
			t.Wait.Seq = s.waits
		}
		t.CPU.PC -= 2 // syscall is 0f 05
		return s.reschedule()
	case control:
		switch e {
		case newContext:
		case yielded:
			t.CPU.Set(ir.RAX, 0)
			return s.reschedule()
		case taskEnded:
			return s.reschedule()
		}
	default:
		panic(fmt.Sprintf("kernel: %s returned %v", row.name, err))
	}
	return s.settle()
}

// Exceeded says which limit the current process has exceeded, if any; shared memory counts as its own.
func (s *System) Exceeded() string {
	if p := s.cur.proc; s.cfg.MaxMemory > 0 && p.Mem != nil && p.Mem.Touched()+s.objects.Touched() > s.cfg.MaxMemory {
		return fmt.Sprintf("the program uses more than %d MiB of memory", s.cfg.MaxMemory>>20)
	}
	return ""
}

// Fit is how many systems of this size the memory of a path has room for.
func (s *System) Fit() uint64 {
	if s.cfg.MaxMemory == 0 {
		return ^uint64(0)
	}
	size := uint64(max(s.stored, 0)) + s.objects.Touched()
	for _, p := range s.procs {
		if p.Mem != nil {
			size += p.Mem.Touched()
		}
	}
	return s.cfg.MaxMemory / max(size, 1)
}

// settle delivers what became pending to the current task and reports.
func (s *System) settle() Outcome {
	if s.ended {
		return Outcome{Kind: Exited}
	}
	if what := s.Exceeded(); what != "" {
		return Outcome{Kind: Unsupported, What: what}
	}
	t := s.cur
	if s.booting() { // time has passed, and no slice ends soon
		s.fire()
	}
	if out, stop := s.deliver(t); stop {
		return out
	}
	if s.ended || s.cur != t || t.proc.Dead || t.proc.Stop != 0 {
		return s.reschedule()
	}
	return Outcome{Kind: Done}
}

// describe prints a call with its arguments.
func describe(nr uint64, a [6]uint64) string {
	name, n := fmt.Sprintf("system call %d", nr), 6
	if row := rowOf(nr); row != nil {
		name, n = row.name, row.nargs
	}
	var b strings.Builder
	b.WriteString(name + "(")
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%#x", a[i])
	}
	return b.String() + ")"
}
