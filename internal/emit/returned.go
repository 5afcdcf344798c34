package emit

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// How a language writes what a test returned (testcase.Value), more rules of emit/values.tmpl. A language whose code is the notation of Value.String has the
// first in place of the others; with neither that nor the second what is returned is not told. A rule may have a second one for people, called NAME shown, where its code is hard to read.
const (
	literalRule = "literal" // a string: a whole value in the notation of Value.String, if that is code (Value.Literal)
	makesRule   = "makes"   // nothing: names of types, code that makes an object of what it is made of, for literal
	listRule    = "list"    // sequence
	tupleRule   = "tuple"   // sequence
	mapRule     = "map"     // []pair
	setRule     = "set"     // sequence
	objectRule  = "object"  // a string: what an object is called
	kindRule    = "kind"    // kind: an object of a type by what it is made of
	nanRule     = "nan"     // uint32, the low half of a double that is no number
	octetsRule  = "octets"  // a string that is not UTF-8
	untoldRule  = "untold"  // nothing: code for a value that is not told, or that no rule is for
	optionRule  = "option"  // option: code for a choice that has no other; inputs need it
)

// sequence are the elements of a structure, code each; Names are those of the objects among them. Alike: all are leaves of one kind, but for objects.
type sequence struct {
	Values, Names []string
	Alike         bool
}

// kind is the name of a type, and code for what an object of it is made of.
type kind struct{ Name, Value string }

// pair is a key with its value, code both. Text is the key itself if it is a text.
type pair struct {
	Key, Value, Text string
	IsText           bool
}

// option is one of the options of a choice: its index from 0, and its position from 1.
type option struct{ Index, Position int }

// returned is code for v; false if there is none that says more than that there is a value.
func (w *writer) returned(v testcase.Value) (string, bool) {
	if w.rules.Lookup(listRule) == nil {
		makes := ""
		if w.rules.Lookup(makesRule) != nil {
			makes, _ = w.apply(makesRule, nil)
		}
		text, ok := v.Literal(strings.Fields(makes)...)
		if !ok || w.rules.Lookup(literalRule) == nil {
			return "", false
		}
		code, err := w.apply(literalRule, text)
		return code, err == nil
	}
	n, ok := v.Node()
	if !ok {
		return "", false
	}
	r := returned{w: w}
	code := r.value(n)
	return code, code != r.untold() && !r.missing && len(code) <= mostCode
}

// mostCode bounds the code of a value, in bytes.
const mostCode = 4000

// Shown is v in the words of the language of kind, for people.
func Shown(kind testcase.TargetKind, v testcase.Value) string {
	n, ok := v.Node()
	d, known := interp.ByName(string(kind))
	if !ok || !known {
		return v.String()
	}
	w, err := writerOf(d)
	if err != nil || w.rules.Lookup(listRule) == nil {
		return v.String()
	}
	r := returned{w: w, shown: true}
	if s := r.value(n); r.err == nil {
		return s
	}
	return v.String()
}

// ShownReal is v in the words of the language of kind, for people.
func ShownReal(kind testcase.TargetKind, v float64) string {
	bits := binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
	return Shown(kind, testcase.Value(fmt.Sprintf("%c8:%s", testcase.TokenFloat, bits)))
}

// ShownTruth is v in the words of the language of kind, for people.
func ShownTruth(kind testcase.TargetKind, v bool) string {
	if d, known := interp.ByName(string(kind)); known {
		if w, err := writerOf(d); err == nil {
			if s, err := w.apply(truthRule, v); err == nil {
				return s
			}
		}
	}
	return fmt.Sprint(v)
}

// ShowsAll reports whether Shown tells v from other values: no part of it is named by its type alone, as <TYPE>, or left out.
func ShowsAll(kind testcase.TargetKind, v testcase.Value) bool {
	n, ok := v.Node()
	return ok && showsAll(kind, n)
}

func showsAll(kind testcase.TargetKind, n testcase.Node) bool {
	switch n.Token {
	case testcase.TokenCut:
		return false
	case testcase.TokenKind: // the name of the type itself is told by that
		return len(n.Values) == 2 && (n.Values[1].Token == testcase.TokenObject || showsAll(kind, n.Values[1]))
	case testcase.TokenObject:
		return !strings.HasPrefix(Shown(kind, testcase.Value(fmt.Sprintf("%c%d:%s", testcase.TokenObject, len(n.Bytes), n.Bytes))), "<")
	}
	return !slices.ContainsFunc(n.Values, func(v testcase.Node) bool { return !showsAll(kind, v) })
}

// writers are those that have been made, by *interp.Desc; their rules do not change.
var writers sync.Map

func writerOf(d *interp.Desc) (*writer, error) {
	if w, ok := writers.Load(d); ok {
		return w.(*writer), nil
	}
	w, err := newWriter(d)
	if err == nil {
		writers.Store(d, w)
	}
	return w, err
}

