package exec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/ir/iref"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// world is a start whose values are functions of a model.
type world struct {
	e     *expr.Ctx
	c     cpu.CPU
	s     *mem.Space
	ref   bytesMem
	bytes map[uint64]expr.Ref
}

// newWorld makes a few registers, lazy flags and runs of bytes symbolic.
func newWorld(t *testing.T, r *rand.Rand, e *expr.Ctx) *world {
	w := &world{e: e, c: randomCPU(r), bytes: map[uint64]expr.Ref{}}
	w.s, w.ref = memory(t, r)
	kinds := []ir.CCKind{ir.CCFlags, ir.CCAdd, ir.CCSub, ir.CCLogic, ir.CCInc, ir.CCDec, ir.CCAdc, ir.CCSbb, ir.CCMul, ir.CCResult}
	w.c.R[ir.CCOp] = uint64(ir.MakeCC(kinds[r.IntN(len(kinds))], uint(widths[r.IntN(4)])))
	for range 1 + r.IntN(5) {
		switch slot := append(results[:11:11], ir.CCA, ir.CCB, ir.CCC)[r.IntN(14)]; r.IntN(5) {
		case 0: // a pointer with proven bounds
			slot = pointers[r.IntN(len(pointers))]
			v := e.And(e.Var(fmt.Sprint("v", slot), 64), e.Const(15, 64))
			w.c.SetSym(slot, 0, e.Add(e.Const(w.c.R[slot], 64), e.Shl(v, e.Const(r.Uint64N(5), 64))))
		case 1:
			at := w.c.R[pointers[r.IntN(len(pointers))]] + r.Uint64N(64) - 32
			for i := range at % 16 {
				w.bytes[at+i] = e.Var(fmt.Sprintf("b%x", at+i), 8)
			}
		case 2:
			w.c.SetSym(slot, 0, e.ZExt(e.Var(fmt.Sprint("n", slot), 8), 64))
		default:
			w.c.SetSym(slot, 0, e.Var(fmt.Sprint("r", slot), 64))
		}
	}
	for at, x := range w.bytes {
		if w.s.WriteSym(at, mem.Bytes{Data: []byte{0}, Sym: []expr.Ref{x}}) != nil {
			delete(w.bytes, at)
		}
	}
	return w
}

// model returns random values of all variables.
func (w *world) model(r *rand.Rand) expr.Assignment {
	m := make(expr.Assignment, w.e.NumVars())
	for v := range m {
		m[v] = operand(r) & expr.Mask(w.e.VarWidth(expr.VarID(v)))
	}
	return m
}

// near returns model with one or two variables changed.
func (w *world) near(r *rand.Rand, model expr.Assignment) expr.Assignment {
	m := append(expr.Assignment(nil), model...)
	for range min(len(m), 1+r.IntN(2)) {
		v := r.IntN(len(m))
		m[v] = []uint64{m[v] + 1, m[v] ^ 1<<r.IntN(64), operand(r)}[r.IntN(3)] & expr.Mask(w.e.VarWidth(expr.VarID(v)))
	}
	return m
}

// rebased returns copies of c and s under model.
func (w *world) rebased(c cpu.CPU, s *mem.Space, model expr.Assignment) (*cpu.CPU, *mem.Space) {
	s = s.Fork()
	w.e.NewEval()
	eval := func(r expr.Ref) uint64 { return w.e.EvalMemo(r, model) }
	c.Rebase(eval)
	s.Rebase(eval)
	return &c, s
}

// concrete runs b on the reference interpreter from the start that model gives.
func (w *world) concrete(b *ir.Block, model expr.Assignment) (*iref.Machine, bytesMem, iref.Exit) {
	c, s := w.rebased(w.c, w.s, model)
	ref := w.ref.clone()
	for at := range w.bytes {
		v, _ := s.ReadU(at, 1)
		*ref.at(at, 0) = byte(v)
	}
	m := &iref.Machine{R: c.R, Mem: ref}
	return m, ref, m.Run(b)
}

// compare describes how c and s differ from the reference; lazy flags may differ in form,
// temporaries are dead.
func compare(c *cpu.CPU, s *mem.Space, m *iref.Machine, ref bytesMem) string {
	flags := func(r *[ir.NumSlots]uint64) uint64 {
		return ir.Flags(ir.CC(r[ir.CCOp]), r[ir.CCA], r[ir.CCB], r[ir.CCC])
	}
	if got, want := flags(&c.R), flags(&m.R); got != want {
		return fmt.Sprintf("flags %#x, want %#x", got, want)
	}
	for i, v := range c.R[:ir.NumState] {
		if v != m.R[i] && (i < int(ir.CCOp) || i > int(ir.CCC)) {
			return fmt.Sprintf("slot %d: %#x, want %#x", i, v, m.R[i])
		}
	}
	return ref.diff(s)
}

