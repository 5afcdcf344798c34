package session

import (
	"encoding/hex"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"symchef/internal/rundir"
)

// rightsOf is the cause of what only the superuser may.
const rightsOf = "rights of the superuser"

// TestConfined guards that what replay keeps a program from, though a plain run may do it, is a cause or a bound with a name, and that nothing
// diverges.
func TestConfined(t *testing.T) {
	prog := compile(t, "testdata/confined.c", "-w")
	root := os.Getuid() == 0
	want := map[byte]string{ // "": agreed
		'q': "a file of 64 MiB", 'r': "a file of 64 MiB", 's': "MiB of files", 't': "256 processes",
		'u': "", 'v': "", 'w': "", 'x': "sandbox", 'y': "sandbox", 'z': "", 'A': "sandbox",
		'B': "sandbox", 'C': "", 'D': "process ids", 'E': "process ids", 'F': "process ids", 'G': "", 'H': "", 'I': "", 'J': "", 'K': theHost,
		'L': "", 'M': "", 'N': "", 'O': "", 'Q': "schedule",
	}
	for c := byte('a'); c < 'q'; c++ {
		if want[c] = ""; root {
			want[c] = rightsOf
		}
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("given", []byte("given\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if root {
		want['F'] = ""
		want['P'] = ""
		if err := os.WriteFile("foreign", nil, 0o644); err != nil {
			t.Fatal(err)
		}
		os.Chown("foreign", 1, 1)
		os.Mkdir("sticky", 0o777)
		os.WriteFile("sticky/f", nil, 0o666)
		os.Chown("sticky", 1, 1)
		os.Chown("sticky/f", 2, 2)
		os.Chmod("sticky", 0o1777)
	}
	e := runIt(t, Options{Program: []string{prog}, AllPaths: true, ArgvCount: 1, ArgvLen: 1, StdinLen: -1})
	got := verdictsOf(t, e)
	for _, c := range slices.Sorted(maps.Keys(want)) {
		cause := want[c]
		checkConfined(t, string(c), got[hex.EncodeToString([]byte{c})], cause)
	}
}

// checkConfined is checkCause where not compared is an answer, too.
func checkConfined(t *testing.T, name string, v rundir.Verdict, cause string) {
	t.Helper()
	t.Logf("%s %s %s", name, v.Verdict, v.Why)
	switch {
	case cause == "" && v.Verdict != "agreed", v.Verdict == "diverged":
		t.Errorf("%s is %s: %s; want %q", name, v.Verdict, v.Why, cause)
	case cause != "" && !strings.Contains(v.Why, cause) && cause != "schedule":
		t.Errorf("%s is %s: %s; want %q", name, v.Verdict, v.Why, cause)
	}
}
