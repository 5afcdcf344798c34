package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The tree shows the text of the line where paths part, and which way each went; of a program, the decisions of its test cases.
func TestTreeText(t *testing.T) {
	b := pythonBox(t)
	b.write("test_t.py", "import symchef\n\ndef test_t(n: symchef.Int(0, 9)):\n    if n == 3:\n        raise KeyError(n)\n    while n > 6:\n        n -= 2\n    return\n")
	b.run("run", "--out", "t", "test_t.py").want(1)
	b.run("tree", "t").want(0, "test_t.py:4 test_t  if n == 3:  (", "true: test_t.py:5 test_t  raise KeyError(n)  (", "false: test_t.py:6 test_t  while n > 6:  (", "exception KeyError  (")
	b.run("tree", "--format", "svg", "t").want(0, "if n == 3:")
	b.compile("p", "#include <stdio.h>\n#include <stdlib.h>\nint main() {\n\tif (getchar() == 'x') abort();\n\treturn 0; }", "-g")
	b.run("run", "--out", "p.d", "--stdin", "1", "--", "./p").want(1)
	b.run("tree", "p.d").want(0, "p.c:4 main  if (getchar() == 'x') abort();", "taken: ", "not taken: ", "crash SIGABRT  (1 low-level)  t0000")
}

// What decides in a library, or in a program without symbols, is named by the file, also after --resume and by several workers.
func TestTreeLibraries(t *testing.T) {
	b := newBox(t)
	bare := regexp.MustCompile(`[ :]0x[0-9a-f]{6,}`)
	const text = "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <stdio.h>\nint main() {\n\tchar s[3] = {getchar(), getchar()};\n\tif (s[0] == 'x') abort();\n\treturn a64l(s) > 50; }"
	b.compile("p", text, "-g")
	b.compile("q", text, "-s")
	for _, l := range []struct {
		program string
		flags   []string
		wants   []string
	}{
		{"./p", nil, []string{"p.c:6 main  if (s[0] == 'x') abort();  (", " libc.so.6:a64l+0x"}},
		{"./q", []string{"-j", "2"}, []string{"start: q+0x", " libc.so.6:a64l+0x"}},
		{"./p", []string{"--max-paths", "5"}, []string{" libc.so.6:a64l+0x"}},
	} {
		args := append([]string{"run", "--out", "d", "--replay", "none", "--stdin", "2"}, l.flags...)
		if r := b.run(append(args, "--", l.program)...); r.status > 1 {
			t.Fatal(r.stderr)
		}
		if l.flags != nil && l.flags[0] == "--max-paths" {
			if r := b.run("run", "--resume", "d", "--max-paths", "1000"); r.status > 1 {
				t.Fatal(r.stderr)
			}
		}
		if out := b.run("tree", "d").want(0, l.wants...).stdout; bare.MatchString(out) {
			t.Errorf("an address without a name:\n%s", out)
		}
		b.run("rerun", "d").want(0)
		os.RemoveAll(b.path("d"))
	}
}

// An end stands at the line where it is, though others go on from there without a branch; what is executed behind the end of the test is no step of it,
// and steps of R's own functions are where the user called these.
func TestTreeEnds(t *testing.T) {
	b := pythonBox(t)
	b.write("test_e.py", `import atexit, symchef
def bye():
    for k in range(3):
        pass
def test_e(x: symchef.Int(0, 3) = 1):
    atexit.register(bye)
    y = 10 // x
    z = y + 1
    if z < 5: raise KeyError("x")
    return z
`)
	b.run("run", "--out", "e", "--replay", "none", "test_e.py").want(1)
	b.run("tree", "e").want(0, "test_e.py:7 test_e  y = 10 // x  (", "├─ exception ZeroDivisionError  (", `test_e.py:9 test_e  if z < 5: raise KeyError("x")  (`,
		`true: test_e.py:9 test_e  if z < 5: raise KeyError("x")  (`, "false: test_e.py:10 test_e  return z  (")
	if out := b.run("tree", "e").stdout; strings.Contains(out, "bye") || strings.Contains(out, "threading") {
		t.Errorf("exit handlers are in the tree:\n%s", out)
	}
	b.write("test_r.R", "test_r <- function() {\n  n <- symchef$integer(\"n\", 0L, 9L, 2L)\n  if (n > 5L) stop(\"large\")\n  n + 1L\n}\n")
	if r := b.run("run", "--out", "r", "--replay", "none", "test_r.R"); r.status == 1 {
		b.run("tree", "r").want(0, `true: test_r.R:3  if (n > 5L) stop("large")  (`, "false: test_r.R:4  n + 1L  (")
	} else {
		t.Log("no R here")
	}
}

// A hang that takes no steps of its own: an instruction that jumps to itself, and a call in C that waits for ever.
func TestHangStands(t *testing.T) {
	b := pythonBox(t)
	b.write("test_x.py", `import symchef, _thread
def locked(lock):
    lock.acquire()
def test_x(n: symchef.Int(0, 2)):
    if n == 1:
        while True: pass
    if n == 2:
        lock = _thread.allocate_lock()
        locked(lock)
        locked(lock)
`)
	b.run("run", "--no-replay", "--out", "out", "test_x.py").want(1, "it never leaves test_x.py:6 in test_x", "it never leaves test_x.py:3 in locked", "  hang  n=1  (2 paths)")
}
