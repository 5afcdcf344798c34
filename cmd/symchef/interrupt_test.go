package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"symchef/internal/rundir"
	"symchef/internal/seed"
)

// endless has more paths than anyone waits for; each test case is of a class of its own.
const endless = `import symchef
def test_endless(s: symchef.Str(40)):
    print([i for i in range(40) if s[i] == "x"])
`

// lines is how many whole lines the test cases found so far take; -1 before there is a run directory.
func lines(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "tests.jsonl"))
	if err != nil {
		return -1
	}
	return bytes.Count(b, []byte("\n"))
}

// readable checks that replay and emit read dir, and returns how many test cases replay knows.
func readable(t *testing.T, b *box, dir string) int {
	t.Helper()
	r, err := rundir.Open(b.path(dir))
	if err != nil {
		t.Fatal(err)
	}
	tests, _, err := r.Tests()
	if err != nil {
		t.Fatal(err)
	}
	got := fields(t, b.run("replay", "--json", dir).want(0).stdout)
	if int(got["agreed"].(float64)) != len(tests) {
		t.Errorf("%d test cases: %v", len(tests), got)
	}
	if len(tests) == 0 && r.Summary.Target.Name == "" {
		b.run("emit", dir).oneLine(2, "the run ended before the test in")
		return 0
	}
	if out := b.run("emit", dir).want(0).stdout; strings.Count(out, "pytest.param(") != len(tests) {
		t.Errorf("%d test cases, emitted\n%s", len(tests), out)
	}
	return len(tests)
}

// Ctrl-C ends a run with status 130 and all that was found.
func TestInterrupt(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		after  int // test cases found; 0: while the interpreter starts
	}{{"boot", syscall.SIGINT, 0}, {"exploring", syscall.SIGINT, 3}, {"term", syscall.SIGTERM, 1}} {
		t.Run(c.name, func(t *testing.T) {
			b := pythonBox(t)
			b.write("test_endless.py", endless)
			cmd := b.command("run", "--out", "out", "--no-cache", "test_endless.py")
			wait := b.start(cmd)
			eventually(t, "test cases", func() bool { return lines(b.path("out")) >= c.after })
			cmd.Process.Signal(c.signal)
			wait().want(130, "not exhausted:", "- interrupted")
			sum, tests := b.load("out")
			if !sum.Finished || sum.Exhausted || sum.Tests.Total() != len(tests) || len(tests) < c.after {
				t.Errorf("%d test cases, %+v", len(tests), sum)
			}
			readable(t, b, "out")
		})
	}
}

