package nativeboot

import (
	"fmt"

	"golang.org/x/sys/cpu"

	"symchef/internal/lift"
)

// feature is one that the machine's processor announces (lift.CPUID), and whether the host's has it.
type feature struct {
	name string
	has  bool
}

// features are those that not every x86-64 processor has.
func features() []feature {
	x := &cpu.X86
	return []feature{{"SSE3", x.HasSSE3}, {"SSSE3", x.HasSSSE3}, {"CMPXCHG16B", x.HasCX16}, {"SSE4.1", x.HasSSE41}, {"SSE4.2", x.HasSSE42}, {"POPCNT", x.HasPOPCNT}, {"LAHF", x.HasLAHF}}
}

// capable returns an error if the host cannot execute what guests may: they see the machine's processor, so all is left to the machine then.
func capable(fs []feature) error {
	for _, f := range fs {
		if !f.has {
			return fmt.Errorf("this processor has no %s, which the machine's has (%s)", f.name, lift.Level)
		}
	}
	return nil
}
