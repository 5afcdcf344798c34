package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"symchef/internal/pace"
	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// The tests of this package run the built binary as a user does: from a
// directory of their own, with little in the environment.

const python = "/usr/bin/python3.11"

var binary, cache string // the built command; the folder of boot snapshots most tests share

func TestMain(m *testing.M) {
	replay.MaybeConfineChild() // of replay.Probe, by which tests ask what this host has
	if name, ok := strings.CutPrefix(os.Args[0], onHost); ok {
		fmt.Fprintf(os.Stderr, "host %s: %v\n", name, runOnHost(name, os.Args[1:]))
		os.Exit(99)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // who runs the tests may ignore it, as nohup(1) does; what they start shall not
	dir, err := os.MkdirTemp("", "symchef-cmd-")
	if err == nil {
		binary, cache = filepath.Join(dir, "symchef"), filepath.Join(dir, "cache")
		build := exec.Command("go", "build", "-o", binary, ".")
		build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		err = build.Run()
	}
	status := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(status)
}

// A box is a user's directory and environment.
type box struct {
	t   *testing.T
	dir string
	env []string
}

func newBox(t *testing.T) *box {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &box{t, dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "XDG_CACHE_HOME=" + cache}}
}

// pythonBox is a box for tests that need the stock interpreter.
func pythonBox(t *testing.T) *box {
	t.Helper()
	if _, err := os.Stat(python); err != nil {
		t.Skipf("skipped: %s is not installed", python)
	}
	t.Parallel()
	return newBox(t)
}

// pythonBoxHere is a pythonBox for a test that is parallel already, or must not be.
func pythonBoxHere(t *testing.T) *box {
	t.Helper()
	if _, err := os.Stat(python); err != nil {
		t.Skipf("skipped: %s is not installed", python)
	}
	return newBox(t)
}

// write makes a file in the box, its folders too, and returns its path.
func (b *box) write(name, text string) string {
	b.t.Helper()
	p := b.path(name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(p, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *box) path(name string) string { return filepath.Join(b.dir, name) }

// compile builds a C program in the box, or skips where gcc is missing.
func (b *box) compile(name, source string, flags ...string) string {
	b.t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		b.t.Skip("skipped: gcc is not installed")
	}
	cmd := exec.Command("gcc", append(flags, "-O1", "-w", "-o", b.path(name), b.write(name+".c", source))...)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("gcc: %v\n%s", err, out)
	}
	return b.path(name)
}

// result is how a command ended.
type result struct {
	t              *testing.T
	command        string
	status         int // 128+N if signal N killed it
	stdout, stderr string
}

// command is symchef with args in the box, not yet started.
func (b *box) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	b.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	return cmd
}

// run runs symchef in the box.
func (b *box) run(args ...string) result {
	b.t.Helper()
	return b.finish(b.command(args...))
}

// finish runs cmd to its end.
func (b *box) finish(cmd *exec.Cmd) result {
	b.t.Helper()
	return b.start(cmd)()
}

// start starts cmd; the function it returns waits for its end.
func (b *box) start(cmd *exec.Cmd) (wait func() result) {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	return func() result {
		cmd.Wait()
		ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
		r := result{b.t, strings.Join(cmd.Args[1:], " "), ws.ExitStatus(), stdout.String(), stderr.String()}
		if ws.Signaled() {
			r.status = 128 + int(ws.Signal())
		}
		return r
	}
}

// want fails the test unless the command ended with status and said all of texts.
func (r result) want(status int, texts ...string) result {
	r.t.Helper()
	ok := r.status == status
	for _, s := range texts {
		ok = ok && strings.Contains(r.stdout+r.stderr, s)
	}
	if !ok {
		r.t.Errorf("symchef %s: status %d, want %d and %q\n%s%s", r.command, r.status, status, texts, r.stdout, r.stderr)
	}
	return r
}

// oneLine fails the test unless the command ended with status and its one line on standard error contains text.
func (r result) oneLine(status int, text string) {
	r.t.Helper()
	line, isLine := strings.CutSuffix(r.stderr, "\n")
	if r.status != status || r.stdout != "" || !isLine || strings.Contains(line, "\n") ||
		!strings.HasPrefix(line, "symchef: ") || !strings.Contains(line, text) || len(line) > 400 {
		r.t.Errorf("symchef %s: status %d, want %d and one line with %q\nstdout: %s\nstderr: %s", r.command, r.status, status, text, r.stdout, r.stderr)
	}
}

// load reads a run directory of the box.
func (b *box) load(dir string) (rundir.Summary, []testcase.Test) {
	b.t.Helper()
	r, err := rundir.Open(b.path(dir))
	if err != nil {
		b.t.Fatal(err)
	}
	tests, torn, err := r.Tests()
	if err != nil || torn {
		b.t.Fatalf("torn %v, %v", torn, err)
	}
	return r.Summary, tests
}

// output is what test case x of dir wrote, as far as it is kept.
func (b *box) output(dir string, x testcase.Test) string {
	b.t.Helper()
	r, err := rundir.Open(b.path(dir))
	if err != nil {
		b.t.Fatal(err)
	}
	out, err := r.Output(x.OutputSHA256)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(out)
}

// outcomes are the outcomes of tests as text, sorted by none but the order they were found in.
func outcomes(tests []testcase.Test) string {
	var l []string
	for _, x := range tests {
		l = append(l, x.Outcome.String())
	}
	return strings.Join(l, "\n")
}

// fields decodes a JSON object.
func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&m); err != nil || dec.More() {
		t.Fatalf("not one JSON object (%v): %s", err, text)
	}
	return m
}

// eventually waits until done says so.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
		if pace.Exceeds(t, began, time.Minute) {
			t.Fatal("waited a minute and more for " + what)
		}
	}
}

func readFile(path string) (string, error) {
	b, err := os.ReadFile(path)
	return string(b), err
}

// outputs are the outputs of tests, sorted.
func outputs(b *box, dir string, tests []testcase.Test) string {
	var l []string
	for _, x := range tests {
		l = append(l, b.output(dir, x))
	}
	slices.Sort(l)
	return strings.Join(l, "")
}
