package emit

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"symchef/internal/interp"
	"symchef/internal/testcase"
)

// The rules by which a language writes values, templates of emit/values.tmpl in its folder, and what each is given.
const (
	textRule      = "text"      // a string
	bytesRule     = "bytes"     // []byte
	integerRule   = "integer"   // int64
	realRule      = "real"      // float64, not NaN
	truthRule     = "truth"     // bool
	noneRule      = "none"      // nothing: the value that stands for no value
	tableRule     = "table"     // []named: values by name
	placeRule     = "place"     // place: code for the path of the tested file
	nameRule      = "name"      // testcase.Name: code for what has that name; only languages that tell of shapes with names need it
	shapeRule     = "shape"     // shape: code for a value that is made of others; only languages that tell of shapes need it
	exceptionRule = "exception" // a string, the name of the type of an exception: code for the type; only templates that say {{exception .}} need it
)

// named is a name and a value, which is code.
type named struct{ Name, Value string }

// place is the path of the tested file: from the folder of the emitted one if it is relative.
type place struct {
	Path     string
	Relative bool
}

// writer writes values of a language. The first failure of a rule stays in err.
type writer struct {
	kind  testcase.TargetKind // the language
	rules *template.Template
	files fs.FS // the folder with its templates
	err   error
	// folder is that of the tested file, with a slash; empty: not known.
	folder string
}

func newWriter(d *interp.Desc) (*writer, error) {
	files, err := fs.Sub(d.Folder.Files, "emit")
	if err != nil {
		return nil, err
	}
	w := &writer{kind: testcase.TargetKind(d.Language), files: files}
	w.rules, err = template.New("values").Funcs(vocabulary).Funcs(template.FuncMap{
		"text":      func(v any) (string, error) { return w.apply(textRule, v) },
		"exception": func(v any) (string, error) { return w.apply(exceptionRule, v) },
		"guest":     func(file, after string) (string, error) { return textBehind(d.Folder.Files, "guest/"+file, after) },
	}).ParseFS(files, "values.tmpl")
	return w, err
}

// textBehind is what stands in a file behind the first line that is the one given.
func textBehind(files fs.FS, file, line string) (string, error) {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(text), "\n"+line+"\n")
	if !found {
		return "", fmt.Errorf("%s has no line %q", file, line)
	}
	return rest, nil
}

// apply is what a rule makes of a value.
func (w *writer) apply(rule string, v any) (string, error) {
	var b bytes.Buffer
	err := w.rules.ExecuteTemplate(&b, rule, v)
	return b.String(), err
}

// code is apply; an error is kept.
func (w *writer) code(rule string, v any) string {
	s, err := w.apply(rule, v)
	if w.err == nil {
		w.err = err
	}
	return s
}

// literal is the input's value as an expression. A choice that is not told, or has parts, of which not
// all may be told, is code that takes it from the options, which only the test knows.
func (w *writer) literal(in testcase.Input) (string, error) {
	var rule string
	var v any
	var err error
	switch in.Type {
	case testcase.TypeStr:
		rule = textRule
		v, err = in.Str()
	case testcase.TypeBytes:
		rule = bytesRule
		v, err = in.Bytes()
	case testcase.TypeInt:
		rule = integerRule
		v, err = in.Int()
	case testcase.TypeFloat:
		rule = realRule
		v, err = in.Float()
	case testcase.TypeBool:
		rule = truthRule
		v, err = in.Bool()
	case testcase.TypeChoice:
		var n int
		n, err = in.Choice()
		if code, told := w.returned(in.Chosen); told && err == nil && in.Chosen.Leaf() {
			return code, nil
		}
		rule, v = optionRule, option{n, n + 1}
	case testcase.TypeShape:
		return w.shape(in)
	default:
		return "", fmt.Errorf("input %s: a test of a language has no input of type %s", in.Name, in.Type)
	}
	if err != nil {
		return "", err
	}
	return w.apply(rule, v)
}

