// Package cpu is a task's register file: concrete values with expressions
// beside the symbolic ones.
package cpu

import (
	"symchef/internal/expr"
	"symchef/internal/ir"
)

// CPU is the processor state of one task; it is copied at a fork.
type CPU struct {
	PC uint64
	// R holds the value of every slot under the state's current assignment.
	R [ir.NumSlots]uint64
	// S holds the 64-bit wide expression of each slot in Sym; entries outside Sym mean nothing.
	S [ir.NumSlots]expr.Ref
	// Sym is the set of symbolic slots; temporaries are in it only within a block.
	Sym ir.SlotSet
	// Call is where the return address stands of a call that is to give one result (model one-result); 0: there is none.
	Call uint64
}

// InCall reports whether the task is in a call that is to give one result.
func (c *CPU) InCall() bool { return c.Call != 0 && c.R[ir.RSP] <= c.Call }

// Set makes slot s concrete with value v.
func (c *CPU) Set(s ir.Slot, v uint64) {
	c.R[s] = v
	c.Sym.Remove(s)
}

// SetSym makes slot s symbolic: expression r, whose value is v.
func (c *CPU) SetSym(s ir.Slot, v uint64, r expr.Ref) {
	c.R[s], c.S[s] = v, r
	c.Sym.Add(s)
}

// Rebase gives every symbolic slot the value that eval returns for its expression.
func (c *CPU) Rebase(eval func(expr.Ref) uint64) {
	c.Sym.Each(func(s ir.Slot) { c.R[s] = eval(c.S[s]) })
}
