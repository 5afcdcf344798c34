package interp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// FindOptions says where to look for an interpreter.
type FindOptions struct {
	Test     string // the test file, absolute; for its shebang and virtualenv
	Explicit string // --interpreter; empty when not given
	// Getenv reads the user's environment; nil is os.Getenv.
	Getenv func(string) string
	Cache  string // a folder for what interpreters tell of themselves; empty: they are asked again
}

// Found is the interpreter chosen for a test.
type Found struct {
	ELF     string   // the program to load: absolute, no symbolic link, no shim
	Argv0   string   // what argv[0] must be for it to find its files: the one of a virtual environment, say
	Version string   // "3.11.2"
	Origin  string   // where it was found: "--interpreter", "shebang", "$VARIABLE" of a virtual environment, "PATH", ...
	Env     []string // NAME=VALUE: what its shell wrapper sets for it; empty where there is none
	Notes   []string // one line each: candidates passed over, and why
	Image   *Image   // what Locate found in it
}

// ErrAbsent is in the error of Find where nothing that it looked at exists.
var ErrAbsent = errors.New("not installed")

// candidate is a possible interpreter. A binding one is what the user asked for:
// when it is no good that is an error, not a reason to look further.
type candidate struct {
	path, origin string
	binding      bool
	foreign      bool // whoever wrote the test has chosen it
}

// queryTimeout bounds how long an interpreter may take to say what it is.
const queryTimeout = 20 * time.Second

