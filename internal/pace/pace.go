// Package pace gives tests more time on a busy host, and no other code uses it:
//
//	began := time.Now()
//	… run --time 5s …
//	if pace.Exceeds(t, began, 10*time.Second) {
//
// A test fails for what it tests, and not for what else the host does.
package pace

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sample is the processor time that a look at the host's pace takes.
const sample = 20 * time.Millisecond

// Stretch returns d as long as it is here now: longer by as much as a computation takes longer than its processor time.
func Stretch(t testing.TB, d time.Duration) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
			t.Fatal(err)
		}
		return time.Duration(ts.Nano())
	}
	began, first := time.Now(), used()
	for used()-first < sample {
	}
	factor := max(1, float64(time.Since(began))/float64(sample))
	if factor > 1.5 {
		t.Logf("a busy host: %v are %.0f times as long", d, factor)
	}
	return time.Duration(float64(d) * factor)
}

// Exceeds reports whether more than d, stretched, has passed since began.
func Exceeds(t testing.TB, began time.Time, d time.Duration) bool {
	t.Helper()
	took := time.Since(began)
	if took <= d {
		return false
	}
	return took > Stretch(t, d)
}
