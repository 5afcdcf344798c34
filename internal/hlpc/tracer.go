package hlpc

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/interp"
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
//	t := &hlpc.Tracer{Result: res, Cursor: &hlpc.Cursor{}, OnStep: func(sys *kernel.System, s hlpc.Step) { ... }}
//	m.Watch = t.Watch // of an exec.Machine, before it runs
//
// Set Cursor to that of the state that runs next. Instructions that the interpreter executes without a dispatch
// of their own (fused ones) are not seen.
type Tracer struct {
	Result *Result
	Cursor *Cursor
	OnStep func(*kernel.System, Step)
	// OnCode, if not nil, is called with each code object that is new, before its first step.
	OnCode func(Digest, Label)

	modules modules
	known   map[Digest]bool // code objects that OnCode was called with
}

// Watch is an exec.Machine's Watch.
func (t *Tracer) Watch(s *mem.Space, site uint64) exec.Watcher {
	r := t.Result
	a := s.Find(site)
	if a == nil || a.Back == nil || a.Name != r.Function.Module {
		return nil
	}
	if t.modules == nil {
		t.modules = modules{}
	}
	m := t.modules.of(a)
	if m == nil || m.build != r.Function.BuildID {
		return nil
	}
	bias := m.bias(a)
	if off := site - bias; off < r.Function.Offset || off >= r.Function.End {
		return nil
	}
	call, ok := indirect(s, site)
	if !ok || kindOf(call) != r.Kind {
		return nil
	}
	_, always := slices.BinarySearch(r.Sites, site-bias)
	return func(sys *kernel.System, s *mem.Space, c *cpu.CPU, target uint64) {
		v, ok := r.Location.Value(c, s, call)
		if !ok || !always && !r.Dispatch.explains(s, v, target, bias) {
			return // not a dispatch: a switch within a handler
		}
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
		var parts [][]byte
		top.code, parts = r.codeAt(s, interp.Roots{HLPC: pc, Frame: frame})
		if t.OnCode != nil && parts != nil && !t.known[top.code.Digest] {
			if t.known == nil {
				t.known = map[Digest]bool{}
			}
			t.known[top.code.Digest] = true
			t.OnCode(top.code.Digest, labelOf(r.rule.Label, parts))
		}
	}
	t.OnStep(sys, Step{HLPC: pc, Frame: frame, Code: top.code, Offset: pc - top.code.Start, Handler: handler, Depth: len(at.stack) - 1})
}

// maxIdentity bounds the bytes that identify a code object.
const maxIdentity = 1 << 20

// codeAt is the code object that the rule finds, with the parts of its identity; the zero Code if
// that does not hold the HLPC.
func (r *Result) codeAt(s *mem.Space, at interp.Roots) (Code, [][]byte) {
	start, err1 := r.rule.Start.Eval(at, s.ReadU)
	size, err2 := r.rule.Size.Eval(at, s.ReadU)
	if err1 != nil || err2 != nil || at.HLPC-start >= size {
		return Code{}, nil
	}
	h := sha256.New()
	var parts [][]byte
	for _, part := range r.rule.Identity {
		from, err1 := part[0].Eval(at, s.ReadU)
		n, err2 := part[1].Eval(at, s.ReadU)
		if err1 != nil || err2 != nil || n > maxIdentity {
			return Code{}, nil
		}
		b := make([]byte, n)
		if s.Read(from, b) != nil {
			return Code{}, nil
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, n))
		h.Write(b)
		parts = append(parts, b)
	}
	return Code{Digest: Digest(h.Sum(nil)[:len(Digest{})]), Start: start, Size: size}, parts
}
