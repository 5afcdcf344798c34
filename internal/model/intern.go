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
// Exact, because a function that interns is one that may fail for lack of memory: it leaves the string as it is, says nothing, and its callers
// go on. Whether a string is interned shows in nothing but addresses and time: comparisons of strings that are not both interned look at contents.
//
// There are two models: one of the functions that intern, and one of the function that they call, as it is told from others by its first argument.
// Compilers copy the former into their callers, and some ask elsewhere before they call the latter (as in CPython since 3.12).
//
// Test: TestUninterned executes the stock functions with the model's answer and with their own, and what the interpreter then says of the
// strings is the same.

// symbolicText reports whether the object at obj, whose length and payload are at the offsets of these names, has symbolic bytes.
func symbolicText(b Binding, s *mem.Space, obj uint64) bool {
	n, err := s.ReadU(obj+b.Numbers["length"], 8)
	return err == nil && n <= 1<<20 && s.HasSym(obj+b.Numbers["payload"], n)
}

// newUninterned models functions f(p) and f(state, p): they return at once if the variable at p holds an object of the type string-type
// (its type at the offset of this name) with symbolic bytes.
func newUninterned(b Binding, _ uint64) map[uint64]exec.Hook {
	hook := func(_ *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
		for _, r := range []ir.Slot{ir.RDI, ir.RSI} {
			if c.Sym.Has(r) {
				continue
			}
			w := words{s: s}
			obj := w.read(c.R[r])
			if kind := w.read(obj + b.Numbers["type"]); w.err == nil && kind == b.place("string-type") && symbolicText(b, s, obj) {
				return ret(c, s, 0), nil
			}
		}
		return false, nil
	}
	hooks := map[uint64]exec.Hook{b.Slot: hook}
	if also := b.place("intern-forever"); also != 0 {
		hooks[also] = hook
	}
	return hooks
}

// newDeclined models functions f(rdi, rsi) that may fail for lack of memory: they return NULL, or -1, if rdi is the object in the variable at b.Slot and the object
// rsi has symbolic bytes. Where the interpreter looks for strings in another table before, which is shared, its look-up finds nothing then: that alone would let
// there be two objects of one content, so it is modelled only beside the others.
func newDeclined(b Binding, _ uint64) map[uint64]exec.Hook {
	hooks := map[uint64]exec.Hook{b.Entry: declineSymbolic(b, b.Slot, 0)}
	if also := b.place("also"); also != 0 {
		hooks[also] = declineSymbolic(b, b.Slot, ^uint64(0))
	}
	if shared, lookup := b.place("shared"), b.place("lookup"); shared != 0 && lookup != 0 {
		hooks[lookup] = declineSymbolic(b, shared, 0)
	}
	return hooks
}

// declineSymbolic returns result if rdi is the object in a variable and the object rsi has symbolic bytes.
func declineSymbolic(b Binding, variable, result uint64) exec.Hook {
	return func(_ *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
		obj, err := s.ReadU(variable, 8)
		if err != nil || c.Sym.Has(ir.RDI) || c.Sym.Has(ir.RSI) || c.R[ir.RDI] != obj || !symbolicText(b, s, c.R[ir.RSI]) {
			return false, nil
		}
		return ret(c, s, result), nil
	}
}
