package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// snapshots lists the entries of a cache folder.
func snapshots(t *testing.T, b *box) []string {
	t.Helper()
	l, err := filepath.Glob(b.path("cache/symchef/*.snap"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Where ptrace is not allowed, the interpreter starts in the machine, and one line says why.
func TestNoPtrace(t *testing.T) {
	b := pythonBox(t)
	b.write("test_s.py", "import symchef\ndef test_s(x: symchef.Bool()): print(x)\n")
	r := b.on("nothing", "run", "--boot", "native", "--no-cache", "--no-replay", "--out", "out", "test_s.py").want(0, "2 test cases")
	if r.stderr != "symchef: native boot: ptrace is not allowed: operation not permitted; the machine goes on\n" {
		t.Errorf("%q", r.stderr)
	}
}

// A second start comes from the boot snapshot, unless anything that the boot
// depended on has changed or the entry is not what was written.
func TestSnapshot(t *testing.T) {
	b := pythonBox(t)
	b.env[2] = "XDG_CACHE_HOME=" + b.path("cache")
	b.write("helper.py", "VALUE = 1\n")
	b.write("test_s.py", "import symchef, helper, os\nos.path.exists('flag')\ndef test_s(x: symchef.Bool()): print(x, helper.VALUE)\n")
	start := func(what string, fromSnapshot bool, output string) {
		t.Helper()
		b.run("run", "--no-replay", "--out", b.path("out"), b.path("test_s.py")).want(0, "2 test cases")
		sum, tests := b.load("out")
		if sum.FromSnapshot != fromSnapshot || sum.Target.Name != "test_s" {
			t.Errorf("%s: from a snapshot: %v, want %v", what, sum.FromSnapshot, fromSnapshot)
		}
		for _, x := range tests {
			if out := b.output("out", x); !strings.HasSuffix(out, output+"\n") {
				t.Errorf("%s: output %q", what, out)
			}
		}
	}
	start("first", false, "1")
	start("second", true, "1")
	for path, mode := range map[string]os.FileMode{b.path("cache/symchef"): 0o700, snapshots(t, b)[0]: 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}

	b.write("helper.py", "VALUE = 22\n")
	start("changed module", false, "22")
	b.write("flag", "")
	start("a file that was looked for appeared", false, "22")
	start("unchanged", true, "22")
	env := b.env
	b.env = append(b.env, "COLOUR=red")
	start("a variable that no run takes", true, "22")
	b.env = append(b.env, "TZ=EST")
	start("another variable", false, "22")
	b.env = env
	start("the old environment", true, "22")
	dir := b.dir
	b.write("sub/x", "")
	b.dir = filepath.Join(dir, "sub")
	b.run("run", "--no-replay", "--out", filepath.Join(dir, "out"), "../test_s.py").want(0)
	b.dir = dir
	if sum, _ := b.load("out"); sum.FromSnapshot {
		t.Error("a snapshot of another working directory was used")
	}

	entries := snapshots(t, b)
	if len(entries) != 3 {
		t.Fatalf("%d entries", len(entries))
	}
	// Each entry gets the content of the next, all of them well-formed.
	first, err := os.ReadFile(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		next := first
		if i+1 < len(entries) {
			if next, err = os.ReadFile(entries[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(e, next, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start("foreign", false, "22")
	for _, e := range entries {
		if err := os.Truncate(e, int64(len(first)/2)); err != nil {
			t.Fatal(err)
		}
	}
	start("truncated", false, "22")
	start("rebuilt", true, "22")
	if err := os.Chmod(b.path("cache/symchef"), 0o777); err != nil {
		t.Fatal(err)
	}
	start("an open folder", true, "22")
	if st, err := os.Stat(b.path("cache/symchef")); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder stays open: %v, %v", st.Mode(), err)
	}
}

// Without a cache that can be written a run is slower, no more. Concurrent runs share one.
func TestSnapshotTrouble(t *testing.T) {
	b := pythonBox(t)
	file := b.write("file", "")
	b.write("test_s.py", "import symchef\ndef test_s(x: symchef.Bool()): print(x)\n")
	b.write("own/test_s.py", "import symchef\ndef test_s(x: symchef.Bool()): print(x)\n")
	t.Run("unwritable", func(t *testing.T) {
		t.Parallel()
		in := *b
		in.t, in.env = t, append(b.env[:2:2], "XDG_CACHE_HOME="+file)
		in.run("run", "--no-replay", "--out", "out-u", "test_s.py").want(0, "2 test cases")
	})
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		in := *b
		in.t, in.env = t, append(b.env[:2:2], "XDG_CACHE_HOME="+b.path("small"))
		cmd := exec.Command("sh", "-c", `ulimit -f 1000 && exec "$0" "$@"`, binary, "run", "--no-replay", "--out", "out-f", "test_s.py")
		cmd.Dir, cmd.Env = in.dir, in.env
		in.finish(cmd).want(0, "2 test cases")
		for _, pattern := range []string{"small/symchef/*.snap", "small/symchef/new-*"} {
			if l, _ := filepath.Glob(b.path(pattern)); len(l) != 0 {
				t.Errorf("left behind: %v", l)
			}
		}
	})
	t.Run("concurrent", func(t *testing.T) {
		t.Parallel()
		in := *b
		in.t, in.env = t, append(b.env[:2:2], "XDG_CACHE_HOME="+b.path("cache"))
		// In a folder of their own: a new entry beside the test is a reason not to use the snapshot.
		in.dir = b.path("own")
		var waits []func() result
		for _, dir := range []string{"../outs/1", "../outs/2"} {
			waits = append(waits, in.start(in.command("run", "--no-replay", "--out", dir, "test_s.py")))
		}
		for _, wait := range waits {
			wait().want(0, "2 test cases")
		}
		in.run("run", "--no-replay", "--out", "../outs/3", "test_s.py").want(0, "2 test cases")
		if sum, _ := in.load("../outs/3"); !sum.FromSnapshot || len(snapshots(t, b)) != 1 {
			t.Errorf("from a snapshot: %v, %d entries", sum.FromSnapshot, len(snapshots(t, b)))
		}
	})
}
