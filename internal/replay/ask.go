package replay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"symchef/internal/testcase"
)

// A Question is a program that is run once for what it prints: an interpreter is asked what it is. Nobody vouches for it, a test names it, so it is confined.
type Question struct {
	Argv, Env []string
	Cwd       string
	Stdin     []byte
	Time      time.Duration
}

// Ask runs it and returns its standard output, of which it may make 64 KiB. errors.Is(err, ErrNoConfinement): it has not run.
func Ask(ctx context.Context, q Question) ([]byte, error) {
	opt := Options{Limits: Limits{Time: q.Time, Memory: 2 << 30, Disk: 32 << 20, Processes: 64, Output: keep}.withDefaults()}
	mode, err := choose(ctx, opt)
	if err != nil {
		return nil, err
	}
	opt.Mode = mode
	sp := specOf(testcase.Target{Kind: testcase.Program, Path: q.Argv[0], Argv: q.Argv, Env: q.Env, Cwd: q.Cwd}, opt)
	bounded, end := context.WithCancel(ctx)
	defer end()
	stdout, stderr := capture{most: keep, over: end}, capture{most: keep, over: end}
	var stdin io.Reader
	if q.Stdin != nil {
		stdin = bytes.NewReader(q.Stdin)
	}
	e, err := launch(bounded, sp, stdin, &stdout, &stderr)
	switch {
	case ctx.Err() == nil && (stdout.full() || stderr.full()):
		err = fmt.Errorf("it prints more than %d KiB", keep>>10)
	case err != nil:
	case e.TimedOut:
		err = fmt.Errorf("it does not end within %v", q.Time)
	case e.Exceeded != "":
		err = fmt.Errorf("it takes more than %s", e.Exceeded)
	case e.Signal != 0:
		err = fmt.Errorf("signal %d killed it", e.Signal)
	case e.Status != 0:
		err = fmt.Errorf("it ends with status %d", e.Status)
	}
	return stdout.head, err
}
