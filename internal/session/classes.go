package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	for _, g := range groups {
		o := g.example.Outcome
		shows := v.differences(g.example, ends[o.String()])
		if slices.Contains(r.short, g.example.ID) {
			o.Message += ", but it ends natively"
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
}

// showing are the parts of what a user sees, but for the outcome: what tells two of them apart, and how one is shown.
var showing = [...]struct {
	key  func(o testcase.Observation) string
	show func(v view, o testcase.Observation) string
}{
	{func(o testcase.Observation) string { return string(o.Returned) }, func(v view, o testcase.Observation) string {
		return "returned " + cmp.Or(emit.Shown(v.kind, o.Returned), "nothing that is told")
	}},
	{func(o testcase.Observation) string { return o.OutputSHA256 }, func(v view, o testcase.Observation) string {
		return fmt.Sprintf("stdout %q", firstOf(v.read(o.OutputSHA256)))
	}},
	{func(o testcase.Observation) string { return o.StderrSHA256 }, func(v view, o testcase.Observation) string {
		return fmt.Sprintf("stderr %q", cut(lastLine(v.read(o.StderrSHA256)), maxColumn))
	}},
	{func(o testcase.Observation) string { return fmt.Sprint(o.Files, o.FilesSHA256) }, func(v view, o testcase.Observation) string {
		if len(o.Files) == 0 {
			return "no files"
		}
		first, more := o.Files[0], ""
		first.Path = testcase.Text(strings.TrimPrefix(string(first.Path), v.cwd))
		if n := max(len(o.Files), o.FilesTotal); n > 1 {
			more = fmt.Sprintf(" and %d more", n-1)
		}
		return first.String() + more
	}},
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
		if 2*l.same[i][p.key(t.Observation)] <= l.tests {
			parts = append(parts, p.show(v, t.Observation))
		}
	}
	return strings.Join(parts, ", ")
}

// firstOf is the first line of what was written, with a mark where there is more.
func firstOf(out []byte) string {
	line := firstLine(string(out))
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
