package testcase

import (
	"strings"
	"testing"
)

func TestParseParts(t *testing.T) {
	for list, want := range map[string]string{
		"all": "outcome, message, stdout, stderr, returned, files", "files,outcome,files": "outcome, files", "stdout": "stdout",
		"": "", "Outcome": "", "stdout,": "", "output": "",
	} {
		got, err := ParseParts(list)
		if joinParts(got) != want || (err != nil) != (want == "") {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
}

func TestClass(t *testing.T) {
	// Capital letters are symbolic.
	of := func(parts []Part, p Part, text string) string {
		c := NewClass(parts)
		c.Add(PartOutcome, "ok")
		c.AddBytes(p, []byte(text), func(i int) bool { return text[i] >= 'A' && text[i] <= 'Z' })
		return c.Digest()
	}
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"A", "B", true}, {"AB", "C", true}, {"A", "a", false}, {"A", "", false},
		{"xAyBz", "xByCCCz", true}, {"xAyBz", "xAyz", false}, {"A\xff\x01", "A\xff", false}, {"\xff\x01", "A", false},
	} {
		if got := of(Parts, PartStdout, tt.a) == of(Parts, PartStdout, tt.b); got != tt.same {
			t.Errorf("%q and %q are of one class: %v", tt.a, tt.b, got)
		}
		if of([]Part{PartOutcome}, PartStdout, tt.a) != of([]Part{PartOutcome}, PartStdout, tt.b) {
			t.Errorf("%q and %q: what does not count does", tt.a, tt.b)
		}
	}
	for _, p := range Parts {
		if of(Parts, p, "x") == of(Parts, p, "y") || strings.HasPrefix(of(Parts, p, "x"), of(Parts, PartFiles, "y")) {
			t.Errorf("%s does not count", p)
		}
	}
	if of(Parts, PartMessage, "<o at 0x12>") != of(Parts, PartMessage, "<o at 0x34>") || of(Parts, PartStdout, "<o at 0x12>") == of(Parts, PartStdout, "<o at 0x34>") {
		t.Error("addresses count in messages, or do not on standard output")
	}
	a, b := NewClass(Parts), NewClass(Parts)
	a.Add(PartStdout, "x", "y")
	b.Add(PartStdout, "xy")
	if a.Digest() == b.Digest() {
		t.Error("two texts are one")
	}
}
