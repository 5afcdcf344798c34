// Command symchef explores programs of interpreted languages symbolically, by
// executing the stock interpreter's own binary. This package holds flags and wiring only.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"syscall"

	"github.com/spf13/cobra"

	"symchef/internal/replay"
	"symchef/internal/session"
)

// version is the release; a build of a git checkout adds its revision.
const version = "0.1.0"

// engineError marks an error that is not the user's mistake: status 3.
type engineError struct{ error }

func (e engineError) Unwrap() error { return e.error }

func main() {
	replay.MaybeConfineChild()
	debug.SetGCPercent(200)
	// Beyond RLIMIT_FSIZE a write fails like one on a full disk. Not ignored: programs under replay would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
	status := session.StatusOK
	root := &cobra.Command{
		Use:           "symchef",
		Short:         "Symbolic execution of stock interpreters: tests in, inputs that break them out",
		Example:       "  symchef run test_email.py\n  symchef replay symchef-out-test_email\n  symchef emit --format pytest symchef-out-test_email",
		Version:       fullVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	stopProfile := cpuProfile(root)
	root.AddCommand(runCmd(&status), execCmd(&status), replayCmd(&status), rerunCmd(&status), emitCmd(), calibrateCmd(), treeCmd(), doctorCmd(&status))
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "symchef:", err)
		switch {
		case status != session.StatusOK: // more telling than the error
		case errors.As(err, new(engineError)):
			status = session.StatusEngine
		default:
			status = session.StatusUsage
		}
	}
	stopProfile()
	os.Exit(status)
}

// cpuProfile adds a flag for the developers of symchef: it writes a profile of the
// command for `go tool pprof`.
func cpuProfile(root *cobra.Command) (stop func()) {
	path := root.PersistentFlags().String("cpu-profile", "", "write a CPU profile of symchef itself to this file")
	root.PersistentFlags().MarkHidden("cpu-profile")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		if *path == "" {
			return nil
		}
		f, err := os.Create(*path)
		if err != nil {
			return err
		}
		return pprof.StartCPUProfile(f)
	}
	return pprof.StopCPUProfile
}

func fullVersion() string {
	rev := ""
	if bi, ok := debug.ReadBuildInfo(); ok {
		for _, s := range bi.Settings {
			if s.Key == "vcs.revision" {
				rev = " (" + s.Value[:min(12, len(s.Value))] + ")"
			}
		}
	}
	return version + rev + " " + runtime.Version()
}

// interruptible is a context that ends on Ctrl-C; a second one kills as usual.
func interruptible() (context.Context, context.CancelFunc) {
	c, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(c, stop)
	return c, stop
}

func execCmd(status *int) *cobra.Command {
	var stats bool
	var maxMem string
	c := &cobra.Command{
		Use:     "exec [flags] [--] PROGRAM [ARGS...]",
		Short:   "Run a program concretely inside the machine",
		Example: "  symchef exec /usr/bin/python3.11 -c 'print(6*7)'\n  echo hello | symchef exec -- cat",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var in io.Reader
			if st, err := os.Stdin.Stat(); err == nil && st.Mode()&os.ModeCharDevice == 0 {
				in = os.Stdin
			}
			limit, err := parseSize(maxMem)
			if err != nil {
				return err
			}
			*status = session.Exec(args, in, os.Stdout, os.Stderr, stats, limit)
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().BoolVar(&stats, "stats", false, "print the number of instructions at the end")
	c.Flags().StringVar(&maxMem, "max-memory", "4G", "memory of the machine, of which one process of the program may use half; 0: no limit")
	return c
}
