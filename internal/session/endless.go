package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"symchef/internal/explore"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/state"
	"symchef/internal/testcase"
)

// endless implements explore.Config.Endless by replay.
func (w *worker) endless(states []*state.State) []string {
	r, out := w.r, make([]string, len(states))
	opt, cleanup, err := r.replayOptions()
	if err != nil {
		return out
	}
	defer cleanup()
	tests := make([]testcase.Test, len(states))
	at := map[string]int{}
	for i, s := range states {
		tests[i], _ = w.testOf(w.minimised(s), explore.End{Kind: explore.Hang, What: testcase.Beyond})
		tests[i].ID = fmt.Sprintf("hang%d", i)
		at[tests[i].ID] = i
	}
	r.mu.Lock()
	opt.Loops = maps.Clone(r.loops)
	r.mu.Unlock()
	rep, _ := replay.Run(r.halt, r.t.tc, tests, opt) // what could not be run goes on in the machine
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range rep.Results {

		i := at[q.ID]
		if q.Verdict != replay.Agreed {
			continue
		}
		out[i] = lasted(q)
		r.loops[tests[i].Loop] = true
		r.endlessly[inputsKey(tests[i])] = q
	}
	return out
}

// lasted says for how long q ran natively without an end.
func lasted(q replay.Result) string {
	switch n := q.Runs[len(q.Runs)-1]; {
	case n.Exceeded != "":
		return n.Exceeded
	case n.Busy:
		return q.Limits.Busy.String() + " of processor time"
	}
	return q.Limits.Time.String()
}

// ranOn is the result of a test case that endless has run.
func (r *run) ranOn(t testcase.Test) (replay.Result, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q, known := r.endlessly[inputsKey(t)]
	q.ID, q.Machine = t.ID, t.Outcome
	return q, known && t.Outcome.LongOnly()
}

// inputsKey is the inputs of t as text.
func inputsKey(t testcase.Test) string {
	b, _ := json.Marshal(t.Inputs)
	return string(b)
}

// Settle says how findings and classes are drawn again from tests after another replay: what ends natively now is no hang, what does not is one again, and what is not confirmed now says so.
func Settle(tests []testcase.Test) func(*rundir.Summary, *replay.Report) {
	return func(s *rundir.Summary, rep *replay.Report) {
		_, verdicts := rep.Record()
		r := run{plain: plain{}, census: newCensus(), short: rep.Ended(), refuted: refuted(verdicts)}
		key := map[string]testcase.Test{}
		for _, t := range tests {
			key[t.ID] = t
			if t.Outcome.Kind == testcase.Hang {
				r.tests = append(r.tests, t)
			}
		}
		hang := func(o testcase.Outcome) bool { return o.Kind == testcase.Hang }
		for _, f := range s.Findings {
			r.census.Findings[findingKey(key[f.Test])] = f.Paths
		}
		for _, c := range s.Classes {
			r.census.Classes[classKey(key[c.Test])] = c.Paths
		}
		s.Findings = slices.DeleteFunc(slices.Clone(s.Findings), func(f rundir.Finding) bool { return hang(f.Outcome) })
		for i, f := range s.Findings {
			s.Findings[i].Refuted = r.refuted[f.Test]
		}
		s.Findings = append(s.Findings, r.findings()...)
		orderFindings(s.Findings)
		s.Classes = slices.DeleteFunc(slices.Clone(s.Classes), func(c rundir.Class) bool { return hang(c.Outcome) })
		s.Classes = append(s.Classes, r.foundClasses()...)
		orderClasses(s.Classes)
	}
}
