package interp

import (
	"slices"
	"strings"

	"symchef/internal/model"
)

// imageRows are what is looked for in an interpreter's image.
type imageRows struct {
	told      []string // names of numbers that the probe tells
	locations []location
	models    []modelRow
}

// location is a named place of the image.
type location struct {
	name     string
	optional bool
	how      string   // one of ways
	words    []string // its operands
	// stringOff: the pointer at +stringOff must point to a string that is stringWant, a pattern; not checked when empty.
	stringOff  uint64
	stringWant string
	calls      string   // a location that its code calls, or jumps to; not checked when empty
	has        []string // instructions that its code has; not checked when empty
	used       bool     // something refers to it
	at         *sexp    // where it stands
}

type modelRow struct {
	name, location string
	optional       bool
	entry          string   // exported function that the model replaces; empty: the location is what the model is about
	also           string   // another one; empty: there is none
	places         []string // names of further locations
	imports        []string // functions that the image gets from other objects; then there is no location
	mayImport      []string // likewise, if it gets them
	numbers        map[string]amount
	functions      map[string]*function // by what they do
	program        string
}

// function is an exported one that a model needs: its name, and where a version has another one, that.
type function struct {
	name string
	in   map[string]string
	at   map[string]*sexp // where the versions stand
}

// of is its name in a version.
func (f *function) of(version string) string {
	if name, ok := f.in[version]; ok {
		return name
	}
	return f.name
}

// parseFunction reads "FUNCTION" (version V "FUNCTION")..., which stand in n.
func parseFunction(n *sexp, args []sexp) (*function, error) {
	f := &function{in: map[string]string{}, at: map[string]*sexp{}}
	for i := range args {
		a := &args[i]
		switch head, more, err := clause(a); {
		case i == 0 && fits("text", a):
			f.name = a.text
		case i > 0 && err == nil && head == "version" && len(more) == 2 && fits("text", &more[0]) && fits("text", &more[1]):
			if f.at[more[0].text] != nil {
				return nil, more[0].errorf("second %q", more[0].text)
			}
			if more[1].text == f.name {
				return nil, more[1].errorf("version %q has the same name", more[0].text)
			}
			f.in[more[0].text], f.at[more[0].text] = more[1].text, &more[0]
		default:
			return nil, a.errorf(`need (%s "FUNCTION" (version V "FUNCTION")...)`, n.list[0].text)
		}
	}
	if f.name == "" {
		return nil, n.errorf(`need (%s "FUNCTION" (version V "FUNCTION")...)`, n.list[0].text)
	}
	return f, nil
}

// imageClauses read the forms about the image.
var imageClauses map[string]func(p *imageRows, n *sexp, args []sexp, optional bool) error

