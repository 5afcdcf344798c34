package complete

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"symchef/internal/session"
)

// One exploration of all Lua programs accounts for every input of each, in every version.
func TestLua(t *testing.T) { testLua(t, *only, false) }

// testLua explores those whose name matches the regular expression wanted.
func testLua(t *testing.T, wanted string, merge bool) {
	file, err := filepath.Abs("testdata/lua/programs.lua")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COMPLETE_ONLY", wanted)
	for _, lua := range []string{"/usr/bin/lua5.4", "/usr/bin/lua5.3", "/usr/bin/lua5.2", "/usr/bin/lua5.1"} {
		t.Run(filepath.Base(lua), func(t *testing.T) {
			needs(t, lua)
			cmd := exec.Command(lua, "testdata/lua/native.lua", file)
			cmd.Stderr = os.Stderr
			lines, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			names, runs := readRuns(t, lines)
			r := exploreAll(t, session.Options{Test: file, Interpreter: lua, StdinLen: -1, Workers: 2, Merge: merge})
			tests, _, err := r.Tests()
			if err != nil {
				t.Fatal(err)
			}
			checkAll(t, r, names, runs, tests)
		})
	}
}
