package testcase

import (
	"fmt"
	"strings"
	"testing"

	"symchef/internal/seed"
)

func textToken(s string) Value { return Value(fmt.Sprintf("s%d:%s", len(s), s)) }

func TestShort(t *testing.T) {
	long := strings.Repeat("a", 5000)
	list := func(n int, v Value) Value { return Value(fmt.Sprintf("l%d:", n)) + Value(strings.Repeat(string(v), n)) }
	for _, tt := range []struct {
		v    Value
		want string
	}{
		{"l1:s1:a", "['a']"},
		{textToken(long[:4000]), "'" + long[:4000] + "'"},
		{textToken(long), "'" + long[:64] + "'...(5000 in all, *)"},
		{list(2000, "n0:"), "[None, None, *)"},
		{"l2:" + textToken(long) + "n0:", "['" + long[:64] + "'...(5000 in all, *), None]"},
		{"k1:o9:bytearray" + Value(fmt.Sprintf("b5000:%s", long)), "bytearray(b'" + long[:64] + "'...(5000 in all, *))"},
		{textToken(strings.Repeat("\u00e9", 2500) + "x"), "'" + strings.Repeat("\u00e9", 32) + "'...(5001 in all, *)"},
		{textToken("x" + strings.Repeat("\u00e9", 2500)), "'x" + strings.Repeat("\u00e9", 31) + "'...(5001 in all, *)"},
	} {
		s := tt.v.Short()
		if err := s.Check(); err != nil || len(s) > 4096+512 || s.Short() != s {
			t.Errorf("%.40q: %d bytes, %v", tt.v, len(s), err)
		}
		begin, end, _ := strings.Cut(tt.want, "*")
		if got := s.String(); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) {
			t.Errorf("got %.200s, want %.200s", got, tt.want)
		}
	}
}

// Values that differ in one byte, anywhere, have another Short; equal ones the same.
func TestShortTells(t *testing.T) {
	r := seed.Rand(t)
	var value func(depth int) Value
	value = func(depth int) Value {
		n := 1 + r.IntN(6)
		switch k := r.IntN(8); {
		case depth == 0 || k == 0:
			return textToken(strings.Repeat(string('a'+rune(r.IntN(20))), r.IntN(200)))
		case k == 1:
			return Value(fmt.Sprintf("i8:%08d", r.IntN(100)))
		case k == 2:
			return "k1:o2:my" + value(depth-1)
		case k == 3:
			v := Value(fmt.Sprintf("{%d:", n))
			for range 2 * n {
				v += value(depth - 1)
			}
			return v
		default:
			v := Value(fmt.Sprintf("l%d:", n))
			for range n {
				v += value(depth - 1)
			}
			return v
		}
	}
	tried := 0
	for range 60 {
		v := value(4)
		if len(v) <= shortValue || v.Check() != nil {
			continue
		}
		s := v.Short()
		if err := s.Check(); err != nil || len(s) > 2*shortValue {
			t.Fatalf("%d bytes of %d: %v", len(s), len(v), err)
		}
		for range 15 {
			b := []byte(v)
			i := r.IntN(len(b))
			b[i] ^= 1
			w := Value(b)
			if w.Check() != nil {
				continue
			}
			tried++
			if w.Short() == s || s.Same(w.Short()) {
				t.Fatalf("a change at %d of %d bytes is not told", i, len(v))
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d values were tried", tried)
	}
}
