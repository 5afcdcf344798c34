package session

import (
	"context"
	"fmt"
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

// Paths that take turns are the same paths: with states that are kept or not, with another engine, several workers, by complete high-level states,
// after a resume.
func TestSlices(t *testing.T) {
	for name, o := range targets(t) {
		t.Run(name, func(t *testing.T) {
			o.AllPaths, o.NoReplay = true, true
			want := runIt(t, o)
			o.Slice = 1 << 12
			for what, change := range map[string]func(*Options){
				"as they are":      func(*Options) {},
				"without states":   func(o *Options) { o.Virtual = true },
				"with few states":  func(o *Options) { o.Thinned = true },
				"without engine":   func(o *Options) { o.Forgetful = true },
				"with two workers": func(o *Options) { o.Workers = 2 },
				"random":           func(o *Options) { o.Strategy = "random-path" },
				"complete":         func(o *Options) { o.Complete = o.Test != "" },
			} {
				o := o
				change(&o)
				got := runIt(t, o)
				if outcomes(got.tests) != outcomes(want.tests) {
					t.Errorf("%s: %d test cases, not %d, or others\n%s", what, len(got.tests), len(want.tests), got.stderr)
				}
				if got.summary.Exhausted != want.summary.Exhausted {
					t.Errorf("%s: %v", what, got.summary.WhyNotExhausted)
				}
			}
		})
	}
}

// forever has one path for each first byte; most of them never end.
const forever = `#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <sys/time.h>
volatile unsigned n, zero; char line[8]; volatile unsigned long sum;
int main() {
	switch (getchar()) {
	case 'a': for (;;); // the same again at once
	case 'b': for (n = 0; ; n = (n + 1) % 1000); // the same again after a thousand rounds
	case 'c': while (!feof(stdin) || fgets(line, 8, stdin) == 0); return 1; // asks for more at the end of a file
	case 'd': while (read(0, line, 8) != 8); return 1; // likewise, without a buffer
	case 'e': for (;;) sum++; // never the same
	case 'f': for (;;) n = time(0) & 1; // looks at the clock
	case 'g': { struct itimerval v = {{0}, {0, 500}}; setitimer(ITIMER_VIRTUAL, &v, 0); for (;;); } // ended by a signal, whenever it comes
	case 'h': for (;;) sleep(1);
	case 'i': for (n = 0; n < 3000000; n++); return 9; // long
	case 'j': while (getppid() != 1); return 1; // asks the kernel
	}
	return 0; }`

// A loop that comes to the same state again is proved to have no end, and takes nothing from the proof that all was explored; one that
// counts or looks at the clock is not, and ends by the limit of instructions; what only takes long is no hang.
func TestHang(t *testing.T) {
	src := filepath.Join(t.TempDir(), "p.c")
	if err := os.WriteFile(src, []byte(forever), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Program: []string{compile(t, src, "-O1")}, StdinLen: 1, NoReplay: true, AllPaths: true, PathInstructions: 40_000_000}
	want := map[byte]string{
		'a': "proved", 'b': "proved", 'c': "proved", 'd': "proved", 'j': "proved", 'e': "more than 40000000 instructions",
		'f': "more than 40000000 instructions", 'g': "SIGVTALRM", 'h': "more than 40000000 instructions", 'i': "9",
	}
	e := runIt(t, o)
	for _, x := range e.tests {
		in, err := x.Inputs[0].Bytes()
		if err != nil {
			t.Fatal(err)
		}
		text, known := want[in[0]]
		delete(want, in[0])
		got := x.Outcome.Message + x.Outcome.Signal
		if x.Outcome.Kind != testcase.Hang {
			got = strings.TrimSpace(strings.Join([]string{x.Outcome.Signal, string('0' + rune(x.Outcome.ExitStatus))}, ""))
		}
		if known && !strings.HasPrefix(got, text) {
			t.Errorf("%q: %v", in[0], x.Outcome)
		}
	}
	if len(want) > 0 {
		t.Errorf("no test cases for %v\n%v\n%s", want, e.summary.WhyNotExhausted, e.stderr)
	}
	if why := e.summary.WhyNotExhausted; e.summary.Exhausted || len(why) != 1 || why[0] != "limit: --path-instructions (3 times)" {
		t.Errorf("exhausted: %v, %v", e.summary.Exhausted, why)
	}
}

// A reader that never leaves a comment without an end does not keep the other classes from being found, nor does it take memory: each hang is found within few
// instructions, in its loop, confirmed natively.
func TestComment(t *testing.T) {
	for name, o := range map[string]Options{
		"lua":    {Test: "../../examples/lua/comment.lua", Interpreter: luas(t)[0]},
		"python": {Test: "../../examples/python/test_comment.py"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "python" {
				needPython(t)
			}
			o.Strategy = "cupa-path"
			e := runIt(t, o)
			if why := strings.Join(e.summary.WhyNotExhausted, ", "); why != map[string]string{"lua": "a hang that is not proved (7 times)", "python": ""}[name] {
				t.Errorf("not exhausted: %s", why)
			}
			got := map[string]int{}
			for _, x := range e.tests {
				got[string(x.Outcome.Kind)]++
				if x.Outcome.Kind != testcase.Hang {
					continue
				}
				if in, err := x.Inputs[0].Bytes(); err != nil || !strings.Contains(string(in), "/*") {
					t.Errorf("%q hangs, %v", in, err)
				}
				if at := string(x.Loop); !strings.Contains(at, map[string]string{"lua": "comment.lua:10", "python": "test_comment.py:10:skip"}[name]) {
					t.Errorf("in a loop at %s", at)
				}
			}
			if s := e.summary; s.Paths.Low != 29 || got["hang"] != 6 || got["ok"]+got["exception"] != 22 || len(s.Findings) != 3 || s.Replay.Agreed != len(e.tests) {
				t.Errorf("%v, %+v, %d findings\n%s%s", got, s.Paths, len(s.Findings), e.stdout, e.stderr)
			}
			if n := e.summary.Instructions.Total; n > 350_000_000 {
				t.Errorf("%d instructions", n)
			}
			if st, err := os.Stat(filepath.Join(e.dir, "frontier.bin")); err == nil && st.Size() > 1<<20 {
				t.Errorf("a frontier of %d bytes", st.Size())
			}
			t.Logf("%v, %d instructions, %d MB", got, e.summary.Instructions.Total, e.summary.MemoryPeakBytes>>20)
		})
	}
}

