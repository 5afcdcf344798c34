package symchef_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"symchef/internal/interp"
)

// named are folders whose Go files may name languages and interpreters, with the reason.
var named = map[string]string{
	"languages":            "the folders of the languages, and what reads them",
	"internal/conformance": "runs the test suites that come with interpreters, each by its name",
}

// example is where a comment may name a language: "(as in Lua 5.1)". What it explains must make sense without it.
var example = regexp.MustCompile(`\(as in [^()]*\)`)

// words are names of files, variables and the like, in small letters.
var words = regexp.MustCompile(`[a-z0-9_.-]*[a-z0-9_]`)

// TestLanguagesAreFolders fails where a Go file names a language, one of its interpreters, a format or a suffix of its files, in code, a text
// or a comment, outside of the folders above: what is particular to a language stands in its folder, as data. What is looked for are the names that the
// folders have, so a language that is added is looked for, too. Comments may name one as an example, see above; tests may name any.
func TestLanguagesAreFolders(t *testing.T) {
	n := namesOfLanguages()
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for dir := range named {
			if strings.HasPrefix(filepath.ToSlash(path), dir+"/") {
				return nil
			}
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, found := range n.in(f) {
			t.Errorf("%v: %s names %s", set.Position(found.at), found.what, found.name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 200 {
		t.Errorf("only %d files were looked at", files)
	}
}

// names are words that name a language, lower case.
type names struct {
	words    map[string]bool // that a name consists of
	raw      map[string]bool // names of more words than one, as folders and variables of the environment
	letters  *regexp.Regexp  // languages of one letter, where they stand alone
	suffixes *regexp.Regexp  // of files
}

// namesOfLanguages are the names that the languages' folders have.
func namesOfLanguages() *names {
	n := &names{words: map[string]bool{}, raw: map[string]bool{}}
	letters, suffixes := "", []string{}
	add := func(list ...string) {
		for _, name := range list {
			words := wordsOf(filepath.Base(name))
			if len(words) == 1 && len(words[0]) == 1 {
				letters += strings.ToUpper(words[0])
			}
			for _, w := range words {
				if len(w) > 2 {
					n.words[w] = true
				}
			}
		}
	}
	suffix := func(s string) {
		if len(s) > 2 {
			suffixes = append(suffixes, regexp.QuoteMeta(s))
		}
	}
	for _, c := range interp.Calibrations() {
		add(c.Language)
		add(c.Interpreters...)
		suffix(c.Suffix)
	}
	for _, d := range interp.All() {
		add(d.Language)
		add(d.Candidates...)
		add(d.Default)
		for _, f := range d.Formats {
			add(f.Name)
		}
		for _, s := range d.Suffixes {
			suffix(s)
		}
		n.raw[d.Impl], n.words[strings.ReplaceAll(d.Impl, "-", "")] = true, true
		for _, name := range slices.Concat(d.Compiled, d.Pass, d.VirtualMarkers()) {
			if name = strings.ToLower(strings.TrimRight(name, "*")); len(name) > 4 {
				n.raw[name] = true
			}
		}
	}
	n.letters = regexp.MustCompile(`(^|[\s("'*])[` + letters + `]($|'s|[\s,;:)"'*]|\.$|\.[\s)](?:[^A-Z]|$))`)
	n.suffixes = regexp.MustCompile(`(` + strings.Join(suffixes, "|") + `)\b`)
	return n
}

// wordsOf splits at everything but letters, and where small letters end: fooBarBAZ5 is foo, bar and baz.
func wordsOf(text string) (out []string) {
	word := ""
	end := func() {
		if word != "" {
			out = append(out, strings.ToLower(word))
		}
		word = ""
	}
	all := []rune(text)
	for i, r := range all {
		switch {
		case !unicode.IsLetter(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(all[i-1]) || i+1 < len(all) && unicode.IsUpper(all[i-1]) && unicode.IsLower(all[i+1])):
			end()
		}
		word += string(r)
	}
	end()
	return out
}

type naming struct {
	at         token.Pos
	what, name string
}

// in are the places of a file that name a language.
func (n *names) in(f *ast.File) (out []naming) {
	single := false // the file calls something else by a letter
	look := func(at token.Pos, what, text string) {
		for _, w := range slices.Concat(wordsOf(text), words.FindAllString(strings.ToLower(text), -1)) {
			found := n.words[w] || n.raw[w]
			for name := range n.words {
				found = found || len(name) > 3 && strings.HasPrefix(w, name)
			}
			if found {
				out = append(out, naming{at, what, w})
			}
		}
		if what == "an identifier" {
			return
		}
		if m := n.suffixes.FindString(text); m != "" {
			out = append(out, naming{at, what, m})
		}
		for _, m := range n.letters.FindAllStringIndex(text, -1) {
			if !single && !strings.HasPrefix(text[m[1]:], "(") { // not so are the states of processes: R (running)
				out = append(out, naming{at, what, fmt.Sprintf("%q", text[m[0]:m[1]])})
			}
		}
	}
	ast.Inspect(f, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.Ident:
			single = single || x.Name == "R"
			look(x.Pos(), "an identifier", x.Name)
		case *ast.BasicLit:
			if x.Kind == token.STRING {
				text, err := strconv.Unquote(x.Value)
				if err != nil {
					text = x.Value
				}
				look(x.Pos(), "a text", text)
			}
		}
		return true
	})
	for _, g := range f.Comments {
		look(g.Pos(), "a comment", example.ReplaceAllString(strings.ReplaceAll(g.Text(), "\n", " "), ""))
	}
	slices.SortStableFunc(out, func(a, b naming) int { return int(a.at - b.at) })
	return slices.Compact(out)
}

// What names a language is seen, and nothing else.
func TestNamesAreSeen(t *testing.T) {
	n := namesOfLanguages()
	for text, want := range map[string]bool{
		`var pythonPath int`: true, `var readerOfPerl int`: true, `const lua54 = 1`: true, `type RubyVM int`: true, `const x = "python3.11"`: true, `const x = "test_x.py"`: true,
		`const x = "$R_HOME"`: true, `const x = "PYTHONPATH=x"`: true, `const x = "--format pytest"`: true, "// As CPython does.": true, "// x of GNU R.": true, "// R's own": true,
		"// as in Lua 5.1": true, "// (as in Lua 5.1, R)": false, `const x = "(as in Lua)"`: true, `const x = "__pycache__"`: true, "var x = map[byte]string{'R': \"R (running)\"}": false,
		"// R. P. Brent": false, "var R int // R is a register": false, "// awkward, properly": false, "// a tick of the clock": false, `const x = "of tclsh"`: true, "var ruby int": true,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+text+"\n", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if found := n.in(f); (len(found) > 0) != want {
			t.Errorf("%s: %v", text, found)
		}
	}
}
