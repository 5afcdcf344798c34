package session

import (
	"slices"

	"symchef/internal/expr"
	"symchef/internal/state"
)

// Bounds of what is enumerated: variables, the bits of one, and the values of all.
const (
	mostVars   = 2
	mostWidth  = 8
	mostValues = 1 << 10
)

// unvarying is t without the expressions of bytes that have one value on the path of s, though each variable that they are computed of has several:
// these are none of the input. Copying code reads at an address that the input has a part in, and so a quote beside the input is an expression, too.
func (w *worker) unvarying(s *state.State, t state.Text) state.Text {
	own := false
	conditions, of := s.Conjuncts(w.ctx), map[uint32]*enumerated{}
	for i, r := range t.Sym {
		if r == 0 || w.ctx.Kind(r) == expr.Var {
			continue
		}
		id := w.ctx.SupportID(r)
		e := of[id]
		if e == nil {
			e = enumerate(w.ctx, w.ctx.SupportSet(r), conditions)
			of[id] = e
		}
		if !e.several() {
			continue
		}
		l := e.values(w.ctx, r)
		if slices.ContainsFunc(l, func(v uint64) bool { return v != l[0] }) {
			continue
		}
		if !own {
			t, own = state.Text{Data: slices.Clone(t.Data), Sym: slices.Clone(t.Sym)}, true
		}
		t.Data[i], t.Sym[i] = byte(l[0]), 0
	}
	return t
}

// enumerated has the values that variables may have, as far as conditions of them alone say, and those that expressions of them alone have then.
type enumerated struct {
	vars []expr.VarID
	may  [][]uint64 // each with a value of each variable; none: they are too many
	of   map[expr.Ref][]uint64
}

// enumerate finds the values of the variables of set that conditions allow.
func enumerate(ctx *expr.Ctx, set expr.VarSet, conditions []expr.Ref) *enumerated {
	e := &enumerated{of: map[expr.Ref][]uint64{}}
	set.Visit(func(v expr.VarID) { e.vars = append(e.vars, v) })
	if len(e.vars) > mostVars {
		return e
	}
	all := [][]uint64{{}}
	for _, x := range e.vars {
		if ctx.VarWidth(x) > mostWidth {
			return e
		}
		one := &enumerated{vars: []expr.VarID{x}, of: map[expr.Ref][]uint64{}}
		for v := range uint64(1) << ctx.VarWidth(x) {
			one.may = append(one.may, []uint64{v})
		}
		one.may = one.allowed(ctx, conditions)
		if len(all)*len(one.may) > mostValues {
			return e
		}
		var longer [][]uint64
		for _, l := range all {
			for _, v := range one.may {
				longer = append(longer, append(slices.Clone(l), v...))
			}
		}
		all = longer
	}
	e.may = all
	e.may, e.of = e.allowed(ctx, conditions), map[expr.Ref][]uint64{}
	return e
}

// allowed are those values of e that conditions of its variables alone allow.
func (e *enumerated) allowed(ctx *expr.Ctx, conditions []expr.Ref) (l [][]uint64) {
	ok := slices.Repeat([]bool{true}, len(e.may))
	for _, c := range conditions {
		within := true
		ctx.Support(c, func(v expr.VarID) { within = within && slices.Contains(e.vars, v) })
		if !within {
			continue
		}
		for i, v := range e.values(ctx, c) {
			ok[i] = ok[i] && v != 0
		}
	}
	for i, v := range e.may {
		if ok[i] {
			l = append(l, v)
		}
	}
	return l
}

// several reports whether each variable may have more than one value.
func (e *enumerated) several() bool {
	for i := range e.vars {
		if !slices.ContainsFunc(e.may, func(l []uint64) bool { return l[i] != e.may[0][i] }) {
			return false
		}
	}
	return len(e.vars) > 0
}

// values are those of r, of the variables of e alone, for each of theirs.
func (e *enumerated) values(ctx *expr.Ctx, r expr.Ref) []uint64 {
	if l, known := e.of[r]; known {
		return l
	}
	kind := ctx.Kind(r)
	c, constant := ctx.IsConst(r)
	var operands [3][]uint64
	for i, o := range []expr.Ref{ctx.A(r), ctx.B(r), ctx.C(r)}[:kind.Arity()] {
		operands[i] = e.values(ctx, o)
	}
	out := make([]uint64, len(e.may))
	for i := range out {
		var at [3]uint64
		for k, l := range operands {
			if l != nil {
				at[k] = l[i]
			}
		}
		switch {
		case constant:
			out[i] = c
		case kind == expr.Var:
			out[i] = e.may[i][slices.Index(e.vars, ctx.VarOf(r))]
		default:
			out[i] = ctx.Apply(r, at[0], at[1], at[2])
		}
	}
	e.of[r] = out
	return out
}
