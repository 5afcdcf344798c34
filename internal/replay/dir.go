package replay

import (
	"context"
	"errors"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// Dir replays tests, of the run directory that r reads. The verdicts are recorded by w, which may be nil, those until ctx ended, too.
func Dir(ctx context.Context, r *rundir.Reader, w *rundir.Writer, tests []testcase.Test, opt Options) (Report, error) {
	rep, err := Run(ctx, r.Summary.Target, tests, opt)
	if err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = errors.Join(err, Keep(r, w, &rep, opt.Settle))
	}
	return rep, err
}

// Keep records rep, of the run directory that r reads, by w, which may be nil. What did not come to its end is kept only where no more was known.
func Keep(r *rundir.Reader, w *rundir.Writer, rep *Report, settle func(*rundir.Summary, *Report)) error {
	s := r.Summary
	if w == nil || rep.NotReplayed > 0 && rep.NotReplayed > s.Replay.NotReplayed {
		return nil
	}
	counts, verdicts := rep.Record()
	if settle != nil {
		settle(&s, rep)
	}
	return w.SetReplay(s, counts, verdicts)
}
