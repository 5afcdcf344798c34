package main

import (
	"strings"
	"testing"
)

// Exit statuses 0 to 4; 130 is in TestInterrupt.
func TestStatusOfPrograms(t *testing.T) {
	const head = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <signal.h>\n#include <sys/mman.h>\n#include <sys/random.h>\n#include <sys/utsname.h>\nint main() { char c = getchar(); "
	for _, c := range []struct {
		name, body string
		status     int
		texts      []string
	}{
		{"fine", `puts(c > 'm' ? "late" : "early");`, 0, []string{"2 agreed", "exhausted: every input"}},
		{"crash", `if (c == 'x') raise(SIGSEGV);`, 1, []string{"! ", "crash SIGSEGV", "2 agreed"}},
		{"assert", `if (c == 'x') { fprintf(stderr, "p: p.c:1: main: Assertion %cc%c failed.\n", '\x60', 39); abort(); }`, 1, []string{"! ", "assertion"}},
		{"exit", `if (c == 'x') exit(7);`, 0, []string{"exit 7", "2 agreed"}},
		{"unsupported", `asm volatile("xsave (%0)" :: "r"(malloc(8192) + 64));`, 3, []string{"not exhausted:", "unsupported: ", "xsave", "1 not compared"}},
		{"kernel", `unsigned char v; mincore(mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, &v); puts(v & 1 ? "resident" : "not");`, 4, []string{"diverged: ", "1 diverged"}},
		{"host", `struct utsname u; uname(&u); puts(u.release);`, 0, []string{"unstable: it depends on the host", "1 unstable"}},
		{"random", `long r; getrandom(&r, 8, 0); printf("%ld\n", r + c);`, 0, []string{"unstable: it depends on random numbers: native runs differ", "1 unstable"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.compile("p", head+c.body+" return 0; }")
			b.run("run", "--stdin", "1", "--", "./p").want(c.status, append(c.texts, "next: symchef emit --format sh symchef-out-p")...)
			sum, _ := b.load("symchef-out-p")
			if (c.status == 4) != (sum.Replay.Diverged > 0) || !sum.Finished {
				t.Errorf("%+v", sum)
			}
		})
	}
}

// The same for Python: findings, divergence, instability, death of the interpreter.
func TestStatusOfPython(t *testing.T) {
	b := pythonBox(t)
	for _, c := range []struct {
		name, body string
		status     int
		texts      []string
	}{
		{"fine", "    symchef.expect(ValueError)\n    if x: raise ValueError('no')\n", 0, []string{"expected ValueError: no", "2 agreed"}},
		{"assertion", "    assert not x, 'line\\n' + 'two'\n", 1, []string{`assertion AssertionError: line\ntwo`, "2 agreed"}},
		{"exit", "    if x: raise SystemExit(3)\n", 0, []string{"  exit 3  x=True", "2 agreed"}},
		{"crash", "    if x:\n        import os; os.abort()\n", 1, []string{"crash SIGABRT", "2 agreed"}},
		{"kernel", "    import ctypes, mmap\n    m, v = mmap.mmap(-1, 4096), ctypes.create_string_buffer(1)\n" +
			"    ctypes.CDLL(None).mincore(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(m))), 4096, v)\n    assert not x, v.raw\n", 4, []string{"diverged: outcome"}},
		{"time", "    import time\n    print(time.time_ns(), x)\n", 0, []string{"unstable: it depends on the clock: native runs differ"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := *b
			in.t = t
			in.write("test_"+c.name+".py", "import symchef\ndef test_x(x: symchef.Bool()):\n"+c.body)
			in.run("run", "test_"+c.name+".py").want(c.status, append(c.texts, "next: symchef emit --format pytest symchef-out-test_"+c.name)...)
		})
	}
}

// Every limit leaves a result that names it, and a directory that can be read.
func TestLimits(t *testing.T) {
	const (
		many = `if (b[i] > 'a' + i) { n += 1 << i; asm volatile(""); }` // a path for every n
		// Two factors of 31 bits: no solver finds them in seconds.
		hard = `unsigned long p = *(unsigned *)b & 0x7fffffff, q = *(unsigned *)(b + 4) & 0x7fffffff; n += i == 8 && p * q == 2548162733916940367UL;`
		spin = `if (b[0] == '!') for (volatile int k = 0;; k++);`
	)
	for _, c := range []struct{ flag, value, body, why string }{
		{"--max-paths", "5", many, "limit: --max-paths"},
		{"--instructions", "300000", many, "limit: --instructions"},
		{"--time", "1s", many, "limit: --time"},
		{"--time", "2s", hard, "limit: --time"}, // a query is given up
		{"--max-memory", "64M", many, "limit: --max-memory"},
		{"--path-instructions", "3000000", spin, "limit: --path-instructions"},
		{"--path-time", "100ms", spin, "limit: --path-time"},
	} {
		t.Run(c.flag[2:]+c.value, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			hangs := c.body == spin
			b.compile("p", "#include <stdio.h>\nint main() { char b[20] = {0}; fread(b, 1, 20, stdin); int n = 0;"+
				"for (int i = 0; i < 20; i++) { "+c.body+" } return printf(\"%d\\n\", n) < 0; }")
			args := []string{"run", "--out", "out", "--no-replay", "--strategy", "bfs", "--stdin", "20", c.flag, c.value, "--", "./p"}
			if hangs {
				b.run(args...).want(1, "not exhausted:", "- "+c.why, "hang: ")
			} else {
				b.run(args...).want(0, "not exhausted:", "- "+c.why)
			}
			sum, tests := b.load("out")
			if sum.Exhausted || !strings.Contains(strings.Join(sum.WhyNotExhausted, "\n"), c.why) || sum.Tests.Total() != len(tests) {
				t.Errorf("%+v", sum)
			}
			if hangs != (sum.Tests.Hang == 1) {
				t.Errorf("%d hangs\n%s", sum.Tests.Hang, outcomes(tests))
			}
		})
	}
}

// A hang is an outcome: every task waits for ever, and natively the program does not end either.
func TestHang(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.compile("p", "#include <unistd.h>\n#include <stdio.h>\nint main() { if (getchar() == 'x') pause(); return 0; }")
	b.run("run", "--stdin", "1", "--", "./p").want(1, "hang: deadlock: every task waits", "2 agreed", "exhausted: every input")
}

// Limits of a path count from the test's beginning, and an import that does not end is no test.
func TestBootIsNoPath(t *testing.T) {
	b := pythonBox(t)
	b.write("test_short.py", "import symchef\ndef test_x(x: symchef.Bool()): print(x)\n")
	b.run("run", "--no-cache", "--path-instructions", "30000000", "test_short.py").want(0, "2 test cases", "exhausted: every input")
	b.write("test_import.py", "while True: pass\n")
	b.run("run", "--path-time", "1s", "--path-instructions", "1000000000000", "test_import.py").want(2, "importing and setting up the test took longer than 1s (--path-time)")
}
