package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var python = &language{
	kind:    "python",
	name:    "a Python",
	text:    pyString,
	bytes:   pyBytes,
	integer: func(v int64) string { return strconv.FormatInt(v, 10) },
	real:    func(v float64) string { return "float(" + pyString(strconv.FormatFloat(v, 'g', -1, 64)) + ")" },
	truth:   func(v bool) string { return map[bool]string{true: "True", false: "False"}[v] },
	none:    "None", locate: pyLocate,
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

// pyString is s as a Python str literal of printable characters.
func pyString(s string) string {
	return quoted(s, func(r rune) string {
		switch {
		case r == '\t':
			return `\t`
		case r < 0x100:
			return fmt.Sprintf(`\x%02x`, r)
		case r < 0x10000:
			return fmt.Sprintf(`\u%04x`, r)
		}
		return fmt.Sprintf(`\U%08x`, r)
	})
}

// pyBytes is p as a Python bytes literal.
func pyBytes(p []byte) string {
	return "b" + quotedBytes(p, func(c byte) string { return fmt.Sprintf(`\x%02x`, c) })
}

// builtins are the exceptions of Python whose names need no module.
var builtins = strings.Fields("ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError EncodingWarning Exception ExceptionGroup FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError")

// pyRaises is code for the type of an exception.
func pyRaises(name string) string {
	switch {
	case name == "KeyboardInterrupt": // see _check
		return "AssertionError"
	case slices.Contains(builtins, name):
		return name
	}
	return "_Raises(" + pyString(name) + ", (Exception,), {})"
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
