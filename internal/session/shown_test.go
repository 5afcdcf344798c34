package session

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"symchef/internal/seed"
)

func TestShown(t *testing.T) {
	for _, c := range [][2]string{
		{"a\tb\n", "a\tb\n"}, {"é 日 \"'\\\n", "é 日 \"'\\\n"}, {"\x1b[31m", `\x1b[31m`}, {"a\rb\b\a\x7f", `a\rb\b\a\x7f`}, {"\u009b2J", `\u009b2J`}, {"\x9b\xff", `\x9b\xff`},
		{"\u202e\u2066\U000e0041\u2028", `\u202e\u2066\U000e0041\u2028`}, {"\ufffd", "\ufffd"},
	} {
		var b strings.Builder
		if n, err := Shown(&b).Write([]byte(c[0])); n != len(c[0]) || err != nil || b.String() != c[1] {
			t.Errorf("%q: %q, %d, %v; want %q", c[0], b.String(), n, err, c[1])
		}
	}
	r := seed.Rand(t)
	for range 2000 {
		p := make([]byte, r.IntN(20))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		var b strings.Builder
		Shown(&b).Write(p)
		if !utf8.ValidString(b.String()) || strings.ContainsFunc(b.String(), func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 }) {
			t.Fatalf("%q: %q", p, b.String())
		}
	}
}

// What is shown for a shell is one word, what it was, and has nothing in it that a terminal acts on.
func TestShellWordOfControls(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("skipped: no bash")
	}
	for _, s := range []string{"out\x1b[5m", "a\nb'c", "\x9b\x7f", "-\x01", `\x1b`, "é\u202e", "it's"} {
		word := shellWord(s)
		got, err := exec.Command(bash, "-c", "printf %s "+word).Output()
		if want := strings.TrimPrefix(s, "-"); err != nil || strings.TrimPrefix(string(got), "./-") != want {
			t.Errorf("%q: %s is %q, %v", s, word, got, err)
		}
		var b strings.Builder
		if Shown(&b).Write([]byte(word)); b.String() != word {
			t.Errorf("%q: %q is shown as %s", s, word, b.String())
		}
	}
}
