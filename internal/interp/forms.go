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
	{"candidates", "language", "text+", true, false, "names to look for on PATH, in order: of an interpreter of the calibration, and a version or nothing; so are those of programs in installed and virtualenv"},
	{"default", "language", "text", true, false, "the interpreter where PATH has none that is supported: the path of a candidate"},
	{"implementation", "language", "text text+", true, false, "what the interpreter must say that it is, and the versions that are known"},
	{"ask", "language", "text+", false, false, "arguments that make it say so: implementation, version and path, a line each, then NAME=VALUE of its environment"},
	{"say", "language", "text+", false, false, "lines of a program that makes it say so, which it reads from its standard input: in place of ask, or beside it"},
	{"virtualenv", "language", "text text text text*", false, true, "virtual environments: the variable with the present one's folder, a file in such a folder, the interpreter in it, names of the folder beside a project"},
	{"installed", "language", "text text+", false, true, "where symchef doctor looks for more interpreters: what it calls that, and patterns of paths with * and ?; $NAME at the beginning is a variable of the environment, for each of its folders"},
	{"probe", "language", "text form+", false, false, "a program in the same folder that tells of the interpreter by which it is read, from standard input, what its objects look like; a line each: number NAME N, place NAME ADDRESS BASE, none NAME for a place that it does without, without NAME WHY, word FORM TEXT: a text that a form of the language may hold, which then holds no other"},
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
	{"pass", "language", "text+", false, false, "variables that are taken from the user's environment, beside those that every run takes; NAME* are all that begin so. Doctor names those of which the interpreter has no text"},
	{"choose", "language", "text+", false, false, "variables by which version managers choose an interpreter: they are there while it is asked what it is"},
	{"modules", "language", "text+", false, false, "files that hold a module which the interpreter finds by listing folders, * being its name: where one of a module that was loaded is new, rerun and --resume refuse"},
	{"compiled", "language", "text+", false, false, "folders of what is compiled, which may come and go between a run and its rerun"},
	{"checks", "language", "", false, false, "the guest library lists the functions of modules and calls them without a test, for `symchef check` (docs/device-protocol.md, function)"},
	{"compared", "language", "text", false, false, "a template, a file of emit/ in Go's text/template: the test that calls pairs of functions with the same inputs, for `symchef diff`; it gets a list of them, Name, Old and New each, the latter FILE:NAME or MODULE:NAME"},
	{"settings", "language", "text text", false, true, "a file of a project, in TOML, and the table in it that may hold settings of symchef, as symchef.toml does"},
	{"steps", "language", "name", false, false, "the guest library tells of each step of the interpreted program (docs/device-protocol.md, step), so no program counter is looked for; its numbers are lines, of the test's file, or just numbers"},
	{"syntax", "language", "form+", false, false, "what lines of source look like, for `symchef tree` to say which way of a condition a path went"},
	{"comment", "syntax", "text+", false, false, "what begins a comment"},
	{"condition", "syntax", "text+", false, false, "words that begin a statement with a condition"},
	{"body", "syntax", "text+", false, false, "what a line ends with that is the whole of such a condition, its body being on the next lines"},
	{"assertion", "syntax", "text+", false, false, "words that begin a statement which raises where its condition does not hold"},
	{"joint", "syntax", "text+", false, false, "what joins conditions, one of which may decide"},

	{"location", "language version optional", "name form+", false, true, "a place of the image, which is the object that exports the first location, or where that is no export the program; each is found in one of the ways below, and used"},
	{"export", "location", "text", false, false, "the address of an exported symbol"},
	{"returned-by", "location", "text", false, false, "the address that an exported function returns"},
	{"probed", "location", "text", false, false, "the variable, or the function, of this name that the probe tells of; where it tells that there is none, the interpreter does without, and so does a model"},
	{"beneath", "location", "text", false, false, "an exported function, or where it does nothing but jump to another one with its arguments, that one"},
	{"shape", "location", "text+", false, false, "the one function that has instructions in this order, others between them; Intel syntax, * for any text"},
	{"string-at", "location", "n text", false, false, "what must hold besides: the pointer at an offset is to this string; * for any text"},
	{"calls", "location", "ref", false, false, "what must hold besides: the function calls, or jumps to, that of another location"},
	{"has", "location", "text+", false, false, "what must hold besides: the function has instructions in this order, as of a shape"},
	{"model", "language version optional", "name value*", false, true, "a function of the engine for one of the interpreter: its location, the forms below, and a (NAME N) for each number it needs; or imports; or (NAME \"FUNCTION\") for each exported function that it needs, behind whose name a (version V \"FUNCTION\") may stand for each version in which it has another one"},
	{"entry", "model", "text", false, false, "the exported function that the model replaces"},
	{"also", "model", "text", false, false, "another one that it replaces where it is exported, or where that does nothing but jump to another one with its arguments, that one: it returns -1 where the one at entry returns NULL"},
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
	{"identity", "code", "value+", true, false, "what tells code objects apart: (ADDRESS BYTES), (words ADDRESS BYTES), (texts ADDRESS BYTES STEP), (constants ADDRESS), (slab ADDRESS TYPE)"},
	{"label", "code", "form+", false, false, "which parts of the identity, counted from 1, name it for people"},
	{"file", "label", "n+", false, false, "the source file; and the part that is its number of characters, if these are units of one width"},
	{"name", "label", "n+", false, false, "the function; likewise"},
	{"line", "label", "n", false, false, "its first line"},
	{"lines", "label", "name n+", false, false, "a format, and the parts of a table of lines"},

	{"objects", "code", "form+", false, false, "what the objects of (constants ADDRESS) look like: vectors of elements, and cells of three pointers. They go on as far as types tell"},
	{"type", "objects", "n", true, false, "bits of an object's first byte that are its type"},
	{"other", "objects", "n", true, false, "a bit of the same byte: its layout is not that of its type; then it is a cell, and what its first two pointers lead to counts"},
	{"attributes", "objects", "n", true, false, "the offset of the list of an object's attributes"},
	{"length", "objects", "n", true, false, "the offset of the number of a vector's elements"},
	{"elements", "objects", "n", true, false, "the offset of these"},
	{"first", "objects", "n", true, false, "the offset of a cell's first pointer: the value of a pair, the name of a symbol"},
	{"second", "objects", "n", true, false, "the second: the rest of a list of pairs"},
	{"third", "objects", "n", true, false, "the third: the tag of a pair; the hash table of an environment, a vector of lists of pairs"},
	{"symbol", "objects", "n", true, false, "the type of symbols"},
	{"pair", "objects", "n", true, false, "the type of pairs"},
	{"environment", "objects", "n", true, false, "the type of environments"},
	{"vector", "objects", "n", true, false, "the type of vectors of objects"},
	{"strings", "objects", "n", true, false, "the type of vectors of strings, which are vectors of bytes"},
	{"plain", "objects", "n+", true, false, "types of vectors of numbers, each with the bytes of an element: what instructions depend on"},
	{"class", "objects", "text", true, false, "the attribute that is an object's class"},
	{"source", "objects", "text", true, false, "the attribute that is the environment of a place in the source"},
	{"path", "objects", "text", true, false, "in that, the file's name"},
	{"folder", "objects", "text", true, false, "in that, the folder that the name counts from"},
	{"index", "objects", "text", true, false, "the class of the constant that has for each word of the code the number of the one that is its place in the source"},

	{"slabs", "code", "form+", false, false, "what the slabs of (slab ADDRESS TYPE) look like: operations in slots, the last first; sizes are numbers of 16 bits, in words of eight bytes"},
	{"slots", "slabs", "n", true, false, "how far before the first slot their size stands"},
	{"free", "slabs", "n", true, false, "how far before it stands how much of them, at the beginning, is not in use"},
	{"operation", "slabs", "n", true, false, "the offset of an operation in its slot"},
	{"size", "slabs", "n", true, false, "how far before an operation its slot's size stands"},
	{"distance", "slabs", "n", true, false, "how far before it stands how far its slot is from the first one"},
	{"next", "slabs", "n", true, false, "the offset of the operation that is executed next"},
	{"variable", "slabs", "n", true, false, "the offset of the index of a variable"},
	{"type", "slabs", "n", true, false, "the offset of 16 bits with the type"},
	{"type-bits", "slabs", "n", true, false, "which of them are the type"},
	{"in-slab", "slabs", "n", true, false, "which of them says that the operation is in a slab; others stand alone, and those that are executed next count as well"},
	{"line", "slabs", "n", true, false, "the offset of the line, in an operation that begins a statement"},
	{"file", "slabs", "n", true, false, "likewise: of the address of the file's name"},
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
