package jit

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"symchef/internal/ir"
	"symchef/internal/mem"
	"symchef/internal/seed"
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
		t.Skip("skipped: this host does not allow memory that can be written and executed: all runs in the evaluator")
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

// TestPlaces: code stands at multiples of 16, one after the other and as close as that allows; what just fits is kept, and what never fits
// is not compiled.
func TestPlaces(t *testing.T) {
	var r [ir.NumSlots]uint64
	ctx := &Context{Regs: &r}
	b := NewBuffer(ctx)
	blk := counting(0x1000, 0x2000, ir.RAX)
	size := func() int { // of the code of blk
		g := newGen(&Source{Block: blk, Touch: ir.SlotSet{1 << ir.RBX}}, 1)
		g.block()
		return len(g.b)
	}
	end := uintptr(0)
	for range 40 {
		c := compile(t, b, blk)
		if end == 0 {
			end = b.base()
		}
		if c.entry%16 != 0 || c.entry < end || c.entry >= end+16 {
			t.Fatalf("code at %#x after an end at %#x", c.entry, end)
		}
		end = c.entry + uintptr(size())
		blk.Uops = append([]ir.Uop{{Op: ir.Add, W: 32, D: ir.RDX, A: ir.RDX, B: ir.Zero, Imm: uint64(len(blk.Uops)) << 6}}, blk.Uops...)
	}
	whole := b.mem
	for short := range 3 {
		b.mem = whole
		b.Drop()
		first := compile(t, b, blk)
		b.mem = whole[:b.used+size()-short]
		if second := compile(t, b, blk); b.Valid(first) != (short == 0) || !b.Valid(second) {
			t.Errorf("%d bytes too few: first %v, second %v", short, b.Valid(first), b.Valid(second))
		}
		b.mem = whole[:size()-short]
		if c, ok := b.Compile(&Source{Block: blk, Touch: ir.SlotSet{1 << ir.RBX}}); ok != (short == 0) || ok && !b.Valid(c) {
			t.Errorf("a buffer %d bytes too small for the block: compiled %v", short, ok)
		}
	}
}

// TestNoTerminator: a block whose code would run on into whatever follows is not compiled; nor is one whose first micro-op is the evaluator's.
func TestNoTerminator(t *testing.T) {
	blk := counting(0x1000, 0x2000, ir.RAX)
	helper := ir.Uop{Op: ir.GetFlags, W: 64, D: ir.RCX}
	for _, test := range []struct {
		uops []ir.Uop
		want bool
	}{
		{blk.Uops, true}, {blk.Uops[:1], false}, {[]ir.Uop{helper, blk.Uops[1]}, false}, {[]ir.Uop{blk.Uops[0], helper}, true},
	} {
		g := newGen(&Source{Block: &ir.Block{Insns: blk.Insns, Uops: test.uops}}, 1)
		if got := g.block(); got != test.want {
			t.Errorf("%v: compiled %v", test.uops, got)
		}
	}
}

// TestLeftToTheEvaluator: of all micro-ops of all forms only these are not compiled. Nothing else shows that code leaves where it need not.
func TestLeftToTheEvaluator(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compiled, left := map[ir.Op]bool{}, map[ir.Op]string{}
	eachForm(r, 3, func(name string, code []byte) {
		b := lifted(t, code)
		g := newGen(&Source{Block: b, Flags: ir.MakeCC(ir.CCFlags, 64)}, 1)
		for i := range b.Uops {
			g.pinned = 0
			if u := &b.Uops[i]; g.uop(u, i) {
				compiled[u.Op] = true
			} else {
				left[u.Op] = name
			}
		}
	})
	// The last ones are of instructions that few programs have.
	for _, op := range []ir.Op{ir.GetFlags, ir.Helper, ir.Syscall, ir.Trap, ir.Pext, ir.Pdep, ir.FFromHalf, ir.FToHalf} {
		if left[op] == "" || compiled[op] {
			t.Errorf("%v is compiled", op)
		}
		delete(left, op)
	}
	for _, op := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("%v is not always compiled: %s", op, left[op])
	}
	if len(compiled) < 60 {
		t.Errorf("only %d micro-ops are compiled", len(compiled))
	}
}

