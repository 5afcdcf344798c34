package hlpc

import (
	"math"
	"slices"
	"strings"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/interp"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// Digest identifies a code object in all states and workers.
type Digest [16]byte

// Code is a code object. Start is where it lies now; its size is 0 if the description does
// not say how to find code objects.
type Code struct {
	Digest      Digest
	Start, Size uint64
	// Library says that it is of a file below a Tracer's Library.
	Library bool
}

// Step is a high-level instruction that is about to be executed.
type Step struct {
	HLPC  uint64 // its address
	Frame uint64 // value of the frame place
	Code  Code
	// Offset is HLPC less the code object's start: with the digest it is the high-level program counter.
	// Without a code object it is HLPC itself.
	Offset uint64
	// Handler is the offset in the interpreter's module of the code that executes the instruction: it
	// stands for the opcode. A specialised opcode has a handler of its own.
	Handler uint64
	// Depth is the number of frames below: how far calls nest.
	Depth int
}

// Run is steps in a row, in one frame and code object.
type Run struct {
	Frame uint64
	Code  *Code // of size 0 if none was found; it does not change
	Depth int
	Steps []exec.Note // offsets, and addresses of handlers

	bias uint64 // of the interpreter's module
}

// HLPC is a step's.
func (r *Run) HLPC(s exec.Note) uint64 { return r.Code.Start + s.Offset }

// Handler is a step's.
func (r *Run) Handler(s exec.Note) uint64 { return s.Target - r.bias }

// Cursor is what the tracer remembers of one task of one state; copy it when the state is forked.
type Cursor struct {
	stack []activation
	last  uint64 // HLPC of the last dispatch
	// where is an index of stack by frame, made once that is deep; it has more, which the stack proves wrong. nil: not made yet.
	where map[uint64]int
}

// deep is how many activations are looked through one by one.
const deep = 64

// activation is a call that has not returned.
type activation struct {
	frame uint64
	code  *Code // noCode if none was found
}

var noCode Code

// enter makes frame the current one: it is on top, or further down (the calls above it have
// returned, or were unwound), or new. entered tells whether it was not on top.
func (c *Cursor) enter(frame uint64) (top *activation, entered bool) {
	i := c.find(frame)
	entered = i < 0 || i < len(c.stack)-1
	if i < 0 {
		c.push(activation{frame, &noCode})
		i = len(c.stack) - 1
	}
	c.stack = c.stack[:i+1]
	return &c.stack[i], entered
}

// find is where frame stands in the stack; -1: nowhere.
func (c *Cursor) find(frame uint64) int {
	i, least := len(c.stack)-1, max(len(c.stack)-deep, 0)
	for ; i >= least; i-- {
		if c.stack[i].frame == frame {
			return i
		}
	}
	if least == 0 {
		return -1
	}
	if c.where == nil {
		c.where = map[uint64]int{}
		for i, a := range c.stack {
			c.where[a.frame] = i
		}
	}
	if i, ok := c.where[frame]; ok && i < len(c.stack) && c.stack[i].frame == frame {
		return i
	}
	return -1
}

func (c *Cursor) push(a activation) {
	if c.where != nil {
		c.where[a.frame] = len(c.stack)
	}
	c.stack = append(c.stack, a)
}

// Fork returns a copy.
func (c *Cursor) Fork() *Cursor {
	d := *c
	d.stack, d.where = slices.Clone(c.stack), nil
	return &d
}

// Tracer calls OnStep for each high-level instruction of a running interpreter.
//
//	t := &hlpc.Tracer{Result: res, Cursor: &hlpc.Cursor{}, OnStep: func(sys *kernel.System, s *hlpc.Step) { ... }}
//	t.Attach(m) // an exec.Machine, before it runs
//
// Set Cursor to that of the state that runs next. Instructions that the interpreter executes without a dispatch
// of their own (fused ones) are not seen.
type Tracer struct {
	Result *Result
	Cursor *Cursor
	// Library is a folder, without a slash at the end: code from files below it is marked. Empty: none is.
	Library string
	// OnStep must not keep the step. What it sees in memory may be later than the step, see Attach.
	OnStep func(*kernel.System, *Step)
	// OnRuns, if not nil, is called instead of OnStep, with all steps once. It must not keep the runs.
	OnRuns func([]Run)
	// OnCode, if not nil, is called with each code object that is new and not of the Library, before its first step.
	OnCode func(Digest, Label)

	modules modules
	codes   codes
	known   map[Digest]bool // code objects that OnCode was called with

	machine *exec.Machine
	notes   exec.Notes
	base    int                      // what an index in notes.Stack lacks to that in Cursor's stack
	objects [exec.Window]*codeObject // of activations in notes.Stack
	bias    uint64                   // of the module that noted
	now     Step                     // that OnStep sees
	runs    []Run                    // that OnRuns sees
	one     [1]exec.Note
}

// Attach makes m tell t of steps, as t.Watch does, and compiled code note them where they need no look at memory.
func (t *Tracer) Attach(m *exec.Machine) {
	t.machine = m
	m.Watch, m.Trace, m.Notes, m.Noted = t.Watch, t.trace, &t.notes, t.noted
}

// site says whether the branch at an address is one of dispatches: where its module is, whether it is a call, and whether
// it always dispatches.
func (t *Tracer) site(s *mem.Space, site uint64) (bias uint64, call, always, ok bool) {
	r := t.Result
	a := s.Find(site)
	if a == nil || a.Back == nil || a.Name != r.Function.Module {
		return 0, false, false, false
	}
	if t.modules == nil {
		t.modules = modules{}
	}
	m := t.modules.of(a)
	if m == nil || m.build != r.Function.BuildID {
		return 0, false, false, false
	}
	bias = m.bias(a)
	if off := site - bias; off < r.Function.Offset || off >= r.Function.End {
		return 0, false, false, false
	}
	call, ok = indirect(s, site)
	_, always = slices.BinarySearch(r.Sites, site-bias)
	return bias, call, always, ok && kindOf(call) == r.Kind
}

// trace is an exec.Machine's Trace: compiled code may note dispatches in frames that are known.
func (t *Tracer) trace(s *mem.Space, site uint64) *exec.Trace {
	bias, call, always, ok := t.site(s, site)
	if !ok {
		return nil
	}
	tr := &exec.Trace{Value: t.Result.Location.place(call), To: &t.notes}
	if !always {
		tr.Table = t.Result.Dispatch.table(bias)
	}
	if t.Result.FrameKnown {
		f := t.Result.Frame.place(call)
		tr.Frame = &f
		tr.Object = t.Result.chain(f, call)
	}
	return tr
}

// chain leads to the address of the code object at a branch; nil if it takes more than loads, or there are no code objects.
func (r *Result) chain(frame exec.Place, call bool) *exec.Chain {
	if r.rule == nil {
		return nil
	}
	if r.rule.Object == nil {
		return &exec.Chain{At: r.Object.place(call)}
	}
	offs, ok := r.rule.Object.Loads()
	if !ok {
		return nil
	}
	return &exec.Chain{At: frame, Offs: offs}
}

// table is what explains compares with; nil: nothing.
func (d Dispatch) table(bias uint64) *exec.Table {
	if d.Level < Table {
		return nil
	}
	t := &exec.Table{Delta: d.Delta, Bits: d.Bits, Base: d.Base, Entry: d.Entry}
	if d.Relocated {
		t.Base += bias
	}
	return t
}

// place is where Value looks.
func (l Loc) place(call bool) exec.Place {
	p := exec.Place{Slot: l.Reg, Mem: l.Mem}
	if l.Mem {
		p.Off = l.Off
	}
	if call && l.Reg == ir.RSP {
		p.Off += 8
	}
	return p
}

// noted is an exec.Machine's Noted.
func (t *Tracer) noted(sys *kernel.System) {
	n, at := &t.notes, t.Cursor
	from, entered := uint32(0), false
	t.runs = t.runs[:0]
	for _, m := range n.To[:n.Moves] {
		t.addRun(n.At[from:m.N], entered)
		from, entered = m.N, true
		i := exec.Index(uint64(m.Top))
		if k := t.base + i; k < len(at.stack) {
			at.stack = at.stack[:k+1]
		} else {
			at.push(activation{n.Stack[i].Frame, &t.objects[i].Code})
		}
	}
	t.addRun(n.At[from:n.N], entered)
	n.N, n.Moves = 0, 0
	t.tell(sys)
}

// addRun adds notes of the activation on top; entered says that the one before the first was not of it.
func (t *Tracer) addRun(list []exec.Note, entered bool) {
	depth := len(t.Cursor.stack) - 1
	top := &t.Cursor.stack[depth]
	if t.Result.Redispatch {
		list = t.once(list, top.code.Start, entered)
	}
	if len(list) == 0 {
		return
	}
	n := len(t.runs)
	t.runs = slices.Grow(t.runs, 1)[:n+1]
	r := &t.runs[n] // field by field: one that is copied is stored, and then loaded by other widths
	r.Frame, r.Code, r.Depth, r.Steps, r.bias = top.frame, top.code, depth, list, t.bias
	t.Cursor.last = r.HLPC(list[len(list)-1])
}

// once drops those of list, in code from start on, that were dispatched before.
func (t *Tracer) once(list []exec.Note, start uint64, entered bool) []exec.Note {
	last, k := t.Cursor.last, 0
	for i, e := range list {
		if pc := start + e.Offset; pc != last || entered && i == 0 {
			list[k] = e
			last = pc
			k++
		}
	}
	return list[:k]
}

// tell calls OnRuns or OnStep.
func (t *Tracer) tell(sys *kernel.System) {
	if t.OnRuns != nil {
		t.OnRuns(t.runs)
		return
	}
	for i := range t.runs {
		r := &t.runs[i]
		for _, e := range r.Steps {
			t.now = Step{HLPC: r.HLPC(e), Frame: r.Frame, Code: *r.Code, Offset: e.Offset, Handler: r.Handler(e), Depth: r.Depth}
			t.OnStep(sys, &t.now)
		}
	}
}

// Watch is an exec.Machine's Watch.
func (t *Tracer) Watch(s *mem.Space, site uint64) exec.Watcher {
	bias, call, always, ok := t.site(s, site)
	if !ok {
		return nil
	}
	r := t.Result
	return func(sys *kernel.System, s *mem.Space, c *cpu.CPU, target uint64) {
		v, ok := r.Location.Value(c, s, call)
		if !ok || !always && !r.Dispatch.explains(s, v, target, bias) {
			return // not a dispatch: a switch within a handler
		}
		t.bias = bias
		t.step(sys, s, c, call, v+uint64(r.Delta), target)
	}
}

func (t *Tracer) step(sys *kernel.System, s *mem.Space, c *cpu.CPU, call bool, pc, target uint64) {
	at, r := t.Cursor, t.Result
	frame := uint64(0)
	if r.FrameKnown {
		frame, _ = r.Frame.Value(c, s, call)
	}
	top, entered := at.enter(frame)
	if r.Redispatch && !entered && at.last == pc {
		return
	}
	var object *codeObject // if it was looked for
	if r.rule != nil && pc-top.code.Start >= top.code.Size {
		if object = t.codeAt(s, c, call, frame, pc); object == nil {
			top.code = &noCode
		} else {
			top.code = &object.Code
		}
	}
	t.one[0] = exec.Note{Offset: pc - top.code.Start, Target: target}
	t.runs = t.runs[:0]
	t.addRun(t.one[:], true) // if it was dispatched before, that was seen above
	t.tell(sys)
	t.know(object)
}

// windowBelow is how many activations below the one on top compiled code gets to know at once.
const windowBelow = 16

// know lets compiled code note the steps that follow in the activation on top, those below, and those that are called from there again. object is
// that of the one on top, if it has just been found.
func (t *Tracer) know(object *codeObject) {
	n, stack := &t.notes, t.Cursor.stack
	top := len(stack) - 1
	i := top - t.base
	if n.Size == 0 || i < 1 || i >= exec.Window-1 {
		t.base = max(top-windowBelow, 0) - 1 // of the first, nothing below is known
		for i = 1; t.base+i < top; i++ {
			n.Stack[i] = t.Result.forNotes(stack[t.base+i])
		}
		n.Stack[i] = exec.Activation{}
	}
	a, old := t.Result.forNotes(stack[top]), &n.Stack[i]
	if old.Frame != a.Frame || old.Size == 0 {
		n.Stack[i+1] = exec.Activation{} // was not called from here
	}
	if old.Frame != a.Frame || old.Start != a.Start || old.Size != a.Size {
		*old = a
	}
	if object != nil && t.guarded(object) {
		old.Object, old.Epoch, t.objects[i] = object.address, n.Epoch, object
	}
	n.Set(i)
}

// forNotes is what compiled code has to know of a. Without a rule for code objects all values are of it.
func (r *Result) forNotes(a activation) exec.Activation {
	size := a.code.Size
	if r.rule == nil {
		size = math.MaxUint64
	}
	return exec.Activation{Frame: a.frame, Start: a.code.Start - uint64(r.Delta), Size: size}
}

// hot is how often an object is found before it is guarded.
const hot = 8

// guarded reports whether the notes' epoch ends before anything is written that o was read from.
func (t *Tracer) guarded(o *codeObject) bool {
	if t.machine == nil {
		return false
	}
	if gen := t.machine.Guards(); o.gen != gen {
		o.gen, o.found, o.guarded = gen, 0, false
	}
	if o.found++; o.found == hot {
		o.guarded = t.machine.Guard(o.from)
	}
	return o.guarded
}

// codeAt is the code object that is executed at pc; nil if none is found.
func (t *Tracer) codeAt(s *mem.Space, c *cpu.CPU, call bool, frame, pc uint64) *codeObject {
	r := t.Result
	t.codes.rule, t.codes.function = r.rule, &r.Function
	t.codes.reader.Of(s)
	var object uint64
	if p := r.rule.Object; p == nil {
		object, _ = r.Object.Value(c, s, call)
	} else if v, err := p.Eval(interp.Roots{Frame: frame, PC: pc}, t.codes.reader.ReadU); err == nil {
		object = v
	}
	o := t.codes.at(object, pc, t.bias)
	if o == nil {
		return nil
	}
	if !o.told {
		o.Library = t.Library != "" && strings.HasPrefix(o.label.File, t.Library+"/")
	}
	if !o.told && !o.Library && t.OnCode != nil && !t.known[o.Digest] {
		if t.known == nil {
			t.known = map[Digest]bool{}
		}
		t.known[o.Digest] = true
		t.OnCode(o.Digest, o.label)
	}
	o.told = true
	return o
}
