package emit

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"symchef/internal/testcase"
)

// The names of cases tell what happens: raises_ValueError_no_digit, returns_None_for_aaa, exits_3_for_x. They are names in every language,
// differ without regard to case, and depend on the test cases alone.

// longestName bounds a name, in characters.
const longestName = 60

// ordered are tests with a name each, findings first and the smaller inputs before the larger. A name says what a test returned where w, unless it is nil, has code for that.
func ordered(tests []testcase.Test, w *writer) (sorted []testcase.Test, names []string) {
	sorted = slices.Clone(tests)
	slices.SortStableFunc(sorted, func(a, b testcase.Test) int {
		return cmp.Or(
			order(a.Outcome)-order(b.Outcome), strings.Compare(string(a.Outcome.Type), string(b.Outcome.Type)),
			len(inputText(a))-len(inputText(b)), strings.Compare(inputText(a), inputText(b)),
		)
	})
	used := map[string]bool{}
	for _, t := range sorted {
		base := nameOf(t, w)
		name := base
		for n := 2; used[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		used[strings.ToLower(name)] = true
		names = append(names, name)
	}
	return sorted, names
}

// order is that of outcomes in a file.
func order(o testcase.Outcome) int {
	return slices.Index([]testcase.Kind{testcase.Crash, testcase.Assertion, testcase.Exception, testcase.Hang, testcase.OK, testcase.Expected, testcase.Exit, testcase.Unsupported}, o.Kind)
}

// nameOf is the name that the outcome and the inputs of t suggest; w as for ordered.
func nameOf(t testcase.Test, w *writer) string {
	o := t.Outcome
	if n := len(t.Frames); n > 0 { // the place, with which some languages begin a message, is where the file is
		for at := t.Frames[n-1]; at != ""; at = at[:max(0, strings.LastIndexByte(at, ':'))] {
			for strings.HasPrefix(o.Message, at+": ") { // an error that is passed on may have it twice
				o.Message = o.Message[len(at)+2:]
			}
		}
	}
	kind := string(o.Type)
	if i := strings.LastIndexByte(kind, '.'); i >= 0 && i < len(kind)-1 {
		kind = kind[i+1:]
	}
	var parts []string
	for _, text := range inputTexts(t) { // each by itself, not a sentence
		parts = append(parts, slug(text))
	}
	inputs := strings.Join(parts, "_")
	switch o.Kind {
	case testcase.OK:
		parts = []string{"passes_for", inputs}
		if r := w.shown(t.Returned); slug(r) != "" {
			parts = []string{"returns", r, "for", inputs}
		}
	case testcase.Expected:
		parts = []string{"expects", kind, "for", inputs}
	case testcase.Exit:
		parts = []string{fmt.Sprint("exits_", o.ExitStatus, "_for"), inputs}
	case testcase.Crash:
		parts = []string{"crashes", o.Signal, "for", inputs}
	case testcase.Hang:
		parts = []string{"hangs_for", inputs}
	default:
		parts = []string{"raises", cmp.Or(kind, o.Signal), string(o.Message)}
		if slug(string(o.Message)) == "" {
			parts = append(parts, "for", inputs)
		}
	}
	for i, p := range parts {
		parts[i] = slug(p)
	}
	name := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "_")
	if len(name) > longestName {
		name = strings.TrimRight(name[:longestName], "_")
	}
	return strings.TrimSuffix(name, "_for")
}

// inputText is what the inputs of t look like.
func inputText(t testcase.Test) string { return strings.Join(inputTexts(t), " ") }

func inputTexts(t testcase.Test) (parts []string) {
	for _, in := range t.Inputs {
		v := strings.Trim(string(in.Value), `"`) // a number, or a truth
		if b, _ := in.Bytes(); len(b) > 0 || in.Type == testcase.TypeStr {
			v = strings.TrimRight(string(b), "\x00")
		}
		if in.Label != "" {
			v = in.Label
		}
		parts = append(parts, v)
	}
	return parts
}

// shown is v for people where w, unless it is nil, has code for it.
func (w *writer) shown(v testcase.Value) string {
	if w == nil {
		return v.String()
	}
	if _, told := w.returned(v); !told {
		return ""
	}
	return Shown(w.kind, v)
}

// words are characters whose absence would make names alike.
var words = strings.NewReplacer("@", " at ", "+", " plus ", "-", " minus ", "*", " star ", "=", " equals ", "<", " less ", ">", " greater ", "%", " percent ", "&", " and ", "#", " hash ",
	"$", " dollar ", "!", " bang ", "?", " question ", "/", " slash ", `\`, " backslash ", ".", " dot ", ",", " comma ", ":", " colon ", ";", " semicolon ")

// minus is the sign of a number.
var minus = regexp.MustCompile(`(^|[^\pL\pN])-([0-9])`)

// slug is s in letters, digits and underscores.
func slug(s string) string {
	if len(s) > longestName {
		s = s[:longestName]
	}
	s = minus.ReplaceAllString(s, "${1}minus $2")
	if !strings.ContainsFunc(s, func(r rune) bool { return r == ' ' }) { // no sentence
		s = words.Replace(s)
	}
	return strings.Join(strings.FieldsFunc(ident(s), func(r rune) bool { return r == '_' }), "_")
}
