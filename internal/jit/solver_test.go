package jit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"symchef/internal/cpucheck"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/lift"
	"symchef/internal/mutate/image"
	"symchef/internal/pace"
	"symchef/internal/smtlib"
)

// TestCodeBySolver proves that machine code does what the micro-ops say, for all operands: for every form, on every path that leaves
// before memory is touched or a helper is called, the slots, the temporaries that are still needed, and the next address.
func TestCodeBySolver(t *testing.T) {
	solvers := smtlib.Find()
	if len(solvers) == 0 {
		t.Skip("skipped: neither cvc5 nor z3 is installed: nothing is proved")
	}
	r := rand.New(rand.NewPCG(1, 2))
	v := &validator{t: t, solver: solvers[len(solvers)-1], patience: pace.Stretch(t, time.Second/2)}
	eachForm(r, 1, func(name string, code []byte) {
		if in, _, _ := lift.Accept(cpucheck.CodeBase, code); in.IsVEX() && os.Getenv("SYMCHEF_SLOW") == "" {
			return // the same micro-ops, and more of them
		}
		b := lifted(t, code)
		src := &Source{Block: b, Touch: b.Reads, Flags: ir.MakeCC(ir.CCKind(r.IntN(13)), 8<<r.IntN(4))}
		if g := newGen(src, 1); g.block() {
			v.block(fmt.Sprintf("%s: % x, flags %#x", name, code, src.Flags), src, g.b)
		}
	})
	t.Logf("%d paths: %d give the same expressions, %d proved, no answer: %q; %d others touch memory or call helpers", v.same+v.proofs+len(v.open), v.same, v.proofs, v.open, v.left)
	if v.same+v.proofs < v.left/2 {
		t.Error("two thirds of the paths are left out")
	}
}

// validator compares code with its micro-ops.
type validator struct {
	t            *testing.T
	solver       string
	patience     time.Duration
	same, proofs int
	left         int      // paths that are not compared
	open         []string // without an answer
}

// block compares all paths of a block's code with the block.
func (v *validator) block(name string, src *Source, code []byte) {
	s := image.NewSymbolic(map[ir.Slot]uint64{ir.CCOp: uint64(src.Flags)})
	e := s.E
	p := &paths{block: src.Block, code: code, s: s, entry: s.R, results: &image.Results{E: e}}
	cells := map[cell]expr.Ref{}
	var start [ir.NumSlots]expr.Ref // slots before the block
	for i := range start {
		start[i] = e.Var(fmt.Sprintf("slot%d", i), 64)
		if _, ok := e.IsConst(s.R[i]); ok {
			start[i] = s.R[i]
		}
		for k := range int64(8) {
			cells[cell{s.R[ir.RBX], int64(slot(ir.Slot(i)).disp) + k}] = e.Extract(start[i], 8*uint(k), 8)
		}
	}
	p.all(cells, func(at *path) {
		if at.back {
			v.left++
			return
		}
		uop, ok := e.IsConst(p.context(at, ctxUop))
		if !at.ret { // it jumps to the code of the next block
			uop = ^uint64(0)
		} else if !ok {
			v.t.Fatalf("%s: a path ends without saying where", name)
		}
		pc := p.context(at, ctxPC)
		n := int(int64(uop))
		if n < 0 {
			n = len(src.Block.Uops)
			if spent, ok := e.IsConst(pc); ok && spent == src.Block.PC && at.slotsAre(p, &start) {
				return // nothing was left to execute
			}
		}
		want, next, ok := meaning(e, src.Block, n, start)
		if !ok {
			v.left++
			return
		}
		differ := e.Const(0, 1)
		live := temporaries(src.Block, int(int64(uop)))
		for i := range ir.Slot(ir.TempEnd) {
			lazy := i == ir.CCOp || i == ir.CCA || i == ir.CCB || i == ir.CCC
			if i < ir.NumState && !lazy || live.Has(i) {
				differ = e.Or(differ, e.Ne(p.slot(at, i), want[i]))
			}
		}
		differ = e.Or(differ, e.Ne(flags(e, func(s ir.Slot) expr.Ref { return p.slot(at, s) }), flags(e, func(s ir.Slot) expr.Ref { return want[s] })))
		if next != 0 && at.ret {
			differ = e.Or(differ, e.Ne(pc, next))
		}
		v.impossible(name, e, append(at.conds, differ))
	})
}

// flags returns the arithmetic flags that lazy ones stand for: operations differ where a block sets them under a condition.
func flags(e *expr.Ctx, slot func(ir.Slot) expr.Ref) expr.Ref {
	op, ok := e.IsConst(slot(ir.CCOp))
	if !ok {
		panic("jit: symbolic CCOp")
	}
	return ir.SymFlags(e, ir.CC(op), slot(ir.CCA), slot(ir.CCB), slot(ir.CCC))
}

// slotsAre reports whether a path has changed nothing.
func (t *path) slotsAre(p *paths, start *[ir.NumSlots]expr.Ref) bool {
	for i := range ir.Slot(ir.NumState) {
		if p.slot(t, i) != start[i] {
			return false
		}
	}
	return true
}

// meaning returns the slots after the first n micro-ops of a block, and the next address if they are all; false if there is memory or a
// helper among them.
func meaning(e *expr.Ctx, b *ir.Block, n int, start [ir.NumSlots]expr.Ref) (slots [ir.NumSlots]expr.Ref, next expr.Ref, ok bool) {
	s := &image.Symbolic{E: e, R: start}
	ok = true
	nonzero := func(u *ir.Uop) expr.Ref { return e.Ne(e.Extract(s.R[u.A], 0, uint(u.W)), e.Const(0, uint(u.W))) }
	s.Effect = func(_ int, u *ir.Uop) {
		taken, other := e.Const(b.Taken, 64), e.Const(b.Next, 64)
		switch u.Op {
		case ir.Jmp:
			next = taken
		case ir.Jcc:
			next = e.Ite(s.Cond(u), taken, other)
		case ir.Brnz:
			next = e.Ite(nonzero(u), taken, other)
		case ir.JmpInd:
			next = s.R[u.A]
		case ir.TrapIf: // on a path that goes on it does not
		default:
			ok = false
		}
	}
	part := *b
	part.Uops = b.Uops[:n]
	s.Run(&part)
	return s.R, next, ok
}

// impossible proves that conditions cannot hold together.
func (v *validator) impossible(name string, e *expr.Ctx, conds []expr.Ref) {
	if c, ok := e.IsConst(conds[len(conds)-1]); ok && c == 0 {
		v.same++
		return
	}
	answer, err := smtlib.Solve(context.Background(), v.solver, smtlib.Print(e, conds), v.patience)
	switch {
	case err != nil:
		v.t.Errorf("%s: %v", name, err)
	case answer.Status == smtlib.Sat:
		v.t.Errorf("%s: machine code does something else under %v", name, answer.Model)
	case answer.Status == smtlib.Unsat:
		v.proofs++
	default:
		v.open = append(v.open, name)
	}
}
