package exec

import "symchef/internal/expr"

// tables remembers reads of constant memory through symbolic addresses: interpreters look up the same few tables again and
// again, of characters say. What is remembered is compared with memory, so it does not matter for what is read.
type tables struct {
	known map[tableKey]*table
	cells int    // of all known
	bytes []byte // scratch: the memory of all candidates
}

// tableKey is a read of n cells of size bytes, step bytes apart, of which idx chooses one.
type tableKey struct {
	idx         expr.Ref
	lo, step, n uint64
	size        int
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

// read returns what k reads if the memory of its candidates is all.
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
		r.ref = e.ZExt(e.Select(r.vals, r.x, uint(8*k.size)), 64)
	}
	return r.ref
}

// newTable finds the cells that can be read.
func newTable(e *expr.Ctx, k tableKey) *table {
	x, index := e.Steps(k.idx)
	n := k.n
	if index == nil {
		x, index = k.idx, func(v uint64) uint64 { return v }
	} else {
		n = 1 << e.Width(x)
	}
	t := &table{x: x, vals: make([]uint64, n)}
	for v := range n {
		if i := index(v); i < k.n {
			t.cells = append(t.cells, cell{uint32(v), uint32(i * k.step)})
		}
	}
	return t
}
