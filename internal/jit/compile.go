package jit

import (
	"encoding/binary"
	"unsafe"

	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Source is a block to compile.
type Source struct {
	Block *ir.Block
	// Touch is the slots whose being symbolic makes the block the concolic evaluator's.
	Touch ir.SlotSet
	// Watched says that the indirect branch at the end is the caller's, but for what Trace can note.
	Watched bool
	Trace   *Trace
	// Teller is the kind of code whose accesses to memory somebody is told of, from 1 on; 0: nobody.
	Teller int
	// Flags is the lazy-flags operation to expect where the block does not set one before it needs it.
	Flags ir.CC
}

// Compile returns the code of a block; ok is false if none of it can be compiled. When the buffer is
// full all code is dropped first.
func (b *Buffer) Compile(src *Source) (c Code, ok bool) {
	if !b.reserve() {
		return Code{}, false
	}
	g := newGen(src, b.ids)
	if !g.block() {
		return Code{}, false
	}
	if b.used+len(g.b) > len(b.mem) {
		b.Drop()
		if g = newGen(src, 0); !g.block() || len(g.b) > len(b.mem) {
			return Code{}, false
		}
	}
	copy(b.mem[b.used:], g.b)
	for _, l := range g.links {
		b.sites = append(b.sites, site{b.used + l.at, b.used + l.stub})
		binary.LittleEndian.PutUint32(b.mem[b.used+l.number:], uint32(len(b.sites)))
	}
	c = Code{b.base() + uintptr(b.used), b.epoch, b.ids, uint32(len(g.b))}
	b.used = (b.used + len(g.b) + 15) &^ 15
	b.ids++
	return c, true
}

// Displacements from r15.
var (
	ctxUop   = int32(unsafe.Offsetof(Context{}.Uop))
	ctxBlock = int32(unsafe.Offsetof(Context{}.Block))
	ctxPC    = int32(unsafe.Offsetof(Context{}.PC))
	ctxSite  = int32(unsafe.Offsetof(Context{}.Site))
	ctxSym   = int32(unsafe.Offsetof(Context{}.Sym))
	ctxRead  = int32(unsafe.Offsetof(Context{}.Read))
	ctxWrite = int32(unsafe.Offsetof(Context{}.Write))
	ctxMixed = int32(unsafe.Offsetof(Cache{}.Mixed)) // from one of the above
	ctxTold  = int32(unsafe.Offsetof(Context{}.Told))
	ctxJumps = int32(unsafe.Offsetof(Context{}.jumps))
)

// pool is the registers that cache slots. rax, rcx and rdx are scratch within a micro-op.
var pool = [...]reg{rsi, rdi, r8, r9, r10, r11, r12, r13}

// leave is a way out in the middle of a block: its jump, the micro-op, and what memory lacks there.
type leave struct {
	jump  int
	uop   int
	temps []temp
}

// mixed is where a load or store goes on whose granule is in no TLB: its jump and where it came from, the access, and what leaving needs.
type mixed struct {
	leave
	back  int
	width uint8
	tlb   int32
	at    operand // the address: known, or in rax. The tag is in rdx
}

// temp is a temporary that is in a register or known.
type temp struct {
	slot  ir.Slot
	reg   reg // noReg: the constant
	value uint64
}

// link is a jump to the block at pc, its stub, and where the number of its site is to be written.
type link struct {
	at, stub, number int
	pc               uint64
}

// gen compiles one block.
type gen struct {
	assembler
	src    *Source
	id     uint32
	leaves []leave
	mixed  []mixed
	links  []link
	later  []func() // write what is not on the way, with slots where they are at the end

	// Which slot a register caches, by which register a slot is cached; which registers hold temporaries that memory lacks.
	slotOf [16]ir.Slot
	regOf  [ir.NumSlots]reg
	dirty  [16]bool
	// Slots of known value. A known temporary is not in memory.
	known [ir.NumSlots]bool
	value [ir.NumSlots]uint64

	used    [16]int // when a register was used last
	clock   int
	pinned  uint16
	version [16]int // counts the values that a register has held

	// The lazy flags: operation if known, and where the operands are besides their slots.
	cc      ir.CC
	ccKnown bool
	cca     [3]operand
}

// operand is a value: known, or in a register as long as the register holds its version.
type operand struct {
	known   bool
	value   uint64
	reg     reg
	version int
}

const noSlot ir.Slot = 0xff

func newGen(src *Source, id uint32) *gen {
	g := &gen{src: src, id: id}
	for i := range g.slotOf {
		g.slotOf[i] = noSlot
	}
	for i := range g.regOf {
		g.regOf[i] = noReg
	}
	g.known[ir.Zero] = true
	return g
}

// slot is the memory of slot s.
func slot(s ir.Slot) rm { return at(rbx, int32(s)*8-128) }

// block compiles the whole block.
func (g *gen) block() bool {
	blk := g.src.Block
	g.op(64, 0x85, r14, direct(r14)) // test
	spent := g.jcc(ccLE)
	for i, w := range g.src.Touch {
		for h := range 2 {
			if part := int32(w >> (32 * h)); part != 0 {
				g.testImm(32, at(r15, ctxSym+int32(8*i+4*h)), part)
				g.leaveIf(ccNE, 0)
			}
		}
	}
	mark := 0
	done := false
	for i := range blk.Uops {
		for mark+1 < len(blk.Insns) && int(blk.Insns[mark+1].Uop) <= i { // some have no uops left
			mark++
			g.forgetTemps()
		}
		g.pinned = 0
		if u := &blk.Uops[i]; !g.uop(u, i) {
			if i == 0 {
				return false
			}
			g.leaveNow(i)
			done = true
			break
		}
	}
	if !done && !blk.Uops[len(blk.Uops)-1].Op.IsTerm() {
		return false
	}
	for _, f := range g.later {
		f()
	}
	for i := range g.mixed {
		g.throughRefs(&g.mixed[i])
	}
	for i := range g.leaves {
		g.stub(&g.leaves[i])
	}
	g.land(spent)
	g.setPC(blk.PC)
	for i := range g.links {
		l := &g.links[i]
		l.stub = len(g.b)
		g.land(l.at)
		l.number = g.setPC(l.pc)
	}
	return true
}

// leaveIf leaves before micro-op i if condition cc holds.
func (g *gen) leaveIf(cc byte, i int) {
	g.leaves = append(g.leaves, leave{g.jcc(cc), i, g.temps()})
}

// leaveNow leaves before micro-op i.
func (g *gen) leaveNow(i int) { g.leaves = append(g.leaves, leave{g.jmp(), i, g.temps()}) }

// temps lists what memory lacks.
func (g *gen) temps() (t []temp) {
	for s := ir.Slot(ir.Temp0); s < ir.TempEnd; s++ {
		switch r := g.regOf[s]; {
		case g.known[s]:
			t = append(t, temp{s, noReg, g.value[s]})
		case r != noReg && g.dirty[r]:
			t = append(t, temp{s, r, 0})
		}
	}
	return t
}

func (g *gen) stub(l *leave) {
	g.land(l.jump)
	for _, t := range l.temps {
		if t.reg == noReg {
			g.poke(slot(t.slot), t.value)
		} else {
			g.store(64, slot(t.slot), t.reg)
		}
	}
	g.poke(at(r15, ctxUop), uint64(l.uop))
	g.poke(at(r15, ctxBlock), uint64(g.id))
	g.emit(0xc3)
}

// poke writes a 64-bit constant, through rax if it is wide. It leaves the flags.
func (g *gen) poke(o rm, v uint64) {
	if fits32(v) {
		g.storeImm(64, o, int32(v))
		return
	}
	g.constant(rax, v)
	g.store(64, o, rax)
}

// setPC leaves for the block at pc. It returns where the site's number is to be written, which is 0.
func (g *gen) setPC(pc uint64) (number int) {
	g.poke(at(r15, ctxPC), pc)
	return g.leaveBlock()
}

// leaveBlock leaves for the block whose address is in Context.PC. It returns what setPC does.
func (g *gen) leaveBlock() (number int) {
	g.poke(at(r15, ctxUop), ^uint64(0))
	g.storeImm(64, at(r15, ctxSite), 0)
	g.emit(0xc3)
	return len(g.b) - 5
}

// goTo ends the block with a jump to another, which leads to a stub until it is linked.
func (g *gen) goTo(pc uint64) { g.links = append(g.links, link{at: g.jmp(), pc: pc}) }

// forgetTemps ends the life of the temporaries at the end of an instruction.
func (g *gen) forgetTemps() {
	for s := ir.Slot(ir.Temp0); s < ir.TempEnd; s++ {
		g.known[s] = false
		if r := g.regOf[s]; r != noReg {
			g.release(r)
		}
	}
}

// release makes r cache nothing.
func (g *gen) release(r reg) {
	if s := g.slotOf[r]; s != noSlot {
		g.regOf[s], g.slotOf[r] = noReg, noSlot
	}
	g.dirty[r] = false
}

// take returns a register that caches nothing, and pins it.
func (g *gen) take() reg {
	best := noReg
	for _, r := range pool {
		if g.pinned>>r&1 != 0 {
			continue
		}
		if g.slotOf[r] == noSlot {
			best = r
			break
		}
		if best == noReg || g.used[r] < g.used[best] {
			best = r
		}
	}
	if g.dirty[best] {
		g.store(64, slot(g.slotOf[best]), best)
	}
	g.release(best)
	g.pin(best)
	g.version[best]++
	return best
}

func (g *gen) pin(r reg) {
	g.pinned |= 1 << r
	g.clock++
	g.used[r] = g.clock
}

// read returns a register that holds slot s, pinned for this micro-op. It leaves the flags.
func (g *gen) read(s ir.Slot) reg {
	r := g.regOf[s]
	if r == noReg {
		r = g.take()
		if g.known[s] {
			g.constant(r, g.value[s])
		} else {
			g.load(64, r, slot(s))
		}
		g.regOf[s], g.slotOf[r] = r, s
	}
	g.pin(r)
	return r
}

// source returns where slot s is without loading it: a register or memory.
func (g *gen) source(s ir.Slot) rm {
	if r := g.regOf[s]; r != noReg {
		g.pin(r)
		return direct(r)
	}
	if g.known[s] {
		return direct(g.read(s))
	}
	return slot(s)
}

// dest returns the register that will hold the new value of slot s; the caller writes it and then calls wrote.
// Only the register of s itself may be an operand's register as well.
func (g *gen) dest(s ir.Slot) reg {
	g.known[s] = false
	r := g.regOf[s]
	if r == noReg {
		r = g.take()
		g.regOf[s], g.slotOf[r] = r, s
	}
	g.version[r]++
	g.pin(r)
	return r
}

// wrote makes the new value of s, in its register, the slot's.
func (g *gen) wrote(s ir.Slot) {
	r := g.regOf[s]
	if s >= ir.Temp0 {
		g.dirty[r] = true
		return
	}
	g.store(64, slot(s), r)
}

// result makes the value of register r, scratch, that of slot s.
func (g *gen) result(s ir.Slot, r reg) {
	g.mov(g.dest(s), r)
	g.wrote(s)
}

// inMemory says that slot s has been written in memory.
func (g *gen) inMemory(s ir.Slot) {
	g.known[s] = false
	if r := g.regOf[s]; r != noReg {
		g.release(r)
	}
}

// know makes slot s a constant.
func (g *gen) know(s ir.Slot, v uint64) {
	if r := g.regOf[s]; r != noReg {
		g.release(r)
	}
	g.known[s], g.value[s] = true, v
	if s < ir.Temp0 {
		g.poke(slot(s), v)
	}
}

// addendIn puts B+Imm into d, which is scratch.
func (g *gen) addendIn(d reg, u *ir.Uop) {
	r, v, known := g.addend(u)
	if known {
		g.constant(d, v)
	} else {
		g.mov(d, r)
	}
}

// addend returns B+Imm: a constant if isConst, else a register (rcx if it had to be computed).
func (g *gen) addend(u *ir.Uop) (r reg, v uint64, isConst bool) {
	if g.known[u.B] {
		return noReg, g.value[u.B] + u.Imm, true
	}
	r = g.read(u.B)
	if u.Imm == 0 {
		return r, 0, false
	}
	g.sum(rcx, r, u.Imm)
	return rcx, 0, false
}

// sum is d = s + v, without flags.
func (g *gen) sum(d, s reg, v uint64) {
	if fits32(v) {
		g.lea(d, at(s, int32(v)))
		return
	}
	g.constant(d, v)
	g.lea(d, rm{base: d, index: s, mem: true})
}

// mask cuts r to w bits.
func (g *gen) mask(r reg, w uint8) {
	switch {
	case w == 64:
	case w == 32 || w == 16 || w == 8:
		g.load(w, r, direct(r))
	case w < 32:
		g.opImm(32, opAnd, direct(r), int32(1)<<w-1)
	default:
		g.shiftImm(64, extShl, direct(r), 64-w)
		g.shiftImm(64, extShr, direct(r), 64-w)
	}
}

// address puts the address of a load or store into rax; known if it is a constant, which is then returned instead.
func (g *gen) address(u *ir.Uop) (v uint64, known bool) {
	v = u.Imm
	var parts []rm // registers: index with scale
	if g.known[u.A] {
		v += g.value[u.A]
	} else {
		parts = append(parts, rm{index: g.read(u.A)})
	}
	if g.known[u.B] {
		v += g.value[u.B] << u.Scale
	} else {
		parts = append(parts, rm{index: g.read(u.B), scale: u.Scale})
	}
	if len(parts) == 0 {
		return v, true
	}
	base := noReg
	if !fits32(v) {
		g.constant(rax, v)
		base, v = rax, 0
	}
	for i, p := range parts {
		switch {
		case base == noReg && p.scale == 0:
			base = p.index
			continue
		case base == noReg: // a scaled index alone
			g.mov(rax, p.index)
			g.shiftImm(64, extShl, direct(rax), p.scale)
			base = rax
			continue
		}
		o := rm{base: base, index: p.index, scale: p.scale, mem: true}
		if i == len(parts)-1 {
			o.disp, v = int32(v), 0
		}
		g.lea(rax, o)
		base = rax
	}
	if base != rax || v != 0 {
		g.lea(rax, at(base, int32(v)))
	}
	return 0, false
}

// memory returns the host's operand for the w bits at the address of u; it leaves before micro-op i where the cache at
// displacement tlb has no translation. It uses rax, rcx and rdx.
func (g *gen) memory(u *ir.Uop, i int, tlb int32) rm {
	size := uint64(u.W / 8)
	v, known := g.address(u)
	if known {
		g.constant(rdx, (v+size-1)|granMask)
		e := tlb + int32(v>>mem.GranuleBits&(TLBSize-1)*16)
		g.op(64, opCmp, rdx, at(r15, e))
		miss := g.jcc(ccNE)
		g.load(64, rax, at(r15, e+8))
		g.mixed = append(g.mixed, mixed{leave{miss, i, g.temps()}, len(g.b), u.W, tlb, operand{known: true, value: v}})
		return at(rax, int32(v&granMask))
	}
	return g.translate(u.W, i, tlb)
}

// translate is memory for the address in rax.
func (g *gen) translate(w uint8, i int, tlb int32) rm {
	const bits = mem.GranuleBits - 4
	if size := w / 8; size > 1 {
		g.lea(rdx, at(rax, int32(size-1)))
	} else {
		g.mov(rdx, rax)
	}
	g.load(32, rcx, direct(rax))
	g.shiftImm(32, extShr, direct(rcx), bits)
	g.opImm(32, opAnd, direct(rcx), (TLBSize-1)*16)
	g.opImm(64, opOr, direct(rdx), granMask)
	g.op(64, opCmp, rdx, indexed(r15, rcx, tlb))
	miss := g.jcc(ccNE)
	g.opImm(32, opAnd, direct(rax), granMask)
	g.op(64, opAdd, rax, indexed(r15, rcx, tlb+8))
	g.mixed = append(g.mixed, mixed{leave{miss, i, g.temps()}, len(g.b), w, tlb, operand{}})
	return at(rax, 0)
}

// access is memory for an access of the program's own: it leaves where somebody must be told. That takes a register more.
func (g *gen) access(u *ir.Uop, i int, write bool) rm {
	tlb, told := ctxRead, unsafe.Offsetof(ToldCache{}.Read)
	if write {
		tlb, told = ctxWrite, unsafe.Offsetof(ToldCache{}.Write)
	}
	if g.src.Teller == 0 {
		return g.memory(u, i, tlb)
	}
	if v, known := g.address(u); known {
		g.constant(rax, v)
	}
	return g.told(u.W, i, int32(unsafe.Sizeof(ToldCache{}))*int32(g.src.Teller-1)+int32(told))
}

// told is access for the address in rax and the cache at displacement off of Context.Told.
func (g *gen) told(w uint8, i int, off int32) rm {
	const bits = mem.GranuleBits - 5
	entry := at(rcx, off)
	p := g.take()
	g.load(32, rcx, direct(rax))
	g.shiftImm(32, extShr, direct(rcx), bits)
	g.opImm(32, opAnd, direct(rcx), (ToldSize-1)*32)
	g.op(64, opAdd, rcx, at(r15, ctxTold))
	g.lea(rdx, at(rax, int32(w/8-1)))
	g.opImm(64, opOr, direct(rdx), granMask)
	g.op(64, opCmp, rdx, entry)
	g.leaveIf(ccNE, i)
	g.opImm(32, opAnd, direct(rax), granMask)
	g.load(64, p, entry.plus(8))
	g.op(64, opAdd, p, direct(rax))
	g.load(64, rdx, entry.plus(16))
	g.load(32, rcx, direct(rax))
	g.shiftImm(32, extShr, direct(rax), 3)
	g.load(16, rdx, indexed(rdx, rax, 0))
	g.opImm(32, opAnd, direct(rcx), 7)
	g.op(32, 0xd3, extShr, direct(rdx)) // by cl
	g.op(32, 0xf7, 2, direct(rdx))      // NOT
	g.testImm(32, direct(rdx), 1<<(w/8)-1)
	g.leaveIf(ccNE, i)
	return at(p, 0)
}

// throughRefs is memory for a granule with symbolic bytes: it leaves where it is not cached or one of the bytes is symbolic.
func (g *gen) throughRefs(m *mixed) {
	out := func() { g.leaves = append(g.leaves, leave{g.jcc(ccNE), m.uop, m.temps}) }
	g.land(m.jump)
	table := m.tlb + ctxMixed
	if m.at.known {
		g.constant(rax, m.at.value)
	}
	g.load(32, rcx, direct(rax))
	g.shiftImm(32, extShr, direct(rcx), mem.GranuleBits-5)
	g.opImm(32, opAnd, direct(rcx), (MixedSize-1)*32)
	g.op(64, opCmp, rdx, indexed(r15, rcx, table))
	out()
	g.load(64, rdx, indexed(r15, rcx, table+16))
	g.load(64, rcx, indexed(r15, rcx, table+8))
	g.opImm(32, opAnd, direct(rax), granMask)
	refs := rm{base: rdx, index: rax, scale: 2, mem: true} // of four bytes each
	if m.width == 8 {
		g.opImm(32, opCmp, refs, 0)
		out()
	}
	for i := range int32(m.width / 16) {
		g.opImm(64, opCmp, refs.plus(8*i), 0)
		out()
	}
	if m.at.known {
		g.mov(rax, rcx)
	} else {
		g.op(64, opAdd, rax, direct(rcx))
	}
	g.goBack(m.back)
}

// goBack jumps to the code at offset to.
func (g *gen) goBack(to int) {
	at := g.jmp()
	binary.LittleEndian.PutUint32(g.b[at:], uint32(to-at-4))
}
