package session

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/rundir"
)

// TestCauses guards that a test case whose outcome depends on what is no input is unstable and says on what, and that looking at such a
// thing is not depending on it.
func TestCauses(t *testing.T) {
	needPython(t)
	for _, c := range []struct{ name, body, want string }{
		{"wall", "print(int(time.time()) // 3600)", "the clock"},
		{"date", "assert time.localtime().tm_year != 2024", "the clock"},
		{"import", "print(STARTED)", "the clock"},
		{"pid", "print(os.getpid())", "process ids"},
		{"random", "print(random.random())", "random numbers"},
		{"host", "print(os.uname().release)", theHost},
		{"load", "print(os.getloadavg())", theHost},
		{"environment", "return sorted(os.environ), sorted(os.environb)", ""},
		{"looks", "time.time(); os.getpid(); random.random(); os.uname(); id(b)", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "test_cause.py")
			text := "import os, random, symchef, time\nSTARTED = time.time()\n\ndef test_it(b: symchef.Bool):\n    " + c.body + "\n"
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Test: file})
			d, err := rundir.Open(e.dir)
			if err != nil {
				t.Fatal(err)
			}
			verdicts, err := d.Verdicts()
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range verdicts {
				if c.want == "" {
					if v.Verdict != "agreed" {
						t.Errorf("%s %s: %s", v.ID, v.Verdict, v.Why)
					}
				} else if v.Verdict != "unstable" || !strings.HasPrefix(v.Why, "it depends on "+c.want) {
					t.Errorf("%s %s: %s, want unstable for %s", v.ID, v.Verdict, v.Why, c.want)
				}
			}
			if e.summary.Exhausted != (c.want == "") {
				t.Errorf("exhausted %v, %q", e.summary.Exhausted, e.summary.WhyNotExhausted)
			}
			if len(verdicts) == 0 {
				t.Errorf("nothing was replayed\n%s%s", e.stdout, e.stderr)
			}
		})
	}
}

// verdictsOf are the verdicts of a run with one input, by its value.
func verdictsOf(t *testing.T, e explored) map[string]rundir.Verdict {
	t.Helper()
	d, err := rundir.Open(e.dir)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, e.stdout, e.stderr)
	}
	verdicts, err := d.Verdicts()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, e.stdout, e.stderr)
	}
	byID := map[string]rundir.Verdict{}
	for _, v := range verdicts {
		byID[v.ID] = v
	}
	out := map[string]rundir.Verdict{}
	for _, c := range e.tests {
		key := c.Inputs[0].BytesHex
		if n, err := c.Inputs[0].Int(); err == nil {
			key = fmt.Sprint(n)
		}
		out[key] = byID[c.ID]
	}
	return out
}

const theHost = "the host"

// TestCausesInC guards that whatever a program can see of its machine and its moment is as it is natively, or named as the cause.
func TestCausesInC(t *testing.T) {
	prog := compile(t, "testdata/causes.c", "-w")
	want := map[byte]string{ // "": agreed
		'a': theHost, 'b': "addresses", 'c': "process ids", 'd': theHost, 'e': theHost, 'f': theHost, 'g': "the clock", 'h': theHost,
		'i': "what it takes", 'j': "the clock", 'k': theHost, 'l': "numbers of inodes", 'm': "numbers of inodes", 'n': "the clock",
		'o': "the order of directories", 'p': theHost, 'q': "", 'r': "", 's': "process ids", 't': "addresses", 'u': "random numbers",
		'v': theHost, 'w': theHost, 'x': theHost, 'y': "", 'z': "", 'A': "", 'B': theHost, 'C': "the clock", 'D': "the clock",
		'E': "process ids", 'F': "addresses", 'G': theHost, 'H': theHost, 'I': theHost, 'J': "random numbers", 'K': "", 'L': "depends on",
		'M': "what it takes", 'N': "numbers of inodes", 'O': "what it takes", 'P': theHost, 'Q': theHost, 'R': "", 'S': theHost, 'T': "process ids",
		'U': "the order of directories", 'V': "process ids", 'W': "the order of directories", 'X': "", 'Y': "numbers of inodes", 'Z': "",
	}
	t.Chdir(t.TempDir())
	e := runIt(t, Options{Program: []string{prog}, AllPaths: true, ArgvCount: 1, ArgvLen: 1, StdinLen: -1})
	got := verdictsOf(t, e)
	all := ""
	for c, cause := range want {
		v := got[hex.EncodeToString([]byte{c})]
		checkCause(t, string(c), v, cause)
		all += v.Why + "\n"
	}
	for _, c := range causes { // each is met on any host, but for those of TestConfined
		w := c.part(elsewhere{hashes: 1})
		if w.hashes == 0 && !w.OtherRights && !w.Owned && !w.Sandbox && !strings.Contains(all, c.name) {
			t.Errorf("nothing depends on %s", c.name)
		}
	}
}

