package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"symchef/internal/emit"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// foundClasses are all tests in groups: what ended well first, then those with most paths.
func (r *run) foundClasses() (out []rundir.Class) {
	groups := grouped(r.tests, classKey, r.smaller)
	ends := map[string]*alike{} // by outcome
	for _, g := range groups {
		o := g.example.Outcome.String()
		if ends[o] == nil {
			ends[o] = &alike{}
		}
		ends[o].add(g.example)
	}
	v := view{read: outputs(r.w)}
	if r.t != nil {
		v.cwd, v.kind = strings.TrimSuffix(r.t.tc.Cwd, "/")+"/", r.t.tc.Kind
	}
	v.tellLines(groups)
	for _, g := range groups {
		o := g.example.Outcome
		shows := v.differences(g.example, ends[o.String()])
		switch {
		case slices.Contains(r.short, g.example.ID):
			o.Message += ", but it ends natively"
		case o.Kind == testcase.Hang && g.mixed: // how that is known is no part of the class
			o.Message = ""
		}
		out = append(out, rundir.Class{Outcome: o, Shows: testcase.Text(shows), Example: g.in(r.census.Classes)})
	}
	orderClasses(out)
	return out
}

func orderClasses(l []rundir.Class) {
	slices.SortStableFunc(l, func(a, b rundir.Class) int {
		return cmp.Or(-severity(a.Outcome.Kind)+severity(b.Outcome.Kind), b.Paths-a.Paths)
	})
}

// view is how a user sees test cases.
type view struct {
	read func(digest string) []byte // what was written
	cwd  string                     // with a slash at its end
	kind testcase.TargetKind
	told map[toldKey]string // how a part with lines is shown, unlike the others of test cases that end alike
}

// toldKey is part's key of a test case that ended so.
type toldKey struct {
	end  string
	part int
	key  string
}

// maxLooked bounds what is read of an output to show one line of it, in bytes.
const maxLooked = 1 << 16

// tellLines fills told: where the lines that parts are shown by first are alike, they are shown by the first line that is not.
func (v *view) tellLines(groups []*group) {
	v.told = map[toldKey]string{}
	for i, p := range showing {
		if p.lines == nil {
			continue
		}
		texts, keys := map[string][]string{}, map[string][]toldKey{} // by outcome
		seen := map[toldKey]bool{}
		for _, g := range groups {
			o := g.example.Observation
			end := o.Outcome.String()
			if k := (toldKey{end, i, p.key(o)}); !seen[k] {
				seen[k] = true
				keys[end], texts[end] = append(keys[end], k), append(texts[end], p.lines(*v, o))
			}
		}
		for end, l := range texts {
			for i, shown := range apart(l, p.first, lineAt) {
				v.told[keys[end][i]] = shown
			}
		}
	}
}

// beginning is the beginning of what has this digest and so many bytes; where there is more, the digest stands for that.
func (v view) beginning(digest string, size int64, most int) (out, more string) {
	b := v.read(digest)
	b = b[:min(len(b), most)]
	if int64(len(b)) < size && digest != "" {
		more = "... sha256 " + digest[:min(len(digest), 12)]
	}
	return string(b), more
}

// written is what was written to a stream, in lines.
func (v view) written(digest string, size int64) string {
	out, more := v.beginning(digest, size, maxLooked)
	if more != "" {
		out += "\n" + more
	}
	return out
}

// fileLines has a line for each effect on files, with the beginning of the content.
func (v view) fileLines(o testcase.Observation) string {
	var b strings.Builder
	for _, f := range o.Files[:min(len(o.Files), testcase.MaxFiles)] {
		f.Path = testcase.Text(strings.TrimPrefix(string(f.Path), v.cwd))
		b.WriteString(f.String())
		if f.SHA256 != "" && f.Size > 0 {
			content, more := v.beginning(f.SHA256, f.Size, min(maxContent, max(0, maxLooked-b.Len())))
			fmt.Fprintf(&b, ": %q%s", content, more)
		}
		b.WriteByte('\n')
	}
	if o.FilesTotal > 0 {
		fmt.Fprintf(&b, "sha256 of all %s\n", o.FilesSHA256)
	}
	return b.String()
}

// apart shows texts: by show, and where different ones look alike, by at from where they first differ, until they do not.
func apart(texts []string, show func(s string) string, at func(s string, from int) string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = show(s)
	}
	for range 8 {
		alike := map[string][]int{}
		for i, s := range out {
			alike[s] = append(alike[s], i)
		}
		done := true
		for i, s := range slices.Clone(out) {
			group := alike[s]
			if group[0] != i {
				continue
			}
			most, differ := len(texts[i]), false // how far all begin alike
			for _, k := range group[1:] {
				n := 0
				for n < most && n < len(texts[k]) && texts[k][n] == texts[i][n] {
					n++
				}
				differ = differ || texts[k] != texts[i]
				most = n
			}
			if !differ {
				continue
			}
			done = false
			for _, k := range group {
				out[k] = at(texts[k], most)
			}
		}
		if done {
			break
		}
	}
	return out
}

