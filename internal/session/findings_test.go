package session

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"symchef/internal/replay"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// found is a test case of a language: its input, outcome, frames, and the source of its last decision.
func found(id, input string, o testcase.Outcome, frames []string, source string) testcase.Test {
	t := testcase.Test{ID: id, Inputs: []testcase.Input{testcase.Str("s", input)}, Observation: testcase.Observation{Outcome: o, Frames: frames}}
	t.Decisions = []testcase.Decision{{Kind: "branch", Source: source}, {Kind: "branch"}}
	return t
}

// Findings are grouped by kind, type and place, come before the classes, and there is one more of a kind however many were found before.
func TestFindingsFirst(t *testing.T) {
	index := testcase.Outcome{Kind: testcase.Exception, Type: "IndexError", Message: "out of range"}
	assertion := testcase.Outcome{Kind: testcase.Assertion, Type: "AssertionError"}
	crash := testcase.Outcome{Kind: testcase.Crash, Signal: "SIGSEGV"}
	deep := []string{"/w/t.py:9:test"}
	for i := range 20 {
		deep = append(deep, fmt.Sprintf("/lib/p.py:%d:step", i))
	}
	tests := []testcase.Test{}
	for i := range 30 {
		tests = append(tests, found(fmt.Sprintf("t%06d", i+1), "aa", testcase.Outcome{Kind: testcase.OK}, nil, ""))
	}
	tests = append(tests,
		found("t000031", "abc", index, []string{"/w/t.py:9:test", "/w/lib/a:b.py:3:f"}, ""),
		found("t000032", "b", index, []string{"/w/t.py:9:test", "/w/lib/a:b.py:3:f"}, ""),
		found("t000033", "c", index, deep, ""),
		found("t000034", "d", assertion, nil, "/w/t.py:5 Outer.check"),
		found("t000035", "e", crash, nil, ""),
	)
	r := &run{t: &target{}, tests: tests, census: newCensus()}
	for range 7 {
		for _, x := range tests {
			r.census.count(classKey(x), x)
		}
	}
	r.sum.Findings, r.sum.Classes = r.findings(), r.foundClasses()
	var b bytes.Buffer
	printFindings(&b, r.sum.Findings, testcase.Target{Cwd: "/w"}, "")
	printClasses(&b, r.sum.Classes, testcase.Target{Cwd: "/w"}, "out")
	want := `
4 findings:

! crash SIGSEGV
    s="e"  (t000035; 7 paths)
    where it happened is not told

! assertion AssertionError
    s="d"  (t000034; 7 paths)
    where it happened is not told; the last decision before it was at t.py:5 in Outer.check

! exception IndexError: out of range
    s="b"  (t000032, 1 more; 14 paths)
    at lib/a:b.py:3 in f
    from t.py:9 in test

! exception IndexError: out of range
    s="c"  (t000033; 7 paths)
    at /lib/p.py:19 in step
    from /lib/p.py:18 in step
    from /lib/p.py:17 in step
    from /lib/p.py:16 in step
    from /lib/p.py:15 in step
    from ... 13 more ...
    from /lib/p.py:1 in step
    from /lib/p.py:0 in step
    from t.py:9 in test

4 classes of behaviour:
  ok                                  s="aa"  (210 paths)
  exception IndexError: out of range  s="b"  (21 paths)
  assertion AssertionError            s="d"  (7 paths)
  crash SIGSEGV                       s="e"  (7 paths)
`
	if b.String() != want {
		t.Errorf("got%s", b.String())
	}
	if f := r.sum.Findings[2]; f.Site != "/w/lib/a:b.py:3:f" || f.SiteFrom != rundir.FromFrames || f.Tests != 2 || f.Paths != 14 {
		t.Errorf("%+v", f)
	}
}

// A path whose finding has a test case already is counted all the same, also in a run that was resumed.
func TestFindingsCountPaths(t *testing.T) {
	needPython(t)
	file := writeTest(t, "test_f.py", "import symchef\ndef test_f(s: symchef.Bytes(2)):\n    x = s[0] * 3 % 7\n    if s[1] > 9: raise ValueError(x)\n")
	e := runIt(t, Options{Test: file})
	if len(e.summary.Findings) != 1 || e.status != StatusFailing {
		t.Fatalf("%d: %s%s", e.status, e.stdout, e.stderr)
	}
	paths := 0
	for _, c := range e.summary.Classes {
		paths += c.Paths
	}
	if f := e.summary.Findings[0]; paths != e.summary.Paths.Low || f.Outcome.Type != "ValueError" || !strings.Contains(e.stdout, "\n1 finding:\n\n! exception ValueError") {
		t.Errorf("classes have %d of %d paths: %s", paths, e.summary.Paths.Low, e.stdout)
	}
}

