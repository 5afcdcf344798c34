package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"symchef/internal/interp"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// one is one test of several, and what became of it.
type one struct {
	Test    string          `json:"test"`            // FILE::NAME
	Dir     string          `json:"dir,omitempty"`   // its run directory; empty: it was not run
	Status  int             `json:"status"`          // as `symchef run` ends with for this test alone
	Error   string          `json:"error,omitempty"` // why there is no result
	with    string          // the interpreter that the user has chosen for it; empty: the default
	had     time.Duration   // its share of --time
	Summary *rundir.Summary `json:"-"`                 // nil: there is no result
	JSON    json.RawMessage `json:"summary,omitempty"` // the same
}

// MarshalJSON implements json.Marshaler: neither the names of files nor those of tests need be UTF-8.
func (t one) MarshalJSON() ([]byte, error) {
	type plain one
	return json.Marshal(struct {
		Test testcase.Text `json:"test"`
		Dir  testcase.Text `json:"dir,omitempty"`
		plain
	}{testcase.Text(t.Test), testcase.Text(t.Dir), plain(t)})
}

// runsVersion is that of what --json prints of several tests, docs/runs.schema.json.
const runsVersion = 1

// notRun is the Error of a test whose turn did not come.
const notRun = "not run"

// severe are the exit statuses, the worst first.
var severe = []int{StatusCtrlC, StatusEngine, StatusDiverged, StatusUsage, StatusFailing, StatusOK}

// RunMany runs the tests that args name, files, folders and FILE::NAME, as far as the expression -k selects them, one after the other, each with a
// run directory of its own below o.Out. All of them share o.Time. It returns the worst exit status.
func RunMany(c context.Context, o Options, args []string, expression string, stdout, stderr io.Writer) int {
	end := time.Time{}
	timed := c
	if o.Time > 0 {
		end = time.Now().Add(o.Time)
		var cancel context.CancelFunc
		timed, cancel = context.WithDeadline(c, end)
		defer cancel()
	}
	tests, err := choose(timed, o, args, expression, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "symchef:", err)
		var usage *usageError
		if errors.As(err, &usage) {
			return StatusUsage
		}
		return StatusEngine
	}
	m := &many{o: o, stdout: stdout, stderr: stderr, tests: tests, runs: Run}
	return m.run(c, end)
}

// choose finds the tests. What cannot be asked for its tests is one of them, with its Error.
func choose(c context.Context, o Options, args []string, expression string, stderr io.Writer) (tests []*one, err error) {
	wanted, err := parseKeyword(expression)
	if err != nil {
		return nil, err
	}
	files, err := collect(args)
	if err != nil {
		return nil, err
	}
	all, unasked := 0, []string(nil)
	chosen := interpreters(o, files)
	asked := map[string][]string{} // the names of a file's tests
	add := func(t *one) {
		t.with = chosen(t.Test)
		if all++; wanted.holds(t.Test) {
			tests = append(tests, t)
		}
	}
	for i, f := range files {
		file, class, named := strings.Cut(f, "::")
		o.Test, o.Interpreter = f, chosen(f)
		mine, cancel := share(c, len(files)-i+1) // the tests themselves want one, too
		names, err := asked[file], error(nil)
		if names == nil {
			names, err = List(mine, o, stderr)
			asked[file] = names
		}
		late := mine.Err() != nil
		cancel()
		if late && c.Err() == nil && err != nil {
			err = &usageError{f + ": finding its tests took longer than its share of --time"}
		}
		switch {
		case c.Err() != nil:
			add(&one{Test: f, Error: notRun})
			names = nil
		case named:
			names = of(class, names)
		case err != nil && !wanted.mayHold(f, textOf(f)):
			all++
			unasked = append(unasked, f)
		case err != nil:
			fmt.Fprintln(stderr, "symchef:", err)
			add(&one{Test: f, Error: withoutFile(err.Error(), f), Status: StatusUsage})
		}
		for _, n := range names {
			add(&one{Test: file + "::" + n})
		}
	}
	if len(unasked) > 0 {
		fmt.Fprintf(stderr, "symchef: passed over, for nothing in them looks like what -k asks for and they cannot be loaded (run one to see why): %s\n", strings.Join(unasked, ", "))
	}
	if len(tests) == 0 {
		return nil, &usageError{fmt.Sprintf("-k %s: none of %s is called so", expression, count(all, "test"))}
	}
	return tests, nil
}

