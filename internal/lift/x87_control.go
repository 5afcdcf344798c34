package lift

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
	"symchef/internal/softfp"
)

// Control words, the environment, fxsave and fxrstor (SDM vol. 1, 8.1 and 10.5.1).

var (
	fstatus = x87Helper("fnstsw", 0, func(f *fpu) []byte { f.out = f.status(); return nil })
	fldcw   = x87Helper("fldcw", 0, func(f *fpu) []byte {
		f.fcw = f.m.Reg()[f.u.A]&0x1f3f | 0x40
		return nil
	})
	// fnstenv stores the 28-byte format and masks all exceptions.
	fnstenv = x87Helper("fnstenv", 28, func(f *fpu) []byte {
		p := make([]byte, 28)
		for i, v := range []uint64{f.fcw, f.status(), f.fullTags(), 0, 0, 0, 0} {
			if i < 3 || i == 6 {
				v |= 0xffff0000
			}
			binary.LittleEndian.PutUint32(p[4*i:], uint32(v))
		}
		f.fcw |= 0x3f
		return p
	})
	fldenv = x87Helper("fldenv", 0, func(f *fpu) []byte {
		// A holds control and status word, B the tags.
		v := f.m.Reg()[f.u.A]
		f.fcw = v&0x1f3f | 0x40
		f.setStatus(v >> 32 & 0xffff)
		f.tag = 0
		for i := range 8 {
			if f.m.Reg()[f.u.B]>>(2*i)&3 != 3 {
				f.tag |= 1 << i
			}
		}
		return nil
	})
)

// fullTags returns the tag word with two bits per register.
func (f *fpu) fullTags() uint64 {
	var r uint64
	for i, v := range f.raw {
		t := uint64(2)
		switch n := softfp.Unpack80(v[0], uint16(v[1])); {
		case f.tag>>i&1 == 0:
			t = 3
		case n.Class == softfp.Zero:
			t = 1
		case n.Class == softfp.Finite && !n.Denorm:
			t = 0
		}
		r |= t << (2 * i)
	}
	return r
}

// fxHead is the length of the area before the xmm registers.
const fxHead = 160

var fxsave = x87Helper("fxsave", fxHead, (*fpu).image)

// image returns the head of the area of fxsave.
func (f *fpu) image() []byte {
	p := make([]byte, fxHead)
	le := binary.LittleEndian
	le.PutUint16(p[0:], uint16(f.fcw))
	le.PutUint16(p[2:], uint16(f.status()))
	p[4] = byte(f.tag)
	le.PutUint32(p[24:], uint32(f.m.Reg()[ir.MXCSR]))
	le.PutUint32(p[28:], mxcsrMask)
	for i := range 8 {
		v := f.raw[f.phys(i)]
		le.PutUint64(p[32+16*i:], v[0])
		le.PutUint16(p[40+16*i:], uint16(v[1]))
	}
	return p
}

// setImage loads it, but for MXCSR.
func (f *fpu) setImage(p []byte) {
	le := binary.LittleEndian
	f.fcw = uint64(le.Uint16(p[0:]))&0x1f3f | 0x40
	f.setStatus(uint64(le.Uint16(p[2:])))
	f.tag = uint64(p[4])
	for i := range 8 {
		f.raw[f.phys(i)] = [2]uint64{le.Uint64(p[32+16*i:]), uint64(le.Uint16(p[40+16*i:]))}
	}
}

var fxrstor = ir.DefineHelper(ir.HelperRow{
	Name: "fxrstor",
	Slots: func(u *ir.Uop, reads, writes func(ir.Slot)) {
		x87Slots(u, reads, writes)
		writes(ir.MXCSR)
	},
	Mem: func(u *ir.Uop, r *[ir.NumSlots]uint64) (uint64, int, int) { return r[u.A], fxHead, 0 },
	Run: func(u *ir.Uop, m ir.Machine) error {
		p := make([]byte, fxHead)
		if err := m.ReadMem(m.Reg()[u.A], p); err != nil {
			return err
		}
		mx := binary.LittleEndian.Uint32(p[24:])
		if err := checkMXCSR(uint64(mx)); err != nil {
			return err
		}
		f := newFPU(u, m)
		defer f.free()
		f.setImage(p)
		if err := f.commit(); err != nil {
			return err
		}
		m.Reg()[ir.MXCSR] = uint64(mx)
		return nil
	},
})

