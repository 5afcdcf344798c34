// Package exec runs guest code: a fast evaluator for blocks that meet no
// symbolic value, and a concolic one that computes values and expressions side
// by side. Run returns what happens next; it never calls upward.
//
//	m := exec.New(ctx)
//	for {
//		switch stop := m.Run(sys, facts, 1e6); stop.Kind {
//		case exec.Decide: // the path must fix the value of stop.Ref, then Run again
//		...
//
// # Decisions
//
// Wherever the machine needs a value that is symbolic (a branch condition, an
// address without proven bounds, a system call's argument) it rewinds to the
// start of the instruction and returns Decide. The caller chooses a value, records the
// constraint, tells Facts, and runs on: the instruction is executed again and
// finds its value fixed. A decision's expression and address are functions of
// the path so far, never of the model.
//
// Glossary: u micro-op, r concrete slots, a address, g granule.
package exec

import (
	"encoding/binary"
	"fmt"
	"time"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/jit"
	"symchef/internal/kernel"
	"symchef/internal/lift"
	"symchef/internal/mem"
)

// StopKind is why Run returned.
type StopKind uint8

// The stops.
const (
	Budget      StopKind = iota // the instructions allowed have been spent
	Decide                      // the path must fix the value of Ref
	Bounds                      // the caller must prove bounds of Ref, or say that it cannot
	Device                      // a request was written to the guest device
	Exited                      // the program has ended
	Unsupported                 // What names an instruction or call outside the model
	Deadlock                    // all tasks wait for ever
	Joined                      // RunRegion: the task is at the join
	Returned                    // RunRegion: the function of the branch has returned
	Left                        // RunRegion: What says why the region ends before
	Met                         // Seek: the task is there again
	numStops
)

// DecisionKind is what a decision decides.
type DecisionKind uint8

// The decision kinds. They are part of the decision log: append only.
const (
	Branch  DecisionKind = iota // a condition, 1 bit
	Address                     // an address without proven bounds
	Target                      // the target of an indirect jump
	Value                       // an operand of something that works on concrete values only
	Length                      // the length of an input sequence
	Choice                      // an index of an input choice
	numDecisionKinds
)

var kindNames = [numDecisionKinds]string{"branch", "address", "target", "value", "length", "choice"}

// String returns the kind's name.
func (k DecisionKind) String() string { return kindNames[k] }

// Stop is what happened.
type Stop struct {
	Kind StopKind
	// PC is the instruction at which a decision is due.
	PC uint64
	// Decision and Ref describe a Decide; Ref also the subject of Bounds.
	Decision DecisionKind
	Ref      expr.Ref
	Request  mem.Bytes
	What     string
}

// Facts is what the current path knows beyond expressions. It grows along a path.
type Facts struct {
	// Fixed holds expressions whose value the path condition fixes syntactically.
	Fixed map[expr.Ref]uint64
	// Ranges holds proven unsigned bounds (inclusive) of expressions.
	Ranges map[expr.Ref][2]uint64
	// Within holds bounds (inclusive) of expressions that the path condition compares with constants.
	Within map[expr.Ref][2]uint64
	// Results are what calls have returned that are to give one result, the last one last; never changed in place.
	Results []expr.Ref

	memo    map[expr.Ref]expr.Ref // of Substitute, for memoLen entries of Fixed
	memoLen int
}

// Forget must be called where something else than an addition has been made to Fixed.
func (f *Facts) Forget() { f.memo = nil }

// simplify returns r with what the path fixes put in.
func (f *Facts) simplify(ctx *expr.Ctx, r expr.Ref) expr.Ref {
	if len(f.Fixed) == 0 {
		return r
	}
	if f.memo == nil || f.memoLen != len(f.Fixed) {
		f.memo, f.memoLen = map[expr.Ref]expr.Ref{}, len(f.Fixed)
	}
	return ctx.Substitute(r, f.Fixed, f.memo)
}

// Hook is a model that runs instead of the code at its address. It returns
// false if the code must run after all; a model may ask for a decision.
type Hook func(m *Machine, c *cpu.CPU, s *mem.Space) (handled bool, stop *Stop)

