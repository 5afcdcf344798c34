package cpython

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"symchef/internal/conformance/report"
	"symchef/internal/session"
)

var (
	long   = flag.Bool("long", false, "run all modules of the table, not only the quick ones")
	update = flag.Bool("update", false, "write what came out into docs/conformance-cpython.md")
	limit  = flag.Duration("limit", 30*time.Minute, "of one module in the machine")
)

const (
	python = "/usr/bin/python3.11"
	tests  = "/usr/lib/python3.11/test/test_bool.py" // of libpython3.11-testsuite
)

//go:embed driver.py
var driver []byte

// execArg as the first argument turns this test binary into `symchef exec`.
const execArg = "symchef-exec"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == execArg {
		os.Exit(session.Exec(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, false, 0, session.CPUV2))
	}
	os.Exit(m.Run())
}

// outcome is one run of a module.
type outcome struct {
	verdicts map[string]string // by test method
	done     bool              // the driver came to its end
	time     time.Duration
	stderr   []byte
}

// run runs the driver on a module; the machine's own memory is bounded.
func run(t *testing.T, m Module, machine bool) outcome {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join(t.TempDir(), "driver.py")
	if err := os.WriteFile(script, driver, 0o644); err != nil {
		t.Fatal(err)
	}
	argv := []string{python, script, m.Name}
	for _, e := range m.Excluded {
		argv = append(argv, "test."+m.Name+"."+e.Methods)
	}
	if machine {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		argv = slices.Concat([]string{self, execArg}, argv)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir, "LC_ALL=C.UTF-8", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "GOMEMLIMIT=2500MiB"}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	start := time.Now()
	err := c.Run()
	o := outcome{verdicts: map[string]string{}, time: time.Since(start), stderr: stderr.Bytes()}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for line := range strings.Lines(stdout.String()) {
		f := strings.Fields(line)
		switch {
		case len(f) == 2 && f[0] == "@@" && f[1] == "done":
			o.done = true
		case len(f) == 3 && f[0] == "@@":
			o.verdicts[f[2]] = f[1]
		}
	}
	return o
}

// TestModules runs CPython's own tests natively and in the machine and compares the verdicts.
func TestModules(t *testing.T) {
	for _, f := range []string{python, tests} {
		if _, err := os.Stat(f); err != nil {
			t.Skipf("skipped: %s is not there", f)
		}
	}
	doc := document()
	for _, m := range Modules {
		t.Run(m.Name, func(t *testing.T) {
			if !m.Quick && !*long {
				t.Skip("skipped: takes too long; make conformance runs it")
			}
			t.Parallel()
			native := run(t, m, false)
			if !native.done {
				t.Fatalf("natively ended early; standard error:\n%s", tail(native.stderr))
			}
			machine := run(t, m, true)
			r := row{module: m.Name, methods: len(native.verdicts), native: native.time, machine: machine.time}
			for _, id := range slices.Sorted(keys(native.verdicts)) {
				switch got, want := machine.verdicts[id], native.verdicts[id]; {
				case got != want:
					t.Errorf("%s: %q, natively %q", id, got, want)
				case want == "skipped":
					r.skipped++
					fallthrough
				default:
					r.same++
				}
			}
			if !machine.done {
				t.Errorf("ended early after %v", machine.time)
			}
			if t.Failed() {
				t.Logf("standard error in the machine:\n%s", tail(machine.stderr))
			}
			if *update {
				if err := doc.Put(m.Name, r.String()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func keys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func tail(b []byte) []byte { return b[max(0, len(b)-6000):] }

// row is a line of the document's table.
type row struct {
	module                 string
	methods, same, skipped int
	native, machine        time.Duration
}

func (r row) String() string {
	return fmt.Sprintf("| %s | %d | %d | %d | %.2f | %.1f | %.0f |", r.module, r.methods, r.same, r.skipped,
		r.native.Seconds(), r.machine.Seconds(), r.machine.Seconds()/r.native.Seconds())
}

// document is docs/conformance-cpython.md. Rows of modules that did not run stay as they are.
func document() *report.Document {
	d := &report.Document{Path: "../../../docs/conformance-cpython.md", Head: `# CPython's regression tests in the machine

Debian's libpython3.11-testsuite, run by /usr/bin/python3.11 natively and in the machine; a
method has the same verdict (ok, skipped, expected failure, ...) in both. Resources are those of
` + "`python -m test`" + ` without -u. Generated by ` + "`make conformance`" + ` (internal/conformance/cpython).

| module | methods | same verdict | skipped in both | native s | machine s | ratio |
|---|---:|---:|---:|---:|---:|---:|
`, Tail: "\n## Excluded methods\n\n"}
	for _, m := range Modules {
		d.Order = append(d.Order, m.Name)
		for _, e := range m.Excluded {
			d.Tail += fmt.Sprintf("- `%s.%s`: %s\n", m.Name, e.Methods, e.Reason)
		}
	}
	return d
}

// TestTable checks the table, and that the document has a row for each of its modules and all exclusions.
func TestTable(t *testing.T) {
	d := document()
	rows, err := d.Rows()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range Modules {
		if seen[m.Name] {
			t.Errorf("%s stands twice in the table", m.Name)
		}
		seen[m.Name] = true
		if rows[m.Name] == "" {
			t.Errorf("docs/conformance-cpython.md lacks %s: make conformance", m.Name)
		}
		for _, e := range m.Excluded {
			if _, err := path.Match(e.Methods, ""); err != nil || e.Reason == "" {
				t.Errorf("%s: %+v", m.Name, e)
			}
		}
	}
	if err := d.Current(rows, *update); err != nil {
		t.Error(err)
	}
}
