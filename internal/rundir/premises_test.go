package rundir

import (
	"slices"
	"testing"

	"symchef/internal/testcase"
)

// holding is a finished summary of which all premises hold.
func holding() Summary {
	s := sampleSummary()
	for _, row := range Promises {
		s.Hold(row.Premise)
	}
	s.Finished = true
	s.Conclude()
	return s
}

// Each premise alone breaks the result, and says why.
func TestPremises(t *testing.T) {
	if s := holding(); !s.Exhausted || len(s.WhyNotExhausted) > 0 {
		t.Fatalf("%+v", s)
	}
	for _, row := range Promises {
		s := holding()
		s.Hold(row.Premise, "broken", "and broken")
		s.Conclude()
		if s.Exhausted || !slices.Equal(s.WhyNotExhausted, []string{"broken", "and broken"}) {
			t.Errorf("%s: exhausted %v, %q", row.Premise, s.Exhausted, s.WhyNotExhausted)
		}
		s.Hold(row.Premise)
		if s.Conclude(); !s.Exhausted {
			t.Errorf("%s: it holds again, but %q", row.Premise, s.WhyNotExhausted)
		}
	}
}

// A replay afterwards changes what the run says, both ways.
func TestReplayAfterwards(t *testing.T) {
	for _, tt := range []struct {
		counts Replay
		why    []string
	}{
		{Replay{Agreed: 3}, nil},
		{Replay{Agreed: 2, Diverged: 1}, []string{"1 test case diverged natively"}},
		{Replay{Unstable: 3}, []string{"3 test cases unstable: the outcome depends on what is no input"}},
		{Replay{Agreed: 2, NotCompared: 1}, []string{"1 test case not compared natively"}},
		{Replay{Agreed: 2, NotReplayed: 1}, []string{"1 test case not replayed"}},
		{Replay{Diverged: 1, Unstable: 1}, []string{"1 test case diverged natively", "1 test case unstable: the outcome depends on what is no input"}},
	} {
		dir := t.TempDir()
		sum := holding()
		sum.Target = testcase.Target{Kind: testcase.Program}
		w, err := Create(dir, sum, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		for _, step := range []struct {
			counts Replay
			why    []string
		}{tt, {Replay{Agreed: 3}, nil}, tt} {
			d, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			w, err := Lock(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.SetReplay(d.Summary, step.counts, nil); err != nil {
				t.Fatal(err)
			}
			w.Close()
			if d, err = Open(dir); err != nil {
				t.Fatal(err)
			}
			if s := d.Summary; s.Exhausted != (step.why == nil) || !slices.Equal(s.WhyNotExhausted, append([]string{}, step.why...)) {
				t.Errorf("%+v: exhausted %v, %q", step.counts, s.Exhausted, s.WhyNotExhausted)
			}
		}
	}
}

// A run that was killed, or is of an older version, is not exhausted by a replay.
func TestReplayOfTheUnfinished(t *testing.T) {
	s := sampleSummary()
	s.Premises, s.Exhausted, s.WhyNotExhausted = nil, false, []string{"the run has not finished"}
	s.replayed(Replay{Agreed: 1})
	if s.Exhausted || !slices.Equal(s.WhyNotExhausted, []string{"the run has not finished"}) {
		t.Errorf("exhausted %v, %q", s.Exhausted, s.WhyNotExhausted)
	}
}

// Without a replay the result is about the machine, and says so.
func TestNotCompared(t *testing.T) {
	s := sampleSummary()
	s.Tests.Add(testcase.OK)
	s.Premises = nil
	s.Hold(Explored)
	s.Conclude()
	if !s.Exhausted || !s.NotCompared() {
		t.Errorf("exhausted %v, not compared %v", s.Exhausted, s.NotCompared())
	}
	if s.Hold(Compared); s.NotCompared() {
		t.Error("it was compared")
	}
}
