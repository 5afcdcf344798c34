package rundir

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"symchef/internal/testcase"
)

// ErrNotRunDir says that a directory has no summary.json.
var ErrNotRunDir = errors.New("not a run directory (no summary.json in it)")

// A Reader reads a run directory, finished or not.
type Reader struct {
	dir     string
	Summary Summary
}

// Open reads the summary of the run directory dir.
func Open(dir string) (*Reader, error) {
	b, err := os.ReadFile(filepath.Join(dir, summaryName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Stat(dir); e != nil {
			return nil, fmt.Errorf("%s: %w", dir, reason(e))
		}
		return nil, fmt.Errorf("%s: %w", dir, ErrNotRunDir)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, reason(err))
	}
	s, err := decodeSummary(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", dir, summaryName, err)
	}
	return &Reader{dir: dir, Summary: s}, nil
}

// Tree reads tree.json into v.
func (r *Reader) Tree(v any) error {
	b, err := os.ReadFile(filepath.Join(r.dir, treeName))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no high-level tree: the run has not ended, or the program is not interpreted", r.dir)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.dir, reason(err))
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %s: %w", r.dir, treeName, err)
	}
	return nil
}

// Frontier returns what WriteFrontier kept; nil if there is nothing.
func (r *Reader) Frontier() ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(r.dir, frontier))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Dir is the directory's path as given to Open.
func (r *Reader) Dir() string { return r.dir }

// Tests returns the test cases in the order of their names. torn is true if
// the last line was cut off by a kill and dropped. A bad line elsewhere is an
// error that names it.
func (r *Reader) Tests() (tests []testcase.Test, torn bool, err error) {
	return r.tests(func(*testcase.Test) {})
}

// Outlines is Tests without the decisions, which are nearly all of a test case.
func (r *Reader) Outlines() (tests []testcase.Test, torn bool, err error) {
	return r.tests(func(t *testcase.Test) { t.Decisions = nil })
}

// tests reads the test cases and has each cut down before the next is read.
func (r *Reader) tests(cut func(*testcase.Test)) (tests []testcase.Test, torn bool, err error) {
	f, err := os.Open(filepath.Join(r.dir, testsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil // killed inside Create
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			slices.SortStableFunc(tests, func(a, b testcase.Test) int {
				return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID))
			})
			return tests, len(bytes.TrimSpace(line)) > 0, nil
		}
		if err != nil {
			return tests, false, err
		}
		t, err := testcase.Unmarshal(line)
		if err != nil {
			return tests, false, fmt.Errorf("%s:%d: %w", filepath.Join(r.dir, testsName), n, err)
		}
		cut(&t)
		tests = append(tests, t)
	}
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
	return testcase.Test{}, fmt.Errorf("%s has no test %q", r.dir, id)
}

// PathCondition is the SMT-LIB2 text of test id.
func (r *Reader) PathCondition(id string) (string, error) {
	b, err := r.pathFile(id, ".smt2")
	return string(b), err
}

// Output is what the guest wrote to its standard output in test id.
func (r *Reader) Output(id string) ([]byte, error) {
	out, err := r.pathFile(id, ".out")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it wrote nothing
	}
	return out, err
}

func (r *Reader) pathFile(id, ext string) ([]byte, error) {
	if !testcase.ValidID(id) {
		return nil, fmt.Errorf("%q is not a test id", id)
	}
	return os.ReadFile(filepath.Join(r.dir, pathsName, id+ext))
}

// Verdicts returns what the last complete replay said of the test cases, by
// their ID; it is empty before any.
func (r *Reader) Verdicts() (map[string]Verdict, error) {
	b, err := os.ReadFile(filepath.Join(r.dir, replayName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]Verdict{}
	for dec := json.NewDecoder(bytes.NewReader(b)); dec.More(); {
		var v Verdict
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(r.dir, replayName), err)
		}
		out[v.ID] = v
	}
	return out, nil
}

// SetReplay records what a complete replay found.
func (r *Reader) SetReplay(c Replay, verdicts []Verdict) error {
	if err := writeVerdicts(r.dir, verdicts); err != nil {
		return failure(r.dir, err)
	}
	r.Summary.Replay = c
	return failure(r.dir, writeSummary(r.dir, r.Summary))
}
