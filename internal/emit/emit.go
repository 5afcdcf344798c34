// Package emit writes the test cases of a run as a test file of the language,
// which runs without symchef.
//
//	err := emit.Write(os.Stdout, format, "/t/test_email_generated", reader.Summary.Target, tests, nil)
//
// Findings are marked as expected to fail, so that the file is green until
// they are fixed, and red (a strict xfail) afterwards.
package emit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// Format is the name of a format of test files. Those of a language stand in its folder: templates, and how it writes values.
type Format string

// Mark stands at the beginning of every file that is written.
const Mark = "Test cases that symchef generated for "

// Formats lists the formats there are.
func Formats() (out []Format) {
	for _, d := range interp.All() {
		for _, f := range d.Formats {
			out = append(out, Format(f.Name))
		}
	}
	return append(out, Shell)
}

// Default is the format for tests of a language; false if there is none.
func Default(kind testcase.TargetKind) (Format, bool) {
	if kind == testcase.Program {
		return Shell, true
	}
	if d, ok := interp.ByName(string(kind)); ok && len(d.Formats) > 0 {
		return Format(d.Formats[0].Name), true
	}
	return "", false
}

// template is a format's, of a file of the language's folder.
func (w *writer) template(file string) (*template.Template, error) {
	all, err := w.rules.Clone()
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(w.files, file)
	if err != nil {
		return nil, err
	}
	return all.New(file).Parse(string(text))
}

// file is what the templates see; strings named as code are of the language.
type file struct {
	Test, File, Name, Count string
	Interpreter             string // that of a virtual environment, if the run's was one; else empty
	Started                 string // the interpreter of the run; empty: it is not told
	Locate                  string // code: the path of the tested file
	Function                string // code: name of the test function
	StandIn                 string // code
	Cases                   []entry
	Omitted                 []string // comments

	tests  []testcase.Test
	tested []byte // the tested file
}

// Raised reports whether a case ends by an exception of a type that the pattern fits (path.Match).
func (f *file) Raised(pattern string) (bool, error) {
	for _, t := range f.tests {
		if fits, err := path.Match(pattern, string(t.Outcome.Type)); fits || err != nil {
			return fits, err
		}
	}
	return false, nil
}

// Mentions reports whether the tested file has text that the regular expression fits.
func (f *file) Mentions(pattern string) (bool, error) {
	return regexp.Match(pattern, f.tested)
}

// entry is one test case.
type entry struct {
	ID      string
	Name    string // see ordered
	Inputs  string // code: a table by name
	Raises  string // code: nothing or a string
	Told    bool   // what the test returns is known, or the status with which what it raises ends the program
	Returns string // code: that, if it is
	Type    string // the type of a finding's exception; empty: it has none
	Finding string // empty if the case passes
	Comment string // Finding on one line
	// NotRun says why the case is listed but not run: it would end the test
	// runner itself, or hang it. Empty otherwise.
	NotRun string
}

// started is the interpreter of g.
func started(g testcase.Target) string {
	if len(g.Argv) == 0 {
		return ""
	}
	return g.Argv[0]
}

// environment is the interpreter of g if it is started in a virtual environment: another one does not see its packages.
func environment(d *interp.Desc, g testcase.Target) string {
	if len(g.Argv) == 0 || d.Environment(g.Argv[0]) == "" {
		return ""
	}
	return g.Argv[0]
}

