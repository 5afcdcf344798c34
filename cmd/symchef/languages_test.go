package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// copied is the folder of a language by another name, outside the binary; rename is done in its descriptions, and change alters the text of one of its files.
func copied(t *testing.T, b *box, language, name string, rename *strings.Replacer, change map[string][2]string) {
	t.Helper()
	from := "../../languages/" + language
	called := strings.NewReplacer("(language "+language, "(language "+name, "(calibration "+language, "(calibration "+name)
	err := filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch dir, _, _ := strings.Cut(rel, "/"); {
		case strings.HasSuffix(rel, ".desc"):
			text = []byte(rename.Replace(called.Replace(string(text))))
		case dir == "conformance":
			rel = rename.Replace(rel)
		}
		if c, ok := change[rel]; ok {
			if !strings.Contains(string(text), c[0]) {
				t.Fatalf("%s has no %q", rel, c[0])
			}
			text = []byte(strings.Replace(string(text), c[0], c[1], 1))
		}
		b.write(name+"/"+rel, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// moon is Lua by another name, with a suffix of its own.
func moon(t *testing.T, b *box, change map[string][2]string) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/lua5.4"); err != nil {
		t.Skip("skipped: lua5.4 is not installed")
	}
	copied(t, b, "lua", "moon", strings.NewReplacer(`".lua"`, `".moon"`, "s.lua", "s.moon"), change)
}

// A copy of a language's folder by another name, outside the binary, gives the run that the language in the binary gives: the same paths and test
// cases, with the same decisions, classes and high-level paths, the same tree and the same emitted file. Nothing in the binary is there for a name.
func TestLanguageCopied(t *testing.T) {
	for _, c := range []struct{ language, name, file, interpreter string }{
		{"python", "serpent", "test_email.py", python},
		{"lua", "selene", "email.lua", "/usr/bin/lua5.4"},
	} {
		t.Run(c.language, func(t *testing.T) {
			b := pythonBox(t)
			if _, err := os.Stat(c.interpreter); err != nil {
				t.Skipf("skipped: %s is not installed", c.interpreter)
			}
			copied(t, b, c.language, c.name, strings.NewReplacer(), nil)
			text, err := os.ReadFile("../../examples/" + c.language + "/" + c.file)
			if err != nil {
				t.Fatal(err)
			}
			b.write(c.file, string(text))
			type seen struct{ paths, tests, tree, emitted string }
			look := func(out string, more ...string) (s seen) {
				b.run(append([]string{"run", "--all-paths", "--no-cache", "--out", out, c.file}, more...)...).want(0, "exhausted:", " 0 diverged")
				sum, tests := b.load(out)
				for i := range tests {
					tests[i].FoundAt = 0
				}
				b.run(append([]string{"rerun", out}, more...)...).want(0)
				s.paths = fmt.Sprintf("%+v %+v", sum.Paths, sum.Tests)
				s.emitted = b.run(append([]string{"emit", out}, more...)...).want(0).stdout
				s.tree = b.run("tree", out).want(0).stdout
				list, err := json.Marshal(tests)
				if err != nil || len(tests) == 0 || s.emitted == "" || !strings.Contains(s.tree, "true: ") {
					t.Fatalf("%d tests, %v, tree\n%s", len(tests), err, s.tree)
				}
				s.tests = string(list)
				return s
			}
			inside, outside := look("inside"), look("outside", "--language", c.name)
			for what, x := range map[string][2]string{
				"paths": {inside.paths, outside.paths}, "test cases": {inside.tests, outside.tests},
				"tree": {inside.tree, outside.tree}, "emitted file": {inside.emitted, outside.emitted},
			} {
				if x[0] != x[1] {
					t.Errorf("%s: in the binary\n%s\noutside\n%s", what, x[0], x[1])
				}
			}
		})
	}
}

