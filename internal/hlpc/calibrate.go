package hlpc

import (
	"cmp"
	"slices"

	"symchef/internal/interp"
	"symchef/internal/ir"
)

// Thresholds of the search. The thesis (Bucur 2015, section 4.2) watches writes to memory;
// in optimised interpreters the program counter is mostly a register, so values at indirect branches
// are watched instead.
const (
	minSlope   = 0.95 // distinct values per added statement
	minPointer = 0.95 // share of values that are mapped addresses
	maxWritten = 0.05 // share of pointees that changed
	minAscend  = 0.93 // share of steps that go up by less than maxStep: linear bytecode
	maxStep    = 1024
	minFresh   = 0.60 // distinct values per event: a list of operations, or a tree
	near       = 0.98 // slopes whose ratio is above are equal
)

// Candidate is a place that may hold the high-level program counter.
type Candidate struct {
	Branch *Branch
	Loc    Loc
	// Slope is the number of new values per added statement: bytecodes per statement.
	Slope float64
	// Rounds is events per value in the loop, which goes round interp.Rounds times.
	Rounds float64
	// Linear: values ascend; otherwise they are nodes of a list or a tree.
	Linear bool
	// Dispatch is how the target of the branch depends on what the place points to.
	Dispatch Dispatch
	index    int // of Loc in the trace
}

// Candidates are the places that behave like a high-level program counter, best first;
// of places in one branch that differ by a constant only the best. It is a pure function of the trace.
func Candidates(t *Trace) []Candidate {
	var all []Candidate
	for _, b := range t.Branches {
		if w := b.Windows[interp.WindowLong]; w == nil || len(w.Events) < t.Statements {
			continue
		}
		all = append(all, branchCandidates(t, b)...)
	}
	slices.SortStableFunc(all, compare)
	return all
}

// compare orders candidates: larger slope first, then better evidence.
func compare(a, b Candidate) int {
	if min(a.Slope, b.Slope) < near*max(a.Slope, b.Slope) {
		return cmp.Compare(b.Slope, a.Slope)
	}
	return cmp.Or(
		cmp.Compare(b.Dispatch.Level, a.Dispatch.Level),
		cmp.Compare(b.Dispatch.Share, a.Dispatch.Share),
		cmp.Compare(b.Slope, a.Slope))
}

func branchCandidates(t *Trace, b *Branch) []Candidate {
	var found []Candidate
	for i, l := range t.Locs {
		if l == (Loc{Reg: ir.RSP}) {
			continue
		}
		if c, ok := examine(b, i, t.Statements); ok {
			c.Loc = l
			found = append(found, c)
		}
	}
	// Places that differ by a constant tell the same: the one whose pointee explains the branch is kept,
	// of several a register, of several the one that is nearest to the opcode.
	var out []Candidate
	for len(found) > 0 {
		class := []Candidate{found[0]}
		rest := found[:0:0]
		for _, c := range found[1:] {
			if parallel(b.Windows[interp.WindowLong], found[0].index, c.index) {
				class = append(class, c)
			} else {
				rest = append(rest, c)
			}
		}
		found = rest
		for i := range class {
			class[i].Dispatch = explain(b, class[i].index)
		}
		slices.SortStableFunc(class, func(x, y Candidate) int {
			return cmp.Or(
				cmp.Compare(y.Dispatch.Level, x.Dispatch.Level),
				cmp.Compare(y.Dispatch.Share, x.Dispatch.Share),
				cmp.Compare(depth(x.Loc), depth(y.Loc)),
				cmp.Compare(abs(x.Dispatch.Delta), abs(y.Dispatch.Delta)))
		})
		out = append(out, class[0])
	}
	return out
}

// depth is how many loads a place needs, beyond its registers.
func depth(l Loc) int {
	switch {
	case !l.Mem:
		return 0
	case l.Reg == ir.RSP:
		return 1
	}
	return 2
}

func abs(n int64) int64 { return max(n, -n) }

