// Package high groups the low-level states of an interpreter by the path of the
// interpreted program that they execute (CHEF, section 3.1; Bucur's thesis, section 4.3).
//
//	machine ── dispatches ──► hlpc.Tracer ── steps ──► Tracker ──► Path of the running state
//	                                                      └──────► Tree of all paths
//
// # Invariants
//
//   - A Path is a function of the decisions of its state: it names code objects by digest and
//     instructions by offset, never by address.
//   - Two states have the same ID if and only if (but for a collision of 128 bits) they have
//     executed the same sequence of high-level instructions since the test began.
package high

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/hlpc"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// ID identifies a high-level path, or the beginning of one.
type ID [2]uint64

// String is the ID in hexadecimal digits.
func (d ID) String() string { return fmt.Sprintf("%016x%016x", d[0], d[1]) }

// after is the ID after one more instruction, by its Static.
func (d ID) after(at uint64) ID {
	a, b := after(d[0], d[1], at)
	return ID{a, b}
}

// after is ID.after on numbers: the compiler keeps them in registers, an array in memory.
func after(a, b, at uint64) (uint64, uint64) {
	return mix(a^0x243f6a8885a308d3, at), mix(b^0x13198a2e03707344, at^0xa4093822299f31d0)
}

func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v, 0x9e3779b97f4a7c15)
	return hi ^ lo ^ h<<1
}

// Path is where a state is in the interpreted program, and how it came there.
type Path struct {
	ID     ID
	Steps  int    // high-level instructions since the test began
	Static uint64 // the high-level program counter, as a number: of the first 8 bytes of the code object's digest, and the offset there
	Stack  uint64 // digest of the call stack

	cursors []cursor // one per task
	frames  []frame  // outermost first
	at      Place
	last    Step
	ended   bool // the test has: what is executed from now on is no step
}

// End says that the test has ended: what comes behind, as exit handlers and the end of threads, is none of its steps.
func (p *Path) End() { p.ended = true }

// frame is a call that has not returned.
type frame struct {
	below uint64 // digest of the stack below
	at    nodeID // the frame's last instruction in the Graph; none for a new frame
}

// Name is the ID as text; empty if nothing was followed.
func (p *Path) Name() string {
	if p.Steps == 0 {
		return ""
	}
	return p.ID.String()
}

// cursor is the tracer's memory of one task.
type cursor struct {
	tid int
	*hlpc.Cursor
}

// Fork returns a copy for another state.
func (p Path) Fork() Path {
	p.cursors = slices.Clone(p.cursors)
	for i := range p.cursors {
		p.cursors[i].Cursor = p.cursors[i].Fork()
	}
	p.frames = slices.Clone(p.frames)
	return p
}

func (p *Path) cursor(tid int) *hlpc.Cursor {
	for _, c := range p.cursors {
		if c.tid == tid {
			return c.Cursor
		}
	}
	c := &hlpc.Cursor{}
	p.cursors = append(p.cursors, cursor{tid, c})
	return c
}

// Tracker follows the running state of one worker.
type Tracker struct {
	Tree  Tree
	Graph Graph

	tracer  hlpc.Tracer
	cur     *Path
	object  *hlpc.Code // that was executed last; nil: none yet
	code    uint32     // its number in Tree.Codes
	sources map[Step]string
	numbers []uint32  // of steps in a row, in Tree.Table
	told    hlpc.Code // of the steps that the guest tells of
}

// NewTracker returns a tracker for the interpreter that res describes. What is executed of files below the folder library is
// no step: it is not the program's. Empty: there is none.
func NewTracker(res *hlpc.Result, library string) *Tracker {
	t := &Tracker{}
	if res.Told != nil {
		t.told = hlpc.Code{Digest: toldDigest, Size: math.MaxUint32}
		t.Tree.label(toldDigest, *res.Told)
		return t
	}
	t.tracer = hlpc.Tracer{Result: res, Library: library, OnRuns: t.follow, OnCode: t.Tree.label}
	return t
}

// Attach makes m tell t of what its states do.
func (t *Tracker) Attach(m *exec.Machine) {
	if t.told.Size != 0 {
		return
	}
	t.tracer.Attach(m)
	m.Watch = t.watch
}

// Release lets go of the machine and of all but the tree. Nothing is followed any more.
func (t *Tracker) Release() {
	t.tracer, t.Graph, t.cur, t.object, t.sources, t.numbers = hlpc.Tracer{}, Graph{}, nil, nil, nil, nil
}

