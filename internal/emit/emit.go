// Package emit writes the test cases of a run as a test file of the language,
// which runs without symchef.
//
//	err := emit.Write(os.Stdout, emit.Pytest, "/t/test_email_generated.py", reader.Summary.Target, tests, nil)
//
// Findings are marked as expected to fail, so that the file is green until
// they are fixed, and red (a strict xfail) afterwards.
package emit

import (
	"cmp"
	_ "embed" // the templates
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/template"

	"symchef/internal/testcase"
)

// Format is a format of test files.
type Format string

// The formats.
const (
	Pytest   Format = "pytest"
	Unittest Format = "unittest"
)

// Formats lists the formats there are.
var Formats = []Format{Pytest, Unittest}

//go:embed pytest.tmpl
var pytestText string

//go:embed unittest.tmpl
var unittestText string

//go:embed standin.py
var standIn string

var templates = map[Format]*template.Template{
	Pytest:   parse("pytest", pytestText),
	Unittest: parse("unittest", unittestText),
}

func parse(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{"py": pyString}).Parse(text))
}

// file is what the templates see; strings named as code are Python.
type file struct {
	Test, File, Name, Count string
	Locate                  string // code: the path of the tested file
	Function                string // code: name of the test function
	StandIn                 string // code
	Cases                   []entry
	Omitted                 []string // comments
}

// entry is one test case.
type entry struct {
	ID      string
	Ident   string // ID as part of a Python name
	Inputs  string // code: a dict
	Raises  string // code: None or a string
	Finding string // empty if the case passes
	Comment string // Finding on one line
	// NotRun says why the case is listed but not run: it would end the test
	// runner itself, or hang it. Empty otherwise.
	NotRun string
}

// Write writes the test cases of a Python target in a format. name is the
// path the file will have, or empty: the tested file is found relative to it when
// both are absolute, by its absolute path otherwise. doubts says, by ID, why test
// cases cannot be relied on; they are named in a comment only.
func Write(w io.Writer, f Format, name string, g testcase.Target, tests []testcase.Test, doubts map[string]string) error {
	tmpl, ok := templates[f]
	if !ok {
		return fmt.Errorf("no format %q; there are: %v", f, Formats)
	}
	if g.Kind != "python" {
		return fmt.Errorf("format %s is for Python tests, this run is of a %s", f, g.Kind)
	}
	if g.Name == "" {
		return fmt.Errorf("the run ended before the test in %s began: there are no test cases", g.Path)
	}
	shown := "THIS_FILE"
	if name != "" {
		shown = filepath.Base(name)
	}
	d := file{
		Test: docstring(filepath.Base(g.Path) + "::" + g.Name), File: docstring(shown), Name: g.Name,
		Locate: locate(name, g.Path), StandIn: standIn,
		Function: "test_" + strings.TrimPrefix(ident(g.Name), "test_"),
	}
	findings := 0
	for _, t := range tests {
		if why := cmp.Or(omit(t), doubts[t.ID]); why != "" {
			d.Omitted = append(d.Omitted, t.ID+": "+oneLine(why))
			continue
		}
		e, err := newEntry(t)
		if err != nil {
			return err
		}
		if e.Finding != "" {
			findings++
		}
		d.Cases = append(d.Cases, e)
	}
	d.Count = fmt.Sprintf("Cases: %d. Findings among them, expected to fail until they are fixed: %d.", len(d.Cases), findings)
	return tmpl.Execute(w, d)
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

func newEntry(t testcase.Test) (entry, error) {
	inputs, err := dict(t.Inputs)
	if err != nil {
		return entry{}, fmt.Errorf("test %s: %w", t.ID, err)
	}
	e := entry{ID: t.ID, Ident: ident(t.ID), Inputs: inputs, Raises: "None"}
	switch t.Outcome.Kind {
	case testcase.Crash, testcase.Hang, testcase.Exit:
		e.NotRun = t.Outcome.String()
	}
	switch {
	case t.Outcome.Kind == testcase.Expected:
		e.Raises = pyString(t.Outcome.Type)
	case t.Outcome.Failing():
		e.Finding = t.Outcome.String()
		e.Comment = oneLine(e.Finding)
	}
	return e, nil
}

// dict is the inputs as a Python dict; the second of one name is name#2.
func dict(inputs []testcase.Input) (string, error) {
	var b strings.Builder
	b.WriteString("{")
	used := map[string]int{}
	for i, in := range inputs {
		v, err := literal(in)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteString(", ")
		}
		name := in.Name
		if used[in.Name]++; used[in.Name] > 1 {
			name = fmt.Sprintf("%s#%d", name, used[in.Name])
		}
		b.WriteString(pyString(name) + ": " + v)
	}
	b.WriteString("}")
	return b.String(), nil
}

// locate is Python code for the path of the tested file.
func locate(emitted, tested string) string {
	if filepath.IsAbs(emitted) && filepath.IsAbs(tested) {
		if rel, err := filepath.Rel(filepath.Dir(emitted), tested); err == nil {
			return "os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), " + pyString(rel) + "))"
		}
	}
	return "os.path.abspath(" + pyString(tested) + ")"
}
