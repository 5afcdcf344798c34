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

const luaTest = `
local symchef = require "symchef"
return function()
  local s, b = symchef.string("s", 9, 0), symchef.bytes("b", 3)
  assert(#s == 6 and s:byte(3) == 34 and s:byte(4) == 92 and s:byte(5) == 10, "string")
  assert(b == "\0\200\255", "bytes")
  local n = symchef.integer("n", -5, 4503599627370496)
  assert(n == 4503599627370496 and n - 1 == 4503599627370495, "integer")
  assert(symchef.boolean("f") == true and symchef.choice("c", { "p", "q" }) == "q", "others")
  assert(symchef.integer("n", -9, 9) == -7 and symchef.concretize(s) == s)
  assert(symchef.number("x", -1, 1) == -0.1 and 1 / symchef.number("x") == -math.huge and symchef.number("x") == math.huge)
  symchef.log("a", 1, nil, true, s)
  symchef.log()
  error("m\1\"\\\n\127", 0)
end
`

// luaPath and a version make the path of an interpreter of Lua.
const luaPath = "/usr/bin/lua"

// jit is LuaJIT's version. It names a function that was called in the place of a return as its caller was called.
const jit = "jit"

// luas are those of Lua and of further versions that are installed, the newest first.
func luas(t *testing.T, further ...string) (found []string) {
	t.Helper()
	for _, v := range append([]string{"5.4", "5.3", "5.2", "5.1"}, further...) {
		if _, err := os.Stat(luaPath + v); err != nil {
			t.Logf("skipped: %s%s is not installed", luaPath, v)
			continue
		}
		found = append(found, luaPath+v)
	}
	return found
}

