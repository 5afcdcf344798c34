package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Bad input gives one clear line and status 2.
func TestBadInput(t *testing.T) {
	b := pythonBox(t)
	b.write("test_one.py", "import symchef\ndef test_a(x: symchef.Int(0, 9)): pass\n")
	b.write("test_syntax.py", "def test_x(:\n")
	b.write("test_import.py", "import nowhere\ndef test_x(): pass\n")
	b.write("test_empty.py", "")
	b.write("test_false.py", "import symchef\ndef test_x(n: symchef.Int(0, 9)):\n    symchef.assume(n > 5)\n    symchef.assume(n < 3)\n")
	b.write("test_bounds.py", "import symchef\ndef test_x(n: symchef.Int(9, 3)): pass\n")
	b.write("test_bare.py", "def test_x(n): pass\n")
	b.write("test_nul.py", "x = '\x00'\n")
	b.write("notes.txt", "hello")
	b.write("full/other", "")
	arm := b.write("arm", "\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 9)+"\x02\x00\xb7\x00\x01\x00\x00\x00"+strings.Repeat("\x00", 40))
	for _, p := range []string{arm, b.write("script", "#!/bin/sh\necho 1\n"), b.write("garbage", "no program")} {
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(b.path("test_pipe.py"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("loop", b.path("loop")), os.Symlink("not-there", b.path("nowhere"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, text string }{
		{"run", "name a test file or folder"},
		{"run -k (a test_one.py", "-k (a: a parenthesis is not closed; want words with and, or, not and parentheses"},
		{"run ::test_x", "\"::test_x\" names no file: want FILE::NAME"},
		{"replay -j 0 .", "--workers 0: want 1 to 256"},
		{"run -k other test_one.py", "-k other: none of 1 test is called so"},
		{"run --nonsense test_one.py", "unknown flag: --nonsense"},
		{"explore test_one.py", `unknown command "explore"`},
		{"run gone.py", "gone.py: no such test file"},
		{"run full", "full: no test files in this folder: they mention symchef and are called test_*.lua, *_test.lua, test_*.py, "},
		{"run test_pipe.py", "not a regular file"},
		{"run notes.txt", "no language is known"},
		{"run test_one.py::Nope", "no test named Nope; tests here: test_a"},
		{"run test_syntax.py", "test_syntax.py:1: syntax error: "},
		{"run test_nul.py", "null bytes"},
		{"run test_import.py", "importing it failed: ModuleNotFoundError: No module named 'nowhere'"},
		{"run test_empty.py", "no test_* function, no class with methods test* and no SymbolicTest"},
		{"run test_false.py", "no input satisfies the test's assumptions"},
		{"run test_bounds.py", "input n: needs -2**63 <= min_value <= default <= max_value < 2**63, not 9, 3, 3"},
		{"run test_bare.py", "parameter n needs an annotation such as symchef.Str(10)"},
		{"run --interpreter gone test_one.py", "gone: no such file"},
		{"run --interpreter ./notes.txt test_one.py", "notes.txt is not a program"},
		{"run --interpreter ./garbage test_one.py", "garbage is not a program"},
		{"run --interpreter ./arm test_one.py", "arm"},
		{"run --interpreter ./script test_one.py", "script: does not answer like python 3.8+"},
		{"run --interpreter /bin/true test_one.py", "does not answer like python 3.8+"},
		{"run --out /proc/nowhere test_one.py", "cannot write the run directory /proc/nowhere"},
		{"run --out full test_one.py", "not empty and is not a run directory"},
		{"run --out loop test_one.py", "cannot write the run directory loop: too many levels of symbolic links"},
		{"run --out nowhere test_one.py", "cannot write the run directory nowhere: it is a link to what is not there"},
		{"run --resume full --seed 3", "--seed cannot be given with --resume"},
		{"run --resume full --cupa opcode", "--cupa cannot be given with --resume"},
		{"run --resume full -k a", "--keyword cannot be given with --resume"},
		{"run --resume full test_one.py", "test_one.py cannot be given with --resume"},
		{"run --out notes.txt test_one.py", "cannot write the run directory notes.txt"},
		{"replay notes.txt", "notes.txt: "},
		{"run --strategy clever test_one.py", `unknown strategy "clever"`},
		{"run --progress loud test_one.py", "want auto, plain or none"},
		{"run --max-memory 4Q test_one.py", "is no size"},
		{"run --max-memory 99999999999G test_one.py", "is no size"},
		{"run --max-paths -1 test_one.py", "cannot be negative"},
		{"run --time -1s test_one.py", "cannot be negative"},
		{"run --checkpoint -1s test_one.py", "cannot be negative"},
		{"run --seed -1 test_one.py", `symchef: invalid argument "-1" for "--seed" flag: want a whole number that is not negative`},
		{"run --max-paths 99999999999999999999 test_one.py", `flag: want a whole number, of at most 64 bits`},
		{"run -j two test_one.py", `flag: want a whole number`},
		{"run test_one.py::", "test_one.py:: names no test: want FILE or FILE::NAME"},
		{"run --time 3 test_one.py", "--time"},
		{"run --stdin 3 test_one.py", "--stdin, --argv, --file and --env are for programs"},
		{"run --file ../x:3 -- /bin/cat", "is not a path below the working directory"},
		{"run --file x -- /bin/cat", "want NAME:BYTES"},
		{"run --env A=B:3 -- /bin/cat", "is not the name of a variable"},
		{"run --env A:3 --env A:4 -- /bin/cat", "A is given twice"},
		{"run --opt fast test_one.py", "--opt fast: want all, none, or of fastpath, hash, pointers"},
		{"run --cross-check cat test_one.py", "want cvc5 or z3"},
		{"run --stdin -4 -- /bin/cat", "--stdin -4: want"},
		{"run --argv 3x -- /bin/cat", "want COUNTxLENGTH"},
		{"run --argv 3x8z -- /bin/cat", "want COUNTxLENGTH"},
		{"run --argv 9999x9999 -- /bin/cat", "want COUNTxLENGTH"},
		{"run --interpreter /bin/cat --stdin 1 -- /bin/cat", "--interpreter is for tests"},
		{"run --stdin 1 -- ./gone", "./gone: no such program"},
		{"run --stdin 1 -- no-such-program", "not found in PATH"},
		{"run --stdin 1 -- ./notes.txt", "not an ELF program"},
		{"run --stdin 1 -- ./arm", "not x86-64"},
		{"exec ./gone", "no such program"},
		{"exec ./arm", "not x86-64"},
		{"replay", "accepts 1 arg(s), received 0; usage: symchef replay [flags] DIR"},
		{"replay gone", "symchef: gone: no such run directory"},
		{"replay full", "not a run directory"},
		{"emit gone", "symchef: gone: no such run directory"},
		{"emit full", "not a run directory"},
		{"rerun gone", "symchef: gone: no such run directory"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			in := *b
			in.t = t
			args := strings.Fields(c.args)
			if args = args[:len(args):len(args)]; len(args) > 0 && args[0] == "run" && !strings.Contains(c.args, "--out") && !strings.Contains(c.args, "--resume") {
				args = append([]string{"run", "--out", filepath.Join(t.TempDir(), "out")}, args[1:]...)
			}
			in.run(args...).oneLine(2, c.text)
		})
	}
}

// What a test asks of the library wrongly is one line each; the lines are read
// where they arise, in one run.
func TestWrongCalls(t *testing.T) {
	b := pythonBox(t)
	calls := []struct{ call, text string }{
		{`getInt("x", 5, 3, 9)`, "needs -2**63 <= min_value <= default <= max_value < 2**63, not 9, 5, 3"},
		{`getInt("x", 50, max_value=9)`, "not -9223372036854775808, 50, 9"},
		{`getInt("x", 1 << 63)`, "< 2**63"},
		{`getInt("x", True)`, "default and bounds must be int"},
		{`getInt("", 1)`, "an input's name is a non-empty str"},
		{`getString("x", "abc", max_size=2)`, "the default's length, 3, is not within the sizes 0 to 2"},
		{`getString("x", "abc", min_size=4)`, "needs 0 <= min_size <= max_size, not 4, 3"},
		{`getString("x", "abc", min_size=-1)`, "needs 0 <= min_size <= max_size, not -1, 3"},
		{`getString("x", b"abc")`, "the default must be str"},
		{`getString("x", "\xe9")`, "the default is not ASCII"},
		{`getBytes("x", "abc")`, "the default must be bytes"},
		{`getBool("x", 1)`, "the default must be bool"},
		{`getChoice("x", [])`, "no options"},
		{`getChoice("x", [1, 2], 3)`, "the default is not among the options"},
		{`Choice().make("x")`, "no options"},
		{`Str(-1).make("x")`, "needs 0 <= min_size <= max_size, not -1, -1"},
		{`Int(2, 1).make("x")`, "not 2, 1, 1"},
		{`Str("3").make("x")`, "needs 0 <= min_size <= max_size, not '3', '3'"},
		{`Str(2.0).make("x")`, "needs 0 <= min_size <= max_size, not 2.0, 2.0"},
		{`Str(None).make("x")`, "not None, None"},
		{`Str(2, []).make("x")`, "not a list, 2"},
		{`Str(2).make("x", 7)`, "the default must be str"},
		{`Bytes("2").make("x")`, "not '2', '2'"},
		{`Int("1", "3").make("x")`, "default and bounds must be int"},
		{`Int(0, None).make("x")`, "default and bounds must be int"},
		{`Int(0, 3).make("x", 1.0)`, "default and bounds must be int"},
		{`Float("a", "b").make("x")`, "default and bounds must be numbers"},
		{`Float(0, 10 ** 400).make("x")`, "numbers that a float can be"},
		{`Bool(1).make("x")`, "Bool() takes nothing"},
		{`Bool().make("x", 3)`, "the default must be bool"},
		{`getChoice("x", 5)`, "the options must be a list, not 5"},
		{`getChoice("x")`, "no options"},
		{`getInt("x")`, "default and bounds must be int"},
		{`getString()`, "an input's name is a non-empty str"},
		{`getFloat("x", None)`, "default and bounds must be numbers"},
		{`expect(3)`, "expect takes exception types"},
		{`concretize([])`, "concretize takes str, bytes, int, bool or float, not list"},
	}
	src := "from symchef import *\nfrom symchef import UsageError\nimport symchef\ndef test_wrong(x: symchef.Bool()):\n"
	for _, c := range calls {
		src += "    try: symchef." + c.call + "\n    except UsageError as e: print(e)\n    else: print('accepted')\n"
	}
	b.write("test_wrong.py", src)
	b.run("run", "--out", "out", "test_wrong.py").want(0, "exhausted: every input")
	_, tests := b.load("out")
	out := b.output("out", tests[0])
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != len(calls) {
		t.Fatalf("%d lines for %d calls:\n%s", len(lines), len(calls), out)
	}
	for i, c := range calls {
		if !strings.Contains(lines[i], c.text) {
			t.Errorf("%s: %q, want %q", c.call, lines[i], c.text)
		}
	}
}

// A wrong type is no finding and no input, in none of the languages: each is one line.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, as, file, begin, each, end string
		calls                            []struct{ call, text string }
	}{
		{"lua", "/usr/bin/lua5.4", "wrong.lua", "local symchef = require 'symchef'\nfunction test_wrong()\n", "  print(select(2, pcall(function() symchef.%s; return 'accepted' end)))\n", "end\n", []struct{ call, text string }{
			{`boolean("x", 3)`, "the default is true or false"},
			{`boolean()`, "an input's name is a non-empty string"},
			{`string("x")`, "needs a size"},
			{`string("x", true)`, "needs a size"},
			{`string("x", 2.5)`, "needs a size"},
			{`bytes("x", 2, "1")`, "needs a size"},
			{`integer("x", "1", "3")`, "needs whole numbers"},
			{`integer("x", false, 3)`, "needs whole numbers"},
			{`integer("x", 0, 3, false)`, "the default is not within the bounds"},
			{`integer("x", 0, 3, "1")`, "the default is not within the bounds"},
			{`number("x", "1", 3)`, "needs numbers"},
			{`number("x", 0, 3, false)`, "the default is not within the bounds"},
			{`choice("x", 5)`, "no options"},
			{`choice(nil, {1})`, "an input's name is a non-empty string"},
		}},
		{"r", "/usr/bin/Rscript", "wrong.R", "test_wrong <- function() {\n", "  cat(tryCatch({ symchef$%s; 'accepted' }, error = function(e) conditionMessage(e)), '\\n')\n", "}\n", []struct{ call, text string }{
			{`logical("x", 3)`, "the default is TRUE or FALSE"},
			{`logical("x", NA)`, "the default is TRUE or FALSE"},
			{`logical()`, "an input's name is a non-empty string"},
			{`string("x")`, "needs a size"},
			{`string("x", NA_character_)`, "needs a size"},
			{`string("x", TRUE)`, "needs a size"},
			{`string()`, "an input's name is a non-empty string"},
			{`raw("x", list(2))`, "needs a size"},
			{`integer("x", "1", "3")`, "needs whole numbers"},
			{`integer("x", 0L, 3L, "1")`, "the default is not within the bounds"},
			{`double("x", "1", 3)`, "needs numbers"},
			{`choice("x", sum)`, "no options"},
			{`choice("x", globalenv())`, "no options"},
			{`choice("x")`, "no options"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat(c.as); err != nil {
				t.Skipf("skipped: %s is not installed", c.as)
			}
			b := newBox(t)
			src := c.begin
			for _, x := range c.calls {
				src += fmt.Sprintf(c.each, x.call)
			}
			b.write(c.file, src+c.end)
			b.run("run", "--no-replay", "--out", "out", c.file).want(0, "exhausted, in the machine")
			_, tests := b.load("out")
			lines := strings.Split(strings.TrimSpace(b.output("out", tests[0])), "\n")
			if len(lines) != len(c.calls) {
				t.Fatalf("%d lines for %d calls:\n%s", len(lines), len(c.calls), lines)
			}
			for i, x := range c.calls {
				if !strings.Contains(lines[i], x.text) {
					t.Errorf("%s: %q, want %q", x.call, lines[i], x.text)
				}
			}
		})
	}
}

// An annotation of the wrong type, and a default, are refused before the test begins, with the parameter; a module that cannot be loaded, and a call of the
// library, with the line.
func TestWrongAnnotation(t *testing.T) {
	b := pythonBox(t)
	b.write("test_x.py", `from __future__ import annotations
import symchef
def test_str(s: symchef.Str("3")): return 1
def test_bool(b: symchef.Bool() = 3): return b
def test_float(f: symchef.Float("a", "b")): return f
def test_call():
    return symchef.getChoice("x", 5)
`)
	b.write("test_line.py", "import symchef\n\nVALUE = symchef.Str()\n\ndef test_a(): pass\n")
	for test, want := range map[string]string{
		"test_x.py::test_str":   "input s: needs 0 <= min_size <= max_size, not '3', '3'",
		"test_x.py::test_bool":  "input b: the default must be bool",
		"test_x.py::test_float": "input f: default and bounds must be numbers",
		"test_x.py::test_call":  "input x: the options must be a list, not 5 (line 7)",
		"test_line.py":          "missing 1 required positional argument: 'max_size' (line 3)",
	} {
		b.run("run", "--out", "out", test).oneLine(2, want)
	}
}
