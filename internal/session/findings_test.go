package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
	r := &run{tests: tests, census: newCensus()}
	for range 7 {
		for _, x := range tests {
			r.census.count(classKey(x), x)
		}
	}
	r.sum.Findings, r.sum.Classes = r.findings(), r.foundClasses()
	var b bytes.Buffer
	printFindings(&b, r.sum.Findings, "/w")
	printClasses(&b, r.sum.Classes, "/w", "out")
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
	printFindings(&b, []rundir.Finding{{Outcome: testcase.Outcome{Kind: testcase.Exception, Type: "RecursionError"}, Site: "/w/t.py:6:h", SiteFrom: rundir.FromFrames, Frames: frames}}, "/w")
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

// What to type next is one command that a shell takes.
func TestNext(t *testing.T) {
	for dir, want := range map[string]string{
		"out": "out", "/tmp/a-b_c.d": "/tmp/a-b_c.d", "größe": "größe", "a b": "'a b'", "it's": `'it'\''s'`, "-out": "'./-out'", "$HOME": "'$HOME'", "a;b": "'a;b'", "": "''", "a\nb": "'a\nb'", "~": "'~'",
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
