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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"symchef/internal/disk"
	"symchef/internal/interp"
	"symchef/internal/replay"
	"symchef/internal/session"
)

// version is the release; a build of a git checkout adds its revision.
const version = "0.1.0"

// stdout is standard output, and remembers whether all could be written.
var stdout = &output{w: os.Stdout}

// people is standard output for text, complaints standard error: nothing that stands there moves the cursor of a terminal.
var people, complaints = session.Shown(stdout), session.Shown(os.Stderr)

// shownUnless is standard output: as it is for data, else for text.
func shownUnless(data bool) io.Writer {
	if data {
		return stdout
	}
	return people
}

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
		Example:       "  symchef run test_email{suffix}\n  symchef replay symchef-out-test_email\n  symchef emit --format {format} symchef-out-test_email",
		Version:       fullVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(stdout)
	root.SetErr(complaints)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if strings.Contains(err.Error(), "duration") {
			err = fmt.Errorf("%w; write for example 30s or 5m", err)
		}
		return plainNumber(err)
	})
	root.CompletionOptions.DisableDefaultCmd = true
	stopProfile := cpuProfile(root)
	more := root.PersistentFlags().StringArray("language", nil, "a language from a folder of your own, DIR; may be repeated (docs/your-own-language.md)")
	before := root.PersistentPreRunE
	add := func() error {
		for _, dir := range *more {
			if err := interp.Add(dir); err != nil {
				return fmt.Errorf("--language %s: %w", dir, err)
			}
		}
		return nil
	}
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if err := add(); err != nil {
			return err
		}
		return before(c, args)
	}
	namesInHelp(root, add)
	root.AddCommand(runCmd(&status), checkCmd(&status), diffCmd(&status), execCmd(&status), replayCmd(&status), rerunCmd(&status), smt2Cmd(&status), emitCmd(), calibrateCmd(), treeCmd(), reportCmd(), languagesCmd(), languageCmd(&status), doctorCmd(&status), debugCmd(&status))
	for _, c := range allCommands(root) {
		if wants := c.Args; wants != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				err := wants(c, args)
				if err != nil && strings.Contains(err.Error(), "arg(s)") { // cobra's own words
					err = fmt.Errorf("%w; usage: %s", err, c.UseLine())
				}
				return err
			}
		}
	}
	if err := root.Execute(); err != nil && stdout.err == nil {
		fmt.Fprintln(complaints, "symchef:", err)
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
		fmt.Fprintln(complaints, "symchef: cannot write to standard output:", err)
		status = session.StatusUsage
	}
	stopProfile()
	os.Exit(status)
}

// allCommands are the commands below c.
func allCommands(c *cobra.Command) (out []*cobra.Command) {
	for _, sub := range c.Commands() {
		out = append(append(out, sub), allCommands(sub)...)
	}
	return out
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

// plainNumber is err, of a flag, without the words of the function that could not read the number.
func plainNumber(err error) error {
	before, why, ok := strings.Cut(err.Error(), ": strconv.")
	if !ok {
		return err
	}
	want := "a whole number"
	if strings.HasPrefix(why, "ParseUint") {
		want += " that is not negative"
	}
	if strings.HasSuffix(why, strconv.ErrRange.Error()) {
		want += ", of at most 64 bits"
	}
	return fmt.Errorf("%s: want %s", before, want)
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

// grace is how long a command may take to end by itself after a signal.
const grace = 4 * time.Second

// bounded is interruptible for a command that works in pieces, each of which may be long: where it has not ended in time after a signal it is left, when save, which may be nil,
// has kept what there is.
func bounded(save func()) (context.Context, context.CancelFunc) {
	c, stop := interruptible()
	ended := make(chan struct{})
	context.AfterFunc(c, func() {
		select {
		case <-ended:
			return
		case <-time.After(grace):
		}
		if save != nil {
			save()
		}
		leave("interrupted, and what ran did not end by itself")
	})
	return c, func() {
		close(ended)
		stop()
	}
}

// endsAtOnce lets a command that has nothing to keep end at a signal, without its temporary folders.
func endsAtOnce() func() {
	c, stop := interruptible()
	ended := make(chan struct{})
	context.AfterFunc(c, func() {
		select {
		case <-ended:
		default:
			leave("interrupted")
		}
	})
	return func() {
		close(ended)
		stop()
	}
}

// leave ends the process, whatever it does.
func leave(why string) {
	fmt.Fprintln(complaints, "symchef:", why)
	disk.Clear()
	os.Exit(session.StatusCtrlC)
}

func execCmd(status *int) *cobra.Command {
	var stats bool
	var maxMem, cpu string
	c := &cobra.Command{
		Use:     "exec [flags] [--] PROGRAM [ARGS...]",
		Short:   "Run a program concretely inside the machine",
		Example: "  symchef exec {interpreter} --version\n  echo hello | symchef exec -- cat",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			defer endsAtOnce()()
			var in io.Reader
			if st, err := os.Stdin.Stat(); err == nil && st.Mode()&os.ModeCharDevice == 0 {
				in = os.Stdin
			}
			limit, err := parseSize(maxMem)
			if err != nil {
				return err
			}
			if !slices.Contains(session.CPUs(), cpu) {
				return fmt.Errorf("--cpu %s: want %s", cpu, strings.Join(session.CPUs(), " or "))
			}
			*status = session.Exec(args, in, stdout, os.Stderr, stats, limit, cpu)
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVar(&cpu, "cpu", session.CPUV2, "the processor that the program sees: v2 or v3")
	c.Flags().BoolVar(&stats, "stats", false, "print the number of instructions at the end")
	c.Flags().StringVar(&maxMem, "max-memory", "4G", "memory of the machine, of which one process of the program may use half; 0: no limit")
	return c
}
