// Package session does what `symchef run` does: it resolves a test to an
// interpreter, boots it, explores, keeps the run directory, replays, and says
// what was found.
package session

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/solver"
	"symchef/internal/testcase"
	"symchef/internal/timeline"
)

// Options are the settings of a run. Zero limits mean none.
type Options struct {
	Out              string
	Time             time.Duration // of the exploration, wall clock
	Instructions     uint64
	Turn             uint64 // instructions after which the run rests; it bounds no path, as Instructions does
	MaxPaths         int
	MaxMemory        uint64        // bytes of this process
	Workers          int           // that explore in parallel; 0 means 1
	PathTime         time.Duration // wall clock; 0: none
	PathInstructions uint64        // 0: see pathInstructions
	Strategy         string
	Complete         bool // explore by complete high-level states: each high-level path that is reported has all its low-level paths
	Seed             uint64
	Interpreter      string
	NoReplay         bool
	ReplayMode       replay.Mode     // how replay confines; "" is the best there is
	Unconfined       bool            // replay without confinement where the kernel offers none
	AllPaths         bool            // a test case for every low-level path
	Coverage         bool            // a test case for every low-level path that takes a branch of native code that none has, too; see nativeEdges
	Class            []testcase.Part // by which paths are told into classes; nil: all
	SMT2             bool            // keep each test case's path condition
	JSON             bool
	Progress         string // auto, plain, none
	NoCache          bool   // neither read nor write boot snapshots
	CPU              string // of CPUs: the processor that programs see; "" is v2
	Boot             string // of Boots: how the interpreter starts; "" is BootAuto
	CacheDir         string // of boot snapshots; "" is the user's cache folder
	Fallback         string // path of a SAT solver with CaDiCaL's options, for queries beyond the budget; "" is none

	// CrossCheck is the path of cvc5 or z3, which is asked about every CrossEvery-th (0: every) query that the built-in
	// solver finds unsatisfiable; if they disagree the run ends with an error. Satisfiable ones are always evaluated.
	CrossCheck string
	CrossEvery int

	// Models are the families of models of interpreter functions to use, of model.Families; nil: all. None changes
	// what the program does, all make it easier to explore.
	Models []string

	// Merge lets one state go on for both ways of a branch where these meet again soon.
	Merge bool

	// Checkpoint is the time between two checkpoints, if they are cheap.
	Checkpoint time.Duration
	// Resume is the run directory of a run to go on with; then there is neither test nor program.
	Resume string
	// Brief leaves out of the text what a table of several runs says better.
	Brief bool
	// OnShown is called with the summary that the result shows.
	OnShown func(rundir.Summary)
	// OnSeveral is called with the names of the tests where Test names a file that has several; nil: that is an error.
	OnSeveral func(names []string)
	// Trace is where it is written what the run does and when; nil: nowhere.
	Trace *timeline.Log
	// Test is PATH[::NAME]; or Program is an argument vector.
	Test    string
	Program []string
	// Pass are variables of the user's environment that the run takes, beside those that every run does: NAME, or NAME=VALUE.
	Pass []string
	// StdinLen is the number of symbolic bytes of standard input; -1: none, standard input is empty.
	StdinLen int
	// ArgvCount symbolic arguments of ArgvLen bytes each follow the program's own.
	ArgvCount, ArgvLen int
	// Files and Env are symbolic files in the working directory and environment variables, with their bytes.
	Files, Env []Named

	// Thinned keeps few pending states longer than a path, Virtual none, Forgetful no engine either; for tests.
	Thinned, Virtual, Forgetful bool
	// ModelSeed makes the solver answer with random models; for tests.
	ModelSeed uint64
	// Slice is the least number of instructions that a path runs before another one does; 0: the explorer's own; for tests.
	Slice uint64
	// BootInstructions is what may stand before the test; 0: some billions; for tests.
	BootInstructions uint64
	// SolverBudget is what a query may take, in propagations; 0: solver.DefaultBudget; for tests.
	SolverBudget uint64
	// Vain is how many such budgets queries may take in vain, for each worker; 0: mostVain of solver.DefaultBudget; for tests.
	Vain uint64
	// OnGive is called when a worker gives jobs to others; for tests.
	OnGive func()
	// OnQuery is called with every query to a worker's solver and its answer; for measurements.
	OnQuery func(*expr.Ctx, solver.Query, solver.Result)
	// OnTest is called with every test case; for tests.
	OnTest func(testcase.Test)
	// OnEnd is called with the first worker's explorer when it has stopped, its pending states still in memory; for measurements.
	OnEnd func(*explore.Explorer)
}

// DefaultMemory is MaxMemory unless said otherwise.
const DefaultMemory = 4 << 30

// Limits of a path unless said otherwise. What ends a path is counted in instructions, so the tree does not depend on the machine.
const (
	// DefaultPathInstructions is the limit of a path's instructions where the run has none; some ten seconds.
	DefaultPathInstructions = 1_000_000_000
	// pathShare is what part of a run's instructions one path may take; leastPathInstructions it always may.
	pathShare             = 8
	leastPathInstructions = 16_000_000
	// bootShare is how many times as many instructions as a path the start of an interpreter, the import and the set-up of a test may take: with libraries that
	// is up to 4,500,000,000. What has computed natively for nativeLimit may take as many as a path in the machine.
	bootShare = 8
)

// pathInstructions is after how many instructions a path is a hang.
func (o *Options) pathInstructions() uint64 {
	switch {
	case o.PathInstructions > 0:
		return o.PathInstructions
	case o.Instructions > 0:
		return min(max(o.Instructions/pathShare, leastPathInstructions), DefaultPathInstructions)
	}
	return DefaultPathInstructions
}

// bootInstructions is how many instructions the machine may take for what stands before the test; slow says that it has computed for nativeLimit already.
func (o *Options) bootInstructions(slow bool) uint64 {
	most := min(max(o.PathInstructions, DefaultPathInstructions), 1<<50)
	if !slow {
		most *= bootShare
	}
	return cmp.Or(o.BootInstructions, most)
}

// mostVain is what queries that are too hard may take together, one after the other with no answer between: so many budgets of one.
const mostVain = 64

// vain is the same in budgets of this run, for all workers.
func (o *Options) vain() uint64 {
	return uint64(max(o.Workers, 1)) * cmp.Or(o.Vain, mostVain*solver.DefaultBudget/cmp.Or(o.SolverBudget, solver.DefaultBudget))
}

// leastMemory is the memory that a path gets even where it is more than a fourth of MaxMemory, in bytes: what an interpreter takes to begin (as in Python).
const leastMemory = 24 << 20

// Named is a symbolic input of a program that has a name.
type Named struct {
	Name string
	Len  int
}

// Exit statuses of `symchef run`.
const (
	StatusOK       = 0
	StatusFailing  = 1
	StatusUsage    = 2
	StatusEngine   = 3
	StatusDiverged = 4
	StatusCtrlC    = 130
)

// usageError is bad input: its text is the one line to show.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// severalError says that a file has several tests where one was to be run.
type severalError struct {
	file  string
	names []string
}

func (e *severalError) Error() string {
	return fmt.Sprintf("%s: several tests in the file, choose one with ::NAME: %s", e.file, strings.Join(e.names, ", "))
}
