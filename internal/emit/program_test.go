package emit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"symchef/internal/testcase"
)

// echo writes all that it is given, and crashes where its standard input begins with an X.
const echo = `#include <stdio.h>
#include <stdlib.h>
int main(int n, char **v) {
	int c, first = getchar();
	FILE *f;
	for (int i = 1; i < n; i++) printf("<%s>", v[i]);
	printf("%s|", getenv("MODE"));
	if ((f = fopen("sub/in put", "rb"))) while ((c = getc(f)) != EOF) putchar(c);
	for (c = first; c != EOF; c = getchar()) putchar(c);
	fflush(stdout);
	if (first == 'X') abort();
	return first == 'E' ? 7 : 0;
}`

// hostile are texts that break what is not quoted well.
var hostile = []string{"", "plain", "it's", `"double"`, "two\nlines\n\n", "$(touch /tmp/x) `id` ${x}", `back\slash \n \101`, "*/ --]] \"\"\" '''", "%s %d %", "\x01\x7f\x80\xff\xfe", "# 'EOF'", "-n", "\u2028\u00e9", "a\tb\r"}

// programCases are test cases of echo with a hostile text in each channel.
func programCases() (tests []testcase.Test) {
	for i, text := range hostile {
		for _, first := range []string{"", "E", "X"} {
			stdin := first + text
			o := testcase.Outcome{Kind: testcase.OK}
			switch {
			case strings.HasPrefix(stdin, "X"):
				o = testcase.Outcome{Kind: testcase.Crash, Signal: "SIGABRT"}
			case strings.HasPrefix(stdin, "E"):
				o = testcase.Outcome{Kind: testcase.Exit, ExitStatus: 7}
			}
			content := text + "\x00" + text
			out := "<-v><" + text + ">" + text + "|" + content + stdin
			tests = append(tests, testcase.Test{
				ID: fmt.Sprintf("t%06d", len(tests)+1),
				Inputs: []testcase.Input{testcase.Argv(2, []byte(text+"\x00rest")), testcase.Env("MODE", []byte(text)), testcase.File("sub/in put", []byte(content)),
					testcase.Stdin([]byte(stdin))},
				Observation: testcase.Observation{Outcome: o, OutputSHA256: testcase.OutputDigest([]byte(out)), OutputBytes: int64(len(out))},
			})
		}
		_ = i
	}
	return tests
}

