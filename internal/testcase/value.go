package testcase

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Value is a value of the language under test as the guest library tells it: tokens, one after the other, each a letter, a decimal number,
// a colon and what belongs to it (docs/device-protocol.md, "Values"). It is kept as the library wrote it, so that equal
// values, and only they, are equal texts; String says it in a notation for people. The empty Value is none: nothing was told.
//
//	Value("l2:i1:\x01s1:a").String() == "[1, 'a']"
type Value string

// MaxValue bounds a Value as a library tells it, in bytes; what is kept of it is Short.
const MaxValue = 1 << 20

// valueDepth bounds how deep values are nested; libraries stay below 8.
const valueDepth = 64

// Token is the letter of a token.
type Token byte

// The tokens. The number of a leaf is how many bytes follow it, that of a structure how many values.
const (
	TokenText   Token = 's' // UTF-8
	TokenBytes  Token = 'b'
	TokenInt    Token = 'i' // two's complement, little-endian
	TokenFloat  Token = 'f' // an IEEE double, little-endian
	TokenNone   Token = 'n'
	TokenTrue   Token = 'T'
	TokenFalse  Token = 'F'
	TokenList   Token = 'l'
	TokenTuple  Token = '('
	TokenMap    Token = '{' // of pairs: twice as many values
	TokenSet    Token = '<'
	TokenObject Token = 'o' // another object: its type's name
	TokenKind   Token = 'k' // an object of a type, told by what it is made of: a TokenObject and another value
	TokenLong   Token = 'L' // a value too long to be told: as one of the same kind how it begins, its length, and a digest or TokenNone
	TokenCut    Token = 'z' // one value that is not told, or, at the end, all that are missing
)

// tokenRow describes one token.
type tokenRow struct {
	token  Token
	values int // how many values belong to each of its number; 0: it is a leaf
	// leaf checks and shows the bytes of a leaf; join shows a structure.
	leaf func(b string) (string, error)
	join func(parts []string) string
}

var tokens = []tokenRow{
	{TokenText, 0, func(b string) (string, error) { return quoted(b), nil }, nil},
	{TokenBytes, 0, func(b string) (string, error) { return "b" + quoteBytes(b), nil }, nil},
	{TokenInt, 0, showInt, nil},
	{TokenFloat, 0, showFloat, nil},
	{TokenNone, 0, constant("None"), nil},
	{TokenTrue, 0, constant("True"), nil},
	{TokenFalse, 0, constant("False"), nil},
	{TokenList, 1, nil, func(l []string) string { return "[" + strings.Join(l, ", ") + "]" }},
	{TokenTuple, 1, nil, func(l []string) string {
		if len(l) == 1 {
			return "(" + l[0] + ",)"
		}
		return "(" + strings.Join(l, ", ") + ")"
	}},
	{TokenMap, 2, nil, func(l []string) string {
		var b strings.Builder
		for i, v := range l {
			switch {
			case i > 0 && i%2 == 0:
				b.WriteString(", ")
			case i > 0:
				b.WriteString(": ")
			}
			b.WriteString(v)
		}
		return "{" + b.String() + "}"
	}},
	{TokenSet, 1, nil, func(l []string) string {
		if len(l) == 0 {
			return "set()"
		}
		return "{" + strings.Join(l, ", ") + "}"
	}},
	{TokenObject, 0, func(b string) (string, error) { return "<" + plain(b) + ">", nil }, nil},
	{TokenKind, 2, nil, func(l []string) string {
		if len(l) != 2 {
			return "..."
		}
		return strings.Trim(l[0], "<>") + "(" + l[1] + ")"
	}},
	{TokenLong, 3, nil, func(l []string) string {
		if len(l) != 3 {
			return "..."
		}
		return fmt.Sprintf("%s...(%s in all, %s)", l[0], l[1], l[2])
	}},
	{TokenCut, 0, constant("..."), nil},
}

func constant(text string) func(string) (string, error) {
	return func(b string) (string, error) {
		if b != "" {
			return "", errors.New("nothing belongs to it")
		}
		return text, nil
	}
}

