package device

import (
	"strconv"
	"strings"
)

// OK is the reply `ok FIELD...\n`.
func OK(fields ...int64) []byte {
	b := []byte("ok")
	for _, f := range fields {
		b = append(b, ' ')
		b = strconv.AppendInt(b, f, 10)
	}
	return append(b, '\n')
}

// OKUnsigned is OK for unsigned fields (the reply to bounds).
func OKUnsigned(fields ...uint64) []byte {
	b := []byte("ok")
	for _, f := range fields {
		b = append(b, ' ')
		b = strconv.AppendUint(b, f, 10)
	}
	return append(b, '\n')
}

// Err is the reply `err TEXT\n`; TEXT is made one line.
func Err(text string) []byte {
	line := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	return []byte("err " + line + "\n")
}