func init() {
	imageClauses = map[string]func(p *imageRows, n *sexp, args []sexp, optional bool) error{
		"location": parseLocation,
		"model":    parseModel,
		"optional": func(p *imageRows, _ *sexp, a []sexp, _ bool) error {
			for i := range a {
				if err := p.parse(&a[i], true); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// parse reads one form about the image.
func (p *imageRows) parse(n *sexp, optional bool) error {
	return imageClauses[n.list[0].text](p, n, n.list[1:], optional)
}

// parseVersion reads (version V CLAUSE...).
func parseVersion(d *Desc, n *sexp, args []sexp) error {
	if !slices.Contains(d.Versions, args[0].text) || d.variants[args[0].text] != nil {
		return n.errorf("need (version V CLAUSE...), V one of the implementation's, once each; %s", instead(args[0].text, d.Versions))
	}
	p := &imageRows{told: d.told}
	for i := range args[1:] {
		if err := p.parse(&args[1+i], false); err != nil {
			return err
		}
	}
	for _, l := range p.locations {
		if d.named(l.name) != nil {
			return l.at.errorf("second location %s", l.name)
		}
	}
	d.variants[args[0].text] = p
	return nil
}

// named is the location of a name; nil: there is none.
func (p *imageRows) named(name string) *location {
	for i := range p.locations {
		if p.locations[i].name == name {
			return &p.locations[i]
		}
	}
	return nil
}

// use notes that n refers to a location.
func (p *imageRows) use(n *sexp) error {
	var names []string
	for i := range p.locations {
		l := &p.locations[i]
		if n.kind == symbolNode && l.name == n.text {
			l.used = true
			return nil
		}
		names = append(names, l.name)
	}
	return n.errorf("need a location: %s", instead(n.text, names))
}

// ways are how a location may be found.
var ways = []string{"export", "returned-by", "beneath", "probed", "shape"}

func parseLocation(p *imageRows, n *sexp, args []sexp, optional bool) error {
	l := location{name: args[0].text, optional: optional, at: n}
	if p.named(l.name) != nil {
		return n.errorf("second location %s", l.name)
	}
	for i := range args[1:] {
		m := &args[1+i]
		head, a := m.list[0].text, m.list[1:]
		switch {
		case slices.Contains(ways, head):
			if l.how != "" {
				return m.errorf("location %s is found by %s already", l.name, l.how)
			}
			l.how = head
			for k := range a {
				l.words = append(l.words, a[k].text)
			}
		case head == "string-at":
			l.stringOff = uint64(a[0].num)
			l.stringWant = a[1].text
		case head == "has":
			for k := range a {
				l.has = append(l.has, a[k].text)
			}
		case head == "calls":
			if err := p.use(&a[0]); err != nil {
				return err
			}
			l.calls = a[0].text
		}
	}
	if l.how == "" {
		return n.errorf("need (location NEW-NAME WAY...), WAY one of %s", listed(ways))
	}
	p.locations = append(p.locations, l)
	return nil
}

func parseModel(p *imageRows, n *sexp, a []sexp, optional bool) error {
	r := modelRow{name: a[0].text, optional: optional, numbers: map[string]amount{}, functions: map[string]*function{}}
	kind := model.Of(r.name)
	known := kind
	if kind == nil {
		known = &model.Kind{} // the rest is read to tell of its mistakes first
	}
	forms := a[1:]
	if imports := len(forms) > 0 && fits("form", &a[1]) && a[1].list[0].text == "imports"; imports != (known.Imports != nil) && kind != nil {
		return n.errorf("model %s: need %s", r.name, map[bool]string{true: "its location", false: "(imports FUNCTION...)"}[imports])
	} else if !imports && known.Functions == nil {
		if len(forms) == 0 {
			return n.errorf("need (model NAME LOCATION (...)...)")
		}
		if err := p.use(&a[1]); err != nil {
			return n.errorf("need (model NAME LOCATION (...)...): %v", err)
		}
		r.location, forms = a[1].text, a[2:]
	}
	for i := range forms {
		if err := r.clause(p, &forms[i], known, kind != nil); err != nil {
			return err
		}
	}
	if kind == nil {
		return a[0].errorf("unknown model %s: %s", r.name, instead(r.name, model.Names()))
	}
	if err := r.of(kind, n); err != nil {
		return err
	}
	p.models = append(p.models, r)
	return nil
}

// clause reads a clause of r, a model of kind; there is no such kind where exists is false.
func (r *modelRow) clause(p *imageRows, m *sexp, kind *model.Kind, exists bool) error {
	head, args, err := clause(m)
	if err != nil {
		return err
	}
	_, heads := within("model")
	if slices.Contains(heads, head) {
		if err := checkForm(m, "model"); err != nil {
			return err
		}
	}
	switch head {
	case "entry":
		r.entry = args[0].text
		return nil
	case "also":
		r.also = args[0].text
		return nil
	case "places":
		return r.parsePlaces(p, args, kind, exists)
	case "imports":
		return r.parseImports(args, kind.Imports, false)
	case "program":
		lines, err := stringsOf(m, args)
		r.program = strings.Join(lines, "\n")
		return err
	}
	switch {
	case slices.Contains(kind.Functions, head):
		if r.functions[head] != nil {
			return m.errorf("second %s", head)
		}
		r.functions[head], err = parseFunction(m, args)
		return err
	case kind.Functions != nil:
		return m.errorf("model %s has no function %s: %s", r.name, head, instead(head, append(kind.Functions, "program")))
	case exists && !slices.Contains(kind.AllNumbers(), head):
		return m.errorf("model %s has no number %s: %s", r.name, head, instead(head, append(kind.AllNumbers(), heads...)))
	case len(args) != 1:
		return m.errorf("need (%s N), N a number that is not negative", head)
	}
	number, err := parseAmount(&args[0], p.told)
	if err != nil {
		return err
	}
	if _, twice := r.numbers[head]; twice {
		return m.errorf("second %s", head)
	}
	r.numbers[head] = number
	return nil
}

// parsePlaces reads the names of places that r uses beside its location.
func (r *modelRow) parsePlaces(p *imageRows, args []sexp, kind *model.Kind, exists bool) error {
	for k := range args {
		if err := p.use(&args[k]); err != nil {
			return err
		}
		name := args[k].text
		if exists && !kind.More && !slices.Contains(kind.AllPlaces(), name) {
			return args[k].errorf("model %s has no place %s: %s", r.name, name, instead(name, kind.AllPlaces()))
		}
		if slices.Contains(r.places, name) {
			return args[k].errorf("second place %s", name)
		}
		r.places = append(r.places, name)
	}
	return nil
}

// parseImports reads functions, of those that are known.
func (r *modelRow) parseImports(args []sexp, known []string, optional bool) error {
	for i := range args {
		a := &args[i]
		if head, more, err := clause(a); err == nil && head == "optional" && !optional && len(more) > 0 {
			if err := r.parseImports(more, known, true); err != nil {
				return err
			}
			continue
		}
		if a.kind != stringNode {
			return a.errorf(`need "FUNCTION" or (optional "FUNCTION"...)`)
		}
		if !slices.Contains(known, a.text) {
			return a.errorf("no model of the function %q: %s", a.text, instead(a.text, known))
		}
		if slices.Contains(r.imports, a.text) || slices.Contains(r.mayImport, a.text) {
			return a.errorf("second %q", a.text)
		}
		if optional {
			r.mayImport = append(r.mayImport, a.text)
		} else {
			r.imports = append(r.imports, a.text)
		}
	}
	return nil
}
