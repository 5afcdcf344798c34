package interp

import (
	"slices"
	"strings"
)

// form is a row of the table of forms: a list that begins with its name.
//
// Operands are words, in order; a word with + stands for one or more, with * for any number, of the last operands:
//
//	name   a new name             ref    a name that is defined before
//	text   a string, not empty    n      a number, not negative       int  any number
//	bound  a number, min or max   value  an expression, which the reader of the form checks
//	form   a form that may stand in this one, or one of those that Forms lists
type form struct {
	name, in string // in: the forms that it may stand in
	operands string
	must     bool // each form that it may stand in has it
	many     bool // and may have more than one
	meaning  string
}

// forms is the table of what may stand in a description, in the order of docs/descriptions.md.
var forms = []form{
	{"language", "", "name form*", false, false, "how programs of a language are run and explored: languages/NAME/language.desc"},
	{"suffixes", "language", "text+", true, false, "of test files, with the dot"},
	{"tests", "language", "text+", false, false, "what parts the word test from the rest of the name of a file that counts as tests in a folder: _ for test_x and x_test"},
	{"candidates", "language", "text+", true, false, "names to look for on PATH, in order"},
	{"default", "language", "text", true, false, "the interpreter where PATH has none that is supported"},
	{"implementation", "language", "text text+", true, false, "what the interpreter must say that it is, and the versions that are known"},
	{"ask", "language", "text+", true, false, "arguments that make it say so: implementation, version and path, a line each, then NAME=VALUE of its environment"},
	{"virtualenv", "language", "text text text text+", false, false, "virtual environments: the variable with the present one's folder, a file in such a folder, the interpreter in it, names of the folder beside a project"},
	{"probe", "language", "text form+", false, false, "a program in the same folder that tells of the interpreter by which it is read, from standard input, what its objects look like; a line each: number NAME N, place NAME ADDRESS BASE, without NAME WHY"},
	{"arguments", "probe", "text+", true, false, "of the interpreter, for it to read that"},
	{"numbers", "probe", "name+", true, false, "what it tells: names for numbers in layouts and models. What is not told is named by doctor and under `without` of summary.json, and so is what needs it"},
	{"argv", "language calibration", "value+", true, false, `arguments after argv[0]: strings; test, the test as PATH[::NAME], or script, that of a calibration; (guest "FILE"), a file of the guest library`},
	{"env", "language calibration", "form+", false, false, "the environment"},
	{"set", "env", "text value", false, true, "a variable, and its value: a string, or guest, the folder of the guest library. Variables are texts that the interpreter has"},
	{"prepend", "env", "text value", false, true, "the same, before what the variable holds and a colon"},
	{"seed", "env", "text text+", false, true, "a variable whose value is arbitrary: that of runs, then others that must show the same where the outcome follows from the inputs"},
	{"emit", "language", "form+", false, false, "files that symchef emit writes; how values are written stands in emit/values.tmpl"},
	{"format", "emit", "text text text", true, true, "a format, the first being the default: its name, its template and a stand-in for the guest library, files of emit/"},
	{"programs", "emit", "text text", false, true, "a format for programs: its name and its template"},
	{"pass", "language", "text+", false, false, "variables that are taken from the user's environment, beside those that every run takes; NAME* are all that begin so"},
	{"modules", "language", "text+", false, false, "files that hold a module which the interpreter finds by listing folders, * being its name: where one of a module that was loaded is new, rerun and --resume refuse"},
	{"compiled", "language", "text+", false, false, "folders of what is compiled, which may come and go between a run and its rerun"},

	{"location", "language version optional", "name form+", false, true, "a place of the image, which is the object that exports the first location; each is found in one of the ways below, and used"},
	{"export", "location", "text", false, false, "the address of an exported symbol"},
	{"returned-by", "location", "text", false, false, "the address that an exported function returns"},
	{"last-call", "location", "text", false, false, "the function that an exported one calls, or jumps to, last"},
	{"probed", "location", "text", false, false, "the variable of this name that the probe tells of"},
	{"beneath", "location", "text", false, false, "an exported function, or where it does nothing but jump to another one with its arguments, that one"},
	{"shape", "location", "text+", false, false, "the one function that has instructions in this order, others between them; Intel syntax, * for any text"},
	{"string-at", "location", "n text+", false, false, "what must hold besides: the pointer at an offset is to one of these strings"},
	{"calls", "location", "ref", false, false, "what must hold besides: the function calls, or jumps to, that of another location"},
	{"has", "location", "text+", false, false, "what must hold besides: the function has instructions in this order, as of a shape"},
	{"model", "language version optional", "name value+", false, true, "a function of the engine for one of the interpreter: its location, the forms below, and a (NAME N) for each number it needs; or imports; or (NAME \"FUNCTION\"...) for each exported function that it needs, of several names the first that is exported"},
	{"entry", "model", "text", false, false, "the exported function that the model replaces"},
	{"places", "model", "ref+", false, false, "further locations"},
	{"program", "model", "text+", false, false, "lines of a program of texts a, b and c that returns a text: what it returns with the model and with the stock functions must be the same, or the model is not had"},
	{"imports", "model", "value+", false, false, `functions of other objects that the image imports and the model replaces; after (optional "FUNCTION"...) those that it need not import`},
	{"version", "language", "text form+", false, true, "what is looked for in one of the implementation's versions only"},
	{"optional", "language version", "form+", false, true, "what an interpreter need not have. What is not found goes with the models that need it, and is named by doctor and under `without` of summary.json"},

	{"references", "language", "value", false, false, "the offset of the count of references in objects: of those that the guest library names (docs/device-protocol.md) none is ever freed"},
	{"layout", "language", "name form+", false, true, "an object of the language, as expressions over an input; the guest library names it"},
	{"over", "layout", "name+", true, false, "kinds of input: str, bytes, int, bool, float, choice"},
	{"lengths", "layout", "bound bound", false, false, "of a sequence that it can hold"},
	{"range", "layout", "bound bound", false, false, "of a number that it can hold"},
	{"let", "layout code", "name value", false, true, "a name for an expression, for what follows"},
	{"expect", "layout", "value n value", false, true, "offset, bytes, and what the object holds before"},
	{"store", "layout", "value n value", false, true, "offset, bytes, and what is written"},
	{"payload", "layout", "value", false, false, "the offset of the bytes of a sequence"},
	{"each", "layout", "value", false, true, "a condition on each byte"},

	{"calibration", "", "name form*", false, false, "how an interpreter shows its high-level program counter: languages/NAME/calibrate.desc, or --description"},
	{"interpreters", "calibration", "text+", true, false, "programs whose names begin so speak the language"},
	{"suffix", "calibration", "text", false, false, "of scripts, with the dot"},
	{"script", "calibration", "value+", true, false, "lines, and (repeat N LINE...)"},
	{"statements", "calibration", "n", false, false, "in the window short; 100 where it is not said"},
	{"prefer", "calibration", "text", false, false, `which candidate to take, as "KIND LOCATION"`},
	{"redispatch", "calibration", "", false, false, "the interpreter rewrites instructions and dispatches them again"},
	{"code", "calibration", "name form+", false, true, "where the code object is that the program counter is in"},
	{"object", "code", "name value", true, false, "its address, from frame and pc, or anywhere"},
	{"start", "code", "value", true, false, "the address of its bytecode, from the object"},
	{"size", "code", "value", true, false, "bytes of that"},
	{"identity", "code", "value+", true, false, "what tells code objects apart: (ADDRESS BYTES), (words ADDRESS BYTES), (texts ADDRESS BYTES STEP), (r-constants ADDRESS), (perl-ops ADDRESS TYPE)"},
	{"label", "code", "form+", false, false, "which parts of the identity, counted from 1, name it for people"},
	{"file", "label", "n+", false, false, "the source file; and the part that is its number of characters, if these are units of one width"},
	{"name", "label", "n+", false, false, "the function; likewise"},
	{"line", "label", "n", false, false, "its first line"},
	{"lines", "label", "name n+", false, false, "a format, and the parts of a table of lines"},
}

