// Package report writes a run directory as one HTML page that needs nothing else: findings, classes, test cases, covered source, the tree of paths, and what was not
// explored.
//
//	d, err := report.Read(reader, report.Options{Inputs: show})
//	err = d.Write(file)
//
// The page is a program over data (in the folder page; nothing of it is built). Data is JSON in a script element, in which no character can
// end that element. The page may load nothing: its policy allows the one script by its digest.
package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"symchef/internal/high"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// What a page has at most of what may be without end. What is left out is said on the page.
const (
	MaxTests = 5000
	MaxNodes = 200_000
	maxFile  = 1 << 20 // bytes of a source file
	maxText  = 4096    // characters of one text
)

// Options are what a page needs of whoever knows the language of the test.
type Options struct {
	// Inputs shows the inputs of a test case on one line.
	Inputs func(kind testcase.TargetKind, inputs []testcase.Input) string
	// Tree is the tree of paths; nil: there is none.
	Tree *high.Doc
	// Changed says why source files are not those of the run; empty: they are.
	Changed string
}

// Data is what a page shows.
type Data struct {
	Test        string             `json:"test"`
	Dir         string             `json:"dir"` // as a word of a command line
	Interpreter rundir.Interpreter `json:"interpreter"`
	Finished    bool               `json:"finished"`
	Exhausted   bool               `json:"exhausted"`
	NotCompared bool               `json:"not_compared"`
	Why         []string           `json:"why"`
	Without     []rundir.Without   `json:"without"`
	Changed     string             `json:"changed,omitempty"`
	ElapsedS    float64            `json:"elapsed_s"`
	Paths       rundir.Paths       `json:"paths"`
	Counts      rundir.Tests       `json:"counts"`
	Total       int                `json:"total"`
	Replay      rundir.Replay      `json:"replay"`
	Solver      rundir.Solver      `json:"solver"`
	MemoryPeak  uint64             `json:"memory_peak_bytes"`
	Executed    uint64             `json:"instructions"`
	Strategy    string             `json:"strategy"`
	CPU         string             `json:"cpu"`
	Progress    []rundir.Sample    `json:"progress"`
	Findings    []Finding          `json:"findings"`
	Classes     []Class            `json:"classes"`
	Tests       []Test             `json:"tests"`
	Files       []File             `json:"files"`
	Tree        []Node             `json:"tree"`
	TreeCut     int                `json:"tree_cut,omitempty"` // nodes that the page has not
}

// Finding is one group of failing test cases.
type Finding struct {
	Outcome string   `json:"outcome"`
	Inputs  string   `json:"inputs"`
	Values  string   `json:"values,omitempty"`
	Test    string   `json:"test"`
	Tests   int      `json:"tests"`
	Paths   int      `json:"paths"`
	Frames  []string `json:"frames"` // FILE:LINE:FUNCTION, the innermost first
	Refuted string   `json:"refuted,omitempty"`
}

// Class is one behaviour.
type Class struct {
	Outcome string `json:"outcome"`
	Inputs  string `json:"inputs"`
	Test    string `json:"test"`
	Paths   int    `json:"paths"`
}

// Test is a test case.
type Test struct {
	ID       string   `json:"id"`
	Inputs   string   `json:"inputs"`
	Outcome  string   `json:"outcome"`
	Kind     string   `json:"kind"`
	Failing  bool     `json:"failing"`
	Returned string   `json:"returned,omitempty"`
	Verdict  string   `json:"verdict,omitempty"`
	Why      string   `json:"why,omitempty"`
	Frames   []string `json:"frames,omitempty"`
	Log      []string `json:"log,omitempty"`
	FoundAt  float64  `json:"found_at_s"`
}

// File is a source file of the tested program, as it is now.
type File struct {
	Path    string        `json:"path"`
	Name    string        `json:"name"` // below the folder of the run
	Missing string        `json:"missing,omitempty"`
	Lines   []string      `json:"lines"`
	Covered []int         `json:"covered"` // line numbers, ascending
	Marks   []Mark        `json:"marks"`
	Ways    []high.Branch `json:"branches"`
}

// Mark is a line of a file to which a finding leads.
type Mark struct {
	Line    int `json:"line"`
	Finding int `json:"finding"` // index
}