// TestCompiledConditions: which conditions of which lazy flags are compiled. Products, results with bits of their own and shifts have
// only those that need one of their operands; a shift's count must be known.
func TestCompiledConditions(t *testing.T) {
	one := []uint64{ir.CondE, ir.CondS, ir.CondP}
	bits := append([]uint64{ir.CondO, ir.CondB}, one...)
	all := append([]uint64{ir.CondBE, ir.CondL, ir.CondLE}, bits...)
	kinds := []struct {
		kind                      ir.CCKind
		inherited, unknown, known []uint64 // conditions where the block before set the flags, and this one with operands unknown and known
	}{
		{ir.CCFlags, all, all, all}, {ir.CCAdd, all, all, all}, {ir.CCSub, all, all, all}, {ir.CCLogic, all, all, all},
		{ir.CCInc, all, all, all}, {ir.CCDec, all, all, all}, {ir.CCAdc, all, all, all}, {ir.CCSbb, all, all, all},
		{ir.CCShl, nil, nil, one}, {ir.CCShr, nil, nil, one}, {ir.CCSar, nil, nil, one},
		{ir.CCMul, bits, bits, bits}, {ir.CCResult, bits, bits, bits},
	}
	const x, y, z = ir.Temp0, ir.Temp0 + 1, ir.Temp0 + 2
	for k, want := range kinds {
		if want.kind != ir.CCKind(k) {
			t.Fatalf("kind %d is missing", k)
		}
		for _, w := range []uint{8, 16, 32, 64} {
			cc := ir.MakeCC(want.kind, w)
			set := ir.Uop{Op: ir.SetCC, W: uint8(w), A: x, B: y, C: z, Imm: uint64(cc)}
			unknown, known := []ir.Uop{set}, []ir.Uop{set}
			for i, s := range []ir.Slot{x, y, z} {
				unknown = append([]ir.Uop{{Op: ir.Mov, W: 64, D: s, B: ir.RAX + ir.Slot(i)}}, unknown...)
				known = append([]ir.Uop{{Op: ir.Mov, W: 64, D: s, B: ir.Zero, Imm: uint64(i + 3)}}, known...)
			}
			for how, before := range [][]ir.Uop{nil, unknown, known} {
				conds := [][]uint64{want.inherited, want.unknown, want.known}[how]
				for c := range uint64(16) {
					for _, u := range []ir.Uop{{Op: ir.Cond, W: 8, D: ir.RDX, Imm: c}, {Op: ir.Jcc, Imm: c}} {
						b := &ir.Block{Insns: []ir.InsnMark{{}}, Uops: append(slices.Clone(before), u)}
						g := newGen(&Source{Block: b, Flags: cc}, 1)
						n := 0
						for n < len(b.Uops) && g.uop(&b.Uops[n], n) {
							n++
						}
						if ok := n == len(b.Uops); n < len(before) || ok != slices.Contains(conds, c&^1) {
							t.Errorf("%v, condition %d of flags of kind %d, %d bits, %s: compiled %v", u.Op, c, k, w,
								[]string{"of the block before", "of unknown operands", "of known operands"}[how], ok)
						}
					}
				}
			}
		}
	}
}

