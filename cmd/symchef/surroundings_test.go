package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"symchef/internal/seed"
)

// brief ends a command that hangs.
func (b *box) brief(cmd *exec.Cmd) result {
	b.t.Helper()
	timer := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	return b.finish(cmd)
}

// clear fails the test unless the command said at most one line, beginning as all do, with status 2, or did its work.
func (r result) clear(what string) {
	r.t.Helper()
	switch lines := strings.Count(r.stderr, "\n"); {
	case r.status == 2 && lines == 1 && strings.HasPrefix(r.stderr, "symchef: ") && len(r.stderr) < 500:
	case r.status == 0 || r.status == 4: // it did its work
	default:
		r.t.Errorf("%s: symchef %s: status %d, %s", what, r.command, r.status, r.stderr)
	}
}

// damages are what may become of a file.
var damages = map[string]func(path string) error{
	"missing": os.Remove,
	"empty":   func(path string) error { return os.Truncate(path, 0) },
	"cut":     func(path string) error { st, err := os.Stat(path); os.Truncate(path, st.Size()/2); return err },
	"garbled": func(path string) error { return os.WriteFile(path, []byte("{\"\x00\xff]\n[1,2]\n"), 0o644) },
	"null":    func(path string) error { return os.WriteFile(path, []byte("null\n"), 0o644) },
	"pipe":    func(path string) error { os.Remove(path); return syscall.Mkfifo(path, 0o644) },
	"folder":  func(path string) error { os.Remove(path); return os.MkdirAll(filepath.Join(path, "x"), 0o755) },
	"link":    func(path string) error { os.Remove(path); return os.Symlink("/dev/zero", path) },
	"loop":    func(path string) error { os.Remove(path); return os.Symlink(filepath.Base(path), path) },
}

// Whatever became of a file of a run directory, each command that reads it says so in one line with status 2, or does not need it. None hangs, and
// none takes it for symchef's own mistake.
func TestDamagedDirectories(t *testing.T) {
	b := pythonBox(t)
	b.write("test_d.py", "import symchef\ndef test_d(n: symchef.Int(0, 5)):\n    for i in range(6):\n        if n == i: print(i)\n")
	b.run("run", "--out", "good", "--max-paths", "3", "test_d.py").want(0, "not exhausted:")
	files, err := os.ReadDir(b.path("good"))
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	commands := [][]string{{"replay", "bad"}, {"rerun", "bad"}, {"emit", "bad"}, {"tree", "bad"}, {"smt2", "bad", "t000001"}, {"run", "--resume", "bad", "--no-replay", "--max-paths", "1"},
		{"run", "--out", "bad", "--no-replay", "--max-paths", "1", "test_d.py"}}
	for _, f := range files {
		for name, damage := range damages {
			t.Run(f.Name()+" "+name, func(t *testing.T) {
				in := pythonBox(t)
				in.env[2] = b.env[2]
				for i, args := range commands {
					if os.Getenv("SYMCHEF_SLOW") == "" && i != 5 && (len(name)+len(f.Name())+i)%4 != 0 {
						continue // a part of them
					}
					os.RemoveAll(in.path("bad"))
					if out, err := exec.Command("cp", "-a", b.path("good"), in.path("bad")).CombinedOutput(); err != nil {
						t.Fatalf("%s", out)
					}
					if err := damage(in.path("bad/" + f.Name())); err != nil {
						t.Fatal(err)
					}
					cmd := in.command(args...)
					cmd.Dir = in.dir
					if i == len(commands)-1 {
						cmd.Args[len(cmd.Args)-1] = b.path("test_d.py")
					}
					in.brief(cmd).clear(name)
				}
			})
		}
	}
}

