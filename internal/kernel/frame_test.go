package kernel

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// numbered makes expressions that are numbers: byte i of expression r is 16r+i; 0 is a concrete value.
type numbered struct{}

func (numbered) Split(v uint64, r expr.Ref) mem.Bytes {
	b := mem.Bytes{Data: binary.LittleEndian.AppendUint64(nil, v), Sym: make([]expr.Ref, 8)}
	for i := range b.Sym {
		if r != 0 {
			b.Sym[i] = 16*r + expr.Ref(i)
		}
	}
	return b
}

func (numbered) Linear(r expr.Ref, _, _ uint64) expr.Ref { return r }

func (numbered) Word(b mem.Bytes) expr.Ref {
	for i, r := range b.Sym {
		if r != b.Sym[0]&^15+expr.Ref(i) {
			return 0
		}
	}
	return b.Sym[0] / 16
}

func (numbered) Flags(*cpu.CPU, uint64) expr.Ref { return 0 } // concrete

// Symbolic registers keep their expressions while a signal handler runs and have them again after it.
func TestSymbolicFrame(t *testing.T) {
	for _, p := range []ir.Processor{ir.V2, ir.V3} {
		symbolicFrame(t, p)
	}
}

func symbolicFrame(t *testing.T, p ir.Processor) {
	m := boot(t, Config{Processor: p})
	m.SetTerms(numbered{})
	m.must(13, uint64(unix.SIGUSR1), m.words(text, saRestorer, text+16, 0), 0, 8)
	c := &m.Current().CPU
	c.SetSym(ir.RBX, 0x1122, 5)
	c.SetSym(ir.R13, 0x3344, 6)
	c.SetSym(ir.XMM(3, 1), 0x5566, 7)
	c.Set(ir.Upper(2, 0), 0x9900)
	c.SetSym(ir.Upper(2, 1), 0x7788, 8)
	before := c.R[ir.RSP]
	m.must(200, firstPID, uint64(unix.SIGUSR1))
	if c.PC != text || c.R[ir.RDI] != uint64(unix.SIGUSR1) {
		t.Fatalf("no handler runs: pc %#x", c.PC)
	}
	c.Set(ir.RBX, 1)
	c.Set(ir.R13, 2)
	c.Set(ir.XMM(3, 1), 3)
	if p == ir.V3 { // of a processor without AVX, a frame has no such registers
		c.Set(ir.Upper(2, 0), 4)
		c.Set(ir.Upper(2, 1), 5)
	}
	c.R[ir.RSP] += 8 // ret
	if out := m.raw(15); out.Kind != Done {
		t.Fatalf("%+v", out)
	}
	if c.R[ir.RSP] != before {
		t.Errorf("stack pointer %#x, was %#x", c.R[ir.RSP], before)
	}
	for slot, want := range map[ir.Slot]expr.Ref{ir.RBX: 5, ir.R13: 6, ir.XMM(3, 1): 7, ir.Upper(2, 1): 8} {
		if !c.Sym.Has(slot) || c.S[slot] != want || c.R[slot] != 0x1122+0x2222*uint64(want-5) {
			t.Errorf("slot %d: symbolic %v, expression %d, value %#x", slot, c.Sym.Has(slot), c.S[slot], c.R[slot])
		}
	}
	if c.R[ir.Upper(2, 0)] != 0x9900 {
		t.Errorf("the upper half of a register is %#x", c.R[ir.Upper(2, 0)])
	}
	if c.Sym.Has(ir.R12) {
		t.Error("a concrete register came back symbolic")
	}
}
