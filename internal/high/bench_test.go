package high_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/high"
	"symchef/internal/hlpc"
	"symchef/internal/kernel"
	"symchef/internal/session"
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

// BenchmarkTrace compares guest speed, per second of processor time: plain, with a tracer that counts steps, and with all that is
// kept of them, graph and tree. Each round has all three; the figures are medians, what tracing costs of pairs.
func BenchmarkTrace(b *testing.B) {
	for _, c := range []struct{ path, name, text string }{
		{"/usr/bin/python3.11", "loop.py", "def f(n):\n  t = 0\n  for i in range(n):\n    t = (t * 31 + i) % 1000003\n    if t & 1: t += 3\n  return t\nprint(f(200000))\n"},
		{"/usr/bin/python3.11", "calls.py", "def f(n):\n  return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(21))\n"},
		{"/usr/bin/lua5.4", "loop.lua", "local t = 0 for i = 1, 1000000 do t = (t * 31 + i) % 1000003 if t % 2 == 1 then t = t + 3 end end print(t)"},
		{"/usr/bin/lua5.4", "calls.lua", "local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end print(f(24))"},
	} {
		if _, err := os.Stat(c.path); err != nil {
			continue
		}
		path := filepath.Join(b.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			b.Fatal(err)
		}
		r, err := session.Calibrate(session.CalibrateOptions{Interpreter: c.path})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			steps := 0
			run := func(attach func(*exec.Machine)) (mips float64) {
				sys, err := kernel.Boot(kernel.Config{Path: c.path, Argv: []string{c.path, path}, Env: testcase.PinEnv(nil), Cwd: "/"})
				if err != nil {
					b.Fatal(err)
				}
				m := exec.New(expr.New())
				attach(m)
				start := cpuTime()
				m.Run(sys, &exec.Facts{}, 1e10)
				return float64(sys.Retired) / 1e6 / (cpuTime() - start).Seconds()
			}
			trace := func(m *exec.Machine) {
				t := &hlpc.Tracer{Result: r, Cursor: &hlpc.Cursor{}, OnRun: func(r *hlpc.Run) { steps += len(r.Steps) }}
				t.Attach(m)
			}
			follow := func(m *exec.Machine) {
				t := high.NewTracker(r)
				t.Attach(m)
				t.Run(&high.Path{})
			}
			var plain, traced, followed, trace1, follow1 []float64
			for range b.N {
				p, t, f := run(func(*exec.Machine) {}), run(trace), run(follow)
				plain, traced, followed = append(plain, p), append(traced, t), append(followed, f)
				trace1, follow1 = append(trace1, 100*(1-t/p)), append(follow1, 100*(1-f/p))
			}
			for name, l := range map[string][]float64{"MIPS-plain": plain, "MIPS-traced": traced, "MIPS-followed": followed, "%-traced": trace1, "%-followed": follow1} {
				slices.Sort(l)
				b.ReportMetric(l[len(l)/2], name)
			}
			b.ReportMetric(float64(steps)/float64(b.N), "steps/op")
		})
	}
}