// SIGKILL at any moment leaves a directory that every command reads.
func TestKill(t *testing.T) {
	b := pythonBox(t)
	b.write("test_endless.py", endless)
	for _, after := range []int{0, 1, 4} {
		cmd := b.command("run", "--out", "out", "test_endless.py")
		wait := b.start(cmd)
		eventually(t, "test cases", func() bool { return lines(b.path("out")) >= after })
		cmd.Process.Kill()
		wait().want(128 + 9)
		if n := readable(t, b, "out"); n < after {
			t.Errorf("killed after %d test cases, %d are left", after, n)
		}
	}
	// A kill in the middle of a write leaves a torn line.
	f, err := os.OpenFile(b.path("out/tests.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"id":"t0`)
	f.Close()
	b.run("emit", "out").want(0, "the last line of tests.jsonl was cut off")
	b.run("replay", "out").want(0, "the last line of tests.jsonl was cut off", "0 diverged")
	b.run("run", "--out", "out", "--max-paths", "1", "--no-replay", "test_endless.py").want(0, "1 test case ")
}

// On a full disk a run ends with status 3 and one line, and what was written stays whole.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", "#include <stdio.h>\nint main() { for (int i = 0; i < 12; i++) if (getchar() > 'a') { putchar('x'); asm volatile(\"\"); } else putchar('y'); return 0; }")
	cmd := exec.Command("sh", "-c", `ulimit -f 40 && exec "$0" "$@"`, binary, "run", "--out", "out", "--stdin", "12", "--", "./p")
	cmd.Dir, cmd.Env = b.dir, b.env
	r := b.finish(cmd).want(3, "not exhausted:", "next: symchef emit --format sh out")
	if want := "symchef: cannot write the run directory out: file too large\n"; r.stderr != want {
		t.Errorf("%q, want %q", r.stderr, want)
	}
	_, tests := b.load("out")
	if len(tests) < 3 {
		t.Errorf("%d test cases were kept", len(tests))
	}
	b.run("replay", "out").want(0, " 0 diverged, 0 unstable, 0 not compared")
}

// Output that cannot be written is an error too.
func TestFullOutput(t *testing.T) {
	b := pythonBox(t)
	b.write("test_a.py", "import symchef\ndef test_a(x: symchef.Bool()): print(x)\n")
	b.run("run", "--out", "out", "test_a.py").want(0)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("skipped: ", err)
	}
	defer full.Close()
	cmd := b.command("emit", "out")
	cmd.Stdout = full
	b.finish(cmd).oneLine(2, "cannot write to standard output")
	b.run("emit", "-o", "/dev/full", "out").oneLine(2, "cannot write the test file")
	b.run("emit", "-o", "/proc/nowhere/x", "out").oneLine(2, "cannot write the test file")
}

// Two runs do not write one directory, and a finished one is replaced.
func TestOneWriter(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", "#include <unistd.h>\n#include <stdio.h>\nint main() { int n = 0; if (getchar() != 'x') return 0; for (int i = 0; i < 29; i++) switch (getchar()) { case 'a': n++; break; case 'x': n += getpid() > 0; } return 3; }")
	cmd := b.command("run", "--out", "out", "--stdin", "30", "--", "./p")
	wait := b.start(cmd)
	eventually(t, "the first run", func() bool { return lines(b.path("out")) > 0 })
	held := fmt.Sprintf("cannot write the run directory out: another run is writing to it (process %d)", cmd.Process.Pid)
	before, _ := b.load("out")
	for _, args := range [][]string{{"run", "--out", "out", "--stdin", "30", "--", "./p"}, {"run", "--resume", "out"}, {"replay", "out"}, {"replay", "--json", "out"}} {
		b.run(args...).oneLine(2, held)
	}
	b.run("rerun", "out").want(0)
	b.run("replay", "--test", "t000001", "out").want(0, "1 agreed")
	b.run("tree", "out").want(0, "t000001") // of the test cases so far
	if now, tests := b.load("out"); len(tests) == 0 || now.Finished || now.Test != before.Test || now.Replay != before.Replay {
		t.Errorf("%d tests, %+v", len(tests), now)
	}
	cmd.Process.Signal(syscall.SIGINT)
	wait().want(130, "- interrupted")
	b.run("run", "--out", "out", "--stdin", "30", "--max-paths", "1", "--no-replay", "--", "./p").want(0, "1 test case ")
}

// A run that is killed or ended at random moments, its start included, and resumed each time finds every path once and counts as one in one piece, with one
// worker and with two.
func TestKillResume(t *testing.T) {
	slow := os.Getenv("SYMCHEF_SLOW") != ""
	pick := func(quick, slowly int) int {
		if slow {
			return slowly
		}
		return quick
	}
	for _, c := range []struct {
		name  string
		kills int
		most  int // milliseconds until a kill
		setup func(b *box) (args []string)
	}{
		{"program", pick(20, 100), 250, func(b *box) []string {
			b.compile("p", fmt.Sprintf(`#include <stdio.h>
int main() { for (int i = 0; i < %d; i++) { int c = getchar(); if (c < 'a') putchar('1'); else if (c > 'm') putchar('2'); else putchar('3'); } return 0; }`, pick(6, 8)))
			return []string{"--stdin", fmt.Sprint(pick(6, 8)), "--", "./p"}
		}},
		{"python", pick(5, 100), 1500, func(b *box) []string {
			b.write("test_k.py", fmt.Sprintf("import symchef\ndef test_k(s: symchef.Str(%d)):\n    print([1 if c < 'a' else 2 if c > 'm' else 3 for c in s])\n", pick(4, 5)))
			return []string{"test_k.py"}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			if c.name == "python" {
				b = pythonBoxHere(t)
			}
			first := c.setup(b)
			ids := func(dir string) []string {
				_, tests := b.load(dir)
				var l []string
				for _, x := range tests {
					l = append(l, x.PathID)
				}
				slices.Sort(l)
				return l
			}
			b.run(append([]string{"run", "--all-paths", "--no-replay", "--out", "whole"}, first...)...).want(0, "exhausted, in the machine:")
			want := ids("whole")
			whole, _ := b.load("whole")
			r := seed.Rand(t)
			args := append([]string{"run", "--all-paths", "--out", "out"}, first...)
			kills, sum := 0, rundir.Summary{}
			for n := 0; n < c.kills+100 && !sum.Exhausted; n++ {
				flags := []string{"--no-replay", "--checkpoint", "20ms", "-j", fmt.Sprint(1 + r.IntN(2))}
				cmd := b.command(slices.Concat(args[:1], flags, args[1:])...)
				wait := b.start(cmd)
				eventually(t, "a run directory", func() bool {
					_, err := os.Stat(b.path("out/frontier.bin"))
					return err == nil || n > 0
				})
				if kills < c.kills {
					time.Sleep(time.Duration(r.IntN(c.most)) * time.Millisecond)
					if cmd.Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[r.IntN(2)]) == nil {
						kills++
					}
				}
				wait()
				args = []string{"run", "--resume", "out"}
				dir, err := rundir.Open(b.path("out"))
				if err != nil {
					t.Fatal(err)
				}
				sum = dir.Summary
			}
			if got := ids("out"); !slices.Equal(got, want) {
				t.Errorf("%d paths after %d kills, not the %d of a run in one piece", len(got), kills, len(want))
			}
			if !sum.Exhausted || sum.Paths != whole.Paths || sum.Tests.Total() != len(want) {
				t.Errorf("exhausted %v, %+v, %+v", sum.Exhausted, sum.Paths, sum.Tests)
			}
			t.Logf("%d paths, %d kills", len(want), kills)
		})
	}
}
