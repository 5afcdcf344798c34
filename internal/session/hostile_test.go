package session

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/high"
	"symchef/internal/nativeboot"
	"symchef/internal/testcase"
)

// Tests that replace what a guest library could use of its language, run as any others: what the machine sees is what happens natively.
func TestHostileLibrary(t *testing.T) {
	for _, tt := range []struct {
		file    string
		classes int // and test cases
		failing int
	}{
		{"replaced.py", 4, 1},
		{"exceptions.py", 8, 3},
		{"traced.py", 4, 1},
		{"streams.py", 5, 0},
		{"traced_early.py", 2, 0},
		{"own.py", 6, 1},
		{"hooked_early.lua", 2, 0},
		{"replaced.lua", 9, 1},
		{"errors.lua", 14, 10},
		{"hooked.lua", 2, 2},
		{"own.lua", 6, 2},
		{"masked.R", 2, 1},
		{"replaced.R", 4, 0},
		{"conditions.R", 14, 9},
		{"own.R", 7, 3},
	} {
		t.Run(tt.file, func(t *testing.T) {
			if tt.file == "masked.R" || tt.file == "replaced.R" {
				slow(t)
			}
			file, err := filepath.Abs(filepath.Join("../../languages/testdata/hostile", tt.file))
			if err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Test: file, Interpreter: stockFor(t, file), PathInstructions: DefaultPathInstructions}) // to the end of the stack
			r, failing := e.summary.Replay, 0
			for _, x := range e.tests {
				if x.Outcome.Failing() {
					failing++
				}
			}
			if len(e.tests) != tt.classes || failing != tt.failing || !e.summary.Exhausted || r.Agreed != tt.classes {
				t.Errorf("%d test cases, %d failing, want %d, %d; %+v\n%s%s", len(e.tests), failing, tt.classes, tt.failing, r, e.stdout, e.stderr)
			}
		})
	}
}

// A test that declares no input is one path.
func TestNoInput(t *testing.T) {
	for name, text := range map[string]string{
		"test_no.py": "def test_no():\n  print('hi')\n  return 7\n",
		"no.lua":     "return function() print('hi') return 7 end\n",
		"no.R":       "test_no <- function() { cat('hi'); 7L }\n",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no.R" {
				slow(t)
			}
			e := runIt(t, Options{Test: writeFile(t, name, text), Interpreter: stockFor(t, name)})
			if len(e.tests) != 1 || !e.summary.Exhausted || e.summary.Replay.Agreed != 1 || e.status != StatusOK {
				t.Errorf("%+v\n%s%s", e.summary, e.stdout, e.stderr)
			}
		})
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Expectations of testthat fail as they do natively, and what is left open is named: its package cli has a thread that wakes again and again, which it cancels, wherever that is, when R ends. What the package loads for its first message is loaded before the test begins.
func TestTestthat(t *testing.T) {
	slow(t)
	needR(t)
	if exec.Command("Rscript", "-e", "loadNamespace('testthat')").Run() != nil {
		t.Skip("skipped: testthat is not installed")
	}
	e := runIt(t, Options{Interpreter: stockR, Test: writeFile(t, "expect.R", `library(testthat)
test_expect <- function() {
  n <- symchef$integer("n", 0L, 4L)
  if (n == 1L) expect_equal(n, 2L)
  if (n == 2L) expect_true(FALSE)
  if (n == 3L) expect_error(1)
  if (n == 4L) expect_match("a", "b")
}
`)})
	if s := e.summary; len(e.tests) != 5 || s.Tests.Assertion != 4 || s.Replay.Agreed != 5 || len(s.WhyNotExhausted) != 1 || !strings.HasPrefix(s.WhyNotExhausted[0], "one schedule of several: SIG32 from process ") {
		t.Errorf("%+v\n%s%s", s, e.stdout, e.stderr)
	}
}

