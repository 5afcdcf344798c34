package session

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"symchef/internal/emit"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// site is where a failing test case was raised, or does not end, as far as that is known.
func site(t testcase.Test) (string, rundir.SiteFrom) {
	if n := len(t.Frames); n > 0 {
		return t.Frames[n-1], rundir.FromFrames
	}
	if t.Loop != "" {
		return string(t.Loop), rundir.FromLoop
	}
	if t.Stands != "" {
		return string(t.Stands), rundir.FromStep
	}
	for i := len(t.Decisions) - 1; i >= 0; i-- {
		if at := t.Decisions[i].Source; at != "" {
			return sourcePlace(at), rundir.FromDecision
		}
	}
	return "", rundir.FromNothing
}

// sourcePlace is FILE:LINE:FUNCTION for what a tracker of high-level steps calls FILE:LINE NAME.
func sourcePlace(at string) string {
	place, name := at, ""
	if m := sourceParts.FindStringSubmatch(at); m != nil {
		place, name = m[1], m[2]
	}
	return strings.TrimSuffix(place+":"+name, ":")
}

// sourceParts are those of FILE:LINE NAME; the file may have spaces.
var sourceParts = regexp.MustCompile(`(?s)^(.*?:[0-9]+) (.*)$`)

// findingKey is what the test cases of one finding have in common.
func findingKey(t testcase.Test) string {
	at, _ := site(t)
	return fmt.Sprint(t.Outcome.Kind, "|", t.Outcome.Type, "|", t.Outcome.Signal, "|", at)
}

// census counts low-level paths by class and by finding, those that have no test case included.
type census struct {
	Classes, Findings map[string]int
}

func newCensus() census { return census{map[string]int{}, map[string]int{}} }

func (c census) count(class string, t testcase.Test) {
	c.Classes[class]++
	if t.Outcome.Failing() {
		c.Findings[findingKey(t)]++
	}
}

// group gathers test cases that have one key: the smallest stands for all.
type group struct {
	key     string
	example testcase.Test
	tests   int
	mixed   bool // they do not end in the same words
}

// grouped divides tests by key; those with an empty one are left out. Groups come in the order of their first test.
func grouped(tests []testcase.Test, key func(testcase.Test) string, less func(a, b testcase.Test) int) (out []*group) {
	by := map[string]*group{}
	for _, t := range tests {
		k := key(t)
		if k == "" {
			continue
		}
		g := by[k]
		if g == nil {
			g = &group{key: k, example: t}
			by[k] = g
			out = append(out, g)
		} else {
			g.mixed = g.mixed || t.Outcome.Message != g.example.Outcome.Message
			if less(t, g.example) < 0 {
				g.example = t
			}
		}
		g.tests++
	}
	return out
}

func (g *group) in(paths map[string]int) rundir.Example {
	return rundir.Example{Test: g.example.ID, Inputs: g.example.Inputs, Tests: g.tests, Paths: max(g.tests, paths[g.key])}
}

// refuted are the verdicts on test cases that replay does not confirm, by their names.
func refuted(verdicts []rundir.Verdict) map[string]*rundir.Verdict {
	out := map[string]*rundir.Verdict{}
	for _, v := range verdicts {
		if v.Verdict == string(replay.Diverged) || v.Verdict == string(replay.Unstable) {
			out[v.ID] = &v
		}
	}
	return out
}

// last is where what v refutes comes.
func last(v *rundir.Verdict) int {
	if v != nil {
		return 1
	}
	return 0
}

// findings are the failing tests in groups: those that replay refutes last, crashes first, then those with most paths.
func (r *run) findings() (out []rundir.Finding) {
	key := func(t testcase.Test) string {
		if t.Outcome.Failing() && !slices.Contains(r.short, t.ID) {
			return findingKey(t)
		}
		return ""
	}
	confirmed := func(a, b testcase.Test) int {
		return cmp.Or(last(r.refuted[a.ID])-last(r.refuted[b.ID]), r.smaller(a, b))
	}
	for _, g := range grouped(r.tests, key, confirmed) {
		at, from := site(g.example)
		out = append(out, rundir.Finding{Outcome: g.example.Outcome, Site: at, SiteFrom: from, Frames: g.example.Frames, Values: emit.Shown(r.sum.Target.Kind, g.example.Returned), Refuted: r.refuted[g.example.ID], Example: g.in(r.census.Findings)})
	}
	orderFindings(out)
	return out
}

func orderFindings(l []rundir.Finding) {
	slices.SortStableFunc(l, func(a, b rundir.Finding) int {
		return cmp.Or(last(a.Refuted)-last(b.Refuted), severity(a.Outcome.Kind)-severity(b.Outcome.Kind), b.Paths-a.Paths)
	})
}

// severity orders kinds, the worst first.
func severity(k testcase.Kind) int {
	return slices.Index([]testcase.Kind{testcase.Crash, testcase.Assertion, testcase.Exception, testcase.Hang, testcase.Unsupported, testcase.Exit, testcase.Expected, testcase.OK}, k)
}
