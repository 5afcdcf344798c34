package kernel

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Handlers and flags of sigaction(2).
const (
	sigDfl      = 0
	sigIgn      = 1
	saNoCldWait = 2
	saRestorer  = 0x04000000
	saOnStack   = 0x08000000
	saRestart   = 0x10000000
	saNoDefer   = 0x40000000
	saResetHand = 0x80000000

	numSignals = 64
)

// sigaction is the kernel's struct: what to do at a signal.
type sigaction struct {
	Handler, Flags, Restorer, Mask uint64
}

// actions is indexed by signal number.
type actions [numSignals + 1]sigaction

// siginfo is what a signal carries, sigaction(2).
type siginfo struct {
	Sig, Code, PID, UID, Status int    // PID is a timer's ID if Code is siTimer
	Addr                        uint64 // of a fault; the value of a timer
}

func (i siginfo) encode() []byte {
	b := make([]byte, 128)
	le := binary.LittleEndian
	le.PutUint32(b, uint32(i.Sig))
	le.PutUint32(b[8:], uint32(i.Code))
	switch unix.Signal(i.Sig) {
	case unix.SIGSEGV, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP, unix.SIGBUS:
		if i.Code > 0 {
			le.PutUint64(b[16:], i.Addr)
			return b
		}
	}
	le.PutUint32(b[16:], uint32(i.PID))
	le.PutUint32(b[20:], uint32(i.UID))
	if i.Code == siTimer {
		le.PutUint64(b[24:], i.Addr)
		return b
	}
	le.PutUint32(b[24:], uint32(i.Status))
	return b
}

// altStack is a sigaltstack(2).
type altStack struct {
	Addr, Size uint64 // Size 0: disabled
}

func bit(sig int) uint64 { return 1 << (sig - 1) }

// unblockable are SIGKILL and SIGSTOP.
var unblockable = bit(int(unix.SIGKILL)) | bit(int(unix.SIGSTOP))

// defaultIgnored are the signals whose default is to do nothing, signal(7).
var defaultIgnored = bit(int(unix.SIGCHLD)) | bit(int(unix.SIGURG)) | bit(int(unix.SIGWINCH)) | bit(int(unix.SIGCONT))

var defaultStop = bit(int(unix.SIGSTOP)) | bit(int(unix.SIGTSTP)) | bit(int(unix.SIGTTIN)) | bit(int(unix.SIGTTOU))

func (a sigaction) ignores(sig int) bool {
	return a.Handler == sigIgn || a.Handler == sigDfl && defaultIgnored&bit(sig) != 0
}

// post makes a signal pending on a task, or on a process if t is nil. A
// standard signal that is pending already, or ignored and not blocked, is dropped.
func (s *System) post(t *Task, p *Process, info siginfo) {
	pending, infos := (*uint64)(nil), (*[]siginfo)(nil)
	if t != nil {
		p, pending, infos = t.proc, &t.Pending, &t.Infos
	} else {
		pending, infos = &p.Pending, &p.Infos
	}
	rests := s.rests(p, info.Sig)
	if !p.Dead {
		s.jobControl(p, info.Sig)
	}
	if info.Sig == int(unix.SIGCHLD) {
		s.childTells(p)
	}
	ignored := p.Actions[info.Sig].ignores(info.Sig)
	if ignored && info.Sig == int(unix.SIGCONT) {
		s.signalled(p, t, info.Sig, rests) // whether it has stopped by then is another matter
	}
	if p.Dead || ignored && !s.blockedBy(t, p, info.Sig) {
		return
	}
	if info.Sig == int(unix.SIGCHLD) && ignored {
		// seen only by who looks for it: childTells
	} else if info.Code <= 0 && info.PID != 0 && info.Code != siTimer || info.Sig == int(unix.SIGCHLD) || info.Code == 0x80 && info.Sig != int(unix.SIGALRM) {
		s.signalled(p, t, info.Sig, rests)
	}
	if *pending&bit(info.Sig) != 0 && info.Sig < 32 {
		return
	}
	if p.Doom == 0 && s.dooms(t, p, info.Sig) {
		p.Doom = info.Sig
	}
	*pending |= bit(info.Sig)
	*infos = append(slices.Clone(*infos), info)
}

// withCore are the signals that write a core, signal(7).
var withCore = bit(int(unix.SIGQUIT)) | bit(int(unix.SIGILL)) | bit(int(unix.SIGTRAP)) | bit(int(unix.SIGABRT)) | bit(int(unix.SIGBUS)) |
	bit(int(unix.SIGFPE)) | bit(int(unix.SIGSEGV)) | bit(int(unix.SIGXCPU)) | bit(int(unix.SIGXFSZ)) | bit(int(unix.SIGSYS))

