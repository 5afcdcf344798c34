package rundir

import (
	"encoding/json"
	"fmt"

	"symchef/internal/testcase"
)

// SchemaVersion is the version of summary.json and tests.jsonl; a reader
// refuses any other.
const SchemaVersion = 2

// A Summary is summary.json (docs/summary.schema.json): what a run did, in
// numbers. While the run goes on it is a recent, consistent picture.
type Summary struct {
	SchemaVersion int `json:"schema_version"`
	// Test is the test as named on the command line: FILE::test_email.
	Test        string      `json:"test"`
	Interpreter Interpreter `json:"interpreter"`
	// CPU is the level of the processor that the guest saw, the same on every host: "x86-64-v2", or "x86-64-v3" with --cpu v3.
	CPU      string          `json:"cpu,omitempty"`
	Target   testcase.Target `json:"target"`
	Strategy string          `json:"strategy"`
	Seed     uint64          `json:"seed"`
	// ElapsedS is seconds of wall-clock time, BootS included.
	ElapsedS float64 `json:"elapsed_s"`
	// BootS is the seconds until the test began (the snapshot point).
	BootS float64 `json:"boot_s"`
	// FromSnapshot says that the boot was loaded from a boot snapshot.
	FromSnapshot bool `json:"from_snapshot"`
	// FromHead says that it went on from a snapshot behind the imports that the test begins with.
	FromHead bool `json:"from_head"`
	// Finished is false while the run goes on and after it was killed.
	Finished bool `json:"finished"`
	// Exhausted: for every value of the declared inputs the outcome is known. It and WhyNotExhausted are what Conclude draws from Premises.
	// Invariant: Exhausted if and only if WhyNotExhausted is empty, once Finished.
	Exhausted       bool     `json:"exhausted"`
	WhyNotExhausted []string `json:"why_not_exhausted"`
	// Without is what the interpreter's description marks as optional and there is not, models of functions mostly. Exploring
	// without is as sound and as complete, and harder.
	Without []Without `json:"without"`
	// Premises has for each premise why it does not hold, an empty list where it does; nil until the run has ended.
	Premises map[Premise][]string `json:"premises,omitempty"`
	Paths    Paths                `json:"paths"`
	// Instructions counts retired guest instructions.
	Instructions Instructions `json:"instructions"`
	// CodeBytes counts the distinct bytes of guest code executed since the
	// test began: interpreter, libraries and native extensions.
	CodeBytes uint64 `json:"code_bytes"`
	// Lines counts the distinct source lines of the interpreted program executed since the test
	// began: those of coverage.json.
	Lines int `json:"lines"`
	// Progress has a sample every so many instructions, oldest first.
	Progress []Sample `json:"progress"`
	Tests    Tests    `json:"tests"`
	// Findings are the failing test cases in groups, the smallest example of each; Classes all test cases. Both are made when the run ends.
	Findings        []Finding `json:"findings"`
	Classes         []Class   `json:"classes"`
	Solver          Solver    `json:"solver"`
	Merging         *Merging  `json:"merging,omitempty"` // nil: it was not asked for
	MemoryPeakBytes uint64    `json:"memory_peak_bytes"` // of the heap, what no collection has taken yet included
	MemoryLiveBytes uint64    `json:"memory_live_bytes"` // the most that a collection found alive
	Replay          Replay    `json:"replay"`
}

// Sample is how far a run was after so many instructions: the share of low-level paths that were
// new high-level paths is High/Low.
type Sample struct {
	Instructions uint64 `json:"instructions"` // since the test began
	Low          int    `json:"low"`
	High         int    `json:"high"`
}

// Without is a name of the description that is nothing in this interpreter, "model unshared", and why.
type Without struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Interpreter identifies the binary under test. For a program Version is
// empty.
type Interpreter struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	BuildID string `json:"build_id"` // hex, of the ELF note; empty if it has none
}

// Paths counts low-level paths.
type Paths struct {
	High       int `json:"high"`       // of the interpreted program, 0 where they are not known
	Complete   int `json:"complete"`   // of these, whose path condition is known whole; counted when the run ends
	Low        int `json:"low"`        // ended
	Pending    int `json:"pending"`    // not ended
	Infeasible int `json:"infeasible"` // found to have no input
	Pruned     int `json:"pruned"`     // ended by an assumption that does not hold
}

// Instructions counts guest instructions since the test began, but for Boot; Symbolic
// those with a symbolic operand.
type Instructions struct {
	Boot     uint64 `json:"boot"` // 0 from a snapshot
	Total    uint64 `json:"total"`
	Symbolic uint64 `json:"symbolic"`
	Replayed uint64 `json:"replayed"` // again, to bring back states that memory had no room for; not in Total
}

// Merging counts what became of branches whose ways might meet again.
type Merging struct {
	Merges   int `json:"merges"`   // one state goes on instead of two or more
	Branches int `json:"branches"` // that were merged, one within the other
	// Forked counts by reason the branches that could not be merged.
	Forked map[string]int `json:"forked"`
}

