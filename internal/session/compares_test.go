package session

import "testing"

// TestStringCompares: the string compares of SSE4.2, which glibc uses on the machine's processor, do not split a symbolic string at each of its
// bytes, and every path does natively what it does in the machine. Code of SSE2 has 52 low-level paths here.
func TestStringCompares(t *testing.T) {
	e := runIt(t, Options{Program: []string{compile(t, "testdata/compares.c", "-O1", "-fno-builtin")}, StdinLen: 12})
	e.sound(t)
	if got := len(e.classes()); got != 6 {
		t.Errorf("%d classes, want 6\n%s", got, e.stdout)
	}
	if e.summary.Paths.Low > 11 {
		t.Errorf("%d low-level paths, want at most 11", e.summary.Paths.Low)
	}
	if e.summary.CPU != "x86-64-v2" {
		t.Errorf("processor %q", e.summary.CPU)
	}
}
