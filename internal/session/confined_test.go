package session

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"symchef/internal/testcase"
)

// TestConfined guards that the machine does what a plain run does, and that what replay keeps a program from is a cause or a bound with a name.
func TestConfined(t *testing.T) {
	prog := compile(t, "testdata/confined.c", "-w")
	root := os.Getuid() == 0
	rights := func(s string) string { // of the superuser
		if !root {
			return ""
		}
		return s
	}
	type row struct {
		cause string // "": agreed
		plain bool   // a plain run does what the machine does
	}
	want := map[byte]row{
		'q': {"64 MiB in a file", true}, 'r': {"64 MiB in a file", true}, 's': {"256 MiB of files", false}, 't': {"256 processes", true}, 'R': {"a file of more than 1 GiB", false},
		'S': {theHost, false}, 'T': {"", true},
		'u': {"", true}, 'v': {"", true}, 'w': {"", true}, 'x': {"sandbox", false}, 'y': {"sandbox", false}, 'z': {"", true}, 'A': {"sandbox", true},
		'B': {"sandbox", true}, 'C': {"", true}, 'D': {"process ids", true}, 'E': {"process ids", true}, 'F': {"process ids", true}, 'G': {"", true}, 'H': {"", true}, 'I': {"", true},
		'J': {"", true}, 'K': {theHost, false}, 'L': {"", true}, 'M': {"", true}, 'N': {"", true}, 'O': {"", true}, 'Q': {"the schedule", false},
	}
	for _, c := range []byte("abcdefklnop") {
		want[c] = row{rights("rights of the superuser"), true}
	}
	for _, c := range []byte("ghijm") { // which the machine refuses the superuser, too
		want[c] = row{rights("rights of the superuser"), !root}
	}
	if root {
		want['F'], want['P'] = row{"", true}, row{"", true}
	} else { // there are no other ids
		want['d'], want['g'] = row{"sandbox", true}, row{"sandbox", true}
	}
	files := func() {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("given", []byte("given\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if root {
			if err := errors.Join(os.WriteFile("foreign", nil, 0o644), os.Chown("foreign", 1, 1), os.Mkdir("sticky", 0o755), os.WriteFile("sticky/f", nil, 0o644),
				os.Chown("sticky/f", 2, 2), os.Chown("sticky", 1, 1), os.Chmod("sticky", 0o777|fs.ModeSticky)); err != nil {
				t.Fatal(err)
			}
		}
	}
	files()
	e := runIt(t, Options{Program: []string{prog}, AllPaths: true, ArgvCount: 1, ArgvLen: 1, StdinLen: -1})
	verdicts := verdictsOf(t, e)
	shown := map[string]string{} // digests of what was printed
	for _, c := range e.tests {
		shown[c.Inputs[0].BytesHex] = c.OutputSHA256
	}
	for _, c := range slices.Sorted(maps.Keys(want)) {
		w, key := want[c], hex.EncodeToString([]byte{c})
		switch v := verdicts[key]; {
		case w.cause == "" && v.Verdict != "agreed", v.Verdict == "diverged", v.Verdict == "":
			t.Errorf("%c is %q: %s; want %q", c, v.Verdict, v.Why, w.cause)
		case !strings.Contains(v.Why, w.cause) && !(c == 'Q' && v.Verdict == "agreed"): // by luck
			t.Errorf("%c is %s: %s; want %q", c, v.Verdict, v.Why, w.cause)
		}
		if !w.plain {
			continue
		}
		files()
		out, err := exec.Command(prog, string(c)).Output()
		if err != nil || testcase.OutputDigest(out) != shown[key] {
			t.Errorf("%c: a plain run shows %q (%v), the machine something else", c, out, err)
		}
	}
}
