package nativeboot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/lift"
	"symchef/internal/loader"
	"symchef/internal/mem"
)

// The gate is the one page of the process that is not the guest's, in the gap that Linux leaves between the
// stack and the mappings.
const (
	gate     = loader.MmapTop + 1<<20
	gateSize = guest.PageSize
	end      = guest.AddrLimit - guest.PageSize // of what a process may map
)

// gateCode makes a system call of ours; a name for memfd_create(2) follows, and RDTSC.
var gateCode = []byte{0x0f, 0x05, 0xcc, 0, 0, 0, 0, 0, 'g', 'u', 'e', 's', 't', 0, 0x0f, 0x31, 0xcc}

const (
	gateName = gate + 8
	gateTSC  = gate + 14
	gateStop = gate + 3 // where the process is after gateCode

	filterAt   = gateSize - 256
	gateFilter = gate + filterAt // of system calls
	pathAt     = filterAt - 64
	gatePath   = gate + pathAt // of a file that the process is to open
)

// syscallStop marks the stop signal of a system call (PTRACE_O_TRACESYSGOOD).
const syscallStop = 0x80

// process is the process of the host that the guest's instructions run in. It is stopped unless resume or invoke runs. It
// is the remote of the space that it executes.
type process struct {
	pid   int
	alive sync.Mutex // guards fd against interrupt
	fd    int        // a pidfd; -1: none, or closed
	mem   *os.File   // /proc/PID/mem
	space *mem.Space
	// regs are the registers at the stop; changed: the process does not have them yet.
	regs    unix.PtraceRegs
	fx      [cpu.XSize]byte // the same for floating point, as XSAVE has it
	changed bool
	fresh   bool // fx is what the process has
	breaks  map[uint64]breakpoint
	hooks   map[uint64]bool         // addresses of hooks where nothing is mapped
	stubs   map[uint64]uint64       // code in the gate: which hook's it is
	walking uint64                  // the page of bars that is executable now, one instruction at a time; 0: none
	from    uint64                  // the instruction at which the process was resumed
	steps   int                     // instructions executed so
	step    uint64                  // the breakpoint whose instruction is executed next; 0: none
	bars    map[uint64]bool         // pages that the guest could execute and the process cannot
	files   *contents               // nil: no file is mapped
	kept    map[*mem.Backing]uint64 // files that it has opened for what stands in them
	text    []byte                  // for guard
	objects *mem.Space              // what shared mappings show
	shared  *objects                // objects, once it is lent
	err     error                   // the first that a remote's method met
	most    uint64                  // bytes that the guest may map for writing; 0: no bound
	limit   string                  // why the run must end after the present call, if it must
	watch   watch
}

// start makes a process with nothing in it but the gate.
func start(code map[uint64][]byte, on ir.Processor) (*process, error) {
	if err := capable(features(on), on); err != nil {
		return nil, err
	}
	p, err := spawn()
	if err == nil {
		p.watch.avx = on == ir.V3
		err = p.prepare(code)
	}
	if err != nil && p != nil {
		p.kill()
	}
	return p, err
}

// spawn makes a process that is stopped before its first instruction.
func spawn() (*process, error) {
	p := &process{fd: -1, stubs: map[uint64]uint64{}, hooks: map[uint64]bool{}, breaks: map[uint64]breakpoint{}, bars: map[uint64]bool{}, kept: map[*mem.Backing]uint64{}}
	var err error
	p.pid, err = syscall.ForkExec("/proc/self/exe", []string{"symchef-native-boot"}, &syscall.ProcAttr{
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &p.fd},
	})
	if err != nil {
		return nil, fmt.Errorf("ptrace is not allowed: %w", err)
	}
	if sig, err := p.wait(); err != nil || sig != unix.SIGTRAP {
		return p, errors.Join(fmt.Errorf("stopped by %v", sig), err)
	}
	if p.fd < 0 {
		return p, errors.New("the kernel has no pidfd")
	}
	if err := unix.PtraceSetOptions(p.pid, unix.PTRACE_O_EXITKILL|unix.PTRACE_O_TRACESYSGOOD); err != nil {
		return p, err
	}
	if p.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", p.pid), os.O_RDWR, 0); err != nil {
		return p, err
	}
	return p, unix.PtraceGetRegs(p.pid, &p.regs)
}

