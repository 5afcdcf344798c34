package exec_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/cpucheck"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/ir/iref"
	"symchef/internal/lift"
	"symchef/internal/mem"
	"symchef/internal/seed"
	"symchef/internal/state"
)

// The tests of this file run random machine code on random, partly symbolic states.

// impure tells of a block that it cannot be compared: it makes a call or asks for the time.
func impure(b *ir.Block) bool {
	for _, u := range b.Uops {
		if u.Op == ir.Syscall || u.Op == ir.Unsup || u.Op == ir.Helper && ir.Helpers[u.Imm].Name[0] == 'r' {
			return true
		}
	}
	return false
}

// insn returns a random instruction that the lifter knows. Its memory operands, mostly,
// are near a register that points into data.
func insn(r *rand.Rand) []byte {
	for {
		var b []byte
		if p := r.IntN(12); p < 4 {
			b = append(b, []byte{0x66, 0x66, 0xf2, 0xf3}[p])
		}
		if r.IntN(2) == 0 {
			b = append(b, 0x40|byte(r.IntN(16)))
		}
		switch r.IntN(16) {
		case 0:
			b = append(b, 0x0f, 0x38)
		case 1:
			b = append(b, 0xd8+byte(r.IntN(8)))
		case 2, 3, 4, 5, 6, 7:
			b = append(b, 0x0f)
		}
		if len(b) == 0 || b[len(b)-1]&^7 != 0xd8 {
			b = append(b, byte(r.IntN(256)))
		}
		switch reg := byte(r.IntN(8)) << 3; r.IntN(4) {
		case 0:
			b = append(b, 0x44|reg, []byte{0x0b, 0x43, 0x8b, 0xcb, 0x23}[r.IntN(5)], byte(r.IntN(8))*8) // 8k(%rbx,index,scale)
		case 1:
			b = append(b, 0x40|reg|[]byte{3, 5, 6, 7}[r.IntN(4)], byte(r.IntN(16)-8)*16)
		default:
			b = append(b, 0xc0|reg|byte(r.IntN(8)))
		}
		for len(b) < 15 {
			b = append(b, byte(r.IntN(40)))
		}
		blk, err := lift.Lift(codeBase, func(addr uint64, p []byte) int { return copy(p, b[min(addr-codeBase, 15):]) })
		if err != nil || blk.Uops[0].Op == ir.Unsup {
			continue
		}
		n := blk.Next - blk.PC
		if len(blk.Insns) > 1 {
			n = uint64(blk.Insns[1].Off)
		}
		blk, err = lift.Lift(codeBase, func(addr uint64, p []byte) int { return copy(p, b[min(addr-codeBase, n):n]) })
		term := ir.Jmp
		if err == nil {
			term = blk.Uops[len(blk.Uops)-1].Op
		}
		if err != nil || impure(blk) || term != ir.Jmp && term != ir.Jcc && r.IntN(8) > 0 {
			continue
		}
		return b[:n]
	}
}

// program is a start whose values are functions of a model.
type program struct {
	e     *expr.Ctx
	st    *state.State
	insns string
}

var values = []ir.Slot{ir.RAX, ir.RCX, ir.RDX, ir.R8, ir.R9, ir.R10, ir.R12}

// newProgram makes a random program with a few variables in registers, flags and memory.
func newProgram(t *testing.T, r *rand.Rand, e *expr.Ctx) *program {
	code, text := insns(r, 1+r.IntN(12))
	return start(t, r, e, code, text)
}

// insns returns n random instructions, and their text.
func insns(r *rand.Rand, n int) (code []byte, text string) {
	for range n {
		b := insn(r)
		text += fmt.Sprintf("%s; ", lift.Describe(codeBase, func(addr uint64, q []byte) int { return copy(q, b[min(addr-codeBase, uint64(len(b))):]) }))
		code = append(code, b...)
	}
	return code, text
}

