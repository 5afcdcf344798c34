package explore

import (
	"context"
	"slices"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/high"
	"symchef/internal/search"
	"symchef/internal/solver"
	"symchef/internal/state"
)

// A candidate is a pending state: the fork of a path that takes none of the values
// excl at the decision after log. It is materialised while st is set, else virtual: the log
// leads to it (the Cloud9 thesis, section 3.2), and bounds spares the solver the ranges proved on the way.
//
// Invariant: model satisfies the path condition of log, so following the log under it asks
// no solver, and gives the state that was forked. While what is decided is known, path is that condition: most
// states that wait have no input, and need not be brought back to find that out.
type candidate struct {
	log    *state.Entry
	path   *state.Constraint
	excl   []uint64 // none: the decision after log, if any, is open
	what   expr.Ref // what is decided; 0: not known in this engine
	model  expr.Assignment
	bounds *state.Bound
	node   *search.Node
	place  search.Place
	high   high.Place
	at     high.ID // the high-level state; zero: the beginning, or not known
	ran    uint64  // it has gone on after its last decision, up to so many instructions since paths began; 0: it has not
	turn   turn    // of resting ones
	tries  int     // how often its query was too hard
	hard   string  // that query
	ended  func()  // the path has ended, and waits until it may count: then this is called
	st     *state.State
}

// candidateOf returns a virtual candidate at s.
func candidateOf(s *state.State, n *search.Node, at search.Place) *candidate {
	c := &candidate{log: s.Log, path: s.Path, model: s.Model, bounds: s.Bounds, node: n, place: at, high: s.High.Place(), at: s.High.ID}
	for _, e := range s.Excl {
		c.exclude(e.R, e.V)
	}
	return c
}

// exclude leaves the value v of r to others.
func (p *candidate) exclude(r expr.Ref, v uint64) { p.what, p.excl = r, append(p.excl, v) }

// conjuncts are its path condition and what it excludes. Require: what is set.
func (p *candidate) conjuncts(ctx *expr.Ctx) []expr.Ref {
	out := p.path.Conjuncts(ctx)
	for _, v := range p.excl {
		c := state.Constraint{R: p.what, V: v}
		out = append(out, ctx.Not(c.Cond(ctx)))
	}
	return out
}

// enter makes p pending, with its state s if that is worth being kept, and returns its ID.
func (x *Explorer) enter(p *candidate, s *state.State) uint64 {
	if s != nil && x.anchors.wants(s) {
		p.st = s
	}
	x.nextID++
	x.pending[x.nextID] = p
	if p.st != nil {
		x.anchors.keep(p.log, p.st)
	}
	return x.nextID
}

// add makes p a candidate of the searcher.
func (x *Explorer) add(p *candidate) { x.addAt(p, nil) }

// addAt adds p, with its state s if that is worth being kept.
func (x *Explorer) addAt(p *candidate, s *state.State) {
	id := x.enter(p, s)
	depth := 0
	if p.log != nil {
		depth = p.log.Depth
	}
	x.sr.Add(search.Candidate{ID: id, Depth: depth, Node: p.node, Place: p.place})
}

func (x *Explorer) remove(id uint64) *candidate {
	p := x.pending[id]
	delete(x.pending, id)
	if p.st != nil {
		x.anchors.take(p.log, p.st)
	}
	return p
}

// next removes the candidate to go on with from where it waits, and returns its ID; false if there is none.
func (x *Explorer) next() (id uint64, ok bool) {
	if id, ok = x.nextResting(); ok {
		return id, true
	}
	if id, ok = x.sr.Next(); ok {
		return id, true
	}
	return x.nextAside()
}

// forget takes candidates away from where they wait.
func (x *Explorer) forget(ids map[uint64]bool) {
	gone := func(id uint64) bool { return ids[id] }
	x.rest.ids, x.aside = slices.DeleteFunc(x.rest.ids, gone), slices.DeleteFunc(x.aside, gone)
	x.sr.Remove(ids)
}