// TestInherited: a condition of flags that the block before set is compiled for one operation; for any other nothing is done.
func TestInherited(t *testing.T) {
	var r [ir.NumSlots]uint64
	ctx := &Context{Regs: &r}
	b := NewBuffer(ctx)
	cc := ir.MakeCC(ir.CCSub, 32)
	blk := &ir.Block{PC: 0x1000, Next: 0x1008, Taken: 0x2000, Insns: []ir.InsnMark{{}}, Uops: []ir.Uop{{Op: ir.Jcc, Imm: ir.CondB}}}
	code, ok := b.Compile(&Source{Block: blk, Flags: cc})
	if b.off {
		t.Skip("skipped: this host does not allow memory that can be written and executed: all runs in the evaluator")
	}
	if !ok {
		t.Fatal("not compiled")
	}
	for _, test := range []struct {
		cc   ir.CC
		a, b uint64
		uop  int64
		pc   uint64
	}{
		{cc, 3, 4, -1, 0x2000}, {cc, 4, 3, -1, 0x1008}, {cc, 3<<32 | 4, 3, -1, 0x1008},
		{ir.MakeCC(ir.CCSub, 64), 3, 4, 0, 0}, {ir.MakeCC(ir.CCAdd, 32), 3, 4, 0, 0},
	} {
		r[ir.CCOp], r[ir.CCA], r[ir.CCB] = uint64(test.cc), test.a, test.b
		ctx.Left = 1
		if b.Run(code); ctx.Uop != test.uop || test.uop < 0 && ctx.PC != test.pc || ctx.Left != 1+test.uop {
			t.Errorf("%v %d %d: uop %d, pc %#x, %d left", test.cc, test.a, test.b, ctx.Uop, ctx.PC, ctx.Left)
		}
	}
}

// guestMemory is memory from base on that a Context can read.
type guestMemory struct {
	base uint64
	data [32][mem.GranuleSize]byte
	refs [32]mem.Refs
}

// word reads n bytes; false where they are not all in one granule or one is symbolic.
func (m *guestMemory) word(addr uint64, n int) (v uint64, ok bool) {
	off := addr - m.base
	if off >= uint64(len(m.data)*mem.GranuleSize) || int(off%mem.GranuleSize)+n > mem.GranuleSize {
		return 0, false
	}
	for i := range n {
		k, j := off/mem.GranuleSize, int(off%mem.GranuleSize)+i
		if m.refs[k][j] != 0 {
			return 0, false
		}
		v |= uint64(m.data[k][j]) << (8 * i)
	}
	return v, true
}

func (m *guestMemory) set(addr, v uint64, n int) {
	for i := range uint64(n) {
		off := addr + i - m.base
		m.data[off/mem.GranuleSize][off%mem.GranuleSize] = byte(v >> (8 * i))
	}
}