// A language from a folder outside has what those in the binary have: its tests are explored, replayed and emitted. Without it they are refused, and
// a run does not lose its verdicts.
func TestLanguageOutside(t *testing.T) {
	b := pythonBox(t)
	moon(t, b, nil)
	text, err := os.ReadFile("../../examples/lua/email.lua")
	if err != nil {
		t.Fatal(err)
	}
	b.write("email.moon", string(text))
	b.run("run", "email.moon").oneLine(2, "no language is known for this suffix")
	b.run("run", "--language", "moon", "--out", "out", "email.moon").want(0, "3 low-level paths", " 3 agreed", "exhausted:")
	b.run("replay", "--language", "moon", "out").want(0, " 3 agreed")
	b.run("replay", "out").oneLine(2, "--language DIR is needed")
	b.run("emit", "out").oneLine(2, "--language DIR is needed")
	b.run("rerun", "out").oneLine(2, "the folder of the language moon is not given by --language, or has changed since the run")
	b.run("rerun", "--language", "moon", "out").want(0)
	b.run("emit", "--language", "moon", "-o", "spec.lua", "out").want(0)
	if sum, tests := b.load("out"); len(tests) != 3 || sum.Replay.Agreed != 3 {
		t.Errorf("%d tests, %+v", len(tests), sum.Replay)
	}
	b.run("languages", "--language", "moon").want(0, "moon ", b.path("moon"))
	b.run("languages", "--language", "nowhere").oneLine(2, "nowhere")
	// Another library is another machine.
	b.write("moon/guest/more.lua", "return 1\n")
	b.run("rerun", "--language", "moon", "out").oneLine(2, "the folder of the language moon is not given by --language, or has changed since the run")
}

// teller is Lua without a calibration, whose library tells of each line that the test executes; steps is what the description says of that.
func teller(t *testing.T, b *box, steps string) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/lua5.4"); err != nil {
		t.Skip("skipped: lua5.4 is not installed")
	}
	copied(t, b, "lua", "teller", strings.NewReplacer(), map[string][2]string{
		"language.desc": {`(tests "_")`, `(tests "_") ` + steps},
		"guest/symchef.lua": {"  session:begin()\n  if hook then\n    sethook(hook, mask, count)\n  end\n", `  session:begin()
  if session.waiting then -- in the machine
    sethook(function(_, line)
      if getinfo(2, "S").source == "@" .. path then
        session:request("step " .. digits(line) .. " 0")
      end
    end, "l")
  end
`},
	})
	if err := os.Remove(b.path("teller/calibrate.desc")); err != nil {
		t.Fatal(err)
	}
}

const toldTest = `local symchef = require "symchef"
return function()
  local n, b = symchef.integer("n", 0, 19), symchef.boolean("b")
  local text = tostring(n)
  if n > 6 then
    n = 1
  elseif b then
    n = n - 1
  end
  while n > 0 do
    n = n - 2
  end
  if b and n < 0 then
    error("odd")
  end
  return 0
end
`

// toldOracle runs the test for all its inputs and counts the different sequences of lines that it executes.
const toldOracle = `local n, b
package.loaded.symchef = {integer = function() return n end, boolean = function() return b end}
local seen, count, test = {}, 0, dofile(arg[1])
for i = 0, 19 do for _, x in ipairs{false, true} do
  n, b = i, x
  local lines = {}
  debug.sethook(function(_, line) if debug.getinfo(2, "S").source == "@" .. arg[1] then lines[#lines + 1] = line end end, "l")
  pcall(test)
  debug.sethook()
  local way = table.concat(lines, " ")
  if not seen[way] then seen[way], count = true, count + 1 end
end end
print(count)
`

// Where the guest library tells of its steps no calibration is needed: high-level paths are the sequences of lines that native runs over all inputs execute,
// with one worker and two, complete or not, and the tree has lines.
func TestStepsTold(t *testing.T) {
	b := pythonBox(t)
	teller(t, b, "(steps lines)")
	file := b.write("told.lua", toldTest)
	out, err := exec.Command("/usr/bin/lua5.4", b.write("oracle.lua", toldOracle), file).Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || want < 9 {
		t.Fatalf("%d paths, %v", want, err)
	}
	for i, more := range [][]string{nil, {"--completeness", "complete"}, {"-j", "2"}} {
		out := fmt.Sprint("out", i)
		b.run(append([]string{"run", "--language", "teller", "--no-cache", "--out", out, "told.lua"}, more...)...).want(1, "exhausted:", " 0 diverged", "covered: ")
		sum, tests := b.load(out)
		groups := map[string]bool{}
		for _, x := range tests {
			groups[x.Group] = true
		}
		if sum.Paths.High != want || len(groups) != want || sum.Paths.Complete != want || len(sum.Without) > 0 || sum.Paths.Low <= want {
			t.Errorf("%v: %+v, %d groups, want %d high-level paths; without %v", more, sum.Paths, len(groups), want, sum.Without)
		}
		b.run("tree", out).want(0, "true: told.lua:", "false: told.lua:", "if n > 6 then")
		if i == 0 {
			b.run("rerun", "--language", "teller", out).want(0)
		}
	}
}