// endless has one program for each way in which a loop without an end may change its state from round to round.
var endless = map[string]string{
	"append.lua": `local symchef = require "symchef"
return function()
  local t = {}
  if symchef.string("text", 1) == "a" then repeat t[#t + 1] = #t until false end
end
`,
	"concatenate.lua": `local symchef = require "symchef"
return function()
  local s = ""
  if symchef.string("text", 1) == "a" then while true do s = s .. "x" end end
end
`,
	"test_count.py": `import symchef
def test_it(text: symchef.Str(1)):
    n = 1 << 80
    while text == "a":
        n += 1
`,
	"test_generator.py": `import itertools, symchef
def squares():
    for n in itertools.count():
        yield n * n
def test_it(text: symchef.Str(1)):
    if text == "a":
        for n in squares():
            if n < 0:
                return
`,
	"test_append.py": `import symchef
def test_it(text: symchef.Str(1)):
    seen = []
    while text == "a":
        seen.append(len(seen))
`,
	"grow.R": `test_grow <- function() {
  text <- symchef$string("text", 1L)
  x <- 1
  if (text == "a") repeat x <- c(x, 1)
}
`,
	"leak.c": `#include <stdio.h>
#include <stdlib.h>
int main() { if (getchar() == 'a') for (;;) { char *volatile p = malloc(16); if (p) *p = 1; } return 0; }`,
	"count.c": `#include <stdio.h>
volatile unsigned long n;
int main() { if (getchar() == 'a') for (;;) n++; return 0; }`,
}

// Loops without an end that never come to the same state again are hangs all the same, each after few instructions; the other paths end as they do.
func TestEndless(t *testing.T) {
	for name, text := range endless {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			o := Options{Test: src, Strategy: "cupa-path"}
			switch filepath.Ext(name) {
			case ".c":
				o = Options{Program: []string{compile(t, src, "-O1")}, StdinLen: 1}
			case ".lua":
				o.Interpreter = luas(t)[0]
			case ".py":
				needPython(t)
			case ".R":
				needR(t)
				o.Interpreter = stockR
			}
			e := runIt(t, o)
			hangs := 0
			for _, x := range e.tests {
				if x.Outcome.Kind == testcase.Hang {
					hangs++
					if !strings.Contains(x.Outcome.Message, "instructions, and natively ") {
						t.Errorf("%v", x.Outcome)
					}
				} else if x.Outcome.Kind != testcase.OK {
					t.Errorf("%v", x.Outcome)
				}
			}
			s := e.summary
			if hangs != 1 || s.Instructions.Total > 60_000_000 || s.Replay.Agreed != len(e.tests) || s.Exhausted || len(s.WhyNotExhausted) != 1 || s.WhyNotExhausted[0] != "a hang that is not proved" {
				t.Errorf("%d hangs, %d instructions, %+v, %v\n%s%s", hangs, s.Instructions.Total, s.Replay, s.WhyNotExhausted, e.stdout, e.stderr)
			}
		})
	}
}

