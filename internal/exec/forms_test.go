package exec_test

import (
	"bytes"
	"fmt"
	"testing"

	"symchef/internal/cpucheck"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/seed"
)

// TestForms executes every form of the instruction table in the machine and on the processor. Package cpucheck
// does so on more states with the reference interpreter.
func TestForms(t *testing.T) {
	const cases, statesPerCase = 5, 10
	r := cpucheck.NewRand(seed.Rand(t).Uint64(), 0)
	cpu := cpucheck.New(t)
	m := exec.New(expr.New())
	m.CompileAfter = 1
	m.Processor = ir.V3
	base := boot(t, rx) // its pages are those of package cpucheck
	hlt := bytes.Repeat([]byte{0xf4}, guest.PageSize)
	run := func(code []byte, before, after *cpucheck.State) error {
		st := base.Fork()
		st.Resume(m.Ctx)
		c, s := parts(st)
		s.Poke(cpucheck.CodePage, hlt)
		s.Poke(cpucheck.CodeBase, code)
		s.Poke(cpucheck.DataBase, before.Data[:])
		s.Poke(cpucheck.StackBase, before.Stack[:])
		before.Registers(&c.R)
		c.PC = cpucheck.CodeBase
		if stop := m.Run(st.Sys, &st.Facts, 1<<16); stop.Kind != exec.Exited {
			return fmt.Errorf("%+v", stop)
		}
		after.RIP, after.Signal = c.PC, uint64(st.Sys.ExitStatus().Signal)
		if off := c.PC - cpucheck.CodePage; off < guest.PageSize && c.PC-cpucheck.CodeBase >= uint64(len(code)) {
			after.Signal = 0 // the hlt after the code
		}
		after.SetRegisters(&c.R)
		s.Read(cpucheck.DataBase, after.Data[:])
		s.Read(cpucheck.StackBase, after.Stack[:])
		return nil
	}
	differ := 0
	for _, e := range cpucheck.Forms() {
		if cpucheck.Modelled[e.Op] != "" {
			continue
		}
		for range cases {
			c, ok := e.Case(r.Rand)
			if !ok {
				t.Errorf("%s: no encoding that can run", e.Name)
				break
			}
			c.Check.Run = run
			differ += cpu.Check(t, c.Check, statesPerCase, func(_ int, s *cpucheck.State) { c.State(r, s) })
		}
	}
	t.Logf("%d forms, %d states each, %d differ", len(cpucheck.Forms()), cases*statesPerCase, differ)
}