// prepare leaves nothing in the process but the gate, with code in it.
func (p *process) prepare(code map[uint64][]byte) error {
	page := slices.Clone(gateCode)
	for _, at := range slices.Sorted(maps.Keys(code)) {
		page = append(page, make([]byte, -len(page)&15)...)
		p.stubs[gate+uint64(len(page))] = at
		page = append(page, code[at]...)
	}
	if len(page) > pathAt {
		return errors.New("too much code of models")
	}
	page = append(append(page, make([]byte, filterAt-len(page))...), filter()...)
	// The program itself makes the first calls, before anything of it has run. Its stack and what the kernel has mapped may be anywhere,
	// even where the gate will be, and some of that can only be unmapped as a whole.
	at := p.regs.Rip
	if _, err := p.mem.WriteAt(gateCode, int64(at)); err != nil {
		return err
	}
	first, last := guest.PageDown(at), guest.PageDown(at+uint64(len(gateCode))-1)+guest.PageSize
	for _, r := range [][2]uint64{{0, first}, {last, end}} {
		if _, err := p.invokeAt(at, unix.SYS_MUNMAP, r[0], r[1]-r[0]); err != nil {
			return fmt.Errorf("munmap: %w", err)
		}
	}
	const private = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED_NOREPLACE
	if _, err := p.invokeAt(at, unix.SYS_MMAP, gate, gateSize, unix.PROT_READ|unix.PROT_EXEC, private, ^uint64(0), 0); err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	if _, err := p.mem.WriteAt(page, int64(gate)); err != nil {
		return err
	}
	if err := p.clear(); err != nil {
		return err
	}
	if _, err := p.invoke(unix.SYS_PRCTL, unix.PR_SET_TSC, unix.PR_TSC_SIGSEGV); err != nil {
		return fmt.Errorf("PR_SET_TSC: %w", err)
	}
	if err := p.tryTSC(); err != nil {
		return err
	}
	_, err := p.invoke(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		_, err = p.invoke(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, gateFilter)
	}
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

// tryTSC executes RDTSC: a virtual machine may ignore the bit of CR4 that makes it fault (SDM vol. 3, 2.5, TSD).
func (p *process) tryTSC() error {
	r := p.regs
	r.Rip, r.Orig_rax = gateTSC, ^uint64(0)
	if err := unix.PtraceSetRegs(p.pid, &r); err != nil {
		return err
	}
	p.changed = true
	for {
		if err := unix.PtraceCont(p.pid, 0); err != nil {
			return err
		}
		switch sig, err := p.wait(); {
		case err != nil:
			return err
		case sig == unix.SIGTRAP:
			p.watch.tsc = true
			return nil
		case sig == unix.SIGSEGV:
			return nil
		}
	}
}

// Probe says whether a process can be started here.
func Probe() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := start(nil, ir.V2)
	if err == nil {
		p.kill()
	}
	return err
}

// filter is a struct sock_fprog at gateFilter and its program: a system call that is executed after all, which vsyscall(2) is, kills the
// process unless it is one of ours, made in the gate.
func filter() []byte {
	const site, low, high = gate + 2, 8, 12 // what instruction_pointer is there; its halves in struct seccomp_data, in bytes
	prog := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: low},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 3, K: uint32(site & (1<<32 - 1))},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: high},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(site >> 32)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
	}
	le := binary.LittleEndian
	b := le.AppendUint64(nil, uint64(len(prog)))
	b = le.AppendUint64(b, gateFilter+16)
	for _, i := range prog {
		b = append(le.AppendUint16(b, i.Code), i.Jt, i.Jf)
		b = le.AppendUint32(b, i.K)
	}
	return b
}

