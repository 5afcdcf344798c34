package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// allBytes are all bytes but NUL, and without those of not.
func allBytes(not string) string {
	var b []byte
	for c := 1; c < 256; c++ {
		if !strings.ContainsRune(not, rune(c)) {
			b = append(b, byte(c))
		}
	}
	return string(b)
}

// A symbolic byte of every channel comes to the real program as it is: it ends with it as its status, and crashes at 0xff.
func TestSymbolicBytes(t *testing.T) {
	const source = `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static unsigned char byte(int argc, char **argv) {
	unsigned char c = 0;
	%s
	return c;
}
int main(int argc, char **argv) {
	unsigned char c = byte(argc, argv);
	if (c == 0xff) abort();
	%s
}`
	some := `switch (c) { case 0: case 1: case 0x7f: case 0x80: case 0xc3: case 0xfe: return c; } return 2;`
	ends, paths := 7, 7 // all outcomes, that of 0xff included
	if os.Getenv("SYMCHEF_SLOW") != "" {
		some, ends, paths = `return c;`, 256, 256
	} else {
		t.Log("seven of 256 values each; SYMCHEF_SLOW=1 takes all")
	}
	name := "f\xff\x80\xc3"
	for _, tt := range []struct {
		channel, read string
		o             Options
	}{
		{"argv", `c = argv[1][0];`, Options{ArgvCount: 1, ArgvLen: 1, StdinLen: -1}},
		{"env", `c = getenv("E")[0];`, Options{Env: []Named{{"E", 1}}, StdinLen: -1}},
		{"env, by a name of such bytes", `c = getenv("f\xff\x80\xc3")[0];`, Options{Env: []Named{{name, 1}}, StdinLen: -1}},
		{"file", `read(open("in", O_RDONLY), &c, 1);`, Options{Files: []Named{{"in", 1}}, StdinLen: -1}},
		{"file, by a name of such bytes", `read(open("f\xff\x80\xc3", O_RDONLY), &c, 1);`, Options{Files: []Named{{name, 1}}, StdinLen: -1}},
		{"stdin", `read(0, &c, 1);`, Options{StdinLen: 1}},
	} {
		t.Run(tt.channel, func(t *testing.T) {
			t.Chdir(t.TempDir())
			tt.o.Program = []string{program(t, fmt.Sprintf(source, tt.read, some))}
			e := runIt(t, tt.o)
			statuses := map[int]bool{}
			crashed := false
			for _, x := range e.tests {
				b, err := x.Inputs[0].Bytes()
				if err != nil || len(b) != 1 {
					t.Fatalf("%+v: %v", x.Inputs, err)
				}
				if crash := x.Outcome.Kind == testcase.Crash; crash != (b[0] == 0xff) {
					t.Errorf("%q: %v", b, x.Outcome)
				} else if crashed = crashed || crash; !crash {
					statuses[x.Outcome.ExitStatus] = true
				}
			}
			if len(e.tests) < paths || len(statuses)+1 < ends || !crashed || e.summary.Replay.Agreed != len(e.tests) || !e.summary.Exhausted {
				t.Errorf("%d test cases, %d statuses, crashed %v, %+v\n%s%s", len(e.tests), len(statuses), crashed, e.summary.Replay, e.stdout, e.stderr)
			}
			var out, errs bytes.Buffer
			if status := Rerun(context.Background(), e.dir, "", &out, &errs); status != StatusOK {
				t.Errorf("rerun: status %d: %s%s", status, out.String(), errs.String())
			}
		})
	}
}

