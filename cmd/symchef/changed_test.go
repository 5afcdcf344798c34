package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	again("flag", func() { b.write("flag", "") }, func() { os.Remove(b.path("flag")) }) // it was looked for
	b.run("rerun", "out").want(0, " 0 strayed")
	b.run("run", "--resume", "out").want(0, ": every input within the declared bounds", " 0 diverged")
}

// late is a test that lists folders, looks for files and imports after it has begun.
const late = `import symchef, os, json, pkg.core
here = os.path.dirname(os.path.abspath(__file__))
def test_late(n: symchef.Int(0, 20) = 15):
    if n > 10: return sorted(os.listdir(os.path.join(here, "d")))
    if n > 5: return os.path.exists("maybe"), os.path.exists("no/where")
    if n > 2:
        import sub.lazy
        return sub.lazy.VALUE
    for i in range(3):
        if n == i: return i
`

// What the test has listed, and what has been looked for in vain, may not change either: a new file there, one that is gone, a folder instead of it, and
// what would be imported instead of what was. What is compiled may come and go, and so may what is beside the test.
func TestLookedFor(t *testing.T) {
	b := pythonBox(t)
	b.write("test_late.py", late)
	b.write("d/a", "")
	b.write("pkg/__init__.py", "")
	b.write("pkg/core.py", "VALUE = 1\n")
	b.write("sub/__init__.py", "")
	b.write("sub/lazy.py", "VALUE = 2\n")
	b.run("run", "--out", "out", "--max-paths", "8", "--all-paths", "test_late.py").want(0, "not exhausted:", " 0 diverged")
	_, tests := b.load("out")
	agree := "re-executed: " + strconv.Itoa(len(tests)) + " agreed, 0 strayed"
	for _, row := range []struct {
		name, is   string
		change, to func()
	}{
		{"d/b", "is new", func() { b.write("d/b", "") }, func() { os.Remove(b.path("d/b")) }},
		{"d/a", "is gone", func() { os.Remove(b.path("d/a")) }, func() { b.write("d/a", "") }},
		{"d/a", "is another kind of file", func() { os.Remove(b.path("d/a")); os.Mkdir(b.path("d/a"), 0o755) }, func() { os.Remove(b.path("d/a")); b.write("d/a", "") }},
		{"d", "is gone", func() { os.Rename(b.path("d"), b.path("e")) }, func() { os.Rename(b.path("e"), b.path("d")) }},
		{"maybe", "is new", func() { b.write("maybe", "") }, func() { os.Remove(b.path("maybe")) }},
		{"no", "is new", func() { b.write("no/thing", "") }, func() { os.RemoveAll(b.path("no")) }},
		{"json.py", "is new", func() { b.write("json.py", "") }, func() { os.Remove(b.path("json.py")) }},
		{"json", "is new", func() { b.write("json/__init__.py", "") }, func() { os.RemoveAll(b.path("json")) }},
		{"pkg/core", "is new", func() { b.write("pkg/core/__init__.py", "") }, func() { os.RemoveAll(b.path("pkg/core")) }},
		{"pkg/core.abi3.so", "is new", func() { b.write("pkg/core.abi3.so", "") }, func() { os.Remove(b.path("pkg/core.abi3.so")) }},
		{"sub/other.py", "is new", func() { b.write("sub/other.py", "") }, func() { os.Remove(b.path("sub/other.py")) }},
	} {
		row.change()
		want := b.path(row.name) + " " + row.is + " since the run"
		b.run("rerun", "out").oneLine(2, want)
		b.run("run", "--resume", "out").oneLine(2, want)
		row.to()
		if t.Failed() {
			t.Fatal(row.name)
		}
	}
	for _, name := range []string{"__pycache__/json.cpython-311.pyc", "pkg/__pycache__/core.cpython-311.pyc", "sub/__pycache__/lazy.cpython-311.pyc", "notes.txt", "other.py", "core/readme.txt", "symchef-out-x/json.py"} {
		b.write(name, "")
	}
	b.run("emit", "-o", "test_late_gen.py", "out").want(0)
	b.run("rerun", "out").want(0, agree)
	b.run("replay", "out").want(0, " 0 diverged")
	b.run("run", "--resume", "out").want(0, ": every input within the declared bounds", " 0 diverged")
	b.write("d/b", "") // what a resumed run keeps is the same
	b.run("rerun", "out").oneLine(2, b.path("d/b")+" is new since the run")
}

// A program asks for all itself.
func TestProgramLookedFor(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", `#include <dirent.h>
#include <stdio.h>
#include <unistd.h>
int main() { int c = getchar(); if (c == 'x') { DIR *d = opendir("d"); int n = 0; while (readdir(d)) n++; printf("%d", n); } else if (c == 'y') printf("%d", access("maybe", F_OK)); return 0; }`)
	b.write("d/a", "")
	b.run("run", "--out", "out", "--stdin", "1", "--", "./p").want(0, "exhausted: ")
	for _, name := range []string{"d/b", "maybe"} {
		b.write(name, "")
		b.run("rerun", "out").oneLine(2, b.path(name)+" is new since the run")
		os.Remove(b.path(name))
	}
	b.write("other", "")
	b.run("rerun", "out").want(0, " 0 strayed")
}

// What is new changes nothing where nobody has looked for it: files beside the test and in folders that it lists before it begins, what emit and
// pytest write, run directories.
func TestNewFiles(t *testing.T) {
	b := rulesBox(t)
	b.run("run", "--out", "out", "--no-replay", "--max-paths", "10", "test_rules.py").want(0, "not exhausted:")
	b.run("emit", "-o", "test_rules_symchef.py", "out").want(0)
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
	for _, name := range []string{"folder/two", "notes.txt", "test_rules_symchef.py"} {
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
