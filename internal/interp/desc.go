package interp

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"symchef/languages"
)

// Desc describes how one language is run and explored. It is immutable.
type Desc struct {
	Language   string
	Suffixes   []string // of test files, with the dot
	Tests      []string // patterns (path.Match) of the names that files of tests have in a folder, without the suffix
	Candidates []string // names to look for on PATH, in order
	Default    string   // absolute path used when PATH has no supported one
	Impl       string   // what the interpreter must say that it is
	Versions   []string // "3.11": that it may be
	Folder     languages.Folder
	ask        []string // arguments that make it say what it is: implementation, version, path, NAME=VALUE..., a line each
	say        []string // lines that it reads from standard input for that
	virtual    []virtualRule
	installed  []installedRule
	argv       []string
	env        []envRule
	Pass       []string       // variables of the user's environment that the language needs; NAME* are all that begin so
	choose     []string       // likewise: by which version managers choose an interpreter
	Modules    []string       // files that hold a module, * being its name, where the interpreter finds them by listing folders
	Compiled   []string       // folders of what is compiled
	Settings   []SettingsFile // of projects, beside symchef.toml
	Checks     bool           // the guest library calls functions without a test
	Compared   string         // the template of a test that compares functions, a file of emit/; empty: there is none
	Syntax     Syntax
	Steps      string             // what numbers are that the guest library tells of steps: StepsLines or StepsNumbers; empty: it does not tell
	Layouts    map[string]*Layout // as they are written: those of an interpreter are its Image's
	probe      *probe
	references *amount // offset of the count of references in an object; nil: it is not known
	// Formats are those of files that symchef emit writes, the default first; ProgramFormats likewise for programs. Their files stand in emit/.
	Formats, ProgramFormats []Format
	imageRows
	variants map[string]*imageRows // more of them for one version
	root     *sexp                 // the form that it was read from
}

// What the numbers of steps are that a guest library tells of.
const (
	StepsLines   = "lines"   // lines of the test's file
	StepsNumbers = "numbers" // nothing that people know
)

// Format is one of files with test cases: its name, its template, and a stand-in for the guest library that the file contains.
type Format struct{ Name, Template, StandIn string }

// virtualRule says what a virtual environment of the language looks like.
type virtualRule struct {
	variable string   // of the environment: the present one's folder
	marker   string   // a file in its folder
	program  string   // the interpreter, from its folder
	folders  []string // names that it has beside a project
}

// testWord stands for the test in argv, guestWord for the library's place in argv and env.
const (
	testWord  = "\x00test"
	guestWord = "\x00guest"
)

// envRule is one (set NAME VALUE), (prepend NAME VALUE) or (seed NAME VALUE OTHER...).
type envRule struct {
	prepend     bool
	name, value string
	others      []string
}

// all parses the embedded descriptions once.
var all = sync.OnceValue(func() []*Desc { return loadAll(languages.Description, Load) })

// loadAll loads that file of every folder in the binary which has it.
func loadAll[T any](file string, load func(languages.Folder) (T, error)) (out []T) {
	for _, f := range languages.All() {
		if !f.Has(file) {
			continue
		}
		x, err := load(f)
		if err != nil {
			panic("interp: " + err.Error()) // a test parses it
		}
		out = append(out, x)
	}
	return out
}

// Load reads the description of a language's folder. Errors begin with FOLDER/FILE:LINE:COLUMN.
func Load(f languages.Folder) (*Desc, error) {
	src, err := fs.ReadFile(f.Files, languages.Description)
	if err != nil {
		return nil, err
	}
	d, err := Parse(string(src))
	if err == nil && d.Language != f.Name {
		err = fmt.Errorf("1:1: the language %s stands in a folder that is called %s", d.Language, f.Name)
	}
	if err == nil {
		d.Folder = f
		err = d.files()
	}
	if err != nil {
		return nil, fmt.Errorf("%s/%s:%w", f.Name, languages.Description, err)
	}
	return d, nil
}

// Add takes a language from a folder outside the binary (languages.Add) and checks what it says. Errors begin with FOLDER/FILE:LINE:COLUMN where there is one.
func Add(dir string) error {
	f, err := languages.Add(dir)
	if err == nil && f.Has(languages.Description) {
		_, err = Load(f)
	}
	if err == nil && f.Has(languages.Calibration) {
		_, err = LoadCalibration(f)
	}
	return err
}