// Concrete bytes of any value in arguments, the environment, names of files, the working directory and the program's own path come to the real
// program as they are, and through summary.json, tests.jsonl and the checkpoint.
func TestConcreteBytes(t *testing.T) {
	name := allBytes("/") // of a file, all but two of 256
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	built := program(t, `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void show(const char *s) { for (; *s; s++) printf("%02x", *(unsigned char *)s); puts(""); }
int main(int argc, char **argv) {
	char cwd[4096], b[2] = "";
	show(argv[0]); show(argv[1]); show(getenv("BYTES")); show(getcwd(cwd, sizeof cwd));
	fprintf(stderr, "%s\n", argv[1]);
	int fd = open(argv[2], O_RDWR);
	read(0, b, 1);
	if (fd < 0) return 1;
	switch (b[0]) {
	case 1: rename(argv[2], "b\xff"); break;
	case 2: symlink(argv[1], "s\x80"); break;
	case 3: ftruncate(fd, 0); break;
	}
	return 0;
}`)
	prog := filepath.Join(dir, "p"+name[:200])
	b, err := os.ReadFile(built)
	if err == nil {
		err = os.WriteFile(prog, b, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("BYTES", allBytes(""))
	o := Options{Program: []string{prog, allBytes(""), name}, StdinLen: 1, Pass: []string{"BYTES"}, MaxPaths: 2}
	e := runIt(t, o)
	if len(e.tests) != 2 || e.summary.Replay.Agreed != 2 {
		t.Fatalf("%d test cases, %+v\n%s%s", len(e.tests), e.summary.Replay, e.stdout, e.stderr)
	}
	g := e.summary.Target
	if g.Path != prog || g.Cwd != dir || g.Argv[1] != allBytes("") || g.Argv[2] != name || e.summary.Test != prog || e.summary.Interpreter.Path != prog {
		t.Errorf("target %+v", g)
	}

	// The rest, from the checkpoint.
	var out, errs bytes.Buffer
	Run(context.Background(), Options{Resume: e.dir, Progress: "none", MaxMemory: 1 << 30}, &out, &errs)
	d, err := rundir.Open(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	tests, _, err := d.Tests()
	if err != nil {
		t.Fatal(err)
	}
	if len(tests) != 4 || d.Summary.Replay.Agreed != 4 || !d.Summary.Exhausted {
		t.Errorf("%d test cases, %+v, exhausted %v %q\n%s%s", len(tests), d.Summary.Replay, d.Summary.Exhausted, d.Summary.WhyNotExhausted, out.String(), errs.String())
	}
	seen := map[string]bool{}
	for _, x := range tests {
		for _, f := range x.Files {
			seen[fmt.Sprintf("%s %s %s", f.Change, filepath.Base(string(f.Path)), f.Target)] = true
		}
	}
	for _, want := range []string{"removed " + name + " ", "made b\xff ", "made s\x80 " + allBytes(""), "changed " + name + " "} {
		if !seen[want] {
			t.Errorf("no %q among %v", want, seen)
		}
	}
	if rep, err := replay.Run(context.Background(), d.Summary.Target, tests, replay.Options{}); err != nil || rep.Agreed != 4 {
		t.Errorf("%+v, %v", rep, err)
	}
	if status := Rerun(context.Background(), e.dir, "", &out, &errs); status != StatusOK {
		t.Errorf("rerun: status %d: %s%s", status, out.String(), errs.String())
	}
	b, err = os.ReadFile(filepath.Join(e.dir, "summary.json"))
	if err != nil || !json.Valid(b) || bytes.Contains(b, []byte("\ufffd")) || bytes.Contains(b, []byte(`\ufffd`)) {
		t.Errorf("summary.json: %v\n%s", err, b)
	}
}

// A message keeps its bytes, in assert(3) and in Lua.
func TestMessageBytes(t *testing.T) {
	prog := program(t, "#include <assert.h>\n#include <unistd.h>\nint main(void) { char b = 0; read(0, &b, 1); assert(b != 'x' && \"\\xff\\x80\"); assert(b != 'y' && \"\xff\x80\xc3\xa9\"); return 0; }")
	e := runIt(t, Options{Program: []string{prog}, StdinLen: 1})
	if len(e.tests) != 3 || e.summary.Replay.Agreed != 3 {
		t.Errorf("%d test cases, %+v\n%s%s", len(e.tests), e.summary.Replay, e.stdout, e.stderr)
	}
	dir := filepath.Join(t.TempDir(), "d\xff\x80")
	file := filepath.Join(dir, "bytes.lua")
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(`
local symchef = require "symchef"
function test_it()
  local s = symchef.bytes("s", 1)
  symchef.log("log \xff\xc3\xa9")
  io.stdout:write("\xff\n")
  io.stderr:write("\xfe\n")
  if s == "\xff" then error("message \xff\x80 " .. s, 0) end
  return "\xfe" .. s
end
`), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	e = runIt(t, Options{Test: file + "::test_it", Interpreter: luas(t)[0]})
	if len(e.tests) != 2 || e.summary.Replay.Agreed != 2 || e.summary.Target.Path != file {
		t.Errorf("%d test cases, %+v, %q\n%s%s", len(e.tests), e.summary.Replay, e.summary.Target.Path, e.stdout, e.stderr)
	}
	found := false
	for _, x := range e.tests {
		found = found || x.Outcome.Message == "message \xff\x80 \xff"
		if len(x.Log) != 1 || x.Log[0] != "log \xff\xc3\xa9" {
			t.Errorf("log %q", x.Log)
		}
	}
	if !found {
		t.Errorf("no such message in %+v", e.tests)
	}
}
