package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rules is a test that depends on files in all the ways there are: imported, read, looked at, listed, not there, a link.
const rules = `import symchef, helper, os
data = open("data.txt").read()
there = os.path.exists("flag")
size = os.stat("sized.bin").st_size
names = len(os.listdir("folder"))
link = os.readlink("link")
def test_rules(n: symchef.Int(0, 60)):
    late = open("late.txt").read() if n > 3 else ""
    print(sum(1 for i in range(60) if n > i), data, late, helper.VALUE, size, names, link, there)
`

// rulesBox has the test and what it depends on.
func rulesBox(t *testing.T) *box {
	b := pythonBox(t)
	b.write("test_rules.py", rules)
	b.write("helper.py", "VALUE = 1\n")
	b.write("data.txt", "data")
	b.write("late.txt", "late")
	b.write("sized.bin", "1234")
	b.write("folder/one", "")
	if err := os.Symlink("data.txt", b.path("link")); err != nil {
		t.Fatal(err)
	}
	return b
}

// What a run depends on may not change: going on, and executing paths again, are refused with the name of what has. Back as it was, both work.
func TestChanged(t *testing.T) {
	b := rulesBox(t)
	again := func(name string, change, undo func()) {
		t.Helper()
		change()
		want := b.path(name) + " "
		b.run("rerun", "out").oneLine(2, want)
		b.run("run", "--resume", "out", "--max-paths", "1").oneLine(2, want)
		b.run("smt2", "out", "t000001").oneLine(2, want)
		undo()
	}
	b.run("run", "--out", "out", "--no-replay", "--max-paths", "10", "test_rules.py").want(0, "not exhausted:")
	for name, text := range map[string]string{"test_rules.py": rules + "#", "helper.py": "VALUE = 2\n", "data.txt": "date", "late.txt": "lade", "sized.bin": "12345"} {
		before, err := readFile(b.path(name))
		if err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(b.path(name))
		if err != nil {
			t.Fatal(err)
		}
		again(name, func() { b.write(name, text) }, func() { b.write(name, before) })
		again(name, func() { os.Rename(b.path(name), b.path("away")) }, func() { os.Rename(b.path("away"), b.path(name)) })
		again(name, func() { os.Chmod(b.path(name), 0o600) }, func() { os.Chmod(b.path(name), st.Mode()) })
		again(name, func() { // the same size and time, another content
			b.write(name, strings.Repeat("x", len(before)))
			os.Chtimes(b.path(name), st.ModTime(), st.ModTime())
		}, func() { b.write(name, before) })
	}
	again("link", func() { os.Remove(b.path("link")); os.Symlink("late.txt", b.path("link")) }, func() { os.Remove(b.path("link")); os.Symlink("data.txt", b.path("link")) })
	b.run("rerun", "out").want(0, " 0 strayed")
	b.run("run", "--resume", "out").want(0, ": every input within the declared bounds", " 0 diverged")
}

// What is new changes nothing: files beside the test and in folders that it lists, files that were looked for, what emit and pytest write, run directories.
func TestNewFiles(t *testing.T) {
	b := rulesBox(t)
	b.run("run", "--out", "out", "--no-replay", "--max-paths", "10", "test_rules.py").want(0, "not exhausted:")
	b.run("emit", "-o", "test_rules_symchef.py", "out").want(0)
	b.write("flag", "")
	b.write("folder/two", "")
	b.write("notes.txt", "")
	pytest := exec.Command(python, "-m", "pytest", "-q", "test_rules_symchef.py")
	pytest.Dir = b.dir
	pytest.CombinedOutput() // it may not be installed
	compile := exec.Command(python, "-m", "compileall", "-q", ".")
	compile.Dir = b.dir
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if l, _ := filepath.Glob(b.path("__pycache__/*")); len(l) < 3 {
		t.Fatalf("compiled: %v", l)
	}
	b.run("rerun", "out").want(0, "10 agreed, 0 strayed")
	b.run("run", "--no-replay", "--resume", "out").want(0, ": every input within the declared bounds")
	b.run("rerun", "out").want(0, " 0 strayed")
	_, resumed := b.load("out")
	os.RemoveAll(b.path("__pycache__"))
	for _, name := range []string{"flag", "folder/two", "notes.txt", "test_rules_symchef.py"} {
		os.Remove(b.path(name))
	}
	b.run("run", "--out", "whole", "--no-replay", "test_rules.py").want(0, ": every input within the declared bounds")
	if _, whole := b.load("whole"); outputs(b, "out", resumed) != outputs(b, "whole", whole) {
		t.Errorf("resumed\n%s\nat once\n%s", outputs(b, "out", resumed), outputs(b, "whole", whole))
	}
}

// Another interpreter in the place of that of the run, or another symchef, is noticed.
func TestOtherInterpreter(t *testing.T) {
	lua, err := exec.LookPath("lua5.4")
	if err != nil {
		t.Skip("skipped: lua5.4 is not installed")
	}
	t.Parallel()
	b := newBox(t)
	b.write("t.lua", "local symchef = require 'symchef'\nfunction test_x()\n  local n = symchef.integer('n', 0, 50, 0)\n  for i = 1, 50 do if n == i then print(i) end end\nend\n")
	text, err := readFile(lua)
	if err != nil {
		t.Fatal(err)
	}
	b.write("lua5.4", text)
	os.Chmod(b.path("lua5.4"), 0o755)
	b.run("run", "--interpreter", "./lua5.4", "--out", "out", "--no-replay", "--max-paths", "5", "t.lua").want(0, "not exhausted:")
	b.run("rerun", "out").want(0, " 0 strayed")
	b.write("lua5.4", text+"\x00")
	b.run("rerun", "out").oneLine(2, b.path("lua5.4")+" has changed since the run")
	b.run("run", "--resume", "out").oneLine(2, b.path("lua5.4")+" has changed since the run")
	b.write("lua5.4", text)
	other := b.path("symchef")
	build := exec.Command("go", "build", "-ldflags", "-buildid=another/build/of/symchef/with/an/identity/of/its/own", "-o", other, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, args := range [][]string{{"rerun", "out"}, {"run", "--resume", "out"}} {
		cmd := b.command(args...)
		cmd.Path = other
		b.finish(cmd).oneLine(2, "symchef has changed since the run")
	}
	b.run("run", "--resume", "out").want(0, ": every input within the declared bounds")
}