// All returns the descriptions: those added, and then those in the binary, sorted by language.
func All() []*Desc { return all() }

// ByName returns the description of a language.
func ByName(language string) (*Desc, bool) {
	for _, d := range All() {
		if d.Language == language {
			return d, true
		}
	}
	return nil, false
}

// ForFile returns the description whose suffix the file name has.
func ForFile(path string) (*Desc, bool) {
	for _, d := range All() {
		for _, s := range d.Suffixes {
			if strings.HasSuffix(path, s) {
				return d, true
			}
		}
	}
	return nil, false
}

// Counts says in a few words how much a description has.
func (d *Desc) Counts() string {
	locations, models := len(d.locations), len(d.models)
	for _, v := range d.variants {
		locations, models = locations+len(v.locations), models+len(v.models)
	}
	return fmt.Sprintf("%d places, %d models, %d layouts, %d formats of files", locations, models, len(d.Layouts), len(d.Formats)+len(d.ProgramFormats))
}

// Argv is the argument vector for a test ("PATH" or "PATH::NAME", absolute).
func (d *Desc) Argv(argv0, test string) []string {
	out := []string{argv0}
	for _, a := range d.argv {
		switch {
		case a == testWord:
			a = test
		case strings.HasPrefix(a, guestWord):
			a = d.GuestDir() + strings.TrimPrefix(a, guestWord)
		}
		out = append(out, a)
	}
	return out
}

// Environ is base with the description's settings; guestDir is where the guest
// library stands (in the machine GuestDir(), in replay wherever it was extracted).
// Applying it twice gives the same as once.
func (d *Desc) Environ(base []string, guestDir string) []string {
	out := slices.Clone(base)
	for _, r := range d.env {
		value := r.value
		if value == guestWord {
			value = guestDir
		}
		i := slices.IndexFunc(out, func(kv string) bool { return strings.HasPrefix(kv, r.name+"=") })
		if i < 0 {
			out = append(out, r.name+"="+value)
			continue
		}
		old := out[i][len(r.name)+1:]
		if r.prepend && old != "" {
			if old == value || strings.HasPrefix(old, value+":") {
				continue
			}
			value += ":" + old
		}
		out[i] = r.name + "=" + value
	}
	return out
}

// GuestDir is where the machine shows the language's guest library.
func (d *Desc) GuestDir() string { return languages.Root + "/" + d.Language }

// Parse reads a description. Errors begin with LINE:COLUMN.
func Parse(src string) (*Desc, error) {
	root, err := parseSexp(src)
	if err != nil {
		return nil, err
	}
	head, args, err := clause(root)
	if err != nil {
		return nil, err
	}
	if head != "language" || len(args) == 0 || args[0].kind != symbolNode {
		return nil, root.errorf("need (language NAME CLAUSE...)")
	}
	f, _ := rootForm("language")
	if err := f.check(root); err != nil {
		return nil, err
	}
	d := &Desc{Language: args[0].text, Layouts: map[string]*Layout{}, variants: map[string]*imageRows{}}
	for i := range args[1:] {
		n := &args[1+i]
		read := clauses[n.list[0].text]
		if read == nil {
			read = func(d *Desc, n *sexp, _ []sexp) error { return d.imageRows.parse(n, false) }
		}
		if err := read(d, n, n.list[1:]); err != nil {
			return nil, err
		}
	}
	if err := complete(root, "language"); err != nil {
		return nil, err
	}
	if d.ask == nil && d.say == nil {
		return nil, root.errorf("nothing makes the interpreter say what it is: need (ask ARGUMENT...) or (say LINE...)")
	}
	if len(d.locations) > 0 && d.locations[0].how == "export" {
		d.locations[0].used = true // it is how the image is told
	}
	return d, d.finish(root)
}

// SettingsFile is a file of a project with settings, and the table in it that is symchef's; empty: all of it.
type SettingsFile struct{ File, Table string }

// clauses read the forms of a language; those that are not here, and may stand there, are about the image.
var clauses map[string]func(d *Desc, n *sexp, args []sexp) error