// counting takes long, and ends.
const counting = `#include <stdio.h>
volatile unsigned n;
int main() { if (getchar() == 'a') for (n = 0; n < 30000000; n++); return 9; }`

// A path that is long and ends natively goes on in the machine to its end, whether its memory grows or not; so it does with two workers, and where nobody is
// asked. Only a limit that the user gives cuts it off: then it is no finding.
func TestLong(t *testing.T) {
	dir := t.TempDir()
	recursion, counts := filepath.Join(dir, "recursion.lua"), filepath.Join(dir, "counting.c")
	for path, text := range map[string]string{
		recursion: `local symchef = require "symchef"
local function f(n) return 1 + f(n + 1) end
return function()
  if symchef.string("text", 1) == "a" then f(1) end
end
`,
		counts: counting,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("recursion", func(t *testing.T) {
		e := runIt(t, Options{Test: recursion, Interpreter: luas(t)[0]})
		e.sound(t)
		if got := e.outcomes(); len(got) != 2 || !strings.Contains(strings.Join(got, "\n"), "stack overflow") || !e.summary.Exhausted {
			t.Errorf("%q, %v", got, e.summary.WhyNotExhausted)
		}
	})
	program := []string{compile(t, counts, "-O1")}
	for name, o := range map[string]Options{"asked": {}, "two workers": {Workers: 2}, "nobody is asked": {NoReplay: true}} {
		t.Run(name, func(t *testing.T) {
			o.Program, o.StdinLen, o.AllPaths = program, 1, true
			e := runIt(t, o)
			if s := e.summary; !s.Exhausted || s.Tests.Exit != 2 || s.Tests.Total() != 2 || s.Instructions.Total < 100_000_000 {
				t.Errorf("%+v, %v, %d instructions\n%s", s.Tests, s.WhyNotExhausted, s.Instructions.Total, e.stderr)
			}
		})
	}
	t.Run("limit", func(t *testing.T) {
		e := runIt(t, Options{Program: program, StdinLen: 1, AllPaths: true, PathInstructions: 20_000_000})
		check := func(s rundir.Summary) {
			t.Helper()
			why := strings.Join(s.WhyNotExhausted, "\n")
			if s.Replay.NotCompared != 1 || s.Replay.Ended != 1 || s.Failing() != 0 || len(s.Findings) != 0 || !strings.Contains(why, "natively it ends") || !strings.Contains(why, "limit: --path-instructions") {
				t.Errorf("%+v, %d failing, %v, %s", s.Replay, s.Failing(), s.Findings, why)
			}
		}
		if check(e.summary); e.status != StatusOK {
			t.Errorf("status %d", e.status)
		}
		for range 2 {
			d, err := rundir.Open(e.dir)
			if err != nil {
				t.Fatal(err)
			}
			w, err := rundir.Lock(e.dir)
			if err != nil {
				t.Fatal(err)
			}
			_, err = replay.Dir(context.Background(), d, w, e.tests, replay.Options{Settle: Settle(e.tests)})
			w.Close()
			if err != nil {
				t.Fatal(err)
			}
			if d, err = rundir.Open(e.dir); err != nil {
				t.Fatal(err)
			}
			check(d.Summary)
		}
	})
}

// A query that is too hard for its budget waits until nothing easier is left, and is then asked with more; so nothing is lost that can be found.
// Where all paths are long, the first comes to its end soon though many others have begun: it has most of the machine until one has ended; and one that
// never ends does not keep the others from it.
func TestFirstEnd(t *testing.T) {
	const src = `#include <stdio.h>
volatile unsigned long n; unsigned char s[64];
int main() { if (fread(s, 1, 64, stdin) != 64) return 1;
	for (int i = 0; i < 2048; i++) { if (s[i % 64] == i / 64 + 'A' - LOOP) n++; for (int k = 0; k < 6000; k++) n++; while (LOOP && s[0] == 'a' && i == 999) n++; }
	return 0; }`
	file := filepath.Join(t.TempDir(), "p.c")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		loop string
		most uint64 // instructions
	}{{"0", 150_000_000}, {"1", 600_000_000}} { // a path takes 61,000,000
		o := Options{Program: []string{compile(t, file, "-O1", "-DLOOP="+x.loop)}, StdinLen: 64, NoReplay: true, Instructions: x.most, PathInstructions: 1 << 40, Strategy: "bfs"}
		e := runIt(t, o)
		if len(e.tests) == 0 || e.tests[0].Outcome.Kind != testcase.OK {
			t.Errorf("%s: %d test cases, %v", x.loop, len(e.tests), e.summary.WhyNotExhausted)
		}
	}
}

