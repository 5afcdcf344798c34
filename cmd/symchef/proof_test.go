package main

import (
	"os"
	"testing"
)

// A proof is about the program that was explored. Where that has changed since, replay refuses with the name, as rerun does, and writes nothing;
// with --changed it compares, says what has changed, and neither calls anything exhausted nor takes the verdicts for those of the run.
func TestReplayChanged(t *testing.T) {
	t.Parallel()
	const usage = "it does not take these inputs any more: "
	for _, c := range []struct {
		name, target string
		files        map[string]string
		file, now    string // what changes; empty: it is gone
		status       int    // of replay --changed
		says         string // by that
		as           string // the interpreter; empty: gcc
	}{
		{name: "python, a bug made", target: "test_ed.py", as: python, file: "test_ed.py", status: 4, says: "1 agreed, 1 diverged",
			files: map[string]string{"test_ed.py": "import symchef\ndef test_e(n: symchef.Int(0, 9)):\n    return n > 4\n"},
			now:   "import symchef\ndef test_e(n: symchef.Int(0, 9)):\n    if n > 4: raise ValueError(n)\n    return n > 4\n"},
		{name: "python, a bug that these inputs do not show", target: "test_ed.py", as: python, file: "test_ed.py", says: "2 agreed, 0 diverged",
			files: map[string]string{"test_ed.py": "import symchef\ndef test_e(n: symchef.Int(0, 9) = 1):\n    return n > 4\n"},
			now:   "import symchef\ndef test_e(n: symchef.Int(0, 9) = 1):\n    if n == 7: raise ValueError(n)\n    return n > 4\n"},
		{name: "python, an input by another name", target: "test_ed.py", as: python, file: "test_ed.py", status: 2, says: usage,
			files: map[string]string{"test_ed.py": "import symchef\ndef test_e(n: symchef.Int(0, 9)):\n    return n > 4\n"},
			now:   "import symchef\ndef test_e(m: symchef.Int(0, 9)):\n    return m > 4\n"},
		{name: "python, the test gone", target: "test_ed.py", as: python, file: "test_ed.py", status: 2, says: usage,
			files: map[string]string{"test_ed.py": "import symchef\ndef test_e(n: symchef.Int(0, 9)):\n    return n > 4\n"}},
		{name: "lua, what it imports gone", target: "ed.lua", as: "/usr/bin/lua5.4", file: "lib.lua", status: 2, says: usage,
			files: map[string]string{"ed.lua": "local symchef, lib = require 'symchef', require 'lib'\nfunction test_e() return lib(symchef.integer('n', 0, 9)) end\n", "lib.lua": "return function(n) return n > 4 end\n"}},
		{name: "r", target: "ed.R", as: "/usr/bin/Rscript", file: "lib.R", status: 4, says: "2 diverged",
			files: map[string]string{"ed.R": "source('lib.R')\ntest_e <- function() lib(symchef$integer('n', 0L, 9L))\n", "lib.R": "lib <- function(n) n > 4L\n"},
			now:   "lib <- function(n) n + 1\n"},
		{name: "program", file: "p", status: 4, says: "1 agreed, 1 diverged",
			files: map[string]string{"p": "#include <stdio.h>\nint main() { return getchar() == 'x'; }"}, now: "#include <stdio.h>\nint main() { return getchar() == 'x' ? 5 : 0; }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat(c.as); c.as != "" && err != nil {
				t.Skipf("skipped: %s is not installed", c.as)
			}
			b := newBox(t)
			put := b.write
			run := []string{"run", "--out", "out", "--no-replay", c.target}
			if c.as == "" {
				put = func(name, text string) string { return b.compile(name, text) }
				run = []string{"run", "--out", "out", "--no-replay", "--stdin", "1", "--", "./p"}
			}
			for name, text := range c.files {
				put(name, text)
			}
			b.run(run...).want(0, "exhausted, in the machine")
			before := (&box{t, b.path("out"), nil}).listing()
			says := b.path(c.file) + " has changed"
			if c.now == "" {
				says = b.path(c.file) + " is gone"
				os.Remove(b.path(c.file))
			} else {
				put(c.file, c.now)
			}
			b.run("replay", "out").oneLine(2, says+" since the run")
			b.run("replay", "--test", "t000001", "out").oneLine(2, says+" since the run")
			r := b.run("replay", "--changed", "out").want(c.status, says+" since the run")
			if c.status != 2 {
				r.want(c.status, "compared with what is there now", c.says, "not exhausted:\n  - "+says)
			} else {
				r.want(c.status, c.says)
			}
			got := fields(t, b.run("replay", "--changed", "--json", "out").stdout)
			if got["changed"] != says+" since the run" {
				t.Errorf("%v", got)
			}
			if after := (&box{t, b.path("out"), nil}).listing(); after != before {
				t.Errorf("the run directory was written:\n%s\nnow\n%s", before, after)
			}
			if w := b.run("emit", "out").want(0, says+" since the run"); w.stdout == "" {
				t.Errorf("%+v", w)
			}
			if c.as == "" {
				b.run("tree", "out").want(0, says+" since the run")
			}
			put(c.file, c.files[c.file])
			b.run("replay", "--changed", "out").want(0, "2 agreed", "exhausted: ")
			if w := b.run("emit", "out").want(0); w.stderr != "" {
				t.Errorf("%q", w.stderr)
			}
		})
	}
}
