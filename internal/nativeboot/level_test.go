package nativeboot

import (
	"math/bits"
	"strings"
	"testing"

	"symchef/internal/ir"
	"symchef/internal/lift"
)

// TestCapable: a host that lacks one feature is refused, with its name; the features are those of the leaves 1, 7 and 0x80000001 beyond x86-64's first.
func TestCapable(t *testing.T) {
	for _, p := range []ir.Processor{ir.V2, ir.V3} {
		fs := features(p)
		for i := range fs {
			fs[i].has = true
		}
		if err := capable(fs, p); err != nil {
			t.Errorf("with all: %v", err)
		}
		for i := range fs {
			fs[i].has = false
			if err := capable(fs, p); err == nil || !strings.Contains(err.Error(), "no "+fs[i].name+",") || !strings.Contains(err.Error(), lift.Level(p)) {
				t.Errorf("without %s: %v", fs[i].name, err)
			}
			fs[i].has = true
		}
		_, _, c, _ := lift.CPUID(p, 1, 0)
		_, b, _, _ := lift.CPUID(p, 7, 0)
		_, _, d, _ := lift.CPUID(p, 0x80000001, 0)
		if n := bits.OnesCount32(b) + bits.OnesCount32(c) + bits.OnesCount32(d); n != len(fs) {
			t.Errorf("%s: CPUID announces %d features more than x86-64's first, %d are looked at", lift.Level(p), n, len(fs))
		}
	}
}
