package explore

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"symchef/internal/kernel"
	"symchef/internal/state"
)

// at is a state with log that has retired n instructions, and was at its last decision after d.
func at(log *state.Entry, d, n uint64) *state.State {
	return &state.State{Log: log, Decided: d, Sys: &kernel.System{Retired: n}}
}

// Where the states of rung n+1 and more are kept, the last one before a decision is less than 2^n instructions away from it.
func TestRungs(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for n := range 20 {
			last, kept := uint64(0), uint64(0)
			for range 300 {
				now := last + rng.Uint64N(1<<rng.IntN(22))
				s := at(nil, last, now)
				if a := (&anchors{least: n + 1}); a.wants(s) {
					kept = now
				}
				if now-kept >= 1<<n {
					t.Fatalf("seed %d: %d is %d instructions after the last state of a rung above %d", seed, now, now-kept, n)
				}
				last = now
			}
		}
	}
}

// Of the states of a tree of decisions, Thin gives up those that no candidate needs and then the lowest rungs; the others are found from every
// candidate beyond them.
func TestThin(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		x := &Explorer{pending: map[uint64]*candidate{}, anchors: newAnchors()}
		type place struct {
			log  *state.Entry
			when uint64
		}
		ends := []place{{}}
		for i := range uint64(200) { // a path goes on from anywhere, and forks at some of its decisions
			p := ends[rng.IntN(len(ends))]
			for range 1 + rng.IntN(5) {
				when := p.when + rng.Uint64N(1<<rng.IntN(18))
				s := at(p.log, p.when, when)
				if p.log == nil {
					s.Decided = when // nothing is kept there
				}
				switch rng.IntN(4) {
				case 0:
					x.pending[uint64(len(x.pending)+1)] = &candidate{log: p.log}
				case 1:
					x.pending[uint64(len(x.pending)+1)] = &candidate{log: p.log, st: s}
					x.anchors.keep(p.log, s)
				case 2:
					x.anchors.keep(p.log, s)
				}
				p = place{p.log.Add(0, i, rng.Uint64N(9)), when}
			}
			ends = append(ends, p)
		}
		nearest := func(log *state.Entry) *state.State { // by looking at all
			var best *state.State
			for _, a := range x.anchors.at {
				for e := log; e != nil; e = e.Parent {
					if e == a.log && (best == nil || a.log.Depth > best.Log.Depth) {
						best = a.st
					}
				}
			}
			return best
		}
		used := map[*state.State]bool{}
		for _, p := range x.pending {
			used[nearest(p.log)] = true
		}
		delete(used, nil)
		n := rng.IntN(40)
		x.Thin(n)
		if x.Kept() > n {
			t.Fatalf("seed %d: %d states are kept, not %d", seed, x.Kept(), n)
		}
		least := x.anchors.least
		for s := range used {
			if _, kept := x.anchors.at[s.Log.Hash]; kept != (rungOf(s) >= least) {
				t.Fatalf("seed %d: a state of rung %d is kept: %v; the least is %d", seed, rungOf(s), kept, least)
			}
		}
		for _, a := range x.anchors.at {
			if !used[a.st] {
				t.Fatalf("seed %d: a state is kept that nothing needs", seed)
			}
		}
		for _, p := range x.pending {
			if p.st != nil && rungOf(p.st) < least {
				t.Fatalf("seed %d: a candidate keeps a state of rung %d; the least is %d", seed, rungOf(p.st), least)
			}
			if a, ok := x.anchors.below(p.log); ok != (nearest(p.log) != nil) || ok && a.st != nearest(p.log) {
				t.Fatalf("seed %d: not the nearest anchor", seed)
			}
		}
	}
}

// What was passed last is kept whatever its rung, as long as memory allows, and the oldest is forgotten first.
func TestPassed(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sys, err := kernel.Boot(kernel.Config{Path: exe, Argv: []string{exe}})
	if err != nil {
		t.Fatal(err)
	}
	a := newAnchors()
	a.least = 60
	var logs []*state.Entry
	var log *state.Entry
	step := func() {
		log = log.Add(0, 1, 2)
		logs = append(logs, log)
	}
	kept := func() (l []int) {
		for i, e := range logs {
			if _, ok := a.at[e.Hash]; ok {
				l = append(l, i)
			}
		}
		return l
	}
	for range 3 * passedKept {
		step()
		sys.Retired = 1 << passedRung
		a.pass(&state.State{Log: log, Sys: sys})
	}
	want := []int{16, 17, 18, 19, 20, 21, 22, 23}
	if got := kept(); !slices.Equal(got, want) {
		t.Errorf("%v are kept, not %v", got, want)
	}
	for i := range uint64(5) {
		other := (*state.Entry)(nil).Add(0, 9, i)
		a.keep(other, at(other, 0, 1<<61))
	}
	a.thin(6)
	if got := kept(); !slices.Equal(got, want[5:]) {
		t.Errorf("%v are kept of %v in a room of 3", got, want)
	}
	if len(a.at) > 6 {
		t.Errorf("%d are kept, not 6", len(a.at))
	}
}
