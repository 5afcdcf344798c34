package explore

import (
	"context"
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
	Models  []Values
	Learned []search.Yield // by the searcher
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

// packer builds a Frontier.
type packer struct {
	Frontier
	ctx     *expr.Ctx
	entries map[*state.Entry]int
	bounds  map[*state.Bound]int
	models  map[*uint64]int // by first element: candidates share their models
}

func newPacker(ctx *expr.Ctx) *packer {
	return &packer{ctx: ctx, entries: map[*state.Entry]int{}, bounds: map[*state.Bound]int{}, models: map[*uint64]int{}}
}

func (k *packer) add(p *candidate) {
	k.Jobs = append(k.Jobs, Job{Last: k.entry(p.log), Bound: k.bound(p.bounds), Excl: p.excl, Model: k.model(p.model), Place: p.place})
}

func (k *packer) entry(l *state.Entry) int {
	var todo []*state.Entry
	at := -1
	for ; l != nil; l = l.Parent {
		if i, known := k.entries[l]; known {
			at = i
			break
		}
		todo = append(todo, l)
	}
	for i := len(todo) - 1; i >= 0; i-- {
		e := todo[i]
		k.Entries = append(k.Entries, FrontierEntry{at, e.Kind, e.PC, e.Value})
		at = len(k.Entries) - 1
		k.entries[e] = at
	}
	return at
}

func (k *packer) bound(b *state.Bound) int {
	at := -1
	var todo []*state.Bound
	for ; b != nil; b = b.Parent {
		if i, known := k.bounds[b]; known {
			at = i
			break
		}
		todo = append(todo, b)
	}
	for _, b := range slices.Backward(todo) {
		k.Bounds = append(k.Bounds, FrontierBound{at, b.Of, b.Lo, b.Hi})
		at = len(k.Bounds) - 1
		k.bounds[b] = at
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
		k.Models = append(k.Models, valuesOf(k.ctx, m))
		k.models[&m[0]] = i
	}
	return i
}

// Export removes the n oldest candidates and returns them.
func (x *Explorer) Export(n int) Frontier { return x.export(x.ids()[:n]) }

func (x *Explorer) export(ids []uint64) Frontier {
	gone := map[uint64]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	x.sr.Remove(gone)
	k := newPacker(x.ctx)
	k.Learned = x.learned()
	for _, id := range ids {
		k.add(x.remove(id))
	}
	return k.Frontier
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
	f.Learned = x.learned()
	return f
}

// Drain is Frontier when no path will run any more. What is not needed for it is given up before, and the candidates as they are packed: there may
// be millions. Only the exported fields can be used from then on.
func (x *Explorer) Drain() Frontier {
	x.Evict()
	learned := x.learned()
	x.anchors, x.m, x.solv, x.sr, x.complete = newAnchors(), nil, nil, nil, nil
	f := x.pack(func(id uint64) { delete(x.pending, id) })
	f.Learned = learned
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
		k.add(candidateOf(x.cur, nil, search.Place{}))
	}
	return k.Frontier
}

// Import adds the jobs of f to the candidates.
func (x *Explorer) Import(f Frontier) error {
	if l, ok := x.sr.(search.Learner); ok {
		l.Recall(f.Learned)
	}
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
	models := make([]expr.Assignment, len(f.Models))
	for i, v := range f.Models {
		models[i] = v.in(x.ctx)
	}
	for _, j := range f.Jobs {
		if j.Last >= len(entries) || j.Bound >= len(bounds) || j.Model >= len(models) {
			return errFrontier
		}
		c := &candidate{log: at(j.Last), bounds: boundAt(j.Bound), excl: j.Excl, place: j.Place}
		if j.Model >= 0 {
			c.model = models[j.Model]
		}
		x.add(c)
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
	if ex == nil || x.sr.Len() < 2 {
		return
	}
	n := max(ex.Hungry(), 0)
	if x.complete != nil {
		x.shareFamilies(n)
		return
	}
	for each := x.sr.Len() / (n + 1); n > 0 && each > 0; n-- {
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