// The files emitted for a program run it with the very bytes of each case, and are red when it ends otherwise.
func TestProgram(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	dir := filepath.Join(t.TempDir(), "it's a 'folder'")
	if err := os.MkdirAll(filepath.Join(dir, "there"), 0o755); err != nil {
		t.Fatal(err)
	}
	prog, source := filepath.Join(dir, "ec ho"), filepath.Join(dir, "echo.c")
	build := func(text string) {
		t.Helper()
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(gcc, "-w", "-o", prog, source).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	g := testcase.Target{Kind: testcase.Program, Path: prog, Argv: []string{"ec ho", "-v", "x"}, Env: []string{"PATH=/usr/bin", "MODE=x"}, Cwd: dir}
	tests := programCases()
	commands := programRunners(t)
	for f, command := range commands {
		file := filepath.Join(dir, "test_cases_"+string(f)+".py")
		run := func() (string, error) {
			cmd := exec.Command(command[0], append(command[1:], file)...)
			cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1"}
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		var b, again bytes.Buffer
		if err := Write(&b, f, file, g, tests, map[string]string{"t000001": "two\nlines"}); err != nil {
			t.Fatal(err)
		}
		if err := Write(&again, f, file, g, tests, map[string]string{"t000001": "two\nlines"}); err != nil || again.String() != b.String() {
			t.Errorf("%s: not the same twice, %v", f, err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		build(echo)
		n := len(hostile)
		want := map[Format]string{Shell: fmt.Sprintf("1..%d\n", 3*n-1), Pytest: fmt.Sprintf("%d passed, %d xfailed", 2*n-1, n)}[f]
		if out, err := run(); err != nil || !strings.Contains(out, want) || f == Shell && (strings.Count(out, "\nok ") != 2*n-1 || strings.Count(out, "# TODO crash SIGABRT") != n) {
			t.Errorf("%s: %v, want %s\n%s", f, err, want, out)
		}
		if bash, err := exec.LookPath("bash"); err == nil && f == Shell { // it tells of killed children
			command = []string{bash}
			out, _ := run()
			command = commands[f]
			for line := range strings.Lines(out) {
				if !strings.HasPrefix(line, "ok ") && !strings.HasPrefix(line, "not ok ") && !strings.HasPrefix(line, "1..") {
					t.Errorf("a line that is none of TAP: %q", line)
				}
			}
		}
		for _, changed := range [][2]string{{"abort()", "return 0"}, {"? 7 : 0", "? 8 : 0"}, {`"%s|"`, `"%s;"`}} {
			build(strings.Replace(echo, changed[0], changed[1], 1))
			if out, err := run(); err == nil {
				t.Errorf("%s: green with %s for %s\n%s", f, changed[1], changed[0], out)
			}
		}
	}
}

// A program that leaves a process behind, which holds its standard output and never ends, does not keep the emitted files waiting; that of pytest
// ends the process.
func TestProgramOrphan(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	dir := t.TempDir()
	prog, pid := filepath.Join(dir, "orphan"), filepath.Join(dir, "pid")
	source := fmt.Sprintf(`#include <stdio.h>
#include <unistd.h>
int main(void) {
	pid_t p = fork();
	if (p == 0) for (;;) pause();
	FILE *f = fopen(%q, "w");
	fprintf(f, "%%d", p);
	fclose(f);
	puts("out");
}
`, pid)
	if err := os.WriteFile(prog+".c", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-o", prog, prog+".c").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	g := testcase.Target{Kind: testcase.Program, Path: prog, Argv: []string{prog}, Cwd: dir}
	out := "out\n"
	tests := []testcase.Test{{ID: "t000001", Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}, OutputSHA256: testcase.OutputDigest([]byte(out)), OutputBytes: int64(len(out))}}}
	commands := programRunners(t)
	for f, command := range commands {
		var b bytes.Buffer
		file := filepath.Join(t.TempDir(), "test_orphan.py")
		if err := errors.Join(Write(&b, f, file, g, tests, nil), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		c, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		cmd := exec.CommandContext(c, command[0], append(command[1:], file)...)
		cmd.WaitDelay = time.Second
		got, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Errorf("%s: %v %s", f, err, got)
		}
		text, err := os.ReadFile(pid)
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		n, _ := strconv.Atoi(string(text))
		if n > 0 && f == Pytest && running(n) {
			t.Errorf("%s: process %d lives on", f, n)
		}
		if n > 0 {
			syscall.Kill(n, syscall.SIGKILL)
		}
	}
}

// running reports whether the process pid runs; a zombie does not.
func running(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// Names are valid in every language, tell what happens, differ, and do not depend on the order of the test cases.
func TestNames(t *testing.T) {
	mk := func(id, input string, o testcase.Outcome, returned string) testcase.Test {
		return testcase.Test{ID: id, Inputs: []testcase.Input{testcase.Str("s", input)}, Observation: testcase.Observation{Outcome: o, Returned: testcase.Value(returned)}}
	}
	tests := []testcase.Test{
		mk("t1", "aaa", testcase.Outcome{Kind: testcase.OK}, ""),
		mk("t2", "a@", testcase.Outcome{Kind: testcase.OK}, ""),
		mk("t3", "", testcase.Outcome{Kind: testcase.Exception, Type: "ValueError", Message: "no @ after three"}, ""),
		mk("t4", "b", testcase.Outcome{Kind: testcase.Exception, Type: "m.Odd"}, ""),
		mk("t5", "B", testcase.Outcome{Kind: testcase.Exception, Type: "m.Odd"}, ""),
		mk("t6", "'\"\n*/", testcase.Outcome{Kind: testcase.Exception, Type: "<locals>.x", Message: strings.Repeat("long ", 99)}, ""),
		mk("t7", "é", testcase.Outcome{Kind: testcase.Exit, ExitStatus: 3}, ""),
		mk("t8", "x", testcase.Outcome{Kind: testcase.OK}, "n0:"),
		mk("t9", "\x00", testcase.Outcome{Kind: testcase.Crash, Signal: "SIGSEGV"}, ""),
	}
	lua := mk("t10", "lua", testcase.Outcome{Kind: testcase.Exception, Type: "error", Message: "/a b/c.lua:7: /a b/c.lua:7: too long"}, "")
	lua.Frames = []string{"/a b/c.lua:9:test", "/a b/c.lua:7:check"}
	tests = append(tests, lua)
	want := "crashes_SIGSEGV raises_x_long_long_long_long_long_long_long_long_long_long_l raises_ValueError_no_after_three raises_error_too_long raises_Odd_for_B raises_Odd_for_b_2 " +
		"returns_None_for_x passes_for_a_at passes_for_aaa exits_3"
	_, names := ordered(tests, nil)
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for i := range tests { // reversed
		if j := len(tests) - 1 - i; i < j {
			tests[i], tests[j] = tests[j], tests[i]
		}
	}
	if _, again := ordered(tests, nil); strings.Join(again, " ") != strings.Join(names, " ") {
		t.Errorf("in another order: %s", again)
	}
}

func TestCorpus(t *testing.T) {
	tests := []testcase.Test{
		{ID: "a", Inputs: []testcase.Input{testcase.Stdin([]byte("x\x00"))}, Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.OK}}},
		{ID: "b", Inputs: []testcase.Input{testcase.Stdin([]byte{0xff}), testcase.File("../in", []byte("f")), testcase.Int("n", -3)}, Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.Crash, Signal: "SIGSEGV"}}},
		{ID: "c", Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.Unsupported}}},
	}
	got, err := Corpus(tests)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"passes_for_x": "x\x00"} {
		if string(got[name]) != content {
			t.Errorf("%s: %q", name, got[name])
		}
	}
	for name := range got {
		if !filepath.IsLocal(name) || strings.Count(name, "/") > 1 {
			t.Errorf("%q", name)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d files: %q", len(got), got)
	}
}