// dooms reports whether a signal to task t, or to process p if that is nil, ends p whatever comes later: it is deadly, and there is a task to take it that has
// nothing else to look at (complete_signal and wants_signal in kernel/signal.c).
func (s *System) dooms(t *Task, p *Process, sig int) bool {
	if !p.Actions[sig].deadly(sig) || withCore&bit(sig) != 0 {
		return false
	}
	return slices.ContainsFunc(s.tasks, func(u *Task) bool {
		if u.proc != p || t != nil && u != t || u.Mask&bit(sig) != 0 {
			return false
		}
		return sig == int(unix.SIGKILL) || p.Stop == 0 && (u == s.cur || (u.Pending|p.Pending)&^u.Mask == 0)
	})
}

// jobControl is what sending a signal does whatever its disposition: SIGCONT and SIGKILL continue a stopped process, SIGCONT takes
// pending stop signals away and a stop signal a pending SIGCONT (signal(7), prepare_signal in kernel/signal.c).
func (s *System) jobControl(p *Process, sig int) {
	drop := uint64(0)
	switch {
	case sig == int(unix.SIGCONT):
		drop = defaultStop
		if p.Stop != 0 {
			p.Stop, p.News = 0, sig
			s.tellParent(p)
		}
	case sig == int(unix.SIGKILL):
		p.Stop = 0
	case defaultStop&bit(sig) != 0:
		drop = bit(int(unix.SIGCONT))
	}
	if drop == 0 {
		return
	}
	keep := func(pending *uint64, infos *[]siginfo) {
		if *pending&drop != 0 {
			*pending &^= drop
			*infos = slices.DeleteFunc(slices.Clone(*infos), func(i siginfo) bool { return drop&bit(i.Sig) != 0 })
		}
	}
	keep(&p.Pending, &p.Infos)
	for _, t := range s.tasks {
		if t.proc == p {
			keep(&t.Pending, &t.Infos)
		}
	}
}

// stop stops p by a signal until SIGCONT.
func (s *System) stop(p *Process, sig int) {
	p.Stop, p.News = sig, sig
	s.tellParent(p)
	s.stopped(p)
}

// tellParent sends the parent of p, which was stopped or continued, SIGCHLD.
func (s *System) tellParent(p *Process) {
	const saNoCldStop = 1
	if q := s.process(p.Parent); q != nil && !q.Dead && q.Actions[unix.SIGCHLD].Flags&saNoCldStop == 0 {
		s.post(nil, q, s.childInfo(p))
	}
}

// childInfo is what SIGCHLD and waitid(2) say of q.
func (s *System) childInfo(q *Process) siginfo {
	info := siginfo{Sig: int(unix.SIGCHLD), PID: q.PID, UID: s.cfg.UID}
	switch {
	case q.Dead && q.Status.Signal != 0:
		info.Code, info.Status = 2, q.Status.Signal // CLD_KILLED
	case q.Dead:
		info.Code, info.Status = 1, q.Status.Code // CLD_EXITED
	case q.News == int(unix.SIGCONT):
		info.Code, info.Status = 6, q.News // CLD_CONTINUED
	default:
		info.Code, info.Status = 5, q.News // CLD_STOPPED
	}
	return info
}

// orphaned reports whether no process of the group has a parent in another group of the session: no one
// could continue it (POSIX, orphaned process group).
func (s *System) orphaned(group, session int) bool {
	for _, q := range s.procs {
		if q.Group != group || q.Dead {
			continue
		}
		if p := s.process(q.Parent); p != nil && !p.Dead && p.Group != group && p.Session == session {
			return false
		}
	}
	return true
}

// freeOrphans hangs up the groups with stopped processes that the end of p has orphaned: its own and those of its children left, as far as p held them to
// another group of its session (kill_orphaned_pgrp in kernel/exit.c).
func (s *System) freeOrphans(p *Process, left []*Process) {
	var groups []int
	add := func(member, parent *Process) {
		g := member.Group
		stopped := func(q *Process) bool { return q.Group == g && q.Stop != 0 && !q.Dead }
		if parent != nil && parent.Group != g && parent.Session == member.Session && !slices.Contains(groups, g) &&
			slices.ContainsFunc(s.procs, stopped) && s.orphaned(g, member.Session) {
			groups = append(groups, g)
		}
	}
	add(p, s.process(p.Parent))
	for _, q := range left {
		add(q, p)
	}
	for _, g := range groups {
		s.signalGroup(g, unix.SIGHUP)
		s.signalGroup(g, unix.SIGCONT)
	}
}

