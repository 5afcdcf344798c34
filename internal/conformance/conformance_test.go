// Package conformance runs whole programs natively and in the machine and
// compares what came out: standard output, standard error and exit status, byte
// for byte. Linux on the processor is the oracle.
//
// # Scripts
//
// testdata/LANGUAGE/NAME.* is a script. Its working directory is empty. A
// comment `args: ...` or `env: ...` in one of its first lines gives words for its
// command line or its environment, and testdata/LANGUAGE/NAME.stdin is its
// standard input. A script prints only what Linux promises: no process numbers, no clock.
//
// To add an interpreter: a row in interpreters and a folder of scripts.
package conformance

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"symchef/internal/session"
)

// interpreter is a row: which program runs which scripts.
type interpreter struct {
	name    string
	program string   // tried in PATH
	args    []string // before the script
	env     []string // what makes the interpreter's output a function of the script
	scripts string   // globs below testdata
	min     int      // number of scripts there are at least
	long    bool     // only with -long
	needs   string   // files that must be there, too
}

var longFlag = flag.Bool("long", false, "run the rows that take minutes, too")

const rLibrary = "/usr/lib/R/site-library/" // of Debian's r-cran-* packages

var interpreters = []interpreter{
	{"python3.11", "/usr/bin/python3.11", nil, []string{"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"}, "python/*.py", 20, false, ""},
	{"lua5.4", "lua5.4", nil, nil, "lua/common/*.lua lua/5.4/*.lua", 20, false, ""},
	{"lua5.1", "lua5.1", nil, nil, "lua/common/*.lua", 15, false, ""},
	{"perl", "perl", nil, []string{"PERL_HASH_SEED=0"}, "perl/*.pl", 15, false, ""},
	{"ruby3.1", "ruby3.1", nil, nil, "ruby/*.rb", 15, true, ""},
	{"php8.2", "php8.2", nil, nil, "php/*.php", 15, true, ""},
	{"mujs", "mujs", nil, nil, "mujs/*.js", 15, false, ""},
	{"Rscript", "Rscript", nil, nil, "r/*.R", 10, true, ""},
	{"R-packages", "Rscript", nil, nil, "r/packages/*.R", 10, true, rLibrary + "jsonlite " + rLibrary + "base64enc " + rLibrary + "stringi " + rLibrary + "digest"},
	{"R", "R", []string{"--no-echo", "--no-restore", "-f"}, nil, "r/err*.R r/out*.R", 2, true, ""}, // a shell script
	{"exec/R", "/usr/lib/R/bin/exec/R", []string{"--no-echo", "--no-restore", "-f"}, []string{"R_HOME=/usr/lib/R", "LD_LIBRARY_PATH=/usr/lib/R/lib"}, "r/err*.R r/alg*.R", 2, true, ""},
}

// execArg as the first argument turns this test binary into `symchef exec`.
const execArg = "symchef-exec"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == execArg {
		os.Exit(session.Exec(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, false, 0, session.CPUV2))
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	for _, in := range interpreters {
		t.Run(in.name, func(t *testing.T) {
			if in.long && !*longFlag {
				t.Skip("skipped: takes minutes; make conformance runs it")
			}
			program, err := exec.LookPath(in.program)
			if err != nil {
				t.Skipf("skipped: %s is not installed", in.program)
			}
			for _, f := range strings.Fields(in.needs) {
				if _, err := os.Stat(f); err != nil {
					t.Skipf("skipped: %s is not there", f)
				}
			}
			var scripts []string
			for _, glob := range strings.Fields(in.scripts) {
				l, err := filepath.Glob(filepath.Join("testdata", glob))
				if err != nil {
					t.Fatal(err)
				}
				scripts = append(scripts, l...)
			}
			if len(scripts) < in.min {
				t.Fatalf("%d scripts match %s, want %d", len(scripts), in.scripts, in.min)
			}
			for _, script := range scripts {
				name := strings.TrimSuffix(filepath.Base(script), filepath.Ext(script))
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					compare(t, in, program, script)
				})
			}
		})
	}
}

// compare runs script in the machine, which must leave its directory as it is, then natively.
func compare(t *testing.T, in interpreter, program, script string) {
	source, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := os.ReadFile(strings.TrimSuffix(script, filepath.Ext(script)) + ".stdin")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	dir := t.TempDir()
	base := filepath.Base(script)
	if err := os.WriteFile(filepath.Join(dir, base), source, 0o644); err != nil {
		t.Fatal(err)
	}
	before := list(t, dir)
	argv := slices.Concat([]string{program}, in.args, []string{base}, header(source, "args"))
	env := slices.Concat([]string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C.UTF-8", "TZ=UTC"}, in.env, header(source, "env"))

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, dir, env, stdin, append([]string{self, execArg}, argv...))
	if after := list(t, dir); after != before {
		t.Errorf("the host's directory changed\n%swas\n%s", after, before)
	}
	want := run(t, dir, env, stdin, argv)
	if got.status != want.status {
		t.Errorf("exit status %d, natively %d", got.status, want.status)
	}
	for _, s := range []struct {
		name      string
		got, want []byte
	}{{"standard output", got.stdout, want.stdout}, {"standard error", got.stderr, want.stderr}} {
		if !bytes.Equal(s.got, s.want) {
			t.Errorf("%s\n%s", s.name, difference(s.got, s.want))
		}
	}
	if len(want.stdout)+len(want.stderr) == 0 {
		t.Error("the script prints nothing: nothing was compared")
	}
}

// result is what a program leaves behind.
type result struct {
	stdout, stderr []byte
	status         int // 128+N: killed by signal N, as session.Exec has it
}

// run runs argv; the limit is generous, a native run ends long before it.
func run(t *testing.T, dir string, env []string, stdin []byte, argv []string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, env, bytes.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%s: %v (%v)", argv, err, ctx.Err())
	}
	st := cmd.ProcessState.ExitCode()
	if st < 0 {
		st = 128 + int(cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
	}
	return result{out.Bytes(), errs.Bytes(), st}
}

// header returns the words behind `key:` in a comment on one of the first lines.
func header(source []byte, key string) []string {
	lines := bytes.SplitAfterN(source, []byte("\n"), 6)
	m := regexp.MustCompile(`(?m)^\W+` + key + `: (.*)$`).FindSubmatch(bytes.Join(lines[:min(5, len(lines))], nil))
	if m == nil {
		return nil
	}
	return strings.Fields(string(m[1]))
}

// list describes every file below dir.
func list(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, st.Mode(), st.Size(), st.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// difference shows where two outputs part.
func difference(got, want []byte) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	from := max(0, at-200)
	clip := func(p []byte) string { return string(p[min(from, len(p)):min(at+600, len(p))]) }
	return fmt.Sprintf("differs from byte %d on; %d bytes\n%s\nnatively %d bytes\n%s", at, len(got), clip(got), len(want), clip(want))
}
