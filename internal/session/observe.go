package session

import (
	"slices"
	"strconv"

	"symchef/internal/exec"
	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/solver"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// streams are what a path has written to its standard output and standard error, and the beginnings of files that it made or changed, by their digest.
type streams struct {
	stdout, stderr []byte
	files          map[string][]byte
	fine           string // what the path is of, see testcase.Class.Fine
}

// fixedBytes are the values that bytes of the input have for sure on the path of s.
func (w *worker) fixedBytes(s *state.State) func(c byte) bool {
	var set [256]bool
	for r, v := range s.Facts.Fixed {
		if w.ctx.Kind(r) == expr.Var && w.ctx.Width(r) == 8 {
			set[byte(v)] = true
		}
	}
	asked := map[byte]bool{}
	return func(c byte) bool {
		if set[c] {
			return true
		}
		fixed, known := asked[c]
		if !known {
			fixed = w.forced(s, c)
			asked[c] = fixed
		}
		return fixed
	}
}

// mostForced bounds how many bytes forced asks about.
const mostForced = 32

// forced reports whether a byte of the inputs that is c cannot be another one on the path of s. That it is asked for means that an escape of c
// stands in what was written, so where no other value is found, for lack of time, too, it is.
func (w *worker) forced(s *state.State, c byte) bool {
	asked := 0
	for _, in := range s.Inputs {
		for _, r := range in.Bytes {
			if w.ctx.Kind(r) != expr.Var || byte(w.ctx.Eval(r, s.Model)) != c {
				continue
			}
			if asked++; asked > mostForced {
				return false
			}
			other := w.ctx.Not(w.ctx.Eq(r, w.ctx.Const(uint64(c), 8)))
			if res, _ := w.chain.Check(solver.Query{Conjuncts: append(s.Conjuncts(w.ctx), other), Hint: s.Model, New: 1}); res != solver.Sat {
				return true
			}
		}
	}
	return false
}

// observed is what a user can see of a path that has ended, the class that this is of, and all that was written.
func (w *worker) observed(s *state.State, e explore.End) (o testcase.Observation, class string, out streams) {
	o.Outcome, o.Frames = outcomeOf(w.ctx, w.r.t.tc.Kind, s, e), w.frames(s, e)
	c := testcase.NewClass(w.r.o.parts())
	c.Fixed = w.fixedBytes(s)
	c.Add(testcase.PartOutcome, string(o.Outcome.Kind), o.Outcome.Type, o.Outcome.Signal, strconv.Itoa(o.Outcome.ExitStatus))
	if n := len(o.Frames); n > 0 {
		c.Add(testcase.PartOutcome, o.Frames[n-1])
	}
	text := func(part testcase.Part, t state.Text) string {
		w.addText(c, s, part, t)
		return t.Eval(w.ctx, s.Model)
	}
	stdout, stderr := state.Text(s.Sys.Stdout()), state.Text(s.Sys.Stderr())
	switch {
	case s.Report.Kind != "":
		w.addText(c, s, testcase.PartMessage, s.Report.Msg)
	case e.Kind == explore.Finished && stderr.Concrete(): // else it is not known which part of the message is symbolic
		c.Add(testcase.PartMessage, o.Outcome.Message)
	}
	out.stdout = []byte(text(testcase.PartStdout, stdout))
	o.OutputSHA256, o.OutputBytes = testcase.OutputDigest(out.stdout), int64(len(out.stdout))
	out.stderr = []byte(text(testcase.PartStderr, stderr))
	var digest testcase.StderrDigest
	digest.Write(out.stderr)
	o.StderrSHA256, o.StderrBytes = digest.Sum()
	if r := s.Report.Returned; r != nil {
		o.Returned = testcase.Value(r.Eval(w.ctx, s.Model)).Sorted().Short()
		w.addText(c, s, testcase.PartReturned, sortedSets(*r))
	}
	out.files = map[string][]byte{}
	o.SetFiles(w.files(s, c, out.files), false)
	out.fine = c.Fine()
	return o, c.Digest(), out
}

// frames are the user's frames where the path ended badly: as the guest tells them, or those of what was killed by a signal.
func (w *worker) frames(s *state.State, e explore.End) testcase.Strings {
	switch {
	case e.Kind != explore.Finished || e.Status.Signal == 0:
		return testcase.PlainFrames(s.Report.Frames)
	case w.r.t.desc == nil:
		p := s.Sys.CurrentProcess()
		if p.Mem == nil {
			return nil
		}
		return w.modules.backtrace(p.Mem, &s.Sys.Current().CPU, p.Exe)
	case w.high != nil:
		if at := w.high.Source(s.High.Last()); at != "" {
			return testcase.Strings{sourcePlace(at)}
		}
	}
	return nil
}

// onDecision learns what library is at pc, where s decides; an address is named once.
func (w *worker) onDecision(s *state.State, pc uint64) {
	if _, known := w.symbols[pc]; known {
		return
	}
	name := ""
	if mem := s.Sys.CurrentProcess().Mem; mem != nil {
		if a := mem.Find(pc); a != nil && a.Name != w.r.t.tc.Path {
			if p, bias := w.modules.of(a); p != nil {
				name = p.location(pc - bias).Source
			}
		}
	}
	w.symbols[pc] = name
}

// addText adds t to part of the class of s.
func (w *worker) addText(c *testcase.Class, s *state.State, part testcase.Part, t state.Text) {
	t = w.unvarying(s, settled(w.ctx, &s.Facts, t))
	c.AddBytes(part, t.Data, symbolicIn(t))
}

// symbolicIn says which bytes of t are symbolic.
func symbolicIn(t state.Text) func(i int) bool {
	return func(i int) bool { return t.Sym != nil && t.Sym[i] != expr.Ref(0) }
}

// settled is t without the expressions of bytes that conditions decide which the path has decided: constants that these choose, and what is computed of
// such. Code without a branch chooses so, or a model; another branch has decided later. These are no bytes of the input, and a user sees which they are.
func settled(ctx *expr.Ctx, facts *exec.Facts, t state.Text) state.Text {
	own, c := false, choices{ctx, facts, [2]map[expr.Ref]choice{{}, {}}}
	for i, r := range t.Sym {
		if r == 0 {
			continue
		}
		v := c.of(r, false)
		if !v.known {
			continue
		}
		if !own {
			t, own = state.Text{Data: slices.Clone(t.Data), Sym: slices.Clone(t.Sym)}, true
		}
		t.Data[i], t.Sym[i] = byte(v.value), 0
	}
	return t
}

// choices are what decided conditions make of expressions.
type choices struct {
	ctx   *expr.Ctx
	facts *exec.Facts
	found [2]map[expr.Ref]choice // within conditions, else
}

type choice struct {
	value uint64
	known bool
}

// of is the constant that r is where decided conditions choose all that it is computed of. A byte of the input that the path fixes decides conditions; by
// itself it is none, which inside is false for.
func (c *choices) of(r expr.Ref, inside bool) (v choice) {
	if v, constant := c.ctx.IsConst(r); constant {
		return choice{v, true}
	}
	kind := c.ctx.Kind(r)
	inside = inside || c.ctx.Width(r) == 1 && kind != expr.Extract
	found := c.found[0]
	if !inside {
		found = c.found[1]
	}
	if v, done := found[r]; done {
		return v
	}
	defer func() { found[r] = v }()
	if way, decided := c.facts.Fixed[r]; decided && inside {
		return choice{way, true}
	}
	if kind == expr.Ite {
		switch way := c.of(c.ctx.A(r), true); {
		case !way.known:
			return choice{}
		case way.value != 0:
			return c.of(c.ctx.B(r), inside)
		}
		return c.of(c.ctx.C(r), inside)
	}
	operands := []expr.Ref{c.ctx.A(r), c.ctx.B(r), c.ctx.C(r)}[:kind.Arity()]
	var values [3]uint64
	for i, x := range operands {
		v := c.of(x, inside)
		if !v.known {
			return choice{}
		}
		values[i] = v.value
	}
	if len(operands) == 0 { // a variable
		return choice{}
	}
	return choice{c.ctx.Apply(r, values[0], values[1], values[2]), true}
}

// sortedSets is t, the tokens of a value, with the elements of its sets in an order that is the same for all values of symbolic bytes.
func sortedSets(t state.Text) state.Text {
	known := slices.Clone(t.Data)
	for i, r := range t.Sym {
		if r != 0 {
			known[i] = 0
		}
	}
	order := testcase.SetOrder(string(known))
	if order == nil {
		return t
	}
	out := state.Text{Data: make([]byte, len(order))}
	if t.Sym != nil {
		out.Sym = make([]expr.Ref, len(order))
	}
	for i, from := range order {
		out.Data[i] = t.Data[from]
		if t.Sym != nil {
			out.Sym[i] = t.Sym[from]
		}
	}
	return out
}

// parts are those that classes of behaviour are told by.
func (o *Options) parts() []testcase.Part {
	if o.Class == nil {
		return testcase.Parts
	}
	return o.Class
}
