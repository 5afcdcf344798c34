package interp

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"symchef/internal/disk"
)

// probe is a program that an interpreter runs about itself: it makes objects of known content and tells where in them the
// content is. So a layout holds for each version and build in which it was found, and no version is a condition.
type probe struct {
	file      string   // in the language's folder
	arguments []string // with which the interpreter reads it from its standard input
}

// Facts is what a probe has told.
type Facts struct {
	Numbers map[string]int64
	Places  map[string]Variable
	Why     map[string]string   // of what is not known
	None    map[string]bool     // places that the interpreter does without
	Words   map[string][]string // by form: what that may hold
}

// Variable is the address of a variable, or of a function, and of the beginning of the file that it belongs to, in the process of the probe.
type Variable struct{ Address, Base uint64 }

// amount is a number of a description, or the name of one that the probe tells.
type amount struct {
	n    int64
	told string // what n is added to; empty: nothing
}

// value is the number; false if it is not known.
func (a amount) value(f *Facts) (int64, bool) {
	if a.told == "" {
		return a.n, true
	}
	n, ok := f.Numbers[a.told]
	return n + a.n, ok
}

// parseAmount reads a number that is not negative, or one of the names.
func parseAmount(n *sexp, told []string) (amount, error) {
	switch {
	case n.kind == numberNode && n.num >= 0:
		return amount{n: n.num}, nil
	case n.kind == symbolNode && slices.Contains(told, n.text):
		return amount{told: n.text}, nil
	case n.kind == symbolNode:
		return amount{}, n.errorf("unknown number %s: %s", n.text, instead(n.text, told))
	}
	return amount{}, n.errorf("need a number that is not negative")
}

// parseProbe reads (probe FILE (arguments TEXT...) (numbers NAME...)).
func parseProbe(d *Desc, n *sexp, a []sexp) error {
	d.probe = &probe{file: a[0].text}
	for i := range a[1:] {
		m := &a[1+i]
		for k := range m.list[1:] {
			w := &m.list[1+k]
			if m.list[0].text == "arguments" {
				d.probe.arguments = append(d.probe.arguments, w.text)
				continue
			}
			if slices.Contains(d.told, w.text) {
				return w.errorf("second %s", w.text)
			}
			d.told = append(d.told, w.text)
		}
	}
	return nil
}

// mentionedBeside says whether a name stands anywhere in n but in except.
func mentionedBeside(n, except *sexp, name string) bool {
	if n == except {
		return false
	}
	for i := range n.list {
		if m := &n.list[i]; m.kind == symbolNode && m.text == name || mentionedBeside(m, except, name) {
			return true
		}
	}
	return false
}

// probeTimeout bounds how long an interpreter may take to look at itself.
const probeTimeout = 60 * time.Second

