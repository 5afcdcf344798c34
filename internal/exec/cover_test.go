package exec

import (
	"math/rand/v2"
	"testing"
)

// Overlapping blocks count each byte once, across words and pages.
func TestCoverage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var c coverage
	seen := map[uint64]bool{}
	for range 2000 {
		lo := 0x400f00 + rnd.Uint64N(0x3000)
		hi := lo + rnd.Uint64N(90)
		c.add(lo, hi)
		for a := lo; a < hi; a++ {
			seen[a] = true
		}
	}
	if c.bytes != uint64(len(seen)) {
		t.Errorf("%d bytes, want %d", c.bytes, len(seen))
	}
}
