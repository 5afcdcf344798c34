// Package state is an execution state: one path of the program, from the start
// to where it is now. It is a value with a system of processes, a path
// condition, an assignment that satisfies it, and the log of the decisions that
// lead here.
//
//	          Decide                    Decide
//	start ──────────────► value chosen ──────────────► ... ──► outcome
//	   └─ Fork + Exclude ─► pending ── solve, Rebase ─► running
//
// # Invariants
//
//   - Model satisfies Path and Excl whenever the state runs.
//   - Every concrete value that came from a symbolic one is the value of a recorded
//     expression (a slot, a byte) or is fixed by a constraint of Path. So Rebase, which
//     re-evaluates the recorded expressions, makes the state that of any other model.
//   - Path and Log are functions of the decisions taken, never of Model.
package state

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"symchef/internal/device"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/high"
	"symchef/internal/kernel"
	"symchef/internal/mem"
	"symchef/internal/testcase"
)

// Constraint says R == V; the list of them, last first, is the path condition.
// Lists share their tails.
type Constraint struct {
	Parent *Constraint
	R      expr.Ref
	cond   expr.Ref // what Cond made; 0: nothing yet
	V      uint64
	Depth  int
}

// Bound is a proven range of R, a consequence of the path condition at that point.
// Lists share their tails.
type Bound struct {
	Parent *Bound
	R      expr.Ref
	Mark   uint32 // as an Entry's
	Of     uint64 // R's structural hash: what it is in any engine
	Lo, Hi uint64 // inclusive, unsigned
	Depth  int
}

// List returns the bounds in the order they were proved.
func (b *Bound) List() []*Bound {
	if b == nil {
		return nil
	}
	out := make([]*Bound, b.Depth)
	for ; b != nil; b = b.Parent {
		out[b.Depth-1] = b
	}
	return out
}

// Add returns the list that ends with b and one more bound.
func (b *Bound) Add(r expr.Ref, of, lo, hi uint64) *Bound {
	n := &Bound{Parent: b, R: r, Of: of, Lo: lo, Hi: hi, Depth: 1}
	if b != nil {
		n.Depth = b.Depth + 1
	}
	return n
}

// Entry is one entry of the decision log (version 1), last first. Lists share their tails.
type Entry struct {
	Parent *Entry
	Kind   exec.DecisionKind
	Mark   uint32 // belongs to whoever walks over many logs, who leaves it 0
	PC     uint64
	Value  uint64
	Depth  int
	// At is the instruction of the interpreted program that took the decision; the zero Step where that is not followed.
	At high.Step
	// Digest rolls over PC and Kind of this entry and of all before it: a
	// re-execution that strays differs at once. Hash rolls over Value, too.
	Digest, Hash uint64
}

// Equal reports whether l and m are the same decisions.
func (l *Entry) Equal(m *Entry) bool {
	for l != m {
		if l == nil || m == nil || l.Depth != m.Depth || l.Hash != m.Hash || l.Kind != m.Kind || l.PC != m.PC || l.Value != m.Value {
			return false
		}
		l, m = l.Parent, m.Parent
	}
	return true
}

// Input is a declared input of the path with its expressions.
type Input struct {
	Decl  *device.Input
	Value expr.Ref   // scalars and choices: 64 bits wide
	Bytes []expr.Ref // sequences: 8 bits wide each
	// Index is the concrete alternative of a choice; Chosen what stands there, as tokens (testcase.Value), nil: the library does not tell.
	Index  int64
	Chosen *Text
}

// Shape says that the inputs from First to before End make one value.
type Shape struct {
	*device.Shape
	First, End int
}