// pick takes the next pending state and rebases it to an input of its own; nil
// where it has none. more is false when nothing was pending.
func (x *Explorer) pick() (s *state.State, more bool) {
	id, more := x.next()
	if !more {
		return nil, false
	}
	p := x.remove(id)
	if p.ended != nil {
		x.count(p)
		return nil, true
	}
	x.node, x.at, x.from, x.spent = p.node, p.at, p.place, x.Counts.Spent()-p.turn.used
	x.turn, x.effort = p.turn, p.tries
	x.turn.from = x.Counts.Spent()
	if x.cfg.High != nil {
		x.size = x.cfg.High.Tree.Size()
	}
	if len(p.excl) == 0 {
		s = x.stateOf(p)
		if p.turn.hang != "" {
			x.drop(s.High.Place(), unproved)
			x.end(s, End{Kind: Hang, What: p.turn.hang})
			x.learn()
			return nil, true
		}
		return s, true
	}
	if p.what == 0 { // it was imported, or the engine is another
		s = x.stateOf(p)
		if x.complete != nil && s.High.ID != p.at { // it is elsewhere
			x.addAt(candidateOf(s, p.node, p.place), s)
			return nil, true
		}
		p.path, p.what, p.high = s.Path, s.Excl[0].R, s.High.Place()
	}
	conj := p.conjuncts(x.ctx)
	// The model satisfies everything but the exclusion of its own value.
	effort := p.tries
	if p.hard == "" && x.vain(halfVain) {
		effort = briefly
	}
	res, model := x.solv.Check(solver.Query{Conjuncts: conj, Hint: p.model, New: len(p.excl), Effort: effort})
	x.tried(effort, res)
	switch res {
	case solver.Unsat:
		x.Counts.Infeasible++
		x.learn()
		return nil, true
	case solver.Unknown:
		x.setAside(p, "query", conj, effort)
		return nil, true
	}
	if s == nil {
		s = x.stateOf(p)
	}
	s.Rebase(x.ctx, model)
	return s, true
}

// stateOf returns the state of p, ready to run under its model.
func (x *Explorer) stateOf(p *candidate) *state.State {
	if p.st != nil {
		p.st.Resume(x.ctx)
		return p.st
	}
	s, err := x.materialise(p)
	if err != nil {
		// The invariant of candidate is broken: nothing that was found so far can be relied on.
		panic("explore: a path strays from its own log: " + err.Error())
	}
	return s
}

// count counts the path p that has ended, and all others at its place: all have ended.
func (x *Explorer) count(p *candidate) {
	p.ended()
	for g := x.complete.groups[p.at]; g != nil && len(g.members) > 0; {
		x.remove(x.complete.take(g, 0)).ended()
	}
}

// giveWay lets s wait at its place.
func (x *Explorer) giveWay(s *state.State, pc uint64) {
	p := candidateOf(s, x.node, x.placeOf(s, pc))
	p.excl = nil
	x.addAt(p, s)
	x.gaveWay = true
}

// materialise brings back the state of a virtual candidate by following its log, from an anchor if there is one.
func (x *Explorer) materialise(p *candidate) (*state.State, error) {
	began := x.began
	defer func() { x.began = began }()
	t := &Trail{Decisions: p.log.Decisions(), Model: p.model, fork: true, excl: p.excl, bounds: p.bounds.List()}
	from := x.root
	if a, ok := x.anchors.below(p.log); ok {
		from, t.next = a.st, a.log.Depth
	}
	if len(x.anchors.at) > x.anchors.many { // from is in use, though p is not pending
		x.dropUnused()
	}
	s := from.Fork()
	s.Excl = nil
	s.Resume(x.ctx)
	if p.ran > 0 {
		x.until = x.base + p.ran
		defer func() { x.until = 0 }()
	}
	return s, x.follow(context.Background(), s, t)
}

// Evict makes all pending states virtual. What is explored, and in which order, does not change.
func (x *Explorer) Evict() {
	for _, p := range x.pending {
		if p.st != nil && p.log != nil && x.anchors.at[p.log.Hash].st == p.st {
			delete(x.anchors.at, p.log.Hash)
		}
		p.st = nil
	}
}

// ids lists the pending candidates, oldest first.
func (x *Explorer) ids() []uint64 {
	ids := make([]uint64, 0, len(x.pending))
	for id := range x.pending {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Renew makes every candidate virtual and goes on with another engine, whose
// expressions are none but those that the next paths need. Paths begin at root.
// Require: no path is running.
func (x *Explorer) Renew(ctx *expr.Ctx, m *exec.Machine, s Solver, root *state.State) {
	x.Evict()
	old := x.ctx
	models := map[*uint64]expr.Assignment{} // candidates share their models
	for _, id := range x.ids() {
		p := x.pending[id]
		p.path, p.what = nil, 0
		if len(p.model) == 0 {
			continue
		}
		key := &p.model[0]
		if models[key] == nil {
			models[key] = valuesOf(old, p.model).in(ctx)
		}
		p.model = models[key]
	}
	x.ctx, x.m, x.solv, x.anchors = ctx, m, s, newAnchors()
	x.setRoot(root)
}