// writeTest writes a test file to a folder of its own.
func writeTest(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// A frame that repeats the one before is said once.
func TestFindingsRecursion(t *testing.T) {
	frames := []string{"/w/t.py:9:test"}
	for range 40 {
		frames = append(frames, "/w/t.py:3:f")
	}
	for range 2 {
		frames = append(frames, "/w/t.py:5:g", "/w/t.py:6:h")
	}
	var b bytes.Buffer
	printFindings(&b, []rundir.Finding{{Outcome: testcase.Outcome{Kind: testcase.Exception, Type: "RecursionError"}, Site: "/w/t.py:6:h", SiteFrom: rundir.FromFrames, Frames: frames}}, testcase.Target{Cwd: "/w"}, "")
	want := `
1 finding:

! exception RecursionError
    no input  (; 0 paths)
    at t.py:6 in h
    from t.py:5 in g
    from t.py:6 in h
    from t.py:5 in g
    from t.py:3 in f, again and again
    from t.py:9 in test

`
	if b.String() != want {
		t.Errorf("got%s", b.String())
	}
}

// Classes that end alike show what tells them apart, and nothing else.
func TestClassesShow(t *testing.T) {
	exe := program(t, `#include <stdio.h>
#include <unistd.h>
int main(void) { char b[1]; read(0, b, 1); puts("same");
  switch (b[0]) {
  case 'a': puts("two\nthree"); break;
  case 'b': fputs("usage: this\nit: no such b\n", stderr); break;
  case 'c': fclose(fopen("made", "w")); break;
  case 'd': return 1;
  }
}`)
	t.Chdir(t.TempDir())
	e := runIt(t, Options{Program: []string{exe}, StdinLen: 1})
	for _, line := range []string{
		`  ok  stdin="e"`,
		`  ok, stdout "same..."  stdin="a"`,
		`  ok, stderr "it: no such b"  stdin="b"`,
		`  ok, made 'made' (0644, 0 bytes)  stdin="c"`,
		`  exit 1  stdin="d"`,
		`next: symchef emit --format sh /`,
	} {
		if !strings.Contains(regexp.MustCompile(` {3,}`).ReplaceAllString(e.stdout, "  "), "\n"+line) {
			t.Errorf("no %s", line)
		}
	}
	if t.Failed() {
		t.Log(e.stdout)
	}
}

// Classes that differ in what became of files only look different: by the content of one, by another file than the first, by what is far behind in them.
func TestClassesApartByFiles(t *testing.T) {
	exe := program(t, `#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static void put(const char *name, int skip, const char *text) {
  FILE *f = fopen(name, "w");
  for (; skip > 0; skip--) putc('-', f);
  fputs(text, f);
  fclose(f);
}
int main(void) { char b[1]; read(0, b, 1);
  switch (b[0]) {
  case 'a': put("got", 0, "one"); break;
  case 'b': put("got", 0, "two"); break;
  case 'c': put("got", 2000, "one"); break;
  case 'd': put("got", 2000, "two"); break;
  case 'e': put("got", 80000, "one"); break;
  case 'f': put("got", 80000, "two"); break;
  case 'g': put("a", 0, "same"); put("got", 0, "one"); break;
  case 'h': put("a", 0, "same"); put("got", 0, "two"); break;
  case 'i': put("a", 0, "same"); put("got", 0, "two"); chmod("got", 0600); break;
  case 'j': for (int i = 0; i < 80000; i++) putchar('-'); puts("one"); break;
  case 'k': for (int i = 0; i < 80000; i++) putchar('-'); puts("two"); break;
  }
}`)
	t.Chdir(t.TempDir())
	e := runIt(t, Options{Program: []string{exe}, StdinLen: 1})
	lines := map[string]bool{}
	for _, line := range strings.Split(e.stdout, "\n") {
		if strings.HasPrefix(line, "  ok") {
			lines[strings.Split(line, "  stdin=")[0]] = true
		}
	}
	if len(lines) != 12 || len(e.summary.Classes) != 12 || !strings.Contains(e.stdout, `ok, made 'got' (0644, 3 bytes): "one"  `) {
		t.Errorf("%d different lines of %d classes\n%s", len(lines), len(e.summary.Classes), e.stdout)
	}
}

// Classes that differ look different, wherever in a line, a message or an output the difference is.
func TestClassesApart(t *testing.T) {
	deep := strings.Repeat("the same words ", 20)
	raised := func(id, message, frame string) testcase.Test {
		return found(id, id, testcase.Outcome{Kind: testcase.Exception, Type: "E", Message: message}, []string{"/w/t.py:1:test", frame}, "")
	}
	r := &run{t: &target{tc: testcase.Target{Cwd: "/w"}}, census: newCensus(), tests: []testcase.Test{
		raised("a", "out of range", "/w/lib.py:3:f"), raised("b", "out of range", "/w/lib.py:4:f"), raised("c", "out of range", "/w/lib.py:5:g"),
		raised("d", deep+"one "+deep, "/w/t.py:1:test"), raised("e", deep+"two "+deep, "/w/t.py:1:test"), raised("f", deep+"two "+deep+"x", "/w/t.py:1:test"),
	}}
	for i := range r.tests {
		r.tests[i].Class = r.tests[i].ID
	}
	var b bytes.Buffer
	printClasses(&b, r.foundClasses(), testcase.Target{Cwd: "/w"}, "out")
	want := `6 classes of behaviour:
  exception E: out of range, at lib.py:3 in f                               s="a"  (1 path)
  exception E: out of range, at lib.py:4 in f                               s="b"  (1 path)
  exception E: out of range, at lib.py:5 in g                               s="c"  (1 path)
  exception E: the same...s the same words one the same words the same ...  s="d"  (1 path)
  exception E: the same...s the same words two the same words the same ...  s="e"  (1 path)
  exception E: the same words the sam...ds the same words the same words x  s="f"  (1 path)
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}

	exe := program(t, `#include <stdio.h>
#include <unistd.h>
int main(void) { char b[1]; read(0, b, 1);
  char *why = b[0] == 'a' ? "one" : b[0] == 'b' ? "two" : b[0] == 'c' ? "one\nand more" : "three";
  printf("words\n%90s\n", why);
  fprintf(stderr, "it: %s\nTry --help\n", why);
  return 1;
}`)
	t.Chdir(t.TempDir())
	e := runIt(t, Options{Program: []string{exe}, StdinLen: 1})
	lines := map[string]bool{}
	for _, c := range e.summary.Classes {
		_, stderr, _ := strings.Cut(string(c.Shows), ", ")
		lines[stderr] = true
	}
	if len(lines) != 4 || !strings.Contains(e.stdout, `stderr "it: two..."`) || !strings.Contains(e.stdout, `stderr "...and more..."`) {
		t.Errorf("%d, want 4 different ones: %s", len(lines), e.stdout)
	}
}

// What to type next is one command that a shell takes.
func TestNext(t *testing.T) {
	for dir, want := range map[string]string{
		"out": "out", "/tmp/a-b_c.d": "/tmp/a-b_c.d", "größe": "größe", "a b": "'a b'", "it's": `'it'\''s'`, "-out": "'./-out'", "$HOME": "'$HOME'", "a;b": "'a;b'", "": "''", "a\nb": `$'a\012b'`, "~": "'~'",
	} {
		if got := shellWord(dir); got != want {
			t.Errorf("%q: %s, want %s", dir, got, want)
		}
	}
	for _, tt := range []struct {
		tests, pending int
		want           string
	}{
		{0, 0, ""},
		{0, 3, "next: symchef run --resume out\n"},
		{2, 0, "next: symchef emit --format busted out\n"},
		{2, 3, "next: symchef emit --format busted out\n  or: symchef run --resume out\n"},
	} {
		var b bytes.Buffer
		s := rundir.Summary{}
		for range tt.tests {
			s.Tests.Add(testcase.OK)
		}
		s.Paths.Pending = tt.pending
		if printNext(&b, "lua", &s, "out"); b.String() != tt.want {
			t.Errorf("%d test cases, %d pending: %q", tt.tests, tt.pending, b.String())
		}
	}
}

