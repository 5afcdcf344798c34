package state_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/seed"
	"symchef/internal/state"
)

// codeBase is where boot puts the code, in memory that may be written too.
const codeBase, data = 0x400078, 0x400800

// boot returns a state about to execute code; hlt, which kills it, is behind.
func boot(t *testing.T, code ...byte) *state.State {
	t.Helper()
	elf := make([]byte, 0x1000)
	copy(elf, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(elf[16:], 2)  // ET_EXEC
	le.PutUint16(elf[18:], 62) // EM_X86_64
	le.PutUint64(elf[24:], codeBase)
	le.PutUint64(elf[32:], 64) // program headers
	le.PutUint16(elf[54:], 56)
	le.PutUint16(elf[56:], 1)
	le.PutUint32(elf[64:], 1) // PT_LOAD
	le.PutUint32(elf[68:], 7)
	le.PutUint64(elf[80:], 0x400000)
	le.PutUint64(elf[96:], 0x1000)
	le.PutUint64(elf[104:], 0x1000)
	copy(elf[0x78:], append(code, 0xf4))
	path := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(path, elf, 0o755); err != nil {
		t.Fatal(err)
	}
	sys, err := kernel.Boot(kernel.Config{Path: path, Argv: []string{"prog"}})
	if err != nil {
		t.Fatal(err)
	}
	return state.New(sys)
}

// vars are the variables of the small expressions: three of three bits, so that 512 assignments are all.
func vars(e *expr.Ctx) []expr.Ref {
	return []expr.Ref{e.Var("x", 3), e.Var("y", 3), e.Var("z", 3)}
}

func assignment(n int) expr.Assignment {
	return expr.Assignment{uint64(n & 7), uint64(n >> 3 & 7), uint64(n >> 6 & 7)}
}

// tree returns a random expression of the given width.
func tree(r *rand.Rand, e *expr.Ctx, w uint, depth int) expr.Ref {
	sub := func(w uint) expr.Ref { return tree(r, e, w, depth-1) }
	if depth == 0 || r.IntN(8) == 0 {
		v := vars(e)[r.IntN(3)]
		switch {
		case r.IntN(3) == 0:
			return e.Const(r.Uint64(), w)
		case w <= 3:
			return e.Extract(v, uint(r.IntN(int(4-w))), w)
		}
		return e.ZExt(v, w)
	}
	if w == 1 && r.IntN(2) == 0 {
		k := uint(1 + r.IntN(6))
		return []func(a, b expr.Ref) expr.Ref{e.Eq, e.Ult, e.Slt}[r.IntN(3)](sub(k), sub(k))
	}
	switch r.IntN(9) {
	case 0:
		return e.Not(sub(w))
	case 1:
		return e.Neg(sub(w))
	case 2:
		return e.Ite(sub(1), sub(w), sub(w))
	case 3:
		return e.Ite(sub(1), e.Const(r.Uint64(), w), sub(w))
	case 4:
		if w > 1 {
			k := uint(1 + r.IntN(int(w-1)))
			return e.Concat(sub(w-k), sub(k))
		}
	case 5:
		k := uint(1 + r.IntN(int(w)))
		return []func(expr.Ref, uint) expr.Ref{e.ZExt, e.SExt}[r.IntN(2)](sub(k), w)
	}
	b := sub(w)
	if r.IntN(2) == 0 {
		b = e.Const(r.Uint64(), w)
	}
	return []func(a, b expr.Ref) expr.Ref{e.Add, e.Xor, e.And, e.Or, e.Mul, e.Sub}[r.IntN(6)](sub(w), b)
}

// TestFacts: whatever is fixed has that value under every assignment that satisfies the
// path, by trying all; and a resumed fork knows the same.
func TestFacts(t *testing.T) {
	r := seed.Rand(t)
	base := boot(t)
	learned := 0
	for range 1000 {
		e := expr.New()
		vars(e)
		st := base.Fork()
		st.Resume(e)
		model := assignment(r.IntN(512))
		n := 1 + r.IntN(4)
		for range n {
			x := tree(r, e, []uint{1, 1, 1, 3, 6}[r.IntN(5)], 1+r.IntN(5))
			st.Record(e, exec.Value, 0, x, e.Eval(x, model))
		}
		learned += len(st.Facts.Fixed) - n
		for i := range 512 {
			a := assignment(i)
			holds := true
			for _, c := range st.Conjuncts(e) {
				holds = holds && e.Eval(c, a) == 1
			}
			same := true
			for c := st.Path; c != nil; c = c.Parent {
				same = same && e.Eval(c.R, a) == c.V
			}
			if holds != same {
				t.Fatalf("Conjuncts under %v: %v, the constraints: %v", a, holds, same)
			}
			if !holds {
				continue
			}
			for x, v := range st.Facts.Fixed {
				if got := e.Eval(x, a); got != v {
					t.Fatalf("a %v of %d bits is fixed to %d, but is %d under %v, which satisfies the path", e.Kind(x), e.Width(x), v, got, a)
				}
			}
		}
		f := st.Fork()
		if f.Resume(e); !maps.Equal(f.Facts.Fixed, st.Facts.Fixed) {
			t.Fatalf("resumed: %d facts, want %d", len(f.Facts.Fixed), len(st.Facts.Fixed))
		}
	}
	if learned < 500 {
		t.Errorf("only %d facts beside those recorded", learned)
	}
}

// TestLearn: what structure tells is drawn.
func TestLearn(t *testing.T) {
	e := expr.New()
	x, y, c := e.Var("x", 8), e.Var("y", 8), e.Var("c", 1)
	k := func(v uint64) expr.Ref { return e.Const(v, 8) }
	for _, tc := range []struct {
		name string
		r    expr.Ref
		v    uint64
		want map[expr.Ref]uint64
	}{
		{"equality", e.Eq(x, k(7)), 1, map[expr.Ref]uint64{x: 7}},
		{"not equal", e.Eq(x, k(7)), 0, map[expr.Ref]uint64{}},
		{"negated equality", e.Ne(x, k(7)), 0, map[expr.Ref]uint64{x: 7}},
		{"not", e.Not(x), 0xf0, map[expr.Ref]uint64{x: 0x0f}},
		{"negation", e.Neg(x), 1, map[expr.Ref]uint64{x: 0xff}},
		{"zero extension", e.ZExt(x, 32), 9, map[expr.Ref]uint64{x: 9}},
		{"sign extension", e.SExt(x, 32), 0xffffff85, map[expr.Ref]uint64{x: 0x85}},
		{"concatenation", e.Concat(x, y), 0x1234, map[expr.Ref]uint64{x: 0x12, y: 0x34}},
		{"sum", e.Add(x, k(3)), 1, map[expr.Ref]uint64{x: 0xfe}},
		{"exclusive or", e.Xor(x, k(0xff)), 1, map[expr.Ref]uint64{x: 0xfe}},
		{"conjunction", e.And(c, e.Eq(x, k(1))), 1, map[expr.Ref]uint64{c: 1, x: 1}},
		{"no conjunction", e.And(c, e.Eq(x, k(1))), 0, map[expr.Ref]uint64{}},
		{"no disjunction", e.Or(c, e.Ne(x, k(1))), 0, map[expr.Ref]uint64{c: 0, x: 1}},
		{"the other arm", e.Ite(c, k(1), y), 5, map[expr.Ref]uint64{c: 0, y: 5}},
		{"the first arm", e.Ite(c, x, k(1)), 5, map[expr.Ref]uint64{c: 1, x: 5}},
		{"either arm", e.Ite(c, k(5), y), 5, map[expr.Ref]uint64{}},
	} {
		st := boot(t)
		st.Assume(e, tc.r, tc.v)
		for _, v := range []expr.Ref{x, y, c} {
			got, fixed := st.Facts.Fixed[v]
			if want, should := tc.want[v]; fixed != should || got != want {
				t.Errorf("%s: %s is fixed %v to %#x, want %v, %#x", tc.name, e.VarName(e.VarOf(v)), fixed, got, should, want)
			}
		}
	}
}

// TestLearnBounds: comparisons with constants bound what they compare, as far as all of them together tell, and what is supposed bounds nothing.
func TestLearnBounds(t *testing.T) {
	e := expr.New()
	x := e.Var("x", 8)
	k := func(v uint64) expr.Ref { return e.Const(v, 8) }
	st := boot(t)
	for _, tc := range []struct {
		name   string
		r      expr.Ref
		v      uint64
		lo, hi uint64
	}{
		{"less", e.Ult(x, k(0x80)), 1, 0, 0x7f},
		{"not less", e.Ult(x, k(0x10)), 0, 0x10, 0x7f},
		{"weaker", e.Ult(x, k(0x90)), 1, 0x10, 0x7f},
		{"greater", e.Ult(k(0x20), x), 1, 0x21, 0x7f},
		{"not greater", e.Ult(k(0x70), x), 0, 0x21, 0x70},
		{"at most", e.Ule(x, k(0x60)), 1, 0x21, 0x60},
		{"two", e.And(e.Ult(x, k(0x50)), e.Ule(k(0x30), x)), 1, 0x30, 0x4f},
	} {
		forget := st.Suppose(e, e.Eq(e.Ult(x, k(0x31)), e.Const(1, 1)), 1)
		forget()
		st.Assume(e, tc.r, tc.v)
		if got := st.Facts.Within[x]; got != [2]uint64{tc.lo, tc.hi} {
			t.Errorf("%s: %#x, want %#x to %#x", tc.name, got, tc.lo, tc.hi)
		}
	}
	f := st.Fork()
	f.Resume(e)
	if f.Facts.Within[x] != st.Facts.Within[x] {
		t.Errorf("after a fork %#x", f.Facts.Within[x])
	}
}

// TestLog: a digest tells where decisions were made and of what kind, never what was decided.
func TestLog(t *testing.T) {
	e := expr.New()
	x, y := e.Var("x", 8), e.Var("y", 8)
	type step struct {
		kind exec.DecisionKind
		pc   uint64
		r    expr.Ref
		v    uint64
	}
	run := func(steps ...step) *state.State {
		st := boot(t)
		for _, s := range steps {
			st.Excl = []state.Constraint{{R: x, V: 1}}
			st.Sys.Retired += 7
			st.Record(e, s.kind, s.pc, s.r, s.v)
			if st.Excl != nil {
				t.Error("exclusions outlive the decision")
			}
			if st.Decided != st.Sys.Spent() {
				t.Errorf("decided after %d instructions, not %d", st.Decided, st.Sys.Spent())
			}
		}
		return st
	}
	a := run(step{exec.Branch, 10, x, 1}, step{exec.Address, 20, y, 2})
	if d := a.Decisions(); len(d) != 2 || a.Log.Depth != 2 || a.Path.Depth != 2 || d[0].Kind != "branch" || d[0].PC != 10 || d[0].Value != 1 || d[1].Kind != "address" || d[1].PC != 20 || d[1].Value != 2 {
		t.Errorf("log %+v", d)
	}
	if b := run(step{exec.Branch, 10, y, 3}, step{exec.Address, 20, x, 4}); b.Log.Digest != a.Log.Digest || b.Log.Parent.Digest != a.Log.Parent.Digest {
		t.Error("the digest depends on what was decided")
	}
	seen := map[uint64]string{}
	for _, steps := range [][]step{
		{{exec.Branch, 10, x, 1}},
		{{exec.Branch, 11, x, 1}},
		{{exec.Target, 10, x, 1}},
		{{exec.Branch, 10, x, 1}, {exec.Address, 20, y, 2}},
		{{exec.Address, 20, y, 2}, {exec.Branch, 10, x, 1}},
		{{exec.Branch, 10, x, 1}, {exec.Branch, 20, y, 2}},
		{{exec.Branch, 20, x, 1}, {exec.Address, 10, y, 2}},
		{{exec.Branch, 10, x, 1}, {exec.Address, 20, y, 2}, {exec.Address, 20, x, 2}},
	} {
		d, text := run(steps...).Log.Digest, fmt.Sprint(steps)
		if other, dup := seen[d]; dup {
			t.Errorf("%s and %s have one digest", text, other)
		}
		seen[d] = text
	}
}

// TestForkIsolation: after a fork neither side sees what the other appends, records or writes.
func TestForkIsolation(t *testing.T) {
	for _, order := range []string{"parent first", "child first"} {
		e := expr.New()
		x, y, z := e.Var("x", 8), e.Var("y", 8), e.Var("z", 8)
		a := boot(t)
		a.Model = expr.Assignment{1, 2, 3}
		// Slices with room behind their ends: an append must not write into the other's.
		a.Inputs = append(make([]*state.Input, 0, 8), &state.Input{Index: 1})
		a.Logs = append(make([]state.Text, 0, 8), state.Text{Data: []byte("a")})
		a.Excl = append(make([]state.Constraint, 0, 8), state.Constraint{R: z, V: 9})
		a.Assume(e, e.Eq(x, e.Const(1, 8)), 1)
		b := a.Fork()
		b.Resume(e)
		if !maps.Equal(a.Facts.Fixed, b.Facts.Fixed) {
			t.Fatal("the fork knows something else")
		}
		grow := func(s *state.State, n uint64) {
			s.Inputs = append(s.Inputs, &state.Input{Index: int64(n)})
			s.Logs = append(s.Logs, state.Text{Data: []byte{byte(n)}})
			s.Excl = append(s.Excl, state.Constraint{R: z, V: n})
			s.Excl[0].V = n
			s.Facts.Ranges[z] = [2]uint64{n, n}
			if err := s.Sys.CurrentProcess().Mem.Write(data, []byte{byte(n)}); err != nil {
				t.Fatal(err)
			}
			s.Sys.Current().CPU.Set(ir.RAX, n)
			s.Sys.Retired += n
		}
		sides := []*state.State{a, b}
		if order == "child first" {
			slices.Reverse(sides)
		}
		grow(sides[0], 10)
		grow(sides[1], 20)
		for i, s := range sides {
			n := uint64(10 + 10*i)
			v, _ := s.Sys.CurrentProcess().Mem.ReadU(data, 1)
			if s.Inputs[1].Index != int64(n) || s.Logs[1].Data[0] != byte(n) || s.Excl[1].V != n || s.Excl[0].V != n ||
				s.Facts.Ranges[z][0] != n || v != n || s.Sys.Current().CPU.R[ir.RAX] != n || s.Sys.Retired != n {
				t.Errorf("%s: side %d sees the other's", order, n)
			}
		}
		before := a.Path
		sides[0].Record(e, exec.Branch, 1, y, 10)
		sides[1].Record(e, exec.Target, 2, y, 20)
		for i, s := range sides {
			if s.Log.Depth != 1 || s.Log.Value != uint64(10+10*i) || s.Facts.Fixed[y] != uint64(10+10*i) || s.Path.Parent == nil || s.Path.Depth != 2 {
				t.Errorf("%s: decision %+v", order, s.Log)
			}
		}
		if a.Path.Parent != b.Path.Parent || before == a.Path {
			t.Error("the lists do not share their tail")
		}
	}
}

// TestExclusions: the conditions say that none of the excluded values is taken.
func TestExclusions(t *testing.T) {
	e := expr.New()
	x, c := e.Var("x", 3), e.Var("c", 1)
	st := boot(t)
	st.Excl = []state.Constraint{{R: x, V: 2}, {R: x, V: 7}, {R: c, V: 1}, {R: e.Not(c), V: 0}}
	for n := range 16 {
		a := expr.Assignment{uint64(n & 7), uint64(n >> 3)}
		holds := true
		for _, r := range st.Exclusions(e) {
			holds = holds && e.Eval(r, a) == 1
		}
		if want := n&7 != 2 && n&7 != 7 && n>>3 == 0; holds != want {
			t.Errorf("%v: %v", a, holds)
		}
	}
}

// TestRebase stops a program at every instruction and moves it to every other model: registers,
// memory, output and the rest of the run are those of a run of that model from the start.
func TestRebase(t *testing.T) {
	base := boot(t,
		0x48, 0x01, 0xd8, // add %rbx, %rax
		0x48, 0x89, 0x07, // mov %rax, (%rdi)
		0x0f, 0xb6, 0x4f, 0x08, // movzbl 8(%rdi), %ecx
		0x01, 0xc8, // add %ecx, %eax
		0x88, 0x47, 0x10, // mov %al, 16(%rdi)
		0x48, 0x89, 0xfe, // mov %rdi, %rsi
		0xbf, 1, 0, 0, 0, // mov $1, %edi
		0xba, 24, 0, 0, 0, // mov $24, %edx
		0xb8, 1, 0, 0, 0, // mov $1, %eax
		0x0f, 0x05, // syscall: write
		0x38, 0xdb, // cmp %bl, %bl
		0x80, 0xfb, 100, // cmp $100, %bl
		0x72, 3, // jb over
		0x48, 0xff, 0xc0) // inc %rax
	m := exec.New(expr.New())
	e := m.Ctx
	x, y := e.Var("x", 8), e.Var("y", 8)
	c := &base.Sys.Current().CPU
	c.Set(ir.RAX, 1000)
	c.Set(ir.RDI, data)
	c.SetSym(ir.RBX, 0, e.ZExt(x, 64))
	space := base.Sys.CurrentProcess().Mem
	if err := space.WriteSym(data+8, mem.Bytes{Data: []byte{0}, Sym: []expr.Ref{y}}); err != nil {
		t.Fatal(err)
	}
	models := []expr.Assignment{{0, 0}, {1, 255}, {99, 7}, {100, 8}, {255, 255}}
	fresh := func(model expr.Assignment) *state.State {
		s := base.Fork()
		s.Resume(e)
		s.Rebase(e, model)
		return s
	}
	// run makes n instructions, deciding as the model says; fewer at the program's end.
	run := func(s *state.State, n uint64) (ended bool) {
		for s.Sys.Retired < n {
			switch stop := m.Run(s.Sys, &s.Facts, 1); stop.Kind {
			case exec.Budget:
			case exec.Decide:
				s.Record(e, stop.Decision, stop.PC, stop.Ref, e.Eval(stop.Ref, s.Model))
			case exec.Exited:
				return true
			default:
				t.Fatalf("%+v", stop)
			}
		}
		return false
	}
	look := func(s *state.State, c any, sp *mem.Space) string {
		b, err := sp.ReadSym(data, 24)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %x %x %x", s.Sys.Retired, c, b.Data, s.Sys.Stdout().Data)
	}
	moved := 0
	for n := range uint64(15) {
		for _, from := range models {
			for _, to := range models {
				s := fresh(from)
				if run(s, n) {
					continue
				}
				holds := true
				for _, r := range s.Conjuncts(e) {
					holds = holds && e.Eval(r, to) == 1
				}
				if !holds {
					continue
				}
				moved++
				s = s.Fork()
				s.Resume(e)
				s.Rebase(e, to)
				want := fresh(to)
				run(want, s.Sys.Retired)
				for range 2 { // where it was moved, and at the end
					regs := func(s *state.State) []uint64 { c := &s.Sys.Current().CPU; return append([]uint64{c.PC}, c.R[:16]...) }
					if got, want := look(s, regs(s), s.Sys.CurrentProcess().Mem), look(want, regs(want), want.Sys.CurrentProcess().Mem); got != want {
						t.Fatalf("from %v to %v after %d:\n%s\nwant\n%s", from, to, n, got, want)
					}
					if run(s, 14) || run(want, 14) {
						break
					}
				}
			}
		}
	}
	if moved < 200 {
		t.Errorf("only %d states were moved", moved)
	}
}

// TestText: text is what its expressions are worth.
func TestText(t *testing.T) {
	e := expr.New()
	x := e.Var("x", 8)
	text := state.Text{Data: []byte("a?c"), Sym: []expr.Ref{0, e.Add(x, e.Const(1, 8)), 0}}
	for _, v := range []uint64{'a', 'b', 255} {
		if got, want := text.Eval(e, expr.Assignment{v}), "a"+string([]byte{byte(v + 1)})+"c"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if string(text.Data) != "a?c" {
		t.Error("Eval changed the text")
	}
}

// TestPatience: a branch whose ways cannot be merged is tried less and less often on a path, until they can.
func TestPatience(t *testing.T) {
	e := expr.New()
	st := boot(t)
	n := 0
	comes := func(st *state.State, merges bool) (tried bool) { // the branch at 10 comes once, and is decided
		n++
		if tried = st.MayMerge(10); tried {
			st.Merged(10, merges)
		}
		for range 2 {
			if st.MayMerge(10) != merges {
				t.Error("one branch is tried twice")
			}
		}
		st.Record(e, exec.Branch, 10, e.Var(fmt.Sprint("x", n), 1), 1)
		return tried
	}
	tries := ""
	for range 20 {
		if comes(st, false) {
			tries += fmt.Sprint(n, " ")
		}
	}
	if want := "1 3 7 15 "; tries != want {
		t.Errorf("tried the times %s, want %s", tries, want)
	}
	if !st.MayMerge(11) {
		t.Error("another branch is left out")
	}
	fork := st.Fork()
	fork.Resume(e)
	for !comes(st, false) {
	}
	m := n
	n = 20
	for !comes(fork, false) {
	}
	if n != m {
		t.Errorf("a fork tries at %d, the state at %d", n, m)
	}
	for !st.MayMerge(10) {
		st.Record(e, exec.Branch, 12, e.Var(fmt.Sprint("y", n), 1), 1)
		n++
	}
	st.Merged(10, true)
	for range 2 {
		if !comes(st, true) {
			t.Error("left out though it has been merged")
		}
	}
}
