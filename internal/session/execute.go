package session

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// maxStdin bounds the standard input of Exec in bytes: it is read before the program starts.
const maxStdin = 1 << 30

// Exec runs a program concretely in the machine: its output goes to stdout and
// stderr, and the status is the program's own, 128+N if signal N killed it.
// 3 means that the machine could not go on, or not within maxMemory bytes (0: no limit). cpu is as in Options.
func Exec(argv []string, stdin io.Reader, stdout, stderr io.Writer, report bool, maxMemory uint64, cpu string) int {
	maxMemory, err := fits(maxMemory, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "symchef:", err)
		return StatusUsage
	}
	t, err := resolveProgram(&Options{Program: argv, CPU: cpu}, mustGetwd())
	if err != nil {
		fmt.Fprintln(stderr, "symchef:", err)
		return StatusUsage
	}
	cfg := kernelConfig(t.tc, false, 0)
	cfg.Env = os.Environ()
	cfg.Stdout, cfg.Stderr = stdout, stderr
	cfg.MaxMemory = maxMemory / 2
	defer newCeiling(maxMemory).end()
	if stdin != nil {
		b, err := io.ReadAll(io.LimitReader(stdin, maxStdin+1))
		if err == nil && len(b) > maxStdin {
			err = fmt.Errorf("more than %d MiB", maxStdin>>20)
		}
		if err != nil {
			fmt.Fprintln(stderr, "symchef: standard input:", err)
			return StatusUsage
		}
		cfg.Stdin = mem.Concrete(b)
	}
	sys, err := kernel.Boot(cfg)
	if err != nil {
		fmt.Fprintln(stderr, "symchef:", err)
		return StatusUsage
	}
	m := exec.New(expr.New())
	m.Processor = cfg.Processor
	facts := &exec.Facts{}
	for {
		stop := m.Run(sys, facts, 1<<20)
		switch stop.Kind {
		case exec.Budget:
			if maxMemory > 0 && heap().inUse > maxMemory {
				if runtime.GC(); heap().inUse > maxMemory {
					fmt.Fprintf(stderr, "symchef: unsupported: the program's processes use more than %d MiB of memory together\n", maxMemory>>20)
					return StatusEngine
				}
			}
			continue
		case exec.Exited:
			st := sys.ExitStatus()
			if report {
				fmt.Fprintf(stderr, "symchef: %d instructions, %d blocks\n", sys.Retired, m.Stats.Blocks)
			}
			if st.Signal != 0 {
				return 128 + st.Signal
			}
			return st.Code
		case exec.Deadlock:
			fmt.Fprintln(stderr, "symchef: every task of the program waits for ever")
		default:
			fmt.Fprintln(stderr, "symchef: unsupported:", stop.What)
		}
		return StatusEngine
	}
}

func mustGetwd() string {
	d, err := os.Getwd()
	if err != nil {
		return "/"
	}
	return d
}
