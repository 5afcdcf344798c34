package lift_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"symchef/internal/cpucheck"
)

var special80 = []struct {
	sig uint64
	se  uint16
}{
	{0, 0}, {0, 0x8000}, {1 << 63, 0x3fff}, {1 << 63, 0xbfff}, {1 << 63, 0x7fff}, {1 << 63, 0xffff}, {3 << 62, 0xffff}, {3<<62 | 0x1234, 0x7fff},
	{1<<63 | 1, 0x7fff}, {1<<63 | 0x4321<<32, 0xffff}, {1, 0}, {1 << 62, 0x8000}, {1 << 63, 0}, {1<<63 | 1, 0}, {1 << 63, 1}, {^uint64(0), 0x7ffe}, {^uint64(0), 0xfffe},
	{1, 0x7fff}, {1 << 62, 0x4000}, {0, 0x4000}, {0, 0x7fff}, {^uint64(0), 0x401d}, {1 << 63, 0x401e}, {1 << 63, 0xc01e}, {1 << 63, 0xc03e}, {1 << 63, 0x403e}, {3 << 62, 0x3ffe},
}

// extended returns an 80-bit number.
func extended(r *rand.Rand) (uint64, uint16) {
	sign := uint16(r.IntN(2)) << 15
	sig := r.Uint64() | 1<<63
	if r.IntN(2) == 0 {
		sig = 1<<63 | sig&(^uint64(0)<<r.IntN(64))
	}
	switch r.IntN(6) {
	case 0:
		v := special80[r.IntN(len(special80))]
		return v.sig, v.se
	case 1:
		return sig, sign | uint16(r.IntN(0x7fff)+1)&0x7fff
	case 2: // integers and near
		return sig, sign | uint16(0x3ffc+r.IntN(70))
	case 3: // ends of the ranges of the formats
		return sig, sign | []uint16{1, 0x7ffe - 66, 0x3fff - 1022 - 60, 0x3fff + 1020, 0x3fff - 126 - 30, 0x3fff + 124}[r.IntN(6)] + uint16(r.IntN(66))
	case 4:
		if r.IntN(4) == 0 {
			return sig >> r.IntN(64), sign // denormals
		}
	}
	return sig, sign | uint16(0x3ff0+r.IntN(32))
}

// x87State makes states with a random stack and control word, all exceptions masked. Data holds a
// number of w bits at 0x210: 80 and 64 and 32 floats, 0 integers.
func x87State(w int) func(r *rand.Rand) cpucheck.State {
	return func(r *rand.Rand) cpucheck.State {
		s := cpucheck.Random(r)
		cw := uint16(0x7f) | []uint16{0, 2, 3, 3}[r.IntN(4)]<<8 | uint16(r.IntN(4))<<10
		tag := uint8(0xff)
		if r.IntN(6) == 0 {
			tag = uint8(r.Uint32())
		}
		sw := uint16(r.Uint32()) & 0x7f7f
		if r.IntN(2) == 0 {
			sw &^= 0x7f
		}
		s.SetX87(cw, sw, tag)
		for i := range 8 {
			sig, se := extended(r)
			s.SetST(i, sig, se)
		}
		if r.IntN(8) == 0 {
			sig, se := s.ST(0)
			s.SetST(1, sig, se^uint16(r.IntN(2))<<15)
		}
		if r.IntN(2) == 0 { // comparable exponents
			sig, se := s.ST(1)
			_, e0 := s.ST(0)
			if sig>>63 != 0 && e0&0x7fff > 70 && e0&0x7fff < 0x7f00 {
				s.SetST(1, sig, e0+uint16(r.IntN(130))-65)
				_ = se
			}
		}
		p := s.Data[0x210:]
		switch w {
		case 80:
			sig, se := extended(r)
			binary.LittleEndian.PutUint64(p, sig)
			binary.LittleEndian.PutUint16(p[8:], se)
		case 64:
			binary.LittleEndian.PutUint64(p, double(r))
		case 32:
			binary.LittleEndian.PutUint32(p, uint32(single(r)))
		}
		return s
	}
}

