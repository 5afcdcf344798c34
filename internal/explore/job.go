package explore

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/search"
	"symchef/internal/state"
)

// A Frontier is a part of the tree that waits to be explored, in a form that any
// worker or process can take up: fork paths, with their common beginnings stored once. It
// holds numbers and names only, nothing of an engine.
type Frontier struct {
	Entries []FrontierEntry
	Bounds  []FrontierBound
	Jobs    []Job
	Vars    []Var          // the variables of Models
	Models  [][]byte       // the values of the first Vars, each as an unsigned varint
	Learned []search.Yield // by the searcher
	Longest uint64         // instructions of a path that has ended
}

// FrontierEntry is one decision.
type FrontierEntry struct {
	Parent    int // index in Entries, less than the entry's own; -1: none
	Kind      exec.DecisionKind
	PC, Value uint64
}

// FrontierBound is one proven range.
type FrontierBound struct {
	Parent     int    // index in Bounds, less than the bound's own; -1: none
	Of, Lo, Hi uint64 // see state.Bound
}

// A Job is one candidate: the path to a fork, the ranges proved on it, the values that others take there,
// and an assignment that leads along it.
type Job struct {
	Last  int // its last decision; -1: none
	Bound int // its last range; -1: none
	Excl  []uint64
	Model int // index in Models; -1: empty
	Place search.Place
	// Ran is where it waits, if not at the fork: after so many instructions since paths began. Turns and Used are what it has had of the machine, see turn.
	Ran   uint64
	Turns int
	Used  uint64
	Tries int // how often its query was too hard
}

// Var is an input variable.
type Var struct {
	Name  string
	Width uint8 // bits
}

// Value is the value of one input variable.
type Value struct {
	Name  string
	Width uint8 // bits
	Value uint64
}

// Values is an assignment by name.
type Values []Value

// valuesOf names the variables of model.
func valuesOf(ctx *expr.Ctx, model expr.Assignment) Values {
	var out Values
	for i := 0; i < min(len(model), ctx.NumVars()); i++ {
		id := expr.VarID(i)
		out = append(out, Value{ctx.VarName(id), uint8(ctx.VarWidth(id)), model[i]})
	}
	return out
}

// in is the assignment over the variables of ctx.
func (l Values) in(ctx *expr.Ctx) expr.Assignment {
	var out expr.Assignment
	for _, v := range l {
		id := int(ctx.VarOf(ctx.Var(v.Name, uint(v.Width))))
		for len(out) <= id {
			out = append(out, 0)
		}
		out[id] = v.Value
	}
	return out
}

// packer builds a Frontier. There may be millions of entries: the mark of one that is packed is 1 + its number, until all are.
type packer struct {
	Frontier
	ctx     *expr.Ctx
	entries []*state.Entry
	bounds  []*state.Bound
	models  map[*uint64]int // by first element: candidates share their models
	buf     []byte
}

func newPacker(ctx *expr.Ctx) *packer {
	return &packer{ctx: ctx, models: map[*uint64]int{}}
}

// done returns the Frontier of all that was added.
func (k *packer) done() Frontier {
	for _, e := range k.entries {
		e.Mark = 0
	}
	for _, b := range k.bounds {
		b.Mark = 0
	}
	return k.Frontier
}

func (k *packer) add(p *candidate) {
	k.Jobs = append(k.Jobs, Job{Last: k.entry(p.log), Bound: k.bound(p.bounds), Excl: p.excl, Model: k.model(p.model), Place: p.place,
		Ran: p.ran, Turns: p.turn.turns, Used: p.turn.used, Tries: p.tries})
}

func (k *packer) entry(l *state.Entry) int {
	first := len(k.entries)
	at := -1
	for ; l != nil; l = l.Parent {
		if l.Mark != 0 {
			at = int(l.Mark) - 1
			break
		}
		k.entries = append(k.entries, l)
	}
	slices.Reverse(k.entries[first:])
	for _, e := range k.entries[first:] {
		k.Entries = append(k.Entries, FrontierEntry{at, e.Kind, e.PC, e.Value})
		at = len(k.Entries) - 1
		e.Mark = uint32(at + 1)
	}
	return at
}

