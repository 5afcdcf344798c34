package exec

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/lift"
	"symchef/internal/mem"
)

// turn is the time that a task has on the machine: until it stops, another task goes on, or its slice ends. It is the same steps over and over, from one
// block to the next:
//
//	arrive ──► model ──► compiled ──► evaluate ──┬──► leave      the block has come to its end
//	  ▲          │           │                   └──► breakOff   an instruction in it has not
//	  └──────────┴───────────┴───────────────────────────┘
//
// Each step says what comes next.
type turn struct {
	m   *Machine
	sys *kernel.System
	s   *mem.Space
	c   *cpu.CPU
	end uint64 // of the slice, or of the run, in instructions
	e   *entry // the block at the program counter; nil: it must be looked for
	i   int    // the micro-op of the block that is due
	// stop is why the turn is over. Its kind is numStops where the current task has changed.
	stop Stop
}

// next is what comes after a step of a turn.
type next uint8

const (
	further next = iota // the next step
	again               // the first step
	over                // nothing: stop says why
)

// runTask gives one task its turn. A stop of kind numStops means that the caller should look for the current task again.
func (m *Machine) runTask(sys *kernel.System, t *kernel.Task, s *mem.Space, limit uint64) Stop {
	m.use(s)
	m.shareWith(sys)
	if m.Notes != nil {
		m.Notes.Stop()
	}
	k := turn{m: m, sys: sys, s: s, c: &t.CPU, end: min(limit, (sys.Retired/slice+1)*slice)}
	for {
		n := k.arrive()
		if n == further && k.e.hook != nil {
			n = k.model()
		}
		if n == further {
			k.i = 0
			if m.ready(k.e, k.c) {
				n = k.compiled()
			}
		}
		if n == further {
			n = k.evaluate()
		}
		if n == over {
			return k.stop
		}
	}
}

// ends is the end of the turn with a stop.
func (k *turn) ends(stop Stop) next {
	k.stop = stop
	return over
}

// told is the end of the turn with what the kernel says.
func (k *turn) told(o kernel.Outcome, c *cpu.CPU) next {
	if stop, done := k.m.outcome(k.sys, o, c); done {
		return k.ends(stop)
	}
	return k.ends(Stop{Kind: numStops})
}

// lookAgain makes the first step look for the block at the program counter: memory may be another one.
func (k *turn) lookAgain() next {
	k.e = nil
	k.m.use(k.s)
	return again
}

// arrive finds the block at the program counter.
func (k *turn) arrive() next {
	m := k.m
	if m.seek != nil {
		if m.seek.met(k.sys, k.c.PC) {
			return k.ends(Stop{Kind: Met})
		}
		m.use(k.s) // it may have been forked
	}
	if k.e == nil {
		var err error
		if k.e, err = m.find(k.s, k.c.PC); err != nil {
			return k.nowhere(err)
		}
	}
	if m.seek != nil && m.seek.alone && (k.e.hook != nil || k.e.watch != nil) {
		return k.ends(Stop{Kind: Left, What: "what is modelled or watched"})
	}
	return further
}

// nowhere is what comes where there is no block at the program counter.
func (k *turn) nowhere(err error) next {
	m, pc := k.m, k.c.PC
	k.e = nil
	if n, is := err.(symbolicCode); is {
		if stop := m.concretize(k.s, pc, pc, uint64(n)); stop != nil {
			return k.ends(*stop)
		}
		return k.lookAgain()
	}
	if !errors.Is(err, lift.ErrFault) {
		return k.ends(Stop{Kind: Unsupported, PC: pc, What: err.Error()})
	}
	m.LastFault = fmt.Sprintf("jump to %#x", pc)
	return k.told(k.sys.Fault(pc, false), nil)
}

// model runs what stands in the place of the code here.
func (k *turn) model() next {
	k.m.endEpoch()
	handled, stop := k.e.hook(k.m, k.c, k.s)
	switch {
	case stop != nil:
		return k.ends(*stop)
	case handled:
		k.sys.Retired++
		return k.lookAgain()
	}
	k.m.use(k.s) // it may have written
	return further
}

