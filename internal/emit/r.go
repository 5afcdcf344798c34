package emit

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"symchef/internal/testcase"
)

var rLanguage = &language{
	kind:    "r",
	literal: rLiteral, text: rString, none: "NULL", locate: rLocate,
	table: func(rows []string) string { return "list(" + strings.Join(rows, ", ") + ")" },
	entry: func(name, value string) string {
		if rName.MatchString(name) && !slices.Contains(rReserved, name) {
			return name + " = " + value
		}
		return rString(name) + " = " + value
	},
}

var (
	rName     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.]*$`)
	rReserved = strings.Fields("if else repeat while function for next break in TRUE FALSE NULL Inf NaN NA NA_integer_ NA_real_ NA_character_ NA_complex_")
)

// rLiteral is the input's value as an R expression. A choice is its index, from 0: only the test knows the options.
func rLiteral(in testcase.Input) (string, error) {
	switch in.Type {
	case testcase.TypeStr:
		s, err := in.Str()
		return rString(s), err
	case testcase.TypeBytes:
		b, err := in.Bytes()
		var codes []string
		for _, c := range b {
			codes = append(codes, fmt.Sprintf("0x%02x", c))
		}
		return "as.raw(c(" + strings.Join(codes, ", ") + "))", err
	case testcase.TypeInt:
		v, err := in.Int()
		return strconv.FormatInt(v, 10) + "L", err
	case testcase.TypeFloat:
		v, err := in.Float()
		switch {
		case math.IsInf(v, 0):
			return strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+"), err
		case v == math.Trunc(v) && math.Abs(v) < 1<<53:
			return strconv.FormatFloat(v, 'f', -1, 64), err
		}
		return strconv.FormatFloat(v, 'x', -1, 64), err // R does not read decimal digits to the last bit
	case testcase.TypeBool:
		v, err := in.Bool()
		return strings.ToUpper(strconv.FormatBool(v)), err
	case testcase.TypeChoice:
		v, err := in.Choice()
		return strconv.Itoa(v) + "L", err
	}
	return "", fmt.Errorf("input %s: an R test has no input of type %s", in.Name, in.Type)
}

// rString is s as an R literal of printable characters. R refuses octal and Unicode escapes in one literal.
func rString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// rLocate is R code for the path of the tested file; testthat runs a file in its own folder.
func rLocate(emitted, tested string) string {
	if rel, ok := relative(emitted, tested); ok {
		return rString(filepath.ToSlash(rel))
	}
	return rString(tested)
}
