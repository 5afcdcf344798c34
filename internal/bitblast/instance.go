package bitblast

import (
	"io"

	"symchef/internal/expr"
	"symchef/internal/sat"
)

// Instance is a SAT solver holding the clauses of some of a Graph's gates.
type Instance struct {
	Effort Effort // of each Check

	g *Graph
	s *sat.Solver

	varOf  []uint32  // by gate: its variable plus one, 0 when not emitted
	gates  []uint32  // by variable: its gate
	fanOff []uint32  // by variable: start in fan; one entry more than variables
	fan    []sat.Var // operands; of the first of fresh bits, their side conditions, of others that bit
	first  []uint32  // by side conditions: variable of the first of their bits emitted, plus one

	seen []uint32 // by variable: in the cone when equal to gen
	gen  uint32
	cone []sat.Var

	assume []sat.Lit
	owner  []int // by place in assume: which root it is
	core   []int
	tag    []int32 // by literal: place in owner plus one; zero outside Check
	leaves []Lit
}

// NewInstance returns an empty instance over g.
func NewInstance(g *Graph) *Instance {
	return &Instance{g: g, s: sat.New()}
}

// Solver returns the SAT solver, for its counts and its phase generator.
func (in *Instance) Solver() *sat.Solver { return in.s }

// NumVars returns the number of emitted gates.
func (in *Instance) NumVars() int { return len(in.gates) }

// ConeVars returns the number of gates in the cone of the last Check.
func (in *Instance) ConeVars() int { return len(in.cone) }

// Reset forgets all clauses, and moves to graph g. The next Check emits what it
// needs.
func (in *Instance) Reset(g *Graph) {
	if g == in.g {
		for _, n := range in.gates {
			in.varOf[n] = 0
		}
	} else {
		clear(in.varOf)
	}
	in.g = g
	in.gates, in.fanOff, in.fan, in.first = in.gates[:0], in.fanOff[:0], in.fan[:0], in.first[:0]
	in.seen, in.gen, in.tag, in.cone = in.seen[:0], 0, in.tag[:0], in.cone[:0]
	in.s.Reset()
}

// Check asks whether all roots, expressions of one bit, can be true together.
// Variables first try their value in hint, when that is not nil. The answer is Unknown when that takes more propagations
// than budget or more gates than Effort allows.
func (in *Instance) Check(roots []expr.Ref, hint expr.Assignment, budget uint64) sat.Result {
	e := in.Effort
	in.assume, in.owner, in.core = in.assume[:0], in.owner[:0], in.core[:0]
	left := e
	for i, r := range roots {
		before := len(in.g.gates)
		x, ok := in.g.build(r, left)
		if !ok {
			return sat.Unknown
		}
		if e.Gates > 0 {
			left.Gates = max(left.Gates-(len(in.g.gates)-before), 1)
		}
		switch l := x[0]; l {
		case True:
		case False:
			in.core = append(in.core, i)
			return sat.Unsat
		default:
			in.assume = append(in.assume, in.lit(l))
			in.owner = append(in.owner, i)
		}
	}
	if !in.emit(e) {
		return sat.Unknown
	}
	in.mark()
	in.s.Prepare(in.assume)
	if hint != nil {
		for _, v := range in.cone {
			if t := &in.g.gates[in.gates[v]]; t.op == opInput {
				in.s.SetPhase(v, hint.Get(expr.VarID(t.a))>>t.b&1 != 0)
			}
		}
	}
	res := in.s.Solve(in.assume, in.cone, budget)
	if res == sat.Unsat {
		for i, l := range in.assume {
			if in.tag[l] == 0 {
				in.tag[l] = int32(in.owner[i]) + 1
			}
		}
		for _, l := range in.s.Core() {
			in.core = append(in.core, int(in.tag[l])-1)
		}
		for _, l := range in.assume {
			in.tag[l] = 0
		}
	}
	return res
}

// Core returns, after Unsat, the places in roots of some that contradict each
// other.
func (in *Instance) Core() []int { return in.core }

// Value returns variable v in the model of the last Sat answer. Bits outside the
// cone are free: they are taken from free.
func (in *Instance) Value(v expr.VarID, free uint64) uint64 {
	if int(v) >= len(in.g.inputs) {
		return free
	}
	for i, l := range in.g.inputs[v] {
		n := l >> 1
		if int(n) >= len(in.varOf) || in.varOf[n] == 0 {
			continue
		}
		x := sat.Var(in.varOf[n] - 1)
		if in.seen[x] != in.gen {
			continue
		}
		free &^= 1 << i
		if in.s.Value(x.Pos()) > 0 {
			free |= 1 << i
		}
	}
	return free
}

// WriteDIMACS writes the last Check as a formula; SAT variable v is called v+1.
// ValueIn reads a model of it back.
func (in *Instance) WriteDIMACS(w io.Writer) error { return in.s.WriteDIMACS(w, in.assume) }

// ValueIn is Value in the model given by val.
func (in *Instance) ValueIn(v expr.VarID, free uint64, val func(sat.Var) bool) uint64 {
	if int(v) >= len(in.g.inputs) {
		return free
	}
	for i, l := range in.g.inputs[v] {
		if n := l >> 1; int(n) < len(in.varOf) && in.varOf[n] != 0 {
			free &^= 1 << i
			if val(sat.Var(in.varOf[n] - 1)) {
				free |= 1 << i
			}
		}
	}
	return free
}

