package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"symchef/internal/device"
	"symchef/internal/interp"
)

// Two functions, or the functions of two modules, on the same inputs. A test that the language's folder has a template for calls both; it is explored, replayed,
// resumed and emitted as any other, and fails where they do not do the same.
//
//	OLD, NEW ── Functions ── pairs ── DIR/test_diff.SUFFIX ── RunMany, below DIR/runs

// Pair is two functions that a test compares, each FILE:NAME or MODULE:NAME. Name is what the test is called by.
type Pair struct{ Name, Old, New string }

// Comparison is what is to be compared, and what was left out of it: a line each, with the reason.
type Comparison struct {
	Pairs   []Pair
	LeftOut []string
	desc    *interp.Desc
}

// Compare finds the functions of two targets, each a file, a folder or a module, with :FUNCTION behind it for one. Errors are of usage, or of the engine.
func Compare(c context.Context, o Options, older, newer string, stderr io.Writer) (*Comparison, error) {
	a, err := parseCheckTarget(older)
	if err != nil {
		return nil, err
	}
	b, err := parseCheckTarget(newer)
	if err != nil {
		return nil, err
	}
	languages, err := a.languages(&o)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(languages, func(d *interp.Desc) bool { return d.Compared != "" })
	if i < 0 {
		return nil, &usageError{fmt.Sprintf("%s: functions of %s cannot be compared yet", older, languages[0].Language)}
	}
	if b.member != "" && a.member == "" {
		return nil, &usageError{fmt.Sprintf("%s names one function, %s does not", newer, older)}
	}
	cmp := &Comparison{desc: languages[i]}
	found, err := Functions(c, o, older, stderr)
	if err != nil {
		return nil, err
	}
	if b.member != "" {
		return cmp, cmp.one(found, older, b)
	}
	others, err := Functions(c, o, b.text, stderr)
	if err != nil {
		return nil, err
	}
	return cmp, cmp.all(found, others, a, newer)
}

// one pairs the function of a target that names one.
func (p *Comparison) one(found []device.Function, older string, b checkTarget) error {
	if len(found) != 1 {
		return &usageError{fmt.Sprintf("%s is %d functions: name one of them", older, len(found))}
	}
	f := found[0]
	if f.Refused != "" {
		return &usageError{fmt.Sprintf("%s: %s", older, f.Refused)}
	}
	where := b.path
	switch {
	case where == "" && slices.Contains(p.desc.Suffixes, filepath.Ext(b.module)):
		return &usageError{b.module + ": no such file"}
	case where == "":
		where = b.module
	}
	p.add(f, where+":"+b.member)
	return nil
}

// all pairs what two targets have under one name, behind that of the module.
func (p *Comparison) all(found, others []device.Function, a checkTarget, newer string) error {
	byName := map[string]device.Function{}
	for _, f := range others {
		byName[memberOf(f)] = f
	}
	for _, f := range found {
		other, ok := byName[memberOf(f)]
		switch {
		case !ok:
			p.LeftOut = append(p.LeftOut, f.Name+": "+newer+" has none")
		case f.Refused != "":
			p.LeftOut = append(p.LeftOut, f.Name+": "+f.Refused)
		case strings.Contains(memberOf(f), "."):
			p.LeftOut = append(p.LeftOut, f.Name+": a method needs an object of each class")
		default:
			p.add(f, placeOf(other))
		}
	}
	if len(p.Pairs) == 0 {
		return &usageError{fmt.Sprintf("%s and %s have no function in common that can be compared", a.text, newer)}
	}
	return nil
}

func (p *Comparison) add(f device.Function, other string) {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, memberOf(f))
	for base, n := name, 2; slices.ContainsFunc(p.Pairs, func(q Pair) bool { return q.Name == name }); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	p.Pairs = append(p.Pairs, Pair{name, placeOf(f), other})
}

// memberOf is the name of a function in its module.
func memberOf(f device.Function) string {
	_, member, _ := strings.Cut(f.Run, "::")
	return strings.TrimSuffix(member, "()")
}

// placeOf is FILE:NAME.
func placeOf(f device.Function) string {
	file, _, _ := strings.Cut(f.Run, "::")
	return file + ":" + memberOf(f)
}

// testName is the file of a comparison in its folder, without the suffix.
const testName = "test_diff"

// Write writes the test to dir, which it makes, and returns the file. What else is in dir stays; one that is somebody else's is refused.
func (p *Comparison) Write(dir string) (file string, err error) {
	name := testName + p.desc.Suffixes[0]
	file = filepath.Join(dir, name)
	if l, err := os.ReadDir(dir); err == nil && len(l) > 0 && !slices.ContainsFunc(l, func(e fs.DirEntry) bool { return e.Name() == name }) {
		return "", &usageError{dir + " is there, and symchef diff has not made it: name another one with --out"}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", &usageError{err.Error()}
	}
	text, err := fs.ReadFile(p.desc.Folder.Files, "emit/"+p.desc.Compared)
	if err != nil {
		return "", err
	}
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p.Pairs); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", &usageError{err.Error()}
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		return "", &usageError{err.Error()}
	}
	return file, nil
}

// ExitStatus is the status of a command that could not begin, with the line to print.
func ExitStatus(err error) (status int, line string) {
	var usage *usageError
	if errors.As(err, &usage) {
		return StatusUsage, usage.text
	}
	return StatusEngine, err.Error()
}
