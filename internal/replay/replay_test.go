package replay

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"symchef/internal/pace"
	"symchef/internal/testcase"
)

func TestMain(m *testing.M) {
	MaybeConfineChild()
	if os.Getenv(launchOnly) != "" {
		launchHostile()
		return
	}
	os.Exit(m.Run())
}

const python = "/usr/bin/python3.11"

// modes are the modes this kernel offers; it says which it does not.
func modes(t *testing.T) []Mode {
	t.Helper()
	var ok []Mode
	for _, m := range []Mode{Namespaces, Landlock} {
		if err := Probe(context.Background(), m); err != nil {
			t.Logf("skipped mode %s: %v", m, err)
			continue
		}
		ok = append(ok, m)
	}
	if len(ok) == 0 {
		t.Skip("skipped: no confinement on this kernel")
	}
	return ok
}

// shell is a program target that runs script with /bin/sh; $1, $2... are argv3...
func shell(t *testing.T, script string) testcase.Target {
	t.Helper()
	return testcase.Target{
		Kind: testcase.Program, Path: "/bin/sh", Argv: []string{"sh", "-c", script},
		Env: []string{"PATH=/usr/bin:/bin", "A=b"}, Cwd: t.TempDir(),
	}
}

func wants(id string, o testcase.Outcome, out string, in ...testcase.Input) testcase.Test {
	return testcase.Test{
		ID: id, Inputs: in, Observation: testcase.Observation{Outcome: o, OutputSHA256: testcase.OutputDigest([]byte(out)), OutputBytes: int64(len(out))},
	}
}

