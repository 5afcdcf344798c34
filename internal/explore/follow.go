package explore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"symchef/internal/device"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/solver"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// A Trail is a path that was explored before. Following it takes the decisions of
// its log, whatever the model says; every decision must come at the address and be of the
// kind that the log has.
type Trail struct {
	Decisions []testcase.Decision
	// Model are values of inputs that take the path; it spares the solver work.
	Model expr.Assignment
	// Unproved are the ranges that were not proved where Decisions were taken, by their number on the path: what the solver does not know depends on
	// what it was asked before.
	Unproved []int
	// Open: a limit cut the path off; following ends with the log.
	Open bool
	// Unlogged: there are no Decisions, they are those of Model.
	Unlogged bool
	// Concrete: what the program reads of inputs that it asks for are the values of Model, not variables. There is nothing to decide but lengths and
	// choices, and nothing to ask a solver.
	Concrete bool
	// Briefly: the ranges of addresses are proved only where that is easy.
	Briefly bool
	// Most is how many instructions following may take; 0 means any number.
	Most uint64

	fork    bool     // following ends where the log does, at the fork that takes none of excl
	excl    []uint64 // none: anywhere after the last decision
	bounds  []*state.Bound
	next    int
	arrived bool
	err     error
}

// ErrMost is of a path that takes more than Trail.Most.
var ErrMost = errors.New("the path did not end within")

// Follow runs the path of trail from root. The error says where the program
// strays from the log; the end is reported to OnPath.
func (x *Explorer) Follow(c context.Context, root *state.State, trail *Trail) error {
	if !x.cfg.Booting {
		x.base = root.Sys.Spent()
	}
	return x.follow(c, root, trail)
}

// follow goes on from s, a state after the first decisions of trail.
func (x *Explorer) follow(c context.Context, s *state.State, trail *Trail) error {
	x.trail = trail
	defer func() { x.trail = nil }()
	x.began = time.Now()
	s.Rebase(x.ctx, trail.Model)
	n := len(trail.Decisions)
	if trail.next == n && (trail.Open || trail.fork && trail.excl == nil) {
		trail.arrived = true
	}
	from := s.Sys.Spent()
	for trail.err == nil && c.Err() == nil && (!trail.arrived || s.Sys.Spent() < x.until) && x.step(s) {
		if ran := s.Sys.Spent() - from; trail.Most > 0 && ran > trail.Most {
			return fmt.Errorf("%w %d instructions", ErrMost, ran)
		}
	}
	switch {
	case c.Err() != nil:
		return c.Err()
	case trail.err != nil:
		return trail.err
	case trail.next < n:
		return fmt.Errorf("the path ended after %d of %d decisions", trail.next, n)
	case trail.fork && !trail.arrived:
		return fmt.Errorf("the path ended at decision %d, before it forked", n)
	}
	return nil
}

// take returns the value of the next decision of the log; ok is false if it is another decision.
func (t *Trail) take(kind exec.DecisionKind, pc uint64) (v uint64, ok bool) {
	here := fmt.Sprintf("%v at %#x", kind, pc)
	if t.next == len(t.Decisions) {
		t.err = fmt.Errorf("decision %d is a %s, but the log ends before it", t.next+1, here)
		return 0, false
	}
	d := t.Decisions[t.next]
	t.next++
	if d.Kind != kind.String() || uint64(d.PC) != pc {
		t.err = fmt.Errorf("decision %d is a %s, but the log has a %s at %#x", t.next, here, d.Kind, uint64(d.PC))
		return 0, false
	}
	return uint64(d.Value), true
}

// bound returns the range that was proved next after known when the path was explored, if it is that of the expression of.
func (t *Trail) bound(known *state.Bound, of uint64) (lo, hi uint64, ok bool) {
	n := 0
	if known != nil {
		n = known.Depth
	}
	if t == nil || n >= len(t.bounds) || t.bounds[n].Of != of {
		return 0, 0, false
	}
	return t.bounds[n].Lo, t.bounds[n].Hi, true
}

