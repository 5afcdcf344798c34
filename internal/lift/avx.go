package lift

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/ir"
)

// AVX, AVX2 and F16C (SDM vol. 1, chapter 14). Most instructions do on each half of 128 bits what one of SSE does,
// with the result in a register of its own: the row of that instruction is applied to each half. What an instruction writes
// of 128 bits or less clears the upper half of the register; SSE leaves it.

// vec is a vector register or what has been loaded of one: the slots of its quadwords, and its width in bits.
type vec struct {
	slot [4]ir.Slot
	w    int
}

// quads returns how many quadwords v has.
func (v vec) quads() int { return v.w / 64 }

// half returns half h of v; of a vector of 128 bits, that one.
func (v vec) half(h int) half {
	if v.w == 128 {
		h = 0
	}
	return half{pair: pair{v.slot[2*h], v.slot[2*h+1]}}
}

// vector classifies an xmm or ymm register.
func vector(arg x86asm.Arg) (vec, bool) {
	r, ok := arg.(x86asm.Reg)
	w, i := 128, int(r)-int(x86asm.X0)
	if r >= x86asm.Y0 && r <= x86asm.Y15 {
		w, i = 256, int(r)-int(x86asm.Y0)
	}
	if !ok || i < 0 || i > 15 {
		return vec{}, false
	}
	return vec{[4]ir.Slot{ir.XMM(i, 0), ir.XMM(i, 1), ir.Upper(i, 0), ir.Upper(i, 1)}, w}, true
}

// loadVec loads w bits into temporaries. What has fewer than 128 bits is a vector of that width whose upper part is 0.
func (b *builder) loadVec(m x86asm.Mem, w int) vec {
	a := b.addr(m)
	v := vec{slot: [4]ir.Slot{ir.Zero, ir.Zero, ir.Zero, ir.Zero}, w: max(w, 128)}
	for i := range max(w/64, 1) {
		v.slot[i] = b.tmp()
		b.load(v.slot[i], min(w, 64), a.plus(uint64(8*i)))
	}
	if w <= 64 { // the two of a half stand side by side
		b.mov(b.tmp(), ir.Zero)
		v.slot[1] = v.slot[0] + 1
	}
	return v
}

// vecSource returns operand i: a vector register, or memory as wide as the instruction accesses.
func (b *builder) vecSource(i int) (vec, error) {
	if m, ok := b.in.Args[i].(x86asm.Mem); ok && b.in.MemBytes > 0 {
		return b.loadVec(m, 8*b.in.MemBytes), nil
	}
	if v, ok := vector(b.in.Args[i]); ok {
		return v, nil
	}
	return vec{}, unsupported(b.in)
}

// target returns operand 0, a vector register.
func (b *builder) target() (vec, error) {
	if v, ok := vector(b.in.Args[0]); ok {
		return v, nil
	}
	return vec{}, unsupported(b.in)
}

// unary returns operand 0, a vector register, and operand 1.
func (b *builder) unary() (d, s vec, err error) {
	if d, err = b.target(); err == nil {
		s, err = b.vecSource(1)
	}
	return d, s, err
}

// binary returns operand 0, a vector register, and operands 1 and 2.
func (b *builder) binary() (d, x, y vec, err error) {
	if d, x, err = b.unary(); err == nil {
		y, err = b.vecSource(2)
	}
	return d, x, y, err
}

// clearUpper clears what an instruction of 128 bits does.
func (b *builder) clearUpper(d vec) {
	if d.w == 128 {
		b.mov(d.slot[2], ir.Zero)
		b.mov(d.slot[3], ir.Zero)
	}
}

// set makes d the quadwords of v and clears what is above.
func (b *builder) set(d vec, v []ir.Slot) {
	for i, s := range v {
		b.mov(d.slot[i], s)
	}
	for _, s := range d.slot[len(v):] {
		b.mov(s, ir.Zero)
	}
}

// byHalf is an instruction that does on each half what op does of the same operands. If op's first operand is also its first
// source (as all have but those that move or convert), that is operand 1 here. imm makes the immediate of each half.
type byHalf struct {
	op    x86asm.Op
	row   lifter // in place of op's
	apart bool   // op's first operand is no source
	imm   func(imm uint64, half int) uint64
}