// TestTrace: a watched branch is noted and taken, or nothing happens, as Trace, Table and Notes say.
func TestTrace(t *testing.T) {
	r := seed.Rand(t)
	var regs [ir.NumSlots]uint64
	ctx := &Context{Regs: &regs}
	b := NewBuffer(ctx)
	m := &guestMemory{base: 0x7654_3210_0000}
	for i := range m.data {
		refs := &m.refs[i]
		if i%2 == 0 {
			refs = nil
		}
		ctx.Read.Set(m.base+uint64(i*mem.GranuleSize), &m.data[i], refs)
	}
	blk := &ir.Block{PC: 0x1000, Insns: []ir.InsnMark{{}}, Uops: []ir.Uop{{Op: ir.JmpInd, A: ir.RAX}}}
	often := func() bool { return r.IntN(8) > 0 }
	inMemory := func() uint64 { return m.base + r.Uint64N(uint64(len(m.data)*mem.GranuleSize-16)) }
	offsets := []int32{0, 0, 1, -1, 8, 127, 128, -1000, 1 << 20}
	noted, left := [3]int{}, 0
	for range 8000 {
		for i := range m.data {
			for j := range m.data[i] {
				m.data[i][j] = byte(r.Uint32())
			}
			m.refs[i] = mem.Refs{}
			if i%2 == 1 && !often() {
				m.refs[i][r.IntN(mem.GranuleSize)] = 1
			}
		}
		notes := &Notes{}
		trace := &Trace{To: notes}
		place := func(s ir.Slot, v uint64) Place { // one with value v, if memory allows
			p := Place{Slot: s, Mem: r.IntN(2) == 0, Off: offsets[r.IntN(len(offsets))]}
			if p.Mem {
				at := inMemory()
				regs[s] = at - uint64(int64(p.Off))
				m.set(at, v, 8)
			} else {
				regs[s] = v - uint64(int64(p.Off))
			}
			return p
		}
		read := func(p Place) (uint64, bool) {
			v := regs[p.Slot] + uint64(int64(p.Off))
			if p.Mem {
				return m.word(v, 8)
			}
			return v, true
		}
		if r.IntN(3) > 0 {
			p := place(ir.RBP, inMemory())
			if trace.Frame = &p; often() {
				c := &Chain{At: p}
				if r.IntN(2) == 0 {
					c.At = place(ir.RSI, inMemory()&^7)
				}
				for n := r.IntN(3); n > 0; n-- {
					c.Offs = append(c.Offs, offsets[r.IntN(len(offsets)-2)])
				}
				trace.Object = c
			}
		}
		trace.Value = place(ir.RBX, inMemory())
		for range 1000 { // where chains lead
			m.set(inMemory()&^7, inMemory()&^7, 8)
		}
		target := r.Uint64()
		regs[ir.RAX] = target
		known := true // the table, if any, says target
		if k := []int{0, 3, 8, 10, 16, 64}[r.IntN(6)]; k > 0 {
			trace.Table = &Table{Delta: int64(r.IntN(5) - 2), Bits: k, Base: m.base + r.Uint64N(64), Entry: 4 + 4*r.IntN(2)}
			size := 8
			for size < k {
				size *= 2
			}
			value, ok := read(trace.Value)
			word, okWord := m.word(value+uint64(trace.Table.Delta), size/8)
			if k == 64 {
				target = word
			} else {
				entry, okEntry := m.word(trace.Table.Base+word&(1<<k-1)*uint64(trace.Table.Entry), trace.Table.Entry)
				okWord = okWord && okEntry
				if target = entry; trace.Table.Entry == 4 {
					target = trace.Table.Base + uint64(int64(int32(entry)))
				}
			}
			if regs[ir.RAX] = target; !often() {
				regs[ir.RAX] ^= 1 << r.IntN(64)
			}
			known = ok && okWord && regs[ir.RAX] == target
		}
		target = regs[ir.RAX]
		value, ok := read(trace.Value)
		// The activations around the top, one of which is meant as a rule.
		top := 2 + r.IntN(Window-4)
		meant := top + r.IntN(3) - 1
		frame, okFrame := uint64(0), true
		if trace.Frame != nil {
			frame, okFrame = read(*trace.Frame)
		}
		object, okObject := uint64(0), false
		if trace.Object != nil {
			object, okObject = read(trace.Object.At)
			for _, off := range trace.Object.Offs {
				v, ok := m.word(object+uint64(int64(off)), 8)
				object, okObject = v, okObject && ok
			}
		}
		notes.Epoch = 1 + r.Uint64N(3)
		for i := range notes.Stack {
			a := &notes.Stack[i]
			*a = Activation{Frame: r.Uint64(), Size: 1 + r.Uint64N(3), Object: object, Epoch: notes.Epoch}
			a.Start = value - r.Uint64N(a.Size)
			if i == meant {
				a.Frame = frame
			}
			if !often() {
				a.Start = []uint64{value + 1, value - a.Size}[r.IntN(2)]
			}
			if !often() {
				a.Object ^= 1 << r.IntN(64)
			}
			if !often() {
				a.Epoch--
			}
		}
		notes.Set(top)
		if notes.N = r.Uint64N(uint64(len(notes.At))); !often() {
			notes.N = uint64(len(notes.At)) - r.Uint64N(2)
		}
		if notes.Moves = r.Uint64N(uint64(len(notes.To))); !often() {
			notes.Moves = uint64(len(notes.To)) - r.Uint64N(2)
		}
		want := *notes
		now := top // the number of the activation, if it is known
		if frame != notes.Frame {
			switch above := &notes.Stack[top+1]; {
			case trace.Frame == nil:
			case frame == notes.Stack[top-1].Frame:
				now--
			case frame == above.Frame && okObject && above.Object == object && above.Epoch == notes.Epoch:
				now++
			default:
				now = -1
			}
		}
		take := ok && known && okFrame && now >= 0 && value-notes.Stack[now].Start < notes.Stack[now].Size && notes.N < uint64(len(notes.At)) &&
			(now == top || notes.Moves < uint64(len(notes.To)))
		if take {
			if now != top {
				want.To[want.Moves] = Move{uint32(now) * uint32(activationSize), uint32(want.N)}
				want.Moves++
				want.Set(now)
			}
			want.At[want.N] = Note{value - notes.Stack[now].Start, target}
			want.N++
			noted[now-top+1]++
		} else {
			left++
		}
		code, compiled := b.Compile(&Source{Block: blk, Watched: true, Trace: trace})
		if b.off {
			t.Skip("skipped: this host does not allow memory that can be written and executed: all runs in the evaluator")
		}
		if !compiled {
			t.Fatal("not compiled")
		}
		before := regs
		ctx.Left = 5
		b.Run(code)
		want.next = notes.next
		if *notes != want || regs != before {
			t.Fatalf("%+v, table %+v: %d notes, want %d; value %#x from %#x", trace, trace.Table, notes.N, want.N, value, notes.Start)
		}
		if take && (ctx.Uop != -1 || ctx.PC != target || ctx.Left != 4) || !take && (ctx.Uop != 0 || ctx.Left != 5) {
			t.Fatalf("%+v, table %+v: to be noted %v: uop %d, pc %#x, %d left", trace, trace.Table, take, ctx.Uop, ctx.PC, ctx.Left)
		}
	}
	if slices.Min(noted[:]) < 200 || left < 500 {
		t.Errorf("%d noted below, on and above the top, %d left", noted, left)
	}
	if _, ok := b.Compile(&Source{Block: blk, Watched: true}); ok {
		t.Error("a watched branch without a trace is compiled")
	}
}

