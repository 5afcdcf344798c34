package lift

import "symchef/internal/ir"

// coalesce removes the copy in `t = op ...; r = t`, the shape in which most rows of the
// tables leave an instruction: op writes register r itself, and what reads t later reads r.
//
// Between op and the copy there may only be uops that cannot stop and neither read nor write r: a
// fault or a decision must find r as it was before the instruction. Temporaries are dead
// behind their instruction, so one instruction at a time is enough.
func coalesce(blk *ir.Block) {
	keep := make([]bool, len(blk.Uops))
	for i := range keep {
		keep[i] = true
	}
	for n, mark := range blk.Insns {
		end := len(blk.Uops)
		if n+1 < len(blk.Insns) {
			end = int(blk.Insns[n+1].Uop)
		}
		us := blk.Uops[mark.Uop:end]
		for j := range us {
			if def, ok := coalescable(us, j); ok {
				t, r := us[j].B, us[j].D
				us[def].D = r
				for k := def + 1; k < len(us); k++ {
					rename(&us[k], t, r)
				}
				keep[int(mark.Uop)+j] = false
				us[j] = ir.Uop{Op: ir.Mov, D: r, A: ir.Zero, B: r, W: 64} // until it is dropped
			}
		}
	}
	compact(blk, keep)
}

// coalescable reports whether us[j] is a copy that coalesce may remove, and where its source is computed.
func coalescable(us []ir.Uop, j int) (def int, ok bool) {
	mv := &us[j]
	t, r := mv.B, mv.D
	if mv.Op != ir.Mov || mv.Imm != 0 || t < ir.Temp0 || !ownRegister(r) {
		return 0, false
	}
	if def, ok = onlyWriter(us, t); !ok || def >= j || us[def].D != t || !fits(&us[def], mv.W) {
		return 0, false
	}
	for k := range us {
		u := &us[k]
		switch {
		case k > def && k < j && (!harmless(u) || reads(u, r) || writes(u, r)):
			return 0, false
		case k > def && k != j && reads(u, t) && u.Op == ir.Helper:
			return 0, false // its operands are its own business
		case k > j && writes(u, r):
			for _, v := range us[k:] {
				if reads(&v, t) {
					return 0, false
				}
			}
		}
	}
	return def, true
}

// ownRegister reports whether r is a register that nothing but the guest's code looks at: not flags, not what floats depend on.
func ownRegister(r ir.Slot) bool {
	return r <= ir.R15 || r >= ir.X0 && r < ir.FPR || r >= ir.Y0 && r < ir.NumState
}

// onlyWriter returns the one uop that writes t; false if there is none, or more than one.
func onlyWriter(us []ir.Uop, t ir.Slot) (def int, ok bool) {
	for k := range us {
		if writes(&us[k], t) {
			if ok {
				return 0, false
			}
			def, ok = k, true
		}
	}
	return def, ok
}

// fits reports whether u's result has no bits from bit w on.
func fits(u *ir.Uop, w uint8) bool {
	switch u.Op {
	case ir.Load, ir.Mov, ir.Lea, ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor, ir.Not, ir.Neg, ir.Shl, ir.LShr, ir.AShr, ir.Get:
		return u.W <= w
	case ir.Sx:
		return u.X <= w
	}
	return w == 64 && ir.RowOf(u.Op) != nil
}

// harmless reports whether u can neither fault nor ask for a decision.
func harmless(u *ir.Uop) bool {
	return u.Op == ir.SetCC || ir.RowOf(u.Op) != nil
}

func reads(u *ir.Uop, s ir.Slot) (found bool) {
	u.Uses(func(x ir.Slot) { found = found || x == s })
	return found
}

func writes(u *ir.Uop, s ir.Slot) (found bool) {
	u.Defs(func(x ir.Slot) { found = found || x == s })
	return found
}

// rename makes u read r where it reads t.
func rename(u *ir.Uop, t, r ir.Slot) {
	for _, f := range []*ir.Slot{&u.A, &u.B, &u.C} {
		if *f == t {
			*f = r
		}
	}
	if u.Op == ir.SetCCIf && u.D == t {
		u.D = r
	}
}