// Node is one of the tree.
type Node struct {
	Parent int    `json:"p"`
	Label  string `json:"t"`
	Ends   []End  `json:"e,omitempty"`
	File   string `json:"f,omitempty"`
	Line   int    `json:"l,omitempty"`
}

// End is how paths ended at a node.
type End struct {
	Outcome string   `json:"o"`
	Low     int      `json:"n"`
	Tests   []string `json:"t,omitempty"`
}

// Read gathers what the page of a run directory shows.
func Read(r *rundir.Reader, o Options) (*Data, error) {
	s := &r.Summary
	tests, _, err := r.Outlines()
	if err != nil {
		return nil, err
	}
	verdicts, err := r.Verdicts()
	if err != nil {
		return nil, err
	}
	covered, err := r.Coverage()
	if err != nil {
		return nil, err
	}
	d := &Data{
		Test: s.Test, Dir: shellWord(r.Dir()), Interpreter: s.Interpreter, Finished: s.Finished, Exhausted: s.Exhausted, NotCompared: s.NotCompared(), Why: s.WhyNotExhausted, Without: s.Without,
		Changed: o.Changed, ElapsedS: s.ElapsedS, Paths: s.Paths, Counts: s.Tests, Total: s.Tests.Total(), Replay: s.Replay, Solver: s.Solver, MemoryPeak: s.MemoryPeakBytes,
		Executed: s.Instructions.Total, Strategy: s.Strategy, CPU: s.CPU, Progress: s.Progress,
		Findings: []Finding{}, Classes: []Class{}, Tests: []Test{}, Files: []File{}, Tree: []Node{},
	}
	show := func(in []testcase.Input) string { return cut(o.Inputs(s.Target.Kind, in)) }
	for _, f := range s.Findings {
		frames := slices.Clone([]string(f.Frames))
		slices.Reverse(frames)
		if len(frames) == 0 && f.Site != "" {
			frames = []string{f.Site}
		}
		g := Finding{Outcome: cut(f.Outcome.String()), Inputs: show(f.Inputs), Values: cut(f.Values), Test: f.Test, Tests: f.Tests, Paths: f.Paths, Frames: nonNil(frames)}
		if v := f.Refuted; v != nil {
			g.Refuted = cut(v.Verdict + ": " + v.Why)
		}
		d.Findings = append(d.Findings, g)
	}
	for _, c := range s.Classes {
		text := c.Outcome.String()
		if c.Shows != "" {
			text += ", " + string(c.Shows)
		}
		d.Classes = append(d.Classes, Class{cut(text), show(c.Inputs), c.Test, c.Paths})
	}
	for _, t := range tests[:min(len(tests), MaxTests)] {
		v := verdicts[t.ID]
		returned := ""
		if t.Returned != "" {
			returned = cut(t.Returned.String())
		}
		d.Tests = append(d.Tests, Test{ID: t.ID, Inputs: show(t.Inputs), Outcome: cut(t.Outcome.String()), Kind: string(t.Outcome.Kind), Failing: t.Outcome.Failing(), Returned: returned,
			Verdict: v.Verdict, Why: cut(v.Why), Frames: t.Frames, Log: t.Log, FoundAt: t.FoundAt})
	}
	d.files(s.Target.Cwd, covered, o.Tree)
	if o.Tree != nil {
		d.tree(o.Tree)
	}
	return d, nil
}

