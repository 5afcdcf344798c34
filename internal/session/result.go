package session

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"symchef/internal/device"
	"symchef/internal/emit"
	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// outcomeOf says how the path of s ended.
func outcomeOf(ctx *expr.Ctx, kind testcase.TargetKind, s *state.State, e explore.End) testcase.Outcome {
	switch {
	case e.Kind == explore.Unsupported:
		return testcase.Outcome{Kind: testcase.Unsupported, Message: e.What}
	case e.Kind == explore.Hang:
		return testcase.Outcome{Kind: testcase.Hang, Message: e.What}
	}
	stderr := s.Sys.Stderr().Data
	sig := ""
	if e.Status.Signal != 0 {
		sig = guest.SignalName(e.Status.Signal)
	}
	if s.Report.Kind != "" {
		o := testcase.Outcome{Kind: testcase.OK}
		if s.Report.Kind != device.OutcomeOK {
			o = testcase.Outcome{Kind: testcase.Kind(s.Report.Kind), Type: s.Report.Type, Message: s.Report.Msg.Eval(ctx, s.Model)}
		}
		return o.Then(e.Status.Code, sig)
	}
	if kind != testcase.Program && sig == "" {
		return testcase.Outcome{Kind: testcase.Exit, ExitStatus: e.Status.Code, Message: lastLine(stderr)}
	}
	return testcase.ProgramOutcome(e.Status.Code, sig, stderr)
}

func lastLine(p []byte) string {
	lines := strings.Split(strings.TrimSpace(string(p)), "\n")
	return lines[len(lines)-1]
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// inputsOf evaluates the inputs of s, of a test of the language kind, under its model.
func inputsOf(ctx *expr.Ctx, kind testcase.TargetKind, s *state.State) []testcase.Input {
	ctx.NewEval()
	val := func(r expr.Ref) uint64 { return ctx.EvalMemo(r, s.Model) }
	var out []testcase.Input
	for _, in := range s.Inputs {
		b := make([]byte, len(in.Bytes))
		for i, r := range in.Bytes {
			b[i] = byte(val(r))
		}
		name := in.Decl.Name
		switch in.Decl.Kind {
		case device.KindStr:
			out = append(out, testcase.Str(name, string(b)))
		case device.KindBytes:
			out = append(out, testcase.Bytes(name, b))
		case device.KindInt:
			out = append(out, testcase.Int(name, int64(val(in.Value))))
		case device.KindFloat:
			out = append(out, testcase.Float(name, math.Float64frombits(val(in.Value))))
		case device.KindBool:
			out = append(out, testcase.Bool(name, val(in.Value) != 0))
		case device.KindChoice:
			chosen := testcase.Choice(name, int(in.Index))
			if in.Chosen != nil {
				chosen.Chosen = testcase.Value(in.Chosen.Eval(ctx, s.Model)).Sorted().Short()
				chosen.Label = emit.Shown(kind, chosen.Chosen)
				if !emit.ShowsAll(kind, chosen.Chosen) {
					_, most := in.Decl.Range()
					chosen.Label += fmt.Sprintf(" (option %d of %d)", in.Index+1, most+1)
				}
			}
			out = append(out, chosen)
		}
	}
	for _, sh := range slices.Backward(s.Shapes) { // the numbers of those before stay
		shape := testcase.Shape(sh.Name, slices.Clone(out[sh.First:sh.End]), piecesOf(sh.Code))
		shape.Label = emit.ShownShape(kind, shape)
		out = slices.Replace(out, sh.First, sh.End, shape)
	}
	return out
}

// piecesOf is the code of a shape as a test case has it.
func piecesOf(code []device.Piece) (out []testcase.Piece) {
	for _, p := range code {
		switch p.Kind {
		case device.PieceInput:
			out = append(out, testcase.Piece{Part: &p.Part})
		case device.PieceName:
			name := testcase.Name{Path: p.Text}
			if module, path, found := strings.Cut(p.Text, ":"); found {
				name = testcase.Name{Path: path, Module: module}
			}
			out = append(out, testcase.Piece{Name: &name})
		default:
			out = append(out, testcase.Piece{Text: p.Text})
		}
	}
	return out
}

// Words shows values in the words of the language kind.
func Words(kind testcase.TargetKind) func(testcase.Value) string {
	return func(v testcase.Value) string { return emit.Shown(kind, v) }
}

// programInputs evaluates symbolic standard input and arguments.
func programInputs(ctx *expr.Ctx, s *state.State, o *Options, own int) []testcase.Input {
	ctx.NewEval()
	read := func(name string, n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(ctx.EvalMemo(ctx.Var(fmt.Sprintf("%s[%d]", name, i), 8), s.Model))
		}
		return b
	}
	var out []testcase.Input
	for i := 0; i < o.ArgvCount; i++ {
		out = append(out, testcase.Argv(own+i, read(fmt.Sprintf("argv%d", own+i), o.ArgvLen)))
	}
	for _, v := range o.Env {
		out = append(out, testcase.Env(v.Name, read(explore.NamedInput(testcase.TypeEnv, v.Name), v.Len)))
	}
	for _, f := range o.Files {
		out = append(out, testcase.File(f.Name, read(explore.NamedInput(testcase.TypeFile, f.Name), f.Len)))
	}
	if o.StdinLen >= 0 {
		out = append(out, testcase.Stdin(read("stdin", o.StdinLen)))
	}
	return out
}

// vacuous says why an exploration that came to its end says nothing about the
// test, or is empty. A finding always says something.
func (r *run) vacuous() string {
	switch {
	case r.workers[0].x.Usage != "":
		return r.workers[0].x.Usage
	case !r.hadBegin && r.why == limitTime && len(r.tests) == 0:
		return "importing and setting up the test took longer than " + brief(r.o.Time) + startTookLonger
	case !r.hadBegin && r.why == limitOfMemory:
		return fmt.Sprintf("--max-memory %dM is too little: it was used up before the test began", r.o.MaxMemory>>20)
	case !r.sum.Exhausted:
	case len(r.tests) == 0 && r.sum.Paths.Pruned > 0:
		return fmt.Sprintf("%s: no input satisfies the test's assumptions (all %d paths were pruned)", r.t.name, r.sum.Paths.Pruned)
	}
	return ""
}

// startTookLonger is how vacuous ends where all of --time was over before the test began.
const startTookLonger = " (--time)"

// brief is d as people want to read it: a share of --time has many digits.
func brief(d time.Duration) string {
	if d > time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}

// status is the exit status of a run that could do its work.
func (r *run) status(c context.Context) int {
	switch {
	case c.Err() != nil:
		return StatusCtrlC
	case r.sum.Replay.Diverged > 0:
		return StatusDiverged
	case r.sum.Failing() > 0:
		return StatusFailing
	case r.sum.Tests.Unsupported > 0 && r.sum.Tests.Total() == r.sum.Tests.Unsupported:
		return StatusEngine
	}
	return StatusOK
}
