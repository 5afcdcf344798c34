package session

import (
	"slices"
	"strings"
	"testing"

	"symchef/internal/explore"
)

// TestSeal: what is sealed comes back whole, or not at all.
func TestSeal(t *testing.T) {
	c := checkpoint{Version: checkpointVersion, Frontiers: []explore.Frontier{{Jobs: []explore.Job{{Last: -1, Bound: -1, Model: -1}}}}}
	b, err := seal(c)
	if err != nil {
		t.Fatal(err)
	}
	var got checkpoint
	if _, ok := unseal(b, &got); !ok || got.Version != c.Version || len(got.Frontiers) != 1 || len(got.Frontiers[0].Jobs) != 1 {
		t.Fatalf("%+v", got)
	}
	for i := range b {
		bad := slices.Clone(b)
		bad[i] ^= 1 << (i % 8)
		_, damaged := unseal(bad, &got)
		_, short := unseal(b[:i], &got)
		if damaged || short {
			t.Fatalf("byte %d of %d may be damaged", i, len(b))
		}
	}
}

// TestHostCPU: the processor is known, so that a snapshot of another one is not used.
func TestHostCPU(t *testing.T) {
	if f := strings.Fields(hostCPU()); len(f) != 4 {
		t.Errorf("%q", f)
	}
}
