package languages_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"symchef/internal/interp"
)

// grammar has an interpreter print a line for each text after its arguments: whether it compiles. For each form of (syntax ...) it has texts with a gap: one of
// them compiles with each word that the form may hold, and none of them with another word.
type grammar struct {
	ask   []string
	gaps  map[string][]string
	wrong []string // words that are none
}

var grammars = map[string]grammar{
	"lua": {[]string{luaPath + "5.4", "-e", "for i = 0, #arg do print(load(arg[i]) ~= nil) end os.exit()"}, map[string][]string{
		"comment":   {"x = 1 _ ) ]"},
		"condition": {"_ x then end", "if x then _ y then end", "_ x do end"},
		"body":      {"if x _ end", "while x _ end"},
		"joint":     {"x = y _ z"},
	}, []string{"elsif", "than", "ad", "ro", "fi", "w"}},
	"r": {[]string{"/usr/bin/R", "--no-echo", "--no-restore", "-e", "for (x in commandArgs(TRUE)) cat(tolower(!inherits(try(parse(text = x), TRUE), 'try-error')), '\n', sep = '')", "--args"}, map[string][]string{
		"comment":   {"x _ ) ]"},
		"condition": {"_ (x) { y } else z", "if (x) { y } _ (z) { u } else v", "_ (x) break"},
		"body":      {"if (x) _ y }"},
		"joint":     {"x _ y"},
	}, []string{"elsif", "&&&", "fi", "w"}},
}

// Words of (syntax ...) of languages without a probe that checks them are words of the language; others are told from them.
func TestSyntaxWords(t *testing.T) {
	for language, g := range grammars {
		t.Run(language, func(t *testing.T) {
			if _, err := exec.LookPath(g.ask[0]); err != nil {
				t.Skip("skipped: ", err)
			}
			d, _ := interp.ByName(language)
			x := d.Syntax
			type asked struct{ form, word string }
			var texts []string
			var of []asked
			is := map[asked]bool{}
			for form, words := range map[string][]string{"comment": x.Comments, "condition": x.Conditions, "body": x.Bodies, "assertion": x.Assertions, "joint": x.Joints} {
				for _, w := range slices.Concat(words, g.wrong) {
					is[asked{form, w}] = false
					for _, gap := range g.gaps[form] {
						texts, of = append(texts, strings.Replace(gap, "_", strings.TrimSpace(w), 1)), append(of, asked{form, w})
					}
				}
			}
			out, err := exec.Command(g.ask[0], append(slices.Clone(g.ask[1:]), texts...)...).Output()
			lines := strings.Fields(string(out))
			if err != nil || len(lines) != len(texts) {
				t.Fatalf("%d answers to %d texts, %v", len(lines), len(texts), err)
			}
			for i, line := range lines {
				is[of[i]] = is[of[i]] || line == "true"
			}
			for a, yes := range is {
				if yes == slices.Contains(g.wrong, a.word) {
					t.Errorf("%s %q: %v", a.form, a.word, yes)
				}
			}
		})
	}
}