func (s *System) blockedBy(t *Task, p *Process, sig int) bool {
	if t != nil {
		return t.Mask&bit(sig) != 0
	}
	for _, u := range s.tasks {
		if u.proc == p && u.Mask&bit(sig) == 0 {
			return false
		}
	}
	return true
}

// dequeue takes the lowest pending signal out of the set allowed.
func dequeue(pending *uint64, infos *[]siginfo, allowed uint64) (siginfo, bool) {
	set := *pending & allowed
	if set == 0 {
		return siginfo{}, false
	}
	sig := bits.TrailingZeros64(set) + 1
	i := slices.IndexFunc(*infos, func(x siginfo) bool { return x.Sig == sig })
	info := (*infos)[i]
	*infos = slices.Delete(slices.Clone(*infos), i, i+1)
	if !slices.ContainsFunc(*infos, func(x siginfo) bool { return x.Sig == sig }) {
		*pending &^= bit(sig)
	}
	return info, true
}

func (t *Task) take(allowed uint64) (siginfo, bool) {
	if i, ok := dequeue(&t.Pending, &t.Infos, allowed); ok {
		return i, true
	}
	return dequeue(&t.proc.Pending, &t.proc.Infos, allowed)
}

// deliver acts on t's pending signals. stop means that the engine must see the outcome.
func (s *System) deliver(t *Task) (out Outcome, stop bool) {
	for {
		if t.proc.Dead {
			return out, false
		}
		if sig := t.proc.Doom; sig != 0 {
			s.endProcess(t.proc, Status{Signal: sig})
			return out, false
		}
		allowed := ^t.Mask
		if t.Wait.Kind == waitSignal { // what rt_sigtimedwait(2) waits for goes to it
			allowed &^= t.Wait.Addr
		}
		info, ok := t.take(allowed)
		if !ok {
			return out, false
		}
		a := t.proc.Actions[info.Sig]
		if t.HasSaved && !a.ignores(info.Sig) {
			others := t.Wait.Deadline != 0 || len(t.Wait.Fds) > 0 && len(s.tasks) > 1
			s.takes(t, info, ^t.Mask, others)
		}
		switch {
		case a.ignores(info.Sig):
			continue
		case a.Handler == sigDfl && defaultStop&bit(info.Sig) != 0:
			if info.Sig != int(unix.SIGSTOP) && s.orphaned(t.proc.Group, t.proc.Session) {
				continue
			}
			s.stop(t.proc, info.Sig)
			return out, false
		case a.Handler == sigDfl:
			s.endProcess(t.proc, Status{Signal: info.Sig})
			return out, false
		}
		if err := s.enterHandler(t, a, info); err != nil {
			return Outcome{Kind: Unsupported, What: err.Error()}, true
		}
	}
}

// force delivers a signal that the task's own instruction caused; a task that
// blocks or ignores it dies.
func (s *System) force(info siginfo) Outcome {
	t := s.cur
	a := t.proc.Actions[info.Sig]
	if a.Handler == sigIgn || t.Mask&bit(info.Sig) != 0 {
		actions := *t.proc.Actions
		actions[info.Sig] = sigaction{}
		t.proc.Actions = &actions
		t.Mask &^= bit(info.Sig)
	}
	t.Pending |= bit(info.Sig)
	t.Infos = append([]siginfo{info}, t.Infos...)
	return s.settle()
}

// Fault tells the current task of an access to memory that it may not make; PC
// is at the instruction.
func (s *System) Fault(addr uint64, write bool) Outcome {
	s.entered++
	sig, code := unix.SIGSEGV, 1 // SEGV_MAPERR
	if m := s.cur.proc.Mem; m.Find(addr) != nil {
		code = 2 // SEGV_ACCERR
		need := guest.ProtRead
		if write {
			need = guest.ProtWrite
		}
		if a := m.Find(addr); a.Obj != 0 && a.Prot&need != 0 { // allowed, but the object ends before
			sig = unix.SIGBUS // code 2 is BUS_ADRERR
		}
	}
	return s.force(siginfo{Sig: int(sig), Code: code, Addr: addr})
}

// Raise tells the current task of a trap that gives signal sig.
func (s *System) Raise(sig int) Outcome {
	s.entered++
	info := siginfo{Sig: sig, Addr: s.cur.CPU.PC}
	switch unix.Signal(sig) {
	case unix.SIGFPE:
		info.Code = 1 // FPE_INTDIV
	case unix.SIGILL:
		info.Code = 2 // ILL_ILLOPN
	default:
		info.Code, info.Addr = 0x80, 0 // SI_KERNEL
	}
	return s.force(info)
}