// Paths that have not come to an end when a run does are named, with the place of the longest.
func TestStillRunning(t *testing.T) {
	needPython(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"test_x.py": "import symchef\ndef test_x(s: symchef.Str(2)):\n    n = []\n    for c in s:\n        if c in 'ab':\n            while True:\n                n.append(c)\n",
		"p.c":       "#include <stdio.h>\nvolatile unsigned long n;\nint main() { if (getchar() == 'x') for (;;) n++; return 0; }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	limits := Options{Instructions: 16_000_000, PathInstructions: 1 << 40, NoReplay: true}
	py, c := limits, limits
	py.Test = filepath.Join(dir, "test_x.py")
	c.Program, c.StdinLen = []string{compile(t, filepath.Join(dir, "p.c"), "-O1")}, 1
	for _, x := range []struct {
		o    Options
		says string
	}{
		{py, `^\d paths? still running, the longest for \d{7,8} instructions, in its loop at test_x.py:6 in test_x$`},
		{c, `^1 path still running, the longest for \d{7,8} instructions, at .*/prog\+0x[0-9a-f]+$`},
	} {
		why := runIt(t, x.o).summary.WhyNotExhausted
		if !slices.ContainsFunc(why, regexp.MustCompile(x.says).MatchString) {
			t.Errorf("%q, want %s", why, x.says)
		}
	}
}

// A run whose queries are all too hard ends by itself, and says so: when they have taken so much in vain, one after the other. What is easy behind them is
// found before.
func TestVain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hard.lua")
	if err := os.WriteFile(file, []byte(`local symchef = require "symchef"
function test_hard()
  local a, b, hits = symchef.integer("a", 1, 1 << 62), symchef.integer("b", 1, 1 << 62), 0
  for i = 1, 16 do
    a = a * b + i
    b = b * b ~ a
    if (a >> 40) * b >> 45 == 7 + i then hits = hits + 1 end
  end
  if symchef.boolean("late") then return hits end
end
`), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Test: file, Interpreter: luas(t)[0], NoReplay: true, SolverBudget: 500}
	for _, x := range []struct {
		strategy string
		workers  int
	}{{"bfs", 1}, {"dfs", 1}, {"bfs", 2}} {
		o.Strategy, o.Workers, o.Vain = x.strategy, x.workers, 8
		e := runIt(t, o)
		why := fmt.Sprint(e.summary.WhyNotExhausted)
		if !strings.Contains(why, fmt.Sprintf("limit: %d times the budget of a query in vain, one after the other", 8*x.workers)) || !strings.Contains(why, "set aside: solver: undecided query at hard.lua:7") {
			t.Errorf("%v: %s\n%s", x, why, e.stderr)
		}
		if n := e.summary.Solver.Unknown; x.workers == 1 && (n < 4 || n > 4+4*16 || len(e.tests) != 2) {
			t.Errorf("%v: %d queries in vain, %d test cases", x, n, len(e.tests))
		}
	}
	o.Strategy, o.Workers, o.Vain = "dfs", 1, 1000 // enough to give up each
	e := runIt(t, o)
	if why := fmt.Sprint(e.summary.WhyNotExhausted); !strings.Contains(why, "16 times the budget") || strings.Contains(why, "limit") || e.summary.Paths.Pending != 0 {
		t.Error(why)
	}
}

func TestSetAside(t *testing.T) {
	src := filepath.Join(t.TempDir(), "p.c")
	if err := os.WriteFile(src, []byte(`#include <stdio.h>
int main() { unsigned short a[2]; if (fread(a, 2, 2, stdin) != 2) return 1;
	unsigned p = a[0], q = a[1];
	if (p > 1 && q > 1 && p * q == 251 * 241) return 2;
	return (a[0] & 1) + 3; }`), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Program: []string{compile(t, src, "-O1")}, StdinLen: 4, NoReplay: true, AllPaths: true}
	want := outcomes(runIt(t, o).tests)
	aside := 0
	for _, budget := range []uint64{500, 2000, 8000} {
		o.SolverBudget = budget
		e := runIt(t, o)
		unknown := e.summary.Solver.Unknown
		t.Logf("budget %d: %d unknown, %v", budget, unknown, e.summary.WhyNotExhausted)
		if e.summary.Exhausted {
			if unknown > 0 {
				aside++
			}
			if outcomes(e.tests) != want {
				t.Errorf("budget %d: %d test cases, or others", budget, len(e.tests))
			}
		} else if why := e.summary.WhyNotExhausted[0]; !strings.Contains(why, "solver: undecided query at ") || !strings.Contains(why, "16 times the budget") {
			t.Errorf("budget %d: %s", budget, why)
		}
	}
	if aside == 0 {
		t.Error("no query was answered by more")
	}
}
