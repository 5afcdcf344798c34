package exec_test

import (
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// TestWatch: a watcher sees every execution of the branch it was given for, before it is taken, and no other.
func TestWatch(t *testing.T) {
	const loop, fn = codeBase + 12, codeBase + 0x40
	st := boot(t, rx, append([]byte{
		0xb9, 3, 0, 0, 0, // mov $3, %ecx
		0x48, 0x8d, 0x15, 0x34, 0, 0, 0, // lea fn, %rdx
		0xff, 0xd2, // loop: call *%rdx
		0xff, 0xc9, // dec %ecx
		0x75, 0xfa, // jne loop
	}, make([]byte, 0x40-18)...)...)
	c, s := parts(st)
	if err := s.Poke(fn, []byte{0xc3}); err != nil { // ret
		t.Fatal(err)
	}
	if err := s.Poke(codeBase+18, []byte{0xf4}); err != nil { // hlt
		t.Fatal(err)
	}
	m := exec.New(expr.New())
	var asked []uint64
	seen := 0
	m.Watch = func(_ *mem.Space, site uint64) exec.Watcher {
		asked = append(asked, site)
		if site != loop {
			return nil
		}
		return func(_ *kernel.System, s *mem.Space, at *cpu.CPU, target uint64) {
			seen++
			ret, err := s.ReadU(at.R[ir.RSP], 8)
			if at != c || target != fn || err != nil || ret != loop+2 || at.R[ir.RCX] != uint64(4-seen) {
				t.Errorf("call %d: target %#x, return to %#x, count %d", seen, target, ret, at.R[ir.RCX])
			}
		}
	}
	finish(t, m, st)
	// The block at loop is lifted twice: as the tail of the first block, and as a target.
	if seen != 3 || len(asked) != 3 || asked[0] != loop || asked[1] != fn || asked[2] != loop {
		t.Errorf("%d calls, asked about %#x", seen, asked)
	}
}