// lineAt is the line of out that has the byte at from, with marks where there is more.
func lineAt(out string, from int) string {
	begin, end := strings.LastIndexByte(out[:from], '\n')+1, len(out)
	if n := strings.IndexByte(out[from:], '\n'); n >= 0 {
		end = from + n
	}
	s := windowAt(out[begin:end], from-begin, maxColumn)
	if begin > 0 {
		s = "..." + strings.TrimPrefix(s, "...")
	}
	if end < len(out)-1 {
		s = strings.TrimSuffix(s, "...") + "..."
	}
	return s
}

// windowAt is cut for a text that is told from others by what it has from the byte at from on.
func windowAt(s string, from, n int) string {
	if one := cut(s, n); from < n/2 || !strings.HasSuffix(one, "...") {
		return one
	}
	for from -= n / 3; !utf8.RuneStart(s[from]); {
		from--
	}
	return "..." + cut(s[from:], n-3)
}

// showing are the parts of what a user sees, but for the outcome.
var showing = [...]part{
	{raisedAt, nil, nil, func(v view, o testcase.Observation, _ string) string {
		if at := raisedAt(o); at != "" {
			return "at " + showPlace(at, v.cwd)
		}
		return "at a place that is not told"
	}},
	{func(o testcase.Observation) string { return string(o.Returned) }, nil, nil, func(v view, o testcase.Observation, _ string) string {
		return "returned " + cmp.Or(emit.Shown(v.kind, o.Returned), "nothing that is told")
	}},
	{
		func(o testcase.Observation) string { return o.OutputSHA256 },
		func(v view, o testcase.Observation) string { return v.written(o.OutputSHA256, o.OutputBytes) },
		firstOf,
		func(_ view, _ testcase.Observation, told string) string { return fmt.Sprintf("stdout %q", told) },
	},
	{
		func(o testcase.Observation) string { return o.StderrSHA256 },
		func(v view, o testcase.Observation) string { return v.written(o.StderrSHA256, o.StderrBytes) },
		func(out string) string { return cut(lastLine([]byte(out)), maxColumn) },
		func(_ view, _ testcase.Observation, told string) string { return fmt.Sprintf("stderr %q", told) },
	},
	{
		func(o testcase.Observation) string {
			key := o.FilesSHA256
			for _, f := range o.Files { // of its content its line says the size only
				key += fmt.Sprintln(f, f.SHA256)
			}
			return key
		},
		view.fileLines,
		func(lines string) string { return cut(firstLine(lines), maxColumn) },
		func(_ view, o testcase.Observation, told string) string {
			if n := max(len(o.Files), o.FilesTotal); n > 1 {
				told += fmt.Sprintf(" and %d more", n-1)
			}
			return cmp.Or(told, "no files")
		},
	},
}

// part is one of them: what tells two test cases apart by it, and how it is shown.
type part struct {
	key   func(o testcase.Observation) string
	lines func(v view, o testcase.Observation) string // all of it, where one line is shown; nil: it is short
	first func(lines string) string                   // which line that is, if it tells them apart
	show  func(v view, o testcase.Observation, told string) string
}

// raisedAt is the frame that raised, where it is told.
func raisedAt(o testcase.Observation) string {
	if n := len(o.Frames); n > 0 {
		return o.Frames[n-1]
	}
	return ""
}

// alike are test cases that end alike: how many there are, and for each part of what they show how many show the same.
type alike struct {
	tests int
	same  [len(showing)]map[string]int
}

func (l *alike) add(t testcase.Test) {
	l.tests++
	for i, p := range showing {
		if l.same[i] == nil {
			l.same[i] = map[string]int{}
		}
		l.same[i][p.key(t.Observation)]++
	}
}

// differences shows the parts of t that are not like those of most of l, which end alike.
func (v view) differences(t testcase.Test, l *alike) string {
	var parts []string
	for i, p := range showing {
		if key := p.key(t.Observation); 2*l.same[i][key] <= l.tests {
			parts = append(parts, p.show(v, t.Observation, v.told[toldKey{t.Outcome.String(), i, key}]))
		}
	}
	return strings.Join(parts, ", ")
}

// firstOf is the first line of what was written, with a mark where there is more.
func firstOf(out string) string {
	line := firstLine(out)
	if len(line) < len(out)-1 {
		line += "..."
	}
	return cut(line, maxColumn)
}

// outputs reads what tests wrote from the run directory, when it is first asked.
func outputs(w *rundir.Writer) func(digest string) []byte {
	var dir *rundir.Reader
	return func(digest string) []byte {
		if dir == nil && w != nil {
			dir = rundir.Outputs(w.Dir())
		}
		if dir == nil {
			return nil
		}
		b, _ := dir.Output(digest) // one that cannot be read is not shown
		return b
	}
}
