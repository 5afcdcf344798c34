package interp

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"symchef/internal/device"
	"symchef/internal/expr"
)

// Layout is what an object of one kind looks like, as expressions over an input.
// It is immutable and independent of any expr.Ctx.
type Layout struct {
	Name           string
	Over           []device.Kind // kinds of input it takes
	MinLen, MaxLen int           // elements of a sequence input, inclusive
	Min, Max       int64         // range of a scalar input it can represent, inclusive
	parts          []part
}

// partKind is a clause of a layout.
type partKind uint8

const (
	expectPart partKind = iota + 1
	storePart
	payloadPart
	eachPart
)

type part struct {
	kind partKind
	off  amount // bytes from the object's address
	size int    // bytes
	x    *term
}

// at is the offset, of a layout of an interpreter.
func (p *part) at() uint64 { return uint64(p.off.n) }

// term is an expression of the layout language. cond tells 1-bit conditions from
// 64-bit numbers.
type term struct {
	op   string
	args []*term
	num  int64 // op "const"
	cond bool
}

// opRow describes one operator: arguments' and result's sort, and its constructor.
type opRow struct {
	arity    int
	condArgs int // leading arguments that are conditions
	cond     bool
	apply    func(c *expr.Ctx, a []expr.Ref) expr.Ref
}

var ops = map[string]opRow{
	"add":  {arity: 2, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Add(a[0], a[1]) }},
	"sub":  {arity: 2, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Sub(a[0], a[1]) }},
	"mul":  {arity: 2, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Mul(a[0], a[1]) }},
	"neg":  {arity: 1, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Neg(a[0]) }},
	"and":  {arity: 2, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.And(a[0], a[1]) }},
	"or":   {arity: 2, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Or(a[0], a[1]) }},
	"xor":  {arity: 2, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Xor(a[0], a[1]) }},
	"shl":  {arity: 2, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Shl(a[0], a[1]) }},
	"lshr": {arity: 2, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.LShr(a[0], a[1]) }},
	"eq":   {arity: 2, cond: true, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Eq(a[0], a[1]) }},
	"ult":  {arity: 2, cond: true, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Ult(a[0], a[1]) }},
	"slt":  {arity: 2, cond: true, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Slt(a[0], a[1]) }},
	"not":  {arity: 1, condArgs: 1, cond: true, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Not(a[0]) }},
	"both": {arity: 2, condArgs: 2, cond: true, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.And(a[0], a[1]) }},
	"ite":  {arity: 3, condArgs: 1, apply: func(c *expr.Ctx, a []expr.Ref) expr.Ref { return c.Ite(a[0], a[1], a[2]) }},
}

// NoLayout says that a guest library names a layout that there is not.
func NoLayout(name string, layouts map[string]*Layout) string {
	return fmt.Sprintf("the description has no layout %s: %s", name, instead(name, slices.Collect(maps.Keys(layouts))))
}

// Input is the value of an input, as expressions of the Ctx given to Build.
type Input struct {
	Kind device.Kind
	// Value is the number of an int, bool or choice input, 64 bits wide (an int
	// sign-, a bool zero-extended); 0 for sequences.
	Value expr.Ref
	// Min and Max are the declared bounds of Value, asserted by the engine.
	Min, Max int64
	// Bytes are the elements of a str or bytes input of this path's length, 8 bits
	// wide each.
	Bytes []expr.Ref
}

// Store is one field to write, little-endian, at Off bytes from the object's address.
type Store struct {
	Off   uint64
	Size  int      // bytes, 1 to 8
	Value expr.Ref // 8*Size bits wide; may be a constant
}

// Check is a field the object must already hold, concretely: that it is of the
// right shape and size. A difference is an error of the guest library.
type Check struct {
	Off  uint64
	Size int    // bytes, 1 to 8
	Want uint64 // zero-extended
}

// Placement is what Build asks the engine to do: verify Checks, assert
// Constraints, write Stores.
type Placement struct {
	Checks      []Check
	Constraints []expr.Ref // 1 bit wide, over the input only
	Stores      []Store    // disjoint
}