// Report is what the guest told about its end. With a Kind it is the outcome of the test; what the process does before it ends may add to that.
type Report struct {
	Kind device.OutcomeKind
	Type string
	Msg  Text
	// Returned is what the test function returned, as tokens (testcase.Value); nil: the library does not tell.
	Returned *Text
	Frames   []string // FILE:LINE:FUNCTION of the user's code where the exception was raised, outermost first
	Pruned   bool     // an assumption does not hold here
	Usage    string
	Listed   bool     // the guest told which tests there are instead of running one:
	Tests    []string // their names
	// Functions are those that the guest told of before; Judged is why the exception that ends the test is what its author meant.
	Functions []device.Function
	Judged    string
}

// State is one execution state.
type State struct {
	Sys    *kernel.System
	Path   *Constraint
	Bounds *Bound
	Excl   []Constraint // R != V, all of one R: alternatives that other states take. That decision is the next one
	open   opened       // what it is, if Excl is not empty
	Model  expr.Assignment
	Log    *Entry
	Facts  exec.Facts
	Inputs []*Input
	Shapes []Shape // which of the inputs make one value, in their order
	Logs   []Text
	Report Report
	// Decided is what had been spent at the last decision, see kernel.System.Spent.
	Decided uint64
	// Since is High at the last decision: what a path that never ends is known by.
	Since Since
	chain uint64 // see ChainAt
	// Unmerged says that the two ways of the branch that is to be decided next are not to be merged.
	Unmerged bool
	patience map[uint64]patience // by address of a branch; never changed in place
	supposed *[]expr.Ref         // what Suppose has added to Facts; nil: nothing is supposed
	// High is the path in the interpreted program, where that is followed.
	High high.Path
	// Request is a device request that has not been answered yet; the path may fork before it is.
	Request *mem.Bytes
}

// Since is a place of a high-level path.
type Since struct {
	ID    high.ID
	Steps int
}

// Name is the ID as text, as high.Path.Name has it.
func (s Since) Name() string {
	if s.Steps == 0 {
		return ""
	}
	return s.ID.String()
}

// Text is guest text: values and expressions of its bytes.
type Text struct {
	Data []byte
	Sym  []expr.Ref // nil: concrete
}

// Then is t with u behind it.
func (t Text) Then(u Text) Text {
	joined := Text{Data: slices.Concat(t.Data, u.Data)}
	if t.Sym != nil || u.Sym != nil {
		joined.Sym = make([]expr.Ref, len(joined.Data))
		copy(joined.Sym, t.Sym)
		copy(joined.Sym[len(t.Data):], u.Sym)
	}
	return joined
}

// New returns the state at the start of sys.
func New(sys *kernel.System) *State {
	s := &State{Sys: sys}
	s.resetFacts()
	return s
}

// Fork returns a copy with an empty fact table, to be filled by Resume.
func (s *State) Fork() *State {
	t := *s
	t.Sys = s.Sys.Fork()
	t.Facts = exec.Facts{Results: s.Facts.Results}
	t.High = s.High.Fork()
	t.Inputs = s.Inputs[:len(s.Inputs):len(s.Inputs)]
	t.Shapes = s.Shapes[:len(s.Shapes):len(s.Shapes)]
	t.Logs = s.Logs[:len(s.Logs):len(s.Logs)]
	t.Excl = append([]Constraint(nil), s.Excl...)
	return &t
}

func (s *State) resetFacts() {
	s.Facts = exec.Facts{Fixed: map[expr.Ref]uint64{}, Ranges: map[expr.Ref][2]uint64{}, Within: map[expr.Ref][2]uint64{}, Results: s.Facts.Results}
}

// Assume appends R == V to the path condition and draws the facts that follow syntactically.
func (s *State) Assume(ctx *expr.Ctx, r expr.Ref, v uint64) {
	d := 1
	if s.Path != nil {
		d = s.Path.Depth + 1
	}
	s.Path = &Constraint{Parent: s.Path, R: r, V: v, Depth: d}
	s.learn(ctx, r, v)
}

