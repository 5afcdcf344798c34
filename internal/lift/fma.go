package lift

import (
	"regexp"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// FMA (SDM vol. 1, 14.5) and F16C (14.4).

// fmaName takes apart the name of an FMA instruction: whether the product is negated, what is done with the addend, which operands are
// multiplied, and the type.
var fmaName = regexp.MustCompile(`^VF(N?)M(ADDSUB|SUBADD|ADD|SUB)(132|213|231)(PS|PD|SS|SD)$`)

// fma multiplies and adds, rounding once. The digits of order are the operands, from 1 on: the first two are multiplied.
func fma(negProduct bool, addend, order string, w int, scalar bool) lifter {
	return func(b *builder, in *Inst) error {
		d, err := b.target()
		if err != nil {
			return err
		}
		var from [3]vec
		for i := range from {
			if from[i], err = b.vecSource(i); err != nil {
				return err
			}
		}
		x, y, z := from[order[0]-'1'], from[order[1]-'1'], from[order[2]-'1']
		if order == "132" {
			x, y, z = from[0], from[2], from[1]
		}
		do := func(x, y, z ir.Slot, lane int) ir.Slot {
			u := ir.Uop{Op: ir.Helper, W: uint8(w), D: b.tmp(), A: x, B: y, C: z, Imm: ir.FMA}
			if negProduct {
				u.X |= ir.FMANegProduct
			}
			if addend == "SUB" || addend == "ADDSUB" && lane == 0 || addend == "SUBADD" && lane != 0 {
				u.X |= ir.FMANegAddend
			}
			b.emit(u)
			return u.D
		}
		if scalar {
			b.putLow(d.slot[0], w, do(x.slot[0], y.slot[0], z.slot[0], 1))
			b.clearUpper(d)
			return nil
		}
		var r []ir.Slot
		for q := range d.quads() {
			if w == 64 {
				r = append(r, do(x.slot[q], y.slot[q], z.slot[q], q&1))
				continue
			}
			lo := do(x.slot[q], y.slot[q], z.slot[q], 0)
			r = append(r, b.join(lo, do(b.upper(x.slot[q]), b.upper(y.slot[q]), b.upper(z.slot[q]), 1)))
		}
		b.set(d, r)
		return nil
	}
}

// fromHalf is vcvtph2ps.
func fromHalf(b *builder, _ *Inst) error {
	d, s, err := b.unary()
	if err != nil {
		return err
	}
	lane := func(i int) ir.Slot {
		t := b.tmp()
		b.emit(ir.Uop{Op: ir.Get, W: 16, D: t, A: s.slot[i/4], Imm: uint64(i % 4 * 16)})
		return b.val(ir.FFromHalf, 32, t, ir.Zero, 0)
	}
	var r []ir.Slot
	for q := range d.quads() {
		lo := lane(2 * q)
		r = append(r, b.join(lo, lane(2*q+1)))
	}
	b.set(d, r)
	return nil
}

// toHalf is vcvtps2ph, whose destination may be memory.
func toHalf(b *builder, in *Inst) error {
	s, imm, err := vectorAndImm(in)
	if err != nil {
		return err
	}
	var r []ir.Slot
	for q := range s.quads() {
		if q%2 == 0 {
			r = append(r, ir.Zero)
		}
		for i, x := range []ir.Slot{s.slot[q], b.upper(s.slot[q])} {
			h := b.float(ir.Uop{Op: ir.FToHalf, W: 32, A: x, B: ir.Zero, Imm: imm & 7})
			t := b.tmp()
			b.emit(ir.Uop{Op: ir.Put, W: 16, D: t, A: h, B: r[q/2], Imm: uint64(q%2*32 + i*16)})
			r[q/2] = t
		}
	}
	if m, ok := in.Args[0].(x86asm.Mem); ok {
		a := b.addr(m)
		for i, t := range r {
			b.store(t, 64, a.plus(uint64(8*i)))
		}
		return nil
	}
	d, err := b.target()
	if err != nil {
		return err
	}
	b.set(d, r)
	return nil
}

func init() {
	for op := x86asm.ANDN; !strings.HasPrefix(op.String(), "Op("); op++ {
		if m := fmaName.FindStringSubmatch(op.String()); m != nil {
			w := map[byte]int{'S': 32, 'D': 64}[m[4][1]]
			register(map[x86asm.Op]row{op: vf(fma(m[1] != "", m[2], m[3], w, m[4][0] == 'S'))})
		}
	}
	register(map[x86asm.Op]row{
		x86asm.VCVTPH2PS: vf(fromHalf),
		x86asm.VCVTPS2PH: vf(toHalf),
	})
}
