package jit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"symchef/internal/ir"
	"symchef/internal/lift"
)

// since says with which level instructions of compiled code came, as the manual has it (SDM vol. 1, 5.9 to 5.12).
var since = map[level]string{
	ssse3: "PSHUFB PSIGNB PSIGNW PSIGND PABSB PABSW PABSD PMULHRSW PMADDUBSW",
	sse41: "PMULLD PCMPEQQ PMINSB PMINSD PMINUW PMINUD PMAXSB PMAXSD PMAXUW PMAXUD PACKUSDW PHMINPOSUW MPSADBW PBLENDVB BLENDVPS BLENDVPD " +
		"PMOVSXBW PMOVSXBD PMOVSXBQ PMOVSXWD PMOVSXWQ PMOVSXDQ PMOVZXBW PMOVZXBD PMOVZXBQ PMOVZXWD PMOVZXWQ PMOVZXDQ ROUNDSS ROUNDSD",
	sse42: "PCMPGTQ CRC32 POPCNT",
}

// TestLevels: compiled code has no instruction that a host of a level lacks, and all of a level are used by some form.
func TestLevels(t *testing.T) {
	defer func(l level) { host = l }(host)
	atFirst := map[string]bool{}
	for l := sse2; l <= sse42; l++ {
		host = l
		used := instructions(t)
		for later, ops := range since {
			for op := range strings.FieldsSeq(ops) {
				if used[op] != (later <= l) {
					t.Errorf("level %d: %s, of level %d, is used: %v", l, op, later, used[op])
				}
				delete(used, op)
			}
		}
		if l == sse2 {
			atFirst = used
		}
		for op := range used {
			if !atFirst[op] {
				t.Errorf("%s, used at level %d, has no level", op, l)
			}
		}
	}
}

// instructions returns those that the forms are compiled to.
func instructions(t *testing.T) map[string]bool {
	used := map[string]bool{}
	eachForm(rand.New(rand.NewPCG(1, 2)), 1, func(name string, code []byte) {
		b := lifted(t, code)
		for i := range b.Uops {
			g := newGen(&Source{Block: b, Flags: ir.MakeCC(ir.CCFlags, 64)}, 1)
			if !g.uop(&b.Uops[i], i) {
				continue
			}
			for at := 0; at < len(g.b); {
				op, n := lift.Op(g.b[at:])
				if n == 0 {
					t.Fatalf("%s: no instruction: % x", name, g.b[at:])
				}
				used[op.String()] = true
				at += n
			}
		}
	})
	return used
}
