package testcase

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Part is one thing a user can see, by which paths are told into classes.
type Part string

// The parts, in the order in which Parts has them.
const (
	PartOutcome  Part = "outcome"  // kind, exception type, signal, status, and the line that raised
	PartMessage  Part = "message"  // of the exception
	PartStdout   Part = "stdout"   // standard output
	PartStderr   Part = "stderr"   // standard error, see StderrDigest
	PartReturned Part = "returned" // what the test function returned
	PartFiles    Part = "files"    // files made, changed and removed
)

// Parts are all of them.
var Parts = []Part{PartOutcome, PartMessage, PartStdout, PartStderr, PartReturned, PartFiles}

// ParseParts reads a list separated by commas; "all" is Parts. The result is in the order of Parts.
func ParseParts(list string) ([]Part, error) {
	if list == "all" {
		return Parts, nil
	}
	asked := map[Part]bool{}
	for _, word := range strings.Split(list, ",") {
		if !slices.Contains(Parts, Part(word)) {
			return nil, fmt.Errorf("%q is no part of what a user can see; there are all, %s", word, joinParts(Parts))
		}
		asked[Part(word)] = true
	}
	var out []Part
	for _, p := range Parts {
		if asked[p] {
			out = append(out, p)
		}
	}
	return out, nil
}

func joinParts(l []Part) string {
	words := make([]string, len(l))
	for i, p := range l {
		words[i] = string(p)
	}
	return strings.Join(words, ", ")
}

// A Class digests what a user can see of a path, part by part. Bytes that are symbolic, and so may have other values on the same path, count as one
// mark for each run of them: a program that prints its input does not behave in another way for each. So do escapes that stand for them, and the
// quotes around them: what shows a text as a literal writes '\n' where the input has a newline, and "'" for a quote.
type Class struct {
	// Fixed reports whether a byte of the input can be nothing but c on the path; nil: that is not known.
	Fixed func(c byte) bool

	parts     []Part
	sum, fine []byte
}

// NewClass begins a class by parts.
func NewClass(parts []Part) *Class { return &Class{parts: parts} }

// Add adds concrete text to part.
func (c *Class) Add(part Part, text ...string) {
	for _, t := range text {
		c.AddBytes(part, []byte(t), nil)
	}
}

// AddBytes adds bytes to part; symbolic says which are, nil: none.
func (c *Class) AddBytes(part Part, b []byte, symbolic func(i int) bool) {
	if !slices.Contains(c.parts, part) {
		return
	}
	text := func(b []byte) []byte {
		switch part {
		case PartStderr:
			return allow(b, false)
		case PartMessage:
			return allow(b, true)
		}
		return b
	}
	plain := b
	if symbolic != nil {
		plain, _ = masked(b, symbolic, nil)
	}
	plain = text(plain)
	c.fine = sumUp(c.fine, part, plain)
	if symbolic == nil {
		symbolic = func(int) bool { return false }
	}
	switch part {
	case PartMessage, PartStdout, PartStderr:
		plain, _ = masked(b, symbolic, func(i int) int { return c.escape(b, i, symbolic) })
		plain = text(plain)
	case PartReturned:
		if v, ok := c.maskedValue(b, symbolic); ok {
			plain = v
		}
	}
	c.sum = sumUp(c.sum, part, plain)
}

// AddPieces adds bytes to part that are told in pieces, each by a call of add; symbolic is as for AddBytes, of a piece, and no escapes are looked for.
func (c *Class) AddPieces(part Part, tell func(add func(b []byte, symbolic func(i int) bool))) {
	if !slices.Contains(c.parts, part) {
		return
	}
	size, in, h := 0, false, sha256.New()
	tell(func(b []byte, symbolic func(i int) bool) {
		plain := maskedPiece(b, symbolic, &in)
		size += len(plain)
		h.Write(plain)
	})
	all := binary.AppendUvarint(h.Sum(nil), uint64(size))
	c.fine, c.sum = sumUp(c.fine, part, all), sumUp(c.sum, part, all)
}

// maskedPiece is b with a mark for each run of symbolic bytes, but for one that goes on from the piece before; in says whether one does, and is kept. What has
// none is not copied.
func maskedPiece(b []byte, symbolic func(i int) bool, in *bool) []byte {
	n := 0
	for n < len(b) && b[n] != mark && !symbolic(n) {
		n++
	}
	if n > 0 {
		*in = false
	}
	out := b[:n:n]
	for i := n; i < len(b); i++ {
		switch {
		case !symbolic(i):
			if *in = false; b[i] == mark {
				out = append(out, mark)
			}
			out = append(out, b[i])
		case !*in:
			*in = true
			out = append(out, mark, 1)
		}
	}
	return out
}

