package jit

import (
	"testing"

	"symchef/internal/ir"
)

// What machine code computes is compared with the evaluator and the reference interpreter in package exec, and with the
// processor in its TestForms. Here is how blocks follow each other.

// counting returns a block at pc that adds 1 to a register and goes to next.
func counting(pc, next uint64, s ir.Slot) *ir.Block {
	return &ir.Block{PC: pc, Next: pc + 8, Taken: next, Insns: []ir.InsnMark{{}}, Uops: []ir.Uop{
		{Op: ir.Add, W: 64, D: s, A: s, B: ir.Zero, Imm: 1},
		{Op: ir.Jmp},
	}}
}

func compile(t *testing.T, b *Buffer, blk *ir.Block) Code {
	t.Helper()
	c, ok := b.Compile(&Source{Block: blk, Touch: ir.SlotSet{1 << ir.RBX}})
	if b.off {
		t.Skip("this host does not allow memory that can be written and executed: all runs in the evaluator")
	}
	if !ok {
		t.Fatal("not compiled")
	}
	return c
}

func TestLinks(t *testing.T) {
	var r [ir.NumSlots]uint64
	ctx := &Context{Regs: &r}
	b := NewBuffer(ctx)
	one, two := compile(t, b, counting(0x1000, 0x2000, ir.RAX)), compile(t, b, counting(0x2000, 0x1000, ir.RCX))
	b.Retext(1)
	step := func(c Code, n int64, pc, rax, rcx uint64, left int64) {
		t.Helper()
		ctx.Left = n
		b.Run(c)
		if ctx.Uop != -1 || ctx.PC != pc || r[ir.RAX] != rax || r[ir.RCX] != rcx || ctx.Left != left {
			t.Fatalf("uop %d, pc %#x, %d and %d rounds, %d left; want -1, %#x, %d, %d, %d",
				ctx.Uop, ctx.PC, r[ir.RAX], r[ir.RCX], ctx.Left, pc, rax, rcx, left)
		}
	}
	step(one, 10, 0x2000, 1, 0, 9)
	b.Link(two)
	step(one, 10, 0x1000, 2, 1, 8)
	b.Link(one)
	step(one, 10, 0x1000, 7, 6, 0) // round and round until nothing is left
	step(one, 0, 0x1000, 7, 6, 0)
	b.Retext(2)
	step(one, 10, 0x2000, 8, 6, 9)
	ctx.Sym = ir.SlotSet{1 << ir.RBX}
	ctx.Left = 10
	if b.Run(one); ctx.Uop != 0 || ctx.Block != uint64(one.ID) || ctx.Left != 10 {
		t.Fatalf("a block that touches a symbolic slot ran: uop %d, %d left", ctx.Uop, ctx.Left)
	}
}

// TestFull: a buffer that is full drops all code, and what was compiled before is not valid.
func TestFull(t *testing.T) {
	var r [ir.NumSlots]uint64
	ctx := &Context{Regs: &r}
	b := NewBuffer(ctx)
	big := counting(0x1000, 0x2000, ir.RAX)
	for range 2000 {
		big.Uops = append([]ir.Uop{big.Uops[0]}, big.Uops...)
	}
	first := compile(t, b, big)
	n := 1
	for ; b.Valid(first); n++ {
		if n > bufferSize/2000 {
			t.Fatal("the buffer never fills")
		}
		if c := compile(t, b, big); b.Valid(first) && int(c.ID) != n {
			t.Fatalf("block %d has number %d", n, c.ID)
		}
	}
	c := compile(t, b, counting(0x1000, 0x2000, ir.RAX))
	if c.ID != 1 {
		t.Fatalf("the second block after a drop has number %d", c.ID)
	}
	ctx.Left = 1
	if b.Run(c); r[ir.RAX] != 1 {
		t.Fatalf("counted %d", r[ir.RAX])
	}
}
