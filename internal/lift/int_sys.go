package lift

import (
	"math/bits"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// rflagsFixed are the RFLAGS bits a user process always sees set: bit 1 and IF.
const rflagsFixed = 0x202

// rflags returns a temporary with RFLAGS.
func (b *builder) rflags() ir.Slot {
	f := b.tmp()
	b.emit(ir.Uop{Op: ir.GetFlags, W: 64, D: f})
	return b.val(ir.Or, 64, b.insert(f, ir.DF, 10, 1), ir.Zero, rflagsFixed)
}

func pushf(b *builder, in *Inst) error {
	b.pushSlot(b.rflags(), stackWidth(in))
	return nil
}

func popf(b *builder, in *Inst) error {
	w := stackWidth(in)
	t := b.tmp()
	b.load(t, w, address{base: ir.RSP, index: ir.Zero})
	b.emit(ir.Uop{Op: ir.Get, W: 1, D: ir.DF, A: t, Imm: 10})
	b.setCC(ir.CCFlags, 64, t, ir.Zero, ir.Zero)
	b.op3(ir.Add, 64, ir.RSP, ir.RSP, ir.Zero, uint64(w/8))
	return nil
}

// setFlags replaces the flags by f op imm of the present ones.
func setFlags(op ir.Op, imm uint64) lifter {
	return func(b *builder, in *Inst) error {
		f := b.tmp()
		b.emit(ir.Uop{Op: ir.GetFlags, W: 64, D: f})
		b.setCC(ir.CCFlags, 64, b.val(op, 64, f, ir.Zero, imm), ir.Zero, ir.Zero)
		return nil
	}
}

func setDF(v uint64) lifter {
	return func(b *builder, in *Inst) error {
		b.op3(ir.Mov, 64, ir.DF, ir.Zero, ir.Zero, v)
		return nil
	}
}

func lahf(b *builder, in *Inst) error {
	f := b.tmp()
	b.emit(ir.Uop{Op: ir.GetFlags, W: 64, D: f})
	b.setReg(reg{ir.RAX, 8, 8}, b.val(ir.Or, 8, f, ir.Zero, 2))
	return nil
}

func sahf(b *builder, in *Inst) error {
	f := b.tmp()
	b.emit(ir.Uop{Op: ir.GetFlags, W: 64, D: f})
	ah := b.bits(ir.RAX, 8, 8)
	b.setCC(ir.CCFlags, 64, b.insert(f, ah, 0, 8), ir.Zero, ir.Zero)
	return nil
}

func nop(b *builder, in *Inst) error { return nil }

// callHelper makes the row of an instruction that a helper does whole.
func callHelper(h uint64) lifter {
	return func(b *builder, in *Inst) error {
		b.emit(ir.Uop{Op: ir.Helper, Imm: h})
		return nil
	}
}

var (
	helperCPUID   = ir.DefineHelper(ir.HelperRow{Name: "cpuid", Slots: slots([]ir.Slot{ir.RAX, ir.RCX}, []ir.Slot{ir.RAX, ir.RBX, ir.RCX, ir.RDX}), Run: cpuid})
	helperRDTSC   = ir.DefineHelper(ir.HelperRow{Name: "rdtsc", Slots: slots(nil, []ir.Slot{ir.RAX, ir.RDX}), Run: rdtsc})
	helperRDTSCP  = ir.DefineHelper(ir.HelperRow{Name: "rdtscp", Slots: slots(nil, []ir.Slot{ir.RAX, ir.RCX, ir.RDX}), Run: rdtscp})
	helperDiv128  = ir.DefineHelper(ir.HelperRow{Name: "div128", Slots: divSlots, Sym: ir.SymDiv, Run: div128})
	helperIDiv128 = ir.DefineHelper(ir.HelperRow{Name: "idiv128", Slots: divSlots, Sym: ir.SymIDiv, Run: idiv128})
)

// slots makes HelperRow.Slots for a fixed set.
func slots(reads, writes []ir.Slot) func(*ir.Uop, func(ir.Slot), func(ir.Slot)) {
	return func(_ *ir.Uop, r, w func(ir.Slot)) {
		for _, s := range reads {
			r(s)
		}
		for _, s := range writes {
			w(s)
		}
	}
}

func rdtsc(_ *ir.Uop, m ir.Machine) error {
	r, t := m.Reg(), m.Retired()
	r[ir.RAX], r[ir.RDX] = t&(1<<32-1), t>>32
	return nil
}

func rdtscp(u *ir.Uop, m ir.Machine) error {
	m.Reg()[ir.RCX] = 0
	return rdtsc(u, m)
}

// The division helpers divide RDX:RAX by slot A, which is not 0: B = quotient, C = remainder, D = 1
// if the quotient does not fit.
func divSlots(u *ir.Uop, reads, writes func(ir.Slot)) {
	reads(u.A)
	reads(ir.RAX)
	reads(ir.RDX)
	writes(u.B)
	writes(u.C)
	writes(u.D)
}

func div128(u *ir.Uop, m ir.Machine) error {
	r := m.Reg()
	hi, lo, s := r[ir.RDX], r[ir.RAX], r[u.A]
	if hi >= s {
		r[u.B], r[u.C], r[u.D] = 0, 0, 1
		return nil
	}
	r[u.B], r[u.C] = bits.Div64(hi, lo, s)
	r[u.D] = 0
	return nil
}

func idiv128(u *ir.Uop, m ir.Machine) error {
	r := m.Reg()
	hi, lo, s := r[ir.RDX], r[ir.RAX], r[u.A]
	minus, sminus := int64(hi) < 0, int64(s) < 0
	if minus {
		var c uint64
		lo, c = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, c)
	}
	if sminus {
		s = -s
	}
	r[u.B], r[u.C], r[u.D] = 0, 0, 1
	if hi >= s {
		return nil
	}
	q, rem := bits.Div64(hi, lo, s)
	limit := uint64(1)<<63 - 1
	if minus != sminus {
		q, limit = -q, limit+1
		if -q > limit {
			return nil
		}
	} else if q > limit {
		return nil
	}
	if minus {
		rem = -rem
	}
	r[u.B], r[u.C], r[u.D] = q, rem, 0
	return nil
}

