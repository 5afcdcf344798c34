package high

import (
	"testing"

	"symchef/internal/seed"
)

// A loop of four instructions, 1 2 3 4, of which 3 has left it once, to 5; 6 to 9 follow each other. Handler 30 branches.
func TestGraph(t *testing.T) {
	var g Graph
	handler := map[uint64]uint64{1: 10, 2: 20, 3: 30, 4: 10, 5: 10, 6: 10, 7: 30, 8: 10, 9: 10}
	at := nodeID(0)
	for _, s := range []uint64{1, 2, 3, 4, 1, 2, 3, 5, 6, 7, 8, 9} {
		at = g.step(at, s, handler[s])
	}
	if g.Edges() != 9 {
		t.Errorf("%d edges", g.Edges())
	}
	// 7 has a branching opcode and one successor.
	for s, d := range map[uint64]float64{7: 1, 6: 2, 5: 3, 3: 4, 2: 5, 1: 6, 4: 7, 8: 10, 9: 10} {
		if w := g.Weight(s); w != 1/d {
			t.Errorf("instruction %d: weight %v, not 1/%v", s, w, d)
		}
	}
	// Once it branches there is no potential branching point left.
	g.step(g.index[7], 9, handler[9])
	if w := g.Weight(6); w != 1.0/10 {
		t.Errorf("without potential branching points: %v", w)
	}
}

// The distances are those of a search from every instruction.
func TestGraphDistances(t *testing.T) {
	r := seed.Rand(t)
	for range 200 {
		var g Graph
		n := 2 + r.Uint64N(30)
		for range r.IntN(60) {
			g.step(g.step(0, 1+r.Uint64N(n), 0), 1+r.Uint64N(n), 0)
		}
		for i := range g.nodes {
			g.nodes[i].handler = g.nodes[i].static % 4
		}
		branching := g.branching()
		for i := 1; i < len(g.nodes); i++ {
			want, level, seen := 0, []nodeID{nodeID(i)}, map[nodeID]bool{}
			for d := 1; want == 0 && len(level) > 0; d++ {
				var next []nodeID
				for _, k := range level {
					if n := g.nodes[k]; len(n.next) == 1 && branching[n.handler] {
						want = d
					}
					for _, to := range g.nodes[k].next {
						if !seen[to] {
							seen[to] = true
							next = append(next, to)
						}
					}
				}
				level = next
			}
			if want == 0 {
				want = len(g.nodes)
			}
			if w := g.Weight(g.nodes[i].static); w != 1/float64(want) {
				t.Fatalf("%v, not 1/%d", w, want)
			}
		}
	}
}
