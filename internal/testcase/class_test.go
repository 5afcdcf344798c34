package testcase

import (
	"strings"
	"testing"

	"symchef/internal/seed"
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

// Escapes of the input count as what is symbolic does, others as they are; so do the quotes around.
func TestClassEscapes(t *testing.T) {
	// Capital letters are symbolic; the input has a newline, a tab, a backslash, both quotes and a DEL for sure.
	of := func(text string, fixed bool) (class, fine string) {
		c := NewClass(Parts)
		if fixed {
			c.Fixed = func(c byte) bool { return strings.IndexByte("\n\t\\'\"\x7f", c) >= 0 }
		}
		c.AddBytes(PartMessage, []byte(text), func(i int) bool { return text[i] >= 'A' && text[i] <= 'Z' })
		return c.Digest(), c.Fine()
	}
	one, fine := of("unit 'A' is bad", true)
	for _, tt := range []struct {
		text string
		same bool
	}{
		{`unit 'BC' is bad`, true}, {`unit "A" is bad`, true}, {`unit '\n' is bad`, true}, {`unit 'A\n\tB' is bad`, true}, {`unit '\\' is bad`, true}, {`unit '\A' is bad`, true},
		{`unit '\x7f' is bad`, true}, {`unit '\x1A' is bad`, true}, {`unit '\xAB\x0C' is bad`, true}, {`unit "\177A" is bad`, true}, {`unit "\127" is bad`, true}, {`unit "'" is bad`, true},
		{`unit '"' is bad`, true}, {`unit "'A\"" is bad`, true}, {`unit A is bad`, true},
		{`unit '' is bad`, false}, {`unit '\r' is bad`, false}, {`unit '\x41' is bad`, false}, {`unit '\n' is odd`, false}, {`unit 'a' is bad`, false}, {`unit "\101" is bad`, false}, {`unit 'A' is bad\`, false},
		{`unit '\q' is bad`, false}, {`unit '\x' is bad`, false},
	} {
		class, other := of(tt.text, true)
		if (class == one) != tt.same {
			t.Errorf("%s is of the class: %v", tt.text, class == one)
		}
		if (other == fine) != (tt.text == `unit 'BC' is bad`) {
			t.Errorf("%s is of the fine class: %v", tt.text, other == fine)
		}
	}
	for _, text := range []string{`'\n'`, `'\x7f'`, `'\\'`, `"'"`} {
		if class, other := of(text, false); class != other {
			t.Errorf("%s is an escape of an input that need not have that", text)
		}
	}
	a, _ := of("can't A", true)
	if b, _ := of("can't A", false); a != b {
		t.Error("a quote in a word is the input's")
	}
}

// A returned text that copies the input is of one class however that is escaped in it, with as many characters.
func TestClassReturned(t *testing.T) {
	of := func(value string) (class, fine string) {
		c := NewClass(Parts)
		c.Fixed = func(c byte) bool { return strings.IndexByte("\n\x7f\\'", c) >= 0 }
		c.AddBytes(PartReturned, []byte(value), func(i int) bool { return value[i] >= 'A' && value[i] <= 'Z' })
		return c.Digest(), c.Fine()
	}
	one, fine := of("l2:s3:'A'b1:x")
	for _, tt := range []struct {
		value string
		same  bool
	}{
		{"l2:s3:'B'b1:x", true}, {"l2:s3:\"A\"b1:x", true}, {"l2:s3:\"'\"b1:x", true}, {`l2:s4:'\n'b1:x`, true}, {`l2:s4:'\\'b1:x`, true}, {`l2:s6:'\x7f'b1:x`, true}, {`l2:s8:"\u007f"b1:x`, true},
		{`l2:s6:'\x0A'b1:x`, true}, {"l2:s4:'\\\n'b1:x", true}, {`l2:s6:'\127'b1:x`, true},
		{"l2:s4:'AB'b1:x", false}, {`l2:s5:'A\n'b1:x`, false}, {"l2:b3:'A'b1:x", false}, {"l2:s3:'a'b1:x", false}, {`l2:s4:'\t'b1:x`, false}, {"l2:s3:'A's1:x", false},
		{"l2:s3:'A'b1:y", false}, {"l2:s3:'A'b1:A", false}, {"s3:'A'", false}, {"l2:s3:'A'z0:", false}, {"(2:s3:'A'b1:x", false}, {"l2:s3:'A'", false}, {"l2:o3:'A'b1:x", false},
	} {
		class, other := of(tt.value)
		if (class == one) != tt.same {
			t.Errorf("%q is of the class: %v", tt.value, class == one)
		}
		if (other == fine) != (tt.value == "l2:s3:'B'b1:x") {
			t.Errorf("%q is of the fine class: %v", tt.value, other == fine)
		}
	}
	for _, pair := range [][2]string{{"i1:A", "i1:B"}, {"l1:i1:A", "l1:i1:B"}, {"x:A", "x:B"}} { // no text, no value
		a, _ := of(pair[0])
		if b, _ := of(pair[1]); a != b {
			t.Errorf("%q and %q are two classes", pair[0], pair[1])
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

// A content that is told in pieces makes the class that it makes as a whole, wherever it is cut.
func TestClassPieces(t *testing.T) {
	r := seed.Rand(t)
	for range 300 {
		b, sym := make([]byte, r.IntN(12)), make([]bool, 12)
		for i := range b {
			b[i], sym[i] = []byte{'a', mark, 1, 'b'}[r.IntN(4)], r.IntN(3) == 0
		}
		of := func(cuts ...int) string {
			c := NewClass(Parts)
			c.AddPieces(PartFiles, func(add func([]byte, func(int) bool)) {
				from := 0
				for _, to := range append(cuts, len(b)) {
					add(b[from:to], func(i int) bool { return sym[from+i] })
					from = to
				}
			})
			return c.Digest()
		}
		whole := of()
		for cut := range len(b) + 1 {
			if of(cut) != whole {
				t.Fatalf("%q %v is another cut at %d", b, sym, cut)
			}
		}
		plain, _ := masked(b, func(i int) bool { return sym[i] }, nil)
		in := false
		if got := maskedPiece(b, func(i int) bool { return sym[i] }, &in); string(got) != string(plain) {
			t.Fatalf("%q %v: %q, want %q", b, sym, got, plain)
		}
	}
}
