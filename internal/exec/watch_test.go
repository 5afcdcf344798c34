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

// TestWatchedTarget: a block that is only its watched branch is compiled; where its target is symbolic that is decided, and the watcher sees the branch once it is.
func TestWatchedTarget(t *testing.T) {
	const one, two = codeBase + 0x20, codeBase + 0x40
	e := expr.New()
	m := exec.New(e)
	m.CompileAfter = 1
	var seen []uint64
	m.Watch = func(*mem.Space, uint64) exec.Watcher {
		return func(_ *kernel.System, _ *mem.Space, _ *cpu.CPU, target uint64) { seen = append(seen, target) }
	}
	m.Notes = new(exec.Notes)
	m.Trace = func(*mem.Space, uint64) *exec.Trace {
		return &exec.Trace{Value: exec.Place{Slot: ir.RCX}, To: m.Notes}
	}
	m.Noted = func(*kernel.System) { t.Error("a note of no activation") }
	st := boot(t, rx, 0xff, 0xe0) // jmp *%rax; hlt
	way := e.Var("way", 1)
	for i, symbolic := range []bool{false, true, false, true} {
		st := st.Fork()
		st.Resume(e)
		c, _ := parts(st)
		c.Set(ir.RAX, one)
		if symbolic {
			st.Model = expr.Assignment{1}
			c.SetSym(ir.RAX, two, e.Ite(way, e.Const(two, 64), e.Const(one, 64)))
		}
		compiled := m.Stats.Compiled
		stop := m.Run(st.Sys, &st.Facts, 1<<20)
		if symbolic {
			if stop.Kind != exec.Decide || stop.Decision != exec.Target || stop.PC != codeBase || len(seen) != i {
				t.Fatalf("run %d: %+v, %d branches seen", i, stop, len(seen))
			}
			decide(t, e, st, stop)
			stop = m.Run(st.Sys, &st.Facts, 1<<20)
		}
		if stop.Kind != exec.Exited || len(seen) != i+1 || seen[i] != map[bool]uint64{false: one, true: two}[symbolic] {
			t.Errorf("run %d: %+v, branches seen to %#x", i, stop, seen)
		}
		if i == 0 && m.Stats.Compiled == compiled {
			t.Error("the branch is not compiled")
		}
	}
}
