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
	"slices"
	"strings"
	"text/template"
	"unicode"

	"symchef/internal/testcase"
)

// Format is a format of test files.
type Format string

// The formats.
const (
	Pytest   Format = "pytest"
	Unittest Format = "unittest"
	Busted   Format = "busted"
	Testthat Format = "testthat"
)

//go:embed pytest.tmpl
var pytestText string

//go:embed unittest.tmpl
var unittestText string

//go:embed busted.tmpl
var bustedText string

//go:embed testthat.tmpl
var testthatText string

//go:embed standin.py
var pythonStandIn string

//go:embed standin.lua
var luaStandIn string

//go:embed standin.R
var rStandIn string

// Mark stands at the beginning of every file that is written.
const Mark = "Test cases that symchef generated for "

// row describes one format.
type row struct {
	format  Format
	lang    *language
	standIn string // code: a stand-in for the guest library
	tmpl    *template.Template
}

// rows are the formats; the first of a language is the one it has by default.
var rows = []row{
	{Pytest, python, pythonStandIn, parse("pytest", pytestText)},
	{Unittest, python, pythonStandIn, parse("unittest", unittestText)},
	{Busted, lua, luaStandIn, parse("busted", bustedText)},
	{Testthat, rLanguage, rStandIn, parse("testthat", testthatText)},
}

// language is how values are written in a language.
type language struct {
	kind    testcase.TargetKind
	name    string              // for people, with its article
	text    func(string) string // a string
	bytes   func([]byte) string
	integer func(int64) string
	real    func(float64) string
	truth   func(bool) string
	none    string                              // nothing
	entry   func(name, value string) string     // of a table of inputs
	table   func(entries []string) string       // of inputs by name
	locate  func(emitted, tested string) string // the path of the tested file
}

// literal is the input's value as an expression. A choice is its index, from 0: only the test knows the options.
func (l *language) literal(in testcase.Input) (string, error) {
	switch in.Type {
	case testcase.TypeStr:
		v, err := in.Str()
		return l.text(v), err
	case testcase.TypeBytes:
		v, err := in.Bytes()
		return l.bytes(v), err
	case testcase.TypeInt:
		v, err := in.Int()
		return l.integer(v), err
	case testcase.TypeFloat:
		v, err := in.Float()
		return l.real(v), err
	case testcase.TypeBool:
		v, err := in.Bool()
		return l.truth(v), err
	case testcase.TypeChoice:
		v, err := in.Choice()
		return l.integer(int64(v)), err
	}
	return "", fmt.Errorf("input %s: %s test has no input of type %s", in.Name, l.name, in.Type)
}

// quoted is s in double quotes, of printable characters: escape is for all others but the newline.
func quoted(s string, escape func(rune) string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quotedBytes is p in double quotes, of printable ASCII characters: escape is for all others.
func quotedBytes(p []byte, escape func(byte) string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range p {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			b.WriteString(escape(c))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Formats lists the formats there are.
func Formats() (out []Format) {
	for _, r := range rows {
		out = append(out, r.format)
	}
	return append(out, Shell)
}

// Default is the format for tests of a language; false if there is none.
func Default(kind testcase.TargetKind) (Format, bool) {
	if kind == testcase.Program {
		return programRows[0].format, true
	}
	for _, r := range rows {
		if r.lang.kind == kind {
			return r.format, true
		}
	}
	return "", false
}

func parse(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{"py": pyString, "lua": luaString, "r": rString, "sh": shQuoted, "raises": pyRaises}).Parse(text))
}

// file is what the templates see; strings named as code are of the language.
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
	Name    string // see named
	Inputs  string // code: a table by name
	Raises  string // code: nothing or a string
	Returns string // code: what the test returns, ... where that is not told (Python)
	Type    string // the type of a finding's exception; empty: it has none
	Finding string // empty if the case passes
	Comment string // Finding on one line
	// NotRun says why the case is listed but not run: it would end the test
	// runner itself, or hang it. Empty otherwise.
	NotRun string
}

// Write writes the test cases of a target in a format of its language. name is the
// path the file will have, or empty: the tested file is found relative to it when
// both are absolute, by its absolute path otherwise. doubts says, by ID, why test
// cases cannot be relied on; they are named in a comment only.
func Write(w io.Writer, f Format, name string, g testcase.Target, tests []testcase.Test, doubts map[string]string) error {
	if g.Kind == testcase.Program {
		return writeProgram(w, f, name, g, tests, doubts)
	}
	at := slices.IndexFunc(rows, func(r row) bool { return r.format == f })
	if at < 0 {
		return fmt.Errorf("no format %q; there are: %v and corpus", f, Formats())
	}
	format, lang := rows[at], rows[at].lang
	if g.Kind != lang.kind {
		return fmt.Errorf("format %s is for tests in %s, this run is of one in %s", f, lang.kind, g.Kind)
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
		Locate: lang.locate(name, g.Path), StandIn: format.standIn,
		Function: "test_" + strings.TrimPrefix(ident(g.Name), "test_"),
	}
	findings := 0
	ordered, names := named(tests)
	for i, t := range ordered {
		if why := cmp.Or(omit(t), doubts[t.ID]); why != "" {
			d.Omitted = append(d.Omitted, t.ID+": "+oneLine(why))
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
		d.Cases = append(d.Cases, e)
	}
	d.Count = fmt.Sprintf("Cases: %d. Findings among them, expected to fail until they are fixed: %d.", len(d.Cases), findings)
	return format.tmpl.Execute(w, d)
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

func (l *language) newEntry(t testcase.Test) (entry, error) {
	inputs, err := l.inputs(t.Inputs)
	if err != nil {
		return entry{}, fmt.Errorf("test %s: %w", t.ID, err)
	}
	e := entry{ID: t.ID, Inputs: inputs, Raises: l.none, Returns: "..."}
	if literal, ok := t.Returned.Literal(); ok && t.Outcome.Kind == testcase.OK {
		e.Returns = literal
	}
	if k := t.Outcome.Kind; k == testcase.Crash || k == testcase.Hang || t.Outcome.ExitStatus != 0 || k == testcase.Exit {
		e.NotRun = t.Outcome.String()
	}
	switch {
	case t.Outcome.Kind == testcase.Expected:
		e.Raises = l.text(t.Outcome.Type)
	case t.Outcome.Failing():
		e.Finding, e.Type = t.Outcome.String(), string(t.Outcome.Type)
		e.Comment = oneLine(e.Finding)
	}
	return e, nil
}

// inputs is code for the inputs by name; the second of one name is name#2.
func (l *language) inputs(inputs []testcase.Input) (string, error) {
	var entries []string
	used := map[string]int{}
	for _, in := range inputs {
		v, err := l.literal(in)
		if err != nil {
			return "", err
		}
		name := in.Name
		if used[in.Name]++; used[in.Name] > 1 {
			name = fmt.Sprintf("%s#%d", name, used[in.Name])
		}
		entries = append(entries, l.entry(name, v))
	}
	return l.table(entries), nil
}

// relative is the path of the tested file from the folder of the emitted one, if both are absolute.
func relative(emitted, tested string) (string, bool) {
	if !filepath.IsAbs(emitted) || !filepath.IsAbs(tested) {
		return "", false
	}
	rel, err := filepath.Rel(filepath.Dir(emitted), tested)
	return rel, err == nil
}