func (l byHalf) lift(b *builder, in *Inst) error {
	d, err := b.target()
	if err != nil {
		return err
	}
	var from []vec // sources
	var imm []x86asm.Arg
	for i, a := range in.Args[1:] {
		if a == nil {
			break
		}
		if v, ok := a.(x86asm.Imm); ok {
			imm = []x86asm.Arg{v}
			continue
		}
		v, err := b.vecSource(i + 1)
		if err != nil {
			return err
		}
		from = append(from, v)
	}
	first := from[:1]
	if l.apart {
		first = nil
	}
	rest := from[len(first):]
	out := d
	if slices.ContainsFunc(rest, func(v vec) bool { return v.slot[0] == d.slot[0] }) { // written only when all is read
		out.slot = [4]ir.Slot{b.tmp(), b.tmp(), b.tmp(), b.tmp()}
	}
	defer func() { b.in = in }()
	for h := range d.w / 128 {
		to := out.half(h)
		args := []x86asm.Arg{to}
		for _, v := range rest {
			args = append(args, v.half(h))
		}
		for _, v := range imm {
			if l.imm != nil {
				v = x86asm.Imm(l.imm(uint64(uint8(v.(x86asm.Imm))), h))
			}
			args = append(args, v)
		}
		b.in = in.as(l.op, args)
		start := len(b.blk.Uops)
		for _, v := range first {
			s := v.half(h).pair
			b.mov(to.pair[0], s[0])
			b.mov(to.pair[1], s[1])
		}
		row := l.row
		if row == nil {
			row = rows[l.op].lift
		}
		if err := row(b, b.in); err != nil {
			return err
		}
		b.forward(start)
	}
	for i := range d.quads() {
		b.mov(d.slot[i], out.slot[i])
	}
	b.clearUpper(d)
	return nil
}

// as returns in as an instruction of another operation, with these operands.
func (in *Inst) as(op x86asm.Op, args []x86asm.Arg) *Inst {
	n := *in
	n.Op, n.Args = op, x86asm.Args{}
	copy(n.Args[:], args)
	return &n
}

// forward makes what reads a copy made by one of the uops from start on read the original, as long as neither has changed, and drops the copy
// if it is overwritten then.
func (b *builder) forward(start int) {
	us := b.blk.Uops[start:]
	for i := 0; i < len(us); i++ {
		mv := us[i]
		if mv.Op != ir.Mov || mv.Imm != 0 || mv.W != 64 {
			continue
		}
		for k := i + 1; k < len(us) && us[k].Op != ir.Helper; k++ { // whose operands are its own business
			rename(&us[k], mv.D, mv.B)
			if writes(&us[k], mv.D) {
				us = slices.Delete(us, i, i+1)
				i--
				break
			}
			if writes(&us[k], mv.B) {
				break
			}
		}
	}
	b.blk.Uops = b.blk.Uops[:start+len(us)]
}

// each128 is byHalf of op.
func each128(op x86asm.Op) lifter { return byHalf{op: op}.lift }

// apart128 is byHalf of an op whose first operand is no source.
func apart128(op x86asm.Op) lifter { return byHalf{op: op, apart: true}.lift }

// parted is byHalf with an immediate of which each half has n bits.
func parted(op x86asm.Op, n int) lifter {
	return byHalf{op: op, imm: func(imm uint64, h int) uint64 { return imm >> (n * h) & (1<<n - 1) }}.lift
}

// like is an instruction that does what op does with the same operands, none of more than 128 bits; a register that it
// writes is cleared above.
func like(op x86asm.Op) lifter {
	return func(b *builder, in *Inst) error {
		var args []x86asm.Arg
		for _, a := range in.Args {
			if v, ok := vector(a); ok {
				if v.w != 128 {
					return unsupported(in)
				}
				a = v.half(0)
			}
			args = append(args, a)
		}
		defer func() { b.in = in }()
		b.in = in.as(op, args)
		if err := rows[op].lift(b, b.in); err != nil {
			return err
		}
		if d, ok := vector(in.Args[0]); ok && !only(op) {
			b.clearUpper(d)
		}
		return nil
	}
}