// Find chooses the interpreter for a test: the explicit one; an absolute one in
// the test's shebang; the present virtual environment or the one beside the test or
// above it, where the language has them; PATH; the default.
// Candidates are asked what they are; no code under test runs.
func (d *Desc) Find(opt FindOptions) (*Found, error) {
	if opt.Getenv == nil {
		opt.Getenv = os.Getenv
	}
	var notes []string
	absent := true
	for _, c := range d.candidates(opt) {
		f, err := d.examine(c, filepath.Dir(opt.Test), opt.Cache, false)
		if err == nil {
			f.Notes = notes
			return f, nil
		}
		if c.binding {
			return nil, fmt.Errorf("interpreter from %s: %w", c.origin, err)
		}
		absent = absent && errors.Is(err, os.ErrNotExist)
		if note := fmt.Sprintf("passed over from %s: %v", c.origin, err); !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	if absent {
		return nil, fmt.Errorf("no %s found: %w: %s", d, ErrAbsent, strings.Join(notes, "; "))
	}
	return nil, fmt.Errorf("no %s found: %s", d, strings.Join(notes, "; "))
}

func (d *Desc) candidates(opt FindOptions) []candidate {
	if opt.Explicit != "" {
		path := opt.Explicit
		if !strings.Contains(path, "/") {
			if p := lookPath(path, opt.Getenv("PATH")); p != "" {
				path = p
			}
		}
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return []candidate{{path: path, origin: "--interpreter", binding: true}}
	}
	var out []candidate
	if p := shebang(opt.Test); p != "" {
		out = append(out, candidate{path: p, origin: "shebang", foreign: true})
	}
	for _, r := range d.virtual {
		if v := opt.Getenv(r.variable); v != "" {
			// One that has an interpreter of its own means it. Of those that need none, the variable says nothing.
			program := filepath.Join(v, r.program)
			if _, err := os.Stat(program); err == nil || len(r.folders) > 0 {
				out = append(out, candidate{path: program, origin: "$" + r.variable, binding: true})
				break
			}
		} else if v := r.above(opt.Test); v != "" {
			out = append(out, candidate{path: filepath.Join(v, r.program), origin: v, binding: true, foreign: true})
			break
		}
	}
	for _, name := range d.Candidates {
		if p := lookPath(name, opt.Getenv("PATH")); p != "" {
			out = append(out, candidate{path: p, origin: "PATH"})
		}
	}
	return append(out, candidate{path: d.Default, origin: "default"})
}

// shebang is the absolute interpreter of a #! line; "" for none and for env(1),
// which means PATH.
func shebang(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadSlice('\n')
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if !bytes.HasPrefix(line, []byte("#!")) || len(words) == 0 || !filepath.IsAbs(words[0]) || filepath.Base(words[0]) == "env" {
		return ""
	}
	return words[0]
}

// VirtualMarkers are files of which a virtual environment of the language has one in its folder.
func (d *Desc) VirtualMarkers() (out []string) {
	for _, r := range d.virtual {
		out = append(out, r.marker)
	}
	return out
}

// above is the nearest virtual environment at or above the test.
func (r *virtualRule) above(test string) string {
	if len(r.folders) == 0 {
		return ""
	}
	for dir := filepath.Dir(test); ; dir = filepath.Dir(dir) {
		for _, name := range append([]string{"."}, r.folders...) {
			if v := filepath.Join(dir, name); r.marked(v) {
				return v
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// lookPath finds an executable file on a PATH; "" when there is none.
func lookPath(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// examine asks c, started in dir, what it is; kept says that an answer of the folder cache will do.
func (d *Desc) examine(c candidate, dir, cache string, kept bool) (*Found, error) {
	switch st, err := os.Stat(c.path); {
	case errors.Is(err, os.ErrNotExist):
		return nil, &absentError{c.path}
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a program", c.path)
	}
	if real, err := filepath.EvalSymlinks(c.path); err == nil && IsELF(real) {
		// Do not execute programs of other machines, say why instead.
		o, err := openObject(real)
		if err != nil {
			return nil, err
		}
		o.file.Close()
	}
	answer := d.askFor
	if kept {
		answer = func(c candidate, dir string) ([]string, error) { return d.answer(c, dir, cache) }
	}
	lines, err := answer(c, dir)
	if err != nil {
		return nil, err
	}
	impl, version, executable := lines[0], lines[1], lines[2]
	if impl != d.Impl || d.version(version) == "" {
		return nil, &OtherError{c.path, impl, version, d.Impl + " " + strings.Join(d.Versions, ", ")}
	}
	if executable == "" { // it does not know its path
		executable = c.path
	}
	real, err := filepath.EvalSymlinks(executable)
	if err != nil {
		return nil, err
	}
	img, err := d.Locate(real, version, cache)
	if err != nil {
		return nil, err
	}
	return &Found{ELF: real, Argv0: executable, Version: version, Origin: c.origin, Env: lines[3:], Image: img}, nil
}

// OtherError is of a program that says that it is another interpreter, or another version, than is needed.
type OtherError struct {
	Path           string
	Implementation string
	Version        string
	Need           string // implementation and versions
}

func (e *OtherError) Error() string {
	return fmt.Sprintf("%s is %s %s, need %s", e.Path, e.Implementation, e.Version, e.Need)
}

// askFor has c, started in dir, say what it is.
func (d *Desc) askFor(c candidate, dir string) ([]string, error) {
	path := c.path
	q := Question{Path: path, Args: d.ask, Dir: dir, Time: queryTimeout, Pass: slices.Concat(d.Pass, d.choose), Trusted: !c.foreign} // version managers choose by directory
	if d.say != nil {
		q.Stdin = []byte(strings.Join(d.say, "\n") + "\n")
	}
	out, err := Ask(q)
	if errors.Is(err, ErrUntrusted) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOEXEC) {
		return nil, fmt.Errorf("%s is not a program", path)
	}
	if err != nil || len(lines) < 3 || slices.ContainsFunc(lines[3:], func(l string) bool { return strings.Index(l, "=") < 1 }) {
		return nil, fmt.Errorf("%s: %w like %s", path, ErrSilent, d)
	}
	return lines, nil
}

// absentError says that a file does not exist.
type absentError struct{ path string }

func (e *absentError) Error() string { return e.path + ": no such file" }

func (*absentError) Is(target error) bool { return target == os.ErrNotExist }

// IsELF reports whether a file, or what a link leads to, begins as ELF files do.
func IsELF(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [4]byte
	_, err = f.ReadAt(magic[:], 0)
	return err == nil && string(magic[:]) == "\x7fELF"
}