// native returns the address in the gate of a hook's code, and that of any other hook.
func (p *process) native(hook uint64) uint64 {
	for stub, h := range p.stubs {
		if h == hook {
			return stub
		}
	}
	return hook
}

// clear unmaps all but the gate.
func (p *process) clear() error {
	clear(p.breaks)
	clear(p.bars)
	clear(p.hooks)
	p.walking = 0
	_, err := p.invoke(unix.SYS_MUNMAP, 0, gate)
	if err == nil {
		_, err = p.invoke(unix.SYS_MUNMAP, gate+gateSize, end-gate-gateSize)
	}
	if err != nil {
		return fmt.Errorf("munmap: %w", err)
	}
	return nil
}

// kill ends the process.
func (p *process) kill() {
	unix.Kill(p.pid, unix.SIGKILL)
	for {
		var ws unix.WaitStatus
		if _, err := unix.Wait4(p.pid, &ws, unix.WALL, nil); err != unix.EINTR && (err != nil || ws.Exited() || ws.Signaled()) {
			break
		}
	}
	if p.mem != nil {
		p.mem.Close()
	}
	if p.files != nil {
		p.files.file.Close()
	}
	if p.shared != nil {
		p.shared.file.Close()
	}
	p.alive.Lock()
	defer p.alive.Unlock()
	unix.Close(p.fd)
	p.fd = -1
}

// interrupt makes the process stop soon, from any goroutine and at any time.
func (p *process) interrupt() {
	p.alive.Lock()
	defer p.alive.Unlock()
	unix.PidfdSendSignal(p.fd, unix.SIGSTOP, nil, 0)
}

// bound interrupts the process when it and the calling thread, its tracer, have computed for so long from now on. stop ends that.
func (p *process) bound(limit time.Duration) (stop func()) {
	const all, thread = 2, 6 // of a process, of a thread: linux/posix-timers.h, MAKE_PROCESS_CPUCLOCK
	clocks := [2]int32{^int32(p.pid)<<3 | all, ^int32(unix.Gettid())<<3 | thread}
	used := func() (sum time.Duration) {
		for _, id := range clocks {
			var t unix.Timespec
			unix.ClockGettime(id, &t) // nothing once the process has ended
			sum += time.Duration(t.Nano())
		}
		return sum
	}
	until, done := used()+limit, make(chan struct{})
	go func() {
		for left := limit; left > 0; left = until - used() {
			select {
			case <-done:
				return
			case <-time.After(max(left, time.Millisecond)):
			}
		}
		p.interrupt()
	}()
	return func() { close(done) }
}

// leave steps the process out of the gate, where the machine has no code.
func (p *process) leave() {
	for p.err == nil && p.regs.Rip&^(gateSize-1) == gate {
		sig, err := unix.SIGTRAP, ptrace(unix.PTRACE_SYSEMU_SINGLESTEP, p.pid, nil)
		if err == nil {
			sig, err = p.wait()
		}
		if err == nil {
			err = unix.PtraceGetRegs(p.pid, &p.regs)
		}
		if err == nil && sig != unix.SIGTRAP {
			err = fmt.Errorf("%v in the gate", sig)
		}
		if err != nil {
			p.fail(err)
		}
	}
}

// wait waits for the next stop.
func (p *process) wait() (unix.Signal, error) {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(p.pid, &ws, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case ws.Stopped():
			return ws.StopSignal(), nil
		default:
			return 0, errors.New("the process was killed")
		}
	}
}