// Build instantiates the layout for an input.
func (l *Layout) Build(c *expr.Ctx, in Input) (*Placement, error) {
	if err := l.accepts(in); err != nil {
		return nil, fmt.Errorf("layout %s: %w", l.Name, err)
	}
	p := &Placement{}
	env := map[string]expr.Ref{"len": c.Const(uint64(len(in.Bytes)), 64), "value": in.Value}
	memo := map[*term]expr.Ref{}
	eval := func(x *term) expr.Ref { return x.eval(c, env, memo) }
	for _, q := range l.parts {
		switch q.kind {
		case expectPart:
			want, ok := c.IsConst(eval(q.x))
			if !ok {
				return nil, fmt.Errorf("layout %s: an expected field depends on the input", l.Name)
			}
			p.Checks = append(p.Checks, Check{q.at(), q.size, want & expr.Mask(uint(8*q.size))})
		case storePart:
			v := eval(q.x)
			if q.size < 8 {
				v = c.Extract(v, 0, uint(8*q.size))
			}
			p.Stores = append(p.Stores, Store{q.at(), q.size, v})
		case payloadPart:
			for i, b := range in.Bytes {
				p.Stores = append(p.Stores, Store{q.at() + uint64(i), 1, b})
			}
		case eachPart:
			for _, b := range in.Bytes {
				env := map[string]expr.Ref{"len": env["len"], "byte": c.ZExt(b, 64)}
				p.Constraints = append(p.Constraints, q.x.eval(c, env, map[*term]expr.Ref{}))
			}
		}
	}
	return p, nil
}

// with is the layout of an interpreter whose probe told f; nil where a number is not known, and which.
func (l *Layout) with(f *Facts) (out *Layout, lacks string) {
	seen := map[*term]*term{}
	var told func(x *term) *term
	told = func(x *term) *term {
		if x == nil || seen[x] != nil || x.op == "var" || x.op == "const" {
			return cmp.Or(seen[x], x)
		}
		y := &term{op: x.op, num: x.num, cond: x.cond}
		if x.op == "told" {
			n, ok := f.Numbers[x.args[0].op]
			if !ok {
				lacks = x.args[0].op
			}
			y.op, y.num = "const", n
		} else {
			for _, a := range x.args {
				y.args = append(y.args, told(a))
			}
		}
		seen[x] = y
		return y
	}
	m := *l
	m.parts = nil
	for _, p := range l.parts {
		n, ok := p.off.value(f)
		if !ok {
			lacks = p.off.told
		}
		m.parts = append(m.parts, part{p.kind, amount{n: n}, p.size, told(p.x)})
	}
	if lacks != "" {
		return nil, lacks
	}
	return &m, ""
}

// accepts checks that the layout can represent every value of the input.
func (l *Layout) accepts(in Input) error {
	ok := false
	for _, k := range l.Over {
		ok = ok || k == in.Kind
	}
	if !ok {
		return fmt.Errorf("does not take %s inputs", in.Kind)
	}
	switch in.Kind {
	case device.KindStr, device.KindBytes:
		if n := len(in.Bytes); n < l.MinLen || n > l.MaxLen {
			return fmt.Errorf("length %d is not within %d..%d", n, l.MinLen, l.MaxLen)
		}
		return nil
	}
	if in.Min > in.Max || in.Min < l.Min || in.Max > l.Max {
		return fmt.Errorf("bounds %d..%d are not within %d..%d", in.Min, in.Max, l.Min, l.Max)
	}
	return nil
}

func (x *term) eval(c *expr.Ctx, env map[string]expr.Ref, memo map[*term]expr.Ref) expr.Ref {
	if r, ok := memo[x]; ok {
		return r
	}
	var r expr.Ref
	switch x.op {
	case "const":
		r = c.Const(uint64(x.num), 64)
	case "var":
		r = env[x.args[0].op]
	default:
		args := make([]expr.Ref, len(x.args))
		for i, a := range x.args {
			args[i] = a.eval(c, env, memo)
		}
		r = ops[x.op].apply(c, args)
	}
	memo[x] = r
	return r
}

// parseLayout reads (layout NAME CLAUSE...). told are names of numbers.
func parseLayout(n *sexp, told []string) (*Layout, error) {
	if len(n.list) < 3 || n.list[1].kind != symbolNode {
		return nil, n.errorf("need (layout NAME CLAUSE...)")
	}
	r := &layoutReader{Layout: &Layout{Name: n.list[1].text, MaxLen: -1, Min: 1}, told: told, lets: map[string]*term{}, seen: map[string]bool{}}
	for _, name := range told {
		r.lets[name] = &term{op: "told", args: []*term{{op: name}}}
	}
	for i := range n.list[2:] {
		m := &n.list[2+i]
		head, args, err := clause(m)
		if err != nil {
			return nil, err
		}
		read := layoutClauses[head]
		if read == nil {
			return nil, m.errorf("unknown clause %s in a layout", head)
		}
		r.rest = n.list[2+i+1:]
		if err := read(r, m, head, args); err != nil {
			return nil, err
		}
	}
	return r.Layout, r.whole(n)
}

