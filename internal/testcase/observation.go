package testcase

import (
	"fmt"
	"slices"
	"strings"
)

// An Observation is what a user can see of a path, in the machine or natively. It decides which paths are of one class, what replay
// and rerun compare, and what emitted tests may expect. In JSON its fields are the test case's.
type Observation struct {
	// Outcome is how the path ended.
	Outcome Outcome `json:"outcome"`
	// Frames are the user's frames where the exception was raised or the program was killed, outermost first; none where that is not told. A frame
	// is FILE:LINE:FUNCTION, of native code without lines MODULE(FUNCTION+OFFSET) with the offset in the module where no function is known.
	Frames Strings `json:"frames,omitempty"`
	// Returned is what the test function returned; empty where the language does not tell.
	Returned Value `json:"returned,omitempty"`
	// OutputSHA256 is the digest, lower-case hex, of all OutputBytes bytes of standard output.
	OutputSHA256 string `json:"output_sha256"`
	OutputBytes  int64  `json:"output_bytes"`
	// StderrSHA256 is that of all StderrBytes bytes of standard error, see StderrDigest; empty if it is not known.
	StderrSHA256 string `json:"stderr_sha256,omitempty"`
	StderrBytes  int64  `json:"stderr_bytes,omitempty"`
	// Files are the effects on files, sorted by path; nil if they are not known. If they are more than MaxFiles these are the first of
	// FilesTotal, of all of which FilesSHA256 is a digest, lower-case hex, or empty if they are more than MostFiles, or MostContent.
	Files       []FileEffect `json:"files,omitzero"`
	FilesTotal  int          `json:"files_total,omitempty"`
	FilesSHA256 string       `json:"files_sha256,omitempty"`
	// FilesWithin are the folders that Files are known of; nil: all.
	FilesWithin []string `json:"-"`
}

// A Difference is one thing in which two observations differ, and what each shows of it.
type Difference struct {
	What, One, Other string
	Values           []Value // both, where they are values: their language has words of its own for them
}

// Show says what is different in the words of a language, which show tells of a value; then says what is between both sides.
func (d *Difference) Show(show func(Value) string, then string) string {
	one, other := d.One, d.Other
	if d.Values != nil && show != nil {
		one, other = show(d.Values[0]), show(d.Values[1])
	}
	return fmt.Sprintf("%s %s, %s %s", d.What, one, then, other)
}

func differ(what, one, other string) *Difference {
	return &Difference{What: what, One: one, Other: other}
}

// Difference is the first thing that a user can tell o and p apart by; nil if there is none. A hang has no end and thus nothing to
// compare. What only one side tells, as a library that does not know how to, is not compared.
func (o Observation) Difference(p Observation) *Difference {
	switch {
	case !o.Outcome.Same(p.Outcome):
		return differ("outcome", fmt.Sprintf("%q", o.Outcome), fmt.Sprintf("%q", p.Outcome))
	case o.Outcome.Kind == Hang:
		return nil
	case o.OutputSHA256 != p.OutputSHA256:
		return differ("standard output", fmt.Sprint(o.OutputBytes, " bytes"), fmt.Sprint(p.OutputBytes, " others"))
	case o.StderrSHA256 != "" && p.StderrSHA256 != "" && o.StderrSHA256 != p.StderrSHA256:
		return differ("standard error", fmt.Sprint(o.StderrBytes, " bytes"), fmt.Sprint(p.StderrBytes, " others"))
	case o.fileDifference(p) != nil:
		return o.fileDifference(p)
	case o.Returned != "" && p.Returned != "" && !o.Returned.Same(p.Returned):
		return &Difference{"returned value", o.Returned.String(), p.Returned.String(), []Value{o.Returned, p.Returned}}
	case len(o.Frames) > 0 && len(p.Frames) > 0 && !slices.EqualFunc(o.Frames, p.Frames, sameText):
		return differ("frames", strings.Join(o.Frames, " "), strings.Join(p.Frames, " "))
	}
	return nil
}

// fileDifference is Difference for effects on files.
func (o Observation) fileDifference(p Observation) *Difference {
	switch {
	case o.Files == nil || p.Files == nil:
		return nil
	case len(o.Files) > MaxFiles && len(p.Files) > MaxFiles: // random parts of names count here
		known := o.FilesSHA256 != "" && p.FilesSHA256 != "" && o.FilesWithin == nil && p.FilesWithin == nil
		if known && o.FilesSHA256 != p.FilesSHA256 {
			return differ("files", fmt.Sprint(o.FilesTotal, " effects"), fmt.Sprint(p.FilesTotal, " others"))
		}
		return nil
	}
	a, b := Within(Within(o.Files, o.FilesWithin), p.FilesWithin), Within(Within(p.Files, p.FilesWithin), o.FilesWithin)
	switch one, other := unlike(a, b); {
	case one != nil && other != nil:
		return differ("file", one.String(), other.String())
	case one != nil:
		return differ("file", one.String(), "not")
	case other != nil:
		return differ("file", "nothing like it", other.String())
	}
	return nil
}