// examine applies the tests of algorithm B2 to place i of a branch.
func examine(b *Branch, i, statements int) (Candidate, bool) {
	w := b.Windows[interp.WindowLong]
	few, _ := distinct(b.Windows[interp.WindowShort], i)
	many, order := distinct(w, i)
	c := Candidate{Branch: b, Slope: float64(many-few) / float64(statements), index: i}
	if c.Slope < minSlope {
		return c, false
	}
	pointers, written, ascending, last := 0, 0, 0, uint64(0)
	mapped := newMap(w.After)
	changed := map[uint64]bool{}
	for _, v := range order {
		was, err1 := w.Before.ReadU(v, 2)
		is, err2 := w.After.ReadU(v, 2)
		changed[v] = err1 != nil || err2 != nil || was != is
	}
	for k := range w.Events {
		v := w.Events[k].Vals[i]
		if mapped.has(v) {
			pointers++
		}
		if changed[v] {
			written++
		}
		if k > 0 && v > last && v-last < maxStep {
			ascending++
		}
		last = v
	}
	n := float64(len(w.Events))
	c.Linear = float64(ascending) >= minAscend*(n-1)
	if float64(pointers) < minPointer*n || float64(written) > maxWritten*n || !c.Linear && float64(many) < minFresh*n {
		return c, false
	}
	if loop := b.Windows[interp.WindowLoop]; loop != nil {
		values, _ := distinct(loop, i)
		c.Rounds = float64(len(loop.Events)) / float64(values)
	}
	return c, c.Rounds > 0.8*interp.Rounds && c.Rounds < 1.2*interp.Rounds
}

// distinct returns how many values place i takes, and the values in order of appearance.
func distinct(w *Window, i int) (int, []uint64) {
	if w == nil {
		return 0, nil
	}
	seen := map[uint64]bool{}
	var order []uint64
	for k := range w.Events {
		if v := w.Events[k].Vals[i]; !seen[v] {
			seen[v] = true
			order = append(order, v)
		}
	}
	return len(order), order
}

// parallel reports whether places i and j differ by a constant, nearly always.
func parallel(w *Window, i, j int) bool {
	count := map[uint64]int{}
	for k := range w.Events {
		count[w.Events[k].Vals[i]-w.Events[k].Vals[j]]++
	}
	for _, n := range count {
		if n*100 >= 98*len(w.Events) {
			return true
		}
	}
	return false
}

// mapping answers whether addresses are mapped.
type mapping struct{ areas [][2]uint64 }

func newMap(m Memory) mapping {
	var out mapping
	for _, a := range m.Areas() {
		out.areas = append(out.areas, [2]uint64{a.Start, a.End})
	}
	return out
}

func (m mapping) has(addr uint64) bool {
	_, found := slices.BinarySearchFunc(m.areas, addr, func(a [2]uint64, v uint64) int {
		switch {
		case v < a[0]:
			return 1
		case v >= a[1]:
			return -1
		}
		return 0
	})
	return found
}

// Frames are the places of a branch that change exactly at call and return, last in first out,
// when the recursion script runs; those that need the fewest loads first.
func Frames(t *Trace, b *Branch) []Loc {
	w := b.Windows[interp.WindowRecursion]
	if w == nil {
		return nil
	}
	var out []Loc
	for i, l := range t.Locs {
		if nests(w, i) {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Loc) int { return cmp.Compare(frameCost(a), frameCost(b)) })
	return out
}

// frameCost prefers registers, then cells that registers point to; the stack pointer, which tells
// that the interpreter calls itself, and cells of its frame come last.
func frameCost(l Loc) int {
	switch {
	case l.Reg == ir.RSP && !l.Mem:
		return 2
	case l.Reg == ir.RSP:
		return 3
	case l.Mem:
		return 1
	}
	return 0
}

// nests reports whether the values of place i form a stack that grows to interp.Depth. A language that
// evaluates arguments when they are needed has a second activation for each.
func nests(w *Window, i int) bool {
	var stack []uint64
	deepest, pushes, pops := 0, 0, 0
	for k := range w.Events {
		e := &w.Events[k]
		if !e.Dispatch {
			continue
		}
		v := e.Vals[i]
		switch n := len(stack); {
		case n > 0 && stack[n-1] == v:
		case n > 1 && stack[n-2] == v:
			stack = stack[:n-1]
			pops++
		case v == 0 || slices.Contains(stack, v):
			return false
		default:
			stack = append(stack, v)
			deepest, pushes = max(deepest, n), pushes+1
		}
	}
	return deepest >= interp.Depth && deepest <= interp.Depth+2 && pushes <= 2*interp.Depth+4 && pops >= interp.Depth
}
