package explore

import (
	"fmt"
	"slices"

	"symchef/internal/expr"
	"symchef/internal/high"
	"symchef/internal/solver"
	"symchef/internal/state"
)

// A query that the solver gives up is set aside with its candidate. When nothing easier is left it is asked again, with four times the budget, the one
// that was tried least first; after lastTry it is given up, and named under why_not_exhausted. With Config.Complete it is asked again at once: what lies
// beyond it would otherwise have to wait.
//
// Where query after query is too hard, and none is answered between, Budget.Vain bounds what they take together. From half of it on a new one is asked
// briefly, since there may be easy ones behind; at the end of it all that wait are left.
const (
	lastTry = 2
	briefly = -2 // an Effort: a sixteenth of the budget
)

// halfVain and allVain are parts of Budget.Vain, in halves.
const halfVain, allVain = 1, 2

// tried counts what a query of this effort took in vain, if it did.
func (x *Explorer) tried(effort int, res solver.Result) {
	switch b := x.cfg.Budget; {
	case b == nil || x.halting():
	case res == solver.Unknown:
		b.vain.Add(1 << (2 * (effort - briefly)))
	default:
		b.vain.Store(0)
	}
}

// vain reports whether so many halves of Budget.Vain are used up.
func (x *Explorer) vain(halves uint64) bool {
	b := x.cfg.Budget
	return b != nil && b.Vain > 0 && b.vain.Load() >= 16/2*halves*b.Vain
}

// hopeless reports whether nothing is asked any more.
func (x *Explorer) hopeless() bool { return x.vain(allVain) }

func (x *Explorer) halting() bool { return x.cfg.Halting != nil && x.cfg.Halting() }

// setAside makes p wait, whose query conj was too hard for this effort, or gives p up; what names the query.
func (x *Explorer) setAside(p *candidate, what string, conj []expr.Ref, effort int) {
	if x.halting() { // it was the end of the run that ended the query
		x.addAt(p, p.st)
		return
	}
	p.hard = x.undecided(what, p, conj, effort)
	if effort == lastTry {
		x.drop(p.high, p.hard)
		return
	}
	p.tries = max(effort+1, 0)
	if x.complete != nil {
		x.addAt(p, p.st)
		return
	}
	x.aside = append(x.aside, x.enter(p, p.st))
}

// laySide sets aside the state s, in which an assumption was too hard to decide; it returns false where s cannot wait.
func (x *Explorer) laySide(s *state.State, conj []expr.Ref) bool {
	if x.trail != nil || x.complete != nil || len(s.Excl) > 0 || x.effort >= lastTry && !x.halting() {
		return false
	}
	p := candidateOf(s, x.node, x.from)
	p.ran, p.tries = s.Sys.Spent()-x.base, x.effort
	x.setAside(p, "assumption", conj, x.effort)
	x.gaveWay = true
	return true
}

// nextAside removes the candidate whose query was tried least, and returns its ID; false if there is none.
func (x *Explorer) nextAside() (id uint64, ok bool) {
	least := -1
	for i, id := range x.aside {
		if least < 0 || x.pending[id].tries < x.pending[x.aside[least]].tries {
			least = i
		}
	}
	if least < 0 {
		return 0, false
	}
	id = x.aside[least]
	x.aside = slices.Delete(x.aside, least, least+1)
	return id, true
}

// Aside names the queries that are set aside.
func (x *Explorer) Aside() (l []string) {
	for _, id := range x.aside {
		if why := x.pending[id].hard; why != "" {
			l = append(l, why)
		}
	}
	return l
}

// undecided names a question that the solver gave up: its kind, where it is asked, how large it is, to a power of ten, and what it was allowed.
func (x *Explorer) undecided(what string, p *candidate, conj []expr.Ref, effort int) string {
	if x.ctx.AnyFloat(conj) {
		what = "float " + what
	}
	where := fmt.Sprintf("%#x", p.place.PC)
	if x.root != nil {
		where = x.m.Where(x.root.Sys.CurrentProcess().Mem, p.place.PC)
	}
	if h := x.cfg.High; h != nil {
		if at, ok := h.Tree.Step(p.high); ok && p.high != (high.Place{}) && h.Source(at) != "" {
			where = h.Source(at)
		}
	}
	size := 10
	for size < x.ctx.Nodes(conj) {
		size *= 10
	}
	return fmt.Sprintf("solver: undecided %s at %s: up to %d terms, %s the budget", what, where, size, [...]string{"a sixteenth of", "a fourth of", "once", "4 times", "16 times"}[min(effort, lastTry)-briefly])
}
