package interp

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"symchef/languages"
)

// MarkDir is the folder that calibration scripts look into: asking for MarkDir/NAME
// begins window NAME of the trace, any other name ends it. No such file exists.
const MarkDir = "/symchef/mark"

// ScriptDir is where the machine shows the calibration script.
const ScriptDir = "/symchef/calibrate"

// Windows of a calibration script, each a function that is called once.
const (
	WindowShort     = "short"     // so many statements in a row
	WindowLong      = "long"      // twice as many
	WindowLoop      = "loop"      // Rounds times round as many as short has
	WindowRecursion = "recursion" // a function that calls itself Depth times
	WindowMixed     = "mixed"     // many different operations
)

// What the windows of every script agree on.
const (
	Rounds = 3
	Depth  = 20
)

// Calibration says how an interpreter of one language is made to show its
// high-level program counter. docs/your-own-language.md explains each clause.
type Calibration struct {
	Language     string
	Interpreters []string // programs whose names begin so are of this language
	Suffix       string   // of scripts, with the dot; may be empty
	Script       string   // text
	Statements   int      // in its window short
	Prefer       string   // annotation: "KIND LOCATION" of the candidate to take; usually empty
	// Redispatch: the interpreter dispatches an instruction again after rewriting it, and none jumps to itself
	// except to loop for ever.
	Redispatch bool
	Codes      []CodeRule
	Text       string // the description itself
	argv       []string
	env        []envRule
}

// CodeRule says where the code object is that a high-level program counter is in.
// Calibration takes the first rule that holds.
type CodeRule struct {
	Name        string
	Object      *Place // address of the code object, from the frame and the program counter; nil: what calibration finds, a register or cell
	Start, Size *Place // of its bytecode: address, bytes; from the object
	Identity    []Part // what tells code objects apart, from the object; never written while it is in use
	Label       LabelRule
	// What a part of the identity is read by, if there is one of PartConstants, and of PartSlab.
	Objects, Slabs *Structure
}

// Part is one of the things that tell code objects apart.
type Part struct {
	Kind string // one of partKinds
	Args []Place
}

// Kinds of Part. Their readers stand in internal/hlpc/codes.go.
const (
	PartBytes     = "bytes"     // an address, and a number of bytes
	PartWords     = "words"     // the same, of words of 64 bits; those that point into the interpreter's function count from its module's start
	PartTexts     = "texts"     // the same, and how many bytes apart operands are; an operand that is an address counts as the text there
	PartConstants = "constants" // the address of a vector of objects, see Objects: what they hold
	PartSlab      = "slab"      // the address of an operation in a slab, see Slabs, and the type of those that begin statements: all of its slab
)

var partKinds = map[string]int{PartBytes: 2, PartWords: 2, PartTexts: 3, PartConstants: 1, PartSlab: 2}

const partUsage = "(ADDRESS BYTES), (words ADDRESS BYTES), (texts ADDRESS BYTES STEP), (constants ADDRESS) or (slab ADDRESS TYPE)"

// LabelRule says which parts of the identity name a code object for people. Parts are counted
// from 1; 0: there is none.
type LabelRule struct {
	File, Name int // text
	// Which parts say how many characters File and Name have, little-endian: those are units of one width, Latin-1, UCS-2 or UCS-4. 0: UTF-8.
	FileLength, NameLength int
	Line                   int    // the first line, a little-endian number
	Lines                  []int  // the lines of instructions, in the format
	Format                 string // one of lineFormats; empty: there are no lines
}

// lineFormats are the formats of line tables, with the number of parts that each takes. Their decoders, which say what each is, stand in
// internal/hlpc/label.go.
var lineFormats = map[string]int{
	LinesEntries:     1,
	LinesPairs:       2,
	LinesDifferences: 2,
	LinesWords:       1,
	LinesReferences:  1,
}