// resume lets the process run until it stops for a system call or a signal.
func (p *process) resume() (unix.Signal, error) {
	for {
		if p.changed {
			p.regs.Orig_rax = ^uint64(0) // no call to restart
			if err := unix.PtraceSetRegs(p.pid, &p.regs); err != nil {
				return 0, err
			}
			p.changed = false
		}
		if !p.fresh {
			if err := p.putFloats(); err != nil {
				return 0, err
			}
			p.fresh = true
		}
		request, at := unix.PTRACE_SYSEMU, p.step
		if p.walking != 0 || at != 0 {
			request = unix.PTRACE_SYSEMU_SINGLESTEP
		}
		if at != 0 {
			p.Write(at, []byte{p.breaks[at].was})
		}
		p.from = p.regs.Rip
		if err := ptrace(request, p.pid, nil); err != nil {
			return 0, err
		}
		sig, err := p.wait()
		if err != nil {
			return 0, err
		}
		if at != 0 {
			p.Write(at, []byte{int3})
			if p.step = 0; sig == unix.SIGTRAP && p.walking == 0 {
				continue
			}
		}
		switch sig {
		case unix.SIGTRAP | syscallStop, unix.SIGTRAP, unix.SIGSEGV, unix.SIGILL, unix.SIGFPE, unix.SIGBUS, unix.SIGSTOP:
			return sig, unix.PtraceGetRegs(p.pid, &p.regs)
		} // others are from outside and not the guest's
	}
}

// invoke makes the process execute a system call of ours.
func (p *process) invoke(nr uint64, args ...uint64) (uint64, error) {
	return p.invokeAt(gate, nr, args...)
}

func (p *process) invokeAt(at, nr uint64, args ...uint64) (uint64, error) {
	r := p.regs
	r.Rip, r.Rax, r.Orig_rax = at, nr, ^uint64(0)
	for i, to := range [6]*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		if i < len(args) {
			*to = args[i]
		}
	}
	if err := unix.PtraceSetRegs(p.pid, &r); err != nil {
		return 0, err
	}
	p.changed = true
	for {
		if err := unix.PtraceCont(p.pid, 0); err != nil {
			return 0, err
		}
		sig, err := p.wait()
		if err != nil {
			return 0, err
		}
		if sig == unix.SIGSTOP {
			p.limit = Slow
		}
		if sig == unix.SIGTRAP {
			break
		}
		if sig == unix.SIGSEGV {
			return 0, fmt.Errorf("%v in a call of ours", sig)
		}
	}
	if err := unix.PtraceGetRegs(p.pid, &r); err != nil {
		return 0, err
	}
	if r.Rip != at+gateStop-gate {
		return 0, fmt.Errorf("stopped at %#x", r.Rip)
	}
	if e := -int64(r.Rax); e > 0 && e < 4096 {
		return 0, unix.Errno(e)
	}
	return r.Rax, nil
}

// ptrace makes a request whose data is p.
func ptrace(request, pid int, p *byte) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(pid), 0, uintptr(unsafe.Pointer(p)), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// order pairs the registers of the process with those of the model.
func order(r *unix.PtraceRegs) [18]*uint64 {
	return [18]*uint64{
		ir.RAX: &r.Rax, ir.RCX: &r.Rcx, ir.RDX: &r.Rdx, ir.RBX: &r.Rbx, ir.RSP: &r.Rsp, ir.RBP: &r.Rbp, ir.RSI: &r.Rsi, ir.RDI: &r.Rdi,
		ir.R8: &r.R8, ir.R9: &r.R9, ir.R10: &r.R10, ir.R11: &r.R11, ir.R12: &r.R12, ir.R13: &r.R13, ir.R14: &r.R14, ir.R15: &r.R15,
		ir.FSBase: &r.Fs_base, ir.GSBase: &r.Gs_base,
	}
}

// cpuid does CPUID, an instruction of so many bytes, of processor of.
func (p *process) cpuid(length uint64, of ir.Processor) {
	r := &p.regs
	eax, ebx, ecx, edx := lift.CPUID(of, uint32(r.Rax), uint32(r.Rcx))
	r.Rax, r.Rbx, r.Rcx, r.Rdx = uint64(eax), uint64(ebx), uint64(ecx), uint64(edx)
	r.Rip += length
	p.changed = true
}

