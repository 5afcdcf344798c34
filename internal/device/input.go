package device

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"
)

// TreeVersion is the version of the typed tree below. Version 1 declares flat
// types only: a scalar, a sequence of 8-bit scalars, or a choice.
const TreeVersion = 1

// MaxSeqLen bounds the elements of one sequence; ours, so that a mistaken size is
// an error of the test and not of memory.
const MaxSeqLen = 1 << 20

// MaxChoices bounds the alternatives of one choice, for the same reason.
const MaxChoices = 1 << 16

// Kind is how the guest named an input's type; it decides how values are written
// in test cases. The wire words are those of the protocol's `input` request.
type Kind uint8

// The kinds of input.
const (
	KindStr Kind = iota + 1
	KindBytes
	KindInt
	KindBool
	KindChoice
	KindFloat
)

var kindNames = [...]string{KindStr: "str", KindBytes: "bytes", KindInt: "int", KindBool: "bool", KindChoice: "choice", KindFloat: "float"}

// String is the wire word.
func (k Kind) String() string {
	if k < KindStr || k > KindFloat {
		return "invalid"
	}
	return kindNames[k]
}

// ParseKind is the inverse of String.
func ParseKind(s string) (Kind, bool) {
	for k := KindStr; k <= KindFloat; k++ {
		if kindNames[k] == s {
			return k, true
		}
	}
	return 0, false
}

// Kinds lists all kinds.
func Kinds() (out []Kind) {
	for k := KindStr; k <= KindFloat; k++ {
		out = append(out, k)
	}
	return out
}

// Type is a node of the typed tree: Scalar, Real, Sequence, Record or Choice.
type Type interface {
	// Validate checks the node's invariants and those below it.
	Validate() error
	isType()
}

// Scalar is a two's-complement integer of Width bits within [Min, Max].
//
// Invariant: 1 <= Width <= 64; Min <= Max; both representable in Width bits,
// as signed when Signed, as unsigned otherwise (then Min >= 0, and Width < 64).
type Scalar struct {
	Width    uint
	Signed   bool
	Min, Max int64
}

// Real is an IEEE double within [Min, Max], where -0 is less than 0; it is a number.
//
// Invariant: Min <= Max in that order, neither is NaN; they may be infinite.
type Real struct{ Min, Max float64 }

// Sequence is MinLen to MaxLen elements of one type. The length is concrete on a
// path: one fork per length.
//
// Invariant: 0 <= MinLen <= MaxLen <= MaxSeqLen; Elem is valid.
type Sequence struct {
	Elem           Type
	MinLen, MaxLen int
}

// Field is a named part of a Record.
type Field struct {
	Name string // not empty, unique in the record
	Type Type
}

// Record is fields in order. Not offered to guests in version 1.
//
// Invariant: at least one field, names unique and not empty, types valid.
type Record struct{ Fields []Field }

// Choice is an index below len(Alternatives), and the value of the alternative
// chosen; nil stands for an alternative without a value of its own. The index is
// concrete on a path: one fork per alternative.
//
// Invariant: 1 <= len(Alternatives) <= MaxChoices; those not nil are valid.
type Choice struct{ Alternatives []Type }

func (Scalar) isType()   {}
func (Real) isType()     {}
func (Sequence) isType() {}
func (Record) isType()   {}
func (Choice) isType()   {}

// Validate implements Type.
func (s Scalar) Validate() error {
	if s.Width < 1 || s.Width > 64 {
		return fmt.Errorf("scalar width %d is not within 1..64", s.Width)
	}
	if s.Min > s.Max {
		return fmt.Errorf("minimum %d is above maximum %d", s.Min, s.Max)
	}
	if !s.Signed {
		if s.Width == 64 {
			return fmt.Errorf("unsigned scalars have fewer than 64 bits")
		}
		if s.Min < 0 || uint64(s.Max)>>s.Width != 0 {
			return fmt.Errorf("[%d, %d] does not fit unsigned %d bits", s.Min, s.Max, s.Width)
		}
		return nil
	}
	if lo := int64(-1) << (s.Width - 1); s.Min < lo || s.Max > ^lo {
		return fmt.Errorf("[%d, %d] does not fit signed %d bits", s.Min, s.Max, s.Width)
	}
	return nil
}