// only reports whether op, whose first operand is a vector, only reads it.
func only(op x86asm.Op) bool {
	switch op {
	case x86asm.PTEST, x86asm.COMISS, x86asm.COMISD, x86asm.UCOMISS, x86asm.UCOMISD, x86asm.MASKMOVDQU,
		x86asm.PCMPESTRI, x86asm.PCMPISTRI, x86asm.PCMPESTRM, x86asm.PCMPISTRM:
		return true
	}
	return false
}

// stringMask is vpcmpestrm and vpcmpistrm, whose result is xmm0.
func stringMask(op x86asm.Op) lifter {
	f := like(op)
	return func(b *builder, in *Inst) error {
		err := f(b, in)
		b.mov(ir.Upper(0, 0), ir.Zero)
		b.mov(ir.Upper(0, 1), ir.Zero)
		return err
	}
}

// moveVec is a move of all of a vector register.
func moveVec(b *builder, in *Inst) error {
	if m, ok := in.Args[0].(x86asm.Mem); ok {
		s, ok := vector(in.Args[1])
		if !ok {
			return unsupported(in)
		}
		a := b.addr(m)
		for i := range s.quads() {
			b.store(s.slot[i], 64, a.plus(uint64(8*i)))
		}
		return nil
	}
	d, err := b.target()
	if err != nil {
		return err
	}
	if m, ok := in.Args[1].(x86asm.Mem); ok { // a restart repeats a load of which a part has faulted
		a := b.addr(m)
		for i := range d.quads() {
			b.load(d.slot[i], 64, a.plus(uint64(8*i)))
		}
	} else if s, ok := vector(in.Args[1]); ok {
		for i := range d.quads() {
			b.mov(d.slot[i], s.slot[i])
		}
	} else {
		return unsupported(in)
	}
	b.clearUpper(d)
	return nil
}

// moveLow is vmovss and vmovsd: between registers the rest is that of operand 1.
func moveLow(op x86asm.Op) lifter {
	merge, move := each128(op), like(op)
	return func(b *builder, in *Inst) error {
		if in.Args[2] != nil {
			return merge(b, in)
		}
		return move(b, in)
	}
}

// moveTwo is vmovlps and its like: to memory, or into a copy of operand 1.
func moveTwo(op x86asm.Op) lifter {
	return func(b *builder, in *Inst) error {
		if in.Args[2] == nil {
			return like(op)(b, in)
		}
		return b.into(op)
	}
}

// into is an instruction that puts into a copy of operand 1 what op puts into its first operand, of operands that are no vectors.
func into(op x86asm.Op) lifter { return func(b *builder, _ *Inst) error { return b.into(op) } }

func (b *builder) into(op x86asm.Op) error {
	in := b.in
	d, err := b.target()
	s, ok := vector(in.Args[1])
	if err != nil || !ok || d.w != 128 || s.w != 128 {
		return unsupported(in)
	}
	t := half{pair: pair{b.tmp(), b.tmp()}}
	defer func() { b.in = in }()
	b.in = in.as(op, append([]x86asm.Arg{t}, in.Args[2:5]...))
	start := len(b.blk.Uops)
	b.mov(t.pair[0], s.slot[0])
	b.mov(t.pair[1], s.slot[1])
	if err := rows[op].lift(b, b.in); err != nil {
		return err
	}
	b.forward(start)
	b.set(d, t.pair[:])
	return nil
}

// masks is vpmovmskb, vmovmskps, vmovmskpd.
func masks(w int) lifter {
	return func(b *builder, in *Inst) error {
		r, ok := in.Args[0].(x86asm.Reg)
		g, isGPR := gpr(r)
		s, isVec := vector(in.Args[1])
		if !ok || !isGPR || !isVec {
			return unsupported(in)
		}
		lo := b.tmp()
		b.op3(ir.VMsk, w, lo, s.slot[0], s.slot[1], 0)
		if s.w == 256 {
			hi := b.val(ir.VMsk, w, s.slot[2], s.slot[3], 0)
			t := b.tmp()
			b.emit(ir.Uop{Op: ir.Lea, W: 64, D: t, A: lo, B: b.val(ir.Shl, 64, hi, ir.Zero, uint64(128/w)), Scale: 0})
			lo = t
		}
		b.mov(g.slot, lo)
		return nil
	}
}

