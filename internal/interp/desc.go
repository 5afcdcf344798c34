package interp

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

//go:embed *.desc
var descriptions embed.FS

// Desc describes how one language is run and explored. It is immutable.
type Desc struct {
	Language   string
	Suffixes   []string // of test files, with the dot
	Candidates []string // names to look for on PATH, in order
	Default    string   // absolute path used when PATH has no supported one
	Impl       string   // what the interpreter must say that it is
	Versions   []string // "3.11": that it may be
	Guest      string   // its folder in the guest library
	ask        []string // arguments that make it say what it is: implementation, version, path, NAME=VALUE..., a line each
	venv       *virtualRule
	argv       []string
	env        []envRule
	Layouts    map[string]*Layout
	imageRows
	variants map[string]*imageRows // more of them for one version; one that cannot be had takes all of that version with it
}

// imageRows are what is looked for in an interpreter's image.
type imageRows struct {
	locations []location
	tables    []tableRow
	immortal  []regionRow
	models    []modelRow
}

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

// envRule is one (set NAME VALUE) or (prepend NAME VALUE).
type envRule struct {
	prepend     bool
	name, value string
}

// location is a named place of the image.
type location struct {
	name       string
	export     string // the address of this symbol, or
	returnedBy string // the address that this exported function returns
	// caller and callee: the variable whose value caller passes to callee as
	// first argument, at its first such call.
	caller, callee string
	stringOff      uint64 // the pointer at +stringOff must point to
	stringWant     string // this; not checked when empty
	// lastCall: the function that this exported one calls, or jumps to, last.
	lastCall string
	// shape: instructions that one function of the image has, and no other, in this order.
	shape []string
}

type tableRow struct {
	name, location string
	off            uint64
	stride         uint64
	first, count   int64
}

type regionRow struct {
	location string
	lo, hi   uint64
}

type modelRow struct {
	name, location string
	entry          string // exported function that the model replaces; empty: the location is a slot
	params         []uint64
	places         []string // names of further locations
	imports        []string // functions that the image gets from other objects; then there is no location
	numbers        map[string]uint64
}

// all parses the embedded descriptions once.
var all = sync.OnceValue(func() []*Desc {
	files, err := descriptions.ReadDir(".")
	if err != nil {
		panic(err)
	}
	var out []*Desc
	for _, f := range files {
		src, err := descriptions.ReadFile(f.Name())
		if err != nil {
			panic(err)
		}
		d, err := Parse(string(src))
		if err != nil {
			panic("interp: " + f.Name() + ":" + err.Error()) // a test parses it
		}
		out = append(out, d)
	}
	return out
})

// All returns the descriptions, sorted by language.
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
func (d *Desc) GuestDir() string { return "/symchef/guest/" + d.Guest }

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
	d := &Desc{Language: args[0].text, Layouts: map[string]*Layout{}, variants: map[string]*imageRows{}}
	seen := map[string]bool{}
	for i := range args[1:] {
		n := &args[1+i]
		head, rest, err := clause(n)
		if err != nil {
			return nil, err
		}
		row, ok := clauses[head]
		if !ok {
			return nil, n.errorf("unknown clause %s", head)
		}
		if row.once && seen[head] {
			return nil, n.errorf("second %s", head)
		}
		seen[head] = true
		if err := row.parse(d, n, rest); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"suffixes", "candidates", "default", "implementation", "ask", "guest", "argv", "location"} {
		if !seen[name] {
			return nil, root.errorf("clause %s is missing", name)
		}
	}
	if d.locations[0].export == "" {
		return nil, root.errorf("the first location must be an export")
	}
	return d, nil
}

// clauseRow describes one top-level clause.
type clauseRow struct {
	once  bool
	parse func(d *Desc, n *sexp, args []sexp) error
}

var clauses map[string]clauseRow