// Write writes the test cases of a target in a format of its language. name is the
// path the file will have, or empty: the tested file is found relative to it when
// both are absolute, by its absolute path otherwise. doubts says, by ID, why test
// cases cannot be relied on; they are named in a comment only.
func Write(w io.Writer, f Format, name string, g testcase.Target, tests []testcase.Test, doubts map[string]string) error {
	if g.Kind == testcase.Program {
		return writeProgram(w, f, name, g, tests, doubts)
	}
	d, ok := interp.ByName(string(g.Kind))
	if !ok {
		return fmt.Errorf("no language %s is known: name its folder (--language)", g.Kind)
	}
	at := slices.IndexFunc(d.Formats, func(r interp.Format) bool { return r.Name == string(f) })
	if at < 0 {
		var names []string
		for _, r := range d.Formats {
			names = append(names, r.Name)
		}
		return fmt.Errorf("no format %q for tests in %s; there are: %s", f, g.Kind, strings.Join(append(names, "corpus"), ", "))
	}
	if g.Name == "" {
		return fmt.Errorf("the run ended before the test in %s began: there are no test cases", g.Path)
	}
	shown := "THIS_FILE"
	if name != "" {
		shown = filepath.Base(name)
	}
	lang, err := newWriter(d)
	if err != nil {
		return err
	}
	if dir := filepath.Dir(g.Path); dir != "/" {
		lang.folder = dir + "/"
	}
	format, err := lang.template(d.Formats[at].Template)
	if err != nil {
		return err
	}
	standIn, err := fs.ReadFile(lang.files, d.Formats[at].StandIn)
	if err != nil {
		return err
	}
	out := file{
		Test: printable(filepath.Base(g.Path) + "::" + g.Name), File: printable(shown), Name: g.Name,
		Locate: lang.locate(name, g.Path), StandIn: string(standIn), Interpreter: printable(environment(d, g)),
		Started:  printable(started(g)),
		Function: "test_" + strings.TrimPrefix(ident(strings.TrimSuffix(g.Name, "()")), "test_"),
	}
	out.tests = tests
	out.tested, _ = os.ReadFile(g.Path) // where it is gone nothing is mentioned
	findings := 0
	sorted, names := ordered(tests, lang)
	for i, t := range sorted {
		if why := cmp.Or(omit(t), doubts[t.ID]); why != "" {
			out.Omitted = append(out.Omitted, t.ID+": "+oneLine(why))
			continue
		}
		e, err := lang.newEntry(t)
		if err != nil {
			return err
		}
		e.Name = names[i]
		if e.Finding != "" {
			findings++
		}
		out.Cases = append(out.Cases, e)
	}
	if lang.err != nil {
		return lang.err
	}
	if len(out.Cases) == 0 {
		return noCase(out.Omitted)
	}
	out.Count = fmt.Sprintf("Cases: %d. Findings among them, expected to fail until they are fixed: %d.", len(out.Cases), findings)
	return format.Execute(w, &out)
}

// ErrNoCase says that a run has no test case to write.
var ErrNoCase = errors.New("there is no test case to write")

// errNoneFit is the same of test cases that cannot be written.
var errNoneFit = noneFit{}

type noneFit struct{}

func (noneFit) Error() string        { return "no test case can be written" }
func (noneFit) Is(target error) bool { return target == ErrNoCase }

// noCase says that there is nothing to write.
func noCase(omitted []string) error {
	if len(omitted) == 0 {
		return ErrNoCase
	}
	return fmt.Errorf("%w: %s", errNoneFit, strings.Join(omitted, "; "))
}

// omit says why t cannot be a case of a test file, or is empty.
func omit(t testcase.Test) string {
	if t.Outcome.Kind == testcase.Unsupported {
		return t.Outcome.String()
	}
	if t.EndedBy != "" && t.Outcome.Kind != testcase.Hang {
		return "ended by a limit: " + t.EndedBy
	}
	return ""
}

func (w *writer) newEntry(t testcase.Test) (entry, error) {
	inputs, err := w.inputs(t.Inputs)
	if err != nil {
		return entry{}, fmt.Errorf("test %s: %w", t.ID, err)
	}
	e := entry{ID: t.ID, Inputs: inputs, Raises: w.code(noneRule, nil)}
	if t.Outcome.Kind == testcase.OK {
		e.Returns, e.Told = w.returned(t.Returned)
	}
	asked := t.Outcome.Kind == testcase.Exit && t.Outcome.Type != "" // a test runner can catch that
	if k := t.Outcome.Kind; k == testcase.Crash || k == testcase.Hang || !asked && (t.Outcome.ExitStatus != 0 || k == testcase.Exit) {
		e.NotRun = testcase.Visible(t.Outcome.String())
	}
	switch {
	case asked:
		e.Raises = w.code(textRule, t.Outcome.Type)
		e.Returns, e.Told = w.code(integerRule, int64(t.Outcome.ExitStatus)), true
	case t.Outcome.Kind == testcase.Expected:
		e.Raises = w.code(textRule, string(t.Outcome.Type))
	case t.Outcome.Failing():
		o := t.Outcome
		if w.folder != "" { // it may be another elsewhere
			o.Message = strings.ReplaceAll(o.Message, w.folder, "")
		}
		e.Finding, e.Type = testcase.Visible(o.String()), string(o.Type)
		e.Comment = oneLine(e.Finding)
	}
	return e, nil
}

// relative is the path of the tested file from the folder of the emitted one, if both are absolute.
func relative(emitted, tested string) (string, bool) {
	if !filepath.IsAbs(emitted) || !filepath.IsAbs(tested) {
		return "", false
	}
	rel, err := filepath.Rel(filepath.Dir(emitted), tested)
	return rel, err == nil
}
