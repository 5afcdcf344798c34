package exec

import (
	"math"
	"slices"

	"symchef/internal/expr"
)

// tables remembers reads of constant memory through symbolic addresses: interpreters look up the same few tables again and
// again, of characters say. What is remembered is compared with memory, so it does not matter for what is read.
type tables struct {
	known  map[tableKey]*table
	cells  int               // of all known
	lists  map[expr.Ref]list // by addresses; those that are listed nowhere included
	listed int               // entries of all lists
	bytes  []byte            // scratch: the memory of all candidates
}

// tableKey is a read at ref of one of n cells of size bytes, of which idx chooses one: step bytes apart from lo on, or at the addresses that a table of
// constants lists, from its entry lo on.
type tableKey struct {
	ref, idx    expr.Ref
	list        bool
	lo, step, n uint64
	size        int
	within      [2]uint64 // of the index's x, on this path; see table
}

// table is what was read last: for each value of x, which the index is computed from, the cell that it chooses.
type table struct {
	x     expr.Ref
	cells []cell // those among the candidates
	vals  []uint64
	ref   expr.Ref // 64 bits wide; 0: not made yet
}

// cell is the one at bytes behind the first that value x of a table's x chooses.
type cell struct{ x, at uint32 }

// maxCells bounds the cells that are remembered.
const maxCells = 1 << 20

// steps returns what the index of k is computed from, and how, for the n values that it has.
func (k tableKey) steps(e *expr.Ctx) (x expr.Ref, index func(uint64) uint64, n uint64) {
	if x, at := e.Steps(k.ref); at != nil {
		return x, func(v uint64) uint64 { return (at(v) - k.lo) / k.step }, 1 << e.Width(x)
	}
	if x, index = e.Steps(k.idx); index != nil {
		return x, index, 1 << e.Width(x)
	}
	return k.idx, func(v uint64) uint64 { return v }, k.n
}

// within bounds what the index of k is computed from on this path.
func (m *Machine) within(k tableKey) [2]uint64 {
	x, _, _ := k.steps(m.Ctx)
	if w, known := m.facts.Within[x]; known {
		return w
	}
	return everything
}

// everything is what bounds nothing.
var everything = [2]uint64{0, math.MaxUint64}

// read returns what k reads if the memory of its candidates is all: that of listed ones one behind the other.
func (t *tables) read(e *expr.Ctx, k tableKey, all []byte) expr.Ref {
	r := t.known[k]
	if r == nil {
		r = newTable(e, k)
		if t.known == nil || t.cells+len(r.cells) > maxCells {
			t.known, t.cells = map[tableKey]*table{}, 0
		}
		t.known[k] = r
		t.cells += len(r.cells)
	}
	same := r.ref != 0
	for _, c := range r.cells {
		if v := number(all[c.at:][:k.size]); v != r.vals[c.x] {
			r.vals[c.x], same = v, false
		}
	}
	if !same {
		r.extend(k.within, uint(8*k.size))
		r.ref = e.ZExt(e.Select(r.vals, r.x, uint(8*k.size)), 64)
	}
	return r.ref
}

// room is scratch for n bytes.
func (t *tables) room(n int) []byte {
	t.bytes = slices.Grow(t.bytes[:0], n)[:n]
	return t.bytes
}

// extend gives the cells that the path does not reach, those of an x outside of within, values of w bits that make a simple expression of the whole: they go
// on as the others do.
func (t *table) extend(within [2]uint64, w uint) {
	lo, hi := within[0], min(within[1], uint64(len(t.vals))-1)
	if lo > hi || hi-lo+1 == uint64(len(t.vals)) {
		return
	}
	stride := uint64(0)
	for x := lo; x < hi; x++ {
		if d := t.vals[x+1] - t.vals[x]; x == lo {
			stride = d
		} else if d != stride {
			stride = 0
			break
		}
	}
	for x := lo; x > 0; x-- {
		t.vals[x-1] = (t.vals[x] - stride) & expr.Mask(w)
	}
	for x := hi; x+1 < uint64(len(t.vals)); x++ {
		t.vals[x+1] = (t.vals[x] + stride) & expr.Mask(w)
	}
}

// newTable finds the cells that can be read.
func newTable(e *expr.Ctx, k tableKey) *table {
	if k.list {
		_, hi := e.Range(k.idx)
		t := &table{x: k.idx, vals: make([]uint64, hi+1)}
		for v := range t.vals { // what the path condition excludes may read anything: what its neighbour does makes the simplest table
			i := min(max(uint64(v), k.lo), k.lo+k.n-1) - k.lo
			t.cells = append(t.cells, cell{uint32(v), uint32(i) * uint32(k.size)})
		}
		return t
	}
	x, index, n := k.steps(e)
	t := &table{x: x, vals: make([]uint64, n)}
	for v := range n {
		if i := index(v); i < k.n && k.within[0] <= v && v <= k.within[1] {
			t.cells = append(t.cells, cell{uint32(v), uint32(i * k.step)})
		}
	}
	return t
}
