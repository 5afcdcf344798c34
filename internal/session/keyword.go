package session

import (
	"fmt"
	"strings"
	"unicode"
)

// A keyword is an expression over names: words, each true of a name that contains it, whatever their case, with and, or, not and parentheses. A word in
// quotes may hold anything.
type keyword func(name string) bool

// parseKeyword reads what -k says. The empty text is true of every name.
func parseKeyword(text string) (keyword, error) {
	if strings.TrimSpace(text) == "" {
		return func(string) bool { return true }, nil
	}
	words, err := keywordWords(text)
	p := &keywordParser{words}
	var k keyword
	if err == nil {
		k, err = p.or()
	}
	if err == nil && len(p.words) > 0 {
		err = fmt.Errorf("%q is not expected", p.words[0].text)
	}
	if err != nil {
		return nil, &usageError{fmt.Sprintf("-k %s: %v; want words with and, or, not and parentheses, those with spaces in quotes", text, err)}
	}
	return k, nil
}

// keywordWord is a word, or a parenthesis.
type keywordWord struct {
	text   string
	quoted bool // it means itself
}

// keywordWords divides text at spaces, parentheses and quotes.
func keywordWords(text string) (out []keywordWord, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end, quoted := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`()"'`, r) }), false
		switch {
		case end < 0:
			end = len(text)
		case end == 0 && (text[0] == '"' || text[0] == '\''):
			if end = strings.IndexByte(text[1:], text[0]); end < 0 {
				return nil, fmt.Errorf("the quote %c is not closed", text[0])
			}
			text, quoted = text[1:1+end]+text[2+end:], true
		case end == 0:
			end = 1
		}
		out = append(out, keywordWord{text[:end], quoted})
		text = text[end:]
	}
	return out, nil
}

type keywordParser struct{ words []keywordWord }

// next takes the next word if it is word.
func (p *keywordParser) next(word string) bool {
	if len(p.words) > 0 && p.words[0] == (keywordWord{text: word}) {
		p.words = p.words[1:]
		return true
	}
	return false
}

func (p *keywordParser) or() (keyword, error) {
	a, err := p.and()
	for err == nil && p.next("or") {
		var b keyword
		one := a
		b, err = p.and()
		a = func(name string) bool { return one(name) || b(name) }
	}
	return a, err
}

func (p *keywordParser) and() (keyword, error) {
	a, err := p.not()
	for err == nil && p.next("and") {
		var b keyword
		one := a
		b, err = p.not()
		a = func(name string) bool { return one(name) && b(name) }
	}
	return a, err
}

func (p *keywordParser) not() (keyword, error) {
	switch {
	case p.next("not"):
		k, err := p.not()
		return func(name string) bool { return !k(name) }, err
	case p.next("("):
		k, err := p.or()
		if err == nil && !p.next(")") {
			err = fmt.Errorf("a parenthesis is not closed")
		}
		return k, err
	case len(p.words) == 0:
		return nil, fmt.Errorf("something is missing at the end")
	}
	for _, reserved := range []string{"and", "or", ")"} {
		if p.words[0] == (keywordWord{text: reserved}) {
			return nil, fmt.Errorf("%q is not expected", reserved)
		}
	}
	word := strings.ToLower(p.words[0].text)
	p.words = p.words[1:]
	return func(name string) bool { return strings.Contains(strings.ToLower(name), word) }, nil
}
