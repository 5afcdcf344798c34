package testcase

import "slices"

// A Node is a value in parts, for who writes it in another notation than String does.
type Node struct {
	Token  Token
	Bytes  string // of a leaf
	Values []Node // of a structure; those of a map are keys and values in turn. Of what is cut at the end one stands for all

	count int // the number of the token of a structure
}

// Node is the value in parts; false where it is none.
func (v Value) Node() (Node, bool) {
	if v == "" || v.Check() != nil {
		return Node{}, false
	}
	r := valueReader{rest: string(v)}
	return r.node(), true
}

// Leaf reports whether v has no parts and is told.
func (v Value) Leaf() bool {
	n, ok := v.Node()
	return ok && !slices.Contains([]Token{TokenList, TokenTuple, TokenMap, TokenSet, TokenObject, TokenKind, TokenLong, TokenCut}, n.Token)
}

// node takes one value. Require: it is one by Check.
func (r *valueReader) node() Node {
	if r.rest == "" { // the end of a value that was cut
		return Node{Token: TokenCut}
	}
	n := Node{Token: Token(r.rest[0])}
	size := r.number()
	each := tokens[slices.IndexFunc(tokens, func(t tokenRow) bool { return t.token == n.Token })].values
	if each == 0 {
		n.Bytes, r.rest = r.rest[:size], r.rest[size:]
		return n
	}
	n.count = size
	for range size * each {
		last := len(n.Values) - 1
		if r.rest == "" && last >= 0 && n.Values[last].Token == TokenCut {
			break
		}
		n.Values = append(n.Values, r.node())
	}
	return n
}
