package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/lift"
)

// Function returns what a Go function of this program returns, as an expression of its operands, integers of 64 bits. The function's
// machine code is lifted and executed on all its paths; what it calls, too. Where it panics the result is the variable "panic".
// It fails where memory is addressed by a symbolic value that is not an index of a small table, where a division may not fit,
// and where there are too many paths.
func Function[F any](e *expr.Ctx, f F, args ...expr.Ref) (expr.Ref, error) {
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		return 0, err
	}
	defer mem.Close()
	s := NewSymbolic(nil)
	s.E = e
	m := &function{s: s, mem: mem, blocks: map[uint64]*ir.Block{}}
	p := funcPath{cells: map[uint64]expr.Ref{}, panics: e.Const(0, 1)}
	for i := range p.regs {
		p.regs[i] = e.Var(fmt.Sprintf("undefined%d", i), 64)
	}
	for slot, v := range concrete {
		p.regs[slot] = e.Const(v, 64)
	}
	// The register-based calling convention of Go (cmd/compile/abi-internal.md).
	for i, a := range args {
		p.regs[[...]ir.Slot{ir.RAX, ir.RBX, ir.RCX, ir.RDI, ir.RSI, ir.R8, ir.R9, ir.R10, ir.R11}[i]] = a
	}
	closure := *(*uint64)(unsafe.Pointer(&f))
	p.regs[ir.RDX], p.regs[ir.RSP], p.regs[ir.R14] = e.Const(closure, 64), e.Const(stackAt, 64), e.Const(goroutineAt, 64)
	p.regs[ir.XMM(15, 0)], p.regs[ir.XMM(15, 1)] = e.Const(0, 64), e.Const(0, 64)
	m.store(&p, stackAt, e.Const(returnAt, 64), 64)
	m.store(&p, goroutineAt+16, e.Const(0, 64), 64) // stackguard0: the stack never ends
	if p.pc, err = m.word(closure); err != nil {
		return 0, err
	}
	r := m.run(p)
	runtime.KeepAlive(f)
	return r, m.err
}

// Addresses at which nothing is.
const (
	stackAt     = 0x7000_0000_0000_0000
	goroutineAt = 0x7100_0000_0000_0000
	returnAt    = 0x7200_0000_0000_0000
)

// Bounds of an execution.
const (
	mostPaths = 600
	mostSteps = 200000
	mostTable = 4096 // bytes of a table
)

type function struct {
	s            *Symbolic
	mem          *os.File
	blocks       map[uint64]*ir.Block
	paths, steps int
	err          error
}

// funcPath is one path so far.
type funcPath struct {
	regs   [ir.NumSlots]expr.Ref
	cells  map[uint64]expr.Ref // bytes that were written
	panics expr.Ref            // a bit: it has
	pc     uint64
}

func (m *function) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// word reads eight bytes of the program's memory.
func (m *function) word(addr uint64) (uint64, error) {
	var p [8]byte
	_, err := m.mem.ReadAt(p[:], int64(addr))
	return binary.LittleEndian.Uint64(p[:]), err
}

func (m *function) fetch(addr uint64, p []byte) int {
	n, _ := m.mem.ReadAt(p, int64(addr))
	return n
}

// panics reports whether the function at pc ends in a panic.
func panics(pc uint64) bool {
	f := runtime.FuncForPC(uintptr(pc))
	return f != nil && strings.HasPrefix(f.Name(), "runtime.") && strings.Contains(strings.ToLower(f.Name()), "panic")
}

