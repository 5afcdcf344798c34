package explore

import (
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"symchef/internal/exec"
	"symchef/internal/search"
	"symchef/internal/seed"
)

// randomFrontier has about n jobs.
func randomFrontier(r *rand.Rand, n int) Frontier {
	f := Frontier{Entries: []FrontierEntry{}, Bounds: []FrontierBound{}, Jobs: []Job{}, Vars: []Var{{"s[0]", 8}, {"n.int", 64}}, Models: [][]byte{}, Learned: []search.Yield{}}
	parent := func(i int) int {
		if r.IntN(4) == 0 {
			return r.IntN(i+1) - 1
		}
		return i - 1
	}
	for i := range 3 * n {
		f.Entries = append(f.Entries, FrontierEntry{parent(i), exec.DecisionKind(r.IntN(4)), 0x7f0000001000 + uint64(r.IntN(5000)), r.Uint64() >> r.IntN(64)})
	}
	for i := range n / 3 {
		f.Bounds = append(f.Bounds, FrontierBound{parent(i), r.Uint64(), r.Uint64() >> r.IntN(64), r.Uint64()})
	}
	for range n / 10 {
		var m []byte
		for range r.IntN(4) {
			m = binary.AppendUvarint(m, r.Uint64())
		}
		f.Models = append(f.Models, append([]byte{}, m...))
	}
	for range n {
		j := Job{Last: r.IntN(len(f.Entries)+1) - 1, Bound: r.IntN(len(f.Bounds)+1) - 1, Model: r.IntN(len(f.Models)+1) - 1,
			Place: search.Place{PC: uint64(r.IntN(99)), Arm: uint64(r.IntN(3)), Dynamic: r.Uint64(), Static: uint64(r.IntN(5)), Opcode: 7, Stack: r.Uint64(), Line: 1, Chain: uint64(r.IntN(999))},
			Ran:   r.Uint64() >> r.IntN(64), Turns: r.IntN(3), Used: uint64(r.IntN(3)), Tries: r.IntN(3)}
		for range r.IntN(3) {
			j.Excl = append(j.Excl, r.Uint64()>>r.IntN(64))
		}
		f.Jobs = append(f.Jobs, j)
	}
	for range r.IntN(5) {
		f.Learned = append(f.Learned, search.Yield{Static: r.Uint64(), At: r.Uint64(), Picked: r.Float64(), Fresh: r.Float64(), Cost: r.Float64()})
	}
	f.Longest = r.Uint64()
	return f
}

// Frontiers are read as they were written, one behind the other; what is cut or changed is refused or read as another one, at once.
func TestFrontierOnDisk(t *testing.T) {
	r := seed.Rand(t)
	for n := range 40 {
		f, g := randomFrontier(r, n), randomFrontier(r, r.IntN(50))
		b, _ := f.AppendBinary(nil)
		b, _ = g.AppendBinary(b)
		got, rest, err := ReadFrontier(b)
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Fatalf("%d jobs: %v", n, err)
		}
		if got, rest, err = ReadFrontier(rest); err != nil || len(rest) > 0 || !reflect.DeepEqual(got, g) {
			t.Fatalf("the second: %v", err)
		}
		for cut := range len(b) / 7 {
			ReadFrontier(b[:cut*7])
		}
		for range 200 {
			bad := append([]byte(nil), b...)
			bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
			ReadFrontier(bad)
		}
	}
	// Some 1 GB of candidates in memory.
	f := randomFrontier(r, 500_000)
	began := time.Now()
	b, _ := f.AppendBinary(nil)
	t.Logf("%d jobs and %d entries: %d bytes in %v", len(f.Jobs), len(f.Entries), len(b), time.Since(began))
}
