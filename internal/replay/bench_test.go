package replay

import (
	"context"
	"testing"

	"symchef/internal/testcase"
)

// BenchmarkTrue is what a replay costs besides the program.
func BenchmarkTrue(b *testing.B) {
	g := testcase.Target{Kind: testcase.Program, Path: "/bin/true", Argv: []string{"true"}, Cwd: "/tmp"}
	for b.Loop() {
		if _, err := native(context.Background(), g, testcase.Test{}, Options{Mode: Namespaces, Limits: Limits{}.withDefaults()}, false); err != nil {
			b.Fatal(err)
		}
	}
}
