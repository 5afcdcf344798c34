package replay

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkFork replays the same test cases by starts of their own and by a server, one at a time, and tells cases per second of
// both, their ratio, and the ratio of the processor time that the processes of the replay took.
func BenchmarkFork(b *testing.B) {
	for _, l := range speaking {
		b.Run(l.name, func(b *testing.B) {
			g, opt := l.in(b, l.count)
			opt.Parallel = 1
			used := func() time.Duration { // by processes that have ended
				var u unix.Rusage
				if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
					b.Fatal(err)
				}
				return time.Duration(u.Utime.Nano() + u.Stime.Nano())
			}
			run := func(cases int, fresh bool) (perSecond, processor float64) {
				opt.Fresh = fresh
				begin, before := time.Now(), used()
				rep, err := Run(context.Background(), g, l.counting(g.Path, cases), opt)
				if err != nil || rep.Agreed != cases {
					b.Fatalf("%v: %+v", err, rep)
				}
				return float64(cases) / time.Since(begin).Seconds(), float64(cases) / (used() - before).Seconds()
			}
			for range b.N {
				anew, anewCPU := run(10, true)
				cloned, clonedCPU := run(300, false)
				b.ReportMetric(anew, "anew/s")
				b.ReportMetric(cloned, "cloned/s")
				b.ReportMetric(cloned/anew, "ratio")
				b.ReportMetric(clonedCPU/anewCPU, "cpu-ratio")
				b.ReportMetric(1000/clonedCPU, "cpu-ms/case")
			}
		})
	}
}
