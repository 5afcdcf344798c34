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
		{"chooses without a branch, and looks later", `int c = 'n'; asm("cmpb $'x', %1; cmovel %2, %0" : "+r"(c) : "m"(b[0]), "r"((int)'y') : "cc"); if (b[0] == 'x') b[1] = 0; write(1, &c, 1);`, "all", 2},
		{"chooses without a branch, and never looks", `int c = 'n'; asm("cmpb $'x', %1; cmovel %2, %0" : "+r"(c) : "m"(b[0]), "r"((int)'y') : "cc"); write(1, &c, 1);`, "all", 1},
		{"computes with what is chosen so", `long c = 3; asm("cmpb $'x', %1; cmoveq %2, %0" : "+r"(c) : "m"(b[0]), "r"(5L) : "cc"); if (b[0] == 'x') b[1] = 0; c = (c - 2) << 3 | 1; write(1, &c, 8);`, "all", 2},
		{"tells a condition, and looks later", `char c; asm("cmpb $'x', %1; sete %0" : "=r"(c) : "m"(b[0]) : "cc"); if (b[0] == 'x') b[1] = 0; c += 'a'; write(1, &c, 1);`, "all", 2},
		{"chooses without a branch, by what an equality decides later", `long c = 3; asm("cmpb $'x', %1; cmovbeq %2, %0" : "+r"(c) : "m"(b[0]), "r"(5L) : "cc"); if (b[0] == 'x') b[1] = 0; else if (b[0] == 'y') b[1] = 1; write(1, &c, 8);`, "all", 3},
		{"computes with the input that it has looked at", `if (b[0] == 'x') b[1] = 0; b[0] += 1; write(1, b, 1);`, "all", 1},
		{"copies what it has looked at", `if (b[0] == 'x') b[1] = 0; write(1, b, 1);`, "all", 1},
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

// A returned text with the input in quotes is no class for each escape (before: 79, 9, 10 and 20).
func TestReturnedRepr(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		most       int
	}{
		{"repr.py", "from symchef import Str\ndef test_it(s: Str(2)): return [repr(s)]\n", 4},
		{"bytes.py", "from symchef import Bytes\ndef test_it(s: Bytes(1)): return {1: repr(s)}\n", 2},
		{"json.py", "import json\nfrom symchef import Str\ndef test_it(s: Str(1)): return json.dumps(s)\n", 1},
		{"quoted.lua", "local symchef = require('symchef')\nfunction test_it() return string.format('%q', symchef.string('s', 2, 2)) end\n", 4},
	} {
		file := written(t, tt.name, tt.text)
		interpreter := ""
		if strings.HasSuffix(file, ".py") {
			interpreter = stockFor(t, file)
		} else {
			interpreter = luas(t)[0]
		}
		if e := runIt(t, Options{Test: file + "::test_it", Interpreter: interpreter, NoReplay: true}); len(e.summary.Classes) > tt.most || !e.summary.Exhausted {
			t.Errorf("%s: %d classes\n%s%s", tt.name, len(e.summary.Classes), e.stdout, e.stderr)
		}
	}
}

// A message whose bytes around the input are expressions, because code copied them at an address that the input has a part in, is the same one to a user.
// Of one character only the quote that repr begins with may differ.
func TestClassesOfCopies(t *testing.T) {
	for _, tt := range []struct {
		name, does string
		most       int // messages
	}{
		{"one character", "s: Str(1, 1)): return str(datetime.date.fromisoformat('2024-02-2' + s))[:4]", 2},
		{"two characters", "s: Str(2)): return float(s) > 0", 3},
	} {
		file := written(t, "test_copies.py", "import datetime\nfrom symchef import Str\ndef test_it("+tt.does+"\n")
		e := runIt(t, Options{Test: file + "::test_it", Interpreter: stockFor(t, file), NoReplay: true})
		raised := map[string]bool{}
		for _, c := range e.summary.Classes {
			if c.Outcome.Message != "" {
				raised[c.Outcome.Message] = true
			}
		}
		if n := len(raised); n == 0 || n > tt.most || !e.summary.Exhausted {
			t.Errorf("%s: %d messages, want %d\n%s%s", tt.name, n, tt.most, e.stdout, e.stderr)
		}
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
