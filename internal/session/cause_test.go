package session

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"symchef/internal/kernel"
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

// TestCauseBesideClock guards that what depends on the clock by what the interpreter makes of it, as a seed of its own does, is told of what it depends on besides: the
// order in which a table grows is another with another seed, and so is where the heap goes on.
func TestCauseBesideClock(t *testing.T) {
	const lua = "/usr/bin/lua5.4"
	if !exists(lua) {
		t.Skipf("skipped: %s is not installed", lua)
	}
	for _, c := range []struct{ name, returns, want string }{
		{"address", "tostring({})", "addresses"},
		{"time", "os.time()", "the clock"},
	} {
		file := writeFile(t, "beside.lua", "local symchef = require 'symchef'\nfunction test_it()\n  local b = symchef.boolean('b')\n  return "+c.returns+"\nend\n")
		e := runIt(t, Options{Test: file, Interpreter: lua})
		for id, v := range verdictsOf(t, e) {
			why, _, _ := strings.Cut(strings.TrimPrefix(v.Why, "it depends on "), ":")
			if v.Verdict != "unstable" || !strings.Contains(why, c.want) || c.name == "time" && why != c.want {
				t.Errorf("%s %s: %s: %s", c.name, id, v.Verdict, v.Why)
			}
		}
	}
}