// facts are what the interpreter at path, whose image is o, tells of itself; none where the language has no probe. cache is a folder in which that is kept for the
// build; empty: nowhere.
func (d *Desc) facts(path string, o *object, cache string) *Facts {
	if d.probe == nil {
		return newFacts()
	}
	script, err := fs.ReadFile(d.Folder.Files, d.probe.file)
	if err != nil {
		return d.unknown(newFacts(), err)
	}
	name := fmt.Sprintf("%x.facts", sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %s", script, d.probe.arguments, path, o.path, o.build())))
	if f, ok := told.Load(name); ok {
		return f.(*Facts)
	}
	file := filepath.Join(cache, name)
	if b, err := disk.Read(file); err == nil && cache != "" {
		if f := newFacts(); json.Unmarshal(b, f) == nil {
			return f
		}
	}
	f := newFacts()
	if err := d.probe.run(path, script, f); err != nil {
		return d.unknown(f, err)
	}
	told.Store(name, f)
	if b, err := json.Marshal(f); err == nil && cache != "" {
		_ = disk.Replace(cache, name, b, 0o600) // without it the next run asks again
	}
	return f
}

// told is what this process was told, by the names of files.
var told sync.Map

func newFacts() *Facts {
	return &Facts{Numbers: map[string]int64{}, Places: map[string]Variable{}, Why: map[string]string{}, None: map[string]bool{}, Words: map[string][]string{}}
}

// unknown notes that nothing more will be told.
func (d *Desc) unknown(f *Facts, err error) *Facts {
	for _, name := range d.told {
		if _, ok := f.Numbers[name]; !ok {
			f.Why[name] = fmt.Sprintf("the interpreter did not tell: %v", err)
		}
	}
	return f
}

// build tells one build of a file from others.
func (o *object) build() string {
	st, err := os.Stat(o.path)
	if err != nil {
		return o.buildID()
	}
	return fmt.Sprintf("%s %d %d", o.buildID(), st.Size(), st.ModTime().UnixNano())
}

// run has the interpreter at path read the script.
func (p *probe) run(path string, script []byte, f *Facts) error {
	out, err := Ask(Question{Path: path, Args: p.arguments, Stdin: script, Time: probeTimeout, Trusted: true}) // it has said what it is
	if err != nil {
		return err
	}
	return f.read(string(out))
}

var errFact = errors.New("a line is not what a probe may tell")

// read reads what a probe printed.
func (f *Facts) read(out string) error {
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) == 2 && words[0] == "none" {
			f.None[words[1]] = true
			continue
		}
		if len(words) < 3 {
			return errFact
		}
		name := words[1]
		switch {
		case words[0] == "number" && len(words) == 3:
			n, err := strconv.ParseInt(words[2], 10, 64)
			if err != nil {
				return err
			}
			f.Numbers[name] = n
		case words[0] == "place" && len(words) == 4:
			at, err1 := strconv.ParseUint(words[2], 10, 64)
			base, err2 := strconv.ParseUint(words[3], 10, 64)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			f.Places[name] = Variable{at, base}
		case words[0] == "word":
			f.Words[name] = append(f.Words[name], strings.Join(words[2:], " "))
		case words[0] == "without":
			f.Why[name] = strings.Join(words[2:], " ")
		default:
			return errFact
		}
	}
	return nil
}

// words holds the texts of d against what its probe tells of them: a form that it tells nothing of is not looked at.
func (d *Desc) words(f *Facts) error {
	for _, name := range slices.Sorted(maps.Keys(f.Words)) {
		n := find(d.root, name)
		if n == d.root {
			continue
		}
		for i := range n.list[1:] {
			if w := &n.list[1+i]; !slices.Contains(f.Words[name], strings.TrimSpace(w.text)) {
				return w.errorf("the interpreter knows no such %s as %q: %s", name, w.text, instead(strings.TrimSpace(w.text), f.Words[name]))
			}
		}
	}
	return nil
}

// lacking says why a number or a place is not known.
func (f *Facts) lacking(name string) error {
	if why := f.Why[name]; why != "" {
		return errors.New(why)
	}
	return fmt.Errorf("the probe does not tell %s", name)
}

// place is the address of a variable in the image.
func (f *Facts) place(o *object, relative bool, name string) (uint64, error) {
	p, ok := f.Places[name]
	if !ok {
		return 0, f.lacking(name)
	}
	at := p.Address
	if relative {
		at -= p.Base
	}
	if _, err := o.read(at, 8); err != nil {
		return 0, fmt.Errorf("the probe found %s outside the image: %w", name, err)
	}
	return at, nil
}

// learn adds what f tells to the image: the layouts of d, and where objects count references.
func (img *Image) learn(d *Desc, f *Facts) {
	for _, name := range d.told {
		if _, ok := f.Numbers[name]; !ok {
			img.Without = append(img.Without, Missing{"number " + name, f.lacking(name).Error()})
		}
	}
	img.Layouts = map[string]*Layout{}
	for _, name := range slices.Sorted(maps.Keys(d.Layouts)) {
		l, lacks := d.Layouts[name].with(f)
		if img.Layouts[name] = l; l == nil {
			img.Without = append(img.Without, Missing{"layout " + name, "without the number " + lacks})
		}
	}
	img.References = -1
	if d.references != nil {
		if n, ok := d.references.value(f); ok {
			img.References = n
		}
	}
}