// of are those of names that name stands for: itself, which is not looked for, or CLASS.NAME for all CLASS.
func of(name string, names []string) (out []string) {
	for _, n := range names {
		if strings.HasPrefix(n, name+".") {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return []string{name}
	}
	return out
}

// Dotted is FILE::CLASS.NAME for a test that is given as FILE::CLASS::NAME.
func Dotted(test string) string {
	file, name, named := strings.Cut(test, "::")
	if !named {
		return test
	}
	return file + "::" + strings.ReplaceAll(strings.TrimSuffix(name, "::"), "::", ".")
}

// interpreters tells for each test which interpreter --interpreter asks for. With tests in several languages it is meant for those that it is an interpreter
// of, and the others have their default; if it is one of none, that is an error of each.
func interpreters(o Options, files []string) func(test string) string {
	answers := map[*interp.Desc]bool{} // by language
	some := false
	of := func(test string) *interp.Desc {
		path, _, _ := strings.Cut(test, "::")
		abs, err := filepath.Abs(path)
		d, ok := interp.ForFile(abs)
		if err != nil || !ok {
			return nil
		}
		return d
	}
	if o.Interpreter != "" {
		for _, f := range files {
			if d := of(f); d != nil {
				if _, asked := answers[d]; !asked {
					_, err := d.Find(interp.FindOptions{Test: f, Explicit: o.Interpreter, Cache: o.cache()})
					answers[d], some = err == nil, some || err == nil
				}
			}
		}
	}
	return func(test string) string {
		if some && !answers[of(test)] {
			return ""
		}
		return o.Interpreter
	}
}

// textOf is what a file that may be any holds; nothing where it cannot be read.
func textOf(file string) string {
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	b, _ := os.ReadFile(file)
	return string(b)
}

// share is c with one of n equal shares of the time that it has left.
func share(c context.Context, n int) (context.Context, context.CancelFunc) {
	end, limited := c.Deadline()
	if !limited {
		return context.WithCancel(c)
	}
	return context.WithTimeout(c, time.Until(end)/time.Duration(n))
}

// withoutFile is a message about a test without the beginning that names its file.
func withoutFile(message, test string) string {
	file, _, _ := strings.Cut(test, "::")
	message = strings.TrimPrefix(message, "symchef: ")
	if abs, err := filepath.Abs(file); err == nil {
		message = strings.TrimPrefix(message, abs+": ")
	}
	return strings.TrimPrefix(message, file+": ")
}

// many are runs, one after the other.
type many struct {
	o              Options
	stdout, stderr io.Writer
	tests          []*one
	runs           func(c context.Context, o Options, stdout, stderr io.Writer) int // Run
}

func (m *many) run(c context.Context, end time.Time) int {
	dirs := outDirs(m.o.Out, m.tests)
	for i, t := range m.tests {
		if t.Error != "" {
			continue
		}
		o := m.o
		o.Test, o.Out, o.Brief, o.Interpreter = t.Test, dirs[i], true, t.with
		if !end.IsZero() { // what is left is for all that are left
			o.Time = time.Until(end) / time.Duration(len(m.tests)-i)
		}
		if c.Err() != nil || m.o.Time > 0 && o.Time <= 0 {
			t.Error, t.Status = notRun, StatusOK
			continue
		}
		m.runOne(c, t, o)
	}
	m.again(c, end, dirs)
	worst := StatusOK
	for _, t := range m.tests {
		if slices.Index(severe, t.Status) < slices.Index(severe, worst) {
			worst = t.Status
		}
	}
	if c.Err() != nil {
		worst = StatusCtrlC
	}
	m.show(worst)
	return worst
}

// again runs those tests once more whose start took longer than their share of --time, where the others have left more: the first start of a file is
// the longest.
func (m *many) again(c context.Context, end time.Time, dirs []string) {
	late := func(t *one) bool { return t.Summary == nil && strings.HasSuffix(t.Error, startTookLonger) }
	for i, t := range m.tests {
		if !late(t) || c.Err() != nil {
			continue
		}
		left := 0
		for _, t := range m.tests[i:] {
			if late(t) {
				left++
			}
		}
		o := m.o
		o.Test, o.Out, o.Brief, o.Interpreter = t.Test, dirs[i], true, t.with
		if o.Time = time.Until(end) / time.Duration(left); o.Time > t.had+t.had/2 {
			t.Error = ""
			m.runOne(c, t, o)
		}
	}
}

// runOne runs t and shows its findings.
func (m *many) runOne(c context.Context, t *one, o Options) {
	t.had = o.Time
	var out, err bytes.Buffer
	o.OnShown = func(s rundir.Summary) { t.Summary = &s }
	t.Status = m.runs(c, o, &out, io.MultiWriter(m.stderr, &err))
	t.Dir = o.Out
	if s := t.Summary; s != nil {
		t.JSON, _ = s.Encode()
	} else {
		t.Dir, t.Error = "", withoutFile(lastLine(err.Bytes()), t.Test)
	}
	if !m.o.JSON {
		if !bytes.HasSuffix(out.Bytes(), []byte("\n\n")) && out.Len() > 0 {
			out.WriteByte('\n')
		}
		m.stdout.Write(out.Bytes())
	}
}

// show writes all results: a table, or what --json promises.
func (m *many) show(status int) {
	if m.o.JSON {
		b, _ := json.MarshalIndent(map[string]any{"schema_version": runsVersion, "status": status, "runs": m.tests}, "", "  ")
		m.stdout.Write(append(b, '\n'))
		return
	}
	rows := [][]string{{"test", "high-level paths", "low-level paths", "classes", "findings", "agreed", "exhausted", "time", "run directory"}}
	findings, failed, without := 0, 0, 0
	for _, t := range m.tests {
		row := []string{t.Test, "", "", "", "", "", "", "", cut(t.Error, maxInputs)}
		if s := t.Summary; s != nil {
			row = []string{t.Test, fmt.Sprint(s.Paths.High), fmt.Sprint(s.Paths.Low), fmt.Sprint(len(s.Classes)), fmt.Sprint(len(s.Findings)), agreed(s), yes(s.Exhausted), fmt.Sprintf("%.1f s", s.ElapsedS), t.Dir}
			findings += len(s.Findings)
			if len(s.Findings) > 0 {
				failed++
			}
		} else {
			without++
		}
		rows = append(rows, row)
	}
	table(m.stdout, rows)
	fmt.Fprintf(m.stdout, "%s: %s", count(len(m.tests), "test"), count(findings, "finding"))
	if failed > 0 && len(m.tests) > 1 {
		fmt.Fprintf(m.stdout, " in %d of them", failed)
	}
	if without > 0 {
		fmt.Fprintf(m.stdout, ", %d without a result", without)
	}
	fmt.Fprintln(m.stdout)
}

// agreed says how many of all test cases of s agreed natively.
func agreed(s *rundir.Summary) string {
	return fmt.Sprintf("%d of %d", s.Replay.Agreed, s.Tests.Total())
}

func yes(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// table writes rows, the columns but the last as wide as they need; numbers are on the right.
func table(w io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = cut(cell, maxOutcome)
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 || i == len(row)-1 {
				b.WriteString(cell + pad + "  ")
			} else {
				b.WriteString(pad + cell + "  ")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// outDirs names the run directories of tests: below base, or in the working directory; each after its file and test, with as much of its folder as
// tells it from the others, and from what holds the run of another file.
func outDirs(base string, tests []*one) []string {
	dirs, taken := make([]string, len(tests)), map[string]bool{}
	for depth := 0; len(taken) < len(tests) && depth <= maxFolders; depth++ {
		clear(taken)
		for i, t := range tests {
			file, name, _ := strings.Cut(t.Test, "::")
			if dirs[i] = outDir(base, file, name, depth); depth == maxFolders { // files that differ in their suffix only, or in a - for a /
				dirs[i] = fmt.Sprintf("%s-%d", dirs[i], i+1)
			}
			taken[dirs[i]] = true
		}
	}
	for i, t := range tests {
		file, name, _ := strings.Cut(t.Test, "::")
		dirs[i] = freeDir(base, dirs[i], file, name, taken)
		taken[dirs[i]] = true
	}
	return dirs
}

// maxFolders is how many folders a run directory may have in its name.
const maxFolders = 64

// outDir is a run directory for a test of file, named after depth of its folders, too; an empty name is that of no test.
func outDir(base, file, name string, depth int) string {
	parts := strings.Split(strings.Trim(strings.TrimSuffix(filepath.ToSlash(filepath.Clean(file)), filepath.Ext(file)), "/"), "/")
	out := strings.Join(parts[max(0, len(parts)-1-depth):], "-")
	if name != "" {
		out += "-" + name
	}
	if base != "" {
		return filepath.Join(base, out)
	}
	return "symchef-out-" + out
}

// freeDir is dir, or where that holds the run of another file the first of its other names that does not, and is not taken.
func freeDir(base, dir, file, name string, taken map[string]bool) string {
	abs, err := filepath.Abs(file)
	if err != nil || !ofAnother(dir, abs) {
		return dir
	}
	for depth := 1; ; depth++ {
		other := outDir(base, abs, name, min(depth, maxFolders))
		if depth > maxFolders {
			other = fmt.Sprintf("%s-%d", other, depth-maxFolders)
		}
		if !taken[other] && !ofAnother(other, abs) {
			return other
		}
	}
}

// ofAnother reports whether dir holds a run of another file.
func ofAnother(dir, file string) bool {
	d, err := rundir.Open(dir)
	return err == nil && d.Summary.Target.Path != file
}
