package emit

import (
	"encoding/binary"
	"math"
	"math/big"
	"sync"
	"unicode/utf8"

	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// How a language writes what a test returned (testcase.Value), more rules of emit/values.tmpl. A language without the first has its values written as
// Value.String does, whose notation is Python's. A rule may have a second one for people, called NAME shown, where its code is hard to read.
const (
	listRule   = "list"   // sequence
	tupleRule  = "tuple"  // sequence
	mapRule    = "map"    // []pair
	setRule    = "set"    // sequence
	objectRule = "object" // a string: what an object is called
	nanRule    = "nan"    // uint32, the low half of a double that is no number
	octetsRule = "octets" // a string that is not UTF-8
	untoldRule = "untold" // nothing: code for a value that is not told, or that no rule is for
	optionRule = "option" // option: code for a choice that has no other; inputs need it
)

// sequence are the elements of a structure, code each; Names are those of the objects among them. Alike: all are leaves of one kind, but for objects.
type sequence struct {
	Values, Names []string
	Alike         bool
}

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
		return v.Literal()
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