// Prove adds a proven range.
func (s *State) Prove(ctx *expr.Ctx, r expr.Ref, lo, hi uint64) {
	s.Bounds = s.Bounds.Add(r, ctx.Hash(r), lo, hi)
	s.Facts.Ranges[r] = [2]uint64{lo, hi}
}

// Unproved are the numbers of the ranges of the path that say nothing.
func (s *State) Unproved(ctx *expr.Ctx) (n []int) {
	for i, b := range s.Bounds.List() {
		if b.Lo == 0 && b.Hi == expr.Mask(ctx.Width(b.R)) {
			n = append(n, i)
		}
	}
	return n
}

// Record appends a decision to the log and its constraint to the path condition.
func (s *State) Record(ctx *expr.Ctx, kind exec.DecisionKind, pc uint64, r expr.Ref, v uint64) {
	s.chain = s.ChainAt(pc)
	s.Log = s.Log.Add(kind, pc, v)
	s.Log.At = s.High.Last()
	s.Decided = s.Sys.Spent()
	s.Since = Since{s.High.ID, s.High.Steps}
	s.Excl, s.Unmerged = nil, false
	s.Assume(ctx, r, v)
}

// patience is how a branch is treated whose ways could not be merged.
type patience struct {
	failed int // how often, one after the other
	skip   int // how often it is not tried
}

// maxSkip bounds how often a branch is not tried to be merged after it could not be.
const maxSkip = 255

// MayMerge reports whether the ways of the branch at pc should be tried to be merged: after each failure on this path
// it is skipped more often, twice as often as before.
func (s *State) MayMerge(pc uint64) bool {
	p := s.patience[pc]
	if s.Unmerged || p.skip == 0 {
		return !s.Unmerged
	}
	p.skip--
	s.setPatience(pc, p)
	s.Unmerged = true
	return false
}

// Merged notes whether the ways of the branch at pc have been merged.
func (s *State) Merged(pc uint64, done bool) {
	p := s.patience[pc]
	switch {
	case !done:
		s.Unmerged = true
		s.setPatience(pc, patience{p.failed + 1, min(2<<min(p.failed, 8)-1, maxSkip)})
	case p != (patience{}):
		s.setPatience(pc, patience{})
	}
}

func (s *State) setPatience(pc uint64, p patience) {
	m := maps.Clone(s.patience)
	if m == nil {
		m = map[uint64]patience{}
	}
	m[pc] = p
	s.patience = m
}

// Suppose adds what follows from r == v to the facts, and nothing to the path condition, until forget is called: last supposed,
// first forgotten.
func (s *State) Suppose(ctx *expr.Ctx, r expr.Ref, v uint64) (forget func()) {
	before, added := s.supposed, []expr.Ref(nil)
	s.supposed = &added
	s.Facts.Forget()
	s.learn(ctx, r, v)
	return func() {
		for _, r := range added {
			delete(s.Facts.Fixed, r)
		}
		s.supposed = before
		s.Facts.Forget()
	}
}

// ChainAt names the run of decisions at one instruction to which one at pc would belong now.
func (s *State) ChainAt(pc uint64) uint64 {
	switch {
	case s.Log == nil:
		return pc
	case s.Log.PC == pc:
		return s.chain
	}
	return s.Log.Digest ^ pc
}

// Add returns the log that ends with l and one more decision.
func (l *Entry) Add(kind exec.DecisionKind, pc, v uint64) *Entry {
	e := &Entry{Parent: l, Kind: kind, PC: pc, Value: v, Depth: 1, Digest: 0xcbf29ce484222325}
	if l != nil {
		e.Depth, e.Digest, e.Hash = l.Depth+1, l.Digest, l.Hash
	}
	e.Digest = (e.Digest ^ pc ^ uint64(kind)<<56) * 0x100000001b3
	e.Digest ^= e.Digest >> 29
	hi, lo := bits.Mul64(e.Hash^e.Digest, 0x9e3779b97f4a7c15)
	e.Hash = hi ^ lo ^ v*0xd6e8feb86659fd93
	return e
}