// TestManyCauses guards that of many test cases that disagree none is told as a mistake of the machine because only some of them are executed again for all causes.
func TestManyCauses(t *testing.T) {
	prog := compile(t, writeFile(t, "many.c", `#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>
int main(void) {
	unsigned char c = 0;
	struct utsname u;
	read(0, &c, 1);
	uname(&u);
	for (int i = 0; i < 6; i++)
		if (c == i) return printf("%d %s\n", i, u.release), i;
	return 99;
}
`))
	defer func(n int) { mostExplained = n }(mostExplained)
	mostExplained = 2
	e := runIt(t, Options{Program: []string{prog}, StdinLen: 1})
	n := 0
	for id, v := range verdictsOf(t, e) {
		if v.Verdict == "unstable" && strings.HasPrefix(v.Why, "it depends on "+theHost) {
			n++
		} else if v.Verdict != "agreed" {
			t.Errorf("%s %s: %s", id, v.Verdict, v.Why)
		}
	}
	if n != 6 {
		t.Errorf("%d unstable for the host, want 6", n)
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
	for _, c := range causes { // each is met on any host, but for those of languages and of TestConfined
		w := c.part(elsewhere{hashes: 1, World: kernel.World{Objects: 1}})
		if w.hashes == 0 && w.Objects == 0 && !w.OtherRights && !w.Network && !w.Owned && !w.Sandbox && !strings.Contains(all, c.name) {
			t.Errorf("nothing depends on %s", c.name)
		}
	}
}

// notCompared is where the test keeps its library from telling how it ended.
const notCompared = "not compared"

// checkCause reports where a verdict is not what the cause asks for.
func checkCause(t *testing.T, name string, v rundir.Verdict, cause string) {
	t.Helper()
	switch {
	case cause == notCompared:
		if v.Verdict != "skipped" || !strings.Contains(v.Why, "limits that the test has set") {
			t.Errorf("%s is %s: %s; want it not compared", name, v.Verdict, v.Why)
		}
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
		{"test_it.py", "", "import gc, ipaddress, math, os, resource, symchef, sys, tempfile, threading, time, uuid\nROWS = [\n%s]\n\ndef test_it(i: symchef.Int(1, len(ROWS))):\n    return ROWS[symchef.concretize(i) - 1]()\n", [][2]string{
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
			{"lambda: id(object()) % 32", "depends on"},
			{"lambda: hash(object()) % 64", "depends on"},
			{"lambda: len(gc.get_objects())", itMade},
			{"lambda: gc.get_count()", itMade},
			{"lambda: threading.get_ident() % 4096", theHost},
			{"lambda: math.exp(1137 / 370)", theHost}, // the last bit is that of fused multiply-add, or not
			{"lambda: len(os.listdir('/proc/self/task'))", ""},
			{"lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))", ""},
			{"lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 22, 1 << 22))", ""},
			{"lambda: resource.setrlimit(resource.RLIMIT_NPROC, (5, 5))", ""},
			{"lambda: resource.setrlimit(resource.RLIMIT_CPU, (1000, 1000))", "the sandbox of replay"},
			{"lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 30, 1 << 30))", "the sandbox of replay"},
			{"lambda: (resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)), 7)[1]", notCompared},
			{"lambda: (resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)), 7)[1]", notCompared},
		}},
		{"it.lua", "/usr/bin/lua5.4", "local symchef = require 'symchef'\nlocal rows = {\n%s}\nfunction test_it()\n  return rows[symchef.concretize(symchef.integer('i', 1, #rows))]()\nend\n", [][2]string{
			{"function() return tostring({}) end", "addresses"},
			{"function() return tostring(print) end", "addresses"},
			{"function() return os.time() end", "the clock"},
			{"function() return os.tmpname() end", "depends on"},
			{"function() return math.random(1000000) end", "depends on"},
			{"function() local s = '' for k in pairs({a=1, b=2, c=3, d=4, e=5, f=6}) do s = s .. k end return s end", "depends on"},
			{"function() return os.getenv('HOME') end", ""},
			{"function() return tostring({}):sub(-2) end", "depends on"},
			{"function() return collectgarbage('count') end", itMade},
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

// TestTaken guards that an outcome which depends on what a process takes (processor time, faults, switches, memory) is unstable for it, by luck
// or not, and that looking at that is not depending on it.
func TestTaken(t *testing.T) {
	want := map[string]string{"h": "depends on", "x": "the clock", "y": theHost, "A": "", "B": "", "C": "", "D": ""}
	for _, c := range "abcdefgijklmnopqrsuvw" {
		want[string(c)] = "what it takes"
	}
	e := runIt(t, Options{Program: []string{compile(t, "testdata/taken.c", "-w")}, AllPaths: true, ArgvCount: 1, ArgvLen: 1, StdinLen: -1})
	got := verdictsOf(t, e)
	for c, cause := range want {
		v := got[hex.EncodeToString([]byte(c))]
		checkCause(t, c, v, cause)
		if cause != "" && v.Verdict == "agreed" {
			t.Errorf("%s agreed, by luck", c)
		}
	}
	if e.summary.Exhausted {
		t.Error("exhausted")
	}
}

// TestBeyond guards that what the machine has otherwise than any host, as its processor, and what a replay has otherwise, is a cause.
func TestBeyond(t *testing.T) {
	const names = "random numbers"
	want := map[string]string{"a": theHost, "b": names, "c": theHost, "d": theHost, "e": theHost, "f": theHost, "g": "process ids", "h": theHost, "i": theHost, "j": theHost, "k": "what it takes", "l": "", "m": theHost}
	e := runIt(t, Options{Program: []string{compile(t, "testdata/beyond.c", "-w")}, AllPaths: true, ArgvCount: 1, ArgvLen: 1, StdinLen: -1})
	got := verdictsOf(t, e)
	for c, cause := range want {
		checkCause(t, c, got[hex.EncodeToString([]byte(c))], cause)
	}
}

// TestLacking guards that what a host has, and neither the machine nor a replay does, is a cause, though they agree on it: calls, families of sockets, devices, the network, rights.
func TestLacking(t *testing.T) {
	const rights, network, order = "rights of the superuser", "the network", "the order of directories"
	want := map[string]string{"d": theHost, "e": network, "f": network, "p": rights, "q": rights, "r": rights, "u": order, "A": "", "B": "", "C": "", "D": "", "E": ""}
	for _, c := range "abcghijklmnostvwx" {
		want[string(c)] = theHost
	}
	loose := "u" // not on every host
	if os.Getuid() != 0 {
		loose += "dpqr"
	}
	e := runIt(t, Options{Program: []string{compile(t, "testdata/lacking.c", "-w")}, AllPaths: true, ArgvCount: 1, ArgvLen: 1, StdinLen: -1})
	got := verdictsOf(t, e)
	for c, cause := range want {
		v := got[hex.EncodeToString([]byte(c))]
		checkCause(t, c, v, cause)
		if cause != "" && v.Verdict == "agreed" && !strings.Contains(loose, c) {
			t.Errorf("%s agreed", c)
		}
	}
}
