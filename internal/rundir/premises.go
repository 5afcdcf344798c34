package rundir

import (
	"fmt"
	"slices"
)

// A Premise is one thing that `exhausted` rests on. A run holds each of them or says why not; only what Conclude draws from them is the result.
type Premise string

// The premises. To add one: a constant here, its row in Promises, and whoever knows whether it holds says so by Summary.Hold.
const (
	// Explored: nothing waits to be explored, and no limit or signal has ended the exploration.
	Explored Premise = "explored"
	// Kept: nothing of a path was given up: what the machine cannot do, queries that were not decided, paths that were cut off.
	Kept Premise = "kept"
	// Ran: no error has ended the run, and all that it found could be written.
	Ran Premise = "ran"
	// Compared: the real interpreter, or program, behaves as the machine did in every test case. With --no-replay it is left out: then the
	// result is about the machine, and says that nothing was compared.
	Compared Premise = "compared"
)

// Promises are all premises, in the order in which reasons are given, and what each promises.
var Promises = []struct {
	Premise Premise
	Means   string
}{
	{Explored, "no part of the tree of paths waits to be explored"},
	{Kept, "nothing of a path was given up"},
	{Ran, "no error ended the run"},
	{Compared, "every test case does natively what it does in the machine"},
}

// Hold says why premise p does not hold; it does where there are no reasons.
func (s *Summary) Hold(p Premise, broken ...string) {
	if s.Premises == nil {
		s.Premises = map[Premise][]string{}
	}
	s.Premises[p] = append([]string{}, broken...)
}

// Conclude draws Exhausted and its reasons from the premises. Require: at least one has been held.
func (s *Summary) Conclude() {
	s.WhyNotExhausted = []string{}
	for _, row := range Promises {
		for _, why := range s.Premises[row.Premise] {
			if !slices.Contains(s.WhyNotExhausted, why) {
				s.WhyNotExhausted = append(s.WhyNotExhausted, why)
			}
		}
	}
	s.Exhausted = len(s.WhyNotExhausted) == 0
}

// NotCompared reports whether the result is about the machine only, since nobody has asked what is so natively.
func (s *Summary) NotCompared() bool {
	_, asked := s.Premises[Compared]
	return !asked && s.Premises != nil && s.Tests.Total() > 0
}

// Broken says what of a replay breaks Compared.
func (c Replay) Broken() (why []string) {
	for _, row := range []struct {
		n    int
		what string
	}{
		{c.Diverged, "diverged natively"},
		{c.Unstable, "unstable: the outcome depends on what is no input"},
		{c.NotCompared, "not compared natively"},
		{c.Ended, "of kind hang: natively it ends, --path-instructions was too few"},
		{c.NotReplayed, "not replayed"},
		{c.OtherWay, "agreed by a path that depends on what is no input: other paths may begin there"},
		{c.Unseen, "agreed, and not looked at elsewhere: other moments and hosts may have other outcomes"},
		{c.Undecided, "agreed, and whether the clock changes that is not decided"},
	} {
		switch row.n {
		case 0:
		case 1:
			why = append(why, "1 test case "+row.what)
		default:
			why = append(why, fmt.Sprintf("%d test cases %s", row.n, row.what))
		}
	}
	return why
}

// replayed records what a complete replay of the run directory found.
func (s *Summary) replayed(c Replay) {
	if s.Premises == nil { // a run that was killed
		why := s.WhyNotExhausted
		if len(why) == 0 {
			why = []string{"it is not known what is explored"}
		}
		s.Hold(Explored, why...)
	}
	s.Replay = c
	s.Hold(Compared, c.Broken()...)
	s.Conclude()
}