// TestPlain: compiled code rounds to nearest and knows denormals (SDM vol. 1, 10.2.3): it runs under any flags and masks, but with no
// rounding control, flush-to-zero and denormals-are-zeros.
func TestPlain(t *testing.T) {
	for bit := range 16 {
		want := bit != 6 && bit < 13
		for _, v := range []uint64{0, 0x1f80} {
			if got := Plain(v | 1<<bit); got != want {
				t.Errorf("Plain(%#x) = %v", v|1<<bit, got)
			}
		}
	}
}

// TestCache: an entry answers for the bytes of its granule that are concrete, and for nothing else that has the same place.
func TestCache(t *testing.T) {
	c := new(Cache)
	whole, mixed := new([mem.GranuleSize]byte), new([mem.GranuleSize]byte)
	refs := new(mem.Refs)
	refs[10] = 1
	const size, base = mem.GranuleSize, 0x7654_3210_0000
	c.Set(base+5, whole, nil)
	c.Set(base+size+5, mixed, refs)
	for _, test := range []struct {
		off  int64
		n    uint64
		want *[size]byte
	}{
		{0, 1, whole}, {size - 1, 1, whole}, {size - 8, 8, whole}, {0, size, whole}, {size - 7, 8, nil},
		{size, 1, mixed}, {size, 10, mixed}, {size, 11, nil}, {size + 10, 1, nil}, {size + 9, 2, nil}, {size + 9, 1, mixed},
		{size + 11, 1, mixed}, {size + 11, size - 11, mixed}, {2*size - 1, 1, mixed}, {2*size - 7, 8, nil},
		{-1, 1, nil}, {-1, 2, nil}, {2 * size, 1, nil}, {TLBSize * size, 1, nil}, {(MixedSize + 1) * size, 1, nil}, {1 << 46, 1, nil}, {-base, 1, nil},
	} {
		if got := c.Find(uint64(base+test.off), test.n); got != test.want {
			t.Errorf("%d bytes at base%+d: found %v", test.n, test.off, got != nil)
		}
	}
	find := func(off int64, want *[size]byte) {
		t.Helper()
		if got := c.Find(uint64(base+off), 1); got != want {
			t.Errorf("base%+d: found %v", off, got != nil)
		}
	}
	c.Drop(base + TLBSize*size) // others of the same places
	c.Drop(base + (MixedSize+1)*size)
	find(0, whole)
	find(size, mixed)
	other := new([size]byte)
	c.Set(base+TLBSize*size, other, nil)
	find(0, nil)
	find(TLBSize*size, other)
	c.Set(base+(MixedSize+1)*size, other, refs)
	find(size, nil)
	find((MixedSize+1)*size, other)
	c.Drop(base + TLBSize*size + 3)
	c.Drop(base + (MixedSize+1)*size + 3)
	find(TLBSize*size, nil)
	find((MixedSize+1)*size, nil)
}

