package device

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Version is the protocol's version, the field of hello.
const Version = 1

// MaxLine bounds a request's bytes, '\n' included.
const MaxLine = 4 << 20

// Verb is a request's first word.
type Verb uint8

// The requests of the protocol.
const (
	VerbHello Verb = iota + 1
	VerbBegin
	VerbInput
	VerbPlace
	VerbValue
	VerbBounds
	VerbSymbolic
	VerbConcretize
	VerbAssume
	VerbPrune
	VerbLog
	VerbExpect
	VerbChosen
	VerbReturned
	VerbFrames
	VerbOutcome
	VerbEnd
	VerbUsage
	VerbTests
	VerbImmortal
	VerbStep
	VerbShape
	VerbFunction
	VerbJudged
)

// row describes one verb: its word, and the codec of its fields.
type row struct {
	name   string
	parse  func(r *Request, f *fields)
	format func(r *Request) []string
}

var verbs = [...]row{
	VerbHello:      {"hello", func(r *Request, f *fields) { r.Version = f.int("version") }, func(r *Request) []string { return []string{strconv.Itoa(r.Version)} }},
	VerbBegin:      {"begin", parseBegin, formatBegin},
	VerbInput:      {"input", parseInput, formatInput},
	VerbPlace:      {"place", parsePlace, formatPlace},
	VerbValue:      {"value", parseValue, formatValue},
	VerbBounds:     {"bounds", func(r *Request, f *fields) { r.span(f, 1, 8) }, formatSpan},
	VerbSymbolic:   {"symbolic", func(r *Request, f *fields) { r.span(f, 1, MaxSpan) }, formatSpan},
	VerbConcretize: {"concretize", func(r *Request, f *fields) { r.text(f, 1) }, formatSpan},
	VerbAssume:     {"assume", func(r *Request, f *fields) { r.span(f, 1, 8) }, formatSpan},
	VerbPrune:      {"prune", nil, nil},
	VerbLog:        {"log", func(r *Request, f *fields) { r.text(f, 0) }, formatSpan},
	VerbExpect:     {"expect", parseExpect, formatExpect},
	VerbChosen:     {"chosen", func(r *Request, f *fields) { r.ID = f.int("input"); r.text(f, 0) }, func(r *Request) []string { return append([]string{strconv.Itoa(r.ID)}, formatSpan(r)...) }},
	VerbReturned:   {"returned", func(r *Request, f *fields) { r.text(f, 0) }, formatSpan},
	VerbFrames:     {"frames", parseFrames, formatFrames},
	VerbOutcome:    {"outcome", parseOutcome, formatOutcome},
	VerbEnd:        {"end", nil, nil},
	VerbUsage:      {"usage", func(r *Request, f *fields) { r.Text = f.text("text") }, func(r *Request) []string { return []string{Quote(r.Text)} }},
	VerbTests:      {"tests", func(r *Request, f *fields) { r.Tests = f.list("test", MaxTests) }, func(r *Request) []string { return formatList(r.Tests) }},
	VerbImmortal:   {"immortal", func(r *Request, f *fields) { r.text(f, 0) }, formatSpan},
	VerbStep: {"step", parseStep, func(r *Request) []string {
		return []string{strconv.FormatUint(uint64(r.Step), 10), strconv.FormatUint(r.Opcode, 10)}
	}},
	VerbShape:    {"shape", parseShape, formatShape},
	VerbFunction: {"function", parseFunction, formatFunction},
	VerbJudged:   {"judged", func(r *Request, f *fields) { r.Text = f.text("text") }, func(r *Request) []string { return []string{Quote(r.Text)} }},
}

// MaxSpan bounds LEN where the protocol does not say at most 8.
const MaxSpan = 64 << 20

// String is the verb's word.
func (v Verb) String() string {
	if v < VerbHello || int(v) >= len(verbs) {
		return "invalid"
	}
	return verbs[v].name
}

// OutcomeKind is how a test ended, as the guest library sees it.
type OutcomeKind string