// learn records what r == v fixes beside itself. It looks at structure only.
func (s *State) learn(ctx *expr.Ctx, r expr.Ref, v uint64) {
	if _, isConst := ctx.IsConst(r); isConst {
		return
	}
	if _, known := s.Facts.Fixed[r]; known {
		return
	}
	s.Facts.Fixed[r] = v
	if s.supposed != nil {
		*s.supposed = append(*s.supposed, r)
	}
	a, b := ctx.A(r), ctx.B(r)
	w := ctx.Width(r)
	switch kind := ctx.Kind(r); kind {
	case expr.Not:
		s.learn(ctx, a, ^v&expr.Mask(w))
	case expr.Neg:
		s.learn(ctx, a, -v&expr.Mask(w))
	case expr.ZExt, expr.SExt:
		s.learn(ctx, a, v&expr.Mask(ctx.Width(a)))
	case expr.Concat:
		lw := ctx.Width(b)
		s.learn(ctx, a, v>>lw)
		s.learn(ctx, b, v&expr.Mask(lw))
	case expr.Add:
		if k, isConst := ctx.IsConst(b); isConst {
			s.learn(ctx, a, (v-k)&expr.Mask(w))
		}
	case expr.Xor:
		if k, isConst := ctx.IsConst(b); isConst {
			s.learn(ctx, a, v^k)
		}
	case expr.And, expr.Or: // true: so are both; false: neither is
		if w == 1 && (v == 1) == (kind == expr.And) {
			s.learn(ctx, a, v)
			s.learn(ctx, b, v)
		}
	case expr.Eq:
		if k, isConst := ctx.IsConst(b); isConst && v == 1 {
			s.learn(ctx, a, k)
		}
	case expr.Ult:
		s.compare(ctx, a, b, v == 1)
	case expr.Ite:
		// A value that one side cannot have chooses the other.
		if k, isConst := ctx.IsConst(b); isConst && k != v {
			s.learn(ctx, a, 0)
			s.learn(ctx, ctx.C(r), v)
		} else if k, isConst := ctx.IsConst(ctx.C(r)); isConst && k != v {
			s.learn(ctx, a, 1)
			s.learn(ctx, b, v)
		}
	}
}

// compare records the bounds that a < b, or its contrary, gives one of them.
func (s *State) compare(ctx *expr.Ctx, a, b expr.Ref, less bool) {
	if s.supposed != nil {
		return
	}
	lo, hi := uint64(0), expr.Mask(ctx.Width(a))
	r := a
	if k, isConst := ctx.IsConst(b); isConst {
		if less {
			hi = k - 1 // k is not 0: the condition is no constant
		} else {
			lo = k
		}
	} else if k, isConst := ctx.IsConst(a); isConst {
		if r = b; less {
			lo = k + 1
		} else {
			hi = k
		}
	} else {
		return
	}
	if old, known := s.Facts.Within[r]; known {
		lo, hi = max(lo, old[0]), min(hi, old[1])
	}
	s.Facts.Within[r] = [2]uint64{lo, hi}
}

// Cond returns constraint c as a 1-bit expression.
func (c *Constraint) Cond(ctx *expr.Ctx) expr.Ref {
	if c.cond == 0 {
		switch w := ctx.Width(c.R); {
		case w > 1:
			c.cond = ctx.Eq(c.R, ctx.Const(c.V, w))
		case c.V == 0:
			c.cond = ctx.Not(c.R)
		default:
			c.cond = c.R
		}
	}
	return c.cond
}

// Conjuncts returns the path condition, first constraint first, without the exclusions.
func (s *State) Conjuncts(ctx *expr.Ctx) []expr.Ref { return s.Path.Conjuncts(ctx) }

