package replay

import (
	"cmp"
	"context"
	"errors"
	"time"

	"symchef/internal/testcase"
)

// Cost is what replay takes: Start once, and Case for each test case. Where each starts anew that is part of Case.
type Cost struct{ Start, Case time.Duration }

// Of is how long n test cases take, one after the other.
func (c Cost) Of(n int) time.Duration { return c.Start + time.Duration(n)*c.Case }

// measuredCase is how long a test case may take to be measured.
const measuredCase = time.Second

// Measure replays t, whatever comes of it, to see how long that takes. The error is as Run's.
func Measure(ctx context.Context, target testcase.Target, t testcase.Test, opt Options) (c Cost, err error) {
	opt.Limits = opt.Limits.withDefaults()
	if target.Kind == testcase.Program {
		opt.GuestLib = ""
	}
	if opt.Mode, err = choose(ctx, opt); err != nil {
		return c, err
	}
	w := newWorker(target, opt, &servers{})
	defer w.close()
	limits := opt.Limits
	limits.Time = min(limits.Time, measuredCase)
	began := time.Now()
	_, served := w.fork(ctx, t, true, limits)
	if served {
		c.Start, began = time.Since(began), time.Now()
		_, served = w.fork(ctx, t, false, limits)
	}
	if !served && ctx.Err() == nil {
		_, err = native(ctx, target, t, opt, false)
	}
	if errors.Is(err, errDied) {
		err = nil
	}
	c.Case = time.Since(began)
	return c, cmp.Or(err, ctx.Err())
}
