package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// written writes a test file.
func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// A parser in C has no branches of the language's, but what it returns, and how it complains, tells its paths apart.
func TestParsersInC(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		needs            string // a file; "" : what the interpreter has
		slow             bool
		returned, raised []string // beginnings of what has to be among the values and messages
	}{
		{
			name: "json", file: "test_json.py", text: "import json\nfrom symchef import Str\ndef test_it(s: Str(2)):\n    return json.loads(s)\n",
			returned: []string{"[]", "{}", "''", "0", "10"},
			raised: []string{"Expecting value: line 1 column 1", "Extra data: line 1 column 2", "Unterminated string", "Expecting property name",
				"Invalid control character", "Expecting ',' delimiter"},
		},
		{
			name: "csv", file: "test_csv.py", text: "import csv\nfrom symchef import Str\ndef test_it(s: Str(2)):\n    return list(csv.reader([s]))\n",
			returned: []string{"[['aa']]", "[['', 'a']]", "[['a', '']]", "[['', '', '']]", "[[' ', '']]", "[[]]"},
			raised:   []string{"new-line character seen in unquoted field"},
		},
		{
			name: "ast", file: "test_ast.py", text: "import ast\nfrom symchef import Str\ndef test_it(s: Str(2)):\n    return ast.literal_eval(s)\n", slow: true,
			returned: []string{"''", "[]", "{}", "()", "0", "0.0", "(0,)"},
			raised: []string{"invalid syntax", "malformed node or string", "'(' was never closed", "unmatched ')'", "unterminated string literal",
				"unexpected character after line continuation", "invalid decimal literal", "leading zeros in decimal", "unexpected indent"},
		},
		{
			name: "cjson", file: "decode.lua", text: "local symchef = require 'symchef'\nlocal cjson = require 'cjson'\nfunction test_it()\n  return cjson.decode(symchef.string('s', 2, 2))\nend\n",
			needs: "/usr/lib/x86_64-linux-gnu/lua/5.4/cjson.so", returned: []string{"[]", "''", "0.0"},
			raised: []string{"Expected value but found invalid token at character 1", "Expected the end but found", "Expected object key", "Expected comma or array end"},
		},
		{
			name: "jsonlite", file: "json.R", text: "library(jsonlite)\ntest_it <- function() fromJSON(symchef$string(\"s\", 1L, 1L))\n", slow: true,
			needs: "/usr/lib/R/site-library/jsonlite", returned: []string{"0"},
			raised: []string{"lexical error: invalid char", "parse error: premature EOF", "parse error: unallowed token"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.slow {
				slow(t)
			}
			if tt.needs != "" && !exists(tt.needs) {
				t.Skipf("skipped: %s is not installed", tt.needs)
			}
			e := runIt(t, Options{Test: written(t, tt.file, tt.text) + "::test_it", Interpreter: stockFor(t, tt.file)})
			var returned, raised []string
			for _, x := range e.tests {
				if x.Outcome.Kind == testcase.OK {
					returned = append(returned, x.Returned.String())
				} else {
					raised = append(raised, x.Outcome.Message)
				}
			}
			has := func(list []string, want string) bool {
				return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, want) })
			}
			for _, want := range tt.returned {
				if !has(returned, want) {
					t.Errorf("nothing returned %s: %q", want, returned)
				}
			}
			for _, want := range tt.raised {
				if !has(raised, want) {
					t.Errorf("nothing raised %q: %q", want, raised)
				}
			}
			if e.summary.Replay.Agreed != len(e.tests) || !e.summary.Exhausted {
				t.Errorf("%d test cases, %+v\n%s%s", len(e.tests), e.summary.Replay, e.stdout, e.stderr)
			}
		})
	}
}

// wentOn goes on with the run of dir to its end.
func wentOn(t *testing.T, dir string) explored {
	t.Helper()
	var out, errs bytes.Buffer
	e := explored{dir: dir, status: Run(context.Background(), Options{Resume: dir, CacheDir: cacheDir, Progress: "none", MaxMemory: 3 << 30, StdinLen: -1}, &out, &errs)}
	e.stdout, e.stderr = out.String(), errs.String()
	d, err := rundir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if e.tests, _, err = d.Tests(); err != nil {
		t.Fatal(err)
	}
	e.summary = d.Summary
	return e
}

// Branches of native code that nothing shows make test cases with --tests coverage, each at most one, and those of the C library make none.
func TestNativeCoverage(t *testing.T) {
	prog := program(t, `#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile int sink;
int main(void) {
	char b[3];
	read(0, b, 3);
	if (b[0] == 'a') sink = 1;
	if (b[0] == 'b') sink = 2;
	if (b[1] == 'c') sink = 3;
	if (strtol(b + 2, 0, 10) == 7) sink = 4; /* whose loop has branches of its own */
	return 0;
}`, "-O1")
	count := func(o Options) int {
		o.Program, o.StdinLen = []string{prog}, 3
		e := runIt(t, o)
		if e.summary.Replay.Agreed != len(e.tests) || !e.summary.Exhausted {
			t.Errorf("%d test cases, %+v\n%s%s", len(e.tests), e.summary.Replay, e.stdout, e.stderr)
		}
		return len(e.tests)
	}
	classes, coverage, all := count(Options{}), count(Options{Coverage: true}), count(Options{AllPaths: true})
	// Four branches, each both ways: the first path takes one way of each, and the others one more at least.
	const least, most = 3, 8
	if classes != 1 || coverage < least || coverage > most || all <= coverage {
		t.Errorf("%d test cases by classes, %d by coverage, %d paths", classes, coverage, all)
	}
	// The same after a limit, and with two workers.
	e := runIt(t, Options{Program: []string{prog}, StdinLen: 3, Coverage: true, MaxPaths: all / 2})
	if again := wentOn(t, e.dir); len(again.tests) < least || len(again.tests) > most || !again.summary.Exhausted {
		t.Errorf("%d test cases, then %d\n%s%s", len(e.tests), len(again.tests), again.stdout, again.stderr)
	}
	if n := count(Options{Coverage: true, Workers: 2}); n < least || n > most {
		t.Errorf("%d test cases with two workers", n)
	}
}

// An extension module's branches count where what a user can see does not.
func TestExtensionCoverage(t *testing.T) {
	needPython(t)
	file := written(t, "test_json.py", "import json\nfrom symchef import Str\ndef test_it(s: Str(2)):\n    return json.loads(s)\n") + "::test_it"
	run := func(coverage bool) int {
		e := runIt(t, Options{Test: file, Class: []testcase.Part{testcase.PartOutcome}, Coverage: coverage})
		if e.summary.Replay.Agreed != len(e.tests) {
			t.Errorf("%d test cases, %+v\n%s%s", len(e.tests), e.summary.Replay, e.stdout, e.stderr)
		}
		return len(e.tests)
	}
	classes, coverage := run(false), run(true)
	t.Logf("%d test cases by classes, %d by coverage", classes, coverage)
	if coverage < 2*classes {
		t.Errorf("%d test cases by classes, %d by coverage", classes, coverage)
	}
}