// checkCause reports where a verdict is not what the cause asks for.
func checkCause(t *testing.T, name string, v rundir.Verdict, cause string) {
	t.Helper()
	switch {
	case cause == "" && v.Verdict != "agreed":
		t.Errorf("%s is %s: %s; want it agreed", name, v.Verdict, v.Why)
	case cause != "" && v.Verdict != "agreed" && (v.Verdict != "unstable" || !strings.Contains(v.Why, "depends on") || !strings.Contains(v.Why, cause)):
		t.Errorf("%s is %s: %s; want it unstable for %s", name, v.Verdict, v.Why, cause)
	}
}

// TestCausesInLanguages is TestCausesInC for what languages add: hashes, addresses, random numbers, files.
func TestCausesInLanguages(t *testing.T) {
	for _, c := range []struct {
		file, interpreter, text string
		rows                    [][2]string // what a test returns, and what that depends on
	}{
		{"test_it.py", "", "import gc, ipaddress, os, resource, symchef, sys, tempfile, time, uuid\nROWS = [\n%s]\n\ndef test_it(i: symchef.Int(1, len(ROWS))):\n    return ROWS[symchef.concretize(i) - 1]()\n", [][2]string{
			{"lambda: hash('abc')", "the seed of hashes"},
			{"lambda: hash(b'abc')", "the seed of hashes"},
			{"lambda: list({'a', 'b', 'c', 'd', 'e'})", "the seed of hashes"},
			{"lambda: str(frozenset(['one', 'two', 'three', 'four']))", "the seed of hashes"},
			{"lambda: (hash(12), hash(1.5), hash((1, 2)))", ""},
			{"lambda: (list({5: 1, 3: 2}), str({9, 1, 5}))", ""},
			{"lambda: str(object())", "addresses"},
			{"lambda: str(len)", "addresses"},
			{"lambda: id(None)", "addresses"},
			{"lambda: uuid.uuid4().hex", "random numbers"},
			{"lambda: tempfile.mkdtemp()", "random numbers"},
			{"lambda: os.listdir('/etc')", "the order of directories"},
			{"lambda: sorted(os.listdir('/etc'))", ""},
			{"lambda: resource.getrlimit(resource.RLIMIT_NPROC)", theHost},
			{"lambda: time.perf_counter_ns()", "the clock"},
			{"lambda: os.stat('/etc/passwd').st_mtime", ""},
			{"lambda: os.getppid()", "process ids"},
			{"lambda: os.cpu_count()", theHost},
		}},
		{"it.lua", "/usr/bin/lua5.4", "local symchef = require 'symchef'\nlocal rows = {\n%s}\nfunction test_it()\n  return rows[symchef.concretize(symchef.integer('i', 1, #rows))]()\nend\n", [][2]string{
			{"function() return tostring({}) end", "addresses"},
			{"function() return tostring(print) end", "addresses"},
			{"function() return os.time() end", "the clock"},
			{"function() return os.tmpname() end", "depends on"},
			{"function() return math.random(1000000) end", "depends on"},
			{"function() local s = '' for k in pairs({a=1, b=2, c=3, d=4, e=5, f=6}) do s = s .. k end return s end", "depends on"},
			{"function() return os.getenv('HOME') end", ""},
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			if c.interpreter == "" {
				needPython(t)
			} else if !exists(c.interpreter) {
				t.Skipf("skipped: %s is not installed", c.interpreter)
			}
			var rows strings.Builder
			for _, r := range c.rows {
				rows.WriteString("  " + r[0] + ",\n")
			}
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, fmt.Appendf(nil, c.text, rows.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			e := runIt(t, Options{Test: file, Interpreter: c.interpreter, AllPaths: true})
			verdicts := verdictsOf(t, e)
			for i, r := range c.rows {
				checkCause(t, r[0], verdicts[fmt.Sprint(i+1)], r[1])
			}
		})
	}
}