// start is code with a few variables in registers, flags and memory.
func start(t *testing.T, r *rand.Rand, e *expr.Ctx, code []byte, text string) *program {
	p := &program{e: e, insns: text, st: boot(t, rx, code...)}
	c, s := parts(p.st)
	data := make([]byte, 2*guest.PageSize)
	for i := range data {
		data[i] = byte(cpucheck.Value(r))
	}
	s.Poke(dataBase, data)
	s.Poke(stackBase, data[:guest.PageSize])
	for k := ir.RAX; k <= ir.R15; k++ {
		if k != ir.RSP {
			c.Set(k, dataBase+0x400+uint64(k)*0x100)
		}
	}
	for _, k := range values {
		c.Set(k, cpucheck.Value(r))
	}
	if r.IntN(2) == 0 {
		c.Set(ir.RCX, r.Uint64N(70))
	}
	for i := range 16 {
		c.Set(ir.XMM(i, 0), cpucheck.Value(r))
		c.Set(ir.XMM(i, 1), cpucheck.Value(r))
	}
	c.Set(ir.GSBase, dataBase+0x400)
	c.Set(ir.CCOp, uint64(ir.MakeCC(ir.CCKind(r.IntN(3)), uint(8)<<r.IntN(4))))
	c.Set(ir.CCA, cpucheck.Value(r))
	c.Set(ir.CCB, cpucheck.Value(r))
	fresh := func(w uint) expr.Ref { return e.Var(fmt.Sprint("v", w, "_", r.IntN(5)), w) }
	for range 1 + r.IntN(10) {
		switch r.IntN(6) {
		case 0: // a pointer with proven bounds
			k := []ir.Slot{ir.RBX, ir.RBP, ir.RSI, ir.RDI, ir.R11, ir.R13, ir.R14, ir.R15}[r.IntN(8)]
			c.SetSym(k, 0, e.Add(e.Const(c.R[k], 64), e.Shl(e.ZExt(fresh(4), 64), e.Const(r.Uint64N(5), 64))))
		case 1:
			at := uint64(dataBase + 0x400 + r.Uint64N(16)*0x100 + r.Uint64N(16)*8)
			b := mem.Bytes{Data: make([]byte, 1+r.IntN(16))}
			for range b.Data {
				b.Sym = append(b.Sym, fresh(8))
			}
			s.WriteSym(at, b)
		case 2:
			c.SetSym(ir.X0+ir.Slot(r.IntN(32)), 0, fresh(64))
		case 3:
			c.SetSym(ir.CCA+ir.Slot(r.IntN(2)), 0, fresh(64))
		case 4:
			c.SetSym(values[r.IntN(len(values))], 0, e.ZExt(fresh(8), 64))
		case 5:
			c.SetSym(values[r.IntN(len(values))], 0, fresh(64))
		}
	}
	return p
}

// model returns random values of all variables, or of one or two different from those of an old model.
func (p *program) model(r *rand.Rand, old expr.Assignment) expr.Assignment {
	m := make(expr.Assignment, p.e.NumVars())
	copy(m, old)
	for v := range m {
		if old == nil || r.IntN(len(m)) == 0 {
			m[v] = cpucheck.Value(r)
			if old != nil && r.IntN(2) == 0 {
				m[v] = old[v] + 1
			}
			m[v] &= expr.Mask(p.e.VarWidth(expr.VarID(v)))
		}
	}
	return m
}

// rebased returns copies of c and s under model.
func rebased(e *expr.Ctx, c cpu.CPU, s *mem.Space, model expr.Assignment) (*cpu.CPU, *mem.Space) {
	s = s.Fork()
	e.NewEval()
	eval := func(r expr.Ref) uint64 { return e.EvalMemo(r, model) }
	c.Rebase(eval)
	s.Rebase(eval)
	return &c, s
}

// memory is a space as the reference interpreter uses it.
type memory struct{ *mem.Space }

func (m memory) ReadMem(addr uint64, p []byte) error  { return m.Read(addr, p) }
func (m memory) WriteMem(addr uint64, p []byte) error { return m.Write(addr, p) }