// TestLuaReplay holds the reading of inputs and the writing of outcomes against every Lua there is.
func TestLuaReplay(t *testing.T) {
	dir := t.TempDir()
	if err := languages.Extract(dir); err != nil {
		t.Fatal(err)
	}
	test, in, out := filepath.Join(dir, "test.lua"), filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	text := "a\x00\"\\\nz"
	data, err := json.Marshal(map[string]any{"version": 1, "inputs": []value{
		{"s", "str", text, "6100225c0a7a"}, {"b", "bytes", nil, "00c8ff"}, integer("n", 4503599627370496),
		{"f", "bool", true, ""}, {"c", "choice", 1, ""}, integer("n", -7), {"x", "float", "-0.1", ""}, {"x", "float", "-0", ""}, {"x", "float", "+Inf", ""},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{test: []byte(luaTest), in: data} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ran := false
	for _, lua := range luas(t, jit) {
		ran = true
		b, r := replayLua(t, lua, dir, test, in, out)
		if want := []string{"a 1 nil true " + text, ""}; r.Kind != "exception" || r.Type != "error" || r.Message != "m\x01\"\\\n\x7f" || !slices.Equal(r.Log, want) {
			t.Errorf("%s: %s", lua, b)
		}
	}
	if !ran {
		t.Skip("skipped: no Lua is installed")
	}
}

// replayLua runs test by the guest library below dir, with the inputs of the file in; it returns the content of out, the outcome, as text and read.
func replayLua(t *testing.T, lua, dir, test, in, out string) ([]byte, result) {
	t.Helper()
	os.Remove(out)
	cmd := exec.Command(lua, filepath.Join(dir, "lua", "symchef.lua"), test)
	cmd.Env = append(os.Environ(), "SYMCHEF_REPLAY="+in, "SYMCHEF_OUTCOME="+out)
	if b, err := cmd.CombinedOutput(); err != nil || len(b) > 0 {
		t.Errorf("%s: %v %s", lua, err, b)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatalf("%s: %v in %s", lua, err, b)
	}
	return b, r
}

// luaReturns are tests, and what they return, as testcase.Value shows it.
var luaReturns = []struct{ name, body, want, old string }{ // old: where numbers have no bytes
	{"nothing", "", "None", ""},
	{"several", "return nil, 'a', true, nil", "(None, 'a', True, None)", ""},
	{"numbers", "return { 1, -1, math.mininteger, 1.5, -0.0, 1/0, 2^53 }", "[1, -1, -9223372036854775808, 1.5, -0.0, inf, 9007199254740992.0]", "-"},
	{"texts", `return { "", "a", "\195\169", "\255\0", "'" }`, `['', 'a', 'é', '\xff\x00', '\'']`, ""},
	{"tables", "return { { 'p', { k = {} } }, { zz = 'z', a = 'b', [true] = 'c', [print] = 1 }, {} }", "[['p', {'k': []}], {'a': 'b', 'zz': 'z', True: 'c', ...: ...}, []]", ""},
	{"holes", "return { 'a', nil, 'c', [10] = 'd' }", "{1: 'a', 3: 'c', 10: 'd'}", "{...: 'a', ...: 'c', ...: 'd'}"},
	{"objects", "return print, io.stdout, setmetatable({ 'x' }, { __name = 'C' }), setmetatable({ 'x' }, { __index = error, __len = error, __pairs = error })",
		"(function(<print>), <FILE*>, <C>, table with __index __len __pairs(['x']))", "(function(<print>), <userdata>, <C>, table with __index __len __pairs(['x']))"},
	{"functions", "local function f() end return f, function() end, string.rep, setmetatable({}, { x = 1 }), setmetatable({ a = 'b' }, f and {})",
		"(function(<test.lua:1>), function(<test.lua:1>), function(<string.rep>), table with metatable([]), table with metatable({'a': 'b'}))", ""},
	{"cycle", "local t = {} t[1] = t return t", "[[[[[[[[...]]]]]]]]", ""},
	{"long", "return { ('x'):rep(200000), 'y', (function() local t = {} for i = 1, 9000 do t[i] = i end return t end)(), (function() local t = {} for i = 1, 9000 do t[-i] = i end return t end)() }",
		"['" + strings.Repeat("x", 64) + "'...(200000 in all, None), 'y', []...(9000 in all, None), {}...(9000 in all, None)]", ""},
}

// luaFolder is a folder with the guest library, and the names in it of a test, of its inputs, which are none, and of what comes out.
func luaFolder(t *testing.T) (dir, test, in, out string) {
	t.Helper()
	dir = t.TempDir()
	if err := languages.Extract(dir); err != nil {
		t.Fatal(err)
	}
	test, in, out = filepath.Join(dir, "test.lua"), filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	if err := os.WriteFile(in, []byte(`{"version":1,"inputs":[]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, test, in, out
}

// TestLuaReturned holds what the library says a test returned against every Lua there is.
func TestLuaReturned(t *testing.T) {
	dir, test, in, out := luaFolder(t)
	for _, lua := range luas(t, jit) {
		for _, tt := range luaReturns {
			if err := os.WriteFile(test, []byte("return function() "+tt.body+" end\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			_, r := replayLua(t, lua, dir, test, in, out)
			want := tt.want
			if tt.old != "" && (lua < luaPath+"5.3" || lua == luaPath+jit) {
				want = tt.old
			}
			if got := r.returned(t); want != "-" && got.String() != want {
				t.Errorf("%s: %s: %s %s\n%s, want\n%s", lua, tt.name, r.Kind, r.Message, got, want)
			}
		}
	}
}

// TestLuaFrames: what led to an error, in every Lua there is. A call in the place of a return leaves nothing that names the function; a module does.
func TestLuaFrames(t *testing.T) {
	dir := t.TempDir()
	if err := languages.Extract(dir); err != nil {
		t.Fatal(err)
	}
	test, in, out := filepath.Join(dir, "test.lua"), filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	for name, text := range map[string]string{in: `{"version":1,"inputs":[]}`, filepath.Join(dir, "lib.lua"): "local M = {}\nfunction M.check(f) return f() end\nM.z_check = M.check\nreturn M\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, lua := range luas(t) {
		for text, want := range map[string]string{
			"function global() error('x') end\nreturn function()\n  local y = global()\nend\n":                           "test.lua:3:function <test.lua:2> test.lua:1:global",
			"function global() error('x') end\nreturn function() return global() end\n":                                  "test.lua:1:global",
			"local lib = require 'lib'\nreturn function()\n  local x = lib.check(nil)\nend\n":                            "test.lua:3:function <test.lua:2> lib.lua:2:check",
			"local lib = require 'lib'\nreturn function()\n  return lib.check(nil)\nend\n":                               "lib.lua:2:lib.check",
			"local lib = require 'lib'\nreturn function()\n  return lib.check(function()\n    error('x')\n  end)\nend\n": "test.lua:4:function <test.lua:3>",
			"function test_it()\n  error('x')\nend\n":                                                                    "test.lua:2:test_it",
			"return {run = function(self)\n  error('x')\nend}\n":                                                         "test.lua:2:function <test.lua:1>",
		} {
			if err := os.WriteFile(test, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, r := replayLua(t, lua, dir, test, in, out)
			var got []string
			for _, f := range r.Frames {
				got = append(got, filepath.Base(f))
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("%s: %s, want %s", lua, got, want)
			}
		}
	}
}

// luaErrors are error objects of basic types whose metatables answer with code of the test's.
var luaErrors = []string{
	"debug.setmetatable(1, told) error(42, 0)",
	"debug.setmetatable(1, told) error(-0.5, 0)",
	"debug.setmetatable(1, told) error(2^53, 0)",
	"debug.setmetatable('', told) error('text', 0)",
	"debug.setmetatable('', told) debug.setmetatable(1, told) error(7, 0)",
	"debug.setmetatable(nil, told) error(nil)",
	"debug.setmetatable(true, told) error(false)",
	"debug.setmetatable(print, told) error(print)",
	"debug.setmetatable(coroutine.create(print), told) error(coroutine.create(print))",
}

// TestLuaErrors: an error's message is the one that the stock interpreter prints, whatever the metatables of basic types say.
func TestLuaErrors(t *testing.T) {
	dir, test, in, out := luaFolder(t)
	const told = "local told = { __tostring = function() return 'told' end, __name = 'named' }\n"
	for _, lua := range luas(t) {
		for _, body := range luaErrors {
			if lua < luaPath+"5.3" && !strings.Contains(body, "(1, ") && !strings.Contains(body, "('', ") {
				continue // they print another text, or nothing
			}
			if err := os.WriteFile(test, []byte(told+"return function() "+body+" end\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			b, r := replayLua(t, lua, dir, test, in, out)
			plain, _ := exec.Command(lua, "-e", told+body).CombinedOutput()
			line, _, _ := strings.Cut(string(plain), "\n")
			if want, ok := strings.CutPrefix(line, lua+": "); !ok || r.Kind != "exception" || r.Message != want {
				t.Errorf("%s: %s: %s, want %q", lua, body, b, line)
			}
		}
	}
}

// luaOwn is what testdata/hostile/own.lua returns, by its input. What nothing can be done about has a word of its own.
var luaOwn = []string{"'a'", "('b', None)", "'c'", "'d'", "symchef.Damaged", "symchef.Damaged"}

// TestLuaOwn: a test that takes variables and upvalues from the library is told as what it is, and never as an error of its own.
func TestLuaOwn(t *testing.T) {
	dir := t.TempDir()
	if err := languages.Extract(dir); err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(dir, "in.json"), filepath.Join(dir, "out.json")
	for _, lua := range luas(t) {
		for i, want := range luaOwn {
			data, err := json.Marshal(map[string]any{"version": 1, "inputs": []value{integer("kind", i+1)}})
			if err == nil {
				err = os.WriteFile(in, data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			b, r := replayLua(t, lua, dir, "testdata/hostile/own.lua", in, out)
			got := r.Type
			if r.Kind == "ok" {
				got = r.returned(t).String()
			}
			if got != want {
				t.Errorf("%s: %d: %s, want %s", lua, i+1, b, want)
			}
		}
	}
}
