package nativeboot

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/ir/iref"
	"symchef/internal/kernel"
	"symchef/internal/lift"
	"symchef/internal/mem"
)

// Boot is a native run of a system.
type Boot struct {
	// Sys has one process, nothing in it is symbolic.
	Sys *kernel.System
	// Before is asked before a file is opened or looked at; where it returns true the run ends with that call not yet made. The run
	// ends at the latest when the device is open.
	Before func(path string) bool
	// AtEntry, if not nil, is called before the instruction at Entry is executed. It may change memory, and returns
	// where else the run calls Hook: before the instruction there, or if nothing is mapped there, instead of a fault.
	// Where native has another address for an address of Code, pointers to it must have that.
	Entry   uint64
	AtEntry func(s *mem.Space, native func(uint64) uint64) []uint64
	// Entered says that Entry is behind: AtEntry is called at once.
	Entered bool
	// Code is position-independent code that does what Hook does, by addresses where nothing is mapped.
	Code map[uint64][]byte
	// Hook runs in place of the code at an address. It may change registers and memory. Where it returns handled, the registers
	// say what comes next, else the code runs after all; with a reason to stop the run ends before that.
	Hook func(at uint64, c *cpu.CPU, s *mem.Space) (handled bool, stop string)
	// MaxMemory bounds what the process may map for writing, in bytes; 0: no bound.
	MaxMemory uint64
	// Limit is how long the run may compute; 0: as long as it wants. It is processor time, so that a busy host changes nothing.
	Limit time.Duration
}

// errEnded is a guest that the model says has ended, or that waits for its device: it must be booted again.
var errEnded = errors.New("the interpreter ended")

// ManyProcesses is why a run ends before a child is made. Once there is one process again there can be another run.
const ManyProcesses = "a child is made"

// leaves says why a native run does not make system call nr.
func (b *Boot) leaves(nr uint64, flags uint64) string {
	switch nr {
	case unix.SYS_CLONE:
		if flags&unix.CLONE_THREAD == 0 {
			return ManyProcesses
		}
	case unix.SYS_FORK, unix.SYS_VFORK:
		return ManyProcesses
	case unix.SYS_EXIT:
		if len(b.Sys.Tasks()) == 1 {
			return "the program ends"
		}
	case unix.SYS_EXIT_GROUP:
		return "the program ends"
	}
	return ""
}

// OneProcess reports whether all tasks of sys are threads of one process: a native run can begin.
func OneProcess(sys *kernel.System) bool {
	n := 0
	for _, p := range sys.Processes() {
		if !p.Dead {
			n++
		}
	}
	return n == 1
}

// Run runs the guest natively. ended says why it went on no further, "" where Before ended it. After an error the system
// is unusable.
func (b *Boot) Run(c context.Context) (ended string, err error) {
	if !OneProcess(b.Sys) {
		return ManyProcesses, nil
	}
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	p, err := start(b.Code, b.Sys.Processor())
	if err != nil {
		return "", err
	}
	p.most = b.MaxMemory
	defer p.kill()
	defer context.AfterFunc(c, p.interrupt)()
	if b.Limit > 0 {
		defer p.bound(b.Limit)()
	}
	if err := b.load(p); err != nil {
		return "", err
	}
	ended, err = b.loop(p)
	if err == nil {
		p.save(&b.Sys.Current().CPU)
		err = p.unload()
	}
	return ended, err
}

// load gives p the memory and the registers of the task.
func (b *Boot) load(p *process) error {
	if err := p.load(b.Sys.CurrentProcess().Mem, &b.Sys.Current().CPU); err != nil {
		return err
	}
	switch {
	case b.AtEntry == nil:
	case b.Entered:
		b.enter(p)
	default:
		p.breakAt(b.Entry, entry)
	}
	return p.err
}

