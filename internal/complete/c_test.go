package complete

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/session"
	"symchef/internal/testcase"
)

const gcc = "/usr/bin/gcc"

// cPrograms are the files of testdata/c, how each is built, and how many bytes of input it has.
var cPrograms = []struct {
	name  string
	bytes int
	flags []string
}{
	{"abort", 1, []string{"-O2", "-O0 -static"}},
	{"alloca", 1, []string{"-O0", "-O2 -static"}},
	{"atoi", 1, []string{"-O0", "-O3 -static"}},
	{"bits", 1, []string{"-O0 -static", "-O2", "-O3 -mpopcnt"}},
	{"bsearch", 1, []string{"-O2 -static"}},
	{"counts", 2, []string{"-O2 -static"}},
	{"crc", 2, []string{"-O3 -static"}},
	{"ctype", 1, []string{"-O2", "-O0 -static"}},
	{"divide", 1, []string{"-O0", "-O3 -static"}},
	{"divide64", 1, []string{"-O0 -static", "-O2"}},
	{"floats", 1, []string{"-O2", "-O0 -static"}},
	{"heap", 1, []string{"-O0", "-O2 -static"}},
	{"longjmp", 1, []string{"-O0", "-O2 -static"}},
	{"memcmp", 1, []string{"-O0", "-O2 -static", "-O3 -fno-builtin"}},
	{"overflow", 1, []string{"-O0 -static", "-O3"}},
	{"pointers", 1, []string{"-O0", "-O3 -static"}},
	{"printf", 1, []string{"-O2 -static"}},
	{"qsort", 2, []string{"-O2 -static"}},
	{"segv", 1, []string{"-O0", "-O2 -static"}},
	{"shifts", 1, []string{"-O0 -static", "-O2"}},
	{"signals", 1, []string{"-O0", "-O2 -static"}},
	{"snprintf", 1, []string{"-O2", "-O0 -static"}},
	{"stack", 1, []string{"-O0 -fstack-protector-all -static"}},
	{"store", 1, []string{"-O0", "-O3 -static"}},
	{"strings", 1, []string{"-O2 -static"}},
	{"strstr", 2, []string{"-O0 -static"}},
	{"strtod", 1, []string{"-O2"}},
	{"strtok", 2, []string{"-O2 -static"}},
	{"strtol", 1, []string{"-O0", "-O3 -static"}},
	{"switch", 1, []string{"-O0", "-O2 -static", "-O3"}},
	{"table", 1, []string{"-O0 -static", "-O3"}},
	{"vector", 2, []string{"-O2 -static", "-O3 -static"}},
	{"wild", 1, []string{"-O2"}},
}

// compile runs gcc.
func compile(t *testing.T, out string, args ...string) {
	t.Helper()
	args = append(args, "-w", "-o", out)
	if text, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, text)
	}
}

// build links a C program of testdata with main, and its object file with loop.
func build(t *testing.T, name, flags string) (program, loop string) {
	t.Helper()
	dir := t.TempDir()
	object := filepath.Join(dir, "test.o")
	cc := func(out string, args ...string) string {
		compile(t, out, append(strings.Fields(flags), args...)...)
		return out
	}
	cc(object, "-c", filepath.Join("testdata/c", name+".c"))
	program = cc(filepath.Join(dir, "program"), "testdata/c/main.c", object, "-lm")
	return program, cc(filepath.Join(dir, "loop"), "testdata/c/loop.c", object, "-lm")
}

// nativeC runs loop on all values of n bytes.
func nativeC(t *testing.T, loop string, n int) []run {
	t.Helper()
	text, err := exec.Command(loop, fmt.Sprint(n)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var runs []run
	for in := bytes.NewReader(text); in.Len() > 0; {
		var head struct{ Status, Len uint32 }
		err := binary.Read(in, binary.LittleEndian, &head)
		r := run{Inputs: map[string]int64{}, Output: make([]byte, head.Len)}
		if err == nil {
			_, err = io.ReadFull(in, r.Output)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			r.Inputs[fmt.Sprintf("stdin[%d]", i)] = int64(len(runs) >> (8 * (n - 1 - i)) & 255)
		}
		r.Outcome = outcomeOf(syscall.WaitStatus(head.Status))
		runs = append(runs, r)
	}
	if len(runs) != 1<<(8*n) {
		t.Fatalf("%d native runs", len(runs))
	}
	return runs
}

func outcomeOf(w syscall.WaitStatus) testcase.Outcome {
	signal := ""
	if w.Signaled() {
		signal = map[syscall.Signal]string{
			syscall.SIGABRT: "SIGABRT", syscall.SIGFPE: "SIGFPE", syscall.SIGSEGV: "SIGSEGV", syscall.SIGUSR1: "SIGUSR1",
		}[w.Signal()]
	}
	return testcase.ProgramOutcome(w.ExitStatus(), signal, nil)
}

// The paths of C programs account for every input, whatever the compiler makes of them.
func TestC(t *testing.T) { testC(t, *only, false) }

// testC explores those whose name matches the regular expression wanted.
func testC(t *testing.T, wanted string, merge bool) {
	needs(t, gcc)
	matches := regexp.MustCompile(wanted)
	for _, p := range cPrograms {
		for _, flags := range p.flags {
			if name := p.name + strings.ReplaceAll(flags, " ", ""); matches.MatchString(name) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					program, loop := build(t, p.name, flags)
					exhaust(t, session.Options{Program: []string{program}, StdinLen: p.bytes, Merge: merge}, nativeC(t, loop, p.bytes))
				})
			}
		}
	}
}

// exhaust explores a C program and checks it against runs.
func exhaust(t *testing.T, o session.Options, runs []run) {
	r := exploreAll(t, o)
	tests, _, err := r.Tests()
	if err != nil {
		t.Fatal(err)
	}
	ctx := expr.New()
	paths := readPaths(t, ctx, r, tests)
	check(t, ctx, paths, runs)
	if behaviours(runs) < 2 {
		t.Error("one behaviour for every input")
	}
	t.Logf("%d inputs, %d behaviours, %d paths in %.1f s", len(runs), behaviours(runs), len(paths), r.Summary.ElapsedS)
}

// A program that looks up eight symbolic bytes in a table of 256 entries does not
// fork at all, and its one path has the right output.
func TestLookUps(t *testing.T) {
	needs(t, gcc)
	for _, flags := range []string{"-O0", "-O2 -static"} {
		t.Run(flags, func(t *testing.T) {
			program, _ := build(t, "eight", flags)
			r := exploreAll(t, session.Options{Program: []string{program}, StdinLen: 8})
			tests, _, err := r.Tests()
			if err != nil || len(tests) != 1 || len(tests[0].Decisions) != 0 {
				t.Fatalf("%v: %+v", err, tests)
			}
			ctx := expr.New()
			paths := readPaths(t, ctx, r, tests)
			rng := rand.New(rand.NewPCG(8, 8))
			var runs []run
			for n := range 1000 {
				x := run{Inputs: map[string]int64{}, Outcome: testcase.Outcome{Kind: testcase.OK}}
				sum := byte(0)
				for i := range 8 {
					v := rng.IntN(256)
					if n == 0 {
						v = 'a' // what the path's test case has
					}
					x.Inputs[fmt.Sprintf("stdin[%d]", i)] = int64(v)
					sum = sum*3 + (byte(v*v*7) ^ byte(v>>3))
				}
				x.Output = []byte{sum}
				runs = append(runs, x)
			}
			check(t, ctx, paths, runs)
		})
	}
}
