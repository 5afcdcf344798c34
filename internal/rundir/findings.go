package rundir

import "symchef/internal/testcase"

// A Finding is a group of failing test cases that are one defect as far as can be told: they end alike, at one place.
type Finding struct {
	Outcome testcase.Outcome `json:"outcome"` // of the example
	// Site is where it was raised, or does not end, FILE:LINE:FUNCTION, or MODULE(FUNCTION+OFFSET); empty where that is not known.
	Site string `json:"site,omitempty"`
	// SiteFrom says what Site is.
	SiteFrom SiteFrom `json:"site_from"`
	// Frames are those of the user's program, like Site, outermost first; the last is Site. Of the test case Example.
	Frames testcase.Strings `json:"frames,omitempty"`
	// Values are those that a condition was given which does not hold, in the words of the test's language.
	Values string `json:"values,omitempty"`
	// Refuted is what replay says of the example where it has not confirmed it: that of a group is one that it has, if there is one.
	Refuted *Verdict `json:"refuted,omitempty"`
	Example
}

// SiteFrom is how the place of a finding is known.
type SiteFrom string

// From the best to the worst.
const (
	FromFrames   SiteFrom = "frames"   // it is told where it was raised
	FromLoop     SiteFrom = "loop"     // it is in a loop there
	FromStep     SiteFrom = "step"     // it never leaves that instruction
	FromDecision SiteFrom = "decision" // it did not: where the path last depended on the input
	FromNothing  SiteFrom = "nothing"  // nor is that known
)

// A Class is a group of test cases that look alike to a user but for their high-level paths.
type Class struct {
	Outcome testcase.Outcome `json:"outcome"` // of the example
	// Shows is what a user sees of the example besides, what it returned and wrote, as far as that is another than in most classes that end alike.
	Shows testcase.Text `json:"shows,omitempty"`
	Example
}

// An Example is the smallest test case of a group, and how large the group is.
type Example struct {
	Test   string           `json:"test"`
	Inputs []testcase.Input `json:"inputs"`
	Tests  int              `json:"tests"` // test cases in the group
	Paths  int              `json:"paths"` // low-level paths in it, those without a test case included
}
