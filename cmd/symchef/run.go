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
	"github.com/spf13/pflag"

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

A path is a hang, and ends as a test case of that kind, if it is proved never to end, if it is long and the real program does not end either,
or if it goes beyond --path-instructions or --path-time. Both bound the start before the test, too; a start beyond them has no result. The
summary names every limit that was met under why_not_exhausted.

Several tests, of a file or of folders, run one after the other, each with its own run directory; --out is then the folder for these. They
share --time: what is left of it is divided among the tests that are left. The exit status is the worst of theirs, in this order: 130, 3, 4,
2, 1, 0. In a folder, tests are the files that mention symchef and are called
{patterns};
hidden folders, virtual environments, run directories and files written by symchef emit are passed over.`

func runCmd(status *int) *cobra.Command {
	r := running{o: session.Options{StdinLen: -1}}
	c := &cobra.Command{
		Use:   "run [flags] TEST[::NAME]...  |  run --stdin N [--argv 3x8] [--file NAME:N] [--env NAME:N] -- PROGRAM [ARGS...]",
		Short: "Explore a symbolic test or a program and write its test cases",
		Long:  runLong,
		Example: "  symchef run test_email{suffix}\n  symchef run --time 30s test_email{suffix}::test_email\n  symchef run --time 10m -k 'email and not slow' tests other/test_date{suffix}\n" +
			"  symchef run --stdin 4 -- ./program\n  symchef run --stdin 0 --argv 2x3 -- ./program -v\n  symchef run --file input.ini:16 --env HOME:8 -- ./program input.ini\n  symchef run --resume symchef-out-test_email -j 2",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := r.read(); err != nil {
				return err
			}
			if err := r.check(); err != nil {
				return err
			}
			if err := r.target(cmd, args); err != nil {
				return err
			}
			ctx, stop := interruptible()
			defer stop()
			traced, err := traceTo(r.traceFile)
			if err != nil {
				return err
			}
			r.o.Trace = traced.Log
			*status = runTests(ctx, r.o, args, r.keyword)
			return traced.close()
		},
	}
	r.limitFlags(c.Flags())
	r.searchFlags(c.Flags())
	r.otherFlags(c.Flags())
	return c
}

// running is the options of symchef run, and those flags that have to be read before they are some.
type running struct {
	o                                                                 session.Options
	in                                                                inputs
	replays                                                           how
	maxMem, cupa, traceFile, opt, completeness, class, tests, keyword string
}

// limitFlags: where a run's results go, and when it ends.
func (r *running) limitFlags(f *pflag.FlagSet) {
	f.StringVar(&r.o.Out, "out", "", "run directory (default symchef-out-FILE[-NAME])")
	f.StringVarP(&r.keyword, "keyword", "k", "", "only tests whose FILE::NAME, or FILE::CLASS.NAME, matches: words that it contains, with and, or, not and parentheses; quote words with spaces")
	f.DurationVar(&r.o.Time, "time", 0, "end after this long, start and replay included")
	f.Uint64Var(&r.o.Instructions, "instructions", 0, "stop after this many guest instructions")
	f.IntVar(&r.o.MaxPaths, "max-paths", 0, "stop after this many low-level paths")
	f.StringVar(&r.maxMem, "max-memory", "4G", "memory of this process, at least 64M; states that do not fit are executed again when they are needed; 0: no limit")
	f.IntVarP(&r.o.Workers, "workers", "j", 1, "explore with this many workers in parallel")
	f.DurationVar(&r.o.Checkpoint, "checkpoint", 10*time.Second, "time between checkpoints; --resume goes on from the last one after a crash")
	f.StringVar(&r.o.Resume, "resume", "", "go on with the run in this run directory; you may set new limits")
	f.DurationVar(&r.o.PathTime, "path-time", 0, "a path that takes longer is a hang, too; 0: no limit")
	f.Uint64Var(&r.o.PathInstructions, "path-instructions", 0, fmt.Sprintf("a path of more guest instructions is a hang; 0: an eighth of --instructions, at most %d, which is also the limit without that", session.DefaultPathInstructions))
}

// searchFlags: what is explored first, and which paths become test cases.
func (r *running) searchFlags(f *pflag.FlagSet) {
	f.StringVar(&r.o.Strategy, "strategy", "cupa-path", "search strategy: "+strings.Join(search.Names(), ", "))
	f.StringVar(&r.completeness, "completeness", "partial", "partial: report a high-level path when its first low-level path has ended; complete: when all have, so that its path condition is complete")
	f.StringVar(&r.cupa, "cupa", "", "class-uniform search with these classes, from the top, separated by commas: "+strings.Join(search.SchemeNames(), ", "))
	f.Uint64Var(&r.o.Seed, "seed", 0, "seed of the search and of the guest's random numbers")
	f.StringVar(&r.o.Interpreter, "interpreter", "", "interpreter to use instead of the one found")
	replayFlags(f, &r.replays, "no-replay")
	f.BoolVar(&r.o.AllPaths, "all-paths", false, "a test case for every low-level path; the same as --tests all")
	f.StringVar(&r.tests, "tests", "classes", "which low-level paths become test cases: classes (the first of each high-level path and of each class of behaviour), coverage (those, too, that take new branches in native code of extension modules), all")
	f.StringVar(&r.class, "class", "all", "what tells classes of behaviour apart: all, or some of outcome, message, stdout, stderr, returned, files, separated by commas")
}

// otherFlags: what is kept and shown, the machine, the solver, and the inputs of a program.
func (r *running) otherFlags(f *pflag.FlagSet) {
	f.BoolVar(&r.o.SMT2, "smt2", false, "keep the path condition of each test case as SMT-LIB2 (symchef smt2 prints it later, too)")
	f.StringVar(&r.traceFile, "trace", "", "write a trace to this file, for ui.perfetto.dev: start, paths, forks, queries, translated blocks, test cases, checkpoints, replays")
	f.BoolVar(&r.o.JSON, "json", false, "print the summary as JSON")
	f.BoolVar(&r.o.NoCache, "no-cache", false, "neither use nor write boot snapshots")
	f.StringVar(&r.o.Boot, "boot", session.BootAuto, "how the interpreter starts: natively under ptrace up to the test's import, emulated, or auto: natively if possible")
	f.StringVar(&r.o.CPU, "cpu", session.CPUV2, "the processor that the program sees: v2 (x86-64-v2), or v3 (x86-64-v3, with AVX2, BMI and FMA)")
	f.StringVar(&r.o.Fallback, "fallback-solver", "", "path of CaDiCaL, which decides what the built-in solver leaves undecided")
	f.StringVar(&r.opt, "opt", "all", "models of interpreter functions that would split paths: all, none, or some of "+strings.Join(model.Families(), ", ")+", separated by commas")
	f.BoolVar(&r.o.Merge, "merge", false, "do not fork at a branch whose ways soon meet again: fewer paths, harder queries")
	f.StringVar(&r.o.CrossCheck, "cross-check", "", "path of cvc5 or z3, which checks what the built-in solver finds unsatisfiable; if they disagree, the run ends")
	f.StringVar(&r.o.Progress, "progress", "auto", "auto (a live line on a terminal), plain, none")
	f.IntVar(&r.o.StdinLen, "stdin", -1, "bytes of symbolic standard input of a program")
	f.StringVar(&r.in.argv, "argv", "", "symbolic arguments of a program: COUNTxLENGTH")
	f.StringArrayVar(&r.in.files, "file", nil, "a symbolic file in the working directory of a program: NAME:BYTES; may be repeated")
	f.StringArrayVar(&r.o.Pass, "pass", nil, "pass an environment variable to the program: NAME, or NAME=VALUE; the run directory shows it; may be repeated")
	f.StringArrayVar(&r.in.env, "env", nil, "a symbolic environment variable of a program: NAME:BYTES; may be repeated")
}

// runTests runs what args name: a test or a program by itself, several tests with a table.
func runTests(c context.Context, o session.Options, args []string, keyword string) int {
	if o.Program != nil || o.Resume != "" || len(args) == 1 && keyword == "" && !isFolder(args[0]) {
		several := false
		o.OnSeveral = func([]string) { several = true }
		if status := session.Run(c, o, shownUnless(o.JSON), complaints); !several {
			return status
		}
	}
	return session.RunMany(c, o, args, keyword, shownUnless(o.JSON), complaints)
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// read completes the options by the flags that have to be read.
func (r *running) read() (err error) {
	if r.cupa != "" {
		r.o.Strategy = "cupa:" + r.cupa
	}
	if r.o.Complete = r.completeness == "complete"; !r.o.Complete && r.completeness != "partial" {
		return fmt.Errorf("--completeness %s: want partial or complete", r.completeness)
	}
	if r.o.MaxMemory, err = parseSize(r.maxMem); err != nil {
		return err
	}
	if err := r.in.parse(&r.o); err != nil {
		return err
	}
	r.o.NoReplay = r.replays == "none"
	r.o.ReplayMode, r.o.Unconfined = r.replays.confinement()
	switch r.tests {
	case "classes":
	case "coverage":
		r.o.Coverage = true
	case "all":
		r.o.AllPaths = true
	default:
		return fmt.Errorf("--tests %s: want classes, coverage or all", r.tests)
	}
	if r.o.Class, err = testcase.ParseParts(r.class); err != nil {
		return fmt.Errorf("--class: %w", err)
	}
	r.o.Models, err = parseModels(r.opt)
	return err
}

// check says what is wrong with the options, each by itself.
func (r *running) check() (err error) {
	o := &r.o
	switch {
	case o.Progress != "auto" && o.Progress != "plain" && o.Progress != "none":
		return fmt.Errorf("--progress %s: want auto, plain or none", o.Progress)
	case !slices.Contains(session.Boots(), o.Boot):
		return fmt.Errorf("--boot %s: want %s", o.Boot, strings.Join(session.Boots(), ", "))
	case !slices.Contains(session.CPUs(), o.CPU):
		return fmt.Errorf("--cpu %s: want %s", o.CPU, strings.Join(session.CPUs(), " or "))
	case o.StdinLen > maxStdin:
		return fmt.Errorf("--stdin %d: want 0 to %d bytes", o.StdinLen, maxStdin)
	case o.MaxMemory > 0 && o.MaxMemory < session.LeastMemory:
		return fmt.Errorf("--max-memory %s: the least is %dM; 0 is no limit", r.maxMem, session.LeastMemory>>20)
	case o.Workers < 1 || o.Workers > maxWorkers:
		return fmt.Errorf("--workers %d: want 1 to %d", o.Workers, maxWorkers)
	case o.Time < 0 || o.PathTime < 0 || o.Checkpoint < 0 || o.MaxPaths < 0:
		return errors.New("--time, --path-time, --checkpoint and --max-paths cannot be negative")
	}
	if _, err := search.New(o.Strategy, 0); err != nil {
		return err
	}
	if o.Fallback, err = solverAt("--fallback-solver", o.Fallback); err != nil {
		return err
	}
	if o.CrossCheck, err = solverAt("--cross-check", o.CrossCheck); err != nil {
		return err
	}
	if name := filepath.Base(o.CrossCheck); o.CrossCheck != "" && name != "cvc5" && name != "z3" {
		return fmt.Errorf("--cross-check %s: want cvc5 or z3", o.CrossCheck)
	}
	return nil
}

// solverAt is the path of the solver that a flag names; empty: none.
func solverAt(flag, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	return path, nil
}

// ofTheRun are the flags that a run keeps when it goes on.
var ofTheRun = []string{"out", "strategy", "seed", "cpu", "interpreter", "all-paths", "stdin", "argv", "file", "env", "opt", "class", "tests", "merge", "completeness", "pass", "cupa", "keyword"}

// target takes what is run from the arguments: a run directory, a program, or tests.
func (r *running) target(cmd *cobra.Command, args []string) error {
	changed := cmd.Flags().Changed
	if changed("stdin") && r.o.StdinLen < 0 {
		return fmt.Errorf("--stdin %d: want 0 to %d bytes", r.o.StdinLen, maxStdin)
	}
	switch dash := cmd.ArgsLenAtDash(); {
	case r.o.Resume != "":
		if i := slices.IndexFunc(ofTheRun, changed); i >= 0 {
			return notWithResume("--" + ofTheRun[i])
		}
		if len(args) > 0 {
			return notWithResume(args[0])
		}
	case dash == 0 && len(args) > 0:
		r.o.Program = args
		if r.o.Complete {
			return errors.New("--completeness complete is for tests, not for programs: their high level is not known")
		}
		if r.o.Interpreter != "" {
			return errors.New("--interpreter is for tests, not for programs")
		}
	case len(args) >= 1 && dash < 0:
		if changed("stdin") || r.in.given() {
			return errors.New("--stdin, --argv, --file and --env are for programs: symchef run --stdin N -- ./program")
		}
		for i, test := range args {
			if strings.HasSuffix(test, "::") {
				return fmt.Errorf("%s names no test: want FILE or FILE::NAME", test)
			}
			args[i] = session.Dotted(test)
		}
		r.o.Test = args[0]
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
