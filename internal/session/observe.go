package session

import (
	"slices"
	"strconv"

	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// streams are what a path has written to its standard output and standard error.
type streams struct {
	stdout, stderr []byte
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
	return func(c byte) bool { return set[c] }
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
		addText(c, part, t)
		return t.Eval(w.ctx, s.Model)
	}
	stdout, stderr := state.Text(s.Sys.Stdout()), state.Text(s.Sys.Stderr())
	switch {
	case s.Report.Kind != "":
		addText(c, testcase.PartMessage, s.Report.Msg)
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
		o.Returned = testcase.Value(r.Eval(w.ctx, s.Model)).Sorted()
		addText(c, testcase.PartReturned, sortedSets(*r))
	}
	o.SetFiles(w.files(s, c), false)
	out.fine = c.Fine()
	return o, c.Digest(), out
}

// frames are the user's frames where the path ended badly: as the guest tells them, or those of what was killed by a signal.
func (w *worker) frames(s *state.State, e explore.End) testcase.Strings {
	switch {
	case e.Kind != explore.Finished || e.Status.Signal == 0:
		return testcase.PlainFrames(s.Report.Frames)
	case w.r.t.desc == nil:
		if w.modules == nil {
			w.modules = modules{}
		}
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

// addText adds t to part of a class.
func addText(c *testcase.Class, part testcase.Part, t state.Text) {
	c.AddBytes(part, t.Data, func(i int) bool { return t.Sym != nil && t.Sym[i] != expr.Ref(0) })
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