// A byte of a run directory that has changed makes no command hang or fail as symchef's own mistake.
func TestFlippedBytes(t *testing.T) {
	b := pythonBox(t)
	b.write("test_d.py", "import symchef\ndef test_d(n: symchef.Int(0, 5)):\n    for i in range(6):\n        if n == i: print(i)\n")
	b.run("run", "--out", "good", "--max-paths", "3", "test_d.py").want(0, "not exhausted:")
	r := seed.Rand(t)
	rounds := 12
	if os.Getenv("SYMCHEF_SLOW") != "" {
		rounds = 300
	}
	commands := [][]string{{"replay", "bad"}, {"rerun", "bad"}, {"emit", "bad"}, {"tree", "bad"}, {"run", "--resume", "bad", "--no-replay", "--max-paths", "1"}}
	names := []string{"summary.json", "tests.jsonl", "frontier.bin", "host.bin", "tree.json", "replay.jsonl"}
	for range rounds {
		os.RemoveAll(b.path("bad"))
		if out, err := exec.Command("cp", "-a", b.path("good"), b.path("bad")).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
		path := b.path("bad/" + names[r.IntN(len(names))])
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at, bit := r.IntN(len(text)), r.IntN(8)
		text[at] ^= 1 << bit
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		args := commands[r.IntN(len(commands))]
		if res := b.brief(b.command(args...)); res.status == 3 && args[0] != "rerun" { // another input or output is another path
			t.Errorf("bit %d of byte %d of %s: symchef %s: status 3, %s", bit, at, path, res.command, res.stderr)
		}
	}
}

// A run directory that somebody else has made is refused where what it says of a test case cannot be: it would be a command in an emitted script, or a file elsewhere.
func TestForeignDirectories(t *testing.T) {
	b := newBox(t)
	b.compile("p", "#include <unistd.h>\nint main() { char c = 0; return read(0, &c, 1) == 1 && c == 'x'; }")
	b.run("run", "--out", "good", "--no-replay", "--stdin", "1", "--file", "f:1", "--", "./p").want(0)
	for _, c := range []struct{ old, is, want string }{
		{`"output_sha256":"`, `"output_sha256":"x\ntouch owned\n`, "is no digest"},
		{`"stderr_sha256":"`, `"stderr_sha256":"$(touch owned)`, "is no digest"},
		{`"name":"f"`, `"name":"../f"`, "relative to the working directory"},
		{`"name":"f"`, `"name":"/tmp/f"`, "relative to the working directory"},
	} {
		text, err := os.ReadFile(b.path("good/tests.jsonl"))
		if err != nil || !strings.Contains(string(text), c.old) {
			t.Fatal(err, string(text))
		}
		os.RemoveAll(b.path("bad"))
		if out, err := exec.Command("cp", "-a", b.path("good"), b.path("bad")).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
		b.write("bad/tests.jsonl", strings.ReplaceAll(string(text), c.old, c.is))
		for _, command := range []string{"emit", "replay"} {
			b.run(command, "bad").oneLine(2, c.want)
		}
	}
}

// Names of the host that have what moves the cursor of a terminal, or ends the line, are shown escaped.
func TestControlCharacters(t *testing.T) {
	b := newBox(t)
	const folder = "d\x1b[31m\nx\x7f"
	b.write(folder+"/a.py", "")
	b.compile("p", "#include <unistd.h>\nint main() { char c = 0; return read(0, &c, 1) == 1 && c == 'x' ? 1 : 0; }")
	if err := os.Rename(b.path("p"), b.path(folder+"/p\u009b2J")); err != nil {
		t.Fatal(err)
	}
	out := folder + "/out"
	for _, args := range [][]string{
		{"run", "--out", out, "--stdin", "1", "--", "./" + folder + "/p\u009b2J", "\x1b]0;a\a"}, {"replay", out}, {"tree", out}, {"tree", "--format", "svg", out}, {"rerun", out}, {"run", "--resume", out},
		{"smt2", out, "\x1b[2J"}, {"run", folder + "/none"}, {"run", "--none\x1b[2J"}, {"none\x1b[2J"}, {"replay", "none\x1b[2J"}, {"run", "--language", "\x1b[2J", "x"},
		{"run", "--strategy", "\x1b[2J", "x"}, {"emit", "--format", "\x1b[2J", out}, {"doctor", "\x1b[2J"},
	} {
		r := b.run(args...)
		if shown := r.stdout + r.stderr; strings.ContainsFunc(shown, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
			t.Errorf("%q: %q", args, shown)
		} else if args[0] == "run" && r.status < 2 && !strings.Contains(shown, `d\x1b[31m\nx\x7f/p\u009b2J on `) {
			t.Errorf("%q: %s", args, shown)
		}
	}
}

