package session

import (
	"fmt"
	"io"
	"os"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// Exec runs a program concretely in the machine: its output goes to stdout and
// stderr, and the status is the program's own, 128+N if signal N killed it.
// 3 means that the machine could not go on.
func Exec(argv []string, stdin io.Reader, stdout, stderr io.Writer, report bool) int {
	t, err := resolveProgram(&Options{Program: argv}, mustGetwd())
	if err != nil {
		fmt.Fprintln(stderr, "symchef:", err)
		return StatusUsage
	}
	cfg := kernelConfig(t.tc, false, 0)
	cfg.Env = os.Environ()
	if stdin != nil {
		b, err := io.ReadAll(stdin)
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
	facts := &exec.Facts{}
	outN, errN := 0, 0
	flush := func() {
		o, e := sys.Stdout().Data, sys.Stderr().Data
		stdout.Write(o[outN:])
		stderr.Write(e[errN:])
		outN, errN = len(o), len(e)
	}
	for {
		stop := m.Run(sys, facts, 100<<20)
		flush()
		switch stop.Kind {
		case exec.Budget:
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
