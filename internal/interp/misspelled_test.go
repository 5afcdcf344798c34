package interp

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"symchef/languages"
)

// word is an atom of a description, by its bytes in the source.
type word struct {
	from, to int
	text     string
	form     []string // the heads of the forms around it, from the outside
}

// wordsOf are the symbols and strings of a description. It reads the text by itself, comments aside.
func wordsOf(src string) (out []word) {
	var open []string
	head := false // the next symbol is the head of a form
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == ';':
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case c == '(':
			open, head = append(open, ""), true
		case c == ')':
			open, head = open[:len(open)-1], false
		case c == '"':
			n := strings.IndexByte(src[i+1:], '"')
			out = append(out, word{i + 1, i + 1 + n, src[i+1 : i+1+n], slices.Clone(open)})
			i, head = i+1+n, false
		case c >= 'a' && c <= 'z':
			from := i
			for i < len(src) && strings.IndexByte(" \n\t;()\"", src[i]) < 0 {
				i++
			}
			if head {
				open[len(open)-1], head = src[from:i], false
			}
			out = append(out, word{from, i, src[from:i], slices.Clone(open)})
			i--
		case c == ' ' || c == '\n' || c == '\t':
		default: // a number
			for i+1 < len(src) && strings.IndexByte(" \n\t;()\"", src[i+1]) < 0 {
				i++
			}
			head = false
		}
	}
	return out
}

// misspell changes one character of a word: one in its middle becomes another one that words have, the two first are swapped, the last is left out.
func misspell(w string) []string {
	k := len(w) / 2
	c := byte('q')
	if w[k] == c {
		c = 'z'
	}
	out := []string{w[:k] + string(c) + w[k+1:]}
	if len(w) > 2 {
		out = append(out, w[:len(w)-1])
		if w[0] != w[1] {
			out = append(out, w[1:2]+w[:1]+w[2:])
		}
	}
	return out
}

// seen is everything that an image is to the engine. Locations have no names there.
func seen(img *Image) string {
	layouts := map[string]string{}
	for name, l := range img.Layouts {
		if l == nil {
			continue
		}
		for _, p := range l.parts {
			layouts[name] += fmt.Sprintf("%d %d %d %s\n", p.kind, p.at(), p.size, textOf(p.x))
		}
	}
	return fmt.Sprintf("%+v %+v %v %v", slices.Sorted(maps.Values(img.Locations)), img.Models, img.References, layouts)
}

// textOf is an expression of a layout.
func textOf(x *term) string {
	if x == nil {
		return ""
	}
	out := fmt.Sprintf("(%s %d", x.op, x.num)
	for _, a := range x.args {
		out += " " + textOf(a)
	}
	return out + ")"
}

// free are forms with words that nobody can check, and why: another one means something else, or what it means is seen where it counts.
var free = map[string]string{
	"virtualenv": "what other people's tools call their folders and variables; the program in one is checked",
	"choose":     "variables of other people's tools",
	"installed":  "folders in which doctor looks for more; the programs there are checked",
	"argv":       "the interpreter's own language, but for long options: it does not come to the test with others, which ends the run",
	"set":        "the value; the variable is checked", "prepend": "likewise", "seed": "likewise: values are arbitrary",
	"program": "a program that is run with a model and without; what it is called is its own affair",
	"format":  "the name by which people ask for it; the files are checked", "programs": "likewise",
	"comment": "what lines of source look like, which symchef tree shows. A probe checks it; where there is none, TestSyntaxWords of languages", "condition": "likewise",
	"settings": "a file and a table of the user, who may have none: TestSettings of internal/session",
	"body":     "likewise", "assertion": "likewise", "joint": "likewise",
}