// The kinds of outcome a guest reports.
const (
	OutcomeOK        OutcomeKind = "ok"
	OutcomeException OutcomeKind = "exception"
	OutcomeAssertion OutcomeKind = "assertion"
	OutcomeExpected  OutcomeKind = "expected"
	OutcomeExit      OutcomeKind = "exit" // the process is about to end with a status
)

// Request is one parsed request. Fields that the verb does not have are zero.
type Request struct {
	Verb     Verb
	Version  int      // hello
	Input    *Input   // input; valid, ID 0
	ID       int      // place, value, chosen: the input's
	Layout   string   // place: a layout's name in the language's description
	Addr     uint64   // place, bounds, symbolic, concretize, assume, log, chosen, returned, outcome, immortal: a guest address
	Len      uint64   // bytes at Addr (not for place), or to be read (value)
	Less     int64    // value: what is subtracted from the number
	Inline   bool     // concretize, log, chosen, returned, outcome, immortal: the Len bytes follow the line, there is no Addr
	Types    []string // expect: qualified names, at least one
	Frames   []string // frames: FILE:LINE:FUNCTION, outermost first
	Tests    []string // tests: the names
	Kind     OutcomeKind
	Type     string    // outcome: qualified name, empty for ok
	Text     string    // usage, judged; begin: the name of the test, or empty
	Step     uint32    // step: the number of the instruction that is about to be executed
	Opcode   uint64    // step: what it does
	Shape    *Shape    // shape
	Function *Function // function
}

// Parse reads one request: a whole line with its '\n', as one write(2) gives it.
func Parse(line []byte) (*Request, error) {
	if len(line) > MaxLine {
		return nil, fmt.Errorf("a request is at most %d bytes", MaxLine)
	}
	if len(line) == 0 || line[len(line)-1] != '\n' {
		return nil, fmt.Errorf("a request is one line ending in a newline")
	}
	words := strings.Split(string(line[:len(line)-1]), " ")
	for v := VerbHello; int(v) < len(verbs); v++ {
		if verbs[v].name != words[0] {
			continue
		}
		r := &Request{Verb: v}
		f := &fields{rest: words[1:]}
		if verbs[v].parse != nil {
			verbs[v].parse(r, f)
		}
		if f.err == nil && len(f.rest) > 0 {
			f.fail("%d fields too many", len(f.rest))
		}
		if f.err == nil && r.Input != nil {
			f.err = r.Input.Validate()
		}
		if f.err != nil {
			return nil, fmt.Errorf("%s: %w", words[0], f.err)
		}
		return r, nil
	}
	return nil, fmt.Errorf("unknown request %.40q", words[0])
}

// Format writes the request as a line; Parse(Format(r)) is r for every r that Parse returns.
func (r *Request) Format() []byte {
	words := []string{r.Verb.String()}
	if f := verbs[r.Verb].format; f != nil {
		words = append(words, f(r)...)
	}
	return []byte(strings.Join(words, " ") + "\n")
}