// Steps of which the description says nothing are an error, and a description that says it wrong is one.
func TestStepsNotSaid(t *testing.T) {
	b := pythonBox(t)
	teller(t, b, "")
	b.write("told.lua", toldTest)
	r := b.run("run", "--language", "teller", "--out", "out", "told.lua").want(2)
	for _, said := range []string{"high level: paths are those of the interpreter", "no calibration of the language teller", "does not say that the guest tells of its steps"} {
		if !strings.Contains(r.stderr, said) {
			t.Errorf("%s, want %q", r.stderr, said)
		}
	}
	// One that tells of none is named.
	copied(t, b, "lua", "mute", strings.NewReplacer(), map[string][2]string{"language.desc": {`(tests "_")`, `(tests "_") (steps numbers)`}})
	b.run("run", "--language", "mute", "--out", "mute-out", "told.lua").want(1, "exhausted:")
	if sum, _ := b.load("mute-out"); len(sum.Without) != 1 || !strings.Contains(sum.Without[0].Why, "told of no step") || sum.Paths.High != 0 {
		t.Errorf("without %v, %+v", sum.Without, sum.Paths)
	}
	teller(t, b, "(steps words)")
	b.run("run", "--language", "teller", "--out", "out", "told.lua").oneLine(2, "unknown numbers of steps words: there is lines, numbers")
}

// What is wrong in a language's folder is found.
func TestLanguageCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		change map[string][2]string
		status int
		want   string
	}{
		{"too few inputs", map[string][2]string{"conformance/branches.moon": {`"n", 0, 20`, `"n", 0, 14`}}, 1, "FAILED  branches     natively n=15 b=false gives usage: "},
		{"too many inputs", map[string][2]string{"conformance/calls.moon": {`"n", 0, 20`, `"n", 0, 29`}}, 1, "which natively no input does"},
		{"a model's name", map[string][2]string{"language.desc": {"(model ", "(modle "}}, 2, "moon/language.desc:"},
		{"another name", map[string][2]string{"language.desc": {"(language moon", "(language noon"}}, 2, "the language noon stands in a folder that is called moon"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := pythonBox(t)
			moon(t, b, c.change)
			r := b.run("language", "check", "./moon")
			r.want(c.status)
			if !strings.Contains(r.stdout+r.stderr, c.want) {
				t.Errorf("%s%s\nwant %q", r.stdout, r.stderr, c.want)
			}
		})
	}
	b := newBox(t)
	b.run("language", "check", "cobol").oneLine(2, "no such language")
	b.run("language", "check", "./none").oneLine(2, "none")
}

// The languages in the binary are what their folders say.
func TestLanguagesChecked(t *testing.T) {
	for _, name := range []string{"python", "lua", "r", "tcl"} {
		t.Run(name, func(t *testing.T) {
			if (name == "r" || name == "tcl") && os.Getenv("SYMCHEF_SLOW") == "" {
				t.Skip("skipped: a minute and more; SYMCHEF_SLOW is not set")
			}
			b := pythonBox(t)
			if tool := map[string]string{"lua": "/usr/bin/lua5.4", "r": "/usr/lib/R/bin/exec/R", "tcl": "/usr/bin/tclsh8.6", "python": python}[name]; exec.Command("test", "-x", tool).Run() != nil {
				t.Skipf("skipped: %s is not installed", tool)
			}
			b.run("language", "check", name).want(0, "schema", "calibration", "branches", "calls", "exceptions", "strings", "numbers")
		})
	}
}

// Help speaks of the languages that are known, those from outside too.
func TestHelpNamesLanguages(t *testing.T) {
	b := newBox(t)
	moon(t, b, nil)
	for _, command := range []string{"", "run", "exec", "replay", "rerun", "smt2", "emit", "calibrate", "tree", "languages", "language check", "doctor"} {
		out := b.run(append(strings.Fields(command), "--help")...).want(0).stdout
		if m := regexp.MustCompile(`\{[a-z-]+\}`).FindString(out); m != "" {
			t.Errorf("%s: %s has no name", command, m)
		}
	}
	b.run("run", "--help").want(0, "test_*.lua, *_test.lua, test_*.py", "symchef run test_email.")
	b.run("run", "--language", "moon", "--help").want(0, "test_*.moon, *_test.moon")
	b.run("emit", "--help").want(0, "busted (default for lua), ")
	b.run("run", "--language", "nowhere", "--help").want(0)
}

