package testcase

import (
	"strings"
	"testing"

	"symchef/internal/seed"
)

func stderrDigest(parts ...string) string {
	var d StderrDigest
	for _, p := range parts {
		d.Write([]byte(p))
	}
	s, _ := d.Sum()
	return s
}

func TestAllowed(t *testing.T) {
	for _, tt := range []struct {
		machine, native string
		text, stderr    bool // whether they are the same as a message, and on standard error
	}{
		{"a", "a", true, true},
		{"a", "b", false, false},
		{"<object at 0x7f01>", "<object at 0x55>", true, true},
		{"table: 0x5581c0e2b2a0", "table: 0x55d5c8a3e1c8", true, true},
		{"code 0xdeadbeef", "code 0xdeadbeee", false, false},
		{"pid 1000 died", "pid 7 died", false, true},
		{"[pid=1000]", "[pid=7]", false, true},
		{"process 1000", "process 7", false, true},
		{"Process(1000)", "Process(7)", false, true},
		{"port 1000", "port 7", false, false},
		{"sh: line 1:  1001 Segmentation fault      (core dumped) x", "sh: line 1:     3 Segmentation fault      x", false, true},
		{"x.c: line 1: 1001 Segments", "x.c: line 1: 1002 Segments", false, false},
		{"2026-01-01 00:00:01,000 INFO a", "2026-11-23 15:04:49,123 INFO a", false, true},
		{"2026-01-01 INFO a", "2026-11-23 INFO b", false, false},
		{"took 0.001s", "took 12.5s", false, true},
		{"took 3 bytes", "took 4 bytes", false, false},
		{"", "x", false, false},
	} {
		if got := sameText(tt.machine, tt.native); got != tt.text {
			t.Errorf("%q and %q as messages: %v", tt.machine, tt.native, got)
		}
		if got := stderrDigest(tt.machine) == stderrDigest(tt.native); got != tt.stderr {
			t.Errorf("%q and %q on standard error: %v", tt.machine, tt.native, got)
		}
	}
}

// A stream has one digest, however it is cut into writes.
func TestStderrDigest(t *testing.T) {
	r := seed.Rand(t)
	text := strings.Repeat("x at 0x7fffdeadbeef took 0.5s\n", 100) + strings.Repeat("y", 3*maxLine+5) + "\n\nend at 0x12345"
	want := stderrDigest(text)
	for range 50 {
		var d StderrDigest
		for rest := text; rest != ""; {
			n := min(1+r.IntN(40)*r.IntN(1+len(text)/80), len(rest))
			d.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if got, n := d.Sum(); got != want || n != int64(len(text)) {
			t.Fatalf("%s of %d bytes, want %s of %d", got, n, want, len(text))
		}
	}
	if stderrDigest() != OutputDigest(nil) {
		t.Error("nothing has a digest of its own")
	}
}
