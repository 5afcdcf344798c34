package hlpc

import (
	"math"
	"slices"

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
	Code  Code
	Depth int
	// Steps have the HLPC as Value and the handler as Target.
	Steps []exec.Note
}

// Offset is that of a step at hlpc.
func (r *Run) Offset(hlpc uint64) uint64 { return hlpc - r.Code.Start }

// Cursor is what the tracer remembers of one task of one state; copy it when the state is forked.
type Cursor struct {
	stack []activation
	last  uint64 // HLPC of the last dispatch
}

// activation is a call that has not returned.
type activation struct {
	frame uint64
	code  Code
}

// enter makes frame the current one: it is on top, or further down (the calls above it have
// returned, or were unwound), or new. entered tells whether it was not on top.
func (c *Cursor) enter(frame uint64) (top *activation, entered bool) {
	i := len(c.stack) - 1
	for i >= 0 && c.stack[i].frame != frame {
		i--
	}
	entered = i < 0 || i < len(c.stack)-1
	if i < 0 {
		c.stack = append(c.stack, activation{frame: frame})
		i = len(c.stack) - 1
	}
	c.stack = c.stack[:i+1]
	return &c.stack[i], entered
}

// Fork returns a copy.
func (c *Cursor) Fork() *Cursor {
	d := *c
	d.stack = slices.Clone(c.stack)
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
	// OnStep must not keep the step. What it sees in memory may be later than the step, see Attach.
	OnStep func(*kernel.System, *Step)
	// OnRun, if not nil, is called instead of OnStep, with all steps once. It must not keep the run.
	OnRun func(*Run)
	// OnCode, if not nil, is called with each code object that is new, before its first step.
	OnCode func(Digest, Label)

	modules modules
	codes   codes
	known   map[Digest]bool // code objects that OnCode was called with

	notes exec.Notes // of steps in the frame on top of Cursor
	bias  uint64     // of the module that noted
	now   Step       // that OnStep sees
	run   Run        // that OnRun sees
	one   [1]exec.Note
}

// Attach makes m tell t of steps, as t.Watch does, and compiled code note them where they need no look at memory.
func (t *Tracer) Attach(m *exec.Machine) {
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

// trace is an exec.Machine's Trace: compiled code may note dispatches within one code object and one frame.
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
	}
	return tr
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
	n := &t.notes
	at, r := t.Cursor, t.Result
	top := &at.stack[len(at.stack)-1]
	last, k := at.last, 0
	for _, e := range n.At[:n.N] {
		pc := e.Value + uint64(r.Delta)
		if pc == last && r.Redispatch {
			continue
		}
		last = pc
		n.At[k] = exec.Note{Value: pc, Target: e.Target - t.bias}
		k++
	}
	at.last, n.N = last, 0
	t.tell(sys, Run{top.frame, top.code, len(at.stack) - 1, n.At[:k]})
}

// tell calls OnRun or OnStep.
func (t *Tracer) tell(sys *kernel.System, r Run) {
	if t.OnRun != nil {
		t.run = r
		t.OnRun(&t.run)
		return
	}
	for _, e := range r.Steps {
		t.now = Step{HLPC: e.Value, Frame: r.Frame, Code: r.Code, Offset: r.Offset(e.Value), Handler: e.Target, Depth: r.Depth}
		t.OnStep(sys, &t.now)
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
		t.step(sys, s, c, call, v+uint64(r.Delta), target-bias)
	}
}

func (t *Tracer) step(sys *kernel.System, s *mem.Space, c *cpu.CPU, call bool, pc, handler uint64) {
	at, r := t.Cursor, t.Result
	frame := uint64(0)
	if r.FrameKnown {
		frame, _ = r.Frame.Value(c, s, call)
	}
	top, entered := at.enter(frame)
	again := !entered && at.last == pc
	at.last = pc
	if again && r.Redispatch {
		return
	}
	if r.rule != nil && pc-top.code.Start >= top.code.Size {
		top.code = t.codeAt(s, c, call, frame, pc)
	}
	t.one[0] = exec.Note{Value: pc, Target: handler}
	t.tell(sys, Run{frame, top.code, len(at.stack) - 1, t.one[:]})
	t.notes.Frame, t.notes.Start, t.notes.Size = frame, top.code.Start-uint64(r.Delta), top.code.Size
	if r.rule == nil {
		t.notes.Size = math.MaxUint64
	}
}

// codeAt is the code object that is executed at pc; the zero Code if none is found.
func (t *Tracer) codeAt(s *mem.Space, c *cpu.CPU, call bool, frame, pc uint64) Code {
	r := t.Result
	t.codes.rule, t.codes.function = r.rule, &r.Function
	t.codes.reader.Of(s)
	var object uint64
	if p := r.rule.Object; p == nil {
		object, _ = r.Object.Value(c, s, call)
	} else if v, err := p.Eval(interp.Roots{Frame: frame}, t.codes.reader.ReadU); err == nil {
		object = v
	}
	o := t.codes.at(object, pc, t.bias)
	if o == nil {
		return Code{}
	}
	if !o.told && t.OnCode != nil && !t.known[o.Digest] {
		if t.known == nil {
			t.known = map[Digest]bool{}
		}
		t.known[o.Digest] = true
		t.OnCode(o.Digest, o.label)
	}
	o.told = true
	return o.Code
}
