package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"symchef/internal/device"
	"symchef/internal/disk"
	"symchef/internal/emit"
	"symchef/internal/interp"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// How much a function is explored: a round gives each so many instructions, every further round so many times as many as the one before.
const (
	firstTurn = 50_000_000
	turnGrows = 4
	// DefaultCheckInstructions is what a function gets in all, unless --time says how long all of them may take.
	DefaultCheckInstructions = 250_000_000
	// firstPause is when a round ends at the latest where --time does not say so: a function may wait for the solver. It grows, too.
	firstPause = 15 * time.Second
	pauseGrows = 2
	// leastTurn is the least time in which anything can be found about a function.
	leastTurn = 5 * time.Second
)

// mostLate is how many turns may pass before a function begins.
const mostLate = 3

// checkVersion is that of check.json, docs/check.schema.json.
const checkVersion = 1

// checkName is the file of a check directory.
const checkName = "check.json"

// checked is a function and what became of it.
type checked struct {
	device.Function
	Dir     string // its run directory, below that of the check; empty: it was not run
	Status  int    // as `symchef run` ends with
	Error   string // why there is no result
	Summary *rundir.Summary
	Judged  map[string]int // test cases that end in an exception which is no finding, by why
	Rounds  int
	gained  int // classes and high-level paths of the last round
}

// finding is one of a check.
type finding struct {
	Function *checked
	rundir.Finding
	Call    string   // source code
	Imports []string // lines before it
	Demoted string   // why it is none after all; empty: it is one
	Judged  string   // Demoted, as the guest library says
	Also    []string // other functions with one of the same kind at the same place
}

// CheckupOptions are those of a check.
type CheckupOptions struct {
	Options              // of the run of each function; Time is shared, Out is the check directory
	Keyword       string // -k
	Baseline      string // a file with findings that do not count; empty: that of the settings
	WriteBaseline bool   // the findings go there
	JUnit, SARIF  string // files to write
}

// configure reads the settings and the baseline.
func (k *checking) configure() (err error) {
	if k.o.Resume != "" {
		if err := k.restore(); err != nil {
			return err
		}
	}
	place, _, _ := strings.Cut(k.target, ":")
	if _, err := os.Stat(place); err != nil { // the name of a module: the working directory is the project
		place = "."
	}
	if k.settings, err = findSettings(place, interp.All()); err != nil {
		return err
	}
	if k.o.Time == 0 && k.settings.Time != "" {
		k.o.Time, _ = time.ParseDuration(k.settings.Time)
	}
	k.o.Instructions = cmp.Or(k.o.Instructions, k.settings.Instructions)
	if k.more.Baseline == "" && k.settings.Baseline != "" {
		k.more.Baseline = filepath.Join(filepath.Dir(k.settings.File), k.settings.Baseline)
	}
	if k.more.Baseline == "" && k.more.WriteBaseline {
		return &usageError{"--write-baseline: --baseline says which file"}
	}
	if k.more.Baseline != "" && !k.more.WriteBaseline {
		k.known, err = readBaseline(k.more.Baseline)
	}
	return err
}

// write writes the files that were asked for.
func (k *checking) write() error {
	all := k.findings()
	found := confirmed(all)
	cwd, _ := os.Getwd()
	var err error
	if k.more.WriteBaseline {
		err = writeBaseline(k.more.Baseline, all)
	}
	for _, f := range []struct {
		name string
		text func() []byte
	}{
		{k.more.SARIF, func() []byte { return sarif(found, cwd) }},
		{k.more.JUnit, func() []byte { return junit(k.target, k.functions, found, time.Since(k.started).Seconds()) }},
	} {
		if f.name == "" {
			continue
		}
		if e := disk.Replace(filepath.Dir(f.name), filepath.Base(f.name), f.text(), 0o644); e != nil {
			err = errors.Join(err, &usageError{fmt.Sprintf("cannot write %s: %v", f.name, e)})
		}
	}
	return err
}

// checking is a check in progress.
type checking struct {
	o              Options
	more           CheckupOptions
	settings       Settings
	known          baseline
	ignored        int // functions, by the settings
	target         string
	dir            string
	functions      []*checked
	stdout, stderr io.Writer
	started        time.Time
	end            time.Time // of --time; zero: none
}