// proof is how hard the range after known is to be proved; open: it was not when the path was explored.
func (t *Trail) proof(known *state.Bound) (effort int, open bool) {
	if t != nil && t.Briefly {
		return mostBriefly, false
	}
	if t == nil || t.Unlogged || t.fork {
		return 0, false
	}
	n := 0
	if known != nil {
		n = known.Depth
	}
	return mostProof, slices.Contains(t.Unproved, n)
}

// mostBriefly: a 4096th of the budget.
const mostBriefly = -6

// mostProof is more than any path is explored with: what was proved there is proved again.
const mostProof = 8

// decideAs makes the decision about r that the trail has.
func (x *Explorer) decideAs(s *state.State, kind exec.DecisionKind, pc uint64, r expr.Ref) {
	t := x.trail
	if t.fork {
		x.anchors.pass(s)
	}
	if t.fork && s.Log == nil { // nothing was decided: all paths pass here
		x.root = s.Fork()
	}
	if t.fork && t.next == len(t.Decisions) {
		for _, v := range t.excl {
			s.Exclude(kind, pc, r, v)
		}
		t.arrived = true
		return
	}
	if t.Unlogged {
		x.record(s, kind, pc, r, x.ctx.Eval(r, s.Model))
		return
	}
	v, ok := t.take(kind, pc)
	if !ok {
		return
	}
	if x.ctx.Eval(r, s.Model) != v {
		c := state.Constraint{R: r, V: v}
		res, model := x.solv.Check(solver.Query{Conjuncts: append(s.Conjuncts(x.ctx), c.Cond(x.ctx)), Hint: s.Model, New: 1})
		if res != solver.Sat {
			t.err = fmt.Errorf("decision %d, a %v at %#x: the value %#x of the log is %v", t.next, kind, pc, v, res)
			return
		}
		s.Rebase(x.ctx, model)
	}
	x.record(s, kind, pc, r, v)
	if t.next == len(t.Decisions) && (t.Open || t.fork && t.excl == nil) {
		t.arrived = true
	}
}

// NamedInput is what the variables of a program's file or environment variable are called.
func NamedInput(t testcase.InputType, name string) string { return string(t) + ":" + name }

// ModelOf is the assignment over the variables of ctx that the inputs of a test case have.
func ModelOf(ctx *expr.Ctx, inputs []testcase.Input) (expr.Assignment, error) {
	var vals Values
	seen := map[string]int{}
	for _, in := range testcase.Flat(inputs) {
		seen[in.Name]++
		name := numbered(in.Name, seen[in.Name])
		switch in.Type {
		case testcase.TypeInt:
			v, err := in.Int()
			if err != nil {
				return nil, err
			}
			vals = append(vals, Value{scalarVar(name, device.KindInt), 64, uint64(v)})
		case testcase.TypeFloat:
			v, err := in.Float()
			if err != nil {
				return nil, err
			}
			vals = append(vals, Value{scalarVar(name, device.KindFloat), 64, math.Float64bits(v)})
		case testcase.TypeBool:
			v, err := in.Bool()
			if err != nil {
				return nil, err
			}
			bit := uint64(0)
			if v {
				bit = 1
			}
			vals = append(vals, Value{scalarVar(name, device.KindBool), 1, bit})
		case testcase.TypeChoice:
			v, err := in.Choice()
			if err != nil {
				return nil, err
			}
			vals = append(vals, Value{scalarVar(name, device.KindChoice), 32, uint64(v)})
		default:
			b, err := in.Bytes()
			if err != nil {
				return nil, err
			}
			switch in.Type {
			case testcase.TypeFile, testcase.TypeEnv:
				name = NamedInput(in.Type, in.Name)
			}
			vals = append(vals, Value{lengthVar(name), 32, uint64(len(b))})
			for i, v := range b {
				vals = append(vals, Value{byteVar(name, i), 8, uint64(v)})
			}
		}
	}
	return vals.in(ctx), nil
}
