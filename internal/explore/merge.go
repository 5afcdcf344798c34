package explore

import (
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/state"
)

// Limits of a merge, of all its branches together. They are part of the shape of the tree.
const (
	mergeInstructions = 20000
	mergeBranches     = 256
	mergeApart        = 64 // ways that wait for a later join
)

// merging is the attempt to merge the ways of a branch: each is followed on its own up to where they meet, and from there
// one state goes on, in which what differs is an expression over the branch's condition. Branches on the way are merged first.
// Ways that differ in what had better stay concrete where they meet stay apart up to the next join, at last the return of the function;
// what is not one then is given up, and the state forks as ever.
//
//	        cond                      cond
//	branch ──────► ... ──► join       ──────► branch ──► join ─┐
//	   └──────────────────► join         └────────────────────► join
//
// No solver is asked, and a way that no input takes is followed, too: its part of the expressions is never chosen. So what is merged is a
// function of the state before, which is one of the decisions before. A merge is no decision: nothing is logged, and following a log
// merges again.
type merging struct {
	x        *Explorer
	s        *state.State
	call     exec.Join // the end of a call that is to give one result, where all ways meet; 0: each branch has its own
	left     uint64    // instructions
	branches int
	why      string // it is given up
}

// ways are those of one or more branches up to where they have met.
type ways struct {
	sys *kernel.System // of one way, or of all that have been merged; nil: yes and no are apart
	end exec.StopKind  // exec.Joined or exec.Returned

	cond    expr.Ref // 1 on the way yes, 0 on no
	yes, no *ways
}

// merge lets s go on behind the branch at pc, whose condition is r, or returns false.
func (x *Explorer) merge(s *state.State, pc uint64, r expr.Ref) bool {
	g := &merging{x: x, s: s, left: mergeInstructions}
	if c := &s.Sys.Current().CPU; c.InCall() && !x.cfg.Merge {
		g.call.Stack = c.Call
	}
	j, _ := g.joinOf(s.Sys, pc)
	w := g.both(s.Sys, pc, r)
	if w != nil && w.sys == nil && j.PC != 0 { // up to the function's return
		w = g.meet(w, exec.Join{Stack: j.Stack})
	}
	x.retired(mergeInstructions-g.left, mergeInstructions-g.left)
	done := w != nil && w.sys != nil
	s.Merged(pc, done)
	if !done {
		if x.trail == nil {
			x.Unmerged[g.why]++
		}
		return false
	}
	s.Sys = w.sys
	if x.trail == nil {
		x.Counts.Merges++
		x.Counts.Merged += g.branches
	}
	return true
}

// joinOf is where the ways of the branch at pc, at which sys is, meet.
func (g *merging) joinOf(sys *kernel.System, pc uint64) (exec.Join, bool) {
	j, ok := g.x.m.JoinOf(sys, pc)
	if g.call != (exec.Join{}) {
		j = g.call
	}
	return j, ok
}

// meet follows all of w to j and merges there what may be.
func (g *merging) meet(w *ways, j exec.Join) *ways {
	if w = g.on(w, j); w != nil {
		g.unite(w)
	}
	return w
}

// both follows both ways of the branch at which sys is to where they meet, and merges them if they may be; nil: they are given up.
func (g *merging) both(sys *kernel.System, pc uint64, r expr.Ref) *ways {
	j, ok := g.joinOf(sys, pc)
	switch {
	case !ok:
		return g.giveUp("not at a branch")
	case g.branches == mergeBranches:
		return g.giveUp("too many branches")
	}
	g.branches++
	w := g.on(&ways{cond: r, yes: &ways{sys: sys.Fork()}, no: &ways{sys: sys.Fork()}}, j)
	if w == nil {
		return nil
	}
	if g.unite(w); w.count() > mergeApart {
		return g.giveUp("too many ways apart")
	}
	return w
}

// count returns how many ways are apart.
func (w *ways) count() int {
	if w.sys != nil {
		return 1
	}
	return w.yes.count() + w.no.count()
}

func (g *merging) giveUp(why string) *ways {
	g.why = why
	return nil
}

// on follows all of w to j.
func (g *merging) on(w *ways, j exec.Join) *ways {
	if w.sys != nil {
		if w.end == exec.Returned && j.Returned(w.sys) {
			return w
		}
		return g.follow(w.sys, j)
	}
	for v, way := range []**ways{&w.no, &w.yes} {
		forget := g.s.Suppose(g.x.ctx, w.cond, uint64(v))
		*way = g.on(*way, j)
		forget()
		if *way == nil {
			return nil
		}
	}
	return w
}

// follow runs sys to j.
func (g *merging) follow(sys *kernel.System, j exec.Join) *ways {
	before := sys.Retired
	stop := g.x.m.RunRegion(sys, &g.s.Facts, g.left, j)
	g.left -= min(g.left, sys.Retired-before)
	switch {
	case stop.Kind == exec.Joined || stop.Kind == exec.Returned:
		return &ways{sys: sys, end: stop.Kind}
	case stop.Kind == exec.Left:
		return g.giveUp(stop.What)
	case stop.Kind != exec.Decide || stop.Decision != exec.Branch:
		return g.giveUp("a value must be known")
	}
	w := g.both(sys, stop.PC, stop.Ref)
	if w == nil {
		return nil
	}
	return g.on(w, j)
}

// unite merges the ways of w that may be.
func (g *merging) unite(w *ways) {
	if w.sys != nil {
		return
	}
	g.unite(w.yes)
	g.unite(w.no)
	if w.yes.sys == nil || w.no.sys == nil {
		return
	}
	if w.yes.end != w.no.end {
		g.why = "different ends"
		return
	}
	if g.why = g.x.m.Merge(w.yes.sys, w.no.sys, w.cond, g.x.ctx.Eval(w.cond, g.s.Model) != 0, w.yes.end); g.why == "" {
		*w = *w.yes
	}
}
