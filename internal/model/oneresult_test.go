package model

import (
	"slices"
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// TestOneResultFrame: a call of a modelled function leaves what it would leave without the model: the stack, where it returns to, and its result, which addresses may decide
// from then on. A call within it is none of its own.
func TestOneResultFrame(t *testing.T) {
	const stack, function, inner, caller, own = 0x20000, 0x5000, 0x6000, 0x7000, 0x1010
	s := mem.NewSpace()
	if err := s.Map(stack-guest.PageSize, 2*guest.PageSize, guest.ProtRead|guest.ProtWrite, nil, 0, ""); err != nil {
		t.Fatal(err)
	}
	m, facts := exec.New(expr.New()), exec.Facts{Fixed: map[expr.Ref]uint64{}}
	m.Concretize(s, &facts, 0, 0)
	hooks := Binding{Name: "one-result", Slot: function, Places: map[string][]uint64{"inner": {inner}}}.Hooks(own)
	var c cpu.CPU
	call := func(fn, back uint64) {
		c.Set(ir.RSP, c.R[ir.RSP]-8)
		if err := s.WriteU(c.R[ir.RSP], back, 8); err != nil {
			t.Fatal(err)
		}
		c.PC = fn
		if handled, stop := hooks[fn](m, &c, s); handled || stop != nil || c.PC != fn {
			t.Fatalf("the stock function does not run: %v, %+v", handled, stop)
		}
	}
	back := func() {
		pc, err := s.ReadU(c.R[ir.RSP], 8)
		if err != nil {
			t.Fatal(err)
		}
		c.PC = pc
		c.Set(ir.RSP, c.R[ir.RSP]+8)
	}
	c.Set(ir.RSP, stack)
	call(function, caller)
	if !c.InCall() || c.R[ir.RSP]%16 != 8 {
		t.Fatalf("in a call: %v, stack %#x", c.InCall(), c.R[ir.RSP])
	}
	call(inner, function+1)
	if back(); c.PC != function+1 || !c.InCall() {
		t.Errorf("a call within returns to %#x, in a call: %v", c.PC, c.InCall())
	}
	e := m.Ctx
	result := e.Ite(e.Var("a", 1), e.Const(7, 64), e.Ite(e.Var("b", 1), e.Const(9, 64), e.Const(12, 64)))
	c.SetSym(ir.RAX, 9, result)
	if back(); c.PC != own {
		t.Fatalf("the function returns to %#x", c.PC)
	}
	if handled, stop := hooks[own](m, &c, s); !handled || stop != nil {
		t.Fatalf("%v, %+v", handled, stop)
	}
	if c.PC != caller || c.R[ir.RSP] != stack || c.InCall() || !c.Sym.Has(ir.RAX) || c.S[ir.RAX] != result || c.R[ir.RAX] != 9 {
		t.Errorf("at %#x, stack %#x, in a call: %v, result %d %d", c.PC, c.R[ir.RSP], c.InCall(), c.R[ir.RAX], c.S[ir.RAX])
	}
	if !slices.Equal(facts.Results, []expr.Ref{result}) {
		t.Errorf("results %v", facts.Results)
	}
}
