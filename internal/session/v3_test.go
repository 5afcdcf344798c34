package session

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestV3 guards that a program behaves alike on both processors, whichever code of libc it then runs: the same classes of behaviour, each of
// which a native run confirms.
func TestV3(t *testing.T) {
	prog := compile(t, "testdata/find.c", "-O1", "-fno-builtin")
	var classes [][]string
	for _, cpu := range CPUs() {
		e := runIt(t, Options{Program: []string{prog}, StdinLen: 40, CPU: cpu})
		e.sound(t)
		classes = append(classes, e.classes())
		if e.summary.CPU != "x86-64-"+cpu || e.summary.Target.CPU != strings.TrimPrefix(cpu, "v2") {
			t.Errorf("%s: %s, %q", cpu, e.summary.CPU, e.summary.Target.CPU)
		}
	}
	if slices.Sort(classes[0]); len(classes[0]) != 8 {
		t.Errorf("%d classes: %q", len(classes[0]), classes[0])
	}
	if slices.Sort(classes[1]); !slices.Equal(classes[0], classes[1]) {
		t.Errorf("%q on v2, %q on v3", classes[0], classes[1])
	}
}

// TestV3Instructions guards that CPUID announces the instructions of x86-64-v3 where they are, and that they compute with symbolic bytes, across a
// signal handler too.
func TestV3Instructions(t *testing.T) {
	prog := compile(t, "testdata/avx.c", "-O1")
	e := runIt(t, Options{Program: []string{prog}, StdinLen: 32, NoReplay: true}) // a native run differs
	if h := fmt.Sprintf("%x", sha256.Sum256([]byte("no AVX2\n"))); len(e.tests) != 1 || e.tests[0].OutputSHA256 != h {
		t.Errorf("v2:\n%s", e.stdout)
	}
	e = runIt(t, Options{Program: []string{prog}, StdinLen: 32, CPU: CPUV3})
	for _, v := range verdictsOf(t, e) { // on a host without them it prints something else
		checkCause(t, "avx", v, theHost)
	}
	if r := e.summary.Replay; r.Unstable != 3 || len(e.tests) != 3 {
		t.Errorf("%+v\n%s", r, e.stdout)
	}
	for _, line := range []string{"0", "1", "2"} {
		if !strings.Contains(e.stdout, fmt.Sprintf("stdout %q", line)) {
			t.Errorf("no path prints %s\n%s", line, e.stdout)
		}
	}
	if e.summary.Paths.Low != 3 {
		t.Errorf("%d low-level paths, want 3", e.summary.Paths.Low)
	}
}
