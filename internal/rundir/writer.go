// Package rundir is the format of a run directory, what `symchef run` leaves
// behind and replay and emit read:
//
//	DIR/summary.json     the run in numbers, replaced atomically
//	DIR/tests.jsonl      one test case per line, only ever appended to
//	DIR/paths/ID.smt2    path condition and symbolic output of test ID
//	DIR/paths/ID.out     the first MaxOutput bytes the guest wrote to its standard output
//	DIR/replay.jsonl     what native replay said of each test, replaced atomically
//	DIR/tree.json        the high-level tree, where the interpreted program is followed; replaced atomically
//	DIR/coverage.json    the source lines executed, likewise
//	DIR/frontier.bin     what is not explored yet, for --resume; replaced atomically, gone when nothing is left
//
// The directory is readable at every moment, after SIGKILL too:
//
//	Create ──► summary.json (finished: false), empty tests.jsonl
//	  │ WritePath, Append, WriteSummary in any order and number
//	  ▼
//	WriteSummary (finished: true) ──► Close
//
// A test's files under paths/ are written before its line, so that a line
// never names what is not there. The only damage a kill can do is a torn last
// line of tests.jsonl, which readers drop and report.
package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

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
	tempPrefix  = ".new-"
)

// MaxOutput bounds DIR/paths/ID.out, in bytes; a test's digest and size are those of the whole output.
const MaxOutput = 1 << 20

// A Writer writes one run directory. Its methods may be called from several
// goroutines.
type Writer struct {
	dir  string
	lock *os.File // the directory itself, held with flock(2)

	mu    sync.Mutex // guards tests, its order of lines, and size
	tests *os.File
	size  int64 // bytes of whole lines in tests
}

// Create makes the run directory dir with a first summary. An earlier run
// directory is replaced; any other directory that is not empty is refused, as
// is one that a living run writes to.
func Create(dir string, s Summary) (*Writer, error) {
	w, err := create(dir, s)
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

func create(dir string, s Summary) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return open(dir, func(w *Writer) error { return w.start(s) })
}

// Reopen goes on writing the run directory dir, whose first size bytes of test
// cases stand; those after them are dropped.
func Reopen(dir string, size int64) (*Writer, error) {
	w, err := open(dir, func(w *Writer) (err error) {
		if w.tests, err = os.OpenFile(filepath.Join(dir, testsName), os.O_WRONLY|os.O_APPEND, 0); err != nil {
			return err
		}
		w.size = size
		if st, err := w.tests.Stat(); err != nil || st.Size() < size {
			return errors.Join(err, errors.New("test cases are missing"))
		}
		return w.tests.Truncate(size)
	})
	if err != nil {
		return nil, failure(dir, err)
	}
	return w, nil
}

// open locks dir and prepares a Writer of it.
func open(dir string, prepare func(*Writer) error) (*Writer, error) {
	lock, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, lock: lock}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == syscall.EWOULDBLOCK {
		w.Close()
		return nil, errors.New("another run is writing to it")
	}
	if err := prepare(w); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *Writer) start(s Summary) error {
	names, err := w.lock.Readdirnames(-1)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		// What a kill inside WriteSummary leaves.
		return strings.HasPrefix(n, tempPrefix) && os.Remove(filepath.Join(w.dir, n)) == nil
	})
	if len(names) > 0 {
		if _, err := os.Stat(filepath.Join(w.dir, summaryName)); err != nil {
			return errors.New("it exists, is not empty and is not a run directory")
		}
	}
	// The tests go first: tests without a summary are a run directory no
	// longer, a summary without tests still is one.
	for _, n := range []string{frontier, treeName, coverName, testsName, replayName, pathsName} {
		if err := os.RemoveAll(filepath.Join(w.dir, n)); err != nil {
			return err
		}
	}
	if err := writeSummary(w.dir, s); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(w.dir, pathsName), 0o755); err != nil {
		return err
	}
	w.tests, err = os.OpenFile(filepath.Join(w.dir, testsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	return err
}

// Dir is the directory's path as given to Create.
func (w *Writer) Dir() string { return w.dir }

// Append adds a test case with one write(2). Of a line that does not fit, on a
// full disk, nothing stays.
func (w *Writer) Append(t testcase.Test) error {
	line, err := testcase.Marshal(t)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err = w.tests.Write(line); err != nil {
		return failure(w.dir, errors.Join(err, w.tests.Truncate(w.size)))
	}
	w.size += int64(len(line))
	return nil
}

// WritePath keeps what is known of the path of test id: smt2 is its condition
// and symbolic output as SMT-LIB2 text, out the guest's standard output, of
// which MaxOutput bytes are kept. Call it before Append.
func (w *Writer) WritePath(id, smt2 string, out []byte) error {
	if !testcase.ValidID(id) {
		return fmt.Errorf("test id %q cannot name a file", id)
	}
	base := filepath.Join(w.dir, pathsName, id)
	err := os.WriteFile(base+".smt2", []byte(smt2), 0o644)
	if err == nil && len(out) > 0 {
		err = os.WriteFile(base+".out", out[:min(len(out), MaxOutput)], 0o644)
	}
	return failure(w.dir, err)
}

// WriteSummary replaces summary.json.
func (w *Writer) WriteSummary(s Summary) error {
	return failure(w.dir, writeSummary(w.dir, s))
}

// Size is how many bytes of test cases there are.
func (w *Writer) Size() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.size
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

// WriteTree replaces tree.json by the JSON of v.
func (w *Writer) WriteTree(v any) error { return w.writeJSON(treeName, v) }

// WriteCoverage replaces coverage.json: the lines executed, in order, by file.
func (w *Writer) WriteCoverage(lines map[string][]int) error {
	return w.writeJSON(coverName, map[string]any{"files": lines})
}

func (w *Writer) writeJSON(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return failure(w.dir, replace(w.dir, name, append(b, '\n')))
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
	f, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails, as it should, after the rename
	_, err = f.Write(b)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, name))
}

// Close ends the writing; it does not touch the summary.
func (w *Writer) Close() error {
	var err error
	if w.tests != nil {
		err = w.tests.Close()
	}
	if e := w.lock.Close(); err == nil {
		err = e
	}
	return err
}
