package kernel

import "symchef/internal/mem"

// What a path takes of the machine is counted in instructions. A system call is one, and may move gigabytes or pass a hundred thousand areas of memory, so its
// work is counted beside it, in instructions that take about as long. What is counted is what the call did for the guest: bytes, names, areas, entries. That
// depends on the path alone, so slices, looks at limits and the limit of a path may depend on it. No guest sees it: clocks go by Retired.
const (
	callCost  = 400     // of any call
	byteShare = 4       // bytes that are moved for one instruction
	nameCost  = 100     // of a component of a path, beside its bytes
	rowCost   = 4       // of an area, a descriptor, an entry that is passed
	execCost  = 1 << 16 // of the start of a program, beside the bytes of it
)

// Spent is what the system has taken of the machine, in instructions: Retired, and what system calls have cost.
func (s *System) Spent() uint64 { return s.Retired + s.cost }

// moves counts n bytes that are copied.
func (s *System) moves(n int) { s.cost += uint64(n) / byteShare }

// passes counts n entries that are passed.
func (s *System) passes(n int) { s.cost += uint64(n) * rowCost }

// mapped counts what the current call has passed in the address space m since it had passed before; now is that of the process.
func (s *System) mapped(m, now *mem.Space, before uint64) {
	switch {
	case m == now && m != nil:
		s.cost += (m.Passed() - before) * rowCost
	case now != nil:
		s.cost += execCost
	}
}
