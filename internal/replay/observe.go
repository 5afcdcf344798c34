package replay

import (
	"context"
	"fmt"

	"symchef/internal/testcase"
)

// Observe runs target once natively for each row of inputs, one after the other, and returns what it shows: nothing is compared, so no outcome
// needs to be known. An error means that it could not be run.
func Observe(ctx context.Context, target testcase.Target, rows [][]testcase.Input, opt Options) ([]Native, error) {
	opt.Limits = opt.Limits.withDefaults()
	if err := target.Check(); err != nil {
		return nil, err
	}
	mode, err := choose(ctx, opt)
	if err != nil {
		return nil, err
	}
	opt.Mode = mode
	w := newWorker(target, opt, &servers{})
	defer w.close()
	var out []Native
	for i, inputs := range rows {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		t := testcase.Test{ID: fmt.Sprintf("t%06d", i+1), Inputs: inputs}
		n, ok := w.fork(ctx, t, i+1 < len(rows), opt.Limits)
		if !ok {
			if n, err = native(ctx, target, t, opt, false); err != nil {
				return out, err
			}
		}
		out = append(out, n)
	}
	return out, nil
}