// Check explores the public functions of a target, each with inputs that its text tells, and reports what none of them should do. It returns the exit status:
// 0 nothing found, 1 findings, 2 the target is refused, 3 the engine could not go on, 130 interrupted.
func Check(c context.Context, o CheckupOptions, target string, stdout, stderr io.Writer) int {
	k := &checking{o: o.Options, more: o, target: target, stdout: stdout, stderr: stderr, started: time.Now()}
	if err := k.configure(); err != nil {
		fmt.Fprintln(stderr, "symchef:", err)
		return StatusUsage
	}
	if o := k.o; o.Time > 0 {
		k.end = k.started.Add(o.Time)
	}
	err := k.prepare(c)
	if err == nil {
		k.explore(c)
		err = errors.Join(k.keep(k.status(c)), k.write())
	}
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "symchef:", usage.text)
		return StatusUsage
	case err != nil && c.Err() != nil:
		fmt.Fprintln(stderr, "symchef: interrupted before the check began")
		return StatusCtrlC
	case err != nil:
		fmt.Fprintln(stderr, "symchef:", err)
		return StatusEngine
	}
	status := k.status(c)
	k.show(status)
	return status
}

// prepare finds the functions, or those of the check that is gone on with.
func (k *checking) prepare(c context.Context) error {
	if k.o.Resume != "" {
		return nil
	}
	wanted, err := parseKeyword(k.more.Keyword)
	if err != nil {
		return err
	}
	timed := c
	if !k.end.IsZero() {
		var cancel context.CancelFunc
		timed, cancel = context.WithDeadline(c, k.end)
		defer cancel()
	}
	found, err := Functions(timed, k.o, k.target, k.stderr)
	if err != nil {
		if timed.Err() != nil && c.Err() == nil {
			return &usageError{k.target + ": finding its functions took longer than --time"}
		}
		return err
	}
	k.dir = cmp.Or(k.o.Out, "symchef-check-"+plainName(k.target))
	taken := map[string]bool{}
	for _, f := range found {
		if !wanted.holds(f.Name) {
			continue
		}
		if k.settings.ignores(f.Name) {
			k.ignored++
			continue
		}
		t := &checked{Function: f, Error: f.Refused}
		if t.Error == "" {
			t.Dir = plainName(f.Name)
			for n := 2; taken[t.Dir]; n++ {
				t.Dir = fmt.Sprintf("%s-%d", plainName(f.Name), n)
			}
			taken[t.Dir] = true
		}
		k.functions = append(k.functions, t)
	}
	if len(k.functions) == 0 {
		return &usageError{fmt.Sprintf("none of %s is called so, or is not ignored", count(len(found), "function"))}
	}
	if err := k.ready(); err != nil {
		return err
	}
	return k.keep(StatusOK)
}

// ready makes the check directory, or empties it of an earlier check.
func (k *checking) ready() error {
	entries, err := os.ReadDir(k.dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = os.MkdirAll(k.dir, 0o755)
	case err == nil && len(entries) > 0:
		if _, e := os.Stat(filepath.Join(k.dir, checkName)); e != nil {
			return &usageError{k.dir + ": it exists, is not empty and is no check directory"}
		}
	}
	if err != nil {
		return &usageError{"cannot make the check directory: " + err.Error()}
	}
	return nil
}

// plainName is text as the name of a folder.
func plainName(text string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r == '/' || r == ':' || r < ' ' || r == 0x7f {
			return '-'
		}
		return r
	}, strings.TrimSuffix(text, "()")), "-.")
	if len(name) > 100 {
		name = name[:100]
	}
	return cmp.Or(name, "target")
}

// explore gives turns to all functions, until each is exhausted or nothing is left to give.
func (k *checking) explore(c context.Context) {
	turn, given, pause := uint64(firstTurn), uint64(0), firstPause
	most := cmp.Or(k.o.Instructions, uint64(DefaultCheckInstructions))
	for {
		open := slices.DeleteFunc(slices.Clone(k.functions), func(t *checked) bool { return !t.open() })
		if len(open) == 0 || k.end.IsZero() && given >= most {
			return
		}
		if k.end.IsZero() {
			turn = min(turn, most-given)
		}
		slices.SortStableFunc(open, func(a, b *checked) int { return b.gained - a.gained }) // in the first round all have gained nothing
		for i, t := range open {
			if c.Err() != nil || !k.end.IsZero() && time.Until(k.end) < time.Second {
				for _, t := range open {
					if t.Summary == nil {
						t.Error = notRun
					}
				}
				return
			}
			k.turn(c, t, turn, k.share(pause, len(open)-i))
			k.progress(t, i+1, len(open))
			k.keep(StatusOK) // what fails here fails again in the end
		}
		given += turn
		turn *= turnGrows
		pause *= pauseGrows
	}
}

