package high

import (
	"slices"
	"testing"

	"symchef/internal/seed"
)

// walk follows the tree from the root to p and returns the steps.
func walk(t *Tree, p Place) []Step {
	p = t.now(p)
	out := stepsOf(t, p.node)[:p.pos]
	for n := p.node.up; n != nil; n = n.up {
		out = append(stepsOf(t, n), out...)
	}
	return out
}

func stepsOf(t *Tree, n *Node) (l []Step) {
	for _, s := range all(&n.Steps) {
		l = append(l, t.Table[s])
	}
	return l
}

// Random paths that grow and fork keep their own sequences of steps, equal sequences are at
// equal places, and the tree holds each distinct beginning once.
func TestTree(t *testing.T) {
	r := seed.Rand(t)
	type path struct {
		at    Place
		steps []Step
	}
	var tree Tree
	paths := []*path{{}}
	ended := map[string]int{}
	for range 4000 {
		p := paths[r.IntN(len(paths))]
		switch k := r.IntN(20); {
		case k == 0 && len(paths) < 60:
			paths = append(paths, &path{p.at, slices.Clone(p.steps)})
		case k == 1:
			tree.End(p.at, "ok", "")
			key := make([]byte, 0, len(p.steps))
			for _, s := range p.steps {
				key = append(key, byte(s.Offset))
			}
			ended[string(key)]++
		default:
			var list []uint32
			for range r.IntN(3) {
				s := Step{0, uint32(r.IntN(2))}
				list, p.steps = append(list, tree.number(s)), append(p.steps, s)
			}
			p.at = tree.Advance(p.at, list)
		}
	}
	// The least advanced of what waits on the way to a path is what waits at its shortest beginning.
	waits := map[uint64]path{}
	for range 2 * len(paths) {
		w := path{steps: paths[r.IntN(len(paths))].steps}
		w.steps = slices.Clone(w.steps[:r.IntN(len(w.steps)+1)])
		for _, s := range w.steps {
			w.at = tree.Advance(w.at, []uint32{tree.number(s)})
		}
		id := uint64(len(waits))
		tree.Wait(w.at, id)
		waits[id] = w
	}
	for _, p := range paths {
		id := r.Uint64N(uint64(2 * len(paths)))
		if w, ok := waits[id]; ok {
			tree.Leave(w.at, id)
			delete(waits, id)
		}
		least := -1
		for _, w := range waits {
			if n := len(w.steps); n <= len(p.steps) && slices.Equal(w.steps, p.steps[:n]) && (least < 0 || n < least) {
				least = n
			}
		}
		got := -1
		if id, ok := tree.Least(p.at); ok {
			got = len(waits[id].steps)
		}
		if got != least {
			t.Fatalf("the least advanced on the way to %v waits after %d steps, not %d", p.steps, got, least)
		}
		p.at = tree.Advance(p.at, []uint32{tree.number(Step{0, 2})}) // cuts nodes
		p.steps = append(p.steps, Step{0, 2})
	}
	prefixes := map[string]bool{}
	for _, p := range paths {
		if got := walk(&tree, p.at); !slices.Equal(got, p.steps) {
			t.Fatalf("the tree has %v for path %v", got, p.steps)
		}
		key := []byte{}
		for _, s := range p.steps {
			key = append(key, byte(s.Offset))
			prefixes[string(key)] = true
		}
	}
	if tree.Size() != len(prefixes) {
		t.Errorf("%d steps, %d distinct beginnings", tree.Size(), len(prefixes))
	}
	var visit func(n *Node, above []byte)
	visit = func(n *Node, above []byte) {
		for _, s := range stepsOf(&tree, n) {
			above = append(above, byte(s.Offset))
		}
		for _, e := range n.Ends {
			ended[string(above[:len(above)-n.Steps.Len()+e.Pos])]--
		}
		if len(n.Kids) == 1 {
			t.Errorf("a node with one kid is not folded")
		}
		for _, k := range n.Kids {
			if k.up != n {
				t.Fatalf("a kid of another node")
			}
			visit(k, slices.Clone(above))
		}
	}
	visit(&tree.Root, nil)
	for _, n := range ended {
		if n != 0 {
			t.Fatalf("ends are not where the paths were")
		}
	}
}

// A path is complete unless something is left where it passes.
func TestComplete(t *testing.T) {
	number := func(offsets ...uint32) (id ID) {
		for _, o := range offsets {
			id = id.after(mix(1, uint64(o)))
		}
		return id
	}
	for _, x := range []struct {
		name     string
		leave    func(t *Tree, mid, left, right Place)
		complete []bool // of the ends: in the middle, left, right
	}{
		{"nothing", func(*Tree, Place, Place, Place) {}, []bool{true, true, true}},
		{"left", func(t *Tree, _, left, _ Place) { t.Open(left) }, []bool{true, false, true}},
		{"middle", func(t *Tree, mid, _, _ Place) { t.Lose(mid) }, []bool{false, false, false}},
		{"left by number", func(t *Tree, _, _, _ Place) { t.OpenAt([]uint64{number(1, 2, 5)[0]}) }, []bool{true, false, true}},
		{"unknown number", func(t *Tree, _, _, _ Place) { t.OpenAt([]uint64{number(1, 2, 5)[0], 77}) }, []bool{false, false, false}},
		{"start", func(t *Tree, _, _, _ Place) { t.Open(Place{}) }, []bool{false, false, false}},
	} {
		for _, merged := range []bool{false, true} {
			var tree Tree
			walk := func(at Place, offsets ...uint32) Place {
				for _, o := range offsets {
					at = tree.Advance(at, []uint32{tree.number(Step{tree.code([16]byte{1}), o})})
				}
				return at
			}
			mid := walk(Place{}, 1, 2)
			right := walk(mid, 3, 4)
			x.leave(&tree, mid, walk(mid, 5, 6), right) // before the node is cut, and after
			tree.End(mid, "mid", "")
			tree.End(walk(mid, 5, 6), "left", "")
			tree.End(right, "right", "")
			if merged {
				var other Tree
				other.Merge(&tree)
				tree = other
			}
			got := map[string]bool{}
			d := tree.Doc()
			n := 0
			for _, node := range d.Nodes {
				for _, e := range node.Ends {
					got[e.Outcome] = e.Complete
					if e.Complete {
						n++
					}
				}
			}
			for i, outcome := range []string{"mid", "left", "right"} {
				if got[outcome] != x.complete[i] {
					t.Errorf("%s, merged %v: %s complete: %v", x.name, merged, outcome, got[outcome])
				}
			}
			if d.Complete() != n {
				t.Errorf("%d complete, not %d", d.Complete(), n)
			}
		}
	}
}
