package hlpc_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/hlpc"
)

// TestMoved: code objects of interpreters that no other test compares with a disassembler have the same digests wherever they lie, and functions that
// differ by a constant have different ones.
func TestMoved(t *testing.T) {
	for _, c := range []struct {
		path, suffix, function, call string // the last two with a number
		apart                        string // what stands between functions
	}{
		{"/usr/bin/luajit", ".lua", "local function f%[1]d(x) return x + %[1]d end", "f%d(1)", " "},
		{"/usr/bin/mruby", ".rb", "def f%[1]d(x) x + %[1]d end", "f%d(1)", "\n"},
		{"/usr/bin/mujs", ".js", "var f%[1]d = function (x) { return x + 'text %[1]d'; };", "f%d(1);", " "},
		{"/usr/bin/tclsh8.6", ".tcl", "proc f%[1]d {x} { return [expr {$x + %[1]d}] }", "f%d 1", "\n"},
		{"/usr/bin/perl", ".pl", "sub f%[1]d { $_[0] + %[1]d }", "f%d(1);", "\n"},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			r, _ := calibrate(t, c.path)
			program := func(functions int) string {
				var text strings.Builder
				for i := range functions {
					fmt.Fprintf(&text, c.function+c.apart, i)
				}
				for i := range 16 {
					fmt.Fprintf(&text, "\n"+c.call, i%functions)
				}
				return programFile(t, "program"+c.suffix, text.String())
			}
			digests := func(steps []step) int {
				all := map[hlpc.Digest]bool{}
				for _, s := range steps {
					all[s.Code.Digest] = true
				}
				return len(all)
			}
			eight := program(8)
			few, _ := record(t, r, c.path, program(5))
			steps, _ := record(t, r, c.path, eight)
			if more := digests(steps) - digests(few); more != 3 {
				t.Errorf("three functions have %d digests", more)
			}
			again, _ := record(t, r, append([]string{c.path, eight}, strings.Fields(strings.Repeat("argument ", 500))...)...)
			if len(again) < len(steps) {
				t.Fatalf("%d steps at other addresses, %d before", len(again), len(steps))
			}
			if !sameTrace(t, steps, again[len(again)-len(steps):]) {
				t.Error("nothing has moved")
			}
		})
	}
}
