package session

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"symchef/internal/emit"
	"symchef/internal/replay"
	"symchef/internal/testcase"
)

// What the text report shows at most: test cases, and characters of one's inputs and of its outcome.
const (
	maxShown   = 20
	maxInputs  = 80
	maxOutcome = 160
)

// print writes what was found, what was not explored and why, and what to type next.
func (r *run) print(w io.Writer, rep *replay.Report) {
	s := &r.sum
	fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("%s on %s %s", s.Test, s.Interpreter.Path, s.Interpreter.Version)))
	for i, t := range r.tests {
		if i == maxShown {
			fmt.Fprintf(w, "  ... and %d more in %s/tests.jsonl\n", len(r.tests)-i, r.w.Dir())
			break
		}
		mark := " "
		if t.Outcome.Failing() {
			mark = "!"
		}
		fmt.Fprintf(w, "%s %s  %-40s  %s\n", mark, t.ID, cut(describeInputs(t.Inputs), maxInputs), cut(t.Outcome.String(), maxOutcome))
	}
	fmt.Fprintf(w, "%s (%d failing) from %s%s in %.1f s; %d infeasible, %d pruned; %d solver queries, %.0f%% answered without a back end\n",
		count(s.Tests.Total(), "test case"), s.Tests.Failing(), highPaths(s.Paths.High), count(s.Paths.Low, "low-level path"), s.ElapsedS, s.Paths.Infeasible, s.Paths.Pruned,
		s.Solver.Queries, 100*float64(s.Solver.AnsweredWithoutBackend)/max(float64(s.Solver.Queries), 1))
	if g := s.Merging; g != nil {
		fmt.Fprintf(w, "merged: branches %d, in %s instead of forking; not merged: %s\n", g.Branches, count(g.Merges, "state"), reasons(g.Forked))
	}
	if s.Lines > 0 {
		fmt.Fprintf(w, "covered: %s, listed in %s/coverage.json\n", count(s.Lines, "source line"), r.w.Dir())
	}
	if rep != nil {
		WriteReplay(w, rep, false)
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
		format, _ := emit.Default(r.t.tc.Kind)
		fmt.Fprintf(w, "next: symchef emit --format %s %s\n", format, r.w.Dir())
	} else {
		fmt.Fprintf(w, "next: symchef replay %s\n", r.w.Dir())
	}
}

// WriteReplay writes what replay found: a line per test case, those that agreed
// only if all is set, and the counts.
func WriteReplay(w io.Writer, rep *replay.Report, all bool) {
	for _, q := range rep.Results {
		switch {
		case q.Why != "":
			fmt.Fprintf(w, "  %s %s: %s\n", q.ID, q.Verdict, cut(q.Why, 2*maxOutcome))
		case all:
			fmt.Fprintf(w, "  %s %s: %s\n", q.ID, q.Verdict, cut(q.Machine.String(), maxOutcome))
		}
	}
	fmt.Fprintf(w, "replay (%s): %d agreed, %d diverged, %d unstable, %d not compared\n", rep.Mode, rep.Agreed, rep.Diverged, rep.Unstable, rep.Skipped)
}

// count is "1 path", "2 paths".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// reasons lists what is counted, the most frequent first.
func reasons(counts map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	for i, why := range keys {
		keys[i] = fmt.Sprint(why, " ", counts[why])
	}
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(keys, ", ")
}

// cut makes s one line of at most n characters, safe for a terminal.
func cut(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		if q := strconv.QuoteRune(r); unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(q[1 : len(q)-1])
		}
	}
	if s = b.String(); utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:n-3]) + "..."
	}
	return s
}

// describeInputs is "name=value name=value".
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

// highPaths is the number of high-level paths, to stand before that of low-level ones.
func highPaths(n int) string {
	if n == 0 {
		return ""
	}
	return count(n, "high-level path") + ", "
}