// result is where a run ended.
type result struct {
	c      *cpu.CPU
	s      *mem.Space
	signal int
	n      uint64 // instructions retired
}

// reference runs the program concretely; nil if it does not end soon in a signal, or calls the kernel.
func (p *program) reference(model expr.Assignment) *result {
	c, s := parts(p.st)
	c, s = rebased(p.e, *c, s, model)
	m := &iref.Machine{R: c.R, Mem: memory{s}}
	signals := map[ir.TrapKind]int{ir.TrapUD: 4, ir.TrapDE: 8, ir.TrapBP: 5, ir.TrapGP: 11}
	for n := uint64(0); n < 2000; {
		blk, err := lift.Lift(c.PC, s.Fetch)
		if err != nil {
			c.R = m.R
			return &result{c, s, 11, n}
		}
		if impure(blk) {
			return nil
		}
		exit := m.Run(blk)
		c.PC = exit.PC
		if exit.Kind == iref.Branch {
			n += uint64(len(blk.Insns))
			continue
		}
		if exit.Kind == iref.Unsup {
			return nil
		}
		c.R = m.R
		for i, in := range blk.Insns { // those before the one that failed
			if blk.PC+uint64(in.Off) == exit.PC {
				n += uint64(i)
			}
		}
		signal := 11
		if exit.Kind == iref.Trap {
			signal = signals[exit.Trap]
		}
		return &result{c, s, signal, n}
	}
	return nil
}

// differs describes how a result differs from the reference. Lazy flags may differ in form; at a fault they may be older.
func (got *result) differs(want *result) string {
	if got.c.PC != want.c.PC || got.signal != want.signal || got.n != want.n {
		return fmt.Sprintf("signal %d at %#x after %d instructions, want signal %d at %#x after %d", got.signal, got.c.PC, got.n, want.signal, want.c.PC, want.n)
	}
	flags := func(r *[ir.NumSlots]uint64) uint64 {
		return ir.Flags(ir.CC(r[ir.CCOp]), r[ir.CCA], r[ir.CCB], r[ir.CCC])
	}
	var code [1]byte
	if want.s.Fetch(want.c.PC, code[:]) == 1 && code[0] == 0xf4 && flags(&got.c.R) != flags(&want.c.R) {
		return fmt.Sprintf("flags %#x, want %#x", flags(&got.c.R), flags(&want.c.R))
	}
	for i, v := range got.c.R[:ir.NumState] {
		if v != want.c.R[i] && (i < int(ir.CCOp) || i > int(ir.CCC)) {
			return fmt.Sprintf("slot %d: %#x, want %#x", i, v, want.c.R[i])
		}
	}
	for _, base := range []uint64{codeBase, dataBase, dataBase + guest.PageSize, stackBase} {
		g, w := make([]byte, guest.PageSize), make([]byte, guest.PageSize)
		if err := errors.Join(got.s.Read(base, g), want.s.Read(base, w)); err != nil {
			return err.Error()
		}
		for i := range g {
			if g[i] != w[i] {
				return fmt.Sprintf("memory %#x: %#x, want %#x", base+uint64(i), g[i], w[i])
			}
		}
	}
	return ""
}

// sound reports the first value of c and s that is not what its expression is worth.
func sound(e *expr.Ctx, c *cpu.CPU, s *mem.Space, model expr.Assignment) (bad string) {
	e.NewEval()
	c.Sym.Each(func(k ir.Slot) {
		if e.Width(c.S[k]) != 64 || e.EvalMemo(c.S[k], model) != c.R[k] {
			bad = fmt.Sprintf("slot %d: %#x beside an expression worth %#x", k, c.R[k], e.EvalMemo(c.S[k], model))
		}
	})
	s.EachSym(func(at uint64, r expr.Ref, v byte) {
		if e.Width(r) != 8 || e.EvalMemo(r, model) != uint64(v) {
			bad = fmt.Sprintf("memory %#x: %#x beside an expression worth %#x", at, v, e.EvalMemo(r, model))
		}
	})
	return bad
}