// compiled runs machine code of the host as far as there is some.
func (k *turn) compiled() next {
	if k.e, k.i = k.m.runCompiled(k.sys, k.c, k.s, k.e, k.end); k.e != nil {
		return further
	}
	return k.unlessOver()
}

// unlessOver is the first step, if the slice has not ended.
func (k *turn) unlessOver() next {
	if k.sys.Retired >= k.end {
		return k.ends(Stop{Kind: Budget})
	}
	return again
}

// evaluate executes the block from its due micro-op on.
func (k *turn) evaluate() next {
	m, blk := k.m, k.e.blk
	m.share.teller = k.e.teller
	st, symbolic := ok, k.c.Sym.Meets(&k.e.touch)
	if !symbolic {
		k.i, st = m.fast(k.c, k.s, blk, k.i)
		symbolic = st == symMem
	}
	var stop Stop
	if symbolic {
		k.i, st, stop = m.concolic(k.c, k.s, blk, k.i)
		m.Stats.Symbolic += uint64(len(blk.Insns))
	}
	if st == ok {
		k.sys.Retired += uint64(len(blk.Insns))
		return k.leave()
	}
	return k.breakOff(st, stop)
}

// breakOff is what comes where the block has stopped inside the instruction of its due micro-op: that will be executed again, or not at all.
func (k *turn) breakOff(st status, stop Stop) next {
	m, u := k.m, &k.e.blk.Uops[k.i]
	m.rewind(k.sys, k.c, k.e.blk, k.i)
	switch st {
	case stopped:
		if stop.Kind == numStops { // a private note: run again
			return k.lookAgain()
		}
		stop.PC = k.c.PC
		return k.ends(stop)
	case fault:
		m.LastFault = fmt.Sprintf("%s accessing %#x", m.Where(k.s, k.c.PC), m.faultAt)
		return k.told(k.sys.Fault(m.faultAt, u.Op == ir.Store), nil)
	case trapped:
		return k.told(k.sys.Raise(trapSignal(m.trap)), nil)
	case unsupported:
		return k.ends(Stop{Kind: Unsupported, PC: k.c.PC, What: m.Where(k.s, k.c.PC) + ": " + m.unsup})
	}
	return k.ends(Stop{Kind: numStops})
}

// leave does what the terminator of the block says.
func (k *turn) leave() next {
	blk := k.e.blk
	switch u := &blk.Uops[k.i]; u.Op {
	case ir.Jmp:
		k.jump(&k.e.taken, blk.Taken)
	case ir.Jcc, ir.Brnz:
		if k.m.branch(k.c, u) {
			k.jump(&k.e.taken, blk.Taken)
		} else {
			k.jump(&k.e.next, blk.Next)
		}
	case ir.SkipIf:
		k.jump(&k.e.next, blk.Next)
	case ir.JmpInd:
		target := k.c.R[u.A]
		if k.e.watch != nil {
			k.e.watch(k.sys, k.s, k.c, target)
			k.m.use(k.s) // it may have forked the space
		}
		k.c.PC, k.e = target, nil
	case ir.Syscall:
		return k.syscall()
	case ir.Trap:
		k.undo()
		return k.told(k.sys.Raise(trapSignal(ir.TrapKind(u.Imm))), nil)
	case ir.Unsup:
		k.undo()
		return k.ends(Stop{Kind: Unsupported, PC: k.c.PC, What: k.m.Where(k.s, k.c.PC) + ": instruction " + lift.Describe(k.c.PC, k.s.Fetch)})
	default:
		panic(fmt.Sprintf("exec: block at %#x ends with %v", blk.PC, u.Op))
	}
	return k.unlessOver()
}

// jump goes on at pc, the block that is cached in link, or will be.
func (k *turn) jump(link **entry, pc uint64) {
	k.c.PC = pc
	k.e = k.m.follow(link, k.s, pc)
}

