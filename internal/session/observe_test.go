package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// program compiles C source text.
func program(t *testing.T, source string, flags ...string) string {
	t.Helper()
	src := filepath.Join(t.TempDir(), "prog.c")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	return compile(t, src, flags...)
}

// What a user can see makes the classes, each part of it, and what is copied from the input does not.
func TestClasses(t *testing.T) {
	for _, tt := range []struct {
		name, main string
		class      string
		want       int // test cases
	}{
		{"copies", `write(1, b, 3);`, "all", 1},
		{"copies to standard error", `write(2, b, 3);`, "all", 1},
		{"prints", `if (b[0] == 'x') puts("x"); else puts("y");`, "all", 2},
		{"prints, which does not count", `if (b[0] == 'x') puts("x"); else puts("y");`, "outcome,message,stderr,returned,files", 1},
		{"complains", `if (b[0] == 'x') fputs("x", stderr); else if (b[1] == 'x') fputs("y", stderr);`, "all", 3},
		{"complains, which does not count", `if (b[0] == 'x') fputs("x", stderr);`, "stdout,outcome", 1},
		{"addresses do not count", `fprintf(stderr, "%s at %p", b[0] == 'x' ? "a" : "a", b[0] == 'x' ? (void *)b : (void *)main);`, "all", 1},
		{"ends", `return b[0] == 'x' ? 1 : b[0] == 'y' ? 2 : 0;`, "all", 3},
		{"ends, which does not count", `return b[0] == 'x' ? 1 : b[0] == 'y' ? 2 : 0;`, "stdout", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			prog := program(t, "#include <stdio.h>\n#include <unistd.h>\nint main(void) { char b[3]; read(0, b, 3); "+tt.main+" return 0; }")
			parts, err := testcase.ParseParts(tt.class)
			if err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Program: []string{prog}, StdinLen: 3, Class: parts})
			if len(e.tests) != tt.want || e.summary.Replay.Agreed != tt.want {
				t.Errorf("%d test cases, want %d\n%s%s", len(e.tests), tt.want, e.stdout, e.stderr)
			}
		})
	}
}

// What repr makes of the input is no class for each escape, and the seed has no part in what the classes are; the smallest inputs are found nevertheless.
func TestClassesOfRepr(t *testing.T) {
	file := written(t, "test_repr.py", `from symchef import Str, expect
UNITS = {"kg": 1000, "g": 1}
def test_it(s: Str(2)):
    expect(KeyError)
    n = s[:1]
    if s[n.isdigit():] not in UNITS: raise KeyError("unit " + repr(s[n.isdigit():]))
    return 1
`)
	var first []string
	for seed := range uint64(3) {
		e := runIt(t, Options{Test: file + "::test_it", Interpreter: stockFor(t, file), Seed: seed, NoReplay: true})
		var classes []string
		aa := false
		for _, x := range e.tests {
			classes = append(classes, x.Class)
			aa = aa || strings.HasSuffix(x.Outcome.Message, `"unit 'aa'"`) || strings.HasSuffix(x.Outcome.Message, "unit 'aa'")
		}
		slices.Sort(classes)
		classes = slices.Compact(classes)
		if n := len(e.summary.Classes); n > 6 || !e.summary.Exhausted || !aa {
			t.Errorf("seed %d: %d classes\n%s%s", seed, n, e.stdout, e.stderr)
		}
		if first == nil {
			first = classes
		}
		if !slices.Equal(classes, first) {
			t.Errorf("seed %d: other classes than without", seed)
		}
	}
}
