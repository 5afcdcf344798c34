package upstream

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"symchef/internal/conformance/report"
	"symchef/internal/session"
)

var (
	sources = flag.String("sources", "", "where fetch.sh has put the source packages; none: symchef-sources in the user's cache directory")
	long    = flag.Bool("long", false, "run all files, not only the quick ones")
	update  = flag.Bool("update", false, "write what came out into docs/conformance-*.md")
	limit   = flag.Duration("limit", 20*time.Minute, "of one file in the machine")
)

// execArg as the first argument turns this test binary into `symchef exec`.
const execArg = "symchef-exec"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == execArg {
		os.Exit(session.Exec(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, false, 0, session.CPUV2))
	}
	os.Exit(m.Run())
}

// document is the suite's table in docs.
func (s *Suite) document() *report.Document {
	d := &report.Document{Path: "../../../docs/conformance-" + s.Name + ".md", Head: s.Head, Drop: s.excluded}
	if len(s.Exclude) > 0 {
		d.Tail = "\n## Left out\n\n"
	}
	for _, e := range s.Exclude {
		name := e.Files
		if e.Tests != "" {
			name += " " + e.Tests
		}
		d.Tail += fmt.Sprintf("- `%s`: %s\n", name, e.Reason)
	}
	return d
}

// excluded reports whether the whole file is left out.
func (s *Suite) excluded(file string) bool {
	return slices.ContainsFunc(s.Exclude, func(e Exclusion) bool { return e.Tests == "" && match(e.Files, file) })
}

// files lists the suite's tests in dir.
func (s *Suite) files(t *testing.T, dir string) []string {
	t.Helper()
	var l []string
	for _, g := range s.Globs {
		m, err := filepath.Glob(filepath.Join(dir, g))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m {
			if name := strings.TrimPrefix(f, dir+"/"); !s.excluded(name) {
				l = append(l, name)
			}
		}
	}
	return l
}

// match is path.Match of a pattern in the table, which TestTables checks.
func match(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

// TestSuites runs the source packages' tests natively and in the machine and compares the verdicts.
func TestSuites(t *testing.T) {
	base := *sources
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("skipped: %v", err)
		}
		base = filepath.Join(cache, "symchef-sources")
	}
	for _, s := range Suites {
		t.Run(s.Name, func(t *testing.T) {
			dir := filepath.Join(base, s.Dir)
			for _, f := range []string{s.Program, dir} {
				if _, err := os.Stat(f); err != nil {
					t.Skipf("skipped: %s is not there (make conformance fetches sources)", f)
				}
			}
			lib := libraries(t, s.Program)
			doc := s.document()
			for _, file := range s.files(t, dir) {
				t.Run(file, func(t *testing.T) {
					if !*long && !slices.Contains(s.Quick, file) {
						t.Skip("skipped: takes too long; make conformance runs it")
					}
					t.Parallel()
					s.compare(t, doc, dir, lib, file)
				})
			}
		})
	}
}

// libraries returns a folder with all modules of the installed Perl, which its tests expect as ../lib; "" for other programs.
func libraries(t *testing.T, program string) string {
	if filepath.Base(program) != "perl" {
		return ""
	}
	out, err := exec.Command(program, "-e", `print join "\n", @INC`).Output()
	if err != nil {
		t.Fatal(err)
	}
	lib := t.TempDir()
	for _, dir := range strings.Fields(string(out)) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			if out, err := exec.Command("cp", "-rsn", real+"/.", lib).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	return lib
}