// The layout of struct rt_sigframe and what it contains
// (arch/x86/include/uapi/asm/sigcontext.h, asm/ucontext.h), in bytes.
const (
	frameUC   = 8               // after the return address
	frameRegs = frameUC + 40    // uc_mcontext
	frameFP   = frameRegs + 184 // pointer to the fxsave image
	frameMask = frameRegs + 256
	frameInfo = frameMask + 8
	frameSize = frameInfo + 128
	redZone   = 128
)

// Where a frame's floating point state is one of XSAVE, words that FXSAVE leaves free say so, and so does one behind it (asm/sigcontext.h,
// struct _fpx_sw_bytes).
const (
	frameXFlag   = 1   // UC_FP_XSTATE, of uc_flags
	frameMagic   = 464 // then the size with the last word, the parts, and the size without
	frameMagic1  = 0x46505853
	frameMagic2  = 0x46505845
	frameXSize   = cpu.XSize + 4
	frameXLegacy = 3 // the parts of a state without those words: x87 and SSE
)

// fpState is the floating point state of t as a frame has it.
func (s *System) fpState(c *cpu.CPU) []byte {
	if s.Processor() != ir.V3 {
		return c.FXSave()
	}
	b, le := c.XSave(), binary.LittleEndian
	le.PutUint32(b[frameMagic:], frameMagic1)
	le.PutUint32(b[frameMagic+4:], frameXSize)
	le.PutUint64(b[frameMagic+8:], cpu.XAll)
	le.PutUint32(b[frameMagic+16:], cpu.XSize)
	return le.AppendUint32(b, frameMagic2)
}

// fpSize is its size in bytes.
func (s *System) fpSize() uint64 {
	if s.Processor() != ir.V3 {
		return cpu.FXSize
	}
	return frameXSize
}

// frameOrder is the order of registers in struct sigcontext.
var frameOrder = [16]ir.Slot{ir.R8, ir.R9, ir.R10, ir.R11, ir.R12, ir.R13, ir.R14, ir.R15,
	ir.RDI, ir.RSI, ir.RBP, ir.RBX, ir.RDX, ir.RAX, ir.RCX, ir.RSP}

func (a altStack) holds(sp uint64) bool { return a.Size != 0 && sp > a.Addr && sp-a.Addr <= a.Size }

// Terms make and read expressions for the model, which has no arena of its own.
type Terms interface {
	// Split returns the little-endian bytes of value v with expression r.
	Split(v uint64, r expr.Ref) mem.Bytes
	// Linear returns r times by and plus, of the width of r.
	Linear(r expr.Ref, by, plus uint64) expr.Ref
	// Word returns the little-endian number that bytes form.
	Word(mem.Bytes) expr.Ref
	// Flags returns the arithmetic flags of c where RFLAGS has them, in 64 bits, with the bits of also.
	Flags(c *cpu.CPU, also uint64) expr.Ref
}

// SetTerms tells s who makes expressions. Without, no signal handler can run while a register is symbolic.
func (s *System) SetTerms(t Terms) { s.terms = t }

// put lays register slot of c out at off of b, in n bytes, with its expression.
func (s *System) put(b mem.Bytes, off, n int, c *cpu.CPU, slot ir.Slot) {
	if c.Sym.Has(slot) {
		copy(b.Sym[off:off+n], s.terms.Split(c.R[slot], c.S[slot]).Sym)
	}
}

// get makes register slot of c what is at off of b, whose length is 8.
func (s *System) get(b mem.Bytes, off int, c *cpu.CPU, slot ir.Slot) {
	v := binary.LittleEndian.Uint64(b.Data[off:])
	if b = b.Slice(off, off+8); b.IsConcrete() {
		c.Set(slot, v)
	} else {
		c.SetSym(slot, v, s.terms.Word(b))
	}
}

