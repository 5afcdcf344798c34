// Package session does what `symchef run` does: it resolves a test to an
// interpreter, boots it, explores, keeps the run directory, replays, and says
// what was found.
package session

import (
	"time"

	"symchef/internal/explore"
	"symchef/internal/expr"
	"symchef/internal/solver"
	"symchef/internal/testcase"
)

// Options are the settings of a run. Zero limits mean none.
type Options struct {
	Out              string
	Time             time.Duration // of the exploration, wall clock
	Instructions     uint64
	MaxPaths         int
	MaxMemory        uint64 // bytes of Go heap
	Workers          int    // that explore in parallel; 0 means 1
	PathTime         time.Duration
	PathInstructions uint64
	Strategy         string
	Complete         bool // explore by complete high-level states: each high-level path that is reported has all its low-level paths
	Seed             uint64
	Interpreter      string
	NoReplay         bool
	Unconfined       bool // replay without confinement where the kernel offers none
	AllPaths         bool // a test case for every low-level path
	JSON             bool
	Progress         string // auto, plain, none
	NoCache          bool   // neither read nor write boot snapshots
	Boot             string // of Boots: how the interpreter starts; "" is BootAuto
	CacheDir         string // of boot snapshots; "" is the user's cache folder
	Fallback         string // path of a SAT solver with CaDiCaL's options, for queries beyond the budget; "" is none

	// CrossCheck is the path of cvc5 or z3, which is asked about every CrossEvery-th (0: every) query that the built-in
	// solver finds unsatisfiable; if they disagree the run ends with an error. Satisfiable ones are always evaluated.
	CrossCheck string
	CrossEvery int

	// Models are the families of models of interpreter functions to use, of ModelFamilies; nil: all. None changes
	// what the program does, all make it easier to explore.
	Models []string

	// Merge lets one state go on for both ways of a branch where these meet again soon.
	Merge bool

	// Checkpoint is the time between two checkpoints, if they are cheap.
	Checkpoint time.Duration
	// Resume is the run directory of a run to go on with; then there is neither test nor program.
	Resume string
	// Test is PATH[::NAME]; or Program is an argument vector.
	Test    string
	Program []string
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
	// SolverBudget is what a query may take, in propagations; 0: solver.DefaultBudget; for tests.
	SolverBudget uint64
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

// leastMemory is the memory that a path gets however small MaxMemory is, in bytes.
const leastMemory = 64 << 20

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
