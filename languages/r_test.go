package languages_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/languages"
)

const rTest = `
run <- function() {
  s <- symchef$string("s\u00e9\"", 9L, 0L)
  stopifnot(nchar(s) == 6L, substr(s, 3L, 5L) == "\"\\\n", identical(symchef$raw("b", 3L), as.raw(c(0L, 200L, 255L))), length(symchef$raw("none", 3L, 0L)) == 0L)
  stopifnot(identical(symchef$integer("n"), -2147483647L), identical(symchef$logical("f"), TRUE), symchef$choice("c", list("p", 2)) == 2)
  stopifnot(symchef$integer("n", -9, 9) == -7L, identical(symchef$concretize(s), s), symchef$concretize(1.5) == 1.5)
  stopifnot(identical(symchef$double("x", -1, 1), -0x1.999999999999ap-4), 1 / symchef$double("x") == -Inf, symchef$double("x") == Inf)
  symchef$log("a", 1L, TRUE, s)
  symchef$log()
  cat("out\n")
  reg.finalizer(environment(), function(e) cat("at the end\n"), onexit = TRUE)
  stop("m\001\"\\\n\177", "\u00e9")
}
`

// TestRReplay holds the reading of inputs and the writing of outcomes against R.
func TestRReplay(t *testing.T) {
	if _, err := os.Stat("/usr/bin/R"); err != nil {
		t.Skip("skipped: R is not installed")
	}
	dir := t.TempDir()
	if err := languages.Extract(dir); err != nil {
		t.Fatal(err)
	}
	test, in, out := filepath.Join(dir, "test.R"), filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	text := "ab\"\\\nz"
	data, err := json.Marshal(map[string]any{"version": 1, "inputs": []value{
		{"sé\"", "str", text, "6162225c0a7a"}, {"b", "bytes", nil, "00c8ff"}, {"none", "bytes", nil, ""}, integer("n", -2147483647),
		{"f", "bool", true, ""}, {"c", "choice", 1, ""}, integer("n", -7), {"x", "float", "-0.1", "9a9999999999b9bf"},
		{"x", "float", "-0", "0000000000000080"}, {"x", "float", "+Inf", "000000000000f07f"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{test: []byte(rTest), in: data} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(test string) (r result) {
		cmd := exec.Command("/usr/bin/R", "--no-echo", "--no-restore", "-f", filepath.Join(dir, "r", "symchef.R"), "--args", test)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "SYMCHEF_REPLAY="+in, "SYMCHEF_OUTCOME="+out)
		stdout, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%s: %v", test, err)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		r.stdout, r.status = string(stdout), cmd.ProcessState.ExitCode()
		return r
	}
	r := run(test)
	if want := []string{"a 1 TRUE " + text, ""}; r.Kind != "exception" || r.Type != "simpleError" || r.Message != "m\x01\"\\\n\x7fé" || !slices.Equal(r.Log, want) || r.stdout != "out\nat the end\n" || r.status != 0 {
		t.Errorf("%+v", r)
	}
	for text, want := range map[string]string{
		"f <- function( {\n":   "mistake.R:1:16: unexpected '{'",
		"stop('no file')\n":    "mistake.R: no file",
		"x <- 1\n":             "mistake.R: no test: define a function run or test...",
		"symchef$integer('n')": "mistake.R: inputs exist only inside a test run by symchef",
		"run <- function() symchef$integer('n', 5L, 1L)": "mistake.R: input n: integer(name, least, most, default) needs whole numbers, least <= most",
		"run <- function() symchef$raw('n', 1L)":         "mistake.R: replay: the test declares bytes n, the file has str sé\"",
	} {
		test := filepath.Join(dir, "mistake.R")
		if err := os.WriteFile(test, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := run(test); r.Kind != "usage" || !strings.HasSuffix(r.Message, want) || r.status != 2 {
			t.Errorf("%q: %+v, want %q", text, r, want)
		}
	}
}

// rOwn are bodies of tests that take from the library what R lets them: options that its code would depend on, its frames. All of them return 3.25.
var rOwn = []string{
	"options(expressions = 60)",
	"options(expressions = 30, error = quote(cat('hook')), warn = 2, digits = 1, scipen = 100, OutDec = ',', encoding = 'latin1')",
	"options(expressions = 25); symchef$log('a', 1)",
	"options(check.bounds = TRUE, warn = 2); symchef$log('a'); symchef$concretize('b')",
	"options(warnPartialMatchDollar = TRUE, warnPartialMatchArgs = TRUE, warnPartialMatchAttr = TRUE, warn = 2); symchef$log('a')",
	"options(encoding = 1L, keep.source = NA, width = 10, deparse.cutoff = 20, warning.length = 100, useFancyQuotes = 2)",
	"options(encoding = 'none such', showErrorCalls = FALSE, browserNLdisabled = TRUE); closeAllConnections()",
	"Sys.setlocale('LC_ALL', 'C'); symchef$log('\\u00e9')",
	"sink('/dev/null'); sink(stdout(), type = 'message')",
	"setTimeLimit(elapsed = 0.3); setSessionTimeLimit(elapsed = 0.3)",
	"for (i in seq_len(sys.nframe())) { fr <- sys.frame(i); if (!identical(fr, environment())) rm(list = ls(fr, all.names = TRUE), envir = fr) }",
	"for (f in rev(sys.frames())) if (!identical(f, environment())) for (n in ls(f, all.names = TRUE)) assign(n, NULL, f)",
}

// TestROwn: such a test does in the library's hands what it does when it is called by a script.
func TestROwn(t *testing.T) {
	if _, err := os.Stat("/usr/bin/R"); err != nil {
		t.Skip("skipped: R is not installed")
	}
	dir := t.TempDir()
	if err := languages.Extract(dir); err != nil {
		t.Fatal(err)
	}
	test, plain, in, out := filepath.Join(dir, "test.R"), filepath.Join(dir, "plain.R"), filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(in, `{"version":1,"inputs":[]}`)
	for _, body := range rOwn {
		text := "run <- function() {\n" + body + "\n3.25\n}\n"
		write(test, text)
		write(plain, "symchef <- list(log = function(...) NULL, concretize = identity)\n"+text+"x <- run()\nquit('no', if (x == 3.25) 0L else 9L)\n")
		if b, err := exec.Command("/usr/bin/R", "--no-echo", "--no-restore", "-f", plain).CombinedOutput(); err != nil {
			t.Errorf("%s: by itself: %v %s", body, err, b)
		}
		os.Remove(out)
		cmd := exec.Command("/usr/bin/R", "--no-echo", "--no-restore", "-f", filepath.Join(dir, "r", "symchef.R"), "--args", test)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "SYMCHEF_REPLAY="+in, "SYMCHEF_OUTCOME="+out)
		said, err := cmd.CombinedOutput()
		b, _ := os.ReadFile(out)
		var r result
		if bad := json.Unmarshal(b, &r); err != nil || bad != nil || r.Kind != "ok" || r.returned(t).String() != "3.25" || len(said) > 0 {
			t.Errorf("%s: %v %s\n%s", body, err, b, said)
		}
	}
}