// showInt is an integer in decimal digits.
func showInt(b string) (string, error) {
	if b == "" {
		return "", errors.New("an integer without bytes")
	}
	high := make([]byte, len(b)) // most significant byte first
	for i := range len(b) {
		high[len(b)-1-i] = b[i]
	}
	v := new(big.Int).SetBytes(high)
	if high[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v.String(), nil
}

// showFloat is a double in the fewest digits that tell it.
func showFloat(b string) (string, error) {
	if len(b) != 8 {
		return "", errors.New("a float has eight bytes")
	}
	return FloatText(math.Float64frombits(binary.LittleEndian.Uint64([]byte(b)))), nil
}

// FloatText is v in the fewest digits that tell it, with a point or an exponent: 1.0, 1e+16, inf, nan.
func FloatText(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "+")
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quoted is text in single quotes, with escapes for what is not printable: \n, \x1b, \u20ac, \U0001f600.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case isSurrogate(s):
			fmt.Fprintf(&b, `\ud%03x`, uint16(s[1]&0x3f)<<6|uint16(s[2]&0x3f))
			n = 3
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		s = s[n:]
	}
	b.WriteByte('\'')
	return b.String()
}

// isSurrogate reports whether s begins with half of a pair, which a text may have in languages with characters of 16 bits, but UTF-8 has not.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xed && s[1]&0xe0 == 0xa0 && s[2]&0xc0 == 0x80
}

// quoteBytes is quoted of bytes, each a character of its own.
func quoteBytes(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] < 0x80 {
			b.WriteString(strings.Trim(quoted(s[i:i+1]), "'"))
			if s[i] == '\'' {
				b.WriteByte('\'') // Trim took it
			}
			continue
		}
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	return "'" + b.String() + "'"
}

// plain is s on one line.
func plain(s string) string {
	q := quoted(s)
	return q[1 : len(q)-1]
}

// Check reports the first broken rule of the notation. What is missing at the end is no error after a cut.
func (v Value) Check() error {
	_, err := v.show()
	return err
}

// String shows the value in a notation for people: [1, 'a'], ('a',), {'a': None}, b'\x00', <type>, and ... for what is not told; what is no value is shown as it is, quoted, after a question mark.
func (v Value) String() string {
	if v == "" {
		return ""
	}
	s, err := v.show()
	if err != nil {
		return "?" + quoteBytes(string(v))
	}
	return s
}

func (v Value) show() (string, error) {
	if len(v) > MaxValue {
		return "", fmt.Errorf("a value is at most %d bytes", MaxValue)
	}
	r := valueReader{rest: string(v)}
	s := r.value(0)
	if r.err == nil && r.rest != "" {
		r.fail("%d bytes too many", len(r.rest))
	}
	return s, r.err
}

// valueReader takes values from the left; the first failure stays in err.
type valueReader struct {
	rest string
	cut  bool // the last token was TokenCut: what is missing is cut, too
	err  error

	makes []string // of Literal
}