// What a run finds around itself: a line and status 2, or the work is done all the same.
func TestSurroundings(t *testing.T) {
	const test = "import symchef\ndef test_s(x: symchef.Bool()): print(x)\n"
	works := func(r result) { r.want(0, "2 test cases") }
	refused := func(text string) func(result) { return func(r result) { r.oneLine(2, text) } }
	run := []string{"run", "--out", "out", "test_s.py"}
	first := func(b *box) string { // a cache file; replay would make those of other worlds
		b.run(append(slices.Clone(run), "--no-replay")...).want(0)
		l, err := filepath.Glob(b.path("cache/symchef/*.snap"))
		if err != nil || len(l) != 1 {
			b.t.Fatal(l, err)
		}
		return l[0]
	}
	unnameable := func(b *box) { b.write("a:b/x", ""); b.env = append(b.env, "TMPDIR="+b.path("a:b")) }
	for _, c := range []struct {
		name  string
		setup func(b *box)
		args  []string
		want  func(result)
	}{
		{"pipe for a cache entry", func(b *box) { damages["pipe"](first(b)) }, run, works},
		{"link for a cache entry", func(b *box) { damages["link"](first(b)) }, run, works},
		{"folder for a cache entry", func(b *box) { damages["folder"](first(b)) }, run, works},
		{"garbled cache entry", func(b *box) { damages["garbled"](first(b)) }, run, works},
		{"pipe for the cache", func(b *box) { b.write("cache/x", ""); syscall.Mkfifo(b.path("cache/symchef"), 0o600) }, run, works},
		{"link for the cache", func(b *box) { b.write("cache/x", ""); os.Symlink("/dev/zero", b.path("cache/symchef")) }, run, works},
		{"loop for the cache", func(b *box) { b.write("cache/x", ""); os.Symlink("symchef", b.path("cache/symchef")) }, run, works},
		{"file for the cache", func(b *box) { b.write("cache/symchef", "") }, run, works},
		{"no home", func(b *box) { b.env = b.env[:1] }, run, works},
		{"a home that is not there", func(b *box) { b.env = []string{b.env[0], "HOME=" + b.path("gone/home")} }, run, works},
		{"a home that is a file", func(b *box) { b.env = []string{b.env[0], "HOME=" + b.write("file", "")} }, run, works},
		{"no folder for temporary files", func(b *box) { b.env = append(b.env, "TMPDIR="+b.path("gone")) }, run, refused("no temporary folder can be made in ")},
		{"a file for temporary files", func(b *box) { b.env = append(b.env, "TMPDIR="+b.write("file", "")) }, run, refused("no temporary folder can be made in ")},
		{"a read-only folder for temporary files", func(b *box) { b.env = append(b.env, "TMPDIR=/proc/self") }, run, refused("no temporary folder can be made in ")},
		{"temporary files without replay", func(b *box) { b.env = append(b.env, "TMPDIR="+b.path("gone")) }, []string{"run", "--no-replay", "--out", "out", "test_s.py"}, works},
		{"a folder that is not UTF-8", func(b *box) {
			b.write("\xff\xfe/test_s.py", test)
			b.dir = b.path("\xff\xfe")
		}, run, works},
		{"a test that is not UTF-8", func(b *box) { b.write("test_\xff.py", test) }, []string{"run", "--out", "out", "test_\xff.py"}, works},
		{"a run directory that is not UTF-8", func(b *box) {}, []string{"run", "--out", "out\xff", "test_s.py"}, works},
		{"temporary files that are not UTF-8", func(b *box) { b.write("\xff/x", ""); b.env = append(b.env, "TMPDIR="+b.path("\xff")) }, run, refused("is not UTF-8")},
		{"temporary files where no list of folders can name them", unnameable, run, works},
		{"the same without namespaces", unnameable, append(slices.Clone(run), "--replay", "landlock"), refused("set TMPDIR")},
		{"the same, going on", func(b *box) {
			b.run("run", "--no-replay", "--max-paths", "1", "--out", "out", "test_s.py")
			unnameable(b)
		}, []string{"run", "--resume", "out", "--replay", "landlock"}, refused("set TMPDIR")},
		{"the same, without replay", unnameable, append(slices.Clone(run), "--no-replay"), works},
		{"the same, replay alone", func(b *box) { b.run(append(slices.Clone(run), "--no-replay")...); unnameable(b) }, []string{"replay", "--replay", "landlock", "out"}, refused("set TMPDIR")},
		{"a variable that is not UTF-8", func(b *box) { b.env = append(b.env, "PYTHONPATH=\xff") }, run, works},
		{"a run directory in a file", func(b *box) { b.write("file", "") }, []string{"run", "--out", "file/out", "test_s.py"}, refused("cannot write the run directory")},
		{"a run directory where nothing can be made", func(b *box) {}, []string{"run", "--out", "/proc/self/out", "test_s.py"}, refused("cannot write the run directory")},
		{"a pipe for a run directory", func(b *box) { syscall.Mkfifo(b.path("pipe"), 0o600) }, []string{"run", "--out", "pipe", "test_s.py"}, refused("cannot write the run directory")},
		{"a loop for a run directory", func(b *box) { os.Symlink("loop", b.path("loop")) }, []string{"run", "--out", "loop", "test_s.py"}, refused("cannot write the run directory")},
		{"a pipe for an interpreter", func(b *box) { syscall.Mkfifo(b.path("pipe"), 0o700) }, []string{"run", "--out", "out", "--interpreter", "./pipe", "test_s.py"}, refused("is not a program")},
		{"a pipe for a program", func(b *box) { syscall.Mkfifo(b.path("pipe"), 0o700) }, []string{"run", "--out", "out", "--stdin", "1", "--", "./pipe"}, refused("is not a program")},
		{"a pipe among the tests", func(b *box) { syscall.Mkfifo(b.path("test_pipe.py"), 0o600) }, run, works},
		{"a pipe beside the test", func(b *box) { syscall.Mkfifo(b.path("symchef"), 0o600) }, run, works},
		{"a pipe for a run directory to read", func(b *box) { syscall.Mkfifo(b.path("pipe"), 0o600) }, []string{"replay", "pipe"}, refused("pipe")},
		{"a device for a run directory to read", func(b *box) {}, []string{"emit", "/dev/zero"}, refused("/dev/zero")},
		{"a run directory that cannot be written any more", func(b *box) { b.run(run...); exec.Command("chattr", "+i", b.path("out")).Run() }, []string{"run", "--out", "/sys/kernel/out", "test_s.py"}, refused("cannot write the run directory")},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := pythonBox(t)
			b.env[2] = "XDG_CACHE_HOME=" + b.path("cache")
			b.write("test_s.py", test)
			c.setup(b)
			t.Cleanup(func() { exec.Command("chattr", "-i", b.path("out")).Run() })
			c.want(b.brief(b.command(c.args...)))
			for _, made := range []string{"gone", "?", "~"} {
				if _, err := os.Stat(b.path(made)); err == nil {
					t.Errorf("%s was made", made)
				}
			}
		})
	}
}

