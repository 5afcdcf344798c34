package interp

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"symchef/internal/model"
)

var update = flag.Bool("update", false, "write docs/descriptions.md")

const descriptionsIntro = `# Descriptions of interpreters

What may stand in ` + "`languages/*/language.desc`, `languages/*/calibrate.desc`" + ` and in a file for ` + "`symchef calibrate --description`" + `. Made from the
tables in ` + "`internal/interp/forms.go` and `internal/model/table.go`" + ` by ` + "`go test -run TestDocument ./internal/interp -update`" + `.

A description is checked when it is read: a form, an operator, a model, its places and numbers, a location, a function of the C library or a layout's name that does not
exist is an error with line and column, the word, what is meant probably, and what there is. So is a location or a ` + "`let`" + ` that nothing uses, and whatever is there twice or missing.
Then it is held against the interpreter: a name that is nothing there (a symbol, a shape, a variable of the environment, an option) is an
error, but in ` + "`(optional ...)`" + ` it is named by ` + "`symchef doctor`, on standard error, and under `without` of `summary.json`" + `.

## Forms

Operands: NAME is new, REF is defined before, TEXT is a string, N a number that is not negative, BOUND a number, ` + "`min` or `max`" + `, VALUE
an expression, (...) a form of those that may stand there; ... means one or more.

| form | in | | meaning |
|---|---|---|---|
`

// docs/descriptions.md is what the tables say.
func TestDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(descriptionsIntro)
	for _, f := range forms {
		var how []string
		if f.must {
			how = append(how, "required")
		}
		if f.many {
			how = append(how, "may be repeated")
		}
		in := "`" + strings.ReplaceAll(f.in, " ", "`, `") + "`"
		if f.in == "" {
			in = "a file"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.usage(), in, strings.Join(how, ", "), f.meaning)
	}
	b.WriteString("\n## Models\n\nWithout a model exploring is as sound and as complete: none changes what a program does. A model is had whole or not at all.\n\n| model | family | location | needs | may have | meaning |\n|---|---|---|---|---|---|\n")
	for _, k := range model.Kinds {
		needs, may := slices.Concat(k.Places, k.Numbers), slices.Concat(k.May, k.MayNumbers)
		if k.Functions != nil {
			needs, may = slices.Clone(k.Functions), []string{"program"}
		}
		if k.Entry {
			needs = append([]string{"(entry FUNCTION)"}, needs...)
		}
		if len(k.OneNumber) > 0 && k.Functions == nil {
			needs = append(needs, strings.Join(k.OneNumber, " or "))
		}
		for place, numbers := range k.With {
			if k.Functions != nil {
				break
			}
			may = append(may, strings.Join(numbers, ", ")+" with "+place)
		}
		if k.Imports != nil {
			needs = append(needs, "imports of "+strings.Join(k.Imports, ", "))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Name, k.Family, k.At, strings.Join(needs, ", "), strings.Join(may, ", "), k.Meaning)
	}
	const file = "../../docs/descriptions.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the tables say: run with -update (%v)", file, err)
	}
}

// Every form may stand somewhere, and has a meaning.
func TestForms(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range forms {
		for _, in := range strings.Fields(f.in) {
			if _, names := within(in); !slices.ContainsFunc(forms, func(g form) bool { return g.name == in }) || len(names) == 0 {
				t.Errorf("%s stands in %s, which there is not", f.name, in)
			}
			if seen[f.name+" in "+in] {
				t.Errorf("two rows of %s in %s", f.name, in)
			}
			seen[f.name+" in "+in] = true
		}
		if f.meaning == "" {
			t.Errorf("%s has no meaning", f.name)
		}
	}
}
