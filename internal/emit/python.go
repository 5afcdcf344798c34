package emit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"symchef/internal/testcase"
)

var python = &language{
	kind:    "python",
	literal: pyLiteral, text: pyString, none: "None", locate: pyLocate,
	table: func(rows []string) string { return "{" + strings.Join(rows, ", ") + "}" },
	entry: func(name, value string) string { return pyString(name) + ": " + value },
}

// pyLocate is Python code for the path of the tested file.
func pyLocate(emitted, tested string) string {
	if rel, ok := relative(emitted, tested); ok {
		return "os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), " + pyString(rel) + "))"
	}
	return "os.path.abspath(" + pyString(tested) + ")"
}

// pyLiteral is the input's value as a Python literal. A choice is its index:
// only the test knows the options.
func pyLiteral(in testcase.Input) (string, error) {
	switch in.Type {
	case testcase.TypeStr:
		s, err := in.Str()
		return pyString(s), err
	case testcase.TypeBytes:
		b, err := in.Bytes()
		return pyBytes(b), err
	case testcase.TypeInt:
		v, err := in.Int()
		return strconv.FormatInt(v, 10), err
	case testcase.TypeFloat:
		v, err := in.Float()
		return "float(" + pyString(strconv.FormatFloat(v, 'g', -1, 64)) + ")", err
	case testcase.TypeBool:
		v, err := in.Bool()
		if v {
			return "True", err
		}
		return "False", err
	case testcase.TypeChoice:
		v, err := in.Choice()
		return strconv.Itoa(v), err
	}
	return "", fmt.Errorf("input %s: a Python test has no input of type %s", in.Name, in.Type)
}

// pyString is s as a Python str literal of printable characters.
func pyString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// pyBytes is p as a Python bytes literal.
func pyBytes(p []byte) string {
	var b strings.Builder
	b.WriteString(`b"`)
	for _, c := range p {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// ident is s with what cannot be in a Python name replaced.
func ident(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, s)
}

// oneLine is s fit for a comment.
func oneLine(s string) string {
	q := pyString(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// docstring is s fit for a text within triple quotes.
func docstring(s string) string {
	q := pyString(s)
	return q[1 : len(q)-1]
}