// What replay does not confirm comes last and says so, and where it confirms one of the group, that one is the example.
func TestFindingsRefuted(t *testing.T) {
	index := testcase.Outcome{Kind: testcase.Exception, Type: "IndexError"}
	crash := testcase.Outcome{Kind: testcase.Crash, Signal: "SIGSEGV"}
	at := func(line string) []string { return []string{"/w/t.py:" + line + ":test"} }
	tests := []testcase.Test{
		found("t000001", "a", crash, at("1"), ""), found("t000002", "a", index, at("2"), ""), found("t000003", "bb", index, at("2"), ""), found("t000004", "d", index, at("3"), ""),
	}
	r := &run{t: &target{}, tests: tests, census: newCensus()}
	verdicts := func(first, second string) []rundir.Verdict {
		return []rundir.Verdict{{ID: "t000001", Verdict: first, Why: "exit 0 natively"}, {ID: "t000002", Verdict: second, Why: "natively none"}, {ID: "t000003", Verdict: "agreed"}, {ID: "t000004", Verdict: "skipped"}}
	}
	r.refuted = refuted(verdicts("diverged", "unstable"))
	r.sum.Findings = r.findings()
	var b bytes.Buffer
	printFindings(&b, r.sum.Findings, testcase.Target{Cwd: "/w"}, "")
	want := `
3 findings, 1 of which replay does not confirm:

! exception IndexError
    s="bb"  (t000003, 1 more; 2 paths)
    at t.py:2 in test

! exception IndexError
    s="d"  (t000004; 1 path)
    at t.py:3 in test

? crash SIGSEGV
    not confirmed, diverged: exit 0 natively
    s="a"  (t000001; 1 path)
    at t.py:1 in test

`
	if b.String() != want {
		t.Errorf("got%s", b.String())
	}
	b.Reset()
	Settle(tests)(&r.sum, &replay.Report{Results: []replay.Result{{ID: "t000001", Verdict: replay.Agreed}, {ID: "t000003", Verdict: replay.Unstable, Why: "it depends"}, {ID: "t000002", Verdict: replay.Agreed}}})
	printFindings(&b, r.sum.Findings, testcase.Target{Cwd: "/w"}, "")
	if got := b.String(); !strings.HasPrefix(got, "\n3 findings, 1 of which replay does not confirm:\n\n! crash") || !strings.HasSuffix(got, "? exception IndexError\n    not confirmed, unstable: it depends\n    s=\"bb\"  (t000003, 1 more; 2 paths)\n    at t.py:2 in test\n\n") {
		t.Errorf("after another replay%s", got)
	}
}