// The worked example of docs/your-own-language.md is what the document says: under 200 lines of description and library, comments aside, and no Go.
func TestLanguageExample(t *testing.T) {
	lines := 0
	for _, file := range []string{"language.desc", "calibrate.desc", "guest/symchef.rb"} {
		text, err := readFile("../../examples/mruby/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(text, "\n") {
			if line = strings.TrimSpace(line); line != "" && line[0] != ';' && line[0] != '#' {
				lines++
			}
		}
	}
	if lines >= 200 {
		t.Errorf("%d lines of description and library", lines)
	}
	for _, dir := range []string{"../../internal", "../../cmd", "../../languages"} {
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := readFile(path)
			if strings.Contains(strings.ToLower(text), "mruby") {
				t.Errorf("%s knows the example", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What the example's language explores is what all inputs do, one after the other, natively: a class for each way through the test.
func TestLanguageExampleBruteForce(t *testing.T) {
	if _, err := os.Stat("/usr/bin/mruby"); err != nil {
		t.Skip("skipped: mruby is not installed")
	}
	const test = `def test_ways
  s, n = SymChef.string("s", 1, 0), SymChef.integer("n", 0, 12)
  b, c = SymChef.boolean("b"), SymChef.choice("c", [:one, [2]])
  way = [s.size, c]
  s.each_char { |x| way << (x == "a" ? 1 : x < "a" ? 2 : 3) }
  if n > 5
    way << :big << (n % 3 == 0)
  else
    way << b
  end
  raise ArgumentError, way.inspect if s.start_with?("a") && n == 7
  way
end
`
	const all = `module SymChef
  class << self
    attr_accessor :values
    def string(*) = values[0]
    def integer(*) = values[1]
    def boolean(*) = values[2]
    def choice(name, options) = options[values[3]]
  end
end
seen = {}
texts = ["", "a", "A", "b"]
texts.each { |s| 13.times { |n| [true, false].each { |b| 2.times { |c|
  SymChef.values = [s, n, b, c]
  begin
    seen[test_ways.inspect] = true
  rescue ArgumentError => e
    seen[e.message + " raised"] = true
  end
} } } }
puts seen.size
`
	b := pythonBox(t)
	if err := os.CopyFS(b.path("mruby"), os.DirFS("../../examples/mruby")); err != nil {
		t.Fatal(err)
	}
	b.write("ways.rb", test)
	want, err := exec.Command("/usr/bin/mruby", b.write("all.rb", test+all)).Output()
	if err != nil {
		t.Fatal(err)
	}
	b.run("run", "--language", "mruby", "--out", "out", "ways.rb").want(1, "exhausted:", " 0 diverged")
	sum, tests := b.load("out")
	if got, want := len(sum.Classes), strings.TrimSpace(string(want)); fmt.Sprint(got) != want || sum.Replay.Agreed != len(tests) {
		t.Errorf("%d classes, natively %s; %d tests, %+v", got, want, len(tests), sum.Replay)
	}
	b.run("rerun", "--language", "mruby", "out").want(0)
	b.run("replay", "--language", "mruby", "--replay", "landlock", "out").want(0, " 0 diverged")
	b.run("emit", "--language", "mruby", "-o", "emitted.rb", "out").want(0)
	if out, err := exec.Command("/usr/bin/mruby", b.path("emitted.rb")).CombinedOutput(); err != nil || strings.Count(string(out), "\nok ")+1 != len(tests) {
		t.Errorf("%v\n%s", err, out)
	}
	// Repaired, the findings are red.
	b.write("ways.rb", strings.Replace(test, "  raise", "  return way, 1 #", 1))
	if out, err := exec.Command("/usr/bin/mruby", b.path("emitted.rb")).CombinedOutput(); err == nil || !strings.Contains(string(out), "not ok") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Tcl, a language that is nothing but a folder: inputs of every kind, outcomes, files, and test files that run.
func TestTcl(t *testing.T) {
	tclsh := "/usr/bin/tclsh8.6"
	if _, err := os.Stat(tclsh); err != nil {
		t.Skip("skipped: tclsh8.6 is not installed")
	}
	b := pythonBox(t)
	b.write("test_kinds.tcl", `proc test_kinds {} {
    symchef expect {FOUR OF} fine
    set s [symchef string s 2]
    set n [symchef integer n 0 20]
    if {$s eq "no"} { throw {FOUR OF A KIND} four }
    if {$n == 3} { error "this is fine" }
    if {$n > 19} { return [expr {$n / ($n - $n)}] }
    if {$n < 19} { return $s }
    set b [symchef bytes b 2]
    if {$b eq "\xff\0"} { exit 3 }
    if {[symchef boolean c]} { symchef log chosen; return [symchef choice o {a {b c} ""}] }
    if {[symchef double d 0 9] > 5.5} { symchef assume {$s eq "ab"}; set f [open x w]; puts $f $s; close $f }
    return \{$s$
}
`)
	b.run("run", "--out", "out", "test_kinds.tcl").want(1, "exhausted:", " 0 diverged", "ARITH DIVZERO")
	sum, tests := b.load("out")
	kinds := map[testcase.Kind]bool{}
	for _, x := range tests {
		kinds[x.Outcome.Kind] = true
	}
	if sum.Replay.Agreed != len(tests) || !kinds[testcase.OK] || !kinds[testcase.Exception] || !kinds[testcase.Expected] || !kinds[testcase.Exit] {
		t.Errorf("%+v, %v", sum.Replay, kinds)
	}
	b.run("rerun", "out").want(0, " 0 strayed")
	b.run("emit", "-o", "emitted.tcl", "out").want(0)
	if out, err := exec.Command(tclsh, b.path("emitted.tcl")).CombinedOutput(); err != nil || !strings.Contains(string(out), "Failed\t0") {
		t.Errorf("%v\n%s", err, out)
	}
	b.write("bad.tcl", "proc test_bad {} { symchef integer n 3 2 }\n")
	b.run("run", "bad.tcl").oneLine(2, "minimum 3 is above maximum 2")
	library, err := filepath.Abs("../../languages/tcl/guest/symchef.tcl")
	if err != nil {
		t.Fatal(err)
	}
	b.write("none.json", `{"version":1,"inputs":[{"name":"s","type":"str","value":"aaa","bytes_hex":"616161"}]}`)
	for call, want := range map[string]string{
		`integer n a 3`: "bounds and default must be whole numbers, not a", `integer n 0 9 2.5`: "must be whole numbers, not 2.5", `double x 0 b`: "bounds and default must be numbers, not b",
		`double x NaN 1`: "must be numbers, not NaN", `string s 3 x`: "needs 0 <= least <= 3, not x", `string s 3 4`: "needs 0 <= least <= 3, not 4", `bytes b -1`: "needs 0 <= size <= 1048576, not -1",
		`string "" 3`: "an input's name is a text", `boolean b maybe`: "the default must be a boolean, not maybe", `choice c {}`: "the options must be a list that is not empty",
		`choice c [format %ca 123]`: "the options must be a list", `choice c {a b} 2`: "the default must be the index of an option, not 2", `string s`: "the call is: symchef string name size ?least?",
		`integer n 0 9 1 5`: "the call is: symchef integer name ?least? ?most? ?default?", `strng s 3`: "symchef strng: the calls are string, bytes,",
	} {
		b.write("misuse.tcl", "proc helper {} {\n    return [symchef "+call+"]\n}\nproc test_misuse {} {\n    helper\n}\n")
		cmd := exec.Command(tclsh, library, b.path("misuse.tcl")) // natively, which is the same code and fast
		cmd.Env = []string{"SYMCHEF_REPLAY=" + b.path("none.json"), "SYMCHEF_OUTCOME=" + b.path("outcome.json"), "LANG=C.UTF-8"}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) || !strings.HasSuffix(string(out), " (line 2)\n") {
			t.Errorf("%s: %v %s, want %s", call, err, out, want)
		}
	}
	b.run("run", "misuse.tcl").oneLine(2, " (line 2)")
	b.write("none.tcl", "symchef integer n 3 4\n")
	b.run("run", "none.tcl").oneLine(2, "inputs exist only inside a test")
}