// mark collects the cone of the assumptions.
func (in *Instance) mark() {
	in.gen++
	in.cone = in.cone[:0]
	for _, l := range in.assume {
		in.reach(l.Var())
	}
	for i := 0; i < len(in.cone); i++ {
		v := in.cone[i]
		for _, u := range in.fan[in.fanOff[v]:in.fanEnd(v)] {
			in.reach(u)
		}
	}
}

func (in *Instance) fanEnd(v sat.Var) uint32 {
	if int(v)+1 < len(in.fanOff) {
		return in.fanOff[v+1]
	}
	return uint32(len(in.fan))
}

func (in *Instance) reach(v sat.Var) {
	if in.seen[v] != in.gen {
		in.seen[v] = in.gen
		in.cone = append(in.cone, v)
	}
}

// lit returns the literal of edge l, which is not constant; a gate met for the
// first time gets a variable, and clauses in emit.
func (in *Instance) lit(l Lit) sat.Lit {
	n := uint32(l >> 1)
	if int(n) >= len(in.varOf) {
		in.varOf = append(in.varOf, make([]uint32, len(in.g.gates)-len(in.varOf))...)
	}
	if in.varOf[n] == 0 {
		v := in.s.NewVar()
		in.varOf[n] = uint32(v) + 1
		in.gates = append(in.gates, n)
		in.seen = append(in.seen, 0)
		in.tag = append(in.tag, 0, 0)
	}
	return sat.Var(in.varOf[n]-1).Pos() ^ sat.Lit(l&1)
}

// emit gives clauses to the gates that have only a variable; false where they are more than e allows. It goes on from there the next time.
func (in *Instance) emit(e Effort) bool {
	first := len(in.fanOff)
	for v := first; v < len(in.gates); v++ {
		if n := v - first; e.Gates > 0 && n > e.Gates || n%pollEvery == pollEvery-1 && e.stopped() {
			return false
		}
		in.fanOff = append(in.fanOff, uint32(len(in.fan)))
		in.clauses(sat.Var(v))
	}
	return true
}

// use returns the literal of edge l and notes it as an operand of the gate
// being emitted.
func (in *Instance) use(l Lit) sat.Lit {
	p := in.lit(l)
	in.fan = append(in.fan, p.Var())
	return p
}

func (in *Instance) clauses(v sat.Var) {
	t := in.g.gates[in.gates[v]]
	o, s := v.Pos(), in.s
	switch t.op {
	case opInput:
	case opAux:
		for len(in.first) <= int(t.a) {
			in.first = append(in.first, 0)
		}
		if f := in.first[t.a]; f != 0 {
			in.fan = append(in.fan, sat.Var(f-1))
			return
		}
		in.first[t.a] = uint32(v) + 1
		for _, l := range in.g.sides[t.a] {
			switch l {
			case True:
			case False:
				panic("bitblast: impossible side condition")
			default:
				s.AddClause(in.use(l))
			}
		}
	case opAnd:
		in.leaves = in.flatten(in.leaves[:0], Lit(t.a), 0)
		in.leaves = in.flatten(in.leaves, Lit(t.b), 0)
		long := make([]sat.Lit, 1, 8)
		long[0] = o
		for _, l := range in.leaves {
			p := in.use(l)
			s.AddClause(o^1, p)
			long = append(long, p^1)
		}
		s.AddClause(long...)
	case opXor:
		a, b := in.use(Lit(t.a)), in.use(Lit(t.b))
		s.AddClause(o^1, a, b)
		s.AddClause(o^1, a^1, b^1)
		s.AddClause(o, a^1, b)
		s.AddClause(o, a, b^1)
	case opMux:
		c, a, b := in.use(Lit(t.a)), in.use(Lit(t.b)), in.use(Lit(t.c))
		s.AddClause(c^1, a^1, o)
		s.AddClause(c^1, a, o^1)
		s.AddClause(c, b^1, o)
		s.AddClause(c, b, o^1)
		s.AddClause(a^1, b^1, o) // implied, for propagation
		s.AddClause(a, b, o^1)
	case opMaj:
		a, b, c := in.use(Lit(t.a)), in.use(Lit(t.b)), in.use(Lit(t.c))
		s.AddClause(a^1, b^1, o)
		s.AddClause(a^1, c^1, o)
		s.AddClause(b^1, c^1, o)
		s.AddClause(a, b, o^1)
		s.AddClause(a, c, o^1)
		s.AddClause(b, c, o^1)
	}
}

// flatten appends the operands of the AND tree at l, going through gates that
// nothing else uses.
func (in *Instance) flatten(to []Lit, l Lit, depth int) []Lit {
	t := in.g.gates[l>>1]
	if l&1 == 0 && t.op == opAnd && t.fanout <= 1 && depth < 64 &&
		(int(l>>1) >= len(in.varOf) || in.varOf[l>>1] == 0) {
		return in.flatten(in.flatten(to, Lit(t.a), depth+1), Lit(t.b), depth+1)
	}
	return append(to, l)
}