// enterHandler makes t run the handler of a. Symbolic registers keep their
// expressions in the frame.
func (s *System) enterHandler(t *Task, a sigaction, info siginfo) error {
	c := &t.CPU
	symbolic := false
	c.Sym.Each(func(x ir.Slot) { symbolic = symbolic || x < ir.NumState })
	switch {
	case symbolic && s.terms == nil:
		return unsupported("a signal handler while a register is symbolic")
	case c.Sym.Has(ir.RSP):
		return unsupported("a signal handler while the stack pointer is symbolic")
	}
	if a.Flags&saRestorer == 0 {
		return unsupported("a signal handler without SA_RESTORER")
	}
	s.interruptWait(t, a)
	sp := c.R[ir.RSP] - redZone
	if a.Flags&saOnStack != 0 && t.AltStack.Size != 0 && !t.AltStack.holds(c.R[ir.RSP]) {
		sp = t.AltStack.Addr + t.AltStack.Size
	}
	fp := (sp - s.fpSize()) &^ 63
	frame := (fp-frameSize)&^15 - 8

	m := t.proc.Mem
	if !m.Mapped(frame, fp+s.fpSize()-frame, guest.ProtWrite) {
		s.endProcess(t.proc, Status{Signal: int(unix.SIGSEGV)})
		return nil
	}
	regs, fx := mem.Concrete(t.frame(a, info, fp)), mem.Concrete(s.fpState(c))
	if len(fx.Data) > cpu.FXSize {
		regs.Data[frameUC] |= frameXFlag
	}
	if symbolic {
		s.addTerms(c, &regs, &fx)
	}
	_ = m.WriteSym(frame, regs)
	_ = m.WriteSym(fp, fx)

	t.Mask |= a.Mask &^ unblockable
	if a.Flags&saNoDefer == 0 {
		t.Mask |= bit(info.Sig)
	}
	if a.Flags&saResetHand != 0 {
		actions := *t.proc.Actions
		actions[info.Sig].Handler = sigDfl
		t.proc.Actions = &actions
	}
	c.Set(ir.RDI, uint64(info.Sig))
	c.Set(ir.RSI, frame+frameInfo)
	c.Set(ir.RDX, frame+frameUC)
	c.Set(ir.RAX, 0)
	c.Set(ir.RSP, frame)
	c.Set(ir.DF, 0)
	c.PC = a.Handler
	s.exposed(t.proc)
	return nil
}

// interruptWait ends the call in which t waits, for a handler that a describes: it has moved bytes, or is made again, or fails with EINTR.
func (s *System) interruptWait(t *Task, a sigaction) {
	c, w := &t.CPU, t.Wait
	switch {
	case w.Kind == waitNone:
		return
	case w.Done > 0:
		c.PC += 2
		c.Set(ir.RAX, uint64(w.Done))
	case !w.Restart || a.Flags&saRestart == 0:
		if w.Kind == waitSleep && w.Addr != 0 {
			left := w.Deadline - min(w.Deadline, s.Now())
			_ = t.proc.Mem.WriteU(w.Addr, uint64(left/1e9), 8)
			_ = t.proc.Mem.WriteU(w.Addr+8, uint64(left%1e9), 8)
		}
		c.PC += 2
		c.Set(ir.RAX, ^uint64(unix.EINTR)+1)
	}
	s.forgetWait(t)
}

// frame is the frame of a signal (struct rt_sigframe) of t, with its floating point state at fp. The mask that sigsuspend(2) has put aside goes into it.
func (t *Task) frame(a sigaction, info siginfo, fp uint64) []byte {
	c := &t.CPU
	le := binary.LittleEndian
	b := make([]byte, frameSize)
	le.PutUint64(b, a.Restorer)
	le.PutUint64(b[frameUC:], 6) // UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS
	copy(b[frameUC+16:], t.AltStack.encode(c.R[ir.RSP]))
	for i, slot := range frameOrder {
		le.PutUint64(b[frameRegs+8*i:], c.R[slot])
	}
	le.PutUint64(b[frameRegs+128:], c.PC)
	le.PutUint64(b[frameRegs+136:], c.RFLAGS())
	le.PutUint16(b[frameRegs+144:], 0x33) // user code segment
	le.PutUint16(b[frameRegs+150:], 0x2b) // user stack segment
	mask := t.Mask
	if t.HasSaved {
		mask, t.HasSaved = t.Saved, false
	}
	le.PutUint64(b[frameRegs+168:], mask) // oldmask
	if info.Sig == int(unix.SIGSEGV) {
		le.PutUint64(b[frameRegs+160:], 14) // trapno: #PF
		le.PutUint64(b[frameRegs+176:], info.Addr)
	}
	le.PutUint64(b[frameFP:], fp)
	le.PutUint64(b[frameMask:], mask)
	copy(b[frameInfo:], info.encode())
	return b
}

// addTerms puts the symbolic registers of c into a frame, regs, and its floating point state, fx.
func (s *System) addTerms(c *cpu.CPU, regs, fx *mem.Bytes) {
	regs.Sym, fx.Sym = make([]expr.Ref, frameSize), make([]expr.Ref, len(fx.Data))
	for i, slot := range frameOrder {
		s.put(*regs, frameRegs+8*i, 8, c, slot)
	}
	flags := s.terms.Flags(c, cpu.FlagsFixed|c.R[ir.DF]&1<<10)
	copy(regs.Sym[frameRegs+136:], s.terms.Split(c.RFLAGS(), flags).Sym)
	for i := range 8 {
		phys := ir.FPR + ir.Slot(2*((int(c.R[ir.FTop])+i)&7))
		s.put(*fx, 32+16*i, 8, c, phys)
		s.put(*fx, 40+16*i, 2, c, phys+1)
	}
	for i := range 32 {
		s.put(*fx, 160+8*i, 8, c, ir.X0+ir.Slot(i))
		if len(fx.Data) > cpu.FXSize {
			s.put(*fx, cpu.XUpper+8*i, 8, c, ir.Y0+ir.Slot(i))
		}
	}
}

