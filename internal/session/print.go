package session

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"symchef/internal/emit"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// What the text report shows at most: findings, classes, frames of a finding, and characters of inputs, of an outcome, and of one in a column.
const (
	maxFindings = 10 // in full; the others have a line each
	maxClasses  = 40
	maxFrames   = 8
	maxInputs   = 80
	maxExample  = 1000 // inputs of a finding: they are copied
	maxOutcome  = 160
	maxColumn   = 72
)

// print writes what was found, what was not explored and why, and what to type next.
func (r *run) print(w io.Writer, rep *replay.Report) {
	s := &r.sum
	fmt.Fprintln(w, testcase.Visible(strings.TrimSpace(fmt.Sprintf("%s on %s %s", s.Test, s.Interpreter.Path, s.Interpreter.Version))))
	again := "" // a report of one test is followed by what to type next
	if r.o.Brief {
		again = r.w.Dir()
	}
	printFindings(w, s.Findings, s.Target, again)
	if r.o.Brief {
		if !s.Exhausted {
			WriteExhausted(w, s, r.w.Dir())
		}
		if rep != nil && rep.Agreed < len(rep.Results) {
			WriteReplay(w, rep, false)
		}
		return
	}
	printClasses(w, s.Classes, s.Target, r.w.Dir())
	fmt.Fprintf(w, "%s (%d failing) from %s%s in %.1f s; %d infeasible, %d pruned; %s, %.0f%% answered without a back end\n",
		count(s.Tests.Total(), "test case"), s.Failing(), highPaths(s.Paths.High), count(s.Paths.Low, "low-level path"), s.ElapsedS, s.Paths.Infeasible, s.Paths.Pruned,
		counts(int(s.Solver.Queries), "solver query", "solver queries"), 100*float64(s.Solver.AnsweredWithoutBackend)/max(float64(s.Solver.Queries), 1))
	if g := s.Merging; g != nil {
		fmt.Fprintf(w, "merged: branches %d, in %s instead of forking; not merged: %s\n", g.Branches, count(g.Merges, "state"), reasons(g.Forked))
	}
	if s.Lines > 0 {
		fmt.Fprintf(w, "covered: %s, listed in %s/coverage.json\n", count(s.Lines, "source line"), r.w.Dir())
	}
	if rep != nil {
		WriteReplay(w, rep, false)
	}
	WriteExhausted(w, s, r.w.Dir())
	printNext(w, r.t.tc.Kind, s, r.w.Dir())
}

