package testcase

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"symchef/internal/seed"
)

func TestValueSame(t *testing.T) {
	for _, tt := range []struct {
		v, w Value
		want bool
	}{
		{"s1:a", "s1:a", true}, {"s1:a", "s1:b", false}, {"s1:a", "b1:a", false}, {"i1:\x00", "i2:\x00\x00", false}, {"n0:", "T0:", false},
		{"<2:z0:z0:", "<2:s1:al1:n0:", true}, {"<2:s1:as1:b", "<2:z0:z0:", true}, {"<2:z0:z0:", "<1:n0:", false}, {"<2:z0:z0:", "l2:n0:n0:", false},
		{"(2:<1:z0:n0:", "(2:<1:s3:abcn0:", true}, {"(2:<1:z0:n0:", "(2:<1:s3:abcT0:", false}, {"{1:z0:T0:", "{1:s1:aF0:", false},
		{"l9:n0:z0:", "l9:n0:z0:", true}, {"l2:n0:z0:", "l2:n0:T0:", true}, {"x", "y", false},
	} {
		if got := tt.v.Same(tt.w); got != tt.want {
			t.Errorf("%q and %q: %v", string(tt.v), string(tt.w), got)
		}
		if got := tt.w.Same(tt.v); got != tt.want {
			t.Errorf("%q and %q: %v", string(tt.w), string(tt.v), got)
		}
	}
}

func TestValueString(t *testing.T) {
	f := func(v float64) Value {
		b := make([]byte, 8)
		for i := range b {
			b[i] = byte(math.Float64bits(v) >> (8 * i))
		}
		return Value("f8:" + string(b))
	}
	for _, tt := range []struct {
		v    Value
		want string
	}{
		{"", ""},
		{"n0:", "None"}, {"T0:", "True"}, {"F0:", "False"},
		{"i1:\x00", "0"}, {"i1:\xff", "-1"}, {"i1:\x80", "-128"}, {"i2:\xff\x00", "255"}, {"i8:\x00\x00\x00\x00\x00\x00\x00\x80", "-9223372036854775808"},
		{"i9:\x00\x00\x00\x00\x00\x00\x00\x00\x01", "18446744073709551616"},
		{f(1), "1.0"}, {f(-0.5), "-0.5"}, {f(math.Copysign(0, -1)), "-0.0"}, {f(1e16), "1e+16"}, {f(123456789012345.0), "123456789012345.0"},
		{f(1e-5), "1e-05"}, {f(math.Inf(1)), "inf"}, {f(math.Inf(-1)), "-inf"}, {f(math.NaN()), "nan"}, {f(0.1), "0.1"},
		{"s0:", "''"}, {"s3:a'b", `'a\'b'`}, {"s2:\xc3\xa9", "'\u00e9'"}, {"s1:\xff", `'\xff'`}, {"s6:\xed\xa0\x80\xed\xbf\xbf", `'\ud800\udfff'`}, {"s2:\xed\xa0", `'\xed\xa0'`}, {"s3:\xed\x9f\xbf", `'\ud7ff'`}, {"s4:\n\t\\\x00", `'\n\t\\\x00'`},
		{"b0:", "b''"}, {"b3:'\xc3\xa9", `b'\'\xc3\xa9'`}, {"b2:''", `b'\'\''`}, {"b1:\\", `b'\\'`},
		{"l0:", "[]"}, {"l2:i1:\x01s1:a", "[1, 'a']"}, {"(0:", "()"}, {"(1:n0:", "(None,)"}, {"(2:T0:F0:", "(True, False)"},
		{"{0:", "{}"}, {"{2:s1:ai1:\x01s1:bl0:", "{'a': 1, 'b': []}"}, {"<0:", "set()"}, {"<1:s1:a", "{'a'}"},
		{"o7:m.Class", "<m.Class>"}, {"l1:o3:a\nb", `[<a\nb>]`},
		{"z0:", "..."}, {"l2:z0:i1:\x01", "[..., 1]"},
		// What is missing after a cut is cut.
		{"l9:i1:\x01z0:", "[1, ...]"}, {"{2:s1:al5:z0:", "{'a': [...], ...}"},
		// No values.
		{"x", "?'x'"}, {"s5:abc", "?'s5:abc'"}, {"l2:n0:", "?'l2:n0:'"}, {"n0:n0:", "?'n0:n0:'"}, {"n1:a", "?'n1:a'"}, {"i0:", "?'i0:'"},
		{"f4:abcd", "?'f4:abcd'"}, {"s01:a", "?'s01:a'"}, {"s-1:", "?'s-1:'"}, {"s+1:a", "?'s+1:a'"}, {"l99999999:", "?'l99999999:'"}, {"s1", "?'s1'"},
	} {
		if got := tt.v.String(); got != tt.want {
			t.Errorf("%q: %s, want %s", string(tt.v), got, tt.want)
		}
		if err := tt.v.Check(); tt.v != "" && (err != nil) != strings.HasPrefix(tt.want, "?") {
			t.Errorf("%q: %v", string(tt.v), err)
		}
	}
}