// testBits is vptest, and vtestps, vtestpd with the signs of lanes of w bits.
func testBits(w int) lifter {
	return func(b *builder, in *Inst) error {
		d, s, err := b.unary()
		if err != nil {
			return err
		}
		signs := map[int]uint64{0: ^uint64(0), 32: 1<<63 | 1<<31, 64: 1 << 63}[w]
		none := func(f func(i int) ir.Slot) ir.Slot {
			all := f(0)
			for i := 1; i < d.quads(); i++ {
				all = b.val(ir.Or, 64, all, f(i), 0)
			}
			return b.val(ir.Eq, 64, b.val(ir.And, 64, all, ir.Zero, signs), ir.Zero, 0)
		}
		zf := none(func(i int) ir.Slot { return b.val(ir.And, 64, d.slot[i], s.slot[i], 0) })
		cf := none(func(i int) ir.Slot {
			return b.val(ir.And, 64, b.val(ir.Not, 64, d.slot[i], ir.Zero, 0), s.slot[i], 0)
		})
		f := b.val(ir.Or, 64, cf, b.val(ir.Shl, 64, zf, ir.Zero, 6), 0)
		b.setCC(ir.CCFlags, 64, f, ir.Zero, ir.Zero)
		return nil
	}
}

// blendBy is vblendvps and its like: lanes of operand 2 where operand 3 is negative.
func blendBy(w int) lifter {
	return func(b *builder, in *Inst) error {
		return b.quadwise(3, func(s []ir.Slot) ir.Slot {
			t := b.tmp()
			b.emit(ir.Uop{Op: ir.VBlendV, W: uint8(w), D: t, A: s[0], B: s[1], C: s[2]})
			return t
		})
	}
}

// quadwise makes each quadword of the first operand of those of n sources.
func (b *builder) quadwise(n int, f func(s []ir.Slot) ir.Slot) error {
	d, err := b.target()
	if err != nil {
		return err
	}
	var from []vec
	for i := range n {
		v, err := b.vecSource(i + 1)
		if err != nil {
			return err
		}
		from = append(from, v)
	}
	var r []ir.Slot
	for q := range d.quads() {
		var s []ir.Slot
		for _, v := range from {
			s = append(s, v.slot[q])
		}
		r = append(r, f(s))
	}
	b.set(d, r)
	return nil
}

// blendDwords is vpblendd: lanes of operand 2 where imm has a bit.
func blendDwords(b *builder, in *Inst) error {
	imm, err := imm8(in, 3)
	if err != nil {
		return err
	}
	return b.quadwise(2, func(s []ir.Slot) ir.Slot {
		t := b.tmp()
		b.emit(ir.Uop{Op: ir.VBlend, W: 32, D: t, A: s[0], B: s[1], Imm: imm & 3})
		imm >>= 2
		return t
	})
}

// broadcast repeats the low w bits of the source.
func broadcast(w int) lifter {
	return func(b *builder, in *Inst) error {
		d, s, err := b.unary()
		if err != nil {
			return err
		}
		v := []ir.Slot{s.slot[0], s.slot[1]}
		if w <= 64 {
			v[0] = b.repeat(s.slot[0], w)
			v[1] = v[0]
		}
		if d.w == 256 {
			v = append(v, v...)
		}
		if w == 128 && d.w == 128 {
			return unsupported(in)
		}
		b.set(d, v)
		return nil
	}
}

// repeat returns the low w bits of s, in all lanes of w bits.
func (b *builder) repeat(s ir.Slot, w int) ir.Slot {
	switch w {
	case 8:
		s = b.val(ir.VZipLo, 8, s, s, 0)
		fallthrough
	case 16:
		t := b.tmp()
		b.emit(ir.Uop{Op: ir.VShuf4, W: 16, D: t, A: s})
		return t
	case 32:
		return b.join(s, s)
	}
	return s
}

// insertHalf puts 128 bits into half imm of a copy of operand 1.
func insertHalf(b *builder, in *Inst) error {
	imm, err := imm8(in, 3)
	if err != nil {
		return err
	}
	d, x, s, err := b.binary()
	if err != nil {
		return err
	}
	n, keep := s.half(0).pair, x.half(int(imm&1^1)).pair
	lo, hi := n, keep
	if imm&1 != 0 {
		lo, hi = keep, n
	}
	b.set(d, b.copies(lo[0], lo[1], hi[0], hi[1]))
	return nil
}

