package exec

import (
	"math/bits"

	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/lift"
	"symchef/internal/mem"
)

// maxFlow bounds the nodes of a flow graph, in which a join is looked for.
const maxFlow = 256

// join is what is known of a branch.
type join struct {
	pc uint64 // where its ways meet; 0: not within the function, as far as was looked
	ok bool   // it is a branch
}

// JoinOf returns where the two ways of the conditional branch at pc, at which sys is, meet: the first instruction through which all of them go, its
// immediate postdominator; 0 if that is not found before the function's end. ok is false where there is no such branch. It is a function of
// the code alone: calls are taken to return, and what indirect jumps lead to is not known.
func (m *Machine) JoinOf(sys *kernel.System, pc uint64) (at Join, ok bool) {
	s := sys.CurrentProcess().Mem
	key := [2]uint64{s.TextID, pc}
	j, known := m.regions.joins[key]
	if !known {
		j = m.findJoin(s, pc)
		if len(m.regions.joins) >= maxBlocks {
			clear(m.regions.joins)
		}
		if m.regions.joins == nil {
			m.regions.joins = map[[2]uint64]join{}
		}
		m.regions.joins[key] = j
	}
	return Join{j.pc, sys.Current().CPU.R[ir.RSP]}, j.ok
}

func (m *Machine) findJoin(s *mem.Space, pc uint64) join {
	f := flow{s: s, how: m.how(false), node: map[uint64]int{}}
	blk, _ := f.lift(pc)
	if blk == nil || !branches(blk) {
		return join{}
	}
	ways := successors(blk)
	for _, to := range ways {
		f.add(to)
	}
	for i := 0; i < len(f.at); i++ { // grows
		if f.blocks[i], _ = f.lift(f.at[i]); f.blocks[i] != nil {
			for _, to := range successors(f.blocks[i]) {
				f.add(to)
			}
		}
	}
	return join{f.meet(ways), true}
}

// branches reports whether the first instruction of blk is a conditional branch.
func branches(blk *ir.Block) bool {
	end := len(blk.Uops)
	if len(blk.Insns) > 1 {
		end = int(blk.Insns[1].Uop)
	}
	for _, u := range blk.Uops[:end] {
		switch u.Op {
		case ir.Jcc, ir.Brnz, ir.SkipIf:
			return true
		}
	}
	return false
}

// successors are the addresses in the same function at which code goes on after blk; none at its end.
func successors(blk *ir.Block) (to []uint64) {
	for _, u := range blk.Uops {
		if u.Op == ir.SkipIf {
			to = append(to, blk.Next)
		}
	}
	switch u := blk.Uops[len(blk.Uops)-1]; {
	case blk.Call || u.Op == ir.Syscall:
		return append(to, blk.Next)
	case u.Op == ir.Jmp:
		return append(to, blk.Taken)
	case u.Op == ir.Jcc || u.Op == ir.Brnz:
		return append(to, blk.Taken, blk.Next)
	}
	return to
}

// flow is the graph of the blocks of a function that a branch leads to.
type flow struct {
	s      *mem.Space
	how    lift.How
	at     []uint64       // addresses of the nodes
	node   map[uint64]int // index in at
	blocks []*ir.Block    // of the nodes; nil: not known
	more   bool           // there are more nodes, which count as ends of the function
}

func (f *flow) add(pc uint64) {
	if _, known := f.node[pc]; known {
		return
	}
	if len(f.at) == maxFlow {
		f.more = true
		return
	}
	f.node[pc] = len(f.at)
	f.at, f.blocks = append(f.at, pc), append(f.blocks, nil)
}

func (f *flow) lift(pc uint64) (*ir.Block, error) {
	if a := f.s.Find(pc); a == nil || a.Prot&guest.ProtExec == 0 {
		return nil, lift.ErrFault
	}
	return f.how.Lift(pc, f.s.Fetch)
}

// nodes is a set of nodes.
type nodes [maxFlow / 64]uint64

func (n *nodes) has(i int) bool { return n[i/64]>>(i%64)&1 != 0 }

func (n *nodes) meet(o *nodes) {
	for i := range n {
		n[i] &= o[i]
	}
}

func (n *nodes) len() (c int) {
	for _, w := range n {
		c += bits.OnesCount64(w)
	}
	return c
}

// meet returns the address of the nearest node through which all ways go; 0 if there is none.
func (f *flow) meet(ways []uint64) uint64 {
	all := nodes{}
	for i := range all {
		all[i] = ^uint64(0)
	}
	next := make([][]int, len(f.at)) // -1: the function's end
	after := make([]nodes, len(f.at))
	for i, blk := range f.blocks {
		next[i], after[i] = f.next(blk), all
	}
	// through is what all ways on from the nodes of to go through.
	through := func(to []int) nodes {
		set := all
		for _, k := range to {
			if k < 0 {
				return nodes{}
			}
			set.meet(&after[k])
		}
		return set
	}
	for changed := true; changed; {
		changed = false
		for i := len(f.at) - 1; i >= 0; i-- {
			set := through(next[i])
			set[i/64] |= 1 << (i % 64)
			if set != after[i] {
				after[i], changed = set, true
			}
		}
	}
	var to []int
	for _, pc := range ways {
		to = append(to, f.index(pc))
	}
	set := through(to)
	best, pc := 0, uint64(0)
	for i, at := range f.at {
		if n := after[i].len(); set.has(i) && n > best && n <= len(f.at) {
			best, pc = n, at
		}
	}
	return pc
}

// index is the node at pc; -1 where it is not in the graph.
func (f *flow) index(pc uint64) int {
	if i, known := f.node[pc]; known {
		return i
	}
	return -1
}

// next are the nodes after blk. A block ends where another node starts.
func (f *flow) next(blk *ir.Block) []int {
	if blk == nil {
		return []int{-1}
	}
	for _, in := range blk.Insns[1:] {
		if i, known := f.node[blk.PC+uint64(in.Off)]; known {
			return []int{i}
		}
	}
	var to []int
	for _, pc := range successors(blk) {
		to = append(to, f.index(pc))
	}
	if u := blk.Uops[len(blk.Uops)-1]; len(to) == 0 && u.Op == ir.JmpInd {
		return []int{-1}
	}
	return to // none where the code ends in a trap: no way on counts
}
