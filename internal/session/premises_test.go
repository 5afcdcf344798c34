package session

import (
	"os"
	"slices"
	"strings"
	"testing"

	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// Every premise of `exhausted` is broken by a run, which says so.
func TestPremisesBroken(t *testing.T) {
	const (
		three = `if (b[0] == 'x') puts("x"); else if (b[0] == 'y') puts("y");`
		fixed = `#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
int main(void) { char b[3]; read(0, b, 3); `
	)
	for _, tt := range []struct {
		name, main string
		edit       bool // the program, while it is explored
		o          Options
		premise    rundir.Premise // "" : exhausted
		why        string
	}{
		{name: "holds", main: three},
		{name: "limit", main: three, o: Options{MaxPaths: 1}, premise: rundir.Explored, why: "limit: --max-paths"},
		{name: "cut off", main: `if (b[0] == 'x') for (volatile int i = 0; i < 4000000; i++) ;`, o: Options{PathInstructions: 1 << 21}, premise: rundir.Kept, why: "limit: --path-instructions"},
		{name: "unsupported", main: `if (b[0] == 'x') syscall(9999); puts("y");`, premise: rundir.Kept, why: "unsupported: "},
		{name: "diverged", main: `unsigned char v; mincore(mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, &v); puts(v & 1 ? "resident" : "not");`, premise: rundir.Compared, why: "1 test case diverged natively"},
		{name: "unstable", main: `struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); printf("%ld", now.tv_nsec);`, premise: rundir.Compared, why: "1 test case unstable"},
		{name: "not compared", main: `if (b[0] == 'x') syscall(9999); puts("y");`, premise: rundir.Compared, why: "1 test case not compared natively"},
		{name: "no replay", main: three, premise: rundir.Compared, why: "no such file or directory", o: Options{OnTest: func(testcase.Test) { os.Setenv("TMPDIR", "/nonexistent") }}},
		{name: "not replayed", main: three, premise: rundir.Compared, why: "3 test cases not replayed", o: Options{OnTest: func(testcase.Test) { os.Setenv("TMPDIR", "/nonexistent") }}},
		{name: "changed meanwhile", main: three, edit: true, premise: rundir.Compared, why: " since the run began"},
		{name: "nobody wants a replay", main: `printf("%d", getpid() == 1000);`, o: Options{NoReplay: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := program(t, fixed+tt.main+" return 0; }")
			if tt.o.Program, tt.o.StdinLen = []string{p}, 3; tt.edit {
				tt.o.OnTest = func(testcase.Test) { // it does the same as before
					text, err := os.ReadFile(p)
					if err != nil || os.Remove(p) != nil || os.WriteFile(p, append(text, 0), 0o755) != nil {
						t.Error("cannot be edited: ", err)
					}
				}
			}
			out := t.TempDir()
			t.Setenv("TMPDIR", os.TempDir()) // put back at the end
			e := runIn(t, out, tt.o)
			broken := e.summary.Premises[tt.premise]
			if e.summary.Exhausted != (tt.premise == "") || tt.premise != "" && !slices.ContainsFunc(broken, func(s string) bool { return strings.Contains(s, tt.why) }) {
				t.Errorf("exhausted %v, %s: %q, want %q\n%s%s", e.summary.Exhausted, tt.premise, broken, tt.why, e.stdout, e.stderr)
			}
			if !e.summary.Exhausted && !slices.ContainsFunc(e.summary.WhyNotExhausted, func(s string) bool { return strings.Contains(s, tt.why) }) {
				t.Errorf("why not exhausted: %q", e.summary.WhyNotExhausted)
			}
			if ran := e.summary.Premises[rundir.Ran]; len(ran) > 0 { // or no replay afterwards could make it exhausted
				t.Errorf("what replay lacks is said of the run: %q", ran)
			}
			if says := strings.Contains(e.stdout, "nothing was compared natively"); says != tt.o.NoReplay {
				t.Errorf("says that nothing was compared: %v\n%s", says, e.stdout)
			}
		})
	}
}
