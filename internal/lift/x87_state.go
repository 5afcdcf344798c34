package lift

import (
	"sync"

	"symchef/internal/ir"
	"symchef/internal/softfp"
)

// Bits of the x87 status word (SDM vol. 1, 8.1.3).
const (
	fswIE = 1 << 0
	fswSF = 1 << 6 // stack fault
	fswC0 = 1 << 8
	fswC1 = 1 << 9
	fswC2 = 1 << 10
	fswC3 = 1 << 14
	fswCC = fswC0 | fswC1 | fswC2 | fswC3
)

// fpu is the x87 unit during one helper. It works on a copy of its state, which commit writes back.
type fpu struct {
	m   ir.Machine
	u   *ir.Uop
	env softfp.Env
	raw [8][2]uint64
	top uint64
	fcw uint64
	fsw uint64
	tag uint64
	out uint64 // for slot u.D
}

func newFPU(u *ir.Uop, m ir.Machine) *fpu {
	r := m.Reg()
	f := fpus.Get().(*fpu)
	*f = fpu{m: m, u: u, top: r[ir.FTop], fcw: r[ir.FCW], fsw: r[ir.FSW], tag: r[ir.FTag]}
	for i := range f.raw {
		f.raw[i] = [2]uint64{r[int(ir.FPR)+2*i], r[int(ir.FPR)+2*i+1]}
	}
	f.env = softfp.Env{X87: true, Mode: softfp.Mode(f.fcw >> 10 & 3)}
	return f
}

// fpus are those not in use: one per instruction would be a fifth of the time of loops over floats (as in R).
var fpus = sync.Pool{New: func() any { return new(fpu) }}

// free gives f back.
func (f *fpu) free() {
	f.m, f.u = nil, nil
	fpus.Put(f)
}

// precise makes the following operation obey precision control.
func (f *fpu) precise() *softfp.Env {
	f.env.Prec = [4]int{24, 64, 53, 64}[f.fcw>>8&3]
	return &f.env
}

// commit raises what the operation raised and writes the state back.
func (f *fpu) commit() error {
	f.fsw |= uint64(f.env.Flags)
	if f.env.Flags&softfp.Inexact != 0 && f.env.Up {
		f.fsw |= fswC1
	}
	if f.fsw&^f.fcw&0x3f != 0 {
		return &ir.UnsupportedError{What: "unmasked x87 exception"}
	}
	r := f.m.Reg()
	for i, v := range f.raw {
		r[int(ir.FPR)+2*i], r[int(ir.FPR)+2*i+1] = v[0], v[1]
	}
	r[ir.FTop], r[ir.FCW], r[ir.FSW], r[ir.FTag] = f.top, f.fcw, f.fsw, f.tag
	if f.u.D != ir.Zero {
		r[f.u.D] = f.out
	}
	return nil
}

// phys returns the physical number of st(i).
func (f *fpu) phys(i int) uint64 { return (f.top + uint64(i)) & 7 }

func (f *fpu) empty(i int) bool { return f.tag>>f.phys(i)&1 == 0 }

// value returns st(i) as it is.
func (f *fpu) value(i int) softfp.Num {
	v := f.raw[f.phys(i)]
	return softfp.Unpack80(v[0], uint16(v[1]))
}

// fault records a stack fault (SDM vol. 1, 8.5.1.1); C1 tells overflow from underflow.
func (f *fpu) fault(overflow bool) softfp.Num {
	f.fsw = f.fsw&^fswC1 | fswIE | fswSF
	if overflow {
		f.fsw |= fswC1
	}
	return softfp.Indefinite
}

// underflow reports whether one of the stack registers is empty, and records it.
func (f *fpu) underflow(is ...int) bool {
	f.fsw &^= fswC1
	for _, i := range is {
		if f.empty(i) {
			f.fault(false)
			return true
		}
	}
	return false
}

// set writes st(i).
func (f *fpu) set(i int, n softfp.Num) {
	sig, se := softfp.Pack80(n)
	f.setRaw(i, [2]uint64{sig, uint64(se)})
}

func (f *fpu) setRaw(i int, v [2]uint64) {
	p := f.phys(i)
	f.raw[p] = v
	f.tag |= 1 << p
}

func (f *fpu) push(n softfp.Num) {
	sig, se := softfp.Pack80(n)
	f.pushRaw([2]uint64{sig, uint64(se)})
}

func (f *fpu) pushRaw(v [2]uint64) {
	f.fsw &^= fswC1
	f.top = (f.top - 1) & 7
	if !f.empty(0) {
		f.set(0, f.fault(true))
		return
	}
	f.setRaw(0, v)
}

func (f *fpu) pop() {
	f.tag &^= 1 << f.top
	f.top = (f.top + 1) & 7
}

// status returns the status word as fnstsw stores it.
func (f *fpu) status() uint64 { return f.fsw&^(7<<11) | f.top<<11 }

func (f *fpu) setStatus(v uint64) {
	f.fsw, f.top = v&0x7f7f&^(7<<11), v>>11&7
}

// cc sets the condition codes C3, C2, C0; C1 is cleared.
func (f *fpu) cc(v uint64) { f.fsw = f.fsw&^fswCC | v }

// x87Slots is what every x87 helper reads and writes; A, B and D are temporaries or Zero.
func x87Slots(u *ir.Uop, reads, writes func(ir.Slot)) {
	for s := ir.Slot(ir.FPR); s <= ir.FTag; s++ {
		reads(s)
		writes(s)
	}
	if u.A != ir.Zero {
		reads(u.A)
	}
	if u.B != ir.Zero {
		reads(u.B)
	}
	if u.D != ir.Zero {
		writes(u.D)
	}
}

// x87Helper registers an operation. It returns the bytes to be stored at address A, or none;
// store is their number.
func x87Helper(name string, store int, run func(f *fpu) []byte) uint64 {
	h := ir.HelperRow{Name: name, Slots: x87Slots,
		Run: func(u *ir.Uop, m ir.Machine) error {
			f := newFPU(u, m)
			defer f.free()
			if p := run(f); p != nil {
				if f.fsw|uint64(f.env.Flags) != 0 && (f.fsw|uint64(f.env.Flags))&^f.fcw&0x3f != 0 {
					return f.commit() // refused before memory changes
				}
				if err := m.WriteMem(m.Reg()[u.A], p); err != nil {
					return err
				}
			}
			return f.commit()
		}}
	if store > 0 {
		h.Mem = func(u *ir.Uop, r *[ir.NumSlots]uint64) (uint64, int, int) { return r[u.A], 0, store }
	}
	return ir.DefineHelper(h)
}
