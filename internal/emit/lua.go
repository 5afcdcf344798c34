package emit

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"symchef/internal/testcase"
)

var lua = &language{
	kind:    "lua",
	literal: luaLiteral, text: luaString, none: "nil", locate: luaLocate,
	table: func(rows []string) string { return "{ " + strings.Join(rows, ", ") + " }" },
	entry: func(name, value string) string {
		if luaName.MatchString(name) && !slices.Contains(luaReserved, name) {
			return name + " = " + value
		}
		return "[" + luaString(name) + "] = " + value
	},
}

var (
	luaName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	luaReserved = strings.Fields("and break do else elseif end false for function goto if in local nil not or repeat return then true until while")
)

// luaLiteral is the input's value as a Lua expression. A choice is its index, from 0: only the test knows the options.
func luaLiteral(in testcase.Input) (string, error) {
	switch in.Type {
	case testcase.TypeStr, testcase.TypeBytes:
		b, err := in.Bytes()
		return luaString(string(b)), err
	case testcase.TypeInt:
		v, err := in.Int()
		if v == math.MinInt64 { // its digits alone are no integer
			return "math.mininteger", err
		}
		return strconv.FormatInt(v, 10), err
	case testcase.TypeFloat:
		v, err := in.Float()
		switch text := strconv.FormatFloat(v, 'g', -1, 64); {
		case math.IsInf(v, 0):
			return strings.ReplaceAll(strings.TrimPrefix(text, "+"), "Inf", "math.huge"), err
		case strings.ContainsAny(text, ".e"):
			return text, err
		default:
			return text + ".0", err
		}
	case testcase.TypeBool:
		v, err := in.Bool()
		return strconv.FormatBool(v), err
	case testcase.TypeChoice:
		v, err := in.Choice()
		return strconv.Itoa(v), err
	}
	return "", fmt.Errorf("input %s: a Lua test has no input of type %s", in.Name, in.Type)
}

// luaString is the bytes of s as a literal of printable ASCII characters.
func luaString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\%03d`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// luaLocate is Lua code for the path of the tested file.
func luaLocate(emitted, tested string) string {
	if rel, ok := relative(emitted, tested); ok {
		return `(debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. ` + luaString(filepath.ToSlash(rel))
	}
	return luaString(tested)
}