func (k *packer) bound(b *state.Bound) int {
	first := len(k.bounds)
	at := -1
	for ; b != nil; b = b.Parent {
		if b.Mark != 0 {
			at = int(b.Mark) - 1
			break
		}
		k.bounds = append(k.bounds, b)
	}
	slices.Reverse(k.bounds[first:])
	for _, b := range k.bounds[first:] {
		k.Bounds = append(k.Bounds, FrontierBound{at, b.Of, b.Lo, b.Hi})
		at = len(k.Bounds) - 1
		b.Mark = uint32(at + 1)
	}
	return at
}

func (k *packer) model(m expr.Assignment) int {
	if len(m) == 0 {
		return -1
	}
	i, known := k.models[&m[0]]
	if !known {
		i = len(k.Models)
		k.Models = append(k.Models, k.pack(m))
		k.models[&m[0]] = i
	}
	return i
}

// pack is the values of m.
func (k *packer) pack(m expr.Assignment) []byte {
	n := min(len(m), k.ctx.NumVars())
	for i := len(k.Vars); i < n; i++ {
		id := expr.VarID(i)
		k.Vars = append(k.Vars, Var{k.ctx.VarName(id), uint8(k.ctx.VarWidth(id))})
	}
	k.buf = k.buf[:0]
	for _, v := range m[:n] {
		k.buf = binary.AppendUvarint(k.buf, v)
	}
	return slices.Clone(k.buf)
}

// unpackModel is the model of which pack made b, over the variables ids.
func unpackModel(b []byte, ids []expr.VarID) (out expr.Assignment, ok bool) {
	for _, id := range ids {
		if len(b) == 0 {
			return out, true
		}
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, false
		}
		for len(out) <= int(id) {
			out = append(out, 0)
		}
		out[id], b = v, b[n:]
	}
	return out, len(b) == 0
}

// Export removes the n oldest candidates and returns them.
func (x *Explorer) Export(n int) Frontier { return x.export(x.ids()[:n]) }

func (x *Explorer) export(ids []uint64) Frontier {
	gone := map[uint64]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	x.forget(gone)
	k := newPacker(x.ctx)
	k.Learned, k.Longest = x.learned(), x.rest.whole
	for _, id := range ids {
		k.add(x.remove(id))
	}
	return k.done()
}

// learned is what the searcher knows.
func (x *Explorer) learned() []search.Yield {
	if l, ok := x.sr.(search.Learner); ok {
		return l.Learned()
	}
	return nil
}

// Frontier returns all that waits to be explored, and the running state cur unless nil.
func (x *Explorer) Frontier() Frontier {
	f := x.pack(func(uint64) {})
	f.Learned, f.Longest = x.learned(), x.rest.whole
	return f
}

// Drain is Frontier when no path will run any more. What is not needed for it is given up before, and the candidates as they are packed: there may
// be millions. Only the exported fields can be used from then on.
func (x *Explorer) Drain() Frontier {
	x.Evict()
	learned := x.learned()
	x.anchors, x.m, x.solv, x.sr, x.complete = newAnchors(), nil, nil, nil, nil
	f := x.pack(func(id uint64) { delete(x.pending, id) })
	f.Learned, f.Longest = learned, x.rest.whole
	x.cur, x.root, x.ctx = nil, nil, nil
	return f
}

// pack is the Frontier; packed is called with each candidate that is in it.
func (x *Explorer) pack(packed func(id uint64)) Frontier {
	k := newPacker(x.ctx)
	k.Jobs = make([]Job, 0, len(x.pending)+1)
	for _, id := range x.ids() {
		k.add(x.pending[id])
		packed(id)
	}
	if x.cur != nil {
		k.add(x.running())
	}
	return k.done()
}

