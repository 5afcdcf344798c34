package high

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Steps are as a slice would be, around the ends of chunks too.
func TestSteps(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		var s Steps
		var want []uint32
		for range 6 {
			list := make([]uint32, r.IntN(chunkLen*5/4))
			for i := range list {
				list[i] = r.Uint32N(3)
			}
			s.append(list)
			want = append(want, list...)
			clear(list) // it is not kept
		}
		check := func(what string, s Steps, want []uint32) {
			if s.Len() != len(want) || !slices.Equal(slices.Concat(s.Chunks...), want) {
				t.Fatalf("seed %d: %s: %d steps, not %d, or others", seed, what, s.Len(), len(want))
			}
			for i := range s.Chunks {
				if n := len(s.Chunks[i]); n == 0 || i < len(s.Chunks)-1 && n != chunkLen {
					t.Fatalf("seed %d: %s: chunk %d has %d steps", seed, what, i, n)
				}
			}
		}
		check("appended", s, want)
		if len(want) == 0 {
			continue
		}
		i := r.IntN(len(want))
		list := append(slices.Clone(want[i:]), 1)
		if differs := r.IntN(len(list)); s.match(i, list) != len(list)-1 || s.at(i) != want[i] {
			t.Fatalf("seed %d: %d of %d steps match from %d on", seed, s.match(i, list), len(list)-1, i)
		} else if list[differs] += 3; s.match(i, list) != min(differs, len(list)-1) {
			t.Fatalf("seed %d: %d steps match from %d on, not %d", seed, s.match(i, list), i, differs)
		}
		cut := []int{0, i, len(want) / chunkLen * chunkLen, len(want)}[r.IntN(4)]
		rest := s.cut(cut)
		check("kept", s, want[:cut])
		check("cut off", rest, want[cut:])
		s.append([]uint32{7})
		check("kept and appended", s, append(slices.Clone(want[:cut]), 7))
		check("cut off, later", rest, want[cut:])
	}
}
