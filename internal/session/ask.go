package session

import (
	"context"
	"errors"
	"os"

	"symchef/internal/interp"
	"symchef/internal/replay"
)

func init() { interp.Ask = askConfined }

// askConfined asks a program what it is, in the sandbox of replay and with the environment of a run: a test may name any program. Where nothing confines
// it, only what the user has chosen or installed is asked.
func askConfined(q interp.Question) ([]byte, error) {
	env, err := environment(q.Pass, nil)
	if err != nil {
		return nil, err
	}
	dir := q.Dir
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		dir = "/"
	}
	out, err := replay.Ask(context.Background(), replay.Question{Argv: append([]string{q.Path}, q.Args...), Env: env, Cwd: dir, Stdin: q.Stdin, Time: q.Time})
	if errors.Is(err, replay.ErrNoConfinement) {
		return interp.AskDirectly(q)
	}
	return out, err
}