func init() {
	clauses = map[string]func(d *Desc, n *sexp, args []sexp) error{
		"modules":  func(d *Desc, n *sexp, a []sexp) (err error) { d.Modules, err = distinct(n, a); return },
		"compiled": func(d *Desc, n *sexp, a []sexp) (err error) { d.Compiled, err = distinct(n, a); return },
		"checks":   func(d *Desc, _ *sexp, _ []sexp) error { d.Checks = true; return nil },
		"compared": func(d *Desc, n *sexp, a []sexp) (err error) { d.Compared, err = stringOf(n, a); return },
		"settings": func(d *Desc, _ *sexp, a []sexp) error {
			d.Settings = append(d.Settings, SettingsFile{a[0].text, a[1].text})
			return nil
		},
		"syntax":         parseSyntax,
		"steps":          parseSteps,
		"suffixes":       func(d *Desc, n *sexp, a []sexp) (err error) { d.Suffixes, err = distinct(n, a); return },
		"tests":          parseTests,
		"candidates":     func(d *Desc, n *sexp, a []sexp) (err error) { d.Candidates, err = distinct(n, a); return },
		"default":        func(d *Desc, n *sexp, a []sexp) (err error) { d.Default, err = stringOf(n, a); return },
		"implementation": parseImplementation,
		"ask":            func(d *Desc, n *sexp, a []sexp) (err error) { d.ask, err = stringsOf(n, a); return },
		"say":            func(d *Desc, n *sexp, a []sexp) (err error) { d.say, err = stringsOf(n, a); return },
		"virtualenv":     parseVirtualenv,
		"installed":      parseInstalled,
		"argv":           parseArgv,
		"env":            parseEnv,
		"emit":           parseEmit,
		"pass":           func(d *Desc, n *sexp, a []sexp) (err error) { d.Pass, err = distinct(n, a); return },
		"choose":         func(d *Desc, n *sexp, a []sexp) (err error) { d.choose, err = distinct(n, a); return },
		"version":        parseVersion,
		"probe":          parseProbe,
		"references":     parseReferences,
		"layout":         addLayout,
	}
}

// parseSteps reads (steps KIND).
func parseSteps(d *Desc, _ *sexp, a []sexp) error {
	d.Steps = a[0].text
	if known := []string{StepsLines, StepsNumbers}; !slices.Contains(known, d.Steps) {
		return a[0].errorf("unknown numbers of steps %s: %s", d.Steps, instead(d.Steps, known))
	}
	return nil
}

// parseTests reads (tests SEPARATOR...): between test and the rest of a file name.
func parseTests(d *Desc, n *sexp, a []sexp) error {
	for i := range a {
		if !slices.Contains([]string{"_", "-", "."}, a[i].text) || slices.Contains(d.Tests, "test"+a[i].text+"*") {
			return a[i].errorf("want _, - or ., each once")
		}
		d.Tests = append(d.Tests, "test"+a[i].text+"*", "*"+a[i].text+"test")
	}
	return nil
}

// parseImplementation reads (implementation NAME VERSION...).
func parseImplementation(d *Desc, n *sexp, a []sexp) error {
	d.Impl = a[0].text
	for i := range a[1:] {
		if slices.Contains(d.Versions, a[1+i].text) {
			return a[1+i].errorf("second %q", a[1+i].text)
		}
		d.Versions = append(d.Versions, a[1+i].text)
	}
	return nil
}

// parseVirtualenv reads (virtualenv VARIABLE PROGRAM ...).
func parseVirtualenv(d *Desc, n *sexp, a []sexp) error {
	all, err := stringsOf(n, a)
	if err == nil {
		d.virtual = append(d.virtual, virtualRule{all[0], all[1], all[2], all[3:]})
	}
	return err
}

// parseInstalled reads (installed NAME PATTERN...).
func parseInstalled(d *Desc, n *sexp, a []sexp) error {
	all, err := stringsOf(n, a)
	if err != nil {
		return err
	}
	for i, p := range all[1:] {
		if _, err := filepath.Match(p, ""); err != nil || !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "$") {
			return a[1+i].errorf("need a pattern of paths that begins with / or $NAME/")
		}
	}
	d.installed = append(d.installed, installedRule{all[0], all[1:]})
	return nil
}

