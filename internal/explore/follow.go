package explore

import (
	"context"
	"fmt"
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
	// Inputs are values that take the path; they only spare the solver work.
	Inputs []testcase.Input
	// Open: a limit cut the path off; following ends with the log.
	Open bool

	next int
	err  error
}

// Follow runs the path of trail from root. The error says where the program
// strays from the log; the end is reported to OnPath.
func (x *Explorer) Follow(c context.Context, root *state.State, trail *Trail) error {
	x.trail = trail
	defer func() { x.trail = nil }()
	x.base, x.began = root.Sys.Retired, time.Now()
	n := len(trail.Decisions)
	for trail.err == nil && c.Err() == nil && !(trail.Open && trail.next == n) && x.step(root) {
	}
	switch {
	case c.Err() != nil:
		return c.Err()
	case trail.err != nil:
		return trail.err
	case trail.next < n:
		return fmt.Errorf("the path ended after %d of %d decisions", trail.next, n)
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

// follow makes the decision about r that the trail has.
func (x *Explorer) follow(s *state.State, kind exec.DecisionKind, pc uint64, r expr.Ref) {
	v, ok := x.trail.take(kind, pc)
	if !ok {
		return
	}
	if x.ctx.Eval(r, s.Model) != v {
		c := state.Constraint{R: r, V: v}
		res, model := x.solv.Check(solver.Query{Conjuncts: append(s.Conjuncts(x.ctx), c.Cond(x.ctx)), Hint: s.Model, New: 1})
		if res != solver.Sat {
			x.trail.err = fmt.Errorf("decision %d, a %v at %#x: the value %#x of the log is %v", x.trail.next, kind, pc, v, res)
			return
		}
		s.Rebase(x.ctx, model)
	}
	s.Record(x.ctx, kind, pc, r, v)
}

// seed makes the trail's value of input number n the default of decl.
func (t *Trail) seed(n int, decl *device.Input) {
	if n >= len(t.Inputs) {
		return
	}
	in := t.Inputs[n]
	switch decl.Kind {
	case device.KindStr, device.KindBytes:
		if b, err := in.Bytes(); err == nil {
			decl.DefaultBytes = b
		}
	case device.KindInt:
		if v, err := in.Int(); err == nil {
			decl.DefaultInt = v
		}
	case device.KindBool:
		if v, err := in.Bool(); err == nil && v {
			decl.DefaultInt = 1
		} else if err == nil {
			decl.DefaultInt = 0
		}
	case device.KindChoice:
		if v, err := in.Choice(); err == nil {
			decl.DefaultInt = int64(v)
		}
	}
}
