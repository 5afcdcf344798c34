package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"symchef/internal/emit"
	"symchef/internal/interp"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/session"
	"symchef/internal/testcase"
)

// The commands that work on a run directory.

func replayCmd(status *int) *cobra.Command {
	var id string
	var asJSON bool
	var replays how
	var workers int
	c := &cobra.Command{
		Use:   "replay [flags] DIR",
		Short: "Run the test cases of a run directory natively, confined, and compare",
		Long: "Run the test cases of a run directory natively, confined, and compare outcome and output with what the\n" +
			"machine saw. Exit status: 0 nothing diverged; 2 bad input; 3 replay could not work; 4 a test case diverged.",
		Example: "  symchef replay symchef-out-test_email\n  symchef replay --test t000002 symchef-out-test_email",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			mode, unconfined := replays.confinement()
			if workers < 1 || workers > maxWorkers {
				return fmt.Errorf("--workers %d: want 1 to %d", workers, maxWorkers)
			}
			if replays == "none" {
				return errors.New("--replay none: then there is nothing to do")
			}
			if _, err := rundir.Open(args[0]); err != nil { // what is no run directory need not be writable
				return err
			}
			var w *rundir.Writer // nil: the verdict on one is not recorded
			if id == "" {
				var err error
				if w, err = rundir.Lock(args[0]); err != nil {
					return err
				}
				defer w.Close()
			}
			r, tests, err := open(args[0], id)
			if err != nil {
				return err
			}
			if _, err := os.Stat(r.Summary.Target.Executable()); err != nil {
				return fmt.Errorf("%s: what it ran is gone: %w", args[0], err)
			}
			lib, cleanup, err := session.GuestLibrary()
			if err != nil {
				return err
			}
			defer cleanup()
			ctx, stop := interruptible()
			defer stop()
			rep, err := replay.Dir(ctx, r, w, tests, replay.Options{GuestLib: lib, Mode: mode, Unconfined: unconfined, Parallel: workers, Cause: session.Causes(r), Bound: session.Bounds(r), Doubt: session.Doubts(r), Settle: session.Settle(tests)})
			if ctx.Err() != nil {
				*status = session.StatusCtrlC
			}
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				err = errors.New("interrupted")
			}
			if err != nil && len(rep.Results) == 0 {
				return engineError{err}
			}
			if asJSON {
				b, _ := json.MarshalIndent(record(&rep), "", "  ")
				fmt.Fprintf(stdout, "%s\n", b)
			} else {
				session.WriteReplay(stdout, &rep, true)
			}
			if id == "" && err == nil && !asJSON {
				if d, err := rundir.Open(args[0]); err == nil {
					session.WriteExhausted(stdout, &d.Summary, args[0])
				}
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
	c.Flags().IntVarP(&workers, "workers", "j", 2, "run this many test cases at a time")
	replayFlags(c.Flags(), &replays)
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

// known says that the language of a run's test is not known here.
func known(g testcase.Target) error {
	if _, ok := interp.ByName(string(g.Kind)); !ok && g.Kind != testcase.Program {
		return fmt.Errorf("its language, %s, is one from outside: --language DIR is needed here, too", g.Kind)
	}
	return nil
}

// open reads the run directory dir and its test cases, or only the one named id if that is not empty.
func open(dir, id string) (*rundir.Reader, []testcase.Test, error) {
	r, err := rundir.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	if err := known(r.Summary.Target); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	tests, torn, err := r.Tests()
	if err == nil && id != "" {
		at := slices.IndexFunc(tests, func(t testcase.Test) bool { return t.ID == id })
		if at < 0 {
			return nil, nil, fmt.Errorf("%s has no test %q", dir, id)
		}
		tests = tests[at : at+1]
	}
	if err == nil {
		err = r.Summary.Target.Check()
	}
	if torn && err == nil {
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
			"path, outcome and output. A path that strays from its log is an error of symchef (status 3). Where the test, a\n" +
			"file it has looked at, the interpreter or symchef itself has changed since, that is said (status 2).",
		Example: "  symchef rerun symchef-out-test_email\n  symchef rerun --test t000002 symchef-out-test_email",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := interruptible()
			defer stop()
			*status = session.Rerun(ctx, args[0], id, stdout, os.Stderr)
			return nil
		},
	}
	c.Flags().StringVar(&id, "test", "", "only this test case")
	return c
}

func smt2Cmd(status *int) *cobra.Command {
	return &cobra.Command{
		Use:     "smt2 DIR ID",
		Short:   "Print the path condition of a test case as SMT-LIB2",
		Long:    "Print the path condition of a test case as SMT-LIB2, with the symbolic bytes of its output: the test case is\nexecuted again in the machine. `run --smt2` keeps those of all test cases in the run directory.",
		Example: "  symchef smt2 symchef-out-test_email t000002",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			ctx, stop := interruptible()
			defer stop()
			*status = session.Condition(ctx, args[0], args[1], stdout, os.Stderr)
			return nil
		},
	}
}

// corpus is a format that is no file: a folder of inputs.
const corpus = "corpus"

// writeFile makes b the content of a file, and waits for nobody: a FIFO has a reader, or it is an error.
func writeFile(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
	if errors.Is(err, syscall.ENXIO) {
		return fmt.Errorf("%s: nobody reads from this FIFO, or it is a socket", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// writeCorpus writes the inputs of tests to a folder, which may exist: what is in it stays, but for files of the same names.
func writeCorpus(folder string, tests []testcase.Test) error {
	if folder == "" {
		return errors.New("--format corpus writes a folder: name it with -o")
	}
	files, err := emit.Corpus(tests)
	if err != nil {
		return err
	}
	for name, content := range files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("cannot write the corpus: %w", err)
		}
		if err := writeFile(file, content); err != nil {
			return fmt.Errorf("cannot write the corpus: %w", err)
		}
	}
	return nil
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
			if format == corpus {
				return writeCorpus(out, tests)
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
			if out == "" {
				stdout.Write(b.Bytes())
			} else if err := writeFile(out, b.Bytes()); err != nil {
				return errors.New("cannot write the test file: " + err.Error())
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "", "pytest (default for Python), unittest, busted (default for Lua) or testthat (default for R); for programs sh (default) or pytest; for all corpus, a folder of inputs for a fuzzer")
	c.Flags().StringVarP(&out, "output", "o", "", "file to write (default standard output); of a corpus, the folder")
	return c
}
