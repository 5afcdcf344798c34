package lift_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	str "strings"
	"testing"
	"time"

	"symchef/internal/cpucheck"
)

// testRand returns a source whose seed is logged.
func testRand(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %#x", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// checkForms checks every line, on states that gen makes.
func checkForms(t *testing.T, r *rand.Rand, lines []string, n int, form cpucheck.Form, gen func(r *rand.Rand) cpucheck.State) {
	cpu := cpucheck.New(t)
	bad := 0
	for i, code := range cpucheck.Assemble(t, lines) {
		states := make([]cpucheck.State, n)
		for j := range states {
			states[j] = gen(r)
		}
		form.Name, form.Code = lines[i], code
		bad += cpu.Check(t, form, states)
	}
	t.Logf("%d forms, %d states each, %d differ", len(lines), n, bad)
}

// each expands "op" to "op args" for the operand lists given.
func each(ops string, args ...string) []string {
	var r []string
	for _, op := range str.Fields(ops) {
		for _, a := range args {
			r = append(r, op+" "+a)
		}
	}
	return r
}

// similar makes xmm1 and memory differ from xmm2 in few bytes only, so that comparisons see equal lanes.
func similar(r *rand.Rand) cpucheck.State {
	s := cpucheck.Random(r)
	if r.IntN(2) == 0 {
		lo, hi := s.XMM(2)
		m := uint64(0xff) << (8 * r.IntN(8))
		lo, hi = lo^r.Uint64()&m, hi^1<<r.IntN(64)
		s.SetXMM(1, lo, hi)
		binary.LittleEndian.PutUint64(s.Data[0x210:], lo)
		binary.LittleEndian.PutUint64(s.Data[0x218:], hi)
	}
	return s
}

func TestSSEInteger(t *testing.T) {
	two := []string{"%xmm1, %xmm2", "%xmm9, %xmm14", "%xmm3, %xmm3", "16(%rbx), %xmm2"}
	lines := each("paddb paddw paddd paddq psubb psubw psubd psubq paddsb paddsw paddusb paddusw psubsb psubsw psubusb psubusw "+
		"pmullw pmulhw pmulhuw pmuludq pmaddwd psadbw pavgb pavgw pminub pmaxub pminsw pmaxsw pcmpeqb pcmpeqw pcmpeqd "+
		"pcmpgtb pcmpgtw pcmpgtd pand pandn por pxor andps andpd andnps andnpd orps orpd xorps xorpd "+
		"packsswb packssdw packuswb punpcklbw punpcklwd punpckldq punpcklqdq punpckhbw punpckhwd punpckhdq punpckhqdq "+
		"unpcklps unpckhps unpcklpd unpckhpd", two...)
	lines = append(lines, each("psllw pslld psllq psrlw psrld psrlq psraw psrad", "$0, %xmm1", "$3, %xmm1", "$15, %xmm8", "$31, %xmm1",
		"$63, %xmm1", "$200, %xmm1", "%xmm1, %xmm2", "%xmm4, %xmm4", "16(%rbx), %xmm2")...)
	lines = append(lines, each("pslldq psrldq", "$0, %xmm1", "$1, %xmm1", "$7, %xmm1", "$8, %xmm9", "$9, %xmm1", "$15, %xmm1", "$16, %xmm1", "$255, %xmm1")...)
	lines = append(lines, each("pmovmskb movmskps movmskpd", "%xmm1, %eax", "%xmm9, %r9d")...)
	lines = append(lines, each("pshufd pshuflw pshufhw shufps shufpd", "$0x1b, %xmm1, %xmm2", "$0xe4, %xmm1, %xmm2", "$0x4e, %xmm3, %xmm3", "$0x93, 16(%rbx), %xmm2")...)
	lines = append(lines, "pinsrw $0, %eax, %xmm1", "pinsrw $5, %ecx, %xmm9", "pinsrw $7, 6(%rbx), %xmm1", "pextrw $0, %xmm1, %eax", "pextrw $6, %xmm9, %r8d",
		"maskmovdqu %xmm1, %xmm2", "maskmovdqu %xmm9, %xmm10")
	checkForms(t, testRand(t), lines, 300, cpucheck.Form{}, similar)
}

func TestSSEMoves(t *testing.T) {
	lines := each("movaps movups movapd movupd movdqa movdqu movss movsd movq", "%xmm1, %xmm2", "%xmm9, %xmm2", "16(%rbx), %xmm12", "%xmm3, -32(%rbx)")
	lines = append(lines, each("movups movupd movdqu movss movsd movq", "3(%rbx), %xmm1", "%xmm1, 5(%rbx)", "%xmm1, %gs:(0x101)")...)
	lines = append(lines, each("movlps movhps movlpd movhpd", "3(%rbx), %xmm1", "%xmm11, 5(%rbx)")...)
	lines = append(lines, each("movhlps movlhps", "%xmm1, %xmm2", "%xmm9, %xmm9")...)
	lines = append(lines, each("movntdq movntps movntpd", "%xmm1, 16(%rbx)")...)
	lines = append(lines, "movnti %eax, 3(%rbx)", "movnti %r9, 3(%rbx)", "movd %eax, %xmm1", "movd %r9d, %xmm9", "movd 3(%rbx), %xmm1", "movd %xmm1, 3(%rbx)",
		"movd %xmm9, %r9d", "movq %rax, %xmm1", "movq %xmm9, %r9", "emms", "movaps 0, %xmm1", "movsd %xmm1, 0",
		"stmxcsr 4(%rbx)", "movl $0x9fa5, (%rbx); ldmxcsr (%rbx)", "movl $0x10000, (%rbx); ldmxcsr (%rbx)")
	checkForms(t, testRand(t), lines, 200, cpucheck.Form{}, cpucheck.Random)
}

// special64 are doubles where results change kind; special32 floats.
var special64 = []uint64{0, 1 << 63, 0x3ff << 52, 0xbff << 52, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0xfff8000000001234, 0x7ff0000000000001, 0xfff7ffffffffffff,
	1, 1<<63 | 1, 0xfffffffffffff, 0x10000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
	math.Float64bits(0.5), math.Float64bits(1.5), math.Float64bits(2.5), math.Float64bits(-0.5), math.Float64bits(1 << 31), math.Float64bits(1<<31 - 0.5),
	math.Float64bits(-(1 << 31) - 0.5), math.Float64bits(-(1 << 31) - 1), math.Float64bits(1 << 63), math.Float64bits(-(1 << 63)), math.Float64bits(1<<63 - 1024),
	math.Float64bits(1e-40), math.Float64bits(math.MaxFloat32), math.Float64bits(math.SmallestNonzeroFloat32 / 2), math.Float64bits(0x1p-126), math.Float64bits(0x1.ffffffp-127)}

var special32 = []uint32{0, 1 << 31, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc01234, 0x7f800001, 0xffbfffff, 1, 0x80000001, 0x7fffff, 0x800000,
	0x7f7fffff, 0xff7fffff, math.Float32bits(0.5), math.Float32bits(1.5), math.Float32bits(2.5), math.Float32bits(1 << 31), math.Float32bits(-(1 << 31)), math.Float32bits(1 << 63)}

func double(r *rand.Rand) uint64 {
	switch r.IntN(5) {
	case 0:
		return special64[r.IntN(len(special64))]
	case 1: // near 1, few bits
		return (0x3ff-8+r.Uint64N(16))<<52 | r.Uint64()&0xfff<<40 | r.Uint64()&1<<63
	case 2: // integers
		return math.Float64bits(float64(int64(cpucheck.Value(r))))
	case 3: // near the ends of the range
		return []uint64{0, 0x7fd << 52, 0x380 << 52, 0x47c << 52, 0x1ff << 52, 0x5ff << 52}[r.IntN(6)] + r.Uint64()&(1<<54-1) | r.Uint64()&1<<63
	}
	return r.Uint64()
}

func single(r *rand.Rand) uint64 {
	switch r.IntN(5) {
	case 0:
		return uint64(special32[r.IntN(len(special32))])
	case 1:
		return (0x7f-8+r.Uint64N(16))<<23 | r.Uint64()&0xff<<15 | r.Uint64()&1<<31
	case 2:
		return uint64(math.Float32bits(float32(int32(cpucheck.Value(r)))))
	case 3:
		return []uint64{0, 0x7d << 24, 0x3f << 23, 0xbf << 23}[r.IntN(4)] + r.Uint64()&(1<<25-1) | r.Uint64()&1<<31
	}
	return r.Uint64() & 0xffffffff
}

// floatState makes states of doubles or floats in random MXCSR modes. The status
// flags are all set before, since the lifter does not set them.
func floatState(w int, modes []uint32) func(r *rand.Rand) cpucheck.State {
	return func(r *rand.Rand) cpucheck.State {
		s := cpucheck.Random(r)
		v := func() uint64 {
			if w == 64 {
				return double(r)
			}
			return single(r) | single(r)<<32
		}
		for i := range 16 {
			s.SetXMM(i, v(), v())
		}
		for i := 0x200; i < 0x240; i += 8 {
			binary.LittleEndian.PutUint64(s.Data[i:], v())
		}
		if r.IntN(4) == 0 { // equal operands
			lo, hi := s.XMM(1)
			s.SetXMM(2, lo, hi)
		}
		s.SetMXCSR(0x1fbf | modes[r.IntN(len(modes))])
		return s
	}
}

func TestSSEFloat(t *testing.T) {
	two := []string{"%xmm1, %xmm2", "%xmm9, %xmm14", "%xmm3, %xmm3", "16(%rbx), %xmm2"}
	forms64 := each("addsd addpd subsd subpd mulsd mulpd divsd divpd sqrtsd sqrtpd minsd minpd maxsd maxpd comisd ucomisd cvtsd2ss cvtpd2ps cvtpd2dq cvttpd2dq", two...)
	forms32 := each("addss addps subss subps mulss mulps divss divps sqrtss sqrtps minss minps maxss maxps comiss ucomiss cvtss2sd cvtps2pd cvtps2dq cvttps2dq", two...)
	for _, p := range str.Fields("eq lt le unord neq nlt nle ord") {
		forms64 = append(forms64, each("cmp"+p+"sd cmp"+p+"pd", two...)...)
		forms32 = append(forms32, each("cmp"+p+"ss cmp"+p+"ps", two...)...)
	}
	forms64 = append(forms64, each("cvtsd2si cvttsd2si", "%xmm1, %eax", "%xmm9, %r9", "16(%rbx), %eax", "16(%rbx), %rax")...)
	forms32 = append(forms32, each("cvtss2si cvttss2si", "%xmm1, %eax", "%xmm9, %r9", "16(%rbx), %eax", "16(%rbx), %rax")...)
	ints := each("cvtsi2sd cvtsi2ss", "%eax, %xmm1", "%r9, %xmm9")
	ints = append(ints, each("cvtsi2sdl cvtsi2sdq cvtsi2ssl cvtsi2ssq", "4(%rbx), %xmm1")...)
	ints = append(ints, each("cvtdq2ps cvtdq2pd", two...)...)
	for _, m := range []struct {
		name  string
		modes []uint32
	}{
		{"nearest", []uint32{0}},
		{"modes", []uint32{0x2000, 0x4000, 0x6000}},
		{"zeroing", []uint32{0x40, 0x8000, 0x8040, 0xa040, 0xc000, 0xe040}},
	} {
		t.Run(m.name, func(t *testing.T) {
			r := testRand(t)
			checkForms(t, r, forms64, 400, cpucheck.Form{}, floatState(64, m.modes))
			checkForms(t, r, forms32, 400, cpucheck.Form{}, floatState(32, m.modes))
			checkForms(t, r, ints, 400, cpucheck.Form{}, func(r *rand.Rand) cpucheck.State {
				s := cpucheck.Random(r)
				s.SetMXCSR(0x1fbf | m.modes[r.IntN(len(m.modes))])
				return s
			})
		})
	}
}
