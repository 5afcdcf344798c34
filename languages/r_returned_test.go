package languages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symchef/languages"
)

// TestRReturned holds what the library says an R test returned.
func TestRReturned(t *testing.T) {
	if _, err := os.Stat("/usr/bin/R"); err != nil {
		t.Skip("skipped: R is not installed")
	}
	dir := t.TempDir()
	if err := languages.Extract(dir); err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	if err := os.WriteFile(in, []byte(`{"version":1,"inputs":[]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(text string) (r result) {
		test := filepath.Join(dir, "test.R")
		if err := os.WriteFile(test, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		os.Remove(out)
		cmd := exec.Command("/usr/bin/R", "--no-echo", "--no-restore", "-f", filepath.Join(dir, "r", "symchef.R"), "--args", test)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "SYMCHEF_REPLAY="+in, "SYMCHEF_OUTCOME="+out)
		b, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if b, err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		return r
	}
	r := run(`deep <- list(1L); for (i in 1:10) deep <- list(deep)
setClass("C", representation(x = "numeric"))
setClass("D", representation(n = "character"), contains = "integer")
run <- function() list(NULL, TRUE, NA, 1L, -2L, 1:3, 1.5, c(-Inf, 0), "a", c("b", NA), "\u00e9", raw(0), as.raw(c(0, 255)), list(), character(),
  list(a = 1L, "b"), c(x = 1L, y = 2L), structure(list(n = 1L), class = c("S", "T")), factor("f"), new("C", x = 1), sum, globalenv(), quote(x), 1i, c(TRUE, FALSE),
  deep, strrep("x", 2000L), strrep("z", 150000L), as.list(1:4000), matrix(1:4, 2L), new("C", x = 2), new("D", 7L, n = "d"), y ~ x + 1, quote(x[, 1]), c(a = TRUE, b = NA), data.frame(a = 1:2), 2:1 == 1:2)`)
	want := `[None, True, <NA>, 1, -2, [1, 2, 3], 1.5, [-inf, 0.0], 'a', ['b', <NA_character_>], 'é', b'', b'\x00\xff', [], (<character>, []), ` +
		`{'a': 1, '': 'b'}, {'x': 1, 'y': 2}, (<S>, (<list>, {'n': 1})), (<factor>, 1, {'levels': 'f'}), (<C>, <S4>, {'x': 1.0}), <builtin>, <environment>, (<symbol>, 'x'), (<complex>, [0.0, 1.0]), (<logical>, [1, 0]), ` +
		`[[[[[[[...]]]]]]], '` + strings.Repeat("x", 2000) + `', '` + strings.Repeat("z", 64) + `'...(150000 in all, None), (<list>, []...(4000 in all, None)), (None, [1, 2, 3, 4], {'dim': [2, 2]}), (<C>, <S4>, {'x': 2.0}), (<D>, 7, {'n': 'd'}), (<formula>, (<language>, 'y ~ x + 1')), (<language>, 'x[, 1]'), ` +
		`(<logical>, {'a': 1, 'b': -2147483648}), (<data.frame>, {'a': [1, 2]}), (<logical>, [0, 0])]`
	if got := r.returned(t).String(); got != want {
		t.Errorf("%s %s\n%s, want\n%s", r.Kind, r.Message, got, want)
	}
	for text, want := range map[string]string{ // errors that R itself raises
		"f <- function(x) {\n  y <- x[[5]]\n  y\n}\nrun <- function() {\n  f(list(1))\n}\n":                                "test.R:6:run test.R:2:f",
		"f <- function(x) {\n  x\n}\nrun <- function() {\n  f(list(1)[[4]])\n}\n":                                          "test.R:5:run test.R:5:run",
		"run <- function() {\n  sapply(1:2, function(i) {\n    undefined + i\n  })\n}\n":                                   "test.R:2:run test.R:3:FUN",
		"f <- function(n) {\n  if (n > 1) f(n - 1)\n  else base::stop('s')\n}\nrun <- function() {\n  x <- 1\n  f(2)\n}\n": "test.R:7:run test.R:2:f test.R:2:f",
	} {
		r = run(text)
		var frames []string
		for _, f := range r.Frames {
			frames = append(frames, filepath.Base(f))
		}
		if got := strings.Join(frames, " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	// Values that are not identical are not told alike.
	r = run(`run <- function() list(1:4, matrix(1:4, 2L), matrix(1:4, 1L), array(1:4, c(1L, 2L, 2L)), structure(1:4, tsp = c(1, 4, 1), class = "ts"), c(1, 2, 3, 4), list(1L, 2L, 3L, 4L),
  list(1L), list(a = 1L), c(a = 1L), c(TRUE, FALSE), c(1L, 0L), list(TRUE, FALSE), list(1L, 0L), NA, NA_integer_, NA_real_, NA_character_, NA_complex_, "NA", "NA_character_", NaN, c(NA, NA), c(NA_character_, NA),
  character(), integer(), double(), logical(), list(), NULL, raw(), complex(), factor("a"), factor("b"), factor("a", c("a", "b")), quote(a), "a", quote(a + b), quote(a - b), "a + b", y ~ x, y ~ z, 1i, 2i, c(0, 1),
  structure(1L, note = "p"), structure(1L, note = "q"), structure(1L, other = "p"), 1L, structure(1L, class = 'Date'), data.frame(a = 1:2), data.frame(a = 1:2, row.names = c("x", "y")), list(a = 1:2), expression(a), sum, quote(a()))`)
	n, ok := r.returned(t).Node()
	if !ok {
		t.Fatal(r)
	}
	seen := map[string]int{}
	for i, v := range n.Values {
		text := fmt.Sprintf("%v", v)
		if other, twice := seen[text]; twice {
			t.Errorf("values %d and %d are both told as %s", other, i, text)
		}
		seen[text] = i
	}
}
