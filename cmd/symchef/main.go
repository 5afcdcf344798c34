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
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"symchef/internal/interp"
	"symchef/internal/replay"
	"symchef/internal/session"
)

// version is the release; a build of a git checkout adds its revision.
const version = "0.1.0"

// stdout is standard output, and remembers whether all could be written.
var stdout = &output{w: os.Stdout}

type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// engineError marks an error that is not the user's mistake: status 3.
type engineError struct{ error }

func (e engineError) Unwrap() error { return e.error }

func main() {
	replay.MaybeConfineChild()
	debug.SetGCPercent(200)
	// Beyond RLIMIT_FSIZE a write fails like one on a full disk. Not ignored: programs under replay would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
	syscall.Umask(syscall.Umask(0) &^ 0o700) // it reads what it has written
	status := session.StatusOK
	root := &cobra.Command{
		Use:           "symchef",
		Short:         "Symbolic execution of stock interpreters: tests in, inputs that break them out",
		Example:       "  symchef run test_email.py\n  symchef replay symchef-out-test_email\n  symchef emit --format pytest symchef-out-test_email",
		Version:       fullVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(stdout)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if strings.Contains(err.Error(), "duration") {
			err = fmt.Errorf("%w; write for example 30s or 5m", err)
		}
		return err
	})
	root.CompletionOptions.DisableDefaultCmd = true
	stopProfile := cpuProfile(root)
	more := root.PersistentFlags().StringArray("language", nil, "a language from a folder of your own, DIR; may be repeated (docs/your-own-language.md)")
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		for _, dir := range *more {
			if err := interp.Add(dir); err != nil {
				return fmt.Errorf("--language %s: %w", dir, err)
			}
		}
		return before(c, args)
	}
	root.AddCommand(runCmd(&status), execCmd(&status), replayCmd(&status), rerunCmd(&status), smt2Cmd(&status), emitCmd(), calibrateCmd(), treeCmd(), languagesCmd(), languageCmd(&status), doctorCmd(&status))
	if err := root.Execute(); err != nil && stdout.err == nil {
		fmt.Fprintln(os.Stderr, "symchef:", err)
		switch {
		case status != session.StatusOK: // more telling than the error
		case errors.As(err, new(engineError)):
			status = session.StatusEngine
		default:
			status = session.StatusUsage
		}
	}
	if err := stdout.err; err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		fmt.Fprintln(os.Stderr, "symchef: cannot write to standard output:", err)
		status = session.StatusUsage
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

// interruptible is a context that ends on SIGINT, SIGTERM or SIGHUP, the last unless nohup(1) has it ignored. A second Ctrl-C kills as usual; the
// others may well come twice, as from a terminal that closes in a session that ends.
func interruptible() (context.Context, context.CancelFunc) {
	more := []os.Signal{syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		more = append(more, syscall.SIGHUP)
	}
	c, stop := signal.NotifyContext(context.Background(), append(more, os.Interrupt)...)
	signal.Notify(make(chan os.Signal, 1), more...) // with no one listening they are dropped
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
			*status = session.Exec(args, in, stdout, os.Stderr, stats, limit)
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().BoolVar(&stats, "stats", false, "print the number of instructions at the end")
	c.Flags().StringVar(&maxMem, "max-memory", "4G", "memory of the machine, of which one process of the program may use half; 0: no limit")
	return c
}