// run executes a path to its end and returns the result.
func (m *function) run(p funcPath) expr.Ref {
	e := m.s.E
	for m.err == nil {
		switch {
		case p.pc == returnAt:
			return e.Ite(p.panics, e.Var("panic", 64), p.regs[ir.RAX])
		case panics(p.pc):
			return e.Var("panic", 64)
		}
		if m.steps++; m.steps > mostSteps {
			m.fail("too many steps")
			break
		}
		b := m.blocks[p.pc]
		if b == nil {
			if b, m.err = lift.Lift(p.pc, m.fetch); m.err != nil {
				break
			}
			m.blocks[p.pc] = b
		}
		var cond expr.Ref
		m.s.R = p.regs
		m.s.Effect = func(_ int, u *ir.Uop) {
			if c := m.effect(&p, b, u); c != 0 {
				cond = c
			}
		}
		m.s.Run(b)
		p.regs = m.s.R
		if cond == 0 {
			continue
		}
		if v, ok := e.IsConst(cond); ok {
			if v != 0 {
				p.pc = b.Taken
			}
			continue
		}
		if m.paths++; m.paths > mostPaths {
			m.fail("too many paths")
			break
		}
		q := p
		q.pc, q.cells = b.Taken, maps.Clone(p.cells)
		yes := m.run(q)
		return e.Ite(cond, yes, m.run(p))
	}
	return e.Const(0, 64)
}

// effect executes a micro-op. At the end of a block it returns the condition under which that goes to Taken, if it depends on one.
func (m *function) effect(p *funcPath, b *ir.Block, u *ir.Uop) (cond expr.Ref) {
	s, e, w := m.s, m.s.E, uint(u.W)
	switch u.Op {
	case ir.Load:
		s.R[u.D] = e.ZExt(m.load(p, s.Addr(u), w), 64)
	case ir.Store:
		addr, ok := e.IsConst(s.Addr(u))
		if !ok {
			m.fail("a store to a symbolic address")
			break
		}
		m.store(p, addr, s.R[u.C], w)
	case ir.TrapIf:
		p.panics = e.Or(p.panics, e.Ne(e.Extract(s.R[u.A], 0, w), e.Const(0, w)))
	case ir.Jmp:
		p.pc = b.Taken
	case ir.Jcc:
		p.pc = b.Next
		return s.Cond(u)
	case ir.JmpInd:
		addr, ok := e.IsConst(s.R[u.A])
		if !ok {
			m.fail("a jump to a symbolic address")
			break
		}
		p.pc = addr
	default:
		m.fail("%v at %#x", u.Op, b.PC)
	}
	return 0
}

func (m *function) store(p *funcPath, addr uint64, v expr.Ref, w uint) {
	for k := range w / 8 {
		p.cells[addr+uint64(k)] = m.s.E.Extract(v, 8*k, 8)
	}
}

// load returns w bits at an address, or of a small table.
func (m *function) load(p *funcPath, addr expr.Ref, w uint) expr.Ref {
	e := m.s.E
	n := uint64(w / 8)
	lo, hi := e.Range(addr)
	if lo == hi {
		var v expr.Ref
		for k := range n {
			b := m.byte(p, lo+k)
			if v == 0 {
				v = b
			} else {
				v = e.Concat(b, v)
			}
		}
		return v
	}
	if hi-lo >= mostTable {
		m.fail("a load from a symbolic address")
		return e.Const(0, w)
	}
	table := make([]uint64, hi-lo+1)
	for i := range table {
		var word [8]byte
		for k := range n {
			v, ok := e.IsConst(m.byte(p, lo+uint64(i)+k))
			if !ok {
				m.fail("a symbolic table")
			}
			word[k] = byte(v)
		}
		table[i] = binary.LittleEndian.Uint64(word[:])
	}
	return e.Select(table, e.Extract(e.Sub(addr, e.Const(lo, 64)), 0, 16), w)
}

var errStack = errors.New("image: the stack is read before it is written")

// byte returns the byte at an address: what the path wrote, or what the program has there.
func (m *function) byte(p *funcPath, addr uint64) expr.Ref {
	if v, ok := p.cells[addr]; ok {
		return v
	}
	var b [1]byte
	if _, err := m.mem.ReadAt(b[:], int64(addr)); err != nil && m.err == nil {
		m.err = errStack
		if addr < stackAt>>1 {
			m.err = err
		}
	}
	return m.s.E.Const(uint64(b[0]), 8)
}
