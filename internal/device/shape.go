package device

import (
	"strconv"
	"unicode/utf8"
)

// A Shape says that the last inputs of a path make one value.
type Shape struct {
	Name   string
	Inputs int // how many: all from the first that the value needed
	Code   []Piece
}

// Piece is a part of the value's source code: its first letter says what the rest is.
type Piece struct {
	Kind byte
	Text string
	Part int
}

// The kinds of pieces.
const (
	PieceText  byte = '=' // code as it is
	PieceInput byte = '@' // the place of an input, a number from 0 among those of the shape
	PieceName  byte = '$' // a name in the test's module, or MODULE:NAME
)

// MaxPieces bounds the code of a shape.
const MaxPieces = 1 << 16

func parseShape(r *Request, f *fields) {
	s := &Shape{Name: f.text("name"), Inputs: f.int("number of inputs")}
	for _, text := range f.list("piece", MaxPieces) {
		p := Piece{}
		if text != "" {
			p.Kind, p.Text = text[0], text[1:]
		}
		switch p.Kind {
		case PieceText, PieceName:
			if !utf8.ValidString(p.Text) {
				f.fail("piece %.40q is not UTF-8", text)
			}
		case PieceInput:
			part, err := strconv.Atoi(p.Text)
			if err != nil || strconv.Itoa(part) != p.Text || part < 0 || part >= s.Inputs {
				f.fail("piece %.40q is none of %d inputs", text, s.Inputs)
			}
			p.Part, p.Text = part, ""
		default:
			f.fail("piece %.40q: need =CODE, @INPUT or $NAME", text)
		}
		s.Code = append(s.Code, p)
	}
	r.Shape = s
}

func formatShape(r *Request) []string {
	var list []string
	for _, p := range r.Shape.Code {
		text := p.Text
		if p.Kind == PieceInput {
			text = strconv.Itoa(p.Part)
		}
		list = append(list, string(p.Kind)+text)
	}
	return append([]string{Quote(r.Shape.Name), strconv.Itoa(r.Shape.Inputs)}, formatList(list)...)
}
