package session

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const stockR = "/usr/bin/R"

// needR skips where R is missing.
func needR(t *testing.T) {
	t.Helper()
	if !exists(stockR) {
		t.Skipf("skipped: %s is not installed", stockR)
	}
}

// Every kind of outcome and of input; setup runs before the test; a mistake gives one line.
func TestRKinds(t *testing.T) {
	needR(t)
	const file = "testdata/kinds.R"
	e := runIt(t, Options{Test: file + "::test_kinds", Interpreter: stockR})
	want := []string{
		"assertion simpleError: said",
		"exception CStackOverflowError: C stack usage is too close to the limit",
		"exception simpleError: non-numeric argument to mathematical function",
		"exception subscriptOutOfBoundsError: subscript out of bounds",
		"exit 7",
		"expected boom: loud",
		"expected simpleError: bad luck",
		"ok",
	}
	if got := e.outcomes(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q\n%s", got, want, e.stderr)
	}
	// quit removes R's temporary folder by a shell, whose handler of SIGCHLD runs wherever it is: the one reason there is.
	for _, why := range e.summary.WhyNotExhausted {
		if !strings.HasPrefix(why, "one schedule of several: SIGCHLD from ") {
			t.Errorf("not exhausted: %s", why)
		}
	}
	if e.summary.Replay.Agreed != len(e.tests) {
		t.Errorf("replay: %+v\n%s", e.summary.Replay, e.stdout)
	}
	e = runIt(t, Options{Test: file, Interpreter: stockR})
	if e.status != StatusUsage || !strings.HasSuffix(e.stderr, "kinds.R: several tests in the file, choose one with ::NAME: test_double, test_inputs, test_kinds, test_number, test_text\n") || strings.Count(e.stderr, "\n") != 1 {
		t.Errorf("status %d, %q", e.status, e.stderr)
	}
	slow(t)
	e = runIt(t, Options{Test: file + "::test_inputs", Interpreter: stockR})
	e.sound(t)
	if got := len(e.classes()); got != 10 {
		t.Errorf("%d classes, want 10\n%s%s", got, e.stdout, e.stderr)
	}
	for _, x := range e.tests {
		b, _ := x.Inputs[0].Bool()
		c, _ := x.Inputs[1].Choice()
		n, _ := x.Inputs[2].Int()
		if want := fmt.Sprintf("values %s %s %d", strings.ToUpper(fmt.Sprint(b)), []string{"p", "q"}[c], n); len(x.Log) != 1 || x.Log[0] != want {
			t.Errorf("%s logged %q, want %q", x.ID, x.Log, want)
		}
	}
	e = runIt(t, Options{Test: file + "::test_double", Interpreter: stockR})
	if e.sound(t); len(e.classes()) != 9 {
		t.Errorf("%d classes, want 9\n%s%s", len(e.classes()), e.stdout, e.stderr)
	}
	// The text of a number splits paths by its digits, not by its value.
	e = runIt(t, Options{Test: file + "::test_number", Interpreter: stockR})
	if e.sound(t); e.summary.Paths.Low > 6 {
		t.Errorf("%d low-level paths, want at most 6\n%s", e.summary.Paths.Low, e.stdout)
	}
	if got := e.outcomes(); len(got) != 2 || !strings.HasPrefix(got[0], "exception simpleError: too big: 9999") {
		t.Errorf("got %q\n%s", got, e.stderr)
	}
	// As many classes as a native run over all 65536 values has.
	e = runIt(t, Options{Test: file + "::test_text", Interpreter: stockR})
	if e.sound(t); len(e.classes()) != 8 {
		t.Errorf("%d classes, want 8\n%s%s", len(e.classes()), e.stdout, e.stderr)
	}
}

// The examples have exactly as many classes of (outcome, output) as their headers say, and as many high-level and low-level paths as stated.
func TestRExamples(t *testing.T) {
	needR(t)
	for _, x := range []struct {
		file               string
		classes, high, low int
		needs              string
		slow               bool // run with SYMCHEF_SLOW=1
	}{
		{"email.R", 2, 2, 7, "", false},
		{"lookup.R", 6, 2, 11, "", true},
		{"test_json.R", 3, 6, 6, "/usr/lib/R/site-library/jsonlite", true},
		{"triangle.R", 4, 8, 8, "", true},
		{"utf8.R", 4, 15, 15, "", true},
	} {
		t.Run(x.file, func(t *testing.T) {
			if x.slow {
				slow(t)
			}
			if x.needs != "" && !exists(x.needs) {
				t.Skipf("skipped: %s is not installed", x.needs)
			}
			e := runIt(t, Options{Test: "../../examples/r/" + x.file, Interpreter: stockR})
			e.sound(t)
			if got := len(e.classes()); got != x.classes {
				t.Errorf("%d classes, want %d\n%s%s", got, x.classes, e.stdout, e.stderr)
			}
			if e.summary.Paths.High != x.high || e.summary.Paths.Low != x.low {
				t.Errorf("%d high-level and %d low-level paths, want %d and %d", e.summary.Paths.High, e.summary.Paths.Low, x.high, x.low)
			}
			t.Logf("%d low-level paths, %d infeasible, %d queries", e.summary.Paths.Low, e.summary.Paths.Infeasible, e.summary.Solver.Queries)
		})
	}
}

// Lines are those of statements: of the test, and of files that it sources; what no path comes to is not among them.
func TestRCoverage(t *testing.T) {
	needR(t)
	dir := t.TempDir()
	test, helper := filepath.Join(dir, "test.R"), filepath.Join(dir, "helper.R")
	for path, text := range map[string]string{helper: `classify <- function(n) {
  if (n < 0L) {
    "negative"
  } else if (n > 100L) {
    "huge"
  } else
    "small"
}
`, test: `source("helper.R")
test_classify <- function() {
  n <- symchef$integer("n", -5L, 5L)
  kind <- classify(n)
  if (kind == "huge")
    stop("impossible")
  n
}
`} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	e := runIt(t, Options{Test: test, Interpreter: stockR})
	e.sound(t)
	if want := map[string][]int{test: {3, 4, 5, 7}, helper: {2, 3}}; !e.summary.Exhausted || !reflect.DeepEqual(e.coverage(t), want) {
		t.Errorf("exhausted: %v, lines %v, want %v", e.summary.Exhausted, e.coverage(t), want)
	}
	at := map[string]bool{}
	for _, x := range e.tests {
		for _, d := range x.Decisions {
			at[d.Source] = true
		}
	}
	if !at["helper.R:2"] {
		t.Errorf("no decision is at the condition: %v", at)
	}
}
