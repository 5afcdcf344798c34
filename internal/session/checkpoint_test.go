package session

import (
	"testing"
	"time"
)

// However long checkpoints take, no more than half a minute passes from the beginning of one to the end of the next, and workers stand still for at most half of it.
func TestCheckpointAfter(t *testing.T) {
	for _, c := range []struct{ pause, took, want time.Duration }{
		{0, 0, 10 * time.Second},
		{50 * time.Millisecond, 100 * time.Millisecond, 10 * time.Second},
		{300 * time.Millisecond, 300 * time.Millisecond, 15 * time.Second},
		{time.Second, time.Second, 17 * time.Second},
		{4 * time.Second, 3 * time.Second, 10 * time.Second},
	} {
		if got := checkpointAfter(10*time.Second, c.pause, c.took); got != c.want {
			t.Errorf("after %v and %v: %v, want %v", c.pause, c.took, got, c.want)
		} else if got+c.pause+2*c.took > 30*time.Second {
			t.Errorf("after %v and %v: %v is too late", c.pause, c.took, got)
		}
	}
	if got := checkpointAfter(time.Minute, time.Second, time.Second); got != time.Minute {
		t.Errorf("asked for a minute, got %v", got)
	}
}
