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

var lua = &language{
	kind:    "lua",
	name:    "a Lua",
	text:    luaString,
	bytes:   func(p []byte) string { return luaString(string(p)) },
	integer: luaInteger,
	real:    luaReal,
	truth:   strconv.FormatBool,
	none:    "nil", locate: luaLocate,
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

func luaInteger(v int64) string {
	if v == math.MinInt64 { // its digits alone are no integer
		return "math.mininteger"
	}
	return strconv.FormatInt(v, 10)
}

func luaReal(v float64) string {
	switch text := strconv.FormatFloat(v, 'g', -1, 64); {
	case math.IsInf(v, 0):
		return strings.ReplaceAll(strings.TrimPrefix(text, "+"), "Inf", "math.huge")
	case strings.ContainsAny(text, ".e"):
		return text
	default:
		return text + ".0"
	}
}

// luaString is the bytes of s as a literal of printable ASCII characters.
func luaString(s string) string {
	return quotedBytes([]byte(s), func(c byte) string {
		if c == '\n' {
			return `\n`
		}
		return fmt.Sprintf(`\%03d`, c)
	})
}

// luaLocate is Lua code for the path of the tested file.
func luaLocate(emitted, tested string) string {
	if rel, ok := relative(emitted, tested); ok {
		return `(debug.getinfo(1, "S").source:match("^@(.*/)") or "") .. ` + luaString(filepath.ToSlash(rel))
	}
	return luaString(tested)
}
