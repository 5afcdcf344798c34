package testcase

import (
	"slices"
	"strings"
)

// SetOrder tells the order of the bytes of v, the tokens of a value, in which the elements of each set come in the order of their bytes; nil if
// v has no set, or is no value. A library writes them as it finds them, by hashes or addresses.
func SetOrder(v string) []int {
	if strings.IndexByte(v, byte(TokenSet)) < 0 {
		return nil
	}
	s := setSorter{v: v}
	order, ok := s.value(0)
	if !ok || s.at < len(v) {
		return nil
	}
	return order
}

// Sorted is v with the elements of its sets in one order.
func (v Value) Sorted() Value {
	order := SetOrder(string(v))
	if order == nil {
		return v
	}
	return Value(taken(string(v), order))
}

func taken(v string, order []int) string {
	b := make([]byte, len(order))
	for i, from := range order {
		b[i] = v[from]
	}
	return string(b)
}

// setSorter takes values from the left.
type setSorter struct {
	v   string
	at  int
	cut bool // the last token was TokenCut: what is missing is cut, too
}

// value takes one value and returns the places of its bytes, in their new order; false if there is none.
func (s *setSorter) value(depth int) ([]int, bool) {
	if s.at == len(s.v) {
		return nil, s.cut
	}
	i := slices.IndexFunc(tokens, func(t tokenRow) bool { return byte(t.token) == s.v[s.at] })
	r := valueReader{rest: s.v[s.at:]}
	n := r.number()
	if i < 0 || r.err != nil || depth > valueDepth {
		return nil, false
	}
	token, end := tokens[i], len(s.v)-len(r.rest)
	s.cut = token.token == TokenCut
	if token.values == 0 {
		end += n
	}
	if end > len(s.v) {
		return nil, false
	}
	var order []int
	for ; s.at < end; s.at++ {
		order = append(order, s.at)
	}
	var elements [][]int
	for range n * token.values { // a leaf has none
		e, ok := s.value(depth + 1)
		if !ok {
			return nil, false
		}
		elements = append(elements, e)
	}
	if token.token == TokenSet {
		slices.SortStableFunc(elements, func(a, b []int) int { return strings.Compare(taken(s.v, a), taken(s.v, b)) })
	}
	return append(order, slices.Concat(elements...)...), true
}