// fields takes a request's fields from the left; the first failure stays in err.
type fields struct {
	rest []string
	err  error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

func (f *fields) next(what string) string {
	if f.err != nil {
		return ""
	}
	if len(f.rest) == 0 {
		f.fail("%s is missing", what)
		return ""
	}
	w := f.rest[0]
	f.rest = f.rest[1:]
	return w
}

// int64 takes a decimal number in its one spelling: no sign +, no leading zeros.
func (f *fields) int64(what string) int64 {
	w := f.next(what)
	if f.err != nil {
		return 0
	}
	v, err := strconv.ParseInt(w, 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != w {
		f.fail("%s: %.40q is not a 64-bit decimal number", what, w)
	}
	return v
}

// float64 takes a decimal number in any spelling, inf or -inf.
func (f *fields) float64(what string) float64 {
	w := f.next(what)
	if f.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(w, 64)
	if err != nil {
		f.fail("%s: %.40q is not a number", what, w)
	}
	return v
}

func (f *fields) uint64(what string) uint64 {
	w := f.next(what)
	if f.err != nil {
		return 0
	}
	v, err := strconv.ParseUint(w, 10, 64)
	if err != nil || strconv.FormatUint(v, 10) != w {
		f.fail("%s: %.40q is not an unsigned decimal number", what, w)
	}
	return v
}

func (f *fields) int(what string) int {
	v := f.int64(what)
	if v < 0 || v > 1<<31-1 {
		f.fail("%s: %d is out of range", what, v)
	}
	return int(v)
}

func (f *fields) bool(what string) bool {
	v := f.int64(what)
	if v != 0 && v != 1 {
		f.fail("%s: need 0 or 1", what)
	}
	return v == 1
}

// raw takes a text field of any bytes.
func (f *fields) raw(what string) string {
	w := f.next(what)
	if f.err != nil {
		return ""
	}
	s, err := Unquote(w)
	if err != nil {
		f.fail("%s: %v", what, err)
	}
	return s
}

// text takes a text field of UTF-8.
func (f *fields) text(what string) string {
	s := f.raw(what)
	if !utf8.ValidString(s) {
		f.fail("%s is not UTF-8", what)
	}
	return s
}

func (r *Request) span(f *fields, least, most uint64) {
	r.Addr = f.uint64("address")
	r.Len = f.uint64("length")
	if f.err == nil && (r.Len < least || r.Len > most || r.Addr+r.Len < r.Addr) {
		f.fail("length %d is not within %d..%d", r.Len, least, most)
	}
}

// text is the span of a text: an address and a length, or - and the length of what follows the line.
func (r *Request) text(f *fields, least uint64) {
	if r.Inline = len(f.rest) > 0 && f.rest[0] == "-"; r.Inline {
		f.rest[0] = "0"
	}
	r.span(f, least, MaxSpan)
}

// CheckBody checks that n bytes follow the request's line, as it says.
func (r *Request) CheckBody(n int) error {
	want := uint64(0)
	if r.Inline {
		want = r.Len
	}
	if uint64(n) != want {
		return fmt.Errorf("%s: %d bytes follow the line, not %d", r.Verb, n, want)
	}
	return nil
}

func parseValue(r *Request, f *fields) {
	r.ID = f.int("input")
	r.Len = f.uint64("length")
	if f.err == nil && r.Len > MaxSpan {
		f.fail("length %d is above %d", r.Len, MaxSpan)
	}
	r.Less = f.int64("what is less")
}

func formatValue(r *Request) []string {
	return []string{strconv.Itoa(r.ID), strconv.FormatUint(r.Len, 10), strconv.FormatInt(r.Less, 10)}
}

func formatSpan(r *Request) []string {
	if r.Inline {
		return []string{"-", strconv.FormatUint(r.Len, 10)}
	}
	return []string{strconv.FormatUint(r.Addr, 10), strconv.FormatUint(r.Len, 10)}
}

func parseInput(r *Request, f *fields) {
	in := &Input{Name: f.text("name")}
	word := f.next("type")
	kind, ok := ParseKind(word)
	if f.err == nil && !ok {
		f.fail("unknown type %.40q", word)
	}
	if f.err != nil {
		return
	}
	in.Kind = kind
	switch kind {
	case KindStr, KindBytes:
		in.DefaultBytes = []byte(f.raw("default"))
		least, most := f.int("least length"), f.int("most length")
		in.Type = BytesType(least, most)
		if kind == KindStr {
			ascii := f.int("ascii")
			if ascii > 2 {
				f.fail("ascii: need 0, 1 or 2")
			}
			in.ASCII, in.NoNUL = ascii > 0, ascii == 2
			in.Type = StrType(least, most, in.ASCII, in.NoNUL)
		}
	case KindInt:
		in.DefaultInt = f.int64("default")
		lo := f.int64("minimum")
		in.Type = IntType(lo, f.int64("maximum"))
	case KindFloat:
		in.DefaultFloat = f.float64("default")
		lo := f.float64("minimum")
		in.Type = Real{lo, f.float64("maximum")}
	case KindBool:
		if f.bool("default") {
			in.DefaultInt = 1
		}
		in.Type = BoolType()
	case KindChoice:
		in.DefaultInt = f.int64("default")
		n := f.int("number of choices")
		if n > MaxChoices {
			f.fail("choice of %d: need 1..%d", n, MaxChoices)
			return
		}
		in.Type = ChoiceType(n)
	}
	r.Input = in
}

func formatInput(r *Request) []string {
	in := r.Input
	w := []string{Quote(in.Name), in.Kind.String()}
	least, most := in.Lengths()
	lo, hi := in.Range()
	num := func(v int64) string { return strconv.FormatInt(v, 10) }
	switch in.Kind {
	case KindStr, KindBytes:
		w = append(w, Quote(string(in.DefaultBytes)), strconv.Itoa(least), strconv.Itoa(most))
		if in.Kind == KindStr {
			ascii := "0"
			switch {
			case in.NoNUL:
				ascii = "2"
			case in.ASCII:
				ascii = "1"
			}
			w = append(w, ascii)
		}
	case KindInt:
		w = append(w, num(in.DefaultInt), num(lo), num(hi))
	case KindFloat:
		lo, hi := in.Reals()
		for _, v := range []float64{in.DefaultFloat, lo, hi} {
			w = append(w, strconv.FormatFloat(v, 'g', -1, 64))
		}
	case KindBool:
		w = append(w, num(in.DefaultInt))
	case KindChoice:
		w = append(w, num(in.DefaultInt), num(hi+1))
	}
	return w
}

func parseStep(r *Request, f *fields) {
	id := f.uint64("step")
	if f.err == nil && id > math.MaxUint32 {
		f.fail("step %d is above %d", id, uint32(math.MaxUint32))
	}
	r.Step, r.Opcode = uint32(id), f.uint64("opcode")
}

func parsePlace(r *Request, f *fields) {
	r.ID = f.int("input")
	r.Layout = f.text("layout")
	r.Addr = f.uint64("address")
	if f.err == nil && r.Layout == "" {
		f.fail("layout is empty")
	}
}

func formatPlace(r *Request) []string {
	return []string{strconv.Itoa(r.ID), Quote(r.Layout), strconv.FormatUint(r.Addr, 10)}
}

func parseBegin(r *Request, f *fields) {
	if len(f.rest) > 0 {
		if r.Text = f.text("test"); f.err == nil && r.Text == "" {
			f.fail("test is empty")
		}
	}
}

func formatBegin(r *Request) []string {
	if r.Text == "" {
		return nil
	}
	return []string{Quote(r.Text)}
}

func parseExpect(r *Request, f *fields) {
	for f.err == nil && (len(r.Types) == 0 || len(f.rest) > 0) {
		t := f.text("type")
		if f.err == nil && t == "" {
			f.fail("type is empty")
		}
		r.Types = append(r.Types, t)
	}
}

func formatExpect(r *Request) []string {
	w := make([]string, len(r.Types))
	for i, t := range r.Types {
		w[i] = Quote(t)
	}
	return w
}

// MaxFrames bounds the frames of a request.
const MaxFrames = 1 << 10

// MaxTests bounds the tests of a file.
const MaxTests = 1 << 14

func parseFrames(r *Request, f *fields) { r.Frames = f.list("frame", MaxFrames) }

func formatFrames(r *Request) []string { return formatList(r.Frames) }

// list is a number and as many texts.
func (f *fields) list(what string, most int) (out []string) {
	n := f.int("number of " + what + "s")
	if n > most {
		f.fail("%d %ss are above %d", n, what, most)
	}
	for range n {
		if f.err != nil {
			return nil
		}
		out = append(out, f.raw(what))
	}
	return out
}

func formatList(list []string) []string {
	w := []string{strconv.Itoa(len(list))}
	for _, s := range list {
		w = append(w, Quote(s))
	}
	return w
}

func parseOutcome(r *Request, f *fields) {
	r.Kind = OutcomeKind(f.next("kind"))
	switch r.Kind {
	case OutcomeOK, OutcomeException, OutcomeAssertion, OutcomeExpected, OutcomeExit:
	default:
		f.fail("unknown kind %.40q", string(r.Kind))
	}
	r.Type = f.text("type")
	if f.err == nil && (r.Type == "") != (r.Kind == OutcomeOK) {
		f.fail("a type belongs to every outcome but ok")
	}
	r.text(f, 0)
}

func formatOutcome(r *Request) []string {
	return append([]string{string(r.Kind), Quote(r.Type)}, formatSpan(r)...)
}