func init() {
	clauses = map[string]clauseRow{
		"suffixes":   {true, func(d *Desc, n *sexp, a []sexp) (err error) { d.Suffixes, err = stringsOf(n, a); return }},
		"candidates": {true, func(d *Desc, n *sexp, a []sexp) (err error) { d.Candidates, err = stringsOf(n, a); return }},
		"default":    {true, func(d *Desc, n *sexp, a []sexp) (err error) { d.Default, err = stringOf(n, a); return }},
		"guest":      {true, func(d *Desc, n *sexp, a []sexp) (err error) { d.Guest, err = stringOf(n, a); return }},
		"implementation": {true, func(d *Desc, n *sexp, a []sexp) error {
			all, err := stringsOf(n, a)
			if err != nil || len(all) < 2 {
				return n.errorf("need (implementation NAME VERSION...)")
			}
			d.Impl, d.Versions = all[0], all[1:]
			return nil
		}},
		"ask": {true, func(d *Desc, n *sexp, a []sexp) (err error) { d.ask, err = stringsOf(n, a); return }},
		"virtualenv": {true, func(d *Desc, n *sexp, a []sexp) error {
			all, err := stringsOf(n, a)
			if err != nil || len(all) < 4 {
				return n.errorf("need (virtualenv VARIABLE MARKER PROGRAM FOLDER...)")
			}
			d.venv = &virtualRule{all[0], all[1], all[2], all[3:]}
			return nil
		}},
		"argv":     {true, parseArgv},
		"env":      {true, parseEnv},
		"location": {false, func(d *Desc, n *sexp, a []sexp) error { return d.imageRows.parse("location", n, a) }},
		"model":    {false, func(d *Desc, n *sexp, a []sexp) error { return d.imageRows.parse("model", n, a) }},
		"table":    {false, func(d *Desc, n *sexp, a []sexp) error { return d.imageRows.parse("table", n, a) }},
		"immortal": {false, func(d *Desc, n *sexp, a []sexp) error { return d.imageRows.parse("immortal", n, a) }},
		"version":  {false, parseVersion},
		"layout": {false, func(d *Desc, n *sexp, _ []sexp) error {
			l, err := parseLayout(n)
			if err != nil {
				return err
			}
			if d.Layouts[l.Name] != nil {
				return n.errorf("second layout %s", l.Name)
			}
			d.Layouts[l.Name] = l
			return nil
		}},
	}
}

// parse reads one clause about the image.
func (p *imageRows) parse(head string, n *sexp, a []sexp) error {
	switch head {
	case "location":
		return parseLocation(p, n, a)
	case "model":
		return parseModel(p, n, a)
	case "table":
		return parseTable(p, n, a)
	case "immortal":
		if len(a) != 3 || !p.hasLocation(&a[0]) || a[1].kind != numberNode || a[2].kind != numberNode || a[1].num < 0 || a[1].num >= a[2].num {
			return n.errorf("need (immortal LOCATION FROM TO)")
		}
		p.immortal = append(p.immortal, regionRow{a[0].text, uint64(a[1].num), uint64(a[2].num)})
		return nil
	}
	return n.errorf("unknown clause %s", head)
}

// parseVersion reads (version V CLAUSE...).
func parseVersion(d *Desc, n *sexp, args []sexp) error {
	if len(args) < 2 || args[0].kind != stringNode || !slices.Contains(d.Versions, args[0].text) || d.variants[args[0].text] != nil {
		return n.errorf("need (version V CLAUSE...), V one of the implementation's, once each")
	}
	p := &imageRows{}
	for i := range args[1:] {
		m := &args[1+i]
		head, a, err := clause(m)
		if err != nil {
			return err
		}
		if err := p.parse(head, m, a); err != nil {
			return err
		}
	}
	d.variants[args[0].text] = p
	return nil
}

