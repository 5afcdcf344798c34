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

func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v, 0x9e3779b97f4a7c15)
	return hi ^ lo ^ h<<1
}

// Path is where a state is in the interpreted program, and how it came there.
type Path struct {
	ID     ID
	Steps  int    // high-level instructions since the test began
	Static uint64 // the high-level program counter, as a number
	Stack  uint64 // digest of the call stack

	cursors []cursor // one per task
	callers []uint64 // digests of the stacks below, outermost first
	at      Place
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
	p.callers = slices.Clone(p.callers)
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
	Tree Tree

	tracer hlpc.Tracer
	cur    *Path
}

// NewTracker returns a tracker for the interpreter that res describes. Its Watch
// belongs to the worker's machine.
func NewTracker(res *hlpc.Result) *Tracker {
	t := &Tracker{}
	t.tracer = hlpc.Tracer{Result: res, OnStep: t.step, OnCode: t.Tree.label}
	return t
}

// Watch is an exec.Machine's Watch.
func (t *Tracker) Watch(s *mem.Space, site uint64) exec.Watcher {
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

func (t *Tracker) step(_ *kernel.System, s hlpc.Step) {
	p := t.cur
	for s.Depth+1 < len(p.callers) {
		p.callers = p.callers[:len(p.callers)-1]
	}
	for len(p.callers) <= s.Depth {
		p.callers = append(p.callers, mix(p.Stack, p.Static))
	}
	p.Stack = p.callers[s.Depth]
	code := binary.LittleEndian.Uint64(s.Code.Digest[:])
	p.Static = mix(code, s.Offset)
	p.ID[0] = mix(p.ID[0]^0x243f6a8885a308d3, p.Static)
	p.ID[1] = mix(p.ID[1]^0x13198a2e03707344, p.Static^0xa4093822299f31d0)
	p.Steps++
	p.at = t.Tree.Advance(p.at, Step{t.Tree.code(s.Code.Digest), uint32(s.Offset)})
}

// End notes that a low-level path of p has ended; test names its test case, if it has one.
func (t *Tracker) End(p *Path, outcome, test string) { t.Tree.End(p.at, outcome, test) }