// A mask that takes files from their owner is not followed.
func TestUmask(t *testing.T) {
	b := newBox(t)
	b.compile("p", shout)
	cmd := b.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `umask 777; exec "$0" run --stdin 1 -- ./p`, binary}
	b.finish(cmd).want(1, "3 agreed")
}

// A working directory that is gone is said.
func TestNoDirectory(t *testing.T) {
	b := pythonBox(t)
	b.write("test_s.py", "import symchef\ndef test_s(x: symchef.Bool()): print(x)\n")
	for _, args := range []string{"run %s/test_s.py", "run --stdin 1 -- /bin/cat", "replay out", "tree out"} {
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`mkdir gone && cd gone && rmdir ../gone && exec "$0" `+args, b.dir), binary)
		if !strings.Contains(args, "%s") {
			cmd = exec.Command("sh", "-c", `mkdir gone && cd gone && rmdir ../gone && exec "$0" `+args, binary)
		}
		cmd.Dir, cmd.Env = b.dir, b.env
		b.brief(cmd).clear(args)
	}
}

// Output that cannot be written is said by every command that writes any.
func TestFullStandardOutput(t *testing.T) {
	b := pythonBox(t)
	b.write("test_s.py", "import symchef\ndef test_s(x: symchef.Bool()): print(x)\n")
	b.run("run", "--out", "out", "test_s.py").want(0)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("skipped: ", err)
	}
	defer full.Close()
	for _, args := range []string{"run --out out test_s.py", "run --json --out out test_s.py", "replay out", "replay --json out", "rerun out", "emit out", "tree out", "tree --format json out",
		"smt2 out t000001", "doctor", "--version", "--help", "run --help", "calibrate " + python, "calibrate --json " + python, "exec /bin/echo x"} {
		cmd := b.command(strings.Fields(args)...)
		cmd.Stdout = full
		b.brief(cmd).oneLine(2, "cannot write to standard output: no space left on device")
	}
}