// restoreFP loads what fpState laid out. Require: the x87 part and what says which parts there are is concrete.
func (s *System) restoreFP(t *Task, b mem.Bytes) {
	c := &t.CPU
	if s.Processor() != ir.V3 {
		c.FXRestore(b.Data)
		for i := range 32 {
			s.get(b, 160+8*i, c, ir.X0+ir.Slot(i))
		}
		return
	}
	c.XRestore(b.Data)
	parts := uint64(frameXLegacy)
	if len(b.Data) > cpu.FXSize {
		parts = binary.LittleEndian.Uint64(b.Data[cpu.XParts:])
	}
	for i := range 32 {
		if parts&2 != 0 {
			s.get(b, 160+8*i, c, ir.X0+ir.Slot(i))
		}
		if parts&4 != 0 {
			s.get(b, cpu.XUpper+8*i, c, ir.Y0+ir.Slot(i))
		}
	}
}

// frameFPState reads the floating point state of a frame, at fp: of XSAVE if its words say so, else of FXSAVE.
func (c *call) frameFPState(fp uint64) (mem.Bytes, error) {
	concrete := [][2]uint64{{0, 160}, {frameMagic, cpu.FXSize}}
	if c.s.Processor() != ir.V3 {
		concrete = concrete[:1]
	}
	b, err := c.partly(fp, cpu.FXSize, concrete...)
	le := binary.LittleEndian
	if err != nil || c.s.Processor() != ir.V3 || le.Uint32(b.Data[frameMagic:]) != frameMagic1 {
		return b, err
	}
	x, err := c.partly(fp, frameXSize, append(concrete, [2]uint64{cpu.XParts, cpu.XUpper}, [2]uint64{cpu.XSize, frameXSize})...)
	if err == nil && le.Uint32(x.Data[cpu.XSize:]) != frameMagic2 || err == unix.EFAULT {
		return b, nil
	}
	return x.Slice(0, cpu.XSize), err
}

// sigreturn(2): general and vector registers may be symbolic, what else the frame holds may not.
func (c *call) sysRtSigreturn() (uint64, error) {
	frame := c.t.CPU.R[ir.RSP] - 8
	if c.t.CPU.Sym.Has(ir.RSP) {
		return 0, unsupported("a symbolic stack pointer")
	}
	const sp, pc = frameRegs + 120, frameRegs + 128
	b, err := c.partly(frame, frameSize, [2]uint64{0, frameRegs}, [2]uint64{sp, frameSize})
	if err == unix.EFAULT {
		return 0, c.segv()
	}
	if err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	fp := le.Uint64(b.Data[frameFP:])
	var fx mem.Bytes
	if fp != 0 {
		if fx, err = c.frameFPState(fp); err == unix.EFAULT {
			return 0, c.segv()
		} else if err != nil {
			return 0, err
		}
	}
	regs := &c.t.CPU
	for i, slot := range frameOrder {
		c.s.get(b, frameRegs+8*i, regs, slot)
	}
	regs.PC = le.Uint64(b.Data[pc:])
	regs.SetRFLAGS(le.Uint64(b.Data[frameRegs+136:]))
	if fp != 0 {
		c.s.restoreFP(c.t, fx)
	}
	c.t.Mask = le.Uint64(b.Data[frameMask:]) &^ unblockable
	return 0, newContext
}

// partly reads n bytes at addr, of which the ranges [lo, hi) of concrete must be concrete.
func (c *call) partly(addr, n uint64, concrete ...[2]uint64) (mem.Bytes, error) {
	for _, r := range concrete {
		if c.p.Mem.HasSym(addr+r[0], r[1]-r[0]) {
			return mem.Bytes{}, needConcrete{addr + r[0], r[1] - r[0]}
		}
	}
	b, err := c.p.Mem.ReadSym(addr, int(n))
	if err != nil {
		return b, unix.EFAULT
	}
	return b, nil
}

// segv kills the process for a bad signal frame.
func (c *call) segv() error {
	c.s.endProcess(c.p, Status{Signal: int(unix.SIGSEGV)})
	return taskEnded
}

