package exec

import "symchef/internal/kernel"

// A thread that sleeps is looked at for so many rounds, each of so many instructions at most.
const (
	rounds    = 12
	roundMost = 100_000
)

// Beyond looks, where everything is about to end, at how the other thread would go on that sleeps (kernel.System.Beyond). It must not be called within Run.
func (m *Machine) Beyond(sys *kernel.System, facts *Facts) {
	f := sys.Beyond()
	if f == nil {
		return
	}
	var then *kernel.System
	for i := range rounds {
		stop := m.sought(f, facts, roundMost, &seek{from: f.Retired, is: f.Woken, alone: true})
		if f.Unordered() == "" && stop.Kind != Met {
			return
		}
		if f.Unordered() != "" || then != nil && f.Sleeps(then) {
			sys.Spare(f)
			return
		}
		if i&(i+1) == 0 { // 0, 1, 3, 7: what comes again every few rounds is found, too
			then = f.Fork()
		}
	}
}