// running makes a candidate of the running state.
func (x *Explorer) running() *candidate {
	p := candidateOf(x.cur, nil, search.Place{})
	if len(p.excl) == 0 && x.cur.Sys.Spent() > x.cur.Decided {
		p.ran = x.cur.Sys.Spent() - x.base
	}
	p.turn = x.turn
	p.turn.used += x.Counts.Spent() - x.turn.from
	return p
}

// Import adds the jobs of f to the candidates.
func (x *Explorer) Import(f Frontier) error {
	if l, ok := x.sr.(search.Learner); ok {
		l.Recall(f.Learned)
	}
	x.rest.whole = max(x.rest.whole, f.Longest)
	entries := make([]*state.Entry, len(f.Entries))
	at := func(i int) *state.Entry {
		if i < 0 {
			return nil
		}
		return entries[i]
	}
	for i, e := range f.Entries {
		if e.Parent >= i {
			return errFrontier
		}
		entries[i] = at(e.Parent).Add(e.Kind, e.PC, e.Value)
	}
	bounds := make([]*state.Bound, len(f.Bounds))
	boundAt := func(i int) *state.Bound {
		if i < 0 {
			return nil
		}
		return bounds[i]
	}
	for i, b := range f.Bounds {
		if b.Parent >= i {
			return errFrontier
		}
		bounds[i] = boundAt(b.Parent).Add(0, b.Of, b.Lo, b.Hi)
	}
	ids := make([]expr.VarID, len(f.Vars))
	for i, v := range f.Vars {
		ids[i] = x.ctx.VarOf(x.ctx.Var(v.Name, uint(v.Width)))
	}
	models := make([]expr.Assignment, len(f.Models))
	for i, b := range f.Models {
		var ok bool
		if models[i], ok = unpackModel(b, ids); !ok {
			return errFrontier
		}
	}
	for _, j := range f.Jobs {
		if j.Last >= len(entries) || j.Bound >= len(bounds) || j.Model >= len(models) {
			return errFrontier
		}
		c := &candidate{log: at(j.Last), bounds: boundAt(j.Bound), excl: j.Excl, place: j.Place, ran: j.Ran, tries: j.Tries}
		c.turn.turns, c.turn.used = j.Turns, j.Used
		if j.Model >= 0 {
			c.model = models[j.Model]
		}
		switch {
		case x.complete != nil || c.tries == 0 && c.turn.turns == 0:
			x.add(c)
		case c.tries > 0:
			x.aside = append(x.aside, x.enter(c, nil))
		default:
			x.rest.ids = append(x.rest.ids, x.enter(c, nil))
		}
	}
	return nil
}

var errFrontier = errors.New("explore: damaged frontier")

// An Exchange passes jobs between the workers of one exploration.
type Exchange interface {
	// Hungry reports how many workers wait for jobs. It is cheap.
	Hungry() int
	// Give hands jobs to one of them.
	Give(Frontier)
	// Take waits for jobs; false when every worker waits, and so all is explored, or c is done.
	Take(c context.Context) (Frontier, bool)
}

// share gives candidates away, the oldest, when others wait: their paths are short
// and their subtrees large.
func (x *Explorer) share() {
	ex := x.cfg.Exchange
	if ex == nil || x.waits() < 2 {
		return
	}
	n := max(ex.Hungry(), 0)
	if x.complete != nil {
		x.shareFamilies(n)
		return
	}
	for each := x.waits() / (n + 1); n > 0 && each > 0; n-- {
		ex.Give(x.Export(each))
	}
}

// shareFamilies gives families away to n others.
func (x *Explorer) shareFamilies(n int) {
	if n == 0 || x.cur != nil {
		return
	}
	l := x.complete.families()
	for each := len(l) / (n + 1); n > 0 && each > 0; n-- {
		x.cfg.Exchange.Give(x.export(slices.Concat(l[:each]...)))
		l = l[each:]
	}
}

// take imports jobs of others; false when there are none left.
func (x *Explorer) take(c context.Context) bool {
	if x.cfg.Exchange == nil {
		return false
	}
	f, ok := x.cfg.Exchange.Take(c)
	if err := x.Import(f); err != nil {
		panic(err) // it was made by another worker of this process
	}
	return ok
}
