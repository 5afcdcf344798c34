package hlpc_test

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"symchef/internal/hlpc"
)

// The lines of every instruction are those that the compiler lists, in each version of Lua.
func TestLinesOfLua(t *testing.T) {
	var b strings.Builder // functions with many instructions, and with lines far apart
	b.WriteString("local function many(x)\n")
	for i := range 300 {
		fmt.Fprintf(&b, "x = x + %d;%s", i, strings.Repeat("\n", i%3))
	}
	b.WriteString("return x end\nlocal function far(x)\n x = x + 1" + strings.Repeat("\n", 400) + "return x(\n1,\n2) end\n")
	b.WriteString("many(1) pcall(far, 1)\n")
	path := filepath.Join(t.TempDir(), "program.lua")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^\t\d+\t\[(\d+)\]`)
	for _, v := range []string{"5.4", "5.3", "5.2", "5.1"} {
		t.Run(v, func(t *testing.T) {
			r, _ := calibrate(t, "/usr/bin/lua"+v)
			luac, err := osexec.LookPath("luac" + v)
			if err != nil {
				t.Skip("skipped: luac is not installed")
			}
			listing, err := osexec.Command(luac, "-p", "-l", path).Output()
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]bool{} // the lines of a function's instructions
			var lines []string
			for _, l := range append(strings.Split(string(listing), "\n"), "") {
				if m := line.FindStringSubmatch(l); m != nil {
					lines = append(lines, m[1])
				} else if l == "" && lines != nil {
					want[strings.Join(lines, " ")] = true
					lines = nil
				}
			}
			got := map[string]bool{}
			recordWith(t, r, func(_ hlpc.Digest, l hlpc.Label) {
				if l.File != path {
					t.Errorf("file %q", l.File)
				}
				var lines []string
				for at := uint32(0); l.Line(at) != 0; at += 4 {
					lines = append(lines, fmt.Sprint(l.Line(at)))
				}
				got[strings.Join(lines, " ")] = true
			}, "/usr/bin/lua"+v, path)
			if len(want) != 3 || len(got) != 3 {
				t.Errorf("%d functions are listed, %d ran", len(want), len(got))
			}
			for l := range got {
				if !want[l] {
					t.Errorf("lines %s are not in the listing", l)
				}
			}
		})
	}
}