// Formats of line tables.
const (
	LinesEntries     = "entries"     // entries of a length and one of several kinds
	LinesPairs       = "pairs"       // pairs of a number of bytes and a number of lines, and the code that they are for
	LinesDifferences = "differences" // for each instruction a byte, how far its line is from the one before, and lines for those that a byte cannot tell
	LinesWords       = "words"       // for each instruction a line of 32 bits
	LinesReferences  = "references"  // constants, one of which has for each word of the code the number of the constant that is its place in the source
)

// Argv is the argument vector that runs the script.
func (c *Calibration) Argv(argv0 string) []string {
	out := []string{argv0}
	for _, a := range c.argv {
		if a == testWord {
			a = ScriptDir + "/" + c.ScriptName()
		}
		out = append(out, a)
	}
	return out
}

// ScriptName is the script's file name.
func (c *Calibration) ScriptName() string { return "script" + c.Suffix }

// Environ is base with the description's settings.
func (c *Calibration) Environ(base []string) []string {
	return (&Desc{env: c.env}).Environ(base, "")
}

var allCalibrations = sync.OnceValue(func() []*Calibration { return loadAll(languages.Calibration, LoadCalibration) })

// LoadCalibration reads the calibration of a language's folder. Errors begin with FOLDER/FILE:LINE:COLUMN.
func LoadCalibration(f languages.Folder) (*Calibration, error) {
	src, err := fs.ReadFile(f.Files, languages.Calibration)
	if err != nil {
		return nil, err
	}
	c, err := ParseCalibration(string(src))
	if err == nil && c.Language != f.Name {
		err = fmt.Errorf("1:1: the language %s stands in a folder that is called %s", c.Language, f.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s/%s:%w", f.Name, languages.Calibration, err)
	}
	return c, nil
}

// Calibrations returns those added, and then those in the binary, sorted by language.
func Calibrations() []*Calibration { return allCalibrations() }

// CalibrationOf returns the one of a language.
func CalibrationOf(language string) (*Calibration, bool) {
	for _, c := range Calibrations() {
		if c.Language == language {
			return c, true
		}
	}
	return nil, false
}

// CalibrationFor returns the one whose interpreters' names begin the program's; the longest match wins.
func CalibrationFor(program string) (*Calibration, bool) {
	base, best, length := filepath.Base(program), (*Calibration)(nil), 0
	for _, c := range Calibrations() {
		for _, n := range c.Interpreters {
			if strings.HasPrefix(base, n) && len(n) > length {
				best, length = c, len(n)
			}
		}
	}
	return best, best != nil
}

// ParseCalibration reads a (calibration LANGUAGE CLAUSE...). Errors begin with LINE:COLUMN.
func ParseCalibration(src string) (*Calibration, error) {
	root, err := parseSexp(src)
	if err != nil {
		return nil, err
	}
	head, args, err := clause(root)
	if err != nil {
		return nil, err
	}
	if head != "calibration" || len(args) == 0 || args[0].kind != symbolNode {
		return nil, root.errorf("need (calibration LANGUAGE CLAUSE...)")
	}
	f, _ := rootForm("calibration")
	if err := f.check(root); err != nil {
		return nil, err
	}
	if err := complete(root, "calibration"); err != nil {
		return nil, err
	}
	c := &Calibration{Language: args[0].text, Statements: 100, Text: src}
	for i := range args[1:] {
		n := &args[1+i]
		head, a, err := clause(n)
		if err != nil {
			return nil, err
		}
		d := &Desc{}
		switch head {
		case "interpreters":
			c.Interpreters, err = stringsOf(n, a)
		case "suffix":
			c.Suffix, err = stringOf(n, a)
		case "argv":
			err = parseScriptArgv(d, n, a)
			c.argv = d.argv
		case "env":
			err = parseEnv(d, n, a)
			c.env = d.env
		case "prefer":
			c.Prefer, err = stringOf(n, a)
		case "redispatch":
			c.Redispatch = true
		case "script":
			c.Script, err = parseScript(a)
		case "statements":
			if a[0].num < 10 || a[0].num > 1000 {
				return nil, n.errorf("need (statements N), N from 10 to 1000")
			}
			c.Statements = int(a[0].num)
		case "code":
			var r CodeRule
			r, err = parseCode(n, a)
			if slices.ContainsFunc(c.Codes, func(o CodeRule) bool { return o.Name == r.Name }) {
				err = n.errorf("second code %s", r.Name)
			}
			c.Codes = append(c.Codes, r)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// parseScriptArgv is parseArgv with the word script for the test.
func parseScriptArgv(d *Desc, n *sexp, args []sexp) error {
	words := slices.Clone(args)
	for i := range words {
		if words[i].kind == symbolNode && words[i].text == "script" {
			words[i].text = "test"
		}
	}
	return parseArgv(d, n, words)
}

// parseScript joins lines; (repeat N LINE...) stands for N copies.
func parseScript(args []sexp) (string, error) {
	var b strings.Builder
	for i := range args {
		n := &args[i]
		if n.kind == stringNode {
			b.WriteString(n.text + "\n")
			continue
		}
		head, a, err := clause(n)
		if err != nil {
			return "", err
		}
		if head != "repeat" || len(a) < 2 || a[0].kind != numberNode || a[0].num < 1 || a[0].num > 1000 {
			return "", n.errorf("need a line or (repeat N LINE...)")
		}
		lines, err := stringsOf(n, a[1:])
		if err != nil {
			return "", err
		}
		b.WriteString(strings.Repeat(strings.Join(lines, "\n")+"\n", int(a[0].num)))
	}
	return b.String(), nil
}

func parseCode(n *sexp, args []sexp) (CodeRule, error) {
	usage := n.errorf("need (code NAME (object NAME PLACE) (let NAME PLACE)... (start PLACE) (size PLACE) (identity (ADDRESS BYTES)...))")
	if len(args) < 4 || args[0].kind != symbolNode {
		return CodeRule{}, usage
	}
	r, names, found := CodeRule{Name: args[0].text}, places{"frame": {op: "frame"}, "pc": {op: "pc"}}, false
	bounds := map[string]**Place{"start": &r.Start, "size": &r.Size}
	structures := map[string]**Structure{"objects": &r.Objects, "slabs": &r.Slabs}
	for i := range args[1:] {
		head, a, err := clause(&args[1+i])
		if err != nil {
			return CodeRule{}, usage
		}
		switch {
		case head == "object" && len(a) == 2 && a[0].kind == symbolNode && !found:
			if found = true; a[1].kind != symbolNode || a[1].text != "anywhere" {
				r.Object, err = names.parse(&a[1])
			}
			names = places{a[0].text: {op: "object"}}
		case !found:
			err = usage
		case head == "let" && len(a) == 2 && a[0].kind == symbolNode:
			err = names.let(a, args[1+i+1:])
		case bounds[head] != nil && len(a) == 1:
			*bounds[head], err = names.parse(&a[0])
		case head == "identity":
			r.Identity, err = names.parts(a)
		case head == "label":
			r.Label, err = parseLabel(a)
		case structures[head] != nil:
			*structures[head], err = parseStructure(&args[1+i], a)
		default:
			err = usage
		}
		if err != nil {
			return CodeRule{}, err
		}
	}
	if r.Start == nil || r.Size == nil || r.Identity == nil {
		return CodeRule{}, usage
	}
	if err := r.check(n); err != nil {
		return CodeRule{}, err
	}
	return r, nil
}

// check reports what the clauses of n, each right by itself, contradict each other in.
func (r *CodeRule) check(n *sexp) error {
	l := &r.Label
	if slices.Max(append([]int{l.File, l.FileLength, l.Name, l.NameLength, l.Line}, l.Lines...)) > len(r.Identity) {
		return n.errorf("label: the identity has %d parts", len(r.Identity))
	}
	for _, kind := range slices.Sorted(maps.Keys(structureOf)) {
		form := structureOf[kind]
		has := slices.ContainsFunc(r.Identity, func(p Part) bool { return p.Kind == kind })
		if x := map[string]*Structure{"objects": r.Objects, "slabs": r.Slabs}[form]; has != (x != nil) {
			return n.errorf("(%s ...) and a part (%s ...) of the identity go together", form, kind)
		}
	}
	if l.Format == LinesReferences && r.Identity[l.Lines[0]-1].Kind != PartConstants {
		return n.errorf("label: lines of %s are in a part (%s ...) of the identity", LinesReferences, PartConstants)
	}
	return nil
}

// let gives a place a name, which something in the nodes that follow must use.
func (p places) let(a, after []sexp) (err error) {
	name := a[0].text
	if p[name] != nil {
		return a[0].errorf("%s is already defined", name)
	}
	if p[name], err = p.parse(&a[1]); !mentioned(after, name) {
		return a[0].errorf("nothing uses %s", name)
	}
	return err
}

// mentioned says whether a name stands anywhere in nodes.
func mentioned(nodes []sexp, name string) bool {
	return slices.ContainsFunc(nodes, func(n sexp) bool {
		return n.kind == symbolNode && n.text == name || mentioned(n.list, name)
	})
}

// parseLabel reads (file N [LENGTH]) (name N [LENGTH]) (line N) (lines FORMAT N...).
func parseLabel(args []sexp) (r LabelRule, err error) {
	for i := range args {
		head, a, err := clause(&args[i])
		if err != nil {
			return r, err
		}
		if head == "lines" && len(a) > 0 {
			if r.Format = a[0].text; lineFormats[r.Format] == 0 {
				return r, a[0].errorf("unknown format %s: %s", r.Format, instead(r.Format, slices.Collect(maps.Keys(lineFormats))))
			}
			a = a[1:]
		}
		var parts []int
		for k := range a {
			if a[k].kind != numberNode || a[k].num < 1 {
				return r, a[k].errorf("need a part of the identity, from 1")
			}
			parts = append(parts, int(a[k].num))
		}
		switch {
		case head == "file" && (len(parts) == 1 || len(parts) == 2):
			r.File, r.FileLength = parts[0], append(parts, 0)[1]
		case head == "name" && (len(parts) == 1 || len(parts) == 2):
			r.Name, r.NameLength = parts[0], append(parts, 0)[1]
		case head == "line" && len(parts) == 1:
			r.Line = parts[0]
		case head == "lines" && len(parts) > 0 && len(parts) == lineFormats[r.Format]:
			r.Lines = parts
		default:
			return r, args[i].errorf("need (file N), (file N LENGTH), (name N), (name N LENGTH), (line N) or (lines FORMAT N...), FORMAT one of %s",
				strings.Join(slices.Sorted(maps.Keys(lineFormats)), ", "))
		}
	}
	return r, nil
}

// placeOps are the operators of places, with the number of their operands.
var placeOps = map[string]int{"add": 2, "mul": 2, "and": 2, "if": 3, "load8": 2, "load4": 2, "load2": 2, "strlen": 2}

// Place is an expression over a running interpreter: (add P P), (mul P P), (and P P), (if P P P), whose second operand counts unless the first is 0,
// (load8 P OFFSET), (load4 P OFFSET), (load2 P OFFSET), (strlen P OFFSET), a number, the frame, the program counter or the code object.
type Place struct {
	op   string
	num  uint64
	args []Place
}

// maxString bounds the bytes of a text.
const maxString = 1 << 20

// Roots are the values that a Place starts from.
type Roots struct{ Frame, PC, Object uint64 }

// Eval computes the place; read returns n bytes at an address, little-endian.
func (p *Place) Eval(r Roots, read func(addr uint64, n int) (uint64, error)) (uint64, error) {
	switch p.op {
	case "":
		return p.num, nil
	case "frame":
		return r.Frame, nil
	case "pc":
		return r.PC, nil
	case "object":
		return r.Object, nil
	}
	a, err := p.args[0].Eval(r, read)
	if err != nil {
		return 0, err
	}
	if p.op == "if" {
		if a != 0 {
			return p.args[1].Eval(r, read)
		}
		return p.args[2].Eval(r, read)
	}
	b, err := p.args[1].Eval(r, read)
	if err != nil {
		return 0, err
	}
	switch p.op {
	case "add":
		return a + b, nil
	case "mul":
		return a * b, nil
	case "and":
		return a & b, nil
	case "load4":
		return read(a+b, 4)
	case "load2":
		return read(a+b, 2)
	case "strlen":
		for n := uint64(0); n < maxString; n++ {
			if c, err := read(a+b+n, 1); c == 0 || err != nil {
				return n, err
			}
		}
		return 0, errors.New("a text without its end")
	}
	return read(a+b, 8)
}

// places are the names that may be used: of the frame and the program counter, or of the object and what let clauses gave.
type places map[string]*Place

// parts reads (ADDRESS BYTES)..., each with a kind before it or none.
func (p places) parts(args []sexp) (out []Part, err error) {
	for i := range args {
		n := &args[i]
		if n.kind != listNode || len(n.list) == 0 {
			return nil, n.errorf("need (ADDRESS BYTES)")
		}
		q, list := Part{Kind: PartBytes}, n.list
		if list[0].kind == symbolNode && partKinds[list[0].text] != 0 {
			q.Kind, list = list[0].text, list[1:]
		} else if list[0].kind == symbolNode && p[list[0].text] == nil {
			return nil, list[0].errorf("unknown kind or name %s: %s", list[0].text, instead(list[0].text, slices.Collect(maps.Keys(partKinds))))
		}
		if len(list) != partKinds[q.Kind] {
			return nil, n.errorf("need %s", partUsage)
		}
		for k := range list {
			at, err := p.parse(&list[k])
			if err != nil {
				return nil, err
			}
			q.Args = append(q.Args, *at)
		}
		out = append(out, q)
	}
	return out, nil
}

func (p places) parse(n *sexp) (*Place, error) {
	switch {
	case n.kind == numberNode:
		return &Place{num: uint64(n.num)}, nil
	case n.kind == symbolNode && p[n.text] != nil:
		return p[n.text], nil
	case n.kind == symbolNode:
		return nil, n.errorf("unknown name %s: %s", n.text, instead(n.text, slices.Collect(maps.Keys(p))))
	}
	head, a, err := clause(n)
	if err != nil {
		return nil, err
	}
	if placeOps[head] == 0 {
		return nil, n.errorf("unknown operator %s: %s", head, instead(head, slices.Collect(maps.Keys(placeOps))))
	}
	if len(a) != placeOps[head] {
		return nil, n.errorf("need a number, a name, (add P P), (mul P P), (and P P), (if P P P), (load8 P OFFSET), (load4 P OFFSET), (load2 P OFFSET) or (strlen P OFFSET)")
	}
	out := &Place{op: head}
	for i := range a {
		q, err := p.parse(&a[i])
		if err != nil {
			return nil, err
		}
		out.args = append(out.args, *q)
	}
	return out, nil
}

// Loads returns the offsets of the loads that lead from the frame to p; ok is false if p is anything else.
func (p *Place) Loads() (offs []int32, ok bool) {
	if p.op == "frame" {
		return nil, true
	}
	if p.op != "load8" || p.args[1].op != "" || int64(p.args[1].num) != int64(int32(p.args[1].num)) {
		return nil, false
	}
	offs, ok = p.args[0].Loads()
	return append(offs, int32(p.args[1].num)), ok
}

// String prints the place as it is written.
func (p *Place) String() string {
	switch p.op {
	case "":
		return fmt.Sprint(int64(p.num))
	case "frame", "pc", "object":
		return p.op
	}
	text := "(" + p.op
	for i := range p.args {
		text += " " + p.args[i].String()
	}
	return text + ")"
}
