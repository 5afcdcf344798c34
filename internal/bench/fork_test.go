package bench

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	machine "symchef/internal/exec"
	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/session"
)

// BenchmarkFork explores tests of Python for a fixed number of paths and reports what a
// pending state costs. `make bench` repeats it with every granule size: build
// tags granule256 and granule4k, see internal/mem.
func BenchmarkFork(b *testing.B) {
	if _, err := os.Stat("/usr/bin/python3.11"); err != nil {
		b.Skip("skipped: python3.11 is not installed")
	}
	for _, c := range []struct {
		test  string
		paths int
	}{{"test_predicates.py", 80}, {"test_quicksort.py", 30}} {
		b.Run(c.test, func(b *testing.B) {
			for b.Loop() {
				cache := b.TempDir()
				explored(b, c.test, 1, cache) // leaves a boot snapshot
				one, all := explored(b, c.test, 1, cache), explored(b, c.test, c.paths, cache)
				if all.pending <= one.pending {
					b.Fatalf("%d paths leave %d pending states, 1 path %d", c.paths, all.pending, one.pending)
				}
				b.ReportMetric(float64(mem.GranuleSize), "B/granule")
				b.ReportMetric((all.heap-one.heap)/float64(all.pending-one.pending)/1024, "KiB/pending")
				b.ReportMetric((all.time-one.time).Seconds()*1e6/float64(all.forks-one.forks), "µs/fork")
				b.ReportMetric(float64(all.pending), "pending")
				b.ReportMetric(all.time.Seconds(), "s")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// BenchmarkForkAndRun forks a booted Python and lets the copy run: what copying granules on write costs.
func BenchmarkForkAndRun(b *testing.B) {
	if _, err := os.Stat("/usr/bin/python3.11"); err != nil {
		b.Skip("skipped: python3.11 is not installed")
	}
	m, sys := running(b, "d = {}\nfor i in range(10**9): d[i % 997] = str(i)", 60e6)
	for _, n := range []uint64{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Run(sys.Fork(), &machine.Facts{}, n)
			}
		})
	}
}

// BenchmarkForkSize forks a Python that holds little and much memory: alone, with 1000 instructions of the copy, and 10,000 copies that
// are kept after 10,000 instructions each.
func BenchmarkForkSize(b *testing.B) {
	if _, err := os.Stat("/usr/bin/python3.11"); err != nil {
		b.Skip("skipped: python3.11 is not installed")
	}
	for _, mb := range []int{10, 500} {
		m, sys := running(b, fmt.Sprintf("held = [bytes(range(256)) * 4000 for _ in range(%d)]\nd = {}\nfor i in range(10**9): d[i %% 997] = str(i)", mb), 60e6+uint64(mb)*1e6)
		b.Run(fmt.Sprintf("%dMB/fork", mb), func(b *testing.B) {
			for b.Loop() {
				sys.Fork()
			}
		})
		b.Run(fmt.Sprintf("%dMB/fork-and-run", mb), func(b *testing.B) {
			for b.Loop() {
				m.Run(sys.Fork(), &machine.Facts{}, 1000)
			}
		})
		b.Run(fmt.Sprintf("%dMB/live", mb), func(b *testing.B) {
			const states = 10_000
			for b.Loop() {
				before := liveHeap()
				live := make([]*kernel.System, states)
				for i := range live {
					live[i] = sys.Fork()
					m.Run(live[i], &machine.Facts{}, 10_000)
				}
				all := liveHeap()
				b.ReportMetric(float64(all)/(1<<20), "MiB")
				b.ReportMetric(float64(all-before)/states/1024, "KiB/state")
				b.ReportMetric(float64(b.Elapsed().Microseconds())/states, "µs/state")
				b.ReportMetric(0, "ns/op")
				runtime.KeepAlive(live)
			}
		})
	}
}

// running is a machine and a Python that has run script for so many instructions.
func running(b *testing.B, script string, instructions uint64) (*machine.Machine, *kernel.System) {
	b.Helper()
	sys, err := kernel.Boot(kernel.Config{
		Path: "/usr/bin/python3.11", Argv: []string{"python3.11", "-S", "-c", script}, Env: []string{"PYTHONHASHSEED=0"},
	})
	if err != nil {
		b.Fatal(err)
	}
	m := machine.New(expr.New())
	if stop := m.Run(sys, &machine.Facts{}, instructions); stop.Kind != machine.Budget {
		b.Fatalf("%+v", stop)
	}
	return m, sys
}

// liveHeap is the heap after a collection, in bytes.
func liveHeap() uint64 {
	runtime.GC()
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	return ms.HeapAlloc
}

// exploration is a run's end, its pending states still in memory.
type exploration struct {
	pending, forks int
	heap           float64       // bytes
	time           time.Duration // of the processor, loading the snapshot included
}

func explored(b *testing.B, test string, paths int, cache string) (e exploration) {
	began := processorTime(b)
	status := session.Run(b.Context(), session.Options{
		Test: "../../examples/python/" + test, Out: b.TempDir() + "/out", MaxPaths: paths, Strategy: "bfs", NoReplay: true, CacheDir: cache, Progress: "none",
		OnEnd: func(x *explore.Explorer) {
			e.time = processorTime(b) - began
			e.heap, e.pending, e.forks = float64(liveHeap()), x.Pending(), x.Counts.Forks
		},
	}, io.Discard, os.Stderr)
	if status != session.StatusOK && status != session.StatusFailing {
		b.Fatalf("status %d", status)
	}
	return e
}

func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
