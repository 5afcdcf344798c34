package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"symchef/internal/cpucheck"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/lift"
	"symchef/internal/mutate/image"
)

// TestImage writes what the machine code of every form alone, and of random blocks of several, does. The code is lifted in its turn.
func TestImage(t *testing.T) {
	out := image.New(t)
	r := rand.New(rand.NewPCG(1, 2))
	notes := &Notes{}
	form := func(code []byte, trace *Trace) {
		b := lifted(t, code)
		src := &Source{Block: b, Touch: b.Reads, Flags: ir.MakeCC(ir.CCKind(r.IntN(13)), 8<<r.IntN(4)), Watched: trace != nil || r.IntN(8) == 0, Trace: trace}
		g := newGen(src, 1)
		name := fmt.Sprintf("% x, flags %#x, watched %v", code, src.Flags, src.Watched)
		if trace != nil {
			name += fmt.Sprintf(", value %v, frame %v, object %v, table %v", trace.Value, trace.Frame, trace.Object, trace.Table)
		}
		if !g.block() {
			out.Form(name, "; not compiled")
			return
		}
		s := image.NewSymbolic(nil)
		machine := bytes.ReplaceAll(g.b, word(uint64(uintptr(unsafe.Pointer(notes)))), word(notesAt))
		p := &paths{block: b, code: machine, s: s, entry: s.R, results: &image.Results{E: s.E}}
		p.all(map[cell]expr.Ref{}, p.note)
		out.Form(name, p.results.Text()...)
	}
	var straight [][]byte
	eachForm(r, 2, func(_ string, code []byte) {
		form(code, nil)
		if len(code) < 12 {
			straight = append(straight, code)
		}
	})
	for range 2000 {
		var code []byte
		for range 2 + r.IntN(6) {
			code = append(code, straight[r.IntN(len(straight))]...)
		}
		form(code, nil)
	}
	tables := []*Table{nil}
	for _, bits := range []int{1, 8, 11, 16, 24, 32, 40, 64} {
		for _, entry := range []int{4, 8} {
			tables = append(tables, &Table{Delta: int64(bits - 9), Bits: bits, Base: 0x7654_3210_0000, Entry: entry})
		}
	}
	places := []Place{{Slot: ir.RBX}, {Slot: ir.RSI, Off: 1}, {Slot: ir.RAX, Off: -1}, {Slot: ir.RSP, Mem: true}, {Slot: ir.RBP, Mem: true, Off: -0x48}}
	for _, value := range places {
		for _, table := range tables {
			form([]byte{0xff, 0xe0}, &Trace{Value: value, Table: table, To: notes}) // jmp rax
		}
		for _, frame := range places {
			form([]byte{0xff, 0xe0}, &Trace{Value: value, Frame: &frame, Table: tables[1], To: notes})
			form([]byte{0xff, 0xe0}, &Trace{Value: value, Frame: &frame, Object: &Chain{At: places[3]}, To: notes})
			form([]byte{0xff, 0xe0}, &Trace{Value: value, Frame: &frame, Object: &Chain{At: frame, Offs: []int32{0x10, -0x200}}, To: notes})
		}
	}
}

// notesAt stands for the address of notes, which is another in every run.
const notesAt = 0x6000_0000_0000