// Order maps the doubles that are numbers, in their order, to signed integers: -0 to -1, 0 to 0.
func Order(v float64) int64 {
	b := int64(math.Float64bits(v))
	return b ^ b>>63&math.MaxInt64
}

// Validate implements Type.
func (r Real) Validate() error {
	if math.IsNaN(r.Min) || math.IsNaN(r.Max) || Order(r.Min) > Order(r.Max) {
		return fmt.Errorf("minimum %v is above maximum %v, or one is no number", r.Min, r.Max)
	}
	return nil
}

// Validate implements Type.
func (s Sequence) Validate() error {
	if s.MinLen < 0 || s.MinLen > s.MaxLen || s.MaxLen > MaxSeqLen {
		return fmt.Errorf("lengths %d..%d: need 0 <= least <= most <= %d", s.MinLen, s.MaxLen, MaxSeqLen)
	}
	if s.Elem == nil {
		return fmt.Errorf("sequence without an element type")
	}
	return s.Elem.Validate()
}

// Validate implements Type.
func (r Record) Validate() error {
	if len(r.Fields) == 0 {
		return fmt.Errorf("record without fields")
	}
	seen := map[string]bool{}
	for _, f := range r.Fields {
		if f.Name == "" || seen[f.Name] {
			return fmt.Errorf("record field %q: names are unique and not empty", f.Name)
		}
		seen[f.Name] = true
		if f.Type == nil {
			return fmt.Errorf("record field %q has no type", f.Name)
		}
		if err := f.Type.Validate(); err != nil {
			return fmt.Errorf("record field %q: %w", f.Name, err)
		}
	}
	return nil
}

// Validate implements Type.
func (c Choice) Validate() error {
	if len(c.Alternatives) < 1 || len(c.Alternatives) > MaxChoices {
		return fmt.Errorf("choice of %d: need 1..%d", len(c.Alternatives), MaxChoices)
	}
	for i, t := range c.Alternatives {
		if t == nil {
			continue
		}
		if err := t.Validate(); err != nil {
			return fmt.Errorf("alternative %d: %w", i, err)
		}
	}
	return nil
}

// Input is one declared input.
//
// Invariant (Validate): Name is not empty, UTF-8; Type is the tree that Kind
// stands for (TypeOf shows the five shapes) and valid; the default is a value
// of it.
type Input struct {
	// ID is the input's number in declaration order on its path, from 0; the
	// engine assigns it (Parse leaves 0).
	ID   int
	Name string
	Kind Kind
	Type Type
	// DefaultBytes is the default of a str (UTF-8) or bytes input; nil otherwise.
	DefaultBytes []byte
	// DefaultInt is the default of an int or bool input, the index of a choice.
	DefaultInt int64
	// DefaultFloat is the default of a float input.
	DefaultFloat float64
	// ASCII: the elements of a str are below 0x80. Else the str is any text,
	// which engines may refuse.
	ASCII bool
	// NoNUL: an ASCII str has no element 0, which ends a string in some languages.
	NoNUL bool
}

// StrType is the tree of a str input; elements are bytes when ascii, else code points, and not 0 when noNUL.
func StrType(minLen, maxLen int, ascii, noNUL bool) Type {
	elem := Scalar{Width: 8, Max: 0x7f}
	if noNUL {
		elem.Min = 1
	}
	if !ascii {
		elem = Scalar{Width: 32, Max: utf8.MaxRune}
	}
	return Sequence{Elem: elem, MinLen: minLen, MaxLen: maxLen}
}

// BytesType is the tree of a bytes input.
func BytesType(minLen, maxLen int) Type {
	return Sequence{Elem: Scalar{Width: 8, Max: 0xff}, MinLen: minLen, MaxLen: maxLen}
}

// IntType is the tree of an int input.
func IntType(lo, hi int64) Type { return Scalar{Width: 64, Signed: true, Min: lo, Max: hi} }

// BoolType is the tree of a bool input.
func BoolType() Type { return Scalar{Width: 1, Max: 1} }

// ChoiceType is the tree of a choice among n.
func ChoiceType(n int) Type { return Choice{Alternatives: make([]Type, n)} }

