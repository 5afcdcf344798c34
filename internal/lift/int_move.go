package lift

import (
	"math/bits"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// src is a source value: slot + imm, one of the two being zero.
type src struct {
	slot ir.Slot
	imm  uint64
}

// source returns operand arg at width w, without spending a uop on a plain register or immediate.
func (b *builder) source(arg x86asm.Arg, w int) (src, error) {
	if v, ok := arg.(x86asm.Imm); ok {
		return src{ir.Zero, uint64(v)}, nil
	}
	s, err := b.read(arg, w)
	return src{slot: s}, err
}

// slotOf returns a slot that holds s.
func (b *builder) slotOf(s src) ir.Slot {
	if s.imm == 0 {
		return s.slot
	}
	return b.val(ir.Mov, 64, ir.Zero, s.slot, s.imm)
}

// place is an operand that is written, and perhaps read before.
type place struct {
	reg reg
	mem address
	w   int
	ram bool // it is mem, not reg
}

// place returns operand i as a place; its address is computed once, here.
func (b *builder) place(in *Inst, i int) (place, error) {
	switch a := in.Args[i].(type) {
	case x86asm.Reg:
		if r, ok := gpr(a); ok {
			return place{reg: r, w: r.w}, nil
		}
	case x86asm.Mem:
		return place{mem: b.addr(a), w: memWidth(in), ram: true}, nil
	}
	return place{}, unsupported(in)
}

// toFrom returns operand 0 as a place, and the value of operand 1 at its width.
func (b *builder) toFrom(in *Inst) (d place, s ir.Slot, err error) {
	if d, err = b.place(in, 0); err == nil {
		s, err = b.read(in.Args[1], d.w)
	}
	return d, s, err
}

// memWidth returns the width in bits of in's memory operand.
func memWidth(in *Inst) int {
	if in.MemBytes == 0 {
		return in.DataSize
	}
	return in.MemBytes * 8
}

// width returns the width in bits of operand i, a register or memory.
func width(in *Inst, i int) int {
	if a, ok := in.Args[i].(x86asm.Reg); ok {
		r, _ := gpr(a)
		return r.w
	}
	return memWidth(in)
}

// get returns a slot whose low p.w bits are the place's value; for a whole register the register itself.
func (b *builder) get(p place) ir.Slot {
	if !p.ram {
		return b.getReg(p.reg)
	}
	t := b.tmp()
	b.load(t, p.w, p.mem)
	return t
}

// put writes the low p.w bits of s to the place.
func (b *builder) put(p place, s ir.Slot) {
	if p.ram {
		b.store(s, p.w, p.mem)
		return
	}
	b.setReg(p.reg, s)
}

// copy returns a temporary with the value of s.
func (b *builder) copy(s ir.Slot) ir.Slot { return b.val(ir.Mov, 64, ir.Zero, s, 0) }

// condition returns a temporary that is 1 if condition c holds, else 0.
func (b *builder) condition(c uint64) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Cond, W: 64, D: t, Imm: c})
	return t
}

// ite returns a temporary: c != 0 ? x : y, with c read at width w.
func (b *builder) ite(w int, c, x, y ir.Slot) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Ite, W: uint8(w), D: t, A: c, B: x, C: y})
	return t
}

// sx returns a temporary: the low w bits of s sign-extended to x bits.
func (b *builder) sx(s ir.Slot, w, x int) ir.Slot {
	if w == x {
		return s
	}
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Sx, W: uint8(w), X: uint8(x), D: t, A: s})
	return t
}

// bits returns a temporary: w bits of s from bit lo on.
func (b *builder) bits(s ir.Slot, lo uint64, w int) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Get, W: uint8(w), D: t, A: s, Imm: lo})
	return t
}

// insert returns a temporary: s with the low w bits of v at bit lo.
func (b *builder) insert(s, v ir.Slot, lo uint64, w int) ir.Slot {
	t := b.tmp()
	b.emit(ir.Uop{Op: ir.Put, W: uint8(w), D: t, A: v, B: s, Imm: lo})
	return t
}

// selectors are the segment registers' values in a Linux process.
var selectors = map[x86asm.Reg]uint64{x86asm.CS: 0x33, x86asm.SS: 0x2b, x86asm.DS: 0, x86asm.ES: 0, x86asm.FS: 0, x86asm.GS: 0}

