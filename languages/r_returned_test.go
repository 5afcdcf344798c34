package languages_test

import (
	"encoding/json"
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
run <- function() list(NULL, TRUE, NA, 1L, -2L, 1:3, 1.5, c(-Inf, 0), "a", c("b", NA), "\u00e9", raw(0), as.raw(c(0, 255)), list(), character(),
  list(a = 1L, "b"), c(x = 1L, y = 2L), structure(list(n = 1L), class = c("S", "T")), factor("f"), new("C", x = 1), sum, globalenv(), quote(x), 1i, c(TRUE, FALSE),
  deep, strrep("x", 4000L), 1:4000)`)
	const want = `[None, True, <NA>, 1, -2, [1, 2, 3], 1.5, [-inf, 0.0], 'a', ['b', <NA>], 'é', b'', b'\x00\xff', [], [], ` +
		`{'a': 1, '': 'b'}, {'x': 1, 'y': 2}, (<S>, {'n': 1}), (<factor>, 1), (<C>, <S4>), <builtin>, <environment>, <symbol>, <complex>, [1, 0], ` +
		`[[[[[[[...]]]]]]], ..., ...]`
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
}