// Numbers look as a person would type them in the language of the test.
func TestNumbersShown(t *testing.T) {
	for kind, want := range map[string]string{
		"python": "0.5 1e+300 inf -inf -0.0 3.0", "lua": "0.5 1e+300 math.huge -math.huge -0.0 3.0", "r": "0.5 1e+300 Inf -Inf -0 3", "tcl": "0.5 1e+300 Inf -Inf -0.0 3.0",
	} {
		var got []string
		for _, v := range []float64{0.5, 1e300, math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 3} {
			got = append(got, strings.TrimPrefix(ShowInputs(testcase.TargetKind(kind), []testcase.Input{testcase.Float("x", v)}), "x="))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

// A finding of one of several tests says how it is replayed.
func TestReplayLine(t *testing.T) {
	var b bytes.Buffer
	f := rundir.Finding{Outcome: testcase.Outcome{Kind: testcase.Exception, Type: "E"}, Example: rundir.Example{Test: "t000002"}}
	printFindings(&b, slices.Repeat([]rundir.Finding{f}, maxFindings+1), testcase.Target{Cwd: "/w"}, "out/a b")
	if n := strings.Count(b.String(), "again: symchef replay --test t000002 'out/a b'\n"); n != maxFindings+1 {
		t.Errorf("%d lines: %s", n, b.String())
	}
}

// TestHangsTold: hangs that are known in several ways are one class, and the line says of none how; one that never leaves an instruction is told with it.
func TestHangsTold(t *testing.T) {
	hang := func(id, message, loop, stands string) testcase.Test {
		return testcase.Test{ID: id, Class: "c", Loop: testcase.Text(loop), Stands: testcase.Text(stands), Observation: testcase.Observation{Outcome: testcase.Outcome{Kind: testcase.Hang, Message: message}}}
	}
	for _, c := range []struct {
		tests []testcase.Test
		want  string
	}{
		{[]testcase.Test{hang("t1", "proved", "", "/w/t.py:3:f"), hang("t2", "more than 9 instructions", "/w/t.py:5:f", "")}, "  hang  no input  (2 paths)\n"},
		{[]testcase.Test{hang("t1", "proved", "", "/w/t.py:3:f"), hang("t2", "proved", "/w/t.py:5:f", "")}, "  hang: proved  no input  (2 paths)\n"},
	} {
		r := &run{t: &target{}, tests: c.tests, census: newCensus()}
		var b bytes.Buffer
		printFindings(&b, r.findings(), testcase.Target{Cwd: "/w"}, "")
		printClasses(&b, r.foundClasses(), testcase.Target{Cwd: "/w"}, "out")
		for _, want := range []string{c.want, "    it never leaves t.py:3 in f\n", "    in the loop at t.py:5 in f\n"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	}
}
