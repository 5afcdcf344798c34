package exec

import "symchef/internal/kernel"

// seek is what Seek or Visit look for.
type seek struct {
	pc    uint64
	from  uint64 // instructions: not before
	is    func() bool
	visit func(pc uint64) // Visit
	alone bool            // anywhere, in the evaluators only, and without models and watchers: Left where there is one
}

func (k *seek) met(sys *kernel.System, pc uint64) bool {
	if k.visit != nil {
		k.visit(pc)
		return false
	}
	return (pc == k.pc || k.alone) && sys.Retired > k.from && k.is()
}

// keepsOut reports whether the block at pc must not run as machine code, nor be entered from there.
func (k *seek) keepsOut(pc uint64) bool { return k != nil && (k.visit != nil || k.alone || pc == k.pc) }

// Seek is Run that stops with Met where a block starts at pc, some instructions from here, and is says so. Machine code leaves there.
func (m *Machine) Seek(sys *kernel.System, facts *Facts, n, pc uint64, is func() bool) Stop {
	return m.sought(sys, facts, n, &seek{pc: pc, from: sys.Retired, is: is})
}

// Visit is Run in the evaluators only that tells where each block starts.
func (m *Machine) Visit(sys *kernel.System, facts *Facts, n uint64, visit func(pc uint64)) Stop {
	return m.sought(sys, facts, n, &seek{visit: visit})
}

func (m *Machine) sought(sys *kernel.System, facts *Facts, n uint64, k *seek) Stop {
	before := m.seek
	m.seek = k
	m.code.Unlink() // ways to the block at k.pc
	defer func() { m.seek = before }()
	return m.Run(sys, facts, n)
}