func (c *call) sysRtSigaction() (uint64, error) {
	sig := c.arg32(0)
	if sig < 1 || sig > numSignals || c.a[3] != 8 || c.a[1] != 0 && unblockable&bit(sig) != 0 {
		return 0, unix.EINVAL
	}
	var w []uint64
	if c.a[1] != 0 {
		var err error
		if w, err = c.words(c.a[1], 4); err != nil {
			return 0, err
		}
	}
	old := c.p.Actions[sig]
	if w != nil {
		c.setAction(sig, sigaction{w[0], w[1], w[2], w[3] &^ unblockable})
	}
	if c.a[2] != 0 { // behind the change, which is made though this may fail
		return 0, c.put64(c.a[2], old.Handler, old.Flags, old.Restorer, old.Mask)
	}
	return 0, nil
}

// setAction changes what the process does at a signal.
func (c *call) setAction(sig int, to sigaction) {
	old := c.p.Actions[sig]
	if sig == int(unix.SIGCHLD) {
		c.seesChild("rt_sigaction")
	}
	n := *c.p.Actions
	n[sig] = to
	if a := n[sig]; a.ignores(sig) != old.ignores(sig) || a.deadly(sig) != old.deadly(sig) && c.s.lets(c.p, coming{sig: sig}) {
		c.against("rt_sigaction", bit(sig))
	}
	c.p.Actions = &n
	if n[sig].ignores(sig) { // what is pending is discarded
		drop := func(pending *uint64, infos *[]siginfo) {
			*pending &^= bit(sig)
			*infos = slices.DeleteFunc(slices.Clone(*infos), func(i siginfo) bool { return i.Sig == sig })
		}
		drop(&c.p.Pending, &c.p.Infos)
		for _, t := range c.s.tasks {
			if t.proc == c.p {
				drop(&t.Pending, &t.Infos)
			}
		}
	}
}

func (c *call) sysRtSigprocmask() (uint64, error) {
	if c.a[3] != 8 {
		return 0, unix.EINVAL
	}
	mask := c.t.Mask
	if c.a[1] != 0 {
		set, err := c.u64(c.a[1])
		if err != nil {
			return 0, err
		}
		switch c.a[0] {
		case 0: // SIG_BLOCK
			mask |= set
		case 1: // SIG_UNBLOCK
			mask &^= set
		case 2: // SIG_SETMASK
			mask = set
		default:
			return 0, unix.EINVAL
		}
	}
	old := c.t.Mask
	c.t.Mask = mask &^ unblockable
	if c.a[2] != 0 { // behind the change, which is made though this may fail
		return 0, c.put64(c.a[2], old)
	}
	return 0, nil
}

func (c *call) sysRtSigpending() (uint64, error) {
	c.seesChild("rt_sigpending")
	c.against("rt_sigpending", c.t.Mask)
	return 0, c.put64(c.a[0], (c.t.Pending|c.p.Pending)&c.t.Mask)
}

func (c *call) sysRtSigsuspend() (uint64, error) {
	if c.was.Kind == waitSignal {
		return 0, blocked(c.was)
	}
	mask, err := c.u64(c.a[0])
	if err != nil {
		return 0, err
	}
	c.t.Saved, c.t.HasSaved = c.t.Mask, true
	c.t.Mask = mask &^ unblockable
	return 0, blocked{Kind: waitSignal}
}

func (c *call) sysPause() (uint64, error) { return 0, blocked{Kind: waitSignal} }

// masked makes a call with the signal mask at addr (0: as it is), as pselect(2) does.
func (c *call) masked(addr uint64, call func() (uint64, error)) (uint64, error) {
	if addr == 0 {
		return call()
	}
	if !c.t.HasSaved {
		mask, err := c.u64(addr)
		if err != nil {
			return 0, err
		}
		c.t.Saved, c.t.HasSaved = c.t.Mask, true
		c.t.Mask = mask &^ unblockable
	}
	v, err := call()
	if _, waits := err.(blocked); !waits {
		c.against("a wait with another mask", c.t.Saved&^c.t.Mask)
		c.t.Mask, c.t.HasSaved = c.t.Saved, false
	}
	return v, err
}

