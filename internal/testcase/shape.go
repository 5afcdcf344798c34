package testcase

import (
	"encoding/json"
	"errors"
	"fmt"
)

// TypeShape is a value that the guest library has made of other inputs: a list, an object. There is no Value; Parts are these inputs, in the order
// in which they were declared, lengths and alternatives among them. They alone are replayed; Code says what the value is in source code of the language.
//
//	Parts: Choice("len(x)", 2), Int("x[0]", 1), Str("x[1]", "a")
//	Code:  "[", 1, ", ", 2, "]"
const TypeShape InputType = "shape"

// A Piece of code is one of three: text as it is, the place of a part's value, or a name that the emitted file has to find.
type Piece struct {
	Text string
	Part *int  // its index among the parts
	Name *Name // of a class, say
}

// A Name is that of something in a module.
type Name struct {
	Path   string `json:"name"`         // with dots where it is not at the top: Outer.Inner
	Module string `json:"of,omitempty"` // empty: the test's own
}

// MarshalJSON implements json.Marshaler: a string, a number, or an object.
func (p Piece) MarshalJSON() ([]byte, error) {
	switch {
	case p.Part != nil:
		return marshal(*p.Part)
	case p.Name != nil:
		return marshal(p.Name)
	}
	return marshal(p.Text)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Piece) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &p.Text)
	case len(b) > 0 && b[0] == '{':
		p.Name = &Name{}
		return json.Unmarshal(b, p.Name)
	case string(b) == "null":
		return errors.New("null is no piece of code")
	}
	p.Part = new(int)
	return json.Unmarshal(b, p.Part)
}

// Shape is a value that is made of parts.
func Shape(name string, parts []Input, code []Piece) Input {
	return Input{Name: name, Type: TypeShape, Parts: parts, Code: code}
}

// Flat are the inputs as they were declared: in place of a shape its parts.
func Flat(inputs []Input) []Input {
	var out []Input
	for _, in := range inputs {
		if in.Type == TypeShape {
			out = append(out, Flat(in.Parts)...)
		} else {
			out = append(out, in)
		}
	}
	return out
}

// checkShape reports the first broken invariant of a shape.
func (in Input) checkShape() error {
	if len(in.Value) != 0 || in.BytesHex != "" {
		return fmt.Errorf("input %s: a shape has no value, only parts", in.Name)
	}
	for _, p := range in.Parts {
		if p.Type == TypeShape {
			return fmt.Errorf("input %s: a shape is no part of another", in.Name)
		}
		if err := p.Check(); err != nil {
			return fmt.Errorf("input %s: %w", in.Name, err)
		}
	}
	for _, c := range in.Code {
		if c.Part != nil && (*c.Part < 0 || *c.Part >= len(in.Parts) || in.Parts[*c.Part].Type == TypeChoice) {
			return fmt.Errorf("input %s: its code names part %d, which has no value", in.Name, *c.Part)
		}
	}
	return nil
}
