package search

import (
	"slices"
	"testing"
)

// drain returns the order in which s yields candidates 1..n added in order, as children of one root.
func drain(t *testing.T, name string, seed uint64, n int) []uint64 {
	t.Helper()
	s, err := New(name, seed)
	if err != nil {
		t.Fatal(err)
	}
	node := Child(nil)
	for i := 1; i <= n; i++ {
		s.Add(Candidate{ID: uint64(i), Node: node})
		node = Child(node)
	}
	var out []uint64
	for {
		id, ok := s.Next()
		if !ok {
			break
		}
		out = append(out, id)
	}
	if s.Len() != 0 {
		t.Errorf("%s: %d left after the last", name, s.Len())
	}
	return out
}

func TestOrders(t *testing.T) {
	if got := drain(t, "dfs", 0, 4); !slices.Equal(got, []uint64{4, 3, 2, 1}) {
		t.Errorf("dfs: %v", got)
	}
	if got := drain(t, "bfs", 0, 4); !slices.Equal(got, []uint64{1, 2, 3, 4}) {
		t.Errorf("bfs: %v", got)
	}
}

// Every strategy yields each candidate once, and the same order for the same seed.
func TestComplete(t *testing.T) {
	for _, name := range Names() {
		a, b := drain(t, name, 7, 3000), drain(t, name, 7, 3000)
		if !slices.Equal(a, b) {
			t.Errorf("%s: one seed, two orders", name)
		}
		slices.Sort(a)
		for i, id := range a {
			if id != uint64(i+1) {
				t.Fatalf("%s: candidate %d at place %d", name, id, i)
			}
		}
		if len(a) != 3000 {
			t.Errorf("%s: %d candidates", name, len(a))
		}
	}
}

// Random-path prefers the shallow end of a chain: the candidate at the root is
// chosen with probability one half, whatever hangs below.
func TestRandomPathPrefersShallow(t *testing.T) {
	shallow := 0
	for seed := uint64(0); seed < 400; seed++ {
		if drain(t, "random-path", seed, 50)[0] == 1 {
			shallow++
		}
	}
	if shallow < 140 || shallow > 260 {
		t.Errorf("the root's candidate came first in %d of 400 runs, expected about 200", shallow)
	}
}

func TestUnknownStrategy(t *testing.T) {
	if _, err := New("best", 0); err == nil {
		t.Error("no error")
	}
}

// Removed candidates never come; the others all do.
func TestRemove(t *testing.T) {
	for _, name := range Names() {
		s, _ := New(name, 3)
		var node *Node
		for i := uint64(1); i <= 100; i++ {
			s.Add(Candidate{ID: i, Node: node})
			node = Child(node)
		}
		gone := map[uint64]bool{}
		for i := uint64(1); i <= 100; i += 3 {
			gone[i] = true
		}
		s.Remove(gone)
		if s.Len() != 100-len(gone) {
			t.Errorf("%s: %d left", name, s.Len())
		}
		for n := s.Len(); n > 0; n-- {
			id, ok := s.Next()
			if !ok || gone[id] {
				t.Fatalf("%s: %d, %v with %d left", name, id, ok, n)
			}
			gone[id] = true
		}
	}
}
