package pace

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A time is longer while all processors have much to do.
func TestStretch(t *testing.T) {
	var done atomic.Bool
	for range 8 * runtime.NumCPU() {
		go func() {
			runtime.LockOSThread()
			for !done.Load() {
			}
		}()
	}
	defer done.Store(true)
	for range 100 {
		if Stretch(t, time.Second) > 3*time.Second {
			return
		}
	}
	t.Error("eight threads for each processor change nothing")
}

func TestExceeds(t *testing.T) {
	if Exceeds(t, time.Now(), time.Hour) || !Exceeds(t, time.Now().Add(-1000*time.Hour), time.Second) {
		t.Error("what has just begun exceeds an hour, or 1000 hours do not exceed a second")
	}
}