func TestValueDepth(t *testing.T) {
	if err := Value(strings.Repeat("l1:", valueDepth) + "n0:").Check(); err != nil {
		t.Error(err)
	}
	if Value(strings.Repeat("l1:", valueDepth+1)+"n0:").Check() == nil {
		t.Error("accepted a value that is too deep")
	}
	if Value("s65537:"+strings.Repeat("a", MaxValue+1)).Check() == nil {
		t.Error("accepted a value that is too long")
	}
}

// randomValue writes a value and how Python's repr shows it.
func randomValue(r *rand.Rand, depth int) (Value, string) {
	k := r.IntN(7)
	if depth == 0 {
		k = r.IntN(4)
	}
	many := func(letter string, each int) (Value, []string) {
		n := r.IntN(4)
		v := Value(fmt.Sprintf("%s%d:", letter, n))
		var parts []string
		for range n * each {
			w, s := randomValue(r, depth-1)
			v, parts = v+w, append(parts, s)
		}
		return v, parts
	}
	switch k {
	case 0:
		n := r.IntN(256) - 128
		return Value("i1:" + string([]byte{byte(n)})), fmt.Sprint(n)
	case 1:
		return "n0:", "None"
	case 2:
		return "T0:", "True"
	case 3:
		n := r.IntN(5)
		return Value(fmt.Sprintf("s%d:%s", n, strings.Repeat("y", n))), "'" + strings.Repeat("y", n) + "'"
	case 4:
		v, parts := many("l", 1)
		return v, "[" + strings.Join(parts, ", ") + "]"
	case 5:
		v, parts := many("{", 2)
		var pairs []string
		for i := 0; i < len(parts); i += 2 {
			pairs = append(pairs, parts[i]+": "+parts[i+1])
		}
		return v, "{" + strings.Join(pairs, ", ") + "}"
	}
	v, parts := many("(", 1)
	if len(parts) == 1 {
		return v, "(" + parts[0] + ",)"
	}
	return v, "(" + strings.Join(parts, ", ") + ")"
}

func TestValueRandom(t *testing.T) {
	r := seed.Rand(t)
	for range 5000 {
		v, want := randomValue(r, 4)
		if got := v.String(); got != want {
			t.Fatalf("%q: %s, want %s", string(v), got, want)
		}
		for i := range len(v) { // no value begins another
			if v[:i] != "" && v[:i].Check() == nil {
				t.Fatalf("%q is accepted, the beginning of %q", string(v[:i]), string(v))
			}
		}
		b, err := json.Marshal(v)
		var again Value
		if err == nil {
			err = json.Unmarshal(b, &again)
		}
		if err != nil || again != v {
			t.Fatalf("%q: %s: %q %v", string(v), b, string(again), err)
		}
	}
}

func FuzzValue(f *testing.F) {
	for _, s := range []string{"l2:i1:\x01s1:a", "{1:s1:a(1:n0:", "<2:b1:\xfff8:abcdefgh", "l9:o1:Cz0:", "s1000000:a", "i0:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := Value(s)
		if text := v.String(); s != "" && (text == "" || strings.ContainsAny(text, "\n\x00\x1b")) {
			t.Fatalf("%q is shown as %q", s, text)
		}
		b, err := json.Marshal(v)
		var again Value
		if err == nil {
			err = json.Unmarshal(b, &again)
		}
		if err != nil || again != v {
			t.Fatalf("%q: %s: %q %v", s, b, again, err)
		}
	})
}

func TestSorted(t *testing.T) {
	for _, tt := range [][2]string{
		{"<2:s1:bs1:a", "<2:s1:as1:b"}, {"l2:<2:<1:n0:<0:s1:<", "l2:<2:<0:<1:n0:s1:<"}, {"(2:<3:s2:bbs1:ci1:\x01T0:", "(2:<3:i1:\x01s1:cs2:bbT0:"},
		{"<2:<2:s1:bs1:as1:c", "<2:<2:s1:as1:bs1:c"}, {"{1:s1:<<2:T0:F0:", "{1:s1:<<2:F0:T0:"}, {"<3:s1:bz0:", "<3:s1:bz0:"},
		{"<2:s1:b", "<2:s1:b"}, {"<1:s9:b", "<1:s9:b"}, {"l2:s1:bs1:a", "l2:s1:bs1:a"}, {"", ""}, {"<", "<"}, {"<2:s1:bs1:ax", "<2:s1:bs1:ax"},
	} {
		if got := Value(tt[0]).Sorted(); got != Value(tt[1]) {
			t.Errorf("%q: %q, want %q", tt[0], got, tt[1])
		}
	}
}