// checkMXCSR refuses values that the float rows do not implement.
func checkMXCSR(v uint64) error {
	if v&^mxcsrMask != 0 {
		return &ir.UnsupportedError{What: "reserved bits of MXCSR"}
	}
	if v&0x1f80 != 0x1f80 {
		return &ir.UnsupportedError{What: "unmasked SSE exceptions"}
	}
	return nil
}

// fxState is fxsave (store) or fxrstor; the xmm registers move as values, so they stay symbolic.
func fxState(store bool) lifter {
	return func(b *builder, in *Inst) error {
		m, ok := in.Args[0].(x86asm.Mem)
		if !ok {
			return unsupported(in)
		}
		base := b.lea(b.addr(m))
		a := address{base: base, index: ir.Zero}
		h := fxrstor
		if store {
			h = fxsave
		}
		if !store {
			b.x87(h, ir.Zero, base, ir.Zero, 0)
		}
		for i := range 16 {
			x, at := pair{ir.XMM(i, 0), ir.XMM(i, 1)}, a.plus(uint64(fxHead+16*i))
			if store {
				b.storePair(x, at)
			} else {
				b.loadPair(x, at)
			}
		}
		if store {
			b.x87(h, ir.Zero, base, ir.Zero, 0)
		}
		return nil
	}
}

func liftFNSTSW(b *builder, in *Inst) error {
	t := b.tmp()
	switch a := in.Args[0].(type) {
	case x86asm.Mem:
		b.x87(fstatus, t, ir.Zero, ir.Zero, 0)
		b.store(t, 16, b.addr(a))
	case x86asm.Reg:
		r, ok := gpr(a)
		if !ok {
			return unsupported(in)
		}
		b.x87(fstatus, t, ir.Zero, ir.Zero, 0)
		b.setReg(r, t)
	}
	return nil
}

func liftFNSTCW(b *builder, in *Inst) error {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		return unsupported(in)
	}
	b.store(ir.FCW, 16, b.addr(m))
	return nil
}

func liftFLDCW(b *builder, in *Inst) error {
	in.MemBytes = 2
	return b.loadOperand(in, fldcw)
}

func liftFNSTENV(b *builder, in *Inst) error { return b.storeOperand(in, fnstenv) }

func liftFLDENV(b *builder, in *Inst) error {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		return unsupported(in)
	}
	a, t, s, last := b.addr(m), b.tmp(), b.tmp(), b.tmp()
	b.load(t, 64, a)
	b.load(s, 16, a.plus(8))
	b.load(last, 32, a.plus(24)) // all of it must be readable
	b.x87(fldenv, ir.Zero, t, s, 0)
	return nil
}

func init() {
	const fx = "FIP, FDP and FOP are not kept"
	register(map[x86asm.Op]row{
		x86asm.FNSTSW:    {liftFNSTSW, ""},
		x86asm.FNSTCW:    {liftFNSTCW, ""},
		x86asm.FLDCW:     {liftFLDCW, "an unmasked exception that is raised ends the path"},
		x86asm.FNSTENV:   {liftFNSTENV, fx},
		x86asm.FLDENV:    {liftFLDENV, fx},
		x86asm.FXSAVE:    {fxState(true), fx},
		x86asm.FXSAVE64:  {fxState(true), fx},
		x86asm.FXRSTOR:   {fxState(false), fx},
		x86asm.FXRSTOR64: {fxState(false), fx},
	})
}
