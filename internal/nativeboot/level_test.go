package nativeboot

import (
	"strings"
	"testing"

	"symchef/internal/lift"
)

// TestCapable: a host that lacks one feature is refused, with its name; the features are those of leaf 1 and 0x80000001 beyond x86-64's first.
func TestCapable(t *testing.T) {
	fs := features()
	for i := range fs {
		fs[i].has = true
	}
	if err := capable(fs); err != nil {
		t.Errorf("with all: %v", err)
	}
	for i := range fs {
		fs[i].has = false
		if err := capable(fs); err == nil || !strings.Contains(err.Error(), "no "+fs[i].name+",") {
			t.Errorf("without %s: %v", fs[i].name, err)
		}
		fs[i].has = true
	}
	_, _, c, _ := lift.CPUID(1, 0)
	_, _, d, _ := lift.CPUID(0x80000001, 0)
	n := 0
	for ; c != 0; c &= c - 1 {
		n++
	}
	for ; d != 0; d &= d - 1 {
		n++
	}
	if n != len(fs) {
		t.Errorf("CPUID announces %d features more than x86-64's first, %d are looked at", n, len(fs))
	}
}