// High-level paths are the program's: the library's steps, of which there are others for an empty input than for a long one, are none.
func TestStepsOfTheProgram(t *testing.T) {
	for name, text := range map[string]string{
		"test_s.py": "import symchef\ndef test_s(s: symchef.Str(6, 0), n: symchef.Int()):\n  symchef.log(s)\n  if s != '':\n    return 1\n",
		"s.lua":     "local symchef = require 'symchef'\nreturn function()\n  local s = symchef.string('s', 6, 0)\n  symchef.log(s)\n  if s ~= '' then\n    return 1\n  end\nend\n",
		"s.R":       "test_s <- function() {\n  s <- symchef$string('s', 6L, 0L)\n  symchef$log(s)\n  if (nzchar(s)) 1 else 2\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "s.R" {
				slow(t)
			}
			e := runIt(t, Options{Test: writeFile(t, name, text), Interpreter: stockFor(t, name)})
			if p := e.summary.Paths; p.High != 2 || p.Low < 7 || !e.summary.Exhausted || e.summary.Replay.Agreed != len(e.tests) {
				t.Errorf("%+v\n%s%s", p, e.stdout, e.stderr)
			}
			b, err := os.ReadFile(filepath.Join(e.dir, "tree.json"))
			if err != nil {
				t.Fatal(err)
			}
			var tree high.Doc
			if err := json.Unmarshal(b, &tree); err != nil {
				t.Fatal(err)
			}
			for _, n := range tree.Nodes {
				for _, at := range []string{n.First.Source, n.Last.Source} {
					if n.Steps > 0 && !strings.HasPrefix(at, name+":") {
						t.Errorf("a line of the tree begins or ends at %q", at)
					}
				}
			}
		})
	}
}

// A choice is shown as what was chosen, also where that is symbolic.
func TestChoiceLabels(t *testing.T) {
	for name, text := range map[string]string{
		"test_c.py": "import symchef\ndef test_c(c: symchef.Choice('red', 2, (None, 'x'))):\n  n = symchef.getInt('n', 4, 4, 4)\n  symchef.getChoice('d', [n])\n  print(c)\n",
		"c.lua":     "local symchef = require 'symchef'\nreturn function()\n  local c = symchef.choice('c', { 'red', true, { 'x' } })\n  symchef.choice('d', { symchef.integer('n', 4, 4) })\n  print(type(c))\nend\n",
		"c.R":       "test_c <- function() {\n  c <- symchef$choice('c', list('red', 2L, list('x', NULL)))\n  n <- symchef$integer('n', 4L, 4L)\n  symchef$choice('d', list(n))\n  cat(typeof(c))\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "c.R" {
				slow(t)
			}
			e := runIt(t, Options{Test: writeFile(t, name, text), Interpreter: stockFor(t, name)})
			var got []string
			for _, x := range e.tests {
				for _, in := range x.Inputs {
					if in.Type == testcase.TypeChoice {
						got = append(got, in.Label)
					}
				}
			}
			slices.Sort(got)
			want := map[string]string{"test_c.py": "'red' (None, 'x') 2 4 4 4", "c.lua": `"red" 4 4 4 true { "x" }`, "c.R": `"red" 2L 4L 4L 4L list("x", NULL)`}[name]
			if strings.Join(got, " ") != want || !strings.Contains(e.stdout, "c="+want[:5]) || e.summary.Replay.Agreed != 3 {
				t.Errorf("%v, want %s\n%s%s", got, want, e.stdout, e.stderr)
			}
		})
	}
}

// What the test imports and sets up runs natively: the machine sees little more than the opening of the device.
func TestImportsAreNative(t *testing.T) {
	if err := nativeboot.Probe(); err != nil {
		t.Skipf("skipped: %v", err)
	}
	file := writeFile(t, "test_i.py", `
import argparse, json, unittest.mock
import symchef
class T(symchef.SymbolicTest):
  def setUp(self):
    self.total = sum(range(1000000))
    self.log(self.total)
  def runTest(self):
    if self.getInt("n", 1, 3, 0) > self.total:
      print("never")
`)
	e := runIt(t, Options{Test: file, Interpreter: stockFor(t, file), Boot: BootNative})
	if n := e.summary.Instructions.Boot; n > 1_000_000 || len(e.tests) != 1 || !slices.Equal(e.tests[0].Log, []string{"499999500000"}) || e.summary.Replay.Agreed != 1 {
		t.Errorf("the machine executed %d instructions up to the test\n%s%s", n, e.stdout, e.stderr)
	}
}
