package session

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"symchef/internal/device"
	"symchef/internal/disk"
	"symchef/internal/testcase"
)

// report is check.json (docs/check.schema.json).
type report struct {
	SchemaVersion int           `json:"schema_version"`
	Target        testcase.Text `json:"target"`
	Status        int           `json:"status"`
	ElapsedS      float64       `json:"elapsed_s"`
	Findings      []findingRow  `json:"findings"`
	Functions     []functionRow `json:"functions"`
}

// findingRow is a finding, or what looked like one: Counts says whether it is.
type findingRow struct {
	Function testcase.Text    `json:"function"`
	Call     string           `json:"call"`
	Imports  []string         `json:"imports"`
	Outcome  testcase.Outcome `json:"outcome"`
	Site     testcase.Text    `json:"site,omitempty"`
	Evidence string           `json:"evidence"`
	Counts   bool             `json:"counts"`
	Why      string           `json:"why,omitempty"` // it does not count
	Dir      testcase.Text    `json:"dir"`
	Test     string           `json:"test"`
	Paths    int              `json:"paths"`
}

// functionRow is a function of the target.
type functionRow struct {
	Name      testcase.Text  `json:"name"`
	Run       testcase.Text  `json:"run,omitempty"`
	At        testcase.Text  `json:"at"`
	Signature string         `json:"signature"`
	Guessed   []string       `json:"guessed"`
	Promised  []string       `json:"promised"`
	Own       []string       `json:"own"`
	Error     string         `json:"error,omitempty"`
	Dir       testcase.Text  `json:"dir,omitempty"`
	Rounds    int            `json:"rounds"`
	High      int            `json:"high"`
	Low       int            `json:"low"`
	Classes   int            `json:"classes"`
	Exhausted bool           `json:"exhausted"`
	Why       []string       `json:"why_not_exhausted,omitempty"`
	Judged    map[string]int `json:"judged,omitempty"`
	ElapsedS  float64        `json:"elapsed_s"`
}

func (row functionRow) checked() *checked {
	return &checked{
		Function: device.Function{Run: string(row.Run), Name: string(row.Name), At: string(row.At), Signature: row.Signature, Guessed: row.Guessed, Promised: row.Promised, Own: row.Own},
		Dir:      string(row.Dir), Error: strings.TrimSuffix(row.Error, notRun), Rounds: row.Rounds,
	}
}

// report is the check as it stands.
func (k *checking) report(status int) report {
	r := report{SchemaVersion: checkVersion, Target: testcase.Text(k.target), Status: status, ElapsedS: time.Since(k.started).Seconds(), Findings: []findingRow{}, Functions: []functionRow{}}
	for _, f := range k.findings() {
		row := findingRow{
			Function: testcase.Text(f.Function.Name), Call: f.Call, Imports: f.Imports, Outcome: f.Outcome, Site: testcase.Text(f.Site), Evidence: f.evidence(),
			Counts: f.Demoted == "" && f.Refuted == nil, Why: f.Demoted, Dir: testcase.Text(f.Function.Dir), Test: f.Test, Paths: f.Paths,
		}
		if f.Refuted != nil {
			row.Why = f.Refuted.Verdict + ": " + f.Refuted.Why
		}
		r.Findings = append(r.Findings, row)
	}
	for _, t := range k.functions {
		row := functionRow{
			Name: testcase.Text(t.Name), Run: testcase.Text(t.Run), At: testcase.Text(t.At), Signature: t.Signature, Guessed: t.Guessed, Promised: t.Promised, Own: t.Own,
			Error: t.Error, Dir: testcase.Text(t.Dir), Rounds: t.Rounds, Judged: t.Judged,
		}
		if s := t.Summary; s != nil {
			row.High, row.Low, row.Classes, row.Exhausted, row.Why, row.ElapsedS = s.Paths.High, s.Paths.Low, len(s.Classes), s.Exhausted, s.WhyNotExhausted, s.ElapsedS
		}
		r.Functions = append(r.Functions, row)
	}
	return r
}

// keep writes check.json.
func (k *checking) keep(status int) error {
	b, err := json.MarshalIndent(k.report(status), "", "  ")
	if err == nil {
		err = disk.Replace(k.dir, checkName, append(b, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", filepath.Join(k.dir, checkName), err)
	}
	return nil
}

// evidence says why nobody should expect the exception.
func (f finding) evidence() string {
	t := f.Function
	if f.Outcome.Kind != testcase.Exception {
		return ""
	}
	var parts []string
	if len(t.Promised) > 0 {
		parts = append(parts, "its text names "+some(t.Promised))
	} else {
		parts = append(parts, "its text names no exception")
	}
	if len(t.Own) > 0 {
		parts = append(parts, "its package defines "+some(t.Own))
	} else {
		parts = append(parts, "its package defines none")
	}
	return strings.Join(parts, "; ")
}

// maxNames is how many names of exceptions evidence has.
const maxNames = 3

// some are the first of names.
func some(names []string) string {
	if n := len(names); n > maxNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), n-maxNames)
	}
	return strings.Join(names, ", ")
}

