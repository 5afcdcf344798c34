package testcase

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What Short leaves of a value, in bytes: of all of it, at least of a part of it, and of the beginning of a leaf.
const (
	shortValue = 4096
	shortPart  = 256
	shortLeaf  = 64
)

// Short is what is kept of v: v itself, where it has at most 4096 bytes; else each part that takes more than its share is TokenLong, with a digest of
// the whole part, so that values which differ have a Short that does.
func (v Value) Short() Value {
	if len(v) <= shortValue {
		return v
	}
	n, ok := v.Node()
	if !ok {
		return v
	}
	return n.short(shortValue).value()
}

// value is n as tokens.
func (n Node) value() Value { return Value(n.append(nil)) }

func (n Node) append(b []byte) []byte {
	if n.each() == 0 {
		return append(fmt.Appendf(b, "%c%d:", n.Token, len(n.Bytes)), n.Bytes...)
	}
	b = fmt.Appendf(b, "%c%d:", n.Token, n.count)
	for _, v := range n.Values {
		b = v.append(b)
	}
	return b
}

// each is how many values belong to each of the number of n's token.
func (n Node) each() int {
	return tokens[slices.IndexFunc(tokens, func(t tokenRow) bool { return t.token == n.Token })].values
}

// missing reports whether n has parts that were cut at the end.
func (n Node) missing() bool {
	return len(n.Values) < n.count*n.each() || slices.ContainsFunc(n.Values, Node.missing)
}

// short is n in about room bytes at most, of which there are at least shortPart, with nothing missing.
func (n Node) short(room int) Node {
	whole := n.value()
	switch {
	case len(whole) <= room && !n.missing() || n.Token == TokenLong && !n.missing():
		return n
	case n.each() == 0:
		begin := n.Bytes[:min(len(n.Bytes), shortLeaf)]
		for n.Token == TokenText && len(begin) > shortLeaf-utf8.UTFMax && !utf8.ValidString(begin) {
			begin = begin[:len(begin)-1]
		}
		return long(Node{Token: n.Token, Bytes: begin}, len(n.Bytes), whole)
	}
	begin, used := Node{Token: n.Token}, shortPart
	for part := range slices.Chunk(n.Values, n.each()) {
		for i, v := range part {
			part[i] = v.short(max(room/8, shortPart))
			if n.Token == TokenKind { // of one value, whatever it takes
				part[i] = v.short(room)
			}
			used += len(part[i].value())
		}
		if len(part) < n.each() || used > room && n.Token != TokenKind {
			break
		}
		begin.Values, begin.count = append(begin.Values, part...), begin.count+1
	}
	if begin.count == n.count {
		return begin
	}
	return long(begin, n.count, whole)
}

// long is the TokenLong of a value that begins like that.
func long(begin Node, length int, whole Value) Node {
	sum := sha256.Sum256([]byte(whole))
	return Node{Token: TokenLong, count: 1, Values: []Node{begin,
		{Token: TokenInt, Bytes: string(binary.LittleEndian.AppendUint64(nil, uint64(length)))}, {Token: TokenText, Bytes: fmt.Sprintf("%x", sum[:16])}}}
}

// Visible is s on one line, safe for a terminal: what is not printable is escaped.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if q := strconv.QuoteRune(r); unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}