func (c *call) sysRtSigtimedwait() (uint64, error) {
	set, err := c.u64(c.a[0])
	if err != nil {
		return 0, err
	}
	d, forever, err := c.timeout(c.a[2])
	if err != nil {
		return 0, err
	}
	waits := forever && c.waitsForChild(set)
	if set&bit(int(unix.SIGCHLD)) != 0 && !waits {
		c.seesChild("rt_sigtimedwait")
	}
	if !forever {
		c.against("rt_sigtimedwait", set)
	}
	if info, ok := c.t.take(set &^ unblockable); ok {
		c.s.takes(c.t, info, set, false)
		if waits && info.Sig == int(unix.SIGCHLD) {
			c.toldOf(info.PID)
		}
		if c.a[1] != 0 {
			if err := c.put(c.a[1], info.encode()); err != nil {
				return 0, err
			}
		}
		return uint64(info.Sig), nil
	}
	if c.timedOut() || d == 0 && !forever {
		return 0, unix.EAGAIN
	}
	return 0, blocked{Kind: waitSignal, Bits: 0, Addr: set, Deadline: c.deadline(d, forever)}
}

// encode lays a stack_t out; sp tells whether the task is on it.
func (a altStack) encode(sp uint64) []byte {
	b := make([]byte, 24)
	binary.LittleEndian.PutUint64(b, a.Addr)
	binary.LittleEndian.PutUint64(b[16:], a.Size)
	switch {
	case a.Size == 0:
		put32(b[8:], 2) // SS_DISABLE
	case a.holds(sp):
		put32(b[8:], 1) // SS_ONSTACK
	}
	return b
}

func (c *call) sysSigaltstack() (uint64, error) {
	var b []byte
	if c.a[0] != 0 {
		var err error
		if b, err = c.bytes(c.a[0], 24); err != nil {
			return 0, err
		}
	}
	sp := c.t.CPU.R[ir.RSP]
	old := c.t.AltStack
	if b != nil {
		n := altStack{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[16:])}
		flags := binary.LittleEndian.Uint32(b[8:])
		switch {
		case old.holds(sp):
			return 0, unix.EPERM
		case flags&2 != 0:
			n = altStack{}
		case flags&0x7fffffff&^1 != 0:
			return 0, unix.EINVAL
		case n.Size < 2048:
			return 0, unix.ENOMEM
		}
		c.t.AltStack = n
	}
	if c.a[1] != 0 {
		return 0, c.put(c.a[1], old.encode(sp))
	}
	return 0, nil
}

// signalArg is the signal of argument i and what goes with it; the error counts where there is someone to send it to (check_kill_permission in
// kernel/signal.c).
func (c *call) signalArg(i int) (siginfo, error) {
	sig := c.arg32(i)
	if sig < 0 || sig > numSignals {
		return siginfo{}, unix.EINVAL
	}
	return siginfo{Sig: sig, PID: c.p.PID, UID: c.s.cfg.UID}, nil
}

func (c *call) sysKill() (uint64, error) {
	info, err := c.signalArg(1)
	pid, found := c.arg32(0), false
	if p := c.s.processOf(pid); pid > 0 && p != nil {
		pid = p.PID
	}
	for _, q := range slices.Clone(c.s.procs) {
		if !(pid == q.PID || pid == 0 && q.Group == c.p.Group || pid == -1 && q != c.p && q.PID != c.s.cfg.World.firstPID() || pid < -1 && q.Group == -pid) {
			continue
		}
		if found = true; info.Sig != 0 {
			c.s.post(nil, q, info)
		}
	}
	if !found {
		return 0, cmp.Or(c.killHost(pid), err)
	}
	return 0, err
}

// killHost is kill for a process outside: the parent, which is the user's, and the host's first, which is the superuser's. Neither minds.
func (c *call) killHost(pid int) error {
	switch {
	case pid == c.s.cfg.World.parentPID(), pid == initPID && c.s.super():
		return nil
	case pid == initPID:
		return unix.EPERM
	}
	return unix.ESRCH
}

func (c *call) sysTgkill() (uint64, error) {
	if c.arg32(0) <= 0 || c.arg32(1) <= 0 {
		return 0, unix.EINVAL
	}
	return c.tkill(c.arg32(0), c.arg32(1), 2)
}

func (c *call) sysTkill() (uint64, error) {
	if c.arg32(0) <= 0 {
		return 0, unix.EINVAL
	}
	return c.tkill(0, c.arg32(0), 1)
}

// tkill sends the signal of argument i to a task, of process tgid if that is not 0.
func (c *call) tkill(tgid, tid, i int) (uint64, error) {
	info, err := c.signalArg(i)
	info.Code = -6 // SI_TKILL
	for _, t := range c.s.tasks {
		if t.TID == tid && (tgid == 0 || t.proc.PID == tgid) {
			if info.Sig != 0 {
				c.s.post(t, nil, info)
			}
			return 0, err
		}
	}
	if p := c.s.process(tid); p != nil && (tgid == 0 || tgid == tid) { // a zombie
		return 0, err
	}
	return 0, unix.ESRCH
}
