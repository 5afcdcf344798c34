package session

import "testing"

// TestEveryBit guards that every bit of what is moved by the first two other places is another in one of them, wherever it is.
func TestEveryBit(t *testing.T) {
	for _, c := range []struct {
		name     string
		by       [2]uint64
		low, top uint
		down     bool
	}{
		{"addresses", [2]uint64{elsewheres[0].Lower, elsewheres[1].Lower}, 12, 33, true},
		{"the stack", [2]uint64{elsewheres[2].Lower, elsewheres[3].Lower}, 4, 11, true},
		{"process ids", [2]uint64{uint64(elsewheres[0].PIDs), uint64(elsewheres[1].PIDs)}, 0, 21, false},
		{"inodes", [2]uint64{elsewheres[0].Inodes, elsewheres[1].Inodes}, 0, 31, false},
	} {
		z := uint64(0)
		for range 20_000 {
			z = z*6364136223846793005 + 1442695040888963407
			at, same := z>>16, ^uint64(0)
			for _, by := range c.by {
				if c.down {
					by = -by
				}
				same &^= at ^ (at + by)
			}
			if same &= 1<<(c.top+1) - 1<<c.low; same != 0 {
				t.Fatalf("%s: bits %#x of %#x are the same in both places", c.name, same, at)
			}
		}
	}
}
