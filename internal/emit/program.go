package emit

import (
	"cmp"
	_ "embed" // the template
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"symchef/internal/guest"
	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// Shell is the format of a script of sh(1) that prints what TAP says (Test Anything Protocol).
const Shell Format = "sh"

//go:embed sh.tmpl
var shellText string

// programRow is how a format for programs is written.
type programRow struct {
	bytes  func([]byte) string // code
	none   string              // code: no input of the kind
	locate func(emitted, tested string) string
	tmpl   *template.Template
	err    func() error // of bytes and locate
}

var shell = programRow{shBytes, `''`, shLocate, template.Must(template.New("sh").Funcs(template.FuncMap{"sh": shQuoted}).Parse(shellText)), func() error { return nil }}

// programFormat is the row of a format: the shell's, or one that a language has for programs.
func programFormat(f Format) (programRow, error) {
	known := []string{string(Shell)}
	for _, d := range interp.All() {
		for _, p := range d.ProgramFormats {
			if known = append(known, p.Name); p.Name != string(f) {
				continue
			}
			w, err := newWriter(d)
			if err != nil {
				return programRow{}, err
			}
			t, err := w.template(p.Template)
			bytes := func(b []byte) string { return w.code(bytesRule, b) }
			return programRow{bytes, bytes(nil), w.locate, t, func() error { return w.err }}, err
		}
	}
	if f == Shell {
		return shell, nil
	}
	return programRow{}, fmt.Errorf("format %s is not for programs; %s and corpus are", f, strings.Join(known, ", "))
}

// programFile is what the templates see; strings named as code are of the language.
type programFile struct {
	Test, File, Count string
	Program, Cwd      string // code
	Cases             []programCase
	Omitted           []string
}

// programCase is one test case of a program.
type programCase struct {
	ID, Name string
	Args     []string // code, argv[0] left out
	Argv0    string   // code
	Env      []named  // both code
	Stdin    string   // code
	Files    []named  // likewise
	Status   int      // minus the signal where one kills it
	Shell    int      // the status as a shell tells it
	Output   string   // digest of standard output
	Finding  string   // empty if the case is none
	Hang     bool
}

// writeProgram is Write for a program: a case starts it anew, with the inputs, the environment of the run and a working directory like that of the
// run, and compares status or signal and standard output.
func writeProgram(w io.Writer, f Format, name string, g testcase.Target, tests []testcase.Test, doubts map[string]string) error {
	row, err := programFormat(f)
	if err != nil {
		return err
	}
	shown := "THIS_FILE"
	if name != "" {
		shown = filepath.Base(name)
	}
	d := programFile{Test: printable(filepath.Base(g.Path)), File: printable(shown), Program: row.locate(name, g.Path), Cwd: row.bytes([]byte(g.Cwd))}
	findings := 0
	sorted, names := ordered(tests, nil)
	for i, t := range sorted {
		if why := cmp.Or(omit(t), doubts[t.ID]); why != "" {
			d.Omitted = append(d.Omitted, t.ID+": "+oneLine(why))
			continue
		}
		c, err := row.newCase(g, t)
		if err != nil {
			return fmt.Errorf("test %s: %w", t.ID, err)
		}
		if c.Name = names[i]; c.Finding != "" {
			findings++
		}
		d.Cases = append(d.Cases, c)
	}
	if len(d.Cases) == 0 {
		return noCase(d.Omitted)
	}
	d.Count = fmt.Sprintf("Cases: %d. Findings among them, expected to fail until they are fixed: %d.", len(d.Cases), findings)
	if err := row.err(); err != nil {
		return err
	}
	return row.tmpl.Execute(w, d)
}

func (r programRow) newCase(g testcase.Target, t testcase.Test) (programCase, error) {
	call, err := g.Call(t.Inputs)
	if err != nil {
		return programCase{}, err
	}
	c := programCase{ID: t.ID, Argv0: r.bytes([]byte(call.Argv[0])), Stdin: r.none, Status: t.Outcome.ExitStatus, Output: t.OutputSHA256, Hang: t.Outcome.Kind == testcase.Hang}
	for _, a := range call.Argv[1:] {
		c.Args = append(c.Args, r.bytes([]byte(a)))
	}
	for _, e := range call.Env {
		name, value, _ := strings.Cut(e, "=")
		c.Env = append(c.Env, named{r.bytes([]byte(name)), r.bytes([]byte(value))})
	}
	for _, name := range slices.Sorted(maps.Keys(call.Files)) {
		c.Files = append(c.Files, named{r.bytes([]byte(name)), r.bytes(call.Files[name])})
	}
	if call.Stdin != nil {
		c.Stdin = r.bytes(call.Stdin)
	}
	c.Shell = c.Status
	if n := guest.SignalNumber(t.Outcome.Signal); n > 0 {
		c.Status, c.Shell = -n, 128+n
	}
	if t.Outcome.Failing() {
		c.Finding = oneLine(t.Outcome.String())
	}
	return c, nil
}

// shBytes is p as the format of printf(1) in single quotes, each byte that is not plain as three octal digits.
func shBytes(p []byte) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i, c := range p {
		if c >= ' ' && c < 0x7f && !(c == '-' && i == 0) && c != '\'' && c != '\\' && c != '%' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// shQuoted is s fit for single quotes.
func shQuoted(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }

// shLocate is code that prints the path of the program.
func shLocate(emitted, tested string) string {
	if rel, ok := relative(emitted, tested); ok {
		return `"$here"/"$(printf ` + shBytes([]byte(rel+"/.")) + `)"`
	}
	return `"$(printf ` + shBytes([]byte(tested+"/.")) + `)"`
}

// Corpus is the test cases of a target as the files of a fuzzer's corpus, by name: the bytes of the one input, or a folder of the input's name for each of several.
func Corpus(tests []testcase.Test) (map[string][]byte, error) {
	out := map[string][]byte{}
	sorted, names := ordered(tests, nil)
	for i, t := range sorted {
		if omit(t) != "" {
			continue
		}
		inputs := testcase.Flat(t.Inputs)
		for k, in := range inputs {
			b, err := in.Bytes()
			if err != nil {
				return nil, err
			}
			if in.BytesHex == "" && in.Type != testcase.TypeStr && len(in.Value) > 0 {
				b = []byte(strings.Trim(string(in.Value), `"`)) // a number, or a truth
			}
			name := names[i]
			if len(inputs) > 1 {
				folder := slug(in.Name)
				if folder == "" || slices.ContainsFunc(inputs[:k], func(x testcase.Input) bool { return slug(x.Name) == folder }) {
					folder = fmt.Sprintf("%s_%d", folder, k+1)
				}
				name = folder + "/" + name
			}
			out[name] = b
		}
	}
	return out, nil
}
