package smtlib

import (
	"errors"
	"fmt"
	"strings"
)

// A node is an S-expression: an atom, or a list where atom is "".
type node struct {
	atom string
	list []node
}

func (n node) String() string {
	if n.atom != "" {
		return n.atom
	}
	var b strings.Builder
	b.WriteByte('(')
	for i, k := range n.list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(k.String())
	}
	return b.String() + ")"
}

// is reports whether n is a list of size elements that begins with head.
func (n node) is(head string, size int) bool {
	return len(n.list) == size && n.list[0].atom == head
}

// maxDepth bounds the nesting of input.
const maxDepth = 100000

// read parses a sequence of S-expressions.
func read(s string) ([]node, error) {
	stack := [][]node{nil}
	add := func(n node) { stack[len(stack)-1] = append(stack[len(stack)-1], n) }
	for i := 0; i < len(s); {
		switch ch := s[i]; ch {
		case ' ', '\t', '\r', '\n':
			i++
		case ';':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case '(':
			if len(stack) > maxDepth {
				return nil, errors.New("smtlib: nested too deep")
			}
			stack = append(stack, nil)
			i++
		case ')':
			if len(stack) == 1 {
				return nil, errors.New("smtlib: unbalanced parenthesis")
			}
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			add(node{list: top})
			i++
		case '|', '"':
			end := strings.IndexByte(s[i+1:], ch)
			if end < 0 {
				return nil, fmt.Errorf("smtlib: %c without end", ch)
			}
			add(node{atom: s[i : i+end+2]})
			i += end + 2
		default:
			end := strings.IndexAny(s[i:], " \t\r\n();|\"")
			if end < 0 {
				end = len(s) - i
			}
			add(node{atom: s[i : i+end]})
			i += end
		}
	}
	if len(stack) != 1 {
		return nil, errors.New("smtlib: unbalanced parenthesis")
	}
	return stack[0], nil
}
