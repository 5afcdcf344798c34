package session

import (
	"context"
	"testing"

	"symchef/internal/replay"
	"symchef/internal/rundir"
)

// TestEveryBit guards that every bit of what is moved by the first two other places is another in one of them, wherever it is.
func TestEveryBit(t *testing.T) {
	for _, c := range []struct {
		name     string
		by       [2]uint64
		low, top uint
		down     bool
	}{
		{"addresses", [2]uint64{elsewheres[0].lowered(2).Lower, elsewheres[1].lowered(3).Lower}, 12, 33, true},
		{"the stack", [2]uint64{elsewheres[2].Lower, elsewheres[3].Lower}, 4, 33, true},
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

// TestMomentsEnd guards that a search for moments ends with any of its means, and when it is interrupted, and says then that nothing is decided.
func TestMomentsEnd(t *testing.T) {
	e := runIt(t, Options{StdinLen: 0, Program: []string{compile(t, writeFile(t, "moment.c", "#include <time.h>\nint main(void) { return time(0) == 1893456789; }\n"))}, NoReplay: true})
	d, err := rundir.Open(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	tests, _, err := d.Tests()
	if err != nil || len(tests) != 1 {
		t.Fatal(err, len(tests))
	}
	seen, err := pictureOf(d)
	if err != nil {
		t.Fatal(err)
	}
	a := again{sum: d.Summary, seen: seen, high: true}
	from, err := a.begin(t.Context(), tests[0].Inputs)
	if err != nil {
		t.Fatal(err)
	}
	defer from.end()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		c     context.Context
		limit func(*effort)
		want  replay.Doubt
	}{
		{"all", t.Context(), func(*effort) {}, replay.OtherEnd},
		{"no instructions", t.Context(), func(e *effort) { e.instructions = 0 }, replay.NoDoubt},
		{"few instructions", t.Context(), func(e *effort) { e.instructions = 1000 }, replay.NoDoubt},
		{"few terms", t.Context(), func(e *effort) { e.terms = 10 }, replay.Undecided},
		{"no queries", t.Context(), func(e *effort) { e.queries = 0 }, replay.Undecided},
		{"interrupted", over, func(*effort) {}, replay.Undecided},
	} {
		left := newEffort()
		c.limit(&left)
		if got := a.moment(c.c, from, tests[0], nil, &left); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
