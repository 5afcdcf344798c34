package device

import (
	"fmt"
	"strings"
)

const hexDigits = "0123456789ABCDEF"

// Quote writes bytes as one field: percent-encoded, never empty.
func Quote(s string) string {
	if s == "" {
		return "%"
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= '!' && c <= '~' && c != '%' {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	return b.String()
}

// Unquote is the inverse of Quote. Any byte may come encoded.
func Unquote(f string) (string, error) {
	if f == "%" {
		return "", nil
	}
	if f == "" {
		return "", fmt.Errorf("empty field")
	}
	var b strings.Builder
	for i := 0; i < len(f); i++ {
		c := f[i]
		switch {
		case c < '!' || c > '~':
			return "", fmt.Errorf("byte %#02x in a field", c)
		case c != '%':
			b.WriteByte(c)
		default:
			if i+2 >= len(f) || unhex(f[i+1]) < 0 || unhex(f[i+2]) < 0 {
				return "", fmt.Errorf("%% without two hex digits in %q", f)
			}
			b.WriteByte(byte(unhex(f[i+1])<<4 | unhex(f[i+2])))
			i += 2
		}
	}
	return b.String(), nil
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}
