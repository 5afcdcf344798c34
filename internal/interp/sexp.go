package interp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// sexpKind tells the node kinds apart.
type sexpKind uint8

const (
	symbolNode sexpKind = iota + 1
	numberNode
	stringNode
	listNode
)

// sexp is one node of a description file.
type sexp struct {
	kind      sexpKind
	text      string // symbol, string
	num       int64  // number; 0x8000000000000000 and above wrap to negative
	list      []sexp
	line, col int // 1-based
}

// descError is an error at a place of a description.
type descError struct {
	line, col int
	msg       string
}

func (e *descError) Error() string { return fmt.Sprintf("%d:%d: %s", e.line, e.col, e.msg) }

func (n *sexp) errorf(format string, args ...any) error {
	return &descError{n.line, n.col, fmt.Sprintf(format, args...)}
}

// maxDepth bounds the nesting of lists.
const maxDepth = 100

type sexpParser struct {
	src       string
	pos       int
	line, col int
}

// parseSexp parses a file that holds exactly one expression.
func parseSexp(src string) (*sexp, error) {
	if !utf8.ValidString(src) {
		return nil, &descError{1, 1, "not UTF-8"}
	}
	p := &sexpParser{src: src, line: 1, col: 1}
	p.space()
	n, err := p.node(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.src) {
		return nil, p.errorf("text after the end")
	}
	return n, nil
}

func (p *sexpParser) errorf(format string, args ...any) error {
	return &descError{p.line, p.col, fmt.Sprintf(format, args...)}
}

func (p *sexpParser) advance() {
	if p.src[p.pos] == '\n' {
		p.line, p.col = p.line+1, 0
	}
	p.pos++
	p.col++
}

func (p *sexpParser) space() {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\n' || c == '\t':
			p.advance()
		case c == ';':
			for p.pos < len(p.src) && p.src[p.pos] != '\n' {
				p.advance()
			}
		default:
			return
		}
	}
}

func (p *sexpParser) node(depth int) (*sexp, error) {
	if p.pos >= len(p.src) {
		return nil, p.errorf("unexpected end")
	}
	if depth > maxDepth {
		return nil, p.errorf("nested too deep")
	}
	n := &sexp{line: p.line, col: p.col}
	switch c := p.src[p.pos]; c {
	case ')':
		return nil, p.errorf("unexpected )")
	case '(':
		return n, p.list(n, depth)
	case '"':
		return n, p.text(n)
	}
	return n, p.word(n)
}

// list reads the elements of n, up to its parenthesis.
func (p *sexpParser) list(n *sexp, depth int) error {
	n.kind = listNode
	p.advance()
	for {
		p.space()
		if p.pos >= len(p.src) {
			return n.errorf("list without its )")
		}
		if p.src[p.pos] == ')' {
			p.advance()
			return nil
		}
		m, err := p.node(depth + 1)
		if err != nil {
			return err
		}
		n.list = append(n.list, *m)
	}
}

// text reads n, a string in quotes.
func (p *sexpParser) text(n *sexp) error {
	n.kind = stringNode
	p.advance()
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] != '"' {
		if c := p.src[p.pos]; c == '\n' || c == '\\' {
			return p.errorf("strings are one line without backslashes")
		}
		p.advance()
	}
	if p.pos >= len(p.src) {
		return n.errorf("string without its end")
	}
	n.text = p.src[start:p.pos]
	p.advance()
	return nil
}

// word reads n, a number or a symbol.
func (p *sexpParser) word(n *sexp) error {
	start := p.pos
	for p.pos < len(p.src) && !strings.ContainsRune(" \n\t;()\"", rune(p.src[p.pos])) {
		p.advance()
	}
	word := p.src[start:p.pos]
	if c := word[0]; c >= '0' && c <= '9' || c == '-' {
		v, err := parseNumber(word)
		if err != nil {
			return n.errorf("%q is not a number", word)
		}
		n.kind, n.num = numberNode, v
		return nil
	}
	for _, c := range word {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			return n.errorf("name %q: a to z, 0 to 9 and - only", word)
		}
	}
	n.kind, n.text = symbolNode, word
	return nil
}

// parseNumber reads -N or N, decimal or 0x hexadecimal, of 64 bits.
func parseNumber(w string) (int64, error) {
	digits, neg := strings.CutPrefix(w, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || strings.Contains(digits, "_") {
		return 0, strconv.ErrSyntax
	}
	base := 10
	if h, ok := strings.CutPrefix(digits, "0x"); ok {
		digits, base = h, 16
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, err
	}
	if neg {
		if v > -math.MinInt64 {
			return 0, strconv.ErrRange
		}
		return -int64(v), nil
	}
	return int64(v), nil
}
