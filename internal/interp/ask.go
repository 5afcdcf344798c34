package interp

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"time"
)

// A Question is how a program is asked what it is.
type Question struct {
	Path  string
	Args  []string
	Dir   string // where it is started; empty: anywhere
	Stdin []byte
	Time  time.Duration // that it has for its answer
	// Pass are variables of the user's environment that it needs beside those that all programs do; NAME* are all that begin so.
	Pass []string
	// Trusted says that the user has chosen the program, or installed it, not whoever wrote the test.
	Trusted bool
}

// Ask runs a program that is asked, and returns what it prints. Whoever starts programs for a user replaces it by one that confines them.
var Ask = AskDirectly

// ErrUntrusted is in the error of a program that was not asked, since nothing would confine it.
var ErrUntrusted = errors.New("the test names it, and nothing on this host confines it while it is asked what it is; name it with --interpreter")

// AskDirectly runs it as the user, with all rights and the whole environment, if it is trusted.
func AskDirectly(q Question) ([]byte, error) {
	if !q.Trusted {
		return nil, ErrUntrusted
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.Time)
	defer cancel()
	cmd := exec.CommandContext(ctx, q.Path, q.Args...)
	cmd.WaitDelay = time.Second
	if q.Stdin != nil {
		cmd.Stdin = bytes.NewReader(q.Stdin)
	}
	if st, err := os.Stat(q.Dir); err == nil && st.IsDir() {
		cmd.Dir = q.Dir
	}
	return cmd.Output()
}
