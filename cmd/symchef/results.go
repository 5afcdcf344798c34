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
	r := replaying{status: status}
	c := &cobra.Command{
		Use:   "replay [flags] DIR",
		Short: "Run the test cases of a run directory natively, confined, and compare",
		Long: "Run the test cases of a run directory natively, confined, and compare outcome and output with what the machine saw.\n\n" +
			"If the test, a file it looked at or the interpreter has changed since the run, replay says so and ends with status 2. With\n" +
			"--changed it compares with the program as it is now, which shows whether a finding is still there. That proves nothing, and\n" +
			"the run directory stays as it is.\n\n" +
			"Exit status: 0 nothing diverged; 2 bad input; 3 replay could not work; 4 a test case diverged.",
		Example: "  symchef replay symchef-out-test_email\n  symchef replay --test t000002 symchef-out-test_email",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r.dir = args[0]
			opened := endsAtOnce() // nothing has been done yet that would be lost
			err := r.open()
			opened()
			if err != nil {
				return err
			}
			defer r.close()
			return r.replay()
		},
	}
	c.Flags().StringVar(&r.id, "test", "", "only this test case")
	c.Flags().IntVarP(&r.workers, "workers", "j", 2, "run this many test cases at a time")
	replayFlags(c.Flags(), &r.how)
	c.Flags().BoolVar(&r.changed, "changed", false, "compare with the program as it is now, even if it has changed since the run; record nothing")
	c.Flags().BoolVar(&r.asJSON, "json", false, "print the verdicts as JSON")
	return c
}

// replaying is what symchef replay does, and with what.
type replaying struct {
	status          *int // of the command
	id              string
	asJSON, changed bool
	how             how
	workers         int

	dir   string
	w     *rundir.Writer // nil: verdicts are not recorded, as that on one test case
	run   *rundir.Reader
	tests []testcase.Test
	since error // what has changed since the run; nil: nothing
}

func (r *replaying) close() {
	if r.w != nil {
		r.w.Close()
	}
}

