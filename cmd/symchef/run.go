package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"symchef/internal/model"
	"symchef/internal/search"
	"symchef/internal/session"
	"symchef/internal/testcase"
)

// The most symbolic bytes of standard input and of each kind of argument; Linux
// takes no more in one argument (MAX_ARG_STRLEN).
const (
	maxStdin   = 1 << 20
	maxArgv    = 1 << 17
	maxWorkers = 256
)

const runLong = `Explore a symbolic test, or a program, and write its test cases to a run directory.

Exit status: 0 explored, nothing failed; 1 a failing test case was found; 2 bad input; 3 the engine could not
go on; 4 a test case diverged on the real interpreter; 130 interrupted (SIGINT, SIGTERM, SIGHUP), everything found so far is saved.

A path that is proved never to end, that is long and does not end on the real program either, or that goes beyond --path-instructions or
--path-time, ends as a test case of kind hang. What stands before the test is bounded by both, too, and beyond that there is no result.
Every limit that was met is named under why_not_exhausted.

Several tests, of a file or of folders, run one after the other, each with a run directory of its own; --out is then the folder of these, and
--time is shared: what is left of it is divided among the tests that are left. The exit status is the worst of theirs, in this order: 130, 3,
4, 2, 1, 0. In a folder those files are tests that mention symchef and are called test_*.py or *_test.py, test_*.lua or *_test.lua, test_*.R,
test-*.R or *_test.R; hidden folders, virtual environments, run directories and files written by symchef emit are passed over.`

func runCmd(status *int) *cobra.Command {
	o := session.Options{StdinLen: -1}
	var maxMem, cupa string
	var in inputs
	var opt, completeness, class, tests, keyword string
	var replays how
	c := &cobra.Command{
		Use:   "run [flags] TEST[::NAME]...  |  run --stdin N [--argv 3x8] [--file NAME:N] [--env NAME:N] -- PROGRAM [ARGS...]",
		Short: "Explore a symbolic test or a program and write its test cases",
		Long:  runLong,
		Example: "  symchef run test_email.py\n  symchef run --time 30s test_email.py::test_email\n  symchef run --time 10m -k 'email and not slow' tests other/test_date.py\n" +
			"  symchef run --stdin 4 -- ./program\n  symchef run --stdin 0 --argv 2x3 -- ./program -v\n  symchef run --file input.ini:16 --env HOME:8 -- ./program input.ini\n  symchef run --resume symchef-out-test_email -j 2",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if cupa != "" {
				o.Strategy = "cupa:" + cupa
			}
			if o.Complete = completeness == "complete"; !o.Complete && completeness != "partial" {
				return fmt.Errorf("--completeness %s: want partial or complete", completeness)
			}
			if err := check(cmd, &o, args, maxMem, in); err != nil {
				return err
			}
			o.NoReplay = replays == "none"
			o.ReplayMode, o.Unconfined = replays.confinement()
			switch tests {
			case "classes":
			case "coverage":
				o.Coverage = true
			case "all":
				o.AllPaths = true
			default:
				return fmt.Errorf("--tests %s: want classes, coverage or all", tests)
			}
			if o.Class, err = testcase.ParseParts(class); err != nil {
				return fmt.Errorf("--class: %w", err)
			}
			if o.Models, err = parseModels(opt); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			*status = runTests(ctx, o, args, keyword)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.Out, "out", "", "run directory (default symchef-out-FILE[-NAME])")
	f.StringVarP(&keyword, "keyword", "k", "", "only tests for whose FILE::NAME this holds: words, each true where it is part of it, with and, or, not, parentheses; words with spaces in quotes")
	f.DurationVar(&o.Time, "time", 0, "end after this long: the start, exploring, and replay, for which a share is kept")
	f.Uint64Var(&o.Instructions, "instructions", 0, "stop after this many guest instructions")
	f.IntVar(&o.MaxPaths, "max-paths", 0, "stop after this many low-level paths")
	f.StringVar(&maxMem, "max-memory", "4G", "memory of this process, at least 64M; states that do not fit are executed again; 0: no limit")
	f.IntVarP(&o.Workers, "workers", "j", 1, "explore with this many workers in parallel")
	f.DurationVar(&o.Checkpoint, "checkpoint", 10*time.Second, "time between two checkpoints, from which --resume goes on after a crash")
	f.StringVar(&o.Resume, "resume", "", "go on with the run in this run directory; new limits may be given")
	f.DurationVar(&o.PathTime, "path-time", 0, "wall clock after which a path is a hang too; 0: no limit")
	f.Uint64Var(&o.PathInstructions, "path-instructions", 0, fmt.Sprintf("guest instructions after which a path is a hang; 0: an eighth of --instructions, at most %d, which it is without", session.DefaultPathInstructions))
	f.StringVar(&o.Strategy, "strategy", "cupa-path", "search strategy: "+strings.Join(search.Names(), ", "))
	f.StringVar(&completeness, "completeness", "partial", "partial: report a high-level path when its first low-level path has ended; complete: when all have, which is how its path condition is complete")
	f.StringVar(&cupa, "cupa", "", "class-uniform search with these classes, from the top, commas between: "+strings.Join(search.SchemeNames(), ", "))
	f.Uint64Var(&o.Seed, "seed", 0, "seed of the search and of the guest's random numbers")
	f.StringVar(&o.Interpreter, "interpreter", "", "interpreter to use instead of the one found")
	replayFlags(f, &replays, "no-replay")
	f.BoolVar(&o.AllPaths, "all-paths", false, "a test case for every low-level path; the same as --tests all")
	f.StringVar(&tests, "tests", "classes", "which low-level paths are test cases: classes, the first of each high-level path and of each class of behaviour; coverage, those that take new branches of extension modules' native code, too; all")
	f.StringVar(&class, "class", "all", "what tells classes of behaviour apart: all, or of outcome, message, stdout, stderr, returned, files, commas between")
	f.BoolVar(&o.SMT2, "smt2", false, "keep the path condition of each test case as SMT-LIB2 (symchef smt2 prints it later, too)")
	f.BoolVar(&o.JSON, "json", false, "print the summary as JSON")
	f.BoolVar(&o.NoCache, "no-cache", false, "neither use nor write boot snapshots")
	f.StringVar(&o.Boot, "boot", session.BootAuto, "how the interpreter starts: natively under ptrace up to the test's import, emulated, or auto: natively if possible")
	f.StringVar(&o.Fallback, "fallback-solver", "", "CaDiCaL's path: it is asked what the built-in solver leaves undecided")
	f.StringVar(&opt, "opt", "all", "models of interpreter functions that would split paths: all, none, or of "+strings.Join(model.Families(), ", ")+", commas between")
	f.BoolVar(&o.Merge, "merge", false, "let one state go on for both ways of a branch that meet again soon, instead of forking: fewer paths, harder queries")
	f.StringVar(&o.CrossCheck, "cross-check", "", "cvc5's or z3's path: it is asked about what the built-in solver finds unsatisfiable; disagreement ends the run")
	f.StringVar(&o.Progress, "progress", "auto", "auto (a live line on a terminal), plain, none")
	f.IntVar(&o.StdinLen, "stdin", -1, "bytes of symbolic standard input of a program")
	f.StringVar(&in.argv, "argv", "", "symbolic arguments of a program: COUNTxLENGTH")
	f.StringArrayVar(&in.files, "file", nil, "a symbolic file in the working directory of a program: NAME:BYTES; may be repeated")
	f.StringArrayVar(&o.Pass, "pass", nil, "a variable of the environment that the program gets, and the run directory shows: NAME, or NAME=VALUE; may be repeated")
	f.StringArrayVar(&in.env, "env", nil, "a symbolic environment variable of a program: NAME:BYTES; may be repeated")
	return c
}