// room is x87State with at least one empty register in half of the states, for pushes.
func room(w int) func(r *rand.Rand) cpucheck.State {
	gen := x87State(w)
	return func(r *rand.Rand) cpucheck.State {
		s := gen(r)
		if r.IntN(8) != 0 {
			top := s.FSW() >> 11 & 7
			s.SetX87(s.FCW(), s.FSW(), s.FTag()&^(1<<((top+7)&7)))
		}
		return s
	}
}

func TestX87(t *testing.T) {
	const n = 500
	form := cpucheck.Form{X87: true}
	run := func(name string, gen func(r *rand.Rand) cpucheck.State, lines []string) {
		t.Run(name, func(t *testing.T) { checkForms(t, testRand(t), lines, n, form, gen) })
	}
	arith := each("fadd fsub fsubr fmul fdiv fdivr", "%st(1), %st", "%st, %st(1)", "%st(0), %st", "%st, %st(5)")
	arith = append(arith, each("faddp fsubp fsubrp fmulp fdivp fdivrp", "%st, %st(1)", "%st, %st(3)", "%st, %st(0)")...)
	run("arithmetic", x87State(0), arith)
	run("m32", x87State(32), each("fadds fsubs fsubrs fmuls fdivs fdivrs fcoms fcomps", "16(%rbx)"))
	run("m64", x87State(64), each("faddl fsubl fsubrl fmull fdivl fdivrl fcoml fcompl", "16(%rbx)"))
	run("int", x87State(0), each("fiadds fisubs fisubrs fimuls fidivs fidivrs ficoms ficomps fiaddl fisubl fisubrl fimull fidivl fidivrl ficoml ficompl", "16(%rbx)"))
	run("unary", x87State(0), []string{"fchs", "fabs", "fsqrt", "frndint", "fscale", "fprem", "fprem1", "ftst", "fxam", "fnop", "fincstp", "fdecstp", "fnclex", "fninit",
		"ffree %st(2)", "ffreep %st(1)", "fxch %st(1)", "fxch %st(4)", "fxch %st(0)"})
	run("fxtract", room(0), []string{"fxtract"})
	run("transcendental", room(0), []string{"f2xm1", "fyl2x", "fyl2xp1", "fptan", "fpatan", "fsin", "fcos", "fsincos"})
	cmp := each("fcom fcomp fucom fucomp", "%st(1)", "%st(4)")
	cmp = append(cmp, each("fcomi fcomip fucomi fucomip fcmovb fcmovnb fcmove fcmovne fcmovbe fcmovnbe fcmovu fcmovnu", "%st(1), %st", "%st(6), %st")...)
	run("compare", x87State(0), append(cmp, "fcompp", "fucompp"))
	run("push", room(0), []string{"fld1", "fldz", "fldpi", "fldl2e", "fldl2t", "fldlg2", "fldln2", "fld %st(0)", "fld %st(3)", "filds 16(%rbx)", "fildl 16(%rbx)", "fildll 16(%rbx)"})
	run("fld32", room(32), []string{"flds 16(%rbx)"})
	run("fld64", room(64), []string{"fldl 16(%rbx)"})
	run("fld80", room(80), []string{"fldt 16(%rbx)"})
	run("store", x87State(0), append(each("fsts fstps fstl fstpl fstpt fists fistps fistl fistpl fistpll fisttps fisttpl fisttpll", "16(%rbx)"),
		"fst %st(2)", "fstp %st(0)", "fstp %st(3)", "fstpl 0", "fistpl 0"))
	run("control", x87State(0), []string{"fnstcw 16(%rbx)", "fnstsw %ax", "fnstsw 16(%rbx)", "fwait", "orw $0x3f, 16(%rbx); fldcw 16(%rbx)",
		"fnstenv 16(%rbx); movl $0, 28(%rbx); movl $0, 32(%rbx); movl $0, 36(%rbx); movl $0, 40(%rbx)",
		"orw $0x3f, 16(%rbx); fldenv 16(%rbx)"})
	run("fxsave", func(r *rand.Rand) cpucheck.State {
		s := x87State(0)(r)
		copy(s.Data[0x200:], s.FX[:])
		binary.LittleEndian.PutUint32(s.Data[0x200+24:], 0x1f80|r.Uint32()&0xe07f)
		return s
	}, []string{"fxsave64 (%rbx); movq $0, 8(%rbx); movq $0, 16(%rbx); movw $0, 6(%rbx); movl $0xffff, 28(%rbx)", "fxrstor64 (%rbx)"})
}