// timestamp does RDTSC, or where it has three bytes RDTSCP.
func (p *process) timestamp(t, length uint64) {
	r := &p.regs
	r.Rax, r.Rdx = t&(1<<32-1), t>>32
	if length == 3 {
		r.Rcx = 0
	}
	r.Rip += length
	p.changed = true
}

// save copies the registers at the stop to c.
func (p *process) save(c *cpu.CPU) {
	c.PC = p.regs.Rip
	for slot, v := range order(&p.regs) {
		c.Set(ir.Slot(slot), *v)
	}
	c.SetRFLAGS(p.regs.Eflags)
	if p.fresh {
		if err := p.getFloats(); err != nil {
			p.fail(err)
		}
		p.fx[fxMXCSR] &^= status
	}
	c.XRestore(p.fx[:])
}

// ntX86XState is NT_X86_XSTATE, maxXState more than any processor has of it.
const (
	ntX86XState = 0x202
	maxXState   = 1 << 15
)

// xstate reads (PTRACE_GETREGSET) or writes what XSAVE has of the process; n is how much there is.
func (p *process) xstate(request int, b []byte) (n int, err error) {
	v := unix.Iovec{Base: &b[0], Len: uint64(len(b))}
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(p.pid), ntX86XState, uintptr(unsafe.Pointer(&v)), 0, 0); e != 0 {
		return 0, e
	}
	return int(v.Len), nil
}

// getFloats makes fx what the process has, putFloats the reverse. What the machine's processor has no more than the host's stays.
func (p *process) getFloats() error {
	if !p.watch.avx {
		binary.LittleEndian.PutUint64(p.fx[cpu.XParts:], cpu.XAll)
		return ptrace(unix.PTRACE_GETFPREGS, p.pid, &p.fx[0])
	}
	b := make([]byte, maxXState)
	if n, err := p.xstate(unix.PTRACE_GETREGSET, b); err != nil || n < cpu.XSize {
		return fmt.Errorf("the state of AVX: %d bytes, %w", n, err)
	}
	copy(p.fx[:], cpu.XArea(b[:cpu.XSize]))
	return nil
}

func (p *process) putFloats() error {
	if !p.watch.avx {
		return ptrace(unix.PTRACE_SETFPREGS, p.pid, &p.fx[0])
	}
	b := make([]byte, maxXState)
	n, err := p.xstate(unix.PTRACE_GETREGSET, b)
	if err != nil || n < cpu.XSize {
		return fmt.Errorf("the state of AVX: %d bytes, %w", n, err)
	}
	copy(b[:416], p.fx[:])
	copy(b[cpu.XUpper:], p.fx[cpu.XUpper:])
	b[cpu.XParts] |= cpu.XAll
	_, err = p.xstate(unix.PTRACE_SETREGSET, b[:n])
	return err
}

// The machine does not set the status flags of MXCSR (package lift).
const (
	fxMXCSR = 24 // in an FXSAVE image, in bytes
	status  = 0x3f
)

// set makes the registers those of c.
func (p *process) set(c *cpu.CPU) {
	p.changed = true
	p.regs.Rip = c.PC
	for slot, v := range order(&p.regs) {
		*v = c.R[slot]
	}
	p.regs.Eflags = c.RFLAGS()
	now := *c
	now.XRestore(p.fx[:])
	for s := ir.MXCSR; s < ir.NumState; s++ {
		if now.R[s] != c.R[s] {
			copy(p.fx[:], c.XSave())
			p.fresh = false
			return
		}
	}
}

func (p *process) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// where names the module and offset of an address.
func (p *process) where(at uint64) string {
	if a := p.space.Find(at); a != nil && a.Name != "" {
		return fmt.Sprintf("%s+%#x", a.Name, at-a.Start+a.Off)
	}
	return fmt.Sprintf("%#x", at)
}
