package model

import (
	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Interning, where it may fail: the object that a string is replaced by is found by hash and content, so a string with symbolic bytes would
// split the path once for each string that it may be.
//
// Exact, because the function that interns is one that may fail for lack of memory, and its caller then goes on with the string as it is. Whether a
// string is interned shows in nothing but addresses and time: comparisons of strings that are not both interned look at contents.
//
// Test: TestDeclineSymbolic executes the stock function with the model's answer and with its own, and what the interpreter then says of the
// strings is the same.

// declineSymbolic models a function f(rdi, rsi) that may fail for lack of
// memory: it returns NULL if rdi is the object in the variable at b.Slot and the
// object rsi (its length and payload at the offsets of these names) has symbolic bytes.
func declineSymbolic(b Binding) exec.Hook {
	return func(_ *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
		obj, err := s.ReadU(b.Slot, 8)
		if err != nil || c.Sym.Has(ir.RDI) || c.Sym.Has(ir.RSI) || c.R[ir.RDI] != obj {
			return false, nil
		}
		key := c.R[ir.RSI]
		n, err := s.ReadU(key+b.Numbers["length"], 8)
		if err != nil || n > 1<<20 || !s.HasSym(key+b.Numbers["payload"], n) {
			return false, nil
		}
		return ret(c, s, 0), nil
	}
}
