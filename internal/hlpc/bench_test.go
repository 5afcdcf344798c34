package hlpc_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/hlpc"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/testcase"
)

// cpuTime is the time that this process has computed: other processes do not disturb it.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTrace compares guest speed, per second of processor time, with and without a tracer: medians, the cost of pairs of runs.
func BenchmarkTrace(b *testing.B) {
	for _, c := range []struct{ path, name, text string }{
		{"/usr/bin/python3.11", "a.py", "def f(n):\n  t = 0\n  for i in range(n):\n    t = (t * 31 + i) % 1000003\n    if t & 1: t += 3\n  return t\nprint(f(200000))\n"},
		{"/usr/bin/lua5.4", "a.lua", "local t = 0 for i = 1, 1000000 do t = (t * 31 + i) % 1000003 if t % 2 == 1 then t = t + 3 end end print(t)"},
	} {
		if _, err := os.Stat(c.path); err != nil {
			continue
		}
		path := filepath.Join(b.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			b.Fatal(err)
		}
		cal, _ := interp.CalibrationFor(c.path)
		r, err := hlpc.Calibrate(config(c.path, cal), cal, true)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(filepath.Base(c.path), func(b *testing.B) {
			steps := 0
			run := func(traced bool) (mips float64) {
				sys, err := kernel.Boot(kernel.Config{Path: c.path, Argv: []string{c.path, path}, Env: testcase.PinEnv(nil), Cwd: "/"})
				if err != nil {
					b.Fatal(err)
				}
				m := exec.New(expr.New())
				if traced {
					t := &hlpc.Tracer{Result: r, Cursor: &hlpc.Cursor{}, OnStep: func(*kernel.System, *hlpc.Step) { steps++ }}
					t.Attach(m)
				}
				start := cpuTime()
				m.Run(sys, &exec.Facts{}, 1e10)
				return float64(sys.Retired) / 1e6 / (cpuTime() - start).Seconds()
			}
			var plain, traced, cost []float64
			for range b.N {
				p, t := run(false), run(true)
				plain, traced, cost = append(plain, p), append(traced, t), append(cost, 100*(1-t/p))
			}
			median := func(l []float64) float64 { return slices.Sorted(slices.Values(l))[len(l)/2] }
			b.ReportMetric(median(plain), "MIPS-plain")
			b.ReportMetric(median(traced), "MIPS-traced")
			b.ReportMetric(median(cost), "%cost")
			b.ReportMetric(float64(steps)/float64(b.N), "steps/op")
		})
	}
}
