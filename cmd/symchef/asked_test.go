package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/replay"
)

// nosy is an interpreter that leaves a mark, tells its environment and leaves a process behind, before it is the real one.
const nosy = `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int c, char **v) {
	int fd = open(MARK, O_WRONLY | O_APPEND | O_CREAT, 0666);
	dprintf(fd, "ran with %s\n", getenv("SECRET_TOKEN"));
	if (fork() == 0) { setsid(); execlp("sleep", "sleep", "4711", NULL); _exit(1); }
	execv(REAL, v);
	return 7; }`

// Whoever wrote a test may choose its interpreter, by #! or by an environment beside it: that one is asked what it is, and runs confined, without the user's
// environment, in every command, with --replay none, too.
func TestAskedConfined(t *testing.T) {
	if replay.Probe(t.Context(), replay.Namespaces) != nil && replay.Probe(t.Context(), replay.Landlock) != nil {
		t.Skip("skipped: neither user namespaces nor Landlock")
	}
	b := pythonBox(t)
	b.env = append(b.env, "SECRET_TOKEN=hunter2")
	mark := b.path("mark")
	nosy := b.compile("nosy", nosy, `-DMARK="`+mark+`"`, `-DREAL="`+python+`"`)
	script := "#!/bin/sh\necho \"ran with $SECRET_TOKEN\" >>" + mark + "\nsleep 4711 &\nexec " + python + " \"$@\"\n"
	test := "import symchef\n\ndef test_a(x: symchef.Int(0, 3)):\n    assert x != 2\n"
	venv := func(folder, program string) {
		b.write(folder+"/.venv/pyvenv.cfg", "home = /usr/bin\n")
		b.write(folder+"/test_a.py", test)
		os.MkdirAll(b.path(folder+"/.venv/bin"), 0o755)
		if err := os.WriteFile(b.path(folder+"/.venv/bin/python"), []byte(program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	elf, err := os.ReadFile(nosy)
	if err != nil {
		t.Fatal(err)
	}
	b.write("bang/test_a.py", "#!"+nosy+"\n"+test)
	b.write("bang/a.lua", "#!"+nosy+"\nlocal symchef = require 'symchef'\nfunction test_a() local x = symchef.integer('x', 0, 3) assert(x ~= 2) end\n")
	venv("script", script)
	venv("elf", string(elf))
	for _, args := range [][]string{
		{"run", "--replay", "none", "bang/test_a.py"},
		{"run", "--replay", "none", "-k", "nothing", "elf"},
		{"run", "--out", "s", "script/test_a.py"},
		{"run", "--interpreter", nosy, "--out", "n", "script/test_a.py"},
		{"doctor"},
	} {
		r := b.run(args...)
		if text, err := os.ReadFile(mark); err == nil {
			t.Errorf("%v: %s", args, text)
			os.Remove(mark)
		}
		if strings.Contains(r.stdout+r.stderr, "hunter2") {
			t.Errorf("%v: tells the environment:\n%s%s", args, r.stdout, r.stderr)
		}
	}
	b.run("run", "--out", "s2", "script/test_a.py").want(1)
	if l := processesLike("sleep\x004711"); len(l) > 0 {
		t.Errorf("left processes %v", l)
	}
}

// processesLike are the processes with this in their command lines.
func processesLike(text string) (out []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), text) {
			out = append(out, f)
		}
	}
	return out
}
