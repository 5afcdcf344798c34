package session

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"symchef/internal/testcase"
)

// luas are the interpreters of Lua that are installed; t is skipped if there is none.
func luas(t *testing.T) (found []string) {
	t.Helper()
	for _, v := range []string{"5.4", "5.3", "5.2", "5.1"} {
		if path := "/usr/bin/lua" + v; exists(path) {
			found = append(found, path)
		} else {
			t.Logf("skipped: %s is not installed", path)
		}
	}
	if found == nil {
		t.Skip("skipped: no Lua is installed")
	}
	return found
}

// slowVersion leaves the versions between the oldest and the newest to SYMCHEF_SLOW.
func slowVersion(t *testing.T, lua string) {
	t.Helper()
	if strings.HasSuffix(lua, "5.2") || strings.HasSuffix(lua, "5.3") {
		slow(t)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// outcomes are the distinct outcomes of a run, messages included, sorted.
func (e explored) outcomes() []string {
	var out []string
	for _, x := range e.tests {
		o := x.Outcome
		if o.Kind == testcase.Hang {
			o.Message = ""
		}
		out = append(out, o.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Every kind of outcome and of input, in every version.
func TestLuaKinds(t *testing.T) {
	const file = "testdata/kinds.lua"
	at := "kinds.lua:%d: %s"
	folder := regexp.MustCompile(`\S*/kinds\.lua`) // Lua writes the end of it alone, where it is long
	for _, lua := range luas(t) {
		t.Run(lua, func(t *testing.T) {
			slowVersion(t, lua)
			e := runIt(t, Options{Test: file + "::test_kinds", Interpreter: lua})
			index := "attempt to index a nil value (local 't')"
			if strings.HasSuffix(lua, "5.1") || strings.HasSuffix(lua, "5.2") {
				index = "attempt to index local 't' (a nil value)"
			}
			want := []string{
				"assertion error: " + fmt.Sprintf(at, 11, "said"),
				"exception Boom: boom",
				"exception error: " + fmt.Sprintf(at, 20, index),
				"exception table: (error object is a table value)",
				"exit 7",
				"expected error: " + fmt.Sprintf(at, 9, "bad luck"),
				"expected table: (error object is a table value)",
				"ok",
			}
			got := e.outcomes()
			for i, o := range got {
				got[i] = folder.ReplaceAllString(o, "kinds.lua")
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q\n%s", got, want, e.stderr)
			}
			if r := e.summary.Replay; r.Agreed != len(want) || r.Diverged+r.Unstable > 0 {
				t.Errorf("replay %+v\n%s", r, e.stdout)
			}
			e = runIt(t, Options{Test: file + "::test_hang", Interpreter: lua, PathInstructions: 1 << 20, NoReplay: true})
			if got := e.outcomes(); !slices.Equal(got, []string{"hang", "ok"}) {
				t.Errorf("got %q\n%s", got, e.stderr)
			}
			e = runIt(t, Options{Test: file + "::test_inputs", Interpreter: lua})
			e.sound(t)
			if got := len(e.classes()); got != 10 {
				t.Errorf("%d classes, want 10\n%s%s", got, e.stdout, e.stderr)
			}
			number := runIt(t, Options{Test: file + "::test_number", Interpreter: lua})
			if number.sound(t); len(number.classes()) != 9 {
				t.Errorf("%d classes, want 9\n%s%s", len(number.classes()), number.stdout, number.stderr)
			}
			for _, x := range e.tests {
				b, _ := x.Inputs[0].Bool()
				c, _ := x.Inputs[1].Choice()
				n, _ := x.Inputs[2].Int()
				if want := fmt.Sprintf("values %v %s %d", b, []string{"p", "q"}[c], n); len(x.Log) != 1 || x.Log[0] != want {
					t.Errorf("%s logged %q, want %q", x.ID, x.Log, want)
				}
			}
		})
	}
}

// LuaJIT, whose compiler the library turns off: every kind of outcome, without the model of strings, which is said.
func TestLuaJIT(t *testing.T) {
	const lua = "/usr/bin/luajit"
	if !exists(lua) {
		t.Skipf("skipped: %s is not installed", lua)
	}
	e := runIt(t, Options{Test: "testdata/kinds.lua::test_kinds", Interpreter: lua})
	if e.sound(t); len(e.outcomes()) != 8 || e.summary.Replay.Agreed != 8 || len(e.summary.Without) != 1 || e.summary.Without[0].Name != "model deferred-identity" {
		t.Errorf("%q, replay %+v, without %v\n%s", e.outcomes(), e.summary.Replay, e.summary.Without, e.stderr)
	}
}

// A table's setup runs once, before the boot snapshot; making strings splits no paths; usage errors give one line.
func TestLuaTable(t *testing.T) {
	const file = "testdata/kinds.lua"
	lua := luas(t)[0]
	e := runIt(t, Options{Test: file + "::test_table", Interpreter: lua, AllPaths: true, NoReplay: true, MaxPaths: 3, Time: time.Minute})
	if got := e.outcomes(); !slices.Equal(got, []string{"exception error: over true", "ok"}) {
		t.Errorf("got %q\n%s", got, e.stderr)
	}
	e = runIt(t, Options{Test: file + "::test_strings", Interpreter: lua})
	if e.sound(t); e.summary.Paths.Low != 2 {
		t.Errorf("%d low-level paths, want 2\n%s", e.summary.Paths.Low, e.stdout)
	}
	for test, want := range map[string]string{
		file:                 "several tests in the file, choose one with ::NAME: test_hang, test_inputs, test_kinds, test_number, test_strings, test_table",
		file + "::test_none": "no test named test_none; tests here: test_hang, test_inputs, test_kinds, test_number, test_strings, test_table",
	} {
		e := runIt(t, Options{Test: test, Interpreter: lua})
		if e.status != StatusUsage || !strings.Contains(e.stderr, want) || strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q", test, e.status, e.stderr)
		}
	}
}

// The examples have exactly as many classes of (outcome, output) as their headers say, and as many high-level paths as
// their code has, in every version; interning makes no low-level paths: there are at most as many as stated.
func TestLuaExamples(t *testing.T) {
	for _, x := range []struct {
		file               string
		classes, high, low int
		needs              string
		slow               bool // run in two versions, but with SYMCHEF_SLOW
	}{
		{"binary_search.lua", 101, 101, 101, "", true},
		{"clock.lua", 3, 3, 50, "/usr/lib/x86_64-linux-gnu/lua/%s/lpeg.so", false},
		{"email.lua", 2, 3, 11, "", false},
		{"lookup.lua", 9, 5, 11, "", true},
		{"number.lua", 2, 2, 500, "", true},
		{"predicates.lua", 6, 6, 110, "", true},
		{"quicksort.lua", 6, 6, 6, "", true},
	} {
		for _, lua := range luas(t) {
			version := strings.TrimPrefix(lua, "/usr/bin/lua")
			t.Run(x.file+" "+version, func(t *testing.T) {
				if x.slow {
					slowVersion(t, version)
				}
				if x.needs != "" && !exists(fmt.Sprintf(x.needs, version)) {
					t.Skip("skipped: lua-lpeg is not installed")
				}
				e := runIt(t, Options{Test: "../../examples/lua/" + x.file, Interpreter: lua})
				e.sound(t)
				if got := len(e.classes()); got != x.classes {
					t.Errorf("%d classes, want %d\n%s%s", got, x.classes, e.stdout, e.stderr)
				}
				if e.summary.Paths.High != x.high || e.summary.Paths.Low > x.low {
					t.Errorf("%d high-level and %d low-level paths, want %d and at most %d", e.summary.Paths.High, e.summary.Paths.Low, x.high, x.low)
				}
				t.Logf("%d low-level paths, %d infeasible, %d queries", e.summary.Paths.Low, e.summary.Paths.Infeasible, e.summary.Solver.Queries)
			})
		}
	}
}

// Integers are divided without a path for each of their values.
func TestLuaDivision(t *testing.T) {
	file := filepath.Join(t.TempDir(), "division.lua")
	if err := os.WriteFile(file, []byte(`local symchef = require "symchef"
return function()
  local a, b = symchef.integer("a", -1000000, 1000000), symchef.integer("b", -1000, 1000)
  if b ~= 0 and a // b == 777 and a % b == 5 then
    print "found"
  end
end
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, lua := range luas(t) {
		if version := strings.TrimPrefix(lua, "/usr/bin/lua"); version < "5.3" {
			continue // has no integers
		}
		e := runIt(t, Options{Test: file, Interpreter: lua, MaxPaths: 50})
		e.sound(t)
		if len(e.classes()) != 2 || e.summary.Paths.Low > 12 || !e.summary.Exhausted {
			t.Errorf("%s: %d classes, %d low-level paths\n%s%s", lua, len(e.classes()), e.summary.Paths.Low, e.stdout, e.stderr)
		}
		t.Logf("%s: %d low-level paths", lua, e.summary.Paths.Low)
	}
}
