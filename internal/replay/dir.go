package replay

import (
	"context"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// Dir replays tests, of the run directory that r reads. The verdicts are recorded by w, which may be nil.
func Dir(ctx context.Context, r *rundir.Reader, w *rundir.Writer, tests []testcase.Test, opt Options) (Report, error) {
	rep, err := Run(ctx, r.Summary.Target, tests, opt)
	if err == nil && w != nil {
		counts, verdicts := rep.Record()
		s := r.Summary
		if opt.Settle != nil {
			opt.Settle(&s, &rep)
		}
		err = w.SetReplay(s, counts, verdicts)
	}
	return rep, err
}
