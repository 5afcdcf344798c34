package model

import (
	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Functions that look for something and say where it is, or whether it is there: their loops split the path at each symbolic byte though
// their result is a small number. The stock function runs, and while it does, branches are merged: explore follows both ways of
// each to where they meet, at last at the function's return, and one state goes on, in which the result is one expression.
//
// Exact, because nothing is modelled but the condition under which paths are merged, which they may be anywhere (docs/merging.md). Where the ways
// differ in more than a result, as by an object that one of them has made, they stay apart, and the path forks.
//
// What the result is used for decides what becomes of it: a comparison splits the path in two. An address that is computed from it, other than of one of
// the objects that are never freed, decides its value (exec.choice).
//
// Tests: internal/complete compares (str_position) with native runs on all short texts, TestPositions of internal/session with the stock code in the
// machine. TestOneResultFrame holds what a call leaves against a call without the model.

// newOneResult puts a frame before each of the functions, to which they return.
func newOneResult(b Binding, own uint64) map[uint64]exec.Hook {
	entry := func(_ *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
		if c.InCall() {
			return false, nil
		}
		w := words{s: s}
		if stop := push(c, &w, [2]uint64{0, own}); stop != nil {
			return false, stop
		}
		c.Call = c.R[ir.RSP]
		return false, nil
	}
	hooks := map[uint64]exec.Hook{own: leaveOneResult, b.Slot: entry}
	for _, all := range b.Places {
		for _, at := range all {
			hooks[at] = entry
		}
	}
	return hooks
}

// leaveOneResult runs where one of the functions has returned. Its result stays where it is.
func leaveOneResult(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	w := words{s: s}
	sp := c.R[ir.RSP] - 8 + frameSize
	pc := w.read(sp)
	if w.err != nil {
		return false, w.stop(c)
	}
	if c.Call = 0; c.Sym.Has(ir.RAX) {
		m.Result(c.S[ir.RAX])
	}
	c.Set(ir.RSP, sp+8)
	c.PC = pc
	return true, nil
}