func (r *valueReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// value takes one value and shows it.
func (r *valueReader) value(depth int) string {
	if r.err != nil {
		return ""
	}
	if r.rest == "" && r.cut {
		return "..."
	}
	if depth > valueDepth {
		r.fail("values are nested deeper than %d", valueDepth)
		return ""
	}
	if r.rest == "" {
		r.fail("a value is missing")
		return ""
	}
	for _, t := range tokens {
		if byte(t.token) != r.rest[0] {
			continue
		}
		n := r.number()
		r.cut = t.token == TokenCut
		if t.values == 0 {
			return r.leaf(t, n)
		}
		var parts []string
		for range n * t.values {
			if r.rest == "" && r.cut { // one mark for all that is missing
				if len(parts) == 0 || parts[len(parts)-1] != "..." {
					parts = append(parts, "...")
				}
				break
			}
			parts = append(parts, r.value(depth+1))
			if r.err != nil {
				return ""
			}
		}
		return t.join(parts)
	}
	r.fail("unknown token %q", r.rest[0])
	return ""
}

// number takes the letter, the number in its one spelling, and the colon.
func (r *valueReader) number() int {
	digits, rest, ok := strings.Cut(r.rest[1:], ":")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n > MaxValue || strconv.Itoa(n) != digits {
		r.fail("%.10q is no token", r.rest)
		return 0
	}
	r.rest = rest
	return n
}

func (r *valueReader) leaf(t tokenRow, n int) string {
	if n > len(r.rest) {
		r.fail("%d bytes are missing", n-len(r.rest))
	}
	if r.err != nil {
		return ""
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	s, err := t.leaf(b)
	if err != nil {
		r.fail("%c%d: %w", t.token, n, err)
	}
	return s
}

// Same reports whether v and w may be one value: where one has a cut, any value stands in the other.
func (v Value) Same(w Value) bool {
	if v == w {
		return true
	}
	a, b := valueReader{rest: string(v)}, valueReader{rest: string(w)}
	return v.Check() == nil && w.Check() == nil && same(&a, &b)
}

// same compares the next value of a with that of b. Require: both are values by Check.
func same(a, b *valueReader) bool {
	if a.rest == "" || b.rest == "" {
		return true // the end of a value that was cut
	}
	if a.rest[0] == byte(TokenCut) || b.rest[0] == byte(TokenCut) {
		a.value(0)
		b.value(0)
		return true
	}
	letter := a.rest[0]
	if letter != b.rest[0] {
		return false
	}
	n, m := a.number(), b.number()
	i := slices.IndexFunc(tokens, func(t tokenRow) bool { return byte(t.token) == letter })
	if n != m || i < 0 {
		return false
	}
	if tokens[i].values == 0 {
		x, y := a.rest[:n], b.rest[:n]
		a.rest, b.rest = a.rest[n:], b.rest[n:]
		return x == y
	}
	for range n * tokens[i].values {
		if !same(a, b) {
			return false
		}
	}
	return true
}

// Told is a Value with words for people, those of its language. In JSON it is both, with Value.String where there are no words.
type Told struct {
	Value Value
	Words string
}

// toldJSON is a Told in JSON: for people and without loss.
type toldJSON struct {
	Text     string `json:"text"`
	BytesHex string `json:"bytes_hex"`
}

// MarshalJSON implements json.Marshaler.
func (t Told) MarshalJSON() ([]byte, error) {
	return marshal(toldJSON{cmp.Or(t.Words, t.Value.String()), hex.EncodeToString([]byte(t.Value))})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Told) UnmarshalJSON(b []byte) error {
	var j toldJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	raw, err := hex.DecodeString(j.BytesHex)
	if err != nil {
		return fmt.Errorf("value: bytes_hex: %w", err)
	}
	*t = Told{Value(raw), j.Text}
	return nil
}

// MarshalJSON implements json.Marshaler: a Told without words.
func (v Value) MarshalJSON() ([]byte, error) { return marshal(Told{Value: v}) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(b []byte) error {
	var t Told
	err := json.Unmarshal(b, &t)
	*v = t.Value
	return err
}

// Literal is what String shows, if it is code for an equal value in a language of that notation (as in Python); false if there is none: of other objects, of what is cut, of a number that is none, of
// sets in sets, of text that is not UTF-8. makes are the types that make an equal value of what it is made of, called with that.
func (v Value) Literal(makes ...string) (string, bool) {
	s := v.String()
	r := valueReader{rest: string(v), makes: makes}
	if v == "" || v.Check() != nil || !r.literal(true) || len(s) > mostLiteral {
		return "", false
	}
	return s, true
}

// mostLiteral bounds a literal, in bytes; an integer in it has fewer digits than languages read at once.
const mostLiteral = 4000

// literal takes one value and reports whether it has a literal; set says whether it may have sets in it. Require: it is a value by Check.
func (r *valueReader) literal(set bool) bool {
	if r.rest == "" {
		return false
	}
	letter := Token(r.rest[0])
	n := r.number()
	i := slices.IndexFunc(tokens, func(t tokenRow) bool { return t.token == letter })
	switch letter {
	case TokenLong:
		return false
	case TokenKind:
		of := r.node()
		return n == 1 && of.Token == TokenObject && slices.Contains(r.makes, of.Bytes) && r.literal(true)
	}
	if tokens[i].values == 0 {
		b := r.rest[:n]
		r.rest = r.rest[n:]
		switch letter {
		case TokenObject, TokenCut:
			return false
		case TokenText:
			return utf8.ValidString(b)
		case TokenFloat:
			f := math.Float64frombits(binary.LittleEndian.Uint64([]byte(b)))
			return !math.IsNaN(f) && !math.IsInf(f, 0)
		}
		return true
	}
	if letter == TokenSet && !set {
		return false
	}
	for k := range n * tokens[i].values {
		if key := letter == TokenMap && k%2 == 0; !r.literal(set && letter != TokenSet && !key) {
			return false
		}
	}
	return true
}
