package emit

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// rSources are two ways to write one test.
var rSources = map[string]string{
	"run":      "source('helper.R', local = TRUE)\nrun <- function() {\nBODY\n}\n",
	"test_s4":  "source('helper.R', local = TRUE)\nsetClass('P', representation(x = 'numeric'))\nsetGeneric('half', function(p) standardGeneric('half'))\nsetMethod('half', 'P', function(p) p@x / 2)\ntest_s4 <- function() {\n  stopifnot(half(new('P', x = 3)) == 1.5)\nBODY\n}\n",
	"test_one": "source('helper.R', local = TRUE)\nready <- FALSE\nsetup <- function() ready <<- TRUE\ntest_one <- function() {\n  stopifnot(ready)\nBODY\n}\n",
}

const rBody = `
  symchef$expect("unlucky")
  s <- symchef$string("s", 3L)
  stopifnot(identical(symchef$raw("b", 2L), as.raw(c(0L, 255L))), identical(symchef$integer("n", -5L, 5L), -5L), symchef$logical("f"))
  stopifnot(symchef$choice("c", c("p", "q")) == "q", symchef$integer("n") == seven, symchef$integer("a b") == 1L)
  stopifnot(symchef$double("x") * 10 == 1, identical(symchef$double("if"), -Inf))
  symchef$log(symchef$concretize(s))
  if (s == "bad") stop("unlucky")
  if (s == "val") stop("no\n")
  stopifnot(s != "ass")`

// rStub is as much of testthat as the emitted files use.
const rStub = `
failed <- FALSE
test_that <- function(name, code) {
  tryCatch(code, skipped = function(e) NULL, error = function(e) { message(name, ": ", conditionMessage(e)); failed <<- TRUE })
}
skip <- function(reason) stop(structure(class = c("skipped", "condition"), list(message = reason, call = NULL)))
fail <- function(why) stop(why)
succeed <- function() NULL
setwd(dirname(commandArgs(TRUE)))
sys.source(basename(commandArgs(TRUE)), globalenv())
quit("no", if (failed) 1L else 0L)`

// The emitted file is green, and red when a finding is repaired or an expected error stays away: in testthat where that is
// installed, and in R with a stub for it.
func TestTestthatRuns(t *testing.T) {
	const rscript = "/usr/bin/Rscript"
	if _, err := os.Stat(rscript); err != nil {
		t.Skipf("skipped: %s is not installed", rscript)
	}
	dir := t.TempDir()
	write := writerIn(t, dir)
	commands := [][]string{{rscript, write("stub.R", rStub)}}
	if exec.Command(rscript, "-e", "library(testthat)").Run() == nil {
		commands = append(commands, []string{rscript, "-e", "testthat::test_file(commandArgs(TRUE), stop_on_failure = TRUE)"})
	} else {
		t.Log("skipped: testthat is not installed")
	}
	var tests []testcase.Test
	for _, x := range sample("simpleError") {
		if x.Outcome.Failing() {
			x.Outcome.Type = "simpleError"
		}
		x.Inputs = append(x.Inputs, testcase.Int("n", 7), testcase.Int("a b", 1), testcase.Float("x", 0.1), testcase.Float("if", math.Inf(-1)))
		tests = append(tests, x)
	}
	write("code/helper.R", "seven <- 7L\n")
	for name, source := range rSources {
		path := write("code/mail.R", "")
		emitted := filepath.Join(dir, "tests", "test-mail.R")
		var b strings.Builder
		if err := Write(&b, Testthat, emitted, testcase.Target{Kind: "r", Path: path, Name: name}, tests, nil); err != nil {
			t.Fatal(err)
		}
		write("tests/test-mail.R", b.String())
		for _, c := range commands {
			run := func(body string) (string, error) {
				write("code/mail.R", strings.Replace(source, "BODY", body, 1))
				out, err := exec.Command(c[0], append(c[1:], emitted)...).CombinedOutput()
				return string(out), err
			}
			turnsRed(t, strings.Join(c, " ")+" "+name, rBody, run, map[string]string{`stop("unlucky")`: "NULL", `if (s == "val")`: `if (s == "no")`, `stopifnot(s != "ass")`: "NULL",
				`stop("no\n")`: `stop(structure(class = c("other", "error", "condition"), list(message = "no", call = NULL)))`})
		}
	}
}

func TestRLiterals(t *testing.T) {
	for in, want := range map[string]string{
		"":             `""`,
		"a\"b\\":       `"a\"b\\"`,
		"\n\x01\x7f1é": `"\n\u0001\u007f1é"`,
	} {
		if got := written(t, "r", textRule, in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	for _, c := range []struct {
		in   testcase.Input
		want string
	}{
		{testcase.Float("x", 3), "3"}, {testcase.Float("x", math.Copysign(0, -1)), "-0"}, {testcase.Float("x", math.Inf(1)), "Inf"},
		{testcase.Float("x", 0.1), "0x1.999999999999ap-04"}, {testcase.Float("x", -0x1.fap-1064), "(-0x1.fap-1000 * 2^-64)"}, {testcase.Float("x", 0x1p-1022), "0x1p-1022"}, {testcase.Bytes("b", nil), "as.raw(c())"}, {testcase.Int("n", -5), "-5L"}, {testcase.Bool("f", true), "TRUE"},
	} {
		d, _ := interp.ByName("r")
		w, err := newWriter(d)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.literal(c.in); err != nil || got != c.want {
			t.Errorf("%v: %s, %v; want %s", c.in, got, err, c.want)
		}
	}
}