// compare runs one file in the machine, then natively, in copies of dir with one name.
func (s *Suite) compare(t *testing.T, doc *report.Document, dir, lib, file string) {
	top := t.TempDir()
	work := filepath.Join(top, filepath.Base(dir))
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if lib != "" {
		if err := os.Symlink(lib, filepath.Join(top, "lib")); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := slices.Concat([]string{s.Program}, s.Args, []string{file})
	machine := s.run(t, work, slices.Concat([]string{self, execArg}, argv))
	native := s.run(t, work, argv)
	got, want := s.verdicts(machine.stdout), s.verdicts(native.stdout)
	got["exit status"], want["exit status"] = fmt.Sprint(machine.status), fmt.Sprint(native.status)
	for _, e := range s.Exclude {
		for _, n := range strings.Fields(e.Tests) {
			if match(e.Files, file) {
				delete(got, n)
				delete(want, n)
			}
		}
	}
	same := 0
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] == want[k] {
			same++
		} else {
			t.Errorf("%s: %q, natively %q", k, got[k], want[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			t.Errorf("%s: %q, not natively", k, got[k])
		}
	}
	if t.Failed() {
		t.Logf("standard error in the machine:\n%s\nnatively:\n%s", tail(machine.stderr), tail(native.stderr))
	}
	if *update {
		row := fmt.Sprintf("| %s | %d | %d | %.2f | %.1f | %.0f |", file, len(want), same,
			native.time.Seconds(), machine.time.Seconds(), machine.time.Seconds()/native.time.Seconds())
		if err := doc.Put(file, row); err != nil {
			t.Error(err)
		}
	}
}

// result is one run.
type result struct {
	stdout, stderr []byte
	status         int // 128+N: killed by signal N
	time           time.Duration
}

func (s *Suite) run(t *testing.T, dir string, argv []string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), *limit)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C.UTF-8", "TZ=UTC", "GOMEMLIMIT=2500MiB"}, s.Env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	start := time.Now()
	err := c.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatal(err)
	}
	st := c.ProcessState.ExitCode()
	if st < 0 {
		st = 128 + int(c.ProcessState.Sys().(syscall.WaitStatus).Signal())
	}
	return result{stdout.Bytes(), stderr.Bytes(), st, time.Since(start)}
}

// tapLine is a verdict of the Test Anything Protocol.
var tapLine = regexp.MustCompile(`^(ok|not ok)\b *(\d*)[^#]*(?:# *(?i:(skip|todo)))?`)

// masks are what differs between two native runs.
var masks = regexp.MustCompile(`Rtmp\w+|file[0-9a-f]{8,}|0x[0-9a-f]{6,}|(?i:Time elapsed.*)|^Time +[\d. ]+$`)

// verdicts reads standard output: verdicts by test number, and the plan; or masked lines by their number.
func (s *Suite) verdicts(out []byte) map[string]string {
	v := map[string]string{}
	n := 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if !s.TAP {
			n++
			v[fmt.Sprint(n)] = masks.ReplaceAllString(line, "...")
			continue
		}
		if m := tapLine.FindStringSubmatch(line); m != nil {
			if n++; m[2] == "" {
				m[2] = fmt.Sprint(n)
			}
			v[m[2]] += strings.TrimSpace(m[1]+" "+strings.ToLower(m[3])) + ";"
		} else if strings.HasPrefix(line, "1..") {
			v["plan"] = line
		}
	}
	return v
}

// TestVerdicts checks how output is read.
func TestVerdicts(t *testing.T) {
	tap := Suite{TAP: true}
	got := tap.verdicts([]byte("1..4\nok 1 - a # not a skip\nnot ok 2 # TODO later\n# comment\nok # skip no\nok 4\n"))
	want := map[string]string{"plan": "1..4", "1": "ok;", "2": "not ok todo;", "3": "ok skip;", "4": "ok;"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	lines := Suite{}
	got = lines.verdicts([]byte("<environment: 0x55d0c0ffee00>\nTime elapsed:  1 2\nTime  0.5 1\nTime is 5\n"))
	want = map[string]string{"1": "<environment: ...>", "2": "...", "3": "...", "4": "Time is 5"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestTables checks that the documents are current and hold enough rows.
func TestTables(t *testing.T) {
	for _, s := range Suites {
		d := s.document()
		rows, err := d.Rows()
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) < s.Least {
			t.Errorf("%s has %d rows, want %d: make conformance", d.Path, len(rows), s.Least)
		}
		for _, e := range s.Exclude {
			if _, err := path.Match(e.Files, ""); err != nil || e.Reason == "" {
				t.Errorf("%s: %+v", s.Name, e)
			}
		}
		if err := d.Current(rows, *update); err != nil {
			t.Error(err)
		}
	}
}

func tail(b []byte) []byte { return b[max(0, len(b)-3000):] }