// parseEmit reads (emit (format NAME TEMPLATE STANDIN) (program NAME TEMPLATE)...).
func parseEmit(d *Desc, n *sexp, a []sexp) error {
	for i := range a {
		row := a[i].list
		f := Format{Name: row[1].text, Template: row[2].text}
		list := &d.ProgramFormats
		if row[0].text == "format" {
			f.StandIn, list = row[3].text, &d.Formats
		}
		if slices.ContainsFunc(*list, func(o Format) bool { return o.Name == f.Name }) {
			return a[i].errorf("second %s %q", row[0].text, f.Name)
		}
		*list = append(*list, f)
	}
	return nil
}

// parseReferences reads (references AMOUNT).
func parseReferences(d *Desc, n *sexp, a []sexp) error {
	k, err := parseAmount(&a[0], d.told)
	d.references = &k
	return err
}

// addLayout reads (layout NAME ...).
func addLayout(d *Desc, n *sexp, _ []sexp) error {
	l, err := parseLayout(n, d.told)
	if err != nil {
		return err
	}
	if d.Layouts[l.Name] != nil {
		return n.errorf("second layout %s", l.Name)
	}
	d.Layouts[l.Name] = l
	return nil
}

// rootForm is the form that a file is.
func rootForm(name string) (*form, bool) {
	i := slices.IndexFunc(forms, func(f form) bool { return f.in == "" && f.name == name })
	return &forms[max(i, 0)], i >= 0
}

// finish checks what the forms together must be.
func (d *Desc) finish(root *sexp) error {
	for _, v := range d.Versions {
		if len(d.variants) > 0 && d.variants[v] == nil {
			return root.errorf("there is no (version %q ...), and there are for other versions", v)
		}
	}
	for _, p := range slices.Concat([]*imageRows{&d.imageRows}, slices.Collect(maps.Values(d.variants))) {
		for _, l := range p.locations {
			if !l.used {
				return l.at.errorf("nothing uses the location %s", l.name)
			}
		}
	}
	for _, p := range slices.Concat([]*imageRows{&d.imageRows}, slices.Collect(maps.Values(d.variants))) {
		for _, m := range p.models {
			for _, what := range slices.Sorted(maps.Keys(m.functions)) {
				f := m.functions[what]
				for _, v := range slices.Sorted(maps.Keys(f.at)) {
					if !slices.Contains(d.Versions, v) {
						return f.at[v].errorf("no version %q: %s", v, instead(v, d.Versions))
					}
				}
			}
		}
	}
	for _, name := range d.told {
		if n := find(root, "numbers"); !mentionedBeside(root, n, name) {
			return n.errorf("nothing uses the number %s", name)
		}
	}
	d.root = root
	return nil
}

// files looks for the guest library, and the files of the folder that d names, and holds d against the calibration there.
func (d *Desc) files() error {
	lib, ok := d.Folder.Guest()
	if !ok {
		return d.root.errorf("there is no guest library beside it")
	}
	if d.probe != nil && !d.Folder.Has(d.probe.file) {
		return find(d.root, "probe").errorf("there is no file %q beside it", d.probe.file)
	}
	for _, a := range d.argv {
		if file, ok := strings.CutPrefix(a, guestWord+"/"); ok {
			if _, err := fs.Stat(lib, file); err != nil {
				return find(d.root, "argv").errorf("the guest library has no file %q", file)
			}
		}
	}
	if d.Compared != "" && !d.Folder.Has("emit/"+d.Compared) {
		return find(d.root, "compared").errorf("there is no file emit/%s", d.Compared)
	}
	if err := d.programs(); err != nil {
		return err
	}
	for _, f := range slices.Concat(d.Formats, d.ProgramFormats) {
		for _, file := range []string{"values.tmpl", f.Template, f.StandIn} {
			if file != "" && !d.Folder.Has("emit/"+file) {
				return find(d.root, "emit").errorf("there is no file emit/%s", file)
			}
		}
	}
	return nil
}

// find is the first form of a name in n, or in a form there; n if there is none.
func find(n *sexp, name string) *sexp {
	for i := range n.list {
		m := &n.list[i]
		if !fits("form", m) {
			continue
		}
		if m.list[0].text == name {
			return m
		}
		if at := find(m, name); at != m {
			return at
		}
	}
	return n
}