// Watcher is called before an indirect branch is taken; c is the processor at
// the branch (the return address of a call is pushed), target a concrete value.
// It changes nothing; it may fork.
type Watcher func(sys *kernel.System, s *mem.Space, c *cpu.CPU, target uint64)

// entry is a cached block with links to its successors.
type entry struct {
	pc, text    uint64        // text: see Machine.text
	teller      kernel.Teller // while accesses are told
	blk         *ir.Block
	code        string     // what blk was made from
	writable    bool       // that may be written without a change of protection
	touch       ir.SlotSet // Reads and Writes together
	hook        Hook
	watch       Watcher // of the indirect branch at its end
	next, taken *entry
	heat        int // how often it ran, until it was compiled or could not be
	compiled    jit.Code
}

const (
	blockCacheBits = 15
	maxBlocks      = 1 << 17 // translations kept
)

// Stats counts a machine's work.
type Stats struct {
	Symbolic uint64 // instructions retired by the concolic evaluator
	Blocks   uint64 // blocks lifted, here and not by another machine
	Compiled uint64 // blocks compiled to machine code
}

// Machine is one worker's executor. It caches translations, never state.
type Machine struct {
	Ctx   *expr.Ctx
	Stats Stats
	// LastFault describes the last memory fault: instruction and address.
	LastFault string
	// Hooks are the function models by address. They must not change once code has run.
	Hooks map[uint64]Hook
	// Watch, if not nil, is asked once for each block that ends with an indirect jump, call or
	// return at site: what it returns, if anything, is called whenever the block ends. Like
	// Hooks it must not change once code has run.
	Watch func(s *mem.Space, site uint64) Watcher
	// Trace, if not nil, is asked for the watched branch at site when its block is compiled: what it returns lets
	// compiled code note the branch in Notes where the watcher would do no more. Noted is called where there are notes,
	// before anything else happens. Where another task or state goes on, or the kernel has run, Notes are stopped.
	Trace func(s *mem.Space, site uint64) *Trace
	Notes *Notes
	Noted func(*kernel.System)
	// Timed, if not nil, is called with each block that was lifted, or compiled to machine code, since when.
	Timed func(what string, pc uint64, since time.Time)
	// CompileAfter is how often a block runs before it is compiled to machine code; 0: never. It changes speed, nothing else.
	CompileAfter int
	// TellAll makes the machine tell the kernel of each access to shared memory, not only of the first of its kind. It changes speed, nothing else.
	TellAll bool

	// Processor is what code is lifted for. It must not change once code has run.
	Processor ir.Processor

	immortal []span // ascending, apart
	cache    [1 << blockCacheBits]*entry
	all      map[[2]uint64]*entry
	last     map[uint64]*entry // at each address the latest, of any text

	covered coverage

	space        *mem.Space
	spaceVersion mem.Version
	stale        []mem.Change

	native jit.Context
	code   *jit.Buffer
	blocks []*entry // by jit.Code.ID

	regions regions
	guards  guards
	seek    *seek // nil: Run

	share   share
	facts   *Facts
	undo    undo
	taken   bool // the way that the path takes at the last branch of the concolic evaluator
	sys     *kernel.System
	faultAt uint64 // address of the last fault
	trap    ir.TrapKind
	unsup   string
	view    helperView // of the helper that runs

	tables tables
}

// New returns a machine whose expressions live in ctx.
func New(ctx *expr.Ctx) *Machine {
	m := &Machine{Ctx: ctx, Hooks: map[uint64]Hook{}, CompileAfter: 50, all: map[[2]uint64]*entry{}, last: map[uint64]*entry{}}
	m.code = jit.NewBuffer(&m.native)
	return m
}

// status is the result of running a block's uops.
type status uint8

const (
	ok          status = iota
	symMem             // the uop reads or overwrites symbolic bytes: go on in the concolic evaluator
	fault              // memory fault at faultAt
	stopped            // m.stop says why
	trapped            // a trap: m.trap
	unsupported        // m.unsup says what
)

// symbolicCode is the error of code among whose bytes, so many, there are symbolic ones.
type symbolicCode uint64

func (n symbolicCode) Error() string {
	return fmt.Sprintf("exec: %d bytes of symbolic code", uint64(n))
}