// printNext writes what to type next: what makes a test suite of the test cases, and what goes on after a limit.
func printNext(w io.Writer, kind testcase.TargetKind, s *rundir.Summary, dir string) {
	var next []string
	if s.Tests.Total() > 0 {
		format, _ := emit.Default(kind)
		next = append(next, fmt.Sprintf("symchef emit --format %s %s", format, shellWord(dir)))
	}
	if s.Paths.Pending > 0 {
		next = append(next, "symchef run --resume "+shellWord(dir))
	}
	if len(next) > 0 {
		fmt.Fprintln(w, "next:", strings.Join(next, "\n  or: "))
	}
}

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// shellWord is s as one word of a command line.
func shellWord(s string) string {
	if plainWord.MatchString(s) && !strings.HasPrefix(s, "-") {
		return s
	}
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) { // a shell's word that no terminal acts on
		var b strings.Builder
		for _, c := range []byte(s) {
			if c < ' ' || c >= 0x7f || c == '\'' || c == '\\' {
				fmt.Fprintf(&b, "\\%03o", c)
			} else {
				b.WriteByte(c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// printFindings writes each finding: how it ended, the smallest input that shows it, where, how it came there, and, unless dir is empty, the command that
// replays it from that run directory.
func printFindings(w io.Writer, findings []rundir.Finding, target testcase.Target, dir string) {
	cwd := target.Cwd
	if len(findings) == 0 {
		return
	}
	unconfirmed := 0
	for _, f := range findings {
		unconfirmed += last(f.Refuted)
	}
	fmt.Fprintf(w, "\n%s%s:\n\n", count(len(findings), "finding"), notConfirmed(unconfirmed, len(findings)))
	for i, f := range findings {
		mark := "!?"[last(f.Refuted):][:1]
		if i >= maxFindings {
			fmt.Fprintf(w, "%s %s  %s  at %s%s\n", mark, cut(showOutcome(f.Outcome, cwd), maxColumn), showExample(target.Kind, f.Example), cmp.Or(showPlace(f.Site, cwd), "a place that is not told"), replayLine("  ", dir, f.Test))
			continue
		}
		fmt.Fprintf(w, "%s %s\n", mark, cut(showOutcome(f.Outcome, cwd), maxOutcome))
		if v := f.Refuted; v != nil {
			fmt.Fprintf(w, "    not confirmed, %s: %s\n", v.Verdict, cut(v.Why, maxOutcome))
		}
		fmt.Fprintf(w, "    %s\n", showExample(target.Kind, f.Example))
		if f.Values != "" {
			fmt.Fprintf(w, "    with %s\n", cut(f.Values, maxExample))
		}
		switch f.SiteFrom {
		case rundir.FromFrames:
			fmt.Fprintf(w, "    at %s\n", showPlace(f.Site, cwd))
		case rundir.FromLoop:
			fmt.Fprintf(w, "    in the loop at %s\n", showPlace(f.Site, cwd))
		case rundir.FromStep:
			fmt.Fprintf(w, "    it never leaves %s\n", showPlace(f.Site, cwd))
		case rundir.FromDecision:
			fmt.Fprintf(w, "    where it happened is not told; the last decision before it was at %s\n", showPlace(f.Site, cwd))
		default:
			fmt.Fprintln(w, "    where it happened is not told")
		}
		for _, at := range callers(f.Frames, cwd) {
			fmt.Fprintf(w, "    from %s\n", at)
		}
		if line := replayLine("    ", dir, f.Test); line != "" {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintln(w)
	}
	if len(findings) > maxFindings {
		fmt.Fprintln(w)
	}
}

// replayLine is the command that replays a test case of the run directory dir; nothing if that is empty.
func replayLine(before, dir, test string) string {
	if dir == "" {
		return ""
	}
	return fmt.Sprintf("%sagain: symchef replay --test %s %s", before, test, shellWord(dir))
}

// notConfirmed says of how many of so many findings replay says something else.
func notConfirmed(n, of int) string {
	switch {
	case n == 0:
		return ""
	case n == of:
		return ", not confirmed by replay"
	}
	return fmt.Sprintf(", %d of which replay does not confirm", n)
}

// showOutcome is o, whose message may begin with the path of a file below cwd, without that.
func showOutcome(o testcase.Outcome, cwd string) string {
	o.Message = strings.TrimPrefix(o.Message, strings.TrimSuffix(cwd, "/")+"/")
	return o.String()
}

// callers are the frames that led to the last one, the nearest first; one that repeats is said once, and those in the middle are left out where there are many.
func callers(frames []string, cwd string) (out []string) {
	for i := len(frames) - 2; i >= 0; i-- {
		again := i+2 < len(frames) && frames[i] == frames[i+1]
		switch {
		case !again:
			out = append(out, showPlace(frames[i], cwd))
		case i+3 == len(frames) || frames[i] != frames[i+2]:
			out[len(out)-1] += ", again and again"
		}
	}
	if n := len(out); n > maxFrames {
		middle := fmt.Sprintf("... %d more ...", n-maxFrames+1)
		out = slices.Concat(out[:maxFrames/2], []string{middle}, out[n-maxFrames/2+1:])
	}
	return out
}

// showPlace is FILE:LINE:FUNCTION for people: "FILE:LINE in FUNCTION", a file below cwd without it.
func showPlace(at, cwd string) string {
	if rel, ok := strings.CutPrefix(at, strings.TrimSuffix(cwd, "/")+"/"); ok {
		at = rel
	}
	if m := placeParts.FindStringSubmatch(at); m != nil {
		at = m[1] + ":" + m[2]
		if m[3] != "" {
			at += " in " + m[3]
		}
	}
	return cut(at, maxOutcome)
}

// placeParts are those of FILE:LINE:FUNCTION; function and file may have colons, too.
var placeParts = regexp.MustCompile(`(?s)^(.*?):([0-9]+):?(.*)$`)

// showExample is an example's inputs, its test case, and how many there are like it.
func showExample(kind testcase.TargetKind, e rundir.Example) string {
	more := ""
	if e.Tests > 1 {
		more = fmt.Sprintf(", %d more", e.Tests-1)
	}
	return fmt.Sprintf("%s  (%s%s; %s)", cut(ShowInputs(kind, e.Inputs), maxExample), e.Test, more, count(e.Paths, "path"))
}

// printClasses writes a line for each class of behaviour.
func printClasses(w io.Writer, classes []rundir.Class, target testcase.Target, dir string) {
	if len(classes) == 0 {
		return
	}
	fmt.Fprintf(w, "%s of behaviour:\n", counts(len(classes), "class", "classes"))
	width := 0
	lines := make([]string, min(len(classes), maxClasses))
	for i := range lines {
		lines[i] = showOutcome(classes[i].Outcome, target.Cwd)
		if s := classes[i].Shows; s != "" {
			lines[i] += ", " + string(s)
		}
	}
	shown := apart(lines, func(s string) string { return cutMiddle(s, maxColumn) }, middleAt)
	for _, s := range shown {
		width = max(width, utf8.RuneCountInString(s))
	}
	for i, c := range classes {
		if i == maxClasses {
			fmt.Fprintf(w, "  ... and %d more, see classes in %s/summary.json\n", len(classes)-i, dir)
			break
		}
		fmt.Fprintf(w, "  %-*s  %s  (%s)\n", width, shown[i], cut(ShowInputs(target.Kind, c.Inputs), maxInputs), count(c.Paths, "path"))
	}
}

// WriteExhausted says whether every input within the declared bounds is accounted for, or why not; dir is the run directory.
func WriteExhausted(w io.Writer, s *rundir.Summary, dir string) {
	switch {
	case !s.Exhausted:
		fmt.Fprintln(w, "not exhausted:")
		for _, why := range s.WhyNotExhausted {
			fmt.Fprintln(w, "  -", why)
		}
	case s.NotCompared():
		fmt.Fprintf(w, "exhausted, in the machine: every input within the declared bounds behaves there like one of these paths; nothing was compared natively (symchef replay %s does)\n", dir)
	default:
		fmt.Fprintln(w, "exhausted: every input within the declared bounds behaves like one of these paths")
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
	fmt.Fprintf(w, "replay (%s): %d agreed, %d diverged, %d unstable, %d not compared%s\n", rep.Mode, rep.Agreed, rep.Diverged, rep.Unstable, rep.Skipped, notReplayed(rep.NotReplayed))
}

// notReplayed ends the line of counts where some could not be made.
func notReplayed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d not replayed", n)
}

// count is "1 path", "2 paths".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// counts is count for a word with a plural of its own.
func counts(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", more)
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

// cutMiddle is cut, but what does not fit is left out in the middle: messages that begin alike differ at the end.
func cutMiddle(s string, n int) string {
	r := []rune(cut(s, math.MaxInt))
	if len(r) <= n {
		return string(r)
	}
	end := (n - 3) / 2
	return string(r[:n-3-end]) + "..." + string(r[len(r)-end:])
}

// middleAt is cutMiddle for a text that is told from others by what it has from the byte at from on.
func middleAt(s string, from int) string {
	if from < maxColumn/2 {
		return cut(s, maxColumn)
	}
	const begin = maxColumn / 3
	return cut(s, begin) + strings.TrimPrefix(windowAt(s, from, maxColumn-begin+3), "...")
}

// cut makes s one line of at most n characters, safe for a terminal.
func cut(s string, n int) string {
	if s = testcase.Visible(s); utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:n-3]) + "..."
	}
	return s
}

// ShowInputs is "name=value name=value", truths in the words of the language kind.
func ShowInputs(kind testcase.TargetKind, in []testcase.Input) string {
	if len(in) == 0 {
		return "no input"
	}
	var parts []string
	for _, i := range in {
		v := cmp.Or(i.Label, string(i.Value))
		switch i.Type {
		case testcase.TypeInt, testcase.TypeChoice, testcase.TypeShape:
		case testcase.TypeBool:
			truth, _ := i.Bool()
			v = emit.ShownTruth(kind, truth)
		case testcase.TypeFloat:
			f, _ := i.Float()
			v = emit.ShownReal(kind, f)
		default:
			b, _ := i.Bytes()
			v = strconv.Quote(string(visible(i.Type, b)))
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
