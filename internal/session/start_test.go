package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// What stands before the test is bounded in instructions: a file that never comes to an end is one line, in a list of tests, too. A start that is long
// natively only is what the machine makes of it.
func TestStartEnds(t *testing.T) {
	for _, x := range []struct {
		name, file, interpreter, text, boot string
		most                                uint64
		status                              int
		says                                string
	}{
		{"Lua, emulated", "it.lua", "/usr/bin/lua5.4", "while true do end\n", BootEmulated, 50_000_000, StatusUsage, "importing and setting up the test takes more than 50000000 instructions (more with --path-instructions)"},
		{"Lua, native", "it.lua", "/usr/bin/lua5.4", "while true do end\n", BootNative, 20_000_000, StatusUsage, "importing and setting up the test takes more than 20000000 instructions (more with --path-instructions)"},
		{"Lua, in time", "it.lua", "/usr/bin/lua5.4", "for i = 1, 100000 do end\nfunction test_it() end\n", BootEmulated, 50_000_000, StatusOK, ""},
		{"Python, set-up", "test_it.py", python, "import symchef\nclass T(symchef.SymbolicTest):\n    def setUp(self):\n        while True: pass\n    def runTest(self): pass\n", BootNative, 20_000_000, StatusUsage,
			"importing and setting up the test takes more than 20000000 instructions (more with --path-instructions)"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if _, err := os.Stat(x.interpreter); err != nil {
				t.Skipf("skipped: %s is not installed", x.interpreter)
			}
			file := filepath.Join(t.TempDir(), x.file)
			if err := os.WriteFile(file, []byte(x.text), 0o644); err != nil {
				t.Fatal(err)
			}
			o := Options{Test: file, Interpreter: x.interpreter, Boot: x.boot, BootInstructions: x.most, NoReplay: true, Strategy: "dfs"}
			e := runIt(t, o)
			if want := "symchef: " + x.says + "\n"; e.status != x.status || x.says != "" && e.stderr != want || x.says == "" && e.stderr != "" {
				t.Errorf("status %d\n%s", e.status, e.stderr)
			}
			o.Test, o.CacheDir, o.MaxMemory = file, cacheDir, DefaultMemory
			if x.file == "it.lua" {
				names, err := List(context.Background(), o, &bytes.Buffer{})
				if said := errorText(err); said != x.says || x.says == "" && len(names) != 1 {
					t.Errorf("%q, %v", names, err)
				}
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
