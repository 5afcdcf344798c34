package session

import (
	"fmt"
	"io"
	"strings"

	"symchef/internal/replay"
	"symchef/internal/testcase"
)

// maxShown bounds the test cases that the text report lists.
const maxShown = 20

// print writes what was found, what was not explored and why, and what to type next.
func (r *run) print(w io.Writer, rep *replay.Report) {
	s := &r.sum
	fmt.Fprintf(w, "%s on %s %s\n", s.Test, s.Interpreter.Path, s.Interpreter.Version)
	for i, t := range r.tests {
		if i == maxShown {
			fmt.Fprintf(w, "  ... and %d more in %s/tests.jsonl\n", len(r.tests)-i, r.w.Dir())
			break
		}
		mark := " "
		if t.Outcome.Failing() {
			mark = "!"
		}
		fmt.Fprintf(w, "%s %s  %-40s  %s\n", mark, t.ID, describeInputs(t.Inputs), t.Outcome)
	}
	fmt.Fprintf(w, "%d test cases (%d failing) from %d low-level paths in %.1f s; %d infeasible, %d pruned; %d solver queries, %.0f%% answered without a back end\n",
		s.Tests.Total(), s.Tests.Failing(), s.Paths.Low, s.ElapsedS, s.Paths.Infeasible, r.x.Counts.Pruned,
		s.Solver.Queries, 100*float64(s.Solver.AnsweredWithoutBackend)/max(float64(s.Solver.Queries), 1))
	if rep != nil {
		fmt.Fprintf(w, "replay (%s): %d agreed, %d diverged, %d unstable, %d not compared\n", rep.Mode, rep.Agreed, rep.Diverged, rep.Unstable, rep.Skipped)
		for _, q := range rep.Results {
			if q.Why != "" {
				fmt.Fprintf(w, "  %s %s: %s\n", q.ID, q.Verdict, q.Why)
			}
		}
	}
	if len(r.tests) == 0 || len(r.tests[0].Inputs) == 0 {
		fmt.Fprintln(w, "the test has no symbolic input: this is its one path (use getString, getInt, ... or annotated parameters)")
	}
	if s.Exhausted {
		fmt.Fprintln(w, "exhausted: every input within the declared bounds behaves like one of these paths")
	} else {
		fmt.Fprintln(w, "not exhausted:")
		for _, y := range s.WhyNotExhausted {
			fmt.Fprintln(w, "  -", y)
		}
	}
	if r.t.desc != nil {
		fmt.Fprintf(w, "next: symchef emit --format pytest %s\n", r.w.Dir())
	} else {
		fmt.Fprintf(w, "next: symchef replay %s\n", r.w.Dir())
	}
}

func describeInputs(in []testcase.Input) string {
	var parts []string
	for _, i := range in {
		v := string(i.Value)
		if v == "" {
			b, _ := i.Bytes()
			v = fmt.Sprintf("%q", b)
		}
		parts = append(parts, i.Name+"="+v)
	}
	return strings.Join(parts, " ")
}