// nonNil is l as a list that JSON writes as one.
func nonNil(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// files adds the source files that were executed or that findings lead to.
func (d *Data) files(cwd string, covered map[string][]int, tree *high.Doc) {
	at := map[string]*File{}
	file := func(path string) *File {
		if at[path] == nil {
			at[path] = readFile(path, cwd)
		}
		return at[path]
	}
	for path, lines := range covered {
		file(path).Covered = lines
	}
	for i, f := range d.Findings {
		for _, frame := range f.Frames {
			if path, line, ok := place(frame); ok {
				f := file(path)
				f.Marks = append(f.Marks, Mark{line, i})
			}
		}
	}
	if tree != nil {
		for _, b := range tree.Branches() {
			f := file(b.File)
			f.Ways = append(f.Ways, b)
		}
	}
	for _, f := range at {
		d.Files = append(d.Files, *f)
	}
	slices.SortFunc(d.Files, func(a, b File) int {
		return cmp.Or(outside(a)-outside(b), strings.Compare(a.Path, b.Path))
	})
}

// outside is 1 for a file that is not below the folder of the run.
func outside(f File) int {
	if filepath.IsAbs(f.Name) {
		return 1
	}
	return 0
}

// place is file and line of FILE:LINE:FUNCTION.
func place(frame string) (path string, line int, ok bool) {
	for i, r := range frame {
		if r != ':' {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(frame[i+1:], "%d", &n); err == nil && n > 0 && strings.HasPrefix(frame, "/") {
			return frame[:i], n, true
		}
	}
	return "", 0, false
}

// readFile is the file as it is now, or why it cannot be shown. Only plain files are opened, and of those only what everybody may read or what is below the
// present folder: a run directory may be somebody else's, and name files that only its reader can see.
func readFile(path, cwd string) *File {
	f := &File{Path: path, Name: path, Lines: []string{}, Covered: []int{}, Marks: []Mark{}, Ways: []high.Branch{}}
	if rel, ok := strings.CutPrefix(path, strings.TrimSuffix(cwd, "/")+"/"); ok {
		f.Name = rel
	}
	st, err := os.Stat(path)
	switch {
	case err != nil:
		f.Missing = "the file is gone"
	case !st.Mode().IsRegular():
		f.Missing = "it is no plain file"
	case st.Mode()&0o004 == 0 && !here(path):
		f.Missing = "not everybody may read the file, and it is not below the present folder"
	case st.Size() > maxFile:
		f.Missing = fmt.Sprintf("the file has %d bytes, too many for this page", st.Size())
	default:
		b, err := os.ReadFile(path)
		if err != nil {
			f.Missing = "the file cannot be read"
			break
		}
		for line := range strings.Lines(strings.ToValidUTF8(string(b), "\ufffd")) {
			f.Lines = append(f.Lines, strings.TrimRight(line, "\r\n"))
		}
	}
	return f
}

// here reports whether the path leads to something below the present folder.
func here(path string) bool {
	cwd, err := os.Getwd()
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && strings.HasPrefix(real, strings.TrimSuffix(cwd, "/")+"/")
}

// tree adds the nodes of t.
func (d *Data) tree(t *high.Doc) {
	labels := t.Labels()
	n := min(len(t.Nodes), MaxNodes)
	d.TreeCut = len(t.Nodes) - n
	for i := range t.Nodes[:n] {
		from := &t.Nodes[i]
		node := Node{Parent: from.Parent, Label: cut(labels[i]), File: from.Last.File, Line: from.Last.Line}
		for _, e := range from.Ends {
			node.Ends = append(node.Ends, End{cut(e.Outcome), e.Low, e.Tests})
		}
		d.Tree = append(d.Tree, node)
	}
}

// cut is a text of at most maxText characters.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if r := []rune(s); len(r) > maxText {
		return string(r[:maxText-3]) + "..."
	}
	return s
}

// shellWord is s as one word of a shell's command line.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\pL\pN_@%+=:,./][\pL\pN_@%+=:,./-]*$`)

//go:embed page/page.html
var pageText string

//go:embed page/style.css
var style string

//go:embed page/app.js
var app string

var page = template.Must(template.New("page").Parse(pageText))

// Write writes the page.
func (d *Data) Write(w io.Writer) error {
	data, err := json.Marshal(d) // escapes <, > and &
	if err != nil {
		return err
	}
	var b bytes.Buffer
	script := "\n" + app
	digest := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	css := "\n" + style
	err = page.Execute(&b, struct {
		Title  string
		Policy template.HTMLAttr
		Style  template.HTML
		Data   template.HTML
		App    template.HTML
	}{
		d.Test,
		template.HTMLAttr(fmt.Sprintf(`content="default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'"`, digest(css), digest(script))),
		template.HTML("<style>" + css + "</style>"),
		template.HTML(`<script id="data" type="application/json">` + string(data) + "</script>"),
		template.HTML(`<script type="module">` + script + "</script>"),
	})
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}