// open says that more can be found about a function.
func (t *checked) open() bool {
	return t.Error == "" && (t.Summary == nil || !t.Summary.Exhausted && t.Summary.Paths.Pending > 0)
}

// share is the time of a turn, of which so many are left in a round.
func (k *checking) share(pause time.Duration, left int) time.Duration {
	if k.end.IsZero() {
		return pause
	}
	return max(time.Until(k.end)/time.Duration(left), min(leastTurn, time.Until(k.end)))
}

// turn explores a function for so many more instructions.
func (k *checking) turn(c context.Context, t *checked, instructions uint64, most time.Duration) {
	o := k.o
	o.Brief, o.Progress, o.JSON, o.Instructions, o.Turn, o.Out, o.Resume, o.Time = true, "none", false, 0, instructions, "", "", most
	dir := filepath.Join(k.dir, t.Dir)
	if t.Summary != nil {
		o.Resume = dir
	} else {
		o.Test, o.Out = t.Run, dir
	}
	var out, err bytes.Buffer
	var got *rundir.Summary
	o.OnShown = func(s rundir.Summary) { got = &s }
	begun := time.Now()
	t.Status = Run(c, o, &out, &err)
	t.Rounds++
	if got == nil {
		if t.Summary == nil && time.Since(begun) >= most && t.Rounds < mostLate {
			return // the next turn is longer
		}
		if t.Summary == nil && c.Err() == nil {
			t.Error = cmp.Or(withoutFile(strings.TrimPrefix(lastLine(err.Bytes()), "symchef: "), t.Run), "it ended without a result")
			t.Error = strings.TrimPrefix(t.Error, strings.TrimPrefix(t.Run, strings.SplitN(t.Run, "::", 2)[0])+": ")
		}
		return
	}
	before := 0
	if t.Summary != nil {
		before = len(t.Summary.Classes) + t.Summary.Paths.High
	}
	t.Summary, t.gained = got, len(got.Classes)+got.Paths.High-before
}

// progress says how a function stands.
func (k *checking) progress(t *checked, i, of int) {
	if k.o.Progress == "none" || k.o.JSON && k.o.Progress != "plain" {
		return
	}
	what := t.Error
	if s := t.Summary; s != nil {
		what = fmt.Sprintf("%s, %s", count(max(s.Paths.High, 0), "path"), count(len(s.Findings), "failure"))
		if s.Exhausted {
			what += ", exhausted"
		}
	}
	fmt.Fprintf(k.stderr, "%6.1fs  %d of %d  %s: %s\n", time.Since(k.started).Seconds(), i, of, t.Name, what)
}