// show writes the findings, and a table of the functions.
func (k *checking) show(status int) {
	w := k.stdout
	if k.o.JSON {
		b, _ := json.MarshalIndent(k.report(status), "", "  ")
		w.Write(append(b, '\n'))
		return
	}
	all := k.findings()
	real := confirmed(all)
	for _, f := range real {
		k.showFinding(f)
	}
	doubtful := 0
	for _, f := range all {
		if f.Refuted != nil && f.Demoted == "" {
			doubtful++
			fmt.Fprintf(w, "? %s: %s  not confirmed, %s: %s\n", cut(f.Call, maxExample), cut(f.Outcome.String(), maxColumn), f.Refuted.Verdict, cut(f.Refuted.Why, maxOutcome))
		}
	}
	if doubtful > 0 {
		fmt.Fprintln(w)
	}
	k.showDoubtful(all)
	k.showTable()
	judged := map[string]int{}
	for _, t := range k.functions {
		for why, n := range t.Judged {
			judged[why] += n
		}
	}
	fmt.Fprintf(w, "%s: %s", count(len(k.functions), "function"), count(len(real), "finding"))
	if k.ignored > 0 {
		fmt.Fprintf(w, "; %d more ignored by %s", k.ignored, k.settings.File)
	}
	if len(judged) > 0 {
		fmt.Fprintf(w, "; no findings: %s", reasons(judged))
	}
	fmt.Fprintln(w)
	if slices.ContainsFunc(k.functions, (*checked).open) {
		fmt.Fprintf(w, "next: symchef check --resume %s\n", shellWord(k.dir))
	}
}

func (k *checking) showFinding(f finding) {
	w, s := k.stdout, f.Function.Summary
	cwd := s.Target.Cwd
	fmt.Fprintf(w, "! %s: %s\n", f.Function.Name, cut(showOutcome(f.Outcome, cwd), maxOutcome))
	fmt.Fprintln(w)
	for _, line := range f.Imports {
		fmt.Fprintf(w, "    %s\n", line)
	}
	fmt.Fprintf(w, "    %s\n\n", cut(f.Call, maxExample))
	if f.Site != "" {
		fmt.Fprintf(w, "    at %s\n", showPlace(f.Site, cwd))
	}
	for _, at := range callers(f.Frames, cwd) {
		fmt.Fprintf(w, "    from %s\n", at)
	}
	if len(f.Also) > 0 {
		fmt.Fprintf(w, "    also by %s\n", cut(strings.Join(f.Also, ", "), maxOutcome))
	}
	if e := f.evidence(); e != "" {
		fmt.Fprintf(w, "    %s\n", cut(e, 2*maxOutcome))
	}
	if s.Exhausted {
		fmt.Fprintf(w, "    every call of %s%s within the bounds is known: %s\n", f.Function.Name, f.Function.Signature, count(s.Paths.High, "path"))
	}
	fmt.Fprintf(w, "    again: symchef replay --test %s %s\n\n", f.Test, shellWord(filepath.Join(k.dir, f.Function.Dir)))
}

// showDoubtful writes a line for each failure that would count if it were known what the arguments may be.
func (k *checking) showDoubtful(all []finding) {
	list := defects(all, func(f *finding) bool { return f.Demoted != "" && f.Demoted == f.Judged && f.Refuted == nil })
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(k.stdout, "No findings, since nothing says which arguments are meant:")
	for i, f := range list {
		if i == maxFindings {
			fmt.Fprintf(k.stdout, "  ... and %d more, see %s\n", len(list)-i, filepath.Join(k.dir, checkName))
			break
		}
		fmt.Fprintf(k.stdout, "  %s  %s at %s\n", cut(f.Call, maxInputs), cut(f.Outcome.String(), maxColumn), showPlace(f.Site, f.Function.Summary.Target.Cwd))
	}
	fmt.Fprintln(k.stdout)
}

// showTable writes a line for each function.
func (k *checking) showTable() {
	rows := [][]string{{"function", "paths", "classes", "findings", "proved", "time", "what limits it"}}
	counted := map[*checked]int{}
	for _, f := range confirmed(k.findings()) {
		counted[f.Function]++
	}
	for _, t := range k.functions {
		row := []string{t.Name, "", "", "", "", "", cut(t.Error, maxInputs)}
		if s := t.Summary; s != nil {
			why := ""
			if !s.Exhausted && len(s.WhyNotExhausted) > 0 {
				why = cut(s.WhyNotExhausted[0], maxInputs)
			}
			row = []string{t.Name, fmt.Sprint(s.Paths.High), fmt.Sprint(len(s.Classes)), fmt.Sprint(counted[t]), yes(s.Exhausted), fmt.Sprintf("%.1f s", s.ElapsedS), why}
		}
		rows = append(rows, row)
	}
	table(k.stdout, rows)
}