// layoutReader is a layout that is being read.
type layoutReader struct {
	*Layout
	told   []string
	lets   map[string]*term
	seen   map[string]bool // clauses of which there is one
	stored []span
	rest   []sexp // the clauses behind the present one
}

// span are bytes behind an offset that has a name, or 0.
type span struct {
	told   string
	lo, hi uint64
}

var layoutClauses = map[string]func(r *layoutReader, m *sexp, head string, args []sexp) error{
	"over": (*layoutReader).over, "lengths": (*layoutReader).bounds, "range": (*layoutReader).bounds, "let": (*layoutReader).let,
	"expect": (*layoutReader).field, "store": (*layoutReader).field, "payload": (*layoutReader).payload, "each": (*layoutReader).each,
}

// once notes a clause of which there is one.
func (r *layoutReader) once(m *sexp, head string) error {
	if r.seen[head] {
		return m.errorf("second %s", head)
	}
	r.seen[head] = true
	return nil
}

func (r *layoutReader) over(m *sexp, head string, args []sexp) error {
	for j := range args {
		k, ok := device.ParseKind(args[j].text)
		if !ok || args[j].kind != symbolNode {
			return args[j].errorf("need a kind of input: %s", instead(args[j].text, kindNames()))
		}
		r.Over = append(r.Over, k)
	}
	return r.once(m, head)
}

func (r *layoutReader) bounds(m *sexp, head string, args []sexp) error {
	lo, hi, err := bounds(m, args, head == "lengths")
	if err != nil {
		return err
	}
	if head == "lengths" {
		r.MinLen, r.MaxLen = int(lo), int(hi)
	} else {
		r.Min, r.Max = lo, hi
	}
	return r.once(m, head)
}

func (r *layoutReader) let(m *sexp, _ string, args []sexp) error {
	if len(args) != 2 || args[0].kind != symbolNode {
		return m.errorf("need (let NAME EXPRESSION)")
	}
	name := args[0].text
	if _, dup := r.lets[name]; dup || name == "value" || name == "len" || name == "byte" {
		return args[0].errorf("%s is already defined", name)
	}
	x, err := parseTerm(&args[1], r.vars(), r.lets)
	if err != nil {
		return err
	}
	if r.lets[name] = x; !mentioned(r.rest, name) {
		return args[0].errorf("nothing uses %s", name)
	}
	return nil
}

// field reads (expect OFFSET SIZE EXPRESSION) and (store OFFSET SIZE EXPRESSION).
func (r *layoutReader) field(m *sexp, head string, args []sexp) error {
	if len(args) != 3 || args[1].kind != numberNode || args[1].num < 1 || args[1].num > 8 {
		return m.errorf("need (%s OFFSET SIZE EXPRESSION), SIZE 1 to 8", head)
	}
	off, err := parseOffset(&args[0], r.told)
	if err != nil {
		return err
	}
	x, err := parseTerm(&args[2], r.vars(), r.lets)
	if err != nil {
		return err
	}
	if x.cond {
		return args[2].errorf("need a number, not a condition")
	}
	q := part{expectPart, off, int(args[1].num), x}
	if head == "store" {
		q.kind = storePart
		r.stored = append(r.stored, span{off.told, uint64(off.n), uint64(off.n) + uint64(q.size)})
	}
	r.parts = append(r.parts, q)
	return nil
}

func (r *layoutReader) payload(m *sexp, _ string, args []sexp) error {
	if len(args) != 1 {
		return m.errorf("need (payload OFFSET)")
	}
	off, err := parseOffset(&args[0], r.told)
	if err != nil {
		return err
	}
	r.stored = append(r.stored, span{off.told, uint64(off.n), math.MaxUint64})
	r.parts = append(r.parts, part{kind: payloadPart, off: off})
	return nil
}

