package high

import "sort"

// Graph is the control-flow graph of the interpreted program, as far as it has been executed: an edge
// joins two instructions that have followed each other in one frame. It knows nothing of the
// language: which opcodes branch is learned (CHEF, section 3.4).
type Graph struct {
	nodes []node // nodes[0] is none
	index map[uint64]nodeID
	edges int
	enter [64]nodeID // nodes that were entered last, by their static's first bits: what is called is called again

	counted int       // edges when away was computed
	away    []float64 // by node: see Weight
}

// nodeID numbers the nodes of a Graph from 1 on.
type nodeID uint32

type node struct {
	static, handler uint64
	number          uint32 // 1 + that in Tree.Table; 0: not known yet
	next            []nodeID
}

// Edges returns the number of edges; it only grows.
func (g *Graph) Edges() int { return g.edges }

// step notes that the instruction static follows from in its frame, and returns its node.
func (g *Graph) step(from nodeID, static, handler uint64) nodeID {
	if from != 0 {
		for _, to := range g.nodes[from].next {
			if g.nodes[to].static == static {
				return to
			}
		}
	}
	entered := &g.enter[static>>58]
	if to := *entered; to != 0 && from == 0 && g.nodes[to].static == static {
		return to
	}
	to, known := g.index[static]
	if !known {
		if g.index == nil {
			g.index = map[uint64]nodeID{}
			g.nodes = make([]node, 1)
		}
		to = nodeID(len(g.nodes))
		g.nodes = append(g.nodes, node{static: static, handler: handler})
		g.index[static] = to
	}
	if from == 0 {
		*entered = to
	} else {
		g.nodes[from].next = append(g.nodes[from].next, to)
		g.edges++
	}
	return to
}

// rareShare is the share of branching instructions whose opcodes, the rarest, do not count as
// branching: those of exceptions and the like (CHEF, section 3.4).
const rareShare = 0.1

// branching returns the handlers of opcodes that branch.
func (g *Graph) branching() map[uint64]bool {
	count := map[uint64]int{}
	total := 0
	for i := range g.nodes {
		if len(g.nodes[i].next) > 1 {
			count[g.nodes[i].handler]++
			total++
		}
	}
	ops := make([]uint64, 0, len(count))
	for h := range count {
		ops = append(ops, h)
	}
	sort.Slice(ops, func(i, j int) bool {
		if a, b := count[ops[i]], count[ops[j]]; a != b {
			return a < b
		}
		return ops[i] < ops[j]
	})
	out := map[uint64]bool{}
	rare := 0
	for _, h := range ops {
		if rare += count[h]; float64(rare) > rareShare*float64(total) {
			out[h] = true
		}
	}
	return out
}

// Weight is 1/d for an instruction from which the nearest potential branching point is d-1 steps
// away: one with an opcode that branches elsewhere, of which only one successor is known. Where there is
// none ahead, d is the number of instructions.
func (g *Graph) Weight(static uint64) float64 {
	if g.away == nil || g.counted != g.edges {
		g.measure()
	}
	i, known := g.index[static]
	if !known || int(i) >= len(g.away) {
		return 1
	}
	return g.away[i]
}

// measure computes the weights: a breadth-first search backwards from all potential branching points.
func (g *Graph) measure() {
	g.counted = g.edges
	branching := g.branching()
	before := make([][]nodeID, len(g.nodes))
	dist := make([]int, len(g.nodes))
	var queue []nodeID
	for i := range g.nodes {
		n := &g.nodes[i]
		for _, to := range n.next {
			before[to] = append(before[to], nodeID(i))
		}
		if len(n.next) == 1 && branching[n.handler] {
			dist[i] = 1
			queue = append(queue, nodeID(i))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, i := range before[queue[0]] {
			if dist[i] == 0 {
				dist[i] = dist[queue[0]] + 1
				queue = append(queue, i)
			}
		}
	}
	g.away = make([]float64, len(g.nodes))
	for i, d := range dist {
		if d == 0 {
			d = max(len(g.nodes), 1)
		}
		g.away[i] = 1 / float64(d)
	}
}
