package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/rundir"
	"symchef/internal/solver"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// A Window shows what a room of the engine holds at the end of a path.
type Window struct {
	Name, Short string
	Blocks      bool // it shows blocks, of which some can be chosen
	show        func(v *sight) error
}

// Windows are all of them.
var Windows = []Window{
	{"blocks", "the blocks of machine code that the path has executed: address, place, instructions, micro-ops, bytes of the host's code", true, (*sight).blocks},
	{"ir", "the micro-ops of these blocks", true, (*sight).ir},
	{"code", "the machine code of the host for those that were hot, in hexadecimal", true, (*sight).code},
	{"expr", "the path condition as expressions", false, (*sight).exprs},
	{"solver", "the query at each condition of the path: whether inputs could have gone another way, and which part of the solver says so", false, (*sight).solver},
	{"tree", "the decisions of the path, each with its place, value and instruction of the interpreted program", false, (*sight).tree},
	{"state", "inputs, processes, tasks, registers, memory, descriptors, symbolic bytes", false, (*sight).state},
}

// sight is what windows look at.
type sight struct {
	out io.Writer
	w   *worker
	s   *state.State
	at  string // only blocks whose place contains this
	t   testcase.Test
}

// Debug executes a test case of a run directory again (id empty: its first) and writes what the window of that name shows. at chooses blocks, by a part of
// their place or address.
func Debug(c context.Context, window, dir, id, at string, stdout io.Writer) error {
	i := slices.IndexFunc(Windows, func(w Window) bool { return w.Name == window })
	if i < 0 {
		return fmt.Errorf("no window is called %s", window)
	}
	d, err := rundir.Open(dir)
	if err != nil {
		return err
	}
	t, err := oneOf(d, id)
	if err != nil {
		return err
	}
	seen, err := pictureOf(d)
	if err != nil {
		return err
	}
	var shown error
	why, err := again{sum: d.Summary, seed: d.Summary.Seed, seen: seen, high: d.Summary.Target.Kind != testcase.Program, onEnd: func(w *worker, s *state.State) {
		shown = Windows[i].show(&sight{stdout, w, s, at, t})
	}}.rerun(c, t)
	if err == nil && why != "" {
		err = fmt.Errorf("%s cannot be executed again: %s", t.ID, why)
	}
	return errors.Join(shown, err)
}

// oneOf is the test case of that name, or the first.
func oneOf(d *rundir.Reader, id string) (testcase.Test, error) {
	if id != "" {
		return d.Test(id)
	}
	tests, _, err := d.Outlines()
	if err == nil && len(tests) == 0 {
		err = errors.New("there is no test case")
	}
	if err != nil {
		return testcase.Test{}, err
	}
	return d.Test(tests[0].ID)
}

// place is the address of code, and what it is in: FILE+OFFSET, or FILE:SYMBOL+OFFSET where that is known.
func (v *sight) place(pc uint64) string {
	text := fmt.Sprintf("%#x", pc)
	if p := v.s.Sys.CurrentProcess(); p != nil && p.Mem != nil {
		if m, bias := v.w.modules.of(p.Mem.Find(pc)); m != nil {
			text += " " + m.String(m.symbol(pc-bias))
		}
	}
	return text
}

// each calls f for every block that was asked for.
func (v *sight) each(f func(exec.Executed, string)) error {
	n := 0
	for _, b := range v.w.m.Executed() {
		if at := v.place(b.Block.PC); strings.Contains(at, v.at) {
			f(b, at)
			n++
		}
	}
	if n == 0 {
		return fmt.Errorf("no block at %s", v.at)
	}
	return nil
}

func (v *sight) blocks() error {
	return v.each(func(b exec.Executed, at string) {
		fmt.Fprintf(v.out, "%s: %d bytes, %d instructions, %d micro-ops, %d bytes of host code\n", at, len(b.Code), len(b.Block.Insns), len(b.Block.Uops), len(b.Host))
	})
}

func (v *sight) ir() error {
	return v.each(func(b exec.Executed, at string) { fmt.Fprintf(v.out, "block %s\n%s\n", at, b.Block) })
}

func (v *sight) code() error {
	return v.each(func(b exec.Executed, at string) {
		if b.Host != nil {
			fmt.Fprintf(v.out, "block %s\n  guest % x\n  host  % x\n", at, b.Code, b.Host)
		}
	})
}

func (v *sight) exprs() error {
	_, err := io.WriteString(v.out, v.w.ctx.Text(v.s.Conjuncts(v.w.ctx)))
	return err
}

// solver asks about each condition, as the explorer does when it looks for another way there.
func (v *sight) solver() error {
	ctx := v.w.ctx
	path := v.s.Conjuncts(ctx)
	chain := solver.New(ctx, solver.Options{})
	for i, r := range path {
		before := chain.Stats()
		q := append(slices.Clone(path[:i]), ctx.Not(r))
		res, m := chain.Check(solver.Query{Conjuncts: q, Hint: v.s.Model, New: 1})
		fmt.Fprintf(v.out, "%d: %d nodes, other way %s, by %s%s\n", i, ctx.Nodes([]expr.Ref{r}), res, chain.Stats().By(before), v.example(m, res))
	}
	return nil
}

// example is which variables another way would have to change.
func (v *sight) example(m expr.Assignment, res solver.Result) string {
	if res != solver.Sat {
		return ""
	}
	var b strings.Builder
	for id := range v.w.ctx.NumVars() {
		if now, was := m.Get(expr.VarID(id)), v.s.Model.Get(expr.VarID(id)); now != was {
			fmt.Fprintf(&b, " %s=%#x", v.w.ctx.VarName(expr.VarID(id)), now)
		}
	}
	return " with" + b.String()
}

func (v *sight) tree() error {
	var sources []string
	if v.w.high != nil {
		sources = v.s.Log.Sources(v.w.high.Source)
	}
	for i, d := range v.s.Decisions() {
		fmt.Fprintf(v.out, "%d: %s at %s = %#x", i, d.Kind, v.place(uint64(d.PC)), uint64(d.Value))
		if sources != nil {
			fmt.Fprintf(v.out, ", %s", sources[i])
		}
		fmt.Fprintln(v.out)
	}
	fmt.Fprintf(v.out, "end: %v\n", v.t.Outcome)
	return nil
}

func (v *sight) state() error {
	fmt.Fprintf(v.out, "inputs: %s\n", ShowInputs(v.w.r.t.tc.Kind, v.t.Inputs))
	if c := v.s.Sys.Current(); c != nil {
		for s := range ir.Slot(ir.NumState) {
			text := fmt.Sprintf("register %s = %#x", ir.SlotName(s), c.CPU.R[s])
			if r := c.CPU.S[s]; c.CPU.Sym.Has(s) {
				text += fmt.Sprintf(", symbolic, %d nodes", v.w.ctx.Nodes([]expr.Ref{r}))
			} else if c.CPU.R[s] == 0 {
				continue
			}
			fmt.Fprintln(v.out, text)
		}
	}
	v.s.Sys.Describe(v.out)
	if p := v.s.Sys.CurrentProcess(); p != nil && p.Mem != nil {
		from, n := uint64(0), uint64(0)
		flush := func() {
			if n > 0 {
				fmt.Fprintf(v.out, "symbolic %#x: %d bytes\n", from, n)
			}
		}
		p.Mem.EachSym(func(addr uint64, _ expr.Ref, _ byte) {
			if n > 0 && addr == from+n {
				n++
				return
			}
			flush()
			from, n = addr, 1
		})
		flush()
	}
	return nil
}
