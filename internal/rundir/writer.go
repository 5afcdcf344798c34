// Package rundir is the format of a run directory, what `symchef run` leaves
// behind and replay and emit read:
//
//	DIR/summary.json     the run in numbers, replaced atomically
//	DIR/tests.jsonl      one test case per line, only ever appended to
//	DIR/outputs.jsonl    what the guest wrote, to streams and files, each once; only ever appended to
//	DIR/paths/ID.smt2    on request: path condition and symbolic output of test ID
//	DIR/replay.jsonl     what native replay said of each test, replaced atomically
//	DIR/tree.json        the high-level tree, where the interpreted program is followed; replaced atomically
//	DIR/coverage.json    the source lines executed, likewise
//	DIR/host.bin         what the run was told of the host, for --resume and rerun; likewise
//	DIR/frontier.bin     what is not explored yet, for --resume; replaced atomically, gone when nothing is left
//
// The directory is readable at every moment, after SIGKILL too:
//
//	Create ──► summary.json (finished: false), empty tests.jsonl
//	  │ WriteOutput, WriteCondition, Append, WriteSummary in any order and number
//	  ▼
//	WriteSummary (finished: true) ──► Close
//
// A test's condition and output are written before its line, so that a line
// never names what is not there. The only damage a kill can do is a torn last
// line of tests.jsonl or outputs.jsonl, which readers drop; of the former they report it.
package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"symchef/internal/disk"
	"symchef/internal/testcase"
)

const (
	summaryName = "summary.json"
	testsName   = "tests.jsonl"
	replayName  = "replay.jsonl"
	pathsName   = "paths"
	frontier    = "frontier.bin"
	treeName    = "tree.json"
	coverName   = "coverage.json"
	outputsName = "outputs.jsonl"
	hostName    = "host.bin"
)

// contents are the names that a run directory may hold beside the summary.
var contents = []string{frontier, hostName, treeName, coverName, testsName, outputsName, replayName, pathsName}

// A Writer writes one run directory. Its methods may be called from several
// goroutines.
type Writer struct {
	dir  string
	lock *os.File // the directory itself, held with flock(2)

	mu      sync.Mutex // guards what follows
	tests   lines
	short   *shortener
	broken  error // the first that Append met: what steps mean stands in the line that could not be written
	outputs lines
	kept    map[string]bool // outputs, by their digests
}

// Create makes the run directory dir with a first summary and frontier. An earlier run
// directory is replaced; any other directory that is not empty is refused, as
// is one that a living run writes to.
func Create(dir string, s Summary, frontier []byte) (*Writer, error) {
	w, err := create(dir, s, frontier)
	if err != nil {
		return nil, failure(dir, err)
	}
	return w, nil
}

// failure is the one wording for what the methods of a Writer return.
func failure(dir string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write the run directory %s: %w", dir, reason(err))
}

// reason is err without the path that the caller has named already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func create(dir string, s Summary, frontier []byte) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		switch _, e := os.Stat(dir); {
		case errors.Is(err, fs.ErrExist) && errors.Is(e, fs.ErrNotExist):
			return nil, errors.New("it is a link to what is not there")
		case e != nil && !errors.Is(e, fs.ErrNotExist):
			return nil, e
		}
		return nil, err
	}
	w, err := lock(dir)
	if err != nil {
		return nil, err
	}
	if err := w.start(s, frontier); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Resume goes on writing behind the first size bytes of test cases; those after them are dropped. Require: w is of Lock.
func (w *Writer) Resume(size int64) error { return failure(w.dir, w.resume(size)) }

func (w *Writer) resume(size int64) error {
	known := newLengthener(w.short)
	n, err := eachLine(filepath.Join(w.dir, testsName), size, func(text []byte) error {
		l, err := decodeLine(text)
		if err == nil {
			err = known.take(l)
		}
		return err
	})
	if err == nil && n != size {
		err = errors.New("test cases are missing")
	}
	if err != nil {
		return err
	}
	outputs, kept, err := readOutputs(w.dir)
	if err != nil {
		return err
	}
	for digest := range outputs {
		w.kept[digest] = true
	}
	if err := os.RemoveAll(filepath.Join(w.dir, replayName)); err != nil { // names may come to mean others
		return err
	}
	return w.openLines(size, kept)
}

// openLines opens the files that are appended to.
func (w *Writer) openLines(tests, outputs int64) (err error) {
	if w.outputs, err = openLines(w.dir, outputsName, outputs); err == nil {
		w.tests, err = openLines(w.dir, testsName, tests)
	}
	return err
}

func (w *Writer) start(s Summary, first []byte) error {
	names, err := w.lock.Readdirnames(-1)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		// What a kill inside WriteSummary leaves.
		return strings.HasPrefix(n, disk.TempPrefix) && os.Remove(filepath.Join(w.dir, n)) == nil
	})
	if len(names) > 0 {
		if _, err := os.Stat(filepath.Join(w.dir, summaryName)); err != nil {
			if holdsRuns(w.dir, names) {
				return ErrHoldsRuns
			}
			return errors.New("it exists, is not empty and is not a run directory")
		}
	}
	// The tests go first: tests without a summary are a run directory no
	// longer, a summary without tests still is one.
	for _, n := range contents {
		if err := os.RemoveAll(filepath.Join(w.dir, n)); err != nil {
			return err
		}
	}
	if err := writeSummary(w.dir, s); err != nil {
		return err
	}
	if err := w.WriteFrontier(first); err != nil {
		return err
	}
	return w.openLines(0, 0)
}

