package ir

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

// registers is a Machine of registers alone.
type registers struct {
	Machine
	r [NumSlots]uint64
}

func (m *registers) Reg() *[NumSlots]uint64 { return &m.r }

// shortAlphabet returns half of a string of few different elements, often with zeros.
func shortAlphabet(r *rand.Rand) (v uint64) {
	letters := []uint64{0, 1, 2, 0x80, 0xff}
	from, few := r.IntN(3), 1+r.IntN(2)
	for i := 0; i < 64; i += 8 {
		k := letters[from+r.IntN(few)]
		if r.IntN(16) == 0 {
			k = 0
		}
		v |= k << i
	}
	return v
}

// TestStrings compares the two meanings of the string compares, for every immediate that differs in them and each width of lengths: what is
// known of the operands is chosen at random, half by half. That Run is the processor's is cpucheck's to show.
func TestStrings(t *testing.T) {
	r := seed.Rand(t)
	row := &Helpers[Strings]
	for imm := range uint8(64) {
		for _, w := range []uint8{0, 32, 64} {
			e := expr.New()
			u := &Uop{Op: Helper, A: X0, B: X0 + 2, D: Temp0, X: imm, W: w, Imm: Strings}
			for range 3 {
				m := &registers{}
				var values expr.Assignment
				of := map[Slot]expr.Ref{}
				row.Slots(u, func(s Slot) {
					if v := e.Var(fmt.Sprint("s", s), 64); r.IntN(2) == 0 {
						of[s] = v
						return
					}
					m.r[s] = stringOperand(r, s)
					of[s] = e.Const(m.r[s], 64)
				}, func(Slot) {})
				out := row.Sym(e, u, func(s Slot) expr.Ref { return of[s] })
				for range 30 {
					values = make(expr.Assignment, e.NumVars())
					for s, ref := range of {
						if _, isConst := e.IsConst(ref); !isConst {
							m.r[s] = stringOperand(r, s)
							values[e.VarOf(ref)] = m.r[s]
						}
					}
					if err := row.Run(u, m); err != nil {
						t.Fatal(err)
					}
					for i, ref := range out {
						if got, want := e.Eval(ref, values), m.r[u.D+Slot(i)]; got != want {
							t.Fatalf("imm %#x, lengths of %d bits, %x %x %x %x %x %x: result %d is %#x, its expression %#x", imm, w,
								m.r[u.A], m.r[u.A+1], m.r[u.B], m.r[u.B+1], m.r[RAX], m.r[RDX], i, want, got)
						}
					}
				}
			}
		}
	}
}

func stringOperand(r *rand.Rand, s Slot) uint64 {
	if s != RAX && s != RDX {
		return shortAlphabet(r)
	}
	switch v := uint64(r.IntN(40) - 20); r.IntN(4) {
	case 0:
		return v << 32
	case 1:
		return 1 << 63 >> (32 * r.IntN(2))
	default:
		return v
	}
}