// Lengths returns the least and most elements of a sequence input; 0, 0 for others.
func (in *Input) Lengths() (least, most int) {
	if s, ok := in.Type.(Sequence); ok {
		return s.MinLen, s.MaxLen
	}
	return 0, 0
}

// Reals returns the bounds of a float input.
func (in *Input) Reals() (lo, hi float64) {
	r, _ := in.Type.(Real)
	return r.Min, r.Max
}

// Range returns the bounds of an int or bool input, or 0..N-1 of a choice; 0, 0 for others.
func (in *Input) Range() (lo, hi int64) {
	switch t := in.Type.(type) {
	case Scalar:
		return t.Min, t.Max
	case Choice:
		return 0, int64(len(t.Alternatives)) - 1
	}
	return 0, 0
}

// Validate checks the invariants at the type.
func (in *Input) Validate() error {
	if in.Name == "" || !utf8.ValidString(in.Name) {
		return fmt.Errorf("an input's name is UTF-8 and not empty")
	}
	if err := in.validate(); err != nil {
		return fmt.Errorf("input %s: %w", in.Name, err)
	}
	return nil
}

func (in *Input) validate() error {
	if in.Type == nil {
		return fmt.Errorf("no type")
	}
	if err := in.Type.Validate(); err != nil {
		return err
	}
	rule, ok := inputRules[in.Kind]
	if !ok {
		return fmt.Errorf("unknown kind")
	}
	if !rule.typed(in) {
		return fmt.Errorf("the type tree is not that of %s", in.Kind)
	}
	return rule.check(in)
}

// inputRule is what holds for the inputs of a kind.
type inputRule struct {
	typed func(in *Input) bool  // the type tree says what the other fields say
	check func(in *Input) error // the default is one of the values
}

var inputRules = map[Kind]inputRule{
	KindStr: {func(in *Input) bool {
		least, most := in.Lengths()
		return in.Type == StrType(least, most, in.ASCII, in.NoNUL)
	}, (*Input).checkText},
	KindBytes: {func(in *Input) bool {
		least, most := in.Lengths()
		return in.Type == BytesType(least, most)
	}, func(in *Input) error { return in.checkLength(len(in.DefaultBytes)) }},
	KindInt:    {func(in *Input) bool { return in.Type == IntType(in.Range()) }, (*Input).checkInt},
	KindBool:   {func(in *Input) bool { return in.Type == BoolType() }, (*Input).checkInt},
	KindFloat:  {func(in *Input) bool { lo, hi := in.Reals(); return in.Type == Real{lo, hi} }, (*Input).checkFloat},
	KindChoice: {func(in *Input) bool { _, ok := in.Type.(Choice); return ok }, (*Input).checkChoice},
}

func (in *Input) checkText() error {
	n := utf8.RuneCount(in.DefaultBytes)
	switch {
	case !utf8.Valid(in.DefaultBytes):
		return fmt.Errorf("the default is not UTF-8")
	case in.ASCII && n != len(in.DefaultBytes):
		return fmt.Errorf("the default is not ASCII")
	case in.NoNUL && bytes.IndexByte(in.DefaultBytes, 0) >= 0:
		return fmt.Errorf("the default has a NUL")
	}
	return in.checkLength(n)
}

func (in *Input) checkLength(n int) error {
	if least, most := in.Lengths(); n < least || n > most {
		return fmt.Errorf("the default's length %d is not within %d..%d", n, least, most)
	}
	return nil
}

func (in *Input) checkInt() error {
	if lo, hi := in.Range(); in.DefaultInt < lo || in.DefaultInt > hi {
		return fmt.Errorf("the default %d is not within %d..%d", in.DefaultInt, lo, hi)
	}
	return nil
}

func (in *Input) checkFloat() error {
	lo, hi := in.Reals()
	if v := in.DefaultFloat; math.IsNaN(v) || Order(v) < Order(lo) || Order(v) > Order(hi) {
		return fmt.Errorf("the default %v is not within %v..%v", v, lo, hi)
	}
	return in.checkInt()
}

func (in *Input) checkChoice() error {
	for _, t := range in.Type.(Choice).Alternatives {
		if t != nil {
			return fmt.Errorf("choices have no values of their own in version %d", TreeVersion)
		}
	}
	return in.checkInt()
}