// inputs is code for the inputs by name; the second of one name is name#2.
func (w *writer) inputs(inputs []testcase.Input) (string, error) {
	var entries []named
	used := map[string]int{}
	for _, in := range inputs {
		v, err := w.literal(in)
		if err != nil {
			return "", err
		}
		name := in.Name
		if used[in.Name]++; used[in.Name] > 1 {
			name = fmt.Sprintf("%s#%d", name, used[in.Name])
		}
		entries = append(entries, named{name, v})
	}
	return w.apply(tableRule, entries)
}

// locate is code for the path of the tested file.
func (w *writer) locate(emitted, tested string) string {
	rel, ok := relative(emitted, tested)
	if !ok {
		rel = tested
	}
	return w.code(placeRule, place{rel, ok})
}

// vocabulary are the functions that templates have, beside those of text/template.
var vocabulary = template.FuncMap{
	// quote TEXT TAB LOW MIDDLE HIGH is TEXT in double quotes, of printable characters: the others are \n, TAB or written with a
	// format of their number: LOW below 0x100, MIDDLE below 0x10000, else HIGH.
	"quote": quote,
	// quoteBytes BYTES NEWLINE OTHER is BYTES in double quotes, of printable ASCII characters: the others are NEWLINE or written with the format OTHER.
	"quoteBytes": quoteBytes,
	// Whether a text is UTF-8, and its bytes.
	"utf8":   utf8.ValidString,
	"octets": func(s string) []byte { return []byte(s) },
	// Numbers: the shortest digits that are the number, with an exponent where that is shorter; without exponent; hexadecimal digits.
	"shortest": func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) },
	"digits":   func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) },
	"hex":      func(v float64) string { return strconv.FormatFloat(v, 'x', -1, 64) },
	// A number whose exponent is the least there is, and that is not 0; NUMBER times 2 to the power of N.
	"subnormal": func(v float64) bool { return v != 0 && math.Abs(v) < 0x1p-1022 },
	"scaled":    func(v float64, n int) float64 { return math.Ldexp(v, n) },
	"infinite":  func(v float64) bool { return math.IsInf(v, 0) },
	"decimal":   testcase.FloatText, // the shortest digits with a point or an exponent
	"whole":     func(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < 1<<53 },
	// Texts: replace TEXT OLD NEW...; one of the words of a list; a regular expression that matches; any of these characters in it.
	"replace": func(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) },
	"join":    func(list []string) string { return strings.Join(list, ", ") },
	"among":   func(s, words string) bool { return slices.Contains(strings.Fields(words), s) },
	"matches": func(re, s string) (bool, error) { return regexp.MatchString(re, s) },
	"hasAny":  func(s, chars string) bool { return strings.ContainsAny(s, chars) },
}

func quote(s, tab, low, middle, high string) string {
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
		case r == '\t' && !strings.Contains(tab, "%"):
			b.WriteString(tab)
		case r < 0x100:
			fmt.Fprintf(&b, low, r)
		case r < 0x10000:
			fmt.Fprintf(&b, middle, r)
		default:
			fmt.Fprintf(&b, high, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func quoteBytes(v any, newline, other string) string {
	p, isBytes := v.([]byte)
	if !isBytes {
		p = []byte(fmt.Sprint(v))
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range p {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(newline)
		default:
			fmt.Fprintf(&b, other, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// ident is s with what cannot be in a name replaced.
func ident(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, s)
}

// printable is s on one line of printable characters, with quotes and backslashes escaped: fit for a text within quotes, too.
func printable(s string) string {
	q := quote(s, `\t`, `\x%02x`, `\u%04x`, `\U%08x`)
	return q[1 : len(q)-1]
}

// oneLine is s fit for a comment.
func oneLine(s string) string { return strings.ReplaceAll(printable(s), `\"`, `"`) }
