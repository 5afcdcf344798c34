// Command symchef explores programs of interpreted languages symbolically, by
// executing the stock interpreter's own binary. This file holds flags and wiring only.
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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"symchef/internal/emit"
	"symchef/internal/interp"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/search"
	"symchef/internal/session"
)

// version is the release; a build of a git checkout adds its revision.
const version = "0.1.0"

func main() {
	replay.MaybeConfineChild()
	debug.SetGCPercent(200)
	status := 0
	root := &cobra.Command{
		Use:           "symchef",
		Short:         "Symbolic execution of stock interpreters: tests in, inputs that break them out",
		Version:       fullVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	stopProfile := cpuProfile(root)
	root.AddCommand(runCmd(&status), execCmd(&status), replayCmd(&status), rerunCmd(&status), emitCmd(), doctorCmd(&status))
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "symchef:", err)
		if status == 0 {
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

func runCmd(status *int) *cobra.Command {
	o := session.Options{StdinLen: -1}
	var maxMem, argv string
	c := &cobra.Command{
		Use:   "run [flags] TEST[::NAME]  |  run --stdin N [--argv 3x8] -- PROGRAM [ARGS...]",
		Short: "Explore a symbolic test or a program and write its test cases",
		Example: "  symchef run test_email.py\n  symchef run --time 30s test_email.py::test_email\n" +
			"  symchef run --stdin 4 -- ./program\n  symchef run --stdin 0 --argv 2x3 -- ./program -v",
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.MaxMemory, err = parseSize(maxMem); err != nil {
				return err
			}
			if argv != "" {
				if _, err := fmt.Sscanf(argv, "%dx%d", &o.ArgvCount, &o.ArgvLen); err != nil || o.ArgvCount < 1 || o.ArgvLen < 1 {
					return fmt.Errorf("--argv %s: want COUNTxLENGTH, for example 3x8", argv)
				}
			}
			switch o.Progress {
			case "auto", "plain", "none":
			default:
				return fmt.Errorf("--progress %s: want auto, plain or none", o.Progress)
			}
			if _, err := search.New(o.Strategy, 0); err != nil {
				return err
			}
			dash := cmd.ArgsLenAtDash()
			switch {
			case dash == 0 && len(args) > 0:
				o.Program = args
				if o.StdinLen < 0 && argv == "" {
					return errors.New("a program needs a symbolic input: give --stdin N or --argv COUNTxLENGTH")
				}
			case len(args) == 1 && dash < 0:
				if o.StdinLen >= 0 || argv != "" {
					return errors.New("--stdin and --argv are for programs: symchef run --stdin N -- ./program")
				}
				o.Test = args[0]
			default:
				return errors.New("name one test file, or a program after --; see symchef run --help")
			}
			ctx, stop := interruptible()
			defer stop()
			*status = session.Run(ctx, o, os.Stdout, os.Stderr)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.Out, "out", "", "run directory (default symchef-out-NAME)")
	f.DurationVar(&o.Time, "time", 0, "stop exploring after this long")
	f.Uint64Var(&o.Instructions, "instructions", 0, "stop after this many guest instructions")
	f.IntVar(&o.MaxPaths, "max-paths", 0, "stop after this many low-level paths")
	f.StringVar(&maxMem, "max-memory", "4G", "stop when the engine's heap exceeds this")
	f.DurationVar(&o.PathTime, "path-time", time.Minute, "end a path that runs longer as a hang")
	f.Uint64Var(&o.PathInstructions, "path-instructions", 0, "end a path after this many instructions as a hang")
	f.StringVar(&o.Strategy, "strategy", "random-path", "search strategy: "+strings.Join(search.Names(), ", "))
	f.Uint64Var(&o.Seed, "seed", 0, "seed of the search and of the guest's random numbers")
	f.StringVar(&o.Interpreter, "interpreter", "", "interpreter to use instead of the one found")
	f.BoolVar(&o.NoReplay, "no-replay", false, "do not replay the test cases natively")
	f.BoolVar(&o.Unconfined, "replay-unconfined", false, "replay even where the kernel offers no confinement")
	f.BoolVar(&o.AllPaths, "all-paths", false, "a test case for every low-level path")
	f.BoolVar(&o.JSON, "json", false, "print the summary as JSON")
	f.BoolVar(&o.NoCache, "no-cache", false, "neither use nor write boot snapshots")
	f.StringVar(&o.Progress, "progress", "auto", "auto (a live line on a terminal), plain, none")
	f.IntVar(&o.StdinLen, "stdin", -1, "bytes of symbolic standard input of a program")
	f.StringVar(&argv, "argv", "", "symbolic arguments of a program: COUNTxLENGTH")
	return c
}

func parseSize(s string) (uint64, error) {
	if s == "" || s == "0" {
		return 0, nil
	}
	mult := uint64(1)
	switch s[len(s)-1] {
	case 'K', 'k':
		mult = 1 << 10
	case 'M', 'm':
		mult = 1 << 20
	case 'G', 'g':
		mult = 1 << 30
	}
	if mult > 1 {
		s = s[:len(s)-1]
	}
	n, err := strconv.ParseUint(s, 10, 40)
	if err != nil {
		return 0, fmt.Errorf("--max-memory: %q is no size; write for example 4G", s)
	}
	return n * mult, nil
}

func execCmd(status *int) *cobra.Command {
	var stats bool
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
			*status = session.Exec(args, in, os.Stdout, os.Stderr, stats)
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().BoolVar(&stats, "stats", false, "print the number of instructions at the end")
	return c
}

func replayCmd(status *int) *cobra.Command {
	var id string
	var unconfined bool
	c := &cobra.Command{
		Use:     "replay DIR",
		Short:   "Run the test cases of a run directory natively, confined, and compare",
		Example: "  symchef replay symchef-out-test_email\n  symchef replay --test t000002 symchef-out-test_email",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			lib, cleanup, err := session.GuestLibrary()
			if err != nil {
				return err
			}
			defer cleanup()
			ctx, stop := interruptible()
			defer stop()
			rep, err := replay.Dir(ctx, args[0], id, replay.Options{GuestLib: lib, Unconfined: unconfined})
			if err != nil {
				if !errors.Is(err, rundir.ErrNotRunDir) {
					*status = session.StatusEngine
				}
				return fmt.Errorf("%s: %w", args[0], err)
			}
			for _, r := range rep.Results {
				fmt.Printf("%s %s: %s %s\n", r.ID, r.Verdict, r.Machine, r.Why)
			}
			fmt.Printf("replay (%s): %d agreed, %d diverged, %d unstable, %d not compared\n", rep.Mode, rep.Agreed, rep.Diverged, rep.Unstable, rep.Skipped)
			if rep.Diverged > 0 {
				*status = session.StatusDiverged
			}
			return nil
		},
	}
	c.Flags().StringVar(&id, "test", "", "only this test case")
	c.Flags().BoolVar(&unconfined, "replay-unconfined", false, "replay even where the kernel offers no confinement")
	return c
}

func rerunCmd(status *int) *cobra.Command {
	var id string
	c := &cobra.Command{
		Use:   "rerun DIR",
		Short: "Execute the test cases of a run directory again in the machine, from their decision logs",
		Long: "Execute the test cases of a run directory again in the machine, each from its decision log, and compare\n" +
			"path, outcome and output. A path that strays from its log is an error of symchef (status 3), unless the\n" +
			"program under test, the interpreter or symchef itself has changed since.",
		Example: "  symchef rerun symchef-out-test_email\n  symchef rerun --test t000002 symchef-out-test_email",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := interruptible()
			defer stop()
			*status = session.Rerun(ctx, args[0], id, os.Stdout, os.Stderr)
			return nil
		},
	}
	c.Flags().StringVar(&id, "test", "", "only this test case")
	return c
}

