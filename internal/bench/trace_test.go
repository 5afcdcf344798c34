package bench

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	machine "symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/high"
	"symchef/internal/hlpc"
	"symchef/internal/kernel"
	"symchef/internal/session"
	"symchef/internal/testcase"
)

// BenchmarkTrace prints what it costs to follow the interpreted program, in percent of guest speed per second of processor time: with a
// tracer that counts high-level instructions, and with all that is kept of them, graph and tree. The programs are BenchmarkConcrete's;
// each round runs each of them in all three ways, the figures are medians of rounds.
func BenchmarkTrace(b *testing.B) {
	for _, lang := range languages {
		b.Run(lang.name, func(b *testing.B) {
			if _, err := exec.LookPath(lang.program); err != nil {
				b.Skipf("skipped: %s is not installed", lang.program)
			}
			scripts, err := filepath.Glob(lang.scripts)
			if err != nil || len(scripts) == 0 {
				b.Fatalf("no scripts match %s (%v)", lang.scripts, err)
			}
			r, err := session.Calibrate(session.CalibrateOptions{Interpreter: lang.program})
			if err != nil {
				b.Fatal(err)
			}
			fmt.Printf("\n%-22s %9s %9s %7s %9s %9s\n", lang.name, "M insns", "M steps", "MIPS", "traced", "followed")
			all := cost{}
			for _, script := range scripts {
				c := lang.trace(b, r, script)
				fmt.Printf("%-22s %9.0f %9.2f %7.0f %8.1f%% %8.1f%%\n", filepath.Base(script), c.insns/1e6, c.steps/1e6, c.mips, 100*c.traced, 100*c.followed)
				all.traced += math.Log(1 - c.traced)
				all.followed += math.Log(1 - c.followed)
			}
			mean := func(logs float64) float64 { return 100 * (1 - math.Exp(logs/float64(len(scripts)))) }
			fmt.Printf("%-49s %9.1f%% %8.1f%%\n", "geometric mean", mean(all.traced), mean(all.followed))
			b.ReportMetric(mean(all.traced), "%-traced")
			b.ReportMetric(mean(all.followed), "%-followed")
		})
	}
}

// processTime is the processor time of this process, its garbage collection included.
func processTime(b *testing.B) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}

// cost is what a program does, and the shares of its speed that are lost.
type cost struct {
	insns, steps, mips float64
	traced, followed   float64
}

// trace runs a script as often as b says.
func (l language) trace(b *testing.B, r *hlpc.Result, script string) (c cost) {
	script, err := filepath.Abs(script)
	if err != nil {
		b.Fatal(err)
	}
	argv := append(append([]string{l.program}, l.args...), script)
	run := func(attach func(*machine.Machine)) (mips float64) {
		sys, err := kernel.Boot(kernel.Config{Path: l.program, Argv: argv, Env: testcase.PinEnv(l.env), Cwd: "/"})
		if err != nil {
			b.Fatal(err)
		}
		m := machine.New(expr.New())
		attach(m)
		start := processTime(b)
		if stop := m.Run(sys, &machine.Facts{}, 1e11); stop.Kind != machine.Exited || sys.ExitStatus() != (kernel.Status{}) {
			b.Fatalf("%s: %+v, %+v: %s", script, stop, sys.ExitStatus(), sys.Stderr().Data)
		}
		c.insns = float64(sys.Retired)
		return c.insns / 1e6 / (processTime(b) - start).Seconds()
	}
	run(func(*machine.Machine) {}) // translations are made once
	var mips, traced, followed []float64
	for range b.N {
		c.steps = 0
		plain := run(func(*machine.Machine) {})
		mips = append(mips, plain)
		traced = append(traced, 1-run(func(m *machine.Machine) {
			t := &hlpc.Tracer{Result: r, Cursor: &hlpc.Cursor{}, OnRuns: func(l []hlpc.Run) {
				for i := range l {
					c.steps += float64(len(l[i].Steps))
				}
			}}
			t.Attach(m)
		})/plain)
		followed = append(followed, 1-run(func(m *machine.Machine) {
			t := high.NewTracker(r, "")
			t.Attach(m)
			t.Run(&high.Path{})
		})/plain)
	}
	median := func(l []float64) float64 { slices.Sort(l); return l[len(l)/2] }
	c.mips, c.traced, c.followed = median(mips), median(traced), median(followed)
	return c
}