// copies returns copies, which outlive the registers.
func (b *builder) copies(s ...ir.Slot) []ir.Slot {
	var c []ir.Slot
	for _, x := range s {
		if x < ir.Temp0 && x != ir.Zero {
			x = b.val(ir.Mov, 64, ir.Zero, x, 0)
		}
		c = append(c, x)
	}
	return c
}

// vectorAndImm are the sources of an instruction whose destination may be memory: a vector, and an immediate.
func vectorAndImm(in *Inst) (s vec, imm uint64, err error) {
	if imm, err = imm8(in, 2); err != nil {
		return s, 0, err
	}
	s, ok := vector(in.Args[1])
	if !ok {
		return s, 0, unsupported(in)
	}
	return s, imm, nil
}

// extractHalf is vextractf128 and vextracti128.
func extractHalf(b *builder, in *Inst) error {
	s, imm, err := vectorAndImm(in)
	if err != nil {
		return err
	}
	h := s.half(int(imm & 1)).pair
	if m, ok := in.Args[0].(x86asm.Mem); ok {
		b.storePair(h, b.addr(m))
		return nil
	}
	d, err := b.target()
	if err != nil {
		return err
	}
	b.set(d, h[:])
	return nil
}

// permuteHalves is vperm2f128 and vperm2i128.
func permuteHalves(b *builder, in *Inst) error {
	imm, err := imm8(in, 3)
	if err != nil {
		return err
	}
	d, x, y, err := b.binary()
	if err != nil {
		return err
	}
	var r []ir.Slot
	for range 2 {
		v := x
		if imm&2 != 0 {
			v = y
		}
		p := v.half(int(imm & 1)).pair
		if imm&8 != 0 {
			p = pair{ir.Zero, ir.Zero}
		}
		r = append(r, p[0], p[1])
		imm >>= 4
	}
	b.set(d, b.copies(r...))
	return nil
}

// permuteQuads is vpermq and vpermpd: quadwords of the source by immediate.
func permuteQuads(b *builder, in *Inst) error {
	imm, err := imm8(in, 2)
	if err != nil {
		return err
	}
	d, s, err := b.unary()
	if err != nil {
		return err
	}
	var r []ir.Slot
	for i := range 4 {
		r = append(r, s.slot[imm>>(2*i)&3])
	}
	b.set(d, b.copies(r...))
	return nil
}

// dword returns doubleword i of v.
func (b *builder) dword(v vec, i int) ir.Slot {
	if i&1 == 0 {
		return b.val(ir.Mov, 32, ir.Zero, v.slot[i/2], 0)
	}
	return b.upper(v.slot[i/2])
}

// choice returns the element of from that the lowest bits of n number.
func (b *builder) choice(n ir.Slot, from []ir.Slot) ir.Slot {
	for bit := uint64(0); len(from) > 1; bit++ {
		t := b.tmp()
		b.emit(ir.Uop{Op: ir.Get, W: 1, D: t, A: n, Imm: bit})
		var half []ir.Slot
		for i := 0; i < len(from); i += 2 {
			half = append(half, b.ite(8, t, from[i+1], from[i]))
		}
		from = half
	}
	return from[0]
}

// permuteDwords is vpermd and vpermps: doublewords of operand 2 by the numbers in operand 1.
func permuteDwords(b *builder, in *Inst) error {
	d, n, s, err := b.binary()
	if err != nil {
		return err
	}
	var from, r []ir.Slot
	for i := range 8 {
		from = append(from, b.dword(s, i))
	}
	for q := range 4 {
		keep := b.tmp()
		lo := b.choice(b.dword(n, 2*q), from)
		hi := b.choice(b.dword(n, 2*q+1), from)
		b.emit(ir.Uop{Op: ir.VPair, W: 64, D: keep, A: lo, B: hi})
		b.temp = keep + 1
		r = append(r, keep)
	}
	b.set(d, r)
	return nil
}