// open checks the flags, and reads the run directory, which the caller closes.
func (r *replaying) open() (err error) {
	if r.workers < 1 || r.workers > maxWorkers {
		return fmt.Errorf("--workers %d: want 1 to %d", r.workers, maxWorkers)
	}
	if r.how == "none" {
		return errors.New("--replay none: then there is nothing to do")
	}
	if _, err := rundir.Open(r.dir); err != nil { // what is no run directory need not be writable
		return err
	}
	if r.id == "" {
		if r.w, err = rundir.Lock(r.dir); err != nil {
			return err
		}
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.run, r.tests, err = open(r.dir, r.id); err != nil {
		return err
	}
	if _, err := os.Stat(r.run.Summary.Target.Executable()); err != nil {
		return fmt.Errorf("%s: what it ran is gone: %w", r.dir, err)
	}
	if r.since = session.Unchanged(r.run); r.since != nil && !r.changed {
		return fmt.Errorf("%s: %w; --changed compares nevertheless", r.dir, r.since)
	}
	return nil
}

// replay runs the test cases and tells what came of them.
func (r *replaying) replay() error {
	lib, cleanup, err := session.GuestLibrary()
	if err != nil {
		return err
	}
	defer cleanup()
	var sofar replay.Results
	w := r.w
	ctx, stop := bounded(func() { keepSoFar(&sofar, r.run, w, r.tests) })
	defer stop()
	for _, line := range session.Lost() {
		fmt.Fprintln(complaints, "symchef:", line)
	}
	mode, unconfined := r.how.confinement()
	kind := r.run.Summary.Target.Kind
	opt := replay.Options{GuestLib: lib, Mode: mode, Unconfined: unconfined, Parallel: r.workers, Shown: session.Words(kind), Progress: sofar.Add}
	if kind != testcase.Program {
		if err := replay.Nameable(ctx, opt); err != nil {
			return err
		}
	}
	if r.since == nil {
		opt.Cause, opt.Bound, opt.Doubt, opt.Settle = session.Causes(r.run), session.Bounds(r.run), session.Doubts(r.run), session.Settle(r.tests)
	} else {
		w = nil // what it finds is not of the run
		if !r.asJSON {
			fmt.Fprintf(people, "compared with what is there now: %v\n", r.since)
		}
	}
	rep, err := replay.Dir(ctx, r.run, w, r.tests, opt)
	if ctx.Err() != nil {
		*r.status = session.StatusCtrlC
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
	}
	if err != nil && len(rep.Results) == 0 {
		return engineError{err}
	}
	return r.tell(&rep, err)
}

// tell prints the report of a replay, which err ended early if it is not nil.
func (r *replaying) tell(rep *replay.Report, err error) error {
	if r.asJSON {
		b, _ := json.MarshalIndent(record(rep, r.since), "", "  ")
		fmt.Fprintf(stdout, "%s\n", b)
	} else {
		session.WriteReplay(people, rep, true)
	}
	if err == nil && !r.asJSON {
		r.tellExhausted()
	}
	if err == nil && r.since != nil {
		if why := rep.Unfit(); why != "" {
			return fmt.Errorf("%s: it does not take these inputs any more: %s", r.dir, why)
		}
	}
	if rep.Diverged > 0 && *r.status == session.StatusOK {
		*r.status = session.StatusDiverged
	}
	if err != nil {
		return engineError{err}
	}
	return nil
}

// tellExhausted says whether the run is exhausted, now that its test cases are replayed. A replay of one says nothing of that.
func (r *replaying) tellExhausted() {
	if r.since != nil {
		session.WriteExhausted(people, &rundir.Summary{WhyNotExhausted: []string{r.since.Error()}}, r.dir)
	} else if r.id == "" {
		if d, err := rundir.Open(r.dir); err == nil {
			session.WriteExhausted(people, &d.Summary, r.dir)
		}
	}
}

// keepSoFar records how far a replay has come, as Dir would.
func keepSoFar(results *replay.Results, r *rundir.Reader, w *rundir.Writer, tests []testcase.Test) {
	rep := results.Report(len(tests))
	if err := replay.Keep(r, w, &rep, session.Settle(tests)); err != nil {
		fmt.Fprintln(complaints, "symchef:", err)
	}
	fmt.Fprintf(complaints, "symchef: %d of %d test cases replayed\n", len(rep.Results), len(tests))
}

// replayRecord is what replay --json prints.
type replayRecord struct {
	Mode replay.Mode `json:"mode"`
	rundir.Replay
	Skipped int              `json:"skipped"`
	Changed string           `json:"changed,omitempty"` // since the run
	Results []rundir.Verdict `json:"results"`
}

// record is for what has changed since the run, nil for nothing.
func record(rep *replay.Report, since error) replayRecord {
	counts, verdicts := rep.Record()
	out := replayRecord{Mode: rep.Mode, Replay: counts, Skipped: rep.Skipped, Results: verdicts}
	if since != nil {
		out.Changed = since.Error()
	}
	return out
}

// warnChanged says on standard error that test cases are of a program that has changed since.
func warnChanged(dir string, r *rundir.Reader) {
	if err := session.HostChanged(r); err != nil {
		fmt.Fprintf(complaints, "symchef: %s: %v: this is what was found then\n", dir, err)
	}
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
			return nil, nil, fmt.Errorf("%s: no test %q", dir, id)
		}
		tests = tests[at : at+1]
	}
	if err == nil {
		err = r.Summary.Target.Check()
	}
	for i := 0; err == nil && r.Summary.Target.Kind == testcase.Program && i < len(tests); i++ {
		if _, e := r.Summary.Target.Call(tests[i].Inputs); e != nil {
			err = fmt.Errorf("%s: test %s: %w", dir, tests[i].ID, e)
		}
	}
	if torn && err == nil {
		fmt.Fprintln(complaints, "symchef: the last line of tests.jsonl was cut off and is left out")
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
			ctx, stop := bounded(nil)
			defer stop()
			*status = session.Rerun(ctx, args[0], id, people, complaints)
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
			ctx, stop := bounded(nil)
			defer stop()
			*status = session.Condition(ctx, args[0], args[1], stdout, complaints)
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
			"expected to fail; test cases that did not agree natively are named in a comment only. Of a check directory it writes a file for each function, to a folder.",
		Example: "  symchef emit --format {format} symchef-out-test_email > test_email_generated{suffix}\n" +
			"  symchef emit --format {other-format} -o tests/email_cases{suffix} symchef-out-test_email\n  symchef emit -o tests/generated symchef-check-package",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			defer endsAtOnce()()
			if runs := session.CheckedRuns(args[0]); runs != nil {
				return emitAll(runs, format, out)
			}
			return emitRun(args[0], format, out)
		},
	}
	c.Flags().StringVar(&format, "format", "", "{formats}; for programs {program-formats}; for all corpus, a folder of inputs for a fuzzer")
	c.Flags().StringVarP(&out, "output", "o", "", "file to write (default standard output); of a corpus or a check, the folder")
	return c
}

// emitRun writes the test cases of one run.
func emitRun(dir, format, out string) error {
	r, tests, err := open(dir, "")
	if err != nil {
		return err
	}
	verdicts, err := r.Verdicts()
	if err != nil {
		return err
	}
	warnChanged(dir, r)
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
			return fmt.Errorf("%s: no format is for a %s", dir, r.Summary.Target.Kind)
		}
		format = string(f)
	}
	if err := emit.Write(&b, emit.Format(format), name, r.Summary.Target, tests, doubts); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if out == "" {
		stdout.Write(b.Bytes())
	} else if err := writeFile(out, b.Bytes()); err != nil {
		return errors.New("cannot write the test file: " + err.Error())
	}
	return nil
}

// emitAll writes those of a check, a file for each function, to the folder out.
func emitAll(runs []session.CheckedRun, format, out string) error {
	if out == "" || format == corpus {
		return errors.New("a check has a run for each function: -o FOLDER says where their test files are to be, in a format of the language")
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, r := range runs {
		if err := emitRun(r.Dir, format, filepath.Join(out, r.File)); err != nil && !errors.Is(err, emit.ErrNoCase) {
			return err
		}
	}
	return nil
}