func (t *Tracker) watch(s *mem.Space, site uint64) exec.Watcher {
	w := t.tracer.Watch(s, site)
	if w == nil {
		return nil
	}
	return func(sys *kernel.System, s *mem.Space, c *cpu.CPU, target uint64) {
		if t.cur == nil {
			return
		}
		t.tracer.Cursor = t.cur.cursor(sys.Current().TID)
		w(sys, s, c, target)
	}
}

// Run makes p the path of the state that runs next; nil: nothing is followed.
func (t *Tracker) Run(p *Path) { t.cur = p }

// toldDigest is that of all code whose steps the guest tells of.
var toldDigest = hlpc.Digest{'t', 'o', 'l', 'd'}

// Tell takes p along a step that the guest tells of: the number of the instruction, and its opcode. Nothing is known of calls.
func (t *Tracker) Tell(p *Path, id uint32, opcode uint64) {
	if t.told.Size == 0 {
		return
	}
	t.along(p, []hlpc.Run{{Code: &t.told, Steps: []exec.Note{{Offset: uint64(id), Target: opcode}}}})
}

// follow takes the running state's path along runs.
func (t *Tracker) follow(runs []hlpc.Run) { t.along(t.cur, runs) }

func (t *Tracker) along(p *Path, runs []hlpc.Run) {
	if p.ended {
		return
	}
	t.numbers = t.numbers[:0]
	for i := range runs {
		t.run(p, &runs[i])
	}
	if n := len(t.numbers); n > 0 {
		p.last = t.Tree.Table[t.numbers[n-1]]
	}
	p.at = t.Tree.Advance(p.at, t.numbers)
	p.Steps += len(t.numbers)
}

// run takes p, but for its place in the Tree, along r.
func (t *Tracker) run(p *Path, r *hlpc.Run) {
	if r.Code.Library {
		p.frames = p.frames[:min(len(p.frames), r.Depth)] // those above have returned
		return
	}
	if r.Depth+1 < len(p.frames) {
		p.frames = p.frames[:r.Depth+1]
	}
	for len(p.frames) <= r.Depth {
		p.frames = append(p.frames, frame{below: mix(p.Stack, p.Static)})
	}
	f := &p.frames[r.Depth]
	p.Stack = f.below
	if r.Code != t.object {
		t.object, t.code = r.Code, t.Tree.code(r.Code.Digest)
	}
	code := binary.LittleEndian.Uint64(r.Code.Digest[:])
	id0, id1, static, at := p.ID[0], p.ID[1], p.Static, f.at
	for _, s := range r.Steps {
		static = mix(code, s.Offset)
		id0, id1 = after(id0, id1, static)
		at = t.Graph.step(at, static, r.Handler(s))
		n := &t.Graph.nodes[at]
		if n.number == 0 {
			n.number = 1 + t.Tree.number(Step{t.code, uint32(s.Offset)})
		}
		t.numbers = append(t.numbers, n.number-1)
	}
	p.ID, p.Static, f.at = ID{id0, id1}, static, at
}

// Opcode is the number of the code in the interpreter that executes p's instruction: a function of its opcode.
func (t *Tracker) Opcode(p *Path) uint64 {
	if len(p.frames) == 0 {
		return 0
	}
	return t.Graph.nodes[p.frames[len(p.frames)-1].at].handler
}

// Last is the instruction that p executes; the zero Step if nothing was followed.
func (p *Path) Last() Step { return p.last }

// Stands is the Source of the instruction that p executes; empty where the test has ended, or nothing is known.
func (t *Tracker) Stands(p *Path) string {
	if p.ended {
		return ""
	}
	return t.Source(p.last)
}

// Source is where an instruction is in the source of the interpreted program, FILE:LINE NAME, as far as it is known.
func (t *Tracker) Source(at Step) string {
	if at == (Step{}) {
		return ""
	}
	name, known := t.sources[at]
	if !known {
		name = t.Tree.location(at).Source
		if t.sources == nil {
			t.sources = map[Step]string{}
		}
		t.sources[at] = name
	}
	return name
}

// Place is where p is in the Tracker's Tree.
func (p *Path) Place() Place { return p.at }

// End notes that a low-level path of p has ended; test names its test case, if it has one.
func (t *Tracker) End(p *Path, outcome, test string) { t.Tree.End(p.at, outcome, test) }
