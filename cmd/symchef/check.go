package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"symchef/internal/session"
)

const checkLong = `Explore the public functions of a file, a folder, a module or an installed distribution, with no test written: each is called with inputs
that its annotations, defaults and docstrings tell, in the machine, as a test is. What leaves a function and is neither documented nor one of the
package's own exceptions is a finding, and so are failed assertions, crashes and hangs, each confirmed on the real interpreter.

TARGET:FUNCTION and TARGET:CLASS.METHOD check one function or class. Each function has a run directory below that of the check, which replay, emit and tree
read.

Exit status: 0 nothing found; 1 findings; 2 the target is refused; 3 the engine could not go on; 130 interrupted, everything found so far is saved.`

func checkCmd(status *int) *cobra.Command {
	o := session.CheckupOptions{Options: session.Options{StdinLen: -1}}
	var maxMem string
	var replays how
	var list bool
	c := &cobra.Command{
		Use:     "check [flags] TARGET[:FUNCTION|:CLASS.METHOD]",
		Short:   "Find what the functions of a module should not do, with no test written",
		Long:    checkLong,
		Example: "  symchef check module{suffix}\n  symchef check --time 2m package\n  symchef check package.module:function\n  symchef check --resume symchef-check-package",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.MaxMemory, err = parseSize(maxMem); err != nil {
				return err
			}
			target := ""
			switch {
			case o.Resume != "" && (len(args) > 0 || o.Out != "" || o.Keyword != ""):
				return errors.New("--resume goes on with a check as it was: it takes no target, --out or --keyword")
			case o.Resume == "" && len(args) == 0:
				return errors.New("name a file, a folder or a module; see symchef check --help")
			case len(args) == 1:
				target = args[0]
			}
			switch {
			case o.Progress != "auto" && o.Progress != "plain" && o.Progress != "none":
				return fmt.Errorf("--progress %s: want auto, plain or none", o.Progress)
			case o.MaxMemory > 0 && o.MaxMemory < session.LeastMemory:
				return fmt.Errorf("--max-memory %s: the least is %dM; 0 is no limit", maxMem, session.LeastMemory>>20)
			case o.Workers < 1 || o.Workers > maxWorkers:
				return fmt.Errorf("--workers %d: want 1 to %d", o.Workers, maxWorkers)
			case o.Time < 0:
				return errors.New("--time cannot be negative")
			}
			o.NoReplay = replays == "none"
			o.ReplayMode, o.Unconfined = replays.confinement()
			ctx, stop := interruptible()
			defer stop()
			if list {
				*status = session.ListFunctions(ctx, o.Options, target, shownUnless(o.JSON), complaints)
				return nil
			}
			*status = session.Check(ctx, o, target, shownUnless(o.JSON), complaints)
			return nil
		},
	}
	o.Boot, o.CPU, o.Strategy, o.Checkpoint = session.BootAuto, session.CPUV2, "cupa-path", 10*time.Second
	f := c.Flags()
	f.StringVar(&o.Out, "out", "", "check directory (default symchef-check-TARGET)")
	f.BoolVar(&list, "list", false, "only list the functions, what each parameter takes and who says so")
	f.StringVar(&o.Baseline, "baseline", "", "findings in this file do not count")
	f.BoolVar(&o.WriteBaseline, "write-baseline", false, "write the findings to the file of --baseline, or of the settings")
	f.StringVar(&o.JUnit, "junit", "", "write the result to this file as JUnit's XML, too")
	f.StringVar(&o.SARIF, "sarif", "", "write the findings to this file as SARIF 2.1.0, too")
	f.StringVarP(&o.Keyword, "keyword", "k", "", "only functions for whose name this holds: words, each true where it is part of it, with and, or, not, parentheses")
	f.DurationVar(&o.Time, "time", 0, "end after this long; all functions share it")
	f.Uint64Var(&o.Instructions, "instructions", 0, fmt.Sprintf("guest instructions for each function, in turns that grow; without --time and this %d", session.DefaultCheckInstructions))
	f.StringVar(&maxMem, "max-memory", "4G", "memory of this process, at least 64M; 0: no limit")
	f.IntVarP(&o.Workers, "workers", "j", 1, "explore with this many workers in parallel")
	f.StringVar(&o.Resume, "resume", "", "go on with the check in this directory")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of the search and of the guest's random numbers")
	f.StringVar(&o.Interpreter, "interpreter", "", "interpreter to use instead of the one found")
	f.StringVar(&o.Progress, "progress", "auto", "auto, plain or none")
	f.BoolVar(&o.JSON, "json", false, "print the result as JSON")
	replayFlags(f, &replays, "no-replay")
	return c
}