// TestJumps: an indirect branch goes to the code of its target once that is linked, as long as the text is the same.
func TestJumps(t *testing.T) {
	var r [ir.NumSlots]uint64
	ctx := &Context{Regs: &r}
	b := NewBuffer(ctx)
	jump := compile(t, b, &ir.Block{PC: 0x1000, Insns: []ir.InsnMark{{}}, Uops: []ir.Uop{{Op: ir.JmpInd, A: ir.RAX}}})
	const target = 0x5000 + 7*jumpTable
	code := compile(t, b, counting(target, 0x9000, ir.RCX))
	step := func(to, pc, rounds uint64, left int64) {
		t.Helper()
		r[ir.RAX], r[ir.RCX], ctx.Left = to, 0, 5
		if b.Run(jump); ctx.Uop != -1 || ctx.PC != pc || r[ir.RCX] != rounds || ctx.Left != left {
			t.Fatalf("to %#x: uop %d, pc %#x, %d rounds, %d left; want -1, %#x, %d, %d", to, ctx.Uop, ctx.PC, r[ir.RCX], ctx.Left, pc, rounds, left)
		}
	}
	b.Retext(1)
	step(0, 0, 0, 4) // nothing is linked, address 0 included
	step(target, target, 0, 4)
	b.Link(code)
	step(target, 0x9000, 1, 3)
	step(target+jumpTable, target+jumpTable, 0, 4) // the same place in the table
	b.Retext(1)
	step(target, 0x9000, 1, 3)
	b.Retext(2)
	step(target, target, 0, 4)
	b.Link(code)
	step(target, 0x9000, 1, 3)
	b.Drop()
	if b.Valid(code) || b.Valid(Code{}) {
		t.Error("code is valid after it was dropped")
	}
}

// TestTold: code that tells accesses what is free, whatever the width, the place and how the address comes about, and leaves before the rest.
func TestTold(t *testing.T) {
	const base = 0x7000
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var r [ir.NumSlots]uint64
		var bytes [mem.GranuleSize]byte
		var free Free
		for i := range bytes {
			bytes[i] = byte(rnd.Uint32())
		}
		for i := range free {
			for range 3 { // most bits are set
				free[i] |= byte(rnd.Uint32())
			}
		}
		ctx := &Context{Regs: &r, Left: 1, Told: new([Tellers]ToldCache)}
		teller, write, w, cached := 1+rnd.IntN(Tellers), rnd.IntN(2) == 1, uint8(8<<rnd.IntN(4)), rnd.IntN(8) > 0
		if c := &ctx.Told[teller-1]; cached && write {
			c.Write.Set(base, &bytes, &free)
		} else if cached {
			c.Read.Set(base, &bytes, &free)
		}
		n := uint64(w / 8)
		off := rnd.Uint64N(mem.GranuleSize + 8)
		u := ir.Uop{Op: ir.Load, W: w, D: ir.RCX, A: ir.RAX, B: ir.Zero, C: ir.RDX, Imm: 8}
		if write {
			u.Op = ir.Store
		}
		switch r[ir.RAX], r[ir.RDX] = base+off-8, rnd.Uint64(); rnd.IntN(3) {
		case 0:
			u.A, u.Imm = ir.Zero, base+off
		case 1:
			u.B, u.Scale = ir.RBX, 3
			r[ir.RAX], r[ir.RBX] = r[ir.RAX]-24, 3
		}
		b := NewBuffer(ctx)
		c, ok := b.Compile(&Source{Block: &ir.Block{PC: 1, Next: 2, Taken: 3, Insns: []ir.InsnMark{{}}, Uops: []ir.Uop{u, {Op: ir.Jmp}}}, Teller: teller})
		if b.off {
			t.Skip("skipped: this host does not allow memory that can be written and executed: all runs in the evaluator")
		}
		if !ok {
			t.Fatal("not compiled")
		}
		goes := cached && off+n <= mem.GranuleSize
		for i := off; goes && i < off+n; i++ {
			goes = free[i>>3]>>(i&7)&1 != 0
		}
		if goes != (cached && off+n <= mem.GranuleSize && free.Has(off, n)) {
			t.Fatalf("Has(%d, %d): %v", off, n, !goes)
		}
		want, value, was := bytes, uint64(0), r
		if goes {
			for i := range n {
				if value |= uint64(bytes[off+i]) << (8 * i); write {
					want[off+i] = byte(r[ir.RDX] >> (8 * i))
				}
			}
			if !write {
				was[ir.RCX] = value
			}
		}
		if b.Run(c); (ctx.Uop < 0) != goes || bytes != want || r[ir.RCX] != was[ir.RCX] {
			t.Fatalf("%+v at %d of a granule, free %v: micro-op %d, value %#x, want %#x", u, off, goes, ctx.Uop, r[ir.RCX], was[ir.RCX])
		}
	}
}