// descriptions are the files of that name in the languages' folders.
func descriptions(t *testing.T, name string) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../languages/*/" + name)
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[file] = string(b)
	}
	return out
}

// A word of a description that is misspelled is an error when the description is read or when its interpreter is looked at, or what
// went with it is named. What is found without a word is not another place. Every word, three ways, on every interpreter that is installed.
func TestMisspelled(t *testing.T) {
	for file, src := range descriptions(t, "language.desc") {
		d, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(file)
		d.Folder = languages.Folder{Name: filepath.Base(dir), Files: os.DirFS(dir)}
		installed := map[string]string{} // by version
		for _, v := range d.Versions {
			for _, path := range []string{d.Default, "/usr/bin/" + d.Language + v} {
				if f, err := d.Find(FindOptions{Test: "/none", Explicit: path, Getenv: environment(nil)}); err == nil && d.version(f.Version) == v {
					installed[v] = f.ELF
				}
			}
		}
		count := map[string]int{}
		version := ""
		for _, w := range wordsOf(src) {
			switch {
			case !slices.Contains(w.form, "version"):
				version = d.Versions[0]
			case w.form[len(w.form)-1] == "version" && slices.Contains(d.Versions, w.text):
				version = w.text
			}
			for _, wrong := range misspell(w.text) {
				how, what := misspelled(d, src[:w.from]+wrong+src[w.to:], w, wrong, installed[version], version)
				if count[how]++; how == "" {
					t.Errorf("%s, %s: %q for %q in %v: %s", file, installed[version], wrong, w.text, w.form, what)
				}
				if texts(w) {
					break // once, for its time
				}
			}
		}
		t.Logf("%s: %v", file, count)
	}
}

// texts: the word is of an instruction.
func texts(w word) bool { return slices.Contains([]string{"shape", "has"}, w.form[len(w.form)-1]) }

// misspelled says how d with one word that is wrong is told from d; "" if it is not.
func misspelled(d *Desc, src string, w word, wrong, path, version string) (how, what string) {
	changed, err := Parse(src)
	if err != nil {
		if c := err.Error()[0]; c < '1' || c > '9' {
			return "", "the error has no place: " + err.Error()
		}
		return "refused", ""
	}
	changed.Folder = d.Folder
	if err := changed.files(); err != nil {
		if c := err.Error()[0]; c < '1' || c > '9' {
			return "", "the error has no place: " + err.Error()
		}
		return "refused", ""
	}
	last := w.form[len(w.form)-1]
	switch {
	case changed.Language != d.Language || !slices.Equal(changed.Suffixes, d.Suffixes):
		return "another language", ""
	case changed.Impl != d.Impl || !slices.Equal(changed.Versions, d.Versions):
		return "another interpreter", ""
	case path == "":
		return "not installed", ""
	case slices.Contains(w.form, "layout"):
		if w.form[len(w.form)-1] == "layout" && changed.Layouts[w.text] == nil && d.Layouts[w.text] != nil {
			return "not found by the guest library", "" // an error of the run: TestNoLayout of internal/explore
		}
		return "", "the layouts are accepted"
	case last == "default": // PATH may have none
		if _, err := changed.Find(FindOptions{Test: "/none", Getenv: func(string) string { return "" }}); err == nil || !strings.Contains(err.Error(), changed.Default) {
			return "", fmt.Sprint(err)
		}
		return "not found where it is used", ""
	case last == "pass" && w.text == wrong+"*":
		return "free", "" // one variable, not all that begin so
	case slices.Contains([]string{"ask", "arguments"}, last) && len(w.text) == 2 && w.text[0] == '-':
		return "free", "" // another option
	case last == "ask" || last == "say":
		if _, err := changed.Find(FindOptions{Test: "/none", Explicit: path, Getenv: environment(nil)}); err == nil {
			return "", "it answers"
		}
		return "no answer", ""
	}
	right, err := d.Locate(path, version, "")
	if err != nil {
		return "", err.Error()
	}
	img, err := changed.Locate(path, version, "")
	switch {
	case err != nil:
		return "not resolved", ""
	case len(img.Without) > len(right.Without):
		return "named", ""
	case !slices.Equal(img.Unexported, right.Unexported):
		return "named", ""
	case last == "pass" && !slices.Equal(changed.Unread(img), d.Unread(right)):
		return "named", ""
	case free[last] != "":
		return "free", ""
	case seen(img) == seen(right) && (texts(w) || d.locations[0].name == w.text):
		return "means the same", "" // the function has its shape without that text, too; the name of a location that only tells the image
	case seen(img) == seen(right):
		return "", "nothing changes, and nobody says so"
	}
	return "", "something else is found"
}

// The words of calibrations, their scripts aside.
func TestMisspelledCalibration(t *testing.T) {
	for file, src := range descriptions(t, "calibrate.desc") {
		n := 0
		for _, w := range wordsOf(src) {
			last := w.form[len(w.form)-1]
			// Names that only people read, and words of the interpreted language, its command line and file names.
			if src[w.from-1] == '"' || w.text != last && (last == "calibration" || last == "code") {
				continue
			}
			for _, wrong := range misspell(w.text) {
				if _, err := ParseCalibration(src[:w.from] + wrong + src[w.to:]); err == nil {
					t.Errorf("%s: %q for %q in %v is accepted", file, wrong, w.text, w.form)
				}
				n++
			}
		}
		t.Logf("%s: %d refused", file, n)
	}
}

func TestInstead(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"locaton", "did you mean location? there is layout, location"}, {"loaction", "did you mean location? there is layout, location"},
		{"x", "there is layout, location"}, {"", "there is layout, location"},
	} {
		if got := instead(c.word, []string{"location", "layout"}); got != c.want {
			t.Errorf("%q: %s", c.word, got)
		}
	}
}

// Names of programs are held against the calibration beside the description and its versions; a program of another name would be taken, or none, in silence.
func TestProgramNames(t *testing.T) {
	const calibration = `(calibration x (interpreters "ex" "exjit") (argv script) (script "a"))`
	files := fstest.MapFS{languages.Calibration: {Data: []byte(calibration)}, "guest/x": {Data: []byte{}}}
	for _, c := range []struct{ rows, want string }{
		{`(candidates "ex3.9" "ex3" "exjit" "ex") (default "/usr/bin/ex")`, ""},
		{`(candidates "ex3.11") (default "/opt/ex3.11") (installed "a" "$PATH/ex" "$PATH/ex3.?" "/opt/*/bin/ex3.??") (virtualenv "V" "m" "bin/ex" "v")`, ""},
		{`(candidates "ex3.7") (default "/usr/bin/ex3.7")`, `1:41: no interpreter of the calibration with a version of this description is called "ex3.7"`},
		{`(candidates "ex3.") (default "/usr/bin/ex3.")`, `called "ex3."`},
		{`(candidates "xe") (default "/usr/bin/xe")`, `called "xe": did you mean ex?`},
		{`(candidates "ex" "ex") (default "/usr/bin/ex")`, `1:46: second "ex"`},
		{`(candidates "ex") (default "/usr/bin/exx")`, `1:56: need the absolute path of a candidate: did you mean ex?`},
		{`(candidates "ex") (default "ex")`, "need the absolute path"},
		{`(candidates "ex") (default "/usr/bin/ex") (installed "a" "$PATH/ax")`, `called "ax"`},
		{`(candidates "ex") (default "/usr/bin/ex") (installed "a" "$PATH/ex2.?")`, `called "ex2.?"`},
		{`(candidates "ex") (default "/usr/bin/ex") (virtualenv "V" "m" "bin/xe" "v")`, `called "xe"`},
		{`(candidates "ex") (default "/usr/bin/ex") (pass "A" "B" "A")`, `second "A"`},
		{`(candidates "ex") (default "/usr/bin/ex") (model deferred-identity (load "a" "b"))`, `need (load "FUNCTION" (version V "FUNCTION")...)`},
		{`(candidates "ex") (default "/usr/bin/ex") (model deferred-identity (load "a" (version "3.8+" "a")))`, `has the same name`},
	} {
		d, err := Parse(`(language x (suffixes ".x") ` + c.rows + ` (implementation "x" "3.8+") (ask "v") (argv test))`)
		if err == nil {
			d.Folder = languages.Folder{Name: "x", Files: files}
			err = d.files()
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", c.rows, err, c.want)
		}
	}
}