func mov(b *builder, in *Inst) error {
	if a, ok := in.Args[1].(x86asm.Reg); ok {
		if v, ok := selectors[a]; ok {
			d, err := b.place(in, 0)
			if err != nil {
				return err
			}
			if d.ram {
				d.w = 16
			}
			b.put(d, b.imm(v))
			return nil
		}
	}
	w := width(in, 0)
	s, err := b.source(in.Args[1], w)
	if err != nil {
		return err
	}
	d, err := b.place(in, 0)
	if err != nil {
		return err
	}
	if !d.ram && w >= 32 {
		b.op3(ir.Mov, w, d.reg.slot, ir.Zero, s.slot, s.imm)
		return nil
	}
	b.put(d, b.slotOf(s))
	return nil
}

// extend makes the row of movzx (signed false), movsx and movsxd.
func extend(signed bool) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		w := width(in, 1)
		s, err := b.read(in.Args[1], w)
		if err != nil {
			return err
		}
		switch {
		case w >= d.w: // movsxd without REX.W: a plain move
			b.put(d, s)
		case signed && d.w >= 32:
			b.emit(ir.Uop{Op: ir.Sx, W: uint8(w), X: uint8(d.w), D: d.reg.slot, A: s})
		case signed:
			b.put(d, b.sx(s, w, d.w))
		case d.w >= 32:
			b.op3(ir.Mov, w, d.reg.slot, ir.Zero, s, 0)
		default:
			b.put(d, b.val(ir.Mov, w, ir.Zero, s, 0))
		}
		return nil
	}
}

func lea(b *builder, in *Inst) error {
	m, ok := in.Args[1].(x86asm.Mem)
	d, err := b.place(in, 0)
	if !ok || err != nil {
		return unsupported(in)
	}
	m.Segment = 0
	a := b.addr(m)
	u := ir.Uop{Op: ir.Lea, W: uint8(d.w), D: d.reg.slot, A: a.base, B: a.index, Scale: a.scale, Imm: a.disp}
	if d.w < 32 {
		u.D = b.tmp()
	}
	b.emit(u)
	if d.w < 32 {
		b.put(d, u.D)
	}
	return nil
}

// stackWidth returns the operand width of push and pop: 64 unless a 66 prefix makes it 16 (SDM vol. 1, 6.2.2).
func stackWidth(in *Inst) int {
	if in.DataSize == 16 {
		return 16
	}
	return 64
}

// pushSlot stores s below RSP and then moves RSP.
func (b *builder) pushSlot(s ir.Slot, w int) {
	n := -uint64(w / 8)
	b.store(s, w, address{base: ir.RSP, index: ir.Zero, disp: n})
	b.op3(ir.Add, 64, ir.RSP, ir.RSP, ir.Zero, n)
}

func push(b *builder, in *Inst) error {
	w := stackWidth(in)
	if a, ok := in.Args[0].(x86asm.Reg); ok {
		if v, ok := selectors[a]; ok {
			b.pushSlot(b.imm(v), w)
			return nil
		}
	}
	s, err := b.read(in.Args[0], w)
	if err != nil {
		return err
	}
	b.pushSlot(s, w)
	return nil
}

func pop(b *builder, in *Inst) error {
	w := stackWidth(in)
	t := b.tmp()
	n := uint64(w / 8)
	b.load(t, w, address{base: ir.RSP, index: ir.Zero})
	if m, ok := in.Args[0].(x86asm.Mem); ok {
		if m.Base == x86asm.RSP { // the address is that after the increment (SDM vol. 2, POP)
			m.Disp += int64(n)
		}
		b.store(t, w, b.addr(m))
		b.op3(ir.Add, 64, ir.RSP, ir.RSP, ir.Zero, n)
		return nil
	}
	d, err := b.place(in, 0)
	if err != nil {
		return err
	}
	b.op3(ir.Add, 64, ir.RSP, ir.RSP, ir.Zero, n)
	b.put(d, t)
	return nil
}

func leave(b *builder, in *Inst) error {
	if in.DataSize == 16 {
		return unsupported(in)
	}
	t := b.tmp()
	b.load(t, 64, address{base: ir.RBP, index: ir.Zero})
	b.op3(ir.Add, 64, ir.RSP, ir.RBP, ir.Zero, 8)
	b.op3(ir.Mov, 64, ir.RBP, ir.Zero, t, 0)
	return nil
}

func enter(b *builder, in *Inst) error {
	size, ok := in.Args[0].(x86asm.Imm)
	if level, ok2 := in.Args[1].(x86asm.Imm); !ok || !ok2 || level&31 != 0 || in.DataSize == 16 {
		return unsupported(in)
	}
	b.store(ir.RBP, 64, address{base: ir.RSP, index: ir.Zero, disp: ^uint64(7)})
	b.op3(ir.Add, 64, ir.RBP, ir.RSP, ir.Zero, ^uint64(7))
	b.op3(ir.Add, 64, ir.RSP, ir.RBP, ir.Zero, -uint64(uint16(size)))
	return nil
}