// TestFree: what is added is free, and nothing else.
func TestFree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		var f Free
		var want [mem.GranuleSize]bool
		for range 3 {
			off := rnd.Uint64N(mem.GranuleSize)
			n := 1 + rnd.Uint64N(min(40, mem.GranuleSize-off))
			f.Add(off, n)
			for i := off; i < off+n; i++ {
				want[i] = true
			}
		}
		for range 50 {
			off := rnd.Uint64N(mem.GranuleSize)
			n := 1 + rnd.Uint64N(min(40, mem.GranuleSize-off))
			if got := f.Has(off, n); got == slices.Contains(want[off:off+n], false) {
				t.Fatalf("%d bytes at %d: %v", n, off, got)
			}
		}
	}
}

// TestFault guards that machine code which faults panics where the caller asks for that: a run then ends with what it has.
func TestFault(t *testing.T) {
	ctx := new(Context)
	ctx.Regs = new([ir.NumSlots]uint64)
	b := NewBuffer(ctx)
	if !b.reserve() {
		t.Skip("skipped: the host allows no memory that can be written and executed")
	}
	unwritable, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(unwritable)
	code := []byte{0x48, 0xb8} // mov rax, imm64
	code = binary.LittleEndian.AppendUint64(code, uint64(uintptr(unsafe.Pointer(&unwritable[0]))))
	copy(b.mem, append(code, 0x88, 0x00, 0xc3)) // mov [rax], al; ret
	for range 3 {
		func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				if _, ok := recover().(runtime.Error); !ok {
					t.Error("no panic")
				}
			}()
			b.Run(Code{entry: b.base(), epoch: 1})
		}()
	}
}

// TestSpare guards that memory of a buffer that is gone serves the next one, and no two at once.
func TestSpare(t *testing.T) {
	again := false
	for range 20 {
		b := NewBuffer(new(Context))
		if !b.reserve() {
			t.Skip("skipped: the host allows no memory that can be written and executed")
		}
		again = again || b.mem[100] == 0xab // new memory has zeros
		b.mem[100] = 0xab
		runtime.GC()
		time.Sleep(time.Millisecond) // the cleanup runs beside
	}
	if !again {
		t.Error("no memory was used twice")
	}
	var live []*Buffer
	seen := map[uintptr]bool{}
	for range 5 {
		b := NewBuffer(new(Context))
		b.reserve()
		if seen[b.base()] {
			t.Error("two buffers have the same memory")
		}
		seen[b.base()] = true
		live = append(live, b)
	}
	runtime.KeepAlive(live)
}
