package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"symchef/internal/pace"
)

// slack is what a command may take beyond its time, and after a signal.
const slack = 15 * time.Second

// temporary lists what is in the folder for temporary files of b.
func (b *box) temporary() []string {
	l, err := filepath.Glob(b.path("tmp/*"))
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

// phases are tests that keep a run in one of its phases, with what tells that it is there.
var phases = []struct {
	name, source string
	args         []string
	there        string // a file in the run directory; or of a process in it, its name
}{
	{"native boot", "import time\ntime.time()\nwhile True: pass\ndef test_x(): pass\n", nil, ""},
	{"emulated boot", "while True: pass\ndef test_x(): pass\n", []string{"--boot", "emulated", "--path-instructions", "1000000000000"}, ""},
	{"setUp", "import symchef\nclass X(symchef.SymbolicTest):\n    def setUp(self):\n        while True: pass\n    def runTest(self): self.getBool('b', True)\n", nil, ""},
	{"exploring", endless, nil, "tests"},
	{"one path", "import symchef\ndef test_x(b: symchef.Bool()):\n    if b: print(1)\n    else:\n        n = 0\n        while True: n += 1\n", []string{"--path-time", "1h"}, "begun"},
	{"replaying", "import symchef, time\ndef test_x(n: symchef.Int(0, 40)):\n    for i in range(40):\n        if n == i: print(i)\n    time.sleep(3)\n", nil, "replay"},
}

// reached says whether the run in out has come to the phase.
func reached(b *box, there string) bool {
	switch there {
	case "tests":
		return lines(b.path("out")) > 3
	case "begun":
		text, _ := readFile(b.path("out/summary.json"))
		return strings.Contains(text, `"name": "test_x"`)
	case "replay":
		l, _ := filepath.Glob(b.path("tmp/symchef-replay-*"))
		return len(l) > 0 && lines(b.path("out")) > 30
	}
	_, err := os.Stat(b.path("out/summary.json"))
	return err == nil
}

// --time bounds each phase of a run, and a result is shown.
func TestTime(t *testing.T) {
	for _, p := range phases {
		t.Run(p.name, func(t *testing.T) {
			b := pythonBox(t)
			b.write("test_x.py", p.source)
			b.write("tmp/x/x", "")
			os.RemoveAll(b.path("tmp/x"))
			b.env = append(b.env, "TMPDIR="+b.path("tmp"))
			limit := pace.Stretch(t, 5*time.Second).Round(time.Second)
			began := time.Now()
			r := b.run(append([]string{"run", "--time", limit.String(), "--out", "out"}, append(p.args, "test_x.py")...)...)
			if pace.Exceeds(t, began, limit+slack) {
				t.Errorf("took %v", time.Since(began))
			}
			if p.there == "" { // it did not begin
				r.oneLine(2, "importing and setting up the test took longer than "+limit.String()+" (--time)")
			} else {
				r.want(r.status, "not exhausted:")
			}
			if l := b.temporary(); len(l) > 0 {
				t.Errorf("left behind: %v", l)
			}
		})
	}
}

// A replay that takes longer than what is left of --time is cut, and the summary says so.
func TestTimeOfReplay(t *testing.T) {
	b := pythonBox(t)
	b.write("test_x.py", phases[len(phases)-1].source)
	limit := min(pace.Stretch(t, 8*time.Second), 40*time.Second) // less than all cases sleep
	b.run("run", "--time", limit.String(), "--out", "out", "test_x.py").want(0, " not replayed", "not exhausted:")
	sum, tests := b.load("out")
	n := sum.Replay
	if n.NotReplayed == 0 || n.Agreed+n.Diverged+n.Unstable+n.NotReplayed != len(tests) || sum.Exhausted {
		t.Errorf("%d tests, %+v", len(tests), n)
	}
}

// A start that takes long natively has its part of --time, too: some test cases are replayed.
func TestTimeOfSlowStart(t *testing.T) {
	b := pythonBoxHere(t)                                                           // before those that are parallel
	limit := min(pace.Stretch(t, 8*time.Second), 24*time.Second).Round(time.Second) // the start takes less than what a native run may
	// In the machine no time passes while it sleeps.
	b.write("test_x.py", fmt.Sprintf("import symchef, time\ntime.sleep(%f)\ndef test_x(s: symchef.Str(20)):\n    print([c == 'a' for c in s])\n", limit.Seconds()/3))
	began := time.Now()
	b.run("run", "--time", limit.String(), "--out", "out", "test_x.py").want(0, "not exhausted:")
	if pace.Exceeds(t, began, limit+slack) {
		t.Errorf("took %v", time.Since(began))
	}
	sum, tests := b.load("out")
	if n := sum.Replay; n.Agreed == 0 || n.Agreed+n.NotReplayed != len(tests) {
		t.Errorf("%d tests, %+v", len(tests), n)
	}
}

// What hangs is replayed last, so that it does not take the time of all others.
func TestHangsLast(t *testing.T) {
	b := pythonBox(t)
	b.write("test_x.py", `import symchef, time
def test_x(n: symchef.Int(0, 19)):
    for i in range(20):
        if n == i:
            print(i)
            while i % 2 == 0: pass
`)
	b.run("run", "--time", pace.Stretch(t, 15*time.Second).String(), "--out", "out", "test_x.py")
	sum, tests := b.load("out")
	if sum.Tests.Hang < 3 || sum.Replay.Agreed < 10 || sum.Replay.Agreed+sum.Replay.NotReplayed != len(tests) {
		t.Errorf("%d test cases, %+v, %+v", len(tests), sum.Tests, sum.Replay)
	}
}

// Each of the signals ends a run in each of its phases: all is kept, the same summary is printed, nothing is left behind.
func TestSignals(t *testing.T) {
	for i, p := range phases {
		for j, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			if slow := os.Getenv("SYMCHEF_SLOW") != ""; !slow && (i+j)%3 != 0 {
				continue
			}
			t.Run(fmt.Sprint(p.name, " ", sig), func(t *testing.T) {
				b := pythonBox(t)
				b.write("test_x.py", p.source)
				b.write("tmp/x/x", "")
				os.RemoveAll(b.path("tmp/x"))
				b.env = append(b.env, "TMPDIR="+b.path("tmp"))
				wait := b.signalled(sig, p.there, append([]string{"run", "--out", "out"}, append(p.args, "test_x.py")...)...)
				began := time.Now()
				wait().want(130, "not exhausted:", "- interrupted")
				if pace.Exceeds(t, began, slack) {
					t.Errorf("took %v", time.Since(began))
				}
				if l := b.temporary(); len(l) > 0 {
					t.Errorf("left behind: %v", l)
				}
				if sum, tests := b.load("out"); !sum.Finished || sum.Exhausted || sum.Tests.Total() != len(tests) {
					t.Errorf("%d test cases, %+v", len(tests), sum)
				}
			})
		}
	}
}

