// Package pace gives tests more time on a busy host, and no other code uses it:
//
//	began := time.Now()
//	… run --time 5s …
//	if pace.Exceeds(t, began, 10*time.Second) {
//
// A test fails for what it tests, and not for what else the host does.
package pace

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sample is the processor time that a look at the host's pace takes.
const sample = 20 * time.Millisecond

// mostWaiting bounds what tasks that waited in the last minute say of the next.
const mostWaiting = 4

// Stretch returns d as long as it is here now: longer by as much as a computation takes longer than its processor time, or as more than one task waited
// for each processor in the last minute (proc_loadavg(5)): what is tested has several.
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
	factor := max(1, float64(time.Since(began))/float64(sample), min(load()/float64(runtime.NumCPU()), mostWaiting))
	if factor > 1.5 {
		t.Logf("a busy host: %v are %.0f times as long", d, factor)
	}
	return time.Duration(float64(d) * factor)
}

// load is the number of tasks that want a processor, the mean of a minute; 0 if it is not told.
func load() (n float64) {
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		fmt.Sscan(string(text), &n)
	}
	return n
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