// within are the rows that may stand in a form.
func within(parent string) (rows []form, names []string) {
	for _, f := range forms {
		if slices.Contains(strings.Fields(f.in), parent) {
			rows, names = append(rows, f), append(names, f.name)
		}
	}
	return rows, names
}

// usage is the form as it is written.
func (f *form) usage() string {
	words := []string{f.name}
	for _, w := range strings.Fields(f.operands) {
		word := strings.ToUpper(strings.TrimRight(w, "+*"))
		if word == "FORM" {
			word = "(...)"
		}
		if len(word) < len(w) {
			word += "..."
		}
		words = append(words, word)
	}
	return "(" + strings.Join(words, " ") + ")"
}

// fits says whether n can be such an operand.
func fits(word string, n *sexp) bool {
	switch word {
	case "name", "ref":
		return n.kind == symbolNode
	case "text":
		return n.kind == stringNode && n.text != ""
	case "n":
		return n.kind == numberNode && n.num >= 0
	case "int":
		return n.kind == numberNode
	case "bound":
		return n.kind == numberNode || n.kind == symbolNode && (n.text == "min" || n.text == "max")
	case "form":
		return n.kind == listNode && len(n.list) > 0 && n.list[0].kind == symbolNode
	}
	return true
}

// check holds n, which is of form f, against the table: its operands, and all forms in it. What is missing is said last.
func (f *form) check(n *sexp) error {
	args, words := n.list[1:], strings.Fields(f.operands)
	for i := range args {
		word := ""
		switch {
		case i < len(words):
			word = words[i]
		case len(words) > 0:
			if word = words[len(words)-1]; !strings.ContainsAny(word, "+*") {
				word = ""
			}
		}
		if word = strings.TrimRight(word, "+*"); word == "" || !fits(word, &args[i]) {
			return args[i].errorf("need %s: %s", f.usage(), f.meaning)
		}
		if word == "form" {
			if err := checkForm(&args[i], f.name); err != nil {
				return err
			}
		}
	}
	if len(args) < len(words) && !strings.HasSuffix(words[len(args)], "*") {
		return n.errorf("need %s: %s", f.usage(), f.meaning)
	}
	return nil
}

// checkForm holds n, which stands in a form, against the table.
func checkForm(n *sexp, parent string) error {
	rows, names := within(parent)
	head := n.list[0].text
	i := slices.Index(names, head)
	if i < 0 {
		return n.errorf("unknown clause %s in %s: %s", head, parent, instead(head, names))
	}
	return rows[i].check(n)
}

// complete says which forms a list lacks or has twice, in n and in all forms in it.
func complete(n *sexp, name string) error {
	rows, _ := within(name)
	seen := map[string]bool{}
	for i := range n.list[1:] {
		m := &n.list[1+i]
		if !fits("form", m) {
			continue
		}
		head := m.list[0].text
		k := slices.IndexFunc(rows, func(f form) bool { return f.name == head })
		if k < 0 {
			continue
		}
		if seen[head] && !rows[k].many {
			return m.errorf("second %s", head)
		}
		seen[head] = true
		if err := complete(m, head); err != nil {
			return err
		}
	}
	for _, f := range rows {
		if f.must && !seen[f.name] {
			return n.errorf("clause %s is missing in %s", f.name, name)
		}
	}
	return nil
}