// A run under nohup(1) goes on when the terminal closes, and one that is signalled twice ends as it should.
func TestNohup(t *testing.T) {
	b := pythonBox(t)
	b.write("test_x.py", "import symchef, os\nwhile not os.path.exists('go'): pass\ndef test_x(b: symchef.Bool()): print(b)\n")
	cmd := b.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `trap '' HUP; exec "$0" run --out out --max-paths 1 --boot emulated --no-replay --time 4s test_x.py`, binary}
	wait := b.start(cmd)
	eventually(t, "the run", func() bool { return reached(b, "") })
	cmd.Process.Signal(syscall.SIGHUP)
	wait().oneLine(2, "took longer than 4s (--time)")

	b.write("test_x.py", endless)
	cmd = b.command("run", "--out", "twice", "test_x.py")
	wait = b.start(cmd)
	eventually(t, "test cases", func() bool { return lines(b.path("twice")) > 3 })
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Process.Signal(syscall.SIGHUP)
	cmd.Process.Signal(syscall.SIGTERM)
	wait().want(130, "not exhausted:", "- interrupted")
}

// signalled starts a command and signals it when it has come to a phase.
func (b *box) signalled(sig syscall.Signal, there string, args ...string) (wait func() result) {
	cmd := b.command(args...)
	wait = b.start(cmd)
	eventually(b.t, "the phase", func() bool { return reached(b, there) })
	time.Sleep(200 * time.Millisecond)
	cmd.Process.Signal(sig)
	return wait
}

// What a killed run leaves in the folder for temporary files, the next one removes.
func TestLeftovers(t *testing.T) {
	b := pythonBox(t)
	b.write("test_x.py", phases[len(phases)-1].source)
	b.write("tmp/symchef-notes/x", "")
	b.env = append(b.env, "TMPDIR="+b.path("tmp"))
	wait := b.signalled(syscall.SIGKILL, "replay", "run", "--out", "out", "test_x.py")
	wait().want(128 + 9)
	if len(b.temporary()) < 2 {
		t.Fatal("nothing was left behind: the test is void")
	}
	b.write("test_a.py", "import symchef\ndef test_a(x: symchef.Bool()): print(x)\n")
	b.run("run", "--out", "other", "test_a.py").want(0)
	if l := b.temporary(); len(l) != 1 {
		t.Errorf("left behind: %v", l)
	}
}

// A run that was killed or interrupted before the test began starts over.
func TestResumeFresh(t *testing.T) {
	b := pythonBox(t)
	b.write("test_x.py", "import symchef, os\nwhile not os.path.exists('go'): pass\ndef test_x(b: symchef.Bool()): print(b)\n")
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		os.Remove(b.path("go"))
		b.signalled(sig, "", "run", "--out", "out", "--all-paths", "test_x.py")()
		b.write("go", "")
		b.run("run", "--resume", "out").want(0, "2 test cases", "exhausted: every input")
		b.run("run", "--resume", "out").oneLine(2, "nothing is left to explore")
	}
	b.write("test_x.py", "import symchef\ndef test_x(b: symchef.Bool()): print(b)\n")
	b.run("run", "--resume", "out").oneLine(2, "test_x.py has changed")
}

// Processes that a run has started end with it, whatever ends it.
func TestNoProcesses(t *testing.T) {
	b := pythonBox(t)
	b.write("test_x.py", phases[0].source)
	wait := b.signalled(syscall.SIGKILL, "", "run", "--out", "out", "test_x.py")
	wait()
	eventually(t, "the end of all processes", func() bool {
		out, _ := exec.Command("sh", "-c", `grep -l "$0" /proc/[0-9]*/cmdline 2>/dev/null`, b.dir).Output()
		return strings.Count(string(out), "\n") <= 1 // grep's own shell
	})
}