func init() {
	register(map[x86asm.Op]row{
		x86asm.PUSHFQ:      {lift: pushf},
		x86asm.PUSHF:       {lift: pushf},
		x86asm.POPFQ:       {lift: popf, note: "TF, AC, ID are not kept"},
		x86asm.POPF:        {lift: popf, note: "TF, AC, ID are not kept"},
		x86asm.CLC:         {lift: setFlags(ir.And, ^uint64(ir.FlagCF))},
		x86asm.STC:         {lift: setFlags(ir.Or, ir.FlagCF)},
		x86asm.CMC:         {lift: setFlags(ir.Xor, ir.FlagCF)},
		x86asm.CLD:         {lift: setDF(0)},
		x86asm.STD:         {lift: setDF(1)},
		x86asm.LAHF:        {lift: lahf},
		x86asm.SAHF:        {lift: sahf},
		x86asm.CPUID:       {lift: callHelper(helperCPUID), note: "the machine's processor, of x86-64-v2 or v3"},
		x86asm.RDTSC:       {lift: callHelper(helperRDTSC), note: "counts retired instructions"},
		x86asm.RDTSCP:      {lift: callHelper(helperRDTSCP), note: "counts retired instructions"},
		x86asm.NOP:         {lift: nop},
		x86asm.PAUSE:       {lift: nop},
		x86asm.PREFETCHNTA: {lift: nop},
		x86asm.PREFETCHT0:  {lift: nop},
		x86asm.PREFETCHT1:  {lift: nop},
		x86asm.PREFETCHT2:  {lift: nop},
		x86asm.PREFETCHW:   {lift: nop},
		x86asm.MFENCE:      {lift: nop},
		x86asm.LFENCE:      {lift: nop},
		x86asm.SFENCE:      {lift: nop},
		x86asm.CLFLUSH:     {lift: nop, note: "does not fault"},
	})
}
