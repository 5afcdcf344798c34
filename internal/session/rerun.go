package session

import (
	"context"
	"fmt"
	"io"

	"symchef/internal/explore"
	"symchef/internal/rundir"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// Rerun executes the test cases of a run directory again in the machine, each from
// its decision log, and compares path, outcome and output: what a run found does not
// depend on the process that found it. An empty id means all.
func Rerun(c context.Context, dir, id string, stdout, stderr io.Writer) int {
	agreed, strayed, err := rerunAll(c, dir, id, stdout)
	switch {
	case err != nil && c.Err() != nil:
		return StatusCtrlC
	case err != nil:
		fmt.Fprintf(stderr, "symchef: %s: %v\n", dir, err)
		return StatusUsage
	}
	fmt.Fprintf(stdout, "re-executed: %d agreed, %d strayed\n", agreed, strayed)
	if strayed > 0 {
		return StatusEngine
	}
	return StatusOK
}

func rerunAll(c context.Context, dir, id string, stdout io.Writer) (agreed, strayed int, err error) {
	d, err := rundir.Open(dir)
	if err != nil {
		return 0, 0, err
	}
	tests, _, err := d.Tests()
	if id != "" {
		var one testcase.Test
		one, err = d.Test(id)
		tests = []testcase.Test{one}
	}
	if err != nil {
		return 0, 0, err
	}
	for _, t := range tests {
		why, err := rerun(c, d.Summary, t)
		switch {
		case err != nil:
			return agreed, strayed, err
		case why != "":
			strayed++
			fmt.Fprintf(stdout, "%s strayed: %s\n", t.ID, why)
		default:
			agreed++
		}
	}
	return agreed, strayed, nil
}

// rerun executes one test case from the start of its process; why says how it differs.
func rerun(c context.Context, sum rundir.Summary, want testcase.Test) (why string, err error) {
	o := &Options{Seed: sum.Seed, StdinLen: -1, MaxMemory: DefaultMemory}
	t, err := recorded(sum)
	if err != nil {
		return "", err
	}
	for _, in := range want.Inputs {
		switch in.Type {
		case testcase.TypeStdin:
			o.StdinLen = len(in.BytesHex) / 2
		case testcase.TypeArgv:
			o.ArgvCount, o.ArgvLen = o.ArgvCount+1, len(in.BytesHex)/2
		case testcase.TypeFile:
			o.Files = append(o.Files, Named{in.Name, len(in.BytesHex) / 2})
		case testcase.TypeEnv:
			o.Env = append(o.Env, Named{in.Name, len(in.BytesHex) / 2})
		}
	}
	r := newRun(o, t)
	r.help = func() {}
	if t.tc.Merge { // what is merged has no high-level step
		r.prog = newProgress("none", io.Discard)
		r.findHigh()
	}
	defer r.settle()
	w := r.newWorker()
	root, err := w.boot(c)
	if err != nil {
		return "", err
	}
	model, err := explore.ModelOf(w.ctx, want.Inputs)
	if err != nil {
		return "", err
	}
	var got testcase.Test
	ended := false
	cfg := explore.Config{Strategy: "dfs", Merge: t.tc.Merge, OnBegin: w.onBegin, OnPath: func(s *state.State, e explore.End) func() {
		got, _ = w.testOf(s, e)
		return func() { ended = true }
	}}
	if t.desc != nil {
		cfg.Layouts = t.desc.Layouts
	}
	if w.x, err = explore.New(w.ctx, w.m, w.chain, cfg); err != nil {
		return "", err
	}
	trail := &explore.Trail{Decisions: want.Decisions, Model: model, Open: want.EndedBy != ""}
	if err := w.x.Follow(c, root, trail); err != nil {
		if c.Err() != nil {
			return "", err
		}
		return err.Error(), nil
	}
	switch {
	case trail.Open:
	case !ended:
		return "the path was pruned", nil
	case got.PathID != want.PathID:
		return fmt.Sprintf("path %s, recorded %s", got.PathID, want.PathID), nil
	case !got.Outcome.Same(want.Outcome):
		return fmt.Sprintf("outcome %v, recorded %v", got.Outcome, want.Outcome), nil
	case got.OutputSHA256 != want.OutputSHA256:
		return "another output", nil
	}
	return "", nil
}
