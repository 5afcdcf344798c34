package session

import (
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Shown is w for text that people read in a terminal: the end of a line and the tabulator are all that moves the cursor there. Names of files and of programs, and
// errors that tell them, may have anything in them; it stands there escaped, as "\x1b".
func Shown(w io.Writer) io.Writer { return &terminal{w} }

type terminal struct{ w io.Writer }

// Write is io.Writer's. Require: no character is divided among two calls.
func (s *terminal) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		switch {
		case r == '\n', r == '\t', unicode.IsPrint(r) && (r != utf8.RuneError || n > 1):
			out = append(out, p[i:i+n]...)
		default:
			q := strconv.Quote(string(p[i : i+n]))
			out = append(out, q[1:len(q)-1]...)
		}
		i += n
	}
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