// undo makes the terminator one that has not been executed.
func (k *turn) undo() {
	k.sys.Retired -= uint64(len(k.e.blk.Insns))
	k.m.rewind(k.sys, k.c, k.e.blk, k.i)
}

// syscall makes the system call that the block ends with.
func (k *turn) syscall() next {
	m, blk := k.m, k.e.blk
	pc, _ := blk.PCOf(k.i)
	if stop := m.syscallArgs(k.c, pc); stop != nil {
		k.undo()
		return k.ends(*stop)
	}
	if m.share.on && k.c.R[ir.RAX] == unix.SYS_EXIT_GROUP && (m.seek == nil || !m.seek.alone) {
		m.Beyond(k.sys, m.facts)
		m.sys = k.sys
		m.use(k.s)
		m.shareWith(k.sys)
	}
	k.c.PC = blk.Next
	k.c.Set(ir.RCX, blk.Next)
	k.c.Set(ir.R11, 0x202)
	out := k.sys.Syscall()
	if out.Kind != kernel.NeedConcrete {
		return k.told(out, k.c)
	}
	k.c.PC = pc
	k.sys.Retired--
	// What has become concrete by itself may be all that the call wanted. Who waits at the decision asks again from here, so it must find the same.
	if stop, settled := m.settle(k.s, pc, out.Addr, out.Len); stop != nil && !settled {
		return k.ends(*stop)
	}
	return k.lookAgain()
}

// follow returns the successor cached in *link, or finds it (nil on failure: the loop's head reports it).
func (m *Machine) follow(link **entry, s *mem.Space, pc uint64) *entry {
	if e := *link; e != nil && e.pc == pc && e.text == m.text(s) {
		return e
	}
	e, err := m.find(s, pc)
	if err != nil {
		return nil
	}
	*link = e
	return e
}

// rewind puts the task at the start of the instruction that uop i belongs to
// and counts the instructions before it. The block must not have been counted.
func (m *Machine) rewind(sys *kernel.System, c *cpu.CPU, blk *ir.Block, i int) {
	pc, n := blk.PCOf(i)
	sys.Retired += uint64(n)
	c.PC = pc
	m.dropTemps(c)
}

func (m *Machine) dropTemps(c *cpu.CPU) {
	c.Sym[1] &= 1<<(ir.Temp0-64) - 1
	c.Sym[2] = 0
}

// outcome turns what the kernel model says into a Stop.
func (m *Machine) outcome(sys *kernel.System, o kernel.Outcome, c *cpu.CPU) (Stop, bool) {
	switch o.Kind {
	case kernel.Exited:
		return Stop{Kind: Exited}, true
	case kernel.Device:
		return Stop{Kind: Device, Request: o.Request}, true
	case kernel.Unsupported:
		pc := uint64(0)
		if c != nil {
			pc = c.PC
		}
		return Stop{Kind: Unsupported, PC: pc, What: o.What}, true
	case kernel.Deadlock:
		return Stop{Kind: Deadlock}, true
	}
	return Stop{}, false
}

// Linux signal numbers of the traps (signal(7)).
func trapSignal(k ir.TrapKind) int {
	switch k {
	case ir.TrapUD:
		return 4 // SIGILL
	case ir.TrapDE:
		return 8 // SIGFPE
	case ir.TrapBP:
		return 5 // SIGTRAP
	}
	return 11 // SIGSEGV
}

// argSlots are the registers of a system call's arguments (syscall(2)).
var argSlots = [6]ir.Slot{ir.RDI, ir.RSI, ir.RDX, ir.R10, ir.R8, ir.R9}

// syscallArgs makes the call number and arguments concrete, or returns the decision that is due.
func (m *Machine) syscallArgs(c *cpu.CPU, pc uint64) *Stop {
	if d := m.fix(c, ir.RAX, pc); d != nil {
		return d
	}
	for i := 0; i < kernel.NumArgs(c.R[ir.RAX]); i++ {
		if d := m.fix(c, argSlots[i], pc); d != nil {
			return d
		}
	}
	return nil
}
