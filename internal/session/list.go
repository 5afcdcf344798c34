package session

import (
	"context"
	"io"
	"strings"

	"symchef/internal/explore"
)

// allTests is the name that asks a guest library for the names of a file's tests.
const allTests = "*"

// List returns the names of the tests in the file o.Test, as the guest library finds them. Nothing of the tests is run, but the file is: in the machine.
func List(c context.Context, o Options, stderr io.Writer) (names []string, err error) {
	path, _, _ := strings.Cut(o.Test, "::")
	o.Test, o.Workers = path+"::"+allTests, 1
	t, err := resolve(&o)
	if err != nil {
		return nil, err
	}
	x, err := listing(c, &o, t, stderr)
	if err != nil {
		return nil, err
	}
	return x.Tests, nil
}

// listing runs t, which tells what there is instead of running a test, and returns the explorer to which it has.
func listing(c context.Context, o *Options, t *target, stderr io.Writer) (*explore.Explorer, error) {
	r := newRun(o, t)
	r.prog = newProgress("none", stderr)
	w := r.newWorker()
	root, err := w.boot(c)
	if err == nil {
		err = w.explorer()
	}
	if err == nil {
		err = w.work(c, root, true)
	}
	switch {
	case err != nil:
		return nil, err
	case c.Err() != nil:
		return nil, c.Err()
	case w.x.Usage != "":
		return nil, &usageError{w.x.Usage}
	}
	return w.x, nil
}
