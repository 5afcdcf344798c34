package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"symchef/internal/rundir"
)

//go:embed testdata/hostile.c
var hostileSource string

// host is what a guest must leave alone: the files of the box, a process, memory.
type host struct {
	*box
	before  string
	sleeper *exec.Cmd
}

// newHost makes a box with the hostile program, a file and a process.
func newHost(t *testing.T) *host {
	t.Helper()
	t.Parallel()
	b := newBox(t)
	b.compile("hostile", hostileSource)
	b.write("precious", "precious\n")
	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sleeper.Process.Kill(); sleeper.Wait() })
	return &host{b, b.listing(), sleeper}
}

// listing describes the files of the box.
func (b *box) listing() string {
	b.t.Helper()
	var l strings.Builder
	err := filepath.Walk(b.dir, func(path string, fi os.FileInfo, err error) error {
		if err == nil && !fi.IsDir() && fi.Size() < 1<<20 {
			var data []byte
			data, err = os.ReadFile(path)
			fmt.Fprintf(&l, "%s %v %d %v %x\n", path, fi.Mode(), fi.Size(), fi.ModTime(), data)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return l.String()
}

// budget is the memory that the guests get; engine what the process may take besides, in bytes.
const (
	budget = 512 << 20
	engine = 256 << 20
)

// harmless fails the test if the files of the box or the process have changed, or the command took more than its memory.
func (h *host) harmless(name string, usage *syscall.Rusage) {
	h.t.Helper()
	if now := h.listing(); now != h.before {
		h.t.Errorf("%s: the files have changed:\n%s\nwere\n%s", name, now, h.before)
	}
	if err := h.sleeper.Process.Signal(syscall.Signal(0)); err != nil {
		h.t.Errorf("%s: the process is gone: %v", name, err)
	}
	if peak := uint64(usage.Maxrss) << 10; peak > budget+engine {
		h.t.Errorf("%s: took %d MiB of memory, the budget is %d", name, peak>>20, budget>>20)
	}
}

// TestHostileExec: each program has a clear outcome, and the host is as it was.
func TestHostileExec(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		text   string
	}{
		{"forks", 0, "511 children, then EAGAIN; 511 killed"},
		{"zombies", 0, "511 zombies, then EAGAIN"},
		{"memory", 3, "symchef: unsupported: the program uses more than 256 MiB of memory"},
		{"pages", 3, "symchef: unsupported: the program uses more than 256 MiB of memory"},
		{"shared", 3, "symchef: unsupported: the program's processes use more than 512 MiB of memory together"},
		{"zero", 3, "symchef: unsupported: the program uses more than 256 MiB of memory"},
		{"huge", 0, "refused, refused"},
		{"file 10240", 1, "ENOSPC after some"},
		{"files 10240", 1, "ENOSPC after some"},
		{"sparse", 1, "ENOSPC after some"},
		{"reuse 40", 0, ""},
		{"recursion", 139, ""},
		{"wild", 139, ""},
		{"noncanonical", 139, ""},
		{"data", 139, ""},
		{"divide", 136, ""},
		{"overflow", 136, ""},
		{"illegal", 132, ""},
		{"privileged", 139, ""},
		{"trap", 133, ""},
		{"abort", 134, ""},
		{"selfmod", 0, "2001000 42"},
		{"churn 3000", 0, "375876"},
		{"jit", 139, "19900"},
		{"sharedcode", 0, "1215"},
		{"children", 0, "all as expected"},
		{"host PID precious", 0, "kill -1, file replaced"},
	} {
		t.Run(strings.ReplaceAll(c.args, " ", "-"), func(t *testing.T) {
			h := newHost(t)
			args := strings.ReplaceAll(c.args, "PID", fmt.Sprint(h.sleeper.Process.Pid))
			cmd := h.command(append([]string{"exec", "--max-memory", fmt.Sprint(budget), "./hostile"}, strings.Fields(args)...)...)
			h.finish(cmd).want(c.status, c.text)
			h.harmless(c.args, cmd.ProcessState.SysUsage().(*syscall.Rusage))
		})
	}
}

// TestHostileOutput: output passes through, however much it is. SYMCHEF_SLOW makes it 10 GiB.
func TestHostileOutput(t *testing.T) {
	h := newHost(t)
	mib := "512"
	if os.Getenv("SYMCHEF_SLOW") != "" {
		mib = "10240"
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd := h.command("exec", "--max-memory", fmt.Sprint(budget), "./hostile", "output", mib)
	cmd.Stdout = null
	h.finish(cmd).want(0)
	h.harmless("output", cmd.ProcessState.SysUsage().(*syscall.Rusage))
}

// TestHostileRun: the same while paths are explored and replayed.
func TestHostileRun(t *testing.T) {
	for _, c := range []struct {
		args    string
		outcome string
	}{
		{"bomb", "hang: longer than 2s"},
		{"memory", "unsupported: the program uses more than 128 MiB of memory"},
		{"zero", "unsupported: the program uses more than 128 MiB of memory"},
		{"output 10240", "unsupported: write(0x1, "},
		{"file 10240", "exit 1"},
		{"holes 100", "ok"},
		{"shown 40", "unsupported: mmap("},
		{"recursion", "crash SIGSEGV"},
		{"wild", "crash SIGSEGV"},
		{"divide", "crash SIGFPE"},
		{"selfmod", "ok"},
		{"children", "ok"},
		{"host PID precious", "ok"},
	} {
		t.Run(strings.ReplaceAll(c.args, " ", "-"), func(t *testing.T) {
			h := newHost(t)
			args := strings.ReplaceAll(c.args, "PID", fmt.Sprint(h.sleeper.Process.Pid))
			out := filepath.Join(t.TempDir(), "out")
			cmd := h.command(append([]string{"run", "--out", out, "--max-memory", fmt.Sprint(budget), "--path-time", "2s", "--time", "30s",
				"--no-replay", "--stdin", "1", "--", "./hostile"}, strings.Fields(args)...)...)
			h.finish(cmd)
			r, err := rundir.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			tests, _, err := r.Tests()
			if err != nil || len(tests) != 1 || !strings.HasPrefix(tests[0].Outcome.String(), c.outcome) {
				t.Errorf("%v, %d tests: %s; want %s", err, len(tests), outcomes(tests), c.outcome)
			}
			h.harmless(c.args, cmd.ProcessState.SysUsage().(*syscall.Rusage))
		})
	}
}

// TestHostilePython: one path of each test does harm; the other is explored none the less.
func TestHostilePython(t *testing.T) {
	for _, c := range []struct{ name, harm, outcome string }{
		{"memory", "x = [bytes(1 << 20) for _ in iter(int, 1)]", "unsupported: the program uses more than 256 MiB of memory"},
		{"recursion", "f = lambda: f(); f()", "exception RecursionError"},
		{"forks", "import os\n        while True: os.fork()", "exception BlockingIOError"},
		{"file", "f = open('big', 'wb', 0)\n        while True: f.write(bytes(1 << 20))", "exception OSError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := pythonBox(t)
			b.write("test_harm.py", fmt.Sprintf(`from symchef import SymbolicTest

class Harm(SymbolicTest):
    def runTest(self):
        if not self.getBool("harm"):
            return
        %s
`, c.harm))
			before := b.listing()
			out := filepath.Join(t.TempDir(), "out")
			cmd := b.command("run", "--out", out, "--max-memory", "1G", "--no-replay", "test_harm.py")
			b.finish(cmd)
			r, err := rundir.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			tests, _, err := r.Tests()
			if got := outcomes(tests); err != nil || len(tests) != 2 || !strings.Contains(got, "ok") || !strings.Contains(got, c.outcome) {
				t.Errorf("%v: %s; want ok and %s", err, got, c.outcome)
			}
			if now := b.listing(); now != before {
				t.Errorf("the files have changed:\n%s\nwere\n%s", now, before)
			}
			if peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10; peak > 1<<10/10*11 {
				t.Errorf("took %d MiB of memory", peak)
			}
		})
	}
}
