package nativeboot

import (
	"fmt"

	"golang.org/x/sys/cpu"

	"symchef/internal/ir"
	"symchef/internal/lift"
)

// feature is one that a processor of the machine announces (lift.CPUID), and whether the host's has it.
type feature struct {
	name string
	has  bool
}

// features are those that not every x86-64 processor has.
func features(on ir.Processor) []feature {
	x := &cpu.X86
	fs := []feature{{"SSE3", x.HasSSE3}, {"SSSE3", x.HasSSSE3}, {"CMPXCHG16B", x.HasCX16}, {"SSE4.1", x.HasSSE41}, {"SSE4.2", x.HasSSE42}, {"POPCNT", x.HasPOPCNT}, {"LAHF", x.HasLAHF}}
	if on == ir.V3 {
		fs = append(fs, feature{"AVX", x.HasAVX}, feature{"AVX2", x.HasAVX2}, feature{"BMI1", x.HasBMI1}, feature{"BMI2", x.HasBMI2}, feature{"FMA", x.HasFMA},
			feature{"F16C", x.HasF16C}, feature{"LZCNT", x.HasLZCNT}, feature{"MOVBE", x.HasMOVBE}, feature{"XSAVE", x.HasXSAVE}, feature{"OSXSAVE", x.HasOSXSAVE})
	}
	return fs
}

// capable returns an error if the host cannot execute what guests may: they see the machine's processor, so all is left to the machine then.
func capable(fs []feature, on ir.Processor) error {
	for _, f := range fs {
		if !f.has {
			return fmt.Errorf("this processor has no %s, which the machine's has (%s)", f.name, lift.Level(on))
		}
	}
	return nil
}