// sumUp is the digest of what sum is one of and part's b.
func sumUp(sum []byte, part Part, b []byte) []byte {
	h := sha256.New()
	h.Write(sum)
	h.Write([]byte(part))
	h.Write(binary.AppendUvarint(nil, uint64(len(b))))
	h.Write(b)
	return h.Sum(sum[:0])
}

// mark begins what stands for symbolic bytes: a byte that text has none of.
const mark = 0xff

// masked is b with a mark for each run of symbolic bytes. With escapes, which is how long one of the input is that begins at i, or 0, these count as
// symbolic, and the quotes right around a run are part of it. units is how many bytes b has, an escape being one.
func masked(b []byte, symbolic func(i int) bool, escapes func(i int) int) (out []byte, units int) {
	out = make([]byte, 0, len(b))
	in := false // a run
	for i := 0; i < len(b); units++ {
		c, n := b[i], 0
		switch {
		case symbolic(i):
			n = 1
		case escapes == nil:
		case in && isQuote(c):
			n = 1
		default:
			n = escapes(i)
		}
		if n > 0 {
			if i += n; in {
				continue
			}
			for in = true; escapes != nil && len(out) > 0 && isQuote(out[len(out)-1]); {
				out = out[:len(out)-1]
			}
			out = append(out, mark, 1)
			continue
		}
		if c == mark {
			out = append(out, mark)
		}
		out, in = append(out, c), false
		i++
	}
	return out, units
}

// maskedValue is masked for the tokens of a value, each text for itself, whose number counts an escape as one byte. It is false for what is no value.
func (c *Class) maskedValue(b []byte, symbolic func(i int) bool) (out []byte, ok bool) {
	v := string(b)
	for from := 0; from < len(b); {
		r := valueReader{rest: v[from:]}
		letter, n := Token(b[from]), r.number()
		i := slices.IndexFunc(tokens, func(t tokenRow) bool { return t.token == letter })
		if i < 0 || r.err != nil {
			return nil, false
		}
		from = len(b) - len(r.rest)
		if tokens[i].values > 0 {
			out = fmt.Appendf(out, "%c%d:", letter, n)
			continue
		}
		if n > len(b)-from {
			return nil, false
		}
		leaf, escapes := b[from:from+n], (func(int) int)(nil)
		here := func(i int) bool { return symbolic(from + i) }
		if letter == TokenText || letter == TokenBytes {
			escapes = func(i int) int { return c.escape(leaf, i, here) }
		}
		text, units := masked(leaf, here, escapes)
		out = append(fmt.Appendf(out, "%c%d,%d:", letter, units, len(text)), text...)
		from += n
	}
	return out, true
}

func isQuote(c byte) bool { return c == '\'' || c == '"' }

// escapeLetters are what letters stand for behind a backslash.
var escapeLetters = map[byte]byte{'a': '\a', 'b': '\b', 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '\'': '\'', '"': '"', '\n': '\n'}

// escape is the length of the escape that begins at b[i] and stands for a byte of the input: it has a symbolic byte in it, or is that of a byte which the
// input has for sure, as a quote within other quotes is; 0: none does.
func (c *Class) escape(b []byte, i int, symbolic func(i int) bool) int {
	fixed := func(v uint64) bool { return c.Fixed != nil && v < 0x100 && c.Fixed(byte(v)) }
	if i > 0 && isQuote(b[i]) && isQuote(b[i-1]) && b[i] != b[i-1] && fixed(uint64(b[i])) {
		return 1
	}
	if b[i] != '\\' || i+1 == len(b) {
		return 0
	}
	if symbolic(i+1) && !isDigit(b[i+1], 10) {
		return 2
	}
	if v, ok := escapeLetters[b[i+1]]; ok && fixed(uint64(v)) {
		return 2
	}
	from, most, bases := i+1, 3, []int{8, 10} // \ooo and \ddd, as languages differ
	switch b[i+1] {
	case 'x':
		from, most, bases = i+2, 2, []int{16}
	case 'u': // of JSON
		from, most, bases = i+2, 4, []int{16}
	}
	digits, some := 0, false
	for from+digits < len(b) && digits < most && isDigit(b[from+digits], bases[len(bases)-1]) {
		some = some || symbolic(from+digits)
		digits++
	}
	for _, base := range bases {
		if v, err := strconv.ParseUint(string(b[from:from+digits]), base, 64); some || err == nil && fixed(v) {
			return from + digits - i
		}
	}
	return 0
}

func isDigit(c byte, base int) bool {
	_, err := strconv.ParseUint(string(c), base, 8)
	return err == nil
}

// Digest is the class.
func (c *Class) Digest() string { return digest(c.sum) }

// Fine is a finer class, in which escapes count as they are.
func (c *Class) Fine() string { return digest(c.fine) }

func digest(sum []byte) string {
	h := sha256.Sum256(sum)
	return hex.EncodeToString(h[:])
}
