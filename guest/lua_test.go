package guestlib_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	guestlib "symchef/guest"
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

// TestLuaReplay holds the reading of inputs and the writing of outcomes against every Lua there is.
func TestLuaReplay(t *testing.T) {
	dir := t.TempDir()
	if err := guestlib.Extract(dir); err != nil {
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
	for _, v := range []string{"5.4", "5.3", "5.2", "5.1"} {
		lua := "/usr/bin/lua" + v
		if _, err := os.Stat(lua); err != nil {
			t.Logf("skipped: %s is not installed", lua)
			continue
		}
		ran = true
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
		if want := []string{"a 1 nil true " + text, ""}; r.Kind != "exception" || r.Type != "error" || r.Message != "m\x01\"\\\n\x7f" || !slices.Equal(r.Log, want) {
			t.Errorf("%s: %s", lua, b)
		}
	}
	if !ran {
		t.Skip("skipped: no Lua is installed")
	}
}
