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
)

// merging is the attempt to merge the ways of a branch: each is followed on its own up to where they meet, and from there
// one state goes on, in which what differs is an expression over the branch's condition. Branches on the way are merged first,
// so there are never more than two states at a level; where one cannot be merged, all is given up and the state
// forks as ever.
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
	left     uint64 // instructions
	branches int
	why      string // it is given up
}

// merge lets s go on behind the branch at pc, whose condition is r, or returns false.
func (x *Explorer) merge(s *state.State, pc uint64, r expr.Ref) bool {
	g := &merging{x: x, s: s, left: mergeInstructions}
	sys, _ := g.both(s.Sys, pc, r)
	x.retired(mergeInstructions - g.left)
	if sys == nil {
		s.Unmerged = true
		if x.trail == nil {
			x.Unmerged[g.why]++
		}
		return false
	}
	s.Sys = sys
	if x.trail == nil {
		x.Counts.Merges++
		x.Counts.Merged += g.branches
	}
	return true
}

// both returns the system in which both ways of the branch at which sys is have met, and how they did: exec.Joined or exec.Returned; nil: they have not.
func (g *merging) both(sys *kernel.System, pc uint64, r expr.Ref) (*kernel.System, exec.StopKind) {
	j, ok := g.x.m.JoinOf(sys, pc)
	switch {
	case !ok:
		g.why = "not at a branch"
		return nil, 0
	case g.branches == mergeBranches:
		g.why = "too many branches"
		return nil, 0
	}
	g.branches++
	yes, how := g.way(sys.Fork(), r, 1, j)
	if yes == nil {
		return nil, 0
	}
	no, end := g.way(sys.Fork(), r, 0, j)
	if no == nil {
		return nil, 0
	}
	if how != end {
		g.why = "different ends"
		return nil, 0
	}
	g.why = g.x.m.Merge(yes, no, r, g.x.ctx.Eval(r, g.s.Model) != 0)
	if g.why != "" {
		return nil, 0
	}
	return yes, how
}

// way follows the one way of a branch on which r is v.
func (g *merging) way(sys *kernel.System, r expr.Ref, v uint64, j exec.Join) (*kernel.System, exec.StopKind) {
	defer g.s.Suppose(g.x.ctx, r, v)()
	for {
		before := sys.Retired
		stop := g.x.m.RunRegion(sys, &g.s.Facts, g.left, j)
		g.left -= min(g.left, sys.Retired-before)
		switch {
		case stop.Kind == exec.Joined || stop.Kind == exec.Returned:
			return sys, stop.Kind
		case stop.Kind == exec.Left:
			g.why = stop.What
			return nil, 0
		case stop.Kind != exec.Decide || stop.Decision != exec.Branch:
			g.why = "a value must be known"
			return nil, 0
		}
		how := exec.Joined
		if sys, how = g.both(sys, stop.PC, stop.Ref); sys == nil {
			return nil, 0
		}
		if how == exec.Returned && j.Returned(sys) {
			return sys, how
		}
	}
}
