package emit

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var rLanguage = &language{
	kind:    "r",
	name:    "an R",
	text:    rString,
	bytes:   rBytes,
	integer: func(v int64) string { return strconv.FormatInt(v, 10) + "L" },
	real:    rReal,
	truth:   func(v bool) string { return strings.ToUpper(strconv.FormatBool(v)) },
	none:    "NULL", locate: rLocate,
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

func rBytes(p []byte) string {
	var codes []string
	for _, c := range p {
		codes = append(codes, fmt.Sprintf("0x%02x", c))
	}
	return "as.raw(c(" + strings.Join(codes, ", ") + "))"
}

// rReal is v as R reads it to the last bit, which it does not do with decimal digits.
func rReal(v float64) string {
	switch {
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strconv.FormatFloat(v, 'f', -1, 64), "+")
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'x', -1, 64)
}

// rString is s as an R literal of printable characters. R refuses octal and Unicode escapes in one literal.
func rString(s string) string {
	return quoted(s, func(r rune) string {
		if r < 0x10000 {
			return fmt.Sprintf(`\u%04x`, r)
		}
		return fmt.Sprintf(`\U%08x`, r)
	})
}

// rLocate is R code for the path of the tested file; testthat runs a file in its own folder.
func rLocate(emitted, tested string) string {
	if rel, ok := relative(emitted, tested); ok {
		return rString(filepath.ToSlash(rel))
	}
	return rString(tested)
}