// Conjuncts returns the conditions of the list that ends with c, in order.
func (c *Constraint) Conjuncts(ctx *expr.Ctx) []expr.Ref {
	if c == nil {
		return nil
	}
	out := make([]expr.Ref, c.Depth)
	for ; c != nil; c = c.Parent {
		out[c.Depth-1] = c.Cond(ctx)
	}
	return out
}

// opened is a decision that is to be taken.
type opened struct {
	kind exec.DecisionKind
	pc   uint64
}

// Exclude notes that another state takes v for r at the decision at pc, where s waits.
func (s *State) Exclude(kind exec.DecisionKind, pc uint64, r expr.Ref, v uint64) {
	s.Excl, s.open = append(s.Excl, Constraint{R: r, V: v}), opened{kind, pc}
}

// Waits is an error of the engine if s waits at a decision: it is about to do something else, though other states count on what it decides there.
func (s *State) Waits(comes string) {
	if len(s.Excl) > 0 {
		panic(fmt.Sprintf("a state that waits at %v at %#x for a value that others have not taken (%d have) comes to %s", s.open.kind, s.open.pc, len(s.Excl), comes))
	}
}

// Exclusions returns the conditions that keep the state away from its siblings.
func (s *State) Exclusions(ctx *expr.Ctx) []expr.Ref {
	var out []expr.Ref
	for i := range s.Excl {
		out = append(out, ctx.Not(s.Excl[i].Cond(ctx)))
	}
	return out
}

// Rebase moves the state to model, which must satisfy Path and Excl: every
// value with an expression is evaluated anew.
func (s *State) Rebase(ctx *expr.Ctx, model expr.Assignment) {
	s.Model = model
	ctx.NewEval()
	s.Sys.Rebase(func(r expr.Ref) uint64 { return ctx.EvalMemo(r, model) })
	if s.Request != nil {
		s.Request = &mem.Bytes{Data: []byte(Text(*s.Request).Eval(ctx, model)), Sym: s.Request.Sym}
	}
}

// Resume fills the fact table of a forked state.
func (s *State) Resume(ctx *expr.Ctx) {
	s.resetFacts()
	var list []*Constraint
	for c := s.Path; c != nil; c = c.Parent {
		list = append(list, c)
	}
	for i := len(list) - 1; i >= 0; i-- {
		s.learn(ctx, list[i].R, list[i].V)
	}
	for b := s.Bounds; b != nil; b = b.Parent {
		s.Facts.Ranges[b.R] = [2]uint64{b.Lo, b.Hi}
	}
}

// Decisions returns the log in order.
func (s *State) Decisions() []testcase.Decision { return s.Log.Decisions() }

// Decisions returns the log that ends with l, in order.
func (l *Entry) Decisions() []testcase.Decision {
	if l == nil {
		return nil
	}
	out := make([]testcase.Decision, l.Depth)
	for e := l; e != nil; e = e.Parent {
		out[e.Depth-1] = testcase.Decision{Kind: e.Kind.String(), PC: testcase.Hex(e.PC), Value: testcase.Hex(e.Value)}
	}
	return out
}

// Sources names the instruction of the interpreted program that took each decision of the log.
func (l *Entry) Sources(name func(high.Step) string) []string {
	if l == nil {
		return nil
	}
	out := make([]string, l.Depth)
	for e := l; e != nil; e = e.Parent {
		out[e.Depth-1] = name(e.At)
	}
	return out
}

// Concrete reports whether no byte is symbolic.
func (t Text) Concrete() bool {
	for _, r := range t.Sym {
		if r != 0 {
			return false
		}
	}
	return true
}

// Eval returns the text under model.
func (t Text) Eval(ctx *expr.Ctx, model expr.Assignment) string {
	out := append([]byte(nil), t.Data...)
	ctx.NewEval()
	for i, r := range t.Sym {
		if r != 0 {
			out[i] = byte(ctx.EvalMemo(r, model))
		}
	}
	return string(out)
}
