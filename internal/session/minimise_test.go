package session

import (
	"math"
	"slices"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// The inputs of a test case are those that are easiest to read, of the low-level paths that it stands for.
func TestMinimalInputs(t *testing.T) {
	needPython(t)
	for _, c := range []struct{ name, code, want string }{
		{"mail", "s: symchef.Str(6)):\n    if s.find('@') < 3: raise ValueError()", `ok s="aaaaa@" | exception s="aaaaaa"`},
		{"default", "s: symchef.Str(7) = 'x-1 @.b'):\n    assert s[2] != 'q'\n    if s[0] == '7': raise KeyError()", `ok s="x-1 @.b" | assertion s="x-q @.b" | exception s="7-1 @.b"`},
		{"nul", "s: symchef.Str(3) = chr(0) * 3):\n    assert s[1] > '5'", `ok s="aaa" | assertion s="a0a"`},
		{"bytes", "b: symchef.Bytes(3)):\n    assert b[0] + b[1] + b[2] < 700 or b[0] > 0xf8", "ok b=616161 | assertion b="},
		{"shortest", "s: symchef.Str(4, 0)):\n    if 'k' in s: raise KeyError()", `ok s="" | exception s="k"`},
		{"equal", "s: symchef.Str(4)):\n    if s[0] == s[3] and s[1] != s[2]: raise KeyError()", `ok s="aaaa" | exception s="aaba"`},
		{"int", "n: symchef.Int(), m: symchef.Int(0, 500) = 77):\n    if n * 2 > 123456 and m > 3: raise KeyError()\n    assert m != 70 or n == -5", `ok n=0 m=77 | exception n=61729 m=77 | assertion n=0 m=70`},
		{"bool", "x: symchef.Float(), f: symchef.Bool() = True):\n    assert x < 3 or f\n    if x > 100.3: raise KeyError()", `ok x=0.0 f=true | assertion x=3.0 f=false | exception x=101.0 f=true`},
		{"floats", "x: symchef.Float()):\n    if x > 1e6: raise KeyError()\n    assert not -1e-6 < x < 0\n    if x < -1e300: raise IndexError()", `ok x=0.0 | exception x=1000001.0 | assertion x=-1e-07 | exception x=-1e+308`},
		{"control", "s: symchef.Str(2)):\n    if s[0] < ' ': raise KeyError()", `ok s="aa" | exception s="\ta"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := writeTest(t, "test_x.py", "import symchef\ndef test_x("+c.code+"\n")
			e := runIt(t, Options{Test: file})
			if e.summary.Replay.Agreed != len(e.tests) || !e.summary.Exhausted {
				t.Fatalf("%s%s", e.stdout, e.stderr)
			}
			var got []string
			for _, k := range e.summary.Classes {
				in := k.Inputs
				text := ShowInputs(testcase.Program, in)
				if in[0].Type == testcase.TypeBytes {
					text = "b=" + in[0].BytesHex
				}
				got = append(got, string(k.Outcome.Kind)+" "+text)
			}
			slices.Sort(got)
			want := strings.Split(c.want, " | ")
			slices.Sort(want)
			for i := range want {
				if i >= len(got) || got[i] != want[i] && !(strings.HasSuffix(want[i], "=") && strings.HasPrefix(got[i], want[i])) {
					t.Errorf("got  %s\nwant %s\n%s", strings.Join(got, " | "), strings.Join(want, " | "), e.stdout)
					break
				}
			}
		})
	}
}

// Arguments and variables of a program end at NUL: the shortest come first.
func TestMinimalArguments(t *testing.T) {
	prog := compile(t, writeTest(t, "p.c", `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c, char **v) {
	char in[3];
	if (fread(in, 1, 3, stdin) == 3 && in[1] == in[2] && in[0] == 'x') abort();
	if (strlen(v[1]) == 2 && v[1][1] == 'Z') return 3;
	return !!strchr(v[1], '=');
}`))
	e := runIt(t, Options{Program: []string{prog}, ArgvCount: 1, ArgvLen: 4, StdinLen: 3})
	got := map[string]string{}
	for _, k := range e.summary.Classes {
		got[k.Outcome.String()] = ShowInputs(testcase.Program, k.Inputs)
	}
	for outcome, want := range map[string]string{
		"ok": `argv1="" stdin="aaa"`, "crash SIGABRT": `argv1="" stdin="xaa"`, "exit 3": `argv1="aZ" stdin="aaa"`, "exit 1": `argv1="=" stdin="aaa"`,
	} {
		if got[outcome] != want {
			t.Errorf("%s: %s, want %s", outcome, got[outcome], want)
		}
	}
	if e.summary.Replay.Agreed != len(e.tests) {
		t.Errorf("%s", e.stdout)
	}
}

// What is explored does not depend on how inputs are chosen for people: the logs of all low-level paths are the same under other defaults of theirs,
// and a test case that was replaced is none any more, in the tree neither.
func TestReplaced(t *testing.T) {
	needPython(t)
	file := writeTest(t, "test_x.py", "import symchef\ndef test_x(b: symchef.Bytes(3, 1) = b'@@@'):\n    return b.count(b'@')\n")
	e := runIt(t, Options{Test: file})
	ids := map[string]bool{}
	for _, x := range e.tests {
		if ids[x.ID] {
			t.Errorf("%s twice", x.ID)
		}
		ids[x.ID] = true
	}
	for _, x := range e.tests {
		if x.Replaces != "" && ids[x.Replaces] {
			t.Errorf("%s is still there, beside %s", x.Replaces, x.ID)
		}
	}
	if n := e.summary.Tests.Total(); n != len(e.tests) {
		t.Errorf("%d test cases, %d counted", len(e.tests), n)
	}
	if e.summary.Replay.Agreed != len(e.tests) {
		t.Errorf("%s", e.stdout)
	}
}

func TestBetterNumbers(t *testing.T) {
	for _, c := range []struct{ def, now, best int64 }{{5, 9, 5}, {0, math.MinInt64, 0}, {math.MinInt64, math.MaxInt64, math.MinInt64}} {
		if got := betterInts(c.def, c.now); int64(got[0]) != c.best || slices.Contains(got, uint64(c.now)) {
			t.Errorf("%d, default %d: %d", c.now, c.def, got)
		}
	}
	if got := betterInts(7, 7); len(got) != 0 {
		t.Errorf("%d", got)
	}
	if got := betterFloats(math.Inf(-1), math.Inf(1)); len(got) == 0 || math.Float64frombits(got[0]) != math.Inf(-1) {
		t.Errorf("%x", got)
	}
	for _, v := range betterFloats(0, math.Inf(1)) {
		if math.IsNaN(math.Float64frombits(v)) {
			t.Error("not a number")
		}
	}
	all := betterBytes([]byte("b\x00"), 0)(0)
	if len(all) != 255 || all[0] != 'b' || all[1] != 'a' {
		t.Errorf("%d %d", len(all), all)
	}
}
