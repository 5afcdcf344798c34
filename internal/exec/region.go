package exec

import (
	"slices"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// Join is where a region of code ends: the code between a conditional branch and the point where its two ways meet again.
type Join struct {
	PC    uint64 // 0: not before the function returns
	Stack uint64 // the stack pointer at the branch: deeper in the stack PC belongs to another call
}

// Returned reports whether the function of the branch has returned. Require: sys is behind a return.
func (j Join) Returned(sys *kernel.System) bool { return sys.Current().CPU.R[ir.RSP] > j.Stack }

// regions are what a machine knows of regions.
type regions struct {
	joins map[[2]uint64]join   // by TextID and address of the branch
	cuts  map[[3]uint64]*entry // blocks that end before a join, by TextID, address and join
}

// RunRegion runs the current task, in the evaluators only, until it is at j, or the function of the branch returns, or it has retired n
// instructions; or it returns what else Run would, Left for whatever is no part of a region: system calls, faults, watched branches.
// What the model of the path says of values that the facts fix otherwise does not matter: branches follow the facts.
func (m *Machine) RunRegion(sys *kernel.System, facts *Facts, n uint64, j Join) Stop {
	m.sys, m.facts = sys, facts
	t, s := sys.Current(), sys.CurrentProcess().Mem
	c := &t.CPU
	m.use(s)
	if m.shareWith(sys); m.share.on {
		return Stop{Kind: Left, What: "memory of several tasks"}
	}
	for limit := sys.Retired + n; ; {
		if c.Sym.Has(ir.RSP) {
			return Stop{Kind: Left, What: "symbolic stack pointer"}
		}
		if c.PC == j.PC && c.R[ir.RSP] >= j.Stack {
			return Stop{Kind: Joined}
		}
		if sys.Retired >= limit {
			return Stop{Kind: Left, What: "too long"}
		}
		e, err := m.find(s, c.PC)
		if err != nil {
			return Stop{Kind: Left, What: "code"}
		}
		returned := false
		if e.hook != nil {
			handled, stop := e.hook(m, c, s)
			m.use(s)
			if stop != nil {
				return *stop
			}
			if returned = handled; handled {
				sys.Retired++
			}
		}
		if !returned {
			if e = m.cut(s, e, j.PC); e == nil {
				return Stop{Kind: Left, What: "code"}
			}
			var stop Stop
			if returned, stop = m.regionBlock(sys, c, s, e); stop.Kind != numStops {
				return stop
			}
		}
		if returned && j.Returned(sys) {
			return Stop{Kind: Returned}
		}
	}
}

// regionBlock runs one block; returned tells that it ends with a return. The stop is of kind numStops where the region goes on.
func (m *Machine) regionBlock(sys *kernel.System, c *cpu.CPU, s *mem.Space, e *entry) (returned bool, stop Stop) {
	blk := e.blk
	i, st, concolic := 0, ok, c.Sym.Meets(&e.touch)
	if !concolic {
		i, st = m.fast(c, s, blk, 0)
		concolic = st == symMem
	}
	if concolic {
		i, st, stop = m.concolic(c, s, blk, i)
		m.Stats.Symbolic += uint64(len(blk.Insns))
	}
	left := func(what string) (bool, Stop) { return false, Stop{Kind: Left, What: what} }
	switch st {
	case ok:
	case stopped:
		m.rewind(sys, c, blk, i)
		m.use(s)
		stop.PC = c.PC
		return false, stop
	case fault:
		return left("memory fault")
	case trapped:
		return left("trap")
	default:
		return left("unsupported")
	}
	u := &blk.Uops[i]
	switch u.Op {
	case ir.Jmp:
		c.PC = blk.Taken
	case ir.Jcc, ir.Brnz:
		taken := m.taken
		if !concolic {
			taken = m.branch(c, u)
		}
		if c.PC = blk.Next; taken {
			c.PC = blk.Taken
		}
	case ir.SkipIf:
		c.PC = blk.Next
	case ir.JmpInd:
		if e.watch != nil {
			return left("high-level step")
		}
		c.PC = c.R[u.A]
	case ir.Syscall:
		return left("system call")
	case ir.Trap:
		return left("trap")
	default:
		return left("unsupported")
	}
	sys.Retired += uint64(len(blk.Insns))
	return blk.Return, Stop{Kind: numStops}
}

// cut returns e up to the instruction at address at, if that is within; nil where it cannot be.
func (m *Machine) cut(s *mem.Space, e *entry, at uint64) *entry {
	if at <= e.pc || at >= e.blk.Next || !starts(e.blk, at) {
		return e
	}
	key := [3]uint64{s.TextID, e.pc, at}
	if k := m.regions.cuts[key]; k != nil {
		return k
	}
	blk, err := m.how(e.writable).Lift(e.pc, func(addr uint64, p []byte) int {
		return s.Fetch(addr, p[:min(uint64(len(p)), at-min(at, addr))])
	})
	if err != nil {
		return nil
	}
	k := &entry{pc: e.pc, text: e.text, blk: blk}
	for i := range k.touch {
		k.touch[i] = blk.Reads[i] | blk.Writes[i]
	}
	if len(m.regions.cuts) >= maxBlocks {
		clear(m.regions.cuts)
	}
	if m.regions.cuts == nil {
		m.regions.cuts = map[[3]uint64]*entry{}
	}
	m.regions.cuts[key] = k
	return k
}

// starts reports whether an instruction of blk starts at address at.
func starts(blk *ir.Block, at uint64) bool {
	for _, in := range blk.Insns {
		if blk.PC+uint64(in.Off) == at {
			return true
		}
	}
	return false
}

// fixedSlots are those that are always concrete, or had better be.
var fixedSlots = func() ir.SlotSet {
	set := slotSet(ir.RSP, ir.FSBase, ir.GSBase, ir.DF, ir.MXCSR, ir.FTop, ir.FCW, ir.FSW, ir.FTag)
	for i := range ir.Slot(16) {
		set.Add(ir.FPR + i)
	}
	return set
}()

// slotSet makes a set.
func slotSet(slots ...ir.Slot) (set ir.SlotSet) {
	for _, s := range slots {
		set.Add(s)
	}
	return set
}

// scratch are the registers whose values mean nothing when a function has returned (System V ABI, figure 3.4).
var scratch = slotSet(ir.RCX, ir.RDX, ir.RSI, ir.RDI, ir.R8, ir.R9, ir.R10, ir.R11)

// Merge makes a, in which the condition cond is 1, stand for b, too, in which it is 0: what differs becomes an expression. Both come
// from one system by RunRegion and have ended alike, as end says; holds is cond under the present assignment. It returns why they had better
// not be merged, and has changed nothing then, or "".
func (m *Machine) Merge(a, b *kernel.System, cond expr.Ref, holds bool, end StopKind) (why string) {
	x, y := &a.Current().CPU, &b.Current().CPU
	s, t := a.CurrentProcess().Mem, b.CurrentProcess().Mem
	switch {
	case x.PC != y.PC || x.R[ir.RSP] != y.R[ir.RSP]:
		return "different ends"
	case s.TextID != t.TextID:
		return "changed code"
	}
	if s.Objects != nil {
		if words, ok := s.Objects.Diff(t.Objects, 0); !ok || len(words) > 0 {
			return "shared memory"
		}
	}
	words, ok := s.Diff(t, maxMerged)
	if !ok {
		return "memory differs too much"
	}
	words = slices.DeleteFunc(words, func(at uint64) bool { return m.isImmortal(at, mem.WordSize) }) // counts of references
	slots, why := m.differingSlots(s, x, y, end)
	if why != "" {
		return why
	}
	cells, why := m.differingCells(s, t, words, x.R[ir.RSP])
	if why != "" {
		return why
	}
	choose := func(p, q uint64) uint64 {
		if holds {
			return p
		}
		return q
	}
	if slots.Has(ir.CCOp) { // else their operands are slots like others
		v := choose(flagsOf(x), flagsOf(y))
		r := m.Ctx.Ite(cond, m.Flags(x, 0), m.Flags(y, 0))
		x.Set(ir.CCOp, uint64(ir.MakeCC(ir.CCFlags, 64)))
		m.set(x, ir.CCA, v, r)
		x.Set(ir.CCB, 0)
		x.Set(ir.CCC, 0)
		for _, i := range []ir.Slot{ir.CCOp, ir.CCA, ir.CCB, ir.CCC} {
			slots.Remove(i)
		}
	}
	slots.Each(func(i ir.Slot) {
		m.set(x, i, choose(x.R[i], y.R[i]), m.Ctx.Ite(cond, m.ref(x, i), m.ref(y, i)))
	})
	for i, at := range words {
		p, q := cells[i][0], cells[i][1]
		w := m.split(choose(number(p.Data), number(q.Data)), m.Ctx.Ite(cond, m.word(p), m.word(q)))
		if err := s.WriteSym(at, w); err != nil {
			panic("exec: a mapped, writable word faulted")
		}
	}
	a.Outlast(b)
	return ""
}

// differingSlots are the registers in which x and y differ, or why they cannot be merged. s is the memory of x.
func (m *Machine) differingSlots(s *mem.Space, x, y *cpu.CPU, end StopKind) (slots ir.SlotSet, why string) {
	for i := range ir.Slot(ir.NumState) {
		if x.R[i] == y.R[i] && x.Sym.Has(i) == y.Sym.Has(i) && (!x.Sym.Has(i) || x.S[i] == y.S[i]) {
			continue
		}
		slots.Add(i)
		if fixedSlots.Has(i) {
			return slots, "registers that cannot be symbolic"
		}
		if i <= ir.R15 && (end != Returned || !scratch.Has(i)) && (!x.Sym.Has(i) && m.points(s, x.R[i]) || !y.Sym.Has(i) && m.points(s, y.R[i])) {
			return slots, "pointers"
		}
	}
	return slots, ""
}

// differingCells are both contents of the words in which s and t differ, or why they cannot be merged.
func (m *Machine) differingCells(s, t *mem.Space, words []uint64, rsp uint64) (cells [][2]mem.Bytes, why string) {
	cells = make([][2]mem.Bytes, len(words))
	for i, at := range words {
		for k, space := range []*mem.Space{s, t} {
			cell, err := space.ReadSym(at, mem.WordSize)
			if err != nil || !space.Mapped(at, mem.WordSize, guest.ProtWrite) {
				return nil, "memory that cannot be written"
			}
			if cells[i][k] = cell; at >= rsp && cell.IsConcrete() && m.points(s, number(cell.Data)) {
				return nil, "pointers"
			}
		}
	}
	return cells, ""
}

// points reports whether v points to the heap or a stack. A path that does not know which object it works on forks later, and more often than it
// would have here; an interpreter's own constants, which lie in its file, are seldom more than compared.
func (m *Machine) points(s *mem.Space, v uint64) bool {
	a := s.Find(v)
	return a != nil && a.Back == nil && !m.isImmortal(v, 1)
}

func flagsOf(c *cpu.CPU) uint64 {
	return ir.Flags(ir.CC(c.R[ir.CCOp]), c.R[ir.CCA], c.R[ir.CCB], c.R[ir.CCC])
}

// maxMerged bounds the words of memory that a merge makes expressions. It is part of the shape of the tree.
const maxMerged = 64