// word returns the bytes of v in memory.
func word(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// eachForm calls f with n encodings of every form, with its name.
func eachForm(r *rand.Rand, n int, f func(name string, code []byte)) {
	for _, form := range cpucheck.Forms() {
		for range n {
			if c, ok := form.Case(r); ok {
				f(form.Name, c.Check.Code)
			}
		}
	}
}

// lifted is the block that code is.
func lifted(t *testing.T, code []byte) *ir.Block {
	t.Helper()
	b, err := lift.Lift(cpucheck.CodeBase, fetch(cpucheck.CodeBase, code))
	if err != nil {
		t.Fatalf("% x: %v", code, err)
	}
	return b
}

// fetch is lift.Fetch for code at base.
func fetch(base uint64, code []byte) lift.Fetch {
	return func(addr uint64, p []byte) int {
		if off := addr - base; off < uint64(len(code)) {
			return copy(p, code[off:])
		}
		return 0
	}
}

// codeAt is where machine code lies for the lifter.
const codeAt = 0x50000000

// paths executes all paths through the machine code of a block. Memory that is addressed by rbx, r15 and rsp with a constant is kept byte
// by byte: the slots, the Context, the return address. All else is an event: what is loaded is a variable.
type paths struct {
	block   *ir.Block // that was compiled
	code    []byte
	s       *image.Symbolic
	entry   [ir.NumSlots]expr.Ref // registers at entry
	results *image.Results
}

// cell is a byte of memory: a register at entry and a displacement.
type cell struct {
	base expr.Ref
	disp int64
}

// path is one path so far.
type path struct {
	regs  [ir.NumSlots]expr.Ref
	cells map[cell]expr.Ref
	given int        // variables for what was loaded
	conds []expr.Ref // of the branches taken
	pc    uint64
	ret   bool // it ended with a return
	back  bool // it ended where it came back to code that other paths execute, from where a granule with symbolic bytes was used
	over  bool
}

// all executes all paths from memory that holds cells, and calls end at the end of each.
func (p *paths) all(cells map[cell]expr.Ref, end func(*path)) {
	s := p.s
	lifted := map[uint64]*ir.Block{}
	todo := []*path{{regs: s.R, cells: cells, pc: codeAt}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !at.over {
			b := lifted[at.pc]
			if b == nil {
				var err error
				if b, err = lift.Lift(at.pc, fetch(codeAt, p.code)); err != nil {
					panic(fmt.Sprintf("jit: % x at %#x: %v", p.code, at.pc-codeAt, err))
				}
				lifted[at.pc] = b
			}
			s.R = at.regs
			var other *path // where the block goes if its condition does not hold
			s.Effect = func(i int, u *ir.Uop) { other = p.effect(at, b, i, u) }
			s.Run(b)
			at.regs = s.R
			if other != nil {
				other.regs = s.R
				todo = append(todo, other)
			}
		}
		end(at)
	}
}

// effect executes a micro-op of the lifted machine code.
func (p *paths) effect(at *path, b *ir.Block, i int, u *ir.Uop) (other *path) {
	s, l, e, w := p.s, p.results, p.s.E, uint(u.W)
	switch u.Op {
	case ir.Load:
		addr := s.Addr(u)
		if c, ok := p.place(addr); ok {
			s.R[u.D] = e.ZExt(at.load(e, c, w), 64)
			return nil
		}
		l.Event("load %d", w)
		l.Value(addr, 64)
		s.R[u.D] = e.ZExt(e.Var(fmt.Sprintf("m%d.%d", at.given, w), w), 64)
		at.given++
	case ir.Store:
		addr := s.Addr(u)
		if c, ok := p.place(addr); ok {
			for k := range w / 8 {
				at.cells[cell{c.base, c.disp + int64(k)}] = e.Extract(s.R[u.C], 8*k, 8)
			}
			return nil
		}
		l.Event("store %d", w)
		l.Value(addr, 64)
		l.Value(s.R[u.C], w)
	case ir.Jmp:
		if at.back = b.Taken < at.pc; at.back {
			l.Event("back")
			for _, r := range s.R[:ir.R15+1] {
				l.Value(r, 64)
			}
			at.over = true
		}
		at.pc = b.Taken
	case ir.Jcc:
		cond := s.Cond(u)
		if v, ok := e.IsConst(cond); ok {
			if at.pc = b.Next; v != 0 {
				at.pc = b.Taken
			}
			return nil
		}
		l.Event("branch")
		l.Value(cond, 1)
		other = &path{cells: maps.Clone(at.cells), given: at.given, conds: append(slices.Clip(at.conds), e.Not(cond)), pc: b.Next}
		at.conds = append(slices.Clip(at.conds), cond)
		at.pc = b.Taken
	case ir.Helper:
		l.Helper(s, i, u)
	case ir.TrapIf, ir.SkipIf:
		l.Event("%v %d", u.Op, u.Imm)
		l.Value(s.R[u.A], max(w, 8))
	default: // a return, or a jump to another block
		l.Event("%v", u.Op)
		if u.Op == ir.JmpInd {
			l.Value(s.R[u.A], 64)
			at.ret = s.R[u.A] == at.load(e, cell{p.entry[ir.RSP], 0}, 64)
		}
		at.over = true
	}
	return other
}

// place returns the byte at an address that is a register's at entry and a constant.
func (p *paths) place(addr expr.Ref) (c cell, ok bool) {
	e, entry := p.s.E, &p.entry
	c.base = addr
	if e.Kind(addr) == expr.Add {
		if v, isConst := e.IsConst(e.B(addr)); isConst {
			c = cell{e.A(addr), int64(v)}
		} else if v, isConst := e.IsConst(e.A(addr)); isConst {
			c = cell{e.B(addr), int64(v)}
		}
	}
	return c, c.base == entry[ir.RBX] || c.base == entry[ir.R15] || c.base == entry[ir.RSP]
}

// load returns w bits of memory.
func (t *path) load(e *expr.Ctx, c cell, w uint) expr.Ref {
	var v expr.Ref
	for k := range int64(w / 8) {
		b := t.byte(e, cell{c.base, c.disp + k})
		if v == 0 {
			v = b
		} else {
			v = e.Concat(b, v)
		}
	}
	return v
}

// byte returns a byte of memory; one that was not written is part of a variable of eight.
func (t *path) byte(e *expr.Ctx, c cell) expr.Ref {
	if v, ok := t.cells[c]; ok {
		return v
	}
	word := c.disp &^ 7
	return e.Extract(e.Var(fmt.Sprintf("%s%+d", e.VarName(e.VarOf(c.base)), word), 64), uint(c.disp-word)*8, 8)
}

// note makes results of what a path leaves behind: the registers of which callers know, the Context, and the slots; of temporaries
// those that the evaluator reads when it goes on.
func (p *paths) note(at *path) {
	l, e := p.results, p.s.E
	if at.back {
		return
	}
	for _, r := range []ir.Slot{ir.RBX, ir.RSP, ir.R14, ir.R15} {
		l.Value(at.regs[r], 64)
	}
	for d := int64(0); d < int64(ctxRead); d += 8 {
		l.Value(at.load(e, cell{p.entry[ir.R15], d}, 64), 64)
	}
	uop, _ := e.IsConst(p.context(at, ctxUop))
	l.Event("at %d", int64(uop))
	live := temporaries(p.block, int(uop))
	for i := range ir.Slot(ir.TempEnd) {
		if i < ir.Temp0 || live.Has(i) {
			l.Value(p.slot(at, i), 64)
		}
	}
}

// context returns a word of the Context at the end of a path, slot a slot in memory.
func (p *paths) context(at *path, disp int32) expr.Ref {
	return at.load(p.s.E, cell{p.entry[ir.R15], int64(disp)}, 64)
}

func (p *paths) slot(at *path, s ir.Slot) expr.Ref {
	return at.load(p.s.E, cell{p.entry[ir.RBX], int64(slot(s).disp)}, 64)
}

// temporaries returns those that b reads from micro-op i on before it writes them; none if i is negative.
func temporaries(b *ir.Block, i int) (live ir.SlotSet) {
	var written ir.SlotSet
	for ; i >= 0 && i < len(b.Uops); i++ {
		b.Uops[i].Uses(func(s ir.Slot) {
			if s >= ir.Temp0 && !written.Has(s) {
				live.Add(s)
			}
		})
		b.Uops[i].Defs(written.Add)
	}
	return live
}