func emitCmd() *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use:     "emit --format pytest DIR",
		Short:   "Write the test cases of a run directory as a test file",
		Example: "  symchef emit --format pytest symchef-out-test_email > test_email_generated.py",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := rundir.Open(args[0])
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			tests, torn, err := r.Tests()
			if err != nil {
				return err
			}
			if torn {
				fmt.Fprintln(os.Stderr, "symchef: the last line of tests.jsonl was cut off and is left out")
			}
			w := io.Writer(os.Stdout)
			if out != "" {
				f, err := os.Create(out)
				if err != nil {
					return err
				}
				defer f.Close()
				w = f
			}
			return emit.Write(w, emit.Format(format), out, r.Summary.Target, tests)
		},
	}
	c.Flags().StringVar(&format, "format", "pytest", "pytest or unittest")
	c.Flags().StringVarP(&out, "output", "o", "", "file to write (default standard output)")
	return c
}

func doctorCmd(status *int) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this machine",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Println("symchef", fullVersion())
			for _, d := range interp.All() {
				f, err := d.Find(interp.FindOptions{})
				if err != nil {
					fmt.Printf("  %-10s not usable: %v\n", d.Language, err)
					*status = session.StatusUsage
					continue
				}
				fmt.Printf("  %-10s %s %s (%s), build %s\n", d.Language, f.ELF, f.Version, f.Origin, f.Image.BuildID)
				for _, n := range f.Notes {
					fmt.Printf("  %-10s %s\n", "", n)
				}
			}
			best := "none: replay is refused unless --replay-unconfined is given"
			for _, m := range []replay.Mode{replay.Landlock, replay.Namespaces} {
				if err := replay.Probe(context.Background(), m); err == nil {
					best = string(m)
				}
			}
			fmt.Printf("  %-10s confinement by %s\n", "replay", best)
			return nil
		},
	}
}