func stringsOf(n *sexp, args []sexp) ([]string, error) {
	var out []string
	for i := range args {
		if args[i].kind != stringNode || args[i].text == "" {
			return nil, args[i].errorf("need a string")
		}
		out = append(out, args[i].text)
	}
	if len(out) == 0 {
		return nil, n.errorf("need at least one string")
	}
	return out, nil
}

// distinct is stringsOf, each once.
func distinct(n *sexp, args []sexp) ([]string, error) {
	out, err := stringsOf(n, args)
	for i := range out {
		if slices.Index(out, out[i]) < i {
			return nil, args[i].errorf("second %q", out[i])
		}
	}
	return out, err
}

func stringOf(n *sexp, args []sexp) (string, error) {
	all, err := stringsOf(n, args)
	if err == nil && len(all) != 1 {
		err = n.errorf("need one string")
	}
	if err != nil {
		return "", err
	}
	return all[0], nil
}

func parseArgv(d *Desc, n *sexp, args []sexp) error {
	for i := range args {
		switch a := &args[i]; {
		case a.kind == stringNode:
			d.argv = append(d.argv, a.text)
		case a.kind == symbolNode && a.text == "test":
			d.argv = append(d.argv, testWord)
		case a.kind == listNode && len(a.list) == 2 && a.list[0].text == "guest" && a.list[1].kind == stringNode:
			d.argv = append(d.argv, guestWord+"/"+a.list[1].text)
		default:
			return a.errorf("need a string, test or (guest FILE)")
		}
	}
	if !slices.Contains(d.argv, testWord) {
		return n.errorf("argv does not mention test")
	}
	return nil
}

func parseEnv(d *Desc, n *sexp, args []sexp) error {
	for i := range args {
		head, a, err := clause(&args[i])
		if err != nil {
			return err
		}
		if head == "seed" {
			texts, err := stringsOf(&args[i], a)
			if err != nil || len(texts) < 3 || texts[0] == "" {
				return args[i].errorf("need (seed NAME VALUE OTHER...)")
			}
			d.env = append(d.env, envRule{name: texts[0], value: texts[1], others: texts[2:]})
			continue
		}
		if head != "set" && head != "prepend" || len(a) != 2 || a[0].kind != stringNode || a[0].text == "" {
			return args[i].errorf("need (set NAME VALUE), (prepend NAME VALUE) or (seed NAME VALUE OTHER...)")
		}
		r := envRule{prepend: head == "prepend", name: a[0].text, value: a[1].text}
		if a[1].kind == symbolNode && a[1].text == "guest" {
			r.value = guestWord
		} else if a[1].kind != stringNode {
			return a[1].errorf("need a string or guest")
		}
		d.env = append(d.env, r)
	}
	return nil
}

// Reseed returns env where the variables that seed something have other values: there are many, and n chooses.
func (d *Desc) Reseed(env []string, n int) []string {
	out := slices.Clone(env)
	for _, r := range d.env {
		if i := slices.Index(out, r.name+"="+r.value); i >= 0 && len(r.others) > 0 {
			out[i] = r.name + "=" + r.others[n%len(r.others)]
		}
	}
	return out
}

// String names the description.
func (d *Desc) String() string { return d.Language + " " + strings.Join(d.Versions, ", ") }

// version is the one of the description's versions that an interpreter's belongs to, or "".
func (d *Desc) version(v string) string {
	for _, w := range d.Versions {
		least, more := strings.CutSuffix(w, "+")
		if v == w || strings.HasPrefix(v, w+".") || more && notBefore(v, least) {
			return w
		}
	}
	return ""
}

// notBefore says whether a version is that one or a later one of the same first number.
func notBefore(v, least string) bool {
	a, b := strings.Split(v, "."), strings.Split(least, ".")
	if a[0] != b[0] {
		return false
	}
	for i := range b {
		if i == len(a) {
			return false
		}
		m, err := strconv.Atoi(a[i])
		n, _ := strconv.Atoi(b[i])
		if err != nil || m != n {
			return err == nil && m > n
		}
	}
	return true
}