// permuteInHalf is vpermilps and vpermilpd: lanes of w bits of operand 1 within each half, by an immediate or by the numbers in operand 2.
func permuteInHalf(w int) lifter {
	return func(b *builder, in *Inst) error {
		imm, byImm := in.Args[2].(x86asm.Imm)
		d, x, err := b.unary()
		if err != nil {
			return err
		}
		var n vec
		if !byImm {
			if n, err = b.vecSource(2); err != nil {
				return err
			}
		}
		var r []ir.Slot
		for q := range d.quads() {
			p := x.half(q / 2).pair
			switch {
			case byImm && w == 64:
				r = append(r, p[imm>>q&1])
			case byImm:
				r = append(r, b.pick(p, uint64(imm)>>(q%2*4)&15))
			case w == 64:
				t := b.tmp()
				b.emit(ir.Uop{Op: ir.Get, W: 1, D: t, A: n.slot[q], Imm: 1})
				r = append(r, b.ite(8, t, p[1], p[0]))
			default:
				keep := b.tmp()
				from := []ir.Slot{p[0], b.upper(p[0]), p[1], b.upper(p[1])}
				lo := b.choice(n.slot[q], from)
				hi := b.choice(b.upper(n.slot[q]), from)
				b.emit(ir.Uop{Op: ir.VPair, W: 64, D: keep, A: lo, B: hi})
				b.temp = keep + 1
				r = append(r, keep)
			}
		}
		b.set(d, b.copies(r...))
		return nil
	}
}

// shiftEach is vpsllvd and its like: each lane of operand 1 by that of operand 2.
func shiftEach(op ir.Op, w int) lifter {
	return func(b *builder, in *Inst) error {
		return b.quadwise(2, func(s []ir.Slot) ir.Slot {
			if w == 64 {
				return b.val(op, 64, s[0], s[1], 0)
			}
			keep := b.tmp()
			lo := b.val(op, 32, s[0], b.val(ir.Mov, 32, ir.Zero, s[1], 0), 0)
			hi := b.val(op, 32, b.upper(s[0]), b.upper(s[1]), 0)
			b.emit(ir.Uop{Op: ir.VPair, W: 64, D: keep, A: lo, B: hi})
			b.temp = keep + 1
			return keep
		})
	}
}

// widenLanes is vpmovsx and vpmovzx, and vcvtps2pd and its like: op of each quadword of the result on the lanes of the source's lowest bits.
func widenLanes(op ir.Op, w, x int) lifter {
	return func(b *builder, in *Inst) error {
		d, s, err := b.unary()
		if err != nil {
			return err
		}
		var r []ir.Slot
		per := 64 / x // lanes of the result's quadword
		for q := range d.quads() {
			t := b.tmp()
			bit := q * per * w
			b.emit(ir.Uop{Op: op, W: uint8(w), X: uint8(x), D: t, A: s.slot[bit/64], Imm: uint64(bit % 64 / w)})
			r = append(r, t)
		}
		b.set(d, r)
		return nil
	}
}

// widenFloat maps the lowest doublewords to quadwords.
func widenFloat(u ir.Uop) lifter {
	return func(b *builder, in *Inst) error {
		d, s, err := b.unary()
		if err != nil {
			return err
		}
		var r []ir.Slot
		for q := range d.quads() {
			u.D, u.A = 0, b.dword(s, q)
			r = append(r, b.float(u))
		}
		b.set(d, r)
		return nil
	}
}

// narrowTo maps the quadwords of the source to doublewords.
func narrowTo(u ir.Uop) lifter {
	return func(b *builder, in *Inst) error {
		d, s, err := b.unary()
		if err != nil {
			return err
		}
		var r []ir.Slot
		for q := 0; q < s.quads(); q += 2 {
			u.D, u.A = 0, s.slot[q]
			lo := b.float(u)
			u.D, u.A = 0, s.slot[q+1]
			r = append(r, b.join(lo, b.float(u)))
		}
		b.set(d, r)
		return nil
	}
}

// clearAll is vzeroall; clearUppers vzeroupper.
func clearAll(b *builder, _ *Inst) error {
	for i := range 32 {
		b.mov(ir.X0+ir.Slot(i), ir.Zero)
	}
	return clearUppers(b, nil)
}

func clearUppers(b *builder, _ *Inst) error {
	for i := range 32 {
		b.mov(ir.Y0+ir.Slot(i), ir.Zero)
	}
	return nil
}
