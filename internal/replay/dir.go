package replay

import (
	"context"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// Dir replays the test cases of the run directory dir, or only the one named
// id if that is not empty. Replaying them all records the verdicts in
// the run directory.
func Dir(ctx context.Context, dir, id string, opt Options) (Report, error) {
	r, err := rundir.Open(dir)
	if err != nil {
		return Report{}, err
	}
	var tests []testcase.Test
	if id == "" {
		tests, _, err = r.Outlines() // a torn last line is no test yet
	} else {
		var t testcase.Test
		t, err = r.Test(id)
		tests = []testcase.Test{t}
	}
	if err != nil {
		return Report{}, err
	}
	rep, err := Run(ctx, r.Summary.Target, tests, opt)
	if err == nil && id == "" {
		counts, verdicts := rep.Record()
		err = r.SetReplay(counts, verdicts)
	}
	return rep, err
}