func (r *layoutReader) each(m *sexp, _ string, args []sexp) error {
	if len(args) != 1 {
		return m.errorf("need (each CONDITION)")
	}
	x, err := parseTerm(&args[0], map[string]bool{"byte": true, "len": true}, nil)
	if err != nil {
		return err
	}
	if !x.cond {
		return args[0].errorf("need a condition")
	}
	r.parts = append(r.parts, part{kind: eachPart, x: x})
	return nil
}

// whole says what is missing, or does not go together.
func (r *layoutReader) whole(n *sexp) error {
	if len(r.Over) == 0 {
		return n.errorf("layout %s: no (over KIND...)", r.Name)
	}
	if want := map[bool]string{true: "lengths", false: "range"}[r.sequence()]; !r.seen[want] || r.seen["lengths"] && r.seen["range"] {
		return n.errorf("layout %s: need (%s ...) and only it", r.Name, want)
	}
	for i, a := range r.stored {
		for _, b := range r.stored[:i] {
			if a.told == b.told && a.lo < b.hi && b.lo < a.hi {
				return n.errorf("layout %s: stores overlap", r.Name)
			}
		}
	}
	return nil
}

// parseOffset reads a number, a name that is told, or (add NAME N).
func parseOffset(n *sexp, told []string) (amount, error) {
	if head, args, err := clause(n); err == nil && head == "add" && len(args) == 2 && args[1].kind == numberNode && args[1].num >= 0 {
		a, err := parseAmount(&args[0], told)
		a.n += args[1].num
		return a, err
	}
	return parseAmount(n, told)
}

// kindNames are those of all kinds of input.
func kindNames() (out []string) {
	for _, k := range device.Kinds() {
		out = append(out, k.String())
	}
	return out
}

// sequence says whether the layout is over sequences.
func (l *Layout) sequence() bool {
	return len(l.Over) > 0 && (l.Over[0] == device.KindStr || l.Over[0] == device.KindBytes)
}

// vars are the names expressions may use besides lets.
func (l *Layout) vars() map[string]bool {
	if l.sequence() {
		return map[string]bool{"len": true}
	}
	return map[string]bool{"value": true}
}

func bounds(m *sexp, args []sexp, lengths bool) (lo, hi int64, err error) {
	if len(args) != 2 {
		return 0, 0, m.errorf("need two bounds")
	}
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	if lengths {
		least, most = 0, device.MaxSeqLen
	}
	get := func(n *sexp, word string, v int64) (int64, error) {
		if n.kind == symbolNode && n.text == word {
			return v, nil
		}
		if n.kind != numberNode || n.num < least || n.num > most {
			return 0, n.errorf("need a number in range or %s", word)
		}
		return n.num, nil
	}
	if lo, err = get(&args[0], "min", least); err != nil {
		return
	}
	if hi, err = get(&args[1], "max", most); err != nil {
		return
	}
	if lo > hi {
		err = m.errorf("bounds are crossed")
	}
	return
}

func parseTerm(n *sexp, vars map[string]bool, lets map[string]*term) (*term, error) {
	switch n.kind {
	case numberNode:
		return &term{op: "const", num: n.num}, nil
	case symbolNode:
		if x, ok := lets[n.text]; ok {
			return x, nil
		}
		if !vars[n.text] {
			return nil, n.errorf("unknown name %s: %s", n.text, instead(n.text, slices.Concat(slices.Collect(maps.Keys(vars)), slices.Collect(maps.Keys(lets)))))
		}
		return &term{op: "var", args: []*term{{op: n.text}}}, nil
	}
	head, args, err := clause(n)
	if err != nil {
		return nil, err
	}
	row, ok := ops[head]
	if !ok {
		return nil, n.errorf("unknown operator %s: %s", head, instead(head, slices.Collect(maps.Keys(ops))))
	}
	if len(args) != row.arity {
		return nil, n.errorf("%s takes %d operands", head, row.arity)
	}
	x := &term{op: head, cond: row.cond}
	for i := range args {
		a, err := parseTerm(&args[i], vars, lets)
		if err != nil {
			return nil, err
		}
		if a.cond != (i < row.condArgs) {
			return nil, args[i].errorf("operand %d of %s has the wrong sort", i+1, head)
		}
		x.args = append(x.args, a)
	}
	return x, nil
}

// clause takes (HEAD ARG...) apart.
func clause(n *sexp) (string, []sexp, error) {
	if n.kind != listNode || len(n.list) == 0 || n.list[0].kind != symbolNode {
		return "", nil, n.errorf("need a list that begins with a name")
	}
	return n.list[0].text, n.list[1:], nil
}