// satisfies reports whether model satisfies the path condition.
func satisfies(e *expr.Ctx, st *state.State, model expr.Assignment) bool {
	e.NewEval()
	for c := st.Path; c != nil; c = c.Parent {
		if e.EvalMemo(c.R, model) != c.V {
			return false
		}
	}
	return true
}

// end is a finished run of a state.
func end(t *testing.T, m *exec.Machine, st *state.State, start uint64) *result {
	t.Helper()
	c, s := parts(st)
	finish(t, m, st)
	return &result{c, s, st.Sys.ExitStatus().Signal, st.Sys.Retired - start}
}

// TestRandomCode runs random code with symbolic operands. It must end as a concrete run does,
// with every expression worth the value beside it; a state rebased half-way to another model of its path
// must end as a concrete run of that model; so must its expressions, for models of the whole path.
func TestRandomCode(t *testing.T) {
	r := seed.Rand(t)
	var m *exec.Machine
	runs, rebases, alike := 0, 0, 0
	kinds := map[string]int{}
	for n := range 1000 {
		if n%40 == 0 {
			m = exec.New(expr.New())
			m.Processor = ir.V3
		}
		p := newProgram(t, r, m.Ctx)
		model := p.model(r, nil)
		want := p.reference(model)
		if want == nil {
			continue
		}
		runs++
		st := p.st.Fork()
		st.Resume(m.Ctx)
		st.Rebase(m.Ctx, model)
		start := st.Sys.Retired
		c, s := parts(st)
		ended := false
		for range r.IntN(3) { // some decisions, then a fork moves to another model
			switch stop := m.Run(st.Sys, &st.Facts, 1+r.Uint64N(4)); stop.Kind {
			case exec.Decide:
				if bad := sound(m.Ctx, c, s, model); bad != "" {
					t.Fatalf("%sat a %v decision: %s", p.insns, stop.Decision, bad)
				}
				decide(t, m.Ctx, st, stop)
			case exec.Bounds:
				st.Facts.Ranges[stop.Ref] = [2]uint64{0, ^uint64(0)}
			case exec.Exited:
				ended = true
			}
			if ended {
				break
			}
		}
		for range 6 {
			other := p.model(r, model)
			if ended || !satisfies(m.Ctx, st, other) {
				continue
			}
			if want := p.reference(other); want != nil {
				rebases++
				f := st.Fork()
				f.Resume(m.Ctx)
				f.Rebase(m.Ctx, other)
				if bad := end(t, m, f, start).differs(want); bad != "" {
					t.Fatalf("%safter Rebase: %s", p.insns, bad)
				}
			}
		}
		got := &result{c, s, st.Sys.ExitStatus().Signal, st.Sys.Retired - start}
		if !ended {
			got = end(t, m, st, start)
		}
		bad := got.differs(want)
		if bad == "" {
			bad = sound(m.Ctx, got.c, got.s, model)
		}
		if bad != "" {
			t.Fatalf("%s%s", p.insns, bad)
		}
		for _, d := range st.Decisions() {
			kinds[d.Kind]++
		}
		for k := range 6 {
			other := p.model(r, model)
			if k == 0 {
				other = p.model(r, nil)
			}
			if !satisfies(m.Ctx, st, other) {
				continue
			}
			want := p.reference(other)
			if want == nil {
				t.Fatalf("%sdoes not end under another model of the path", p.insns)
			}
			alike++
			c, s := rebased(m.Ctx, *got.c, got.s, other)
			if bad := (&result{c, s, got.signal, got.n}).differs(want); bad != "" {
				t.Fatalf("%sunder another model: %s", p.insns, bad)
			}
		}
	}
	t.Logf("%d runs, %d rebased half-way, %d other models; decisions %v", runs, rebases, alike, kinds)
	if runs < 500 || rebases < 500 || alike < 500 || kinds["branch"]*kinds["address"]*kinds["value"] == 0 {
		t.Error("too few runs could be compared")
	}
}
