package emit

import (
	"strings"

	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// shape is a value made of parts: its code, and whether there are names in that.
type shape struct {
	Code  string
	Named bool
}

// shape is code for a value that is made of parts.
func (w *writer) shape(in testcase.Input) (string, error) {
	code, named, err := w.pieces(in, "")
	if err != nil {
		return "", err
	}
	return w.apply(shapeRule, shape{code, named})
}

// pieces puts the code of a shape together; form is what is added to the rule of names.
func (w *writer) pieces(in testcase.Input, form string) (code string, named bool, err error) {
	if err := in.Check(); err != nil {
		return "", false, err
	}
	var b strings.Builder
	for _, p := range in.Code {
		text := p.Text
		switch {
		case p.Part != nil:
			text, err = w.literal(in.Parts[*p.Part])
		case p.Name != nil:
			text, err = w.apply(nameRule+form, *p.Name)
			named = true
		}
		if err != nil {
			return "", false, err
		}
		b.WriteString(text)
	}
	return b.String(), named, nil
}

// ShownShape is a shape in the words of the language of kind, for people.
func ShownShape(kind testcase.TargetKind, in testcase.Input) string {
	if d, known := interp.ByName(string(kind)); known {
		if w, err := writerOf(d); err == nil {
			if code, _, err := w.pieces(in, " shown"); err == nil {
				return code
			}
		}
	}
	return in.Name
}