// find returns the block at pc, lifting it if need be.
func (m *Machine) find(s *mem.Space, pc uint64) (*entry, error) {
	slot := &m.cache[(pc^pc>>blockCacheBits)&(1<<blockCacheBits-1)]
	if e := *slot; e != nil && e.pc == pc && e.text == m.text(s) {
		return e, nil
	}
	key := [2]uint64{m.text(s), pc}
	e := m.all[key]
	if e == nil {
		if len(m.all) >= maxBlocks { // of code that has been changed, mostly
			clear(m.all)
			clear(m.last)
			clear(m.cache[:])
			m.code.Drop()
		}
		e = &entry{pc: pc, text: m.text(s), hook: m.Hooks[pc]}
		if e.hook == nil || s.Mapped(pc, 1, 0) {
			a := s.Find(pc)
			e.writable = a != nil && a.Prot&guest.ProtWrite != 0
			blk, err := m.translate(s, e)
			if err != nil {
				return nil, err
			}
			if n := blk.Next - pc; s.HasSym(pc, n) {
				return nil, symbolicCode(n)
			}
			e.blk = blk
			if m.share.on {
				e.teller = m.sys.Teller(blk.PC, blk.Next)
			}
			m.covered.add(blk.PC, blk.Next)
			if last := len(blk.Uops) - 1; m.Watch != nil && blk.Uops[last].Op == ir.JmpInd {
				site, _ := blk.PCOf(last)
				e.watch = m.Watch(s, site)
			}
			m.inherit(e)
			for i := range e.touch {
				e.touch[i] = blk.Reads[i] | blk.Writes[i]
			}
		}
		m.all[key], m.last[pc] = e, e
	}
	*slot = e
	return e, nil
}

// translate returns the block of e: the one that the same code had before something else was
// changed, or in another machine, or a new one.
func (m *Machine) translate(s *mem.Space, e *entry) (*ir.Block, error) {
	var buf [1024]byte
	same := func(code string) bool {
		n := s.Fetch(e.pc, buf[:len(code)])
		return string(buf[:n]) == code
	}
	if old := m.last[e.pc]; old != nil && old.code != "" && old.writable == e.writable && same(old.code) {
		e.code = old.code
		return old.blk, nil
	}
	if t, ok := shared.find(e.pc, m.how(e.writable), same); ok {
		e.code = t.code
		return t.blk, nil
	}
	m.Stats.Blocks++
	if m.Timed != nil {
		defer m.Timed("lift", e.pc, time.Now())
	}
	blk, err := m.how(e.writable).Lift(e.pc, s.Fetch)
	if err == nil && blk.Uops[len(blk.Uops)-1].Op != ir.Unsup { // whose bytes are not of the block
		e.code = string(buf[:s.Fetch(e.pc, buf[:blk.Next-e.pc])])
		shared.add(e.pc, translation{e.code, m.how(e.writable), blk})
	}
	return blk, err
}

// how is how the machine lifts code.
func (m *Machine) how(writable bool) lift.How {
	return lift.How{UntilStore: writable, Processor: m.Processor}
}

// Run runs the system until something happens or it has spent about n instructions, what system calls cost among them.
func (m *Machine) Run(sys *kernel.System, facts *Facts, n uint64) Stop {
	m.sys, m.facts = sys, facts
	sys.SetTerms(m)
	limit := sys.Spent() + n
	for {
		t := sys.Current()
		now := sys.Retired / slice
		stop := m.runTask(sys, t, sys.CurrentProcess().Mem, sys.Retired+limit-sys.Spent())
		if stop.Kind == Budget && sys.Retired/slice != now {
			if what := sys.Exceeded(); what != "" {
				return Stop{Kind: Unsupported, PC: t.CPU.PC, What: what}
			}
			if st, done := m.outcome(sys, sys.Preempt(), nil); done { // a timer may have ended the program
				return st
			}
		}
		if stop.Kind == Budget && sys.Spent() < limit {
			continue
		}
		if stop.Kind == numStops { // the current task changed
			if sys.Spent() >= limit {
				return Stop{Kind: Budget}
			}
			continue
		}
		return stop
	}
}

