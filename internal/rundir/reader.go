package rundir

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symchef/internal/disk"
	"symchef/internal/testcase"
)

// ErrNotRunDir says that a directory has no summary.json.
var ErrNotRunDir = errors.New("not a run directory (no summary.json in it)")

// A Reader reads a run directory, finished or not.
type Reader struct {
	dir     string
	Summary Summary
	outputs map[string][]byte // nil: not read yet
}

// Open reads the summary of the run directory dir.
func Open(dir string) (*Reader, error) {
	b, err := disk.Read(filepath.Join(dir, summaryName))
	if errors.Is(err, fs.ErrNotExist) {
		switch _, e := os.Stat(dir); {
		case errors.Is(e, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: no such run directory", dir)
		case e != nil:
			return nil, fmt.Errorf("%s: %w", dir, reason(e))
		}
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRunDir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", dir, summaryName, reason(err))
	}
	s, err := decodeSummary(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", dir, summaryName, err)
	}
	return &Reader{dir: dir, Summary: s}, nil
}

// Tree reads tree.json into v.
func (r *Reader) Tree(v any) error {
	b, err := disk.Read(filepath.Join(r.dir, treeName))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no high-level tree: the run has not ended or not come to its test, or the program is not interpreted", r.dir)
	}
	if err != nil {
		return named(filepath.Join(r.dir, treeName), err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %s: %w", r.dir, treeName, plainly(err))
	}
	return nil
}

// Coverage returns the lines that were executed, ascending, by file; nothing where that is not known.
func (r *Reader) Coverage() (map[string][]int, error) {
	b, err := r.kept(coverName)
	if b == nil || err != nil {
		return nil, err
	}
	var doc coverageJSON
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("%s: damaged: %w", filepath.Join(r.dir, coverName), err)
	}
	lines := map[string][]int{}
	maps.Copy(lines, doc.Files)
	for _, f := range doc.Others {
		lines[string(f.Path)] = f.Lines
	}
	return lines, nil
}

// Frontier returns what WriteFrontier kept; nil if there is nothing.
func (r *Reader) Frontier() ([]byte, error) { return r.kept(frontier) }

// Host returns what WriteHost kept; nil if there is nothing.
func (r *Reader) Host() ([]byte, error) { return r.kept(hostName) }

func (r *Reader) kept(name string) ([]byte, error) {
	b, err := disk.Read(filepath.Join(r.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, named(filepath.Join(r.dir, name), err)
	}
	return b, nil
}

// Dir is the directory's path as given to Open.
func (r *Reader) Dir() string { return r.dir }

// Tests returns the test cases in the order of their names. torn is true if
// the last line was cut off by a kill and dropped. A bad line elsewhere is an
// error that names it, and so are lines that are missing of a run that has ended.
func (r *Reader) Tests() (tests []testcase.Test, torn bool, err error) {
	return r.tests((*lengthener).decisions)
}

// Outlines is Tests without the decisions, which are nearly all of a test case, but for the last one whose source is known.
func (r *Reader) Outlines() (tests []testcase.Test, torn bool, err error) {
	return r.tests((*lengthener).lastKnown)
}

// tests reads the test cases, with what decisions says of their logs.
func (r *Reader) tests(decisions func(*lengthener, *line) ([]testcase.Decision, error)) (tests []testcase.Test, torn bool, err error) {
	logs, path := newLengthener(nil), filepath.Join(r.dir, testsName)
	replaced := map[string]bool{}
	size, err := eachLine(path, -1, func(text []byte) error {
		l, err := decodeLine(text)
		if err == nil {
			err = logs.take(l)
		}
		if err == nil {
			l.Test.Decisions, err = decisions(logs, l)
		}
		if err == nil {
			if l.Replaces != "" {
				replaced[l.Replaces] = true
			}
			tests = append(tests, l.test())
		}
		return err
	})
	if err != nil {
		return tests, false, err
	}
	if st, err := os.Lstat(path); err == nil {
		torn = st.Size() > size && r.torn(path, size)
	}
	tests = slices.DeleteFunc(tests, func(t testcase.Test) bool { return replaced[t.ID] })
	if err := r.Summary.lost(len(tests)); err != nil {
		return tests, torn, fmt.Errorf("%s: %w", path, err)
	}
	slices.SortStableFunc(tests, func(a, b testcase.Test) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
	})
	return tests, torn, nil
}

// torn reports whether there is part of a line behind the first size bytes, not a line that was added since.
func (r *Reader) torn(path string, size int64) bool {
	b, err := disk.Read(path)
	if err != nil || int64(len(b)) <= size {
		return false
	}
	b = b[size:]
	return len(bytes.TrimSpace(b)) > 0 && !bytes.HasSuffix(b, []byte("\n"))
}

// Test returns the test case named id.
func (r *Reader) Test(id string) (testcase.Test, error) {
	tests, _, err := r.Tests()
	if err != nil {
		return testcase.Test{}, err
	}
	for _, t := range tests {
		if t.ID == id {
			return t, nil
		}
	}
	return testcase.Test{}, fmt.Errorf("no test %q", id)
}

// PathCondition is the SMT-LIB2 text of test id, if it was asked for.
func (r *Reader) PathCondition(id string) (string, error) {
	if !testcase.ValidID(id) {
		return "", fmt.Errorf("%q is not a test id", id)
	}
	b, err := disk.Read(filepath.Join(r.dir, pathsName, id+".smt2"))
	return string(b), err
}

// Verdicts returns what the last complete replay said of the test cases, by
// their ID; it is empty before any.
func (r *Reader) Verdicts() (map[string]Verdict, error) {
	b, err := disk.Read(filepath.Join(r.dir, replayName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, named(filepath.Join(r.dir, replayName), err)
	}
	out := map[string]Verdict{}
	for dec := json.NewDecoder(bytes.NewReader(b)); dec.More(); {
		var v Verdict
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(r.dir, replayName), plainly(err))
		}
		out[v.ID] = v
	}
	if c := r.Summary.Replay; r.Summary.Finished && len(out) < c.Agreed+c.Diverged+c.Unstable+c.NotCompared {
		return nil, fmt.Errorf("%s is not whole; symchef replay %s writes it again", filepath.Join(r.dir, replayName), r.dir)
	}
	return out, nil
}
