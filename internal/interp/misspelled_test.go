package interp

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// shown are forms whose words a run shows as they are: the interpreter that was chosen, its arguments and its environment. What
// they mean is the interpreter's affair; it is asked what it is, and a wrong answer is an error. A program that holds a model against the
// interpreter is run with both (internal/probe).
var shown = []string{"candidates", "default", "virtualenv", "ask", "argv", "set", "prepend", "seed", "pass", "modules", "compiled", "program", "arguments", "format", "programs"}

// A word of a description that is misspelled is an error when the description is read or when its interpreter is looked at, or what
// went with it is named. What is found without a word is not another place. Every word, three ways, on every interpreter that is installed.
func TestMisspelled(t *testing.T) {
	files, err := filepath.Glob("../../languages/*/language.desc")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		src := string(b)
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
				how, what := misspelled(d, src[:w.from]+wrong+src[w.to:], w, installed[version], version)
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
func misspelled(d *Desc, src string, w word, path, version string) (how, what string) {
	changed, err := Parse(src)
	if err != nil {
		if c := err.Error()[0]; c < '1' || c > '9' {
			return "", "the error has no place: " + err.Error()
		}
		return "refused", ""
	}
	changed.Folder = d.Folder
	if changed.files() != nil {
		return "refused", ""
	}
	switch {
	case changed.Language != d.Language || !slices.Equal(changed.Suffixes, d.Suffixes):
		return "another language", ""
	case changed.Impl != d.Impl || !slices.Equal(changed.Versions, d.Versions):
		return "another interpreter", ""
	case slices.ContainsFunc(shown, func(f string) bool { return slices.Contains(w.form, f) }):
		if path != "" {
			if _, err := changed.Locate(path, version, ""); err != nil {
				return "not resolved", ""
			}
		}
		return "shown", ""
	case slices.Contains(w.form, "layout"):
		if w.form[len(w.form)-1] == "layout" && changed.Layouts[w.text] == nil && d.Layouts[w.text] != nil {
			return "not found by the guest library", "" // an error of the run: TestNoLayout of internal/explore
		}
		return "", "the layouts are accepted"
	case path == "":
		return "not installed", ""
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
	case seen(img) == seen(right) && (texts(w) || d.locations[0].name == w.text):
		return "means the same", "" // the function has its shape without that text, too; the name of a location that only tells the image
	case seen(img) == seen(right) && strings.HasPrefix(w.text, "lua"):
		return "means the same", "" // one of several names of a function, of which this interpreter has another one
	case seen(img) == seen(right) && w.form[len(w.form)-1] == "string-at":
		return "another text of several is there", ""
	case seen(img) == seen(right):
		return "", "nothing changes, and nobody says so"
	}
	return "", "something else is found"
}

// The words of calibrations, their scripts aside.
func TestMisspelledCalibration(t *testing.T) {
	files, err := filepath.Glob("../../languages/*/calibrate.desc")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		src, n := string(b), 0
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