// returned writes one value.
type returned struct {
	w       *writer
	shown   bool  // for people, not as code
	missing bool  // a rule that would be needed is not there
	err     error // the first failure of a rule
}

// apply is what a rule makes of v; false if there is no such rule.
func (r *returned) apply(rule string, v any) (string, bool) {
	if r.shown && r.w.rules.Lookup(rule+" shown") != nil {
		rule += " shown"
	}
	if r.w.rules.Lookup(rule) == nil {
		return "", false
	}
	s, err := r.w.apply(rule, v)
	if r.err == nil {
		r.err = err
	}
	return s, true
}

// untold is code for what is not told.
func (r *returned) untold() string {
	s, ok := r.apply(untoldRule, nil)
	r.missing = r.missing || !ok
	return s
}

// must is apply; without the rule the value is not told.
func (r *returned) must(rule string, v any) string {
	if s, ok := r.apply(rule, v); ok {
		return s
	}
	return r.untold()
}

// leaf is apply for what can be shown in no words but plain ones.
func (r *returned) leaf(rule string, v any, plain string) string {
	s, ok := r.apply(rule, v)
	switch {
	case ok:
		return s
	case r.shown:
		return plain
	}
	return r.untold()
}

func (r *returned) value(n testcase.Node) string {
	switch n.Token {
	case testcase.TokenText:
		if !utf8.ValidString(n.Bytes) {
			return r.leaf(octetsRule, n.Bytes, quoteBytes([]byte(n.Bytes), `\n`, `\x%02x`))
		}
		return r.must(textRule, n.Bytes)
	case testcase.TokenBytes:
		return r.must(bytesRule, []byte(n.Bytes))
	case testcase.TokenInt:
		return r.must(integerRule, integer(n.Bytes))
	case testcase.TokenFloat:
		bits := binary.LittleEndian.Uint64([]byte(n.Bytes))
		if f := math.Float64frombits(bits); !math.IsNaN(f) {
			return r.must(realRule, f)
		}
		return r.leaf(nanRule, uint32(bits), "nan")
	case testcase.TokenNone:
		return r.must(noneRule, nil)
	case testcase.TokenTrue, testcase.TokenFalse:
		return r.must(truthRule, n.Token == testcase.TokenTrue)
	case testcase.TokenList:
		return r.must(listRule, r.sequence(n))
	case testcase.TokenTuple:
		return r.must(tupleRule, r.sequence(n))
	case testcase.TokenSet:
		return r.must(setRule, r.sequence(n))
	case testcase.TokenMap:
		return r.mapping(n)
	case testcase.TokenObject:
		return r.leaf(objectRule, n.Bytes, "<"+printable(n.Bytes)+">")
	case testcase.TokenKind:
		if len(n.Values) == 2 {
			k := kind{printable(n.Values[0].Bytes), r.value(n.Values[1])}
			return r.leaf(kindRule, k, k.Name+"("+k.Value+")")
		}
	case testcase.TokenLong:
		if r.shown && len(n.Values) == 3 {
			return r.value(n.Values[0]) + "...(" + r.value(n.Values[1]) + " in all, " + r.value(n.Values[2]) + ")"
		}
	}
	if r.shown {
		return "..."
	}
	return r.untold()
}

func (r *returned) sequence(n testcase.Node) (s sequence) {
	kind := testcase.Token(0)
	s.Alike = true
	for _, v := range n.Values {
		s.Values, s.Names = append(s.Values, r.value(v)), append(s.Names, "")
		switch v.Token {
		case testcase.TokenObject:
			s.Names[len(s.Names)-1] = v.Bytes
		case testcase.TokenText, testcase.TokenInt, testcase.TokenFloat:
			s.Alike = s.Alike && (kind == 0 || kind == v.Token)
			kind = v.Token
		default:
			s.Alike = false
		}
	}
	s.Alike = s.Alike && kind != 0
	return s
}

// mapping is code for a map. One with a key that is not told, or that is cut, is as a whole not told.
func (r *returned) mapping(n testcase.Node) string {
	var pairs []pair
	for i := 0; i < len(n.Values); i += 2 {
		k := n.Values[i]
		if !r.shown && (k.Token == testcase.TokenCut || k.Token == testcase.TokenObject || i+1 == len(n.Values)) {
			return r.untold()
		}
		p := pair{Key: r.value(k), Value: "...", Text: k.Bytes, IsText: k.Token == testcase.TokenText}
		if i+1 < len(n.Values) {
			p.Value = r.value(n.Values[i+1])
		}
		pairs = append(pairs, p)
	}
	return r.must(mapRule, pairs)
}

// integer is the number that b holds in two's complement, little-endian: an int64 where it is one, else a *big.Int.
func integer(b string) any {
	high := make([]byte, len(b))
	for i := range len(b) {
		high[len(b)-1-i] = b[i]
	}
	v := new(big.Int).SetBytes(high)
	if len(high) > 0 && high[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	if v.IsInt64() {
		return v.Int64()
	}
	return v
}