// widen makes the row of cbw, cwde, cdqe: RAX = sign-extension of its low half.
func widen(w int) lifter {
	return func(b *builder, in *Inst) error {
		b.setReg(reg{ir.RAX, w, 0}, b.sx(ir.RAX, w/2, w))
		return nil
	}
}

// spread makes the row of cwd, cdq, cqo: RDX = the sign of RAX in all bits.
func spread(w int) lifter {
	return func(b *builder, in *Inst) error {
		if w >= 32 {
			b.op3(ir.AShr, w, ir.RDX, ir.RAX, ir.Zero, uint64(w-1))
			return nil
		}
		b.setReg(reg{ir.RDX, w, 0}, b.val(ir.AShr, w, ir.RAX, ir.Zero, uint64(w-1)))
		return nil
	}
}

func cmov(c uint64) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		s, err := b.read(in.Args[1], d.w) // memory is read whatever the condition
		if err != nil {
			return err
		}
		b.put(d, b.ite(8, b.condition(c), s, d.reg.slot))
		return nil
	}
}

func set(c uint64) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.place(in, 0)
		if err != nil {
			return err
		}
		if d.ram {
			d.w = 8
		}
		b.put(d, b.condition(c))
		return nil
	}
}

func bswap(b *builder, in *Inst) error {
	d, err := b.place(in, 0)
	if err != nil {
		return err
	}
	if d.w == 16 { // undefined (SDM vol. 2, BSWAP); processors clear the register's low half
		b.put(d, ir.Zero)
		return nil
	}
	b.op3(ir.Bswap, d.w, d.reg.slot, d.reg.slot, ir.Zero, 0)
	return nil
}

func xlat(b *builder, in *Inst) error {
	m := in.Args[0].(x86asm.Mem)
	a := b.addr(m)
	t := b.val(ir.Mov, 8, ir.Zero, ir.RAX, 0)
	sum := b.tmp()
	b.emit(ir.Uop{Op: ir.Lea, W: 64, D: sum, A: a.base, B: a.index, Scale: a.scale, Imm: a.disp})
	v := b.tmp()
	b.load(v, 8, address{base: sum, index: t})
	b.setReg(reg{ir.RAX, 8, 0}, v)
	return nil
}

// log2Bytes returns the log2 of a width in bytes.
func log2Bytes(w int) int { return bits.TrailingZeros(uint(w / 8)) }

func init() {
	register(map[x86asm.Op]row{
		x86asm.MOV:    {lift: mov, note: "segment registers can be read only"},
		x86asm.MOVZX:  {lift: extend(false)},
		x86asm.MOVSX:  {lift: extend(true)},
		x86asm.MOVSXD: {lift: extend(true)},
		x86asm.LEA:    {lift: lea},
		x86asm.PUSH:   {lift: push},
		x86asm.POP:    {lift: pop, note: "no segment registers"},
		x86asm.LEAVE:  {lift: leave},
		x86asm.ENTER:  {lift: enter, note: "level 0 only"},
		x86asm.CBW:    {lift: widen(16)},
		x86asm.CWDE:   {lift: widen(32)},
		x86asm.CDQE:   {lift: widen(64)},
		x86asm.CWD:    {lift: spread(16)},
		x86asm.CDQ:    {lift: spread(32)},
		x86asm.CQO:    {lift: spread(64)},
		x86asm.BSWAP:  {lift: bswap},
		x86asm.XLATB:  {lift: xlat},
	})
	cmovs := [16]x86asm.Op{x86asm.CMOVO, x86asm.CMOVNO, x86asm.CMOVB, x86asm.CMOVAE, x86asm.CMOVE, x86asm.CMOVNE, x86asm.CMOVBE, x86asm.CMOVA,
		x86asm.CMOVS, x86asm.CMOVNS, x86asm.CMOVP, x86asm.CMOVNP, x86asm.CMOVL, x86asm.CMOVGE, x86asm.CMOVLE, x86asm.CMOVG}
	sets := [16]x86asm.Op{x86asm.SETO, x86asm.SETNO, x86asm.SETB, x86asm.SETAE, x86asm.SETE, x86asm.SETNE, x86asm.SETBE, x86asm.SETA,
		x86asm.SETS, x86asm.SETNS, x86asm.SETP, x86asm.SETNP, x86asm.SETL, x86asm.SETGE, x86asm.SETLE, x86asm.SETG}
	for c := range uint64(16) {
		register(map[x86asm.Op]row{cmovs[c]: {lift: cmov(c)}, sets[c]: {lift: set(c)}})
	}
}