// Tests counts test cases by the kind of their outcome.
type Tests struct {
	OK          int `json:"ok"`
	Exception   int `json:"exception"`
	Assertion   int `json:"assertion"`
	Crash       int `json:"crash"`
	Hang        int `json:"hang"`
	Exit        int `json:"exit"`
	Unsupported int `json:"unsupported"`
	Expected    int `json:"expected"`
}

// of is the counter of kind k, nil if k is unknown.
func (c *Tests) of(k testcase.Kind) *int {
	switch k {
	case testcase.OK:
		return &c.OK
	case testcase.Exception:
		return &c.Exception
	case testcase.Assertion:
		return &c.Assertion
	case testcase.Crash:
		return &c.Crash
	case testcase.Hang:
		return &c.Hang
	case testcase.Exit:
		return &c.Exit
	case testcase.Unsupported:
		return &c.Unsupported
	case testcase.Expected:
		return &c.Expected
	}
	return nil
}

// Add counts one test case.
func (c *Tests) Add(k testcase.Kind) {
	if n := c.of(k); n != nil {
		*n++
	}
}

// Total is the number of test cases.
func (c Tests) Total() int {
	n := 0
	for _, k := range testcase.Kinds {
		n += *c.of(k)
	}
	return n
}

// Failing is the number of findings, see testcase.Outcome.Failing.
func (c Tests) Failing() int {
	n := 0
	for _, k := range testcase.Kinds {
		if (testcase.Outcome{Kind: k}).Failing() {
			n += *c.of(k)
		}
	}
	return n
}

// Solver says what the solver chain did. TimeS is seconds of wall-clock time,
// summed over workers.
type Solver struct {
	Queries                uint64  `json:"queries"`
	AnsweredWithoutBackend uint64  `json:"answered_without_backend"`
	Unknown                uint64  `json:"unknown"`
	TimeS                  float64 `json:"time_s"`
}

// Replay counts what native replay said of the test cases; all are zero
// before replay.
type Replay struct {
	Agreed   int `json:"agreed"`
	Diverged int `json:"diverged"`
	Unstable int `json:"unstable"`
	// NotCompared counts those with nothing to compare: the machine could not go on, or a limit cut the path off.
	NotCompared int `json:"not_compared"`
	// NotReplayed counts those that there was no time for, or that nobody wanted to be replayed.
	NotReplayed int `json:"not_replayed"`
	// Ended counts those that the machine gave up as hangs and that come to an end natively; they are among NotCompared.
	Ended int `json:"ended"`
	// OtherWay counts those that take another path where what is no input is another; they are among Agreed.
	OtherWay int `json:"other_way"`
	// Undecided counts those of which it is not known whether another moment changes what they do; they are among Agreed.
	Undecided int `json:"undecided,omitempty"`
	// Unseen counts those that were not executed elsewhere, where none was that has asked the same; they are among Agreed.
	Unseen int `json:"unseen,omitempty"`
}

// lost says that of a run that has ended test cases are missing where n are there. One that goes on, or was killed, may count what --resume has dropped.
func (s *Summary) lost(n int) error {
	if all := s.Tests.Total(); s.Finished && n < all {
		return fmt.Errorf("damaged: %d of %d test cases are missing", all-n, all)
	}
	return nil
}

// Failing is the number of findings: what ends natively is no hang.
func (s *Summary) Failing() int { return s.Tests.Failing() - s.Replay.Ended }

// A Verdict is what native replay says of one test case, a line of replay.jsonl.
type Verdict struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"` // agreed, diverged, unstable, skipped
	Why     string `json:"why,omitempty"`
}

// Encode is the content of summary.json.
func (s Summary) Encode() ([]byte, error) {
	s.SchemaVersion = SchemaVersion
	if s.Progress == nil {
		s.Progress = []Sample{}
	}
	if s.Findings == nil {
		s.Findings = []Finding{}
	}
	if s.Classes == nil {
		s.Classes = []Class{}
	}
	if s.Without == nil {
		s.Without = []Without{}
	}
	if s.WhyNotExhausted == nil {
		s.WhyNotExhausted = []string{}
	}
	if s.Target.Argv == nil {
		s.Target.Argv = []string{}
	}
	if s.Target.Env == nil {
		s.Target.Env = []string{}
	}
	b, err := json.MarshalIndent(summaryJSON{testcase.Text(s.Test), s}, "", "  ")
	return append(b, '\n'), err
}

func decodeSummary(b []byte) (Summary, error) {
	var j summaryJSON
	err := json.Unmarshal(b, &j)
	s := j.Summary
	if s.Test = string(j.Test); err != nil {
		return s, plainly(err)
	}
	if s.SchemaVersion != SchemaVersion {
		return s, fmt.Errorf("has schema version %d, this symchef reads %d", s.SchemaVersion, SchemaVersion)
	}
	return s, nil
}
