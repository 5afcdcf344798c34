package session

import (
	"fmt"
	"strings"
	"unicode"
)

// A keyword is an expression over names: words, each true of a name that contains it, whatever their case, with and, or, not and parentheses. A word in
// quotes may hold anything. It is computed from what is known of each word.
type keyword func(of func(word string) truth) truth

// truth is how true something is.
type truth int

const (
	no truth = iota
	maybe
	certain
)

// holds says whether k is true of a name.
func (k keyword) holds(name string) bool {
	name = strings.ToLower(name)
	return k(func(word string) truth {
		if strings.Contains(name, word) {
			return certain
		}
		return no
	}) == certain
}

// mayHold says whether k may be true of FILE::NAME where only file is known, and the text of which NAME is a part.
func (k keyword) mayHold(file, text string) bool {
	file, text = strings.ToLower(file), strings.ToLower(text)
	return k(func(word string) truth {
		switch {
		case strings.Contains(file, word):
			return certain
		case strings.Contains(text, word) || strings.ContainsAny(word, ":."):
			return maybe
		}
		return no
	}) != no
}

// parseKeyword reads what -k says. The empty text is true of every name.
func parseKeyword(text string) (keyword, error) {
	if strings.TrimSpace(text) == "" {
		return func(func(string) truth) truth { return certain }, nil
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
		a = func(of func(string) truth) truth { return max(one(of), b(of)) }
	}
	return a, err
}

func (p *keywordParser) and() (keyword, error) {
	a, err := p.not()
	for err == nil && p.next("and") {
		var b keyword
		one := a
		b, err = p.not()
		a = func(of func(string) truth) truth { return min(one(of), b(of)) }
	}
	return a, err
}

func (p *keywordParser) not() (keyword, error) {
	switch {
	case p.next("not"):
		k, err := p.not()
		return func(of func(string) truth) truth { return certain - k(of) }, err
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
	return func(of func(string) truth) truth { return of(word) }, nil
}
