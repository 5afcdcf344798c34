package lift_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"symchef/internal/cpucheck"
)

func TestSmoke(t *testing.T) {
	cpu := cpucheck.New(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %#x", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	lines := []string{"add %rcx, %rax", "mov (%rbx), %eax", "push %rax", "rep movsb", "jz .+4; nop; nop; nop", "div %ecx", "bsf %ecx,%edx", "mov 0, %eax"}
	for i, code := range cpucheck.Assemble(t, lines) {
		states := make([]cpucheck.State, 200)
		for j := range states {
			states[j] = cpucheck.Random(r)
			if lines[i] == "rep movsb" {
				states[j].GPR[1] &= 31
			}
		}
		cpu.Check(t, cpucheck.Form{Name: lines[i], Code: code}, states)
	}
}