// ErrHoldsRuns says that a directory is that of several tests.
var ErrHoldsRuns = errors.New("it is not a run directory: it holds those of several tests, and this is one")

// holdsRuns reports whether all that dir holds, which is names, are run directories.
func holdsRuns(dir string, names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool {
		_, err := os.Stat(filepath.Join(dir, n, summaryName))
		return err != nil
	})
}

// Dir is the directory's path as given to Create.
func (w *Writer) Dir() string { return w.dir }

// Append adds a test case with one write(2). Of a line that does not fit, on a
// full disk, nothing stays.
func (w *Writer) Append(t testcase.Test) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return w.broken
	}
	line, err := w.short.shorten(t).encode()
	if err == nil {
		err = failure(w.dir, w.tests.append(line))
	}
	w.broken = err
	return err
}

// WriteCondition keeps the path condition and symbolic output of test id as SMT-LIB2 text. Call it before Append.
func (w *Writer) WriteCondition(id, smt2 string) error {
	if !testcase.ValidID(id) {
		return fmt.Errorf("test id %q cannot name a file", id)
	}
	dir := filepath.Join(w.dir, pathsName)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return failure(w.dir, err)
	}
	return failure(w.dir, os.WriteFile(filepath.Join(dir, id+".smt2"), []byte(smt2), 0o644))
}

// WriteSummary replaces summary.json.
func (w *Writer) WriteSummary(s Summary) error {
	return failure(w.dir, writeSummary(w.dir, s))
}

// Size is how many bytes of test cases there are.
func (w *Writer) Size() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tests.size
}

// WriteFrontier replaces frontier.bin; nil removes it.
func (w *Writer) WriteFrontier(b []byte) error {
	if b == nil {
		err := os.Remove(filepath.Join(w.dir, frontier))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return failure(w.dir, err)
	}
	return failure(w.dir, replace(w.dir, frontier, b))
}

// WriteHost replaces host.bin.
func (w *Writer) WriteHost(b []byte) error { return failure(w.dir, replace(w.dir, hostName, b)) }

// WriteTree replaces tree.json by the JSON of v.
func (w *Writer) WriteTree(v any) error { return w.writeJSON(treeName, v) }

// WriteCoverage replaces coverage.json: the lines executed, in order, by file.
func (w *Writer) WriteCoverage(lines map[string][]int) error {
	doc := coverageJSON{Files: map[string][]int{}}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		if utf8.ValidString(name) {
			doc.Files[name] = lines[name]
		} else {
			doc.Others = append(doc.Others, coveredFile{testcase.Text(name), lines[name]})
		}
	}
	return w.writeJSON(coverName, doc)
}

// coverageJSON is coverage.json.
type coverageJSON struct {
	Files  map[string][]int `json:"files"`
	Others []coveredFile    `json:"other_files,omitempty"` // whose names are not UTF-8
}

type coveredFile struct {
	Path  testcase.Text `json:"path"`
	Lines []int         `json:"lines"`
}

func (w *Writer) writeJSON(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return failure(w.dir, replace(w.dir, name, append(b, '\n')))
}

// SetReplay records what a complete replay found: s is the summary so far.
func (w *Writer) SetReplay(s Summary, c Replay, verdicts []Verdict) error {
	if err := w.WriteVerdicts(verdicts); err != nil {
		return err
	}
	s.replayed(c)
	return w.WriteSummary(s)
}

// WriteVerdicts replaces replay.jsonl.
func (w *Writer) WriteVerdicts(v []Verdict) error { return failure(w.dir, writeVerdicts(w.dir, v)) }

func writeSummary(dir string, s Summary) error {
	b, err := s.Encode()
	if err != nil {
		return err
	}
	return replace(dir, summaryName, b)
}

func writeVerdicts(dir string, verdicts []Verdict) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range verdicts {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return replace(dir, replayName, b.Bytes())
}

// replace makes b the content of dir/name, whole or not at all.
func replace(dir, name string, b []byte) error {
	path := filepath.Join(dir, name)
	if st, err := os.Lstat(path); err == nil && st.IsDir() { // somebody has put one there, and rename(2) would not replace it
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return disk.Replace(dir, name, b, 0o644)
}

// Discard removes the run directory, but for what others have put there.
func (w *Writer) Discard() error {
	for _, n := range slices.Concat(contents, []string{summaryName}) {
		if err := os.RemoveAll(filepath.Join(w.dir, n)); err != nil {
			return failure(w.dir, err)
		}
	}
	os.Remove(w.dir) // unless something else is in it
	return nil
}

// Close ends the writing; it does not touch the summary.
func (w *Writer) Close() error {
	var err error
	for _, l := range []lines{w.tests, w.outputs} {
		if l.f != nil {
			err = errors.Join(err, l.f.Close())
		}
	}
	if e := w.lock.Close(); err == nil {
		err = e
	}
	return err
}
