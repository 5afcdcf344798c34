package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symchef/internal/device"
	"symchef/internal/interp"
)

// Functions for which nobody wrote a test. The guest library of a language lists those of a target, inside the machine, as it lists the tests of a
// file, and calls one with inputs that it makes up itself (docs/device-protocol.md, function). What is called is then a test as any other: its run directory can be
// replayed, resumed, emitted. Nothing here knows a language.
//
//	target ── Functions ── checking.explore, round by round ── verdicts ── print, check.json

// everyCall is the name that asks a guest library for its functions; what is before it, and a dot, bounds them.
const everyCall = "*()"

// checkTarget is what is to be checked.
type checkTarget struct {
	text   string // as it was given
	path   string // of a file or folder, absolute; empty: it is the name of a module or distribution
	module string // that name
	member string // only the function, class or method that is called so; empty: all
}

// parseCheckTarget reads FILE, FOLDER or MODULE, with :MEMBER or ::MEMBER behind it.
func parseCheckTarget(text string) (t checkTarget, err error) {
	t.text = text
	before, member := text, ""
	if _, err := os.Stat(text); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return t, &usageError{err.Error()}
		}
		if i := strings.LastIndexByte(text, ':'); i >= 0 {
			before, member = strings.TrimSuffix(text[:i], ":"), text[i+1:]
		}
	}
	t.member = strings.TrimSuffix(member, "()")
	st, err := os.Stat(before)
	switch {
	case before == "" || before != text && t.member == "":
		return t, &usageError{fmt.Sprintf("%q: want a file, a folder or the name of a module, and :FUNCTION behind it for one function", text)}
	case err == nil && !st.IsDir() && !st.Mode().IsRegular():
		return t, &usageError{fmt.Sprintf("%s is not a regular file", before)}
	case err == nil:
		t.path, err = filepath.Abs(before)
		return t, err
	case strings.ContainsRune(before, '/'):
		return t, &usageError{fmt.Sprintf("%s: no such file or folder", before)}
	}
	t.module = before
	return t, nil
}

// languages are those that the target may be of, the likeliest first.
func (t checkTarget) languages(o *Options) (out []*interp.Desc, err error) {
	for _, d := range interp.All() {
		if !d.Checks {
			continue
		}
		switch {
		case t.path == "":
			out = append(out, d)
		case holdsFileOf(d, t.path):
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		return nil, &usageError{fmt.Sprintf("%s: no file of a language whose functions symchef checks", t.text)}
	}
	return out, nil
}

// holdsFileOf says whether path is a file of a language, or a folder with one.
func holdsFileOf(d *interp.Desc, path string) bool {
	is := func(p string) bool { return slices.Contains(d.Suffixes, filepath.Ext(p)) }
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return is(path)
	}
	found := false
	filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && is(p) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// ListFunctions writes the functions of a target with what is known of their parameters, and returns the exit status.
func ListFunctions(c context.Context, o Options, text string, stdout, stderr io.Writer) int {
	found, err := Functions(c, o, text, stderr)
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "symchef:", usage.text)
		return StatusUsage
	case err != nil:
		fmt.Fprintln(stderr, "symchef:", err)
		return StatusEngine
	}
	for _, f := range found {
		line := f.Name + f.Signature
		if f.Refused != "" {
			line += "  not checked: " + f.Refused
		}
		if len(f.Promised) > 0 {
			line += "  documents " + strings.Join(f.Promised, ", ")
		}
		fmt.Fprintln(stdout, line)
	}
	return StatusOK
}

// Functions lists the functions of a target, the most promising first, as the first guest library does that knows it.
func Functions(c context.Context, o Options, text string, stderr io.Writer) (found []device.Function, err error) {
	t, err := parseCheckTarget(text)
	if err != nil {
		return nil, err
	}
	languages, err := t.languages(&o)
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, &usageError{"the working directory is gone: " + err.Error()}
	}
	var first error
	for _, d := range languages {
		found, err := functionsOf(c, o, d, t, cwd, stderr)
		if err == nil || c.Err() != nil {
			return found, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func functionsOf(c context.Context, o Options, d *interp.Desc, t checkTarget, cwd string, stderr io.Writer) ([]device.Function, error) {
	near, what := t.path, t.path
	if t.path == "" {
		near, what = filepath.Join(cwd, "test"), t.module
	}
	name := everyCall
	if t.member != "" {
		name = t.member + "." + everyCall
	}
	o.Workers = 1
	g, err := targetIn(&o, d, near, what, name, cwd)
	if err != nil {
		return nil, err
	}
	x, err := listing(c, &o, g, stderr)
	if err != nil {
		return nil, err
	}
	return x.Functions, nil
}
