package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// A run that does not come to its test ends with status 2 and one line, and starts over when it is resumed.
func TestResumeStart(t *testing.T) {
	b := pythonBox(t)
	b.write("test_spin.py", "import symchef, os\nwhile not os.path.exists('go'): pass\ndef test_a(x: symchef.Bool()): pass\n")
	b.write("test_big.py", "import symchef\nblob = bytearray(b'x') * (100 << 20)\ndef test_a(x: symchef.Bool()): return x\n")
	late := "importing and setting up the test took longer than 2s (--time)"
	b.run("run", "--time", "2s", "--out", "spin", "test_spin.py").oneLine(2, late)
	for range 2 {
		b.run("run", "--time", "2s", "--resume", "spin").oneLine(2, late)
	}
	b.run("tree", "spin").oneLine(2, "there is no high-level tree")
	b.write("go", "")
	b.run("run", "--resume", "spin").want(0, "exhausted: every input")

	if r := b.run("run", "--max-memory", "64M", "--out", "big", "test_big.py"); r.status != 2 || !strings.Contains(r.stderr, "no test began: unsupported: the program uses more than 24 MiB of memory\n") {
		t.Errorf("status %d\n%s", r.status, r.stderr)
	}
	b.run("tree", "big").oneLine(2, "there is no high-level tree")
	b.run("run", "--max-memory", "2G", "--resume", "big").want(0, "exhausted: every input")
	b.run("run", "--resume", "big").oneLine(2, "big: nothing is left to explore")
}

// A command that a signal ends says so.
func TestInterruptedSays(t *testing.T) {
	b := pythonBox(t)
	b.write("test_many.py", "import symchef\ndef test_m(n: symchef.Int(0, 400)):\n    for i in range(400):\n        if n == i: return i\n")
	b.run("run", "--out", "out", "--no-replay", "--max-paths", "200", "test_many.py").want(0)
	for _, args := range [][]string{{"rerun", "out"}, {"replay", "out"}} {
		cmd := b.command(args...)
		wait := b.start(cmd)
		time.Sleep(100 * time.Millisecond)
		cmd.Process.Signal(syscall.SIGHUP)
		if r := wait(); r.status == 130 {
			r.oneLine(130, "symchef: interrupted")
		} else if r.status != 128+int(syscall.SIGHUP) { // it came before anybody listened
			t.Errorf("%v: status %d\n%s%s", args, r.status, r.stdout, r.stderr)
		}
	}
}