// slice is the scheduling quantum in instructions. Slices end at its multiples, so
// that the schedule does not depend on where Run was left and entered again.
const slice = kernel.Slice

// Where names the module and offset of pc.
func (m *Machine) Where(s *mem.Space, pc uint64) string {
	if a := s.Find(pc); a != nil {
		return fmt.Sprintf("%s+%#x", a.Name, pc-a.Start+a.Off)
	}
	return fmt.Sprintf("%#x", pc)
}

// fix makes slot s concrete if the path fixes its value, else returns the decision that is due.
func (m *Machine) fix(c *cpu.CPU, s ir.Slot, pc uint64) *Stop {
	if !c.Sym.Has(s) {
		return nil
	}
	if v, known := m.value(c.S[s]); known {
		c.Set(s, v)
		return nil
	}
	return &Stop{Kind: Decide, Decision: Value, Ref: c.S[s], PC: pc}
}

// concretize makes memory concrete, eight bytes at a time, or returns the decision that is due.
func (m *Machine) concretize(s *mem.Space, pc, addr, n uint64) *Stop {
	stop, _ := m.settle(s, pc, addr, n)
	return stop
}

// settle is concretize, and tells whether the path has fixed some of the memory before the decision, which is concrete now.
func (m *Machine) settle(s *mem.Space, pc, addr, n uint64) (due *Stop, settled bool) {
	for at := addr; at < addr+n; {
		k := int(min(8, addr+n-at))
		if !s.HasSym(at, uint64(k)) {
			at += uint64(k)
			continue
		}
		b, err := s.ReadSym(at, k)
		if err != nil {
			return nil, settled // the call will report it
		}
		r := m.word(b)
		if v, known := m.value(r); known {
			settled = true
			s.Poke(at, binary.LittleEndian.AppendUint64(nil, v)[:k]) // it may be read-only by now
			at += uint64(k)
			continue
		}
		return &Stop{Kind: Decide, Decision: Value, Ref: r, PC: pc}, settled
	}
	return nil, settled
}

// Concretize is for the device: it makes memory concrete or returns the decision that is due.
func (m *Machine) Concretize(s *mem.Space, facts *Facts, addr, n uint64) *Stop {
	m.facts = facts
	return m.concretize(s, 0, addr, n)
}

// Word returns the little-endian number that bytes form, as an expression.
func (m *Machine) Word(b mem.Bytes) expr.Ref { return m.word(b) }

// Flags returns the arithmetic flags of c, with the bits of also.
func (m *Machine) Flags(c *cpu.CPU, also uint64) expr.Ref {
	f := ir.SymFlags(m.Ctx, ir.CC(c.R[ir.CCOp]), m.ref(c, ir.CCA), m.ref(c, ir.CCB), m.ref(c, ir.CCC))
	return m.Ctx.Or(f, m.Ctx.Const(also, 64))
}

func (m *Machine) word(b mem.Bytes) expr.Ref {
	var r expr.Ref
	for i := len(b.Data) - 1; i >= 0; i-- {
		x := expr.Ref(0)
		if b.Sym != nil {
			x = b.Sym[i]
		}
		if x == 0 {
			x = m.Ctx.Const(uint64(b.Data[i]), 8)
		}
		if r == 0 {
			r = x
		} else {
			r = m.Ctx.Concat(r, x)
		}
	}
	return r
}

// Fix is for hooks: it makes slot s concrete or returns the decision that is due.
func (m *Machine) Fix(c *cpu.CPU, s ir.Slot) *Stop { return m.fix(c, s, c.PC) }

// FixMemory is for hooks: it makes n bytes at addr concrete or returns the decision that is due.
func (m *Machine) FixMemory(c *cpu.CPU, s *mem.Space, addr, n uint64) *Stop {
	return m.concretize(s, c.PC, addr, n)
}

// Holds is for hooks: the value of a condition on this path, or the decision that is due.
func (m *Machine) Holds(c *cpu.CPU, cond expr.Ref) (bool, *Stop) {
	v, stop := m.decideBool(cond)
	if stop != nil {
		stop.PC = c.PC
	}
	return v, stop
}