// loop runs p until the run ends.
func (b *Boot) loop(p *process) (ended string, err error) {
	for {
		if stop := b.look(p); stop != "" {
			return stop, p.err
		}
		sig, err := p.resume()
		if err != nil {
			return "", err
		}
		stop := ""
		switch sig {
		case unix.SIGTRAP | syscallStop:
			stop, err = b.call(p)
		case unix.SIGTRAP:
			if _, ok := p.breaks[p.from]; ok || p.walking == 0 { // else a step
				stop = b.trap(p)
			}
		case unix.SIGSEGV:
			stop = b.fault(p)
		case unix.SIGSTOP:
			p.leave()
			stop = Slow
		case unix.SIGILL, unix.SIGFPE, unix.SIGBUS:
			stop = "a fault at " + p.where(p.regs.Rip) // the machine meets it again
		}
		switch {
		case err != nil:
			return "", err
		case p.err != nil:
			return "", p.err
		case stop == here:
			return "", nil
		case stop != "":
			return stop, nil
		case p.limit != "":
			return p.limit, nil
		}
	}
}

// Slow is why a run ended that was interrupted, or took longer than its Limit.
const Slow = "it takes long"

// otherCall is why a run ends at int 0x80 or sysenter.
const otherCall = "a system call by another instruction than syscall"

// here is the reason to end a run that Before gives.
const here = "here"

// call answers the system call that p is about to make; stop is not empty where the run ends.
func (b *Boot) call(p *process) (stop string, err error) {
	t, r := b.Sys.Current(), &p.regs
	nr, pc := r.Orig_rax, r.Rip-2
	r.Rax, r.Rip = nr, pc // as before it
	var code [2]byte
	if p.space.Fetch(pc, code[:]) < 2 || code != [2]byte{0x0f, 0x05} {
		return otherCall, nil
	}
	if why := b.leaves(nr, r.Rdi); why != "" {
		return why, nil
	}
	if path, ok := b.names(p, nr); ok && b.Before(path) {
		return here, nil
	}
	p.save(&t.CPU)
	t.CPU.PC = pc + 2
	t.CPU.Set(ir.RCX, pc+2)
	t.CPU.Set(ir.R11, cpu.FlagsFixed)
	out := b.Sys.Syscall()
	if b.Sys.CurrentProcess().Mem != p.space { // execve
		b.Entered = false
		return "", errors.Join(p.clear(), b.load(p))
	}
	p.flush()
	switch {
	case out.Kind == kernel.Unsupported: // the machine meets it again
		return out.What, nil
	case out.Kind != kernel.Done && out.Kind != kernel.Switch:
		return "", errEnded
	}
	p.set(&b.Sys.Current().CPU) // of another thread, if this one waits
	if b.Sys.Opened() {
		return here, nil
	}
	return "", nil
}

// names returns the path of a call that opens a file or looks at one.
func (b *Boot) names(p *process, nr uint64) (path string, ok bool) {
	at := p.regs.Rdi
	switch nr {
	case unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK:
	case unix.SYS_OPENAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT:
		at = p.regs.Rsi
	default:
		return "", false
	}
	var text []byte
	for len(text) < unix.PathMax {
		b := make([]byte, mem.GranuleSize-at%mem.GranuleSize)
		if p.space.Read(at, b) != nil {
			return "", false
		}
		if n := bytes.IndexByte(b, 0); n >= 0 {
			return string(append(text, b[:n]...)), true
		}
		text, at = append(text, b...), at+uint64(len(b))
	}
	return "", false
}

// trap handles a breakpoint.
func (b *Boot) trap(p *process) (stop string) {
	r := &p.regs
	at := r.Rip - 1
	k, ok := p.breaks[at]
	if !ok {
		var code [2]byte
		switch n := p.space.Fetch(at-1, code[:]); {
		case n == 2 && (code[1] == int3 || code[1] == int1):
			r.Rip = at
		case n == 2 && code == [2]byte{0xcd, 3}: // int 3
			r.Rip = at - 1
		} // else the signal is from outside, or the trap flag is set
		return "a breakpoint at " + p.where(r.Rip)
	}
	r.Rip = at
	switch k.kind {
	case entry:
		p.restore(at, at+1)
		b.Entered = true
		b.enter(p)
	case hook:
		return b.hook(p, at)
	case cpuid:
		p.cpuid(k.length, b.Sys.Processor())
	case timestamp:
		p.timestamp(b.Sys.Timestamp(), k.length)
	case extended:
		if stop := b.extended(p, k.length); stop != "" {
			return stop
		}
	default:
		return "an instruction that depends on the processor at " + p.where(at)
	}
	p.changed = true
	return ""
}