// path is what the decisions of a run say.
type path struct {
	facts Facts
	refs  []expr.Ref
	vals  []uint64
	kinds [numDecisionKinds]int
}

func newPath() *path {
	return &path{facts: Facts{Fixed: map[expr.Ref]uint64{}, Ranges: map[expr.Ref][2]uint64{}}}
}

// answer gives the stop what model says; false if the stop is not for the path to answer.
func (p *path) answer(t *testing.T, e *expr.Ctx, stop Stop, model expr.Assignment) bool {
	t.Helper()
	switch stop.Kind {
	case Bounds:
		if _, known := p.facts.Ranges[stop.Ref]; known {
			t.Fatal("bounds are asked for twice")
		}
		p.facts.Ranges[stop.Ref] = [2]uint64{0, ^uint64(0)}
	case Decide:
		if _, known := p.facts.Fixed[stop.Ref]; known {
			t.Fatalf("%v is decided twice", stop.Decision)
		}
		v := e.Eval(stop.Ref, model)
		p.facts.Fixed[stop.Ref] = v
		p.refs, p.vals = append(p.refs, stop.Ref), append(p.vals, v)
		p.kinds[stop.Decision]++
	default:
		return false
	}
	return true
}

// holds reports whether model makes every decision alike.
func (p *path) holds(e *expr.Ctx, model expr.Assignment) bool {
	e.NewEval()
	for i, r := range p.refs {
		if e.EvalMemo(r, model) != p.vals[i] {
			return false
		}
	}
	return true
}

// checkValues reports the first value that is not what its expression is worth under model.
func checkValues(e *expr.Ctx, c *cpu.CPU, s *mem.Space, model expr.Assignment) (bad string) {
	e.NewEval()
	c.Sym.Each(func(k ir.Slot) {
		if _, isConst := e.IsConst(c.S[k]); isConst || e.Width(c.S[k]) != 64 || e.EvalMemo(c.S[k], model) != c.R[k] {
			bad = fmt.Sprintf("slot %d: %#x beside an expression worth %#x", k, c.R[k], e.EvalMemo(c.S[k], model))
		}
	})
	s.EachSym(func(at uint64, r expr.Ref, v byte) {
		if _, isConst := e.IsConst(r); isConst || e.Width(r) != 8 || e.EvalMemo(r, model) != uint64(v) {
			bad = fmt.Sprintf("memory %#x: %#x beside an expression worth %#x", at, v, e.EvalMemo(r, model))
		}
	})
	return bad
}

// TestSymbolicBlocks runs random blocks on a random start, partly symbolic. At the end
// every expression is worth the value beside it; and under any other model that decides
// alike, expressions are worth what a concrete run of that model gives.
func TestSymbolicBlocks(t *testing.T) {
	r := seed.Rand(t)
	alike, kinds := 0, [numDecisionKinds]int{}
	var m *Machine
	for n := range 1500 {
		if n%50 == 0 {
			m = New(expr.New())
		}
		w := newWorld(t, r, m.Ctx)
		b := randomBlock(r, 1+r.IntN(25), false)
		model := w.model(r)
		p := newPath()
		c, s := w.rebased(w.c, w.s, model)
		m.facts = &p.facts
		m.use(s)
		i, st, stop := m.concolic(c, s, b, 0)
		for ; st == stopped; i, st, stop = m.concolic(c, s, b, i) {
			if bad := checkValues(m.Ctx, c, s, model); bad != "" {
				t.Fatalf("at a %v decision: %s\n%+v", stop.Decision, bad, b.Uops[:i+1])
			}
			if !p.answer(t, m.Ctx, stop, model) {
				t.Fatalf("%+v", stop)
			}
		}
		for k, n := range p.kinds {
			kinds[k] += n
		}
		if bad := checkValues(m.Ctx, c, s, model); bad != "" {
			t.Fatalf("%s\n%+v", bad, b.Uops[:i+1])
		}
		got := m.exit(c, b, i, st)
		for k := range 6 {
			if k > 0 {
				model = w.near(r, model)
				if k == 5 {
					model = w.model(r)
				}
				if !p.holds(m.Ctx, model) {
					continue
				}
				alike++
			}
			c, s := w.rebased(*c, s, model)
			machine, ref, want := w.concrete(b, model)
			if b.Uops[i].Op == ir.JmpInd {
				got.PC = c.R[b.Uops[i].A]
			}
			bad := compare(c, s, machine, ref)
			if !sameExit(got, want) {
				bad = fmt.Sprintf("ended %+v, want %+v", got, want)
			}
			if bad != "" {

				t.Fatalf("model %d: %s\n%+v\n%d decisions %v", k, bad, b.Uops[:i+1], len(p.refs), p.vals)
			}
		}
	}
	t.Logf("%d other models decide alike; decisions by kind %v", alike, kinds)
	if alike < 1000 || kinds[Branch]*kinds[Address]*kinds[Value]*kinds[Target] == 0 {
		t.Error("the runs are too much alike")
	}
}