// findings are those of all functions, each judged by all that is known of the function now.
func (k *checking) findings() (out []finding) {
	for _, t := range k.functions {
		if t.Summary == nil {
			continue
		}
		var tests []testcase.Test
		d, err := rundir.Open(filepath.Join(k.dir, t.Dir))
		if err == nil {
			tests, _, err = d.Outlines()
		}
		if err != nil {
			t.Error = err.Error()
			continue
		}
		t.Judged = map[string]int{}
		for _, test := range tests {
			if test.Judged != "" {
				t.Judged[test.Judged]++
			}
		}
		kind := t.Summary.Target.Kind
		for _, f := range t.Summary.Findings {
			found := finding{Function: t, Finding: f, Call: emit.ShownCall(kind, f.Inputs), Imports: emit.Imports(kind, f.Inputs), Demoted: demoted(t, f, tests), Judged: judgedOf(f, tests)}
			switch {
			case found.Demoted != "":
			case k.settings.documents(t.Name, string(f.Outcome.Type)):
				found.Demoted = becauseSettings
			case slices.Contains(k.known.Findings, knownOf(&found)):
				found.Demoted = becauseKnown
			}
			if found.Demoted != "" {
				t.Judged[found.Demoted]++
			}
			out = append(out, found)
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int {
		return cmp.Or(last(a.Refuted)-last(b.Refuted), severity(a.Outcome.Kind)-severity(b.Outcome.Kind))
	})
	return out
}

// Why what looks like a finding is none, beside what the guest library says.
const (
	becauseGuess    = "guess"    // nothing tells what the arguments may be, and no call with such ones has returned
	becauseSettings = "settings" // the project says that it is documented
	becauseKnown    = "baseline" // it was known before
	becauseSize     = "size"     // it takes long for a large number
)

// largeNumber is what is no number of things any more.
const largeNumber = 1 << 20

// demoted says why f is no finding after all; empty: it is one.
func demoted(t *checked, f rundir.Finding, tests []testcase.Test) string {
	if why := judgedOf(f, tests); why != "" {
		return why
	}
	if f.Outcome.Kind == testcase.Hang && !strings.Contains(string(f.Outcome.Message), "same state") && hasLarge(f.Inputs) {
		return becauseSize
	}
	if len(t.Guessed) == 0 || f.Outcome.Kind == testcase.Crash {
		return ""
	}
	guessed := guesses(f.Inputs)
	if guessed == "" || slices.ContainsFunc(tests, func(x testcase.Test) bool { return x.Outcome.Kind == testcase.OK && guesses(x.Inputs) == guessed }) {
		return ""
	}
	return becauseGuess
}

// judgedOf is what the guest library says of the example of f.
func judgedOf(f rundir.Finding, tests []testcase.Test) string {
	if i := slices.IndexFunc(tests, func(x testcase.Test) bool { return x.ID == f.Test }); i >= 0 {
		return tests[i].Judged
	}
	return ""
}

// guesses are the alternatives that inputs took where nothing tells what they may be, as text.
func guesses(inputs []testcase.Input) string {
	var b strings.Builder
	for _, in := range inputs {
		if strings.HasPrefix(in.Name, "guess(") {
			fmt.Fprintf(&b, "%s=%s ", in.Name, in.Value)
		}
		b.WriteString(guesses(in.Parts))
	}
	return b.String()
}

// hasLarge says whether an input is a number that nobody counts to.
func hasLarge(inputs []testcase.Input) bool {
	return slices.ContainsFunc(inputs, func(in testcase.Input) bool {
		if v, err := in.Int(); err == nil && (v > largeNumber || v < -largeNumber) {
			return true
		}
		return hasLarge(in.Parts)
	})
}

// confirmed are the findings that count. Those of one kind at one place are one defect, whatever function led there: the one with the fewest guesses
// and the shortest call stands for them.
func confirmed(all []finding) (out []finding) {
	return defects(all, func(f *finding) bool { return f.Demoted == "" && f.Refuted == nil })
}

func defects(all []finding, counts func(*finding) bool) (out []finding) {
	at := map[string]int{}
	for _, f := range all {
		if !counts(&f) {
			continue
		}
		key := fmt.Sprint(f.Outcome.Kind, "|", f.Outcome.Type, "|", f.Outcome.Signal, "|", f.Site)
		i, seen := at[key]
		if !seen || f.Site == "" {
			at[key] = len(out)
			out = append(out, f)
			continue
		}
		also := append(out[i].Also, f.Function.Name)
		if cmp.Or(len(f.Function.Guessed)-len(out[i].Function.Guessed), len(f.Call)-len(out[i].Call)) < 0 {
			also[len(also)-1] = out[i].Function.Name
			out[i] = f
		}
		out[i].Also = slices.Compact(also)
	}
	return out
}

// status is the exit status of the check as it stands.
func (k *checking) status(c context.Context) int {
	if c.Err() != nil {
		return StatusCtrlC
	}
	status := StatusOK
	if len(confirmed(k.findings())) > 0 {
		status = StatusFailing
	}
	for _, t := range k.functions {
		if t.Status == StatusEngine {
			status = StatusEngine
		}
	}
	return status
}

// restore reads the check that is gone on with.
func (k *checking) restore() error {
	k.dir = k.o.Resume
	b, err := disk.Read(filepath.Join(k.dir, checkName))
	var r report
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	switch {
	case err != nil:
		return &usageError{fmt.Sprintf("%s: no check to go on with: %v", k.dir, err)}
	case r.SchemaVersion != checkVersion:
		return &usageError{k.dir + ": it is of another version of symchef"}
	}
	k.target = string(r.Target)
	for _, row := range r.Functions {
		t := row.checked()
		if t.Dir != "" && t.Rounds > 0 {
			d, err := rundir.Open(filepath.Join(k.dir, t.Dir))
			if err == nil {
				t.Summary = &d.Summary
			} else if !errors.Is(err, fs.ErrNotExist) { // else it never began
				return &usageError{err.Error()}
			}
		}
		k.functions = append(k.functions, t)
	}
	return nil
}