// extended does an instruction of so many bytes as the machine's processor does.
func (b *Boot) extended(p *process, length uint64) (stop string) {
	at := p.regs.Rip
	stop = "an instruction that depends on the processor at " + p.where(at)
	if !p.watch.avx {
		return stop
	}
	blk, err := lift.Lift(at, func(addr uint64, q []byte) int {
		return p.space.Fetch(addr, q[:min(uint64(len(q)), at+length-min(addr, at+length))])
	})
	if err != nil {
		return stop
	}
	c := &b.Sys.Current().CPU
	p.save(c)
	m := iref.Machine{R: c.R, Mem: memory{p.space}}
	if exit := m.Run(blk); exit.Kind != iref.Branch {
		return stop
	}
	p.flush()
	for s := range ir.Slot(ir.NumState) {
		c.Set(s, m.R[s])
	}
	c.PC = at + length
	p.set(c)
	return ""
}

// memory is a space for iref.
type memory struct{ *mem.Space }

func (m memory) ReadMem(addr uint64, b []byte) error  { return m.Read(addr, b) }
func (m memory) WriteMem(addr uint64, b []byte) error { return m.Write(addr, b) }

// maxSteps bounds the instructions that are executed one by one.
const maxSteps = 50_000

// look looks at the next instruction while p walks through a page that is not executable natively, and does it if it is CPUID.
func (b *Boot) look(p *process) (stop string) {
	for p.walking != 0 {
		at := p.regs.Rip
		if guest.PageDown(at) != p.walking {
			p.walk(0)
			return ""
		}
		code := make([]byte, 15)
		code = code[:p.space.Fetch(at, code)]
		op, n := lift.Op(code)
		switch kind, known := kinds[op]; {
		case known && kind == cpuid:
			p.cpuid(uint64(n), b.Sys.Processor())
			continue
		case known && kind == timestamp:
			p.timestamp(b.Sys.Timestamp(), uint64(n))
			continue
		case known && kind == extended && p.watch.avx:
			if stop := b.extended(p, uint64(n)); stop != "" {
				return stop
			}
			continue
		case known || op == x86asm.PUSHF || op == x86asm.PUSHFQ || // shows the trap flag
			n == 0 && slices.ContainsFunc([]int{0, 1, 2, 3}, func(i int) bool { return candidate(code[min(i, len(code)):], p.watch) }):
			return "an instruction that depends on the processor at " + p.where(at)
		}
		if p.steps++; p.steps > maxSteps {
			return "much code that cannot be told from other bytes, at " + p.where(at)
		}
		return ""
	}
	return ""
}

// enter does what is due at the entry.
func (b *Boot) enter(p *process) {
	for _, at := range b.AtEntry(p.space, p.native) {
		if p.space.Mapped(at, 1, 0) {
			p.breakAt(at, hook)
		} else {
			p.hooks[at] = true
		}
	}
	p.flush()
}

// hook calls a hook.
func (b *Boot) hook(p *process, at uint64) (stop string) {
	c := &b.Sys.Current().CPU
	p.save(c)
	handled, stop := b.Hook(at, c, p.space)
	p.flush()
	if stop != "" {
		return stop
	}
	p.set(c)
	if !handled {
		p.step = at
	}
	return ""
}

// fault handles a fault: RDTSC and RDTSCP are allowed to the machine only.
func (b *Boot) fault(p *process) (stop string) {
	r := &p.regs
	if p.hooks[r.Rip] {
		return b.hook(p, r.Rip)
	}
	var code [3]byte
	p.space.Fetch(r.Rip, code[:])
	switch {
	case code == [3]byte{0x0f, 0x01, 0xf9}:
		p.timestamp(b.Sys.Timestamp(), 3)
		return ""
	case code[0] == 0x0f && code[1] == 0x31:
		p.timestamp(b.Sys.Timestamp(), 2)
		return ""
	case code[0] == 0xcd && code[1] == 0x80: // the host has no such call
		return otherCall
	}
	switch a := p.space.Find(r.Rip); {
	case a == nil || a.Prot&guest.ProtExec == 0:
	case hostProt(a, a.Prot)&unix.PROT_EXEC == 0:
		return "generated code"
	case p.bars[guest.PageDown(r.Rip)] && p.walking == 0:
		p.walk(guest.PageDown(r.Rip))
		return ""
	}
	return "a fault at " + p.where(r.Rip)
}