// runTests runs what args name: a test or a program by itself, several tests with a table.
func runTests(c context.Context, o session.Options, args []string, keyword string) int {
	if o.Program != nil || o.Resume != "" || len(args) == 1 && keyword == "" && !isFolder(args[0]) {
		several := false
		o.OnSeveral = func([]string) { several = true }
		if status := session.Run(c, o, stdout, os.Stderr); !several {
			return status
		}
	}
	return session.RunMany(c, o, args, keyword, stdout, os.Stderr)
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// check completes o from the flags that need reading and says what is wrong with them.
func check(cmd *cobra.Command, o *session.Options, args []string, maxMem string, in inputs) (err error) {
	if o.MaxMemory, err = parseSize(maxMem); err != nil {
		return err
	}
	if err := in.parse(o); err != nil {
		return err
	}
	stdin := cmd.Flags().Changed("stdin")
	switch {
	case o.Progress != "auto" && o.Progress != "plain" && o.Progress != "none":
		return fmt.Errorf("--progress %s: want auto, plain or none", o.Progress)
	case !slices.Contains(session.Boots(), o.Boot):
		return fmt.Errorf("--boot %s: want %s", o.Boot, strings.Join(session.Boots(), ", "))
	case stdin && (o.StdinLen < 0 || o.StdinLen > maxStdin):
		return fmt.Errorf("--stdin %d: want 0 to %d bytes", o.StdinLen, maxStdin)
	case o.MaxMemory > 0 && o.MaxMemory < session.LeastMemory:
		return fmt.Errorf("--max-memory %s: the least is %dM; 0 is no limit", maxMem, session.LeastMemory>>20)
	case o.Workers < 1 || o.Workers > maxWorkers:
		return fmt.Errorf("--workers %d: want 1 to %d", o.Workers, maxWorkers)
	case o.Time < 0 || o.PathTime < 0 || o.MaxPaths < 0:
		return errors.New("--time, --path-time and --max-paths cannot be negative")
	}
	if _, err := search.New(o.Strategy, 0); err != nil {
		return err
	}
	if o.Fallback != "" {
		if o.Fallback, err = exec.LookPath(o.Fallback); err != nil {
			return fmt.Errorf("--fallback-solver: %w", err)
		}
	}
	if o.CrossCheck != "" {
		if o.CrossCheck, err = exec.LookPath(o.CrossCheck); err != nil {
			return fmt.Errorf("--cross-check: %w", err)
		}
		if name := filepath.Base(o.CrossCheck); name != "cvc5" && name != "z3" {
			return fmt.Errorf("--cross-check %s: want cvc5 or z3", o.CrossCheck)
		}
	}
	switch dash := cmd.ArgsLenAtDash(); {
	case o.Resume != "":
		for _, f := range []string{"out", "strategy", "seed", "interpreter", "all-paths", "stdin", "argv", "file", "env", "opt", "class", "tests", "merge", "completeness", "pass", "cupa", "keyword"} {
			if cmd.Flags().Changed(f) {
				return notWithResume("--" + f)
			}
		}
		if len(args) > 0 {
			return notWithResume(args[0])
		}
	case dash == 0 && len(args) > 0:
		o.Program = args
		if o.Complete {
			return errors.New("--completeness complete is for tests, not for programs: their high level is not known")
		}
		if o.Interpreter != "" {
			return errors.New("--interpreter is for tests, not for programs")
		}
	case len(args) >= 1 && dash < 0:
		if stdin || in.given() {
			return errors.New("--stdin, --argv, --file and --env are for programs: symchef run --stdin N -- ./program")
		}
		o.Test = args[0]
	default:
		return errors.New("name a test file or folder, or a program after --; see symchef run --help")
	}
	return nil
}

func notWithResume(what string) error {
	return fmt.Errorf("%s cannot be given with --resume, which goes on with the run as it was: only limits, --workers and what concerns the report can", what)
}

// parseModels reads --opt.
func parseModels(s string) ([]string, error) {
	switch s {
	case "all":
		return nil, nil
	case "none":
		return []string{}, nil
	}
	list := strings.Split(s, ",")
	for _, m := range list {
		if !slices.Contains(model.Families(), m) {
			return nil, fmt.Errorf("--opt %s: want all, none, or of %s", s, strings.Join(model.Families(), ", "))
		}
	}
	return list, nil
}

// inputs are the symbolic inputs of a program but for standard input, as they were given.
type inputs struct {
	argv       string
	files, env []string
}

func (in inputs) given() bool { return in.argv != "" || len(in.files)+len(in.env) > 0 }

func (in inputs) parse(o *session.Options) (err error) {
	if in.argv != "" {
		if o.ArgvCount, o.ArgvLen, err = parseArgv(in.argv); err != nil {
			return err
		}
	}
	if o.Files, err = parseNamed("file", in.files, filepath.IsLocal, "a path below the working directory"); err != nil {
		return err
	}
	for _, p := range o.Pass {
		if name, _, _ := strings.Cut(p, "="); name == "" || strings.Contains(p, "\x00") {
			return fmt.Errorf("--pass %q: want NAME or NAME=VALUE", p)
		}
	}
	isVariable := func(s string) bool { return s != "" && !strings.ContainsAny(s, "=\x00") }
	o.Env, err = parseNamed("env", in.env, isVariable, "the name of a variable")
	return err
}

// parseNamed reads NAME:BYTES.
func parseNamed(flag string, list []string, valid func(string) bool, what string) (out []session.Named, err error) {
	seen := map[string]bool{}
	for _, s := range list {
		at := strings.LastIndexByte(s, ':')
		n, err := strconv.Atoi(s[at+1:])
		if at < 0 || err != nil || n < 1 || n > maxArgv {
			return nil, fmt.Errorf("--%s %s: want NAME:BYTES, for example data:16", flag, s)
		}
		name := s[:at]
		if !valid(name) {
			return nil, fmt.Errorf("--%s %s: %q is not %s", flag, s, name, what)
		}
		if flag == "file" {
			name = filepath.Clean(name)
		}
		if seen[name] {
			return nil, fmt.Errorf("--%s %s: %s is given twice", flag, s, name)
		}
		seen[name] = true
		out = append(out, session.Named{Name: name, Len: n})
	}
	return out, nil
}

// parseArgv reads COUNTxLENGTH.
func parseArgv(s string) (n, size int, err error) {
	count, length, _ := strings.Cut(s, "x")
	n, err1 := strconv.Atoi(count)
	size, err2 := strconv.Atoi(length)
	if err1 != nil || err2 != nil || n < 1 || size < 1 || size >= maxArgv || n > maxArgv/size {
		return 0, 0, fmt.Errorf("--argv %s: want COUNTxLENGTH, for example 3x8", s)
	}
	return n, size, nil
}

// parseSize reads a number of bytes with an optional K, M or G.
func parseSize(s string) (uint64, error) {
	digits, shift := s, 0
	if i := strings.IndexAny(strings.ToUpper(s), "KMG"); i >= 0 && i == len(s)-1 {
		digits, shift = s[:i], map[byte]int{'K': 10, 'M': 20, 'G': 30}[s[i]&^0x20]
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n > math.MaxUint64>>shift {
		return 0, fmt.Errorf("--max-memory: %q is no size; write for example 4G", s)
	}
	return n << shift, nil
}
