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

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// one is one test of several, and what became of it.
type one struct {
	Test    string          `json:"test"`              // FILE::NAME
	Dir     string          `json:"dir,omitempty"`     // its run directory; empty: it was not run
	Status  int             `json:"status"`            // as `symchef run` ends with for this test alone
	Error   string          `json:"error,omitempty"`   // why there is no result
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
	m := &many{o: o, stdout: stdout, stderr: stderr, tests: tests}
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
	all, unasked := 0, 0
	add := func(t *one) {
		if all++; wanted.holds(t.Test) {
			tests = append(tests, t)
		}
	}
	for i, f := range files {
		if strings.Contains(f, "::") {
			add(&one{Test: f})
			continue
		}
		o.Test = f
		mine, cancel := share(c, len(files)-i+1) // the tests themselves want one, too
		names, err := List(mine, o, stderr)
		late := mine.Err() != nil
		cancel()
		if late && c.Err() == nil && err != nil {
			err = &usageError{f + ": finding its tests took longer than its share of --time"}
		}
		switch {
		case c.Err() != nil:
			add(&one{Test: f, Error: notRun})
		case err != nil && !wanted.mayHold(f, textOf(f)):
			all++
			unasked++
		case err != nil:
			fmt.Fprintln(stderr, "symchef:", err)
			add(&one{Test: f, Error: withoutFile(err.Error(), f), Status: StatusUsage})
		}
		for _, n := range names {
			add(&one{Test: f + "::" + n})
		}
	}
	if unasked > 0 {
		fmt.Fprintf(stderr, "symchef: passed over without what -k asks for in them: %s that cannot be loaded\n", count(unasked, "test file"))
	}
	if len(tests) == 0 {
		return nil, &usageError{fmt.Sprintf("-k %s: none of %s is called so", expression, count(all, "test"))}
	}
	return tests, nil
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
}

func (m *many) run(c context.Context, end time.Time) int {
	dirs := outDirs(m.o.Out, m.tests)
	for i, t := range m.tests {
		if t.Error != "" {
			continue
		}
		o := m.o
		o.Test, o.Out, o.Brief = t.Test, dirs[i], true
		if !end.IsZero() { // what is left is for all that are left
			o.Time = time.Until(end) / time.Duration(len(m.tests)-i)
		}
		if c.Err() != nil || m.o.Time > 0 && o.Time <= 0 {
			t.Error, t.Status = notRun, StatusOK
			continue
		}
		m.runOne(c, t, o)
	}
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

// runOne runs t and shows its findings.
func (m *many) runOne(c context.Context, t *one, o Options) {
	var out, err bytes.Buffer
	o.OnShown = func(s rundir.Summary) { t.Summary = &s }
	t.Status = Run(c, o, &out, io.MultiWriter(m.stderr, &err))
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
	rows := [][]string{{"test", "paths", "findings", "exhausted", "time", "run directory"}}
	findings, failed, without := 0, 0, 0
	for _, t := range m.tests {
		row := []string{t.Test, "", "", "", "", cut(t.Error, maxInputs)}
		if s := t.Summary; s != nil {
			n := s.Paths.High
			if n == 0 {
				n = s.Paths.Low
			}
			row = []string{t.Test, fmt.Sprint(n), fmt.Sprint(len(s.Findings)), yes(s.Exhausted), fmt.Sprintf("%.1f s", s.ElapsedS), t.Dir}
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
	fmt.Fprintf(m.stdout, "%s: %s in %d of them", count(len(m.tests), "test"), count(findings, "finding"), failed)
	if without > 0 {
		fmt.Fprintf(m.stdout, ", %d without a result", without)
	}
	fmt.Fprintln(m.stdout)
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
// tells it from the others.
func outDirs(base string, tests []*one) []string {
	names := make([]string, len(tests))
	for depth := 0; ; depth++ {
		seen := map[string]int{}
		for i, t := range tests {
			file, name, _ := strings.Cut(t.Test, "::")
			parts := strings.Split(strings.TrimSuffix(filepath.ToSlash(filepath.Clean(file)), filepath.Ext(file)), "/")
			names[i] = strings.Join(parts[max(0, len(parts)-1-depth):], "-") + "-" + name
			if depth > 64 { // files that differ in their suffix only, or in a - for a /
				names[i] = fmt.Sprintf("%s-%d", names[i], i+1)
			}
			seen[names[i]]++
		}
		if len(seen) == len(tests) || depth > 64 {
			break
		}
	}
	for i, n := range names {
		if base != "" {
			names[i] = filepath.Join(base, n)
		} else {
			names[i] = "symchef-out-" + n
		}
	}
	return names
}