func (p *imageRows) hasLocation(n *sexp) bool {
	return n.kind == symbolNode && slices.ContainsFunc(p.locations, func(l location) bool { return l.name == n.text })
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
		if head != "set" && head != "prepend" || len(a) != 2 || a[0].kind != stringNode || a[0].text == "" {
			return args[i].errorf("need (set NAME VALUE) or (prepend NAME VALUE)")
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

func parseModel(p *imageRows, n *sexp, a []sexp) error {
	usage := n.errorf("need (model NAME LOCATION CLAUSE...), clauses: (entry SYMBOL), (params N ...), (places LOCATION ...), (NAME N); or (model NAME (imports FUNCTION ...))")
	if len(a) < 2 || a[0].kind != symbolNode {
		return usage
	}
	r := modelRow{name: a[0].text, numbers: map[string]uint64{}}
	if head, args, err := clause(&a[1]); err == nil && head == "imports" && len(a) == 2 {
		r.imports, err = stringsOf(&a[1], args)
		p.models = append(p.models, r)
		return err
	}
	if !p.hasLocation(&a[1]) {
		return usage
	}
	r.location = a[1].text
	for i := range a[2:] {
		m := &a[2+i]
		head, args, err := clause(m)
		if err != nil {
			return err
		}
		switch head {
		case "entry":
			r.entry, err = stringOf(m, args)
		case "params":
			for k := range args {
				if args[k].kind != numberNode || args[k].num < 0 {
					return m.errorf("need numbers")
				}
				r.params = append(r.params, uint64(args[k].num))
			}
		case "places":
			for k := range args {
				if !p.hasLocation(&args[k]) {
					return args[k].errorf("need a location")
				}
				r.places = append(r.places, args[k].text)
			}
		default:
			if len(args) != 1 || args[0].kind != numberNode || args[0].num < 0 {
				return m.errorf("unexpected %s", head)
			}
			r.numbers[head] = uint64(args[0].num)
		}
		if err != nil {
			return err
		}
	}
	p.models = append(p.models, r)
	return nil
}

func parseLocation(p *imageRows, n *sexp, args []sexp) error {
	if len(args) < 2 || args[0].kind != symbolNode || p.hasLocation(&args[0]) {
		return n.errorf("need (location NEW-NAME (export SYMBOL), (returned-by FUNCTION), (last-call FUNCTION) or (shape INSTRUCTION...))")
	}
	l := location{name: args[0].text}
	for i := range args[1:] {
		m := &args[1+i]
		head, a, err := clause(m)
		if err != nil {
			return err
		}
		switch {
		case head == "export" && i == 0:
			l.export, err = stringOf(m, a)
		case head == "returned-by" && i == 0:
			l.returnedBy, err = stringOf(m, a)
		case head == "last-call" && i == 0:
			l.lastCall, err = stringOf(m, a)
		case head == "shape" && i == 0:
			l.shape, err = stringsOf(m, a)
		case head == "first-argument" && i == 0:
			if len(a) != 2 || a[0].kind != stringNode || a[1].kind != stringNode {
				return m.errorf("need (first-argument FUNCTION CALLEE)")
			}
			l.caller, l.callee = a[0].text, a[1].text
		case head == "string-at" && i == 1:
			if len(a) != 2 || a[0].kind != numberNode || a[0].num < 0 {
				return m.errorf("need (string-at OFFSET STRING)")
			}
			l.stringOff = uint64(a[0].num)
			l.stringWant, err = stringOf(m, a[1:])
		default:
			err = m.errorf("unexpected %s", head)
		}
		if err != nil {
			return err
		}
	}
	p.locations = append(p.locations, l)
	return nil
}

func parseTable(p *imageRows, n *sexp, args []sexp) error {
	usage := n.errorf("need (table NAME LOCATION OFFSET (stride N) (first N) (count N))")
	if len(args) != 6 || args[0].kind != symbolNode || !p.hasLocation(&args[1]) || args[2].kind != numberNode || args[2].num < 0 {
		return usage
	}
	var v [3]int64
	for i, word := range []string{"stride", "first", "count"} {
		head, a, err := clause(&args[3+i])
		if err != nil || head != word || len(a) != 1 || a[0].kind != numberNode {
			return usage
		}
		v[i] = a[0].num
	}
	if v[0] <= 0 || v[2] <= 0 {
		return usage
	}
	if slices.ContainsFunc(p.tables, func(t tableRow) bool { return t.name == args[0].text }) {
		return n.errorf("second table %s", args[0].text)
	}
	p.tables = append(p.tables, tableRow{args[0].text, args[1].text, uint64(args[2].num), uint64(v[0]), v[1], v[2]})
	return nil
}

// String names the description.
func (d *Desc) String() string { return d.Language + " " + strings.Join(d.Versions, ", ") }

// version is the one of the description's versions that an interpreter's belongs to, or "".
func (d *Desc) version(v string) string {
	for _, w := range d.Versions {
		if v == w || strings.HasPrefix(v, w+".") {
			return w
		}
	}
	return ""
}
