package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"symchef/internal/emit"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/session"
	"symchef/internal/testcase"
)

// The commands that work on a run directory.

func replayCmd(status *int) *cobra.Command {
	var id string
	var unconfined, asJSON bool
	c := &cobra.Command{
		Use:   "replay [flags] DIR",
		Short: "Run the test cases of a run directory natively, confined, and compare",
		Long: "Run the test cases of a run directory natively, confined, and compare outcome and output with what the\n" +
			"machine saw. Exit status: 0 nothing diverged; 2 bad input; 3 replay could not work; 4 a test case diverged.",
		Example: "  symchef replay symchef-out-test_email\n  symchef replay --test t000002 symchef-out-test_email",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, _, err := open(args[0], id); err != nil {
				return err
			}
			lib, cleanup, err := session.GuestLibrary()
			if err != nil {
				return engineError{err}
			}
			defer cleanup()
			ctx, stop := interruptible()
			defer stop()
			rep, err := replay.Dir(ctx, args[0], id, replay.Options{GuestLib: lib, Unconfined: unconfined})
			if ctx.Err() != nil {
				*status = session.StatusCtrlC
			}
			if err != nil && len(rep.Results) == 0 {
				return engineError{err}
			}
			if asJSON {
				b, _ := json.MarshalIndent(record(&rep), "", "  ")
				fmt.Printf("%s\n", b)
			} else {
				session.WriteReplay(os.Stdout, &rep, true)
			}
			if rep.Diverged > 0 && *status == session.StatusOK {
				*status = session.StatusDiverged
			}
			if err != nil {
				return engineError{err}
			}
			return nil
		},
	}
	c.Flags().StringVar(&id, "test", "", "only this test case")
	c.Flags().BoolVar(&unconfined, "replay-unconfined", false, "replay even where the kernel offers no confinement")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON")
	return c
}

// replayRecord is what replay --json prints.
type replayRecord struct {
	Mode replay.Mode `json:"mode"`
	rundir.Replay
	Skipped int              `json:"skipped"`
	Results []rundir.Verdict `json:"results"`
}

func record(rep *replay.Report) replayRecord {
	counts, verdicts := rep.Record()
	return replayRecord{rep.Mode, counts, rep.Skipped, verdicts}
}

// open reads the run directory dir, and checks that it has the test case id if that is not empty.
func open(dir, id string) (*rundir.Reader, []testcase.Test, error) {
	r, err := rundir.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	tests, torn, err := r.Tests()
	if err == nil && id != "" {
		_, err = r.Test(id)
	}
	if torn {
		fmt.Fprintln(os.Stderr, "symchef: the last line of tests.jsonl was cut off and is left out")
	}
	return r, tests, err
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
		Use:   "emit [flags] DIR",
		Short: "Write the test cases of a run directory as a test file",
		Long: "Write the test cases of a run directory as a test file that runs without symchef. Findings are marked as\n" +
			"expected to fail; test cases that did not agree natively are named in a comment only.",
		Example: "  symchef emit --format pytest symchef-out-test_email > test_email_generated.py\n" +
			"  symchef emit --format unittest -o tests/email_cases.py symchef-out-test_email",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, tests, err := open(args[0], "")
			if err != nil {
				return err
			}
			verdicts, err := r.Verdicts()
			if err != nil {
				return err
			}
			doubts := map[string]string{}
			for _, v := range verdicts {
				if v.Verdict == string(replay.Diverged) || v.Verdict == string(replay.Unstable) {
					doubts[v.ID] = v.Verdict + " in replay: " + v.Why
				}
			}
			name := out
			if out != "" {
				if name, err = filepath.Abs(out); err != nil {
					return err
				}
			}
			var b bytes.Buffer
			if format == "" {
				f, ok := emit.Default(r.Summary.Target.Kind)
				if !ok {
					return fmt.Errorf("%s: no format is for a %s", args[0], r.Summary.Target.Kind)
				}
				format = string(f)
			}
			if err := emit.Write(&b, emit.Format(format), name, r.Summary.Target, tests, doubts); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if out != "" {
				err = os.WriteFile(out, b.Bytes(), 0o644)
			} else {
				_, err = os.Stdout.Write(b.Bytes())
			}
			if err != nil {
				return engineError{errors.New("cannot write the test file: " + err.Error())}
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "", "pytest (default for Python), unittest, busted (default for Lua) or testthat (default for R)")
	c.Flags().StringVarP(&out, "output", "o", "", "file to write (default standard output)")
	return c
}