func runOne(t *testing.T, g testcase.Target, c testcase.Test, opt Options) Result {
	t.Helper()
	rep, err := Run(context.Background(), g, []testcase.Test{c}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return rep.Results[0]
}

func agree(t *testing.T, g testcase.Target, c testcase.Test, opt Options) {
	t.Helper()
	r := runOne(t, g, c, opt)
	if r.Verdict != Agreed {
		t.Errorf("%s: %s: %s", c.ID, r.Verdict, r.Why)
		for _, n := range r.Runs {
			t.Logf("native %v, stdout %q, stderr %q", n.Outcome, n.Stdout, n.Stderr)
		}
	}
}

func TestPrograms(t *testing.T) {
	for _, m := range modes(t) {
		for _, c := range []struct {
			id, script string
			o          testcase.Outcome
			out        string
		}{
			{"ok", "echo hi", testcase.Outcome{Kind: testcase.OK}, "hi\n"},
			{"exit", "exit 7", testcase.Outcome{Kind: testcase.Exit, ExitStatus: 7}, ""},
			{"crash", "kill -SEGV $$", testcase.Outcome{Kind: testcase.Crash, Signal: "SIGSEGV"}, ""},
			{"abort", "kill -ABRT $$", testcase.Outcome{Kind: testcase.Crash, Signal: "SIGABRT"}, ""},
			{"stdin", "cat", testcase.Outcome{Kind: testcase.OK}, "in\x00put"},
			{"argv", `printf %s "$1"`, testcase.Outcome{Kind: testcase.OK}, "arg"},
			{"env", `printf "$A"`, testcase.Outcome{Kind: testcase.OK}, "b"},
			{"env input", `printf "$V"`, testcase.Outcome{Kind: testcase.OK}, "val"},
			{"file", "cat data/f && echo >> data/f && rm -r data", testcase.Outcome{Kind: testcase.OK}, "in\x00file"},
			{"noaslr", `cat /proc/self/personality 2>/dev/null || echo 00040000`, testcase.Outcome{Kind: testcase.OK}, "00040000\n"},
			{"null", "echo x >/dev/null && head -c 3 /dev/zero", testcase.Outcome{Kind: testcase.OK}, "\x00\x00\x00"},
		} {
			agree(t, shell(t, c.script), wants(string(m)+"-"+strings.ReplaceAll(c.id, " ", "-"), c.o, c.out,
				testcase.Stdin([]byte("in\x00put")), testcase.Argv(3, []byte("sh")), testcase.Argv(4, []byte("arg\x00x")),
				testcase.Env("V", []byte("val\x00x")), testcase.File("data/f", []byte("in\x00file"))),
				Options{Mode: m})
		}
	}
}

func TestSegfaultAndAssertOfC(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("skipped: no C compiler")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "a.c")
	if err := os.WriteFile(src, []byte(`#include <assert.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
	char b[8] = {0};
	fread(b, 1, 4, stdin);
	if (!strcmp(b, "boom")) *(volatile int *)8 = 1;
	assert(b[0] != 'x');
	return b[0] == 'e' ? 3 : 0;
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "a")
	if out, err := exec.Command(cc, "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	g := testcase.Target{Kind: testcase.Program, Path: bin, Argv: []string{bin}, Cwd: dir}
	for _, m := range modes(t) {
		for in, o := range map[string]testcase.Outcome{
			"boom": {Kind: testcase.Crash, Signal: "SIGSEGV"},
			"xxxx": {Kind: testcase.Assertion, Signal: "SIGABRT"},
			"exit": {Kind: testcase.Exit, ExitStatus: 3},
			"fine": {Kind: testcase.OK},
		} {
			agree(t, g, wants(in, o, "", testcase.Stdin([]byte(in))), Options{Mode: m})
		}
	}
}

func TestVerdicts(t *testing.T) {
	m := modes(t)[0]
	ok := testcase.Outcome{Kind: testcase.OK}
	limited := wants("limited", ok, "")
	limited.EndedBy = "instructions"
	for _, c := range []struct {
		script string
		test   testcase.Test
		want   Verdict
		runs   int
	}{
		{"echo a", wants("agreed", ok, "a\n"), Agreed, 1},
		{"echo a", wants("output", ok, "b\n"), Diverged, 5},
		{"exit 1", wants("outcome", ok, ""), Diverged, 5},
		{"head -c 8 /dev/urandom", wants("random", ok, ""), Unstable, 2},
		{"grep stack /proc/self/maps", wants("addresses", ok, ""), Unstable, 2},
		{"echo a", wants("unsupported", testcase.Outcome{Kind: testcase.Unsupported}, ""), Skipped, 0},
		{"echo a", limited, Skipped, 0},
	} {
		r := runOne(t, shell(t, c.script), c.test, Options{Mode: m})
		if r.Verdict != c.want || len(r.Runs) != c.runs || (r.Why == "") != (c.want == Agreed) {
			t.Errorf("%s: %s after %d runs (%s), want %s", c.test.ID, r.Verdict, len(r.Runs), r.Why, c.want)
		}
	}
}

// TestHang also leaves a background process: nothing may outlive the run.
func TestHang(t *testing.T) {
	for _, m := range append(modes(t), Unconfined) {
		g := shell(t, "sleep 1000 & setsid sleep 1000 & wait")
		start := time.Now()
		agree(t, g, wants("hang-"+string(m), testcase.Outcome{Kind: testcase.Hang}, "unknown"),
			Options{Mode: m, Limits: Limits{Time: 300 * time.Millisecond}})
		t.Logf("%s: %v", m, time.Since(start))
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		if _, err := Run(ctx, g, []testcase.Test{wants("x", testcase.Outcome{}, "")}, Options{Mode: m}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled run: %v", m, err)
		}
	}
}

// What takes longer than it may only because the host is slow does not hang: it is run once more, with more time.
func TestSlowHost(t *testing.T) {
	for _, m := range modes(t) {
		agree(t, shell(t, "sleep 2; echo done"), wants("slow-"+string(m), testcase.Outcome{Kind: testcase.OK}, "done\n"),
			Options{Mode: m, Limits: Limits{Time: time.Second}})
	}
}

// TestConfined tries to reach the host in the ways that matter.
func TestConfined(t *testing.T) {
	if _, err := os.Stat(python); err != nil {
		t.Skip("skipped: no ", python)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	victim := exec.Command("sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer victim.Process.Kill()
	for _, m := range modes(t) {
		dir := t.TempDir()
		mine := filepath.Join(dir, "mine")
		if err := os.WriteFile(mine, []byte("host"), 0o644); err != nil {
			t.Fatal(err)
		}
		mark := "symchef-escape-" + string(m)
		script := `
import os, socket, sys, signal, shutil
dir, home, mark, victim = sys.argv[1:]
assert open(dir + "/mine").read() == "host"
def attempt(f):
    try: f()
    except Exception: pass
for d in [dir, home, "/tmp", "/var/tmp", "/dev/shm", "/etc", "/root", "/"]:
    attempt(lambda: open(d + "/" + mark, "w").write("x"))
attempt(lambda: os.chmod(dir + "/mine", 0))
attempt(lambda: os.utime(dir + "/mine", (1, 1)))
attempt(lambda: os.truncate(dir + "/mine", 0))
attempt(lambda: os.unlink(dir + "/mine"))
attempt(lambda: os.kill(int(victim), signal.SIGKILL))
attempt(lambda: os.kill(-1, 0))
for name in ["0.0.0.0", "1.1.1.1"]:
    try: socket.create_connection((name, 80), 5); print("connected")
    except OSError: pass
import ctypes
c = ctypes.CDLL(None)
print("mount", c.mount(b"none", b"/tmp", b"tmpfs", 0, None))
print("remount", c.mount(None, b"/sys", None, 32 | 4096, None))
print("chroot", c.chroot(b"/tmp"))
`
		g := testcase.Target{
			Kind: testcase.Program, Path: python, Cwd: dir, Env: []string{"HOME=" + home},
			Argv: []string{python, "-c", script, dir, home, mark, itoa(victim.Process.Pid)},
		}
		agree(t, g, wants("escape-"+string(m), testcase.Outcome{Kind: testcase.OK}, "mount -1\nremount -1\nchroot -1\n"), Options{Mode: m})
		if b, err := os.ReadFile(mine); err != nil || string(b) != "host" {
			t.Errorf("%s: the host's file is now %q, %v", m, b, err)
		}
		if st, err := os.Stat(mine); err != nil || st.Mode() != 0o644 || st.ModTime().Unix() == 1 {
			t.Errorf("%s: the host's file: %v, %v", m, st, err)
		}
		for _, d := range []string{dir, home, "/tmp", "/var/tmp", "/dev/shm", "/etc", "/root", "/"} {
			if _, err := os.Lstat(filepath.Join(d, mark)); err == nil {
				t.Errorf("%s: wrote to the host's %s", m, d)
				os.Remove(filepath.Join(d, mark))
			}
		}
		if err := victim.Process.Signal(syscall0); err != nil {
			t.Errorf("%s: killed a process of the host: %v", m, err)
		}
	}
}

func TestWritesVanish(t *testing.T) {
	if err := Probe(context.Background(), Namespaces); err != nil {
		t.Skip("skipped: ", err)
	}
	g := shell(t, "echo x >f && cat f && echo y >$HOME/f && cat $HOME/f; ls /run")
	g.Env = append(g.Env, "HOME="+g.Cwd)
	agree(t, g, wants("w", testcase.Outcome{Kind: testcase.OK}, "x\ny\n"), Options{Mode: Namespaces})
	if names, _ := os.ReadDir(g.Cwd); len(names) != 0 {
		t.Errorf("left %v", names)
	}
}

func TestLimits(t *testing.T) {
	for _, m := range modes(t) {
		// What is refused at a limit, or ended by one, does something else than the machine: that is no divergence.
		for _, c := range []struct {
			script, what string
			in           Mode // empty: both
		}{
			{"ulimit -c; head -c 200000000 /dev/zero >$TMPDIR/big 2>/dev/null; echo $?", "16 MiB in a file", ""},
			{"exec head -c 200000000 /dev/zero >$TMPDIR/big", "16 MiB in a file", ""},
			{"trap '' XFSZ; head -c 200000000 /dev/zero >$TMPDIR/big 2>/dev/null; echo $?", "16 MiB in a file", ""},
			{"for i in 1 2 3 4 5; do head -c 10000000 /dev/zero >$TMPDIR/$i 2>/dev/null; echo $?; done", "32 MiB of files", ""},
			{"for i in 1 2 3 4 5; do head -c 10000000 /dev/zero >/dev/shm/$i 2>/dev/null; echo $?; done; sleep 0.1; rm /dev/shm/*", "32 MiB of files", Namespaces},
			{"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do sleep 5 & done 2>/dev/null; wait", "32 processes and threads", ""},
			{"head -c 100000000 /dev/zero", "64 MiB of output", ""},
			{"head -c 100000000 /dev/zero >&2; sleep 5", "64 MiB of output", ""},
		} {
			if c.in != "" && c.in != m {
				continue
			}
			g := shell(t, c.script)
			g.Env = append(g.Env, "TMPDIR=/tmp")
			r := runOne(t, g, wants("size", testcase.Outcome{Kind: testcase.OK}, "another"), Options{Mode: m, Limits: Limits{FileSize: 16 << 20, Disk: 32 << 20, Processes: 32, Time: 10 * time.Second}})
			if want := "it takes more than replay allows: " + c.what; r.Verdict != Skipped || r.Why != want {
				t.Errorf("%s: %s: %s, %s, want %s", m, c.script, r.Verdict, r.Why, want)
			}
		}
		cpu := runOne(t, shell(t, "while :; do :; done"), wants("cpu", testcase.Outcome{Kind: testcase.Hang}, ""),
			Options{Mode: m, Limits: Limits{CPU: time.Second, Time: time.Minute}})
		if cpu.Verdict != Agreed {
			t.Errorf("%s: endless loop: %s %s", m, cpu.Verdict, cpu.Why)
		}
	}
}

// What a program leaves in files takes no longer to be looked at than there is room for: a file of tens of megabytes is one call.
func TestHoles(t *testing.T) {
	for _, m := range modes(t) {
		g := shell(t, "cd $TMPDIR; i=0; while [ $i -lt 150 ]; do i=$((i+1)); echo $i; done | xargs truncate -s 60M")
		g.Env = append(g.Env, "TMPDIR=/tmp")
		start := time.Now()
		r := runOne(t, g, wants("holes", testcase.Outcome{Kind: testcase.OK}, "another"), Options{Mode: m})
		if want := "it takes more than replay allows: more than 256 MiB of files"; r.Verdict != Skipped || r.Why != want {
			t.Errorf("%s: %s: %s, want %s", m, r.Verdict, r.Why, want)
		}
		if pace.Exceeds(t, start, 6*time.Second) {
			t.Errorf("%s: took %v", m, time.Since(start))
		}
		machine := wants("machine", testcase.Outcome{Kind: testcase.OK}, "")
		machine.Files = []testcase.FileEffect{{Path: "/f", Change: testcase.Made, Kind: testcase.RegularFile, Mode: "0600", Size: 1 << 30}}
		if r := runOne(t, shell(t, ""), machine, Options{Mode: m}); r.Verdict != Skipped || !strings.Contains(r.Why, "more than 256 MiB of files") {
			t.Errorf("%s: %s: %s", m, r.Verdict, r.Why)
		}
	}
}

func TestLargeOutput(t *testing.T) {
	out := strings.Repeat("\x00", 20<<20)
	r := runOne(t, shell(t, "head -c 20971520 /dev/zero"), wants("large", testcase.Outcome{Kind: testcase.OK}, out), Options{Mode: modes(t)[0]})
	if r.Verdict != Agreed || len(r.Runs[0].Stdout) != keep {
		t.Errorf("%s %s, kept %d", r.Verdict, r.Why, len(r.Runs[0].Stdout))
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	_, err := Run(ctx, shell(t, ""), nil, Options{Mode: "none such"})
	if !errors.Is(err, ErrNoConfinement) {
		t.Errorf("unknown mode: %v", err)
	}
	if rep, err := Run(ctx, shell(t, ""), nil, Options{Mode: "none such", Unconfined: true}); err != nil || rep.Mode != Unconfined {
		t.Errorf("unconfined: %v, %v", rep.Mode, err)
	}
	// A folder that no PYTHONPATH can name (before: diverged).
	for _, o := range []Options{{Mode: Landlock}, {Mode: Unconfined, Unconfined: true}} {
		o.GuestLib = "/tmp/a:b"
		if _, err := Run(ctx, testcase.Target{Kind: "lua", Interpreter: "/bin/true", Path: "/bin/true", Cwd: "/", Argv: []string{"true"}}, nil, o); !errors.Is(err, ErrNoConfinement) || !strings.Contains(err.Error(), "set TMPDIR") {
			t.Errorf("a guest library in a folder with ':': %v", err)
		}
	}
	g := shell(t, "")
	g.Path = "/nonexistent/interpreter"
	if _, err := Run(ctx, g, []testcase.Test{wants("x", testcase.Outcome{}, "")}, Options{Mode: modes(t)[0]}); err == nil ||
		!strings.Contains(err.Error(), "/nonexistent/interpreter") {
		t.Errorf("missing program: %v", err)
	}
}

// Standard error is compared, but for what may differ.
func TestStandardError(t *testing.T) {
	stderr := func(c testcase.Test, text string) testcase.Test {
		var d testcase.StderrDigest
		d.Write([]byte(text))
		c.StderrSHA256, c.StderrBytes = d.Sum()
		return c
	}
	g := shell(t, `echo out; echo "<o at 0x$(printf %x $$)>" >&2`)
	for _, m := range modes(t) {
		agree(t, g, stderr(wants("t1", testcase.Outcome{Kind: testcase.OK}, "out\n"), "<o at 0x7fffffff>\n"), Options{Mode: m})
		agree(t, g, wants("t2", testcase.Outcome{Kind: testcase.OK}, "out\n"), Options{Mode: m}) // which nobody has recorded
		r := runOne(t, g, stderr(wants("t3", testcase.Outcome{Kind: testcase.OK}, "out\n"), "<p at 0x7fffffff>\n"), Options{Mode: m})
		if r.Verdict != Diverged || !strings.HasPrefix(r.Why, "standard error ") {
			t.Errorf("%s: %s: %s", m, r.Verdict, r.Why)
		}
	}
}
