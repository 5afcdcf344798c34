package emit

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// luaSource are three ways to write one test: returned, named, global.
var luaSource = map[string]string{
	"test": `
local symchef = require "symchef"
local helper = require "helper"
return function()
  BODY
end`,
	"named": `
local symchef = require "symchef"
local helper = require "helper"
local t = {}
function t.setup(self) self.ready = true end
function t.run(self) assert(self.ready)
  BODY
end
return { named = t, other = print }`,
	"test_global": `
local symchef = require "symchef"
local helper = require "helper"
function test_global()
  BODY
end`,
}

const luaBody = `
  symchef.expect("unlucky")
  local s, b = symchef.string("s", 3), symchef.bytes("b", 2)
  assert(b == "\0\255" and symchef.integer("n", -5, 5) == -5 and symchef.boolean("f"))
  assert(symchef.choice("c", { "p", "q" }) == "q" and symchef.integer("n") == helper.seven and symchef.integer("end") == 1)
  if s == "bad" then error("unlucky") end
  if s == "val" then error("no\n", 0) end
  assert(s ~= "ass")`

// stub is as much of busted as the emitted files use.
const stub = `
local pended, blocks = {}, {}
function describe(_, f) blocks[#blocks + 1] = f end
function it(name, f)
  local ok, e = pcall(f)
  if not ok and e ~= pended then
    io.stderr:write(name, ": ", tostring(e), "\n")
    failed = true
  end
end
function pending(_, f) if not f then error(pended, 0) end end
dofile((...))
for _, f in ipairs(blocks) do f() end
os.exit(failed and 1 or 0)`

// The emitted file is green, and red when a finding is repaired or an expected error stays away: in busted where that is
// installed, and in every Lua with a stub for it.
func TestBustedRuns(t *testing.T) {
	var commands [][]string
	dir := t.TempDir()
	write := writerIn(t, dir)
	for _, v := range []string{"5.4", "5.3", "5.2", "5.1"} {
		if _, err := os.Stat("/usr/bin/lua" + v); err == nil {
			commands = append(commands, []string{"/usr/bin/lua" + v, write("stub.lua", stub)})
		}
	}
	if path, err := exec.LookPath("busted"); err == nil {
		commands = append(commands, []string{path, "--output", "plainTerminal"})
	} else {
		t.Log("skipped: busted is not installed")
	}
	if commands == nil {
		t.Skip("skipped: no Lua is installed")
	}
	var tests []testcase.Test
	for _, x := range sample("error") {
		x.Inputs = append(x.Inputs, testcase.Int("n", 7), testcase.Int("end", 1))
		switch {
		case x.Outcome.Kind == testcase.Exception:
			x.Outcome.Type = "error"
		case x.Outcome.Kind == testcase.Assertion:
			x.Outcome.Type, x.Outcome.Message = "error", "mail.lua:9: assertion failed!"
		}
		tests = append(tests, x)
	}
	write("code/helper.lua", "return { seven = 7 }")
	for name, source := range luaSource {
		path := write("code/mail.lua", "")
		emitted := filepath.Join(dir, "spec", "mail_spec.lua")
		var b strings.Builder
		if err := Write(&b, Busted, emitted, testcase.Target{Kind: "lua", Path: path, Name: name}, tests, nil); err != nil {
			t.Fatal(err)
		}
		write("spec/mail_spec.lua", b.String())
		for _, c := range commands {
			run := func(body string) (string, error) {
				write("code/mail.lua", strings.Replace(source, "BODY", body, 1))
				x := exec.Command(c[0], append(c[1:], emitted)...)
				x.Dir = t.TempDir()
				out, err := x.CombinedOutput()
				return string(out), err
			}
			turnsRed(t, strings.Join(c, " ")+" "+name, luaBody, run, map[string]string{`error("unlucky")`: "", `error("no\n", 0)`: "error({})", `if s == "val"`: "if s == 'no'", `assert(s ~= "ass")`: ""})
		}
	}
}

func TestLuaLiterals(t *testing.T) {
	for in, want := range map[string]string{
		"":             `""`,
		"a\"b\\":       `"a\"b\\"`,
		"\n\x00\x7f1é": `"\n\000\1271\195\169"`,
	} {
		if got := written(t, "lua", textRule, in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	for v, want := range map[float64]string{3: "3.0", 0.1: "0.1", 1e100: "1e+100", math.Inf(1): "math.huge", math.Inf(-1): "-math.huge"} {
		if got := written(t, "lua", realRule, v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[int64]string{-5: "-5", math.MinInt64: "math.mininteger", math.MaxInt64: "9223372036854775807"} {
		if got := written(t, "lua", integerRule, v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got, want := written(t, "lua", tableRule, []named{{"a", "1"}, {"end", "2"}, {"b#2", "3"}}), `{ a = 1, ["end"] = 2, ["b#2"] = 3 }`; got != want {
		t.Errorf("table: %s, want %s", got, want)
	}
}
