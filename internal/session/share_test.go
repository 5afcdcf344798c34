package session

import (
	"context"
	"testing"
	"time"
)

// Time is up a share before the end of --time, which began with the command: what came before the run, as looking for the interpreter, took of it.
func TestTimeUp(t *testing.T) {
	const limit = 100 * time.Second
	now := time.Now()
	r := newRun(&Options{Time: limit}, &target{})
	timed, cancel := context.WithDeadline(context.Background(), now.Add(limit-8*time.Second)) // the run began 8 s after the command
	defer cancel()
	if r.timeUp(now.Add(2 * limit)) {
		t.Error("a run without a bound has an end")
	}
	r.timed = timed
	for after, up := range map[time.Duration]bool{0: false, 81 * time.Second: false, 83 * time.Second: true} { // a tenth is left
		if r.timeUp(now.Add(after)) != up {
			t.Errorf("after %v: want %v", after, up)
		}
	}
}
